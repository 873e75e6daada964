"""A store of two small tables, and a place elsewhere that its copies go to: for the tests of copies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from tablewright import Engine, testing
from tablewright.app.copies.job import Copying, bring_further
from tablewright.app.copies.store import CopyPlace, made_ready, place_of
from tablewright.client import embedded

STORE = "store-1"
KEPT = timedelta(days=2)
A_DAY = timedelta(days=1)
KEY: dict[str, Any] = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
        {"AttributeName": "colour", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-colour",
            "KeySchema": [{"AttributeName": "colour", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "local",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "colour", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}
TABLES = ("cats", "dogs")


def made(engine: Engine) -> Engine:
    """With the two tables, whose past is kept."""
    for table in TABLES:
        engine.call("CreateTable", KEY | {"TableName": table})
        wanted = {"PointInTimeRecoveryEnabled": True}
        engine.call(
            "UpdateContinuousBackups", {"TableName": table, "PointInTimeRecoverySpecification": wanted}
        )
    return engine


def pet(name: str) -> dict[str, Any]:
    return {"pk": {"S": "anna"}, "sk": {"S": name}, "colour": {"S": "red"}, "weight": {"N": "1.5"}}


def put(engine: Engine, name: str) -> None:
    """In both tables, or in none."""
    engine.call(
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": table, "Item": pet(name)}} for table in TABLES]},
    )


def names(engine: Any, table: str) -> list[str]:
    return sorted(item["sk"]["S"] for item in engine.call("Scan", {"TableName": table})["Items"])


def copying_of(engine: Engine, clock: testing.Clock, place: CopyPlace, store: str = STORE) -> Copying:
    return Copying(embedded(engine), clock.world(), place, store, dict.fromkeys(TABLES, KEPT), {})


@contextmanager
def home(where: str, clock: testing.Clock, path: str | Path = ":memory:") -> Iterator[tuple[Engine, Copying]]:
    """An engine with the two tables whose exports can go to the place."""
    place = made_ready(place_of(where))
    with Engine.open(
        path,
        durability="relaxed",
        world=clock.world(),
        ttl_seconds=3600,
        elsewhere={place.bucket.name: place.where},
    ) as engine:
        yield made(engine), copying_of(engine, clock, place)
        assert engine.verify() == []
    place.close()


def copy_today(engine: Engine, copying: Copying) -> None:
    """As the schedule does it: asked for, done meanwhile, seen to be done."""
    bring_further(copying)
    engine.settle()
    bring_further(copying)
