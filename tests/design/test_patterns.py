"""Patterns: the request that arguments make."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel
from tests.design.travel import (
    VisitLine,
    account,
    by_email,
    guided_often,
    profile_with_visits,
    trip_at_price,
    trips,
    trips_in_stage,
    trips_on_day,
    users,
    visitors_of_region,
    visits_of_kind,
)

from tablewright.design import (
    Design,
    Get,
    KeyPartUnusable,
    Keys,
    Pattern,
    Query,
    above,
    at_least,
    at_most,
    begins,
    below,
    between,
    equals,
)
from tablewright.design.patterns import Sort
from tablewright.design.requests import SortTest

MAY, JUNE = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)


class Post(BaseModel):
    blog: str
    day: date
    slug: str
    likes: int = 0


def post_key(blog: str, day: date, slug: str) -> None: ...


def likes_key(blog: str, likes: int) -> None: ...


def sorted_by(sort: Sort, sk: str = "POST#{day}#{slug}") -> Pattern[Any, Post]:
    """A pattern over posts with a sort condition on the key POST#day#slug."""
    design = Design("d")
    posts = design.table("posts", pk="PK", sk="SK").entity(
        Post, post_key, tag="post", pk="BLOG#{blog}", sk=sk
    )

    @design.query(posts, pk="BLOG#{blog}", sk=sort)
    def found(
        *, blog: str, a: date | None = None, b: date | None = None, slug: str | None = None
    ) -> None: ...

    return found


def condition(sort: Sort, sk: str = "POST#{day}#{slug}", **arguments: object) -> tuple[str, ...] | None:
    """The operator and its bounds, as text."""
    query = sorted_by(sort, sk)(blog="x", **arguments)
    if not query.sort:
        return None
    ((name, test),) = query.sort
    assert name == "SK"
    return (test.op, *(value["S"] for value in test.values))


A, B = date(2026, 5, 1), date(2026, 6, 1)


# --- partitions ---


def test_a_pattern_makes_a_query_of_its_arguments() -> None:
    query = visits_of_kind(user_id="u#1", region_type="city")
    assert (query.name, query.partitions, query.index) == ("visits_of_kind", (({"S": "USER#u%231"},),), None)
    assert query.sort == (("SK", SortTest("begins_with", ({"S": "VISIT#city#"},))),)
    assert query.arguments == {"user_id": "u#1", "region_type": "city"}


def test_a_pattern_normalises_as_its_entity_does() -> None:
    assert by_email(email=" ANA@X.org").partitions == by_email(email="ana@x.org").partitions


def test_a_pattern_without_a_sort_condition_reads_the_whole_partition() -> None:
    assert profile_with_visits(user_id="u1").sort == ()


def test_a_pattern_keeps_its_order_page_and_limit() -> None:
    query = trips_in_stage(stage="draft")
    assert (query.descending, query.page, query.at_most, query.consistent) == (True, 20, 1000, False)


def test_a_pattern_of_a_view_returns_the_view() -> None:
    query = guided_often(guide="Ken", times=3)
    assert [shape.model for shape in query.shapes] == [VisitLine]
    assert query.partitions == (({"S": "GUIDE#Ken"},),)
    assert query.sort == (("GSI2SK", SortTest(">=", ({"S": "TIMES#000003"},))),)


def test_a_partition_cannot_be_left_open() -> None:
    with pytest.raises(KeyPartUnusable, match="the partition needs user_id"):
        profile_with_visits(user_id=None)  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize("arguments", [{}, {"user": "u1"}, {"user_id": "u1", "more": 1}])
def test_wrong_parameters_are_refused_as_python_does(arguments: Any) -> None:
    with pytest.raises(TypeError):
        profile_with_visits(**arguments)


def test_a_pattern_carries_the_words_of_its_function() -> None:
    assert visits_of_kind.__doc__ == visits_of_kind.plan.about == "One user's visits of one region type."
    assert repr(visits_of_kind) == "<pattern travel.visits_of_kind>"


