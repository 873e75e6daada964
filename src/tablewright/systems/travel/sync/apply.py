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
    SERVER,
    Change,
    ChangeKind,
    EntityType,
    Head,
    Operation,
    OperationStatus,
    Place,
    Profile,
    Receipt,
    Visit,
)
from tablewright.systems.travel.sync.merge import Author, Known, Outcome, Settled, settle
from tablewright.systems.travel.sync.operations import (
    EntityState,
    FieldConflict,
    Offer,
    Result,
    deleted_state,
    digest,
    place_id,
    place_of,
    places_in,
    user_state,
    visit_state,
)
from tablewright.systems.travel.sync.split import TargetChange, Task

WEB = "the web"


@dataclass(frozen=True, slots=True)
class Source:
    """Where operations come from."""

    user_id: str
    device_id: str = SERVER
    label: str = WEB
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """What an operation was about, and where the feed ended when it was done."""

    entities: frozenset[str]
    server_version: int


@dataclass
class Draft:
    """What was read, and what became of it."""

    source: Source
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
    def user_id(self) -> str:
        return self.source.user_id

    @property
    def next_version(self) -> int:
        """Where the next change will be in the feed."""
        return self.head_after.server_version + 1

    def visit(self, place: Place) -> Visit | None:
        return self.visits.get(place) or self.there.get(place)

    def region(self, place: Place) -> Region | None:
        return rules.region_of(self.geography, *place)


# --- one operation ---

_WORST_FIRST: tuple[Outcome, ...] = ("conflict", "merged", "applied")


def do(draft: Draft, task: Task) -> Result:
    """Apply an operation to the draft; its result is noted with its record and its receipt."""
    if task.refusal is not None:
        return _refused(draft, task, task.refusal)
    task = replace(task, targets=tuple(_standing(draft, target) for target in task.targets))
    follows = _follows(draft, task)
    settled = [(target, _settled(draft, target, follows)) for target in task.targets]
    try:
        for target, each in settled:
            _check(draft, target, each)
    except BadRequest as refusal:
        if task.settles is not None:
            raise
        return _refused(draft, task, refusal)
    states: list[EntityState] = []
    offers: list[Offer] = []
    for target, each in settled:
        if target.place is None:
            states.append(_take_user(draft, task, each))
        else:
            _take_place(draft, task, target.place, each, states, offers)
    outcomes = [each.outcome for _, each in settled]
    strategies = [each.strategy for _, each in settled if each.strategy is not None]
    result = Result(
        operation_id=task.id,
        status=next((outcome for outcome in _WORST_FIRST if outcome in outcomes), "applied"),
        server_version=draft.head_after.server_version,
        strategy=next((s for s in strategies if s != "merged"), strategies[0] if strategies else None),
        entities=states,
        conflicts=[conflict for target, each in settled for conflict in _conflicts(draft, target, each)],
        offers=offers,
    )
    _record(draft, task, result)
    return result


def _refused(draft: Draft, task: Task, refusal: BadRequest) -> Result:
    result = Result.of_refusal(task.id, refusal)
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


def _standing(draft: Draft, target: TargetChange) -> TargetChange:
    """A target by a retired code is the mark that still stands under it; if there is none, the present code's."""
    there = draft.visit(target.former) if target.former is not None else None
    return target if there is None or there.is_deleted else replace(target, place=target.former, former=None)


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
    said = [(target.region_type, target.region_code) for target in places_in(task.edit)]
    places = [place for place in said if draft.geography.follow(*place)]
    places += [target.place for target in task.targets if target.place is not None]
    user = ["user"] if task.edit.entity_type == "user" else []
    return frozenset([*user, *map("#".join, places)])


def _settled(draft: Draft, target: TargetChange, follows: int) -> Settled:
    # A version of the place under its former code says nothing about what is under the present one.
    is_stale = draft.source.is_stale or target.former is not None
    author = Author(
        draft.source.device_id, target.base, follows, is_stale, draft.source.label, draft.next_version
    )
    return settle(target.verb, target.fields, _known(draft, target.place), author)


