"""Rules K* about names, limits, and the fields that templates and traits name."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, get_args

from tablewright.design.check.context import CheckContext, Rule, describe_type, templates
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.errors import Finding
from tablewright.design.requests import WriteKind
from tablewright.design.tables import names

_NAME = re.compile(r"[A-Za-z0-9_.\-]{3,255}")
MAX_GLOBAL, MAX_LOCAL, MAX_KEY_ATTRIBUTES, MAX_PROJECTED = 20, 5, 4, 100


def names_are_usable(design: CheckContext) -> Iterator[Finding]:
    """K016, K021: names are DynamoDB's, and each names one thing."""
    for table in design.tables.values():
        if not _NAME.fullmatch(table.name):
            yield Finding(
                "K021",
                f"{design.name}.{table.name}",
                "a table's name has 3 to 255 letters, digits, _ . or -",
                "choose such a name",
            )
        mine = [index for index in design.indexes if index.table == table]
        for name in dict.fromkeys(name for index in mine for name in (index.name, *index.aliases)):
            if sum(index.name == name or name in index.aliases for index in mine) > 1:
                yield Finding(
                    "K016",
                    f"{design.name}.{table.name}.{name}",
                    "two indexes have this name",
                    "name one of them differently",
                )
    for index in design.indexes:
        if not _NAME.fullmatch(index.name):
            yield Finding(
                "K021",
                f"{design.name}.{index.table.name}.{index.name}",
                "an index's name has 3 to 255 letters, digits, _ . or -",
                "choose such a name",
            )


def indexes_are_within_limits(design: CheckContext) -> Iterator[Finding]:
    """K013: DynamoDB's limits on indexes."""
    for table in design.tables.values():
        mine = [index for index in design.indexes if index.table == table]
        for local, limit in ((False, MAX_GLOBAL), (True, MAX_LOCAL)):
            count = sum(index.local is local for index in mine)
            if count > limit:
                kind = "local" if local else "global"
                yield Finding(
                    "K013",
                    f"{design.name}.{table.name}",
                    f"{count} {kind} indexes; DynamoDB allows {limit}",
                    "share an index between entities",
                )
        projected = sum(len(index.project) for index in mine if isinstance(index.project, tuple))
        if projected > MAX_PROJECTED:
            yield Finding(
                "K013",
                f"{design.name}.{table.name}",
                f"{projected} projected attributes; DynamoDB allows {MAX_PROJECTED} over all indexes",
                "project ALL where most attributes are needed",
            )
    for index in design.indexes:
        where = f"{design.name}.{index.table.name}.{index.name}"
        if max(len(index.pk), len(index.sk)) > MAX_KEY_ATTRIBUTES or not index.pk:
            yield Finding(
                "K013",
                where,
                "an index has one to four attributes in each half of its key",
                "join some of them in a template",
            )
        if index.local and index.table.sk is None:
            yield Finding(
                "K013",
                where,
                "a local index needs a table with a sort key",
                "give the table one, or use gsi()",
            )


def what_is_followed_has_a_stream(design: CheckContext) -> Iterator[Finding]:
    """K024: a table can be followed only if it has a stream."""
    for table in design.tables.values():
        if table.followed and table.stream is None:
            where = f"{design.name}.{table.name}"
            yield Finding(
                "K024", where, "it is followed and has no stream", "name a stream, or do not follow it"
            )


def keys_have_their_halves(design: CheckContext) -> Iterator[Finding]:
    """K018, K022: an entity has a template for each key attribute of its table and of its indexes."""
    for shape in design.shapes:
        where = f"{design.name}.{shape.tag}"
        if (shape.sk is None) != (shape.table.sk is None):
            has = "has no sort key" if shape.table.sk is None else f"has the sort key {shape.table.sk}"
            fix = "remove sk" if shape.table.sk is None else "add sk=..."
            yield Finding("K018", where, f"the table {shape.table.name} {has}", fix)
        for index, keys in shape.on.items():
            if index.table != shape.table:
                yield Finding(
                    "K022",
                    where,
                    f"the index {index.name} belongs to the table {index.table.name}",
                    f"make an index of {shape.table.name}",
                )
            elif (len(names(keys.pk)), len(names(keys.sk))) != (len(index.pk), len(index.sk)):
                yield Finding(
                    "K018",
                    f"{where}.{index.name}",
                    f"the index has the key {', '.join(index.pk)} / {', '.join(index.sk) or 'nothing'}; "
                    f"the templates are {', '.join(names(keys.pk))} / {', '.join(names(keys.sk)) or 'nothing'}",
                    "give one template for each attribute of each half",
                )


