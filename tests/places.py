"""Where a test's database is: our engine in this process, on each way to it, or an endpoint named with --endpoint.

The tables of the design are there. On our engine they are made once and each test begins with a copy: to make them
took longer than most tests. At an endpoint a test has tables of its own, which are deleted afterwards.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

import boto3
from tests.client.ways import REGION, WAYS
from tests.targets import skip_lacking

from tablewright import Engine, testing
from tablewright.client import Call, Credentials, HttpCall, embedded, pages, through_boto3
from tablewright.design import Design, Environment
from tablewright.mapping import Db
from tablewright.mapping.receipts import TABLE as RECEIPTS
from tablewright.mapping.tables import table_requests
from tablewright.testing import Clock
from tablewright.world import World

Item = dict[str, Any]
# The example keys of AWS's documentation: ExtendDB in developer mode takes these alone, moto and our server any.
KEY = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", None)


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
    settings: dict[str, Any] = {
        "endpoint_url": url,
        "region_name": REGION,
        "aws_access_key_id": KEY.key_id,
        "aws_secret_access_key": KEY.secret,
    }
    client, streams = boto3.client("dynamodb", **settings), boto3.client("dynamodbstreams", **settings)
    yield through_boto3(client, streams=streams)
    client.close()
    streams.close()


ELSEWHERE = {"http": _http, "boto3": _boto3}
WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")
# Indexes of ExtendDB were 8 ms behind their table, and 43 ms at most of sixty writes.
INDEX_SECONDS = 0.12
# How many requests were sent to the endpoint: a test that sends none is not about it.
calls = 0
# What is written before a test begins.
Fill: TypeAlias = Callable[[Db, Clock], object]
_images: dict[tuple[Design, Fill | None, datetime], bytes] = {}


@contextmanager
def reached(
    way: str, endpoint: str | None, world: World, design: Design, fill: Fill | None = None
) -> Iterator[Reached]:
    """A database with the tables of a design, and what `fill` writes, which depends on the time alone.

    At an endpoint the way is over HTTP, if it is not boto3.
    """
    if endpoint is None:
        image = _image(design, fill, world.now())
        with testing.engine(world=world, image=image) as engine, WAYS[way](engine) as call:
            yield Reached(call, engine)
        return
    skip_lacking(design)
    with ELSEWHERE.get(way, _http)(endpoint) as reaching:
        call = _settled(reaching)
        prefix = f"t-{uuid.uuid4().hex[:12]}-"
        place = Environment("test", REGION, table_name=f"{prefix}{{table}}")
        for request, _ in table_requests(design, place):
            call("CreateTable", request)  # all at once: a server may take a second for each
        _filled(call, design, fill, world.now(), place)
        yield Reached(call, None, place)
        _delete(call, prefix)


def _settled(call: Call) -> Call:
    """Before an index is read, wait until it has what was written: an endpoint's may be behind, as Amazon's are."""
    wrote_at = 0.0

    def settled(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        global calls
        nonlocal wrote_at
        calls += 1
        if "IndexName" in request and verb in ("Query", "Scan"):
            time.sleep(max(0.0, wrote_at + INDEX_SECONDS - time.monotonic()))
        answer = call(verb, request)
        if verb in WRITES:
            wrote_at = time.monotonic()
        return answer

    return settled


def _delete(call: Call, prefix: str) -> None:
    """The tables of a test, also those that it made."""
    names = [name for page in pages(call, "ListTables", {}) for name in page["TableNames"]]
    for name in names:
        if name.startswith(prefix):
            call("DeleteTable", {"TableName": name})


def _image(design: Design, fill: Fill | None, now: datetime) -> bytes:
    found = _images.get((design, fill, now))
    if found is None:
        with testing.engine(world=Clock(now).world()) as engine:
            _filled(embedded(engine), design, fill, now)
            found = _images[design, fill, now] = engine.image()
    return found


def _filled(
    call: Call, design: Design, fill: Fill | None, now: datetime, environment: Environment | None = None
) -> None:
    clock = Clock(now)
    db = Db(call, design, world=clock.world(), secret=b"opens no page of a test", environment=environment)
    db.create_tables()
    if fill is not None:
        fill(db, clock)


def scan(db: Db, call: Call, table: str) -> list[Item]:
    """Every item of a table as it lies there, whoever wrote it."""
    request = {"TableName": db.physical(table), "ConsistentRead": True}
    return [item for page in pages(call, "Scan", request) for item in page["Items"]]


def everything(db: Db, call: Call, design: Design) -> dict[str, list[Item]]:
    """All tables of a design with all items, to compare before and after."""
    return {name: sorted(scan(db, call, name), key=repr) for name in (*design.tables, RECEIPTS.name)}
