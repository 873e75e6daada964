"""What the tests of every system say: a client of its API, answers as they must be, many callers at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import httpx
from fastapi import APIRouter

from tablewright.edge import Issuer, make_app, serving_app
from tablewright.edge.problems import Translations
from tablewright.edge.routes import MountedRouter
from tablewright.testing import Clock

R = TypeVar("R")
By = TypeVar("By")


class Caller(ABC, Generic[By]):
    """An API over real HTTP, below a prefix. `by` says who asks, in the way of each system."""

    prefix: str

    def __init__(self, client: httpx.Client, issuer: Issuer) -> None:
        self.client, self._issuer = client, issuer

    @abstractmethod
    def token(self, by: By) -> str:
        """A fresh login; tokens die while the clock is moved."""

    def ask(
        self, method: str, path: str, body: Any = None, *, by: By | None = None, **more: Any
    ) -> httpx.Response:
        headers = dict(more.pop("headers", {}))
        if by is not None:
            headers["Authorization"] = f"Bearer {self.token(by)}"
        if body is not None:
            more["json"] = body
        return self.client.request(method, f"{self.prefix}{path}", headers=headers, **more)

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.ask("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        return self.ask("POST", path, body, **more)

    def put(self, path: str, body: Any, **more: Any) -> httpx.Response:
        return self.ask("PUT", path, body, **more)

    def patch(self, path: str, body: Any, **more: Any) -> httpx.Response:
        return self.ask("PATCH", path, body, **more)

    def delete(self, path: str, **more: Any) -> httpx.Response:
        return self.ask("DELETE", path, **more)


@contextmanager
def served(
    name: str,
    routes: APIRouter,
    translations: Translations,
    clock: Clock,
    issuer: Issuer,
    streamed: Mapping[str, int] | None = None,
) -> Iterator[httpx.Client]:
    """A system's routes below its name, served; logins are for that name. `streamed` are paths below it."""
    below = MountedRouter(f"/{name}", routes, (name,))
    app = make_app(
        name,
        clock.world(),
        verifier=issuer.verifier([name]),
        routers=[below],
        translations=translations,
        streamed_bodies={f"/{name}{path}": most for path, most in (streamed or {}).items()},
    )
    limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
    with (
        serving_app(app) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=60, limits=limits) as client,
    ):
        yield client


def refused(response: httpx.Response) -> tuple[int, str]:
    """Status and code of a refusal, which must have the whole envelope (CP-X5)."""
    assert response.headers["Content-Type"] == "application/problem+json", response.text
    body = response.json()
    assert {"code", "message", "field", "requestId"} <= body.keys()
    assert body["message"]
    assert body["message"][0].isupper() or body["field"]
    assert body["message"][-1] in ".!?", body["message"]
    assert body["requestId"] == response.headers["X-Request-Id"]
    return response.status_code, body["code"]


def given(response: httpx.Response, status: int = 200) -> Any:
    """The body of an answer with the status that was expected."""
    assert response.status_code == status, response.text
    return response.json() if response.content else None


def at_once(work: Iterable[Callable[[], R]], threads: int = 32) -> list[R | Exception]:
    """Run all of it on so many threads; what each returned, or raised."""

    def outcome(one: Callable[[], R]) -> R | Exception:
        try:
            return one()
        except Exception as error:
            return error

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(outcome, work))
