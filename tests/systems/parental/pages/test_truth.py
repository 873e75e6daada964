"""What parents and operators read is what is confirmed; addresses of pages name nobody; each field has a label."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import httpx
import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import send, words_of

from tablewright import testing
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import PARENTAL
from tablewright.edge import serving_app
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement.plan import AppStatus
from tablewright.systems.parental.firewall.simulated import Faults, SimulatedFirewall
from tablewright.systems.parental.model import BlockedApp, Child, Device
from tablewright.systems.parental.pages.confirmation import confirmation
from tablewright.systems.parental.parental import Parental
from tablewright.systems.parental.policy.effective import Effective, Why
from tablewright.systems.parental.policy.policies import Draft
from tablewright.systems.parental.seed import ANNA, SARAH, THABO, TOM, seed

HOME = "/console/parental"
# A Monday, 13:00 in New York.
NOW = datetime(2026, 11, 16, 18, 0, tzinfo=UTC)
DEVICE = "ftd-device-001"
REASON = "Ticket 4711: is YouTube blocked"


@pytest.fixture
def clock() -> testing.Clock:
    return testing.Clock(NOW)


@contextmanager
def _house(clock: testing.Clock) -> Iterator[Runtime]:
    small = replace(PARENTAL, seed=lambda parental, told: seed(parental, told, families=0))
    with open_app(memory=True, systems=(small,), world=ticking(clock), jobs=False) as opened:
        yield opened


@pytest.fixture
def runtime(clock: testing.Clock) -> Iterator[Runtime]:
    with _house(clock) as opened:
        yield opened


@pytest.fixture
def parental(runtime: Runtime) -> Parental:
    found: Parental = runtime.running[0].service
    return found


@pytest.fixture
def enter(runtime: Runtime) -> Iterator[Enter]:
    with serving_app(app_of(runtime)) as url, browsers(url) as entered:
        yield entered


@pytest.fixture
def anna(enter: Enter) -> httpx.Client:
    return enter("parent_anna")


@pytest.fixture
def firewall(parental: Parental) -> SimulatedFirewall:
    found = parental.devices.simulated(DEVICE)
    assert found is not None
    return found


def _child(parental: Parental, phone: str = SARAH) -> Child:
    found = parental.repository.child_of_phone(phone)
    assert found is not None
    return found


def _path(parental: Parental, rest: str = "", phone: str = SARAH) -> str:
    return f"{HOME}/children/{parental.references.of(phone)}{rest}"


def _headline(page: httpx.Response) -> tuple[str, str]:
    """The largest words about now, and their colour."""
    kind = re.search(r'<section id="now" class="now (\w+)"', page.text)
    title = re.search(r'<h2 id="now-title">(.*?) <span class="now-clock">', page.text, re.DOTALL)
    assert kind is not None
    assert title is not None
    return unescape(re.sub(r"<[^>]+>", "", title[1])).strip(), kind[1]


# --- the largest words ---


def test_pc_x6_while_the_firewall_is_down_no_page_says_that_anything_is_blocked(
    anna: httpx.Client, parental: Parental, firewall: SimulatedFirewall
) -> None:
    for session in parental.sessions.open_of(SARAH):
        parental.sessions.event("stop", SARAH, session.session_id)
    parental.reconciler.reconcile(SARAH)
    firewall.faults = Faults(is_down=True)
    parental.sessions.event("start", SARAH, "again", ip="10.20.99.8", device=DEVICE)
    path = _path(parental)
    anna.post(f"{path}/exceptions", data={"kind": "block", "app": "*", "minutes": "60"})
    parental.reconciler.reconcile(SARAH)
    shown = anna.get(path)
    should_be = "Everything should be blocked, not confirmed yet"
    assert _headline(shown) == (should_be, "warn")
    assert "Everything is blocked" not in words_of(shown)
    home = anna.get(HOME)
    assert should_be in words_of(home)
    assert "Everything is blocked" not in words_of(home)
    firewall.faults = Faults()
    parental.devices.try_now(DEVICE)
    parental.reconciler.reconcile(SARAH, frozenset((DEVICE,)))
    assert _headline(anna.get(path)) == ("Everything is blocked", "good")
    assert "Everything is blocked" in words_of(anna.get(HOME))


def test_pc_x6_a_policy_is_green_when_what_it_blocks_is_confirmed(
    anna: httpx.Client, parental: Parental, firewall: SimulatedFirewall
) -> None:
    firewall.faults = Faults(is_down=True)
    child = _child(parental)
    parental.policies.create(child, Draft([BlockedApp(app_name="Spotify")], [], notes="No music"), ANNA)
    parental.reconciler.reconcile(SARAH)
    badge = re.search(
        r"No music</a> <span class=\"badge (\w*)\">([^<]*)<", anna.get(_path(parental, "/policies")).text
    )
    assert badge is not None
    assert badge.groups() == ("warn", "active, not confirmed")


def test_pc_x6_a_child_without_a_session_is_not_on_the_network_and_that_is_the_headline(
    anna: httpx.Client, parental: Parental
) -> None:
    for session in parental.sessions.open_of(SARAH):
        parental.sessions.event("stop", SARAH, session.session_id)
    shown = anna.get(_path(parental))
    assert _headline(shown) == ("Phone not on the network", "quiet")
    assert "Instagram and TikTok will be blocked as soon as it is." in words_of(shown)
    assert "are blocked" not in words_of(anna.get(HOME)).partition("Tom")[0]


def _state(*apps: str) -> Effective:
    return Effective(NOW, {app: Why(("p",)) for app in apps}, (), "*" in apps, None)


@pytest.mark.parametrize(
    ("statuses", "words", "tone"),
    [
        ([], "Nothing is blocked", ""),
        ([AppStatus("A", "enforced")], "A is blocked", "good"),
        ([AppStatus("A", "enforced", unmet=("x",))], "A is blocked, in part", "warn"),
        ([AppStatus("A", "pending")], "A should be blocked, not confirmed yet", "warn"),
        ([AppStatus("A", "failed")], "A should be blocked, but is not", "bad"),
        ([AppStatus("A", "enforced"), AppStatus("B", "pending")],
         "A is blocked; B should be, not confirmed yet", "warn"),
        ([AppStatus("A", "no session")], "Phone not on the network", ""),
        ([AppStatus("A", "pending", wanted=False)], "A is still blocked", "warn"),
    ],
)  # fmt: skip
def test_the_headline_says_no_more_than_is_confirmed(
    statuses: list[AppStatus], words: str, tone: str
) -> None:
    found = confirmation(_state(*(one.app for one in statuses if one.wanted)), statuses)
    assert (found.headline, found.tone) == (words, tone)


def test_while_everything_is_blocked_no_app_is_said_to_become_free(
    anna: httpx.Client, parental: Parental
) -> None:
    anna.post(_path(parental, "/exceptions"), data={"kind": "block", "app": "Spotify", "minutes": "60"})
    parental.reconciler.reconcile(SARAH)
    assert "Spotify" in words_of(anna.get(_path(parental, "/now")))
    anna.post(_path(parental, "/exceptions"), data={"kind": "block", "app": "*", "minutes": "60"})
    for _ in range(2):
        words = words_of(anna.get(_path(parental, "/now")))
        assert "Being unblocked" not in words
        assert "Still blocked" not in words
        parental.reconciler.reconcile(SARAH)


# --- today ---


def _spans(page: httpx.Response) -> list[tuple[str, ...]]:
    table = page.text.partition("Blocked on this day")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr>(<td>.*?)</tr>", table)
    return [tuple(unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)) for row in rows]


def test_the_past_of_today_stays_as_it_was_after_a_pause_and_after_an_exception(
    anna: httpx.Client, parental: Parental, clock: testing.Clock
) -> None:
    child = _child(parental, TOM)
    for session in parental.sessions.open_of(TOM):
        parental.sessions.event("stop", TOM, session.session_id)
    parental.sessions.event("start", TOM, "today", ip="10.20.99.9", device=DEVICE)
    zone = child.timezone
    parental.policies.create(child, Draft([BlockedApp(app_name="Spotify")], [], notes="No music"), ANNA)
    parental.reconciler.reconcile(TOM)
    clock.move(timedelta(hours=1))
    named = {entry.app_name for policy in parental.policies.of_child(child) for entry in policy.blocked_apps}
    app = next(one.app_name for one in parental.registry.offered() if one.app_name not in named)
    anna.post(_path(parental, "/exceptions", TOM), data={"kind": "block", "app": app, "minutes": "60"})
    parental.reconciler.reconcile(TOM)
    clock.move(timedelta(minutes=30))
    (one,) = parental.overrides.of_child(child)
    parental.overrides.end(child, one.override_id, ANNA)
    anna.post(_path(parental, "/pause", TOM), data={"minutes": "60"})
    parental.reconciler.reconcile(TOM)
    clock.move(timedelta(minutes=5))
    shown = anna.get(_path(parental, "", TOM))
    past = {row[0]: row[1:3] for row in _spans(shown) if row[4] == "confirmed"}
    began = NOW.astimezone(ZoneInfo(zone))
    assert past["Spotify"] == (f"{began:%H:%M}", f"{began + timedelta(minutes=90):%H:%M}")
    assert past[app] == (
        f"{began + timedelta(minutes=60):%H:%M}",
        f"{began + timedelta(minutes=90):%H:%M}",
    )
    planned = [row[:2] for row in _spans(shown) if row[4] == "planned" and row[0] == "Spotify"]
    assert planned == [("Spotify", f"{began + timedelta(minutes=150):%H:%M}")]


def test_what_a_firewall_never_confirmed_is_not_in_the_past(
    anna: httpx.Client, parental: Parental, clock: testing.Clock, firewall: SimulatedFirewall
) -> None:
    firewall.faults = Faults(is_down=True)
    child = _child(parental)
    parental.policies.create(child, Draft([BlockedApp(app_name="Spotify")], [], notes="No music"), ANNA)
    parental.reconciler.reconcile(SARAH)
    clock.move(timedelta(hours=1))
    rows = [row for row in _spans(anna.get(_path(parental))) if row[0] == "Spotify"]
    assert [row[4] for row in rows] == ["planned"]


# --- operators ---


def test_retry_asks_the_firewall_also_while_it_is_paused_after_failures(
    enter: Enter, parental: Parental, firewall: SimulatedFirewall
) -> None:
    olga = enter("operator_olga")
    child = _child(parental)
    parental.policies.create(child, Draft([BlockedApp(app_name="Spotify")], [], notes="No music"), ANNA)
    firewall.faults = Faults(is_down=True)
    for _ in range(4):
        parental.reconciler.reconcile(SARAH, frozenset((DEVICE,)))
    assert parental.devices.get(DEVICE).breaker_until is not None
    listed = olga.get(f"{HOME}/failures")
    assert len(re.findall(r'action="[^"]+/retry"', listed.text)) == 1
    firewalls = words_of(olga.get(f"{HOME}/devices"))
    assert "Open failures 1 " in firewalls
    action = re.search(r'action="([^"]+/retry)"', listed.text)
    assert action is not None
    firewall.faults = Faults()
    done = words_of(olga.post(action[1]))
    assert "Spotify: done. The rule is active." in done


@pytest.mark.parametrize("address", ["fmc.example:x", "fmc.example\r\nX: 1", "http://fmc.example", ""])
def test_health_of_a_firewall_with_a_bad_address_is_never_a_fault(
    enter: Enter, parental: Parental, address: str
) -> None:
    stored = Device(device_id="bad", kind="cisco_fmc", name="Bad", address=address, access_policy_id="p")
    parental.repository.db.write(d.devices.create(stored))
    olga = enter("operator_olga")
    answer = olga.get("/parental/v1/devices/bad/health")
    assert (answer.status_code, answer.json()["isOk"]) == (200, False)
    for page in ("/devices", "/devices/bad", "/devices/bad/edit"):
        assert olga.get(f"{HOME}{page}").status_code == 200
    assert "It does not respond" in words_of(olga.post(f"{HOME}/devices/bad/health"))


def test_a_pause_is_called_a_pause_in_the_familys_record(anna: httpx.Client, parental: Parental) -> None:
    anna.post(_path(parental, "/pause"), data={"minutes": "60"})
    anna.post(_path(parental, "/resume"))
    words = words_of(anna.get(f"{HOME}/activity"))
    assert "Rules paused" in words
    assert "Rules resumed" in words
    assert "Child changed" not in words


# --- all pages ---


class _Page(HTMLParser):
    """Ids, labels, and every address of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.labelled: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "label" and "for" in given:
            self.labelled.append(given["for"])
        self.addresses += [
            given[name] for name in ("href", "action", "formaction", "hx-get", "src") if name in given
        ]


