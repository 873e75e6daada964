"""The portal over HTTP: `/v1.0/...` of CP C.2. Reads arguments, calls the service, makes the response.

Must hold: nothing is deleted (DELETE is 405); a PUT may carry If-Match and is refused if the version has changed.
Elsewhere: the routes (the modules beside this one), bodies (bodies.py), who may call them (access.py), what is allowed
(rules.py, the service).
"""

from fastapi import APIRouter

from tablewright.edge import RateLimiter
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import Router, include
from tablewright.systems.portal.access import PORTAL
from tablewright.systems.portal.api import admin, campaigns, me, orders, products, tenants
from tablewright.systems.portal.portal import Portal


def router(portal: Portal, who: FindPrincipal, *, buckets: RateLimiter | None = None) -> APIRouter:
    """All routes of the portal."""
    # not `or`: an empty RateLimiter is falsy
    buckets = RateLimiter() if buckets is None else buckets
    api = Router(prefix="/v1.0", dependencies=[PORTAL.of(portal, who)])
    for part in (
        products.products(portal),
        campaigns.campaigns(portal),
        tenants.tenants(portal),
        orders.orders(portal, buckets),
        me.verification(portal, buckets),
        me.me(portal),
        admin.admin(portal),
    ):
        include(api, part)
    return api
