"""PartiQL against the classic verbs: the answer to a statement is that to the request which says the same."""

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.tables import records
from tests.properties import requests
from tests.properties.claims import ALWAYS, COMPARISONS, Claim, claims, same_kind
from tests.properties.effort import effort
from tests.properties.model import Index, Table
from tests.properties.plain import Item, Value, order
from tests.properties.reads import LIMITS, Draw, filters, found, key_tests, reading, same_items
from tests.properties.requests import Request
from tests.properties.statements import Deed, Text, writes
from tests.properties.strategies import shapes
from tests.properties.test_reads_against_model import filled

from tablewright import Engine, testing
from tablewright.engine import ServiceError

QUESTIONS = 8
DEEDS = 12
# What a WHERE may be refused for that says something of a key: none of it is a matter of the data.
REFUSALS = (
    "Overlapping conditions with range keys are not supported in where clause",
    "Key attribute's data type should match its data type in table's schema: Key ",
    "One or more parameter values were invalid: Secondary index ",
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ",
)


def source(table: Table, index: Index | None) -> str:
    return f'"{table.name}"' if index is None else f'"{table.name}"."{index.name}"'


def readable(table: Table) -> list[Index | None]:
    """The table and its indexes, without those on several attributes, which statements do not read."""
    plain = [one for one in table.shape.indexes.values() if len(one.hash) == 1 and len(one.range) < 2]
    return [None, *plain]


def pages(engine: Engine, verb: str, request: Request, cursor: tuple[str, str]) -> list[Request]:
    """Every page; `cursor` is what a page calls its end and what the next request calls it."""
    ends, starts = cursor
    seen: list[Request] = []
    more: Request = {}
    while True:
        page = engine.call(verb, request | more)
        seen.append(page)
        if ends not in page:
            return seen
        assert page[ends] != more.get(starts)
        more[starts] = page[ends]


def fill(engine: Engine, table: Table) -> None:
    engine.call("CreateTable", requests.create_table(table))
    for item in table.items.values():
        engine.call("PutItem", requests.put(table, item))


# --- reads ---


@effort(25)
@given(st.data(), filled())
def test_a_select_of_one_partition_is_the_query_page_by_page(data: st.DataObject, table: Table) -> None:
    with testing.engine() as engine:
        fill(engine, table)
        for _ in range(QUESTIONS):
            index = data.draw(st.sampled_from(readable(table)))
            check_query(data.draw, engine, table, index)


def check_query(draw: Draw, engine: Engine, table: Table, index: Index | None) -> None:
    test, keep = draw(key_tests(table, index)), draw(filters(table, index, is_query=True))
    ranges = table.ranges(index)
    direction = draw(st.sampled_from([None, "ASC", "DESC"])) if ranges else None
    limit = draw(LIMITS)
    common: Request = {"ReturnConsumedCapacity": "INDEXES"} | ({} if limit is None else {"Limit": limit})
    classic = requests.conditional(reading(table, index) | common, test, "KeyConditionExpression")
    classic = requests.conditional(classic, keep, "FilterExpression") | {
        "ScanIndexForward": direction != "DESC"
    }
    text = Text(draw).say(f"SELECT * FROM {source(table, index)} WHERE {test.text}", test.values)
    if keep is not ALWAYS:
        text.say(f" AND ({keep.text})", keep.values)
    if direction is not None:
        text.say(f" ORDER BY {ranges[0]} {direction}")
    asked = pages(engine, "ExecuteStatement", text.request() | common, ("NextToken", "NextToken"))
    queried = pages(engine, "Query", classic, ("LastEvaluatedKey", "ExclusiveStartKey"))
    if index is None and not ranges:
        # A query of a table without sort key has one page; a statement may have an empty one after it.
        assert [item for page in asked for item in page["Items"]] == queried[0]["Items"]
        assert (len(queried), asked[0]["ConsumedCapacity"]) == (1, queried[0]["ConsumedCapacity"])
        return
    for member in ("Items", "ConsumedCapacity", "LastEvaluatedKey"):
        assert [page.get(member) for page in asked] == [page.get(member) for page in queried], text.text


