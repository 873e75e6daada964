"""The customer portal's area: what customers see (plans, campaigns, checkout, their account), and the staff's desk.

shop.py buying.py payment.py sign_in.py joining.py account.py are for customers; tenants.py products.py campaigns.py
orders.py records.py for staff; desk.py is what all of them are made with, typed.py how forms are read, pictures.py what
is drawn and counted.
"""

from tablewright.app.console.area import Area, Nav
from tablewright.app.console.console import Console
from tablewright.app.console.portal.account import account_router
from tablewright.app.console.portal.buying import buying_router
from tablewright.app.console.portal.campaigns import campaigns_router
from tablewright.app.console.portal.desk import desk_of
from tablewright.app.console.portal.finding import finder
from tablewright.app.console.portal.joining import joining_router
from tablewright.app.console.portal.orders import orders_router
from tablewright.app.console.portal.payment import payment_router
from tablewright.app.console.portal.products import products_router
from tablewright.app.console.portal.records import overview_router, records_router
from tablewright.app.console.portal.shop import landing_router, pricing_router
from tablewright.app.console.portal.sign_in import sign_in_router
from tablewright.app.console.portal.tenants import tenants_router
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import gather
from tablewright.systems.portal.service import Portal

STAFF = ("support", "admin")
PAGES = (
    Nav("Plans and prices"),
    Nav("My account", "account", ("tenant",)),
    Nav("Register", "register", ("verified",)),
    Nav("Overview", "overview", STAFF),
    Nav("Customers", "tenants", STAFF),
    Nav("Products", "products", STAFF),
    Nav("Campaigns", "campaigns", STAFF),
    Nav("Orders", "orders", STAFF),
    Nav("Audit", "audit", STAFF),
    Nav("Outbox", "outbox", ("admin",)),
)


def portal_area(portal: Portal, console: Console, who: FindPrincipal) -> Area:
    """The area of System.area."""
    desk = desk_of(portal, console, who)
    router = pricing_router(desk)
    # campaigns_router before landing_router: its fixed paths would else be read as a campaign's code.
    parts = (
        overview_router(desk),
        tenants_router(desk),
        products_router(desk),
        campaigns_router(desk),
        buying_router(desk),
        orders_router(desk),
        payment_router(desk),
        records_router(desk),
        sign_in_router(desk),
        joining_router(desk),
        account_router(desk),
        landing_router(desk),
    )
    gather(router, parts)
    return Area(
        "portal",
        "Customer portal",
        "shop",
        "teal",
        PAGES,
        router,
        about="Plans, campaigns and checkout for customers; customers, orders and audit for staff.",
        search=finder(portal),
        finds="a plan",
        has_door=True,
    )
