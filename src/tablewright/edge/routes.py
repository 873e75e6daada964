"""How the routes of many files come together in one app, each looked through as seldom as can be.

FastAPI makes a route anew, with all that is asked of its arguments, for every router that takes it in; and once more,
for nothing, for a router that has other routers in it and is taken in without a prefix. In a large app that is most
of the time it takes to start.
Must hold: a route is made where it is written and once for the app it is in, and nowhere between.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from fastapi import APIRouter


@dataclass(frozen=True, slots=True)
class Under:
    """A router below a path, for make_app; its routes are told under `tags` in the description of the API."""

    path: str
    router: APIRouter
    tags: tuple[str, ...] = ()


def gather(router: APIRouter, parts: Iterable[APIRouter]) -> None:
    """Put the routes of parts behind those of a router, as they are: for parts of one area, with the same settings."""
    for part in parts:
        router.routes.extend(part.routes)