@effort(25)
@given(st.data(), filled())
def test_a_select_finds_every_item_its_where_holds_for_and_each_once(
    data: st.DataObject, table: Table
) -> None:
    with testing.engine() as engine:
        fill(engine, table)
        for _ in range(QUESTIONS):
            index = data.draw(st.sampled_from(readable(table)))
            check_where(data.draw, engine, table, index)


def check_where(draw: Draw, engine: Engine, table: Table, index: Index | None) -> None:
    where, limit = draw(wheres(table, index)), draw(LIMITS)
    text = Text(draw).say(f"SELECT * FROM {source(table, index)} WHERE {where.text}", where.values)
    request = text.request() | ({} if limit is None else {"Limit": limit})
    try:
        got = found(pages(engine, "ExecuteStatement", request, ("NextToken", "NextToken")))
    except ServiceError as refusal:
        if not refusal.message.startswith(REFUSALS):
            raise
        return
    assert same_items(got, [item for item in table.view(index) if where.holds(item)]), text.text


@st.composite
def wheres(draw: st.DrawFn, table: Table, index: Index | None) -> Claim:
    """Mostly about keys, joined in every way: what fixes a partition, what does not, what only seems to."""
    hashes, ranges = table.hashes(index), table.ranges(index)
    names = [*hashes, *hashes, *ranges, *ranges, "va"]
    inside = table.view(index) or [{}]

    @st.composite
    def leaf(draw: st.DrawFn) -> Claim:
        name = draw(st.sampled_from(names))
        seen = [item[name] for item in inside if name in item]
        if not seen or name == "va":
            return draw(claims([name]))
        values = tuple(draw(st.lists(st.sampled_from(seen), min_size=1, max_size=3)))
        marks = ", ".join("?" for _ in values)
        match draw(st.sampled_from(["=", "=", "IN", "<>", "other"])):
            case "=":
                return Claim(f"{name} = ?", values[:1], lambda item: item.get(name) == values[0])
            case "<>":
                return Claim(f"{name} <> ?", values[:1], lambda item: item.get(name) != values[0])
            case "IN":
                return Claim(f"{name} IN [{marks}]", values, lambda item: item.get(name) in values)
            case _:
                return draw(claims([name]))

    if draw(st.booleans()):
        return draw(st.recursive(leaf(), _joined, max_leaves=5))
    return draw(alternatives(table, index, inside))


@st.composite
def alternatives(draw: st.DrawFn, table: Table, index: Index | None, inside: list[Item]) -> Claim:
    """Some partitions, or some pieces of one, with OR between them."""
    name, ranges = table.hashes(index)[0], table.ranges(index)
    seen = [item for item in inside if name in item]
    parts: list[Claim] = []
    for _ in range(draw(st.integers(1, 4))):
        if not seen:
            return draw(claims([name]))
        item = draw(st.sampled_from(seen))
        part = _equal(name, item[name])
        if bool(ranges) and draw(st.integers(0, 3)) > 0:
            part = _both(part, _near(ranges[0], item[ranges[0]], draw(st.sampled_from("=<>!"))), "AND")
        parts.append(part)
    whole = parts[0]
    for part in parts[1:]:
        whole = _both(whole, part, "OR")
    return whole


def _equal(name: str, value: Value) -> Claim:
    return Claim(f"{name} = ?", (value,), lambda item: item.get(name) == value)


def _near(name: str, value: Value, sign: str) -> Claim:
    """What is at, below or above a value, or anywhere else."""
    if sign == "=":
        return _equal(name, value)
    if sign == "!":
        return Claim(f"NOT {name} = ?", (value,), lambda item: item.get(name) != value)
    return Claim(
        f"{name} {sign} ?",
        (value,),
        lambda item: same_kind(item.get(name), value) and COMPARISONS[sign](order(item[name]), order(value)),
    )


