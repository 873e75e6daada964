"""What a traveller takes away and brings in: JSON, sheets, GeoJSON; a sheet with mistakes in it (SK-X7)."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.systems.travel.account.test_accounts import refuses
from tests.systems.travel.images import png
from tests.systems.travel.people import MAIL, PHONE, Home

from tablewright.systems.travel import jobs
from tablewright.systems.travel.geography import names
from tablewright.systems.travel.model import REGION_TYPES, Trip, Visit
from tablewright.systems.travel.places import visits_csv
from tablewright.systems.travel.places.visits_import import Report


@pytest.fixture
def ada(home: Home) -> str:
    return home.by_mail(MAIL, PHONE).profile.user_id


def _take(home: Home, user_id: str, *lines: str, key: str | None = None) -> Report:
    return home.travel.importing.take(user_id, "\n".join(lines).encode(), key=key)


def _places(home: Home, user_id: str) -> dict[str, Visit]:
    return {visit.region_code: visit for visit in home.travel.visits.all(user_id)}


# --- away ---


def test_an_export_has_everything_and_no_secret(home: Home, ada: str) -> None:
    home.travel.visits.mark(ada, "country", "FR", {"notes": "Paris", "visited_date": "2024"})
    home.travel.statistics.of(ada)
    found = home.travel.exporting.everything(ada)
    assert found["profile"]["email"] == MAIL
    assert [visit["notes"] for visit in found["visits"]] == ["Paris"]
    for name in ("devices", "sessions", "operations", "statistics", "audit"):
        assert found[name], name
    profile = home.travel.repository.profile(ada)
    assert "hash" not in json.dumps(found)
    assert (profile.email_hmac or "") not in json.dumps(found)


def test_an_export_has_what_was_deleted_the_picture_and_mail_that_waits(home: Home, ada: str) -> None:
    picture = png(8, 8)
    home.travel.pictures.put(ada, picture)
    home.travel.visits.mark(ada, "country", "DE", {"notes": "Berlin"})
    home.travel.visits.unmark(ada, "country", "DE")
    _take(home, ada, "country", "Atlantis", key="the-key-1")
    home.travel.privacy.ask(ada, ada)
    found = json.loads(json.dumps(home.travel.exporting.everything(ada)))
    assert base64.b64decode(found["picture"]["base64"]) == picture
    assert [visit["region_code"] for visit in found["deleted_visits"]] == ["DE"]
    assert found["visits"] == []
    assert [mail["subject"] for mail in found["mail"]] == ["Your account will be erased"]
    assert "Atlantis" in json.dumps(found["imports"])


def test_geojson_has_a_border_for_each_place(home: Home, ada: str) -> None:
    for kind, code in (("country", "FJ"), ("us_state", "US-HI"), ("canadian_province", "CA-ON")):
        home.travel.visits.mark(ada, kind, code)  # type: ignore[arg-type]  # they are types
    found = home.travel.exporting.geojson(ada)
    assert found["type"] == "FeatureCollection"
    assert {feature["id"] for feature in found["features"]} == {"FJ", "US-HI", "CA-ON"}
    assert all(feature["geometry"]["type"] == "MultiPolygon" for feature in found["features"])


def test_a_sheet_that_was_taken_away_can_be_brought_in_elsewhere(home: Home, ada: str) -> None:
    data = {"notes": '=1+1, "quoted"\nand a second line', "visited_date": "2024-05"}
    trips = {"a": {"start": "2019", "end": "2020-01", "notes": "-x"}, "b": {"start": "2021"}}
    home.travel.visits.mark(ada, "country", "FR", {**data, "trips": trips})  # type: ignore[dict-item]  # JSON
    home.travel.visits.mark(ada, "us_state", "US-NY")
    text = home.travel.exporting.sheet(ada)
    assert "\n=1" not in text.replace(",=", "\n=")  # no cell begins like a formula
    ben = home.by_apple("002.ben").profile.user_id
    report = home.travel.importing.take(ben, text.encode())
    assert (report.marked, report.trips, report.refusals) == (2, 2, 0)
    mine, theirs = _places(home, ada), _places(home, ben)
    assert {code: (v.notes, v.visited_date, v.trips) for code, v in mine.items()} == {
        code: (v.notes, v.visited_date, v.trips) for code, v in theirs.items()
    }


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40).map(str.strip),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40).map(str.strip),
)
def test_any_text_survives_a_sheet(home: Home, notes: str, more: str) -> None:
    now = home.clock.now()
    visit = Visit(
        composite_key="k", user_id="u", region_type="country", region_code="FR", region_name="France",
        notes=notes or None, trips={"t": Trip(start="2020", notes=more or None)}, marked_at=now, timestamp_ms=0,
        marked_from_device="x", last_modified_at=now, operation_id="o",
    )  # fmt: skip
    place, trip = visits_csv.read(visits_csv.written([visit]).encode())
    assert (place.get("notes"), trip.get("notes"), trip.get("trip")) == (notes or None, more or None, "t")


# --- in ---


def test_every_line_is_taken_but_those_with_a_mistake(home: Home, ada: str) -> None:
    report = _take(
        home, ada,
        "Country;Date;Note",
        "France;2024-05-01;Paris",
        "Cote d'Ivoire;2019;",
        "Atlantis;2019;",
        "Japan;2999;",
        ";2019;",
        f"Peru;;{'x' * 501}",
        "Zaire;1990;old name",
        "",
        "Georgia;;",
        "France;2025-06;again",
        "Georgia;;",
    )  # fmt: skip
    refused = {line.line: line.code for line in report.refused}
    assert refused == {
        4: "UNKNOWN_REGION", 5: "FUTURE_DATE", 6: "UNKNOWN_REGION", 7: "NOTES_TOO_LONG", 12: "DUPLICATE_LINE",
    }  # fmt: skip
    assert (report.lines, report.refusals, report.trips) == (10, 5, 1)
    there = _places(home, ada)
    assert set(there) == {"FR", "CI", "CD", "GE"}
    assert [trip.start for trip in there["FR"].trips.values()] == ["2025-06"]
    assert there["FR"].notes == "Paris"


def test_codes_of_every_type_are_understood(home: Home, ada: str) -> None:
    report = _take(
        home, ada, "code,type", "fr,", "US-NY,us_state", "CA-ON,", "XX,", "US-NY,country", "FR,planet"
    )
    assert {line.line: line.code for line in report.refused} == {
        5: "UNKNOWN_REGION", 6: "UNKNOWN_REGION", 7: "INVALID_TYPE",
    }  # fmt: skip
    assert set(_places(home, ada)) == {"FR", "US-NY", "CA-ON"}


def test_a_code_is_understood_where_a_name_is_expected(home: Home, ada: str) -> None:
    report = _take(home, ada, "name", "US-CA", "pt", "Brazil", "UK", "ca-pq", "ZZ")
    assert [(line.line, line.code) for line in report.refused] == [(7, "UNKNOWN_REGION")]
    assert set(_places(home, ada)) == {"US-CA", "PT", "BR", "GB", "CA-QC"}


def test_a_name_of_several_regions_is_refused_with_the_choices(home: Home, ada: str) -> None:
    report = _take(home, ada, "name", "Georgia", "Washington", "Puerto Rico", "Géorgie", "France")
    assert [(line.line, line.code, line.choices) for line in report.refused] == [
        (2, "AMBIGUOUS_REGION", ["GE", "US-GA"]),
        (3, "AMBIGUOUS_REGION", ["US-DC", "US-WA"]),
        (4, "AMBIGUOUS_REGION", ["PR", "US-PR"]),
        (5, "AMBIGUOUS_REGION", ["GE", "US-GA"]),
    ]
    assert report.refused[0].message == (
        "'Georgia' may be Georgia, the country (GE), or Georgia, the US state or territory (US-GA). "
        "Put its code in a column 'code', or add a column 'country' or 'type'."
    )
    assert set(_places(home, ada)) == {"FR"}


def test_an_abbreviation_of_a_state_that_is_a_countrys_code_too_is_refused_with_both(
    home: Home, ada: str
) -> None:
    report = _take(home, ada, "name", "CA", "de", "PR", "TX", "FR", "US-CA")
    assert [(line.line, line.code, line.choices) for line in report.refused] == [
        (2, "AMBIGUOUS_REGION", ["CA", "US-CA"]),
        (3, "AMBIGUOUS_REGION", ["DE", "US-DE"]),
        (4, "AMBIGUOUS_REGION", ["PR", "US-PR"]),
    ]
    assert set(_places(home, ada)) == {"US-TX", "FR", "US-CA"}
    assert _take(home, ada, "code", "CA", "DE", "PR").refused == []
    assert set(_places(home, ada)) == {"US-TX", "FR", "US-CA", "CA", "DE", "PR"}


def test_no_name_that_several_regions_have_is_ever_chosen_for_the_traveller(home: Home, ada: str) -> None:
    owners: dict[str, set[str]] = {}
    for kind in REGION_TYPES:
        for region in home.travel.geography.of(kind):
            for name in names.names_of(region):
                owners.setdefault(names.squeezed(name), set()).add(region.region_code)
    shared = {name: codes for name, codes in owners.items() if len(codes) > 1}
    assert len(shared) > 10
    report = _take(home, ada, "name", *shared)
    assert [set(line.choices) for line in report.refused] == list(shared.values())
    assert _places(home, ada) == {}


@pytest.mark.parametrize(
    ("head", "line", "code"),
    [
        ("name,country", "Georgia,US", "US-GA"),
        ("name,country", "Georgia,United States", "US-GA"),
        ("country,name", "Georgia,Georgia", "GE"),
        ("name,country", "Puerto Rico,USA", "US-PR"),
        ("name,country_code", "Puerto Rico,PR", "PR"),
        ("name,country", "CA,US", "US-CA"),
        ("name,country", "Ontario,Canada", "CA-ON"),
        ("name,country", "France,", "FR"),
        ("country", "Georgia", "GE"),
        ("country_code", "us", "US"),
        ("country", "California", "US-CA"),
        ("state", "Georgia", "US-GA"),
        ("state,country", "GA,US", "US-GA"),
        ("province", "QC", "CA-QC"),
        ("state,country", ",Mexico", "MX"),
        ("name,type", "Georgia,us_state", "US-GA"),
    ],
)
def test_a_country_or_a_type_beside_a_name_decides(
    home: Home, ada: str, head: str, line: str, code: str
) -> None:
    report = _take(home, ada, head, line)
    assert [one.message for one in report.refused] == []
    assert set(_places(home, ada)) == {code}


def test_a_name_that_is_not_in_its_country_is_refused(home: Home, ada: str) -> None:
    report = _take(home, ada, "name,country", "Ontario,US", "Ontario,Atlantis")
    assert [line.message for line in report.refused] == [
        "No region is called 'Ontario' in US.",
        "No region is called 'Atlantis'.",
    ]
    assert _places(home, ada) == {}


def test_what_was_there_is_merged_and_where_both_differ_nothing_is_lost(home: Home, ada: str) -> None:
    home.travel.visits.mark(ada, "country", "FR", {"notes": "mine"})
    report = _take(home, ada, "code,date,notes", "FR,2020,theirs", "DE,,")
    assert (report.marked, report.merged) == (1, 1)
    there = _places(home, ada)["FR"]
    assert there.visited_date == "2020"
    conflicts = home.travel.sync.conflicts(ada).items
    told = f"{there.notes} {[operation.conflict_details for operation in conflicts]}"
    assert "mine" in told
    assert "theirs" in told


def test_a_sheet_that_is_sent_again_changes_nothing(home: Home, ada: str) -> None:
    lines = ("code,date,notes", "FR,2020,x", "FR,2021,trip", "XX,,")
    first = _take(home, ada, *lines, key="the-key-1")
    version = home.travel.repository.head(ada)
    assert _take(home, ada, *lines, key="the-key-1") == first
    again = _take(home, ada, *lines)
    assert (again.marked, again.merged, again.conflicts) == (0, 1, 0)
    assert home.travel.repository.head(ada) == version


def test_a_large_sheet_is_taken_in_parts(home: Home, ada: str) -> None:
    codes = [region.region_code for region in home.travel.geography.of("country")]
    report = _take(home, ada, "code", *codes)
    assert (report.marked, report.refusals) == (len(codes), 0)
    assert home.travel.statistics.of(ada).countries_visited == 195


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "INVALID_SHEET"),
        (b"a,b\n1,2", "INVALID_SHEET"),
        ("code\nFR\u00e9".encode("latin-1"), "INVALID_SHEET"),
        (b"code\n" + b"FR\n" * 5001, "SHEET_TOO_LARGE"),
        (b"code\n" + b"x" * visits_csv.BYTES_AT_MOST, "SHEET_TOO_LARGE"),
    ],
)
def test_what_is_no_sheet_is_refused(home: Home, ada: str, content: bytes, code: str) -> None:
    with refuses(code):
        home.travel.importing.take(ada, content)


# --- the weekly file ---


def test_the_weekly_file_names_nobody_and_is_kept_five_weeks(home: Home, ada: str) -> None:
    home.travel.visits.mark(ada, "country", "FR", {"notes": "secret"})
    assert jobs.export_week(home.travel) == 1
    assert jobs.export_week(home.travel) == 0
    (name,) = home.objects.names("analytics/")
    content = gzip.decompress(home.objects.get(name) or b"")
    lines = [json.loads(line) for line in content.splitlines()]
    assert [line["region_code"] for line in lines] == ["FR"]
    assert ada.encode() not in content
    assert b"secret" not in content
    for _ in range(7):
        home.clock.move(timedelta(days=7))
        assert jobs.export_week(home.travel) == 1
    kept = list(home.objects.names("analytics/"))
    assert name not in kept
    assert len(kept) == 6
