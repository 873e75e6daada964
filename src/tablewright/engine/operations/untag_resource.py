"""UntagResource: take tags from a table. A tag that is not there is no mistake."""

from dataclasses import replace
from typing import Any

from tablewright.engine.errors import invalid
from tablewright.engine.operations.tag_resource import RESOURCE_ARN, tagged_table
from tablewright.engine.shapes import ListOf, Request, Struct, Text
from tablewright.engine.writing import Writing

SHAPE = Struct(
    "UntagResourceInput",
    {"ResourceArn": RESOURCE_ARN, "TagKeys": ListOf(Text(1, 128))},
    required=("ResourceArn", "TagKeys"),
)


def untag_resource(writing: Writing, request: Request) -> dict[str, Any]:
    if not request["TagKeys"]:
        raise invalid("Atleast one Tag Key needs to be provided as Input.")
    table = tagged_table(writing.tables, request)
    kept = {key: value for key, value in table.tags.items() if key not in request["TagKeys"]}
    writing.save_table(replace(table, tags=kept))
    return {}
