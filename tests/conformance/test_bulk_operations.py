"""StartBulkPutItems, DescribeBulkOperation, ListBulkOperations, CancelBulkOperation: items of objects into a table."""

from __future__ import annotations

import gzip
import json
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.talk import COMP_TABLE, ONE_OF_EACH, Answered, Json, NewTable, Refused
from tests.conformance.transfer_talk import PATIENCE, everything, json_lines, lines, put_object, zstandard


@pytest.fixture
def bucket(buckets: Path) -> str:
    made = f"bucket-{uuid.uuid4().hex}"
    (buckets / made).mkdir()
    return made


def request(table: str, bucket: str, prefix: str = "in/", **others: Any) -> Json:
    given = {"S3Bucket": bucket, "S3KeyPrefix": prefix, "InputFormat": "DYNAMODB_JSON"}
    output = {"S3Bucket": bucket, "S3KeyPrefix": "out", "OutputType": ["ERROR"]}
    return {
        "TableName": table,
        "InputS3Configuration": given | others.pop("given", {}),
        "OutputS3Configuration": output | others.pop("output", {}),
        **others,
    }


def ended(answered: Answered, arn: str) -> Json:
    give_up = time.monotonic() + PATIENCE
    while True:
        told: Json = answered("DescribeBulkOperation", {"BulkOperationArn": arn})["BulkOperationDescription"]
        if told["BulkOperationStatus"] not in ("IN_PROGRESS", "CANCELLING"):
            return told
        assert time.monotonic() < give_up, f"it does not end: {told}"
        time.sleep(0.01)


def run(answered: Answered, asked: Json) -> Json:
    told = answered("StartBulkPutItems", asked)["BulkOperationDescription"]
    assert told["BulkOperationStatus"] == "IN_PROGRESS"
    return ended(answered, told["BulkOperationArn"])


def item(pk: str, **others: Json) -> Json:
    return {"pk": {"S": pk}, **others}


def test_the_items_of_all_objects_are_put_over_what_is_there(
    answered: Answered, new_table: NewTable, buckets: Path, bucket: str
) -> None:
    table = new_table()
    answered("PutItem", {"TableName": table, "Item": item("a", old={"S": "x"})})
    answered("PutItem", {"TableName": table, "Item": item("z")})
    put_object(buckets, bucket, "in/1", json_lines(item("a", n={"N": "1"}), item("b", **ONE_OF_EACH)))
    put_object(buckets, bucket, "in/2", json_lines(item("c")))
    put_object(buckets, bucket, "other", json_lines(item("d")))
    told = run(answered, request(table, bucket))
    assert told["BulkOperationStatus"] == "COMPLETED"
    assert (told["ProcessedItemCount"], told["FailedItemCount"]) == (3, 0)
    expected = [item("a", n={"N": "1"}), item("b", **ONE_OF_EACH), item("c"), item("z")]
    assert everything(answered, table) == sorted(expected, key=lambda one: json.dumps(one, sort_keys=True))


def test_an_operation_is_described_as_it_was_asked_for(
    answered: Answered, new_table: NewTable, buckets: Path, bucket: str
) -> None:
    table = new_table()
    body = json_lines(item("a"), item("b"))
    put_object(buckets, bucket, "in/1", body)
    asked = request(table, bucket, MaxWriteRequestUnits=1024, PerformanceTier="ACCELERATED", ClientToken="t")
    told = run(answered, asked)
    table_id = answered("DescribeTable", {"TableName": table})["Table"]["TableId"]
    assert told["TableDetails"] == [{"TableName": table, "TableId": table_id}]
    assert told["InputS3Configuration"] == asked["InputS3Configuration"] | {"InputCompressionType": "NONE"}
    for member in ("OutputS3Configuration", "MaxWriteRequestUnits", "PerformanceTier", "ClientToken"):
        assert told[member] == asked[member]
    assert told["ProcessedInputBytes"] == len(body)
    assert told["StartTime"] <= told["EndTime"]
    (usage,) = told["BulkOperationUsage"]
    assert (usage["TableName"], usage["BulkPutBytes"], usage["Table"]) == (table, 6, {"BulkPutBytes": 6})
    assert "FailureCode" not in told


