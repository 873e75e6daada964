"""DeleteTable: the table is gone at once; its rows are removed in small steps beside other writes.

Its stream can be read for another day.
"""

from typing import Any

from tablewright.engine.catalog import describe
from tablewright.engine.errors import invalid, resource_in_use
from tablewright.engine.members import TABLE_NAME
from tablewright.engine.operations.describe_table import named_table
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
    if any(index.status != "ACTIVE" for index in table.indexes):
        raise resource_in_use(
            f"Attempt to change a resource which is still in use: Table is being updated: {table.name}"
        )
    shown = describe(table, writing.rows, "DELETING")
    if table.stream_view is not None:
        close_stream(writing, table)
    doomed = table.sql_tables()
    for name in doomed:
        writing.forget_counts(name)
    writing.rows.doom(doomed)
    writing.forget_table(table)
    return {"TableDescription": shown}
