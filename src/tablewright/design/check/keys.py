"""Rules K*: keys that fit their fields, never collide, and stay where they belong."""

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from itertools import combinations
from typing import Any, get_args

from tablewright.design.attributes import Attribute
from tablewright.design.check.checked import Checked, Rule, is_typed_as, type_name
from tablewright.design.mistakes import Finding
from tablewright.design.requests import Kind
from tablewright.design.shape import KeyAttribute, Shape
from tablewright.design.tables import Table, names
from tablewright.design.templates import Part, Template, may_meet, parse

_NAME = re.compile(r"[A-Za-z0-9_.\-]{3,255}")
MAX_GLOBAL, MAX_LOCAL, MAX_KEY_ATTRIBUTES, MAX_PROJECTED = 20, 5, 4, 100


def names_are_usable(design: Checked) -> Iterator[Finding]:
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


def indexes_are_within_limits(design: Checked) -> Iterator[Finding]:
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


def what_is_followed_has_a_stream(design: Checked) -> Iterator[Finding]:
    """K024: nobody can follow a table without a stream."""
    for table in design.tables.values():
        if table.followed and table.stream is None:
            where = f"{design.name}.{table.name}"
            yield Finding(
                "K024", where, "it is followed and has no stream", "name a stream, or do not follow it"
            )


def keys_have_their_halves(design: Checked) -> Iterator[Finding]:
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


def templates_name_fields(design: Checked) -> Iterator[Finding]:
    """K001: a template speaks of fields the model has."""
    for shape in design.shapes:
        for label, template in _templates(shape):
            for field in template.fields:
                if field not in shape.fields:
                    yield Finding(
                        "K001",
                        f"{design.name}.{shape.tag}.{label}",
                        f"the template '{template.text}' names '{field}', which {shape.model.__name__} does not have",
                        f"add the field, or use one of {', '.join(shape.fields)}",
                    )


def facets_name_fields(design: Checked) -> Iterator[Finding]:
    """K015: version, expiry, soft delete, states, copies and the rest speak of fields of the right type."""
    for shape in design.shapes:
        where = f"{design.name}.{shape.tag}"
        for what, name in _facet_fields(shape):
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
                    f"{what} needs {wanted[1]}; '{name}' is {_words(attribute)}",
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


def _loads(shape: Shape, where: str) -> Iterator[Finding]:
    """A load of a verb, a field or an index that is none would be left out of every price."""
    verbs = ("get", *get_args(Kind))
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


def _states(shape: Shape, where: str) -> Iterator[Finding]:
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

FORM: tuple[Rule, ...] = (
    names_are_usable,
    indexes_are_within_limits,
    what_is_followed_has_a_stream,
    keys_have_their_halves,
    templates_name_fields,
    facets_name_fields,
)


def parts_fit_their_fields(design: Checked) -> Iterator[Finding]:
    """K002 to K005: a part is written in a way that its field's type can be, and sorts rightly."""
    for shape in design.shapes:
        native = {key.name for key in shape.primary if key.native}
        native |= {f"{name}.{key.name}" for name, keys in shape.placed.items() for key in keys if key.native}
        for label, template in _templates(shape):
            for part in template.parts:
                if label not in native:
                    yield from _part(shape.fields[part.field], part, f"{design.name}.{shape.tag}.{label}")


# What a Literal or an Enum is written as.
_CHOICES = {"S": str, "N": int}


