"""Parental controls over HTTP: `/v1/...`. Reads arguments, calls the service, shapes the answer.

Must hold: whose child something is about is decided by the caller's family (family/families.py), never by the number
in the URL; operators see devices, rules and failures without whose they are. Elsewhere: the routes beside this file,
what bodies look like (bodies/).
"""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter

from tablewright.edge import Problem, RateLimiter, require
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.systems.parental.api import enforcement, families, monitoring, operators, policies
from tablewright.systems.parental.api.common import Doors, actor_of, problem_of
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.parental import Parental

__all__ = ["TRANSLATIONS", "actor_of", "router"]

TRANSLATIONS: Mapping[type[Exception], Callable[[Any], Problem]] = {VersionConflict: problem_of}


def router(parental: Parental, who: FindPrincipal, *, buckets: RateLimiter | None = None) -> APIRouter:
    """All routes of parental controls."""
    # `or` would not do: buckets that are empty count as false.
    buckets = RateLimiter() if buckets is None else buckets
    api = APIRouter(prefix="/v1")
    doors = Doors(
        signed_in=require(who),
        operator=require(who, "operator", code="OPERATOR_ONLY"),
        network=require(who, "network", "operator", code="NETWORK_ONLY"),
    )
    for part in (
        families.families(parental, doors),
        families.children(parental, doors, buckets),
        policies.policies(parental, doors),
        policies.overrides(parental, doors),
        policies.effective(parental, doors),
        enforcement.enforcement(parental, doors),
        enforcement.metrics(parental, doors),
        operators.apps(parental, doors),
        operators.failures(parental, doors),
        operators.devices(parental, doors),
        operators.network(parental, doors),
        monitoring.figures(parental, doors),
    ):
        api.include_router(part)
    return api
