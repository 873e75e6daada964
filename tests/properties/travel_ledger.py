"""A witness beside Skratch: who had seen what, and what every operation made of it.

It is told of each transaction and compares the entities before and after. Must hold, for each: what an operation says
is there afterwards, or is in a conflict as what the device said; what is no longer there was replaced or deleted by
somebody who had seen it, or is in a conflict as what the server had. It knows nothing of versions, bases and stamps:
somebody has seen what their device was told of and what they did on it, up to when they began.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from tablewright.systems.travel import rules
from tablewright.systems.travel.sync.merge import WHOLE
from tablewright.systems.travel.sync.operations import (
    Edit,
    EntityState,
    FieldConflict,
    Result,
    place_id,
    places_in,
)

LATEST = 10**9


@dataclass(frozen=True)
class Word:
    """What one operation says of one entity, and up to where in the feed its author had seen that.

    `saw`: what the same device had done when they began to write, as the order of the last of it.
    """

    operation_id: str
    device: str
    saw: int
    seen: int
    fields: Mapping[str, Any]
    deletes: bool = False
    marks: bool = False


@dataclass(frozen=True)
class Ink:
    """Where in the feed a field got its value, and by whom; by nobody alone, if it is of two."""

    at: int
    device: str
    order: int
    operation_id: str


def fields_of(state: EntityState | None) -> dict[str, Any]:
    """What is said of an entity, flat; nothing of one that is deleted."""
    if state is None or state.is_deleted:
        return {}
    data = state.data
    if state.entity_type == "user":
        groups = {
            f"{group}/{name}": on
            for group in ("privacy_settings", "notification_settings")
            for name, on in data[group].items()  # type: ignore[union-attr]  # switches
        }
        return groups | {
            name: data[name] for name in ("display_name", "time_zone", "mark_country") if data[name]
        }
    trips = {f"trips/{id}": trip for id, trip in data["trips"].items()}  # type: ignore[union-attr]  # by id
    return trips | {name: data[name] for name in ("visited_date", "notes") if data[name] is not None}


def is_there(state: EntityState | None) -> bool:
    return state is not None and not state.is_deleted


@dataclass
class Ledger:
    """Everything that was made, and every entity as the last transaction left it."""

    user_id: str
    today: date
    now: dict[str, EntityState] = field(default_factory=dict)
    ink: dict[tuple[str, str], Ink] = field(default_factory=dict)
    made: dict[str, dict[str, Word]] = field(default_factory=dict)
    orders: dict[str, int] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    unanswered: set[str] = field(default_factory=set)

    # --- what is made ---

    def make(self, device: str, edit: Edit, told: Mapping[str, EntityState]) -> None:
        """A device has made an operation, from what it was told."""
        self.orders[edit.operation_id] = len(self.orders)
        kind = edit.operation_type.removeprefix("batch_")
        words: dict[str, Word] = {}
        for entity, data in self._said(edit):
            state = told.get(entity)
            words[entity] = Word(
                edit.operation_id,
                device,
                self.orders.get(edit.previous or "", -1),
                state.server_version if state is not None else 0,
                data,
                deletes=kind == "delete",
                marks=kind in ("create", "restore"),
            )
        self.made[edit.operation_id] = words

    def _said(self, edit: Edit) -> Sequence[tuple[str, dict[str, Any]]]:
        if edit.entity_type == "user":
            return [(self.user_id, rules.user_edit(edit.entity_data))]
        return [
            (
                place_id(self.user_id, target.region_type, target.region_code),
                rules.visit_edit(target.entity_data, self.today),
            )
            for target in places_in(edit)
        ]

    def forget(self, entities: Sequence[str]) -> None:
        """Of deleted places not even a tombstone is left, half a year after, or when every device has seen it."""
        for entity in entities:
            assert not is_there(self.now.pop(entity))
            self.ink = {(of, name): ink for (of, name), ink in self.ink.items() if of != entity}

    # --- what was done ---

    def note(self, words: Mapping[str, Word], result: Result) -> None:
        """A transaction has done an operation, or a part of one."""
        for state in result.entities:
            entity = state.entity_id
            clashes = [clash for clash in result.conflicts if clash.entity_id == entity]
            word = words.get(entity)
            if word is None:
                self._brought_along(state)
            else:
                self._nothing_is_lost(entity, word, state, clashes)
                self._all_is_said(word, state, clashes)
            self._write(word or Word("", "", LATEST, LATEST, {}), state, clashes)

    def _brought_along(self, state: EntityState) -> None:
        """The country of a state, that is marked because its owner wants that: it may only come."""
        before = self.now.get(state.entity_id)
        assert is_there(state), state
        assert not is_there(before) or before == state, (before, state)

    def _nothing_is_lost(
        self, entity: str, word: Word, after: EntityState, clashes: Sequence[FieldConflict]
    ) -> None:
        before = self.now.get(entity)
        had, has = fields_of(before), fields_of(after)
        for name, value in had.items():
            if has.get(name) == value or (name == "notes" and value in has.get(name, "")):
                continue
            is_meant = name in word.fields or word.deletes
            assert _holds(clashes, name, value, "server") or (is_meant and self.has_seen(entity, name, word)), (
                f"{name} of {entity} was {value!r}", word, before, after, clashes
            )  # fmt: skip
        for name, value in word.fields.items():
            # What somebody took away is not there again because of who did not know that.
            is_back = is_there(before) and name not in had and has.get(name) == value is not None
            told = [clash for clash in clashes if clash.field in (name, WHOLE)]
            assert not is_back or told or self.has_seen(entity, name, word), (name, word, before, after)
        if before is not None and is_there(before) != is_there(after):
            of_whole = [clash for clash in clashes if clash.field == WHOLE]
            is_meant = word.deletes if is_there(before) else not word.deletes
            assert of_whole or (is_meant and self.has_seen(entity, WHOLE, word)), (word, before, after)

    def _all_is_said(self, word: Word, after: EntityState, clashes: Sequence[FieldConflict]) -> None:
        of_whole = [clash for clash in clashes if clash.field == WHOLE]
        if word.deletes:
            assert not is_there(after) or [clash for clash in of_whole if clash.client is None], (word, after)
            return
        assert is_there(after) or (of_whole and not word.marks), (word, after)
        has = fields_of(after)
        for name, value in word.fields.items():
            is_kept = has.get(name) == value or (name == "notes" and value and value in has.get(name, ""))
            assert is_kept or _holds(clashes, name, value, "client"), (name, word, after, clashes)

    def _write(self, word: Word, after: EntityState, clashes: Sequence[FieldConflict]) -> None:
        entity = after.entity_id
        had, has = fields_of(self.now.get(entity)), fields_of(after)
        mixed = {clash.field for clash in clashes} - {WHOLE}
        changed = {name for name in {**had, **has} if had.get(name) != has.get(name)}
        if is_there(self.now.get(entity)) != is_there(after):
            changed |= {WHOLE, *has}
        for name in changed:
            device = "" if name in mixed else word.device
            self.ink[entity, name] = Ink(
                after.server_version, device, self.orders.get(word.operation_id, LATEST), word.operation_id
            )
        self.now[entity] = after

    def has_seen(self, entity: str, name: str, word: Word) -> bool:
        """Whether an author knew the value of a field: was told of it, or it was set on the same device before.

        What a device did and was not answered for in a month is done anew, in its order: until the last of it is, what
        it did later may be gone.
        """
        ink = self.ink.get((entity, name))
        if ink is None or ink.at <= word.seen:
            return True
        return ink.device == word.device and (ink.order <= word.saw or ink.operation_id in self.unanswered)

    def has_seen_all(self, entity: str, word: Word) -> bool:
        return all(self.has_seen(entity, name, word) for of, name in self.ink if of == entity)


def _holds(clashes: Sequence[FieldConflict], name: str, value: Any, side: str) -> bool:
    """Whether a conflict has a value of a field on a side."""
    for clash in clashes:
        said = getattr(clash, side)
        if clash.field == name and said == value:
            return True
        if clash.field == WHOLE and isinstance(said, dict) and said.get(name) == value:
            return True
    return False
