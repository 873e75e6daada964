"""Which version a conversation is in: v1, copying (written in the first, copied to the second), or v2 (ZC-D24).

Before the cut-over a conversation of the first version is served from there; its copy has the status `copying`, with
which no transaction of the second version changes it. After the cut-over each header is opened: at its first use, or by
a job. A rollback closes all of them again while writes are paused.
Must hold: a header opens only in a transaction with the phase of the migration, so never while it is being rolled back;
a write to the first version is acknowledged only if its table was open until the answer came (mapping's RouteCache).
An error is never a reason to read the other version. The owner of a conversation is checked in both.
Elsewhere: the programs' functions (compat.py), the steps of the migration (operator.py).
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from tablewright.edge.errors import Conflict, NotFound
from tablewright.mapping import ActionsRefused, Stale, every_page
from tablewright.mapping.items import model_of
from tablewright.mapping.migrate import MigrationContext, SideChanged, WritesPaused
from tablewright.mapping.migrate.router import PATIENCE, RETRY_AFTER, CachedState, RouteCache
from tablewright.mapping.migrate.state import states
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import BeingMoved
from tablewright.systems.chat.legacy.conversion import alias_of
from tablewright.systems.chat.legacy.model import V1Conversation, V1Session
from tablewright.systems.chat.legacy.v1 import V1
from tablewright.systems.chat.model import Conversation, LegacyAlias
from tablewright.systems.chat.repository import Repository, is_conversation_id
from tablewright.systems.chat.rules import RetentionPeriods, stamp

T = TypeVar("T")
Version: TypeAlias = Literal["v1", "copying", "v2"]
_MIGRATION = "migration"


@dataclass(frozen=True, slots=True)
class ConversationLocation:
    """Where a conversation is: its item in the first version, or its header in the second."""

    version: Version
    user_id: str
    v1: V1Conversation | None = None
    header: Conversation | None = None


class ConversationRouter:
    """Finds conversations of both versions by their ids."""

    def __init__(
        self, repository: Repository, context: MigrationContext, v1: V1, periods: RetentionPeriods
    ) -> None:
        self._repository, self._context, self._v1, self._periods = repository, context, v1, periods
        self._cache = RouteCache(context)

    @property
    def is_second(self) -> bool:
        """True after the cut-over: conversations of the first version are served from the second."""
        return self._cache.current().position[0] == "target"

    # --- one conversation ---

    def place(self, session_id: str, user_id: str | None = None) -> ConversationLocation:
        """Where a conversation is now; of this user if one is named. CONVERSATION_NOT_FOUND otherwise."""
        found = self._second(session_id) if self.is_second else self._first(session_id)
        if found is None or (user_id is not None and found.user_id != user_id):
            raise self._repository.not_found("CONVERSATION")
        return found

    def _first(self, session_id: str) -> ConversationLocation | None:
        """Before the cut-over: an id of the first version, or one that only the second has."""
        item = self._v1.find(session_id)
        if item is None:
            return self._native(session_id)
        return ConversationLocation(
            "v1" if self._alias(session_id) is None else "copying", item.user_id, v1=item
        )

    def _second(self, session_id: str) -> ConversationLocation | None:
        alias = self._alias(session_id)
        if alias is None:
            return self._native(session_id)
        with suppress(NotFound):
            header = self._repository.conversation(alias.conversation_id, alias.user_id)
            self._renew(alias, header)
            return ConversationLocation("v2", header.user_id, header=self.opened(header))
        return None

    def _native(self, session_id: str) -> ConversationLocation | None:
        """A conversation of the second version by its own id."""
        if not is_conversation_id(session_id):
            return None
        with suppress(NotFound):
            header = self._repository.conversation(session_id)
            version: Version = "copying" if header.status == "copying" else "v2"
            return ConversationLocation(version, header.user_id, header=header)
        return None

    def _alias(self, session_id: str) -> LegacyAlias | None:
        return self._repository.db.one(d.aliases.get(session_id), consistent=True)

    def _renew(self, alias: LegacyAlias, header: Conversation) -> None:
        """An alias lives as long as the conversation it leads to."""
        if alias.expires_at < header.expires_at:
            self._repository.db.write(d.aliases.put(alias_of(header, self._periods)))

    # --- writes ---

    def wait_for_follower(self) -> None:
        """Before a turn: wait a little while the other version is behind, so that it catches up."""
        self._cache.wait_for_follower()

    def write_v1(self, write: Callable[[], T]) -> T:
        """Do a write in the first version while it is open; SideChanged if it does not count."""
        cached = self._open_state()
        if cached.position[0] == "target":
            raise SideChanged(self._context.migration.called)
        done = write()
        self._cache.refuse_late(cached)
        return done

    def _open_state(self) -> CachedState:
        """The state, once writes are not paused; WritesPaused if that takes too long."""
        began = self._context.steady()
        while not (cached := self._cache.current()).is_open:
            if self._context.steady() - began >= PATIENCE:
                raise WritesPaused(self._context.migration.called, RETRY_AFTER)
            self._context.sleep(0.05)
        return cached

    # --- opening and closing headers ---

    def opened(self, header: Conversation) -> Conversation:
        """The header of a conversation that can be written in the second version; BEING_MOVED if it cannot."""
        if header.status != "copying":
            return header
        after = header.model_copy(
            update={
                "status": header.status_in_v1 or "active",
                "status_in_v1": None,
                "modified": self._repository.now(),
            }
        )
        move = d.conversations.move(header, after, by=_MIGRATION)
        try:
            self._after_cutover(move)
        except ActionsRefused:
            current = self._repository.conversation(header.conversation_id, header.user_id)
            if current.status == "copying":
                raise BeingMoved from None
            return current
        return self._repository.conversation(header.conversation_id, header.user_id)

    def _after_cutover(self, *writes: object) -> None:
        """One transaction that is done only while the second version is the one that is written."""
        check = states.check(self._context.name).when(
            lambda s: (s.phase == "switched") | (s.phase == "finished")
        )
        actions = [*self._context.db.wire(check), *self._repository.db.wire(*writes)]  # type: ignore[arg-type]  # writes of several entities
        self._repository.db.transact("conversation.open", actions)

    def open_all(self, at_most: int = 1000) -> int:
        """Open the headers that no one has used since the cut-over; how many."""
        if not self.is_second:
            return 0
        count = 0
        for key in self._repository.db.all(d.conversations_by_status(status="copying")):
            if count >= at_most:
                break
            with suppress(NotFound, BeingMoved):
                self.opened(self._repository.conversation(key.conversation_id, key.user_id))
                count += 1
        return count

    def close_all(self) -> int:
        """Close every header that goes back to the first version, so that nothing is written to it; how many.

        Called while writes are paused: none is opened again then. They are found by their sessions, consistently.
        """
        return sum(self._close(session) for session in self._sessions())

    def _sessions(self) -> Iterator[V1Session]:
        shape = d.v1_sessions.shape
        request = {"TableName": self._repository.db.physical(shape.table.name), "ConsistentRead": True}
        for page in every_page(self._repository.db.call, "Scan", request):
            yield from (model_of(shape, item) for item in page["Items"])

    def _close(self, session: V1Session) -> bool:
        alias = self._alias(session.conversation_id)
        while alias is not None:
            try:
                header = self._repository.conversation(alias.conversation_id, alias.user_id)
            except NotFound:
                return False
            if header.status == "copying":
                return False
            before = "active" if header.status == "active" else "archived"
            after = header.model_copy(update={"status": "copying", "status_in_v1": before})
            with suppress(Stale):
                self._repository.db.write(d.conversations.move(header, after, by=_MIGRATION))
                return True
        return False

    # --- new conversations ---

    def adopt(self, header: Conversation, animal_name: str | None) -> Conversation:
        """Give a new conversation of the second version an old id, its own, so that a rollback takes it along."""
        after = header.model_copy(
            update={
                "legacy_conversation_id": header.conversation_id,
                "animal_name": animal_name or header.animal_name,
            }
        )
        session = V1Session(
            user_id=header.user_id,
            conversation_id=header.conversation_id,
            animal_id=header.animal_id,
            start_time=stamp(header.start_time),
        )
        writes = (
            d.conversations.change(header, after),
            d.aliases.create(alias_of(after, self._periods)),
            d.v1_sessions.create(session),
        )
        try:
            self._after_cutover(*writes)
        except ActionsRefused:
            raise Conflict("BEING_MOVED", "Chats are being moved. Try again in a moment.") from None
        return self._repository.conversation(header.conversation_id, header.user_id)
