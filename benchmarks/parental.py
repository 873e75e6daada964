"""Whether parental controls hold ten times the document's peaks on one machine: counting what was blocked, and history.

    python benchmarks/parental.py                              both, and what the machine could do at most (2 minutes)
    python benchmarks/parental.py --parts metrics --seconds 60 --json found.json

metrics: the document's 500 metric writes a second, ten times over: 5 000 events a second, in batches of 500 as a sensor
sends them, each event checked as the API does, every twentieth batch delivered twice. Once with all events of a batch
of different children and apps, so that each is a metric write of its own, and once as it is when a child whose app is
blocked tries again: ten in a row of the same child and app (`--burst`). history: the document's 100 writes a second
ten times over: 1 000 records of enforcement a second, one write each. limit: counting as fast as it goes, for several
bursts. The garbage collector is set as `tablewright serve` sets it.
A batch or a record counts from the moment it was due, so a pause delays everything that was due during it.
Must hold: what was counted is compared with what was sent; a result with a wrong sum is discarded.
stdout is the answer, stderr the talk. Code 0: every measured target met; 1: one was not; 2: it cannot run.
Figures depend on the machine, so no test asserts them.
Elsewhere: running parts (runner.py), the form of a verdict (verdict.py, report.py), the machine (machine.py).
"""

import dataclasses
import gc
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

# Run as a file or with -m: the package must be found either way.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.load import CannotMeasure
from benchmarks.pace import quantile
from benchmarks.report import table
from benchmarks.runner import Part, argument_parser, print_progress, run_parts
from benchmarks.verdict import at_least, under

from tablewright import Engine
from tablewright.client import embedded
from tablewright.design import Write
from tablewright.mapping import Db
from tablewright.systems.parental import design as d
from tablewright.systems.parental.blocked.events import Batch, Event
from tablewright.systems.parental.blocked.ingest import Ingest
from tablewright.systems.parental.family.notices import Notices
from tablewright.systems.parental.model import Action, Child, Family
from tablewright.systems.parental.policy.registry import Registry
from tablewright.systems.parental.repository import Repository

TIMES = 10
METRICS_PEAK, HISTORY_PEAK = 500, 100  # a second, of the document
BATCH, CHILDREN, APPS, TWICE = 500, 5000, 10, 20
AT_ONCE = 30  # households in a transaction
TELLING, MANY = 10, 100
STEADY, BURSTS = (1, 10), (1, 10, 50)
WORKERS = {"metrics": 4, "history": 32}
HELD, METRICS_P99, HISTORY_P99 = 0.99, 1000.0, 100.0
LATE = 1.0  # seconds: what is done later than this after the end was not held


@dataclasses.dataclass(frozen=True, slots=True)
class Bench:
    """What was asked for, and where it happens."""

    directory: Path
    seconds: float
    bursts: tuple[int, ...]
    durability: str


@dataclasses.dataclass(frozen=True, slots=True)
class Steady:
    """A steady run: how much of what was due was done in time, and how long each took, in milliseconds."""

    held: float
    times: list[float]
    cpu_seconds: float
    seconds: float

    def figures(self) -> dict[str, float]:
        return {
            "held": self.held,
            "p50_ms": quantile(self.times, 0.5),
            "p99_ms": quantile(self.times, 0.99),
            "worst_ms": max(self.times),
            "cores": self.cpu_seconds / self.seconds,
        }


# --- a world to count in ---


def phone(number: int) -> str:
    return f"+1555{number % CHILDREN:07}"


@contextmanager
def open_repository(bench: Bench, name: str) -> Iterator[Repository]:
    """The tables, with children in them, each of a family; every tenth family wants to be told of many attempts."""
    with Engine.open(bench.directory / name, durability=bench.durability) as engine:
        db = Db(embedded(engine), d.PARENTAL)
        db.create_tables()
        repository = Repository(db, db.world)
        born = repository.now() - timedelta(days=1)
        for first in range(0, CHILDREN, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, CHILDREN))
            db.write(*(write for number in numbers for write in household(number, born)))
        yield repository


def household(number: int, born: datetime) -> list[Write[Any]]:
    key, family_id = phone(number), f"family-{number}"
    alert = MANY if number % TELLING == 0 else None
    family = Family(family_id=family_id, name="A family", alert_after_blocks=alert, created_at=born)
    child = Child(
        child=key, phone=key, held_phone=key, family_id=family_id, child_name="A child", timezone="America/New_York",
        parent_email=f"parent-{number}@example.com", created_at=born, updated_at=born,
    )  # fmt: skip
    return [d.families.create(family), d.children.create(child)]


