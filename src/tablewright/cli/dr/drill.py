"""`tablewright dr drill`: lose a region under load, fail over, rejoin; and print the evidence."""

import argparse
from tempfile import TemporaryDirectory

from tablewright.app.drill import DrillReport, run_drill
from tablewright.cli.argument_types import whole_number
from tablewright.cli.dr.regions import print_report
from tablewright.cli.format import as_pairs, plural
from tablewright.cli.output import print_message

EXAMPLES = """The drill runs in a scratch directory with two regions, and touches no other store. Customers place orders
while the line between the regions is cut and the writer is lost; the other region takes over. It passes if the old
region is fenced and lists what was not replicated, if both regions are the same after the rejoin, if every confirmed
order is kept or listed, and if no e-mail address belongs to two customers.

tablewright dr drill
tablewright dr drill --orders 500 --workers 8 --json > evidence.json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    number = whole_number("a whole number from 1 to 1000000", 1, 1_000_000)
    parser.add_argument(
        "--orders", type=number, default=100, metavar="N", help="orders in each phase (default: %(default)s)"
    )
    parser.add_argument(
        "--workers", type=number, default=4, metavar="N", help="customers at once (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON, with every lost item")


def run(given: argparse.Namespace) -> int:
    """0 when the drill has passed, 1 when it found something."""
    with TemporaryDirectory(prefix="tablewright-drill-") as directory:
        report = run_drill(directory, orders=given.orders, workers=given.workers, say=print_message)
    print_report(given, report, _reported(report))
    return 0 if report.is_passed else 1


def _reported(report: DrillReport) -> str:
    kept = f"{report.orders_replicated} before the cut, {report.orders_after} after the fail-over"
    pairs = [
        ("fail-over", f"{report.old_region} to {report.new_region}, {plural(len(report.tables), 'table')}"),
        ("orders", f"{kept}, {report.orders_unreplicated} in between"),
        (
            "RTO",
            f"{report.rto_seconds:.3f} s from the loss to the first order; {report.refused} were refused",
        ),
        (
            "RPO",
            f"{report.rpo_seconds:.3f} s: {plural(report.rpo_writes, 'write')} not replicated, all listed",
        ),
        ("compared", f"{plural(report.compared_items, 'item')} in both regions after the rejoin"),
        ("unique", f"{plural(report.addresses, 'customer')}, no e-mail address is registered twice"),
        ("result", "passed" if report.is_passed else plural(len(report.findings), "finding")),
    ]
    if not report.is_passed:
        pairs = [pair for pair in pairs if pair[0] not in ("compared", "unique")]
    return "\n".join([as_pairs(pairs), *(f"  {one}" for one in report.findings)])
