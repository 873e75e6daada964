"""The front door: what a call may rely on, and what an engine does at its end."""

import threading
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from tests.engine.tables import add, create_index, definition, found, item, keyed, names, put, transaction

from tablewright import Engine, ServiceError
from tablewright.engine import EngineClosed
from tablewright.engine.api.registry import VERBS


def test_a_verb_nobody_knows_is_an_unknown_operation(engine: Engine) -> None:
    with pytest.raises(ServiceError) as refused:
        engine.call("FetchItem", {})
    assert refused.value.name == "UnknownOperationException"


def test_every_verb_says_whether_it_writes(engine: Engine) -> None:
    writing = {verb for verb in VERBS if engine.writes(verb)}
    assert {"PutItem", "CreateTable", "TransactWriteItems", "TagResource"} <= writing
    assert writing.isdisjoint({"GetItem", "Query", "Scan", "DescribeTable", "ListTables", "TransactGetItems"})


REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("PutItem", {"TableName": "pets", "Item": {**item("b"), "n": {"N": "1.0"}, "s": {"SS": ["z", "a"]}}}),
    ("UpdateItem", add("a", 1)),
    ("DeleteItem", keyed("a")),
    ("GetItem", keyed("a") | {"ReturnConsumedCapacity": "TOTAL"}),
    (
        "BatchWriteItem",
        {"RequestItems": {"pets": [{"PutRequest": {"Item": {**item("c"), "n": {"N": "01"}}}}]}},
    ),
    ("BatchGetItem", {"RequestItems": {"pets": {"Keys": [item("a")]}}}),
    (
        "TransactWriteItems",
        transaction({"Put": {"TableName": "pets", "Item": {**item("d"), "n": {"N": "+1"}}}}),
    ),
    ("TransactGetItems", transaction({"Get": keyed("a")})),
    (
        "Query",
        {
            "TableName": "pets",
            "KeyConditionExpression": "pk = :p",
            "FilterExpression": "n = :n",
            "ExpressionAttributeValues": {":p": {"S": "a"}, ":n": {"N": "1.0"}},
        },
    ),
    ("Scan", {"TableName": "pets", "ExclusiveStartKey": item("a"), "Limit": 1}),
    ("UpdateTable", create_index("colour")),
    ("CreateTable", definition("other", ranged=True, indexes=("colour",), local=("age",))),
    ("PutItem", {"TableName": "pets", "Item": {"pk": {"N": "1.0"}}}),
    ("PutItem", {"TableName": "pets", "Item": {**item("e"), "s": {"SS": []}}}),
    ("UpdateItem", {**keyed("a"), "AttributeUpdates": {"n": {"Value": {"N": "2.0"}, "Action": None}}}),
    ("DeleteItem", {**keyed("a"), "Expected": {"n": {"Value": {"N": "2.0"}, "Exists": None}}}),
]


@pytest.mark.parametrize(
    ("verb", "request_"), REQUESTS, ids=[f"{n}-{verb}" for n, (verb, _) in enumerate(REQUESTS)]
)
def test_a_request_is_never_changed(engine: Engine, verb: str, request_: dict[str, Any]) -> None:
    engine.call("PutItem", put("a", n=1))
    sent = deepcopy(request_)
    try:
        engine.call(verb, sent)
    except ServiceError as refused:
        assert refused.status == 400  # noqa: PT017 (whether it is refused is not the question here)
    assert sent == request_


def test_a_request_that_is_no_dict_is_refused(engine: Engine) -> None:
    with pytest.raises(ServiceError, match="SerializationException"):
        engine.call("GetItem", MappingProxyType(keyed("rex")))  # type: ignore[arg-type]  # that is the question


def test_an_answer_belongs_to_the_caller(engine: Engine) -> None:
    engine.call("PutItem", put("rex", age=3))
    answered = engine.call("GetItem", keyed("rex"))
    answered["Item"]["age"]["N"] = "9"
    assert found(engine, "rex") == item("rex", age=3)


def test_an_item_belongs_to_the_engine_once_it_is_written(engine: Engine) -> None:
    request = put("rex", age=3)
    engine.call("PutItem", request)
    request["Item"]["age"]["N"] = "9"
    assert found(engine, "rex") == item("rex", age=3)


# --- the end ---


def test_closing_twice_is_closing_once(store: Path) -> None:
    engine = Engine.open(store)
    engine.close()
    engine.close()


