"""The items of a table in two regions, compared key by key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from tablewright.engine.engine import Engine
from tablewright.engine.transaction import ReadTransaction
from tablewright.values import Item

COMPARED = 1000


@dataclass(frozen=True, slots=True)
class Comparison:
    """The items of a table in two regions: how many each has, and the keys that differ."""

    table: str
    regions: tuple[str, str]
    items: tuple[int, int]
    different: Sequence[Item]


def compare(first: Engine, second: Engine, name: str) -> Comparison:
    """Compare the items of a table in two regions; what is written at the same time may show as a difference."""
    one, two = dict(_all_items(first, name)), dict(_all_items(second, name))
    keys = [key for key in sorted({*one, *two}) if one.get(key) != two.get(key)]
    schema = first.tables[name].schema.names
    different = [{part: (one.get(key) or two[key])[part] for part in schema} for key in keys]
    return Comparison(name, (first.place.region, second.place.region), (len(one), len(two)), different)


def _all_items(engine: Engine, name: str) -> Iterator[tuple[bytes, Mapping[str, Any]]]:
    number, after = engine.tables[name].number, b""
    while True:
        page = engine.session.read(partial(_page, number=number, after=after))
        yield from ((key, orjson.loads(item)) for key, item in page)
        if len(page) < COMPARED:
            return
        after = page[-1][0]


def _page(txn: ReadTransaction, number: int, after: bytes) -> list[tuple[bytes, bytes]]:
    return txn.rows.items_after(number, after, COMPARED)
