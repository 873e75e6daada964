"""Routes of many files in one app, each analysed when it is first needed, and once.

FastAPI analyses the arguments and the response of a route where it is written, and again for every router that includes
it. In an app of several systems that was most of the start-up time, for routes of which a process may serve few.
Must hold: a route is analysed by its first request or by the API's description, with everything that the routers around
it add. A mistake in its arguments is therefore found then; tests/systems/test_access.py has all of them analysed.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from fastapi import APIRouter
from fastapi.datastructures import Default
from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Depends, Query
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.routing import Match, Route, compile_path, get_name
from starlette.types import Receive, Scope, Send

_PARTS_OF_PATH = ("path_regex", "path_format", "param_convertors")
# One for all routes: an analysis takes less than a millisecond.
_analysis = threading.RLock()


class DeferredRoute(APIRoute):
    """A route that is analysed when something is read of it that only the analysis can say.

    Known before: what decides whether a request means the route, and what the description reads of routes that it
    leaves out. `options` are those of APIRoute.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self._has_begun = False
        self.path, self.endpoint, self.options = path, endpoint, options
        self.name = options.get("name") or get_name(endpoint)
        self.methods = {method.upper() for method in options.get("methods") or ("GET",)}
        self.include_in_schema = options.get("include_in_schema", True)
        self.response_class = options.get("response_class", Default(JSONResponse))
        self._beginning = path.partition("{")[0]

    def __getattr__(self, name: str) -> Any:
        """Called by Python for what is not there yet."""
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _PARTS_OF_PATH:
            self.path_regex, self.path_format, self.param_convertors = compile_path(self.path)
        else:
            self._analyse()
        try:
            return vars(self)[name]
        except KeyError:
            raise AttributeError(name) from None

    def _analyse(self) -> None:
        with _analysis:
            if self._has_begun:  # it has ended too, unless the analysis itself asks
                return
            self._has_begun = True
            try:
                super().__init__(self.path, self.endpoint, **self.options)
            except BaseException:
                self._has_begun = False
                raise

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        # Most routes are not meant: they are passed over without a regular expression. With `fastapi` it is asked on
        # behalf of a router that was included by FastAPI, and which has a prefix for it.
        if scope["path"].startswith(self._beginning) or scope.get("root_path") or scope.get("fastapi"):
            return super().matches(scope)
        return Match.NONE, {}

    def within(
        self,
        router: APIRouter,
        prefix: str = "",
        tags: Sequence[str] = (),
        dependencies: Sequence[Depends] = (),
    ) -> Self:
        """This route as a part of `router`, with what the router has for all of its routes."""
        given = self.options
        options = given | {
            "tags": [*router.tags, *tags, *(given.get("tags") or ())],
            "dependencies": [*router.dependencies, *dependencies, *(given.get("dependencies") or ())],
            "responses": {**router.responses, **(given.get("responses") or {})},
            "include_in_schema": router.include_in_schema and self.include_in_schema,
            "dependency_overrides_provider": router.dependency_overrides_provider,
        }
        return type(self)(f"{router.prefix}{prefix}{self.path}", self.endpoint, **options)


class Router(APIRouter):
    """A router whose routes are deferred."""

    def __init__(self, *, route_class: type[APIRoute] = DeferredRoute, **options: Any) -> None:
        super().__init__(route_class=route_class, **options)


@dataclass(frozen=True, slots=True)
class MountedRouter:
    """A router below a path, for make_app; `tags` group its routes in the API's description.

    Routes with tags refuse unknown query parameters (query_parameters.py).
    """

    path: str
    router: APIRouter
    tags: tuple[str, ...] = ()


def include(
    router: APIRouter,
    part: APIRouter,
    prefix: str = "",
    *,
    tags: Sequence[str] = (),
    dependencies: Sequence[Depends] = (),
) -> None:
    """As `router.include_router(part)`; deferred routes stay deferred.

    Of what a router has for all of its routes, `within` knows what routers here have.
    """
    deferred = [route for route in part.routes if isinstance(route, DeferredRoute)]
    if len(deferred) == len(part.routes):
        router.routes.extend(route.within(router, prefix, tags, dependencies) for route in deferred)
    else:
        router.include_router(part, prefix=prefix, tags=[*tags], dependencies=[*dependencies])


def gather(router: APIRouter, parts: Iterable[APIRouter]) -> None:
    """Append the routes of `parts` to a router, unchanged: for parts of one area with the same settings."""
    for part in parts:
        router.routes.extend(part.routes)


class RoutesByPrefix:
    """A router's own dispatch, asking only the routes whose first two parts of the path may be those of the request.

    FastAPI asks one route after the other. In an app of all systems they are a thousand, and a request that is refused
    spent nine tenths of its time there. The order among those that are asked stays. Not for a router that redirects
    paths with or without a slash at the end: the other spelling may be among routes that are not asked.
    """

    def __init__(self, router: APIRouter) -> None:
        if router.redirect_slashes:
            raise ValueError(
                "a router whose routes are asked by prefix cannot redirect: set redirect_slashes=False"
            )
        self._router = router
        self._route_count, self._routers = -1, dict[str | None, APIRouter]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "path" not in scope or scope.get("root_path"):
            await self._router.app(scope, receive, send)
            return
        if self._route_count != len(self._router.routes):  # the first request, or something was mounted since
            self._index()
        scope["router"] = self._router
        found = self._routers.get(_prefix(scope["path"])) or self._routers[None]
        await found.app(scope, receive, send)

    def _index(self) -> None:
        routes = [*self._router.routes]
        prefixes = [_prefix(route.path) if isinstance(route, Route) else None for route in routes]

        def asked_for(prefix: str | None) -> APIRouter:
            asked = [route for route, each in zip(routes, prefixes, strict=True) if each in (prefix, None)]
            return APIRouter(routes=asked, redirect_slashes=False, default=self._router.default)

        self._routers = {prefix: asked_for(prefix) for prefix in {*prefixes, None}}
        self._route_count = len(routes)


def _prefix(path: str) -> str | None:
    """The first two parts of a path; None if one of them is a parameter."""
    prefix = "/".join(path.split("/", 3)[:3])
    return None if "{" in prefix else prefix


def query_names(dependant: Dependant) -> set[str]:
    """The names of all query parameters that a route and its dependencies read."""
    return {one.alias for one in get_flat_params(dependant) if isinstance(one.field_info, Query)}
