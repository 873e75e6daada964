"""`tablewright engine replicas`: every table with replicas, who writes it, and how far behind the others are."""

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tablewright.cli import replica_places
from tablewright.cli.engine_line import state

if TYPE_CHECKING:  # heavy
    from tablewright.engine.replica_lines import Ask
    from tablewright.engine.replica_standings import Standing

SUMMARY = "Show the replicas of every table: who writes, who follows, how far behind."
EXAMPLES = f"""{replica_places.KEYS}

examples:
  tablewright engine replicas us-east-1=http://127.0.0.1:8000
  tablewright engine replicas us-east-1=http://10.0.0.1:8000 eu-west-1=http://10.0.0.2:8000 --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    replica_places.arguments(parser)


def run(given: argparse.Namespace) -> int:
    """0 when all are level, 1 when one is behind, held or silent, or nobody writes."""

    def work(asks: "Mapping[str, Ask]") -> int:
        from tablewright.engine import PeerUnreachable
        from tablewright.engine.replica_standings import lines, standings, unwritten

        found: list[Standing] = []
        silent: list[str] = []
        between: list[dict[str, Any]] = []
        for region, ask in asks.items():
            try:
                found += standings(ask)
                between += lines(ask)
            except PeerUnreachable:
                silent.append(region)
        idle = unwritten(found)
        shown = {
            "tables": found,
            "silent": silent,
            "lines": between,
            "unwritten": [one.table for one in idle],
        }
        print(replica_places.as_json(shown) if given.json else told(found, silent, between, idle))
        is_behind = any(lag["pending"] for one in found for lag in one.lag)
        return (
            1
            if silent or is_behind or idle or any(one.unread is not None or one.is_copying for one in found)
            else 0
        )

    return replica_places.at(given, work)


def told(
    found: "list[Standing]",
    silent: Sequence[str],
    between: Sequence[Mapping[str, Any]],
    idle: "Sequence[Standing]",
) -> str:
    rows = [("table", "region", "status", "writer", "epoch", "not read by others")]
    for one in found:
        behind = [
            f"{lag['reader']} {lag['pending']} ({lag['seconds']:.1f} s)" for lag in one.lag if lag["pending"]
        ]
        if one.unread is not None:
            whose = "the others do" if one.writer is None else "the writer does"
            behind.append(f"{one.unread or 'deletes'} {whose} not have: compare, then rejoin")
        if one.lease is not None and one.lease["Silent"]:
            behind.append(f"takes no writes: {', '.join(one.lease['Silent'])} did not confirm its lease")
        status = "COPYING" if one.is_copying else one.status
        rows.append(
            (one.table, one.region, status, one.writer or "all", str(one.epoch), ", ".join(behind) or "-")
        )
    shown = [replica_places.in_columns(rows)] if found else ["no table has replicas"]
    shown += [
        f"{one.table}: nobody writes: it was handed to {one.region}, which has not read everything yet; promote "
        f"{one.writer} again if that does not end"
        for one in idle
    ]
    shown += [f"{region} does not answer" for region in silent]
    shown += [
        f"the line from {line['Source']} to {line['Reader']} is {wrong}: engine line --mend"
        for line in between
        if (wrong := state(line))
    ]
    return "\n".join(shown)
