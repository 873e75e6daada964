"""What a table stores after some months, by the design's own figures. Pure.

Items are as many as are made in a month, for as long as they are kept: till their retention is over, or for all the
months. What is billed of each is its size and 100 bytes, 148 where there are replicas, in the table and once more in
each index that holds it.
Must hold: what the design does not say is assumed as the worse, and `assumed` says what was; an entity without
a stated number of creations is listed as not counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

from tablewright.design.cost.calls import GUARD_BYTES, RECEIPT_BYTES, RECEIPTS, items_per_month
from tablewright.design.cost.format import count, gigabytes, total, with_unit
from tablewright.design.design import Design
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.traits import Load
from tablewright.english import join_words

OVERHEAD, REPLICATED = 100, 148
_MONTH = timedelta(days=30)
# The share of such writes that make a new item, where the design says nothing.
_NEW = {"create": 1, "put": 1, "upsert": 1}


@dataclass(frozen=True, slots=True)
class StoredItems:
    """Items of an entity that are there, or their guards or receipts; `expiring` a month expire."""

    name: str
    table: str
    items: Decimal
    item_bytes: int
    indexes: tuple[str, ...]
    how: str
    assumed: tuple[str, ...] = ()
    expiring: Decimal = Decimal()
    overhead: int = OVERHEAD

    @property
    def bytes_in_table(self) -> Decimal:
        """Bytes in the table itself."""
        return self.items * (self.item_bytes + self.overhead)

    @property
    def total_bytes(self) -> Decimal:
        """Bytes in the table and its indexes."""
        return self.bytes_in_table * (1 + len(self.indexes))


def stored_items(
    design: Design, months: int, times: Decimal = Decimal(1), *, overhead: int = OVERHEAD
) -> tuple[StoredItems, ...]:
    found = (stored for shape in design.shapes for stored in _of(shape, months, times))
    return tuple(replace(stored, overhead=overhead) for stored in found)


def _of(shape: EntitySpec, months: int, times: Decimal) -> Iterator[StoredItems]:
    yield from _items(shape, months, times)
    for verb, load in shape.load.items():
        if load.once:
            made = items_per_month(load, times)
            how = f"{count(made)} a month (kept for 30 days) = {count(made)} items"
            expiring = made if months > 1 else Decimal()
            name = f"receipts of {shape.tag}.{verb}"
            yield StoredItems(name, RECEIPTS, made, RECEIPT_BYTES, (), how, expiring=expiring)


def _items(shape: EntitySpec, months: int, times: Decimal) -> Iterator[StoredItems]:
    makers = {verb: load for verb, load in shape.load.items() if _share(verb, load)}
    if not makers:
        if set(shape.load) - {"get"}:
            how = "how many are made is not said: not counted"
            yield StoredItems(shape.tag, shape.table.name, Decimal(), 0, (), how)
        return
    made = total(items_per_month(load, times) * _share(verb, load) for verb, load in makers.items())
    ended = items_per_month(shape.load["delete"], times) if "delete" in shape.load else Decimal()
    stored, why = _months(shape, months)
    items = max(made - ended, Decimal()) * stored
    load = max(makers.values(), key=lambda each: each.item_bytes)
    indexes = tuple(index.name for index in shape.on if load.indexes is None or index.name in load.indexes)
    assumed = [
        f"each {verb} makes an item that was not there"
        for verb, each in makers.items()
        if each.new is None and verb != "create"
    ]
    less = f" less {count(ended)} deleted" if ended else ""
    how = f"{count(made)} new a month{less} x {with_unit(stored, 'month')} ({why}) = {count(items)} items"
    expiring = made if shape.expires is not None and stored < months else Decimal()
    table = shape.table.name
    yield StoredItems(shape.tag, table, items, load.item_bytes, indexes, how, tuple(assumed), expiring)
    for guard in shape.guards:
        name = f"guards of {shape.tag}.{guard.unique.name}"
        gone = expiring if guard.table.ttl is not None else Decimal()
        yield StoredItems(name, guard.table.name, items, GUARD_BYTES, (), how, (), gone)


def _share(verb: str, load: Load) -> Decimal:
    return Decimal(str(_NEW.get(verb, 0) if load.new is None else load.new))


def _months(shape: EntitySpec, months: int) -> tuple[Decimal, str]:
    """For how many of the months an item is there, and why."""
    period = shape.retention.period if shape.retention is not None else None
    if period is None and shape.retention is None and shape.expires is not None and shape.expires.after:
        period = shape.expires.after
    if period is None:
        return Decimal(months), "never deleted"
    stored = Decimal(period // timedelta(seconds=1)) / Decimal(_MONTH // timedelta(seconds=1))
    if stored <= months:
        return stored, f"kept for {_period(period)}"
    return Decimal(months), f"of the {_period(period)} it is kept"


def _period(period: timedelta) -> str:
    seconds = int(period.total_seconds())
    units = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}
    unit = next((u for u, length in units.items() if seconds and not seconds % length), "second")
    return with_unit(seconds // units[unit], unit)


def storage_formula(stored: StoredItems) -> str:
    """The arithmetic from items to bytes, as a sentence."""
    places = f" in the table and in {join_words(stored.indexes)}" if stored.indexes else ""
    each = f"({count(stored.item_bytes)} + {stored.overhead} bytes)"
    return f"{stored.how} x {each}{places} = {gigabytes(stored.total_bytes)}"
