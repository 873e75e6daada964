"""A Write as DynamoDB actions: the item's own, and those of its guards. Pure.

Must hold: every action carries its condition (D-5): creation demands absence, a change existence and the version that
was read; key attributes made from fields are written with the fields; what has expired counts as absent.
An upsert is written as an update of what is there; how one begins is in upserts.py.
Elsewhere: running them (running.py), and what a refusal means (refusals.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tablewright.design.attributes import encode_item
from tablewright.design.requests import Step, Write
from tablewright.design.shape import Guard, Shape
from tablewright.mapping.items import alive, form_of, item_of
from tablewright.mapping.wording import Wording, all_of
from tablewright.values import Item, Value

Verb: TypeAlias = Literal["Put", "Update", "Delete", "ConditionCheck"]
OWNER = "owner"
Physical: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Action:
    """One action on one item; `body` is what TransactWriteItems takes under the verb."""

    verb: Verb
    body: dict[str, Any]
    write: Write[Any] | None
    guard: Guard | None = None


def actions(write: Write[Any], physical: Physical, now: int) -> list[Action]:
    """Everything a write does, the item first."""
    return [_own(write, physical, now), *_guards(write, physical, now)]


def _own(write: Write[Any], physical: Physical, now: int) -> Action:
    match write.kind:
        case "create" | "put":
            return _put(write, physical, now)
        case "change":
            return _change(write, physical, now)
        case "update" | "upsert":
            return _update(write, physical, now)
        case "delete":
            return _delete(write, physical, now)
        case "check":
            return _check(write, physical, now)


def _put(write: Write[Any], physical: Physical, now: int) -> Action:
    wording = Wording()
    absent = ""
    if write.kind == "create":
        absent = _absent(write.shape, wording, now)
    body = {"Item": item_of(write.shape, write.item), **_condition(write, wording, absent)}
    return _action("Put", body, write, physical)


def _absent(shape: Shape, wording: Wording, now: int) -> str:
    """Nothing there, or only what has expired and was not swept yet."""
    absent = f"attribute_not_exists({wording.name(shape.table.pk)})"
    if shape.expires is None or shape.table.ttl is None:
        return absent
    return f"{absent} OR {wording.name(shape.table.ttl)} <= {wording.value({'N': str(now)})}"


def _present(shape: Shape, wording: Wording, now: int) -> str:
    return all_of(f"attribute_exists({wording.name(shape.table.pk)})", alive(shape, wording, now))


def _change(write: Write[Any], physical: Physical, now: int) -> Action:
    wording = Wording()
    before, after = item_of(write.shape, write.before), item_of(write.shape, write.item)
    key = write.key
    if write.before is not None and form_of(write.shape, write.before) is not None:
        seen = _unchanged(write, before, (), wording)
        condition = _condition(write, wording, _present(write.shape, wording, now), seen)
        return _action("Put", {"Item": after, **condition}, write, physical)
    put = {name: value for name, value in after.items() if name not in key and before.get(name) != value}
    gone = [name for name in before if name not in after]
    texts = []
    if put:
        texts.append("SET " + ", ".join(f"{wording.name(n)} = {wording.value(v)}" for n, v in put.items()))
    if gone:
        texts.append("REMOVE " + ", ".join(map(wording.name, gone)))
    if not texts:
        return _check(write, physical, now, _unchanged(write, before, [], wording), wording)
    seen = _unchanged(write, before, [*put, *gone], wording)
    condition = _condition(write, wording, _present(write.shape, wording, now), seen)
    return _action(
        "Update", {"Key": dict(key), "UpdateExpression": " ".join(texts), **condition}, write, physical
    )


def _unchanged(write: Write[Any], before: Item, touched: Iterable[str], wording: Wording) -> str:
    """Nobody was here since: by the version, or else by the old values of what the write rests on."""
    shape = write.shape
    older = form_of(shape, write.before) if write.before is not None else None
    if older is not None:
        # Whoever changes an item gives it the present form: one that still has the older is as it was read.
        return _has_form(shape, older, wording)
    names = [shape.fields[shape.version].stored] if shape.version else _rests_on(shape, set(touched))
    if write.moved and shape.states is not None:
        names = [*names, shape.fields[shape.states.field].stored]
    texts = []
    for name in dict.fromkeys(names):
        if name in before:
            texts.append(f"{wording.name(name)} = {wording.value(before[name])}")
        else:
            texts.append(f"attribute_not_exists({wording.name(name)})")
    return all_of(*texts)


def _rests_on(shape: Shape, touched: set[str]) -> list[str]:
    """The fields that are touched, and those from which keys and guards are made together with them."""
    made = [*shape.derivations.values()]
    made += [t for guard in shape.guards for t in (guard.pk, guard.sk, *guard.keep.values()) if t is not None]
    fields = {attribute.field for attribute in shape.attributes if attribute.stored in touched}
    fields |= {name for template in made if fields.intersection(template.fields) for name in template.fields}
    return [a.stored for a in shape.attributes if a.field in fields and a.field not in shape.fixed]


def _update(write: Write[Any], physical: Physical, now: int) -> Action:
    wording = Wording()
    clauses: dict[str, list[str]] = {"SET": [], "REMOVE": [], "ADD": [], "DELETE": []}
    for step in write.steps:
        clause, text = _step(step, wording)
        clauses[clause].append(text)
    for name, value in write.derived.items():
        if value is None:
            clauses["REMOVE"].append(wording.name(name))
        else:
            clauses["SET"].append(f"{wording.name(name)} = {wording.value(value)}")
    if write.shape.version:
        version = write.shape.fields[write.shape.version].stored
        clauses["ADD"].append(f"{wording.name(version)} {wording.value({'N': '1'})}")
    text = " ".join(f"{clause} {', '.join(parts)}" for clause, parts in clauses.items() if parts)
    if not text:
        return _check(write, physical, now)
    present = _present(write.shape, wording, now)
    if write.shape.schema is not None and write.shape.schema.upcasts:
        present = all_of(present, _has_form(write.shape, write.shape.schema.version, wording))
    condition = _condition(write, wording, present)
    return _action("Update", {"Key": dict(write.key), "UpdateExpression": text, **condition}, write, physical)


def _has_form(shape: Shape, number: int, wording: Wording) -> str:
    """The condition that an item is of this form; one without a number is of the first."""
    assert shape.schema is not None
    name = wording.name(shape.fields[shape.schema.field].stored)
    same = f"{name} = {wording.value({'N': str(number)})}"
    return f"attribute_not_exists({name}) OR {same}" if number == 1 else same


def _step(step: Step, wording: Wording) -> tuple[str, str]:
    """The clause a step belongs to, and its text."""
    path = wording.path(step.place.steps)
    if step.op == "remove":
        return "REMOVE", path
    value = wording.value(step.value or {})
    match step.op:
        case "add" if len(step.place.steps) > 1:
            # ADD is documented for top-level attributes only.
            return "SET", f"{path} = if_not_exists({path}, {wording.value({'N': '0'})}) + {value}"
        case "append":
            return "SET", f"{path} = list_append(if_not_exists({path}, {wording.value({'L': []})}), {value})"
        case "add" | "include":
            return "ADD", f"{path} {value}"
        case "exclude":
            return "DELETE", f"{path} {value}"
        case _:
            return "SET", f"{path} = {value}"


def _delete(write: Write[Any], physical: Physical, now: int) -> Action:
    wording = Wording()
    seen = there = ""
    if write.before is not None:
        there = _present(write.shape, wording, now)
        # Without a version everything is touched, so everything must be as it was read.
        seen = _unchanged(
            write, encode_item(write.before, write.shape.attributes), write.shape.stored, wording
        )
    return _action(
        "Delete", {"Key": dict(write.key), **_condition(write, wording, there, seen)}, write, physical
    )


def _check(
    write: Write[Any], physical: Physical, now: int, seen: str = "", wording: Wording | None = None
) -> Action:
    wording = wording or Wording()
    body = {"Key": dict(write.key), **_condition(write, wording, _present(write.shape, wording, now), seen)}
    return _action("ConditionCheck", body, write, physical)


def _condition(write: Write[Any], wording: Wording, *own: str) -> dict[str, Any]:
    """The condition with the write's own demands, and the placeholders of the whole request."""
    text = all_of(*own, *(wording.test(test) for test in write.when_))
    members: dict[str, Any] = {}
    if text:
        members = {"ConditionExpression": text, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    return members | wording.placeholders()


def _action(verb: Verb, body: dict[str, Any], write: Write[Any], physical: Physical) -> Action:
    return Action(verb, {"TableName": physical(write.shape.table.name), **body}, write)


# --- guards ---


def _guards(write: Write[Any], physical: Physical, now: int) -> Iterator[Action]:
    """Guards to take, to keep up to date and to give up; nothing for one that stays as it is."""
    for guard in write.shape.guards:
        old = _guard_item(write, guard, write.before.__dict__) if write.before is not None else None
        new = _guard_item(write, guard, write.values) if write.kind in ("create", "change") else None
        if old == new:
            continue
        if old is not None and new is not None and _key(guard, old) == _key(guard, new):
            yield _refresh(write, guard, new, physical)
            continue
        if new is not None:
            yield _take(write, guard, new, physical, now)
        if old is not None:
            yield _give_up(write, guard, _key(guard, old), physical)


def _guard_item(write: Write[Any], guard: Guard, values: Mapping[str, object]) -> Item | None:
    """The guard of these values, whole; None if they have nothing to guard."""
    key = guard.key(values)
    if key is None:
        return None
    item: Item = {**key, OWNER: {"M": dict(write.key)}}
    for name, template in guard.keep.items():
        text = template.render(values)
        if text is not None:
            item[name] = {"S": text}
    until = write.shape.expiry(values)
    if until is not None and guard.table.ttl is not None:
        # A guard outlives its owner only until the sweeper comes; an expired one holds nothing.
        item[guard.table.ttl] = {"N": str(until)}
    return item


def _key(guard: Guard, item: Item) -> dict[str, Value]:
    return {name: item[name] for name in guard.table.key_names}


def _take(write: Write[Any], guard: Guard, item: Item, physical: Physical, now: int) -> Action:
    wording = Wording()
    free = f"attribute_not_exists({wording.name(guard.table.pk)})"
    if guard.table.ttl is not None and write.shape.expires is not None:
        free = f"{free} OR {wording.name(guard.table.ttl)} <= {wording.value({'N': str(now)})}"
    body = {
        "TableName": physical(guard.table.name),
        "Item": item,
        "ConditionExpression": free,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        **wording.placeholders(),
    }
    return Action("Put", body, write, guard)


def _refresh(write: Write[Any], guard: Guard, new: Item, physical: Physical) -> Action:
    """The guard stays, but its copies or its time change with the item."""
    return _on_own_guard("Put", write, guard, {"Item": new}, physical)


def _give_up(write: Write[Any], guard: Guard, key: Mapping[str, Value], physical: Physical) -> Action:
    return _on_own_guard("Delete", write, guard, {"Key": dict(key)}, physical)


def _on_own_guard(
    verb: Verb, write: Write[Any], guard: Guard, what: Mapping[str, object], physical: Physical
) -> Action:
    wording = Wording()
    own = f"{wording.name(OWNER)} = {wording.value({'M': dict(write.key)})}"
    if write.shape.version is not None:
        # An item from before its design had this constraint has no guard, and gets one, or needs none any more. Only
        # where the version tells that nobody has changed the item since: else a value given up would be held again.
        own = f"attribute_not_exists({wording.name(guard.table.pk)}) OR {own}"
    body = {
        "TableName": physical(guard.table.name),
        **what,
        "ConditionExpression": own,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        **wording.placeholders(),
    }
    return Action(verb, body, write, guard)
