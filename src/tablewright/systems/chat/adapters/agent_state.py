"""What agent libraries keep of a user, as a whole: exported, forgotten, erased, and the objects that nothing has.

    parts = agent_parts(state, lambda user: user.user_id)     # for kit.subjects: export, erasure and certificate

Imports no agent library: data can be erased where none is installed. A value of LangGraph is shown as far as its
serialisation can be read without the classes that it names.
Must hold: every entity of design/agents.py is in `agent_parts`; an erasure removes rows and objects, in this order, so
that the object of a row that was refused in between goes too.
Elsewhere: how values are sealed (values.py), what is written (the adapters).
"""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from tablewright.kit.objects.store import ObjectStore
from tablewright.kit.objects.sweep import sweep
from tablewright.kit.subjects import Part, Step
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.values import FOLDER, Values, folder_of, unpack
from tablewright.systems.chat.agent_model import (
    AgentCheckpoint,
    AgentEntry,
    AgentItem,
    AgentRow,
    AgentWrite,
)
from tablewright.systems.chat.repository import Repository

S = TypeVar("S")
# An object is stored before the row that refers to it: a younger one may still get its row.
_AGE = timedelta(days=1)
_SHOWN = ("thread_id", "namespace", "checkpoint_id", "task_id", "path", "key", "name", "session_id", "number")


class AgentState:
    """The rows and objects of agent libraries, of all users."""

    def __init__(self, repository: Repository, objects: ObjectStore) -> None:
        self._repository, self._objects = repository, objects

    # --- erasure ---

    def remove_objects(self, user_id: str) -> int:
        """Delete the objects of a user; how many."""
        names = list(self._objects.names(f"{FOLDER}/{folder_of(user_id)}/"))
        for name in names:
            self._objects.remove(name)
        return len(names)

    def forget(self, user_id: str) -> int:
        """Delete what agents remember of a user between chats: a parent switched profiles off; how many entries."""
        objects = [row.value_object for row in self._entries(user_id) if row.value_object]
        gone = self._repository.db.clear(d.agent_entries_of_user(user_id=user_id))
        folder = folder_of(user_id)
        self._repository.db.batch([d.agent_objects.discard(folder, each) for each in objects])
        self._values(user_id).remove(objects)
        return gone

    def sweep(self) -> int:
        """Delete objects older than a day whose row is gone, because it expired or was never written; how many."""
        found = sweep(self._objects, f"{FOLDER}/", self._has_row, _AGE, self._repository.world)
        return sum(1 for _ in found)

    def _has_row(self, name: str) -> bool:
        _, folder, object_id = name.split("/")
        get = d.agent_objects.get(folder, object_id)
        return self._repository.db.one(get, consistent=True) is not None

    def _entries(self, user_id: str) -> list[AgentEntry]:
        return list(self._repository.db.all(d.agent_entries_of_user(user_id=user_id)))

    # --- export ---

    def shown(self, row: AgentRow) -> dict[str, Any]:
        """A row with its value, as far as it is readable."""
        known = {name: getattr(row, name) for name in _SHOWN if hasattr(row, name)}
        times = {"created": row.created.isoformat(), "keptUntil": row.expires_at.isoformat()}
        return {**known, **times, "value": self._value(row)}

    def _value(self, row: AgentRow) -> object:
        content = self._values(row.user_id).read(row)
        match row:
            case AgentCheckpoint():
                return self._channels(row, unpack(content))
            case AgentWrite():
                parts = unpack(content)
                return [
                    {"channel": parts[at + 1].decode(), "value": readable(parts[at + 2], parts[at + 3])}
                    for at in range(0, len(parts), 4)
                ]
            case AgentEntry():
                return json.loads(unpack(content)[0])
            case AgentItem():
                return json.loads(content)
            case _:
                return plain(content)

    def _channels(self, row: AgentCheckpoint, parts: list[bytes]) -> dict[str, object]:
        """The values of a checkpoint by channel; the first four parts are the checkpoint itself and its metadata."""
        shown = {parts[at].decode(): readable(*parts[at + 1 : at + 3]) for at in range(4, len(parts), 3)}
        for channel in row.outside:
            shown[channel] = readable(*unpack(self._values(row.user_id).read_channel(row, channel)))
        return shown

    def _values(self, user_id: str) -> Values:
        return Values(self._repository.keys, self._objects, user_id)


def agent_parts(state: AgentState, user_id: Callable[[S], str]) -> tuple[Part[S, Any] | Step[S], ...]:
    """Where the data of a user is, for the export, the erasure and its certificate (ZC-S18)."""
    return (
        Part(d.agent_checkpoints_of_user, "agentCheckpoints", key=user_id, show=state.shown),
        Part(d.agent_writes_of_user, "agentWrites", key=user_id, show=state.shown),
        Part(d.agent_entries_of_user, "agentEntries", key=user_id, show=state.shown),
        Part(d.agent_files_of_user, "agentFiles", key=user_id, show=state.shown),
        Part(d.agent_sessions_of_user, "agentSessions", key=user_id),
        Part(d.agent_items_of_user, "agentItems", key=user_id, show=state.shown),
        Part(
            d.agent_objects_in,
            key=lambda who: folder_of(user_id(who)),
            hidden="the values that they hold are exported with their rows",
        ),
        Step("agent_object_bytes", lambda who: state.remove_objects(user_id(who))),
    )


# --- values without their classes ---


def readable(kind: bytes, content: bytes) -> object:
    """A serialised value of LangGraph as JSON; base64 if it cannot be read."""
    match kind:
        case b"null":
            return None
        case b"json":
            return json.loads(content)
        case b"msgpack":
            return _unpacked(content)
        case _:
            return plain(content)


def _unpacked(content: bytes) -> object:
    try:
        import ormsgpack  # of the extra `agents`
    except ImportError:
        return plain(content)

    def extension(code: int, inner: bytes) -> object:
        return ormsgpack.unpackb(inner, ext_hook=extension, option=ormsgpack.OPT_NON_STR_KEYS)

    return plain(ormsgpack.unpackb(content, ext_hook=extension, option=ormsgpack.OPT_NON_STR_KEYS))


def plain(value: object) -> object:
    """A value of JSON types alone."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return _text_of(value)
        case Mapping():
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple() | set():
            return [plain(each) for each in value]
        case _:
            return str(value)


def _text_of(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return b64encode(content).decode()
