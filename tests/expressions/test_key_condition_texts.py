"""The short way from a key condition to its tests leads where the long one does, or nowhere."""

from collections.abc import Callable

import pytest
from hypothesis import given as for_any
from hypothesis import strategies as st

from tablewright.expressions import BadExpression, KeyTest, Placeholders, condition, key_condition, key_tests
from tablewright.expressions.keys import _quick_tests
from tablewright.values import Value

NAMES = {"#p": "pk", "#s": "sk", "#t": "sk"}
VALUES: dict[str, Value] = {
    ":a": {"S": "a"},
    ":n": {"N": "1"},
    ":b": {"B": "YQ=="},
    ":l": {"L": []},
    ":e": {"S": ""},
}
attributes = st.sampled_from(("pk", "sk", "#p", "#s", "#t", "#unknown", "pk.x", "status", ":a"))
values = st.sampled_from((*VALUES, ":unknown", "pk"))
operators = st.sampled_from(("=", "<", "<=", ">", ">=", "<>"))
tests = st.one_of(
    st.builds("{} {} {}".format, attributes, operators, values),
    st.builds("begins_with({}, {})".format, attributes, values),
    st.builds("contains({}, {})".format, attributes, values),
    st.builds("{} BETWEEN {} AND {}".format, attributes, values, values),
)
texts = st.lists(tests, min_size=1, max_size=3).flatmap(
    lambda parts: st.sampled_from((" AND ".join(parts), f"({' AND '.join(parts)})", " OR ".join(parts)))
)


def the_long_way(text: str, given: Placeholders) -> tuple[KeyTest, ...]:
    return key_tests(condition(text, "KeyConditionExpression", given))


Outcome = tuple[tuple[KeyTest, ...] | str, set[str]]


def outcome(read: Callable[[str, Placeholders], tuple[KeyTest, ...]], text: str) -> Outcome:
    given = Placeholders(NAMES, VALUES)
    try:
        return read(text, given), given.used
    except BadExpression as mistake:
        return str(mistake), set()


@for_any(texts)
def test_both_ways_find_the_same_tests_or_the_same_mistake(text: str) -> None:
    assert outcome(key_condition, text) == outcome(the_long_way, text)


@pytest.mark.parametrize(
    "text", ["pk = :a", "#p = :a AND begins_with(#s, :a)", "(pk = :n AND sk >= :b)", "sk < :a AND #p = :l"]
)
def test_an_ordinary_text_goes_the_short_way(text: str) -> None:
    assert _quick_tests(text, Placeholders(NAMES, VALUES)) == the_long_way(text, Placeholders(NAMES, VALUES))


def test_two_names_for_one_attribute_are_found_out() -> None:
    with pytest.raises(BadExpression, match="one condition per key"):
        key_condition("#s = :a AND #t > :a", Placeholders(NAMES, VALUES))


def test_a_text_without_placeholders_given_goes_the_long_way() -> None:
    with pytest.raises(BadExpression, match="attribute value: :a"):
        key_condition("pk = :a", Placeholders(None, None))
