"""Rules P*: patterns that can be asked, of an index that can answer, and that return what they say."""

from collections.abc import Iterator

from tablewright.design.attributes import by_field
from tablewright.design.check.context import CheckContext, Rule, is_typed_as, type_name
from tablewright.design.entity_spec import EntitySpec, KeyAttribute
from tablewright.design.errors import Finding
from tablewright.design.key_codecs import DELIMITER
from tablewright.design.patterns import Plan, Sort
from tablewright.design.templates import Template, may_meet, parse


def patterns_stand_on_their_index(design: CheckContext) -> Iterator[Finding]:
    """P003, P004, P006, P012, P014: the entities are in the index, and the index can answer so."""
    for plan in design.plans:
        where, index = plan.name, plan.index
        if any(shape.table != plan.table for shape in plan.shapes):
            why = "its entities live in different tables"
            yield Finding("P014", where, why, "write one pattern for each table")
            continue
        absent = [shape.tag for shape in plan.shapes if index is not None and index not in shape.on]
        if absent and index is not None:
            are = "is" if len(absent) == 1 else "are"
            why = f"{', '.join(absent)} {are} not in the index {index.name}"
            yield Finding("P003", where, why, f"give the entity a key in {index.name}")
        hashes = 1 if index is None else len(index.pk)
        ranges = len(plan.table.key_names) - 1 if index is None else len(index.sk)
        if len(plan.pk) != hashes:
            why = f"the partition key has {hashes} attribute(s), the pattern {len(plan.pk)}"
            yield Finding("P004", where, why, "give one template for each")
        if len(plan.sk) > ranges:
            why = f"the sort key has {ranges} attribute(s), the pattern asks for {len(plan.sk)}"
            yield Finding("P004", where, why, "remove sk")
        if any(sort.op != "=" for sort in plan.sk[:-1]):
            why = "of several conditions on a sort key only the last may be a range"
            yield Finding("P004", where, why, "compare the half before it as a whole (equals)")
        if plan.consistent and index is not None and not index.local:
            why = "a global index cannot be read consistently"
            yield Finding("P006", where, why, "read the table, or drop consistent")
        if not 1 <= plan.page <= plan.at_most:
            why = f"a page of {plan.page} with at most {plan.at_most}"
            yield Finding("P012", where, why, "make 1 <= page <= at_most")


def parameters_fill_the_holes(design: CheckContext) -> Iterator[Finding]:
    """P001: every parameter is used, every hole is filled."""
    for plan in design.plans:
        given = set(plan.signature.parameters)
        if plan.kind == "get":
            needed = set(plan.shapes[0].parameters)
        else:
            # Only in a partition can a shard be left open: it is filled with each in turn.
            parts = [part for template in plan.pk for part in template.parts]
            needed = {part.field for part in parts if not (part.codec.shards and part.field not in given)}
            needed |= {field for sort in plan.sk for text in sort.texts for field in parse(text).fields}
        if needed != given:
            takes, needs = (", ".join(sorted(names)) or "nothing" for names in (given, needed))
            yield Finding("P001", plan.name, f"it takes {takes}; its keys need {needs}", "make them equal")


STRUCTURE: tuple[Rule, ...] = (patterns_stand_on_their_index, parameters_fill_the_holes)


def templates_are_the_entitys(design: CheckContext) -> Iterator[Finding]:
    """P002, P005, P010: a pattern's templates are those of its entities, whole or up to a '#'."""
    for plan in _queries(design):
        for shape in plan.shapes:
            yield from _written_alike(plan, shape)
            for key, sort, template in _asked(plan, shape):
                if sort is None:
                    yield from _whole(key, template, shape, plan.name)
                else:
                    yield from _beginning(key, sort, template, shape, plan.name)


def _asked(plan: Plan, shape: EntitySpec) -> Iterator[tuple[KeyAttribute, Sort | None, Template]]:
    """The templates of a pattern, each with the key attribute of an entity it stands against."""
    keys = plan.keys_of(shape)
    yield from ((key, None, template) for key, template in zip(keys, plan.pk, strict=False))
    for key, sort in zip(keys[len(plan.pk) :], plan.sk, strict=False):
        yield from ((key, sort, parse(text)) for text in sort.texts)


