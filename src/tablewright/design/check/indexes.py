"""Rules K* about indexes, guards of unique values, and copies."""

from collections.abc import Iterator

from tablewright.design.check.context import CheckContext, Rule
from tablewright.design.errors import Finding


def nothing_leaks_into_an_index(design: CheckContext) -> Iterator[Finding]:
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
                    "which it does not name",
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


def guards_fit_their_table(design: CheckContext) -> Iterator[Finding]:
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
                    f"the key {numeric[0]} of {guard.table.name} is not text, so a guard cannot be stored there",
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


def projections_show_what_hides(design: CheckContext) -> Iterator[Finding]:
    """K023: an index that hides expired or deleted items must carry what says so."""
    for shape in design.shapes:
        for index in shape.on:
            if index.project == "KEYS_ONLY" and (shape.expires or shape.soft_delete):
                yield Finding(
                    "K023",
                    f"{design.name}.{shape.tag}.{index.name}",
                    "items can expire or be deleted, and an index of keys only cannot tell",
                    "project the attributes patterns need; the attributes that hide items are added automatically",
                )


def copies_have_a_source(design: CheckContext) -> Iterator[Finding]:
    """K019: what is copied is there to be copied from."""
    shapes = {shape.tag: shape for shape in design.shapes}
    for shape in design.shapes:
        for copy in shape.copies:
            where, source = f"{design.name}.{shape.tag}.{copy.field}", shapes.get(copy.of)
            if source is None:
                known = ", ".join(tag for tag in shapes if tag != shape.tag) or "none"
                yield Finding(
                    "K019",
                    where,
                    f"it copies from '{copy.of}', which is not an entity",
                    f"use one of {known}",
                )
            elif copy.source not in source.fields:
                yield Finding(
                    "K019",
                    where,
                    f"it copies '{copy.source}', which {copy.of} does not have",
                    f"use one of {', '.join(source.fields)}",
                )


RULES: tuple[Rule, ...] = (
    copies_have_a_source,
    nothing_leaks_into_an_index,
    guards_fit_their_table,
    projections_show_what_hides,
)
