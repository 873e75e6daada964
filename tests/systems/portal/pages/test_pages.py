"""The portal's pages over real HTTP, used as a browser without a script uses them.

Who may see what; what is typed is never lost; what is shown is what is stored; names are shown, never run.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import forms_of, send, words_of

from tablewright import testing
from tablewright.app.logins import AUDIENCE
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import PORTAL
from tablewright.edge import serving_app
from tablewright.kit.tables import Actor
from tablewright.systems.portal import design as d
from tablewright.systems.portal import jobs, rules, tallies
from tablewright.systems.portal.catalogue.catalogue import Offer
from tablewright.systems.portal.customers.verification import LIFETIME
from tablewright.systems.portal.model import Campaign, Order, PriceChange, Product, Tenant
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.pages.charts import campaign_calendar, price_history
from tablewright.systems.portal.pages.forms import TypedProduct
from tablewright.systems.portal.pages.page import percent_words
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.seed import ADMIN, AGENCY, BUSINESS, CUSTOMER, RETIRED, STARTER, seed

HOME = "/console/portal"
THANDI, SIPHO = "admin_thandi", "support_sipho"
HOSTILE = '<script>alert("x")</script>'
NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def clock() -> testing.Clock:
    return testing.Clock(NOW)


@pytest.fixture(scope="module")
def runtime(clock: testing.Clock) -> Iterator[Runtime]:
    small = replace(PORTAL, seed=lambda portal, told: seed(portal, told, tenants=40))

    with open_app(memory=True, systems=(small,), world=ticking(clock), jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def portal(runtime: Runtime) -> Portal:
    found: Portal = runtime.running[0].service
    return found


@pytest.fixture(scope="module")
def url(runtime: Runtime) -> Iterator[str]:
    with serving_app(app_of(runtime)) as served:
        yield served


@pytest.fixture
def enter(url: str) -> Iterator[Enter]:
    with browsers(url) as entered:
        yield entered


@pytest.fixture
def new_product(portal: Portal) -> Callable[..., Product]:
    def made(name: str = "Plan of a test", price: str = "299.99", **fields: Any) -> Product:
        given = {
            "name": name,
            "description": "For a test.",
            "price": Decimal(price),
            "billing_cycle": "monthly",
            "features": ["One site"],
        }
        return portal.catalogue.create_product({**given, **fields}, ADMIN)[0]

    return made


@pytest.fixture
def new_campaign(portal: Portal) -> Callable[..., Campaign]:
    def made(product: Product, code: str, percent: str = "20", **fields: Any) -> Campaign:
        today = rules.local_day(portal.repository.now())
        given = {
            "code": code,
            "description": "Something off.",
            "discount_percentage": Decimal(percent),
            "product_id": product.id,
            "terms_conditions_link": "https://bbws.example/terms",
            "from_date": today - timedelta(days=1),
            "to_date": today + timedelta(days=10),
        }
        return portal.catalogue.create_campaign({**given, **fields}, ADMIN)[0]

    return made


def buy(portal: Portal, email: str, product_id: str = STARTER, **more: Any) -> Order:
    return portal.checkout.place(email, [Line(product_id)], **more)


def buy_own(portal: Portal, tenant: Tenant, **more: Any) -> Order:
    """An order of a customer who is signed in."""
    return buy(portal, tenant.email, buyer=tenant.id, **more)


def mail_to(portal: Portal, address: str) -> str:
    """The newest mail's text, as its reader gets it."""
    texts = portal.repository.outbox.texts
    return next(
        texts.text(mail, mail.message_id, address).body
        for mail in portal.repository.db.all(portal.repository.outbox.in_state("PENDING"))
        if mail.recipient == address
    )


def code_in(mail: str) -> str:
    found = re.search(r"\b\d{6}\b", mail)
    assert found is not None
    return found[0]


# --- who may see what ---

PUBLIC = ("", "/campaigns/SUMMER_SPECIAL", "/campaigns/WINTER_SALE", "/checkout", f"/checkout?plan={BUSINESS}",
          "/sign-in", f"/verify?address={CUSTOMER}&secret=0")  # fmt: skip
READ = ("/overview", "/tenants", "/tenants?status=SUSPENDED", "/tenants?show=deleted", "/tenants?show=all", "/products",
        "/products?show=deleted", f"/products/{BUSINESS}", f"/products/{AGENCY}", f"/products/{RETIRED}", "/campaigns",
        "/campaigns?show=off", "/campaigns/FIRST_SITE/details", "/campaigns/LONG_WEEKEND", "/orders",
        "/orders?status=PENDING", "/orders?status=REFUNDED", "/audit", "/audit?of=products&month=2026-09",
        "/audit?of=campaigns")  # fmt: skip
CHANGE = ("/tenants/new", "/products/new", f"/products/{AGENCY}/edit", "/campaigns/new-campaign",
          "/campaigns/FIRST_SITE/edit", "/outbox", "/outbox?state=SENT")  # fmt: skip
POSTS = ("/tenants/new", "/tenants/{t}/status", "/tenants/{t}/delete", "/tenants/{t}/restore", "/tenants/{t}/edit",
         "/tenants/{t}/email", "/tenants/{t}/erase", "/products/new", "/products/{p}/edit", "/products/{p}/delete",
         "/products/{p}/restore", "/campaigns/new-campaign", "/campaigns/new-campaign/price",
         "/campaigns/FIRST_SITE/edit", "/campaigns/FIRST_SITE/off", "/campaigns/FIRST_SITE/on",
         "/orders/{o}/refund")  # fmt: skip


@pytest.fixture(scope="module")
def lerato(portal: Portal) -> Tenant:
    found = portal.repository.tenant_of(CUSTOMER)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def her_order(portal: Portal, lerato: Tenant) -> Order:
    page = portal.tenants.orders(lerato.id, ADMIN)
    return next(order for order in page.items if order.order_status == "PAID")


@pytest.mark.parametrize("path", PUBLIC)
def test_everybody_sees_the_shop(enter: Enter, path: str) -> None:
    page = enter().get(HOME + path)
    assert page.status_code == 200
    assert len(page.content) < 50_000
    assert page.headers["cache-control"] in ("no-store", "public, max-age=60")


@pytest.mark.parametrize("path", READ)
def test_staff_reads_everything(enter: Enter, path: str) -> None:
    for person in (THANDI, SIPHO):
        page = enter(person).get(HOME + path)
        assert page.status_code == 200, (person, path)
        assert len(page.content) < 50_000


def test_staff_reads_one_tenant_and_one_order(enter: Enter, lerato: Tenant, her_order: Order) -> None:
    for person in (THANDI, SIPHO):
        browser = enter(person)
        assert CUSTOMER in browser.get(f"{HOME}/tenants/{lerato.id}").text
        assert her_order.order_number in browser.get(f"{HOME}/orders/{her_order.order_id}").text


@pytest.mark.parametrize("path", CHANGE)
def test_pages_that_change_things_are_for_admins(enter: Enter, path: str) -> None:
    assert enter(THANDI).get(HOME + path).status_code == 200
    assert enter(SIPHO).get(HOME + path).status_code == 403


@pytest.mark.parametrize("path", READ + CHANGE + ("/account",))
def test_who_is_not_signed_in_is_asked_to_for_staff_pages(enter: Enter, path: str) -> None:
    answer = enter(follow=False).get(HOME + path)
    if path == "/campaigns/LONG_WEEKEND":  # a landing page: there is no such campaign for the public yet
        assert answer.status_code == 404
        return
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"{HOME}/sign-in?next=%2Fconsole%2Fportal")


@pytest.mark.parametrize("path", POSTS)
def test_a_change_needs_an_admin(enter: Enter, lerato: Tenant, her_order: Order, path: str) -> None:
    address = HOME + path.format(t=lerato.id, p=BUSINESS, o=her_order.order_id)
    assert enter().post(address, data={}).status_code == 401
    assert enter(SIPHO).post(address, data={}).status_code == 403
    assert enter(lerato.id).post(address, data={}).status_code == 403