def _walked(client: httpx.Client, *starts: str, most: int = 150) -> dict[str, httpx.Response]:
    """Every page of parental controls that links lead to."""
    found: dict[str, httpx.Response] = {}
    todo = list(starts)
    while todo and len(found) < most:
        address = todo.pop(0)
        if address in found or re.search(r"\.(json|csv)$", address.partition("?")[0]):
            continue
        page = client.get(address)
        assert page.status_code < 500, address
        found[address] = page
        links = (unescape(one).partition("#")[0] for one in _Page(page.text).addresses)
        todo += [one for one in links if one.startswith(HOME) and not one.endswith(("/now", "/retry"))]
    return found


def _pages(enter: Enter, person: str) -> dict[str, httpx.Response]:
    client = enter(person)
    if person != "support_sam":
        return _walked(client, HOME)
    shown = send(client, client.get(HOME), f"{HOME}/look", phoneNumber=SARAH, reason=REASON)
    return _walked(client, shown.url.path)


@pytest.fixture(scope="module", params=["parent_anna", "support_sam", "operator_olga"])
def pages(request: pytest.FixtureRequest) -> dict[str, httpx.Response]:
    """Every page that somebody sees: walked once, for what is true of all of them."""
    with _house(testing.Clock(NOW)) as opened, serving_app(app_of(opened)) as url, browsers(url) as entered:
        found = _pages(entered, request.param)
    assert len(found) > 5
    return found


