"""The scratch map in a real browser: without a network, on two devices at once, by keyboard, on every screen.

A browser here reaches the app through a wire that can be cut, so that without a network means without one, for the
page and for its service worker.
"""

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import PATIENCE, Keep, Open, Served
from tests.browser.looks import looked_at

from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import TRAVEL
from tablewright.edge import serving_app
from tablewright.systems.travel.travel import Travel

HOME = "/console/travel"
MAYA, JONAS, LENA, INES = "traveller_maya", "traveller_jonas", "traveller_lena", "admin_ines"


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    with open_app(memory=True, systems=(TRAVEL,)) as opened:
        yield opened


@pytest.fixture(scope="module")
def travel(runtime: Runtime) -> Travel:
    found: Travel = runtime.running[0].service
    return found


@pytest.fixture(scope="module")
def served(runtime: Runtime) -> Iterator[Served]:
    with serving_app(app_of(runtime)) as url:
        yield Served(url, "")


# --- a wire that can be cut ---


@dataclass
class Wire:
    """Carries connections to the app. Cut, it carries nothing, and what is under way is torn."""

    target: tuple[str, int]
    port: int = 0
    _listening: socket.socket | None = None
    _open: set[socket.socket] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def join(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", self.port), backlog=64)
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def cut(self) -> None:
        listening, self._listening = self._listening, None
        with self._lock:
            torn, self._open = self._open, set()
        for one in (listening, *torn):
            if one is not None:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                near, _ = listening.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self.target)
            except OSError:
                near.close()
                continue
            with self._lock:
                if self._listening is not listening:
                    near.close()
                    far.close()
                    return
                self._open |= {near, far}
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        with self._lock:
            self._open -= {one, other}
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.fixture
def wire(served: Served) -> Iterator[Wire]:
    parts = urlsplit(served.url)
    assert parts.hostname is not None
    assert parts.port is not None
    made = Wire((parts.hostname, parts.port))
    made.join()
    with closing(_Cutting(made)):
        yield made


@dataclass
class _Cutting:
    wire: Wire

    def close(self) -> None:
        self.wire.cut()


@pytest.fixture
def phone(browser: Any, wire: Wire) -> Iterator[Any]:
    """A browser of its own, on the wire: what it says about a network that is gone, or a refusal, is no mistake."""
    context = browser.new_context(base_url=wire.url, viewport={"width": 390, "height": 844}, has_touch=True)
    context.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    context.close()
    assert wrong == []


# --- what one does on the map ---


def signed_in(page: Any, person: str) -> Any:
    page.goto("/sign-in")
    page.locator(f'.people button[value="{person}"]').click()
    page.wait_for_url(lambda url: "/sign-in" not in url)
    return page


def open_map(page: Any, query: str = "") -> None:
    page.goto(HOME + query)
    page.locator("#scratch[data-ready=yes]").wait_for(timeout=PATIENCE)


def wait_saved(page: Any) -> None:
    page.locator('.sync-state[data-state="saved"][data-waiting="0"]').wait_for(timeout=PATIENCE)


def wait_kept(page: Any) -> None:
    """Until the service worker has everything it shows without a network."""
    page.evaluate("navigator.serviceWorker.ready.then(r => r.active.state)")
    page.wait_for_function("navigator.serviceWorker.controller !== null", timeout=PATIENCE)


def choose(page: Any, name: str) -> None:
    page.get_by_label("Find a place").fill(name)
    page.get_by_role("button", name="Find", exact=True).click()
    page.locator(
        "[data-spot=name]", has_text=re.compile(f"^{re.escape(name.partition(', ')[0])}$")
    ).wait_for()


def mark(page: Any, name: str) -> None:
    choose(page, name)
    page.get_by_role("button", name="I've been here").click()
    page.locator("[data-spot=unmark]").wait_for()


def say(page: Any, *, notes: str | None = None, date: str | None = None) -> None:
    if date is not None:
        page.locator("#s-date").fill(date)
    if notes is not None:
        page.locator("#s-notes").fill(notes)
    page.locator(".spot-form").get_by_role("button", name="Save").click()


def region(page: Any, code: str) -> Any:
    return page.locator(f'svg.map [data-code="{code}"]')


def is_marked(page: Any, code: str) -> bool:
    return bool(region(page, code).get_attribute("aria-pressed") == "true")


def notes_on(page: Any, name: str) -> str:
    choose(page, name)
    return str(page.locator("#s-notes").input_value())


def until(page: Any, is_so: Callable[[], bool], tries: int = 300) -> None:
    for _ in range(tries):
        if is_so():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not come to be")


def notes_of(travel: Travel, user_id: str, code: str) -> str | None:
    """What the server has; nothing for a place that is not marked."""
    return next((it.notes or "" for it in travel.visits.all(user_id) if it.region_code == code), None)


# --- tests ---


