"""Laws of keys: no two owners of one key, no two values of one text, an order that is the values' order.

Each law is checked against plain Python values, never against the room's own reasoning about templates.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from inspect import Parameter, Signature
from typing import Any, Literal
from uuid import UUID

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, JsonValue, create_model
from tests.properties.effort import effort

from tablewright.design import (
    Design,
    DesignRefused,
    Expires,
    IndexKeyNeedsTheItem,
    Keys,
    Query,
    Unique,
    above,
    at_least,
    at_most,
    below,
    between,
    normalised,
)
from tablewright.design.attributes import decode_values, encode_item
from tablewright.design.key_codecs import codec
from tablewright.design.patterns import Sort
from tablewright.design.requests import SortTest
from tablewright.values import admit_item

TEXT = st.characters(exclude_categories=["Cs"])
# Texts in which the delimiter, its escape and what looks like one are frequent, and case and accents vary.
ODD = st.lists(
    st.one_of(st.sampled_from(["#", "%", "%23", "%25", "##", "$", '"', "a", "A", "é", "e\u0301", " ", "İ", "ß", "0"]),
              st.text(TEXT, min_size=1, max_size=2)),
    min_size=1, max_size=4,
).map("".join)  # fmt: skip
TIMES = st.datetimes(
    datetime(1000, 1, 2),
    datetime(9999, 12, 30),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7))]),
)
# What is stored is cut to the millisecond.
STORED_TIMES = TIMES.map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000))
DATES = st.dates(date(1000, 1, 1))
MONEY = st.decimals(0, 99_999_999, places=2)


# --- one key, one owner, one tuple ---


class Member(BaseModel):
    club: str
    email: str
    number: int
    joined: datetime
    nick: str | None = None


class Note(BaseModel):
    club: str
    day: date
    title: str


def member_key(club: str, number: int) -> None: ...


def note_key(club: str, day: date, title: str) -> None: ...


clubs = Design("clubs")
table = clubs.table("clubs", pk="PK", sk="SK")
members = table.entity(
    Member,
    member_key,
    tag="member",
    pk="CLUB#{club}",
    sk="MEMBER#{number:6}",
    unique=[
        Unique("email", "{email:lower}"),
        Unique("nick", "{club}#{nick}", pk="NICK#{club}", sk="{nick}"),
        Unique("joined", "{club}#{joined:us}"),
    ],
)
notes = table.entity(Note, note_key, tag="note", pk="CLUB#{club}", sk="NOTE#{day}#{title}")
clubs.build()

# The identity of what lies at a key: who owns it, and the values that make it, normalised where that is declared.
Identity = tuple[str, tuple[object, ...]]
MEMBERS = st.builds(
    Member, club=ODD, email=ODD, number=st.integers(0, 999_999), joined=TIMES, nick=st.none() | ODD
)
NOTES = st.builds(Note, club=ODD, day=DATES, title=ODD)


def places(item: Member | Note) -> dict[Identity, dict[str, Any]]:
    """Every key an item takes: its own and those of its guards."""
    if isinstance(item, Note):
        return {("note", (item.club, item.day, item.title)): notes.shape.key_of(item.__dict__)}
    found: dict[Identity, dict[str, Any]] = {
        ("member", (item.club, item.number)): members.shape.key_of(item.__dict__)
    }
    identities: list[tuple[object, ...]] = [
        (normalised(item.email),),
        (item.club, item.nick),
        (item.club, item.joined),
    ]
    for guard, identity in zip(members.shape.guards, identities, strict=True):
        key = guard.key(item.__dict__)
        if key is not None:
            found[f"guard {guard.unique.name}", identity] = key
    return found


@effort(300)
@given(st.lists(MEMBERS | NOTES, min_size=2, max_size=5))
def test_two_different_tuples_never_render_to_one_key_across_entities_and_guards(
    items: list[Member | Note],
) -> None:
    assume(all(normalised(item.email) for item in items if isinstance(item, Member)))
    owners: dict[tuple[str, str], Identity] = {}
    for item in items:
        for identity, key in places(item).items():
            rendered = (key["PK"]["S"], key["SK"]["S"])
            assert owners.setdefault(rendered, identity) == identity


@effort(300)
@given(ODD, ODD, ODD, ODD)
@example("a", "b#c", "a#b", "c")
@example("a%23b", "x", "a#b", "x")
def test_neighbours_never_run_into_each_other(a: str, b: str, c: str, d: str) -> None:
    one, other = (
        notes.shape.key_of({"club": x, "day": date(2026, 1, 1), "title": y}) for x, y in ((a, b), (c, d))
    )
    assert (one == other) == ((a, b) == (c, d))


@effort(300)
@given(ODD, ODD)
def test_a_normalised_part_is_equal_exactly_where_the_normalised_texts_are(a: str, b: str) -> None:
    assume(normalised(a) and normalised(b))
    lower = codec("lower").encode
    assert (lower(a) == lower(b)) == (normalised(a) == normalised(b))
    assert normalised(normalised(a)) == normalised(a)


@effort(300)
@given(ODD)
def test_upper_case_is_its_own_upper_case(text: str) -> None:
    assume(text.strip())
    once = codec("upper").encode(text)
    assert once is not None
    plain = once.replace("%23", "#").replace("%25", "%")
    assert codec("upper").encode(plain) == once


# --- random templates ---

# Texts that are easily one when they are joined.
SHORT = st.sampled_from(["A", "AA", "AAA"])
FIELDS: dict[str, tuple[Any, tuple[str, ...], st.SearchStrategy[Any]]] = {
    "text": (str, ("{text}", "{text:hash.8}"), SHORT | ODD),
    "word": (str, ("{word}",), SHORT | st.text("AB#0123", min_size=1, max_size=3)),
    "number": (int, ("{number:3}", "{number:4}"), st.integers(0, 999)),
    "kind": (Literal["A", "B#"], ("{kind}",), st.sampled_from(["A", "B#"])),
    "day": (date, ("{day}",), DATES),
    "on": (bool, ("{on:bool}",), st.booleans()),
    "price": (Decimal, ("{price:8.2}",), MONEY),
}
PARTS = [part for _, parts, _ in FIELDS.values() for part in parts]
# Literals that parts could render to as well, or begin with.
LITERALS = ["A", "B", "AB", "A#", "#", "B#A", "true", "000", "X"]
TEMPLATES = st.lists(st.sampled_from([*PARTS, *LITERALS]), min_size=1, max_size=5).map("".join)
ROWS = st.fixed_dictionaries({name: values for name, (_, _, values) in FIELDS.items()})
DEFINITIONS: dict[str, Any] = {name: (kind, ...) for name, (kind, _, _) in FIELDS.items()}
Row: type[BaseModel] = create_model("Row", **DEFINITIONS)


def key_function(*templates: str) -> Callable[..., None]:
    """A function with the parameters that templates ask for."""
    names = [name for name in FIELDS if any(f"{{{name}" in template for template in templates)]

    def function(**_: object) -> None: ...

    function.__signature__ = Signature(  # type: ignore[attr-defined]  # read by inspect.signature
        [Parameter(name, Parameter.KEYWORD_ONLY, annotation=FIELDS[name][0]) for name in names]
    )
    return function


@effort(500)
@given(
    st.lists(st.tuples(TEMPLATES, TEMPLATES), min_size=2, max_size=4), st.lists(ROWS, min_size=2, max_size=4)
)
def test_entities_that_pass_the_rules_together_never_share_a_key(
    templates: list[tuple[str, str]], rows: list[dict[str, Any]]
) -> None:
    design = Design("random")
    home = design.table("home", pk="PK", sk="SK")
    entities = []
    for number, (pk, sk) in enumerate(templates):
        entities.append(home.entity(Row, key_function(pk, sk), tag=f"e{number}", pk=pk, sk=sk))
        try:
            design.build()
        except DesignRefused:
            # What does not fit is left out, so that most examples end with several entities.
            del design.shapes[-1], entities[-1]
        design.is_built = False
    assume(len(entities) >= 2)
    owners: dict[tuple[str, str], int] = {}
    for number, entity in enumerate(entities):
        tuples = {}
        for row in rows:
            key = entity.shape.key_of(row)
            rendered = (key["PK"]["S"], key["SK"]["S"])
            assert owners.setdefault(rendered, number) == number
            assert [other.shape.recognises(key) for other in entities] == [
                number == other for other in range(len(entities))
            ]
            tuples[rendered] = tuple(row[name] for name in entity.shape.parameters)
        # Digests may lose a difference, other parts may not.
        if "hash" not in str(templates):
            assert {*tuples.values()} == {
                tuple(row[name] for name in entity.shape.parameters) for row in rows
            }


PAIRS = st.fixed_dictionaries({"text": SHORT, "word": SHORT, "number": st.integers(0, 1)})


@effort(300)
@given(
    st.lists(st.sampled_from(["{text}", "{word}", "{number:3}", "#", "A"]), min_size=2, max_size=5).map("".join),
    st.lists(PAIRS, min_size=2, max_size=6),
)  # fmt: skip
def test_a_template_that_passes_the_rules_never_renders_two_tuples_alike(
    template: str, rows: list[dict[str, Any]]
) -> None:
    design = Design("random")
    entity = design.table("home", pk="PK").entity(Row, key_function(template), tag="e", pk=template)
    try:
        design.build()
    except DesignRefused:
        assume(False)
    tuples = {tuple(row[name] for name in entity.shape.parameters) for row in rows}
    assert len({entity.shape.key_of(row)["PK"]["S"] for row in rows}) == len(tuples)


# --- order ---


@effort(400)
@given(st.data())
def test_parts_of_fixed_width_sort_as_their_values_do(data: st.DataObject) -> None:
    name, values = data.draw(
        st.sampled_from(
            [
                ("6", st.integers(0, 999_999)),
                ("38", st.integers(0, 10**38 - 1)),
                ("8.2", MONEY),
                ("30.4", st.decimals(0, 10**29, places=4)),
                ("us", TIMES),
                ("", DATES),
            ]
        )
    )
    one: Any = data.draw(values)
    other: Any = data.draw(values)
    encode = codec(name).encode
    a, b = encode(one), encode(other)
    assert a is not None
    assert b is not None
    assert len(a) == len(b)
    assert (a < b, a == b) == (one < other, one == other)


@effort(300)
@given(TIMES, TIMES, st.sampled_from(["ms", "s", "hour", "day", "month"]))
def test_shortened_times_never_sort_against_their_values(one: datetime, other: datetime, name: str) -> None:
    a, b = codec(name).encode(one) or "", codec(name).encode(other) or ""
    assert a <= b or one > other
    assert (len(a), a[:4]) == (len(b), f"{one.astimezone(UTC).year}")


# --- models ---


class Mood(Enum):
    CALM = "calm"
    WILD = "wild"


class Level(IntEnum):
    LOW = 1
    HIGH = 20


class Inner(BaseModel):
    label: str = Field(serialization_alias="Label")
    count: int | None = None


class Everything(BaseModel):
    """One field of every storable type."""

    text: str
    number: int
    money: Decimal
    yes: bool
    raw: bytes
    at: datetime
    on: date
    uid: UUID
    choice: Literal["a", "b"]
    step: Literal[1, 2]
    mood: Mood
    level: Level
    inner: Inner
    maybe: str | None
    maybe_default: int | None = 5
    maybe_inner: Inner | None = None
    texts: list[str]
    maybes: list[int | None]
    many: tuple[date, ...]
    inners: list[Inner]
    nested: list[list[Decimal]]
    sets: list[set[str]]
    scores: dict[str, Decimal]
    by_name: dict[str, Inner | None]
    tags: set[str] = {"default"}
    numbers: frozenset[int]
    amounts: set[Decimal]
    blobs: set[bytes]
    moods: set[Mood]
    days: set[date]
    json_: JsonValue = Field(serialization_alias="json")


NAMES = st.text(TEXT, min_size=1, max_size=3)
WIRE_NUMBERS = st.decimals(-(10**9), 10**9, places=4)
PLAIN = st.text(TEXT, max_size=4)
INNERS = st.builds(Inner, label=PLAIN, count=st.none() | st.integers(-9, 9))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(-1e9, 1e9).map(lambda f: round(f, 6))
    | PLAIN,
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(NAMES, inside, max_size=2),
    max_leaves=4,
)
EVERYTHING = st.builds(
    Everything,
    text=PLAIN, number=st.integers(-(10**37), 10**37), money=WIRE_NUMBERS, yes=st.booleans(), raw=st.binary(max_size=4),
    at=STORED_TIMES, on=DATES, uid=st.uuids(), choice=st.sampled_from(["a", "b"]), step=st.sampled_from([1, 2]),
    mood=st.sampled_from(Mood), level=st.sampled_from(Level), inner=INNERS, maybe=st.none() | PLAIN,
    maybe_default=st.none() | st.integers(0, 9), maybe_inner=st.none() | INNERS, texts=st.lists(PLAIN, max_size=2),
    maybes=st.lists(st.none() | st.integers(), max_size=2), many=st.lists(DATES, max_size=2).map(tuple),
    inners=st.lists(INNERS, max_size=2), nested=st.lists(st.lists(WIRE_NUMBERS, max_size=2), max_size=2),
    sets=st.lists(st.sets(PLAIN, max_size=2), max_size=2), scores=st.dictionaries(NAMES, WIRE_NUMBERS, max_size=2),
    by_name=st.dictionaries(NAMES, st.none() | INNERS, max_size=2), tags=st.sets(PLAIN, max_size=2),
    numbers=st.frozensets(st.integers(-99, 99), max_size=3), amounts=st.sets(WIRE_NUMBERS, max_size=3),
    blobs=st.sets(st.binary(max_size=2), max_size=2), moods=st.sets(st.sampled_from(Mood)),
    days=st.sets(DATES, max_size=2), json_=JSON,
)  # fmt: skip


@effort(300)
@given(EVERYTHING)
def test_a_model_comes_back_as_it_was_also_through_the_gate_of_the_store(model: Everything) -> None:
    item = encode_item(model)
    assert Everything.model_validate(decode_values(Everything, item)) == model
    admitted, _ = admit_item(item)
    assert Everything.model_validate(decode_values(Everything, admitted)) == model


@effort(100)
@given(EVERYTHING)
def test_what_is_stored_has_no_null_at_the_top_and_no_empty_set(model: Everything) -> None:
    item = encode_item(model)
    assert not any("NULL" in value for name, value in item.items() if name != "json")
    assert all(
        members for value in item.values() for letter, members in value.items() if letter.endswith("SS")
    )
    assert item["raw"] == {"B": b64encode(model.raw).decode()}


# --- ranges ---

# A text that sorts as its key does: nothing in it sorts before the delimiter, and nothing is escaped.
LETTERS = st.text(st.characters(min_codepoint=0x26, exclude_categories=["Cs"]), min_size=1, max_size=3)


class Entry(BaseModel):
    book: str
    at: datetime
    amount: int
    label: str
    entry: str


def entry_key(book: str, at: datetime, entry: str) -> None: ...


RANGES: dict[str, tuple[str, str, Any, st.SearchStrategy[Any]]] = {
    # the sort key, the beginning a bound is written with, the type of the part, values
    "time, more behind": ("AT#{at:ms}#{entry}", "AT#{%s:ms}", datetime, STORED_TIMES),
    "time, nothing behind": ("AT#{at:ms}", "AT#{%s:ms}", datetime, STORED_TIMES),
    "literal without delimiter": ("N{amount:4}#{entry}", "N{%s:4}", int, st.integers(0, 9999)),
    "no literal": ("{amount:4}#{entry}", "{%s:4}", int, st.integers(0, 9999)),
    "text in the middle": ("L#{label}#{entry}", "L#{%s}", str, LETTERS),
    "text at the end": ("L#{label}", "L#{%s}", str, LETTERS),
}
FIELD = {datetime: "at", int: "amount", str: "label"}


def asked(case: str, sort: Callable[..., Sort]) -> tuple[Callable[[Entry], str], Callable[..., Query[Any]]]:
    """The sort key of an entry, and a pattern over it with the bounds `low` and `high`, or one of them."""
    sk, bound, kind, _ = RANGES[case]
    design = Design("d")
    home = design.table("entries", pk="PK")
    index = home.gsi("index", pk="GPK", sk="GSK")
    entries = home.entity(
        Entry, entry_key, tag="entry", pk="{book}#{at:us}#{entry}", on={index: Keys("{book}", sk)}
    )
    ends = ("low", "high") if sort is between else ("low",)

    def found(**_: object) -> None: ...

    found.__signature__ = Signature(  # type: ignore[attr-defined]  # read by inspect.signature
        [Parameter("book", Parameter.KEYWORD_ONLY, annotation=str)]
        + [Parameter(end, Parameter.KEYWORD_ONLY, annotation=kind | None, default=None) for end in ends]
    )
    pattern = design.query(entries, on=index, pk="{book}", sk=sort(*(bound % end for end in ends)))(found)
    design.build()
    return lambda entry: entries.shape.derive(entry.__dict__)["GSK"]["S"], pattern


def lies(text: str, query: Query[Any]) -> bool:
    """Whether a sort key is in a query's range, by the service's own definition of the operators."""
    if not query.sort:
        return True
    ((_, test),) = query.sort
    return meets(text, test)


def meets(text: str, test: SortTest) -> bool:
    # UTF-8 bytes sort as code points do, which is how Python compares texts.
    bounds: list[str] = [value["S"] for value in test.values]
    match test.op:
        case "BETWEEN":
            return bounds[0] <= text <= bounds[1]
        case "begins_with":
            return text.startswith(bounds[0])
        case "<=":
            return text <= bounds[0]
        case "<":
            return text < bounds[0]
        case ">=":
            return text >= bounds[0]
        case ">":
            return text > bounds[0]
        case "=":
            return text == bounds[0]


SORTS: tuple[Callable[..., Sort], ...] = (between, at_least, at_most, above, below)
ASKED = {(case, sort): asked(case, sort) for case in RANGES for sort in SORTS}


def entry_with(value: object, entry: str) -> Entry:
    values: dict[str, Any] = {"at": datetime(2026, 1, 1, tzinfo=UTC), "amount": 0, "label": "x"}
    return Entry(book="b", entry=entry, **values | {FIELD[_plain_type(value)]: value})


def _plain_type(value: object) -> type:
    return datetime if isinstance(value, datetime) else type(value)


@effort(500)
@given(st.sampled_from([*RANGES]), st.data())
def test_a_range_holds_exactly_the_items_whose_part_lies_in_it_also_with_open_ends(
    case: str, data: st.DataObject
) -> None:
    sort_key, pattern = ASKED[case, between]
    values = RANGES[case][3]
    low, high = data.draw(st.none() | values), data.draw(st.none() | values)
    # Near the bounds is where mistakes live.
    near = [value for value in (low, high) if value is not None]
    value = data.draw(st.one_of(values, *map(st.just, near)))
    if low is not None and high is not None and low > high:
        low, high = high, low
    entry = entry_with(value, data.draw(LETTERS))
    inside = (low is None or low <= value) and (high is None or value <= high)
    assert lies(sort_key(entry), pattern(book="b", low=low, high=high)) == inside


@effort(500)
@given(
    st.sampled_from([*RANGES]),
    st.sampled_from([
        (at_least, lambda value, end: value >= end),
        (at_most, lambda value, end: value <= end),
        (above, lambda value, end: value > end),
        (below, lambda value, end: value < end),
    ]),
    st.data(),
)  # fmt: skip
def test_a_bound_on_one_side_holds_exactly_the_items_on_that_side(
    case: str, bound: tuple[Callable[[str], Sort], Callable[[Any, Any], bool]], data: st.DataObject
) -> None:
    sort, holds = bound
    sort_key, pattern = ASKED[case, sort]
    values = RANGES[case][3]
    end = data.draw(values)
    value = data.draw(st.one_of(values, st.just(end)))
    entry = entry_with(value, data.draw(LETTERS))
    assert lies(sort_key(entry), pattern(book="b", low=end)) == holds(value, end)


# --- updates ---


class Order(BaseModel):
    shop: str
    number: int
    buyer: str | None = None
    status: Literal["new", "paid"] = "new"
    due: datetime | None = None
    total: Decimal = Decimal(0)
    urgent: bool = False


def order_key(shop: str, number: int) -> None: ...


orders_design = Design("orders")
orders_table = orders_design.table("orders", pk="PK", sk="SK", ttl="ttl")
by_buyer = orders_table.gsi("by-buyer", pk="BPK", sk="BSK")
by_status = orders_table.gsi("by-status", pk="TPK", sk="TSK")
urgent_ones = orders_table.gsi("urgent", pk="UPK")
orders = orders_table.entity(
    Order,
    order_key,
    tag="order",
    pk="SHOP#{shop}",
    sk="ORDER#{number:6}",
    on={
        by_buyer: Keys("BUYER#{buyer:lower}", "{total:8.2}#{shop}"),
        by_status: Keys("SHOP#{shop}#{status}", "DUE#{due:ms}#{number:6}"),
        urgent_ones: Keys("{urgent:flag}#{status:only.new}"),
    },
    derived={"search": "{buyer:lower}#{status}"},
    expires=Expires("due", after=timedelta(days=2)),
)
orders_design.build()

WORDS = st.text("Ab#%é", min_size=1, max_size=3)
ORDER_FIELDS: Mapping[str, st.SearchStrategy[Any]] = {
    "buyer": st.none() | WORDS,
    "status": st.sampled_from(["new", "paid"]),
    "due": st.none() | STORED_TIMES,
    "total": MONEY,
    "urgent": st.booleans(),
}
ORDERS = st.builds(Order, shop=WORDS, number=st.integers(0, 999_999), **ORDER_FIELDS)
CHANGES = st.dictionaries(st.sampled_from([*ORDER_FIELDS]), st.none(), max_size=4).flatmap(
    lambda chosen: st.fixed_dictionaries({name: ORDER_FIELDS[name] for name in chosen})
)


def stored(order: Order) -> dict[str, Any]:
    return orders.shape.derive(order.__dict__)


@effort(500)
@given(ORDERS, CHANGES, st.booleans(), ORDERS)
def test_what_an_update_derives_is_what_the_whole_item_would_or_it_is_refused(
    before: Order, changes: dict[str, Any], upsert: bool, start: Order
) -> None:
    if upsert:
        write = orders.upsert(start.model_copy(update={"shop": before.shop, "number": before.number}))
    else:
        write = orders.update(before.shop, before.number)
    for name, value in changes.items():
        write = write.at(lambda order, name=name: getattr(order, name)).set(value)  # type: ignore[misc]  # bound now
    after = before.model_copy(update=changes)
    given = {*changes, "shop", "number"}
    torn = [
        template
        for template in orders.shape.derivations.values()
        if {*template.fields} & {*changes} and not {*template.fields} <= given
    ]
    if torn:
        with pytest.raises(IndexKeyNeedsTheItem) as refusal:
            assert write.derived
        assert refusal.value.field in changes
        assert not given & {*refusal.value.missing}
        return
    derived = write.derived
    followed = {name: value for name, value in {**stored(before), **derived}.items() if value is not None}
    assert followed == stored(after)


@effort(200)
@given(ORDERS, st.sampled_from(["total", "due"]), st.data())
def test_what_the_store_would_compute_is_refused_where_a_key_hangs_on_it(
    order: Order, name: str, data: st.DataObject
) -> None:
    slot: Any = orders.update(order.shop, order.number).at(lambda o: getattr(o, name))
    operations = {"total": ["add", "lowest", "highest"], "due": ["lowest", "highest"]}
    value = data.draw(MONEY if name == "total" else STORED_TIMES)
    with pytest.raises(IndexKeyNeedsTheItem) as refusal:
        getattr(slot, data.draw(st.sampled_from(operations[name])))(value)
    assert (refusal.value.field, refusal.value.missing) == (name, ())


@effort(200)
@given(MEMBERS)
def test_an_entity_recognises_each_of_its_keys_and_no_guard(member: Member) -> None:
    assume(normalised(member.email))
    for (owner, _), key in places(member).items():
        assert members.shape.recognises(key) == (owner == "member")
        assert not notes.shape.recognises(key)
