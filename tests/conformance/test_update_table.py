"""UpdateTable: billing, throughput, ceilings, protection; global indexes built and dropped on a live table.

Must hold: a refused change changes nothing; a new index ends with an entry for every item that can have one.
Elsewhere: what indexes answer (test_secondary_indexes.py), definitions at birth (test_create_table.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.talk import (
    COMP_TABLE,
    Answered,
    Json,
    Line,
    NewKey,
    NewTable,
    Refused,
    attribute,
    index,
    key_schema,
    wait_until_active,
)

INVALID = "One or more parameter values were invalid: "
ONE_INDEX_AT_A_TIME = (
    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
)
NOTHING_TO_DO = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates"
    " or SSESpecification or ReplicaUpdates is required",
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates,"
    " SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn,"
    " MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass"
    " is required",
)

Change = Callable[..., Json]


@pytest.fixture
def change(line: Line, answered: Answered) -> Change:
    """change(table, **members) -> the description once the table has settled."""

    def update(table: str, **members: Any) -> Json:
        answered("UpdateTable", {"TableName": table, **members})
        wait_until_active(line, table)
        return described(answered, table)

    return update


@pytest.fixture(scope="module")
def spare(session_table: NewTable) -> str:
    """A table to ask the impossible of; an endpoint that takes it spoils no other test's table."""
    return session_table()


def described(answered: Answered, table: str) -> Json:
    description: Json = answered("DescribeTable", {"TableName": table})["Table"]
    return description


def units(read: int, write: int) -> Json:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def create_index(name: str = "late", key: str = "g", kind: str = "S", **rest: Any) -> Json:
    return {
        "AttributeDefinitions": [attribute(key, kind)],
        "GlobalSecondaryIndexUpdates": [{"Create": index(name, (key,), "ALL") | rest}],
    }


def provisioned(new_table: NewTable, read: int = 5, write: int = 5, **rest: Any) -> str:
    return new_table(ProvisionedThroughput=units(read, write), **rest)


# ---------------------------------------------------------------- refusals


def test_a_missing_table_is_named(refused: Refused) -> None:
    asked = {"TableName": "conf-no-such-table", "ProvisionedThroughput": units(1, 1)}
    expected = "Requested resource not found: Table: conf-no-such-table not found"
    assert refused("UpdateTable", asked) == ("ResourceNotFoundException", expected)


@pytest.mark.parametrize("members", [{}, {"AttributeDefinitions": [attribute("pk", "S")]}])
def test_a_change_of_nothing_is_refused(refused: Refused, spare: str, members: Json) -> None:
    code, message = refused("UpdateTable", {"TableName": spare, **members})
    assert code == "ValidationException"
    assert message in NOTHING_TO_DO


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (
            {"ProvisionedThroughput": units(-1, -1)},
            {
                "Value '-1' at 'provisionedThroughput.writeCapacityUnits' failed to satisfy constraint:"
                " Member must have value greater than or equal to 1",
                "Value '-1' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint:"
                " Member must have value greater than or equal to 1",
            },
        ),
        (
            {"ProvisionedThroughput": {"ReadCapacityUnits": 4}},
            {
                "Value null at 'provisionedThroughput.writeCapacityUnits' failed to satisfy constraint:"
                " Member must not be null"
            },
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "a"}}]},
            {
                "Value 'a' at 'globalSecondaryIndexUpdates.1.member.delete.indexName' failed to satisfy"
                " constraint: Member must have length greater than or equal to 3"
            },
        ),
    ],
)
def test_broken_constraints_are_listed_with_their_paths(
    refused: Refused, spare: str, members: Json, expected: set[str]
) -> None:
    code, message = refused("UpdateTable", {"TableName": spare, **members})
    assert code == "ValidationException"
    assert set(message.partition("detected: ")[2].split("; ")) == expected


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (
            {"ProvisionedThroughput": units(1, 1)},
            INVALID
            + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified"
            + " when BillingMode is PAY_PER_REQUEST",
        ),
        (
            {"BillingMode": "PROVISIONED"},
            INVALID + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{}]},
            INVALID
            + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create,"
            + " GlobalSecondaryIndexUpdate.Delete must not be null",
        ),
        (
            {
                "GlobalSecondaryIndexUpdates": [
                    {"Delete": {"IndexName": "abc"}},
                    {"Delete": {"IndexName": "abc"}},
                ]
            },
            INVALID
            + "Only one global secondary index update per index is allowed simultaneously. Index: abc",
        ),
    ],
)
def test_a_change_that_contradicts_itself_or_the_table_is_refused(
    refused: Refused, spare: str, members: Json, expected: str
) -> None:
    assert refused("UpdateTable", {"TableName": spare, **members}) == ("ValidationException", expected)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (
            {"DeletionProtectionEnabled": True, "TableClass": "STANDARD_INFREQUENT_ACCESS"},
            "TableClass modification must be the only operation in the request",
        ),
        (
            {"DeletionProtectionEnabled": True, "BillingMode": "PAY_PER_REQUEST"},
            "DeletionProtection modification must be the only operation in the request",
        ),
        (
            {"DeletionProtectionEnabled": True, "WarmThroughput": {"ReadUnitsPerSecond": 20_000}},
            "DeletionProtection modification must be the only operation in the request",
        ),
        (
            {"BillingMode": "PAY_PER_REQUEST", "WarmThroughput": {"ReadUnitsPerSecond": 20_000}},
            "WarmThroughput must be the only operation in the request",
        ),
    ],
)
def test_a_change_is_one_change(
    refused: Refused, answered: Answered, new_table: NewTable, members: Json, expected: str
) -> None:
    table = new_table()
    before = described(answered, table)
    asked = {"TableName": table, **members}
    assert refused("UpdateTable", asked) == ("ValidationException", INVALID + expected)
    assert described(answered, table) == before


