"""What is known of the caller: `/me/context/{category}`, `/me/memories` (ZC-17, ZC-X7, ZC-X20).

Elsewhere: the same for a parent (children.py), how it is learned (memory/extraction.py).
"""

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field, JsonValue

from tablewright.edge.routes import Router
from tablewright.kit.http import Body, Page, listed
from tablewright.systems.chat.access import Me
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.errors import NoConsent
from tablewright.systems.chat.family.consent import may_profile
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.memory.contexts import Entry, KnownContext
from tablewright.systems.chat.memory.recall import Recollection
from tablewright.systems.chat.model import Category, Memory, MemoryKind, Value

Question = Annotated[str, Query(alias="q", min_length=1, max_length=500)]


class ContextChange(Body):
    """Entries to set; others stay as they are."""

    data: dict[str, JsonValue] = Field(min_length=1, max_length=20)
    confidence: Decimal = Field(default=Decimal(1), ge=0, le=1)


class EntryView(Value):
    """One thing that is known, how certain it is, and from which messages it came."""

    value: JsonValue
    confidence: Decimal
    message_ids: list[str]
    updated: datetime | None


class ContextView(Value):
    """A category with what is known in it."""

    category: Category
    data: dict[str, EntryView]
    last_updated: datetime
    version: int


class MemoryView(Value):
    """A memory, with its scores if it was searched for."""

    memory_id: str
    conversation_id: str
    kind: MemoryKind
    animal_id: str
    text: str
    message_ids: list[str]
    created: datetime
    expires_at: datetime
    score: float | None = None
    by_meaning: float | None = None
    by_words: float | None = None


def context_view(known: KnownContext) -> ContextView:
    data = {
        entry.name: EntryView(
            value=entry.value,
            confidence=entry.confidence,
            message_ids=list(entry.message_ids),
            updated=entry.updated,
        )
        for entry in known.entries
    }
    return ContextView(
        category=known.category, data=data, last_updated=known.last_updated, version=known.version
    )


def memory_view(memory: Memory, found: Recollection | None = None) -> MemoryView:
    return MemoryView(
        memory_id=memory.memory_id,
        conversation_id=memory.conversation_id,
        kind=memory.kind,
        animal_id=memory.about_animal,
        text=memory.text,
        message_ids=memory.message_ids,
        created=memory.created,
        expires_at=memory.expires_at,
        score=found.score if found else None,
        by_meaning=found.by_meaning if found else None,
        by_words=found.by_words if found else None,
    )


def _refuse_without_profiling(user: User) -> None:
    """Nothing is remembered of a child before a parent switches that on (ZC-X26)."""
    if user.role == "student" and not may_profile(user):
        raise NoConsent("The animals can't remember things about you yet. A parent has to allow it first.")


def context(chat: Chat) -> APIRouter:
    api = Router(tags=["me"])
    contexts, recall = chat.contexts, chat.recall

    @api.get("/me/context")
    def list_context(user: Me) -> Page[ContextView]:
        """Everything that is known of the caller, by category."""
        return listed(map(context_view, contexts.of(user.user_id)))

    @api.get("/me/context/{category}")
    def get_context(category: Category, user: Me) -> ContextView:
        return context_view(contexts.get(user.user_id, category))

    @api.put("/me/context/{category}")
    def change_context(category: Category, body: ContextChange, user: Me) -> ContextView:
        """Set some entries. Two devices that set different entries at once both succeed."""
        _refuse_without_profiling(user)
        entries = [Entry(name, value, body.confidence) for name, value in body.data.items()]
        return context_view(contexts.merge(user.user_id, category, entries, user.consent_generation))

    @api.delete("/me/context/{category}", status_code=204)
    def delete_context(category: Category, user: Me) -> None:
        contexts.delete(user.user_id, category)

    @api.delete("/me/context/{category}/{name}")
    def remove_entry(category: Category, name: str, user: Me) -> ContextView:
        """Forget one entry."""
        return context_view(contexts.remove(user.user_id, category, name))

    @api.get("/me/memories", response_model_exclude_none=True)
    def search_memories(
        question: Question,
        user: Me,
        kind: MemoryKind | None = None,
        animal: Annotated[str | None, Query(max_length=128)] = None,
        top: Annotated[int, Query(ge=1, le=20)] = 5,
    ) -> Page[MemoryView]:
        """Memories that match a question by meaning and by words, the best first."""
        found = recall.search(user.user_id, question, kind=kind, animal_id=animal, top=top)
        return listed(memory_view(each.memory, each) for each in found)

    @api.delete("/me/memories/{memory_id}", status_code=204)
    def forget_memory(memory_id: str, user: Me) -> None:
        recall.forget(user.user_id, memory_id)

    return api
