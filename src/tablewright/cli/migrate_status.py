"""`tablewright migrate status [NAME]`: which migrations there are, and where they stand."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import migrating, where
from tablewright.cli.migrating import told_of
from tablewright.cli.words import as_json, as_table, moment

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.mapping.migrate import State

SUMMARY = "Say where migrations stand: phase, open side, until when one can go back."
EXAMPLES = """examples:
  tablewright migrate status --data ./data
  tablewright migrate status skratch-visits-2 --json --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrating.which(parser, one=False)
    parser.add_argument("--json", action="store_true", help="print a JSON list")


def run(given: argparse.Namespace) -> int:
    return where.at(given, lambda place: _show(given, place))


def _show(given: argparse.Namespace, place: where.Place) -> int:
    names = [given.name] if given.name else sorted(migrating.known())
    found = [(name, migrating.bench_of(given, place, name).look()) for name in names]
    if given.json:
        print(
            as_json(
                [{"name": name, "phase": None} if state is None else told_of(state) for name, state in found]
            )
        )
        return 0
    print(
        as_table(("migration", "phase", "open", "since", "can go back until"), [_row(*one) for one in found])
    )
    for name, state in found:
        if state is not None and state.is_catching_up and state.missed_since is not None:
            print(
                f"{name}: nobody has followed since {moment(state.missed_since.timestamp())}, and the stream has "
                "forgotten changes; both tables are gone through again before it can change sides"
            )
    return 0


def _row(name: str, state: "State | None") -> list[str]:
    if state is None:
        return [name, "not planned", "-", "-", "-"]
    kept = moment(state.kept_until.timestamp()) if state.kept_until and state.phase == "switched" else "-"
    side = state.target if state.side == "target" else state.source
    return [name, state.word, side if state.is_open else "paused", moment(state.since.timestamp()), kept]
