"""The published geography: boxes across 180 degrees, names in any accent, what publishing leaves behind (S10, S11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.places import reached
from tests.systems.travel.account.test_accounts import refuses
from tests.systems.travel.people import Home

from tablewright.client import CallRefused
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.design import TRAVEL
from tablewright.systems.travel.geography import names, shapes
from tablewright.systems.travel.geography.boxes import Box
from tablewright.systems.travel.geography.regions import geography
from tablewright.systems.travel.model import REGION_TYPES
from tablewright.systems.travel.places.region_search import FOUND_AT_MOST, Places
from tablewright.systems.travel.repository import Repository
from tablewright.testing import Clock


@pytest.fixture(scope="module")
def places(request: pytest.FixtureRequest) -> Iterator[Places]:
    """The geography, published once: nothing here changes it."""
    clock = Clock()
    with reached("embedded", request.config.getoption("--endpoint"), clock.world(), TRAVEL) as there:
        db = Db(there.call, TRAVEL, world=clock.world(), environment=there.environment)
        found = Places(Repository(db, clock.world()), geography())
        found.publish()
        yield found


def test_sk_s10_a_box_across_180_degrees_finds_fiji_and_one_around_alaska_finds_it_once(
    places: Places,
) -> None:
    assert "FJ" in [region.region_code for region in places.in_box(-15, -20, -178, 177)]
    alaska = places.in_box(72, 51, -129, 172)
    assert [region.region_code for region in alaska].count("US-AK") == 1
    assert {"US", "RU"} <= {region.region_code for region in alaska}


def test_sk_s11_names_are_found_by_any_word_in_any_accent_the_likeliest_first(places: Places) -> None:
    def found(text: str) -> list[str]:
        return [region.display_name for region in places.search(text, ["country"])]

    assert "United States" in found("states")
    assert found("cote")[0] == "Côte d’Ivoire" or found("cote")[0].startswith("Côte d")
    assert found("CÔTE D'IV")[0].startswith("Côte d")
    assert found("can")[0] == "Canada"


def test_the_table_finds_what_the_box_of_data_does(places: Places) -> None:
    for text in ("new", "saint", "guinea", "zz", "st", "ontario", "é", "korea"):
        ranked = [(it.region_type, it.region_code) for it in places.search(text)]
        everywhere = [region for kind in REGION_TYPES for region in geography().of(kind)]
        wanted = names.rank(text, everywhere)[:FOUND_AT_MOST]
        assert ranked == [(it.region_type, it.region_code) for it in wanted], text


@given(
    south=st.floats(-89, 80), west=st.floats(-180, 180), tall=st.floats(0, 25), wide=st.floats(0, 40),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_a_box_asked_of_the_table_equals_every_region_looked_at(
    places: Places, south: float, west: float, tall: float, wide: float
) -> None:
    east = west + wide
    box = Box(min(south + tall, 90), south, east - 360 if east > 180 else east, west)
    found = places.in_box(box.north, box.south, box.east, box.west)
    wanted = [
        region.region_code
        for kind in REGION_TYPES
        for region in geography().of(kind)
        if shapes.region_meets(region, box)
    ]
    assert [region.region_code for region in found] == wanted


@pytest.mark.parametrize("box", [(91, 0, 0, 0), (0, 1, 0, 0), (0, 0, 181, 0), (float("nan"), 0, 0, 0)])
def test_what_is_no_box_is_refused(places: Places, box: tuple[float, float, float, float]) -> None:
    with refuses("INVALID_BOX"):
        places.in_box(*box)


def test_publishing_again_writes_nothing_and_another_version_takes_the_old_away(home: Home) -> None:
    places = home.travel.places
    assert places.publish() > 1000
    assert places.publish() == 0
    known = geography()
    fewer = {code: region for code, region in known.regions["country"].items() if code != "FR"}
    other = replace(known, data_version="2-next", regions={**known.regions, "country": fewer})
    next_places = Places(home.travel.repository, other)
    next_places.publish()
    assert not [it for it in home.db.all(d.regions_of_type(region_type="country")) if it.region_code == "FR"]
    assert not [it for it in home.db.all(d.cells_of_type(region_type="country")) if it.region_code == "FR"]
    assert "FR" not in [region.region_code for region in next_places.search("france", ["country"])]
    release = next_places.release()
    assert release is not None
    assert release.data_version == "2-next"


def test_publishing_that_stopped_half_way_is_begun_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    places, batch, calls = home.travel.places, home.db.batch, 0

    def dies(writes: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise CallRefused("InternalServerError", "the power went out")
        return batch(writes)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(home.db, "batch", dies)
    with pytest.raises(CallRefused):
        places.publish()
    assert not places.is_published()
    assert places.search("can", ["country"])[0].region_code == "CA"  # from the box meanwhile
    places.publish()
    assert places.is_published()


def test_readers_of_the_release_before_lose_nothing_until_the_new_one_is_whole(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    places, known = home.travel.places, geography()
    places.publish()
    fewer = {code: region for code, region in known.regions["country"].items() if code != "FJ"}
    other = replace(known, data_version="2-next", regions={**known.regions, "country": fewer})
    following = Places(home.travel.repository, other)

    def dies(*_: object) -> NoReturn:
        raise CallRefused("InternalServerError", "the power went out")

    for dead, step in ((home.db, "write"), (following, "_sweep")):
        with monkeypatch.context() as patch:
            patch.setattr(dead, step, dies)
            with pytest.raises(CallRefused):
                following.publish()
        assert "FJ" in [region.region_code for region in places.in_box(-15, -20, -178, 177)]
    assert following.is_published()
    assert following.publish() > 0  # what is left over goes when it is begun again
    assert not [it for it in home.db.all(d.cells_of_type(region_type="country")) if it.region_code == "FJ"]
    assert following.publish() == 0


def test_a_region_is_found_by_a_code_it_had_once_and_where_somebody_stands(places: Places) -> None:
    assert places.get("country", "ZR").region_code == "CD"
    with refuses("REGION_NOT_FOUND"):
        places.get("country", "XX")
    with refuses("REGION_DIVIDED"):
        places.get("country", "YU")
    assert [place.region.region_code for place in places.here(40.7, -74.0)] == ["US", "US-NY"]
