"""The gate of attribute values: what passes, in which spelling, and what is said to what does not.

Elsewhere: the same as laws over random values (tests/properties/test_value_laws.py).
"""

from copy import deepcopy
from typing import Any

import pytest

from tablewright.values import BadValue, Item, Value, WrongJson, admit, admit_item

INVALID = "One or more parameter values were invalid: "


def nested(depth: int, kind: str = "M") -> Value:
    """A text inside so many containers."""
    value: Value = {"S": "deep"}
    for _ in range(depth):
        value = {"M": {"a": value}} if kind == "M" else {"L": [value]}
    return value


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": ""}, 0), ({"S": "abc"}, 3), ({"S": "é"}, 2), ({"S": "😀"}, 4), ({"N": "120"}, 3), ({"B": ""}, 0),
        ({"B": "AAEC"}, 3), ({"B": "AA=="}, 1), ({"BOOL": False}, 1), ({"NULL": True}, 1), ({"SS": ["a", "bc"]}, 3),
        ({"NS": ["1", "120"]}, 5), ({"BS": ["AA==", "AAE="]}, 3), ({"L": []}, 3), ({"M": {}}, 3),
        ({"L": [{"S": "ab"}, {"NULL": True}]}, 3 + 3 + 2), ({"M": {"key": {"S": "ab"}}}, 3 + 1 + 3 + 2),
        ({"M": {"é": {"L": [{"N": "1"}]}}}, 3 + 1 + 2 + (3 + 1 + 2)),
    ],
)  # fmt: skip
def test_a_canonical_value_passes_as_it_is_with_its_size(value: Value, size: int) -> None:
    admitted, weight = admit(value)
    assert admitted is value
    assert weight == size


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ({"N": "1.0"}, {"N": "1"}),
        ({"NS": ["10", "9", "-1.0"]}, {"NS": ["-1", "9", "10"]}),
        ({"SS": ["b", "a", "\uffff", "😀"]}, {"SS": ["a", "b", "\uffff", "😀"]}),
        ({"BS": ["/w==", "AA==", ""]}, {"BS": ["", "AA==", "/w=="]}),
        ({"L": [{"N": "01"}, {"S": "a"}]}, {"L": [{"N": "1"}, {"S": "a"}]}),
        ({"M": {"a": {"N": "1e1"}, "b": {"SS": ["y", "x"]}}}, {"M": {"a": {"N": "10"}, "b": {"SS": ["x", "y"]}}}),
        ({"S": "a", "N": None}, {"S": "a"}),
    ],
)  # fmt: skip
def test_another_spelling_becomes_canonical_and_what_was_given_stays(given: Value, canonical: Value) -> None:
    sent = deepcopy(given)
    assert admit(given)[0] == canonical
    assert given == sent


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        ({"X": "a"}, "Supplied AttributeValue is empty"),
        ({"S": None}, "Supplied AttributeValue is empty"),
        ({"S": "a", "N": "1"}, "Supplied AttributeValue has more than one datatypes set"),
        ({"NULL": False}, INVALID + "Null attribute value types must have the value of true"),
        ({"SS": []}, INVALID + "An string set  may not be empty"),
        ({"NS": []}, INVALID + "An number set  may not be empty"),
        ({"BS": []}, INVALID + "Binary sets should not be empty"),
        ({"SS": ["a", "b", "a"]}, INVALID + "Input collection [a, b, a] contains duplicates."),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        ({"BS": ["AA==", "AA=="]}, INVALID + "Input collection [AA==, AA==]of type BS contains duplicates."),
        ({"N": "one"}, "The parameter cannot be converted to a numeric value: one"),
        ({"NS": ["1", "x"]}, "The parameter cannot be converted to a numeric value: x"),
        ({"M": {"": {"S": "a"}}}, "Empty attribute name"),
        (nested(32), "Nesting Levels have exceeded supported limits"),
        (nested(32, "L"), "Nesting Levels have exceeded supported limits"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_in_the_services_words(value: Value, words: str) -> None:
    with pytest.raises(BadValue) as refused:
        admit(value)
    assert str(refused.value).startswith(words)


@pytest.mark.parametrize(
    "value",
    [
        "text", None, 3, [], {"S": 3}, {"S": []}, {"S": {}}, {"S": True}, {"N": 3}, {"B": 3}, {"BOOL": "true"},
        {"BOOL": 1}, {"NULL": "true"}, {"L": {}}, {"L": "a"}, {"M": []}, {"M": "a"}, {"SS": "a"}, {"SS": [3]},
        {"SS": [None]}, {"NS": [1]}, {"BS": [3]}, {"L": ["a"]}, {"M": {"a": "b"}}, {"B": "not base64!"}, {"B": "é"},
        {"B": "AAA"}, {"S": "\ud800"}, {"SS": ["\ud800"]}, {"M": {"\ud800": {"S": "a"}}},
    ],
)  # fmt: skip
def test_another_json_type_is_told_apart_from_a_bad_value(value: Any) -> None:
    with pytest.raises(WrongJson):
        admit(value)


@pytest.mark.parametrize("kind", ["M", "L"])
def test_31_containers_pass(kind: str) -> None:
    admit(nested(31, kind))


def test_an_item_weighs_its_names_and_values() -> None:
    item = {"pk": {"S": "rex"}, "é": {"N": "1.0"}}
    admitted, size = admit_item(item)
    assert admitted == {"pk": {"S": "rex"}, "é": {"N": "1"}}
    assert size == 2 + 3 + 2 + 2
    assert item["é"] == {"N": "1.0"}


def test_a_canonical_item_passes_as_it_is() -> None:
    item: Item = {"pk": {"S": "rex"}, "m": {"M": {"l": {"L": [{"N": "1"}]}}}}
    assert admit_item(item)[0] is item


def test_a_name_is_one_to_65535_bytes() -> None:
    admit_item({"x" * 65535: {"NULL": True}})
    with pytest.raises(BadValue, match="Empty attribute name"):
        admit_item({"": {"NULL": True}})
    with pytest.raises(BadValue, match="too large"):
        admit_item({"é" * 32768: {"NULL": True}})
