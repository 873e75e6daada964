"""Events from a file: each line at least once, in the same batches after a crash, nothing dropped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.systems.parental.talk import PHONE, Place

from tablewright.app.runtime import open_app
from tablewright.app.systems import PARENTAL
from tablewright.kit.jobs import Job
from tablewright.systems.parental import design as d
from tablewright.systems.parental.blocked.event_files import EventFile, deliver_all
from tablewright.systems.parental.blocked.events import Batch
from tablewright.systems.parental.blocked.ingest import Ingest


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "blocked.jsonl"


@pytest.fixture
def file(log: Path, tmp_path: Path) -> EventFile:
    return EventFile(log, tmp_path / "place")


def append(log: Path, first: int, count: int) -> None:
    with log.open("a") as file:
        for n in range(first, first + count):
            at = f"2030-06-14T14:{n // 60 % 60:02}:{n % 60:02}Z"
            file.write(json.dumps({"at": at, "phoneNumber": PHONE, "appName": f"App {n}"}) + "\n")


def names(batches: list[Batch]) -> list[str | None]:
    return [event.app_name for batch in batches for event in batch.events]


def test_what_is_appended_is_delivered_once_in_batches(log: Path, file: EventFile) -> None:
    taken: list[Batch] = []
    assert file.deliver(taken.append) == 0  # there is no file yet
    append(log, 0, 2500)
    assert file.deliver(taken.append) == 2500
    assert file.deliver(taken.append) == 0
    append(log, 2500, 3)
    assert file.deliver(taken.append) == 3
    assert names(taken) == [f"App {n}" for n in range(2503)]
    assert [len(batch.events) for batch in taken] == [1000, 1000, 500, 3]
    assert len({batch.batch_id for batch in taken}) == 4


def test_after_a_crash_the_same_lines_are_the_same_batch_though_more_came_meanwhile(
    log: Path, file: EventFile
) -> None:
    taken: list[Batch] = []

    def dies(batch: Batch) -> None:
        taken.append(batch)
        raise SystemExit

    append(log, 0, 10)
    with pytest.raises(SystemExit):
        file.deliver(dies)
    append(log, 10, 5)
    file.deliver(taken.append)
    first, again, rest = taken
    assert first == again
    assert names([rest]) == [f"App {n}" for n in range(10, 15)]


def test_a_line_that_is_not_finished_is_left_for_later(log: Path, file: EventFile) -> None:
    taken: list[Batch] = []
    append(log, 0, 2)
    whole = log.read_bytes()
    log.write_bytes(whole[:-10])
    assert file.deliver(taken.append) == 1
    log.write_bytes(whole)
    assert file.deliver(taken.append) == 1
    assert names(taken) == ["App 0", "App 1"]


def test_a_rotated_file_is_read_to_its_end_before_the_new_one(log: Path, file: EventFile) -> None:
    taken: list[Batch] = []
    append(log, 0, 3)
    file.deliver(taken.append)
    append(log, 3, 2)
    log.rename(log.with_name(f"{log.name}.1"))
    append(log, 100, 2)
    assert file.deliver(taken.append) == 4
    assert names(taken) == ["App 0", "App 1", "App 2", "App 3", "App 4", "App 100", "App 101"]


def test_files_that_were_rotated_while_nobody_read_are_all_read(log: Path, file: EventFile) -> None:
    taken: list[Batch] = []

    def rotate() -> None:
        for number in (2, 1, 0):
            path = log.with_name(f"{log.name}.{number}") if number else log
            if path.exists():
                path.rename(log.with_name(f"{log.name}.{number + 1}"))

    append(log, 0, 1)
    file.deliver(taken.append)
    append(log, 1, 1)
    for first in (10, 20, 30):
        rotate()
        append(log, first, 2)
    assert file.deliver(taken.append) == 7
    assert names(taken) == [f"App {n}" for n in (0, 1, 10, 11, 20, 21, 30, 31)]
    assert file.deliver(taken.append) == 0
    append(log, 40, 1)
    log.with_name(f"{log.name}.3").unlink()
    rotate()
    log.with_name(f"{log.name}.1").unlink()  # what was thrown away before it was read is gone
    append(log, 50, 1)
    file.deliver(taken.append)
    assert names(taken)[-1] == "App 50"


def test_serve_counts_what_is_in_files_of_its_directory(tmp_path: Path) -> None:
    with open_app(tmp_path, systems=(PARENTAL,), seed=False, durability="relaxed", jobs=False) as runtime:
        service = runtime.running[0].service
        (reads,) = [job for job in PARENTAL.jobs(service) if job.name == "files"]
        assert isinstance(reads, Job)
        assert reads.run(service) == 0  # there is no such directory
        events = tmp_path / "systems" / "parental" / "events"
        events.mkdir(parents=True)
        append(events / "east.jsonl", 0, 3)
        append(events / "west.jsonl", 3, 2)
        assert reads.run(service) == 5
        assert reads.run(service) == 0
        assert sum(len(one.events) for one in service.ingest.waiting().items) == 5


def test_of_two_processes_that_read_a_directory_one_delivers(log: Path) -> None:
    append(log, 0, 3)
    taken: list[Batch] = []
    beside: list[int] = []

    def take(batch: Batch) -> None:
        append(log, 3, 1)  # the other would end its batch here
        beside.append(deliver_all(log.parent, taken.append))
        taken.append(batch)

    assert deliver_all(log.parent, lambda batch: take(batch) if not taken else taken.append(batch)) == 4
    assert beside == [0]
    assert names(taken) == [f"App {n}" for n in range(4)]


def test_a_line_that_is_no_event_is_set_aside_and_holds_nobody_up(
    log: Path, file: EventFile, tmp_path: Path
) -> None:
    taken: list[Batch] = []
    append(log, 0, 1)
    with log.open("a") as more:
        more.write('not json\n\n{"at": "2030-06-14T14:00:00Z"}\n')
    append(log, 1, 1)
    assert file.deliver(taken.append) == 2
    assert (tmp_path / "place.refused").read_text() == 'not json\n{"at": "2030-06-14T14:00:00Z"}\n'


def test_a_file_is_counted_once_though_delivery_died_after_counting(
    at: Place, log: Path, file: EventFile
) -> None:
    child = at.child()
    ingest = Ingest(at.parental.repository)

    def counts_and_dies(batch: Batch) -> None:
        ingest.take(batch)
        raise SystemExit

    with log.open("a") as more:
        for _ in range(20):
            line = {"at": at.clock.now().isoformat(), "phoneNumber": PHONE, "appName": "TikTok"}
            more.write(json.dumps(line) + "\n")
    with pytest.raises(SystemExit):
        file.deliver(counts_and_dies)
    assert file.deliver(ingest.take) == 20
    (found,) = at.db.all(d.metrics_of_child(child=child.child))
    assert found.blocked_count == 20
