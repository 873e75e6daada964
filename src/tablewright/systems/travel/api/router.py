"""Skratch over HTTP: `/v1/...`. Reads arguments, calls the service, shapes the answer.

Elsewhere: the routes themselves beside this file, what bodies look like (bodies.py), who may call them (access.py), the
protocol of devices in words (docs/sync.md).
"""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter

from tablewright.edge import Problem, RateLimiter
from tablewright.edge.errors import problem_for
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import Router, include
from tablewright.systems.travel.access import TRAVEL
from tablewright.systems.travel.api import admin, auth, bodies, me, regions, sync, visits
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.model import Profile, Visit
from tablewright.systems.travel.travel import Travel


def problem_of(conflict: VersionConflict) -> Problem:
    """A conflict as a response: with the server's copy, as its owner may see it."""
    problem, current = problem_for(conflict), conflict.current
    if isinstance(current, Visit):
        problem.extra.setdefault("current", bodies.visit_view(current).model_dump(mode="json"))
    if isinstance(current, Profile):
        problem.extra.setdefault("current", bodies.me_view(current).model_dump(mode="json"))
    return problem


TRANSLATIONS: Mapping[type[Exception], Callable[[Any], Problem]] = {VersionConflict: problem_of}


def router(travel: Travel, who: FindPrincipal, *, buckets: RateLimiter | None = None) -> APIRouter:
    """All routes of Skratch."""
    # `or` would not do: buckets that are empty count as false.
    buckets = RateLimiter() if buckets is None else buckets
    api = Router(prefix="/v1", dependencies=[TRAVEL.of(travel, who)])
    for part in (
        auth.auth(travel, buckets),
        me.me(travel),
        me.devices(travel),
        me.blocks(travel),
        me.baggage(travel, buckets),
        sync.sync(travel, buckets),
        visits.visits(travel, buckets),
        regions.regions(travel, buckets),
        admin.admin(travel),
    ):
        include(api, part)
    return api
