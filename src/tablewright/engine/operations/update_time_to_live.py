"""UpdateTimeToLive: name the attribute that tells when an item expires, or stop looking at it.

The setting holds at once; items that were there before are listed by their time in small steps (chores.py).
Expired items stay readable until they are swept (ttl.py), as on the service.
"""

from dataclasses import replace
from typing import Any

from tablewright.engine.catalog import Table
from tablewright.engine.errors import invalid
from tablewright.engine.members import FLAG, TABLE_NAME
from tablewright.engine.operations.describe_table import settled_table
from tablewright.engine.shapes import Request, Struct, Text
from tablewright.engine.storage_rows import index_name
from tablewright.engine.writing import Writing

SHAPE = Struct(
    "UpdateTimeToLiveInput",
    {
        "TableName": TABLE_NAME,
        "TimeToLiveSpecification": Struct(
            "TimeToLiveSpecification",
            {"Enabled": FLAG, "AttributeName": Text(1, 255)},
            required=("Enabled", "AttributeName"),
        ),
    },
    required=("TableName", "TimeToLiveSpecification"),
)


def update_time_to_live(writing: Writing, request: Request) -> dict[str, Any]:
    asked = request["TimeToLiveSpecification"]
    enabled, attribute = asked["Enabled"], asked["AttributeName"]
    table = settled_table(writing.tables, request)
    now = table.ttl_attribute
    if now is not None and attribute != now:
        raise invalid("TimeToLive is active on a different AttributeName")
    if enabled == (now is not None):
        raise invalid(f"TimeToLive is already {'enabled' if enabled else 'disabled'}")
    if table.replicas is not None:
        table = replace(table, replicas=table.replicas.with_expiry_changed(writing.pen.at))
    if enabled:
        enable(writing, table, attribute)
    else:
        disable(writing, table)
    return {"TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute}}


def enable(writing: Writing, table: Table, attribute: str) -> None:
    number, last = table.next_index, writing.rows.last_row(table.number)
    writing.rows.create_index(table.number, number)
    writing.save_table(
        replace(
            table,
            ttl_attribute=attribute,
            ttl_index=number,
            ttl_backfill=(0, last) if last else None,
            next_index=number + 1,
        )
    )


def disable(writing: Writing, table: Table) -> None:
    assert table.ttl_index is not None, "a table with TTL has a list of what expires"
    writing.rows.doom([index_name(table.number, table.ttl_index)])
    writing.save_table(replace(table, ttl_attribute=None, ttl_index=None, ttl_backfill=None))
