"""TransactWriteItems: up to a hundred actions, all or none, once per token.

Must hold: a transaction that fails leaves every item as it was, and says for each action why, in order.
Elsewhere: keys of secondary indexes on this path (test_secondary_indexes.py), units (test_capacity.py).
"""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.conformance.talk import Answered, Json, NewKey, Refused, Reply, Send

RCC = (
    "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint:"
    " Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
)
RICM = (
    "Value 'BOGUS2' at 'returnItemCollectionMetrics' failed to satisfy constraint:"
    " Member must satisfy enum value set: [SIZE, NONE]"
)
EMPTY = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an"
INVALID = "One or more parameter values were invalid: "
NONE: Json = {"Code": "None"}
FAILED: Json = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}


def put(table: str, item: Json, **rest: Any) -> Json:
    return {"Put": {"TableName": table, "Item": item, **rest}}


def delete(table: str, key: Json, **rest: Any) -> Json:
    return {"Delete": {"TableName": table, "Key": key, **rest}}


def check(table: str, key: Json, condition: str = "attribute_exists(pk)", **rest: Any) -> Json:
    return {"ConditionCheck": {"TableName": table, "Key": key, "ConditionExpression": condition, **rest}}


def update(table: str, key: Json, expression: str, values: Json | None = None, **rest: Any) -> Json:
    asked = {"TableName": table, "Key": key, "UpdateExpression": expression, **rest}
    if values is not None:
        asked["ExpressionAttributeValues"] = values
    return {"Update": asked}


def together(*actions: Json, **rest: Any) -> Json:
    return {"TransactItems": list(actions), **rest}


def found(answered: Answered, table: str, key: Json) -> Json | None:
    item: Json | None = answered("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True}).get(
        "Item"
    )
    return item


def stored(answered: Answered, table: str, **item: Json) -> Json:
    answered("PutItem", {"TableName": table, "Item": item})
    return item


def reasons(reply: Reply) -> list[Json]:
    """The cancellation's reasons; its message must name their codes in the same order."""
    assert (reply.status, reply.code) == (400, "TransactionCanceledException")
    given: list[Json] = reply.body["CancellationReasons"]
    codes = ", ".join(reason["Code"] for reason in given)
    assert reply.message == (
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    )
    return given


# ---------------------------------------------------------------- all


def test_every_kind_of_action_happens_together(
    answered: Answered, hash_table: str, comp_table: str, key: NewKey
) -> None:
    old = stored(answered, hash_table, pk={"S": key()}, n={"N": "1"})
    doomed = stored(answered, hash_table, pk={"S": key()})
    new = {"pk": {"S": key()}, "sk": {"S": "1"}}
    asked = together(
        put(comp_table, new, ConditionExpression="attribute_not_exists(pk)"),
        update(hash_table, {"pk": old["pk"]}, "ADD n :one", {":one": {"N": "1"}}),
        delete(hash_table, {"pk": doomed["pk"]}),
        check(hash_table, {"pk": {"S": key()}}, "attribute_not_exists(pk)"),
    )
    assert answered("TransactWriteItems", asked) == {}
    assert found(answered, comp_table, new) == new
    assert found(answered, hash_table, {"pk": old["pk"]}) == {**old, "n": {"N": "2"}}
    assert found(answered, hash_table, {"pk": doomed["pk"]}) is None


def test_an_update_creates_what_is_not_there(answered: Answered, hash_table: str, key: NewKey) -> None:
    pk = {"pk": {"S": key()}}
    asked = update(
        hash_table, pk, "SET a = :a", {":a": {"S": "x"}}, ConditionExpression="attribute_not_exists(pk)"
    )
    answered("TransactWriteItems", together(asked))
    assert found(answered, hash_table, pk) == {**pk, "a": {"S": "x"}}


def test_a_hundred_actions_fit(answered: Answered, comp_table: str, key: NewKey) -> None:
    pk = {"S": key()}
    asked = together(*(put(comp_table, {"pk": pk, "sk": {"S": f"{n:03}"}}) for n in range(100)))
    answered("TransactWriteItems", asked)
    query = {
        "TableName": comp_table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": pk},
        "Select": "COUNT",
        "ConsistentRead": True,
    }
    assert answered("Query", query)["Count"] == 100


