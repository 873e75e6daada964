"""LangGraph's own conformance suite passes: the base, and every extended capability that it has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from itertools import count

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import ALL_CAPABILITIES
from tests.systems.chat.place import Place

from tablewright.systems.chat.adapters.langgraph_checkpoints import UserCheckpointSaver


def test_the_checkpointer_conforms_with_every_extended_capability(at: Place) -> None:
    numbers = count(1)

    @checkpointer_test(name="UserCheckpointSaver")
    async def ours() -> AsyncGenerator[BaseCheckpointSaver[str], None]:
        yield UserCheckpointSaver(at.chat, at.child(f"child-{next(numbers)}").user_id)

    report = asyncio.run(validate(ours))
    failures = [failure for result in report.results.values() for failure in result.failures or ()]
    assert failures == []
    assert {name for name, result in report.results.items() if result.passed} == {
        capability.value for capability in ALL_CAPABILITIES
    }
    assert sum(result.tests_passed for result in report.results.values()) >= 60
