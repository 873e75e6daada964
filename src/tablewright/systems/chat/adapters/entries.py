"""Entries of a user's store: JSON objects under a path and a key, found by key, by path, by field and by meaning.

Values and the vectors of their texts are sealed, so a search opens what lies under its path and compares it here:
exact, with any filter, and no vector of a child can be read in the table. One user has few enough entries for that.
Must hold: an entry that has expired is never found; vectors of different kinds are never compared; a batch of puts is
one transaction; an embedder that leaves the machine gets no text without the consent scope `disclosure`.
Elsewhere: the interfaces (langgraph_store.py, strands.py), vectors (memory/embedding.py).
"""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from typing import Any, TypeAlias

from tablewright.design import Query, Write
from tablewright.mapping import Missing
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.rows import UserRows
from tablewright.systems.chat.adapters.values import about, pack, unpack
from tablewright.systems.chat.agent_model import AgentEntry
from tablewright.systems.chat.memory.embedding import Embedder

Path: TypeAlias = tuple[str, ...]
_SEPARATOR, _BEHIND_SEPARATOR = "/", "0"
# Sorts behind every key of a path, and before the next path.
_BEHIND_KEYS = "$"
_LOWEST, _HIGHEST = "\0", "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Entry:
    """An opened entry; `score` is its nearness to what was searched for, 1 if it is the same."""

    path: Path
    key: str
    value: dict[str, Any]
    created: datetime
    modified: datetime
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Put:
    """An entry that is to be stored, or deleted if `value` is None. `texts` are what it is found by."""

    path: Path
    key: str
    value: Mapping[str, Any] | None
    texts: tuple[str, ...] = ()
    ttl_seconds: int | None = None


