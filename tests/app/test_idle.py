"""A server that nobody uses: its jobs and followers ask for nothing that is refused."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from tablewright import Engine, testing
from tablewright.app import place, schedule
from tablewright.app.runtime import open_app
from tablewright.client import Call, CallRefused, embedded
from tablewright.mapping.migrate import change_follower as follower


def test_an_idle_server_makes_no_call_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[tuple[str, str, object]] = []

    def listening(engine: Engine) -> Call:
        answered = embedded(engine)

        def call(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            try:
                return answered(verb, request)
            except CallRefused as refusal:
                if not _registers_a_consumer(request):
                    refused.append((verb, refusal.name, request.get("TableName")))
                raise

        return call

    monkeypatch.setattr(place, "embedded", listening)
    monkeypatch.setattr(schedule, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(follower, "LONG_WAIT", 0.05)
    clock = testing.Clock()
    with open_app(memory=True, world=clock.world(), seed=False) as runtime:
        # Tables that several systems share are there already when the second one makes them; that is at the start.
        assert {name for _, name, _ in refused} <= {"ResourceInUseException"}
        refused.clear()
        for _ in range(70):  # over an hour, in steps shorter than a stream's iterator lives
            clock.move(timedelta(minutes=1))
            time.sleep(0.1)
        until = time.monotonic() + 60  # on a busy machine the slowest job may not have come to its first end
        while any(due.last is None for due in runtime.schedule.listed()) and time.monotonic() < until:
            time.sleep(0.1)
        listed = runtime.schedule.listed()
        runtime.schedule.close()
    assert {
        due.job.name: due.last and due.last.error for due in listed if due.last is None or due.last.error
    } == {}
    assert refused == []


def _registers_a_consumer(request: Mapping[str, Any]) -> bool:
    """True for a follower's first transaction: of two that begin to read one stream at once, one has to try again."""
    puts = [action["Put"]["Item"] for action in request.get("TransactItems", ()) if "Put" in action]
    return any(item.get("SK") == {"S": "START"} for item in puts)
