"""DescribeTableReplicaAutoScaling and UpdateTableReplicaAutoScaling: settings of every replica, read and write.

Must hold: write settings are the same in every region, read settings each region's own; a refused update changes
nothing. The words of refusals that depend on the settings are ours: nobody has recorded the service's.
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
from tests.conformance.talk import ACCESS_KEY, SECRET_KEY, Answered, Json, NewTable, Refused

HOME, OTHER = "us-east-1", "eu-west-1"
OFF = {"AutoScalingDisabled": True}
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
READ = "ReplicaProvisionedReadCapacityAutoScalingUpdate"
WRITE = "ProvisionedWriteCapacityAutoScalingUpdate"


SLOW = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70, "ScaleInCooldown": -1}}


def setting(least: int, most: int, target: float) -> Json:
    policy = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": target}}
    return {"MinimumUnits": least, "MaximumUnits": most, "ScalingPolicyUpdate": policy}


def shown(replica: Json, kind: str) -> tuple[int, int, float] | None:
    return told(replica[f"ReplicaProvisioned{kind}CapacityAutoScalingSettings"])


def told(settings: Json) -> tuple[int, int, float] | None:
    if settings.get("AutoScalingDisabled"):
        assert settings == OFF
        return None
    (policy,) = settings["ScalingPolicies"]
    target = policy["TargetTrackingScalingPolicyConfiguration"]["TargetValue"]
    return settings["MinimumUnits"], settings["MaximumUnits"], target


def provisioned() -> Json:
    index = {
        "IndexName": "by-age",
        "KeySchema": [{"AttributeName": "age", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": UNITS,
    }
    names = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "age")]
    return {
        "AttributeDefinitions": names,
        "ProvisionedThroughput": UNITS,
        "GlobalSecondaryIndexes": [index],
    }


# --- one region ---


def test_a_table_without_settings_shows_none(answered: Answered, new_table: NewTable) -> None:
    table = new_table(**provisioned())
    found = answered("DescribeTableReplicaAutoScaling", {"TableName": table})["TableAutoScalingDescription"]
    assert (found["TableName"], found["TableStatus"]) == (table, "ACTIVE")
    (replica,) = found["Replicas"]
    assert (replica["RegionName"], replica["ReplicaStatus"]) == (HOME, "ACTIVE")
    assert shown(replica, "Read") is None
    assert replica["GlobalSecondaryIndexes"] == [
        {
            "IndexName": "by-age",
            "IndexStatus": "ACTIVE",
            "ProvisionedReadCapacityAutoScalingSettings": OFF,
            "ProvisionedWriteCapacityAutoScalingSettings": OFF,
        }
    ]


def test_settings_of_a_table_and_of_an_index_are_kept(answered: Answered, new_table: NewTable) -> None:
    table = new_table(**provisioned())
    request = {
        "TableName": table,
        WRITE: setting(5, 50, 70.0),
        "GlobalSecondaryIndexUpdates": [{"IndexName": "by-age", WRITE: setting(6, 60, 61)}],
        "ReplicaUpdates": [
            {
                "RegionName": HOME,
                READ: setting(7, 70, 72.5),
                "ReplicaGlobalSecondaryIndexUpdates": [
                    {"IndexName": "by-age", "ProvisionedReadCapacityAutoScalingUpdate": setting(8, 80, 80.0)}
                ],
            }
        ],
    }
    said = answered("UpdateTableReplicaAutoScaling", request)["TableAutoScalingDescription"]
    seen = answered("DescribeTableReplicaAutoScaling", {"TableName": table})["TableAutoScalingDescription"]
    assert said["Replicas"] == seen["Replicas"]
    (replica,) = seen["Replicas"]
    assert (shown(replica, "Read"), shown(replica, "Write")) == ((7, 70, 72.5), (5, 50, 70.0))
    (index,) = replica["GlobalSecondaryIndexes"]
    assert told(index["ProvisionedReadCapacityAutoScalingSettings"]) == (8, 80, 80.0)
    assert told(index["ProvisionedWriteCapacityAutoScalingSettings"]) == (6, 60, 61.0)
    (policy,) = replica["ReplicaProvisionedReadCapacityAutoScalingSettings"]["ScalingPolicies"]
    assert policy["PolicyName"] == f"DynamoDBReadCapacityUtilization:table/{table}"


def test_what_is_not_said_stays_and_disabling_takes_it_away(answered: Answered, new_table: NewTable) -> None:
    table = new_table(**provisioned())
    answered("UpdateTableReplicaAutoScaling", {"TableName": table, WRITE: setting(5, 50, 70)})
    said = answered("UpdateTableReplicaAutoScaling", {"TableName": table, WRITE: {"MaximumUnits": 60}})
    (replica,) = said["TableAutoScalingDescription"]["Replicas"]
    assert shown(replica, "Write") == (5, 60, 70.0)
    said = answered("UpdateTableReplicaAutoScaling", {"TableName": table, WRITE: OFF})
    assert shown(said["TableAutoScalingDescription"]["Replicas"][0], "Write") is None


def test_a_policy_is_kept_as_it_was_said_and_what_is_shown_can_be_sent_back(
    answered: Answered, new_table: NewTable
) -> None:
    table = new_table(**provisioned())
    role = "arn:aws:iam::000000000000:role/scaler"
    followed = {"TargetValue": 70.0, "DisableScaleIn": True, "ScaleInCooldown": 60, "ScaleOutCooldown": 0}
    policy = {"PolicyName": "mine", "TargetTrackingScalingPolicyConfiguration": followed}
    said = {"MinimumUnits": 5, "MaximumUnits": 50, "AutoScalingRoleArn": role, "ScalingPolicyUpdate": policy}

    def seen(asked: Json) -> Json:
        request = {"TableName": table, WRITE: asked}
        answer = answered("UpdateTableReplicaAutoScaling", request)["TableAutoScalingDescription"]
        found: Json = answer["Replicas"][0]["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
        return found

    kept = seen(said)
    assert kept == {
        "MinimumUnits": 5,
        "MaximumUnits": 50,
        "AutoScalingDisabled": False,
        "AutoScalingRoleArn": role,
        "ScalingPolicies": [policy],
    }
    assert seen({"MaximumUnits": 50}) == kept
    for asked in (said, setting(5, 50, 70)):
        seen(OFF)
        shown_first = seen(asked)
        (update,) = shown_first.pop("ScalingPolicies")
        again = seen({**shown_first, "ScalingPolicyUpdate": update})
        assert again == {**shown_first, "ScalingPolicies": [update]}


def test_an_sdk_reads_the_settings(client: Any, new_table: NewTable) -> None:
    table = new_table(**provisioned())
    client.update_table_replica_auto_scaling(TableName=table, **{WRITE: setting(5, 50, 70.0)})
    found = client.describe_table_replica_auto_scaling(TableName=table)["TableAutoScalingDescription"]
    assert shown(found["Replicas"][0], "Write") == (5, 50, 70.0)


@pytest.mark.parametrize("verb", ["DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"])
def test_a_table_that_is_not_there_is_named(refused: Refused, verb: str) -> None:
    request = {"TableName": "never-made"} | ({WRITE: OFF} if verb.startswith("Update") else {})
    assert refused(verb, request) == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: never-made not found",
    )


@pytest.mark.parametrize(
    ("asked", "name", "words"),
    [
        ({}, "ValidationException", "At least one of the auto scaling settings"),
        ({WRITE: {"MinimumUnits": 5}}, "ValidationException", "are required where there was no auto scaling"),
        ({WRITE: setting(9, 8, 70)}, "ValidationException", "not from 9 to 8"),
        ({WRITE: setting(1, 8, 95)}, "ValidationException", "20 to 90 percent"),
        (
            {WRITE: setting(0, 8, 70)},
            "ValidationException",
            "Member must have value greater than or equal to 1",
        ),
        ({WRITE: {"ScalingPolicyUpdate": {}}}, "ValidationException", "Member must not be null"),
        (
            {"ReplicaUpdates": [{"RegionName": "sa-east-1", READ: setting(1, 8, 70)}]},
            "ValidationException",
            "without these replicas: [sa-east-1]",
        ),
        (
            {WRITE: setting(1, 8, 70) | {"ScalingPolicyUpdate": SLOW}},
            "ValidationException",
            "ScaleInCooldown is 0 to",
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{"IndexName": "by-name", WRITE: setting(1, 8, 70)}]},
            "ResourceNotFoundException",
            "",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused_and_change_nothing(
    answered: Answered, refused: Refused, new_table: NewTable, asked: Json, name: str, words: str
) -> None:
    table = new_table(**provisioned())
    code, message = refused("UpdateTableReplicaAutoScaling", {"TableName": table} | asked)
    assert code == name
    assert words in message
    found = answered("DescribeTableReplicaAutoScaling", {"TableName": table})["TableAutoScalingDescription"]
    assert shown(found["Replicas"][0], "Write") is None


def test_a_table_on_demand_has_no_units_to_be_scaled(refused: Refused, hash_table: str) -> None:
    code, message = refused(
        "UpdateTableReplicaAutoScaling", {"TableName": hash_table, WRITE: setting(1, 8, 70)}
    )
    assert code == "ValidationException"
    assert "no provisioned units" in message


# --- several regions ---

InRegion = Callable[[str], Any]


@pytest.fixture(scope="module")
def at(pytestconfig: pytest.Config) -> Iterator[InRegion]:
    """at(region) -> a boto3 client of that region."""
    if pytestconfig.getoption("--endpoint") is not None:
        pytest.skip("a foreign endpoint has one region")
    from tablewright.engine import Regions
    from tablewright.wire import serving

    made: dict[str, Any] = {}
    with Regions.open(home=HOME, also=[OTHER], period=0.02) as regions:
        with serving(regions, port=0) as url:

            def client(region: str) -> Any:
                if region not in made:
                    made[region] = boto3.client(
                        "dynamodb",
                        endpoint_url=url,
                        region_name=region,
                        aws_access_key_id=ACCESS_KEY,
                        aws_secret_access_key=SECRET_KEY,
                        config=Config(retries={"max_attempts": 0}),
                    )
                return made[region]

            yield client
            for one in made.values():
                one.close()
        regions.settle()
        assert regions.verify() == []


def until(is_so: Callable[[], bool]) -> None:
    for _ in range(1000):
        if is_so():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come to that")


def replicas(client: Any, table: str) -> dict[str, Json]:
    found = client.describe_table_replica_auto_scaling(TableName=table)["TableAutoScalingDescription"]
    return {one["RegionName"]: one for one in found["Replicas"]}


def test_writes_are_set_for_every_region_and_reads_for_each(at: InRegion) -> None:
    home, other, table = at(HOME), at(OTHER), f"scaled-{uuid.uuid4().hex[:8]}"
    home.create_table(
        TableName=table, KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}], **provisioned()
    )
    replica = [{"Create": {"RegionName": OTHER}}]
    with pytest.raises(ClientError, match="should either be Pay-Per-Request or AutoScaled"):
        home.update_table(TableName=table, ReplicaUpdates=replica)
    home.update_table_replica_auto_scaling(
        TableName=table,
        GlobalSecondaryIndexUpdates=[{"IndexName": "by-age", WRITE: setting(6, 60, 60)}],
        **{WRITE: setting(5, 50, 70)},
    )
    home.update_table(TableName=table, ReplicaUpdates=replica)
    until(lambda: table in other.list_tables()["TableNames"])
    until(lambda: other.describe_table(TableName=table)["Table"]["TableStatus"] == "ACTIVE")
    # What all share came with the replica.
    assert shown(replicas(other, table)[OTHER], "Write") == (5, 50, 70.0)
    # Reads of the other region, set from here; writes of all, set from there.
    until(lambda: replicas(home, table)[OTHER]["ReplicaStatus"] == "ACTIVE")
    home.update_table_replica_auto_scaling(
        TableName=table, ReplicaUpdates=[{"RegionName": OTHER, READ: setting(7, 70, 75)}]
    )
    until(lambda: shown(replicas(other, table)[OTHER], "Read") == (7, 70, 75.0))
    assert shown(replicas(home, table)[HOME], "Read") is None
    other.update_table_replica_auto_scaling(TableName=table, **{WRITE: setting(4, 44, 50)})
    until(lambda: shown(replicas(home, table)[HOME], "Write") == (4, 44, 50.0))
    assert shown(replicas(home, table)[OTHER], "Write") == (4, 44, 50.0)
