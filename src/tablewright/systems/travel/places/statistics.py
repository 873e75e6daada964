"""How much of the world a traveller has seen: counts, shares, continents, streak, the last ten.

Figures are counted from marks, one for each live visit; a change of the feed changes one mark, so what was counted at a
place in the feed is brought to a later one by the changes between, and is what a count of everything would give.
Must hold: figures are never older than the last answered push (SK-27); a count and its denominator are of the same
regions, those that are countable (SK-D20). Elsewhere: how many there are of each (geography/).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import TypeAlias

from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.geography.regions import Geography, Region
from tablewright.systems.travel.model import (
    REGION_TYPES,
    Change,
    Head,
    Mark,
    RecentVisit,
    RegionType,
    Statistic,
    Visit,
)
from tablewright.systems.travel.repository import Repository

RECENT = 10
# More changes than this are not worth following: everything is read at once.
FOLLOWED_AT_MOST = 200
# What is in a mark: 2 has the days of trips.
MARKS_FORM = 2
ONE_DAY = timedelta(days=1)
_TENTH = Decimal("0.1")
Days: TypeAlias = tuple[date, date]  # the first and the last of them


# --- marks: pure ---


def key(region_type: RegionType, region_code: str) -> str:
    return f"{region_type}#{region_code}"


def counted(visits: Iterable[Visit]) -> dict[str, Mark]:
    """The marks of all visits: what following every change would have come to."""
    return {
        key(visit.region_type, visit.region_code): Mark(
            timestamp_ms=visit.timestamp_ms,
            visited_date=visit.visited_date,
            trip_days=rules.trip_days(visit),
        )
        for visit in visits
        if not visit.is_deleted
    }


def advanced(marks: Mapping[str, Mark], changes: Iterable[Change]) -> dict[str, Mark]:
    """The marks after some changes, in their order."""
    after = dict(marks)
    for change in changes:
        if change.region_type is None or change.region_code is None or change.timestamp_ms is None:
            continue
        place = key(change.region_type, change.region_code)
        if change.kind == "deleted":
            after.pop(place, None)
        else:
            after[place] = Mark(
                timestamp_ms=change.timestamp_ms,
                visited_date=change.visited_date,
                trip_days=change.trip_days,
            )
    return after


# --- figures: pure ---


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose figures, as of when and where."""

    user_id: str
    server_version: int
    time_zone: str
    now: datetime


def figures(marks: Mapping[str, Mark], geography: Geography, asked: Asked) -> Statistic:
    """Everything that is said about marks."""
    places = {place: (region, mark) for place, mark in marks.items() if (region := _region(geography, place))}
    counts = dict.fromkeys(REGION_TYPES, 0)
    for region, _ in places.values():
        counts[region.region_type] += region.countable
    totals = {kind: geography.denominator(kind) for kind in REGION_TYPES}
    today = rules.today_in(asked.time_zone, asked.now)
    return Statistic(
        user_id=asked.user_id,
        calculation_date=today,
        server_version=asked.server_version,
        data_version=geography.data_version,
        time_zone=asked.time_zone,
        countries_visited=counts["country"],
        countries_percentage=share(counts["country"], totals["country"]),
        us_states_visited=counts["us_state"],
        us_states_percentage=share(counts["us_state"], totals["us_state"]),
        canadian_provinces_visited=counts["canadian_province"],
        canadian_provinces_percentage=share(counts["canadian_province"], totals["canadian_province"]),
        total_regions_visited=sum(counts.values()),
        total_regions_percentage=share(sum(counts.values()), sum(totals.values())),
        continents_visited=sorted(
            {code for region, _ in places.values() if (code := geography.continent(region))}
        ),
        recent_visits=_recent(places.values()),
        travel_streak_days=streak(_days(marks.values()), today),
        marks=dict(marks),
        marks_form=MARKS_FORM,
        calculated_at=asked.now,
    )


def share(part: int, whole: int) -> Decimal:
    """Per cent, with one place, halves up."""
    if whole == 0:
        return Decimal("0.0")
    return (Decimal(100 * part) / Decimal(whole)).quantize(_TENTH, ROUND_HALF_UP)


def streak(visited: Iterable[Days], today: date) -> int:
    """How many days in a row were spent visiting, up to today or yesterday (SK-D21)."""
    begun: date | None = None
    end = today
    for first, last in sorted(visited, key=lambda days: days[1], reverse=True):
        if last < (begun or today) - ONE_DAY:
            break
        if begun is None:
            begun, end = first, min(last, today)
        begun = min(begun, first)
    return (end - begun).days + 1 if begun is not None else 0


