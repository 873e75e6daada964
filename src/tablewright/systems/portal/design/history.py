"""Audit entries: stored beside the record they are about, and in an index by month."""

from collections.abc import Mapping

from tablewright.design import DesignTable, Load, Retention
from tablewright.kit.audit import AuditLog, audit
from tablewright.systems.portal.design.base import PORTAL, SEVEN_YEARS
from tablewright.systems.portal.design.campaigns import campaigns_table
from tablewright.systems.portal.design.catalogue import products_table
from tablewright.systems.portal.design.customers import tenants_table
from tablewright.systems.portal.model import NOISE, AuditEntry, Kind

__all__ = ["audits"]


def _audit(table: DesignTable, noun: str, a_month: int, read_a_month: int) -> AuditLog[AuditEntry]:
    return audit(
        PORTAL,
        table,
        AuditEntry,
        owner="subject_id",
        pk=f"{noun.upper()}#{{subject_id}}",
        tag=f"{noun}_audit",
        name=f"history_of_{noun}",
        retention=Retention(SEVEN_YEARS, "who changed what", then="archived"),
        writes=Load(per_month=a_month, item_bytes=600, transaction=True),
        reads=Load(per_month=read_a_month, items=20, item_bytes=600),
        month_name=f"{noun}_audit_of_month",
        month_reads=Load(per_month=100, items=50, item_bytes=600),
        roles=("support", "admin"),
        at_most=100,
        precision="us",
        noise=NOISE,
    )


audits: Mapping[Kind, AuditLog[AuditEntry]] = {
    "tenants": _audit(tenants_table, "tenant", 60_000, 200),
    "products": _audit(products_table, "product", 120, 100),
    "campaigns": _audit(campaigns_table, "campaign", 120, 100),
}