def test_throughput_that_equals_the_current_is_refused(refused: Refused, new_table: NewTable) -> None:
    table = provisioned(new_table, 5, 6)
    expected = (
        "The provisioned throughput for the table will not change. The requested value equals the current"
        " value. Current ReadCapacityUnits provisioned for the table: 5. Requested ReadCapacityUnits: 5."
        " Current WriteCapacityUnits provisioned for the table: 6. Requested WriteCapacityUnits: 6."
        " Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
    )
    for members in ({}, {"BillingMode": "PROVISIONED"}):
        asked = {"TableName": table, "ProvisionedThroughput": units(5, 6), **members}
        assert refused("UpdateTable", asked) == ("ValidationException", expected)


def test_going_on_demand_takes_no_throughput(refused: Refused, new_table: NewTable) -> None:
    asked = {"TableName": provisioned(new_table), "BillingMode": "PAY_PER_REQUEST"}
    code, message = refused("UpdateTable", asked | {"ProvisionedThroughput": units(1, 1)})
    assert code == "ValidationException"
    assert "when BillingMode is PAY_PER_REQUEST" in message


@pytest.mark.parametrize(
    "unsupported",
    [
        {"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]},
        {"MultiRegionConsistency": "STRONG"},
        {"GlobalTableWitnessUpdates": [{"Create": {"RegionName": "eu-west-1"}}]},
        {"GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES"},
    ],
    ids=lambda members: next(iter(members)),
)
def test_an_argument_that_is_not_honoured_is_refused_alone_and_in_company(
    refused: Refused, answered: Answered, new_table: NewTable, unsupported: Json
) -> None:
    table = new_table()
    for company in ({}, {"DeletionProtectionEnabled": True}):
        assert (
            refused("UpdateTable", {"TableName": table, **unsupported, **company})[0] == "ValidationException"
        )
    assert described(answered, table)["DeletionProtectionEnabled"] is False


# ---------------------------------------------------------------- billing and throughput


def test_throughput_changes_are_described_with_their_dates(new_table: NewTable, change: Change) -> None:
    table = provisioned(new_table)
    raised = change(table, ProvisionedThroughput=units(10, 15))["ProvisionedThroughput"]
    assert (raised["ReadCapacityUnits"], raised["WriteCapacityUnits"]) == (10, 15)
    assert raised["LastIncreaseDateTime"] > 0
    assert raised["NumberOfDecreasesToday"] == 0
    lowered = change(table, ProvisionedThroughput=units(4, 3))["ProvisionedThroughput"]
    assert (lowered["ReadCapacityUnits"], lowered["WriteCapacityUnits"]) == (4, 3)
    assert lowered["LastDecreaseDateTime"] >= lowered["LastIncreaseDateTime"]
    assert lowered["NumberOfDecreasesToday"] == 1


def test_a_table_goes_on_demand_and_back(new_table: NewTable, change: Change) -> None:
    table = provisioned(new_table)
    on_demand = change(table, BillingMode="PAY_PER_REQUEST")
    assert on_demand["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert on_demand["BillingModeSummary"]["LastUpdateToPayPerRequestDateTime"] > 0
    assert on_demand["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    assert on_demand["ProvisionedThroughput"]["WriteCapacityUnits"] == 0
    back = change(table, BillingMode="PROVISIONED", ProvisionedThroughput=units(2, 3))
    assert back["BillingModeSummary"]["BillingMode"] == "PROVISIONED"
    assert back["ProvisionedThroughput"]["ReadCapacityUnits"] == 2
    assert back["ProvisionedThroughput"]["WriteCapacityUnits"] == 3


def test_asking_for_on_demand_again_is_no_mistake(new_table: NewTable, change: Change) -> None:
    summary = change(new_table(), BillingMode="PAY_PER_REQUEST")["BillingModeSummary"]
    assert summary["BillingMode"] == "PAY_PER_REQUEST"


def test_leaving_on_demand_needs_throughput_for_every_index(
    refused: Refused, new_table: NewTable, change: Change
) -> None:
    table = new_table(
        AttributeDefinitions=[attribute("pk", "S"), attribute("g", "S")],
        GlobalSecondaryIndexes=[index("gsi", ("g",), "ALL")],
    )
    switch: Json = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(1, 1)}
    expected = INVALID + "ProvisionedThroughput must be specified for index: gsi"
    assert refused("UpdateTable", {"TableName": table, **switch}) == ("ValidationException", expected)
    of_index = [{"Update": {"IndexName": "gsi", "ProvisionedThroughput": units(3, 4)}}]
    (gsi,) = change(table, **switch, GlobalSecondaryIndexUpdates=of_index)["GlobalSecondaryIndexes"]
    assert gsi["ProvisionedThroughput"]["ReadCapacityUnits"] == 3
    assert gsi["ProvisionedThroughput"]["WriteCapacityUnits"] == 4


def test_an_index_has_throughput_of_its_own(new_table: NewTable, change: Change) -> None:
    gsi = index("gsi", ("g",), "ALL") | {"ProvisionedThroughput": units(1, 1)}
    table = provisioned(
        new_table,
        AttributeDefinitions=[attribute("pk", "S"), attribute("g", "S")],
        GlobalSecondaryIndexes=[gsi],
    )
    updates = [{"Update": {"IndexName": "gsi", "ProvisionedThroughput": units(8, 9)}}]
    after = change(table, GlobalSecondaryIndexUpdates=updates)
    assert after["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["ReadCapacityUnits"] == 8
    assert after["ProvisionedThroughput"]["ReadCapacityUnits"] == 5


def test_on_demand_ceilings_merge_member_by_member(new_table: NewTable, change: Change) -> None:
    table = new_table(OnDemandThroughput={"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 5})
    merged = change(table, OnDemandThroughput={"MaxReadRequestUnits": 20})["OnDemandThroughput"]
    assert merged == {"MaxReadRequestUnits": 20, "MaxWriteRequestUnits": 5}


def test_minus_one_takes_a_ceiling_away(new_table: NewTable, change: Change) -> None:
    table = new_table(OnDemandThroughput={"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 5})
    after = change(table, OnDemandThroughput={"MaxReadRequestUnits": -1}).get("OnDemandThroughput", {})
    assert after.get("MaxReadRequestUnits", -1) == -1
    assert after["MaxWriteRequestUnits"] == 5


def test_a_provisioned_table_takes_no_on_demand_ceiling(refused: Refused, new_table: NewTable) -> None:
    asked = {"TableName": provisioned(new_table), "OnDemandThroughput": {"MaxReadRequestUnits": 10}}
    expected = (
        INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified"
        " when the table BillingMode is PROVISIONED"
    )
    assert refused("UpdateTable", asked) == ("ValidationException", expected)


@pytest.mark.parametrize("ceiling", [0, -2])
def test_a_ceiling_is_positive_or_minus_one(refused: Refused, spare: str, ceiling: int) -> None:
    asked = {"TableName": spare, "OnDemandThroughput": {"MaxWriteRequestUnits": ceiling}}
    expected = (
        INVALID + "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid range"
    )
    assert refused("UpdateTable", asked) == ("ValidationException", expected)


def test_leaving_on_demand_drops_the_ceilings(new_table: NewTable, change: Change) -> None:
    table = new_table(OnDemandThroughput={"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 5})
    after = change(table, BillingMode="PROVISIONED", ProvisionedThroughput=units(1, 1))
    assert "OnDemandThroughput" not in after


def test_warm_throughput_grows(new_table: NewTable, change: Change) -> None:
    wanted = {"ReadUnitsPerSecond": 13_000, "WriteUnitsPerSecond": 4_500}
    warm = change(new_table(), WarmThroughput=wanted)["WarmThroughput"]
    assert {name: warm[name] for name in wanted} == wanted


def test_warm_throughput_never_shrinks(refused: Refused, new_table: NewTable) -> None:
    asked = {"TableName": new_table(), "WarmThroughput": {"ReadUnitsPerSecond": 11_000}}
    expected = (
        INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current"
        " WarmThroughput, decreasing WarmThroughput is not supported"
    )
    assert refused("UpdateTable", asked) == ("ValidationException", expected)


# ---------------------------------------------------------------- other settings


def test_deletion_protection_is_switched_on_and_off(new_table: NewTable, change: Change) -> None:
    table = new_table()
    assert change(table, DeletionProtectionEnabled=True)["DeletionProtectionEnabled"] is True
    assert change(table, DeletionProtectionEnabled=False)["DeletionProtectionEnabled"] is False


def test_the_table_class_changes_and_is_dated(new_table: NewTable, change: Change) -> None:
    summary = change(new_table(), TableClass="STANDARD_INFREQUENT_ACCESS")["TableClassSummary"]
    assert summary["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert summary["LastUpdateDateTime"] > 0


def test_a_table_may_be_named_by_its_arn(answered: Answered, new_table: NewTable, change: Change) -> None:
    arn = described(answered, new_table())["TableArn"]
    assert change(arn, DeletionProtectionEnabled=True)["DeletionProtectionEnabled"] is True


# ---------------------------------------------------------------- indexes on a live table


def in_index(answered: Answered, table: str, name: str, value: Json, key: str = "g") -> list[str]:
    asked = {
        "TableName": table,
        "IndexName": name,
        "KeyConditionExpression": f"{key} = :v",
        "ExpressionAttributeValues": {":v": value},
    }
    return sorted(item["pk"]["S"] for item in answered("Query", asked)["Items"])


def put(answered: Answered, table: str, pk: str, **attributes: Json) -> None:
    answered("PutItem", {"TableName": table, "Item": {"pk": {"S": pk}, **attributes}})


def test_a_new_index_is_announced_as_being_created(answered: Answered, new_table: NewTable) -> None:
    table = new_table()
    description = answered("UpdateTable", {"TableName": table, **create_index()})["TableDescription"]
    (late,) = description["GlobalSecondaryIndexes"]
    assert late["IndexName"] == "late"
    assert late["KeySchema"] == key_schema("g")
    assert late["IndexStatus"] in ("CREATING", "ACTIVE")
    assert late["IndexStatus"] == "ACTIVE" or isinstance(late["Backfilling"], bool)
    assert description["TableStatus"] in ("UPDATING", "ACTIVE")


def test_an_active_index_is_done_backfilling(new_table: NewTable, change: Change) -> None:
    (late,) = change(new_table(), **create_index())["GlobalSecondaryIndexes"]
    assert late["IndexStatus"] == "ACTIVE"
    assert not late.get("Backfilling", False)


def test_a_new_index_holds_the_items_that_were_there(
    answered: Answered, new_table: NewTable, change: Change
) -> None:
    table = new_table()
    for number in range(150):
        put(answered, table, f"{number:03}", g={"S": f"group-{number % 3}"})
    change(table, **create_index())
    for group in range(3):
        expected = [f"{number:03}" for number in range(group, 150, 3)]
        assert in_index(answered, table, "late", {"S": f"group-{group}"}) == expected


def test_a_new_index_skips_items_without_its_key_or_with_another_type(
    answered: Answered, new_table: NewTable, change: Change
) -> None:
    table = new_table()
    put(answered, table, "good", g={"S": "v"})
    put(answered, table, "absent")
    put(answered, table, "number", g={"N": "1"})
    put(answered, table, "list", g={"L": [{"S": "v"}]})
    put(answered, table, "empty", g={"S": ""})
    change(table, **create_index())
    scan = answered("Scan", {"TableName": table, "IndexName": "late"})
    assert [item["pk"]["S"] for item in scan["Items"]] == ["good"]


def test_an_item_an_index_had_to_skip_can_still_be_read_and_updated_elsewhere(
    answered: Answered, new_table: NewTable, change: Change
) -> None:
    table = new_table()
    put(answered, table, "number", g={"N": "1"})
    change(table, **create_index())
    update = {
        "TableName": table,
        "Key": {"pk": {"S": "number"}},
        "UpdateExpression": "SET extra = :o",
        "ExpressionAttributeValues": {":o": {"S": "fine"}},
        "ReturnValues": "ALL_NEW",
    }
    expected = {"pk": {"S": "number"}, "g": {"N": "1"}, "extra": {"S": "fine"}}
    assert answered("UpdateItem", update)["Attributes"] == expected


def test_writes_go_on_while_an_index_is_built_and_reach_it(
    answered: Answered, line: Line, new_table: NewTable
) -> None:
    table = new_table()
    for number in range(60):
        put(answered, table, f"old-{number:02}", g={"S": "v"})
    answered("UpdateTable", {"TableName": table, **create_index()})
    for number in range(20):
        put(answered, table, f"new-{number:02}", g={"S": "v"})
        answered("DeleteItem", {"TableName": table, "Key": {"pk": {"S": f"old-{number:02}"}}})
    wait_until_active(line, table)
    expected = [f"new-{number:02}" for number in range(20)] + [f"old-{number}" for number in range(20, 60)]
    assert in_index(answered, table, "late", {"S": "v"}) == expected


def test_definitions_are_a_delta_and_described_exactly(new_table: NewTable, change: Change) -> None:
    table = new_table()
    both = change(table, **create_index())["AttributeDefinitions"]
    assert sorted(both, key=lambda one: str(one["AttributeName"])) == [
        attribute("g", "S"),
        attribute("pk", "S"),
    ]
    after = change(table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "late"}}])
    assert after["AttributeDefinitions"] == [attribute("pk", "S")]


def test_a_dropped_index_is_gone_and_its_name_is_free(
    answered: Answered, refused: Refused, new_table: NewTable, change: Change
) -> None:
    table = new_table()
    put(answered, table, "one", g={"S": "v"}, h={"N": "7"})
    change(table, **create_index())
    drop_it = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "late"}}]}
    assert not change(table, **drop_it).get("GlobalSecondaryIndexes")
    expected = ("ValidationException", "The table does not have the specified index: late")
    assert refused("Scan", {"TableName": table, "IndexName": "late"}) == expected
    change(table, **create_index("late", "h", "N"))
    assert in_index(answered, table, "late", {"N": "7.0"}, key="h") == ["one"]


REDEFINED = "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined."


def test_a_list_of_no_index_updates_is_no_update(refused: Refused, spare: str) -> None:
    code, message = refused("UpdateTable", {"TableName": spare, "GlobalSecondaryIndexUpdates": []})
    assert code == "ValidationException"
    assert message in NOTHING_TO_DO


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        (
            "pk",
            "SchemaElement: key{pk:S:HASH}, SchemaElement: key{sk:S:RANGE}",
            "SchemaElement: key{pk:N:HASH}",
        ),
        (
            "gsk",
            "SchemaElement: key{gpk:S:HASH}, SchemaElement: key{gsk:N:RANGE}",
            "SchemaElement: key{gsk:S:HASH}",
        ),
    ],
)
def test_a_key_attribute_keeps_its_type(
    refused: Refused, answered: Answered, comp_table: str, key: str, old: str, new: str
) -> None:
    before = described(answered, comp_table)
    kind = new.rpartition("}")[0].split(":")[2]
    expected = f"{INVALID}{REDEFINED} Existing schema: Schema:[{old}] New schema: Schema:[{new}]"
    asked = {"TableName": comp_table, **create_index(key=key, kind=kind)}
    assert refused("UpdateTable", asked) == ("ValidationException", expected)
    assert described(answered, comp_table) == before


def test_a_key_known_from_a_local_index_only_has_to_be_defined_again(
    refused: Refused, new_table: NewTable, change: Change
) -> None:
    table = new_table(**COMP_TABLE)
    late = {"GlobalSecondaryIndexUpdates": [{"Create": index("late", ("lsk",), "ALL")}]}
    code, message = refused("UpdateTable", {"TableName": table, **late})
    assert code == "ValidationException"
    assert message.startswith(INVALID + "Some index key attributes are not defined in AttributeDefinitions")
    after = change(table, AttributeDefinitions=[attribute("lsk", "N")], **late)
    assert "late" in [one["IndexName"] for one in after["GlobalSecondaryIndexes"]]


def test_an_index_over_the_table_key_needs_no_new_definition(
    answered: Answered, new_table: NewTable, change: Change
) -> None:
    table = new_table()
    put(answered, table, "one")
    change(table, GlobalSecondaryIndexUpdates=[{"Create": index("late", ("pk",), "KEYS_ONLY")}])
    assert in_index(answered, table, "late", {"S": "one"}, key="pk") == ["one"]


@pytest.mark.parametrize("first", ["Create", "Delete"])
def test_one_index_is_created_or_deleted_at_a_time(
    refused: Refused, answered: Answered, new_table: NewTable, first: str
) -> None:
    table = new_table(
        AttributeDefinitions=[attribute("pk", "S"), attribute("g", "S")],
        GlobalSecondaryIndexes=[index("here", ("g",), "ALL")],
    )
    other = (
        {"Delete": {"IndexName": "here"}} if first == "Delete" else {"Create": index("two", ("g",), "ALL")}
    )
    asked = {
        "TableName": table,
        "AttributeDefinitions": [attribute("g", "S")],
        "GlobalSecondaryIndexUpdates": [other, {"Create": index("late", ("g",), "ALL")}],
    }
    assert refused("UpdateTable", asked) == ("LimitExceededException", ONE_INDEX_AT_A_TIME)
    names = [one["IndexName"] for one in described(answered, table)["GlobalSecondaryIndexes"]]
    assert names == ["here"]


def test_an_index_key_needs_a_definition(refused: Refused, spare: str) -> None:
    asked = {
        "TableName": spare,
        "GlobalSecondaryIndexUpdates": [{"Create": index("late", ("zz",), "ALL")}],
    }
    code, message = refused("UpdateTable", asked)
    assert code == "ValidationException"
    assert message.startswith(INVALID)
    assert "AttributeDefinitions" in message


def test_an_index_name_in_use_is_refused(refused: Refused, new_table: NewTable, change: Change) -> None:
    table = new_table()
    change(table, **create_index())
    expected = ("ValidationException", "Attempting to create an index which already exists")
    assert refused("UpdateTable", {"TableName": table, **create_index()}) == expected


def test_a_missing_index_cannot_be_dropped(refused: Refused, spare: str) -> None:
    asked = {"TableName": spare, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "nope"}}]}
    code, message = refused("UpdateTable", asked)
    assert code == "ResourceNotFoundException"
    assert message.startswith("Requested resource not found")


