"""Which region a line of a CSV file means: by a code, or by a name in one of several columns. Pure.

The line may say its type, and its country: `Georgia` alone is a country and a state of the US, `Georgia` with the
country US is the state. A column that is called country names a country when it stands alone. Where a name is expected
`CA` alone is Canada or California; in a column of codes it is Canada.
Must hold: a name of several regions is refused with all of them; the importer never chooses.
"""

from collections.abc import Sequence

from tablewright.edge.errors import BadRequest
from tablewright.systems.travel import rules
from tablewright.systems.travel.geography import names
from tablewright.systems.travel.geography.regions import Geography, Region
from tablewright.systems.travel.model import REGION_TYPES, Place, RegionType
from tablewright.systems.travel.places.visits_csv import Row

_STATES: tuple[RegionType, ...] = ("us_state", "canadian_province")
_KINDS = {
    "country": "the country",
    "us_state": "the US state or territory",
    "canadian_province": "the Canadian province",
}


def place_of(geography: Geography, row: Row) -> Place:
    """The region of a line; UNKNOWN_REGION, AMBIGUOUS_REGION or INVALID_TYPE if it names none, or several."""
    types = _types(row.get("region_type"))
    code, state, country = row.get("region_code"), row.get("state"), row.get("country")
    name = row.get("region_name")
    if code is not None:
        return _coded(geography, code, types)
    if name is not None or state is not None:
        within = None
        if country is not None:
            _, within = _named(geography, country, ["country"], None, field="country")
        if name is not None:
            return _named(geography, name, types, within)
        return _named(geography, state or "", [kind for kind in types if kind in _STATES], within)
    if country is None:
        raise BadRequest("UNKNOWN_REGION", "This line has no region.", "region_code")
    countries = [kind for kind in types if kind == "country"]
    is_country = bool(_matching(geography, country, countries))
    return _named(geography, country, countries if is_country else types, None)


def _types(kind: str | None) -> list[RegionType]:
    found = [each for each in REGION_TYPES if kind is None or each == kind.lower()]
    if not found:
        words = f"region_type must be one of {', '.join(REGION_TYPES)}."
        raise BadRequest("INVALID_TYPE", words, "region_type")
    return found


def _coded(geography: Geography, code: str, types: Sequence[RegionType]) -> Place:
    for kind in types:
        if geography.follow(kind, code.upper()):
            return rules.present_place(geography, kind, code.upper())
    raise BadRequest("UNKNOWN_REGION", f"There is no region with the code {code[:60]}.", "region_code")


def _named(
    geography: Geography,
    text: str,
    types: Sequence[RegionType],
    within: str | None,
    field: str = "region_name",
) -> Place:
    """By its name, or by a code where a name is expected; `within` is the country it is in, or is."""
    found = _matching(geography, text, types)
    if within is not None:
        found = [region for region in found if within in (region.region_code, region.parent_region)]
    if len(found) == 1:
        return found[0].region_type, found[0].region_code
    if found:
        raise _ambiguous(text, found, field)
    if within is None and any(geography.follow(kind, text.upper()) for kind in types):
        return _coded(geography, text, types)  # a code that was divided since says what it became
    words = f"No region is called '{text[:60]}'" + (f" in {within}." if within is not None else ".")
    raise BadRequest("UNKNOWN_REGION", words, field)


def _matching(geography: Geography, text: str, types: Sequence[RegionType]) -> list[Region]:
    """Every region that a text may mean: by a name, a code, or a code without its country, GA for US-GA."""
    wanted, code = names.squeezed(text), text.upper()
    present = {geography.follow(kind, code) for kind in types}
    return [
        region
        for kind in types
        for region in geography.of(kind)
        if wanted in names.keys_of(region).names
        or (region.region_code,) in present
        or region.region_code.partition("-")[2] == code
    ]


def _ambiguous(text: str, found: Sequence[Region], field: str) -> BadRequest:
    choices = [
        f"{region.display_name}, {_KINDS[region.region_type]} ({region.region_code})" for region in found
    ]
    advice = "Put its code in a column 'code', or add a column 'country' or 'type'."
    words = f"'{text[:60]}' may be {', or '.join(choices)}. {advice}"
    return BadRequest("AMBIGUOUS_REGION", words, field, {"choices": [one.region_code for one in found]})
