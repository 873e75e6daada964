"""`tablewright db stream tail TABLE`: a table's changes as they happen.

What an item holds, its key included, is shown only when it is asked for: a terminal has many readers.
"""

import argparse
import sys
from collections.abc import Mapping
from itertools import islice
from typing import Any

from tablewright.cli import where
from tablewright.cli.words import as_line, moment, size

SUMMARY = "Follow the changes of a table; keys and contents are shown when asked for."
EXAMPLES = """Changes of one key come in order. A store that this command itself has opened has no other writer, so
there it ends with the last change; a server is followed until Ctrl-C, or until the stream is switched off.

examples:
  tablewright db stream tail pets --endpoint http://127.0.0.1:8000 --keys
  tablewright db stream tail pets --data ./data --from start --images --json"""


class TailWithoutStream(where.Misused):
    """A table whose changes nobody tells."""

    def __init__(self, table: str) -> None:
        super().__init__(
            f"{table} has no stream, so its changes are not told; `tablewright db stream on {table}` gives it one"
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="its name; it needs a stream")
    parser.add_argument(
        "--from",
        dest="begin",
        choices=("start", "now"),
        help="start: what the stream still holds; now: what comes (default: now, for a store start)",
    )
    parser.add_argument("--keys", action="store_true", help="show the key of each item")
    parser.add_argument("--images", action="store_true", help="show keys and items, before and after")
    parser.add_argument("--limit", type=_number, metavar="N", help="end after so many changes")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each change")
    where.arguments(parser)


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of changes is 1 or more, not {text!r}")
    return int(text)


def run(given: argparse.Namespace) -> int:
    """0 also when Ctrl-C ended it: that is how one stops looking."""
    code = where.at(given, lambda place: _tail(given, place))
    return 0 if code == where.INTERRUPTED else code


def _tail(given: argparse.Namespace, place: where.Place) -> int:
    from tablewright.cli.stream_changes import changes, is_on
    from tablewright.mapping.shards import NoStream

    is_store = place.engine is not None
    begins_now = (given.begin or ("start" if is_store else "now")) == "now"
    found = changes(place.call, given.table, from_now=begins_now, follow=not is_store)
    count = 0
    try:
        for record in islice(found, given.limit):
            count += 1
            shown = _shown(record, keys=given.keys, images=given.images)
            print(as_line(shown) if given.json else _line(shown), flush=True)
    except NoStream:
        raise TailWithoutStream(given.table) from None
    if count != given.limit and not is_on(place.call, given.table):
        print(
            f"tablewright: the stream of {given.table} is off, and there is no more of it; `tablewright db stream on "
            f"{given.table}` gives it a new one",
            file=sys.stderr,
        )
    return 0


def _shown(record: Mapping[str, Any], *, keys: bool, images: bool) -> dict[str, Any]:
    told = record["dynamodb"]
    shown: dict[str, Any] = {
        "at": moment(told.get("ApproximateCreationDateTime")),
        "event": record["eventName"],
        "sequence": told["SequenceNumber"],
        "bytes": told.get("SizeBytes", 0),
    }
    by = record.get("userIdentity")
    if by:
        shown["by"] = "time to live" if by.get("principalId") == "dynamodb.amazonaws.com" else "the service"
    if keys or images:
        shown["keys"] = told["Keys"]
    if images:
        shown |= {
            name: told[member]
            for name, member in (("before", "OldImage"), ("after", "NewImage"))
            if member in told
        }
    return shown


def _line(shown: Mapping[str, Any]) -> str:
    parts = [shown["at"], f"{shown['event']:<6}", shown["sequence"], size(shown["bytes"])]
    if "by" in shown:
        parts.append(f"by {shown['by']}")
    parts += [f"{name} {as_line(shown[name])}" for name in ("keys", "before", "after") if name in shown]
    return "  ".join(parts)
