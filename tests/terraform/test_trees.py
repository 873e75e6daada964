"""The trees in deploy/ before the real Terraform and the real AWS provider: well formed, valid, and what they say.

One of them is applied with everything that is optional: its tables on our own server, all else on moto's. What is left
out of it is in NARROWED, with the reasons.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest
from pydantic import BaseModel
from tests.terraform.command import CHANGES, NO_CHANGES, Terraform, binary, initialised, moto, provider

from tablewright import testing
from tablewright.client import embedded
from tablewright.design import Alarm, Backups, Design, Environment, Keys, ObjectBucket, Provisioned
from tablewright.design.deployment import Deployment
from tablewright.design.terraform import tree, write
from tablewright.mapping import Db
from tablewright.mapping.deployment import deployment_of
from tablewright.systems.travel.design import TRAVEL
from tablewright.systems.travel.travel import open_travel
from tablewright.wire import serving
from tablewright.world import real_world

DEPLOY = Path(__file__).parents[2] / "deploy"
TREES = sorted(path.parent for path in DEPLOY.glob("*/*/terraform.tf"))
QUIETLY = ("-no-color", "-input=false")
KEYS = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "us-east-1"}
ELSEWHERE = (
    "backup", "budgets", "cloudtrail", "cloudwatch", "ec2", "iam", "kms", "s3", "sns", "sts",
)  # fmt: skip
PROD = TRAVEL.environments["prod"]
_UNTAGGED = "lifecycle {\n    ignore_changes = [tags_all]\n  }"
BACKUPS = (("aws_backup_plan", "tables"), ("aws_backup_vault", "main"), ("aws_backup_vault", "copy"))
NARROWED = (
    # moto does not say who is told of a budget (DescribeSubscribersForNotification).
    ("aws_budgets_budget", "monthly", "count = 0"),
    # Nor which tables a plan of backups is for (CreateBackupSelection).
    ("aws_backup_selection", "tables", "count = 0"),
    # And it forgets the tags of what has to do with backups.
    *((kind, name, _UNTAGGED) for kind, name in BACKUPS),
    # The provider looks at one for nearly a minute before it believes it.
    ("aws_s3_bucket_lifecycle_configuration", "trail", "count = 0"),
)


def test_every_tree_is_written_as_terraform_itself_would() -> None:
    assert len(TREES) == 9
    _, told = Terraform(binary(), DEPLOY)("fmt", "-check", "-recursive", "-diff", "-no-color", codes=(0, 3))
    assert told == ""


class Pet(BaseModel):
    owner: str
    name: str
    age: int
    colour: str = ""


def pet_key(owner: str, name: str) -> None: ...


def everything(**more: Any) -> Deployment:
    """What none of the systems in the box asks for: keys of one's own, local indexes, some of the attributes."""
    design = Design("pets")
    made = design.table(
        "pets", pk="owner", sk="name", ttl="ttl", stream="NEW_AND_OLD_IMAGES", about="Says ${nothing}."
    )
    by_age = made.lsi("by-age", sk="age", project=("colour",))
    by_colour = made.gsi("by-colour", pk="colourKey", project=("age",))
    on = {by_age: Keys("{owner}", "{age}"), by_colour: Keys("COLOUR#{colour}")}
    made.entity(Pet, pet_key, tag="pet", pk="{owner}", sk="{name}", on=on)
    design.alarm(Alarm("slow", "SuccessfulRequestLatency", Decimal("12.5"), 5, "Average", "ms", 'ask "why"'))
    where = Environment(
        "prod",
        "eu-central-1",
        pitr_days=7,
        backups=Backups("cron(0 3 * * ? *)", 30, "pets", copy_to="eu-west-1"),
        deletion_protection=True,
        objects=ObjectBucket(archive="old"),
        encryption="customer",
        tags={"Cost Centre": "pets/100%"},
        **more,
    )
    return deployment_of("pets", (design.build(),), where)


