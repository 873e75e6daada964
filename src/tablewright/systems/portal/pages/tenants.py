"""Customers (tenants in the code), for staff: the list with its filters, one customer with the allowed actions.

Must hold: a button is shown only for an action this actor may take, and the route checks again; a page before an action
that cannot be undone says so, and lists what is erased and what is kept.
Elsewhere: the states and who may change them (systems/portal/design/customers.py, rules.py).
"""

from datetime import date
from typing import Any, get_args

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge.errors import CallerError, Refused
from tablewright.pages.forms import Asked, Form, FormWrong, Posted
from tablewright.pages.layout import Crumb
from tablewright.pages.lists import Listing
from tablewright.systems.portal import field_rules, rules
from tablewright.systems.portal.access import Admin, admin, staff
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.errors import Changed
from tablewright.systems.portal.model import AuditEntry, Status, Tenant
from tablewright.systems.portal.pages.forms import (
    TypedTenant,
    form_of_stored,
    refused,
    too_late,
    typed,
    version_of,
)
from tablewright.systems.portal.pages.page import HOME, PortalPages
from tablewright.systems.portal.search import Found, search_tenants

STATUSES: tuple[Status, ...] = get_args(Status)
SHOWN: dict[str, bool | None] = {"": True, "deleted": False, "all": None}
LIST = f"{HOME}/tenants"
_LISTED = Crumb("Customers", LIST)


def days_between(form: Form) -> dict[str, Any]:
    """`from` and `to` of a filter as times; both days are included."""
    found: dict[str, Any] = {"since": None, "until": None}
    for name, place, which in (("from", "since", 0), ("to", "until", 1)):
        if form.get(name):
            try:
                found[place] = rules.day_bounds(date.fromisoformat(form.get(name)))[which]
            except (ValueError, OverflowError):
                raise FormWrong(form.wrong(name, "Enter a date such as 2026-01-31.")) from None
    return found


def filters(form: Form) -> dict[str, Any]:
    """The filters of the list, from the URL."""
    status = form.get("status")
    if status and status not in STATUSES:
        raise FormWrong(form.wrong("status", "Choose a status from the list."))
    return {"status": status or None, "active": SHOWN.get(form.get("show"), True), **days_between(form)}


def add_tenants(router: APIRouter, pages: PortalPages) -> None:
    for add in (_add_lists, _add_one, _add_changes, _add_privacy):
        add(router, pages)


def _add_lists(router: APIRouter, pages: PortalPages) -> None:
    tenants = pages.portal.tenants

    @router.get("/tenants", dependencies=[Depends(staff)])
    def list_tenants(request: Request, form: Asked) -> Response:
        listing: Listing[Any] = Listing(())
        found: Found[Tenant] | None = None
        try:
            query = tenants.listed(**filters(form))
            if form.get("q").strip():
                found = search_tenants(pages.portal, form.get("q").strip(), query)
                listing = Listing(found.items)
            else:
                listing = pages.list(request, query)
        except (FormWrong, CallerError) as mistake:
            form = refused(Form({"status": "", **form.values}), mistake)
        return pages.page(
            request, "tenants", title="Customers", listing=listing, form=form, tally=pages.portal.tenants.tally(),
            statuses=STATUSES, options=[(each, each.capitalize()) for each in STATUSES], found=found,
            status=422 if form.is_wrong else 200,
        )  # fmt: skip

    @router.get("/tenants/new", dependencies=[Depends(admin)])
    def new_tenant(request: Request) -> Response:
        return show_new(request, Form())

    def show_new(request: Request, form: Form, status: int = 200) -> Response:
        return pages.page(
            request, "tenant_new", title="New customer", crumbs=(_LISTED,), form=form, status=status
        )

    @router.post("/tenants/new")
    def create_tenant(request: Request, actor: Admin, form: Posted) -> Response:
        try:
            new = typed(form, bodies.NewTenant, field_rules.tenant_mistakes)
            made = tenants.create(new.email, new.organization_name, new.destination_email, actor)
        except (FormWrong, CallerError) as mistake:
            return show_new(request, refused(form, mistake), mistake.status)
        return pages.console.go(f"{LIST}/{made.id}", f"Customer {made.email} created.")


def tenant_page(
    pages: PortalPages, request: Request, tenant: Tenant, form: Form | None = None, status: int = 200
) -> Response:
    """One customer: facts, status and actions, orders, history."""
    actor = pages.actor(request)
    orders = pages.portal.tenants.orders(tenant.id, actor, 100)
    history = pages.list(request, pages.portal.repository.history("tenants", tenant.id), size=10)
    return pages.page(
        request,
        "tenant",
        title=tenant.email if tenant.erased_at is None else "Erased customer",
        crumbs=(_LISTED,),
        status=status,
        tenant=tenant,
        is_business=rules.is_business(tenant),
        moves=rules.moves_open_to(tenant, actor.role),
        others=[(each, each.capitalize()) for each in STATUSES if each != tenant.status],
        orders=sorted(orders.items, key=lambda order: order.placed_at, reverse=True),
        has_more_orders=orders.next is not None,
        history=history,
        form=form or Form(),
    )


