"""Whether Skratch is as fast among a million travellers as among few: pushes, pulls, figures, visitors of a region.

    python benchmarks/travel.py                                       a million travellers; loading takes most of it
    python benchmarks/travel.py --users 100000 --visits 3 --rounds 50 --json found.json
    python benchmarks/travel.py --crowd visits                        a million travellers' visits and nothing else

Two tables, one with `--few` travellers (10 000) and one with `--users` (1 000 000), each of whom has been to France and
shares that, and to `--visits` minus one other places. Of each there is what a traveller leaves who pushed this from a
phone: the profile, its login guard, enrolment, device and session, the feed with its head, the operations with their
receipts, the figures of the day; with `--crowd visits` the visits alone. In each table some more travellers push, turn
by turn: now in the small one, now in the large one, so that neighbours disturb both alike.
push: 100 operations in one request, edits of 100 places. pull: the 100 changes of such a push. count: how many were in
France. stats: the figures of a traveller after a push.
Must hold: what was pushed is compared with what is pulled, and what is counted with what was loaded.
stdout is the answer, stderr the talk. Code 0: every measured target met; 1: one was not; 2: it cannot run.
Figures depend on the machine, so no test asserts them. What was loaded is written without going through a push, the
tallies with it: what is measured is how requests do among it, not how it came there.
Elsewhere: running parts (runner.py), the form of a verdict (verdict.py, report.py), the machine (machine.py).
"""

import dataclasses
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

# Run as a file or with -m: the package must be found either way.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.load import CannotMeasure
from benchmarks.pace import quantile
from benchmarks.report import table
from benchmarks.runner import Part, argument_parser, print_progress, run_parts
from benchmarks.verdict import Target, at_least

from tablewright import Engine
from tablewright.client import embedded
from tablewright.design import Write
from tablewright.design.key_codecs import codec
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.model import (
    Change,
    Device,
    Enrolment,
    Head,
    Identity,
    Login,
    Operation,
    PrivacySettings,
    Profile,
    Receipt,
    RegionTally,
    Session,
    Visit,
)
from tablewright.systems.travel.places.statistics import Asked, counted, figures
from tablewright.systems.travel.sync.operations import Edit, place_id
from tablewright.systems.travel.travel import Travel, open_travel

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
    crowd: str


@dataclasses.dataclass(slots=True)
class World:
    """A table with so many travellers, and how far those have come who are measured."""

    name: str
    users: int
    travel: Travel
    codes: Sequence[str]
    since: Counter[str] = dataclasses.field(default_factory=Counter)
    # Of the places of those who are measured, by entity id.
    versions: dict[str, int] = dataclasses.field(default_factory=dict)
    number: int = 0

    @property
    def db(self) -> Db:
        return self.travel.repository.db


# --- loading ---


def crowd(world: World, each: int, is_whole: bool) -> Iterator[Write[Any]]:
    """Travellers who have been to France and say so, and to other places; all they left, or their visits."""
    now = world.travel.repository.now()
    others = [code for code in world.codes if code != "FR"]
    for number in range(world.users):
        # Spread over the last weeks, as marks are.
        marked = now - timedelta(seconds=(number * 7919) % 2_000_000)
        codes = ["FR"] + [others[(number + place) % len(others)] for place in range(1, each)]
        user_id = f"traveller-{number:08}"
        visits = [visit_of(world, user_id, code, place, marked) for place, code in enumerate(codes, 1)]
        if not is_whole:
            yield from map(d.visits.put, visits)
            continue
        yield from account_of(user_id, len(codes), marked)
        for visit in visits:
            yield d.visits.put(visit)
            yield from history_of(visit)
        asked = Asked(user_id, len(visits), "UTC", now)
        yield d.statistics.put(figures(counted(visits), world.travel.geography, asked))


