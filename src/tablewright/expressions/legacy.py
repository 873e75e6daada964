"""The parameters from before expressions, as the same nodes.

Expected, QueryFilter and ScanFilter become conditions, KeyConditions key tests, AttributeUpdates an update.
Their values are plain wire values from the start, so nothing is left to resolve.
Elsewhere: which of these parameters go together in a request (the engine).
"""

from collections.abc import Mapping
from typing import Any

from tablewright.expressions.errors import BadExpression
from tablewright.expressions.keys import KeyTest
from tablewright.expressions.nodes import (
    Action,
    Add,
    And,
    Between,
    Call,
    Compare,
    Condition,
    Delete,
    In,
    Not,
    Or,
    Path,
    Remove,
    Set,
    Update,
)
from tablewright.expressions.operand_checks import LONG_NAMES, ORDERED, SETS, TEXTS
from tablewright.values import Value, compare

TWO_CONDITIONS = "Conditions can be of length 1 or 2 only"
_INVALID = "One or more parameter values were invalid: "

_COMPARATORS = {"EQ": "=", "NE": "<>", "LE": "<=", "LT": "<", "GE": ">=", "GT": ">"}
_FUNCTIONS = {
    "NOT_NULL": "attribute_exists",
    "NULL": "attribute_not_exists",
    "CONTAINS": "contains",
    "BEGINS_WITH": "begins_with",
}
_COUNTS = {"NOT_NULL": 0, "NULL": 0, "BETWEEN": 2}  # all others take one, and IN one or more

# EQ and NE take values of any type.
_TYPES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("LE", "LT", "GE", "GT", "IN", "BETWEEN"), ORDERED),
    **dict.fromkeys(("CONTAINS", "NOT_CONTAINS"), ORDERED | {"BOOL", "NULL"}),
    "BEGINS_WITH": TEXTS,
}
_OPERATORS = frozenset((*_COMPARATORS, *_FUNCTIONS, "NOT_CONTAINS", "IN", "BETWEEN"))
_ADDABLE = SETS | {"N", "L"}


def expected(conditions: Mapping[str, Any], conditional_operator: str | None) -> Condition:
    """`Expected`: conditions on attributes, with the older Value and Exists beside ComparisonOperator."""
    _refuse_idle_operator(conditions, conditional_operator)
    parts = [_expectation(name, wanted) for name, wanted in conditions.items()]
    return _joined(parts, conditional_operator)


def filter_conditions(conditions: Mapping[str, Any], conditional_operator: str | None) -> Condition:
    """`QueryFilter` or `ScanFilter`."""
    _refuse_idle_operator(conditions, conditional_operator)
    parts = []
    for name, wanted in conditions.items():
        op, values = _operator(wanted), wanted.get("AttributeValueList") or []
        _refuse_arguments(op, values)
        parts.append(_comparison(name, op, values))
    return _joined(parts, conditional_operator)


def key_conditions(conditions: Mapping[str, Any], most: int = 2) -> tuple[KeyTest, ...]:
    """`KeyConditions`. An operator that no key takes is refused when the keys are planned (keys.py).

    `most` is the number of key attributes that the table or index can have.
    """
    tests = []
    for name, wanted in conditions.items():
        op, values = _operator(wanted), wanted.get("AttributeValueList") or []
        _refuse_arguments(op, values)
        op = "begins_with" if op == "BEGINS_WITH" else _COMPARATORS.get(op, op)
        tests.append(KeyTest(name, op, tuple(values)))
    if not 1 <= len(tests) <= most:
        raise BadExpression(TWO_CONDITIONS)
    return tuple(tests)


def attribute_updates(updates: Mapping[str, Any]) -> Update:
    """`AttributeUpdates`. An action that is not named is a PUT."""
    return Update(tuple([_action(name, change) for name, change in updates.items()]), is_legacy=True)


# Conditions


def _refuse_idle_operator(conditions: Mapping[str, Any], conditional_operator: str | None) -> None:
    if conditional_operator is None or len(conditions) > 1:
        return
    if not conditions:
        raise BadExpression("ConditionalOperator cannot be used without Filter or Expected")
    raise BadExpression(
        "ConditionalOperator can only be used when Filter or Expected has two or more elements"
    )