def _part(attribute: Attribute, part: Part, where: str) -> Iterator[Finding]:
    plain, name = attribute.kind.plain, part.field
    if attribute.kind.letter not in ("S", "N", "BOOL"):
        yield Finding(
            "K005",
            where,
            f"'{name}' is {_words(attribute)}, which cannot be written into a key",
            "use a text, number, time, date or enum field",
        )
    elif (plain or _CHOICES[attribute.kind.letter]) in part.codec.takes:
        if attribute.kind.choices and part.codec.name.startswith("only."):
            unknown = sorted(set(part.codec.name.split(".")[1:]) - set(attribute.kind.choices))
            if unknown:
                yield Finding(
                    "K005",
                    where,
                    f"'{name}' is never {', '.join(unknown)}",
                    f"use {', '.join(attribute.kind.choices)}",
                )
    elif plain is bool:
        yield Finding(
            "K002",
            where,
            f"'{name}' is true or false; a key must be text, number or binary",
            f"write {{{name}:bool}} for both values, or {{{name}:flag}} to index only what is true",
        )
    elif attribute.kind.letter == "N" and not part.codec.name:
        yield Finding(
            "K003",
            where,
            f"'{name}' is a number inside a text key: 10 would sort before 9",
            f"write {{{name}:8.2}} for eight digits and two places"
            if plain is Decimal
            else f"write {{{name}:12}} for twelve digits",
        )
    elif plain is datetime and not part.codec.name:
        yield Finding(
            "K004",
            where,
            f"'{name}' is a time without a width",
            f"write {{{name}:ms}}, or :us, :s, :hour, :day, :month",
        )
    else:
        yield Finding(
            "K005",
            where,
            f"'{name}' is {_words(attribute)} and cannot be written as '{part.codec.name}'",
            "choose a way that fits the type",
        )


def key_functions_agree(design: Checked) -> Iterator[Finding]:
    """K006, K012: the parameters of the key function are the fields the key is made of, and those are required."""
    for shape in design.shapes:
        needed = {field for key in shape.primary for field in key.template.fields}
        given = set(shape.parameters)
        if needed != given:
            yield Finding(
                "K006",
                f"{design.name}.{shape.tag}",
                f"the key function takes {', '.join(sorted(given)) or 'nothing'}; "
                f"the key is made of {', '.join(sorted(needed)) or 'no field'}",
                "make them equal",
            )
        for name, parameter in shape.key.parameters.items():
            if name in shape.fields and not is_typed_as(parameter, shape.fields[name]):
                yield Finding(
                    "K006",
                    f"{design.name}.{shape.tag}",
                    f"the key function takes '{name}' as {type_name(parameter.annotation)}, "
                    f"and the field is {type_name(shape.fields[name].annotation)}",
                    "give the parameter the field's type",
                )
        for key in shape.primary:
            for field in key.template.fields:
                if shape.fields[field].optional or any(
                    p.codec.sparse for p in key.template.parts if p.field == field
                ):
                    yield Finding(
                        "K012",
                        f"{design.name}.{shape.tag}.{key.name}",
                        f"'{field}' may be absent, and a primary key may not",
                        "make the field required",
                    )


def segments_are_unambiguous(design: Checked) -> Iterator[Finding]:
    """K007: between two '#' at most one part of varying width, so that two tuples never render alike."""
    for shape in design.shapes:
        for label, template in _templates(shape):
            for segment in template.segments:
                loose = [part for part in segment if isinstance(part, Part) and not part.codec.fixed]
                if len(loose) > 1:
                    yield Finding(
                        "K007",
                        f"{design.name}.{shape.tag}.{label}",
                        f"{' and '.join(map(str, loose))} stand side by side in '{template.text}': "
                        "'ab'+'c' and 'a'+'bc' would be one key",
                        "put a '#' between them",
                    )


def key_attributes_are_one_thing(design: Checked) -> Iterator[Finding]:
    """K009, K014: a key attribute has one type and one origin."""
    for shape in design.shapes:
        where = f"{design.name}.{shape.tag}"
        made: dict[str, Template] = {}
        for key in (*shape.primary, *(key for keys in shape.placed.values() for key in keys)):
            if key.native is None and key.name in shape.stored:
                yield Finding(
                    "K009",
                    f"{where}.{key.name}",
                    f"{key.name} is the field '{shape.stored[key.name].field}' itself, "
                    f"and cannot also be '{key.template.text}'",
                    f"write {{{shape.stored[key.name].field}}}, or name the key attribute differently",
                )
            elif key.native is not None and key.letter not in ("S", "N", "B"):
                yield Finding(
                    "K009",
                    f"{where}.{key.name}",
                    f"'{key.native.field}' is {_words(key.native)}; a key must be text, number or binary",
                    "name the key attribute differently and derive it from a template",
                )
            elif key.native is None and made.setdefault(key.name, key.template).text != key.template.text:
                yield Finding(
                    "K014",
                    f"{where}.{key.name}",
                    f"it is '{made[key.name].text}' in one place and '{key.template.text}' in another",
                    "one attribute, one template",
                )
        for name, text in shape.derived.items():
            if name in made and made[name].text != text:
                yield Finding(
                    "K014",
                    f"{where}.{name}",
                    f"it is '{made[name].text}' in a key and '{text}' as a derived attribute",
                    "one attribute, one template",
                )
            if name == shape.table.ttl:
                yield Finding(
                    "K014",
                    f"{where}.{name}",
                    "a derived attribute has the name of the table's TTL attribute",
                    "rename it, or write expires=",
                )
            if name in shape.stored:
                yield Finding(
                    "K014",
                    f"{where}.{name}",
                    "a derived attribute has the name of a field",
                    "rename one of them",
                )
    yield from _one_letter(design)


