"""Settings that the engine keeps for others: they survive a restart, and replicas have their own."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.engine.replicating import HERE, THERE, described, regions_of, update
from tests.engine.tables import definition

from tablewright import ServiceError, testing
from tablewright.testing import Clock

KEY = "8963cda5-0fac-4af1-8635-0af67d16fe14"
KEYED = {"SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY}}
STREAM = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/pets"
POLICY = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"AWS": "arn:aws:iam::111122223333:root"},
                "Action": "dynamodb:GetItem",
                "Resource": TABLE,
            }
        ],
    },
    separators=(",", ":"),
)


def settings(engine: Any) -> list[Any]:
    return [
        engine.call("DescribeTable", {"TableName": "pets"})["Table"]["SSEDescription"],
        engine.call("GetResourcePolicy", {"ResourceArn": TABLE}),
        engine.call("DescribeKinesisStreamingDestination", {"TableName": "pets"}),
        engine.call("DescribeContributorInsights", {"TableName": "pets"}),
    ]


def configure(engine: Any) -> None:
    engine.call("EnableKinesisStreamingDestination", {"TableName": "pets", "StreamArn": STREAM})
    engine.call("UpdateContributorInsights", {"TableName": "pets", "ContributorInsightsAction": "ENABLE"})


def test_all_of_them_survive_a_restart(tmp_path: Path) -> None:
    with testing.engine(tmp_path / "store") as engine:
        engine.call("CreateTable", definition() | KEYED | {"ResourcePolicy": POLICY})
        configure(engine)
        before = settings(engine)
    assert before[1]["Policy"] == POLICY
    assert before[2]["KinesisDataStreamDestinations"][0]["StreamArn"] == STREAM
    with testing.engine(tmp_path / "store") as engine:
        assert settings(engine) == before


def test_a_backup_shows_the_key_and_a_restore_brings_it_back_and_nothing_else() -> None:
    with testing.engine() as engine:
        engine.call("CreateTable", definition() | KEYED | {"ResourcePolicy": POLICY})
        configure(engine)
        made = engine.call("CreateBackup", {"TableName": "pets", "BackupName": "today"})["BackupDetails"]
        engine.settle()
        shown = engine.call("DescribeBackup", {"BackupArn": made["BackupArn"]})["BackupDescription"]
        key = shown["SourceTableFeatureDetails"]["SSEDescription"]
        engine.call("RestoreTableFromBackup", {"TargetTableName": "again", "BackupArn": made["BackupArn"]})
        engine.settle()
        again = engine.call("DescribeTable", {"TableName": "again"})["Table"]
        assert key == again["SSEDescription"]
        assert key["KMSMasterKeyArn"].endswith(KEY)
        with pytest.raises(ServiceError, match="PolicyNotFoundException"):
            engine.call("GetResourcePolicy", {"ResourceArn": again["TableArn"]})
        told = engine.call("DescribeKinesisStreamingDestination", {"TableName": "again"})
        assert told["KinesisDataStreamDestinations"] == []
        told = engine.call("DescribeContributorInsights", {"TableName": "again"})
        assert told["ContributorInsightsStatus"] == "DISABLED"


def test_a_replica_is_encrypted_by_a_key_of_its_own_region() -> None:
    with regions_of(Clock()) as regions:
        home = regions[HERE]
        home.call(
            "CreateTable", definition() | {"SSESpecification": {"Enabled": True}, "ResourcePolicy": POLICY}
        )
        home.call("UpdateTable", update("Create", THERE))
        regions.settle()
        mine, theirs = (described(one)["SSEDescription"]["KMSMasterKeyArn"] for one in (home, regions[THERE]))
        assert (mine.split(":")[3], theirs.split(":")[3]) == (HERE, THERE)
        arn = described(regions[THERE])["TableArn"]
        with pytest.raises(ServiceError, match="PolicyNotFoundException"):
            regions[THERE].call("GetResourcePolicy", {"ResourceArn": arn})


def test_each_replica_of_a_table_with_a_key_of_its_owner_names_its_own() -> None:
    with regions_of(Clock()) as regions:
        home = regions[HERE]
        home.call("CreateTable", definition() | KEYED)
        with pytest.raises(ServiceError, match="KMSMasterKeyId must be specified for each replica"):
            home.call("UpdateTable", update("Create", THERE))
        with pytest.raises(ServiceError, match="All replica keys must either be"):
            home.call("UpdateTable", update("Create", THERE, KMSMasterKeyId="alias/aws/dynamodb"))
        home.call("UpdateTable", update("Create", THERE, KMSMasterKeyId=KEY))
        regions.settle()
        arn = f"arn:aws:kms:{THERE}:000000000000:key/{KEY}"
        assert described(home)["Replicas"][0]["KMSMasterKeyId"] == arn
        assert described(regions[THERE])["SSEDescription"]["KMSMasterKeyArn"] == arn
