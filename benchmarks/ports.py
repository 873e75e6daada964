"""The two ports of the product as servers under measurement: how each is started, and what large requests it takes.

Must hold: a server is one process on 127.0.0.1 with an empty store of its own; it is gone afterwards.
Elsewhere: what is done to them (memory.py); servers that are compared by their speed (servers.py).
"""

import contextlib
import dataclasses
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.load import CannotMeasure
from benchmarks.servers import resident_megabytes
from benchmarks.signing import ANY, Signing

MEGABYTE = 1024 * 1024
TABLE = "memory"
START_SECONDS, REST_SECONDS = 60.0, 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Port:
    """How a port is started, and what is sent to it."""

    command: Callable[[int, Path], list[str]]
    head: Callable[[int], bytes]
    body: bytes
    most: int
    light: bytes
    first: bytes = b""


def dynamodb_request(verb: str, body: bytes, length: int | None = None) -> bytes:
    sign = Signing(ANY, verb, "20250101T000000Z")
    return (
        f"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-amz-json-1.0\r\n"
        f"X-Amz-Target: {sign.target}\r\nX-Amz-Date: {sign.stamp}\r\n"
        f"Authorization: {sign.authorization()}\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n"
    ).encode() + body


def app_head(length: int) -> bytes:
    return (
        "POST /portal/v1.0/checkout HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


def batch() -> bytes:
    """25 items of 392 KB: 9.8 MB."""
    text = "x" * 392_000
    puts = [{"PutRequest": {"Item": {"pk": {"S": str(n)}, "x": {"S": text}}}} for n in range(25)]
    return json.dumps({"RequestItems": {TABLE: puts}}).encode()


def create() -> bytes:
    definition = {
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    return dynamodb_request("CreateTable", json.dumps(definition).encode())


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "tablewright", *words]


PORTS = {
    "dynamodb": Port(
        lambda port, data: command("engine", "serve", "--port", str(port), "--data", str(data)),
        lambda length: dynamodb_request("BatchWriteItem", b"", length),
        batch(),
        16 * MEGABYTE,
        dynamodb_request("GetItem", json.dumps({"TableName": TABLE, "Key": {"pk": {"S": "a"}}}).encode()),
        create(),
    ),
    "app": Port(
        lambda port, data: command(
            "serve", "--port", str(port), "--data", str(data), "--no-dynamodb", "--no-seed"
        ),
        app_head,
        json.dumps({"name": "x" * 1_000_000}).encode(),
        MEGABYTE,
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    ),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    pid: int
    address: tuple[str, int]

    def megabytes(self) -> float:
        try:
            return resident_megabytes(self.pid)
        except (OSError, ValueError, StopIteration) as error:
            raise CannotMeasure("the server is gone: it ended during the measurement") from error

    def ask(self, message: bytes, seconds: float = 60.0) -> int:
        """The status of the answer to one request on a connection of its own; 0 if there is none."""
        with contextlib.suppress(OSError), socket.create_connection(self.address, seconds) as line:
            line.sendall(message)
            start = b""
            while len(start) < 12:
                received = line.recv(65536)
                if not received:
                    return 0
                start += received
            return int(start[9:12])
        return 0


@contextlib.contextmanager
def running(name: str, directory: Path) -> Iterator[Server]:
    port = PORTS[name]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    data = directory / f"{name}-{number}"
    with (directory / f"{name}-{number}.log").open("wb") as log:
        process = subprocess.Popen(port.command(number, data), stdout=log, stderr=log)
    server = Server(process.pid, ("127.0.0.1", number))
    try:
        _wait(server, port, process)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(server: Server, port: Port, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if server.ask(port.light) and (not port.first or server.ask(port.first) == 200):
            time.sleep(REST_SECONDS)
            return
        time.sleep(0.05)
    raise CannotMeasure("the server did not start")
