"""UpdateTimeToLive: name the attribute that tells when an item expires, or stop looking at it.

The setting holds at once. Expired items stay readable until they are swept, as on the service.
"""

from dataclasses import replace
from typing import Any

from tablewright.engine.errors import invalid
from tablewright.engine.members import FLAG, TABLE_NAME
from tablewright.engine.operations.describe_table import named_table
from tablewright.engine.shapes import Request, Struct, Text
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
    table = named_table(writing.tables, request)
    now = table.ttl_attribute
    if now is not None and attribute != now:
        raise invalid("TimeToLive is active on a different AttributeName")
    if enabled == (now is not None):
        raise invalid(f"TimeToLive is already {'enabled' if enabled else 'disabled'}")
    writing.save_table(replace(table, ttl_attribute=attribute if enabled else None))
    return {"TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute}}