def test_indexes_are_written_and_counted(
    answered: Answered, new_table: NewTable, buckets: Path, bucket: str
) -> None:
    table = new_table(**COMP_TABLE)
    made = item("a", sk={"S": "b"}, gpk={"S": "g"}, gsk={"N": "1"}, lsk={"N": "2"})
    put_object(buckets, bucket, "in/1", json_lines(made, item("c", sk={"S": "d"})))
    told = run(answered, request(table, bucket))
    (usage,) = told["BulkOperationUsage"]
    assert usage["GlobalSecondaryIndexes"].keys() == {"gsi1", "gsik", "gsii"}
    assert usage["LocalSecondaryIndexes"].keys() == {"lsi1", "lsia"}
    parts = [
        usage["Table"],
        *usage["GlobalSecondaryIndexes"].values(),
        *usage["LocalSecondaryIndexes"].values(),
    ]
    assert usage["BulkPutBytes"] == sum(one["BulkPutBytes"] for one in parts)
    assert [one["pk"] for one in answered("Scan", {"TableName": table, "IndexName": "gsi1"})["Items"]] == [
        {"S": "a"}
    ]


def test_the_bytes_of_vector_indexes_are_counted_apart(
    answered: Answered, new_table: NewTable, buckets: Path, bucket: str
) -> None:
    near = {
        "IndexName": "near",
        "VectorAttribute": {"AttributeName": "v"},
        "Projection": {"ProjectionType": "KEYS_ONLY"},
        "Dimensions": 2,
        "DistanceFunction": "COSINE",
    }
    table = new_table(VectorIndexes=[near])
    made = item("a", v={"L": [{"N": "1"}, {"N": "0"}]}, far={"S": "x" * 100})
    put_object(buckets, bucket, "in/1", json_lines(made, item("b")))
    (usage,) = run(answered, request(table, bucket))["BulkOperationUsage"]
    # Four bytes for each dimension, the attribute's name and what is projected.
    assert usage["VectorIndexes"] == {"near": {"BulkPutVectorBytes": 2 * 4 + len("v") + len("pka")}}
    assert usage["BulkPutBytes"] == usage["Table"]["BulkPutBytes"]
    assert "GlobalSecondaryIndexes" not in usage


@pytest.mark.parametrize(("kind", "compress"), [("GZIP", gzip.compress), ("ZSTD", zstandard)])
def test_objects_may_be_compressed(
    answered: Answered, new_table: NewTable, buckets: Path, bucket: str, kind: str, compress: Any
) -> None:
    table = new_table()
    put_object(buckets, bucket, "in/1", compress(json_lines(item("a"), item("b"))))
    told = run(answered, request(table, bucket, given={"InputCompressionType": kind}))
    assert (told["BulkOperationStatus"], told["ProcessedItemCount"]) == ("COMPLETED", 2)
    assert everything(answered, table) == [item("a"), item("b")]


