"""`tablewright db stream tail TABLE`: a table's changes as they happen.

Keys and item contents are shown only with --keys or --images, since they may be personal data.
"""

import argparse
from collections.abc import Mapping
from itertools import islice
from typing import Any

from tablewright.cli.argument_types import whole_number
from tablewright.cli.db.stream_changes import changes, is_stream_on
from tablewright.cli.format import as_line, moment, size
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.mapping import MappingMistake
from tablewright.mapping.consumer.shards import NoStream

EXAMPLES = """Changes of one key are in order. A local store (--data) has no other writer, so the command ends after
the last change; a server is followed until Ctrl-C or until the stream is disabled.

tablewright db stream tail pets --endpoint http://127.0.0.1:8000 --keys
tablewright db stream tail pets --data ./data --from start --images --json"""
ERRORS = (MappingMistake,)
ENABLE = "enable it with UpdateTable (StreamSpecification)"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the table name; it needs a stream")
    parser.add_argument(
        "--from",
        dest="begin",
        choices=("start", "now"),
        help="start: from the oldest change in the stream; now: only new changes (default: now; for a local store, "
        "start)",
    )
    parser.add_argument("--keys", action="store_true", help="show the key of each item")
    parser.add_argument("--images", action="store_true", help="show keys and the item before and after")
    parser.add_argument(
        "--limit",
        type=whole_number("a whole number of changes, 1 or more", 1),
        metavar="N",
        help="stop after N changes",
    )
    add_target_options(parser, json="print a JSON object for each change")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    """0 also after Ctrl-C, which is the normal way to stop."""
    is_store = target.engine is not None
    begins_now = (given.begin or ("start" if is_store else "now")) == "now"
    found = changes(target.call, given.table, from_now=begins_now, follow=not is_store)
    count = 0
    try:
        for record in islice(found, given.limit):
            count += 1
            shown = _shown(record, keys=given.keys, images=given.images)
            print(as_line(shown) if given.json else _line(shown), flush=True)
    except NoStream:
        raise UsageError(f"{given.table} has no stream; {ENABLE}") from None
    except KeyboardInterrupt:
        return 0
    if count != given.limit and not is_stream_on(target.call, given.table):
        print_message(
            f"tablewright: the stream of {given.table} is disabled and was read to its end; {ENABLE}"
        )
    return 0


def _shown(record: Mapping[str, Any], *, keys: bool, images: bool) -> dict[str, Any]:
    change = record["dynamodb"]
    shown: dict[str, Any] = {
        "at": moment(change.get("ApproximateCreationDateTime")),
        "event": record["eventName"],
        "sequence": change["SequenceNumber"],
        "bytes": change.get("SizeBytes", 0),
    }
    by = record.get("userIdentity")
    if by:
        shown["by"] = "time to live" if by.get("principalId") == "dynamodb.amazonaws.com" else "the service"
    if keys or images:
        shown["keys"] = change["Keys"]
    if images:
        shown |= {
            name: change[member]
            for name, member in (("before", "OldImage"), ("after", "NewImage"))
            if member in change
        }
    return shown


def _line(shown: Mapping[str, Any]) -> str:
    parts = [shown["at"], f"{shown['event']:<6}", shown["sequence"], size(shown["bytes"])]
    if "by" in shown:
        parts.append(f"by {shown['by']}")
    parts += [f"{name} {as_line(shown[name])}" for name in ("keys", "before", "after") if name in shown]
    return "  ".join(parts)