def test_an_admin_without_a_second_factor_reads_but_changes_nothing(runtime: Runtime, url: str) -> None:
    token = runtime.issuer.issue(
        "admin_x", audience=AUDIENCE, lifetime=timedelta(hours=1), roles=("portal.admin",)
    )
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}) as browser:
        page = browser.get(f"{HOME}/products")
        assert page.status_code == 200
        assert "New plan" not in page.text
        assert browser.get(f"{HOME}/products/new").status_code == 403
        assert browser.post(f"{HOME}/products/new", data={"name": "x"}).status_code == 403


def test_a_customer_sees_the_own_account_and_nobody_elses_orders(
    enter: Enter, portal: Portal, lerato: Tenant, her_order: Order
) -> None:
    browser = enter(lerato.id)
    assert "Springbok Cycles" in browser.get(f"{HOME}/account").text
    assert browser.get(f"{HOME}/tenants").status_code == 403
    assert browser.get(f"{HOME}/orders/{her_order.order_id}").status_code == 200
    foreign = buy(portal, "somebody@else.example")
    assert browser.get(f"{HOME}/orders/{foreign.order_id}").status_code == 404
    assert browser.post(f"{HOME}/orders/{foreign.order_id}/cancel").status_code == 404


def test_support_is_shown_no_button_it_may_not_use(enter: Enter, lerato: Tenant) -> None:
    pages = [
        f"/tenants/{lerato.id}",
        f"/products/{BUSINESS}",
        "/campaigns/FIRST_SITE/details",
        "/tenants",
        "/products",
    ]
    for path in pages:
        for_support = enter(SIPHO).get(HOME + path)
        actions = [form.action for form in forms_of(for_support) if form.action.startswith(HOME)]
        assert all(action in (f"{HOME}/tenants", f"{HOME}/search") for action in actions), (path, actions)
        for word in (">Edit<", "New customer", "New plan", "Erase", "Outbox"):
            assert word not in for_support.text, (path, word)


# --- the shop ---


def test_a_plan_shows_its_price_the_best_discount_and_the_vat_in_it(enter: Enter) -> None:
    words = words_of(enter().get(HOME))
    assert "Before: R 299.99 Now: R 239.99 per month" in words
    assert "R 31.30 VAT included" in words
    assert "20 % off until 26 December 2026" in words
    assert "R 2 999.90 per year" in words
    assert "R 249.99 a month" in words
    assert "WordPress Enterprise" not in words, "a draft is nobody's business"
    assert "Classic Hosting" not in words, "it is off sale"


def test_of_two_campaigns_a_plan_shows_the_better(
    enter: Enter, new_product: Callable[..., Product], new_campaign: Callable[..., Campaign]
) -> None:
    product = new_product("Twice reduced", "100.00")
    new_campaign(product, "TWICE_TEN", "10")
    new_campaign(product, "TWICE_FORTY", "40")
    page = enter().get(HOME)
    assert "Before: R 100.00 Now: R 60.00" in words_of(page)
    assert "code=TWICE_FORTY" in page.text
    assert "code=TWICE_TEN" not in page.text


def test_a_landing_page_says_what_it_costs_until_when_and_in_which_zone(enter: Enter) -> None:
    page = enter().get(f"{HOME}/campaigns/summer_special")
    words = words_of(page)
    assert "20 % off the business plan" in words
    assert "Before: R 299.99 Now: R 239.99" in words
    assert "until the end of 26 December 2026, South African time (SAST)" in words
    assert "40 days left" in words
    assert 'href="https://bbws.example/terms/summer_special"' in page.text
    assert f"/checkout?plan={BUSINESS}&amp;code=SUMMER_SPECIAL" in page.text


def test_a_campaign_that_was_switched_off_is_gone_and_says_so(
    enter: Enter, portal: Portal, new_product: Callable[..., Product], new_campaign: Callable[..., Campaign]
) -> None:
    new_campaign(new_product(), "GONE_SOON")
    portal.catalogue.change_campaign("GONE_SOON", {"active": False}, ADMIN)
    page = enter().get(f"{HOME}/campaigns/GONE_SOON")
    assert page.status_code == 410
    assert "no longer available" in words_of(page)
    assert "Choose" in page.text, "what there is instead"


def test_a_campaign_to_come_is_seen_by_staff_and_by_who_has_the_link(enter: Enter) -> None:
    address = f"{HOME}/campaigns/LONG_WEEKEND"
    assert enter().get(address).status_code == 404
    assert enter().get(f"{address}?preview=1.abc").status_code == 404
    details = enter(THANDI).get(f"{address}/details")
    link = re.search(r"http://[^<]*preview=[^<]+", details.text)
    assert link is not None
    shown = enter().get(link[0])
    assert shown.status_code == 200
    assert "Preview. Customers see this page from" in shown.text
    assert "/checkout?" not in shown.text, "it cannot be bought yet"
    assert enter(SIPHO).get(address).status_code == 200
    assert "preview=" not in enter(SIPHO).get(f"{address}/details").text


def test_a_campaign_whose_plan_is_off_sale_shows_no_price(
    enter: Enter, portal: Portal, new_product: Callable[..., Product], new_campaign: Callable[..., Campaign]
) -> None:
    product = new_product("To vanish")
    new_campaign(product, "NO_PRODUCT")
    portal.catalogue.change_product(product.id, {"active": False}, ADMIN)
    page = enter().get(f"{HOME}/campaigns/NO_PRODUCT")
    assert page.status_code == 200
    assert "Offer not available" in page.text
    assert "Get this offer" not in page.text


def test_a_campaign_that_ended_or_is_used_up_says_so_and_sells_nothing(
    enter: Enter, portal: Portal, new_product: Callable[..., Product], new_campaign: Callable[..., Campaign]
) -> None:
    assert "This offer ended on 17 October 2026" in words_of(enter().get(f"{HOME}/campaigns/WINTER_SALE"))
    product = new_product()
    new_campaign(product, "ONLY_ONE", redemption_limit=1)
    buy(portal, "first@one.example", product.id, codes=["ONLY_ONE"])
    page = enter().get(f"{HOME}/campaigns/ONLY_ONE")
    assert "This offer has been fully claimed." in page.text
    assert "Get this offer" not in page.text


def test_cp_x7_pages_for_everyone_may_be_kept_for_a_minute_and_others_not_at_all(enter: Enter) -> None:
    for path in ("", "/campaigns/SUMMER_SPECIAL"):
        page = enter().get(HOME + path)
        assert page.headers["cache-control"] == "public, max-age=60"
        assert "Cookie" in page.headers["vary"]
        assert enter(THANDI).get(HOME + path).headers["cache-control"] == "no-store"
    assert enter().get(f"{HOME}/checkout?plan={BUSINESS}").headers["cache-control"] == "no-store"


# --- checkout ---


def cart_page(browser: httpx.Client, product_id: str = BUSINESS, code: str = "") -> httpx.Response:
    return browser.get(f"{HOME}/checkout", params={"plan": product_id, "code": code})


def orders_of(portal: Portal, email: str) -> list[Order]:
    tenant = portal.repository.tenant_of(email)
    return list(portal.tenants.orders(tenant.id, ADMIN).items) if tenant else []


def test_an_order_is_placed_without_a_script_and_confirmed_on_a_page_of_its_own(
    enter: Enter, portal: Portal
) -> None:
    browser = enter()
    page = cart_page(browser, code="SUMMER_SPECIAL")
    assert "Total R 239.99" in words_of(page)
    done = send(browser, page, f"{HOME}/checkout", email="New@Buyer.example", do="place")
    assert done.status_code == 200
    words = words_of(done)
    (order,) = orders_of(portal, "new@buyer.example")
    assert (order.order_status, order.total) == ("PAID", Decimal("239.99"))
    assert f"Order {order.order_number} is paid" in words
    assert "−R 60.00" in words


