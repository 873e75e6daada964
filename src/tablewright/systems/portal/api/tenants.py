"""Customers, for staff: `/tenants`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from tablewright.edge import Principal
from tablewright.edge.downloads import attachment
from tablewright.edge.etags import if_match, mark
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import Page
from tablewright.systems.portal.api.common import (
    Doors,
    IfMatch,
    PageSize,
    Since,
    StartAt,
    Until,
    actor_of,
    expected,
    page_of,
    with_second_factor,
)
from tablewright.systems.portal.model import AuditEntry, Order, Status, Tenant
from tablewright.systems.portal.portal import Portal


def tenants(portal: Portal, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["tenants"])
    tenants = portal.tenants

    @api.get("/tenants", response_model_exclude_none=True)
    def list_tenants(
        caller: Annotated[Principal, Depends(doors.staff)],
        status: Status | None = None,
        since: Since = None,
        until: Until = None,
        include_inactive: Annotated[bool, Query(alias="includeInactive")] = False,
        active: bool = True,
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[Tenant]:
        """Newest first. `active=false` lists deleted tenants, `includeInactive=true` all."""
        page = tenants.page(
            actor_of(caller),
            status=status,
            since=since,
            until=until,
            active=None if include_inactive else active,
            size=size,
            after=after,
        )
        return page_of(list(page.items), page.next)

    @api.post("/tenants", status_code=201, response_model_exclude_none=True)
    def create_tenant(
        body: bodies.NewTenant, response: Response, caller: Annotated[Principal, Depends(doors.admin)]
    ) -> Tenant:
        made = tenants.create(body.email, body.organization_name, body.destination_email, actor_of(caller))
        mark(response, made.version)
        return made

    @api.post("/tenants/{id}:restore", response_model_exclude_none=True)
    def restore_tenant(
        id: str, response: Response, caller: Annotated[Principal, Depends(doors.admin)]
    ) -> Tenant:
        return _marked(response, tenants.restore(id, actor_of(caller)))

    @api.post("/tenants/{id}:erase", response_model_exclude_none=True)
    def erase_tenant(
        id: str, body: bodies.Reason, response: Response, caller: Annotated[Principal, Depends(doors.admin)]
    ) -> Tenant:
        """Erase the personal data for good; orders and amounts stay."""
        return _marked(response, tenants.erase(id, actor_of(caller), body.reason))

    @api.post("/tenants/{id}:email", response_model_exclude_none=True)
    def change_email(
        id: str,
        body: bodies.NewAddress,
        response: Response,
        caller: Annotated[Principal, Depends(doors.admin)],
    ) -> Tenant:
        """Change a tenant's address."""
        return _marked(response, tenants.change_email(id, body.email, actor_of(caller)))

    @api.get("/tenants/{id}", response_model_exclude_none=True)
    def get_tenant(id: str, response: Response, caller: Annotated[Principal, Depends(doors.staff)]) -> Tenant:
        return _marked(response, tenants.get(id))

    @api.put("/tenants/{id}", response_model_exclude_none=True)
    def change_tenant(
        id: str,
        body: bodies.TenantChange,
        response: Response,
        caller: Annotated[Principal, Depends(doors.admin)],
        match: IfMatch = None,
    ) -> Tenant:
        """Change the fields that are sent; `active: false` soft-deletes, `true` restores."""
        current = tenants.get(id)
        if_match(match, current.version)
        changed = tenants.change(id, body.changes(), actor_of(caller), expected(match, current.version))
        return _marked(response, changed)

    @api.put("/tenants/{id}/status", response_model_exclude_none=True)
    def change_status(
        id: str,
        body: bodies.StatusChange,
        response: Response,
        caller: Annotated[Principal, Depends(doors.staff)],
        match: IfMatch = None,
    ) -> Tenant:
        """Change a tenant's status; an admin may force any with `override`, which is recorded."""
        actor = actor_of(caller)
        if actor.role == "admin":
            with_second_factor(caller)
        current = tenants.get(id)
        if_match(match, current.version)
        moved = tenants.move(
            id,
            body.status,
            actor,
            reason=body.reason,
            override=body.override,
            expected=expected(match, current.version),
        )
        return _marked(response, moved)

    @api.get("/tenants/{id}/orders", response_model_exclude_none=True)
    def orders_of_tenant(
        id: str,
        caller: Annotated[Principal, Depends(doors.staff)],
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[Order]:
        tenants.get(id)
        page = tenants.orders(id, actor_of(caller), size, after)
        return page_of(list(page.items), page.next)

    @api.get("/tenants/{id}/history", response_model_exclude_none=True)
    def history_of_tenant(
        id: str,
        caller: Annotated[Principal, Depends(doors.staff)],
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[AuditEntry]:
        tenants.get(id)
        page = tenants.history(id, actor_of(caller), size, after)
        return page_of(list(page.items), page.next)

    @api.get("/tenants/{id}/export")
    def export_tenant(
        id: str, response: Response, caller: Annotated[Principal, Depends(doors.admin)]
    ) -> dict[str, Any]:
        """All data stored about a tenant."""
        email = tenants.get(id).email
        response.headers.update(attachment("portal", email, portal.repository.now(), "json"))
        return tenants.export(id)

    return api


def _marked(response: Response, tenant: Tenant) -> Tenant:
    mark(response, tenant.version)
    return tenant
