"""What the store owes: indexes to fill, tables to remove. In small steps, beside writes, over any restart."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.stepped_engine import SteppedEngine, small_steps
from tests.engine.tables import create_index, definition, keyed, names, put

from tablewright import Engine, ServiceError
from tablewright.engine.storage.sqlite import Storage


@pytest.fixture(autouse=True)
def two_rows_at_a_time() -> Iterator[None]:
    with small_steps(2):
        yield


@pytest.fixture
def owing() -> Iterator[SteppedEngine]:
    """Seven pets, and an index on their colour that is not filled yet."""
    with SteppedEngine.stepped() as engine:
        fill(engine)
        engine.call("UpdateTable", create_index("colour"))
        yield engine
        engine.settle()
        assert engine.verify() == []


def fill(engine: Engine) -> None:
    engine.call("CreateTable", definition())
    for number in range(7):
        engine.call("PutItem", put(f"pet {number}", colour="red"))


def status(engine: Engine) -> tuple[str, str, bool | None]:
    table = engine.call("DescribeTable", {"TableName": "pets"})["Table"]
    index = table["GlobalSecondaryIndexes"][0]
    return table["TableStatus"], index["IndexStatus"], index.get("Backfilling")


def test_a_new_index_is_creating_and_cannot_be_read_until_it_is_filled(owing: SteppedEngine) -> None:
    steps = 0
    while status(owing) == ("UPDATING", "CREATING", True):
        with pytest.raises(ServiceError, match="Cannot read from backfilling global secondary index: colour"):
            names(owing, "colour")
        assert owing.step()
        steps += 1
    assert steps >= 4
    assert status(owing) == ("ACTIVE", "ACTIVE", None)
    assert len(names(owing, "colour")) == 7
    assert not owing.step()


@pytest.mark.parametrize("steps", range(5))
def test_writes_while_an_index_is_filled_are_in_it_at_the_end(owing: SteppedEngine, steps: int) -> None:
    """Every kind of write, at every stage: before its item's turn, after it, and of items that came later."""
    for _ in range(steps):
        owing.step()
    for number in (0, 6):
        owing.call("DeleteItem", keyed(f"pet {number}"))
    for number in (1, 5):
        owing.call("PutItem", put(f"pet {number}", colour="blue"))
    for number in (2, 4):
        owing.call("UpdateItem", keyed(f"pet {number}") | {"UpdateExpression": "REMOVE colour"})
    owing.call("PutItem", put("pet 6", colour="green"))
    owing.call("PutItem", put("pet 7", colour="green"))
    assert owing.verify() == []
    owing.settle()
    assert names(owing, "colour") == ["pet 1", "pet 3", "pet 5", "pet 6", "pet 7"]


def test_an_index_on_an_empty_table_is_ready_after_one_step() -> None:
    with SteppedEngine.stepped() as engine:
        engine.call("CreateTable", definition())
        engine.call("UpdateTable", create_index("colour"))
        engine.step()
        assert status(engine) == ("ACTIVE", "ACTIVE", None)


def test_items_that_do_not_fit_a_new_index_are_left_out_and_stay(owing: SteppedEngine) -> None:
    owing.settle()
    owing.call("CreateTable", definition("zoo"))
    owing.call("PutItem", put("number", "zoo", colour=7))
    owing.call("PutItem", put("empty", "zoo", colour=""))
    owing.call("PutItem", put("long", "zoo", colour="x" * 2049))
    owing.call("PutItem", put("just", "zoo", colour="x" * 2048))
    owing.call("PutItem", put("none", "zoo"))
    owing.call("UpdateTable", create_index("colour", "zoo"))
    owing.settle()
    assert names(owing, "colour", "zoo") == ["just"]
    assert names(owing, table="zoo") == ["empty", "just", "long", "none", "number"]


def test_only_one_index_is_created_or_dropped_at_a_time(owing: SteppedEngine) -> None:
    for update in (create_index("age"), {"TableName": "pets", "GlobalSecondaryIndexUpdates": [DROP]}):
        with pytest.raises(ServiceError) as refused:
            owing.call("UpdateTable", update)
        assert refused.value.name in ("LimitExceededException", "ResourceInUseException")
    with pytest.raises(ServiceError) as refused:
        owing.call("DeleteTable", {"TableName": "pets"})
    assert refused.value.name == "ResourceInUseException"


def test_a_dropped_table_is_gone_at_once_and_its_rows_in_steps() -> None:
    with SteppedEngine.stepped() as engine:
        fill(engine)
        engine.call("DeleteTable", {"TableName": "pets"})
        assert engine.call("ListTables", {})["TableNames"] == []
        fill(engine)
        steps = 0
        while engine.step():
            steps += 1
            assert engine.verify() == []
            assert len(names(engine)) == 7
        assert steps >= 4
        assert engine._storage.writes.pending_drops() == []


def test_a_dropped_index_may_be_created_again_while_its_rows_are_removed(owing: SteppedEngine) -> None:
    owing.settle()
    owing.call("UpdateTable", {"TableName": "pets", "GlobalSecondaryIndexUpdates": [DROP]})
    with pytest.raises(ServiceError, match="The table does not have the specified index: colour"):
        names(owing, "colour")
    owing.call("UpdateTable", create_index("colour"))
    owing.call("PutItem", put("pet 7", colour="green"))
    while owing.step():
        assert owing.verify() == []
    assert len(names(owing, "colour")) == 8


# --- over a restart ---


def test_filling_goes_on_where_it_stopped_when_the_store_is_opened_again(store: Path) -> None:
    with SteppedEngine.stepped(store) as engine:
        fill(engine)
        engine.call("UpdateTable", create_index("colour"))
        engine.step()
        engine.step()
    with SteppedEngine.stepped(store) as engine:
        assert status(engine) == ("UPDATING", "CREATING", True)
        engine.call("PutItem", put("pet 0", colour="blue"))
        engine.call("PutItem", put("pet 6", colour="blue"))
        engine.settle()
        assert len(names(engine, "colour")) == 7
        assert engine.verify() == []


def test_the_keeper_does_what_was_owed_as_soon_as_the_store_is_opened(store: Path) -> None:
    with SteppedEngine.stepped(store) as stepped:
        fill(stepped)
        stepped.call("CreateTable", definition("attic"))
        stepped.call("DeleteTable", {"TableName": "attic"})
        stepped.call("UpdateTable", create_index("colour"))
    with Engine.open(store, durability="relaxed") as engine:
        wait_until_nothing_is_owed(engine)
        assert status(engine) == ("ACTIVE", "ACTIVE", None)
    storage = Storage(store, "relaxed")
    assert storage.writes.pending_drops() == []
    storage.close()


def test_the_keeper_fills_an_index_without_being_asked(store: Path) -> None:
    with Engine.open(store, durability="relaxed") as engine:
        fill(engine)
        engine.call("UpdateTable", create_index("colour"))
        wait_until_nothing_is_owed(engine)
        assert len(names(engine, "colour")) == 7


def wait_until_nothing_is_owed(engine: Engine) -> None:
    """Look, and do nothing: settle() would do the keeper's work."""
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up:
        rows = engine._storage.acquire_reader()
        doomed = rows.pending_drops()
        engine._storage.release_reader(rows)
        if status(engine)[0] == "ACTIVE" and not doomed:
            return
    raise AssertionError("the keeper does not keep")


DROP = {"Delete": {"IndexName": "colour"}}
