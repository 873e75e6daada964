"""The DynamoDBSaver of `langgraph-checkpoint-aws` as it is published, on our server: the states of conversations.

They are put, got, listed, written to, deleted and expire; and a graph of LangGraph runs on it.
"""

import importlib
import operator
from typing import Annotated, Any, TypedDict

import boto3
import pytest
from tests.published.agent_tables import CREDENTIALS, HOUR, TABLE, count_items, create_table, let_expire

from tablewright import Engine
from tablewright.testing import Clock

# Others' code: what it deprecates is not ours to change.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def saver(url: str, client: Any) -> Any:
    """`langgraph-checkpoint-aws`: what it saves expires after an hour."""
    module = importlib.import_module("langgraph_checkpoint_aws")
    create_table(client, "PK", "SK", "ttl")
    session = boto3.Session(**CREDENTIALS)
    return module.DynamoDBSaver(TABLE, session=session, endpoint_url=url, ttl_seconds=HOUR)


def thread(name: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": name, "checkpoint_ns": ""}}


def put_states(saver: Any, name: str, count: int) -> list[Any]:
    """States of a conversation, each after the one before; their configurations."""
    base = importlib.import_module("langgraph.checkpoint.base")
    configs = [thread(name)]
    for step in range(count):
        state = {**base.empty_checkpoint(), "channel_values": {"said": [f"word {step}"] * 50}}
        metadata = {"source": "loop" if step else "input", "step": step}
        configs.append(saver.put(configs[-1], state, metadata, {}))
    return configs[1:]


def steps(found: Any) -> list[int]:
    return [one.metadata["step"] for one in found]


def test_states_are_put_got_and_listed(saver: Any) -> None:
    first, second, third = put_states(saver, "t1", 3)
    put_states(saver, "t2", 1)
    latest, earlier = saver.get_tuple(thread("t1")), saver.get_tuple(first)
    assert (latest.config, latest.parent_config) == (third, second)
    assert earlier.checkpoint["channel_values"] == {"said": ["word 0"] * 50}
    assert earlier.parent_config is None
    assert saver.get_tuple(thread("t3")) is None
    assert steps(saver.list(thread("t1"))) == [2, 1, 0]
    assert steps(saver.list(thread("t1"), before=third, limit=1)) == [1]
    assert steps(saver.list(thread("t1"), filter={"source": "input"})) == [0]


def test_writes_are_with_their_state_and_the_first_of_a_task_stays(saver: Any) -> None:
    first, second = put_states(saver, "t1", 2)
    saver.put_writes(second, [("said", "hello"), ("mood", {"good": True})], "task-1")
    saver.put_writes(second, [("said", "again")], "task-1")
    saver.put_writes(second, [("__error__", "lost")], "task-2")
    saver.put_writes(second, [("__error__", "found")], "task-2")
    assert sorted(saver.get_tuple(thread("t1")).pending_writes, key=str) == [
        ("task-1", "mood", {"good": True}),
        ("task-1", "said", "hello"),
        ("task-2", "__error__", "found"),
    ]
    assert saver.get_tuple(first).pending_writes == []


def test_a_thread_is_deleted_with_all_its_states_and_writes(saver: Any, client: Any) -> None:
    *_, last = put_states(saver, "t1", 60)  # more than one batch of deletes
    saver.put_writes(last, [("said", n) for n in range(30)], "task-1")
    saver.delete_thread("t1")
    assert [*saver.list(thread("t1"))] == []
    assert count_items(client) == 0


def test_states_expire(saver: Any, client: Any, engine: Engine, clock: Clock) -> None:
    [state] = put_states(saver, "t1", 1)
    saver.put_writes(state, [("said", "hello")], "task-1")
    let_expire(engine, clock)
    assert saver.get_tuple(thread("t1")) is None
    assert count_items(client) == 0


class Talk(TypedDict):
    said: Annotated[list[str], operator.add]


def test_a_graph_that_was_stopped_goes_on_where_it_was(saver: Any) -> None:
    graph, types = importlib.import_module("langgraph.graph"), importlib.import_module("langgraph.types")
    builder = graph.StateGraph(Talk)
    builder.add_node("ask", lambda state: {"said": [types.interrupt("name?")]})
    builder.add_node("greet", lambda state: {"said": [f"hello {state['said'][-1]}"]})
    builder.add_edge(graph.START, "ask").add_edge("ask", "greet")
    builder.compile(saver).invoke({"said": ["hi"]}, thread("t1"))
    again = builder.compile(saver)  # as another process would
    assert again.get_state(thread("t1")).next == ("ask",)
    assert again.invoke(types.Command(resume="ann"), thread("t1"))["said"] == ["hi", "ann", "hello ann"]
    assert [state.next for state in again.get_state_history(thread("t1"))] == [
        (),
        ("greet",),
        ("ask",),
        ("__start__",),
    ]
