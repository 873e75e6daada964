"""Kinesis streaming destinations: enabled, described, updated and disabled.

The service takes seconds for each change, and needs the streams; the texts are its own.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.talk import Answered, Json, NewTable, Refused

STATE = "Table is not in a valid state to enable Kinesis Streaming Destination: "
NOT_ACTIVE = STATE + "KinesisStreamingDestination must be ACTIVE to perform DISABLE operation."
NOT_DISABLED = (
    STATE + "EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation."
)
PRECISION = "ApproximateCreationDateTimePrecision"


@pytest.fixture
def table(new_table: NewTable, pytestconfig: pytest.Config) -> str:
    if pytestconfig.getoption("--endpoint") is not None:
        pytest.skip("these streams do not exist elsewhere")
    return new_table()


def stream(answered: Answered, table: str, name: str) -> str:
    parts = answered("DescribeTable", {"TableName": table})["Table"]["TableArn"].split(":")
    return f"arn:aws:kinesis:{parts[3]}:{parts[4]}:stream/{name}"


def call(answered: Answered, kind: str, table: str, arn: str, **others: Any) -> Json:
    return answered(f"{kind}KinesisStreamingDestination", {"TableName": table, "StreamArn": arn, **others})


def listed(answered: Answered, table: str) -> list[Json]:
    told = answered("DescribeKinesisStreamingDestination", {"TableName": table})
    assert told["TableName"] == table
    found: list[Json] = told["KinesisDataStreamDestinations"]
    return found


def test_a_table_has_no_destination_until_one_is_enabled(answered: Answered, table: str) -> None:
    assert listed(answered, table) == []
    arn = stream(answered, table, "changes")
    assert call(answered, "Enable", table, arn) == {
        "TableName": table,
        "StreamArn": arn,
        "DestinationStatus": "ENABLING",
        "EnableKinesisStreamingConfiguration": {},
    }
    assert listed(answered, table) == [{"StreamArn": arn, "DestinationStatus": "ACTIVE"}]


def test_the_precision_is_that_of_the_request(answered: Answered, table: str) -> None:
    arn = stream(answered, table, "changes")
    asked = {PRECISION: "MICROSECOND"}
    told = call(answered, "Enable", table, arn, EnableKinesisStreamingConfiguration=asked)
    assert told["EnableKinesisStreamingConfiguration"] == asked
    assert listed(answered, table) == [{"StreamArn": arn, "DestinationStatus": "ACTIVE", **asked}]


def test_one_destination_is_active_at_a_time(answered: Answered, refused: Refused, table: str) -> None:
    one, other = stream(answered, table, "one"), stream(answered, table, "other")
    call(answered, "Enable", table, one)
    for arn in (one, other):
        asked = {"TableName": table, "StreamArn": arn}
        assert refused("EnableKinesisStreamingDestination", asked) == ("ValidationException", NOT_DISABLED)
    told = call(answered, "Disable", table, one)
    assert told == {"TableName": table, "StreamArn": one, "DestinationStatus": "DISABLING"}
    call(answered, "Enable", table, other)
    assert [(d["StreamArn"], d["DestinationStatus"]) for d in listed(answered, table)] == [
        (other, "ACTIVE"),
        (one, "DISABLED"),
    ]
    call(answered, "Disable", table, other)
    call(answered, "Enable", table, one)
    assert [d["StreamArn"] for d in listed(answered, table)] == [one, other]


def test_only_an_active_destination_is_disabled(answered: Answered, refused: Refused, table: str) -> None:
    arn = stream(answered, table, "changes")
    asked = {"TableName": table, "StreamArn": arn}
    assert refused("DisableKinesisStreamingDestination", asked) == ("ValidationException", NOT_ACTIVE)
    call(answered, "Enable", table, arn)
    call(answered, "Disable", table, arn)
    assert refused("DisableKinesisStreamingDestination", asked) == ("ValidationException", NOT_ACTIVE)


def test_the_precision_of_an_active_destination_is_changed(
    answered: Answered, refused: Refused, table: str
) -> None:
    verb, arn = "UpdateKinesisStreamingDestination", stream(answered, table, "changes")
    uuid = answered("DescribeTable", {"TableName": table})["Table"]["TableId"]
    finer = {"UpdateKinesisStreamingConfiguration": {PRECISION: "MICROSECOND"}}
    asked = {"TableName": table, "StreamArn": arn, **finer}
    missing = (
        STATE + f"No streaming destination with streamArn: {arn} found for table with tableName: {table}"
    )
    assert refused(verb, asked) == ("ValidationException", missing)
    call(answered, "Enable", table, arn)
    assert answered(verb, asked)["DestinationStatus"] == "UPDATING"
    assert listed(answered, table)[0][PRECISION] == "MICROSECOND"
    same = (
        f"Invalid Request: Precision is already set to the desired value of MICROSECOND for tableId: {uuid}"
    )
    assert refused(verb, asked) == ("ValidationException", f"{same}, kdsArn: {arn}")
    call(answered, "Disable", table, arn)
    inactive = (
        STATE + "Kinesis streaming is not in ACTIVE state. Updates are only allowed in ACTIVE state. "
        f"TableName: {table}, kdsArn: {arn}"
    )
    assert refused(verb, asked) == ("ValidationException", inactive)


@pytest.mark.parametrize("given", [{}, {"UpdateKinesisStreamingConfiguration": {}}])
def test_an_update_must_say_what_to_change(
    answered: Answered, refused: Refused, table: str, given: Json
) -> None:
    asked = {"TableName": table, "StreamArn": stream(answered, table, "changes"), **given}
    words = (
        "Streaming destination cannot be updated with given parameters: "
        "UpdateKinesisStreamingConfiguration cannot be null or contain only null values"
    )
    assert refused("UpdateKinesisStreamingDestination", asked) == ("ValidationException", words)


@pytest.mark.parametrize(
    ("arn", "reason"),
    [
        (
            "arn:aws:kinesis:eu-north-1:000000000000:stream/changes",
            "The kinesis Arn used to enable kinesis replication belongs to a stream which is not in the current region",
        ),
        (
            "arn:aws:dynamodb:us-east-1:000000000000:table/orders",
            "User does not have a permission to use kinesis stream",
        ),
    ],
)
def test_a_stream_that_cannot_be_used_fails_afterwards(
    answered: Answered, table: str, arn: str, reason: str
) -> None:
    assert call(answered, "Enable", table, arn)["DestinationStatus"] == "ENABLING"
    failed = {"StreamArn": arn, "DestinationStatus": "ENABLE_FAILED", "DestinationStatusDescription": reason}
    assert listed(answered, table) == [failed]
    good = stream(answered, table, "changes")
    call(answered, "Enable", table, good)
    assert listed(answered, table) == [{"StreamArn": good, "DestinationStatus": "ACTIVE"}, failed]


@pytest.mark.parametrize("kind", ["Enable", "Disable", "Describe", "Update"])
def test_a_table_that_does_not_exist_has_no_destinations(refused: Refused, kind: str) -> None:
    asked = {
        "TableName": "conf-never-made",
        "StreamArn": "arn:aws:kinesis:us-east-1:000000000000:stream/changes",
        "UpdateKinesisStreamingConfiguration": {PRECISION: "MICROSECOND"},
    }
    words = "Requested resource not found: Table: conf-never-made not found"
    assert refused(f"{kind}KinesisStreamingDestination", asked) == ("ResourceNotFoundException", words)
