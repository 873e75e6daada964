"""`tablewright engine release`: let every replica take writes again."""

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tablewright.cli import replica_places
from tablewright.cli.plans import agreed, yes

if TYPE_CHECKING:  # heavy
    from tablewright.engine.replica_lines import Ask
    from tablewright.engine.replica_standings import Standing

SUMMARY = "Let every replica take writes again, the last write of an item winning; asked of the writer."
EXAMPLES = f"""Protection is given up: of two writes to one item in two regions, only the later one stays.
{replica_places.KEYS}

examples:
  tablewright engine release us-east-1 us-east-1=http://10.0.0.1:8000
  tablewright engine release us-east-1 us-east-1=http://10.0.0.1:8000 --table pets --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("region", metavar="REGION", help="the region that writes now")
    replica_places.arguments(parser)
    replica_places.tables(parser)
    yes(parser)


def run(given: argparse.Namespace) -> int:
    """0 when it is done, 1 when only the plan was shown, 2 when it cannot be."""

    def work(asks: "Mapping[str, Ask]") -> int:
        from tablewright.engine.replica_control import release
        from tablewright.engine.replica_standings import ReplicasMistake, standing

        ask = replica_places.named(asks, given.region)
        there = [standing(ask, table) for table in replica_places.tables_of(given, ask)]
        wanted = [one for one in there if one.writer is not None]
        if not wanted and not given.json:
            print(f"every replica of {' and '.join(given.table or ['every table'])} takes writes already")
            return 0
        for one in wanted:
            if one.writer != given.region:
                raise ReplicasMistake(
                    f"{one.table}: {given.region} is not its writer; ask {one.writer}: engine release {one.writer}"
                )
        if not agreed(given, _plan(given, wanted)):
            return 1
        done = [release(ask, one.table) for one in wanted]
        lines = [f"{one.table}: every replica takes writes, epoch {one.epoch}" for one in done]
        print(replica_places.as_json(done) if given.json else "\n".join(lines))
        return 0

    return replica_places.at(given, work)


def _plan(given: argparse.Namespace, wanted: "Sequence[Standing]") -> str | None:
    """In words; as JSON, where it is the only answer."""
    if not given.json:
        return "\n".join(map(told, wanted))
    return None if given.yes else replica_places.as_json(wanted)


def told(now: "Standing") -> str:
    before = f"{now.writer} alone" if now.writer is not None else "every region"
    return (
        f"{now.table}: every region will take writes, where {before} does now (epoch {now.epoch} -> {now.epoch + 1}); "
        "of two writes to one item in two regions only the later one stays"
    )
