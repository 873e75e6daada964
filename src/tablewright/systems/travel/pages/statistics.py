"""The timeline, the statistics with their totals, and the share card.

Must hold: the figures are those of the service, as of the last change. Elsewhere: counting
(systems/travel/places/statistics.py), drawing the card (static/share.js).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import orjson
from fastapi import APIRouter, Request, Response

from tablewright.pages.charts import Bar, bars
from tablewright.systems.travel import rules
from tablewright.systems.travel.geography import names
from tablewright.systems.travel.geography.regions import CONTINENTS, Geography
from tablewright.systems.travel.model import RegionType, Statistic, Visit
from tablewright.systems.travel.pages.map import SCRIPTS, files_of
from tablewright.systems.travel.pages.page import TravelPages
from tablewright.systems.travel.pages.words import TYPES, day_words
from tablewright.systems.travel.places.statistics import share


@dataclass(frozen=True, slots=True)
class Moment:
    """Something on the timeline: a visit by its date, or one of its trips."""

    year: int
    at: str  # the sort key; a year or a month sorts right after its first day
    when: str
    visit: Visit
    notes: str
    is_trip: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole."""

    title: str
    part: int
    whole: int
    percent: str
    code: str = ""


def add_statistics(router: APIRouter, pages: TravelPages) -> None:
    @router.get("/timeline")
    def timeline(request: Request) -> Response:
        profile = pages.traveller(request)
        visits = pages.travel.visits.all(profile.user_id)
        return pages.page(
            request,
            "timeline",
            title="Timeline",
            years=by_year(moments(visits)),
            undated=sorted(
                (visit for visit in visits if not visit.visited_date and not visit.trips),
                key=lambda visit: names.normalise(visit.region_name),
            ),
        )

    @router.get("/statistics")
    def statistics(request: Request) -> Response:
        profile = pages.traveller(request)
        figures = pages.travel.statistics.of(profile.user_id)
        visits = pages.travel.visits.all(profile.user_id)
        years = by_year(moments(visits))
        return pages.page(
            request,
            "statistics",
            title="Statistics",
            profile=profile,
            figures=figures,
            shares=shares(figures, pages.travel.geography),
            continents=continents(visits, pages.travel.geography),
            years=bars(
                [Bar(str(year), len({m.visit.composite_key for m in found})) for year, found in reversed(years)],
                about="Places by year",
            )
            if years
            else "",
        )  # fmt: skip

    @router.get("/share")
    def share_card(request: Request) -> Response:
        profile = pages.traveller(request)
        visits = pages.travel.visits.all(profile.user_id)
        return pages.page(
            request,
            "share",
            title="Share card",
            profile=profile,
            files=orjson.dumps(files_of(pages.travel.geography)).decode(),
            scripts=[pages.console.asset(name) for name in (*SCRIPTS, "travel/share.js")],
            years=sorted({moment.year for moment in moments(visits)}, reverse=True),
        )


# --- the timeline: pure ---


def moments(visits: Iterable[Visit]) -> list[Moment]:
    """Every visit with a date and every trip, the latest first."""
    found: list[Moment] = []
    for visit in visits:
        if visit.visited_date:
            found.append(_moment(visit, visit.visited_date, day_words(visit.visited_date), visit.notes))
        for trip in visit.trips.values():
            until = f" to {day_words(trip.end)}" if trip.end and trip.end != trip.start else ""
            words = f"{day_words(trip.start)}{until}"
            found.append(_moment(visit, trip.start, words, trip.notes, is_trip=True))
    return sorted(found, key=lambda moment: (moment.at, moment.visit.region_name), reverse=True)


def _moment(visit: Visit, day: str, when: str, notes: str | None, *, is_trip: bool = False) -> Moment:
    first, _ = rules.span(day)
    at = f"{first.isoformat()}{'~' * (10 - len(day))}"
    return Moment(first.year, at, when, visit, notes or "", is_trip)


def by_year(found: Sequence[Moment]) -> list[tuple[int, list[Moment]]]:
    """Moments under their years, the latest first."""
    years: dict[int, list[Moment]] = defaultdict(list)
    for moment in found:
        years[moment.year].append(moment)
    return sorted(years.items(), reverse=True)


# --- figures: pure ---


def shares(figures: Statistic, geography: Geography) -> list[Share]:
    parts: dict[RegionType, tuple[int, Decimal]] = {
        "country": (figures.countries_visited, figures.countries_percentage),
        "us_state": (figures.us_states_visited, figures.us_states_percentage),
        "canadian_province": (figures.canadian_provinces_visited, figures.canadian_provinces_percentage),
    }
    found = [
        Share(TYPES[kind], part, geography.denominator(kind), f"{percent:.1f}")
        for kind, (part, percent) in parts.items()
    ]
    whole = sum(one.whole for one in found)
    return [
        *found,
        Share("All places", figures.total_regions_visited, whole, f"{figures.total_regions_percentage:.1f}"),
    ]


def continents(visits: Iterable[Visit], geography: Geography) -> list[Share]:
    """The counted countries of each continent, and how many of them are marked."""
    marked = {visit.region_code for visit in visits if visit.region_type == "country"}
    found = []
    for code, title in CONTINENTS.items():
        countries = [r for r in geography.of("country") if r.continent_code == code and r.countable]
        part = sum(region.region_code in marked for region in countries)
        if countries:
            found.append(Share(title, part, len(countries), f"{share(part, len(countries)):.1f}", code))
    return found
