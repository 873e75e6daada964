"""The same sync for clients that replicate whole documents, as RxDB does: pull from a checkpoint, push of what was and
what is to be.

A document is a place with everything its owner says of it. A row of a push becomes an operation with the fields in
which the two states differ, so places are merged and conflicts recorded as those of any other device; then the client
is told what each place is now, as what it calls a conflict, and takes that. Must hold: a row that is sent again is
done once; what a row takes for the server's state is believed only as far as it is; a client that takes what it is told
ends up with what the server has, also where something was deleted while it was away. Elsewhere: who wins (merge.py),
operations (push.py), the feed (feed.py), in words (docs/sync.md).
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from pydantic import Field, JsonValue

from tablewright.edge.errors import BadRequest
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.errors import ResyncRequired
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.model import Device, OperationType, RegionType, Visit
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.sync.feed import LARGEST_PAGE, PAGE, Feed, opened
from tablewright.systems.travel.sync.merge import FORGOTTEN, WHOLE, Fields, difference
from tablewright.systems.travel.sync.operations import (
    SCHEMA,
    ClientTime,
    Edit,
    EntityState,
    Result,
    Said,
    Version,
    visit_state,
)
from tablewright.systems.travel.sync.push import Sync, check_schema

_OWN = ("visited_date", "notes")


class Document(Said):
    """A place as a client keeps it. `edited_at` is when the client last changed it; the server never says it."""

    id: str = Field(description="region_type#region_code")
    region_type: RegionType
    region_code: str
    region_name: str | None = None
    visited_date: str | None = None
    notes: str | None = None
    trips: dict[str, JsonValue] = Field(default_factory=dict)
    marked_at: str | None = None
    marked_from_device: str | None = None
    version: Version = Field(default=0, ge=0, description="the entity version")
    edited_at: ClientTime | None = None
    is_deleted: bool = Field(False, alias="_deleted")


class Row(Said):
    """What a client takes for the server's state, and what it made of it."""

    assumed: Document | None = Field(None, alias="assumedMasterState")
    new: Document = Field(alias="newDocumentState")


class Checkpoint(Said):
    """What a client has received: a feed version with its seal, or a position in a walk through everything."""

    feed: int | None = None
    seal: str | None = None
    snapshot: str | None = None


class PulledDocuments(Said):
    """Some of what is new; there is more as long as there are as many as were asked for."""

    documents: list[Document]
    checkpoint: Checkpoint


class PushedDocuments(Said):
    """Every place that is not as it was sent, and what came of each operation."""

    conflicts: list[Document]
    results: list[Result]


