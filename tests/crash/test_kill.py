"""A process that is killed while it writes loses nothing it has answered.

Each test kills a child (child.py) several times at moments drawn by chance, in the middle of its threads' work,
and after each time verifies the store, opens it and looks for every answered write. What was not answered may be
there or not, but never in part.
"""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests import fork_server
from tests.crash import child
from tests.crash.ledger import LEDGER, Promises, broken, everything, prepare

from tablewright import Engine
from tablewright.engine import verify_store
from tablewright.engine.catalog import load
from tablewright.engine.storage.sqlite import Storage

KILLS = 6
PATIENCE = 120.0


def killed(store: Path, durability: str, turn: int, plot: str = "none") -> Promises:
    """Start a child on the store, let it work for a moment, kill it; what it promised."""
    told = store.with_name(f"told-{turn}")
    with told.open("wb") as out:
        process = fork_server.start(
            [sys.executable, child.__file__, store, durability, str(turn), plot], stdout=out
        )
        try:
            wait_for_work(told, process, plot)
            time.sleep(random.uniform(0, 0.4 if plot == "none" else 0.1))
            assert process.poll() is None, "the child ended by itself"
        finally:
            process.kill()
            process.wait(PATIENCE)
    promises = Promises()
    promises.hear(told.read_text())
    return promises


def wait_for_work(told: Path, process: subprocess.Popen[bytes], plot: str) -> None:
    """Until the child has answered something; until its plot has begun, if it has one."""
    sign = "new " if plot == "none" else "plot"
    give_up = time.monotonic() + PATIENCE
    while sign not in told.read_text():
        assert process.poll() is None, "the child ended by itself"
        assert time.monotonic() < give_up, "the child does not answer"
        time.sleep(0.01)


@pytest.mark.parametrize("durability", ["durable", "relaxed"])
def test_every_answered_write_survives_a_kill_and_no_transaction_is_half_done(
    tmp_path: Path, durability: str
) -> None:
    store = tmp_path / "store"
    prepare(store)
    promises = Promises()
    for turn in range(KILLS):
        heard = killed(store, durability, turn)
        assert len(heard) > 0
        promises.description |= heard.description
        assert verify_store(store) == []
        with Engine.open(store) as engine:
            assert broken(engine, promises) == []


@pytest.mark.parametrize("durability", ["durable", "relaxed"])
def test_an_index_that_was_being_filled_is_filled_after_a_kill(tmp_path: Path, durability: str) -> None:
    store = tmp_path / "store"
    prepare(store, filled=("ledger",))
    promises = killed(store, durability, 0, "backfill")
    halfway = 0
    for turn in range(1, KILLS + 1):
        halfway += is_filling(store)
        assert verify_store(store) == []
        if turn < KILLS:
            promises.description |= killed(store, durability, turn).description
    # A child that had filled everything before it was killed would prove nothing.
    assert halfway > 0
    with Engine.open(store) as engine:
        engine.settle()
        assert engine.verify() == []
        assert broken(engine, promises) == []
        coloured = {name for name, item in everything(engine, "ledger").items() if "colour" in item}
        assert len(coloured) >= 1500
        assert everything(engine, "ledger", "by-colour").keys() == coloured


@pytest.mark.parametrize("durability", ["durable", "relaxed"])
def test_a_table_that_was_being_removed_is_removed_after_a_kill(tmp_path: Path, durability: str) -> None:
    store = tmp_path / "store"
    prepare(store, filled=("attic",))
    promises = killed(store, durability, 0, "drop")
    assert is_removing(store)
    assert verify_store(store) == []
    with Engine.open(store) as engine:
        assert engine.call("ListTables", {})["TableNames"] == ["ledger"]
        engine.call("CreateTable", LEDGER | {"TableName": "attic"})
        engine.settle()
        assert everything(engine, "attic") == {}
        assert broken(engine, promises) == []
        assert engine.verify() == []
    assert not is_removing(store)


def is_filling(store: Path) -> bool:
    """Whether an index waits to be filled; asked of the store alone, since an engine would go on filling."""
    storage = Storage(store, "relaxed")
    try:
        return any(index.backfill for table in load(storage.writes).values() for index in table.indexes)
    finally:
        storage.close()


def is_removing(store: Path) -> bool:
    storage = Storage(store, "relaxed")
    try:
        return storage.writes.pending_drops() != []
    finally:
        storage.close()
