"""What a refusal means in terms of the design: the error for an action whose condition failed, and keys too long."""

import re
from collections.abc import Mapping
from typing import Any

from tablewright.client import Call, CallRefused
from tablewright.mapping.errors import (
    AlreadyExists,
    ConditionNotMet,
    ItemUnreadable,
    KeyTooLong,
    Missing,
    NotUnique,
    Outdated,
    Stale,
    WriteRefused,
)
from tablewright.mapping.items import is_expired, item_of, model_of, older_form
from tablewright.mapping.write_requests import OWNER, Action
from tablewright.values import Item, Value, admit_item


def error_for(action: Action, found: Mapping[str, Value] | None, now: int) -> WriteRefused:
    """The error for an action whose condition failed; `found` is the item as it stood."""
    write = action.write
    assert write is not None
    shape, key = write.shape, write.key

    def refused(kind: type[WriteRefused], why: str, current: Any = None) -> WriteRefused:
        return kind(shape.tag, key, why, current)

    if action.guard is not None:
        if action.verb != "Put":
            why = "its guard is gone or belongs to another item: it was changed since; read it again"
            return refused(Stale, why)
        owner = (found or {}).get(OWNER, {}).get("M")
        return NotUnique(shape.tag, action.guard.unique.name, key, owner)
    if write.kind == "create":
        if found is None:
            return refused(ConditionNotMet, "a condition of the write does not hold")
        return refused(AlreadyExists, "an item with this key exists already", _current(action, found))
    if found is None or is_expired(shape, found, now):
        return refused(Missing, "there is no such item")
    current = _current(action, found)
    if write.before is not None and _differs(action, found):
        return refused(
            Stale, "it was changed after it was read; read it again and repeat the change", current
        )
    if write.kind in ("update", "upsert") and current is not None and older_form(shape, current) is not None:
        return refused(Outdated, "it has an older form; read it and write change(before, after)", current)
    why = "a condition of the write does not hold; `current` is the item as it is"
    return refused(ConditionNotMet, why, current)


def _current(action: Action, found: Mapping[str, Value]) -> Any:
    assert action.write is not None
    try:
        return model_of(action.write.shape, found)
    except ItemUnreadable:
        return None


def _differs(action: Action, found: Mapping[str, Value]) -> bool:
    """Whether the item is not the one that was read: by its version, or else by anything the design knows."""
    write = action.write
    assert write is not None
    shape = write.shape
    if write.before is not None and (older := older_form(shape, write.before)) is not None:
        current = _current(action, found)
        return current is None or older_form(shape, current) != older
    before, now = _canonical(item_of(shape, write.before)), _canonical(found)
    names = [shape.fields[shape.version].stored] if shape.version else shape.stored
    return any(before.get(name) != now.get(name) for name in names)


def is_done(action: Action, found: Mapping[str, Value] | None) -> bool:
    """Whether the item is just as the write wanted it: after a lost answer, the write was our own."""
    write = action.write
    if write is None or action.guard is not None:
        return False
    if write.kind == "delete":
        return found is None
    if write.kind not in ("create", "change") or write.item is None or found is None:
        return False
    return _canonical(item_of(write.shape, write.item)) == _canonical(found)


def _canonical(item: Mapping[str, Value]) -> Item:
    # 1.50 is stored as 1.5, and a set has no order: spelling does not matter.
    return admit_item(dict(item))[0]


# The service says so in a sentence of its own, alone or in a transaction.
_TOO_LONG = re.compile(r"[Ss]ize of (hashkey|all range keys) has exceeded")


def with_key_length_errors(call: Call) -> Call:
    """The same calls; those that are refused for the length of a key raise KeyTooLong."""

    def named(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return call(verb, request)
        except CallRefused as refusal:
            reasons = refusal.fields.get("CancellationReasons") or ()
            said = [refusal.message, *(str(reason.get("Message", "")) for reason in reasons)]
            if any(map(_TOO_LONG.search, said)):
                raise KeyTooLong from None
            raise

    return named
