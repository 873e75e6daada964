"""Threads of LangGraph: one transaction a step, sealed, of one user alone, resumable after they were pruned."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import ChannelVersions
from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.types import Command
from tests.systems.chat.adapters.calls import counted
from tests.systems.chat.adapters.graphs import noting, talking, thread
from tests.systems.chat.place import Place, refuses

from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.langgraph_checkpoints import UserCheckpointSaver
from tablewright.systems.chat.agent_model import AgentCheckpoint


def saver_of(at: Place, user_id: str = "u_9") -> UserCheckpointSaver:
    at.child(user_id)
    return UserCheckpointSaver(at.chat, user_id)


def say(graph: Any, text: str, name: str = "lion") -> Any:
    return graph.invoke({"messages": [HumanMessage(text)], "steps": 0}, thread(name))


def rows_of(at: Place, user_id: str = "u_9") -> list[AgentCheckpoint]:
    return list(at.db.all(d.agent_checkpoints_of_user(user_id=user_id)))


def objects_of(at: Place) -> list[str]:
    return list(at.chat.objects.names("agents/"))


# --- a real graph ---


def test_a_graph_continues_its_thread_in_another_process(at: Place) -> None:
    say(talking(saver_of(at)), "hello")
    again = talking(UserCheckpointSaver(at.chat, "u_9"))
    say(again, "how old are you?")
    texts = [message.content for message in again.get_state(thread()).values["messages"]]
    assert texts == [
        "hello",
        "Roar! You said: hello",
        "how old are you?",
        "Roar! You said: how old are you?",
    ]


def test_an_interrupted_thread_is_resumed_after_it_was_pruned(at: Place) -> None:
    saver = saver_of(at)
    graph = talking(saver)
    for number in range(9):
        say(graph, f"hello {number}")
    say(graph, "may I feed you?")
    before = graph.get_state(thread())
    assert len(rows_of(at)) >= 30
    assert before.tasks[0].interrupts[0].value == {"question": "May the child feed the lion?"}

    saver.prune(["lion"])

    assert len(rows_of(at)) == 1
    pruned = graph.get_state(thread())
    assert pruned.values == before.values
    assert pruned.tasks[0].interrupts == before.tasks[0].interrupts
    after = graph.invoke(Command(resume="yes"), thread())
    assert after["messages"][-1].content == "The zookeeper says yes."
    assert len(after["messages"]) == 20


def test_the_same_graph_runs_asynchronously(at: Place) -> None:
    graph = talking(saver_of(at))

    async def run() -> list[str]:
        for text in ("hello", "may I feed you?"):
            await graph.ainvoke({"messages": [HumanMessage(text)], "steps": 0}, thread())
        await graph.checkpointer.aprune(["lion"])
        await graph.ainvoke(Command(resume="no"), thread())
        state = await graph.aget_state(thread())
        history = [each async for each in graph.aget_state_history(thread())]
        assert len(history) >= 2
        return [message.content for message in state.values["messages"]]

    assert asyncio.run(run())[-1] == "The zookeeper says no."


def test_a_fork_of_a_thread_does_not_change_what_it_was_forked_from(at: Place) -> None:
    graph = talking(saver_of(at))
    say(graph, "one")
    say(graph, "two")
    after_one = next(each for each in graph.get_state_history(thread()) if len(each.values["messages"]) == 2)
    graph.invoke({"messages": [HumanMessage("three")], "steps": 0}, after_one.config)
    texts = [message.content for message in graph.get_state(thread()).values["messages"]]
    assert texts[:3] == ["one", "Roar! You said: one", "three"]
    longest = max(graph.get_state_history(thread()), key=lambda each: each.metadata["step"])
    assert longest.values["messages"]
    assert any(
        [message.content for message in each.values["messages"]][2:3] == ["two"]
        for each in graph.get_state_history(thread())
    )


# --- delta channels ---


def test_a_delta_channel_is_rebuilt_from_its_snapshot_and_its_writes(at: Place) -> None:
    graph = noting(saver_of(at))
    for _ in range(21):
        graph.invoke({"count": graph.get_state(thread()).values.get("count", 0)}, thread())
    assert graph.get_state(thread()).values["notes"] == [f"note {number}" for number in range(1, 22)]


def test_pruning_keeps_what_a_delta_channel_is_rebuilt_from(at: Place) -> None:
    saver = saver_of(at)
    graph = noting(saver)
    for number in range(21):
        graph.invoke({"count": number}, thread())
    before = len(rows_of(at))
    saver.prune(["lion"])
    kept = len(rows_of(at))
    assert 1 < kept < before / 2
    assert graph.get_state(thread()).values["notes"] == [f"note {number}" for number in range(1, 22)]
    graph.invoke({"count": 21}, thread())
    assert len(graph.get_state(thread()).values["notes"]) == 22


def test_what_a_delta_channel_is_rebuilt_from_does_not_expire_before_the_thread(at: Place) -> None:
    graph = noting(saver_of(at))
    for number in range(7):
        graph.invoke({"count": number}, thread())
        at.later(days=8)
    at.later(days=-8)
    assert graph.get_state(thread()).values["notes"] == [f"note {number}" for number in range(1, 8)]
    at.later(days=31)
    assert graph.get_state(thread()).values == {}


def test_the_history_of_a_delta_channel_is_read_in_pages(at: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    saver = saver_of(at)
    graph = noting(saver)
    for number in range(20):
        graph.invoke({"count": number}, thread())
    config = graph.get_state(thread()).config
    with counted(at.db, monkeypatch) as calls:
        ours = saver.get_delta_channel_history(config=config, channels=["notes"])
    assert sum(calls.values()) <= 5
    base = super(UserCheckpointSaver, saver).get_delta_channel_history(config=config, channels=["notes"])
    assert ours == base


# --- calls ---


def test_a_step_is_one_transaction_however_many_channels_it_changes(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    saver = saver_of(at)
    versions: ChannelVersions = {f"channel {number}": 1 for number in range(51)}
    checkpoint: Any = {
        "v": 1, "id": "1f0a", "ts": "", "versions_seen": {}, "updated_channels": None,
        "channel_values": dict.fromkeys(versions, "value"), "channel_versions": versions,
    }  # fmt: skip
    saver.get_tuple(thread())
    config: Any = {"configurable": {"thread_id": "lion", "checkpoint_ns": ""}}
    saver.put_writes({"configurable": {**config["configurable"], "checkpoint_id": "0"}}, [("a", 1)], "task")
    with counted(at.db, monkeypatch) as calls:
        stored = saver.put(config, checkpoint, {"source": "loop", "step": 1}, versions)
        saver.put_writes(stored, [(f"channel {number}", number) for number in range(51)], "task")
    assert calls == {"TransactWriteItems": 2}
    with counted(at.db, monkeypatch) as calls:
        found = saver.get_tuple(stored)
    assert found is not None
    assert len(found.checkpoint["channel_values"]) == len(found.pending_writes or []) == 51
    assert sum(calls.values()) == 2


def test_listing_reads_a_page_and_its_writes_together(at: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = talking(saver_of(at))
    for number in range(6):
        say(graph, f"hello {number}")
    with counted(at.db, monkeypatch) as calls:
        assert len(list(graph.get_state_history(thread(), limit=15))) == 15
    assert calls["Query"] <= 3


# --- one user ---


def test_threads_of_another_user_cannot_be_reached(at: Place) -> None:
    say(talking(saver_of(at, "u_9")), "my secret")
    other = saver_of(at, "u_10")
    assert other.get_tuple(thread()) is None
    assert list(other.list(None)) == list(other.list(thread())) == []
    other.delete_thread("lion")
    other.prune(["lion"], strategy="delete")
    assert len(rows_of(at, "u_9")) > 0


def test_values_are_sealed_with_the_key_of_the_user(at: Place) -> None:
    say(talking(saver_of(at)), "my name is Wilhelmina")
    for pattern in (d.agent_checkpoints_of_user, d.agent_writes_of_user):
        for row in at.db.all(pattern(user_id="u_9")):
            assert b"Wilhelmina" not in (row.value or b"")
    at.chat.repository.keys.destroy("u_9")
    with refuses("ERASED"):
        UserCheckpointSaver(at.chat, "u_9").get_tuple(thread())


def test_rows_expire_with_their_retention_class(at: Place) -> None:
    saver = saver_of(at)
    say(talking(saver), "hello")
    at.later(days=29)
    assert saver.get_tuple(thread()) is not None
    at.later(days=2)
    assert saver.get_tuple(thread()) is None


# --- consent ---


def test_a_user_who_is_being_erased_is_refused(at: Place) -> None:
    saver = saver_of(at)
    graph = talking(saver)
    say(graph, "hello")
    at.db.write(d.users.update("u_9").move("erasing", by="parent").at(lambda u: u.consent_generation).add(1))
    before = len(rows_of(at))
    with refuses("ERASED"):
        say(graph, "one more")
    assert len(rows_of(at)) == before


def test_a_child_without_consent_is_refused_also_if_it_is_withdrawn_later(at: Place) -> None:
    at.child("u_1", scopes=[])
    with refuses("NO_CONSENT"):
        say(talking(UserCheckpointSaver(at.chat, "u_1")), "hello")
    graph = talking(saver_of(at))
    say(graph, "hello")
    at.db.write(
        d.users.update("u_9").at(lambda u: u.scopes).set([]).at(lambda u: u.consent_generation).add(1)
    )
    with refuses("NO_CONSENT"):
        say(graph, "one more")


def test_a_consent_that_was_changed_and_still_holds_lets_a_thread_go_on(at: Place) -> None:
    graph = talking(saver_of(at))
    say(graph, "hello")
    at.db.write(d.users.update("u_9").at(lambda u: u.consent_generation).add(1))
    assert len(say(graph, "one more")["messages"]) == 4


# --- large values ---


def test_large_values_leave_the_table_and_go_with_their_thread(at: Place) -> None:
    saver = saver_of(at)
    graph = talking(saver)
    drawing = os.urandom(600_000).hex()
    say(graph, drawing)
    assert objects_of(at) != []
    assert graph.get_state(thread()).values["messages"][0].content == drawing
    assert max(len(row.value or b"") for row in rows_of(at)) < 350_000
    saver.copy_thread("lion", "copy")
    saver.delete_thread("lion")
    assert graph.get_state(thread("copy")).values["messages"][0].content == drawing
    saver.prune(["copy"])
    assert graph.get_state(thread("copy")).values["messages"][0].content == drawing
    saver.prune(["copy"], strategy="delete")
    assert objects_of(at) == []
    assert list(at.db.all(d.agent_objects_in(folder=saver._user.values.folder))) == []


def test_a_large_value_that_does_not_change_is_stored_once(at: Place) -> None:
    saver = saver_of(at)
    large = os.urandom(500_000)
    config: Any = {"configurable": {"thread_id": "lion", "checkpoint_ns": ""}}
    for number in range(5):
        checkpoint: Any = {
            "v": 1, "id": f"1f0{number}", "ts": "", "versions_seen": {}, "updated_channels": None,
            "channel_values": {"picture": large, "count": number},
            "channel_versions": {"picture": 1, "count": number},
        }  # fmt: skip
        new: ChannelVersions = {"count": number} if number else {"picture": 1, "count": 0}
        config = saver.put(config, checkpoint, {"source": "loop", "step": number}, new)
    assert len(objects_of(at)) == 1
    assert [each.checkpoint["channel_values"]["count"] for each in saver.list(thread())] == [4, 3, 2, 1, 0]
    assert all(each.checkpoint["channel_values"]["picture"] == large for each in saver.list(thread()))
    saver.prune(["lion"])
    assert len(objects_of(at)) == 1
    saver.delete_thread("lion")
    assert objects_of(at) == []


def test_a_refused_large_value_leaves_no_object(at: Place) -> None:
    saver = saver_of(at)
    say(talking(saver), "hello")
    at.db.write(d.users.update("u_9").move("erasing", by="parent").at(lambda u: u.consent_generation).add(1))
    with refuses("ERASED"):
        say(talking(saver), os.urandom(400_000).hex())
    assert objects_of(at) == []


def test_objects_without_a_row_are_swept_after_a_day(at: Place) -> None:
    saver = saver_of(at)
    say(talking(saver), os.urandom(400_000).hex())
    kept = objects_of(at)
    at.chat.objects.put("agents/0123/lost", b"written before a crash")
    assert at.chat.agent_state.sweep() == 0
    at.later(days=2)
    assert at.chat.agent_state.sweep() == 1
    assert objects_of(at) == kept
    at.later(days=31)
    assert at.chat.agent_state.sweep() == len(kept)
    assert objects_of(at) == []


def test_of_usual_writes_the_first_attempt_stays_and_objects_are_not_left_over(at: Place) -> None:
    saver = saver_of(at)
    large = os.urandom(400_000)
    place: Any = {"configurable": {"thread_id": "lion", "checkpoint_ns": "", "checkpoint_id": "1f0a"}}
    checkpoint: Any = {
        "v": 1, "id": "1f0a", "ts": "", "versions_seen": {}, "updated_channels": None,
        "channel_values": {}, "channel_versions": {},
    }  # fmt: skip
    saver.put(
        {"configurable": {"thread_id": "lion", "checkpoint_ns": ""}}, checkpoint, {"source": "loop"}, {}
    )
    saver.put_writes(place, [("a", large)], "task")
    saver.put_writes(place, [("a", "another attempt"), ("b", 2), (INTERRUPT, large)], "task")
    saver.put_writes(place, [(INTERRUPT, large)], "task")
    found = saver.get_tuple(place)
    assert found is not None
    assert found.pending_writes == [("task", INTERRUPT, large), ("task", "a", large), ("task", "b", 2)]
    assert len(objects_of(at)) == 2
    saver.delete_thread("lion")
    assert objects_of(at) == []
