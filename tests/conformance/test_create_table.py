"""CreateTable: what a definition may say, which mistake is named first, and how the new table is described.

Must hold: a refused definition leaves nothing behind, and an argument the engine does not honour is refused.
Elsewhere: changing a table (test_update_table.py), reading it back later (test_describe_table.py).
"""

from __future__ import annotations

import re
import time
import uuid
from typing import Any

import pytest
from tests.conformance.talk import (
    HASH_TABLE,
    Answered,
    Json,
    Line,
    NewTable,
    Refused,
    attribute,
    drop,
    index,
    key_schema,
    wait_until_active,
)

INVALID = "One or more parameter values were invalid: "
ON_DEMAND = {"BillingMode": "PAY_PER_REQUEST"}
THROUGHPUT = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}


def definition(names: str = "a", keys: tuple[str, ...] = ("a",), **rest: Any) -> Json:
    """A definition of string attributes (one letter each), on demand, under a name nobody has used."""
    asked = {
        "TableName": f"conf-{uuid.uuid4().hex}",
        "AttributeDefinitions": [attribute(name, "S") for name in names],
        "KeySchema": key_schema(*keys),
        **ON_DEMAND,
        **rest,
    }
    return {name: value for name, value in asked.items() if value is not None}


def schema(*elements: str) -> list[Json]:
    """schema('a HASH', 'b RANGE')."""
    return [dict(zip(("AttributeName", "KeyType"), one.split(), strict=True)) for one in elements]


def with_keys(name: str, *elements: str, **projection: Any) -> Json:
    return {"IndexName": name, "KeySchema": schema(*elements), "Projection": projection}


def violation(value: str, where: str, rule: str) -> str:
    return f"Value {value} at '{where}' failed to satisfy constraint: {rule}"


def detected(*violations: str) -> str:
    errors = "error" if len(violations) == 1 else "errors"
    return f"{len(violations)} validation {errors} detected: {'; '.join(violations)}"


# ---------------------------------------------------------------- names and single members


def test_a_table_needs_a_name(refused: Refused) -> None:
    code, message = refused("CreateTable", {**HASH_TABLE, **ON_DEMAND})
    assert code == "ValidationException"
    assert message == "The parameter 'TableName' is required but was not present in the request"


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("ab", "Member must have length greater than or equal to 3"),
        ("a" * 256, "Member must have length less than or equal to 255"),
        ("a b!", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
    ],
)
def test_a_table_name_has_3_to_255_plain_characters(refused: Refused, name: str, rule: str) -> None:
    expected = detected(violation(f"'{name}'", "tableName", rule))
    assert refused("CreateTable", definition(TableName=name)) == ("ValidationException", expected)


@pytest.mark.parametrize("length", [3, 255])
def test_names_of_the_extreme_lengths_are_accepted(new_table: NewTable, length: int) -> None:
    name = f"{uuid.uuid4().hex}_.-{'Z' * 255}"[:length] if length > 3 else uuid.uuid4().hex[:3]
    assert new_table(TableName=name) == name


def test_names_that_differ_only_in_case_are_two_tables(new_table: NewTable) -> None:
    name = f"conf-{uuid.uuid4().hex}"
    assert new_table(TableName=name) != new_table(TableName=name.upper())


def test_a_name_in_use_is_refused(refused: Refused, hash_table: str) -> None:
    expected = ("ResourceInUseException", f"Table already exists: {hash_table}")
    assert refused("CreateTable", definition(TableName=hash_table)) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (
            definition(AttributeDefinitions=[attribute("a", "SS")]),
            violation(
                "'SS'",
                "attributeDefinitions.1.member.attributeType",
                "Member must satisfy enum value set: [B, N, S]",
            ),
        ),
        (
            definition(KeySchema=schema("a INVALID")),
            violation(
                "'INVALID'", "keySchema.1.member.keyType", "Member must satisfy enum value set: [HASH, RANGE]"
            ),
        ),
        (
            definition(BillingMode="FOO"),
            violation(
                "'FOO'",
                "billingMode",
                "Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]",
            ),
        ),
        (
            definition(KeySchema=[]),
            violation("'[]'", "keySchema", "Member must have length greater than or equal to 1"),
        ),
        (
            definition(
                BillingMode=None, ProvisionedThroughput={"ReadCapacityUnits": 0, "WriteCapacityUnits": 1}
            ),
            violation(
                "'0'",
                "provisionedThroughput.readCapacityUnits",
                "Member must have value greater than or equal to 1",
            ),
        ),
        (
            definition(BillingMode=None, ProvisionedThroughput={"ReadCapacityUnits": 1}),
            violation("null", "provisionedThroughput.writeCapacityUnits", "Member must not be null"),
        ),
    ],
)
def test_a_member_that_breaks_its_constraint_is_named_with_its_path(
    refused: Refused, asked: Json, expected: str
) -> None:
    assert refused("CreateTable", asked) == ("ValidationException", detected(expected))


