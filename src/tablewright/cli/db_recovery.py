"""`tablewright db recovery TABLE`: whether a table's past can be restored, and how far back."""

import argparse
from typing import Any

from tablewright.cli import where
from tablewright.cli.words import as_json, moment

SUMMARY = "Show, switch on or switch off point-in-time recovery of a table."
EXAMPLES = """Switched off, the past is gone: switched on again it begins anew. Off asks for --yes.

examples:
  tablewright db recovery pets --data ./data
  tablewright db recovery pets --on --days 7 --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    from tablewright.cli.plans import yes

    parser.add_argument("table", metavar="TABLE", help="its name")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--on", action="store_true", help="keep the past from now on")
    either.add_argument("--off", action="store_true", help="forget the past")
    parser.add_argument("--days", type=int, help="how many days are kept, 1 to 35 (default: 35)")
    parser.add_argument("--json", action="store_true", help="print the service's description as JSON")
    yes(parser)
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    if given.days is not None and not given.on:
        return where.misused("--days goes with --on")
    return where.at(given, lambda place: _recovery(given, place))


def _recovery(given: argparse.Namespace, place: where.Place) -> int:
    from tablewright.cli.plans import agreed

    if given.off and not agreed(given, f"the past of {given.table} will be forgotten; only its backups stay"):
        return 1
    if given.on or given.off:
        wanted: dict[str, Any] = {"PointInTimeRecoveryEnabled": given.on}
        if given.days is not None:
            wanted["RecoveryPeriodInDays"] = given.days
        request = {"TableName": given.table, "PointInTimeRecoverySpecification": wanted}
        answer = place.call("UpdateContinuousBackups", request)
    else:
        answer = place.call("DescribeContinuousBackups", {"TableName": given.table})
    told = answer["ContinuousBackupsDescription"]
    if given.json:
        print(as_json(told))
        return 0
    found = told.get("PointInTimeRecoveryDescription", {})
    if found.get("PointInTimeRecoveryStatus") == "ENABLED":
        first, last = found.get("EarliestRestorableDateTime"), found.get("LatestRestorableDateTime")
        print(f"on, {found.get('RecoveryPeriodInDays', 35)} days: from {moment(first)} to {moment(last)}")
    else:
        print("off")
    return 0
