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
_NAME_RULE = "name has 3 to 255 letters, digits, _ . or -"
MAX_GLOBAL, MAX_LOCAL, MAX_KEY_ATTRIBUTES, MAX_PROJECTED = 20, 5, 4, 100


def names_are_usable(design: CheckContext) -> Iterator[Finding]:
    """K016, K021: names are DynamoDB's, and each names one thing."""
    for table in design.tables.values():
        if not _NAME.fullmatch(table.name):
            yield Finding("K021", table.name, f"a table's {_NAME_RULE}", "choose such a name")
        mine = [index for index in design.indexes if index.table == table]
        for name in dict.fromkeys(name for index in mine for name in (index.name, *index.aliases)):
            if sum(index.name == name or name in index.aliases for index in mine) > 1:
                why = "two indexes have this name"
                yield Finding("K016", f"{table.name}.{name}", why, "name one of them differently")
    for index in design.indexes:
        if not _NAME.fullmatch(index.name):
            where = f"{index.table.name}.{index.name}"
            yield Finding("K021", where, f"an index's {_NAME_RULE}", "choose such a name")


def indexes_are_within_limits(design: CheckContext) -> Iterator[Finding]:
    """K013: DynamoDB's limits on indexes."""
    for table in design.tables.values():
        mine = [index for index in design.indexes if index.table == table]
        for local, kind, limit in ((False, "global", MAX_GLOBAL), (True, "local", MAX_LOCAL)):
            count = sum(index.local is local for index in mine)
            if count > limit:
                why = f"{count} {kind} indexes; DynamoDB allows {limit}"
                yield Finding("K013", table.name, why, "share an index between entities")
        projected = sum(len(index.project) for index in mine if isinstance(index.project, tuple))
        if projected > MAX_PROJECTED:
            why = f"{projected} projected attributes; DynamoDB allows {MAX_PROJECTED} over all indexes"
            yield Finding("K013", table.name, why, "project ALL where most attributes are needed")
    for index in design.indexes:
        where = f"{index.table.name}.{index.name}"
        if max(len(index.pk), len(index.sk)) > MAX_KEY_ATTRIBUTES or not index.pk:
            why = "an index has one to four attributes in each half of its key"
            yield Finding("K013", where, why, "join some of them in a template")
        if index.local and index.table.sk is None:
            why = "a local index needs a table with a sort key"
            yield Finding("K013", where, why, "give the table one, or use gsi()")


def what_is_followed_has_a_stream(design: CheckContext) -> Iterator[Finding]:
    """K024: a table can be followed only if it has a stream."""
    for table in design.tables.values():
        if table.followed and table.stream is None:
            why = "it is followed and has no stream"
            yield Finding("K024", table.name, why, "name a stream, or do not follow it")


def keys_have_their_halves(design: CheckContext) -> Iterator[Finding]:
    """K018, K022: an entity has a template for each key attribute of its table and of its indexes."""
    for shape in design.shapes:
        table = shape.table
        if (shape.sk is None) != (table.sk is None):
            has = "has no sort key" if table.sk is None else f"has the sort key {table.sk}"
            fix = "remove sk" if table.sk is None else "add sk"
            yield Finding("K018", shape.tag, f"the table {table.name} {has}", fix)
        for index, keys in shape.on.items():
            pk, sk = names(keys.pk), names(keys.sk)
            if index.table != table:
                why = f"the index {index.name} belongs to the table {index.table.name}"
                yield Finding("K022", shape.tag, why, f"make an index of {table.name}")
            elif (len(pk), len(sk)) != (len(index.pk), len(index.sk)):
                has = f"the index has the key {', '.join(index.pk)} / {', '.join(index.sk) or 'nothing'}"
                why = f"{has}; the templates are {', '.join(pk)} / {', '.join(sk) or 'nothing'}"
                fix = "give one template for each attribute of each half"
                yield Finding("K018", f"{shape.tag}.{index.name}", why, fix)


