"""DescribeTimeToLive and UpdateTimeToLive: the attribute that holds the expiry time of an item.

A change takes effect at once; existing items are added to the expiry list in small steps
(background/maintenance.py). Expired items stay readable until they are swept (background/ttl.py), as on the service.
"""

from dataclasses import replace

from tablewright.engine.api.common_members import FLAG, TABLE_NAME
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.shapes import Answer, Request, Struct, Text
from tablewright.engine.api.tables import settled_table
from tablewright.engine.catalog import Table
from tablewright.engine.errors import invalid
from tablewright.engine.storage.rows import index_name
from tablewright.engine.transaction import ReadTransaction, WriteTransaction


@read_verb("DescribeTimeToLive", {"TableName": TABLE_NAME}, required=("TableName",))
def describe_time_to_live(txn: ReadTransaction, request: Request) -> Answer:
    attribute = settled_table(txn.tables, request).ttl_attribute
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}


@write_verb(
    "UpdateTimeToLive",
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
def update_time_to_live(txn: WriteTransaction, request: Request) -> Answer:
    asked = request["TimeToLiveSpecification"]
    enabled, attribute = asked["Enabled"], asked["AttributeName"]
    table = settled_table(txn.tables, request)
    now = table.ttl_attribute
    if now is not None and attribute != now:
        raise invalid("TimeToLive is active on a different AttributeName")
    if enabled == (now is not None):
        raise invalid(f"TimeToLive is already {'enabled' if enabled else 'disabled'}")
    if table.replicas is not None:
        table = replace(table, replicas=table.replicas.with_expiry_changed(txn.position.at))
    if enabled:
        enable(txn, table, attribute)
    else:
        disable(txn, table)
    return {"TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute}}


def enable(txn: WriteTransaction, table: Table, attribute: str) -> None:
    number, last = table.next_index, txn.rows.last_row(table.number)
    txn.rows.create_index(table.number, number)
    txn.save_table(
        replace(
            table,
            ttl_attribute=attribute,
            ttl_index=number,
            ttl_backfill=(0, last) if last else None,
            next_index=number + 1,
        )
    )


def disable(txn: WriteTransaction, table: Table) -> None:
    assert table.ttl_index is not None, "a table with TTL has an expiry list"
    txn.rows.schedule_drop([index_name(table.number, table.ttl_index)])
    txn.save_table(replace(table, ttl_attribute=None, ttl_index=None, ttl_backfill=None))
