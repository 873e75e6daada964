"""Parental controls over HTTP: `/v1/...`. Reads arguments, calls the service, shapes the answer.

Elsewhere: the routes beside this file, what bodies look like (bodies/), who may call them (access.py).
"""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from tablewright.edge import Problem, RateLimiter
from tablewright.edge.errors import problem_for
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import Router, include
from tablewright.systems.parental.access import PARENTAL
from tablewright.systems.parental.api import enforcement, families, monitoring, operators, policies
from tablewright.systems.parental.api.bodies.families import child_view
from tablewright.systems.parental.api.bodies.policies import policy_view
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.model import Child, Policy
from tablewright.systems.parental.parental import Parental


def problem_of(conflict: VersionConflict) -> Problem:
    """A conflict as a response: with the current record, as its family sees it."""
    problem = problem_for(conflict)
    if conflict.current is not None:
        view = _view(conflict.current)
        problem.extra["current"] = view.model_dump(mode="json", by_alias=True, exclude_none=True)
    return problem


def _view(record: BaseModel) -> BaseModel:
    if isinstance(record, Policy):
        return policy_view(record)
    return child_view(record) if isinstance(record, Child) else record


TRANSLATIONS: Mapping[type[Exception], Callable[[Any], Problem]] = {VersionConflict: problem_of}


def router(parental: Parental, who: FindPrincipal, *, buckets: RateLimiter | None = None) -> APIRouter:
    """All routes of parental controls."""
    # `or` would not do: buckets that are empty count as false.
    buckets = RateLimiter() if buckets is None else buckets
    api = Router(prefix="/v1", dependencies=[PARENTAL.of(parental, who)])
    for part in (
        families.families(parental),
        families.children(parental, buckets),
        policies.policies(parental),
        policies.overrides(parental),
        policies.effective(parental),
        enforcement.enforcement(parental),
        enforcement.metrics(parental),
        operators.apps(parental),
        operators.failures(parental),
        operators.devices(parental),
        operators.network(parental),
        monitoring.figures(parental),
    ):
        include(api, part)
    return api
