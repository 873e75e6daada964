"""Pushes: applying the operations of devices.

A push is a list of operations; each has a result, and is done once however often it is sent. Operations are written in
pieces, each a transaction that advances the traveller's head by the number of changes: of two at once, the second
reads and merges again. Must hold: what is answered is written; an operation's effect, its place in the feed, its
record and its receipt are there together or not at all.
Elsewhere: the protocol in words (docs/sync.md), the messages (operations.py), operations checked and cut to fit
(split.py), one piece (apply.py), who wins (merge.py), what settles a conflict (resolve.py), what is new (feed.py).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from pydantic import JsonValue

from tablewright.edge.errors import BadRequest, TooManyRequests
from tablewright.kit.tables import RACES
from tablewright.mapping import Page, WriteRefused
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.errors import ClientTooOld, VersionConflict
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.model import (
    Device,
    Head,
    OpenStatus,
    Operation,
    OperationType,
    Place,
    Profile,
    Receipt,
    Strategy,
    Visit,
)
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.sync import apply as drafts
from tablewright.systems.travel.sync import resolve as resolution
from tablewright.systems.travel.sync.apply import Done, Draft, Source
from tablewright.systems.travel.sync.operations import (
    OLDEST_SCHEMA,
    SCHEMA,
    Edit,
    EntityState,
    Pushed,
    Result,
    Unreadable,
    digest,
    user_state,
    visit_state,
)
from tablewright.systems.travel.sync.resolve import Choice
from tablewright.systems.travel.sync.split import TargetChange, Task, pieces, tasks_of

T = TypeVar("T")


def check_schema(schema: int) -> None:
    """Refuse an app with a protocol version that is not supported."""
    if schema < OLDEST_SCHEMA:
        raise ClientTooOld(schema, OLDEST_SCHEMA)
    if schema > SCHEMA:
        words = f"This server supports protocol versions up to {SCHEMA}."
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
        edits: Sequence[Edit | Unreadable],
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
            words = f"A push can have at most {rules.PUSH_AT_MOST} operations; this one has {len(edits)}."
            raise BadRequest("BATCH_TOO_LARGE", words, "operations")
        device = self._admit(user_id, device_id)
        away = self._repository.now() - (device.last_sync_at or device.registered_at)
        is_stale = away >= d.TOMBSTONES_KEPT or self._repository.is_elsewhere(user_id, since, seal)
        source = Source(user_id, device_id, device.name, is_stale)
        results = self._run(source, edits)
        head = self._repository.head(user_id)
        return Pushed(results=results, server_version=head.server_version if head else 0)

    def apply(self, user_id: str, edit: Edit, *, is_exact: bool = False) -> Result:
        """Do what the web says, as if it were a device. If it `is_exact`, then from the newest version or not at all.

        On a page the refusal is shown at once, and does not end in the list of conflicts.
        """
        rules.check_id(edit.operation_id, "operation_id")
        return self._run(Source(user_id), [edit], is_exact)[0]

    def edit(self, operation_type: OperationType, **fields: Any) -> Edit:
        """An operation of the server itself, made at this moment."""
        repository = self._repository
        return Edit(
            operation_id=repository.world.new_id(),
            operation_type=operation_type,
            client_timestamp=repository.now(),
            **fields,
        )

    def change_user(self, user_id: str, fields: dict[str, JsonValue], version: int | None = None) -> Result:
        """Change settings from the web; on the newest version, or on the one its owner has seen, or not at all."""

        def attempt() -> Result:
            base = self._repository.profile(user_id).entity_version if version is None else version
            edit = self.edit("update", entity_type="user", client_version=base, entity_data=fields)
            return self.apply(user_id, edit, is_exact=True)

        return self._repository.retried(version, attempt)

    def follow_codes(self, visits: Iterable[Visit | None]) -> list[Result]:
        """Move marks of codes that were retired to the present ones (SK-X12); those of divided regions stay."""
        moved: list[Result] = []
        for visit in visits:
            if visit is None or visit.is_deleted:
                continue
            codes = self._geography.follow(visit.region_type, visit.region_code)
            if len(codes) == 1 and codes[0] != visit.region_code:
                with suppress(VersionConflict):  # changed at this moment: the next run moves it
                    moved.append(self._move(visit, codes[0]))
        return moved

    def _move(self, visit: Visit, region_code: str) -> Result:
        """Move a mark to another code of the same place, with all its fields (SK-X12)."""
        edit = self.edit("batch_update")
        old = (visit.region_type, visit.region_code)
        targets = (
            TargetChange(old, "delete", {}, visit.sync_version, insists=True),
            TargetChange((visit.region_type, region_code), "restore", rules.visit_fields(visit), 0),
        )
        task = Task(edit.operation_id, edit, targets, marked_at=visit.marked_at)
        result = self._piece(Source(visit.user_id), [task])[task.id]
        self._refresh_profile(visit.user_id)
        return result

    # --- conflicts ---

    def conflicts(self, user_id: str, size: int | None = None, after: str | None = None) -> Page[Operation]:
        """A traveller's open conflicts, the latest first."""
        query = d.operations_of(user_id=user_id).where(lambda op: op.status == "conflict")
        return self._repository.page(query, size, after, user_id)

    def operations(
        self,
        user_id: str,
        device_id: str | None = None,
        size: int | None = None,
        after: str | None = None,
        *,
        only_open: bool = False,
    ) -> Page[Operation]:
        """SK-17, SK-19: what a traveller's devices did, or one of them; the latest first.

        `only_open`: what was refused, or is in conflict and not settled (SK-D18).
        """
        query = d.operations_of(user_id=user_id)
        if device_id is not None:
            query = d.operations_of_device(user_id=user_id, device_id=rules.check_id(device_id, "device_id"))
        if only_open:
            query = query.where(lambda operation: operation.status != "processed")
        return self._repository.page(query, size, after, user_id)

    def by_status(
        self, status: OpenStatus, reader: str, size: int | None = None, after: str | None = None
    ) -> Page[Operation]:
        """SK-18: operations of all travellers that were refused or are in conflict; the oldest first."""
        return self._repository.page(d.operations_by_status(status=status), size, after, reader)

    def resolve(
        self,
        user_id: str,
        operation_id: str,
        choice: Strategy,
        data: dict[str, JsonValue] | None = None,
        versions: Mapping[str, int] | None = None,
    ) -> Result:
        """Resolve a conflict: keep the current version, use the device's, or write another (`manual`).

        `versions` are those of the entities that were shown, by entity_id; by default, those that the conflict left.
        A newer change is not overwritten: then it is a VersionConflict, and the conflict stays open.
        A batch in several parts is resolved part by part.
        """
        chosen = Choice(choice, data, versions or {})
        results = [
            self._retried(partial(self._settle, user_id, part.operation_id, chosen))
            for part in resolution.parts_to_settle(self._repository, user_id, operation_id, chosen)
        ]
        self._refresh_profile(user_id)
        return _whole(operation_id, results)

    def _settle(self, user_id: str, operation_id: str, choice: Choice) -> Result:
        operation = self._repository.operation(user_id, operation_id)
        edit = self.edit("update", entity_type=operation.entity_type)
        task = resolution.task_of(self._repository, operation, edit, choice)
        return self._attempt(Source(user_id), [task])[task.id]

    # --- a push, in pieces ---

    def _run(
        self, source: Source, edits: Sequence[Edit | Unreadable], is_exact: bool = False
    ) -> list[Result]:
        zone = self._repository.profile(source.user_id).time_zone
        today = rules.today_in(zone, self._repository.now())
        refused = _impossible(edits)
        tasks = [
            tasks_of(edit, self._geography, today, is_exact) if number not in refused else []
            for number, edit in enumerate(edits)
        ]
        retired: dict[Place, None] = {
            (target.place[0], code): None
            for parts in tasks
            for task in parts
            for target in task.targets
            if target.place is not None and target.former is None
            for code in self._geography.former(*target.place)
        }
        if retired:  # moved before the present code is marked: one place is marked once
            self.follow_codes(self._repository.visits_at(source.user_id, list(retired)))
        done: dict[str, Result] = {}
        for piece in pieces(task for parts in tasks for task in parts):
            for id, result in self._piece(source, piece).items():
                done.setdefault(id, result)
        results = [
            refused.get(number) or _whole(parts[0].edit.operation_id, [done[task.id] for task in parts])
            for number, parts in enumerate(tasks)
        ]
        if any(
            result.status in ("applied", "merged", "conflict") and not result.replayed for result in results
        ):
            self._refresh_profile(source.user_id)
        return results

    def _piece(self, source: Source, tasks: Sequence[Task]) -> dict[str, Result]:
        """Some operations in one transaction, repeated until no other write came first; their results by id."""
        return self._retried(partial(self._attempt, source, tasks))

    def _retried(self, attempt: Callable[[], T]) -> T:
        return self._repository.retried(None, attempt, on=WriteRefused)

    def _attempt(self, source: Source, tasks: Sequence[Task]) -> dict[str, Result]:
        repository, user_id = self._repository, source.user_id
        followed = [task.edit.previous for task in tasks if task.refusal is None]
        asked = [*(task.id for task in tasks), *(task.after for task in tasks), *followed]
        receipts = repository.receipts_of(user_id, [id for id in asked if id is not None])
        # The head first: whatever is read after it is as new or newer, and newer means that its condition fails.
        head = repository.head(user_id)
        profile = repository.profile(user_id)
        draft = self._draft(source, head, profile, [task for task in tasks if task.id not in receipts])
        draft.done |= {
            id: Done(frozenset(receipt.entities), receipt.server_version) for id, receipt in receipts.items()
        }
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
                results[task.id] = drafts.do(draft, task)
            if task.parts:
                results[task.edit.operation_id] = results[task.id]  # what follows the whole may come next
        made = drafts.writes(draft)
        if made:
            repository.db.write(*made)
        if head is not None and draft.head_after.shares_visits != head.shares_visits:
            self._relist(user_id)
        return results

    def _draft(self, source: Source, head: Head | None, profile: Profile, tasks: Sequence[Task]) -> Draft:
        places = {place: None for task in tasks for place in task.places}
        for place in list(places):
            region = self._geography.get(*place)
            if region is not None and region.parent_region is not None:
                places["country", region.parent_region] = None
        found = self._repository.visits_at(source.user_id, list(places))
        there = dict(zip(places, found, strict=True))
        now, seal = self._repository.now(), self._repository.world.new_id()
        return Draft(source, now, self._geography, profile, head, there, seal)

    def _replayed(self, task: Task, receipt: Receipt, draft: Draft) -> Result:
        """What was answered the first time, with the entities as they are now."""
        if receipt.digest != digest(task.edit):
            words = "This ID was already used for another operation. Give each operation a new one."
            return Result(operation_id=task.id, status="failed", error="OPERATION_ID_REUSED", message=words)
        result = Result.model_validate(receipt.result)
        states: list[EntityState] = []
        if result.status != "failed":
            found = self._repository.visits_at(receipt.user_id, task.places)
            states = [visit_state(visit) for visit in found if visit is not None]
            if task.edit.entity_type == "user":
                states.append(user_state(draft.profile_after, draft.head_after.server_version))
        return result.model_copy(update={"replayed": True, "entities": states})

    # --- devices ---

    def _admit(self, user_id: str, device_id: str) -> Device:
        """The device, if it may push now; counted (SK-X11)."""
        busy = TooManyRequests("PUSH_LIMIT", "This device is sending several pushes at once.", 1)
        return self._repository.retried(None, lambda: self._admitted(user_id, device_id), on=RACES, busy=busy)

    def _admitted(self, user_id: str, device_id: str) -> Device:
        device = self._repository.known_device(user_id, device_id)
        now = self._repository.now()
        minute, second = divmod(int(now.timestamp()), 60)
        if device.push_window >= minute and device.pushes >= rules.PUSHES_A_MINUTE:
            words = f"A device can push at most {rules.PUSHES_A_MINUTE} times a minute."
            raise TooManyRequests("PUSH_LIMIT", words, 60 - second)
        update = d.devices.update(user_id, device_id).at(lambda it: it.last_seen_at).set(now)
        if device.push_window >= minute:
            update = update.at(lambda it: it.pushes).add(1)
        else:
            update = update.at(lambda it: it.push_window).set(minute).at(lambda it: it.pushes).set(1)
        self._repository.db.write(update.when(partial(_is_below_limit, device.push_window, minute)))
        return device

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
        # Refused if newer numbers were copied at the same time: then those are right.
        self._repository.try_write(update.when(lambda it: it.sync_version < version))


