"""The changes since a device last asked, a snapshot for one that is too far behind, and the purge of tombstones.

The feed is the traveller's changes in the order of their versions, kept for 30 days. A pull returns the changed
entities in their current state. Must hold: a device that applies all pulls, from any position and in pages of any size,
ends up with the server's state; a gap in the feed is never skipped: then the device needs a full resync.
Elsewhere: how changes get there (push.py).
"""

from collections.abc import Sequence
from datetime import timedelta

from tablewright.design import absent
from tablewright.edge.errors import BadRequest
from tablewright.systems.travel import design as d
from tablewright.systems.travel.model import Change, Device, Head, Visit
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.sync.operations import (
    SCHEMA,
    EntityState,
    Pulled,
    Snapshot,
    deleted_state,
    place_of,
    user_state,
    visit_state,
)
from tablewright.systems.travel.sync.push import check_schema

PAGE, LARGEST_PAGE = 100, 500
# How often `last_seen_at` of a device without news is written.
SEEN_EVERY = timedelta(hours=1)


class Feed:
    """A traveller's changes, as their devices read them."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def pull(
        self,
        user_id: str,
        device_id: str,
        since: int,
        seal: str | None = None,
        *,
        size: int = PAGE,
        schema: int = SCHEMA,
    ) -> Pulled:
        """What happened after the version `since`, up to `size` changes at a time; `seal` came with that version.

        A device that asks has everything up to `since`; that is stored.
        """
        check_schema(schema)
        if since < 0:
            raise BadRequest("INVALID_VERSION", "A version can't be negative.", "since")
        if not 1 <= size <= LARGEST_PAGE:
            raise BadRequest("INVALID_PAGE_SIZE", f"A page can have 1 to {LARGEST_PAGE} changes.", "limit")
        device = self._repository.known_device(user_id, device_id)
        head = self._repository.head(user_id) or Head(user_id=user_id)
        newest = head.server_version
        resync = Pulled(next=since, seal=seal, server_version=newest, full_resync_required=True)
        if since == newest:
            if not _is_at(seal, head.seal):
                return resync
            self._saw(device, since)
            return Pulled(next=since, seal=head.seal, server_version=newest)
        changes: Sequence[Change] = ()
        if since < newest:
            query = d.changes_between(user_id=user_id, first=since + 1, last=newest)
            changes = self._repository.page(query, size, None, user_id).items
        # What has expired is not shown: a device that is behind the horizon finds a gap. So does one that knows a
        # version we never had, because the server went back to a backup; if it went on since, the seals differ.
        told = [change.server_version for change in changes]
        if not told or told != list(range(since + 1, since + 1 + len(told))):
            return resync
        if since and not _is_at(seal, changes[0].follows):
            return resync
        self._saw(device, since)
        return Pulled(
            changes=self._states(user_id, changes),
            next=told[-1],
            seal=changes[-1].seal,
            server_version=newest,
            more=told[-1] < newest,
        )

    def snapshot(
        self,
        user_id: str,
        device_id: str,
        after: str | None = None,
        *,
        size: int = PAGE,
        schema: int = SCHEMA,
    ) -> Snapshot:
        """Every live entity, page after page. Changes during the walk come after `as_of`."""
        check_schema(schema)
        self._repository.known_device(user_id, device_id)
        entities: list[EntityState] = []
        if after is None:
            # The head first: a change that is not in what is read next is behind it.
            head = self._repository.head(user_id) or Head(user_id=user_id)
            as_of, seal, token = head.server_version, head.seal, None
            entities.append(user_state(self._repository.profile(user_id), as_of))
        else:
            as_of, seal, token = _opened(after)
        query = d.visits_of(user_id=user_id).where(lambda visit: absent(visit.deleted_at))
        page = self._repository.page(query, size, token, f"{user_id}@{as_of}.{seal or ''}")
        entities += [visit_state(visit) for visit in page.items]
        next = None if page.next is None else f"{as_of}.{seal or ''}.{page.next}"
        return Snapshot(entities=entities, as_of=as_of, seal=seal, after=next)

    def purge(self, user_id: str) -> int:
        """Remove tombstones that every device has seen, a month after the deletion at the earliest (SK-D29)."""
        now = self._repository.now()
        active = [
            device
            for device in self._repository.devices_of(user_id)
            if device.last_seen_at > now - d.TOMBSTONES_KEPT
        ]
        seen = min((device.acknowledged_version for device in active), default=None)
        due = [
            visit
            for visit in self._repository.db.all(d.visits_of(user_id=user_id))
            if visit.deleted_at is not None
            and visit.deleted_at <= now - d.TOMBSTONES_KEPT_AT_LEAST
            and (seen is None or visit.server_version <= seen)
        ]
        if not due or not self._forgot(user_id, max(visit.server_version for visit in due)):
            return 0
        return sum(self._removed(visit) for visit in due)

    # --- parts ---

    def _forgot(self, user_id: str, version: int) -> bool:
        """Stored before tombstones are deleted: a device signed out since then has not seen them, and must resync."""
        head = self._repository.head(user_id)
        if head is None:
            return False
        after = head.model_copy(update={"purged": max(head.purged or 0, version)})
        return self._repository.try_write(d.heads.change(head, after))

    def _removed(self, visit: Visit) -> bool:
        """Whether it was; not if it was marked again, or swept, at the same time."""
        version = visit.sync_version
        remove = d.visits.discard(visit.user_id, visit.region_type, visit.region_code)
        return self._repository.try_write(remove.when(lambda it: it.sync_version == version))

    def _states(self, user_id: str, changes: Sequence[Change]) -> list[EntityState]:
        """The entities some changes are about, each once and as it is now, in the order of their last change."""
        last = {change.entity_id: change for change in changes}
        ordered = sorted(last.values(), key=lambda change: change.server_version)
        places = [place for change in ordered if (place := place_of(change.entity_id)) is not None]
        there = {visit.composite_key: visit for visit in self._repository.visits_at(user_id, places) if visit}
        return [self._state(change, there.get(change.entity_id)) for change in ordered]

    def _state(self, change: Change, visit: Visit | None) -> EntityState:
        place = place_of(change.entity_id)
        if place is None:
            return user_state(self._repository.profile(change.user_id), change.server_version)
        if visit is not None:
            return visit_state(visit)
        return deleted_state(change.entity_id, place, change.entity_version, change.server_version)

    def _saw(self, device: Device, version: int) -> None:
        """The device has everything up to a version: tombstones before it need not wait for it any more."""
        now = self._repository.now()
        known = device.acknowledged_version
        is_recent = device.last_sync_at is not None and now - device.last_sync_at < SEEN_EVERY
        if version <= known and is_recent:
            return
        update = (
            d.devices.update(device.user_id, device.device_id)
            .at(lambda it: it.last_seen_at).set(now)
            .at(lambda it: it.last_sync_at).set(now)
            .at(lambda it: it.acknowledged_version).set(max(known, version))
        )  # fmt: skip
        # Refused if another request of the device acknowledged more, or it was removed.
        self._repository.try_write(update.when(lambda it: it.acknowledged_version == known))


def _is_at(said: str | None, there: str | None) -> bool:
    """Whether the seal a device has is the feed's. One that says none is believed: it may be older than seals are."""
    return said is None or said == there


def _opened(token: str) -> tuple[int, str | None, str]:
    """The version a snapshot began at with its seal, and where its next page does."""
    as_of, _, rest = token.partition(".")
    seal, _, place = rest.partition(".")
    if not as_of.isdecimal() or not place:
        raise BadRequest("BAD_TOKEN", "This isn't a token of a snapshot.", "after")
    return int(as_of), seal or None, place
