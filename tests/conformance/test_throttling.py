"""Throttling as an SDK meets it. Only our own engine can be told to throttle at will, so no other endpoint is asked."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from tests.conformance.talk import ACCESS_KEY, REGION, SECRET_KEY, attribute, index, key_schema

Json = dict[str, Any]


@pytest.fixture(scope="module")
def throttled(pytestconfig: pytest.Config) -> Iterator[Any]:
    """A client of an engine that throttles by a clock that stands still."""
    if pytestconfig.getoption("--endpoint") is not None:
        pytest.skip("throttling is asked of our own engine only")
    from tablewright import testing
    from tablewright.wire import serving

    clock = testing.Clock()
    with testing.engine(world=clock.world(), throttling=True) as engine, serving(engine, port=0) as url:
        client = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            config=Config(retries={"max_attempts": 0}),
        )
        yield client
        client.close()


def units(read: int, write: int) -> Json:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def new_table(client: Any, **more: Any) -> str:
    name = f"conf-{uuid.uuid4().hex}"
    settings: Json = {
        "TableName": name,
        "AttributeDefinitions": [attribute("pk", "S")],
        "KeySchema": key_schema("pk"),
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": units(1, 1),
    }
    client.create_table(**{k: v for k, v in (settings | more).items() if v is not None})
    return name


def put(client: Any, table: str, pk: str, **attributes: Json) -> None:
    client.put_item(TableName=table, Item={"pk": {"S": pk}, **attributes})


def test_a_provisioned_table_says_which_of_its_units_are_used_up(throttled: Any) -> None:
    table = new_table(throttled)
    put(throttled, table, "a")
    with pytest.raises(throttled.exceptions.ProvisionedThroughputExceededException) as caught:
        put(throttled, table, "b")
    answer = caught.value.response
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert answer["Error"]["Message"].startswith(
        "The level of configured provisioned throughput for the table"
    )
    (reason,) = answer["ThrottlingReasons"]
    assert reason["reason"] == "TableWriteProvisionedThroughputExceeded"
    assert reason["resource"].endswith(f":table/{table}")


def test_an_index_that_is_short_is_named(throttled: Any) -> None:
    table = new_table(
        throttled,
        AttributeDefinitions=[attribute("pk", "S"), attribute("colour", "S")],
        ProvisionedThroughput=units(9, 9),
        GlobalSecondaryIndexes=[index("colour", ("colour",), "ALL") | {"ProvisionedThroughput": units(1, 1)}],
    )
    put(throttled, table, "a", colour={"S": "brown"})
    with pytest.raises(throttled.exceptions.ProvisionedThroughputExceededException) as caught:
        put(throttled, table, "b", colour={"S": "brown"})
    (reason,) = caught.value.response["ThrottlingReasons"]
    assert reason["reason"] == "IndexWriteProvisionedThroughputExceeded"
    assert reason["resource"].endswith(f":table/{table}/index/colour")


def test_an_on_demand_ceiling_is_a_throttling_exception(throttled: Any) -> None:
    table = new_table(
        throttled,
        BillingMode="PAY_PER_REQUEST",
        ProvisionedThroughput=None,
        OnDemandThroughput={"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 1},
    )
    put(throttled, table, "a")
    with pytest.raises(throttled.exceptions.ThrottlingException) as caught:
        put(throttled, table, "b")
    (reason,) = caught.value.response["throttlingReasons"]
    assert reason["reason"] == "TableWriteMaxOnDemandThroughputExceeded"


def test_a_batch_hands_back_a_part_and_fails_as_a_whole(throttled: Any) -> None:
    table = new_table(throttled, ProvisionedThroughput=units(1, 2))
    writes = [{"PutRequest": {"Item": {"pk": {"S": name}}}} for name in "abc"]
    answer = throttled.batch_write_item(RequestItems={table: writes})
    assert answer["UnprocessedItems"] == {table: writes[2:]}
    with pytest.raises(ClientError, match="ProvisionedThroughputExceeded"):
        throttled.batch_write_item(RequestItems=answer["UnprocessedItems"])
    asked = {"Keys": [{"pk": {"S": name}} for name in "abc"], "ProjectionExpression": "pk"}
    found = throttled.batch_get_item(RequestItems={table: asked})
    assert found["UnprocessedKeys"] == {table: asked | {"Keys": asked["Keys"][2:]}}


def test_a_transaction_is_cancelled_with_the_reason_in_its_place(throttled: Any) -> None:
    short, free = new_table(throttled), new_table(throttled, ProvisionedThroughput=units(9, 9))
    put(throttled, short, "a")
    actions = [{"Put": {"TableName": name, "Item": {"pk": {"S": "b"}}}} for name in (free, short)]
    with pytest.raises(throttled.exceptions.TransactionCanceledException) as caught:
        throttled.transact_write_items(TransactItems=actions)
    reasons = caught.value.response["CancellationReasons"]
    assert [each["Code"] for each in reasons] == ["None", "ProvisionedThroughputExceeded"]
    assert "Item" not in throttled.get_item(TableName=free, Key={"pk": {"S": "b"}})


def test_an_sdk_that_retries_gets_through_once_units_have_come_in(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--endpoint") is not None:
        pytest.skip("throttling is asked of our own engine only")
    from tablewright import testing
    from tablewright.wire import serving

    with testing.engine(throttling=True) as engine, serving(engine, port=0) as url:
        client = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            config=Config(retries={"mode": "standard", "max_attempts": 10}),
        )
        table = new_table(client, ProvisionedThroughput=units(20, 20))
        for count in range(25):
            put(client, table, str(count))
        assert client.scan(TableName=table, Select="COUNT")["Count"] == 25
        client.close()
