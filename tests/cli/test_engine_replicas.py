"""The commands about replicas, against two servers that know each other: look, compare, promote, rejoin, release."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Ran, here, served, tablewright, url_in

from tablewright.cli.engine_replicas import told
from tablewright.client import CallRefused, Credentials, HttpCall
from tablewright.engine.replica_standings import Standing
from tablewright.wire.peers import HttpPeer

HERE, THERE = "us-east-1", "eu-west-1"
PETS: dict[str, Any] = {
    "TableName": "pets",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
PATIENCE = 20.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def until(is_so: Callable[[], bool]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < give_up
        time.sleep(0.05)


class Pair:
    """Two servers, each the other's peer; one can be taken away and brought back."""

    def __init__(self, home: Path, *options: str) -> None:
        self.home, self.options = home, options
        self.ports = {HERE: free_port(), THERE: free_port()}
        self.running: dict[str, ExitStack] = {}
        self.calls: dict[str, HttpCall] = {}
        for region in (HERE, THERE):
            self.start(region)
            self.calls[region] = HttpCall(self.url(region), region, Credentials("any", "any"))

    def url(self, region: str) -> str:
        return f"http://127.0.0.1:{self.ports[region]}"

    def start(self, region: str) -> None:
        other = THERE if region == HERE else HERE
        stack = ExitStack()
        line, _ = stack.enter_context(
            served(
                "--port", str(self.ports[region]), "--data", self.home / region, "--durability", "relaxed",
                "--region", region, "--peer", f"{other}={self.url(other)}",
                *self.options,
            )
        )  # fmt: skip
        assert url_in(line) == self.url(region)
        self.running[region] = stack

    def stop(self, region: str) -> None:
        self.running.pop(region).close()

    def close(self) -> None:
        for call in self.calls.values():
            call.close()
        for region in list(self.running):
            self.stop(region)

    def run(self, verb: str, *arguments: str) -> Ran:
        places = [f"{region}={self.url(region)}" for region in (HERE, THERE)]
        region = arguments[:1] if arguments and not arguments[0].startswith("-") else ()
        return here("engine", verb, *region, *places, *arguments[len(region) :])

    def put(self, region: str, name: str) -> None:
        self.calls[region]("PutItem", {"TableName": "pets", "Item": {"pk": {"S": name}}})

    def takes(self, region: str, name: str) -> bool:
        try:
            self.put(region, name)
        except CallRefused as refusal:
            if refusal.name not in ("ReplicaNotWriterException", "ReplicaLeaseLapsedException"):
                raise
            return False
        return True

    def has(self, region: str, name: str) -> bool:
        try:
            return "Item" in self.calls[region]("GetItem", {"TableName": "pets", "Key": {"pk": {"S": name}}})
        except CallRefused:
            return False


