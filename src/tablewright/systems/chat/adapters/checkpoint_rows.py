"""Checkpoints of LangGraph as rows, and rows as LangGraph's tuples.

The value of a checkpoint is packed: the checkpoint, its metadata, then each channel with its value; a channel value
that is too large is an object of its own, which all checkpoints of the thread with the same value share.
Must hold: what is read equals what was put.
Elsewhere: the interface (langgraph_checkpoints.py), what tasks wrote (write_rows.py), sealing (values.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any, cast

from langgraph.checkpoint.base import Checkpoint, CheckpointMetadata, CheckpointTuple, PendingWrite
from langgraph.checkpoint.serde.base import SerializerProtocol

from tablewright.design import Write
from tablewright.kit.tables import digest
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.checkpoint_places import CheckpointPath, place_of_row
from tablewright.systems.chat.adapters.rows import UserRows
from tablewright.systems.chat.adapters.values import LIMIT, about, about_channel, deflated, pack, unpack
from tablewright.systems.chat.adapters.write_rows import WriteRows
from tablewright.systems.chat.agent_model import AgentCheckpoint, AgentObject

# Room for the key, the metadata and the parts of the value that stay.
_ROOM = 20_000


class CheckpointRows:
    """Rows of one user's threads, with LangGraph's serialiser."""

    def __init__(self, user: UserRows, serde: SerializerProtocol) -> None:
        self.user, self._serde = user, serde
        self.writes = WriteRows(user, serde)

    def checkpoint(
        self,
        place: CheckpointPath,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        parent_id: str | None,
        until: datetime,
    ) -> tuple[AgentCheckpoint, list[Write[AgentObject]]]:
        """The row of a checkpoint, and the rows of the objects it refers to."""
        bare = {name: value for name, value in checkpoint.items() if name != "channel_values"}
        versions = checkpoint["channel_versions"]
        values = {
            channel: self._serde.dumps_typed(value)
            for channel, value in checkpoint["channel_values"].items()
            if channel in versions
        }
        outside, objects = self._outside(place, values, until)
        for channel in outside:
            values.pop(channel)
        channels = [
            part
            for name, (kind, content) in values.items()
            for part in (name.encode(), kind.encode(), content)
        ]
        packed = pack([*_typed(self._serde, bare), *_typed(self._serde, metadata), *channels])
        placed = self.user.place(about("checkpoint", *place.key), packed, until)
        now, run_id = self.user.now(), metadata.get("run_id")
        row = AgentCheckpoint(
            user_id=self.user.user_id,
            thread_id=place.thread_id,
            namespace=place.namespace,
            checkpoint_id=place.checkpoint_id,
            parent_id=parent_id,
            run_id=str(run_id) if run_id else None,
            value=placed.value,
            value_object=placed.value_object,
            outside=outside,
            retention_class=self.user.kept_as,
            created=now,
            modified=now,
            expires_at=until,
        )
        return row, [*objects, *placed.writes]

    def _outside(
        self, place: CheckpointPath, values: Mapping[str, tuple[str, bytes]], until: datetime
    ) -> tuple[dict[str, str], list[Write[AgentObject]]]:
        """Which channel values become objects, the largest first, until the others fit into the row."""
        sizes = {name: len(content) for name, (_, content) in values.items()}
        if sum(sizes.values()) + _ROOM <= LIMIT:
            return {}, []
        sizes = {name: len(deflated(content)) for name, (_, content) in values.items()}
        outside: dict[str, str] = {}
        objects: list[Write[AgentObject]] = []
        for name in sorted(sizes, key=lambda each: sizes[each], reverse=True):
            if sum(sizes.values()) + _ROOM <= LIMIT:
                break
            sizes.pop(name)
            outside[name], row = self._object(place, name, values[name], until)
            objects.append(d.agent_objects.put(row))
        return outside, objects

    def _object(
        self, place: CheckpointPath, channel: str, typed: tuple[str, bytes], until: datetime
    ) -> tuple[str, AgentObject]:
        """The object of a channel value. Its id is that of its content, so it is stored once for a thread."""
        packed = pack([typed[0].encode(), typed[1]])
        sealed_for = about_channel(place.thread_id, place.namespace, channel)
        object_id = digest(sealed_for, sha256(packed).hexdigest())
        return object_id, self.user.store(sealed_for, packed, object_id, until)

    def value_of(self, row: AgentCheckpoint) -> tuple[dict[str, Any], CheckpointMetadata, dict[str, Any]]:
        """The checkpoint without values, its metadata, and its values."""
        parts = unpack(self.user.read(row))
        bare = self._serde.loads_typed((parts[0].decode(), parts[1]))
        metadata = self._serde.loads_typed((parts[2].decode(), parts[3]))
        values = {
            parts[at].decode(): self._serde.loads_typed((parts[at + 1].decode(), parts[at + 2]))
            for at in range(4, len(parts), 3)
        }
        for channel in row.outside:
            kind, content = unpack(self.user.values.read_channel(row, channel))
            values[channel] = self._serde.loads_typed((kind.decode(), content))
        return bare, cast(CheckpointMetadata, metadata), values

    def copied(
        self, row: AgentCheckpoint, thread_id: str
    ) -> tuple[AgentCheckpoint, list[Write[AgentObject]]]:
        """The row of the same checkpoint in another thread."""
        bare, metadata, values = self.value_of(row)
        checkpoint = cast(Checkpoint, {**bare, "channel_values": values})
        place = replace(place_of_row(row), thread_id=thread_id)
        return self.checkpoint(place, checkpoint, metadata, row.parent_id, row.expires_at)

    def tuples(self, rows: Sequence[AgentCheckpoint]) -> list[CheckpointTuple]:
        """Checkpoints with their pending writes; those of one namespace are read together."""
        pending = self.writes.pending(rows)
        return [self._tuple(row, pending.get(place_of_row(row), [])) for row in rows]

    def _tuple(self, row: AgentCheckpoint, pending: list[PendingWrite]) -> CheckpointTuple:
        bare, metadata, values = self.value_of(row)
        place = place_of_row(row)
        return CheckpointTuple(
            config=place.config,
            checkpoint=cast(Checkpoint, {**bare, "channel_values": values}),
            metadata=metadata,
            parent_config=place.of(row.parent_id) if row.parent_id else None,
            pending_writes=pending,
        )


def _typed(serde: SerializerProtocol, value: object) -> tuple[bytes, bytes]:
    kind, content = serde.dumps_typed(value)
    return kind.encode(), content