def test_a_cart_takes_further_plans_and_quantities_and_shows_the_new_total(enter: Enter) -> None:
    browser = enter()
    page = cart_page(browser, STARTER)
    page = send(browser, page, f"{HOME}/checkout", add=AGENCY, do="update")
    page = send(browser, page, f"{HOME}/checkout", **{f"quantity-{STARTER}": "3", "do": "update"})
    assert "Total R 1 048.99" in words_of(page)
    page = send(browser, page, f"{HOME}/checkout", **{f"quantity-{AGENCY}": "0", "do": "update"})
    assert "Total R 149.99" in words_of(page)
    total = send(browser, page, f"{HOME}/checkout", code="FIRST_SITE", do="update")
    assert "Total R 149.99" in words_of(total)


def test_the_total_alone_is_given_to_a_script_that_asks(enter: Enter) -> None:
    browser = enter()
    form = next(form for form in forms_of(cart_page(browser)) if form.action == f"{HOME}/checkout")
    part = browser.post(f"{HOME}/checkout/total", data={**form.values, "code": "SUMMER_SPECIAL"})
    assert part.status_code == 200
    assert "<html" not in part.text
    assert "R 239.99" in words_of(part)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"email": "nobody"}, "E-mail address is not valid."),
        ({"code": "NO_SUCH"}, "There is no offer with the code NO_SUCH."),
        ({"code": "a b"}, "Discount code must have 3 to 32 letters"),
        ({"code": "WINTER_SALE"}, "The code WINTER_SALE is not valid today."),
        ({"code": "FIRST_SITE"}, "This code doesn't apply to the plans in your cart."),
        ({f"quantity-{BUSINESS}": "101"}, "No total yet. You can order 1 to 100 of each plan at a time."),
        ({f"quantity-{BUSINESS}": "two"}, "You can order 1 to 100 of each plan at a time."),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_typed_is_lost(
    enter: Enter, portal: Portal, typed: dict[str, str], sentence: str
) -> None:
    browser = enter()
    given = {"email": "keeps@typing.example", "organizationName": "Kept & Sons", "do": "place", **typed}
    page = send(browser, cart_page(browser), f"{HOME}/checkout", **given)
    assert page.status_code in (404, 410, 422)
    assert sentence in words_of(page)
    assert "field-error" in page.text
    (form,) = [form for form in forms_of(page) if form.action == f"{HOME}/checkout"]
    assert form.values["organizationName"] == "Kept & Sons"
    assert form.values["email"] == given["email"]
    assert orders_of(portal, "keeps@typing.example") == []


def test_a_form_sent_twice_is_one_order(enter: Enter, portal: Portal) -> None:
    browser = enter()
    page = cart_page(browser)
    typed = {"email": "twice@sent.example", "do": "place"}
    first = send(browser, page, f"{HOME}/checkout", **typed)
    second = send(browser, page, f"{HOME}/checkout", **typed)
    assert first.url.path == second.url.path
    assert len(orders_of(portal, "twice@sent.example")) == 1


def test_another_cart_on_a_page_that_was_used_is_asked_about_first(enter: Enter, portal: Portal) -> None:
    browser = enter()
    page = cart_page(browser)
    typed = {"email": "back@button.example", "do": "place"}
    send(browser, page, f"{HOME}/checkout", **typed)
    again = send(browser, page, f"{HOME}/checkout", **typed, add=STARTER)
    assert "You already placed an order from this page" in words_of(again)
    assert len(orders_of(portal, "back@button.example")) == 1
    send(browser, again, f"{HOME}/checkout", do="place")
    assert len(orders_of(portal, "back@button.example")) == 2


def test_nobody_buys_at_another_total_than_the_one_shown(
    enter: Enter, portal: Portal, new_product: Callable[..., Product]
) -> None:
    product = new_product("Dearer soon", "10.00")
    browser = enter()
    page = cart_page(browser, product.id)
    portal.catalogue.change_product(product.id, {"price": Decimal("20.00")}, ADMIN)
    refused = send(browser, page, f"{HOME}/checkout", email="careful@buyer.example", do="place")
    assert refused.status_code == 409
    assert "The total has changed. Please check it" in words_of(refused)
    assert "Total R 20.00" in words_of(refused)
    assert portal.repository.tenant_of("careful@buyer.example") is None
    send(browser, refused, f"{HOME}/checkout", do="place")
    (order,) = orders_of(portal, "careful@buyer.example")
    assert order.total == Decimal("20.00")


def test_a_plan_that_was_only_chosen_is_not_bought_before_its_price_was_seen(
    enter: Enter, portal: Portal
) -> None:
    browser = enter()
    page = cart_page(browser, STARTER)
    held = send(browser, page, f"{HOME}/checkout", email="no@script.example", add=AGENCY, do="place")
    assert held.status_code == 409
    assert "Total R 949.00" in words_of(held)
    assert orders_of(portal, "no@script.example") == []


def test_a_declined_card_charges_nothing_and_offers_another_try(enter: Enter, portal: Portal) -> None:
    browser = enter()
    page = send(
        browser, cart_page(browser), f"{HOME}/checkout", email="broke@buyer.example",
        paymentToken="tok_declined", do="place",
    )  # fmt: skip
    assert "Nothing was charged" in words_of(page)
    assert f"/checkout?quantity-{BUSINESS}=1" in page.text
    assert [order.order_status for order in orders_of(portal, "broke@buyer.example")] == ["CANCELLED"]


def test_a_suspended_customer_cannot_buy(enter: Enter, portal: Portal) -> None:
    order = buy(portal, "trouble@buyer.example")
    portal.tenants.move(order.tenant_id, "REGISTERED", ADMIN, override=True)
    browser = enter()
    browser.headers["Authorization"] = f"Bearer {portal.token_for(portal.tenants.get(order.tenant_id))}"
    page = cart_page(browser)
    portal.tenants.move(order.tenant_id, "SUSPENDED", ADMIN, reason="a test")
    refused = send(browser, page, f"{HOME}/checkout", email="trouble@buyer.example", do="place")
    assert refused.status_code == 403
    assert "Your account is suspended, so you can't order." in words_of(refused)
    account = browser.get(f"{HOME}/account")
    assert "Your account is suspended" in words_of(account)
    assert "Buy another plan" not in words_of(account)


def test_a_stranger_who_orders_for_a_suspended_customer_sees_what_everyone_sees(
    enter: Enter, portal: Portal
) -> None:
    order = buy(portal, "held@buyer.example")
    portal.tenants.move(order.tenant_id, "SUSPENDED", ADMIN, reason="a test")
    for address in ("held@buyer.example", "unheard@buyer.example"):
        browser = enter()
        page = send(browser, cart_page(browser), f"{HOME}/checkout", email=address, do="place")
        assert page.url.path.endswith("/placed")
        assert "is paid" in words_of(page)
        assert "suspended" not in words_of(page)
        assert "hold" not in words_of(page).replace(address, "")


def test_the_page_after_an_order_is_for_who_placed_it_and_for_an_hour(
    enter: Enter, clock: testing.Clock
) -> None:
    browser = enter()
    done = send(browser, cart_page(browser), f"{HOME}/checkout", email="mine@alone.example", do="place")
    address = done.url.copy_with(query=None)
    assert enter().get(done.url).status_code == 200, "the link opens it"
    assert enter().get(address).status_code == 404
    assert enter().get(address, params={"seal": "9999999999.0"}).status_code == 404
    clock.move(timedelta(minutes=61))
    assert browser.get(done.url).status_code == 404


def test_the_owner_of_an_order_sees_its_page_without_a_link(
    enter: Enter, lerato: Tenant, her_order: Order
) -> None:
    assert enter(lerato.id).get(f"{HOME}/orders/{her_order.order_id}/placed").status_code == 200
    assert enter(SIPHO).get(f"{HOME}/orders/{her_order.order_id}/placed").status_code == 404


# --- proving an address, registering, the account ---


