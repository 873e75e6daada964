"""Copies elsewhere: one a day, of one moment, whole or not there, and nobody else's touched. S3 is moto's server."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.app.away import A_DAY, KEPT, STORE, TABLES, copy_today, copying_of, home, made, names, pet, put

from tablewright import Engine, testing
from tablewright.app.copies.backups import environment_of
from tablewright.app.copies.job import EVERY, TRY_AGAIN, CopyFailed, bring_further, copies_job, tables_to_copy
from tablewright.app.copies.restore import restore_tables
from tablewright.app.copies.store import CopiesUnusable, CopyPlace, moment_name, place_of
from tablewright.app.copies.store_id import kept_id
from tablewright.app.runtime import open_app
from tablewright.app.systems import TRAVEL
from tablewright.client import embedded
from tablewright.engine.transfer.buckets import BucketUnusable, DirectoryBuckets
from tablewright.mapping import Db
from tablewright.systems.parental.design import DESIGNS as PARENTAL_DESIGNS


@pytest.fixture(scope="module")
def s3_url() -> Iterator[str]:
    moto_server = pytest.importorskip("moto.server", reason="S3 is tested against moto's server")
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=["directory", "s3"])
def where(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A place of either kind, with nothing in it."""
    if request.param == "directory":
        (tmp_path / "away").mkdir()
        yield str(tmp_path / "away")
        return
    url: str = request.getfixturevalue("s3_url")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", url)
    client: Any = boto3.client("s3", endpoint_url=url, region_name="us-east-1")
    client.create_bucket(Bucket="our-copies")
    yield "s3://our-copies/skratch"
    for found in client.list_objects_v2(Bucket="our-copies").get("Contents", []):
        client.delete_object(Bucket="our-copies", Key=found["Key"])
    client.delete_bucket(Bucket="our-copies")
    client.close()


@pytest.fixture
def away(tmp_path: Path) -> str:
    (tmp_path / "away").mkdir()
    return str(tmp_path / "away")


@pytest.fixture
def clock() -> testing.Clock:
    return testing.Clock()


def _days(place: CopyPlace) -> list[int]:
    return [copy.at.day for copy in place.copies()]


def _lines(place: CopyPlace, table: int = 0, day: int = -1) -> list[Any]:
    """The items of a table in a copy."""
    copied = place.copies()[day].tables[table]
    found = []
    for key in place.keys(f"{copied.home}data/"):
        with place.open(key) as stream:
            found += [json.loads(line)["Item"] for line in gzip.decompress(stream.read()).splitlines()]
    assert len(found) == copied.items
    return found


def _data(place: CopyPlace) -> set[str]:
    """The moments of which there are files, whole or not."""
    folder = place.key("data", STORE, "")
    return {key.removeprefix(folder).partition("/")[0] for key in place.keys(folder)}


def test_a_day_has_one_copy_of_every_table_and_an_old_one_goes(where: str, clock: testing.Clock) -> None:
    with home(where, clock) as (engine, copying):
        for day in range(4):
            put(engine, f"pet {day}")
            clock.move(timedelta(seconds=1))
            copy_today(engine, copying)
            clock.move(EVERY)
            bring_further(copying)
            clock.move(A_DAY)
        place = copying.place
        assert _days(place) == [3, 4]
        assert len(_data(place)) == 2
        assert [table.name for table in place.copies()[-1].tables] == list(TABLES)
        assert sorted(_lines(place), key=str) == [pet(f"pet {day}") for day in range(4)]
        assert len(_lines(place, 1, 0)) == 3
        with testing.engine() as other:
            restored = restore_tables(embedded(other), place, place.copies()[-1])
            assert [(table.copied, table.found) for table in restored] == [(4, 4), (4, 4)]
            assert names(other, "cats") == names(engine, "cats")


def test_the_tables_of_a_copy_are_as_they_were_at_one_moment(away: str, clock: testing.Clock) -> None:
    with home(away, clock) as (engine, copying):
        put(engine, "before")
        clock.move(timedelta(seconds=2))

        def writing(verb: str, request: Any) -> dict[str, Any]:
            """Somebody writes between the two exports."""
            answer: dict[str, Any] = embedded(engine)(verb, request)
            if verb == "ExportTableToPointInTime":
                clock.move(timedelta(milliseconds=5))
                put(engine, f"meanwhile {request['ClientToken']}")
            return answer

        bring_further(replace(copying, call=writing))
        copy_today(engine, copying)
        assert [_lines(copying.place, table) for table in (0, 1)] == [[pet("before")]] * 2


