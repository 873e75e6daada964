"""Full pages from one partition or many: filtered items do not shorten them, shards are merged in order.

Must hold: a page has as many items as asked for unless it is the last; `more` is true only if another item is
really there. A place to go on from is the key of the last item given, for each partition.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from tablewright.design.requests import Query
from tablewright.mapping.read_requests import start_key
from tablewright.values import Item, Value, compare

# One request of a partition: its number, where to start, how many at most; the items and where it stopped.
ReadPartition: TypeAlias = Callable[
    [int, Mapping[str, Value] | None, int], tuple[Sequence[Item], Mapping[str, Value] | None]
]
# For each partition by its number: the key of the last item given. A partition without one starts at its beginning.
Positions: TypeAlias = dict[str, dict[str, Value]]

_LEAST_ASKED, _MOST_ASKED = 10, 1000
E_co = TypeVar("E_co", bound=BaseModel, covariant=True)


@dataclass(frozen=True, slots=True)
class Page(Generic[E_co]):
    """Some items, the token of the next page if there is one, and what reading them cost."""

    items: tuple[E_co, ...]
    next: str | None
    read_units: float


@dataclass(frozen=True, slots=True)
class Match(Generic[E_co]):
    """An item that a search found, and its score: by the index's distance, less is nearer, or more (DOT_PRODUCT)."""

    item: E_co
    score: float


def read_page(
    query: Query[Any], ask: ReadPartition, places: Positions, size: int
) -> tuple[list[Item], Positions | None]:
    """The items of a page and, if there are more, where to go on. Reads one item more than it gives, to know that."""
    streams = [
        _items(query, ask, number, places.get(str(number)), size + 1)
        for number in range(len(query.partitions))
    ]
    taken = list(islice(_merged(query, streams), size + 1))
    given = taken[:size]
    last = dict(given)  # of each partition the last that is given
    more = places | {str(number): start_key(query, item) for number, item in last.items()}
    return [item for _, item in given], more if len(taken) > size else None


def read_all(query: Query[Any], ask: ReadPartition, at_a_time: int) -> Iterator[Item]:
    """All items, in order, as they are wanted."""
    streams = [_items(query, ask, number, None, at_a_time) for number in range(len(query.partitions))]
    return (item for _, item in _merged(query, streams))


def _items(
    query: Query[Any], ask: ReadPartition, number: int, start: Mapping[str, Value] | None, want: int
) -> Iterator[tuple[int, Item]]:
    missing, limit = want, want
    while True:
        items, start = ask(number, start, limit)
        for item in items:
            yield number, item
        if start is None:
            return
        missing -= len(items)
        # Enough items were returned and the caller reads on, or most were filtered out: then read more at a time.
        limit = want if missing <= 0 else min(max(limit * 2, _LEAST_ASKED), _MOST_ASKED)


def _merged(query: Query[Any], streams: list[Iterator[tuple[int, Item]]]) -> Iterator[tuple[int, Item]]:
    if len(streams) == 1:
        return streams[0]
    names = query.index.sk if query.index is not None else query.table.key_names[1:]

    def order(one: tuple[int, Item], other: tuple[int, Item]) -> int:
        for name in names:
            difference = compare(one[1][name], other[1][name])
            if difference:
                return difference
        return one[0] - other[0] if not query.descending else other[0] - one[0]

    return heapq.merge(*streams, key=cmp_to_key(order), reverse=query.descending)
