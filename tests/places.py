"""Where a test's database is: our engine in this process, on each way to it, or an endpoint named with --endpoint.

At an endpoint a test has tables of its own, which are deleted afterwards.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from tests.client.ways import KEY, REGION, WAYS

from tablewright import Engine, testing
from tablewright.client import Call, HttpCall, pages, through_boto3
from tablewright.design import Design, Environment
from tablewright.mapping import Db
from tablewright.mapping.receipts import TABLE as RECEIPTS
from tablewright.world import World

Item = dict[str, Any]


@dataclass(frozen=True)
class Reached:
    """A way to a database; the engine where it is ours, the environment where it is not."""

    call: Call
    engine: Engine | None = None
    environment: Environment | None = None


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


@contextmanager
def reached(way: str, endpoint: str | None, world: World, design: Design) -> Iterator[Reached]:
    """A database for the tables of a design; the test is passed over where the way does not lead to the endpoint."""
    if endpoint is None:
        with testing.engine(world=world) as engine, WAYS[way](engine) as call:
            yield Reached(call, engine)
        return
    if way not in ELSEWHERE:
        pytest.skip("the engine of this process is not the endpoint")
    with ELSEWHERE[way](endpoint) as call:
        place = Environment("test", REGION, table_name=f"t-{uuid.uuid4().hex[:12]}-{{table}}")
        yield Reached(call, None, place)
        for name in (*design.tables, RECEIPTS.name):
            call("DeleteTable", {"TableName": place.physical(name)})


def scan(db: Db, call: Call, table: str) -> list[Item]:
    """Every item of a table as it lies there, whoever wrote it."""
    request = {"TableName": db.physical(table), "ConsistentRead": True}
    return [item for page in pages(call, "Scan", request) for item in page["Items"]]


def everything(db: Db, call: Call, design: Design) -> dict[str, list[Item]]:
    """All tables of a design with all items, to compare before and after."""
    return {name: sorted(scan(db, call, name), key=repr) for name in (*design.tables, RECEIPTS.name)}
