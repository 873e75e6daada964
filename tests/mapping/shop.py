"""A design with every feature of the language: a single table, and tables of their own beside it.

`shop` is one table of several entities with overloaded indexes (sparse, sharded, local, a few attributes only);
`products`, `readings` and `accounts` have keys that are fields, of texts and numbers.
"""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from tablewright.design import (
    Design,
    Environment,
    Expires,
    Keys,
    Load,
    SoftDelete,
    States,
    Unique,
    at_least,
    begins,
    between,
)

START = datetime(2040, 1, 1, 12, tzinfo=UTC)  # ahead of every real sweeper


class Tier(Enum):
    BASIC = "basic"
    GOLD = "gold"


class Address(BaseModel):
    street: str
    city: str = ""


class Clicks(BaseModel):
    left: int = 0
    right: int = 0
    by_page: dict[str, int] = {}


class Customer(BaseModel):
    """Unique by e-mail and, if there is one, by nickname; versioned; with states; deleted softly."""

    id: str
    email: str
    name: str = "Nobody"
    nick: str | None = None
    status: Literal["NEW", "VERIFIED", "CLOSED"] = "NEW"
    tier: Tier = Tier.BASIC
    born: date | None = None
    active: bool = True
    address: Address | None = None
    balance: Decimal = Decimal(0)
    labels: set[str] = set()
    notes: list[str] = []
    extra: JsonValue = None
    rev: int = 0


class Order(BaseModel):
    """In a sparse index while urgent, in a sharded one by its state, in a local one by its total."""

    customer: str
    id: str
    placed: datetime
    total: Decimal = Decimal(10)
    state: Literal["OPEN", "PAID"] = "OPEN"
    urgent: bool = False
    lines: list[str] = []


class OrderHead(BaseModel):
    """What the sharded index carries of an order."""

    id: str
    placed: datetime
    total: Decimal


class Day(BaseModel):
    """Counters of a day, flat and nested, and when it was first and last seen."""

    customer: str
    day: date
    visits: int = 0
    seconds: dict[str, int] = {}
    clicks: Clicks | None = None
    home: Address | None = None
    devices: set[str] = set()
    log: list[str] = []
    slots: list[Clicks] = []
    first: datetime | None = None
    last: datetime | None = None
    flagged: bool = False
    kind: str | None = None
    rank: str | None = None


class Session(BaseModel):
    """Dies by itself; unique by device as long as it lives."""

    token: str
    device: str
    note: str = "-"
    until: datetime | None = None
    hits: int = 0
    ended: bool = False


class SessionHead(BaseModel):
    """What an index of a few attributes carries of a session."""

    token: str


class Product(BaseModel):
    """Stored as an API shows it, camelCase; in an index of two and two attributes."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    sku: str
    category: Literal["book", "toy"]
    brand_name: str
    unit_price: Decimal
    stock: int = Field(default=0, ge=0)
    on_sale: bool = True
    picture: bytes | None = None
    sizes: set[int] = set()


class Reading(BaseModel):
    sensor: str
    at: int
    value: Decimal


class Account(BaseModel):
    """A tenant of a portal: three indexes that carry everything."""

    id: str
    email: str
    status: Literal["NEW", "LIVE"] = "NEW"
    active: bool = True
    created: datetime = START
    rev: int = 0


def by_id(id: str) -> None: ...
def order_key(customer: str, id: str) -> None: ...
def day_key(customer: str, day: date) -> None: ...
def session_key(token: str) -> None: ...
def product_key(sku: str) -> None: ...
def reading_key(sensor: str, at: int) -> None: ...


shop = Design("shop")
main = shop.table("shop", pk="PK", sk="SK", ttl="ttl")
gsi1 = main.gsi("GSI1", pk="GSI1PK", sk="GSI1SK")
gsi2 = main.gsi("GSI2", pk="GSI2PK", sk="GSI2SK", project=("id", "placed", "total", "token"))
by_total = main.lsi("ByTotal", sk="LSI1")

customers = main.entity(
    Customer,
    by_id,
    tag="customer",
    pk="CUSTOMER#{id}",
    sk="PROFILE",
    on={gsi1: Keys("TIER#{tier}", "NAME#{name:lower}#{id}")},
    unique=[
        Unique("email", "{email:lower}", keep={"mail": "{email}"}),
        Unique("nick", "{nick:lower}", pk="NICK#{nick:lower}"),
    ],
    version="rev",
    soft_delete="active",
    states=States(
        "status",
        start="NEW",
        moves={
            "NEW": {"VERIFIED": ("user", "system"), "CLOSED": ("admin",)},
            "VERIFIED": {"CLOSED": ("admin",)},
        },
        overrides=("root",),
    ),
    immutable=("born",),
)
orders = main.entity(
    Order,
    order_key,
    tag="order",
    pk="CUSTOMER#{customer}",
    sk="ORDER#{id}",
    on={
        gsi1: Keys("URGENT#{urgent:flag}", "AT#{placed:ms}#{id}"),
        gsi2: Keys("STATE#{state}#{id:shard.4}", "AT#{placed:ms}#{id}"),
        by_total: Keys("CUSTOMER#{customer}", "TOTAL#{total:8.2}#{id}"),
    },
    load={"get": Load(item_bytes=400)},
)
days = main.entity(
    Day,
    day_key,
    tag="day",
    pk="CUSTOMER#{customer}",
    sk="DAY#{day}",
    on={gsi1: Keys("KIND#{kind}#{rank}", "DAY#{customer}#{day}")},
)
sessions = main.entity(
    Session,
    session_key,
    tag="session",
    pk="SESSION#{token}",
    sk="SESSION",
    on={gsi1: Keys("SESSIONS", "TOKEN#{token}"), gsi2: Keys("HEADS", "TOKEN#{token}")},
    unique=[Unique("device", "{device}", keep={"note": "{note}"})],
    expires=Expires("until", timedelta(hours=1)),
    soft_delete=SoftDelete("ended", live=False),
)

goods = shop.table("products", pk="sku")
by_category = goods.gsi("ByCategory", pk=("category", "brandName"), sk=("unitPrice", "sku"))
on_offer = goods.gsi("OnOffer", pk="offer", sk="sku", project="KEYS_ONLY")
products = goods.entity(
    Product,
    product_key,
    tag="product",
    pk="{sku}",
    on={
        by_category: Keys(("{category}", "{brand_name}"), ("{unit_price}", "{sku}")),
        on_offer: Keys("OFFER#{on_sale:flag}", "{sku}"),
    },
    derived={"brandLower": "{brand_name:lower}"},
)

log = shop.table("readings", pk="sensor", sk="at")
readings = log.entity(Reading, reading_key, tag="reading", pk="{sensor}", sk="{at}")

portal = shop.table("accounts", pk="id")
email_index = portal.gsi("EmailIndex", pk="email")
status_index = portal.gsi("StatusIndex", pk="status", sk="created")
active_index = portal.gsi("ActiveIndex", pk="activeKey", sk="created")
accounts = portal.entity(
    Account,
    by_id,
    tag="account",
    pk="{id}",
    on={
        email_index: Keys("{email}"),
        status_index: Keys("{status}", "{created}"),
        active_index: Keys("{active:bool}", "{created}"),
    },
    version="rev",
    soft_delete="active",
)


@shop.query(orders, pk="CUSTOMER#{customer}", sk=begins("ORDER#"), page=10, at_most=100)
def orders_of(*, customer: str) -> None:
    """A customer's orders, by id."""


