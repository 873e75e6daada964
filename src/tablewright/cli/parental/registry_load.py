"""`tablewright parental registry load [FILE]`: load or update the list of apps."""

import argparse
from pathlib import Path

from tablewright.cli.files import read_text
from tablewright.cli.format import escape_unprintable, plural
from tablewright.cli.output import UsageError, add_yes_option, confirm_plan, print_result
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.edge.errors import BadRequest
from tablewright.mapping import Db, MappingMistake
from tablewright.systems.parental.design import PARENTAL, apps_table
from tablewright.systems.parental.model import App
from tablewright.systems.parental.policy.registry import EDITED, Loaded, Registry, apps_in, shipped_apps
from tablewright.systems.parental.repository import Repository
from tablewright.world import real_world

EXAMPLES = """Apps edited by an operator are overwritten only with --force and --yes; without --yes the plan is
shown. FILE is JSON: {"dataVersion": 2, "apps": [{"appName": ..., "appCategory": ..., "domains": [...],
"defaultPorts": [{"port": 443, "protocol": "TCP"}], "ipRanges": [{"cidr": ...}]}]}; apps are updated if dataVersion is
higher than the one loaded before. Loading the same file twice changes nothing.

tablewright parental registry load --endpoint http://127.0.0.1:8000
tablewright parental registry load our-apps.json --data ./data --plan --json"""
ERRORS = (MappingMistake,)

_NAMED = 12


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="a list of apps (default: the shipped list)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite edited apps with the list")
    parser.add_argument("--plan", action="store_true", help="show what would be changed, without changing it")
    add_yes_option(parser)
    add_target_options(parser, json="print the changes as JSON")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    registry = _open_registry(target)
    apps = _apps(given)
    plan = registry.plan(force=given.force, shipped=apps)
    overwritten = _overwritten(registry, plan) if given.force else ()
    needs_yes = bool(overwritten) and not given.yes
    if given.plan or needs_yes:
        _print(given, plan, overwritten, "would be ")
        if not given.plan and not given.json:
            confirm_plan(given, None)
    else:
        _print(given, registry.load(force=given.force, shipped=apps), overwritten, "")
    return 0


def _open_registry(target: Target) -> Registry:
    """The registry of apps in the target's tables."""
    db = Db(target.call, PARENTAL)
    name = db.physical(apps_table.table.name)
    if target.find_table(name) is None:  # not created: another target may have been meant
        raise UsageError(
            f"table {name} does not exist in {target.name}: parental controls have not been started there; "
            "`tablewright serve` creates it"
        )
    return Registry(Repository(db, db.world))


def _apps(given: argparse.Namespace) -> list[App]:
    now = real_world().now()
    if given.file is None:
        return shipped_apps(now)
    try:
        return apps_in(read_text(given.file), now)
    except BadRequest as error:
        raise UsageError(f"{given.file}: {error.message}") from None


def _overwritten(registry: Registry, plan: Loaded) -> tuple[str, ...]:
    """The apps in the plan that an operator has edited."""
    edited = {app.app_name.casefold() for app in registry.all() if app.data_version == EDITED}
    return tuple(name for name in plan.updated if name.casefold() in edited)


def _print(given: argparse.Namespace, done: Loaded, overwritten: tuple[str, ...], would: str) -> None:
    outcome = {
        "created": done.created,
        "updated": done.updated,
        "kept": done.kept,
        "overwritten": overwritten,
        "done": not would,
    }
    print_result(given, outcome, _text(done, overwritten, would))


def _text(done: Loaded, overwritten: tuple[str, ...], would: str) -> str:
    lines = [
        f"{plural(len(names), 'app')} {would}{words}: {_listed(names)}"
        for names, words in (
            (done.created, "created"),
            (done.updated, "updated"),
            (overwritten, "overwritten despite edits (also counted as updated)"),
            (done.kept, "kept with an operator's edits"),
        )
        if names
    ]
    return "\n".join(lines) if lines else "all apps already match the list"


def _listed(names: tuple[str, ...]) -> str:
    """The first names; --json has all."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return escape_unprintable(", ".join(names[:_NAMED])) + more