# --- parts ---


def _is_below_limit(seen: int, minute: int, device: Device) -> bool:
    """Of a minute that was counted already, only the limit is a condition: pushes at once do not undo each other."""
    same = device.push_window == seen
    return same & (device.pushes < rules.PUSHES_A_MINUTE) if seen >= minute else same


def _impossible(asked: Sequence[Edit | Unreadable]) -> dict[int, Result]:
    """The results of those that cannot be written down under an id of their own, by their place in the push."""
    refused: dict[int, Result] = {}
    said: dict[str, str] = {}
    for number, one in enumerate(asked):
        try:
            edit = _with_id(one)
        except BadRequest as refusal:
            refused[number] = Result.of_refusal("", refusal)
            continue
        if said.setdefault(edit.operation_id, digest(edit)) != digest(edit):
            words = "Two operations of this push have the same ID. Give each operation a new one."
            mistake = BadRequest("OPERATION_ID_REUSED", words, "operation_id")
            refused[number] = Result.of_refusal(edit.operation_id, mistake)
    return refused


def _with_id(asked: Edit | Unreadable) -> Edit:
    """What can be read of an operation, if that is enough to write it down."""
    edit = asked.edit if isinstance(asked, Unreadable) else asked
    if edit is None:
        assert isinstance(asked, Unreadable), "an operation is there, or why it is not"
        raise asked.refusal
    rules.check_id(edit.operation_id, "operation_id")
    return edit


def _waits(task: Task, results: Mapping[str, Result], now: datetime) -> bool:
    """Whether a task has to wait for another without a receipt.

    A receipt is kept for as long as a device's clock is believed. Who is older may follow one that was done and is
    forgotten, and would wait for ever: it is done, and its version alone says what it has seen.
    """
    if task.after is None or not rules.is_believed(task.edit.client_timestamp, now):
        return False
    before = results.get(task.after)
    return before is None or before.status == "waiting"


def _waiting(task: Task) -> Result:
    words = "This operation follows one that has not arrived yet. Send that one first, then this one again."
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