def _written_alike(plan: Plan, shape: EntitySpec) -> Iterator[Finding]:
    # A field stands in a key as it is, a template's part is escaped: one request cannot mean both.
    asked = len(plan.pk) + len(plan.sk)
    for key, first in list(zip(plan.keys_of(shape), plan.key_attributes, strict=False))[:asked]:
        if (key.native is None) != (first.native is None):
            both = f"{plan.shapes[0].tag}, {shape.tag}"
            why = f"{key.name} is a field of one entity and a template of another ({both})"
            yield Finding("P005", plan.name, why, "write one pattern for each")


def _whole(key: KeyAttribute, template: Template, shape: EntitySpec, where: str) -> Iterator[Finding]:
    mine, theirs = _skeleton(template), _skeleton(key.template)
    if mine == theirs:
        return
    pairs = zip(mine, theirs, strict=False)
    shards = [(a, b) for a, b in pairs if a != b and "shard." in a and "shard." in b]
    if shards and len(mine) == len(theirs):
        why = f"it reads {shards[0][0]} while {shape.tag} writes {shards[0][1]}"
        yield Finding("P010", where, why, "use the same number")
    else:
        why = f"'{template.text}' never equals {shape.tag}'s {key.name} '{key.template.text}'"
        yield Finding("P005", where, why, "write it as the entity does")


def _beginning(
    key: KeyAttribute, sort: Sort, template: Template, shape: EntitySpec, where: str
) -> Iterator[Finding]:
    text = template.text
    mine, theirs = "\0".join(_skeleton(template)), "\0".join(_skeleton(key.template))
    if key.native is not None:
        if template.only_field is None:
            why = f"{key.name} is the field '{key.native.field}' itself, not '{text}'"
            yield Finding("P005", where, why, "write one part, such as {since}")
        elif sort.op == "begins" and key.letter != "S":
            why = f"{key.name} is not text, so it has no prefix"
            yield Finding("P005", where, why, "use equals, between, at_least or at_most")
    elif sort.op == "=":
        yield from _whole(key, template, shape, where)
    elif not theirs.startswith(mine) and not _literal_beginning(template, key.template):
        why = f"'{text}' is not a prefix of {shape.tag}'s {key.name} '{key.template.text}'"
        yield Finding("P005", where, why, "write it as the entity does, from the left")
    elif sort.op == "begins" and not text.endswith(DELIMITER):
        last = template.pieces[-1]
        if isinstance(last, str) or not last.codec.fixed:
            why = f"the prefix '{text}' does not end at '#', so USER#1 would match USER#10"
            yield Finding("P002", where, why, f"write '{text}#', or compare the whole key (equals)")


def _skeleton(template: Template) -> tuple[str, ...]:
    """The template without the names of its fields, and without parts that write nothing."""
    return tuple(
        piece if isinstance(piece, str) else f"{{:{piece.codec.name}}}"
        for piece in template.pieces
        if isinstance(piece, str) or piece.codec.pattern
    )


def _literal_beginning(template: Template, whole: Template) -> bool:
    """`VISIT#` of `VISIT#{kind}`, `A#{x}#` of `A#{x}#B#{y}`: the last literal may be cut short."""
    mine, theirs = _skeleton(template), _skeleton(whole)
    cut = len(mine) - 1
    return (
        len(mine) <= len(theirs)
        and mine[:cut] == theirs[:cut]
        and isinstance(template.pieces[-1], str)
        and theirs[cut].startswith(mine[cut])
    )


def parameters_have_the_fields_types(design: CheckContext) -> Iterator[Finding]:
    """P009: a parameter has the type of the field it is compared with."""
    for plan in design.plans:
        for shape in plan.shapes:
            for mine, theirs in _compared(plan, shape):
                parameter, field = plan.signature.parameters[mine], shape.fields[theirs]
                if not is_typed_as(parameter, field):
                    given, wanted = type_name(parameter.annotation), type_name(field.annotation)
                    why = f"'{mine}' is {given}, and {shape.tag}.{theirs} is {wanted}"
                    yield Finding("P009", plan.name, why, "give the parameter the field's type")


