"""A design in words: its tables, what each attribute is and is used for, its access patterns. Pure.

Elsewhere: the same as pages (app/designs/), as schemas (schemas/), as a repository (repository/).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from inspect import Parameter, formatannotation

from tablewright.design.attributes import Attribute
from tablewright.design.design import Design
from tablewright.design.entity_spec import EntitySpec, KeyAttribute
from tablewright.design.patterns import Plan, Sort
from tablewright.design.tables import Index, Table
from tablewright.design.vectors import SearchPlan

_LETTERS = {
    "S": "text", "N": "number", "B": "binary", "BOOL": "true or false", "L": "list", "M": "map",
    "SS": "set of texts", "NS": "set of numbers", "BS": "set of binaries", "NULL": "null",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Described:
    """An attribute of an entity and everything the design says about it."""

    field: str
    stored: str
    type: str
    optional: bool
    notes: tuple[str, ...]
    data: str


def described(shape: EntitySpec) -> list[Described]:
    """The fields in order, with what they are used for."""
    return [
        Described(
            each.field,
            each.stored,
            _type(each),
            each.optional,
            tuple(_notes(shape, each.field)),
            shape.data[each.field].value if each.field in shape.data else "",
        )
        for each in shape.attributes
    ]


def _type(attribute: Attribute) -> str:
    """What a field is; a time is one, whether it is stored as text or as a number."""
    kind = attribute.kind
    if kind.choices:
        return "one of " + ", ".join(kind.choices)
    if kind.plain is datetime or kind.plain is date:
        return "time" if kind.plain is datetime else "date"
    return _LETTERS[kind.letter]


def _notes(shape: EntitySpec, field: str) -> list[str]:
    notes = [f"in {key.name}" for key in shape.primary if field in key.template.fields]
    for name, keys in shape.index_keys.items():
        if any(field in key.template.fields for key in keys):
            notes.append(f"in {name}")
    notes += [f"unique {guard.unique.name}" for guard in shape.guards if field in guard.value.fields]
    if shape.version == field:
        notes.append("version")
    if shape.states is not None and shape.states.field == field:
        notes.append("state")
    if shape.soft_delete is not None and shape.soft_delete.field == field:
        notes.append("soft delete")
    if shape.expires is not None and shape.expires.field == field:
        notes.append("expiry")
    if field in shape.immutable:
        notes.append("never changes")
    notes += [f"copy of {copy.of}.{copy.source}" for copy in shape.copies if copy.field == field]
    return notes


def projection(index: Index) -> str:
    return index.project if isinstance(index.project, str) else "INCLUDE " + ", ".join(index.project)


# --- the whole design as text ---


def describe(design: Design) -> str:
    """Everything that a reader needs to use the design, as Markdown."""
    lines = [f"# {design.name}, version {design.version}", "", *([design.about, ""] if design.about else [])]
    for table in design.tables.values():
        lines += _table(design, table)
    lines += ["## Access patterns", ""]
    lines += [_pattern(plan) for plan in design.plans]
    lines += [_search(plan) for plan in design.searches]
    return "\n".join(lines) + "\n"


def _table(design: Design, table: Table) -> Iterator[str]:
    ttl = f"; items expire by {table.ttl}" if table.ttl else ""
    yield f"## Table {table.name}: key {', '.join(table.key_names)}{ttl}"
    yield ""
    if table.about:
        yield from (table.about, "")
    indexes = [index for index in design.indexes if index.table == table]
    for index in indexes:
        kind = "local" if index.local else "global"
        yield f"- index {index.name} ({kind}): key {', '.join(index.key_names)}; has {projection(index)}"
    for vectors in (each for each in design.vectors if each.table == table):
        yield f"- vector index {vectors.name}: {vectors.dimensions} dimensions of {vectors.of}, {vectors.distance}"
    if indexes or any(each.table == table for each in design.vectors):
        yield ""
    for shape in (each for each in design.shapes if each.table == table):
        yield from _entity(shape)


def _entity(shape: EntitySpec) -> Iterator[str]:
    yield f"### Entity {shape.tag}"
    yield ""
    if shape.about:
        yield from (shape.about, "")
    yield f"- key: {_keys(shape.primary)}"
    for name, keys in shape.index_keys.items():
        yield f"- in {name}: {_keys(keys)}"
    for unique in shape.unique:
        yield f"- unique {unique.name}: {unique.value}"
    if shape.states is not None:
        moves = (f"{start} -> {end}" for start, ends in shape.states.moves.items() for end in ends)
        yield f"- states of {shape.states.field}, first {shape.states.start}: {', '.join(moves)}"
    if shape.retention is not None:
        period = f"{shape.retention.period.days} days" if shape.retention.period else "without a limit"
        yield f"- kept {period}: {shape.retention.purpose}"
    yield "- fields:"
    for each in described(shape):
        marks = (*each.notes, *(["optional"] if each.optional else []), *([each.data] if each.data else []))
        yield f"  - {each.stored}: {each.type}" + (f" ({', '.join(marks)})" if marks else "")
    yield ""


def _keys(keys: tuple[KeyAttribute, ...]) -> str:
    return ", ".join(f"{key.name} = {key.template.text}" for key in keys)


def _pattern(plan: Plan) -> str:
    parameters = _parameters(plan.signature.parameters.values())
    where = f"{plan.table.name}.{plan.index.name}" if plan.index is not None else plan.table.name
    keys = " and ".join([*(template.text for template in plan.pk), *map(_sort, plan.sk)])
    order = ", last first" if plan.descending else ""
    size = f", {plan.page} to a page" if plan.kind == "query" else ""
    tags = ", ".join(shape.tag for shape in plan.shapes)
    about = f" {plan.about}" if plan.about else ""
    return f"- {plan.name}({parameters}): {tags}.{about} A {plan.kind} of {where} at {keys}{order}{size}."


def _sort(sort: Sort) -> str:
    return f"{sort.op} {' .. '.join(sort.texts)}"


def _search(plan: SearchPlan) -> str:
    parameters = _parameters(plan.signature.parameters.values())
    about = f" {plan.about}" if plan.about else ""
    where = f"{plan.index.table.name}.{plan.index.name}"
    return f"- {plan.name}(vector, {parameters}): {plan.shape.tag}.{about} The {plan.top} nearest of {where}."


def _parameters(parameters: Iterable[Parameter]) -> str:
    return ", ".join(
        each.name
        if each.annotation is Parameter.empty
        else f"{each.name}: {formatannotation(each.annotation)}"
        for each in parameters
    )