def test_a_buyer_proves_the_address_registers_and_finds_the_order(enter: Enter, portal: Portal) -> None:
    address = "joins@later.example"
    order = buy(portal, address, payment_token="tok_demo")
    browser = enter()
    asked = send(browser, browser.get(f"{HOME}/sign-in"), f"{HOME}/sign-in", email=address)
    assert "If we know this address, a code and a link are on their way" in words_of(asked)
    wrong = send(browser, asked, f"{HOME}/sign-in/code", code="000000")
    assert wrong.status_code == 422
    assert "wrong or has expired" in words_of(wrong)
    registering = send(browser, wrong, f"{HOME}/sign-in/code", code=code_in(mail_to(portal, address)))
    assert "Complete your registration" in words_of(registering)
    account = browser.post(f"{HOME}/register")
    assert "You are registered" in words_of(account)
    assert order.order_number in account.text
    assert portal.tenants.get(order.tenant_id).status == "REGISTERED"


def test_a_link_that_is_only_opened_changes_nothing(enter: Enter, portal: Portal, runtime: Runtime) -> None:
    address = "link+tag@follower.example"
    order = buy(portal, address)
    browser = enter()
    send(browser, browser.get(f"{HOME}/sign-in"), f"{HOME}/sign-in", email=address)
    runtime.deliver()
    mail = enter().get("/console/designs/mail", params={"to": address})
    # A mail is read elsewhere, so its links are whole addresses; the path is what leads to this server.
    link = re.search(r'href="http://[^/"]+(/console/portal/verify[^"]+)"', mail.text)
    assert link is not None
    followed = browser.get(link[1].replace("&amp;", "&"))
    assert f'value="{address}"' in followed.text
    assert portal.tenants.get(order.tenant_id).status == "UNVALIDATED"
    send(browser, followed, f"{HOME}/verify")
    assert portal.tenants.get(order.tenant_id).status == "VALIDATED"


def test_who_asks_for_a_code_does_not_learn_whether_an_address_is_known(enter: Enter, portal: Portal) -> None:
    buy(portal, "known@address.example")
    answers = []
    for address in ("known@address.example", "strange@address.example"):
        browser = enter(follow=False)
        answer = browser.post(f"{HOME}/sign-in", data={"email": address})
        # The ticket is of the address and the network alone.
        page = re.sub(r'name="ticket" value="[^"]+"', "", answer.text)
        answers.append((answer.status_code, page.replace(address.split("@")[0], "")))
    assert answers[0] == answers[1]


def test_a_registration_needs_a_proved_address(enter: Enter) -> None:
    for answer in (enter(follow=False).get(f"{HOME}/register"), enter(follow=False).post(f"{HOME}/register")):
        assert (answer.status_code, answer.headers["location"]) == (303, f"{HOME}/sign-in")


def test_a_profile_changed_meanwhile_keeps_what_was_typed_and_shows_what_changed(
    enter: Enter, portal: Portal, lerato: Tenant
) -> None:
    browser = enter(lerato.id)
    page = browser.get(f"{HOME}/account")
    portal.tenants.change(lerato.id, {"organization_name": "Changed by staff"}, ADMIN)
    late = send(browser, page, f"{HOME}/account", organizationName="Changed by me")
    assert late.status_code == 412
    assert "Someone else changed this while you were editing" in words_of(late)
    assert "Changed by staff" in late.text
    (form,) = [form for form in forms_of(late) if form.action == f"{HOME}/account"]
    assert form.values["organizationName"] == "Changed by me"
    send(browser, late, f"{HOME}/account")
    assert portal.tenants.get(lerato.id).organization_name == "Changed by me"
    portal.tenants.change(lerato.id, {"organization_name": "Springbok Cycles"}, ADMIN)


def test_submissions_go_to_a_new_address_once_its_owner_has_agreed(
    enter: Enter, portal: Portal, lerato: Tenant
) -> None:
    browser = enter(lerato.id)
    page = send(
        browser, browser.get(f"{HOME}/account"), f"{HOME}/account/destination",
        destinationEmail="forms@springbokcycles.example",
    )  # fmt: skip
    assert "forms@springbokcycles.example is not confirmed yet." in words_of(page)
    assert portal.tenants.get(lerato.id).submissions_go_to == CUSTOMER
    wrong = send(browser, page, f"{HOME}/account/destination/confirm", code="000000")
    assert wrong.status_code == 422
    code = code_in(mail_to(portal, "forms@springbokcycles.example"))
    send(browser, wrong, f"{HOME}/account/destination/confirm", code=code)
    assert portal.tenants.get(lerato.id).submissions_go_to == "forms@springbokcycles.example"


def test_the_account_says_that_a_code_was_sent_once_it_was(
    enter: Enter, portal: Portal, runtime: Runtime, clock: testing.Clock, lerato: Tenant
) -> None:
    def shown() -> str:
        return words_of(browser.get(f"{HOME}/account"))

    def settle(state: str) -> None:
        mail = portal.verification.destination_mail(portal.tenants.get(lerato.id))
        assert mail is not None
        after = mail.model_copy(update={"state": state})
        portal.repository.db.write(d.outbox.messages.move(mail, after, by="delivery"))

    browser, new = enter(lerato.id), "later@springbokcycles.example"
    account = browser.get(f"{HOME}/account")
    asked = send(browser, account, f"{HOME}/account/destination", destinationEmail=new)
    waits = f"{new} is not confirmed yet. The mail with the code has not been sent yet."
    assert waits in words_of(asked)
    assert "was sent" not in words_of(asked)
    settle("SENT")
    assert f"{new} is not confirmed yet. We sent a code to this address." in shown()
    again = send(browser, browser.get(f"{HOME}/account"), f"{HOME}/account/destination", destinationEmail=new)
    assert waits in words_of(again)
    settle("FAILED")
    assert f"{new} is not confirmed yet. The mail with the code could not be sent." in shown()
    again = send(browser, browser.get(f"{HOME}/account"), f"{HOME}/account/destination", destinationEmail=new)
    assert waits in words_of(again)
    settle("SENT")
    clock.move(LIFETIME)
    assert "The code has expired. Ask for a new one." in shown()


def test_the_link_to_a_new_destination_works_for_whoever_reads_that_mailbox(
    enter: Enter, portal: Portal
) -> None:
    order = buy(portal, "owner@two.example")
    tenant = portal.tenants.get(order.tenant_id)
    portal.verification.start_destination(tenant, "desk@two.example", ADMIN)
    link = re.search(r"/console/portal/verify\S+", mail_to(portal, "desk@two.example"))
    assert link is not None
    browser = enter()
    send(browser, browser.get(link[0]), f"{HOME}/verify")
    assert portal.tenants.get(tenant.id).destination_email == "desk@two.example"
    assert "Sign in" in browser.get(HOME).text, "a destination's owner is not signed in by it"


def test_everything_we_keep_about_a_customer_is_a_file_to_take_home(enter: Enter, lerato: Tenant) -> None:
    answer = enter(lerato.id).get(f"{HOME}/account/export")
    name = f"portal-{CUSTOMER.replace('@', '-')}-"
    named = rf'attachment; filename="{re.escape(name)}\d{{4}}-\d\d-\d\d\.json"'
    assert re.fullmatch(named, answer.headers["content-disposition"])
    assert json.loads(answer.content)["tenant"]["email"] == CUSTOMER


# --- tenants ---


