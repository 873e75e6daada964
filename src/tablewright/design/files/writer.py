"""A Design as the plain values of a design file.

What has its default is left out. What a file cannot say is left out and named in `dropped`: functions that upcast older
items, validators of models, defaults that are computed, defaults of a key's parameters.
Must hold: design_of(written(d)) makes the same tables, keys, patterns, costs and findings as d.
Elsewhere: types (type_writer.py); numbers and settings (settings_writer.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import Parameter
from itertools import chain
from typing import Any

from tablewright.design.design import Design
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.files.document import FORMAT
from tablewright.design.files.durations import text_of
from tablewright.design.files.settings_writer import plain, settings_of
from tablewright.design.files.type_writer import TypeWriter, is_plain
from tablewright.design.patterns import Plan, Sort
from tablewright.design.tables import Index, Projection, Table, names
from tablewright.design.traits import Schema, Unique
from tablewright.design.vectors import SearchPlan, VectorIndex

_WORDS = {
    "=": "equals",
    "begins": "begins",
    "between": "between",
    ">=": "at_least",
    "<=": "at_most",
    ">": "above",
    "<": "below",
}
_PLAN_DEFAULTS = {"descending": False, "consistent": False, "page": 50, "at_most": 1000, "others": False}


@dataclass(frozen=True, slots=True)
class Written:
    """A design as a document, and what of it the document does not have."""

    document: dict[str, Any]
    dropped: tuple[str, ...]


def written(design: Design) -> Written:
    """The document of a design; `notes` in it repeat what is dropped."""
    types = TypeWriter()
    tables = [
        _table(design, table, types, f"tables[{at}]") for at, table in enumerate(design.tables.values())
    ]
    patterns = [_pattern(plan, types, f"patterns[{at}]") for at, plan in enumerate(design.plans)]
    searches = [_search(plan, types, f"searches[{at}]") for at, plan in enumerate(design.searches)]
    dropped = tuple(types.dropped)
    return Written(
        _filled(
            {
                "format": FORMAT,
                "name": design.name,
                "version": design.version,
                "about": design.about,
                "notes": [f"not in this file: {each}" for each in dropped],
                "types": types.types,
                "tables": tables,
                "patterns": patterns,
                "searches": searches,
                "principals": {role: dict(tags) for role, tags in design.principals.items()},
                "environments": [settings_of(each) for each in design.environments.values()],
                "alarms": [settings_of(each) for each in design.alarms],
                "accepted": [settings_of(each) for each in design.accepted],
            },
            keep=("version",),
        ),
        dropped,
    )


def _filled(values: dict[str, Any], keep: Sequence[str] = ()) -> dict[str, Any]:
    """Without what is empty, false or absent: the defaults of most parts."""
    return {
        name: value
        for name, value in values.items()
        if name in keep or not (value is None or value is False or value in ("", [], {}, ()))
    }


# --- tables and entities ---


def _table(design: Design, table: Table, types: TypeWriter, place: str) -> dict[str, Any]:
    shapes = [shape for shape in design.shapes if shape.table == table]
    discriminator, form = _discriminator(shapes), _common_form(shapes)
    return _filled(
        {
            "name": table.name,
            "about": table.about,
            "pk": table.pk,
            "sk": table.sk,
            "ttl": table.ttl,
            "stream": table.stream,
            "followed": table.followed,
            "whole": table.whole,
            "discriminator": discriminator,
            "schema": {"field": form} if form else None,
            "indexes": [_index(each) for each in design.indexes if each.table == table],
            "vectors": [_vector(each) for each in design.vectors if each.table == table],
            "entities": [
                _entity(shape, types, f"{place}.entities[{at}]", discriminator, form)
                for at, shape in enumerate(shapes)
            ],
        }
    )


def _discriminator(shapes: Sequence[EntitySpec]) -> str:
    """The attribute in which every entity of a table has its tag, as the first of what is derived."""
    first = {next(iter(shape.derived.items()), ("", ""))[0] for shape in shapes}
    name = first.pop() if len(first) == 1 else ""
    return name if all(shape.derived.get(name) == shape.tag for shape in shapes) else ""


def _common_form(shapes: Sequence[EntitySpec]) -> str:
    fields = {shape.schema.field if shape.schema else "" for shape in shapes}
    return fields.pop() if len(fields) == 1 else ""


def _index(index: Index) -> dict[str, Any]:
    return _filled(
        {
            "name": index.name,
            "pk": [] if index.local else _one_or_more(index.pk),
            "sk": _one_or_more(index.sk),
            "project": _projection(index.project),
            "local": index.local,
            "aliases": list(index.aliases),
        },
        keep=("project",) if index.project == () else (),
    )


def _vector(index: VectorIndex) -> dict[str, Any]:
    return _filled(
        {
            "name": index.name,
            "of": index.of,
            "dimensions": index.dimensions,
            "distance": index.distance if index.distance != "COSINE" else None,
            "partition": index.partition,
            "filters": list(index.filters),
            "project": _projection(index.project),
        },
        keep=("project",) if index.project == () else (),
    )


def _projection(project: Projection) -> str | list[str] | None:
    if project == "ALL":
        return None
    return project if isinstance(project, str) else list(project)


def _one_or_more(given: Sequence[str]) -> str | list[str]:
    return given[0] if len(given) == 1 else list(given)


def _entity(
    shape: EntitySpec, types: TypeWriter, place: str, discriminator: str, form: str
) -> dict[str, Any]:
    derived = {name: text for name, text in shape.derived.items() if name != discriminator}
    expires, deleted, retention = shape.expires, shape.soft_delete, shape.retention
    return _filled(
        {
            "tag": shape.tag,
            "about": shape.about,
            "fields": types.fields(shape.model, f"{place}.fields"),
            "pk": shape.pk.text,
            "sk": shape.sk.text if shape.sk else None,
            "key": _key(shape, types, place),
            "indexes": {
                index.name: _filled({"pk": _one_or_more(names(keys.pk)), "sk": _one_or_more(names(keys.sk))})
                for index, keys in shape.on.items()
            },
            "derived": derived,
            "unique": [_unique(each) for each in shape.unique],
            "version": shape.version,
            "expires": None
            if expires is None
            else {"field": expires.field, "after": text_of(expires.after)}
            if expires.after
            else expires.field,
            "soft_delete": None
            if deleted is None
            else deleted.field
            if deleted.live
            else {"field": deleted.field, "live": False},
            "states": plain(shape.states) if shape.states else None,
            "copies": [
                {"field": one.field, "of": one.of, "source": one.source, "refresh": one.refresh.name.lower()}
                for one in shape.copies
            ],
            "immutable": list(shape.immutable),
            "data": {name: kind.name.lower() for name, kind in shape.data.items()},
            "retention": None
            if retention is None
            else {
                "period": text_of(retention.period) if retention.period is not None else None,
                "purpose": retention.purpose,
                **({"then": retention.then} if retention.then != "deleted" else {}),
            },
            "load": {verb: settings_of(load) for verb, load in shape.load.items()},
            "schema": _form(shape.schema, types, place, form),
        },
        keep=("fields",),
    )


def _key(shape: EntitySpec, types: TypeWriter, place: str) -> list[str] | None:
    """The order of the key's parameters, where it is not that of the templates."""
    for parameter in shape.key.parameters.values():
        if parameter.default is not Parameter.empty:
            types.dropped.append(f"{place}.key: the default of {parameter.name}")
    templates = [shape.pk, *([shape.sk] if shape.sk else [])]
    usual = list(dict.fromkeys(chain.from_iterable(template.fields for template in templates)))
    return None if usual == list(shape.parameters) else list(shape.parameters)


