"""`tablewright db stream on TABLE`: enable the stream of a table."""

import argparse
from typing import Any

from tablewright.cli.output import UsageError
from tablewright.cli.progress import Progress, wait_for
from tablewright.cli.target import Target, add_target_options, with_target

EXAMPLES = """The view of a stream cannot be changed; to use another, disable the stream and enable it again.

tablewright db stream on pets --data ./data
tablewright db stream on pets --view KEYS_ONLY --endpoint http://127.0.0.1:8000"""

VIEWS = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the table name")
    parser.add_argument(
        "--view",
        choices=VIEWS,
        default="NEW_AND_OLD_IMAGES",
        help="what a change contains besides the key (default: %(default)s)",
    )
    add_target_options(parser)


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    """0 if the table has the stream, also if it had it before."""
    table = target.describe_table(given.table)
    view = stream_view(table)
    if view is not None and view != given.view:
        raise UsageError(
            f"{given.table} already has a stream with view {view}; to use {given.view}, disable it first: "
            f"`tablewright db stream off {given.table}`"
        )
    if view is None:
        wanted = {"StreamEnabled": True, "StreamViewType": given.view}
        table = update_stream(target, given.table, wanted)
    print(f"{given.table} has a stream, {given.view}{'' if view is None else ' (already enabled)'}")
    print(table["LatestStreamArn"])
    return 0


# --- shared with `stream off` ---


def stream_view(table: dict[str, Any]) -> str | None:
    """The view of the table's stream; None if the stream is disabled."""
    stream = table.get("StreamSpecification") or {}
    return str(stream["StreamViewType"]) if stream.get("StreamEnabled") else None


def update_stream(target: Target, table: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Change the stream and wait until the table is active; returns its description."""
    target.call("UpdateTable", {"TableName": table, "StreamSpecification": wanted})
    return wait_for(
        f"updating {table}",
        lambda: target.describe_table(table),
        lambda seen: Progress(seen["TableStatus"] == "ACTIVE"),
    )
