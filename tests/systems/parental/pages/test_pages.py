"""The parents' pages over real HTTP, used as a browser without a script uses them.

Who may see what; nothing typed is lost; a state is what is on the firewall; times are those of the child's clock.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import forms_of, send, words_of

from tablewright import testing
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import PARENTAL
from tablewright.edge import serving_app
from tablewright.edge.errors import CallerError
from tablewright.kit.system import Person
from tablewright.kit.tables import Actor
from tablewright.systems.parental import design as d
from tablewright.systems.parental.firewall.driver import Unavailable
from tablewright.systems.parental.model import EVERYTHING, BlockedApp, Child, Policy
from tablewright.systems.parental.parental import Parental
from tablewright.systems.parental.policy.policies import Draft
from tablewright.systems.parental.references import References
from tablewright.systems.parental.seed import ADA, ANNA, SARAH, THABO, TOM, seed

HOME = "/console/parental"
# A Monday, 13:00 in New York: school is on, so Sarah's TikTok and Instagram are blocked.
NOW = datetime(2026, 11, 16, 18, 0, tzinfo=UTC)
HOSTILE = '<script>alert("x")</script>'
P_ANNA, P_BEN, P_CHIDI, P_OLGA, P_SAM = (
    "parent_anna",
    "parent_ben",
    "parent_chidi",
    "operator_olga",
    "support_sam",
)
Kid = Callable[..., Child]


@pytest.fixture(scope="module")
def clock() -> testing.Clock:
    return testing.Clock(NOW)


@pytest.fixture(scope="module")
def runtime(clock: testing.Clock) -> Iterator[Runtime]:
    small = replace(PARENTAL, seed=lambda parental, told: seed(parental, told, families=0))

    with open_app(memory=True, systems=(small,), world=ticking(clock), jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def parental(runtime: Runtime) -> Parental:
    found: Parental = runtime.running[0].service
    _references.append(found.references)
    return found


@pytest.fixture(scope="module")
def url(runtime: Runtime, parental: Parental) -> Iterator[str]:
    with serving_app(app_of(runtime)) as served:
        yield served


@pytest.fixture
def enter(url: str) -> Iterator[Enter]:
    with browsers(url) as entered:
        yield entered


@pytest.fixture
def anna(enter: Enter) -> httpx.Client:
    return enter(P_ANNA)


_numbers = iter(range(1000, 9999))


@pytest.fixture
def kid(parental: Parental) -> Iterator[Kid]:
    """A child of Anna's of its own for a test: without a policy, on no network. Its number is given up afterwards."""
    (family,) = parental.families.of(ANNA)
    made: list[Child] = []

    def one(name: str = "Kim", zone: str = "America/New_York") -> Child:
        phone, now = f"+1555300{next(_numbers)}", parental.repository.now()
        child = Child(
            child=phone, phone=phone, held_phone=phone, family_id=family.family_id, child_name=name, timezone=zone,
            parent_email=ANNA.name, created_at=now, updated_at=now,
        )  # fmt: skip
        parental.repository.db.write(d.children.create(child))
        made.append(child)
        return child

    yield one
    for child in made:
        with suppress(CallerError):
            parental.children.release(child, ANNA)


def texts_to(parental: Parental, recipient: str) -> list[str]:
    """What was sent to an address or number, as its reader gets it, the newest first."""
    (family,) = parental.families.of(ANNA)
    known = parental.repository.outbox.texts
    return [
        known.text(message, message.message_id, recipient).body
        for message in parental.repository.db.all(d.outbox.of(family.family_id))
        if message.recipient == recipient
    ]


def code_to(parental: Parental, phone: str) -> str:
    found = [re.search(r"code is (\d{6})", text) for text in texts_to(parental, phone)]
    return next(match[1] for match in found if match)


_references: list[References] = []


def path(child: Child | str, rest: str = "") -> str:
    key = child if isinstance(child, str) else child.child
    return f"{HOME}/children/{_references[-1].of(key)}{rest}"


def policy_of(parental: Parental, child: Child, *apps: str, **more: Any) -> Policy:
    entries = [BlockedApp(app_name=app) for app in apps]
    return parental.policies.create(child, Draft(entries, **more), ANNA).policy


def on_the_network(parental: Parental, child: Child, address: str) -> None:
    parental.sessions.event("start", child.phone, f"s-{address}", ip=address, device="ftd-device-001")


# --- who may see what ---


@pytest.mark.parametrize(
    "rest",
    [
        "", "/now", "/policies", "/policies/new", "/policies/policy_20260101_001", "/dashboard", "/history",
        "/settings", "/export.json", "/metrics.csv", "/erase", "/release", "/number",
    ],
)  # fmt: skip
def test_somebody_elses_child_is_a_page_that_says_nothing_is_there(enter: Enter, rest: str) -> None:
    chidi = enter(P_CHIDI)
    others, nobodys = chidi.get(path(SARAH, rest)), chidi.get(path("+15550009999", rest))
    assert others.status_code == nobodys.status_code == 404
    assert "Page not found" in words_of(others)
    assert "Sarah" not in others.text
    strip = re.compile(r"\+1555\d+|[0-9a-f-]{36}")
    assert strip.sub("", words_of(others)) == strip.sub("", words_of(nobodys))


