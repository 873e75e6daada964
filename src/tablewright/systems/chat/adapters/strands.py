"""Storage and memory of Strands agents over the store of Zoo chat (F.1).

    storage = UserStorage(chat, "child-1")
    agent = Agent(model, session_manager=SnapshotSessionManager("lion", storage=storage))
    memory = MemoryManager(stores=[UserMemoryStore(chat, "child-1")])

Must hold: bytes come back as they were written; names are those of the storages that Strands ships: `/` separates, runs
of it count as one, `..` and backslashes are refused; a refusal is a StorageError, whose cause says why.
Elsewhere: entries, by which memories are found (entries.py).
"""

import asyncio
import builtins
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from strands.memory.extraction.types import ExtractionConfig
from strands.memory.types import MemoryEntry, MemoryStore, Metadata, SearchOptions
from strands.storage.search.keyword import STOP_WORDS, token_overlap_score, tokenize
from strands.storage.storage import StorageSearchResult
from strands.types.exceptions import StorageError

from tablewright.design import Write
from tablewright.edge.errors import CallerError
from tablewright.kit.tables import digest
from tablewright.mapping import KeyTooLong
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.entries import Put, UserEntries
from tablewright.systems.chat.adapters.rows import UserRows
from tablewright.systems.chat.adapters.values import about
from tablewright.systems.chat.agent_model import AgentFile
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.memory.embedding import Embedder, open_embedder
from tablewright.systems.chat.model import RetentionClass

LOCAL = open_embedder()
_HIGHEST = "\U0010ffff"
_EXTENSION = re.compile(r"(?<=[^/])\.[^./]*$")
_MOST_MEMORIES = 10
T = TypeVar("T")


class UserStorage:
    """The files of one user: a Strands `Storage`."""

    def __init__(self, chat: Chat, user_id: str, *, kept_as: RetentionClass = "active_conversation") -> None:
        self._user = UserRows(chat, user_id, kept_as)

    async def write(self, key: str, data: bytes) -> None:
        """Store bytes under a name, replacing others."""
        name = normal_name(key)
        await _refusable(key, lambda: self._write(name, bytes(data)))

    async def read(self, key: str) -> bytes | None:
        """The bytes of a name; None if there are none."""
        name = normal_name(key)
        return await _refusable(key, lambda: self._read(name))

    async def delete(self, key: str) -> None:
        """Delete the bytes of a name, if there are any."""
        name = normal_name(key)
        await _refusable(key, lambda: self._delete(name))

    async def list(self, query: str = "") -> builtins.list[str]:
        """The names that begin with a prefix, in order."""
        prefix = normal_prefix(query)
        return await _refusable(query, lambda: sorted(row.name for row in self._below(prefix)))

    async def search(self, query: str) -> builtins.list[StorageSearchResult]:
        """What has most of the words of a query in its name or its text, best first."""
        words = tokenize(query) - STOP_WORDS
        return await _refusable(query, lambda: self._search(words)) if words else []

    # --- parts ---

    def _row(self, name: str) -> AgentFile | None:
        return self._user.db.one(d.agent_files.get(self._user.user_id, name), consistent=True)

    def _below(self, prefix: str) -> Iterator[AgentFile]:
        low, high = prefix or "\0", prefix + _HIGHEST
        found = self._user.db.all(d.agent_files_between(user_id=self._user.user_id, low=low, high=high))
        return (row for row in found if row.name.startswith(prefix))

    def _write(self, name: str, data: bytes) -> None:
        before, user = self._row(name), self._user
        placed = user.place(about("file", name), data, user.until())
        now = user.now()
        row = AgentFile(
            user_id=user.user_id,
            name=name,
            value=placed.value,
            value_object=placed.value_object,
            retention_class=user.kept_as,
            created=now if before is None else before.created,
            modified=now,
            expires_at=user.until(),
        )
        user.write(*placed.writes, d.agent_files.put(row))
        self._remove_object(before)

    def _read(self, name: str) -> bytes | None:
        row = self._row(name)
        return None if row is None else self._opened(row)

    def _opened(self, row: AgentFile) -> bytes:
        return self._user.read(row)

    def _delete(self, name: str) -> None:
        row = self._row(name)
        gone: list[Write[Any]] = [d.agent_files.discard(self._user.user_id, name)]
        self._user.delete(gone, [])
        self._remove_object(row)

    def _remove_object(self, row: AgentFile | None) -> None:
        if row is not None and row.value_object is not None:
            self._user.delete((), [row.value_object])

    def _search(self, words: set[str]) -> builtins.list[StorageSearchResult]:
        found: builtins.list[StorageSearchResult] = []
        for row in sorted(self._below(""), key=lambda each: each.name):
            data = self._opened(row)
            text = f"{_EXTENSION.sub('', row.name)} {data.decode(errors='replace')}"
            if score := token_overlap_score(words, text):
                found.append(StorageSearchResult(key=row.name, score=score, data=data))
        return sorted(found, key=lambda each: each.score, reverse=True)


class UserMemoryStore(MemoryStore):
    """What agents remember of one user: a Strands `MemoryStore`. A memory that is added twice is one.

    A parent must have allowed profiles (ZC-X26).
    """

    def __init__(
        self,
        chat: Chat,
        user_id: str,
        name: str = "memories",
        *,
        description: str | None = "What the child said in earlier chats.",
        max_search_results: int | None = _MOST_MEMORIES,
        writable: bool = True,
        extraction: ExtractionConfig | bool | None = None,
        embedder: Embedder | None = LOCAL,
        kept_as: RetentionClass = "context_summary",
    ) -> None:
        self.name, self.description, self.max_search_results = name, description, max_search_results
        self.writable, self.extraction = writable, extraction
        self._entries = UserEntries(UserRows(chat, user_id, kept_as, "profiling"), embedder)
        self._path = ("strands", name)

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """The memories nearest to a query; each has its score in its metadata."""
        most = (options or {}).get("max_search_results") or self.max_search_results or _MOST_MEMORIES
        found = await asyncio.to_thread(self._entries.search, self._path, {}, query, 0, most, False)
        return [
            MemoryEntry(
                content=entry.value["content"], metadata={**entry.value["metadata"], "score": entry.score}
            )
            for entry in found
        ]

    async def add(self, content: str, metadata: Metadata | None = None) -> str:
        """Remember something; returns its key."""
        key = digest(content)
        put = Put(self._path, key, {"content": content, "metadata": metadata or {}}, (content,))
        await asyncio.to_thread(self._entries.apply, [put])
        return key


# --- names ---


def normal_name(key: str) -> str:
    """A name as it is stored; StorageError if it cannot be one."""
    name = normal_prefix(key).strip("/")
    if not name:
        raise StorageError("a name cannot be empty")
    return name


def normal_prefix(prefix: str) -> str:
    name = re.sub(r"/+", "/", prefix).lstrip("/")
    if "\\" in name or ".." in name.split("/"):
        raise StorageError(f"'{prefix}' cannot be a name: it has a backslash or '..'")
    return name


async def _refusable(key: str, run: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(run)
    except (CallerError, KeyTooLong) as refused:
        raise StorageError(f"'{key}' was refused: {refused}") from refused
