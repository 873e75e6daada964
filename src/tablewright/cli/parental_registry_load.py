"""`tablewright parental registry load [FILE]`: the known apps, put in or brought up to date."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tablewright.cli import plans, where
from tablewright.cli.registries import registry_at
from tablewright.cli.words import as_json, plain, plural

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.systems.parental.model import App
    from tablewright.systems.parental.registry import Loaded, Registry

SUMMARY = "Load the shipped list of apps, or one of your own: what is new, and what nobody has edited since."
EXAMPLES = """What an operator has written is never overwritten, unless by --force; then the plan is shown first, and
--yes carries it out. A FILE is JSON: {"dataVersion": 2, "apps": [{"appName": ..., "appCategory": ..., "domains":
[...], "defaultPorts": [{"port": 443, "protocol": "TCP"}], "ipRanges": [{"cidr": ...}]}]}; a higher dataVersion than
what was loaded before brings its apps up to date. Loading twice is the same as once.

examples:
  tablewright parental registry load --endpoint http://127.0.0.1:8000
  tablewright parental registry load our-apps.json --data ./data --plan --json"""

_NAMED = 12


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="a list of apps (default: the shipped one)"
    )
    parser.add_argument("--force", action="store_true", help="take edited apps back to what the list says")
    parser.add_argument("--plan", action="store_true", help="say what would be done, and do nothing")
    parser.add_argument("--json", action="store_true", help="print what was done (or would be) as JSON")
    plans.yes(parser)
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    return where.at(given, lambda place: _load(given, place))


def _load(given: argparse.Namespace, place: where.Place) -> int:
    registry = registry_at(place)
    apps = _apps(given)
    plan = registry.plan(force=given.force, shipped=apps)
    overwritten = _overwritten(registry, plan) if given.force else ()
    if given.plan:
        return _say(given, plan, overwritten, "would be ")
    if overwritten and not given.yes:
        # As JSON or as words: stdout has the plan, and nothing else.
        return (
            _say(given, plan, overwritten, "would be ") if given.json else _refuse(given, plan, overwritten)
        )
    return _say(given, registry.load(force=given.force, shipped=apps), overwritten, "")


def _apps(given: argparse.Namespace) -> "list[App]":
    from tablewright.systems.parental.errors import BadRequest
    from tablewright.systems.parental.registry import apps_in, shipped_apps
    from tablewright.world import real_world

    now = real_world().now()
    if given.file is None:
        return shipped_apps(now)
    try:
        return apps_in(given.file.read_text("utf-8"), now)
    except UnicodeDecodeError:
        raise where.Misused(f"{given.file} is not text in UTF-8") from None
    except BadRequest as mistake:
        raise where.Misused(f"{given.file}: {mistake.message}") from None


def _overwritten(registry: "Registry", plan: "Loaded") -> tuple[str, ...]:
    """What of a plan somebody has edited."""
    from tablewright.systems.parental.registry import EDITED

    edited = {app.app_name.casefold() for app in registry.all() if app.data_version == EDITED}
    return tuple(name for name in plan.updated if name.casefold() in edited)


def _refuse(given: argparse.Namespace, plan: "Loaded", overwritten: tuple[str, ...]) -> int:
    plans.agreed(given, _words(plan, overwritten, "would be "))
    return 0


def _say(given: argparse.Namespace, done: "Loaded", overwritten: tuple[str, ...], would: str) -> int:
    if given.json:
        told: dict[str, Any] = {
            "created": list(done.created),
            "updated": list(done.updated),
            "kept": list(done.kept),
            "overwritten": list(overwritten),
            "done": not would,
        }
        print(as_json(told))
    else:
        print(_words(done, overwritten, would))
    return 0


def _words(done: "Loaded", overwritten: tuple[str, ...], would: str) -> str:
    lines = [
        f"{plural(len(names), 'app')} {would}{words}: {_listed(names)}"
        for names, words in (
            (done.created, "created"),
            (done.updated, "updated"),
            (overwritten, "taken back to the list, of those updated"),
            (done.kept, "kept as somebody edited them"),
        )
        if names
    ]
    return "\n".join(lines) if lines else "every app is as the list says"


def _listed(names: tuple[str, ...]) -> str:
    """The first of them; --json has all."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return plain(", ".join(names[:_NAMED])) + more
