"""Taking what devices did, and settling what they disagree on.

A push is a list of operations; each has a result, and is done once however often it is sent. Operations are written in
pieces, each a transaction that moves the traveller's head by as many places as there are changes: whoever was slower
reads again and merges anew. Must hold: what is answered is written; an operation's effect, its place in the feed, its
record and its receipt are there together or not at all.
Elsewhere: the protocol in words (docs/sync.md), one piece (drafts.py), who wins (merge.py), what is new (feed.py).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from typing import Any, TypeVar

from pydantic import JsonValue, TypeAdapter

from tablewright.design import Write
from tablewright.mapping import ConditionNotMet, Page, WriteRefused
from tablewright.mapping.repository import ATTEMPTS
from tablewright.systems.travel import design as d
from tablewright.systems.travel import drafts, rules
from tablewright.systems.travel.drafts import Aim, Draft, Place, Task
from tablewright.systems.travel.errors import BadRequest, ClientTooOld, Conflict, NotThere, TooOften
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.merge import WHOLE, Deed
from tablewright.systems.travel.model import (
    REGION_TYPES,
    SERVER,
    Device,
    Head,
    OpenStatus,
    Operation,
    Profile,
    Receipt,
    Strategy,
    Visit,
)
from tablewright.systems.travel.operations import (
    OLDEST_SCHEMA,
    SCHEMA,
    Edit,
    EntityState,
    FieldConflict,
    Pushed,
    Result,
    Target,
    digest,
    targets,
    user_state,
    visit_state,
)
from tablewright.systems.travel.repository import Repository

T = TypeVar("T")
WEB = "the web"
_CLASHES = TypeAdapter(list[FieldConflict])
# The id of an operation, or of a part of one.
_RECORD_ID = re.compile(r"[A-Za-z0-9_-]{1,64}(\.\d{1,4}-\d{1,4})?", re.ASCII)
_DEEDS: dict[str, Deed] = {
    "create": "create",
    "update": "update",
    "delete": "delete",
    "restore": "restore",
    "batch_create": "create",
    "batch_update": "update",
    "batch_delete": "delete",
}


@dataclass(frozen=True, slots=True)
class Source:
    """Where operations come from."""

    user_id: str
    device_id: str = SERVER
    label: str = WEB
    is_stale: bool = False


def check_schema(schema: int) -> None:
    """Refuse an app that speaks a form nobody understands any more."""
    if schema < OLDEST_SCHEMA:
        raise ClientTooOld(schema, OLDEST_SCHEMA)
    if schema > SCHEMA:
        words = f"This server speaks the protocol up to form {SCHEMA}."
        raise BadRequest("UNKNOWN_SCHEMA", words, "schema")


class Sync:
    """Operations of a traveller's devices. `relist` follows a change of who may see the visits."""

    def __init__(self, repository: Repository, geography: Geography, relist: Callable[[str], object]) -> None:
        self._repository, self._geography, self._relist = repository, geography, relist

    # --- pushes ---

    def push(
        self,
        user_id: str,
        device_id: str,
        edits: Sequence[Edit],
        since: int | None = None,
        seal: str | None = None,
        *,
        schema: int = SCHEMA,
    ) -> Pushed:
        """Do what a device did; one result for each operation, in their order.

        `since` and `seal` are where the device is in the feed: if that is not in this feed, or is from before places
        were forgotten, the versions it knows say nothing.
        """
        check_schema(schema)
        if len(edits) > rules.PUSH_AT_MOST:
            words = f"A push carries at most {rules.PUSH_AT_MOST} operations; this one has {len(edits)}."
            raise BadRequest("BATCH_TOO_LARGE", words, "operations")
        _check_ids(edits)
        device = self._admit(user_id, device_id)
        away = self._repository.now() - (device.last_sync_at or device.registered_at)
        is_stale = away >= d.TOMBSTONES_KEPT or self._repository.is_elsewhere(user_id, since, seal)
        source = Source(user_id, device_id, device.name, is_stale)
        results = self._run(source, edits)
        head = self._repository.head(user_id)
        return Pushed(results=results, server_version=head.server_version if head else 0)

    def apply(self, user_id: str, edit: Edit, *, insists: bool = False) -> Result:
        """Do what the web pages say, as if they were a device. Who `insists` has no conflicts, but is refused."""
        rules.check_id(edit.operation_id, "operation_id")
        return self._run(Source(user_id), [edit], insists)[0]

    def change_user(self, user_id: str, fields: dict[str, JsonValue], version: int | None = None) -> Result:
        """Change settings from the web; on the newest version, or on the one its owner has seen."""
        profile = self._repository.profile(user_id)
        return self.apply(
            user_id,
            Edit(
                operation_id=self._repository.world.new_id(),
                operation_type="update",
                entity_type="user",
                client_version=profile.entity_version if version is None else version,
                entity_data=fields,
                client_timestamp=self._repository.now(),
            ),
        )

    def move(self, visit: Visit, region_code: str) -> Result:
        """Take a mark to another code of the same place, with everything that is said of it (SK-X12)."""
        edit = Edit(
            operation_id=self._repository.world.new_id(),
            operation_type="batch_update",
            client_timestamp=self._repository.now(),
        )
        aims = (
            Aim((visit.region_type, visit.region_code), "delete", {}, visit.sync_version, insists=True),
            Aim((visit.region_type, region_code), "restore", rules.visit_fields(visit), 0),
        )
        task = Task(edit.operation_id, edit, aims, marked_at=visit.marked_at)
        result = self._piece(Source(visit.user_id), [task])[task.id]
        self._refresh_profile(visit.user_id)
        return result

    # --- conflicts ---

    def conflicts(self, user_id: str, size: int | None = None, after: str | None = None) -> Page[Operation]:
        """What devices disagreed on and nobody has looked at yet, the latest first."""
        query = d.operations_of(user_id=user_id).where(lambda op: op.status == "conflict")
        return self._repository.page(query, size, after, user_id)

    def operations(
        self, user_id: str, device_id: str | None = None, size: int | None = None, after: str | None = None
    ) -> Page[Operation]:
        """SK-17, SK-19: what a traveller's devices did, or one of them; the latest first."""
        query = d.operations_of(user_id=user_id)
        if device_id is not None:
            query = d.operations_of_device(user_id=user_id, device_id=rules.check_id(device_id, "device_id"))
        return self._repository.page(query, size, after, user_id)

    def by_status(
        self, status: OpenStatus, reader: str, size: int | None = None, after: str | None = None
    ) -> Page[Operation]:
        """SK-18: what waits, was refused or is in conflict, of everybody; the oldest first."""
        return self._repository.page(d.operations_by_status(status=status), size, after, reader)

    def resolve(
        self,
        user_id: str,
        operation_id: str,
        choice: Strategy,
        data: dict[str, JsonValue] | None = None,
        versions: Mapping[str, int] | None = None,
    ) -> Result:
        """Settle a conflict: leave it as it is, take what the device said, or write something else (`manual`).

        `versions` are those of the entities that were looked at, by entity_id; without, they are as the conflict left
        them. What was changed since is not overwritten: then it is a VersionConflict, and the conflict stays.
        A batch in several parts is settled part by part.
        """
        if (choice == "manual") != (data is not None):
            words = "Say what it shall be with the choice 'manual', and only then."
            raise BadRequest("INVALID_CHOICE", words, "data")
        opened = self._open_parts(user_id, operation_id)
        if data is not None and len({clash.entity_id for part in opened for clash in _clashes(part)}) > 1:
            words = "This is about several places. Choose a side; then edit each."
            raise BadRequest("INVALID_CHOICE", words, "choice")
        results = [
            self._tried(partial(self._settle, user_id, part.operation_id, choice, data, versions or {}))
            for part in opened
        ]
        self._refresh_profile(user_id)
        return _whole(operation_id, results)

    def _open_parts(self, user_id: str, operation_id: str) -> list[Operation]:
        """The records of an operation that are still in conflict."""
        if not _RECORD_ID.fullmatch(operation_id):
            raise NotThere("OPERATION")
        receipt = self._repository.receipts_of(user_id, [operation_id]).get(operation_id)
        if receipt is None:
            raise NotThere("OPERATION")
        opened = []
        for id in receipt.parts or [operation_id]:
            with suppress(NotThere):  # parts may be forgotten one after the other
                opened += [part for part in [self._repository.operation(user_id, id)] if _is_open(part)]
        if not opened:
            raise _resolved()
        return opened

    def _settle(
        self,
        user_id: str,
        operation_id: str,
        choice: Strategy,
        data: dict[str, JsonValue] | None,
        versions: Mapping[str, int],
    ) -> Result:
        """Write what was chosen, with the record that it was."""
        operation = self._repository.operation(user_id, operation_id)
        if not _is_open(operation):
            raise _resolved()
        edit = Edit(
            operation_id=self._repository.world.new_id(),
            operation_type="update",
            entity_type=operation.entity_type,
            client_timestamp=self._repository.now(),
        )
        clashes = _clashes(operation)
        aims = []
        for entity in dict.fromkeys(clash.entity_id for clash in clashes):
            mine = [clash for clash in clashes if clash.entity_id == entity]
            place = _place(entity) if edit.entity_type == "visited_place" else None
            base = versions.get(entity, mine[0].version)
            aim = self._chosen(user_id, place, mine, choice, data, base)
            aims += [aim] if aim is not None else []
        update = {"status": "processed", "resolution_strategy": choice, "is_processed": True}
        settled = d.operations.change(operation, operation.model_copy(update=update))
        task = Task(edit.operation_id, edit, tuple(aims), settles=settled)
        return self._attempt(Source(user_id), [task])[task.id]

    def _chosen(
        self,
        user_id: str,
        place: Place | None,
        clashes: Sequence[FieldConflict],
        choice: Strategy,
        data: dict[str, JsonValue] | None,
        base: int,
    ) -> Aim | None:
        """What a choice does to one entity; None if it stays as it is."""
        if choice in ("server_wins", "merged"):
            return None
        deed: Deed = "restore" if place is not None else "update"
        whole = next((clash for clash in clashes if clash.field == WHOLE), None)
        fields: Mapping[str, JsonValue] = {clash.field: clash.client for clash in clashes}
        if data is not None:
            today = self._today(self._repository.profile(user_id))
            fields = rules.visit_edit(data, today) if place is not None else rules.user_edit(data)
        elif whole is not None and whole.client is None:
            deed, fields = "delete", {}
        elif whole is not None and isinstance(whole.client, dict):
            fields = whole.client
        return Aim(place, deed, fields, base, insists=True)

    # --- a push, in pieces ---

    def _run(self, source: Source, edits: Sequence[Edit], insists: bool = False) -> list[Result]:
        today = self._today(self._repository.profile(source.user_id))
        tasks = [self._tasks(edit, today, insists) for edit in edits]
        done: dict[str, Result] = {}
        for piece in _pieces(task for parts in tasks for task in parts):
            for id, result in self._piece(source, piece).items():
                done.setdefault(id, result)
        results = [
            _whole(edit.operation_id, [done[task.id] for task in parts])
            for edit, parts in zip(edits, tasks, strict=True)
        ]
        if any(
            result.status in ("applied", "merged", "conflict") and not result.replayed for result in results
        ):
            self._refresh_profile(source.user_id)
        return results

    def _piece(self, source: Source, tasks: Sequence[Task]) -> dict[str, Result]:
        """Some operations in one transaction, tried until nobody was faster; their results by id."""
        return self._tried(partial(self._attempt, source, tasks))

    def _tried(self, attempt: Callable[[], T]) -> T:
        for tried in range(ATTEMPTS):
            try:
                return attempt()
            except WriteRefused:
                self._repository.pause(tried)
        raise Conflict("STATE_CONFLICT", "Other devices are writing right now. Try again in a moment.")

    def _attempt(self, source: Source, tasks: Sequence[Task]) -> dict[str, Result]:
        repository, user_id = self._repository, source.user_id
        asked = [id for task in tasks for id in (task.id, task.after) if id is not None]
        receipts = repository.receipts_of(user_id, asked)
        # The head first: whatever is read after it is as new or newer, and newer means that its condition fails.
        head = repository.head(user_id)
        profile = repository.profile(user_id)
        draft = self._draft(source, head, profile, [task for task in tasks if task.id not in receipts])
        results: dict[str, Result] = {}
        for task in tasks:
            if task.id in results:
                continue
            receipt = receipts.get(task.id)
            if receipt is not None:
                results[task.id] = self._replayed(task, receipt, draft)
            elif task.after not in receipts and _waits(task, results, draft.now):
                results[task.id] = _waiting(task)
            else:
                results[task.id] = drafts.do(draft, task, continues=task.edit.previous is not None)
            if task.parts:
                results[task.edit.operation_id] = results[task.id]  # what follows the whole may come next
        made = drafts.writes(draft)
        if made:
            repository.db.write(*made)
        if head is not None and draft.head_after.shares_visits != head.shares_visits:
            self._relist(user_id)
        return results

    def _draft(self, source: Source, head: Head | None, profile: Profile, tasks: Sequence[Task]) -> Draft:
        places: dict[Place, None] = {}
        for task in tasks:
            for aim in task.aims:
                if aim.former is not None:
                    places[aim.former] = None
                if aim.place is not None:
                    places[aim.place] = None
                    region = self._geography.get(*aim.place)
                    if region is not None and region.parent_region is not None:
                        places[("country", region.parent_region)] = None
        found = self._repository.visits_at(source.user_id, list(places))
        return Draft(
            source.user_id,
            source.device_id,
            source.label,
            source.is_stale,
            self._repository.now(),
            self._geography,
            profile,
            head,
            dict(zip(places, found, strict=True)),
            self._repository.world.new_id(),
        )

    def _replayed(self, task: Task, receipt: Receipt, draft: Draft) -> Result:
        """What was answered the first time, with the entities as they are now."""
        if receipt.digest != digest(task.edit):
            words = "This id was used for another operation. Give each a new one."
            return Result(operation_id=task.id, status="failed", error="OPERATION_ID_REUSED", message=words)
        result = Result.model_validate(receipt.result)
        states: list[EntityState] = []
        if result.status != "failed":
            places = [place for aim in task.aims for place in (aim.place, aim.former) if place is not None]
            found = self._repository.visits_at(receipt.user_id, places)
            states = [visit_state(visit) for visit in found if visit is not None]
            if task.edit.entity_type == "user":
                states.append(user_state(draft.profile_after, draft.head_after.server_version))
        return result.model_copy(update={"replayed": True, "entities": states})

    # --- reading what was asked ---

    def _today(self, profile: Profile) -> date:
        return rules.today_in(profile.time_zone, self._repository.now())

    def _tasks(self, edit: Edit, today: date, insists: bool) -> list[Task]:
        """An operation as one task, or as several if it is too large for a transaction.

        How it is cut depends on the operation alone: sent again, it must be the same parts. Each waits for the one
        before; with the last comes a receipt for the operation's own id: all of it is done.
        """
        try:
            _check_previous(edit)
            aims = tuple(replace(aim, insists=insists) for aim in self._aims(edit, today))
        except BadRequest as refusal:
            return [Task(edit.operation_id, edit, refusal=refusal)]
        cuts = list(_cuts(aims))
        if len(cuts) == 1:
            return [Task(edit.operation_id, edit, aims, after=edit.previous)]
        ids = [f"{edit.operation_id}.{start}-{end}" for start, end in cuts]
        tasks = [
            Task(id, edit, aims[start:end], after=after)
            for id, (start, end), after in zip(ids, cuts, [edit.previous, *ids], strict=False)
        ]
        return [*tasks[:-1], replace(tasks[-1], parts=tuple(ids))]

    def _aims(self, edit: Edit, today: date) -> tuple[Aim, ...]:
        deed = _DEEDS[edit.operation_type]
        if edit.entity_type == "user":
            if deed != "update" or edit.visits:
                words = "A traveller's settings can be updated, nothing else."
                raise BadRequest("INVALID_OPERATION", words, "operation_type")
            return (Aim(None, "update", rules.user_edit(edit.entity_data), edit.client_version),)
        asked = targets(edit)
        if not asked or edit.operation_type.startswith("batch_") != bool(edit.visits):
            words = "A batch has visits; any other operation has a region_type and a region_code."
            raise BadRequest("INVALID_OPERATION", words, "operation_type")
        aims = tuple(self._aim(deed, target, today) for target in asked)
        if len({aim.place for aim in aims}) != len(aims):
            raise BadRequest("DUPLICATE_PLACE", "A place is in this batch twice.", "visits")
        return aims

    def _aim(self, deed: Deed, target: Target, today: date) -> Aim:
        if target.client_version < 0:
            raise BadRequest("INVALID_VERSION", "A version counts from 0.", "client_version")
        fields = rules.visit_edit(target.entity_data, today) if deed != "delete" else {}
        said: Place = (target.region_type, target.region_code)
        follow = rules.marked_place if deed == "delete" else rules.present_place
        place = follow(self._geography, *said)
        return Aim(place, deed, fields, target.client_version, former=said if said != place else None)

    # --- devices ---

    def _admit(self, user_id: str, device_id: str) -> Device:
        """The device, if it may push now; counted (SK-X11)."""
        for _ in range(ATTEMPTS):
            device = self._repository.known_device(user_id, device_id)
            now = self._repository.now()
            minute, second = divmod(int(now.timestamp()), 60)
            if device.push_window >= minute and device.pushes >= rules.PUSHES_A_MINUTE:
                words = f"A device pushes at most {rules.PUSHES_A_MINUTE} times a minute."
                raise TooOften("PUSH_LIMIT", words, 60 - second)
            update = d.devices.update(user_id, device_id).at(lambda it: it.last_seen_at).set(now)
            if device.push_window == minute:
                update = update.at(lambda it: it.pushes).add(1)
            else:
                update = update.at(lambda it: it.push_window).set(minute).at(lambda it: it.pushes).set(1)
            if self._wrote(update.when(partial(_paced_as, device))):
                return device
        raise TooOften("PUSH_LIMIT", "This device pushes from several places at once.", 1)

    def _refresh_profile(self, user_id: str) -> None:
        """Copy the head's numbers into the profile, once for each push (SK-D19)."""
        head = self._repository.head(user_id)
        if head is None:
            return
        version = head.server_version
        update = (
            d.profiles.update(user_id)
            .at(lambda it: it.sync_version).set(version)
            .at(lambda it: it.countries_visited).set(head.countries_visited)
            .at(lambda it: it.us_states_visited).set(head.us_states_visited)
            .at(lambda it: it.canadian_provinces_visited).set(head.canadian_provinces_visited)
        )  # fmt: skip
        # Refused if somebody copied newer ones meanwhile: then those are right.
        self._wrote(update.when(lambda it: it.sync_version < version))

    def _wrote(self, write: Write[Any]) -> bool:
        try:
            self._repository.db.write(write)
        except ConditionNotMet:
            return False
        return True


