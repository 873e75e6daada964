"""What travellers see of each other: visitors of a region, public maps (SK-X5, SK-13).

Everything is private until its owner says otherwise, each thing by its own switch. Must hold: nobody sees anybody who
blocked them or whom they blocked, nor an account that is about to be erased; whoever is not public looks as if there
were nobody. Elsewhere: who is listed under a region (regions.py), the switches (sync.py), blocks (privacy.py).
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from tablewright.mapping import Page
from tablewright.systems.travel import design as d
from tablewright.systems.travel.errors import NotThere
from tablewright.systems.travel.model import Profile, RegionType, Statistic, Value, Visit
from tablewright.systems.travel.regions import Regions
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.statistics import Statistics


class SeenVisitor(Value):
    """Somebody who shares that they were there. A name is there only if their profile is public."""

    user_id: str
    display_name: str | None
    marked_at: datetime


@dataclass(frozen=True, slots=True)
class PublicMap:
    """What a public profile shows. `visits` are there if their owner shares them, notes in them likewise."""

    profile: Profile
    statistic: Statistic
    visits: tuple[Visit, ...]


class Sharing:
    """What travellers see of each other."""

    def __init__(self, repository: Repository, regions: Regions, statistics: Statistics) -> None:
        self._repository, self._regions, self._statistics = repository, regions, statistics

    def visitors(
        self,
        reader: str,
        region_type: RegionType,
        region_code: str,
        size: int | None = None,
        after: str | None = None,
    ) -> Page[SeenVisitor]:
        """Who shares that they have been to a region, the latest first. A page may be short: some are passed over."""
        page = self._regions.visitors(region_type, region_code, size, after, reader)
        ids = [visitor.user_id for visitor in page.items]
        profiles = dict(zip(ids, self._repository.db.many([d.profiles.get(id) for id in ids]), strict=True))
        hidden = self._hidden(reader, ids)
        seen = []
        for visitor in page.items:
            profile = profiles[visitor.user_id]
            if profile is None or not self._shares(profile) or visitor.user_id in hidden:
                continue
            name = profile.display_name if profile.privacy_settings.profile_public else None
            at = datetime.fromtimestamp(visitor.timestamp_ms / 1000, UTC)
            seen.append(SeenVisitor(user_id=visitor.user_id, display_name=name, marked_at=at))
        return Page(tuple(seen), page.next, page.read_units)

    def public_map(self, reader: str, user_id: str) -> PublicMap:
        """Somebody's public profile; USER_NOT_FOUND if it is not public, or not for the reader."""
        profile = self._repository.profile(user_id)
        is_own = reader == user_id
        is_open = profile.privacy_settings.profile_public and profile.erases_at is None
        if not is_own and (not is_open or self._hidden(reader, [user_id])):
            raise NotThere("USER")
        settings = profile.privacy_settings
        visits = self._repository.live_visits(user_id) if settings.share_visits else []
        if not settings.show_notes:
            visits = [visit.model_copy(update={"notes": None, "trips": {}}) for visit in visits]
        return PublicMap(profile, self._statistics.of(user_id), tuple(visits))

    def _shares(self, profile: Profile) -> bool:
        """As the profile says it now: the list may be a moment behind."""
        return profile.privacy_settings.share_visits and profile.erases_at is None and not profile.is_minor

    def _hidden(self, reader: str, others: list[str]) -> frozenset[str]:
        """Those who blocked the reader or were blocked by them."""
        if not reader or not others:
            return frozenset()
        ids = [id for id in dict.fromkeys(others) if id != reader]
        gets = [d.blocks.get(id, reader) for id in ids] + [d.blocks.get(reader, id) for id in ids]
        found = self._repository.db.many(gets, consistent=True)
        return frozenset(
            block.user_id if block.user_id != reader else block.blocked_id
            for block in found
            if block is not None
        )
