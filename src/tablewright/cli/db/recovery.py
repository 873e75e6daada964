"""`tablewright db recovery TABLE`: point-in-time recovery of a table."""

import argparse
from typing import Any

from tablewright.cli.format import moment
from tablewright.cli.output import UsageError, add_yes_option, confirm_plan, print_result
from tablewright.cli.target import Target, add_target_options, with_target

EXAMPLES = """Switching recovery off deletes the recorded history; switching it on starts a new one. --off needs
--yes.

tablewright db recovery pets --data ./data
tablewright db recovery pets --on --days 7 --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the table name")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--on", action="store_true", help="record history from now on")
    either.add_argument("--off", action="store_true", help="stop recording and delete the history")
    parser.add_argument("--days", type=int, help="how many days to keep, 1 to 35 (default: 35)")
    add_yes_option(parser)
    add_target_options(parser, json="print DynamoDB's description as JSON")


def run(given: argparse.Namespace) -> int:
    if given.days is not None and not given.on:
        raise UsageError("--days needs --on")
    return _recovery(given)


@with_target
def _recovery(given: argparse.Namespace, target: Target) -> int:
    if given.off and not confirm_plan(
        given, f"will delete the recovery history of {given.table}; only its backups stay"
    ):
        return 1
    if given.on or given.off:
        wanted: dict[str, Any] = {"PointInTimeRecoveryEnabled": given.on}
        if given.days is not None:
            wanted["RecoveryPeriodInDays"] = given.days
        request = {"TableName": given.table, "PointInTimeRecoverySpecification": wanted}
        answer = target.call("UpdateContinuousBackups", request)
    else:
        answer = target.call("DescribeContinuousBackups", {"TableName": given.table})
    description = answer["ContinuousBackupsDescription"]
    found, text = description.get("PointInTimeRecoveryDescription", {}), "off"
    if found.get("PointInTimeRecoveryStatus") == "ENABLED":
        first, last = found.get("EarliestRestorableDateTime"), found.get("LatestRestorableDateTime")
        text = f"on, {found.get('RecoveryPeriodInDays', 35)} days: from {moment(first)} to {moment(last)}"
    print_result(given, description, text)
    return 0
