"""Rules about expressions and calls: what a write can break, what a read can miss."""

import re

from tablewright.design.review.facts import Facts
from tablewright.design.review.facts.access import Call
from tablewright.design.review.lookup import (
    declared,
    entities_of,
    entity_named,
    index_key_names,
    key_halves,
    key_parts,
    table_named,
)
from tablewright.design.review.rule import Violation, Violations, rule, rules_in
from tablewright.expressions.reserved import is_reserved

_KEYWORDS = ("SET", "ADD", "REMOVE", "DELETE", "AND", "OR", "NOT", "IN", "BETWEEN")
_FUNCTIONS = ("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size",
              "if_not_exists", "list_append")  # fmt: skip
_WORD = re.compile(r"(?<![#:\w.])[A-Za-z_]\w*")
_SUM = re.compile(r"([#\w.]+)\s*=\s*\1\s*\+")
_MOST_IN_A_TRANSACTION = 100


@rule("EXPR-RESERVED", "error", "write #name and define it in ExpressionAttributeNames")
def expr_reserved(facts: Facts) -> Violations:
    """An expression contains a reserved word as the name of an attribute.
    DynamoDB refuses the call with a ValidationException each time."""
    for call in facts.calls:
        for text in (call.update, call.condition, call.filter):
            words = _WORD.findall(text.text) if text else []
            for word in dict.fromkeys(words):
                if is_reserved(word) and word.upper() not in _KEYWORDS and word not in _FUNCTIONS and text:
                    yield Violation(call.name, text.line, f"'{word}' is a reserved word")


@rule("EXPR-DUPLICATE", "error", "merge the two into one")
def expr_duplicate(facts: Facts) -> Violations:
    """A call has the same argument twice.
    It is a syntax error, or the second value replaces the first, so the expression lacks its values."""
    for call in facts.calls:
        seen: set[str] = set()
        for argument in call.arguments:
            if argument.text in seen:
                yield Violation(call.name, argument.line, f"{argument.text} is given twice")
            seen.add(argument.text)


def _segments(path: str) -> tuple[str, ...]:
    return tuple(re.split(r"[.\[]", path))


@rule("EXPR-OVERLAP", "error", "make two updates, or keep the counts under attributes of their own")
def expr_overlap(facts: Facts) -> Violations:
    """One update writes an attribute and a path inside of it.
    DynamoDB refuses it: two document paths overlap with each other."""
    for call in facts.calls:
        paths = [(_segments(each.path), each) for each in call.sets] if call.verb == "update" else []
        for place, (path, each) in enumerate(paths):
            for other, _ in paths[:place]:
                short, long = sorted((path, other), key=len)
                if long[: len(short)] == short:
                    yield Violation(call.name, each.line, f"{'.'.join(other)} and {each.path} overlap")


@rule("EXPR-PARENT", "error", "create the parent first, or store one attribute for each entry")
def expr_parent(facts: Facts) -> Violations:
    """An update writes inside of a map that may not exist yet.
    DynamoDB refuses it: the document path is invalid for update, and the first event of an item is lost."""
    for call in facts.calls:
        if call.verb != "update" or not call.creates:
            continue
        entity = entity_named(facts, call.entity)
        written = {each.path for each in call.sets}
        for attribute in entity.attributes if entity else ():
            if attribute.type == "M" and attribute.entries and attribute.name not in written:
                why = f"{call.name} may create the item without it, and its entries are {attribute.entries}"
                yield Violation(f"{call.entity}.{attribute.name}", attribute.line, why)
        for each in call.sets:
            parent = _segments(each.path)[0]
            if len(_segments(each.path)) > 1 and parent not in written:
                yield Violation(call.name, each.line, f"'{parent}' may be absent when {each.path} is written")


@rule("EXPR-COUNTER", "warning", "write ADD, or if_not_exists(x, :zero) + :n")
def expr_counter(facts: Facts) -> Violations:
    """A counter is written as `x = x + n`.
    If the attribute is absent DynamoDB refuses the update, and the count is lost."""
    for call in facts.calls:
        found = _SUM.search(call.update.text) if call.update else None
        if found and call.update:
            yield Violation(call.name, call.update.line, f"'{found[1]}' is added to and may be absent")


def _asks_for_existence(call: Call) -> bool:
    text = call.condition.text if call.condition else ""
    return "attribute_exists" in text or bool(re.search(r"[\w#]+ = :", text))


