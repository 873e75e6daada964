"""What the tests of every system say: a client of its API, answers as they must be, many callers at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

import httpx
from fastapi import APIRouter
from tests.targets import skip_without

from tablewright.edge import Issuer, RateLimiter, make_app, principal, serving_app
from tablewright.edge.problems import Translations
from tablewright.edge.routes import MountedRouter
from tablewright.testing import Clock
from tablewright.world import real_world

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


class Stage:
    """A system's API, served once for many tests: in each of them it is about the service of that test.

    To describe its routes to FastAPI is most of what it takes to serve an API.
    """

    def __init__(self) -> None:
        self._shown: Mapping[str, Any] | None = None
        self.url = ""

    def get(self, name: str, *path: str) -> Any:
        """What is shown, or something of it."""
        assert self._shown is not None, "a request came when no test was using the API"
        found = self._shown[name]
        for step in path:
            found = getattr(found, step)
        return found

    @property
    def is_shown(self) -> bool:
        return self._shown is not None

    @contextmanager
    def showing(self, service: Any, clock: Clock, issuer: Issuer, name: str) -> Iterator[httpx.Client]:
        """A client of the API while it is about this service; its limits go by the clock that can be moved."""
        buckets = RateLimiter(clock=lambda: clock.now().timestamp())
        verifier = issuer.verifier([name])
        self._shown = {"service": service, "clock": clock, "verifier": verifier, "buckets": buckets}
        limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
        with httpx.Client(base_url=self.url, trust_env=False, timeout=60, limits=limits) as client:
            yield client
        self._shown = None


class StandIn:
    """Stands for something of the stage, which is looked up when it is used; before that, so do its members."""

    def __init__(self, stage: Stage, *path: str) -> None:
        self._stage, self._path = stage, path

    def __getattr__(self, name: str) -> Any:
        if self._stage.is_shown:
            return getattr(self._stage.get(*self._path), name)
        return StandIn(self._stage, *self._path, name)

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._stage.get(*self._path)(*given, **named)


@contextmanager
def staged(
    name: str,
    router: Callable[..., APIRouter],
    translations: Translations,
    streamed: Mapping[str, int] | None = None,
) -> Iterator[Stage]:
    """A system's routes below its name, served; logins are for that name. `streamed` are paths below it."""
    stage = Stage()
    service, verifier, buckets = (StandIn(stage, it) for it in ("service", "verifier", "buckets"))
    world = replace(real_world(), now=lambda: stage.get("clock").now())
    below = MountedRouter(f"/{name}", router(service, principal(), buckets=buckets), (name,))
    app = make_app(
        name,
        world,
        verifier=cast(Any, verifier),
        routers=[below],
        translations=translations,
        streamed_bodies={f"/{name}{path}": most for path, most in (streamed or {}).items()},
    )
    with serving_app(app) as stage.url:
        yield stage


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
    """Run all of it on so many threads; what each returned, or raised. Skips the test where updates get lost."""
    skip_without("atomic_updates")

    def outcome(one: Callable[[], R]) -> R | Exception:
        try:
            return one()
        except Exception as error:
            return error

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(outcome, work))
