"""Who may call a path, in the OpenAPI description: derived from the guards of each route.

Must hold: what is described is what `require` checks (identity/guards.py): there is no second list that could differ.
Elsewhere: what a system refuses beyond that, such as another family's child (the system's errors).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import BaseRoute

from tablewright.edge.identity.guards import needs_of

SCHEME = "bearer"
_BEARER = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "JWT",
    "description": "A token of a login. /docs says how to get one; in a browser the session cookie works too.",
}


@dataclass(frozen=True, slots=True)
class Access:
    """What a route requires of its caller: a login, one of `roles` if there are any, a second factor."""

    roles: tuple[str, ...]
    mfa: bool

    @property
    def words(self) -> str:
        role = f"the role {' or '.join(self.roles)}" if self.roles else "any login"
        return f"{role}, with a second factor" if self.mfa else role


def access_of(dependant: Dependant) -> Access | None:
    """What a route requires; None if no login is needed."""
    found = [needs for each in _all(dependant) if (needs := needs_of(each.call)) is not None]
    if not found:
        return None
    roles = next((needs.roles for needs in found if needs.roles), ())
    return Access(roles, any(needs.mfa for needs in found))


def _all(dependant: Dependant) -> Iterator[Dependant]:
    for each in dependant.dependencies:
        yield each
        yield from _all(each)


def describe_access(document: dict[str, Any], routes: list[BaseRoute]) -> dict[str, Any]:
    """Add to an API's description what each operation requires of its caller."""
    if not document.get("paths") or SCHEME in document.get("components", {}).get("securitySchemes", {}):
        return document  # nothing to describe, or described already
    document.setdefault("components", {}).setdefault("securitySchemes", {})[SCHEME] = _BEARER
    for route in iter_route_contexts(routes):
        if isinstance(route.original_route, APIRoute):
            operations = document["paths"].get(route.path_format, {})
            for method in route.methods or ():
                if (operation := operations.get(method.lower())) is not None:
                    _describe(operation, access_of(route.dependant))
    return document


def _describe(operation: dict[str, Any], access: Access | None) -> None:
    operation["security"] = [] if access is None else [{SCHEME: list[str]()}]
    if access is not None:
        operation["x-roles"], operation["x-second-factor"] = list(access.roles), access.mfa


def access_in(operation: Mapping[str, Any]) -> Access | None:
    """What `describe_access` wrote into an operation."""
    if not operation.get("security"):
        return None
    return Access(tuple(operation.get("x-roles", ())), bool(operation.get("x-second-factor")))
