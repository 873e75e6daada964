"""Expired items leave a table and its stream tells so, over HTTP and with boto3.

On the service this takes hours or days; here the clock is moved, so these tests are about our own engine only.
Elsewhere: the setting (test_time_to_live.py), the sweep in detail (tests/engine/background/test_ttl.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest
from tests.conformance.stream_talk import read, specification
from tests.conformance.talk import ACCESS_KEY, HASH_TABLE, REGION, SECRET_KEY

from tablewright import Engine, testing
from tablewright.wire import serving

Pair = tuple[Any, Any]


@pytest.fixture
def clock() -> testing.Clock:
    return testing.Clock()


@pytest.fixture
def engine(clock: testing.Clock, pytestconfig: pytest.Config) -> Iterator[Engine]:
    if pytestconfig.getoption("--endpoint") is not None:
        pytest.skip("the clock of another endpoint cannot be moved")
    with testing.engine(world=clock.world()) as opened:
        yield opened


@pytest.fixture
def both(engine: Engine) -> Iterator[Pair]:
    """Clients of tables and of streams."""
    with serving(engine) as url:
        clients = [
            boto3.client(
                service,
                endpoint_url=url,
                region_name=REGION,
                aws_access_key_id=ACCESS_KEY,
                aws_secret_access_key=SECRET_KEY,
            )
            for service in ("dynamodb", "dynamodbstreams")
        ]
        yield clients[0], clients[1]
        for client in clients:
            client.close()


def test_an_expired_item_goes_and_the_stream_tells_that_the_service_removed_it(
    both: Pair, engine: Engine, clock: testing.Clock
) -> None:
    dynamodb, streams = both
    made = dynamodb.create_table(
        TableName="sessions",
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification=specification("OLD_IMAGE"),
        **HASH_TABLE,
    )
    arn = made["TableDescription"]["LatestStreamArn"]
    dynamodb.update_time_to_live(
        TableName="sessions", TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"}
    )
    now = int(clock.now().timestamp())
    for name, until in (("short", now + 60), ("long", now + 3600)):
        dynamodb.put_item(TableName="sessions", Item={"pk": {"S": name}, "until": {"N": str(until)}})
    dynamodb.delete_item(TableName="sessions", Key={"pk": {"S": "long"}})
    clock.move(timedelta(seconds=61))
    assert dynamodb.scan(TableName="sessions")["Count"] == 1
    engine.settle()
    assert dynamodb.scan(TableName="sessions")["Count"] == 0
    *_, deleted, expired = read(streams, arn, 4)
    assert (deleted["eventName"], expired["eventName"]) == ("REMOVE", "REMOVE")
    assert "userIdentity" not in deleted
    assert expired["userIdentity"] == {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
    assert expired["dynamodb"]["OldImage"] == {"pk": {"S": "short"}, "until": {"N": str(now + 60)}}
