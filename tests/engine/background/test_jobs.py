"""Long work beside the writer: kinds take turns, one that throws is left alone for a while, and nobody waits."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engine.history_requests import back_up
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import definition, put

from tablewright import Engine, ServiceError
from tablewright.engine.background import threads as keeper_module
from tablewright.engine.background.jobs import JOBS, JobScheduler
from tablewright.engine.background.session import EngineClosed, Session
from tablewright.engine.errors import invalid
from tablewright.engine.transaction import ReadTransaction, WriteTransaction


def kind(name: str, times: int, done: list[str]) -> Callable[[Session], bool]:
    left = [times]

    def step(_: Session) -> bool:
        if left[0] == 0:
            return False
        left[0] -= 1
        done.append(name)
        return True

    return step


def test_kinds_take_turns_until_none_has_anything_to_do(engine: Engine) -> None:
    done: list[str] = []
    turns = JobScheduler([kind("a", 3, done), kind("b", 1, done), kind("c", 2, done)])
    while turns.step(engine._session):
        pass
    assert done == ["a", "b", "c", "a", "c", "a"]


def test_one_that_throws_is_passed_over_until_it_is_forgiven(engine: Engine) -> None:
    done: list[str] = []

    def broken(_: Session) -> bool:
        done.append("broken")
        raise ZeroDivisionError

    turns = JobScheduler([broken, kind("b", 3, done)])
    with pytest.raises(ZeroDivisionError) as thrown:
        turns.step(engine._session)
    turns.mark_failed(thrown.value)
    while turns.step(engine._session):
        pass
    assert done == ["broken", "b", "b", "b"]
    assert turns.retry_failed()
    assert not turns.retry_failed()
    with pytest.raises(ZeroDivisionError):
        turns.step(engine._session)


def test_the_one_that_threw_is_passed_over_whoever_steps_the_others_meanwhile() -> None:
    done: list[str] = []
    began = threading.Event()

    def broken(_: Session) -> bool:
        done.append("broken")
        raise ZeroDivisionError

    class Slowly(JobScheduler):
        def mark_failed(self, error: Exception) -> None:
            began.set()
            another.join(0.1)
            super().mark_failed(error)

    with SteppedEngine.stepped() as engine:
        engine.background.jobs = Slowly([broken, kind("b", 3, done), kind("c", 3, done)])
        another = threading.Thread(
            target=lambda: began.wait() and engine.background.run_job_step(), daemon=True
        )
        another.start()
        assert engine.background.try_job_step()
        another.join()
        while engine.background.run_job_step():
            pass
    assert done == ["broken", "b", "c", "b", "c", "b", "c"]


def test_settling_waits_for_what_is_passed_over() -> None:
    done: list[str] = []

    def broken_once(_: Session) -> bool:
        done.append("tried")
        if len(done) == 1:
            raise ZeroDivisionError
        return False

    with SteppedEngine.stepped() as engine:
        engine.background.jobs = JobScheduler([broken_once])
        assert engine.background.try_job_step()
        engine.settle()
        assert done == ["tried", "tried"]


def test_the_thread_outlives_a_labour_that_throws_and_tries_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    again = threading.Event()
    tries: list[int] = []

    def broken(_: Session) -> bool:
        tries.append(1)
        if len(tries) > 2:
            again.set()
            return False
        raise ZeroDivisionError("an item's secret")

    monkeypatch.setattr(keeper_module, "JOBS", (broken, *JOBS))
    monkeypatch.setattr(keeper_module, "RETRY_SECONDS", 0.01)
    with Engine.open(durability="relaxed") as engine:
        engine.call("CreateTable", definition())
        arn = back_up(engine)
        assert again.wait(20)
        engine.settle()
        described = engine.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]["BackupDetails"]
        assert described["BackupStatus"] == "AVAILABLE"
    assert "background job failed" in caplog.text
    assert "secret" not in caplog.text


def test_a_backup_is_made_by_the_thread_without_anybody_asking(store: Path) -> None:
    with Engine.open(store, durability="relaxed") as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("rex"))
        arn = back_up(engine)
        waited = threading.Event()
        for _ in range(2000):
            shown = engine.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]["BackupDetails"]
            if shown["BackupStatus"] == "AVAILABLE":
                break
            waited.wait(0.01)
        assert shown["BackupStatus"] == "AVAILABLE"


def test_a_write_through_the_door_is_committed_when_it_is_answered_and_undone_when_it_is_refused(
    either: Engine,
) -> None:
    def deed(writing: WriteTransaction) -> int:
        writing.rows.add_to_counts(("tables", 1, 0))
        return writing.rows.counts("tables")[0]

    assert either._session.write(deed) == 2
    assert either._session.read(lambda reading: reading.rows.counts("tables")[0]) == 2

    def refused(writing: WriteTransaction) -> None:
        raise invalid("no")

    with pytest.raises(ServiceError, match="no"):
        either._session.write(refused)
    either._session.write(lambda writing: writing.rows.add_to_counts(("tables", -1, 0)))


def test_a_look_through_the_door_sees_one_moment(store: Path) -> None:
    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("a"))

        def look(reading: ReadTransaction) -> tuple[int, int]:
            before = reading.rows.last_sequence()[0]
            writer = threading.Thread(target=engine.call, args=("PutItem", put("b")))
            writer.start()
            writer.join()
            return before, reading.rows.last_sequence()[0]

        assert engine._session.read(look) == (1, 1)
        assert engine._session.read(lambda reading: reading.rows.last_sequence()[0]) == 2


def test_rows_that_are_newer_than_the_catalog_are_read_again(store: Path) -> None:
    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition())
        looks: list[tuple[int, int]] = []

        def look(reading: ReadTransaction) -> tuple[int, int]:
            if not looks:
                engine.call("CreateTable", definition("later"))
                engine.call("PutItem", put("a", table="later"))
            looks.append((len(reading.tables), reading.rows.last_sequence()[0]))
            return looks[-1]

        assert engine._session.read(look) == (2, 1)
        assert looks[0] == (1, 1), "it has met what it is about"


def test_a_look_that_meets_a_table_being_dropped_looks_again(store: Path) -> None:
    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition())
        seen: list[bool] = []

        def look(reading: ReadTransaction) -> str:
            seen.append("pets" in reading.tables)
            if len(seen) == 1:
                engine.call("DeleteTable", {"TableName": "pets"})
                raise LookupError
            return "gone" if "pets" not in reading.tables else "there"

        assert engine._session.read(look) == "gone"
        assert seen == [True, False]


def test_the_doors_of_a_closed_engine_stay_closed(store: Path) -> None:
    engine = SteppedEngine.stepped(store)
    engine.close()
    with pytest.raises(EngineClosed):
        engine._session.read(lambda reading: None)
    with pytest.raises(EngineClosed):
        engine._session.write(lambda writing: None)
