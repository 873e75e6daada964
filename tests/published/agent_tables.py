"""What the tests of published packages share: credentials, an embedding of texts, tables, and time that passes."""

from datetime import timedelta
from typing import Any

from tablewright import Engine
from tablewright.testing import Clock

CREDENTIALS = {"aws_access_key_id": "any", "aws_secret_access_key": "thing", "region_name": "us-east-1"}
HOUR = 3600
TABLE = "agents"
WORDS = ("cat", "dog", "pet", "car", "engine", "wheel", "tea", "cake")


def embed(text: str) -> list[float]:
    """How often each word is in a text: enough for texts about the same to be near each other."""
    return [float(text.lower().count(word)) + 0.01 for word in WORDS]


def create_table(client: Any, partition: str, sort: str, expires: str, **more: Any) -> None:
    """As the manuals of the packages say."""
    keys = ((partition, "HASH"), (sort, "RANGE"))
    client.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name, _ in keys],
        BillingMode="PAY_PER_REQUEST",
        **more,
    )
    client.get_waiter("table_exists").wait(TableName=TABLE)
    lifetime = {"Enabled": True, "AttributeName": expires}
    client.update_time_to_live(TableName=TABLE, TimeToLiveSpecification=lifetime)


def count_items(client: Any) -> int:
    count: int = client.scan(TableName=TABLE)["Count"]
    return count


def let_expire(engine: Engine, clock: Clock) -> None:
    """Two hours later the server deletes what has expired."""
    clock.move(timedelta(hours=2))
    engine.settle()
