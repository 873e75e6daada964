"""A table in which an album is one item with a list of pages; in the new one it is a header and an item for each page.

The new table also holds albums that were never in the old one. A page's text is stored with a random prefix, as a
sealed text would be: equal pages may be stored differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any

from pydantic import BaseModel
from tests.mapping.migrate.cards import START

from tablewright import Engine, testing
from tablewright.client import Call, embedded, pages
from tablewright.design import Design
from tablewright.mapping import Db
from tablewright.mapping.migrate import Group, Migration, MigrationContext, TableVersion, migration_context
from tablewright.testing import Clock
from tablewright.values import Item

Key = dict[str, dict[str, Any]]


class Album(BaseModel):
    id: str
    pages: list[str] = []


class Header(BaseModel):
    id: str
    count: int
    old_id: str | None = None


class Page(BaseModel):
    id: str
    number: int
    text: str


def by_id(id: str) -> None: ...
def by_number(id: str, number: int) -> None: ...


old = Design("albums")
_old_table = old.table("albums", pk="id", stream="NEW_AND_OLD_IMAGES")
_old_table.entity(Album, by_id, tag="album", pk="{id}")
old.build()
new = Design("new_albums")
_new_table = new.table("new_albums", pk="PK", sk="SK", stream="NEW_AND_OLD_IMAGES")
headers = _new_table.entity(Header, by_id, tag="header", pk="ALBUM#{id}", sk="HEADER")
album_pages = _new_table.entity(Page, by_number, tag="page", pk="ALBUM#{id}", sk="PAGE#{number:4}")
new.build()

_prefixes = count()


def sealed(text: str) -> str:
    return f"{next(_prefixes)}|{text}"


def page_item(id: str, number: int, text: str) -> Item:
    return {
        "PK": {"S": f"ALBUM#{id}"},
        "SK": {"S": f"PAGE#{number:04}"},
        "id": {"S": id},
        "number": {"N": str(number)},
        "text": {"S": text},
    }


def header_item(id: str, how_many: int, old_id: str | None = None) -> Item:
    item: Item = {"PK": {"S": f"ALBUM#{id}"}, "SK": {"S": "HEADER"}, "id": {"S": id}}
    return item | {"count": {"N": str(how_many)}} | ({"old_id": {"S": old_id}} if old_id else {})


def forward(item: Item) -> tuple[Item, ...]:
    old_id, texts = item["id"]["S"], [one["S"] for one in item["pages"]["L"]]
    id = f"new-{old_id}"
    return (header_item(id, len(texts), old_id), *(page_item(id, n, text) for n, text in enumerate(texts)))


def back(header: Item, *parts: Item) -> tuple[Item, ...]:
    if "old_id" not in header:
        return ()
    texts = [part["text"]["S"].partition("|")[2] for part in parts]
    return ({"id": header["old_id"], "pages": {"L": [{"S": text} for text in texts]}},)


def stored(item: Item) -> Item:
    return item | ({"text": {"S": sealed(item["text"]["S"])}} if "text" in item else {})


def plain(item: Item) -> Item:
    return item | ({"text": {"S": item["text"]["S"].partition("|")[2]}} if "text" in item else {})


def _anchor(item: Mapping[str, Any]) -> Key | None:
    if not str(item["PK"]["S"]).startswith("ALBUM#"):
        return None
    return {"PK": item["PK"], "SK": {"S": "HEADER"}}


GROUP = Group(
    anchor=_anchor,
    parts=lambda header: [(header["PK"]["S"], "PAGE#")] if "old_id" in header else [],
    home=lambda header: {"id": header["old_id"]} if "old_id" in header else None,
)
ALBUMS = Migration(
    "albums-2",
    TableVersion(old, _old_table.table),
    TableVersion(new, _new_table.table, shared=True),
    forward,
    back,
    group=GROUP,
    plain=plain,
    stored=stored,
    keys=lambda item: [{"PK": one["PK"], "SK": one["SK"]} for one in forward(item)],
)


@dataclass
class Shelf:
    """A store with albums in both tables, and a clock."""

    engine: Engine
    call: Call
    clock: Clock

    def nap(self, seconds: float) -> None:
        self.clock.move(timedelta(seconds=seconds))

    def context(self) -> MigrationContext:
        steady = lambda: self.clock.now().timestamp()  # noqa: E731
        return migration_context(self.call, ALBUMS, world=self.clock.world(), steady=steady, sleep=self.nap)

    def album(self, id: str, *texts: str) -> None:
        self.call(
            "PutItem",
            {
                "TableName": "albums",
                "Item": {"id": {"S": id}, "pages": {"L": [{"S": text} for text in texts]}},
            },
        )

    def append_old(self, id: str, text: str) -> None:
        self.call(
            "UpdateItem",
            {
                "TableName": "albums",
                "Key": {"id": {"S": id}},
                "UpdateExpression": "SET #p = list_append(#p, :p)",
                "ConditionExpression": "attribute_exists(id)",
                "ExpressionAttributeNames": {"#p": "pages"},
                "ExpressionAttributeValues": {":p": {"L": [{"S": text}]}},
            },
        )

    def append_new(self, id: str, text: str) -> None:
        """A page more, and its header, in one transaction."""
        header = self.new()[f"ALBUM#{id}", "HEADER"]
        number = int(header["count"]["N"])
        changed = header | {"count": {"N": str(number + 1)}}
        items = (changed, stored(page_item(id, number, text)))
        actions = [{"Put": {"TableName": "new_albums", "Item": item}} for item in items]
        self.call("TransactWriteItems", {"TransactItems": actions})

    def put_new(self, *items: Item) -> None:
        for item in items:
            self.call("PutItem", {"TableName": "new_albums", "Item": stored(item)})

    def old(self) -> dict[str, list[str]]:
        return {item["id"]["S"]: [page["S"] for page in item["pages"]["L"]] for item in self._items("albums")}

    def new(self) -> dict[tuple[str, str], Item]:
        return {(item["PK"]["S"], item["SK"]["S"]): plain(item) for item in self._items("new_albums")}

    def texts(self, id: str) -> list[str]:
        return [
            str(item["text"]["S"])
            for (album, place), item in sorted(self.new().items())
            if album == f"ALBUM#{id}" and place != "HEADER"
        ]

    def _items(self, table: str) -> list[Item]:
        return [item for page in pages(self.call, "Scan", {"TableName": table}) for item in page["Items"]]


@contextmanager
def shelf() -> Iterator[Shelf]:
    clock = Clock(START)
    with testing.engine(world=clock.world()) as engine:
        call = embedded(engine)
        Db(call, old, new, world=clock.world()).create_tables()
        yield Shelf(engine, call, clock)
