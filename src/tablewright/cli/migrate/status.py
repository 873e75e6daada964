"""`tablewright migrate status [NAME]`: list migrations and their state."""

import argparse

from tablewright.cli.format import as_table, moment
from tablewright.cli.migrate import migrations
from tablewright.cli.migrate.migrations import active_table, status_json
from tablewright.cli.output import print_result
from tablewright.cli.target import Target, with_target
from tablewright.mapping import MappingMistake
from tablewright.mapping.migrate import State

EXAMPLES = """tablewright migrate status --data ./data
tablewright migrate status skratch-visits-2 --json --endpoint http://127.0.0.1:8000"""
ERRORS = (MappingMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    migrations.add_migration_arguments(parser, one=False)
    parser.add_argument("--json", action="store_true", help="print a JSON list")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    names = [given.name] if given.name else sorted(migrations.all_migrations())
    found = [(name, migrations.context_of(given, target, name).find_state()) for name in names]
    listed = [status_json(state) if state else {"name": name, "phase": None} for name, state in found]
    head = ("migration", "phase", "active table", "since", "rollback until")
    print_result(given, listed, as_table(head, [_row(*one) for one in found]))
    for name, state in () if given.json else found:
        if state is not None and state.is_catching_up and state.missed_since is not None:
            print(
                f"{name}: no process has copied changes since {moment(state.missed_since.timestamp())}, and the "
                "stream has expired some; both tables are scanned again before a switch"
            )
    return 0


def _row(name: str, state: State | None) -> list[str]:
    if state is None:
        return [name, "not planned", "-", "-", "-"]
    kept = moment(state.kept_until.timestamp()) if state.kept_until and state.phase == "switched" else "-"
    return [
        name,
        state.word,
        active_table(state) if state.is_open else "paused",
        moment(state.since.timestamp()),
        kept,
    ]
