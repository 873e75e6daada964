"""Messages: appended in one transaction with their header, read by page, replaced, taken back, deleted by run.

Must hold: the count of a header is the number of messages that were appended and not removed (ZC-D4); times in a
conversation strictly increase, whatever the clocks say (ZC-D44); nothing is appended to an archived conversation
(ZC-D8), nor for a user who is being erased or whose consent has changed since it was checked (ZC-S10).
Elsewhere: one turn with its reply (turns.py), how texts are stored (texts.py), single writes
(message_writes.py), the cache of the newest (recent_messages.py), summaries (memory/summaries.py).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

from tablewright.design import Query, Write
from tablewright.edge.errors import Conflict
from tablewright.kit.cache import Cache, MemoryCache
from tablewright.kit.objects.store import Objects
from tablewright.mapping import ConditionNotMet, Missing, Page, Stale
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Archived
from tablewright.systems.chat.model import (
    Conversation,
    Draft,
    Message,
    MessageMetadata,
    MessageState,
    Task,
    Thumb,
)
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import (
    BATCH,
    IDLE,
    LEAST_IDLE_BATCH,
    MICROSECOND,
    RetentionPeriods,
    moment,
    next_moment,
)
from tablewright.systems.chat.talk.message_places import (
    MESSAGE_TAGS,
    messages_in,
    newest_first,
    oldest_first,
)
from tablewright.systems.chat.talk.message_writes import (
    counted,
    discounted,
    header_update,
    is_covered,
    message_update,
    rederived,
    refusal_of,
    refuse_copying,
    removals,
    replied,
    settled,
    user_check,
)
from tablewright.systems.chat.talk.recent_messages import MOST_KEPT, RecentMessages
from tablewright.systems.chat.talk.safety_phrases import is_escalated
from tablewright.systems.chat.talk.texts import Texts

T = TypeVar("T")
# Writes that belong to an append, made of its messages, whose texts are open.
Also: TypeAlias = Callable[[Sequence[Message]], Sequence[Write[Any]]]
# Each attempt is refused only if another writer of the same conversation was faster.
ATTEMPTS = 500
# A transaction has 100 items at most; the header, the user and a task are among them.
MOST_AT_ONCE = 90
# With each message that is removed a memory and a turn may go.
_MOST_REMOVED = 30


def _nothing(messages: Sequence[Message]) -> Sequence[Write[Any]]:
    return ()


class Messages:
    """The messages of all conversations. What is returned has open texts."""

    def __init__(
        self,
        repository: Repository,
        periods: RetentionPeriods,
        objects: Objects,
        cache: Cache | None = None,
    ) -> None:
        self._repository, self._periods = repository, periods
        self.texts = Texts(repository.keys, objects)
        kept = MemoryCache[bytes](repository.world, MOST_KEPT) if cache is None else cache
        self.recent = RecentMessages(repository, kept)

    # --- append ---

    def append(
        self,
        conversation: Conversation,
        drafts: Sequence[Draft],
        *,
        consent: int | None = None,
        also: Also = _nothing,
    ) -> list[Message]:
        """Append messages with consecutive numbers, all or none; ARCHIVED, ERASED, NO_CONSENT.

        `consent` is the generation of the user's consent that the caller has checked. AlreadyExists of `also` passes
        through, so that a caller can make an append happen once.
        """
        # The same ids in each attempt: a long text is an object by the id of its message.
        new_id = self._repository.world.new_id
        named = [draft.model_copy(update={"message_id": draft.message_id or new_id()}) for draft in drafts]
        header = conversation

        def attempt() -> list[Message]:
            made = self._made(header, named)
            try:
                self._write_append(header, made, consent, also)
            except Missing as refused:
                raise refusal_of(refused.entity) from None
            return made

        def read_again(refused: ConditionNotMet) -> None:
            nonlocal header
            header = self._after_refusal(header, refused)

        return self._retried(attempt, read_again, "messages")

    def _made(self, header: Conversation, drafts: Sequence[Draft]) -> list[Message]:
        first = next_moment(self._repository.world.now(), header.last_message)
        return [
            self._message(header, draft, first + number * MICROSECOND, header.last_sequence + number + 1)
            for number, draft in enumerate(drafts)
        ]

    def _message(self, header: Conversation, draft: Draft, at: datetime, sequence: int) -> Message:
        return Message(
            **draft.__dict__,
            user_id=header.user_id,
            conversation_id=header.conversation_id,
            timestamp=at,
            sequence=sequence,
            retention_class=header.retention_class,
            created=at,
            modified=at,
            expires_at=self._periods.until(header.retention_class, at),
        )

    def _write_append(
        self, header: Conversation, made: Sequence[Message], consent: int | None, also: Also
    ) -> None:
        place = messages_in(header.conversation_id)
        self._repository.db.write(
            counted(header, made),
            *(place.create(self.texts.sealed(message)) for message in made),
            user_check(header.user_id, consent),
            *self._tasks(header, len(made)),
            *also(made),
        )

    def _tasks(self, header: Conversation, more: int) -> Iterator[Write[Task]]:
        """The tasks that follow: one when enough messages for a batch wait, one when enough for a partial batch."""
        before = header.message_count - header.summarized_count
        now = self._repository.now()
        if before < BATCH <= before + more:
            yield self.summary_task(header, "summarise", now)
        if before < LEAST_IDLE_BATCH <= before + more:
            yield self.summary_task(header, "idle", now + IDLE)

    def summary_task(self, header: Conversation, kind: str, due: datetime) -> Write[Task]:
        """Work on the messages of a conversation that no summary covers."""
        repository = self._repository
        return d.tasks.add(
            Task(
                task_id=repository.new_ulid(),
                kind=kind,
                created_at=repository.now(),
                due_at=due,
                user_id=header.user_id,
                conversation_id=header.conversation_id,
            )
        )

    def _after_refusal(self, header: Conversation, refused: ConditionNotMet) -> Conversation:
        """The header as it is now, for another attempt; raises if there can be none."""
        if refused.entity == "user":
            raise refusal_of("user", refused.current)
        if refused.entity != "conversation":
            raise refused
        current = refused.current
        if not isinstance(current, Conversation):
            current = self._repository.conversation(header.conversation_id, header.user_id)
        refuse_copying(current)
        if current.status != "active":
            raise Archived
        return current

    def copy(self, fork: Conversation, originals: Sequence[Message]) -> None:
        """Append copies to a fork, with the times, numbers and ends of their originals."""
        header = self._repository.conversation(fork.conversation_id, fork.user_id)
        made = [self._copied(fork, original) for original in originals]
        with self._repository.translated("CONVERSATION"):
            self._write_append(header, made, None, _nothing)

    def _copied(self, fork: Conversation, original: Message) -> Message:
        return original.model_copy(
            update={
                "conversation_id": fork.conversation_id,
                "message_id": self._repository.world.new_id(),
                "client_message_id": None,
                "reply_to": None,
                "summary_id": None,
                # Nothing will fill the copy of a place whose reply is being written.
                "state": "failed" if original.state == "pending" else original.state,
            }
        )

    # --- reads ---

    def history(
        self,
        conversation: Conversation,
        *,
        limit: int | None = None,
        after: str | None = None,
        reader: str = "",
    ) -> Page[Message]:
        """The messages of a conversation, the newest first (ZC-13). A token is for one reader alone (ZC-D46)."""
        page = self._repository.page(self._query(conversation), limit, after, reader)
        return Page(tuple(map(self.texts.opened, page.items)), page.next, page.read_units)

    def newest(self, conversation: Conversation, count: int) -> list[Message]:
        """The newest messages, the oldest of them first."""
        page = self._repository.page(self._query(conversation), count, None, "")
        return [self.texts.opened(message) for message in reversed(page.items)]

    def newest_of_window(self, conversation: Conversation, count: int) -> list[Message]:
        """The newest messages, the oldest of them first, for a model: thumbs may be some minutes old."""
        return [self.texts.opened(message) for message in self.recent.newest(conversation, count)]

    def all(self, conversation: Conversation, since: datetime | None = None) -> Iterator[Message]:
        """The messages from a moment on, the oldest first."""
        query = oldest_first(conversation.user_id, conversation.conversation_id, since)
        return map(self.texts.opened, self._repository.db.all(query))

    def get(self, conversation: Conversation, message_id: str) -> Message:
        """One message by its id; MESSAGE_NOT_FOUND. Reads the conversation from its end."""
        found = (m for m in self._repository.db.all(self._query(conversation)) if m.message_id == message_id)
        return self.texts.opened(self._repository.found(next(found, None), "MESSAGE"))

    def at(self, conversation: Conversation, timestamp: datetime, message_id: str) -> Message | None:
        """One message by its key."""
        key = conversation.user_id, conversation.conversation_id, timestamp, message_id
        place = messages_in(conversation.conversation_id)
        found = self._repository.db.one(place.get(*key), consistent=True)
        return None if found is None else self.texts.opened(found)

    def _query(self, conversation: Conversation) -> Query[Message]:
        return newest_first(conversation.user_id, conversation.conversation_id)

    # --- replies ---

    def settle(
        self,
        conversation: Conversation,
        message: Message,
        text: str,
        *,
        state: MessageState = "complete",
        metadata: MessageMetadata | None = None,
        flags: Sequence[str] = (),
        tool_calls: Sequence[Any] = (),
        consent: int | None = None,
        also: Sequence[Write[Any]] = (),
    ) -> Message:
        """Put a text in the place of a reply that is pending or has failed; Stale if it was settled already."""
        known = metadata or message.metadata
        after = message.model_copy(
            update={
                "text": text,
                "state": state,
                "metadata": known,
                "flags": [*flags],
                "tool_calls": [*tool_calls],
                "modified": self._repository.now(),
            }
        )
        stored = self.texts.sealed(after)
        write = settled(stored)
        gate, header = user_check(message.user_id, consent), conversation

        def attempt() -> Message:
            try:
                self._repository.db.write(write, self._figures(header, message, after), gate, *also)
            except Missing as refused:
                raise refusal_of(
                    "conversation" if refused.entity in MESSAGE_TAGS else refused.entity
                ) from None
            return after

        def read_again(refused: ConditionNotMet) -> None:
            nonlocal header
            header = self._settled_before(header, refused)

        return self._retried(attempt, read_again, "replies")

    def _retried(
        self, attempt: Callable[[], T], read_again: Callable[[ConditionNotMet], None], what: str
    ) -> T:
        """Again with the header as it is now, while other writers of the conversation are faster."""
        busy = Conflict("BUSY", f"Too many {what} at once. Try again in a moment.")
        return self._repository.retried(
            None, attempt, on=ConditionNotMet, attempts=ATTEMPTS, busy=busy, on_race=read_again
        )

    def _figures(self, header: Conversation, before: Message, after: Message) -> Write[Conversation]:
        if after.state == "complete":
            return replied(header, before, after.metadata, after.modified)
        return header_update(header).at(lambda c: c.modified).set(after.modified)

    def _settled_before(self, header: Conversation, refused: ConditionNotMet) -> Conversation:
        """The header as it is now, if only that was changed; raises otherwise."""
        if refused.entity in MESSAGE_TAGS:
            raise Stale(
                refused.entity, refused.key, "the reply was settled by another request", refused.current
            )
        if refused.entity == "user":
            raise refusal_of("user", refused.current)
        if refused.entity != "conversation":
            raise refused
        current = self._repository.conversation(header.conversation_id, header.user_id)
        refuse_copying(current)
        return current

    def rate(self, conversation: Conversation, message: Message, thumb: Thumb | None) -> Message:
        """The user's thumb on a message; None takes it back (ZC-X22)."""
        write = message_update(message)
        self._repository.write("MESSAGE", write.at(lambda m: m.thumb).set(thumb))
        return message.model_copy(update={"thumb": thumb})

    def flag(self, message: Message, *flags: str) -> Write[Message]:
        """The write that adds flags to a message."""
        write = message_update(message)
        return write.at(lambda m: m.flags).set(list(dict.fromkeys([*message.flags, *flags])))

    # --- removal ---

    def take_back(self, conversation: Conversation) -> list[Message]:
        """Remove the last turn: the newest message of the user and all after it (ZC-X18); what was removed.

        ALREADY_SUMMARIZED if a summary covers it: its words are in the summary. KEPT_FOR_HELP if it was escalated:
        a zookeeper has to read it.
        """

        def attempt() -> list[Message]:
            header = self._repository.conversation(conversation.conversation_id, conversation.user_id)
            found = self._last_turn(header)
            if any(map(is_escalated, found)):
                words = "This message stays, so that someone at the zoo can read it and help you."
                raise Conflict("KEPT_FOR_HELP", words)
            self._remove(header, found)
            return found

        races = (ConditionNotMet, Stale, Missing)
        return self._repository.retried(None, attempt, on=races)

    def _last_turn(self, header: Conversation) -> list[Message]:
        found: list[Message] = []
        for message in self._repository.db.all(self._query(header)):
            found.insert(0, self.texts.opened(message))
            if message.role == "user" or len(found) == _MOST_REMOVED:
                break
        if not found or found[0].role != "user":
            raise Conflict("NOTHING_TO_TAKE_BACK", "This chat has no message of yours to take back.")
        return found

    def delete_run(self, conversation: Conversation, run_id: str) -> int:
        """Remove the messages of a run; how many (ZC-X18)."""
        return self._remove_all(conversation, self._query(conversation).where(lambda m: m.run_id == run_id))

    def clear(self, conversation: Conversation) -> int:
        """Remove all messages of a conversation, also those that a summary covers; how many."""
        return self._remove_all(conversation, self._query(conversation))

    def _remove_all(self, conversation: Conversation, query: Any) -> int:
        removed = 0
        while found := list(self._repository.page(query, _MOST_REMOVED, None, "").items):
            header = self._repository.conversation(conversation.conversation_id, conversation.user_id)
            with suppress(ConditionNotMet, Stale, Missing):
                self._remove(header, found, summarized=True)
                removed += len(found)
        return removed

    def _remove(self, header: Conversation, found: Sequence[Message], *, summarized: bool = False) -> None:
        refuse_copying(header)
        covered = [m for m in found if is_covered(header, m)]
        if covered and not summarized:
            raise Conflict("ALREADY_SUMMARIZED", "This turn is part of a summary and cannot be taken back.")
        if header.status != "active" and not summarized:
            raise Archived
        now = self._repository.now()
        header_write = discounted(header, len(found), len(covered), now)
        self._repository.db.write(header_write, *removals(found, covered))
        for message in found:
            self.texts.remove(message)

    # --- retention ---

    def rederive(self, conversation: Conversation) -> int:
        """Give every message the ttl of the header's retention class (ZC-23); how many were changed."""
        changed, kept_as = 0, conversation.retention_class
        query = oldest_first(conversation.user_id, conversation.conversation_id)
        for message in self._repository.db.all(query):
            if message.retention_class != kept_as:
                until = self._periods.until(kept_as, message.timestamp)
                with suppress(Missing):
                    self._repository.db.write(rederived(message, kept_as, until))
                    changed += 1
        return changed

    def rederive_turns(self, conversation: Conversation) -> bool:
        """Keep the turns as long as their messages will be; False while one is answered, whose end is not touched."""
        is_whole, now = True, self._repository.now()
        key = {"user_id": conversation.user_id, "conversation_id": conversation.conversation_id}
        for turn in self._repository.db.all(d.turns_of_conversation(**key)):
            last = moment(turn.reply_timestamp or turn.user_timestamp)
            until = self._periods.until(conversation.retention_class, last)
            if turn.state == "waiting" and turn.leased_until is not None and now < turn.leased_until:
                is_whole = False
            elif until > turn.expires_at:
                after = turn.model_copy(update={"expires_at": until})
                is_whole &= self._repository.try_write(d.turns.change(turn, after))
        return is_whole