def templates_name_fields(design: CheckContext) -> Iterator[Finding]:
    """K001: a template speaks of fields the model has."""
    for shape, label, template in templates(design):
        for field in template.fields:
            if field not in shape.fields:
                model = shape.model.__name__
                why = f"the template '{template.text}' names '{field}', which {model} does not have"
                fix = f"add the field, or use one of {', '.join(shape.fields)}"
                yield Finding("K001", f"{shape.tag}.{label}", why, fix)


def traits_name_fields(design: CheckContext) -> Iterator[Finding]:
    """K015: version, expiry, soft delete, states, copies and the rest speak of fields of the right type."""
    for shape in design.shapes:
        for why, fix in (*_traits(shape), *_ttl(shape), *_states(shape), *_loads(shape)):
            yield Finding("K015", shape.tag, why, fix)


_WANTED: dict[str, tuple[tuple[Any, ...], str]] = {
    "version": ((int,), "a whole number that is never absent"),
    "expires": ((datetime, int), "a time, or epoch seconds"),
    "soft_delete": ((bool,), "true or false"),
    "schema": ((int,), "a whole number"),
}


def _traits(shape: EntitySpec) -> Iterator[tuple[str, str]]:
    for what, name in _trait_fields(shape):
        if name not in shape.fields:
            why = f"{what} names '{name}', which {shape.model.__name__} does not have"
            yield why, f"use one of {', '.join(shape.fields)}"
            continue
        types, wanted = _WANTED.get(what, ((), ""))
        attribute = shape.fields[name]
        if wanted and (attribute.kind.plain not in types or (what == "version" and attribute.optional)):
            yield f"{what} needs {wanted}; '{name}' is {describe_type(attribute)}", f"make '{name}' {wanted}"


def _trait_fields(shape: EntitySpec) -> Iterator[tuple[str, str]]:
    if shape.version:
        yield "version", shape.version
    traits = (shape.expires, shape.soft_delete, shape.states, shape.schema)
    for what, trait in zip(("expires", "soft_delete", "states", "schema"), traits, strict=True):
        if trait:
            yield what, trait.field
    yield from (("immutable", name) for name in shape.immutable)
    yield from (("data", name) for name in shape.data)
    yield from (("a copy", copy.field) for copy in shape.copies)


def _ttl(shape: EntitySpec) -> Iterator[tuple[str, str]]:
    expires, table = shape.expires, shape.table
    if expires is not None and table.ttl is None:
        yield (
            f"it expires, but the table {table.name} has no TTL attribute",
            "give the table a TTL attribute, such as `ttl`",
        )
    ttl = shape.stored.get(table.ttl or "")
    is_expiry = expires is not None and ttl is not None and expires.field == ttl.field and not expires.after
    if ttl is not None and not (is_expiry and ttl.kind.plain is int):
        why = f"the field '{ttl.field}' is stored as {table.ttl}, the table's TTL attribute"
        yield why, "give the TTL attribute a name of its own; it is derived from the field"


def _states(shape: EntitySpec) -> Iterator[tuple[str, str]]:
    if shape.states is None or shape.states.field not in shape.fields:
        return
    choices = shape.fields[shape.states.field].kind.choices
    unknown = [state for state in shape.states.states if state not in choices]
    if not choices:
        yield f"the state '{shape.states.field}' is any text", "make it a Literal or an Enum"
    elif unknown:
        yield f"the machine knows {', '.join(unknown)}, the field does not", f"use {', '.join(choices)}"


def _loads(shape: EntitySpec) -> Iterator[tuple[str, str]]:
    """A load of a verb, a field or an index that is none would be left out of every price."""
    for verb, load in shape.load.items():
        for what, named, known in (
            ("is of", (verb,), ["get", *get_args(WriteKind)]),
            ("changes", load.changes or (), [*shape.fields]),
            ("is in the index", load.indexes or (), [index.name for index in shape.on]),
        ):
            for name in named:
                if name not in known:
                    why = f"a load {what} '{name}', which {shape.tag} does not have"
                    yield why, f"use one of {', '.join(known) or 'none: leave it out'}"


RULES: tuple[Rule, ...] = (
    names_are_usable,
    indexes_are_within_limits,
    what_is_followed_has_a_stream,
    keys_have_their_halves,
    templates_name_fields,
    traits_name_fields,
)
