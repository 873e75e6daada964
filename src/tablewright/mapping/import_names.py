"""Under which names a design, its entities and its patterns can be imported, in the modules that are loaded.

Must hold: an import by such a name gives the same object. Elsewhere: the programs with these (typed_samples.py).
"""

import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import ModuleType
from typing import Any

from tablewright.design import Design, Entity
from tablewright.design.patterns import GetPattern, Pattern


@dataclass(frozen=True, slots=True)
class ImportName:
    """A public name of a module, and what is written for the object: the name, or an attribute of it."""

    module: str
    name: str
    text: str


@cache
def design_import(design: Design) -> ImportName | None:
    found = [ImportName(module, name, name) for module, name, value in _public() if value is design]
    return min(found, key=_nearest, default=None)


@cache
def part_imports(design: Design) -> Mapping[tuple[str, str], ImportName]:
    """For each entity and pattern, as ("entity", tag) and ("pattern", name), the shortest way to import it: a name of a
    module, or a part of a value there."""
    named = {id(plan): ("pattern", plan.name) for plan in design.plans}
    named |= {id(shape): ("entity", shape.tag) for shape in design.shapes}
    packages = {_package(module) for module, _, value in _public() if value is design}
    found: dict[tuple[str, str], list[ImportName]] = {}
    for module, name, value in _public(packages):
        for text, one in ((name, value), *((name + part, inner) for part, inner in _parts(value))):
            known = named.get(id(_spec(one)))
            if known is not None:
                found.setdefault(known, []).append(ImportName(module, name, text))
    return {name: min(ways, key=_nearest) for name, ways in found.items()}


def _spec(one: Any) -> object:
    if type(one) in (Pattern, GetPattern):
        return one.plan
    return one.shape if type(one) is Entity else None


def _package(module: str) -> str:
    return module.partition(".")[0]


def _public(packages: Collection[str] = ()) -> Iterator[tuple[str, str, Any]]:
    """The public names of modules that are loaded and can be imported by name: of all, or of these packages."""
    for known, module in list(sys.modules.items()):
        if packages and _package(known) not in packages:
            continue
        if type(module) is ModuleType and vars(module).get("__name__") == known != "__main__":
            names = list(vars(module).items())
            yield from ((known, name, value) for name, value in names if not name.startswith("_"))


def _parts(value: object, depth: int = 2) -> Iterator[tuple[str, Any]]:
    """The fields of a value and the values of a dict, as code behind its name: there are the patterns of the kit."""
    inner: list[tuple[str, Any]] = []
    if type(value) is dict:
        inner = [(f"[{key!r}]", each) for key, each in list(value.items()) if type(key) is str]
    elif is_dataclass(value) and not isinstance(value, type):
        inner = [(f".{each.name}", getattr(value, each.name, None)) for each in fields(value)]
    for text, each in inner:
        yield text, each
        if depth > 1:
            yield from ((text + more, one) for more, one in _parts(each, depth - 1))


def _nearest(one: ImportName) -> tuple[int, int, int, str]:
    return len(one.text) - len(one.name), one.module.count("."), len(one.module), one.module
