"""The frame in a real browser: signing in, switching, the drawer, the keyboard, light and dark, wide and narrow."""

from typing import Any

from playwright.sync_api import expect
from tests.browser.conftest import Keep, Open, Served
from tests.browser.looks import looked_at, overflow

PAGES = {
    "home": "/",
    "sign-in": "/sign-in",
    "docs": "/docs",
    "search": "/search?q=tenant",
    "designs": "/console/designs",
    "design": "/console/designs/portal",
    "table": "/console/designs/portal/tables/tenants",
    "entity": "/console/designs/portal/entities/tenant",
    "collections": "/console/designs/portal/pictures/portal-tenants-collections",
    "matrix": "/console/designs/portal/pictures/portal-tenants-matrix",
    "findings": "/console/designs/portal/findings",
    "rules": "/console/designs/rules",
    "check": "/console/designs/check",
    "environments": "/console/designs/portal/environments",
    "cost": "/console/designs/portal/cost",
    "pattern": "/console/designs/portal/patterns/products_by_active",
    "items": "/console/designs/items",
    "store": "/console/designs/store",
    "metrics": "/console/designs/metrics?table=products",
    "mail": "/console/designs/mail",
    "alarms": "/console/designs/alarms",
    "alarm": "/console/designs/alarms/campus/StorageQuotaHigh",
}


def test_every_page_fits_its_screen_and_has_no_serious_barrier(open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa")
    for name, address in PAGES.items():
        assert page.goto(address).status == 200, address
        looked_at(page, keep, name)


def test_one_signs_in_switches_and_signs_out(open_page: Open) -> None:
    page = open_page()
    page.goto("/")
    page.get_by_role("link", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Rosa Lindqvist").click()
    page.get_by_text("You are now signed in as Rosa Lindqvist").wait_for()
    page.locator(".demo-switch summary").click()
    page.get_by_role("button", name="Thandi Nkosi").click()
    page.get_by_text("You are now signed in as Thandi Nkosi").wait_for()
    page.locator(".who summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in", exact=True).wait_for()


def test_who_asks_for_a_page_first_signs_in_and_then_sees_it(open_page: Open) -> None:
    page = open_page()
    page.goto("/console/designs/store")
    page.get_by_role("button", name="Rosa Lindqvist").click()
    page.get_by_role("heading", name="Store and jobs").wait_for()


def test_on_a_phone_the_areas_are_in_a_drawer_that_needs_no_script(open_page: Open, keep: Keep) -> None:
    page = open_page(width=390, script=False)
    page.goto("/")
    designs = page.get_by_role("link", name="All designs", exact=True)
    expect(designs).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(designs).to_be_visible()
    keep(page, "drawer-390-light")
    page.get_by_role("button", name="Close").click()
    expect(designs).to_be_hidden()


def test_on_a_phone_the_menu_of_campus_cloud_is_a_drawer_whose_links_lead_to_its_pages(
    open_page: Open,
) -> None:
    page = open_page("student_lin", width=390, script=False)
    page.goto("/console/campus")
    courses = page.get_by_role("navigation").get_by_role("link", name="Courses", exact=True)
    expect(courses).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    courses.click()
    page.get_by_role("heading", name="Courses", level=1).wait_for()
    expect(courses).to_be_hidden()


def test_on_a_phone_the_words_of_the_search_are_whole_also_for_who_is_not_signed_in(open_page: Open) -> None:
    page = open_page(width=390)
    page.goto("/")
    room = page.get_by_role("searchbox").evaluate(
        """field => {
             const pen = document.createElement("canvas").getContext("2d"), style = getComputedStyle(field);
             pen.font = style.font;
             return field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
               - pen.measureText(field.placeholder).width;
           }"""
    )
    assert room >= 0


def test_on_a_phone_a_wrong_page_token_is_told_on_a_page_that_fits(browser: Any, served: Served) -> None:
    context = browser.new_context(base_url=served.url, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto("/sign-in")
    page.locator('.people button[value="engineer_rosa"]').click()
    assert page.goto("/console/designs/items?table=products&after=wrong").status == 400
    assert overflow(page) <= 0
    page.get_by_role("link", name="Reset filters").click()
    page.get_by_role("heading", name="Items", level=1).wait_for()
    context.close()


def test_on_a_phone_a_row_of_orders_shows_its_status_and_total_without_scrolling(open_page: Open) -> None:
    page = open_page("admin_thandi", width=390)
    page.goto("/console/portal/orders")
    for cell in (page.locator("tbody .badge").first, page.locator("tbody td.number").first):
        box = cell.bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 390


def test_the_menu_of_people_closes_with_escape_and_by_a_click_elsewhere(open_page: Open) -> None:
    page = open_page("engineer_rosa")
    page.goto("/")
    menu, summary = page.locator(".demo-switch .who-menu"), page.locator(".demo-switch summary")
    summary.click()
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    summary.click()
    page.locator("h1").click()
    expect(menu).to_be_hidden()


def test_the_keyboard_reaches_the_content_in_one_step(open_page: Open) -> None:
    page = open_page()
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_line_of_code_is_copied_by_its_button(open_page: Open) -> None:
    page = open_page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/")
    figure = page.locator("figure.code").first
    figure.hover()
    figure.get_by_role("button", name="Copy").click()
    figure.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("import boto3")


def test_search_finds_a_pattern_and_leads_to_it(open_page: Open) -> None:
    page = open_page("engineer_rosa")
    page.goto("/")
    page.get_by_role("searchbox").fill("tenants by email")
    page.get_by_role("searchbox").press("Enter")
    page.get_by_role("link", name="Pattern tenants_by_email").click()
    page.get_by_role("heading", name="tenants_by_email").wait_for()


def test_nothing_is_fetched_from_another_machine(open_page: Open) -> None:
    page = open_page("engineer_rosa")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for address in ("/", "/docs", "/console/designs/portal"):
        page.goto(address)
    assert {url.split("/")[2].split(":")[0] for url in asked} == {"127.0.0.1"}
