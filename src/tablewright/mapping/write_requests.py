"""A Write as DynamoDB actions: the item's own, and those of its guards. Pure.

Must hold: every action carries its condition (D-5): creation demands absence, a change existence and the version that
was read; key attributes made from fields are written with the fields; what has expired counts as absent.
An upsert is sent as an update of the existing item; its creation is in update_steps.py.
Elsewhere: running them (executor.py), and what a refusal means (error_mapping.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tablewright.design.attributes import encode_item
from tablewright.design.entity_spec import EntitySpec, Guard
from tablewright.design.requests import Write
from tablewright.expressions import texts
from tablewright.expressions.build import all_of, attribute_exists, attribute_not_exists, equal
from tablewright.expressions.nodes import Action as UpdateAction
from tablewright.expressions.nodes import Add, Compare, Condition, Delete, Or, Remove, Set
from tablewright.mapping.items import item_of, not_expired, older_form
from tablewright.mapping.large_objects import refuse_old
from tablewright.mapping.update_steps import update_action
from tablewright.values import Item, Value

Verb: TypeAlias = Literal["Put", "Update", "Delete", "ConditionCheck"]
# The verb of an action that is sent alone.
VERBS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}
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
    """Everything a write does, the item first; LargeTooOld."""
    refuse_old(write, now)
    return [_own(write, physical, now), *_guards(write, physical, now)]


def _own(write: Write[Any], physical: Physical, now: int) -> Action:
    match write.kind:
        case "create" | "put":
            shape, own = write.shape, None
            if write.kind == "create":
                own = _absent(shape.table.pk, shape.table.ttl if shape.expires is not None else None, now)
            return _action("Put", {"Item": item_of(shape, write.item, write.key)}, write, physical, own)
        case "change":
            return _change(write, physical, now)
        case "update" | "upsert":
            return _update(write, physical, now)
        case "delete":
            return _delete(write, physical, now)
        case "check":
            return _check(write, physical, now)


def _absent(pk: str, ttl: str | None, now: int) -> Condition:
    """There is no item, or only an expired one that was not deleted yet."""
    absent = attribute_not_exists(pk)
    return absent if ttl is None else Or((absent, Compare("<=", (ttl,), {"N": str(now)})))


def _present(shape: EntitySpec, now: int) -> Condition | None:
    return all_of(attribute_exists(shape.table.pk), not_expired(shape, now))


def _change(write: Write[Any], physical: Physical, now: int) -> Action:
    before, after = item_of(write.shape, write.before), item_of(write.shape, write.item)
    present = _present(write.shape, now)
    if write.before is not None and older_form(write.shape, write.before) is not None:
        return _action("Put", {"Item": after}, write, physical, present, _unchanged(write, before, ()))
    put = {
        name: value for name, value in after.items() if name not in write.key and before.get(name) != value
    }
    gone = [name for name in before if name not in after]
    unchanged = _unchanged(write, before, [*put, *gone])
    if not put and not gone:
        return _check(write, physical, now, unchanged)
    update: list[UpdateAction] = [Set((name,), value) for name, value in put.items()]
    update += [Remove((name,)) for name in gone]
    return _action("Update", {"Key": dict(write.key)}, write, physical, present, unchanged, update=update)


def _unchanged(write: Write[Any], before: Item, touched: Iterable[str]) -> Condition | None:
    """The item is as it was read: by its version, or else by the old values of what the write depends on."""
    shape = write.shape
    older = older_form(shape, write.before) if write.before is not None else None
    if older is not None:
        # Every write gives an item the present form: one that still has the older form was not written since.
        return _has_form(shape, older)
    names = [shape.fields[shape.version].stored] if shape.version else _depends_on(shape, set(touched))
    if write.moved and shape.states is not None:
        names = [*names, shape.fields[shape.states.field].stored]
    return all_of(*(equal(name, before.get(name)) for name in dict.fromkeys(names)))


def _depends_on(shape: EntitySpec, touched: set[str]) -> list[str]:
    """The fields that are touched, and those from which keys and guards are made together with them."""
    made = [*shape.derivations.values()]
    made += [t for guard in shape.guards for t in (guard.pk, guard.sk, *guard.keep.values()) if t is not None]
    fields = {attribute.field for attribute in shape.attributes if attribute.stored in touched}
    fields |= {name for template in made if fields.intersection(template.fields) for name in template.fields}
    return [a.stored for a in shape.attributes if a.field in fields and a.field not in shape.fixed]


def _update(write: Write[Any], physical: Physical, now: int) -> Action:
    update = [update_action(step) for step in write.steps]
    for name, value in write.derived.items():
        update.append(Remove((name,)) if value is None else Set((name,), value))
    if write.shape.version:
        update.append(Add((write.shape.fields[write.shape.version].stored,), {"N": "1"}))
    if not update:
        return _check(write, physical, now)
    present, schema = _present(write.shape, now), write.shape.schema
    form = _has_form(write.shape, schema.version) if schema is not None and schema.upcasts else None
    return _action("Update", {"Key": dict(write.key)}, write, physical, present, form, update=update)


def _has_form(shape: EntitySpec, number: int) -> Condition:
    """The condition that an item has this form; an item without a number has the first."""
    assert shape.schema is not None
    name = shape.fields[shape.schema.field].stored
    same = equal(name, {"N": str(number)})
    return Or((attribute_not_exists(name), same)) if number == 1 else same


def _delete(write: Write[Any], physical: Physical, now: int) -> Action:
    present = unchanged = None
    if write.before is not None:
        present = _present(write.shape, now)
        # Without a version everything is touched, so every attribute must be as it was read.
        before = encode_item(write.before, write.shape.attributes)
        unchanged = _unchanged(write, before, write.shape.stored)
    return _action("Delete", {"Key": dict(write.key)}, write, physical, present, unchanged)


def _check(write: Write[Any], physical: Physical, now: int, unchanged: Condition | None = None) -> Action:
    present = _present(write.shape, now)
    return _action("ConditionCheck", {"Key": dict(write.key)}, write, physical, present, unchanged)


def _action(
    verb: Verb,
    body: dict[str, Any],
    write: Write[Any],
    physical: Physical,
    *own: Condition | None,
    update: Sequence[UpdateAction] = (),
) -> Action:
    """The action with the conditions of its kind and those the write was given by `.when(...)`."""
    table = {"TableName": physical(write.shape.table.name)}
    return Action(verb, {**table, **body, **conditional(all_of(*own, *write.when_), update)}, write)


# The order of the clauses of an update; those of one kind have to stand together.
_CLAUSES = {kind: place for place, kind in enumerate((Set, Remove, Add, Delete))}


def _place_of_clause(action: UpdateAction) -> int:
    return _CLAUSES[type(action)]


def conditional(condition: Condition | None, update: Sequence[UpdateAction] = ()) -> dict[str, Any]:
    """The members of a request for a condition, and for an update if there is one, with their placeholders."""
    if not update and condition is None:
        return {}
    known, values = texts(sorted(update, key=_place_of_clause), condition)
    members: dict[str, Any] = {}
    if update:
        members["UpdateExpression"] = known.update
    if condition is not None:
        members["ConditionExpression"] = known.condition
        members["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    members["ExpressionAttributeNames"] = dict(known.names)
    if values:
        members["ExpressionAttributeValues"] = values
    return members


# --- guards ---


def _guards(write: Write[Any], physical: Physical, now: int) -> Iterator[Action]:
    """Guards to take, to keep up to date and to give up; nothing for one that stays as it is."""
    for guard in write.shape.guards:
        old = _guard_item(write, guard, write.before.__dict__) if write.before is not None else None
        new = _guard_item(write, guard, write.values) if write.kind in ("create", "change") else None
        if old == new:
            continue
        if old is not None and new is not None and _key(guard, old) == _key(guard, new):
            # The guard stays, but its copies or its time change with the item.
            yield _on_own_guard("Put", write, guard, {"Item": new}, physical)
            continue
        if new is not None:
            yield _claim_guard(write, guard, new, physical, now)
        if old is not None:
            yield _on_own_guard("Delete", write, guard, {"Key": _key(guard, old)}, physical)


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


def _claim_guard(write: Write[Any], guard: Guard, item: Item, physical: Physical, now: int) -> Action:
    expires = guard.table.ttl if write.shape.expires is not None else None
    free = _absent(guard.table.pk, expires, now)
    body = {"TableName": physical(guard.table.name), "Item": item, **conditional(free)}
    return Action("Put", body, write, guard)


def _on_own_guard(
    verb: Verb, write: Write[Any], guard: Guard, what: Mapping[str, object], physical: Physical
) -> Action:
    own = equal(OWNER, {"M": dict(write.key)})
    if write.shape.version is not None:
        # An item that is older than the constraint has no guard: a change makes one, a delete needs none. Only with a
        # version, which shows that the item was not changed since: else a value that was given up would be taken again.
        own = Or((attribute_not_exists(guard.table.pk), own))
    body = {"TableName": physical(guard.table.name), **what, **conditional(own)}
    return Action(verb, body, write, guard)
