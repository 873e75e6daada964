"""Numbers to the digit, sizes to the byte.

A number has 38 digits and one spelling; an item has 409,600 bytes, names included; both are told by what is
taken and what is refused. Elsewhere: lengths of keys (test_put_item.py), capacity units (test_capacity.py).
"""

from __future__ import annotations

import pytest
from tests.conformance.talk import Answered, Json, NewKey, NewTable, Refused

LIMIT = 400 * 1024
TOO_MANY_DIGITS = "Attempting to store more than 38 significant digits in a Number"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"
PUT_TOO_BIG = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_BIG = "Item size to update has exceeded the maximum allowed size"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)

CANONICAL = [
    ("0", "0"),
    ("-0", "0"),
    ("0.000", "0"),
    ("0e500", "0"),
    ("0E999", "0"),
    ("1", "1"),
    ("+5", "5"),
    ("00042", "42"),
    (".5", "0.5"),
    ("5.", "5"),
    ("-.5", "-0.5"),
    ("1.200", "1.2"),
    ("1e2", "100"),
    ("1e+2", "100"),
    ("1E-2", "0.01"),
    ("-0015.789e6", "-15789000"),
    ("100", "100"),
    ("123456789012345678901234567890123456.78", "123456789012345678901234567890123456.78"),
    ("0000012345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
    ("-1.23456789012345678901234567890123456780000", "-1.2345678901234567890123456789012345678"),
    ("12345678901234567890123456789012345678000", "12345678901234567890123456789012345678000"),
    ("9.9999999999999999999999999999999999999E+125", "9" * 38 + "0" * 88),
    ("-9.9999999999999999999999999999999999999E+125", "-" + "9" * 38 + "0" * 88),
    ("1e125", "1" + "0" * 125),
    ("1" + "0" * 125, "1" + "0" * 125),
    ("1E-130", "0." + "0" * 129 + "1"),
    ("-1e-130", "-0." + "0" * 129 + "1"),
    ("1.5E-129", "0." + "0" * 128 + "15"),
]


@pytest.mark.parametrize(("written", "read"), CANONICAL)
def test_a_number_comes_back_in_its_one_spelling(
    answered: Answered, hash_table: str, key: NewKey, written: str, read: str
) -> None:
    where = {"pk": {"S": key()}}
    item = {**where, "n": {"N": written}, "ns": {"NS": [written]}, "l": {"L": [{"N": written}]}}
    answered("PutItem", {"TableName": hash_table, "Item": item})
    expected = {**where, "n": {"N": read}, "ns": {"NS": [read]}, "l": {"L": [{"N": read}]}}
    assert answered("GetItem", {"TableName": hash_table, "Key": where}) == {"Item": expected}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"{NOT_A_NUMBER}: "),
        *((text, f"{NOT_A_NUMBER}: {text}") for text in ("abc", " 5", "5 ", "1 0", "--5", "1e", "1_0")),
        *(
            (text, f"{NOT_A_NUMBER}: {text}")
            for text in ("0x5", "NaN", "Infinity", "-", ".", "1,5", "٣", "e5")
        ),
        ("1" * 39, TOO_MANY_DIGITS),
        ("-1.23456789012345678901234567890123456789", TOO_MANY_DIGITS),
        ("123456789012345678901234567890123456789e-1", TOO_MANY_DIGITS),
        ("1e126", OVERFLOW),
        ("-1e126", OVERFLOW),
        ("1" + "0" * 126, OVERFLOW),
        ("1e99999999999", OVERFLOW),
        ("1e-131", UNDERFLOW),
        ("-1e-131", UNDERFLOW),
        ("1e-99999999999", UNDERFLOW),
    ],
)
def test_what_is_not_a_number_or_beyond_its_range_is_refused(
    refused: Refused, hash_table: str, key: NewKey, text: str, message: str
) -> None:
    item = {"pk": {"S": key()}, "n": {"N": text}}
    assert refused("PutItem", {"TableName": hash_table, "Item": item}) == ("ValidationException", message)


