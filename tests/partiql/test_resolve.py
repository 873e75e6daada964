"""Statements with their parameters: conditions and updates as the nodes of expressions, literals as values."""

import pytest

from tablewright.expressions import BadExpression
from tablewright.expressions.nodes import (
    Add,
    And,
    Arithmetic,
    Call,
    Compare,
    Delete,
    In,
    Not,
    Or,
    Remove,
    Set,
)
from tablewright.partiql import Column, Exists, Insert, Select, Update, statement

A: tuple[str] = ("a",)


def where(text: str, *parameters: dict[str, object]) -> object:
    select = statement(f"SELECT * FROM t WHERE {text}", parameters)
    assert isinstance(select, Select)
    return select.where


def changes(text: str) -> object:
    update = statement(f"UPDATE t {text} WHERE pk = 1", [])
    assert isinstance(update, Update)
    return update.changes.actions


def test_is_is_said_in_the_words_of_an_expression() -> None:
    assert where("a IS MISSING") == Call("attribute_not_exists", (A,))
    assert where("a IS NOT MISSING") == Not(Call("attribute_not_exists", (A,)))
    assert where("a IS NULL") == Call("attribute_type", (A, {"S": "NULL"}))
    assert where("a IS STRUCT") == Call("attribute_type", (A, {"S": "M"}))


def test_functions_are_known_in_any_case() -> None:
    assert where("BEGINS_WITH(a, 'x')") == Call("begins_with", (A, {"S": "x"}))
    assert where("Size(a) > 1") == Compare(">", Call("size", (A,)), {"N": "1"})


def test_parameters_stand_where_their_marks_stood() -> None:
    assert where("a = ? OR a IN [?, 2]", {"S": "x"}, {"N": "1"}) == Or(
        (Compare("=", A, {"S": "x"}), In(A, ({"N": "1"}, {"N": "2"})))
    )


def test_a_condition_compared_with_a_truth_value_is_unfolded() -> None:
    there = Call("attribute_exists", (A,))
    assert where("attribute_exists(a) = true") == there
    assert where("attribute_exists(a) = ?", {"BOOL": False}) == Not(there)
    assert where("attribute_exists(a) <> true") == Not(there)
    assert where("false = attribute_exists(a)") == Not(there)
    assert where("attribute_exists(a) = 1") == And((there, Not(there)))


def test_an_update_speaks_of_sets_sums_and_lists() -> None:
    assert changes("SET a = set_add(a, <<1>>), b = set_delete(b, <<'x'>>) REMOVE c.d SET e = e - 1") == (
        Add(A, {"NS": ["1"]}),
        Delete(("b",), {"SS": ["x"]}),
        Remove(("c", "d")),
        Set(("e",), Arithmetic("-", ("e",), {"N": "1"})),
    )
    assert changes("SET a = list_append([1], b)") == (
        Set(A, Call("list_append", ({"L": [{"N": "1"}]}, ("b",)))),
    )


def test_an_insert_holds_canonical_values() -> None:
    insert = statement("INSERT INTO t VALUE {'n': 1.0, 's': <<2.0, 1>>, 'p': ?}", [{"BOOL": True}])
    assert insert == Insert("t", {"n": {"N": "1"}, "s": {"NS": ["1", "2"]}, "p": {"BOOL": True}})


def test_a_column_is_labelled_by_its_last_name_and_what_follows_it() -> None:
    select = statement("SELECT a, b.c, d.e[1][2] FROM t", [])
    assert isinstance(select, Select)
    assert select.columns == (
        Column(("a",), "a"),
        Column(("b", "c"), "c"),
        Column(("d", "e", 1, 2), "e[1][2]"),
    )


def test_exists_keeps_what_its_select_asks() -> None:
    exists = statement("EXISTS(SELECT * FROM t WHERE a = 1)", [])
    assert exists == Exists("t", None, Compare("=", A, {"N": "1"}))


@pytest.mark.parametrize(
    "text", ["a", "1", "'x'", "a + 1", "a + 1 = 2", "a LIKE 'x'", "a || 'x' = 'y'", "a IS INT",
             "contains(begins_with(a, 'x'), 'y')",
             "a IN []", "-a = 1", "a = {'x': b}", "a = f(1)", "a = a"]
)  # fmt: skip
def test_what_says_no_condition_is_refused(text: str) -> None:
    with pytest.raises(BadExpression):
        where(text)
