"""The erasure of a person: begun in one transaction, run at once, repeated until nothing is left (ZC-27, ZC-S10).

The transaction that begins it marks the person's row, on which every message, summary, memory and row of an adapter
depends; so whatever is written is written before, and found, or refused. What a process had sealed before it noticed
that the key is destroyed is found by a second run, two minutes later.
A parent leaves every family in that first transaction: no later change of the families can stop the erasure, and of two
parents who are the last ones of children, one is refused.
Must hold: the task is written with the mark, so that a crash at any point only delays it; the certificate is on the
list outside of the tables, and a restored table is erased again from that list.
Elsewhere: what is removed (privacy.py), the list (kit/erased.py).
"""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import NotFound
from tablewright.english import moment
from tablewright.kit.erased import Certificate, ErasedList
from tablewright.kit.tables import digest
from tablewright.kit.tasks import Finished, Postponed, Worker
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family.access_log import AccessLog
from tablewright.systems.chat.family.families import Families
from tablewright.systems.chat.family.people import People, actor_of, subject_of
from tablewright.systems.chat.family.privacy import Privacy
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Task
from tablewright.systems.chat.repository import SYSTEM, Repository
from tablewright.systems.chat.talk.conversations import RemoveThread

log = logging.getLogger("tablewright.chat")

ERASE, REQUESTED = "erase", "erasure requested"
# Longer than another process uses a key that was destroyed (kit/subject_keys.py).
SETTLES = timedelta(minutes=2)


