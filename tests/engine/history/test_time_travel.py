"""States in the past: exact while the table goes on changing, shared where nothing changed, bounded in memory.

Elsewhere: the same as laws over random histories (tests/properties/test_recovery.py).
"""

import zlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.engine.history_requests import back_up, chunk_count, recover, restore, snapshots
from tests.engine.stepped_engine import SteppedEngine, small_steps
from tests.engine.tables import definition, found, keyed, names, put, records

from tablewright.engine import verify_store
from tablewright.engine.history import chunks, time_travel
from tablewright.engine.history import snapshots as checkpoints
from tablewright.engine.history import store as history_store
from tablewright.engine.history.chunks import cut, pack, unpack
from tablewright.engine.history.store import StoredItem
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.transaction import WriteTransaction
from tablewright.testing import Clock

ITEMS = 40


@pytest.fixture
def pets(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[SteppedEngine]:
    """Forty pets, in chunks of about four; pages of five."""
    monkeypatch.setattr(chunks, "CUT_MASK", 3)
    monkeypatch.setattr(time_travel, "PAGE_ITEMS", 5)
    monkeypatch.setattr(checkpoints, "STEP_REFS", 2)
    with SteppedEngine.stepped(world=clock.world()) as engine:
        engine.call("CreateTable", definition(indexes=("colour",)))
        for number in range(ITEMS):
            engine.call("PutItem", put(f"pet {number}", colour="red", age=number))
        yield engine
        engine.settle()
        assert engine.verify() == []


def ages(engine: SteppedEngine, table: str) -> dict[str, str]:
    page = engine.call("Scan", {"TableName": table})
    return {item["pk"]["S"]: item["age"]["N"] for item in page["Items"]}


def later(engine: SteppedEngine, clock: Clock) -> None:
    """Some pets come, some change, some go."""
    clock.move(timedelta(seconds=1))
    for number in range(0, ITEMS, 7):
        engine.call("DeleteItem", keyed(f"pet {number}"))
    for number in range(1, ITEMS, 9):
        engine.call("PutItem", put(f"pet {number}", colour="blue", age=99))
    for number in range(6):
        engine.call("PutItem", put(f"new {number}", colour="green", age=1))


@pytest.mark.parametrize("steps", [0, 1, 3, 6])
def test_a_backup_holds_the_moment_of_its_request_whatever_is_written_while_it_is_made(
    pets: SteppedEngine, clock: Clock, steps: int
) -> None:
    before = ages(pets, "pets")
    arn = back_up(pets)
    for _ in range(steps):
        pets.job_step()
    later(pets, clock)
    pets.job_step()
    later(pets, clock)
    pets.settle()
    restore(pets, arn, "back")
    pets.settle()
    assert ages(pets, "back") == before
    assert names(pets, "colour", "back") == names(pets, table="back")


def test_a_backup_of_a_table_that_is_deleted_meanwhile_is_made_to_the_end(
    pets: SteppedEngine, clock: Clock
) -> None:
    before = ages(pets, "pets")
    arn = back_up(pets)
    pets.job_step()
    later(pets, clock)
    pets.call("DeleteTable", {"TableName": "pets"})
    pets.step()
    assert pets.verify() == []
    pets.call("CreateTable", definition())
    pets.settle()
    restore(pets, arn, "back")
    pets.settle()
    assert ages(pets, "back") == before
    # Its rows were kept for the backup only.
    assert not [name for name in pets._storage.writes.sql_tables() if name.startswith("t1")]


def test_a_restore_goes_on_while_its_source_is_written_to_and_deleted(
    pets: SteppedEngine, clock: Clock
) -> None:
    recover(pets)
    pets.settle()
    before, moment = ages(pets, "pets"), clock.now().timestamp()
    later(pets, clock)
    clock.move(timedelta(minutes=5))
    restore(pets, "pets", "then", RestoreDateTime=moment)
    for _ in range(2):
        pets.job_step()
        later(pets, clock)
    pets.call("DeleteTable", {"TableName": "pets"})
    pets.step()
    pets.settle()
    assert ages(pets, "then") == before


def test_work_that_was_cut_short_goes_on_when_the_store_is_opened_again(
    store: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_travel, "PAGE_ITEMS", 5)
    monkeypatch.setattr(chunks, "CUT_MASK", 1)
    monkeypatch.setattr(checkpoints, "STEP_REFS", 1)
    with SteppedEngine.stepped(store, world=clock.world()) as engine:
        engine.call("CreateTable", definition())
        for number in range(ITEMS):
            engine.call("PutItem", put(f"pet {number}", age=number))
        before = ages(engine, "pets")
        arn = back_up(engine)
    for step in range(6):
        with SteppedEngine.stepped(store, world=clock.world()) as engine:
            engine.job_step()
            engine.call("PutItem", put(f"pet {step}", age=77))
        assert verify_store(store) == []
    with SteppedEngine.stepped(store, world=clock.world()) as engine:
        engine.settle()
        restore(engine, arn, "back")
        engine.job_step()
    for _ in range(3):
        with SteppedEngine.stepped(store, world=clock.world()) as engine:
            engine.job_step()
        assert verify_store(store) == []
    with SteppedEngine.stepped(store, world=clock.world()) as engine:
        engine.settle()
        assert ages(engine, "back") == before


# --- chunks ---


def kept(number: int, item: bytes = b"{}") -> StoredItem:
    return StoredItem(f"key {number:05}".encode(), 7, item)


def test_the_same_items_make_the_same_chunks_wherever_the_cutting_began() -> None:
    items = [kept(number) for number in range(3000)]
    runs, rest = cut(items, at_end=True)
    assert rest == []
    assert [one for run in runs for one in run] == items
    assert len(runs) > 5
    for start in (1, 17, 500):
        later_runs, _ = cut(items[start:], at_end=True)
        # Whatever was cut off, after at most one run the cuts fall into the same places.
        assert [run[0] for run in later_runs[2:]] == [run[0] for run in runs][-len(later_runs[2:]) :]


def test_a_change_to_one_item_changes_one_chunk() -> None:
    items = [kept(number) for number in range(3000)]
    before = {pack(run)[0].hash for run in cut(items, at_end=True)[0]}
    items[1500] = kept(1500, b'{"new":1}')
    after = {pack(run)[0].hash for run in cut(items, at_end=True)[0]}
    assert len(after - before) == 1


def test_large_items_do_not_make_large_chunks() -> None:
    items = [kept(number, b"x" * 300_000) for number in range(20)]
    runs, _ = cut(items, at_end=True)
    assert max(len(run) for run in runs) == 2


def test_a_chunk_gives_back_what_was_put_into_it() -> None:
    run = [kept(1, b""), kept(2, bytes(range(256))), StoredItem(b"", 0, b"x")]
    ref, body = pack(run)
    assert unpack(body) == run
    assert (ref.low, ref.items, ref.size) == (run[0].key, 3, 14)
    assert unpack(zlib.compress(b"")) == []


# --- what snapshots share ---


def test_snapshots_share_the_chunks_that_did_not_change(pets: SteppedEngine, clock: Clock) -> None:
    back_up(pets)
    pets.settle()
    alone = chunk_count(pets)
    assert alone > 5
    back_up(pets)
    pets.settle()
    assert chunk_count(pets) == alone
    pets.call("PutItem", put("pet 3", colour="white", age=3))
    back_up(pets)
    pets.settle()
    assert chunk_count(pets) == alone + 1


def test_the_chunks_of_a_backup_go_with_it_but_for_those_another_has(
    pets: SteppedEngine, clock: Clock
) -> None:
    first, second = back_up(pets), back_up(pets)
    later(pets, clock)
    third = back_up(pets)
    pets.settle()
    together = chunk_count(pets)
    pets.call("DeleteBackup", {"BackupArn": first})
    pets.settle()
    assert chunk_count(pets) == together
    pets.call("DeleteBackup", {"BackupArn": second})
    pets.settle()
    assert 0 < chunk_count(pets) < together
    pets.call("DeleteBackup", {"BackupArn": third})
    pets.settle()
    assert chunk_count(pets) == 0


def test_a_checkpoint_after_few_changes_reads_only_the_chunks_that_changed(
    pets: SteppedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    recover(pets)
    pets.settle()
    monkeypatch.setattr(checkpoints, "FEWEST_CHANGES", 0)
    for _ in range(ITEMS // 2 + 1):
        pets.call("PutItem", put("pet 3", age=len(records(pets))))
    read: list[bytes] = []
    chunk = history_store.chunk

    def noted(rows: RowReader, name: bytes) -> bytes:
        read.append(name)
        return chunk(rows, name)

    monkeypatch.setattr(history_store, "chunk", noted)
    pets.settle()
    assert [one.status for one in snapshots(pets)] == ["AVAILABLE", "AVAILABLE"]
    assert len(read) == 1


def test_memory_holds_some_of_the_changes_at_a_time(
    pets: SteppedEngine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_travel, "MOST_CHANGES", 4)
    most = 0
    note = time_travel.ChangedKeys.add

    def counted(self: time_travel.ChangedKeys, rows: list[tuple[int, bytes]]) -> None:
        nonlocal most
        note(self, rows)
        most = max(most, len(self.keys))

    recover(pets)
    before, moment = ages(pets, "pets"), clock.now().timestamp()
    clock.move(timedelta(minutes=5))
    for number in range(ITEMS):
        pets.call("DeleteItem", keyed(f"pet {number}"))
    monkeypatch.setattr(time_travel.ChangedKeys, "add", counted)
    restore(pets, "pets", "then", RestoreDateTime=moment)
    pets.settle()
    assert ages(pets, "then") == before
    assert most <= 8


def test_nobody_can_hold_on_to_what_is_gone(pets: SteppedEngine) -> None:
    pets.settle()

    def ask(writing: WriteTransaction) -> None:
        with pytest.raises(time_travel.HistoryGone, match="cannot be reached any more"):
            time_travel.pin(writing, "me", 1, 3)

    pets._session.write(ask)
    with pytest.raises(LookupError, match="no state is pinned"):
        next(time_travel.items_as_of(pets._session, "me"))


def test_a_state_may_be_read_on_from_a_key(pets: SteppedEngine) -> None:
    seq = len(records(pets))
    pets._session.write(lambda writing: time_travel.pin(writing, "me", 1, seq))
    pets.call("DeleteItem", keyed("pet 5"))
    whole = [one for page in time_travel.items_as_of(pets._session, "me") for one in page]
    rest = [one for page in time_travel.items_as_of(pets._session, "me", whole[9].key) for one in page]
    assert len(whole) == ITEMS
    assert rest == whole[10:]
    pets._session.write(lambda writing: time_travel.release(writing, "me"))


def test_a_page_that_begins_inside_a_chunk_is_not_the_chunk(pets: SteppedEngine) -> None:
    back_up(pets)
    pets.settle()
    (snapshot,) = snapshots(pets)
    pets._session.write(lambda writing: time_travel.pin_snapshot(writing, "me", snapshot))
    whole = list(time_travel.pages_as_of(pets._session, "me"))
    assert all(page.is_shared for page in whole)
    ref = next(page.ref for page in whole if page.ref is not None and page.ref.items > 2)
    inside = next(one for page in time_travel.items_as_of(pets._session, "me", ref.low) for one in page)
    first = next(time_travel.pages_as_of(pets._session, "me", inside.key))
    assert not first.is_shared
    assert time_travel.items_of(pets._session, first)[0].key == inside.key
    assert len(time_travel.items_of(pets._session, first)) == ref.items - 1
    pets._session.write(lambda writing: time_travel.release(writing, "me"))


def test_a_restored_table_begins_its_history_when_it_is_active(pets: SteppedEngine) -> None:
    arn = back_up(pets)
    pets.settle()
    written = len(records(pets))
    restore(pets, arn, "back")
    with small_steps():
        pets.settle()
    assert len(records(pets)) == written
    assert found(pets, "pet 3", "back") is not None
    pets.call("PutItem", put("pet 3", "back", age=1))
    pets.call("DeleteItem", keyed("pet 4", "back"))
    assert pets.verify() == []
