"""The portal over HTTP: `/v1.0/...` of CP C.2. Reads arguments, calls the service, shapes the answer.

Must hold: nothing is deleted here (DELETE answers 405); staff sees what staff may, a tenant only its own; a change by
PUT may carry If-Match and is refused when it is stale.
Elsewhere: what bodies look like (views.py), what is allowed (rules.py and the service).
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import BeforeValidator
from starlette.concurrency import run_in_threadpool

from tablewright.edge import Buckets, Principal, Problem, limited, mistakes, require
from tablewright.edge.etags import if_match, mark, public_cache, unchanged
from tablewright.edge.idempotency import HEADER, idempotency_key
from tablewright.edge.identity.guards import FindPrincipal, login_required
from tablewright.edge.problems import bad_request, forbidden, not_found
from tablewright.systems.portal import errors, views
from tablewright.systems.portal.checkout import Line
from tablewright.systems.portal.model import (
    ACTIVE,
    INACTIVE,
    AuditEntry,
    Kind,
    Order,
    OrderStatus,
    PriceChange,
    Status,
    Tenant,
)
from tablewright.systems.portal.payments import BadEvent, BadSignature
from tablewright.systems.portal.repository import Actor
from tablewright.systems.portal.service import Portal
from tablewright.systems.portal.tallies import KINDS, tally_of
from tablewright.systems.portal.views import Page

_STATUSES: mistakes.Statuses = (
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
    return mistakes.problem_of(mistake, _STATUSES)


TRANSLATIONS: Mapping[type[Exception], Callable[[Any], Problem]] = {errors.PortalMistake: problem_of}


def actor_of(principal: Principal) -> Actor:
    """The caller as the portal's rules see it."""
    role = next((role for role in ("admin", "support", "tenant") if role in principal.roles), "public")
    return Actor(principal.email or principal.subject or "public", role, principal.subject)


def router(portal: Portal, who: FindPrincipal, *, buckets: Buckets | None = None) -> APIRouter:
    """All routes of the portal."""
    # `or` would not do: buckets that are empty count as false.
    buckets = Buckets() if buckets is None else buckets
    api = APIRouter(prefix="/v1.0")
    admin = require(who, "admin", mfa=True, code="ADMIN_ONLY")
    staff = require(who, "support", "admin", code="ADMIN_ONLY")
    tenant = require(who, "tenant", code="TENANT_ONLY")
    for part in (
        _products(portal, who, admin),
        _campaigns(portal, who, admin),
        _tenants(portal, admin, staff),
        _orders(portal, who, admin, staff, buckets),
        _verification(portal, require(who, "verified", "tenant", code="NOT_VERIFIED"), buckets),
        _me(portal, tenant),
        _admin(portal, admin, staff),
    ):
        api.include_router(part)
    return api


# The same address shows more to staff: a cache must not give one the other's copy.
_VARY = "Authorization, Cookie"
PageSize = Annotated[int | None, Query(alias="pageSize", description="1 to 100; 50 if not given")]
StartAt = Annotated[str | None, Query(alias="startAt", description="the token of the page before")]
IfMatch = Annotated[str | None, Header(alias="If-Match")]
Since = Annotated[
    datetime | None, BeforeValidator(lambda value: views.moment_of(value, "from")), Query(alias="from")
]
Until = Annotated[
    datetime | None, BeforeValidator(lambda value: views.moment_of(value, "to")), Query(alias="to")
]


