"""Rules about secondary indexes: partitions, projections, what serves a pattern, what a write to them takes."""

from collections.abc import Sequence

from tablewright.design.cardinality import Cardinality
from tablewright.design.check.templates import MAX_GLOBAL, MAX_LOCAL, MAX_PROJECTED
from tablewright.design.errors import Severity
from tablewright.design.review.facts import Facts
from tablewright.design.review.facts.access import Pattern
from tablewright.design.review.facts.schema import (
    Attribute,
    Entity,
    Index,
    IndexUnits,
    KeyAttribute,
    KeyTemplate,
)
from tablewright.design.review.lookup import (
    attribute_cardinality,
    declared,
    entities_of,
    head,
    holes,
    index_named,
    indexes_of,
    is_projected,
    key_cardinality,
    key_halves,
    key_parts,
    table_named,
    template_of,
)
from tablewright.design.review.rule import Violation, Violations, rule, rules_in
from tablewright.english import plural

_BUSY = 500
_LOW = 50
_FEW = 1000


def _entities_in(facts: Facts, index: Index) -> tuple[Entity, ...]:
    """The entities whose items have an entry in an index."""
    names = [key.name for key in (index.hash, index.range) if key]
    return tuple(
        entity
        for entity in entities_of(facts, index.table)
        if all(template_of(entity, name) or declared(entity, name) for name in names)
    )


@rule("IDX-LOWCARD", "warning", "make the key sparse, or add a shard to it")
def idx_lowcard(facts: Facts) -> Violations:
    """The partition key of an index, or of a table with many writes, has few values, such as a status or a day.
    All items of one value share a partition, which takes 1000 write units a second."""
    for index in facts.indexes:
        if index.local or (index.sparse and not index.sparse.text):
            continue
        for entity in _entities_in(facts, index):
            writes = _writes_into(facts, index, entity)
            found = key_cardinality(entity, index.hash)
            is_alone = _is_low(found) and found.busy == 1 and not _is_popular(entity, index)
            if is_alone or _is_busy(found, writes):
                yield _few_values(entity, index.hash, f"{index.table}.{index.name}", found, writes)
    for entity in facts.entities:
        table = table_named(facts, entity.table)
        if table and entity.table_writes is not None:
            found = key_cardinality(entity, table.hash)
            # Few items may well share a partition; many writes may not.
            if _is_busy(found, entity.table_writes):
                yield _few_values(entity, table.hash, table.name, found, entity.table_writes)


def _few_values(
    entity: Entity, key: KeyAttribute, place: str, found: Cardinality, writes: float
) -> Violation:
    template = template_of(entity, key.name)
    evidence = f"{writes:g} writes a second into {_values(found)}" if writes else ""
    severity: Severity | None = "error" if _is_busy(found, writes) else None
    if template is None:
        where, line, what = place, key.line, key.name
    else:
        where, line, what = f"{entity.name}.{key.name}", template.line, _quoted(template)
    return Violation(where, line, f"{what} has {_values(found)}", evidence, severity)


def _writes_into(facts: Facts, index: Index, entity: Entity) -> float:
    """Writes in a second to the keys that an entity has in an index; those of the table where no others are known."""
    if entity.index_writes is not None:
        return next((each.writes for each in entity.index_writes if each.index == index.name), 0)
    table = table_named(facts, index.table)
    return table.writes if table else 0


def _is_low(found: Cardinality) -> bool:
    """Few values, for each shard if there are any; a sparse key and one that follows the clock are not meant."""
    return _is_few(found) and not (found.sparse or found.timed)


def _is_few(found: Cardinality) -> bool:
    return found.values is not None and found.busy is not None and found.values <= _LOW * found.busy


def _is_busy(found: Cardinality, writes: float) -> bool:
    """Whether each busy value has more writes in a second than are well in one partition, whatever its key."""
    return _is_few(found) and found.busy is not None and writes / found.busy > _BUSY


def _values(found: Cardinality) -> str:
    if not found.exact or found.values is None:
        return "few values"
    shards = f" in {found.busy} shards" if found.busy and found.busy > 1 else ""
    at_a_time = " at a time" if found.timed else ""
    return f"{plural(found.values, 'value')}{at_a_time}{shards}"


def _quoted(template: KeyTemplate) -> str:
    return f"'{template.text or template.template}'"


