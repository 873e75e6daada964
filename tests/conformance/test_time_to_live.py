"""UpdateTimeToLive and DescribeTimeToLive: the setting, and what it means for items not yet swept.

The service may refuse a second change of one table for half an hour; tests that change twice say so.
"""

from __future__ import annotations

import time

import pytest
from tests.conformance.talk import Answered, Json, NewTable, Refused, Send

TOO_SOON = "Time to live has been modified multiple times within a fixed interval"


def specification(enabled: bool, name: str) -> Json:
    return {"Enabled": enabled, "AttributeName": name}


def ask(table: str, enabled: bool, name: str) -> Json:
    return {"TableName": table, "TimeToLiveSpecification": specification(enabled, name)}


def state(answered: Answered, table: str) -> Json:
    description: Json = answered("DescribeTimeToLive", {"TableName": table})["TimeToLiveDescription"]
    return description


def settled(answered: Answered, table: str) -> Json:
    for _ in range(500):
        if not state(answered, table)["TimeToLiveStatus"].endswith("ING"):
            break
        time.sleep(0.02)
    return state(answered, table)


@pytest.fixture
def expiring(answered: Answered, new_table: NewTable) -> str:
    """A table whose items expire by `exp`."""
    table = new_table()
    answered("UpdateTimeToLive", ask(table, True, "exp"))
    settled(answered, table)
    return table


def test_a_new_table_has_no_time_to_live(answered: Answered, new_table: NewTable) -> None:
    assert state(answered, new_table()) == {"TimeToLiveStatus": "DISABLED"}


def test_enabling_echoes_the_specification_and_is_described(answered: Answered, new_table: NewTable) -> None:
    table = new_table()
    answer = answered("UpdateTimeToLive", ask(table, True, "exp"))
    assert answer == {"TimeToLiveSpecification": specification(True, "exp")}
    assert state(answered, table)["TimeToLiveStatus"] in ("ENABLING", "ENABLED")
    assert settled(answered, table) == {"TimeToLiveStatus": "ENABLED", "AttributeName": "exp"}


def test_enabling_twice_is_refused(refused: Refused, expiring: str) -> None:
    expected = ("ValidationException", "TimeToLive is already enabled")
    assert refused("UpdateTimeToLive", ask(expiring, True, "exp")) == expected


@pytest.mark.parametrize("enabled", [True, False])
def test_another_attribute_is_refused_while_one_is_active(
    refused: Refused, answered: Answered, expiring: str, enabled: bool
) -> None:
    code, message = refused("UpdateTimeToLive", ask(expiring, enabled, "other"))
    assert code == "ValidationException"
    assert message.startswith("TimeToLive is active on a different AttributeName")
    assert state(answered, expiring)["AttributeName"] == "exp"


def test_disabling_what_was_never_enabled_is_refused(refused: Refused, new_table: NewTable) -> None:
    expected = ("ValidationException", "TimeToLive is already disabled")
    assert refused("UpdateTimeToLive", ask(new_table(), False, "exp")) == expected


def test_disabling_forgets_the_attribute(send: Send, answered: Answered, expiring: str) -> None:
    reply = send("UpdateTimeToLive", ask(expiring, False, "exp"))
    if reply.status == 400:
        # The service allows one change in half an hour.
        assert (reply.code, reply.message) == ("ValidationException", TOO_SOON)
        return
    assert reply.body["TimeToLiveSpecification"]["Enabled"] is False
    assert settled(answered, expiring) == {"TimeToLiveStatus": "DISABLED"}


@pytest.mark.parametrize("verb", ["UpdateTimeToLive", "DescribeTimeToLive"])
def test_a_missing_table_is_named(refused: Refused, verb: str) -> None:
    expected = "Requested resource not found: Table: conf-no-such-table not found"
    assert refused(verb, ask("conf-no-such-table", True, "exp")) == ("ResourceNotFoundException", expected)


def test_an_attribute_needs_a_name(refused: Refused, hash_table: str) -> None:
    code, message = refused("UpdateTimeToLive", ask(hash_table, True, ""))
    assert code == "ValidationException"
    assert message in (
        "TimeToLiveSpecification.AttributeName must be non empty",
        "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy"
        " constraint: Member must have length greater than or equal to 1",
    )


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({}, {"timeToLiveSpecification.enabled", "timeToLiveSpecification.attributeName"}),
        ({"Enabled": True}, {"timeToLiveSpecification.attributeName"}),
        ({"AttributeName": "exp"}, {"timeToLiveSpecification.enabled"}),
    ],
)
def test_both_members_of_the_specification_are_required(
    refused: Refused, hash_table: str, given: Json, missing: set[str]
) -> None:
    asked = {"TableName": hash_table, "TimeToLiveSpecification": given}
    code, message = refused("UpdateTimeToLive", asked)
    assert code == "ValidationException"
    assert set(message.partition("detected: ")[2].split("; ")) == {
        f"Value null at '{path}' failed to satisfy constraint: Member must not be null" for path in missing
    }


def test_a_specification_is_required(refused: Refused, hash_table: str) -> None:
    code, message = refused("UpdateTimeToLive", {"TableName": hash_table})
    assert code == "ValidationException"
    assert "imeToLiveSpecification" in message


def test_an_expired_item_can_be_read_and_written_until_it_is_swept(
    answered: Answered, refused: Refused, expiring: str
) -> None:
    key = {"pk": {"S": "late"}}
    answered(
        "PutItem",
        {"TableName": expiring, "Item": {**key, "exp": {"N": str(int(time.time()) - 60)}, "n": {"N": "1"}}},
    )
    assert answered("GetItem", {"TableName": expiring, "Key": key})["Item"]["n"] == {"N": "1"}
    blocked = {"TableName": expiring, "Item": key, "ConditionExpression": "attribute_not_exists(pk)"}
    assert refused("PutItem", blocked)[0] == "ConditionalCheckFailedException"


@pytest.mark.parametrize("value", [{"S": "soon"}, {"N": "0"}, {"N": "-1"}, {"N": "1.5"}, {"NULL": True}])
def test_any_value_may_stand_where_the_time_is_expected(
    answered: Answered, expiring: str, value: Json
) -> None:
    item = {"pk": {"S": "odd"}, "exp": value}
    answered("PutItem", {"TableName": expiring, "Item": item})
    assert answered("GetItem", {"TableName": expiring, "Key": {"pk": {"S": "odd"}}})["Item"] == item


def test_the_key_itself_may_be_the_attribute(answered: Answered, new_table: NewTable) -> None:
    table = new_table()
    answered("UpdateTimeToLive", ask(table, True, "pk"))
    assert settled(answered, table)["AttributeName"] == "pk"


def test_a_table_may_be_named_by_its_arn(answered: Answered, new_table: NewTable) -> None:
    arn = answered("DescribeTable", {"TableName": new_table()})["Table"]["TableArn"]
    answered("UpdateTimeToLive", ask(arn, True, "exp"))
    assert state(answered, arn)["AttributeName"] == "exp"
