"""`tablewright parental registry load [FILE]`: load or update the list of apps."""

import argparse
from pathlib import Path
from typing import Any

from tablewright.cli import confirm
from tablewright.cli.files import read_text
from tablewright.cli.format import as_json, escape_unprintable, plural
from tablewright.cli.parental.registry import open_registry
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.cli.usage_error import UsageError
from tablewright.mapping import MappingMistake
from tablewright.systems.parental.errors import BadRequest
from tablewright.systems.parental.model import App
from tablewright.systems.parental.policy.registry import EDITED, Loaded, Registry, apps_in, shipped_apps
from tablewright.world import real_world

EXAMPLES = """Apps edited by an operator are overwritten only with --force and --yes; without --yes the plan is
shown. FILE is JSON: {"dataVersion": 2, "apps": [{"appName": ..., "appCategory": ..., "domains": [...],
"defaultPorts": [{"port": 443, "protocol": "TCP"}], "ipRanges": [{"cidr": ...}]}]}; apps are updated if dataVersion is
higher than the one loaded before. Loading the same file twice changes nothing.

examples:
  tablewright parental registry load --endpoint http://127.0.0.1:8000
  tablewright parental registry load our-apps.json --data ./data --plan --json"""

_NAMED = 12


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="a list of apps (default: the shipped list)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite edited apps with the list")
    parser.add_argument("--plan", action="store_true", help="show what would be changed, without changing it")
    parser.add_argument("--json", action="store_true", help="print the changes as JSON")
    confirm.add_yes_option(parser)
    add_target_options(parser)


def run(given: argparse.Namespace) -> int:
    return with_target(given, lambda target: _load(given, target), errors=(MappingMistake,))


def _load(given: argparse.Namespace, target: Target) -> int:
    registry = open_registry(target)
    apps = _apps(given)
    plan = registry.plan(force=given.force, shipped=apps)
    overwritten = _overwritten(registry, plan) if given.force else ()
    if given.plan:
        return _print(given, plan, overwritten, "would be ")
    if overwritten and not given.yes:
        # As JSON or as text: stdout has only the plan.
        return (
            _print(given, plan, overwritten, "would be ") if given.json else _refuse(given, plan, overwritten)
        )
    return _print(given, registry.load(force=given.force, shipped=apps), overwritten, "")


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


def _refuse(given: argparse.Namespace, plan: Loaded, overwritten: tuple[str, ...]) -> int:
    confirm.confirm_plan(given, _text(plan, overwritten, "would be "))
    return 0


def _print(given: argparse.Namespace, done: Loaded, overwritten: tuple[str, ...], would: str) -> int:
    if given.json:
        outcome: dict[str, Any] = {
            "created": list(done.created),
            "updated": list(done.updated),
            "kept": list(done.kept),
            "overwritten": list(overwritten),
            "done": not would,
        }
        print(as_json(outcome))
    else:
        print(_text(done, overwritten, would))
    return 0


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