def test_a_copy_has_what_was_written_before_it_was_begun_also_in_the_same_second(
    away: str, clock: testing.Clock
) -> None:
    """The first copy of a store is begun right after the geography is published, which takes a second or two."""
    with home(away, clock) as (engine, copying):
        clock.move(timedelta(milliseconds=300))
        put(engine, "just now")
        clock.move(timedelta(milliseconds=300))
        copy_today(engine, copying)
        assert [_lines(copying.place, table) for table in (0, 1)] == [[pet("just now")]] * 2


def test_a_copy_is_not_there_before_its_exports_are_done(away: str, clock: testing.Clock) -> None:
    with home(away, clock) as (engine, copying):
        put(engine, "rex")
        states: list[str] = []

        def slow(verb: str, request: Any) -> dict[str, Any]:
            answer: dict[str, Any] = embedded(engine)(verb, request)
            if verb == "ExportTableToPointInTime" and len(states) < 4:
                answer["ExportDescription"]["ExportStatus"] = "IN_PROGRESS"
                states.append(request["ClientToken"])
            return answer

        for _ in range(2):
            bring_further(replace(copying, call=slow))
            engine.settle()
            assert copying.place.copies() == []
        bring_further(replace(copying, call=slow))
        assert len(copying.place.copies()) == 1
        assert len(engine.call("ListExports", {})["ExportSummaries"]) == 2, "each table was exported once"
        assert len(set(states)) == 2


def test_the_newest_copy_stays_however_old_it_is(away: str, clock: testing.Clock) -> None:
    with home(away, clock) as (engine, copying):
        copy_today(engine, copying)
        clock.move(KEPT * 10)

        def refusing(verb: str, request: Any) -> dict[str, Any]:
            answer: dict[str, Any] = embedded(engine)(verb, request)
            if verb == "ExportTableToPointInTime":
                answer["ExportDescription"] |= {"ExportStatus": "FAILED", "FailureCode": "S3AccessDenied"}
            return answer

        with pytest.raises(CopyFailed, match="S3AccessDenied"):
            bring_further(replace(copying, call=refusing))
        assert _days(copying.place) == [1]


def test_old_copies_go_while_new_ones_fail(away: str, clock: testing.Clock) -> None:
    with home(away, clock) as (engine, copying):
        for _ in range(2):
            copy_today(engine, copying)
            clock.move(A_DAY)
        clock.move(KEPT * 2)

        def full(verb: str, request: Any) -> dict[str, Any]:
            if verb == "ExportTableToPointInTime":
                raise BucketUnusable("S3InternalError", "No space left on device")
            answer: dict[str, Any] = embedded(engine)(verb, request)
            return answer

        with pytest.raises(BucketUnusable):
            bring_further(replace(copying, call=full))
        assert _days(copying.place) == [2]


@pytest.mark.parametrize("begun", [b'{"at": "2040-01-01T00:00:00+00:00"}', b"", b"[]"])
def test_a_copy_that_cannot_be_gone_on_with_is_begun_anew(
    away: str, clock: testing.Clock, begun: bytes
) -> None:
    with home(away, clock) as (engine, copying):
        copying.place.put(f"begun/{STORE}.json", begun)
        copy_today(engine, copying)
        assert _days(copying.place) == [1]


def test_a_copy_of_a_clock_that_was_ahead_does_not_cost_the_newest(away: str, clock: testing.Clock) -> None:
    with home(away, clock) as (engine, copying):
        copy_today(engine, copying)
        (copy,) = copying.place.copies()
        ahead = copy.model_copy(update={"at": copy.at + A_DAY * 1000})
        entry = f"whole/{STORE}/{moment_name(ahead.at)}.json"
        copying.place.put(entry, ahead.model_dump_json().encode())
        clock.move(KEPT * 2)
        engine.call("DeleteTable", {"TableName": "dogs"})
        with pytest.raises(CopyFailed):
            bring_further(copying)
        assert len(copying.place.copies()) == 2


def test_what_failed_is_told_each_time_and_begun_anew_after_an_hour(away: str, clock: testing.Clock) -> None:
    with home(away, clock) as (engine, copying):
        put(engine, "rex")
        bring_further(copying)
        engine.settle()
        (lost,) = [key for key in copying.place.keys("data/") if "/data/" in key and "cats" not in key][:1]
        copying.place.remove(lost)
        for _ in range(3):
            with pytest.raises(CopyFailed, match="a file listed in its manifest is missing"):
                bring_further(copying)
            clock.move(EVERY)
        first = _data(copying.place)
        clock.move(TRY_AGAIN)
        copy_today(engine, copying)
        assert len(copying.place.copies()) == 1
        assert _data(copying.place).isdisjoint(first), "what was left of the first attempt is gone"


