"""LangGraph graphs that the tests run: one that waits for an answer, one with a DeltaChannel."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import interrupt


class Talk(TypedDict):
    """A chat with a lion."""

    messages: Annotated[list[AnyMessage], add_messages]
    steps: Annotated[int, operator.add]


def talking(saver: BaseCheckpointSaver[Any]) -> Any:
    """A graph that replies; if it is asked for food it first asks the zookeeper, and waits."""

    def think(state: Talk) -> dict[str, Any]:
        return {"steps": 1}

    def reply(state: Talk) -> dict[str, Any]:
        text = str(state["messages"][-1].content)
        if "feed" in text:
            allowed = interrupt({"question": "May the child feed the lion?"})
            return {"messages": [AIMessage(f"The zookeeper says {allowed}.")], "steps": 1}
        return {"messages": [AIMessage(f"Roar! You said: {text}")], "steps": 1}

    builder = StateGraph(Talk)
    builder.add_node("think", think)
    builder.add_node("reply", reply)
    builder.add_edge(START, "think")
    builder.add_edge("think", "reply")
    return builder.compile(checkpointer=saver)


def _joined(state: list[str], writes: Sequence[list[str]]) -> list[str]:
    return [*state, *(each for write in writes for each in write)]


class Notes(TypedDict):
    """Notes that are stored as differences."""

    notes: Annotated[list[str], DeltaChannel(_joined, snapshot_frequency=8)]
    count: int


def noting(saver: BaseCheckpointSaver[Any]) -> Any:
    def note(state: Notes) -> dict[str, Any]:
        number = state.get("count", 0) + 1
        return {"notes": [f"note {number}"], "count": number}

    builder = StateGraph(Notes)
    builder.add_node("note", note)
    builder.add_edge(START, "note")
    return builder.compile(checkpointer=saver)


def thread(name: str = "lion") -> Any:
    return {"configurable": {"thread_id": name}}
