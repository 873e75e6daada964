"""`tablewright engine line`: see how replicas read from each other, and make it slow, or cut it, for a test."""

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tablewright.cli import replica_places

if TYPE_CHECKING:  # heavy
    from tablewright.engine.replica_lines import Ask

SUMMARY = "Show the lines on which regions read from each other; delay them, cut them, mend them."
EXAMPLES = f"""What is written in --from reaches --to on a line; it is asked of the server of --to, and holds until that
is started again. Without --from and --to it is done to every line into the regions that are named.
{replica_places.KEYS}

examples:
  tablewright engine line eu-west-1=http://127.0.0.1:8000 --from us-east-1 --to eu-west-1 --delay 200ms
  tablewright engine line us-east-1=http://127.0.0.1:8000 eu-west-1=http://127.0.0.1:8000 --cut"""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "": 1.0}


def arguments(parser: argparse.ArgumentParser) -> None:
    replica_places.arguments(parser)
    parser.add_argument(
        "--from", dest="source", metavar="REGION", help="only what was written in this region"
    )
    parser.add_argument("--to", dest="reader", metavar="REGION", help="only as this region hears of it")
    parser.add_argument(
        "--delay", type=delay, metavar="TIME", help="how old a change is before it is told: 200ms, 5s, 2m, 0"
    )
    parser.add_argument(
        "--lose", type=answers, metavar="N", help="lose the next N answers, as if they had been sent"
    )
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--cut", action="store_true", help="let nothing through")
    either.add_argument("--mend", action="store_true", help="let everything through again, at once")


def delay(text: str) -> float:
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|)", text)
    if found is None or float(found[1]) * _UNITS[found[2]] > 86_400:
        raise argparse.ArgumentTypeError(f"a delay is a time like 200ms, 5s or 2m, up to a day, not {text!r}")
    return float(found[1]) * _UNITS[found[2]]


def answers(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise argparse.ArgumentTypeError(f"it is a number of answers, not {text!r}")
    return int(text)


def run(given: argparse.Namespace) -> int:
    def work(asks: "Mapping[str, Ask]") -> int:
        from tablewright.engine.replica_standings import lines

        wanted = asks if given.reader is None else {given.reader: replica_places.named(asks, given.reader)}
        asked = _asked(given)
        found: list[dict[str, Any]] = []
        for region, ask in wanted.items():
            # A region does not read from itself: without --to that is no mistake.
            if region != given.source or given.reader is not None:
                found += lines(ask, **asked)
        print(replica_places.as_json(found) if given.json else told(found))
        return 0

    return replica_places.at(given, work)


def _asked(given: argparse.Namespace) -> dict[str, Any]:
    asked: dict[str, Any] = {"Source": given.source, "Delay": given.delay, "Losing": given.lose}
    if given.mend:
        asked = {"Delay": 0, "Losing": 0} | {
            name: value for name, value in asked.items() if value is not None
        }
    if given.cut or given.mend:
        asked["Cut"] = given.cut
    return {name: value for name, value in asked.items() if value is not None}


def told(found: Sequence[Mapping[str, Any]]) -> str:
    if not found:
        return "no region there reads from another"
    rows = [("from", "to", "line")]
    rows += [(one["Source"], one["Reader"], state(one) or "sound") for one in found]
    return replica_places.in_columns(rows)


def state(line: Mapping[str, Any]) -> str:
    """What is wrong with a line, in words; nothing if nothing is."""
    wrong = ["cut"] if line["Cut"] else []
    if line["Delay"]:
        wrong.append(f"delayed by {line['Delay']:g} s")
    if line["Losing"]:
        wrong.append(f"losing the next {line['Losing']} answers")
    return ", ".join(wrong)
