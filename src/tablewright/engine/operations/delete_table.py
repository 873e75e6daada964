"""DeleteTable: the table is gone at once; its rows are removed in small steps beside other writes.

Its stream can be read for another day. With point-in-time recovery a backup of its last moment is made.
"""

from typing import Any

from tablewright.engine.backups import SYSTEM, back_up
from tablewright.engine.catalog import Table, describe
from tablewright.engine.errors import invalid, resource_in_use
from tablewright.engine.members import TABLE_NAME
from tablewright.engine.operations.describe_table import named_table
from tablewright.engine.replica_updates import refuse_source, refuse_writer
from tablewright.engine.replicas import forget_replicas
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.streams import close_stream
from tablewright.engine.writing import Writing

SHAPE = Struct("DeleteTableInput", {"TableName": TABLE_NAME}, required=("TableName",))


def delete_table(writing: Writing, request: Request) -> dict[str, Any]:
    table = named_table(writing.tables, request)
    if table.protected:
        raise invalid(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
        )
    if table.status != "ACTIVE":
        raise resource_in_use(
            f"Attempt to change a resource which is still in use: Table is being created: {table.name}"
        )
    if any(index.status != "ACTIVE" for index in table.indexes):
        raise resource_in_use(
            f"Attempt to change a resource which is still in use: Table is being updated: {table.name}"
        )
    if table.replicas is not None:
        refuse_source(table.replicas, table.replicas.region, writing.pen.at)
        refuse_writer(table.name, table.replicas, table.replicas.region)
    shown = describe(table, writing.rows, "DELETING")
    drop(writing, table)
    return {"TableDescription": shown}


def drop(writing: Writing, table: Table) -> None:
    """Give the table up; the others of its replicas find it gone when they ask next."""
    if table.replicas is not None:
        forget_replicas(writing, table)
    if table.stream_view is not None:
        close_stream(writing, table)
    if table.recovery_since is not None:
        back_up(writing, table, f"{table.name}$DeletedTableBackup", SYSTEM)
    doomed = table.sql_tables()
    for name in doomed:
        writing.forget_counts(name)
    writing.rows.doom(doomed)
    writing.forget_table(table)
