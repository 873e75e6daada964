"""Skratch's pages over real HTTP, used as a browser without a script uses them.

Whose map it is comes from the login alone; nothing typed is lost; what a browser may keep has nobody's name in it.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import orjson
import pytest
from pydantic import JsonValue
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import words_of

from tablewright import testing
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import PORTAL, TRAVEL
from tablewright.edge import serving_app
from tablewright.edge.errors import NotFound
from tablewright.pages.assets import assets_of
from tablewright.systems.travel.pages.settings import form_of
from tablewright.systems.travel.pages.statistics import by_year, moments
from tablewright.systems.travel.pages.words import day_words, side_words
from tablewright.systems.travel.sync.operations import Edit
from tablewright.systems.travel.travel import Travel

HOME = "/console/travel"
NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
HOSTILE = '<script>alert("x")</script>'
MAYA, JONAS, LENA, INES = "traveller_maya", "traveller_jonas", "traveller_lena", "admin_ines"


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    clock = testing.Clock(NOW)

    bare = replace(PORTAL, seed=None)
    with open_app(memory=True, systems=(TRAVEL, bare), world=ticking(clock), jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def travel(runtime: Runtime) -> Travel:
    found: Travel = runtime.running[0].service
    return found


@pytest.fixture(scope="module")
def url(runtime: Runtime) -> Iterator[str]:
    with serving_app(app_of(runtime)) as served:
        yield served


@pytest.fixture
def enter(url: str) -> Iterator[Enter]:
    with browsers(url) as entered:
        yield entered


@pytest.fixture
def maya(enter: Enter) -> httpx.Client:
    return enter(MAYA)


def marked(travel: Travel, code: str, user_id: str = MAYA) -> bool:
    return code in {visit.region_code for visit in travel.visits.all(user_id)}


# --- who sees what ---


def test_who_is_not_signed_in_is_asked_to_and_comes_back(enter: Enter) -> None:
    answer = enter(follow=False).get(f"{HOME}/timeline")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/console/travel/sign-in?next=%2Fconsole%2Ftravel%2Ftimeline"


def test_an_admin_lands_on_what_is_to_be_done_and_has_no_map(enter: Enter) -> None:
    ines = enter(INES)
    assert str(ines.get(HOME).url).endswith(f"{HOME}/sync")
    answer = ines.get(f"{HOME}/places")
    assert answer.status_code == 404
    assert "You don&#39;t have a map" in answer.text


def test_who_is_signed_in_elsewhere_reads_what_skratch_is_and_how_to_get_a_map(enter: Enter) -> None:
    rosa = enter("engineer_rosa")
    page = rosa.get(HOME)
    assert page.status_code == 200
    assert "Rosa Lindqvist doesn't have a map" in page.text
    assert f'href="{HOME}/sign-in"' in page.text
    assert 'value="traveller_maya">View Maya Okonkwo\'s map' in page.text
    assert f'href="{HOME}/timeline"' not in page.text, "nobody is shown a way that leads nowhere"
    assert f'href="{HOME}/timeline"' not in rosa.get(f"{HOME}/search?q=timeline").text
    assert f'href="{HOME}/timeline"' in enter(MAYA).get(f"{HOME}/search?q=timeline").text
    seen = rosa.post("/sign-in", data={"person": MAYA, "next": HOME})
    assert (seen.status_code, str(seen.url).endswith(HOME)) == (200, True)
    assert f'href="{HOME}/timeline"' in seen.text


@pytest.mark.parametrize("path", ["sync", "geography", "accounts", f"accounts/{JONAS}"])
def test_a_traveller_does_not_see_an_admins_pages(maya: httpx.Client, path: str) -> None:
    answer = maya.get(f"{HOME}/{path}")
    assert answer.status_code == 403
    assert "Jonas" not in re.sub(r"<(header|aside).*?</\1>", "", answer.text, flags=re.S)


def test_an_admin_sees_that_devices_disagree_but_not_what_was_written(enter: Enter) -> None:
    page = enter(INES).get(f"{HOME}/sync?status=conflict")
    assert "Japan" in page.text
    assert "This place" in page.text
    assert "Naoshima" not in page.text
    assert "Oaxaca" not in page.text


def test_a_look_at_an_account_is_in_its_own_record(enter: Enter, travel: Travel) -> None:
    found = enter(INES).post(f"{HOME}/accounts", data={"who": "Jonas@Skratch.example"})
    assert str(found.url).endswith(f"/accounts/{JONAS}")
    assert "jonas@" not in found.text
    entry = travel.accounts.audit(JONAS, 1).items[0]
    assert (entry.action, entry.actor) == ("viewed by support", INES)


def test_an_address_nobody_has_is_said_beside_the_field(enter: Enter) -> None:
    answer = enter(INES).post(f"{HOME}/accounts", data={"who": "nobody@skratch.example"})
    assert answer.status_code == 404
    assert "No account has this address." in answer.text


# --- what browsers keep ---


@pytest.mark.parametrize("path", ["/offline", "/offline/page"])
def test_a_shell_has_nobodys_name_in_it_when_it_is_fetched_as_the_worker_does(
    enter: Enter, path: str
) -> None:
    shell = enter().get(f"{HOME}{path}")
    assert shell.status_code == 200
    assert 'data-user=""' in shell.text
    for name in ("Maya", "Jonas", "traveller_"):
        assert name not in re.sub(r"<form action=\"/sign-in\".*?</form>", "", shell.text, flags=re.S)


def test_the_map_comes_with_the_figures_and_places_of_its_owner(maya: httpx.Client, travel: Travel) -> None:
    page = maya.get(HOME).text
    been = travel.statistics.of(MAYA).countries_visited
    assert f'<dt>Countries</dt><dd><span class="part">{been}</span>' in page
    text = re.search(r'data-states="([^"]*)"', page)
    assert text is not None
    states = orjson.loads(html.unescape(text[1]))
    assert {state["entity_type"] for state in states} == {"user", "visited_place"}
    codes = {state["data"]["region_code"] for state in states if state["entity_type"] == "visited_place"}
    assert codes == {visit.region_code for visit in travel.visits.all(MAYA)}


def test_the_worker_keeps_files_that_are_there_for_everybody(enter: Enter) -> None:
    nobody = enter()
    answer = nobody.get(f"{HOME}/worker.js")
    assert answer.headers["service-worker-allowed"] == HOME
    assert answer.headers["cache-control"] == "no-cache"
    files = orjson.loads(re.search(r"const FILES = (\[.*?\]);", answer.text)[1])  # type: ignore[index]
    assert assets_of("tablewright.systems.travel.pages", "travel/")["travel/map.js"].href in files
    for path in files:
        assert nobody.get(path).status_code == 200, path


def test_every_page_of_a_person_is_kept_by_no_cache(maya: httpx.Client) -> None:
    for path in ("", "/places", "/timeline", "/conflicts"):
        assert maya.get(HOME + path).headers["cache-control"] == "no-store"


def test_regions_are_sent_once_and_then_known_by_their_version(enter: Enter, travel: Travel) -> None:
    first = enter().get(f"{HOME}/regions.json")
    assert len(first.json()["regions"]) == sum(
        len(travel.geography.of(kind)) for kind in travel.geography.regions
    )
    again = enter().get(f"{HOME}/regions.json", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304


# --- places ---


def test_a_place_is_marked_from_a_list_and_one_comes_back_to_the_list(
    maya: httpx.Client, travel: Travel
) -> None:
    back = f"{HOME}/places?type=country&find=bhu"
    answer = maya.post(f"{HOME}/places/country/BT/mark", data={"back": back})
    assert str(answer.url).endswith("find=bhu")
    assert "Bhutan marked." in answer.text
    assert marked(travel, "BT")


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/sign-out", ""])
def test_a_way_back_that_is_no_list_of_ours_is_not_taken(maya: httpx.Client, back: str) -> None:
    answer = maya.post(f"{HOME}/places/country/SG/mark", data={"back": back})
    assert answer.url.path == f"{HOME}/places/country/SG"


def test_a_state_offers_its_country_where_that_is_asked_for(enter: Enter, travel: Travel) -> None:
    lena = enter(LENA)
    page = lena.post(f"{HOME}/places/canadian_province/CA-ON/mark", data={})
    assert "Mark Canada" in page.text
    lena.post(f"{HOME}/places/country/CA/mark", data={})
    assert marked(travel, "CA", LENA)
    again = lena.get(f"{HOME}/places/canadian_province/CA-ON?offer=CA")
    assert "Mark Canada" not in again.text


def test_unmarking_a_country_leaves_its_states_and_says_so(maya: httpx.Client, travel: Travel) -> None:
    answer = maya.post(f"{HOME}/places/country/CA/unmark", data={})
    assert "States and provinces you marked stay marked." in answer.text
    assert not marked(travel, "CA")
    assert marked(travel, "CA-QC")
    maya.post(f"{HOME}/places/country/CA/mark", data={})


def test_a_mark_is_taken_away_only_as_it_was_seen(maya: httpx.Client, travel: Travel) -> None:
    seen = hidden(maya.get(f"{HOME}/places/country/PT"), "unmark")
    travel.visits.mark(MAYA, "country", "PT", {"notes": "Sintra"})
    answer = maya.post(f"{HOME}/places/country/PT/unmark", data={"version": seen})
    assert answer.status_code == 409
    assert "Another device changed this place after you opened it" in answer.text
    assert travel.visits.one(MAYA, "country", "PT").notes == "Sintra"
    again = maya.post(f"{HOME}/places/country/PT/unmark", data={"version": hidden(answer, "unmark")})
    assert "Portugal removed from your map." in again.text
    assert not marked(travel, "PT")
    twice = maya.post(f"{HOME}/places/country/PT/unmark", data={"version": seen})
    assert "Portugal removed from your map." in twice.text
    travel.visits.mark(MAYA, "country", "PT")


def test_a_trip_is_removed_only_as_it_was_seen(maya: httpx.Client, travel: Travel) -> None:
    travel.visits.mark(MAYA, "country", "AT", {"trips": {"one": {"start": "2020"}}})
    seen = hidden(maya.get(f"{HOME}/places/country/AT"), "remove")
    travel.visits.mark(MAYA, "country", "AT", {"trips": {"one": {"start": "2021"}}})
    answer = maya.post(f"{HOME}/places/country/AT/trips/one/remove", data={"version": seen})
    assert (answer.status_code, travel.visits.one(MAYA, "country", "AT").trips["one"].start) == (409, "2021")
    maya.post(f"{HOME}/places/country/AT/trips/one/remove", data={"version": hidden(answer, "remove")})
    assert travel.visits.one(MAYA, "country", "AT").trips == {}


def hidden(page: httpx.Response, action: str) -> str:
    """The version a form of a page rests on."""
    found = re.search(
        rf'action="[^"]*/{action}" method="post"><input type="hidden" name="version" value="(\d+)"', page.text
    )
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("field", "typed", "words"),
    [
        ("visited_date", "2099-01-01", "in the future"),
        ("visited_date", "last year", "2024-05-01"),
        ("notes", "x" * 501, "at most 500"),
    ],
)
def test_what_cannot_be_is_said_beside_its_field_and_what_was_typed_stays(
    maya: httpx.Client, travel: Travel, field: str, typed: str, words: str
) -> None:
    version = str(travel.visits.one(MAYA, "country", "IT").sync_version)
    answer = maya.post(f"{HOME}/places/country/IT", data={field: typed, "version": version})
    assert answer.status_code == 400
    assert words in words_of(answer)
    assert typed in answer.text


def test_a_form_that_is_older_than_the_place_does_not_overwrite_it(
    maya: httpx.Client, travel: Travel
) -> None:
    version = travel.visits.one(MAYA, "country", "GR").sync_version
    travel.visits.mark(MAYA, "country", "GR", {"notes": "Naxos"})
    answer = maya.post(f"{HOME}/places/country/GR", data={"notes": "Crete", "version": str(version)})
    assert answer.status_code == 409
    assert "Another device changed this place after you opened it" in answer.text
    assert "Naxos" in answer.text, "the current notes are shown"
    assert "Crete" in answer.text
    assert travel.visits.one(MAYA, "country", "GR").notes == "Naxos"
    again = maya.post(f"{HOME}/places/country/GR", data={"notes": "Crete", "version": str(version + 1)})
    assert "Saved." in again.text
    assert travel.visits.one(MAYA, "country", "GR").notes == "Crete"


def test_notes_are_shown_as_they_were_typed_and_run_nowhere(maya: httpx.Client, travel: Travel) -> None:
    travel.visits.mark(MAYA, "country", "HU", {"notes": HOSTILE, "visited_date": "2020"})
    for path in ("/places/country/HU", "/timeline", "/places"):
        assert HOSTILE not in maya.get(HOME + path).text
    assert HOSTILE in words_of(maya.get(f"{HOME}/timeline"))


def test_a_code_of_before_leads_to_the_place_of_now(enter: Enter) -> None:
    answer = enter(MAYA, follow=False).get(f"{HOME}/places/country/BU")
    assert answer.headers["location"] == f"{HOME}/places/country/MM"


def test_a_place_that_never_was_is_a_page_that_says_so(maya: httpx.Client) -> None:
    assert maya.get(f"{HOME}/places/country/QQ").status_code == 404


def test_a_trip_is_added_with_a_year_alone_and_removed(maya: httpx.Client, travel: Travel) -> None:
    answer = maya.post(f"{HOME}/places/country/PT/trips", data={"start": "2021", "trip_notes": "Surfing"})
    assert "2021: Surfing" in words_of(answer)
    (trip,) = travel.visits.one(MAYA, "country", "PT").trips
    maya.post(f"{HOME}/places/country/PT/trips/{trip}/remove")
    assert travel.visits.one(MAYA, "country", "PT").trips == {}


def test_a_trip_that_ends_before_it_begins_is_refused_with_what_was_typed(maya: httpx.Client) -> None:
    answer = maya.post(f"{HOME}/places/country/PT/trips", data={"start": "2021-05", "end": "2020"})
    assert answer.status_code == 400
    assert "ends before it begins" in answer.text
    assert 'value="2021-05"' in answer.text


# --- figures and time ---


def test_figures_say_what_they_are_out_of(maya: httpx.Client, travel: Travel) -> None:
    figures = travel.statistics.of(MAYA)
    words = words_of(maya.get(f"{HOME}/statistics"))
    assert f"{figures.countries_visited} of 195, {figures.countries_percentage:.1f} %" in words
    assert f"{figures.us_states_visited} of 50, {figures.us_states_percentage:.1f} %" in words


def test_the_timeline_has_dates_in_order_and_the_undated_apart(travel: Travel) -> None:
    visits = travel.visits.all(MAYA)
    years = by_year(moments(visits))
    assert [year for year, _ in years] == sorted((year for year, _ in years), reverse=True)
    france = [moment.when for _, found in years for moment in found if moment.visit.region_code == "FR"]
    assert france == ["May 2024", "2 July 2016 to 16 July 2016", "2007", "2007"]
    assert all(moment.visit.visited_date or moment.visit.trips for _, found in years for moment in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [("2024", "2024"), ("2024-05", "May 2024"), ("2024-05-01", "1 May 2024"), (None, "")],
)
def test_a_partial_date_is_said_as_far_as_it_is_known(text: str | None, words: str) -> None:
    assert day_words(text) == words


# --- conflicts ---


def test_a_conflict_about_the_date_also_says_what_became_of_the_notes_that_came_with_it(
    maya: httpx.Client,
) -> None:
    text = maya.get(f"{HOME}/conflicts").text
    japan = re.search(r"<article(?:(?!</article>).)*Japan.*?</article>", text, re.S)
    assert japan is not None
    assert "changed the date and notes" in japan[0]
    assert "No other device changed this, so we used the version from Maya&#39;s iPad" in japan[0]
    assert "Kyoto, then Naoshima by ferry." in japan[0]


def test_a_conflict_is_settled_by_writing_something_else(maya: httpx.Client, travel: Travel) -> None:
    for device, notes in (("phone", "Gelato"), ("tablet", "Opera")):
        edit = Edit(
            operation_id=f"clash-{device}",
            operation_type="update",
            region_type="country",
            region_code="IT",
            client_version=1,
            entity_data={"notes": notes},
            client_timestamp=NOW,
        )
        travel.sync.push(MAYA, device, [edit])
    page = maya.get(f"{HOME}/conflicts")
    assert "Gelato" in page.text
    assert "Opera" in page.text
    too_long = maya.post(f"{HOME}/conflicts/clash-tablet", data={"choice": "write", "notes": "x" * 501})
    assert too_long.status_code == 400
    assert "x" * 501 in too_long.text
    settled = maya.post(f"{HOME}/conflicts/clash-tablet", data={"choice": "write", "notes": "Both"})
    assert "Conflict resolved." in settled.text
    assert travel.visits.one(MAYA, "country", "IT").notes == "Both"
    again = maya.post(f"{HOME}/conflicts/clash-tablet", data={"choice": "keep"})
    assert again.status_code == 409


def test_a_conflict_is_settled_from_what_the_page_showed(maya: httpx.Client, travel: Travel) -> None:
    version = travel.visits.one(MAYA, "country", "IT").sync_version
    for device, notes in (("phone", "Gelato"), ("tablet", "Opera")):
        edit = Edit(
            operation_id=f"seen-{device}",
            operation_type="update",
            region_type="country",
            region_code="IT",
            client_version=version,
            entity_data={"notes": notes},
            client_timestamp=NOW,
        )
        travel.sync.push(MAYA, device, [edit])
    path = f"{HOME}/conflicts/seen-tablet"
    shown = _hidden(maya.get(f"{HOME}/conflicts").text)
    travel.visits.mark(MAYA, "country", "IT", {"notes": "Written on the phone since"})
    late = maya.post(path, data={**shown, "choice": "other"})
    assert late.status_code == 409
    assert "Another device changed this after you opened the page" in late.text
    assert "Written on the phone since" in late.text
    assert travel.visits.one(MAYA, "country", "IT").notes == "Written on the phone since"
    settled = maya.post(path, data={**_hidden(late.text), "choice": "other"})
    assert "Conflict resolved." in settled.text
    assert travel.visits.one(MAYA, "country", "IT").notes == "Opera"


def _hidden(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="(seen:[^"]+)" value="(\d+)"', page))


def test_a_deletion_against_an_edit_says_which_side_was_which() -> None:
    assert side_words("*", None) == "Not marked"
    assert side_words("*", {"notes": "Oaxaca"}) == "Marked (“Oaxaca”)"


# --- devices, settings, baggage ---


def shown_version(travel: Travel, user_id: str) -> str:
    """What the form of the settings was made from."""
    return str(travel.repository.profile(user_id).entity_version)


def test_a_device_is_signed_out_after_being_asked(enter: Enter, travel: Travel) -> None:
    jonas = enter(JONAS)
    assert "will no longer sync" in jonas.get(f"{HOME}/devices/laptop/sign-out").text
    jonas.post(f"{HOME}/devices/laptop/sign-out")
    assert "laptop" not in {device.device_id for device in travel.devices.of(JONAS)}
    page = jonas.get(f"{HOME}/devices")
    assert "Signed out" in page.text


def test_nobody_signs_out_somebody_elses_device(maya: httpx.Client, travel: Travel) -> None:
    device = travel.devices.of(LENA)[0]
    before = device.revoked_at
    assert maya.post(f"{HOME}/devices/not-mine/sign-out").status_code == 404
    assert travel.devices.of(LENA)[0].revoked_at == before


def test_settings_that_were_changed_are_an_edit_and_the_rest_is_not(
    maya: httpx.Client, travel: Travel
) -> None:
    form = {
        "display_name": "Maya O.",
        "time_zone": "Europe/Amsterdam",
        "mark_country": "never",
        "version": shown_version(travel, MAYA),
    }
    answer = maya.post(f"{HOME}/settings", data={**form, "share_visits": "on", "sync_conflicts": "on"})
    assert "Saved." in answer.text
    profile = travel.repository.profile(MAYA)
    assert (profile.display_name, profile.mark_country) == ("Maya O.", "never")
    assert profile.privacy_settings.share_visits
    assert not profile.privacy_settings.profile_public
    form["version"] = shown_version(travel, MAYA)
    same = maya.post(f"{HOME}/settings", data={**form, "share_visits": "on", "sync_conflicts": "on"})
    assert "There was nothing to save." in same.text


def test_a_page_opened_before_another_device_changed_the_settings_undoes_nothing(
    maya: httpx.Client, travel: Travel
) -> None:
    assert f'name="version" value="{shown_version(travel, MAYA)}"' in maya.get(f"{HOME}/settings").text
    before = travel.repository.profile(MAYA)
    form = {
        "display_name": "Somebody",
        "time_zone": before.time_zone,
        "mark_country": before.mark_country,
        "share_visits": "on",
        "version": shown_version(travel, MAYA),
    }
    travel.sync.change_user(MAYA, {"privacy_settings": {"share_visits": True}})
    travel.sync.change_user(MAYA, {"privacy_settings": {"share_visits": False}})
    answer = maya.post(f"{HOME}/settings", data=form)
    assert answer.status_code == 409
    assert "changed on another device" in answer.text
    after = travel.repository.profile(MAYA)
    assert not after.privacy_settings.share_visits
    assert after.display_name == before.display_name


def test_who_is_overtaken_while_settings_are_saved_is_told(
    maya: httpx.Client, travel: Travel, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, draft = travel.repository.profile(MAYA), travel.sync._draft
    form = {**form_of(before).values, "display_name": "Somebody"}

    def slow(*read: Any) -> Any:
        monkeypatch.setattr(travel.sync, "_draft", draft)
        travel.sync.change_user(MAYA, {"display_name": before.display_name and f"{before.display_name}."})
        return draft(*read)

    monkeypatch.setattr(travel.sync, "_draft", slow)
    answer = maya.post(f"{HOME}/settings", data=form)
    assert answer.status_code == 409
    assert "changed on another device" in answer.text
    assert travel.repository.profile(MAYA).display_name == f"{before.display_name}."
    travel.sync.change_user(MAYA, {"display_name": before.display_name})


def test_a_switch_that_is_not_shown_is_left_alone(maya: httpx.Client, travel: Travel) -> None:
    travel.sync.change_user(MAYA, {"notification_settings": {"product_news": True}})
    assert "product_news" not in maya.get(f"{HOME}/settings").text
    form = form_of(travel.repository.profile(MAYA)).values
    maya.post(f"{HOME}/settings", data={**form, "time_zone": "Asia/Tokyo"})
    after = travel.repository.profile(MAYA)
    assert (after.time_zone, after.notification_settings.product_news) == ("Asia/Tokyo", True)


def test_a_public_profile_shows_what_is_shared_and_can_be_blocked(
    maya: httpx.Client, enter: Enter, travel: Travel
) -> None:
    jonas, path = enter(JONAS), f"{HOME}/travellers/{MAYA}"
    private: dict[str, JsonValue] = {
        "privacy_settings": {"profile_public": False, "share_visits": False, "show_notes": False}
    }
    travel.sync.change_user(MAYA, private)
    assert jonas.get(path).status_code == 404
    assert "your profile is not public" in maya.get(path).text
    travel.sync.change_user(MAYA, {"privacy_settings": {"profile_public": True}})
    shown = jonas.get(path).text
    assert (travel.repository.profile(MAYA).display_name or "?") in shown
    assert "No places are shared." in shown
    travel.sync.change_user(MAYA, {"privacy_settings": {"share_visits": True}})
    place = travel.visits.all(MAYA)[0]
    assert place.region_name in jonas.get(path).text
    assert jonas.get(f"{HOME}/travellers/no-such").status_code == 404
    assert jonas.get(f"{HOME}/travellers/no%23such").status_code == 400
    assert maya.post(f"{HOME}/settings/blocks", data={"user_id": JONAS}).status_code == 200
    assert jonas.get(path).status_code == 404
    travel.privacy.unblock(MAYA, JONAS)
    travel.sync.change_user(MAYA, private)


def test_a_public_profile_opens_without_signing_in_and_shows_what_is_public_alone(
    enter: Enter, travel: Travel
) -> None:
    path, stranger = f"{HOME}/travellers/{MAYA}", enter()
    travel.visits.mark(MAYA, "country", "NP", {"notes": "Annapurna", "visited_date": "2018-10"})
    hidden = {"privacy_settings": {"profile_public": False, "share_visits": True}}
    travel.sync.change_user(MAYA, hidden)  # type: ignore[arg-type]  # a dict of dicts is JSON
    absent = stranger.get(f"{HOME}/travellers/no-such-traveller")
    private = stranger.get(path)
    assert (absent.status_code, private.status_code) == (404, 404)
    assert words_of(absent).partition("request")[0] == words_of(private).partition("request")[0]
    travel.sync.change_user(MAYA, {"privacy_settings": {"profile_public": True, "share_visits": False}})
    shown = stranger.get(path)
    assert (shown.status_code, shown.headers["x-robots-tag"]) == (200, "noindex")
    assert '<meta name="robots" content="noindex">' in shown.text
    profile = travel.repository.profile(MAYA)
    assert (profile.display_name or "?") in words_of(shown)
    assert "Nepal" not in shown.text
    travel.sync.change_user(MAYA, {"privacy_settings": {"share_visits": True}})
    places = stranger.get(path)
    assert "Nepal" in places.text
    assert "Annapurna" not in places.text
    for secret in (profile.email, profile.time_zone, "/settings", f"{HOME}/places/"):
        assert secret is not None
        assert secret not in places.text
    travel.sync.change_user(MAYA, {"privacy_settings": {"show_notes": True}})
    assert "Annapurna" in stranger.get(path).text
    assert "Annapurna" in enter(INES).get(path).text, "who has no map reads what everybody reads"
    travel.privacy.ask(MAYA, MAYA)
    assert stranger.get(path).status_code == 404, (
        "an account that is about to be erased is seen by its owner alone"
    )
    travel.privacy.keep(MAYA, MAYA)
    travel.sync.change_user(MAYA, {"privacy_settings": {"profile_public": False, "share_visits": False}})


def test_a_childs_profile_never_opens_to_a_stranger(enter: Enter, travel: Travel) -> None:
    assert enter().get(f"{HOME}/travellers/{LENA}").status_code == 404


def test_profiles_are_read_at_a_pace(runtime: Runtime) -> None:
    with serving_app(app_of(runtime)) as url, browsers(url) as enter:
        stranger = enter()
        statuses = [stranger.get(f"{HOME}/travellers/user-{n}").status_code for n in range(40)]
    assert statuses[0] == 404
    assert statuses[-1] == 429


def test_notes_become_public_by_an_answer_of_their_own(maya: httpx.Client, travel: Travel) -> None:
    travel.visits.mark(MAYA, "country", "NP", {"notes": "Annapurna"})
    page = maya.get(f"{HOME}/settings").text
    switch = re.search(r'<input id="f-show_notes"[^>]*>', page)
    assert switch is not None
    assert " disabled" in switch[0]
    form = dict(form_of(travel.repository.profile(MAYA)).values)
    alone = maya.post(f"{HOME}/settings", data={**form, "show_notes": "on"})
    assert alone.status_code == 400
    assert "Notes can be public only while your profile and your places are." in words_of(alone)
    asked = maya.post(f"{HOME}/settings", data={**form, "profile_public": "on", "share_visits": "on"})
    assert asked.url.path == f"{HOME}/settings/notes"
    assert "Make your notes and trips public too?" in words_of(asked)
    assert not travel.repository.profile(MAYA).privacy_settings.show_notes
    assert "are public now" in words_of(maya.post(f"{HOME}/settings/notes"))
    assert travel.repository.profile(MAYA).privacy_settings.show_notes
    off = dict(form_of(travel.repository.profile(MAYA)).values)
    del off["profile_public"]
    assert maya.post(f"{HOME}/settings", data=off).status_code == 200
    assert not travel.repository.profile(MAYA).privacy_settings.show_notes
    assert "Make those public first" in words_of(maya.post(f"{HOME}/settings/notes"))


def test_a_zone_that_is_none_is_said_beside_its_field(maya: httpx.Client, travel: Travel) -> None:
    form = {"display_name": "M", "time_zone": "Mars/Olympus", "version": shown_version(travel, MAYA)}
    answer = maya.post(f"{HOME}/settings", data=form)
    assert answer.status_code == 400
    assert 'value="Mars/Olympus"' in answer.text


def test_a_childs_map_cannot_be_made_public(enter: Enter, travel: Travel) -> None:
    lena = enter(LENA)
    page = lena.get(f"{HOME}/settings").text
    assert "always stays private" in page
    assert "public too" not in page
    zone = travel.repository.profile(LENA).time_zone
    form = {
        "time_zone": zone,
        "mark_country": "ask",
        "profile_public": "on",
        "version": shown_version(travel, LENA),
    }
    lena.post(f"{HOME}/settings", data=form)
    assert not travel.repository.profile(LENA).privacy_settings.profile_public


def test_an_account_is_erased_in_a_week_unless_it_is_kept(enter: Enter, travel: Travel) -> None:
    jonas = enter(JONAS)
    assert "Erase in one week" in jonas.get(f"{HOME}/settings/erase").text
    jonas.post(f"{HOME}/settings/erase")
    assert travel.repository.profile(JONAS).erases_at is not None
    for path in ("/settings", ""):
        assert "Your account will be erased" in (page := jonas.get(HOME + path).text)
        assert "Keep my account" in page
    jonas.post(f"{HOME}/settings/keep")
    assert travel.repository.profile(JONAS).erases_at is None


def test_the_example_of_the_import_is_taken_as_it_stands(maya: httpx.Client, travel: Travel) -> None:
    page = maya.get(f"{HOME}/export")
    shown = re.search(r"Example</figcaption><pre[^>]*><code>(.*?)</code>", page.text, re.S)
    assert shown is not None
    answer = maya.post(f"{HOME}/export", data={"sheet": html.unescape(shown[1])})
    assert answer.status_code == 200
    assert 'class="flash good"' in answer.text
    assert "not imported" not in words_of(answer)
    assert {"PT", "US-CA"} <= {visit.region_code for visit in travel.visits.all(MAYA)}


def test_a_sheet_marks_places_and_says_which_lines_were_not_taken(maya: httpx.Client, travel: Travel) -> None:
    sheet = "name,date,notes\nMongolia,2015,Horses\nAtlantis,2016,\n"
    answer = maya.post(f"{HOME}/export", data={"sheet": sheet})
    assert answer.status_code == 200
    assert "Line 3" in answer.text
    assert "Atlantis,2016" in answer.text, "what was pasted stays, to be mended"
    assert travel.visits.one(MAYA, "country", "MN").notes == "Horses"
    assert maya.post(f"{HOME}/export", data={"sheet": " "}).status_code == 400


@pytest.mark.parametrize("format", ["json", "csv", "geojson"])
def test_downloads_lead_to_the_api_with_the_same_login(maya: httpx.Client, format: str) -> None:
    href = f"/travel/v1/export?format={format}"
    assert href in maya.get(f"{HOME}/export").text
    named = rf'attachment; filename="skratch-maya[a-z-]*-\d{{4}}-\d\d-\d\d\.{format}"'
    assert re.fullmatch(named, maya.get(href).headers["content-disposition"])


# --- searching ---


def test_a_search_finds_places_and_own_notes_but_nobody_elses(maya: httpx.Client, enter: Enter) -> None:
    assert "Côte d’Ivoire" in words_of(maya.get(f"{HOME}/search?q=cote")).replace("'", "’")
    assert "Notes on Nigeria" in maya.get(f"{HOME}/search?q=Enugu").text
    assert "Notes on Nigeria" not in enter(JONAS).get(f"{HOME}/search?q=Enugu").text
    assert maya.get(f"{HOME}/search?q=--").status_code == 200


def test_geography_is_published_by_an_admin_and_again_is_harmless(enter: Enter, travel: Travel) -> None:
    ines = enter(INES)
    assert "Published:" in ines.post(f"{HOME}/geography").text
    assert travel.places.is_published()
    assert "This version is already published." in ines.post(f"{HOME}/geography").text


def test_somebody_of_another_system_has_no_map(enter: Enter, travel: Travel) -> None:
    rosa = enter("engineer_rosa")
    answer = rosa.get(f"{HOME}/places")
    assert answer.status_code == 404
    assert "this login is not a traveller&#39;s" in answer.text
    assert rosa.get(HOME).status_code == 200
    with pytest.raises(NotFound):
        travel.repository.profile("engineer_rosa")


def test_a_browser_that_was_signed_out_on_the_list_opens_nothing_with_its_cookie(enter: Enter) -> None:
    here, lost = enter(LENA), enter(LENA, follow=False)
    body = {"device_id": "lost-laptop", "name": "Firefox on Mac", "platform": "web"}
    assert lost.post("/travel/v1/me/devices", json=body).status_code == 200
    assert here.post(f"{HOME}/devices/lost-laptop/sign-out").status_code == 200
    for path in ("", "/timeline", "/settings", "/export"):
        assert lost.get(HOME + path).headers["location"].startswith(f"{HOME}/sign-in?next="), path
    assert lost.get("/travel/v1/export").json()["code"] == "SESSION_ENDED"
    another = lost.post("/travel/v1/me/devices", json={**body, "device_id": "another"})
    assert another.status_code == 401
    assert here.get(f"{HOME}/timeline").status_code == 200
