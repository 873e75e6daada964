"""A customer's own account: verification of an address, registration, `/me`."""

from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.downloads import attachment
from tablewright.edge.etags import mark
from tablewright.edge.rate_limit import network_of
from tablewright.edge.routes import Router
from tablewright.kit.code_requesters import RequestOrigin
from tablewright.kit.http import Cursor, IfMatch, Page, matched, page_of
from tablewright.systems.portal.access import Customer, OwnAccount, Verified
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import PageSize
from tablewright.systems.portal.model import Order
from tablewright.systems.portal.portal import Portal


def verification(portal: Portal, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["verification"])
    pace = Depends(limit_rate(buckets, "verification", per_minute=30, burst=20))

    @api.post("/verification", status_code=202, dependencies=[pace])
    def start_verification(body: bodies.VerifiedAddress, request: Request) -> bodies.CodeSent:
        """Send a code and a link if the address is known; the response is the same if it is not."""
        caller = RequestOrigin(network_of(request), (body.known_device,))
        ticket = portal.verification.start(body.email, caller)
        words = "If we know this address, a code is on its way. It works for 15 minutes."
        return bodies.CodeSent(message=words, ticket=ticket)

    @api.post("/verification/confirm", dependencies=[pace])
    def confirm_verification(body: bodies.TypedSecret, request: Request) -> bodies.Proved:
        """Verify an address with the code or the secret of the link."""
        caller = RequestOrigin(network_of(request), (body.known_device,), body.ticket)
        tenant = portal.verification.confirm(body.email, body.code, caller=caller)
        device = portal.verification.requesters.device(tenant.email)
        token = portal.token_for(tenant)
        return bodies.Proved(tenant_id=tenant.id, status=tenant.status, token=token, known_device=device)

    @api.post("/registration", dependencies=[pace])
    def register(caller: Verified) -> bodies.Confirmed:
        """Complete the registration with the token of a verified address."""
        tenant = portal.verification.register(caller.subject)
        return bodies.Confirmed(tenant_id=tenant.id, status=tenant.status, token=portal.token_for(tenant))

    return api


def me(portal: Portal) -> APIRouter:
    api = Router(prefix="/me", tags=["my account"])

    @api.get("", response_model_exclude_none=True)
    def get_me(response: Response, me: OwnAccount) -> bodies.Me:
        mark(response, me.version)
        return bodies.me_of(me)

    @api.put("", response_model_exclude_none=True)
    def change_me(
        body: bodies.Profile, response: Response, me: OwnAccount, actor: Customer, match: IfMatch = None
    ) -> bodies.Me:
        changed = portal.tenants.change(me.id, body.changes(), actor, matched(match, me.version))
        mark(response, changed.version)
        return bodies.me_of(changed)

    @api.post("/destination", status_code=202, response_model_exclude_none=True)
    def new_destination(body: bodies.NewAddress, me: OwnAccount, actor: Customer) -> bodies.Me:
        """Ask the owner of a new destination address to confirm it."""
        return bodies.me_of(portal.verification.start_destination(me, body.email, actor))

    @api.post("/destination/confirm", response_model_exclude_none=True)
    def confirm_destination(body: bodies.Secret, me: OwnAccount) -> bodies.Me:
        return bodies.me_of(portal.verification.confirm(body.email, body.code, "destination", me.id))

    @api.get("/orders", response_model_exclude_none=True)
    def my_orders(
        me: OwnAccount, actor: Customer, size: PageSize = None, after: Cursor = None
    ) -> Page[Order]:
        return page_of(portal.tenants.orders(me.id, actor, size, after))

    @api.get("/export")
    def my_data(response: Response, me: OwnAccount) -> dict[str, Any]:
        """All data stored about the caller."""
        response.headers.update(attachment("portal", me.email, portal.repository.now(), "json"))
        return portal.privacy.export(me.id, own=True)

    return api