def test_records_that_are_not_items_are_counted_and_reported(
    answered: Answered, new_table: NewTable, buckets: Path, bucket: str
) -> None:
    table = new_table()
    wrong = [{"pk": {"N": "1"}}, {"sk": {"S": "x"}}, item("big", x={"S": "x" * 409_600})]
    put_object(buckets, bucket, "in/1", json_lines(item("a"), *wrong, item("b")))
    told = run(answered, request(table, bucket))
    assert told["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (told["ProcessedItemCount"], told["FailedItemCount"]) == (5, 3)
    assert everything(answered, table) == [item("a"), item("b")]
    (report,) = (buckets / bucket / "out").rglob("errors.json")
    found = lines(report)
    assert [one["itemS3Pointer"]["itemIndex"] for one in found] == [1, 2, 3]
    assert {one["bulkOperationArn"] for one in found} == {told["BulkOperationArn"]}
    assert "Missing the key pk in the item" in found[1]["errorMessages"][0]


def test_a_bucket_that_is_not_there_fails_the_operation(
    answered: Answered, new_table: NewTable, bucket: str
) -> None:
    told = run(answered, request(new_table(), f"{bucket}-not"))
    assert (told["BulkOperationStatus"], told["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    assert told["FailureMessage"]


def test_the_same_token_begins_one_operation(
    answered: Answered, refused: Refused, new_table: NewTable, bucket: str
) -> None:
    asked = request(new_table(), bucket, ClientToken=uuid.uuid4().hex)
    first = answered("StartBulkPutItems", asked)["BulkOperationDescription"]["BulkOperationArn"]
    assert answered("StartBulkPutItems", asked)["BulkOperationDescription"]["BulkOperationArn"] == first
    code, _ = refused("StartBulkPutItems", asked | {"PerformanceTier": "ACCELERATED"})
    assert code == "IdempotentParameterMismatchException"
    ended(answered, first)


def test_operations_are_listed_newest_first_a_page_at_a_time(
    answered: Answered, refused: Refused, new_table: NewTable, bucket: str
) -> None:
    table = new_table()
    made = [run(answered, request(table, bucket)) for _ in range(3)]
    arns = [one["BulkOperationArn"] for one in reversed(made)]
    page = answered("ListBulkOperations", {"MaxResults": 2})
    assert [one["BulkOperationArn"] for one in page["BulkOperationsSummaryList"]] == arns[:2]
    newest = made[-1]
    names = ("BulkOperationArn", "BulkOperationStatus", "StartTime", "EndTime")
    assert page["BulkOperationsSummaryList"][0] == {name: newest[name] for name in names}
    page = answered("ListBulkOperations", {"MaxResults": 1, "NextToken": page["NextToken"]})
    assert [one["BulkOperationArn"] for one in page["BulkOperationsSummaryList"]] == arns[2:]
    code, message = refused("ListBulkOperations", {"NextToken": "0" * 16})
    assert (code, "nextToken is invalid" in message) == ("ValidationException", True)


def test_an_operation_that_has_ended_is_not_cancelled(
    answered: Answered, new_table: NewTable, bucket: str
) -> None:
    told = run(answered, request(new_table(), bucket))
    arn = told["BulkOperationArn"]
    expected = {"BulkOperationArn": arn, "BulkOperationStatus": "COMPLETED"}
    assert answered("CancelBulkOperation", {"BulkOperationArn": arn}) == expected
    assert ended(answered, arn) == told


@pytest.mark.parametrize("verb", ["DescribeBulkOperation", "CancelBulkOperation"])
def test_an_operation_that_does_not_exist_is_not_found(refused: Refused, verb: str) -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/none/bulk-operation/01489602797149-73d8d5bc"
    assert refused(verb, {"BulkOperationArn": arn})[0] == "ResourceNotFoundException"
    code, _ = refused(verb, {"BulkOperationArn": "arn:aws:dynamodb:us-east-1:000000000000:table/none"})
    assert code == "ValidationException"


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"MaxWriteRequestUnits": 1023}, "Member must have value greater than or equal to 1024"),
        ({"PerformanceTier": "SLOW"}, "Member must satisfy enum value set"),
        ({"given": {"InputFormat": "CSV"}}, "Member must satisfy enum value set"),
        ({"given": {"InputFormat": None}}, "inputS3Configuration.inputFormat"),
        ({"given": {"S3Bucket": "no bucket"}}, "regular expression pattern"),
        ({"output": {"OutputType": None}}, "outputS3Configuration.outputType"),
        ({"output": {"OutputType": []}}, "OutputType"),
        ({"output": {"OutputType": ["ALL"]}}, "Member must satisfy enum value set"),
        ({"output": {"S3SseAlgorithm": "AES256", "S3SseKmsKeyId": "x"}}, "KMS Key Id is not supported"),
        ({"OutputS3Configuration": None}, "outputS3Configuration"),
    ],
)
def test_a_request_that_cannot_be_met_is_refused(
    refused: Refused, hash_table: str, bucket: str, members: Json, words: str
) -> None:
    code, message = refused("StartBulkPutItems", request(hash_table, bucket, **members))
    assert (code, words in message) == ("ValidationException", True)


def test_a_table_that_does_not_exist_is_not_loaded(refused: Refused, bucket: str) -> None:
    words = "Requested resource not found: Table: conf-never-made not found"
    assert refused("StartBulkPutItems", request("conf-never-made", bucket)) == (
        "ResourceNotFoundException",
        words,
    )