def test_cp_s14_every_tree_is_valid_to_the_provider(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    every = tmp_path / "trees" / "every"
    # Not together: Amazon does not make replicas of a table with reserved units that nothing scales yet.
    write(tree(everything(replicas=("eu-west-1", "us-east-1"))), every / "replicated")
    write(tree(everything(capacity=Provisioned(5, 5, max_read=50, max_write=50))), every / "reserved")
    trees = [*TREES, every / "replicated", every / "reserved"]
    Terraform(binary(), tmp_path)("fmt", "-check", "-recursive", "-diff", "-no-color", "trees")
    modules = [f'module "{t.parent.name}_{t.name}" {{\n  source = "{t}"\n}}\n' for t in trees]
    (root / "main.tf").write_text("\n".join(modules))
    with provider(root) as attached:
        _, told = initialised(root, attached)("validate", "-json")
    said = json.loads(told)
    assert (said["valid"], said["diagnostics"]) == (True, [])


# --- units that follow what is used ---


def scaled(*indexes: str) -> Deployment:
    """A table with reserved units that are scaled, and indexes of these attributes."""
    design = Design("pets")
    made = design.table("pets", pk="owner", sk="name")
    on = {made.gsi(f"by-{name}", pk=name): Keys(f"{{{name}}}") for name in indexes}
    made.entity(Pet, pet_key, tag="pet", pk="{owner}", sk="{name}", on=on)
    where = Environment("prod", "us-east-1", capacity=Provisioned(5, 5, max_read=50, max_write=50))
    return deployment_of("pets", (design.build(),), where)


def print_unscaled(deployment: Deployment, home: Path) -> None:
    """The tree without what scales it: moto does not know the tags of scaling, and the test scales for itself."""
    write(tree(deployment), home)
    (home / "scaling.tf").unlink()


def units(dynamodb: Any) -> dict[str, tuple[int, int]]:
    """Reads and writes of the table and of each index."""
    told = dynamodb.describe_table(TableName="pets")["Table"]
    found = {"": told, **{one["IndexName"]: one for one in told["GlobalSecondaryIndexes"]}}
    given = {name: one["ProvisionedThroughput"] for name, one in found.items()}
    return {name: (one["ReadCapacityUnits"], one["WriteCapacityUnits"]) for name, one in given.items()}


def test_an_apply_leaves_tables_and_indexes_as_they_were_scaled_and_makes_new_indexes(
    tmp_path: Path, moto: str
) -> None:
    home = tmp_path / "tree"
    print_unscaled(scaled("colour"), home)
    with testing.engine(tmp_path / "store") as engine, serving(engine) as url, provider(home) as attached:
        (home / "test_override.tf").write_text(override(url, moto).partition("\n\nprovider")[0])
        terraform = initialised(home, attached)
        terraform("apply", *QUIETLY, "-auto-approve")
        dynamodb = client_of(url)
        assert units(dynamodb) == {"": (5, 5), "by-colour": (5, 5)}
        dynamodb.update_table(
            TableName="pets",
            ProvisionedThroughput={"ReadCapacityUnits": 15, "WriteCapacityUnits": 5},
            GlobalSecondaryIndexUpdates=[
                {
                    "Update": {
                        "IndexName": "by-colour",
                        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 40},
                    }
                }
            ],
        )
        code, told = terraform("plan", *QUIETLY, "-detailed-exitcode", codes=(NO_CHANGES, CHANGES))
        assert code == NO_CHANGES, told
        print_unscaled(scaled("colour", "age"), home)
        terraform("apply", *QUIETLY, "-auto-approve")
        assert units(dynamodb) == {"": (15, 5), "by-colour": (5, 40), "by-age": (5, 5)}
        dynamodb.close()


# --- Skratch in production, made ---


@pytest.fixture(name="moto")
def moto_address() -> Iterator[str]:
    with moto() as address:
        yield address


def override(dynamodb: str, others: str) -> str:
    """Where the provider finds the services, and what is left out: all that is different from the tree in deploy/."""
    endpoints = "\n".join(f'    {name} = "{others}"' for name in ELSEWHERE)
    body = f"""
  access_key                  = "any"
  secret_key                  = "any"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  s3_use_path_style           = true
  max_retries                 = 3

  endpoints {{
    dynamodb = "{dynamodb}"
{endpoints}
  }}
"""
    here, copies = f'provider "aws" {{{body}}}', f'provider "aws" {{\n  alias = "us_west_2"\n{body}}}'
    less = (f'resource "{kind}" "{name}" {{\n  {body}\n}}' for kind, name, body in NARROWED)
    return "\n\n".join([here, copies, *less])


def network(moto: str) -> dict[str, str]:
    """A network to reach the tables from, as variables of the tree; everything else that can be asked for, too."""
    ec2 = boto3.client("ec2", endpoint_url=moto, **KEYS)
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    routes = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.close()
    return {
        "TF_VAR_vpc_id": vpc,
        "TF_VAR_route_table_ids": json.dumps([routes]),
        "TF_VAR_data_events": "true",
        "TF_VAR_alarm_email": "ines@example.com",
        "TF_VAR_export_bucket": "analytics",
        "TF_VAR_trusted": json.dumps({"service": {"Service": ["ecs-tasks.amazonaws.com"]}}),
    }


