"""Campaigns: discounts, their products and how often they were used."""

from datetime import date

from tablewright.design import Copy, Keys, Load, Refresh, Retention, SoftDelete, begins, between
from tablewright.systems.portal.design.base import PORTAL
from tablewright.systems.portal.model import Campaign, CampaignProduct, CampaignUsage

__all__ = [
    "campaign_active_index",
    "campaign_by_code",
    "campaign_product_index",
    "campaign_products",
    "campaign_usage",
    "campaigns",
    "campaigns_by_active",
    "campaigns_by_creation",
    "campaigns_date_index",
    "campaigns_of_product",
    "campaigns_table",
    "products_of_campaign",
]

campaigns_table = PORTAL.table(
    "campaigns",
    pk="PK",
    sk="SK",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    about="Past, running and scheduled discounts.",
)
campaign_active_index = campaigns_table.gsi("CampaignActiveIndex", pk="activeKey", sk="fromDate")
campaign_product_index = campaigns_table.gsi("CampaignProductIndex", pk="productId", sk="fromDate")
campaigns_date_index = campaigns_table.gsi("ActiveIndex", pk="activeKey", sk="dateCreated")


def campaign_key(code: str) -> None: ...
def campaign_product_key(code: str, product_id: str) -> None: ...


campaigns = campaigns_table.entity(
    Campaign,
    campaign_key,
    tag="campaign",
    pk="CAMPAIGN#{code}",
    sk="METADATA",
    on={
        campaign_active_index: Keys("{active:bool}", "{from_date}"),
        campaign_product_index: Keys("{product_id}", "{from_date}"),
        campaigns_date_index: Keys("{active:bool}", "{date_created}"),
    },
    version="version",
    soft_delete=SoftDelete("active"),
    immutable=("date_created", "product_id", "id"),
    retention=Retention(None, "reporting on past campaigns; soft delete only"),
    load={
        "create": Load(per_month=20, item_bytes=700, transaction=True),
        "change": Load(per_month=100, item_bytes=700, transaction=True),
        "get": Load(per_month=1_000, item_bytes=700),
    },
)
campaign_products = campaigns_table.entity(
    CampaignProduct,
    campaign_product_key,
    tag="campaign_product",
    pk="CAMPAIGN#{code}",
    sk="PRODUCT#{product_id}",
    on={campaign_product_index: Keys("{product_id}", "{from_date}")},
    copies=[Copy("from_date", "campaign", "from_date", Refresh.JOB)],
    load={"put": Load(per_month=20, item_bytes=150, transaction=True)},
)
campaign_usage = campaigns_table.entity(
    CampaignUsage,
    campaign_key,
    tag="campaign_usage",
    pk="CAMPAIGN#{code}",
    sk="USAGE",
    load={"upsert": Load(per_month=20_000, item_bytes=100, transaction=True, new=0.001)},
)


# --- access patterns ---


@PORTAL.get(campaigns, consistent=True, load=Load(per_month=310_000, item_bytes=700))
def campaign_by_code(code: str) -> None:
    """AP-1 of campaigns: one by its code, strongly consistent."""


@PORTAL.query(
    campaigns,
    on=campaign_active_index,
    pk="{active:bool}",
    sk=between("{since}", "{until}"),
    descending=True,
    page=50,
    at_most=100,
    # Every order and every cart on a page reads the running campaigns to find the best one.
    load=Load(per_month=305_000, items=20, item_bytes=700),
)
def campaigns_by_active(*, active: bool, since: date | None = None, until: date | None = None) -> None:
    """AP-2: campaigns by start date, newest first."""


@PORTAL.query(
    campaigns,
    on=campaigns_date_index,
    pk="{active:bool}",
    descending=True,
    page=50,
    at_most=100,
    roles=("support", "admin"),
    load=Load(per_month=100, items=20, item_bytes=700),
)
def campaigns_by_creation(*, active: bool) -> None:
    """Campaigns by creation date, newest first."""


@PORTAL.query(
    campaigns,
    campaign_products,
    on=campaign_product_index,
    pk="{product_id}",
    descending=True,
    page=50,
    at_most=100,
    load=Load(per_month=2_000, items=5, item_bytes=700),
)
def campaigns_of_product(*, product_id: str) -> None:
    """AP-3: the campaigns of a product, newest first."""


@PORTAL.query(
    campaign_products,
    pk="CAMPAIGN#{code}",
    sk=begins("PRODUCT#"),
    load=Load(per_month=200, items=2, item_bytes=150),
)
def products_of_campaign(*, code: str) -> None:
    """The further products of a campaign."""
