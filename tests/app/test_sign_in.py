"""Signing in without the demo, over HTTP: the pages, what they never show, and how long a login is worth something."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.app.browsing import Enter, another_network, browsers
from tests.app.portal_forms import words_of
from tests.cli.command import here

from tablewright import testing
from tablewright.app.accounts import ROLES
from tablewright.app.code_login import SignedIn
from tablewright.app.mail import Directory
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CAMPUS, PARENTAL, PORTAL, TRAVEL
from tablewright.cli import serve
from tablewright.edge import serving_app
from tablewright.kit.codes import CODES_A_WINDOW, TRIES
from tablewright.kit.tables import Actor as Staff
from tablewright.systems.travel import design as travel_design

ADA = "ada@example.com"
PASSWORD = "correct horse battery"
FAMILY = "/console/parental"
DOOR = f"{FAMILY}/sign-in"
_TICKET = re.compile(r'(?<=name="ticket" value=")[^"]*')


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def runtime(home: Path) -> Iterator[Runtime]:
    with open_app(
        home, systems=(PORTAL, PARENTAL, CAMPUS, TRAVEL), seed=False, durability="relaxed", jobs=False
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def url(runtime: Runtime) -> Iterator[str]:
    with serving_app(app_of(runtime, is_demo=False)) as served:
        yield served


@pytest.fixture(scope="module")
def enter(url: str) -> Iterator[Enter]:
    """One network for all who ask a little; who asks more than a network may has one of their own."""
    with entering(url) as entered:
        yield entered


@contextmanager
def entering(url: str) -> Iterator[Enter]:
    """Browsers of a network that asked for nothing yet."""
    with browsers(url, another_network()) as entered:
        yield entered


def code_to(runtime: Runtime, email: str) -> str:
    runtime.deliver()
    assert isinstance(runtime.mail.way, Directory)
    found = re.search(r"\d{6}", runtime.mail.way.letters(email)[0].subject)
    assert found is not None
    return found[0]


def signed_in(runtime: Runtime, client: httpx.Client, email: str, password: str = "") -> httpx.Response:
    client.post("/sign-in", data={"email": email})
    code = code_to(runtime, email)
    return client.post("/sign-in/code", data={"email": email, "code": code, "password": password})


def test_a_parent_signs_in_by_mail_and_makes_a_family(tmp_path: Path) -> None:
    store = tmp_path / "store"
    open_app(store, systems=(PARENTAL,), seed=False, durability="relaxed", jobs=False).close()
    assert here("people", "add", ADA, "--name", "Ada Lovelace", "--data", store).code == 0
    with (
        open_app(store, systems=(PARENTAL,), seed=False, durability="relaxed", jobs=False) as runtime,
        serving_app(app_of(runtime, is_demo=False)) as url,
        browsers(url) as enter,
    ):
        ada = enter()
        asked = ada.get(FAMILY)
        assert asked.url.path == DOOR
        assert f'name="next" value="{FAMILY}"' in asked.text
        sent = ada.post(DOOR, data={"email": "Ada@example.com", "next": FAMILY})
        assert "a code is on its way" in words_of(sent)
        typed = {"email": ADA, "code": code_to(runtime, ADA), "password": "", "next": FAMILY}
        landed = ada.post(f"{DOOR}/code", data=typed)
        assert (landed.status_code, landed.url.path) == (200, FAMILY)
        assert "Ada Lovelace" in words_of(landed)
        made = ada.post(f"{FAMILY}/families", data={"name": "Lovelace", "guardianName": "Ada"})
        assert "Lovelace was created. Now add a child." in words_of(made)
        assert "Lovelace" in words_of(ada.get(FAMILY))
        assert ada.post("/sign-out").status_code == 200
        assert ada.get(FAMILY).url.path == DOOR


def test_the_pages_say_the_same_about_every_address(runtime: Runtime, enter: Enter) -> None:
    runtime.accounts.add("known@example.com")
    client, answers = enter(), []
    for email in ("known@example.com", "other@example.com"):
        sent = client.post("/sign-in", data={"email": email})
        wrong = client.post("/sign-in/code", data={"email": email, "code": "12345x"})
        assert (sent.status_code, wrong.status_code) == (200, 422)
        # The ticket is of the address and the network, and made without a look at accounts.
        answers.append([_TICKET.sub("", page.text.replace(email, "")) for page in (sent, wrong)])
    assert answers[0] == answers[1]


def test_what_was_typed_is_not_shown_again_when_it_is_secret(runtime: Runtime, enter: Enter) -> None:
    client = enter()
    client.post("/sign-in", data={"email": ADA})
    secret = {"email": ADA, "code": "987654", "password": "my secret words"}
    again = client.post("/sign-in/code", data=secret)
    assert "That code is wrong or has expired." in words_of(again)
    assert f'value="{ADA}"' in again.text
    assert "987654" not in again.text
    assert "my secret words" not in again.text
    assert "set-cookie" not in again.headers


def test_what_is_no_address_is_said_beside_the_field(enter: Enter) -> None:
    answer = enter().post("/sign-in", data={"email": "ada", "next": "/docs"})
    assert answer.status_code == 422
    assert "That isn't a valid e-mail address." in words_of(answer)
    assert 'value="/docs"' in answer.text


def test_a_limit_is_told_with_when_to_come_back(url: str) -> None:
    with entering(url) as enter:
        ask, data = enter().post, {"email": "often@example.com"}
        refused = [ask("/sign-in", data=data) for _ in range(CODES_A_WINDOW + 1)][-1]
    assert refused.status_code == 429
    assert "which is the most. The next is sent in" in words_of(refused)
    assert 0 < int(refused.headers["retry-after"]) <= 3600


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        ("/sign-in", "/sign-in/code"),
        ("/console/travel/sign-in", "/console/travel/sign-in/code"),
        ("/console/portal/sign-in", "/console/portal/sign-in/code"),
        ("/console/parental/sign-in", "/console/parental/sign-in/code"),
        ("/console/campus/sign-in", "/console/campus/sign-in/code"),
    ],
)
def test_nobody_is_locked_out_by_what_another_network_asks_and_types(
    runtime: Runtime, url: str, ask: str, answer: str
) -> None:
    email = f"victim@{ask.strip('/').replace('/', '-')}.example"  # two of the doors lead to the same accounts
    portal = next(each for each in runtime.running if each.system.name == "portal").service
    if "portal" in ask:
        portal.tenants.create(email, None, None, Staff("admin@example.com", "admin"))
    elif "travel" not in ask:
        runtime.accounts.add(email)
    there, home = another_network(), another_network()
    with _from(url, there) as stranger, _from(url, home) as owner:
        held = _asked(runtime, owner, ask, email)
        for _ in range(CODES_A_WINDOW):
            assert stranger.post(ask, data={"email": email}).status_code == 200
        for _ in range(TRIES):
            stranger.post(answer, data={"email": email, "code": "12345x"})
        assert stranger.post(ask, data={"email": email}).status_code == 429
        entered = owner.post(answer, data={"email": email, "code": held})
        assert (entered.status_code, bool(entered.history)) == (200, True), words_of(entered)
        # The same browser is known from now on, also where the stranger is.
        assert any(cookie.name.endswith("-known") for cookie in owner.cookies.jar)
        with _from(url, there) as moved:
            moved.cookies = owner.cookies
            again = _asked(runtime, moved, ask, email)
            entered = moved.post(answer, data={"email": email, "code": again})
            assert (entered.status_code, bool(entered.history)) == (200, True), words_of(entered)


def _from(url: str, address: str) -> httpx.Client:
    """Somebody of another network."""
    transport = httpx.HTTPTransport(local_address=address)
    headers = {"Accept": "text/html"}
    return httpx.Client(base_url=url, transport=transport, headers=headers, follow_redirects=True, timeout=60)


def _asked(runtime: Runtime, client: httpx.Client, ask: str, email: str) -> str:
    """Ask for a code, and read it in the mail."""
    assert isinstance(runtime.mail.way, Directory)
    runtime.deliver()
    before = len(runtime.mail.way.letters(email))
    assert client.post(ask, data={"email": email}).status_code == 200
    runtime.deliver()
    letters = runtime.mail.way.letters(email)
    assert len(letters) == before + 1
    found = re.search(r"\d{6,12}", letters[0].subject)
    assert found is not None
    return found[0]


def test_one_network_cannot_ask_for_ever(url: str) -> None:
    with entering(url) as enter:
        ask = enter().post
        statuses = [ask("/sign-in", data={"email": f"n{n}@example.com"}).status_code for n in range(40)]
    assert statuses[:30] == [200] * 30
    assert statuses[-1] == 429


def test_where_to_go_afterwards_is_a_path_of_ours(runtime: Runtime, enter: Enter) -> None:
    runtime.accounts.add("next@example.com")
    for wanted, lands in (
        ("//evil.example/x", "/"),
        ("https://evil.example", "/"),
        ("/sign-in", "/"),
        ("/docs", "/docs"),
    ):
        client = enter(follow=False)
        client.post("/sign-in", data={"email": "next@example.com", "next": wanted})
        typed = {"email": "next@example.com", "code": code_to(runtime, "next@example.com"), "next": wanted}
        answer = client.post("/sign-in/code", data=typed)
        assert (answer.status_code, answer.headers["location"]) == (303, lands)
        assert "httponly" in answer.headers["set-cookie"].lower()


def test_another_sites_form_signs_nobody_in(enter: Enter) -> None:
    headers = {"Origin": "https://evil.example"}
    for path in ("/sign-in", "/sign-in/code", "/sign-out"):
        assert enter().post(path, data={"email": ADA, "code": "1"}, headers=headers).status_code == 403


def test_pages_that_ask_for_two_factors_let_in_who_used_two(runtime: Runtime, enter: Enter) -> None:
    runtime.accounts.add("boss@example.com", "Boss", ["portal.admin"])
    one, page = enter(), "/console/portal/campaigns/new-campaign"
    assert signed_in(runtime, one, "boss@example.com").status_code == 200
    assert one.get(page).status_code == 403
    runtime.accounts.set_password("boss@example.com", PASSWORD)
    assert one.get("/console/portal/tenants").url.path == "/console/portal/sign-in", (
        "a new password ends old logins"
    )
    two = enter()
    assert signed_in(runtime, two, "boss@example.com", "not this one at all").status_code == 422
    assert signed_in(runtime, two, "boss@example.com", PASSWORD).status_code == 200
    assert two.get(page).status_code == 200


def test_a_role_that_is_taken_and_an_account_that_is_closed_are_so_at_once(
    runtime: Runtime, enter: Enter
) -> None:
    email = "olga@example.com"
    runtime.accounts.add(email, roles=["parental.operator"])
    olga, page = enter(), "/console/parental/devices"
    signed_in(runtime, olga, email)
    assert (olga.get(page).status_code, olga.get(page).url.path) == (200, page)
    runtime.accounts.change(email, roles=[])
    assert olga.get(page).status_code == 403
    runtime.accounts.change(email, roles=["parental.operator", "engineer"])
    assert olga.get(page).status_code == 200
    assert "needs the role engineer" in words_of(olga.get("/console/designs")), (
        "what was not in the login comes with the next one"
    )
    account = runtime.accounts.close(email)
    assert olga.get(page).url.path == DOOR
    bearer = {"Authorization": f"Bearer {runtime.login_of(SignedIn(account, ('otp',)))}"}
    answer = olga.get("/parental/v1/families", headers={**bearer, "Accept": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (401, "LOGIN_ENDED")


def test_only_with_open_sign_up_does_a_mailbox_make_an_account_and_never_one_with_roles(
    runtime: Runtime,
    url: str,
) -> None:
    email = "new@example.com"
    with entering(url) as enter:
        enter().post("/sign-in", data={"email": email})
        runtime.deliver()
        assert isinstance(runtime.mail.way, Directory)
        assert runtime.mail.way.letters(email) == []
    with (
        serving_app(app_of(runtime, is_demo=False, open_sign_up=True)) as open_to_all,
        browsers(open_to_all) as enter,
    ):
        client = enter()
        assert "this also creates your account" in words_of(client.get("/sign-in"))
        assert "You are signed in." in words_of(signed_in(runtime, client, email))
        made = runtime.accounts.with_address(email)
        assert made is not None
        assert made.roles == []
        assert client.get("/console/designs").status_code == 403
        for path in (
            "/",
            "/console/portal",
            "/console/parental",
            "/console/campus",
            "/console/travel",
            "/docs",
            "/search?q=ada",
        ):
            assert client.get(path).status_code in (200, 404), path


def test_an_engineer_needs_two_factors(runtime: Runtime, enter: Enter) -> None:
    email, page = "rosa@example.com", "/console/designs/items"
    runtime.accounts.add(email, roles=["engineer"])
    rosa = enter()
    signed_in(runtime, rosa, email)
    assert (rosa.get(page).status_code, "second factor" in words_of(rosa.get(page))) == (403, True)
    runtime.accounts.set_password(email, PASSWORD)
    signed_in(runtime, rosa, email, PASSWORD)
    assert rosa.get(page).status_code == 200


def test_the_portals_admins_see_its_mail_without_the_codes(runtime: Runtime, url: str) -> None:
    portal = next(each for each in runtime.running if each.system.name == "portal").service
    secrets = {"code": "479048", "link": "http://x/verify?address=a@b.example&secret=0f0f0f0f"}
    portal.repository.db.write(
        portal.repository.outbox.mail("a@b.example", "code", {"warning": ""}, secrets=secrets)
    )
    account = runtime.accounts.add("admin@example.com", roles=["portal.admin"])
    token = runtime.login_of(SignedIn(account, ("pwd", "otp", "mfa")))
    with entering(url) as enter:
        admin = enter()
        admin.headers["Authorization"] = f"Bearer {token}"
        listed = admin.get("/console/portal/outbox")
        found = re.search(r"/console/portal/outbox/msg_[\w-]+", listed.text)
        assert found is not None
        for page in (listed, admin.get(found[0])):
            assert page.status_code == 200
            assert "a@b.example" in page.text
            assert "479048" not in page.text
            assert "0f0f" not in page.text


def test_a_login_that_a_system_gave_is_good_for_that_system_alone(runtime: Runtime, enter: Enter) -> None:
    email, travel = "nia@example.com", "/console/travel"
    runtime.accounts.add(email, roles=["parental.operator"])
    runtime.accounts.close(email)
    nia = enter()
    nia.post(f"{travel}/sign-in", data={"email": email})
    entered = nia.post(f"{travel}/sign-in/code", data={"email": email, "code": code_to(runtime, email)})
    assert (entered.status_code, entered.url.path) == (200, travel)
    for page in (FAMILY, "/console/parental/devices"):
        assert nia.get(page).url.path == DOOR, page
    assert nia.get("/console/designs").status_code == 403
    made = nia.post(f"{FAMILY}/families", data={"name": "Nia", "guardianName": "Nia"})
    assert (made.status_code, "another part of this server" in words_of(made)) == (401, True)
    token = next(iter(nia.cookies.values()))
    bearer = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    answer = enter().post("/parental/v1/families", json={}, headers=bearer)
    assert (answer.status_code, answer.json()["code"]) == (401, "LOGIN_ELSEWHERE")
    assert nia.get(f"{travel}/timeline").status_code == 200


def test_who_signs_out_is_signed_out_wherever_the_token_is(runtime: Runtime, enter: Enter) -> None:
    runtime.accounts.add("out@example.com")
    out = enter()
    signed_in(runtime, out, "out@example.com")
    skratch = enter()
    skratch.post("/console/travel/sign-in", data={"email": "out@example.com"})
    code = code_to(runtime, "out@example.com")
    skratch.post("/console/travel/sign-in/code", data={"email": "out@example.com", "code": code})
    for client, page in ((out, FAMILY), (skratch, "/console/travel/timeline")):
        assert client.get(page).url.path == page
        thief = enter()
        thief.cookies.update(client.cookies)
        client.post("/sign-out")
        assert thief.get(page).url.path.endswith("/sign-in")
        token = next(value for name, value in thief.cookies.items() if name.startswith("tablewright-8"))
        bearer = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        answer = enter().get("/travel/v1/me", headers=bearer)
        assert (answer.status_code, answer.json()["code"]) == (401, "LOGIN_ENDED")
    travel = next(each for each in runtime.running if each.system.name == "travel").service
    user = travel.accounts.owner_of_email("out@example.com")
    sessions = list(travel.repository.db.all(travel_design.sessions_of(user_id=user)))
    assert [session.ended_at is not None for session in sessions] == [True]


def test_one_ends_ones_own_logins_everywhere(runtime: Runtime, url: str) -> None:
    email = "everywhere@example.com"
    runtime.accounts.add(email)
    with entering(url) as enter:
        here, there = enter(), enter()
        for client in (here, there):
            signed_in(runtime, client, email)
        assert "Sign out everywhere" in words_of(here.get("/"))
        assert "signed out everywhere" in words_of(here.post("/sign-out", data={"where": "everywhere"}))
        assert there.get(FAMILY).url.path == DOOR
        assert signed_in(runtime, here, email).status_code == 200
        runtime.accounts.erase(email)
        assert here.get(FAMILY).url.path == DOOR


@pytest.mark.parametrize("page", ["/sign-in", "/console/travel/sign-in"])
@pytest.mark.parametrize("given", ["//[", "/\\["])
def test_what_is_no_path_is_no_fault_of_ours(enter: Enter, page: str, given: str) -> None:
    answer = enter().get(page, params={"next": given})
    assert (answer.status_code, given in answer.text) == (200, False)


def test_in_the_demo_there_are_no_accounts_to_sign_in_to(runtime: Runtime) -> None:
    with serving_app(app_of(runtime)) as url:
        answer = httpx.post(f"{url}/sign-in/code", data={"email": ADA, "code": "123456"})
        assert answer.status_code in (404, 405)
        assert httpx.post(f"{url}/sign-in", data={"email": ADA}).status_code == 422


def test_every_role_of_the_demos_people_can_be_given_but_for_a_customers(clock: testing.Clock) -> None:
    with open_app(memory=True, world=clock.world(), jobs=False, seed=False) as runtime:
        roles = {role for person in runtime.people for role in person.qualified_roles}
    assert roles - set(ROLES) <= {"portal.tenant"}


@pytest.mark.parametrize("is_https", [True, False])
def test_where_browsers_come_over_https_a_login_is_sent_over_nothing_else(
    runtime: Runtime, is_https: bool
) -> None:
    email = f"secure-{is_https}@example.com"
    runtime.accounts.add(email)
    with serving_app(app_of(runtime, is_demo=False, is_https=is_https)) as url:
        for door in ("/sign-in", "/console/campus/sign-in", "/console/travel/sign-in"):
            httpx.post(f"{url}{door}", data={"email": email})
            typed = {"email": email, "code": code_to(runtime, email)}
            cookies = httpx.post(f"{url}{door}/code", data=typed).headers.get_list("set-cookie")
            login = next(cookie.lower() for cookie in cookies if cookie.startswith("tablewright-8"))
            assert ("; secure" in login) == is_https
            assert "; httponly" in login


@pytest.mark.parametrize(
    ("words", "secure"),
    [
        ((), False),
        (("--https",), True),
        (("--url", "https://app.example.com"), True),
        (("--url", "HTTPS://app.example.com"), True),
        (("--url", "http://app.example.com"), False),
    ],
)
def test_https_is_said_by_itself_or_by_the_address(words: tuple[str, ...], secure: bool) -> None:
    parser = ArgumentParser()
    serve.arguments(parser)
    assert serve.is_https(parser.parse_args(words)) == secure


def test_who_listens_to_others_without_https_is_warned(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_socket(host: str, port: int) -> None:
        raise OSError("no socket in this test")

    monkeypatch.setattr("tablewright.cli.serve.listening", no_socket)
    beyond = ("serve", "--no-demo-sign-in", "--host", "0.0.0.0", "--data", tmp_path / "none")
    assert "without HTTPS" in here(*beyond).err
    assert "without HTTPS" not in here(*beyond, "--url", "https://app.example.com").err


def test_open_sign_up_is_for_a_server_without_the_demo(tmp_path: Path) -> None:
    ran = here("serve", "--open-sign-up", "--data", tmp_path / "none")
    assert (ran.code, "--no-demo-sign-in" in ran.err) == (2, True)
    assert not (tmp_path / "none").exists()
