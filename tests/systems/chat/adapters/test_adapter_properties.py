"""The adapters do what the in-memory implementations of the libraries do, whatever is called in whichever order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from agents import SQLiteSession
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from strands.storage.in_memory_storage import InMemoryStorage
from strands.types.exceptions import StorageError
from tests.properties.effort import effort
from tests.systems.chat.place import EVERYTHING, SECRET, START, uuid_world

from tablewright import testing
from tablewright.client import embedded
from tablewright.mapping import Db
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.langgraph_checkpoints import UserCheckpointSaver
from tablewright.systems.chat.adapters.langgraph_store import UserStore
from tablewright.systems.chat.adapters.openai_agents import UserSession
from tablewright.systems.chat.adapters.strands import UserStorage
from tablewright.systems.chat.chat import Chat, open_chat
from tablewright.systems.chat.family_model import User

FEW = effort(60)


class Zoo:
    """Zoo chat, short when an example is printed."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat

    def __repr__(self) -> str:
        return "zoo"


@pytest.fixture(scope="module")
def zoo() -> Iterator[Zoo]:
    """Zoo chat for all examples of this file: each has a user of its own."""
    world = uuid_world(testing.Clock(START).world())
    with testing.engine(world=world) as engine, TemporaryDirectory() as home:
        db = Db(embedded(engine), d.CHAT, world=world, secret=SECRET)
        db.create_tables()
        yield Zoo(open_chat(db, world, SECRET, home=Path(home)))


def child_of(zoo: Zoo) -> str:
    """A new child whose parent allows everything."""
    chat = zoo.chat
    user_id = f"child-{chat.repository.world.new_id()}"
    known: dict[str, Any] = {"user_id": user_id, "role": "student", "name": "A child", "scopes": EVERYTHING}
    chat.repository.db.write(d.users.create(User(**known, created_at=chat.repository.now())))
    return user_id


# --- checkpoints ---

THREADS, NAMESPACES, RUNS = ("lion", "lion#2", "li"), ("", "child:1", "child"), ("run-1", "run-2", None)
thread_steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("put"),
            st.sampled_from(THREADS),
            st.sampled_from(NAMESPACES),
            st.dictionaries(st.sampled_from(("a", "b", "c")), st.text(max_size=5), max_size=3),
            st.sampled_from(RUNS),
            st.booleans(),
        ),
        st.tuples(
            st.just("writes"),
            st.integers(0, 30),
            st.lists(
                st.tuples(st.sampled_from(("a", "b", INTERRUPT, ERROR, RESUME)), st.integers(-9, 9)),
                max_size=4,
            ),
            st.sampled_from(("task-1", "task-2", "atask")),
        ),
        st.tuples(st.just("delete"), st.sampled_from(THREADS)),
    ),
    max_size=25,
)


def run_steps(saver: BaseCheckpointSaver[Any], steps: list[tuple[Any, ...]]) -> list[Any]:
    """Carry the steps out; the configs of the checkpoints that were put. Ids and versions are those of the steps."""
    configs: list[Any] = []
    heads: dict[tuple[str, str], tuple[Any, dict[str, Any], dict[str, Any]]] = {}
    for number, step in enumerate(steps):
        if step[0] == "put":
            _, thread, namespace, changed, run, forks = step
            parent, values, versions = heads.get((thread, namespace), (None, {}, {}))
            values, versions = {**values, **changed}, {**versions, **dict.fromkeys(changed, f"{number:05}.x")}
            config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": namespace}}
            if parent is not None:
                config["configurable"]["checkpoint_id"] = parent
            checkpoint: Any = {
                "v": 1, "id": f"{number:05}", "ts": "", "channel_values": values, "channel_versions": versions,
                "versions_seen": {"node": {"a": 1}}, "updated_channels": None,
            }  # fmt: skip
            metadata: Any = {"source": "loop", "step": number, "parents": {}} | (
                {"run_id": run} if run else {}
            )
            configs.append(
                saver.put(config, checkpoint, metadata, {name: versions[name] for name in changed})
            )
            if not forks:
                heads[thread, namespace] = (f"{number:05}", values, versions)
        elif step[0] == "writes" and configs:
            _, which, writes, task = step
            saver.put_writes(configs[which % len(configs)], writes, task, f"path of {task}")
        elif step[0] == "delete":
            saver.delete_thread(step[1])
            heads = {place: head for place, head in heads.items() if place[0] != step[1]}
    return configs


def seen(found: CheckpointTuple | None) -> Any:
    if found is None:
        return None
    bare = {name: value for name, value in found.checkpoint.items() if name != "channel_values"}
    named = found.config["configurable"]
    place = (named["thread_id"], named.get("checkpoint_ns", ""), named["checkpoint_id"])
    parent = found.parent_config and found.parent_config["configurable"]
    return place, bare, found.checkpoint["channel_values"], found.metadata, parent, found.pending_writes


@FEW
@given(thread_steps)
def test_a_checkpointer_returns_what_langgraphs_own_returns(zoo: Zoo, steps: list[tuple[Any, ...]]) -> None:
    user_id = child_of(zoo)
    ours, model = UserCheckpointSaver(zoo.chat, user_id), InMemorySaver()
    configs = run_steps(ours, steps)
    assert run_steps(model, steps) == configs
    for config in configs:
        assert seen(ours.get_tuple(config)) == seen(model.get_tuple(config))
    for thread in THREADS:
        for namespace in NAMESPACES:
            asked: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": namespace}}
            assert seen(ours.get_tuple(asked)) == seen(model.get_tuple(asked))
            before: Any = {"configurable": {"thread_id": thread, "checkpoint_id": f"{len(steps) // 2:05}"}}
            for options in ({}, {"limit": 2}, {"before": before}, {"filter": {"run_id": "run-1"}}):
                mine = [seen(each) for each in ours.list(asked, **options)]
                assert mine == [seen(each) for each in model.list(asked, **options)]
        everywhere: Any = {"configurable": {"thread_id": thread}}
        mine, theirs = ([seen(each) for each in of.list(everywhere)] for of in (ours, model))
        assert mine == sorted(theirs, key=lambda each: each[0][2], reverse=True)


