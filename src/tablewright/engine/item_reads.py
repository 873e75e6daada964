"""Reading one item by its key, for GetItem, BatchGetItem and TransactGetItems.

Must hold: an item that is asked for whole is never parsed; its stored JSON goes into the answer as it is.
"""

from typing import Any, NamedTuple

import orjson

from tablewright.engine.arguments import (
    find_table,
    key_bytes,
    placeholders,
    read_paths,
    refuse_mixing,
)
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.shapes import Request
from tablewright.engine.storage_rows import Row, Rows
from tablewright.expressions import Path, project
from tablewright.values import admit_item


class Read(NamedTuple):
    table: Table
    key: bytes
    paths: tuple[Path, ...] | None

    def row(self, rows: Rows) -> Row | None:
        return rows.get(self.table.number, self.key)

    def shown(self, row: Row) -> Any:
        return shown(row.item, self.paths)


def shown(item: bytes, paths: tuple[Path, ...] | None) -> Any:
    """The item for the answer, all of it or the parts asked for."""
    return orjson.Fragment(item) if paths is None else project(paths, orjson.loads(item))


_PROJECTING = frozenset(("ProjectionExpression", "AttributesToGet", "ExpressionAttributeNames"))


def wanted_paths(request: Request) -> tuple[Path, ...] | None:
    """The attributes to return; says what is wrong with the request's projection."""
    if _PROJECTING.isdisjoint(request):
        return None
    refuse_mixing(request, ("ProjectionExpression",), ("AttributesToGet",))
    given = placeholders(request, (), ("ProjectionExpression",))
    paths = read_paths(request, given)
    given.check_all_used()
    return paths


def read_of(tables: Catalog, request: Request) -> Read:
    key, _ = admit_item(request["Key"])
    paths = wanted_paths(request)
    table = find_table(tables, request["TableName"])
    return Read(table, key_bytes(table, key), paths)
