"""`tablewright copy run` that is killed, again and again, while the source is written to: the next run ends equal.

The command runs in a process of its own, over HTTP to the source and to the target, slowly enough (--write-units) that
a kill falls into the scan. Each next one takes over what the one before it saved.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests import fork_server
from tests.cli.command import COMMAND, here

from tablewright import testing
from tablewright.client import embedded, pages
from tablewright.engine import Engine
from tablewright.wire import serving

ITEMS, KILLS, PATIENCE = 600, 2, 60.0
TABLE: dict[str, Any] = {
    "TableName": "notes",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "N"}],
}


def note(number: int, text: str) -> dict[str, Any]:
    return {"id": {"N": str(number)}, "text": {"S": text}}


def notes(engine: Engine) -> dict[str, str]:
    found = pages(embedded(engine), "Scan", {"TableName": "notes"})
    return {item["id"]["N"]: item["text"]["S"] for page in found for item in page["Items"]}


@contextmanager
def writes(engine: Engine) -> Iterator[None]:
    """A program that changes, deletes and adds notes all the time."""
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.wait(0.01):
            number += 1
            if number % 3:
                changed = note(number * 7 % (ITEMS + 50), f"change {number}")
                engine.call("PutItem", {"TableName": "notes", "Item": changed})
            else:
                gone = {"id": {"N": str(number * 11 % ITEMS)}}
                engine.call("DeleteItem", {"TableName": "notes", "Key": gone})

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(PATIENCE)


def killed(source: str, target: str, copied: Any, more: int) -> None:
    """Begin the command, and kill it when so many more items have come to the target."""
    before = copied()
    command = [
        *COMMAND,
        "copy",
        "run",
        source,
        target,
        "--take-over",
        "--parallel",
        "2",
        "--write-units",
        "150",
    ]
    process = fork_server.start(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        give_up = time.monotonic() + PATIENCE
        while copied() < before + more:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < give_up, "nothing is copied"
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stderr.close()


def test_a_copy_that_is_killed_again_and_again_ends_equal_to_a_source_that_was_written_to() -> None:
    with testing.engine() as source, testing.engine() as target:
        source.call("CreateTable", TABLE)
        source.settle()
        for number in range(ITEMS):
            source.call("PutItem", {"TableName": "notes", "Item": note(number, "first")})

        def copied() -> int:
            return len(notes(target)) if "notes" in target.call("ListTables", {})["TableNames"] else 0

        with serving(source) as from_url, serving(target) as to_url:
            with writes(source):
                for _ in range(KILLS):
                    killed(from_url, to_url, copied, 40)
            (state,) = json.loads(here("copy", "status", to_url, "--json").out)
            assert state["phase"] == "copying"
            ran = here("copy", "run", from_url, to_url, "--take-over")
            assert ran.code == 0, ran.err
            done = here("copy", "finish", from_url, to_url, "--json")
            assert done.code == 0, done.err
        assert json.loads(done.out)["is_finished"]
        assert notes(target) == notes(source)
        assert len(notes(target)) > ITEMS // 2