def _compared(plan: Plan, shape: EntitySpec) -> Iterator[tuple[str, str]]:
    """The parameters of a pattern, each with the field of the entity it is compared with."""
    if plan.kind == "get":
        yield from ((name, name) for name in shape.parameters)
        return
    for key, _, template in _asked(plan, shape):
        written = [part for part in key.template.parts if part.codec.pattern]
        for mine, theirs in zip(template.parts, written, strict=False):
            if not mine.codec.shards or mine.field in plan.signature.parameters:
                yield mine.field, theirs.field


def views_show_stored_fields(design: CheckContext) -> Iterator[Finding]:
    """P013: a view has fields of its entity only, stored under the same name and in the same way."""
    for plan in design.plans:
        for shape in plan.shapes:
            for name, attribute in by_field(shape.model).items():
                own = shape.fields.get(name)
                alike = own is not None and (
                    own.stored == attribute.stored
                    and own.annotation == attribute.annotation
                    and own.optional <= attribute.optional
                )
                if not alike:
                    why = f"the view {shape.model.__name__} has '{name}', which {shape.tag} does not store so"
                    fix = f"use fields of {(shape.whole or shape.model).__name__}, with its types and names"
                    yield Finding("P013", plan.name, why, fix)


def nothing_else_is_in_the_range(design: CheckContext) -> Iterator[Finding]:
    """P007: a range holds only the pattern's entities, so that counts and pages are right."""
    for plan in _queries(design):
        tags = {shape.tag for shape in plan.shapes}
        for shape in design.shapes:
            is_there = shape.table == plan.table and (plan.index is None or plan.index in shape.on)
            if is_there and not plan.others and shape.tag not in tags and _overlaps(plan, shape):
                why = f"its range also holds items of {shape.tag}"
                fix = f"narrow sk, add {shape.tag} to the pattern, or set `others` to pass over them"
                yield Finding("P007", plan.name, why, fix)


def _overlaps(plan: Plan, shape: EntitySpec) -> bool:
    keys = plan.keys_of(shape)
    hashes, ranges = zip(keys, plan.pk, strict=False), zip(keys[len(plan.pk) :], plan.sk, strict=False)
    return all(key.native or may_meet(key.template, template) for key, template in hashes) and all(
        key.native or _may_lie(key.template, sort) for key, sort in ranges
    )


def _may_lie(template: Template, sort: Sort) -> bool:
    bounds = [parse(text) for text in sort.texts]
    if sort.op == "=":
        return may_meet(template, bounds[0])
    if sort.op == "begins":
        return may_meet(template, bounds[0], other_is_prefix=True)
    heads = {bound.head for bound in bounds}
    if sort.op == "between" and len(heads) == 1 and (head := heads.pop()):
        return may_meet(template, parse(head), other_is_prefix=True)
    return True


def indexes_carry_what_is_read(design: CheckContext) -> Iterator[Finding]:
    """P008: every field of the model a pattern returns is in the index."""
    for plan in _queries(design):
        if plan.index is None or plan.index.project == "ALL":
            continue
        listed = plan.index.project if isinstance(plan.index.project, tuple) else ()
        for shape in plan.shapes:
            here = {*listed, *plan.index.key_names, *plan.table.key_names}
            # The attributes that hide an item are added to the index automatically.
            if shape.soft_delete is not None and isinstance(plan.index.project, tuple):
                here.add(shape.fields[shape.soft_delete.field].stored)
            # A field with a default counts too: it would come back as that default, which is wrong.
            lacking = ", ".join(each.field for each in shape.attributes if each.stored not in here)
            if lacking:
                why = f"the index {plan.index.name} does not carry {lacking} of {shape.model.__name__}"
                yield Finding("P008", plan.name, why, "project them, or return entity.view(SmallerModel)")


SEMANTICS: tuple[Rule, ...] = (
    templates_are_the_entitys,
    parameters_have_the_fields_types,
    views_show_stored_fields,
    nothing_else_is_in_the_range,
    indexes_carry_what_is_read,
)


def _queries(design: CheckContext) -> Iterator[Plan]:
    return (plan for plan in design.plans if plan.kind == "query")