def test_a_get_pattern_makes_a_get() -> None:
    assert account(user_id="u1") == Get("account", users.shape, users.get("u1").key, consistent=True)
    assert repr(account) == "<pattern travel.account>"
    assert account.__doc__ == "One user, as of now."


# --- shards ---


def test_a_shard_nobody_names_is_read_from_every_shard() -> None:
    assert trips_on_day(starts=A).partitions == tuple(({"S": f"2026-05-01#{n}"},) for n in range(4))


def test_a_shard_of_a_given_id_is_the_one_its_item_lies_in() -> None:
    query = trip_at_price(starts=A, trip_id="t1", price=Decimal(5))
    stored = trips.shape.derive({"starts": A, "trip_id": "t1", "price": Decimal(5)})
    assert query.partitions == ((stored["day"],),)
    assert query.sort == (("order", SortTest("=", (stored["order"],))),)


# --- sort conditions ---


@pytest.mark.parametrize(
    ("sort", "arguments", "expected"),
    [
        (begins("POST#{a}#"), {"a": A}, ("begins_with", "POST#2026-05-01#")),
        (begins("POST#"), {}, ("begins_with", "POST#")),
        (
            between("POST#{a}", "POST#{b}"),
            {"a": A, "b": B},
            ("BETWEEN", "POST#2026-05-01", "POST#2026-06-01$"),
        ),
        (between("POST#{a}", "POST#{b}"), {"a": A}, ("BETWEEN", "POST#2026-05-01", "POST$")),
        (between("POST#{a}", "POST#{b}"), {"b": B}, ("BETWEEN", "POST#", "POST#2026-06-01$")),
        (between("POST#{a}", "POST#{b}"), {}, ("begins_with", "POST#")),
        (at_least("POST#{a}"), {"a": A}, (">=", "POST#2026-05-01")),
        (above("POST#{a}"), {"a": A}, (">", "POST#2026-05-01$")),
        (at_most("POST#{a}"), {"a": A}, ("<=", "POST#2026-05-01$")),
        (below("POST#{a}"), {"a": A}, ("<", "POST#2026-05-01")),
        (at_least("POST#{a}"), {}, None),
        (at_most("POST#{a}"), {}, None),
    ],
)
def test_bounds_take_in_whole_parts(sort: Sort, arguments: dict[str, Any], expected: Any) -> None:
    assert condition(sort, **arguments) == expected


def test_an_open_end_behind_a_literal_without_a_delimiter_is_open_all_the_same() -> None:
    sort = between("P{a}", "P{b}")
    assert condition(sort, "P{day}#{slug}", a=A) == ("BETWEEN", "P2026-05-01", "Q")
    assert condition(sort, "P{day}#{slug}", b=B) == ("BETWEEN", "P", "P2026-06-01$")


def test_an_open_end_stays_among_those_with_the_parts_that_are_given() -> None:
    sort, key = between("POST#{slug}#{a}", "POST#{slug}#{b}"), "POST#{slug}#{day}"
    assert condition(sort, key, slug="x", a=A) == ("BETWEEN", "POST#x#2026-05-01", "POST#x$")
    assert condition(sort, key, slug="x", b=B) == ("BETWEEN", "POST#x#", "POST#x#2026-06-01")
    assert condition(sort, key, slug="x") == ("begins_with", "POST#x#")


def test_a_whole_key_as_an_upper_bound_is_that_key() -> None:
    assert condition(at_most("POST#{a}"), "POST#{day}", a=A) == ("<=", "POST#2026-05-01")
    assert condition(above("POST#{a}"), "POST#{day}", a=A) == (">", "POST#2026-05-01")
    assert condition(equals("POST#{a}"), "POST#{day}", a=A) == ("=", "POST#2026-05-01")