@pytest.fixture
def pair(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Two servers with a table that both have; started with the options a test asks for."""
    made = Pair(tmp_path, *getattr(request, "param", ()))
    try:
        made.calls[HERE]("CreateTable", PETS)
        made.put(HERE, "rex")
        create = {"Create": {"RegionName": THERE}}
        made.calls[HERE]("UpdateTable", {"TableName": "pets", "ReplicaUpdates": [create]})
        until(lambda: made.has(THERE, "rex"))
        yield made
    finally:
        made.close()


def test_a_writer_is_lost_fenced_compared_and_brought_back(pair: Pair) -> None:
    ran = pair.run("replicas")
    assert ran.out.startswith("table  region     status  writer  epoch  not read by others\n")
    assert " all " in ran.out

    # Both answer: the plan, then the deed.
    ran = pair.run("promote", HERE)
    assert (ran.code, ran.err) == (1, "tablewright: nothing was done; --yes does it\n")
    assert ran.out.startswith("pets: us-east-1 is to write instead of every region (epoch 0 -> 1)\n")
    ran = pair.run("promote", HERE, "--yes")
    assert (ran.code, ran.out.split("\n")[-2]) == (0, "pets: us-east-1 writes, epoch 1")
    pair.put(HERE, "tom")
    with pytest.raises(CallRefused, match="its writer is us-east-1"):
        pair.put(THERE, "tom")
    until(lambda: pair.has(THERE, "tom"))

    # The standby is away while the writer writes; then the writer is lost.
    pair.stop(THERE)
    pair.put(HERE, "late")
    pair.stop(HERE)
    pair.start(THERE)
    ran = pair.run("promote", THERE, "--yes")
    assert ran.code == 2
    assert "us-east-1 does not answer" in ran.err
    ran = pair.run("promote", THERE, "--yes", "--force", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)[0]["writer"] == THERE
    pair.put(THERE, "new")

    # It comes back, hears of it, and refuses writes; what only it has is listed.
    pair.start(HERE)
    until(lambda: not pair.takes(HERE, "later"))
    ran = here("engine", "replicas", f"{HERE}={pair.url(HERE)}", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["tables"][0]["unread"] >= 1
    ran = pair.run("compare")
    assert ran.code == 1
    assert '{"pk": {"S": "late"}}: only in us-east-1' in ran.out
    assert '{"pk": {"S": "new"}}: only in eu-west-1' in ran.out
    ran = pair.run("promote", HERE, "--yes")
    assert ran.code == 2
    assert "are not the same" in ran.err

    # It mirrors the new writer, and is promoted back.
    ran = pair.run("rejoin", HERE)
    assert ran.code == 1
    assert '{"pk": {"S": "late"}} written in us-east-1' in ran.out
    ran = pair.run("rejoin", HERE, "--yes")
    assert (ran.code, ran.out.split("\n")[-2]) == (0, "pets: us-east-1 is the same as eu-west-1")
    ran = pair.run("compare", "--json")
    assert ran.code == 0, ran.out
    ran = pair.run("promote", HERE, "--yes")
    assert ran.code == 0, ran.err
    pair.put(HERE, "back")
    until(lambda: pair.has(THERE, "back"))
    assert not pair.has(HERE, "late")
    ran = here("engine", "release", HERE, f"{HERE}={pair.url(HERE)}")
    assert (ran.code, ran.err) == (1, "tablewright: nothing was done; --yes does it\n")
    assert ran.out.startswith(
        "pets: every region will take writes, where us-east-1 alone does now (epoch 3 -> 4); of two writes"
    )
    assert not pair.takes(THERE, "from there"), "a plan does nothing"
    ran = here("engine", "release", THERE, f"{THERE}={pair.url(THERE)}")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "tablewright: pets: eu-west-1 is not its writer; ask us-east-1: engine release us-east-1\n"
    )
    ran = here("engine", "release", HERE, f"{HERE}={pair.url(HERE)}", "--json")
    assert (ran.code, json.loads(ran.out)[0]["writer"]) == (1, HERE)
    ran = here("engine", "release", HERE, f"{HERE}={pair.url(HERE)}", "--yes")
    assert (ran.code, ran.out.split("\n")[-2]) == (0, "pets: every replica takes writes, epoch 4")
    ran = here("engine", "release", HERE, f"{HERE}={pair.url(HERE)}", "--yes")
    assert (ran.code, ran.out) == (0, "every replica of every table takes writes already\n")
    ran = here("engine", "release", HERE, f"{HERE}={pair.url(HERE)}", "--table", "pets", "--yes")
    assert (ran.code, ran.out) == (0, "every replica of pets takes writes already\n")
    until(lambda: pair.takes(THERE, "from there"))
    until(lambda: pair.has(HERE, "from there"))
    until(lambda: pair.run("replicas").code == 0)
    for region in (HERE, THERE):
        pair.stop(region)
        assert here("db", "verify", pair.home / region).out == "OK\n"


@pytest.mark.parametrize("pair", [("--lease", "1")], indirect=True)
def test_a_writer_with_a_lease_has_stopped_before_another_begins(pair: Pair) -> None:
    assert pair.run("promote", HERE, "--yes").code == 0
    until(lambda: pair.takes(HERE, "rex"))
    # Until they have heard of each other since, the other has no say in the lease, and cannot be promoted.
    until(lambda: pair.run("replicas").code == 0)
    assert pair.run("line", "--cut").code == 0
    until(lambda: not pair.takes(HERE, "rex"))
    assert "takes no writes: eu-west-1 did not confirm its lease" in pair.run("replicas").out
    assert pair.run("line", "--mend").code == 0
    until(lambda: pair.takes(HERE, "rex"))
    until(lambda: pair.run("replicas").code == 0)
    assert pair.run("line", "--cut").code == 0
    # The operator does not reach the writer either.
    there = (THERE, f"{THERE}={pair.url(THERE)}", f"{HERE}=http://127.0.0.1:1")
    ran = here("engine", "promote", *there, "--force")
    assert "the lease of us-east-1 has to run out first: at most 1.25 s" in ran.out
    ran = here("engine", "promote", *there, "--force", "--yes")
    assert (ran.code, ran.out.split("\n")[-2]) == (0, "pets: eu-west-1 writes, epoch 2")
    assert not pair.takes(HERE, "old")
    assert pair.takes(THERE, "new")
    assert pair.run("line", "--mend").code == 0
    until(lambda: pair.has(HERE, "new"))
    assert not pair.has(HERE, "old")


def test_a_line_is_slowed_cut_and_mended_on_a_running_server(pair: Pair) -> None:
    there = f"{THERE}={pair.url(THERE)}"
    ran = here("engine", "line", there, "--from", HERE, "--to", THERE, "--cut")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "from       to         line\nus-east-1  eu-west-1  cut\n"
    pair.put(HERE, "unheard")
    until(lambda: pair.run("replicas").code == 1)
    assert "the line from us-east-1 to eu-west-1 is cut: engine line --mend\n" in pair.run("replicas").out
    assert not pair.has(THERE, "unheard")
    ran = pair.run("line", "--mend", "--json")
    assert [one["Cut"] for one in json.loads(ran.out)] == [False, False]
    until(lambda: pair.has(THERE, "unheard"))
    ran = pair.run("line", "--to", THERE, "--delay", "30m", "--lose", "2")
    assert "delayed by 1800 s" in ran.out
    pair.put(HERE, "late")
    until(lambda: "eu-west-1 1 (" in pair.run("replicas").out)
    assert json.loads(pair.run("replicas", "--json").out)["lines"][1]["Delay"] == 1800
    assert not pair.has(THERE, "late")
    assert pair.run("line", "--mend").code == 0
    until(lambda: pair.has(THERE, "late"))
    assert pair.run("line").out.count("sound") == 2
    ran = pair.run("line", "--from", "mars")
    assert ran.code == 2
    assert "there is no line from mars to here" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("line", "a=http://127.0.0.1:1", "--to", "b", "--cut"), "say where b is"),
        (("replicas", "nonsense"), "'nonsense' is no peer; write it as eu-west-1=http://host:8000"),
        (("compare", "a=http://127.0.0.1:1"), "two regions are compared: name two"),
        (("promote", "b", "a=http://127.0.0.1:1"), "say where b is: b=http://host:8000"),
        (("rejoin", "a", "a=http://127.0.0.1:1"), "a at http://127.0.0.1:1 does not answer"),
        (("release", "a", "a=http://127.0.0.1:1", "--credentials", "nowhere"), "nowhere: cannot be read"),
    ],
)  # fmt: skip
def test_misuse_is_one_sentence(arguments: tuple[str, ...], words: str) -> None:
    ran = here("engine", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1


@contextmanager
def a_server_that_hangs() -> Iterator[str]:
    """It takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=8) as hung:
        yield f"http://127.0.0.1:{hung.getsockname()[1]}"


