"""The modules of a repository: `dynamodb_table`, `gsi` and `backup` (CP-52).

A table is made from its schema; `gsi` checks the global indexes of a schema and puts out what the table's resource
takes, since index blocks are a part of it (CP-D36). `modules(deployments)` is the same for every environment.
Must hold: exactly the key attributes are defined; an apply changes nothing that Amazon scales: units are read from the
table, if it exists, and stay what they are if they are more than the design's. (`ignore_changes` can ignore all that
is said of indexes or nothing, and not for one call of a module only.)
Elsewhere: which calls there are (tables.py, backups.py), the schemas (../schemas).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tablewright.design.deployment import Deployment
from tablewright.design.table_settings import REPLICATED, capacity_of
from tablewright.design.terraform.backup_module import BACKUP_MODULE
from tablewright.design.terraform.gsi_module import CAPACITY, gsi_module
from tablewright.design.terraform.hcl import NULL, Block, Comment, Reference, block
from tablewright.design.terraform.tables import is_searched, scaled
from tablewright.design.terraform.versions import has_key_schemas, required

Module = Mapping[str, Sequence[Block | Comment]]


def modules(deployments: Sequence[Deployment]) -> dict[str, Module]:
    """The files of each module, by its name."""
    versions = block("terraform", required(deployments[0]))
    schemas = has_key_schemas(deployments[0])
    return {
        "dynamodb_table": {
            "main.tf": [versions, *_main(deployments, schemas)],
            "variables.tf": _variables(),
            "outputs.tf": _outputs(_resources(deployments)),
        },
        "gsi": gsi_module(schemas),
        "backup": BACKUP_MODULE,
    }


def _variables() -> list[Block]:
    def variable(name: str, kind: str, about: str, **more: Any) -> Block:
        return block("variable", name, {"description": about, "type": Reference(kind), **more})

    return [
        variable("name", "string", "How the table is called in DynamoDB."),
        variable("schema", "any", "The schema of the table: jsondecode(file(...)) of its .schema.json."),
        variable("deletion_protection", "bool", "Whether DynamoDB refuses to delete the table."),
        variable("pitr_days", "number", "To how many days ago it can be restored; 0: no recovery.", default=0),
        variable("capacity", CAPACITY, "The units of the table and of each index; null: on demand.", default=NULL),
        variable(
            "encryption", "object({ kms_key_arn = string })",
            "The key; null inside: the one of the account that Amazon manages; null: the one that Amazon owns.",
            default=NULL,
        ),
        variable("replicas", "map(string)", "The key of each replica by its region, or null.", default={}),
    ]  # fmt: skip


def _resources(deployments: Sequence[Deployment]) -> tuple[str, ...]:
    """`table`; and `searched`, if a vector index adds attributes that an apply must not take away."""
    found = any(is_searched(each, table) for each in deployments for table in each.tables)
    return ("table", "searched") if found else ("table",)


def _outputs(resources: Sequence[str]) -> list[Block]:
    said = {
        "id": "The table, as Terraform identifies it.",
        "name": "The name in DynamoDB.",
        "arn": "The ARN.",
        "stream_arn": "The ARN of its stream, if it has one.",
    }

    def value(name: str) -> Reference:
        if len(resources) == 1:
            return Reference(f"aws_dynamodb_table.{resources[0]}.{name}")
        every = ", ".join(f"aws_dynamodb_table.{each}[*].{name}" for each in resources)
        return Reference(f"one(concat({every}))")

    return [
        block("output", name, {"description": about, "value": value(name)}) for name, about in said.items()
    ]


# --- the table ---


def _main(deployments: Sequence[Deployment], schemas: bool) -> list[Block | Comment]:
    resources = _resources(deployments)
    follows = any(scaled(capacity_of(each, table)) for each in deployments for table in each.tables)
    read = ["data.aws_dynamodb_table.existing"] if follows or schemas else []
    indexes = f"flatten({read[0]}[*].global_secondary_index)" if read else ""
    existing = f"{{ for index in {indexes} : index.name => index }}"
    keys = "[local.partition_key, local.sort_key], module.gsi.keys, local.local_indexes[*].sortKey"
    by = "concat(index.filters, compact([index.partitionKey]))"
    searched = f"anytrue([for index in try(var.schema.vectorIndexes, []) : length({by}) > 0])"
    values = {
        "partition_key": Reference("var.schema.primaryKey.partitionKey.name"),
        "sort_key": Reference("try(var.schema.primaryKey.sortKey.name, null)"),
        "types": Reference("{ for attribute in var.schema.attributes : attribute.name => attribute.type }"),
        "local_indexes": Reference("try(var.schema.localSecondaryIndexes, [])"),
        "keys": Reference(f"distinct(compact(concat({keys})))"),
        "view": Reference(f'length(var.replicas) > 0 ? "{REPLICATED}" : var.schema.streams.viewType'),
        "is_recovered": Reference("var.schema.pitr.enabled && var.pitr_days > 0"),
        "is_searched": Reference(searched) if len(resources) > 1 else None,
        "existing": Reference(existing) if read else None,
        "read": Reference(_units("read", follows)),
        "write": Reference(_units("write", follows)),
    }
    call = {
        "source": "../gsi",
        "indexes": Reference("var.schema.globalSecondaryIndexes"),
        "types": Reference("local.types"),
        "capacity": Reference("var.capacity"),
        "existing": Reference("local.existing") if read else None,
    }
    found: list[Block | Comment] = [block("locals", values), block("module", "gsi", call)]
    if read:
        found += _existing("true" if schemas else "length(try(var.capacity.scaled, [])) > 0")
    return [*found, *(_resource(name, resources, schemas) for name in resources)]


def _units(what: str, follows: bool) -> str:
    """The units of a table: the design's, or as they were scaled to if that is more."""
    now, low = f"try(data.aws_dynamodb_table.existing[0].{what}_capacity, 0)", f"var.capacity.{what}"
    found = f'max(contains(var.capacity.scaled, "{what}") ? {now} : 0, {low})' if follows else low
    return f"var.capacity == null ? null : {found}"