@pytest.mark.parametrize(
    "rest",
    [
        "/exceptions",
        "/pause",
        "/resume",
        "/policies/new",
        "/policies/x/delete",
        "/settings",
        "/erase",
        "/release",
    ],
)
def test_nobody_changes_somebody_elses_child(enter: Enter, rest: str) -> None:
    answer = enter(P_CHIDI).post(
        path(SARAH, rest), data={"kind": "block", "app": "*", "minutes": "60", "name": "Sarah"}
    )
    assert answer.status_code == 404


def test_who_is_not_signed_in_is_asked_to_and_comes_back(enter: Enter) -> None:
    answer = enter(follow=False).get(path(SARAH, "/policies"))
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith(
        "/console/parental/sign-in?next=%2Fconsole%2Fparental%2Fchildren"
    )


def test_an_operator_lands_on_the_devices_and_sees_no_child(enter: Enter) -> None:
    olga = enter(P_OLGA, follow=False)
    assert olga.get(HOME).headers["Location"] == f"{HOME}/devices"
    assert olga.get(path(SARAH)).status_code == 404


def test_support_says_why_sees_no_button_and_the_family_reads_it(enter: Enter, anna: httpx.Client) -> None:
    sam = enter(P_SAM)
    assert sam.get(path(SARAH)).status_code == 400  # no reason, no look
    first = sam.get(HOME)
    again = send(sam, first, f"{HOME}/look", phoneNumber=SARAH, reason="")
    assert "Enter a reason; the family can read it." in words_of(again)
    shown = send(sam, first, f"{HOME}/look", phoneNumber=SARAH, reason="Ticket 12: nothing loads")
    assert shown.status_code == 200
    assert "You are viewing this as support. Reason: “Ticket 12: nothing loads”" in words_of(shown)
    posts = [form.action for form in forms_of(shown) if form.action.startswith(HOME)]
    assert posts == [f"{HOME}/search"]
    # The reason goes along from page to page.
    assert f'href="{path(SARAH, "/policies")}"' in shown.text
    assert "School and sleep time" in words_of(sam.get(path(SARAH, "/policies")))
    assert sam.get(path(TOM)).status_code == 400  # and to no other child
    assert sam.post(path(SARAH, "/pause"), data={"minutes": "60"}).status_code == 404
    assert "Ticket 12: nothing loads" in words_of(anna.get(f"{HOME}/activity"))


def test_a_guardian_who_is_not_the_owner_neither_erases_nor_invites(enter: Enter) -> None:
    ben = enter(P_BEN)
    assert ben.get(path(SARAH, "/erase")).status_code == 403
    assert ben.post(path(SARAH, "/erase"), data={"name": "Sarah"}).status_code == 403
    assert ben.get(path(SARAH, "/number")).status_code == 403
    settings = words_of(ben.get(path(SARAH, "/settings")))
    assert "Only the owner of the family" in settings
    home = ben.get(HOME)
    assert "Only the owner can invite or remove guardians." in words_of(home)
    assert "Leave the family" in words_of(home)


def test_a_search_finds_ones_own_child_and_nobody_elses(enter: Enter, anna: httpx.Client) -> None:
    assert path(SARAH) in anna.get(f"{HOME}/search?q=sarah").text
    assert path(SARAH) not in enter(P_CHIDI).get(f"{HOME}/search?q=sarah").text
    assert path(SARAH) not in enter(P_CHIDI).get(f"{HOME}/search?q={SARAH[1:]}").text
    assert f"{HOME}/apps/TikTok" in anna.get(f"{HOME}/search?q=tikt").text


# --- the family ---


def test_the_family_page_says_of_each_child_what_is_blocked_and_what_is_next(anna: httpx.Client) -> None:
    words = words_of(anna.get(HOME))
    assert "Instagram and TikTok are blocked" in words
    assert "Instagram and TikTok will be unblocked at 15:00." in words
    assert "13:00 in America/New_York" in words


def test_from_an_invitation_to_a_guardian(enter: Enter, anna: httpx.Client, parental: Parental) -> None:
    home = anna.get(HOME)
    (family,) = parental.families.of(ANNA)
    action = f"{HOME}/families/{family.family_id}/invitations"
    wrong = send(anna, home, action, email="no address")
    assert wrong.status_code == 400
    assert "That isn't a valid e-mail address." in words_of(wrong)
    assert 'value="no address"' in wrong.text
    said = send(anna, home, action, email="chidi@okafor.example")
    assert "chidi@okafor.example was invited." in words_of(said)

    sent = texts_to(parental, "chidi@okafor.example")[0]
    link = re.findall(r"/console(/parental/invitations/[\w-]+)", sent)[0]
    other = enter(P_OLGA).get(f"/console{link}")  # an invitation is for one address
    assert other.status_code == 404
    assert "No invitation for " in words_of(other)
    chidi = enter(P_CHIDI)
    assert "Anna Miller invited you to join The Millers." in words_of(chidi.get(HOME))
    offered = chidi.get(f"/console{link}")
    joined = send(chidi, offered, f"/console{link}/accept", guardianName="Uncle Chidi")
    assert "Welcome to The Millers." in words_of(joined)
    assert chidi.get(path(SARAH)).status_code == 200
    assert "Uncle Chidi" in words_of(anna.get(HOME))

    subject = f"{HOME}/families/{family.family_id}/guardians/{P_CHIDI}"
    asked = anna.get(f"{subject}/remove")
    assert "no longer sees the children" in words_of(asked)
    assert "Uncle Chidi was removed." in words_of(send(anna, asked, f"{subject}/remove"))
    assert chidi.get(path(SARAH)).status_code == 404