def _unique(unique: Unique) -> dict[str, Any]:
    return _filled(
        {
            "name": unique.name,
            "value": unique.value,
            "pk": unique.pk,
            "sk": unique.sk if unique.sk != "UNIQUE" else None,
            "keep": dict(unique.keep),
            "table": unique.table.name if unique.table else None,
        }
    )


def _form(schema: Schema | None, types: TypeWriter, place: str, common: str) -> dict[str, Any] | None:
    if schema is None:
        return None
    for upcast in schema.upcasts:
        types.dropped.append(f"{place}.schema: the upcast function {getattr(upcast, '__name__', upcast)}")
    if schema.version == 1:
        return None if schema.field == common else {"field": schema.field}
    return {"field": schema.field, "version": schema.version}


# --- patterns ---


def _pattern(plan: Plan, types: TypeWriter, place: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": plan.name,
        "about": plan.about,
        "kind": plan.kind if plan.kind == "get" else None,
        "of": [_readable(shape, types, place) for shape in plan.shapes],
        "parameters": _parameters(plan.signature.parameters.values(), types, place),
        "roles": list(plan.roles),
        "load": settings_of(plan.load) if plan.load else None,
        "consistent": plan.consistent,
    }
    if plan.kind == "query":
        made |= {
            "index": plan.index.name if plan.index else None,
            "pk": _one_or_more([template.text for template in plan.pk]),
            "sk": _sorts(plan.sk),
        }
        made |= {
            name: value for name, usual in _PLAN_DEFAULTS.items() if (value := getattr(plan, name)) != usual
        }
    order = (
        "name",
        "about",
        "kind",
        "of",
        "parameters",
        "index",
        "pk",
        "sk",
        *_PLAN_DEFAULTS,
        "roles",
        "load",
    )
    return _filled({name: made[name] for name in order if name in made})


def _search(plan: SearchPlan, types: TypeWriter, place: str) -> dict[str, Any]:
    return _filled(
        {
            "name": plan.name,
            "about": plan.about,
            "of": _readable(plan.shape, types, place),
            "index": plan.index.name,
            "parameters": _parameters(plan.signature.parameters.values(), types, place),
            "top": plan.top,
            "load": settings_of(plan.load) if plan.load else None,
        }
    )


def _readable(shape: EntitySpec, types: TypeWriter, place: str) -> str | dict[str, str]:
    if shape.whole is None:
        return shape.tag
    return {"entity": shape.tag, "view": types.name_of(shape.model, f"{place}.of")}


def _sorts(sorts: Sequence[Sort]) -> Any:
    found = [
        sort.texts[0] if sort.op == "=" else {_WORDS[sort.op]: _one_or_more(sort.texts)} for sort in sorts
    ]
    return found[0] if len(found) == 1 else found


def _parameters(given: Any, types: TypeWriter, place: str) -> dict[str, Any]:
    return dict(_each_parameter(given, types, f"{place}.parameters"))


def _each_parameter(given: Any, types: TypeWriter, place: str) -> Iterator[tuple[str, Any]]:
    for parameter in given:
        here = f"{place}.{parameter.name}"
        kind, optional = types.parameter(parameter.annotation, here)
        said: dict[str, Any] = {} if kind is None else {"type": kind}
        if parameter.default is Parameter.empty:
            if optional:
                said["required"] = True
        elif not (parameter.default is None and optional):
            default = types.default(parameter.default)
            if is_plain(default):
                said["default"] = default
            else:
                types.dropped.append(f"{here}: its default")
        yield parameter.name, kind if list(said) == ["type"] else said
