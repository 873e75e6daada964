"""UntagResource: remove tags from a table. A missing tag is not an error."""

from dataclasses import replace
from typing import Any

from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.shapes import ListOf, Request, Struct, Text
from tablewright.engine.api.tag_resource import RESOURCE_ARN, tagged_table
from tablewright.engine.errors import invalid
from tablewright.engine.transaction import WriteTransaction

SHAPE = Struct(
    "UntagResourceInput",
    {"ResourceArn": RESOURCE_ARN, "TagKeys": ListOf(Text(1, 128))},
    required=("ResourceArn", "TagKeys"),
)


def untag_resource(txn: WriteTransaction, request: Request) -> dict[str, Any]:
    if not request["TagKeys"]:
        raise invalid("Atleast one Tag Key needs to be provided as Input.")
    table = tagged_table(txn.tables, request)
    remaining = {key: value for key, value in table.tags.items() if key not in request["TagKeys"]}
    txn.save_table(replace(table, tags=remaining))
    return {}


OPERATION = WriteOperation("UntagResource", SHAPE, untag_resource)