def _days(marks: Iterable[Mark]) -> Iterator[Days]:
    """The days of visits and trips that are known: a year or a month alone is none, nor is the day of marking."""
    for mark in marks:
        if mark.visited_date is not None and (day := rules.day_of(mark.visited_date)) is not None:
            yield day, day
        for span in mark.trip_days:
            first, _, last = span.partition("/")
            yield date.fromisoformat(first), date.fromisoformat(last)


def _recent(places: Iterable[tuple[Region, Mark]]) -> list[RecentVisit]:
    ordered = sorted(
        places, key=lambda place: (-place[1].timestamp_ms, place[0].region_type, place[0].region_code)
    )
    return [
        RecentVisit(
            region_type=region.region_type,
            region_code=region.region_code,
            name=region.display_name,
            timestamp_ms=mark.timestamp_ms,
            visited_date=mark.visited_date,
        )
        for region, mark in ordered[:RECENT]
    ]


def _region(geography: Geography, place: str) -> Region | None:
    said, _, code = place.partition("#")
    return next((rules.region_of(geography, kind, code) for kind in REGION_TYPES if kind == said), None)


# --- kept and brought up to date ---


@dataclass(frozen=True, slots=True)
class Drift:
    """What the head said was marked, and what is, where they differ."""

    said: Mapping[str, int]
    found: Mapping[str, int]


class Statistics:
    """A traveller's figures."""

    def __init__(self, repository: Repository, geography: Geography) -> None:
        self._repository, self._geography = repository, geography

    def of(self, user_id: str) -> Statistic:
        """The figures as of the last change: kept ones if nothing happened since, else brought up to date."""
        repository = self._repository
        profile = repository.profile(user_id)
        head = repository.head(user_id) or Head(user_id=user_id)
        asked = Asked(user_id, head.server_version, profile.time_zone, repository.now())
        today = d.statistics.get(user_id, rules.today_in(asked.time_zone, asked.now))
        kept = repository.db.one(today, consistent=True) or repository.db.first(
            d.statistics_of(user_id=user_id)
        )
        if kept is not None and kept.marks_form != MARKS_FORM:
            kept = None
        if kept is not None and self._holds(kept, asked):
            return kept
        made = figures(self._marks(kept, asked), self._geography, asked)
        repository.db.write(d.statistics.put(made))
        return made

    def warm(self, user_id: str) -> None:
        """Compute today's figures, before they are asked for, of someone who had some in the last days."""
        if self._repository.db.first(d.statistics_of(user_id=user_id)) is not None:
            self.of(user_id)

    def repair(self, user_id: str) -> Drift | None:
        """Count everything, and correct the counters that differ: in the head, and its copies in the profile.

        None if everything was right, or if something is being written: then the next recount looks again (SK-D19).
        """
        profile, head = self._repository.profile(user_id), self._repository.head(user_id)
        if head is None:
            return None
        counts = dict.fromkeys(rules.COUNTERS.values(), 0)
        for visit in self._repository.live_visits(user_id):
            region = rules.region_of(self._geography, visit.region_type, visit.region_code)
            counts[rules.COUNTERS[visit.region_type]] += region is not None and region.countable
        version = head.server_version
        found = {**counts, "sync_version": version}
        said = {**{name: getattr(head, name) for name in counts}, "sync_version": version}
        copied = {name: getattr(profile, name) for name in found}
        if said == found == copied:
            return None
        right = d.heads.change(head, head.model_copy(update=counts)).when(
            lambda it: it.server_version == version
        )
        copy = d.profiles.change(profile, profile.model_copy(update=found))
        if not self._repository.try_write(right, copy):
            return None
        return Drift(said if said != found else copied, found)

    # --- parts ---

    def _holds(self, kept: Statistic, asked: Asked) -> bool:
        return (
            kept.server_version == asked.server_version
            and kept.calculation_date == rules.today_in(asked.time_zone, asked.now)
            and kept.data_version == self._geography.data_version
            and kept.time_zone == asked.time_zone
        )

    def _marks(self, kept: Statistic | None, asked: Asked) -> dict[str, Mark]:
        """From what was kept and the changes since, or from all visits if that is not possible."""
        if kept is not None and kept.server_version == asked.server_version:
            return dict(kept.marks)
        if kept is not None and 0 < asked.server_version - kept.server_version <= FOLLOWED_AT_MOST:
            wanted = range(kept.server_version + 1, asked.server_version + 1)
            query = d.changes_between(user_id=asked.user_id, first=wanted[0], last=wanted[-1])
            changes = list(self._repository.db.all(query))
            if [change.server_version for change in changes] == list(wanted):
                return advanced(kept.marks, changes)
        return counted(self._repository.live_visits(asked.user_id))
