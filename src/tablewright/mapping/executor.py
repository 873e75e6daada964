"""Runs writes: one as a call of its own, several as a transaction, and the ways around what DynamoDB refuses.

Nested places whose maps are missing get them; an upsert begins its item where there is none; lowest and highest
follow the item. Must hold: a refusal that is raised has written nothing but, at most, empty maps.
Elsewhere: what is sent (write_requests.py, upserts.py, nested_maps.py, extremes.py), what a refusal means
(error_mapping.py).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from tablewright.client import Call, CallRefused, Reason, TransactionRefused, transact_write
from tablewright.design import Write
from tablewright.expressions import Path, PlaceholderAllocator, Update, render
from tablewright.expressions.build import attribute_exists, attribute_not_exists
from tablewright.expressions.nodes import And, Set
from tablewright.mapping.error_mapping import error_for, is_done
from tablewright.mapping.errors import (
    AlreadyExists,
    ConditionNotMet,
    Missing,
    NotInOneTransaction,
    WriteRefused,
)
from tablewright.mapping.extremes import has_trackers, resolve_trackers
from tablewright.mapping.items import item_of
from tablewright.mapping.nested_maps import parents
from tablewright.mapping.receipts import RECEIPT_LIFETIME, Written, receipt_action, stored_result
from tablewright.mapping.upserts import initial_create
from tablewright.mapping.write_requests import Action, Physical, actions
from tablewright.values import Item, Value
from tablewright.world import World

ATTEMPTS = 20
_VERBS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}
CONDITION_FAILED = "ConditionalCheckFailed"
_NO_PARENT = "document path provided in the update expression is invalid"


@dataclass(frozen=True, slots=True)
class Executor:
    """How requests reach the tables: `ask(name, verb, request, calls)` counts units and calls under the name."""

    ask: Callable[[str, str, Mapping[str, Any], int], dict[str, Any]]
    physical: Physical
    world: World

    def now(self) -> int:
        return int(self.world.now().timestamp())

    def metered(self, name: str, calls: int = 1) -> Call:
        """A Call whose first answer counts as so many calls, and the rest as requests of the same."""
        left = [calls]

        def call(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            answer = self.ask(name, verb, request, left[0])
            left[0] = 0
            return answer

        return call


def shared_name(names: Iterable[str]) -> tuple[str, int]:
    """The name that several are counted under, and how many calls that is: as many as there are of one name."""
    given = list(names)
    distinct = list(dict.fromkeys(given))
    return "+".join(distinct), len(given) if len(distinct) == 1 else 1


# --- one write ---


def write_one(executor: Executor, write: Write[Any]) -> Written:
    """One write: a call of its own, unless guards come with it."""
    if write.kind in ("update", "upsert"):
        update(executor, write, "NONE")
        return Written()
    planned = actions(write, executor.physical, executor.now())
    if len(planned) > 1 or planned[0].verb == "ConditionCheck":
        return transact(executor, (write,))
    _send(executor, planned[0], write.name)
    return Written()


def update(executor: Executor, write: Write[Any], returning: str) -> Item:
    """An update or upsert; the attributes it returns."""
    if has_trackers(write):
        return _track(executor, write, returning)
    for _ in range(ATTEMPTS):
        try:
            return _update_existing(executor, write, write.name, returning)
        except Missing:
            if write.kind != "upsert":
                raise
        begun = _create_initial(executor, write)
        if begun is not None:
            return begun
    raise ConditionNotMet(
        write.shape.tag,
        write.key,
        "upsert gave up after 20 attempts: the item keeps being deleted concurrently",
    )


def _create_initial(executor: Executor, write: Write[Any]) -> Item | None:
    """Create the item of an upsert; None if it exists by now."""
    begun = initial_create(write)
    try:
        _send(executor, actions(begun, executor.physical, executor.now())[0], write.name)
    except AlreadyExists:
        return None
    return item_of(begun.shape, begun.item)


def _update_existing(executor: Executor, write: Write[Any], name: str, returning: str) -> Item:
    """Update an existing item, and create the maps it needs."""
    barren = 0
    while True:
        action = actions(write, executor.physical, executor.now())[0]
        if action.verb == "ConditionCheck":
            raise NotInOneTransaction(f"{write.name} changes nothing; give it a step")
        try:
            return _send(executor, action, name, returning)
        except CallRefused as refusal:
            if not _lacks_parent(refusal.name, refusal.message):
                raise
        barren = 0 if _make_parents(executor, write) else barren + 1
        if barren > 1:
            raise _no_parent(write)


def _send(executor: Executor, action: Action, name: str, returning: str = "NONE") -> Item:
    """One action as a call of its own; the attributes it returns."""
    body = {**action.body, "ReturnValues": returning} if returning != "NONE" else action.body
    try:
        return executor.ask(name, _VERBS[action.verb], body, 1).get("Attributes", {})  # type: ignore[no-any-return]  # wire
    except CallRefused as refusal:
        if refusal.name != "ConditionalCheckFailedException":
            raise
        found = refusal.fields.get("Item")
        if refusal.follows_lost_answer and is_done(action, found):
            return {}
        raise error_for(action, found, executor.now()) from None


# --- several at once ---


def transact(
    executor: Executor,
    writes: Sequence[Write[Any]],
    once: str | None = None,
    result: Any = None,
    kept: timedelta = RECEIPT_LIFETIME,
) -> Written:
    """All writes or none. With `once`, a receipt goes along, and a repetition gives what it says."""
    name, calls = shared_name(write.name for write in writes)
    keys = {executor.physical(w.shape.table.name): w.shape.table.key_names for w in writes}
    begun: set[int] = set()  # the upserts, by position, that begin their item
    barren = 0
    for _ in range(ATTEMPTS):
        now = executor.world.now()
        planned = [
            (number, action)
            for number, write in enumerate(writes)
            for action in actions(
                initial_create(write) if number in begun else write, executor.physical, int(now.timestamp())
            )
        ]
        if once is not None:
            planned.append((len(writes), receipt_action(once, result, now, kept, executor.physical)))
        sent: list[dict[str, Any]] = [{action.verb: action.body} for _, action in planned]
        try:
            transact_write(executor.metered(name, calls), sent, key_names=keys, world=executor.world)
            return Written(False, result)
        except TransactionRefused as refusal:
            failed = [reason for reason in refusal.reasons if reason.code == CONDITION_FAILED]
            if not failed and not any(
                _lacks_parent("ValidationException", r.message) for r in refusal.reasons
            ):
                raise
        if failed and once is not None and failed[-1].position == len(planned) - 1:
            return Written(True, stored_result(_item(failed[-1])))
        # What is not raised is an upsert that has to begin its item, or finds it begun: it changes sides.
        for reason in failed:
            number, action = planned[reason.position]
            refused = error_for(action, _item(reason), executor.now())
            if not _must_switch(writes[number], number in begun, refused):
                raise refused
            begun ^= {number}
        if not failed:
            made = [
                _make_parents(executor, write) for number, write in enumerate(writes) if number not in begun
            ]
            barren = 0 if any(made) else barren + 1
            if barren > 1:
                raise _no_parent(next(write for write in writes if any(_nested(write))))
    raise ConditionNotMet(
        writes[0].shape.tag, writes[0].key, "gave up after 20 attempts: the items keep changing concurrently"
    )


def _must_switch(write: Write[Any], has_begun: bool, refused: WriteRefused) -> bool:
    return write.kind == "upsert" and isinstance(refused, AlreadyExists if has_begun else Missing)


def _item(reason: Reason) -> dict[str, Value] | None:
    return dict(reason.item) if reason.item else None


# --- maps around nested places ---


def _lacks_parent(name: str, message: str) -> bool:
    return name == "ValidationException" and _NO_PARENT in message


def _nested(write: Write[Any]) -> list[str]:
    return [str(step.path) for step in write.steps if len(step.path.steps) > 1]


def _no_parent(write: Write[Any]) -> ConditionNotMet:
    places = ", ".join(_nested(write))
    why = f"the map around {places} does not exist and cannot be created empty; set the whole map"
    return ConditionNotMet(write.shape.tag, write.key, why)


def _make_parents(executor: Executor, write: Write[Any]) -> bool:
    """Whether any map was made."""
    return any([_make_parent(executor, write, path) for path in parents(write)])


def _make_parent(executor: Executor, write: Write[Any], path: Path) -> bool:
    placeholders = PlaceholderAllocator()
    is_missing = And((attribute_exists(write.shape.table.pk), attribute_not_exists(*path)))
    body = {
        "TableName": executor.physical(write.shape.table.name),
        "Key": dict(write.key),
        "UpdateExpression": render(Update((Set(path, {"M": {}}),)), placeholders),
        "ConditionExpression": render(is_missing, placeholders),
        **placeholders.members(),
    }
    try:
        executor.ask(write.name, "UpdateItem", body, 0)
    except CallRefused as refusal:
        if refusal.name != "ConditionalCheckFailedException" and not _lacks_parent(
            refusal.name, refusal.message
        ):
            raise
        return False
    return True


# --- lowest and highest ---


def _track(executor: Executor, write: Write[Any], returning: str) -> Item:
    """First guess that all trackers move, then go by the item the refusal shows."""
    guess = resolve_trackers(write, None)
    current: Item = {}
    for _ in range(ATTEMPTS):
        if not guess.steps:
            if write.when_:
                transact(executor, (replace(guess, kind="check"),))
            return current
        try:
            return _update_existing(executor, replace(guess, kind="update"), write.name, returning)
        except Missing:
            if write.kind != "upsert":
                raise
            begun = _create_initial(executor, write)
            if begun is not None:
                return begun
        except ConditionNotMet as refused:
            if refused.current is None:
                raise
            current = item_of(write.shape, refused.current)
            again = resolve_trackers(write, current)
            if again == guess:
                raise
            guess = again
    raise ConditionNotMet(
        write.shape.tag, write.key, "gave up after 20 attempts: the item keeps changing concurrently"
    )