_PUBLIC = ("profile_public", "share_visits")
_NOTES = "privacy_settings/show_notes"


def _check(draft: Draft, target: TargetChange, settled: Settled) -> None:
    """What only the merged whole can tell."""
    if target.insists and settled.outcome == "conflict":
        raise _outdated(draft, target)
    if target.is_exact and target.base != _known(draft, target.place).version:
        raise _outdated(draft, target)
    fields = settled.known.fields
    if target.place is not None:
        rules.check_trips(fields)
    elif draft.profile.is_minor and any(fields.get(f"privacy_settings/{name}") for name in _PUBLIC):
        words = "A child's map always stays private."
        raise BadRequest("MINOR_STAYS_PRIVATE", words, "privacy_settings")
    elif target.fields.get(_NOTES) and not all(fields.get(f"privacy_settings/{name}") for name in _PUBLIC):
        words = "Notes can be public only while your profile and your places are. Make those public first."
        raise BadRequest("NOTES_NEED_PUBLIC_PLACES", words, "privacy_settings")


def _outdated(draft: Draft, target: TargetChange) -> VersionConflict:
    """The refusal with the current version, for a change that was based on another one."""
    if target.place is None:
        return VersionConflict(draft.profile_after)
    return changed_since(draft.visit(target.place))


def changed_since(visit: Visit | None) -> VersionConflict:
    """The refusal of a change of a visit that is not based on its current version."""
    facts = {"current": visit_state(visit).model_dump(mode="json")} if visit is not None else {}
    return VersionConflict(visit, facts)


def _conflicts(draft: Draft, target: TargetChange, settled: Settled) -> list[FieldConflict]:
    entity = place_id(draft.user_id, *target.place) if target.place is not None else draft.user_id
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


def _take_place(
    draft: Draft, task: Task, place: Place, settled: Settled, states: list[EntityState], offers: list[Offer]
) -> None:
    """The place as it is now, and the country of a state that was marked: marked too, offered, or left (SK-X4)."""
    is_new = settled.changed and _take_visit(draft, task, place, settled)
    states.append(_state(draft, place))
    region = draft.region(place)
    rule = draft.profile_after.mark_country
    if not is_new or region is None or region.parent_region is None or rule == "never":
        return
    country: Place = ("country", region.parent_region)
    known = _known(draft, country)
    if known.version and not known.is_deleted:
        return
    if rule == "ask":
        offers.append(Offer(region_type="country", region_code=region.parent_region))
        return
    author = Author(draft.source.device_id, known.version, feed=draft.next_version)
    _take_visit(draft, task, country, settle("create", {}, known, author))
    states.append(_state(draft, country))


def _state(draft: Draft, place: Place) -> EntityState:
    visit = draft.visit(place)
    if visit is not None:
        return visit_state(visit)
    return deleted_state(place_id(draft.user_id, *place), place, 0, draft.head_after.server_version)


def _take_visit(draft: Draft, task: Task, place: Place, settled: Settled) -> bool:
    """The visit as it is now; True if the place was marked by this."""
    before, region = draft.visit(place), draft.region(place)
    was_live = before is not None and not before.is_deleted
    is_live = not settled.known.is_deleted
    if before is None or (is_live and not was_live):
        marked = task.marked_at or rules.clamped(task.edit.client_timestamp, draft.now)
        timestamp, device = rules.milliseconds(marked), draft.source.device_id
    else:
        marked, timestamp, device = before.marked_at, before.timestamp_ms, before.marked_from_device
    visit = Visit(
        composite_key=place_id(draft.user_id, *place),
        user_id=draft.user_id,
        region_type=place[0],
        region_code=place[1],
        region_name=region.display_name if region is not None else before.region_name if before else place[1],
        marked_at=marked,
        timestamp_ms=timestamp,
        marked_from_device=device,
        sync_version=settled.known.version,
        server_version=draft.next_version,
        last_modified_at=draft.now,
        operation_id=task.id,
        is_deleted=not is_live,
        is_listed=is_live and draft.head_after.shares_visits and not draft.profile.is_minor,
        deleted_at=None if is_live else draft.now,
        stamps=dict(settled.known.stamps),
        **rules.into_visit(settled.known.fields),
    )
    draft.visits[place] = visit
    counts = region is not None and region.countable and was_live != is_live
    _advance(
        draft,
        task,
        "visited_place",
        visit.composite_key,
        visit.sync_version,
        "set" if is_live else "deleted",
        counter=rules.COUNTERS[place[0]] if counts else None,
        region_type=place[0],
        region_code=place[1],
        timestamp_ms=visit.timestamp_ms,
        visited_date=visit.visited_date,
        trip_days=rules.trip_days(visit),
    )
    return is_live and not was_live


