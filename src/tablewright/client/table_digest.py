"""The digest of a table's items: equal for equal tables, in whichever order and by however many segments they are read.

The sum of the hashes of all items, modulo 2**128. An item is hashed in one spelling: numbers in plain decimal, sets and
attributes sorted. Keys are unique, so no item is counted twice, and a sum needs no memory that grows with the table.
Must hold: reads are consistent; items whose time to live has passed are left out, because the service deletes them
when it likes.
Elsewhere: which items differ (comparison.py).
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from hashlib import blake2b
from typing import Any

import orjson

from tablewright.client.call import Call
from tablewright.client.paging import pages
from tablewright.values import admit_item

_MODULUS = 1 << 128


@dataclass(frozen=True, slots=True)
class Expiry:
    """The attribute with the time to live, and the time up to which items count as expired, in seconds since 1970."""

    attribute: str
    until: float

    def has_passed(self, item: Mapping[str, Any]) -> bool:
        number = (item.get(self.attribute) or {}).get("N")
        try:
            return number is not None and Decimal(number) <= Decimal(self.until)
        except InvalidOperation:
            return False


@dataclass(frozen=True, slots=True)
class TableDigest:
    """How many items there are, and the sum of their hashes."""

    items: int = 0
    total: int = 0

    def __add__(self, other: "TableDigest") -> "TableDigest":
        return TableDigest(self.items + other.items, (self.total + other.total) % _MODULUS)

    @property
    def text(self) -> str:
        return f"{self.total:032x}"


def digest_of_items(items: Iterable[Mapping[str, Any]]) -> TableDigest:
    found = TableDigest()
    for item in items:
        found += TableDigest(1, _hash(item))
    return found


def table_digest(call: Call, table: str, *, segments: int = 1, expiry: Expiry | None = None) -> TableDigest:
    """Read a whole table, by so many segments at once."""

    def of_segment(number: int) -> TableDigest:
        request: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
        if segments > 1:
            request |= {"Segment": number, "TotalSegments": segments}
        found = TableDigest()
        for page in pages(call, "Scan", request):
            items = page["Items"]
            found += digest_of_items(one for one in items if expiry is None or not expiry.has_passed(one))
        return found

    if segments == 1:
        return of_segment(0)
    with ThreadPoolExecutor(segments) as pool:
        return sum(pool.map(of_segment, range(segments)), TableDigest())


def _hash(item: Mapping[str, Any]) -> int:
    spelled = orjson.dumps(admit_item(dict(item))[0], option=orjson.OPT_SORT_KEYS)
    return int.from_bytes(blake2b(spelled, digest_size=16).digest())
