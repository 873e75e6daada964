"""TransactGetItems: up to a hundred items as of one moment, answered in the order they were asked for."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.talk import Answered, Json, NewKey, Refused, Send

RCC = (
    "1 validation error detected: Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint:"
    " Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
)


def get(table: str, key: Json, **rest: Any) -> Json:
    return {"Get": {"TableName": table, "Key": key, **rest}}


def together(*gets: Json) -> Json:
    return {"TransactItems": list(gets)}


def put(answered: Answered, table: str, **attributes: Json) -> Json:
    answered("PutItem", {"TableName": table, "Item": attributes})
    return attributes


def test_answers_stand_where_their_questions_stood(
    answered: Answered, hash_table: str, comp_table: str, key: NewKey
) -> None:
    flat = put(answered, hash_table, pk={"S": key()}, n={"N": "1"})
    ranged = put(answered, comp_table, pk={"S": key()}, sk={"S": "1"}, n={"N": "2"})
    asked = together(
        get(hash_table, {"pk": {"S": key()}}),
        get(comp_table, {"pk": ranged["pk"], "sk": ranged["sk"]}),
        get(hash_table, {"pk": flat["pk"]}),
    )
    assert answered("TransactGetItems", asked) == {"Responses": [{}, {"Item": ranged}, {"Item": flat}]}


def test_a_projection_shows_only_its_paths_and_nothing_leaves_no_item(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    first = put(answered, hash_table, pk={"S": key()}, a={"S": "x"}, b={"S": "y"})
    second = put(answered, hash_table, pk={"S": key()})
    asked = together(
        get(hash_table, {"pk": first["pk"]}, ProjectionExpression="#a", ExpressionAttributeNames={"#a": "a"}),
        get(hash_table, {"pk": second["pk"]}, ProjectionExpression="a"),
    )
    assert answered("TransactGetItems", asked)["Responses"] == [{"Item": {"a": {"S": "x"}}}, {}]


def test_a_hundred_items_fit(answered: Answered, hash_table: str, key: NewKey) -> None:
    pks = [key() for _ in range(100)]
    for start in range(0, 100, 25):
        puts = [{"PutRequest": {"Item": {"pk": {"S": pk}}}} for pk in pks[start : start + 25]]
        answered("BatchWriteItem", {"RequestItems": {hash_table: puts}})
    asked = together(*(get(hash_table, {"pk": {"S": pk}}) for pk in pks))
    assert [one["Item"]["pk"]["S"] for one in answered("TransactGetItems", asked)["Responses"]] == pks


# ---------------------------------------------------------------- refusals


def test_something_must_be_asked_for(refused: Refused) -> None:
    code, message = refused("TransactGetItems", together())
    assert code == "ValidationException"
    rule = "failed to satisfy constraint: Member must have length greater than or equal to 1"
    assert message in (
        f"1 validation error detected: Value '[]' at 'transactItems' {rule}",
        f"1 validation error detected: Value at 'TransactItems' {rule}",
    )


def test_a_hundred_and_one_items_are_too_many(refused: Refused, hash_table: str) -> None:
    asked = together(*(get(hash_table, {"pk": {"S": str(n)}}) for n in range(101)))
    code, message = refused("TransactGetItems", asked)
    assert code == "ValidationException"
    assert message.startswith("1 validation error detected: Value ")
    assert message.endswith("failed to satisfy constraint: Member must have length less than or equal to 100")


def test_one_item_twice_is_refused(refused: Refused, hash_table: str) -> None:
    one = get(hash_table, {"pk": {"S": "a"}})
    expected = "Transaction request cannot include multiple operations on one item"
    assert refused("TransactGetItems", together(one, one)) == ("ValidationException", expected)


def test_a_missing_table_fails_the_transaction(refused: Refused, hash_table: str) -> None:
    asked = together(get(hash_table, {"pk": {"S": "a"}}), get("conf-no-such-table", {"pk": {"S": "a"}}))
    expected = ("ResourceNotFoundException", "Requested resource not found")
    assert refused("TransactGetItems", asked) == expected


def test_a_projection_that_does_not_parse_is_a_mistake_of_the_request(
    refused: Refused, hash_table: str
) -> None:
    asked = together(get(hash_table, {"pk": {"S": "a"}}, ProjectionExpression="!!!"))
    expected = 'Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"'
    assert refused("TransactGetItems", asked) == ("ValidationException", expected)


@pytest.mark.parametrize(
    "bad", [{}, {"zz": {"S": "a"}}, {"pk": {"N": "1"}}, {"pk": {"S": "a"}, "zz": {"S": "a"}}]
)
def test_a_key_that_is_not_the_tables_cancels_with_its_reason(
    send: Send, hash_table: str, key: NewKey, bad: Json
) -> None:
    reply = send("TransactGetItems", together(get(hash_table, {"pk": {"S": key()}}), get(hash_table, bad)))
    assert (reply.status, reply.code) == (400, "TransactionCanceledException")
    assert reply.message == (
        "Transaction cancelled, please refer cancellation reasons for specific reasons"
        " [None, ValidationError]"
    )
    none, reason = reply.body["CancellationReasons"]
    assert none == {"Code": "None"}
    assert reason == {
        "Code": "ValidationError",
        "Message": "The provided key element does not match the schema",
    }


def test_an_empty_key_is_refused(send: Send, hash_table: str) -> None:
    expected = (
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an"
        " empty string value. Key: pk"
    )
    reply = send("TransactGetItems", together(get(hash_table, {"pk": {"S": ""}})))
    if reply.code == "TransactionCanceledException":
        reason = {"Code": "ValidationError", "Message": expected}
        assert reply.body["CancellationReasons"] == [reason]
    else:
        assert (reply.code, reply.message) == ("ValidationException", expected)


@pytest.mark.parametrize("case", ["alone", "with a missing table", "with one item twice"])
def test_an_unknown_enum_value_is_named_first(refused: Refused, hash_table: str, case: str) -> None:
    one = get(hash_table, {"pk": {"S": "a"}})
    gets = {
        "alone": [one],
        "with a missing table": [get("conf-no-such-table", {"pk": {"S": "a"}})],
        "with one item twice": [one, one],
    }
    asked = together(*gets[case]) | {"ReturnConsumedCapacity": "BOGUS"}
    assert refused("TransactGetItems", asked) == ("ValidationException", RCC)


@pytest.mark.parametrize(
    "item",
    [{}, {"Get": {"TableName": "conf-any"}}, {"Get": {"Key": {"pk": {"S": "a"}}}}],
    ids=["no Get", "no key", "no table"],
)
def test_an_incomplete_question_is_refused(refused: Refused, item: Json) -> None:
    assert refused("TransactGetItems", together(item))[0] == "ValidationException"
