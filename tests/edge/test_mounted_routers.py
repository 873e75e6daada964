"""Routers below a path: found there, and not asked about requests elsewhere."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from tablewright.edge import make_app, serving_app
from tablewright.edge.routes import MountedRouter, Router
from tablewright.world import World


def _rooms(name: str) -> Router:
    router = Router()

    @router.get("/rooms/{number}")
    def room(number: int) -> str:
        return f"{name} {number}"

    return router


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/north/rooms/1", 200, "north 1"),
        ("/south/rooms/2", 200, "south 2"),
        ("/southern/rooms/2", 404, None),
        ("/south/rooms", 404, None),
        ("/rooms/1", 404, None),
    ],
)
def test_a_request_finds_the_router_below_its_path(
    world: World, path: str, status: int, said: str | None
) -> None:
    app = make_app("hotel", world, routers=[MountedRouter(f"/{it}", _rooms(it)) for it in ("north", "south")])
    with serving_app(app) as url:
        answered = httpx.get(url + path)
        assert answered.status_code == status
        assert said is None or answered.json() == said
        assert httpx.post(f"{url}/north/rooms/1").status_code == 405


def test_routes_of_other_paths_are_passed_over(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    inside = APIRoute.matches

    def matches(self: APIRoute, scope: Any) -> Any:
        compared.append(self.endpoint.__qualname__)
        return inside(self, scope)

    monkeypatch.setattr(APIRoute, "matches", matches)
    north, south = Router(), Router()
    north.add_api_route("/rooms", _north)
    south.add_api_route("/rooms", _south)
    app = make_app("hotel", world, routers=[MountedRouter("/north", north), MountedRouter("/south", south)])
    with serving_app(app) as url:
        assert httpx.get(f"{url}/south/rooms").json() == "south"
    assert "_south" in compared
    assert "_north" not in compared


def _north() -> str:
    return "north"


def _south() -> str:
    return "south"
