"""What holds for a Call whichever way it goes: in process, over HTTP, through boto3."""

from __future__ import annotations

from typing import Any

import pytest
from tests.client.ways import keyed, put, remembering

from tablewright.client import (
    Call,
    CallRefused,
    TransactionImpossible,
    TransactionRefused,
    batch_get,
    batch_write,
    pages,
    transact_get,
    transact_write,
    units_of,
)

EVERY_KIND: dict[str, Any] = {
    "text": {"S": "größer 🦁"},
    "number": {"N": "3.25"},
    "binary": {"B": "/+8A"},
    "truth": {"BOOL": True},
    "nothing": {"NULL": True},
    "texts": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2"]},
    "binaries": {"BS": ["AQ==", "Ag=="]},
    "map": {"M": {"B": {"B": "AA=="}, "deep": {"L": [{"B": "AQI="}, {"M": {"BS": {"BS": ["AA=="]}}}]}}},
}


def test_an_item_of_every_kind_comes_back_as_it_went(call: Call) -> None:
    assert call("PutItem", put("rex", **EVERY_KIND)) == {}
    assert call("GetItem", keyed("rex")) == {"Item": {"pk": {"S": "rex"}, **EVERY_KIND}}


def test_binaries_in_conditions_are_compared_as_bytes(call: Call) -> None:
    call("PutItem", put("rex", photo={"B": "/+8A"}))
    question = {"ConditionExpression": "photo = :p", "ExpressionAttributeValues": {":p": {"B": "/+8A"}}}
    assert call("DeleteItem", {**keyed("rex"), **question, "ReturnValues": "ALL_OLD"}) == {
        "Attributes": {"pk": {"S": "rex"}, "photo": {"B": "/+8A"}}
    }


def test_what_is_not_there_is_an_empty_answer(call: Call) -> None:
    assert call("GetItem", keyed("nobody")) == {}


def test_a_refusal_carries_name_sentence_status_and_the_item_it_was_about(call: Call) -> None:
    call("PutItem", put("rex", photo={"B": "AQI="}))
    with pytest.raises(CallRefused) as caught:
        call(
            "PutItem",
            {
                **put("rex"),
                "ConditionExpression": "attribute_not_exists(pk)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            },
        )
    refusal = caught.value
    assert (refusal.name, refusal.message, refusal.status) == (
        "ConditionalCheckFailedException",
        "The conditional request failed",
        400,
    )
    assert refusal.fields == {"Item": {"pk": {"S": "rex"}, "photo": {"B": "AQI="}}}
    assert not refusal.is_retryable
    assert not refusal.follows_lost_answer


def test_a_missing_table_is_refused_by_name(call: Call) -> None:
    with pytest.raises(CallRefused, match=r"^ResourceNotFoundException: Requested resource not found"):
        call("GetItem", {**keyed("rex"), "TableName": "nowhere"})


def test_an_unknown_verb_is_refused(call: Call) -> None:
    with pytest.raises(CallRefused) as caught:
        call("MakeCoffee", {})
    assert caught.value.name == "UnknownOperationException"


def test_a_time_is_a_number_of_seconds(call: Call) -> None:
    made = call("DescribeTable", {"TableName": "pets"})["Table"]["CreationDateTime"]
    assert isinstance(made, int | float)


def test_pages_walk_to_the_end_and_never_send_an_empty_start(call: Call) -> None:
    for number in range(7):
        call("PutItem", put(str(number)))
    log: list[Any] = []
    walk = list(
        pages(remembering(call, log), "Scan", {"TableName": "pets", "Limit": 3, "ExclusiveStartKey": None})
    )
    assert [page["Count"] for page in walk] == [3, 3, 1]
    assert "ExclusiveStartKey" not in log[0][1]
    assert [request["ExclusiveStartKey"] for _, request in log[1:]] == [
        p["LastEvaluatedKey"] for p in walk[:2]
    ]


def test_batches_write_and_read_more_than_fits_into_one(call: Call) -> None:
    items = [put(str(number))["Item"] for number in range(130)]
    assert batch_write(call, {"pets": [{"PutRequest": {"Item": item}} for item in items]}) == {}
    read = batch_get(call, {"pets": [{"pk": item["pk"]} for item in items]}, consistent=True)
    assert sorted(item["pk"]["S"] for _, item in read.items) == sorted(item["pk"]["S"] for item in items)
    assert {name for name, _ in read.items} == {"pets"}
    assert read.unread == {}


def test_of_two_writes_to_one_item_in_a_batch_the_later_one_wins(call: Call) -> None:
    writes = [{"PutRequest": {"Item": put("rex", age={"N": str(n)})["Item"]}} for n in range(7)]
    other = [{"PutRequest": {"Item": put(str(n))["Item"]}} for n in range(30)]
    assert batch_write(call, {"pets": [*writes[:4], *other, *writes[4:]]}) == {}
    assert call("GetItem", keyed("rex"))["Item"]["age"] == {"N": "6"}
    assert call("Scan", {"TableName": "pets", "Select": "COUNT"})["Count"] == 31


def test_a_batch_reads_a_key_given_twice_once(call: Call) -> None:
    call("PutItem", put("rex", name={"S": "Rex"}))
    read = batch_get(call, {"pets": [keyed("rex")["Key"]] * 2})
    assert read.items == (("pets", {"pk": {"S": "rex"}, "name": {"S": "Rex"}}),)


def test_a_transaction_does_all_or_nothing_and_says_which_action_was_at_fault(call: Call) -> None:
    call("PutItem", put("rex", age={"N": "3"}))
    taken = {**put("rex"), "ConditionExpression": "attribute_not_exists(pk)"}
    with pytest.raises(TransactionRefused) as caught:
        transact_write(
            call,
            [{"Put": put("tom")}, {"Put": {**taken, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}],
        )
    (reason,) = caught.value.reasons
    assert (reason.position, reason.code, reason.item) == (
        1,
        "ConditionalCheckFailed",
        {"pk": {"S": "rex"}, "age": {"N": "3"}},
    )
    assert reason.message == "The conditional request failed"
    assert call("GetItem", keyed("tom")) == {}
    transact_write(call, [{"Put": put("tom")}, {"Delete": keyed("rex")}])
    assert transact_get(call, [keyed("rex"), keyed("tom")]) == [None, {"pk": {"S": "tom"}}]


def test_the_same_item_twice_in_a_transaction_is_refused_before_it_is_sent(call: Call) -> None:
    log: list[Any] = []
    with pytest.raises(TransactionImpossible, match=r"actions 0 and 1 .* same item of pets"):
        transact_write(remembering(call, log), [{"Put": put("rex")}, {"Delete": keyed("rex")}])
    assert log == []


def test_units_are_read_from_answers(call: Call) -> None:
    wish = {"ReturnConsumedCapacity": "TOTAL"}
    spent = [
        *units_of("PutItem", call("PutItem", {**put("rex"), **wish})),
        *units_of("GetItem", call("GetItem", {**keyed("rex"), **wish})),
        *units_of("Scan", call("Scan", {"TableName": "pets", **wish})),
        *units_of("PutItem", call("PutItem", put("rex"))),
    ]
    assert (sum(one.read for one in spent), sum(one.write for one in spent)) == (1.0, 1.0)