def test_three_countries_marked_without_a_network_and_a_conflicting_edit_elsewhere_end_the_same_on_both(
    phone: Any, wire: Wire, open_page: Open, travel: Travel, keep: Keep
) -> None:
    open_map(signed_in(phone, JONAS))
    wait_saved(phone)
    mark(phone, "Japan")
    until(phone, lambda: notes_of(travel, JONAS, "JP") is not None)
    wait_kept(phone)
    laptop = open_page(JONAS)
    open_map(laptop)
    wait_saved(laptop)
    assert is_marked(laptop, "JP"), "what the phone marked is on the laptop"

    wire.cut()
    phone.context.set_offline(True)
    phone.reload()  # the page itself comes from the service worker now
    phone.locator("#scratch[data-ready=yes]").wait_for()
    assert is_marked(phone, "JP")
    for name in ("Portugal", "Kenya", "Malta"):
        mark(phone, name)
    choose(phone, "Japan")
    say(phone, notes="Kyoto by train")
    phone.locator('.sync-state[data-state="offline"][data-waiting="4"]').wait_for()
    phone.evaluate("scrollTo(0, 0)")
    keep(phone, "travel-offline-390-light")
    phone.reload()
    phone.locator("#scratch[data-ready=yes]").wait_for()
    assert [is_marked(phone, code) for code in ("PT", "KE", "MT")] == [True] * 3, "kept on the device"
    assert notes_on(phone, "Japan") == "Kyoto by train"
    assert {visit.region_code for visit in travel.visits.all(JONAS)}.isdisjoint({"PT", "KE", "MT"})

    choose(laptop, "Japan")
    say(laptop, notes="Osaka by ship", date="2019")
    until(laptop, lambda: notes_of(travel, JONAS, "JP") == "Osaka by ship")

    wire.join()
    phone.context.set_offline(False)
    wait_saved(phone)
    both = notes_on(phone, "Japan")
    assert "Osaka by ship" in both
    assert "Kyoto by train" in both
    assert phone.locator("#s-date").input_value() == "2019"
    phone.get_by_role("link", name="Compare both versions").wait_for()

    laptop.reload()
    wait_saved(laptop)
    assert [is_marked(laptop, code) for code in ("JP", "PT", "KE", "MT")] == [True] * 4
    assert notes_on(laptop, "Japan") == both
    kept = {visit.region_code: visit for visit in travel.visits.all(JONAS)}
    assert {"JP", "PT", "KE", "MT"} <= set(kept)
    assert kept["JP"].notes == both
    assert kept["JP"].visited_date == "2019"
    head = travel.repository.head(JONAS)
    assert head is not None
    assert head.countries_visited == sum(visit.region_type == "country" for visit in kept.values())


def test_what_was_said_without_a_network_goes_when_the_conflict_about_it_comes(
    phone: Any, wire: Wire, travel: Travel
) -> None:
    travel.visits.mark(JONAS, "country", "CL")
    open_map(signed_in(phone, JONAS))
    wait_saved(phone)
    wire.cut()
    phone.context.set_offline(True)
    choose(phone, "Chile")
    phone.locator("[data-spot=unmark]").click()
    phone.get_by_text("Chile removed from your map.").wait_for()
    travel.visits.mark(JONAS, "country", "CL", {"notes": "Atacama"})
    wire.join()
    phone.context.set_offline(False)
    phone.get_by_role("link", name="Compare both versions").wait_for()
    assert is_marked(phone, "CL"), "what was written wins over what was removed"
    assert phone.locator(".said").inner_text() == ""


def read_rows(page: Any, selector: str) -> list[str]:
    """What some parts of a page say, each in one line."""
    return [" ".join(text.split()) for text in page.locator(selector).all_inner_texts()]


def opened_away(page: Any, path: str) -> None:
    """A page of Skratch that is answered without a network."""
    page.goto(HOME + path)
    page.locator("#away[data-ready=yes]").wait_for(timeout=PATIENCE)


