"""Conditions against items; and against a second, plainer opinion."""

from base64 import b64decode
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given as for_any
from tests.expressions.strategies import ITEMS, RESOLVED_CONDITIONS

from tablewright.expressions import Placeholders, condition, holds
from tablewright.expressions.nodes import And, Between, Call, Compare, Condition, In, Not, Operand, Or
from tablewright.values import Item, Value

ITEM: Item = {
    "s": {"S": "héllo😀"},
    "n": {"N": "7"},
    "b": {"B": "eHl6"},
    "ss": {"SS": ["x", "y"]},
    "ns": {"NS": ["1", "2.5"]},
    "bs": {"BS": ["eA=="]},
    "l": {"L": [{"N": "1"}, {"S": "x"}, {"L": [{"N": "2"}]}]},
    "m": {"M": {"x": {"N": "1"}, "y": {"NULL": True}}},
    "t": {"BOOL": True},
    "z": {"NULL": True},
    "e": {"S": ""},
}


def is_true(text: str, **values: Value) -> bool:
    return holds(condition(text, "It", Placeholders(None, {f":{k}": v for k, v in values.items()})), ITEM)


def test_what_is_missing_is_unequal_to_everything_and_nothing_else() -> None:
    assert is_true("absent <> :v", v={"S": "x"})
    assert is_true("absent <> gone")
    assert not is_true("absent = gone")
    for op in ("=", "<", "<=", ">", ">="):
        assert not is_true(f"absent {op} :v", v={"S": "x"})
    assert not is_true("absent BETWEEN :v AND :v", v={"S": "x"})
    assert not is_true("absent IN (:v, gone)", v={"S": "x"})
    assert is_true("NOT (absent = :v)", v={"S": "x"})


def test_values_of_different_types_are_unequal_and_have_no_order() -> None:
    assert is_true("n <> :v", v={"S": "7"})
    assert not is_true("n = :v OR n < :v OR n >= :v", v={"S": "7"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("s > :v", {"S": "hello"}),
        ("s < :v", {"S": "hï"}),
        ("n > :v", {"N": "6.99"}),
        ("n < :v", {"N": "10"}),
        ("n > :v", {"N": "-100"}),
        ("n >= :v AND n <= :v", {"N": "7"}),
        ("b > :v", {"B": "eHk="}),
        ("b < :v", {"B": "eHo="}),
    ],
)
def test_texts_numbers_and_binaries_have_their_order(text: str, value: Value) -> None:
    assert is_true(text, v=value)


def test_containers_are_equal_when_their_contents_are() -> None:
    assert is_true("l = :v", v={"L": [{"N": "1"}, {"S": "x"}, {"L": [{"N": "2"}]}]})
    assert is_true("m = :v", v={"M": {"y": {"NULL": True}, "x": {"N": "1"}}})
    assert is_true("ss = :v", v={"SS": ["x", "y"]})
    assert is_true("l[2][0] = :v AND m.x <> :v", v={"N": "2"})


@pytest.mark.parametrize(
    ("path", "size"), [("s", 7), ("b", 3), ("ss", 2), ("ns", 2), ("bs", 1), ("l", 3), ("m", 2), ("e", 0)]
)
def test_size_counts_utf16_units_bytes_or_members(path: str, size: int) -> None:
    assert is_true(f"size({path}) = :n", n={"N": str(size)})


@pytest.mark.parametrize("path", ["n", "t", "z", "absent"])
def test_what_has_no_size_equals_none(path: str) -> None:
    assert not is_true(f"size({path}) >= :n", n={"N": "0"})
    assert is_true(f"size({path}) <> :n", n={"N": "0"})


@pytest.mark.parametrize(
    ("path", "member"),
    [
        ("s", {"S": "éll"}),
        ("s", {"S": ""}),
        ("b", {"B": "eXo="}),
        ("ss", {"S": "x"}),
        ("ns", {"N": "2.5"}),
        ("bs", {"B": "eA=="}),
        ("l", {"S": "x"}),
        ("l", {"L": [{"N": "2"}]}),
    ],
)
def test_contains_means_part_of_a_text_member_of_a_set_or_element_of_a_list(path: str, member: Value) -> None:
    assert is_true(f"contains({path}, :v)", v=member)


@pytest.mark.parametrize(
    ("path", "member"),
    [
        ("s", {"N": "1"}),
        ("s", {"B": "aA=="}),
        ("ss", {"N": "1"}),
        ("ss", {"SS": ["x"]}),
        ("ns", {"S": "1"}),
        ("n", {"N": "7"}),
        ("m", {"S": "x"}),
        ("absent", {"S": "x"}),
    ],
)
def test_contains_is_false_of_what_cannot_contain(path: str, member: Value) -> None:
    assert not is_true(f"contains({path}, :v)", v=member)