def _one_letter(design: Checked) -> Iterator[Finding]:
    letters: dict[tuple[str, str], tuple[str, str]] = {}
    for shape in design.shapes:
        keys = [*shape.primary, *(key for keys in shape.placed.values() for key in keys)]
        # A field that happens to have the name of a key attribute: the store refuses it under another type.
        others = {name for index in design.indexes if index.table == shape.table for name in index.key_names}
        others &= shape.stored.keys() - {key.name for key in keys}
        keys += [KeyAttribute(name, Template(name, ()), shape.stored[name]) for name in sorted(others)]
        for key in keys:
            first, letter = letters.setdefault((shape.table.name, key.name), (shape.tag, key.letter))
            if letter != key.letter:
                yield Finding(
                    "K009",
                    f"{design.name}.{shape.tag}.{key.name}",
                    f"it is {key.letter} here and {letter} for {first}; an attribute of a key has one type",
                    "store both the same way",
                )


def keys_never_collide(design: Checked) -> Iterator[Finding]:
    """K008: no two entities of a table, nor their guards, can make the same primary key."""
    for table in design.tables.values():
        owners = [*_owners(design, table)]
        for (one, keys), (other, others) in combinations(owners, 2):
            if all(_may_be_equal(a, b) for a, b in zip(keys, others, strict=False)):
                texts = " / ".join(key.template.text for key in keys)
                yield Finding(
                    "K008",
                    f"{design.name}.{table.name}",
                    f"{one} ({texts}) and {other} ({' / '.join(key.template.text for key in others)}) "
                    "can have the same key",
                    "begin one of them with a literal of its own",
                )


def _owners(design: Checked, table: Table) -> Iterator[tuple[str, tuple[KeyAttribute, ...]]]:
    for shape in design.shapes:
        if shape.table == table:
            yield shape.tag, shape.primary
        for guard in shape.guards:
            if guard.table == table:
                halves = [guard.pk] if guard.sk is None else [guard.pk, guard.sk]
                keys = tuple(KeyAttribute(n, t, None) for n, t in zip(table.key_names, halves, strict=True))
                yield f"the guard {shape.tag}.{guard.unique.name}", keys


def _may_be_equal(one: KeyAttribute, other: KeyAttribute) -> bool:
    # A field's own value is not escaped: it may be any text.
    return one.native is not None or other.native is not None or may_meet(one.template, other.template)


def nothing_leaks_into_an_index(design: Checked) -> Iterator[Finding]:
    """K011, K017: an entity stands only in the indexes it names, and guards in none."""
    for index in design.indexes:
        for shape in design.shapes:
            if shape.table != index.table or index in shape.on:
                continue
            here = {*shape.stored, *shape.derivations, *shape.table.key_names}
            if all(name in here for name in index.key_names):
                yield Finding(
                    "K011",
                    f"{design.name}.{shape.tag}",
                    f"it has the attributes {', '.join(index.key_names)} and so appears in {index.name}, "
                    "where nobody expects it",
                    "name the index in on=, or store a field under another name",
                )
        for shape in design.shapes:
            for guard in shape.guards:
                if guard.table == index.table and all(
                    n in guard.keep or n in index.table.key_names for n in index.key_names
                ):
                    yield Finding(
                        "K017",
                        f"{design.name}.{shape.tag}.{guard.unique.name}",
                        f"the guard would appear in {index.name}",
                        "keep the value under another name",
                    )


