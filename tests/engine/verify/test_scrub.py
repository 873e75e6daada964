"""Damage to the file: a request never returns a damaged row, and the scrub finds what no request reads."""

import logging
import random
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.engine.history_requests import back_up, recover, restore
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import definition, found, item, keyed, put
from tests.engine.transfer_requests import ARN

from tablewright import Engine
from tablewright.engine import verify_store
from tablewright.engine.errors import ServiceError
from tablewright.engine.storage.sqlite import FILE
from tablewright.testing import Clock

ITEMS = 120
COLOURS = ("red", "green", "blue")


def fill(store: Path) -> list[Any]:
    """A store with a table, an index, and a journal; what reads of it return."""
    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition(indexes=("colour",)))
        for number in range(ITEMS):
            text = f"a text about number {number} " * 6
            engine.call("PutItem", put(f"p{number}", colour=COLOURS[number % 3], text=text))
        return answers(engine)


def answers(engine: Engine) -> list[Any]:
    """Everything by key, by a scan and by the index; None for what was refused."""
    requests: list[tuple[str, Any]] = [("GetItem", keyed(f"p{number}")) for number in range(ITEMS)]
    requests += [("Scan", {"TableName": "pets"}), ("Scan", {"TableName": "pets", "Limit": 40})]
    requests += [
        (
            "Query",
            {
                "TableName": "pets",
                "IndexName": "colour",
                "KeyConditionExpression": "colour = :c",
                "ExpressionAttributeValues": {":c": {"S": colour}},
            },
        )
        for colour in COLOURS
    ]
    return [answer(engine, verb, request) for verb, request in requests]


def answer(engine: Engine, verb: str, request: Any) -> Any:
    try:
        return engine.call(verb, request)
    except ServiceError as refused:
        return None if refused.name == "InternalServerError" else refused


def flipped(store: Path, seed: int) -> Path:
    """A copy of a store with one bit of its file turned over."""
    copy = store.with_name(f"flipped{seed}")
    shutil.copytree(store, copy)
    chance = random.Random(seed)
    content = bytearray((copy / FILE).read_bytes())
    content[chance.randrange(100, len(content))] ^= 1 << chance.randrange(8)
    (copy / FILE).write_bytes(content)
    return copy


def test_a_flipped_bit_is_noticed_wherever_it_is(store: Path) -> None:
    right = fill(store)
    served, unnoticed = [], []
    for seed in range(25):
        copy = flipped(store, seed)
        try:
            with SteppedEngine.stepped(copy) as engine:
                seen = answers(engine)
                report = engine.scrub.run()
        except Exception:
            continue  # it cannot even be opened
        if any(one is not None and one != other for one, other in zip(seen, right, strict=True)):
            served.append(seed)
        if None not in seen and not report.found and verify_store(copy):
            unnoticed.append(seed)
    assert (served, unnoticed) == ([], [])


BROKEN = pytest.mark.parametrize("to", ["rax", '"'], ids=["another text", "broken JSON"])


def break_rex(store: Path, to: str) -> None:
    connection = apsw.Connection(str(store / FILE))
    connection.execute(FLIP.replace("rax", to))
    connection.close()


def enable_expiry(engine: Engine) -> None:
    on = {"Enabled": True, "AttributeName": "until"}
    engine.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": on})


@BROKEN
def test_the_sweep_leaves_a_damaged_item_alone_and_deletes_the_others(store: Path, to: str) -> None:
    clock = Clock()
    with SteppedEngine.stepped(store, world=clock.world()) as engine:
        engine.call("CreateTable", definition())
        enable_expiry(engine)
        for name in ("rex", "tom"):
            engine.call("PutItem", put(name, until=int(clock.now().timestamp()) + 60))
        engine.settle()
    break_rex(store, to)
    clock.move(timedelta(hours=1))
    with SteppedEngine.stepped(store, world=clock.world()) as engine:
        while engine.background.run_maintenance_step(due=True):
            pass
        assert answer(engine, "GetItem", keyed("rex")) is None
        assert found(engine, "tom") is None
        assert engine.scrub.damage() == ["table pets"]


