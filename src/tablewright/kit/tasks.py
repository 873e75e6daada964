"""Tasks: durable delayed work. A task is written with the change that causes it, and runs when it is due.

    TASKS = add_tasks(DESIGN, table, Reminder, index=by_list, per_month=100)   # in a design
    db.write(orders.create(order), TASKS.add(Reminder(...)))                   # with what causes it
    worker = Worker(TASKS, db, {"remind": lambda task: Finished((outbox.mail(...),))})
    worker.run_due()                                                           # a job, in any number of processes

A task is leased before its handler runs, so one worker has it at a time; when its lease has run out (the process died)
it is due again. A handler returns `Finished` with the writes that are its effect: they are one transaction with the
end of the task, on the condition that the lease still holds. Must hold: those writes happen exactly once, however many
workers run and wherever they die. Anything else that a handler does may happen again, so it has to be repeatable.
A handler that raises is run again after a pause that doubles; after `park_after` failures in a row the task is PARKED
and waits for `run(task_id)`, by hand. A task that is DONE keeps its kind and times for a while, and nothing else.
Elsewhere: what runs the worker (a system's jobs.py), work over everybody (rounds.py).
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from tablewright.design import (
    Data,
    Design,
    DesignTable,
    Entity,
    Expires,
    Index,
    Keys,
    Load,
    Pattern,
    Retention,
    States,
    Write,
    between,
)
from tablewright.mapping import Db, Missing, Stale

log = logging.getLogger("tablewright.tasks")

TaskState: TypeAlias = Literal["OPEN", "PARKED", "DONE"]
TASK_STATES = States(
    "state",
    start="OPEN",
    moves={"OPEN": {"DONE": ("worker",), "PARKED": ("worker",)}, "PARKED": {"OPEN": ("operator",)}},
)
BATCH_SIZE = 100
HISTORY_KEPT = timedelta(days=30)


class Task(BaseModel):
    """What every task has; a system's own has what it is about besides, each field with a default.

    `due_at` is when it runs next; while it is leased, when the lease runs out. `failures` are those in a row. `note`
    says what it waits for, or how it failed last.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True)

    task_id: str
    kind: str
    state: TaskState = "OPEN"
    created_at: datetime
    due_at: datetime
    leased_until: datetime | None = None
    runs: int = 0
    failures: int = 0
    note: str | None = None
    expires_at: datetime | None = None
    version: int = 1


T = TypeVar("T", bound=Task)