def test_tenants_are_filtered_in_the_address_and_paged_both_ways(enter: Enter, portal: Portal) -> None:
    browser = enter(SIPHO)
    page = browser.get(f"{HOME}/tenants?show=all")
    second = browser.get(re.search(r'href="([^"]+)" rel="next"', page.text)[1].replace("&amp;", "&"))  # type: ignore[index]  # a match, or the test fails
    assert second.status_code == 200
    suspended = browser.get(f"{HOME}/tenants?status=REGISTERED&from=2026-11-01&to=2026-11-30")
    first = re.search(r'href="([^"]+)" rel="next"', browser.get(f"{HOME}/tenants").text)
    assert suspended.status_code == 200
    assert first is not None
    back = browser.get(first[1].replace("&amp;", "&"))
    previous = re.search(r'href="([^"]+)" rel="prev"', back.text)
    assert previous is not None
    rows = re.findall(r"/console/portal/tenants/tenant_[\w-]+", browser.get(f"{HOME}/tenants").text)
    again = browser.get(previous[1].replace("&amp;", "&"))
    assert re.findall(r"/console/portal/tenants/tenant_[\w-]+", again.text) == rows


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("status=&from=2026-01-01", "Choose a status to filter by date."),
        ("status=PAID", "Choose a status from the list."),
        ("status=REGISTERED&from=yesterday", "Enter a date such as 2026-01-31."),
        ("status=REGISTERED&from=2026-02-01&to=2026-01-01", "The last day must not be before the first day."),
    ],
)
def test_a_filter_that_makes_no_sense_says_so_beside_it(enter: Enter, query: str, sentence: str) -> None:
    page = enter(SIPHO).get(f"{HOME}/tenants?{query}")
    assert page.status_code == 422
    assert sentence in words_of(page)


def test_a_page_token_of_somebody_else_is_refused_in_a_sentence(enter: Enter) -> None:
    found = re.search(r'href="([^"]+)" rel="next"', enter(THANDI).get(f"{HOME}/tenants").text)
    assert found is not None
    page = enter(SIPHO).get(found[1].replace("&amp;", "&"))
    assert page.status_code == 400
    assert "Reset filters" in page.text


def test_the_counts_follow_the_changes_and_say_since_when(enter: Enter, portal: Portal) -> None:
    for consumer in jobs.consumers(portal):
        consumer.run_once()
    browser = enter(SIPHO)
    shown = words_of(browser.get(f"{HOME}/tenants"))
    assert re.search(r"Active customers: updated (just now|\d+ \w+ ago)", shown)
    assert "· verified" not in shown
    together = re.search(r"Total (\d+)", shown)
    assert together is not None
    real = tallies.counted(portal.repository, "tenants")
    assert int(together[1]) == sum(number for sort, number in real.items() if sort != "INACTIVE") > 0
    jobs.reconcile_tallies(portal)
    overview = words_of(browser.get(f"{HOME}/overview"))
    assert "· verified" in overview
    labels = ("Active customers", "Registered", "Validated", "Unvalidated", "Suspended")
    figures = [re.search(rf"{label} (\d+)", overview) for label in labels]
    active, *parts = [int(found[1]) for found in figures if found is not None]
    assert (len(parts), sum(parts)) == (4, active)


def test_a_suspension_needs_a_reason_and_is_lifted_back_to_where_it_was(enter: Enter, portal: Portal) -> None:
    order = buy(portal, "suspend@me.example")
    address = f"{HOME}/tenants/{order.tenant_id}"
    browser = enter(THANDI)
    refused = send(browser, browser.get(address), f"{address}/status", reason=" ")
    assert refused.status_code == 422
    assert "Give a reason for the suspension." in words_of(refused)
    done = send(browser, refused, f"{address}/status", reason="Charged back twice")
    assert "Charged back twice" in done.text
    assert "Lift suspension, back to Unvalidated" in words_of(done)
    assert portal.tenants.get(order.tenant_id).status == "SUSPENDED"
    lift = next(form for form in forms_of(done) if form.values.get("status") == "UNVALIDATED")
    browser.post(lift.action, data=lift.values)
    assert portal.tenants.get(order.tenant_id).status == "UNVALIDATED"


def test_forcing_a_status_needs_a_reason_and_is_recorded_as_forced(enter: Enter, portal: Portal) -> None:
    order = buy(portal, "force@me.example")
    address = f"{HOME}/tenants/{order.tenant_id}"
    browser = enter(THANDI)
    page = browser.get(address)
    form = next(form for form in forms_of(page) if "override" in form.values)
    refused = browser.post(form.action, data={**form.values, "to": "REGISTERED", "why": ""})
    assert refused.status_code == 422
    assert "Give a reason. It is kept in the history." in words_of(refused)
    done = browser.post(
        form.action, data={**form.values, "to": "REGISTERED", "why": "moved from the old shop"}
    )
    assert "Status forced" in words_of(done)
    assert "moved from the old shop" in done.text


def test_a_deleted_tenant_is_restored_with_one_button(enter: Enter, portal: Portal) -> None:
    order = buy(portal, "delete@me.example")
    address = f"{HOME}/tenants/{order.tenant_id}"
    browser = enter(THANDI)
    deleted = send(browser, browser.get(address), f"{address}/delete")
    assert not portal.tenants.get(order.tenant_id).active
    send(browser, deleted, f"{address}/restore")
    assert portal.tenants.get(order.tenant_id).active


def test_a_button_that_rests_on_an_older_version_does_nothing(enter: Enter, portal: Portal) -> None:
    order = buy(portal, "older@version.example")
    address = f"{HOME}/tenants/{order.tenant_id}"
    browser = enter(THANDI)
    page = browser.get(address)
    portal.tenants.change(order.tenant_id, {"organization_name": "Meanwhile"}, ADMIN)
    assert send(browser, page, f"{address}/delete").status_code == 412
    assert portal.tenants.get(order.tenant_id).active


def test_erasing_says_what_goes_and_what_stays_and_needs_a_reason(enter: Enter, portal: Portal) -> None:
    order = buy(portal, "erase@me.example", organization_name="Erasable Ltd")
    address = f"{HOME}/tenants/{order.tenant_id}"
    browser = enter(THANDI)
    page = browser.get(f"{address}/erase")
    words = words_of(page)
    for sentence in ("The address erase@me.example", "The organisation Erasable Ltd", "1 mail in the outbox",
                     "1 order with amounts and dates", "It cannot be undone"):  # fmt: skip
        assert sentence in words
    assert send(browser, page, f"{address}/erase").status_code == 422
    assert portal.tenants.get(order.tenant_id).erased_at is None
    done = send(browser, page, f"{address}/erase", reason="asked for by the customer")
    assert "Erased customer" in words_of(done)
    assert "erase@me.example" not in done.text
    assert order.order_number in done.text
    assert f"{address}/edit" not in done.text


def test_a_tenant_is_made_edited_and_given_another_address(enter: Enter, portal: Portal) -> None:
    browser = enter(THANDI)
    new = f"{HOME}/tenants/new"
    taken = send(browser, browser.get(new), new, email=CUSTOMER, organizationName="Kept")
    assert taken.status_code == 409
    assert "A customer with this e-mail address already exists." in words_of(taken)
    made = send(browser, taken, new, email="by.hand@made.example")
    address = str(made.url.path)
    wrong = send(browser, browser.get(f"{address}/edit"), f"{address}/edit", destinationEmail="nowhere")
    assert wrong.status_code == 422
    assert 'value="nowhere"' in wrong.text
    send(browser, wrong, f"{address}/edit", destinationEmail="", organizationName="Handmade")
    moved = send(browser, browser.get(f"{address}/email"), f"{address}/email", email="moved@made.example")
    assert "E-mail address changed to moved@made.example." in words_of(moved)
    found = portal.repository.tenant_of("moved@made.example")
    assert found is not None
    assert found.organization_name == "Handmade"


# --- products ---


