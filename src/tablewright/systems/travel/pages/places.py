"""Places as lists and one at a time: everything the map does, as forms that need no JavaScript.

Must hold: a form contains the version it was filled from; a newer change is not overwritten, and the typed text is
shown again with the current one. Elsewhere: the map (map.py), the rules of dates and notes (systems/travel/rules.py).
"""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response
from pydantic import JsonValue

from tablewright.edge.errors import CallerError, NotFound
from tablewright.pages.forms import Form, posted
from tablewright.pages.layout import Crumb
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.geography import names
from tablewright.systems.travel.geography.regions import CONTINENTS, Region
from tablewright.systems.travel.model import Profile, RegionType, Visit
from tablewright.systems.travel.pages.page import HOME, TravelPages
from tablewright.systems.travel.pages.words import ONE, REST, TYPES, side_words
from tablewright.systems.travel.rules import COUNTERS, visit_fields
from tablewright.systems.travel.sync.operations import Result

VERSION = "version"
LIST = f"{HOME}/places"
_SHOWN = (("", "All"), ("been", "Visited"), ("not", "Not visited"))
_NEWER = (
    "Another device changed this place after you opened it. This is the current version; nothing was removed."
)
_NEWER_UNMARK = f"{_NEWER} Remove it again if you still want to."


@dataclass(frozen=True, slots=True)
class Row:
    """A region in a list, with the visit if there is one."""

    region: Region
    visit: Visit | None
    continent: str


@dataclass(frozen=True, slots=True)
class Group:
    """Regions of a list under one heading."""

    title: str
    code: str
    rows: tuple[Row, ...]

    @property
    def been(self) -> int:
        return sum(row.visit is not None and row.region.countable for row in self.rows)

    @property
    def of(self) -> int:
        return sum(row.region.countable for row in self.rows)


def place_path(region_type: str, code: str) -> str:
    return f"{LIST}/{region_type}/{code}"


def add_places(router: APIRouter, pages: TravelPages) -> None:
    for add in (_add_lists, _add_place, _add_trips):
        add(router, pages)


# --- lists ---


def _add_lists(router: APIRouter, pages: TravelPages) -> None:
    @router.get("/places")
    def all_places(
        request: Request, type: RegionType = "country", show: str = "", find: str = ""
    ) -> Response:
        profile = pages.traveller(request)
        visits = {
            (visit.region_type, visit.region_code): visit
            for visit in pages.travel.visits.all(profile.user_id)
        }
        figures = pages.travel.statistics.of(profile.user_id)
        counts: dict[RegionType, int] = {kind: getattr(figures, name) for kind, name in COUNTERS.items()}
        geography = pages.travel.geography
        regions = geography.of(type)
        if find.strip():
            regions = tuple(names.rank(find, regions))
        rows = [
            Row(region, visits.get((type, region.region_code)), geography.continent(region) or "NA")
            for region in regions
        ]
        if show:
            rows = [row for row in rows if (row.visit is not None) == (show == "been")]
        return pages.page(
            request,
            "places",
            title=TYPES[type],
            type=type,
            show=show,
            find=find,
            tabs=[(f"{title} · {counts[kind]}", _list_path(kind), kind == type) for kind, title in TYPES.items()],
            shown=[(title, _list_path(type, value, find), value == show) for value, title in _SHOWN],
            groups=_groups(rows, by_continent=type == "country" and not find.strip()),
            been=counts[type],
            of=geography.denominator(type),
            rest=REST[type],
            here=_list_path(type, show, find),
        )  # fmt: skip


def _list_path(kind: str, show: str = "", find: str = "") -> str:
    query = {"type": kind, "show": show, "find": find}
    return f"{LIST}?{urlencode({name: text for name, text in query.items() if text})}"


def _groups(rows: list[Row], *, by_continent: bool) -> list[Group]:
    if not by_continent:
        return [Group("", "", tuple(rows))] if rows else []
    rows = sorted(rows, key=lambda row: names.normalise(row.region.display_name))
    return [
        Group(title, code, found)
        for code, title in CONTINENTS.items()
        if (found := tuple(row for row in rows if row.continent == code))
    ]


# --- one place ---


def _add_place(router: APIRouter, pages: TravelPages) -> None:
    @router.get("/places/{region_type}/{code}")
    def one(region_type: RegionType, code: str, request: Request) -> Response:
        region = pages.region(region_type, code)
        if region.region_code != code:
            return pages.console.go(place_path(region_type, region.region_code))
        return place_page(pages, request, region)

    @router.post("/places/{region_type}/{code}")
    def save(
        region_type: RegionType, code: str, request: Request, form: Annotated[Form, Depends(posted)]
    ) -> Response:
        profile, region = pages.traveller(request), pages.region(region_type, code)
        fields: dict[str, JsonValue] = {
            name: form.get(name).strip() or None for name in ("visited_date", "notes") if name in form.values
        }
        try:
            pages.travel.visits.mark(profile.user_id, region_type, region.region_code, fields, _version(form))
        except CallerError as mistake:
            return place_page(pages, request, region, _again(form, mistake), mistake.status)
        return pages.console.go(place_path(region_type, region.region_code), "Saved.")

    @router.post("/places/{region_type}/{code}/mark")
    def mark(
        region_type: RegionType, code: str, request: Request, form: Annotated[Form, Depends(posted)]
    ) -> Response:
        profile, region = pages.traveller(request), pages.region(region_type, code)
        result = pages.travel.visits.mark(profile.user_id, region_type, region.region_code)
        return _offered(pages, region, result, form)

    @router.post("/places/{region_type}/{code}/unmark")
    def unmark(
        region_type: RegionType, code: str, request: Request, form: Annotated[Form, Depends(posted)]
    ) -> Response:
        profile, region = pages.traveller(request), pages.region(region_type, code)
        try:
            result = pages.travel.visits.unmark(
                profile.user_id, region_type, region.region_code, _version(form)
            )
            stays = result.status == "conflict"
        except NotFound:
            stays = False  # another device removed it already
        except VersionConflict as mistake:
            stays = isinstance(mistake.current, Visit) and not mistake.current.is_deleted
        if stays:
            return place_page(pages, request, region, status=409, newer=_NEWER_UNMARK)
        words = f"{region.display_name} removed from your map."
        if region_type == "country" and region.region_code in ("US", "CA"):
            words += " States and provinces you marked stay marked."
        return pages.console.go(_back(form, place_path(region_type, region.region_code)), words)


