"""Every member of any verb, with a value of any JSON type, at every place of the request of every verb."""

from collections.abc import Iterator
from copy import copy
from typing import Any

import pytest
from tests.engine.tables import create_index, definition, item, keyed, put, schema

from tablewright import Engine
from tablewright.engine.api.common_members import NAMES
from tablewright.engine.api.registry import VERBS
from tablewright.engine.api.shapes import ListOf, MapOf, Shape, Struct, predicate
from tablewright.engine.errors import ServiceError

Json = dict[str, Any]
Place = tuple[str | int, ...]

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/pets"
BACKUP = f"{ARN}/backup/01489602797149-73d8d5bc"
EXPORT, IMPORT = f"{ARN}/export/01489602797149-73d8d5bc", f"{ARN}/import/01489602797149-73d8d5bc"
BULK = f"{ARN}/bulk-operation/01489602797149-73d8d5bc"
STREAM = f"{ARN}/stream/2026-01-01T00:00:00.000"
KINESIS = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
POLICY = (
    '{"Statement": {"Effect": "Deny", "Principal": "*", "Action": "dynamodb:DeleteItem", "Resource": "*"}}'
)
SELECT = {"Statement": "SELECT * FROM pets WHERE pk = 'rex'"}
INSERT = {"Statement": "INSERT INTO pets VALUE {'pk': 'tom'}"}
UPDATE: Json = {
    **keyed("rex"),
    "UpdateExpression": "SET n = :n",
    "ExpressionAttributeValues": {":n": {"N": "1"}},
}
SOURCE = {"S3BucketSource": {"S3Bucket": "none"}, "InputFormat": "DYNAMODB_JSON"}