def test_settings_of_the_family_keep_what_was_typed_and_say_what_is_wrong(
    anna: httpx.Client, parental: Parental
) -> None:
    (family,) = parental.families.of(ANNA)
    action = f"{HOME}/families/{family.family_id}/settings"
    form = anna.get(action)
    wrong = send(anna, form, action, allowedDomains="school.example\nhttp://what", alertAfterBlocks="60")
    assert wrong.status_code == 400
    assert "&#39;http://what&#39; isn&#39;t a valid site" in wrong.text
    assert "school.example" in wrong.text
    wrong = send(anna, form, action, alertAfterBlocks="many")
    assert "Enter a number, or leave this empty." in words_of(wrong)
    saved = send(anna, form, action, allowedDomains="school.example\nlibrary.example", onOutage="closed")
    assert "Settings saved." in words_of(saved)
    assert parental.families.of(ANNA)[0].on_outage == "closed"
    late = send(anna, form, action, onOutage="open")
    assert late.status_code == 409
    assert "Someone else changed these settings." in words_of(late)
    assert send(anna, late, action).status_code == 200
    assert parental.families.of(ANNA)[0].on_outage == "open"
    send(anna, anna.get(action), action, onOutage="keep")


# --- a child comes ---


def test_from_a_number_to_a_child_with_its_first_policy(anna: httpx.Client, parental: Parental) -> None:
    new = f"{HOME}/children/new"
    page = anna.get(new)
    wrong = send(anna, page, new, phoneNumber="12")
    assert wrong.status_code == 400
    assert "That isn't a valid phone number." in words_of(wrong)
    assert 'value="12"' in wrong.text
    second = send(anna, page, new, phoneNumber="+1 (555) 400-0001")
    assert "A code is on its way to +15554000001." in words_of(second)
    assert 'href="/console/designs/mail" target="_blank">Demo mail' in second.text
    code = code_to(parental, "+15554000001")
    typed = {"do": "add", "childName": "Noor", "timezone": "Europe/Berlin"}
    bad = "000000" if code != "000000" else "111111"
    refused = send(anna, second, new, code=bad, **typed)
    assert refused.status_code == 422
    assert "That code is wrong or has expired." in words_of(refused)
    assert 'value="Noor"' in refused.text
    nowhere = send(anna, refused, new, code=code, **{**typed, "timezone": "Atlantis"})
    assert "isn't a valid time zone" in words_of(nowhere)
    added = send(anna, nowhere, new, code=code, **typed)
    assert added.status_code == 200
    assert "Noor was added. Now add the first rule." in words_of(added)
    assert added.url.path == path("+15554000001", "/policies/new")
    # The clock of the page is the child's: 19:00 in Berlin.
    assert "19:00 in Europe/Berlin (CET)" in words_of(anna.get(path("+15554000001")))


def test_codes_are_shown_in_the_demo_only(runtime: Runtime, parental: Parental) -> None:
    phone = "+15554000009"
    parental.children.prove(phone, ANNA)
    assert code_to(parental, phone)
    person = next(one for one in runtime.people if one.subject == P_ANNA)
    with (
        serving_app(app_of(runtime, is_demo=False)) as url,
        httpx.Client(base_url=url, headers=_headers(runtime, person), timeout=60) as client,
    ):
        words = words_of(client.get(f"{HOME}/notices"))
    assert "Your code is" not in words
    assert phone not in words


def _headers(runtime: Runtime, person: Person) -> dict[str, str]:
    return {"Accept": "text/html", "Authorization": f"Bearer {runtime.token_for(person)}"}


# --- now ---


def test_a_state_is_what_is_on_the_firewall_not_what_was_asked_for(
    anna: httpx.Client, parental: Parental, kid: Kid
) -> None:
    child = kid("Truth")
    policy_of(parental, child, "TikTok", notes="Never")
    assert "Phone not on the network" in words_of(anna.get(path(child)))
    on_the_network(parental, child, "10.20.99.1")
    shown = words_of(anna.get(path(child, "/now")))
    assert "TikTok should be blocked, not confirmed yet" in shown
    assert "Applying…" in shown
    device = parental.devices.simulated("ftd-device-001")
    assert device is not None
    device.fail_next(Unavailable("no answer in 5 s"))
    parental.reconciler.reconcile(child.child)
    shown = words_of(anna.get(path(child, "/now")))
    assert "TikTok should be blocked, not confirmed yet" in shown
    assert "the firewall can't apply it at the moment. We keep trying." in shown
    assert "no answer in 5 s" not in shown
    parental.reconciler.reconcile(child.child, frozenset(("ftd-device-001",)))
    shown = words_of(anna.get(path(child, "/now")))
    assert "TikTok is blocked at 13:" in shown
    assert "Blocked on the network since 13:" in shown
    assert "Because of “Never”." in shown
    assert "TikTok is blocked" in words_of(anna.get(HOME))


