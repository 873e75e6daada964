"""How far above SQLite a write is: the engine's calls against the statements they come to, replayed without the engine.

    python benchmarks/floor.py                       put, update and transaction; a minute
    python benchmarks/floor.py --calls 10000 --json found.json

Requests have 1 KB items and two indexes, as those of engine.py. Calls are made inside the process, on a store of
10 000 items with durability `relaxed`, and their statements are noted. The same statements then run through apsw on a
copy of the store as it was, with its settings; its log is checkpointed every 200 commits, which is not timed.
Must hold: the copy ends with as many rows as the store. Figures are processor time of the calling thread, so the
engine's checkpoints, which another thread does, are not in them either. stdout is the answer, stderr the talk. Code 0:
it was measured; 2: it cannot run. There is no target: figures depend on the machine, their ratio much less.
Elsewhere: requests (workloads.py), running parts (runner.py).
"""

import dataclasses
import json
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import apsw

# Run as a file or with -m: the package must be found either way.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.in_process import open_seeded
from benchmarks.load import CannotMeasure
from benchmarks.report import table
from benchmarks.runner import Part, argument_parser, run_parts
from benchmarks.templates import filled
from benchmarks.workloads import FRESH, RUN, SMALL, WORKLOADS

from tablewright import Engine
from tablewright.engine.storage.sqlite import Storage

NAMES = ("put", "update", "transaction")
WARM, CHECKPOINTED = 500, 200
ROWS = "SELECT (SELECT count(*) FROM t1), (SELECT count(*) FROM journal)"
Statement: TypeAlias = tuple[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Bench:
    """What was asked for, and where it happens."""

    directory: Path
    calls: int


def floor_part(bench: Bench) -> Part:
    seeded, noted, replayed = (bench.directory / name for name in ("seeded", "noted", "replayed"))
    open_seeded(seeded, "relaxed").close()
    shutil.copytree(seeded, noted)
    shutil.copytree(seeded, replayed)
    asked = {name: requests(name, number * RUN, bench.calls) for number, name in enumerate(NAMES)}
    with Engine.open(noted, durability="relaxed") as engine:
        statements = {name: statements_of(engine, name, each) for name, each in asked.items()}
    with Engine.open(seeded, durability="relaxed") as engine:
        of_engine = {name: spent_in_calls(engine, name, each) for name, each in asked.items()}
    connection = connected(replayed)
    of_sqlite = {name: spent_in_statements(connection, each) for name, each in statements.items()}
    refuse_other_rows(connected(noted), connection)
    found = {
        name: {"engine": of_engine[name], "SQLite": of_sqlite[name], "statements": len(each) / bench.calls}
        for name, each in statements.items()
    }
    head = ["write", "engine us", "SQLite us", "times", "statements"]
    rows = [
        [name, *(f"{figure:.0f}" for figure in (engine, sqlite)), f"{engine / sqlite:.1f}", f"{many:.0f}"]
        for name, (engine, sqlite, many) in ((name, each.values()) for name, each in found.items())
    ]
    return Part("floor", table("Processor time of a write inside the process", head, rows), found, [])


def requests(name: str, first: int, calls: int) -> list[dict[str, Any]]:
    template = WORKLOADS[name](SMALL)
    return [json.loads(filled(template, FRESH + first + n * template.stride)) for n in range(calls)]


def statements_of(engine: Engine, name: str, asked: Sequence[dict[str, Any]]) -> list[Statement]:
    """What the writer's connection is asked for by calls."""
    noted: list[Statement] = []

    def note(_cursor: apsw.Cursor, sql: str, values: Any) -> bool:
        noted.append((sql, values))
        return True

    storage = engine._storage
    with storage.write_lock:  # between two transactions: a job may be writing
        storage._writer.exec_trace = note
    for request in asked:
        engine.call(WORKLOADS[name](SMALL).verb, request)
    with storage.write_lock:
        storage._writer.exec_trace = None
    return noted


def spent_in_calls(engine: Engine, name: str, asked: Sequence[dict[str, Any]]) -> float:
    """Microseconds of this thread for a call."""
    verb = WORKLOADS[name](SMALL).verb
    for request in asked[:WARM]:
        engine.call(verb, request)
    began = time.thread_time()
    for request in asked[WARM:]:
        engine.call(verb, request)
    return (time.thread_time() - began) / len(asked[WARM:]) * 1e6


def connected(store: Path) -> apsw.Connection:
    """A connection as the engine's own."""
    storage = Storage(store, "relaxed", None)
    connection = storage._connect()
    storage.close()
    return connection


def spent_in_statements(connection: apsw.Connection, statements: Sequence[Statement]) -> float:
    """Microseconds of this thread for the statements of a call, checkpoints not counted."""
    execute, spent, commits, timed = connection.cursor().execute, 0.0, 0, 0
    began = time.thread_time()
    for sql, values in statements:
        answer = execute(sql, values)
        if sql.startswith("SELECT"):
            answer.fetchall()
        elif sql == "COMMIT":
            commits += 1
            if commits > WARM:
                timed += 1
                spent += time.thread_time() - began
            if commits % CHECKPOINTED == 0:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
            began = time.thread_time()
    return spent / timed * 1e6


def refuse_other_rows(one: apsw.Connection, other: apsw.Connection) -> None:
    counted = [connection.execute(ROWS).fetchall() for connection in (one, other)]
    if counted[0] != counted[1]:
        raise CannotMeasure(f"the statements do not come to the same rows: {counted}")


PARTS = {"floor": floor_part}


def main(arguments: Sequence[str]) -> int:
    parser = argument_parser("benchmarks/floor.py", __doc__, list(PARTS))
    parser.add_argument("--calls", type=int, default=4_000, help="calls of each kind; default 4000")
    asked = parser.parse_args(arguments)
    if asked.calls <= WARM:
        parser.error(f"more than {WARM} calls, as so many are not timed")
    return run_parts(PARTS, asked, lambda home: Bench(home, asked.calls), {"calls": asked.calls})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
