"""What travellers see of each other: visitor counts of regions, public maps (SK-X5, SK-13).

Everything is private until its owner switches it on, each with its own setting. Must hold: of the visitors of a region
only the number of those who share their visit is shown, and not while it is small, since that could identify one
traveller; no traveller sees the map of one who blocked them or whom they blocked; the map of an account that is about
to be erased is hidden; a private account, and a child's whatever its settings, looks like one that does not exist.
Elsewhere: who is counted under a region (visitor_counts.py), the switches (sync/push.py), blocks (account/privacy.py).
"""

from dataclasses import dataclass

from tablewright.edge.errors import NotFound
from tablewright.systems.travel import design as d
from tablewright.systems.travel.model import Profile, RegionType, Statistic, Visit
from tablewright.systems.travel.places.statistics import Statistics
from tablewright.systems.travel.places.visitor_counts import Regions
from tablewright.systems.travel.repository import Repository

# A smaller number of visitors is not shown.
FEWEST_TOLD = 5


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

    def visitors(self, region_type: RegionType, region_code: str) -> int | None:
        """How many travellers share a visit to a region; None if they are too few."""
        count = self._regions.count(region_type, region_code)
        return count if count >= FEWEST_TOLD else None

    def public_map(self, reader: str | None, user_id: str) -> PublicMap:
        """A traveller's public profile; USER_NOT_FOUND if it is not public, or hidden from the reader.

        `reader` is None for a caller without an account: a public profile is open to everyone who has its address.
        """
        profile = self._repository.profile(user_id)
        is_own = reader == user_id
        settings = profile.privacy_settings.in_effect
        is_open = settings.profile_public and not profile.is_minor and profile.erases_at is None
        if not is_own and (not is_open or (reader is not None and self._is_hidden(reader, user_id))):
            raise NotFound("USER")
        visits = self._repository.live_visits(user_id) if settings.share_visits else []
        if not settings.show_notes:
            visits = [visit.model_copy(update={"notes": None, "trips": {}}) for visit in visits]
        return PublicMap(profile, self._statistics.of(user_id), tuple(visits))

    def _is_hidden(self, reader: str, other: str) -> bool:
        """Whether one of the two blocked the other."""
        gets = [d.blocks.get(other, reader), d.blocks.get(reader, other)]
        return any(self._repository.db.many(gets, consistent=True))
