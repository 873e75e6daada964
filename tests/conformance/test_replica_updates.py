"""UpdateTable's ReplicaUpdates, global tables of version 2019.11.21: replicas come, follow, share settings, and go.

Must hold: refusals are the service's; a refused change changes nothing. Against a foreign endpoint a region is chosen
by the scope of the signature, as here. Elsewhere: UpdateTable's other changes (test_update_table.py).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from tests.conformance.talk import ACCESS_KEY, SECRET_KEY, Json

HOME, OTHER, THIRD = "us-east-1", "eu-west-1", "sa-east-1"
INVALID = "One or more parameter values were invalid: "
LOCAL = (
    "Cannot add or delete the local region through ReplicaUpdates. "
    "Use CreateTable, DeleteTable, or UpdateTable as required."
)
WAS_SOURCE = (
    "Replica cannot be deleted because it has acted as a source region for new replica(s) being added to the table "
    "in the last 24 hours."
)
NO_ACTION = "There are no actions specified in the Replica Update Action of the request."
PATIENCE = 1200  # looks, a few hundredths of a second apart

Client = Any
InRegion = Callable[[str], Client]


@pytest.fixture(scope="module")
def endpoint(pytestconfig: pytest.Config) -> Iterator[str]:
    given: str | None = pytestconfig.getoption("--endpoint")
    if given is not None:
        yield given
        return
    from tablewright.engine import Regions
    from tablewright.wire import serving

    with Regions.open(home=HOME, also=[OTHER, THIRD], period=0.02) as regions:
        with serving(regions, port=0) as url:
            yield url
        regions.settle()
        assert regions.verify() == []


@pytest.fixture(scope="module")
def at(endpoint: str) -> Iterator[InRegion]:
    """at(region) -> a boto3 client of that region."""
    made: dict[str, Client] = {}

    def client(region: str) -> Client:
        if region not in made:
            made[region] = boto3.client(
                "dynamodb",
                endpoint_url=endpoint,
                region_name=region,
                aws_access_key_id=ACCESS_KEY,
                aws_secret_access_key=SECRET_KEY,
                config=Config(retries={"max_attempts": 0}, parameter_validation=False),
            )
        return made[region]

    yield client
    for each in made.values():
        each.close()


@pytest.fixture
def table(at: InRegion) -> Iterator[str]:
    """A table in the home region, without replicas; gone from everywhere afterwards."""
    name = f"conf-{uuid.uuid4().hex}"
    at(HOME).create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    wait_for(at(HOME), name, lambda shown: shown["TableStatus"] == "ACTIVE")
    yield name
    for region in (THIRD, OTHER, HOME):
        for _ in range(PATIENCE):
            try:
                at(region).delete_table(TableName=name)
                break
            except ClientError as refusal:
                if refusal.response["Error"]["Code"] == "ResourceNotFoundException":
                    break
                if "protected" in str(refusal) or "protection" in str(refusal):
                    at(region).update_table(TableName=name, DeletionProtectionEnabled=False)
                time.sleep(0.05)


def described(client: Client, table: str) -> Json:
    shown: Json = client.describe_table(TableName=table)["Table"]
    return shown


def wait_for(client: Client, table: str, is_so: Callable[[Json], bool]) -> Json:
    for _ in range(PATIENCE):
        try:
            shown = described(client, table)
        except client.exceptions.ResourceNotFoundException:
            shown = {}
        if shown and is_so(shown):
            return shown
        time.sleep(0.03)
    raise AssertionError(f"{table} did not get there: {shown}")


def replica(shown: Json, region: str) -> Json:
    return next((one for one in shown.get("Replicas", []) if one["RegionName"] == region), {})


def change(client: Client, table: str, action: str, region: str, **settings: Any) -> Json:
    asked = [{action: {"RegionName": region, **settings}}]
    answer: Json = client.update_table(TableName=table, ReplicaUpdates=asked)["TableDescription"]
    return answer


def added(at: InRegion, table: str, region: str = OTHER, source: str = HOME, **settings: Any) -> Json:
    """Add a replica and wait until it is there."""
    change(at(source), table, "Create", region, **settings)
    wait_for(at(region), table, lambda shown: shown["TableStatus"] == "ACTIVE")
    return wait_for(at(source), table, lambda shown: replica(shown, region).get("ReplicaStatus") == "ACTIVE")


def refused(client: Client, table: str, *updates: Json, **more: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as refusal:
        client.update_table(TableName=table, ReplicaUpdates=list(updates), **more)
    error = refusal.value.response["Error"]
    return error["Code"], error["Message"]


def put(client: Client, table: str, key: str, **attributes: str) -> None:
    item = {"pk": {"S": key}, **{name: {"S": value} for name, value in attributes.items()}}
    client.put_item(TableName=table, Item=item)


def comes(client: Client, table: str, key: str) -> Json:
    """The item, once it is there."""
    for _ in range(PATIENCE):
        answer = client.get_item(TableName=table, Key={"pk": {"S": key}})
        if "Item" in answer:
            item: Json = answer["Item"]
            return item
        time.sleep(0.03)
    raise AssertionError(f"{key} did not come")


def test_a_new_replica_appears_a_moment_after_the_answer(at: InRegion, table: str) -> None:
    put(at(HOME), table, "rex")
    answer = change(at(HOME), table, "Create", OTHER)
    assert answer["TableStatus"] == "UPDATING"
    assert answer["GlobalTableVersion"] == "2019.11.21"
    assert answer["Replicas"] == []
    assert answer["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    shown = wait_for(at(HOME), table, lambda one: replica(one, OTHER).get("ReplicaStatus") == "ACTIVE")
    assert replica(shown, OTHER)["ReplicaArn"].split(":")[3] == OTHER
    there = described(at(OTHER), table)
    assert [one["RegionName"] for one in there["Replicas"]] == [HOME]
    assert there["StreamSpecification"] == answer["StreamSpecification"]
    assert there["LatestStreamArn"] != answer["LatestStreamArn"]
    assert there["TableId"] != shown["TableId"]
    assert comes(at(OTHER), table, "rex") == {"pk": {"S": "rex"}}


def test_both_take_writes(at: InRegion, table: str) -> None:
    added(at, table)
    put(at(HOME), table, "from home")
    put(at(OTHER), table, "from there")
    assert comes(at(OTHER), table, "from home")
    assert comes(at(HOME), table, "from there")


@pytest.mark.parametrize("view", ["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE"])
def test_a_stream_of_any_view_stays_as_it_is(at: InRegion, table: str, view: str) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": view}
    at(HOME).update_table(TableName=table, StreamSpecification=stream)
    wait_for(at(HOME), table, lambda shown: shown["TableStatus"] == "ACTIVE")
    assert added(at, table)["StreamSpecification"] == stream
    assert described(at(OTHER), table)["StreamSpecification"] == stream


def test_the_stream_of_a_replica_stays(at: InRegion, table: str) -> None:
    added(at, table)
    for region in (HOME, OTHER):
        with pytest.raises(ClientError) as refusal:
            at(region).update_table(TableName=table, StreamSpecification={"StreamEnabled": False})
        message = refusal.value.response["Error"]["Message"]
        assert message == f"{INVALID}Disabling Stream is not allowed for a Global Table replica."


@pytest.mark.parametrize(
    "more",
    [
        {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}},
        {"DeletionProtectionEnabled": True},
        {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
        {"BillingMode": "PAY_PER_REQUEST"},
    ],
)
def test_replicas_are_changed_alone(at: InRegion, table: str, more: Json) -> None:
    told = refused(at(HOME), table, {"Create": {"RegionName": OTHER}}, **more)
    assert told == (
        "ValidationException",
        f"{INVALID}Replica modification must be the only operation in the request",
    )


@pytest.mark.parametrize(
    ("updates", "message"),
    [
        ([{}], NO_ACTION),
        ([{"Update": {"RegionName": OTHER}}], NO_ACTION),
        (
            [{"Create": {"RegionName": OTHER}, "Delete": {"RegionName": THIRD}}],
            "Update table operation with more than one type of replica actions not allowed.",
        ),
        (
            [{"Create": {"RegionName": OTHER}}, {"Create": {"RegionName": THIRD}}],
            "Update table operation with more than one create or delete replica actions not allowed",
        ),
        ([{"Create": {"RegionName": HOME}}], LOCAL),
        ([{"Delete": {"RegionName": HOME}}], LOCAL),
        (
            [{"Delete": {"RegionName": THIRD}}],
            "Update global table operation failed because one or more replicas were not part of the global table. "
            f"Please retry the request without these replicas: [{THIRD}].",
        ),
        (
            [{"Update": {"RegionName": THIRD, "TableClassOverride": "STANDARD"}}],
            "Update global table operation failed because one or more replicas were not part of the global table. "
            f"Please retry the request without these replicas: [{THIRD}].",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(at: InRegion, table: str, updates: list[Json], message: str) -> None:
    assert refused(at(HOME), table, *updates) == ("ValidationException", message)
    assert "Replicas" not in described(at(HOME), table)


@pytest.mark.parametrize("region", ["us-fake-1", "EU-WEST-1"])
def test_a_region_that_is_none_is_refused(at: InRegion, table: str, region: str) -> None:
    code, message = refused(at(HOME), table, {"Create": {"RegionName": region}})
    assert code == "ValidationException"
    assert message.startswith(
        f"Region {region} is not supported. The latest version of global tables are only supported in the "
        "following regions: ["
    )


def test_the_same_creation_twice_in_a_request_is_one(at: InRegion, table: str) -> None:
    create = {"Create": {"RegionName": OTHER}}
    at(HOME).update_table(TableName=table, ReplicaUpdates=[create, create])
    wait_for(at(HOME), table, lambda shown: replica(shown, OTHER).get("ReplicaStatus") == "ACTIVE")


def test_what_is_there_already_cannot_be_created(at: InRegion, table: str) -> None:
    added(at, table)
    code, message = refused(at(HOME), table, {"Create": {"RegionName": OTHER}})
    assert code == "ValidationException"
    assert message == (
        f"Failed to create a the new replica of table with name: ‘{table}’ because one or more replicas already "
        "existed as tables."
    )


def test_fixed_capacity_cannot_be_replicated(at: InRegion, table: str) -> None:
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    at(HOME).update_table(TableName=table, BillingMode="PROVISIONED", ProvisionedThroughput=units)
    wait_for(at(HOME), table, lambda shown: shown["TableStatus"] == "ACTIVE")
    assert refused(at(HOME), table, {"Create": {"RegionName": OTHER}}) == (
        "ValidationException",
        "Table write capacity should either be Pay-Per-Request or AutoScaled.",
    )


def test_an_index_added_in_one_region_comes_to_the_others(at: InRegion, table: str) -> None:
    added(at, table)
    put(at(HOME), table, "rex", colour="red")
    at(OTHER).update_table(
        TableName=table,
        AttributeDefinitions=[{"AttributeName": "colour", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    "IndexName": "by-colour",
                    "KeySchema": [{"AttributeName": "colour", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            }
        ],
    )

    def is_built(shown: Json) -> bool:
        return [one["IndexStatus"] for one in shown.get("GlobalSecondaryIndexes", [])] == ["ACTIVE"]

    shown = wait_for(at(HOME), table, is_built)
    assert replica(shown, OTHER)["GlobalSecondaryIndexes"][0]["IndexName"] == "by-colour"


def test_a_class_of_its_own_is_shown(at: InRegion, table: str) -> None:
    added(at, table)
    change(at(HOME), table, "Update", OTHER, TableClassOverride="STANDARD_INFREQUENT_ACCESS")
    wait_for(at(OTHER), table, lambda shown: shown.get("TableClassSummary", {}).get("TableClass", "") != "")
    shown = described(at(HOME), table)
    assert replica(shown, OTHER)["ReplicaTableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert "TableClassSummary" not in shown


def test_capacity_that_goes_with_another_billing_mode_is_refused(at: InRegion, table: str) -> None:
    added(at, table)
    asked = {"Update": {"RegionName": OTHER, "ProvisionedThroughputOverride": {"ReadCapacityUnits": 5}}}
    assert refused(at(HOME), table, asked) == (
        "ValidationException",
        f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
        "PAY_PER_REQUEST",
    )


def test_a_source_is_not_deleted_before_its_copy(at: InRegion, table: str) -> None:
    added(at, table)
    with pytest.raises(ClientError) as refusal:
        at(HOME).delete_table(TableName=table)
    assert refusal.value.response["Error"]["Message"] == WAS_SOURCE
    assert refused(at(OTHER), table, {"Delete": {"RegionName": HOME}}) == ("ValidationException", WAS_SOURCE)


def test_a_protected_replica_is_not_deleted(at: InRegion, table: str) -> None:
    added(at, table)
    at(OTHER).update_table(TableName=table, DeletionProtectionEnabled=True)
    wait_for(at(OTHER), table, lambda shown: shown["TableStatus"] == "ACTIVE")
    assert refused(at(HOME), table, {"Delete": {"RegionName": OTHER}}) == (
        "ValidationException",
        f"Cannot delete table {table} in region {OTHER} because it has deletion protection enabled. "
        "Disable deletion protection first.",
    )


def test_a_replica_goes_with_its_table_and_the_source_is_a_table_again(at: InRegion, table: str) -> None:
    added(at, table)
    answer = change(at(HOME), table, "Delete", OTHER)
    assert answer["TableStatus"] == "UPDATING"
    shown = wait_for(at(HOME), table, lambda one: "Replicas" not in one)
    assert "GlobalTableVersion" not in shown
    assert shown["StreamSpecification"]["StreamEnabled"] is True
    for _ in range(PATIENCE):
        try:
            described(at(OTHER), table)
        except at(OTHER).exceptions.ResourceNotFoundException:
            break
        time.sleep(0.03)
    else:
        raise AssertionError("the replica's table is still there")
    at(HOME).update_table(TableName=table, StreamSpecification={"StreamEnabled": False})


def test_a_third_replica_may_be_asked_for_at_the_second(at: InRegion, table: str) -> None:
    added(at, table)
    added(at, table, THIRD, OTHER)
    shown = wait_for(at(HOME), table, lambda one: replica(one, THIRD).get("ReplicaStatus") == "ACTIVE")
    assert [one["RegionName"] for one in shown["Replicas"]] == [OTHER, THIRD]
    assert [one["RegionName"] for one in described(at(THIRD), table)["Replicas"]] == [HOME, OTHER]


def test_a_request_for_a_region_the_endpoint_is_not_is_refused(
    at: InRegion, pytestconfig: pytest.Config
) -> None:
    if pytestconfig.getoption("--endpoint") is not None:
        pytest.skip("only our own endpoint's regions are known")
    with pytest.raises(ClientError) as refusal:
        at("ap-south-1").list_tables()
    error = refusal.value.response["Error"]
    assert error["Code"] == "InvalidSignatureException"
    assert error["Message"] == "Credential should be scoped to a valid region, not 'ap-south-1'. "