@BROKEN
def test_a_damaged_item_keeps_neither_a_new_index_nor_expiry_from_being_filled(store: Path, to: str) -> None:
    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition())
        for name in ("rex", "tom"):
            engine.call("PutItem", put(name, colour="red", until=1))
    break_rex(store, to)
    with SteppedEngine.stepped(store) as engine:
        made = definition(indexes=("colour",))
        engine.call(
            "UpdateTable",
            {
                "TableName": "pets",
                "AttributeDefinitions": made["AttributeDefinitions"],
                "GlobalSecondaryIndexUpdates": [{"Create": made["GlobalSecondaryIndexes"][0]}],
            },
        )
        enable_expiry(engine)
        while engine.step():
            pass
        assert [
            one["pk"] for one in engine.call("Scan", {"TableName": "pets", "IndexName": "colour"})["Items"]
        ] == [{"S": "tom"}]
        assert engine.scrub.damage() == ["table pets"]


# --- one damage at a time ---


@pytest.fixture
def damaged(store: Path) -> Callable[[str], Path]:
    """A sound store with a backup, after some SQL."""
    with SteppedEngine.stepped(store, world=Clock().world()) as engine:
        engine.call("CreateTable", definition(indexes=("colour",)))
        recover(engine)
        for name in ("rex", "tom"):
            engine.call("PutItem", put(name, colour="red"))
        back_up(engine)
        engine.settle()
        assert engine.scrub.run().found == ()

    def damage(sql: str) -> Path:
        connection = apsw.Connection(str(store / FILE))
        connection.execute(sql)
        connection.close()
        return store

    return damage


FLIP = "UPDATE t1 SET item = CAST(replace(CAST(item AS TEXT), 'rex', 'rax') AS BLOB)"


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        (FLIP, "table pets"),
        ("UPDATE t1 SET size = size + 1 WHERE id = 1", "table pets"),
        ("UPDATE counts SET items = items + 1 WHERE owner = 't1'", "table pets"),
        ("DELETE FROM t1_i1 WHERE id = 1", "table pets"),
        ("UPDATE t1_i1 SET k = x'00112233' WHERE id = 1", "table pets, index colour"),
        ("UPDATE journal SET new = CAST(replace(CAST(new AS TEXT), 'rex', 'rax') AS BLOB)", "journal"),
        ("UPDATE chunks SET body = substr(body, 1, length(body) - 1)", "snapshots"),
    ],
)
def test_the_scrub_names_the_part_that_is_damaged(
    damaged: Callable[[str], Path], sql: str, part: str
) -> None:
    with SteppedEngine.stepped(damaged(sql)) as engine:
        assert part in dict(engine.scrub.run().found)
        assert part in engine.scrub.damage()


