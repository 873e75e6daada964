"""Queries and scans, compared with what the model says: what is found, in which order, page by page."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st
from tests.properties import requests
from tests.properties.claims import ALWAYS, COMPARISONS, Claim, begins_with, between, claims, same_kind
from tests.properties.edits import CHANGEABLE
from tests.properties.model import Index, Table
from tests.properties.plain import Item, Value, order, settled
from tests.properties.requests import Request
from tests.properties.strategies import key_values

from tablewright import Engine

T = TypeVar("T")


class Draw(Protocol):
    """Hypothesis draws through two types that share no name: DataObject.draw and DrawFn."""

    def __call__(self, strategy: st.SearchStrategy[T]) -> T: ...


LIMITS = st.one_of(st.none(), st.integers(1, 5))


def check_query(draw: Draw, engine: Engine, table: Table, index: Index | None) -> None:
    """Every operator, in both directions, page by page, with and without a filter."""
    test, keep = draw(key_tests(table, index)), draw(filters(table, index, is_query=True))
    whole = index is not None and index.local and draw(st.booleans())
    backward = draw(st.booleans())
    request = requests.conditional(reading(table, index), test, "KeyConditionExpression")
    request = requests.conditional(request, keep, "FilterExpression") | {"ScanIndexForward": not backward}
    if whole:
        request["Select"] = "ALL_ATTRIBUTES"
    is_single = index is None and not table.ranges(None)
    pages = all_pages(engine, "Query", request, draw(LIMITS), is_single)
    inside = [item for item in table.view(index, whole) if test.holds(item)]
    got = found(pages)
    assert sum(page["ScannedCount"] for page in pages) == len(inside)
    assert same_items(got, [item for item in inside if keep.holds(item)])
    places = [table.sort_key(index, item) for item in got]
    assert places == sorted(places, reverse=backward)


def check_scan(draw: Draw, engine: Engine, table: Table, index: Index | None) -> None:
    """The segments together hold every item once."""
    keep = draw(filters(table, index, is_query=False))
    segments, limit = draw(st.integers(1, 5)), draw(LIMITS)
    request = requests.conditional(reading(table, index), keep, "FilterExpression")
    got: list[Item] = []
    for segment in range(segments):
        part = request | {"Segment": segment, "TotalSegments": segments}
        got += found(all_pages(engine, "Scan", part, limit))
    assert same_items(got, [item for item in table.view(index) if keep.holds(item)])


def check_in_full(engine: Engine, table: Table, index: Index | None) -> None:
    """Everything that is there, as often as it is there."""
    assert same_items(found(all_pages(engine, "Scan", reading(table, index), None)), table.view(index))


# --- reading ---


def reading(table: Table, index: Index | None) -> Request:
    request: Request = {"TableName": table.name}
    return request if index is None else request | {"IndexName": index.name}


def all_pages(
    engine: Engine, verb: str, request: Request, limit: int | None, is_single: bool = False
) -> list[Request]:
    """Every page, checked for itself: none goes beyond its limit, a full one says where to go on.

    `is_single`: a query of a table without sort key, which finds at most one item and cannot go on.
    """
    pages: list[Request] = []
    more: Request = {} if limit is None else {"Limit": limit}
    while True:
        page = engine.call(verb, request | more)
        pages.append(page)
        assert page["Count"] == len(page["Items"])
        assert limit is None or page["ScannedCount"] <= limit
        assert ("LastEvaluatedKey" in page) == (page["ScannedCount"] == limit and not is_single)
        if "LastEvaluatedKey" not in page:
            return pages
        # Reading on from where we started would go on for ever.
        assert page["LastEvaluatedKey"] != more.get("ExclusiveStartKey")
        more["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def found(pages: Sequence[Request]) -> list[Item]:
    return [item for page in pages for item in page["Items"]]


def same_items(left: Sequence[Item], right: Sequence[Item]) -> bool:
    """The same items, each as often, in whatever order."""
    return sorted(map(_as_text, left)) == sorted(map(_as_text, right))


def _as_text(item: Item) -> str:
    return repr(_ordered(item))


def _ordered(value: Any) -> Any:
    """Maps in the order of their names: two equal items may hold them in two orders."""
    if isinstance(value, dict):
        return sorted((name, repr(_ordered(member))) for name, member in value.items())
    return [_ordered(member) for member in value] if isinstance(value, list) else value


# --- conditions ---


@st.composite
def filters(draw: st.DrawFn, table: Table, index: Index | None, is_query: bool) -> Claim:
    """A filter on what is to be seen there; a Query refuses its own keys in it."""
    barred = (*table.hashes(index), *table.ranges(index)) if is_query else ()
    names = [name for name in CHANGEABLE if table.shows(index, name) and name not in barred]
    if not names or draw(st.booleans()):
        return ALWAYS
    return draw(claims(names))


@st.composite
def key_tests(draw: st.DrawFn, table: Table, index: Index | None) -> Claim:
    """All hash attributes equal to something; of the range attributes the first few, the last by any operator."""
    ranges = table.ranges(index)
    used = draw(st.integers(0, len(ranges)))
    inside = table.view(index, whole=True)
    tests = []
    for name in (*table.hashes(index), *ranges[: max(used - 1, 0)]):
        test = _equal(name, draw(_likely(table, inside, name)))
        tests.append(test)
        # What follows is chosen among what is left, or most queries would find nothing.
        inside = [item for item in inside if test.holds(item)]
    if used:
        tests.append(draw(_any_test(table, inside, ranges[used - 1])))
    tests = draw(st.permutations(tests))
    return Claim(
        " AND ".join(test.text for test in tests),
        tuple(value for test in tests for value in test.values),
        lambda item: all(test.holds(item) for test in tests),
    )


def _likely(table: Table, inside: Sequence[Item], name: str) -> st.SearchStrategy[Value]:
    """A value that some item has, mostly."""
    seen = [item[name] for item in inside]
    fresh = key_values(table.shape.kinds[name])
    return st.integers(0, 4).flatmap(lambda n: st.sampled_from(seen) if n else fresh) if seen else fresh


def _equal(name: str, value: Value) -> Claim:
    return Claim(f"{name} = ?", (value,), lambda item: item.get(name) == settled(value))


@st.composite
def _any_test(draw: st.DrawFn, table: Table, inside: Sequence[Item], name: str) -> Claim:
    value, other = draw(_likely(table, inside, name)), draw(_likely(table, inside, name))
    starts = [] if "N" in value else ["begins_with"]
    match draw(st.sampled_from(["=", "<", "<=", ">", ">=", "BETWEEN", *starts])):
        case "=":
            return _equal(name, value)
        case "BETWEEN":
            return between(name, value, other)
        case "begins_with":
            return begins_with(name, value)
        case sign:
            return Claim(
                f"{name} {sign} ?",
                (value,),
                lambda item: (
                    same_kind(item.get(name), value) and COMPARISONS[sign](order(item[name]), order(value))
                ),
            )
