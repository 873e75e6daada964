"""`tablewright parental registry list`: list the known apps."""

import argparse

from tablewright.cli.format import as_table
from tablewright.cli.hints import command_hint
from tablewright.cli.output import UsageError, print_result
from tablewright.cli.parental.registry import open_registry
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.mapping import MappingMistake
from tablewright.systems.parental.model import App
from tablewright.systems.parental.policy.registry import EDITED

EXAMPLES = """tablewright parental registry list --data ./data
tablewright parental registry list --endpoint http://127.0.0.1:8000 --category Gaming --json"""
ERRORS = (MappingMistake,)
_SHOWN = 3


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--category", help="only apps of this category")
    parser.add_argument("--retired", action="store_true", help="include retired apps")
    add_target_options(parser, json="print a JSON list with all fields")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    category = given.category.casefold() if given.category is not None else None
    known = open_registry(target).all()
    categories = sorted({app.app_category for app in known})
    if category is not None and known and category not in map(str.casefold, categories):
        raise UsageError(f"no category named {given.category}; the categories are {', '.join(categories)}")
    found = [
        app
        for app in known
        if (given.retired or not app.retired) and category in (None, app.app_category.casefold())
    ]
    head = ("app", "category", "domains", "ports", "ranges", "source")
    text = as_table(head, [_row(app) for app in found]) if found else _empty_text(given, target, bool(known))
    listed = [app.model_dump(mode="json", by_alias=True, exclude_none=True) for app in found]
    print_result(given, listed, text)
    return 0


def _empty_text(given: argparse.Namespace, target: Target, has_apps: bool) -> str:
    if has_apps:
        return f"all apps{' of this category' if given.category else ''} are retired; --retired shows them"
    load = command_hint(given, "parental", "registry", "load")
    return f"no apps in the registry of {target.name}; load the shipped list with `{load}`"


def _row(app: App) -> list[str]:
    more = f" +{len(app.domains) - _SHOWN}" if len(app.domains) > _SHOWN else ""
    by = "operator" if app.data_version == EDITED else f"list {app.data_version}"
    return [
        f"{app.app_name} (retired)" if app.retired else app.app_name,
        app.app_category,
        ", ".join(app.domains[:_SHOWN]) + more,
        ", ".join(f"{port.port}/{port.protocol}" for port in app.default_ports) or "all",
        str(len(app.ip_ranges)),
        by,
    ]