@rule("IDX-POPULAR", "warning", "add a shard to the key, and keep aggregates apart")
def idx_popular(facts: Facts) -> Violations:
    """A value of an index's partition key is shared by the items of most users.
    Their writes all go to one partition, and a read of it returns everybody."""
    for index in facts.indexes:
        for entity in _entities_in(facts, index):
            template = template_of(entity, index.hash.name)
            if template and _is_popular(entity, index):
                where = f"{entity.name}.{index.hash.name}"
                yield Violation(where, template.line, f"{_quoted(template)} is shared")


def _is_popular(entity: Entity, index: Index) -> bool:
    """Whether many people have a value of this key; a constant is the case of IDX-LOWCARD."""
    template = template_of(entity, index.hash.name)
    if not entity.owner or template is None or not holes(template.template):
        return False
    return _is_shared(key_cardinality(entity, index.hash))


def _is_shared(found: Cardinality) -> bool:
    return found.values is not None and found.values <= _FEW and found.busy == 1 and not found.sparse


@rule("IDX-DUPLICATE", "warning", "merge the two, and keep the other name as an alias")
def idx_duplicate(facts: Facts) -> Violations:
    """Two indexes of a table have the same keys, and one carries all that the other does.
    Each write pays for both, and one would do."""
    for place, index in enumerate(facts.indexes):
        for earlier in facts.indexes[:place]:
            same = (earlier.table, earlier.hash.name) == (index.table, index.hash.name)
            ranges = [each.range.name if each.range else "" for each in (earlier, index)]
            kinds = [each.projection.kind if each.projection else "" for each in (earlier, index)]
            if same and ranges[0] == ranges[1] and ("ALL" in kinds or kinds[0] == kinds[1]):
                why = f"it has the keys of {earlier.name}"
                yield Violation(
                    f"{index.table}.{index.name}", index.line, why, "1 write unit more for each write"
                )


@rule("IDX-NOT-SPARSE", "information", "drop the claim, or leave the attribute out of most items")
def idx_not_sparse(facts: Facts) -> Violations:
    """An index is called sparse, and each item has its key.
    It then holds every item, at the price of a full index."""
    for index in facts.indexes:
        if index.sparse is None or not index.sparse.text:
            continue
        names = [key.name for key in (index.hash, index.range) if key]
        for entity in _entities_in(facts, index):
            found = [declared(entity, name) for name in names]
            if all(attribute and attribute.required for attribute in found):
                yield Violation(f"{index.table}.{index.name}", index.sparse.line, "each item has its keys")


@rule("IDX-FILTERED", "error", "leave the key attribute out of the items that are not to be in the index")
def idx_filtered(facts: Facts) -> Violations:
    """An index is declared with a filter.
    DynamoDB has none: an item is in an index if it has its key attributes, and only then."""
    for index in facts.indexes:
        if index.filter:
            yield Violation(
                f"{index.table}.{index.name}", index.filter.line, f"the filter '{index.filter.text}'"
            )


@rule("IDX-LEAK", "error", "give the other entities no attribute of that name")
def idx_leak(facts: Facts) -> Violations:
    """An index is meant for one kind of item, and others have its keys too, or are held out by a filter only.
    They appear in it: results, prices and rights of the index are then wrong."""
    for index in facts.indexes:
        where = f"{index.table}.{index.name}"
        others = [entity.name for entity in _entities_in(facts, index) if entity.name not in index.entities]
        if index.entities and others:
            yield Violation(where, index.line, f"{', '.join(others)} would be in it too")
        entities = entities_of(facts, index.table)
        if index.filter and len(entities) > 1 and "entityType" in index.filter.text:
            why = "only a filter on the type holds other entities out"
            yield Violation(where, index.filter.line, why)


