"""DeleteTable: the table is deleted at once; its rows are deleted in small steps between other writes.

Its stream can be read for another day. With point-in-time recovery a backup of its last state is made.
"""

from typing import Any

from tablewright.engine.api.common_members import TABLE_NAME
from tablewright.engine.api.describe_table import named_table
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.replica_updates import refuse_source, refuse_writer
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.catalog import Table, describe
from tablewright.engine.errors import invalid, resource_in_use
from tablewright.engine.history.backups import SYSTEM, back_up
from tablewright.engine.replication.stamps import forget_replicas
from tablewright.engine.streams.shards import close_stream
from tablewright.engine.transaction import WriteTransaction

SHAPE = Struct("DeleteTableInput", {"TableName": TABLE_NAME}, required=("TableName",))


def delete_table(txn: WriteTransaction, request: Request) -> dict[str, Any]:
    table = named_table(txn.tables, request)
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
        refuse_source(table.replicas, table.replicas.region, txn.position.at)
        refuse_writer(table.name, table.replicas, table.replicas.region)
    description = describe(table, txn.rows, "DELETING")
    drop_table(txn, table)
    return {"TableDescription": description}


def drop_table(txn: WriteTransaction, table: Table) -> None:
    """Drop the table; the regions of its other replicas take note of it when they follow next."""
    if table.replicas is not None:
        forget_replicas(txn, table)
    if table.stream_view is not None:
        close_stream(txn, table)
    if table.recovery_since is not None:
        back_up(txn, table, f"{table.name}$DeletedTableBackup", SYSTEM)
    names = table.sql_tables()
    for name in names:
        txn.forget_counts(name)
    txn.rows.schedule_drop(names)
    txn.forget_table(table)


OPERATION = WriteOperation("DeleteTable", SHAPE, delete_table)