def test_allow_for_half_an_hour_and_end_it_early(anna: httpx.Client, parental: Parental, kid: Kid) -> None:
    child = kid("Film")
    policy_of(parental, child, "YouTube")
    page = anna.get(path(child))
    allowed = send(anna, page, path(child, "/exceptions"))  # the first such form is the button beside YouTube
    assert re.search(r"Exception saved: allow YouTube until 13:3\d\.", words_of(allowed))
    assert "Nothing is blocked" in words_of(allowed)
    assert re.search(r"YouTube will be blocked at 13:3\d\.", words_of(allowed))
    (one,) = parental.overrides.of_child(child)
    assert timedelta(minutes=29, seconds=59) < one.until - one.begins_at <= timedelta(minutes=30)
    ended = send(anna, allowed, path(child, f"/exceptions/{one.override_id}/end"))
    assert "YouTube will be blocked as soon as it is." in words_of(ended)


def test_block_everything_for_an_hour(anna: httpx.Client, kid: Kid) -> None:
    child = kid("Dinner")
    page = anna.get(path(child))
    form = next(one for one in forms_of(page) if one.values.get("app") == "*")
    assert form.values["minutes"] == "60"
    shown = words_of(anna.post(form.action, data=form.values))
    assert "Exception saved: block everything until 14:0" in shown
    assert re.search(r"Everything will be unblocked at 14:0\d\.", shown)


def test_a_mistake_in_an_exception_stands_beside_its_field(anna: httpx.Client, kid: Kid) -> None:
    child = kid("Typo")
    typed = {"kind": "allow", "app": "No such app", "minutes": "30", "reason": "For school"}
    wrong = anna.post(path(child, "/exceptions"), data=typed)
    assert wrong.status_code == 400
    assert "We don't know an app called No such app." in words_of(wrong)
    assert 'value="For school"' in wrong.text
    late = anna.post(path(child, "/exceptions"), data={**typed, "app": "TikTok", "until": "2020-01-01T10:00"})
    assert late.status_code == 400
    assert "This must be in the future, at most 7 days from now." in words_of(late)
    garbage = anna.post(path(child, "/exceptions"), data={**typed, "app": "TikTok", "until": "soon"})
    assert garbage.status_code == 422
    assert "Enter a date and time" in words_of(garbage)


def test_a_pause_ends_at_the_time_of_the_childs_clock(
    anna: httpx.Client, parental: Parental, kid: Kid
) -> None:
    child = kid("Holiday", "Asia/Kathmandu")
    policy_of(parental, child, "TikTok")
    paused = anna.post(path(child, "/pause"), data={"until": "2026-11-18T07:30"})
    assert "Holiday's rules are paused until Wednesday at 07:30." in words_of(paused)
    kept = parental.repository.child(child.child).paused_until
    assert kept == datetime(2026, 11, 18, 1, 45, tzinfo=UTC)
    assert "Nothing is blocked" in words_of(paused)
    over = anna.post(path(child, "/resume"))
    assert "TikTok will be blocked as soon as it is." in words_of(over)
    early = anna.post(path(child, "/pause"), data={"until": "2026-11-01T07:30"})
    assert early.status_code == 400
    assert "This must be in the future" in words_of(early)


def test_the_picture_of_a_day_can_be_any_of_the_next_seven(anna: httpx.Client) -> None:
    today, friday = anna.get(path(SARAH)), anna.get(path(SARAH, "?day=2026-11-20"))
    assert "Friday" in words_of(friday)
    assert "YouTube from 20:30 to 23:00" in today.text
    assert "YouTube from" not in friday.text
    assert anna.get(path(SARAH, "?day=yesterday")).status_code == 200


# --- policies ---


def editor(anna: httpx.Client, child: Child, **typed: str | list[str]) -> tuple[httpx.Response, str]:
    """The editor's answer to what was typed into a new one, and where it is sent."""
    action = path(child, "/policies/new")
    return send(anna, anna.get(action), action, **typed), action


def test_a_policy_is_written_in_the_editor_and_counts_at_once(
    anna: httpx.Client, parental: Parental, kid: Kid
) -> None:
    child = kid("Bed")
    saved, _ = editor(anna, child, do="save", app=["TikTok", "Roblox"], notes="Bedtime")
    assert "Rule saved." in words_of(saved)
    assert "Roblox and TikTok will be blocked at 22:00." in words_of(saved)
    (policy,) = parental.policies.of_child(child)
    assert [entry.app_name for entry in policy.blocked_apps] == ["TikTok", "Roblox"]
    assert [(one.start_time, one.end_time, len(one.days)) for one in policy.time_windows] == [
        ("22:00", "06:00", 7)
    ]


def test_a_form_that_is_sent_twice_makes_one_policy(anna: httpx.Client, parental: Parental, kid: Kid) -> None:
    child = kid("Twice")
    action = path(child, "/policies/new")
    page = anna.get(action)
    for _ in range(2):
        assert send(anna, page, action, do="save", app="TikTok").status_code == 200
    assert len(parental.policies.of_child(child)) == 1
    other = send(anna, page, action, do="save", app="Roblox")
    assert "This form was already saved. Save again to add a second rule." in words_of(other)
    assert send(anna, other, action, do="save").status_code == 200
    assert len(parental.policies.of_child(child)) == 2


