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
    for shape in design.shapes:
        native = {key.name for key in shape.primary if key.native}
        native |= {
            f"{name}.{key.name}" for name, keys in shape.index_keys.items() for key in keys if key.native
        }
        for label, template in templates(shape):
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
            f"'{name}' is {describe_type(attribute)}, which cannot be written into a key",
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
            f"'{name}' is {describe_type(attribute)} and cannot be written as '{part.codec.name}'",
            "choose a way that fits the type",
        )


def key_functions_agree(design: CheckContext) -> Iterator[Finding]:
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


def segments_are_unambiguous(design: CheckContext) -> Iterator[Finding]:
    """K007: between two '#' at most one part of varying width, so that two tuples never render alike."""
    for shape in design.shapes:
        for label, template in templates(shape):
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


def key_attributes_are_one_thing(design: CheckContext) -> Iterator[Finding]:
    """K009, K014: a key attribute has one type and one origin."""
    for shape in design.shapes:
        where = f"{design.name}.{shape.tag}"
        made: dict[str, Template] = {}
        for key in (*shape.primary, *(key for keys in shape.index_keys.values() for key in keys)):
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
                    f"'{key.native.field}' is {describe_type(key.native)}; a key must be text, number or binary",
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


def _one_letter(design: CheckContext) -> Iterator[Finding]:
    letters: dict[tuple[str, str], tuple[str, str]] = {}
    for shape in design.shapes:
        keys = [*shape.primary, *(key for keys in shape.index_keys.values() for key in keys)]
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


def keys_never_collide(design: CheckContext) -> Iterator[Finding]:
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


def _owners(design: CheckContext, table: Table) -> Iterator[tuple[str, tuple[KeyAttribute, ...]]]:
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


RULES: tuple[Rule, ...] = (
    parts_fit_their_fields,
    key_functions_agree,
    segments_are_unambiguous,
    key_attributes_are_one_thing,
    keys_never_collide,
)
