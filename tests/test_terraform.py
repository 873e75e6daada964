"""A client nobody here wrote: Terraform with the real AWS provider, against our server.

It applies two tables and an item, finds nothing to change when it plans again, changes nearly everything about them
and destroys them (terraform/main.tf is what it is given). Terraform waits for what it sets, and reads back each
setting: a field that is missing or different in an answer is a change it plans for ever.
It needs the terraform binary and the provider in a directory `tf-plugins` near the root of the file system, and is
skipped, with the reason, where one of them is missing.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tablewright import testing
from tablewright.wire import serving

CONFIGURATION = Path(__file__).parent / "terraform" / "main.tf"
NO_CHANGES, CHANGES = 0, 2  # exit codes of `plan -detailed-exitcode`


def plugins() -> Path | None:
    """The directory with Terraform's providers, if this machine has one."""
    found = (
        there for depth in ("", "*/") for there in Path("/").glob(f"{depth}tf-plugins") if there.is_dir()
    )
    return next(found, None)


@dataclass(frozen=True)
class Terraform:
    """The command, in a directory of its own, offline."""

    binary: str
    home: Path
    url: str

    def __call__(self, *words: str, codes: tuple[int, ...] = (0,)) -> tuple[int, str]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TF_IN_AUTOMATION": "1",
            "CHECKPOINT_DISABLE": "1",
            "GOGC": "500",  # collecting garbage is a third of what the provider does
            "TF_VAR_endpoint": self.url,
        }
        done = subprocess.run(
            [self.binary, *words, "-no-color", "-input=false"],
            cwd=self.home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode in codes, f"{done.stdout}\n{done.stderr}"
        return done.returncode, done.stdout


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
def terraform(dynamodb: Any, tmp_path: Path) -> Terraform:
    binary, providers = shutil.which("terraform"), plugins()
    if binary is None:
        pytest.skip("there is no terraform on this machine")
    if providers is None:
        pytest.skip("no directory tf-plugins with Terraform's AWS provider is on this machine")
    home = tmp_path / "terraform"
    home.mkdir()
    shutil.copy(CONFIGURATION, home)
    found = Terraform(binary, home, dynamodb.meta.endpoint_url)
    found("init", f"-plugin-dir={providers}")
    return found


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
    }


def test_terraform_applies_finds_no_drift_changes_and_destroys(terraform: Terraform, dynamodb: Any) -> None:
    terraform("apply", "-auto-approve")
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
    }
    assert (orders["units"], orders["index units"], orders["recovery"]) == (10, [2], None)
    (rex,) = dynamodb.scan(TableName="pets")["Items"]
    assert (rex["age"], sorted(rex["tags"]["SS"])) == ({"N": "3"}, ["brown", "loud"])
    with pytest.raises(ClientError, match="deletion protection"):
        dynamodb.delete_table(TableName="pets")

    code, told = terraform("plan", "-detailed-exitcode", codes=(NO_CHANGES, CHANGES))
    assert code == NO_CHANGES, told

    _, told = terraform("apply", "-auto-approve", "-var=changed=true")
    assert "3 changed, 0 destroyed" in told, "a change was taken for a replacement"
    pets, orders = settings(dynamodb, "pets"), settings(dynamodb, "orders")
    assert (pets["indexes"], pets["stream"], pets["protected"]) == ({"by-age", "by-kind"}, "KEYS_ONLY", False)
    assert (pets["ttl"], pets["recovery"]) == ("DISABLED", 7)
    assert pets["tags"] == {"team": "vets", "cost": "low"}
    assert (orders["units"], orders["index units"], orders["recovery"]) == (20, [4], 35)
    assert orders["class"] == "STANDARD_INFREQUENT_ACCESS"
    assert dynamodb.scan(TableName="pets")["Items"][0]["age"] == {"N": "4"}

    terraform("destroy", "-auto-approve", "-var=changed=true")
    assert dynamodb.list_tables()["TableNames"] == []