def events_of(number: int, burst: int, now: datetime) -> list[dict[str, str]]:
    """A batch as it comes over the line: so many events in a row of the same child and app."""
    stamp = now.isoformat()
    groups = BATCH // burst
    return [
        {
            "at": stamp,
            "phoneNumber": phone(number * groups + event // burst),
            "appName": f"App {(number + event // burst) % APPS}",
        }
        for event in range(BATCH)
    ]


@dataclasses.dataclass(frozen=True, slots=True)
class EventConsumer:
    """Consumes batches as the API does: counts them, and checks whether a family asked for an alert."""

    ingest: Ingest
    notices: Notices

    def take(self, number: int, burst: int, now: datetime) -> None:
        """One batch, from the received JSON to the counters."""
        batch = Batch(
            f"{burst}/{number}", [Event.model_validate(one) for one in events_of(number, burst, now)]
        )
        for _ in range(2 if number % TWICE == 0 else 1):
            self.notices.blocked_often(self.ingest.take(batch).touched)

    def warm(self, burst: int, repository: Repository) -> int:
        """Batches until each child was there once: the first event of a day costs more. How many that are."""
        batches = CHILDREN * burst // BATCH
        for number in range(batches):
            self.take(number, burst, repository.now())
        return batches


def event_consumer(repository: Repository) -> EventConsumer:
    return EventConsumer(Ingest(repository, Registry(repository)), Notices(repository))


def check(repository: Repository, events: int) -> None:
    """What is in the tables must be what was sent."""
    counted, hours = 0, 0
    for number in range(CHILDREN):
        for metric in repository.db.all(d.metrics_of_child(child=phone(number))):
            counted += metric.blocked_count
            hours += sum(metric.hourly.values())
    if not counted == hours == events:
        raise CannotMeasure(f"{events} events were sent, {counted} counted, {hours} by the hour")


# --- a steady pace ---


def run_steadily(work: Callable[[int], None], per_second: float, seconds: float, workers: int) -> Steady:
    """Do so many a second on so many threads, each from the moment it is due."""
    count = int(per_second * seconds)
    numbers, lock = itertools.count(), threading.Lock()
    times: list[float] = []
    in_time = 0
    began, cpu = time.perf_counter() + 0.05, time.process_time()
    end = began + seconds + LATE

    def run() -> None:
        nonlocal in_time
        while True:
            with lock:
                number = next(numbers)
            if number >= count:
                return
            due = began + number / per_second
            time.sleep(max(due - time.perf_counter(), 0))
            work(number)
            done = time.perf_counter()
            with lock:
                times.append((done - due) * 1000)
                in_time += done <= end

    with ThreadPoolExecutor(workers) as pool:
        for running in [pool.submit(run) for _ in range(workers)]:
            running.result()
    return Steady(in_time / count, times, time.process_time() - cpu, time.perf_counter() - began)


def row(name: str, figures: dict[str, float]) -> list[str]:
    return [
        name,
        f"{figures['held'] * 100:.1f} %",
        f"{figures['p50_ms']:.1f}",
        f"{figures['p99_ms']:.1f}",
        f"{figures['worst_ms']:.0f}",
        f"{figures['cores']:.2f}",
    ]


HEAD = ["held", "p50 ms", "p99 ms", "worst ms", "cores"]


# --- the parts ---


def metrics_part(bench: Bench) -> Part:
    rate = TIMES * METRICS_PEAK
    rows, found, verdicts = [], {}, []
    for burst in bench.bursts:
        figures = counted(bench, burst, rate).figures()
        name = "all different" if burst == 1 else f"{burst} in a row alike"
        found[str(burst)] = figures
        rows.append(row(name, figures))
        held = f"{TIMES} x {METRICS_PEAK} metric writes a second held, {name}"
        verdicts.append(at_least(held, HELD, figures["held"]))
        verdicts.append(
            under(f"p99 of a batch, {name}, from when it was due", METRICS_P99, "ms", figures["p99_ms"])
        )
    title = f"Counting, {rate} events a second in batches of {BATCH} ({bench.durability})"
    return Part("metrics", table(title, ["a batch counted", *HEAD], rows), found, verdicts)


def counted(bench: Bench, burst: int, rate: int) -> Steady:
    with open_repository(bench, f"metrics-{burst}") as repository:
        taking = event_consumer(repository)
        warm = taking.warm(burst, repository)
        print_progress(
            f"metrics: {rate} events a second for {bench.seconds:.0f} s, {burst} at a time of one child and app"
        )
        found = run_steadily(
            lambda number: taking.take(warm + number, burst, repository.now()),
            rate / BATCH,
            bench.seconds,
            WORKERS["metrics"],
        )
        check(repository, (warm + len(found.times)) * BATCH)
    return found


def limit_part(bench: Bench) -> Part:
    rows, found = [], {}
    for burst in BURSTS:
        with open_repository(bench, f"limit-{burst}") as repository:
            taking = event_consumer(repository)
            warm = batches = taking.warm(burst, repository)
            began, cpu = time.perf_counter(), time.process_time()
            while (wall := time.perf_counter() - began) < max(bench.seconds / 4, 2):
                taking.take(batches, burst, repository.now())
                batches += 1
            spent = time.process_time() - cpu
            check(repository, batches * BATCH)
        events = (batches - warm) * BATCH
        print_progress(f"limit: bursts of {burst}: {events / wall:.0f} events a second")
        found[str(burst)] = {"per_second": events / wall, "per_cpu_second": events / spent}
        rows.append([f"bursts of {burst}", f"{events / wall:.0f}", f"{events / spent:.0f}"])
    head = ["one thread, as fast as it goes", "events/s", "per processor second"]
    return Part("limit", table(f"What counting costs ({bench.durability})", head, rows), found, [])


def history_part(bench: Bench) -> Part:
    rate = TIMES * HISTORY_PEAK
    with open_repository(bench, "history") as repository:
        print_progress(f"history: {rate} records a second for {bench.seconds:.0f} s")
        found = run_steadily(
            lambda number: record(repository, number), float(rate), bench.seconds, WORKERS["history"]
        )
        kept = sum(repository.db.count(d.actions_of_child(child=phone(number))) for number in range(CHILDREN))
        if kept != len(found.times):
            raise CannotMeasure(f"{len(found.times)} records were written, {kept} are there")
    figures = found.figures()
    title = f"History, {rate} records a second ({bench.durability})"
    held = at_least(f"{TIMES} x {HISTORY_PEAK} records of history a second held", HELD, found.held)
    p99 = under("p99 of a record, from when it was due", HISTORY_P99, "ms", figures["p99_ms"])
    text = table(title, ["a record written", *HEAD], [row("one write each", figures)])
    return Part("history", text, figures, [held, p99])


def record(repository: Repository, number: int) -> None:
    now = repository.now()
    # As many fail as on a bad day: those are in the index of the operators as well.
    failed = number % 20 == 0
    action = Action(
        child=phone(number), occurred_at=now, action_id=repository.new_timed_id(now), action="block",
        app_name=f"App {number % APPS}", privateIP="10.20.30.40", rule_id=f"rule-{number}",
        policy_ids=["policy_20301003_001"], status="failed" if failed else "success",
        status_key="failed" if failed else None, ftd_response={"deviceId": "ftd-device-001"}, duration_ms=342,
    )  # fmt: skip
    repository.db.write(d.actions.create(action))


# --- the whole ---

PARTS: dict[str, Callable[[Bench], Part]] = {
    "metrics": metrics_part,
    "history": history_part,
    "limit": limit_part,
}


def main(arguments: Sequence[str]) -> int:
    parser = argument_parser("benchmarks/parental.py", __doc__, list(PARTS))
    parser.add_argument("--seconds", type=float, default=20.0, help="of steady work; default 20")
    bursts = "how many events in a row are alike; may be given several times; default 1 and 10"
    parser.add_argument("--burst", type=int, choices=(1, 2, 5, 10, 25, 50, 100), action="append", help=bursts)
    parser.add_argument("--durability", choices=("durable", "relaxed"), default="durable")
    asked = parser.parse_args(arguments)
    settings = {"seconds": asked.seconds, "bursts": asked.burst or STEADY, "durability": asked.durability}
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    return run_parts(PARTS, asked, lambda home: Bench(home, *settings.values()), settings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
