"""A small table to be migrated, and what the tests of migrations need around it.

A card has a text and perhaps a group. In the new form the text is a `title`, and a card with a group has a second item,
under its group: its key goes with what the card says, so a change of group moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel

from tablewright import Engine, testing
from tablewright.client import Call, embedded, pages
from tablewright.design import Backups, Design, Environment
from tablewright.mapping.migrate import Migration, MigrationContext, TableVersion, migration_context, routed
from tablewright.testing import Clock
from tablewright.values import Item

START = datetime(2040, 1, 1, 12, tzinfo=UTC)


class Card(BaseModel):
    id: str
    text: str = ""
    group: str | None = None
    count: int = 0
    extra: str | None = None


class NewCard(BaseModel):
    id: str
    title: str = ""
    group: str | None = None
    count: int = 0
    extra: str | None = None


class Place(BaseModel):
    id: str
    group: str
    title: str = ""


def by_id(id: str) -> None: ...
def by_group(group: str, id: str) -> None: ...


old = Design("cards")
old.environment(
    Environment(
        "prod", "us-east-1", pitr_days=35, backups=Backups("rate(1 day)", 30, "cards", copy_to="us-west-2")
    )
)
old_cards = old.table("cards", pk="PK", sk="SK", ttl="expires", stream="NEW_AND_OLD_IMAGES").entity(
    Card, by_id, tag="card", pk="CARD#{id}", sk="CARD"
)
old.build()
new = Design("new_cards")
_new_table = new.table("new_cards", pk="PK", sk="SK", ttl="expires", stream="NEW_AND_OLD_IMAGES")
new_cards = _new_table.entity(NewCard, by_id, tag="card", pk="CARD#{id}", sk="CARD")
places = _new_table.entity(Place, by_group, tag="place", pk="GROUP#{group}", sk="AT#{id}")
new.build()


def forward(item: Item) -> tuple[Item, ...]:
    main = {name: value for name, value in item.items() if name != "text"}
    if "text" in item:
        main["title"] = item["text"]
    if "group" not in item:
        return (main,)
    group, id = item["group"], item["id"]
    place = {"PK": {"S": f"GROUP#{group['S']}"}, "SK": {"S": f"AT#{id['S']}"}, "group": group, "id": id}
    place |= {name: main[name] for name in ("title", "expires") if name in main}
    return main, place


def back(item: Item) -> tuple[Item, ...]:
    if item["SK"]["S"] != "CARD":
        return ()
    made = {name: value for name, value in item.items() if name != "title"}
    if "title" in item:
        made["text"] = item["title"]
    return (made,)


def home(item: Item) -> Item:
    return {"PK": {"S": f"CARD#{item['id']['S']}"}, "SK": {"S": "CARD"}}


CARDS = Migration(
    "cards-2",
    TableVersion(old, old_cards.shape.table),
    TableVersion(new, new_cards.shape.table),
    forward,
    back,
    home=home,
)
Key = Mapping[str, Any]


def key(id: str) -> Item:
    return {"PK": {"S": f"CARD#{id}"}, "SK": {"S": "CARD"}}


def card(id: str, text: str = "", group: str | None = None, **more: Any) -> Item:
    """A card in the old form."""
    item: Item = {**key(id), "id": {"S": id}, "text": {"S": text}, **more}
    return item | ({"group": {"S": group}} if group else {})


@dataclass
class At:
    """A store with cards, a clock, and benches, each over a Call of its own if wanted."""

    engine: Engine
    call: Call
    clock: Clock
    naps: list[float] = field(default_factory=list)

    def nap(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.clock.move(timedelta(seconds=seconds))

    def context(self, call: Call | None = None) -> MigrationContext:
        steady = lambda: self.clock.now().timestamp()  # noqa: E731
        return migration_context(
            call or self.call, CARDS, world=self.clock.world(), steady=steady, sleep=self.nap
        )

    def program(self, call: Call | None = None, sleep: Callable[[float], None] | None = None) -> Call:
        """What a program has: the table by its old name, whichever side is open."""
        steady = lambda: self.clock.now().timestamp()  # noqa: E731
        return routed(
            call or self.call, CARDS, world=self.clock.world(), steady=steady, sleep=sleep or self.nap
        )

    def put(self, *items: Item, table: str = "cards") -> None:
        for item in items:
            self.call("PutItem", {"TableName": table, "Item": item})

    def remove(self, id: str, table: str = "cards") -> None:
        self.call("DeleteItem", {"TableName": table, "Key": key(id)})

    def items(self, table: str) -> dict[tuple[str, str], Item]:
        found = [item for page in pages(self.call, "Scan", {"TableName": table}) for item in page["Items"]]
        return {(item["PK"]["S"], item["SK"]["S"]): item for item in found}

    def wanted(self) -> dict[tuple[str, str], Item]:
        """What the new table should hold."""
        made = [one for item in self.items("cards").values() for one in forward(item)]
        return {(item["PK"]["S"], item["SK"]["S"]): item for item in made}

    @property
    def is_copied(self) -> bool:
        return self.items("new_cards") == self.wanted()


@contextmanager
def opened(engine: Engine | None = None) -> Iterator[At]:
    clock = Clock(START)
    with testing.engine(world=clock.world()) as own:
        call = embedded(own)
        at = At(own, call, clock)
        from tablewright.mapping import Db

        Db(call, old, world=clock.world()).create_tables()
        yield at
