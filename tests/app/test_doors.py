"""Each system's own sign-in page: who is sent there, who comes in, and where they land afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from tests.app.browsing import Enter, another_network, browsers, ticking
from tests.app.portal_forms import forms_of, send, words_of
from tests.app.small import SMALL

from tablewright import testing
from tablewright.app.mail import Directory
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.edge import serving_app
from tablewright.kit.codes import CODES_A_WINDOW
from tablewright.pages.paths import path_within
from tablewright.systems.campus.files.file_lists import Wanted
from tablewright.systems.campus.seed import LIN
from tablewright.systems.campus.sharing.addressees import RecipientName
from tablewright.systems.campus.sharing.shares import Terms
from tablewright.systems.campus.sharing.targets import target_of
from tablewright.systems.chat.seed import ADA
from tablewright.systems.parental.seed import ANNA, BEN
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.seed import STARTER
from tablewright.systems.travel.seed import MAYA

NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
PORTAL, PARENTAL, TRAVEL, CAMPUS, CHAT = (
    "/console/portal", "/console/parental", "/console/travel", "/console/campus", "/console/chat",
)  # fmt: skip
DOORS = {
    PORTAL: ("Sign in to the Customer portal", "/account"),
    PARENTAL: ("Sign in to Parental controls", "/notices"),
    TRAVEL: ("Sign in to Skratch", "/timeline?year=2024"),
    CAMPUS: ("Sign in to Campus Cloud", "/files?sort=name"),
    CHAT: ("Sign in to Zoo chat", "/children"),
}
BUYER = "buyer@returns.example"


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    with open_app(memory=True, systems=SMALL, world=ticking(testing.Clock(NOW)), jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def urls(runtime: Runtime) -> Iterator[dict[bool, str]]:
    """The app with the demo and without."""
    with (
        serving_app(app_of(runtime)) as demo,
        serving_app(app_of(runtime, is_demo=False)) as accounts,
    ):
        yield {True: demo, False: accounts}


@contextmanager
def entering(url: str) -> Iterator[Enter]:
    """Browsers of a network that asked for nothing yet."""
    with browsers(url, another_network()) as entered:
        yield entered


@pytest.fixture(scope="module", params=[True, False], ids=["demo", "accounts"])
def enter(request: pytest.FixtureRequest, urls: dict[bool, str]) -> Iterator[Enter]:
    with entering(urls[request.param]) as entered:
        yield entered


@pytest.fixture(scope="module")
def demo(urls: dict[bool, str]) -> Iterator[Enter]:
    with browsers(urls[True]) as entered:
        yield entered


def service(runtime: Runtime, name: str) -> Any:
    return next(each.service for each in runtime.running if each.system.name == name)


def letter_to(runtime: Runtime, email: str) -> str:
    runtime.deliver()
    assert isinstance(runtime.mail.way, Directory)
    letter = runtime.mail.way.letters(email)[0]
    return f"{letter.subject}\n{letter.body}"


def code_to(runtime: Runtime, email: str) -> str:
    found = re.search(r"\b\d{6}\b", letter_to(runtime, email))
    assert found is not None
    return found[0]


def order_of(runtime: Runtime, email: str) -> Any:
    return service(runtime, "portal").checkout.place(email, [Line(STARTER)], payment_token="tok_demo")


def signed_in(runtime: Runtime, client: httpx.Client, asked: httpx.Response, email: str) -> httpx.Response:
    """Through the door that `asked` is, with the code that is sent."""
    door = asked.url.path
    sent = send(client, asked, door, email=email)
    assert "Enter your code" in words_of(sent)
    return send(client, sent, f"{door}/code", code=code_to(runtime, email))


# --- the way there ---


@pytest.mark.parametrize("home", DOORS)
def test_a_page_that_needs_signing_in_leads_to_the_door_of_its_system(enter: Enter, home: str) -> None:
    title, page = DOORS[home]
    door = enter().get(home + page)
    assert (door.status_code, door.url.path) == (200, f"{home}/sign-in")
    assert f'name="next" value="{home}{page}"' in door.text
    assert f"<h1>{title}</h1>" in door.text


@pytest.mark.parametrize("home", DOORS)
def test_a_form_that_is_sent_without_a_login_leads_to_the_door_of_its_system(enter: Enter, home: str) -> None:
    forms = {
        PORTAL: "/account", PARENTAL: "/children/new", TRAVEL: "/settings", CAMPUS: "/profile", CHAT: "/new-family",
    }  # fmt: skip
    refused = enter().post(home + forms[home], data={"any": "thing"})
    assert refused.status_code == 401
    assert f'href="{home}/sign-in"' in refused.text
    assert 'href="/sign-in"' not in refused.text


@pytest.mark.parametrize("home", DOORS)
def test_a_header_that_is_no_login_is_refused_at_the_door_and_leads_nowhere_else(
    enter: Enter, home: str
) -> None:
    client = enter()
    client.headers["Authorization"] = "Bearer nonsense"
    refused = client.get(home + DOORS[home][1])
    assert (refused.status_code, refused.url.path) == (401, f"{home}/sign-in")


@pytest.mark.parametrize("home", [PORTAL, TRAVEL])
def test_the_door_shows_staff_the_way_to_theirs(urls: dict[bool, str], home: str) -> None:
    with entering(urls[False]) as enter:
        door = enter().get(f"{home}/sign-in", params={"next": home})
        assert f'href="{home}/staff/sign-in?next={quote(home)}">Staff sign-in</a>' in door.text


def test_sign_in_on_a_page_of_a_system_leads_to_its_door_and_back(enter: Enter) -> None:
    page = enter().get(f"{PORTAL}/checkout", params={"product": STARTER})
    back = quote(f"{PORTAL}/checkout?product={STARTER}", safe="")
    assert f'href="{PORTAL}/sign-in?next={back}"' in page.text
    assert 'href="/sign-in"' in enter().get("/").text


def test_a_door_knows_no_way_back_to_itself(enter: Enter) -> None:
    assert f'href="{PORTAL}/sign-in" data-sign-in' in enter().get(f"{PORTAL}/sign-in").text


def test_the_staffs_page_shows_the_doors_of_the_systems(enter: Enter) -> None:
    page = enter().get("/sign-in")
    for home in DOORS:
        assert f'href="{home}/sign-in"' in page.text


@pytest.mark.parametrize(
    ("person", "home", "page"),
    [
        ("admin_thandi", PORTAL, "/tenants"),
        (ANNA.subject, PARENTAL, ""),
        (MAYA, TRAVEL, "/timeline"),
        (LIN, CAMPUS, "/courses"),
        (ADA, CHAT, "/children"),
    ],
)
def test_who_signs_out_is_at_the_door_of_the_system_they_were_in(
    demo: Enter, person: str, home: str, page: str
) -> None:
    client = demo(person)
    out = send(client, client.get(home + page), "/sign-out")
    assert out.url.path == f"{home}/sign-in"
    assert "You are signed out." in words_of(out)


def test_a_login_for_another_system_is_told_so_at_the_door(enter: Enter, runtime: Runtime) -> None:
    client = enter()
    signed_in(runtime, client, client.get(f"{TRAVEL}/sign-in"), "two-systems@example.com")
    door = client.get(f"{PORTAL}/account")
    assert door.url.path == f"{PORTAL}/sign-in"
    assert "You are signed in to another part of this server." in words_of(door)


@pytest.mark.parametrize("home", ["", *DOORS])
def test_after_a_refused_request_the_largest_words_are_that_no_code_was_sent(
    urls: dict[bool, str], home: str
) -> None:
    with entering(urls[False]) as enter:
        client, data = enter(), {"email": f"often@{home[9:] or 'staff'}.example"}
        sent = [client.post(f"{home}/sign-in", data=data) for _ in range(CODES_A_WINDOW)]
        assert all(re.search("on (its|their) way", words_of(page)) for page in sent)
        refused = client.post(f"{home}/sign-in", data=data)
        assert (refused.status_code, "<h1>No new code was sent</h1>" in refused.text) == (429, True)
        assert 'name="code"' in refused.text, "an earlier code still works"
        wrong = client.post(f"{home}/sign-in/code", data={**data, "code": "12345x"})
        for page in (refused, wrong):
            assert re.search("on (its|their) way", words_of(page)) is None


# --- where to afterwards ---


@pytest.mark.parametrize(
    "given",
    [
        "//evil.example", "https://evil.example/console/portal", "/\\evil.example", "/docs", "/console/travel",
        "/console/portals", "/console/portal/../travel", "/console/portal/%2E%2e/travel", "/console/portal\\..\\x",
        "/console/portal/sign-in", "/console/portal/sign-in/code", "/console/portal/x\n", "javascript:alert(1)", "",
    ],
)  # fmt: skip
def test_a_door_leads_on_to_pages_of_its_own_system_alone(enter: Enter, given: str) -> None:
    assert path_within(PORTAL, f"{PORTAL}/sign-in", given) == ""
    door = enter().get(f"{PORTAL}/sign-in", params={"next": given})
    (form,) = [form for form in forms_of(door) if form.action == f"{PORTAL}/sign-in"]
    assert form.values["next"] == ""


@pytest.mark.parametrize("given", [PORTAL, f"{PORTAL}/orders/ord_1", f"{PORTAL}?a=/../b"])
def test_a_page_of_the_system_is_one_to_go_on_to(given: str) -> None:
    assert path_within(PORTAL, f"{PORTAL}/sign-in", given) == given


# --- a customer ---


def test_a_customer_comes_from_the_link_of_an_order_to_the_door_and_back_to_the_order(
    enter: Enter, runtime: Runtime
) -> None:
    order, client = order_of(runtime, BUYER), enter()
    page = f"{PORTAL}/orders/{order.order_id}"
    landed = signed_in(runtime, client, client.get(page), BUYER)
    assert (landed.status_code, landed.url.path) == (200, page)
    assert order.order_number in landed.text


def test_the_link_in_the_mail_leads_to_the_order_as_the_code_does(enter: Enter, runtime: Runtime) -> None:
    email = "by-link@returns.example"
    order, client = order_of(runtime, email), enter()
    page = f"{PORTAL}/orders/{order.order_id}"
    send(client, client.get(page), f"{PORTAL}/sign-in", email=email)
    link = re.search(rf"{PORTAL}/verify\S+", letter_to(runtime, email))
    assert link is not None
    landed = send(client, client.get(link[0]), f"{PORTAL}/verify")
    assert (landed.status_code, landed.url.path) == (200, page)


def test_a_link_that_has_expired_offers_a_new_code(enter: Enter, runtime: Runtime) -> None:
    order_of(runtime, "late@returns.example")
    client = enter()
    opened = client.get(f"{PORTAL}/verify", params={"address": "late@returns.example", "secret": "0" * 32})
    refused = send(client, opened, f"{PORTAL}/verify")
    assert refused.status_code == 422
    assert f'formaction="{PORTAL}/sign-in">Send me a new code' in refused.text
    assert "Enter your code" in words_of(
        client.post(f"{PORTAL}/sign-in", data={"email": "late@returns.example"})
    )


def test_who_did_not_register_yet_is_asked_to_before_the_account_opens(
    enter: Enter, runtime: Runtime
) -> None:
    email = "new@returns.example"
    order_of(runtime, email)
    client = enter()
    landed = signed_in(runtime, client, client.get(f"{PORTAL}/account"), email)
    assert landed.url.path == f"{PORTAL}/register"


def test_the_door_says_the_same_to_customers_and_strangers(enter: Enter, runtime: Runtime) -> None:
    order_of(runtime, "known@returns.example")
    answers = []
    for email in ("known@returns.example", "never@returns.example"):
        client = enter()
        sent = client.post(f"{PORTAL}/sign-in", data={"email": email})
        wrong = client.post(f"{PORTAL}/sign-in/code", data={"email": email, "code": "12345x"})
        assert (sent.status_code, wrong.status_code) == (200, 422)
        # The ticket is of the address and the network alone.
        pages = [re.sub(r'name="ticket" value="[^"]+"', "", page.text) for page in (sent, wrong)]
        answers.append([page.replace(quote(email), "").replace(email, "") for page in pages])
    assert answers[0] == answers[1]


# --- a parent ---


@pytest.mark.parametrize("is_demo", [True, False])
def test_an_invited_address_signs_in_at_the_parents_door_and_accepts(
    runtime: Runtime, urls: dict[bool, str], is_demo: bool
) -> None:
    email = f"aunt-{is_demo}@example.com"
    parental = service(runtime, "parental")
    (family,) = parental.families.of(ANNA)
    parental.guardians.invite(family.family_id, email, ANNA)
    link = re.search(rf"{PARENTAL}/invitations/\S+", letter_to(runtime, email))
    assert link is not None
    with entering(urls[is_demo]) as enter:
        aunt = enter()
        door = aunt.get(link[0])
        assert door.url.path == f"{PARENTAL}/sign-in"
        offered = signed_in(runtime, aunt, door, email)
        assert offered.url.path == link[0]
        assert f"Join {family.name}?" in words_of(offered)
        joined = send(aunt, offered, f"{link[0]}/accept", guardianName="Aunt Ida")
        assert f"Welcome to {family.name}." in words_of(joined)
        send(aunt, joined, "/sign-out")
        again = signed_in(runtime, aunt, aunt.get(PARENTAL), email)
        assert family.name in words_of(again), "the invitation is used up; the account stays"


def test_an_invitation_opened_with_another_address_offers_to_sign_in_with_the_right_one(
    demo: Enter, runtime: Runtime
) -> None:
    email, parental = "uncle@example.com", service(runtime, "parental")
    (family,) = parental.families.of(ANNA)
    parental.guardians.invite(family.family_id, email, ANNA)
    link = re.search(rf"{PARENTAL}/invitations/\S+", letter_to(runtime, email))
    assert link is not None
    client = demo(BEN.subject)
    wrong = client.get(link[0])
    assert wrong.status_code == 404
    assert f"No invitation for {BEN.name}" in words_of(wrong)
    (form,) = [form for form in forms_of(wrong) if form.action == "/sign-out" and "next" in form.values]
    door = client.post("/sign-out", data=form.values)
    assert door.url.path == f"{PARENTAL}/sign-in"
    offered = signed_in(runtime, client, door, email)
    assert offered.url.path == link[0]
    assert f"Join {family.name}?" in words_of(offered)


@pytest.mark.parametrize(
    "next", ["//evil.example", "https://evil.example", "/\\evil.example", "/console/travel"]
)
def test_signing_out_leads_to_no_address_of_others(demo: Enter, next: str) -> None:
    client = demo(ANNA.subject)
    door = client.post("/sign-out", data={"from": PARENTAL, "next": next})
    assert door.url.path == f"{PARENTAL}/sign-in"
    (form,) = [form for form in forms_of(door) if form.action == door.url.path]
    assert form.values["next"] == ""


def test_who_was_not_invited_gets_no_account_at_the_parents_door(
    runtime: Runtime, urls: dict[bool, str]
) -> None:
    email = "stranger@example.com"
    with entering(urls[False]) as enter:
        sent = enter().post(f"{PARENTAL}/sign-in", data={"email": email})
        assert "a code is on its way" in words_of(sent)
    runtime.deliver()
    assert isinstance(runtime.mail.way, Directory)
    assert runtime.mail.way.letters(email) == []


def test_the_address_of_a_demo_user_is_that_user_at_their_door(demo: Enter, runtime: Runtime) -> None:
    anna = demo()
    assert ANNA.email is not None
    landed = signed_in(runtime, anna, anna.get(PARENTAL), ANNA.email)
    (family,) = service(runtime, "parental").families.of(ANNA)
    assert family.name in words_of(landed)


# --- a student ---


@pytest.mark.parametrize("is_demo", [True, False])
def test_an_address_that_a_file_was_shared_with_signs_in_and_has_it(
    runtime: Runtime, urls: dict[bool, str], is_demo: bool
) -> None:
    email, campus = f"friend-{is_demo}@elsewhere.example", service(runtime, "campus")
    lin = campus.users.by_id(LIN)
    file = campus.listing.page(lin, Wanted(text="timetable")).items[0]
    to = campus.addressees.find(lin, [RecipientName(email=email)])
    campus.shares.share(lin, target_of(file), to, Terms())
    assert "timetable.txt" in letter_to(runtime, email)
    with entering(urls[is_demo]) as enter:
        friend = enter()
        landed = signed_in(runtime, friend, friend.get(f"{CAMPUS}/shared"), email)
        assert (landed.status_code, landed.url.path) == (200, f"{CAMPUS}/shared")
        assert "timetable.txt" in words_of(landed)


def test_someone_on_a_roster_signs_in_and_is_in_the_course(enter: Enter, runtime: Runtime) -> None:
    client = enter()
    landed = signed_in(runtime, client, client.get(f"{CAMPUS}/courses"), "grace@campus.example")
    assert "Introduction to Computer Science" in words_of(landed)


def test_a_stranger_gets_no_account_at_the_campus(runtime: Runtime, urls: dict[bool, str]) -> None:
    email = "stranger@elsewhere.example"
    with entering(urls[False]) as enter:
        sent = enter().post(f"{CAMPUS}/sign-in", data={"email": email})
        assert "a code is on its way" in words_of(sent)
    runtime.deliver()
    assert isinstance(runtime.mail.way, Directory)
    assert runtime.mail.way.letters(email) == []


# --- the demo ---


def form_of_people(door: httpx.Response) -> str:
    """The part of a sign-in page with the demo's people; the bar above has them too."""
    return door.text.partition('id="demo-people"')[2]


