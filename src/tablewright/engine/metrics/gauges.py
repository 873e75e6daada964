"""Gauges: items, bytes, and provisioned or allowed units, as they are now."""

from collections.abc import Iterator

from tablewright.engine.catalog import Catalog, Index, Table
from tablewright.engine.metrics.names import (
    ITEM_COUNT,
    MOST_ON_DEMAND_READ,
    MOST_ON_DEMAND_WRITE,
    PROVISIONED_READ,
    PROVISIONED_WRITE,
    SIZE_BYTES,
)
from tablewright.engine.metrics.store import Series
from tablewright.engine.storage.rows import RowReader, index_name, table_name


def gauges(rows: RowReader, tables: Catalog) -> Iterator[tuple[Series, float]]:
    """The gauges of each table and index."""
    for table in tables.values():
        yield from _gauges_of(rows, table, None)
        for index in table.indexes:
            yield from _gauges_of(rows, table, index)


def _gauges_of(rows: RowReader, table: Table, index: Index | None) -> Iterator[tuple[Series, float]]:
    owner = table_name(table.number) if index is None else index_name(table.number, index.number)
    name = "" if index is None else index.name
    items, size = rows.counts(owner)
    yield Series(ITEM_COUNT, table.name, name), float(items)
    yield Series(SIZE_BYTES, table.name, name), float(size)
    for metric, value in _settings(table, index or table):
        yield Series(metric, table.name, name), float(value)


def _settings(table: Table, owner: Table | Index) -> Iterator[tuple[str, int]]:
    if isinstance(owner, Index) and owner.local:
        return
    if table.billing == "PROVISIONED":
        yield PROVISIONED_READ, owner.throughput.read
        yield PROVISIONED_WRITE, owner.throughput.write
        return
    most = owner.on_demand or {}
    for metric, member in (
        (MOST_ON_DEMAND_READ, "MaxReadRequestUnits"),
        (MOST_ON_DEMAND_WRITE, "MaxWriteRequestUnits"),
    ):
        if most.get(member, -1) > 0:
            yield metric, most[member]
