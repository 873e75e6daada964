"""Filters of the items page as a Query or a Scan: a partition, a condition on the sort key, conditions on attributes.

Must hold: an attribute that a design marks as secret cannot be filtered by, or its value could be guessed letter by
letter. A value is compared by the type of its key or field; where that is not known, as text and as what else it
may be. Pure. Elsewhere: reading the pages (browse.py), the grid (item_grid.py).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tablewright.app.designs.secrets import secret_names
from tablewright.design import Design, Table
from tablewright.expressions import PlaceholderAllocator, render
from tablewright.expressions.build import all_of, attribute_exists, attribute_not_exists
from tablewright.expressions.nodes import And, Between, Call, Compare, Condition, Or
from tablewright.pages.forms import Form, FormWrong
from tablewright.values import BadValue, Value, admit

SORT_OPS = (
    ("=", "is"), ("begins_with", "begins with"), ("<", "is less than"), ("<=", "is at most"),
    (">", "is more than"), (">=", "is at least"), ("between", "is between"),
)  # fmt: skip
ATTRIBUTE_OPS = (
    ("=", "is"), ("<>", "is not"), ("begins_with", "begins with"), ("contains", "contains"), ("<", "is less than"),
    ("<=", "is at most"), (">", "is more than"), (">=", "is at least"), ("exists", "exists"), ("missing", "is missing"),
)  # fmt: skip
ATTRIBUTES = 3  # conditions on attributes that a form has


@dataclass(frozen=True, slots=True)
class KeyPart:
    """An attribute of a key, with its type."""

    name: str
    letter: str


@dataclass(frozen=True, slots=True)
class ReadKeys:
    """The key of what is read: the table, or an index of it."""

    hashes: tuple[KeyPart, ...]
    ranges: tuple[KeyPart, ...]

    @property
    def names(self) -> list[str]:
        return [part.name for part in (*self.hashes, *self.ranges)]


def read_keys(described: Mapping[str, Any], schema: Sequence[Mapping[str, str]]) -> ReadKeys:
    letters = {each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]}

    def parts(kind: str) -> tuple[KeyPart, ...]:
        names = [part["AttributeName"] for part in schema if part["KeyType"] == kind]
        return tuple(KeyPart(name, letters[name]) for name in names)

    return ReadKeys(parts("HASH"), parts("RANGE"))


def known_letters(design: Design | None, table: Table | None) -> dict[str, str]:
    """The types of the attributes of a table that its entities agree on."""
    found: dict[str, set[str]] = {}
    for shape in design.shapes if design else ():
        if shape.table == table:
            for each in shape.attributes:
                found.setdefault(each.stored, set()).add(each.kind.letter)
    return {name: next(iter(letters)) for name, letters in found.items() if len(letters) == 1}


def filtered_request(
    described: Mapping[str, Any], keys: ReadKeys, form: Form, design: Design | None, table: Table | None
) -> tuple[str, dict[str, Any]]:
    """The verb and the request of the filters; FormWrong says what does not fit, beside its field."""
    request: dict[str, Any] = {"TableName": described["TableName"]}
    if form.get("index"):
        request["IndexName"] = form.get("index")
    partition, form = _partition(keys, form)
    sort, form = _sort(keys, form)
    attributes, form = _attributes(
        form, secret_names(design, table), known_letters(design, table), keys, bool(partition)
    )
    if form.errors:
        raise FormWrong(form)
    placeholders = PlaceholderAllocator()
    if partition:
        request["KeyConditionExpression"] = render(_all([*partition, *sort]), placeholders)
    filters = all_of(*attributes) if partition else all_of(*sort, *attributes)
    if filters is not None:
        request["FilterExpression"] = render(filters, placeholders)
    if form.is_ticked("descending") and partition:
        request["ScanIndexForward"] = False
    return "Query" if partition else "Scan", request | placeholders.members()


def _all(parts: Sequence[Condition]) -> Condition:
    return And(tuple(parts)) if len(parts) > 1 else parts[0]


def partition_field(number: int) -> str:
    """The field of the form for an attribute of the partition key: an index may have several."""
    return "partition" if number == 0 else f"partition{number + 1}"


def _partition(keys: ReadKeys, form: Form) -> tuple[list[Condition], Form]:
    """Equality with the whole partition key; nothing if none of it was typed."""
    texts = [form.get(partition_field(number)).strip() for number in range(len(keys.hashes))]
    found: list[Condition] = []
    if not any(texts):
        return found, form
    for number, (part, text) in enumerate(zip(keys.hashes, texts, strict=True)):
        if not text:
            form = form.wrong(
                partition_field(number), f"{part.name} is needed too: it is part of the partition key."
            )
            continue
        value, form = _key_value(part, text, form, partition_field(number))
        found += [Compare("=", (part.name,), value)] if value else []
    return found, form


def _sort(keys: ReadKeys, form: Form) -> tuple[list[Condition], Form]:
    op = form.get("sort_op") or "="
    texts = [form.get(name).strip() for name in (("sort", "sort_end") if op == "between" else ("sort",))]
    if not any(texts) or not keys.ranges:
        return [], form
    part = keys.ranges[0]
    if op not in dict(SORT_OPS):
        return [], form.wrong("sort", "Choose a comparison from the list.")
    if not all(texts):
        return [], form.wrong("sort", "A range needs both ends.")
    if op == "begins_with" and part.letter == "N":
        return [], form.wrong("sort", f"{part.name} is a number; choose another comparison.")
    values = []
    for text in texts:
        value, form = _key_value(part, text, form, "sort")
        values += [value] if value else []
    return [_tested(op, part.name, values)] if len(values) == len(texts) else [], form


def _tested(op: str, name: str, values: Sequence[Value]) -> Condition:
    if op == "between":
        return Between((name,), values[0], values[1])
    if op in ("begins_with", "contains"):
        return Call(op, ((name,), values[0]))
    return Compare(op, (name,), values[0])


def _key_value(part: KeyPart, text: str, form: Form, field: str) -> tuple[Value | None, Form]:
    try:
        return admit({part.letter: text})[0], form
    except BadValue as wrong:
        return None, form.wrong(field, f"{part.name} is of the type {part.letter}: {wrong}.")


# --- attributes ---


def _attributes(
    form: Form, secret: frozenset[str], letters: Mapping[str, str], keys: ReadKeys, is_query: bool
) -> tuple[list[Condition], Form]:
    found: list[Condition] = []
    for number in range(1, ATTRIBUTES + 1):
        name, op = form.get(f"a{number}").strip(), form.get(f"o{number}") or "="
        if not name:
            continue
        mistake = _refusal(name, op, form.get(f"v{number}"), secret, keys, is_query)
        if mistake:
            form = form.wrong(f"a{number}", mistake)
        else:
            found.append(_attribute_test(name, op, form.get(f"v{number}"), letters.get(name)))
    return found, form


def _refusal(name: str, op: str, text: str, secret: frozenset[str], keys: ReadKeys, is_query: bool) -> str:
    if name in secret:
        return f"{name} is marked as secret and cannot be filtered by."
    if op not in dict(ATTRIBUTE_OPS):
        return "Choose a comparison from the list."
    if is_query and name in keys.names:
        return f"{name} is part of the key: use the fields of the key."
    if not text and op not in ("exists", "missing", "=", "<>"):
        return f"Type what {name} is compared with."
    return ""


def _attribute_test(name: str, op: str, text: str, letter: str | None) -> Condition:
    if op == "exists":
        return attribute_exists(name)
    if op == "missing":
        return attribute_not_exists(name)
    tests: list[Condition] = [_tested(op, name, [value]) for value in _meanings(text, op, letter)]
    if op == "<>":  # different from all of them
        return _all(tests)
    return Or(tuple(tests)) if len(tests) > 1 else tests[0]


def _meanings(text: str, op: str, letter: str | None) -> list[Value]:
    """The values a text may stand for: of the field's own type where that is known and the text fits it."""
    if op == "begins_with":
        return [{"S": text}]
    found: list[Value] = [] if letter in ("N", "BOOL") else [{"S": text}]
    if letter in (None, "N", "NS", "L"):
        with suppress(BadValue):
            found.append(admit({"N": text.strip()})[0])
    if text in ("true", "false") and letter in (None, "BOOL", "L") and op in ("=", "<>", "contains"):
        found.append({"BOOL": text == "true"})
    return found or [{"S": text}]
