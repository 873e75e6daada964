"""A client nobody here wrote: Terraform with the real AWS provider, against our server.

It applies two tables, an item, a resource policy, contributor insights and a Kinesis destination, finds nothing to
change when it plans again, changes nearly everything about them and destroys them (terraform/main.tf has them).
Terraform waits for what it sets, and reads back each setting: a field that is missing or different in an answer is a
change it plans for ever.
Elsewhere: Terraform of our own designs (terraform/test_trees.py), and what it takes to run it (terraform/command.py).
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from tests.terraform.command import CHANGES, NO_CHANGES, Terraform, binary, initialised, moto, provider

from tablewright import testing
from tablewright.wire import serving

CONFIGURATION = Path(__file__).parent / "terraform" / "main.tf"
TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/pets"
QUIETLY = ("-no-color", "-input=false")


@pytest.fixture
def dynamodb(tmp_path: Path) -> Iterator[Any]:
    """A boto3 client of a server on a store on disk, which is verified in the end."""
    with testing.engine(tmp_path / "store") as engine, serving(engine) as url:
        client = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",
        )
        yield client
        client.close()


@pytest.fixture
def terraform(dynamodb: Any, tmp_path: Path) -> Iterator[Terraform]:
    home = tmp_path / "terraform"
    home.mkdir()
    shutil.copy(CONFIGURATION, home)
    binary()
    with provider(home) as attached, moto() as others:
        where = {"TF_VAR_endpoint": dynamodb.meta.endpoint_url, "TF_VAR_others": others}
        yield initialised(home, {**where, **attached})


def settings(dynamodb: Any, table: str) -> dict[str, Any]:
    """What there is to be seen of a table's settings."""
    told = dynamodb.describe_table(TableName=table)["Table"]
    recovery = dynamodb.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    tags = dynamodb.list_tags_of_resource(ResourceArn=told["TableArn"])["Tags"]
    return {
        "status": told["TableStatus"],
        "indexes": {index["IndexName"] for index in told["GlobalSecondaryIndexes"]},
        "index units": [
            index["ProvisionedThroughput"]["WriteCapacityUnits"] for index in told["GlobalSecondaryIndexes"]
        ],
        "units": told["ProvisionedThroughput"]["ReadCapacityUnits"],
        "class": told.get("TableClassSummary", {}).get("TableClass", "STANDARD"),
        "stream": told.get("StreamSpecification", {}).get("StreamViewType"),
        "protected": told["DeletionProtectionEnabled"],
        "ttl": dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]["TimeToLiveStatus"],
        "recovery": recovery["PointInTimeRecoveryDescription"].get("RecoveryPeriodInDays"),
        "tags": {tag["Key"]: tag["Value"] for tag in tags},
        "key": told.get("SSEDescription", {}).get("KMSMasterKeyArn", "").rpartition("/")[2][:8],
    }


def test_terraform_applies_finds_no_drift_changes_and_destroys(terraform: Terraform, dynamodb: Any) -> None:
    terraform("apply", *QUIETLY, "-auto-approve")
    pets, orders = settings(dynamodb, "pets"), settings(dynamodb, "orders")
    assert pets == {
        "status": "ACTIVE",
        "indexes": {"by-age"},
        "index units": [0],
        "units": 0,
        "class": "STANDARD",
        "stream": "NEW_AND_OLD_IMAGES",
        "protected": True,
        "ttl": "ENABLED",
        "recovery": 35,
        "tags": {"team": "pets", "stage": "first"},
        "key": "bbbbbbbb",
    }
    insights = dynamodb.list_contributor_insights(TableName="pets")["ContributorInsightsSummaries"]
    assert [one.get("IndexName") for one in insights] == [None, "by-age"]
    (destination,) = dynamodb.describe_kinesis_streaming_destination(TableName="pets")[
        "KinesisDataStreamDestinations"
    ]
    assert destination["DestinationStatus"] == "ACTIVE"
    assert (orders["units"], orders["index units"], orders["recovery"]) == (10, [2], None)
    assert orders["key"] != ""
    (rex,) = dynamodb.scan(TableName="pets")["Items"]
    assert (rex["age"], sorted(rex["tags"]["SS"])) == ({"N": "3"}, ["brown", "loud"])
    with pytest.raises(ClientError, match="deletion protection"):
        dynamodb.delete_table(TableName="pets")

    code, told = terraform("plan", *QUIETLY, "-detailed-exitcode", codes=(NO_CHANGES, CHANGES))
    assert code == NO_CHANGES, told

    _, told = terraform("apply", *QUIETLY, "-auto-approve", "-var=changed=true")
    assert "4 changed, 0 destroyed" in told, "a change was taken for a replacement"
    pets, orders = settings(dynamodb, "pets"), settings(dynamodb, "orders")
    assert (pets["indexes"], pets["stream"], pets["protected"]) == ({"by-age", "by-kind"}, "KEYS_ONLY", False)
    assert (pets["ttl"], pets["recovery"]) == ("DISABLED", 7)
    assert (pets["tags"], pets["key"], orders["key"]) == ({"team": "vets", "cost": "low"}, "aaaaaaaa", "")
    policy = dynamodb.get_resource_policy(ResourceArn=TABLE)["Policy"]
    assert json.loads(policy)["Statement"][0]["Action"] == ["dynamodb:GetItem", "dynamodb:Query"]
    assert (orders["units"], orders["index units"], orders["recovery"]) == (20, [4], 35)
    assert orders["class"] == "STANDARD_INFREQUENT_ACCESS"
    assert dynamodb.scan(TableName="pets")["Items"][0]["age"] == {"N": "4"}

    # What is there was just read: looking again before it is destroyed says nothing new.
    terraform("destroy", *QUIETLY, "-auto-approve", "-var=changed=true", "-refresh=false")
    assert dynamodb.list_tables()["TableNames"] == []
