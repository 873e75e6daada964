"""The repositories in deploy/ before the real Terraform and the real AWS provider: valid, and what they say.

One environment is applied with everything that is optional: its tables on our own server, all else on moto's. What is
left out of it is in NARROWED, with the reasons.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
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
from tablewright.design.repository import repository, write
from tablewright.design.terraform.tables import address
from tablewright.mapping import Db
from tablewright.mapping.deploy import apply, desired_tables, live_tables, plan
from tablewright.mapping.deploy.states import TableState
from tablewright.mapping.deployment import deployment_of
from tablewright.mapping.formats import tables_in
from tablewright.systems.travel.design import TRAVEL
from tablewright.systems.travel.travel import open_travel
from tablewright.wire import serving
from tablewright.world import real_world

DEPLOY = Path(__file__).parents[2] / "deploy"
ENVIRONMENTS = sorted(path.parent for path in DEPLOY.glob("*/terraform/*/*.tfvars"))
SETTLED = ("-no-color", "-input=false", "-var-file=prod.tfvars")
KEYS = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "us-east-1"}
ELSEWHERE = (
    "backup", "budgets", "cloudtrail", "cloudwatch", "ec2", "iam", "kms", "s3", "sns", "sts",
)  # fmt: skip
PROD = TRAVEL.environments["prod"]
SKRATCH = deployment_of("travel", (TRAVEL,), PROD)
_UNTAGGED = "lifecycle {\n    ignore_changes = [tags_all]\n  }"
_BACKUPS = (("aws_backup_plan", "tables"), ("aws_backup_vault", "main"), ("aws_backup_vault", "copy"))
# By directory: kind, name, and what is said of it instead.
NARROWED = {
    "prod": (
        # moto does not say who is told of a budget (DescribeSubscribersForNotification).
        ("aws_budgets_budget", "monthly", "count = 0"),
        # The provider looks at one for nearly a minute before it believes it.
        ("aws_s3_bucket_lifecycle_configuration", "trail", "count = 0"),
    ),
    "modules/backup": (
        # Nor does moto say which tables a plan of backups is for (CreateBackupSelection).
        ("aws_backup_selection", "tables", "count = 0"),
        # And it forgets the tags of what has to do with backups.
        *((kind, name, _UNTAGGED) for kind, name in _BACKUPS),
    ),
}


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


def module_call(root: Path, settings: Path) -> str:
    """An environment as a module, with the values of its own .tfvars."""
    environment = settings.parent.relative_to(root).as_posix()
    name = environment.replace("/terraform/", "_").replace("/", "_")
    return f'module "{name}" {{\n  source = "./{environment}"\n{settings.read_text()}}}\n'


def test_cp_s14_every_environment_is_valid_to_the_provider(tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(DEPLOY, root)
    # Not together: Amazon does not make replicas of a table with reserved units that nothing scales yet.
    write(repository([everything(replicas=("eu-west-1", "us-east-1"))]), root / "every" / "replicated")
    reserved = everything(capacity=Provisioned(5, 5, max_read=50, max_write=50))
    write(repository([reserved]), root / "every" / "reserved")
    Terraform(binary(), root)("fmt", "-check", "-recursive", "-diff", "-no-color", "every")
    calls = [module_call(root, settings) for settings in sorted(root.glob("**/terraform/*/*.tfvars"))]
    assert len(calls) == len(ENVIRONMENTS) + 2 == 13
    (root / "main.tf").write_text("\n".join(calls))
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
    units = Provisioned(5, 5, max_read=50, max_write=50)
    where = Environment("prod", "us-east-1", capacity=units, deletion_protection=True)
    return deployment_of("pets", (design.build(),), where)


def print_unscaled(deployment: Deployment, directory: Path) -> None:
    """Without what scales it: moto does not know the tags of scaling, and the test scales for itself."""
    write(repository([deployment]), directory)
    (directory / "terraform" / "prod" / "scaling.tf").unlink()


def units(dynamodb: Any) -> dict[str, tuple[int, int]]:
    """Reads and writes of the table and of each index."""
    told = dynamodb.describe_table(TableName="pets")["Table"]
    found = {"": told, **{one["IndexName"]: one for one in told["GlobalSecondaryIndexes"]}}
    given = {name: one["ProvisionedThroughput"] for name, one in found.items()}
    return {name: (one["ReadCapacityUnits"], one["WriteCapacityUnits"]) for name, one in given.items()}


def test_an_apply_leaves_what_was_scaled_makes_new_indexes_and_never_replaces_what_is_protected(
    tmp_path: Path, moto: str
) -> None:
    home = tmp_path / "tree" / "terraform" / "prod"
    print_unscaled(scaled("colour"), tmp_path / "tree")
    with testing.engine(tmp_path / "store") as engine, serving(engine) as url, provider(home) as attached:
        (home / "test_override.tf").write_text(override(url, moto).partition("\n\nprovider")[0])
        terraform = initialised(home, attached)
        terraform("apply", *SETTLED, "-auto-approve")
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
        print_unscaled(scaled("colour", "age"), tmp_path / "tree")
        terraform("apply", *SETTLED, "-auto-approve")
        assert units(dynamodb) == {"": (15, 5), "by-colour": (5, 40), "by-age": (5, 5)}
        dynamodb.close()
        schema = tmp_path / "tree" / "schemas" / "pets" / "pet.schema.json"
        schema.write_text(schema.read_text().replace('"name": "name"', '"name": "surname"'))
        wanted = ("-target=module.pets", "-target=terraform_data.protected", "-refresh=false", "-json")
        _, told = terraform("plan", *SETTLED, *wanted, codes=(1,))
        assert "Instance cannot be destroyed" in told, "a protected table would be replaced"


# --- Skratch in production, made ---


@pytest.fixture(name="moto")
def moto_address() -> Iterator[str]:
    with moto() as address:
        yield address


def override(dynamodb: str, others: str) -> str:
    """Where the provider finds the services."""
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
    return f"{here}\n\n{copies}"


def narrow(home: Path) -> None:
    """What is left out: all that is different from the tree in deploy/, but for where the services are."""
    for directory, left_out in NARROWED.items():
        less = (f'resource "{kind}" "{name}" {{\n  {body}\n}}' for kind, name, body in left_out)
        (home / "terraform" / directory / "narrowed_override.tf").write_text("\n\n".join(less))


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


def deployed() -> dict[str, dict[str, Any]]:
    """The same tables as `tablewright deploy apply` makes them."""
    with testing.engine() as engine:
        call, desired = embedded(engine), desired_tables(SKRATCH)
        assert apply(call, plan(desired, {}), allow_loss=False) == ()
        with serving(engine) as url:
            client = client_of(url)
            found = {table.name: settings(client, table.name) for table in desired}
            client.close()
            return found


def described(states: Iterable[TableState]) -> dict[str, Any]:
    """What Terraform says of tables as well: not their addresses, nor what is scaled beside them.

    Whose the key is the provider asks of KMS, and moto's has another managed key than our server names.
    """
    return {
        each.name: (
            each.key, each.all_types, each.indexes, each.units, each.stream, each.ttl, each.recovery_days,
            each.is_protected, each.encryption != "owned", each.replicas, dict(each.tags),
        )
        for each in states
    }  # fmt: skip


def test_skratch_in_production_is_made_stays_as_it_is_and_is_what_mapping_and_deploy_make(
    tmp_path: Path, moto: str
) -> None:
    tree = tmp_path / "tree"
    home = tree / "terraform" / "prod"
    shutil.copytree(DEPLOY / "travel", tree)
    narrow(tree)
    with testing.engine(tmp_path / "store") as engine, serving(engine) as url:
        (home / "test_override.tf").write_text(override(url, moto))
        terraform = initialised(home, network(moto))
        terraform("apply", *SETTLED, "-auto-approve")
        code, told = terraform("plan", *SETTLED, "-detailed-exitcode", codes=(NO_CHANGES, CHANGES))
        assert code == NO_CHANGES, told
        client = client_of(url)
        made = {name: settings(client, name) for name in client.list_tables()["TableNames"]}
        client.close()
        live = live_tables(embedded(engine), made)
        assert plan(desired_tables(SKRATCH), live) == ()
        # What `design import` reads of the state is what is live.
        states = [table.state for table in tables_in(json.loads((home / "terraform.tfstate").read_text()))]
        assert described(states) == described(state for state in live.values() if state is not None)
    assert made == deployed()
    wanted = mapped()
    assert made["skratch-data-prod"] == wanted["skratch-data-prod"]
    assert made["skratch-data-prod"]["recovery"] == ("ENABLED", 35)
    assert made.keys() == wanted.keys() == {"skratch-data-prod", "stream_consumers-prod", "receipts-prod"}
    assert made["stream_consumers-prod"] == wanted["stream_consumers-prod"]
    # mapping protects and tags what a design names; Terraform all that it makes.
    receipts = {**wanted["receipts-prod"], "protected": True, "tags": dict(PROD.tags)}
    assert made["receipts-prod"] == receipts
    around(moto)


def test_terraform_takes_over_tables_that_deploy_made_without_a_change(tmp_path: Path, moto: str) -> None:
    tree = tmp_path / "tree"
    home = tree / "terraform" / "prod"
    shutil.copytree(DEPLOY / "travel", tree)
    where = {
        f"{address(table)}.aws_dynamodb_table.table": SKRATCH.physical(table.name) for table in SKRATCH.tables
    }
    taken = (f'import {{\n  to = {to}\n  id = "{name}"\n}}' for to, name in where.items())
    (home / "imports.tf").write_text("\n".join(taken))
    with testing.engine() as engine, serving(engine) as url:
        apply(embedded(engine), plan(desired_tables(SKRATCH), {}), allow_loss=False)
        (home / "test_override.tf").write_text(override(url, moto))
        _, told = initialised(home, network(moto))("plan", *SETTLED, *(f"-target={to}" for to in where))
    assert "Plan: 3 to import, 0 to add, 0 to change, 0 to destroy." in told


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