def _offered(pages: TravelPages, region: Region, result: Result, form: Form) -> Response:
    """The response after a place was marked; the page of a state may offer to mark its country."""
    path = place_path(region.region_type, region.region_code)
    if result.offers:
        return pages.console.go(
            f"{path}?offer={result.offers[0].region_code}", f"{region.display_name} marked."
        )
    return pages.console.go(_back(form, path), f"{region.display_name} marked.")


def _back(form: Form, otherwise: str) -> str:
    """The list on which the button was pressed, if it is one of these pages; else `otherwise`."""
    back = form.get("back")
    return back if back.startswith(f"{LIST}?") and back.isprintable() else otherwise


def _version(form: Form) -> int | None:
    text = form.get(VERSION)
    return int(text) if text.isascii() and text.isdigit() else None


def _again(form: Form, mistake: CallerError) -> Form:
    """What was typed, with the refusal; after a version conflict the form continues from the current version."""
    if isinstance(mistake, VersionConflict) and isinstance(mistake.current, Visit):
        values = {**form.values, VERSION: str(mistake.current.sync_version)}
        now = side_words("*", None if mistake.current.is_deleted else visit_fields(mistake.current))
        words = (
            f"Another device changed this place after you opened it. Now: {now}. Save again to replace that."
        )
        return Form(values, {}, words)
    return form.refused(mistake)


def place_page(
    pages: TravelPages, request: Request, region: Region, form: Form | None = None, status: int = 200,
    trip: Form | None = None, newer: str = "",
) -> Response:  # fmt: skip
    profile = pages.traveller(request)
    visit = _visit(pages, profile, region)
    offer = pages.travel.geography.get("country", request.query_params.get("offer", ""))
    known = {} if visit is None else {"visited_date": visit.visited_date or "", "notes": visit.notes or ""}
    version = visit.sync_version if visit is not None else 0
    parent = pages.travel.geography.get("country", region.parent_region) if region.parent_region else None
    return pages.page(
        request,
        "place",
        title=region.display_name,
        crumbs=(Crumb(TYPES[region.region_type], _list_path(region.region_type)),),
        status=status,
        region=region,
        kind=ONE[region.region_type],
        parent=parent,
        visit=visit,
        profile=profile,
        path=place_path(region.region_type, region.region_code),
        form=form or Form({**known, VERSION: str(version)}),
        trip=trip or Form({VERSION: str(version)}),
        newer=newer,
        offer=offer if visit is not None and offer is not None and _visit(pages, profile, offer) is None else None,
        devices={one.device_id: one.name for one in pages.travel.repository.devices_of(profile.user_id, revoked=True)},
        visitors=pages.travel.sharing.visitors(region.region_type, region.region_code),
    )  # fmt: skip


def _visit(pages: TravelPages, profile: Profile, region: Region) -> Visit | None:
    try:
        return pages.travel.visits.one(profile.user_id, region.region_type, region.region_code)
    except NotFound:
        return None


# --- trips ---


def _add_trips(router: APIRouter, pages: TravelPages) -> None:
    @router.post("/places/{region_type}/{code}/trips")
    def add(
        region_type: RegionType, code: str, request: Request, form: Annotated[Form, Depends(posted)]
    ) -> Response:
        profile, region = pages.traveller(request), pages.region(region_type, code)
        trip: dict[str, JsonValue] = {
            "start": form.get("start").strip(),
            "end": form.get("end").strip() or None,
            "notes": form.get("trip_notes").strip() or None,
        }
        fields: dict[str, JsonValue] = {"trips": {f"t{pages.travel.repository.world.new_id()[:12]}": trip}}
        try:
            pages.travel.visits.mark(profile.user_id, region_type, region.region_code, fields)
        except CallerError as mistake:
            wrong = form.wrong("start", mistake.message)
            return place_page(pages, request, region, status=mistake.status, trip=wrong)
        return pages.console.go(place_path(region_type, region.region_code), "Trip added.")

    @router.post("/places/{region_type}/{code}/trips/{trip_id}/remove")
    def remove(
        region_type: RegionType,
        code: str,
        trip_id: str,
        request: Request,
        form: Annotated[Form, Depends(posted)],
    ) -> Response:
        profile, region = pages.traveller(request), pages.region(region_type, code)
        gone: dict[str, JsonValue] = {"trips": {trip_id: None}}
        try:
            pages.travel.visits.mark(profile.user_id, region_type, region.region_code, gone, _version(form))
        except VersionConflict as mistake:
            return place_page(pages, request, region, status=mistake.status, newer=_NEWER)
        return pages.console.go(place_path(region_type, region.region_code), "Trip removed.")
