"""Audit trail and counts for staff: `/admin/audit`, `/admin/metrics`."""

import re
from datetime import datetime
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Query

from tablewright.edge.problems import bad_request
from tablewright.edge.routes import Router
from tablewright.kit.http import Cursor, Page, page_of
from tablewright.systems.portal.access import Staff
from tablewright.systems.portal.api.bodies import PageSize
from tablewright.systems.portal.model import ACTIVE, INACTIVE, AuditEntry, Kind, Status
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.tallies import KINDS, tally_of


def admin(portal: Portal) -> APIRouter:
    api = Router(prefix="/admin", tags=["administration"])

    @api.get("/audit", response_model_exclude_none=True)
    def audit(
        actor: Staff,
        of: Kind = "tenants",
        month: Annotated[str | None, Query(description="such as 2025-06; default: this month")] = None,
        size: PageSize = None,
        after: Cursor = None,
    ) -> Page[AuditEntry]:
        """Who changed what in a month (UTC), newest first."""
        moment = _month(month) if month else portal.repository.now()
        return page_of(portal.catalogue.audit_of_month(of, moment, actor, size, after))

    @api.get("/metrics")
    def metrics(actor: Staff) -> dict[str, Any]:
        """Counts, kept from the tables' changes: active tenants by status, active products and campaigns.

        `reconciledAt` is when the tenants were last compared with a full count.
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


def _month(text: str) -> datetime:
    if re.fullmatch(r"(?a:[2-8]\d{3}-(0[1-9]|1[0-2]))", text) is None:
        raise bad_request("INVALID_DATE", "month must be a month such as 2025-06.", "month")
    return datetime.fromisoformat(f"{text}-01T00:00:00+00:00")
