"""Storage and memory of Strands: used by the real session manager and memory manager, offline."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest
from strands import Agent
from strands.memory.memory_manager import MemoryManager
from strands.models.model import Model
from strands.session.snapshot_session_manager import SnapshotSessionManager
from strands.storage.storage import Storage
from strands.types.exceptions import StorageError
from tests.systems.chat.place import Place, refuses

from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.strands import UserMemoryStore, UserStorage
from tablewright.systems.chat.errors import Erased


class Parrot(Model):
    """A model of Strands' own interface, without a network: it says how many messages it got."""

    def update_config(self, **config: Any) -> None:
        pass

    def get_config(self) -> Any:
        return {"model_id": "parrot"}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": f"Roar! I know {len(messages)} messages."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def storage_of(at: Place, user_id: str = "u_9") -> UserStorage:
    at.child(user_id)
    return UserStorage(at.chat, user_id)


def lion(storage: UserStorage) -> Agent:
    manager = SnapshotSessionManager("chat-1", storage=storage)
    return Agent(model=Parrot(), agent_id="lion", session_manager=manager, callback_handler=None)


def test_a_session_manager_of_strands_restores_an_agent_in_another_process(at: Place) -> None:
    lion(storage_of(at))("hello")
    again = lion(UserStorage(at.chat, "u_9"))
    result = again("do you remember?")
    assert str(result).strip() == "Roar! I know 3 messages."
    assert len(again.messages) == 4
    assert asyncio.run(UserStorage(at.chat, "u_9").list("session/chat-1/"))


def test_bytes_come_back_and_names_are_listed_in_order(at: Place) -> None:
    storage = storage_of(at)
    assert isinstance(storage, Storage)

    async def use() -> None:
        for name in ("b/2", "a/1", "/a//2/", "a#/3"):
            await storage.write(name, name.encode() + b"\0\xff")
        assert await storage.read("a/2") == b"/a//2/\0\xff"
        assert await storage.list("") == ["a#/3", "a/1", "a/2", "b/2"]
        assert await storage.list("a/") == ["a/1", "a/2"]
        assert await storage.list("a") == ["a#/3", "a/1", "a/2"]
        await storage.delete("a/2")
        await storage.delete("never written")
        assert await storage.read("a/2") is None

    asyncio.run(use())


@pytest.mark.parametrize("name", ["", "/", "a/../b", "a\\b"])
def test_a_name_that_leads_elsewhere_is_refused(at: Place, name: str) -> None:
    storage = storage_of(at)
    with pytest.raises(StorageError):
        asyncio.run(storage.write(name, b""))


def test_a_search_finds_words_in_names_and_texts(at: Place) -> None:
    storage = storage_of(at)

    async def use() -> list[tuple[str, float]]:
        await storage.write("notes/panda.md", b"It likes bamboo and sleep.")
        await storage.write("notes/lion.md", b"It likes meat.")
        found = await storage.search("does the panda like bamboo?")
        assert found[0].data == b"It likes bamboo and sleep."
        assert await storage.search("the of and") == []
        return [(one.key, one.score) for one in found]

    assert asyncio.run(use()) == [("notes/panda.md", 2)]


def test_files_are_sealed_and_of_one_user(at: Place) -> None:
    asyncio.run(storage_of(at, "u_9").write("a", b"my name is Wilhelmina"))
    assert asyncio.run(storage_of(at, "u_10").list("")) == []
    (row,) = at.db.all(d.agent_files_of_user(user_id="u_9"))
    assert b"Wilhelmina" not in (row.value or b"")


def test_a_user_who_is_being_erased_is_refused_with_the_reason(at: Place) -> None:
    storage = storage_of(at)
    at.db.write(d.users.update("u_9").move("erasing", by="parent").at(lambda u: u.consent_generation).add(1))
    with pytest.raises(StorageError) as refused:
        asyncio.run(storage.write("a", b"late"))
    assert isinstance(refused.value.__cause__, Erased)
    assert asyncio.run(storage.list("")) == []


def test_a_large_file_is_an_object_that_is_replaced_and_deleted_with_it(at: Place) -> None:
    storage = storage_of(at)
    content = os.urandom(500_000)
    for _ in range(2):
        asyncio.run(storage.write("big", content))
    assert asyncio.run(storage.read("big")) == content
    assert len(list(at.chat.objects.names("agents/"))) == 1
    asyncio.run(storage.delete("big"))
    assert list(at.chat.objects.names("agents/")) == []


def test_a_file_expires_with_its_retention_class(at: Place) -> None:
    storage = storage_of(at)
    asyncio.run(storage.write("a", b"1"))
    at.later(days=31)
    assert asyncio.run(storage.read("a")) is None
    assert asyncio.run(storage.list("")) == []


# --- memory ---


def test_the_memory_manager_of_strands_adds_and_finds_memories(at: Place) -> None:
    at.child("u_9")
    manager = MemoryManager(stores=[UserMemoryStore(at.chat, "u_9")])

    async def use() -> list[Any]:
        for text in ("Sam likes red pandas.", "Sam is afraid of the dark.", "Sam likes red pandas."):
            await manager.add(text, {"metadata": {"from": "chat-1"}})
        return await manager.search("which pandas does Sam like?", {"max_search_results": 1})

    (found,) = asyncio.run(use())
    assert found.content == "Sam likes red pandas."
    assert found.store_name == "memories"
    assert found.metadata["from"] == "chat-1"
    assert len(list(at.db.all(d.agent_entries_of_user(user_id="u_9")))) == 2


def test_memories_need_a_parent_who_allowed_profiles(at: Place) -> None:
    at.child("u_1", scopes=["collect_and_use"])
    with refuses("NO_CONSENT"):
        asyncio.run(UserMemoryStore(at.chat, "u_1").add("Sam likes red pandas."))
