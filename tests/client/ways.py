"""The three ways to the same engine, and small values the tests of this room share."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

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


class ServedEngine:
    """Stands for the engine of the test that has the server now."""

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine | None = engine

    def __getattr__(self, name: str) -> Any:
        assert self.engine is not None, "a request came when no test had the server"
        return getattr(self.engine, name)


class SharedServer:
    """A server with its clients of boto3, for one test after another: to make them costs more than most tests."""

    def __init__(self, engine: Engine) -> None:
        self.served = ServedEngine(engine)
        self._open = ExitStack()
        self.url = self._open.enter_context(serving(cast(Engine, self.served), credentials=KEYS))
        atexit.register(self._open.close)

    @cached_property
    def clients(self) -> tuple[Any, Any]:
        """Of DynamoDB and of its streams."""
        settings: Json = {
            "config": TERSE,
            "endpoint_url": self.url,
            "region_name": REGION,
            "aws_access_key_id": KEY.key_id,
            "aws_secret_access_key": KEY.secret,
        }
        return boto3.client("dynamodb", **settings), boto3.client("dynamodbstreams", **settings)


_idle: list[SharedServer] = []


@contextmanager
def _lent(engine: Engine) -> Iterator[SharedServer]:
    server = _idle.pop() if _idle else SharedServer(engine)
    server.served.engine = engine
    engine.place = replace(engine.place, address=server.url.partition("//")[2])
    try:
        yield server
    finally:
        server.served.engine = None
        _idle.append(server)


@contextmanager
def over_http(engine: Engine) -> Iterator[Call]:
    with _lent(engine) as server, HttpCall(server.url, REGION, KEY) as call:
        yield call


@contextmanager
def by_boto3(engine: Engine) -> Iterator[Call]:
    with _lent(engine) as server:
        client, streams = server.clients
        yield through_boto3(client, streams=streams)
        client.close()  # its connections; it makes new ones for the next test
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
