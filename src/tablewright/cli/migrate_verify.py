"""`tablewright migrate verify NAME`: compare both tables item by item, and put right what differs if asked to."""

import argparse
import sys
from typing import TYPE_CHECKING

from tablewright.cli import migrating
from tablewright.cli.words import as_json, as_pairs, count, plural

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.mapping.migrate import Bench, Report

SUMMARY = "Compare both tables item by item: counts, digests, what is missing, different or too much."
EXAMPLES = """A difference counts if it is still there after some looks with nothing changed meanwhile. Without
differences the migration is verified, and may be switched. 0: the same, 1: they differ.

examples:
  tablewright migrate verify skratch-visits-2 --data ./data
  tablewright migrate verify skratch-visits-2 --repair --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrating.which(parser)
    parser.add_argument("--repair", action="store_true", help="put right what differs, then look again")
    parser.add_argument("--json", action="store_true", help="print the report as JSON, with every segment")


def run(given: argparse.Namespace) -> int:
    return migrating.at(given, lambda bench: _verify(given, bench))


def _verify(given: argparse.Namespace, bench: "Bench") -> int:
    from tablewright.app.progress import Terminal
    from tablewright.mapping.migrate import WrongPhase, checked, verify

    state = bench.state()
    if not state.copied or state.course is None:
        raise WrongPhase(
            bench.name, state.phase, "there is nothing to compare yet", f"`migrate run {bench.name}`"
        )
    told = Terminal(sys.stderr, has_bar=True)
    repaired = verify(bench, state, repair=True, told=told).repaired if given.repair else 0
    report = verify(bench, state, told=told)
    told.end()
    after = checked(bench, report)
    if given.json:
        print(as_json(report.told() | {"repaired": repaired, "phase": after.phase}))
    else:
        print(as_pairs(_words(report, repaired, after.word)))
    return 0 if report.is_right else 1


def _words(report: "Report", repaired: int, phase: str) -> list[tuple[str, str]]:
    return [
        ("compared", f"{plural(report.origin_items, 'item')} with {plural(report.goal_items, 'item')}"),
        ("missing", count(report.missing)),
        ("different", count(report.different)),
        ("too much", count(report.extra)),
        ("unfit", f"{count(report.unfit)} (the new design cannot read them, or find them in an index)"),
        ("busy", f"{count(report.busy)} (changed at every look; compared again when sides are changed)"),
        ("put right", count(repaired)),
        ("digests", "agree" if report.digests_agree else "differ (they do while something is written)"),
        ("phase", phase),
    ]
