"""Rules K* of keys: they fit their fields, never collide, and are read back as what was written."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from itertools import combinations

from tablewright.design.attributes import Attribute
from tablewright.design.check.context import (
    CheckContext,
    Rule,
    describe_type,
    is_typed_as,
    templates,
    type_name,
)
from tablewright.design.entity_spec import KeyAttribute
from tablewright.design.errors import Finding
from tablewright.design.tables import Table
from tablewright.design.templates import Part, Template, may_meet


def parts_fit_their_fields(design: CheckContext) -> Iterator[Finding]:
    """K002 to K005: a part is written in a way that its field's type can be, and sorts rightly."""
    for shape, label, template in templates(design):
        native = {key.name for key in shape.primary if key.native}
        for index, keys in shape.index_keys.items():
            native |= {f"{index}.{key.name}" for key in keys if key.native}
        for part in template.parts:
            if label not in native:
                yield from _part(shape.fields[part.field], part, f"{shape.tag}.{label}")


# What a Literal or an Enum is written as.
_CHOICES = {"S": str, "N": int}


def _part(attribute: Attribute, part: Part, where: str) -> Iterator[Finding]:
    kind, name, codec = attribute.kind, part.field, part.codec
    if kind.letter not in ("S", "N", "BOOL"):
        why = f"'{name}' is {describe_type(attribute)}, which cannot be written into a key"
        yield Finding("K005", where, why, "use a text, number, time, date or enum field")
    elif (kind.plain or _CHOICES[kind.letter]) in codec.takes:
        wanted = codec.name.split(".")[1:] if kind.choices and codec.name.startswith("only.") else ()
        unknown = sorted(set(wanted) - set(kind.choices))
        if unknown:
            why = f"'{name}' is never {', '.join(unknown)}"
            yield Finding("K005", where, why, f"use {', '.join(kind.choices)}")
    elif kind.plain is bool:
        why = f"'{name}' is true or false; a key must be text, number or binary"
        fix = f"write {{{name}:bool}} for both values, or {{{name}:flag}} to index only what is true"
        yield Finding("K002", where, why, fix)
    elif kind.letter == "N" and not codec.name:
        why = f"'{name}' is a number inside a text key: 10 would sort before 9"
        fix = f"write {{{name}:12}} for twelve digits"
        if kind.plain is Decimal:
            fix = f"write {{{name}:8.2}} for eight digits and two places"
        yield Finding("K003", where, why, fix)
    elif kind.plain is datetime and not codec.name:
        fix = f"write {{{name}:ms}}, or :us, :s, :hour, :day, :month"
        yield Finding("K004", where, f"'{name}' is a time without a width", fix)
    else:
        why = f"'{name}' is {describe_type(attribute)} and cannot be written as '{codec.name}'"
        yield Finding("K005", where, why, "choose a way that fits the type")


def key_functions_agree(design: CheckContext) -> Iterator[Finding]:
    """K006, K012: the parameters of the key function are the fields the key is made of, and those are required."""
    for shape in design.shapes:
        needed = {field for key in shape.primary for field in key.template.fields}
        given = set(shape.parameters)
        if needed != given:
            takes, made = ", ".join(sorted(given)) or "nothing", ", ".join(sorted(needed)) or "no field"
            why = f"the key function takes {takes}; the key is made of {made}"
            yield Finding("K006", shape.tag, why, "make them equal")
        for name, parameter in shape.key.parameters.items():
            if name in shape.fields and not is_typed_as(parameter, shape.fields[name]):
                takes, field_type = type_name(parameter.annotation), type_name(shape.fields[name].annotation)
                why = f"the key function takes '{name}' as {takes}, and the field is {field_type}"
                yield Finding("K006", shape.tag, why, "give the parameter the field's type")
        for key in shape.primary:
            sparse = {part.field for part in key.template.parts if part.codec.sparse}
            for field in key.template.fields:
                if shape.fields[field].optional or field in sparse:
                    why = f"'{field}' may be absent, and a primary key may not"
                    yield Finding("K012", f"{shape.tag}.{key.name}", why, "make the field required")


def segments_are_unambiguous(design: CheckContext) -> Iterator[Finding]:
    """K007: between two '#' at most one part of varying width, so that two tuples never render alike."""
    for shape, label, template in templates(design):
        for segment in template.segments:
            loose = [part for part in segment if isinstance(part, Part) and not part.codec.fixed]
            if len(loose) > 1:
                beside = f"{' and '.join(map(str, loose))} stand side by side in '{template.text}'"
                why = f"{beside}: 'ab'+'c' and 'a'+'bc' would be one key"
                yield Finding("K007", f"{shape.tag}.{label}", why, "put a '#' between them")


