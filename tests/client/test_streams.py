"""The verbs of DynamoDB Streams: another service to an SDK, on Amazon at another host."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.config import Config
from tests.client.stub import answering, letter
from tests.client.ways import KEY, REGION, put, table

from tablewright.client import Call, CallRefused, HttpCall, through_boto3
from tablewright.client.endpoint import endpoint_of, streams_endpoint


def test_a_stream_is_read_whichever_way(call: Call) -> None:
    setting = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    call("CreateTable", table("told") | {"StreamSpecification": setting})
    call("PutItem", put("rex", photo={"B": "/+8A"}) | {"TableName": "told"})
    (stream,) = call("ListStreams", {"TableName": "told"})["Streams"]
    described = call("DescribeStream", {"StreamArn": stream["StreamArn"]})["StreamDescription"]
    assert isinstance(described["CreationRequestDateTime"], float)
    (shard,) = described["Shards"]
    place = {"StreamArn": stream["StreamArn"], "ShardId": shard["ShardId"]}
    start = call("GetShardIterator", place | {"ShardIteratorType": "TRIM_HORIZON"})
    (record,) = call("GetRecords", start)["Records"]
    assert record["eventName"] == "INSERT"
    assert record["dynamodb"]["NewImage"] == {"pk": {"S": "rex"}, "photo": {"B": "/+8A"}}
    assert isinstance(record["dynamodb"]["ApproximateCreationDateTime"], int | float)


def test_a_refusal_of_a_stream_has_its_name(call: Call) -> None:
    with pytest.raises(CallRefused) as caught:
        call("GetRecords", {"ShardIterator": "nonsense"})
    assert caught.value.name == "ValidationException"


def asked_by_botocore(service: str, region: str, config: Config) -> str:
    """Where botocore sends a request; seen where it leaves, since its rules are applied there only."""
    asked: list[str] = []
    client = boto3.client(
        service, region_name=region, config=config, aws_access_key_id="a", aws_secret_access_key="b"
    )

    def stop(params: Any, **_: Any) -> tuple[Any, dict[str, Any]]:
        asked.append(params["url"])
        return SimpleNamespace(status_code=200), {}

    client.meta.events.register("before-call", stop)
    getattr(client, "list_tables" if service == "dynamodb" else "list_streams")()
    client.close()
    return asked[0]


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1", "cn-north-1", "us-gov-west-1"])
@pytest.mark.parametrize("both_stacks", [False, True])
@pytest.mark.parametrize("fips", [False, True])
def test_the_host_on_amazon_is_the_one_botocore_would_use(region: str, both_stacks: bool, fips: bool) -> None:
    config = Config(use_fips_endpoint=fips, use_dualstack_endpoint=both_stacks)
    tables, streams = (
        asked_by_botocore(service, region, config) for service in ("dynamodb", "dynamodbstreams")
    )
    assert streams_endpoint(endpoint_of(tables)) == endpoint_of(streams)


@pytest.mark.parametrize(
    ("endpoint", "streams"),
    [
        (
            "https://123456789012.ddb.eu-west-1.amazonaws.com",
            "https://streams.dynamodb.eu-west-1.amazonaws.com",
        ),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("https://dynamodb.example.org/base", "https://dynamodb.example.org/base"),
        (
            "https://dynamodb.eu-west-1.amazonaws.com.evil.org",
            "https://dynamodb.eu-west-1.amazonaws.com.evil.org",
        ),
    ],
)
def test_an_accounts_own_host_is_amazons_and_any_other_stays_itself(endpoint: str, streams: str) -> None:
    assert streams_endpoint(endpoint_of(endpoint)) == endpoint_of(streams)


def test_on_amazon_streams_and_tables_go_to_two_hosts_under_two_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    connect = socket.create_connection
    with answering(letter({}), letter({})) as server:

        def detour(where: tuple[str, int], *rest: Any) -> socket.socket:
            asked.append(where[0])
            return connect(("127.0.0.1", server.port), *rest)

        with (
            monkeypatch.context() as patched,
            HttpCall("http://dynamodb.us-east-1.amazonaws.com", REGION, KEY) as call,
        ):
            patched.setattr(socket, "create_connection", detour)
            call("ListStreams", {})
            call("ListTables", {})
    assert asked == ["streams.dynamodb.us-east-1.amazonaws.com", "dynamodb.us-east-1.amazonaws.com"]
    told = [(headers["host"], headers["x-amz-target"]) for headers, _ in server.requests]
    assert told == [
        ("streams.dynamodb.us-east-1.amazonaws.com", "DynamoDBStreams_20120810.ListStreams"),
        ("dynamodb.us-east-1.amazonaws.com", "DynamoDB_20120810.ListTables"),
    ]
    assert all("/us-east-1/dynamodb/" in headers["authorization"] for headers, _ in server.requests)


def test_boto3_without_a_client_for_streams_says_what_is_missing() -> None:
    with pytest.raises(CallRefused, match=r'streams=boto3.client\("dynamodbstreams"\)'):
        through_boto3(object())("ListStreams", {})
