"""ClientRequestToken: the same transaction twice is done once, for ten minutes."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.engine.tables import add, amount, definition, keyed, put, transaction

from tablewright import Engine, ServiceError
from tablewright.testing import Clock

ONCE = transaction({"Update": add("rex")}, token="once")


def test_a_repeated_transaction_is_done_once(engine: Engine) -> None:
    for _ in range(3):
        engine.call("TransactWriteItems", ONCE)
    assert amount(engine, "rex") == 1


def test_a_repeated_transaction_does_nothing_even_if_its_condition_would_fail_now(engine: Engine) -> None:
    create = put("rex") | {"ConditionExpression": "attribute_not_exists(pk)"}
    for _ in range(2):
        engine.call("TransactWriteItems", transaction({"Put": create}, token="once"))


def test_the_token_holds_for_ten_minutes_and_not_a_second_more(engine: Engine, clock: Clock) -> None:
    engine.call("TransactWriteItems", ONCE)
    clock.move(timedelta(minutes=10, microseconds=-1))
    engine.call("TransactWriteItems", ONCE)
    assert amount(engine, "rex") == 1
    clock.move(timedelta(microseconds=1))
    engine.call("TransactWriteItems", ONCE)
    assert amount(engine, "rex") == 2


def test_a_repetition_does_not_make_the_token_hold_longer(engine: Engine, clock: Clock) -> None:
    for _ in range(3):
        engine.call("TransactWriteItems", ONCE)
        clock.move(timedelta(minutes=5))
    assert amount(engine, "rex") == 2


def test_the_same_token_for_another_request_is_refused_and_does_nothing(engine: Engine) -> None:
    engine.call("TransactWriteItems", ONCE)
    with pytest.raises(ServiceError) as refused:
        engine.call("TransactWriteItems", transaction({"Update": add("rex", 2)}, token="once"))
    assert refused.value.name == "IdempotentParameterMismatchException"
    assert amount(engine, "rex") == 1


def test_a_token_that_has_expired_may_be_used_for_another_request(engine: Engine, clock: Clock) -> None:
    engine.call("TransactWriteItems", ONCE)
    clock.move(timedelta(minutes=11))
    engine.call("TransactWriteItems", transaction({"Update": add("rex", 2)}, token="once"))
    assert amount(engine, "rex") == 3


def test_a_canceled_transaction_uses_up_no_token(engine: Engine) -> None:
    check = {"ConditionCheck": keyed("tom") | {"ConditionExpression": "attribute_exists(pk)"}}
    request = transaction({"Update": add("rex")}, check, token="once")
    with pytest.raises(ServiceError):
        engine.call("TransactWriteItems", request)
    engine.call("PutItem", put("tom"))
    engine.call("TransactWriteItems", request)
    assert amount(engine, "rex") == 1


def test_a_token_is_remembered_when_the_store_is_opened_again(store: Path, clock: Clock) -> None:
    with Engine.open(store, world=clock.world()) as engine:
        engine.call("CreateTable", definition())
        engine.call("TransactWriteItems", ONCE)
    with Engine.open(store, world=clock.world()) as engine:
        engine.call("TransactWriteItems", ONCE)
        assert amount(engine, "rex") == 1


def test_tokens_that_have_expired_are_forgotten(engine: Engine, clock: Clock) -> None:
    for number in range(5):
        engine.call("TransactWriteItems", transaction({"Update": add("rex")}, token=f"token {number}"))
        clock.move(timedelta(minutes=11))
    with engine._storage.write_lock:
        forgotten = [engine._storage.writes.token(f"token {number}") is None for number in range(5)]
    assert forgotten == [True] * 4 + [False]
