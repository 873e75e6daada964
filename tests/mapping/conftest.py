"""Fixtures of the mapping's tests: a Db of the shop, on each way to a database, with a clock that can be moved.

`--endpoint URL` runs the suite against any DynamoDB endpoint instead, with tables of its own that are deleted
afterwards; what needs the inside of our engine is passed over then.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import boto3
import pytest
from tests.client.ways import KEY, REGION, WAYS
from tests.mapping.shop import START, shop
from tests.mapping.talk import Shop, dropped

from tablewright import Engine, testing
from tablewright.client import Call, HttpCall, through_boto3
from tablewright.design import Environment
from tablewright.mapping import Db
from tablewright.testing import Clock


@contextmanager
def _http(url: str) -> Iterator[Call]:
    with HttpCall(url, REGION, KEY) as call:
        yield call


@contextmanager
def _boto3(url: str) -> Iterator[Call]:
    client = boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=KEY.key_id,
        aws_secret_access_key=KEY.secret,
    )
    yield through_boto3(client)
    client.close()


ELSEWHERE = {"http": _http, "boto3": _boto3}


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture(params=list(WAYS))
def at(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Shop]:
    """A shop, opened: its Db, the Call under it, the clock; the engine where it is ours."""
    endpoint: str | None = request.config.getoption("--endpoint")
    with ExitStack() as opened:
        if endpoint is None:
            engine = opened.enter_context(testing.engine(world=clock.world()))
            call = opened.enter_context(WAYS[request.param](engine))
            yield _open(call, clock, engine, None)
            return
        if request.param not in ELSEWHERE:
            pytest.skip("the engine of this process is not the endpoint")
        call = opened.enter_context(ELSEWHERE[request.param](endpoint))
        place = Environment("test", REGION, table_name=f"t-{uuid.uuid4().hex[:12]}-{{table}}")
        here = _open(call, clock, None, place)
        yield here
        dropped(here)


def _open(call: Call, clock: Clock, engine: Engine | None, place: Environment | None) -> Shop:
    secret = b"the same secret in every process"
    db = Db(call, shop, world=clock.world(), secret=secret, environment=place)
    db.create_tables()
    return Shop(db, call, clock, engine, secret)


@pytest.fixture
def db(at: Shop) -> Db:
    return at.db


@pytest.fixture
def ours(at: Shop) -> Shop:
    """The same, for tests that look inside or stop the engine: our own only."""
    if at.engine is None:
        pytest.skip("looks inside our own engine")
    return at
