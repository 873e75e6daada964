"""A traveller's visits: read and marked on the web, with the same operations that devices use.

A state that is marked offers its country; unmarking a country leaves its states, and unmarking the last state leaves
the country: each is a place of its own. Must hold: what the web writes is in the feed like anything else.
"""

from heapq import merge
from itertools import islice

from pydantic import JsonValue

from tablewright.edge.errors import BadRequest, NotFound
from tablewright.mapping import Page
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.model import REGION_TYPES, OperationType, Place, RegionType, Visit
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.sync.apply import changed_since
from tablewright.systems.travel.sync.operations import Result
from tablewright.systems.travel.sync.push import Sync


class Visits:
    """A traveller's visits."""

    def __init__(self, repository: Repository, geography: Geography, sync: Sync) -> None:
        self._repository, self._geography, self._sync = repository, geography, sync

    def all(self, user_id: str) -> list[Visit]:
        """SK-11: every place, by type and code; consistently read."""
        return self._repository.live_visits(user_id)

    def of_type(
        self, user_id: str, region_type: RegionType, size: int | None = None, after: str | None = None
    ) -> Page[Visit]:
        """SK-12: the places of one type, those marked last first."""
        query = d.visits_of_type(user_id=user_id, region_type=region_type)
        return self._repository.page(query, size, after, user_id)

    def recent(self, user_id: str, count: int = 10) -> list[Visit]:
        """SK-14: what was marked last, of all types."""
        each = [
            self._repository.page(d.visits_of_type(user_id=user_id, region_type=kind), count, None, user_id)
            for kind in REGION_TYPES
        ]
        ordered = merge(*(page.items for page in each), key=lambda visit: -visit.timestamp_ms)
        return list(islice(ordered, count))

    def one(self, user_id: str, region_type: RegionType, region_code: str) -> Visit:
        place = rules.present_place(self._geography, region_type, region_code)
        there = self._standing(user_id, place, (region_type, region_code))
        return self._repository.found(there if there is not None and not there.is_deleted else None, "VISIT")

    def mark(
        self,
        user_id: str,
        region_type: RegionType,
        region_code: str,
        fields: dict[str, JsonValue] | None = None,
        version: int | None = None,
    ) -> Result:
        """Mark a place, or change its fields: based on the newest version, or on the one that was seen."""

        def attempt() -> Result:
            there = self._seen(user_id, region_type, region_code, version)
            is_live = there is not None and not there.is_deleted
            kind: OperationType = "update" if is_live else "create"
            return self._do(user_id, kind, region_type, region_code, fields or {}, there)

        return self._repository.retried(version, attempt)

    def unmark(
        self, user_id: str, region_type: RegionType, region_code: str, version: int | None = None
    ) -> Result:
        """Remove a mark."""
        there = self._seen(user_id, region_type, region_code, version)
        if there is None or there.is_deleted:
            raise NotFound("VISIT")
        return self._do(user_id, "delete", region_type, region_code, {}, there)

    def follow_codes(self, user_id: str) -> list[Result]:
        """Move marks of codes that were retired to the present ones (SK-X12); those of divided regions stay."""
        return self._sync.follow_codes(self._repository.live_visits(user_id))

    # --- parts ---

    def _standing(self, user_id: str, place: Place, said: Place) -> Visit | None:
        """What there is of a place: a mark under a retired code, until it is moved; else what is under the present."""
        formers: list[Place] = [(place[0], code) for code in self._geography.former(*place)]
        there, *older = self._repository.visits_at(user_id, list(dict.fromkeys([place, said, *formers])))
        return next((visit for visit in older if visit is not None and not visit.is_deleted), there)

    def _seen(
        self, user_id: str, region_type: RegionType, region_code: str, version: int | None
    ) -> Visit | None:
        place = rules.marked_place(self._geography, region_type, region_code)
        there = self._standing(user_id, place, (region_type, region_code))
        if version is not None and version != (there.sync_version if there is not None else 0):
            raise changed_since(there)
        return there

    def _do(
        self,
        user_id: str,
        kind: OperationType,
        region_type: RegionType,
        region_code: str,
        fields: dict[str, JsonValue],
        there: Visit | None,
    ) -> Result:
        edit = self._sync.edit(
            kind,
            region_type=region_type,
            # By the code whose version was seen: that of another code says nothing.
            region_code=there.region_code if there is not None else region_code,
            client_version=there.sync_version if there is not None else 0,
            entity_data=fields,
        )
        # A change made at this moment is neither removed nor overwritten: the caller reads it first.
        result = self._sync.apply(user_id, edit, is_exact=True)
        if result.status == "failed":
            raise BadRequest(result.error or "FAILED", result.message or "", result.field)
        return result
