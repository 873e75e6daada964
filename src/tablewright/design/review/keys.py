"""Rules about keys: types, templates, order, what a key reveals."""

import re

from tablewright.design.review.facts import Facts
from tablewright.design.review.lookup import (
    TIMES,
    declarations,
    declared,
    entities_of,
    entity_named,
    holes,
    index_key_names,
    indexes_of,
    is_bounded,
    key_halves,
    key_parts,
    keyed_attributes,
    skeleton,
    table_named,
    template_of,
)
from tablewright.design.review.rule import Violation, Violations, rule, rules_in

_MOST_BYTES = {"hash": 2048, "range": 1024}
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")


@rule("KEY-TYPE", "error", "derive a text attribute for the key, and declare its type")
def key_type(facts: Facts) -> Violations:
    """A key attribute must be a text, a number or bytes, and be declared with the type that items have.
    An item whose key attribute has another type is refused, or is missing from the index."""
    for table in facts.tables:
        keys = [*table.definitions, table.hash, *([table.range] if table.range else [])]
        for index in indexes_of(facts, table.name):
            keys += [index.hash, *([index.range] if index.range else [])]
        for key in keys:
            for entity in entities_of(facts, table.name):
                if template_of(entity, key.name):
                    continue
                for attribute in declarations(entity, key.name):
                    where = f"{entity.name}.{key.name}"
                    if attribute.type not in ("S", "N", "B"):
                        why = f"it is a key and has the type {attribute.type}"
                        yield Violation(where, attribute.line, why)
                    if attribute.type != key.type:
                        why = f"it is declared as {key.type} and stored as {attribute.type}"
                        yield Violation(where, key.line, why)


@rule("KEY-NULLABLE", "error", "omit the attribute: the item is then absent from the index")
def key_nullable(facts: Facts) -> Violations:
    """A write stores NULL in an attribute that is the key of an index.
    DynamoDB refuses the whole write, because the type of a key attribute is fixed."""
    for call in facts.calls:
        keys = index_key_names(facts, call.table)
        for each in call.sets:
            if each.nullable and each.path in keys:
                yield Violation(f"{call.name}.{each.path}", each.line, "an index key may be written as NULL")


@rule("KEY-EMPTY", "error", "require a length of at least 1 where the value is entered")
def key_empty(facts: Facts) -> Violations:
    """A text that is a key may be empty.
    DynamoDB refuses an empty key with a ValidationException, for a table and for an index."""
    empties = [given for given in facts.stored_inputs if given.value == ""]
    for entity in facts.entities:
        for attribute, _, _ in keyed_attributes(facts, entity):
            if attribute.type != "S" or (attribute.min_length or 0) > 0:
                continue
            where = f"{entity.name}.{attribute.name}"
            if attribute.min_length == 0:
                yield Violation(where, attribute.line, "its shortest value is empty, and it is a key")
            for given in empties:
                why = "empty texts are stored, and the key has no minimum length"
                yield Violation(where, given.line, why)


@rule("KEY-UNDEFINED", "error", "declare the attribute with its type")
def key_undefined(facts: Facts) -> Violations:
    """A key or the TTL setting names an attribute that no list of attributes has.
    Items are then written without it: they are refused, missing from the index, or never expire."""
    for table in facts.tables:
        entities = [each for each in entities_of(facts, table.name) if each.attributes and not each.partial]
        if not entities:
            continue
        keys = [table.hash, *([table.range] if table.range else [])]
        for index in indexes_of(facts, table.name):
            keys += [index.hash, *([index.range] if index.range else [])]
        named = [(key.name, key.line) for key in keys]
        named += [(table.ttl.text, table.ttl.line)] if table.ttl else []
        for name, line in named:
            made = any(
                key.attribute == name and holes(key.template) != () for e in entities for key in e.keys
            )
            fixed = any(key.attribute == name and not holes(key.template) for e in entities for key in e.keys)
            known = any(attribute.name == name for e in entities for attribute in e.attributes)
            plain = _PLAIN_NAME.fullmatch(name)
            if not known and not fixed and not (made and plain):
                yield Violation(f"{table.name}.{name}", line, "it is not in the list of attributes")


