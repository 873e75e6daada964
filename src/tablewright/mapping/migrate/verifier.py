"""Verification: scans both tables and compares, item by item, what the goal should hold with what it holds.

Must hold: a difference counts only if a later consistent read finds it again, with the origin unchanged in between and
everything followed that was written before the first read. An item that changes at every read is counted as busy and is
not a difference (it is compared again while writes are paused). Expired items may be gone on either side. Digests are
sums, so they do not depend on the order of a scan; they agree if nothing is written during the scan.
Elsewhere: repairing a difference is synchronising its key (sync_keys.py).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any

import orjson

from tablewright.client import pages
from tablewright.client.item_identity import identity_of
from tablewright.mapping.consumer.consumer import Consumer
from tablewright.mapping.consumer.leases import ChangesLost
from tablewright.mapping.migrate.change_follower import follower
from tablewright.mapping.migrate.context import MigrationContext
from tablewright.mapping.migrate.migration import Direction, TableVersion
from tablewright.mapping.migrate.state import State
from tablewright.mapping.migrate.sync_keys import (
    KeyPlan,
    Task,
    Whole,
    find_orphans,
    merge_tasks,
    origin_keys,
    origin_tasks,
    plan_tasks,
    read_items,
    read_wholes,
    sync_keys,
)
from tablewright.values import Item

PAGE = 100
# Repeated comparisons of what differs, with growing pauses: about ten seconds in all if the follower is late.
LOOKS = 8
SHOWN = 20
_SPACE = 1 << 128

ReportProgress = Callable[[int, int | None, str], None]


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """A segment of one of the tables: its items, their digest, and how many were wrong."""

    table: str
    segment: int
    items: int
    digest: str
    wrong: int


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of a scan of both tables. `keys` are digests of some keys that differ: a key may name a person.

    `unfit` are items that `forward` made and the target's design cannot read, or finds without their index keys.
    """

    migration: str
    course: str
    epoch: int
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
    parts: tuple[SegmentReport, ...]
    keys: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        return not self.missing and not self.different and not self.extra and not self.unfit

    def as_json(self) -> dict[str, Any]:
        """The report as it is stored in the state, and printed by `tablewright migrate verify --json`."""
        members = asdict(self) | {"parts": [asdict(part) for part in self.parts], "keys": list(self.keys)}
        members["turn"] = members.pop("epoch")  # the stored name
        return members


@dataclass(slots=True)
class _Walk:
    """A verification on its way: what it works with, and what it has counted."""

    context: MigrationContext
    direction: Direction
    epoch: int
    consumer: Consumer
    repair: bool
    keys: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def wrong(self) -> int:
        return self.counts["missing"] + self.counts["different"] + self.counts["extra"]


def verify(
    context: MigrationContext,
    state: State,
    *,
    repair: bool = False,
    segments: int = 4,
    notify: ReportProgress = lambda done, total, what: None,
) -> VerifyReport:
    """Compare both tables; with `repair`, synchronise what differs. Changes are followed at the same time."""
    direction = context.direction(state)
    walk = _Walk(context, direction, state.epoch, follower(context, state), repair)
    _followed_until(walk)
    parts: list[SegmentReport] = []
    sums, walked = [0, 0], [0, 0]
    sides = (direction.origin, direction.goal)
    total = sum(context.item_count(version) for version in sides)
    for which, version in enumerate(sides):
        compare = _compare_goal if which else _compare_origin
        for segment in range(segments):
            items, digest, before = 0, 0, walk.wrong
            for answer in pages(context.call, "Scan", context.scan_request(version, segment, segments, PAGE)):
                page = [item for item in answer["Items"] if not version.is_marker(item)]
                made = compare(walk, page)
                items += len(made) if which else len(page)
                digest = (digest + sum(map(_digest, made))) % _SPACE
                walked[which] += len(page)
                # Beyond the initial item counts the total is unknown.
                notify(sum(walked), total if sum(walked) <= total else None, f"verifying {context.name}")
            sums[which] = (sums[which] + digest) % _SPACE
            table, wrong = context.physical(version), walk.wrong - before
            parts.append(SegmentReport(table, segment, items, f"{digest:032x}", wrong))
    of, goal = walk.counts, context.physical(direction.goal)
    goal_items = sum(part.items for part in parts if part.table == goal)
    return VerifyReport(
        context.name, direction.course, state.epoch, walked[0], goal_items, of["wanted"], of["missing"],
        of["different"], of["extra"], of["unfit"], of["busy"], of["repaired"], sums[0] == sums[1], tuple(parts),
        tuple(walk.keys[:SHOWN]),
    )  # fmt: skip


