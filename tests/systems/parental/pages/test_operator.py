"""The operator's pages over real HTTP, used as a browser without a script uses them.

Who may come in; what is shown is what is; what is typed is never lost; nobody here learns whose anything is.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import forms_of, send, words_of

from tablewright import testing
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import PARENTAL
from tablewright.edge import serving_app
from tablewright.systems.parental import design as d
from tablewright.systems.parental.blocked.events import Batch, Event
from tablewright.systems.parental.firewall.driver import PREFIX, Flow, Rule
from tablewright.systems.parental.firewall.simulated import Faults, SimulatedFirewall
from tablewright.systems.parental.model import BlockedApp, DnsGuard
from tablewright.systems.parental.pages.operator_page import seconds_words
from tablewright.systems.parental.parental import Parental
from tablewright.systems.parental.policy.policies import Draft
from tablewright.systems.parental.seed import ADA, ANNA, OPERATOR, SARAH, THABO, TOM, seed

HOME = "/console/parental"
OLGA = "operator_olga"
EAST, WEST = "ftd-device-001", "ftd-device-002"
# A Monday, 03:00 in New York: the Millers' children sleep, and much is blocked.
NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
HOSTILE = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def clock() -> testing.Clock:
    return testing.Clock(NOW)


@pytest.fixture(scope="module")
def runtime(clock: testing.Clock) -> Iterator[Runtime]:
    small = replace(PARENTAL, seed=lambda parental, told: seed(parental, told, families=1))
    with open_app(memory=True, systems=(small,), world=ticking(clock), jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def parental(runtime: Runtime) -> Parental:
    found: Parental = runtime.running[0].service
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
def olga(enter: Enter) -> httpx.Client:
    return enter(OLGA)


@pytest.fixture
def east(parental: Parental) -> Iterator[SimulatedFirewall]:
    """The first firewall, well again after the test, with nothing left in doubt."""
    device = parental.devices.simulated(EAST)
    assert device is not None
    yield device
    device.faults = Faults()
    parental.devices.health(EAST)
    parental.reconciler.verify(EAST)
    for key in (SARAH, TOM):
        parental.reconciler.reconcile(key, frozenset((EAST,)))


def read(browser: httpx.Client, path: str) -> str:
    page = browser.get(f"{HOME}{path}")
    assert page.status_code == 200, (path, page.status_code)
    return words_of(page)


# --- who ---

PATHS = (
    "/devices", f"/devices/{EAST}", "/devices/new", f"/devices/{EAST}/edit", f"/devices/{EAST}/wipe",
    f"/devices/{EAST}/remove", "/failures", "/failures?show=waiting", "/rules", f"/rules?device={WEST}", "/registry",
    "/registry/app?name=TikTok", "/registry/new", "/registry/edit?name=TikTok", "/registry/retire?name=TikTok",
    "/quarantine", "/tasks",
)  # fmt: skip
CHANGES = (
    f"/devices/{EAST}/health", f"/devices/{EAST}/verify", f"/devices/{EAST}/switch", f"/devices/{EAST}/faults",
    f"/devices/{EAST}/mend", f"/devices/{EAST}/wipe", f"/devices/{EAST}/edit", "/devices/new", "/failures/1.x/retry",
    "/registry/new", "/registry/edit?name=TikTok", "/registry/retire", "/registry/restore", "/registry/load",
    "/quarantine/x/again", "/tasks/run", f"/devices/{EAST}/guard", f"/devices/{EAST}/remove",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_pages_are_for_operators(path: str, enter: Enter) -> None:
    assert enter(OLGA).get(HOME + path).status_code == 200
    for person in ("parent_anna", "support_sam", "gateway_east"):
        assert enter(person).get(HOME + path).status_code == 403
    assert "/sign-in" in str(enter().get(HOME + path).url)


@pytest.mark.parametrize("path", CHANGES)
def test_changes_are_for_operators(path: str, enter: Enter) -> None:
    for person in ("parent_anna", "support_sam", "gateway_east"):
        assert enter(person).post(HOME + path, data={"name": "TikTok"}).status_code == 403


def test_an_operator_is_shown_the_way_to_the_own_pages_only(olga: httpx.Client) -> None:
    page = olga.get(f"{HOME}/devices").text
    side = page.partition('<nav id="side"')[2].partition("</nav>")[0]
    found = re.findall(r'<a href="([^"]+)"', side)
    assert found == [
        f"{HOME}/{each}" for each in ("devices", "failures", "rules", "registry", "quarantine", "tasks")
    ]


def test_no_page_says_whose_anything_is(
    olga: httpx.Client, parental: Parental, east: SimulatedFirewall
) -> None:
    parental.ingest.take(Batch("whose", [Event(at=NOW, app_name="TikTok", phone_number="+15550001111")]))
    east.faults = Faults(is_down=True)
    parental.sessions.event("update-ip", SARAH, "demo-10.20.30.40", ip="10.20.30.99", device=EAST)
    parental.reconciler.reconcile(SARAH)
    try:
        for path in PATHS:
            told = olga.get(HOME + path).text
            for number in (SARAH, TOM, ADA, THABO, "+15550001111"):
                assert number not in told, path
                assert number.removeprefix("+") not in told, path
            assert "Sarah" not in told, path
            assert "miller.example" not in told, path
    finally:
        east.faults = Faults()
        parental.sessions.event("update-ip", SARAH, "demo-10.20.30.40", ip="10.20.30.40", device=EAST)


# --- firewalls ---


def test_the_list_shows_each_firewall_as_it_is_and_asks_none_of_them(
    olga: httpx.Client, parental: Parental, east: SimulatedFirewall
) -> None:
    before = parental.devices.meters.measured().calls
    told = read(olga, "/devices")
    assert "Gateway east ftd-device-001 healthy" in told
    assert "Gateway west ftd-device-002 healthy" in told
    assert parental.devices.meters.measured().calls == before


def test_a_firewall_that_fails_is_left_alone_and_the_page_says_so(
    olga: httpx.Client, parental: Parental, east: SimulatedFirewall
) -> None:
    page = olga.get(f"{HOME}/devices/{EAST}")
    said = send(olga, page, f"{HOME}/devices/{EAST}/faults", isDown="on")
    assert "Fault settings applied" in words_of(said)
    for _ in range(3):
        send(olga, page, f"{HOME}/devices/{EAST}/verify")
    told = read(olga, f"/devices/{EAST}")
    assert "Paused after failures: 3 requests in a row failed." in told
    assert "the device is down" in told
    assert "paused after failures next attempt" in read(olga, "/devices")
    page = olga.get(f"{HOME}/devices/{EAST}")
    assert "Faults cleared" in words_of(send(olga, page, f"{HOME}/devices/{EAST}/mend"))
    said = send(olga, page, f"{HOME}/devices/{EAST}/health")
    assert "It responds: simulated 1" in words_of(said)
    assert "paused after failures" not in read(olga, f"/devices/{EAST}")


def test_faults_that_cannot_be_are_refused_beside_the_field_and_nothing_typed_is_lost(
    olga: httpx.Client, east: SimulatedFirewall
) -> None:
    page = olga.get(f"{HOME}/devices/{EAST}")
    said = send(olga, page, f"{HOME}/devices/{EAST}/faults", latency="many", failures="120", lostAnswers="25")
    assert said.status_code == 422
    form = next(form for form in forms_of(said) if form.action.endswith("/faults"))
    assert form.values["latency"] == "many"
    assert form.values["lostAnswers"] == "25"
    assert 'id="e-latency"' in said.text
    assert 'id="e-failures"' in said.text
    assert east.faults == Faults()


def test_faults_are_kept_as_they_were_typed(olga: httpx.Client, east: SimulatedFirewall) -> None:
    page = olga.get(f"{HOME}/devices/{EAST}")
    send(
        olga,
        page,
        f"{HOME}/devices/{EAST}/faults",
        latency="0.01",
        failures="10",
        lostAnswers="5",
        callsPerMinute="90",
    )
    assert east.faults == Faults(0.01, 0.1, 0.05, 90)
    form = next(
        form for form in forms_of(olga.get(f"{HOME}/devices/{EAST}")) if form.action.endswith("/faults")
    )
    assert (form.values["failures"], form.values["callsPerMinute"]) == ("10", "90")


def test_only_a_simulated_firewall_can_be_made_to_fail(olga: httpx.Client, parental: Parental) -> None:
    olga.post(f"{HOME}/devices/new", data={"deviceId": "linux-1", "kind": "nftables", "name": "Linux"})
    assert "Simulate faults" not in read(olga, "/devices/linux-1")
    assert olga.post(f"{HOME}/devices/linux-1/faults", data={"isDown": "on"}).status_code == 404
    assert "DNS filtering" not in read(olga, f"/devices/{EAST}")
    assert olga.post(f"{HOME}/devices/linux-1/wipe").status_code == 404


def test_the_guard_of_a_gateway_is_set_on_its_page_and_the_page_says_whether_it_is_in_force(
    olga: httpx.Client, parental: Parental
) -> None:
    linux = {"deviceId": "linux-2", "kind": "nftables", "name": "Linux", "address": "no-such-namespace"}
    olga.post(f"{HOME}/devices/new", data=linux)
    page, action = olga.get(f"{HOME}/devices/linux-2"), f"{HOME}/devices/linux-2/guard"
    assert "does not have these settings yet" not in words_of(page)
    wrong = send(olga, page, action, guarded="10.20.0.0/16 10.20.0.1/24")
    assert "Did you mean 10.20.0.0/24?" in words_of(wrong)
    assert parental.devices.get("linux-2").guard == DnsGuard()
    said = send(olga, page, action, guarded="10.20.0.0/16\nfd00::/64", refusesEncryptedDns="on")
    assert "the gateway does not have the settings yet" in words_of(said)
    assert "does not have these settings yet" in words_of(said)
    kept = parental.devices.get("linux-2")
    assert kept.guard == DnsGuard(guarded=["10.20.0.0/16", "fd00::/64"], refuses_encrypted_dns=True)
    assert "DNS filter not applied yet" in read(olga, "/devices")
    late = send(olga, page, action, safe="192.0.2.0/28")
    assert "Someone else changed this." in words_of(late)
    assert "192.0.2.0/28" in late.text, "what was typed is still there"
    send(olga, late, action)
    assert parental.devices.get("linux-2").guard.safe == ["192.0.2.0/28"]


def test_a_connection_can_be_tried_on_a_simulated_firewall(olga: httpx.Client) -> None:
    tried = read(olga, f"/devices/{EAST}?source=10.20.30.41&destination=www.tiktok.com")
    assert "Blocked: 10.20.30.41 can't reach www.tiktok.com" in tried
    free = read(olga, f"/devices/{EAST}?source=10.20.30.40&destination=school.example")
    assert "Not blocked: 10.20.30.40 can reach school.example" in free
    wrong = read(olga, f"/devices/{EAST}?source=nobody&destination=x")
    assert "Enter the address of a child's device" in wrong
    assert "Enter a name such as" in read(olga, f"/devices/{EAST}?source=10.0.0.1&destination=999.1.1.1")


def test_a_firewall_is_added_edited_and_switched_off(olga: httpx.Client, parental: Parental) -> None:
    page = olga.get(f"{HOME}/devices/new")
    twice = send(olga, page, f"{HOME}/devices/new", deviceId=EAST, name="Again")
    assert "There is already a firewall with this ID" in words_of(twice)
    nameless = send(olga, page, f"{HOME}/devices/new", deviceId="north", name="")
    assert nameless.status_code == 422
    made = send(olga, page, f"{HOME}/devices/new", deviceId="north", name=HOSTILE)
    assert HOSTILE not in made.text
    page = olga.get(f"{HOME}/devices/north/edit")
    saved = send(olga, page, f"{HOME}/devices/north/edit", name="Gateway north", address="192.0.2.7")
    assert "Gateway north" in words_of(saved)
    assert parental.devices.get("north").address == "192.0.2.7"
    old = send(olga, page, f"{HOME}/devices/north/edit", name="Another")
    assert old.status_code == 409
    assert "changed" in re.findall(r'role="alert">.*?<p>(.*?)</p>', old.text)[0]
    assert parental.devices.get("north").name == "Gateway north"
    off = send(olga, olga.get(f"{HOME}/devices/north"), f"{HOME}/devices/north/switch")
    assert "Switched off" in words_of(off)
    assert not parental.devices.get("north").enabled
    on = send(olga, off, f"{HOME}/devices/north/switch")
    assert "Switched on" in words_of(on)
    assert parental.devices.get("north").enabled


def test_a_firewall_that_is_off_is_removed_after_a_look_at_what_is_given_up(
    olga: httpx.Client, parental: Parental
) -> None:
    path = f"{HOME}/devices/south"
    data = {"deviceId": "south", "kind": "simulated", "name": "Gateway south"}
    olga.post(f"{HOME}/devices/new", data=data)
    assert f"{path}/remove" not in olga.get(path).text
    on = send(olga, olga.get(f"{path}/remove"), f"{path}/remove")
    assert "Switch this firewall off first" in words_of(on)
    off = send(olga, on, f"{path}/switch")
    assert f"{path}/remove" in off.text
    asked = olga.get(f"{path}/remove")
    assert "Rules it may still have 0" in words_of(asked)
    assert "Gateway south was removed." in words_of(send(olga, asked, f"{path}/remove"))
    assert "south" not in {one.device_id for one in parental.devices.all()}


# --- rules ---


def test_rules_stand_beside_what_the_firewall_has_and_comparing_puts_it_right(
    olga: httpx.Client, parental: Parental, east: SimulatedFirewall
) -> None:
    count = len(east.list())
    assert count > 2
    gone, *_ = east.list()
    east.remove(gone.id)
    stray = f"{PREFIX}0123456789ab_stray"
    east.ensure(Rule(stray, "10.99.0.1", domains=("stray.example",), label="stray", digest="x"))
    told = read(olga, f"/rules?device={EAST}")
    assert "Missing 1" in told
    assert "Unexpected 1" in told
    assert f"Active {count - 1}" in told
    assert [rule.name for rule in east.list() if rule.name in (gone.name, stray)] == [
        stray
    ]  # looking changes nothing
    page = olga.get(f"{HOME}/rules?device={EAST}")
    said = send(olga, page, f"{HOME}/devices/{EAST}/verify")
    assert "1 restored, 1 unknown removed" in words_of(said)
    assert f"{HOME}/rules" in str(said.url)
    assert f"All {count} Active {count}" in words_of(said)
    assert {rule.name for rule in east.list()} >= {gone.name}


def test_a_firewall_that_lost_everything_gets_it_back(
    olga: httpx.Client, parental: Parental, east: SimulatedFirewall
) -> None:
    count = len(east.list())
    page = olga.get(f"{HOME}/devices/{EAST}/wipe")
    assert "loses all its rules" in words_of(page)
    send(olga, page, f"{HOME}/devices/{EAST}/wipe")
    assert len(east.list()) == 0
    assert f"Missing {count}" in read(olga, f"/rules?device={EAST}")
    said = send(olga, olga.get(f"{HOME}/devices/{EAST}"), f"{HOME}/devices/{EAST}/verify")
    assert f"{count} restored" in words_of(said)
    assert len(east.list()) == count


def test_while_a_firewall_is_silent_the_records_are_shown_as_not_compared(
    olga: httpx.Client, east: SimulatedFirewall
) -> None:
    east.faults = Faults(is_down=True)
    told = read(olga, f"/rules?device={EAST}")
    assert "Gateway east can't list its rules: the device is down" in told
    assert "Not compared" in told
    assert "Missing" not in told
    said = send(olga, olga.get(f"{HOME}/rules?device={EAST}"), f"{HOME}/devices/{EAST}/verify")
    assert "Comparison failed" in words_of(said)


def test_rules_of_a_firewall_nobody_knows_are_nowhere(olga: httpx.Client) -> None:
    assert olga.get(f"{HOME}/rules?device=none").status_code == 404
    assert olga.get(f"{HOME}/devices/none").status_code == 404


# --- failures ---


def test_what_failed_is_listed_retried_and_leaves_the_list(
    olga: httpx.Client, parental: Parental, east: SimulatedFirewall
) -> None:
    east.faults = Faults(rejected_labels=frozenset(("Twitch",)))
    child = parental.families.child(ANNA, SARAH)
    parental.policies.create(child, Draft([BlockedApp(app_name="Twitch")], ()), ANNA)
    parental.reconciler.reconcile(SARAH)
    page = olga.get(f"{HOME}/failures")
    assert "Block Twitch for 10.20.30.40 the device refuses rules labelled Twitch" in words_of(page)
    assert "when something changes" in words_of(page), "a refused rule is not tried again by itself"
    assert "···67" in words_of(page)
    assert "Refused 1" in read(olga, f"/rules?device={EAST}")
    (form,) = [form for form in forms_of(page) if form.action.endswith("/retry")]
    still = olga.post(form.action)
    assert "Twitch: not done yet" in words_of(still)
    assert "Every attempt" in words_of(still)
    east.faults = Faults()
    newest = [form for form in forms_of(olga.get(f"{HOME}/failures")) if form.action.endswith("/retry")]
    assert len(newest) == 1, "one rule, however often it was tried"
    done = olga.post(newest[0].action)
    assert "Twitch: done. The rule is active" in words_of(done)
    assert "No failures" in words_of(done)
    assert east.is_blocked(Flow("10.20.30.40", name="www.twitch.tv"))
    assert olga.post(newest[0].action).status_code == 404


# --- the registry ---


def test_apps_are_found_by_name_domain_and_category(olga: httpx.Client) -> None:
    assert "1 to 50 here" in read(olga, "/registry")
    found = read(olga, "/registry?q=musical.ly")
    assert "1 app of" in found
    assert "TikTok" in found
    assert "Fortnite" not in read(olga, "/registry?category=Messaging")
    assert "No app matches" in read(olga, "/registry?q=nothing+like+it")
    second = olga.get(f"{HOME}/registry?from=51")
    assert "51 to 100 here" in words_of(second)
    assert f'href="{HOME}/registry"' in second.text  # the page before is the first


def test_an_app_shows_what_is_not_enforced_and_whom_a_change_is_about(olga: httpx.Client) -> None:
    told = read(olga, "/registry/app?name=TikTok")
    assert "104.16.0.0/12 : shared: the network of Cloudflare" in told
    assert re.search(r"Rules that use it [1-9]", told)
    assert olga.get(f"{HOME}/registry/app?name=Nothing").status_code == 404
    assert olga.get(f"{HOME}/registry/app").status_code == 404


def test_an_app_is_made_and_edited_with_mistakes_beside_the_line(
    olga: httpx.Client, parental: Parental
) -> None:
    page = olga.get(f"{HOME}/registry/new")
    typed = {"appName": "Puzzles / Co", "appCategory": "Gaming", "domains": "puzzles.example\nnot a domain"}
    wrong = send(olga, page, f"{HOME}/registry/new", **typed)
    assert wrong.status_code == 400
    assert "Line 2:" in words_of(wrong)
    assert "not a domain" in wrong.text
    port = send(
        olga,
        page,
        f"{HOME}/registry/new",
        **{**typed, "domains": "puzzles.example", "defaultPorts": "443 SCTP"},
    )
    assert "isn't a valid port. Write 443 TCP" in words_of(port)
    ranges = {"domains": "puzzles.example", "ipRanges": "192.0.2.0/24 perhaps"}
    assert "or nothing after a range" in words_of(
        send(olga, page, f"{HOME}/registry/new", **{**typed, **ranges})
    )
    made = send(
        olga,
        page,
        f"{HOME}/registry/new",
        **{**typed, "domains": "*.puzzles.example", "ipRanges": "104.16.0.0/12 on"},
    )
    assert "Puzzles / Co" in words_of(made)
    app = parental.registry.app("puzzles / co")
    assert app is not None
    assert (app.domains, app.ip_ranges[0].enforce) == (["puzzles.example"], True)
    again = send(olga, page, f"{HOME}/registry/new", **{**typed, "domains": "puzzles.example"})
    assert "There is already an app with this name" in words_of(again)

    edit = olga.get(f"{HOME}/registry/edit", params={"name": "Puzzles / Co"})
    (form,) = [form for form in forms_of(edit) if "/registry/edit" in form.action]
    assert form.values["ipRanges"] == "104.16.0.0/12 on"
    saved = olga.post(form.action, data={**form.values, "domains": "puzzles.example\npuzzles.test"})
    assert "puzzles.test" in words_of(saved)
    assert "Changed by olga@gateway.example" in words_of(saved)
    late = olga.post(form.action, data={**form.values, "domains": "mine.example"})
    assert late.status_code == 409
    assert "mine.example" in late.text
    assert "Someone else changed this app." in words_of(late)


def test_saving_an_app_as_it_is_changes_nothing_of_it(olga: httpx.Client, parental: Parental) -> None:
    before = parental.registry.app("TikTok")
    edit = olga.get(f"{HOME}/registry/edit?name=TikTok")
    (form,) = [form for form in forms_of(edit) if "/registry/edit" in form.action]
    olga.post(form.action, data=form.values)
    assert parental.registry.app("TikTok") == before


def test_retiring_says_first_who_has_the_app_and_can_be_undone(
    olga: httpx.Client, parental: Parental
) -> None:
    count = len(parental.registry.affected("Instagram").policies)
    page = olga.get(f"{HOME}/registry/retire?name=Instagram")
    assert f"{count} rules use it" in words_of(page)
    gone = send(olga, page, f"{HOME}/registry/retire")
    assert "Instagram is no longer offered" in words_of(gone)
    assert "Instagram" not in {app.app_name for app in parental.registry.offered()}
    assert "Instagram" in read(olga, "/registry?show=retired")
    back = send(olga, gone, f"{HOME}/registry/restore")
    assert "Instagram is offered again" in words_of(back)
    assert "Instagram" in {app.app_name for app in parental.registry.offered()}


def test_loading_the_shipped_list_keeps_what_an_operator_wrote(
    olga: httpx.Client, parental: Parental
) -> None:
    parental.registry.save(
        "YouTube",
        {"appCategory": "Video Streaming", "domains": ["youtube.com"], "defaultPorts": []},
        OPERATOR,
    )
    said = send(olga, olga.get(f"{HOME}/registry"), f"{HOME}/registry/load")
    assert "edited by an operator left unchanged" in words_of(said)
    app = parental.registry.app("YouTube")
    assert app is not None
    assert app.domains == ["youtube.com"]


# --- what waits ---


def test_events_nobody_knew_are_counted_when_somebody_is_known(
    olga: httpx.Client, parental: Parental
) -> None:
    for kept in list(parental.repository.db.all(d.quarantined())):
        parental.repository.db.write(d.quarantine.discard(kept.quarantine_id))
    now = parental.repository.now()
    parental.ingest.take(Batch("nobody", [Event(at=now, app_name="TikTok", privateIP="10.55.0.5", count=3)]))
    page = olga.get(f"{HOME}/quarantine")
    assert "3 blocked requests , reported" in words_of(page)
    assert "No child has this address" in words_of(page)
    (form,) = [form for form in forms_of(page) if form.action.endswith("/again")]
    assert "No request matches a child yet." in words_of(olga.post(form.action))
    parental.sessions.event(
        "start", THABO, "found", ip="10.55.0.5", device=WEST, at=now - timedelta(seconds=1)
    )
    assert "3 requests counted" in words_of(olga.post(form.action))
    assert "Quarantine is empty" in read(olga, "/quarantine")
    parental.sessions.event("stop", THABO, "found")


def test_errands_that_are_not_finished_are_shown_without_whose_they_are(
    olga: httpx.Client, parental: Parental, clock: testing.Clock
) -> None:
    assert "No background jobs" in read(olga, "/tasks")
    ada = parental.repository.child(ADA)
    (owner,) = [one for one in parental.repository.guardians_of(ada.family_id) if one.role == "owner"]
    chidi = replace(ANNA, name=owner.email, subject=owner.subject, email=owner.email)
    parental.privacy.erase(parental.families.child(chidi, ADA), chidi)
    page = olga.get(f"{HOME}/tasks")
    assert "Erasure of a child" in words_of(page)
    assert ADA not in page.text
    send(olga, page, f"{HOME}/tasks/run")
    clock.move(timedelta(minutes=11))
    said = send(olga, olga.get(f"{HOME}/tasks"), f"{HOME}/tasks/run")
    assert "1 job finished" in words_of(said)
    assert "No background jobs" in words_of(said)


# --- figures ---


def test_prometheus_reads_what_the_page_shows(olga: httpx.Client, enter: Enter) -> None:
    told = olga.get("/parental/v1/metrics")
    assert told.headers["content-type"].startswith("text/plain; version=0.0.4")
    line = re.compile(r'[a-z_]+(\{([a-z_]+="[^"]*",?)*\})? [0-9.e+-]+|# (HELP|TYPE) [a-z_]+ .+')
    assert [text for text in told.text.splitlines() if line.fullmatch(text) is None] == []
    assert 'tablewright_parental_device_up{device="ftd-device-001"} 1.0' in told.text
    assert enter("gateway_east").get("/parental/v1/metrics").status_code == 200
    assert enter("parent_anna").get("/parental/v1/metrics").status_code == 403
    figures = olga.get("/parental/v1/enforcement/metrics").json()
    assert {one["deviceId"] for one in figures["devices"]} >= {EAST, WEST}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, "–"), (0.0421, "42 ms"), (1.24, "1.2 s"), (59.6, "60 s"), (600.0, "10 min"), (90_000.0, "25 h")],
)
def test_times_are_told_in_few_digits(seconds: float | None, words: str) -> None:
    assert seconds_words(seconds) == words
