"""Runs writes: one as a call of its own, several as a transaction, and the ways around what DynamoDB refuses.

Nested places whose maps are missing get them; an upsert begins its item where there is none; lowest and highest
follow the item. Must hold: a refusal that is raised has written nothing but, at most, empty maps.
Elsewhere: what is sent (writes.py, upserts.py, parents.py, trackers.py), what a refusal means (refusals.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from tablewright.client import Call, CallRefused, Reason, TransactionRefused, transact_write
from tablewright.design import Write
from tablewright.mapping.errors import (
    AlreadyExists,
    ConditionNotMet,
    Missing,
    NotInOneTransaction,
    WriteRefused,
)
from tablewright.mapping.items import item_of
from tablewright.mapping.parents import Path, parents
from tablewright.mapping.receipts import KEPT, Written, kept_result, receipt
from tablewright.mapping.refusals import is_done, meaning
from tablewright.mapping.trackers import chosen, has_trackers
from tablewright.mapping.upserts import beginning
from tablewright.mapping.wording import Wording
from tablewright.mapping.writes import Action, Physical, actions
from tablewright.values import Item, Value
from tablewright.world import World

ATTEMPTS = 20
_VERBS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}
CONDITION_FAILED = "ConditionalCheckFailed"
_NO_PARENT = "document path provided in the update expression is invalid"


@dataclass(frozen=True, slots=True)
class Line:
    """How requests reach the tables: `ask(name, verb, request)` counts the units under the name."""

    ask: Callable[[str, str, Mapping[str, Any]], dict[str, Any]]
    physical: Physical
    world: World

    def now(self) -> int:
        return int(self.world.now().timestamp())

    def metered(self, name: str) -> Call:
        return lambda verb, request: self.ask(name, verb, request)


# --- one write ---


def write_one(line: Line, write: Write[Any]) -> Written:
    """One write: a call of its own, unless guards come with it."""
    if write.kind in ("update", "upsert"):
        update(line, write, "NONE")
        return Written()
    planned = actions(write, line.physical, line.now())
    if len(planned) > 1 or planned[0].verb == "ConditionCheck":
        return transact(line, (write,))
    _act(line, planned[0], write.name)
    return Written()


def update(line: Line, write: Write[Any], returning: str) -> Item:
    """An update or upsert; the attributes it returns."""
    if has_trackers(write):
        return _track(line, write, returning)
    for _ in range(ATTEMPTS):
        try:
            return _update_there(line, write, write.name, returning)
        except Missing:
            if write.kind != "upsert":
                raise
        begun = _begin(line, write)
        if begun is not None:
            return begun
    raise ConditionNotMet(
        write.shape.tag, write.key, "it is being removed as often as it is begun; try again"
    )


def _begin(line: Line, write: Write[Any]) -> Item | None:
    """Create what an upsert begins with; None if somebody else was faster."""
    begun = beginning(write)
    try:
        _act(line, actions(begun, line.physical, line.now())[0], write.name)
    except AlreadyExists:
        return None
    return item_of(begun.shape, begun.item)


def _update_there(line: Line, write: Write[Any], name: str, returning: str) -> Item:
    """Update what is there, with the maps it needs."""
    barren = 0
    while True:
        action = actions(write, line.physical, line.now())[0]
        if action.verb == "ConditionCheck":
            raise NotInOneTransaction(f"{write.name} changes nothing; give it a step")
        try:
            return _act(line, action, name, returning)
        except CallRefused as refusal:
            if not _lacks_parent(refusal.name, refusal.message):
                raise
        barren = 0 if _make_parents(line, write) else barren + 1
        if barren > 1:
            raise _no_parent(write)


def _act(line: Line, action: Action, name: str, returning: str = "NONE") -> Item:
    """One action as a call of its own; the attributes it returns."""
    body = {**action.body, "ReturnValues": returning} if returning != "NONE" else action.body
    try:
        return line.ask(name, _VERBS[action.verb], body).get("Attributes", {})  # type: ignore[no-any-return]  # wire
    except CallRefused as refusal:
        if refusal.name != "ConditionalCheckFailedException":
            raise
        found = refusal.fields.get("Item")
        if refusal.follows_lost_answer and is_done(action, found):
            return {}
        raise meaning(action, found, line.now()) from None


# --- several at once ---


def transact(
    line: Line,
    writes: Sequence[Write[Any]],
    once: str | None = None,
    result: Any = None,
    kept: timedelta = KEPT,
) -> Written:
    """All writes or none. With `once`, a receipt goes along, and a repetition gives what it says."""
    name = "+".join(dict.fromkeys(write.name for write in writes))
    keys = {line.physical(w.shape.table.name): w.shape.table.key_names for w in writes}
    begun: set[int] = set()  # the upserts, by position, that begin their item
    barren = 0
    for _ in range(ATTEMPTS):
        now = line.world.now()
        planned = [
            (number, action)
            for number, write in enumerate(writes)
            for action in actions(
                beginning(write) if number in begun else write, line.physical, int(now.timestamp())
            )
        ]
        if once is not None:
            planned.append((len(writes), receipt(once, result, now, kept, line.physical)))
        sent: list[dict[str, Any]] = [{action.verb: action.body} for _, action in planned]
        try:
            transact_write(line.metered(name), sent, key_names=keys, world=line.world)
            return Written(False, result)
        except TransactionRefused as refusal:
            failed = [reason for reason in refusal.reasons if reason.code == CONDITION_FAILED]
            if not failed and not any(
                _lacks_parent("ValidationException", r.message) for r in refusal.reasons
            ):
                raise
        if failed and once is not None and failed[-1].position == len(planned) - 1:
            return Written(True, kept_result(_item(failed[-1])))
        # What is not raised is an upsert that has to begin its item, or finds it begun: it changes sides.
        for reason in failed:
            number, action = planned[reason.position]
            refused = meaning(action, _item(reason), line.now())
            if not _changes_sides(writes[number], number in begun, refused):
                raise refused
            begun ^= {number}
        if not failed:
            made = [_make_parents(line, write) for number, write in enumerate(writes) if number not in begun]
            barren = 0 if any(made) else barren + 1
            if barren > 1:
                raise _no_parent(next(write for write in writes if any(_nested(write))))
    raise ConditionNotMet(writes[0].shape.tag, writes[0].key, "others keep changing what it needs; try again")


def _changes_sides(write: Write[Any], has_begun: bool, refused: WriteRefused) -> bool:
    return write.kind == "upsert" and isinstance(refused, AlreadyExists if has_begun else Missing)


def _item(reason: Reason) -> dict[str, Value] | None:
    return dict(reason.item) if reason.item else None


# --- maps around nested places ---


def _lacks_parent(name: str, message: str) -> bool:
    return name == "ValidationException" and _NO_PARENT in message


def _nested(write: Write[Any]) -> list[str]:
    return [str(step.place) for step in write.steps if len(step.place.steps) > 1]


def _no_parent(write: Write[Any]) -> ConditionNotMet:
    places = ", ".join(_nested(write))
    why = f"what lies around {places} is not there and cannot begin empty; set the whole of it"
    return ConditionNotMet(write.shape.tag, write.key, why)


def _make_parents(line: Line, write: Write[Any]) -> bool:
    """Whether any map was made."""
    return any([_make_parent(line, write, path) for path in parents(write)])


def _make_parent(line: Line, write: Write[Any], path: Path) -> bool:
    wording = Wording()
    here = wording.path(path)
    there = f"attribute_exists({wording.name(write.shape.table.pk)})"
    body = {
        "TableName": line.physical(write.shape.table.name),
        "Key": dict(write.key),
        "UpdateExpression": f"SET {here} = {wording.value({'M': {}})}",
        "ConditionExpression": f"{there} AND attribute_not_exists({here})",
        **wording.placeholders(),
    }
    try:
        line.ask(write.name, "UpdateItem", body)
    except CallRefused as refusal:
        if refusal.name != "ConditionalCheckFailedException" and not _lacks_parent(
            refusal.name, refusal.message
        ):
            raise
        return False
    return True


# --- lowest and highest ---


def _track(line: Line, write: Write[Any], returning: str) -> Item:
    """First guess that all trackers move, then go by the item the refusal shows."""
    guess = chosen(write, None)
    current: Item = {}
    for _ in range(ATTEMPTS):
        if not guess.steps:
            if write.when_:
                transact(line, (replace(guess, kind="check"),))
            return current
        try:
            return _update_there(line, replace(guess, kind="update"), write.name, returning)
        except Missing:
            if write.kind != "upsert":
                raise
            begun = _begin(line, write)
            if begun is not None:
                return begun
        except ConditionNotMet as refused:
            if refused.current is None:
                raise
            current = item_of(write.shape, refused.current)
            again = chosen(write, current)
            if again == guess:
                raise
            guess = again
    raise ConditionNotMet(write.shape.tag, write.key, "it changes faster than it can be followed; try again")
