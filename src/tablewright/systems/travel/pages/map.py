"""The scratch map, and what Skratch needs offline: two shells, the service worker, the list of regions.

The page of a signed-in traveller contains their figures and places, so that a new browser can colour the map at once;
the copy that a browser keeps is fetched by its script. Offline, the map is shown at its own address; at every other
address a page shows the browser's copy, or says that a connection is needed. Must hold: the shells, which browsers
keep, are rendered without a login and have no traveller's name in them; the worker's version changes with every file it
keeps.
Elsewhere: the scripts (static/), the borders (the API's topologies).
"""

import hashlib
from functools import lru_cache

import orjson
from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge.etags import mark, public_cache, unchanged
from tablewright.systems.travel.access import ADMIN
from tablewright.systems.travel.geography import names
from tablewright.systems.travel.geography.regions import Geography, Region
from tablewright.systems.travel.model import REGION_TYPES, Profile
from tablewright.systems.travel.pages.page import HOME, TravelPages
from tablewright.systems.travel.rules import COUNTERS
from tablewright.systems.travel.sync.operations import user_state, visit_state

SHELL = f"{HOME}/offline"
AWAY = f"{HOME}/offline/page"
WORKER = f"{HOME}/worker.js"
# What the map is drawn with, in the order it is loaded.
SCRIPTS = (
    "travel/vendor/d3-array-3.2.4.min.js",
    "travel/vendor/d3-geo-3.1.1.min.js",
    "travel/vendor/topojson-client-3.1.0.min.js",
    "travel/store.js",
    "travel/sync.js",
    "travel/dates.js",
    "travel/atlas.js",
    "travel/link.js",
)
MAP_SCRIPTS = ("travel/canvas.js", "travel/spot.js", "travel/map.js")
AWAY_SCRIPTS = (
    *(name for name in SCRIPTS if not name.startswith("travel/vendor/")),
    "travel/back.js",
    "travel/away.js",
)
_FRAME = (
    "console.css",
    "console.js",
    "travel/icon.svg",
    "vendor/htmx-2.0.11.min.js",
    "travel/travel.css",
    "travel/leave.js",
    "travel/sending.js",
)
_WORKERS = ("travel/store.js", "travel/sync.js")
ROWS_FORM = 2  # what a row of a region has; kept for a year, so another form needs another address
FIRST_BYTES = 256 * 1024
_YEAR = 365 * 24 * 3600


def files_of(geography: Geography) -> dict[str, str]:
    """The URLs of the geography files, by name; a new data version has new URLs."""
    version = geography.data_version
    return {
        "regions": f"{HOME}/regions.json?v={version}.{ROWS_FORM}",
        "lakes": f"/travel/v1/regions/lakes/topology?v={version}",
        "country": f"/travel/v1/regions/country/topology?level=low&v={version}",
        "us_state": f"/travel/v1/regions/us_state/topology?level=high&v={version}",
        "canadian_province": f"/travel/v1/regions/canadian_province/topology?level=high&v={version}",
    }


@lru_cache(maxsize=2)
def worker_script(body: bytes, scripts: tuple[str, ...], kept: tuple[str, ...]) -> bytes:
    """The service worker, after constants with the URLs of its scripts and of the files it keeps."""
    version = hashlib.sha256(b"\n".join([body, *(path.encode() for path in kept)])).hexdigest()[:16]
    facts = {
        "VERSION": version,
        "FILES": kept,
        "HOME": HOME,
        "SHELL": SHELL,
        "AWAY": AWAY,
        "SCRIPTS": scripts,
    }
    lines = [b"const %s = %s;\n" % (name.encode(), orjson.dumps(value)) for name, value in facts.items()]
    return b"".join(lines) + body