def test_three_and_a_half_megabytes_fit_and_four_and_a_bit_do_not(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    filler = {"S": "x" * 350_000}
    keys = [{"pk": {"S": key()}} for _ in range(12)]
    puts = [put(hash_table, {**one, "x": filler}) for one in keys]
    assert refused("TransactWriteItems", together(*puts))[0] == "ValidationException"
    assert all(found(answered, hash_table, one) is None for one in keys)
    answered("TransactWriteItems", together(*puts[:10]))
    for one in keys[:10]:
        answered("DeleteItem", {"TableName": hash_table, "Key": one})


def test_stored_items_do_not_count_for_the_four_megabytes(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    keys = [{"pk": {"S": key()}} for _ in range(12)]
    for one in keys:
        stored(answered, hash_table, **one, x={"S": "x" * 390_000})
    touches = [update(hash_table, one, "SET y = :y", {":y": {"N": "1"}}) for one in keys]
    answered("TransactWriteItems", together(*touches))
    answered("TransactWriteItems", together(*(check(hash_table, one) for one in keys)))
    answered("TransactWriteItems", together(*(delete(hash_table, one) for one in keys)))
    assert all(found(answered, hash_table, one) is None for one in keys)


def test_values_of_expressions_count_for_the_four_megabytes(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    keys = [{"pk": {"S": key()}} for _ in range(12)]
    large = {":x": {"S": "x" * 370_000}}
    sets = [update(hash_table, one, "SET x = :x", large) for one in keys]
    code, message = refused("TransactWriteItems", together(*sets))
    assert code == "ValidationException"
    assert message.startswith("Transaction payload size cannot exceed 4MB")
    assert all(found(answered, hash_table, one) is None for one in keys)


# ---------------------------------------------------------------- or nothing


@pytest.mark.parametrize("kind", ["Put", "Update", "Delete", "ConditionCheck"])
def test_one_failed_condition_stops_everything_and_is_named_in_its_place(
    send: Send, answered: Answered, hash_table: str, key: NewKey, kind: str
) -> None:
    old = stored(answered, hash_table, pk={"S": key()}, n={"N": "1"})
    first, last = {"pk": {"S": key()}}, {"pk": {"S": key()}}
    where = {"pk": old["pk"]}
    fails: Json = {"ConditionExpression": "n > :nine", "ExpressionAttributeValues": {":nine": {"N": "9"}}}
    actions = {
        "Put": put(hash_table, where, **fails),
        "Update": update(hash_table, where, "REMOVE n", **fails),
        "Delete": delete(hash_table, where, **fails),
        "ConditionCheck": {"ConditionCheck": {"TableName": hash_table, "Key": where, **fails}},
    }
    reply = send("TransactWriteItems", together(put(hash_table, first), actions[kind], put(hash_table, last)))
    assert reasons(reply) == [NONE, FAILED, NONE]
    assert found(answered, hash_table, first) is None
    assert found(answered, hash_table, last) is None
    assert found(answered, hash_table, where) == old


def test_every_failure_is_named(send: Send, answered: Answered, hash_table: str, key: NewKey) -> None:
    old = [stored(answered, hash_table, pk={"S": key()}) for _ in range(2)]
    actions = [put(hash_table, item, ConditionExpression="attribute_not_exists(pk)") for item in old]
    missing = check(hash_table, {"pk": {"S": key()}})
    reply = send("TransactWriteItems", together(actions[0], missing, actions[1]))
    assert reasons(reply) == [FAILED, FAILED, FAILED]


@pytest.mark.parametrize("kind", ["Put", "Update", "Delete", "ConditionCheck"])
def test_the_item_that_failed_its_condition_is_shown_if_asked_for(
    send: Send, answered: Answered, hash_table: str, key: NewKey, kind: str
) -> None:
    old = stored(answered, hash_table, pk={"S": key()}, a={"L": [{"S": "x"}]})
    where = {"pk": old["pk"]}
    fails: Json = {
        "ConditionExpression": "attribute_not_exists(pk)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    actions = {
        "Put": put(hash_table, where, **fails),
        "Update": update(hash_table, where, "REMOVE a", **fails),
        "Delete": delete(hash_table, where, **fails),
        "ConditionCheck": {"ConditionCheck": {"TableName": hash_table, "Key": where, **fails}},
    }
    reply = send("TransactWriteItems", together(actions[kind]))
    assert reasons(reply) == [{**FAILED, "Item": old}]


def test_no_item_is_shown_where_there_is_none_or_nobody_asked(
    send: Send, answered: Answered, hash_table: str, key: NewKey
) -> None:
    old = stored(answered, hash_table, pk={"S": key()})
    asked = together(
        check(hash_table, {"pk": {"S": key()}}, ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        put(hash_table, old, ConditionExpression="attribute_not_exists(pk)"),
        put(
            hash_table,
            stored(answered, hash_table, pk={"S": key()}),
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="NONE",
        ),
    )
    assert reasons(send("TransactWriteItems", asked)) == [FAILED, FAILED, FAILED]


def test_a_failed_condition_on_nothing_leaves_no_ghost(
    send: Send, answered: Answered, hash_table: str, key: NewKey
) -> None:
    pk = {"pk": {"S": key()}}
    asked = update(
        hash_table, pk, "ADD n :one", {":one": {"N": "1"}}, ConditionExpression="attribute_exists(pk)"
    )
    assert reasons(send("TransactWriteItems", together(asked))) == [FAILED]
    assert found(answered, hash_table, pk) is None


@pytest.mark.parametrize(
    ("expression", "values", "expected"),
    [
        (
            "SET q = s + :v",
            {":v": {"N": "1"}},
            "An operand in the update expression has an incorrect data type",
        ),
        (
            "SET nope.x = :v",
            {":v": {"N": "1"}},
            "The document path provided in the update expression is invalid for update",
        ),
        (
            "SET q = absent",
            None,
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            "SET pk = :v",
            {":v": {"S": "1"}},
            INVALID + "Cannot update attribute pk. This attribute is part of the key",
        ),
        (
            "SET x = :v",
            {":v": {"S": "x" * 409_600}},
            "Item size to update has exceeded the maximum allowed size",
        ),
    ],
    ids=["wrong type", "no such path", "no such attribute", "a key", "too large"],
)
def test_an_update_that_cannot_be_done_cancels_with_a_validation_error(
    send: Send,
    answered: Answered,
    hash_table: str,
    key: NewKey,
    expression: str,
    values: Json | None,
    expected: str,
) -> None:
    old = stored(answered, hash_table, pk={"S": key()}, s={"S": "text"})
    new = {"pk": {"S": key()}}
    asked = together(update(hash_table, {"pk": old["pk"]}, expression, values), put(hash_table, new))
    assert reasons(send("TransactWriteItems", asked)) == [
        {"Code": "ValidationError", "Message": expected},
        NONE,
    ]
    assert found(answered, hash_table, new) is None
    assert found(answered, hash_table, {"pk": old["pk"]}) == old


def test_after_a_validation_error_no_action_is_evaluated(
    send: Send, answered: Answered, hash_table: str, key: NewKey
) -> None:
    old = stored(answered, hash_table, pk={"S": key()}, s={"S": "text"})
    absent = {"ConditionExpression": "attribute_not_exists(pk)"}
    fails = [put(hash_table, stored(answered, hash_table, pk={"S": key()}), **absent) for _ in range(2)]
    wrong = update(hash_table, {"pk": old["pk"]}, "SET q = nope")
    again = update(hash_table, {"pk": {"S": key()}}, "SET q = nope")
    reply = send("TransactWriteItems", together(fails[0], wrong, fails[1], again))
    missing = "The provided expression refers to an attribute that does not exist in the item"
    assert reasons(reply) == [FAILED, {"Code": "ValidationError", "Message": missing}, NONE, NONE]


def test_after_a_key_that_does_not_fit_no_action_has_a_reason(
    send: Send, hash_table: str, key: NewKey
) -> None:
    wrong = {"pk": {"N": "5"}}
    asked = together(
        delete(hash_table, {"pk": {"S": key()}}), delete(hash_table, wrong), check(hash_table, wrong)
    )
    mismatch = "The provided key element does not match the schema"
    assert reasons(send("TransactWriteItems", asked)) == [
        NONE,
        {"Code": "ValidationError", "Message": mismatch},
        NONE,
    ]


@pytest.mark.parametrize("value", [{"N": "5"}, {"L": [{"S": "x"}]}], ids=["a number", "a list"])
@pytest.mark.parametrize("kind", ["Put", "Update", "Delete", "ConditionCheck"])
def test_a_key_of_the_wrong_type_cancels_with_a_validation_error(
    send: Send, hash_table: str, kind: str, value: Json
) -> None:
    where = {"pk": value}
    actions = {
        "Put": put(hash_table, where),
        "Update": update(hash_table, where, "REMOVE a"),
        "Delete": delete(hash_table, where),
        "ConditionCheck": check(hash_table, where),
    }
    mismatch = INVALID + f"Type mismatch for key pk expected: S actual: {next(iter(value))}"
    other = "The provided key element does not match the schema"
    assert reasons(send("TransactWriteItems", together(actions[kind]))) == [
        {"Code": "ValidationError", "Message": mismatch if kind == "Put" else other}
    ]


# ---------------------------------------------------------------- side by side


def in_turn(send: Send, verb: str, request: Json, times: int) -> list[Reply]:
    """Send a request again and again; a conflict with another transaction is the only excuse to fail."""
    replies = [send(verb, request) for _ in range(times)]
    for reply in replies:
        conflict = "TransactionConflict" in str(reply.message)
        assert reply.status == 200 or conflict, reply.raw[:1000].decode()
    return [reply for reply in replies if reply.status == 200]


def test_transactions_side_by_side_lose_no_count(
    send: Send, answered: Answered, hash_table: str, key: NewKey
) -> None:
    first, second = {"pk": {"S": key()}}, {"pk": {"S": key()}}
    one = {":one": {"N": "1"}}
    both = together(
        update(hash_table, first, "ADD n :one", one), update(hash_table, second, "ADD n :one", one)
    )
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: len(in_turn(send, "TransactWriteItems", both, 15)), range(4)))
    for where in (first, second):
        assert found(answered, hash_table, where) == {**where, "n": {"N": str(sum(done))}}


def test_a_transactional_read_never_sees_half_a_transaction(
    send: Send, answered: Answered, hash_table: str, key: NewKey
) -> None:
    giver, taker = {"pk": {"S": key()}}, {"pk": {"S": key()}}
    stored(answered, hash_table, **giver, n={"N": "100"})
    stored(answered, hash_table, **taker, n={"N": "0"})
    move = together(
        update(hash_table, giver, "ADD n :d", {":d": {"N": "-1"}}),
        update(hash_table, taker, "ADD n :d", {":d": {"N": "1"}}),
    )
    gets = [{"Get": {"TableName": hash_table, "Key": where}} for where in (giver, taker)]
    with ThreadPoolExecutor(2) as pool:
        moving = pool.submit(in_turn, send, "TransactWriteItems", move, 40)
        seen = pool.submit(in_turn, send, "TransactGetItems", {"TransactItems": gets}, 40).result()
    assert moving.result()
    for reply in seen:
        amounts = [int(one["Item"]["n"]["N"]) for one in reply.body["Responses"]]
        assert sum(amounts) == 100


# ---------------------------------------------------------------- once per token


def test_a_token_is_honoured_once(answered: Answered, hash_table: str, key: NewKey) -> None:
    pk = {"pk": {"S": key()}}
    asked = together(
        update(hash_table, pk, "ADD n :one", {":one": {"N": "1"}}), ClientRequestToken=str(uuid.uuid4())
    )
    for _ in range(3):
        assert answered("TransactWriteItems", asked) == {}
    assert found(answered, hash_table, pk) == {**pk, "n": {"N": "1"}}


def test_a_token_is_honoured_once_even_if_the_condition_would_now_fail(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    pk = {"pk": {"S": key()}}
    once = put(hash_table, pk, ConditionExpression="attribute_not_exists(pk)")
    asked = together(once, ClientRequestToken=key()[:36])
    answered("TransactWriteItems", asked)
    answered("TransactWriteItems", asked)


def test_a_token_belongs_to_one_request(
    refused: Refused, answered: Answered, hash_table: str, key: NewKey
) -> None:
    pk, token = {"pk": {"S": key()}}, str(uuid.uuid4())
    answered(
        "TransactWriteItems", together(put(hash_table, {**pk, "a": {"S": "first"}}), ClientRequestToken=token)
    )
    other = together(put(hash_table, {**pk, "a": {"S": "second"}}), ClientRequestToken=token)
    assert refused("TransactWriteItems", other)[0] == "IdempotentParameterMismatchException"
    assert found(answered, hash_table, pk) == {**pk, "a": {"S": "first"}}


def test_a_token_of_a_cancelled_transaction_may_be_used_again(
    send: Send, answered: Answered, hash_table: str, key: NewKey
) -> None:
    pk = {"pk": {"S": key()}}
    asked = together(
        update(hash_table, pk, "SET a = :a", {":a": {"S": "x"}}, ConditionExpression="attribute_exists(pk)"),
        ClientRequestToken=str(uuid.uuid4()),
    )
    assert reasons(send("TransactWriteItems", asked)) == [FAILED]
    stored(answered, hash_table, **pk)
    answered("TransactWriteItems", asked)
    assert found(answered, hash_table, pk) == {**pk, "a": {"S": "x"}}


@pytest.mark.parametrize("other", [{}, {"ReturnConsumedCapacity": "BOGUS"}], ids=["alone", "with another"])
def test_a_token_has_at_most_36_characters(
    refused: Refused, answered: Answered, hash_table: str, key: NewKey, other: Json
) -> None:
    pk, token = {"pk": {"S": key()}}, "x" * 37
    code, message = refused(
        "TransactWriteItems", together(put(hash_table, pk), ClientRequestToken=token, **other)
    )
    assert code == "ValidationException"
    rule = "failed to satisfy constraint: Member must have length less than or equal to 36"
    echoed = f"Value '{token}' at 'clientRequestToken' {rule}"
    assert message in (
        f"1 validation error detected: Value at 'ClientRequestToken' {rule}",
        f"2 validation errors detected: {echoed}; {RCC}"
        if other
        else f"1 validation error detected: {echoed}",
    )
    assert found(answered, hash_table, pk) is None


# ---------------------------------------------------------------- mistakes of the request


def test_something_must_be_asked_for(refused: Refused) -> None:
    code, message = refused("TransactWriteItems", together())
    assert code == "ValidationException"
    rule = "failed to satisfy constraint: Member must have length greater than or equal to 1"
    assert message in (
        f"1 validation error detected: Value '[]' at 'transactItems' {rule}",
        f"1 validation error detected: Value at 'TransactItems' {rule}",
    )


def test_a_hundred_and_one_actions_are_too_many(
    refused: Refused, answered: Answered, comp_table: str, key: NewKey
) -> None:
    pk = {"S": key()}
    asked = together(*(put(comp_table, {"pk": pk, "sk": {"S": str(n)}}) for n in range(101)))
    code, message = refused("TransactWriteItems", asked)
    assert code == "ValidationException"
    assert message.startswith("1 validation error detected: Value ")
    assert message.endswith("failed to satisfy constraint: Member must have length less than or equal to 100")
    assert found(answered, comp_table, {"pk": pk, "sk": {"S": "0"}}) is None


@pytest.mark.parametrize("second", ["Put", "Update", "Delete", "ConditionCheck"])
def test_an_item_takes_part_once(
    refused: Refused, answered: Answered, hash_table: str, key: NewKey, second: str
) -> None:
    pk = {"pk": {"S": key()}}
    actions = {
        "Put": put(hash_table, {**pk, "a": {"S": "x"}}),
        "Update": update(hash_table, pk, "REMOVE a"),
        "Delete": delete(hash_table, pk),
        "ConditionCheck": check(hash_table, pk),
    }
    expected = "Transaction request cannot include multiple operations on one item"
    asked = together(put(hash_table, pk), actions[second])
    assert refused("TransactWriteItems", asked) == ("ValidationException", expected)
    assert found(answered, hash_table, pk) is None


def test_one_key_in_two_tables_is_two_items(
    answered: Answered, hash_table: str, comp_table: str, key: NewKey
) -> None:
    pk = {"S": key()}
    asked = together(put(hash_table, {"pk": pk}), put(comp_table, {"pk": pk, "sk": {"S": "1"}}))
    assert answered("TransactWriteItems", asked) == {}


def test_a_missing_table_fails_the_transaction(
    refused: Refused, answered: Answered, hash_table: str, key: NewKey
) -> None:
    pk = {"pk": {"S": key()}}
    asked = together(put(hash_table, pk), put("conf-no-such-table", pk))
    expected = ("ResourceNotFoundException", "Requested resource not found")
    assert refused("TransactWriteItems", asked) == expected
    assert found(answered, hash_table, pk) is None


@pytest.mark.parametrize(
    "action",
    [
        {},
        {**put("conf-any", {"pk": {"S": "x"}}), **delete("conf-any", {"pk": {"S": "y"}})},
        {"Update": {"TableName": "conf-any", "Key": {"pk": {"S": "x"}}}},
        {"ConditionCheck": {"TableName": "conf-any", "Key": {"pk": {"S": "x"}}}},
        {"Put": {"TableName": "conf-any"}},
        {"Put": {"Item": {"pk": {"S": "x"}}}},
        {"Delete": {"TableName": "conf-any"}},
    ],
    ids=[
        "nothing",
        "two actions in one",
        "an update of nothing",
        "a check of nothing",
        "a put of nothing",
        "a put to nowhere",
        "a delete of nothing",
    ],
)
def test_an_action_is_exactly_one_and_complete(refused: Refused, action: Json) -> None:
    assert refused("TransactWriteItems", together(action))[0] == "ValidationException"


def test_a_check_without_condition_is_named_by_its_path(refused: Refused, hash_table: str) -> None:
    action = {"ConditionCheck": {"TableName": hash_table, "Key": {"pk": {"S": "x"}}}}
    code, message = refused("TransactWriteItems", together(action))
    assert code == "ValidationException"
    assert (
        "Value null at 'transactItems.1.member.conditionCheck.conditionExpression' failed to satisfy"
        " constraint: Member must not be null" in message
    )


@pytest.mark.parametrize("kind", ["Put", "Update", "Delete", "ConditionCheck"])
def test_an_empty_key_is_a_mistake_of_the_request(
    refused: Refused, hash_table: str, bin_table: str, kind: str
) -> None:
    def action(table: str, where: Json) -> Json:
        return {
            "Put": put(table, where),
            "Update": update(table, where, "REMOVE a"),
            "Delete": delete(table, where),
            "ConditionCheck": check(table, where),
        }[kind]

    text = together(action(hash_table, {"pk": {"S": ""}}))
    expected = ("ValidationException", EMPTY + " empty string value. Key: pk")
    assert refused("TransactWriteItems", text) == expected
    binary = together(action(bin_table, {"pk": {"B": ""}, "sk": {"B": "AA=="}}))
    expected = ("ValidationException", EMPTY + " empty binary value. Key: pk")
    assert refused("TransactWriteItems", binary) == expected


def test_a_put_without_its_key_writes_nothing(
    send: Send, answered: Answered, hash_table: str, key: NewKey
) -> None:
    pk = {"pk": {"S": key()}}
    reply = send("TransactWriteItems", together(put(hash_table, pk), put(hash_table, {"zz": {"S": "a"}})))
    assert reply.status == 400
    assert reply.code in ("ValidationException", "TransactionCanceledException")
    assert found(answered, hash_table, pk) is None


SYNTAX = 'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("'
UNUSED = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"
NESTING = (
    "Nesting Levels have exceeded supported limits:"
    " Attributes in the item have nested levels beyond supported limit"
)


def nested(levels: int) -> Json:
    value: Json = {"S": "leaf"}
    for _ in range(levels):
        value = {"M": {"n": value}}
    return value


MISTAKES: dict[str, tuple[Json, str]] = {
    "an item too large": (
        put("T", {"pk": {"S": "big"}, "x": {"S": "x" * 409_600}}),
        "Item size has exceeded the maximum allowed size",
    ),
    "an update that does not parse": (
        update("T", {"pk": {"S": "u"}}, "SET", {":v": {"S": "1"}}),
        'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"',
    ),
    "a condition that does not parse": (check("T", {"pk": {"S": "c"}}, "attribute_not_exists("), SYNTAX),
    "a value nobody uses": (
        check("T", {"pk": {"S": "v"}}, ExpressionAttributeValues={":v": {"S": "x"}}),
        UNUSED,
    ),
    "an item nested too deep": (put("T", {"pk": {"S": "deep"}, "m": nested(32)}), NESTING),
}


def aimed(action: Json, table: str) -> Json:
    return {kind: {**members, "TableName": table} for kind, members in action.items()}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_one_action_is_a_mistake_of_the_request(
    refused: Refused, answered: Answered, hash_table: str, key: NewKey, mistake: str
) -> None:
    action, expected = MISTAKES[mistake]
    pk = {"pk": {"S": key()}}
    asked = together(put(hash_table, pk), aimed(action, hash_table))
    assert refused("TransactWriteItems", asked) == ("ValidationException", expected)
    assert found(answered, hash_table, pk) is None


@pytest.mark.parametrize("mistake", ["a condition that does not parse", "a value nobody uses"])
@pytest.mark.parametrize("late", [True, False], ids=["after it", "before it"])
def test_expressions_are_read_before_any_table_is_looked_up(
    refused: Refused, hash_table: str, mistake: str, late: bool
) -> None:
    action, expected = MISTAKES[mistake]
    missing, bad = put("conf-no-such-table", {"pk": {"S": "a"}}), aimed(action, hash_table)
    asked = together(missing, bad) if late else together(bad, missing)
    assert refused("TransactWriteItems", asked) == ("ValidationException", expected)


def test_expressions_are_read_before_items_are_told_apart(refused: Refused, hash_table: str) -> None:
    action, expected = MISTAKES["a value nobody uses"]
    same = put(hash_table, {"pk": {"S": "v"}})
    assert refused("TransactWriteItems", together(same, aimed(action, hash_table))) == (
        "ValidationException",
        expected,
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a condition that does not parse", "an item nested too deep"),
        ("an item nested too deep", "a condition that does not parse"),
    ],
)
def test_of_two_mistakes_the_first_action_is_named(
    refused: Refused, hash_table: str, first: str, second: str
) -> None:
    asked = together(*(aimed(MISTAKES[mistake][0], hash_table) for mistake in (first, second)))
    assert refused("TransactWriteItems", asked) == ("ValidationException", MISTAKES[first][1])


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"ReturnConsumedCapacity": "BOGUS"}, f"1 validation error detected: {RCC}"),
        ({"ReturnItemCollectionMetrics": "BOGUS2"}, f"1 validation error detected: {RICM}"),
        (
            {"ReturnConsumedCapacity": "BOGUS", "ReturnItemCollectionMetrics": "BOGUS2"},
            f"2 validation errors detected: {RCC}; {RICM}",
        ),
    ],
)
@pytest.mark.parametrize("exists", [True, False], ids=["table", "no table"])
def test_unknown_enum_values_are_named_together_before_a_missing_table(
    refused: Refused,
    answered: Answered,
    hash_table: str,
    key: NewKey,
    members: Json,
    expected: str,
    exists: bool,
) -> None:
    pk = {"pk": {"S": key()}}
    asked = together(put(hash_table if exists else "conf-no-such-table", pk), **members)
    assert refused("TransactWriteItems", asked) == ("ValidationException", expected)
    assert found(answered, hash_table, pk) is None