def test_without_a_network_a_page_shows_what_the_browser_keeps_or_says_that_it_needs_one(
    phone: Any, wire: Wire, keep: Keep
) -> None:
    open_map(signed_in(phone, MAYA))
    wait_saved(phone)
    wait_kept(phone)
    phone.goto(f"{HOME}/timeline")
    moments = read_rows(phone, ".timeline-list > li")
    undated = read_rows(phone, ".places > li")
    phone.goto(f"{HOME}/statistics")
    shares = read_rows(phone, ".share-head")
    assert len(moments) > 9
    assert len(shares) > 9

    wire.cut()
    phone.context.set_offline(True)
    opened_away(phone, "/timeline")
    assert phone.get_by_role("heading", level=1).inner_text() == "Timeline"
    assert read_rows(phone, ".timeline-list > li") == moments
    assert read_rows(phone, ".places > li") == undated
    keep(phone, "travel-offline-timeline-390-light")
    opened_away(phone, "/statistics")
    assert read_rows(phone, ".share-head") == shares
    opened_away(phone, "/places/country/IS")
    phone.get_by_text("The ring road in nine days.").wait_for()
    phone.get_by_role("link", name="Edit on the map").click()
    phone.locator("[data-spot=name]", has_text="Iceland").wait_for()
    mark(phone, "Djibouti")

    opened_away(phone, "/conflicts")
    assert phone.get_by_role("heading", level=1).inner_text() == "Conflicts"
    phone.get_by_text("You're offline, and this page needs a connection.").wait_for()
    assert read_rows(phone, "[data-away=waiting] li") == ["Djibouti: marked"]
    phone.locator('.sync-state[data-state="offline"][data-waiting="1"]').wait_for()
    keep(phone, "travel-offline-conflicts-390-light")
    phone.get_by_role("link", name="Places", exact=True).click()
    phone.get_by_role("link", name="Djibouti").wait_for()
    opened_away(phone, "/conflicts")

    wire.join()
    phone.context.set_offline(False)
    phone.get_by_role("link", name="Open Conflicts").click()
    phone.get_by_text("Two of your devices changed the same thing.").wait_for()


def test_a_form_without_a_network_stays_with_what_was_typed_and_is_sent_when_it_is_back(
    phone: Any, wire: Wire, keep: Keep
) -> None:
    phone.goto(f"{HOME}/sign-in")  # which has no worker yet: the page itself asks
    phone.get_by_label("E-mail address").fill("nobody@example.com")
    wire.cut()
    phone.get_by_role("button", name="Send me a code").click()
    phone.get_by_text("You're offline, so nothing was sent.").wait_for()
    assert phone.get_by_label("E-mail address").input_value() == "nobody@example.com"
    wire.join()
    phone.get_by_role("button", name="Send me a code").click()
    phone.get_by_role("heading", name="Enter your code").wait_for()

    open_map(signed_in(phone, MAYA))
    wait_kept(phone)
    phone.goto(f"{HOME}/places/country/IS")
    notes = phone.get_by_label("Notes").first
    notes.fill("Typed on a train.")
    wire.cut()
    phone.context.set_offline(True)
    save = phone.get_by_role("button", name="Save").first
    save.click()
    phone.get_by_text("You're offline, so nothing was sent.").wait_for()
    keep(phone, "travel-offline-form-390-light")
    wire.join()
    phone.context.set_offline(False)
    phone.get_by_text("You're back online, but nothing was sent yet.").wait_for()
    assert notes.input_value() == "Typed on a train."
    save.click()
    phone.locator("textarea", has_text="Typed on a train.").wait_for()


def test_a_form_over_which_the_network_is_lost_is_answered_with_what_is_known(phone: Any, wire: Wire) -> None:
    open_map(signed_in(phone, MAYA))
    wait_saved(phone)
    wait_kept(phone)
    phone.goto(f"{HOME}/places/country/IS")
    # As if the server had been there a moment ago.
    phone.evaluate("() => { window.fetch = () => new Promise((go) => setTimeout(go, 50)); }")
    wire.cut()
    phone.context.set_offline(True)
    phone.get_by_role("button", name="Save").first.click()
    phone.get_by_text("so it may not have arrived").wait_for()


# --- every page on every screen ---

PAGES = {
    "map": "",
    "map-us": "?map=us_state",
    "map-canada": "?map=canadian_province",
    "places": "/places",
    "places-found": "/places?find=cote",
    "places-states": "/places?type=us_state&show=been",
    "place": "/places/country/FR",
    "place-not": "/places/country/BT",
    "timeline": "/timeline",
    "statistics": "/statistics",
    "share": "/share",
    "conflicts": "/conflicts",
    "devices": "/devices",
    "device": "/devices/phone",
    "device-out": "/devices/phone/sign-out",
    "profile": f"/travellers/{MAYA}",
    "settings": "/settings",
    "erase": "/settings/erase",
    "export": "/export",
}
ADMIN_PAGES = {
    "admin-sync": "/sync",
    "admin-geography": "/geography",
    "admin-accounts": "/accounts",
    "admin-account": f"/accounts/{MAYA}",
}


def opened(page: Any, path: str) -> None:
    assert page.goto(HOME + path).status == 200, path
    if path == "" or path.startswith("?map"):
        page.locator("#scratch[data-ready=yes]").wait_for(timeout=PATIENCE)
        wait_saved(page)
    if path == "/share":
        page.locator("#card[data-ready=yes]").wait_for(timeout=PATIENCE)