# --- parts ---


def _paced_as(seen: Device, device: Device) -> bool:
    return (device.push_window == seen.push_window) & (device.pushes == seen.pushes)


def _place(entity_id: str) -> Place:
    _, said, code = entity_id.split("#")
    return next(kind for kind in REGION_TYPES if kind == said), code


def _check_ids(edits: Sequence[Edit]) -> None:
    said: dict[str, str] = {}
    for edit in edits:
        id = rules.check_id(edit.operation_id, "operation_id")
        if said.setdefault(id, digest(edit)) != digest(edit):
            words = "Two operations of this push have the same id."
            raise BadRequest("OPERATION_ID_REUSED", words, "operation_id")


def _check_previous(edit: Edit) -> None:
    if edit.previous is None:
        return
    if rules.check_id(edit.previous, "previous") == edit.operation_id:
        raise BadRequest("INVALID_ID", "An operation cannot follow itself.", "previous")


def _cuts(aims: Sequence[Aim]) -> Iterator[tuple[int, int]]:
    """Where an operation is cut, so that each part fits into a transaction, and what it disputes into its record."""
    start = size = 0
    for number, aim in enumerate(aims):
        size += aim.dispute_bytes
        if number > start and (number - start == drafts.PLACES or size > drafts.RECORD_BYTES):
            yield start, number
            start, size = number, aim.dispute_bytes
    yield start, len(aims)