def test_a_local_index_cannot_be_dropped(refused: Refused, new_table: NewTable) -> None:
    table = new_table(**COMP_TABLE)
    asked = {"TableName": table, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "lsi1"}}]}
    expected = ("ValidationException", "Cannot delete an index that is not a GlobalSecondaryIndex: lsi1")
    assert refused("UpdateTable", asked) == expected


@pytest.mark.parametrize(
    "projection",
    [
        {"ProjectionType": "INCLUDE"},
        {"ProjectionType": "KEYS_ONLY", "NonKeyAttributes": ["a"]},
        {},
    ],
)
def test_a_new_index_obeys_the_rules_of_creation(
    refused: Refused, answered: Answered, spare: str, projection: Json
) -> None:
    asked = {"TableName": spare, **create_index(Projection=projection)}
    assert refused("UpdateTable", asked)[0] == "ValidationException"
    assert "GlobalSecondaryIndexes" not in described(answered, spare)


def test_an_index_of_several_attributes_can_be_added(
    answered: Answered, new_table: NewTable, change: Change, key: NewKey
) -> None:
    table, group = new_table(), key()
    for pk, number in (("b", "10"), ("a", "9"), ("c", "-1")):
        put(answered, table, pk, h1={"S": group}, h2={"N": "1"}, r={"N": number})
    elements = [
        {"AttributeName": "h1", "KeyType": "HASH"},
        {"AttributeName": "h2", "KeyType": "HASH"},
        {"AttributeName": "r", "KeyType": "RANGE"},
    ]
    wide = {"IndexName": "wide", "KeySchema": elements, "Projection": {"ProjectionType": "ALL"}}
    definitions = [attribute("h1", "S"), attribute("h2", "N"), attribute("r", "N")]
    change(table, AttributeDefinitions=definitions, GlobalSecondaryIndexUpdates=[{"Create": wide}])
    asked = {
        "TableName": table,
        "IndexName": "wide",
        "KeyConditionExpression": "h1 = :g AND h2 = :n",
        "ExpressionAttributeValues": {":g": {"S": group}, ":n": {"N": "1"}},
    }
    assert [item["pk"]["S"] for item in answered("Query", asked)["Items"]] == ["c", "a", "b"]