def test_a_travellers_pages_fit_every_screen_without_a_serious_barrier(open_page: Open, keep: Keep) -> None:
    page = open_page(MAYA)
    for name, path in PAGES.items():
        opened(page, path)
        looked_at(page, keep, f"travel-{name}")
    open_map(page)
    wait_saved(page)
    choose(page, "France")
    page.locator(".trips summary").click()
    page.evaluate("scrollTo(0, 0)")
    looked_at(page, keep, "travel-map-chosen")


def test_an_admins_pages_fit_every_screen_without_a_serious_barrier(open_page: Open, keep: Keep) -> None:
    page = open_page(INES)
    for name, path in ADMIN_PAGES.items():
        assert page.goto(HOME + path).status == 200, path
        looked_at(page, keep, f"travel-{name}")


# --- the map ---


def test_a_country_is_marked_and_looked_around_by_keyboard_alone(open_page: Open, travel: Travel) -> None:
    page = open_page(LENA)
    open_map(page)
    wait_saved(page)
    region(page, "FR").focus()
    page.keyboard.press("ArrowLeft")
    focused = page.evaluate("document.activeElement.dataset.code")
    assert focused != "FR"
    expect(page.locator(".map-tip")).to_be_visible()
    page.keyboard.press("Enter")
    until(page, lambda: focused in {visit.region_code for visit in travel.visits.all(LENA)})
    assert is_marked(page, focused)
    page.keyboard.press("Enter")  # again opens it; it does not take the mark away
    assert is_marked(page, focused)
    page.get_by_role("button", name="Remove", exact=True).click()
    until(page, lambda: focused not in {visit.region_code for visit in travel.visits.all(LENA)})
    page.get_by_role("button", name="Undo").click()
    until(page, lambda: focused in {visit.region_code for visit in travel.visits.all(LENA)})


def test_what_is_written_while_an_answer_is_taken_in_is_sent_in_a_moment(open_page: Open) -> None:
    page = open_page(LENA)
    open_map(page)
    wait_saved(page)
    times = page.evaluate(
        """async () => {
             const store = { queue: async () => [] }, status = document.createElement("p"), sync = skratch.sync;
             let times = 0, link = null, isWritten = false;
             skratch.sync = asked => asked === store ? Promise.resolve(times += 1) : sync(asked);
             link = new skratch.Link(store, status, async () => {
               if (!isWritten) { isWritten = true; link.soon(); }
             });
             await link.run();
             await new Promise(done => setTimeout(done, 600));
             return times;
           }"""
    )
    assert times == 2


def test_a_press_on_a_country_colours_it_in_and_a_state_offers_its_country(
    open_page: Open, travel: Travel
) -> None:
    page = open_page(LENA)
    open_map(page)
    wait_saved(page)
    before = region(page, "BR").evaluate("it => getComputedStyle(it).fill")
    region(page, "BR").click()
    until(page, lambda: notes_of(travel, LENA, "BR") is not None)
    until(page, lambda: region(page, "BR").evaluate("it => getComputedStyle(it).fill") != before)
    page.get_by_role("link", name="United States").click()
    page.locator('#scratch[data-type="us_state"]').wait_for()
    region(page, "US-CO").click()
    page.get_by_role("button", name="Mark United States too").click()
    until(page, lambda: notes_of(travel, LENA, "US") is not None)
    assert notes_of(travel, LENA, "US-CO") is not None


def test_a_small_island_is_hit_by_a_finger_beside_it(phone: Any, travel: Travel) -> None:
    open_map(signed_in(phone, LENA))
    wait_saved(phone)
    phone.get_by_role("button", name="Oceania").click()
    box = region(phone, "NR").bounding_box()
    phone.touchscreen.tap(box["x"] + box["width"] / 2 + 7, box["y"] + box["height"] / 2 + 5)
    until(phone, lambda: notes_of(travel, LENA, "NR") is not None)


def test_a_trip_with_a_year_alone_and_dates_that_cannot_be(open_page: Open, travel: Travel) -> None:
    page = open_page(LENA)
    open_map(page)
    wait_saved(page)
    choose(page, "Denmark")
    say(page, date="2099")
    page.get_by_text("This date is in the future.").wait_for()
    say(page, date="last summer")
    page.get_by_text("Enter a year, a month or a day").wait_for()
    say(page, date="2021")
    until(page, lambda: travel.visits.one(LENA, "country", "DK").visited_date == "2021")
    page.locator(".trips summary").click()
    page.locator("#t-start").fill("2022")
    page.locator("#t-notes").fill("Bornholm")
    page.get_by_role("button", name="Add trip").click()
    page.locator(".trips li", has_text="2022: Bornholm").wait_for()
    until(
        page,
        lambda: (
            [trip.notes for trip in travel.visits.one(LENA, "country", "DK").trips.values()] == ["Bornholm"]
        ),
    )


