"""Items as a grid: table or index, filtered, page after page, each key recognised.

Any table of the store can be looked at, also one that no design knows. Must hold: places in page tokens are sealed,
since keys may name people; secrets are covered before anything is made of an item (secrets.py).
Elsewhere: filters as requests (item_filters.py), one item (item_pages.py), CSV files (csv_pages.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.code_targets import target_of
from tablewright.app.designs.designs import indexes_of
from tablewright.app.designs.diagrams import Owner, owner_of
from tablewright.app.designs.item_filters import (
    ATTRIBUTE_OPS,
    ATTRIBUTES,
    SORT_OPS,
    ReadKeys,
    filtered_request,
    partition_field,
    read_keys,
)
from tablewright.app.designs.item_grid import grid_of
from tablewright.app.designs.lookup import table_of
from tablewright.app.designs.secrets import covered
from tablewright.app.designs.table_writes import may_write
from tablewright.app.json_words import pretty
from tablewright.app.runtime import Runtime
from tablewright.client import CallRefused, units_of
from tablewright.design import Design, Query, Table
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import not_found
from tablewright.mapping.code_samples import samples
from tablewright.mapping.page_tokens import TokenCipher
from tablewright.pages.forms import Form, FormWrong, asked
from tablewright.pages.layout import Console
from tablewright.pages.lists import Listing, here
from tablewright.values import Value

_PAGE = 25
_AT_ONCE = 100
_MOST_READ = 2000
_TRAIL = 30
_FILTERS = (
    "index", "entity", "partition", "partition2", "partition3", "partition4", "sort_op", "sort", "sort_end",
    *(f"{letter}{number}" for number in range(1, ATTRIBUTES + 1) for letter in "aov"),
)  # fmt: skip


def add_browsing(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:

    @router.get("/items", dependencies=[Depends(allowed)])
    def items(request: Request, form: Annotated[Form, Depends(asked)]) -> Response:
        tables = table_names(runtime)
        name = form.get("table") or _first(runtime, tables)
        form = Form({**form.values, "table": name})
        found: dict[str, Any] | None = None
        keys: ReadKeys | None = None
        described: dict[str, Any] | None = None
        if name:
            described = describe(runtime, name)
            keys = keys_read(described, form)
            try:
                found = _browse(runtime, console, request, described, keys, form)
            except FormWrong as wrong:
                form = wrong.form
        return console.page(
            request, "designs/items.html", title="Items", form=form, tables=tables, described=described, found=found,
            entities=_entities(runtime, name), keys=keys, sort_ops=SORT_OPS, attribute_ops=ATTRIBUTE_OPS,
            attributes=ATTRIBUTES, partition_field=partition_field, asked=filters_of(form),
            is_filtered=any(form.get(each) for each in _FILTERS),
            may_write=may_write(console, request),
            has_attributes=any(form.get(f"a{number}") for number in range(1, ATTRIBUTES + 1)),
        )  # fmt: skip


def filters_of(form: Form) -> dict[str, str]:
    """The table and its filters, for the address of another page about the same items."""
    return {each: form.get(each) for each in ("table", *_FILTERS, "descending") if form.get(each)}


# --- tables ---


def table_names(runtime: Runtime) -> list[str]:
    """Every table of the store; of an endpoint, where others may have tables too, those of the designs."""
    if runtime.place.shared is None:
        names: list[str] = runtime.call("ListTables", {})["TableNames"]
        return names
    return [runtime.open_table(db, name) for design, db in runtime.designs.values() for name in design.tables]


def describe(runtime: Runtime, table: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = runtime.call("DescribeTable", {"TableName": table})["Table"]
    except CallRefused:
        raise not_found("NO_SUCH_TABLE", "There is no table of this name in the store.") from None
    return found


def key_names(schema: Sequence[Mapping[str, str]]) -> list[str]:
    """The hash half first, each half in its order."""
    halves = ("HASH", "RANGE")
    return [part["AttributeName"] for half in halves for part in schema if part["KeyType"] == half]


def key_letters(described: Mapping[str, Any]) -> dict[str, str]:
    """The types of the table's own key."""
    letters = {each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]}
    return {name: letters[name] for name in key_names(described["KeySchema"])}


def keys_read(described: Mapping[str, Any], form: Form) -> ReadKeys:
    """The key of the table, or of the index that the form names."""
    index = form.get("index")
    if not index:
        return read_keys(described, described["KeySchema"])
    found = next((each for each in indexes_of(described) if each["IndexName"] == index), None)
    if found is None:
        raise not_found("NO_SUCH_INDEX", f"{described['TableName']} has no index of this name.")
    return read_keys(described, found["KeySchema"])


def _first(runtime: Runtime, tables: Sequence[str]) -> str:
    designed = [runtime.open_table(db, t) for design, db in runtime.designs.values() for t in design.tables]
    return next((name for name in designed if name in tables), tables[0] if tables else "")


