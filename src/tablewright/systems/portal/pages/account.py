"""A customer's own pages: profile, address for form submissions, orders, export. For the role tenant.

Must hold: a caller sees and changes only their own tenant.
"""

import orjson
from fastapi import APIRouter, Request, Response

from tablewright.edge.downloads import attachment
from tablewright.edge.errors import CallerError, Refused
from tablewright.pages.forms import Form, Posted
from tablewright.systems.portal.access import Customer, OwnAccount
from tablewright.systems.portal.customers.verification import LIFETIME
from tablewright.systems.portal.errors import Changed
from tablewright.systems.portal.model import AuditEntry, Tenant
from tablewright.systems.portal.pages.forms import form_of_stored, refused, too_late, version_of
from tablewright.systems.portal.pages.page import HOME, PortalPages


def add_account(router: APIRouter, pages: PortalPages) -> None:
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
    def account(request: Request, me: OwnAccount) -> Response:
        return show(request, me)

    @router.post("/account")
    def change_profile(request: Request, me: OwnAccount, actor: Customer, form: Posted) -> Response:
        name = form.get("organizationName").strip()
        try:
            if len(name) > 200:
                raise Refused(
                    "NAME_LENGTH", "organizationName must have at most 200 characters.", "organizationName"
                )
            tenants.change(me.id, {"organization_name": name or None}, actor, version_of(form))
        except Changed:
            stored = tenants.get(me.id)
            late = too_late(pages.portal, "tenants", stored.id, stored, form, actor)
            return show(request, stored, profile=late.form, changes_since=late.changes_since, status=412)
        except CallerError as mistake:
            again = refused(form, mistake)
            return show(request, tenants.get(me.id), profile=again, status=mistake.status)
        return pages.console.go(f"{HOME}/account", "Saved.")

    @router.post("/account/destination")
    def new_destination(request: Request, me: OwnAccount, actor: Customer, form: Posted) -> Response:
        try:
            tenant = verification.start_destination(me, form.get("destinationEmail"), actor)
        except CallerError as mistake:
            return show(request, me, destination=refused(form, mistake), status=mistake.status)
        said = f"We're sending a code to {tenant.pending_destination_email}. It works for 15 minutes."
        return pages.console.go(f"{HOME}/account#destination", said, "note")

    @router.post("/account/destination/confirm")
    def confirm_destination(request: Request, me: OwnAccount, form: Posted) -> Response:
        waiting = me.pending_destination_email or ""
        try:
            tenant = verification.confirm(waiting, form.get("code"), "destination", me.id)
        except CallerError as mistake:
            return show(request, me, destination=refused(form, mistake), status=mistake.status)
        return pages.console.go(f"{HOME}/account", f"Form submissions now go to {tenant.destination_email}.")

    @router.get("/account/export")
    def my_data(me: OwnAccount) -> Response:
        """All data stored about the caller, as a file."""
        return Response(
            orjson.dumps(pages.portal.privacy.export(me.id, own=True), option=orjson.OPT_INDENT_2),
            media_type="application/json",
            headers=attachment("portal", me.email, pages.portal.repository.now(), "json"),
        )


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
