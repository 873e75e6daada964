"""Audit entries: stored beside the record they are about, and in an index by month."""

from datetime import datetime

from tablewright.design import Data, DesignTable, Entity, Index, Keys, Load, Retention, begins
from tablewright.systems.portal.design.base import PORTAL, SEVEN_YEARS
from tablewright.systems.portal.design.campaigns import campaigns_table
from tablewright.systems.portal.design.catalogue import products_table
from tablewright.systems.portal.design.customers import tenants_table
from tablewright.systems.portal.model import AuditEntry

__all__ = [
    "campaign_audit",
    "campaign_audit_index",
    "campaign_audit_of_month",
    "history_of_campaign",
    "history_of_product",
    "history_of_tenant",
    "product_audit",
    "product_audit_index",
    "product_audit_of_month",
    "tenant_audit",
    "tenant_audit_index",
    "tenant_audit_of_month",
]


def audit_key(subject_id: str, audit_at: datetime, audit_id: str) -> None: ...


def _audit(
    table: DesignTable, noun: str, a_month: int
) -> tuple[Index, Entity[AuditEntry, [str, datetime, str]]]:
    """The audit entries of a table."""
    index = table.gsi("AuditIndex", pk="auditMonth", sk="auditAt")
    entity = table.entity(
        AuditEntry,
        audit_key,
        tag=f"{noun}_audit",
        pk=f"{noun.upper()}#{{subject_id}}",
        sk="AUDIT#{audit_at:us}#{audit_id}",
        on={index: Keys("{audit_at:month}", "{audit_at}")},
        data={"before": Data.PERSONAL, "after": Data.PERSONAL, "actor": Data.PERSONAL},
        retention=Retention(SEVEN_YEARS, "who changed what", then="archived"),
        load={"create": Load(per_month=a_month, item_bytes=600, transaction=True)},
    )
    return index, entity


tenant_audit_index, tenant_audit = _audit(tenants_table, "tenant", 60_000)
product_audit_index, product_audit = _audit(products_table, "product", 120)
campaign_audit_index, campaign_audit = _audit(campaigns_table, "campaign", 120)


# --- access patterns ---


@PORTAL.query(
    tenant_audit, pk="TENANT#{subject_id}", sk=begins("AUDIT#"), descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=200, items=20, item_bytes=600),
)  # fmt: skip
def history_of_tenant(*, subject_id: str) -> None:
    """A tenant's audit entries, newest first."""


@PORTAL.query(
    product_audit, pk="PRODUCT#{subject_id}", sk=begins("AUDIT#"), descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=100, items=20, item_bytes=600),
)  # fmt: skip
def history_of_product(*, subject_id: str) -> None:
    """A product's audit entries, newest first."""


@PORTAL.query(
    campaign_audit, pk="CAMPAIGN#{subject_id}", sk=begins("AUDIT#"), descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=100, items=20, item_bytes=600),
)  # fmt: skip
def history_of_campaign(*, subject_id: str) -> None:
    """A campaign's audit entries, newest first."""


@PORTAL.query(
    tenant_audit, on=tenant_audit_index, pk="{at:month}", descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=100, items=50, item_bytes=600),
)  # fmt: skip
def tenant_audit_of_month(*, at: datetime) -> None:
    """Changes of tenants in a month, newest first."""


@PORTAL.query(
    product_audit, on=product_audit_index, pk="{at:month}", descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=100, items=50, item_bytes=600),
)  # fmt: skip
def product_audit_of_month(*, at: datetime) -> None:
    """Changes of products in a month, newest first."""


@PORTAL.query(
    campaign_audit, on=campaign_audit_index, pk="{at:month}", descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=100, items=50, item_bytes=600),
)  # fmt: skip
def campaign_audit_of_month(*, at: datetime) -> None:
    """Changes of campaigns in a month, newest first."""