@FEW
@given(thread_steps)
def test_a_copied_thread_equals_its_source_and_a_pruned_one_keeps_its_head(
    zoo: Zoo, steps: list[tuple[Any, ...]]
) -> None:
    user_id = child_of(zoo)
    saver = UserCheckpointSaver(zoo.chat, user_id)
    run_steps(saver, steps)
    source: Any = {"configurable": {"thread_id": "lion"}}
    saver.copy_thread("lion", "copy")
    before = [seen(each) for each in saver.list(source)]
    copied = [seen(each) for each in saver.list({"configurable": {"thread_id": "copy"}})]
    assert [each[1:4] + each[5:] for each in copied] == [each[1:4] + each[5:] for each in before]
    saver.prune(["lion"])
    heads = {each[0][1]: each for each in reversed(before)}
    assert {each[0][1]: each for each in map(seen, saver.list(source))} == heads
    saver.delete_for_runs(["run-1"])
    assert not any(each.metadata.get("run_id") == "run-1" for each in saver.list(None))


# --- stores ---

names = st.sampled_from(("a", "b", "a/b", "a%", "ä#"))
namespaces = st.lists(names, min_size=1, max_size=3).map(tuple)
values = st.dictionaries(
    st.sampled_from(("n", "s", "d")),
    st.one_of(
        st.integers(-5, 5),
        st.text(max_size=4),
        st.none(),
        st.booleans(),
        st.lists(st.integers(-9, 9), max_size=2),
    ),
    max_size=3,
)
filters = st.dictionaries(
    st.sampled_from(("n", "s")), st.one_of(st.integers(-5, 5), st.text(max_size=2), st.none()), max_size=1
)
store_steps = st.lists(
    st.tuples(namespaces, st.sampled_from(("k1", "k2", "k#3")), st.one_of(values, st.none())), max_size=20
)


def entries(found: list[Any]) -> set[str]:
    return {repr((item.namespace, item.key, sorted(item.value.items()))) for item in found}


@FEW
@given(store_steps, st.lists(st.lists(names, max_size=2).map(tuple), max_size=3), filters)
def test_a_store_returns_what_langgraphs_own_returns(
    zoo: Zoo, steps: list[Any], prefixes: list[tuple[str, ...]], wanted: dict[str, Any]
) -> None:
    user_id = child_of(zoo)
    ours, model = UserStore(zoo.chat, user_id, embedder=None), InMemoryStore()
    stores: tuple[BaseStore, BaseStore] = ours, model
    for namespace, key, value in steps:
        for store in stores:
            store.put(namespace, key, value) if value is not None else store.delete(namespace, key)
    for namespace, key, _ in steps:
        mine, theirs = (store.get(namespace, key) for store in stores)
        assert (mine and mine.value) == (theirs and theirs.value)
    for prefix in ((), *prefixes):
        found, expected = (store.search(prefix, filter=wanted or None, limit=100) for store in stores)
        assert entries(found) == entries(expected)
        # The model lists namespaces whose last entry was deleted.
        alive = [
            each for each in model.list_namespaces(prefix=prefix, limit=1000)
            if any(item.namespace == each for item in model.search(each, limit=100))
        ]  # fmt: skip
        assert ours.list_namespaces(prefix=prefix, limit=1000) == alive


# --- sessions ---

session_steps = st.lists(
    st.one_of(
        st.lists(st.text(max_size=5), max_size=4),
        st.just("pop"),
        st.just("clear"),
        st.integers(0, 6),
        st.none(),
    ),
    max_size=20,
)


@FEW
@given(session_steps)
def test_a_session_returns_what_the_sdks_own_returns(zoo: Zoo, steps: list[Any]) -> None:
    async def run(session: Any) -> list[Any]:
        found: list[Any] = []
        for step in steps:
            if isinstance(step, list):
                await session.add_items([{"role": "user", "content": text} for text in step])
            elif step == "pop":
                found.append(await session.pop_item())
            elif step == "clear":
                await session.clear_session()
            else:
                found.append(await session.get_items(limit=step))
        return [*found, await session.get_items()]

    model = SQLiteSession("lion")
    try:
        ours = UserSession(zoo.chat, child_of(zoo), "lion")
        assert asyncio.run(run(ours)) == asyncio.run(run(model))
    finally:
        model.close()


# --- files ---

file_names = st.text(alphabet="ab/#%.é\\", max_size=6)
file_steps = st.lists(
    st.tuples(
        st.sampled_from(("write", "read", "delete", "list", "search")), file_names, st.binary(max_size=8)
    ),
    max_size=20,
)


@FEW
@given(file_steps)
def test_a_storage_returns_what_strands_own_returns(zoo: Zoo, steps: list[tuple[str, str, bytes]]) -> None:
    async def run(storage: Any) -> list[Any]:
        found: list[Any] = []
        for verb, name, data in steps:
            try:
                if verb == "write":
                    await storage.write(name, data)
                elif verb == "search":
                    shown = [(one.key, one.score, one.data) for one in await storage.search(name)]
                    found.append(shown)
                else:
                    found.append(await getattr(storage, verb)(name))
            except StorageError:
                found.append("refused")
        return [*found, await storage.list("")]

    assert asyncio.run(run(UserStorage(zoo.chat, child_of(zoo)))) == asyncio.run(run(InMemoryStorage()))
