"""Exports from the inside: in steps, over restarts, beside writes; what changed between two moments."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import Json, definition, item, keyed, put, records
from tests.engine.transfer_requests import (
    ARN,
    QUARTER,
    changes,
    describe,
    export,
    recoverable,
    small_pieces,
    written,
)

from tablewright import Engine, ServiceError, testing
from tablewright.engine.history import time_travel


@pytest.fixture
def buckets(tmp_path: Path) -> Path:
    return tmp_path / "buckets"


@pytest.fixture
def pets(clock: testing.Clock, buckets: Path) -> Iterator[SteppedEngine]:
    """In memory, with a table of pets that can be recovered."""
    engine = SteppedEngine.open(world=clock.world(), durability="relaxed", buckets=buckets)
    with engine:
        assert isinstance(engine, SteppedEngine)
        engine.call("CreateTable", definition())
        recoverable(engine)
        clock.move(timedelta(seconds=1))
        yield engine
        engine.settle()
        assert engine.verify() == []


def seconds(clock: testing.Clock) -> float:
    return clock.now().timestamp()


def names(lines: list[Json]) -> list[str]:
    return sorted(line["Item"]["pk"]["S"] for line in lines)


def fill(engine: Engine, count: int = 9) -> None:
    for number in range(count):
        engine.call("PutItem", put(f"pet {number}", number=number))


# --- full exports ---


def test_files_come_one_by_one_and_the_counts_grow_with_them(pets: SteppedEngine, buckets: Path) -> None:
    fill(pets)
    arn = export(pets)
    counts = []
    with small_pieces(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(time_travel, "PAGE_ITEMS", 2)
        while describe(pets, arn)["ExportStatus"] == "IN_PROGRESS":
            counts.append(describe(pets, arn)["ItemCount"])
            assert not list(buckets.rglob("manifest-summary.json"))
            assert pets.verify() == []
            assert pets.job_step()
    assert len(set(counts)) > 3
    assert counts == sorted(counts)
    assert names(written(buckets, describe(pets, arn))) == [f"pet {n}" for n in range(9)]


@pytest.mark.parametrize("steps", range(8))
def test_writes_while_it_goes_on_are_not_in_it(pets: SteppedEngine, buckets: Path, steps: int) -> None:
    fill(pets)
    arn = export(pets)
    with small_pieces(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(time_travel, "PAGE_ITEMS", 2)
        for _ in range(steps):
            pets.job_step()
        for number in range(9):
            pets.call("PutItem", put(f"pet {number}", number=100))
            pets.call("PutItem", put(f"late {number}"))
        pets.call("DeleteItem", keyed("pet 3"))
        pets.settle()
    lines = written(buckets, describe(pets, arn))
    assert sorted(lines, key=json.dumps) == sorted(
        ({"Item": item(f"pet {n}", number=n)} for n in range(9)), key=json.dumps
    )


def test_any_moment_of_the_window_can_be_exported(
    pets: SteppedEngine, clock: testing.Clock, buckets: Path
) -> None:
    moments = []
    for number in range(5):
        pets.call("PutItem", put(f"pet {number}"))
        moments.append(seconds(clock))
        clock.move(timedelta(hours=20))
    for number, moment in enumerate(moments):
        arn = export(pets, ExportTime=moment)
        pets.settle()
        assert names(written(buckets, describe(pets, arn))) == [f"pet {n}" for n in range(number + 1)]


def test_what_an_export_needs_stays_though_the_window_has_passed_it(
    pets: SteppedEngine, clock: testing.Clock, buckets: Path
) -> None:
    fill(pets)
    arn = export(pets)
    clock.move(timedelta(seconds=1))
    for number in range(9):
        pets.call("DeleteItem", keyed(f"pet {number}"))
    clock.move(timedelta(days=40))
    while pets.background.run_maintenance_step(due=True):
        pass
    pets.settle()
    assert len(written(buckets, describe(pets, arn))) == 9


def test_a_store_that_is_opened_again_goes_on(store: Path, clock: testing.Clock) -> None:
    with small_pieces(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(time_travel, "PAGE_ITEMS", 2)
        with SteppedEngine.stepped(store, world=clock.world()) as engine:
            engine.call("CreateTable", definition())
            recoverable(engine)
            fill(engine)
            arn = export(engine)
        steps = 0
        while True:
            with SteppedEngine.stepped(store, world=clock.world()) as engine:
                assert engine.verify() == []
                if describe(engine, arn)["ExportStatus"] != "IN_PROGRESS":
                    break
                assert engine.job_step()
                steps += 1
    assert steps > 4
    with Engine.open(store, world=clock.world()) as engine:
        assert names(written(store / "buckets", describe(engine, arn))) == [f"pet {n}" for n in range(9)]


def test_changes_are_told_on_from_any_file(pets: SteppedEngine, clock: testing.Clock, buckets: Path) -> None:
    start = seconds(clock)
    for _ in range(2):
        fill(pets)
    pets.call("PutItem", put("pet 3", number=77))
    clock.move(QUARTER)
    arn = changes(pets, start)
    steps = 0
    with small_pieces():
        while pets.job_step():
            pets._session.memory.clear()  # as if the store had been opened again
            steps += 1
    assert steps > 9
    told_of = [line["Keys"]["pk"]["S"] for line in written(buckets, describe(pets, arn))]
    assert sorted(told_of) == [f"pet {n}" for n in range(9)]


def test_a_file_that_was_written_and_not_noted_is_written_again_in_its_place(
    pets: SteppedEngine, buckets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cut(Exception):
        pass

    def cut(*_: object) -> None:
        raise Cut

    fill(pets)
    arn = export(pets)
    with monkeypatch.context() as patched:
        patched.setattr("tablewright.engine.transfer.store.add_export_file", cut)
        patched.setattr("tablewright.engine.engine.log.error", lambda *_, **__: None)
        with pytest.raises(ServiceError, match="InternalServerError"):
            pets.settle()
    before = list(buckets.rglob("*.json.gz"))
    assert len(before) == 1
    pets.settle()
    assert list(buckets.rglob("*.json.gz")) == before
    assert len(written(buckets, describe(pets, arn))) == 9


def test_two_exports_are_done_one_after_the_other(pets: SteppedEngine, buckets: Path) -> None:
    fill(pets, 3)
    first = export(pets)
    pets.call("PutItem", put("late"))
    second = export(pets)
    with small_pieces():
        pets.settle()
    assert len(written(buckets, describe(pets, first))) == 3
    assert len(written(buckets, describe(pets, second))) == 4


# --- what changed between two moments ---


def test_each_key_is_told_once_as_it_was_before_and_is_after(
    pets: SteppedEngine, clock: testing.Clock, buckets: Path
) -> None:
    for name in ("stays", "changes", "goes", "goes and comes", "changes back"):
        pets.call("PutItem", put(name, number=1))
    clock.move(QUARTER)
    start = seconds(clock)
    for number in (2, 3):
        clock.move(timedelta(seconds=1))
        pets.call("PutItem", put("changes", number=number))
        pets.call("PutItem", put("changes back", number=3 - number))
    last = clock.now()
    pets.call("DeleteItem", keyed("goes"))
    pets.call("DeleteItem", keyed("goes and comes"))
    pets.call("PutItem", put("goes and comes", number=9))
    pets.call("PutItem", put("comes", number=4))
    pets.call("PutItem", put("comes and goes"))
    pets.call("DeleteItem", keyed("comes and goes"))
    clock.move(QUARTER)
    end = seconds(clock)
    pets.call("PutItem", put("stays", number=5))
    clock.move(timedelta(seconds=1))
    with small_pieces():
        both = changes(pets, start, end)
        new = changes(pets, start, end, "NEW_IMAGE")
        pets.settle()
    at = {"Metadata": {"WriteTimestampMicros": {"N": f"{last.timestamp():.0f}000000"}}}
    found = {line["Keys"]["pk"]["S"]: line for line in written(buckets, describe(pets, both))}
    assert found == {
        "changes": _line(at, "changes", 1, 3),
        "changes back": _line(at, "changes back", 1, 0),
        "goes": _line(at, "goes", 1, None),
        "goes and comes": _line(at, "goes and comes", 1, 9),
        "comes": _line(at, "comes", None, 4),
    }
    for line in found.values():
        line.pop("OldImage", None)
    assert {line["Keys"]["pk"]["S"]: line for line in written(buckets, describe(pets, new))} == found


def _line(at: Json, name: str, old: int | None, new: int | None) -> Json:
    line = {**at, "Keys": item(name)}
    if old is not None:
        line["OldImage"] = item(name, number=old)
    if new is not None:
        line["NewImage"] = item(name, number=new)
    return line


def test_the_first_moment_belongs_to_a_period_and_the_last_does_not(
    pets: SteppedEngine, clock: testing.Clock, buckets: Path
) -> None:
    start = seconds(clock)
    pets.call("PutItem", put("first"))
    clock.move(QUARTER)
    pets.call("PutItem", put("last"))
    clock.move(QUARTER)
    arns = [changes(pets, start, start + 900), changes(pets, start + 900), changes(pets, start)]
    pets.settle()
    found = [[line["Keys"]["pk"]["S"] for line in written(buckets, describe(pets, arn))] for arn in arns]
    assert [sorted(names) for names in found] == [["first"], ["last"], ["first", "last"]]


def test_changes_of_other_tables_are_no_part_of_it(
    pets: SteppedEngine, clock: testing.Clock, buckets: Path
) -> None:
    start = seconds(clock)
    pets.call("CreateTable", definition("others"))
    pets.call("PutItem", put("theirs", "others"))
    pets.call("PutItem", put("ours"))
    clock.move(QUARTER)
    arn = changes(pets, start)
    pets.settle()
    assert [line["Keys"]["pk"]["S"] for line in written(buckets, describe(pets, arn))] == ["ours"]


def test_a_period_in_which_nothing_happened_leaves_an_empty_file(
    pets: SteppedEngine, clock: testing.Clock, buckets: Path
) -> None:
    start = seconds(clock)
    clock.move(QUARTER)
    arn = changes(pets, start)
    pets.settle()
    assert written(buckets, describe(pets, arn)) == []
    (data,) = (buckets / "vault" / "AWSDynamoDB" / "data").iterdir()
    assert data.name.endswith(".json.gz")


def test_a_summary_of_changes_tells_the_period_and_the_view(
    pets: SteppedEngine, clock: testing.Clock, buckets: Path
) -> None:
    start = seconds(clock)
    clock.move(QUARTER)
    arn = changes(pets, start, view="NEW_IMAGE")
    pets.settle()
    description = describe(pets, arn)
    assert description["IncrementalExportSpecification"] == {
        "ExportFromTime": start,
        "ExportToTime": seconds(clock),
        "ExportViewType": "NEW_IMAGE",
    }
    assert "ExportTime" not in description
    summary = json.loads((buckets / "vault" / description["ExportManifest"]).read_bytes())
    assert summary["version"] == "2023-08-01"
    assert summary["exportFromTime"] == "2026-01-01T00:00:01.000Z"
    assert summary["exportToTime"] == "2026-01-01T00:15:01.000Z"
    assert (summary["outputView"], summary["exportType"]) == ("NEW_IMAGE", "INCREMENTAL_EXPORT")


def test_the_journal_stays_until_the_changes_are_written(
    pets: SteppedEngine, clock: testing.Clock, buckets: Path
) -> None:
    start = seconds(clock)
    fill(pets)
    clock.move(QUARTER)
    arn = changes(pets, start)
    pets.call(
        "UpdateContinuousBackups",
        {"TableName": "pets", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False}},
    )
    clock.move(timedelta(days=2))
    while pets.background.run_maintenance_step(due=True):
        pass
    assert len(records(pets)) >= 9
    pets.settle()
    assert len(written(buckets, describe(pets, arn))) == 9
    assert len(records(pets)) == 1


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (
            -3600,
            0,
            "Incremental export period from time cannot be less than the table creation time : 2026-01-02T23:00:01Z",
        ),
        (
            3600,
            86_400 * 2 + 1,
            "Incremental export period to time cannot be greater than the current time : 2026-01-05T00:00:02Z",
        ),
        (
            3600,
            3600,
            "Incremental export period from time should not be greater or equal to incremental export period "
            "to time",
        ),
        (
            3600,
            3600 + 899,
            "Difference between export period from time and export period to time is less than 15 minutes",
        ),
        (
            3600,
            3600 + 86_401,
            "Difference between export period from time and export period to time is greater than 24 hours",
        ),
        (0, 900, "Point in Time Recovery is not available for specified export time"),
    ],
)
def test_a_period_is_between_a_quarter_and_a_day_within_the_window(
    clock: testing.Clock, buckets: Path, start: int, end: int, message: str
) -> None:
    clock.move(timedelta(days=2, seconds=1))
    created = seconds(clock)
    with testing.engine(world=clock.world(), buckets=buckets) as engine:
        engine.call("CreateTable", definition())
        clock.move(timedelta(minutes=30))
        recoverable(engine)
        clock.move(timedelta(days=2) - timedelta(minutes=30))
        with pytest.raises(ServiceError) as refusal:
            changes(engine, created + start, created + end)
        assert (refusal.value.name, refusal.value.message) == ("InvalidExportTimeException", message)
        assert engine.call("ListExports", {}) == {"ExportSummaries": []}


# --- tokens, time, places ---


def test_a_token_is_good_for_eight_hours(pets: SteppedEngine, clock: testing.Clock) -> None:
    first = export(pets, ClientToken="once")
    pets.settle()
    clock.move(timedelta(hours=8))
    assert export(pets, ClientToken="once") == first
    clock.move(timedelta(seconds=1))
    assert export(pets, ClientToken="once") != first


def test_exports_are_told_of_for_ninety_days(pets: SteppedEngine, clock: testing.Clock) -> None:
    arn = export(pets)
    pets.settle()
    clock.move(timedelta(days=90))
    assert describe(pets, arn)["ExportStatus"] == "COMPLETED"
    clock.move(timedelta(seconds=1))
    with pytest.raises(ServiceError, match="ExportNotFoundException"):
        describe(pets, arn)
    assert pets.call("ListExports", {}) == {"ExportSummaries": []}
    pets.settle()
    assert list(pets._storage.writes.connection.execute("SELECT * FROM export_files")) == []


def test_an_engine_in_memory_without_buckets_says_how_to_have_some(engine: Engine) -> None:
    recoverable(engine)
    with pytest.raises(ServiceError, match=r"Engine.open\(buckets=DIR\)"):
        export(engine)


def test_a_store_on_disk_has_its_buckets_beside_it(store: Path) -> None:
    with testing.engine(store) as engine:
        engine.call("CreateTable", definition())
        recoverable(engine)
        arn = export(engine)
        engine.settle()
        assert written(store / "buckets", describe(engine, arn)) == []


def test_a_place_that_cannot_be_written_to_fails_the_export_with_a_reason(
    pets: SteppedEngine, buckets: Path
) -> None:
    buckets.mkdir()
    (buckets / "vault").write_text("not a directory")
    arn = export(pets)
    pets.settle()
    description = describe(pets, arn)
    assert (description["ExportStatus"], description["FailureCode"]) == ("FAILED", "S3InternalError")
    assert "the bucket vault cannot be used" in description["FailureMessage"]
    # A failed export keeps its token: trying again is another request.
    assert not pets.job_step()


def test_no_more_exports_than_the_service_takes(pets: SteppedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablewright.engine.api.exports.EXPORTS_AT_ONCE", 2)
    for _ in range(2):
        export(pets)
    with pytest.raises(ServiceError, match="LimitExceededException"):
        export(pets)


def test_a_region_of_its_own_is_in_the_names(buckets: Path) -> None:
    with Engine.open(region="af-south-1", buckets=buckets) as engine:
        engine.call("CreateTable", definition())
        recoverable(engine)
        asked = {"TableArn": ARN.replace("us-east-1", "af-south-1"), "S3Bucket": "vault"}
        arn = engine.call("ExportTableToPointInTime", asked)["ExportDescription"]["ExportArn"]
        assert arn.startswith("arn:aws:dynamodb:af-south-1:")
        engine.settle()
        assert describe(engine, arn)["ExportStatus"] == "COMPLETED"


# --- filters ---

BIG = {
    "FilterExpression": "#n >= :n",
    "ExpressionAttributeNames": {"#n": "number"},
    "ExpressionAttributeValues": {":n": {"N": "6"}},
}


def test_a_filtered_export_goes_on_after_a_restart(store: Path, clock: testing.Clock) -> None:
    with SteppedEngine.stepped(store, clock.world()) as engine:
        engine.call("CreateTable", definition())
        recoverable(engine)
        fill(engine)
        arn = export(engine, FilterSpecification=BIG)
        # The table's keys are in the export: it does not need the table any more.
        engine.call("DeleteTable", {"TableName": "pets"})
    steps = 0
    with small_pieces(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(time_travel, "PAGE_ITEMS", 2)
        while True:
            with SteppedEngine.stepped(store, clock.world()) as engine:
                assert engine.verify() == []
                if describe(engine, arn)["ExportStatus"] != "IN_PROGRESS":
                    break
                assert engine.job_step()
                steps += 1
    assert steps > 4
    with SteppedEngine.stepped(store, clock.world()) as engine:
        assert names(written(store / "buckets", describe(engine, arn))) == ["pet 6", "pet 7", "pet 8"]


def test_an_export_in_which_nothing_matches_has_one_empty_file(pets: SteppedEngine, buckets: Path) -> None:
    fill(pets)
    only = {**BIG, "ExpressionAttributeValues": {":n": {"N": "100"}}}
    arn = export(pets, FilterSpecification=only)
    with small_pieces(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(time_travel, "PAGE_ITEMS", 2)
        pets.settle()
    assert written(buckets, describe(pets, arn)) == []
    assert len(list(buckets.rglob("*.json.gz"))) == 1


def test_changes_are_those_of_the_items_that_match(
    pets: SteppedEngine, clock: testing.Clock, buckets: Path
) -> None:
    for name, number in (("grows", 1), ("shrinks", 9), ("stays", 8), ("small", 2)):
        pets.call("PutItem", put(name, number=number))
    clock.move(QUARTER)
    start = seconds(clock)
    for name, number in (("grows", 7), ("shrinks", 3), ("stays", 6), ("small", 1)):
        pets.call("PutItem", put(name, number=number))
    clock.move(QUARTER)
    period = {"ExportFromTime": start, "ExportToTime": seconds(clock)}
    only = {**BIG, "ProjectionExpression": "#n"}
    arn = export(
        pets,
        ExportType="INCREMENTAL_EXPORT",
        IncrementalExportSpecification=period,
        FilterSpecification=only,
    )
    pets.settle()
    lines = {line["Keys"]["pk"]["S"]: line for line in written(buckets, describe(pets, arn))}
    images = {name: (line.get("OldImage"), line.get("NewImage")) for name, line in lines.items()}
    assert images == {
        "grows": (None, {"number": {"N": "7"}}),
        "shrinks": ({"number": {"N": "9"}}, None),
        "stays": ({"number": {"N": "8"}}, {"number": {"N": "6"}}),
    }