@rule("KEY-NAME", "warning", "use letters, digits and underscores")
def key_name(facts: Facts) -> Violations:
    """The name of a key attribute has characters that an expression cannot contain.
    Each expression then needs an alias for it, and each console query too."""
    for table in facts.tables:
        for key in (table.hash, table.range):
            if key and not _PLAIN_NAME.fullmatch(key.name):
                yield Violation(
                    f"{table.name}.{key.name}", key.line, "the name needs an alias in each expression"
                )
    for index in facts.indexes:
        for key in (index.hash, index.range):
            if key and not _PLAIN_NAME.fullmatch(key.name):
                yield Violation(
                    f"{index.name}.{key.name}", key.line, "the name needs an alias in each expression"
                )


@rule("KEY-TIME-ONLY", "error", "append a unique id to the sort key")
def key_time_only(facts: Facts) -> Violations:
    """The sort key of an event is only its time.
    Two events of one partition at the same moment have one key, and the second replaces the first."""
    for table in facts.tables:
        if table.range is None:
            continue
        for entity in entities_of(facts, table.name):
            parts = key_parts(entity, table.range)
            found = declared(entity, parts[0]) if len(parts) == 1 else None
            if found and found.format in TIMES:
                template = template_of(entity, table.range.name)
                line = template.line if template else table.range.line
                where, why = f"{entity.name}.{table.range.name}", "the sort key is only a time"
                if entity.created_if_absent:
                    yield Violation(where, line, f"{why}; the second is refused", severity="warning")
                else:
                    yield Violation(where, line, why)


@rule("KEY-SECOND-ID", "error", "use a sequence, a ULID or a UUID")
def key_second_id(facts: Facts) -> Violations:
    """An id is made from the seconds of the clock.
    Two that are made in the same second are equal, and one item replaces the other."""
    for each in facts.ids:
        if each.epoch_seconds and not each.random_bits and not each.sequence:
            yield Violation(each.name, each.line, f"'{each.template}' has one value in a second")


@rule("KEY-UNREACHABLE", "error", "remove the part from the key, or add a lookup that returns it")
def key_unreachable(facts: Facts) -> Violations:
    """A call must give a part of the key that is not among its inputs.
    The item cannot be addressed: a made-up part creates a second item."""
    for call in facts.calls:
        if call.inputs is None:
            continue
        for key in call.key:
            for part in holes(key.template):
                if part in call.inputs:
                    continue
                why = f"{call.name} does not know '{part}', which is part of {key.attribute}"
                yield Violation(f"{call.name}.{key.attribute}", key.line, why)
                entity = entity_named(facts, call.entity)
                template = template_of(entity, key.attribute) if entity else None
                if template:
                    yield Violation(f"{call.entity}.{key.attribute}", template.line, why)


@rule("KEY-COLLISION", "error", "begin each template with a literal of its own")
def key_collision(facts: Facts) -> Violations:
    """Two kinds of items can have the same key, or share a partition whose parts mean different things.
    A write of one replaces the other, or a read of one returns both."""
    for one in facts.entities:
        for other in facts.entities:
            if one is other or one.table != other.table:
                continue
            table = table_named(facts, one.table)
            primary = [key.name for key in (table.hash, table.range) if key] if table else []
            hashes = [index.hash.name for index in indexes_of(facts, one.table)]
            for key in one.keys:
                twin = template_of(other, key.attribute)
                if twin is None or skeleton(twin.template) != skeleton(key.template):
                    continue
                if key.attribute in hashes and holes(twin.template) != holes(key.template):
                    why = f"'{key.template}' and '{twin.template}' of {other.name} may be the same text"
                    yield Violation(f"{one.name}.{key.attribute}", key.line, why)
            mine = [template_of(one, name) for name in primary]
            theirs = [template_of(other, name) for name in primary]
            if mine and all(
                a is not None and b is not None and skeleton(a.template) == skeleton(b.template)
                for a, b in zip(mine, theirs, strict=True)
            ):
                line = mine[-1].line if mine[-1] else one.line
                yield Violation(one.name, line, f"its key may be that of a {other.name}")


