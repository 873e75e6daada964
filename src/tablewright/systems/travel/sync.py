"""Taking what devices did, and settling what they disagree on.

A push is a list of operations; each has a result, and is done once however often it is sent. Operations are written in
pieces, each a transaction that moves the traveller's head by as many places as there are changes: whoever was slower
reads again and merges anew. Must hold: what is answered is written; an operation's effect, its place in the feed, its
record and its receipt are there together or not at all.
Elsewhere: the protocol in words (docs/sync.md), one piece (drafts.py), who wins (merge.py), what is new (feed.py).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from pydantic import JsonValue, TypeAdapter

from tablewright.design import Write
from tablewright.mapping import ConditionNotMet, Page, WriteRefused
from tablewright.mapping.repository import ATTEMPTS
from tablewright.systems.travel import design as d
from tablewright.systems.travel import drafts, rules
from tablewright.systems.travel.drafts import ACTIONS, PLACES, PLACES_WITH_HISTORY, Aim, Draft, Place, Task
from tablewright.systems.travel.errors import (
    BadRequest,
    ClientTooOld,
    Conflict,
    TooOften,
)
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

WEB = "the web"
_CLASHES = TypeAdapter(list[FieldConflict])
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

    def push(self, user_id: str, device_id: str, edits: Sequence[Edit], *, schema: int = SCHEMA) -> Pushed:
        """Do what a device did; one result for each operation, in their order."""
        check_schema(schema)
        if len(edits) > rules.PUSH_AT_MOST:
            words = f"A push carries at most {rules.PUSH_AT_MOST} operations; this one has {len(edits)}."
            raise BadRequest("BATCH_TOO_LARGE", words, "operations")
        _check_ids(edits)
        device = self._admit(user_id, device_id)
        away = self._repository.now() - (device.last_sync_at or device.registered_at)
        source = Source(user_id, device_id, device.name, away >= d.TOMBSTONES_KEPT)
        results = self._run(source, edits)
        head = self._repository.head(user_id)
        return Pushed(results=results, server_version=head.server_version if head else 0)

    def apply(self, user_id: str, edit: Edit) -> Result:
        """Do what the web pages say, as if they were a device."""
        rules.check_id(edit.operation_id, "operation_id")
        return self._run(Source(user_id), [edit])[0]

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
            Aim((visit.region_type, visit.region_code), "delete", {}, None),
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
    ) -> Result:
        """Settle a conflict: leave it as it is, take what the device said, or write something else (`manual`)."""
        operation = self._repository.operation(user_id, operation_id)
        if operation.status != "conflict" or operation.conflict_details is None:
            raise Conflict("ALREADY_RESOLVED", "This was settled before.", "operation_id")
        if (choice == "manual") != (data is not None):
            words = "Say what it shall be with the choice 'manual', and only then."
            raise BadRequest("INVALID_CHOICE", words, "data")
        clashes = _CLASHES.validate_python(operation.conflict_details["fields"])
        settled = operation.model_copy(
            update={"status": "processed", "resolution_strategy": choice, "is_processed": True}
        )
        edit = Edit(
            operation_id=f"{operation_id}.resolved",
            operation_type="update",
            entity_type=operation.entity_type,
            client_timestamp=self._repository.now(),
        )
        return self._settle(
            Source(user_id), edit, clashes, choice, data, d.operations.change(operation, settled)
        )

    def _settle(
        self,
        source: Source,
        edit: Edit,
        clashes: Sequence[FieldConflict],
        choice: Strategy,
        data: dict[str, JsonValue] | None,
        record: Write[Operation],
    ) -> Result:
        """Write what was chosen over the newest version, with the record that it was."""
        profile = self._repository.profile(source.user_id)
        entities = dict.fromkeys(clash.entity_id for clash in clashes)
        if data is not None and len(entities) > 1:
            words = "This is about several places. Choose a side; then edit each."
            raise BadRequest("INVALID_CHOICE", words, "choice")
        aims = []
        for entity in entities:
            mine = [clash for clash in clashes if clash.entity_id == entity]
            place = _place(entity) if edit.entity_type == "visited_place" else None
            aim = self._chosen(source.user_id, place, mine, choice, data, profile)
            aims += [aim] if aim is not None else []
        task = Task(edit.operation_id, edit, tuple(aims), also=(record,))
        return self._piece(source, [task])[task.id]

    def _chosen(
        self,
        user_id: str,
        place: Place | None,
        clashes: Sequence[FieldConflict],
        choice: Strategy,
        data: dict[str, JsonValue] | None,
        profile: Profile,
    ) -> Aim | None:
        """What a choice does to one entity; None if it stays as it is. Who chooses has seen the newest version."""
        if choice in ("server_wins", "merged"):
            return None
        if data is not None:
            checked = (
                rules.visit_edit(data, self._today(profile)) if place is not None else rules.user_edit(data)
            )
            return Aim(place, "restore" if place is not None else "update", checked, None)
        whole = next((clash for clash in clashes if clash.field == WHOLE), None)
        if whole is not None and whole.client is None:
            return Aim(place, "delete", {}, None)
        if whole is not None and isinstance(whole.client, dict):
            return Aim(place, "restore", whole.client, None)
        fields = {clash.field: clash.client for clash in clashes}
        return Aim(place, "restore" if place is not None else "update", fields, None)

    # --- a push, in pieces ---

    def _run(self, source: Source, edits: Sequence[Edit]) -> list[Result]:
        profile = self._repository.profile(source.user_id)
        today = self._today(profile)
        tasks = [self._tasks(edit, today) for edit in edits]
        done: dict[str, Result] = {}
        for piece in _pieces([task for parts in tasks for task in parts], profile):
            for id, result in self._piece(source, piece).items():
                done.setdefault(id, result)
        results = [
            _whole(edit, [done[task.id] for task in parts]) for edit, parts in zip(edits, tasks, strict=True)
        ]
        if any(
            result.status in ("applied", "merged", "conflict") and not result.replayed for result in results
        ):
            self._refresh_profile(source.user_id)
        return results

    def _piece(self, source: Source, tasks: Sequence[Task]) -> dict[str, Result]:
        """Some operations in one transaction, tried until nobody was faster; their results by id."""
        for tried in range(ATTEMPTS):
            try:
                return self._attempt(source, tasks)
            except WriteRefused:
                self._repository.pause(tried)
        raise Conflict("STATE_CONFLICT", "Other devices are writing right now. Try again in a moment.")

    def _attempt(self, source: Source, tasks: Sequence[Task]) -> dict[str, Result]:
        repository, user_id = self._repository, source.user_id
        asked = [id for task in tasks for id in (task.id, task.edit.previous) if id is not None]
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
            previous = task.edit.previous
            if receipt is not None:
                results[task.id] = self._replayed(task, receipt)
            elif previous is not None and previous not in receipts and previous not in results:
                results[task.id] = _waiting(task)
            else:
                results[task.id] = drafts.do(draft, task, continues=previous is not None)
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
        )

    def _replayed(self, task: Task, receipt: Receipt) -> Result:
        """What was answered the first time, with the entities as they are now."""
        if receipt.digest != digest(task.edit):
            words = "This id was used for another operation. Give each a new one."
            return Result(operation_id=task.id, status="failed", error="OPERATION_ID_REUSED", message=words)
        result = Result.model_validate(receipt.result)
        states: list[EntityState] = []
        if result.status != "failed":
            places = [aim.place for aim in task.aims if aim.place is not None]
            found = self._repository.visits_at(receipt.user_id, places)
            states = [visit_state(visit) for visit in found if visit is not None]
            if task.edit.entity_type == "user":
                states.append(
                    user_state(self._repository.profile(receipt.user_id), result.server_version or 0)
                )
        return result.model_copy(update={"replayed": True, "entities": states})

    # --- reading what was asked ---

    def _today(self, profile: Profile) -> date:
        return rules.today_in(profile.time_zone, self._repository.now())

    def _tasks(self, edit: Edit, today: date) -> list[Task]:
        """An operation as one task, or as several if it is too large for a transaction.

        How it is cut depends on the operation alone: sent again, it must be the same pieces.
        """
        try:
            aims = self._aims(edit, today)
        except BadRequest as refusal:
            return [Task(edit.operation_id, edit, refusal=refusal)]
        size = PLACES if edit.operation_type == "batch_create" else PLACES_WITH_HISTORY
        if any(aim.place is not None and aim.place[0] != "country" for aim in aims):
            size //= 2  # their country may come along
        if len(aims) <= size:
            return [Task(edit.operation_id, edit, aims)]
        starts = range(0, len(aims), size)
        return [Task(f"{edit.operation_id}.{n}", edit, aims[n : n + size]) for n in starts]

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
        return Aim(rules.present_place(self._geography, target.region_type, target.region_code), deed, fields,
                   target.client_version)  # fmt: skip

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


def _pieces(tasks: Sequence[Task], profile: Profile) -> Iterator[list[Task]]:
    """As many operations as fit into one transaction, in their order."""
    piece: list[Task] = []
    cost = places = 0
    for task in tasks:
        more = task.cost(profile)
        if piece and (cost + more > ACTIONS or places + len(task.aims) > PLACES):
            yield piece
            piece, cost, places = [], 0, 0
        piece.append(task)
        cost, places = cost + more, places + len(task.aims)
    if piece:
        yield piece


def _waiting(task: Task) -> Result:
    words = "It follows an operation that has not come yet. Send that one first, then this one again."
    return Result(
        operation_id=task.id, status="waiting", error="OUT_OF_ORDER", message=words, field="previous"
    )


def _whole(edit: Edit, parts: Sequence[Result]) -> Result:
    """The result of an operation from those of its parts."""
    if len(parts) == 1:
        return parts[0].model_copy(update={"operation_id": edit.operation_id})
    statuses = [part.status for part in parts]
    order = ("waiting", "failed", "conflict", "merged", "applied")
    worst = next(part for status in order for part in parts if part.status == status)
    return worst.model_copy(
        update={
            "operation_id": edit.operation_id,
            "replayed": all(part.replayed for part in parts),
            "server_version": max((part.server_version or 0 for part in parts), default=0),
            "entities": [state for part in parts for state in part.entities],
            "conflicts": [conflict for part in parts for conflict in part.conflicts],
            "offers": list(dict.fromkeys(offer for part in parts for offer in part.offers)),
            "status": statuses[statuses.index(worst.status)],
        }
    )
