"""What the routes share: who is asking, as whom; which version a change rests on; pages; mistakes as answers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import Header, Query
from pydantic import BeforeValidator

from tablewright.edge import Principal
from tablewright.edge.errors import Statuses, problem_for
from tablewright.edge.identity.guards import FindPrincipal, login_required, role_required
from tablewright.edge.problems import Problem, forbidden
from tablewright.systems.portal import errors, rules
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import Page
from tablewright.systems.portal.model import Tenant
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.repository import Actor

# Nobody gives these two: one has them by what one did.
TENANTS_ALONE = (
    "This is a customer's own, and this login is no customer's. Buy something in the shop, and prove the address "
    "you gave with the code that is sent to it."
)
PROVED_ALONE = "This login proves no address. Ask for a code for yours, and sign in with it."
# The same address shows more to staff: a cache must not give one the other's copy.
VARY = "Authorization, Cookie"
PageSize = Annotated[int | None, Query(alias="pageSize", description="1 to 100; 50 if not given")]
StartAt = Annotated[str | None, Query(alias="startAt", description="the token of the page before")]
IfMatch = Annotated[str | None, Header(alias="If-Match")]
Since = Annotated[
    datetime | None, BeforeValidator(lambda value: bodies.moment_of(value, "from")), Query(alias="from")
]
Until = Annotated[
    datetime | None, BeforeValidator(lambda value: bodies.moment_of(value, "to")), Query(alias="to")
]


@dataclass(frozen=True, slots=True)
class Doors:
    """Who may come in: anybody at all, anybody signed in, who proved an address, a tenant, staff, an admin."""

    anyone: FindPrincipal
    signed_in: FindPrincipal
    verified: FindPrincipal
    tenant: FindPrincipal
    staff: FindPrincipal
    admin: FindPrincipal


def actor_of(principal: Principal) -> Actor:
    """The caller as the portal's rules see it."""
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
        raise forbidden("MFA_REQUIRED", "This needs a login with a second factor. Sign in again with yours.")


def open_account(portal: Portal, caller: Principal) -> Tenant:
    """The caller's own record, while there is an account: a login may be older than its end."""
    found = portal.tenants.get(caller.subject)
    if not found.active:
        raise forbidden("TENANT_CLOSED", rules.CLOSED)
    return found


def expected(match: str | None, current: int) -> int | None:
    """The version a change rests on: with If-Match, the one that was just compared; a race after that is 412 too."""
    return current if match is not None else None


def fields_of(body: Any) -> dict[str, Any]:
    return {name: getattr(body, name) for name in type(body).model_fields}


def page_of(items: list[Any], token: str | None) -> Page[Any]:
    return Page(items=items, more_available=token is not None, start_at=token)


_STATUSES: Statuses = (
    (errors.NotThere, 404),
    (errors.Taken, 409),
    (errors.Changed, 412),
    (errors.Forbidden, 403),
    (errors.Conflict, 409),
    (errors.Unavailable, 410),
    (errors.BadRequest, 400),
    (errors.TooOften, 429),
)


def problem_of(mistake: errors.PortalMistake) -> Problem:
    """The portal's mistake as an answer."""
    return problem_for(mistake, _STATUSES)