def templates_name_fields(design: CheckContext) -> Iterator[Finding]:
    """K001: a template speaks of fields the model has."""
    for shape in design.shapes:
        for label, template in templates(shape):
            for field in template.fields:
                if field not in shape.fields:
                    yield Finding(
                        "K001",
                        f"{design.name}.{shape.tag}.{label}",
                        f"the template '{template.text}' names '{field}', which {shape.model.__name__} does not have",
                        f"add the field, or use one of {', '.join(shape.fields)}",
                    )


def traits_name_fields(design: CheckContext) -> Iterator[Finding]:
    """K015: version, expiry, soft delete, states, copies and the rest speak of fields of the right type."""
    for shape in design.shapes:
        where = f"{design.name}.{shape.tag}"
        for what, name in _trait_fields(shape):
            if name not in shape.fields:
                yield Finding(
                    "K015",
                    where,
                    f"{what} names '{name}', which {shape.model.__name__} does not have",
                    f"use one of {', '.join(shape.fields)}",
                )
                continue
            wanted = _WANTED.get(what)
            attribute = shape.fields[name]
            if wanted and (
                attribute.kind.plain not in wanted[0] or (what == "version" and attribute.optional)
            ):
                yield Finding(
                    "K015",
                    where,
                    f"{what} needs {wanted[1]}; '{name}' is {describe_type(attribute)}",
                    f"make '{name}' {wanted[1]}",
                )
        if shape.expires is not None and shape.table.ttl is None:
            yield Finding(
                "K015",
                where,
                f"it expires, but the table {shape.table.name} has no TTL attribute",
                "write table(..., ttl='ttl')",
            )
        ttl = shape.stored.get(shape.table.ttl or "")
        if ttl is not None and (
            ttl.kind.plain is not int
            or shape.expires is None
            or shape.expires.field != ttl.field
            or shape.expires.after
        ):
            yield Finding(
                "K015",
                where,
                f"the field '{ttl.field}' is stored as {shape.table.ttl}, the table's TTL attribute",
                "give the TTL attribute a name of its own; it is derived from the field",
            )
        yield from _states(shape, where)
        yield from _loads(shape, where)


def _loads(shape: EntitySpec, where: str) -> Iterator[Finding]:
    """A load of a verb, a field or an index that is none would be left out of every price."""
    verbs = ("get", *get_args(WriteKind))
    indexes = [index.name for index in shape.on]
    for verb, load in shape.load.items():
        for what, named, known in (
            ("is of", (verb,), verbs),
            ("changes", load.changes or (), tuple(shape.fields)),
            ("is in the index", load.indexes or (), indexes),
        ):
            for name in named:
                if name not in known:
                    why = f"a load {what} '{name}', which {shape.tag} does not have"
                    yield Finding(
                        "K015", where, why, f"use one of {', '.join(known) or 'none: leave it out'}"
                    )


def _states(shape: EntitySpec, where: str) -> Iterator[Finding]:
    if shape.states is None or shape.states.field not in shape.fields:
        return
    choices = shape.fields[shape.states.field].kind.choices
    unknown = [state for state in shape.states.states if choices and state not in choices]
    if not choices:
        yield Finding(
            "K015", where, f"the state '{shape.states.field}' is any text", "make it a Literal or an Enum"
        )
    if unknown:
        yield Finding(
            "K015",
            where,
            f"the machine knows {', '.join(unknown)}, the field does not",
            f"use {', '.join(choices)}",
        )


_WANTED: dict[str, tuple[tuple[Any, ...], str]] = {
    "version": ((int,), "a whole number that is never absent"),
    "expires": ((datetime, int), "a time, or epoch seconds"),
    "soft_delete": ((bool,), "true or false"),
    "schema": ((int,), "a whole number"),
}


def _trait_fields(shape: EntitySpec) -> Iterator[tuple[str, str]]:
    if shape.version:
        yield "version", shape.version
    if shape.expires:
        yield "expires", shape.expires.field
    if shape.soft_delete:
        yield "soft_delete", shape.soft_delete.field
    if shape.states:
        yield "states", shape.states.field
    if shape.schema:
        yield "schema", shape.schema.field
    yield from (("immutable", name) for name in shape.immutable)
    yield from (("data", name) for name in shape.data)
    yield from (("a copy", copy.field) for copy in shape.copies)


RULES: tuple[Rule, ...] = (
    names_are_usable,
    indexes_are_within_limits,
    what_is_followed_has_a_stream,
    keys_have_their_halves,
    templates_name_fields,
    traits_name_fields,
)
