"""The description of the API is compared with what every route of every system does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tablewright.app.runtime import open_app
from tablewright.app.serve import app_of
from tablewright.edge import RateLimiter, serving_app
from tablewright.edge.rate_limit import Decision, RateLimit

Operation = tuple[str, str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def app() -> Iterator[FastAPI]:
    with pytest.MonkeyPatch.context() as patch, open_app(memory=True, seed=False, jobs=False) as runtime:
        patch.setattr(RateLimiter, "take", lambda self, key, pace: Decision(True, RateLimit(1, 1).burst, 0))
        yield app_of(runtime)


@pytest.fixture(scope="module")
def client(app: FastAPI) -> Iterator[httpx.Client]:
    with serving_app(app) as url, httpx.Client(base_url=url, timeout=60) as opened:
        yield opened


def operations(app: FastAPI) -> list[Operation]:
    """Method, path with a value for each parameter, and what is said about it."""
    found = [
        (method, re.sub(r"\{[^}]+\}", "unknown", path), one)
        for path, methods in app.openapi()["paths"].items()
        for method, one in methods.items()
    ]
    assert len(found) > 150
    return found


def called(client: httpx.Client, method: str, path: str) -> httpx.Response:
    return client.request(method, path, json={} if method in ("post", "put", "patch") else None)


def test_every_route_asks_for_a_login_where_its_description_says_so_and_nowhere_else(
    app: FastAPI, client: httpx.Client
) -> None:
    for method, path, said in operations(app):
        asks = called(client, method, path).status_code == 401
        assert (method, path, said["security"]) == (method, path, [{"bearer": []}] if asks else [])


def test_every_route_refuses_a_query_parameter_that_its_description_does_not_name(
    app: FastAPI, client: httpx.Client
) -> None:
    for method, path, _ in operations(app):
        answered = called(client, method, f"{path}?noSuchParameter=1")
        assert (method, path, answered.status_code) == (method, path, 422)
        assert answered.json()["field"] == "noSuchParameter"