def test_buttons_of_the_editor_lose_nothing_that_was_typed(anna: httpx.Client, kid: Kid) -> None:
    child = kid("Rows")
    more, action = editor(
        anna, child, do="add-time:school", app=["TikTok", "Roblox"], notes="Kept", **{"w0-start": "21:15"}
    )
    form = forms_of(more)[-1].values
    assert (form["w0-start"], form["w1-start"], form["w1-end"]) == ("21:15", "08:00", "15:00")
    assert form["w1-day"] == ["MON", "TUE", "WED", "THU", "FRI"]
    assert (form["app"], form["notes"]) == (["TikTok", "Roblox"], "Kept")
    found = send(anna, more, action, do="find", find="puzzle")
    assert forms_of(found)[-1].values["app"] == [
        "TikTok",
        "Roblox",
    ]  # chosen ones stay, whatever is looked for
    own = send(anna, found, action, do="add-own", find="")
    assert 'name="o0-to"' in own.text
    less = send(anna, own, action, do="drop:w0")
    values = forms_of(less)[-1].values
    assert "w0-start" not in values
    assert values["w1-start"] == "08:00"


def test_an_app_is_found_by_name_category_or_site_without_a_script(anna: httpx.Client, kid: Kid) -> None:
    child = kid("Find")
    for text, name in (("tikt", "TikTok"), ("video streaming", "YouTube"), ("musical.ly", "TikTok")):
        page, _ = editor(anna, child, do="find", find=text)
        assert f'value="{name}"' in page.text
        assert 'value="Roblox"' not in page.text


@pytest.mark.parametrize(
    ("typed", "field", "sentence"),
    [
        ({"w0-day": []}, "w0-day", "Choose at least one day on which it starts"),
        ({"w0-start": "25:00"}, "w0-start", "'25:00' isn't a valid time."),
        ({"w0-end": ""}, "w0-end", "isn't a valid time."),
        ({"w0-start": "", "w0-end": ""}, "when", "Add a time, or choose “Always”."),
        ({"app": []}, "app", "Choose at least one app, or save the rule as a draft."),
        ({"o0-name": "Site", "o0-to": "no domain!"}, "o0-to", "isn't a valid site"),
        ({"o0-name": "Site", "o0-to": "10.0.0.1/8"}, "o0-to", "Did you mean 10.0.0.0/8?"),
        (
            {"o0-name": "Site", "o0-to": "a.example", "o0-ports": "many"},
            "o0-ports",
            "'many' isn't a valid port.",
        ),
        (
            {"o0-name": "Site", "o0-to": "a.example", "o0-ports": "70000"},
            "o0-ports",
            "70000 isn't a valid port.",
        ),
        ({"o0-name": "Unheard of", "o0-to": ""}, "o0-name", "We don't know an app called Unheard of."),
        ({"timezone": "Mars/Base"}, "timezone", "'Mars/Base' isn't a valid time zone."),
    ],
)
def test_a_mistake_in_a_policy_stands_beside_its_field(
    anna: httpx.Client, parental: Parental, kid: Kid, typed: dict[str, Any], field: str, sentence: str
) -> None:
    child = kid("Wrong")
    given = {"do": "save", "app": "TikTok", "notes": "Still here", **typed}
    wrong, _ = editor(anna, child, **given)
    assert wrong.status_code in (400, 422)
    beside = re.search(rf'id="e-{field}">(.*?)</p>', wrong.text, re.S)
    assert beside is not None, words_of(wrong)
    assert sentence in words_of(httpx.Response(200, text=beside[1]))
    assert 'value="Still here"' in wrong.text
    assert parental.policies.of_child(child) == []


def test_times_that_overlap_are_merged_and_that_is_said(
    anna: httpx.Client, parental: Parental, kid: Kid
) -> None:
    child = kid("Overlap")
    typed: dict[str, str | list[str]] = {
        "w1-start": "23:00",
        "w1-end": "07:00",
        "w1-day": ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"],
    }
    shown, action = editor(anna, child, do="show", app="TikTok", **typed)
    assert "they were merged into 22:00-07:00 every day." in words_of(shown)
    saved = send(anna, shown, action, do="save")
    assert "they were merged into 22:00-07:00 every day." in words_of(saved)
    (policy,) = parental.policies.of_child(child)
    assert [(one.start_time, one.end_time) for one in policy.time_windows] == [("22:00", "07:00")]


def test_pc_d10_what_is_not_blocked_of_ones_own_sites_is_said_while_one_types_when_saved_and_beside_the_state(
    anna: httpx.Client, parental: Parental, kid: Kid
) -> None:
    child = kid("Puzzled")
    typed = {"o0-name": "Puzzles", "o0-to": "https://www.puzzle.example/x\ncloudfront.net", "when": "always"}
    sentence = "cloudfront.net is not blocked (shared: anyone can rent servers there from Amazon)."
    answer = anna.post(path(child, "/policies/preview"), data=typed)
    assert 'id="told-0"' in answer.text
    assert "puzzle.example is blocked, including all its subdomains." in words_of(answer)
    assert sentence in words_of(answer)
    saved, _ = editor(anna, child, do="save", **typed)
    assert sentence in words_of(saved)
    (policy,) = parental.policies.of_child(child)
    assert sentence in words_of(anna.get(path(child, f"/policies/{policy.policy_id}")))
    on_the_network(parental, child, "10.20.99.17")
    parental.reconciler.reconcile(child.child)
    shown = words_of(anna.get(path(child, "/now")))
    assert "Blocked in part" in shown
    assert sentence in shown
    assert "A VPN or encrypted DNS on the device can get around a block" in shown


