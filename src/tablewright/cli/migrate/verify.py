"""`tablewright migrate verify NAME`: compare both tables item by item, and optionally repair differences."""

import argparse

from tablewright.cli.format import as_pairs, count, plural
from tablewright.cli.migrate import migrations
from tablewright.cli.output import print_result
from tablewright.cli.progress import progress_bar
from tablewright.mapping.migrate import MigrationContext, VerifyReport, WrongPhase, record_report, verify

EXAMPLES = """A difference is reported if it persists over several reads between which the item did not change.
Without differences the migration is verified and can be switched. The exit code is 1 if the tables differ.

tablewright migrate verify skratch-visits-2 --data ./data
tablewright migrate verify skratch-visits-2 --repair --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrations.add_migration_arguments(parser)
    parser.add_argument("--repair", action="store_true", help="repair differences, then compare again")
    parser.add_argument("--json", action="store_true", help="print the report as JSON with every segment")


@migrations.with_migration
def run(given: argparse.Namespace, context: MigrationContext) -> int:
    state = context.state()
    if not state.copied or state.course is None:
        next_step = f"`tablewright migrate run {context.name}`"
        raise WrongPhase(context.name, state.phase, "there is nothing to compare yet", next_step)
    with progress_bar() as terminal:
        repaired = verify(context, state, repair=True, notify=terminal).repaired if given.repair else 0
        report = verify(context, state, notify=terminal)
    after = record_report(context, report)
    value = report.as_json() | {"repaired": repaired, "phase": after.phase}
    print_result(given, value, as_pairs(_pairs(report, repaired, after.word)))
    return 0 if report.is_right else 1


def _pairs(report: VerifyReport, repaired: int, phase: str) -> list[tuple[str, str]]:
    return [
        ("compared", f"{plural(report.origin_items, 'item')} with {plural(report.goal_items, 'item')}"),
        ("missing", count(report.missing)),
        ("different", count(report.different)),
        ("extra", count(report.extra)),
        ("unfit", f"{count(report.unfit)} (not readable, or not in an index, with the new design)"),
        ("busy", f"{count(report.busy)} (changed during every read; compared again at the switch)"),
        ("repaired", count(repaired)),
        ("digests", "agree" if report.digests_agree else "differ (normal while items are written)"),
        ("phase", phase),
    ]