# For each verb a request that is answered, or refused only for something that is not there.
REQUESTS: dict[str, list[Json]] = {
    "BatchExecuteStatement": [{"Statements": [SELECT]}, {"Statements": [INSERT]}],
    "BatchGetItem": [{"RequestItems": {"pets": {"Keys": [item("rex")]}}}],
    "BatchWriteItem": [
        {
            "RequestItems": {
                "pets": [{"PutRequest": {"Item": item("a")}}, {"DeleteRequest": {"Key": item("b")}}],
            }
        }
    ],
    "CancelBulkOperation": [{"BulkOperationArn": BULK}],
    "CreateBackup": [{"TableName": "none", "BackupName": "one"}],
    "CreateTable": [definition(local=("size",))],
    "DeleteBackup": [{"BackupArn": BACKUP}],
    "DeleteItem": [keyed("none")],
    "DeleteResourcePolicy": [{"ResourceArn": ARN}],
    "DeleteTable": [{"TableName": "none"}],
    "DescribeBackup": [{"BackupArn": BACKUP}],
    "DescribeBulkOperation": [{"BulkOperationArn": BULK}],
    "DescribeContinuousBackups": [{"TableName": "pets"}],
    "DescribeContributorInsights": [{"TableName": "pets"}],
    "DescribeEndpoints": [{}],
    "DescribeExport": [{"ExportArn": EXPORT}],
    "DescribeImport": [{"ImportArn": IMPORT}],
    "DescribeKinesisStreamingDestination": [{"TableName": "pets"}],
    "DescribeLimits": [{}],
    "DescribeStream": [{"StreamArn": STREAM}],
    "DescribeTable": [{"TableName": "pets"}],
    "DescribeTableReplicaAutoScaling": [{"TableName": "pets"}],
    "DescribeTimeToLive": [{"TableName": "pets"}],
    "DisableKinesisStreamingDestination": [{"TableName": "pets", "StreamArn": KINESIS}],
    "EnableKinesisStreamingDestination": [{"TableName": "pets", "StreamArn": KINESIS}],
    "ExecuteStatement": [SELECT, INSERT],
    "ExecuteTransaction": [{"TransactStatements": [SELECT]}, {"TransactStatements": [INSERT]}],
    "ExportTableToPointInTime": [{"TableArn": ARN, "S3Bucket": "none"}],
    "GetItem": [keyed("rex")],
    "GetRecords": [{"ShardIterator": "none"}],
    "GetResourcePolicy": [{"ResourceArn": ARN}],
    "GetShardIterator": [
        {"StreamArn": STREAM, "ShardId": "shardId-00000000000000000001", "ShardIteratorType": "LATEST"}
    ],
    "ImportTable": [{**SOURCE, "TableCreationParameters": definition()}],
    "ListBackups": [{}],
    "ListBulkOperations": [{}],
    "ListContributorInsights": [{}],
    "ListExports": [{}],
    "ListImports": [{}],
    "ListStreams": [{}],
    "ListTables": [{}],
    "ListTagsOfResource": [{"ResourceArn": ARN}],
    "PutItem": [put("rex")],
    "PutResourcePolicy": [{"ResourceArn": ARN, "Policy": POLICY}],
    "Query": [
        {
            "TableName": "pets",
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": "rex"}},
        },
        {
            "TableName": "pets",
            "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "rex"}]}},
        },
    ],
    "RestoreTableFromBackup": [{"TargetTableName": "copy", "BackupArn": BACKUP}],
    "RestoreTableToPointInTime": [{"SourceTableName": "none", "TargetTableName": "copy"}],
    "Scan": [{"TableName": "pets"}],
    "SearchVectors": [
        {
            "TableName": "pets",
            "IndexName": "none",
            "SearchVector": [{"N": "1"}],
            "TopK": 1,
            "SearchConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": "rex"}},
        }
    ],
    "StartBulkPutItems": [
        {
            "TableName": "none",
            "InputS3Configuration": {"S3Bucket": "none", "InputFormat": "DYNAMODB_JSON"},
            "OutputS3Configuration": {"S3Bucket": "none", "OutputType": ["ERROR"]},
        }
    ],
    "TagResource": [{"ResourceArn": ARN, "Tags": [{"Key": "a", "Value": "b"}]}],
    "TransactGetItems": [{"TransactItems": [{"Get": keyed("rex")}]}],
    "TransactWriteItems": [
        {"TransactItems": [{"Put": put("a")}]},
        {"TransactItems": [{"Update": UPDATE}]},
        {"TransactItems": [{"Delete": keyed("b")}]},
        {
            "TransactItems": [
                {"ConditionCheck": {**keyed("rex"), "ConditionExpression": "attribute_exists(pk)"}}
            ]
        },
    ],
    "UntagResource": [{"ResourceArn": ARN, "TagKeys": ["a"]}],
    "UpdateContinuousBackups": [
        {"TableName": "none", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    ],
    "UpdateContributorInsights": [{"TableName": "pets", "ContributorInsightsAction": "ENABLE"}],
    "UpdateItem": [
        UPDATE,
        {**keyed("rex"), "AttributeUpdates": {"n": {"Action": "PUT", "Value": {"N": "2"}}}},
    ],
    "UpdateKinesisStreamingDestination": [
        {
            "TableName": "pets",
            "StreamArn": KINESIS,
            "UpdateKinesisStreamingConfiguration": {"ApproximateCreationDateTimePrecision": "MICROSECOND"},
        }
    ],
    "UpdateTable": [create_index("colour", "none")],
    "UpdateTableReplicaAutoScaling": [{"TableName": "none"}],
    "UpdateTimeToLive": [
        {"TableName": "none", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "until"}}
    ],
}
VALUES: tuple[Any, ...] = (3, "x", True, None, [], [3], ["x"], {}, {"x": 3}, {"x": {"S": "x"}})


def members_of(shape: Shape) -> Iterator[str]:
    """The names of all members below a shape."""
    match shape:
        case Struct(_, members, _, refused):
            yield from (*members, *refused)
            for member in members.values():
                yield from members_of(member)
        case ListOf(member) | MapOf(member):
            yield from members_of(member)


MEMBERS = sorted({name for verb in VERBS.values() for name in members_of(verb.shape)})


def structures(shape: Shape, content: Any) -> Iterator[tuple[Place, Struct]]:
    """Where the structures of a request are, itself first."""
    match shape:
        case Struct(_, members):
            yield (), shape
            for name in content:
                yield from (((name, *rest), at) for rest, at in structures(members[name], content[name]))
        case ListOf(member):
            for number, one in enumerate(content):
                yield from (((number, *rest), at) for rest, at in structures(member, one))
        case MapOf(member):
            for name, one in content.items():
                yield from (((name, *rest), at) for rest, at in structures(member, one))


def changed(request: Json, place: Place, member: str, value: Any) -> Json:
    made: Json = with_members(request, place, {member: value})
    return made