class UserEntries:
    """The entries of one user."""

    def __init__(self, user: UserRows, embedder: Embedder | None) -> None:
        self._user, self._embedder = user, embedder

    # --- reads ---

    def get(self, wanted: Sequence[tuple[Path, str]], refresh: Sequence[bool]) -> list[Entry | None]:
        """Entries by path and key, in one call; those to be refreshed get their time again."""
        rows = self._rows(wanted)
        self._refresh([row for row, again in zip(rows, refresh, strict=True) if row is not None and again])
        return [None if row is None else self._opened(row) for row in rows]

    def newest(self, prefix: Path, start: int, end: int, refresh: bool) -> list[Entry]:
        """The entries under a path, those changed last first. Only the ones that are returned are opened."""
        rows = sorted(self._below(prefix), key=lambda row: row.modified, reverse=True)[start:end]
        self._refresh(rows if refresh else [])
        return [self._opened(row) for row in rows]

    def search(
        self,
        prefix: Path,
        filters: Mapping[str, Any],
        query: str | None,
        start: int,
        end: int,
        refresh: bool,
    ) -> list[Entry]:
        """The entries under a path that match, the nearest to the query first; those without a vector come last."""
        asked = None if query is None or self._embedder is None else self._embedded([query])[0]
        found: list[tuple[float, Entry, AgentEntry]] = []
        for row in sorted(self._below(prefix), key=lambda each: each.modified, reverse=True):
            entry, vectors = self._with_vectors(row)
            if matches(entry.value, filters):
                score = max((cosine(asked, vector) for vector in vectors), default=None) if asked else None
                shown = Entry(entry.path, entry.key, entry.value, entry.created, entry.modified, score)
                found.append((-2.0 if score is None else score, shown, row))
        found.sort(key=lambda each: each[0], reverse=True)
        chosen = found[start:end]
        self._refresh([row for _, _, row in chosen] if refresh else [])
        return [entry for _, entry, _ in chosen]

    def paths(self, prefix: Path = ()) -> Iterator[Path]:
        """The paths that have entries, in order: a read for each, which jumps over the entries of the last one."""
        low, high = _bounds(prefix)
        while (row := self._user.db.first(self._between(low, high))) is not None:
            if row.path.startswith(_text_of(prefix)):
                yield path_of(row.path)
            low = row.path + _BEHIND_KEYS

    # --- writes ---

    def apply(self, puts: Sequence[Put]) -> None:
        """Store and delete entries: one read of those that are there, one transaction. An entry keeps its `created`."""
        last = {(put.path, put.key): put for put in puts}
        if not last:
            return
        before = self._rows(list(last))
        vectors = self._vectors([put for put in last.values() if put.value is not None])
        writes: list[Write[Any]] = []
        for put, row in zip(last.values(), before, strict=True):
            if put.value is None:
                writes.append(d.agent_entries.discard(self._user.user_id, _text_of(put.path), put.key))
            else:
                writes += self._stored(put, row, vectors.get((put.path, put.key), []))
        replaced = [row.value_object for row in before if row is not None and row.value_object is not None]
        if any(put.value is not None for put in last.values()):
            self._user.write(*writes)
            self._user.delete((), replaced)
        else:
            self._user.delete(writes, replaced)

    def _stored(self, put: Put, before: AgentEntry | None, vectors: list[list[float]]) -> list[Write[Any]]:
        text, user = _text_of(put.path), self._user
        until, now = user.until(put.ttl_seconds), user.now()
        kind = self._embedder.kind if self._embedder is not None and vectors else ""
        numbers = array("f", [number for vector in vectors for number in vector]).tobytes()
        content = [json.dumps(put.value).encode(), kind.encode(), str(len(vectors)).encode(), numbers]
        placed = user.place(about("entry", text, put.key), pack(content), until)
        row = AgentEntry(
            user_id=user.user_id,
            path=text,
            key=put.key,
            value=placed.value,
            value_object=placed.value_object,
            ttl_seconds=put.ttl_seconds,
            retention_class=user.kept_as,
            created=now if before is None else before.created,
            modified=now,
            expires_at=until,
        )
        return [*placed.writes, d.agent_entries.put(row)]

    def _vectors(self, puts: Sequence[Put]) -> dict[tuple[Path, str], list[list[float]]]:
        """The vectors of all texts, made together: a model may charge for each call."""
        texts = [(put, text) for put in puts for text in put.texts]
        if self._embedder is None or not texts:
            return {}
        made: dict[tuple[Path, str], list[list[float]]] = {}
        for (put, _), vector in zip(texts, self._embedded([text for _, text in texts]), strict=True):
            made.setdefault((put.path, put.key), []).append(vector)
        return made

    def _embedded(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts; a third party gets these only with the consent of this moment."""
        assert self._embedder is not None
        if self._embedder.leaves_machine:
            self._user.refuse_without_disclosure()
        return self._embedder.embed(texts)

    # --- parts ---

    def _rows(self, wanted: Sequence[tuple[Path, str]]) -> list[AgentEntry | None]:
        gets = [d.agent_entries.get(self._user.user_id, _text_of(path), key) for path, key in wanted]
        return self._user.db.many(gets, consistent=True) if gets else []

    def _between(self, low: str, high: str) -> Query[AgentEntry]:
        return d.agent_entries_between(user_id=self._user.user_id, low=low, high=high)

    def _below(self, prefix: Path) -> Iterator[AgentEntry]:
        found = self._user.db.all(self._between(*_bounds(prefix)))
        return (row for row in found if row.path.startswith(_text_of(prefix)))

    def _opened(self, row: AgentEntry) -> Entry:
        return self._with_vectors(row)[0]

    def _with_vectors(self, row: AgentEntry) -> tuple[Entry, list[Sequence[float]]]:
        content, kind, count, packed = unpack(self._user.read(row))
        entry = Entry(path_of(row.path), row.key, json.loads(content), row.created, row.modified)
        if self._embedder is None or kind.decode() != self._embedder.kind or not int(count):
            return entry, []
        numbers = array("f", packed)
        size = len(numbers) // int(count)
        return entry, [numbers[at : at + size] for at in range(0, len(numbers), size)]

    def _refresh(self, rows: Iterable[AgentEntry]) -> None:
        """Begin the time of entries again that have one of their own."""
        for row in rows:
            if row.ttl_seconds is None or (until := self._user.until(row.ttl_seconds)) <= row.expires_at:
                continue
            write = d.agent_entries.update(row.user_id, row.path, row.key).at(lambda e: e.expires_at)
            try:
                self._user.write(write.set(until))
            except Missing:
                continue  # deleted at this moment
            if row.value_object is not None:
                self._user.renew_object(row.value_object, until)


# --- paths ---


def _text_of(path: Path) -> str:
    """A path as text: every element ends with a separator, so that no path is the beginning of another element."""
    escaped = (each.replace("%", "%25").replace(_SEPARATOR, "%2F") for each in path)
    return "".join(f"{each}{_SEPARATOR}" for each in escaped)


def path_of(text: str) -> Path:
    parts = text.split(_SEPARATOR)[:-1]
    return tuple(part.replace("%2F", _SEPARATOR).replace("%25", "%") for part in parts)


def _bounds(prefix: Path) -> tuple[str, str]:
    text = _text_of(prefix)
    return (text, text[:-1] + _BEHIND_SEPARATOR) if text else (_LOWEST, _HIGHEST)


# --- comparison ---


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    length = sqrt(sum(each * each for each in one)) * sqrt(sum(each * each for each in other))
    return sum(a * b for a, b in zip(one, other, strict=True)) / length if length else 0.0


def matches(value: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    return all(_fits(value.get(name), wanted) for name, wanted in filters.items())


def _fits(value: Any, wanted: Any) -> bool:
    """Equal; or as operators such as {"$gt": 3} say; or, for objects, in each of the fields that are named."""
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_compares(value, operator, operand) for operator, operand in wanted.items())
        return isinstance(value, Mapping) and matches(value, wanted)
    if isinstance(wanted, list | tuple):
        is_list = isinstance(value, list | tuple) and len(value) == len(wanted)
        return is_list and all(map(_fits, value, wanted))
    return bool(value == wanted)


def _compares(value: Any, operator: str, operand: Any) -> bool:
    match operator:
        case "$eq":
            return bool(value == operand)
        case "$ne":
            return bool(value != operand)
        case "$gt" | "$gte" | "$lt" | "$lte":
            return _is_ordered(value, operator, operand)
        case _:
            raise ValueError(f"the operator '{operator}' is unknown; use $eq, $ne, $gt, $gte, $lt or $lte")


def _is_ordered(value: Any, operator: str, operand: Any) -> bool:
    """Numbers by size, texts by their characters; what cannot be compared does not match."""
    numbers = isinstance(value, int | float) and isinstance(operand, int | float)
    if not numbers and not (isinstance(value, str) and isinstance(operand, str)):
        return False
    if operator in ("$gt", "$gte"):
        return bool(value > operand or (operator == "$gte" and value == operand))
    return bool(value < operand or (operator == "$lte" and value == operand))