@pytest.mark.parametrize(
    ("verb", "request_"), [("GetItem", keyed("a")), ("PutItem", put("a")), ("ListTables", {})]
)
def test_a_closed_engine_takes_no_more_calls(store: Path, verb: str, request_: dict[str, Any]) -> None:
    with Engine.open(store) as engine:
        engine.call("CreateTable", definition())
    with pytest.raises(EngineClosed, match="this engine is closed; open the store again"):
        engine.call(verb, request_)


def test_a_closed_engine_in_memory_takes_no_more_calls() -> None:
    engine = Engine.open()
    engine.close()
    with pytest.raises(EngineClosed):
        engine.call("ListTables", {})
    with pytest.raises(EngineClosed):
        engine.verify()


def test_what_was_answered_is_there_when_the_store_is_opened_again(store: Path) -> None:
    with Engine.open(store) as engine:
        engine.call("CreateTable", definition(ranged=False, indexes=("colour",)))
        engine.call("PutItem", put("rex", colour="red"))
    with Engine.open(store) as engine:
        assert found(engine, "rex") == item("rex", colour="red")
        assert names(engine, "colour") == ["rex"]


def test_closing_waits_for_reads_and_refuses_those_that_come_later(store: Path) -> None:
    engine = Engine.open(store, durability="relaxed")
    engine.call("CreateTable", definition())
    for number in range(200):
        engine.call("PutItem", put(f"pet {number}", name="x" * 50))
    ends: list[BaseException] = []
    started = threading.Barrier(5)

    def read() -> None:
        started.wait()
        try:
            while True:
                page = engine.call("Scan", {"TableName": "pets"} | FILTER)
                assert page["ScannedCount"] == 200
        except BaseException as end:
            ends.append(end)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    started.wait()
    engine.close()
    for reader in readers:
        reader.join()
    assert [type(end) for end in ends] == [EngineClosed] * 4
    # Nothing is left behind that keeps the store from being opened.
    Engine.open(store).close()


def test_closing_while_others_write_loses_no_answered_write_and_tells_the_others(store: Path) -> None:
    engine = Engine.open(store, durability="relaxed")
    engine.call("CreateTable", definition())
    answered: list[str] = []
    ends: list[BaseException] = []
    started = threading.Barrier(5)

    def write(who: int) -> None:
        started.wait()
        number = 0
        try:
            while True:
                number += 1
                engine.call("PutItem", put(f"{who}-{number}"))
                answered.append(f"{who}-{number}")
        except BaseException as end:
            ends.append(end)

    writers = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for writer in writers:
        writer.start()
    started.wait()
    while len(answered) < 40:
        pass
    engine.close()
    for writer in writers:
        writer.join()
    assert [type(end) for end in ends] == [EngineClosed] * 4
    with Engine.open(store) as again:
        assert again.verify() == []
        assert set(answered) <= set(names(again))


def test_writes_that_wait_for_an_engine_that_is_then_closed_are_told_so(store: Path) -> None:
    engine = Engine.open(store, durability="relaxed")
    engine.call("CreateTable", definition())
    ends: list[BaseException] = []

    def write(who: int) -> None:
        try:
            engine.call("PutItem", put(str(who)))
        except BaseException as end:
            ends.append(end)

    writers = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    closing = threading.Thread(target=engine.close)
    with engine._storage.write_lock:
        for writer in writers:
            writer.start()
        while len(engine._writer._waiting) < 4:
            pass
        closing.start()
        while not engine._closed:
            pass
    for thread in (*writers, closing):
        thread.join()
    assert [type(end) for end in ends] == [EngineClosed] * 4
    with Engine.open(store) as again:
        assert names(again) == []


FILTER = {"FilterExpression": "attribute_exists(wings)"}


def test_a_transaction_that_was_broken_off_is_undone_by_the_next_write(engine: Engine) -> None:
    with engine._storage.write_lock:  # else the engine's own chores may be writing
        engine._storage.begin()
        engine._storage.writes.add_to_counts(("left behind", 1, 1))
    engine.call("PutItem", put("a"))
    assert found(engine, "a")
    assert engine.verify() == []


def test_a_fault_of_ours_in_a_write_is_not_blamed_on_the_caller(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise TypeError("ours")

    monkeypatch.setattr("tablewright.engine.api.items.put_of", broken)
    with pytest.raises(ServiceError) as failed:
        engine.call("PutItem", put("a"))
    assert failed.value.name == "InternalServerError"
