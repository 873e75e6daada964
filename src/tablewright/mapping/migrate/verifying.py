"""Verifying: walks both tables and compares, item by item, what the goal should hold with what it holds.

Must hold: a difference counts only if it is still there after another strong look, with the origin unchanged in
between and everything followed that was written before the first; an item that changes whenever it is looked at is
counted as busy, and is no difference (it is compared again when writes are paused). What has expired may be gone on
either side. Digests are sums, so they do not depend on the order of a walk; they agree when nothing is written
meanwhile.
Elsewhere: putting right what differs is settling it (settling.py).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any

import orjson

from tablewright.client import pages
from tablewright.client.identity import place_of
from tablewright.mapping.consumer import Consumer
from tablewright.mapping.leases import ChangesLost
from tablewright.mapping.migrate.bench import Bench
from tablewright.mapping.migrate.following import follower
from tablewright.mapping.migrate.migration import Form, Way
from tablewright.mapping.migrate.settling import Plan, Task, distinct, items_at, planned, settle
from tablewright.mapping.migrate.state import State
from tablewright.mapping.migrate.strays import strays
from tablewright.values import Item

PAGE = 100
# Looks at what differs, each a little later than the one before: some ten seconds in all where the follower is late.
LOOKS = 8
SHOWN = 20
_SPACE = 1 << 128

Told = Callable[[int, int | None, str], None]


def _silent(done: int, total: int | None, what: str) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class Part:
    """A segment of one of the tables: how many items were there, what they came to, and how many were wrong."""

    table: str
    segment: int
    items: int
    digest: str
    wrong: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a walk over both tables found. `keys` are some of those that differ, digested: a key may name somebody.

    `unfit` are items that `forward` made and the target's design cannot read, or finds without their index keys.
    """

    migration: str
    course: str
    turn: int
    origin_items: int
    goal_items: int
    wanted_items: int
    missing: int
    different: int
    extra: int
    unfit: int
    busy: int
    repaired: int
    digests_agree: bool
    parts: tuple[Part, ...]
    keys: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        return not self.missing and not self.different and not self.extra and not self.unfit

    def told(self) -> dict[str, Any]:
        return asdict(self) | {"parts": [asdict(part) for part in self.parts], "keys": list(self.keys)}


@dataclass(slots=True)
class _Count:
    """What a walk counts as it goes."""

    missing: int = 0
    different: int = 0
    extra: int = 0
    unfit: int = 0
    busy: int = 0
    repaired: int = 0
    keys: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        return self.missing + self.different + self.extra


def verify(
    bench: Bench, state: State, *, repair: bool = False, segments: int = 4, told: Told = _silent
) -> Report:
    """Compare both tables; with `repair`, put right what differs. It follows while it does."""
    way, count = bench.way(state), _Count()
    consumer = follower(bench, state)
    _heard_until(bench, consumer)
    parts: list[Part] = []
    sums = {way.origin.called: 0, way.goal.called: 0}
    wanted_items, walked = 0, [0, 0]
    total = sum(_items(bench, form) for form in (way.origin, way.goal))
    for which, form in enumerate((way.origin, way.goal)):
        for segment in range(segments):
            items, digest, before = 0, 0, count.wrong
            for page in _pages(bench, form, segment, segments):
                made = _compare(bench, way, state.turn, form, page, count, consumer, repair)
                wanted_items += len(made) if form is way.origin else 0
                items += len(page)
                digest = (digest + sum(map(_digest, made))) % _SPACE
                walked[which] += len(page)
                # Beyond what there was to be walked, nobody knows how much is still to come.
                told(sum(walked), total if sum(walked) <= total else None, f"verifying {bench.name}")
            sums[form.called] = (sums[form.called] + digest) % _SPACE
            parts.append(Part(bench.physical(form), segment, items, f"{digest:032x}", count.wrong - before))
    return Report(
        bench.name, way.course, state.turn, walked[0], walked[1], wanted_items, count.missing, count.different,
        count.extra, count.unfit, count.busy, count.repaired, sums[way.origin.called] == sums[way.goal.called],
        tuple(parts), tuple(count.keys[:SHOWN]),
    )  # fmt: skip


