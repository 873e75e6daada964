"""`tablewright engine rejoin`: let a region that lost the role of the writer mirror the one that has it."""

import argparse
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tablewright.cli import replica_places
from tablewright.cli.plans import yes

if TYPE_CHECKING:  # heavy
    from tablewright.engine.replica_lines import Ask

SUMMARY = "Make a region that is not the writer the same as the writer; what only it has is given up."
EXAMPLES = f"""First it lists the writes that the writer does not have: they are gone afterwards. To keep what
they hold, export the table of that region before (`db export`).
{replica_places.KEYS}

examples:
  tablewright engine rejoin us-east-1 us-east-1=http://10.0.0.1:8000
  tablewright engine rejoin us-east-1 us-east-1=http://10.0.0.1:8000 --table pets --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("region", metavar="REGION", help="the region that is to mirror the writer")
    replica_places.arguments(parser)
    replica_places.tables(parser)
    yes(parser)


def run(given: argparse.Namespace) -> int:
    """0 when it is done, 1 when only the plan was shown, 2 when it cannot be."""

    def work(asks: "Mapping[str, Ask]") -> int:
        from tablewright.engine.replica_control import rejoin
        from tablewright.engine.replica_standings import unread

        ask = replica_places.named(asks, given.region)
        lost = {table: unread(ask, table) for table in replica_places.tables_of(given, ask)}
        if not given.json:
            print("\n".join(told(table, found) for table, found in lost.items()))
        if not given.yes:
            if given.json:
                print(replica_places.as_json(lost))
            print("tablewright: nothing was done; --yes does it", file=sys.stderr)
            return 1
        done = [rejoin(ask, table, replica_places.pause) for table in lost]
        lines = [f"{one.table}: {one.region} is the same as {one.writer or 'the others'}" for one in done]
        print(replica_places.as_json({"given_up": lost, "tables": done}) if given.json else "\n".join(lines))
        return 0

    return replica_places.at(given, work)


def told(table: str, lost: list[Mapping[str, Any]], most: int = 20) -> str:
    if not lost:
        return f"{table}: the writer has everything"
    count = "1 write" if len(lost) == 1 else f"{len(lost)} writes"
    lines = [f"{table}: {count} that the writer does not have {'is' if len(lost) == 1 else 'are'} given up"]
    for one in lost[:most]:
        # Of what was deleted only the key's bytes are left.
        what = f"a delete of {one['Key']}" if one["IsDelete"] else json.dumps(one["Keys"], ensure_ascii=False)
        lines.append(f"  {what} written in {one['Region']}")
    if len(lost) > most:
        lines.append(f"  and {len(lost) - most} more")
    return "\n".join(lines)
