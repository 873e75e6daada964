"""A store is readable by its owner only, whatever the umask and the version that made it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.history_requests import recover
from tests.engine.tables import definition, put
from tests.engine.transfer_requests import ARN

from tablewright import Engine
from tablewright.engine.storage.compact import compact
from tablewright.engine.storage.sqlite import FILE


@pytest.fixture(autouse=True, params=[0o000, 0o022])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def open_to_others(directory: Path) -> list[str]:
    """What group or others may do anything with, the directory included."""
    return [str(path) for path in (directory, *directory.rglob("*")) if path.lstat().st_mode & 0o077]


def test_nothing_of_a_new_store_is_open_to_others(store: Path) -> None:
    with Engine.open(store) as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("rex"))
        assert (store / f"{FILE}-wal").exists()
        assert open_to_others(store) == []
    assert open_to_others(store) == []


def test_nor_are_directories_above_it_that_are_made_with_it(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "one" / "two"):
        pass
    assert open_to_others(tmp_path / "one") == []


def test_nor_is_an_export(store: Path) -> None:
    with Engine.open(store, ttl_seconds=3600) as engine:
        engine.call("CreateTable", definition())
        recover(engine)
        engine.call("PutItem", put("rex"))
        engine.call("ExportTableToPointInTime", {"TableArn": ARN, "S3Bucket": "exports", "S3Prefix": "a/b"})
        engine.settle()
        assert list((store / "buckets" / "exports").rglob("*.gz"))
        assert open_to_others(store) == []


def test_nor_is_a_store_that_was_compacted(store: Path) -> None:
    with Engine.open(store) as engine:
        engine.call("CreateTable", definition())
    compact(store)
    assert open_to_others(store) == []


def test_a_store_that_was_open_to_others_is_tightened_when_it_is_opened(store: Path) -> None:
    with Engine.open(store) as engine:
        engine.call("CreateTable", definition())
    (store / "buckets").mkdir()
    for path in store.iterdir():
        path.chmod(0o755 if path.is_dir() else 0o644)
    with Engine.open(store):
        assert open_to_others(store) == []


def test_a_directory_that_was_there_before_keeps_its_mode(store: Path) -> None:
    store.mkdir()
    store.chmod(0o755)
    with Engine.open(store):
        assert store.stat().st_mode & 0o777 == 0o755
        assert open_to_others(store) == [str(store)]
