"""Runs writes: one as a call of its own, several as a transaction, and the ways around what DynamoDB refuses.

Nested places whose maps are missing get them; an upsert begins its item where there is none; lowest and highest
follow the item. Must hold: a refusal that is raised has written nothing but, at most, empty maps.
Elsewhere: what is sent (write_requests.py, update_steps.py), what a refusal means
(error_mapping.py).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeAlias

from tablewright.client import Call, CallRefused, Reason, TransactionRefused, transact_write
from tablewright.design import Write
from tablewright.expressions import Path, PlaceholderAllocator, Update, render
from tablewright.expressions.build import attribute_exists, attribute_not_exists
from tablewright.expressions.nodes import And, Set
from tablewright.mapping.error_mapping import error_for, is_done
from tablewright.mapping.errors import AlreadyExists, ConditionNotMet, Missing, NotInOneTransaction
from tablewright.mapping.items import item_of
from tablewright.mapping.receipts import RECEIPT_LIFETIME, Written, receipt_action, stored_result
from tablewright.mapping.update_steps import has_trackers, initial_create, parents, resolve_trackers
from tablewright.mapping.write_requests import VERBS, Action, Physical, actions
from tablewright.values import Item
from tablewright.world import World

ATTEMPTS = 20
# (call, name of the pattern, verb, request, how many calls of the pattern begin with it) -> the Call's answer.
Observe: TypeAlias = Callable[[Call, str, str, Mapping[str, Any], int], dict[str, Any]]
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


def failed_conditions(refusal: TransactionRefused) -> list[Reason]:
    return [reason for reason in refusal.reasons if reason.code == "ConditionalCheckFailed"]


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
    """An update or upsert; the attributes it returns.

    Of lowest and highest it is first guessed that all of them move; then the item that a refusal shows decides.
    """
    tracks = has_trackers(write)
    guess, current = resolve_trackers(write, None) if tracks else write, Item()
    for _ in range(ATTEMPTS):
        if tracks and not guess.steps:
            if write.when_:
                transact(executor, (replace(guess, kind="check"),))
            return current
        try:
            return _update_existing(executor, guess, returning)
        except Missing:
            if write.kind != "upsert":
                raise
            begun = _create_initial(executor, write)
            if begun is not None:
                return begun
        except ConditionNotMet as refused:
            if not tracks or refused.current is None:
                raise
            current = item_of(write.shape, refused.current)
            again = resolve_trackers(write, current)
            if again == guess:
                raise
            guess = again
    raise _not_met(write, "gave up after 20 attempts: the item keeps changing concurrently")


def _not_met(write: Write[Any], why: str) -> ConditionNotMet:
    return ConditionNotMet(write.shape.tag, write.key, why)


def _create_initial(executor: Executor, write: Write[Any]) -> Item | None:
    """Create the item of an upsert; None if it exists by now."""
    begun = initial_create(write)
    with suppress(AlreadyExists):
        _send(executor, actions(begun, executor.physical, executor.now())[0], write.name)
        return item_of(begun.shape, begun.item)
    return None


def _update_existing(executor: Executor, write: Write[Any], returning: str) -> Item:
    """Update an existing item, and create the maps it needs."""
    barren = 0
    while True:
        action = actions(write, executor.physical, executor.now())[0]
        if action.verb == "ConditionCheck":
            raise NotInOneTransaction(f"{write.name} changes nothing; give it a step")
        try:
            return _send(executor, action, write.name, returning)
        except CallRefused as refusal:
            if not _lacks_parent(refusal):
                raise
        barren = 0 if _make_parents(executor, write) else barren + 1
        if barren > 1:
            raise _no_parent(write)


def _send(executor: Executor, action: Action, name: str, returning: str = "NONE") -> Item:
    """One action as a call of its own; the attributes it returns."""
    body = {**action.body, "ReturnValues": returning} if returning != "NONE" else action.body
    try:
        return executor.ask(name, VERBS[action.verb], body, 1).get("Attributes", {})  # type: ignore[no-any-return]  # wire
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
        asked = [initial_create(write) if number in begun else write for number, write in enumerate(writes)]
        planned = [
            (number, action)
            for number, write in enumerate(asked)
            for action in actions(write, executor.physical, int(now.timestamp()))
        ]
        if once is not None:
            planned.append((len(writes), receipt_action(once, result, now, kept, executor.physical)))
        sent: list[dict[str, Any]] = [{action.verb: action.body} for _, action in planned]
        try:
            transact_write(executor.metered(name, calls), sent, key_names=keys, world=executor.world)
            return Written(False, result)
        except TransactionRefused as refusal:
            failed = failed_conditions(refusal)
            if not failed:
                if not any(_NO_PARENT in reason.message for reason in refusal.reasons):
                    raise
                failed = _failed_besides_nested(executor, name, writes, planned)
        if failed and once is not None and failed[-1].position == len(planned) - 1:
            return Written(True, stored_result(failed[-1].item))
        # What is not raised is an upsert that has to begin its item, or finds it begun: it changes sides.
        for reason in failed:
            number, action = planned[reason.position]
            refused = error_for(action, reason.item or None, executor.now())
            switches = isinstance(refused, AlreadyExists if number in begun else Missing)
            if writes[number].kind != "upsert" or not switches:
                raise refused
            begun ^= {number}
        if not failed:
            left = [write for number, write in enumerate(writes) if number not in begun]
            barren = 0 if any([_make_parents(executor, write) for write in left]) else barren + 1
            if barren > 1:
                raise _no_parent(next(write for write in writes if any(_nested(write))))
    raise _not_met(writes[0], "gave up after 20 attempts: the items keep changing concurrently")


# --- maps around nested places ---


def _failed_besides_nested(
    executor: Executor, name: str, writes: Sequence[Write[Any]], planned: Sequence[tuple[int, Action]]
) -> list[Reason]:
    """The conditions that fail in a transaction, besides those of updates of nested places.

    The service evaluates nothing after an update whose map is missing. In a transaction where a condition that is
    never true stands in for such updates it evaluates the others, and writes nothing.
    """
    nested = {
        position
        for position, (number, action) in enumerate(planned)
        if action.verb == "Update" and number < len(writes) and parents(writes[number])
    }
    sent: list[dict[str, Any]] = [
        {"ConditionCheck": _never(action)} if position in nested else {action.verb: action.body}
        for position, (_, action) in enumerate(planned)
    ]
    try:
        transact_write(executor.metered(name, 0), sent, world=executor.world)
    except TransactionRefused as refusal:
        return [reason for reason in failed_conditions(refusal) if reason.position not in nested]
    raise AssertionError("a condition that is never true was met")


def _never(action: Action) -> dict[str, Any]:
    """The body of a check of the same item that always fails."""
    (name, *_) = action.body["Key"]
    return {
        "TableName": action.body["TableName"],
        "Key": action.body["Key"],
        "ConditionExpression": "attribute_exists(#k) AND attribute_not_exists(#k)",
        "ExpressionAttributeNames": {"#k": name},
    }


def _lacks_parent(refusal: CallRefused) -> bool:
    return refusal.name == "ValidationException" and _NO_PARENT in refusal.message


def _nested(write: Write[Any]) -> list[str]:
    return [str(step.path) for step in write.steps if len(step.path.steps) > 1]


def _no_parent(write: Write[Any]) -> ConditionNotMet:
    places = ", ".join(_nested(write))
    why = f"the map around {places} does not exist and cannot be created empty; set the whole map"
    return _not_met(write, why)


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
        if refusal.name != "ConditionalCheckFailedException" and not _lacks_parent(refusal):
            raise
        return False
    return True