def test_a_product_is_made_with_a_price_as_people_type_it(enter: Enter, portal: Portal) -> None:
    browser = enter(THANDI)
    new = f"{HOME}/products/new"
    made = send(
        browser, browser.get(new), new, name="Typed plan", description="By hand.", price="R 1 299,50",
        features="One\n\n Two \n", nextPrice="1399", nextPriceFrom="2027-01-01T08:30",
    )  # fmt: skip
    product = portal.catalogue.product(made.url.path.rpartition("/")[2])
    assert (product.price, product.features) == (Decimal("1299.50"), ["One", "Two"])
    assert product.next_price_from == datetime(2027, 1, 1, 6, 30, tzinfo=UTC)
    words = words_of(made)
    assert "R 1 299.50" in words
    assert "from 1 January 2027, 08:30 SAST" in words


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"price": "0"}, "Price must be at least R 0.01."),
        ({"price": "cheap"}, "Price must be a number."),
        ({"price": ""}, "Price is required."),
        ({"price": "9.999"}, "Price must have at most two decimal places"),
        ({"name": " "}, "Name is required."),
        ({"features": "x" * 61}, "Features can have at most 10 entries of 1 to 60 characters each."),
        ({"nextPrice": "5"}, "Start is required for a scheduled price."),
        ({"nextPrice": "5", "nextPriceFrom": "soon"}, "Start must be a time"),
    ],
)
def test_a_product_that_cannot_be_sold_is_refused_beside_the_field(
    enter: Enter, typed: dict[str, str], sentence: str
) -> None:
    browser = enter(THANDI)
    new = f"{HOME}/products/new"
    given = {"name": "Refused plan", "description": "Kept & shown", "price": "10", "features": "a", **typed}
    page = send(browser, browser.get(new), new, **given)
    assert page.status_code == 422
    assert sentence in words_of(page)
    (form,) = [form for form in forms_of(page) if form.action == new]
    for name, text in given.items():
        assert form.values[name] == text, name


def test_a_new_price_says_what_it_means_and_leaves_its_mark_in_the_history(
    enter: Enter, portal: Portal, new_product: Callable[..., Product], new_campaign: Callable[..., Campaign]
) -> None:
    product = new_product("Changing plan", "100.00")
    new_campaign(product, "CHANGING")
    address = f"{HOME}/products/{product.id}"
    browser = enter(THANDI)
    page = browser.get(f"{address}/edit")
    assert (
        next(form for form in forms_of(page) if form.action == f"{address}/edit").values["price"] == "100.00"
    )
    done = send(browser, page, f"{address}/edit", price="120.00")
    words = words_of(done)
    assert "existing orders keep theirs" in words
    assert "Running campaigns use the new price: CHANGING." in words
    assert '<svg class="chart prices"' in done.text
    assert "R 120.00" in words
    assert "R 100.00" in words


def test_saving_without_touching_the_scheduled_time_is_no_change_of_it(
    enter: Enter, portal: Portal, new_product: Callable[..., Product]
) -> None:
    start = datetime(2027, 3, 1, 10, 20, 30, tzinfo=UTC)
    product = new_product("Scheduled plan", "10.00", next_price=Decimal("12.00"), next_price_from=start)
    address = f"{HOME}/products/{product.id}/edit"
    browser = enter(THANDI)
    send(browser, browser.get(address), address, description="Other words.")
    stored = portal.catalogue.product(product.id)
    assert (stored.description, stored.next_price_from) == ("Other words.", start)


def test_two_admins_at_one_product_do_not_overwrite_each_other_unseen(
    enter: Enter, portal: Portal, new_product: Callable[..., Product]
) -> None:
    product = new_product("Fought over", "10.00")
    address = f"{HOME}/products/{product.id}/edit"
    browser = enter(THANDI)
    page = browser.get(address)
    portal.catalogue.change_product(product.id, {"description": "By the other admin."}, ADMIN)
    late = send(browser, page, address, price="11.00")
    assert late.status_code == 412
    assert "Someone else changed this while you were editing" in words_of(late)
    assert "By the other admin." in late.text
    assert portal.catalogue.product(product.id).price == Decimal("10.00")
    assert send(browser, late, address).status_code == 200
    assert portal.catalogue.product(product.id).price == Decimal("11.00")


def test_a_product_goes_off_sale_and_back(
    enter: Enter, portal: Portal, new_product: Callable[..., Product]
) -> None:
    product = new_product("Comes and goes")
    address = f"{HOME}/products/{product.id}"
    browser = enter(THANDI)
    off = send(browser, browser.get(address), f"{address}/delete")
    assert "Comes and goes" not in enter().get(HOME).text
    send(browser, off, f"{address}/restore")
    assert "Comes and goes" in enter().get(HOME).text


def test_names_from_outside_are_shown_and_never_run(
    enter: Enter, portal: Portal, new_product: Callable[..., Product], new_campaign: Callable[..., Campaign]
) -> None:
    product = new_product(HOSTILE, features=[HOSTILE], description=HOSTILE)
    new_campaign(product, "HOSTILE", description=HOSTILE)
    order = buy(portal, "hostile@name.example", product.id, codes=["HOSTILE"], organization_name=HOSTILE)
    tenant = portal.tenants.move(order.tenant_id, "SUSPENDED", ADMIN, reason=HOSTILE)
    browser = enter(THANDI)
    for path in (
        "",
        "/campaigns/HOSTILE",
        "/campaigns",
        "/campaigns/HOSTILE/details",
        "/campaigns/HOSTILE/edit",
        f"/checkout?plan={product.id}",
        "/products",
        f"/products/{product.id}",
        f"/products/{product.id}/edit",
        f"/tenants/{tenant.id}",
        f"/tenants/{tenant.id}/erase",
        f"/orders/{order.order_id}",
        "/orders?status=PENDING",
        "/audit",
        "/audit?of=products",
        "/overview",
        "/tenants?status=%3Cscript%3E",
        "/checkout?code=%3Cscript%3Ealert(%22x%22)%3C/script%3E",
    ):
        page = browser.get(HOME + path)
        assert page.status_code in (200, 422), path
        assert "<script>alert" not in page.text, path
    assert "&lt;script&gt;" in browser.get(f"{HOME}/products").text
    search = browser.get(f"{HOME}/search", params={"q": "<script>"})
    assert "<script>alert" not in search.text


# --- campaigns ---


def test_a_campaign_is_made_with_its_price_shown_before_also_without_a_script(
    enter: Enter, portal: Portal, new_product: Callable[..., Product]
) -> None:
    product = new_product("Campaigned plan", "299.99")
    browser = enter(THANDI)
    new = f"{HOME}/campaigns/new-campaign"
    typed = {
        "code": "made_by_hand", "productId": product.id, "discountPercentage": "20", "description": "By hand.",
        "termsConditionsLink": "https://bbws.example/t", "fromDate": "2026-11-01", "toDate": "2026-12-31",
    }  # fmt: skip
    seen = send(browser, browser.get(new), new, **typed, do="preview")
    assert "Before: R 299.99 Now: R 239.99" in words_of(seen)
    part = browser.post(f"{new}/price", data={"productId": product.id, "discountPercentage": "12,5"})
    assert "<html" not in part.text
    assert "R 262.49" in words_of(part)
    made = send(browser, seen, new, do="save")
    assert made.url.path == f"{HOME}/campaigns/MADE_BY_HAND/details"
    assert portal.catalogue.offer("MADE_BY_HAND").discounted_price == Decimal("239.99")
    listed = browser.get(f"{HOME}/campaigns")
    assert '<svg class="chart calendar"' in listed.text
    assert "MADE_BY_HAND, running: 20 % off" in listed.text


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"code": "no spaces!"}, "Code must have 3 to 32 letters"),
        ({"code": "SUMMER_SPECIAL"}, "A campaign with this code already exists."),
        ({"productId": ""}, "Plan is required."),
        ({"discountPercentage": "100"}, "Discount must be at least 0 and less than 100 per cent"),
        ({"toDate": "2026-10-01"}, "Last day must not be before the first day."),
        (
            {"termsConditionsLink": "javascript:alert(1)"},
            "Terms and conditions must be a web address that begins with https://.",
        ),
        ({"redemptionLimit": "0"}, "Total limit must be 1 to "),
        ({"redemptionLimit": "many"}, "Total limit must be a whole number."),
        ({"alsoProductIds": BUSINESS}, "Also for can have at most ten other plans, each only once."),
    ],
)
def test_a_campaign_that_makes_no_sense_is_refused_beside_the_field(
    enter: Enter, typed: dict[str, str], sentence: str
) -> None:
    browser = enter(THANDI)
    new = f"{HOME}/campaigns/new-campaign"
    given = {
        "code": "REFUSED_ONE", "productId": BUSINESS, "discountPercentage": "20", "description": "Kept",
        "termsConditionsLink": "https://bbws.example/t", "fromDate": "2026-11-01", "toDate": "2026-12-31", **typed,
    }  # fmt: skip
    page = send(browser, browser.get(new), new, **given, do="save")
    assert page.status_code in (409, 422)
    assert sentence in words_of(page)
    (form,) = [form for form in forms_of(page) if form.action == new]
    for name, text in given.items():
        assert form.values[name] == text, name


