"""`tablewright parental registry list`: the known apps."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import where
from tablewright.cli.registries import registry_at
from tablewright.cli.words import as_json, as_table

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.systems.parental.model import App

SUMMARY = "List the apps that parents can block: category, domains, ports, and who has the last word on each."
EXAMPLES = """examples:
  tablewright parental registry list --data ./data
  tablewright parental registry list --endpoint http://127.0.0.1:8000 --category Gaming --json"""
_SHOWN = 3


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--category", help="only apps of this category")
    parser.add_argument("--retired", action="store_true", help="those that are no longer offered, too")
    parser.add_argument("--json", action="store_true", help="print a JSON list, all of each app")
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    return where.at(given, lambda place: _show(given, place))


def _show(given: argparse.Namespace, place: where.Place) -> int:
    category = given.category.casefold() if given.category else None
    found = [
        app
        for app in registry_at(place).all()
        if (given.retired or not app.retired) and category in (None, app.app_category.casefold())
    ]
    if given.json:
        print(as_json([app.model_dump(mode="json", by_alias=True, exclude_none=True) for app in found]))
    elif not found:
        print(
            f"no apps in the registry of {place.name}; `tablewright parental registry load` puts the shipped ones in"
        )
    else:
        head = ("app", "category", "domains", "ports", "ranges", "written by")
        print(as_table(head, [_row(app) for app in found]))
    return 0


def _row(app: "App") -> list[str]:
    from tablewright.systems.parental.registry import EDITED

    more = f" +{len(app.domains) - _SHOWN}" if len(app.domains) > _SHOWN else ""
    by = "an operator" if app.data_version == EDITED else f"list {app.data_version}"
    return [
        f"{app.app_name} (retired)" if app.retired else app.app_name,
        app.app_category,
        ", ".join(app.domains[:_SHOWN]) + more,
        ", ".join(f"{port.port}/{port.protocol}" for port in app.default_ports) or "all",
        str(len(app.ip_ranges)),
        by,
    ]
