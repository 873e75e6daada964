"""Routes of many files in one app: below their path, told under their tag, analysed when they are needed and once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import PlainTextResponse
from fastapi.routing import APIRoute
from hypothesis import given
from hypothesis import strategies as st
from tests.edge.talk import app_of, calling

from tablewright.edge.routes import DeferredRoute, MountedRouter, Router, RoutesByPrefix, gather, include


class Analyses:
    """Which routes were analysed: FastAPI asks for an id with each analysis."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def router(self, make: Callable[..., APIRouter] = Router, **options: Any) -> APIRouter:
        return make(generate_unique_id_function=self._noted, **options)

    def _noted(self, route: APIRoute) -> str:
        self.paths.append(route.path_format)
        return route.name


def pets() -> list[str]:
    return ["rex"]


def test_a_route_is_analysed_by_its_first_request_once_however_deep_it_was() -> None:
    analyses = Analyses()
    part = analyses.router()
    part.add_api_route("/pets", pets)
    part.add_api_route("/pets/{name}", pets)
    inner, gathered, outer = Router(), Router(), Router()
    include(inner, part)
    gather(gathered, [inner])
    include(outer, gathered)
    with calling(app_of(MountedRouter("/v1", outer))) as client:
        assert analyses.paths == []
        assert client.get("/v1/pets").json() == ["rex"]
        assert client.get("/v1/pets").json() == ["rex"]
        assert client.get("/pets").status_code == 404
        assert client.post("/v1/pets/rex").status_code == 405
    assert analyses.paths == ["/v1/pets"]


def test_the_description_analyses_the_routes_it_describes() -> None:
    analyses = Analyses()
    told, untold = analyses.router(tags=["inner"]), analyses.router(include_in_schema=False)
    told.add_api_route("/pets", pets, tags=["own"])
    untold.add_api_route("/page", pets)
    outer = Router(prefix="/v1", tags=["outer"], responses={418: {"description": "a teapot"}})
    include(outer, told)
    include(outer, untold)
    with calling(app_of(MountedRouter("/shop", outer, ("Shop",)))) as client:
        described = client.get("/openapi.json").json()["paths"]
    assert list(described) == ["/shop/v1/pets"]
    assert described["/shop/v1/pets"]["get"]["tags"] == ["Shop", "outer", "inner", "own"]
    assert set(described["/shop/v1/pets"]["get"]["responses"]) == {"200", "418", "4XX", "5XX"}
    assert analyses.paths == ["/shop/v1/pets"]


def test_the_dependencies_of_all_routers_around_a_route_run_before_its_own_from_the_outermost() -> None:
    def note(name: str) -> Any:
        async def noted(request: Request) -> None:
            request.state.order = [*getattr(request.state, "order", []), name]

        return Depends(noted)

    inner = Router(dependencies=[note("inner")])

    @inner.get("/order", dependencies=[note("own")])
    def order(request: Request) -> list[str]:
        return list(request.state.order)

    outer = Router(dependencies=[note("outer")])
    include(outer, inner, dependencies=[note("included")])
    with calling(app_of(outer)) as client:
        assert client.get("/order").json() == ["outer", "included", "inner", "own"]


def test_routes_of_any_router_can_be_included_and_those_have_the_same_description() -> None:
    documents = []
    for make in (APIRouter, Router):
        inner, outer = make(tags=["inner"]), make(prefix="/v1", tags=["outer"], include_in_schema=True)
        inner.add_api_route("/pets/{name}", pets, methods=["PUT"], status_code=201, deprecated=True)
        inner.add_api_route("/hidden", pets, include_in_schema=False)
        include(outer, inner)
        with calling(app_of(MountedRouter("/shop", outer, ("Shop",)))) as client:
            documents.append(client.get("/openapi.json").content)
            assert client.put("/shop/v1/pets/rex").status_code == 201
            assert client.get("/shop/v1/hidden").json() == ["rex"]
    assert documents[0] == documents[1]
    assert b"/shop/v1/pets/{name}" in documents[0]


def test_a_deferred_route_is_found_below_the_prefix_of_a_router_of_fastapi() -> None:
    part, outer = Router(), APIRouter(prefix="/v1")
    part.add_api_route("/pets", pets)
    outer.include_router(part)
    with calling(app_of(MountedRouter("/shop", outer))) as client:
        assert client.get("/shop/v1/pets").json() == ["rex"]