def _entities(runtime: Runtime, physical: str) -> list[str]:
    design, table = table_of(runtime, physical)
    return [shape.tag for shape in design.shapes if shape.table == table] if design else []


# --- a page of items ---


@dataclass(frozen=True, slots=True)
class Reader:
    """What is read, and how an item of it is recognised."""

    runtime: Runtime
    verb: str
    request: dict[str, Any]
    keys: tuple[str, ...]  # what says where an item is: the names of the table's and the index's key
    design: Design | None
    table: Table | None
    entity: str

    @property
    def is_sparse(self) -> bool:
        """Whether items are read that are not shown."""
        return bool(self.entity or "FilterExpression" in self.request)

    def owner(self, item: Mapping[str, Value]) -> Owner:
        return owner_of(self.design, self.table.name if self.table else self.request["TableName"], item)

    def covered(self, item: Mapping[str, Value]) -> dict[str, Value]:
        return covered(item, self.owner(item).shape, self.design, self.table)


@dataclass(frozen=True, slots=True)
class Part:
    """Items as stored, where the next are (None at the end), and what reading them took."""

    items: list[dict[str, Value]]
    end: dict[str, Value] | None
    units: float
    read: int


def reader_of(runtime: Runtime, described: Mapping[str, Any], keys: ReadKeys, form: Form) -> Reader:
    """What the filters of a form read; FormWrong if they do not fit."""
    design, table = table_of(runtime, described["TableName"])
    verb, request = filtered_request(described, keys, form, design, table)
    names = dict.fromkeys([*keys.names, *key_names(described["KeySchema"])])
    return Reader(runtime, verb, request, tuple(names), design, table, form.get("entity"))


def read_part(reader: Reader, start: dict[str, Value] | None, most: int, most_read: int = _MOST_READ) -> Part:
    """Up to `most` items; where some that are read are not shown, up to `most_read` are read for them."""
    taken: list[dict[str, Value]] = []
    units, read = 0.0, 0
    while True:
        limit = _AT_ONCE if reader.is_sparse else min(most - len(taken), _AT_ONCE)
        asked_for = {**reader.request, "Limit": limit, "ReturnConsumedCapacity": "TOTAL"}
        answer = reader.runtime.call(reader.verb, asked_for | ({"ExclusiveStartKey": start} if start else {}))
        units += sum(each.read for each in units_of(reader.verb, answer))
        read += answer["ScannedCount"]
        start = answer.get("LastEvaluatedKey")
        taken += [
            item for item in answer["Items"] if not reader.entity or reader.owner(item).name == reader.entity
        ]
        if len(taken) > most:  # more fitted than a page has: the next one begins behind its last
            taken = taken[:most]
            start = {name: taken[-1][name] for name in reader.keys}
        if start is None or len(taken) >= most or read >= most_read:
            return Part(taken, start, units, read)


def _browse(
    runtime: Runtime,
    console: Console,
    request: Request,
    described: Mapping[str, Any],
    keys: ReadKeys,
    form: Form,
) -> dict[str, Any]:
    physical = described["TableName"]
    reader = reader_of(runtime, described, keys, form)
    seal, binding = TokenCipher(runtime.secret), _binding(physical, form)
    subject, now = console.caller(request).subject, runtime.world.now()
    token = request.query_params.get("after")
    place: dict[str, Any] = seal.open(token, binding, subject, now) if token else {"at": None, "trail": []}
    part = read_part(reader, place["at"], _PAGE)

    def sealed(at: Any, trail: list[Any]) -> str:
        token = seal.close({"at": at, "trail": trail}, binding, subject, now, runtime.world.new_id())
        return here(request, after=token)

    trail = [*place["trail"], place["at"]][-_TRAIL:]
    listing: Listing[Any] = Listing(
        (),
        sealed(part.end, trail) if part.end else None,
        sealed(place["trail"][-1], place["trail"][:-1]) if place["trail"] else None,
        here(request, after=None) if token else None,
        part.units,
    )
    own = key_names(described["KeySchema"])
    shown = [(reader.covered(item), reader.owner(item)) for item in part.items]
    return {
        "listing": listing,
        "grid": grid_of(physical, own, keys.names, shown, is_whole=form.is_ticked("all")),
        "part": part,
        "verb": reader.verb,
        "request": pretty(reader.request),
        "samples": samples([(reader.verb, reader.request)], target_of(runtime)),
    }


def _binding(physical: str, form: Form) -> Query[Any]:
    """What a place in this list is good for: this table, this index, these filters."""
    name = f"browse {sorted(filters_of(form).items())}"
    return Query(name, Table("", physical, ""), None, (), (), (), False, False, _PAGE, _PAGE, {})
