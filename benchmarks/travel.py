"""Whether Skratch is as fast among a million travellers as among few: pushes, pulls, figures, visitors of a region.

    python benchmarks/travel.py                                       a million travellers; loading takes most of it
    python benchmarks/travel.py --users 100000 --visits 3 --rounds 50 --json found.json

Two tables, one with `--few` travellers (10 000) and one with `--users` (1 000 000), each of whom has been to France and
shares that, and to `--visits` minus one other places. In each table some more travellers push, turn by turn: now in the
small one, now in the large one, so that neighbours disturb both alike.
push: 100 operations in one request, edits of 100 places. pull: the 100 changes of such a push. count: how many were in
France. visitors: the latest 100 of them. stats: the figures of a traveller after a push.
Must hold: what was pushed is compared with what is pulled, and what is counted with what was loaded.
stdout is the answer, stderr the talk. Code 0: every measured target met; 1: one was not; 2: it cannot run.
Figures depend on the machine, so no test asserts them. What was loaded is written without going through a push, the
tallies with it: what is measured is how requests do among it, not how it came there.
Elsewhere: running parts (parts.py), the form of a verdict (verdict.py, report.py), the machine (machine.py).
"""

import dataclasses
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import timedelta
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

# Run as a file or with -m: the package must be found either way.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.load import CannotMeasure
from benchmarks.pace import quantile
from benchmarks.parts import Part, carry_out, parser_of, say
from benchmarks.report import table
from benchmarks.verdict import Target, at_least

from tablewright import Engine
from tablewright.client import embedded
from tablewright.design import Write
from tablewright.design.parts import codec
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.model import Device, PrivacySettings, Profile, RegionTally, Visit
from tablewright.systems.travel.operations import Edit, place_id
from tablewright.systems.travel.service import Travel, open_travel

OPERATIONS, PAGE = 100, 100
# So many travellers push in turn: a device may push 60 times a minute.
PUSHERS = 20
DEVICE = "phone"
AT_ONCE = 2_500
FLAT = 0.8
_SHARD = codec(f"shard.{d.SHARDS}")


@dataclasses.dataclass(frozen=True, slots=True)
class Bench:
    """What was asked for, and where it happens."""

    directory: Path
    users: int
    few: int
    visits: int
    rounds: int
    durability: str


@dataclasses.dataclass(slots=True)
class World:
    """A table with so many travellers, and how far those have come who are measured."""

    name: str
    users: int
    travel: Travel
    codes: Sequence[str]
    since: Counter[str] = dataclasses.field(default_factory=Counter)
    number: int = 0

    @property
    def db(self) -> Db:
        return self.travel.repository.db


# --- loading ---


def crowd(world: World, each: int) -> Iterator[Write[Any]]:
    """Travellers who have been to France and say so, and to other places."""
    now = world.travel.repository.now()
    others = [code for code in world.codes if code != "FR"]
    for number in range(world.users):
        user_id = f"traveller-{number:08}"
        # Spread over the last weeks, as marks are.
        marked = now - timedelta(seconds=(number * 7919) % 2_000_000)
        for place in range(each):
            code = "FR" if place == 0 else others[(number + place) % len(others)]
            yield d.visits.put(visit_of(world, user_id, code, marked))


def visit_of(world: World, user_id: str, code: str, marked: Any) -> Visit:
    region = world.travel.geography.get("country", code)
    if region is None:
        raise CannotMeasure(f"there is no {code} in the geography")
    return Visit.model_construct(
        schema_version=2, composite_key=place_id(user_id, "country", code), user_id=user_id, region_type="country",
        region_code=code, region_name=region.display_name, visited_date="2024-05-01",
        notes="Somewhere between the station and the sea, with too much luggage and not enough time.",
        trips={}, marked_at=marked, timestamp_ms=round(marked.timestamp() * 1000), marked_from_device=DEVICE,
        sync_version=1, server_version=1, last_modified_at=marked, operation_id=f"op-{user_id}-{code}",
        is_deleted=False, is_listed=True, deleted_at=None, stamps={},
    )  # fmt: skip


def load(world: World, each: int) -> None:
    """The crowd, what is counted of it, and those who will be measured."""
    db, now = world.db, world.travel.repository.now()
    began, done = time.perf_counter(), 0
    writes = crowd(world, each)
    while some := list(islice(writes, AT_ONCE)):
        if db.batch(some):
            raise CannotMeasure("the table did not take what was loaded")
        done += len(some)
        if done % (AT_ONCE * 40) == 0:
            say(f"{world.name}: {done} items, {done / (time.perf_counter() - began):.0f} a second")
    parts = Counter(_SHARD.encode(f"traveller-{number:08}") or "" for number in range(world.users))
    for shard, visitors in parts.items():
        tally = RegionTally(region_type="country", region_code="FR", shard=shard, visitors=visitors)
        db.write(d.region_tallies.put(tally))
    for user_id in pushers():
        profile = Profile(
            user_id=user_id, auth_provider="apple", auth_provider_id=user_id, created_at=now, updated_at=now,
            privacy_settings=PrivacySettings(share_visits=True),
        )  # fmt: skip
        device = Device(
            user_id=user_id, device_id=DEVICE, name="a phone", registered_at=now, last_seen_at=now
        )
        db.write(d.profiles.create(profile), d.devices.create(device))
    say(f"{world.name}: loaded in {time.perf_counter() - began:.0f} s")


def pushers() -> list[str]:
    return [f"pusher-{number}" for number in range(PUSHERS)]


# --- what is measured ---


