"""Blocked travellers, and the erasure of an account (SK-X5, SK-X7, SK-D25).

An account is erased a week after its owner asked; until then they can change their mind. Then its items are deleted,
and its parked changes, then or later. A copy of the table that is restored later brings it back: `apply_deletions`
erases it again, from a list that is stored outside of the table (kit/erased.py).
Must hold: after an erasure no key, no index and no item contains anything of the traveller; the proof that is kept is a
keyed hash, some times and a number; an account that cannot be erased does not delay the others.
Elsewhere: what is deleted (subjects.py), how often it is tried (jobs.py), the settings themselves (sync/push.py), what
others see (places/public_profiles.py).
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from tablewright.design import Write, absent
from tablewright.edge.errors import BadRequest, Conflict
from tablewright.english import moment
from tablewright.kit.erased import ErasedList
from tablewright.kit.keyring import KeyRing
from tablewright.kit.subjects import Subject
from tablewright.mapping import Page, Parked, WriteRefused, forget_parked, parked_key
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.model import Block, Erasure, Profile
from tablewright.systems.travel.outbox import Outbox
from tablewright.systems.travel.repository import Repository

log = logging.getLogger("tablewright.travel")

UNDO = timedelta(days=7)
# Writes that were in progress at the start are complete by then; the second round deletes them.
SETTLES = timedelta(minutes=5)
# A change parked for this long is corrected by the recounts, and contains what its traveller wrote.
PARKED_KEPT = timedelta(days=30)
LOOKED_AT = 200
BLOCKS_AT_MOST = 500
BACKUPS = "Backups made before keep a copy until they expire after at most 35 days. Restored backups are cleaned first."
_PURPOSE = "erased"


class Privacy:
    """Blocks, and the end of an account."""

    def __init__(
        self,
        repository: Repository,
        keyring: KeyRing,
        traveller: Subject[str],
        erased: ErasedList,
        outbox: Outbox,
        forget_exports: Callable[[Iterable[str]], object],
    ) -> None:
        self._repository, self._keyring, self._traveller = repository, keyring, traveller
        self._list, self._outbox, self._forget_exports = erased, outbox, forget_exports

    # --- blocks ---

    def block(self, user_id: str, blocked_id: str) -> Block:
        """From now on neither sees the other. The answer does not reveal whether this traveller exists."""
        if user_id == rules.check_id(blocked_id, "user_id"):
            raise BadRequest("CANNOT_BLOCK_YOURSELF", "You can't block yourself.", "user_id")
        return self._repository.retried(None, lambda: self._blocked(user_id, blocked_id))

    def _blocked(self, user_id: str, blocked_id: str) -> Block:
        # Read before they are counted: a block made at the same time changes its number, and this one starts over.
        before = self._repository.profile(user_id)
        known = {block.blocked_id: block for block in self._repository.db.all(d.blocks_of(user_id=user_id))}
        if blocked_id in known:
            return known[blocked_id]
        if len(known) >= BLOCKS_AT_MOST:
            raise Conflict("TOO_MANY_BLOCKS", f"You can block at most {BLOCKS_AT_MOST} people.", "user_id")
        after = before.model_copy(update={"blocks_made": (before.blocks_made or 0) + 1})
        made = Block(user_id=user_id, blocked_id=blocked_id, blocked_at=self._repository.now())
        self._repository.write("USER", d.profiles.change(before, after), d.blocks.create(made))
        return made

    def unblock(self, user_id: str, blocked_id: str) -> None:
        self._repository.db.write(d.blocks.discard(user_id, blocked_id))

    def blocks(self, user_id: str, size: int | None = None, after: str | None = None) -> Page[Block]:
        return self._repository.page(d.blocks_of(user_id=user_id), size, after, user_id)

    # --- the end of an account, until it begins ---

    def ask(self, user_id: str, actor: str, *, role: str = "user", after: timedelta = UNDO) -> Erasure:
        """Erase the account in a week; asked for again, it is the same week."""
        return self._repository.retried(None, lambda: self._asked(user_id, actor, role, after))

    def _asked(self, user_id: str, actor: str, role: str, wait: timedelta) -> Erasure:
        before = self._repository.profile(user_id)
        if before.erasure_id is not None:
            found = self._repository.db.one(d.erasures.get(before.erasure_id), consistent=True)
            if found is not None:
                return found
        now = self._repository.now()
        erasure = Erasure(
            erasure_id=self._repository.world.new_id(),
            user_id=user_id,
            user_hash=self._keyring.hmac(_PURPOSE, user_id),
            asked_at=now,
            due_at=now + wait,
        )
        after = before.model_copy(
            update={"erasure_id": erasure.erasure_id, "erases_at": erasure.due_at, "updated_at": now}
        )
        writes: list[Write[Any]] = [d.profiles.change(before, after), d.erasures.create(erasure)]
        if before.email is not None:
            values = {"when": moment(erasure.due_at)}
            writes.append(self._outbox.mail(user_id, before.email, "erasure", values))
        done = self._repository.audit(user_id, "erasure asked for", actor, role)
        self._repository.write("USER", *writes, done)
        return erasure

    def keep(self, user_id: str, actor: str, *, role: str = "user") -> Profile:
        """Cancel the erasure."""
        return self._repository.retried(None, lambda: self._kept(user_id, actor, role))

    def _kept(self, user_id: str, actor: str, role: str) -> Profile:
        before = self._repository.profile(user_id)
        if before.erasure_id is None:
            return before
        id = before.erasure_id
        after = before.model_copy(update={"erasure_id": None, "erases_at": None})
        # If it is kept and its erasure begins at the same moment, one of the two is refused.
        gone = d.erasures.discard(id).when(lambda it: absent(it.begun_at))
        done = self._repository.audit(user_id, "erasure undone", actor, role)
        try:
            self._repository.db.write(d.profiles.change(before, after), gone, done)
        except WriteRefused:
            found = self._repository.db.one(d.erasures.get(id), consistent=True)
            if found is not None and found.begun_at is not None:
                raise Conflict(
                    "ERASURE_BEGUN", "It's too late: the account is already being erased."
                ) from None
            raise
        return after

    def erasures(self, until: datetime | None = None) -> Iterator[Erasure]:
        """Requested erasures that are not complete, the earliest first."""
        return self._repository.db.all(d.erasures_due(until=until))

    def erased(self) -> Iterator[Erasure]:
        """Completed erasures, the latest first."""
        return self._repository.db.all(d.erasures_done())

    # --- the end itself ---

    def erase_due(self) -> int:
        """Do what is due; returns how many erasures this completed."""
        due = list(islice(self.erasures(until=self._repository.now()), LOOKED_AT))
        settled = [erasure for erasure in due if self._tried(erasure, self._begun)]
        # Every time, and after the list was written: a change that is still in the stream may be parked after the end.
        self.forget_parked()
        if settled:
            # Together: a look goes through all files that are kept. If it fails, all of them are tried again.
            self._forget_exports([erasure.user_id for erasure in settled if erasure.user_id is not None])
        return sum(self._tried(erasure, self._ended) for erasure in settled)

    def _tried(self, erasure: Erasure, step: Callable[[Erasure], bool]) -> bool:
        """An erasure that fails does not stop the others."""
        try:
            return step(erasure)
        except Exception as mistake:
            facts = {"erasure": erasure.erasure_id, "mistake": type(mistake).__name__}
            log.error("account not erased", extra=facts)
            return False

    def _begun(self, erasure: Erasure) -> bool:
        """The first round, if it was not done; whether it is time for the last, which comes a while after it.

        Begun is not done: a round that failed is done again, or the last one would be the only one.
        """
        now = self._repository.now()
        if erasure.user_id is None or erasure.due_at > now:
            return False
        if erasure.wiped_at is not None:
            return now - erasure.wiped_at >= SETTLES
        begun = erasure
        if erasure.begun_at is None:
            begun = erasure.model_copy(update={"begun_at": now})
            try:
                self._repository.db.write(d.erasures.change(erasure, begun))
            except WriteRefused:
                return False  # kept at the last moment, or begun by another process
        # From here on it cannot be undone, so a copy that is restored may not bring it back either.
        self._note(begun)
        count = begun.items + self._wipe(erasure.user_id)
        after = begun.model_copy(update={"items": count, "wiped_at": self._repository.now()})
        self._repository.try_write(d.erasures.change(begun, after))
        return False

    def _ended(self, erasure: Erasure) -> bool:
        assert erasure.user_id is not None
        count = erasure.items + self._wipe(erasure.user_id)
        done = {"user_id": None, "done_at": self._repository.now(), "is_open": False, "items": count}
        after = erasure.model_copy(update=done)
        # The list first: after a crash in between this is repeated, and no erasure is missing on the list.
        self._note(after)
        if not self._repository.try_write(d.erasures.change(erasure, after)):
            return False
        log.info("account erased", extra={"erasure": erasure.erasure_id, "items": count})
        return True

    def _wipe(self, user_id: str) -> int:
        """Everything of a traveller that is there now; how many items it was."""
        return sum(self._traveller.erase(user_id).erased.values())

    def forget_parked(self) -> int:
        """Delete parked changes that are too old, or of erased travellers; returns how many."""
        before = self._repository.now() - PARKED_KEPT
        hashes: list[frozenset[str]] = []  # read when something is parked, which is seldom

        def goes(record: Parked) -> bool:
            if not hashes:
                hashes.append(frozenset(each.user_hash for each in self.deletions()))
            return record.first_tried < before or self._is_erased(_owner_of(record), hashes[0])

        return forget_parked(self._repository.db, d.table.table.name, d.FOLLOWER, goes)

    # --- the list, and what a restored copy brings back ---

    def _note(self, erasure: Erasure) -> None:
        """On the list: the proof as it is kept in the table, without whose it is."""
        self._list.note(erasure.erasure_id, erasure.model_copy(update={"user_id": None}))

    def deletions(self) -> list[Erasure]:
        """The proofs of all erasures on the list, with keyed hashes of the travellers."""
        found = (self._list.proof(entry, Erasure) for entry in self._list.entries())
        return [proof for proof in found if proof is not None]

    def is_restored(self) -> bool:
        """Whether the table is an older copy: the list knows of an erasure that the table says was not begun."""
        return bool(self._unknown(self.deletions()))

    def _unknown(self, deletions: Sequence[Erasure]) -> list[Erasure]:
        gets = [d.erasures.get(each.erasure_id) for each in deletions]
        there = self._repository.db.many(gets, consistent=True)
        return [
            each
            for each, found in zip(deletions, there, strict=True)
            if found is None or found.begun_at is None
        ]

    def apply_deletions(self) -> int:
        """After a copy of the table was restored: erase the accounts on the list at once; returns how many came back.

        Their erasures are recorded last: after a crash before that the table is still seen as an older copy.
        """
        deletions = self.deletions()
        hashes = frozenset(each.user_hash for each in deletions)
        enrolled = (it.user_id for it in self._repository.db.all(d.travellers_after()) if hashes)
        back = [user_id for user_id in enrolled if self._is_erased(user_id, hashes)]
        if back:
            self._forget_exports(back)
        for user_id in back:
            self._wipe(user_id)
        self.forget_parked()
        now = self._repository.now()
        for each in self._unknown(deletions):
            done = {"begun_at": each.begun_at or now, "done_at": each.done_at or now, "is_open": False}
            self._repository.db.write(d.erasures.put(each.model_copy(update=done)))
        return len(back)

    def _is_erased(self, user_id: str, hashes: frozenset[str]) -> bool:
        return not hashes.isdisjoint(self._keyring.hmacs(_PURPOSE, user_id))


def _owner_of(record: Parked) -> str:
    """Whose item a record is about: everything that is followed lies with its traveller."""
    partition: str = parked_key(record)[d.table.table.pk]["S"]
    return partition.partition("#")[2]