def test_the_week_is_drawn_while_one_types(anna: httpx.Client, kid: Kid) -> None:
    child = kid("Draw")
    answer = anna.post(
        path(child, "/policies/preview"),
        data={"when": "times", "w0-start": "22:00", "w0-end": "06:00", "w0-day": ["FRI"]},
    )
    assert "<html" not in answer.text
    assert "22:00 to 06:00 the next day, Friday" in words_of(answer)
    assert answer.text.count("Fri 22:00 to Sat 06:00</title>") == 2  # the evening, and the morning after
    always = anna.post(path(child, "/policies/preview"), data={"when": "always"})
    assert "All day, every day." in words_of(always)


def test_who_was_overtaken_sees_what_it_is_now_and_decides(
    anna: httpx.Client, enter: Enter, parental: Parental, kid: Kid
) -> None:
    child = kid("Race")
    policy = policy_of(parental, child, "TikTok", notes="Mine")
    action = path(child, f"/policies/{policy.policy_id}")
    mine, theirs = anna.get(action), enter(P_BEN)
    saved = send(theirs, theirs.get(action), action, do="save", app=["TikTok", "Roblox"])
    assert "Saved." in words_of(saved)
    late = send(anna, mine, action, do="save", app="Snapchat", notes="Mine again")
    assert late.status_code == 409
    words = words_of(late)
    assert "Someone else changed this rule." in words
    assert "Blocks TikTok and Roblox, always." in words
    assert 'value="Mine again"' in late.text
    assert send(anna, late, action, do="save").status_code == 200
    now = parental.policies.get(child, policy.policy_id)
    assert ([entry.app_name for entry in now.blocked_apps], now.notes) == (["Snapchat"], "Mine again")


def test_a_policy_of_the_api_comes_through_the_editor_unchanged(
    anna: httpx.Client, parental: Parental, kid: Kid
) -> None:
    child = kid("Whole")
    entries = [
        {"appName": "*"},
        {"appName": "TikTok", "domains": ["more.example"], "ports": [{"port": 5000, "protocol": "UDP"}]},
        {"appName": "Own", "domains": ["a.example"], "ipRanges": ["203.0.113.0/24", "2001:db8::/48"]},
        {"appName": "Roblox"},
    ]
    draft = Draft(
        [BlockedApp.model_validate(entry) for entry in entries],
        [
            {"startTime": "22:00", "endTime": "06:00", "days": ["FRI"]},
            {"startTime": "07:00", "endTime": "07:30", "days": ["SUN", "MON"]},
        ],
        timezone="Europe/Berlin",
        notes="By the API",
    )
    before = parental.policies.create(child, draft, ANNA).policy
    action = path(child, f"/policies/{before.policy_id}")
    saved = send(anna, anna.get(action), action, do="save")
    assert "Saved." in words_of(saved)
    after = parental.policies.get(child, before.policy_id)
    by_name = {entry.app_name: entry for entry in after.blocked_apps}
    assert by_name == {entry.app_name: entry for entry in before.blocked_apps}
    assert (after.time_windows, after.timezone, after.notes) == (
        before.time_windows, before.timezone, before.notes,
    )  # fmt: skip


def test_a_policy_is_paused_resumed_and_deleted_after_a_question(
    anna: httpx.Client, parental: Parental, kid: Kid
) -> None:
    child = kid("Moves")
    policy = policy_of(parental, child, "TikTok", notes="Not yet")
    listed, one = path(child, "/policies"), path(child, f"/policies/{policy.policy_id}")
    paused = send(anna, anna.get(listed), f"{one}/pause", until="2026-11-17T08:00")
    assert "“Not yet” is paused until tomorrow at 08:00." in words_of(paused)
    assert parental.policies.get(child, policy.policy_id).paused_until == datetime(
        2026, 11, 17, 13, tzinfo=UTC
    )
    resumed = send(anna, paused, f"{one}/resume")
    assert "active, phone not on the network" in words_of(resumed)
    asked = anna.get(f"{one}/delete")
    assert "Apps that only this rule blocks are unblocked" in words_of(asked)
    assert parental.policies.of_child(child)  # nothing happens by looking
    gone = send(anna, asked, f"{one}/delete")
    assert "“Not yet” was deleted at 13:" in words_of(gone)
    assert "No rules yet" in words_of(gone)
    assert anna.get(one).status_code == 404


def test_a_draft_blocks_nothing_until_it_is_put_in_force(
    anna: httpx.Client, parental: Parental, kid: Kid
) -> None:
    child = kid("Draft")
    kept, _ = editor(anna, child, do="draft", app="TikTok", when="always", notes="Maybe")
    assert "draft" in words_of(kept)
    assert parental.blocked_now(child).now.blocked == {}
    (policy,) = parental.policies.of_child(child)
    send(anna, kept, path(child, f"/policies/{policy.policy_id}/resume"))
    assert set(parental.blocked_now(child).now.blocked) == {"TikTok"}


# --- what was done and counted ---


def test_the_dashboard_says_in_words_what_its_pictures_show(anna: httpx.Client, parental: Parental) -> None:
    tom = parental.repository.child_of_phone(TOM)
    assert tom is not None
    figures = parental.figures.of_child(tom)
    for days, period in (("1", figures.day), ("7", figures.week), ("30", figures.month)):
        page = anna.get(path(TOM, f"/dashboard?days={days}"))
        words = words_of(page)
        assert f"{period.blocked:,}".replace(",", " ") in words
        for app in period.by_app:
            assert app.app_name in words
        cells = re.findall(r'<td class="heat-\d" title="[^"]+"><span>(\d*)</span>', page.text)
        assert not cells if days == "1" else sum(int(cell or 0) for cell in cells) == period.blocked
    assert f"{figures.weeks.this} attempts in the last seven days" in words_of(
        anna.get(path(TOM, "/dashboard"))
    )