def differing(bench: Bench, way: Way, tasks: Sequence[Task]) -> int:
    """How many of these keys differ at this moment; for when nobody writes."""
    asked = list(distinct(way, tasks).values())
    wrong = 0
    for start in range(0, len(asked), PAGE):
        plans = planned(bench, way, asked[start : start + PAGE])
        wrong += sum(_is_wrong(bench, way, plan) for plan in plans)
    return wrong


# --- walking ---


def _items(bench: Bench, form: Form) -> int:
    found: int = bench.call("DescribeTable", {"TableName": bench.physical(form)})["Table"]["ItemCount"]
    return found


def _pages(bench: Bench, form: Form, segment: int, of: int) -> Iterator[list[Item]]:
    request = {
        "TableName": bench.physical(form),
        "Segment": segment,
        "TotalSegments": of,
        "ConsistentRead": True,
        "Limit": PAGE,
    }
    for answer in pages(bench.call, "Scan", request):
        yield [item for item in answer["Items"] if not form.is_mark(item)]


def _digest(item: Mapping[str, Any]) -> int:
    text = orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
    return int.from_bytes(blake2b(text, digest_size=16).digest())


def _is_over(bench: Bench, form: Form, item: Item | None) -> bool:
    """Whether an item's time is up: then either side may have let it go already."""
    ttl = form.table.ttl
    if item is None or ttl is None or "N" not in item.get(ttl, {}):
        return False
    return float(item[ttl]["N"]) <= bench.world.now().timestamp()


# --- comparing ---


def _compare(
    bench: Bench, way: Way, turn: int, form: Form, page: Sequence[Item], count: _Count, consumer: Consumer,
    repair: bool,
) -> list[Item]:  # fmt: skip
    """Look at a page of one of the tables; what it should be in the goal's form, or is."""
    if form is way.origin:
        tasks = [Task(way.origin.key(item), (), item) for item in page]
        made = [one for item in page for one in way.made(item).values()]
        count.unfit += sum(not way.goal.fits(one) for one in made) if way.course == "forward" else 0
    else:
        tasks, made = strays(bench, way, page), list(page)
    wrong = [plan for plan in planned(bench, way, tasks) if _is_wrong(bench, way, plan)]
    for plan in _lasting(bench, way, wrong, count, consumer):
        there = items_at(bench, way.goal, [way.goal.key(one) for one in plan.puts])
        if repair:
            settle(bench, way, turn, [Task(plan.task.key, plan.task.before)])
            count.repaired += 1
        elif plan.gone:
            count.extra += 1
        elif len(there) < len(plan.puts):
            count.missing += 1
        else:
            count.different += 1
        count.keys.append(blake2b(place_of("", plan.task.key)[1].encode(), digest_size=8).hexdigest())
    return made


def _is_wrong(bench: Bench, way: Way, plan: Plan) -> bool:
    if plan.is_alike or _is_over(bench, way.origin, plan.item):
        return False
    return bool(plan.puts) or not all(_is_over(bench, way.goal, one) for one in plan.gone)


def _lasting(
    bench: Bench, way: Way, plans: Sequence[Plan], count: _Count, consumer: Consumer
) -> Iterator[Plan]:
    """Those that differ though nothing changes, and nothing is on its way: what was written was followed by now."""
    waiting = [(plan, bench.world.now()) for plan in plans]
    for look in range(LOOKS):
        if not waiting:
            return
        bench.sleep(0.05 * 2**look)
        # Who follows reads every second or so: what was just written would count as a difference that is none.
        heard = bench.world.now() if look == LOOKS - 1 else _heard_until(bench, consumer)
        again = planned(bench, way, [Task(plan.task.key, plan.task.before) for plan, _ in waiting])
        left = []
        for (before, seen), plan in zip(waiting, again, strict=True):
            if not _is_wrong(bench, way, plan):
                continue
            is_same = plan.item == before.item
            if is_same and seen <= heard:
                yield plan
            else:
                left.append((plan, seen if is_same else bench.world.now()))
        waiting = left
    count.busy += len(waiting)


def _heard_until(bench: Bench, consumer: Consumer) -> datetime:
    """Follow what there is, as any worker; the moment up to which everything has been followed."""
    with suppress(ChangesLost):  # the next round of work begins a turn anew
        consumer.run_once()
    now = bench.world.now()
    return now - consumer.lag()