def _add_one(router: APIRouter, pages: PortalPages) -> None:
    tenants = pages.portal.tenants

    @router.get("/tenants/{id}", dependencies=[Depends(staff)])
    def tenant(request: Request, id: str) -> Response:
        return tenant_page(pages, request, tenants.get(id))

    @router.post("/tenants/{id}/status")
    def move(request: Request, id: str, actor: Admin, form: Posted) -> Response:
        """Change the status. A forced change has its own field for the reason."""
        forced = form.is_ticked("override")
        name = "why" if forced else "reason"
        try:
            moved = tenants.move(
                id, _status(form, "to" if forced else "status"), actor, override=forced,
                reason=_reason(form, name, needed=forced), expected=version_of(form),
            )  # fmt: skip
        except CallerError as mistake:
            again = Form(form.values).wrong(name if mistake.field == "reason" else "", mistake.message)
            return tenant_page(pages, request, tenants.get(id), _whole(again), mistake.status)
        return pages.console.go(f"{LIST}/{id}", f"Status changed to {moved.status.lower()}.")

    @router.post("/tenants/{id}/delete")
    def delete(id: str, actor: Admin, form: Posted) -> Response:
        tenants.change(id, {"active": False}, actor, version_of(form))
        return pages.console.go(
            f"{LIST}/{id}", "Deleted. You can restore this customer here at any time.", "note"
        )

    @router.post("/tenants/{id}/restore")
    def restore(id: str, actor: Admin, form: Posted) -> Response:
        tenants.restore(id, actor, version_of(form))
        return pages.console.go(f"{LIST}/{id}", "Restored.")


def _status(form: Form, name: str) -> Status:
    found = next((status for status in STATUSES if status == form.get(name)), None)
    if found is None:
        raise Refused("INVALID_TRANSITION", "Choose a status.", name)
    return found


def _reason(form: Form, name: str, *, needed: bool) -> str | None:
    text = form.get(name).strip()
    if needed and len(text) < 3:
        raise Refused("REASON_NEEDED", "Give a reason. It is kept in the history.", "reason")
    return text[:500] or None


def _whole(form: Form) -> Form:
    """An error without a field is shown above the form."""
    error = form.errors.get("", "")
    return Form(form.values, {name: text for name, text in form.errors.items() if name}, error)


def _add_changes(router: APIRouter, pages: PortalPages) -> None:
    tenants = pages.portal.tenants

    def show(
        request: Request,
        tenant: Tenant,
        name: str,
        form: Form,
        status: int = 200,
        changes_since: tuple[AuditEntry, ...] = (),
    ) -> Response:
        title = "Edit" if name == "tenant_edit" else "Change e-mail address"
        crumbs = (_LISTED, Crumb(tenant.email, f"{LIST}/{tenant.id}"))
        return pages.page(
            request, name, title=title, crumbs=crumbs, status=status, tenant=tenant, form=form,
            changes_since=changes_since,
        )  # fmt: skip

    def stored_form(request: Request, tenant: Tenant) -> Form:
        return form_of_stored(tenant, pages.portal, "tenants", tenant.id, pages.actor(request))

    def late(request: Request, id: str, name: str, form: Form) -> Response:
        stored = tenants.get(id)
        found = too_late(pages.portal, "tenants", id, stored, form, pages.actor(request))
        return show(request, stored, name, found.form, 412, found.changes_since)

    @router.get("/tenants/{id}/edit", dependencies=[Depends(admin)])
    def edit(request: Request, id: str) -> Response:
        tenant = tenants.get(id)
        return show(request, tenant, "tenant_edit", stored_form(request, tenant))

    @router.post("/tenants/{id}/edit")
    def save(request: Request, id: str, actor: Admin, form: Posted) -> Response:
        try:
            given = typed(form, TypedTenant, field_rules.tenant_mistakes)
            changes = {
                "organization_name": given.organization_name,
                "destination_email": given.destination_email,
            }
            tenants.change(id, changes, actor, version_of(form))
        except Changed:
            return late(request, id, "tenant_edit", form)
        except (FormWrong, CallerError) as mistake:
            again = refused(form, mistake)
            return show(request, tenants.get(id), "tenant_edit", again, mistake.status)
        return pages.console.go(f"{LIST}/{id}", "Saved.")

    @router.get("/tenants/{id}/email", dependencies=[Depends(admin)])
    def new_email(request: Request, id: str) -> Response:
        tenant = tenants.get(id)
        form = stored_form(request, tenant)
        return show(request, tenant, "tenant_email", Form({**form.values, "email": ""}))

    @router.post("/tenants/{id}/email")
    def change_email(request: Request, id: str, actor: Admin, form: Posted) -> Response:
        try:
            changed = tenants.change_email(id, form.get("email"), actor, version_of(form))
        except Changed:
            return late(request, id, "tenant_email", form)
        except CallerError as mistake:
            again = refused(form, mistake)
            return show(request, tenants.get(id), "tenant_email", again, mistake.status)
        return pages.console.go(f"{LIST}/{id}", f"E-mail address changed to {changed.email}.")


def _add_privacy(router: APIRouter, pages: PortalPages) -> None:
    tenants = pages.portal.tenants

    def show(request: Request, tenant: Tenant, form: Form, status: int = 200) -> Response:
        kept = pages.portal.privacy.export(tenant.id)
        return pages.page(
            request,
            "tenant_erase",
            title="Erase personal data",
            crumbs=(_LISTED, Crumb(tenant.email, f"{LIST}/{tenant.id}")),
            status=status,
            tenant=tenant,
            form=form,
            orders=len(kept["orders"]),
            entries=len(kept["history"]),
            mails=len(kept["messages"]),
        )

    @router.get("/tenants/{id}/erase", dependencies=[Depends(admin)])
    def ask(request: Request, id: str) -> Response:
        return show(request, tenants.get(id), Form())

    @router.post("/tenants/{id}/erase")
    def erase(request: Request, id: str, actor: Admin, form: Posted) -> Response:
        try:
            given = typed(form, bodies.Reason)
        except FormWrong as wrong:
            return show(request, tenants.get(id), wrong.form, 422)
        pages.portal.privacy.erase(id, actor, given.reason)
        return pages.console.go(f"{LIST}/{id}", "The customer's personal data was erased.", "note")
