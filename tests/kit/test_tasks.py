"""Tasks: each has its effect exactly once, with several workers and wherever they die; what fails is tried again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import timedelta
from threading import Barrier, Event
from typing import Any

import pytest
from pydantic import BaseModel

from tablewright import testing
from tablewright.client import Call, embedded
from tablewright.design import Data, Design, Load, Retention
from tablewright.kit.tasks import Finished, Handler, Postponed, Task, Worker, add_tasks
from tablewright.mapping import Db
from tablewright.testing import Clock

LEASE = timedelta(minutes=5)


class Reminder(Task):
    """Tells somebody something."""

    who: str = ""


class Letter(BaseModel):
    """A letter that was written: the effect of a reminder."""

    letter_id: str
    count: int = 0


def letter_key(letter_id: str) -> None: ...


SCHOOL = Design("school", about="Reminders.")
table = SCHOOL.table("School", pk="PK", sk="SK", ttl="ttl", about="Everything.")
by_list = table.gsi("ByList", pk="listKey", sk="listSort")
letters = table.entity(
    Letter, letter_key, tag="letter", pk="LETTER#{letter_id}", sk="LETTER",
    retention=Retention(None, "a test"), load={"create": Load(per_month=1)},
)  # fmt: skip
TASKS = add_tasks(SCHOOL, table, Reminder, index=by_list, per_month=100, data={"who": Data.PERSONAL})
SCHOOL.build()


class Died(BaseException):
    """The process ended here."""


@dataclass
class Desk:
    db: Db
    call: Call
    clock: Clock
    ran: list[str] = field(default_factory=list)

    def add(self, who: str = "ana", *, after: timedelta = timedelta(), kind: str = "remind") -> Reminder:
        now = self.clock.now()
        task = Reminder(task_id=f"task-{who}", kind=kind, created_at=now, due_at=now + after, who=who)
        self.db.write(TASKS.add(task))
        return task

    def worker(self, handler: Handler[Reminder] | None = None, **settings: Any) -> Worker[Reminder]:
        return Worker(TASKS, self.db, {"remind": handler or self.remind}, lease=LEASE, **settings)

    def remind(self, task: Reminder) -> Finished:
        self.ran.append(task.who)
        return Finished((letters.upsert(Letter(letter_id=task.who)).at(lambda one: one.count).add(1),))

    def written(self, who: str = "ana") -> int:
        letter = self.db.one(letters.get(who), consistent=True)
        return 0 if letter is None else letter.count

    def task(self, who: str = "ana") -> Reminder:
        found = TASKS.find(self.db, f"task-{who}")
        assert found is not None
        return found


@pytest.fixture
def desk() -> Iterator[Desk]:
    clock = Clock()
    world = replace(clock.world(), jitter=lambda: 0.0)
    with testing.engine(world=world) as engine:
        call = embedded(engine)
        db = Db(call, SCHOOL, world=world)
        db.create_tables()
        yield Desk(db, call, clock)


# --- when it runs ---


def test_a_task_runs_when_it_is_due_and_once(desk: Desk) -> None:
    desk.add(after=timedelta(hours=1))
    assert desk.worker().run_due() == 0
    desk.clock.move(timedelta(hours=1))
    assert [desk.worker().run_due(), desk.worker().run_due()] == [1, 0]
    assert desk.written() == 1


def test_the_task_that_waits_longest_runs_first(desk: Desk) -> None:
    for who, minutes in (("ana", 3), ("ben", 1), ("eva", 2)):
        desk.add(who, after=timedelta(minutes=minutes))
    desk.clock.move(timedelta(hours=1))
    assert desk.worker().run_due() == 3
    assert desk.ran == ["ben", "eva", "ana"]


def test_a_cancelled_task_is_not_run_and_not_finished_by_the_worker_that_has_it(desk: Desk) -> None:
    task = desk.add()

    def cancelled_meanwhile(leased: Reminder) -> Finished:
        desk.db.write(TASKS.cancel(leased.task_id))
        return desk.remind(leased)

    assert desk.worker(cancelled_meanwhile).run_due() == 0
    assert (desk.written(), TASKS.find(desk.db, task.task_id)) == (0, None)


def test_a_task_that_is_not_ready_is_run_again_later_and_has_not_failed(desk: Desk) -> None:
    desk.add()
    later = desk.clock.now() + timedelta(minutes=10)
    assert desk.worker(lambda _: Postponed(later, "a firewall")).run_due() == 0
    task = desk.task()
    assert (task.due_at, task.note, task.failures, task.runs) == (later, "a firewall", 0, 1)
    assert desk.worker().run_due() == 0
    desk.clock.move(timedelta(minutes=10))
    assert desk.worker().run_due() == 1


# --- several workers ---


def test_two_workers_at_once_have_the_effect_of_one(desk: Desk) -> None:
    for number in range(20):
        desk.add(f"child-{number}")
    barrier = Barrier(4)

    def work() -> int:
        worker = desk.worker()
        due = worker.due()
        barrier.wait()
        return sum(worker.run(task.task_id) for task in due)

    with ThreadPoolExecutor(4) as pool:
        finished = [one.result() for one in [pool.submit(work) for _ in range(4)]]
    assert sum(finished) == 20
    assert len(desk.ran) == 20, "a leased task is another's"
    assert all(desk.written(f"child-{number}") == 1 for number in range(20))


def test_a_worker_that_is_slower_than_its_lease_has_no_effect_if_another_was_faster(desk: Desk) -> None:
    desk.add()
    begun, go = Event(), Event()

    def slow(task: Reminder) -> Finished:
        begun.set()
        assert go.wait(30)
        return desk.remind(task)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(desk.worker(slow).run_due)
        assert begun.wait(30)
        desk.clock.move(LEASE)
        assert desk.worker().run_due() == 1
        go.set()
        assert first.result() == 0
    assert (desk.written(), len(desk.ran)) == (1, 2)
    assert desk.task().state == "DONE"


# --- crashes ---


def _dies(desk: Desk, when: Callable[[str], bool]) -> Worker[Reminder]:
    """A worker whose process ends at a call to the store, and makes no other."""
    dead = False

    def call(verb: str, request: Any) -> Any:
        nonlocal dead
        dead = dead or when(verb)
        if dead:
            raise Died
        return desk.call(verb, request)

    db = Db(call, SCHOOL, world=desk.db.world)
    return Worker(TASKS, db, {"remind": desk.remind}, lease=LEASE)


def test_a_crash_between_lease_and_end_costs_a_lease_and_nothing_else(desk: Desk) -> None:
    desk.add()
    with pytest.raises(Died):
        _dies(desk, lambda verb: verb == "TransactWriteItems").run_due()
    assert (desk.ran, desk.written()) == (["ana"], 0)
    assert desk.worker().run_due() == 0, "the lease of the dead"
    desk.clock.move(LEASE)
    assert desk.worker().run_due() == 1
    assert desk.written() == 1


def test_a_crash_before_the_lease_costs_nothing(desk: Desk) -> None:
    desk.add()
    with pytest.raises(Died):
        _dies(desk, lambda verb: verb != "Query").run_due()
    assert desk.worker().run_due() == 1


# --- failures ---


def _fails(task: Reminder) -> Finished:
    raise RuntimeError("with ana@example.com in its text")


def test_pauses_double_up_to_the_longest(desk: Desk) -> None:
    desk.add()
    worker = desk.worker(_fails, longest_pause=timedelta(minutes=4))
    pauses = []
    for _ in range(4):
        before = desk.clock.now()
        assert worker.run_due() == 0
        pauses.append((desk.task().due_at - before) / timedelta(minutes=1))
        desk.clock.move(desk.task().due_at - before)
    assert pauses == [1, 2, 4, 4]
    assert (desk.task().note, desk.task().failures) == ("RuntimeError", 4)


def test_a_task_that_fails_does_not_stop_the_others(desk: Desk) -> None:
    desk.add("ana", kind="unknown")
    desk.add("ben")
    assert desk.worker().run_due() == 1
    assert (desk.task("ana").note, desk.written("ben")) == ("KeyError", 1)


def test_after_so_many_failures_in_a_row_it_is_parked_until_it_is_run_by_hand(desk: Desk) -> None:
    task = desk.add()
    for _ in range(3):
        desk.worker(_fails, park_after=3).run_due()
        desk.clock.move(timedelta(hours=1))
    assert [one.task_id for one in desk.db.all(TASKS.by_state(state="PARKED"))] == [task.task_id]
    assert (desk.worker().run_due(), list(TASKS.open(desk.db))) == (0, [])
    assert desk.worker().run(task.task_id)
    assert desk.written() == 1


def test_without_a_limit_it_is_never_parked(desk: Desk) -> None:
    desk.add()
    for _ in range(30):
        desk.worker(_fails, park_after=None).run_due()
        desk.clock.move(timedelta(hours=1))
    assert (desk.task().state, desk.task().failures) == ("OPEN", 30)


def test_a_task_that_went_well_in_between_starts_counting_again(desk: Desk) -> None:
    desk.add()
    desk.worker(_fails).run_due()
    desk.clock.move(timedelta(hours=1))
    desk.worker(lambda _: Postponed(desk.clock.now())).run_due()
    assert (desk.task().failures, desk.task().note) == (0, None)


# --- by hand, and afterwards ---


def test_a_task_can_be_run_before_it_is_due_but_not_while_a_worker_has_it(desk: Desk) -> None:
    task = desk.add(after=timedelta(days=1))
    tried: list[bool] = []

    def meanwhile(leased: Reminder) -> Finished:
        tried.append(desk.worker().run(leased.task_id))
        return desk.remind(leased)

    assert desk.worker(meanwhile).run(task.task_id)
    assert (tried, desk.written()) == ([False], 1)
    assert not desk.worker().run(task.task_id), "it is done"
    assert not desk.worker().run("task-nobody")


def test_what_is_done_is_listed_without_what_it_was_about_and_is_forgotten(desk: Desk) -> None:
    desk.add("ana")
    desk.clock.move(timedelta(minutes=1))
    desk.add("ben")
    for who in ("ana", "ben"):
        desk.worker().run(f"task-{who}")
        desk.clock.move(timedelta(minutes=1))
    done = list(desk.db.all(TASKS.history()))
    assert [(one.task_id, one.kind, one.who, one.runs) for one in done] == [
        ("task-ben", "remind", "", 1),
        ("task-ana", "remind", "", 1),
    ]
    desk.clock.move(timedelta(days=31))
    assert list(desk.db.all(TASKS.history())) == []