def test_what_was_told_while_one_types_is_not_overwritten(open_page: Open, travel: Travel) -> None:
    page = open_page(LENA)
    open_map(page)
    wait_saved(page)
    mark(page, "Estonia")
    wait_saved(page)
    page.locator("#s-notes").fill("Tallinn by ferry")
    travel.visits.mark(LENA, "country", "EE", {"notes": "Tartu by bus", "visited_date": "2018"})
    page.evaluate("dispatchEvent(new Event('online'))")  # looks for news at once
    page.get_by_text("Another device changed this place while you were writing.").wait_for()
    assert page.locator("#s-notes").input_value() == "Tallinn by ferry", "what is being typed stays"
    page.locator(".spot-form").get_by_role("button", name="Save").click()
    until(page, lambda: "Tallinn" in (notes_of(travel, LENA, "EE") or ""))
    visit = travel.visits.one(LENA, "country", "EE")
    assert visit.notes is not None
    assert "Tartu by bus" in visit.notes
    assert visit.visited_date == "2018"
    page.get_by_role("link", name="Compare both versions").wait_for()
    until(page, lambda: page.locator("#s-notes").input_value() == visit.notes)
    # What nobody else touched is simply saved, and so is the next edit.
    say(page, notes="Both")
    until(page, lambda: notes_of(travel, LENA, "EE") == "Both")


def test_what_was_written_in_two_tabs_without_a_network_is_both_there(
    phone: Any, wire: Wire, travel: Travel
) -> None:
    open_map(signed_in(phone, LENA))
    wait_saved(phone)
    mark(phone, "Lithuania")
    wait_saved(phone)
    other = phone.context.new_page()
    open_map(other)
    choose(other, "Lithuania")
    wire.cut()
    phone.context.set_offline(True)
    say(phone, notes="first")
    until(other, lambda: other.locator("#s-notes").input_value() == "first")
    phone.locator("#s-notes").fill("of tab one")
    say(other, notes="of tab two")
    phone.get_by_text("while you were writing").wait_for()
    say(phone, notes="of tab one")
    phone.locator('.sync-state[data-waiting="3"]').wait_for()
    wire.join()
    phone.context.set_offline(False)
    wait_saved(phone)
    notes = notes_of(travel, LENA, "LT") or ""
    assert "of tab one" in notes
    assert "of tab two" in notes
    # One tab has seen what it wrote itself, also if the next is written before the map is drawn again.
    say(phone, notes="once")
    say(phone, notes="twice")
    until(phone, lambda: notes_of(travel, LENA, "LT") == "twice")


def test_a_mark_is_not_taken_away_with_what_was_told_since(open_page: Open, travel: Travel) -> None:
    page = open_page(LENA)
    open_map(page)
    wait_saved(page)
    mark(page, "Latvia")
    wait_saved(page)
    # The page looks for news again in half a minute.
    travel.visits.mark(LENA, "country", "LV", {"notes": "Riga"})
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("link", name="Compare both versions").wait_for()
    assert notes_of(travel, LENA, "LV") == "Riga"


# --- finding ---


def test_the_map_finds_by_other_names_what_the_api_finds_also_without_a_network(
    phone: Any, wire: Wire, travel: Travel
) -> None:
    open_map(signed_in(phone, LENA))
    wait_saved(phone)
    typed = ["usa", "burma", "holland", "ivory", "uk", "Côte", "georgia", "st", "new", "ca", "STRASSE", "ö"]
    found = phone.evaluate(
        """async (typed) => {
             const files = JSON.parse(document.getElementById("scratch").dataset.files);
             const regions = await skratch.regions(files.regions);
             return typed.map((text) => { const one = skratch.meant(regions, text); return one && one.code; });
           }""",
        typed,
    )
    likeliest = [next(iter(travel.places.search(text)), None) for text in typed]
    assert found == [region and region.region_code for region in likeliest]

    phone.get_by_label("Find a place").fill("nowhere")
    phone.get_by_role("button", name="Find", exact=True).click()
    phone.get_by_text("No place called “nowhere” was found.").wait_for()
    phone.get_by_label("Find a place").fill("uk")
    phone.get_by_role("button", name="Find", exact=True).click()
    phone.locator("[data-spot=name]", has_text="United Kingdom").wait_for()
    assert phone.locator(".said").text_content() == ""


def test_what_was_said_of_one_place_is_not_offered_at_another(phone: Any) -> None:
    open_map(signed_in(phone, LENA))
    mark(phone, "Guyana")
    expect(phone.locator(".said")).to_contain_text("Guyana marked")
    choose(phone, "Colorado, United States")
    expect(phone.locator(".said")).to_have_text("")