@rule("IDX-MISSING", "error", "add an index with that key, or make it a job")
def idx_missing(facts: Facts) -> Violations:
    """No key serves a pattern: the partition key is not given, or an attribute it selects by is in no key.
    It needs a Scan, or reads a whole partition and drops most of it."""
    for pattern in facts.patterns:
        if pattern.cached or pattern.verb not in ("query", "scan") or not (pattern.given or pattern.range):
            continue
        partition, sort = key_halves(facts, pattern.table, pattern.index)
        if partition is None:
            continue
        for entity in _entities_for(facts, pattern):
            needed = key_parts(entity, partition)
            known = {
                *needed,
                partition.name,
                *(key_parts(entity, sort) if sort else ()),
                sort.name if sort else "",
            }
            lacking = [
                name for name in needed if name not in (*pattern.given, *_fixed(entity, partition.name))
            ]
            unserved = [name for name in pattern.given if name not in known]
            if lacking and partition.name not in pattern.given:
                why = f"the partition key needs {', '.join(lacking)}, which is not given"
                yield Violation(pattern.name, pattern.line, why)
            elif unserved:
                yield Violation(pattern.name, pattern.line, f"no key part serves {', '.join(unserved)}")


def _entities_for(facts: Facts, pattern: Pattern) -> tuple[Entity, ...]:
    found = entities_of(facts, pattern.table)
    return tuple(entity for entity in found if pattern.entity in ("", entity.name))


def _fixed(entity: Entity, key: str) -> tuple[str, ...]:
    """Parts that a reader need not give: shards, which it reads all."""
    template = template_of(entity, key)
    return tuple(name for name in holes(template.template) if "shard" in name) if template else ()


@rule("IDX-WRONG-SORT", "error", "add an index whose sort key is that attribute")
def idx_wrong_sort(facts: Facts) -> Violations:
    """A pattern asks for a range of an attribute that is not the sort key it reads by.
    The query returns the whole partition, and the rest is filtered after it was paid for."""
    for pattern in facts.patterns:
        _, sort = key_halves(facts, pattern.table, pattern.index)
        if not pattern.range or sort is None:
            continue
        for entity in _entities_for(facts, pattern):
            if pattern.range in (sort.name, *key_parts(entity, sort)):
                continue
            why = f"{pattern.name} wants a range of {pattern.range}; the sort key is {sort.name}"
            yield Violation(pattern.name, pattern.line, why)
            yield Violation(f"{pattern.table}.{pattern.index or 'key'}", sort.line, why)


@rule("IDX-UNUSED", "warning", "remove it")
def idx_unused(facts: Facts) -> Violations:
    """No pattern reads an index.
    Each write of an item pays for it, and so does storage."""
    for index in facts.indexes:
        here = [pattern for pattern in facts.patterns if pattern.table == index.table]
        called = any(call.index == index.name for call in facts.calls)
        if here and not called and all(pattern.index != index.name for pattern in here):
            yield Violation(
                f"{index.table}.{index.name}",
                index.line,
                "no pattern reads it",
                "1 write unit for each write",
            )


@rule("IDX-UNNAMED", "error", "name the index in the call")
def idx_unnamed(facts: Facts) -> Violations:
    """A query compares the keys of an index and does not name the index.
    DynamoDB looks for them in the table's key, and refuses the call."""
    for call in facts.calls:
        for index in facts.indexes:
            if not call.index and index.hash.name in call.key_condition and call.table in ("", index.table):
                table = table_named(facts, index.table)
                if table is None or table.hash.name not in call.key_condition:
                    yield Violation(
                        call.name, call.line, f"it compares {index.hash.name} without naming {index.name}"
                    )


@rule("IDX-PROJECTION-UNSTATED", "error", "state ALL, KEYS_ONLY or the attributes")
def idx_projection_unstated(facts: Facts) -> Violations:
    """An index has no projection.
    DynamoDB requires one, and price and privacy of the index depend on it."""
    for index in facts.indexes:
        if index.projection is None:
            yield Violation(f"{index.table}.{index.name}", index.line, "no projection is stated")


def _strangers(facts: Facts, index: Index) -> list[tuple[Pattern, Entity]]:
    """The patterns that read items of many people from an index, for readers who are not staff."""
    return [
        (pattern, entity)
        for pattern in facts.patterns
        if pattern.index == index.name and pattern.table == index.table and pattern.audience in ("", "public")
        for entity in _entities_in(facts, index)
        if pattern.entity in ("", entity.name) and entity.owner and entity.owner not in pattern.given
    ]


