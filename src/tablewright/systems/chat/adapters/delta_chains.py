"""What the value of a LangGraph DeltaChannel is rebuilt from: a snapshot in an older checkpoint, and all writes since.

A checkpoint has no value for such a channel unless it is a snapshot; its metadata counts the steps since the last one.
Must hold: the snapshot and the writes do not expire before a checkpoint that needs them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from langgraph.checkpoint.base import CheckpointMetadata, CheckpointTuple, DeltaChannelHistory, PendingWrite

from tablewright.design import Write
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.rows import UserRows
from tablewright.systems.chat.agent_model import AgentCheckpoint

# The expiry of ancestors is renewed once a day, not with each step.
_AHEAD = timedelta(days=1)


def channels_of(metadata: CheckpointMetadata) -> frozenset[str]:
    """The DeltaChannels that a checkpoint has no snapshot of."""
    return frozenset(metadata.get("counters_since_delta_snapshot") or ())


def needed(
    ancestors: Iterable[tuple[AgentCheckpoint, CheckpointTuple]], channels: Iterable[str]
) -> Iterator[tuple[AgentCheckpoint, CheckpointTuple]]:
    """The ancestors from the nearest one up to that which has the last of the snapshots."""
    missing = set(channels)
    for row, found in ancestors:
        if not missing:
            return
        yield row, found
        missing -= found.checkpoint["channel_values"].keys()


def history(
    ancestors: Iterable[tuple[AgentCheckpoint, CheckpointTuple]], channels: Sequence[str]
) -> Mapping[str, DeltaChannelHistory]:
    """For each channel the writes since its snapshot, the oldest first, and the snapshot as `seed` if there is one."""
    writes: dict[str, list[PendingWrite]] = {channel: [] for channel in channels}
    seeds: dict[str, Any] = {}
    for _, found in needed(ancestors, channels):
        for write in reversed(found.pending_writes or []):
            if write[1] in writes and write[1] not in seeds:
                writes[write[1]].append(write)
        values = found.checkpoint["channel_values"]
        seeds |= {name: values[name] for name in channels if name in values and name not in seeds}
    made: dict[str, DeltaChannelHistory] = {}
    for channel in channels:
        made[channel] = {"writes": writes[channel][::-1]}
        if channel in seeds:
            made[channel]["seed"] = seeds[channel]
    return made


def keep_ancestors(
    user: UserRows,
    parent: AgentCheckpoint | None,
    ancestors: Iterable[tuple[AgentCheckpoint, CheckpointTuple]],
    channels: Iterable[str],
    until: datetime,
) -> datetime:
    """When a checkpoint expires that needs its ancestors: with its parent, or `until` after they were renewed."""
    if parent is None:
        return until
    if parent.expires_at >= until - _AHEAD:
        return min(parent.expires_at, until)
    renewed: list[Write[Any]] = []
    for row, _ in needed(ancestors, channels):
        renewed += _renewed(user, row, until)
    user.write(*renewed)
    return until


def _renewed(user: UserRows, row: AgentCheckpoint, until: datetime) -> Iterator[Write[Any]]:
    place = (row.user_id, row.thread_id, row.namespace, row.checkpoint_id)
    yield d.agent_checkpoints.update(*place).at(lambda c: c.expires_at).set(until)
    asked = d.agent_writes_of_checkpoint(
        user_id=row.user_id, thread_id=row.thread_id, namespace=row.namespace, checkpoint_id=row.checkpoint_id
    )
    objects = [*row.outside.values(), row.value_object]
    for each in user.db.all(asked):
        key = (*place, each.task_id, each.slot)
        yield d.agent_writes.update(*key).at(lambda w: w.expires_at).set(until)
        objects.append(each.value_object)
    # Checkpoints share the objects of channels, and a transaction names an item once: those are renewed one by one.
    for object_id in {each for each in objects if each is not None}:
        user.renew_object(object_id, until)