@pytest.mark.parametrize(
    ("left", "operator", "right", "result"),
    [
        ("0.1", "+", "0.2", "0.3"),
        ("1", "-", "1", "0"),
        ("-1.5", "+", "0.5", "-1"),
        ("9" * 38, "+", "1", "1" + "0" * 38),
        ("1e125", "-", "1e125", "0"),
        ("1e-130", "+", "1e-130", "0." + "0" * 129 + "2"),
        ("12345678901234567890123456789012345678", "-", "8", "12345678901234567890123456789012345670"),
        ("1e37", "+", "1", "1" + "0" * 36 + "1"),
    ],
)
def test_arithmetic_is_exact(
    answered: Answered, hash_table: str, key: NewKey, left: str, operator: str, right: str, result: str
) -> None:
    request = {
        "TableName": hash_table,
        "Key": {"pk": {"S": key()}},
        "UpdateExpression": f"SET n = :l {operator} :r",
        "ExpressionAttributeValues": {":l": {"N": left}, ":r": {"N": right}},
        "ReturnValues": "UPDATED_NEW",
    }
    assert answered("UpdateItem", request)["Attributes"] == {"n": {"N": result}}


@pytest.mark.parametrize(
    ("stored", "added", "message"),
    [
        ("1e50", "1", OVERFLOW),
        ("1e37", "0.1", OVERFLOW),
        ("1e125", "1e-130", OVERFLOW),
        ("9e125", "9e125", OVERFLOW),
        ("-9e125", "-9e125", OVERFLOW),
    ],
)
@pytest.mark.parametrize("expression", ["SET n = n + :v", "ADD n :v"])
def test_a_result_that_is_no_number_is_refused_not_rounded(
    answered: Answered,
    refused: Refused,
    hash_table: str,
    key: NewKey,
    expression: str,
    stored: str,
    added: str,
    message: str,
) -> None:
    where = {"pk": {"S": key()}}
    answered("PutItem", {"TableName": hash_table, "Item": {**where, "n": {"N": stored}}})
    request = {
        "TableName": hash_table,
        "Key": where,
        "UpdateExpression": expression,
        "ExpressionAttributeValues": {":v": {"N": added}},
    }
    assert refused("UpdateItem", request) == ("ValidationException", message)


def test_number_keys_sort_by_value(answered: Answered, num_table: str, key: NewKey) -> None:
    partition = {"N": str(int(key()[2:], 16) % 10**30)}
    ascending = [
        "-1e125",
        "-10",
        "-9",
        "-1.5",
        "-1e-130",
        "0",
        "1e-130",
        "0.5",
        "2",
        "10",
        "10.01",
        "100",
        "1e125",
    ]
    for sort in reversed(ascending):
        answered(
            "PutItem",
            {"TableName": num_table, "Item": {"pk": partition, "sk": {"N": sort}, "w": {"S": sort}}},
        )
    request = {
        "TableName": num_table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": partition},
    }
    assert [item["w"]["S"] for item in answered("Query", request)["Items"]] == ascending


# Sizes: a value of the size claimed leaves room for exactly the rest.

SIZES: list[tuple[Json, int]] = [
    ({"S": ""}, 0),
    ({"S": "abc"}, 3),
    ({"S": "é"}, 2),
    ({"S": "😀"}, 4),
    ({"B": ""}, 0),
    ({"B": "AAEC"}, 3),
    ({"BOOL": True}, 1),
    ({"BOOL": False}, 1),
    ({"NULL": True}, 1),
    ({"SS": ["ab", "c"]}, 3),
    ({"BS": ["AAEC", "AA=="]}, 4),
    ({"NS": ["1", "123"]}, 5),
    ({"L": []}, 3),
    ({"L": [{"S": "ab"}, {"NULL": True}]}, 3 + 1 + 2 + 1 + 1),
    ({"M": {}}, 3),
    ({"M": {"kéy": {"S": "ab"}}}, 3 + 1 + 4 + 2),
    ({"M": {"a": {"L": [{"N": "1"}]}}}, 3 + 1 + 1 + (3 + 1 + 2)),
    *(
        ({"N": number}, size)
        for number, size in (
            ("0", 1),
            ("1", 2),
            ("12", 2),
            ("123", 3),
            ("100", 2),
            ("120", 3),
            ("1200", 2),
            ("12000", 3),
            ("1.5", 3),
            ("0.15", 2),
            ("0.012", 3),
            ("10.01", 3),
            ("100.5", 4),
            ("1E125", 2),
            ("-42", 3),
            ("12345678901234567890123456789012345678", 20),
            ("-12345678901234567890123456789012345678", 21),
            ("1.2345678901234567890123456789012345678", 21),
            ("-1.2345678901234567890123456789012345678", 21),
        )
    ),
]


def filled(where: Json, value: Json, size: int, total: int) -> Json:
    """An item of `total` bytes if the value has `size`: pk, the attribute v, and a filler f for the rest."""
    used = len("pk") + len(where["pk"]["S"]) + len("v") + size + len("f")
    return {**where, "v": value, "f": {"S": "x" * (total - used)}}


