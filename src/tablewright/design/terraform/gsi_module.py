"""The module `gsi`: the global indexes of a schema, checked, as the objects that a table's resource takes (CP-D36)."""

from collections.abc import Mapping, Sequence
from typing import Any

from tablewright.design.terraform.hcl import NULL, Block, Reference, block

_PROJECTIONS = '["ALL", "KEYS_ONLY", "INCLUDE"]'
_MOST_INDEXES = 20
CAPACITY = "object({ read = number, write = number, scaled = list(string) })"


def gsi_module(schemas: bool) -> Mapping[str, Sequence[Block]]:
    """`schemas`: with keys of several attributes, which providers before 6.29 cannot say."""
    return {"main.tf": _main(schemas), "variables.tf": _variables(), "outputs.tf": _outputs()}


def _main(schemas: bool) -> list[Block]:
    partition, sort = "flatten([index.partitionKey])", "compact(flatten([index.sortKey]))"
    said: dict[str, Any] = {
        "name": Reference("index.indexName"),
        "hash_key": Reference(f"{partition}[0]"),
        "range_key": Reference(f"try({sort}[0], null)"),
        "projection_type": Reference("index.projectionType"),
        "non_key_attributes": Reference("try(index.nonKeyAttributes, null)"),
        "read_capacity": Reference(_units("read")),
        "write_capacity": Reference(_units("write")),
    }
    if schemas:
        parts = [f'[for name in {names} : {{ name = name, part = "{part}" }}]'
                 for names, part in ((partition, "HASH"), (sort, "RANGE"))]  # fmt: skip
        said["key_schema"] = Reference(f"concat({', '.join(parts)})")
        said["warm_throughput"] = Reference("try(var.existing[index.indexName].warm_throughput, [])")
    lines = [f"{name} = {value.text}" for name, value in said.items()]
    objects = (
        "[\n    for index in var.indexes : {\n      " + "\n      ".join(_columns(lines)) + "\n    }\n  ]"
    )
    keys = f"flatten([for index in var.indexes : concat({partition}, {sort})])"
    return [block("locals", {"keys": Reference(keys)}), block("locals", {"indexes": Reference(objects)})]


def _columns(lines: Sequence[str]) -> list[str]:
    width = max(line.index(" = ") for line in lines)
    return [line.replace(" = ", " " * (width - line.index(" = ")) + " = ", 1) for line in lines]


def _units(what: str) -> str:
    """The units of an index: the design's, or as they were scaled to if that is more."""
    now, low = f"try(var.existing[index.indexName].{what}_capacity, 0)", f"var.capacity.{what}"
    return f'var.capacity == null ? null : max(contains(var.capacity.scaled, "{what}") ? {now} : 0, {low})'


def _variables() -> list[Block]:
    names, kinds = "var.indexes[*].indexName", "index.projectionType"
    return [
        block(
            "variable",
            "indexes",
            {"description": "globalSecondaryIndexes of a schema.", "type": Reference("any")},
            _rule(f"length(var.indexes) <= {_MOST_INDEXES}", f"A table has {_MOST_INDEXES} global indexes at most."),
            _rule(f"length(distinct({names})) == length(var.indexes)", "Two indexes have the same name."),
            _rule(
                f"alltrue([for index in var.indexes : contains({_PROJECTIONS}, {kinds})])",
                "projectionType is ALL, KEYS_ONLY or INCLUDE.",
            ),
        ),
        block(
            "variable",
            "types",
            {"description": "The types of the table's attributes, by name.", "type": Reference("map(string)")},
        ),
        block(
            "variable",
            "capacity",
            {
                "description": "The units of each index, and which of them are scaled; null: on demand.",
                "type": Reference(CAPACITY),
                "default": NULL,
            },
        ),
        block(
            "variable",
            "existing",
            {
                "description": "The indexes that the table has now, by name, whose units stay if they are more.",
                "type": Reference("any"),
                "default": {},
            },
        ),
    ]  # fmt: skip


def _rule(condition: str, message: str) -> Block:
    return block("validation", {"condition": Reference(condition), "error_message": message})


def _outputs() -> list[Block]:
    known = 'alltrue([for name in local.keys : contains(["S", "N", "B"], lookup(var.types, name, ""))])'
    message = "An attribute in the key of an index is not in the schema, or is not of type S, N or B."
    return [
        block(
            "output",
            "indexes",
            {"description": "The blocks of the table's resource.", "value": Reference("local.indexes")},
            block("precondition", {"condition": Reference(known), "error_message": message}),
        ),
        block(
            "output",
            "keys",
            {"description": "The attributes in their keys.", "value": Reference("distinct(local.keys)")},
        ),
    ]
