"""Access checks that a system declares once: the service and the caller come with the request."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI, Request

from tablewright.edge import ANYONE, Principal, make_app, serving_app
from tablewright.edge.access import Access as Description
from tablewright.edge.access import access_in
from tablewright.edge.routes import MountedRouter
from tablewright.kit.access import Access, itself
from tablewright.world import real_world


@dataclass(frozen=True)
class Shop:
    name: str


SHOP: Access[Shop] = Access("shop")
signed_in = SHOP.require(itself)
keeper = SHOP.require(lambda caller: caller.subject.upper(), "keeper", mfa=True, code="KEEPER_ONLY")
Keeper = Annotated[str, Depends(keeper)]


owned = SHOP.require_record(
    lambda shop, caller: f"{shop.name} of {caller.subject}", "owner", code="OWNER_ONLY"
)


def own_shelf(request: Request, shelf: str, caller: Annotated[Principal, Depends(signed_in)]) -> str:
    return f"{SHOP.service(request).name}: {shelf} of {caller.subject}"


def who(request: Request) -> Principal:
    subject = request.headers.get("X-Subject")
    if subject is None:
        return ANYONE
    return Principal(
        subject, frozenset(request.headers.get("X-Roles", "").split()), claims={"mfa": subject == "mia"}
    )


def routes(shop: Shop) -> APIRouter:
    part = APIRouter()

    @part.get("/keeper")
    def kept(name: Keeper) -> str:
        return name

    @part.get("/shelves/{shelf}")
    def shelf(own: Annotated[str, Depends(own_shelf)]) -> str:
        return own

    @part.get("/owned")
    def shop_of(found: Annotated[str, Depends(owned)]) -> str:
        return found

    @part.get("/window")
    def window(caller: Annotated[Principal, Depends(SHOP.caller)]) -> str:
        return caller.subject or "anyone"

    api = APIRouter(dependencies=[SHOP.of(shop, who)])
    api.include_router(part)
    return api


@pytest.fixture
def app() -> FastAPI:
    routers = [
        MountedRouter("/one", routes(Shop("one")), ("one",)),
        MountedRouter("/two", routes(Shop("two"))),
    ]
    return make_app("shops", real_world(), routers=routers)


@pytest.fixture
def client(app: FastAPI) -> Iterator[httpx.Client]:
    with serving_app(app) as url, httpx.Client(base_url=url) as opened:
        yield opened


def code_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_a_check_refuses_a_stranger_a_missing_role_and_a_missing_factor(client: httpx.Client) -> None:
    assert code_of(client.get("/one/keeper")) == (401, "LOGIN_REQUIRED")
    assert code_of(client.get("/one/keeper", headers={"X-Subject": "mia"})) == (403, "KEEPER_ONLY")
    kai = {"X-Subject": "kai", "X-Roles": "keeper"}
    assert code_of(client.get("/one/keeper", headers=kai)) == (403, "MFA_REQUIRED")
    mia = {"X-Subject": "mia", "X-Roles": "keeper"}
    assert client.get("/one/keeper", headers=mia).json() == "MIA"


def test_a_check_reads_the_service_of_its_router(client: httpx.Client) -> None:
    mia = {"X-Subject": "mia"}
    assert client.get("/one/shelves/3", headers=mia).json() == "one: 3 of mia"
    assert client.get("/two/shelves/3", headers=mia).json() == "two: 3 of mia"
    assert code_of(client.get("/two/shelves/3")) == (401, "LOGIN_REQUIRED")


def test_a_check_gives_what_the_service_has_about_the_caller(client: httpx.Client) -> None:
    olga = {"X-Subject": "olga", "X-Roles": "owner"}
    assert client.get("/two/owned", headers=olga).json() == "two of olga"
    assert code_of(client.get("/two/owned", headers={"X-Subject": "kai"})) == (403, "OWNER_ONLY")
    assert code_of(client.get("/two/owned")) == (401, "LOGIN_REQUIRED")


def test_anyone_may_call_a_route_that_only_asks_for_the_caller(client: httpx.Client) -> None:
    assert client.get("/one/window").json() == "anyone"


def test_the_description_of_the_api_says_what_a_check_needs(app: FastAPI) -> None:
    paths = app.openapi()["paths"]
    assert access_in(paths["/one/keeper"]["get"]) == Description(("keeper",), True)
    assert access_in(paths["/one/shelves/{shelf}"]["get"]) == Description((), False)
    assert access_in(paths["/one/owned"]["get"]) == Description(("owner",), False)
    assert access_in(paths["/one/window"]["get"]) is None
