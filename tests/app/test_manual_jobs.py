"""Long work: told, found again, interrupted by a restart, never run twice at once."""

import threading
from datetime import timedelta
from pathlib import Path

import pytest

from tablewright import testing
from tablewright.app.design import Work, works
from tablewright.app.manual_jobs import WorkStopped, progress_of
from tablewright.app.runtime import Runtime, open_app
from tablewright.kit.system import Progress


def test_work_ends_with_its_result_and_can_be_found_again(runtime: Runtime) -> None:
    work = runtime.works.start("count", "Count", lambda progress: {"answer": 42}, by="Rosa")
    runtime.works.wait(work.id)
    found = runtime.works.find(work.id)
    assert found is not None
    assert (found.state, found.result, found.by) == ("DONE", {"answer": 42}, "Rosa")
    assert [each.id for each in runtime.works.recent()] == [work.id]


def test_work_that_fails_says_how(runtime: Runtime) -> None:
    def failing(progress: Progress) -> None:
        raise ValueError("the table is gone")

    work = runtime.works.start("count", "Count", failing, by="Rosa")
    runtime.works.wait(work.id)
    found = runtime.works.find(work.id)
    assert found is not None
    assert (found.state, found.error) == ("FAILED", "ValueError: the table is gone")


def test_the_same_work_is_not_begun_twice_at_once(runtime: Runtime) -> None:
    go = threading.Event()
    first = runtime.works.start("count", "Count", lambda progress: go.wait(10), by="Rosa")
    second = runtime.works.start("count", "Count", lambda progress: None, by="Tom")
    other = runtime.works.start("count", "Count another", lambda progress: None, by="Tom")
    assert second.id == first.id
    assert other.id != first.id
    go.set()
    runtime.works.wait(first.id)
    assert runtime.works.start("count", "Count", lambda progress: None, by="Tom").id != first.id


def test_running_work_tells_percent_rate_and_time_left(runtime: Runtime, clock: testing.Clock) -> None:
    told_once, go = threading.Event(), threading.Event()

    def job(progress: Progress) -> None:
        progress(25, 100, "items")
        told_once.set()
        go.wait(10)

    work = runtime.works.start("count", "Count", job, by="Rosa")
    assert told_once.wait(10)
    clock.move(timedelta(seconds=5))
    found = runtime.works.find(work.id)
    assert found is not None
    progress = progress_of(found, runtime.world)
    assert (progress.percent, progress.rate, progress.seconds_left) == (25, 5.0, 15.0)
    go.set()


def test_closing_interrupts_what_runs_and_a_restart_says_so(tmp_path: Path) -> None:
    begun = threading.Event()

    def endless(progress: Progress) -> None:
        while True:
            progress(1, None, "items")
            begun.set()

    with open_app(tmp_path, systems=()) as runtime:
        work = runtime.works.start("count", "Count", endless, by="Rosa")
        assert begun.wait(10)
    with pytest.raises(WorkStopped):
        runtime.works.start("count", "Count", endless, by="Rosa")
    with open_app(tmp_path, systems=()) as runtime:
        found = runtime.works.find(work.id)
        assert found is not None
        assert found.state == "INTERRUPTED"


def test_work_of_a_process_that_was_killed_is_said_to_be_interrupted(tmp_path: Path) -> None:
    with open_app(tmp_path, systems=()) as runtime:
        now = runtime.world.now()
        left = Work(id="w1", kind="count", title="Count", by="Rosa", started=now, updated=now)
        runtime.db.write(works.create(left))
    with open_app(tmp_path, systems=()) as runtime:
        found = runtime.works.find("w1")
        assert found is not None
        assert found.state == "INTERRUPTED"
