"""Skratch over HTTP: `/v1/...`. Reads arguments, calls the service, shapes the answer.

Must hold: whose map something is about is decided by the login alone, never by what is sent; a login that was made on
a device speaks for that device. Elsewhere: the routes themselves beside this file, what bodies look like (bodies.py),
the protocol of devices in words (docs/sync.md).
"""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter

from tablewright.edge import Problem, RateLimiter, require
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.systems.travel.api import admin, auth, me, regions, sync, visits
from tablewright.systems.travel.api.common import Doors, problem_of, traveller_door
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.travel import Travel

__all__ = ["TRANSLATIONS", "router"]

TRANSLATIONS: Mapping[type[Exception], Callable[[Any], Problem]] = {VersionConflict: problem_of}


def router(travel: Travel, who: FindPrincipal, *, buckets: RateLimiter | None = None) -> APIRouter:
    """All routes of Skratch."""
    # `or` would not do: buckets that are empty count as false.
    buckets = RateLimiter() if buckets is None else buckets
    api = APIRouter(prefix="/v1")
    doors = Doors(
        traveller=traveller_door(travel, require(who)),
        admin=require(who, "admin", code="ADMIN_ONLY"),
        anyone=who,
    )
    for part in (
        auth.auth(travel, doors, buckets),
        me.me(travel, doors),
        me.devices(travel, doors),
        me.blocks(travel, doors),
        me.baggage(travel, doors, buckets),
        sync.sync(travel, doors, buckets),
        visits.visits(travel, doors, buckets),
        regions.regions(travel, doors, buckets),
        admin.admin(travel, doors),
    ):
        api.include_router(part)
    return api