class Documents:
    """A traveller's places as documents."""

    def __init__(self, repository: Repository, geography: Geography, sync: Sync, feed: Feed) -> None:
        self._repository, self._geography, self._sync, self._feed = repository, geography, sync, feed

    # --- pull ---

    def pull(
        self, user_id: str, device_id: str, at: Checkpoint, *, size: int = PAGE, schema: int = SCHEMA
    ) -> PulledDocuments:
        """The changes since a checkpoint; everything without one, or with one that is too old.

        A page with fewer documents than were asked for is the last: clients stop there, so pages are filled up.
        """
        if not 1 <= size <= LARGEST_PAGE:
            raise BadRequest("INVALID_PAGE_SIZE", f"A page has 1 to {LARGEST_PAGE} documents.", "limit")
        device = self._repository.known_device(user_id, device_id)
        documents: dict[str, Document] = {}
        here = at
        while len(documents) < size:
            if here.feed is None:
                here = self._walk(device, here, documents, size, schema)
                continue
            # The device has what it asks from. What is read on its behalf beyond that may still be lost on the way.
            found = self._feed.pull(
                user_id, device_id, here.feed, here.seal, size=size, schema=schema, acknowledges=here == at
            )
            if found.full_resync_required:
                self._refuse_ghosts(device, here)
                here = Checkpoint()
                continue
            _take(documents, found.changes)
            here = Checkpoint(feed=found.next, seal=found.seal)
            if not found.more:
                break
        return PulledDocuments(documents=list(documents.values()), checkpoint=here)

    def _walk(
        self, device: Device, here: Checkpoint, documents: dict[str, Document], size: int, schema: int
    ) -> Checkpoint:
        """A page of everything, tombstones too: such a client is never told to delete its copy."""
        try:
            page = self._feed.snapshot(
                device.user_id, device.device_id, here.snapshot, size=size, schema=schema, deleted=True
            )
        except BadRequest as refusal:
            if refusal.code != "BAD_TOKEN" or here.snapshot is None:
                raise
            # A client that stopped in the middle keeps its checkpoint for ever, a token is good for a day.
            self._refuse_ghosts(device, _begun(here.snapshot))
            return Checkpoint()
        _take(documents, page.entities)
        if page.after is not None:
            return Checkpoint(snapshot=page.after)
        return Checkpoint(feed=page.as_of, seal=page.seal)

    def _refuse_ghosts(self, device: Device, at: Checkpoint) -> None:
        """Places whose tombstones have gone, or that this server never had, would stay with the client for ever."""
        away = self._repository.now() - (device.last_sync_at or device.registered_at)
        is_elsewhere = self._repository.is_elsewhere(device.user_id, at.feed, at.seal)
        if is_elsewhere or away >= d.TOMBSTONES_KEPT:
            words = (
                "This device was offline for too long, or the server was restored from a backup. "
                "Push, delete the local copy, then pull without a checkpoint."
            )
            raise ResyncRequired(words, field="feed", facts={"full_resync_required": True})

    # --- push ---

    def push(
        self, user_id: str, device_id: str, rows: Sequence[Row], *, schema: int = SCHEMA
    ) -> PushedDocuments:
        """Apply the client's edits; returns the places whose state differs from what it sent, each once."""
        check_schema(schema)
        if len(rows) > rules.PUSH_AT_MOST:
            words = f"A push can have at most {rules.PUSH_AT_MOST} documents; this one has {len(rows)}."
            raise BadRequest("BATCH_TOO_LARGE", words, "rows")
        for row in rows:
            _check(row)
        self._repository.known_device(user_id, device_id)
        ids = [_operation_id(device_id, row) for row in rows]
        # A row that was done may mean another operation by now, because of what was done since: it is not asked again.
        done = {
            id: Result.model_validate(receipt.result).model_copy(update={"replayed": True})
            for id, receipt in self._repository.receipts_of(user_id, ids).items()
        }
        edits = self._edits(
            user_id, device_id, [row for id, row in zip(ids, rows, strict=True) if id not in done]
        )
        if edits:
            pushed = self._sync.push(user_id, device_id, edits, schema=schema)
            done |= {result.operation_id: result for result in pushed.results}
        return PushedDocuments(
            conflicts=self._differing(user_id, rows),
            results=[done[id].model_copy(update={"entities": []}) for id in dict.fromkeys(ids) if id in done],
        )

    def _edits(self, user_id: str, device_id: str, rows: Sequence[Row]) -> list[Edit]:
        there = self._there(user_id, rows)
        continued = self._continued(user_id, device_id, rows, there)
        edits = []
        for row in rows:
            visit = there.get(row.new.id)
            previous = continued.get(row.new.id)
            asked = _asked(row, is_own=previous is not None and not _is_gone(visit))
            if asked is None or row.new.edited_at is None:
                continue
            kind, data = asked
            edits.append(
                Edit(
                    operation_id=_operation_id(device_id, row),
                    operation_type=kind,
                    region_type=row.new.region_type,
                    region_code=row.new.region_code,
                    client_version=_base(row) if _is_history(row.assumed, visit) else 0,
                    entity_data=data,
                    client_timestamp=row.new.edited_at,
                    previous=previous,
                )
            )
        return edits

    def _continued(
        self, user_id: str, device_id: str, rows: Sequence[Row], there: Mapping[str, Visit]
    ) -> dict[str, str]:
        """The places which this very device changed after the version it says it knows, and by which operation.

        It changed one again before our answer to the first change had come. A document holds all its client did, so
        the device has seen its own fields, though it does not know their version yet. Not so a row that was overtaken
        by a later one: it has not seen that.
        """
        own = {
            row.new.id: visit.operation_id.partition(".")[0]  # of a part of a batch: the batch
            for row in rows
            if (visit := there.get(row.new.id)) is not None
            and any(stamp.device == device_id and stamp.version > _base(row) for stamp in visit.stamps.values())
            and _is_later(row, visit.edited.get(device_id))
        }  # fmt: skip
        receipts = self._repository.receipts_of(user_id, list(own.values())) if own else {}
        return {id: operation for id, operation in own.items() if operation in receipts}

    def _differing(self, user_id: str, rows: Sequence[Row]) -> list[Document]:
        there = self._there(user_id, rows)
        now = {row.new.id: _present(row.new, there.get(row.new.id)) for row in rows}
        sent = {row.new.id: row.new for row in rows}
        return [document for id, document in now.items() if document != sent[id]]

    def _there(self, user_id: str, rows: Sequence[Row]) -> dict[str, Visit]:
        asked = dict.fromkeys((row.new.region_type, row.new.region_code) for row in rows)
        places = [place for place in asked if self._geography.follow(*place)]  # others are not in any key
        found = self._repository.visits_at(user_id, places) if places else []
        return {_id(visit.region_type, visit.region_code): visit for visit in found if visit is not None}


