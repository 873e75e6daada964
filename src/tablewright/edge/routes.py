"""Routes of many files in one app, each analysed as seldom as possible.

FastAPI creates a route again, with the analysis of its arguments, for every router that includes it, and once more,
without need, for a router that contains others and is included without a prefix. In a large app that is most of the
start-up time.
A request is compared with every route until one matches: a router below a path is passed over for other paths, which
is two thirds of the work for a request in an app of several systems.
Must hold: a route is created where it is written and once for its app, and nowhere between.
"""

from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query
from starlette.routing import Match


@dataclass(frozen=True, slots=True)
class MountedRouter:
    """A router below a path, for make_app; `tags` group its routes in the API's description.

    Routes with tags refuse unknown query parameters (query_parameters.py).
    """

    path: str
    router: APIRouter
    tags: tuple[str, ...] = ()


def gather(router: APIRouter, parts: Iterable[APIRouter]) -> None:
    """Append the routes of `parts` to a router, unchanged: for parts of one area with the same settings."""
    for part in parts:
        router.routes.extend(part.routes)


def pass_over_elsewhere(router: APIRouter, path: str) -> None:
    """Compare a request with the routes of this router only if it is below the path the router is mounted at."""
    inside = getattr(router, "matches", None)
    if inside is None:
        return  # FastAPI before 0.160 has no routers in an app, only their routes

    def matches(scope: MutableMapping[str, Any]) -> tuple[Match, MutableMapping[str, Any]]:
        if scope.get("root_path") or scope["path"].startswith(path):
            found: tuple[Match, MutableMapping[str, Any]] = inside(scope)
            return found
        return Match.NONE, {}

    router.matches = matches  # type: ignore[method-assign]  # of this router alone


def query_names(dependant: Dependant) -> set[str]:
    """The names of all query parameters that a route and its dependencies read."""
    return {one.alias for one in get_flat_params(dependant) if isinstance(one.field_info, Query)}
