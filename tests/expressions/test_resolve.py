from collections.abc import Callable

import pytest

from tablewright.expressions import BadExpression, Placeholders, condition, projection, update
from tablewright.expressions.nodes import Add, Between, Call, Compare, In, Not, Set, Update

ONE, TWO = {"N": "1"}, {"N": "2"}


def test_names_and_values_take_the_place_of_their_placeholders() -> None:
    given = Placeholders({"#s": "status", "#d": "a.b"}, {":v": ONE, ":w": TWO})
    assert condition("#s.#d[0] = :v", "It", given) == Compare("=", ("status", "a.b", 0), ONE)
    assert condition("NOT a IN (:v, size(#s))", "It", given) == Not(
        In(("a",), (ONE, Call("size", (("status",),))))
    )
    assert condition("a BETWEEN :v AND :w", "It", given) == Between(("a",), ONE, TWO)
    assert projection("#d, m.#s", given) == (("a.b",), ("m", "status"))
    assert update("SET #s = :v ADD cnt :w", given) == Update((Set(("status",), ONE), Add(("cnt",), TWO)))


def test_all_expressions_of_a_request_share_its_placeholders() -> None:
    given = Placeholders({"#a": "x", "#b": "y"}, {":v": ONE, ":w": TWO})
    update("SET #a = :v", given)
    with pytest.raises(BadExpression, match=r"Names unused in expressions: keys: \{#b\}"):
        given.check_all_used()
    condition("#b = :w", "ConditionExpression", given)
    given.check_all_used()


def test_a_placeholder_counts_as_used_even_where_evaluation_would_not_reach_it() -> None:
    given = Placeholders(None, {":v": ONE, ":w": TWO})
    condition("a = :v OR b = :w", "ConditionExpression", given)
    given.check_all_used()


def test_no_placeholders_are_never_unused() -> None:
    Placeholders(None, None).check_all_used()


@pytest.mark.parametrize("read", [lambda t, g: condition(t, "It", g), update])
def test_a_text_that_was_refused_is_refused_again(read: Callable[[str, Placeholders], object]) -> None:
    for _ in range(2):
        with pytest.raises(BadExpression, match="Syntax error"):
            read("SET SET", Placeholders(None, None))


def test_a_remembered_text_is_resolved_anew_for_each_request() -> None:
    for value in (ONE, TWO):
        assert condition("a = :v", "It", Placeholders(None, {":v": value})) == Compare("=", ("a",), value)
    with pytest.raises(BadExpression, match="attribute value: :v"):
        condition("a = :v", "It", Placeholders(None, None))


def test_an_update_misses_its_names_before_its_values() -> None:
    with pytest.raises(BadExpression, match="attribute name: #a"):
        update("SET b = :undefined, #a = c", Placeholders(None, None))


def test_paths_clash_by_their_real_names() -> None:
    given = Placeholders({"#a": "a", "#b": "a"}, {":v": ONE})
    with pytest.raises(BadExpression, match=r"overlap .* path one: \[a\], path two: \[a\]"):
        update("SET #a = :v REMOVE #b", given)
    with pytest.raises(BadExpression, match=r"overlap .* path one: \[a\], path two: \[a, x\]"):
        projection("#a, #b.x", given)
