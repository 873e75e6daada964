"""Summaries: batches of 20 messages, or of at least 4 when a chat has been silent for 5 minutes (ZC-34 to ZC-36).

A task summarises the messages behind the header's watermark. Its effect is one transaction: the summary, the watermark
moved from where it was read, the marks on the messages and the end of the task. Must hold: every message is covered by
one summary at most, however many workers run and wherever they die (ZC-D11); nothing is summarised for a user who is
being erased; the header does not expire before its summaries (ZC-D13).
Elsewhere: when tasks are written (talk/messages.py), the text of a summary (summary_text.py, talk/models.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import islice, takewhile
from typing import Any, TypeAlias

from tablewright.design import Write
from tablewright.edge.errors import NotFound
from tablewright.kit.subject_keys import KeyDestroyed
from tablewright.kit.tasks import Finished, Postponed
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Erased
from tablewright.systems.chat.memory.summary_text import ModelUse, SummaryText, summarise
from tablewright.systems.chat.memory.tokens import token_counter
from tablewright.systems.chat.memory.window import WindowMessage
from tablewright.systems.chat.model import (
    Conversation,
    Message,
    MessageRange,
    Summary,
    SummaryMetadata,
    Task,
)
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import (
    BATCH,
    HEADER_AHEAD,
    IDLE,
    LEAST_IDLE_BATCH,
    RetentionPeriods,
    after_watermark,
    batch_name,
    stamp,
    watermark,
)
from tablewright.systems.chat.talk.message_writes import message_update, user_check
from tablewright.systems.chat.talk.messages import Messages
from tablewright.systems.chat.talk.safety_phrases import is_escalated
from tablewright.systems.chat.talk.scrub import scrub

# The summary of some messages of a conversation; whether a model outside may make it is its decision.
Summarise: TypeAlias = Callable[[Conversation, Sequence[WindowMessage]], SummaryText]
# What follows from a summary that is stored, in the same transaction.
Follow: TypeAlias = Callable[[Conversation], Sequence[Write[Any]]]
# The write that counts what a third party is paid for a summary.
CountUse: TypeAlias = Callable[[Conversation, ModelUse], Write[Any]]
_LEAST = {"summarise": BATCH, "idle": LEAST_IDLE_BATCH, "rest": 1}
# A reply that is still being written is waited for, but not for ever: its process may have died.
_REPLY_WAIT, _REPLY_AT_MOST = timedelta(seconds=10), timedelta(minutes=2)


def no_more(header: Conversation) -> Sequence[Write[Any]]:
    """Nothing follows."""
    return ()


def offline_summary(header: Conversation, lines: Sequence[WindowMessage]) -> SummaryText:
    """A summary that is made on this machine, without personal data (ZC-X6)."""
    return summarise([replace(line, text=scrub(line.text).text) for line in lines], token_counter())


class Summaries:
    """The summaries of all conversations."""

    def __init__(
        self,
        repository: Repository,
        periods: RetentionPeriods,
        messages: Messages,
        summarise: Summarise = offline_summary,
        follow: Follow = no_more,
        count_use: CountUse | None = None,
    ) -> None:
        self._repository, self._periods, self._messages = repository, periods, messages
        self._summarise, self._follow, self._count_use = summarise, follow, count_use

    def of(self, conversation: Conversation, at_most: int | None = None) -> list[Summary]:
        """The newest summaries of a conversation, from the oldest to the newest, open."""
        query = d.summaries_of_conversation(
            user_id=conversation.user_id, conversation_id=conversation.conversation_id
        )
        found = list(islice(self._repository.db.all(query), at_most))
        return [self.opened(summary) for summary in reversed(found)]

    def opened(self, stored: Summary) -> Summary:
        """The summary with its text and topics; ERASED if the key of its user was destroyed."""
        about, keys = _about(stored.summary_id), self._repository.keys
        try:
            text = keys.open(stored.user_id, about, stored.summary_text)
            topics = [keys.open(stored.user_id, about, topic) for topic in stored.metadata.topics_extracted]
        except KeyDestroyed:
            raise Erased from None
        figures = stored.metadata.model_copy(update={"topics_extracted": topics})
        return stored.model_copy(update={"summary_text": text, "metadata": figures})

    # --- tasks ---

    def run(self, task: Task) -> Finished | Postponed:
        """A task `summarise`, `idle` or `rest`: summarise the next batch, if there are enough messages for it."""
        try:
            header = self._repository.conversation(task.conversation_id, task.user_id)
        except NotFound:
            return Finished()
        user = self._repository.db.one(d.user_by_id(task.user_id))
        if user is None or user.standing != "active":
            return Finished()
        waiting = header.message_count - header.summarized_count
        if waiting < _LEAST[task.kind]:
            return Finished(self._closed(task, header))
        silent_at = header.last_activity + IDLE
        if task.kind == "idle" and self._repository.now() < silent_at:
            return Postponed(silent_at, "until the chat is silent")
        return self._batch(task, header, waiting)

    def _batch(self, task: Task, header: Conversation, waiting: int) -> Finished | Postponed:
        found = self._messages.all(header, after_watermark(header.summarized_through))
        # Not those that came after the header was read: they are not in its count.
        counted = takewhile(lambda message: stamp(message.timestamp) <= header.last_message, found)
        batch = list(islice(counted, BATCH))
        now = self._repository.now()
        if any(m.state == "pending" and now < m.timestamp + _REPLY_AT_MOST for m in batch):
            return Postponed(now + _REPLY_WAIT, "until the reply is complete")
        if not batch:  # they have expired before they were summarised
            return Finished((self._skipped(header, waiting), *self._closed(task, header, waiting)))
        # Messages that have expired are behind the watermark as well.
        covered = len(batch) if len(batch) == BATCH else waiting
        return Finished(self._writes(task, header, batch, covered))

    def _writes(
        self, task: Task, header: Conversation, batch: Sequence[Message], covered: int
    ) -> tuple[Write[Any], ...]:
        # A summary is in later windows: what was escalated is not in it (ZC-X25).
        said = [m for m in batch if m.state == "complete" and m.text and not is_escalated(m)]
        made = self._summarise(header, [WindowMessage(m.role, m.text, m.message_id) for m in said])
        summary = self._summary(header, batch, made)
        left = header.message_count - header.summarized_count - covered
        return (
            d.summaries.create(summary),
            self._advanced(task, header, batch, covered, summary),
            user_check(header.user_id, None),
            *(self._marked(message, summary) for message in batch),
            *self._next(task, header, left),
            *self._follow(header),
            *self._used(header, made.use),
        )

    def _used(self, header: Conversation, use: ModelUse | None) -> Sequence[Write[Any]]:
        return () if use is None or self._count_use is None else (self._count_use(header, use),)

    def _summary(self, header: Conversation, batch: Sequence[Message], made: SummaryText) -> Summary:
        number, now = header.summary_count + 1, self._repository.now()
        summary_id = f"{header.conversation_id}_{batch_name(number)}"

        def sealed(text: str) -> str:
            return self._repository.keys.seal(header.user_id, _about(summary_id), text)

        return Summary(
            user_id=header.user_id,
            conversation_id=header.conversation_id,
            batch_id=batch_name(number),
            summary_id=summary_id,
            summary_text=sealed(made.text),
            message_range=MessageRange(
                start_message_id=batch[0].message_id,
                end_message_id=batch[-1].message_id,
                message_count=len(batch),
            ),
            timestamp=now,
            metadata=SummaryMetadata(
                compression_ratio=Decimal(str(round(made.compression_ratio, 4))),
                topics_extracted=list(map(sealed, made.topics)),
            ),
            created=now,
            modified=now,
            expires_at=self._periods.until("context_summary", now),
        )

    def _advanced(
        self, task: Task, header: Conversation, batch: Sequence[Message], covered: int, summary: Summary
    ) -> Write[Conversation]:
        """The header with its watermark behind the batch, if it is still where it was read."""
        mark = watermark(header.conversation_id, batch[-1].timestamp, batch[-1].message_id)
        ends = max(header.expires_at, summary.expires_at + HEADER_AHEAD)
        is_whole = covered == header.message_count - header.summarized_count
        if header.status == "archived" and is_whole:
            after = header.model_copy(
                update={
                    "status": "summarized",
                    "summary_count": header.summary_count + 1,
                    "summarized_count": header.message_count,
                    "summarized_through": mark,
                    "summaries_until": summary.expires_at,
                    "expires_at": ends,
                    "modified": summary.created,
                }
            )
            return d.conversations.move(header, after, by="system")
        write = (
            d.conversations.update(header.user_id, header.conversation_id)
            .at(lambda c: c.summary_count).add(1)
            .at(lambda c: c.summarized_count).add(covered)
            .at(lambda c: c.summarized_through).set(mark)
            .at(lambda c: c.summaries_until).set(summary.expires_at)
            .at(lambda c: c.modified).set(summary.created)
            .when(lambda c: c.summarized_through == header.summarized_through)
            .when(lambda c: c.removed_count == header.removed_count)
        )  # fmt: skip
        if task.kind == "idle":
            # A chat with a new message is not silent, and nothing else would come back to what this batch leaves.
            write = write.when(lambda c: c.last_sequence == header.last_sequence)
        if ends == header.expires_at:
            return write
        # A message that comes at this moment may have moved the end, never as far as this one.
        return write.at(lambda c: c.expires_at).set(ends)

    def _marked(self, message: Message, summary: Summary) -> Write[Message]:
        return message_update(message).at(lambda m: m.summary_id).set(summary.summary_id)

    def _next(self, task: Task, header: Conversation, left: int) -> Sequence[Write[Task]]:
        """The task for what this batch did not cover."""
        if left < _LEAST[task.kind]:
            return ()
        return (self._messages.summary_task(header, task.kind, self._repository.now()),)

    def _skipped(self, header: Conversation, waiting: int) -> Write[Conversation]:
        """The header of messages that no summary will cover: they have expired."""
        return (
            d.conversations.update(header.user_id, header.conversation_id)
            .at(lambda c: c.summarized_count).add(waiting)
            .when(lambda c: c.summarized_count == header.summarized_count)
            .when(lambda c: c.last_sequence == header.last_sequence)
        )  # fmt: skip

    def _closed(self, task: Task, header: Conversation, skipped: int = 0) -> tuple[Write[Any], ...]:
        """An archived conversation that was summarised already is `summarized` (ZC-D8)."""
        is_done = header.status == "archived" and header.summary_count > 0 and not skipped
        if task.kind != "rest" or not is_done or header.message_count != header.summarized_count:
            return ()
        after = header.model_copy(update={"status": "summarized", "modified": self._repository.now()})
        return (d.conversations.move(header, after, by="system"),)


def _about(summary_id: str) -> str:
    return f"summary/{summary_id}"
