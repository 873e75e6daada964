"""The customer portal's area: pages for customers (plans, campaigns, checkout, account) and for staff.

shop.py checkout.py payment.py sign_in.py sign_up.py account.py are for customers; tenants.py products.py campaigns.py
orders.py history.py for staff. All of them use page.py, forms.py (reading forms) and charts.py.
"""

from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.area import Area, Nav
from tablewright.pages.layout import Console
from tablewright.systems.portal.pages.account import add_account
from tablewright.systems.portal.pages.campaigns import add_campaigns
from tablewright.systems.portal.pages.checkout import add_checkout
from tablewright.systems.portal.pages.history import add_overview, add_records
from tablewright.systems.portal.pages.orders import add_orders
from tablewright.systems.portal.pages.page import PortalPages
from tablewright.systems.portal.pages.payment import add_payment
from tablewright.systems.portal.pages.products import add_products
from tablewright.systems.portal.pages.search import finder
from tablewright.systems.portal.pages.shop import add_landing, add_pricing
from tablewright.systems.portal.pages.sign_in import add_sign_in
from tablewright.systems.portal.pages.sign_up import add_sign_up
from tablewright.systems.portal.pages.tenants import add_tenants
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
    router = pages.router()
    # add_campaigns before add_landing, which would read its fixed paths as a campaign's code.
    for add in (
        add_pricing,
        add_overview,
        add_tenants,
        add_products,
        add_campaigns,
        add_checkout,
        add_orders,
        add_payment,
        add_records,
        add_sign_in,
        add_sign_up,
        add_account,
        add_landing,
    ):
        add(router, pages)
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
