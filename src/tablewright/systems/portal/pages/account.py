"""A customer's own pages: profile, address for form submissions, orders, export. For the role tenant.

Must hold: a caller sees and changes only their own tenant.
"""

from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge import Principal
from tablewright.edge.downloads import attachment
from tablewright.edge.errors import CallerError, Refused
from tablewright.pages.forms import Form, posted
from tablewright.systems.portal.api.router import actor_of, open_account
from tablewright.systems.portal.customers.verification import LIFETIME
from tablewright.systems.portal.errors import Changed
from tablewright.systems.portal.model import AuditEntry, Tenant
from tablewright.systems.portal.pages.forms import form_of_stored, refused, status_of, too_late, version_of
from tablewright.systems.portal.pages.page import HOME, PortalPages


def account_router(pages: PortalPages) -> APIRouter:
    router = pages.router()
    tenants, verification = pages.portal.tenants, pages.portal.verification

    def show(
        request: Request,
        tenant: Tenant,
        *,
        profile: Form | None = None,
        destination: Form | None = None,
        changes_since: tuple[AuditEntry, ...] = (),
        status: int = 200,
    ) -> Response:
        page = tenants.orders(tenant.id, pages.actor(request), 100)
        return pages.page(
            request,
            "account",
            title="My account",
            status=status,
            tenant=tenant,
            orders=sorted(page.items, key=lambda order: order.placed_at, reverse=True),
            profile=profile
            or form_of_stored(tenant, pages.portal, "tenants", tenant.id, pages.actor(request)),
            destination=destination or Form({"destinationEmail": "", "code": ""}),
            changes_since=changes_since,
            code_words=_code_words(pages, tenant),
        )

    @router.get("/account")
    def account(request: Request, caller: Annotated[Principal, Depends(pages.tenant)]) -> Response:
        return show(request, open_account(pages.portal, caller))

    @router.post("/account")
    def change_profile(
        request: Request,
        caller: Annotated[Principal, Depends(pages.tenant)],
        form: Annotated[Form, Depends(posted)],
    ) -> Response:
        actor = actor_of(caller)
        name = form.get("organizationName").strip()
        try:
            if len(name) > 200:
                raise Refused(
                    "NAME_LENGTH", "organizationName must have at most 200 characters.", "organizationName"
                )
            tenants.change(caller.subject, {"organization_name": name or None}, actor, version_of(form))
        except Changed:
            stored = tenants.get(caller.subject)
            late = too_late(pages.portal, "tenants", stored.id, stored, form, actor)
            return show(request, stored, profile=late.form, changes_since=late.changes_since, status=412)
        except CallerError as mistake:
            again = refused(form, mistake)
            return show(request, tenants.get(caller.subject), profile=again, status=status_of(mistake))
        return pages.console.go(f"{HOME}/account", "Saved.")

    @router.post("/account/destination")
    def new_destination(
        request: Request,
        caller: Annotated[Principal, Depends(pages.tenant)],
        form: Annotated[Form, Depends(posted)],
    ) -> Response:
        tenant = open_account(pages.portal, caller)
        try:
            tenant = verification.start_destination(tenant, form.get("destinationEmail"), actor_of(caller))
        except CallerError as mistake:
            return show(request, tenant, destination=refused(form, mistake), status=status_of(mistake))
        said = f"We're sending a code to {tenant.pending_destination_email}. It works for 15 minutes."
        return pages.console.go(f"{HOME}/account#destination", said, "note")

    @router.post("/account/destination/confirm")
    def confirm_destination(
        request: Request,
        caller: Annotated[Principal, Depends(pages.tenant)],
        form: Annotated[Form, Depends(posted)],
    ) -> Response:
        tenant = tenants.get(caller.subject)
        waiting = tenant.pending_destination_email or ""
        try:
            tenant = verification.confirm(waiting, form.get("code"), "destination", tenant.id)
        except CallerError as mistake:
            return show(request, tenant, destination=refused(form, mistake), status=status_of(mistake))
        return pages.console.go(f"{HOME}/account", f"Form submissions now go to {tenant.destination_email}.")

    @router.get("/account/export")
    def my_data(caller: Annotated[Principal, Depends(pages.tenant)]) -> Response:
        """All data stored about the caller, as a file."""
        email = tenants.get(caller.subject).email
        return Response(
            orjson.dumps(tenants.export(caller.subject, own=True), option=orjson.OPT_INDENT_2),
            media_type="application/json",
            headers=attachment("portal", email, pages.portal.repository.now(), "json"),
        )

    return router


def _code_words(pages: PortalPages, tenant: Tenant) -> str:
    """The state of the code to an address that is not confirmed yet, in words."""
    mail = pages.portal.verification.destination_mail(tenant) if tenant.pending_destination_email else None
    if mail is None:
        return ""
    if mail.state == "FAILED":
        return "The mail with the code could not be sent. Check the address or try again."
    if mail.created_at + LIFETIME <= pages.portal.repository.now():
        return "The code has expired. Ask for a new one."
    if mail.state == "SENT":
        return "We sent a code to this address."
    return "The mail with the code has not been sent yet."