def test_i_am_here_offers_to_mark_where_one_is(phone: Any, travel: Travel) -> None:
    phone.context.grant_permissions(["geolocation"])
    phone.context.set_geolocation({"latitude": 43.0, "longitude": -107.5})
    open_map(signed_in(phone, LENA))
    wait_saved(phone)
    phone.get_by_role("button", name="Locate me").click()
    phone.get_by_text("You are in Wyoming.").wait_for()
    assert notes_of(travel, LENA, "US-WY") is None, "asking marks nothing"
    phone.get_by_role("button", name="Mark it").click()
    phone.get_by_text("Wyoming marked.").wait_for()
    phone.context.set_geolocation({"latitude": 1.29, "longitude": 103.85})
    phone.get_by_role("button", name="Locate me").click()
    phone.get_by_text("You are in Singapore.").wait_for()
    phone.context.clear_permissions()
    phone.get_by_role("button", name="Locate me").click()
    phone.get_by_text("Location access is blocked.").wait_for()


# --- devices, conflicts, people ---


def test_a_browser_that_was_signed_out_says_so_and_keeps_what_it_did(phone: Any, travel: Travel) -> None:
    page = signed_in(phone, LENA)
    open_map(page)
    wait_saved(page)
    mine = next(one for one in travel.devices.of(LENA) if one.platform == "web")
    travel.devices.revoke_others(LENA, None, LENA)
    mark(page, "Iceland")
    page.locator('.sync-state[data-state="signed-out"][data-waiting="1"]').wait_for(timeout=PATIENCE)
    assert notes_of(travel, LENA, "IS") is None
    page.goto(f"{HOME}/timeline")
    assert "/sign-in" in page.url, "its login ended too"
    open_map(signed_in(page, LENA))
    page.locator('.sync-state[data-state="revoked"][data-waiting="1"]').wait_for(timeout=PATIENCE)
    page.get_by_role("button", name="Use this browser again").click()
    until(page, lambda: notes_of(travel, LENA, "IS") is not None)
    assert mine.device_id not in {one.device_id for one in travel.devices.of(LENA)}


def test_nothing_is_sent_for_somebody_who_signed_in_meanwhile(phone: Any, travel: Travel) -> None:
    page = signed_in(phone, LENA)
    open_map(page)
    wait_saved(page)
    # Signed in as somebody else by other means than the console's pages: nobody was asked about Lena's map.
    signed = page.context.request.post("/sign-in", form={"person": MAYA}, headers={"Origin": origin(page)})
    assert signed.ok
    mark(page, "Bhutan")
    page.locator('.sync-state[data-state="other-user"]').wait_for(timeout=PATIENCE)
    assert notes_of(travel, MAYA, "BT") is None
    other = page.context.new_page()
    open_map(other)
    wait_saved(other)
    assert not is_marked(other, "BT"), "one traveller's map does not show in another's"
    other.get_by_text("1 change to another traveller’s map was never sent from this browser.").wait_for()
    assert kept_of(other, LENA) == {"states": 0, "news": 0, "meta": 0, "queue": 1}
    signed_in(other, LENA)
    open_map(other)
    until(other, lambda: notes_of(travel, LENA, "BT") is not None)
    assert MAYA not in kept_people(other)


def origin(page: Any) -> str:
    parts = urlsplit(page.url)
    return f"{parts.scheme}://{parts.netloc}"


def test_a_late_answer_brings_back_nothing_that_went_before_everything_was_taken_anew(
    open_page: Open,
) -> None:
    page = open_page(LENA)
    open_map(page)
    kept = page.evaluate(
        """async () => {
             const store = await skratch.openStore("somebody");
             const state = (id, version) => ({
               entity_id: id, entity_type: "visited_place", entity_version: version, server_version: version,
               is_deleted: false, data: { region_type: "country", region_code: id, notes: String(version) },
             });
             const sent = [{ place: 1, operation: { operation_id: "one" } }];
             const result = states => ({ operation_id: "one", status: "applied", entities: states });
             const answer = states => store.answered(sent, [result(states)]);
             await answer([state("PT", 3)]);
             await store.replaced([state("FR", 5)], { since: 10, seal: "a" });
             await answer([state("PT", 3), state("FR", 4), state("ES", 11)]);
             const places = (await store.view()).places;
             store.close();
             indexedDB.deleteDatabase("skratch.somebody");
             return Array.from(places.values()).map(place => place.region_code + place.notes);
           }"""
    )
    assert sorted(kept) == ["ES11", "FR5"]


def test_what_is_saved_from_a_form_is_of_the_life_in_which_the_form_was_shown(open_page: Open) -> None:
    page = open_page(LENA)
    open_map(page)
    lives = page.evaluate(
        """async () => {
             const store = await skratch.openStore("somebody"), state = {
               entity_id: "somebody#country#FR", entity_type: "visited_place", entity_version: 3, server_version: 3,
               is_deleted: false, data: { region_type: "country", region_code: "FR" },
             };
             const base = async () => (await store.view()).bases.get("country#FR");
             await store.replaced([state], { since: 3, seal: "a" });
             const form = await base();
             await store.replaced([state], { since: 3, seal: "b" });
             for (const one of [form, await base()]) await store.add("update", "country", "FR", { notes: "x" }, one);
             const found = (await store.queue()).map(one => one.life);
             store.close();
             indexedDB.deleteDatabase("skratch.somebody");
             return found;
           }"""
    )
    assert lives == [1, 2]


