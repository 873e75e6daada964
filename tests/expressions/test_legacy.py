"""The old parameters say what the new ones say."""

from typing import Any

import pytest

from tablewright.expressions import (
    BadExpression,
    KeyTest,
    apply,
    attribute_updates,
    expected,
    filter_conditions,
    holds,
    key_conditions,
    plan_keys,
)
from tablewright.values import Item

X, Y = {"S": "x"}, {"S": "y"}
ITEM: Item = {"a": X, "n": {"N": "5"}, "ss": {"SS": ["x"]}, "l": {"L": [X]}}

INVALID = "One or more parameter values were invalid: "


def is_kept(name: str, op: str, *values: Any) -> bool:
    return holds(
        filter_conditions({name: {"ComparisonOperator": op, "AttributeValueList": list(values)}}, None), ITEM
    )


def refusal(name: str, op: str, *values: Any) -> str:
    with pytest.raises(BadExpression) as refused:
        is_kept(name, op, *values)
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "op", "values"),
    [
        ("a", "EQ", [X]),
        ("l", "EQ", [{"L": [X]}]),
        ("a", "NE", [Y]),
        ("gone", "NE", [Y]),
        ("a", "LT", [Y]),
        ("a", "LE", [X]),
        ("n", "GT", [{"N": "4"}]),
        ("n", "GE", [{"N": "5"}]),
        ("a", "NOT_NULL", []),
        ("gone", "NULL", []),
        ("a", "BEGINS_WITH", [X]),
        ("ss", "CONTAINS", [X]),
        ("ss", "NOT_CONTAINS", [Y]),
        ("a", "IN", [Y, X]),
        ("n", "BETWEEN", [{"N": "1"}, {"N": "5"}]),
    ],
)
def test_a_filter_keeps_what_its_operator_says(name: str, op: str, values: list[Any]) -> None:
    assert is_kept(name, op, *values)


@pytest.mark.parametrize(
    ("op", "values"), [("EQ", [X]), ("CONTAINS", [X]), ("NOT_CONTAINS", [X]), ("IN", [X])]
)
def test_a_missing_attribute_is_kept_by_no_other_operator(op: str, values: list[Any]) -> None:
    assert not is_kept("gone", op, *values)


def test_several_conditions_are_joined_by_and_unless_or_is_asked_for() -> None:
    conditions = {
        "a": {"ComparisonOperator": "EQ", "AttributeValueList": [X]},
        "n": {"ComparisonOperator": "EQ", "AttributeValueList": [X]},
    }
    assert not holds(filter_conditions(conditions, None), ITEM)
    assert not holds(filter_conditions(conditions, "AND"), ITEM)
    assert holds(filter_conditions(conditions, "OR"), ITEM)


def test_no_conditions_keep_everything() -> None:
    assert holds(filter_conditions({}, None), ITEM)
    assert holds(expected({}, None), ITEM)


def test_expected_also_knows_value_and_exists() -> None:
    assert holds(expected({"a": {"Value": X}, "gone": {"Exists": False}}, None), ITEM)
    assert holds(expected({"a": {"Exists": True, "Value": X}}, None), ITEM)
    assert holds(expected({"n": {"ComparisonOperator": "GE", "Value": {"N": "5"}}}, None), ITEM)
    assert not holds(expected({"a": {"Exists": False}}, None), ITEM)
    assert not holds(expected({"gone": {"Value": X}}, None), ITEM)


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({}, "Value must be provided when Exists is null for Attribute: q"),
        (
            {"ComparisonOperator": "LT"},
            "Value or AttributeValueList must be used with ComparisonOperator: LT for Attribute: q",
        ),
        (
            {"Exists": True, "AttributeValueList": [X]},
            "AttributeValueList can only be used with a ComparisonOperator for Attribute: q",
        ),
        (
            {"ComparisonOperator": "NULL", "Value": X},
            "Invalid number of argument(s) for the NULL ComparisonOperator",
        ),
    ],
)
def test_what_expected_cannot_combine(wanted: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadExpression) as refused:
        expected({"q": wanted}, None)
    assert str(refused.value) == INVALID + sentence


@pytest.mark.parametrize(
    "op", ["EQ", "NE", "LT", "LE", "GT", "GE", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH", "BETWEEN"]
)
def test_an_operator_takes_its_number_of_arguments(op: str) -> None:
    sentence = f"{INVALID}Invalid number of argument(s) for the {op} ComparisonOperator"
    assert refusal("a", op) == sentence
    assert refusal("a", op, X, X, X) == sentence


def test_arguments_are_of_one_type_that_the_operator_takes() -> None:
    assert refusal("a", "IN", X, {"N": "1"}) == (
        f"{INVALID}AttributeValues inside AttributeValueList must be of same type"
    )
    assert (
        refusal("a", "LT", {"L": []})
        == f"{INVALID}ComparisonOperator LT is not valid for L AttributeValue type"
    )
    assert refusal("a", "CONTAINS", {"SS": ["x"]}) == (
        f"{INVALID}ComparisonOperator CONTAINS is not valid for SS AttributeValue type"
    )
    assert refusal("a", "BEGINS_WITH", {"N": "1"}) == (
        f"{INVALID}ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"
    )
    assert refusal("a", "BETWEEN", Y, X) == (
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
    )


def test_key_conditions_are_key_tests() -> None:
    tests = key_conditions(
        {
            "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [X]},
            "sk": {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [Y]},
        }
    )
    assert tests == (KeyTest("pk", "=", (X,)), KeyTest("sk", "begins_with", (Y,)))


def test_an_operator_no_sort_key_takes_is_refused_with_the_key_schema() -> None:
    tests = key_conditions(
        {
            "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [X]},
            "sk": {"ComparisonOperator": "NE", "AttributeValueList": [Y]},
        }
    )
    with pytest.raises(BadExpression, match="Attempted conditional constraint is not an indexable operation"):
        plan_keys(tests, ("pk",), ("sk",), {"pk": "S", "sk": "S"})


def test_attribute_updates_put_add_and_delete() -> None:
    change = attribute_updates(
        {
            "a": {"Value": Y},
            "new": {"Action": "PUT", "Value": X},
            "n": {"Action": "ADD", "Value": {"N": "2"}},
            "l": {"Action": "ADD", "Value": {"L": [Y]}},
            "ss": {"Action": "DELETE", "Value": {"SS": ["x"]}},
            "gone": {"Action": "DELETE"},
        }
    )
    assert apply(change, ITEM) == {"a": Y, "new": X, "n": {"N": "7"}, "l": {"L": [X, Y]}}
