"""`tables.tf`: the tables with all that is set on them, and the keys that encrypt them.

Must hold: exactly the key attributes are defined; what is protected from deletion cannot be destroyed by Terraform
either; a replica is as recoverable as its table, and has its tags. It is not protected from deletion: that is a setting
of the replica's own, which the provider we print for (5.100) cannot say; see deploy/README.md.
An apply changes nothing that Amazon scales. `ignore_changes` leaves the units of a table alone, but can ignore all that
is said of indexes or nothing: their units are read from the table, if it exists, and stay what they are.
"""

from collections.abc import Iterator
from typing import Any

from tablewright.design.deployment import Deployment, NotDeployable, label
from tablewright.design.environments import Provisioned
from tablewright.design.table_spec import key_types, projection
from tablewright.design.tables import Index, Table
from tablewright.design.terraform.hcl import Block, Comment, Interpolated, Reference, block, policy, quoted
from tablewright.design.terraform.versions import ACCOUNT, ACCOUNT_ID, has_key_schemas, provider
from tablewright.design.vectors import VectorIndex

REPLICATED = "NEW_AND_OLD_IMAGES"
LASTING = block("lifecycle", {"prevent_destroy": True})


def tables(deployment: Deployment) -> list[Block | Comment]:
    found: list[Block | Comment] = []
    for table in deployment.tables:
        if table.about:
            found.append(Comment(table.about))
        found.append(_table(deployment, table))
        found += [_unsaid(deployment, index) for index in deployment.vectors(table)]
    return [*_existing(deployment), *found, *_keys(deployment)]


def _unsaid(deployment: Deployment, index: VectorIndex) -> Comment:
    """What the provider cannot say, and how to do it after an apply."""
    name = deployment.physical(index.table.name)
    return Comment(
        f"Vector index {index.name} of {name}: Terraform's provider cannot define it. Create it after the first apply, "
        f"with UpdateTable (VectorIndexUpdates: {index.of}, {index.dimensions} dimensions, {index.distance})."
    )


def address(table: Table | str) -> str:
    """Where Terraform keeps a table."""
    return f"aws_dynamodb_table.{label(table if isinstance(table, str) else table.name)}"


def _table(deployment: Deployment, table: Table) -> Block:
    environment, indexes = deployment.environment, deployment.indexes(table)
    stream, units = _stream(deployment, table), capacity_of(deployment, table)
    letters = key_types(table, indexes, deployment.shapes(table))
    days = environment.pitr_days if _is_recovered(deployment, table) else None
    kept = [*(_scaled(units) or ()), *_searched(deployment, table)] or None
    stays = True if environment.deletion_protection else None
    return block(
        "resource",
        "aws_dynamodb_table",
        label(table.name),
        {
            "name": deployment.physical(table.name),
            "billing_mode": "PROVISIONED" if units else "PAY_PER_REQUEST",
            **_capacity(units),
            "hash_key": table.pk,
            "range_key": table.sk,
            "stream_enabled": True if stream else None,
            "stream_view_type": stream,
            "deletion_protection_enabled": environment.deletion_protection,
        },
        *(block("attribute", {"name": name, "type": letter}) for name, letter in letters.items()),
        *(_index(deployment, index) for index in indexes),
        block("ttl", {"attribute_name": table.ttl, "enabled": True}) if table.ttl else None,
        block("point_in_time_recovery", {"enabled": days is not None, "recovery_period_in_days": days}),
        _encryption(deployment),
        *(_replica(deployment, table, region) for region in environment.replicas),
        block("lifecycle", {"prevent_destroy": stays, "ignore_changes": kept}) if stays or kept else None,
    )


def _searched(deployment: Deployment, table: Table) -> list[Reference]:
    """What a vector index adds to its table, and an apply must not take away: attributes that it is searched by."""
    is_there = any(index.searched for index in deployment.vectors(table))
    return [Reference("attribute")] if is_there else []


def _is_recovered(deployment: Deployment, table: Table) -> bool:
    return table in deployment.own and deployment.environment.pitr_days > 0


def capacity_of(deployment: Deployment, table: Table) -> Provisioned | None:
    """The units a table has; None if it is paid for as it is used, as those without entities always are."""
    if any(auxiliary.table == table for auxiliary in deployment.auxiliary):
        return None
    found = deployment.environment.capacity_of(table.name)
    if not isinstance(found, Provisioned):
        return None
    if deployment.vectors(table):
        raise NotDeployable(
            f"{deployment.title}.{table.name}",
            "it has reserved units and vector indexes, which only a table on demand can have",
            "write capacity=OnDemand()",
        )
    if deployment.environment.replicas:
        # DynamoDB makes a replica only of a table whose writes are scaled already, or paid for by the request; the
        # provider makes replicas with their table, before anything can scale it.
        raise NotDeployable(
            f"{deployment.title}.{table.name}",
            "it has reserved units and replicas, which Terraform's provider cannot make together",
            "write capacity=OnDemand(), or no replicas",
        )
    return found