def test_the_history_goes_by_days_of_the_childs_clock(anna: httpx.Client) -> None:
    page = anna.get(path(SARAH, "/history?from=2026-11-14&to=2026-11-14"))
    words = words_of(page)
    assert "14 November at 22:00" in words
    assert "15 November" not in words
    assert "Yesterday" not in words
    wrong = anna.get(path(SARAH, "/history?from=yesterday"))
    assert wrong.status_code == 422
    assert "Enter a date such as 2026-01-31." in words_of(wrong)
    turned = anna.get(path(SARAH, "/history?from=2026-11-14&to=2026-11-10"))
    assert "The end is before the start." in words_of(turned)


def test_the_history_goes_on_page_by_page(anna: httpx.Client) -> None:
    first = anna.get(path(SARAH, "/history"))
    onward = re.search(r'href="([^"]+after=[^"]+)" rel="next"', first.text)
    assert onward is not None
    second = anna.get(onward[1].replace("&amp;", "&"))
    assert second.status_code == 200
    assert "First page" in words_of(second)
    assert anna.get(path(SARAH, "/history?after=nonsense")).status_code == 400


def test_activity_says_who_did_what_in_words(anna: httpx.Client, kid: Kid, parental: Parental) -> None:
    child = kid("Words")
    policy_of(
        parental, child, "TikTok",
        time_windows=[{"startTime": "22:00", "endTime": "06:00", "days": ["FRI", "SAT"]}],
    )  # fmt: skip
    words = words_of(anna.get(f"{HOME}/activity"))
    assert "Rule created · Words: “TikTok” by Anna Miller" in words
    assert "22:00 to 06:00 the next day, Friday and Saturday" in words


def test_a_line_of_activity_names_the_app_or_the_policy_it_is_about(
    anna: httpx.Client, kid: Kid, parental: Parental
) -> None:
    child = kid("Lines")
    made = policy_of(parental, child, "TikTok", notes="Bedtime")
    parental.policies.pause(child, made.policy_id, ANNA)
    added = parental.overrides.add(child, "block", EVERYTHING, timedelta(hours=1), ANNA)
    parental.overrides.end(child, added.override_id, ANNA)
    words = words_of(anna.get(f"{HOME}/activity"))
    assert "Exception ended · Lines: Everything by" in words
    assert "Exception added: block · Lines: Everything by" in words
    assert "Rule paused · Lines: “Bedtime” by" in words


def test_what_an_exception_blocks_is_said_to_be_by_who_made_it(
    anna: httpx.Client, kid: Kid, parental: Parental
) -> None:
    child = kid("Why")
    on_the_network(parental, child, "10.20.99.8")
    anna.post(path(child, "/exceptions"), data={"kind": "block", "app": "TikTok", "minutes": "60"})
    assert "Because of an exception by Anna Miller." in words_of(anna.get(path(child, "/now")))


def test_the_reason_of_a_failure_has_a_row_of_its_own_in_the_history(
    anna: httpx.Client, kid: Kid, parental: Parental
) -> None:
    child = kid("Failing")
    policy_of(parental, child, "TikTok")
    on_the_network(parental, child, "10.20.99.9")
    device = parental.devices.simulated("ftd-device-001")
    assert device is not None
    device.fail_next(Unavailable("no answer in 5 s"))
    parental.reconciler.reconcile(child.child)
    page = anna.get(path(child, "/history")).text
    assert re.search(
        r'<tr class="why"><td colspan="5"><small>The firewall can&#39;t apply it at the moment<', page
    )


def test_a_gateways_login_is_offered_no_family(enter: Enter) -> None:
    gone = enter("gateway_east").get(HOME, follow_redirects=True)
    assert (gone.status_code, gone.url.path) == (403, HOME)
    assert "has no pages" in words_of(gone)
    assert "Create your family" not in words_of(gone)


# --- taken away, given up, erased ---


def test_everything_of_a_child_can_be_taken_away(anna: httpx.Client) -> None:
    export = anna.get(path(SARAH, "/export.json"))
    assert "attachment" in export.headers["Content-Disposition"]
    assert json.loads(export.text)["child"]["childName"] == "Sarah"
    sheet = anna.get(path(SARAH, "/metrics.csv"))
    assert sheet.text.startswith("date,appName,blockedCount")
    assert anna.get(path(SARAH, "/secrets.csv")).status_code == 404


def test_an_erasure_shows_its_plan_asks_for_the_name_and_leaves_nothing(
    anna: httpx.Client, parental: Parental, kid: Kid
) -> None:
    child = kid("Goner")
    policy_of(parental, child, "TikTok")
    on_the_network(parental, child, "10.20.99.2")
    parental.reconciler.reconcile(child.child)
    asked = anna.get(path(child, "/erase"))
    for part in ("The name Goner", "1 rule", "1 firewall rule", "within 35 days"):
        assert part in words_of(asked)
    wrong = send(anna, asked, path(child, "/erase"), name="Somebody")
    assert wrong.status_code == 422
    assert "Type Goner to confirm." in words_of(wrong)
    assert anna.get(path(child)).status_code == 200
    gone = send(anna, asked, path(child, "/erase"), name="goner")
    assert "Everything about Goner was erased." in words_of(gone)
    assert "Goner" not in words_of(anna.get(HOME)).replace("Everything about Goner was erased.", "")
    assert "Goner" not in anna.get(f"{HOME}/activity").text
    device = parental.devices.simulated("ftd-device-001")
    assert device is not None
    assert not [rule for rule in device.list() if "10.20.99.2" in repr(rule)]