@rule("KEY-DELIMITER", "error", "state the alphabet of the part, or escape the delimiter")
def key_delimiter(facts: Facts) -> Violations:
    """A part of a key is free text, so that it may contain the delimiter.
    Two different values can then make one key, and a prefix can match the wrong items."""
    for entity in facts.entities:
        for key in entity.keys:
            for name in holes(key.template):
                part = declared(entity, name)
                if (
                    part
                    and part.type == "S"
                    and not is_bounded(part)
                    and not part.escaped
                    and not part.hashed
                ):
                    why = f"'{name}' in '{key.template}' may contain a delimiter"
                    yield Violation(f"{entity.name}.{key.attribute}", key.line, why)
    for each in facts.ids:
        for name in holes(each.template):
            part = next((known for known in each.parts if known.name == name), None)
            if part and not is_bounded(part) and not part.escaped:
                yield Violation(
                    each.name, each.line, f"'{name}' in '{each.template}' may contain a delimiter"
                )


@rule("KEY-PAD", "error", "write the number with a fixed number of digits")
def key_pad(facts: Facts) -> Violations:
    """A number is part of a text key without a fixed width.
    Text sorts 10 before 9, so ranges and the order of results are wrong."""
    for entity in facts.entities:
        for key in entity.keys:
            for name in holes(key.template):
                part = declared(entity, name)
                if part and part.type == "N" and part.digits is None and key.template != f"{{{name}}}":
                    why = f"'{name}' in '{key.template}' is a number without a width"
                    yield Violation(f"{entity.name}.{key.attribute}", key.line, why)


@rule("KEY-PREFIX", "error", "end the prefix with the delimiter")
def key_prefix(facts: Facts) -> Violations:
    """A prefix query ends inside of a part, not at a delimiter.
    The prefix `u1` also matches the items of `u10`."""
    for pattern in facts.patterns:
        if not pattern.prefix.endswith("}"):
            continue
        last = holes(pattern.prefix)[-1]
        _, sort = key_halves(facts, pattern.table, pattern.index)
        for entity in entities_of(facts, pattern.table):
            template = template_of(entity, sort.name) if sort else None
            if template is None or last not in holes(template.template):
                continue
            behind = template.template.partition(f"{{{last}}}")[2]
            if behind:
                why = f"the prefix '{pattern.prefix}' ends before the delimiter of '{template.template}'"
                yield Violation(pattern.name, pattern.line, why)


@rule("KEY-ORDER", "error", "add an index on the time, or use ids that are in order of time")
def key_order(facts: Facts) -> Violations:
    """A pattern asks for items by time, and the sort key is random or in another order.
    A query returns items in the order of the sort key alone."""
    for pattern in facts.patterns:
        if pattern.order != "time":
            continue
        _, sort = key_halves(facts, pattern.table, pattern.index)
        for entity in entities_of(facts, pattern.table):
            if pattern.entity not in ("", entity.name):
                continue
            parts = key_parts(entity, sort) if sort else ()
            first = declared(entity, parts[0]) if parts else None
            if sort is None or (first and first.format not in (*TIMES, "ulid", "date") and first.type != "N"):
                name = sort.name if sort else "nothing"
                yield Violation(pattern.name, pattern.line, f"it wants the order of time and reads by {name}")


@rule("KEY-PII", "warning", "use a keyed hash or a surrogate id in the key")
def key_pii(facts: Facts) -> Violations:
    """A key contains personal data in clear text.
    Keys appear in logs, metrics, page tokens and error messages, and they cannot be changed or encrypted by field."""
    for entity in facts.entities:
        for attribute, what, line in keyed_attributes(facts, entity):
            if attribute.personal and not attribute.hashed:
                where = f"{entity.name}.{attribute.name}"
                yield Violation(where, line, f"it is personal and in the key of {what}")
        for key in entity.guard_keys:
            for name in holes(key.template):
                part = declared(entity, name)
                if part and part.personal and not part.hashed:
                    why = f"it is personal and in the key of a guard, '{key.text or key.template}'"
                    yield Violation(f"{entity.name}.{name}", key.line, why)
    for each in facts.ids:
        for part in each.parts:
            if part.personal and not part.hashed:
                yield Violation(
                    each.name, each.line, f"'{part.name}' is personal and part of '{each.template}'"
                )


@rule("KEY-CASE", "warning", "normalise the value before it is stored and looked up")
def key_case(facts: Facts) -> Violations:
    """A natural key such as an e-mail address or a code is used as it was typed.
    The same address in another case is then another item, and a lookup misses it."""
    for entity in facts.entities:
        for attribute, what, line in keyed_attributes(facts, entity):
            natural = attribute.format in ("email", "code")
            if natural and not attribute.normalised and not attribute.values:
                where = f"{entity.name}.{attribute.name}"
                yield Violation(where, line, f"it is a key of {what} and is not normalised")