def _capacity(units: Provisioned | None) -> dict[str, Any]:
    return {"read_capacity": units.read, "write_capacity": units.write} if units else {}


def _scaled(units: Provisioned | None) -> list[Reference] | None:
    """What autoscaling changes, and an apply must not change back."""
    if units is None:
        return None
    bounds = {"read_capacity": units.max_read, "write_capacity": units.max_write}
    return [Reference(name) for name, bound in bounds.items() if bound] or None


def _stream(deployment: Deployment, table: Table) -> str | None:
    """The stream a table has; one with replicas has one of both images, whether anybody follows it or not."""
    if not deployment.environment.replicas:
        return table.stream
    if table.stream not in (None, REPLICATED):
        raise NotDeployable(
            f"{deployment.title}.{table.name}",
            f"its stream is {table.stream}, and replicas live by {REPLICATED}",
            f'write stream="{REPLICATED}", or no replicas',
        )
    return REPLICATED


# --- indexes ---


def _index(deployment: Deployment, index: Index) -> Block:
    kind, names = projection(index, deployment.shapes(index.table))
    shown = {"projection_type": kind, "non_key_attributes": names or None}
    if index.local:
        return block("local_secondary_index", {"name": index.name, "range_key": index.sk[0], **shown})
    units = _index_units(deployment, index)
    if not has_key_schemas(deployment):
        keys = {"hash_key": index.pk[0], "range_key": index.sk[0] if index.sk else None}
        return block("global_secondary_index", {"name": index.name, **keys, **units, **shown})
    parts = [(name, "HASH") for name in index.pk] + [(name, "RANGE") for name in index.sk]
    schema = (block("key_schema", {"attribute_name": name, "key_type": part}) for name, part in parts)
    warm = _warm_throughput(index)
    return block("global_secondary_index", {"name": index.name, **units, **shown}, *schema, warm)


def _index_units(deployment: Deployment, index: Index) -> dict[str, Any]:
    """The units of an index: the design's, or as they were scaled to if that is more."""
    units = capacity_of(deployment, index.table)
    given = _capacity(units)
    for scaled in _scaled(units) or ():
        name, low = scaled.text, given[scaled.text]
        given[name] = Reference(f"max(try({_existing_index(index)}.{name}, {low}), {low})")
    return given


def _warm_throughput(index: Index) -> Block:
    """What the index is prepared for. Amazon raises it, and a provider from 6.13 on would plan to lower it again."""
    found = Reference(f"try({_existing_index(index)}.warm_throughput, [])")
    members = ("read_units_per_second", "write_units_per_second")
    content = block("content", {name: Reference(f"warm_throughput.value.{name}") for name in members})
    return block("dynamic", "warm_throughput", {"for_each": found}, content)


def _existing_index(index: Index) -> str:
    return f"local.{label(index.table.name)}_indexes[{quoted(index.name)}]"


def _existing(deployment: Deployment) -> Iterator[Block | Comment]:
    """What is read of the tables before they are changed: the indexes of those whose indexes Amazon scales."""
    read = [table for table in deployment.tables if _is_scaled(deployment, table)]
    if not read:
        return
    yield Comment("The indexes as they are now: an apply does not undo how they were scaled.")
    yield block("data", "aws_dynamodb_tables", "existing")
    found = {}
    for table in read:
        name, title = label(table.name), deployment.physical(table.name)
        # In an account without tables the list is null.
        is_there = f"try(contains(data.aws_dynamodb_tables.existing.names, {quoted(title)}), false)"
        exists = Reference(f"{is_there} ? 1 : 0")
        yield block("data", "aws_dynamodb_table", name, {"count": exists, "name": title})
        indexes = f"flatten(data.aws_dynamodb_table.{name}[*].global_secondary_index)"
        found[f"{name}_indexes"] = Reference(f"{{ for index in {indexes} : index.name => index }}")
    yield block("locals", found)


def _is_scaled(deployment: Deployment, table: Table) -> bool:
    """Whether Amazon changes something that Terraform knows of an index of the table."""
    has_indexes = any(not index.local for index in deployment.indexes(table))
    return has_indexes and (
        _scaled(capacity_of(deployment, table)) is not None or has_key_schemas(deployment)
    )


def _replica(deployment: Deployment, table: Table, region: str) -> Block:
    is_own = deployment.environment.encryption == "customer"
    return block(
        "replica",
        {
            "region_name": region,
            "kms_key_arn": Reference(f"{key_address(deployment, region)}.arn") if is_own else None,
            "point_in_time_recovery": _is_recovered(deployment, table),
            "propagate_tags": True,
        },
    )


# --- encryption ---


def _encryption(deployment: Deployment) -> Block | None:
    """Every table is encrypted; by default with a key that Amazon owns, of which nothing is to be said."""
    match deployment.environment.encryption:
        case "owned":
            return None
        case "managed":
            return block("server_side_encryption", {"enabled": True})
        case "customer":
            arn = Reference(f"{key_address(deployment, deployment.environment.region)}.arn")
            return block("server_side_encryption", {"enabled": True, "kms_key_arn": arn})


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
