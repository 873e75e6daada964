"""Stores and servers that the tests of commands look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.command import served, url_in

from tablewright.engine import Engine

PETS: dict[str, Any] = {
    "TableName": "pets",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "owner", "AttributeType": "S"},
        {"AttributeName": "name", "AttributeType": "S"},
        {"AttributeName": "age", "AttributeType": "N"},
    ],
    "KeySchema": [
        {"AttributeName": "owner", "KeyType": "HASH"},
        {"AttributeName": "name", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-age",
            "KeySchema": [{"AttributeName": "age", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    "Tags": [{"Key": "team", "Value": "vets"}],
}


def pet(owner: str, name: str, age: int = 1) -> dict[str, Any]:
    return {"owner": {"S": owner}, "name": {"S": name}, "age": {"N": str(age)}}


def put(engine: Any, *pets: dict[str, Any]) -> None:
    for one in pets:
        engine.call("PutItem", {"TableName": "pets", "Item": one})


def store_of_pets(path: Path, pets: int = 3) -> Path:
    """A closed store with a table of pets, so many of them in it."""
    with Engine.open(path, durability="relaxed") as engine:
        engine.call("CreateTable", PETS)
        engine.settle()
        put(engine, *(pet("anna", f"pet {number}", number) for number in range(pets)))
    return path


@contextmanager
def server_of(store: Path, *options: str) -> Iterator[str]:
    """The URL of a server that has the store open."""
    with served("--data", store, *options) as (line, _):
        yield url_in(line)