def _joined(parts: list[Condition], conditional_operator: str | None) -> Condition:
    return Or(tuple(parts)) if conditional_operator == "OR" else And(tuple(parts))


def _operator(wanted: Mapping[str, Any]) -> str:
    op = wanted.get("ComparisonOperator")
    if op not in _OPERATORS:
        raise BadExpression("Comparison type does not exist in DynamoDB")
    return str(op)


def _expectation(name: str, wanted: Mapping[str, Any]) -> Condition:
    value, values, exists = wanted.get("Value"), wanted.get("AttributeValueList"), wanted.get("Exists")
    for_name = f" for Attribute: {name}"
    if value is not None and values is not None:
        raise BadExpression(f"{_INVALID}Value and AttributeValueList cannot be used together{for_name}")
    if wanted.get("ComparisonOperator") is not None:
        op = _operator(wanted)
        if exists is not None:
            raise BadExpression(f"{_INVALID}Exists and ComparisonOperator cannot be used together{for_name}")
        if value is None and values is None and _COUNTS.get(op) != 0:
            raise BadExpression(
                f"{_INVALID}Value or AttributeValueList must be used with ComparisonOperator: {op}{for_name}"
            )
        arguments = (values or []) if value is None else [value]
        _refuse_arguments(op, arguments)
        return _comparison(name, op, arguments)
    if values is not None:
        raise BadExpression(
            f"{_INVALID}AttributeValueList can only be used with a ComparisonOperator{for_name}"
        )
    if exists is False:
        if value is not None:
            raise BadExpression(f"{_INVALID}Value cannot be used when Exists is false{for_name}")
        return Call("attribute_not_exists", ((name,),))
    if value is None:
        spelled = "null" if exists is None else "true"
        raise BadExpression(f"{_INVALID}Value must be provided when Exists is {spelled}{for_name}")
    return Compare("=", (name,), value)


def _refuse_arguments(op: str, values: list[Value]) -> None:
    if not values if op == "IN" else len(values) != _COUNTS.get(op, 1):
        raise BadExpression(f"{_INVALID}Invalid number of argument(s) for the {op} ComparisonOperator")
    kinds = [next(iter(value)) for value in values]
    if len(set(kinds)) > 1:
        raise BadExpression(f"{_INVALID}AttributeValues inside AttributeValueList must be of same type")
    for kind in kinds:
        if op in _TYPES and kind not in _TYPES[op]:
            raise BadExpression(
                f"{_INVALID}ComparisonOperator {op} is not valid for {kind} AttributeValue type"
            )
    if op == "BETWEEN" and (compare(*values) or 0) > 0:
        raise BadExpression(
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
        )


def _comparison(name: str, op: str, values: list[Value]) -> Condition:
    path: Path = (name,)
    if op in _COMPARATORS:
        return Compare(_COMPARATORS[op], path, values[0])
    if op in _FUNCTIONS:
        return Call(_FUNCTIONS[op], (path, *values))
    if op == "BETWEEN":
        return Between(path, *values)
    if op == "IN":
        return In(path, tuple(values))
    # NOT_CONTAINS, which unlike NE is false of an attribute that is not there.
    return And((Call("attribute_exists", (path,)), Not(Call("contains", (path, *values)))))


# Updates


def _action(name: str, change: Mapping[str, Any]) -> Action:
    action, value = change.get("Action") or "PUT", change.get("Value")
    if action not in ("ADD", "DELETE", "PUT"):
        raise BadExpression("Member must satisfy enum value set: [ADD, DELETE, PUT]")
    if value is None:
        if action != "DELETE":
            raise BadExpression(
                f"{_INVALID}Only DELETE action is allowed when no attribute value is specified"
            )
        return Remove((name,))
    if action == "PUT":
        return Set((name,), value)
    kind = next(iter(value))
    if action == "ADD":
        if kind not in _ADDABLE:
            raise BadExpression(f"{_INVALID}ADD action is not supported for the type {LONG_NAMES[kind]}")
        return Add((name,), value)
    if kind not in SETS:
        raise BadExpression(
            f"{_INVALID}DELETE action with value is not supported for the type {LONG_NAMES[kind]}"
        )
    return Delete((name,), value)