@pytest.mark.parametrize(("value", "size"), SIZES, ids=str)
def test_an_item_is_measured_to_the_byte(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey, value: Json, size: int
) -> None:
    where = {"pk": {"S": key()}}
    request = {"TableName": hash_table, "Item": filled(where, value, size, LIMIT)}
    assert answered("PutItem", request) == {}
    more = {"TableName": hash_table, "Item": filled(where, value, size, LIMIT + 1)}
    assert refused("PutItem", more) == ("ValidationException", PUT_TOO_BIG)
    answered("DeleteItem", {"TableName": hash_table, "Key": where})


def test_attribute_names_count_in_utf8(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    where = {"pk": {"S": key()}}
    room = LIMIT - len("pk") - len(where["pk"]["S"]) - 2
    assert answered("PutItem", {"TableName": hash_table, "Item": {**where, "é": {"S": "x" * room}}}) == {}
    more = {"TableName": hash_table, "Item": {**where, "é": {"S": "x" * (room + 1)}}}
    assert refused("PutItem", more) == ("ValidationException", PUT_TOO_BIG)


def test_an_oversized_item_is_refused_before_the_table_is_looked_up(refused: Refused, key: NewKey) -> None:
    item = {"pk": {"S": "a"}, "x": {"S": "x" * LIMIT}}
    assert refused("PutItem", {"TableName": key(), "Item": item}) == ("ValidationException", PUT_TOO_BIG)


def grown(table: str, where: Json, size: int) -> Json:
    return {
        "TableName": table,
        "Key": where,
        "UpdateExpression": "SET f = :f",
        "ExpressionAttributeValues": {":f": {"S": "x" * size}},
    }


def test_an_update_may_grow_an_item_to_the_limit(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    where = {"pk": {"S": key()}}
    room = LIMIT - len("pk") - len(where["pk"]["S"]) - len("f")
    answered("UpdateItem", grown(hash_table, where, room))
    reply = refused("UpdateItem", grown(hash_table, where, room + 1))
    assert reply == ("ValidationException", UPDATE_TOO_BIG)


def test_an_update_of_an_item_with_a_short_key_pays_for_its_actions(
    answered: Answered, refused: Refused, new_table: NewTable
) -> None:
    # A standalone update is measured as the larger of the item and the item without its key plus 3 bytes plus
    # 19 for each SET or ADD: with a key of 3 bytes in all, 19 bytes of the limit cannot be reached.
    table, where = new_table(), {"pk": {"S": "k"}}
    room = LIMIT - 3 - 19 - len("f")
    answered("UpdateItem", grown(table, where, room))
    assert refused("UpdateItem", grown(table, where, room + 1)) == ("ValidationException", UPDATE_TOO_BIG)


def nested(kind: str, levels: int) -> Json:
    value: Json = {"S": "x"}
    for _ in range(levels):
        value = {"M": {"a": value}} if kind == "M" else {"L": [value]}
    return value


@pytest.mark.parametrize("kind", ["M", "L"])
def test_an_attribute_nests_31_containers(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey, kind: str
) -> None:
    where = {"pk": {"S": key()}}
    deepest = {**where, "x": nested(kind, 31)}
    assert answered("PutItem", {"TableName": hash_table, "Item": deepest}) == {}
    assert answered("GetItem", {"TableName": hash_table, "Key": where}) == {"Item": deepest}
    deeper = {**where, "x": nested(kind, 32)}
    assert refused("PutItem", {"TableName": hash_table, "Item": deeper}) == ("ValidationException", TOO_DEEP)


def test_a_value_of_an_expression_nests_as_deep(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    def setting(levels: int) -> Json:
        return {
            "TableName": hash_table,
            "Key": {"pk": {"S": key()}},
            "UpdateExpression": "SET x = :v",
            "ExpressionAttributeValues": {":v": nested("M", levels)},
        }

    answered("UpdateItem", setting(31))
    code, message = refused("UpdateItem", setting(32))
    assert code == "ValidationException"
    assert TOO_DEEP in message


def test_an_attribute_name_may_have_65535_bytes(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    where = {"pk": {"S": key()}}
    longest = {**where, "n" * 65535: {"S": "x"}}
    assert answered("PutItem", {"TableName": hash_table, "Item": longest}) == {}
    longer = {**where, "n" * 65536: {"S": "x"}}
    assert refused("PutItem", {"TableName": hash_table, "Item": longer})[0] == "ValidationException"