def _joined(inner: st.SearchStrategy[Claim]) -> st.SearchStrategy[Claim]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda p: _both(*p, "AND")),
        pairs.map(lambda p: _both(*p, "AND")),
        pairs.map(lambda p: _both(*p, "OR")),
        inner.map(lambda c: Claim(f"NOT ({c.text})", c.values, lambda item: not c.holds(item))),
    )


def _both(one: Claim, other: Claim, word: str) -> Claim:
    join = all if word == "AND" else any
    text = f"({one.text}) {word} ({other.text})"
    return Claim(text, one.values + other.values, lambda item: join((one.holds(item), other.holds(item))))


# --- writes ---


@effort(25)
@given(st.data(), shapes())
def test_a_statement_writes_and_answers_as_the_classic_verb(data: st.DataObject, shape: Any) -> None:
    table = Table("pets", shape)
    with testing.engine() as said, testing.engine() as classic:
        fill(said, table)
        fill(classic, table)
        for _ in range(DEEDS):
            deed = writes(data.draw, table)
            ours = outcome(said, "ExecuteStatement", deed.statement)
            theirs = outcome(classic, deed.verb, deed.classic)
            assert ours == expected(deed, theirs), deed
        assert history(said) == history(classic)


def outcome(engine: Engine, verb: str, request: Request) -> tuple[str, str] | Request:
    try:
        return engine.call(verb, request | {"ReturnConsumedCapacity": "INDEXES"})
    except ServiceError as refusal:
        return refusal.name, refusal.message


def expected(deed: Deed, classic: tuple[str, str] | Request) -> tuple[str, str] | Request:
    """The classic answer in the words of ExecuteStatement."""
    if isinstance(classic, dict):
        attributes = classic.get("Attributes")
        return {
            "Items": [] if attributes is None else [attributes],
            "ConsumedCapacity": classic["ConsumedCapacity"],
        }
    if deed.verb == "PutItem" and classic[0] == "ConditionalCheckFailedException":
        return "DuplicateItemException", "Duplicate primary key exists in table"
    return classic


def history(engine: Engine) -> list[tuple[bytes, Item | None, Item | None]]:
    """Every change there was, whoever asked for it."""

    def read(raw: bytes | None) -> Item | None:
        return None if raw is None else orjson.loads(raw)

    return [(key, read(old), read(new)) for *_, key, old, new in records(engine)]


@effort(25)
@given(st.data(), shapes())
def test_a_transaction_of_statements_is_a_transaction_of_actions(data: st.DataObject, shape: Any) -> None:
    table = Table("pets", shape)
    with testing.engine() as said, testing.engine() as classic:
        fill(said, table)
        fill(classic, table)
        for _ in range(DEEDS // 2):
            drawn = [writes(data.draw, table, returning=False) for _ in range(data.draw(st.integers(1, 4)))]
            deeds = list({deed.key: deed for deed in drawn}.values())
            ours = codes(
                said, "ExecuteTransaction", {"TransactStatements": [deed.statement for deed in deeds]}
            )
            theirs = codes(classic, "TransactWriteItems", {"TransactItems": [deed.action for deed in deeds]})
            assert ours == renamed(deeds, theirs), deeds
        assert history(said) == history(classic)


def codes(engine: Engine, verb: str, request: Request) -> Any:
    """What each action was cancelled for, or the units of all of them."""
    try:
        return engine.call(verb, request | {"ReturnConsumedCapacity": "INDEXES"})["ConsumedCapacity"]
    except ServiceError as refusal:
        reasons = refusal.fields.get("CancellationReasons")
        if reasons is None:
            return refusal.name
        return [(reason["Code"], reason.get("Message")) for reason in reasons]


def renamed(deeds: list[Deed], outcome: Any) -> Any:
    if not isinstance(outcome, list) or not isinstance(outcome[0], tuple):
        return outcome
    duplicate = ("DuplicateItem", "Duplicate primary key exists in table")
    return [
        duplicate if deed.verb == "PutItem" and code == "ConditionalCheckFailed" else (code, message)
        for deed, (code, message) in zip(deeds, outcome, strict=True)
    ]
