"""Who may do what in the portal: the dependencies of its API and its pages.

Staff (support, admin) sees what its role allows, a customer only their own data. Changes by an admin need a second
factor. An order is its owner's once the address is verified; to anyone else it does not exist.
"""

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request

from tablewright.edge import Principal
from tablewright.edge.errors import Forbidden, NotFound
from tablewright.edge.identity.guards import refuse_without_second_factor
from tablewright.kit.access import Access, itself
from tablewright.kit.tables import Actor
from tablewright.systems.portal import rules
from tablewright.systems.portal.model import Order, Tenant
from tablewright.systems.portal.portal import Portal

# No administrator can assign these two roles: a customer gets them with an order and a verified address.
TENANTS_ALONE = (
    "This is for customers only, and this login is not a customer's. Order a plan first, then confirm your e-mail "
    "address with the code we send you."
)
PROVED_ALONE = "This login has no confirmed e-mail address. Ask for a code and sign in with it."
STAFF = ("support", "admin")
PORTAL: Access[Portal] = Access("portal")


def actor_of(caller: Principal) -> Actor:
    """The caller as an actor of the portal's rules."""
    role = next((role for role in ("admin", "support", "tenant") if role in caller.roles), "public")
    return Actor(caller.email or caller.subject or "public", role, caller.subject)


def is_staff(caller: Principal) -> bool:
    return not caller.roles.isdisjoint(STAFF)


def buyer_of(caller: Principal) -> str | None:
    """The signed-in customer; None for a guest."""
    return caller.subject if caller.roles & {"tenant", "verified"} else None


def _status_changer(caller: Principal) -> Actor:
    if "admin" in caller.roles:
        refuse_without_second_factor(caller)
    return actor_of(caller)


signed_in = PORTAL.require(itself)
verified = PORTAL.require(itself, "verified", "tenant", code="NOT_VERIFIED", words=PROVED_ALONE)
customer = PORTAL.require(actor_of, "tenant", code="TENANT_ONLY", words=TENANTS_ALONE)
staff = PORTAL.require(actor_of, *STAFF, code="ADMIN_ONLY")
status_changer = PORTAL.require(_status_changer, *STAFF, code="ADMIN_ONLY")
admin = PORTAL.require(actor_of, "admin", mfa=True, code="ADMIN_ONLY")

Caller = Annotated[Principal, Depends(PORTAL.caller)]  # anyone: for public routes
SignedIn = Annotated[Principal, Depends(signed_in)]
Verified = Annotated[Principal, Depends(verified)]
Customer = Annotated[Actor, Depends(customer)]
Staff = Annotated[Actor, Depends(staff)]
StatusChanger = Annotated[Actor, Depends(status_changer)]  # staff; an admin with a second factor
Admin = Annotated[Actor, Depends(admin)]


def own_account(request: Request, actor: Customer) -> Tenant:
    """A dependency: the caller's own record; TENANT_CLOSED if the account was deleted after the login."""
    return _open_account(PORTAL.service(request), actor.subject)


def own_order(request: Request, id: str, caller: SignedIn) -> Order:
    """A dependency: the order of the path, for staff or its owner."""
    return order_for(PORTAL.service(request), id, caller)


def order_for(portal: Portal, id: str, caller: Principal) -> Order:
    """An order for staff, or for its owner while the account is open; ORDER_NOT_FOUND for anyone else.

    The owner of an address sees an order that was placed without signing in after verifying the address.
    """
    order = portal.orders.order(id)
    if is_staff(caller):
        return order
    if order.tenant_id != caller.subject or not rules.is_claimed(
        order, _open_account(portal, caller.subject)
    ):
        raise NotFound("order")
    return order


def canceller(caller: SignedIn) -> Actor:
    """A dependency: the actor of a cancellation: an owner, or an admin with a second factor; support may not cancel."""
    actor = actor_of(caller)
    if not actor.is_staff:
        return replace(actor, role="user")
    if actor.role != "admin":
        raise Forbidden("ADMIN_ONLY", "Only an admin can cancel a customer's order.")
    refuse_without_second_factor(caller)
    return actor


def _open_account(portal: Portal, subject: str) -> Tenant:
    found = portal.tenants.get(subject)
    if not found.active:
        raise Forbidden("TENANT_CLOSED", rules.CLOSED)
    return found


OwnAccount = Annotated[Tenant, Depends(own_account)]
OwnOrder = Annotated[Order, Depends(own_order)]
Canceller = Annotated[Actor, Depends(canceller)]
