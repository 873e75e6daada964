"""DescribeTable: a table's definition and current status."""

from typing import Any

from tablewright.engine.api.arguments import known_table, table_name
from tablewright.engine.api.common_members import TABLE_NAME
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.catalog import Catalog, Table, describe
from tablewright.engine.errors import ServiceError, table_not_found
from tablewright.engine.transaction import ReadTransaction

SHAPE = Struct("DescribeTableInput", {"TableName": TABLE_NAME}, required=("TableName",))


def describe_table(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    return {"Table": describe(named_table(txn.tables, request), txn.rows)}


def named_table(tables: Catalog, request: Request) -> Table:
    """The table of a control-plane request; the error names the missing table."""
    try:
        return known_table(tables, request["TableName"])
    except ServiceError:
        raise table_not_found(table_name(request["TableName"])) from None


def settled_table(tables: Catalog, request: Request) -> Table:
    """The same for a request about settings; a table that is still being loaded is not found."""
    table = named_table(tables, request)
    if table.status != "ACTIVE":
        raise table_not_found(table.name)
    return table


OPERATION = ReadOperation("DescribeTable", SHAPE, describe_table)