def count_differences(context: MigrationContext, direction: Direction, tasks: Sequence[Task]) -> int:
    """How many of these keys differ at this moment; for a time without writes."""
    asked = list(merge_tasks(direction, tasks).values())
    wrong = 0
    for start in range(0, len(asked), PAGE):
        plans = plan_tasks(context, direction, asked[start : start + PAGE])
        wrong += sum(_is_wrong(context, direction, plan) for plan in plans)
    return wrong


def _digest(item: Mapping[str, Any]) -> int:
    text = orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
    return int.from_bytes(blake2b(text, digest_size=16).digest())


# --- comparing ---


def _compare_origin(walk: _Walk, page: list[Item]) -> list[Item]:
    """Compare a page of the origin; returns the goal's items that it stands for, in plain form."""
    direction, tasks = walk.direction, origin_tasks(walk.direction, page)
    wholes: Iterable[Whole] = ((item,) for item in page)
    if direction.gathers:
        wholes = read_wholes(walk.context, direction, [task.key for task in tasks]).values()
    made = [one for whole in wholes for one in direction.made(*whole).values()]
    walk.counts["wanted"] += len(made)
    if direction.course == "forward":
        walk.counts["unfit"] += sum(not direction.goal.is_readable(one) for one in made)
    _compare(walk, tasks)
    return made


def _compare_goal(walk: _Walk, page: list[Item]) -> list[Item]:
    """Compare a page of the goal; returns those of its items that are the migration's, in plain form."""
    direction = walk.direction
    _compare(walk, find_orphans(walk.context, direction, page))
    homes = origin_keys(walk.context, direction, page) if direction.group is not None else [[]] * len(page)
    return [direction.comparable(item) for item, home in zip(page, homes, strict=True) if home is not None]


def _compare(walk: _Walk, tasks: Sequence[Task]) -> None:
    context, direction = walk.context, walk.direction
    wrong = [plan for plan in plan_tasks(context, direction, tasks) if _is_wrong(context, direction, plan)]
    for plan in _confirmed(walk, wrong):
        there = read_items(context, direction.goal, [direction.goal.key(one) for one in plan.puts])
        kind = "extra" if plan.deletes else "missing" if len(there) < len(plan.puts) else "different"
        if walk.repair:
            sync_keys(context, direction, walk.epoch, [Task(plan.task.key, plan.task.before)])
            kind = "repaired"
        walk.counts[kind] += 1
        walk.keys.append(blake2b(identity_of("", plan.task.key)[1].encode(), digest_size=8).hexdigest())


def _is_wrong(context: MigrationContext, direction: Direction, plan: KeyPlan) -> bool:
    if plan.is_in_sync or _is_over(context, direction.origin, plan.item):
        return False
    return bool(plan.puts) or not all(_is_over(context, direction.goal, one) for one in plan.deletes)


def _is_over(context: MigrationContext, version: TableVersion, item: Item | None) -> bool:
    """Whether an item has expired: either side may have deleted it already."""
    ttl = version.table.ttl
    if item is None or ttl is None or "N" not in item.get(ttl, {}):
        return False
    return float(item[ttl]["N"]) <= context.world.now().timestamp()


def _confirmed(walk: _Walk, plans: Sequence[KeyPlan]) -> Iterator[KeyPlan]:
    """Differences that remain although the item did not change and all earlier writes were followed."""
    context, direction = walk.context, walk.direction
    waiting = [(plan, context.world.now()) for plan in plans]
    for look in range(LOOKS):
        if not waiting:
            return
        context.sleep(0.05 * 2**look)
        # A follower reads every second or so: a recent write would be counted as a difference.
        heard = context.world.now() if look == LOOKS - 1 else _followed_until(walk)
        again = plan_tasks(context, direction, [Task(plan.task.key, plan.task.before) for plan, _ in waiting])
        left = []
        for (before, seen), plan in zip(waiting, again, strict=True):
            if not _is_wrong(context, direction, plan):
                continue
            is_same = plan.item == before.item
            if is_same and seen <= heard:
                yield plan
            else:
                left.append((plan, seen if is_same else context.world.now()))
        waiting = left
    walk.counts["busy"] += len(waiting)


def _followed_until(walk: _Walk) -> datetime:
    """Follow the stream, as any worker; the moment up to which everything has been followed."""
    with suppress(ChangesLost):  # the next round of work begins another epoch
        walk.consumer.run_once()
    now = walk.context.world.now()
    return now - walk.consumer.lag()