@pytest.mark.parametrize("home", DOORS)
def test_in_the_demo_a_door_offers_the_people_of_its_own_system(
    demo: Enter, runtime: Runtime, home: str
) -> None:
    system = home.rpartition("/")[2]
    door = demo().get(f"{home}/sign-in", params={"next": home})
    form = [form for form in forms_of(door) if form.action == "/sign-in"][-1]
    offered = set(re.findall(r'name="person" value="([^"]+)"', form_of_people(door)))
    own = {person.subject for person in runtime.people if person.system == system}
    assert offered == own - {"gateway_east"}, "a gateway has no pages here"
    assert form.values["next"] == home
    assert "Sign in as a demo user" in words_of(door)


@pytest.mark.parametrize("home", DOORS)
def test_a_door_offers_the_users_of_its_system_before_its_staff(
    demo: Enter, runtime: Runtime, home: str
) -> None:
    offered = re.findall(r'name="person" value="([^"]+)"', form_of_people(demo().get(f"{home}/sign-in")))
    staff = {person.subject for person in runtime.people if set(person.roles) - {"tenant", "student"}}
    assert [subject in staff for subject in offered] == sorted(subject in staff for subject in offered)


def test_a_search_without_a_result_names_what_its_reader_may_find(demo: Enter) -> None:
    parent = words_of(demo(ANNA.subject).get(f"{PARENTAL}/search", params={"q": "zebra"}))
    assert "a child, an app" in parent
    assert "access pattern" not in parent
    assert "an access pattern" in words_of(demo("engineer_rosa").get("/search", params={"q": "zebra"}))