# --- documents ---


def _id(region_type: str, region_code: str) -> str:
    return f"{region_type}#{region_code}"


def document(state: EntityState) -> Document:
    """A place as it is told."""
    data: dict[str, Any] = dict(state.data)
    id = _id(data["region_type"], data["region_code"])
    return Document(id=id, version=state.entity_version, _deleted=state.is_deleted, **data)


def _present(sent: Document, visit: Visit | None) -> Document:
    if visit is not None:
        return document(visit_state(visit))
    return Document(id=sent.id, region_type=sent.region_type, region_code=sent.region_code, _deleted=True)


def _take(documents: dict[str, Document], states: Sequence[EntityState]) -> None:
    """Each place once, in its last state."""
    for state in states:
        if state.entity_type == "visited_place":
            told = document(state)
            documents.pop(told.id, None)
            documents[told.id] = told


def _begun(snapshot: str) -> Checkpoint:
    """The place in the feed at which a walk began; none if its token is of no form we know."""
    try:
        as_of, seal, _ = opened(snapshot)
    except BadRequest:
        return Checkpoint()
    return Checkpoint(feed=as_of, seal=seal)


def _is_gone(visit: Visit | None) -> bool:
    return visit is None or visit.is_deleted


# --- rows ---


def _check(row: Row) -> None:
    new = row.new
    if new.id != _id(new.region_type, new.region_code):
        raise BadRequest(
            "INVALID_ID", "A document's id must be its region_type, '#' and its region_code.", "id"
        )
    if new.edited_at is None and row.assumed != new:
        words = "Set edited_at to the time of each change: it tells two equal changes apart."
        raise BadRequest("EDITED_AT_MISSING", words, "edited_at")


def _base(row: Row) -> int:
    return row.assumed.version if row.assumed is not None else 0


def _is_later(row: Row, than: int | None) -> bool:
    """Whether a row was made after a moment of the same device's clock."""
    return row.new.edited_at is not None and (than is None or rules.milliseconds(row.new.edited_at) > than)


def _is_history(assumed: Document | None, visit: Visit | None) -> bool:
    """Whether a place was once what a row takes for the server's state, as far as that can be seen.

    Fields not set since that version must be the same. They differ if the version is of another history: from before
    the server was restored from a backup, or before the place was purged and marked again.
    """
    if assumed is None or visit is None:
        return True
    base, said = assumed.version, _fields(assumed)
    if _set_after(visit, base).isdisjoint({WHOLE}) and assumed.is_deleted != visit.is_deleted:
        return False
    if assumed.is_deleted:
        return True
    there = rules.visit_fields(visit)
    since = _set_after(visit, base)
    unset = {*said, *there} - since
    if FORGOTTEN in since:
        unset &= visit.stamps.keys()  # whatever is not there may have gone since
    return all(said.get(name) == there.get(name) for name in unset)


def _set_after(visit: Visit, version: int) -> frozenset[str]:
    """The fields that were set after a version."""
    return frozenset(name for name, stamp in visit.stamps.items() if stamp.version > version)


def _asked(row: Row, is_own: bool) -> tuple[OperationType, dict[str, JsonValue]] | None:
    """What a row does; None if nothing. `is_own`: the place is there because this device just marked it."""
    assumed, new = row.assumed, row.new
    if assumed == new:
        return None
    was_live = assumed is not None and not assumed.is_deleted
    if new.is_deleted:
        return ("delete", {}) if was_live or is_own else None
    if not was_live:
        return "create", _data({name: value for name, value in _fields(new).items() if value is not None})
    edit = difference(_fields(assumed), _fields(new))
    return ("update", _data(edit)) if edit else None


def _fields(of: Document | None) -> Fields:
    if of is None:
        return {}
    trips: dict[str, JsonValue] = {f"trips/{id}": trip for id, trip in of.trips.items()}
    return {**{name: getattr(of, name) for name in _OWN}, **trips}


def _data(fields: Fields) -> dict[str, JsonValue]:
    """Flat fields as an operation says them."""
    data: dict[str, JsonValue] = {name: fields[name] for name in _OWN if name in fields}
    trips = {name.partition("/")[2]: value for name, value in fields.items() if name.startswith("trips/")}
    return {**data, "trips": trips} if trips else data


def _operation_id(device_id: str, row: Row) -> str:
    """An id that is the same for a row that is sent again. Clients like these have none of their own."""
    said = [device_id, row.model_dump(mode="json")]
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()[:48]