def guards_fit_their_table(design: Checked) -> Iterator[Finding]:
    """K017: guards need a table whose key is text, and a key made from the unique value."""
    for shape in design.shapes:
        for guard in shape.guards:
            where = f"{design.name}.{shape.tag}.{guard.unique.name}"
            numeric = [
                k.name for s in design.shapes if s.table == guard.table for k in s.primary if k.letter != "S"
            ]
            if numeric:
                yield Finding(
                    "K017",
                    where,
                    f"the key {numeric[0]} of {guard.table.name} is no text, so no guard can live there",
                    "give Unique a table= with a text key",
                )
            if shape.expires is not None and guard.table.ttl is None:
                yield Finding(
                    "K017",
                    where,
                    f"items expire, and their guards in {guard.table.name} never would",
                    f"give {guard.table.name} a TTL attribute",
                )
            value = {(part.field, part.codec.name) for part in guard.value.parts}
            if not value:
                yield Finding(
                    "K017",
                    where,
                    "its value is the same for every item",
                    "write a part, such as {email:lower}",
                )
            halves = [guard.pk] if guard.sk is None else [guard.pk, guard.sk]
            if {(part.field, part.codec.name) for half in halves for part in half.parts} != value:
                yield Finding(
                    "K017",
                    where,
                    f"the guard's key '{' / '.join(half.text for half in halves)}' is not made of the value "
                    f"'{guard.value.text}'",
                    "use the same parts in both",
                )


def projections_show_what_hides(design: Checked) -> Iterator[Finding]:
    """K023: an index that hides expired or deleted items must carry what says so."""
    for shape in design.shapes:
        for index in shape.on:
            if index.project == "KEYS_ONLY" and (shape.expires or shape.soft_delete):
                yield Finding(
                    "K023",
                    f"{design.name}.{shape.tag}.{index.name}",
                    "items can expire or be deleted, and an index of keys only cannot tell",
                    "project the attributes patterns need; what hides items is added by itself",
                )


def copies_have_a_source(design: Checked) -> Iterator[Finding]:
    """K019: what is copied is there to be copied from."""
    shapes = {shape.tag: shape for shape in design.shapes}
    for shape in design.shapes:
        for copy in shape.copies:
            where, source = f"{design.name}.{shape.tag}.{copy.field}", shapes.get(copy.of)
            if source is None:
                known = ", ".join(tag for tag in shapes if tag != shape.tag) or "none"
                yield Finding(
                    "K019", where, f"it copies from '{copy.of}', which is no entity", f"use one of {known}"
                )
            elif copy.source not in source.fields:
                yield Finding(
                    "K019",
                    where,
                    f"it copies '{copy.source}', which {copy.of} does not have",
                    f"use one of {', '.join(source.fields)}",
                )


MEANING: tuple[Rule, ...] = (
    copies_have_a_source,
    parts_fit_their_fields,
    key_functions_agree,
    segments_are_unambiguous,
    key_attributes_are_one_thing,
    keys_never_collide,
    nothing_leaks_into_an_index,
    guards_fit_their_table,
    projections_show_what_hides,
)


def _templates(shape: Shape) -> Iterator[tuple[str, Template]]:
    """Every template of an entity, with what it is for."""
    yield shape.table.pk, shape.pk
    if shape.sk is not None:
        yield shape.table.sk or "sk", shape.sk
    for index, keys in shape.on.items():
        for name, text in zip(index.key_names, keys.texts, strict=False):
            yield f"{index.name}.{name}", parse(text)
    for name, text in shape.derived.items():
        yield name, parse(text)
    for unique in shape.unique:
        for text in (unique.value, *([unique.pk] if unique.pk else ()), unique.sk, *unique.keep.values()):
            yield f"unique {unique.name}", parse(text)


def _facet_fields(shape: Shape) -> Iterator[tuple[str, str]]:
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


def _words(attribute: Attribute) -> str:
    plain = attribute.kind.plain
    words = {"L": "a list", "M": "a map", "SS": "a set", "NS": "a set", "BS": "a set"}
    name = plain.__name__ if plain else words.get(attribute.kind.letter, "a choice")
    return f"{name}, may be absent" if attribute.optional else name
