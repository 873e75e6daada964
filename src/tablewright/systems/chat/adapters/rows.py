"""Rows that an adapter writes for one user, and the conditions under which it may.

    rows = UserRows(chat, "child-1", "active_conversation")
    rows.write(d.agent_files.put(file), *placed.writes)

Must hold: every write depends, in its transaction, on the user not being erased and on the consent that was read last;
so an erasure that has begun refuses each later write (ZC-S10), and no adapter writes for a child without consent
(ZC-X1). Writes that fit one transaction (99 actions, 3.5 MB) are one call; what was stored as an object for a refused
write is removed again.
Elsewhere: values (values.py), deletion of everything (agent_state.py).
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias, TypeVar

from tablewright.design import Write
from tablewright.kit.tables import RACES, is_user_id
from tablewright.mapping import ConditionNotMet, Missing, WriteRefused
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.values import Placed, Values
from tablewright.systems.chat.agent_model import AgentObject, AgentRow
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.errors import Erased, NoConsent
from tablewright.systems.chat.family.consent import may_chat, may_disclose, may_profile
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import RetentionClass
from tablewright.systems.chat.talk.message_writes import user_check

# A transaction has at most 100 actions, and one of them is the condition on the user; it has at most 4 MB.
_ACTIONS, _BYTES = 99, 3_500_000
_ROW_BYTES = 1_000
_ATTEMPTS = 200
# What a write may need; disclosure is about what is sent, not about what is stored.
WriteScope: TypeAlias = Literal["collect_and_use", "profiling"]
T = TypeVar("T")


class UserRows:
    """The rows of one user in `agent-state`."""

    def __init__(
        self, chat: Chat, user_id: str, kept_as: RetentionClass, scope: WriteScope = "collect_and_use"
    ) -> None:
        """`scope` is what a parent must have consented to, for as long as the law says so."""
        self._scope = scope
        self._repository, self._periods = chat.repository, chat.periods
        self._repository.refuse_impossible(is_user_id(user_id), "USER")
        self.user_id, self.kept_as, self.db = user_id, kept_as, chat.repository.db
        self.values = Values(chat.repository.keys, chat.objects, user_id)
        self._generation: int | None = None

    def now(self) -> datetime:
        return self._repository.now()

    def new_id(self) -> str:
        return self._repository.world.new_id()

    def until(self, seconds: int | None = None) -> datetime:
        """When a row of this moment expires: after its retention class, or earlier if it was asked for."""
        kept = self._periods.until(self.kept_as, self.now())
        return kept if seconds is None else min(kept, self.now() + timedelta(seconds=seconds))

    def place(self, sealed_for: str, content: bytes, until: datetime, object_id: str | None = None) -> Placed:
        return self.values.place(sealed_for, content, object_id or self.new_id(), self.now(), until)

    def store(self, sealed_for: str, content: bytes, object_id: str, until: datetime) -> AgentObject:
        """The row of an object that rows share. Its bytes are stored unless they are there."""
        stored = self.db.one(d.agent_objects.get(self.values.folder, object_id), consistent=True)
        if stored is not None:
            return stored.model_copy(update={"expires_at": max(stored.expires_at, until)})
        return self.values.store(sealed_for, content, object_id, self.now(), until)

    def renew_object(self, object_id: str, until: datetime) -> None:
        self.db.write(
            d.agent_objects.update(self.values.folder, object_id).at(lambda o: o.expires_at).set(until)
        )

    def read(self, row: AgentRow) -> bytes:
        return self.values.read(row)

    # --- writes ---

    def write(self, *writes: Write[Any]) -> None:
        """Write for the user, in as few transactions as can be; Erased or NoConsent, and nothing is written.

        AlreadyExists, Missing and ConditionNotMet are of the rows themselves.
        """
        done = 0
        try:
            for group in in_transactions(writes):
                self._write(group)
                done += len(group)
        except BaseException:
            self._remove_unreferenced(writes[done:])
            raise

    def delete(self, writes: Sequence[Write[Any]], object_ids: Sequence[str]) -> None:
        """Delete rows, then the objects that only they referred to. Deleting needs no consent."""
        gone = [d.agent_objects.discard(self.values.folder, each) for each in object_ids]
        if not writes and not gone:
            return
        if left := self.db.batch([*writes, *gone]):
            raise TimeoutError(f"{len(left)} rows were not deleted; delete again")
        self.values.remove(object_ids)

    def _write(self, group: Sequence[Write[Any]]) -> None:
        def attempt() -> None:
            self.db.write(user_check(self.user_id, self.consented()), *group)

        def read_again(refused: WriteRefused) -> None:
            if refused.entity != d.users.tag:
                raise refused
            self._generation = None

        races = (Missing, ConditionNotMet)
        self._repository.retried(None, attempt, on=races, attempts=3, busy=NoConsent(), on_race=read_again)

    def consented(self, *, again: bool = False) -> int:
        """The number of the consent that was read last, which every change of it raises; Erased or NoConsent."""
        if self._generation is None or again:
            user = self._repository.found(self.db.one(d.user_by_id(self.user_id)), "USER")
            if user.standing != "active":
                raise Erased
            if not self._may_write(user):
                raise NoConsent
            self._generation = user.consent_generation
        return self._generation

    def refuse_without_disclosure(self) -> None:
        """NO_CONSENT unless a third party may get words of the user at this moment (ZC-X23)."""
        user = self._repository.found(self.db.one(d.user_by_id(self.user_id)), "USER")
        if not may_disclose(user) or not self._may_write(user):
            raise NoConsent("A parent has not allowed that words are sent to a third party.")

    def _may_write(self, user: User) -> bool:
        """Profiles are off until they are switched on (ZC-X26)."""
        is_allowed = may_chat(user, self.now().date())
        return is_allowed and (self._scope != "profiling" or may_profile(user))

    def retried(self, attempt: Callable[[], T]) -> T:
        """Again after a race for a row."""
        return self._repository.retried(None, attempt, on=RACES, attempts=_ATTEMPTS)

    def _remove_unreferenced(self, writes: Sequence[Write[Any]]) -> None:
        rows = [write.item for write in writes if isinstance(write.item, AgentObject)]
        self.values.remove([row.object_id for row in rows if not self._is_stored(row)])

    def _is_stored(self, row: AgentObject) -> bool:
        return self.db.one(d.agent_objects.get(row.folder, row.object_id), consistent=True) is not None


def in_transactions(writes: Sequence[Write[Any]]) -> Iterator[list[Write[Any]]]:
    """The writes in groups, each small enough for one transaction with the condition on the user."""
    group: list[Write[Any]] = []
    size = 0
    for write in writes:
        bytes_ = _ROW_BYTES + len(getattr(write.item, "value", None) or b"")
        if group and (len(group) == _ACTIONS or size + bytes_ > _BYTES):
            yield group
            group, size = [], 0
        group.append(write)
        size += bytes_
    if group:
        yield group
