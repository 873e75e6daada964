"""What the tests of this room need to see a table as it is, behind the mapping's back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from tests import places
from tests.mapping.shop import shop

from tablewright import Engine
from tablewright.client import Call
from tablewright.mapping import Db
from tablewright.testing import Clock

Item = dict[str, Any]
R = TypeVar("R")


@dataclass(frozen=True)
class Shop:
    """A Db of the shop and what lies around it."""

    db: Db
    call: Call
    clock: Clock
    engine: Engine | None
    secret: bytes

    def again(self) -> Db:
        """Another Db on the same tables, as after a restart of the program."""
        return Db(
            self.call, shop, world=self.clock.world(), secret=self.secret, environment=self.db.environment
        )


def scan(at: Shop, table: str = "shop") -> list[Item]:
    """Every item of a table, whoever wrote it."""
    return places.scan(at.db, at.call, table)


def stored(at: Shop, key: Mapping[str, Any], table: str = "shop") -> Item | None:
    """One item as it lies there."""
    request = {"TableName": at.db.physical(table), "Key": key, "ConsistentRead": True}
    item: Item | None = at.call("GetItem", request).get("Item")
    return item


def guards(at: Shop) -> dict[str, str]:
    """The guards of the shop: the partition key of each, and that of its owner."""
    return {
        item["PK"]["S"]: item["owner"]["M"]["PK"]["S"] for item in scan(at) if item["SK"]["S"] == "UNIQUE"
    }


def everything(at: Shop) -> dict[str, list[Item]]:
    """All tables with all items, to compare before and after."""
    return places.everything(at.db, at.call, shop)


def at_once(work: Iterable[Callable[[], R]], threads: int) -> list[R]:
    """Run all of it on so many threads; the first error is raised."""
    with ThreadPoolExecutor(threads) as pool:
        return [future.result() for future in [pool.submit(one) for one in work]]
