"""Fixes of design files in which a template, a trait or a pattern has a name that is nearly that of a field. Pure.

Must hold: as in design_fixes.py. A design with such a finding is refused, so no item has its keys yet.
"""

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from tablewright.design.errors import Finding
from tablewright.design.near_names import near_name
from tablewright.design.review.document_fixes import Document

_ENTITY_TEMPLATES = ("pk", "sk", "indexes", "derived", "unique")


def place_name(document: Document, finding: Finding) -> str:
    """What a finding names; that of a design which is refused has its place in the file before it."""
    found = re.search(r" \((.*)\)$", finding.where)
    return (found[1] if found else finding.where).removeprefix(f"{document['name']}.")


def entities(document: Document, tag: str) -> Iterator[Document]:
    yield from (
        entity
        for table in document.get("tables", ())
        for entity in table.get("entities", ())
        if entity.get("tag") == tag
    )


def patterns_of(document: Document, tag: str) -> Iterator[Document]:
    for pattern in document.get("patterns", ()):
        if tag in [each if isinstance(each, str) else each["entity"] for each in pattern["of"]]:
            yield pattern


def boolean(document: Document, finding: Finding) -> Document | None:
    """K002: `{flagged:bool}`, in each template of the entity and of the patterns that read it."""
    said = re.match(r"'(\w+)' is true or false", finding.why)
    tag = place_name(document, finding).partition(".")[0]
    if said is None:
        return None
    bare, written = f"{{{said[1]}}}", f"{{{said[1]}:bool}}"
    return _changed(document, tag, lambda text: text.replace(bare, written))


def field(document: Document, finding: Finding) -> Document | None:
    """K001: the field that a template is nearly naming."""
    said = re.match(r"the template '.*' names '(\w+)', which", finding.why)
    tag = place_name(document, finding).partition(".")[0]
    meant = said and _meant(document, tag, said[1])
    if not said or not meant:
        return None
    hole = re.compile(rf"\{{{said[1]}(?=[:}}])")
    return _changed(document, tag, lambda text: hole.sub(f"{{{meant}", text))


def trait(document: Document, finding: Finding) -> Document | None:
    """K015: the field that a version, an expiry or another trait is nearly naming."""
    said = re.match(r"(\w+) names '(\w+)', which", finding.why)
    tag = place_name(document, finding).partition(".")[0]
    meant = said and _meant(document, tag, said[2])
    if not said or not meant:
        return None
    made = deepcopy(document)
    for entity in entities(made, tag):
        of = entity.get(said[1])
        if of == said[2]:
            entity[said[1]] = meant
        elif isinstance(of, dict) and of.get("field") == said[2]:
            of["field"] = meant
        elif isinstance(of, list):
            entity[said[1]] = [meant if each == said[2] else each for each in of]
    return made if made != document else None


def parameter(document: Document, finding: Finding) -> Document | None:
    """P001: the parameter that a template of the pattern is nearly naming, if only one is left over."""
    said = re.match(r"it takes (.*); its keys need (.*)$", finding.why)
    if said is None:
        return None
    given, needed = (set(names.split(", ")) - {"nothing"} for names in said.groups())
    (wrong, *more), left = sorted(needed - given) or [""], given - needed
    meant = near_name(wrong, left) if wrong and not more else ""
    if not meant:
        return None
    made, hole = deepcopy(document), re.compile(rf"\{{{wrong}(?=[:}}])")
    for pattern in made.get("patterns", ()):
        if pattern["name"] == place_name(document, finding):
            _each_text(pattern, ("pk", "sk"), lambda text: hole.sub(f"{{{meant}", text))
    return made if made != document else None


def _meant(document: Document, tag: str, name: str) -> str:
    return next((near_name(name, entity.get("fields", {})) for entity in entities(document, tag)), "")


def _changed(document: Document, tag: str, change: Callable[[str], str]) -> Document | None:
    made = deepcopy(document)
    for entity in entities(made, tag):
        _each_text(entity, _ENTITY_TEMPLATES, change)
    for pattern in patterns_of(made, tag):
        holes = [f"{{{name}}}" for name in pattern.get("parameters", {})]
        # A parameter of the pattern's own with that name stays; another way to write it does not change the name.
        if all(change(hole) == hole or ":" in change(hole) for hole in holes):
            _each_text(pattern, ("pk", "sk"), change)
    return made if made != document else None


def _each_text(part: Document, names: tuple[str, ...], change: Callable[[str], str]) -> None:
    for name in names:
        if name in part:
            part[name] = _in_texts(part[name], change)


def _in_texts(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case list():
            return [_in_texts(each, change) for each in value]
        case dict():
            return {name: _in_texts(each, change) for name, each in value.items()}
        case _:
            return value