def settings(dynamodb: Any, table: str) -> dict[str, Any]:
    """All that a table is, but for when it was made and how it is called in all the world."""
    told = dynamodb.describe_table(TableName=table)["Table"]
    recovery = dynamodb.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    recovery = recovery["PointInTimeRecoveryDescription"]
    tags = dynamodb.list_tags_of_resource(ResourceArn=told["TableArn"])["Tags"]
    return {
        "key": told["KeySchema"],
        "attributes": sorted((a["AttributeName"], a["AttributeType"]) for a in told["AttributeDefinitions"]),
        "indexes": {
            index["IndexName"]: (index["KeySchema"], index["Projection"])
            for index in told.get("GlobalSecondaryIndexes", ())
        },
        "billing": told["BillingModeSummary"]["BillingMode"],
        "stream": told.get("StreamSpecification"),
        "protected": told["DeletionProtectionEnabled"],
        "ttl": dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"],
        "recovery": (recovery["PointInTimeRecoveryStatus"], recovery.get("RecoveryPeriodInDays")),
        "tags": {tag["Key"]: tag["Value"] for tag in tags},
    }  # fmt: skip


def client_of(url: str) -> Any:
    return boto3.client("dynamodb", endpoint_url=url, **KEYS)


def mapped() -> dict[str, dict[str, Any]]:
    """The same tables as mapping makes them for itself."""
    with testing.engine() as engine:
        db = Db(embedded(engine), TRAVEL, environment=PROD)
        db.create_tables()
        open_travel(db, real_world()).follower().create_tables()
        with serving(engine) as url:
            client = client_of(url)
            found = {name: settings(client, name) for name in client.list_tables()["TableNames"]}
            client.close()
            return found


def test_skratch_in_production_is_made_stays_as_it_is_and_is_what_mapping_makes(
    tmp_path: Path, moto: str
) -> None:
    home = tmp_path / "tree"
    shutil.copytree(DEPLOY / "travel" / "prod", home)
    with testing.engine(tmp_path / "store") as engine, serving(engine) as url:
        (home / "test_override.tf").write_text(override(url, moto))
        terraform = initialised(home, network(moto))
        terraform("apply", *QUIETLY, "-auto-approve")
        code, told = terraform("plan", *QUIETLY, "-detailed-exitcode", codes=(NO_CHANGES, CHANGES))
        assert code == NO_CHANGES, told
        client = client_of(url)
        made = {name: settings(client, name) for name in client.list_tables()["TableNames"]}
        client.close()
    wanted = mapped()
    assert made["skratch-data-prod"] == wanted["skratch-data-prod"]
    assert made["skratch-data-prod"]["recovery"] == ("ENABLED", 35)
    assert made.keys() == wanted.keys() == {"skratch-data-prod", "stream_consumers-prod", "receipts-prod"}
    assert made["stream_consumers-prod"] == wanted["stream_consumers-prod"]
    # mapping protects and tags what a design names; Terraform all that it makes.
    receipts = {**wanted["receipts-prod"], "protected": True, "tags": dict(PROD.tags)}
    assert made["receipts-prod"] == receipts
    around(moto)


def around(moto: str) -> None:
    """What was made around the tables, as Amazon's own words for it."""

    def of(service: str, region: str = "us-east-1") -> Any:
        return boto3.client(service, endpoint_url=moto, **{**KEYS, "region_name": region})

    roles = {role["RoleName"] for role in of("iam").list_roles()["Roles"]}
    wanted = ("service", "public", "admin", "deployer", "restorer", "backup")
    assert {f"travel-prod-{role}" for role in wanted} <= roles
    vaults = [
        [vault["BackupVaultName"] for vault in of("backup", region).list_backup_vaults()["BackupVaultList"]]
        for region in ("us-east-1", "us-west-2")
    ]
    assert vaults == [["skratch-prod"], ["skratch-prod-copies"]]
    (endpoint,) = of("ec2").describe_vpc_endpoints()["VpcEndpoints"]
    assert endpoint["ServiceName"] == "com.amazonaws.us-east-1.dynamodb"
    alarms = {alarm["AlarmName"]: alarm for alarm in of("cloudwatch").describe_alarms()["MetricAlarms"]}
    assert alarms.keys() == {"travel-prod-skratch-data-throttled", "travel-prod-failed-backups"}
    vault = {"Name": "BackupVaultName", "Value": "skratch-prod"}
    assert alarms["travel-prod-failed-backups"]["Dimensions"] == [vault]
    (trail,) = of("cloudtrail").describe_trails()["trailList"]
    assert trail["Name"] == "travel-prod-items"
