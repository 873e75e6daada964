"""`tablewright design diff OLD NEW`: what changes, what each change needs, and the beginning of a migration."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tablewright.cli.deploy.comparison import open_comparison
from tablewright.cli.design_files import is_design_file
from tablewright.cli.designs import FORMS, load_designs, split_name
from tablewright.cli.files import error_text
from tablewright.cli.format import as_table, plural
from tablewright.cli.live_options import add_live_options, print_none_there, refuse_without_live
from tablewright.cli.output import UsageError, print_message, print_result
from tablewright.cli.target import add_target_options
from tablewright.design import Design, DesignMistake
from tablewright.design.deployment import Deployment
from tablewright.design.diff import Change, changes, first_of, load_lines, missing_import, skeleton
from tablewright.design.diff.changes import ABSENT
from tablewright.mapping.deploy.steps import Step, differences, of_design
from tablewright.mapping.errors import MappingMistake

EXAMPLES = """A change needs nothing besides new code and `deploy apply`, or a backfill (of an index by the service, of
attributes by `migrate backfill`), or a new table (`migrate plan`). With --live, a design is compared with live tables:
those of --environment with their settings, or without it those of plain names. The exit code is 1 if there is a change.

tablewright design diff shop-1.yaml shop.yaml --skeleton migration.py
tablewright design diff travel --live --environment dev --endpoint http://127.0.0.1:8000"""
ERRORS = (DesignMistake, MappingMistake)
_HEAD = ("what", "where", "old", "new", "needs", "why")
_LIVE_HEAD = ("table", "what", "live", "design", "needs", "how")
_WIDTH = 60
_NOT_COMPARED = (
    "how items' keys are made is not compared, for a table does not show it; "
    "compare two versions of the design: tablewright design diff OLD NEW"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="OLD", help=f"the old version: a shipped system, or {FORMS}")
    parser.add_argument("new", metavar="NEW", nargs="?", help="the new version; not with --live")
    parser.add_argument(
        "--skeleton", metavar="PATH", type=Path, help="also write the beginning of the migration, in Python"
    )
    parser.add_argument("--whole", action="store_true", help="print long texts whole")
    live = add_live_options(parser, "compare the design with live tables")
    live.add_argument(
        "--scaling-endpoint",
        metavar="URL",
        help="where Application Auto Scaling is, for an --endpoint that is not AWS's (default: there is none)",
    )
    add_target_options(parser, json="print a JSON object with the changes")


def run(given: argparse.Namespace) -> int:
    if given.live:
        return _with_live(given)
    if given.new is None:
        raise UsageError("name the new version, or add --live to compare the design with live tables")
    refuse_without_live(given, "scaling_endpoint")
    with _own_modules():
        old = load_designs(given.system)
    new = load_designs(given.new)
    found = tuple(_changes(old, new))
    lines = _imports((given.system, old), (given.new, new), given.skeleton)
    text = skeleton(given.new, found, lines, str(given.skeleton or "FILE"))
    if given.skeleton is not None:
        _write(given.skeleton, text)
    value = {
        "old": given.system,
        "new": given.new,
        "changes": [asdict(each) for each in found],
        "skeleton": text,
    }
    print_result(given, value, changes_text(found, is_whole=given.whole))
    return 1 if found else 0


def changes_text(found: Sequence[Change], *, is_whole: bool) -> str:
    rows = [
        (
            each.subject,
            each.where,
            _short(each.old, is_whole),
            _short(each.new, is_whole),
            each.needs,
            each.why,
        )
        for each in found
    ]
    return f"{as_table(_HEAD, rows)}\n\n{_summary(found)}" if rows else "no change"


@contextmanager
def _own_modules() -> Iterator[None]:
    """Forget the modules that are imported here from files: the other version may have some of the same name."""
    known, paths = set(sys.modules), list(sys.path)
    yield
    beside = tuple(f"{path}/" for path in sys.path if path not in paths)
    sys.path[:] = paths
    for name in set(sys.modules) - known:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if beside and file.startswith(beside):
            del sys.modules[name]


def _changes(old: Sequence[Design], new: Sequence[Design]) -> Iterator[Change]:
    if len(old) == len(new) == 1:
        yield from changes(old[0], new[0])
        return
    before, after = ({design.name: design for design in each} for each in (old, new))
    for name in dict.fromkeys((*before, *after)):
        empty = Design(name)
        yield from changes(before.get(name, empty), after.get(name, empty))


def _imports(
    old: tuple[str, Sequence[Design]], new: tuple[str, Sequence[Design]], beside: Path | None
) -> tuple[str, str]:
    """The lines by which a skeleton imports both versions, or loads their files."""
    is_same = not is_design_file(old[0]) and _module(old[0]) == _module(new[0])
    return (
        missing_import("OLD", f"as it was in {old[0]}") if is_same else _import_line("OLD", *old, beside),
        _import_line("NEW", *new, beside),
    )