@dataclass(frozen=True, slots=True)
class Finished:
    """Nothing is left to do but these writes, which end the task with them."""

    writes: tuple[Write[Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Postponed:
    """Not finished and not failed: run again at `until`."""

    until: datetime
    note: str | None = None


Handler: TypeAlias = Callable[[T], Finished | Postponed]


@dataclass(frozen=True, slots=True)
class Tasks(Generic[T]):
    """The tasks of a design."""

    entity: Entity[T, [str]]
    by_state: Pattern[..., T]
    history: Pattern[..., T]

    def add(self, task: T) -> Write[T]:
        """To be written with the change that the task follows from."""
        return self.entity.create(task)

    def cancel(self, task_id: str) -> Write[T]:
        """The worker that runs it at this moment cannot finish it."""
        return self.entity.discard(task_id)

    def find(self, db: Db, task_id: str) -> T | None:
        return db.one(self.entity.get(task_id), consistent=True)

    def open(self, db: Db) -> Iterator[T]:
        """Every task that is not finished or parked, the one that is due first first."""
        return db.all(self.by_state(state="OPEN"))


def task_key(task_id: str) -> None: ...


def add_tasks(
    design: Design,
    table: DesignTable,
    model: type[T],
    *,
    index: Index,
    per_month: int,
    data: Mapping[str, Data] | None = None,
) -> Tasks[T]:
    """Tasks in a table, listed in an index of it; `data` says what is personal of a system's own fields."""
    entity = table.entity(
        model,
        task_key,
        tag="task",
        pk="TASK#{task_id}",
        sk="TASK",
        on={index: Keys("TASKS#{state}", "{due_at:ms}#{task_id}")},
        version="version",
        states=TASK_STATES,
        expires=Expires("expires_at"),
        data=data,
        retention=Retention(None, "until it is finished; then its kind and its times for 30 days"),
        load={
            "create": Load(per_month=per_month, item_bytes=500, transaction=True),
            "change": Load(per_month=3 * per_month, item_bytes=500, transaction=True),
        },
    )

    @design.query(
        entity, on=index, pk="TASKS#{state}", sk=between("{since:ms}", "{until:ms}"), page=50,
        load=Load(per_month=50_000, items=1, item_bytes=500),
    )  # fmt: skip
    def tasks_by_state(
        *, state: TaskState, since: datetime | None = None, until: datetime | None = None
    ) -> None:
        """Tasks by state, the one that is due first first."""

    @design.query(
        entity, on=index, pk="TASKS#{state}", descending=True, page=50,
        load=Load(per_month=100, items=20, item_bytes=300),
    )  # fmt: skip
    def task_history(*, state: TaskState = "DONE") -> None:
        """Finished tasks, the newest first."""

    return Tasks(entity, tasks_by_state, task_history)


@dataclass(frozen=True, slots=True)
class Worker(Generic[T]):
    """Runs tasks by their kind. A `lease` is longer than a handler takes; `park_after` None retries for ever."""

    tasks: Tasks[T]
    db: Db
    handlers: Mapping[str, Handler[T]]
    lease: timedelta = timedelta(minutes=5)
    first_pause: timedelta = timedelta(minutes=1)
    longest_pause: timedelta = timedelta(hours=1)
    park_after: int | None = 10

    def due(self, at_most: int = BATCH_SIZE) -> list[T]:
        """Tasks whose time has come, the one that waits longest first."""
        return list(islice(self.db.all(self.tasks.by_state(state="OPEN", until=self._now())), at_most))

    def run_due(self) -> int:
        """Run each task that is due once; returns how many finished."""
        return sum([self._run(task) for task in self.due()])

    def run(self, task_id: str) -> bool:
        """Run a task now, also one that is parked or not due; True if it finished here. Not if a worker has it."""
        task = self.tasks.find(self.db, task_id)
        return task is not None and task.state != "DONE" and self._run(task)

    # --- parts ---

    def _run(self, task: T) -> bool:
        leased = self._lease(task)
        if leased is None:
            return False
        try:
            outcome = self.handlers[leased.kind](leased)
            if isinstance(outcome, Finished):
                self.db.write(
                    *outcome.writes, self.tasks.entity.move(leased, self._done(leased), by="worker")
                )
                return True
            after = _changed(leased, due_at=outcome.until, failures=0, note=outcome.note)
        except Exception as error:
            # One task that fails does not stop the others.
            after = self._failed(leased, type(error).__name__)
        with suppress(Stale, Missing):  # the lease ran out and another worker has it, or it was cancelled
            self.db.write(self._write(leased, after, "worker"))
        return False

    def _write(self, before: T, after: T, by: str) -> Write[T]:
        entity = self.tasks.entity
        is_move = before.state != after.state
        return entity.move(before, after, by=by) if is_move else entity.change(before, after)

    def _lease(self, task: T) -> T | None:
        """The task, leased; None if another worker was faster or has it."""
        now = self._now()
        if task.leased_until is not None and task.leased_until > now:
            return None
        until = now + self.lease
        after = _changed(task, state="OPEN", due_at=until, leased_until=until, runs=task.runs + 1)
        # Only OPEN tasks are due: one that is parked is run by hand.
        write = self._write(task, after, "operator")
        try:
            self.db.write(write)
        except (Stale, Missing):
            return None
        return write.item

    def _failed(self, leased: T, error: str) -> T:
        failures = leased.failures + 1
        is_parked = self.park_after is not None and failures >= self.park_after
        log.warning(
            "task parked" if is_parked else "task failed", extra={"kind": leased.kind, "mistake": error}
        )
        pause = min(self.first_pause * 2 ** min(failures - 1, 20), self.longest_pause)
        return _changed(
            leased,
            state="PARKED" if is_parked else "OPEN",
            # A little less for some, so that not all come at once.
            due_at=self._now() + pause * (1 - self.db.world.jitter() / 4),
            failures=failures,
            note=error,
        )

    def _done(self, leased: T) -> T:
        """What stays of it: nothing of what it was about."""
        now = self._now()
        return type(leased)(
            task_id=leased.task_id,
            kind=leased.kind,
            state="DONE",
            created_at=leased.created_at,
            due_at=now,
            runs=leased.runs,
            expires_at=now + HISTORY_KEPT,
            version=leased.version,
        )

    def _now(self) -> datetime:
        now = self.db.world.now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)


def _changed(task: T, **fields: object) -> T:
    return task.model_copy(update={"leased_until": None, **fields})