def test_an_entry_that_is_no_copy_stops_no_other_and_what_it_tells_of_is_left(
    away: str, clock: testing.Clock
) -> None:
    with home(away, clock) as (engine, copying):
        copy_today(engine, copying)
        (entry,) = copying.place.keys("whole/")
        copying.place.put(entry, b"")
        first = _data(copying.place)
        clock.move(A_DAY)
        copy_today(engine, copying)
        assert _days(copying.place) == [2]
        assert first < _data(copying.place)


def test_a_table_whose_past_is_not_kept_is_named(away: str, clock: testing.Clock) -> None:
    with home(away, clock) as (engine, copying):
        engine.call("DeleteTable", {"TableName": "dogs"})
        with pytest.raises(CopyFailed, match="dogs was not copied: ResourceNotFoundException"):
            bring_further(copying)


def test_a_mount_that_is_missing_fails_and_nothing_is_written_in_its_place(
    away: str, clock: testing.Clock
) -> None:
    with home(away, clock) as (_, copying):
        (Path(away) / "tablewright-copies").rmdir()
        with pytest.raises(BucketUnusable):
            bring_further(copying)
        assert list(Path(away).iterdir()) == []


def test_a_mount_that_goes_while_a_copy_is_made_leaves_nothing_in_its_place(
    away: str, clock: testing.Clock, tmp_path: Path
) -> None:
    with home(away, clock) as (engine, copying):
        bring_further(copying)
        # As a mount goes: at once.
        (Path(away) / "tablewright-copies").rename(tmp_path / "gone")
        engine.settle()
        with pytest.raises(BucketUnusable):
            copying.place.put(f"begun/{STORE}.json", b"")
        assert [path.name for path in Path(away).iterdir() if not path.name.startswith(".")] == []
        with pytest.raises(BucketUnusable):
            bring_further(copying)