def account_of(user_id: str, places: int, at: datetime) -> Iterator[Write[Any]]:
    """The items of a traveller who signed in on a phone."""
    login = Login.model_construct(provider="apple", provider_id=user_id)
    yield d.profiles.put(
        profile_of(user_id, at, logins=[login], sync_version=places, countries_visited=places)
    )
    yield d.identities.put(
        Identity.model_construct(provider="apple", provider_id=user_id, user_id=user_id, created_at=at)
    )
    yield d.enrolments.put(Enrolment.model_construct(user_id=user_id, enrolled_at=at))
    yield d.devices.put(device_of(user_id, at))
    yield d.sessions.put(
        Session.model_construct(
            user_id=user_id, session_id=f"session-{user_id}", device_id=DEVICE, created_at=at, last_seen_at=at,
            last_seen_ms=milliseconds(at), refresh_hash="0" * 64,
        )
    )  # fmt: skip
    yield d.heads.put(
        Head.model_construct(
            user_id=user_id, server_version=places, countries_visited=places, shares_visits=True
        )
    )


def history_of(visit: Visit) -> Iterator[Write[Any]]:
    """What is left of the operation that made a visit."""
    same: dict[str, Any] = {"user_id": visit.user_id, "operation_id": visit.operation_id}
    at, moment, version = visit.marked_at, visit.timestamp_ms, visit.server_version
    yield d.changes.put(
        Change.model_construct(
            **same, server_version=version, entity_type="visited_place", entity_id=visit.composite_key,
            entity_version=visit.sync_version, kind="set", region_type=visit.region_type, region_code=visit.region_code,
            timestamp_ms=moment, visited_date=visit.visited_date, device_id=DEVICE, changed_at=at,
        )
    )  # fmt: skip
    operation = d.operations.create(
        Operation.model_construct(
            **same, timestamp_ms=moment, status="processed", device_id=DEVICE, operation_type="create",
            entity_type="visited_place", entity_id=visit.composite_key, entity_data={"notes": visit.notes},
            client_version=0, server_version=version, client_timestamp=at, server_timestamp=at, is_processed=True,
        )
    )  # fmt: skip
    yield dataclasses.replace(operation, kind="put")  # in a batch: without the condition that there is none
    result = {"operation_id": visit.operation_id, "status": "applied", "server_version": version}
    yield d.receipts.put(
        Receipt.model_construct(**same, timestamp_ms=moment, digest="0" * 64, result=result, done_at=at)
    )


def profile_of(user_id: str, at: datetime, **more: Any) -> Profile:
    return Profile.model_construct(
        user_id=user_id, auth_provider="apple", auth_provider_id=user_id, created_at=at, updated_at=at,
        privacy_settings=PrivacySettings(share_visits=True), **more,
    )  # fmt: skip


def device_of(user_id: str, at: datetime) -> Device:
    return Device.model_construct(
        user_id=user_id, device_id=DEVICE, name="a phone", registered_at=at, last_seen_at=at
    )


def milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def visit_of(world: World, user_id: str, code: str, version: int, marked: datetime) -> Visit:
    region = world.travel.geography.get("country", code)
    if region is None:
        raise CannotMeasure(f"{code} is not in the geography")
    return Visit.model_construct(
        schema_version=2, composite_key=place_id(user_id, "country", code), user_id=user_id, region_type="country",
        region_code=code, region_name=region.display_name, visited_date="2024-05-01",
        notes="Somewhere between the station and the sea, with too much luggage and not enough time.",
        trips={}, marked_at=marked, timestamp_ms=milliseconds(marked), marked_from_device=DEVICE,
        sync_version=version, server_version=version, last_modified_at=marked, operation_id=f"op-{user_id}-{code}",
        is_deleted=False, is_listed=True, deleted_at=None, stamps={},
    )  # fmt: skip


