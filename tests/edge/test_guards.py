"""Who may, over HTTP."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any

import httpx
import pytest
from fastapi import APIRouter, Depends, Response
from tests.edge.talk import app_of, calling, code_of

from tablewright.edge import Issuer, Principal, SessionCookie, Verifier, listening, principal, require, url_of
from tablewright.testing import Clock
from tablewright.world import World

COOKIE = SessionCookie("sid", secure=False)


def router(issuer: Issuer) -> APIRouter:
    routes, who = APIRouter(), principal(cookie=COOKIE)

    @routes.get("/anyone")
    def anyone(caller: Annotated[Principal, Depends(who)]) -> str:
        return caller.subject or "anyone"

    @routes.get("/me")
    def me(caller: Annotated[Principal, Depends(require(who))]) -> str:
        return caller.subject

    @routes.get("/staff", dependencies=[Depends(require(who, "admin", "support", code="STAFF_ONLY"))])
    def staff() -> str:
        return "staff"

    @routes.get("/vault", dependencies=[Depends(require(who, "admin", mfa=True))])
    def vault() -> str:
        return "vault"

    @routes.post("/login")
    def login(response: Response) -> str:
        COOKIE.keep(response, token(issuer, "sam"), timedelta(hours=1))
        return "in"

    @routes.post("/logout")
    def logout(response: Response) -> str:
        COOKIE.drop(response)
        return "out"

    return routes


def token(issuer: Issuer, subject: str, *roles: str, **claims: Any) -> str:
    return issuer.issue(subject, audience="web", lifetime=timedelta(hours=1), roles=roles, claims=claims)


def bearer(issuer: Issuer, subject: str, *roles: str, **claims: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {token(issuer, subject, *roles, **claims)}"}


@pytest.fixture
def client(issuer: Issuer) -> Iterator[httpx.Client]:
    with calling(app_of(router(issuer), verifier=issuer.verifier(["web"]))) as client:
        yield client


def test_a_caller_without_a_login_is_anyone(client: httpx.Client) -> None:
    assert client.get("/anyone").json() == "anyone"
    response = client.get("/me")
    assert code_of(response) == (401, "LOGIN_REQUIRED")
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_bearer_token_names_the_caller(client: httpx.Client, issuer: Issuer) -> None:
    headers = bearer(issuer, "sam")
    assert client.get("/me", headers=headers).json() == "sam"
    lower = {"Authorization": headers["Authorization"].replace("Bearer", "bearer")}
    assert client.get("/me", headers=lower).json() == "sam"


@pytest.mark.parametrize("header", ["", "Bearer", "Basic eDp5", "Token abc", "Bearer x.y.z"])
def test_an_authorization_that_cannot_be_used_is_refused_even_where_anyone_may(
    client: httpx.Client, header: str
) -> None:
    assert code_of(client.get("/anyone", headers={"Authorization": header})) == (401, "TOKEN_INVALID")


def test_any_of_the_roles_is_enough_and_none_is_not(client: httpx.Client, issuer: Issuer) -> None:
    assert client.get("/staff", headers=bearer(issuer, "sam", "support")).json() == "staff"
    response = client.get("/staff", headers=bearer(issuer, "sam", "tenant"))
    assert code_of(response) == (403, "STAFF_ONLY")
    assert response.json()["message"].startswith(
        "This needs the role admin or support, which this login does not"
    )
    assert "ask your administrator" in response.json()["message"]
    assert code_of(client.get("/staff")) == (401, "LOGIN_REQUIRED")


def test_what_needs_a_second_factor_is_refused_without_one(client: httpx.Client, issuer: Issuer) -> None:
    found = [
        client.get("/vault", headers=bearer(issuer, "sam", "admin", **claims)).status_code
        for claims in (
            {"amr": ["pwd", "mfa"]},
            {"mfa": True},
            {},
            {"amr": ["pwd"]},
            {"amr": "mfa"},
            {"mfa": "true"},
        )
    ]
    assert found == [200, 200, 403, 403, 403, 403]
    assert code_of(client.get("/vault", headers=bearer(issuer, "sam", "admin"))) == (403, "MFA_REQUIRED")
    assert code_of(client.get("/vault", headers=bearer(issuer, "sam", mfa=True))) == (403, "ROLE_REQUIRED")


def test_a_browser_stays_signed_in_by_a_cookie_that_scripts_cannot_read(client: httpx.Client) -> None:
    made = client.post("/login").headers["Set-Cookie"]
    parts = {part.strip().lower() for part in made.split(";")[1:]}
    assert parts == {"httponly", "max-age=3600", "path=/", "samesite=lax"}
    assert client.get("/me").json() == "sam"
    client.post("/logout")
    assert code_of(client.get("/me")) == (401, "LOGIN_REQUIRED")


def test_the_cookie_is_for_https_only_unless_told_otherwise() -> None:
    response = Response()
    SessionCookie().keep(response, "t", timedelta(hours=1))
    assert "; Secure" in response.headers["Set-Cookie"]
    assert response.headers["Set-Cookie"].startswith("session=t;")


def test_a_stale_cookie_leaves_public_pages_open_and_says_why_where_a_login_is_needed(
    client: httpx.Client, clock: Clock
) -> None:
    client.post("/login")
    clock.move(timedelta(hours=2))
    assert client.get("/anyone").json() == "anyone"
    assert code_of(client.get("/me")) == (401, "TOKEN_EXPIRED")


def test_a_cookie_that_cannot_be_checked_leaves_public_pages_open(issuer: Issuer, world: World) -> None:
    with listening() as taken:  # nobody answers there
        away = Verifier.of_oidc(url_of(taken), ["web"], world)
    with calling(app_of(router(issuer), verifier=away)) as client:
        client.post("/login")
        assert client.get("/anyone").json() == "anyone"
        assert code_of(client.get("/me")) == (503, "IDENTITY_UNAVAILABLE")
        assert code_of(client.get("/anyone", headers=bearer(issuer, "sam"))) == (503, "IDENTITY_UNAVAILABLE")


def test_a_bearer_token_decides_alone_even_when_it_is_bad(client: httpx.Client, issuer: Issuer) -> None:
    client.post("/login")
    assert client.get("/me", headers=bearer(issuer, "anna")).json() == "anna"
    assert code_of(client.get("/me", headers={"Authorization": "Bearer junk"})) == (401, "TOKEN_INVALID")


def test_a_page_of_another_site_cannot_use_the_cookie_for_a_change(client: httpx.Client) -> None:
    client.post("/login")
    response = client.post("/logout", headers={"Sec-Fetch-Site": "cross-site"})
    assert code_of(response) == (403, "CROSS_SITE")
    assert client.get("/me").json() == "sam"


def test_a_guard_can_be_given_its_verifier_directly(issuer: Issuer) -> None:
    routes, who = APIRouter(), principal(issuer.verifier("web"))

    @routes.get("/me")
    def me(caller: Annotated[Principal, Depends(require(who))]) -> str:
        return caller.subject

    with calling(app_of(routes)) as client:
        assert client.get("/me", headers=bearer(issuer, "sam")).json() == "sam"
        assert code_of(client.get("/me", headers={"Cookie": f"sid={token(issuer, 'sam')}"})) == (
            401,
            "LOGIN_REQUIRED",
        )
