"""One server under measurement: started on an empty store, filled, watched and stopped.

Must hold: it is one process tree on 127.0.0.1 with a directory of its own; nothing of it is left afterwards.
Elsewhere: which servers are compared and how they are installed (peers.py).
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from benchmarks.load import CannotMeasure, Generator, call, drive
from benchmarks.signing import Keys
from benchmarks.templates import Json, Template
from benchmarks.workloads import SEED, TABLE, VECTOR_SEED, VECTORS, schema, vector_schema

START_LIMIT = 30.0  # seconds until the first answer
Command = Callable[[int, Path], list[str]]  # port, data directory -> arguments


@dataclass(frozen=True, slots=True)
class Contender:
    """A server we know how to start."""

    name: str
    command: Command
    environment: dict[str, str] = field(default_factory=dict)
    keys: Keys | None = None  # of a server that checks signatures


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers; `started_in` is the time from its start to its first answer, in seconds."""

    name: str
    port: int
    pid: int
    started_in: float
    keys: Keys | None = None

    def call(self, verb: str, request: Mapping[str, object] | bytes) -> tuple[int, Json]:
        """One call: status and answer."""
        return call(self.port, verb, request, keys=self.keys)


@contextlib.contextmanager
def running(contender: Contender, directory: Path) -> Iterator[Running]:
    """Start a contender on an empty store, wait for its first answer, and stop it in the end."""
    port = free_port()
    data = directory / f"{contender.name}-{port}"
    data.mkdir(parents=True)
    output = directory / f"{contender.name}-{port}.log"
    with output.open("wb") as log:
        began = time.monotonic()
        process = _start(contender, port, data, log)
        try:
            _wait_for_an_answer(contender, process, port, output)
            yield Running(contender.name, port, process.pid, time.monotonic() - began, contender.keys)
        finally:
            _stop(process)
            shutil.rmtree(data, ignore_errors=True)


def _start(contender: Contender, port: int, data: Path, log: IO[bytes]) -> subprocess.Popen[bytes]:
    command = contender.command(port, data)
    # Where it is set, a server of ours would compile its modules at every start.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**inherited, **contender.environment},
        )
    except OSError as error:
        raise CannotMeasure(f"{contender.name} cannot be started: {command[0]}: {error.strerror}") from error


def _wait_for_an_answer(
    contender: Contender, process: subprocess.Popen[bytes], port: int, output: Path
) -> None:
    limit = time.monotonic() + START_LIMIT
    while time.monotonic() < limit and process.poll() is None:
        with contextlib.suppress(OSError):
            if call(port, "ListTables", {}, keys=contender.keys)[0] == 200:
                return
        time.sleep(0.002)
    last_words = output.read_text(errors="replace").strip().splitlines()[-3:]
    raise CannotMeasure(f"{contender.name} did not start: " + (" / ".join(last_words) or "it said nothing"))


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def create_table(server: Running, definition: Json | None = None) -> None:
    """Create the table of orders, or another one, and wait until it is active."""
    definition = definition or schema()
    status, answer = server.call("CreateTable", definition)
    if status != 200:
        raise CannotMeasure(f"{server.name} did not create the table: {answer}")
    for _ in range(500):
        if _is_active(server.call("DescribeTable", {"TableName": definition["TableName"]})[1]):
            return
        time.sleep(0.02)
    raise CannotMeasure(f"{server.name}: the table did not become ACTIVE within 10 s")


def _is_active(answer: Json) -> bool:
    table = answer.get("Table")
    if not isinstance(table, dict):
        return False
    indexes = [*table.get("GlobalSecondaryIndexes", []), *table.get("VectorIndexes", [])]
    states = {index.get("IndexStatus", "ACTIVE") for index in indexes}
    return table.get("TableStatus") == "ACTIVE" and states <= {"ACTIVE"}


def load_vectors(generator: Generator, server: Running) -> None:
    """Create and fill the table with a vector index."""
    create_table(server, vector_schema())
    load_items(generator, server, VECTORS, seed=VECTOR_SEED)


def load_items(
    generator: Generator, server: Running, items: int, limit: float = 900.0, seed: Template = SEED
) -> tuple[int, float]:
    """Fill the table with the first `items` of a seed: how many were loaded, and in how many seconds."""
    run = drive(
        generator,
        server.port,
        seed,
        first_serial=0,
        connections=4,
        seconds=limit,
        requests=items // 25,
        keys=server.keys,
    )
    if run.failures:
        raise CannotMeasure(f"{server.name} refused a batch of the seed: {run.first_failure}")
    return run.answers * 25, run.seconds


def read_through(server: Running) -> None:
    """Have every item and every index entry read once.

    A file of a gigabyte is mapped page by page as it is first touched, which costs as much as the read itself. What a
    server does in its first seconds is not what is asked for here, and a small table is through with it in one.
    """
    for where in ({}, {"IndexName": "gsi1"}, {"IndexName": "gsi2"}):
        page: dict[str, object] = {}
        while True:
            request = {"TableName": TABLE, "Select": "COUNT", **where, **page}
            status, answer = server.call("Scan", request)
            if status != 200:
                raise CannotMeasure(f"{server.name} refused to be read through: {answer}")
            if "LastEvaluatedKey" not in answer:
                break
            page = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def resident_megabytes(pid: int) -> float:
    """Resident memory of a process and all below it."""
    return sum(_status_kilobytes(each) for each in _tree(pid)) / 1024


def cpu_seconds(pid: int) -> float:
    """Processor time a process and all below it have used so far."""
    return sum(_cpu_ticks(each) for each in _tree(pid)) / os.sysconf("SC_CLK_TCK")


def settle(server: Running, limit: float = 20.0) -> None:
    """Wait until a server has finished what it does in the background: the next one wants the machine."""
    end = time.monotonic() + limit
    before = cpu_seconds(server.pid)
    while time.monotonic() < end:
        time.sleep(0.1)
        after = cpu_seconds(server.pid)
        if after - before < 0.02:
            return
        before = after


def _tree(pid: int) -> list[int]:
    found = [pid]
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += _tree(int(child))
    return found


def _status_kilobytes(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return 0


def _cpu_ticks(pid: int) -> int:
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    return 0
