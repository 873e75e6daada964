"""A piece of a push as it will be written: operations applied one after another to what was read, in memory.

Two operations on one place make one item in the end, but two places in the feed and two versions. Must hold: what
a draft writes is one transaction, bound to the head it was made from; an operation that is refused has left no trace
in the draft but its own record. Elsewhere: what is to be done (split.py); reading, sending, trying again (push.py);
who wins (merge.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import orjson
from pydantic import JsonValue

from tablewright.design import Write
from tablewright.edge.errors import BadRequest
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.geography.regions import Geography, Region
from tablewright.systems.travel.model import (
    Change,
    Head,
    Operation,
    OperationStatus,
    Profile,
    Receipt,
    RegionType,
    Visit,
)
from tablewright.systems.travel.sync.merge import Author, Known, Settled, settle
from tablewright.systems.travel.sync.operations import (
    EntityState,
    FieldConflict,
    Offer,
    Result,
    digest,
    place_id,
    targets,
    user_state,
    visit_state,
)
from tablewright.systems.travel.sync.split import Place, TargetChange, Task


@dataclass(frozen=True, slots=True)
class Done:
    """What an operation was about, and where the feed ended when it was done."""

    entities: frozenset[str]
    server_version: int


@dataclass
class Draft:
    """What was read, and what became of it."""

    user_id: str
    device_id: str
    label: str
    is_stale: bool
    now: datetime
    geography: Geography
    profile: Profile
    head: Head | None
    there: Mapping[Place, Visit | None]
    seal: str
    # --- what becomes of it ---
    profile_after: Profile = field(init=False)
    head_after: Head = field(init=False)
    visits: dict[Place, Visit] = field(default_factory=dict)
    records: list[Write[Any]] = field(default_factory=list)
    # What was done, now or before, by operations that others may follow.
    done: dict[str, Done] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.profile_after = self.profile
        shares = self.profile.privacy_settings.share_visits
        self.head_after = self.head or Head(user_id=self.user_id, shares_visits=shares)

    @property
    def has_advanced(self) -> bool:
        return self.head_after.server_version != (self.head.server_version if self.head else 0)

    def visit(self, place: Place) -> Visit | None:
        return self.visits.get(place) or self.there.get(place)


# --- one operation ---


def do(draft: Draft, task: Task) -> Result:
    """Apply an operation to the draft; its result is noted with its record and its receipt."""
    if task.refusal is not None:
        return _refused(draft, task, task.refusal)
    task = replace(task, aims=tuple(_found(draft, aim) for aim in task.aims))
    follows = _follows(draft, task)
    settled = [(aim, _settled(draft, aim, follows)) for aim in task.aims]
    try:
        for aim, each in settled:
            _check(draft, aim, each)
    except BadRequest as refusal:
        if task.settles is not None:
            raise
        return _refused(draft, task, refusal)
    states: list[EntityState] = []
    offers: list[Offer] = []
    for aim, each in settled:
        if aim.place is None:
            states.append(_take_user(draft, task, each))
            continue
        became_live = _take_visit(draft, task, aim.place, each)
        visit = draft.visit(aim.place)
        states += [visit_state(visit)] if visit is not None else [_absent(draft, aim.place)]
        if became_live:
            more, offered = _country(draft, task, aim.place)
            states, offers = states + more, offers + offered
    conflicts = [conflict for aim, each in settled for conflict in _conflicts(draft, aim, each)]
    outcomes = [each.outcome for _, each in settled]
    status = next((each for each in ("conflict", "merged") if each in outcomes), "applied")
    strategies = [each.strategy for _, each in settled if each.strategy is not None]
    result = Result(
        operation_id=task.id,
        status="conflict" if status == "conflict" else "merged" if status == "merged" else "applied",
        server_version=draft.head_after.server_version,
        strategy=next((s for s in strategies if s != "merged"), strategies[0] if strategies else None),
        entities=states,
        conflicts=conflicts,
        offers=offers,
    )
    _record(draft, task, result)
    return result


def _refused(draft: Draft, task: Task, refusal: BadRequest) -> Result:
    result = Result(
        operation_id=task.id,
        status="failed",
        error=refusal.code,
        message=refusal.message,
        field=refusal.field,
    )
    _record(draft, task, result)
    return result


def _known(draft: Draft, place: Place | None) -> Known:
    if place is None:
        profile = draft.profile_after
        return Known(rules.user_fields(profile), profile.stamps, profile.entity_version)
    visit = draft.visit(place)
    if visit is None:
        return Known(floor=draft.head_after.server_version)
    return Known(rules.visit_fields(visit), visit.stamps, visit.sync_version, visit.is_deleted)


def _found(draft: Draft, aim: TargetChange) -> TargetChange:
    """An aim by a retired code is at the mark that still stands under it; if there is none, at the present code."""
    there = draft.visit(aim.former) if aim.former is not None else None
    return aim if there is None or there.is_deleted else replace(aim, place=aim.former, former=None)


def _follows(draft: Draft, task: Task) -> int:
    """Up to where in the feed the author of a task has seen what their own device did.

    A device sends what it did in its order: who has seen one of its operations has seen those before. One about
    something else says nothing.
    """
    before = draft.done.get(task.edit.previous or "")
    if before is None or before.entities.isdisjoint(_named(draft, task)):
        return 0
    return before.server_version


def _named(draft: Draft, task: Task) -> frozenset[str]:
    """What an operation is about, as short names; of what it says, only what there is."""
    said = [(target.region_type, target.region_code) for target in targets(task.edit)]
    places = [place for place in said if draft.geography.follow(*place)]
    places += [aim.place for aim in task.aims if aim.place is not None]
    user = [task.edit.entity_type] if task.edit.entity_type == "user" else []
    return frozenset([*user, *("#".join(place) for place in places)])


def _settled(draft: Draft, aim: TargetChange, follows: int) -> Settled:
    known = _known(draft, aim.place)
    # A version of the place under its former code says nothing about what is under the present one.
    is_stale = draft.is_stale or aim.former is not None
    author = Author(draft.device_id, aim.base, follows, is_stale, draft.label, _next(draft))
    return settle(aim.deed, aim.fields, known, author)


def _next(draft: Draft) -> int:
    """Where the next change will be in the feed."""
    return draft.head_after.server_version + 1


def _check(draft: Draft, aim: TargetChange, settled: Settled) -> None:
    """What only the merged whole can tell."""
    if aim.insists and settled.outcome == "conflict":
        raise _outdated(draft, aim)
    if aim.is_exact and aim.base != _known(draft, aim.place).version:
        raise _outdated(draft, aim)
    fields = settled.known.fields
    if aim.place is not None:
        rules.check_trips(fields)
    elif draft.profile.is_minor and any(fields.get(f"privacy_settings/{name}") for name in _PUBLIC):
        words = "A child's map always stays private."
        raise BadRequest("MINOR_STAYS_PRIVATE", words, "privacy_settings")
    elif aim.fields.get(_NOTES) and not all(fields.get(f"privacy_settings/{name}") for name in _PUBLIC):
        words = "Notes can be public only while your profile and your places are. Make those public first."
        raise BadRequest("NOTES_NEED_PUBLIC_PLACES", words, "privacy_settings")


def _outdated(draft: Draft, aim: TargetChange) -> VersionConflict:
    """The refusal with the current version, for a change that was based on another one."""
    if aim.place is None:
        return VersionConflict(draft.profile_after)
    visit = draft.visit(aim.place)
    facts = {"current": visit_state(visit).model_dump(mode="json")} if visit is not None else {}
    return VersionConflict(visit, facts)


_PUBLIC = ("profile_public", "share_visits")
_NOTES = "privacy_settings/show_notes"


def _conflicts(draft: Draft, aim: TargetChange, settled: Settled) -> list[FieldConflict]:
    entity = place_id(draft.user_id, *aim.place) if aim.place is not None else draft.user_id
    return [
        FieldConflict(
            entity_id=entity,
            version=settled.known.version,
            field=clash.field,
            server=clash.server,
            client=clash.client,
            kept=clash.kept,
            strategy=clash.strategy,
        )
        for clash in settled.clashes
    ]


# --- what it makes of visits, the traveller, the feed ---


def _take_visit(draft: Draft, task: Task, place: Place, settled: Settled) -> bool:
    """The visit as it is now; True if the place was marked by this."""
    if not settled.changed:
        return False
    before, region = draft.visit(place), _region(draft, place)
    was_live = before is not None and not before.is_deleted
    is_live = not settled.known.is_deleted
    version, follows = draft.head_after.server_version + 1, draft.head_after.seal
    if before is None or (is_live and not was_live):
        marked = task.marked_at or rules.clamped(task.edit.client_timestamp, draft.now)
        origin: dict[str, Any] = {
            "marked_at": marked,
            "timestamp_ms": rules.milliseconds(marked),
            "marked_from_device": draft.device_id,
        }
    else:
        names = ("marked_at", "timestamp_ms", "marked_from_device")
        origin = {name: getattr(before, name) for name in names}
    visit = Visit(
        composite_key=place_id(draft.user_id, *place),
        user_id=draft.user_id,
        region_type=place[0],
        region_code=place[1],
        region_name=region.display_name if region is not None else before.region_name if before else place[1],
        sync_version=settled.known.version,
        server_version=version,
        last_modified_at=draft.now,
        operation_id=task.id,
        is_deleted=not is_live,
        is_listed=is_live and draft.head_after.shares_visits and not draft.profile.is_minor,
        deleted_at=None if is_live else draft.now,
        stamps=dict(settled.known.stamps),
        edited=_edited(draft, task, before, settled),
        **origin,
        **rules.into_visit(settled.known.fields),
    )
    draft.visits[place] = visit
    counts = region is not None and region.countable and was_live != is_live
    _advance(draft, place[0] if counts else None, 1 if is_live else -1)
    change = Change(
        user_id=draft.user_id,
        server_version=version,
        entity_type="visited_place",
        entity_id=visit.composite_key,
        entity_version=visit.sync_version,
        kind="set" if is_live else "deleted",
        region_type=place[0],
        region_code=place[1],
        timestamp_ms=visit.timestamp_ms,
        visited_date=visit.visited_date,
        trip_days=rules.trip_days(visit),
        device_id=draft.device_id,
        operation_id=task.id,
        changed_at=draft.now,
        seal=draft.seal,
        follows=follows,
    )
    draft.records.append(d.changes.create(change))
    return is_live and not was_live


def _edited(draft: Draft, task: Task, before: Visit | None, settled: Settled) -> dict[str, int]:
    """When each device whose stamp is on the place changed it last; what comes late does not turn that back."""
    moments = before.edited if before is not None else {}
    moment = rules.milliseconds(task.edit.client_timestamp)
    moments = {**moments, draft.device_id: max(moment, moments.get(draft.device_id, moment))}
    named = {stamp.device for stamp in settled.known.stamps.values()}
    return {device: moment for device, moment in moments.items() if device in named}


def _take_user(draft: Draft, task: Task, settled: Settled) -> EntityState:
    if settled.changed:
        follows = draft.head_after.seal
        after = draft.profile_after.model_copy(
            update={
                **rules.into_profile(settled.known.fields),
                "entity_version": settled.known.version,
                "stamps": dict(settled.known.stamps),
                "updated_at": draft.now,
            }
        )
        draft.profile_after = after
        shares = after.privacy_settings.share_visits
        draft.head_after = draft.head_after.model_copy(update={"shares_visits": shares})
        _advance(draft, None, 0)
        change = Change(
            user_id=draft.user_id,
            server_version=draft.head_after.server_version,
            entity_type="user",
            entity_id=draft.user_id,
            entity_version=after.entity_version,
            kind="set",
            device_id=draft.device_id,
            operation_id=task.id,
            changed_at=draft.now,
            seal=draft.seal,
            follows=follows,
        )
        draft.records.append(d.changes.create(change))
    return user_state(draft.profile_after, draft.head_after.server_version)


def _advance(draft: Draft, counted: RegionType | None, by: int) -> None:
    update: dict[str, Any] = {"server_version": draft.head_after.server_version + 1, "seal": draft.seal}
    if counted is not None:
        name = rules.COUNTERS[counted]
        update[name] = getattr(draft.head_after, name) + by
    draft.head_after = draft.head_after.model_copy(update=update)


def _country(draft: Draft, task: Task, place: Place) -> tuple[list[EntityState], list[Offer]]:
    """A state was marked: its country is, is offered, or is left alone, as its owner wants it (SK-X4)."""
    region = _region(draft, place)
    parent = region.parent_region if region is not None else None
    if parent is None or draft.profile_after.mark_country == "never":
        return [], []
    country: Place = ("country", parent)
    there = draft.visit(country)
    if there is not None and not there.is_deleted:
        return [], []
    if draft.profile_after.mark_country == "ask":
        return [], [Offer(region_type="country", region_code=parent)]
    known = _known(draft, country)
    author = Author(draft.device_id, known.version, feed=_next(draft))
    _take_visit(draft, task, country, settle("create", {}, known, author))
    marked = draft.visit(country)
    return [visit_state(marked)] if marked is not None else [], []


def _region(draft: Draft, place: Place) -> Region | None:
    return rules.region_of(draft.geography, *place)


def _absent(draft: Draft, place: Place) -> EntityState:
    """A place that is not there, and of which not even a tombstone is left."""
    return EntityState(
        entity_type="visited_place",
        entity_id=place_id(draft.user_id, *place),
        entity_version=0,
        server_version=draft.head_after.server_version,
        is_deleted=True,
        data={"region_type": place[0], "region_code": place[1]},
    )


# --- records ---

_STATUS: Mapping[str, OperationStatus] = {
    "applied": "processed",
    "merged": "processed",
    "conflict": "conflict",
    "failed": "failed",
}


def _record(draft: Draft, task: Task, result: Result) -> None:
    """The operation as it is kept, and the receipt by which it is done once."""
    edit = task.edit
    about = _named(draft, task) | {_short(state) for state in result.entities}
    done = Done(about, draft.head_after.server_version)
    moment = rules.milliseconds(rules.clamped(edit.client_timestamp, draft.now))
    details: dict[str, JsonValue] | None = None
    if result.conflicts:
        details = {"device": draft.label, "fields": [each.model_dump() for each in result.conflicts]}
    operation = Operation(
        user_id=draft.user_id,
        operation_id=task.id,
        timestamp_ms=moment,
        status=_STATUS[result.status],
        device_id=draft.device_id,
        operation_type=edit.operation_type,
        entity_type=edit.entity_type,
        entity_id=_entity_id(draft, task),
        entity_data=_data(task),
        client_version=edit.client_version,
        server_version=result.server_version,
        client_timestamp=edit.client_timestamp,
        server_timestamp=draft.now,
        has_conflict=bool(result.conflicts),
        conflict_details=details,
        resolution_strategy=result.strategy,
        is_processed=result.status != "failed",
        processing_error=result.error,
    )
    receipt = Receipt(
        user_id=draft.user_id,
        operation_id=task.id,
        timestamp_ms=moment,
        digest=digest(edit),
        # A repeated request reads the states again: they may have changed, and would not fit into an item.
        result=result.model_copy(update={"entities": []}).model_dump(mode="json"),
        done_at=draft.now,
        entities=sorted(done.entities),
        server_version=done.server_version,
    )
    draft.done[task.id] = done
    draft.records += [d.operations.create(operation), d.receipts.create(receipt)]
    if task.parts:
        whole = receipt.model_copy(
            update={"operation_id": edit.operation_id, "result": {}, "parts": list(task.parts)}
        )
        draft.done[edit.operation_id] = done
        draft.records.append(d.receipts.create(whole))
    if task.settles is not None:
        draft.records.append(task.settles)


def _short(state: EntityState) -> str:
    if state.entity_type == "user":
        return state.entity_type
    return f"{state.data['region_type']}#{state.data['region_code']}"


def _entity_id(draft: Draft, task: Task) -> str:
    if task.edit.entity_type == "user":
        return draft.user_id
    if len(task.aims) == 1 and task.aims[0].place is not None:
        return place_id(draft.user_id, *task.aims[0].place)
    return f"{draft.user_id}#batch"


def _data(task: Task) -> dict[str, JsonValue]:
    """What was asked for. Of a refused one nothing is kept: it may be anything."""
    if task.refusal is not None:
        return {}
    if not task.edit.visits:
        return dict(task.edit.entity_data)
    places = {f"{aim.place[0]}#{aim.place[1]}": aim.fields for aim in task.aims if aim.place is not None}
    said: dict[str, JsonValue] = {place: dict(fields) for place, fields in places.items() if fields}
    # A record has room for both sides of what is in dispute, and for this much beside it.
    is_short = len(orjson.dumps(said)) <= rules.DATA_BYTES
    return {"visits": list(places), **({"fields": said} if said and is_short else {})}


# --- the transaction ---


def writes(draft: Draft) -> Sequence[Write[Any]]:
    """Everything, to be done at once or not at all."""
    if not draft.records:
        return ()
    made: list[Write[Any]] = []
    if draft.head is None:
        made.append(d.heads.create(draft.head_after))
    elif draft.has_advanced:
        made.append(d.heads.change(draft.head, draft.head_after))
    else:
        version = draft.head.server_version
        made.append(d.heads.check(draft.user_id).when(lambda head: head.server_version == version))
    if draft.profile_after is not draft.profile:
        # What may be public depends on `is_minor`: if that changes at the same time, this write is refused.
        is_minor = draft.profile.is_minor
        change = d.profiles.change(draft.profile, draft.profile_after)
        made.append(change.when(lambda it: it.is_minor == is_minor))
    for place, visit in draft.visits.items():
        made.append(_visit_write(draft.there.get(place), visit))
    return (*made, *draft.records)


def _visit_write(before: Visit | None, after: Visit) -> Write[Visit]:
    if before is None:
        return d.visits.create(after)
    version = before.sync_version
    return d.visits.put(after).when(lambda visit: visit.sync_version == version)