def _may_create(call: Call) -> bool:
    return call.creates or bool(call.condition and "attribute_not_exists" in call.condition.text)


@rule("EXPR-GHOST", "error", "add the condition attribute_exists on the key")
def expr_ghost(facts: Facts) -> Violations:
    """An update of an item that should exist has no condition.
    With a wrong or a deleted key it creates an item that has only the updated attributes."""
    for call in facts.calls:
        entity = entity_named(facts, call.entity)
        if call.verb != "update" or entity is None or _may_create(call) or _asks_for_existence(call):
            continue
        required = [attribute.name for attribute in entity.attributes if attribute.required]
        if required:
            why = f"an absent {entity.name} would be created without {', '.join(required[:3])}"
            yield Violation(call.name, call.line, why)


@rule("EXPR-INCOMPLETE", "error", "set each required attribute and each index key")
def expr_incomplete(facts: Facts) -> Violations:
    """An update that may create an item does not set all that the entity needs.
    The item is then invalid, and absent from the indexes whose keys are missing."""
    for call in facts.calls:
        entity = entity_named(facts, call.entity)
        if call.verb != "update" or entity is None or not _may_create(call):
            continue
        table = table_named(facts, entity.table)
        keys = {key.name for key in (table.hash, table.range) if key} if table else set()
        needed = {
            a.name for a in entity.attributes if a.required or a.name in index_key_names(facts, entity.table)
        }
        made = {each.path.partition(".")[0] for each in call.sets}
        missing = sorted(needed - keys - made)
        if missing:
            line = call.update.line if call.update else call.line
            yield Violation(call.name, line, f"a new {entity.name} would lack {', '.join(missing)}")


@rule("EXPR-LIMIT-FILTER", "error", "put the selection into the key, or read on until the page is full")
def expr_limit_filter(facts: Facts) -> Violations:
    """A call uses Limit as the size of a page together with a filter.
    Limit counts items before the filter: pages come short or empty while more items follow."""
    for call in facts.calls:
        if call.filter and call.limit is not None:
            yield Violation(
                call.name,
                call.filter.line,
                f"a page of {call.limit or 'n'} is filtered by {call.filter.text}",
            )


@rule("EXPR-NOPAGE", "warning", "read page by page")
def expr_nopage(facts: Facts) -> Violations:
    """A query or a scan reads one page and has no limit.
    DynamoDB returns at most 1 MB: what follows is lost without an error."""
    for call in facts.calls:
        if call.verb in ("query", "scan") and not call.pages and call.limit is None:
            yield Violation(call.name, call.line, "only the first 1 MB is read")


@rule("EXPR-SCAN", "warning", "add an index, or cache the result")
def expr_scan(facts: Facts) -> Violations:
    """A request of a user scans a table.
    Its price and its time grow with the whole table, whatever it returns."""
    for pattern in facts.patterns:
        if pattern.verb == "scan" and pattern.online and not pattern.cached:
            yield Violation(pattern.name, pattern.line, f"it scans {pattern.table}")
    for call in facts.calls:
        if call.verb == "scan" and call.online:
            yield Violation(call.name, call.line, f"it scans {call.table}")


@rule("EXPR-UNTYPED", "error", "call the table object with its name, or write typed values")
def expr_untyped(facts: Facts) -> Violations:
    """A call gives plain values to the low-level client, or names no table.
    The client accepts only typed values such as {"S": "..."}, and refuses the call before it is sent."""
    for call in facts.calls:
        if call.client == "client" and call.values == "plain":
            yield Violation(call.name, call.line, "the client is given plain values")
        if call.client in ("client", "service resource") and not call.table:
            yield Violation(call.name, call.line, "no table is named")


@rule("EXPR-NONEKEY", "error", "omit the argument on the first page")
def expr_nonekey(facts: Facts) -> Violations:
    """ExclusiveStartKey may be None.
    The SDK refuses None as an argument, so the first page always fails."""
    for call in facts.calls:
        if call.start_key and call.start_key.nullable:
            yield Violation(
                call.name, call.start_key.line, f"'{call.start_key.value}' is None on the first page"
            )