def test_what_is_refused_for_its_id_leaves_the_queue_and_is_told(open_page: Open) -> None:
    page = open_page(LENA)
    open_map(page)
    left, news = page.evaluate(
        """async () => {
             const store = await skratch.openStore("somebody");
             const base = { version: 0, previous: null };
             for (const code of ["PT", "ES", "FR"]) await store.add("create", "country", code, {}, base);
             const queue = await store.queue(), result = (id, status) => ({ operation_id: id, status, entities: [] });
             await store.answered(queue, [result("", "failed"), result(queue[1].operation.operation_id, "waiting"),
               result(queue[2].operation.operation_id, "applied")]);
             const found = [(await store.queue()).map(one => one.operation.region_code),
               (await store.news()).map(one => one.operation_id === queue[0].operation.operation_id)];
             store.close();
             indexedDB.deleteDatabase("skratch.somebody");
             return found;
           }"""
    )
    assert (left, news) == (["ES"], [True])


# What the page's own requests meet: `answer` is given for each, null to let it pass.
MEETING = """(() => {
  const through = window.fetch.bind(window), answer = %s;
  window.fetch = (asked, ...more) => answer(String(asked.url || asked)) || through(asked, ...more);
})()"""


def test_what_was_refused_because_others_wrote_is_sent_again_by_itself(phone: Any, travel: Travel) -> None:
    busy = """(left => url => /sync.push/.test(url) && left-- > 0 ? Promise.resolve(new Response(
      '{"code": "STATE_CONFLICT"}', { status: 409, headers: { "Retry-After": "1" } })) : null)(1)"""
    phone.add_init_script(MEETING % busy)
    signed_in(phone, JONAS)
    open_map(phone)
    wait_saved(phone)
    mark(phone, "Mongolia")
    phone.locator('.sync-state[data-state="later"]').wait_for(timeout=PATIENCE)
    wait_saved(phone)
    assert notes_of(travel, JONAS, "MN") is not None


def test_a_browser_that_was_never_here_colours_before_the_first_answer(phone: Any, travel: Travel) -> None:
    silent = "url => /travel.v1.(sync|me)/.test(url) ? new Promise(() => {}) : null"
    phone.add_init_script(MEETING % silent)
    signed_in(phone, JONAS)
    open_map(phone)
    assert phone.locator(".sync-state").get_attribute("data-state") != "saved"
    been = {visit.region_code for visit in travel.visits.all(JONAS) if visit.region_type == "country"}
    assert been
    assert all(is_marked(phone, code) for code in been)
    figure = phone.locator("[data-figure=country] .part").inner_text()
    assert figure == str(travel.statistics.of(JONAS).countries_visited)


def kept_people(page: Any) -> set[str]:
    """Whose maps this browser keeps."""
    found = page.evaluate("indexedDB.databases().then(all => all.map(one => one.name))")
    return {name.removeprefix("skratch.") for name in found if name.startswith("skratch.")}


def kept_of(page: Any, person: str) -> dict[str, int]:
    """How much this browser keeps of somebody's map."""
    found: dict[str, int] = page.evaluate(
        """async name => {
             const asked = request => new Promise((yes, no) => {
               request.onsuccess = () => yes(request.result); request.onerror = () => no(request.error);
             });
             const db = await asked(indexedDB.open(name)), counts = {};
             for (const one of db.objectStoreNames) {
               counts[one] = await asked(db.transaction(one).objectStore(one).count());
             }
             db.close();
             return counts;
           }""",
        f"skratch.{person}",
    )
    return found


def test_signing_out_on_any_page_takes_the_map_away_and_tells_first_what_was_not_sent(
    phone: Any, wire: Wire, travel: Travel
) -> None:
    open_map(signed_in(phone, LENA))
    wait_saved(phone)
    assert kept_people(phone) == {LENA}
    travel.devices.revoke_others(LENA, None, LENA)  # so that what is marked now waits
    mark(phone, "Chad")
    phone.locator('.sync-state[data-state="signed-out"][data-waiting="1"]').wait_for()
    open_map(signed_in(phone, LENA))
    phone.locator('.sync-state[data-state="revoked"][data-waiting="1"]').wait_for()
    phone.goto(f"{HOME}/timeline")
    asked: list[str] = []

    def decide(dialog: Any, go_on: bool) -> None:
        asked.append(dialog.message)
        if go_on:
            dialog.accept()
        else:
            dialog.dismiss()

    def sign_out(*, go_on: bool) -> None:
        phone.once("dialog", lambda dialog: decide(dialog, go_on))
        phone.locator("details.who summary").click()
        phone.get_by_role("button", name="Sign out").click()

    sign_out(go_on=False)
    until(phone, lambda: len(asked) == 1)
    assert "1 change to the map was not sent yet" in asked[0]
    assert kept_of(phone, LENA)["queue"] == 1
    phone.goto(f"{HOME}/statistics")
    expect(phone.get_by_role("heading", name="Statistics"), "still signed in").to_be_visible()
    sign_out(go_on=True)
    phone.get_by_text("You are signed out.").wait_for()
    assert kept_people(phone) == set()