def _import_line(version: str, named: str, designs: Sequence[Design], beside: Path | None) -> str:
    if is_design_file(named):
        return load_lines(version, os.path.relpath(named, beside.parent if beside else "."))
    module, name = _module(named), split_name(named)[1]
    if len(designs) != 1 or not all(part.isidentifier() for part in (*module.split("."), name)):
        return missing_import(version, f"of {named}")
    return f"from {module} import {name} as {version}"


def _module(named: str) -> str:
    source = split_name(named)[0]
    return Path(source).stem if source.endswith(".py") else source


def _write(path: Path, text: str) -> None:
    if not text:
        print_message(f"tablewright: {path} is not written: no change needs a migration")
        return
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"--skeleton: {error_text(error)}") from None
    print_message(f"tablewright: wrote {path}")


def _summary(found: Sequence[Change]) -> str:
    counts = {
        needs: sum(each.needs == needs for each in found) for needs in ("nothing", "backfill", "new table")
    }
    told = ", ".join(
        f"{count} need{'s' if count == 1 else ''} {needs}" for needs, count in counts.items() if count
    )
    return f"{plural(len(found), 'change')}: {told}"


def _short(text: str, is_whole: bool) -> str:
    return text if is_whole or len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


# --- live ---


def _with_live(given: argparse.Namespace) -> int:
    if given.new is not None:
        raise UsageError("--live compares one design with live tables; leave out the second")
    with open_comparison(given) as comparison:
        steps = comparison.steps()
    here = comparison.deployment
    own = {here.physical(table.name) for table in here.own}
    if given.environment is None:
        # Programs make the tables beside them when they first need them.
        steps = tuple(step for step in of_design(steps) if step.table in own)
    found = differences(steps)
    if own <= {step.table for step in found if step.subject == "table"}:
        print_none_there(given, "is there")
    else:
        print_message(f"tablewright: {_NOT_COMPARED}")
    logical = {here.physical(table.name): table.name for table in here.tables}
    lines = (
        missing_import("OLD", "as the live tables have it"),
        _import_line("NEW", given.system, here.designs, given.skeleton),
    )
    as_changes = [_as_change(step, here, logical[step.table]) for step in found]
    text = skeleton(given.system, as_changes, lines, str(given.skeleton or "FILE"))
    if given.skeleton is not None:
        _write(given.skeleton, text)
    rows = [
        (
            each.table,
            each.subject,
            _short(each.live or "-", given.whole),
            _short(each.design or "-", given.whole),
            each.needs,
            _how(each, given) + _backfill(each, given, here, logical[each.table]),
        )
        for each in found
    ]
    value: dict[str, Any] = {
        "deployment": comparison.deployment.title,
        "target": comparison.target.name,
        "notCompared": [_NOT_COMPARED],
        "changes": [dict(zip(_LIVE_HEAD, row, strict=True)) for row in rows],
        "skeleton": text,
    }
    print_result(given, value, as_table(_LIVE_HEAD, rows) if rows else "no change")
    return 1 if rows else 0


def _how(step: Step, given: argparse.Namespace) -> str:
    if step.advice or not step.can_run:
        return step.advice
    apply = "tablewright deploy apply"
    return apply if given.environment is not None else f"{apply}, with an environment of these names"


def _backfill(step: Step, given: argparse.Namespace, here: Deployment, table: str) -> str:
    """What fills the keys of an index in items that are there; empty if no entity makes its keys from fields."""
    if not step.subject.startswith("index ") or step.live != ABSENT or not step.can_run:
        return ""
    index = step.subject.removeprefix("index ")
    shapes = (shape for design in here.designs for shape in design.shapes if shape.table.name == table)
    made = [
        shape.tag for shape in shapes if any(key.native is None for key in shape.index_keys.get(index, ()))
    ]
    if not made:
        return ""
    environment = f" --environment {given.environment}" if given.environment is not None else ""
    entities = "".join(f" --entity {tag}" for tag in made)
    named = f" --table {table}" if len(here.own) > 1 else ""
    command = f"tablewright migrate backfill {given.system}{environment}{named}{entities}"
    return f"; then, for items that were written without its keys: {command}"


def _as_change(step: Step, here: Deployment, table: str) -> Change:
    where = f"{step.table} {step.subject}"
    if step.needs != "new table":
        return Change("table", where, step.live, step.design)
    first = first_of([each for each in here.tables if each.name == table])
    why = f"first {first}" if first else ""
    return Change("table", where, step.live, step.design, "new table", why, table, first=first)
