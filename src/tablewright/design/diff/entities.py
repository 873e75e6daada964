"""What changes in entities: their keys, their attributes, their promises. Pure.

Must hold: a change of the primary key's template is a new table; whatever would leave existing items unreadable or out
of an index is a backfill, unless the entity's `Schema` has a new form for them.
"""

from collections.abc import Iterator, Mapping

from tablewright.design.attributes import Attribute, kind_of
from tablewright.design.diff.changes import ABSENT, Change, pairs, text
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.words import field_words

# Promises that concern what is written from now on.
_PROMISES = ("version", "soft_delete", "states", "immutable", "copies")


def entity_changes(old: Mapping[str, EntitySpec], new: Mapping[str, EntitySpec]) -> Iterator[Change]:
    for tag, before, after in pairs(old, new):
        if before is None and after is not None:
            yield Change("entity", f"{after.table.name}.{tag}", ABSENT, text(dict(after.texts)))
        elif after is None and before is not None:
            why = "its items stay in the table and no entity reads them"
            yield Change("entity", f"{before.table.name}.{tag}", text(dict(before.texts)), ABSENT, why=why)
        elif before is not None and after is not None:
            yield from _entity(before, after)


def _entity(old: EntitySpec, new: EntitySpec) -> Iterator[Change]:
    where = f"{new.table.name}.{new.tag}"
    if old.table.name != new.table.name:
        why = "its items are in another table"
        yield Change(
            "entity", where, old.table.name, new.table.name, "new table", why, old.table.name, new.tag
        )
    yield from _keys(old, new, where)
    yield from _derived(old, new, where)
    yield from _fields(old, new, where)
    yield from _promises(old, new, where)


def _keys(old: EntitySpec, new: EntitySpec, where: str) -> Iterator[Change]:
    before = {key.name: key.template.text for key in old.primary}
    after = {key.name: key.template.text for key in new.primary}
    for name, one, other in pairs(before, after):
        if one != other:
            yield Change(
                "key", f"{where}.{name}", one or ABSENT, other or ABSENT, "new table",
                "existing items have other keys", old.table.name, new.tag,
            )  # fmt: skip


def _derived(old: EntitySpec, new: EntitySpec, where: str) -> Iterator[Change]:
    """Attributes that are made from fields: keys of indexes, and declared ones."""
    before = {name: each.text for name, each in old.derivations.items()}
    after = {name: each.text for name, each in new.derivations.items()}
    if old.expires != new.expires and new.table.ttl:
        before[new.table.ttl], after[new.table.ttl] = text(old.expires), text(new.expires)
    for name, one, other in pairs(before, after):
        if one != other:
            why = "existing items lack it" if one is None else "existing items have the old text"
            yield Change(
                "key" if name in _index_names(new) else "attribute", f"{where}.{name}", one or ABSENT, other or ABSENT,
                "backfill", why, new.table.name, new.tag, (name,),
            )  # fmt: skip


def _index_names(shape: EntitySpec) -> set[str]:
    return {key.name for keys in shape.index_keys.values() for key in keys}


def _fields(old: EntitySpec, new: EntitySpec, where: str) -> Iterator[Change]:
    is_new_form = (new.schema.version if new.schema else 1) > (old.schema.version if old.schema else 1)
    for name, before, after in pairs(old.fields, new.fields):
        one, other = _field_text(before), _field_text(after)
        if one == other and (before is None or after is None or before.stored == after.stored):
            continue
        why = "" if is_new_form or after is None else _unreadable(new, name, before, after)
        yield Change(
            "field", f"{where}.{name}", one, other, "backfill" if why else "nothing", why,
            new.table.name if why else "", new.tag if why else "", (after.stored,) if why and after else (),
            after.kind.letter if after else "S",
        )  # fmt: skip


def _unreadable(new: EntitySpec, name: str, before: Attribute | None, after: Attribute) -> str:
    """Why existing items are not what the new entity expects; empty if they are."""
    if before is None:
        field = (new.whole or new.model).model_fields[name]
        return "existing items lack it, and it has no default" if field.is_required() else ""
    if before.stored != after.stored:
        return f"existing items have it under the name {before.stored}"
    if before.kind.letter != after.kind.letter:
        return f"existing items have it as type {before.kind.letter}, not {after.kind.letter}"
    if _member(before) != _member(after):
        return f"existing items have members of type {_member(before)}, not {_member(after)}"
    if before.optional and not after.optional:
        return "existing items may have it empty"
    gone = sorted(set(before.kind.choices) - set(after.kind.choices)) if after.kind.choices else []
    return f"existing items may have {', '.join(gone)}" if gone else ""


def _member(attribute: Attribute) -> str:
    """The type letter of the members of a list, map or set; empty if it is none of a known type."""
    members = attribute.kind.members
    return "" if members is None else kind_of(members, attribute.field).letter


def _field_text(attribute: Attribute | None) -> str:
    if attribute is None:
        return ABSENT
    return field_words(attribute) + (" or none" if attribute.optional else "")


def _promises(old: EntitySpec, new: EntitySpec, where: str) -> Iterator[Change]:
    for name in _PROMISES:
        one, other = getattr(old, name), getattr(new, name)
        if one != other:
            yield Change("entity", f"{where}.{name}", text(one), text(other))
    if old.retention != new.retention:
        one, other = (shape.retention.words if shape.retention else "none" for shape in (old, new))
        yield Change("retention", where, one, other)
    classes = ({name: each.value for name, each in shape.data.items()} for shape in (old, new))
    for name, before, after in pairs(*classes):
        if before != after:
            yield Change("field", f"{where}.{name} data class", before or "none", after or "none")
    guards = ({each.name: each for each in shape.unique} for shape in (old, new))
    for name, before, after in pairs(*guards):
        if before != after:
            why = (
                "existing items have no guard: write each of them again with Db"
                if after
                else "its guards stay"
            )
            one, other = (each.value if each else ABSENT for each in (before, after))
            yield Change(
                "entity", f"{where}.unique {name}", one, other, "backfill" if after else "nothing", why
            )
