"""`tablewright engine promote`: make a region the only one that writes, and the one before it stop for good."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tablewright.cli import replica_places
from tablewright.cli.plans import agreed, yes

if TYPE_CHECKING:  # heavy
    from tablewright.engine.replica_lines import Ask
    from tablewright.engine.replica_plans import Promotion
    from tablewright.engine.replica_standings import Standing

SUMMARY = "Make a region the writer of its tables; the writer before stops, also after it comes back."
EXAMPLES = f"""Name all regions. Those that could write and answer are compared with the new writer, stop writing, and
are read to the end: nothing is lost. One that does not answer, or differs, takes --force: what it has and nobody has
read stays with it, it refuses writes as soon as it hears of this, and rejoins with `engine rejoin`. So does one that
answers, but not the new writer. A region that was left behind itself can go on only when the writer does not answer:
what it has from before counts again, and what the lost writer wrote does not. A hand-over that fails on the way is
undone: the writer before goes on.
{replica_places.KEYS}

examples:
  tablewright engine promote eu-west-1 us-east-1=http://10.0.0.1:8000 eu-west-1=http://10.0.0.2:8000
  tablewright engine promote eu-west-1 us-east-1=http://10.0.0.1:8000 eu-west-1=http://10.0.0.2:8000 --force --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("region", metavar="REGION", help="the region that is to write")
    replica_places.arguments(parser)
    replica_places.tables(parser)
    parser.add_argument(
        "--force", action="store_true", help="also without those who do not answer, or differ"
    )
    yes(parser)


def run(given: argparse.Namespace) -> int:
    """0 when it is the writer, 1 when only the plan was shown, 2 when it cannot be."""

    def work(asks: "Mapping[str, Ask]") -> int:
        from tablewright.engine.replica_control import promote
        from tablewright.engine.replica_plans import promotion
        from tablewright.engine.replica_standings import ReplicasMistake, standings

        ask = replica_places.named(asks, given.region)
        mine = {one.table for one in standings(ask) if one.writer == given.region}
        wanted = [table for table in replica_places.tables_of(given, ask) if given.table or table not in mine]
        plans = [promotion(asks, given.region, table, replica_places.pause) for table in wanted]
        obstacles = [text for plan in plans for text in plan.obstacles]
        if not plans and not given.json:
            print(f"{given.region} writes every table already")
            return 0
        if obstacles and not given.force:
            print(replica_places.as_json(plans) if given.json else "\n".join(map(told, plans)))
            raise ReplicasMistake(f"{'; '.join(obstacles)}. --force does it all the same")
        if not agreed(given, _plan(given, plans)):
            return 1
        done = [promote(asks, plan, replica_places.pause, force=given.force) for plan in plans]
        lines = [f"{one.table}: {one.region} writes, epoch {one.epoch}" for one in done]
        print(replica_places.as_json(done) if given.json else "\n".join(lines))
        for plan, now in zip(plans, done, strict=True):
            for text in _left_behind(asks, plan, now):
                print(f"tablewright: {text}", file=sys.stderr)
        return 0

    return replica_places.at(given, work)


def _left_behind(asks: "Mapping[str, Ask]", plan: "Promotion", now: "Standing") -> list[str]:
    """What the new writer has not read of those that stopped for it, in words: some, where it was forced."""
    from tablewright.engine import PeerUnreachable
    from tablewright.engine.replica_standings import unread

    found = []
    for region in (one.regions[1] for one in plan.comparisons):
        try:
            count = len(unread(asks[region], plan.table, now.vector))
        except PeerUnreachable:
            continue  # the plan said what it could be
        if count:
            found.append(
                f"{plan.table}: {count} {'write' if count == 1 else 'writes'} of {region} had not been read and "
                f"stayed there; `engine rejoin {region}` lists them, and gives them up"
            )
    return found


def _plan(given: argparse.Namespace, plans: "Sequence[Promotion]") -> str | None:
    """In words; as JSON, where it is the only answer."""
    if not given.json:
        return "\n".join(map(told, plans))
    return None if given.yes else replica_places.as_json(plans)


def told(plan: "Promotion") -> str:
    before = plan.writer or "every region"
    lines = [
        f"{plan.table}: {plan.region} is to write instead of {before} (epoch {plan.epoch} -> {plan.epoch + 1})"
    ]
    lines += [
        f"  {line}" for one in plan.comparisons for line in replica_places.told_comparison(one).split("\n")
    ]
    if plan.is_back:
        lines = [
            f"{plan.table}: {plan.region} is to go on: it gave way to {before}, which has not taken over, and lacks "
            "nothing"
        ]
    lines += [f"  {region} does not answer" for region in plan.silent]
    lines += [
        f"  {plan.region} does not hear from {region}: what it has not read yet would stay there"
        for region in plan.unheard
        if not plan.is_back
    ]
    if plan.lease is not None:
        lines.append(f"  the lease of {plan.writer} has to run out first: at most {plan.wait:g} s")
    return "\n".join(lines)
