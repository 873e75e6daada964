"""The three ways to the same engine, and small values the tests of this room share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import boto3
from botocore.config import Config

from tablewright import Engine
from tablewright.client import Call, Credentials, HttpCall, Retries, embedded, through_boto3
from tablewright.wire import AccessKey, serving
from tablewright.world import World, real_world

Json = dict[str, Any]
REGION = "us-east-1"
KEY = Credentials("AKIDTEST", "se/cret+key", None)
TEMPORARY = Credentials("ASIATEST", "other", "tok/en==")
# botocore tells what it runs on in each request: to put these words together is a sixth of its work for one.
TERSE = Config(user_agent="tests")
KEYS = {one.key_id: AccessKey(one.key_id, one.secret, one.token) for one in (KEY, TEMPORARY)}


@dataclass
class Naps:
    """A sleep that only takes notes."""

    taken: list[float] = field(default_factory=list)

    def retries(self, attempts: int = 10) -> Retries:
        return Retries(attempts=attempts, sleep=self.taken.append)


def world(chance: float = 1.0) -> World:
    """The real world, except that chance always says the same."""
    return replace(real_world(), jitter=lambda: chance)


@contextmanager
def in_process(engine: Engine) -> Iterator[Call]:
    yield embedded(engine)


@contextmanager
def over_http(engine: Engine) -> Iterator[Call]:
    with serving(engine, credentials=KEYS) as url, HttpCall(url, REGION, KEY) as call:
        yield call


@contextmanager
def by_boto3(engine: Engine) -> Iterator[Call]:
    with serving(engine, credentials=KEYS) as url:
        settings: Json = {
            "config": TERSE,
            "endpoint_url": url,
            "region_name": REGION,
            "aws_access_key_id": KEY.key_id,
            "aws_secret_access_key": KEY.secret,
        }
        client, streams = boto3.client("dynamodb", **settings), boto3.client("dynamodbstreams", **settings)
        yield through_boto3(client, streams=streams)
        client.close()
        streams.close()


WAYS = {"embedded": in_process, "http": over_http, "boto3": by_boto3}


def table(name: str = "pets", *, kind: str = "S") -> Json:
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": kind}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }


def put(pk: str, **more: Any) -> Json:
    return {"TableName": "pets", "Item": {"pk": {"S": pk}, **more}}


def keyed(pk: str) -> Json:
    return {"TableName": "pets", "Key": {"pk": {"S": pk}}}


def remembering(call: Call, log: list[tuple[str, Mapping[str, Any]]]) -> Call:
    def remembered(verb: str, request: Mapping[str, Any]) -> Json:
        log.append((verb, request))
        return call(verb, request)

    return remembered


def scripted(*answers: Json | Exception | Callable[[Mapping[str, Any]], Json]) -> tuple[Call, list[Json]]:
    """A Call that gives these answers in turn, and the requests it got."""
    waiting, asked = list(answers), list[Json]()

    def call(verb: str, request: Mapping[str, Any]) -> Json:
        asked.append(dict(request))
        answer = waiting.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    return call, asked
