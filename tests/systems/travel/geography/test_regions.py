"""Regions by code, what counts, and where codes of before lead."""

import pytest
from pydantic import ValidationError

from tablewright.systems.travel.geography.regions import CONTINENTS, geography
from tablewright.systems.travel.model import REGION_TYPES

WORLD = geography()


def test_denominators_are_those_of_the_specification() -> None:
    assert [WORLD.denominator(kind) for kind in REGION_TYPES] == [195, 50, 13]


def test_what_does_not_count_is_present_all_the_same() -> None:
    for kind, code in (
        ("country", "TW"),
        ("country", "XK"),
        ("country", "GL"),
        ("us_state", "US-DC"),
        ("us_state", "US-PR"),
    ):
        region = WORLD.get(kind, code)
        assert region is not None, code
        assert not region.countable, code


def test_the_two_observers_count() -> None:
    assert all(region.countable for code in ("VA", "PS") if (region := WORLD.get("country", code)))


def test_a_region_is_found_by_its_code_and_only_by_that() -> None:
    france = WORLD.get("country", "FR")
    assert france is not None
    assert (france.display_name, france.capital, france.continent_code) == ("France", "Paris", "EU")
    assert WORLD.get("country", "fr") is None
    assert WORLD.get("us_state", "FR") is None
    assert WORLD.get("planet", "FR") is None
    assert WORLD.of("planet") == ()


def test_countries_have_a_continent_and_parts_have_a_parent() -> None:
    assert all(r.continent_code in CONTINENTS and r.parent_region is None for r in WORLD.of("country"))
    assert {r.parent_region for r in WORLD.of("us_state")} == {"US"}
    assert {r.parent_region for r in WORLD.of("canadian_province")} == {"CA"}
    assert {r.continent_code for r in WORLD.of("country")} == set(CONTINENTS)


@pytest.mark.parametrize(
    ("kind", "code", "became"),
    [
        ("country", "FR", ("FR",)),
        ("country", "TP", ("TL",)),
        ("country", "ZR", ("CD",)),
        ("country", "BU", ("MM",)),
        ("country", "DD", ("DE",)),
        ("country", "UK", ("GB",)),
        ("country", "AN", ("BQ", "CW", "SX")),
        ("canadian_province", "CA-NF", ("CA-NL",)),
        ("country", "ZZ", ()),
        ("us_state", "TP", ()),
    ],
)
def test_a_code_of_before_leads_to_what_it_became(kind: str, code: str, became: tuple[str, ...]) -> None:
    assert WORLD.follow(kind, code) == became


def test_a_divided_country_leads_to_all_its_parts() -> None:
    assert {"RS", "ME"} <= set(WORLD.follow("country", "YU"))
    assert {"RS", "ME"} <= set(WORLD.follow("country", "CS"))
    assert len(WORLD.follow("country", "SU")) == 15


def test_every_retired_code_leads_to_present_ones_and_is_not_one_itself() -> None:
    for kind in REGION_TYPES:
        for code, retired in WORLD.retired[kind].items():
            assert WORLD.get(kind, code) is None, code
            assert retired.became, code
            assert all(WORLD.get(kind, present) for present in retired.became), code


def test_a_region_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        WORLD.of("country")[0].name = "Atlantis"


def test_the_keys_of_borders_name_the_version_so_that_a_cache_may_keep_them() -> None:
    france = WORLD.get("country", "FR")
    assert france is not None
    assert france.boundary_data_url == f"geography/{WORLD.data_version}/country/FR/high.geojson"
    assert france.boundary_simplified_url == f"geography/{WORLD.data_version}/country/FR/low.geojson"
