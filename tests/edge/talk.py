"""One way to build a small app and one to call it, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from fastapi import APIRouter, FastAPI

from tablewright.edge import make_app, serving_app
from tablewright.edge.routes import MountedRouter
from tablewright.world import World, real_world


def app_of(*routers: APIRouter | MountedRouter, world: World | None = None, **options: Any) -> FastAPI:
    return make_app("test", world or real_world(), routers=routers, **options)


@contextmanager
def calling(app: FastAPI, **options: Any) -> Iterator[httpx.Client]:
    """A client of the app, which is served while the block lasts."""
    with serving_app(app) as url, httpx.Client(base_url=url, trust_env=False, **options) as client:
        yield client


def code_of(response: httpx.Response) -> tuple[int, str]:
    """Status and code of a problem."""
    assert response.headers["Content-Type"] == "application/problem+json"
    return response.status_code, response.json()["code"]
