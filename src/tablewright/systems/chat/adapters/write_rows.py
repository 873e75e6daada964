"""What tasks of a LangGraph step have written, as rows: one for the usual writes of a task, one for each special one.

Must hold: of usual writes those of the first attempt stay, and special ones (an interrupt, an error, the answer to an
interrupt) are replaced, as LangGraph has it; writes come back in the order in which LangGraph applies them.
Elsewhere: the interface (langgraph_checkpoints.py), checkpoints (checkpoint_rows.py), sealing (values.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from langgraph.checkpoint.base import WRITES_IDX_MAP, PendingWrite, writes_sort_key
from langgraph.checkpoint.serde.base import SerializerProtocol

from tablewright.design import Write
from tablewright.kit.tables import digest
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.checkpoint_places import CheckpointPath, place_of_row
from tablewright.systems.chat.adapters.rows import UserRows
from tablewright.systems.chat.adapters.values import about, pack, unpack
from tablewright.systems.chat.agent_model import AgentCheckpoint, AgentObject, AgentWrite

USUAL = "writes"


@dataclass(frozen=True, slots=True)
class StoredWrite:
    """One write of a task, serialised."""

    index: int
    channel: str
    kind: str
    content: bytes


@dataclass(frozen=True, slots=True)
class TaskRows:
    """The rows of what a task has written, and the objects of large ones."""

    objects: tuple[Write[AgentObject], ...]
    usual: AgentWrite | None
    special: tuple[AgentWrite, ...]
    # The objects of usual writes that these rows replace.
    replaced: tuple[str, ...] = ()

    @property
    def creations(self) -> list[Write[Any]]:
        """Usual writes are created, so that those of an earlier attempt stay; special ones are replaced."""
        usual = [] if self.usual is None else [d.agent_writes.create(self.usual)]
        return [*self.objects, *usual, *map(d.agent_writes.put, self.special)]

    @property
    def replacements(self) -> list[Write[Any]]:
        usual = [] if self.usual is None else [d.agent_writes.put(self.usual)]
        return [*self.objects, *usual, *map(d.agent_writes.put, self.special)]


class WriteRows:
    """Rows of the tasks of one user's threads, with LangGraph's serialiser."""

    def __init__(self, user: UserRows, serde: SerializerProtocol) -> None:
        self._user, self._serde = user, serde

    def of_task(
        self,
        place: CheckpointPath,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
        until: datetime,
        *,
        beside_stored: bool = False,
    ) -> TaskRows:
        """The rows of what a task has written; with `beside_stored`, those of an earlier attempt come first."""
        usual: dict[int, StoredWrite] = {}
        special: dict[str, StoredWrite] = {}
        for position, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel, position)
            made = StoredWrite(index, channel, *self._serde.dumps_typed(value))
            if index < 0:
                special[channel] = made
            else:
                usual[index] = made
        before = self._stored(place, task_id) if beside_stored else None
        if before is not None:
            usual |= {each.index: each for each in self.stored_in(before)}
        replaced = () if before is None or before.value_object is None else (before.value_object,)
        objects: list[Write[AgentObject]] = []

        def row(slot: str, stored: Sequence[StoredWrite]) -> AgentWrite:
            return self._task_row(place, task_id, task_path, slot, stored, until, objects)

        ordered = [usual[index] for index in sorted(usual)]
        usual_row = row(USUAL, ordered) if ordered else None
        rows = tuple(row(channel, [each]) for channel, each in special.items())
        return TaskRows(tuple(objects), usual_row, rows, replaced)

    def _task_row(
        self,
        place: CheckpointPath,
        task_id: str,
        task_path: str,
        slot: str,
        stored: Sequence[StoredWrite],
        until: datetime,
        objects: list[Write[AgentObject]],
    ) -> AgentWrite:
        packed = pack(
            [
                part
                for each in stored
                for part in (
                    str(each.index).encode(),
                    each.channel.encode(),
                    each.kind.encode(),
                    each.content,
                )
            ]
        )
        sealed_for = about("writes", *place.key, task_id, slot)
        # A special write is replaced, and its object with it; usual ones of an earlier attempt must stay as they are.
        placed = self._user.place(sealed_for, packed, until, None if slot == USUAL else digest(sealed_for))
        objects.extend(placed.writes)
        now = self._user.now()
        return AgentWrite(
            user_id=self._user.user_id,
            thread_id=place.thread_id,
            namespace=place.namespace,
            checkpoint_id=place.checkpoint_id,
            task_id=task_id,
            slot=slot,
            task_path=task_path,
            value=placed.value,
            value_object=placed.value_object,
            retention_class=self._user.kept_as,
            created=now,
            modified=now,
            expires_at=until,
        )

    def _stored(self, place: CheckpointPath, task_id: str) -> AgentWrite | None:
        get = d.agent_writes.get(self._user.user_id, *place.key, task_id, USUAL)
        return self._user.db.one(get, consistent=True)

    def stored_in(self, row: AgentWrite) -> list[StoredWrite]:
        """The writes of a row, serialised as they were."""
        parts = unpack(self._user.read(row))
        return [
            StoredWrite(int(parts[at]), parts[at + 1].decode(), parts[at + 2].decode(), parts[at + 3])
            for at in range(0, len(parts), 4)
        ]

    def copied(self, row: AgentWrite, thread_id: str) -> tuple[AgentWrite, list[Write[AgentObject]]]:
        """The row of the same writes in another thread."""
        objects: list[Write[AgentObject]] = []
        place = replace(place_of_row(row), thread_id=thread_id)
        stored = self.stored_in(row)
        made = self._task_row(place, row.task_id, row.task_path, row.slot, stored, row.expires_at, objects)
        return made, objects

    def pending(self, rows: Sequence[AgentCheckpoint]) -> dict[CheckpointPath, list[PendingWrite]]:
        """The writes after each of these checkpoints; those of one namespace are read together."""
        found: dict[CheckpointPath, list[tuple[tuple[str, str, int], PendingWrite]]] = {}
        by_namespace: dict[tuple[str, str], list[str]] = {}
        for row in rows:
            by_namespace.setdefault((row.thread_id, row.namespace), []).append(row.checkpoint_id)
        for (thread_id, namespace), ids in by_namespace.items():
            asked = d.agent_writes_between(
                user_id=self._user.user_id,
                thread_id=thread_id,
                namespace=namespace,
                since=min(ids),
                until=max(ids),
            )
            for row_of_writes in self._user.db.all(asked):
                for each in self.stored_in(row_of_writes):
                    order = writes_sort_key(row_of_writes.task_path, row_of_writes.task_id, each.index)
                    value = self._serde.loads_typed((each.kind, each.content))
                    write = (row_of_writes.task_id, each.channel, value)
                    found.setdefault(place_of_row(row_of_writes), []).append((order, write))
        return {
            place: [write for _, write in sorted(each, key=lambda one: one[0])]
            for place, each in found.items()
        }