def test_who_signs_in_as_somebody_else_closes_the_map_in_other_tabs(phone: Any) -> None:
    open_map(signed_in(phone, LENA))
    wait_saved(phone)
    other = phone.context.new_page()
    signed_in(other, JONAS)
    other.wait_for_url(lambda url: "/sign-in" not in url)
    phone.get_by_text("This map was closed").wait_for()
    assert LENA not in kept_people(other)
    # A sync that was under way finds the copy closed; the fixture fails if that is an error of the page.
    phone.evaluate(
        "Promise.reject(new DOMException('The database connection is closing.', 'InvalidStateError')); 0"
    )
    phone.wait_for_timeout(100)


def test_without_a_network_nobody_is_signed_out_and_the_map_stays(phone: Any, wire: Wire) -> None:
    open_map(signed_in(phone, LENA))
    wait_saved(phone)
    wait_kept(phone)
    wire.cut()
    phone.context.set_offline(True)
    said: list[str] = []

    def hear(dialog: Any) -> None:
        said.append(dialog.message)
        dialog.accept()

    phone.once("dialog", hear)
    phone.locator("details.who summary").click()
    phone.get_by_role("button", name="Sign out").click()
    until(phone, lambda: len(said) == 1)
    assert "You're offline, so you were not signed out." in said[0]
    assert kept_people(phone) == {LENA}
    wire.join()
    phone.context.set_offline(False)
    phone.get_by_role("button", name="Sign out").click()
    phone.get_by_text("You are signed out.").wait_for()
    assert kept_people(phone) == set()


def test_who_signs_out_on_the_map_leaves_no_map_behind(phone: Any, wire: Wire) -> None:
    open_map(signed_in(phone, LENA))
    wait_saved(phone)
    wait_kept(phone)
    phone.locator("details.who summary").click()
    phone.get_by_role("button", name="Sign out").click()
    phone.wait_for_url(f"{wire.url}{HOME}/sign-in")
    wire.cut()
    phone.context.set_offline(True)
    phone.goto(HOME)
    phone.get_by_text("You're offline, and there is no map on this device yet").wait_for()
    wire.join()


def test_a_conflict_shows_both_sides_and_is_settled_by_taking_the_other(
    open_page: Open, travel: Travel
) -> None:
    page = open_page(MAYA)
    page.goto(f"{HOME}/conflicts")
    japan = page.locator("article", has_text="Japan")
    assert "2 April 2023" in japan.inner_text()
    assert "28 March 2023" in japan.inner_text()
    japan.get_by_role("button", name=re.compile("Use Maya's iPad version")).click()
    page.get_by_text("Conflict resolved. The other version is used now.").wait_for()
    assert travel.visits.one(MAYA, "country", "JP").visited_date == "2023-03-28"
    expect(page.locator("article", has_text="Japan")).to_have_count(0)


def test_the_card_is_a_picture_of_1200_by_630(open_page: Open, pictures: Path | None) -> None:
    page = open_page(JONAS)
    page.goto(f"{HOME}/share")
    page.locator("#card[data-ready=yes]").wait_for(timeout=PATIENCE)
    with page.expect_download() as started:
        page.get_by_role("button", name="Save as PNG").click()
    content = started.value.path().read_bytes()
    assert started.value.suggested_filename == "skratch.png"
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(content[16:20]), int.from_bytes(content[20:24])) == (1200, 630)
    page.get_by_label("Period").select_option("2024")
    page.get_by_text(re.compile("2024 in review: 1 country")).wait_for()
    if pictures is not None:
        (pictures / "travel-card.png").write_bytes(content)


def test_without_a_script_places_are_marked_and_described_by_forms(open_page: Open, travel: Travel) -> None:
    page = open_page(LENA, script=False)
    page.goto(f"{HOME}/places?find=portug")
    page.get_by_role("button", name="Mark Portugal").click()
    page.get_by_text("Portugal marked.").wait_for()
    page.get_by_role("link", name=re.compile("Portugal")).click()
    page.get_by_label(re.compile("Date")).fill("2019")
    page.get_by_label(re.compile("Notes")).first.fill("Trams")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    visit = travel.visits.one(LENA, "country", "PT")
    assert (visit.visited_date, visit.notes) == ("2019", "Trams")
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_text("Portugal removed from your map.").wait_for()
