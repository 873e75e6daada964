"""`tablewright dr rejoin`: list a fenced region's unreplicated writes, and copy the writer's items over them."""

import argparse
from collections.abc import Sequence

from tablewright.cli.dr.regions import add_store_options, add_table_option, print_report, with_regions
from tablewright.cli.format import as_line, moment, plural
from tablewright.cli.output import add_yes_option, confirm_plan
from tablewright.engine import Regions
from tablewright.engine.replication.failover import UnreplicatedWrite, rejoin, unreplicated
from tablewright.engine.verify.region_items import Comparison, compare

EXAMPLES = """To keep what they hold, save the list first (--json prints the items), or export the tables of that region
with `db export`. Stop the server first, and start it again afterwards.

tablewright dr rejoin us-east-1 --json > unreplicated.json
tablewright dr rejoin us-east-1 --data /var/lib/tablewright --yes"""
MOST = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("region", metavar="REGION", help="the region to overwrite with the writer's items")
    add_store_options(parser)
    add_table_option(parser)
    add_yes_option(parser)


@with_regions
def run(given: argparse.Namespace, regions: Regions) -> int:
    """0 when it is a copy of the writer, 1 when only the list was shown, 2 when it cannot be."""
    while regions.follow():
        pass  # the region hears of the fail-overs it has missed
    lost = unreplicated(regions, given.region, given.table)
    if lost and not given.yes:
        print_report(given, {"unreplicated": lost}, _listed(lost))
        confirm_plan(given, None)
        return 1
    tables = rejoin(regions, given.region, given.table)
    regions.settle()
    groups = {name: regions[given.region].tables[name].replicas for name in tables}
    compared = [
        compare(regions[given.region], regions[group.writer], name)
        for name, group in groups.items()
        if group is not None and group.writer is not None
    ]
    lines = [_listed(lost)] if lost else []
    lines += [_compared(one) for one in compared] or [f"{given.region} has nothing to be copied"]
    print_report(given, {"unreplicated": lost, "compared": compared}, "\n".join(lines))
    return 1 if any(one.different for one in compared) else 0


def _listed(lost: Sequence[UnreplicatedWrite]) -> str:
    lines = [f"{plural(len(lost), 'write')} not replicated:"]
    for one in lost[:MOST]:
        kind = "delete of" if one.item is None else "write of"
        key = one.key if isinstance(one.key, str) else as_line(one.key)
        lines.append(f"  {one.table}: {kind} {key} in {one.region} at {moment(one.at / 1_000_000)}")
    if len(lost) > MOST:
        lines.append(f"  and {len(lost) - MOST} more; --json lists them all")
    return "\n".join(lines)


def _compared(one: Comparison) -> str:
    first, second = one.regions
    if not one.different:
        return f"{one.table}: {plural(one.items[0], 'item')}, the same in {first} and {second}"
    return f"{one.table}: {plural(len(one.different), 'item')} differ between {first} and {second}"