def test_a_number_that_was_given_up_can_be_read_and_not_changed(
    anna: httpx.Client, parental: Parental, kid: Kid
) -> None:
    child = kid("Former")
    policy_of(parental, child, "TikTok", notes="Of before")
    asked = anna.get(path(child, "/release"))
    assert "They see nothing about Former." in words_of(asked)
    send(anna, asked, path(child, "/release"))
    page = anna.get(path(child))
    assert "number released" in words_of(page)
    assert [form.action for form in forms_of(page) if path(child) in form.action] == []
    assert "Of before" in words_of(anna.get(path(child, "/policies")))
    assert anna.get(path(child, "/policies/new")).status_code == 409
    assert "Former" in words_of(anna.get(HOME))


def test_another_number_takes_everything_along(anna: httpx.Client, parental: Parental, kid: Kid) -> None:
    child = kid("Mover")
    policy_of(parental, child, "TikTok", notes="Comes along")
    action = path(child, "/number")
    second = send(anna, anna.get(action), action, phoneNumber="+15554000002")
    code = code_to(parental, "+15554000002")
    moved = send(anna, second, action, do="change", code=code)
    assert "Mover's number is now +15554000002." in words_of(moved)
    parental.tasks.run_due()
    assert "Comes along" in words_of(anna.get(path("+15554000002", "/policies")))


def test_a_name_is_shown_and_never_run(anna: httpx.Client, parental: Parental, kid: Kid) -> None:
    child = kid(HOSTILE)
    policy_of(parental, child, "TikTok", notes=HOSTILE)
    for rest in ("", "/policies", "/settings", "/dashboard", "/history", "/erase"):
        page = anna.get(path(child, rest))
        assert page.status_code == 200
        assert HOSTILE not in page.text
    assert HOSTILE not in anna.get(HOME).text
    assert HOSTILE not in anna.get(f"{HOME}/activity").text


# --- apps, and the size of pages ---


def test_an_app_says_what_of_it_is_not_enforced_and_why(anna: httpx.Client) -> None:
    words = words_of(anna.get(f"{HOME}/apps/TikTok"))
    assert "104.16.0.0/12 Shared: the network of Cloudflare, which carries many sites." in words
    assert anna.get(f"{HOME}/apps/Unheard%20of").status_code == 404
    assert "TikTok" in words_of(anna.get(f"{HOME}/apps?find=musical.ly"))


@pytest.mark.parametrize(
    "rest",
    ["", "/policies", "/policies/new", "/dashboard?days=30", "/history", "/settings"],
)
def test_a_page_is_smaller_than_50_kb(anna: httpx.Client, rest: str) -> None:
    assert len(anna.get(path(TOM, rest)).content) < 50_000


def test_who_belongs_to_no_family_begins_one(enter: Enter) -> None:
    olga = enter(P_OLGA)  # anybody who is signed in may
    wrong = olga.post(f"{HOME}/families", data={"name": " ", "guardianName": "Olga"})
    assert wrong.status_code == 400
    assert "Enter a name of 1 to 80 characters." in words_of(wrong)
    made = olga.post(f"{HOME}/families", data={"name": "Petrova", "guardianName": "Olga"})
    assert "Petrova was created. Now add a child." in words_of(made)
    assert "No children yet" in words_of(olga.get(HOME))


def test_a_family_is_deleted_in_a_week_kept_and_deleted_now(enter: Enter, parental: Parental) -> None:
    rosa = enter("engineer_rosa")
    rosa.post(f"{HOME}/families", data={"name": "Lindqvist", "guardianName": "Rosa"})
    (family,) = parental.families.of(Actor("r", "parent", "engineer_rosa", None))
    one = f"{HOME}/families/{family.family_id}"
    assert enter(P_ANNA).get(f"{one}/close").status_code == 404
    asked = rosa.get(f"{one}/close")
    assert "What will be deleted" in words_of(asked)
    later = send(rosa, asked, f"{one}/close", do="week")
    assert "Lindqvist will be deleted on 23 November." in words_of(later)
    assert "Lindqvist will not be deleted." in words_of(send(rosa, later, f"{one}/keep"))
    wrong = send(rosa, asked, f"{one}/close", do="now", name="Somebody")
    assert wrong.status_code == 422
    assert "Type Lindqvist to delete it now." in words_of(wrong)
    gone = send(rosa, asked, f"{one}/close", do="now", name="lindqvist")
    assert "Lindqvist is being deleted" in words_of(gone)
    parental.tasks.run_due()
    assert rosa.get(f"{one}/settings").status_code == 404


def test_each_childs_times_are_its_own(enter: Enter, anna: httpx.Client) -> None:
    assert "13:0" in words_of(anna.get(path(SARAH)))
    chidi = words_of(enter(P_CHIDI).get(path(ADA)))
    assert "19:0" in chidi
    assert "Europe/Berlin (CET)" in chidi
    assert anna.get(path(THABO)).status_code == 404
