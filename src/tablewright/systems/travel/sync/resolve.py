"""Resolving conflicts: from the traveller's choice to the task that writes it.

Must hold: a conflict is resolved once, from the versions that were shown; the choice and its record are one task, done
or not at all. Elsewhere: doing it (push.py), how a conflict comes about (merge.py).
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pydantic import JsonValue

from tablewright.edge.errors import BadRequest, Conflict, NotFound
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.model import Operation, Place, Strategy
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.sync.merge import WHOLE, Verb
from tablewright.systems.travel.sync.operations import Edit, FieldConflict, conflicts_in, place_of
from tablewright.systems.travel.sync.split import TargetChange, Task

# The id of an operation, or of a part of one.
_RECORD_ID = re.compile(r"[A-Za-z0-9_-]{1,64}(\.\d{1,4}-\d{1,4})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Choice:
    """How to resolve a conflict, from these versions of its entities; `data` is for 'manual' alone."""

    strategy: Strategy
    data: dict[str, JsonValue] | None
    versions: Mapping[str, int]


def parts_to_settle(
    repository: Repository, user_id: str, operation_id: str, choice: Choice
) -> list[Operation]:
    """The records of an operation that are still in conflict, if the choice can be about them."""
    if (choice.strategy == "manual") != (choice.data is not None):
        words = "Send data with the choice 'manual', and only then."
        raise BadRequest("INVALID_CHOICE", words, "data")
    opened = _open_parts(repository, user_id, operation_id)
    entities = {clash.entity_id for part in opened for clash in conflicts_in(part)}
    if choice.data is not None and len(entities) > 1:
        words = "This conflict is about several places. Choose a version, then edit each place."
        raise BadRequest("INVALID_CHOICE", words, "choice")
    return opened


def task_of(repository: Repository, operation: Operation, edit: Edit, choice: Choice) -> Task:
    """What was chosen, as an operation of its own, with the record that it was."""
    if not _is_open(operation):
        raise _resolved()
    clashes = conflicts_in(operation)
    targets = []
    for entity in dict.fromkeys(clash.entity_id for clash in clashes):
        mine = [clash for clash in clashes if clash.entity_id == entity]
        base = choice.versions.get(entity, mine[0].version)
        if choice.strategy not in ("server_wins", "merged"):
            targets.append(_chosen(repository, operation.user_id, place_of(entity), mine, choice, base))
    update = {"status": "processed", "resolution_strategy": choice.strategy, "is_processed": True}
    settled = d.operations.move(operation, operation.model_copy(update=update), by="traveller")
    return Task(edit.operation_id, edit, tuple(targets), settles=settled)


def _open_parts(repository: Repository, user_id: str, operation_id: str) -> list[Operation]:
    if not _RECORD_ID.fullmatch(operation_id):
        raise NotFound("OPERATION")
    receipt = repository.receipts_of(user_id, [operation_id]).get(operation_id)
    if receipt is None:
        raise NotFound("OPERATION")
    opened = []
    for id in receipt.parts or [operation_id]:
        with suppress(NotFound):  # parts may be forgotten one after the other
            opened += [part for part in [repository.operation(user_id, id)] if _is_open(part)]
    if not opened:
        raise _resolved()
    return opened


def _chosen(
    repository: Repository,
    user_id: str,
    place: Place | None,
    clashes: Sequence[FieldConflict],
    choice: Choice,
    base: int,
) -> TargetChange:
    """What the device's version, or another one, makes of one entity."""
    verb: Verb = "restore" if place is not None else "update"
    whole = next((clash for clash in clashes if clash.field == WHOLE), None)
    fields: Mapping[str, JsonValue] = {clash.field: clash.client for clash in clashes}
    if choice.data is not None:
        today = rules.today_in(repository.profile(user_id).time_zone, repository.now())
        fields = rules.visit_edit(choice.data, today) if place is not None else rules.user_edit(choice.data)
    elif whole is not None and whole.client is None:
        verb, fields = "delete", {}
    elif whole is not None and isinstance(whole.client, dict):
        fields = whole.client
    return TargetChange(place, verb, fields, base, insists=True)


def _is_open(operation: Operation) -> bool:
    return operation.status == "conflict" and operation.conflict_details is not None


def _resolved() -> Conflict:
    return Conflict("ALREADY_RESOLVED", "This conflict is already resolved.", "operation_id")
