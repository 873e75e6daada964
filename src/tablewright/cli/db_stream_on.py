"""`tablewright db stream on TABLE`: from now on the changes of a table can be read."""

import argparse
from typing import Any

from tablewright.cli import where
from tablewright.cli.waiting import Stand, waited

SUMMARY = "Give a table a stream: its changes can be read for a day, each in the form that --view names."
EXAMPLES = """The view of a stream is for life: for another, switch the stream off and on.

examples:
  tablewright db stream on pets --data ./data
  tablewright db stream on pets --view KEYS_ONLY --endpoint http://127.0.0.1:8000"""

VIEWS = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")


class StreamOfAnotherView(where.Misused):
    """The table has a stream already, and not the one that was asked for."""

    def __init__(self, table: str, view: str, wanted: str) -> None:
        super().__init__(
            f"{table} has a stream already, which tells {view}; for {wanted} end it first: "
            f"tablewright db stream off {table}"
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="its name")
    parser.add_argument(
        "--view",
        choices=VIEWS,
        default="NEW_AND_OLD_IMAGES",
        help="what a change tells of its item, besides its key (default: %(default)s)",
    )
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    """0 when the table has the stream, also when it had it before."""
    return where.at(given, lambda place: _switch_on(given, place))


def _switch_on(given: argparse.Namespace, place: where.Place) -> int:
    table = described(place, given.table)
    view = view_of(table)
    if view is not None and view != given.view:
        raise StreamOfAnotherView(given.table, view, given.view)
    if view is None:
        wanted = {"StreamEnabled": True, "StreamViewType": given.view}
        table = switched(place, given.table, wanted)
    print(f"{given.table} has a stream, {given.view}{'' if view is None else ': it had it before'}")
    print(table["LatestStreamArn"])
    return 0


# --- what `off` does as well ---


def described(place: where.Place, table: str) -> dict[str, Any]:
    found: dict[str, Any] = place.call("DescribeTable", {"TableName": table})["Table"]
    return found


def view_of(table: dict[str, Any]) -> str | None:
    """What its stream tells; None if it has none."""
    stream = table.get("StreamSpecification") or {}
    return str(stream["StreamViewType"]) if stream.get("StreamEnabled") else None


def switched(place: where.Place, table: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """The table with the stream as it is wanted, once it is so."""
    place.call("UpdateTable", {"TableName": table, "StreamSpecification": wanted})
    return waited(
        f"changing {table}",
        lambda: described(place, table),
        lambda seen: Stand(seen["TableStatus"] == "ACTIVE"),
    )
