"""The tables of an environment, in `main.tf`: a call of the module for each, and the keys that encrypt them.

Keys, indexes and attributes of a table are in its schema (../schemas), which the module reads; a call says what differs
between environments. Must hold: what is protected from deletion cannot be destroyed by Terraform either; an apply
changes nothing that Amazon scales (modules.py).
A replica is as recoverable as its table, and has its tags. It is not protected from deletion: that is a setting
of the replica's own, which the provider we print for (5.100) cannot say; see deploy/README.md.
"""

from collections.abc import Iterator
from typing import Any

from tablewright.design.deployment import Deployment, label
from tablewright.design.environments import Provisioned
from tablewright.design.schemas.paths import schema_path
from tablewright.design.table_settings import capacity_of, stream_of
from tablewright.design.tables import Table
from tablewright.design.terraform.hcl import NULL, Block, Comment, Interpolated, Reference, block, policy
from tablewright.design.terraform.versions import ACCOUNT, ACCOUNT_ID, provider
from tablewright.design.vectors import VectorIndex

LASTING = block("lifecycle", {"prevent_destroy": True})


def tables(deployment: Deployment) -> list[Block | Comment]:
    found: list[Block | Comment] = []
    for table in deployment.tables:
        if table.about:
            found.append(Comment(table.about))
        found.append(_table(deployment, table))
        found += [_unsaid(deployment, index) for index in deployment.vectors(table)]
    return [*found, *_guard(deployment), *_keys(deployment)]


def _unsaid(deployment: Deployment, index: VectorIndex) -> Comment:
    """What the provider cannot say, and how to do it after an apply."""
    name = deployment.physical(index.table.name)
    return Comment(
        f"Vector index {index.name} of {name}: Terraform's provider cannot define it. Create it after the first apply, "
        f"with UpdateTable (VectorIndexUpdates: {index.of}, {index.dimensions} dimensions, {index.distance})."
    )


def address(table: Table | str) -> str:
    """Where Terraform has a table: the module's outputs are `name`, `arn` and `stream_arn`."""
    return f"module.{label(table if isinstance(table, str) else table.name)}"


def _table(deployment: Deployment, table: Table) -> Block:
    stream_of(deployment, table)  # refuses one that replicas cannot live by; the module sets it
    schema = f'jsondecode(file("${{path.module}}/../../{schema_path(deployment, table)}"))'
    return block(
        "module",
        label(table.name),
        {
            "source": "../modules/dynamodb_table",
            "name": deployment.physical(table.name),
            "schema": Reference(schema),
            "deletion_protection": Reference("var.deletion_protection"),
            "pitr_days": Reference("var.pitr_days"),
            "capacity": _capacity(capacity_of(deployment, table)),
            "encryption": _encryption(deployment),
            "replicas": _replicas(deployment) or None,
        },
    )


def is_searched(deployment: Deployment, table: Table) -> bool:
    """Whether a vector index adds attributes to its table, by which it is searched; an apply must leave them."""
    return any(index.searched for index in deployment.vectors(table))


def scaled(units: Provisioned | None) -> list[str]:
    """Which units Amazon changes: reads, writes, both or none."""
    bounds = {"read": units.max_read, "write": units.max_write} if units else {}
    return [name for name, bound in bounds.items() if bound]


def _capacity(units: Provisioned | None) -> dict[str, Any] | None:
    """The units of a table and of each global index. Those that are `scaled` stay as they are if they are more."""
    if units is None:
        return None
    return {"read": units.read, "write": units.write, "scaled": scaled(units)}


def _replicas(deployment: Deployment) -> dict[str, Any]:
    """The key of each replica by its region; null for the key that Amazon has."""
    is_own = deployment.environment.encryption == "customer"
    return {
        region: Reference(f"{key_address(deployment, region)}.arn") if is_own else NULL
        for region in deployment.environment.replicas
    }


def _guard(deployment: Deployment) -> Iterator[Block | Comment]:
    """What stops a plan that would destroy something protected. `prevent_destroy` has to be a literal, so a module
    cannot have it for one environment and not for another: it is set on a value that is replaced with its table."""
    if not deployment.environment.deletion_protection:
        return
    lasting = {label(table.name): Reference(f"{address(table)}.id") for table in deployment.tables}
    if deployment.environment.backups is not None:
        lasting["backup"] = Reference("module.backup.vault_arn")
        if deployment.environment.backups.copy_to:
            lasting["backup_copy"] = Reference("module.backup.copy_vault_arn")
    yield Comment("A plan that would destroy or replace one of these is refused.")
    said = {"for_each": lasting, "triggers_replace": Reference("each.value")}
    yield block("resource", "terraform_data", "protected", said, LASTING)


# --- encryption ---


def _encryption(deployment: Deployment) -> dict[str, Any] | None:
    """Every table is encrypted; by default with a key that Amazon owns, of which nothing is to be said."""
    match deployment.environment.encryption:
        case "owned":
            return None
        case "managed":
            return {"kms_key_arn": NULL}
        case "customer":
            return {"kms_key_arn": Reference(f"{key_address(deployment, deployment.environment.region)}.arn")}


def key_address(deployment: Deployment, region: str) -> str:
    return f"aws_kms_key.{'tables' if region == deployment.environment.region else label(region)}"


def _keys(deployment: Deployment) -> Iterator[Block | Comment]:
    """A key of one's own in each region in which the tables are."""
    environment = deployment.environment
    if environment.encryption != "customer":
        return
    what, services = ("tables", "DynamoDB")
    if environment.objects is not None:
        what, services = ("tables and objects", "DynamoDB or S3")
    yield Comment(f"The key of the {what}. Principals that may use {services} here use the key through it.")
    for region in (environment.region, *environment.replicas):
        key = key_address(deployment, region)
        name, where = key.partition(".")[2], {"provider": provider(deployment, region)}
        settings = {
            "description": f"The {what} of {deployment.title}",
            "enable_key_rotation": True,
            "deletion_window_in_days": 30,
            "policy": _key_policy(deployment, region),
        }
        lasting = LASTING if environment.deletion_protection else None
        yield block("resource", "aws_kms_key", name, where, settings, lasting)
        alias = {"name": f"alias/{deployment.title}", "target_key_id": Reference(f"{key}.key_id")}
        yield block("resource", "aws_kms_alias", name, where, alias)


_KEY_USES = (
    "kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:CreateGrant", "kms:DescribeKey",
)  # fmt: skip


def _key_policy(deployment: Deployment, region: str) -> Any:
    """As that of Amazon's own key: through DynamoDB, by who is of this account; its settings by its administrators.

    Through S3 too, where objects are.
    """
    services = [f"dynamodb.{region}.amazonaws.com"]
    if deployment.environment.objects is not None and region == deployment.environment.region:
        services.append(f"s3.{region}.amazonaws.com")
    only = {"kms:CallerAccount": ACCOUNT, "kms:ViaService": services if len(services) > 1 else services[0]}
    return policy(
        {
            "Sid": "Administration",
            "Effect": "Allow",
            "Principal": {"AWS": Interpolated(f"arn:aws:iam::{ACCOUNT_ID}:root")},
            "Action": ["kms:*"],
            "Resource": ["*"],
        },
        {
            "Sid": "ThroughDynamoDB",
            "Effect": "Allow",
            "Principal": {"AWS": "*"},
            "Action": _KEY_USES,
            "Resource": ["*"],
            "Condition": {"StringEquals": only},
        },
    )