def _products(portal: Portal, who: FindPrincipal, admin: FindPrincipal) -> APIRouter:
    api = APIRouter(tags=["products"])
    catalogue, now = portal.catalogue, portal.repository.now

    @api.get("/products", response_model_exclude_none=True)
    def list_products(
        request: Request,
        response: Response,
        caller: Annotated[Principal, Depends(who)],
        include_inactive: Annotated[bool, Query(alias="includeInactive")] = False,
        size: PageSize = None,
        after: StartAt = None,
    ) -> Any:
        """The pricing page: everything for sale. Staff may include what is not, page by page."""
        if include_inactive:
            actor = _staff(caller)
            page = catalogue.products(actor, active=None, size=size, after=after)
            return _page([views.product_view(p, now()) for p in page.items], page.next)
        shown = [views.public_product(product, now()) for product in catalogue.for_sale()]
        body: Page[views.PublicProduct] = _page(shown, None)
        version = _fingerprint(body)
        response_304 = unchanged(request, version, cache_control=public_cache())
        if response_304 is not None:
            return response_304
        mark(response, version, cache_control=public_cache())
        response.headers["Vary"] = _VARY
        return body

    @api.post("/products", status_code=201)
    def create_product(
        body: views.NewProduct, response: Response, caller: Annotated[Principal, Depends(admin)]
    ) -> views.ProductView:
        product, warnings = catalogue.create_product(_fields(body), actor_of(caller))
        mark(response, product.version)
        return views.product_view(product, now(), warnings)

    @api.get("/products/{id}", response_model_exclude_none=True)
    def get_product(
        id: str, request: Request, response: Response, caller: Annotated[Principal, Depends(who)]
    ) -> Any:
        """One product: for the public as it is sold, for staff as it is kept."""
        if caller.roles & {"admin", "support"}:
            product = catalogue.product(id, deleted=True)
            mark(response, product.version)
            return views.product_view(product, now())
        product = catalogue.product(id)
        if product.draft:
            raise not_found("PRODUCT_NOT_FOUND", "There is no such product.")
        seen = views.public_product(product, now())
        version = _fingerprint(seen)
        response_304 = unchanged(request, version, cache_control=public_cache())
        if response_304 is not None:
            return response_304
        mark(response, version, cache_control=public_cache())
        response.headers["Vary"] = _VARY
        return seen

    @api.put("/products/{id}")
    def change_product(
        id: str,
        body: views.ProductChange,
        response: Response,
        caller: Annotated[Principal, Depends(admin)],
        match: IfMatch = None,
    ) -> views.ProductView:
        """Change what is sent and leave the rest; `active: false` takes it off sale."""
        current = catalogue.product(id, deleted=True)
        if_match(match, current.version)
        changes = body.changes()
        product, warnings = catalogue.change_product(
            id, changes, actor_of(caller), _expected(match, current.version)
        )
        mark(response, product.version)
        return views.product_view(product, now(), warnings)

    @api.get("/products/{id}/campaigns", response_model_exclude_none=False)
    def campaigns_of_product(
        id: str, caller: Annotated[Principal, Depends(who)]
    ) -> list[views.PublicCampaign]:
        public = not caller.roles & {"admin", "support"}
        return [views.public_campaign(offer) for offer in catalogue.offers_of(id, public=public)]

    @api.get("/products/{id}/prices")
    def prices_of_product(id: str, caller: Annotated[Principal, Depends(admin)]) -> list[PriceChange]:
        """Every price since the product was made."""
        catalogue.product(id, deleted=True)
        return catalogue.prices(id)

    return api


