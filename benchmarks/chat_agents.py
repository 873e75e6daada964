"""How much a LangGraph thread costs: items, bytes and calls of 15 turns, here and with `langgraph-checkpoint-aws`.

    python benchmarks/chat_agents.py
    python benchmarks/chat_agents.py --turns 50

Both savers run on an engine in memory: ours in this process, the other one over HTTP with boto3. Needs the extras
`agents` and `test`. The figures of items and bytes do not depend on the machine; seconds do, so they are not printed.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# Run as a file or with -m: the package must be found either way.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.report import table
from langgraph.graph import START, MessagesState, StateGraph

from tablewright import testing
from tablewright.client import embedded
from tablewright.mapping import Db
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.langgraph_checkpoints import UserCheckpointSaver
from tablewright.systems.chat.chat import open_chat
from tablewright.systems.chat.family_model import User
from tablewright.values import item_size
from tablewright.world import real_world

REPLY = "Roar! Lions sleep up to twenty hours a day, and so do I."
THREAD: Any = {"configurable": {"thread_id": "lion"}}


def talk(saver: Any, turns: int) -> None:
    """A graph with one node, asked so many times."""
    builder = StateGraph(MessagesState)
    builder.add_node("lion", lambda state: {"messages": [("ai", REPLY)]})
    builder.add_edge(START, "lion")
    graph = builder.compile(checkpointer=saver)
    for number in range(turns):
        question: Any = {"messages": [("human", f"How long do lions sleep, question {number}?")]}
        graph.invoke(question, THREAD)


def ours(turns: int) -> list[tuple[str, ...]]:
    calls: Counter[str] = Counter()
    with testing.engine() as engine, TemporaryDirectory() as home:
        inner = embedded(engine)

        def call(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            calls[verb] += 1
            return inner(verb, request)

        db = Db(call, d.CHAT)
        db.create_tables()
        world = real_world()
        chat = open_chat(db, world, b"benchmark" * 4, home=Path(home))
        db.write(d.users.create(User(user_id="u", role="parent", name="u", created_at=world.now())))
        saver = UserCheckpointSaver(chat, "u")
        calls.clear()
        talk(saver, turns)
        asked = {"TableName": db.physical("agent-state")}
        rows = [row("here", inner("Scan", asked)["Items"], calls)]
        calls.clear()
        saver.prune(["lion"])
        return [*rows, row("here, pruned", inner("Scan", asked)["Items"], calls)]


def theirs(turns: int, compressed: bool) -> tuple[str, ...]:
    from langgraph_checkpoint_aws import DynamoDBSaver  # type: ignore[import-untyped]  # has no types

    os.environ |= {
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    keys = {"PK": "HASH", "SK": "RANGE"}
    with testing.client() as dynamodb:
        dynamodb.create_table(
            TableName="checkpoints",
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
            BillingMode="PAY_PER_REQUEST",
        )
        calls: Counter[str] = Counter()
        saver = DynamoDBSaver(
            "checkpoints",
            endpoint_url=dynamodb.meta.endpoint_url,
            region_name="us-east-1",
            enable_checkpoint_compression=compressed,
        )
        saver.client.meta.events.register(
            "before-call.dynamodb", lambda model, **_: calls.update([model.name])
        )
        talk(saver, turns)
        name = "langgraph-checkpoint-aws" + (", compressed" if compressed else "")
        return row(name, wire(dynamodb.scan(TableName="checkpoints")["Items"]), calls)


def wire(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items of boto3 with their bytes as they are sent."""
    from base64 import b64encode

    return [
        {
            name: {"B": b64encode(bytes(value["B"])).decode()} if "B" in value else value
            for name, value in item.items()
        }
        for item in items
    ]


def row(name: str, items: list[dict[str, Any]], calls: Mapping[str, int]) -> tuple[str, ...]:
    sent = ", ".join(f"{count} {verb}" for verb, count in sorted(calls.items()))
    return name, str(len(items)), f"{sum(map(item_size, items)):,}", sent


def main() -> int:
    parser = argparse.ArgumentParser(description="Items, bytes and calls of a LangGraph thread.")
    parser.add_argument("--turns", type=int, default=15)
    turns = parser.parse_args().turns
    rows = [*ours(turns), theirs(turns, False), theirs(turns, True)]
    print(table(f"{turns} turns", ("saver", "items", "bytes", "calls"), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
