"""Long work that is finished whatever happens: a new e-mail address, a new number, a number given up, a child or a
whole family erased, a guardian who left.

An errand is written with the change it follows from. Each run of it does what is left to do, in steps that may be
repeated; a crash, a device that is away or another process in the middle of it cost a repetition, nothing else. Must
hold: an errand goes only after a run that found nothing left, some time after it began, because others may have written
by what they knew before (an ingester keeps children in memory for a while).
Elsewhere: what is done (number_change.py, erasure.py), what starts them (children.py, guardians.py, privacy.py,
deletion.py), when they run (jobs.py).
"""

import logging
from collections.abc import Callable, Mapping
from typing import TypeAlias

from tablewright.design import Query
from tablewright.kit.erased import ErasedList
from tablewright.mapping import Missing, Stale
from tablewright.systems.parental import design as d
from tablewright.systems.parental.family.erasure import Erasing
from tablewright.systems.parental.family.number_change import Moving, Reconcile
from tablewright.systems.parental.model import Errand, ErrandKind
from tablewright.systems.parental.repository import Repository

log = logging.getLogger("tablewright.parental")

# Does what is left of a task; returns what it waits for, None if nothing is left.
Work: TypeAlias = Callable[[Errand], str | None]
# Those that ask firewalls, of their child.
ON_DEVICES: frozenset[ErrandKind] = frozenset(("number", "release", "erase"))


class Errands:
    """Runs background tasks."""

    def __init__(self, repository: Repository, reconcile: Reconcile, erased: ErasedList) -> None:
        self._repository = repository
        moving, self._erasing = Moving(repository, reconcile), Erasing(repository, reconcile, erased)
        self._work: Mapping[ErrandKind, Work] = {
            "email": moving.email,
            "number": moving.number,
            "release": moving.release,
            "erase": self._erasing.child,
            "family": self._erasing.family,
            "guardian": self._erasing.guardian,
        }

    def run(self) -> int:
        """Run one step of every task that is due; returns how many finished."""
        return sum([self.step(one) for one in self.due()])

    def due(self) -> list[Errand]:
        """Those whose time has come, oldest first."""
        now = self._repository.now()
        found = self._repository.db.all(d.open_errands())
        return [one for one in found if one.begins_at is None or one.begins_at <= now]

    def listed(self) -> Query[Errand]:
        """The query of all open tasks, for a page that lists them."""
        return d.open_errands()

    def take_up(self, errand_id: str) -> bool:
        """A step of one that waited for its turn, as it is now; nothing if it is done or was called off."""
        errand = self._repository.db.one(d.errands.get(errand_id), consistent=True)
        return errand is not None and self.step(errand)

    def erase_again(self) -> int:
        """After a restore: begin again every erasure that is on the list; how many had come back."""
        begun = self._erasing.again()
        for errand in begun:
            if errand.kind not in ON_DEVICES:
                self.step(errand)  # guardians of an erased family lose access now
        return len(begun)

    def open(self, family_id: str) -> list[Errand]:
        """What is not finished for a family."""
        return self._erasing.open(family_id)

    def step(self, errand: Errand) -> bool:
        """Do what is left of one; whether it is finished. A failure is told to the log and tried again later."""
        try:
            waits_for = self._work[errand.kind](errand)
            if waits_for is None and self._repository.now() >= errand.settles_at:
                self._repository.db.write(*self._erasing.last(errand))
                return True
        except Exception as error:
            # One task that fails must not stop the others.
            log.warning("errand failed", extra={"kind": errand.kind, "mistake": type(error).__name__})
            waits_for = type(error).__name__
        after = errand.model_copy(update={"tried": errand.tried + 1, "waits_for": waits_for})
        try:
            self._repository.db.write(d.errands.change(errand, after))
        except (Stale, Missing):
            log.debug("errand is another's")  # another process was at it: it has done the same
        return False
