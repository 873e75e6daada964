"""A customer's own account: verification of an address, registration, `/me`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge import Principal, RateLimiter, limit_rate
from tablewright.edge.downloads import attachment
from tablewright.edge.etags import if_match, mark
from tablewright.edge.rate_limit import network_of
from tablewright.kit.code_requesters import RequestOrigin
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import Page
from tablewright.systems.portal.api.common import (
    Doors,
    IfMatch,
    PageSize,
    StartAt,
    actor_of,
    expected,
    open_account,
    page_of,
)
from tablewright.systems.portal.model import Order
from tablewright.systems.portal.portal import Portal


def verification(portal: Portal, doors: Doors, buckets: RateLimiter) -> APIRouter:
    api = APIRouter(tags=["verification"])
    pace = limit_rate(buckets, "verification", per_minute=30, burst=20)

    @api.post("/verification", status_code=202, dependencies=[Depends(pace)])
    def start_verification(body: bodies.VerifiedAddress, request: Request) -> bodies.CodeSent:
        """Send a code and a link if the address is known; the response is the same if it is not."""
        caller = RequestOrigin(network_of(request), (body.known_device,))
        ticket = portal.verification.start(body.email, caller)
        words = "If we know this address, a code is on its way. It works for 15 minutes."
        return bodies.CodeSent(message=words, ticket=ticket)

    @api.post("/verification/confirm", dependencies=[Depends(pace)])
    def confirm_verification(body: bodies.TypedSecret, request: Request) -> bodies.Proved:
        """Verify an address with the code or the secret of the link."""
        caller = RequestOrigin(network_of(request), (body.known_device,), body.ticket)
        tenant = portal.verification.confirm(body.email, body.code, caller=caller)
        return bodies.Proved(
            tenant_id=tenant.id,
            status=tenant.status,
            token=portal.token_for(tenant),
            known_device=portal.verification.requesters.device(tenant.email),
        )

    @api.post("/registration", dependencies=[Depends(pace)])
    def register(caller: Annotated[Principal, Depends(doors.verified)]) -> bodies.Confirmed:
        """Complete the registration with the token of a verified address."""
        tenant = portal.verification.register(caller.subject)
        return bodies.Confirmed(tenant_id=tenant.id, status=tenant.status, token=portal.token_for(tenant))

    return api


def me(portal: Portal, doors: Doors) -> APIRouter:
    api = APIRouter(prefix="/me", tags=["my account"])

    @api.get("", response_model_exclude_none=True)
    def get_me(response: Response, caller: Annotated[Principal, Depends(doors.tenant)]) -> bodies.Me:
        found = open_account(portal, caller)
        mark(response, found.version)
        return bodies.me_of(found)

    @api.put("", response_model_exclude_none=True)
    def change_me(
        body: bodies.Profile,
        response: Response,
        caller: Annotated[Principal, Depends(doors.tenant)],
        match: IfMatch = None,
    ) -> bodies.Me:
        current = open_account(portal, caller)
        if_match(match, current.version)
        changed = portal.tenants.change(
            caller.subject, body.changes(), actor_of(caller), expected(match, current.version)
        )
        mark(response, changed.version)
        return bodies.me_of(changed)

    @api.post("/destination", status_code=202, response_model_exclude_none=True)
    def new_destination(
        body: bodies.NewAddress, caller: Annotated[Principal, Depends(doors.tenant)]
    ) -> bodies.Me:
        """Ask the owner of a new destination address to confirm it."""
        found = open_account(portal, caller)
        return bodies.me_of(portal.verification.start_destination(found, body.email, actor_of(caller)))

    @api.post("/destination/confirm", response_model_exclude_none=True)
    def confirm_destination(
        body: bodies.Secret, caller: Annotated[Principal, Depends(doors.tenant)]
    ) -> bodies.Me:
        return bodies.me_of(portal.verification.confirm(body.email, body.code, "destination", caller.subject))

    @api.get("/orders", response_model_exclude_none=True)
    def my_orders(
        caller: Annotated[Principal, Depends(doors.tenant)], size: PageSize = None, after: StartAt = None
    ) -> Page[Order]:
        open_account(portal, caller)
        page = portal.tenants.orders(caller.subject, actor_of(caller), size, after)
        return page_of(list(page.items), page.next)

    @api.get("/export")
    def my_data(response: Response, caller: Annotated[Principal, Depends(doors.tenant)]) -> dict[str, Any]:
        """All data stored about the caller."""
        tenant = open_account(portal, caller)
        response.headers.update(attachment("portal", tenant.email, portal.repository.now(), "json"))
        return portal.tenants.export(caller.subject, own=True)

    return api