def load(world: World, each: int, is_whole: bool) -> None:
    """The crowd, what is counted of it, and those who will be measured."""
    db, now = world.db, world.travel.repository.now()
    began, done = time.perf_counter(), 0
    writes = crowd(world, each, is_whole)
    while some := list(islice(writes, AT_ONCE)):
        if db.batch(some):
            raise CannotMeasure("the table did not take what was loaded")
        done += len(some)
        if done % (AT_ONCE * 40) == 0:
            print_progress(f"{world.name}: {done} items, {done / (time.perf_counter() - began):.0f} a second")
    parts = Counter(_SHARD.encode(f"traveller-{number:08}") or "" for number in range(world.users))
    for shard, visitors in parts.items():
        tally = RegionTally(region_type="country", region_code="FR", shard=shard, visitors=visitors)
        db.write(d.region_tallies.put(tally))
    for user_id in pushers():
        db.write(d.profiles.create(profile_of(user_id, now)), d.devices.create(device_of(user_id, now)))
    print_progress(f"{world.name}: loaded in {time.perf_counter() - began:.0f} s")


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
            client_version=world.versions.get(place_id(user_id, "country", code), 0),
            entity_data={"notes": f"the {known}th time, and still nothing like it"},
            client_timestamp=world.travel.repository.now(),
        )
        for code in world.codes[:OPERATIONS]
    ]
    pushed = world.travel.sync.push(user_id, DEVICE, edits)
    if any(result.status != "applied" for result in pushed.results):
        refused = next(result for result in pushed.results if result.status != "applied")
        raise CannotMeasure(f"an operation was not applied: {refused}")
    for result in pushed.results:
        world.versions |= {entity.entity_id: entity.entity_version for entity in result.entities}


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


# In this order in each round: a pull needs a push before it, figures too.
REQUESTS: dict[str, Callable[[World, str], None]] = {
    "push": push,
    "pull": pull,
    "stats": stats,
    "count": count,
}
SAYS = {
    "push": f"push of {OPERATIONS} operations",
    "pull": f"pull of {OPERATIONS} changes",
    "stats": "figures after a push",
    "count": "visitors of France, counted",
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
            open_world(bench, stack, name, users)
            for name, users in (("few", bench.few), ("many", bench.users))
        ]
        for world in worlds:
            load(world, bench.visits, bench.crowd == "whole")
        times: dict[str, dict[str, list[float]]] = {
            world.name: {name: [] for name in REQUESTS} for world in worlds
        }
        for turn in range(-PUSHERS, bench.rounds):
            for world in worlds if turn % 2 else worlds[::-1]:
                # The first push of each traveller marks, and is not measured: later ones edit.
                nowhere: dict[str, list[float]] = {name: [] for name in REQUESTS}
                round_of(world, times[world.name] if turn >= 0 else nowhere)
        print_progress(f"{bench.rounds} rounds in each of the two")
    return verdict(bench, times)


def open_world(bench: Bench, stack: ExitStack, name: str, users: int) -> World:
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
        f"{bench.few} and {bench.users} travellers with {bench.visits} visits each "
        f"({bench.crowd}, {bench.durability}), ms"
    )
    head = ["request", "few p50", "many p50", "few p99", "many p99", "ratio"]
    return Part("size", table(title, head, rows), figures, targets)


# --- the whole ---

PARTS: dict[str, Callable[[Bench], Part]] = {"size": size_part}


def main(arguments: Sequence[str]) -> int:
    parser = argument_parser("benchmarks/travel.py", __doc__, list(PARTS))
    parser.add_argument("--users", type=int, default=1_000_000, help="travellers in the large table")
    parser.add_argument("--few", type=int, default=10_000, help="travellers in the small one; default 10000")
    parser.add_argument("--visits", type=int, default=1, help="places each of them has been to; default 1")
    parser.add_argument("--rounds", type=int, default=60, help="of every request in each table; default 60")
    parser.add_argument("--durability", choices=("durable", "relaxed"), default="durable")
    parser.add_argument(
        "--crowd", choices=("whole", "visits"), default="whole", help="what each traveller left"
    )
    asked = parser.parse_args(arguments)
    if min(asked.users, asked.few) < PAGE or asked.visits < 1 or asked.rounds < 1:
        parser.error(f"at least {PAGE} travellers, one visit and one round")
    settings = {
        name: getattr(asked, name) for name in ("users", "few", "visits", "rounds", "durability", "crowd")
    }
    return run_parts(PARTS, asked, lambda home: Bench(home, *settings.values()), settings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
