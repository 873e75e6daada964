"""One read that goes through many items does not make the others wait."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.wire.talk import Line, once, request

from tablewright import testing
from tablewright.engine import Engine
from tablewright.engine.read_budget import Bounded, ExceedsBudget
from tablewright.wire import serving

ITEMS = 20_000
# None of them holds, so that every item is tried 140 times.
FILTERS = " OR ".join(f"contains(a, :v{number})" for number in range(140))
SCAN = {
    "TableName": "many",
    "FilterExpression": FILTERS,
    "ExpressionAttributeValues": {f":v{number}": {"S": f"q{number}"} for number in range(140)},
}
SELECT = {
    "Statement": "SELECT * FROM many WHERE "
    + " OR ".join(f"contains(a, 'q{number}')" for number in range(140)),
    "Limit": 5000,
}
GET = request("GetItem", {"TableName": "many", "Key": {"pk": {"S": "k7"}}})
PUT = request("PutItem", {"TableName": "many", "Item": {"pk": {"S": "new"}}})


def fill(engine: Engine) -> None:
    engine.call(
        "CreateTable",
        {
            "TableName": "many",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        },
    )
    engine.settle()
    for start in range(0, ITEMS, 25):
        puts = [
            {"PutRequest": {"Item": {"pk": {"S": f"k{number}"}, "a": {"S": "letters"}}}}
            for number in range(start, start + 25)
        ]
        engine.call("BatchWriteItem", {"RequestItems": {"many": puts}})


@pytest.fixture(scope="module", params=["in memory", "on disk"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    place: Path | str = ":memory:" if request.param == "in memory" else tmp_path_factory.mktemp("store")
    with Engine.open(place, durability="relaxed") as engine:
        fill(engine)
        yield engine


@pytest.fixture(scope="module")
def many_url(engine: Engine) -> Iterator[str]:
    with serving(engine) as url:
        yield url


@pytest.mark.parametrize(
    ("verb", "long"), [("Scan", SCAN), ("ExecuteStatement", SELECT)], ids=["Scan", "SELECT"]
)
def test_gets_and_puts_are_answered_while_a_long_read_runs(many_url: str, verb: str, long: Any) -> None:
    with Line(many_url) as slow, Line(many_url) as other:
        slow.socket.settimeout(120)
        answers: list[Any] = []
        waiter = threading.Thread(target=lambda: answers.append(slow.answer()))
        slow.send(request(verb, long))
        waiter.start()
        for _ in range(50):
            assert other.ask(GET).json["Item"]["pk"] == {"S": "k7"}
            assert other.ask(PUT).status == 200
        assert not answers, "the long read was over before fifty short requests were answered"
        waiter.join()
    (answer,) = answers
    assert answer.status == 200
    assert answer.json["Items"] == []


def test_answers_behind_a_long_read_come_after_it(many_url: str) -> None:
    with Line(many_url) as line:
        line.socket.settimeout(120)
        line.send(request("Scan", {**SCAN, "Limit": 1000}) + GET)
        assert line.answer().json["ScannedCount"] == 1000
        assert line.answer().json["Item"]["pk"] == {"S": "k7"}


def test_a_long_read_answers_as_the_engine_does(many_url: str, engine: Engine) -> None:
    whole = {"TableName": "many"}
    answer = once(many_url, request("Scan", whole, headers={"Accept-Encoding": "gzip"}))
    assert answer.is_whole()
    assert gzip.decompress(answer.body) == engine.answer("Scan", whole)


def test_a_mistake_that_a_long_read_finds_is_answered(many_url: str) -> None:
    keys = [{"pk": {"S": f"k{number}"}} for number in range(101)]
    answer = once(many_url, request("BatchGetItem", {"RequestItems": {"many": {"Keys": keys}}}))
    assert (answer.status, answer.json["__type"].partition("#")[2]) == (400, "ValidationException")


@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        ("Scan", {"TableName": "many"}),
        ("Scan", {"TableName": "many", "Select": "COUNT"}),
        ("Scan", {"TableName": "many", "ProjectionExpression": "pk", "Limit": 2000}),
        ("Scan", SCAN),
        ("ExecuteStatement", {"Statement": "SELECT * FROM many"}),
    ],
)
def test_a_read_of_many_items_stops_at_its_bound_and_counts_nothing(
    engine: Engine, verb: str, asked: Any
) -> None:
    before = engine.metrics.snapshot()
    with pytest.raises(ExceedsBudget):
        engine.answer(verb, asked, Bounded())
    assert engine.metrics.snapshot() == before


@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        ("GetItem", {"TableName": "many", "Key": {"pk": {"S": "k7"}}}),
        ("Scan", {"TableName": "many", "Limit": 100}),
        ("Scan", {"TableName": "many", "Limit": 100, "FilterExpression": "attribute_exists(a)"}),
        (
            "BatchGetItem",
            {"RequestItems": {"many": {"Keys": [{"pk": {"S": f"k{number}"}} for number in range(100)]}}},
        ),
        ("ExecuteStatement", {"Statement": "SELECT * FROM many WHERE pk = 'k7'"}),
    ],
)
def test_a_read_of_few_items_stays_within_its_bound(engine: Engine, verb: str, asked: Any) -> None:
    assert engine.answer(verb, asked, Bounded()) == engine.answer(verb, asked)


def test_a_batch_of_large_items_is_a_long_read() -> None:
    with testing.engine() as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "large",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            },
        )
        engine.settle()
        for name in "abcd":
            engine.call(
                "PutItem", {"TableName": "large", "Item": {"pk": {"S": name}, "x": {"S": "x" * 300_000}}}
            )
        keys = [{"pk": {"S": name}} for name in "abcd"]
        with pytest.raises(ExceedsBudget):
            engine.answer("BatchGetItem", {"RequestItems": {"large": {"Keys": keys}}}, Bounded())


def test_a_bounded_read_leaves_no_old_view_behind(tmp_path: Path) -> None:
    """A walk that was broken off must not keep the connection at the moment it began."""
    with Engine.open(tmp_path, durability="relaxed") as engine:
        fill(engine)
        with pytest.raises(ExceedsBudget):
            engine.answer("Scan", {"TableName": "many"}, Bounded())
        engine.call("PutItem", {"TableName": "many", "Item": {"pk": {"S": "later"}}})
        assert "Item" in engine.call("GetItem", {"TableName": "many", "Key": {"pk": {"S": "later"}}})


def test_a_throttled_engine_counts_a_long_read_once() -> None:
    with testing.engine(throttling=True) as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "few",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            },
        )
        engine.settle()
        with pytest.raises(ExceedsBudget):
            engine.answer("Scan", {"TableName": "few"}, Bounded())
        with serving(engine) as url:
            assert once(url, request("Scan", {"TableName": "few"})).json["Count"] == 0
