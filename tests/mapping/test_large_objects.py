"""Large values: small ones in the item, others in objects that no crash, race or sweep takes from an item.

Each test runs with a directory and with a bucket of S3, which is moto's server on loopback.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.s3_server import new_bucket, s3_server, use_server

from tablewright import testing
from tablewright.client import embedded
from tablewright.client.coroutines import ThreadedCall
from tablewright.design import Design, DesignRefused, Large, NotStorable
from tablewright.engine.transfer.buckets import BucketUnusable, S3Connection
from tablewright.kit.objects.directory import Directory
from tablewright.kit.objects.s3 import S3Objects
from tablewright.kit.objects.store import ObjectStore
from tablewright.kit.objects.sweep import sweep
from tablewright.mapping import (
    AlreadyExists,
    Db,
    LargeTooOld,
    Missing,
    NoObjectStore,
    ObjectLost,
    Stale,
    change_of,
)
from tablewright.mapping.async_db import AsyncDb
from tablewright.mapping.items import item_of
from tablewright.mapping.large_objects import FOLDER, SWEPT_AFTER, is_named
from tablewright.testing import Clock
from tablewright.world import World, machine_time


class Report(BaseModel):
    id: str
    body: Large
    picture: Large | None = None
    title: str = ""
    rev: int = 0


class Note(BaseModel):
    id: str
    body: Large
    title: str = ""


def by_id(id: str) -> None: ...


archive = Design("archive")
main = archive.table("archive", pk="PK", sk="SK")
reports = main.entity(Report, by_id, tag="report", pk="REPORT#{id}", sk="REPORT", version="rev")
notes = main.entity(Note, by_id, tag="note", pk="NOTE#{id}", sk="NOTE")
archive.build()


class Archive:
    """A Db with a store of objects, and a clock for both."""

    def __init__(self, db: Db, store: ObjectStore, clock: Clock) -> None:
        self.db, self.store, self.clock = db, store, clock

    def names(self) -> list[str]:
        return list(self.store.names(FOLDER))

    def sweep(self) -> list[str]:
        world = self.clock.world()
        return [one.name for one in sweep(self.store, FOLDER, is_named(self.db), SWEPT_AFTER, world)]


@contextmanager
def opened(make_store: Callable[[World], ObjectStore]) -> Iterator[Archive]:
    clock = Clock(machine_time())  # S3 stamps its objects with the time of the machine
    with testing.engine(world=clock.world()) as engine:
        store = make_store(clock.world())
        db = Db(embedded(engine), archive, world=clock.world(), objects=store, inline_bytes=100)
        db.create_tables()
        yield Archive(db, store, clock)


@pytest.fixture(scope="module")
def connection() -> Iterator[S3Connection]:
    with s3_server() as url, pytest.MonkeyPatch.context() as patch:
        use_server(url, patch).close()
        connection = S3Connection(None, "us-east-1")
        yield connection
        connection.client.close()


@pytest.fixture
def on_s3(connection: S3Connection) -> Iterator[Archive]:
    with (
        new_bucket(connection.client, "archive"),
        opened(lambda world: S3Objects(connection, "archive", "reports/", world)) as found,
    ):
        yield found


@pytest.fixture
def in_directory(tmp_path: Path) -> Iterator[Archive]:
    with opened(lambda world: Directory(tmp_path / "objects", world)) as found:
        yield found


@pytest.fixture(params=["in_directory", "on_s3"])
def at(request: pytest.FixtureRequest) -> Archive:
    found: Archive = request.getfixturevalue(request.param)
    return found


BIG, SMALL = b"x" * 500_000, b"y" * 100


def test_a_value_larger_than_an_item_is_written_and_read(at: Archive) -> None:
    at.db.write(reports.create(Report(id="r1", body=at.db.large(BIG))))
    found = at.db.one(reports.get("r1"))
    assert found is not None
    assert at.db.content(found.body) == BIG
    assert len(at.names()) == 1


def test_a_small_value_is_in_the_item_and_needs_no_store(at: Archive) -> None:
    bare = Db(at.db.call, archive, world=at.clock.world(), inline_bytes=100)
    bare.write(reports.create(Report(id="r1", body=bare.large(SMALL))))
    found = bare.one(reports.get("r1"))
    assert found is not None
    assert bare.content(found.body) == SMALL
    assert at.names() == []
    with pytest.raises(NoObjectStore):
        bare.large(BIG)
    with pytest.raises(NoObjectStore):
        bare.content(at.db.large(BIG))


def test_units_are_those_of_the_reference_and_not_of_the_object(at: Archive) -> None:
    create = reports.create(Report(id="r1", body=at.db.large(BIG)))
    explained = at.db.explain(create).write_units
    at.db.write(create)
    assert explained == at.db.meter.spent()["report.create"].write == 1


def test_a_record_of_a_stream_carries_the_reference(at: Archive) -> None:
    report = Report(id="r1", body=at.db.large(BIG))
    image = item_of(reports.shape, report)
    keys = {name: image[name] for name in ("PK", "SK")}
    told = {"Keys": keys, "NewImage": image, "SequenceNumber": "1", "ApproximateCreationDateTime": 0}
    change = change_of([reports.shape], {"eventID": "1", "eventName": "INSERT", "dynamodb": told})
    assert change is not None
    assert change.after == report
    assert at.db.content(change.after.body) == BIG


def test_a_change_of_another_field_keeps_an_old_object(at: Archive) -> None:
    at.db.write(reports.create(Report(id="r1", body=at.db.large(BIG))))
    at.db.write(notes.create(Note(id="n1", body=at.db.large(BIG))))
    at.clock.move(timedelta(days=30))
    report, note = at.db.one(reports.get("r1")), at.db.one(notes.get("n1"))
    assert report is not None
    assert note is not None
    at.db.write(reports.change(report, report.model_copy(update={"title": "new"})))
    at.db.write(notes.change(note, note.model_copy(update={"title": "new"})))
    at.db.write(notes.update("n1").at(lambda n: n.title).set("newer"))
    assert at.sweep() == []
    assert at.db.content(report.body) == at.db.content(note.body) == BIG


def test_an_object_that_is_named_no_more_is_swept_after_a_day(at: Archive) -> None:
    first = Report(id="r1", body=at.db.large(BIG))
    at.db.write(reports.create(first))
    at.db.write(reports.change(first, first.model_copy(update={"body": at.db.large(BIG + b"!")})))
    assert at.sweep() == []
    at.clock.move(SWEPT_AFTER + timedelta(seconds=1))
    assert at.sweep() == [first.body.object]
    found = at.db.one(reports.get("r1"))
    assert found is not None
    assert at.db.content(found.body) == BIG + b"!"


def test_an_old_object_cannot_be_named_by_an_item_that_does_not_have_it(at: Archive) -> None:
    stale = Report(id="r1", body=at.db.large(BIG))
    at.db.write(reports.create(stale))
    at.clock.move(timedelta(hours=2))
    copied = Note(id="n1", body=stale.body)
    for write in (notes.create(copied), notes.put(copied), notes.upsert(copied)):
        with pytest.raises(LargeTooOld, match="store the content again"):
            at.db.write(write)
        with pytest.raises(LargeTooOld):
            at.db.write(write, once="one")
    with pytest.raises(LargeTooOld):
        at.db.batch([notes.put(copied)])
    with pytest.raises(LargeTooOld):
        at.db.write(notes.update("n1").at(lambda n: n.body).set(stale.body))
    at.db.write(reports.delete(stale))
    with pytest.raises(LargeTooOld):
        at.db.write(reports.create(stale))
    at.db.write(reports.create(Report(id="r1", body=at.db.large(at.db.content(stale.body)))))


def test_an_old_object_stays_in_its_field(at: Archive) -> None:
    first = Report(id="r1", body=at.db.large(BIG))
    at.db.write(reports.create(first))
    at.clock.move(timedelta(hours=2))
    moved = first.model_copy(update={"body": at.db.large(SMALL), "picture": first.body})
    with pytest.raises(LargeTooOld, match="picture"):
        at.db.write(reports.change(first, moved))


def test_an_object_that_is_gone_or_damaged_is_told_and_never_returned(at: Archive) -> None:
    value = at.db.large(BIG)
    assert value.object is not None
    at.store.put(value.object, b"z" + BIG[1:])
    with pytest.raises(ObjectLost, match="checksum"):
        at.db.content(value)
    at.store.remove(value.object)
    with pytest.raises(ObjectLost, match="none of this name"):
        at.db.content(value)


def test_an_item_whose_object_is_gone_says_so_when_its_content_is_read(at: Archive) -> None:
    at.db.write(reports.create(Report(id="r1", body=at.db.large(BIG), title="kept")))
    at.store.remove(at.names()[0])
    found = at.db.one(reports.get("r1"))
    assert found is not None
    assert found.title == "kept"  # the rest of the item is read as before
    with pytest.raises(ObjectLost, match="restore it from a copy") as lost:
        at.db.content(found.body)
    assert lost.value.name == found.body.object


def test_a_crash_between_object_and_item_leaves_no_item_and_the_object_is_swept(at: Archive) -> None:
    def crash(verb: str, request: Any) -> Any:
        raise ConnectionError(verb)

    crashed = Db(crash, archive, world=at.clock.world(), objects=at.store, inline_bytes=100)
    with pytest.raises(ConnectionError):
        crashed.write(reports.create(Report(id="r1", body=crashed.large(BIG))))
    assert at.db.one(reports.get("r1"), consistent=True) is None
    (left,) = at.names()
    assert at.sweep() == []  # its item may be on its way
    at.clock.move(SWEPT_AFTER + timedelta(seconds=1))
    assert at.sweep() == [left]


def test_the_objects_of_a_deleted_and_of_an_overwritten_item_are_swept(at: Archive) -> None:
    gone, over = Report(id="r1", body=at.db.large(BIG)), Note(id="n1", body=at.db.large(BIG))
    kept = Note(id="n1", body=at.db.large(BIG + b"!"))
    at.db.write(reports.create(gone))
    at.db.write(notes.create(over))
    at.db.write(reports.delete(gone))
    at.db.write(notes.put(kept))
    assert at.db.content(over.body) == BIG  # a reader that has the old item still has its bytes
    at.clock.move(SWEPT_AFTER + timedelta(seconds=1))
    assert set(at.sweep()) == {gone.body.object, over.body.object}
    assert at.names() == [kept.body.object]
    assert at.db.content(kept.body) == BIG + b"!"


def test_of_writers_at_once_one_wins_and_the_objects_of_the_others_are_swept(at: Archive) -> None:
    first = Report(id="r1", body=at.db.large(BIG))
    at.db.write(reports.create(first))

    def change(number: int) -> bytes | None:
        content = BIG + bytes([number])
        try:
            at.db.write(reports.change(first, first.model_copy(update={"body": at.db.large(content)})))
        except Stale:
            return None
        return content

    with ThreadPoolExecutor(8) as pool:
        contents = [content for content in pool.map(change, range(8)) if content is not None]
    found = at.db.one(reports.get("r1"), consistent=True)
    assert found is not None
    assert [at.db.content(found.body)] == contents
    assert len(at.names()) == 9
    at.clock.move(SWEPT_AFTER + timedelta(seconds=1))
    assert len(at.sweep()) == 8
    assert at.names() == [found.body.object]
    assert at.db.content(found.body) == contents[0]


def test_a_sweep_beside_writers_takes_nothing_from_an_item(at: Archive) -> None:
    def write(number: int) -> None:
        body = at.db.large(BIG + bytes([number]))
        at.sweep()
        at.db.write(reports.create(Report(id=f"r{number}", body=body)))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(8)))
    sizes = {at.db.content(report.body)[-1] for report in at.db.every(reports)}
    assert sizes == set(range(8))


def test_a_bucket_that_does_not_exist_is_told_and_no_item_is_written(
    on_s3: Archive, connection: S3Connection
) -> None:
    store = S3Objects(connection, "no-such-bucket", "", on_s3.clock.world())
    db = Db(on_s3.db.call, archive, world=on_s3.clock.world(), objects=store, inline_bytes=100)
    with pytest.raises(BucketUnusable, match="bucket does not exist"):
        db.write(reports.create(Report(id="r1", body=db.large(BIG))))
    assert on_s3.db.one(reports.get("r1"), consistent=True) is None
    on_s3.db.write(reports.create(Report(id="r1", body=on_s3.db.large(BIG))))
    found = db.one(reports.get("r1"))
    assert found is not None
    with pytest.raises(BucketUnusable, match="bucket does not exist"):
        db.content(found.body)


def test_a_large_value_is_a_field_of_an_entity_and_not_inside_of_another() -> None:
    class Inner(BaseModel):
        body: Large

    class Outer(BaseModel):
        id: str
        inner: Inner

    design = Design("nested")
    table = design.table("nested", pk="PK")
    table.entity(Outer, by_id, tag="outer", pk="OUTER#{id}")
    with pytest.raises((DesignRefused, NotStorable), match="field of the entity itself"):
        design.build()


def test_tasks_store_and_read_large_values(at: Archive) -> None:
    async def story() -> None:
        call = ThreadedCall(at.db.call)
        db = AsyncDb(call, archive, world=at.clock.world(), objects=at.store, inline_bytes=100)
        await db.write(reports.create(Report(id="r1", body=await db.large(BIG))))
        found = await db.one(reports.get("r1"))
        assert found is not None
        assert await db.content(found.body) == BIG

    asyncio.run(story())


# --- whatever crashes, and whoever is late ---

Step = tuple[Literal["create", "change", "delete", "crash", "late", "hours", "sweep"], int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["create", "change", "delete", "crash", "late", "hours", "sweep"]), st.integers(0, 1)
    ),
    min_size=10,
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_no_item_names_a_lost_object_and_in_the_end_no_object_is_left_over(steps: list[Step]) -> None:
    with TemporaryDirectory() as home, opened(partial(Directory, Path(home))) as at:
        contents: dict[str, bytes] = {}
        seen: list[Report] = []  # as writers have read them, however long ago
        for number, (step, which) in enumerate(steps):
            id, content = f"r{which}", f"{number}".encode() * 200
            current = at.db.one(reports.get(id), consistent=True)
            seen += [current] if current is not None else []
            match step:
                case "create" if current is None:
                    at.db.write(reports.create(Report(id=id, body=at.db.large(content))))
                    contents[id] = content
                case "change" if current is not None:
                    after = current.model_copy(update={"body": at.db.large(content)})
                    at.db.write(reports.change(current, after))
                    contents[id] = content
                case "delete" if current is not None:
                    at.db.write(reports.delete(current))
                    del contents[id]
                case "crash":  # after the object, before the item
                    at.db.large(content)
                case "late" if seen:  # with what was read then
                    old = seen[which % len(seen)]
                    try:
                        at.db.write(reports.create(old))
                        contents[old.id] = at.db.content(old.body)
                    except (LargeTooOld, AlreadyExists):
                        pass
                    with suppress(Stale, Missing):
                        at.db.write(reports.change(old, old.model_copy(update={"title": f"{number}"})))
                case "hours":
                    at.clock.move(timedelta(hours=(0.9, 30)[which]))
                case "sweep":
                    at.sweep()
            _refuse_lost(at, contents)
        at.clock.move(SWEPT_AFTER * 2)
        at.sweep()
        _refuse_lost(at, contents)
        assert len(at.names()) == len(contents)


def _refuse_lost(at: Archive, contents: dict[str, bytes]) -> None:
    found = {report.id: at.db.content(report.body) for report in at.db.every(reports)}
    assert found == contents