def _existing(asked: str) -> list[Block | Comment]:
    # In an account without tables the list is null.
    named = "try(contains(data.aws_dynamodb_tables.existing[0].names, var.name), false)"
    return [
        Comment("The table as it is now: an apply does not undo how it was scaled."),
        block("data", "aws_dynamodb_tables", "existing", {"count": Reference(f"{asked} ? 1 : 0")}),
        block(
            "data",
            "aws_dynamodb_table",
            "existing",
            {"count": Reference(f"{named} ? 1 : 0"), "name": Reference("var.name")},
        ),
    ]


def _resource(name: str, among: Sequence[str], schemas: bool) -> Block:
    chosen = "local.is_searched" if name == "searched" else "!local.is_searched"
    return block(
        "resource",
        "aws_dynamodb_table",
        name,
        {
            "count": Reference(f"{chosen} ? 1 : 0") if len(among) > 1 else None,
            "name": Reference("var.name"),
            "billing_mode": Reference('var.capacity == null ? "PAY_PER_REQUEST" : "PROVISIONED"'),
            "read_capacity": Reference("local.read"),
            "write_capacity": Reference("local.write"),
            "hash_key": Reference("local.partition_key"),
            "range_key": Reference("local.sort_key"),
            "stream_enabled": Reference("local.view == null ? null : true"),
            "stream_view_type": Reference("local.view"),
            "deletion_protection_enabled": Reference("var.deletion_protection"),
        },
        _each("attribute", "local.keys", name="value", type="local.types[attribute.value]"),
        _each(
            "local_secondary_index", "local.local_indexes", name="value.indexName", range_key="value.sortKey",
            projection_type="value.projectionType", non_key_attributes="try({}.value.nonKeyAttributes, null)",
        ),
        _indexes(schemas),
        _each("ttl", "compact([try(var.schema.ttl, null)])", attribute_name="value", enabled="true"),
        block(
            "point_in_time_recovery",
            {
                "enabled": Reference("local.is_recovered"),
                "recovery_period_in_days": Reference("local.is_recovered ? var.pitr_days : null"),
            },
        ),
        _each(
            "server_side_encryption", "var.encryption == null ? [] : [var.encryption]", enabled="true",
            kms_key_arn="value.kms_key_arn",
        ),
        _each(
            "replica", "var.replicas", region_name="key", kms_key_arn="value",
            point_in_time_recovery="local.is_recovered", propagate_tags="true",
        ),
        block("lifecycle", {"ignore_changes": [Reference("attribute")]}) if name == "searched" else None,
    )  # fmt: skip


def _each(kind: str, values: str, *inside: Block, **content: str) -> Block:
    """A block for each of these values; `value...` and `key` in its content are those of the one."""

    def said(text: str) -> Reference:
        if text == "key" or text.split(".")[0] == "value":
            return Reference(f"{kind}.{text}")
        return Reference(text.replace("{}", kind))

    filled = {name: said(text) for name, text in content.items()}
    return block("dynamic", kind, {"for_each": Reference(values)}, block("content", filled, *inside))


def _indexes(schemas: bool) -> Block:
    """Index blocks of what the module `gsi` puts out."""
    content = {
        "name": "value.name", "hash_key": "value.hash_key", "range_key": "value.range_key",
        "projection_type": "value.projection_type", "non_key_attributes": "value.non_key_attributes",
        "read_capacity": "value.read_capacity", "write_capacity": "value.write_capacity",
    }  # fmt: skip
    if not schemas:
        return _each("global_secondary_index", "module.gsi.indexes", **content)
    del content["hash_key"], content["range_key"]
    part = "global_secondary_index.value"
    warm = ("read_units_per_second", "write_units_per_second")
    return _each(
        "global_secondary_index",
        "module.gsi.indexes",
        _each("key_schema", f"{part}.key_schema", attribute_name="value.name", key_type="value.part"),
        # What the index is prepared for. Amazon raises it, and a provider from 6.13 on would plan to lower it again.
        _each("warm_throughput", f"{part}.warm_throughput", **{name: f"value.{name}" for name in warm}),
        **content,
    )
