"""Long work that is finished whatever happens: a new e-mail address, a new number, a number given up, a child or a
whole family erased, a guardian who left.

A task is written with the change it follows from (kit/tasks.py). Each run of it does what is left to do, in steps that
may be repeated. Must hold: a task ends only after a run that found nothing left, some time after it began, because
others may have written by what they knew before (an ingester keeps children in memory for a while); it is never parked.
Elsewhere: what is done (number_change.py, erasure.py), what starts them (children.py, guardians.py, privacy.py,
deletion.py), when they run (jobs.py).
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import TypeAlias

from tablewright.design import Query
from tablewright.kit.tasks import Finished, Handler, Postponed, Worker
from tablewright.systems.parental import design as d
from tablewright.systems.parental.family.erasure import Erasing
from tablewright.systems.parental.family.number_change import Moving, Reconcile
from tablewright.systems.parental.family.subjects import FamilySubjects
from tablewright.systems.parental.model import FamilyTask, TaskKind
from tablewright.systems.parental.repository import Repository

# Does what is left of a task; returns what it waits for, None if nothing is left.
Work: TypeAlias = Callable[[FamilyTask], str | None]
# Those that ask firewalls, of their child.
ON_DEVICES: frozenset[str] = frozenset(("number", "release", "erase"))


class FamilyTasks:
    """Runs the tasks of families."""

    def __init__(self, repository: Repository, reconcile: Reconcile, people: FamilySubjects) -> None:
        self._repository = repository
        moving, self._erasing = Moving(repository, reconcile), Erasing(repository, reconcile, people)
        work: Mapping[TaskKind, Work] = {
            "email": moving.email,
            "number": moving.number,
            "release": moving.release,
            "erase": self._erasing.child,
            "family": self._erasing.family,
            "guardian": self._erasing.guardian,
        }
        handlers: dict[str, Handler[FamilyTask]] = {
            kind: partial(self._step, each) for kind, each in work.items()
        }
        # An erasure is never given up, and what failed is tried again a minute later: there are few of them.
        self.worker = Worker(
            d.tasks, repository.db, handlers, longest_pause=timedelta(minutes=1), park_after=None
        )

    def run_due(self) -> int:
        """Run one step of every task that is due; returns how many finished."""
        return self.worker.run_due()

    def run(self, task: FamilyTask) -> FamilyTask:
        """Run a step of a task now, due or not; returns the task after it."""
        self.worker.run(task.task_id)
        after = d.tasks.find(self._repository.db, task.task_id)
        return task if after is None or after.state == "DONE" else after

    def listed(self) -> Query[FamilyTask]:
        """The query of all open tasks, for a page that lists them."""
        return d.tasks.by_state(state="OPEN")

    def finished(self, most: int) -> list[FamilyTask]:
        """The latest finished tasks."""
        return list(islice(self._repository.db.all(d.tasks.history()), most))

    def erase_again(self) -> int:
        """After a restore: begin again every erasure that is on the list; how many had come back."""
        begun = self._erasing.again()
        for task in begun:
            if task.kind not in ON_DEVICES:
                self.run(task)  # guardians of an erased family lose access now
        return len(begun)

    def open(self, family_id: str) -> list[FamilyTask]:
        """What is not finished for a family."""
        return self._erasing.open(family_id)

    def _step(self, work: Work, task: FamilyTask) -> Finished | Postponed:
        waits_for, now = work(task), self._repository.now()
        if waits_for is None and now >= task.settles_at:
            return Finished(tuple(self._erasing.last(task)))
        return Postponed(now, waits_for)
