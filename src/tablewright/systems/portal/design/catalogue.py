"""Products and their price history."""

from datetime import datetime

from tablewright.design import Keys, Load, Retention, SoftDelete, begins
from tablewright.systems.portal.design.base import PORTAL, SEVEN_YEARS
from tablewright.systems.portal.model import PriceChange, Product

__all__ = [
    "prices",
    "prices_of_product",
    "product_by_id",
    "products",
    "products_active_index",
    "products_by_active",
    "products_table",
]

products_table = PORTAL.table(
    "products",
    pk="PK",
    sk="SK",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    about="Products and their price history.",
)
# The document has two indexes with the same keys and projection; this one has both names.
products_active_index = products_table.gsi(
    "ProductActiveIndex", pk="activeKey", sk="dateCreated", aliases=("ActiveIndex",)
)


def product_key(id: str) -> None: ...
def price_key(product_id: str, at: datetime) -> None: ...


products = products_table.entity(
    Product,
    product_key,
    tag="product",
    pk="PRODUCT#{id}",
    sk="METADATA",
    on={products_active_index: Keys("{active:bool}", "{date_created}")},
    version="version",
    soft_delete=SoftDelete("active"),
    immutable=("date_created",),
    retention=Retention(None, "the catalogue; soft delete only"),
    load={
        "create": Load(per_month=20, item_bytes=800, transaction=True),
        "change": Load(per_month=100, item_bytes=800, transaction=True, changes=("price",)),
        "check": Load(per_month=150_000, item_bytes=800),
    },
)
prices = products_table.entity(
    PriceChange,
    price_key,
    tag="price",
    pk="PRODUCT#{product_id}",
    sk="PRICE#{at:us}",
    retention=Retention(SEVEN_YEARS, "proof of the price at any time", then="archived"),
    load={"create": Load(per_month=100, item_bytes=300, transaction=True)},
)


# --- access patterns ---


@PORTAL.get(products, consistent=True, load=Load(per_month=1_000_000, item_bytes=800))
def product_by_id(id: str) -> None:
    """AP-1 of products: one by its id, strongly consistent."""


@PORTAL.query(
    products,
    on=products_active_index,
    pk="{active:bool}",
    page=100,
    at_most=100,
    load=Load(per_month=1_000_000, items=10, item_bytes=800),
)
def products_by_active(*, active: bool) -> None:
    """AP-2: the catalogue, oldest first."""


@PORTAL.query(
    prices,
    pk="PRODUCT#{product_id}",
    sk=begins("PRICE#"),
    page=100,
    load=Load(per_month=500, items=12, item_bytes=300),
)
def prices_of_product(*, product_id: str) -> None:
    """The price history of a product."""