@rule("IDX-OVEREXPOSE", "warning", "project the attributes that the pattern returns")
def idx_overexpose(facts: Facts) -> Violations:
    """An index that many read carries all attributes, personal ones among them.
    Each reader of the index can read them, and each copy must be erased too."""
    for index in facts.indexes:
        if index.projection is None or index.projection.kind != "ALL":
            continue
        for pattern, entity in _strangers(facts, index):
            personal = [a.name for a in entity.attributes if a.personal and a.name != entity.owner]
            if personal and pattern.given and not _is_lookup(entity, pattern):
                why = f"{pattern.name} can read {', '.join(personal)} of other people"
                yield Violation(pattern.name, pattern.line, why)
                yield Violation(f"{index.table}.{index.name}", index.projection.line, why)


def _is_lookup(entity: Entity, pattern: Pattern) -> bool:
    """Whether the reader must already know a value that few have: an address, an id."""
    found = [declared(entity, name) for name in pattern.given]
    return any(each and not _is_shared(attribute_cardinality(each)) for each in found)


@rule("SEC-ENUMERATE", "warning", "list only people who agreed to it, or return counts")
def sec_enumerate(facts: Facts) -> Violations:
    """A pattern lists people by a value that everybody knows, such as a country or a status.
    Any reader can collect the list of all users."""
    for index in facts.indexes:
        for pattern, entity in _strangers(facts, index):
            personal = any(attribute.personal for attribute in entity.attributes)
            if pattern.given and personal and not _is_lookup(entity, pattern):
                yield Violation(
                    pattern.name, pattern.line, f"it lists {entity.owner} by {', '.join(pattern.given)}"
                )


@rule(
    "IDX-AMPLIFY",
    "warning",
    "coarsen the key, leave the attribute out of the projection, or move it to another item",
)
def idx_amplify(facts: Facts) -> Violations:
    """An attribute that changes often is the key of an index, or is carried by one.
    Each change writes the index too: one unit where it is carried, two where it is a key."""
    for entity in facts.entities:
        indexes = [index for index in indexes_of(facts, entity.table) if index in _written(facts, entity)]
        for attribute in entity.attributes:
            taken = _index_units(entity, attribute, indexes)
            if not attribute.changes.startswith("every") or not taken:
                continue
            keys = [index for index in indexes if any(t.moves and t.index == index.name for t in taken)]
            units = attribute.change_units + sum(each.units for each in taken)
            evidence = f"{units:g} write units on {attribute.changes}, in place of {attribute.change_units:g}"
            why = f"{attribute.name} changes on {attribute.changes} and is in {', '.join(t.index for t in taken)}"
            yield Violation(f"{entity.name}.{attribute.name}", attribute.line, why, evidence)
            for index in keys:
                line = (
                    index.range.line
                    if index.range and index.range.name == attribute.name
                    else index.hash.line
                )
                yield Violation(f"{index.table}.{index.name}", line, why, evidence)
            for call in facts.calls:
                if (
                    call.entity == entity.name
                    and call.update
                    and any(s.path == attribute.name for s in call.sets)
                ):
                    yield Violation(call.name, call.update.line, why, evidence)


def _written(facts: Facts, entity: Entity) -> list[Index]:
    return [index for index in facts.indexes if entity in _entities_in(facts, index)]


def _index_units(entity: Entity, attribute: Attribute, indexes: Sequence[Index]) -> tuple[IndexUnits, ...]:
    """What a change of the attribute takes of each index that has it: as computed, or one unit, two for a key."""
    if attribute.index_units is not None:
        return attribute.index_units
    return tuple(
        IndexUnits(index=index.name, units=2 if moves else 1, moves=moves)
        for index in indexes
        if (moves := _is_key(entity, index, attribute.name)) or is_projected(index, attribute.name)
    )


def _is_key(entity: Entity, index: Index, name: str) -> bool:
    """Whether the attribute is a key of the index, or stands in the template of one."""
    return any(name in (key.name, *key_parts(entity, key)) for key in (index.hash, index.range) if key)


@rule("IDX-GSI-WCU", "error", "reserve at least as many write units for each index as for the table")
def idx_gsi_wcu(facts: Facts) -> Violations:
    """The indexes of a table have fewer reserved write units than the table.
    When an index is throttled, writes to the table are throttled with it."""
    for each in facts.capacities:
        if each.write is not None and each.index_write is not None and each.index_write < each.write:
            evidence = f"{each.write} units for the table, {each.index_write} for an index"
            yield Violation(each.table, each.line, "the indexes throttle the table", evidence)


