"""What history and background work cost: journal, TTL sweep, restore, stream, export; ratios of one run and a verdict.

    python benchmarks/time.py                                 everything at a million items (about 15 minutes)
    python benchmarks/time.py --items 100000                  fewer items
    python benchmarks/time.py --parts journal,sweep --json found.json

journal: processor time of a put inside the process, with the journal and with a journal that writes nothing, turn by
turn. sweep: puts at a steady 1 000 a second, while nothing else happens and while a table of expired items is swept.
restore, export: seconds for a table of so many items. stream: how long after a write is sent its record has been read,
at 5 000 writes a second.
Results go to stdout, progress to stderr. Exit code 0: every measured target met; 1: one was not; 2: it cannot run.
Figures depend on the machine, so no test asserts them.
Elsewhere: steady requests (pace.py), the form of a verdict (verdict.py, report.py), the machine (machine.py).
"""

import argparse
import contextlib
import dataclasses
import itertools
import json
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

# Run as a file or with -m: the package must be found either way.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.load import CannotMeasure, call
from benchmarks.pace import quantile, request, run_paced
from benchmarks.report import table
from benchmarks.runner import Part, argument_parser, print_progress, run_parts
from benchmarks.verdict import Target

from tablewright import Engine
from tablewright.client import Call

JOURNAL_SHARE, SWEEP_RATIO = 0.25, 3.0
SWEEP_RATE, STREAM_RATE, BATCH = 1000, 5000, 25
ROUNDS, ROUND_PUTS = 60, 1500
NEVER = "300000000"  # seconds between two sweeps, for a server that is not to sweep
TEXT = "Whoever reads a note sees what was written, by whom, and when it may be forgotten. " * 12
INDEXED = ("by_kind", "by_rank")


@dataclasses.dataclass(frozen=True, slots=True)
class Bench:
    """What was asked for, and where it happens."""

    directory: Path
    items: int
    seconds: float
    durability: str


def at_most(promise: str, wanted: float, unit: str, measured: float) -> Target:
    return Target(promise, f"<= {wanted:g} {unit}", f"{measured:.2f} {unit}", measured <= wanted)


# --- tables and items ---