@pytest.mark.parametrize(
    ("product_id", "percent", "sentence"),
    [
        (BUSINESS, "", "Enter a discount to see the price."),
        ("", "20", "Choose a plan to see the price."),
        (BUSINESS, "150", "The discount must be at least 0 and less than 100 %."),
        (BUSINESS, "99.9999", "it leaves less than R 0.01 to pay"),
        (BUSINESS, "NaN", "Enter a discount"),
    ],
)
def test_a_preview_that_cannot_be_made_says_why(
    enter: Enter, product_id: str, percent: str, sentence: str
) -> None:
    given = {"productId": product_id, "discountPercentage": percent}
    part = enter(THANDI).post(f"{HOME}/campaigns/new-campaign/price", data=given)
    assert part.status_code == 200
    assert sentence in words_of(part)


def test_a_campaign_is_edited_switched_off_and_on_again(
    enter: Enter, portal: Portal, new_product: Callable[..., Product], new_campaign: Callable[..., Campaign]
) -> None:
    further = new_product("A further plan")
    new_campaign(new_product(), "EDITED", also_product_ids=[further.id])
    address = f"{HOME}/campaigns/EDITED"
    browser = enter(THANDI)
    page = browser.get(f"{address}/edit")
    changed = send(browser, page, f"{address}/edit", discountPercentage="30", do="save")
    assert "Saved." in words_of(changed)
    stored = portal.catalogue.offer("EDITED").campaign
    assert (stored.discount_percentage, stored.also_product_ids) == (Decimal("30"), [further.id])
    late = send(browser, page, f"{address}/edit", discountPercentage="40", do="save")
    assert late.status_code == 412
    assert "Changes since you opened this page" in words_of(late)
    off = send(browser, changed, f"{address}/off")
    assert enter().get(address).status_code == 410
    send(browser, off, f"{address}/on")
    assert enter().get(address).status_code == 200


def test_uses_of_a_limited_campaign_are_shown_as_a_share(enter: Enter) -> None:
    page = enter(SIPHO).get(f"{HOME}/campaigns/FIRST_SITE/details")
    assert re.search(r'<progress value="\d+" max="200"', page.text)
    assert re.search(r"\d+ of 200 orders, \d+ left", words_of(page))


# --- orders ---


def test_cancelling_says_what_will_happen_first(enter: Enter, portal: Portal) -> None:
    order = buy(portal, "cancel@me.example")
    address = f"{HOME}/orders/{order.order_id}"
    browser = enter(THANDI)
    assert f"{address}/cancel" in browser.get(address).text
    asked = browser.get(f"{address}/cancel")
    assert "the customer gets a mail" in words_of(asked)
    assert portal.orders.order(order.order_id).order_status == "PENDING", "asking is not doing"
    done = send(browser, asked, f"{address}/cancel")
    assert "Order cancelled." in words_of(done)
    assert portal.orders.order(order.order_id).order_status == "CANCELLED"
    again = browser.post(f"{address}/cancel")
    assert again.status_code == 409


def test_who_comes_back_and_places_the_same_order_again_is_asked_first(enter: Enter, portal: Portal) -> None:
    browser = enter()
    typed = {"email": "returns@twice.example", "do": "place"}
    send(browser, cart_page(browser), f"{HOME}/checkout", **typed)
    # The page is fetched anew when one comes back to it, with another key.
    asked = send(browser, cart_page(browser), f"{HOME}/checkout", **typed)
    assert asked.status_code == 409
    assert "You just placed this order" in words_of(asked)
    tenant = portal.repository.tenant_of("returns@twice.example")
    assert tenant is not None
    reader = Actor("test", "admin", "test")
    assert len(portal.tenants.orders(tenant.id, reader).items) == 1
    send(browser, asked, f"{HOME}/checkout", do="place")
    assert len(portal.tenants.orders(tenant.id, reader).items) == 2, "on purpose it is another order"


@pytest.mark.parametrize("total", ["sNaN", "NaN", "Infinity", "-0", "1e999999999"])
def test_a_total_that_is_no_amount_is_no_fault_of_ours(enter: Enter, total: str) -> None:
    browser = enter()
    form = next(form for form in forms_of(cart_page(browser)) if form.action == f"{HOME}/checkout")
    sent = {**form.values, "email": "odd@total.example", "do": "place", "total": total}
    assert browser.post(f"{HOME}/checkout", data=sent).status_code < 500


def test_support_sees_an_order_and_cannot_cancel_it(enter: Enter, portal: Portal) -> None:
    order = buy(portal, "support@me.example")
    address = f"{HOME}/orders/{order.order_id}"
    browser = enter(SIPHO)
    assert f"{address}/cancel" not in browser.get(address).text
    assert browser.get(f"{address}/cancel").status_code == 403
    assert browser.post(f"{address}/cancel").status_code == 403
    assert portal.orders.order(order.order_id).order_status == "PENDING"


def test_a_customer_cancels_an_unpaid_order_and_no_other(
    enter: Enter, portal: Portal, lerato: Tenant
) -> None:
    browser = enter(lerato.id)
    unpaid, paid = buy_own(portal, lerato), buy_own(portal, lerato, payment_token="tok_demo")
    browser.post(f"{HOME}/orders/{unpaid.order_id}/cancel")
    assert portal.orders.order(unpaid.order_id).order_status == "CANCELLED"
    assert "/cancel" not in browser.get(f"{HOME}/orders/{paid.order_id}").text
    assert browser.post(f"{HOME}/orders/{paid.order_id}/cancel").status_code == 409


def test_refunding_is_for_admins_and_asks_first(enter: Enter, portal: Portal) -> None:
    order = buy(portal, "refund@me.example", AGENCY, payment_token="tok_demo")
    address = f"{HOME}/orders/{order.order_id}"
    assert "/refund" not in enter(SIPHO).get(address).text
    assert enter(SIPHO).get(f"{address}/refund").status_code == 403
    browser = enter(THANDI)
    asked = browser.get(f"{address}/refund")
    assert "Refund R 899.00" in words_of(asked)
    send(browser, asked, f"{address}/refund")
    assert portal.orders.order(order.order_id).order_status == "REFUNDED"
    again = browser.get(f"{address}/refund")
    assert again.url.path == address
    assert "This order is already refunded." in words_of(again)
    assert not [form for form in forms_of(again) if "refund" in form.action]


def test_orders_are_listed_by_status_and_by_days_of_south_africa(enter: Enter, portal: Portal) -> None:
    order = buy(portal, "listed@order.example")
    day = rules.local_day(order.placed_at)
    browser = enter(SIPHO)
    found = browser.get(f"{HOME}/orders?status=PENDING&from={day}&to={day}")
    assert order.order_number in found.text
    assert "listed@order.example" in found.text
    before = browser.get(f"{HOME}/orders?status=PENDING&to={day - timedelta(days=1)}")
    assert order.order_number not in before.text
    assert order.order_number not in browser.get(f"{HOME}/orders?status=PAID").text


# --- records ---


