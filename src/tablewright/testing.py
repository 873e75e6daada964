"""For tests: an engine in a line, a boto3 client in a line, a clock you can move.

    with testing.engine() as engine: ...
    with testing.client() as dynamodb: ...          # boto3, over real HTTP
    clock = testing.Clock(); testing.engine(world=clock.world())

The engines of `engine` and `client` are verified when they are closed: a broken invariant fails the test that broke
it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tablewright.engine import Engine
from tablewright.wire import serving
from tablewright.world import World, real_world


class StoreBroken(AssertionError):
    """The store broke one of its invariants during a test."""


class Clock:
    """A clock that stops until it is moved."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        if start.tzinfo is None:
            raise ValueError("a clock needs a time with a zone, such as datetime(2026, 1, 1, tzinfo=UTC)")
        self._now = start
        self._lock = threading.Lock()

    def now(self) -> datetime:
        return self._now

    def move(self, by: timedelta) -> None:
        with self._lock:
            self._now += by

    def world(self) -> World:
        """The real world, except for its time."""
        return replace(real_world(), now=self.now)


@contextmanager
def engine(
    path: str | Path = ":memory:",
    *,
    durability: str = "relaxed",
    world: World | None = None,
    ttl_seconds: float = 3600.0,
    throttling: bool = False,
    buckets: str | Path | None = None,
    image: bytes | None = None,
) -> Iterator[Engine]:
    """An engine, in memory unless a path is given. `settle()` deletes expired items.

    To fill a store once for many tests, keep its `engine.image()` and begin each with a copy: `engine(image=kept)`.
    """
    with Engine.open(
        path,
        durability=durability,
        world=world,
        ttl_seconds=ttl_seconds,
        throttling=throttling,
        buckets=buckets,
        image=image,
    ) as opened:
        yield opened
        opened.metrics.flush()
        changes = opened.changes()
        broken = opened.verify()
        opened.settle()
        if opened.changes() != changes:  # it may have pruned the journal: what it removed was verified above
            broken += opened.verify()
        if broken:
            raise StoreBroken("; ".join(broken))


@contextmanager
def client(path: str | Path = ":memory:", *, world: World | None = None, **options: Any) -> Iterator[Any]:
    """A boto3 DynamoDB client of an engine of its own; `options` go to boto3."""
    try:
        import boto3  # here, because only tests that ask for a client need it
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "testing.client needs boto3: pip install 'tablewright[boto3]' (in a clone: pip install '.[boto3]')",
            name="boto3",
        ) from None

    with engine(path, world=world) as opened, serving(opened) as url:
        settings = {
            "endpoint_url": url,
            "region_name": opened.place.region,
            "aws_access_key_id": "test",
            "aws_secret_access_key": "test",
        }
        connected = boto3.client("dynamodb", **(settings | options))
        try:
            yield connected
        finally:
            connected.close()
