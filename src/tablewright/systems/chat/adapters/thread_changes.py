"""Whole threads of LangGraph: pruned, copied, deleted, with the objects of their large values.

Must hold: a pruned thread can be resumed; an object is removed when the last row that refers to it is deleted.
Elsewhere: what a pruned checkpoint is rebuilt from (delta_chains.py).
"""

from collections.abc import Iterable, Sequence
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from tablewright.design import Write
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters import delta_chains
from tablewright.systems.chat.adapters.checkpoint_places import place_of_row
from tablewright.systems.chat.adapters.checkpoint_rows import CheckpointRows
from tablewright.systems.chat.adapters.rows import UserRows
from tablewright.systems.chat.agent_model import AgentCheckpoint, AgentWrite


def delete(user: UserRows, thread_id: str) -> None:
    """Everything of a thread, also what has expired."""
    checkpoints, writes = _rows_of(user, thread_id)
    for asked in (
        d.agent_checkpoints_of_thread(user_id=user.user_id, thread_id=thread_id),
        d.agent_writes_of_thread(user_id=user.user_id, thread_id=thread_id),
    ):
        user.db.clear(asked)
    user.delete((), sorted(_objects(checkpoints, writes)))


def delete_runs(user: UserRows, run_ids: Sequence[str]) -> None:
    """The checkpoints of runs, with their writes. An index would miss the newest: all of the user are read."""
    if not run_ids:
        return
    found = user.db.all(d.agent_checkpoints_of_user(user_id=user.user_id))
    gone = [(row.thread_id, _key(row)) for row in found if row.run_id in run_ids]
    for thread_id in dict.fromkeys(thread_id for thread_id, _ in gone):
        checkpoints, writes = _rows_of(user, thread_id)
        kept = {_key(row) for row in checkpoints} - {key for of, key in gone if of == thread_id}
        _delete_but(user, checkpoints, writes, kept)


def keep_latest(rows: CheckpointRows, thread_id: str) -> None:
    """The newest checkpoint of each namespace, what its DeltaChannels are rebuilt from, and the writes of both."""
    checkpoints, writes = _rows_of(rows.user, thread_id)
    by_key = {_key(row): row for row in checkpoints}
    newest: dict[str, AgentCheckpoint] = {}
    for row in checkpoints:
        if row.namespace not in newest or newest[row.namespace].checkpoint_id < row.checkpoint_id:
            newest[row.namespace] = row
    kept = {_key(row) for row in newest.values()}
    for row in newest.values():
        bare, metadata, values = rows.value_of(row)
        missing = delta_chains.channels_of(metadata) - values.keys()
        missing &= bare["channel_versions"].keys()
        if missing:
            found = delta_chains.needed(_ancestors(rows, by_key, row), missing)
            kept |= {_key(each) for each, _ in found}
    _delete_but(rows.user, checkpoints, writes, kept)


def copy(rows: CheckpointRows, source: str, target: str) -> None:
    """Checkpoints and writes of a thread under another name, sealed for their new places."""
    user = rows.user
    checkpoints, writes = _rows_of(user, source)
    for row in checkpoints:
        made, objects = rows.copied(row, target)
        user.write(*objects, d.agent_checkpoints.put(made))
    copies: list[Write[Any]] = []
    for each in writes:
        copied, objects = rows.writes.copied(each, target)
        copies += [*objects, d.agent_writes.put(copied)]
    user.write(*copies)


# --- parts ---


def _rows_of(user: UserRows, thread_id: str) -> tuple[list[AgentCheckpoint], list[AgentWrite]]:
    checkpoints = user.db.all(d.agent_checkpoints_of_thread(user_id=user.user_id, thread_id=thread_id))
    writes = user.db.all(d.agent_writes_of_thread(user_id=user.user_id, thread_id=thread_id))
    return list(checkpoints), list(writes)


def _key(row: AgentCheckpoint | AgentWrite) -> tuple[str, str]:
    return row.namespace, row.checkpoint_id


def _ancestors(
    rows: CheckpointRows, by_key: dict[tuple[str, str], AgentCheckpoint], row: AgentCheckpoint
) -> Iterable[tuple[AgentCheckpoint, CheckpointTuple]]:
    while row.parent_id is not None and (row.namespace, row.parent_id) in by_key:
        row = by_key[row.namespace, row.parent_id]
        yield row, rows.tuples([row])[0]


def _objects(checkpoints: Iterable[AgentCheckpoint], writes: Iterable[AgentWrite]) -> set[str]:
    named = {each for row in checkpoints for each in (*row.outside.values(), row.value_object)}
    return {each for each in named | {row.value_object for row in writes} if each is not None}


def _delete_but(
    user: UserRows,
    checkpoints: Sequence[AgentCheckpoint],
    writes: Sequence[AgentWrite],
    kept: set[tuple[str, str]],
) -> None:
    """Delete the checkpoints of a thread that are not kept, their writes, and objects that nothing kept refers to."""
    gone = [row for row in checkpoints if _key(row) not in kept]
    ended = [row for row in writes if _key(row) not in kept]
    still = _objects(
        (row for row in checkpoints if _key(row) in kept), (row for row in writes if _key(row) in kept)
    )
    discards: list[Write[Any]] = [
        d.agent_checkpoints.discard(row.user_id, *place_of_row(row).key) for row in gone
    ]
    for each in ended:
        key = place_of_row(each).key
        discards.append(d.agent_writes.discard(each.user_id, *key, each.task_id, each.slot))
    user.delete(discards, sorted(_objects(gone, ended) - still))
