"""DescribeTable: a table as it stands."""

from typing import Any

from tablewright.engine.arguments import known_table, table_name
from tablewright.engine.catalog import Catalog, Table, describe
from tablewright.engine.errors import ServiceError, table_not_found
from tablewright.engine.members import TABLE_NAME
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Reading

SHAPE = Struct("DescribeTableInput", {"TableName": TABLE_NAME}, required=("TableName",))


def describe_table(reading: Reading, request: Request) -> dict[str, Any]:
    return {"Table": describe(named_table(reading.tables, request), reading.rows)}


def named_table(tables: Catalog, request: Request) -> Table:
    """The table of a control-plane request, which names what it did not find."""
    try:
        return known_table(tables, request["TableName"])
    except ServiceError:
        raise table_not_found(table_name(request["TableName"])) from None


def settled_table(tables: Catalog, request: Request) -> Table:
    """The same for a request about its settings, which a table that is still being filled has not."""
    table = named_table(tables, request)
    if table.status != "ACTIVE":
        raise table_not_found(table.name)
    return table
