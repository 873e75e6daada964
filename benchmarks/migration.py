"""Migrations: how many changes per second are applied while a writer continues, and how long an epoch takes to start.

    .venv/bin/python benchmarks/migration.py --records 1000 --keys 1000,100 --writes 50 --stream 20000

An engine in this process, its store in the temporary directory. The same backlog is applied once page by page,
as in production, and once record by record, without `handle_many`; only numbers of one run are comparable.
Must hold: the two tables are equal after each part, otherwise the result is discarded.
"""

import argparse
import itertools
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from tablewright import Engine
from tablewright.client import Call, embedded, retrying
from tablewright.design import Design
from tablewright.mapping import Db
from tablewright.mapping.migrate import (
    Migration,
    MigrationContext,
    TableVersion,
    advance,
    begin,
    follower,
    is_up_to_date,
    migration_context,
    verify,
)
from tablewright.values import Item


class Card(BaseModel):
    id: str
    text: str
    group: str


class Place(BaseModel):
    id: str
    group: str


def by_id(id: str) -> None: ...
def by_group(group: str, id: str) -> None: ...


def _design(name: str) -> Design:
    """A card; and in the new table a second item under its group, so that a change of group moves it."""
    design = Design(name)
    table = design.table(name, pk="PK", sk="SK", stream="NEW_AND_OLD_IMAGES")
    table.entity(Card, by_id, tag="card", pk="CARD#{id}", sk="CARD")
    table.entity(Place, by_group, tag="place", pk="GROUP#{group}", sk="AT#{id}")
    design.build()
    return design


OLD, NEW = _design("cards"), _design("new_cards")


def forward(item: Item) -> tuple[Item, ...]:
    group, id = item["group"], item["id"]
    place = {"PK": {"S": f"GROUP#{group['S']}"}, "SK": {"S": f"AT#{id['S']}"}, "group": group, "id": id}
    return item, place


def back(item: Item) -> tuple[Item, ...]:
    return (item,) if item["SK"] == {"S": "CARD"} else ()


def home(item: Item) -> Item:
    return {"PK": {"S": f"CARD#{item['id']['S']}"}, "SK": {"S": "CARD"}}


CARDS = Migration(
    "cards-2",
    TableVersion(OLD, OLD.tables["cards"]),
    TableVersion(NEW, NEW.tables["new_cards"]),
    forward,
    back,
    home=home,
)


@dataclass
class Store:
    """The old table, and how often anything was asked by who works at the migration."""

    call: Call
    asked: Counter[str]
    _number: Iterator[int]

    def write(self, keys: range) -> None:
        """A change of each of these cards, 25 at a time: another text, another group."""
        for start in range(keys.start, keys.stop, 25):
            some = [self._card(key) for key in range(start, min(start + 25, keys.stop))]
            puts = [{"PutRequest": {"Item": item}} for item in some]
            self.call("BatchWriteItem", {"RequestItems": {"cards": puts}})

    def _card(self, key: int) -> Item:
        number = next(self._number)
        values = {
            "PK": f"CARD#{key}",
            "SK": "CARD",
            "id": str(key),
            "text": f"{number}",
            "group": f"{number % 9}",
        }
        return {name: {"S": value} for name, value in values.items()}

    def context(self) -> MigrationContext:
        def counted(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            self.asked[verb] += 1
            return self.call(verb, request)

        return migration_context(counted, CARDS)


@contextmanager
def store(durability: str) -> Iterator[Store]:
    with (
        tempfile.TemporaryDirectory() as place,
        Engine.open(f"{place}/store", durability=durability) as engine,
    ):
        call = retrying(embedded(engine))
        Db(call, OLD).create_tables()
        yield Store(call, Counter(), itertools.count())


def catch_up(at: MigrationContext) -> int:
    """Run rounds until the copy is up to date; returns how many records were read."""
    read = 0
    while not (done := advance(at, "me")).is_idle or not is_up_to_date(at, at.state()):
        read += done.followed.read
    return read


@contextmanager
def background_writer(here: Store, keys: int, a_second: int) -> Iterator[None]:
    """Write cards at a steady rate from another thread."""
    stop, done = threading.Event(), 0

    def write() -> None:
        nonlocal done
        started = time.monotonic()
        while not stop.wait(max(0.0, started + done / a_second - time.monotonic())):
            here.write(range(done % keys, done % keys + 1))
            done += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def measure_follow(durability: str, records: int, keys: int, a_second: int, *, is_paged: bool) -> str:
    """How fast a backlog of changes is applied. The measurement is one round, including changes written during it."""
    with store(durability) as here:
        here.write(range(keys))
        at = here.context()
        at.plan()
        begin(at)
        catch_up(at)
        for _ in range(records // keys):
            here.write(range(keys))
        consumer = follower(at, at.state())
        if not is_paged:
            consumer._settings = replace(consumer._settings, handle_many=None)
        here.asked.clear()
        with background_writer(here, keys, a_second):
            started, cpu = time.monotonic(), time.process_time()
            read = consumer.run_once().read
            took, spent = time.monotonic() - started, time.process_time() - cpu
        asked = here.asked.copy()
        catch_up(at)
        assert verify(at, at.state()).is_right
    how = "by page" if is_paged else "by record"
    return (
        f"| {records} changes of {keys} keys, {how} | {read / took:.0f} | {1e6 * spent / read:.0f} "
        f"| {asked.total() / read:.2f} | {asked['TransactWriteItems'] / read:.2f} |"
    )


def measure_start(durability: str, stream: int) -> str:
    """How long an epoch takes until it is up to date, if the stream contains many older records."""
    keys = max(1, stream // 40)
    with store(durability) as here:
        for _ in range(stream // keys):
            here.write(range(keys))
        at = here.context()
        at.plan()
        start = time.monotonic()
        begin(at)
        read = catch_up(at)
        took = time.monotonic() - start
        assert verify(at, at.state()).is_right
    return f"an epoch over {keys} items and a stream of {stream} records: {took:.2f} s, {read} records read"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--keys", default="1000,100")
    parser.add_argument("--writes", type=int, default=50, help="writes a second beside it")
    parser.add_argument("--stream", type=int, default=20_000)
    parser.add_argument("--durability", choices=["durable", "relaxed"], default="durable")
    given = parser.parse_args()
    print("| | changes/s | cpu us/change | calls/change | transactions/change |\n|---|--:|--:|--:|--:|")
    for keys in map(int, given.keys.split(",")):
        for is_paged in (False, True):
            print(
                measure_follow(given.durability, given.records, keys, given.writes, is_paged=is_paged),
                flush=True,
            )
    print(measure_start(given.durability, given.stream))


if __name__ == "__main__":
    main()