@rule("KEY-SIZE", "error", "bound the length of each part")
def key_size(facts: Facts) -> Violations:
    """A key may become longer than DynamoDB allows: 2048 bytes for a partition key, 1024 for a sort key.
    The write of such an item is refused."""
    for entity in facts.entities:
        table = table_named(facts, entity.table)
        if table is None:
            continue
        for half, key in (("hash", table.hash), ("range", table.range)):
            template = template_of(entity, key.name) if key else None
            for name in holes(template.template) if template else ():
                part, most = declared(entity, name), _MOST_BYTES[half]
                if template is None or part is None or part.hashed or part.length_checked:
                    continue
                where = f"{entity.name}.{template.attribute}"
                if part.type == "S" and not is_bounded(part):
                    yield Violation(
                        where, template.line, f"'{name}' has no greatest length; a key has {most} bytes"
                    )
                elif (part.max or 0) * 4 > most:
                    evidence = f"{part.max} characters are up to {(part.max or 0) * 4} bytes"
                    yield Violation(
                        where, template.line, f"'{name}' may fill more than {most} bytes", evidence
                    )


@rule("KEY-IMMUTABLE", "error", "create a new table with the new key and copy the items")
def key_immutable(facts: Facts) -> Violations:
    """A step uses a table with another key than it has.
    The key of a table cannot be changed: items of the new form are refused there."""
    for step in facts.steps:
        table = table_named(facts, step.table.text) if step.table else None
        if table is None or not step.keys:
            continue
        has = tuple(key.name for key in (table.hash, table.range) if key)
        if has != step.keys:
            why = f"{table.name} has the key {', '.join(has)}; the step needs {', '.join(step.keys)}"
            yield Violation(f"{step.action} {table.name}", step.line, why)


@rule("ID-ENTROPY", "warning", "use the whole id, and create under the condition that the key is absent")
def id_entropy(facts: Facts) -> Violations:
    """A short random id is created without a condition.
    After some thousand items two ids are equal, and the second item replaces the first."""
    for each in facts.ids:
        if each.random_bits is None or not 0 < each.random_bits < 64:
            continue
        for call in facts.calls:
            if call.verb == "put" and call.entity == each.entity and call.condition is None:
                even = int(1.1774 * 2 ** (each.random_bits / 2))
                evidence = f"{each.random_bits} bits: among {even} ids a collision is as likely as not"
                yield Violation(each.name, each.line, f"{call.name} puts it without a condition", evidence)


@rule("ID-PARSE", "error", "store the value as an attribute")
def id_parse(facts: Facts) -> Violations:
    """A value is taken out of an id by splitting it.
    An id whose parts contain the separator yields another value, here another owner."""
    for each in facts.derivations:
        if each.how == "split":
            yield Violation(each.value, each.line, f"it is split out of {each.source}")


@rule("ID-SEQUENCE", "error", "allocate the number by a counter or by a put under a condition")
def id_sequence(facts: Facts) -> Violations:
    """A sequential number has no stated way to be allocated.
    Two writers at once take the same number, and one item replaces the other."""
    for each in facts.ids:
        if each.sequence and not each.allocation:
            yield Violation(
                each.name, each.line, f"'{each.template or each.name}' is a sequence without allocation"
            )


@rule("SHARD-UNSTABLE", "error", "use SHA-256 of the value")
def shard_unstable(facts: Facts) -> Violations:
    """A shard number comes from a hash that differs from process to process.
    An item is then written to one shard and looked up in another."""
    for shard in facts.shards:
        if shard.function in ("hash()", "hashCode()", "object hash"):
            yield Violation(
                shard.partition, shard.line, f"{shard.function} of {shard.source} is salted for each process"
            )


@rule("SHARD-NOOP", "warning", "compute the shard from the id of the item")
def shard_noop(facts: Facts) -> Violations:
    """A shard number is computed from the partition key itself.
    All items of a partition get the same shard, so the load stays where it was."""
    for shard in facts.shards:
        if shard.source in holes(shard.partition):
            yield Violation(shard.partition, shard.line, f"{shard.source} always gives the same shard")


RULES = rules_in(globals())