def test_every_id_of_a_page_is_there_once_and_every_label_has_its_field(
    pages: dict[str, httpx.Response],
) -> None:
    for address, answer in pages.items():
        page = _Page(answer.text)
        assert [id for id, count in Counter(page.ids).items() if count > 1] == [], address
        assert [name for name in page.labelled if name not in page.ids] == [], address


def test_no_address_of_a_page_names_a_number_or_a_reason(pages: dict[str, httpx.Response]) -> None:
    numbers = [phone[1:] for phone in (SARAH, TOM, THABO)]
    for address, answer in pages.items():
        for one in (address, *_Page(answer.text).addresses):
            plain = unquote(unescape(one))
            assert not [number for number in numbers if number in plain], (address, one)
            assert "4711" not in plain, (address, one)


def test_the_number_that_a_code_was_sent_to_is_not_in_an_address(enter: Enter) -> None:
    client = enter("parent_anna")
    form = client.get(f"{HOME}/children/new")
    sent = send(client, form, f"{HOME}/children/new", phoneNumber="+15550009999", do="send")
    assert "A code is on its way to +15550009999" in words_of(sent)
    assert "15550009999" not in unquote(str(sent.url))
    assert '<input type="hidden" name="phoneNumber" value="+15550009999">' in sent.text


@pytest.mark.parametrize(
    ("rest", "name"),
    [
        ("/export.json", "parental-sarah-2026-11-16.json"),
        ("/history.csv", "parental-sarah-history-2026-11-16.csv"),
    ],
)
def test_a_file_is_named_by_its_system_its_child_and_the_day(
    anna: httpx.Client, parental: Parental, rest: str, name: str
) -> None:
    answer = anna.get(_path(parental, rest))
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