def test_begins_with_is_of_two_texts_or_two_binaries() -> None:
    assert is_true("begins_with(s, :v)", v={"S": "hé"})
    assert is_true("begins_with(b, :v)", v={"B": "eHk="})
    assert is_true("begins_with(:v, l[1])", v={"S": "xyz"})
    assert not is_true("begins_with(s, :v)", v={"B": "aA=="})
    assert not is_true("begins_with(n, :v)", v={"S": "7"})


def test_attribute_type_knows_all_ten() -> None:
    for path, name in zip(ITEM, ("S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL"), strict=False):
        assert is_true(f"attribute_type({path}, :t)", t={"S": name})
    assert not is_true("attribute_type(absent, :t)", t={"S": "S"})


def test_existence_is_of_any_path() -> None:
    assert is_true("attribute_exists(m.y) AND attribute_exists(l[2][0]) AND attribute_not_exists(l[3])")
    assert is_true("attribute_not_exists(s.x) AND attribute_not_exists(m[0]) AND attribute_not_exists(l.x)")


def test_a_deeply_nested_condition_is_answered() -> None:
    assert is_true("NOT(" * 290 + "n = :v" + ")" * 290, v={"N": "7"})
    assert is_true("(n = :v AND " * 149 + "n = :v" + ")" * 149, v={"N": "7"})


# A second opinion: the same questions asked of Python's own values.


def plain(value: Value | None) -> tuple[str, Any] | None:
    if value is None:
        return None
    ((kind, content),) = value.items()
    match kind:
        case "N":
            return kind, Decimal(content)
        case "B":
            return kind, b64decode(content)
        case "L":
            return kind, [plain(element) for element in content]
        case "M":
            return kind, {name: plain(member) for name, member in content.items()}
        case "NS":
            return kind, {Decimal(member) for member in content}
        case "SS":
            return kind, set(content)
        case _:
            return kind, content


def look_up(operand: Operand, item: Item) -> tuple[str, Any] | None:
    if isinstance(operand, Call):
        found: Any = look_up(operand.operands[0], item)
        if found is None or found[0] in ("N", "BOOL", "NULL"):
            return None
        units = [2 if found[0] == "S" and one > "\uffff" else 1 for one in found[1]]
        return "N", sum(units)
    if isinstance(operand, dict):
        return plain(operand)
    assert isinstance(operand, tuple)
    found = ("M", {name: plain(value) for name, value in item.items()})
    for element in operand:
        try:
            wanted = "L" if isinstance(element, int) else "M"
            found = found[1][element] if found[0] == wanted else None
        except (KeyError, IndexError, TypeError):
            return None
    return found  # type: ignore[no-any-return]  # what `plain` made


def second_opinion(node: Condition, item: Item) -> bool:
    def is_ordered(low: Operand, high: Operand, strictly: bool = False) -> bool:
        left, right = look_up(low, item), look_up(high, item)
        if left is None or right is None or left[0] != right[0] or left[0] not in "SNB":
            return False
        return bool(left[1] < right[1] if strictly else left[1] <= right[1])

    match node:
        case And(parts):
            return all(second_opinion(part, item) for part in parts)
        case Or(parts):
            return any(second_opinion(part, item) for part in parts)
        case Not(part):
            return not second_opinion(part, item)
        case Compare("=", left, right):
            return look_up(left, item) is not None and look_up(left, item) == look_up(right, item)
        case Compare("<>", left, right):
            return not second_opinion(Compare("=", left, right), item)
        case Compare(op, left, right):
            low, high = (left, right) if op[0] == "<" else (right, left)
            return is_ordered(low, high, strictly=len(op) == 1)
        case Between(operand, low, high):
            return is_ordered(low, operand) and is_ordered(operand, high)
        case In(operand, options):
            return any(second_opinion(Compare("=", operand, option), item) for option in options)
        case Call("attribute_exists", (path,)):
            return look_up(path, item) is not None
        case Call("attribute_not_exists", (path,)):
            return look_up(path, item) is None
        case Call(name, (whole, part)):
            return opinion_on_parts(name, look_up(whole, item), look_up(part, item))
    raise AssertionError(node)


def opinion_on_parts(name: str, whole: tuple[str, Any] | None, part: tuple[str, Any] | None) -> bool:
    if whole is None or part is None:
        return False
    if name == "begins_with":
        return whole[0] == part[0] and whole[0] in "SB" and whole[1][: len(part[1])] == part[1]
    if whole[0] == "L":
        return part in whole[1]
    return whole[0] in ("S", "B", "SS", "NS") and part[0] == whole[0][0] and part[1] in whole[1]


@for_any(RESOLVED_CONDITIONS, ITEMS)
def test_a_condition_holds_when_a_second_opinion_says_so(node: Condition, item: Item) -> None:
    assert holds(node, item) == second_opinion(node, item)
