"""The customer portal's area: pages for customers (plans, campaigns, checkout, account) and for staff.

shop.py checkout.py payment.py sign_in.py sign_up.py account.py are for customers; tenants.py products.py campaigns.py
orders.py history.py for staff. All of them use page.py, forms.py (reading forms) and charts.py.
"""

from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import gather
from tablewright.pages.area import Area, Nav
from tablewright.pages.layout import Console
from tablewright.systems.portal.pages.account import account_router
from tablewright.systems.portal.pages.campaigns import campaigns_router
from tablewright.systems.portal.pages.checkout import buying_router
from tablewright.systems.portal.pages.history import overview_router, records_router
from tablewright.systems.portal.pages.orders import orders_router
from tablewright.systems.portal.pages.page import PortalPages
from tablewright.systems.portal.pages.payment import payment_router
from tablewright.systems.portal.pages.products import products_router
from tablewright.systems.portal.pages.search import finder
from tablewright.systems.portal.pages.shop import landing_router, pricing_router
from tablewright.systems.portal.pages.sign_in import sign_in_router
from tablewright.systems.portal.pages.sign_up import joining_router
from tablewright.systems.portal.pages.tenants import tenants_router
from tablewright.systems.portal.portal import Portal

STAFF = ("support", "admin")
PAGES = (
    Nav("Plans and prices", icon="tag"),
    Nav("My account", "account", ("tenant",), icon="person"),
    Nav("Register", "register", ("verified",), icon="check"),
    Nav("Overview", "overview", STAFF, icon="chart"),
    Nav("Customers", "tenants", STAFF, icon="people"),
    Nav("Plans", "products", STAFF, icon="box"),
    Nav("Campaigns", "campaigns", STAFF, icon="calendar"),
    Nav("Orders", "orders", STAFF, icon="receipt"),
    Nav("Audit log", "audit", STAFF, icon="history"),
    Nav("Outbox", "outbox", ("admin",), icon="mail"),
)


def portal_area(portal: Portal, console: Console, who: FindPrincipal) -> Area:
    """The area of SYSTEM.pages."""
    pages = PortalPages(console, who, portal)
    router = pricing_router(pages)
    # campaigns_router before landing_router, which would read its fixed paths as a campaign's code.
    parts = (
        overview_router(pages),
        tenants_router(pages),
        products_router(pages),
        campaigns_router(pages),
        buying_router(pages),
        orders_router(pages),
        payment_router(pages),
        records_router(pages),
        sign_in_router(pages),
        joining_router(pages),
        account_router(pages),
        landing_router(pages),
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