def test_a_table_key_has_at_most_two_elements(refused: Refused) -> None:
    code, message = refused(
        "CreateTable", definition("abc", KeySchema=schema("a HASH", "b RANGE", "c RANGE"))
    )
    assert code == "ValidationException"
    assert message.startswith("1 validation error detected: Value '[")
    assert message.endswith(
        "at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2"
    )


def test_every_broken_constraint_is_reported_at_once(refused: Refused) -> None:
    asked = definition(
        BillingMode=None,
        AttributeDefinitions=[],
        KeySchema=[],
        ProvisionedThroughput={"ReadCapacityUnits": -1, "WriteCapacityUnits": -1},
    )
    code, message = refused("CreateTable", asked)
    prefix, _, listed = message.partition("detected: ")
    assert (code, prefix) == ("ValidationException", "3 validation errors ")
    assert set(listed.split("; ")) == {
        violation(
            "'-1'",
            "provisionedThroughput.writeCapacityUnits",
            "Member must have value greater than or equal to 1",
        ),
        violation(
            "'-1'",
            "provisionedThroughput.readCapacityUnits",
            "Member must have value greater than or equal to 1",
        ),
        violation("'[]'", "keySchema", "Member must have length greater than or equal to 1"),
    }


@pytest.mark.parametrize(("local_name", "global_name"), [("l1", "g1"), ("aa", "zz")])
def test_a_global_index_is_reported_before_a_local_one(
    refused: Refused, local_name: str, global_name: str
) -> None:
    asked = definition(
        "ab",
        ("a", "b"),
        LocalSecondaryIndexes=[index(local_name, ("a", "c"), "ALL")],
        GlobalSecondaryIndexes=[index(global_name, ("d",), "ALL")],
    )
    short = "Member must have length greater than or equal to 3"
    expected = detected(
        violation(f"'{global_name}'", "globalSecondaryIndexes.1.member.indexName", short),
        violation(f"'{local_name}'", "localSecondaryIndexes.1.member.indexName", short),
    )
    assert refused("CreateTable", asked) == ("ValidationException", expected)


# ---------------------------------------------------------------- rules between members