@shop.query(orders, pk="CUSTOMER#{customer}", sk=begins("ORDER#"), descending=True, consistent=True)
def last_orders_of(*, customer: str) -> None:
    """A customer's orders, the last id first."""


@shop.query(orders, on=by_total, pk="CUSTOMER#{customer}", sk=at_least("TOTAL#{total:8.2}"))
def orders_worth(*, customer: str, total: Decimal) -> None:
    """A customer's orders of at least so much."""


@shop.query(orders, on=gsi1, pk="URGENT#{urgent:flag}", sk=between("AT#{start:ms}", "AT#{end:ms}"))
def urgent_orders(*, urgent: bool = True, start: datetime | None = None, end: datetime | None = None) -> None:
    """What is urgent, oldest first."""


@shop.query(
    orders.view(OrderHead), on=gsi2, pk="STATE#{state}#{id:shard.4}", load=Load(items=20, item_bytes=200)
)
def orders_in_state(*, state: Literal["OPEN", "PAID"]) -> None:
    """Orders of all customers in a state, oldest first."""


@shop.query(orders.view(OrderHead), on=gsi2, pk="STATE#{state}#{id:shard.4}", descending=True)
def newest_in_state(*, state: Literal["OPEN", "PAID"]) -> None:
    """Orders of all customers in a state, newest first."""


@shop.query(customers, orders, days, pk="CUSTOMER#{customer}")
def everything_of(*, customer: str) -> None:
    """A customer with orders and days, in one read."""


@shop.query(customers, days, pk="CUSTOMER#{customer}", others=True)
def profile_and_days(*, customer: str) -> None:
    """A customer with days, passing over the orders between them."""


@shop.query(customers, on=gsi1, pk="TIER#{tier}")
def customers_of_tier(*, tier: Tier) -> None:
    """The customers of a tier, by name."""


@shop.query(days, on=gsi1, pk="KIND#{kind}#{rank}")
def days_of_kind(*, kind: str, rank: str) -> None:
    """Days of a kind and rank."""


@shop.query(sessions, on=gsi1, pk="SESSIONS")
def all_sessions() -> None:
    """Every session."""


@shop.query(sessions.view(SessionHead), on=gsi2, pk="HEADS")
def session_heads() -> None:
    """Every session's token."""


@shop.query(products, on=by_category, pk=("{category}", "{brand}"), sk=(at_least("{price}"),))
def products_from(*, category: Literal["book", "toy"], brand: str, price: Decimal | None = None) -> None:
    """A brand's products of a category, the cheapest first."""


@shop.query(readings, pk="{sensor}", sk=between("{start}", "{end}"))
def readings_between(*, sensor: str, start: int | None = None, end: int | None = None) -> None:
    """What a sensor told in a window."""


@shop.query(accounts, on=active_index, pk="{active:bool}")
def active_accounts(*, active: bool) -> None:
    """Accounts by whether they are active."""


@shop.get(customers, consistent=True)
def customer_now(*, id: str) -> None:
    """A customer as they are at this moment."""


TEST = Environment("test", "us-east-1")
shop.environment(TEST)
shop.build()


# --- small values for tests ---


def customer(id: str = "c1", email: str | None = None, **more: object) -> Customer:
    return Customer(id=id, email=email or f"{id}@example.org", **more)  # type: ignore[arg-type]  # any field by name


def order(number: int, customer: str = "c1", **more: object) -> Order:
    """The order with this number; each is placed a minute after the one before."""
    fields: dict[str, object] = {"id": f"{number:03}", "placed": START + timedelta(minutes=number), **more}
    return Order(customer=customer, **fields)  # type: ignore[arg-type]  # any field by name


def day(customer: str = "c1", on: date = date(2040, 1, 1), **more: object) -> Day:
    return Day(customer=customer, day=on, **more)  # type: ignore[arg-type]  # any field by name


def session(token: str = "t1", device: str = "phone", **more: object) -> Session:
    return Session(token=token, device=device, **{"until": START, **more})  # type: ignore[arg-type]  # any field by name