def schema(name: str, indexes: Sequence[str] = (), stream: bool = False) -> dict[str, Any]:
    keys = ["pk", *indexes]
    made: dict[str, Any] = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in keys],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    if indexes:
        made["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index,
                "KeySchema": [{"AttributeName": index, "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
            for index in indexes
        ]
    if stream:
        made["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    return made


def note(number: int, size: int, until: int | None = None) -> dict[str, Any]:
    """An item of about `size` bytes; its keys come in no order."""
    made: dict[str, Any] = {
        "pk": {"S": f"{number * 2_654_435_761 % 10**10:010d}#{number}"},
        "by_kind": {"S": f"KIND#{number % 997}"},
        "by_rank": {"S": f"RANK#{number % 1009}"},
        "count": {"N": str(number)},
        "text": {"S": TEXT[: max(size - 90, 1)]},
    }
    if until is not None:
        made["until"] = {"N": str(until)}
    return made


def fill_table(engine: Engine, name: str, items: int, size: int, until: int | None = None) -> None:
    began = time.monotonic()
    for first in range(0, items, BATCH):
        puts = [
            {"PutRequest": {"Item": note(number, size, until)}}
            for number in range(first, min(first + BATCH, items))
        ]
        engine.call("BatchWriteItem", {"RequestItems": {name: puts}})
    print_progress(f"{items} items of {size} bytes in {name} after {time.monotonic() - began:.0f} s")


def wait_for(condition: Callable[[], bool]) -> float:
    """Seconds until the condition is true."""
    began = time.perf_counter()
    while not condition():
        time.sleep(0.02)
    return time.perf_counter() - began


# --- the journal ---


def journal_part(bench: Bench) -> Part:
    rows, targets, found = [], [], {}
    for title, size, indexes in (
        ("1 KB, two indexes", 1024, INDEXED),
        ("1 KB", 1024, ()),
        ("200 bytes", 200, ()),
    ):
        print_progress(f"journal: puts of {title}")
        with_it, without = _put_costs(bench, size, indexes)
        share = 1 - without / with_it
        rows.append([f"put, {title}", f"{with_it:.1f}", f"{without:.1f}", f"{share:.0%}"])
        targets.append(at_most(f"journal's share of a put, {title}", JOURNAL_SHARE * 100, "%", share * 100))
        found[title] = {"us": with_it, "us_without": without}
    head = ["inside the process", "cpu us", "without journal", "journal"]
    return Part("journal", table("What the journal costs a write", head, rows), found, targets)


def _put_costs(bench: Bench, size: int, indexes: Sequence[str]) -> tuple[float, float]:
    """Microseconds of processor time per put, with and without the journal: medians of rounds turn by turn."""
    with contextlib.ExitStack() as stack:
        engines = []
        for is_written in (True, False):
            path = bench.directory / f"journal-{size}-{len(indexes)}-{is_written}"
            engine = stack.enter_context(Engine.open(path, durability="relaxed", ttl_seconds=float(NEVER)))
            engine.call("CreateTable", schema("notes", indexes))
            engine.settle()
            if not is_written:
                # The numbers are counted as ever; only the row is not written.
                engine._storage.writes.append = lambda *row: None  # type: ignore[method-assign]  # what we measure
            engines.append(engine)
        costs: tuple[list[float], list[float]] = ([], [])
        for turn in range(ROUNDS):
            requests = [
                {"TableName": "notes", "Item": note(turn * ROUND_PUTS + number, size)}
                for number in range(ROUND_PUTS)
            ]
            for which in (0, 1) if turn % 2 else (1, 0):
                began = time.process_time()
                for put in requests:
                    engines[which].call("PutItem", put)
                costs[which].append((time.process_time() - began) / ROUND_PUTS * 1e6)
        return statistics.median(costs[0][2:]), statistics.median(costs[1][2:])


# --- the sweep ---


def sweep_part(bench: Bench) -> Part:
    store = bench.directory / "sweep"
    with Engine.open(store, durability="relaxed", ttl_seconds=float(NEVER)) as engine:
        for name in ("notes", "news"):
            engine.call("CreateTable", schema(name))
        specification = {"Enabled": True, "AttributeName": "until"}
        engine.call("UpdateTimeToLive", {"TableName": "notes", "TimeToLiveSpecification": specification})
        fill_table(engine, "notes", bench.items, 300, until=int(time.time()) - 3600)
    serials = itertools.count()
    with served(store, "--durability", bench.durability, "--ttl-seconds", NEVER) as port:
        print_progress(f"sweep: {bench.seconds:.0f} s of quiet puts")
        _steady(port, 2.0, serials)
        quiet = _steady(port, bench.seconds, serials)
    with served(store, "--durability", bench.durability, "--ttl-seconds", "1") as port:
        print_progress("sweep: puts while it sweeps")
        busy, seconds = _steady_while_swept(port, bench.items, serials)
        print_progress(f"sweep: over after {seconds:.0f} s; quiet puts again")
        quiet += _steady(port, bench.seconds, serials)
    shutil.rmtree(store)
    rows = [
        [
            name,
            f"{len(seen)}",
            f"{quantile(seen, 0.5):.2f}",
            f"{p99_of_seconds(seen):.2f}",
            f"{quantile(seen, 0.99):.2f}",
            f"{max(seen):.0f}",
        ]
        for name, seen in (("quiet", quiet), ("while it sweeps", busy))
    ]
    head = [
        f"{SWEEP_RATE} puts a second ({bench.durability})",
        "puts",
        "p50 ms",
        "p99 ms",
        "p99 of all",
        "worst",
    ]
    text = table(f"A sweep of {bench.items} items ({bench.items / seconds:.0f} a second)", head, rows)
    ratio = p99_of_seconds(busy) / p99_of_seconds(quiet)
    found = {"quiet_p99_ms": p99_of_seconds(quiet), "busy_p99_ms": p99_of_seconds(busy), "seconds": seconds}
    return Part(
        "sweep", text, found, [at_most("p99 of puts while it sweeps, against quiet", SWEEP_RATIO, "x", ratio)]
    )


def p99_of_seconds(seen: list[float]) -> float:
    """The p99 of each second's puts, and of those the median: a neighbour's stall is in one second, a sweep in all."""
    seconds = [seen[first : first + SWEEP_RATE] for first in range(0, len(seen), SWEEP_RATE)]
    return statistics.median(
        quantile(one, 0.99) for one in seconds if len(one) == SWEEP_RATE or len(seconds) == 1
    )


def _puts(serials: Iterator[int]) -> Iterator[bytes]:
    for number in serials:
        yield request("PutItem", json.dumps({"TableName": "news", "Item": note(number, 1024)}).encode())


def _steady(port: int, seconds: float, serials: Iterator[int]) -> list[float]:
    return run_paced(port, _puts(serials), SWEEP_RATE, lambda passed: passed >= seconds)


def _steady_while_swept(port: int, items: int, serials: Iterator[int]) -> tuple[list[float], float]:
    """The puts from the first item that is gone to the last, and how long that took."""
    wait_for(lambda: _left(port) < items)
    done = threading.Event()

    def watch() -> None:
        while _left(port) > 0:
            time.sleep(0.2)
        done.set()

    watching = threading.Thread(target=watch)
    began = time.perf_counter()
    watching.start()
    seen = run_paced(port, _puts(serials), SWEEP_RATE, lambda passed: done.is_set())
    watching.join()
    return seen, time.perf_counter() - began


def _left(port: int) -> int:
    told: Any = call(port, "DescribeTable", {"TableName": "notes"})[1]["Table"]
    return int(told["ItemCount"])


@contextlib.contextmanager
def served(store: Path, *options: str) -> Iterator[int]:
    """The port of a server of our own on a store that is there."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    program = Path(sys.executable).with_name("tablewright")
    words = [str(program), "engine", "serve", "--port", str(port), "--data", str(store), *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            if not process.stdout.readline():
                raise CannotMeasure("the server did not start")
            yield port
        finally:
            process.terminate()
            process.wait(60)


# --- the past ---


def past_part(bench: Bench) -> Part:
    """Backup, restore of it, restore of a moment, export: one table, one engine, one after the other."""
    store = bench.directory / "past"
    steps: dict[str, float] = {}
    with Engine.open(store, durability="relaxed", ttl_seconds=float(NEVER)) as engine:
        engine.call("CreateTable", schema("notes"))
        fill_table(engine, "notes", bench.items, 300)
    with Engine.open(store, durability=bench.durability, ttl_seconds=float(NEVER)) as engine:
        size = engine.call("DescribeTable", {"TableName": "notes"})["Table"]["TableSizeBytes"]
        wanted = {"PointInTimeRecoveryEnabled": True}
        engine.call(
            "UpdateContinuousBackups", {"TableName": "notes", "PointInTimeRecoverySpecification": wanted}
        )
        backup = engine.call("CreateBackup", {"TableName": "notes", "BackupName": "all"})["BackupDetails"][
            "BackupArn"
        ]
        steps["backup"] = wait_for(lambda: _is_backed_up(engine, backup))
        print_progress(f"backup: {steps['backup']:.1f} s")
        engine.call("RestoreTableFromBackup", {"BackupArn": backup, "TargetTableName": "restored"})
        steps["restore of a backup"] = wait_for(lambda: _is_active(engine, "restored"))
        print_progress(f"restore of a backup: {steps['restore of a backup']:.1f} s")
        moment = {"SourceTableName": "notes", "TargetTableName": "recovered", "UseLatestRestorableTime": True}
        engine.call("RestoreTableToPointInTime", moment)
        steps["restore of a moment"] = wait_for(lambda: _is_active(engine, "recovered"))
        print_progress(f"restore of a moment: {steps['restore of a moment']:.1f} s")
        arn = engine.call("DescribeTable", {"TableName": "notes"})["Table"]["TableArn"]
        asked = engine.call("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "exports"})
        export = asked["ExportDescription"]["ExportArn"]
        steps["export"] = wait_for(lambda: _is_exported(engine, export))
        print_progress(f"export: {steps['export']:.1f} s")
        counted = [_items(engine, name) for name in ("notes", "restored", "recovered")]
        if counted != [bench.items] * 3:
            raise CannotMeasure(f"a restore did not bring everything back: {counted}")
    shutil.rmtree(store)
    rows = [
        [name, f"{took:.1f}", f"{bench.items / took:.0f}", f"{size / took / 1e6:.1f}"]
        for name, took in steps.items()
    ]
    head = [f"{bench.items} items, {size / 1e6:.0f} MB ({bench.durability})", "seconds", "items/s", "MB/s"]
    found = {"bytes": size, "items": bench.items, "seconds": steps}
    return Part("past", table("Backup, restore, export", head, rows), found, [])


def _items(engine: Engine, name: str) -> int:
    return int(engine.call("DescribeTable", {"TableName": name})["Table"]["ItemCount"])


def _is_active(engine: Engine, name: str) -> bool:
    return bool(engine.call("DescribeTable", {"TableName": name})["Table"]["TableStatus"] == "ACTIVE")


def _is_backed_up(engine: Engine, arn: str) -> bool:
    told = engine.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]["BackupDetails"]
    return bool(told["BackupStatus"] == "AVAILABLE")


def _is_exported(engine: Engine, arn: str) -> bool:
    told = engine.call("DescribeExport", {"ExportArn": arn})["ExportDescription"]
    if told["ExportStatus"] == "FAILED":
        raise CannotMeasure(f"the export failed: {told.get('FailureMessage')}")
    return bool(told["ExportStatus"] == "COMPLETED")


# --- a stream ---


def stream_part(bench: Bench) -> Part:
    store = bench.directory / "stream"
    with Engine.open(store) as engine:
        engine.call("CreateTable", schema("notes", stream=True))
    with served(store, "--durability", bench.durability) as port:
        words = [sys.executable, str(Path(__file__).resolve()), "--follow", str(port)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            reader.stdout.readline()
            print_progress(f"stream: {STREAM_RATE} writes a second for {bench.seconds:.0f} s, and a reader")
            sent = run_paced(port, _batches(), STREAM_RATE / BATCH, lambda passed: passed >= bench.seconds)
            reader.stdin.close()
            lags: list[float] = json.loads(reader.stdout.readline())
    shutil.rmtree(store)
    rate = len(sent) * BATCH / bench.seconds
    head = [
        f"{rate:.0f} writes a second in batches of {BATCH} ({bench.durability})",
        "read",
        "p50 ms",
        "p99 ms",
        "worst ms",
    ]
    row = ["from sending a write to having its record", f"{len(lags)}", f"{quantile(lags, 0.5):.1f}",
           f"{quantile(lags, 0.99):.1f}", f"{max(lags):.0f}"]  # fmt: skip
    found = {
        "rate": rate,
        "p50_ms": quantile(lags, 0.5),
        "p99_ms": quantile(lags, 0.99),
        "worst_ms": max(lags),
    }
    note_of = "" if rate >= 0.95 * STREAM_RATE else " (the writer fell behind)"
    return Part("stream", table(f"A stream's lag{note_of}", head, [row]), found, [])


def _batches() -> Iterator[bytes]:
    for first in itertools.count(0, BATCH):
        sent = {"sent": {"N": f"{time.perf_counter():.6f}"}}
        puts = [{"PutRequest": {"Item": note(first + n, 300) | sent}} for n in range(BATCH)]
        yield request("BatchWriteItem", json.dumps({"RequestItems": {"notes": puts}}).encode())


def follow(port: int) -> None:
    """In a process of its own: read the stream until nothing has come since our input was closed; print the lags."""
    from tablewright.client import Credentials, HttpCall

    lags: list[float] = []
    is_over = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        is_over.set()

    threading.Thread(target=wait, daemon=True).start()

    class AllRead(Exception):
        pass

    def pause(seconds: float) -> None:
        if is_over.is_set():
            raise AllRead
        time.sleep(0.01)

    with HttpCall(f"http://127.0.0.1:{port}", "us-east-1", Credentials("any", "any")) as line:
        print("ready", flush=True)
        with contextlib.suppress(AllRead):
            for record in _changes(line, "notes", pause):
                # perf_counter is one clock for all processes of a Linux machine.
                sent = float(record["dynamodb"]["NewImage"]["sent"]["N"])
                lags.append((time.perf_counter() - sent) * 1000)
    print(json.dumps(lags), flush=True)


def _changes(line: Call, name: str, pause: Callable[[float], None]) -> Iterator[dict[str, Any]]:
    """The records of a table's stream, from its oldest; `pause` is called when there are none."""
    from tablewright.mapping.consumer import shards

    places: dict[str, str | None] = {}
    while True:
        for shard in shards.shards_of(line, name):
            if shard.id not in places:
                places[shard.id] = shards.shard_iterator(line, shard.stream, shard.id)
        has_records = False
        for id, place in places.items():
            if place is not None:
                page = shards.read_page(line, place, 1000)
                places[id], has_records = page.next, has_records or bool(page.records)
                yield from page.records
        if not has_records:
            pause(1.0)


# --- the whole ---

PARTS: dict[str, Callable[[Bench], Part]] = {
    "journal": journal_part,
    "sweep": sweep_part,
    "stream": stream_part,
    "past": past_part,
}


def main(arguments: Sequence[str]) -> int:
    parser = argument_parser("benchmarks/time.py", __doc__, list(PARTS))
    parser.add_argument("--items", type=int, default=1_000_000, help="in a table; default 1000000")
    parser.add_argument("--seconds", type=float, default=20.0, help="of steady requests; default 20")
    parser.add_argument("--durability", choices=("durable", "relaxed"), default="durable")
    parser.add_argument("--follow", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.follow is not None:
        follow(asked.follow)
        return 0
    settings = {"items": asked.items, "seconds": asked.seconds, "durability": asked.durability}
    return run_parts(PARTS, asked, lambda home: Bench(home, *settings.values()), settings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
