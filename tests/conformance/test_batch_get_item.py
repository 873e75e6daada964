"""BatchGetItem: up to a hundred items of any tables, in no particular order, as far as 16 MB go.

Must hold: every key asked for is answered, absent, or handed back in UnprocessedKeys with its settings.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.talk import Answered, Json, NewKey, NewTable, Refused

ENUM = (
    "1 validation error detected: Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint:"
    " Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
)


def get(table: str, keys: list[Json], **rest: Any) -> Json:
    return {"RequestItems": {table: {"Keys": keys, **rest}}}


def put(answered: Answered, table: str, **attributes: Json) -> Json:
    answered("PutItem", {"TableName": table, "Item": attributes})
    return attributes


def by_pk(items: list[Json]) -> list[Json]:
    return sorted(items, key=lambda item: str(item["pk"]))


def test_items_are_found_and_missing_ones_left_out(answered: Answered, hash_table: str, key: NewKey) -> None:
    items = [put(answered, hash_table, pk={"S": key()}, n={"N": str(n)}) for n in range(3)]
    keys = [{"pk": item["pk"]} for item in items] + [{"pk": {"S": key()}}]
    answer = answered("BatchGetItem", get(hash_table, keys))
    assert answer["UnprocessedKeys"] == {}
    assert by_pk(answer["Responses"][hash_table]) == by_pk(items)
    assert set(answer) == {"Responses", "UnprocessedKeys"}


def test_a_table_with_no_item_found_answers_an_empty_list(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    answer = answered("BatchGetItem", get(hash_table, [{"pk": {"S": key()}}]))
    assert answer == {"Responses": {hash_table: []}, "UnprocessedKeys": {}}


def test_each_table_has_settings_of_its_own(
    answered: Answered, hash_table: str, comp_table: str, key: NewKey
) -> None:
    flat = put(answered, hash_table, pk={"S": key()}, a={"S": "x"}, b={"S": "y"})
    ranged = put(answered, comp_table, pk={"S": key()}, sk={"S": "1"}, a={"S": "x"}, b={"S": "y"})
    asked = {
        "RequestItems": {
            hash_table: {"Keys": [{"pk": flat["pk"]}], "ProjectionExpression": "a", "ConsistentRead": True},
            comp_table: {
                "Keys": [{"pk": ranged["pk"], "sk": ranged["sk"]}],
                "ProjectionExpression": "#b, sk",
                "ExpressionAttributeNames": {"#b": "b"},
            },
        }
    }
    answer = answered("BatchGetItem", asked)
    assert answer["Responses"] == {
        hash_table: [{"a": {"S": "x"}}],
        comp_table: [{"b": {"S": "y"}, "sk": {"S": "1"}}],
    }


def test_attributes_to_get_still_works(answered: Answered, hash_table: str, key: NewKey) -> None:
    item = put(answered, hash_table, pk={"S": key()}, a={"S": "x"}, b={"S": "y"})
    answer = answered("BatchGetItem", get(hash_table, [{"pk": item["pk"]}], AttributesToGet=["b"]))
    assert answer["Responses"][hash_table] == [{"b": {"S": "y"}}]


def test_a_hundred_keys_of_several_tables_fit(
    answered: Answered, hash_table: str, comp_table: str, key: NewKey
) -> None:
    pks = [key() for _ in range(50)]
    puts = [{"PutRequest": {"Item": {"pk": {"S": pk}}}} for pk in pks]
    for half in (puts[:25], puts[25:]):
        answered("BatchWriteItem", {"RequestItems": {hash_table: half}})
    asked = {
        "RequestItems": {
            hash_table: {"Keys": [{"pk": {"S": pk}} for pk in pks]},
            comp_table: {"Keys": [{"pk": {"S": pk}, "sk": {"S": "none"}} for pk in pks]},
        }
    }
    answer = answered("BatchGetItem", asked)
    assert len(answer["Responses"][hash_table]) == 50
    assert answer["Responses"][comp_table] == []


def test_one_number_written_two_ways_is_one_key(refused: Refused, num_table: str) -> None:
    keys = [{"pk": {"N": "1"}, "sk": {"N": "2.0"}}, {"pk": {"N": "1.0"}, "sk": {"N": "2"}}]
    expected = ("ValidationException", "Provided list of item keys contains duplicates")
    assert refused("BatchGetItem", get(num_table, keys)) == expected


@pytest.fixture(scope="module")
def bulky(session_table: NewTable, answered: Answered) -> tuple[str, list[Json]]:
    """Forty-four items of 400 KB: 17 MB and a bit."""
    table = session_table()
    keys = [{"pk": {"S": f"{number:02}"}} for number in range(44)]
    for one in keys:
        answered("PutItem", {"TableName": table, "Item": {**one, "x": {"S": "x" * (409_600 - 5)}}})
    return table, keys


def test_sixteen_megabytes_are_answered_and_the_rest_handed_back_with_its_settings(
    answered: Answered, bulky: tuple[str, list[Json]]
) -> None:
    table, keys = bulky
    settings = {
        "ConsistentRead": True,
        "ProjectionExpression": "pk, #x",
        "ExpressionAttributeNames": {"#x": "x"},
    }
    first = answered("BatchGetItem", get(table, keys, **settings))
    found = [{"pk": item["pk"]} for item in first["Responses"][table]]
    left = first["UnprocessedKeys"][table]
    assert len(found) in (40, 41)
    assert {name: left[name] for name in settings} == settings
    assert by_pk(found + left["Keys"]) == keys
    second = answered("BatchGetItem", {"RequestItems": first["UnprocessedKeys"]})
    assert second["UnprocessedKeys"] == {}
    assert by_pk([{"pk": item["pk"]} for item in second["Responses"][table]]) == by_pk(left["Keys"])


# ---------------------------------------------------------------- refusals


def test_something_must_be_asked_for(refused: Refused) -> None:
    code, message = refused("BatchGetItem", {"RequestItems": {}})
    assert code == "ValidationException"
    assert message in (
        "The requestItems parameter is required for BatchGetItem",
        "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint:"
        " Member must have length greater than or equal to 1",
    )


@pytest.mark.parametrize(
    ("count", "rule"),
    [
        (0, "Member must have length greater than or equal to 1"),
        (101, "Member must have length less than or equal to 100"),
    ],
)
def test_a_table_takes_1_to_100_keys(refused: Refused, hash_table: str, count: int, rule: str) -> None:
    keys = [{"pk": {"S": str(number)}} for number in range(count)]
    expected = (
        f"1 validation error detected: Value at 'RequestItems.{hash_table}.member.Keys' failed to satisfy"
        f" constraint: {rule}"
    )
    assert refused("BatchGetItem", get(hash_table, keys)) == ("ValidationException", expected)


def test_a_hundred_and_one_keys_of_two_tables_are_too_many(
    refused: Refused, hash_table: str, comp_table: str
) -> None:
    asked = {
        "RequestItems": {
            hash_table: {"Keys": [{"pk": {"S": str(n)}} for n in range(51)]},
            comp_table: {"Keys": [{"pk": {"S": str(n)}, "sk": {"S": "1"}} for n in range(50)]},
        }
    }
    expected = "Too many items requested for the BatchGetItem call"
    assert refused("BatchGetItem", asked) == ("ValidationException", expected)


OVERLAP = (
    "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of"
    " these paths; path one: [a], path two: "
)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"ProjectionExpression": "a", "AttributesToGet": ["a"]},
            "Can not use both expression and non-expression parameters in the same request:"
            " Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}",
        ),
        ({"ProjectionExpression": "a, a"}, OVERLAP + "[a]"),
        ({"ProjectionExpression": "a, a.b"}, OVERLAP + "[a, b]"),
        (
            {"ProjectionExpression": "#a, #b", "ExpressionAttributeNames": {"#a": "a", "#b": "a"}},
            OVERLAP + "[a]",
        ),
        (
            {"ProjectionExpression": "a", "ExpressionAttributeNames": {"#u": "u"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
        ),
    ],
)
def test_settings_that_cannot_be_refuse_the_whole_batch(
    refused: Refused, hash_table: str, comp_table: str, settings: Json, expected: str
) -> None:
    asked = get(hash_table, [{"pk": {"S": "a"}}], **settings)
    asked["RequestItems"][comp_table] = {"Keys": [{"pk": {"S": "a"}, "sk": {"S": "b"}}]}
    code, message = refused("BatchGetItem", asked)
    assert code == "ValidationException"
    assert expected in message


MISMATCH = "The provided key element does not match the schema"
EMPTY = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an"


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        ({"zz": {"S": "a"}}, MISMATCH),
        ({"pk": {"N": "1"}}, MISMATCH),
        ({"pk": {"S": "a"}, "zz": {"S": "a"}}, MISMATCH),
        ({}, MISMATCH),
        ({"pk": {"S": ""}}, EMPTY + " empty string value. Key: pk"),
    ],
)
def test_a_key_that_is_not_the_tables_is_refused(
    refused: Refused, hash_table: str, one: Json, expected: str
) -> None:
    asked = get(hash_table, [{"pk": {"S": "good"}}, one])
    assert refused("BatchGetItem", asked) == ("ValidationException", expected)


def test_an_empty_binary_key_is_refused(refused: Refused, bin_table: str) -> None:
    asked = get(bin_table, [{"pk": {"B": ""}, "sk": {"B": "AA=="}}])
    assert refused("BatchGetItem", asked) == ("ValidationException", EMPTY + " empty binary value. Key: pk")


def test_one_key_twice_is_refused(refused: Refused, hash_table: str) -> None:
    asked = get(hash_table, [{"pk": {"S": "a"}}, {"pk": {"S": "a"}}])
    expected = "Provided list of item keys contains duplicates"
    assert refused("BatchGetItem", asked) == ("ValidationException", expected)


def test_a_missing_table_fails_the_batch(refused: Refused, hash_table: str) -> None:
    asked = get("conf-no-such-table", [{"pk": {"S": "a"}}])
    asked["RequestItems"][hash_table] = {"Keys": [{"pk": {"S": "a"}}]}
    expected = ("ResourceNotFoundException", "Requested resource not found")
    assert refused("BatchGetItem", asked) == expected


@pytest.mark.parametrize("table", ["hash", "missing"])
def test_an_unknown_enum_value_is_named_before_a_missing_table(
    refused: Refused, hash_table: str, table: str
) -> None:
    name = hash_table if table == "hash" else "conf-no-such-table"
    asked = get(name, [{"pk": {"S": "a"}}]) | {"ReturnConsumedCapacity": "BOGUS"}
    assert refused("BatchGetItem", asked) == ("ValidationException", ENUM)


def test_a_malformed_table_name_is_a_constraint_on_the_map(refused: Refused) -> None:
    code, message = refused("BatchGetItem", get("bad!name", [{"pk": {"S": "a"}}]))
    assert code == "ValidationException"
    assert "bad!name" in message
    assert "[a-zA-Z0-9_.-]+" in message
