"""What people type, and what they find."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.systems.travel.geography.names import names_of, normalise, rank, squeezed, tokens
from tablewright.systems.travel.geography.regions import Region, geography
from tablewright.systems.travel.model import REGION_TYPES

WORLD = geography()
EVERYWHERE = [region for kind in REGION_TYPES for region in WORLD.of(kind)]


def found(query: str, kind: str = "country") -> list[str]:
    return [region.region_code for region in rank(query, WORLD.of(kind))]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Côte d'Ivoire", "cote d ivoire"),
        ("Côte d’Ivoire", "cote d ivoire"),
        ("  São   Tomé & Príncipe ", "sao tome and principe"),
        ("Færøerne", "faeroerne"),
        ("Łódź", "lodz"),
        ("Đà Nẵng", "da nang"),
        ("Türkiye", "turkiye"),
        ("TÜRKİYE", "turkiye"),
        ("Straße", "strasse"),
        ("Þingvellir", "thingvellir"),
        ("Œuvre", "oeuvre"),
        ("Hawaiʻi", "hawai i"),
        ("Guinea-Bissau", "guinea bissau"),
        ("ﬁji", "fiji"),
        ("日本", "日本"),
        ("대한민국", "대한민국"),
        ("...", ""),
    ],
)
def test_names_are_written_plainly(text: str, plain: str) -> None:
    assert normalise(text) == plain


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.sampled_from(EVERYWHERE), st.data())
def test_a_beginning_of_any_name_finds_its_region_in_any_spelling(
    region: Region, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(names_of(region)))
    start = name[: data.draw(st.integers(1, len(name)))]
    composed = data.draw(st.booleans())
    typed = unicodedata.normalize("NFC" if composed else "NFD", start)
    typed = data.draw(st.sampled_from((typed, typed.upper(), f" {typed} ")))
    if squeezed(typed):
        assert region in rank(typed, EVERYWHERE)


def test_sk_s11_states_cote_and_can() -> None:
    assert found("states")[0] == "US"
    assert found("cote") == ["CI"]
    assert found("can")[0] == "CA"


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("South Korea", "KR"),
        ("Republic of Korea", "KR"),
        ("Ivory Coast", "CI"),
        ("cote divoire", "CI"),
        ("UK", "GB"),
        ("england", "GB"),
        ("USA", "US"),
        ("united states of am", "US"),
        ("Burma", "MM"),
        ("Holland", "NL"),
        ("czech republic", "CZ"),
        ("Türkiye", "TR"),
        ("turkey", "TR"),
        ("east timor", "TL"),
        ("st lucia", "LC"),
        ("saint lucia", "LC"),
        ("St. Lucia", "LC"),
        ("Deutschland", "DE"),
        ("españa", "ES"),
        ("espana", "ES"),
        ("日本", "JP"),
        ("Ελλάδα", "GR"),
        ("россия", "RU"),
        ("drc", "CD"),
        ("trinidad and tobago", "TT"),
        ("trinidad & tobago", "TT"),
        ("guinea", "GN"),
        ("niger", "NE"),
        ("samoa", "WS"),
        ("korea", "KR"),
        ("congo", "CG"),
    ],
)
def test_a_country_is_found_first_by_whatever_it_is_called(query: str, code: str) -> None:
    assert found(query)[0] == code


@pytest.mark.parametrize(
    ("query", "kind", "code"),
    [
        ("washington", "us_state", "US-WA"),
        ("washington dc", "us_state", "US-DC"),
        ("quebec", "canadian_province", "CA-QC"),
        ("Québec", "canadian_province", "CA-QC"),
        ("pei", "canadian_province", "CA-PE"),
        ("newfoundland", "canadian_province", "CA-NL"),
        ("californie", "us_state", "US-CA"),
        ("hawai'i", "us_state", "US-HI"),
        ("ny", "us_state", "US-NY"),
    ],
)
def test_states_and_provinces_are_found_too(query: str, kind: str, code: str) -> None:
    assert found(query, kind)[0] == code


def test_what_begins_with_the_query_comes_before_what_has_it_inside_and_equals_go_by_the_alphabet() -> None:
    assert found("guinea")[:4] == ["GN", "GW", "GQ", "PG"]
    shown = [
        region.display_name
        for region in rank("ma", WORLD.of("country"))
        if region.display_name.startswith("Ma")
    ]
    assert shown == sorted(shown, key=squeezed)


def test_nothing_is_found_by_nothing() -> None:
    assert found("") == found(" - ' ") == found("atlantis") == []


def test_tokens_are_fit_for_keys() -> None:
    every = [token for region in EVERYWHERE for token in tokens(region)]
    assert all(token == squeezed(token) and token for token in every)
    assert max(len(token.encode()) for token in every) < 200
    # A few thousand small items, written once with each release of the data.
    assert len(every) < 4000


def test_an_item_search_by_tokens_finds_what_ranking_finds() -> None:
    for query in ("united", "st", "gui", "new", "république", "c"):
        by_prefix = {
            r.region_code
            for r in WORLD.of("country")
            if any(t.startswith(squeezed(query)) for t in tokens(r))
        }
        assert by_prefix == set(found(query))
