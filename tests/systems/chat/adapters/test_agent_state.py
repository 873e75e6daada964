"""What agents keep of a child is exported, forgotten and erased with everything else (ZC-X17, ZC-S18)."""

from __future__ import annotations

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.types import Command
from tests.systems.chat.adapters.graphs import talking, thread
from tests.systems.chat.family.home import Household, consented, household
from tests.systems.chat.place import Place, refuses

from tablewright.edge.errors import CallerError
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.langgraph_checkpoints import UserCheckpointSaver
from tablewright.systems.chat.adapters.langgraph_store import UserStore
from tablewright.systems.chat.adapters.openai_agents import UserSession
from tablewright.systems.chat.adapters.strands import UserStorage
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.jobs import run_tasks


@pytest.fixture
def home(at: Place) -> Household:
    return household(at)


@pytest.fixture
def child(at: Place, home: Household) -> User:
    return consented(at, home, "collect_and_use", "profiling")


def thread_of(at: Place, turns: int) -> Any:
    graph = talking(UserCheckpointSaver(at.chat, "kim"))
    for text in (*(f"hello {number}" for number in range(turns)), "may I feed you?"):
        graph.invoke({"messages": [HumanMessage(text)], "steps": 0}, thread())
    return graph


def items_in(at: Place) -> list[Any]:
    found: list[Any] = at.call("Scan", {"TableName": at.db.physical("agent-state")})["Items"]
    return found


def test_zc_s18_a_pruned_thread_is_resumable_and_an_opt_out_leaves_nothing_of_it(
    at: Place, home: Household, child: User
) -> None:
    graph = thread_of(at, 9)
    checkpoints = list(at.db.all(d.agent_checkpoints_of_user(user_id="kim")))
    assert len(checkpoints) >= 30
    graph.checkpointer.prune(["lion"])
    assert len(list(at.db.all(d.agent_checkpoints_of_user(user_id="kim")))) == 1
    assert graph.invoke(Command(resume="yes"), thread())["messages"][-1].content == "The zookeeper says yes."
    for number in range(10):
        graph.invoke({"messages": [HumanMessage(f"again {number}")], "steps": 0}, thread())
    graph.invoke({"messages": [HumanMessage(os.urandom(400_000).hex() + "feed")], "steps": 0}, thread())
    store = UserStore(at.chat, "kim")
    store.put(("animals",), "panda", {"text": "likes red pandas"})
    left = len(list(at.db.all(d.agent_checkpoints_of_user(user_id="kim"))))

    certificate = at.chat.erasure.erase(child, home.parent)

    assert items_in(at) == []
    assert list(at.chat.objects.names("agents/")) == []
    assert certificate.erased["agent_checkpoint"] == left >= 30
    assert certificate.erased["agent_write"] >= 30
    assert certificate.erased["agent_entry"] == 1
    assert certificate.erased["agent_object"] >= 1
    with refuses("ERASED"):
        store.put(("animals",), "panda", {"text": "late"})
    with refuses("ERASED"):
        graph.checkpointer.put_writes(checkpoints_config(), [("a", 1)], "task")
    assert items_in(at) == []


def test_what_agents_write_while_a_child_is_erased_is_refused_or_erased(
    at: Place, home: Household, child: User
) -> None:
    drawing = os.urandom(360_000).hex()
    outcomes: list[str] = []

    def write(number: int) -> None:
        try:
            if number % 2:
                items: Any = [{"role": "user", "content": drawing}, {"role": "user", "content": str(number)}]
                asyncio.run(UserSession(at.chat, "kim", "lion").add_items(items))
            else:
                UserStore(at.chat, "kim", embedder=None).put(("a",), str(number), {"drawing": drawing})
            outcomes.append("stored")
        except CallerError as refused:
            outcomes.append(refused.code)

    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(write, number) for number in range(12)]
        erased = pool.submit(at.chat.erasure.erase, child, home.parent)
        waiting += [pool.submit(write, number) for number in range(12, 16)]
        for each in waiting:
            each.result()
        erased.result()
    assert set(outcomes) <= {"stored", "ERASED"}
    assert outcomes[-1] == "ERASED"
    at.later(minutes=3)
    run_tasks(at.chat)
    assert items_in(at) == []
    assert list(at.chat.objects.names("agents/")) == []


def checkpoints_config() -> Any:
    return {"configurable": {"thread_id": "lion", "checkpoint_ns": "", "checkpoint_id": "1"}}


def test_an_export_shows_what_was_said_in_all_adapters(at: Place, child: User) -> None:
    thread_of(at, 1)
    UserStore(at.chat, "kim").put(("animals",), "panda", {"text": "likes red pandas"})
    session, storage = UserSession(at.chat, "kim", "lion"), UserStorage(at.chat, "kim")
    asyncio.run(session.add_items([{"role": "user", "content": "I am in a session"}]))
    asyncio.run(storage.write("notes/1.txt", b"I am in a file"))
    asyncio.run(storage.write("notes/2.bin", b"\xff\xfe"))
    exported = at.chat.privacy.export(child)
    assert json.loads(json.dumps(exported)) == exported
    newest = exported["agentCheckpoints"][-1]
    assert newest["thread_id"] == "lion"
    assert "may I feed you?" in str(newest["value"]["messages"])
    assert "May the child feed the lion?" in str(exported["agentWrites"])
    assert exported["agentEntries"][0]["value"] == {"text": "likes red pandas"}
    assert exported["agentItems"][0]["value"]["content"] == "I am in a session"
    assert [file["value"] for file in exported["agentFiles"]] == ["I am in a file", "//4="]


def test_switching_profiles_off_removes_what_agents_remember_and_keeps_the_threads(
    at: Place, home: Household, child: User
) -> None:
    thread_of(at, 1)
    store = UserStore(at.chat, "kim")
    store.put(
        ("animals",),
        "panda",
        {"text": "likes red pandas", "drawing": os.urandom(400_000).hex()},
        index=["text"],
    )
    at.chat.consents.withdraw(home.parent, child, ("profiling",))
    run_tasks(at.chat)
    assert store.search(()) == []
    assert list(at.chat.objects.names("agents/")) == []
    assert list(at.db.all(d.agent_checkpoints_of_user(user_id="kim"))) != []
    with refuses("NO_CONSENT"):
        store.put(("animals",), "panda", {"text": "again"})