def key_attributes_are_one_thing(design: CheckContext) -> Iterator[Finding]:
    """K009, K014: a key attribute has one type and one origin."""
    for shape in design.shapes:
        made: dict[str, Template] = {}
        for key in shape.keys:
            where, text = f"{shape.tag}.{key.name}", key.template.text
            if key.native is None and key.name in shape.stored:
                field = shape.stored[key.name].field
                why = f"{key.name} is the field '{field}' itself, and cannot also be '{text}'"
                fix = f"write {{{field}}}, or name the key attribute differently"
                yield Finding("K009", where, why, fix)
            elif key.native is not None and key.letter not in ("S", "N", "B"):
                is_type = f"'{key.native.field}' is {describe_type(key.native)}"
                fix = "name the key attribute differently and derive it from a template"
                yield Finding("K009", where, f"{is_type}; a key must be text, number or binary", fix)
            elif key.native is None and made.setdefault(key.name, key.template).text != text:
                why = f"it is '{made[key.name].text}' in one place and '{text}' in another"
                yield Finding("K014", where, why, "one attribute, one template")
        for name, text in shape.derived.items():
            where = f"{shape.tag}.{name}"
            if name in made and made[name].text != text:
                why = f"it is '{made[name].text}' in a key and '{text}' as a derived attribute"
                yield Finding("K014", where, why, "one attribute, one template")
            if name == shape.table.ttl:
                why = "a derived attribute has the name of the table's TTL attribute"
                yield Finding("K014", where, why, "rename it, or say by which field the entity `expires`")
            if name in shape.stored:
                why = "a derived attribute has the name of a field"
                yield Finding("K014", where, why, "rename one of them")
    yield from _one_letter(design)


def _one_letter(design: CheckContext) -> Iterator[Finding]:
    letters: dict[tuple[str, str], tuple[str, str]] = {}
    for shape in design.shapes:
        # A field that happens to have the name of a key attribute: the store refuses it under another type.
        others = {name for index in design.indexes if index.table == shape.table for name in index.key_names}
        others &= shape.stored.keys() - {key.name for key in shape.keys}
        named = [KeyAttribute(name, Template(name, ()), shape.stored[name]) for name in sorted(others)]
        for key in (*shape.keys, *named):
            first, letter = letters.setdefault((shape.table.name, key.name), (shape.tag, key.letter))
            if letter != key.letter:
                why = f"it is {key.letter} here and {letter} for {first}; an attribute of a key has one type"
                yield Finding("K009", f"{shape.tag}.{key.name}", why, "store both the same way")


def keys_never_collide(design: CheckContext) -> Iterator[Finding]:
    """K008: no two entities of a table, nor their guards, can make the same primary key."""
    for table in design.tables.values():
        for (one, keys), (other, others) in combinations(_owners(design, table), 2):
            if all(_may_be_equal(a, b) for a, b in zip(keys, others, strict=False)):
                texts, others_texts = (
                    " / ".join(key.template.text for key in each) for each in (keys, others)
                )
                why = f"{one} ({texts}) and {other} ({others_texts}) can have the same key"
                yield Finding("K008", table.name, why, "begin one of them with a literal of its own")


def _owners(design: CheckContext, table: Table) -> Iterator[tuple[str, tuple[KeyAttribute, ...]]]:
    for shape in design.shapes:
        if shape.table == table:
            yield shape.tag, shape.primary
        for guard in shape.guards:
            if guard.table == table:
                halves = [half for half in (guard.pk, guard.sk) if half is not None]
                keys = tuple(KeyAttribute(n, t, None) for n, t in zip(table.key_names, halves, strict=True))
                yield f"the guard {shape.tag}.{guard.unique.name}", keys


def _may_be_equal(one: KeyAttribute, other: KeyAttribute) -> bool:
    # A field's own value is not escaped: it may be any text.
    return one.native is not None or other.native is not None or may_meet(one.template, other.template)


RULES: tuple[Rule, ...] = (
    parts_fit_their_fields,
    key_functions_agree,
    segments_are_unambiguous,
    key_attributes_are_one_thing,
    keys_never_collide,
)
