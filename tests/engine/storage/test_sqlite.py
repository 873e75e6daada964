"""The store on disk: who may open it, what it refuses to be, what it leaves behind."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from time import sleep

import apsw
import pytest
from tests.engine.tables import definition, found, item, keyed, put

from tablewright import Engine
from tablewright.engine import NotAStore, ServiceError, StoreInUse, verify_store
from tablewright.engine.storage.schema import FORMAT
from tablewright.engine.storage.sqlite import FILE, MemoryRanOut, Storage

OPEN = "import sys; from tablewright import Engine; Engine.open(sys.argv[1])"


def test_a_second_process_is_told_who_has_the_store_and_what_to_do(store: Path) -> None:
    with Engine.open(store) as engine:
        engine.call("CreateTable", definition())
        second = subprocess.run(
            [sys.executable, "-c", OPEN, store], capture_output=True, text=True, check=False
        )
        engine.call("PutItem", put("rex"))
    assert second.returncode == 1
    assert second.stderr.splitlines()[-1].endswith(
        f"the store in {store} is open by process {os.getpid()}; stop that process, or open another directory"
    )
    assert verify_store(store) == []


def test_the_same_process_may_not_open_a_store_twice_either(store: Path) -> None:
    with Engine.open(store), pytest.raises(StoreInUse):
        Engine.open(store)


def test_a_store_may_be_opened_again_after_its_engine_was_closed(store: Path) -> None:
    for _ in range(3):
        Engine.open(store).close()


def test_a_store_that_is_open_is_not_verified_from_outside(store: Path) -> None:
    with Engine.open(store), pytest.raises(StoreInUse):
        verify_store(store)


def test_a_directory_without_a_store_is_not_verified(tmp_path: Path) -> None:
    with pytest.raises(NotAStore, match="there is no store in"):
        verify_store(tmp_path)


def change(store: Path, sql: str) -> None:
    connection = apsw.Connection(str(store / FILE))
    connection.execute(sql)
    connection.close()


def test_a_store_of_a_newer_format_is_refused_and_left_as_it_is(store: Path) -> None:
    Engine.open(store).close()
    change(store, f"PRAGMA user_version = {FORMAT + 1}")
    with pytest.raises(
        NotAStore, match=f"has format {FORMAT + 1}; this program knows formats up to {FORMAT}"
    ):
        Engine.open(store)
    # The refusal has let go of the directory.
    change(store, f"PRAGMA user_version = {FORMAT}")
    Engine.open(store).close()


def test_a_database_of_somebody_else_is_refused_and_left_as_it_is(store: Path) -> None:
    store.mkdir()
    change(store, "CREATE TABLE recipes(name)")
    with pytest.raises(NotAStore, match="another program"):
        Engine.open(store)
    connection = apsw.Connection(str(store / FILE))
    assert list(connection.execute("SELECT name FROM sqlite_master")) == [("recipes",)]
    connection.close()


def test_a_file_that_is_no_database_is_refused(store: Path) -> None:
    store.mkdir()
    (store / FILE).write_bytes(b"once upon a time " * 1000)
    with pytest.raises(NotAStore, match="is not a store of this program"):
        Engine.open(store)
    assert (store / FILE).read_bytes() == b"once upon a time " * 1000


def test_an_empty_file_becomes_a_store(store: Path) -> None:
    # What a process leaves that was killed before its first commit.
    store.mkdir()
    (store / FILE).touch()
    with Engine.open(store) as engine:
        assert engine.call("ListTables", {})["TableNames"] == []


def test_a_durability_nobody_knows_is_refused(store: Path) -> None:
    with pytest.raises(ValueError, match="durability is durable or relaxed, not careless"):
        Engine.open(store, durability="careless")


def test_a_durable_commit_waits_for_the_disk_and_a_relaxed_one_does_not(store: Path) -> None:
    with Engine.open(store, durability="durable") as engine:
        assert engine.commit_blocks
        with engine._storage.write_lock:
            assert list(engine._storage.writes.connection.execute("PRAGMA synchronous")) == [(2,)]
    with Engine.open(store, durability="relaxed") as engine:
        assert not engine.commit_blocks
        with engine._storage.write_lock:
            assert list(engine._storage.writes.connection.execute("PRAGMA synchronous")) == [(1,)]


def test_two_engines_in_memory_know_nothing_of_each_other() -> None:
    with Engine.open() as one, Engine.open() as other:
        one.call("CreateTable", definition())
        assert other.call("ListTables", {})["TableNames"] == []


def test_threads_that_are_gone_leave_no_open_files(store: Path) -> None:
    with Engine.open(store, durability="relaxed") as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("rex"))
        found(engine, "rex")
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(50):
            thread = threading.Thread(target=engine.call, args=("GetItem", keyed("rex")))
            thread.start()
            thread.join()
        assert len(os.listdir("/proc/self/fd")) <= before + 4


def test_a_closed_store_has_no_open_files(store: Path) -> None:
    def held() -> list[str]:
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        return [
            target
            for link in links
            if os.path.islink(link) and (target := os.readlink(link)).startswith(str(store))
        ]

    with Engine.open(store) as engine:
        engine.call("CreateTable", definition())
        found(engine, "rex")
        assert held()
    assert held() == []


@pytest.mark.parametrize("chores", ["as they are", "failing"])
def test_the_log_does_not_grow_without_end(store: Path, monkeypatch: pytest.MonkeyPatch, chores: str) -> None:
    if chores == "failing":
        monkeypatch.setattr(
            "tablewright.engine.background.maintenance.run_pending_step", lambda writing: 1 // 0
        )
        monkeypatch.setattr("tablewright.engine.background.threads.RETRY_SECONDS", 0.01)
    monkeypatch.setattr("tablewright.engine.storage.sqlite.CHECKPOINT_PAGES", 100)
    monkeypatch.setattr("tablewright.engine.background.threads.CHECKPOINT_SECONDS", 0.01)
    with Engine.open(store, durability="relaxed") as engine:
        engine.call("CreateTable", definition())
        for number in range(4000):
            engine.call("PutItem", put(f"pet {number % 10}", number=number, fill="x" * 5000))
            if number % 50 == 0:
                sleep(0.005)  # on a busy machine the thread that checkpoints has its turn, too
        # Without a checkpoint the log would have 130 MB by now.
        assert (store / f"{FILE}-wal").stat().st_size < 60 * 1024 * 1024
        assert found(engine, "pet 9") == item("pet 9", number=3999, fill="x" * 5000)


def test_all_of_a_large_file_may_be_mapped(store: Path) -> None:
    storage = Storage(store, "relaxed")
    try:
        rows = storage.acquire_reader()
        mapped = rows.connection.execute("PRAGMA mmap_size").fetchall()
        storage.release_reader(rows)
        assert mapped == [(2**40,)], "this build of SQLite maps no more"
    finally:
        storage.close()


def test_what_a_snapshot_reads_is_one_moment(store: Path) -> None:
    storage = Storage(store, "relaxed")
    try:
        table = _one_table(storage)
        rows = storage.acquire_reader()
        with rows.snapshot():
            assert rows.get(table, b"k") is None
            storage.begin()
            storage.writes.insert(table, b"k", 1, b"{}")
            storage.commit()
            assert rows.get(table, b"k") is None
        assert rows.get(table, b"k") is not None
        storage.release_reader(rows)
    finally:
        storage.close()


def test_a_walk_is_ordered_half_open_and_limited(store: Path) -> None:
    storage = Storage(store, "relaxed")
    try:
        table = _one_table(storage)
        storage.begin()
        for key in (b"d", b"a", b"c", b"b", b"e"):
            storage.writes.insert(table, key, 1, key)
        storage.commit()

        def walked(low: bytes, high: bytes, backward: bool = False, limit: int = -1) -> bytes:
            return b"".join(
                item for _, item, _ in storage.writes.walk(table, None, low, high, backward, limit)
            )

        assert walked(b"b", b"e") == b"bcd"
        assert walked(b"b", b"e", backward=True) == b"dcb"
        assert walked(b"a", b"z", limit=2) == b"ab"
        assert walked(b"a", b"z", backward=True, limit=2) == b"ed"
        assert walked(b"x", b"z") == b""
    finally:
        storage.close()


def _one_table(storage: Storage) -> int:
    storage.begin()
    number = storage.writes.create_table("pets", b"{}")
    storage.commit()
    return number


@pytest.mark.parametrize("era", [0, 3, 1_000_000])
def test_in_memory_a_write_undone_leaves_those_before_it(era: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablewright.engine.storage.sqlite.OUTER_CHANGES", era)
    storage = Storage(":memory:", "relaxed")
    try:
        table = _one_table(storage)
        for number in range(20):
            storage.begin()
            storage.writes.insert(table, b"%d" % number, 1, b"{}")
            if number % 2:
                storage.rollback()
            else:
                storage.commit()
        kept = [number for number in range(20) if storage.writes.get(table, b"%d" % number)]
        assert kept == list(range(0, 20, 2))
    finally:
        storage.close()


def test_in_memory_a_commit_that_was_interrupted_right_after_it_is_not_undone() -> None:
    storage = Storage(":memory:", "relaxed")
    try:
        table = _one_table(storage)
        storage.begin()
        storage.writes.insert(table, b"k", 1, b"{}")
        storage.commit()
        storage._has_savepoint = True  # as Ctrl-C leaves it that comes before the commit's last line
        storage.rollback()
        assert storage.writes.get(table, b"k") is not None
    finally:
        storage.close()


def test_a_store_in_memory_that_lost_writes_for_want_of_memory_takes_no_more() -> None:
    with Engine.open() as engine:
        engine.call("CreateTable", definition())
        # What SQLite does by itself when it cannot get memory.
        with engine._storage.write_lock:
            engine._storage.writes.connection.execute("ROLLBACK")
        # If the keeper was writing at that moment it has met the mistake, and the put that waited with it a fault.
        with pytest.raises((MemoryRanOut, ServiceError), match=r"open a new one|Internal server error"):
            engine.call("PutItem", put("rex"))


def test_an_insert_over_an_item_changes_nothing_and_says_so(store: Path) -> None:
    storage = Storage(store, "relaxed")
    try:
        table = _one_table(storage)
        storage.begin()
        assert storage.writes.insert(table, b"k", 1, b"old") == 1
        assert storage.writes.insert(table, b"k", 1, b"new") is None
        assert storage.writes.insert(table, b"l", 1, b"other") == 2
        storage.commit()
        row = storage.writes.get(table, b"k")
        assert row is not None
        assert row.item == b"old"
    finally:
        storage.close()


def test_rows_that_wait_for_the_commit_are_seen_by_whoever_looks(store: Path) -> None:
    storage = Storage(store, "relaxed")
    try:
        table = _one_table(storage)
        storage.begin()
        storage.writes.create_index(table, 1)
        storage.writes.add_entry(table, 1, b"e", 7)
        storage.writes.append(1, 5, 0, table, b"k", None, b"new")
        assert list(storage.writes.all_entries(table, 1)) == [(b"e", 7)]
        assert storage.writes.last_sequence() == (1, 5)
        storage.writes.add_entry(table, 1, b"f", 8)
        storage.writes.drop_entry(table, 1, b"f")
        storage.writes.append(2, 6, 0, table, b"k", b"new", None)
        assert list(storage.writes.connection.execute("SELECT seq FROM journal ORDER BY seq")) == [(1,), (2,)]
        storage.commit()
        assert list(storage.writes.all_entries(table, 1)) == [(b"e", 7)]
    finally:
        storage.close()


def test_rows_that_wait_go_with_the_transaction_that_is_undone(store: Path) -> None:
    storage = Storage(store, "relaxed")
    try:
        table = _one_table(storage)
        storage.begin()
        storage.writes.create_index(table, 1)
        storage.commit()
        storage.begin()
        storage.writes.add_entry(table, 1, b"e", 7)
        storage.writes.append(1, 5, 0, table, b"k", None, b"new")
        storage.rollback()
        storage.begin()
        storage.commit()
        assert list(storage.writes.all_entries(table, 1)) == []
        assert storage.writes.last_sequence() == (0, 0)
    finally:
        storage.close()