def test_who_waits_for_a_server_that_hangs_is_told_for_whom_and_for_how_long() -> None:
    with a_server_that_hangs() as url:
        began = time.monotonic()
        ran = here("engine", "promote", "a", f"a={url}", "--timeout", "1.5", "--yes")
        assert time.monotonic() - began < 10
    assert (ran.code, ran.out) == (2, "")
    waiting, end = ran.err.splitlines()
    assert waiting == f"tablewright: waiting for a at {url}, at most 1.5 s"
    assert end == f"tablewright: a at {url} does not answer: timed out"


def test_nobody_waits_twice_for_a_server_that_hangs(pair: Pair) -> None:
    create = {"Create": {"RegionName": THERE}}
    pair.calls[HERE]("CreateTable", PETS | {"TableName": "cats"})
    pair.calls[HERE]("UpdateTable", {"TableName": "cats", "ReplicaUpdates": [create]})
    with a_server_that_hangs() as url:
        places = (f"{HERE}={url}", f"{THERE}={pair.url(THERE)}")
        until(lambda: len(json.loads(here("engine", "replicas", places[1], "--json").out)["tables"]) == 2)
        ran = here("engine", "promote", THERE, *places, "--timeout", "1.5")
    assert ran.code == 2
    assert ran.out.count("us-east-1 does not answer") == 2, "of either table"
    assert ran.err.count("waiting for us-east-1") == 1


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan"])
def test_a_time_out_that_is_none_is_a_misuse(seconds: str) -> None:
    ran = here("engine", "release", "a", "a=http://127.0.0.1:1", "--timeout", seconds)
    assert ran.code == 2
    assert "a time-out is a number of seconds" in ran.err


def test_a_silent_region_is_named() -> None:
    ran = here("engine", "replicas", "a=http://127.0.0.1:1")
    assert (ran.code, ran.out) == (1, "no table has replicas\na does not answer\n")


def test_a_server_that_is_another_region_than_it_was_named_is_refused(pair: Pair) -> None:
    there = f"{HERE}={pair.url(THERE)}"
    ran = here("engine", "rejoin", HERE, there, "--yes")
    assert (ran.code, ran.out) == (2, "")
    assert f"{pair.url(THERE)} is {THERE}, not {HERE}. Nothing was done" in ran.err


