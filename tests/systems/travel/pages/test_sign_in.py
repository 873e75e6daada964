"""The way into a map and out of it: a code by mail over real HTTP, and what signing a device out ends."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from tests.app.browsing import browsers, ticking

from tablewright import testing
from tablewright.app.mail import Directory
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import TRAVEL
from tablewright.edge import Issuer, serving_app
from tablewright.systems.travel.account.apple import NONCE_LIVES, DevelopmentApple

HOME = "/console/travel"
SIGN_IN = f"{HOME}/sign-in"
NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    with open_app(
        memory=True, systems=(TRAVEL,), world=ticking(testing.Clock(NOW)), jobs=False, seed=False
    ) as opened:
        yield opened


@pytest.fixture
def url(runtime: Runtime) -> Iterator[str]:
    with serving_app(app_of(runtime, is_demo=False)) as served:
        yield served


@contextmanager
def browser(url: str) -> Iterator[httpx.Client]:
    with browsers(url) as enter:
        yield enter(follow=False)


def code_for(runtime: Runtime, email: str) -> str:
    """The code in the newest letter."""
    runtime.deliver()
    assert isinstance(runtime.mail.way, Directory)
    letter = runtime.mail.way.letters(email)[0]
    found = re.search(r"code: (\d{6})", letter.subject)
    assert found is not None
    return found[1]


def signed_in(client: httpx.Client, runtime: Runtime, email: str, to: str = "") -> httpx.Response:
    asked = client.post(SIGN_IN, data={"email": email, "next": to})
    assert asked.status_code == 200
    assert "Enter your code" in asked.text
    return client.post(f"{SIGN_IN}/code", data={"email": email, "next": to, "code": code_for(runtime, email)})


def enrolled(client: httpx.Client, device_id: str) -> None:
    """As the map does it."""
    body = {"device_id": device_id, "name": "Chrome on Linux", "platform": "web"}
    assert client.post("/travel/v1/me/devices", json=body).status_code == 200
    assert client.get("/travel/v1/sync/pull", headers={"X-Device-Id": device_id}).status_code == 200


# --- in ---


@pytest.mark.parametrize("is_demo", [True, False])
def test_a_newcomer_comes_from_the_mail_to_a_map_of_their_own(runtime: Runtime, is_demo: bool) -> None:
    email = f"nia-{is_demo}@example.com"
    with serving_app(app_of(runtime, is_demo=is_demo)) as url, browser(url) as client:
        entered = signed_in(client, runtime, email, f"{HOME}/timeline")
        assert entered.status_code == 303, re.sub(r"<[^>]+>", "", entered.text)
        assert entered.headers["location"] == f"{HOME}/timeline"
        assert "HttpOnly" in entered.headers["set-cookie"]
        assert client.get(HOME).status_code == 200
        first = client.get("/travel/v1/me").json()["user_id"]
        client.cookies.clear()
        signed_in(client, runtime, email)
        assert client.get("/travel/v1/me").json()["user_id"] == first


@pytest.mark.parametrize("given", ["https://evil.example/", "//evil.example", "/console/portal", SIGN_IN, ""])
def test_after_signing_in_one_is_at_a_page_of_skratch(runtime: Runtime, url: str, given: str) -> None:
    with browser(url) as client:
        entered = signed_in(client, runtime, f"next-{len(given)}@example.com", given)
        assert entered.headers["location"] == HOME


def test_a_wrong_code_opens_nothing_and_is_not_shown_again(url: str) -> None:
    with browser(url) as client:
        client.post(SIGN_IN, data={"email": "wrong@example.com"})
        answer = client.post(f"{SIGN_IN}/code", data={"email": "wrong@example.com", "code": "13579x"})
        assert answer.status_code == 422
        assert "wrong or has expired" in answer.text
        assert "13579x" not in answer.text
        assert "set-cookie" not in answer.headers
        assert client.post(SIGN_IN, data={"email": "no address"}).status_code == 422


def test_codes_for_an_address_are_limited_and_another_site_cannot_ask(url: str) -> None:
    with browser(url) as client:
        evil = {"Origin": "https://evil.example"}
        assert client.post(SIGN_IN, data={"email": "often@example.com"}, headers=evil).status_code == 403
        answers = [client.post(SIGN_IN, data={"email": "often@example.com"}) for _ in range(6)]
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) > 0


@contextmanager
def apple_house(tmp_path: Path, clock: testing.Clock) -> Iterator[tuple[Runtime, DevelopmentApple]]:
    world = ticking(clock)
    apple = DevelopmentApple(Issuer(tmp_path, "https://apple.example", world, algorithm="RS256"))
    system = replace(TRAVEL, start=lambda given: replace(TRAVEL.start(given), apple=apple), seed=None)
    with open_app(memory=True, systems=(system,), world=world, jobs=False) as runtime:
        yield runtime, apple


def gone_to_apple(client: httpx.Client, to: str = "") -> tuple[str, dict[str, str], str]:
    """Where a browser is sent, what it asks there, and the nonce it keeps."""
    gone = client.get(f"{SIGN_IN}/apple", params={"next": to}).headers["location"]
    nonce = dict(parse_qsl(client.cookies["skratch-apple"].strip('"')))["nonce"]
    return gone, dict(parse_qsl(urlsplit(gone).query)), nonce


def test_with_apple_only_the_browser_that_went_comes_in(tmp_path: Path) -> None:
    with (
        apple_house(tmp_path, testing.Clock(NOW)) as (runtime, apple),
        serving_app(app_of(runtime)) as url,
        browser(url) as client,
        browser(url) as other,
    ):
        assert "Sign in with Apple" in client.get(SIGN_IN).text
        gone, asked, nonce = gone_to_apple(client, f"{HOME}/timeline")
        assert gone.startswith("https://apple.example/auth/authorize?")
        assert asked["redirect_uri"] == f"{url}{SIGN_IN}/apple/back"
        assert "apple-back" in client.get(f"{SIGN_IN}/apple/back").text
        told = {"id_token": apple.id_token("001.nia", nonce), "state": asked["state"]}
        assert other.post(f"{SIGN_IN}/apple/back", data=told).status_code == 400
        assert client.post(f"{SIGN_IN}/apple/back", data={**told, "state": "x"}).status_code == 400
        entered = client.post(f"{SIGN_IN}/apple/back", data=told)
        assert (entered.status_code, entered.headers["location"]) == (303, f"{HOME}/timeline")
        assert client.get(HOME).status_code == 200


def test_apple_comes_back_to_the_address_that_people_know(tmp_path: Path) -> None:
    with (
        apple_house(tmp_path, testing.Clock(NOW)) as (runtime, _),
        serving_app(app_of(runtime, url="https://skratch.example/")) as url,
        browser(url) as client,
    ):
        _, asked, _ = gone_to_apple(client)
        assert asked["redirect_uri"] == f"https://skratch.example{SIGN_IN}/apple/back"


def test_what_apple_says_is_good_once_and_for_ten_minutes(tmp_path: Path) -> None:
    clock = testing.Clock(NOW)
    with (
        apple_house(tmp_path, clock) as (runtime, apple),
        serving_app(app_of(runtime)) as url,
        browser(url) as used,
        browser(url) as late,
    ):
        for client, code in ((used, "NONCE_USED"), (late, "NONCE_INVALID")):
            _, asked, nonce = gone_to_apple(client)
            if client is used:
                runtime.running[0].service.nonces.spend(nonce, "phone")
            else:
                clock.move(NONCE_LIVES)
            told = {"id_token": apple.id_token("001.nia", nonce), "state": asked["state"]}
            answer = client.post(f"{SIGN_IN}/apple/back", data=told)
            assert (answer.status_code, code in answer.text) == (401, True)
            assert not any(name.startswith("tablewright-8") for name in client.cookies)


# --- out ---


def test_signing_a_browser_out_ends_its_login_everywhere(runtime: Runtime, url: str) -> None:
    with browser(url) as kept, browser(url) as lost:
        for client, device in ((kept, "kept"), (lost, "lost")):
            signed_in(client, runtime, "two@example.com")
            enrolled(client, device)
        assert kept.post(f"{HOME}/devices/lost/sign-out").status_code == 303
        for path in ("timeline", "settings", "export", "devices"):
            answer = lost.get(f"{HOME}/{path}")
            assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, SIGN_IN), path
        for path in ("me", "export", "stats"):
            answer = lost.get(f"/travel/v1/{path}")
            assert (answer.status_code, answer.json()["code"]) == (401, "SESSION_ENDED"), path
        again = lost.post("/travel/v1/me/devices", json={"device_id": "another", "name": "x"})
        assert again.status_code == 401
        assert kept.get(f"{HOME}/timeline").status_code == 200
        signed_in(lost, runtime, "two@example.com")
        enrolled(lost, "another")


def test_a_stolen_cookie_cannot_call_itself_another_device(runtime: Runtime, url: str) -> None:
    with browser(url) as kept, browser(url) as lost, browser(url) as pages:
        for client in (kept, lost, pages):
            signed_in(client, runtime, "stolen@example.com")
        enrolled(kept, "kept")
        enrolled(lost, "lost")
        refused = lost.get("/travel/v1/sync/pull", headers={"X-Device-Id": "kept"})
        assert (refused.status_code, refused.json()["code"]) == (403, "DEVICE_MISMATCH")
        assert lost.get("/travel/v1/sync/pull", headers={"X-Device-Id": "lost"}).status_code == 200
        # One that was no device yet may become one, but not outlive the owner's by its name.
        assert pages.get("/travel/v1/sync/pull", headers={"X-Device-Id": "kept"}).status_code == 200
        assert kept.post(f"{HOME}/devices/lost/sign-out").status_code == 303
        assert lost.get("/travel/v1/me").status_code == 401
        assert kept.post(f"{HOME}/devices/sign-out-others", data={"keep": "kept"}).status_code == 303
        assert [it.get("/travel/v1/me").status_code for it in (kept, pages)] == [200, 401]


def test_devices_can_be_told_apart_and_called_as_one_likes(runtime: Runtime, url: str) -> None:
    with browser(url) as here, browser(url) as there:
        for client, device in ((here, "here-1"), (there, "there-1")):
            signed_in(client, runtime, "apart@example.com")
            enrolled(client, device)
        page = here.get(f"{HOME}/devices").text
        assert ">Chrome on Linux</a> " in page
        assert ">Chrome on Linux 2</a><small>" in page
        assert "this browser" in here.get(f"{HOME}/devices/here-1").text
        assert "this browser" not in here.get(f"{HOME}/devices/there-1").text
        assert here.post(f"{HOME}/devices/there-1/name", data={"name": " "}).status_code == 400
        assert here.post(f"{HOME}/devices/there-1/name", data={"name": "Kitchen"}).status_code == 303
        enrolled(there, "there-1")
        assert ">Kitchen</a>" in here.get(f"{HOME}/devices").text


def test_who_signs_this_browser_out_on_the_list_is_signed_out(runtime: Runtime, url: str) -> None:
    with browser(url) as client:
        signed_in(client, runtime, "self@example.com")
        enrolled(client, "self")
        assert "the browser you are using" in client.get(f"{HOME}/devices/self/sign-out").text
        assert client.post(f"{HOME}/devices/self/sign-out").headers["location"] == SIGN_IN
        assert client.get(HOME).headers["location"].startswith(SIGN_IN)


def test_signing_out_all_others_keeps_a_browser_that_is_no_device(runtime: Runtime, url: str) -> None:
    with browser(url) as pages, browser(url) as other, browser(url) as device:
        for client in (pages, other, device):
            signed_in(client, runtime, "others@example.com")
        enrolled(device, "device")
        assert pages.post(f"{HOME}/devices/sign-out-others", data={"keep": ""}).status_code == 303
        assert pages.get(f"{HOME}/timeline").status_code == 200
        assert [client.get(HOME).status_code for client in (other, device)] == [303, 303]