def _campaigns(portal: Portal, who: FindPrincipal, admin: FindPrincipal) -> APIRouter:
    api = APIRouter(tags=["campaigns"])
    catalogue, repository = portal.catalogue, portal.repository

    @api.get("/campaigns")
    def list_campaigns(
        caller: Annotated[Principal, Depends(who)],
        response: Response,
        valid_only: Annotated[bool, Query(alias="validOnly")] = False,
        include_inactive: Annotated[bool, Query(alias="includeInactive")] = False,
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[views.PublicCampaign]:
        """Active campaigns, newest first; `validOnly` those of today. Staff may list what is switched off."""
        actor = _staff(caller) if include_inactive else actor_of(caller)
        offers, token = catalogue.offers(
            actor, active=None if include_inactive else True, valid_only=valid_only, size=size, after=after
        )
        _cached(response, for_everyone=not actor.is_staff)
        return _page([views.public_campaign(offer) for offer in offers], token)

    @api.post("/campaigns", status_code=201)
    def create_campaign(
        body: views.NewCampaign, response: Response, caller: Annotated[Principal, Depends(admin)]
    ) -> views.CampaignView:
        campaign, warnings = catalogue.create_campaign(_fields(body), actor_of(caller))
        mark(response, campaign.version)
        return views.campaign_view(catalogue.offer(campaign.code), warnings)

    @api.get("/campaigns/{code}", response_model_exclude_none=False)
    def get_campaign(
        code: str,
        response: Response,
        caller: Annotated[Principal, Depends(who)],
        preview: str | None = None,
    ) -> Any:
        """The landing page's data. A campaign that is not on yet is shown to staff, and to who has a preview link."""
        if caller.roles & {"admin", "support"}:
            offer = catalogue.offer(code)
            mark(response, offer.campaign.version)
            return views.campaign_view(offer)
        offer = catalogue.landing(code)
        if offer.state == "SCHEDULED" and not (
            preview and portal.previews.opens(preview, offer.campaign.code, repository.now())
        ):
            raise not_found("CAMPAIGN_NOT_FOUND", "There is no such campaign.")
        _cached(response, for_everyone=not preview)
        return views.public_campaign(offer)

    @api.put("/campaigns/{code}")
    def change_campaign(
        code: str,
        body: views.CampaignChange,
        response: Response,
        caller: Annotated[Principal, Depends(admin)],
        match: IfMatch = None,
    ) -> views.CampaignView:
        """Change what is sent and leave the rest; `active: false` switches it off."""
        current = catalogue.offer(code).campaign
        if_match(match, current.version)
        campaign = catalogue.change_campaign(
            code, body.changes(), actor_of(caller), _expected(match, current.version)
        )
        mark(response, campaign.version)
        return views.campaign_view(catalogue.offer(campaign.code))

    @api.post("/campaigns/{code}/preview")
    def preview_link(code: str, caller: Annotated[Principal, Depends(admin)]) -> dict[str, str]:
        """A link that shows the campaign before it begins, for a week."""
        campaign = catalogue.offer(code).campaign
        token = portal.previews.token(campaign.code, repository.now())
        return {"token": token, "path": f"/console/portal/campaigns/{campaign.code}?preview={token}"}

    return api


def _tenants(portal: Portal, admin: FindPrincipal, staff: FindPrincipal) -> APIRouter:
    api = APIRouter(tags=["tenants"])
    tenants = portal.tenants

    @api.get("/tenants", response_model_exclude_none=True)
    def list_tenants(
        caller: Annotated[Principal, Depends(staff)],
        status: Status | None = None,
        since: Since = None,
        until: Until = None,
        include_inactive: Annotated[bool, Query(alias="includeInactive")] = False,
        active: bool = True,
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[Tenant]:
        """Newest first. `active=false` lists what was deleted, `includeInactive=true` everything."""
        page = tenants.page(
            actor_of(caller),
            status=status,
            since=since,
            until=until,
            active=None if include_inactive else active,
            size=size,
            after=after,
        )
        return _page(list(page.items), page.next)

    @api.post("/tenants", status_code=201, response_model_exclude_none=True)
    def create_tenant(
        body: views.NewTenant, response: Response, caller: Annotated[Principal, Depends(admin)]
    ) -> Tenant:
        made = tenants.create(body.email, body.organization_name, body.destination_email, actor_of(caller))
        mark(response, made.version)
        return made

    @api.post("/tenants/{id}:restore", response_model_exclude_none=True)
    def restore_tenant(id: str, response: Response, caller: Annotated[Principal, Depends(admin)]) -> Tenant:
        return _marked(response, tenants.restore(id, actor_of(caller)))

    @api.post("/tenants/{id}:erase", response_model_exclude_none=True)
    def erase_tenant(
        id: str, body: views.Reason, response: Response, caller: Annotated[Principal, Depends(admin)]
    ) -> Tenant:
        """Take the person out of the record for good; orders and amounts stay."""
        return _marked(response, tenants.erase(id, actor_of(caller), body.reason))

    @api.post("/tenants/{id}:email", response_model_exclude_none=True)
    def change_email(
        id: str, body: views.NewAddress, response: Response, caller: Annotated[Principal, Depends(admin)]
    ) -> Tenant:
        """Give a tenant a new address."""
        return _marked(response, tenants.change_email(id, body.email, actor_of(caller)))

    @api.get("/tenants/{id}", response_model_exclude_none=True)
    def get_tenant(id: str, response: Response, caller: Annotated[Principal, Depends(staff)]) -> Tenant:
        return _marked(response, tenants.get(id))

    @api.put("/tenants/{id}", response_model_exclude_none=True)
    def change_tenant(
        id: str,
        body: views.TenantChange,
        response: Response,
        caller: Annotated[Principal, Depends(admin)],
        match: IfMatch = None,
    ) -> Tenant:
        """Change what is sent and leave the rest; `active: false` deletes softly, `true` restores."""
        current = tenants.get(id)
        if_match(match, current.version)
        changed = tenants.change(id, body.changes(), actor_of(caller), _expected(match, current.version))
        return _marked(response, changed)

    @api.put("/tenants/{id}/status", response_model_exclude_none=True)
    def change_status(
        id: str,
        body: views.StatusChange,
        response: Response,
        caller: Annotated[Principal, Depends(staff)],
        match: IfMatch = None,
    ) -> Tenant:
        """Move a tenant through its states; an admin may force any with `override`, which is recorded."""
        actor = actor_of(caller)
        if actor.role == "admin":
            _with_second_factor(caller)
        current = tenants.get(id)
        if_match(match, current.version)
        moved = tenants.move(
            id,
            body.status,
            actor,
            reason=body.reason,
            override=body.override,
            expected=_expected(match, current.version),
        )
        return _marked(response, moved)

    @api.get("/tenants/{id}/orders", response_model_exclude_none=True)
    def orders_of_tenant(
        id: str, caller: Annotated[Principal, Depends(staff)], size: PageSize = None, after: StartAt = None
    ) -> Page[Order]:
        tenants.get(id)
        page = tenants.orders(id, actor_of(caller), size, after)
        return _page(list(page.items), page.next)

    @api.get("/tenants/{id}/history", response_model_exclude_none=True)
    def history_of_tenant(
        id: str, caller: Annotated[Principal, Depends(staff)], size: PageSize = None, after: StartAt = None
    ) -> Page[AuditEntry]:
        tenants.get(id)
        page = tenants.history(id, actor_of(caller), size, after)
        return _page(list(page.items), page.next)

    @api.get("/tenants/{id}/export")
    def export_tenant(id: str, caller: Annotated[Principal, Depends(admin)]) -> dict[str, Any]:
        """Everything kept about a tenant."""
        return tenants.export(id)

    return api


def _orders(
    portal: Portal, who: FindPrincipal, admin: FindPrincipal, staff: FindPrincipal, buckets: Buckets
) -> APIRouter:
    api = APIRouter(tags=["orders"])
    checkout = portal.checkout
    pace = limited(buckets, "checkout", per_minute=600, burst=300)

    @api.post("/checkout", status_code=201, dependencies=[Depends(pace)], response_model_exclude_none=True)
    def place_order(
        body: views.CheckoutRequest,
        request: Request,
        key: Annotated[str | None, Header(alias=HEADER)] = None,
    ) -> views.Placed:
        """Buy. With an Idempotency-Key, asking again gives the first order."""
        order = checkout.place(
            body.email,
            [Line(item.product_id, item.quantity) for item in body.items],
            codes=body.campaign_codes,
            organization_name=body.organization_name,
            payment_token=body.payment_token,
            key=idempotency_key(request),
        )
        return views.placed(order)

    @api.get("/orders", response_model_exclude_none=True)
    def list_orders(
        caller: Annotated[Principal, Depends(staff)],
        status: OrderStatus = "PAID",
        since: Since = None,
        until: Until = None,
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[Order]:
        page = checkout.page(
            actor_of(caller),
            status,
            since=since,
            until=until,
            size=size,
            after=after,
        )
        return _page(list(page.items), page.next)

    @api.post("/orders/{id}:cancel", response_model_exclude_none=True)
    def cancel_order(id: str, caller: Annotated[Principal, Depends(require(who))]) -> Order:
        """A tenant may cancel its own order while it is not paid."""
        order = own_order(portal, id, caller)
        return checkout.cancel(order.order_id, canceller(caller))

    @api.post("/orders/{id}:refund", response_model_exclude_none=True)
    def refund_order(id: str, caller: Annotated[Principal, Depends(admin)]) -> Order:
        return checkout.refund(id, actor_of(caller))

    @api.get("/orders/{id}", response_model_exclude_none=True)
    def get_order(id: str, caller: Annotated[Principal, Depends(require(who))]) -> Order:
        return own_order(portal, id, caller)

    @api.post("/payments/events")
    async def payment_event(
        request: Request, signature: Annotated[str, Header(alias="X-Signature")] = ""
    ) -> Any:
        """Where the gateway tells what became of a payment; the same event twice is one."""
        body = await request.body()
        try:
            event = portal.payments.read(body, signature)
        except BadSignature:
            raise forbidden("BAD_SIGNATURE", "This event is not signed by the gateway.") from None
        except BadEvent:
            raise bad_request("BAD_EVENT", "This event is signed, but of no kind or form we know.") from None
        order = await run_in_threadpool(checkout.paid, event)
        return {"orderId": order.order_id, "orderStatus": order.order_status}

    return api


def own_order(portal: Portal, id: str, caller: Principal) -> Order:
    """An order for staff, or for its owner while the account is open; to anybody else there is none."""
    order = portal.checkout.order(id)
    if caller.roles & {"admin", "support"}:
        return order
    if order.tenant_id != caller.subject:
        raise not_found("ORDER_NOT_FOUND", "There is no such order.")
    open_account(portal, caller)
    return order


def canceller(caller: Principal) -> Actor:
    """As whom the caller may cancel an order: an owner as a user, an admin with a second factor; support may not."""
    actor = actor_of(caller)
    if not actor.is_staff:
        return replace(actor, role="user")
    if actor.role != "admin":
        raise forbidden("ADMIN_ONLY", "Only an admin may cancel somebody's order.")
    _with_second_factor(caller)
    return actor


def _verification(portal: Portal, proved: FindPrincipal, buckets: Buckets) -> APIRouter:
    api = APIRouter(tags=["verification"])
    pace = limited(buckets, "verification", per_minute=30, burst=20)

    @api.post("/verification", status_code=202, dependencies=[Depends(pace)])
    def start_verification(body: views.NewAddress) -> dict[str, str]:
        """Send a code and a link, if the address is known; the answer is the same if it is not."""
        portal.verification.start(body.email)
        return {"message": "If we know this address, a code is on its way. It works for 15 minutes."}

    @api.post("/verification/confirm", dependencies=[Depends(pace)])
    def confirm_verification(body: views.Secret) -> views.Confirmed:
        """Prove an address with the code or the link's secret."""
        tenant = portal.verification.confirm(body.email, body.code)
        return views.Confirmed(tenant_id=tenant.id, status=tenant.status, token=portal.token_for(tenant))

    @api.post("/registration", dependencies=[Depends(pace)])
    def register(caller: Annotated[Principal, Depends(proved)]) -> views.Confirmed:
        """Complete a registration with the token of a proved address."""
        tenant = portal.verification.register(caller.subject)
        return views.Confirmed(tenant_id=tenant.id, status=tenant.status, token=portal.token_for(tenant))

    return api


def open_account(portal: Portal, caller: Principal) -> Tenant:
    """The caller's own record, while there is an account: a login may be older than its end."""
    found = portal.tenants.get(caller.subject)
    if not found.active:
        raise forbidden("TENANT_CLOSED", "This account was closed.")
    return found


def _me(portal: Portal, tenant: FindPrincipal) -> APIRouter:
    api = APIRouter(prefix="/me", tags=["my account"])

    @api.get("", response_model_exclude_none=True)
    def get_me(response: Response, caller: Annotated[Principal, Depends(tenant)]) -> views.Me:
        found = open_account(portal, caller)
        mark(response, found.version)
        return views.me_of(found)

    @api.put("", response_model_exclude_none=True)
    def change_me(
        body: views.Profile,
        response: Response,
        caller: Annotated[Principal, Depends(tenant)],
        match: IfMatch = None,
    ) -> views.Me:
        current = open_account(portal, caller)
        if_match(match, current.version)
        changed = portal.tenants.change(
            caller.subject, body.changes(), actor_of(caller), _expected(match, current.version)
        )
        mark(response, changed.version)
        return views.me_of(changed)

    @api.post("/destination", status_code=202, response_model_exclude_none=True)
    def new_destination(body: views.NewAddress, caller: Annotated[Principal, Depends(tenant)]) -> views.Me:
        """Ask the owner of a new destination address to confirm it."""
        found = open_account(portal, caller)
        return views.me_of(portal.verification.start_destination(found, body.email, actor_of(caller)))

    @api.post("/destination/confirm", response_model_exclude_none=True)
    def confirm_destination(body: views.Secret, caller: Annotated[Principal, Depends(tenant)]) -> views.Me:
        return views.me_of(portal.verification.confirm(body.email, body.code, "destination", caller.subject))

    @api.get("/orders", response_model_exclude_none=True)
    def my_orders(
        caller: Annotated[Principal, Depends(tenant)], size: PageSize = None, after: StartAt = None
    ) -> Page[Order]:
        open_account(portal, caller)
        page = portal.tenants.orders(caller.subject, actor_of(caller), size, after)
        return _page(list(page.items), page.next)

    @api.get("/export")
    def my_data(caller: Annotated[Principal, Depends(tenant)]) -> dict[str, Any]:
        """Everything kept about me."""
        open_account(portal, caller)
        return portal.tenants.export(caller.subject)

    return api


def _admin(portal: Portal, admin: FindPrincipal, staff: FindPrincipal) -> APIRouter:
    api = APIRouter(prefix="/admin", tags=["administration"])

    @api.get("/audit", response_model_exclude_none=True)
    def audit(
        caller: Annotated[Principal, Depends(staff)],
        of: Kind = "tenants",
        month: Annotated[str | None, Query(description="such as 2025-06; this one if not given")] = None,
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[AuditEntry]:
        """Who changed what in a month (UTC), newest first."""
        moment = _month(month) if month else portal.repository.now()
        page = portal.catalogue.audit_of_month(of, moment, actor_of(caller), size, after)
        return _page(list(page.items), page.next)

    @api.get("/metrics")
    def metrics(caller: Annotated[Principal, Depends(staff)]) -> dict[str, Any]:
        """How many there are, as kept from the changes: active tenants by status, products and campaigns by activity.

        `reconciledAt` is when the tenants were last compared with a real count.
        """
        tenants, products, campaigns = (tally_of(portal.repository, kind) for kind in KINDS)
        by_status = {status: tenants.number(status) for status in get_args(Status)}
        return {
            "tenants": by_status,
            "activeTenants": tenants.active,
            "inactiveTenants": tenants.number(INACTIVE),
            "activeProducts": products.number(ACTIVE),
            "activeCampaigns": campaigns.number(ACTIVE),
            "changedAt": tenants.changed_at,
            "reconciledAt": tenants.reconciled_at,
        }

    return api


# --- parts ---


def _with_second_factor(caller: Principal) -> None:
    if not caller.used_mfa:
        raise forbidden("MFA_REQUIRED", "This needs a login with a second factor. Sign in again with yours.")


def _staff(caller: Principal) -> Actor:
    if not caller.is_known:
        raise login_required()
    if not caller.roles & {"admin", "support"}:
        raise forbidden("ADMIN_ONLY", "This needs the role support or admin.")
    return actor_of(caller)


def _cached(response: Response, *, for_everyone: bool) -> None:
    """Public pages may be kept for a minute (CP-X7); what staff or a guest with a link sees, by nobody."""
    response.headers["Cache-Control"] = public_cache() if for_everyone else "private, no-store"
    response.headers["Vary"] = _VARY


def _month(text: str) -> datetime:
    if re.fullmatch(r"(?a:[2-8]\d{3}-(0[1-9]|1[0-2]))", text) is None:
        raise bad_request("INVALID_DATE", "month must look like 2025-06.", "month")
    return datetime.fromisoformat(f"{text}-01T00:00:00+00:00")


def _fields(body: Any) -> dict[str, Any]:
    return {name: getattr(body, name) for name in type(body).model_fields}


def _expected(match: str | None, current: int) -> int | None:
    """The version a change rests on: with If-Match, the one that was just compared; a race after that is 412 too."""
    return current if match is not None else None


def _marked(response: Response, tenant: Tenant) -> Tenant:
    mark(response, tenant.version)
    return tenant


def _page(items: list[Any], token: str | None) -> Page[Any]:
    return Page(items=items, more_available=token is not None, start_at=token)


def _fingerprint(body: Any) -> str:
    return hashlib.sha256(body.model_dump_json().encode()).hexdigest()[:32]
