"""Archives: compressed lines with a manifest, in a directory or in the archive tier of S3 (CC-E2)."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.s3_server import new_bucket, s3_server, use_server

from tablewright.engine.transfer.buckets import S3Connection
from tablewright.kit.objects.archive import Archive, ArchiveDamaged
from tablewright.kit.objects.directory import Directory
from tablewright.kit.objects.s3 import S3Objects
from tablewright.kit.objects.store import NameUnusable, ObjectCold, ObjectMissing, ObjectStore
from tablewright.testing import Clock

LINES = [b'{"id":%d}' % number for number in range(1000)]
NAME = "submissions/2024-autumn"
ABOUT = {"course": "CS101", "reason": "semester plus two years"}


@pytest.fixture(scope="module")
def connection() -> Iterator[S3Connection]:
    with s3_server() as url, pytest.MonkeyPatch.context() as patch:
        use_server(url, patch).close()
        connection = S3Connection(None, "us-east-1")
        yield connection
        connection.client.close()


@pytest.fixture
def s3(connection: S3Connection) -> Iterator[Any]:
    with new_bucket(connection.client, "vault"):
        yield connection.client


@pytest.fixture(params=["directory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> ObjectStore:
    if request.param == "directory":
        return Directory(tmp_path / "objects", clock.world())
    request.getfixturevalue("s3")
    return S3Objects(request.getfixturevalue("connection"), "vault", "campus/", clock.world())


@pytest.fixture
def archive(store: ObjectStore, clock: Clock) -> Archive:
    return Archive(store, clock.world())


def test_an_archive_is_read_back_line_by_line(archive: Archive, clock: Clock) -> None:
    manifest = archive.store(NAME, iter(LINES), ABOUT)
    assert (manifest.name, manifest.lines, manifest.about) == (NAME, 1000, ABOUT)
    assert manifest.stored == clock.now()
    assert archive.manifest(NAME) == manifest
    assert list(archive.names()) == [NAME]
    archive.restore_request(NAME)  # moto restores at once, S3 takes hours
    assert archive.restore_request(NAME)
    assert list(archive.lines(NAME)) == LINES
    verified = archive.verify(NAME)
    assert (verified.manifest, verified.is_read) == (manifest, True)


def test_what_is_below_a_folder_is_removed_and_nothing_beside_it(archive: Archive) -> None:
    for name in ("courses/A/1", "courses/A/2", "courses/AB/1", "courses/A"):
        archive.store(name, LINES, ABOUT)
    archive.remove_below("courses/A")
    assert list(archive.names()) == ["courses/A", "courses/AB/1"]


def test_an_archive_can_be_empty(archive: Archive) -> None:
    archive.store(NAME, [], {})
    archive.restore_request(NAME)
    assert list(archive.lines(NAME)) == []
    assert archive.verify(NAME).manifest.lines == 0


def test_a_source_that_breaks_off_leaves_no_archive(archive: Archive) -> None:
    def broken() -> Iterator[bytes]:
        yield from LINES
        raise ConnectionResetError

    archive.store(NAME, LINES, ABOUT)
    with pytest.raises(ConnectionResetError):
        archive.store(NAME, broken(), ABOUT)
    assert list(archive.names()) == []
    with pytest.raises(ObjectMissing):
        archive.verify(NAME)


def test_an_archive_that_does_not_exist_is_missing_and_a_bad_name_refused(archive: Archive) -> None:
    for use in (archive.verify, archive.manifest, archive.restore_request):
        with pytest.raises(ObjectMissing):
            use(NAME)
        with pytest.raises(NameUnusable):
            use("../out")


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (lambda packed: packed[:-1], "size"),
        (lambda packed: packed[:50] + b"\x00\x00\x00" + packed[53:], "sha256"),
        (lambda packed: gzip.compress(b"other")[: len(packed)].ljust(len(packed), b"\x00"), "sha256"),
    ],
    ids=["cut off", "changed", "another"],
)
def test_a_damaged_archive_is_found(store: ObjectStore, archive: Archive, content: Any, field: str) -> None:
    archive.store(NAME, LINES, ABOUT)
    archive.restore_request(NAME)
    file = f"archive/{NAME}.jsonl.gz"
    packed = store.get(file)
    store.put(file, content(packed))
    with pytest.raises(ArchiveDamaged, match=field):
        archive.verify(NAME)
    store.remove(file)
    with pytest.raises(ArchiveDamaged, match="size"):
        archive.verify(NAME)


# --- S3 ---


def test_in_s3_the_lines_are_in_the_archive_tier_until_they_are_restored(
    s3: Any, connection: S3Connection, clock: Clock
) -> None:
    archive = Archive(S3Objects(connection, "vault", "", clock.world()), clock.world())
    manifest = archive.store(NAME, LINES, ABOUT)
    classes = {
        found["Key"].rpartition(".")[2]: found["StorageClass"]
        for found in s3.list_objects_v2(Bucket="vault")["Contents"]
    }
    assert classes == {"gz": "GLACIER", "json": "STANDARD"}
    with pytest.raises(ObjectCold, match="restore it"):
        list(archive.lines(NAME))
    verified = archive.verify(NAME)
    assert (verified.manifest, verified.is_read) == (manifest, False)
    assert not archive.restore_request(NAME, days=3)
    assert archive.restore_request(NAME)
    assert list(archive.lines(NAME)) == LINES