def test_one_server_can_be_several_regions(tmp_path: Path) -> None:
    with served("--data", tmp_path, "--also-region", THERE, "--durability", "relaxed") as (line, _):
        url = url_in(line)
        with (
            HttpCall(url, HERE, Credentials("any", "any")) as one,
            HttpCall(url, THERE, Credentials("any", "any")) as two,
        ):
            one("CreateTable", PETS)
            assert two("ListTables", {})["TableNames"] == []
            create = {"Create": {"RegionName": THERE}}
            one("UpdateTable", {"TableName": "pets", "ReplicaUpdates": [create]})
            until(lambda: two("ListTables", {})["TableNames"] == ["pets"])
    assert here("db", "verify", tmp_path).out == "OK\n"


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--peer", "eu-west-1"), "is no peer"),
        (("--also-region", "us-east-1"), "comes twice"),
        (("--also-region", "../x"), "is no region"),
        (("--lease", "0.5"), "a lease is a number of seconds from 1 up"),
    ],
)
def test_regions_that_cannot_be_are_refused_by_serve(
    tmp_path: Path, option: tuple[str, ...], words: str
) -> None:
    ran = tablewright("engine", "serve", "--port", "0", "--data", tmp_path / "store", *option)
    assert ran.code == 2
    assert words in ran.err


@pytest.mark.parametrize("pair", [(), ("--lease", "1")], indirect=True, ids=["no lease", "lease"])
def test_a_promotion_across_a_line_that_is_cut_is_refused_or_forced_and_somebody_writes(pair: Pair) -> None:
    assert pair.run("promote", HERE, "--yes").code == 0
    until(lambda: pair.takes(HERE, "rex"))
    until(lambda: pair.run("replicas").code == 0)
    assert pair.run("line", "--cut").code == 0
    pair.put(HERE, "unread")
    ran = pair.run("promote", THERE, "--yes")
    assert ran.code == 2
    assert "eu-west-1 does not hear from us-east-1: what it has not read yet would stay there" in ran.err
    standing = json.loads(pair.run("replicas", "--json").out)["tables"]
    assert [(one["epoch"], one["writer"]) for one in standing] == [(1, HERE), (1, HERE)], "nothing was done"
    ran = pair.run("promote", THERE, "--yes", "--force")
    assert (ran.code, ran.out.split("\n")[-2]) == (0, "pets: eu-west-1 writes, epoch 2"), ran.err
    assert "pets: 1 write of us-east-1 had not been read and stayed there" in ran.err
    assert pair.takes(THERE, "new")
    assert not pair.takes(HERE, "old")
    assert pair.run("line", "--mend").code == 0
    until(lambda: '"unread": 1' in pair.run("replicas", "--json").out)
    assert pair.run("rejoin", HERE, "--yes").code == 0
    assert pair.has(HERE, "new")
    assert not pair.has(HERE, "unread")
    until(lambda: pair.takes(THERE, "newer"))


def test_a_table_that_was_handed_over_and_not_taken_is_said_to_have_no_writer(pair: Pair) -> None:
    assert pair.run("promote", HERE, "--yes").code == 0
    until(lambda: pair.run("replicas").code == 0)
    assert pair.run("line", "--cut").code == 0
    pair.put(HERE, "unread")
    with closing(HttpPeer(pair.url(HERE), HERE)) as ask:
        ask("PeerYield", {"Table": "pets", "Epoch": 2, "Writer": THERE})
    assert not pair.takes(HERE, "tom")
    ran = pair.run("replicas")
    assert ran.code == 1
    assert (
        "pets: nobody writes: it was handed to eu-west-1, which has not read everything yet; promote us-east-1 again"
        in ran.out
    )
    assert json.loads(pair.run("replicas", "--json").out)["unwritten"] == ["pets"]
    ran = pair.run("promote", HERE, "--yes")
    assert (ran.code, ran.out.split("\n")[-2]) == (0, "pets: us-east-1 writes, epoch 3"), ran.err
    pair.put(HERE, "tom")
    assert pair.run("line", "--mend").code == 0
    until(lambda: pair.has(THERE, "tom"))
    assert pair.has(THERE, "unread")
    until(lambda: pair.run("replicas").code == 0)


def test_a_region_that_is_held_only_for_deletes_nobody_can_list_is_shown() -> None:
    held = Standing("pets", HERE, "ACTIVE", 2, THERE, {}, 0, False, (), ())
    assert told([held], [], [], []).endswith("deletes the writer does not have: compare, then rejoin")
