"""Every route of a system, of API and pages, has one of the access checks of the system or is listed as public."""

from collections.abc import Iterator
from importlib import import_module
from inspect import iscoroutinefunction

import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.edge.identity.guards import needs_of
from tablewright.edge.routes import DeferredRoute
from tablewright.systems.portal.access import Caller, OwnOrder

SYSTEMS = ("campus", "chat", "parental", "portal", "travel")
# Routes that anyone may call: what a shop window shows, policies that the law wants posted, the steps of signing in,
# what a signed link opens or a signed event brings, and the geography. In Campus Cloud the token of a link or of a
# file request, or a signed path, is the key to what it leads to; a password and a sender's ticket are checked besides
# (sharing/links.py, sharing/file_requests.py).
SIGN_IN = ("GET sign-in", "POST sign-in", "GET sign-in/code", "POST sign-in/code")
SEARCH = "GET search"  # finds what the caller may see
PUBLIC_PAGES = {
    "campus": (
        *SIGN_IN, SEARCH, "GET open/{token}", "POST open/{token}", "POST open/{token}/files/{file_id}/download",
        "GET send/{token}", "POST send/{token}", "POST send/{token}/leave",
    ),
    "chat": (
        *SIGN_IN, SEARCH, "GET", "GET enter", "POST enter", "GET policy/notice", "GET policy/retention",
        "GET policy/safety",
    ),
    "parental": (*SIGN_IN, SEARCH),
    "portal": (
        *SIGN_IN, SEARCH, "GET", "GET campaigns/{code}", "GET checkout", "POST checkout", "POST checkout/total",
        "GET orders/{id}/pay", "POST orders/{id}/pay", "GET orders/{id}/placed", "GET register", "POST register",
        "GET verify", "POST verify",
    ),
    "travel": (
        *SIGN_IN, SEARCH, "GET offline", "GET offline/page", "GET regions.json", "GET travellers/{user_id}",
        "GET worker.js",
    ),
}  # fmt: skip
PUBLIC_API = {
    "campus": (
        "GET v1/objects/{signed}", "GET v1/previews/{signed}", "GET v1/public/links/{token}",
        "GET v1/public/links/{token}/files/{file_id}/content", "GET v1/drops/{token}", "POST v1/drops/{token}/senders",
        "GET v1/drops/{token}/files", "POST v1/drops/{token}/uploads", "GET v1/drops/{token}/uploads/{upload_id}",
        "POST v1/drops/{token}/uploads/{upload_id}/parts:sign",
        "PUT v1/drops/{token}/uploads/{upload_id}/parts/{number}", "DELETE v1/drops/{token}/uploads/{upload_id}",
        "POST v1/drops/{token}/uploads/{upload_id}:complete",
    ),
    # The code of a parent is the key to a child's login.
    "chat": (
        "GET v1/policy/notice", "GET v1/policy/retention", "GET v1/policy/safety", "POST v1/child-logins",
    ),
    "parental": (),
    "portal": (
        "GET v1.0/campaigns", "GET v1.0/campaigns/{code}", "GET v1.0/products", "GET v1.0/products/{id}",
        "GET v1.0/products/{id}/campaigns", "POST v1.0/checkout", "POST v1.0/checkout/preview",
        "POST v1.0/payments/events", "POST v1.0/verification", "POST v1.0/verification/confirm",
    ),
    "travel": (
        "GET v1/regions/bbox", "GET v1/regions/here", "GET v1/regions/lakes/topology", "GET v1/regions/search",
        "GET v1/regions/{region_type}", "GET v1/regions/{region_type}/topology", "GET v1/regions/{region_type}/{code}",
        "GET v1/regions/{region_type}/{code}/boundary", "POST v1/auth/apple", "POST v1/auth/apple:start",
        "POST v1/auth/email:start", "POST v1/auth/email:verify", "POST v1/auth/refresh",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    with open_app(memory=True, seed=False, jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def app(runtime: Runtime) -> FastAPI:
    return app_of(runtime)


def routes_below(app: FastAPI, prefix: str) -> dict[str, Dependant]:
    """Method and path of each route below a prefix, with its dependencies."""
    found = {}
    for route in iter_route_contexts(app.routes):
        path = route.path_format or ""
        if isinstance(route.original_route, APIRoute) and f"{path}/".startswith(f"{prefix}/"):
            below = path.removeprefix(prefix).lstrip("/")
            for method in (route.methods or set()) - {"HEAD"}:
                found[f"{method} {below}".rstrip()] = route.dependant
    return found


def calls(dependant: Dependant) -> Iterator[object]:
    for each in dependant.dependencies:
        yield each.call
        yield from calls(each)


def unchecked(app: FastAPI, prefix: str, system: str) -> set[str]:
    """The routes below a prefix without an access check of the system."""
    access = vars(import_module(f"tablewright.systems.{system}.access"))
    checks = {id(one) for one in access.values() if needs_of(one) is not None}
    found = routes_below(app, prefix)
    assert found
    return {route for route, of in found.items() if checks.isdisjoint(map(id, calls(of)))}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_route_of_the_api_has_an_access_check_of_its_system_or_is_public(app: FastAPI, system: str) -> None:
    assert unchecked(app, f"/{system}", system) == set(PUBLIC_API[system])


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_page_has_an_access_check_of_its_system_or_is_public(app: FastAPI, system: str) -> None:
    assert unchecked(app, f"/console/{system}", system) == set(PUBLIC_PAGES[system])


# Each plain function is a step in a thread: a user of Campus Cloud is found in one, a course in another.
MOST_STEPS = {"campus": 3, "chat": 2, "parental": 2, "portal": 3, "travel": 2}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_request_waits_for_few_threads_before_its_route_runs(app: FastAPI, system: str) -> None:
    steps = {
        route: {id(one) for one in calls(of) if not iscoroutinefunction(one)}
        for route, of in routes_below(app, f"/{system}").items()
    }
    most = max(map(len, steps.values()))
    assert most == MOST_STEPS[system], [route for route, found in steps.items() if len(found) == most]


def test_a_route_that_forgets_the_check_is_found() -> None:
    app = FastAPI()

    @app.get("/portal/checked")
    def checked(order: OwnOrder) -> None: ...

    @app.get("/portal/forgotten")
    def forgotten(caller: Caller) -> None: ...

    assert unchecked(app, "/portal", "portal") == {"GET forgotten"}


def test_no_route_is_analysed_before_it_is_needed_and_every_one_can_be(runtime: Runtime) -> None:
    routes = [route for route in app_of(runtime).routes if isinstance(route, DeferredRoute)]
    others = [route for route in app_of(runtime).routes if not isinstance(route, DeferredRoute)]
    assert [getattr(route, "path", "") for route in others] == ["/openapi.json"]
    assert [route for route in routes if "dependant" in vars(route)] == []
    assert all(route.dependant.call is not None for route in routes)
