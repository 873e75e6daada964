"""Conversations: created, listed, archived, completed, reopened, forked, deleted; their threads and their family.

Must hold: a conversation without a family is in no family index (ZC-D3); a state changes only from the state it was
read in (ZC-65); once a header is removed, everything of its conversation is removed too, by a task that is written
with it.
Elsewhere: messages (messages.py), who may read which (access.py), summaries (memory/summaries.py).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from tablewright.design import Query, Write
from tablewright.edge.errors import CallerError, Conflict, NotFound
from tablewright.kit.tables import NOT_ONCE, Actor, OnceRequest
from tablewright.kit.tasks import Finished, Postponed
from tablewright.mapping import ConditionNotMet, Missing, Page
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import (
    Conversation,
    ConversationKey,
    LegacyAlias,
    Partitions,
    RetentionClass,
    Status,
    Task,
)
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import HEADER_AHEAD, STALE, RetentionPeriods, is_spread
from tablewright.systems.chat.talk.message_places import newest_first
from tablewright.systems.chat.talk.message_writes import refusal_of, refuse_copying, user_check
from tablewright.systems.chat.talk.messages import MOST_AT_ONCE, Messages
from tablewright.systems.chat.talk.review import open_escalations

# The name of an animal that may be talked to; ANIMAL_NOT_FOUND otherwise.
FindAnimal: TypeAlias = Callable[[str], str]
# Removes the thread that an outside model keeps of a conversation (ZC-E9).
RemoveThread: TypeAlias = Callable[[str], None]
# A turn is answered by then.
_ANSWERED = timedelta(minutes=2)
Completion: TypeAlias = Literal["session", "program"]
_CLASSES: Mapping[Completion, RetentionClass] = {
    "session": "completed_session",
    "program": "completed_program",
}


def no_threads(thread_id: str) -> None:
    """No outside model keeps threads."""


class Conversations:
    """The conversations of all users."""

    def __init__(
        self,
        repository: Repository,
        periods: RetentionPeriods,
        messages: Messages,
        find_animal: FindAnimal = lambda animal_id: animal_id,
        remove_thread: RemoveThread = no_threads,
    ) -> None:
        self._repository, self._periods, self._messages = repository, periods, messages
        self._find_animal, self._remove_thread = find_animal, remove_thread

    # --- reads ---

    def get(self, conversation_id: str, user_id: str | None = None) -> Conversation:
        """A conversation; of this user if one is named. CONVERSATION_NOT_FOUND."""
        return self._repository.conversation(conversation_id, user_id)

    def query_of_user(self, user_id: str) -> Query[Conversation]:
        """The request for a user's conversations, the newest first, for pages."""
        return d.conversations_of_user(user_id=user_id)

    def of_user(
        self, user_id: str, limit: int | None = None, after: str | None = None, reader: str = ""
    ) -> Page[Conversation]:
        """A user's conversations, the newest first (ZC-14)."""
        return self._repository.page(d.conversations_of_user(user_id=user_id), limit, after, reader)

    def of_animal(
        self, animal_id: str, limit: int | None, after: str | None, reader: str
    ) -> Page[ConversationKey]:
        """Which conversations there are with an animal, the newest first (ZC-19)."""
        return self._repository.page(d.conversations_by_animal(animal_id=animal_id), limit, after, reader)

    def all_of(self, user_id: str) -> Iterator[Conversation]:
        return self._repository.db.all(d.conversations_of_user(user_id=user_id))

    # --- creation ---

    def create(
        self,
        user: User,
        animal_id: str,
        *,
        once: OnceRequest = NOT_ONCE,
        consent: int | None = None,
        partitions: Partitions | None = None,
    ) -> Conversation:
        """A new conversation (ZC-11); the same one again if the request was made before.

        Its messages are in so many partitions, by default as the record of its user says (ZC-66).
        """
        earlier = self._repository.earlier(once) if once.receipt else None
        if earlier is not None:
            return self.get(earlier["conversation"], user.user_id)
        name = self._find_animal(animal_id)
        made = self._new(user.user_id, animal_id, name, user.family_id, partitions or user.message_partitions)
        writes = d.conversations.create(made), user_check(user.user_id, consent)
        with self._repository.translated("CONVERSATION"):
            try:
                kept = self._repository.write_once(once, *writes, conversation=made.conversation_id)
            except (ConditionNotMet, Missing) as refused:
                raise refusal_of(refused.entity, refused.current) from None
        return made if kept is None else self.get(kept["conversation"], user.user_id)

    def _new(
        self, user_id: str, animal_id: str, animal_name: str, family_id: str | None, partitions: Partitions
    ) -> Conversation:
        now = self._repository.now()
        return Conversation(
            user_id=user_id,
            conversation_id=self._repository.new_conversation_id(partitions),
            animal_id=animal_id,
            animal_name=animal_name,
            family_id=family_id,
            start_time=now,
            last_activity=now,
            created=now,
            modified=now,
            expires_at=self._periods.until("active_conversation", now),
        )

    # --- states ---

    def archive(self, conversation: Conversation, by: str = "user") -> Conversation:
        """No more messages until it is reopened."""
        return self._moved(conversation, "archived", by, end_time=self._repository.now())

    def reopen(self, conversation: Conversation, by: str = "user") -> Conversation:
        """Messages can be appended again; new ones are kept as those of an active conversation (ZC-D8)."""
        now, kept_as = self._repository.now(), "active_conversation"
        until = max(conversation.expires_at, self._periods.until("active_conversation", now))
        return self._moved(
            conversation, "active", by, end_time=None, retention_class=kept_as, expires_at=until
        )

    def complete(
        self, conversation: Conversation, what: Completion = "session", by: str = "user"
    ) -> Conversation:
        """End a session or a program: archived, and kept as long as its class says (ZC-23).

        The messages get their new ttl by a task, before the earliest of the old ones.
        """
        now, kept_as = self._repository.now(), _CLASSES[what]
        until = self._periods.until(kept_as, conversation.last_activity) + HEADER_AHEAD
        return self._moved(
            conversation,
            "archived",
            by,
            self._task("retention", conversation),
            end_time=now,
            retention_class=kept_as,
            expires_at=max(until, conversation.summaries_until or until),
        )

    def archive_stale(self) -> int:
        """Archive conversations without a message for two weeks (ZC-20); how many."""
        archived = 0
        stale = d.conversations_by_status(status="active", until=self._repository.now() - STALE)
        for key in self._repository.db.all(stale):
            with suppress(CallerError):  # deleted, or written to at this moment
                header = self.get(key.conversation_id, key.user_id)
                if header.status == "active" and header.last_activity < self._repository.now() - STALE:
                    self.archive(header, by="system")
                    archived += 1
        return archived

    def _moved(
        self, before: Conversation, status: Status, by: str, *more: Write[Any], **fields: object
    ) -> Conversation:
        refuse_copying(before)
        now = self._repository.now()
        after = before.model_copy(update={"status": status, "modified": now, **fields})
        if before.status == status:
            move = d.conversations.change(before, after)
        else:
            move = d.conversations.move(before, after, by=by)
        # What is archived is summarised to its end.
        rest = () if status == "active" else (self._messages.summary_task(before, "rest", now),)
        self._repository.write("CONVERSATION", move, *rest, *more)
        assert move.item is not None
        return move.item

    def rederive(self, task: Task) -> Finished | Postponed:
        """A task: the messages of a completed conversation get the ttl of its class, and their turns before them."""
        with suppress(NotFound):
            header = self.get(task.conversation_id, task.user_id)
            is_whole = self._messages.rederive_turns(header)
            self._messages.rederive(header)
            if not is_whole:
                return Postponed(self._repository.now() + _ANSWERED, "a turn that is being answered")
        return Finished()

    # --- threads and families ---

    def set_thread(self, conversation: Conversation, thread_id: str | None) -> Conversation:
        """The thread that an outside model keeps of the conversation (ZC-21)."""
        refuse_copying(conversation)
        after = conversation.model_copy(update={"thread_id": thread_id, "modified": self._repository.now()})
        write = d.conversations.change(conversation, after)
        self._repository.write("CONVERSATION", write)
        assert write.item is not None
        return write.item

    def rekey(self, user_id: str, family_id: str | None) -> int:
        """Move the conversations of a user into the family index of its family, or out of it (ZC-D42, ZC-S8).

        Nothing is moved once the user is in another family than this one: a task for that follows.
        """
        check = d.users.check(user_id).when(lambda u: u.family_id == family_id)
        moved = 0
        for header in self.all_of(user_id):
            if header.family_id != family_id and header.status != "copying":
                write = d.conversations.update(header.user_id, header.conversation_id)
                moved += self._repository.try_write(write.at(lambda c: c.family_id).set(family_id), check)
        return moved

    def run_rekey(self, task: Task) -> Finished:
        """A task: the conversations of a child are those of its present family."""
        user = self._repository.db.one(d.user_by_id(task.user_id))
        if user is not None:
            self.rekey(user.user_id, user.family_id)
        return Finished()

    # --- fork ---

    def fork(self, conversation: Conversation, up_to: str, consent: int | None = None) -> Conversation:
        """A new conversation with copies of the messages up to one of them (ZC-X18).

        Copies keep their times and expire when their originals do. They are written some at a time, each time with
        their count: after a crash the fork is shorter, and right.
        """
        last = self._messages.get(conversation, up_to)
        originals = [m for m in self._messages.all(conversation) if m.sequence <= last.sequence]
        made = self._new(
            conversation.user_id,
            conversation.animal_id,
            conversation.animal_name,
            conversation.family_id,
            10 if is_spread(conversation.conversation_id) else 1,
        ).model_copy(update={"forked_from": conversation.conversation_id})
        with self._repository.translated("CONVERSATION"):
            try:
                self._repository.db.write(
                    d.conversations.create(made), user_check(conversation.user_id, consent)
                )
            except (ConditionNotMet, Missing) as refused:
                raise refusal_of(refused.entity, refused.current) from None
        for begin in range(0, len(originals), MOST_AT_ONCE):
            self._messages.copy(made, originals[begin : begin + MOST_AT_ONCE])
        return self.get(made.conversation_id, made.user_id)

    # --- deletion ---

    def delete(self, conversation: Conversation, actor: Actor, reason: str = "deleted by its user") -> None:
        """Remove a conversation with everything in it, and write a compliance entry (ZC-25).

        KEPT_FOR_HELP for the child itself while a zookeeper has not read what it wrote that was escalated.
        """
        header = conversation
        refuse_copying(header)
        removal = (
            d.conversations.discard(header.user_id, header.conversation_id)
            .when(lambda c: c.conversation_id == header.conversation_id)
            .when(lambda c: c.status != "copying")
        )
        if actor.subject == header.user_id and actor.role == "student":
            if open_escalations(self._repository, header.user_id, header.conversation_id):
                words = "This chat stays until someone at the zoo has read it, so that you get help."
                raise Conflict("KEPT_FOR_HELP", words)
            # A message that comes at this moment may be escalated.
            removal = removal.when(lambda c: c.last_sequence == header.last_sequence)
        self._repository.write(
            "CONVERSATION",
            removal,
            self._task("remove", header),
            *_alias_removal(header),
            self._repository.audit(
                f"child:{header.user_id}",
                "conversation deleted",
                actor,
                before={"conversation": header.conversation_id, "messages": header.message_count},
                reason=reason,
            ),
        )
        self._remove_rest(header.user_id, header.conversation_id, header.thread_id or "")

    def clear(self, conversation: Conversation) -> None:
        """Remove the messages of a conversation, its summaries and memories; the conversation itself stays."""
        self._messages.clear(conversation)
        self._remove_rest(conversation.user_id, conversation.conversation_id, "")

    def run_removal(self, task: Task) -> Finished:
        """A task: what is left of a deleted conversation."""
        self._remove_rest(task.user_id, task.conversation_id, task.subject)
        return Finished()

    def _remove_rest(self, user_id: str, conversation_id: str, thread_id: str) -> int:
        """Remove what belongs to a conversation, but for its header; how many items."""
        key = {"user_id": user_id, "conversation_id": conversation_id}
        patterns = (
            d.summaries_of_conversation,
            d.memories_of_conversation,
            d.turns_of_conversation,
        )
        self._messages.recent.forget(conversation_id)
        removed = self._repository.db.clear(newest_first(user_id, conversation_id))
        removed += sum(self._repository.db.clear(pattern(**key)) for pattern in patterns)
        if thread_id:
            self._remove_thread(thread_id)
        return removed + self._messages.texts.remove_all(user_id, conversation_id)

    def _task(self, kind: str, header: Conversation) -> Write[Task]:
        now = self._repository.now()
        return d.tasks.add(
            Task(
                task_id=self._repository.new_ulid(),
                kind=kind,
                created_at=now,
                due_at=now,
                user_id=header.user_id,
                conversation_id=header.conversation_id,
                subject=header.thread_id or "",
            )
        )


def _alias_removal(header: Conversation) -> tuple[Write[LegacyAlias], ...]:
    """The old id of a conversation from version 1 goes with it."""
    old = header.legacy_conversation_id
    return () if old is None else (d.aliases.discard(old),)
