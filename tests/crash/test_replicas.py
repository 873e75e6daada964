"""Two servers that follow each other are killed, again and again: nothing answered is lost, nothing is doubled.

Each region is written by a client of its own while the other reads along; either may be killed at any moment, while it
copies, joins, takes over changes or prunes traces of deletes. In the end both are the same and whole.
"""

import random
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tablewright.client import CallFailed, Credentials, HttpCall, Retries
from tablewright.engine import verify
from tablewright.engine.replica_standings import compare, standing
from tablewright.wire.peers import HttpPeer

HERE, THERE = "us-east-1", "eu-west-1"
KILLS = 5
OLD_ITEMS = 3000
PATIENCE = 60.0
ENOUGH = 10
LEDGER: dict[str, Any] = {
    "TableName": "ledger",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """A region's process, which can be killed and started again."""

    def __init__(self, region: str, port: int, peer: str, home: Path) -> None:
        self.region, self.url, self.store = region, f"http://127.0.0.1:{port}", home / region
        self._command = [
            sys.executable, "-m", "tablewright", "engine", "serve", "--port", str(port), "--data", str(self.store),
            "--durability", "relaxed", "--region", region, "--peer", peer, "--ttl-seconds", "0.05",
        ]  # fmt: skip
        self.process = self.started()

    def started(self) -> "subprocess.Popen[str]":
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        assert "serving" in self.process.stdout.readline()
        return self.process

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Writer:
    """Puts and deletes in one region for as long as it is told to, and keeps what it was answered."""

    def __init__(self, server: Server) -> None:
        self.call = HttpCall(
            server.url, server.region, Credentials("any", "any"), retries=Retries(attempts=1)
        )
        self.there: set[str] = set()
        self.gone: set[str] = set()
        self._who, self._stop = server.region, threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            name = f"{self._who} {number}"
            try:
                self.call(
                    "PutItem", {"TableName": "ledger", "Item": {"pk": {"S": name}, "n": {"N": str(number)}}}
                )
                self.there.add(name)
                if number % 3 == 0:
                    old = f"{self._who} {number - 2}"
                    self.there.discard(old)
                    self.call("DeleteItem", {"TableName": "ledger", "Key": {"pk": {"S": old}}})
                    self.gone.add(old)
            except CallFailed:
                time.sleep(0.02)

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self.call.close()


def held(call: HttpCall) -> set[str]:
    found: set[str] = set()
    request: dict[str, Any] = {"TableName": "ledger"}
    while True:
        page = call("Scan", request)
        found |= {one["pk"]["S"] for one in page["Items"]}
        if "LastEvaluatedKey" not in page:
            return found
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def until_level(peers: dict[str, HttpPeer]) -> None:
    """Wait until each has read everything of the other."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        seen = [standing(peer, "ledger") for peer in peers.values()]
        ends = {one.region: one.vector.get(one.region, 0) for one in seen}
        if all(one.vector.get(region, 0) >= end for one in seen for region, end in ends.items()):
            return
        time.sleep(0.05)
    raise AssertionError(f"they do not catch up: {seen}")


def until_written(writers: list[Writer]) -> None:
    """Wait until each has been answered often enough to prove something; a region that joins takes no writes yet."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up and any(len(writer.there) <= ENOUGH for writer in writers):
        time.sleep(0.05)


def fill(server: Server) -> None:
    """Enough items that the first kills fall into the copying."""
    with HttpCall(server.url, server.region, Credentials("any", "any")) as call:
        call("CreateTable", LEDGER)
        for start in range(0, OLD_ITEMS, 25):
            puts = [{"PutRequest": {"Item": {"pk": {"S": f"old {start + n}"}}}} for n in range(25)]
            call("BatchWriteItem", {"RequestItems": {"ledger": puts}})
        create = {"Create": {"RegionName": THERE}}
        call("UpdateTable", {"TableName": "ledger", "ReplicaUpdates": [create]})


def test_regions_that_are_killed_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    ports = {HERE: free_port(), THERE: free_port()}
    at = {region: f"{region}=http://127.0.0.1:{port}" for region, port in ports.items()}
    servers = {
        HERE: Server(HERE, ports[HERE], at[THERE], tmp_path),
        THERE: Server(THERE, ports[THERE], at[HERE], tmp_path),
    }
    writers: list[Writer] = []
    try:
        fill(servers[HERE])
        writers = [Writer(server) for server in servers.values()]
        for _ in range(KILLS):
            time.sleep(random.uniform(0.05, 0.6))
            server = servers[random.choice((HERE, THERE))]
            server.kill()
            assert verify(server.store) == []
            server.started()
        until_written(writers)
        for writer in writers:
            writer.close()
        check(servers, writers)
    finally:
        for writer in writers:
            writer.close()
        for server in servers.values():
            server.kill()
    for server in servers.values():
        assert verify(server.store) == []


def check(servers: dict[str, Server], writers: list[Writer]) -> None:
    peers = {region: HttpPeer(server.url, region) for region, server in servers.items()}
    try:
        until_level(peers)
        assert compare(peers[HERE], peers[THERE], "ledger", lambda: time.sleep(0.2)).is_equal
        with HttpCall(servers[HERE].url, HERE, Credentials("any", "any")) as call:
            found = held(call)
    finally:
        for peer in peers.values():
            peer.close()
    assert {f"old {number}" for number in range(OLD_ITEMS)} <= found
    for writer in writers:
        # A client that proved nothing would prove nothing.
        assert len(writer.there) > ENOUGH
        assert writer.there <= found
        assert not writer.gone & found
