"""Transactions that others are in the way of, and those no service would take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.client.ways import Naps, keyed, put, scripted, world

from tablewright.client import (
    CallRefused,
    Reason,
    TransactionImpossible,
    TransactionRefused,
    transact_get,
    transact_write,
)

ACTIONS = [{"Put": put("a")}, {"Put": put("b")}, {"Put": put("c")}]


def cancelled(*codes: str) -> CallRefused:
    reasons = [{"Code": code} if code == "None" else {"Code": code, "Message": "so"} for code in codes]
    fields = {"CancellationReasons": reasons}
    return CallRefused("TransactionCanceledException", "cancelled", 400, fields)


def test_a_transaction_only_others_were_in_the_way_of_is_tried_again(naps: Naps) -> None:
    busy = cancelled("TransactionConflict", "None", "ThrottlingError")
    call, asked = scripted(busy, busy, {})
    transact_write(call, ACTIONS, world=world(), retries=naps.retries())
    assert asked == [{"TransactItems": ACTIONS}] * 3
    assert naps.taken == [0.025, 0.05]


def test_a_transaction_with_a_fault_of_its_own_is_not(naps: Naps) -> None:
    call, asked = scripted(cancelled("TransactionConflict", "None", "ConditionalCheckFailed"))
    with pytest.raises(TransactionRefused) as caught:
        transact_write(call, ACTIONS, retries=naps.retries())
    assert caught.value.reasons == (
        Reason(0, "TransactionConflict", "so"),
        Reason(2, "ConditionalCheckFailed", "so"),
    )
    assert (len(asked), naps.taken, caught.value.is_retryable) == (1, [], False)


def test_patience_with_others_ends(naps: Naps) -> None:
    call, asked = scripted(*[cancelled("TransactionConflict")] * 3)
    with pytest.raises(TransactionRefused) as caught:
        transact_get(call, [keyed("a")], world=world(), retries=naps.retries(3))
    assert caught.value.is_retryable
    assert len(asked) == 3


def test_a_cancellation_without_reasons_is_not_repeated(naps: Naps) -> None:
    call, _ = scripted(CallRefused("TransactionCanceledException", "old server"))
    with pytest.raises(TransactionRefused) as caught:
        transact_write(call, ACTIONS, retries=naps.retries())
    assert caught.value.reasons == ()


def test_other_refusals_are_passed_on(naps: Naps) -> None:
    call, _ = scripted(CallRefused("IdempotentParameterMismatchException"))
    with pytest.raises(CallRefused) as caught:
        transact_write(call, ACTIONS, retries=naps.retries())
    assert not isinstance(caught.value, TransactionRefused)


def test_no_token_is_made_up_here() -> None:
    call, asked = scripted({})
    transact_write(call, ACTIONS)
    assert asked == [{"TransactItems": ACTIONS}]


@pytest.mark.parametrize("count", [0, 101])
def test_a_transaction_has_one_to_a_hundred_actions(count: int) -> None:
    call, asked = scripted()
    with pytest.raises(TransactionImpossible, match=f"1 to 100 actions, this one has {count}"):
        transact_write(call, [{"Put": put(str(n))} for n in range(count)])
    with pytest.raises(TransactionImpossible):
        transact_get(call, [keyed(str(n)) for n in range(count)])
    assert asked == []


def numbered(number: str) -> dict[str, Any]:
    return {"TableName": "pets", "Key": {"pk": {"N": number}}}


CHECK = {**keyed("a"), "ConditionExpression": "attribute_exists(pk)"}


@pytest.mark.parametrize(
    ("actions", "key_names"),
    [
        ([{"Delete": keyed("a")}, {"Update": keyed("a")}], None),
        ([{"ConditionCheck": CHECK}, {"Put": put("a", age={"N": "1"})}], None),
        ([{"Put": put("a")}, {"Delete": keyed("a")}], None),
        ([{"Put": put("a", age={"N": "1"})}, {"Put": put("a")}], {"pets": ["pk"]}),
        ([{"Delete": numbered("1")}, {"Delete": numbered("1.0")}], None),
        ([{"Delete": numbered("1")}, {"Put": {"TableName": "pets", "Item": {"pk": {"N": "1E0"}}}}], None),
    ],
)
def test_one_item_twice_is_seen_where_keys_are_known(actions: list[Any], key_names: Any) -> None:
    call, _ = scripted()
    with pytest.raises(TransactionImpossible, match="actions 0 and 1"):
        transact_write(call, actions, key_names=key_names)


def test_one_item_twice_is_seen_in_reads() -> None:
    call, _ = scripted()
    with pytest.raises(TransactionImpossible, match="actions 0 and 1"):
        transact_get(call, [keyed("a"), keyed("a")])


def test_the_same_key_in_another_table_is_another_item() -> None:
    call, asked = scripted({})
    transact_write(call, [{"Delete": keyed("a")}, {"Delete": {**keyed("a"), "TableName": "toys"}}])
    assert len(asked) == 1


@pytest.mark.parametrize(
    "action",
    [
        {},
        {"Put": None},
        {"Put": {"TableName": "pets"}},
        {"Put": {"Item": {}}},
        {"Delete": {"TableName": "pets", "Key": {"pk": {"S": ["a"]}}}},
    ],
)
def test_what_is_no_action_is_left_for_the_service_to_refuse(action: Any) -> None:
    call, asked = scripted(CallRefused("ValidationException"))
    with pytest.raises(CallRefused):
        transact_write(call, [action, {"Delete": keyed("a")}])
    assert len(asked) == 1


class Looked(list[dict[str, Any]]):
    """A list that counts how often somebody went through it."""

    times = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self.times += 1
        return super().__iter__()


@pytest.mark.parametrize("count", [2, 50, 100])
def test_actions_are_looked_through_as_often_for_a_hundred_as_for_two(count: int) -> None:
    actions = Looked({"Put": put(f"a{number}")} for number in range(count))
    call, asked = scripted({})
    transact_write(call, actions)
    assert len(asked[0]["TransactItems"]) == count
    assert actions.times <= 3  # which keys there are, whether one is named twice, and to send them
