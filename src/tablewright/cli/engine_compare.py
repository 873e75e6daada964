"""`tablewright engine compare`: whether two regions hold the same items, and which differ if not."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tablewright.cli import replica_places

if TYPE_CHECKING:  # heavy
    from tablewright.engine.replica_lines import Ask

SUMMARY = "Compare the items of two regions; only digests travel where they are the same."
EXAMPLES = f"""Keys of items that differ are printed. A write that is on its way is looked at again before it counts.
{replica_places.KEYS}

examples:
  tablewright engine compare us-east-1=http://10.0.0.1:8000 eu-west-1=http://10.0.0.2:8000
  tablewright engine compare us-east-1=http://127.0.0.1:8000 eu-west-1=http://127.0.0.1:8000 --table pets"""


def arguments(parser: argparse.ArgumentParser) -> None:
    replica_places.arguments(parser)
    replica_places.tables(parser)


def run(given: argparse.Namespace) -> int:
    """0 when they are the same, 1 when they differ, 2 when they cannot be compared."""

    def work(asks: "Mapping[str, Ask]") -> int:
        from tablewright.engine.replica_standings import ReplicasMistake, compare

        if len(asks) != 2:
            raise ReplicasMistake("two regions are compared: name two")
        first, second = asks.values()
        found = [
            compare(first, second, table, replica_places.pause)
            for table in replica_places.tables_of(given, first)
        ]
        text = "\n".join(replica_places.told_comparison(one) for one in found)
        print(replica_places.as_json(found) if given.json else text)
        return 0 if all(one.is_equal for one in found) else 1

    return replica_places.at(given, work)
