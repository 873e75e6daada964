"""Mistakes of the text alone, and which of two mistakes is named."""

import pytest

from tablewright.expressions import BadExpression
from tablewright.expressions.parse import parse_condition, parse_projection, parse_update

REDUNDANT = "The expression has redundant parentheses;"
MISPLACED = "The function is not allowed to be used this way in an expression; function: "


def refusal(text: str) -> str:
    with pytest.raises(BadExpression) as refused:
        parse_update(text) if text.startswith("SET") else parse_condition(text)
    return str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "((a = :v))",
        "NOT ((a = :v))",
        "b = :v AND ((a = :v))",
        "b = :v AND ((a = :v AND (c = :v)))",
        "a > ((b))",
        "((a)).b > c",
        "contains(a, ((b)))",
        "a IN (((b)))",
        "SET a = ((a + :v))",
        "SET a = if_not_exists(a, ((:v)))",
    ],
)
def test_a_parenthesis_that_holds_only_a_parenthesis_is_redundant(text: str) -> None:
    assert refusal(text) == REDUNDANT


@pytest.mark.parametrize(
    "text",
    ["(a = :v) AND (b = :v)", "((a = :v) AND (b = :v))", "((a) = :v)", "contains((a), b)", "a IN ((b))"],
)
def test_other_parentheses_are_fine(text: str) -> None:
    parse_condition(text)


def test_size_is_no_condition_and_a_condition_is_no_operand() -> None:
    assert refusal("a = :v AND NOT size(b)") == MISPLACED + "size"
    assert refusal("attribute_exists(a) = :v") == MISPLACED + "attribute_exists"
    assert refusal("size(contains(a, b)) > :v") == MISPLACED + "contains"
    assert refusal("a IN (b, attribute_exists(c))") == MISPLACED + "attribute_exists"


def test_a_function_of_the_other_kind_of_expression_is_known_but_not_allowed() -> None:
    not_allowed = "The function is not allowed in {} expression; function: {}"
    assert refusal("if_not_exists(a, b) = :v") == not_allowed.format("a condition", "if_not_exists")
    assert refusal("SET a = contains(a, b)") == not_allowed.format("an update", "contains")


def test_a_list_append_takes_no_list_append() -> None:
    assert refusal("SET a = list_append(list_append(a, b), c)") == MISPLACED + "list_append"
    parse_update("SET a = list_append(if_not_exists(a, b), c)")


def test_every_element_of_a_path_may_be_reserved_and_is_named_as_it_was_written() -> None:
    reserved = "Attribute name is a reserved keyword; reserved keyword: "
    assert refusal("a.b[1].Status = :v") == reserved + "Status"
    assert refusal("contains(a, abOrT)") == reserved + "abOrT"
    assert refusal("SET a = convert") == reserved + "convert"
    with pytest.raises(BadExpression, match=reserved + "size"):
        parse_projection("a, size")
    parse_condition("#status.#size = :v AND size(a) = :v")


def test_a_condition_has_at_most_300_operators() -> None:
    too_many = "The expression contains too many operators; operator count: 301"
    assert refusal(" AND ".join(["a=:v"] * 151)) == too_many
    assert refusal(" AND ".join(["a=:v"] * 200)) == too_many
    parse_condition("NOT " + " AND ".join(["a=:v"] * 150))
    parse_condition(" AND ".join(["contains(a,:v)"] * 150))
    parse_condition(" AND ".join(["a BETWEEN :v AND :w"] * 100))


def test_an_update_has_at_most_300_sums_and_functions_but_any_number_of_actions() -> None:
    sums = [f"a{number}=b+:v" for number in range(301)]
    assert (
        refusal("SET " + ",".join(sums)) == "The expression contains too many operators; operator count: 301"
    )
    parse_update("SET " + ",".join(sums[:300]))
    parse_update("REMOVE " + ",".join(f"a{number}" for number in range(301)))


def test_in_takes_100_operands() -> None:
    options = [f":v{number}" for number in range(101)]
    assert refusal(f"a IN ({','.join(options)})") == (
        "The IN operator is provided with too many operands; number of operands: 101"
    )
    parse_condition(f"a IN ({','.join(options[:100])})")


def test_a_path_has_32_elements() -> None:
    assert refusal(".".join("a" * 33) + " = :v") == (
        "The document path has too many nesting levels; nesting levels: 33"
    )
    parse_condition(".".join("a" * 32) + " = :v")


def test_an_index_fits_in_31_bits() -> None:
    assert (
        refusal("a[2147483648] = :v") == "List index is not within the allowable range; index: [2147483648]"
    )
    parse_condition("a[2147483647] = :v")


def test_an_expression_has_4096_bytes() -> None:
    too_long = "Expression size has exceeded the maximum allowed size; expression size: 4097"
    assert refusal("a = :v".ljust(4097)) == too_long
    assert refusal("a = ü".ljust(4096)) == too_long
    parse_condition("a = :v".ljust(4096))


def test_each_clause_comes_once() -> None:
    once = 'The "{}" section can only be used once in an update expression;'
    assert refusal("SET a = :v REMOVE b SET c = :v") == once.format("SET")
    assert refusal("SET a = :v REMOVE b remove c") == once.format("REMOVE")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("((foo(a))) AND", "Syntax error"),
        ("((foo(a)))", "The expression has redundant"),
        ("foo(size(a)) AND size(a)", "Invalid function name"),
        ("attribute_exists(views) > b", "The function is not allowed"),
        ("attribute_exists(views, b)", "Attribute name is a reserved"),
        ("SET abort = foo(a) SET b = c", "Attribute name is a reserved"),
        ("SET a = foo(a) SET b = c", "Invalid function name"),
    ],
)
def test_of_two_mistakes_the_service_names_this_one(text: str, first: str) -> None:
    assert refusal(text).startswith(first)
