"""The typed call of a pattern, or of an item, as a program to copy: its imports, a Db of its design, and the call.

Must hold: the program runs as it is printed. A design is imported or loaded from its file; one that is in no module and
no file gets none. Elsewhere: the names to import (import_names.py), the same request in other languages
(code_samples.py).
"""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from textwrap import indent
from uuid import UUID

from tablewright.design import Design, EntitySpec, Environment, Plan
from tablewright.mapping.code_samples import ANY, Target, python_literal
from tablewright.mapping.import_names import design_import, part_imports

_WIDTH = 84


@dataclass(frozen=True, slots=True)
class Tables:
    """Where a program finds the tables: where it calls, under which names, and the file of the design, if it has one.

    `note` is said about the file in a comment.
    """

    target: Target
    environment: Environment | None = None
    file: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Written:
    """How a program names the design and a part of it."""

    imports: tuple[tuple[str, str], ...]
    before: str
    design: str
    part: str


def typed_program(design: Design, plan: Plan, arguments: Mapping[str, object], tables: Tables) -> str:
    """The program; empty if the design is in no module and no file, or its tables have names of their own."""
    written = _written(design, ("pattern", plan.name), tables)
    given = _given(plan, arguments)
    call = typed_call(plan, given, written.part) if written else ""
    return _program(design, plan.table.name, written, given.values(), tables, call) if written else ""


def typed_get(
    design: Design, shape: EntitySpec, key: Mapping[str, object], tables: Tables, *, deleted: bool = False
) -> str:
    """The program that reads the item of an entity with this key; empty as that of a pattern is."""
    written = _written(design, ("entity", shape.tag), tables)
    if written is None:
        return ""
    call = _call("one", f"{written.part}.get", key, ", deleted=True" if deleted else "")
    return _program(design, shape.table.name, written, key.values(), tables, f"found = {call}\n")


def _program(
    design: Design, table: str, written: _Written, given: Iterable[object], tables: Tables, body: str
) -> str:
    named = _environment(design, table, tables.environment)
    if named is None:
        return ""
    call, needed = _http_call(tables.target)
    imports: dict[str, set[str]] = {"tablewright.mapping": {"Db"}, "tablewright.client": needed}
    for module, name in (*written.imports, *(each for value in given for each in _imported(value))):
        imports.setdefault(module, set()).add(name)
    where = f', environment={written.design}.environments["{named}"]' if named else ""
    lines = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(imports.items())]
    inner = f"db = Db(call, {written.design}{where})\n{body}"
    return "\n".join([*lines, "", f"{written.before}with {call} as call:", indent(inner, "    ")])


def _written(design: Design, part: tuple[str, str], tables: Tables) -> _Written | None:
    """The design from its file or from its module; a part under its own name, or by its name in the design."""
    kind, name = part
    text = f"{'entities' if kind == 'entity' else 'patterns'}[{python_literal(name)}]"
    if tables.file:
        note = f"  # {tables.note}" if tables.note else ""
        loaded = f"design = load_design({python_literal(tables.file)}){note}\n"
        return _Written((("tablewright.design.files", "load_design"),), loaded, "design", f"design.{text}")
    known = design_import(design)
    if known is None:
        return None
    own = part_imports(design).get(part)
    imports = [(each.module, each.name) for each in (known, own) if each is not None]
    return _Written(tuple(imports), "", known.text, own.text if own else f"{known.text}.{text}")


def typed_call(plan: Plan, arguments: Mapping[str, object], name: str = "") -> str:
    """The call with `db`, a Db of its design; arguments that are the pattern's defaults are left out."""
    given = _given(plan, arguments)
    verb, kept = ("one", "found") if plan.kind == "get" else ("page", "page")
    return f"{kept} = {_call(verb, name or plan.name, given)}\n"


def _call(verb: str, made_by: str, given: Mapping[str, object], options: str = "") -> str:
    inner = ", ".join(f"{each}={_typed(value)}" for each, value in given.items())
    call = f"db.{verb}({made_by}({inner}){options})"
    if len(call) > _WIDTH:
        lines = "".join(f"        {each}={_typed(value)},\n" for each, value in given.items())
        call = f"db.{verb}(\n    {made_by}(\n{lines}    ){options}\n)"
    return call


def _http_call(target: Target) -> tuple[str, set[str]]:
    """The Call to the target, and what of the client it needs."""
    if target.takes_any_key:
        keys = f'Credentials("{ANY}", "{ANY}")'
        where = f"{python_literal(target.url)}, {python_literal(target.region)}"
        return f"HttpCall({where}, {keys})", {"Credentials", "HttpCall"}
    options = [("region", target.region), ("endpoint", target.url)]
    return (
        f"HttpCall.resolve({', '.join(f'{name}={python_literal(value)}' for name, value in options if value)})",
        {"HttpCall"},
    )


def _environment(design: Design, table: str, environment: Environment | None) -> str | None:
    """The name of the environment, empty where tables have their plain names; None if the design has not got it."""
    if environment is None or environment.physical(table) == table:
        return ""
    known = design.environments.get(environment.name)
    is_same = known is not None and known.physical(table) == environment.physical(table)
    return environment.name if is_same else None


# --- arguments ---


def _given(plan: Plan, arguments: Mapping[str, object]) -> dict[str, object]:
    parameters = plan.signature.parameters
    return {
        name: value
        for name, value in arguments.items()
        if name in parameters and not _is_default(parameters[name], value)
    }


def _is_default(parameter: inspect.Parameter, value: object) -> bool:
    return parameter.default is not inspect.Parameter.empty and parameter.default == value


def _imported(value: object) -> list[tuple[str, str]]:
    if isinstance(value, Enum | datetime | date | Decimal | UUID):
        return [(type(value).__module__, type(value).__qualname__.partition(".")[0])]
    return []


def _typed(value: object) -> str:
    if isinstance(value, Enum):
        return f"{type(value).__qualname__}({python_literal(value.value)})"
    if isinstance(value, datetime | date):
        return f"{type(value).__name__}.fromisoformat({python_literal(value.isoformat())})"
    return python_literal(value)
