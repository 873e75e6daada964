"""Customers, for staff: `/tenants`."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from tablewright.edge.downloads import attachment
from tablewright.edge.routes import Router
from tablewright.kit.http import Cursor, IfMatch, Page, Since, Until, marked, matched, page_of
from tablewright.systems.portal.access import Admin, Staff, StatusChanger
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import PageSize
from tablewright.systems.portal.model import AuditEntry, Order, Status, Tenant
from tablewright.systems.portal.portal import Portal


def tenants(portal: Portal) -> APIRouter:
    api = Router(tags=["tenants"])
    tenants = portal.tenants

    @api.get("/tenants", response_model_exclude_none=True)
    def list_tenants(
        actor: Staff,
        status: Status | None = None,
        since: Since = None,
        until: Until = None,
        include_inactive: Annotated[bool, Query(alias="includeInactive")] = False,
        active: bool = True,
        size: PageSize = None,
        after: Cursor = None,
    ) -> Page[Tenant]:
        """Newest first. `active=false` lists deleted tenants, `includeInactive=true` all."""
        wanted = None if include_inactive else active
        page = tenants.page(
            actor, status=status, since=since, until=until, active=wanted, size=size, after=after
        )
        return page_of(page)

    @api.post("/tenants", status_code=201, response_model_exclude_none=True)
    def create_tenant(body: bodies.NewTenant, response: Response, actor: Admin) -> Tenant:
        made = tenants.create(body.email, body.organization_name, body.destination_email, actor)
        return marked(response, made)

    @api.post("/tenants/{id}:restore", response_model_exclude_none=True)
    def restore_tenant(id: str, response: Response, actor: Admin) -> Tenant:
        return marked(response, tenants.restore(id, actor))

    @api.post("/tenants/{id}:erase", response_model_exclude_none=True)
    def erase_tenant(id: str, body: bodies.Reason, response: Response, actor: Admin) -> Tenant:
        """Erase the personal data for good; orders and amounts stay."""
        return marked(response, portal.privacy.erase(id, actor, body.reason))

    @api.post("/tenants/{id}:email", response_model_exclude_none=True)
    def change_email(id: str, body: bodies.NewAddress, response: Response, actor: Admin) -> Tenant:
        """Change a tenant's address."""
        return marked(response, tenants.change_email(id, body.email, actor))

    @api.get("/tenants/{id}", response_model_exclude_none=True)
    def get_tenant(id: str, response: Response, actor: Staff) -> Tenant:
        return marked(response, tenants.get(id))

    @api.put("/tenants/{id}", response_model_exclude_none=True)
    def change_tenant(
        id: str, body: bodies.TenantChange, response: Response, actor: Admin, match: IfMatch = None
    ) -> Tenant:
        """Change the fields that are sent; `active: false` soft-deletes, `true` restores."""
        version = matched(match, tenants.get(id).version)
        return marked(response, tenants.change(id, body.changes(), actor, version))

    @api.put("/tenants/{id}/status", response_model_exclude_none=True)
    def change_status(
        id: str, body: bodies.StatusChange, response: Response, actor: StatusChanger, match: IfMatch = None
    ) -> Tenant:
        """Change a tenant's status; an admin may force any with `override`, which is recorded."""
        version = matched(match, tenants.get(id).version)
        moved = tenants.move(
            id, body.status, actor, reason=body.reason, override=body.override, expected=version
        )
        return marked(response, moved)

    @api.get("/tenants/{id}/orders", response_model_exclude_none=True)
    def orders_of_tenant(id: str, actor: Staff, size: PageSize = None, after: Cursor = None) -> Page[Order]:
        tenants.get(id)
        return page_of(tenants.orders(id, actor, size, after))

    @api.get("/tenants/{id}/history", response_model_exclude_none=True)
    def history_of_tenant(
        id: str, actor: Staff, size: PageSize = None, after: Cursor = None
    ) -> Page[AuditEntry]:
        tenants.get(id)
        return page_of(tenants.history(id, actor, size, after))

    @api.get("/tenants/{id}/export")
    def export_tenant(id: str, response: Response, actor: Admin) -> dict[str, Any]:
        """All data stored about a tenant."""
        email = tenants.get(id).email
        response.headers.update(attachment("portal", email, portal.repository.now(), "json"))
        return portal.privacy.export(id)

    return api