@pytest.mark.parametrize("sort", [begins("POST#{a}#"), equals("POST#{a}")])
def test_a_beginning_or_an_equal_cannot_be_left_open(sort: Sort) -> None:
    with pytest.raises(KeyPartUnusable, match="needs a, none of them None"):
        condition(sort)


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(KeyPartUnusable, match="ends before it begins"):
        condition(between("POST#{a}", "POST#{b}"), a=B, b=A)


def test_an_upper_bound_of_a_time_includes_that_moment_of_everybody() -> None:
    query = visitors_of_region(region_type="city", region_code="TYO", start=MAY, end=MAY)
    ((_, test),) = query.sort
    low, high = (value["S"] for value in test.values)
    assert low <= "AT#2026-05-01T00:00:00.000Z#zoe" <= high
    assert not low <= "AT#2026-05-01T00:00:00.001Z#ana" <= high


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (A, B, ("BETWEEN", "2026-05-01", "2026-06-01")),
        (A, None, (">=", "2026-05-01")),
        (None, B, ("<=", "2026-06-01")),
        (None, None, None),
    ],
)
def test_a_range_over_a_field_itself_has_the_fields_own_values(
    since: date | None, until: date | None, expected: tuple[str, ...] | None
) -> None:
    query = trips_in_stage(stage="draft", since=since, until=until)
    assert query.partitions == (({"S": "draft"},),)
    found = [(test.op, *(value["S"] for value in test.values)) for _, test in query.sort]
    assert found == ([expected] if expected else [])


def test_a_number_that_is_a_key_itself_is_compared_as_a_number() -> None:
    design = Design("d")
    table = design.table("posts", pk="blog", sk="likes")
    posts = table.entity(Post, likes_key, tag="post", pk="{blog}", sk="{likes}")

    @design.query(posts, pk="{blog}", sk=between("{low}", "{high}"))
    def liked(*, blog: str, low: int, high: int) -> None: ...

    design.build()
    query: Query[Post] = liked(blog="x", low=9, high=10)
    assert query.sort == (("likes", SortTest("BETWEEN", ({"N": "9"}, {"N": "10"}))),)


def test_a_view_without_the_field_that_is_the_key_asks_for_it_in_its_own_form() -> None:
    class Title(BaseModel):
        slug: str

    design = Design("d")
    table = design.table("posts", pk="PK", sk="SK")
    popular = table.gsi("popular", pk="blog", sk="likes")
    posts = table.entity(
        Post,
        post_key,
        tag="post",
        pk="BLOG#{blog}",
        sk="POST#{day}#{slug}",
        on={popular: Keys("{blog}", "{likes}")},
    )

    @design.query(posts.view(Title), on=popular, pk="{blog}", sk=at_least("{likes}"))
    def liked(*, blog: str, likes: int) -> None: ...

    design.build()
    query: Query[Title] = liked(blog="a#b", likes=9)
    assert query.partitions == (({"S": "a#b"},),)
    assert query.sort == (("likes", SortTest(">=", ({"N": "9"},))),)


def test_several_sort_attributes_are_asked_from_the_left_up_to_the_first_open_one() -> None:
    design = Design("d")
    table = design.table("posts", pk="PK", sk="SK")
    wide = table.gsi("wide", pk="blog", sk=("day", "likes"))
    posts = table.entity(
        Post,
        post_key,
        tag="post",
        pk="BLOG#{blog}",
        sk="POST#{day}#{slug}",
        on={wide: Keys("{blog}", ("{day}", "{likes}"))},
    )

    @design.query(posts, on=wide, pk="{blog}", sk=(equals("{day}"), at_least("{likes}")))
    def liked(*, blog: str, day: date, likes: int | None = None) -> None: ...

    design.build()
    first = ("day", SortTest("=", ({"S": "2026-05-01"},)))
    assert liked(blog="x", day=A).sort == (first,)
    assert liked(blog="x", day=A, likes=9).sort == (first, ("likes", SortTest(">=", ({"N": "9"},))))
