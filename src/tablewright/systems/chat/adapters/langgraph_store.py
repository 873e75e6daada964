"""LangGraph's store over the store of Zoo chat: what agents remember of one user between threads (F.1, ZC-X17).

    store = UserStore(chat, "child-1")
    store.put(("animals", "favourite"), "panda", {"text": "likes red pandas"})
    store.search(("animals",), query="which animal does she like?", filter={"kind": {"$ne": "old"}})

Each entry belongs to the user whatever its namespace says, so another user's entries cannot be named. Texts become
vectors on this machine; one that sends them to a third party is `Embedder(kind, embed, leaves_machine=True)`, and gets
none without the consent scope `disclosure` (ZC-X23).
Must hold: a namespace includes those below it; numbers come back as they were put; namespaces are listed without a
Scan; an entry expires with its retention class at the latest, whatever ttl was asked for.
Elsewhere: how entries are stored and compared (entries.py).
"""

import asyncio
from collections.abc import Iterable, Sequence

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
)

from tablewright.systems.chat.adapters.entries import Entry, Path, Put, UserEntries
from tablewright.systems.chat.adapters.rows import UserRows, WriteScope
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.memory.embedding import Embedder, open_embedder
from tablewright.systems.chat.model import RetentionClass

LOCAL = open_embedder()


class UserStore(BaseStore):
    """The store of one user. `fields` are what a text search looks at: the whole value, unless paths are named."""

    supports_ttl = True

    def __init__(
        self,
        chat: Chat,
        user_id: str,
        *,
        embedder: Embedder | None = LOCAL,
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
        kept_as: RetentionClass = "context_summary",
        scope: WriteScope = "profiling",
    ) -> None:
        """`scope` is what a parent must have allowed: to remember a child between chats is a profile (ZC-X26)."""
        self._entries = UserEntries(UserRows(chat, user_id, kept_as, scope), embedder)
        self._fields, self.ttl_config = tuple(fields), ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Reads first, as of before the puts; all gets are one call, all puts are one transaction."""
        asked = list(ops)
        results: list[Result] = [None] * len(asked)
        gets = [(at, op) for at, op in enumerate(asked) if isinstance(op, GetOp)]
        wanted = [(op.namespace, op.key) for _, op in gets]
        found = self._entries.get(wanted, [op.refresh_ttl for _, op in gets])
        for (at, _), entry in zip(gets, found, strict=True):
            results[at] = None if entry is None else _item(entry)
        puts: list[Put] = []
        for at, op in enumerate(asked):
            match op:
                case SearchOp():
                    results[at] = self._search(op)
                case ListNamespacesOp():
                    results[at] = self._namespaces(op)
                case PutOp():
                    puts.append(self._put(op))
                case GetOp():
                    pass
                case _:
                    raise ValueError(f"{type(op).__name__} is not an operation of a store")
        self._entries.apply(puts)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    # --- parts ---

    def _put(self, op: PutOp) -> Put:
        texts: list[str] = []
        if op.value is not None and op.index is not False:
            for field in self._fields if op.index is None else op.index:
                texts += get_text_at_path(op.value, field if field == "$" else tokenize_path(field))
        seconds = None if op.ttl is None else max(1, round(op.ttl * 60))
        return Put(op.namespace, op.key, op.value, tuple(texts), seconds)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        entries, end = self._entries, op.offset + op.limit
        if op.filter or op.query:
            found = entries.search(
                op.namespace_prefix, op.filter or {}, op.query, op.offset, end, op.refresh_ttl
            )
        else:
            found = entries.newest(op.namespace_prefix, op.offset, end, op.refresh_ttl)
        return [_search_item(entry) for entry in found]

    def _namespaces(self, op: ListNamespacesOp) -> list[Path]:
        conditions = op.match_conditions or ()
        found = {
            path[: op.max_depth]
            for path in self._entries.paths(_literal_prefix(conditions))
            if all(_is_matched(condition, path) for condition in conditions)
        }
        return sorted(found)[op.offset : op.offset + op.limit]


def _literal_prefix(conditions: Iterable[MatchCondition]) -> Path:
    """The longest beginning without wildcards that the conditions ask for: only paths below it are read."""
    prefixes = [condition.path for condition in conditions if condition.match_type == "prefix"]
    literal = [path[: path.index("*")] if "*" in path else path for path in prefixes]
    return max(literal, key=len, default=())


def _is_matched(condition: MatchCondition, path: Path) -> bool:
    wanted = condition.path
    if len(path) < len(wanted):
        return False
    part = path[: len(wanted)] if condition.match_type == "prefix" else path[len(path) - len(wanted) :]
    return all(asked in ("*", there) for asked, there in zip(wanted, part, strict=True))


def _item(entry: Entry) -> Item:
    return Item(
        value=entry.value,
        key=entry.key,
        namespace=entry.path,
        created_at=entry.created,
        updated_at=entry.modified,
    )


def _search_item(entry: Entry) -> SearchItem:
    return SearchItem(entry.path, entry.key, entry.value, entry.created, entry.modified, entry.score)
