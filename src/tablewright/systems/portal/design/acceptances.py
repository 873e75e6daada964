"""What the design checker finds and this design accepts, with the reasons."""

from tablewright.systems.portal.design.base import PORTAL

PORTAL.accept(
    "CAP-SIZE",
    "it grows with what people enter for one item, not with use; a write over 400 KB is refused",
    "campaign.alsoProductIds",
    "order.givenBack",
    "order.items",
    "product.features",
)
PORTAL.accept(
    "CAP-SIZE",
    "it holds the fields of one item or of one request, which have their own limits",
    "campaign_audit.after",
    "campaign_audit.before",
    "product_audit.after",
    "product_audit.before",
    "tenant_audit.after",
    "tenant_audit.before",
)
PORTAL.accept("CAP-SIZE", "the values of one template, which names them", "message.values")
PORTAL.accept(
    "CAP-SIZE",
    "one entry for each of a fixed set: hours, types, guardrails, scopes, places in the world",
    "tally.counts",
)
PORTAL.accept(
    "IDX-LOWCARD",
    "0.2 writes a second: the document's index for staff, who list tenants and orders by status",
    "tenants.TenantStatusIndex",
    "tenants.OrderStatusIndex",
)
PORTAL.accept(
    "KEY-TIME-ONLY",
    "two changes of one price in a microsecond: the second is refused and made again",
    "price.SK",
)
PORTAL.accept(
    "KEY-PII",
    "a tenant and its codes are looked up by the address, as the document asks",
    "tenant.email",
    "challenge.address",
)
PORTAL.accept(
    "IDX-LOWCARD",
    "0.15 writes a second into its table: enough until 540 times the load (docs/scale.md says which shard comes then)",
    "message.outboxKey",
)
PORTAL.accept(
    "IDX-LOWCARD",
    "at most 0.15 writes a second: the document's index for the lists of what is active",
    "campaign.activeKey",
    "product.activeKey",
    "tenant.activeKey",
)
PORTAL.accept(
    "CC-NOVERSION",
    "a change is refused unless the values that it replaces are as they were read",
    "message",
)
