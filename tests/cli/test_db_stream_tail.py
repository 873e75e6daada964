"""`tablewright db stream tail`: changes in order, contents only when asked for, a clean end."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import COMMAND, here
from tests.cli.stores import PETS, pet, put, server_of, store_of_pets
from tests.mapping.consumer.feed import HOUR

from tablewright import testing
from tablewright.cli.db.stream_changes import changes
from tablewright.client import Call, Credentials, HttpCall, embedded
from tablewright.engine.streams import shards


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return store_of_pets(tmp_path / "store")


def numbers(records: list[dict[str, Any]]) -> list[str]:
    return [record["dynamodb"]["Keys"]["name"]["S"] for record in records]


def test_of_a_store_everything_is_told_and_then_it_ends(store: Path) -> None:
    ran = here("db", "stream", "tail", "pets", "--data", store)
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[3] for line in ran.out.splitlines()] == ["INSERT"] * 3


def test_keys_and_items_are_shown_only_when_asked_for(store: Path) -> None:
    tail = ("db", "stream", "tail", "pets", "--data", store, "--json")
    plain = [json.loads(line) for line in here(*tail).out.splitlines()]
    assert all(set(one) == {"at", "event", "sequence", "bytes"} for one in plain)
    keys = [json.loads(line) for line in here(*tail, "--keys").out.splitlines()]
    assert keys[0]["keys"] == {"owner": {"S": "anna"}, "name": {"S": "pet 0"}}
    assert "after" not in keys[0]
    images = [json.loads(line) for line in here(*tail, "--images").out.splitlines()]
    assert images[2]["after"] == pet("anna", "pet 2", 2)


def test_it_ends_after_as_many_as_asked_for(store: Path) -> None:
    ran = here("db", "stream", "tail", "pets", "--data", store, "--limit", "2")
    assert len(ran.out.splitlines()) == 2
    assert here("db", "stream", "tail", "pets", "--data", store, "--limit", "0").code == 2


@contextmanager
def ending(process: subprocess.Popen[str]) -> Iterator[None]:
    try:
        yield
    finally:
        process.kill()


def test_a_server_is_followed_until_ctrl_c_which_is_no_error(store: Path) -> None:
    with server_of(store) as url, HttpCall(url, "us-east-1", Credentials("any", "any")) as call:
        command = [*COMMAND, "db", "stream", "tail", "pets", "--endpoint", url, "--from", "start", "--keys"]
        # Whoever runs the tests in the background of a shell has Ctrl-C ignored, and its children would, too.
        with (
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            ) as following,
            ending(following),
        ):
            assert following.stdout is not None
            assert following.stderr is not None
            first = [following.stdout.readline() for _ in range(3)]
            assert [f"pet {n}" in line for n, line in enumerate(first)] == [True] * 3
            call("PutItem", {"TableName": "pets", "Item": pet("ben", "tom")})
            assert "tom" in following.stdout.readline()
            following.send_signal(signal.SIGINT)
            assert following.wait(20) == 0
            assert following.stderr.read() == ""


def test_of_a_stream_that_was_switched_off_the_rest_is_told_and_then_it_ends(store: Path) -> None:
    with server_of(store) as url:
        with HttpCall(url, "us-east-1", Credentials("any", "any")) as call:
            call("UpdateTable", {"TableName": "pets", "StreamSpecification": {"StreamEnabled": False}})
        for begin, lines in (("start", 3), ("now", 0)):
            ran = here("db", "stream", "tail", "pets", "--endpoint", url, "--from", begin)
            assert (ran.code, len(ran.out.splitlines())) == (0, lines)
            assert ran.err == (
                "tablewright: the stream of pets is disabled and was read to its end; enable it with UpdateTable "
                "(StreamSpecification)\n"
            )
        ran = here("db", "stream", "tail", "pets", "--endpoint", url, "--from", "start", "--limit", "3")
        assert (len(ran.out.splitlines()), ran.err) == (3, "")
    ran = here("db", "stream", "tail", "pets", "--data", store)
    assert len(ran.out.splitlines()) == 3
    assert "the stream of pets is disabled" in ran.err


def test_a_stream_that_is_switched_off_while_it_is_followed_is_read_to_its_end() -> None:
    with testing.engine() as engine:
        call = embedded(engine)
        engine.call("CreateTable", PETS)

        def go_on(pause: float) -> None:
            put(engine, pet("anna", "last"))
            change = {"TableName": "pets", "StreamSpecification": {"StreamEnabled": False}}
            engine.call("UpdateTable", change)

        found = list(changes(call, "pets", from_now=True, follow=True, sleep=go_on))
        assert numbers(found) == ["last"]


def test_who_reads_no_further_ends_it_without_a_word(store: Path) -> None:
    command = " ".join([*COMMAND, "db", "stream", "tail", "pets", "--data", str(store)])
    done = subprocess.run(
        f"{command} | head -n 1", shell=True, capture_output=True, text=True, timeout=60, check=True
    )
    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")


def test_a_table_without_a_stream_is_a_misuse(tmp_path: Path) -> None:
    with testing.engine(tmp_path / "store") as engine:
        engine.call("CreateTable", PETS | {"StreamSpecification": {"StreamEnabled": False}})
    ran = here("db", "stream", "tail", "pets", "--data", tmp_path / "store")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "tablewright: pets has no stream; enable it with UpdateTable (StreamSpecification)\n"
    missing = here("db", "stream", "tail", "cats", "--data", tmp_path / "store")
    assert "ResourceNotFoundException" in missing.err


# --- what it rests on ---


def test_changes_come_in_order_through_shards_that_split_and_roll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_RECORDS", 5)
    clock = testing.Clock()
    with testing.engine(world=clock.world()) as engine:
        engine.call("CreateTable", PETS)
        for age in range(1, 31):
            put(engine, pet("anna", "rex", age), pet("ben", "tom", age))
            clock.move(HOUR / 4)
            engine.settle()
        found = list(changes(embedded(engine), "pets", from_now=False, follow=False))
        assert len(found) == 60
        assert len({record["dynamodb"]["SequenceNumber"] for record in found}) == 60
        for name in ("rex", "tom"):
            ages = [
                int(record["dynamodb"]["NewImage"]["age"]["N"])
                for record in found
                if record["dynamodb"]["Keys"]["name"]["S"] == name
            ]
            assert ages == list(range(1, 31))


def test_from_now_on_only_what_comes_is_told_also_in_shards_that_open_later() -> None:
    clock = testing.Clock()
    with testing.engine(world=clock.world()) as engine:
        engine.call("CreateTable", PETS)
        put(engine, pet("anna", "before"))
        pauses: list[float] = []

        def go_on(pause: float) -> None:
            """While the one who follows pauses: a change, then a new shard, then one more."""
            pauses.append(pause)
            if len(pauses) == 1:
                put(engine, pet("anna", "first"))
            elif len(pauses) == 2:
                clock.move(5 * HOUR)
                engine.settle()
                put(engine, pet("anna", "second"))

        following = changes(embedded(engine), "pets", from_now=True, follow=True, sleep=go_on)
        assert numbers([next(following), next(following)]) == ["first", "second"]


def test_who_was_away_too_long_goes_on_behind_what_it_saw() -> None:
    clock = testing.Clock()
    with testing.engine(world=clock.world()) as engine:
        engine.call("CreateTable", PETS)
        put(engine, pet("anna", "one"))
        call: Call = embedded(engine)
        following = changes(call, "pets", from_now=False, follow=True, sleep=lambda pause: None)
        assert numbers([next(following)]) == ["one"]
        clock.move(HOUR)  # an iterator lives for a quarter of that
        put(engine, pet("anna", "two"))
        assert numbers([next(following)]) == ["two"]
