"""Questions that several rules ask of facts: which attribute is meant, what a key is made of. Pure."""

import re
from collections.abc import Iterator

from tablewright.design.cardinality import (
    TIMED,
    UNBOUNDED,
    Cardinality,
    of_choices,
    of_shards,
    product,
)
from tablewright.design.review.facts import Facts
from tablewright.design.review.facts.schema import Attribute, Entity, Index, KeyAttribute, KeyTemplate, Table

_HOLE = re.compile(r"\{([A-Za-z_]\w*)[^{}]*\}")
# With the number of shards, of which a document needs no other word: {shard.4}, {order_id:shard.4}.
_PART = re.compile(r"\{([A-Za-z_]\w*)(?:(?::shard|(?<=\{shard))\.(\d+)|[^{}]*)\}")
# A status of which no value is listed: few, and not known how many.
UNLISTED = Cardinality(1, 1, exact=False)
BOUNDED = ("uuid", "ulid", "iso", "date", "status", "id", "email", "phone", "code", "digest")
TIMES = ("iso", "epoch")


def holes(template: str) -> tuple[str, ...]:
    """The names in a template, in order."""
    return tuple(_HOLE.findall(template))


def skeleton(template: str) -> str:
    """A template without the names in its holes."""
    return _HOLE.sub("{}", template)


def head(template: str) -> str:
    """The literal a template begins with."""
    return template.partition("{")[0]


def entities_of(facts: Facts, table: str) -> tuple[Entity, ...]:
    return tuple(entity for entity in facts.entities if entity.table == table)


def entity_named(facts: Facts, name: str) -> Entity | None:
    return next((entity for entity in facts.entities if entity.name == name), None)


def indexes_of(facts: Facts, table: str) -> tuple[Index, ...]:
    return tuple(index for index in facts.indexes if index.table == table)


def table_named(facts: Facts, name: str) -> Table | None:
    return next((table for table in facts.tables if table.name == name), None)


def index_named(facts: Facts, table: str, name: str) -> Index | None:
    return next((index for index in facts.indexes if index.name == name and table in ("", index.table)), None)


def declarations(entity: Entity, name: str) -> tuple[Attribute, ...]:
    """Each place that declares an attribute of an entity, or a part of its keys."""
    return tuple(each for each in (*entity.attributes, *entity.parts) if each.name == name)


def declared(entity: Entity, name: str) -> Attribute | None:
    return next(iter(declarations(entity, name)), None)


def template_of(entity: Entity, attribute: str) -> KeyTemplate | None:
    return next((key for key in entity.keys if key.attribute == attribute), None)


def key_parts(entity: Entity, key: KeyAttribute) -> tuple[str, ...]:
    """The attributes that a key attribute of an entity is made from: itself, or the holes of its template."""
    template = template_of(entity, key.name)
    return holes(template.template) if template else (key.name,)


def key_halves(facts: Facts, table: str, index: str) -> tuple[KeyAttribute | None, KeyAttribute | None]:
    """The key that a read of a table, or of one of its indexes, goes by."""
    found = index_named(facts, table, index) if index else table_named(facts, table)
    return (found.hash, found.range) if found else (None, None)


def index_key_names(facts: Facts, table: str) -> frozenset[str]:
    """The attributes that are a key of an index of a table."""
    keys = [key for index in indexes_of(facts, table) for key in (index.hash, index.range) if key]
    return frozenset(key.name for key in keys)


def keyed_attributes(facts: Facts, entity: Entity) -> Iterator[tuple[Attribute, str, int]]:
    """Each attribute that stands in a key of an entity: the attribute, what the key is, the line that puts it there.

    A key attribute without a template is itself; of one with a template, each hole is one.
    """
    table = table_named(facts, entity.table)
    halves = [("the table", table.hash), ("the table", table.range)] if table else []
    for index in indexes_of(facts, entity.table):
        halves += [(index.name, index.hash), (index.name, index.range)]
    for what, key in halves:
        if key is None:
            continue
        template = template_of(entity, key.name)
        for name in key_parts(entity, key):
            attribute = declared(entity, name)
            if attribute:
                yield attribute, what, template.line if template else key.line


def attribute_cardinality(attribute: Attribute) -> Cardinality:
    """How many values an attribute, or a part of a key, has."""
    if attribute.shards:
        return of_shards(attribute.shards)
    if attribute.timed or attribute.format == "date":
        return TIMED
    count = attribute.cardinality or len(attribute.values) or (2 if attribute.type == "BOOL" else 0)
    if count:
        return of_choices(count, sparse=attribute.sparse)
    return UNLISTED if attribute.format == "status" else UNBOUNDED


def key_cardinality(entity: Entity, key: KeyAttribute) -> Cardinality:
    """How many values a key attribute of an entity has: its own, or those of its template."""
    template = template_of(entity, key.name)
    if template is None:
        return _part_cardinality(entity, key.name, "")
    return product(_part_cardinality(entity, *found) for found in _PART.findall(template.template))


def _part_cardinality(entity: Entity, name: str, shards: str) -> Cardinality:
    if shards:
        return of_shards(int(shards))
    attribute = declared(entity, name)
    return UNBOUNDED if attribute is None else attribute_cardinality(attribute)


def is_bounded(attribute: Attribute) -> bool:
    """Whether the form of a text is known, so that it has an alphabet and a length."""
    return bool(
        attribute.format in BOUNDED or attribute.values or attribute.max or attribute.type in ("N", "BOOL")
    )


def is_projected(index: Index, attribute: str) -> bool:
    """Whether an index carries an attribute, as a key or not."""
    if attribute in (index.hash.name, index.range.name if index.range else ""):
        return True
    projection = index.projection
    return bool(projection and (projection.kind == "ALL" or attribute in projection.names))


def has_personal_data(entity: Entity) -> bool:
    return any(attribute.personal for attribute in entity.attributes)
