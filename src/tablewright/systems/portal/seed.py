"""The demo: a small hosting company after two months of business.

Made with the service itself and a clock that runs from sixty days ago to now, so every record has its history.
Must hold: a second run skips what exists.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tablewright.edge.errors import CallerError
from tablewright.kit.seed_clock import SeedClock
from tablewright.kit.system import Person, Progress
from tablewright.kit.tables import Actor
from tablewright.systems.portal import rules
from tablewright.systems.portal.errors import Taken
from tablewright.systems.portal.model import Campaign, Tenant
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.portal import Portal, open_portal

ADMIN = Actor("thandi@bbws.example", "admin", "admin_thandi")
SUPPORT = Actor("sipho@bbws.example", "support", "support_sipho")
CUSTOMER = "lerato@springbokcycles.example"
STARTER = "prod_550e8400-e29b-41d4-a716-446655440000"
BUSINESS = "prod_550e8400-e29b-41d4-a716-446655440001"
AGENCY = "prod_550e8400-e29b-41d4-a716-446655440002"
YEARLY = "prod_550e8400-e29b-41d4-a716-446655440003"
RETIRED = "prod_550e8400-e29b-41d4-a716-446655440004"
DRAFT = "prod_550e8400-e29b-41d4-a716-446655440005"
DAYS = 60


@dataclass(frozen=True, slots=True)
class _Plan:
    id: str
    name: str
    description: str
    price: str
    cycle: str
    features: tuple[str, ...]
    draft: bool = False


PRODUCTS = (
    _Plan(
        STARTER,
        "WordPress Starter",
        "One managed site for a blog or a small business.",
        "99.99",
        "monthly",
        ("1 WordPress site", "10 GB storage", "Free SSL certificate", "Daily backups"),
    ),
    _Plan(
        BUSINESS,
        "WordPress Business",
        "For companies that need a fast site that is always online.",
        "279.99",
        "monthly",
        ("3 WordPress sites", "50 GB storage", "Free SSL certificates", "Hourly backups", "Staging copy"),
    ),
    _Plan(
        AGENCY,
        "WordPress Agency",
        "Many sites in one account, with access for your clients.",
        "899.00",
        "monthly",
        ("25 WordPress sites", "250 GB storage", "Hourly backups", "White label", "Priority support"),
    ),
    _Plan(
        YEARLY,
        "WordPress Business, yearly",
        "The business plan, billed yearly, with two months free.",
        "2999.90",
        "yearly",
        ("3 WordPress sites", "50 GB storage", "Hourly backups", "Two months free"),
    ),
    _Plan(
        RETIRED,
        "Classic Hosting",
        "Plain PHP hosting, no longer offered.",
        "49.00",
        "monthly",
        ("1 site", "2 GB storage"),
    ),
    _Plan(
        DRAFT,
        "WordPress Enterprise",
        "Your own cluster in two regions.",
        "4999.00",
        "monthly",
        ("Unlimited sites", "Two regions", "A named engineer"),
        draft=True,
    ),
)
FIRST = ("Amahle", "Bongani", "Chloe", "Dumisani", "Elna", "Fatima", "Gareth", "Hlengiwe", "Imraan", "Johan", "Karabo",
         "Liesl", "Mandla", "Naledi", "Oupa", "Palesa", "Quinton", "Refilwe", "Sanele", "Tumi", "Unathi", "Vusi",
         "Wandile", "Xoliswa", "Yusuf", "Zanele")  # fmt: skip
HOUSES = ("kaapbakery", "karoobikes", "durbandive", "jozicoffee", "protea-print")


def people(portal: Portal) -> tuple[Person, ...]:
    """One customer with orders, then the staff: the sign-in page shows them in this order."""
    staff = (
        Person(
            ADMIN.subject, "Thandi Nkosi", "Portal admin", "Manages customers, plans, campaigns and orders.",
            ("admin",), ADMIN.name, True, home="/console/portal/tenants",
        ),
        Person(
            SUPPORT.subject, "Sipho Dlamini", "Support", "Sees customers, plans and orders; can't change them.",
            ("support",), SUPPORT.name, home="/console/portal/tenants",
        ),
    )  # fmt: skip
    customer = portal.repository.tenant_of(CUSTOMER)
    if customer is None:
        return staff
    return (
        Person(
            customer.id, "Lerato Mokoena", "Customer", "Sees the plans, her account and her orders.",
            ("tenant",), CUSTOMER, home="/console/portal/account",
        ),
        *staff,
    )  # fmt: skip


def seed(portal: Portal, progress: Progress, tenants: int = 130) -> None:
    """Fill an empty portal; `progress` is called with the steps done and in total."""
    world = portal.repository.world
    today = world.now()
    clock = SeedClock(today - timedelta(days=DAYS))
    past = open_portal(
        portal.repository.db, replace(world, now=clock), b"seeding: no secret of it is sent", portal.issue,
        payments=portal.payments,
    )  # fmt: skip
    total = len(PRODUCTS) + tenants + 12
    _products(past, lambda done: progress(done, total, "products"))
    _campaigns(past, rules.local_day(today))
    done = len(PRODUCTS) + 6
    for number in range(tenants):
        clock.now = today - timedelta(days=DAYS) + timedelta(days=(DAYS - 1) * (number + 1) / tenants)
        _tenant(past, number)
        if number == tenants // 2:
            _price_rise(past)
        progress(done + number + 1, total, "customers and orders")
    clock.now = today - timedelta(hours=1)
    _customer(past)
    _staff_work(past)
    progress(total, total, "done")


def _products(portal: Portal, progress: Callable[[int], None]) -> None:
    for number, plan in enumerate(PRODUCTS):
        fields: dict[str, Any] = {
            "name": plan.name,
            "description": plan.description,
            "price": Decimal(plan.price),
            "billing_cycle": plan.cycle,
            "features": list(plan.features),
            "draft": plan.draft,
        }
        with suppress(Taken):
            portal.catalogue.create_product(fields, ADMIN, id=plan.id)
        progress(number + 1)
    retired = portal.catalogue.product(RETIRED, deleted=True)
    if retired.active:
        portal.catalogue.change_product(RETIRED, {"active": False}, ADMIN)


@dataclass(frozen=True, slots=True)
class _Discount:
    """A campaign of the demo; days count from today."""

    code: str
    percent: str
    product: str
    starts: int
    ends: int
    words: str
    also: tuple[str, ...] = ()
    limit: int | None = None


CAMPAIGNS = (
    _Discount("SUMMER_SPECIAL", "20", BUSINESS, -20, 40, "20 % off the business plan, all summer long."),
    _Discount(
        "FIRST_SITE",
        "50",
        STARTER,
        -10,
        20,
        "Half price on your first site — first 200 customers.",
        limit=200,
    ),
    _Discount(
        "LONG_WEEKEND",
        "35",
        AGENCY,
        12,
        15,
        "35 % off our bigger plans, four days only.",
        also=(BUSINESS,),
        limit=100,
    ),
    _Discount("WINTER_SALE", "15", YEARLY, -90, -30, "15 % off a year of the business plan."),
)


def _campaigns(portal: Portal, today: date) -> None:
    for discount in CAMPAIGNS:
        fields = {
            "code": discount.code,
            "description": discount.words,
            "discount_percentage": Decimal(discount.percent),
            "product_id": discount.product,
            "also_product_ids": list(discount.also),
            "terms_conditions_link": f"https://bbws.example/terms/{discount.code.lower()}",
            "from_date": today + timedelta(days=discount.starts),
            "to_date": today + timedelta(days=discount.ends),
            "redemption_limit": discount.limit,
            "per_tenant_limit": 1 if discount.limit else None,
        }
        with suppress(Taken):
            portal.catalogue.create_campaign(fields, ADMIN)


def _price_rise(portal: Portal) -> None:
    product = portal.catalogue.product(BUSINESS)
    if product.price == Decimal("279.99"):
        portal.catalogue.change_product(BUSINESS, {"price": Decimal("299.99")}, ADMIN)


def _tenant(portal: Portal, number: int) -> None:
    """One customer with an order; some verify their address, register or are suspended."""
    first = FIRST[number % len(FIRST)]
    email = f"{first.lower()}{number:03}@{HOUSES[number % len(HOUSES)]}.example"
    business = HOUSES[number % len(HOUSES)].replace("-", " ").title() if number % 3 else None
    plan = (STARTER, BUSINESS, STARTER, AGENCY, BUSINESS, YEARLY)[number % 6]
    codes = _codes_for(portal, plan) if number % 4 == 0 else []
    token = None if number % 11 == 0 else "tok_declined" if number % 13 == 0 else "tok_demo"
    with suppress(CallerError):
        order = portal.checkout.place(
            email, [Line(plan, 1 + (number % 7 == 0))], codes=codes, organization_name=business,
            payment_token=token, key=f"seed-order-{number:04}",
        )  # fmt: skip
        if token is not None:  # with an offer limited per customer, a guest pays once the address is verified
            order = portal.orders.pay_at_once(order, token)
        _walk(portal, portal.tenants.get(order.tenant_id), number)


def _codes_for(portal: Portal, plan: str) -> list[str]:
    now = portal.repository.now()
    running: list[Campaign] = [
        offer.campaign
        for offer in portal.catalogue.offers_of(plan, public=True)
        if rules.is_valid(offer.campaign, now)
    ]
    return [running[0].code] if running else []


def _walk(portal: Portal, tenant: Tenant, number: int) -> None:
    """Move the tenant to the status that its number gives."""
    if tenant.status == "UNVALIDATED" and number % 6:
        tenant = portal.tenants.move(tenant.id, "VALIDATED", Actor(tenant.email, "user"))
        if number % 5:
            tenant = portal.tenants.move(tenant.id, "REGISTERED", Actor(tenant.email, "user"))
    if number % 29 == 7:
        portal.tenants.move(tenant.id, "SUSPENDED", ADMIN, reason="Two payments were charged back.")
    elif number % 31 == 9 and tenant.active:
        portal.tenants.change(tenant.id, {"active": False}, ADMIN)


def _customer(portal: Portal) -> None:
    """The customer of the demo's sign-in page."""
    order = portal.checkout.place(
        CUSTOMER, [Line(BUSINESS)], codes=["SUMMER_SPECIAL"], organization_name="Springbok Cycles",
        payment_token="tok_demo", key="seed-lerato-1",
    )  # fmt: skip
    portal.checkout.place(CUSTOMER, [Line(STARTER, 2)], key="seed-lerato-2")
    tenant = portal.tenants.get(order.tenant_id)
    if tenant.status == "UNVALIDATED":
        _walk(portal, tenant, 1)


def _staff_work(portal: Portal) -> None:
    """Entries for the audit trail and the price history."""
    product = portal.catalogue.product(AGENCY)
    if product.next_price is None and product.price == Decimal("899.00"):
        start = portal.repository.now() + timedelta(days=14)
        portal.catalogue.change_product(
            AGENCY, {"next_price": Decimal("949.00"), "next_price_from": start}, ADMIN
        )