@rule("IDX-LSI", "information", "consider a global index")
def idx_lsi(facts: Facts) -> Violations:
    """A local index limits all items of one partition key to 10 GB and can only be made with the table.
    A global index has neither limit, but no strongly consistent reads."""
    for index in facts.indexes:
        if index.local:
            yield Violation(
                f"{index.table}.{index.name}", index.line, "it is local: 10 GB for each partition key"
            )


@rule("IDX-STRONG", "error", "read the base table, or hold it by a guard item")
def idx_strong(facts: Facts) -> Violations:
    """A decision rests on a read of a global index, or a strongly consistent read of one is asked for.
    A global index lags behind the table, so the decision can rest on the past."""
    for pattern in facts.patterns:
        index = index_named(facts, pattern.table, pattern.index) if pattern.index else None
        if index and not index.local and (pattern.decides or pattern.consistent):
            what = pattern.decides or "a strongly consistent read"
            yield Violation(pattern.name, pattern.line, f"{what} rests on {index.name}")


@rule("IDX-CONFLICT", "error", "choose one index for it")
def idx_conflict(facts: Facts) -> Violations:
    """Two places put the same key on different indexes.
    Writers follow one and readers the other, and reads return nothing."""
    for index in facts.indexes:
        for text in index.holds:
            for entity in entities_of(facts, index.table):
                for key in entity.keys:
                    own = key.attribute in (index.hash.name, index.range.name if index.range else "")
                    same = head(key.template) == head(text.text) != "" and len(holes(key.template)) == 1
                    if own or not same or key.attribute not in _index_hashes(facts, index.table):
                        continue
                    if any(
                        head(k.template) == head(text.text) and k.attribute == index.hash.name
                        for k in entity.keys
                    ):
                        continue
                    if _is_listed_by_its_own(facts, index, key.attribute, text.text):
                        continue
                    why = f"'{text.text}' is listed for {index.name} and written to {key.attribute}"
                    yield Violation(f"{index.table}.{index.name}", text.line, why)
                    yield Violation(f"{entity.name}.{key.attribute}", key.line, why)


def _index_hashes(facts: Facts, table: str) -> set[str]:
    return {index.hash.name for index in indexes_of(facts, table)}


def _is_listed_by_its_own(facts: Facts, index: Index, attribute: str, text: str) -> bool:
    """Whether the index of that key attribute lists the same text too."""
    own = [each for each in indexes_of(facts, index.table) if each.hash.name == attribute]
    return any(head(held.text) == head(text) for each in own for held in each.holds)


@rule("IDX-ONE-AT-A-TIME", "error", "create one index after the other, and all that are declared")
def idx_one_at_a_time(facts: Facts) -> Violations:
    """A plan creates several indexes in one update of a table, or leaves declared indexes out.
    DynamoDB refuses the first, and patterns of the others fail."""
    steps = [step for step in facts.steps if step.action == "create indexes"]
    created = {text.text for step in steps for text in step.creates}
    for step in steps:
        if len(step.creates) > 1:
            yield Violation(
                step.action, step.creates[0].line, f"it creates {len(step.creates)} indexes at once"
            )
    missing = [index for index in facts.indexes if not index.local and index.name not in created]
    for index in missing if steps else ():
        why = f"no step creates {index.name}"
        yield Violation(f"{index.table}.{index.name}", index.line, why)
        yield Violation(
            steps[-1].action, steps[-1].creates[-1].line if steps[-1].creates else steps[-1].line, why
        )


@rule("IDX-LIMITS", "error", "share an index between entities, or project ALL")
def idx_limits(facts: Facts) -> Violations:
    """A table has more indexes, or they list more attributes, than DynamoDB allows.
    The table cannot be created."""
    for table in facts.tables:
        mine = indexes_of(facts, table.name)
        listed = sum(len(index.projection.names) for index in mine if index.projection)
        for count, most, what in (
            (sum(not index.local for index in mine), MAX_GLOBAL, "global indexes"),
            (sum(index.local for index in mine), MAX_LOCAL, "local indexes"),
            (listed, MAX_PROJECTED, "projected attributes"),
        ):
            if count > most:
                yield Violation(table.name, table.line, f"{count} {what}; DynamoDB allows {most}")


RULES = rules_in(globals())
