"""LangGraph's checkpointer over the store of Zoo chat: the threads of one user (F.1, ZC-X17).

    saver = UserCheckpointSaver(chat, "child-1")
    graph = builder.compile(checkpointer=saver)
    graph.invoke(state, {"configurable": {"thread_id": "lion"}})

A checkpoint is one row with all values of its channels, so it needs no other row, and expires with nothing else. What
the tasks of a step have written is a row for each task. `put` and `put_writes` are one transaction each.
Must hold: threads of another user cannot be reached; what a DeltaChannel is rebuilt from does not expire before the
newest checkpoint that needs it, and is not pruned.
Elsewhere: rows and tuples (checkpoint_rows.py, write_rows.py), pruning, copying and deleting (thread_changes.py).
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from tablewright.design import Query
from tablewright.mapping import AlreadyExists
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters import delta_chains, thread_changes
from tablewright.systems.chat.adapters.checkpoint_places import CheckpointPath, place_of, place_of_row
from tablewright.systems.chat.adapters.checkpoint_rows import CheckpointRows
from tablewright.systems.chat.adapters.rows import UserRows
from tablewright.systems.chat.agent_model import AgentCheckpoint
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.model import RetentionClass

# Sorts before every id of a checkpoint.
_FIRST = " "
_PAGE = 20


class UserCheckpointSaver(BaseCheckpointSaver[str]):
    """The checkpoints of one user. Any number of threads may use it; `a...` methods run in threads."""

    def __init__(
        self,
        chat: Chat,
        user_id: str,
        *,
        kept_as: RetentionClass = "active_conversation",
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._user = UserRows(chat, user_id, kept_as)

    @property
    def _rows(self) -> CheckpointRows:
        return CheckpointRows(self._user, self.serde)

    # --- reads ---

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names, or the newest one of its thread."""
        row = self._row(config)
        return None if row is None else self._rows.tuples([row])[0]

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, the newest first: of a thread, or of all threads of the user without a config."""
        found = 0
        for page in self._pages(config, before):
            for each in self._rows.tuples(page):
                if limit is not None and found >= limit:
                    return
                if all(each.metadata.get(name) == value for name, value in (filter or {}).items()):
                    found += 1
                    yield each

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What the values of DeltaChannels are rebuilt from: read in pages, not checkpoint by checkpoint."""
        row = self._row(config) if channels else None
        chain = iter(()) if row is None else self._chain(row)
        next(chain, None)  # what was written after the checkpoint itself is pending
        return delta_chains.history(chain, channels)

    # --- writes ---

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint with all its values, in one transaction."""
        place = place_of(config, checkpoint["id"])
        described = get_checkpoint_metadata(config, metadata)
        until = self._user.until()
        if channels := delta_chains.channels_of(described):
            parent = self._row(config) if get_checkpoint_id(config) else None
            ancestors = () if parent is None else self._chain(parent)
            until = delta_chains.keep_ancestors(self._user, parent, ancestors, channels, until)
        row, objects = self._rows.checkpoint(place, checkpoint, described, get_checkpoint_id(config), until)
        self._user.write(*objects, d.agent_checkpoints.put(row))
        return place.config

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task has written, in one transaction. Of usual writes the first ones stay."""
        place = place_of(config, config["configurable"]["checkpoint_id"])
        until = self._user.until()
        try:
            rows = self._rows.writes.of_task(place, writes, task_id, task_path, until)
            self._user.write(*rows.creations)
        except AlreadyExists:
            rows = self._rows.writes.of_task(place, writes, task_id, task_path, until, beside_stored=True)
            self._user.write(*rows.replacements)
            self._user.delete((), rows.replaced)

    def delete_thread(self, thread_id: str) -> None:
        """Delete the checkpoints and writes of a thread, also those that have expired, and their objects."""
        thread_changes.delete(self._user, thread_id)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of runs, with their writes; a DeltaChannel loses what these runs wrote."""
        thread_changes.delete_runs(self._user, run_ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints and writes of a thread to another one of the same user."""
        thread_changes.copy(self._rows, source_thread_id, target_thread_id)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep the newest checkpoint of each namespace and what it is rebuilt from; or `delete` everything.

        Its pending writes and interrupts are kept, so that the thread can be resumed. Prune threads that are not
        running at the moment.
        """
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"the strategy '{strategy}' is unknown; use keep_latest or delete")
        for thread_id in thread_ids:
            if strategy == "delete":
                thread_changes.delete(self._user, thread_id)
            else:
                thread_changes.keep_latest(self._rows, thread_id)

    def get_next_version(self, current: str | int | float | None, channel: None) -> str:
        """A version above the current one. Two forks of a thread get different ones, so they never share a value."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{self._user.new_id().replace('-', '')[:16]}"

    # --- the same without blocking an event loop ---

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (each := await asyncio.to_thread(next, found, None)) is not None:
            yield each

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await asyncio.to_thread(lambda: self.prune(thread_ids, strategy=strategy))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return await asyncio.to_thread(
            lambda: self.get_delta_channel_history(config=config, channels=channels)
        )

    # --- parts ---

    def _row(self, config: RunnableConfig) -> AgentCheckpoint | None:
        place, db = place_of(config, get_checkpoint_id(config) or ""), self._user.db
        if place.checkpoint_id:
            return db.one(d.agent_checkpoints.get(self._user.user_id, *place.key), consistent=True)
        return db.first(self._in(place))

    def _in(self, place: CheckpointPath) -> Query[AgentCheckpoint]:
        return d.agent_checkpoints_in(
            user_id=self._user.user_id, thread_id=place.thread_id, namespace=place.namespace
        )

    def _pages(
        self, config: RunnableConfig | None, before: RunnableConfig | None
    ) -> Iterator[Sequence[AgentCheckpoint]]:
        """Rows of one namespace at a time where it is named; else all of the thread or the user, sorted by id."""
        until, wanted = (
            get_checkpoint_id(before) if before else None,
            get_checkpoint_id(config) if config else None,
        )
        if config is not None and wanted is not None and "checkpoint_ns" in config["configurable"]:
            row = self._row(config)
            rows = iter([row] if row is not None else [])
        elif config is not None and "checkpoint_ns" in config["configurable"]:
            rows = self._in_namespace(place_of(config, ""), until)
        else:
            rows = self._everywhere(config)
        kept = (
            row
            for row in rows
            if (until is None or row.checkpoint_id < until) and (not wanted or row.checkpoint_id == wanted)
        )
        return _pages_of(kept)

    def _in_namespace(self, place: CheckpointPath, until: str | None) -> Iterator[AgentCheckpoint]:
        if until is None:
            return self._user.db.all(self._in(place))
        return self._user.db.all(
            d.agent_checkpoints_before(
                user_id=self._user.user_id,
                thread_id=place.thread_id,
                namespace=place.namespace,
                since=_FIRST,
                until=until,
            )
        )

    def _everywhere(self, config: RunnableConfig | None) -> Iterator[AgentCheckpoint]:
        user_id, db = self._user.user_id, self._user.db
        if config is None:
            found = db.all(d.agent_checkpoints_of_user(user_id=user_id))
        else:
            thread_id = str(config["configurable"]["thread_id"])
            found = db.all(d.agent_checkpoints_of_thread(user_id=user_id, thread_id=thread_id))
        return iter(sorted(found, key=lambda row: row.checkpoint_id, reverse=True))

    def _chain(self, row: AgentCheckpoint) -> Iterator[tuple[AgentCheckpoint, CheckpointTuple]]:
        """A checkpoint, its parent, the parent of that, and so on. A parent has a lower id than its child."""
        wanted: str | None = row.checkpoint_id
        for page in _pages_of(self._in_namespace(place_of_row(row), row.checkpoint_id)):
            for each, found in zip(page, self._rows.tuples(page), strict=True):
                if each.checkpoint_id == wanted:
                    yield each, found
                    wanted = each.parent_id
                if wanted is None:
                    return


def _pages_of(rows: Iterator[AgentCheckpoint]) -> Iterator[Sequence[AgentCheckpoint]]:
    """Rows in groups whose writes are read together."""
    numbered = enumerate(rows)
    for _, group in groupby(numbered, key=lambda each: each[0] // _PAGE):
        yield [row for _, row in group]