@pytest.mark.parametrize(
    ("verb", "request_"),
    [
        ("GetItem", keyed("rex")),
        ("BatchGetItem", {"RequestItems": {"pets": {"Keys": [item("rex")]}}}),
        ("TransactGetItems", {"TransactItems": [{"Get": keyed("rex")}]}),
        ("Scan", {"TableName": "pets"}),
        ("Scan", {"TableName": "pets", "Limit": 20}),
        ("Scan", {"TableName": "pets", "IndexName": "colour"}),
        ("Scan", {"TableName": "pets", "IndexName": "colour", "Limit": 20}),
        ("Scan", {"TableName": "pets", "FilterExpression": "attribute_exists(pk)"}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM pets"}),
        ("PutItem", {**put("rex"), "ReturnValues": "ALL_OLD"}),
        ("DeleteItem", keyed("rex")),
        ("UpdateItem", {**keyed("rex"), "UpdateExpression": "REMOVE colour"}),
        ("TransactWriteItems", {"TransactItems": [{"Delete": keyed("rex")}]}),
    ],
)
def test_a_damaged_item_is_not_served_and_not_written_over(
    damaged: Callable[[str], Path], verb: str, request_: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with SteppedEngine.stepped(damaged(FLIP)) as engine, caplog.at_level(logging.ERROR):
        with pytest.raises(ServiceError) as refused:
            engine.call(verb, request_)
        assert (refused.value.name, refused.value.status) == ("InternalServerError", 500)
        assert engine.scrub.damage() == ["table pets"]
        assert engine.call("GetItem", keyed("tom"))["Item"] == item("tom", colour="red")
    (record,) = [one for one in caplog.records if one.message == "damaged row not served"]
    assert record.__dict__["table"] == "pets"
    assert "rex" not in caplog.text
    assert "rax" not in caplog.text


def test_an_export_of_a_damaged_item_fails(damaged: Callable[[str], Path]) -> None:
    with SteppedEngine.stepped(damaged(FLIP)) as engine:
        engine.call("ExportTableToPointInTime", {"TableArn": ARN, "S3Bucket": "vault"})
        while engine.background.try_job_step():
            pass
        (export,) = engine.call("ListExports", {})["ExportSummaries"]
        assert export["ExportStatus"] == "FAILED"


def test_a_damaged_item_is_restored_from_a_backup(damaged: Callable[[str], Path]) -> None:
    with SteppedEngine.stepped(damaged(FLIP)) as engine:
        (backup,) = engine.call("ListBackups", {})["BackupSummaries"]
        restore(engine, backup["BackupArn"], "again")
        engine.settle()
        assert found(engine, "rex", "again") == item("rex", colour="red")


def test_a_backup_of_a_damaged_item_is_not_made(store: Path) -> None:
    fill(store)
    connection = apsw.Connection(str(store / FILE))
    connection.execute("UPDATE t1 SET sum = sum + 1 WHERE id = 1")
    connection.close()
    with SteppedEngine.stepped(store) as engine:
        back_up(engine)
        while engine.background.try_job_step():
            pass
        assert engine.call("ListBackups", {})["BackupSummaries"] == []


def test_damage_is_logged_once_for_each_part_and_never_by_key(
    damaged: Callable[[str], Path], caplog: pytest.LogCaptureFixture
) -> None:
    store = damaged("UPDATE t1 SET size = size + 1")
    with SteppedEngine.stepped(store) as engine, caplog.at_level(logging.ERROR):
        assert dict(engine.scrub.run().found)["table pets"] >= 2
    assert [one.__dict__["part"] for one in caplog.records if one.message == "damage found"] == ["table pets"]


# --- passes ---


def test_a_pass_is_due_once_a_day_and_is_remembered(store: Path) -> None:
    clock = Clock()
    with SteppedEngine.stepped(store, world=clock.world()) as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("rex"))
        assert engine.scrub.is_due()
        assert engine.scrub.last() is None
        while engine.scrub.step():
            assert engine.scrub.is_due()
        assert not engine.scrub.is_due()
    with SteppedEngine.stepped(store, world=clock.world()) as engine:
        last = engine.scrub.last()
        assert last is not None
        assert (last.ended, last.found) == (last.begun, ())
        assert last.rows == 2  # the item, and its row of the journal
        assert not engine.scrub.is_due()
        clock.move(timedelta(days=1))
        assert engine.scrub.is_due()


def test_writes_and_tables_that_come_and_go_during_a_pass_are_not_damage(store: Path) -> None:
    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition(indexes=("colour",)))
        engine.call("CreateTable", definition("other"))
        for number in range(ITEMS):
            engine.call("PutItem", put(f"p{number}", colour="red"))
            engine.call("PutItem", put(f"p{number}", "other"))
        number = 0
        while engine.scrub.step():
            engine.call("PutItem", put(f"p{number % ITEMS}", colour=COLOURS[number % 3]))
            engine.call("DeleteItem", keyed(f"p{(number * 7) % ITEMS}"))
            number += 1
            if number == 30:
                engine.call("DeleteTable", {"TableName": "other"})
                engine.settle()
        last = engine.scrub.last()
        assert last is not None
        assert last.found == ()
        assert engine.verify() == []


def test_the_thread_of_an_open_store_scrubs_it(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablewright.engine.background.threads.SCRUB_SECONDS", 0.01)
    with Engine.open(store, durability="relaxed") as engine:
        engine.call("CreateTable", definition())
        for _ in range(500):
            if engine.scrub.last() is not None:
                break
            engine.background._over.wait(0.01)
        assert engine.scrub.last() is not None
