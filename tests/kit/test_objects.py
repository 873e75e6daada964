"""Stores of objects: a directory and a bucket of S3 behave alike, and memory does for small objects (CC-E1, SK-E2).

S3 is moto's server. Elsewhere: a process that is killed (tests/crash/test_kill_objects.py), memory
(test_object_memory.py), where a system's objects are (tests/app/test_objects_of_skratch.py).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.s3_server import new_bucket, s3_server, use_server

from tablewright.engine.transfer.buckets import S3Connection
from tablewright.kit.objects import s3 as s3_module
from tablewright.kit.objects.directory import DRAFTS, Directory
from tablewright.kit.objects.directory_uploads import UPLOADS
from tablewright.kit.objects.memory import InMemory
from tablewright.kit.objects.s3 import S3Objects
from tablewright.kit.objects.store import (
    MAX_PARTS,
    MAX_SIZE,
    PART_SIZE,
    ContentUnexpected,
    Entry,
    NameUnusable,
    ObjectMissing,
    Objects,
    ObjectStore,
    PartsMissing,
    PartUnusable,
    RangeUnusable,
    Stored,
    Upload,
    UploadUnknown,
    sizes_of_parts,
)
from tablewright.kit.objects.sweep import Removed, sweep
from tablewright.testing import Clock
from tablewright.world import machine_time

NAME = "files/a1/1"
LAST = b"the end"


@pytest.fixture
def clock() -> Clock:
    """The time of S3 is that of the machine; the others follow."""
    return Clock(machine_time())


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


def opened(kind: str, request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> ObjectStore:
    if kind == "directory":
        return Directory(tmp_path / "objects", clock.world())
    request.getfixturevalue("s3")
    return S3Objects(request.getfixturevalue("connection"), "vault", "campus/", clock.world())


@pytest.fixture(params=["directory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> ObjectStore:
    return opened(request.param, request, tmp_path, clock)


@pytest.fixture(params=["directory", "s3", "memory"])
def objects(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Objects:
    return InMemory() if request.param == "memory" else opened(request.param, request, tmp_path, clock)


@pytest.fixture
def bucket(s3: Any, connection: S3Connection, clock: Clock) -> S3Objects:
    return S3Objects(connection, "vault", "campus/", clock.world())


@pytest.fixture
def directory(tmp_path: Path, clock: Clock) -> Directory:
    return Directory(tmp_path / "objects", clock.world())


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def known(store: ObjectStore, checksum: str) -> str | None:
    """The checksum that a store has of an object; a directory needs extended attributes for it."""
    if isinstance(store, S3Objects):
        return checksum
    with NamedTemporaryFile() as file:
        try:
            os.setxattr(file.fileno(), "user.sha256", b"x")
        except OSError:
            return None
    return checksum


def first_part(letter: bytes = b"a") -> bytes:
    return letter * PART_SIZE


def uploaded(store: ObjectStore, name: str = NAME) -> Upload:
    """An upload of two parts that is ready to be completed."""
    upload = store.begin(name)
    store.put_part(upload, 2, [LAST])
    store.put_part(upload, 1, [first_part()])
    return upload


WHOLE = first_part() + LAST
WHOLE_SHA256 = digest(WHOLE)


# --- small objects ---


def test_an_object_is_there_until_it_is_removed(objects: Objects) -> None:
    assert objects.get("pictures/ada/1.png") is None
    objects.put("pictures/ada/1.png", b"first")
    objects.put("pictures/ada/1.png", b"\x00second")
    assert objects.get("pictures/ada/1.png") == b"\x00second"
    for _ in range(2):
        objects.remove("pictures/ada/1.png")
        assert objects.get("pictures/ada/1.png") is None
    assert list(objects.names("pictures/")) == []


def test_a_new_object_does_not_replace_one_of_its_name(objects: Objects) -> None:
    assert objects.put_new("keys/ada/1", b"first")
    assert not objects.put_new("keys/ada/1", b"second")
    assert objects.get("keys/ada/1") == b"first"
    objects.remove("keys/ada/1")
    assert objects.put_new("keys/ada/1", b"third")
    assert list(objects.names("")) == ["keys/ada/1"]


def test_of_several_new_objects_of_one_name_one_is_stored(store: ObjectStore) -> None:
    contents = [str(number).encode() for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        stored = list(threads.map(lambda content: store.put_new(NAME, content), contents))
    assert stored.count(True) == 1
    assert store.get(NAME) == contents[stored.index(True)]


def test_a_folder_lists_its_objects_in_order_and_nothing_beside_it(objects: Objects) -> None:
    names = ["pictures/ada-b/1", "pictures/ada.x", "pictures/ada/1", "pictures/ada/2", "pictures/adam/1"]
    for name in reversed(names):
        objects.put(name, b"x")
    assert list(objects.names("pictures/")) == names == list(objects.names(""))
    assert list(objects.names("pictures/ada/")) == ["pictures/ada/1", "pictures/ada/2"]
    assert list(objects.names("erased/")) == []


@pytest.mark.parametrize(
    "name",
    ["", "/etc/passwd", "../out", "a/../b", "a//b", "a/", ".hidden", "a/.b", "a b", "a\\b", "a\n", "a" * 201,
     "a/" * 256 + "a", "ä", "a\x00b"],
)  # fmt: skip
def test_a_name_that_could_lead_anywhere_is_refused(objects: Objects, name: str) -> None:
    with pytest.raises(NameUnusable):
        objects.put(name, b"x")
    with pytest.raises(NameUnusable):
        objects.get(name)
    with pytest.raises(NameUnusable):
        objects.remove(name)


def test_every_call_of_a_store_refuses_such_a_name(store: ObjectStore) -> None:
    store.put(NAME, b"x")
    minute, bad = timedelta(minutes=1), "../out"
    calls: list[Callable[[], object]] = [
        lambda: store.write(bad, [b"x"]),
        lambda: store.read(bad),
        lambda: store.head(bad),
        lambda: list(store.entries(f"{bad}/")),
        lambda: store.copy(bad, NAME),
        lambda: store.copy(NAME, bad),
        lambda: store.restore(bad),
        lambda: store.begin(bad),
        lambda: store.put_part(Upload(bad, "x:y"), 1, [b"x"]),
        lambda: store.complete(Upload(bad, "x:y"), 1),
        lambda: store.sign_get(bad, minute, filename="x"),
        lambda: store.sign_put(Upload(bad, "x:y"), 1, minute, size=0, sha256=digest(b"")),
    ]
    for call in calls:
        with pytest.raises((NameUnusable, UploadUnknown)):
            call()
    assert list(store.names("")) == [NAME]


# --- streams ---


def test_a_stream_is_stored_with_its_size_and_checksum(store: ObjectStore, clock: Clock) -> None:
    content = [b"one, ", b"", b"two"]
    stored = store.write(NAME, content)
    assert stored == Stored(8, digest(b"one, two"))
    head = store.head(NAME)
    assert head is not None
    assert (head.size, head.sha256) == (8, known(store, digest(b"one, two")))
    assert abs(head.modified - clock.now()) < timedelta(minutes=5)
    with store.read(NAME) as stream:
        assert (stream.size, b"".join(stream)) == (8, b"one, two")


def test_an_object_that_is_not_there_has_no_head_and_cannot_be_read_or_copied(store: ObjectStore) -> None:
    assert store.head(NAME) is None
    for start, end in ((0, None), (1, None), (1, 1)):
        with pytest.raises(ObjectMissing):
            store.read(NAME, start, end)
    with pytest.raises(ObjectMissing):
        store.copy(NAME, "files/b/1")
    with pytest.raises(ObjectMissing):
        store.restore(NAME)


def test_an_object_larger_than_a_part_is_streamed(store: ObjectStore) -> None:
    quarter = PART_SIZE // 4
    stored = store.write(NAME, (bytes([number]) * quarter for number in range(9)))
    whole = b"".join(bytes([number]) * quarter for number in range(9))
    assert stored == Stored(len(whole), digest(whole))
    with store.read(NAME) as stream:
        chunks = list(stream)
    assert b"".join(chunks) == whole
    assert max(map(len, chunks)) <= PART_SIZE


@pytest.mark.parametrize("length", [0, PART_SIZE - 1, PART_SIZE, PART_SIZE + 1])
def test_an_object_around_the_size_of_a_part_is_stored_as_it_is(store: ObjectStore, length: int) -> None:
    content = b"x" * length
    assert store.write(NAME, [content]) == Stored(length, digest(content))
    assert store.get(NAME) == content


@pytest.mark.parametrize("content", [b"short", first_part() + b"more"], ids=["one part", "two parts"])
def test_content_that_was_not_announced_is_refused_and_changes_nothing(
    store: ObjectStore, content: bytes
) -> None:
    store.put(NAME, b"before")
    with pytest.raises(ContentUnexpected, match=f"size is {len(content)}, expected 3"):
        store.write(NAME, [content], expect_size=3)
    with pytest.raises(ContentUnexpected, match="sha256 is"):
        store.write(NAME, [content], expect_sha256=digest(b"other"))
    assert store.get(NAME) == b"before"
    assert list(store.names("")) == [NAME]
    assert list(store.remove_abandoned(machine_time() + timedelta(days=1))) == []
    store.write(NAME, [content], expect_size=len(content), expect_sha256=digest(content))
    head = store.head(NAME)
    assert head is not None
    assert head.sha256 == known(store, digest(content))


@pytest.mark.parametrize("size", [10, PART_SIZE + 10])
def test_a_stream_that_breaks_off_stores_nothing(store: ObjectStore, size: int) -> None:
    def broken() -> Iterator[bytes]:
        yield b"x" * size
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        store.write(NAME, broken())
    assert store.head(NAME) is None
    assert list(store.remove_abandoned(machine_time() + timedelta(days=1))) == []


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(0, None, b"0123456789"), (3, None, b"3456789"), (0, 1, b"0"), (3, 6, b"345"), (8, 99, b"89"),
     (10, None, b""), (4, 4, b""), (0, 0, b""), (10, 12, b"")],
)  # fmt: skip
def test_a_range_begins_and_ends_at_its_bytes(
    store: ObjectStore, start: int, end: int | None, expected: bytes
) -> None:
    store.put(NAME, b"0123456789")
    with store.read(NAME, start, end) as stream:
        assert (stream.size, stream.start, stream.end) == (10, start, start + len(expected))
        assert b"".join(stream) == expected


@pytest.mark.parametrize(("start", "end"), [(11, None), (-1, None), (5, 4), (11, 12)])
def test_a_range_outside_of_the_object_is_refused(store: ObjectStore, start: int, end: int | None) -> None:
    store.put(NAME, b"0123456789")
    with pytest.raises(RangeUnusable, match="10 bytes"):
        store.read(NAME, start, end)


def test_an_empty_object_can_be_read(store: ObjectStore) -> None:
    store.put(NAME, b"")
    for start, end in ((0, None), (0, 5), (0, 0)):
        with store.read(NAME, start, end) as stream:
            assert (stream.size, b"".join(stream)) == (0, b"")


def test_a_stream_that_was_closed_early_leaves_the_object_readable(store: ObjectStore) -> None:
    store.write(NAME, [WHOLE])
    stream = store.read(NAME)
    next(iter(stream))
    stream.close()
    stream.close()
    assert store.get(NAME) == WHOLE


def test_a_copy_is_an_object_of_its_own(store: ObjectStore) -> None:
    store.write(NAME, [WHOLE], expect_sha256=WHOLE_SHA256)
    store.copy(NAME, "files/b2/1")
    store.remove(NAME)
    assert store.get("files/b2/1") == WHOLE
    head = store.head("files/b2/1")
    assert head is not None
    assert (head.size, head.sha256) == (len(WHOLE), known(store, WHOLE_SHA256))


def test_entries_have_sizes_and_times(store: ObjectStore, clock: Clock) -> None:
    store.put("files/a/1", b"1")
    store.put("files/b/1", b"22")
    found = list(store.entries("files/"))
    assert [(entry.name, entry.size) for entry in found] == [("files/a/1", 1), ("files/b/1", 2)]
    assert all(abs(entry.modified - clock.now()) < timedelta(minutes=5) for entry in found)
    assert isinstance(found[0], Entry)


# --- uploads in parts ---


def test_an_upload_is_resumed_by_the_parts_that_have_arrived(store: ObjectStore) -> None:
    upload = store.begin(NAME)
    assert list(store.parts(upload)) == []
    store.put_part(upload, 2, [LAST])
    again = Upload(upload.name, upload.id)  # as a client has it after a reload
    assert [(part.number, part.size) for part in store.parts(again)] == [(2, len(LAST))]
    assert store.head(NAME) is None
    with pytest.raises(PartsMissing) as missing:
        store.complete(again, len(WHOLE))
    assert missing.value.numbers == (1,)
    store.put_part(again, 1, [first_part()[:100], first_part()[100:]], expect_sha256=digest(first_part()))
    found = list(store.parts(again))
    assert [(part.number, part.size) for part in found] == [(1, PART_SIZE), (2, len(LAST))]
    sums = [part.sha256 for part in found]
    # moto lists no checksums of parts; S3 does.
    assert sums == [digest(first_part()), digest(LAST)] or (isinstance(store, S3Objects) and not any(sums))
    assert list(store.names("")) == []
    assert store.complete(again, len(WHOLE), expect_sha256=WHOLE_SHA256) == Stored(len(WHOLE), WHOLE_SHA256)
    assert store.get(NAME) == WHOLE
    head = store.head(NAME)
    assert head is not None
    assert head.sha256 == known(store, WHOLE_SHA256)


def test_a_part_that_is_sent_again_counts_once_and_the_last_one_sent_counts(store: ObjectStore) -> None:
    upload = store.begin(NAME)
    for content in (b"first, and longer", b"second", b"second"):
        part = store.put_part(upload, 1, [content])
        assert (part.size, part.sha256) == (len(content), digest(content))
    assert store.complete(upload, 6) == Stored(6, digest(b"second"))
    assert store.get(NAME) == b"second"


def test_an_upload_that_is_completed_twice_returns_the_same(store: ObjectStore) -> None:
    upload = uploaded(store)
    first = store.complete(upload, len(WHOLE))
    assert store.complete(upload, len(WHOLE), expect_sha256=WHOLE_SHA256) == first
    with pytest.raises(ContentUnexpected):
        store.complete(upload, 3)
    assert store.get(NAME) == WHOLE


def test_a_part_that_arrives_after_the_completion_changes_nothing(store: ObjectStore) -> None:
    upload = uploaded(store)
    store.complete(upload, len(WHOLE))
    store.put_part(upload, 2, [b"too late"])
    assert store.get(NAME) == WHOLE


def test_an_upload_can_be_of_one_empty_part(store: ObjectStore) -> None:
    upload = store.begin(NAME)
    with pytest.raises(PartsMissing):
        store.complete(upload, 0)
    store.put_part(upload, 1, [])
    assert store.complete(upload, 0) == Stored(0, digest(b""))
    assert store.get(NAME) == b""


def test_a_part_with_another_checksum_size_or_number_is_refused(store: ObjectStore) -> None:
    upload = store.begin(NAME)
    with pytest.raises(ContentUnexpected, match="sha256 of part 1"):
        store.put_part(upload, 1, [b"x"], expect_sha256=digest(b"y"))
    with pytest.raises(PartUnusable, match="larger"):
        store.put_part(upload, 1, [first_part(), b"x"])
    for number in (0, -1, MAX_PARTS + 1):
        with pytest.raises(PartUnusable, match="numbers 1 to"):
            store.put_part(upload, number, [b"x"])
    assert list(store.parts(upload)) == []


def test_parts_of_the_wrong_size_or_too_many_of_them_are_no_object(store: ObjectStore) -> None:
    upload = store.begin(NAME)
    store.put_part(upload, 1, [b"short"])
    store.put_part(upload, 2, [LAST])
    with pytest.raises(PartsMissing, match=r"send part 1$"):
        store.complete(upload, PART_SIZE + len(LAST))
    with pytest.raises(ContentUnexpected, match="number of parts is 2, expected 1"):
        store.complete(upload, 5)
    with pytest.raises(PartUnusable):
        store.complete(upload, MAX_SIZE + 1)
    assert store.head(NAME) is None
    assert len(list(store.parts(upload))) == 2


def test_an_upload_with_another_checksum_than_announced_is_aborted_and_never_visible(
    store: ObjectStore,
) -> None:
    store.put(NAME, b"before")
    upload = uploaded(store)
    with pytest.raises(ContentUnexpected, match="sha256"):
        store.complete(upload, len(WHOLE), expect_sha256=digest(b"other"))
    assert store.get(NAME) == b"before"
    with pytest.raises(UploadUnknown):
        store.complete(upload, len(WHOLE))
    assert list(store.remove_abandoned(machine_time() + timedelta(days=1))) == []


def test_an_aborted_upload_takes_its_parts_along_and_a_completed_object_stays(store: ObjectStore) -> None:
    upload = uploaded(store)
    for _ in range(2):
        store.abort(upload)
    for use in (
        lambda: store.put_part(upload, 1, [b"x"]),
        lambda: list(store.parts(upload)),
        lambda: store.complete(upload, len(WHOLE)),
    ):
        with pytest.raises(UploadUnknown):
            use()
    done = uploaded(store)
    store.complete(done, len(WHOLE))
    store.abort(done)
    assert store.get(NAME) == WHOLE


@pytest.mark.parametrize("upload_id", ["", "x", "x:y", "../../x", "../../x:y", "a/b"])
def test_an_upload_that_was_never_begun_is_unknown(store: ObjectStore, upload_id: str) -> None:
    with pytest.raises(UploadUnknown):
        store.put_part(Upload(NAME, upload_id), 1, [b"x"])
    with pytest.raises(UploadUnknown):
        store.complete(Upload(NAME, upload_id), 1)


def test_an_upload_is_of_the_name_it_was_begun_with(store: ObjectStore) -> None:
    upload = uploaded(store)
    with pytest.raises(UploadUnknown):
        store.complete(Upload("files/b2/1", upload.id), len(WHOLE))
    assert list(store.names("")) == []


def test_parts_that_arrive_at_once_make_one_object(store: ObjectStore) -> None:
    upload = store.begin(NAME)
    sent = [(number, first_part(bytes([number]))) for number in (1, 2, 3)] + [(4, LAST)]
    with ThreadPoolExecutor(4) as threads:
        for _ in range(2):
            calls = [threads.submit(store.put_part, upload, number, [part]) for number, part in sent]
            assert [call.result().number for call in calls] == [1, 2, 3, 4]
    whole = b"".join(part for _, part in sent)
    assert store.complete(upload, len(whole)) == Stored(len(whole), digest(whole))
    with store.read(NAME) as stream:
        assert digest(b"".join(stream)) == digest(whole)


@given(size=st.integers(0, MAX_SIZE))
def test_the_sizes_of_parts_add_up(size: int) -> None:
    sizes = sizes_of_parts(size)
    assert sum(sizes) == size
    assert 1 <= len(sizes) <= MAX_PARTS
    assert set(sizes[:-1]) <= {PART_SIZE}


# --- what is left over ---


def test_the_sweep_deletes_what_is_old_and_has_no_owner(store: ObjectStore, clock: Clock) -> None:
    for name in ("files/owned/1", "files/lost/1", "other/lost/1"):
        store.put(name, b"x")
    completed = uploaded(store, "files/owned/2")
    store.complete(completed, len(WHOLE))

    def run(age: timedelta) -> list[Removed]:
        return list(sweep(store, "files/", lambda name: "owned" in name, age, clock.world()))

    assert run(timedelta(days=1)) == []
    given_up = store.begin("files/given-up/1")
    store.put_part(given_up, 1, [LAST])
    clock.move(timedelta(days=1, minutes=1))
    assert run(timedelta(days=1)) == [
        Removed("object", "files/lost/1"),
        Removed("upload", "files/given-up/1"),
    ]
    assert run(timedelta(days=1)) == []
    assert list(store.names("")) == ["files/owned/1", "files/owned/2", "other/lost/1"]
    with pytest.raises(UploadUnknown):
        store.put_part(given_up, 1, [LAST])


def test_an_upload_that_began_later_is_not_abandoned(store: ObjectStore, clock: Clock) -> None:
    upload = store.begin(NAME)
    long_ago = datetime(2009, 1, 1, tzinfo=UTC)  # moto's uploads begin in 2010
    before = long_ago if isinstance(store, S3Objects) else clock.now() - timedelta(seconds=1)
    assert list(store.remove_abandoned(before)) == []
    store.put_part(upload, 1, [LAST])
    assert list(store.remove_abandoned(clock.now() + timedelta(seconds=1))) == [NAME]


# --- a directory ---


def files_in(path: Path) -> list[Path]:
    return sorted(path.rglob("*"))


def test_files_are_private_under_any_umask(directory: Directory, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        directory.put(NAME, b"x")
        uploaded(directory)
    finally:
        os.umask(before)
    for path in files_in(tmp_path / "objects"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(name=st.text() | st.from_regex(r"[./a\\~ -]{1,12}", fullmatch=True))
def test_any_text_is_refused_as_a_name_or_stays_below_the_root(
    directory: Directory, tmp_path: Path, name: str
) -> None:
    before = files_in(tmp_path)
    try:
        directory.put(name, b"x")
    except NameUnusable:
        assert files_in(tmp_path) == before
        return
    path = (tmp_path / "objects" / name).resolve()
    assert path.read_bytes() == b"x"
    assert (tmp_path / "objects").resolve() in path.parents
    directory.remove(name)
    assert not path.exists()


def test_links_inside_of_the_root_lead_nowhere(directory: Directory, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    directory.put("a/1", b"x")
    (tmp_path / "objects" / "a" / "file").symlink_to(outside / "secret")
    (tmp_path / "objects" / "a" / "folder").symlink_to(outside)
    for name in ("a/file", "a/folder/secret"):
        assert directory.get(name) is None
        assert directory.head(name) is None
    assert list(directory.names("")) == ["a/1"] == list(directory.names("a/"))
    assert list(directory.names("a/folder/")) == []
    with pytest.raises(NameUnusable):
        directory.put("a/folder/new", b"x")
    directory.remove("a/folder/secret")
    directory.put("a/file", b"ours")  # replaces the link, not what it leads to
    assert (directory.get("a/file"), (outside / "secret").read_bytes()) == (b"ours", b"secret")
    assert [path.name for path in outside.iterdir()] == ["secret"]


def test_a_named_pipe_is_not_an_object(directory: Directory, tmp_path: Path) -> None:
    directory.put("a/1", b"x")
    os.mkfifo(tmp_path / "objects" / "a" / "pipe")
    assert directory.get("a/pipe") is None
    assert list(directory.names("")) == ["a/1"]


def test_an_object_cannot_be_a_folder_too(directory: Directory) -> None:
    directory.put("a/b", b"x")
    with pytest.raises(NameUnusable):
        directory.put("a/b/c", b"x")
    with pytest.raises(NameUnusable):
        directory.put("a", b"x")
    assert list(directory.names("")) == ["a/b"]


def test_empty_folders_go_with_their_last_object(directory: Directory, tmp_path: Path) -> None:
    directory.put("files/a/1", b"x")
    directory.put("files/b/1", b"x")
    directory.remove("files/a/1")
    assert [path.name for path in (tmp_path / "objects" / "files").iterdir()] == ["b"]
    directory.remove("files/b/1")
    assert not (tmp_path / "objects" / "files").exists()
    assert (tmp_path / "objects").exists()


def test_a_folder_that_is_deleted_while_it_is_written_into_is_made_again(directory: Directory) -> None:
    def turn(number: int) -> None:
        for _ in range(50):
            directory.put(f"busy/a/{number}", b"x")
            directory.remove(f"busy/a/{number}")

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(turn, number) for number in range(4)]:
            done.result()
    assert list(directory.names("")) == []


def test_an_upload_that_is_completed_by_several_at_once_is_one_object(directory: Directory) -> None:
    upload = uploaded(directory)
    with ThreadPoolExecutor(3) as threads:
        calls = [threads.submit(directory.complete, upload, len(WHOLE)) for _ in range(3)]
        assert {call.result() for call in calls} == {Stored(len(WHOLE), WHOLE_SHA256)}
    assert directory.get(NAME) == WHOLE
    assert list(directory.names("")) == [NAME]


def test_a_part_that_is_torn_on_the_disk_is_asked_for_again(directory: Directory, tmp_path: Path) -> None:
    upload = uploaded(directory)
    with (tmp_path / "objects" / UPLOADS / upload.id / "data").open("r+b") as data:
        data.seek(100)
        data.write(b"torn")
    with pytest.raises(PartsMissing, match=r"send part 1$"):
        directory.complete(upload, len(WHOLE))
    assert [part.number for part in directory.parts(upload)] == [2]
    assert directory.head(NAME) is None
    directory.put_part(upload, 1, [first_part()])
    assert directory.complete(upload, len(WHOLE)).sha256 == WHOLE_SHA256


def test_an_object_that_was_purged_does_not_come_back_by_a_second_completion(store: ObjectStore) -> None:
    upload = uploaded(store)
    store.complete(upload, len(WHOLE))
    store.remove(NAME)
    with pytest.raises(UploadUnknown):
        store.complete(upload, len(WHOLE))


def test_a_draft_of_a_write_that_was_killed_is_swept(
    directory: Directory, tmp_path: Path, clock: Clock
) -> None:
    directory.put(NAME, b"x")
    draft = tmp_path / "objects" / DRAFTS / "left"
    draft.write_bytes(b"half")
    assert list(directory.remove_abandoned(clock.now() - timedelta(days=1))) == []
    assert len(list(directory.remove_abandoned(clock.now() + timedelta(days=1)))) == 1
    assert not draft.exists()


# --- S3 ---


def test_a_bucket_has_objects_under_its_prefix_and_lists_more_than_a_page(
    s3: Any, bucket: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_module, "PAGE", 2)
    s3.put_object(Bucket="vault", Key="pictures/foreign", Body=b"not ours")
    for n in range(5):
        bucket.put(f"pictures/{n}", b"x")
    assert list(bucket.names("")) == [f"pictures/{n}" for n in range(5)]
    keys = [found["Key"] for found in s3.list_objects_v2(Bucket="vault")["Contents"]]
    assert keys == [*(f"campus/pictures/{n}" for n in range(5)), "pictures/foreign"]


def test_a_purge_deletes_every_version_of_an_object_and_no_other(
    s3: Any, bucket: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    enabled = {"Status": "Enabled"}
    s3.put_bucket_versioning(Bucket="vault", VersioningConfiguration=enabled)
    monkeypatch.setattr(s3_module, "PAGE", 2)
    for content in (b"one", b"two", b"and", b"a", b"second", b"page"):
        bucket.put("files/a/1", content)
    s3.delete_object(Bucket="vault", Key="campus/files/a/1")  # a delete marker
    bucket.put("files/a/1", b"three")
    bucket.put("files/a/10", b"another")
    bucket.remove("files/a/1")
    left = s3.list_object_versions(Bucket="vault")
    assert [version["Key"] for version in left["Versions"]] == ["campus/files/a/10"]
    assert left.get("DeleteMarkers", []) == []
    assert bucket.get("files/a/1") is None


def test_an_upload_that_was_assembled_but_not_copied_is_completed_by_the_next_call(
    s3: Any, bucket: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Died(BaseException):
        pass

    def die(*_: object) -> None:
        raise Died

    for place in ("_read_back", "_copy"):
        upload = uploaded(bucket, f"files/{place.strip('_')}/1")
        with monkeypatch.context() as patch:
            patch.setattr(bucket, place, die)
            with pytest.raises(Died):
                bucket.complete(upload, len(WHOLE))
        assert list(bucket.names("")) == []
        assert bucket.complete(upload, len(WHOLE)) == Stored(len(WHOLE), WHOLE_SHA256)
        assert bucket.get(upload.name) == WHOLE
        bucket.remove(upload.name)
    keys = s3.list_objects_v2(Bucket="vault").get("Contents", [])
    assert keys == []


@pytest.mark.parametrize("place", ["_listed", "_complete", "_read_back", "_copy"])
def test_an_upload_that_another_call_completes_in_between_is_the_same_object(
    bucket: S3Objects, connection: S3Connection, clock: Clock, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    # In turns: moto's server fails if the same object is changed by two requests at once.
    upload, other = uploaded(bucket), S3Objects(connection, "vault", "campus/", clock.world())
    ours = getattr(bucket, place)

    def overtaken(*given: Any) -> Any:
        other.complete(upload, len(WHOLE))
        return ours(*given)

    monkeypatch.setattr(bucket, place, overtaken)
    assert bucket.complete(upload, len(WHOLE)) == Stored(len(WHOLE), WHOLE_SHA256)
    assert bucket.get(NAME) == WHOLE


def test_an_upload_that_was_assembled_and_left_is_swept(
    s3: Any, bucket: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    upload = uploaded(bucket)
    monkeypatch.setattr(bucket, "_copy", die)
    with pytest.raises(KeyboardInterrupt):
        bucket.complete(upload, len(WHOLE))
    assert list(bucket.remove_abandoned(machine_time() + timedelta(days=1))) == [NAME]
    assert s3.list_objects_v2(Bucket="vault").get("Contents", []) == []