@pytest.mark.parametrize("home", DOORS)
def test_without_the_demo_a_door_offers_no_people(urls: dict[bool, str], home: str) -> None:
    with entering(urls[False]) as enter:
        assert 'name="person"' not in enter().get(f"{home}/sign-in").text


@pytest.mark.parametrize("home", DOORS)
def test_the_code_page_says_where_the_mail_of_a_demo_is(demo: Enter, home: str) -> None:
    client = demo()
    sent = client.post(f"{home}/sign-in", data={"email": "reader@example.com"})
    assert "This is a demo, so no mail is sent. Read it under “Demo mail”" in words_of(sent)
    assert 'href="/console/designs/mail" target="_blank">Demo mail</a>' in sent.text
    assert client.get("/console/designs/mail", params={"to": "reader@example.com"}).status_code == 200


@pytest.mark.parametrize("door", ["/sign-in", *(f"{home}/sign-in" for home in DOORS)])
def test_a_server_that_keeps_its_mail_says_so_and_shows_nobody_the_way_to_it(
    urls: dict[bool, str], door: str
) -> None:
    with entering(urls[False]) as enter:
        sent = enter().post(door, data={"email": "reader@example.com"})
        assert "This server keeps its mail instead of sending it." in words_of(sent)
        assert "/console/designs/mail" not in sent.text
