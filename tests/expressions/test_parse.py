"""The grammar: what parses, into what, and where a text stumbles."""

import pytest

from tablewright.expressions import BadExpression
from tablewright.expressions.nodes import (
    Add,
    And,
    Arithmetic,
    Between,
    Call,
    Compare,
    Delete,
    In,
    Not,
    Or,
    Remove,
    Set,
    Update,
    ValueRef,
)
from tablewright.expressions.parse import parse_condition, parse_projection, parse_update

A, B, C = ("a",), ("b",), ("c",)
V = ValueRef(":v")


def compare(path: tuple[str, ...]) -> Compare:
    return Compare("=", path, V)


def refusal(text: str) -> str:
    """Of an update if it begins like one."""
    with pytest.raises(BadExpression) as refused:
        parse_update(text) if text.lower().startswith(
            ("set", "remove", "add", "delete")
        ) else parse_condition(text)
    return str(refused.value)


# Conditions


def test_a_path_goes_through_maps_and_lists() -> None:
    assert parse_condition("a.#b [ 3 ] . c[0] = :v") == Compare("=", ("a", "#b", 3, "c", 0), V)


def test_not_binds_closer_than_and_and_and_closer_than_or() -> None:
    node = parse_condition("NOT a = :v AND b = :v OR c = :v")
    assert node == Or((And((Not(compare(A)), compare(B))), compare(C)))
    assert parse_condition("a = :v OR b = :v AND c = :v") == Or((compare(A), And((compare(B), compare(C)))))


def test_parentheses_overrule_precedence() -> None:
    assert parse_condition("NOT (a = :v OR b = :v) AND c = :v") == And(
        (Not(Or((compare(A), compare(B)))), compare(C))
    )
    assert parse_condition("a = :v AND (b = :v AND c = :v)") == And(
        (compare(A), And((compare(B), compare(C))))
    )


def test_keywords_are_read_in_any_case_and_functions_only_in_theirs() -> None:
    assert parse_condition("not a = :v aNd b = :v") == And((Not(compare(A)), compare(B)))
    assert refusal("ATTRIBUTE_EXISTS(a)") == "Invalid function name; function: ATTRIBUTE_EXISTS"


def test_the_and_of_between_belongs_to_between() -> None:
    assert parse_condition("b BETWEEN a AND c AND a = :v") == And((Between(B, A, C), compare(A)))


def test_in_takes_a_list_of_operands() -> None:
    assert parse_condition("a IN (:v, b, size(c))") == In(A, (V, B, Call("size", (C,))))


def test_operands_may_stand_in_parentheses() -> None:
    assert parse_condition("(a) = (:v)") == compare(A)
    assert parse_condition("((a) = :v)") == compare(A)
    assert parse_condition("NOT (a) = :v") == Not(compare(A))
    assert parse_condition("(a)between(b)and(c)") == Between(A, B, C)
    assert parse_condition("(a.b).c[1] = :v") == Compare("=", ("a", "b", "c", 1), V)
    assert parse_condition("a IN ((:v))") == In(A, (V,))
    assert parse_condition("contains((a), (:v))") == Call("contains", (A, V))


@pytest.mark.parametrize(
    ("text", "token", "near"),
    [
        ("things are not gonna be ok", "are", "things are not"),
        ("a > 4", "4", "> 4"),
        ("attribute_exists(a..b)", ".", "..b"),
        ("attribute_exists(a#b)", "#b", "a#b)"),
        ("attribute_exists(a[b])", "b", "[b]"),
        ("a in b, c", "b", "in b,"),
        ("a in (b,c,)", ")", ",)"),
        ("a > between", "between", "> between"),
        ("(a)between(b.(c.d))and(c)", "(", ".(c"),
        ("a > :v.b", ".", ":v.b"),
        ("a[:v] > b", ":v", "[:v]"),
        ("a[4.5] > b", ".", "4.5"),
        ("size(a).b > a", ".", ").b"),
        ("(size(a))[0] > a", "[", ")[0"),
        ("a", "<EOF>", "a"),
        ("(a)", "<EOF>", ")"),
        ("NOT", "<EOF>", "NOT"),
        ("(a = :v", "<EOF>", ":v"),
        ("a = :v)", ")", ":v)"),
        ("a = (b = c)", "=", "b = c"),
        ("(a = b) = c", "=", ") = c"),
        ("(NOT a) = c", ")", "a) ="),
        ("SET a", "<EOF>", "a"),
        ("SET a=set", "set", "=set"),
        ("SET :a = b", ":a", "SET :a ="),
        ("SET a = b * c", "*", "b * c"),
        ("SET a = - :v", "-", "= - :v"),
        ("SET a = :v,", "<EOF>", ","),
        ("SET a = (b.c).d", ".", ").d"),
        ("SET (a = b)", "(", "SET (a"),
        ("SET a = (b + c + d)", "+", "c + d"),
        ("SET a = if_not_exists(a, :v + :v)", "+", ":v + :v"),
        ("SET _123 = :v", "_", "SET _123"),
        ("REMOVE a = b", "=", "a = b"),
        ("DELETE a if_not_exists(b)", "if_not_exists", "a if_not_exists("),
    ],
)
def test_a_text_stumbles_over_the_first_token_that_cannot_follow(text: str, token: str, near: str) -> None:
    assert refusal(text) == f'Syntax error; token: "{token}", near: "{near}"'


def test_depth_is_no_danger() -> None:
    assert refusal("NOT " * 1000 + "a = :v").endswith("too many operators; operator count: 301")
    assert refusal("(" * 2000 + "a=:v" + ")" * 2000) == "The expression has redundant parentheses;"
    assert refusal("a=" + "(" * 2000 + "b" + ")" * 2000) == "The expression has redundant parentheses;"
    assert refusal("(" * 4000) == 'Syntax error; token: "<EOF>", near: "("'
    assert refusal("f(" * 1300 + "a" + ")" * 1300) == "Invalid function name; function: f"
    assert refusal("SET a=" + "(" * 2000 + ":v" + ")" * 2000) == "The expression has redundant parentheses;"


# Updates and projections


def test_an_update_lists_its_actions_in_the_order_of_the_text() -> None:
    assert parse_update("remove a, b[1] SET c = :v Add n :v delete s :v") == Update(
        (Remove(A), Remove(("b", 1)), Set(C, V), Add(("n",), V), Delete(("s",), V))
    )


def test_a_value_is_an_operand_or_one_sum() -> None:
    assert parse_update("SET a = b - :v") == Update((Set(A, Arithmetic("-", B, V)),))
    assert parse_update("SET a = ((b)+(c))") == Update((Set(A, Arithmetic("+", B, C)),))
    assert parse_update("SET a = if_not_exists(b, :v) + :v") == Update(
        (Set(A, Arithmetic("+", Call("if_not_exists", (B, V)), V)),)
    )


def test_a_sum_in_parentheses_is_an_operand() -> None:
    assert parse_update("SET a = (b + :v) - c") == Update(
        (Set(A, Arithmetic("-", Arithmetic("+", B, V), C)),)
    )


def test_a_projection_is_a_list_of_paths() -> None:
    assert parse_projection("a, b.c[0],#d") == (("a",), ("b", "c", 0), ("#d",))
