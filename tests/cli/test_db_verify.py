"""`tablewright db verify`: OK, what is broken, or why it could not look."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest
from tests.cli.command import COMMAND, Ran, here, served

from tablewright.engine import Engine


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one table and one item, closed."""
    path = tmp_path / "store"
    with Engine.open(path) as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "pets",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
            },
        )
        engine.settle()
        engine.call("PutItem", {"TableName": "pets", "Item": {"name": {"S": "rex"}}})
    return path


def break_it(store: Path) -> None:
    """Lose an item behind the engine's back."""
    connection = apsw.Connection(str(next(store.glob("*.sqlite"))))
    connection.execute("DELETE FROM t1")
    connection.close()


def test_a_sound_store_is_ok(store: Path) -> None:
    ran = here("db", "verify", store)
    assert (ran.code, ran.out, ran.err) == (0, "OK\n", "")


def test_a_sound_store_has_an_empty_list_in_json(store: Path) -> None:
    ran = here("db", "verify", store, "--json")
    assert (ran.code, json.loads(ran.out)) == (0, [])


def test_each_broken_invariant_is_a_sentence_and_the_code_is_1(store: Path) -> None:
    break_it(store)
    ran = here("db", "verify", store)
    assert ran.code == 1
    assert ran.out.strip()
    assert "OK" not in ran.out
    as_json = here("db", "verify", store, "--json")
    assert (as_json.code, json.loads(as_json.out)) == (1, ran.out.rstrip("\n").split("\n"))


def test_a_directory_that_is_not_there_is_a_misuse(tmp_path: Path) -> None:
    ran = here("db", "verify", tmp_path / "nowhere")
    assert (ran.code, ran.out) == (2, "")
    assert "nowhere" in ran.err
    assert not (tmp_path / "nowhere").exists()


def test_a_directory_without_a_store_is_a_misuse_and_stays_empty(tmp_path: Path) -> None:
    ran = here("db", "verify", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tablewright: ")
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_use_is_a_misuse(tmp_path: Path) -> None:
    with served("--data", tmp_path):
        ran = here("db", "verify", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "is open" in ran.err


# --- where nothing can be written ---

READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


def may_mount() -> bool:
    """Whether this user may make a mount that only one command sees."""
    return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


def verified_read_only(store: Path) -> Ran:
    """`db verify` of a store on a read-only mount."""
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", READ_ONLY, store, *COMMAND, "db", "verify", store],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)


def left_with_its_log(store: Path) -> Path:
    """A copy of a store as a crash leaves it: the newest changes are in the log."""
    copy = store.with_name("crashed")
    with Engine.open(store) as engine:
        engine.call("PutItem", {"TableName": "pets", "Item": {"name": {"S": "newest"}}})
        shutil.copytree(store, copy)
    assert (copy / "store.sqlite-wal").stat().st_size > 0
    return copy


def contents(store: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in store.rglob("*") if path.is_file()}


needs_mounts = pytest.mark.skipif(not may_mount(), reason="this user may not make mounts")


@needs_mounts
def test_a_store_on_a_read_only_mount_is_verified_and_stays_as_it_is(store: Path) -> None:
    before = contents(store)
    ran = verified_read_only(store)
    assert (ran.code, ran.out, ran.err) == (0, "OK\n", "")
    break_it(store)
    assert verified_read_only(store).code == 1
    assert contents(store).keys() == before.keys()


@needs_mounts
def test_a_store_that_was_left_with_its_log_is_verified_there_as_well(store: Path) -> None:
    crashed = left_with_its_log(store)
    before = contents(crashed)
    ran = verified_read_only(crashed)
    assert (ran.code, ran.out, ran.err) == (0, "OK\n", "")
    assert contents(crashed) == before


@needs_mounts
def test_the_changes_in_the_log_are_verified_too(store: Path) -> None:
    crashed = left_with_its_log(store)
    connection = apsw.Connection(str(crashed / "store.sqlite"))
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("DELETE FROM t1 WHERE CAST(item AS TEXT) LIKE '%newest%'")
    shutil.copytree(crashed, crashed.with_name("broken"))
    connection.close()
    ran = verified_read_only(crashed.with_name("broken"))
    assert (ran.code, ran.err) == (1, "")
    assert "by the journal there is an item" in ran.out


def test_a_log_that_has_no_room_to_be_copied_says_what_to_do(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashed = left_with_its_log(store)
    monkeypatch.setattr("tablewright.engine.storage.read_only.is_writable", lambda _: False)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1))
    ran = here("db", "verify", crashed)
    assert (ran.code, ran.out) == (2, "")
    assert "set TMPDIR to a larger directory" in ran.err


@needs_mounts
def test_a_read_only_store_that_another_process_has_open_is_a_misuse(store: Path) -> None:
    with served("--data", store):
        ran = verified_read_only(store)
    assert (ran.code, ran.out) == (2, "")
    assert "is open" in ran.err
