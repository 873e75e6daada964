"""What parse makes, render writes and parse reads again."""

import pytest
from hypothesis import given as for_any
from hypothesis import strategies as st
from tests.expressions.strategies import PARSED_CONDITIONS, PARSED_PATHS, PARSED_UPDATES

from tablewright.expressions import Condition, Path, PlaceholderAllocator, Update, render
from tablewright.expressions.nodes import And, Compare, Not, Or, ValueRef
from tablewright.expressions.parse import parse_condition, parse_projection, parse_update


@for_any(PARSED_CONDITIONS)
def test_a_condition_comes_back_from_its_text(node: Condition) -> None:
    assert parse_condition(render(node)) == node


@for_any(PARSED_UPDATES)
def test_an_update_comes_back_from_its_text(node: Update) -> None:
    assert parse_update(render(node)) == node


@for_any(st.lists(PARSED_PATHS, min_size=1).map(tuple))
def test_a_projection_comes_back_from_its_text(paths: tuple[Path, ...]) -> None:
    assert parse_projection(render(paths)) == paths


def test_there_are_parentheses_only_where_they_are_needed() -> None:
    a, b = Compare("=", ("a",), ValueRef(":v")), Compare("<", ("b", 0, "#c"), ("d",))
    assert render(Or((And((a, b)), Not(a)))) == "a = :v AND b[0].#c < d OR NOT a = :v"
    assert render(And((Or((a, b)), Not(And((a, b)))))) == (
        "(a = :v OR b[0].#c < d) AND NOT (a = :v AND b[0].#c < d)"
    )


def test_a_clause_is_named_once() -> None:
    text = "REMOVE a, b[0] SET c = if_not_exists(c, :v) + (d - :v), e = :v ADD n :v DELETE s :v"
    assert render(parse_update(text)) == text


def test_a_resolved_value_has_no_text_without_placeholders() -> None:
    with pytest.raises(TypeError, match="without placeholders"):
        render(Compare("=", ("a",), {"N": "1"}))


def test_a_resolved_node_is_written_with_a_placeholder_for_each_name_and_value() -> None:
    placeholders = PlaceholderAllocator()
    node = And((Compare("=", ("size", 0, "a"), {"N": "1"}), Compare("<", ("a",), {"N": "1"})))
    assert render(node, placeholders) == "#0[0].#1 = :0 AND #1 < :1"
    assert placeholders.members() == {
        "ExpressionAttributeNames": {"#0": "size", "#1": "a"},
        "ExpressionAttributeValues": {":0": {"N": "1"}, ":1": {"N": "1"}},
    }
