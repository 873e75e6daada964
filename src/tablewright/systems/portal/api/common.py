"""What the routes share: callers and actors, expected versions, pages of lists, errors as responses."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import Header, Query
from pydantic import BeforeValidator

from tablewright.edge import Principal
from tablewright.edge.identity.guards import FindPrincipal, login_required, role_required
from tablewright.edge.problems import forbidden
from tablewright.kit.tables import Actor
from tablewright.systems.portal import rules
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import Page
from tablewright.systems.portal.model import Tenant
from tablewright.systems.portal.portal import Portal

# No administrator can assign these two roles: a customer gets them with an order and a verified address.
TENANTS_ALONE = (
    "This is for customers only, and this login is not a customer's. Order a plan first, then confirm your e-mail "
    "address with the code we send you."
)
PROVED_ALONE = "This login has no confirmed e-mail address. Ask for a code and sign in with it."
# The same URL returns more to staff: a cache must not mix the two.
VARY = "Authorization, Cookie"
PageSize = Annotated[int | None, Query(alias="pageSize", description="1 to 100; default: 50")]
StartAt = Annotated[str | None, Query(alias="startAt", description="`startAt` of the previous page")]
IfMatch = Annotated[str | None, Header(alias="If-Match")]
Since = Annotated[
    datetime | None, BeforeValidator(lambda value: bodies.moment_of(value, "from")), Query(alias="from")
]
Until = Annotated[
    datetime | None, BeforeValidator(lambda value: bodies.moment_of(value, "to")), Query(alias="to")
]


@dataclass(frozen=True, slots=True)
class Doors:
    """Guards of the routes: everyone, signed in, with a verified address, tenants, staff, admins."""

    anyone: FindPrincipal
    signed_in: FindPrincipal
    verified: FindPrincipal
    tenant: FindPrincipal
    staff: FindPrincipal
    admin: FindPrincipal


def actor_of(principal: Principal) -> Actor:
    """The caller as an actor of the portal's rules."""
    role = next((role for role in ("admin", "support", "tenant") if role in principal.roles), "public")
    return Actor(principal.email or principal.subject or "public", role, principal.subject)


def staff_of(caller: Principal) -> Actor:
    if not caller.is_known:
        raise login_required()
    if not caller.roles & {"admin", "support"}:
        raise role_required("ADMIN_ONLY", "support", "admin")
    return actor_of(caller)


def with_second_factor(caller: Principal) -> None:
    if not caller.used_mfa:
        raise forbidden("MFA_REQUIRED", "This needs a second factor. Sign in again with yours.")


def open_account(portal: Portal, caller: Principal) -> Tenant:
    """The caller's own record; TENANT_CLOSED if the account was deleted after the login."""
    found = portal.tenants.get(caller.subject)
    if not found.active:
        raise forbidden("TENANT_CLOSED", rules.CLOSED)
    return found


def expected(match: str | None, current: int) -> int | None:
    """The expected version: with If-Match, the one just compared, so that a race after that is 412 too."""
    return current if match is not None else None


def fields_of(body: Any) -> dict[str, Any]:
    return {name: getattr(body, name) for name in type(body).model_fields}


def page_of(items: list[Any], token: str | None) -> Page[Any]:
    return Page(items=items, more_available=token is not None, start_at=token)
