"""`tablewright copy`: items per second against a plain Scan, and how long writes pause when a system moves.

    .venv/bin/python benchmarks/table_copy.py --items 20000 --parallel 4
    .venv/bin/python benchmarks/table_copy.py --items 0 --seconds 20       # only the move

speed: a served store with one table of items of 1 KB; both servers are processes of their own, the stores in memory.
The same segments are read by a plain Scan, copied, and verified, in turns; medians. One copy is of an endpoint to an
endpoint, one into a data directory that this process opens.
move: the portal's demo, with about 20 writes a second to it while it is copied; then the writers stop and `finish`
runs.
Must hold: after each copy both tables are equal, and every answered write of the move is in the target; otherwise it
fails. Figures depend on the machine, so no test asserts them; only numbers of one run are comparable.
Elsewhere: the same move as a test (tests/systems/portal/test_move.py).
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from tablewright import Engine
from tablewright.client import Call, Credentials, HttpCall, batch_write, embedded, pages
from tablewright.mapping import Db
from tablewright.mapping.copy import TablePair, copy_context, copy_tables, leased, prepare, verify_pair
from tablewright.systems.portal.design import PORTAL
from tablewright.systems.portal.portal import Portal, open_portal
from tablewright.systems.portal.seed import seed
from tablewright.world import real_world

COMMAND = [sys.executable, "-m", "tablewright"]
TABLE: dict[str, Any] = {
    "TableName": "items",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
}
PACE = 0.05


@contextmanager
def served(*options: str) -> Iterator[str]:
    """The address of a server in a process of its own."""
    process = subprocess.Popen(
        [*COMMAND, "engine", "serve", "--port", "0", *options], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield next(word for word in process.stdout.readline().split() if word.startswith("http://"))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def line_to(url: str) -> HttpCall:
    return HttpCall(url, "us-east-1", Credentials("any", "any"))


# --- speed ---


def fill(call: Call, items: int) -> None:
    call("CreateTable", TABLE)
    text = "x" * 1000
    puts = [{"PutRequest": {"Item": {"id": {"S": f"{n:08}"}, "text": {"S": text}}}} for n in range(items)]
    batch_write(call, {"items": puts})


def scan(call: Call, segments: int) -> int:
    def read(number: int) -> int:
        request = {"TableName": "items", "Segment": number, "TotalSegments": segments, "ConsistentRead": True}
        return sum(len(page["Items"]) for page in pages(call, "Scan", request))

    with ThreadPoolExecutor(segments) as pool:
        return sum(pool.map(read, range(segments)))


def copy(source: Call, target: Call, parallel: int) -> None:
    context = copy_context(source, target)
    with ExitStack() as stack:
        begun = prepare(context, [TablePair("items", "items")], segments=parallel, follow=False)
        copy_tables([stack.enter_context(leased(context, one)) for one in begun], parallel=parallel)


def seconds_of(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def verify(source: Call, target: Call, parallel: int) -> None:
    found = verify_pair(copy_context(source, target), TablePair("items", "items"), segments=parallel)
    if not found.is_equal:
        raise SystemExit("the copy differs from its source; the figures are worth nothing")


def measure_speed(items: int, parallel: int, rounds: int, directory: Path) -> dict[str, float]:
    found: dict[str, list[float]] = {"scan": [], "copy": [], "verify": [], "copy to a directory": []}
    with served("--memory") as url, line_to(url) as source:
        fill(source, items)
        for number in range(rounds):
            found["scan"].append(seconds_of(partial(scan, source, parallel)))
            with served("--memory") as to, line_to(to) as target:
                found["copy"].append(seconds_of(partial(copy, source, target, parallel)))
                found["verify"].append(seconds_of(partial(verify, source, target, parallel)))
            with Engine.open(directory / f"copy {number}", durability="relaxed") as engine:
                there = embedded(engine)
                found["copy to a directory"].append(seconds_of(partial(copy, source, there, parallel)))
                verify(source, there, parallel)
    return {name: items / median(some) for name, some in found.items()}


# --- the move ---


def portal_at(call: Call) -> Portal:
    db = Db(call, PORTAL, world=real_world(), secret=b"a benchmark's secret")
    return open_portal(db, real_world(), b"a benchmark's secret", lambda subject, roles, email: "token")


def write_customers(portal: Portal, stop: threading.Event, answered: list[str]) -> None:
    number = 0
    while not stop.wait(PACE):
        number += 1
        answered.append(portal.tenants.at_checkout(f"mover{number}@example.com", f"house {number}").id)


def command(*words: str) -> dict[str, Any]:
    done = subprocess.run([*COMMAND, *words, "--json"], stdout=subprocess.PIPE, text=True, check=True)
    value: dict[str, Any] = json.loads(done.stdout)
    return value


def measure_move(seconds: float, directory: Path) -> dict[str, float]:
    store = directory / "portal"
    with Engine.open(store, durability="relaxed") as engine:
        portal = portal_at(embedded(engine))
        portal.repository.db.create_tables()
        seed(portal, lambda done, total, what: None)
    answered, stop = list[str](), threading.Event()
    with served("--data", str(store)) as old, served("--memory") as new, line_to(old) as call:
        writer = threading.Thread(target=write_customers, args=(portal_at(call), stop, answered))
        began = time.monotonic()
        writer.start()
        runs = 0
        while runs == 0 or time.monotonic() - began < seconds:
            command("copy", "run", old, new, "--system", "portal")
            runs += 1
        stop.set()
        writer.join()
        written = time.monotonic() - began
        done = command("copy", "finish", old, new, "--system", "portal")
        with line_to(new) as there:
            moved = portal_at(there)
            for id in answered:
                moved.tenants.get(id)  # raises NotFound
    return {
        "writes": len(answered),
        "writes/s": len(answered) / written,
        "items": sum(table["items"]["target"] for table in done["tables"]),
        "changes in the pause": done["changes"],
        "drain s": done["drain_seconds"],
        "pause s": done["pause_seconds"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--items", type=int, default=20_000, help="items of the table that is copied; 0: no speed"
    )
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long writes go on in the move")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if given.items:
            rates = measure_speed(given.items, given.parallel, given.rounds, Path(name))
            for what, rate in rates.items():
                print(f"{what:20} {rate:10.0f} items/s  {rate / rates['scan']:6.2f} of a plain Scan")
        for what, value in measure_move(given.seconds, Path(name)).items():
            print(f"{what:20} {value:10.2f}")


if __name__ == "__main__":
    main()