HUGE = 1_000_000_000_001
MISTAKES = {
    "no throughput at all": (
        definition(BillingMode=None),
        INVALID
        + "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
    ),
    "throughput on demand": (
        definition(ProvisionedThroughput=THROUGHPUT),
        INVALID
        + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified"
        + " when BillingMode is PAY_PER_REQUEST",
    ),
    "too many reads": (
        definition(
            BillingMode=None, ProvisionedThroughput={"ReadCapacityUnits": HUGE, "WriteCapacityUnits": HUGE}
        ),
        f"Given value {HUGE} for ReadCapacityUnits is out of bounds",
    ),
    "too many writes": (
        definition(
            BillingMode=None, ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": HUGE}
        ),
        f"Given value {HUGE} for WriteCapacityUnits is out of bounds",
    ),
    "one key, undefined": (
        definition("b", ("a",)),
        INVALID
        + "Some index key attributes are not defined in AttributeDefinitions."
        + " Keys: [a], AttributeDefinitions: [b]",
    ),
    "two keys, one undefined": (
        definition("b", ("a", "b")),
        "Invalid KeySchema: Some index key attribute have no definition",
    ),
    "one attribute twice": (
        definition("a", ("a", "a")),
        "Invalid KeySchema: Some index key attribute have no definition",
    ),
    "one attribute twice, two defined": (
        definition("ab", ("a", "a")),
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
    ),
    "one attribute twice in a local index": (
        definition("ab", ("a", "b"), LocalSecondaryIndexes=[index("lsi", ("a", "a"), "ALL")]),
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
    ),
    "range first": (
        definition("ab", KeySchema=schema("a RANGE", "b HASH")),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
    ),
    "two hashes": (
        definition("ab", KeySchema=schema("a HASH", "b HASH")),
        "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
    ),
    "an attribute too many": (
        definition("ab"),
        INVALID
        + "Number of attributes in KeySchema does not exactly match number of attributes"
        + " defined in AttributeDefinitions",
    ),
    "no local index in the list": (
        definition(LocalSecondaryIndexes=[]),
        INVALID + "List of LocalSecondaryIndexes is empty",
    ),
    "no global index in the list": (
        definition(GlobalSecondaryIndexes=[]),
        INVALID + "List of GlobalSecondaryIndexes is empty",
    ),
    "a local index without a table range key": (
        definition("ab", LocalSecondaryIndexes=[with_keys("lsi", "a HASH", "b RANGE", ProjectionType="ALL")]),
        INVALID
        + "Table KeySchema does not have a range key,"
        + " which is required when specifying a LocalSecondaryIndex",
    ),
    "a local index without a range key": (
        definition("ab", ("a", "b"), LocalSecondaryIndexes=[with_keys("lsi", "b HASH")]),
        INVALID + "Index KeySchema does not have a range key for index: lsi",
    ),
    "a local index on another hash key": (
        definition("ab", ("a", "b"), LocalSecondaryIndexes=[with_keys("lsi", "b HASH", "a RANGE")]),
        INVALID
        + "Index KeySchema does not have the same leading hash key as table KeySchema for index: lsi."
        + " index hash key: b, table hash key: a",
    ),
    "a local index that starts with its range key": (
        definition("ab", ("a", "b"), LocalSecondaryIndexes=[with_keys("lsi", "a RANGE")]),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
    ),
    "a projection of no type": (
        definition("ab", GlobalSecondaryIndexes=[with_keys("gsi", "b HASH")]),
        INVALID + "Unknown ProjectionType: null",
    ),
    "a projection of no type but with names": (
        definition("ab", GlobalSecondaryIndexes=[with_keys("gsi", "b HASH", NonKeyAttributes=["c"])]),
        INVALID + "Unknown ProjectionType: null",
    ),
    "INCLUDE of nothing": (
        definition("ab", GlobalSecondaryIndexes=[with_keys("gsi", "b HASH", ProjectionType="INCLUDE")]),
        INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
    ),
    "ALL with names": (
        definition("ab", GlobalSecondaryIndexes=[index("gsi", ("b",), "ALL", ("c",))]),
        INVALID + "ProjectionType is ALL, but NonKeyAttributes is specified",
    ),
    "KEYS_ONLY with names": (
        definition("ab", GlobalSecondaryIndexes=[index("gsi", ("b",), "KEYS_ONLY", ("c",))]),
        INVALID + "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
    ),
    "one index name twice": (
        definition("ab", GlobalSecondaryIndexes=[index("gsi", ("b",), "ALL"), index("gsi", ("b",), "ALL")]),
        INVALID + "Duplicate index name: gsi",
    ),
    "one index name, local and global": (
        definition(
            "ab",
            ("a", "b"),
            LocalSecondaryIndexes=[index("same", ("a", "b"), "ALL")],
            GlobalSecondaryIndexes=[index("same", ("b",), "ALL")],
        ),
        INVALID + "Duplicate index name: same",
    ),
    "a name projected twice": (
        definition("ab", GlobalSecondaryIndexes=[index("gsi", ("b",), "INCLUDE", ("c", "c"))]),
        INVALID + "Duplicate element in NonKeyAttributes: c",
    ),
    "one attribute defined twice": (
        definition("aa"),
        "Attribute Name is duplicated: a",
    ),
    "an index of a provisioned table without throughput": (
        definition(
            "ab",
            BillingMode=None,
            ProvisionedThroughput=THROUGHPUT,
            GlobalSecondaryIndexes=[index("gsi", ("b",), "ALL")],
        ),
        INVALID + "ProvisionedThroughput is not specified for index: gsi",
    ),
    "an index of an on-demand table with throughput": (
        definition(
            "ab", GlobalSecondaryIndexes=[index("gsi", ("b",), "ALL") | {"ProvisionedThroughput": THROUGHPUT}]
        ),
        INVALID
        + "ProvisionedThroughput should not be specified for index: gsi"
        + " when BillingMode is PAY_PER_REQUEST",
    ),
    "a ceiling on a provisioned table": (
        definition(
            BillingMode=None, ProvisionedThroughput=THROUGHPUT, OnDemandThroughput={"MaxReadRequestUnits": 5}
        ),
        INVALID
        + "MaxReadRequestUnits for OnDemandThroughput cannot be specified"
        + " when the table BillingMode is PROVISIONED",
    ),
    "a ceiling of zero": (
        definition(OnDemandThroughput={"MaxReadRequestUnits": 0, "MaxWriteRequestUnits": 5}),
        INVALID + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range",
    ),
    "a stream disabled with a view type": (
        definition(StreamSpecification={"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"}),
        INVALID + "Table is being created with a stream disabled, UpdateViewType should not be specified",
    ),
    "an unknown table class": (
        definition(TableClass="FOO"),
        "Invalid table-class parameter provided. Please try again with a valid table-class value:"
        " [STANDARD, STANDARD_INFREQUENT_ACCESS].",
    ),
    "a hash key after a range key": (
        definition(
            "abcd",
            GlobalSecondaryIndexes=[with_keys("gsi", "b HASH", "c RANGE", "d HASH", ProjectionType="ALL")],
        ),
        INVALID + "All HASH key attributes must precede RANGE key attributes in the KeySchema",
    ),
    "six local indexes": (
        definition(
            "ab",
            ("a", "b"),
            LocalSecondaryIndexes=[index(f"lsi{n}", ("a", "b"), "ALL") for n in range(6)],
        ),
        INVALID + "Number of LocalSecondaryIndexes exceeds per-table limit of 5",
    ),
    "twenty-one global indexes": (
        definition("ab", GlobalSecondaryIndexes=[index(f"gsi{n}", ("b",), "ALL") for n in range(21)]),
        INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_definition_that_contradicts_itself_is_refused(refused: Refused, mistake: str) -> None:
    asked, expected = MISTAKES[mistake]
    assert refused("CreateTable", asked) == ("ValidationException", expected)


# Each pair of mistakes, and the one the service names.
FIRST = {
    "an unused definition before the projection": (
        definition("abc", GlobalSecondaryIndexes=[with_keys("gsi", "b HASH")]),
        "Some AttributeDefinitions are not used. AttributeDefinitions: [",
    ),
    "an attribute twice in one local index before an unused definition": (
        definition("abc", ("a", "b"), LocalSecondaryIndexes=[index("lsi", ("a", "a"), "ALL")]),
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
    ),
    "an attribute twice in one global index before an unused definition": (
        definition("abc", GlobalSecondaryIndexes=[index("gsi", ("b", "b"), "ALL")]),
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
    ),
    "constraints before throughput": (
        definition(BillingMode=None, KeySchema=schema("a INVALID")),
        "Member must satisfy enum value set: [HASH, RANGE]",
    ),
    "throughput before the key schema": (
        definition("b", BillingMode=None),
        "ReadCapacityUnits and WriteCapacityUnits must both be specified",
    ),
    "bounds of throughput before the key schema": (
        definition(
            "b", BillingMode=None, ProvisionedThroughput={"ReadCapacityUnits": HUGE, "WriteCapacityUnits": 1}
        ),
        "is out of bounds",
    ),
    "the table's missing range key before the index's own keys": (
        definition("ab", LocalSecondaryIndexes=[with_keys("lsi", "c RANGE")]),
        "Table KeySchema does not have a range key",
    ),
    "undefined index keys before their order": (
        definition("ab", ("a", "b"), GlobalSecondaryIndexes=[with_keys("gsi", "c RANGE")]),
        "Some index key attributes are not defined in AttributeDefinitions",
    ),
    "the order of index keys before the projection": (
        definition("ab", ("a", "b"), GlobalSecondaryIndexes=[with_keys("gsi", "a RANGE")]),
        "The first KeySchemaElement is not a HASH key type",
    ),
    "a local index's hash key before its projection": (
        definition("ab", ("a", "b"), LocalSecondaryIndexes=[with_keys("lsi", "b HASH", "a RANGE")]),
        "does not have the same leading hash key",
    ),
}


@pytest.mark.parametrize("order", FIRST)
def test_of_two_mistakes_the_service_names_this_one(refused: Refused, order: str) -> None:
    asked, expected = FIRST[order]
    code, message = refused("CreateTable", asked)
    assert code == "ValidationException"
    assert expected in message


@pytest.mark.parametrize(
    "asked",
    [
        definition("abc", GlobalSecondaryIndexes=[index("gsi", ("b",), "ALL")]),
        definition("ab", GlobalSecondaryIndexes=[{"IndexName": "gsi", "KeySchema": schema("b HASH")}]),
        definition(AttributeDefinitions=None),
        definition(KeySchema=None),
        definition(AttributeDefinitions=[attribute("a" * 256, "S")], KeySchema=key_schema("a" * 256)),
        definition(WarmThroughput={"ReadUnitsPerSecond": 11_999, "WriteUnitsPerSecond": 4_000}),
        definition(
            "ab",
            GlobalSecondaryIndexes=[index("gsi", ("b",), "INCLUDE", tuple(f"n{n}" for n in range(101)))],
        ),
        definition(
            "ab",
            GlobalSecondaryIndexes=[
                index(f"gsi{i}", ("b",), "INCLUDE", tuple(f"n{i}x{n}" for n in range(20 if i < 5 else 1)))
                for i in range(6)
            ],
        ),
    ],
    ids=[
        "a definition no index uses",
        "an index without projection",
        "no attribute definitions",
        "no key schema",
        "a key name of 256 characters",
        "warm throughput below where every table starts",
        "101 projected names in one index",
        "101 projected names over six indexes",
    ],
)
def test_these_definitions_are_refused_in_whatever_words(refused: Refused, asked: Json) -> None:
    assert refused("CreateTable", asked)[0] == "ValidationException"


@pytest.mark.parametrize(
    ("kind", "elements"),
    [
        ("HASH", [f"{name} HASH" for name in "bcdef"]),
        ("RANGE", ["b HASH", *(f"{name} RANGE" for name in "cdefg")]),
    ],
)
def test_a_global_index_has_at_most_four_keys_of_a_kind(
    refused: Refused, kind: str, elements: list[str]
) -> None:
    names = "a" + "".join(one[0] for one in elements)
    asked = definition(names, GlobalSecondaryIndexes=[with_keys("gsi", *elements, ProjectionType="ALL")])
    expected = INVALID + f"The KeySchema exceeds the maximum allowed number of {kind} key attributes"
    assert refused("CreateTable", asked) == ("ValidationException", expected)


@pytest.mark.parametrize(
    "unsupported",
    [
        {"GlobalTableSourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/source"},
        {"GlobalTableSettingsReplicationMode": "ENABLED"},
    ],
    ids=lambda asked: next(iter(asked)),
)
def test_an_argument_that_is_not_honoured_is_refused_and_creates_nothing(
    refused: Refused, unsupported: Json
) -> None:
    asked = definition(**unsupported)
    assert refused("CreateTable", asked)[0] == "ValidationException"
    missing, _ = refused("DescribeTable", {"TableName": asked["TableName"]})
    assert missing == "ResourceNotFoundException"


# ---------------------------------------------------------------- what is created


@pytest.fixture
def made(line: Line, answered: Answered) -> Any:
    """made(definition) -> (the answer's description, the description once ACTIVE); deleted after the test."""
    names: list[str] = []

    def make(asked: Json) -> tuple[Json, Json]:
        first = answered("CreateTable", asked)["TableDescription"]
        names.append(asked["TableName"])
        wait_until_active(line, asked["TableName"])
        return first, answered("DescribeTable", {"TableName": asked["TableName"]})["Table"]

    yield make
    for name in names:
        drop(line, name)


def test_the_answer_describes_the_table_being_made(made: Any) -> None:
    asked = definition("ab", ("a", "b"))
    first, active = made(asked)
    assert first["TableName"] == asked["TableName"]
    assert first["KeySchema"] == asked["KeySchema"]
    assert first["AttributeDefinitions"] == asked["AttributeDefinitions"]
    assert first["TableStatus"] in ("CREATING", "ACTIVE")
    assert (first["ItemCount"], first["TableSizeBytes"]) == (0, 0)
    assert active["TableStatus"] == "ACTIVE"
    assert active["TableId"] == first["TableId"]
    assert active["TableArn"] == first["TableArn"]
    assert active["DeletionProtectionEnabled"] is False
    assert "GlobalSecondaryIndexes" not in active
    assert "LocalSecondaryIndexes" not in active
    assert "SSEDescription" not in active


def test_a_table_has_an_arn_an_id_and_a_birthday(made: Any) -> None:
    asked = definition()
    _, table = made(asked)
    assert re.fullmatch(
        rf"arn:aws:dynamodb:[a-z0-9-]+:\d{{12}}:table/{asked['TableName']}", table["TableArn"]
    )
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", table["TableId"])
    assert abs(table["CreationDateTime"] - time.time()) < 600


def test_an_on_demand_table_describes_zero_throughput_and_its_billing_mode(made: Any) -> None:
    _, table = made(definition())
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    throughput = table["ProvisionedThroughput"]
    assert throughput["ReadCapacityUnits"] == 0
    assert throughput["WriteCapacityUnits"] == 0
    assert throughput["NumberOfDecreasesToday"] == 0


def test_an_on_demand_table_starts_warm_for_12000_reads_and_4000_writes(made: Any) -> None:
    _, table = made(definition())
    assert table["WarmThroughput"] == {
        "ReadUnitsPerSecond": 12_000,
        "WriteUnitsPerSecond": 4_000,
        "Status": "ACTIVE",
    }


def test_a_table_without_billing_mode_is_provisioned_and_says_nothing_of_modes(made: Any) -> None:
    throughput = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 3}
    _, table = made(definition(BillingMode=None, ProvisionedThroughput=throughput))
    assert "BillingModeSummary" not in table
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 7
    assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 3
    assert table["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0
    assert table["WarmThroughput"]["ReadUnitsPerSecond"] == 7
    assert table["WarmThroughput"]["WriteUnitsPerSecond"] == 3


def test_warm_throughput_asked_for_is_described(made: Any) -> None:
    warm = {"ReadUnitsPerSecond": 15_000, "WriteUnitsPerSecond": 5_000}
    _, table = made(definition(WarmThroughput=warm))
    assert {name: table["WarmThroughput"][name] for name in warm} == warm


def test_on_demand_ceilings_are_described(made: Any) -> None:
    ceilings = {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 5}
    _, table = made(definition(OnDemandThroughput=ceilings))
    assert table["OnDemandThroughput"] == ceilings


def test_a_table_class_is_described(made: Any) -> None:
    _, table = made(definition(TableClass="STANDARD_INFREQUENT_ACCESS"))
    assert table["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"


def test_deletion_protection_is_described(made: Any) -> None:
    _, table = made(definition(DeletionProtectionEnabled=True))
    assert table["DeletionProtectionEnabled"] is True


def test_tags_given_at_creation_are_listed(made: Any, answered: Answered) -> None:
    tags = [{"Key": "team", "Value": "zoo"}, {"Key": "empty", "Value": ""}]
    _, table = made(definition(Tags=tags))
    listed = answered("ListTagsOfResource", {"ResourceArn": table["TableArn"]})["Tags"]
    assert sorted(listed, key=lambda tag: str(tag["Key"])) == sorted(tags, key=lambda tag: tag["Key"])


def test_a_global_index_is_described_with_status_arn_and_size(made: Any) -> None:
    _, table = made(
        definition("ab", GlobalSecondaryIndexes=[index("gsi", ("b", "a"), "INCLUDE", ("c", "d"))])
    )
    (gsi,) = table["GlobalSecondaryIndexes"]
    assert gsi["IndexName"] == "gsi"
    assert gsi["KeySchema"] == key_schema("b", "a")
    assert gsi["Projection"]["ProjectionType"] == "INCLUDE"
    assert sorted(gsi["Projection"]["NonKeyAttributes"]) == ["c", "d"]
    assert gsi["IndexStatus"] == "ACTIVE"
    assert gsi["IndexArn"] == f"{table['TableArn']}/index/gsi"
    assert (gsi["ItemCount"], gsi["IndexSizeBytes"]) == (0, 0)
    assert gsi["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    assert gsi["ProvisionedThroughput"]["WriteCapacityUnits"] == 0
    assert gsi["WarmThroughput"]["ReadUnitsPerSecond"] == 12_000
    assert "Backfilling" not in gsi


def test_a_global_index_keeps_its_own_throughput_settings(made: Any) -> None:
    own = {"ProvisionedThroughput": {"ReadCapacityUnits": 2, "WriteCapacityUnits": 4}}
    asked = definition(
        "ab",
        BillingMode=None,
        ProvisionedThroughput=THROUGHPUT,
        GlobalSecondaryIndexes=[index("gsi", ("b",), "ALL") | own],
    )
    (gsi,) = made(asked)[1]["GlobalSecondaryIndexes"]
    assert gsi["ProvisionedThroughput"]["ReadCapacityUnits"] == 2
    assert gsi["ProvisionedThroughput"]["WriteCapacityUnits"] == 4


def test_a_global_index_keeps_its_own_on_demand_ceilings(made: Any) -> None:
    ceilings = {"MaxReadRequestUnits": 50, "MaxWriteRequestUnits": 60}
    asked = definition(
        "ab", GlobalSecondaryIndexes=[index("gsi", ("b",), "ALL") | {"OnDemandThroughput": ceilings}]
    )
    _, table = made(asked)
    (gsi,) = table["GlobalSecondaryIndexes"]
    assert gsi["OnDemandThroughput"] == ceilings
    assert "OnDemandThroughput" not in table


def test_a_local_index_is_described_without_a_status(made: Any) -> None:
    _, table = made(
        definition("abc", ("a", "b"), LocalSecondaryIndexes=[index("lsi", ("a", "c"), "KEYS_ONLY")])
    )
    (lsi,) = table["LocalSecondaryIndexes"]
    assert lsi["IndexName"] == "lsi"
    assert lsi["KeySchema"] == key_schema("a", "c")
    assert lsi["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert lsi["IndexArn"] == f"{table['TableArn']}/index/lsi"
    assert (lsi["ItemCount"], lsi["IndexSizeBytes"]) == (0, 0)
    assert "IndexStatus" not in lsi
    assert "ProvisionedThroughput" not in lsi


def test_a_global_index_of_four_hash_and_four_range_keys_is_described_in_order(made: Any) -> None:
    elements = [f"{name} HASH" for name in "bcde"] + [f"{name} RANGE" for name in "fghi"]
    asked = definition(
        "abcdefghi", GlobalSecondaryIndexes=[with_keys("wide", *elements, ProjectionType="ALL")]
    )
    (gsi,) = made(asked)[1]["GlobalSecondaryIndexes"]
    assert gsi["KeySchema"] == schema(*elements)


def test_twenty_global_and_five_local_indexes_fit_a_table(made: Any) -> None:
    asked = definition(
        "abc",
        ("a", "b"),
        GlobalSecondaryIndexes=[index(f"gsi{n:02}", ("c",), "KEYS_ONLY") for n in range(20)],
        LocalSecondaryIndexes=[index(f"lsi{n}", ("a", "c"), "KEYS_ONLY") for n in range(5)],
    )
    _, table = made(asked)
    assert len(table["GlobalSecondaryIndexes"]) == 20
    assert len(table["LocalSecondaryIndexes"]) == 5


def test_a_hundred_projected_names_fit_a_table(made: Any) -> None:
    indexes = [index(f"gsi{i}", ("b",), "INCLUDE", tuple(f"n{i}x{n}" for n in range(20))) for i in range(5)]
    _, table = made(definition("ab", GlobalSecondaryIndexes=indexes))
    assert all(len(one["Projection"]["NonKeyAttributes"]) == 20 for one in table["GlobalSecondaryIndexes"])


def test_a_new_table_is_empty_even_if_its_name_was_used_before(
    line: Line, answered: Answered, refused: Refused
) -> None:
    asked = definition()
    ids = []
    for _ in range(2):
        answered("CreateTable", asked)
        wait_until_active(line, asked["TableName"])
        ids.append(answered("DescribeTable", {"TableName": asked["TableName"]})["Table"]["TableId"])
        assert answered("Scan", {"TableName": asked["TableName"], "Select": "COUNT"})["Count"] == 0
        answered("PutItem", {"TableName": asked["TableName"], "Item": {"a": {"S": "x"}}})
        drop(line, asked["TableName"])
        for _ in range(500):
            if line.call("DescribeTable", {"TableName": asked["TableName"]}).status == 400:
                break
            time.sleep(0.02)
    assert ids[0] != ids[1]