class Erasure:
    """Erases people. That the caller may is checked before (access.py)."""

    def __init__(
        self,
        repository: Repository,
        people: People,
        families: Families,
        privacy: Privacy,
        access_log: AccessLog,
        erased: ErasedList,
        remove_thread: RemoveThread,
    ) -> None:
        self._repository, self._people, self._families = repository, people, families
        self._privacy, self._access_log, self._erased = privacy, access_log, erased
        self._remove_thread = remove_thread
        # One that fails is tried again each minute, for ever.
        self._worker = Worker(
            d.tasks, repository.db, {ERASE: self.run}, longest_pause=timedelta(minutes=1), park_after=None
        )

    def erase(self, user: User, by: User, reason: str | None = None) -> Certificate:
        """Erase a person now; the certificate. Asked for again, an interrupted erasure goes on.

        Without a reason, the log has who asked for it. LAST_PARENT for the last parent of children.
        """
        said = reason or _reason(user, by)
        task_id = self._repository.retried(None, lambda: self._begin(user.user_id, by, said))
        self._worker.run(task_id)
        return self.certificate(user.user_id)

    def certificate(self, user_id: str) -> Certificate:
        """The proof of an erasure, finished or not; CERTIFICATE_NOT_FOUND."""
        found = self._erased.proof(user_id, Certificate)
        if found is None:
            raise NotFound("CERTIFICATE", "This person was not erased.")
        return found

    def certificate_for(self, by: User, user_id: str) -> Certificate:
        """The certificate, for the person who asked for the erasure and for administrators."""
        asked = self._repository.db.all(self._repository.compliance_log(f"child:{user_id}"))
        own = any(one.action == REQUESTED and one.actor == by.user_id for one in asked)
        if by.role != "administrator" and not own:
            raise NotFound("CERTIFICATE", "This person was not erased.")
        return self.certificate(user_id)

    # --- the beginning ---

    def _begin(self, user_id: str, by: User, reason: str) -> str:
        """Mark the person and add the task, unless that is done; the id of the task."""
        before, task_id = self._people.by_id(user_id), f"{ERASE}-{digest(user_id)}"
        if before.standing != "active":
            return task_id
        now, (families, leaving) = self._repository.now(), self._leaving_as_parent(user_id)
        update = {
            "standing": "erasing",
            "scopes": [],
            "consent_generation": before.consent_generation + 1,
            "left_families": families or None,
        }
        task = Task(
            task_id=task_id, kind=ERASE, created_at=now, due_at=now, user_id=user_id, subject=by.user_id
        )
        self._repository.write(
            "USER",
            d.users.move(before, before.model_copy(update=update), by=_actor(user_id, by)),
            *leaving,
            d.tasks.add(task),
            self._repository.audit(subject_of(before), REQUESTED, actor_of(by), reason=reason),
            self._access_log.entry(user_id, by, reason, "erasure", "compliance"),
        )
        return task_id

    def _leaving_as_parent(self, user_id: str) -> tuple[list[str], list[Write[Any]]]:
        """The families in which someone is a parent, and the writes with which they leave these; LAST_PARENT."""
        membership, left, writes = self._families.membership, [], list[Write[Any]]()
        for place in membership.places_of(user_id):
            # The family first: if the parent is removed in between, the write at its version is refused.
            family = membership.family(place.family_id)
            parent = membership.parent(place.family_id, user_id)
            if family is not None and parent is not None:
                left.append(family.family_id)
                writes += membership.left(family, parent)
        return left, writes

    # --- tasks ---

    def run(self, task: Task) -> Finished | Postponed:
        """The handler of the task: erase the existing items; done after a second run."""
        user = self._people.find(task.user_id)
        if user is None:
            return Finished()
        certificate = self._privacy.subject_for(user).erase(user)
        settled = task.created_at + SETTLES
        if self._repository.now() < settled:
            return Postponed(settled, "rows that were written while it began")
        return Finished(
            (*self._told(task.subject, task.user_id, certificate), self._proof(user, certificate))
        )

    def run_thread_removal(self, task: Task) -> Finished:
        """A task: remove a thread of an outside model that did not answer before."""
        self._remove_thread(task.subject)
        return Finished()

    def erase_again(self) -> int:
        """Erase again everyone on the list whom a restored table brought back; how many.

        One who cannot be erased yet, as the last parent of children who came back too, is tried again by the next run
        and is in the way of no one else.
        """
        return sum(self._erase_if_back(entry) for entry in self._erased.entries())

    # --- parts ---

    def _erase_if_back(self, user_id: str) -> bool:
        try:
            if not self._is_back(user_id):
                return False
            user = self._people.find(user_id) or self._mark(user_id)
            self._privacy.subject_for(user).erase(user)
        except Exception as mistake:
            # By digest, as in the name of the certificate: the log says nothing about who it is.
            about = {"person": digest(user_id), "mistake": getattr(mistake, "code", type(mistake).__name__)}
            log.error("a restored person was not erased again", extra=about)
            return False
        return True

    def _is_back(self, user_id: str) -> bool:
        user = self._people.find(user_id)
        if user is not None and user.standing != "erased":
            return True
        return self._repository.db.first(d.everything_of_user(user_id=user_id)) is not None

    def _mark(self, user_id: str) -> User:
        """A row for someone whose data came back without it."""
        mark = User(
            user_id=user_id, role="student", name="", standing="erasing", created_at=self._repository.now()
        )
        self._repository.try_write(d.users.create(mark))
        return mark

    def _proof(self, user: User, certificate: Certificate) -> Write[Any]:
        return self._repository.audit(
            subject_of(user), "erased", SYSTEM, None, {"erased": dict(certificate.erased)}
        )

    def _told(self, by_id: str, user_id: str, certificate: Certificate) -> Sequence[Write[Any]]:
        by = self._people.find(by_id)
        if by is None or by.email is None or by.user_id == user_id:
            return ()
        done = certificate.done_at or self._repository.now()
        values = {
            "day": moment(done),
            "counts": "\n".join(
                f"{number} x {name.replace('_', ' ')}" for name, number in certificate.erased.items()
            ),
            "kept": "\n".join(f"{name.replace('_', ' ')}: {why}" for name, why in certificate.kept.items()),
            "certificate": digest(user_id),
        }
        return (self._repository.outbox.mail(by.email, "child erased", values, by.user_id),)


def _actor(user_id: str, by: User) -> str:
    """Who asks for the erasure, as in the moves of USER_STATES. Staff may be parents too."""
    if by.user_id == user_id:
        return "self"
    return "administrator" if by.role == "administrator" else "parent"


def _reason(user: User, by: User) -> str:
    if user.user_id == by.user_id:
        return "asked for by the person"
    return "a parent opted out" if by.role == "parent" else f"asked for by the {by.role}"
