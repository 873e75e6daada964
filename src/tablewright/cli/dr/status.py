"""`tablewright dr status`: every table with replicas, its writer, and how far behind the other regions are."""

import argparse

from tablewright.cli.dr.regions import add_store_options, print_report, with_regions
from tablewright.cli.format import as_table, plural
from tablewright.cli.hints import command_hint
from tablewright.engine import Regions
from tablewright.engine.metrics.replica_status import ReplicaStatus, statuses

EXAMPLES = """The store must not be open elsewhere; nothing is changed. The exit code is 1 if a region is behind, fenced
or being copied, or if a fail-over is not finished.

tablewright dr status
tablewright dr status --data /var/lib/tablewright --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_store_options(parser)


@with_regions
def run(given: argparse.Namespace, regions: Regions) -> int:
    """0 when all regions are level, 1 when one is not, 2 when the store cannot be opened."""
    found = statuses(regions.engines)
    remarks = [_remarks(given, one, found) for one in found]
    rows = [
        (one.table, one.region, _state(one), one.writer or "all", str(one.epoch), "; ".join(said) or "-")
        for one, said in zip(found, remarks, strict=True)
    ]
    head = ("table", "region", "status", "writer", "epoch", "remarks")
    print_report(given, found, as_table(head, rows) if rows else "no table has replicas")
    return 1 if any(remarks) else 0


def _state(one: ReplicaStatus) -> str:
    return "COPYING" if one.is_copying else "FENCED" if one.unreplicated is not None else one.status


def _remarks(given: argparse.Namespace, one: ReplicaStatus, every: list[ReplicaStatus]) -> list[str]:
    """What an operator should know of a replica; nothing when all is well."""
    found = [
        f"{lag.reader} has not read {plural(lag.pending, 'write')} ({lag.seconds or 0:.1f} s)"
        for lag in one.lags
        if lag.pending
    ]
    others = [other for other in every if other.table == one.table]
    newest = max(others, key=lambda other: (other.epoch, other.writer or ""))
    if one.unreplicated is not None:
        rejoin = command_hint(given, "dr", "rejoin", one.region)
        found.append(f"{plural(one.unreplicated, 'write')} not replicated: `{rejoin}`")
    if one.is_copying:
        found.append("being copied")
    is_opened = any(other.takes_writes and other.region == newest.writer for other in others)
    if one is newest and newest.writer is not None and not is_opened:
        found.append(
            f"no region writes: finish with `{command_hint(given, 'dr', 'failover', newest.writer)}`"
        )
    elif (one.epoch, one.writer) != (newest.epoch, newest.writer):
        found.append(f"has not heard of epoch {newest.epoch}")
    return found