def _take_user(draft: Draft, task: Task, settled: Settled) -> EntityState:
    if settled.changed:
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
        _advance(draft, task, "user", draft.user_id, after.entity_version)
    return user_state(draft.profile_after, draft.head_after.server_version)


def _advance(
    draft: Draft,
    task: Task,
    entity_type: EntityType,
    entity_id: str,
    entity_version: int,
    kind: ChangeKind = "set",
    counter: str | None = None,
    **figures: Any,
) -> None:
    """The next change of the feed, and the head behind it; `counter` of the head goes up, or down if deleted."""
    before = draft.head_after
    update: dict[str, Any] = {"server_version": draft.next_version, "seal": draft.seal}
    if counter is not None:
        update[counter] = getattr(before, counter) + (1 if kind == "set" else -1)
    draft.head_after = before.model_copy(update=update)
    change = Change(
        user_id=draft.user_id,
        server_version=draft.head_after.server_version,
        entity_type=entity_type,
        entity_id=entity_id,
        entity_version=entity_version,
        kind=kind,
        device_id=draft.source.device_id,
        operation_id=task.id,
        changed_at=draft.now,
        seal=draft.seal,
        follows=before.seal,
        **figures,
    )
    draft.records.append(d.changes.create(change))


# --- records ---


def _record(draft: Draft, task: Task, result: Result) -> None:
    """The operation as it is kept, and the receipt by which it is done once."""
    edit = task.edit
    states = {"#".join(place_of(state.entity_id) or ("user",)) for state in result.entities}
    done = Done(_named(draft, task) | states, draft.head_after.server_version)
    moment = rules.milliseconds(rules.clamped(edit.client_timestamp, draft.now))
    status: OperationStatus = "processed"
    if result.status == "conflict" or result.status == "failed":
        status = result.status
    details: dict[str, JsonValue] | None = None
    if result.conflicts:
        details = {"device": draft.source.label, "fields": [each.model_dump() for each in result.conflicts]}
    operation = Operation(
        user_id=draft.user_id,
        operation_id=task.id,
        timestamp_ms=moment,
        status=status,
        device_id=draft.source.device_id,
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
        whole = {"operation_id": edit.operation_id, "result": {}, "parts": list(task.parts)}
        draft.done[edit.operation_id] = done
        draft.records.append(d.receipts.create(receipt.model_copy(update=whole)))
    if task.settles is not None:
        draft.records.append(task.settles)


def _entity_id(draft: Draft, task: Task) -> str:
    if task.edit.entity_type == "user":
        return draft.user_id
    if len(task.targets) == 1 and task.targets[0].place is not None:
        return place_id(draft.user_id, *task.targets[0].place)
    return f"{draft.user_id}#batch"


def _data(task: Task) -> dict[str, JsonValue]:
    """What was asked for. Of a refused one nothing is kept: it may be anything."""
    if task.refusal is not None:
        return {}
    if not task.edit.visits:
        return dict(task.edit.entity_data)
    places = {"#".join(target.place): target.fields for target in task.targets if target.place is not None}
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
    elif draft.head_after.server_version != draft.head.server_version:
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