def test_who_reads_the_log_learns_why_a_place_takes_nothing(
    away: str, clock: testing.Clock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise BucketUnusable("S3InternalError", "No space left on device")

    with home(away, clock) as (engine, copying):
        bring_further(copying)
        monkeypatch.setattr(DirectoryBuckets, "put", full)
        engine.settle()
        with pytest.raises(CopyFailed, match="No space left on device"):
            bring_further(copying)
        clock.move(TRY_AGAIN)
        with pytest.raises(BucketUnusable):
            bring_further(copying)
    facts = vars(caplog.records[-1])
    assert (facts["place"], facts["why"]) == (away, "No space left on device")


def test_a_table_goes_from_a_copy_when_its_own_time_is_over(where: str, clock: testing.Clock) -> None:
    with home(where, clock) as (engine, it):
        copying = replace(it, tables={"cats": A_DAY * 9, "dogs": A_DAY * 2})
        put(engine, "rex")
        clock.move(timedelta(seconds=1))
        for _ in range(5):
            copy_today(engine, copying)
            clock.move(A_DAY)
        copies = copying.place.copies()
        assert [[table.name for table in copy.tables] for copy in copies] == [["cats"]] * 2 + [
            list(TABLES)
        ] * 3
        for copy in copies:
            folder = copying.key("data", moment_name(copy.at), "AWSDynamoDB", "")
            there = {key.removeprefix(folder).partition("/")[0] for key in copying.place.keys(folder)}
            assert {f"{folder}{name}/" for name in there} == {table.home for table in copy.tables}
        assert len(_lines(copying.place, 0, 0)) == 1
        # We died before the rest of it was gone: it goes with the next copy.
        lost = f"{copies[0].tables[0].home.removesuffix('/')}-dogs/data/x.json.gz"
        copying.place.put(lost, b"")
        copy_today(engine, copying)
        assert copying.place.read(lost) is None
        assert len(_lines(copying.place, 0, 0)) == 1
        clock.move(A_DAY * 10)
        copy_today(engine, copying)
        assert len(copying.place.copies()) == len(_data(copying.place)) == 1


def test_stores_that_share_a_place_leave_each_other_alone(away: str, clock: testing.Clock) -> None:
    with home(away, clock) as (engine, copying):
        other = replace(
            copying_of(engine, clock, copying.place, "store-2"), tables=dict.fromkeys(TABLES, A_DAY * 100)
        )
        copy_today(engine, other)
        clock.move(KEPT * 3)
        for _ in range(3):
            copy_today(engine, copying)
            clock.move(A_DAY * 2)
        assert [copy.store for copy in copying.place.copies()] == ["store-2", STORE, STORE]
        assert len(list(copying.place.keys("data/store-2/"))) > 4


def test_files_beside_the_tables_are_added_and_never_taken_away(
    away: str, clock: testing.Clock, tmp_path: Path
) -> None:
    kept = tmp_path / "systems" / "travel"
    (kept / "objects" / "erased").mkdir(parents=True)
    (kept / "secrets").mkdir()
    (kept / "secrets" / "000001.secret").write_bytes(b"x" * 32)
    (kept / "objects" / "erased" / "one.json").write_text("1")
    with home(away, clock) as (engine, copying):
        carrying = replace(copying, beside={"travel": (kept, ("objects/erased",))})
        copy_today(engine, carrying)
        (kept / "objects" / "erased" / "one.json").unlink()
        (kept / "objects" / "erased" / "two.json").write_text("2")
        bring_further(carrying)
        folder = f"beside/{STORE}/travel/objects/erased"
        assert list(copying.place.keys("beside/")) == [f"{folder}/one.json", f"{folder}/two.json"]


def test_what_a_design_says_of_copies_is_heeded_and_another_has_none() -> None:
    with testing.engine() as engine:
        travel = Db(embedded(engine), *TRAVEL.designs, environment=environment_of(TRAVEL.designs))
        parental = Db(embedded(engine), *PARENTAL_DESIGNS, environment=environment_of(PARENTAL_DESIGNS))
        assert tables_to_copy([travel, parental]) == {"skratch-data": timedelta(days=30)}
        assert tables_to_copy([parental]) == {}


@pytest.mark.parametrize("text", ["", "s3://", "s3:", "s3:vault", "/no/such/directory"])
def test_a_place_that_cannot_be_is_refused_before_a_store_is_made(text: str, tmp_path: Path) -> None:
    with pytest.raises(CopiesUnusable):
        open_app(tmp_path / "data", systems=(), copies=text)
    assert not (tmp_path / "data").exists()


def test_what_is_in_memory_has_no_copies_that_nobody_would_remove(away: str) -> None:
    with pytest.raises(CopiesUnusable, match="in memory"):
        open_app(memory=True, systems=(), copies=away)
    assert list(Path(away).iterdir()) == []


def test_a_directory_that_takes_nothing_is_said_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "tablewright-copies").write_text("a file")
    with pytest.raises(CopiesUnusable, match=r"cannot be used for copies: .* name another"):
        open_app(tmp_path / "data", systems=(), copies=str(tmp_path))


def test_a_place_in_s3_has_a_prefix_of_its_own() -> None:
    place = place_of("s3://vault/some/where/")
    assert (place.bucket.name, place.key("whole", "")) == ("vault", "some/where/whole/")


def test_exports_to_other_buckets_stay_where_they_were(
    away: str, clock: testing.Clock, tmp_path: Path
) -> None:
    (Path(away) / "far").mkdir()
    with Engine.open(
        tmp_path / "data", durability="relaxed", world=clock.world(), elsewhere={"far": away}
    ) as it:
        arn = made(it).call("DescribeTable", {"TableName": "cats"})["Table"]["TableArn"]
        for bucket in ("far", "near"):
            it.call("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": bucket})
        it.settle()
    assert list((tmp_path / "data" / "buckets" / "near").iterdir())
    assert list((Path(away) / "far").iterdir())
    assert not (tmp_path / "data" / "buckets" / "far").exists()


def test_a_store_has_one_name_and_never_an_empty_one(tmp_path: Path, clock: testing.Clock) -> None:
    name = kept_id(tmp_path, clock.world())
    assert name == kept_id(tmp_path, clock.world()) != ""
    (tmp_path / "copies.id").write_text("")  # as a power cut can leave it
    assert kept_id(tmp_path, clock.world()) not in ("", name)


def test_copying_is_a_job_whose_words_name_its_place(away: str, clock: testing.Clock) -> None:
    with home(away, clock) as (engine, copying):
        job = copies_job(copying)
        assert (job.name, job.every) == ("copies", EVERY)
        assert away in job.about
        job.run(None)
        engine.settle()
        job.run(None)
        assert len(copying.place.copies()) == 1
