"""Mistakes of operands once their placeholders are filled in."""

import pytest

from tablewright.expressions import BadExpression, Placeholders, condition, update
from tablewright.values import Value

VALUES: dict[str, Value] = {
    ":s": {"S": "x"},
    ":n": {"N": "1"},
    ":b": {"B": "eA=="},
    ":bool": {"BOOL": True},
    ":null": {"NULL": True},
    ":l": {"L": []},
    ":m": {"M": {}},
    ":ss": {"SS": ["x"]},
    ":ns": {"NS": ["1"]},
    ":bs": {"BS": ["eA=="]},
}
TYPE = "Incorrect operand type for operator or function; operator or function: {}, operand type: {}"


def refusal(text: str, names: dict[str, str] | None = None) -> str:
    given = Placeholders(names, VALUES)
    with pytest.raises(BadExpression) as refused:
        update(text, given) if text.startswith(("SET", "ADD", "DELETE")) else condition(text, "It", given)
    return str(refused.value).removeprefix("Invalid It: ").removeprefix("Invalid UpdateExpression: ")


def passes(text: str) -> None:
    condition(text, "It", Placeholders(None, VALUES))


def type_name(value: str) -> str:
    return next(iter(VALUES[value]))


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("value", [":bool", ":null", ":l", ":m", ":ss", ":ns", ":bs"])
def test_only_texts_numbers_and_binaries_have_an_order(op: str, value: str) -> None:
    assert refusal(f"a {op} {value}") == TYPE.format(op, type_name(value))
    assert refusal(f"{value} {op} a") == TYPE.format(op, type_name(value))
    assert refusal(f"a BETWEEN :n AND {value}") == TYPE.format("BETWEEN", type_name(value))
    passes(f"a = {value} AND a <> {value} AND a IN ({value})")


@pytest.mark.parametrize("value", [":n", ":bool", ":null", ":l", ":m", ":ss", ":ns", ":bs"])
def test_only_texts_and_binaries_begin_with_something(value: str) -> None:
    assert refusal(f"begins_with(a, {value})") == TYPE.format("begins_with", type_name(value))
    assert refusal(f"begins_with({value}, a)") == TYPE.format("begins_with", type_name(value))


def test_size_is_a_number_wherever_it_stands() -> None:
    assert refusal("begins_with(a, size(b))") == TYPE.format("begins_with", "N")
    assert refusal("attribute_type(a, size(b))") == TYPE.format("attribute_type", "N")
    assert refusal("size(size(a)) > :n") == TYPE.format("size", "N")
    passes("size(a) > :s")


@pytest.mark.parametrize("value", [":n", ":bool", ":null"])
def test_what_has_no_parts_has_no_size(value: str) -> None:
    assert refusal(f"size({value}) > a") == TYPE.format("size", type_name(value))


def test_a_function_says_how_many_operands_it_was_given() -> None:
    count = "Incorrect number of operands for operator or function; operator or function: {}, number of operands: {}"
    assert refusal("contains(a)") == count.format("contains", 1)
    assert refusal("begins_with(a, b, c)") == count.format("begins_with", 3)
    assert refusal("size(a, b) > :n") == count.format("size", 2)
    assert refusal("SET a = list_append(b)") == count.format("list_append", 1)


def test_some_functions_want_a_path() -> None:
    path = "Operator or function requires a document path; operator or function: "
    assert refusal("attribute_not_exists(size(:s))") == path + "attribute_not_exists"
    assert refusal("SET a = if_not_exists(if_not_exists(a, b), c)") == path + "if_not_exists"
    passes("begins_with(:s, a) AND contains(:ss, a)")


def test_a_path_is_not_compared_with_itself_however_it_is_spelled() -> None:
    twins = (
        "The first operand must be distinct from the remaining operands for this operator or function; "
        "operator: {}, first operand: {}"
    )
    assert refusal("a > #a", {"#a": "a"}) == twins.format(">", "[a]")
    assert refusal("contains(b.c[1].a, b.c[1].#a)", {"#a": "a"}) == twins.format("contains", "[b, c, [1], a]")
    assert refusal("a IN (b, a)") == twins.format("IN", "[a]")
    assert refusal("a BETWEEN :n AND a") == twins.format("BETWEEN", "[a]")
    passes(":n = :n AND size(a) = size(a)")


def test_bounds_are_checked_only_if_both_are_given() -> None:
    shown = "lower bound operand: AttributeValue: {}, upper bound operand: AttributeValue: {}"
    assert refusal("a BETWEEN :n AND :s").endswith(shown.format("{N:1}", "{S:x}"))
    passes("a BETWEEN b AND :s AND a BETWEEN :n AND b AND a BETWEEN :n AND :n")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (":s", "STRING"),
        (":b", "BINARY"),
        (":bool", "BOOLEAN"),
        (":null", "NULL"),
        (":l", "LIST"),
        (":m", "MAP"),
    ],
)
def test_only_numbers_and_sets_are_added_and_only_sets_deleted(value: str, name: str) -> None:
    message = "Incorrect operand type for operator or function; operator: {0}, operand type: {1}, "
    for clause in ("ADD", "DELETE"):
        assert refusal(f"{clause} a {value}") == (
            message.format(clause, name) + f"typeSet: ALLOWED_FOR_{clause}_OPERAND"
        )
    assert refusal("DELETE a :n").endswith("operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND")


@pytest.mark.parametrize("op", ["+", "-"])
def test_sums_are_of_numbers_and_appends_of_lists(op: str) -> None:
    assert refusal(f"SET a = b {op} :ss") == TYPE.format(op, "SS")
    assert refusal(f"SET a = :b {op} :ss") == TYPE.format(op, "B")
    assert refusal("SET a = list_append(b, :m)") == TYPE.format("list_append", "M")
    assert refusal(f"SET a = if_not_exists(b, (:l {op} c))") == TYPE.format(op, "L")


def test_the_first_condition_with_a_mistake_is_named_whatever_its_mistake() -> None:
    assert refusal("a = a AND b = :undefined").startswith("The first operand must be distinct")
    assert refusal("b = :undefined AND a = a").startswith("An expression attribute value")


def test_an_undefined_placeholder_comes_before_other_mistakes_of_its_condition() -> None:
    assert refusal("attribute_exists(#a, :n) AND a = a").endswith("attribute name: #a")
    assert refusal("begins_with(:undefined, #a, #b)").endswith("attribute value: :undefined")
