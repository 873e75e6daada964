"""The load generator from Python: compiling load.c, one run of it, and single calls over HTTP.

Must hold: whatever is measured over HTTP is measured by load.c; `call` is for setting up only.
"""

import http.client
import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from benchmarks.signing import HOST, Keys, signing
from benchmarks.templates import Json, Template, packed

SOURCE = Path(__file__).with_name("load.c")


class CannotMeasure(Exception):
    """The benchmark cannot go on; the sentence says what is missing."""


@dataclass(frozen=True, slots=True)
class Generator:
    """A compiled load generator; templates are written beside the program."""

    program: Path


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of one workload against one server showed. Times in milliseconds."""

    per_second: float
    p50: float
    p99: float
    answers: int  # inside the measured window
    issued: int  # with warm-up and rest
    seconds: float
    smallest: int  # bytes of the smallest answer
    failures: int
    first_failure: str


def build_generator(directory: Path) -> Generator:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise CannotMeasure(
            "gcc is missing (apt-get install gcc): a load generator in Python would only measure itself"
        )
    program = directory / "load"
    built = subprocess.run(
        [compiler, "-O2", "-o", str(program), str(SOURCE)], capture_output=True, text=True, check=False
    )
    if built.returncode:
        raise CannotMeasure(f"{compiler} could not compile {SOURCE.name}:\n{built.stderr}")
    return Generator(program)


def drive(
    generator: Generator,
    port: int,
    template: Template,
    *,
    first_serial: int,
    connections: int,
    seconds: float,
    warm_up: float = 0.0,
    requests: int = 0,
    keys: Keys | None = None,
) -> Run:
    """Send a template as fast as `connections` closed loops can, for `seconds` or `requests`; signed with `keys`."""
    file = generator.program.with_suffix(".template")
    file.write_bytes(packed(template, keys))
    numbers = (port, connections, warm_up, seconds, requests, first_serial)
    done = subprocess.run(
        [str(generator.program), *map(str, numbers), str(file)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return Run(0.0, 0.0, 0.0, 0, 0, seconds, 0, 1, done.stderr.strip())
    seen = json.loads(done.stdout)
    return Run(
        per_second=seen["answers"] / seen["seconds"] if seen["seconds"] else 0.0,
        p50=seen["p50_us"] / 1000,
        p99=seen["p99_us"] / 1000,
        answers=seen["answers"],
        issued=seen["issued"],
        seconds=seen["seconds"],
        smallest=seen["smallest"],
        failures=seen["failures"] + seen["unanswered"],
        first_failure=seen["first_failure"] or ("no answer within 90 s" if seen["unanswered"] else ""),
    )


def call(
    port: int,
    verb: str,
    request: Mapping[str, object] | bytes,
    timeout: float = 90.0,
    keys: Keys | None = None,
) -> tuple[int, Json]:
    """One call on a connection of its own: status and answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    body = request if isinstance(request, bytes) else json.dumps(request).encode()
    sign = signing(keys, verb)
    headers = {
        "Host": HOST,
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": sign.target,
        "X-Amz-Date": sign.stamp,
        "Authorization": sign.authorization(sign.signature(body)),
    }
    try:
        connection.request("POST", "/", body, headers)
        answer = connection.getresponse()
        told = answer.read() or b"{}"
    finally:
        connection.close()
    try:
        return answer.status, cast(Json, json.loads(told))
    except ValueError:  # moto answers a verb that it does not know with a page
        return answer.status, {"__type": told[:200].decode(errors="replace")}
