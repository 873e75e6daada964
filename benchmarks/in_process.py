"""Calls inside the process: the same requests through Engine.call, no HTTP.

Two ends of one pipe. `worker` is a program that opens an engine, fills it with the seed and then runs what
each line of its input names; `InProcess` is the benchmark's hold on it. A process of its own, since an engine
inside the benchmark would share its interpreter.
Must hold: requests are built before the clock starts, as those over HTTP are.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.load import CannotMeasure
from benchmarks.templates import Template, filled
from benchmarks.workloads import FRESH, RUN, SEED, SMALL, WORKLOADS, schema

from tablewright import Engine

CHUNK = 500


def rate(engine: Engine, template: Template, first_serial: int, seconds: float) -> float:
    """Calls per second, counting only the time inside the calls."""
    spent, calls, serial = 0.0, 0, first_serial
    while spent < seconds:
        step = template.stride
        requests = [json.loads(filled(template, serial + n * step)) for n in range(CHUNK)]
        began = time.perf_counter()
        for request in requests:
            engine.call(template.verb, request)
        spent += time.perf_counter() - began
        calls += CHUNK
        serial += CHUNK * step
    return calls / spent


def open_seeded(directory: Path, durability: str, items: int = SMALL) -> Engine:
    engine = Engine.open(directory, durability=durability)
    engine.call("CreateTable", dict(schema()))
    while not _ready(engine):
        time.sleep(0.01)
    for serial in range(0, items, SEED.stride):
        engine.call(SEED.verb, json.loads(filled(SEED, serial)))
    return engine


def _ready(engine: Engine) -> bool:
    table = engine.call("DescribeTable", {"TableName": schema()["TableName"]})["Table"]
    return bool(table["TableStatus"] == "ACTIVE")


def worker(directory: Path, durability: str) -> None:
    with open_seeded(directory, durability) as engine:
        print("ready", flush=True)
        for number, line in enumerate(sys.stdin):
            workload, seconds = line.split()
            template = WORKLOADS[workload](SMALL)
            print(rate(engine, template, FRESH + number * RUN, float(seconds)), flush=True)


class InProcess:
    """A worker process; close it, it holds a store."""

    def __init__(self, directory: Path, durability: str) -> None:
        arguments = [sys.executable, "-m", "benchmarks.in_process", str(directory), durability]
        self._process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        self._answer()

    def rate(self, workload: str, seconds: float) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{workload} {seconds}\n")
        self._process.stdin.flush()
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        line = self._process.stdout.readline()
        if not line:
            last = self._process.stderr.read().strip().splitlines() or ["it said nothing"]
            raise CannotMeasure(f"the engine inside a process stopped: {last[-1]}")
        return line.strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


if __name__ == "__main__":
    worker(Path(sys.argv[1]), sys.argv[2])
