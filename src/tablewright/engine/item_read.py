"""Reading one item by its key, for GetItem, BatchGetItem and TransactGetItems.

Must hold: an item that is returned whole is never parsed; its stored JSON is copied into the answer.
"""

from typing import Any, NamedTuple

import orjson

from tablewright.engine.api.arguments import placeholders, read_paths, refuse_mixing
from tablewright.engine.api.shapes import Request
from tablewright.engine.catalog import Table
from tablewright.engine.storage.rows import Row, RowReader
from tablewright.expressions import Path, project


class ItemRead(NamedTuple):
    table: Table
    key: bytes
    paths: tuple[Path, ...] | None

    def row(self, rows: RowReader) -> Row | None:
        return rows.get(self.table.number, self.key)

    def project(self, row: Row) -> Any:
        return projected(row.item, self.paths)


def projected(item: bytes, paths: tuple[Path, ...] | None) -> Any:
    """The item for the answer: the whole item, or the requested paths."""
    return orjson.Fragment(item) if paths is None else project(paths, orjson.loads(item))


_PROJECTING = frozenset(("ProjectionExpression", "AttributesToGet", "ExpressionAttributeNames"))


def wanted_paths(request: Request) -> tuple[Path, ...] | None:
    """The paths to return, None for all; raises for a wrong projection."""
    if _PROJECTING.isdisjoint(request):
        return None
    refuse_mixing(request, ("ProjectionExpression",), ("AttributesToGet",))
    given = placeholders(request, (), ("ProjectionExpression",))
    paths = read_paths(request, given)
    given.check_all_used()
    return paths