def region_rows(geography: Geography) -> bytes:
    """Every region as a row: type, code, name, continent, parent, whether it counts, longitude, latitude, and what it
    is found by (names.py: the name from each word on, all names, tokens). `letters` is how a query is spelt for that.
    """
    rows = [
        [
            region.region_type,
            region.region_code,
            region.display_name,
            region.continent_code,
            region.parent_region,
            int(region.countable),
            float(region.center_lon),
            float(region.center_lat),
            *_search_keys(region),
        ]
        for kind in REGION_TYPES
        for region in geography.of(kind)
    ]
    # Python's casefold maps this letter without a table.
    letters = {**names.LETTERS, "ß": "ss"}
    return orjson.dumps({"data_version": geography.data_version, "letters": letters, "regions": rows})


def _search_keys(region: Region) -> tuple[tuple[str, ...], ...]:
    keys = names.keys_of(region)
    return keys.tails, keys.names, keys.tokens


def first_states(pages: TravelPages, profile: Profile) -> str:
    """What a new browser shows until its first sync: the whole current state, or nothing if that is too large.

    Parts of it would be worse: an edit of a half-shown place would overwrite what its owner did not see.
    """
    states = [user_state(profile, profile.sync_version).model_dump(mode="json")]
    states += [visit_state(it).model_dump(mode="json") for it in pages.travel.visits.all(profile.user_id)]
    text = orjson.dumps(states)
    return text.decode() if len(text) <= FIRST_BYTES else "[]"


def add_map(router: APIRouter, pages: TravelPages) -> None:
    console, geography = pages.console, pages.travel.geography
    files = files_of(geography)
    rows = region_rows(geography)
    tag = f"{geography.data_version}.{ROWS_FORM}"

    @router.get("", dependencies=[Depends(pages.signed_in)])
    def home(request: Request) -> Response:
        caller = pages.caller(request)
        if ADMIN in caller.roles:
            return console.go(f"{HOME}/sync")
        if not pages.has_map(caller):
            return pages.page(request, "no_map", title="Skratch")
        return map_page(request, pages.traveller(request))

    @router.get("/offline")
    def shell(request: Request) -> Response:
        """The map without a traveller: what browsers show offline."""
        return map_page(request, None)

    @router.get("/offline/page")
    def away(request: Request) -> Response:
        """Any other page without a traveller: its script reads from the address which page was requested."""
        return pages.page(
            request,
            "away",
            title="Offline",
            regions=files["regions"],
            scripts=[console.asset(name) for name in AWAY_SCRIPTS],
        )

    def map_page(request: Request, profile: Profile | None) -> Response:
        return pages.page(
            request,
            "map",
            title="My map",
            profile=profile,
            figures=pages.travel.statistics.of(profile.user_id) if profile is not None else None,
            counters=COUNTERS,
            states=first_states(pages, profile) if profile is not None else "[]",
            owner=(profile.display_name or "Traveller") if profile is not None else "",
            files=orjson.dumps(files).decode(),
            scripts=[console.asset(name) for name in (*SCRIPTS, *MAP_SCRIPTS)],
            worker=WORKER,
            totals={kind: geography.denominator(kind) for kind in REGION_TYPES},
        )

    @router.get("/worker.js")
    def worker() -> Response:
        names = dict.fromkeys((*_FRAME, *SCRIPTS, *MAP_SCRIPTS, *AWAY_SCRIPTS))
        kept = (*map(console.asset, names), *files.values())
        body = console.assets["travel/worker.js"].content
        script = worker_script(body, tuple(map(console.asset, _WORKERS)), kept)
        headers = {"Service-Worker-Allowed": HOME, "Cache-Control": "no-cache"}
        return Response(script, media_type="text/javascript; charset=utf-8", headers=headers)

    @router.get("/regions.json")
    def regions(request: Request) -> Response:
        cache = public_cache(_YEAR)
        same = unchanged(request, tag, cache_control=cache)
        if same is not None:
            return same
        response = Response(rows, media_type="application/json")
        mark(response, tag, cache_control=cache)
        return response
