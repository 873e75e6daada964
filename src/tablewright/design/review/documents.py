"""Rules about what a document states: contradictions, examples, undeclared names, copies and references."""

import ast
import hashlib
import re
from collections.abc import Mapping
from decimal import Decimal

from tablewright.design.review.facts import Facts
from tablewright.design.review.facts.promises import Example
from tablewright.design.review.lookup import declared, entities_of, entity_named, template_of
from tablewright.design.review.rule import Violation, Violations, rule, rules_in

_UUID = re.compile(r"(?:[A-Za-z]*_)?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
# Texts whose digests stand in tutorials.
_SAMPLES = ("", "hello", "hello world", "test", "password", "foo")


@rule("DOC-CONTRADICT", "error", "state it once")
def doc_contradict(facts: Facts) -> Violations:
    """A document states one fact in two ways.
    Each reader builds what the place they read says."""
    for each in facts.statements:
        others = {o.value for o in facts.statements if o.subject == each.subject and o.value != each.value}
        if others:
            yield Violation(
                each.subject, each.line, f"'{each.value}' here, '{', '.join(sorted(others))}' elsewhere"
            )


@rule("DOC-EXAMPLE", "error", "correct the example")
def doc_example(facts: Facts) -> Violations:
    """An example item lacks a required attribute, has a value of another form, or breaks an invariant.
    Tests and imports that are made from it fail, or store what cannot be read."""
    for example in facts.example_items:
        entity = entity_named(facts, example.entity)
        if entity is None:
            continue
        given = {value.name for value in example.values}
        missing = [a.name for a in entity.attributes if a.required and a.name not in given]
        if missing:
            yield Violation(example.entity, example.line, f"it lacks {', '.join(missing)}")
        for value in example.values:
            attribute = declared(entity, value.name)
            text = value.value if isinstance(value.value, str) else ""
            if attribute and attribute.format == "uuid" and not _UUID.fullmatch(text):
                yield Violation(f"{example.entity}.{value.name}", value.line, f"'{text}' is not a UUID")
            if attribute and attribute.values and text and text not in attribute.values:
                yield Violation(
                    f"{example.entity}.{value.name}", value.line, f"'{text}' is not one of its values"
                )
            if attribute and attribute.format == "digest" and _sample(text) is not None:
                why = f"it is the digest of the text '{_sample(text)}'"
                yield Violation(f"{example.entity}.{value.name}", value.line, why)
        yield from _flag(example)


def _sample(digest: str) -> str | None:
    """The tutorial text that a digest is of."""
    for text in _SAMPLES:
        if digest in (hashlib.md5(text.encode()).hexdigest(), hashlib.sha256(text.encode()).hexdigest()):
            return text
    return None


def _flag(example: Example) -> Violations:
    if example.true_between is None:
        return
    values = {value.name: value for value in example.values}
    start, end = (str(values[name].value) for name in example.true_between)
    day = str(values[example.as_of].value)[:10]
    if values[example.flag].value != (start <= day <= end):
        why = f"{example.flag} is {values[example.flag].value} on {day}, outside of {start} to {end}"
        yield Violation(f"{example.entity}.{example.flag}", values[example.flag].line, why)


@rule("DOC-ENUM", "warning", "list all values")
def doc_enum(facts: Facts) -> Violations:
    """The values of an attribute are shown by an example only, or end in "etc.".
    Writers invent others, and readers do not know them."""
    for entity in facts.entities:
        for attribute in (*entity.attributes, *entity.parts):
            listed = attribute.values and not attribute.open_ended
            if (attribute.format == "status" or attribute.open_ended) and not listed:
                yield Violation(
                    f"{entity.name}.{attribute.name}", attribute.line, "its values are not listed"
                )


@rule("DOC-UNDECLARED", "error", "declare the attribute")
def doc_undeclared(facts: Facts) -> Violations:
    """An attribute is written, projected or named and is declared nowhere.
    Its type, its owner and its retention are unknown."""
    for table in facts.tables:
        entities = [each for each in entities_of(facts, table.name) if each.attributes and not each.partial]
        keys = {key.name for key in (table.hash, table.range) if key}
        known = {a.name for e in entities for a in e.attributes} | {
            k.attribute for e in entities for k in e.keys
        }
        if not entities:
            continue
        if table.ttl and table.ttl.text not in known:
            yield Violation(f"{table.name}.{table.ttl.text}", table.ttl.line, "it is not declared")
        for index in facts.indexes:
            for name in index.projection.names if index.projection and index.table == table.name else ():
                if name not in known | keys and index.projection:
                    yield Violation(
                        f"{index.name}.{name}", index.projection.line, "it is projected and not declared"
                    )
    for call in facts.calls:
        entity = entity_named(facts, call.entity)
        if entity is None or not entity.attributes or entity.partial:
            continue
        for each in call.sets:
            name = each.path.partition(".")[0]
            if not declared(entity, name) and not template_of(entity, name):
                yield Violation(f"{call.name}.{name}", each.line, f"{entity.name} does not declare it")
    for use in facts.uses:
        entity = entity_named(facts, use.entity)
        if not any(declared(each, use.attribute) for each in ([entity] if entity else facts.entities)):
            yield Violation(f"{use.entity}.{use.attribute}", use.line, "it is not declared")


@rule("DOC-UNDEFINED", "warning", "define how it is computed")
def doc_undefined(facts: Facts) -> Violations:
    """A computed quantity or a term has no definition.
    Two programs compute it differently, and neither is wrong."""
    for entity in facts.entities:
        for attribute in (*entity.attributes, *entity.parts):
            if attribute.computed and not attribute.definition:
                yield Violation(
                    f"{entity.name}.{attribute.name}", attribute.line, "it is computed and not defined"
                )
    for each in facts.definitions:
        if not each.meaning:
            yield Violation(each.term, each.line, "it is not defined")


@rule("DOC-RANGE", "error", "narrow the bounds")
def doc_range(facts: Facts) -> Violations:
    """The stated bounds of a quantity allow a value that another rule excludes.
    Either the value is refused although it is allowed, or the rule is broken."""
    for formula in facts.formulas:
        for bounds in facts.bounds:
            for value in (bounds.low, bounds.high):
                names = {b.quantity: b.low for b in facts.bounds} | {bounds.quantity: value}
                result = evaluate(ast.parse(formula.formula, mode="eval").body, names)
                if bounds.quantity in formula.formula and result <= formula.above:
                    why = f"{bounds.quantity} = {value} makes {formula.quantity} {result}, not above {formula.above}"
                    yield Violation(bounds.quantity, bounds.line, why)
                    yield Violation(formula.quantity, formula.line, why)


def evaluate(node: ast.expr, names: Mapping[str, Decimal]) -> Decimal:
    """The value of + - * / over numbers and names; a name without a value stands for 1."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return Decimal(str(value))
        case ast.Name(id=name):
            return names.get(name, Decimal(1))
        case ast.BinOp(left=left, op=op, right=right):
            a, b = evaluate(left, names), evaluate(right, names)
            if isinstance(op, ast.Add):
                return a + b
            if isinstance(op, ast.Sub):
                return a - b
            return a * b if isinstance(op, ast.Mult) else a / b
        case _:
            raise ValueError(f"a formula has numbers, names and + - * / only, not {ast.dump(node)}")


@rule("DENORM-STALE", "warning", "state how a change of the source reaches the copy")
def denorm_stale(facts: Facts) -> Violations:
    """An attribute is copied from another item, and nothing says what happens when that changes.
    The copy is then wrong, and no reader can tell."""
    for each in facts.copies:
        if not each.refresh:
            yield Violation(f"{each.entity}.{each.attribute}", each.line, f"it is a copy of {each.source}")


@rule("REF-DANGLING", "warning", "state what happens to the reference: refuse, clear, or keep a snapshot")
def ref_dangling(facts: Facts) -> Violations:
    """An item names another, and nothing says what happens when that is deleted.
    Readers then find a name that leads nowhere."""
    for each in facts.references:
        if each.on_delete in ("", "keeps the name"):
            yield Violation(f"{each.entity}.{each.attribute}", each.line, f"{each.target} may be gone")


RULES = rules_in(globals())
