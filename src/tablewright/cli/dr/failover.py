"""`tablewright dr failover`: make a region the only writer of its tables, and fence the one before it."""

import argparse
from collections.abc import Sequence

from tablewright.cli.dr.regions import add_store_options, add_table_option, print_report, with_regions
from tablewright.cli.output import add_yes_option, confirm_plan
from tablewright.engine import Regions
from tablewright.engine.replication.failover import Failover, failover, plan_failover

EXAMPLES = """The old writer is fenced and read to the end: nothing is lost. With --lost REGION that region's store is
not opened; what it has and no other region has read stays there. It refuses writes as soon as it is opened with the
others; `dr rejoin` then lists what was not replicated and copies the writer's items over it. A fail-over that was
broken off is completed by running it again. Stop the server first, and start it again afterwards.

tablewright dr failover eu-west-1
tablewright dr failover eu-west-1 --lost us-east-1 --data /var/lib/tablewright --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("region", metavar="REGION", help="the region that becomes the writer")
    add_store_options(parser)
    add_table_option(parser)
    parser.add_argument(
        "--lost", action="append", default=[], metavar="REGION", help="a region that is lost; can be repeated"
    )
    add_yes_option(parser)


@with_regions
def run(given: argparse.Namespace, regions: Regions) -> int:
    """0 when it is the writer, 1 when only the plan was shown, 2 when it cannot be."""
    plans = plan_failover(regions, given.region, given.table, given.lost)
    if any(plan.unread for plan in plans) and not given.yes:
        print_report(given, plans, "\n".join(map(_planned, plans)))
        confirm_plan(given, None)
        return 1
    done = failover(regions, given.region, given.table, given.lost)
    regions.settle()
    print_report(given, done, _done(given.region, done))
    return 0


def _planned(plan: Failover) -> str:
    before = plan.before or "every region"
    text = f"{plan.table}: {plan.writer} would be the writer of epoch {plan.epoch}, after {before}"
    unread = ", ".join(plan.unread)
    return f"{text}; what only {unread} has is not replicated" if unread else text


def _done(region: str, done: Sequence[Failover]) -> str:
    if not done:
        return f"{region} is the writer of every table already"
    return "\n".join(f"{one.table}: {one.writer} is the writer of epoch {one.epoch}" for one in done)
