"""Group commit: who shares a transaction, when they are told, and what one broken write does to the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any, cast

import pytest
from tests.wire.fake_engine import FakeEngine, as_engine, get, put
from tests.wire.talk import Line, once, request, wait_until_read

from tablewright.wire.group_writer import CROWD, CROWD_AT_DISK, GROUP_LIMIT, GroupWriter


def lines(url: str, count: int, stack: ExitStack) -> list[Line]:
    return [stack.enter_context(Line(url)) for _ in range(count)]


def test_writes_that_arrive_while_a_commit_waits_for_the_disk_share_the_next_one(
    fake_url: str, engine: FakeEngine
) -> None:
    engine.disk.clear()
    with ExitStack() as stack:
        first, *others = lines(fake_url, 11, stack)
        first.send(request("PutItem", put("first")))
        wait_until_read(fake_url)
        for number, line in enumerate(others):
            line.send(request("PutItem", put(f"other-{number}")))
        wait_until_read(fake_url)
        engine.disk.set()
        assert [line.answer().status for line in (first, *others)] == [200] * 11
    assert engine.groups == [1, 10]


def test_a_write_is_not_answered_before_its_commit(fake_url: str, engine: FakeEngine) -> None:
    engine.disk.clear()
    with Line(fake_url) as line:
        line.send(request("PutItem", put("a")))
        line.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            line.answer()
        engine.disk.set()
        line.socket.settimeout(5)
        assert line.answer().json == {}


def test_a_commit_that_does_not_wait_for_a_disk_is_answered_too(fake_url: str, engine: FakeEngine) -> None:
    engine.commit_blocks = False
    with ExitStack() as stack:
        asked = lines(fake_url, 5, stack)
        for number, line in enumerate(asked):
            line.send(request("PutItem", put(f"{number}")))
        assert [line.answer().status for line in asked] == [200] * 5
    assert sum(engine.groups) == 5


def test_a_refused_write_is_told_so_and_its_neighbours_are_kept(fake_url: str, engine: FakeEngine) -> None:
    engine.disk.clear()
    with ExitStack() as stack:
        blocker, good, bad = lines(fake_url, 3, stack)
        blocker.send(request("PutItem", put("blocker")))
        wait_until_read(fake_url)
        good.send(request("PutItem", put("good")))
        bad.send(request("PutItem", put("bad", refuse={"BOOL": True})))
        wait_until_read(fake_url)
        engine.disk.set()
        assert good.answer().status == 200
        answer = bad.answer()
    assert answer.status == 400
    assert answer.json["__type"] == "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"
    assert set(engine.items) == {"blocker", "good"}
    assert engine.groups == [1, 2]


def test_a_write_that_breaks_the_engine_fails_alone(
    fake_url: str, engine: FakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.disk.clear()
    with ExitStack() as stack:
        blocker, good, bad = lines(fake_url, 3, stack)
        blocker.send(request("PutItem", put("blocker")))
        wait_until_read(fake_url)
        good.send(request("PutItem", put("good")))
        bad.send(request("PutItem", put("bad", **{"break": {"BOOL": True}})))
        wait_until_read(fake_url)
        engine.disk.set()
        assert good.answer().status == 200
        answer = bad.answer()
    assert answer.status == 500
    assert answer.json == {
        "__type": "com.amazonaws.dynamodb.v20120810#InternalServerError",
        "message": "Internal server error",
    }
    assert [record.getMessage() for record in caplog.records] == ["request failed"]


def test_when_another_thread_of_the_process_writes_the_wire_waits_its_turn(
    fake_url: str, engine: FakeEngine
) -> None:
    engine.refuses_groups = True
    assert once(fake_url, request("PutItem", put("a"))).status == 200
    assert once(fake_url, request("GetItem", get("a"))).json == {"Item": {"pk": {"S": "a"}}}
    refused = once(fake_url, request("PutItem", put("b", refuse={"BOOL": True})))
    assert refused.json["message"] == "The conditional request failed"


def test_a_commit_that_fails_fails_every_write_in_it_and_the_next_one_is_tried(
    fake_url: str, engine: FakeEngine
) -> None:
    engine.commit_fails = True
    for blocks in (True, False):
        engine.commit_blocks = blocks
        assert once(fake_url, request("PutItem", put("a"))).status == 500
    engine.commit_fails = False
    assert once(fake_url, request("PutItem", put("a"))).status == 200


def test_a_failure_is_logged_with_its_place_and_without_any_item(
    fake_url: str, engine: FakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.commit_fails = True
    assert once(fake_url, request("Scan", {"TableName": "t"})).status == 500
    assert once(fake_url, request("PutItem", put("a"))).status == 500
    read, write = (vars(record) for record in caplog.records)
    assert (read["verb"], read["mistake"]) == ("Scan", "RuntimeError")
    assert (write["verb"], write["mistake"]) == ("PutItem", "OSError")
    assert read["where"].startswith("fake_engine.py:")
    assert "anna" not in repr([read, write])


def test_a_client_that_leaves_before_its_write_is_answered_hurts_nobody(
    fake_url: str, engine: FakeEngine
) -> None:
    engine.disk.clear()
    with Line(fake_url) as line:
        line.send(request("PutItem", put("a")) + request("GetItem", get("a")))
        wait_until_read(fake_url)
    wait_until_read(fake_url)
    engine.disk.set()
    assert once(fake_url, request("PutItem", put("b"))).status == 200
    assert set(engine.items) == {"a", "b"}


class Turns:
    """An event loop whose turns the test takes; what is called soon is called in the next one."""

    def __init__(self) -> None:
        self._soon: list[tuple[Callable[..., None], tuple[Any, ...]]] = []

    def call_soon(self, callback: Callable[..., None], *arguments: Any) -> None:
        self._soon.append((callback, arguments))

    call_soon_threadsafe = call_soon

    def turn(self) -> None:
        soon, self._soon = self._soon, []
        for callback, arguments in soon:
            callback(*arguments)


@pytest.fixture
def turns() -> Turns:
    return Turns()


@pytest.fixture
def writer(engine: FakeEngine, turns: Turns) -> Iterator[GroupWriter]:
    engine.commit_blocks = False
    with closing(GroupWriter(as_engine(engine), cast(asyncio.AbstractEventLoop, turns))) as writer:
        yield writer


def write(writer: GroupWriter, count: int) -> None:
    for number in range(count):
        writer.add(lambda *_: None, "PutItem", put(f"{number}"))


def test_many_writes_wait_for_those_that_each_turn_of_the_loop_still_brings(
    writer: GroupWriter, turns: Turns, engine: FakeEngine
) -> None:
    for arriving in (CROWD, 3, 2, 0):
        assert engine.groups == []
        write(writer, arriving)
        turns.turn()
    assert engine.groups == [CROWD + 5]


def test_the_first_of_those_that_were_answered_together_waits_for_the_others(
    writer: GroupWriter, turns: Turns, engine: FakeEngine
) -> None:
    for arriving in (CROWD, 0, 1, CROWD - 1, 0):
        write(writer, arriving)
        turns.turn()
    assert engine.groups == [CROWD, CROWD]


def test_few_writes_do_not_wait_for_others(writer: GroupWriter, turns: Turns, engine: FakeEngine) -> None:
    for arriving in (1, 2, CROWD - 1):
        write(writer, arriving)
        turns.turn()
    assert engine.groups == [1, 2, CROWD - 1]


def test_two_writes_do_not_wait_for_others_at_the_disk_either(
    writer: GroupWriter, turns: Turns, engine: FakeEngine
) -> None:
    engine.commit_blocks = True
    write(writer, CROWD_AT_DISK - 1)
    turns.turn()
    assert engine.groups == [CROWD_AT_DISK - 1]


def test_where_commits_wait_for_the_disk_fewer_writes_wait_for_others(
    writer: GroupWriter, turns: Turns, engine: FakeEngine
) -> None:
    engine.commit_blocks = True  # the disk of the fixture answers at once, in the thread that commits
    for arriving in (CROWD_AT_DISK, 1, 0):
        assert engine.groups == []
        write(writer, arriving)
        turns.turn()
    assert engine.groups == [CROWD_AT_DISK + 1]


def test_a_group_has_a_limit_however_many_writes_arrive(
    writer: GroupWriter, turns: Turns, engine: FakeEngine
) -> None:
    write(writer, GROUP_LIMIT)
    turns.turn()
    assert engine.groups == [GROUP_LIMIT]