def _pieces(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    """As many operations as fit into one transaction, in their order."""
    piece: list[Task] = []
    actions = places = size = 0
    for task in tasks:
        actions, places, size = (
            actions + task.actions,
            places + len(task.aims),
            size + task.record_bytes,
        )
        if piece and (actions > drafts.ACTIONS or places > drafts.PLACES or size > drafts.PIECE_BYTES):
            yield piece
            piece, actions, places, size = [], task.actions, len(task.aims), task.record_bytes
        piece.append(task)
    if piece:
        yield piece


def _clashes(operation: Operation) -> list[FieldConflict]:
    return _CLASHES.validate_python((operation.conflict_details or {}).get("fields", []))


def _is_open(operation: Operation) -> bool:
    return operation.status == "conflict" and operation.conflict_details is not None


def _resolved() -> Conflict:
    return Conflict("ALREADY_RESOLVED", "This was settled before.", "operation_id")


def _waits(task: Task, results: Mapping[str, Result], now: datetime) -> bool:
    """Whether a task has to wait for another without a receipt.

    A receipt is kept for as long as a device's clock is believed. Who is older may follow one that was done and is
    forgotten, and would wait for ever: it is done, and its version says what it has seen.
    """
    if task.after is None or not rules.is_believed(task.edit.client_timestamp, now):
        return False
    before = results.get(task.after)
    return before is None or before.status == "waiting"


def _waiting(task: Task) -> Result:
    words = "It follows an operation that has not come yet. Send that one first, then this one again."
    return Result(
        operation_id=task.id, status="waiting", error="OUT_OF_ORDER", message=words, field="previous"
    )


def _whole(operation_id: str, parts: Sequence[Result]) -> Result:
    """The result of an operation from those of its parts."""
    if len(parts) == 1:
        return parts[0].model_copy(update={"operation_id": operation_id})
    order = ("waiting", "failed", "conflict", "merged", "applied")
    worst = next(part for status in order for part in parts if part.status == status)
    return worst.model_copy(
        update={
            "operation_id": operation_id,
            "replayed": all(part.replayed for part in parts),
            "server_version": max((part.server_version or 0 for part in parts), default=0),
            "entities": [state for part in parts for state in part.entities],
            "conflicts": [conflict for part in parts for conflict in part.conflicts],
            "offers": list(dict.fromkeys(offer for part in parts for offer in part.offers)),
        }
    )
