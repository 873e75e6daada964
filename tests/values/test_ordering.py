"""Values as bytes that sort as DynamoDB sorts, and comparison of two values.

Elsewhere: the same as laws over random values (tests/properties/test_value_laws.py).
"""

from base64 import b64encode

import pytest

from tablewright.values import Value, compare, key_part, key_prefix


def binary(raw: bytes) -> Value:
    return {"B": b64encode(raw).decode()}


def test_texts_sort_by_their_utf8_bytes() -> None:
    texts = ["10", "9", "B", "Z", "a", "a\0", "aa", "z", "~", "é", "ÿ", "\ufffd", "😀"]
    parts = [key_part({"S": text}) for text in texts]
    assert parts == sorted(parts)


def test_binaries_sort_by_their_bytes_and_the_shorter_first() -> None:
    binaries = [
        b"\0",
        b"\0\0",
        b"\0\x01",
        b"\0\xff",
        b"\x01",
        b"a",
        b"a\0",
        b"aa",
        b"\xfe\xff",
        b"\xff",
        b"\xff\0",
    ]
    parts = [key_part(binary(raw)) for raw in binaries]
    assert parts == sorted(parts)


def test_a_joined_key_sorts_by_its_first_part_first() -> None:
    pairs = [("a", 2), ("a", 10), ("a\0", 1), ("ab", 1), ("b", -1)]
    joined = [key_part({"S": text}) + key_part({"N": str(number)}) for text, number in pairs]
    assert joined == sorted(joined)


@pytest.mark.parametrize(
    ("start", "whole"), [("", "a"), ("a", "a"), ("a", "ab"), ("a", "a\0"), ("a\0", "a\0b"), ("é", "éa")]
)
def test_a_prefix_is_a_prefix_in_bytes(start: str, whole: str) -> None:
    assert key_part({"S": whole}).startswith(key_prefix({"S": start}))


@pytest.mark.parametrize(("start", "whole"), [("b", "a"), ("ab", "a"), ("a\0", "a"), ("a\0", "a\x01")])
def test_what_is_no_prefix_is_none_in_bytes(start: str, whole: str) -> None:
    assert not key_part({"S": whole}).startswith(key_prefix({"S": start}))


@pytest.mark.parametrize(
    ("left", "right", "sign"),
    [
        ({"S": "a"}, {"S": "b"}, -1), ({"S": "b"}, {"S": "a"}, 1), ({"S": "a"}, {"S": "a"}, 0),
        ({"S": "\uffff"}, {"S": "😀"}, -1), ({"N": "9"}, {"N": "10"}, -1), ({"N": "-9"}, {"N": "-10"}, 1),
        ({"N": "0"}, {"N": "0"}, 0), (binary(b"\x7f"), binary(b"\x80"), -1), (binary(b"ab"), binary(b"a"), 1),
    ],
)  # fmt: skip
def test_two_values_of_one_kind_compare(left: Value, right: Value, sign: int) -> None:
    assert compare(left, right) == sign


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"S": "1"}, {"N": "1"}),
        ({"BOOL": True}, {"BOOL": True}),
        ({"L": []}, {"L": []}),
        ({"SS": ["a"]}, {"SS": ["b"]}),
    ],
)
def test_values_of_two_kinds_and_kinds_without_an_order_do_not_compare(left: Value, right: Value) -> None:
    assert compare(left, right) is None
