"""The portal in a real browser: from a new product to a paid order; and every page on every screen."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from playwright.sync_api import expect
from tests.browser.conftest import Keep, Open
from tests.browser.looks import looked_at

from tablewright.systems.portal import rules
from tablewright.systems.portal.seed import AGENCY, BUSINESS, CUSTOMER
from tablewright.world import real_world

HOME = "/console/portal"
THANDI, SIPHO = "admin_thandi", "support_sipho"
PUBLIC = {
    "pricing": "",
    "landing": "/campaigns/SUMMER_SPECIAL",
    "landing-ended": "/campaigns/WINTER_SALE",
    "checkout": f"/checkout?plan={BUSINESS}&plan={AGENCY}&code=SUMMER_SPECIAL",
    "checkout-empty": "/checkout",
    "door": "/sign-in",
    "verify-link": f"/verify?address={CUSTOMER}&secret=0123456789abcdef",
}
STAFF = {
    "overview": "/overview",
    "tenants": "/tenants",
    "tenant-new": "/tenants/new",
    "products": "/products",
    "product": f"/products/{BUSINESS}",
    "product-price-to-come": f"/products/{AGENCY}",
    "product-edit": f"/products/{AGENCY}/edit",
    "product-new": "/products/new",
    "campaigns": "/campaigns",
    "campaign": "/campaigns/FIRST_SITE/details",
    "campaign-to-come": "/campaigns/LONG_WEEKEND/details",
    "campaign-preview": "/campaigns/LONG_WEEKEND",
    "campaign-new": f"/campaigns/new-campaign?product={BUSINESS}",
    "campaign-edit": "/campaigns/LONG_WEEKEND/edit",
    "orders": "/orders",
    "orders-refunded": "/orders?status=REFUNDED",
    "orders-found": "/orders?q=springbok",
    "audit": "/audit",
    "outbox": "/outbox",
}
# Pages about one thing: the list, and where the first link of it leads on.
OF_ONE = {
    "tenant": ("/tenants?status=REGISTERED", ""),
    "tenant-suspended": ("/tenants?status=SUSPENDED", ""),
    "tenant-deleted": ("/tenants?show=deleted", ""),
    "tenant-edit": ("/tenants?status=REGISTERED", "/edit"),
    "tenant-email": ("/tenants?status=REGISTERED", "/email"),
    "tenant-erase": ("/tenants?status=REGISTERED", "/erase"),
    "order": ("/orders", ""),
    "order-refund": ("/orders?status=PAID", "/refund"),
    "order-mark-paid": ("/orders?status=PENDING", "/mark-paid"),
    "order-cancel": ("/orders?status=PENDING", "/cancel"),
    "message": ("/outbox?state=SENT", ""),
}


def test_customers_pages_fit_every_screen_without_a_serious_barrier(open_page: Open, keep: Keep) -> None:
    page = open_page()
    for name, path in PUBLIC.items():
        assert page.goto(HOME + path).status == 200, path
        looked_at(page, keep, f"portal-{name}")


def test_staff_pages_fit_every_screen_without_a_serious_barrier(open_page: Open, keep: Keep) -> None:
    page = open_page(THANDI)
    for name, path in _staff(page):
        assert page.goto(path).status == 200, path
        looked_at(page, keep, f"portal-{name}")


def _staff(page: Any) -> Iterator[tuple[str, str]]:
    yield from ((name, HOME + path) for name, path in STAFF.items())
    for name, (path, rest) in OF_ONE.items():
        page.goto(HOME + path)
        yield name, page.locator("td a").first.get_attribute("href") + rest


def test_an_account_fits_every_screen_without_a_serious_barrier(open_page: Open, keep: Keep) -> None:
    page = open_page()
    page.goto("/sign-in")
    page.get_by_role("button", name="Lerato Mokoena").click()
    page.get_by_role("heading", name="Springbok Cycles").wait_for()
    looked_at(page, keep, "portal-account")
    page.locator("td a").first.click()
    page.get_by_role("heading", name="Order placed. Not paid yet.").wait_for()
    looked_at(page, keep, "portal-own-order")
    page.get_by_role("link", name="Pay R").click()
    page.get_by_role("heading", name=re.compile("^Pay order BB-")).wait_for()
    looked_at(page, keep, "portal-pay")


def _fill(page: Any, **typed: str) -> None:
    for name, text in typed.items():
        page.locator(f"#f-{name}").fill(text)


def _today() -> date:
    return rules.local_day(real_world().now())


def test_from_a_new_product_to_a_paid_order(open_page: Open, keep: Keep) -> None:
    """The story: an admin makes a product and a campaign, somebody buys it, the admin sees the order."""
    admin = open_page(THANDI)
    admin.goto(f"{HOME}/products")
    admin.get_by_role("link", name="New plan").click()
    _fill(admin, name="WordPress Studio", description="For designers who show their work.", price="299.99")
    _fill(admin, features="5 WordPress sites\n80 GB storage\nImage delivery included")
    admin.get_by_role("button", name="Create plan").click()
    admin.get_by_text("Plan WordPress Studio created.").wait_for()
    keep(admin, "portal-story-1-product")

    with admin.expect_navigation():  # the script of the page is there once it is loaded
        admin.get_by_role("link", name="New campaign").click()
    _fill(
        admin, code="studio_opening", description="A fifth off, to open the studio.", discountPercentage="20"
    )
    admin.locator("#preview").get_by_text("239.99").wait_for()  # the server's answer while one types
    _fill(admin, termsConditionsLink="https://bbws.example/terms/studio")
    _fill(admin, fromDate=_today().isoformat(), toDate=(_today() + timedelta(days=9)).isoformat())
    admin.get_by_role("button", name="Create campaign").click()
    admin.get_by_text("Campaign STUDIO_OPENING created.").wait_for()
    keep(admin, "portal-story-2-campaign")

    buyer = open_page()
    buyer.goto(f"{HOME}/campaigns/STUDIO_OPENING")
    price = buyer.locator(".landing .price")
    assert _plain(price.inner_text()).endswith("R 239.99")
    assert "R 299.99" in _plain(price.inner_text())
    assert "9 days left" in buyer.locator(".lead").inner_text()
    keep(buyer, "portal-story-3-landing")
    buyer.get_by_role("link", name="Get this offer").click()
    expect(buyer.locator(".totals .total")).to_contain_text(re.compile(r"R\s239\.99"), use_inner_text=True)
    _fill(buyer, email="studio@buyer.example", organizationName="Studio of the story")
    keep(buyer, "portal-story-4-checkout")
    buyer.get_by_role("button", name="Place order").click()
    buyer.get_by_role("heading", name="Thank you for your order").wait_for()
    buyer.wait_for_load_state()
    keep(buyer, "portal-story-5-placed")
    number = re.search(r"BB-\d{8}-[0-9A-F]{8}", buyer.locator(".head").inner_text())
    assert number is not None

    admin.goto(f"{HOME}/orders")
    admin.get_by_role("link", name=number[0]).click()
    admin.get_by_role("heading", name="Order paid.").wait_for()
    admin.wait_for_load_state()
    shown = _plain(admin.locator("main").inner_text())
    for expected in (
        "WordPress Studio",
        "STUDIO_OPENING",
        "R 299.99",
        "R 239.99",
        "studio@buyer.example",
        "SAST",
    ):
        assert expected in shown
    keep(admin, "portal-story-6-order")


def _plain(text: str) -> str:
    return re.sub(r"[\s\u00a0\u202f]+", " ", text).strip()


def test_the_total_follows_what_is_typed(open_page: Open) -> None:
    page = open_page()
    page.goto(f"{HOME}/checkout?plan={BUSINESS}")
    total = page.locator("#total .total")
    assert "R 239.99" in _plain(total.inner_text())  # the running campaign applies without its code
    page.locator(f"#f-quantity-{BUSINESS}").fill("2")
    page.locator("#f-code").fill("SUMMER_SPECIAL")
    page.locator("#f-email").focus()
    page.locator("#total .off").wait_for()
    page.locator("#total .total", has_text="479.98").wait_for()
    page.locator("#f-add").select_option(AGENCY)
    page.locator("#total .total", has_text=re.compile(r"1\s378\.98")).wait_for()
    _fill(page, email="typed@total.example")
    page.get_by_role("button", name="Place order").click()
    page.get_by_role("heading", name="Thank you for your order").wait_for()
    expect(page.locator(".totals .total")).to_contain_text(re.compile(r"R\s1\s378\.98"), use_inner_text=True)


def test_a_customer_buys_proves_the_address_and_registers_without_a_script(open_page: Open) -> None:
    page = open_page(script=False)
    page.goto(HOME)
    page.locator(f'.plan a[href*="{BUSINESS}"]').click()
    _fill(page, email="no.script@buyer.example")
    page.get_by_role("button", name="Place order").click()
    page.get_by_role("button", name="Send me a code").click()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Demo mail").click()
    page = opened.value
    # The order's own mail may arrive before it, and other systems of this server send codes too.
    letter = page.locator(".mails li", has_text="Your code is").filter(has_text="no.script@buyer.example")
    for _ in range(100):
        if letter.count():
            break
        page.wait_for_timeout(200)  # mail takes a moment, and without a script the page does not refresh
        page.reload()
    letter.locator("a").click()
    page.get_by_role("button", name="Confirm address").click()
    page.get_by_role("button", name="Register").click()
    page.get_by_text("You are registered. Welcome.").wait_for()
    expect(page.locator("td a")).to_have_count(1)


def test_an_admin_suspends_a_tenant_with_the_keyboard_alone(open_page: Open) -> None:
    page = open_page(THANDI)
    page.goto(f"{HOME}/tenants?status=VALIDATED")
    page.locator("td a").first.press("Enter")
    page.locator("summary", has_text="Suspend").press("Enter")
    page.locator("#f-reason").press_sequentially("Asked for by the bank")
    page.locator("#f-reason").press("Enter")
    page.get_by_text("Status changed to suspended.").wait_for()
    page.get_by_role("button", name="Lift suspension").press("Enter")
    page.get_by_text("Status changed to validated.").wait_for()


def test_support_sees_a_tenant_without_a_button_to_change_it(open_page: Open, keep: Keep) -> None:
    page = open_page(SIPHO)
    page.goto(f"{HOME}/tenants?status=REGISTERED")
    page.locator("td a").first.click()
    page.get_by_role("heading", name="History").wait_for()
    expect(page.locator("main form")).to_have_count(0)
    keep(page, "portal-tenant-for-support-1280-light")
