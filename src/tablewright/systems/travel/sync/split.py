"""What is to be done: operations read and checked, as tasks that fit into transactions.

Must hold: how an operation is cut depends on it alone; sent again, it must be the same parts. Elsewhere: doing them
(apply.py), when (push.py), what an operation may say (rules.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import get_args

from tablewright.design import Write
from tablewright.edge.errors import BadRequest
from tablewright.systems.travel import rules
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.model import Operation, Place
from tablewright.systems.travel.sync.merge import NOTES_AT_MOST, Fields, Verb
from tablewright.systems.travel.sync.operations import Edit, Target, Unreadable, places_in

# A transaction has 100 actions: the head; two countries that states may bring along, each a visit and a change; then
# for each place the visit and its change, for each operation its record and its receipt.
ACTIONS = 95
PLACES = 45
# A record has everything that is in dispute and is an item of 400 KB; a transaction has 4 MB, with receipts and visits.
RECORD_BYTES, PIECE_BYTES = 350 * 1024, 1024 * 1024
_FIELD_BYTES = {"notes": 4 * NOTES_AT_MOST + 16, "visited_date": 32}
_TRIP_BYTES = 4 * rules.TRIP_NOTES_AT_MOST + 64 + 100
_PLACE_BYTES = sum(_FIELD_BYTES.values()) + rules.TRIPS_AT_MOST * _TRIP_BYTES
_CLASH_BYTES = 400
_VERBS: dict[str, Verb] = {name: verb for verb in get_args(Verb) for name in (verb, f"batch_{verb}")}


@dataclass(frozen=True, slots=True)
class TargetChange:
    """One place, or the traveller if there is none: what is to be done, with which fields, from which version.

    `former` is the retired code a place was asked for by. `insists`: if that would be a conflict, nothing is done;
    `is_exact`: if it is not made from the newest version, nothing is done either.
    """

    place: Place | None
    verb: Verb
    fields: Fields
    base: int
    former: Place | None = None
    insists: bool = False
    is_exact: bool = False

    @property
    def dispute_bytes(self) -> int:
        """The most that a conflict about it takes in a record: both sides, and what was kept."""
        if self.verb == "delete":
            return _CLASH_BYTES + 2 * _PLACE_BYTES
        named = sum(_CLASH_BYTES + 3 * _FIELD_BYTES.get(name, _TRIP_BYTES) for name in self.fields)
        # What is not there on the other side is only said by one.
        return min(_CLASH_BYTES + named, 3 * _PLACE_BYTES + rules.DATA_BYTES)


@dataclass(frozen=True, slots=True)
class Task:
    """An operation, or a part of one that is too large for a transaction, read and checked.

    `refusal` is what is wrong with it; then nothing is done but to write that down. `after` is the operation, or the
    part of this one, that has to be done before; `parts` are all of them, if it is the last of several. `settles` is
    the record of the conflict that it settles, as it will be; such a one is done, or nothing is written.
    `marked_at` is when a place was marked, where that is known for certain.
    """

    id: str
    edit: Edit
    targets: tuple[TargetChange, ...] = ()
    refusal: BadRequest | None = None
    after: str | None = None
    parts: tuple[str, ...] = ()
    settles: Write[Operation] | None = None
    marked_at: datetime | None = None

    @property
    def places(self) -> list[Place]:
        """Every place it may be about, under its present and its former code."""
        return [place for it in self.targets for place in (it.place, it.former) if place is not None]

    @property
    def actions(self) -> int:
        """How many actions of a transaction it may take."""
        return 2 + 2 * len(self.targets) + (self.settles is not None) + bool(self.parts)

    @property
    def record_bytes(self) -> int:
        """How large its record may become, about."""
        return sum(target.dispute_bytes for target in self.targets)


# --- reading what was asked ---


def tasks_of(asked: Edit | Unreadable, geography: Geography, today: date, is_exact: bool) -> list[Task]:
    """An operation as one task, or as several if it is too large for a transaction; none if it has no id.

    Each part waits for the one before; with the last comes a receipt for the operation's own id: all of it is done.
    """
    if isinstance(asked, Unreadable):
        return [Task(asked.edit.operation_id, asked.edit, refusal=asked.refusal)] if asked.edit else []
    edit = asked
    try:
        _check_previous(edit)
        targets = tuple(replace(target, is_exact=is_exact) for target in _targets_of(edit, geography, today))
    except BadRequest as refusal:
        return [Task(edit.operation_id, edit, refusal=refusal)]
    cuts = list(_cuts(targets))
    if len(cuts) == 1:
        return [Task(edit.operation_id, edit, targets, after=edit.previous)]
    ids = [f"{edit.operation_id}.{start}-{end}" for start, end in cuts]
    tasks = [
        Task(id, edit, targets[start:end], after=after)
        for id, (start, end), after in zip(ids, cuts, [edit.previous, *ids], strict=False)
    ]
    return [*tasks[:-1], replace(tasks[-1], parts=tuple(ids))]


def _targets_of(edit: Edit, geography: Geography, today: date) -> tuple[TargetChange, ...]:
    verb = _VERBS[edit.operation_type]
    if edit.entity_type == "user":
        if verb != "update" or edit.visits:
            words = "A traveller's settings can only be updated."
            raise BadRequest("INVALID_OPERATION", words, "operation_type")
        return (TargetChange(None, "update", rules.user_edit(edit.entity_data), edit.client_version),)
    asked = places_in(edit)
    if not asked or edit.operation_type.startswith("batch_") != bool(edit.visits):
        words = "A batch needs visits; any other operation needs a region_type and a region_code."
        raise BadRequest("INVALID_OPERATION", words, "operation_type")
    targets = tuple(_target_of(verb, one, geography, today) for one in asked)
    if len({target.place for target in targets}) != len(targets):
        raise BadRequest("DUPLICATE_PLACE", "This batch has the same place twice.", "visits")
    return targets


def _target_of(verb: Verb, asked: Target, geography: Geography, today: date) -> TargetChange:
    if asked.client_version < 0:
        raise BadRequest("INVALID_VERSION", "A version can't be negative.", "client_version")
    fields = rules.visit_edit(asked.entity_data, today) if verb != "delete" else {}
    said: Place = (asked.region_type, asked.region_code)
    follow = rules.marked_place if verb == "delete" else rules.present_place
    place = follow(geography, *said)
    return TargetChange(place, verb, fields, asked.client_version, former=said if said != place else None)


def _check_previous(edit: Edit) -> None:
    if edit.previous is None:
        return
    if rules.check_id(edit.previous, "previous") == edit.operation_id:
        raise BadRequest("INVALID_ID", "An operation cannot follow itself.", "previous")


# --- as much as fits ---


def _cuts(targets: Sequence[TargetChange]) -> Iterator[tuple[int, int]]:
    """Where an operation is cut, so that each part fits into a transaction, and what it disputes into its record."""
    start = size = 0
    for number, target in enumerate(targets):
        size += target.dispute_bytes
        if number > start and (number - start == PLACES or size > RECORD_BYTES):
            yield start, number
            start, size = number, target.dispute_bytes
    yield start, len(targets)


def pieces(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    """As many operations as fit into one transaction, in their order."""
    piece: list[Task] = []
    actions = places = size = 0
    for task in tasks:
        actions, places, size = (
            actions + task.actions,
            places + len(task.targets),
            size + task.record_bytes,
        )
        if piece and (actions > ACTIONS or places > PLACES or size > PIECE_BYTES):
            yield piece
            piece, actions, places, size = [], task.actions, len(task.targets), task.record_bytes
        piece.append(task)
    if piece:
        yield piece
