"""Extraction: what a child says of itself becomes contexts and memories, if a parent has switched that on (ZC-X26).

A task extracts from the messages behind the number that the header records. Its effect is one transaction: memories
whose keys contain the number of their message, contexts merged by name, the number moved, and the end of the task.
Must hold: a message is extracted from once (ZC-X21); nothing without the consent `profiling` of this moment; no text
is stored before personal data was scrubbed from it (ZC-X6), and none of a message about a crisis (ZC-X25); every
memory and entry names its messages.
Elsewhere: consent (family/consent.py), how memories are found (recall.py).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import NotFound
from tablewright.kit.tasks import Finished
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family.consent import may_profile
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.memory.contexts import Contexts, Entry, by_category
from tablewright.systems.chat.memory.embedding import Embedder, words_of
from tablewright.systems.chat.model import Category, Conversation, Memory, MemoryKind, Message, Task
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import RetentionPeriods
from tablewright.systems.chat.talk.message_writes import is_covered, user_check
from tablewright.systems.chat.talk.messages import Messages
from tablewright.systems.chat.talk.safety_phrases import is_escalated
from tablewright.systems.chat.talk.scrub import NamesOf, own_name, scrub

AT_ONCE = 20
# A shorter message says nothing that is worth recalling.
_LEAST_WORDS = 2
_MOST_TEXT = 500
_THING = r"(?P<thing>[^.,;!?\n]{2,60}?)(?:\s+(?:too|because|and i|but|so)\b.*)?"


@dataclass(frozen=True, slots=True)
class _Phrase:
    """How children say something, and how certain it is that they mean it."""

    category: Category
    name: str
    pattern: re.Pattern[str]
    confidence: Decimal


def _phrase(category: Category, name: str, text: str, confidence: str) -> _Phrase:
    pattern = re.compile(text + _THING + r"(?=[.,;!?\n]|$)", re.IGNORECASE)
    return _Phrase(category, name, pattern, Decimal(confidence))


_PHRASES = (
    _phrase(
        "favorites", "{what}", r"\bmy favou?rite (?P<what>[a-z]{3,20}(?: [a-z]{3,20})?) (?:is|are) ", "0.95"
    ),
    _phrase("interests", "{thing}", r"\bi(?: am|'m) (?:really |very )?interested in ", "0.9"),
    _phrase(
        "interests", "{thing}", r"\bi (?:want|would like|'d like) to (?:know|learn) (?:more )?about ", "0.8"
    ),
    _phrase("learning_style", "learns best", r"\bi learn (?:best|better|most) (?:by|with|from|when) ", "0.9"),
    _phrase("preferences", "likes {thing}", r"\bi (?:really |also )?(?:like|love|enjoy) ", "0.7"),
    _phrase("preferences", "dislikes {thing}", r"\bi (?:really )?(?:hate|don't like|do not like) ", "0.7"),
)


def said_of_oneself(text: str, message_id: str) -> Iterator[tuple[Category, Entry]]:
    """What a message says of its author. The text has to be scrubbed before."""
    for phrase in _PHRASES:
        for found in phrase.pattern.finditer(text):
            thing = found["thing"].strip().lower()
            if "[" in thing:  # what was scrubbed
                continue
            parts = {"thing": thing, "what": (found.groupdict().get("what") or "").lower()}
            name = re.sub(r"[^a-z0-9_ ]", "", phrase.name.format(**parts))[:40].strip()
            if name and name[0].isalpha():
                yield phrase.category, Entry(name, thing, phrase.confidence, (message_id,))


class Extraction:
    """Extracts from the chats of users whose parents allow it."""

    def __init__(
        self,
        repository: Repository,
        periods: RetentionPeriods,
        messages: Messages,
        contexts: Contexts,
        embedder: Embedder,
        names_of: NamesOf = own_name,
    ) -> None:
        self._repository, self._periods, self._names_of = repository, periods, names_of
        self._messages, self._contexts, self._embedder = messages, contexts, embedder

    def task(self, header: Conversation) -> Sequence[Write[Task]]:
        """The task that extracts, to be written with a summary; none if no parent has allowed it."""
        user = self._repository.db.one(d.user_by_id(header.user_id))
        if user is None or not may_profile(user):
            return ()
        return (self._messages.summary_task(header, "extract", self._repository.now()),)

    def run(self, task: Task) -> Finished:
        """A task `extract`: the next messages of a conversation."""
        user = self._repository.db.one(d.user_by_id(task.user_id))
        try:
            header = self._repository.conversation(task.conversation_id, task.user_id)
        except NotFound:
            return Finished()
        if user is None or not may_profile(user):
            return Finished()
        # What no summary covers can still be taken back.
        covered = takewhile(lambda message: is_covered(header, message), self._messages.all(header))
        found = [message for message in covered if message.sequence > header.extracted_through]
        batch = found[:AT_ONCE]
        if not batch:
            return Finished()
        more = self.task(header) if len(found) > len(batch) else ()
        return Finished((*self._writes(user, header, batch), *more))

    def _writes(self, user: User, header: Conversation, batch: Sequence[Message]) -> Iterator[Write[Any]]:
        last, names = batch[-1].sequence, self._names_of(user)
        yield (
            d.conversations.update(header.user_id, header.conversation_id)
            .at(lambda c: c.extracted_through).set(last)
            .when(lambda c: c.extracted_through == header.extracted_through)
        )  # fmt: skip
        yield user_check(user.user_id, user.consent_generation)
        entries: list[tuple[Category, Entry]] = []
        for message in batch:
            if message.role == "user" and not is_escalated(message):
                text = scrub(message.text, names).text
                said = list(said_of_oneself(text, message.message_id))
                entries += said
                kind: MemoryKind = "preference" if said else "fact"
                if len(words_of(text)) >= _LEAST_WORDS:
                    yield d.memories.create(self._memory(header, message, kind, text))
        for category, merged in by_category(entries).items():
            yield self._contexts.merge_write(user.user_id, category, merged)

    def _memory(self, header: Conversation, message: Message, kind: MemoryKind, text: str) -> Memory:
        now, keys = self._repository.now(), self._repository.keys
        memory_id = f"{header.conversation_id}_{message.sequence}"
        short = text[:_MOST_TEXT]
        beacons = {keys.beacon(header.user_id, "memory", word) for word in words_of(short)}
        return Memory(
            user_id=header.user_id,
            conversation_id=header.conversation_id,
            sequence=message.sequence,
            number=1,
            memory_id=memory_id,
            kind=kind,
            about_animal=header.animal_id,
            text=keys.seal(header.user_id, f"memory/{memory_id}", short),
            words=sorted(beacons),
            embedding=tuple(self._embedder.one(short)),
            embedding_kind=self._embedder.kind,
            message_ids=[message.message_id],
            confidence=Decimal("0.8"),
            created=now,
            modified=now,
            expires_at=self._periods.until("educational_progress", message.timestamp),
        )
