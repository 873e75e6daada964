"""The portal over HTTP: `/v1.0/...` of CP C.2. Reads arguments, calls the service, makes the response.

Must hold: nothing is deleted (DELETE is 405); staff sees what its role allows, a tenant only its own data; a PUT may
carry If-Match and is refused if the version has changed.
Elsewhere: the routes (the modules beside this one), bodies (bodies.py), what is allowed (rules.py, the service).
"""

from fastapi import APIRouter

from tablewright.edge import RateLimiter, require
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.systems.portal.api import admin, campaigns, me, orders, products, tenants
from tablewright.systems.portal.api.common import (
    PROVED_ALONE,
    TENANTS_ALONE,
    Doors,
    actor_of,
    open_account,
)
from tablewright.systems.portal.api.orders import buyer_of, canceller, own_order
from tablewright.systems.portal.portal import Portal

__all__ = [
    "TENANTS_ALONE",
    "actor_of",
    "buyer_of",
    "canceller",
    "open_account",
    "own_order",
    "router",
]


def router(portal: Portal, who: FindPrincipal, *, buckets: RateLimiter | None = None) -> APIRouter:
    """All routes of the portal."""
    # not `or`: an empty RateLimiter is falsy
    buckets = RateLimiter() if buckets is None else buckets
    api = APIRouter(prefix="/v1.0")
    doors = Doors(
        anyone=who,
        signed_in=require(who),
        verified=require(who, "verified", "tenant", code="NOT_VERIFIED", words=PROVED_ALONE),
        tenant=require(who, "tenant", code="TENANT_ONLY", words=TENANTS_ALONE),
        staff=require(who, "support", "admin", code="ADMIN_ONLY"),
        admin=require(who, "admin", mfa=True, code="ADMIN_ONLY"),
    )
    for part in (
        products.products(portal, doors),
        campaigns.campaigns(portal, doors),
        tenants.tenants(portal, doors),
        orders.orders(portal, doors, buckets),
        me.verification(portal, doors, buckets),
        me.me(portal, doors),
        admin.admin(portal, doors),
    ):
        api.include_router(part)
    return api