def test_the_audit_shows_who_changed_what_from_what_to_what(
    enter: Enter, portal: Portal, new_product: Callable[..., Product]
) -> None:
    product = new_product("Audited plan", "10.00")
    portal.catalogue.change_product(product.id, {"price": Decimal("15.00")}, ADMIN)
    page = enter(SIPHO).get(f"{HOME}/audit?of=products")
    assert re.search(r"Audited plan changed by thandi@bbws\.example \(admin\)", words_of(page))
    assert "<del>R\u00a010.00</del>" in page.text
    assert "<ins>R\u00a015.00</ins>" in page.text
    empty = enter(SIPHO).get(f"{HOME}/audit?of=products&month=2020-02")
    assert "No changes in February 2020" in words_of(empty)
    assert enter(SIPHO).get(f"{HOME}/audit?month=2026-13").status_code == 422


def test_a_discount_in_the_audit_is_a_share(
    enter: Enter, portal: Portal, new_product: Callable[..., Product], new_campaign: Callable[..., Campaign]
) -> None:
    new_campaign(new_product("Shared plan", "10.00"), "SHARED")
    page = enter(SIPHO).get(f"{HOME}/audit?of=campaigns")
    assert re.search(r"Discount</th><td>.*?</td><td><ins>[0-9.]+\u00a0%</ins>", page.text)


def test_who_is_no_customer_reads_how_to_become_one(enter: Enter) -> None:
    page = enter(SIPHO).get(f"{HOME}/account")
    assert page.status_code == 403
    assert "This is for customers only" in page.text
    assert "Order a plan first" in page.text


def test_the_outbox_shows_mails_that_wait_without_what_lets_their_reader_in(
    enter: Enter, portal: Portal
) -> None:
    buy(portal, "mailed@out.example")
    portal.verification.start("mailed@out.example")
    browser = enter(THANDI)
    page = browser.get(f"{HOME}/outbox")
    link = re.search(r'href="(/console/portal/outbox/msg_[\w-]+)"', page.text)
    assert link is not None
    mail = browser.get(link[1])
    assert "mailed@out.example" in mail.text
    assert "Your code is ••••••. Or open this link: ••••••" in words_of(mail)
    assert browser.get(f"{HOME}/outbox/msg_unknown").status_code == 404


def test_the_overview_has_campaigns_orders_and_prices_to_come(enter: Enter) -> None:
    words = words_of(enter(SIPHO).get(f"{HOME}/overview"))
    for expected in ("SUMMER_SPECIAL", "Latest orders", "Scheduled prices", "R 949.00", "SAST"):
        assert expected in words


def test_a_search_finds_what_one_may_read(
    enter: Enter, portal: Portal, lerato: Tenant, her_order: Order
) -> None:
    browser = enter(SIPHO)
    for text, href in (
        (CUSTOMER.upper(), f"{HOME}/tenants/{lerato.id}"),
        (lerato.id, f"{HOME}/tenants/{lerato.id}"),
        (her_order.order_number.lower(), f"{HOME}/orders/{her_order.order_id}"),
        (her_order.order_id, f"{HOME}/orders/{her_order.order_id}"),
        ("summer", f"{HOME}/campaigns/SUMMER_SPECIAL/details"),
        ("enterprise", f"{HOME}/products/"),
    ):
        found = browser.get(f"{HOME}/search", params={"q": text})
        assert f'href="{href}' in found.text, text
        for other in (enter(), enter(lerato.id)):
            assert f'href="{href}' not in other.get(f"{HOME}/search", params={"q": text}).text, text
    sold = enter().get(f"{HOME}/search", params={"q": "business"})
    assert f"{HOME}/checkout?plan={BUSINESS}" in sold.text


@pytest.mark.parametrize(
    "text", ["BB-20269999-AAAAAAAA", "BB-20261116-AAAAAAAA", "ord_none", "tenant_none", "a@b", "x"]
)
def test_a_search_for_what_is_not_there_finds_nothing_and_does_not_fail(enter: Enter, text: str) -> None:
    page = enter(THANDI).get(f"{HOME}/search", params={"q": text})
    assert page.status_code == 200
    assert f'href="{HOME}/orders/ord' not in page.text


@pytest.mark.parametrize(
    "path",
    [
        "/tenants/none",
        "/products/none",
        "/campaigns/NOT_THERE",
        "/campaigns/NOT_THERE/details",
        "/orders/none",
    ],
)
def test_what_is_not_there_is_a_page_that_says_so(enter: Enter, path: str) -> None:
    page = enter(THANDI).get(HOME + path)
    assert page.status_code == 404
    assert "There is no such" in words_of(page)


# --- pictures and words ---


def _step(price: str, days_ago: int) -> PriceChange:
    return PriceChange(
        product_id="p",
        product_version=1,
        at=NOW - timedelta(days=days_ago),
        new_price=Decimal(price),
        changed_by="x",
    )


def test_a_price_history_is_a_line_of_steps_with_today_and_what_is_to_come() -> None:
    picture = price_history(
        [_step("279.99", 60), _step("299.99", 30)], NOW, (Decimal("349.99"), NOW + timedelta(days=14))
    )
    solid, dashed = re.findall(r'class="chart-line(?: to-come)?" d="([^"]+)"', picture)
    assert solid.count("H") == 2
    assert solid.count("V") == 1
    assert dashed.count("V") == 1
    words = re.sub(r"[\u00a0\u202f]", " ", picture)
    for expected in ("R 279.99", "R 299.99", "R 349.99", "today", "30 Nov 2026"):
        assert expected in words
    assert price_history([], NOW, None) == ""


def test_a_price_of_one_moment_is_drawn_too() -> None:
    assert "nan" not in price_history([_step("10.00", 0)], NOW, None)


def _offer(code: str, begins: date, ends: date, state: str = "RUNNING") -> Offer:
    campaign = Campaign(
        id="camp_1", code=code, description="x", discount_percentage=Decimal("20"), product_id="p",
        terms_conditions_link="https://x.example", from_date=begins, to_date=ends, date_created=NOW,
        date_last_updated=NOW, last_updated_by="x",
    )  # fmt: skip
    return Offer(campaign, "Plan", Decimal("10"), Decimal("8"), True, state, 0)


def test_the_calendar_cuts_bars_at_its_edges_and_leaves_out_what_is_far_away() -> None:
    today = date(2026, 11, 16)
    long, past = (
        _offer("LONG_ONE", date(2020, 1, 1), date(2030, 1, 1)),
        _offer("PAST_ONE", date(2020, 1, 1), date(2020, 2, 1)),
    )
    picture = campaign_calendar([long, past, _offer("ONE_DAY", today, today, "SCHEDULED")], today)
    assert "PAST_ONE" not in picture
    bars = re.findall(r'class="calendar-bar (\w+)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', picture)
    assert [kind for kind, _, _ in bars] == ["running", "scheduled"]
    assert all(float(x) >= 0 and float(x) + float(width) <= 720 for _, x, width in bars)
    assert campaign_calendar([past], today) == ""


@pytest.mark.parametrize(("share", "words"), [("20", "20"), ("12.50", "12.5"), ("0", "0"), ("100", "100")])
def test_a_share_is_said_without_needless_zeros(share: str, words: str) -> None:
    assert percent_words(Decimal(share)) == f"{words}\u00a0%"


@pytest.mark.parametrize(
    ("typed", "price"),
    [("R 1 299,99", "1299.99"), ("1,299.99", None), ("\u00a01\u202f000", "1000"), ("5.", "5")],
)
def test_money_is_read_as_it_is_printed(typed: str, price: str | None) -> None:
    given = {"name": "x", "description": "x", "price": typed}
    if price is None:
        with pytest.raises(ValueError, match="price"):
            TypedProduct.model_validate(given)
    else:
        assert TypedProduct.model_validate(given).price == Decimal(price)


def test_a_link_keeps_an_address_with_a_plus_whole(portal: Portal) -> None:
    buy(portal, "plus+sign@link.example")
    portal.verification.start("plus+sign@link.example")
    found = re.search(r"/console/portal/verify\S+", mail_to(portal, "plus+sign@link.example"))
    assert found is not None
    assert parse_qs(urlsplit(found[0]).query)["address"] == ["plus+sign@link.example"]
