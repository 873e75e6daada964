"""Rules K* about indexes, guards of unique values, and copies."""

from collections.abc import Iterator

from tablewright.design.check.context import CheckContext, Rule
from tablewright.design.errors import Finding
from tablewright.design.tables import Index
from tablewright.design.vectors import VectorIndex


def copies_have_a_source(design: CheckContext) -> Iterator[Finding]:
    """K019: what is copied is there to be copied from."""
    shapes = {shape.tag: shape for shape in design.shapes}
    for shape in design.shapes:
        for copy in shape.copies:
            where, source = f"{shape.tag}.{copy.field}", shapes.get(copy.of)
            if source is None:
                known = ", ".join(tag for tag in shapes if tag != shape.tag) or "none"
                why = f"it copies from '{copy.of}', which is not an entity"
                yield Finding("K019", where, why, f"use one of {known}")
            elif copy.source not in source.fields:
                why = f"it copies '{copy.source}', which {copy.of} does not have"
                yield Finding("K019", where, why, f"use one of {', '.join(source.fields)}")


def nothing_leaks_into_an_index(design: CheckContext) -> Iterator[Finding]:
    """K011, K017: an entity stands only in the indexes it names, and guards in none."""
    for index in design.indexes:
        for shape in design.shapes:
            if shape.table != index.table or index in shape.on:
                continue
            here = {*shape.stored, *shape.derivations, *shape.table.key_names}
            if here.issuperset(index.key_names):
                names = ", ".join(index.key_names)
                why = f"it has the attributes {names} and so appears in {index.name}, which it does not name"
                fix = "give the entity a key in the index, or store a field under another name"
                yield Finding("K011", shape.tag, why, fix)
        for shape in design.shapes:
            for guard in shape.guards:
                here = {*guard.keep, *index.table.key_names}
                if guard.table == index.table and here.issuperset(index.key_names):
                    where, why = f"{shape.tag}.{guard.unique.name}", f"the guard would appear in {index.name}"
                    yield Finding("K017", where, why, "keep the value under another name")


def guards_fit_their_table(design: CheckContext) -> Iterator[Finding]:
    """K017: guards need a table whose key is text, and a key made from the unique value."""
    for shape in design.shapes:
        for guard in shape.guards:
            where, table = f"{shape.tag}.{guard.unique.name}", guard.table
            numeric = [
                k.name for s in design.shapes if s.table == table for k in s.primary if k.letter != "S"
            ]
            if numeric:
                why = f"the key {numeric[0]} of {table.name} is not text, so a guard cannot be stored there"
                yield Finding("K017", where, why, "name another table, with a text key, in the unique value")
            if shape.expires is not None and table.ttl is None:
                why = f"items expire, and their guards in {table.name} never would"
                yield Finding("K017", where, why, f"give {table.name} a TTL attribute")
            value = {(part.field, part.codec.name) for part in guard.value.parts}
            if not value:
                why = "its value is the same for every item"
                yield Finding("K017", where, why, "write a part, such as {email:lower}")
            halves = [half for half in (guard.pk, guard.sk) if half is not None]
            if {(part.field, part.codec.name) for half in halves for part in half.parts} != value:
                key = " / ".join(half.text for half in halves)
                why = f"the guard's key '{key}' is not made of the value '{guard.value.text}'"
                yield Finding("K017", where, why, "use the same parts in both")


def projections_show_what_hides(design: CheckContext) -> Iterator[Finding]:
    """K023: an index that hides expired or deleted items must carry what says so."""
    for shape in design.shapes:
        indexes: list[Index | VectorIndex] = [*shape.on]
        indexes += [one for one in design.vectors if one.table == shape.table and one.of in shape.stored]
        for index in indexes:
            if index.project == "KEYS_ONLY" and (shape.expires or shape.soft_delete):
                why = "items can expire or be deleted, and an index of keys only cannot tell"
                fix = "project the attributes patterns need; the attributes that hide items are added automatically"
                yield Finding("K023", f"{shape.tag}.{index.name}", why, fix)


RULES: tuple[Rule, ...] = (
    copies_have_a_source,
    nothing_leaks_into_an_index,
    guards_fit_their_table,
    projections_show_what_hides,
)