def with_members(request: Any, place: Place, members: Json) -> Any:
    """The request with further members at a place. Only what leads there is copied: the engine changes no request."""
    if not place:
        return {**request, **members}
    made, (step, *rest) = copy(request), place
    made[step] = with_members(request[step], tuple(rest), members)
    return made


def outcome(engine: Engine, verb: str, request: Json) -> str:
    """What comes of a request: the code of a refusal, or that it was answered."""
    try:
        engine.call(verb, request)
    except ServiceError as refused:
        return refused.name if refused.status < 500 else f"broken: {refused}"
    return "answered"


def test_every_verb_has_a_request_here() -> None:
    assert sorted(REQUESTS) == sorted(VERBS)


@pytest.mark.parametrize("verb", sorted(REQUESTS))
def test_no_member_of_a_verb_breaks_its_request(engine: Engine, verb: str) -> None:
    engine.call("PutItem", put("rex"))
    broken = [
        (place, member, value)
        for request in REQUESTS[verb]
        for place, shape in structures(VERBS[verb].shape, request)
        for member in (*shape.members, *shape.refused)
        for value in VALUES
        if outcome(engine, verb, changed(request, place, member, value)).startswith("broken")
    ]
    assert broken == []


@pytest.mark.parametrize("verb", sorted(REQUESTS))
def test_members_of_other_verbs_change_nothing_about_a_request(engine: Engine, verb: str) -> None:
    """Each alone, and all of them together with every value: that comes out as the request does without them."""
    engine.call("PutItem", put("rex"))
    different = []
    for request in REQUESTS[verb]:
        outcome(engine, verb, request)  # an INSERT is answered once only
        plain = outcome(engine, verb, request)
        for place, shape in structures(VERBS[verb].shape, request):
            others = [name for name in MEMBERS if name not in shape.members and name not in shape.refused]
            tried = [{name: 3} for name in others] + [dict.fromkeys(others, value) for value in VALUES]
            different += [
                (place, members)
                for members in tried
                if outcome(engine, verb, with_members(request, place, members)) != plain
            ]
    assert different == []


@pytest.mark.parametrize(
    ("verb", "request_", "place", "member"),
    [
        ("Scan", REQUESTS["Scan"][0], (), "ConditionExpression"),
        ("Query", REQUESTS["Query"][0], (), "ConditionExpression"),
        ("TransactWriteItems", REQUESTS["TransactWriteItems"][0], ("TransactItems", 0, "Put"), "Expected"),
        ("TransactGetItems", REQUESTS["TransactGetItems"][0], ("TransactItems", 0, "Get"), "AttributesToGet"),
    ],
)
def test_a_member_of_another_verb_is_ignored(
    engine: Engine, verb: str, request_: Json, place: Place, member: str
) -> None:
    engine.call("PutItem", put("rex", colour="red"))
    assert engine.call(verb, changed(request_, place, member, 3)) == engine.call(verb, request_)


def test_a_member_that_is_ignored_decides_nothing(engine: Engine) -> None:
    one = {"Put": {**put("rex"), "Expected": {"pk": {"Exists": True, "Value": {"S": "tom"}}}}}
    engine.call("TransactWriteItems", {"TransactItems": [one]})
    get = {"Get": {**keyed("rex"), "AttributesToGet": ["colour"]}}
    (found,) = engine.call("TransactGetItems", {"TransactItems": [get]})["Responses"]
    assert found == {"Item": item("rex")}


def test_the_key_schema_of_a_new_table_may_carry_members_that_no_shape_has(engine: Engine) -> None:
    asked = {**definition("other"), "KeySchema": [{**schema("pk")[0], "Expected": 3}]}
    assert engine.call("CreateTable", asked)["TableDescription"]["KeySchema"] == schema("pk")


@pytest.mark.parametrize(
    ("names", "fits"),
    [
        ({}, True),
        ({"#a": "a", "#b": ""}, True),
        ({"#a": "n" * 40_000, "#b": "n" * 40_000}, True),
        ({"#a": "n" * 65_535, "#b": "n"}, True),
        ({"#a": "n" * 65_536}, False),
        ({"#a": 1}, False),
        ({"#a": None}, False),
        (["a"], False),
    ],
)
def test_attribute_names_are_texts_none_of_which_is_too_long(names: object, fits: bool) -> None:
    assert predicate(NAMES)(names) is fits