def test_a_route_that_many_threads_need_at_once_is_analysed_once() -> None:
    analyses = Analyses()
    for _ in range(20):
        router = analyses.router()
        router.add_api_route("/pets", pets)
        (route,) = router.routes
        assert isinstance(route, DeferredRoute)
        together = threading.Barrier(8)

        def needed(route: DeferredRoute = route, together: threading.Barrier = together) -> int:
            together.wait()
            return id(route.dependant)

        with ThreadPoolExecutor(8) as threads:
            found = {one.result() for one in [threads.submit(needed) for _ in range(8)]}
        assert found == {id(route.dependant)}
    assert len(analyses.paths) == 20


def test_a_route_that_cannot_be_analysed_says_why_whenever_it_is_needed() -> None:
    def wrong(given: threading.Lock) -> None: ...

    router = Router()
    router.add_api_route("/wrong", wrong)
    (route,) = router.routes
    for _ in range(2):
        with pytest.raises(Exception, match="Invalid args for response field"):
            getattr(route, "dependant")  # noqa: B009


def test_what_no_route_has_is_missing_of_a_deferred_one_too() -> None:
    router = Router()
    router.add_api_route("/pets", pets)
    assert not hasattr(router.routes[0], "colour")
    assert not hasattr(router.routes[0], "__deepcopy__")


PATHS = (
    "/",
    "/a",
    "/a/b",
    "/a/b/c",
    "/a/b/",
    "/{x}",
    "/{x}/b",
    "/a/{x}",
    "/a/b{x}",
    "/a/{x}/c",
    "/a/b/{x:path}",
    "/b",
)
ASKED = (*PATHS, "/a/x", "/a/bx", "/x/b", "/x", "/a/x/c", "/a/b/c/d", "/x/y/z", "//a/b", "/a//b", "")


@given(
    st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(("GET", "POST"))), max_size=8), st.booleans()
)
def test_a_request_reaches_the_same_route_as_if_each_route_were_asked(
    written: list[tuple[str, str]], is_mounted: bool
) -> None:
    part = Router()
    for number, (path, method) in enumerate(written):
        part.add_api_route(path, saying(number), methods=[method])
    app = FastAPI(redirect_slashes=False)
    include(app.router, part)
    if is_mounted:  # of a mounted app nothing is known but where it begins
        app.mount("/a/b", PlainTextResponse("mounted"))

    async def answers() -> list[tuple[int, str]]:
        return [await answer_of(app, path, method) for path in ASKED for method in ("GET", "POST", "PUT")]

    expected = asyncio.run(answers())
    app.router.middleware_stack = RoutesByPrefix(app.router)
    app.middleware_stack = None  # it was built by the first request, around the routes as they were
    assert asyncio.run(answers()) == expected


def test_a_route_that_is_added_later_is_found_too() -> None:
    app = app_of()
    with calling(app) as client:
        assert client.get("/later/on").status_code == 404
        app.router.add_api_route("/later/on", pets)
        assert client.get("/later/on").json() == ["rex"]


def test_a_router_that_redirects_to_the_path_with_a_slash_is_refused() -> None:
    with pytest.raises(ValueError, match="redirect_slashes=False"):
        RoutesByPrefix(APIRouter())


def test_below_a_root_path_each_route_is_asked() -> None:
    app = FastAPI(redirect_slashes=False)
    app.add_api_route("/v1/pets", pets)
    app.router.middleware_stack = RoutesByPrefix(app.router)
    assert asyncio.run(answer_of(app, "/shop/v1/pets", "GET", root_path="/shop")) == (200, '["rex"]')


def saying(number: int) -> Callable[[], Awaitable[int]]:
    async def say() -> int:
        return number

    return say


async def answer_of(app: FastAPI, path: str, method: str, root_path: str = "") -> tuple[int, str]:
    """The status and the body of an answer, without a server."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": []}
    await app({**scope, "root_path": root_path}, receive, send)
    return sent[0]["status"], b"".join(part.get("body", b"") for part in sent[1:]).decode()