def push(world: World, user_id: str) -> None:
    """100 operations: the first time marks, then edits of what was marked."""
    known = world.since[user_id] // OPERATIONS
    edits = [
        Edit(
            operation_id=f"op-{user_id}-{known}-{code}",
            operation_type="update" if known else "create",
            region_type="country",
            region_code=code,
            client_version=known,
            entity_data={"notes": f"the {known}th time, and still nothing like it"},
            client_timestamp=world.travel.repository.now(),
        )
        for code in world.codes[:OPERATIONS]
    ]
    pushed = world.travel.sync.push(user_id, DEVICE, edits)
    if any(result.status != "applied" for result in pushed.results):
        raise CannotMeasure(f"an operation was not applied: {pushed.results[0]}")


def pull(world: World, user_id: str) -> None:
    since = world.since[user_id]
    pulled = world.travel.feed.pull(user_id, DEVICE, since, size=PAGE)
    if len(pulled.changes) != OPERATIONS or pulled.next != since + OPERATIONS:
        raise CannotMeasure(f"{OPERATIONS} changes were pushed, {len(pulled.changes)} pulled")
    world.since[user_id] = pulled.next


def stats(world: World, user_id: str) -> None:
    found = world.travel.statistics.of(user_id)
    if found.countries_visited == 0 or found.server_version != world.since[user_id]:
        raise CannotMeasure(f"the figures of {user_id} are not of now")


def count(world: World, user_id: str) -> None:
    if world.travel.regions.count("country", "FR") != world.users:
        raise CannotMeasure("the visitors counted are not those who were loaded")


def visitors(world: World, user_id: str) -> None:
    if len(world.travel.regions.visitors("country", "FR", PAGE).items) != PAGE:
        raise CannotMeasure("the latest visitors of France are not there")


# In this order in each round: a pull needs a push before it, figures too.
REQUESTS: dict[str, Callable[[World, str], None]] = {
    "push": push,
    "pull": pull,
    "stats": stats,
    "count": count,
    "visitors": visitors,
}
SAYS = {
    "push": f"push of {OPERATIONS} operations",
    "pull": f"pull of {OPERATIONS} changes",
    "stats": "figures after a push",
    "count": "visitors of France, counted",
    "visitors": f"visitors of France, the latest {PAGE}",
}


def round_of(world: World, found: dict[str, list[float]]) -> None:
    world.number += 1
    user_id = pushers()[world.number % PUSHERS]
    for name, request in REQUESTS.items():
        began = time.perf_counter()
        request(world, user_id)
        found[name].append((time.perf_counter() - began) * 1000)


def size_part(bench: Bench) -> Part:
    with ExitStack() as stack:
        worlds = [
            opened(bench, stack, name, users) for name, users in (("few", bench.few), ("many", bench.users))
        ]
        for world in worlds:
            load(world, bench.visits)
        times: dict[str, dict[str, list[float]]] = {
            world.name: {name: [] for name in REQUESTS} for world in worlds
        }
        for turn in range(-PUSHERS, bench.rounds):
            for world in worlds if turn % 2 else worlds[::-1]:
                # The first push of each traveller marks, and is not measured: later ones edit.
                nowhere: dict[str, list[float]] = {name: [] for name in REQUESTS}
                round_of(world, times[world.name] if turn >= 0 else nowhere)
        say(f"{bench.rounds} rounds in each of the two")
    return verdict(bench, times)


def opened(bench: Bench, stack: ExitStack, name: str, users: int) -> World:
    engine = stack.enter_context(Engine.open(bench.directory / name, durability=bench.durability))
    db = Db(embedded(engine), d.TRAVEL)
    db.create_tables()
    travel = open_travel(db, db.world)
    codes = [region.region_code for region in travel.geography.of("country") if region.countable]
    return World(name, users, travel, codes)


def verdict(bench: Bench, times: dict[str, dict[str, list[float]]]) -> Part:
    few, many = times["few"], times["many"]
    rows, targets, figures = [], list[Target](), dict[str, dict[str, float]]()
    for name in REQUESTS:
        small, large = median(few[name]), median(many[name])
        figures[name] = {
            "few_p50_ms": small,
            "many_p50_ms": large,
            "few_p99_ms": quantile(few[name], 0.99),
            "many_p99_ms": quantile(many[name], 0.99),
            "ratio": small / large,
        }
        rows.append([SAYS[name], *(f"{figures[name][each]:.2f}" for each in figures[name])])
        targets.append(at_least(f"{SAYS[name]}: speed among many against few", FLAT, small / large))
    title = (
        f"{bench.few} and {bench.users} travellers with {bench.visits} visits each ({bench.durability}), ms"
    )
    head = ["request", "few p50", "many p50", "few p99", "many p99", "ratio"]
    return Part("size", table(title, head, rows), figures, targets)


# --- the whole ---

PARTS: dict[str, Callable[[Bench], Part]] = {"size": size_part}


def main(arguments: Sequence[str]) -> int:
    parser = parser_of("benchmarks/travel.py", __doc__, list(PARTS))
    parser.add_argument("--users", type=int, default=1_000_000, help="travellers in the large table")
    parser.add_argument("--few", type=int, default=10_000, help="travellers in the small one; default 10000")
    parser.add_argument("--visits", type=int, default=1, help="places each of them has been to; default 1")
    parser.add_argument("--rounds", type=int, default=60, help="of every request in each table; default 60")
    parser.add_argument("--durability", choices=("durable", "relaxed"), default="durable")
    asked = parser.parse_args(arguments)
    if min(asked.users, asked.few) < PAGE or asked.visits < 1 or asked.rounds < 1:
        parser.error(f"at least {PAGE} travellers, one visit and one round")
    settings = {name: getattr(asked, name) for name in ("users", "few", "visits", "rounds", "durability")}
    return carry_out(PARTS, asked, lambda home: Bench(home, *settings.values()), settings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
