"""Values of agent frameworks as they are stored: compressed, sealed with the key of the user, large ones as objects.

A sealed value of at most LIMIT bytes is in its row; a larger one is the object `agents/{folder}/{id}` (ZC-X19). Each
object has a row in `agent_objects`, written in one transaction with the row that refers to it.
Must hold: a value opens only for its user and at the place it was sealed for; an object is stored before its row, so a
row never refers to nothing; an object without a row belongs to nothing, and the sweep removes it.
Elsewhere: transactions (rows.py), the sweep and the erasure (agent_state.py).
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tablewright.design import Write
from tablewright.kit.objects.store import Objects
from tablewright.kit.subject_keys import KeyDestroyed, SubjectKeys
from tablewright.kit.tables import digest
from tablewright.systems.chat import design as d
from tablewright.systems.chat.agent_model import (
    AgentCheckpoint,
    AgentEntry,
    AgentFile,
    AgentItem,
    AgentObject,
    AgentRow,
    AgentWrite,
)
from tablewright.systems.chat.errors import Erased

FOLDER = "agents"
# An item has at most 400 KB; the rest is for its keys, and for what LangGraph calls paths.
LIMIT = 350_000
_PLAIN, _DEFLATED = b"p", b"z"


class ValueMissing(LookupError):
    """A row refers to an object that is gone: it was removed by hand, or a restored table is older than the store."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the object {name} of a large value is missing; restore it, or delete its thread")


def folder_of(user_id: str) -> str:
    """The folder of a user's objects: a digest, because a user's id may have characters that names cannot."""
    return digest("agents", user_id)


def object_name(folder: str, object_id: str) -> str:
    return f"{FOLDER}/{folder}/{object_id}"


def about(kind: str, *names: str | int) -> str:
    """What a value is sealed for: a kind of row and the names in its key, so that it opens in no other row."""
    return json.dumps([kind, *names])


def about_channel(thread_id: str, namespace: str, channel: str) -> str:
    """What the object of a channel is sealed for. Checkpoints of a thread share it, so it names none of them."""
    return about("channel", thread_id, namespace, channel)


def about_of(row: AgentRow) -> str:
    """What the value of a row is sealed for."""
    match row:
        case AgentCheckpoint():
            return about("checkpoint", row.thread_id, row.namespace, row.checkpoint_id)
        case AgentWrite():
            place = row.thread_id, row.namespace, row.checkpoint_id
            return about("writes", *place, row.task_id, row.slot)
        case AgentEntry():
            return about("entry", row.path, row.key)
        case AgentFile():
            return about("file", row.name)
        case AgentItem():
            return about("item", row.session_id, row.number)
        case _:
            raise TypeError(f"{type(row).__name__} has no value")


def pack(parts: Sequence[bytes]) -> bytes:
    """Several values as one, each behind its length."""
    return b"".join(len(part).to_bytes(4) + part for part in parts)


def unpack(packed: bytes) -> list[bytes]:
    parts, at = [], 0
    while at < len(packed):
        start = at + 4
        at = start + int.from_bytes(packed[at:start])
        parts.append(packed[start:at])
    return parts


def deflated(content: bytes) -> bytes:
    """The content, compressed if that makes it smaller."""
    small = zlib.compress(content)
    return _DEFLATED + small if len(small) < len(content) else _PLAIN + content


def inflated(stored: bytes) -> bytes:
    return zlib.decompress(stored[1:]) if stored[:1] == _DEFLATED else stored[1:]


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a value is: in its row, or in an object whose row is to be written with it."""

    value: bytes | None = None
    value_object: str | None = None
    row: AgentObject | None = None

    @property
    def writes(self) -> tuple[Write[AgentObject], ...]:
        return () if self.row is None else (d.agent_objects.put(self.row),)


class Values:
    """The values of one user."""

    def __init__(self, keys: SubjectKeys, objects: Objects, user_id: str) -> None:
        self._keys, self._objects, self._user_id = keys, objects, user_id
        self.folder = folder_of(user_id)

    def place(
        self, sealed_for: str, content: bytes, object_id: str, now: datetime, until: datetime
    ) -> Placed:
        """Seal a value for a place. A large one is stored as an object now; without its row it is swept."""
        sealed = self.seal(sealed_for, content)
        if len(sealed) <= LIMIT:
            return Placed(value=sealed)
        return Placed(value_object=object_id, row=self._stored(sealed, object_id, now, until))

    def store(
        self, sealed_for: str, content: bytes, object_id: str, now: datetime, until: datetime
    ) -> AgentObject:
        """As `place`, but always as an object."""
        return self._stored(self.seal(sealed_for, content), object_id, now, until)

    def _stored(self, sealed: bytes, object_id: str, now: datetime, until: datetime) -> AgentObject:
        self._objects.put(object_name(self.folder, object_id), sealed)
        return AgentObject(
            folder=self.folder,
            object_id=object_id,
            user_id=self._user_id,
            size=len(sealed),
            created=now,
            expires_at=until,
        )

    def read(self, row: AgentRow) -> bytes:
        """The value of a row."""
        if row.value_object is None:
            return self.open(about_of(row), row.value or b"")
        return self._fetched(about_of(row), row.value_object)

    def read_channel(self, row: AgentCheckpoint, channel: str) -> bytes:
        """The value of a channel that is an object of its own."""
        sealed_for = about_channel(row.thread_id, row.namespace, channel)
        return self._fetched(sealed_for, row.outside[channel])

    def _fetched(self, sealed_for: str, object_id: str) -> bytes:
        name = object_name(self.folder, object_id)
        stored = self._objects.get(name)
        if stored is None:
            raise ValueMissing(name)
        return self.open(sealed_for, stored)

    def seal(self, sealed_for: str, content: bytes) -> bytes:
        """The content, compressed and sealed; ERASED if the key of the user was destroyed."""
        try:
            return self._keys.seal_bytes(self._user_id, sealed_for, deflated(content))
        except KeyDestroyed:
            raise Erased from None

    def open(self, sealed_for: str, sealed: bytes) -> bytes:
        try:
            return inflated(self._keys.open_bytes(self._user_id, sealed_for, sealed))
        except KeyDestroyed:
            raise Erased from None

    def remove(self, object_ids: Sequence[str]) -> None:
        """Delete objects whose rows are deleted or were never written."""
        for object_id in object_ids:
            self._objects.remove(object_name(self.folder, object_id))