@rule("EXPR-GET", "information", "use GetItem")
def expr_get(facts: Facts) -> Violations:
    """A pattern queries with the whole primary key.
    GetItem returns the same item, without a list, and can be part of a batch."""
    for pattern in facts.patterns:
        partition, sort = key_halves(facts, pattern.table, pattern.index)
        if pattern.verb != "query" or pattern.index or sort is None or partition is None:
            continue
        for entity in entities_of(facts, pattern.table):
            if pattern.entity not in ("", entity.name) or not pattern.given:
                continue
            needed = {*key_parts(entity, partition), *key_parts(entity, sort)}
            if not key_parts(entity, sort):
                continue
            if needed <= set(pattern.given) or {partition.name, sort.name} <= set(pattern.given):
                yield Violation(pattern.name, pattern.line, "the whole key is given")


@rule("EXPR-FLOAT", "error", "use Decimal")
def expr_float(facts: Facts) -> Violations:
    """A binary float is computed for, or stored in, a numeric attribute.
    The Python SDK refuses floats, and sums of money in floats are off by cents."""
    for call in facts.calls:
        for each in call.sets:
            if each.type == "float":
                yield Violation(f"{call.name}.{each.path}", each.line, "it is written as a float")
    for derivation in facts.derivations:
        if derivation.how == "float arithmetic":
            yield Violation(
                derivation.value, derivation.line, f"it is computed in floats from {derivation.source}"
            )
    for example in facts.example_items:
        entity = entity_named(facts, example.entity)
        for value in example.values:
            attribute = declared(entity, value.name) if entity else None
            if (
                isinstance(value.value, float)
                and attribute
                and attribute.type == "N"
                and attribute.number == "float"
            ):
                yield Violation(f"{example.entity}.{value.name}", value.line, f"{value.value} is a float")


@rule("EXPR-BLINDPUT", "error", "add the condition attribute_not_exists, or the version that was read")
def expr_blindput(facts: Facts) -> Violations:
    """A put has no condition: it creates an item, or writes back one that was read.
    It replaces whatever is there, also what another writer has just stored."""
    for call in facts.calls:
        if call.verb == "put" and call.condition is None:
            yield Violation(call.name, call.line, "it replaces any item with this key")


@rule("EXPR-CONSISTENCY", "warning", "set ConsistentRead, or correct the text")
def expr_consistency(facts: Facts) -> Violations:
    """The text calls a read strongly consistent, and the call does not ask for it.
    The default is eventual: the read may return the past."""
    for call in facts.calls:
        claims = [claim for claim in call.claims if "strong" in claim.text.lower()]
        if call.verb in ("get", "query", "scan") and not call.consistent and claims:
            why = f"line {claims[0].line} says '{claims[0].text}'; the call does not"
            yield Violation(call.name, call.line, why)


@rule("EXPR-NULLVALUE", "warning", "leave the attribute out")
def expr_nullvalue(facts: Facts) -> Violations:
    """A write stores NULL for an optional value that is absent.
    Conditions such as attribute_not_exists are then false, and the item takes space for nothing."""
    for call in facts.calls:
        keys = index_key_names(facts, call.table)
        for each in call.sets:
            if each.nullable and each.path not in keys:
                yield Violation(f"{call.name}.{each.path}", each.line, "None is stored as NULL")


@rule("EXPR-TX", "error", "split the work into transactions of at most 100 items")
def expr_tx(facts: Facts) -> Violations:
    """A transaction may hold more than 100 items, or the same item twice.
    DynamoDB refuses it as a whole."""
    for call in facts.calls:
        if call.verb != "transaction":
            continue
        if call.items is None or call.items > _MOST_IN_A_TRANSACTION:
            count = f"{call.items} items" if call.items else "any number of items"
            yield Violation(
                call.name, call.line, f"it holds {count}; DynamoDB allows {_MOST_IN_A_TRANSACTION}"
            )
        if call.same_item_twice:
            yield Violation(call.name, call.line, "it names one item twice")


@rule("EXPR-BATCH-CONDITION", "warning", "use a transaction where all or nothing matters")
def expr_batch_condition(facts: Facts) -> Violations:
    """A batch write is called atomic, or is relied on for conditions.
    It has no conditions, and part of it may fail while the rest is stored."""
    for call in facts.calls:
        for claim in call.claims:
            if call.verb == "batch_write" and re.search(
                "atomic|condition|all or nothing", claim.text.lower()
            ):
                yield Violation(call.name, call.line, f"'{claim.text}' is not true of a batch")


RULES = rules_in(globals())
