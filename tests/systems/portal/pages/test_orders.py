"""Pages of orders: what a cart costs, what an unpaid order says, how it is paid, found and ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import forms_of, mistakes_of, send, words_of

from tablewright import testing
from tablewright.app.mail import Directory
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import PORTAL
from tablewright.edge import serving_app
from tablewright.systems.portal.model import Order, Tenant
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.seed import ADMIN, AGENCY, BUSINESS, CUSTOMER, STARTER, seed

HOME = "/console/portal"
CHECKOUT = f"{HOME}/checkout"
THANDI, SIPHO = "admin_thandi", "support_sipho"
NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)


@pytest.fixture
def clock() -> testing.Clock:
    return testing.Clock(NOW)


@pytest.fixture
def runtime(clock: testing.Clock) -> Iterator[Runtime]:
    small = replace(PORTAL, seed=lambda portal, told: seed(portal, told, tenants=8))
    with open_app(memory=True, systems=(small,), world=ticking(clock), jobs=False) as opened:
        yield opened


@pytest.fixture
def portal(runtime: Runtime) -> Portal:
    found: Portal = runtime.running[0].service
    return found


@pytest.fixture
def enter(runtime: Runtime) -> Iterator[Enter]:
    with serving_app(app_of(runtime)) as url, browsers(url) as entered:
        yield entered


@pytest.fixture
def lerato(portal: Portal) -> Tenant:
    found = portal.repository.tenant_of(CUSTOMER)
    assert found is not None
    return found


def _own(portal: Portal, tenant: Tenant, product_id: str = STARTER, **more: Any) -> Order:
    return portal.checkout.place(tenant.email, [Line(product_id)], buyer=tenant.id, **more)


def _is(portal: Portal, order: Order) -> str:
    return portal.orders.order(order.order_id).order_status


def _page(order: Order) -> str:
    return f"{HOME}/orders/{order.order_id}"


# --- the cart ---


def test_a_plan_added_in_the_cart_costs_what_the_pricing_page_says(enter: Enter) -> None:
    browser = enter()
    assert "R 239.99" in words_of(browser.get(HOME))
    page = send(browser, browser.get(f"{CHECKOUT}?plan={AGENCY}"), CHECKOUT, add=BUSINESS, do="update")
    words = words_of(page)
    assert "Offer SUMMER_SPECIAL applied: 20 % off the business plan" in words
    assert "Total R 1 138.99" in words


def test_a_typed_code_that_saves_less_gives_way_and_the_page_says_so(enter: Enter, portal: Portal) -> None:
    fields: dict[str, Any] = {
        "code": "SMALLER", "description": "A little off.", "discount_percentage": Decimal(5),
        "product_id": BUSINESS, "terms_conditions_link": "https://bbws.example/t",
        "from_date": NOW.date(), "to_date": NOW.date() + timedelta(days=9),
    }  # fmt: skip
    portal.catalogue.create_campaign(fields, ADMIN)
    words = words_of(enter().get(f"{CHECKOUT}?plan={BUSINESS}&code=smaller"))
    assert "We applied SUMMER_SPECIAL because it saves you more than SMALLER." in words
    assert "Total R 239.99" in words


def test_a_refused_code_takes_nothing_off_the_total(enter: Enter, lerato: Tenant, portal: Portal) -> None:
    _own(portal, lerato)  # FIRST_SITE is for each customer once
    browser = enter(lerato.id)
    page = browser.get(f"{CHECKOUT}?plan={STARTER}&code=FIRST_SITE")
    assert "Code not applied: You have already used this offer." in words_of(page)
    assert "Total R 99.99" in words_of(page)
    placed = send(browser, page, CHECKOUT, do="place")
    assert placed.status_code == 410
    assert "Total R 99.99" in words_of(placed)
    assert "Total R 50.00" not in words_of(placed)


def test_a_quantity_that_is_too_large_says_what_the_limit_is(enter: Enter) -> None:
    browser = enter()
    page = browser.get(f"{CHECKOUT}?plan={BUSINESS}")
    typed = {f"quantity-{BUSINESS}": "101", "email": "a@b.example", "code": "no code", "do": "place"}
    words = words_of(send(browser, page, CHECKOUT, **{**typed, "email": "nobody"}))
    for sentence in (
        "You can order 1 to 100 of each plan at a time.",
        "E-mail address is not valid.",
        "Discount code must have 3 to 32 letters",
        "Please fix 3 fields",
    ):
        assert sentence in words
    assert "Add a plan to see the total" not in words


# --- an order that is not paid ---


def test_an_unpaid_order_says_first_that_it_is_not_paid_and_offers_to_pay(
    enter: Enter, portal: Portal, lerato: Tenant
) -> None:
    order = _own(portal, lerato, BUSINESS)
    browser = enter(lerato.id)
    page = browser.get(_page(order))
    assert "<h1>Order placed. Not paid yet.</h1>" in page.text
    assert "Payment is due by 17 November 2026, 10:00 SAST" in words_of(page)
    assert f'href="{_page(order)}/pay"' in page.text
    assert f'href="{_page(order)}/pay"' in browser.get(f"{HOME}/account").text
    paid = send(browser, browser.get(f"{_page(order)}/pay"), f"{_page(order)}/pay")
    assert "<h1>Order paid.</h1>" in paid.text
    assert "We received your payment of R 239.99." in words_of(paid)
    assert _is(portal, order) == "PAID"
    assert browser.get(f"{_page(order)}/pay").url.path == _page(order)


def test_a_card_that_is_declined_can_be_changed_for_another(
    enter: Enter, portal: Portal, lerato: Tenant
) -> None:
    order = _own(portal, lerato, BUSINESS)
    browser = enter(lerato.id)
    page = browser.get(f"{_page(order)}/pay")
    refused = send(browser, page, f"{_page(order)}/pay", paymentToken="tok_declined")
    assert refused.status_code == 422
    assert "The card was declined. Nothing was charged. Try another card." in words_of(refused)
    assert _is(portal, order) == "PENDING"
    send(browser, refused, f"{_page(order)}/pay", paymentToken="tok_demo")
    assert _is(portal, order) == "PAID"


def test_who_chose_to_pay_later_pays_from_the_page_after_the_order(enter: Enter, portal: Portal) -> None:
    browser = enter()
    page = browser.get(f"{CHECKOUT}?plan={BUSINESS}")
    placed = send(browser, page, CHECKOUT, email="later@buyer.example", paymentToken="", do="place")
    assert "<h1>Order placed. Not paid yet.</h1>" in placed.text
    (order,) = portal.orders.page(ADMIN, "PENDING", size=1).items
    seal = placed.url.params["seal"]
    page = browser.get(f"{_page(order)}/pay?seal={seal}")
    paid = send(browser, page, f"{_page(order)}/pay")
    assert "is paid" in words_of(paid)
    assert _is(portal, order) == "PAID"
    stranger = enter().post(f"{_page(order)}/pay", data={"paymentToken": "tok_demo", "seal": "1.x"})
    assert stranger.status_code == 401


def test_a_guest_confirms_the_address_before_paying_an_offer_limited_per_customer(
    enter: Enter, portal: Portal, runtime: Runtime
) -> None:
    browser, email = enter(), "once@buyer.example"
    page = browser.get(f"{CHECKOUT}?plan={STARTER}")
    assert "Each customer has this offer once, so you confirm your address" in words_of(page)
    placed = send(browser, page, CHECKOUT, email=email, paymentToken="tok_demo", do="place")
    assert "<h1>Order placed. Not paid yet.</h1>" in placed.text
    assert "Confirm your address and pay R 50.00" in words_of(placed)
    (order,) = portal.orders.page(ADMIN, "PENDING", size=1).items
    data = {"paymentToken": "tok_demo", "seal": placed.url.params["seal"]}
    assert browser.post(f"{_page(order)}/pay", data=data).status_code == 401
    door = browser.get(f"{_page(order)}/pay", params={"seal": data["seal"]})
    assert door.url.path == f"{HOME}/sign-in"
    sent = send(browser, door, f"{HOME}/sign-in", email=email)
    runtime.deliver()
    assert isinstance(runtime.mail.way, Directory)
    code = next(
        found for one in runtime.mail.way.letters(email) if (found := re.search(r"\d{6}", one.subject))
    )
    page = send(browser, sent, f"{HOME}/sign-in/code", code=code[0])
    assert page.url.path == f"{_page(order)}/pay"
    paid = send(browser, page, f"{_page(order)}/pay")
    assert "We received your payment of R 50.00." in words_of(paid)
    assert _is(portal, order) == "PAID"


def test_an_order_with_an_offer_used_before_says_that_nothing_was_charged_and_offers_to_order_without_it(
    enter: Enter, portal: Portal, lerato: Tenant, clock: testing.Clock
) -> None:
    _own(portal, lerato)
    order = portal.checkout.place(lerato.email, [Line(STARTER)], payment_token="tok_demo")
    clock.move(timedelta(minutes=1))
    portal.verification.start(lerato.email)
    secrets = [_secret(portal, mail) for mail in portal.dispatch.by_state("PENDING")]
    portal.verification.confirm(lerato.email, next(code for code in secrets if code))
    browser = enter(lerato.id)
    page = browser.get(_page(order))
    assert "On hold: This offer was already used by the same customer. Nothing was charged." in words_of(page)
    assert "/pay" not in page.text
    again = re.search(r'href="([^"]+)">Order without the offer', page.text)
    assert again is not None
    cart = browser.get(again[1].replace("&amp;", "&"))
    assert "Total R 99.99" in words_of(cart)
    assert "Code not applied" not in words_of(cart)


def _secret(portal: Portal, mail: Any) -> str:
    letter = portal.dispatch.render(mail)
    found = letter and re.search(r"^Your code: (\d+)", letter.subject)
    return found[1] if found else ""


def test_an_expired_order_says_so_and_offers_to_order_again(
    enter: Enter, portal: Portal, lerato: Tenant, clock: testing.Clock
) -> None:
    order = portal.checkout.place(lerato.email, [Line(AGENCY, 3)], buyer=lerato.id)
    pay = enter(lerato.id).get(f"{_page(order)}/pay")
    clock.move(timedelta(days=1))
    portal.orders.expire_unpaid()
    browser = enter(lerato.id)
    page = browser.get(_page(order))
    assert "<h1>Order expired. Nothing was charged.</h1>" in page.text
    assert f"/checkout?quantity-{AGENCY}=3" in page.text
    assert "/pay" not in page.text
    assert "Total R 2 697.00" in words_of(browser.get(f"{CHECKOUT}?quantity-{AGENCY}=3"))
    late = send(browser, pay, pay.url.path)
    assert late.status_code == 409


def test_an_admin_marks_an_order_as_paid_with_a_reference(
    enter: Enter, portal: Portal, lerato: Tenant
) -> None:
    order = _own(portal, lerato)
    assert "mark-paid" not in enter(SIPHO).get(_page(order)).text
    assert enter(SIPHO).get(f"{_page(order)}/mark-paid").status_code == 403
    browser = enter(THANDI)
    assert f'href="{_page(order)}/mark-paid"' in browser.get(_page(order)).text
    page = browser.get(f"{_page(order)}/mark-paid")
    wrong = send(browser, page, f"{_page(order)}/mark-paid", reference="", reason="")
    assert mistakes_of(wrong) == {
        "Payment reference": "Payment reference is required.",
        "Reason": "Reason is required.",
    }
    done = send(browser, wrong, f"{_page(order)}/mark-paid", reference="EFT 4711", reason="Bank transfer.")
    assert "<h1>Order paid.</h1>" in done.text
    assert "EFT 4711" in words_of(done)
    assert "“Bank transfer.”" in words_of(browser.get(f"{HOME}/tenants/{lerato.id}"))
    assert browser.get(f"{_page(order)}/mark-paid").url.path == _page(order)


def test_an_order_that_ended_offers_neither_refund_nor_cancellation(
    enter: Enter, portal: Portal, lerato: Tenant
) -> None:
    order = _own(portal, lerato)
    portal.orders.cancel(order.order_id, ADMIN)
    browser = enter(THANDI)
    for action in ("refund", "cancel"):
        page = browser.get(f"{_page(order)}/{action}")
        assert page.url.path == _page(order)
        assert "This order is already cancelled." in words_of(page)
        assert not [form for form in forms_of(page) if action in form.action]


# --- finding ---


def _numbers(page: httpx.Response, orders: list[Order]) -> list[Order]:
    return [order for order in orders if order.order_number in page.text]


def test_all_orders_are_listed_whatever_became_of_them(enter: Enter, portal: Portal, lerato: Tenant) -> None:
    made = [
        _own(portal, lerato, payment_token=token) for token in (None, "tok_demo", "tok_declined", "tok_demo")
    ]
    portal.orders.refund(made[3].order_id, ADMIN)
    browser = enter(SIPHO)
    assert _numbers(browser.get(f"{HOME}/orders"), made) == made
    for status, order in zip(("PENDING", "PAID", "CANCELLED", "REFUNDED"), made, strict=True):
        assert _numbers(browser.get(f"{HOME}/orders?status={status}"), made) == [order]
    assert f'href="{HOME}/orders"' in browser.get(f"{HOME}/overview").text


@pytest.mark.parametrize("typed", ["springbok", "LERATO@", "number", "R 299,99", "299.99"])
def test_orders_are_found_by_part_of_an_address_by_number_and_by_amount(
    enter: Enter, portal: Portal, lerato: Tenant, typed: str
) -> None:
    portal.catalogue.change_campaign("SUMMER_SPECIAL", {"active": False}, ADMIN)
    mine = _own(portal, lerato, BUSINESS)
    other = portal.checkout.place("someone@else.example", [Line(AGENCY)])
    text = mine.order_number[:-3].lower() if typed == "number" else typed
    page = enter(SIPHO).get(f"{HOME}/orders", params={"q": text})
    assert _numbers(page, [mine, other]) == [mine]
    assert "older ones were not searched" not in words_of(page)


def test_a_search_says_how_far_it_looked(
    enter: Enter, portal: Portal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablewright.systems.portal.search.search_orders.__defaults__", (None, None, None, 3))
    words = words_of(enter(SIPHO).get(f"{HOME}/orders?q=nothing-like-it"))
    assert "0 matches for “nothing-like-it” in the newest 3 orders; older ones were not searched." in words


def test_customers_are_found_by_part_of_their_address_or_name(enter: Enter, lerato: Tenant) -> None:
    browser = enter(SIPHO)
    for text in ("springbok", "Cycles", CUSTOMER, lerato.id):
        page = browser.get(f"{HOME}/tenants", params={"q": text})
        assert CUSTOMER in page.text
        assert "kaapbakery" not in page.text
    assert CUSTOMER in browser.get(f"{HOME}/search", params={"q": "springbok"}).text


# --- an account that ended ---


def test_a_deleted_customer_reads_that_the_account_was_deleted_and_what_to_do(
    enter: Enter, portal: Portal, lerato: Tenant
) -> None:
    order = _own(portal, lerato)
    portal.tenants.change(lerato.id, {"active": False}, ADMIN)
    browser = enter()
    browser.headers["Authorization"] = f"Bearer {portal.token_for(lerato)}"
    for path in (f"{HOME}/account", _page(order)):
        page = browser.get(path)
        assert page.status_code == 403
        assert "<h1>Your account was deleted</h1>" in page.text
        assert "To reopen it, place an order with the same address or contact support." in words_of(page)
        assert "You don't have access" not in words_of(page)


# --- forms ---

LONG = "x" * 3_000
# Each form: who fills it in, where it is and is sent, and fields filled in wrongly; what is not named stays.
FORMS: dict[str, tuple[str, str, str, list[dict[str, str]]]] = {
    "new product": (THANDI, "/products/new", "/products/new", [
        {"name": LONG, "description": LONG, "price": "cheap", "features": LONG, "nextPrice": "x", "nextPriceFrom": "y"},
        {"name": "", "description": "", "price": "", "nextPrice": "-1", "nextPriceFrom": ""},
        {"name": "A", "description": "B", "price": "1.001", "nextPrice": "", "nextPriceFrom": "2027-01-01T08:00"},
        {"name": "A", "description": "B", "price": "0", "nextPrice": "1", "nextPriceFrom": "2020-01-01T08:00"},
    ]),
    "product": (THANDI, f"/products/{BUSINESS}/edit", f"/products/{BUSINESS}/edit", [
        {"name": LONG, "description": LONG, "price": "cheap", "features": LONG, "nextPrice": "x", "nextPriceFrom": "y"},
    ]),
    "new campaign": (THANDI, "/campaigns/new-campaign", "/campaigns/new-campaign", [
        {"code": "a b", "productId": "", "discountPercentage": "x", "description": LONG, "termsConditionsLink": "x",
         "fromDate": "x", "toDate": "x", "redemptionLimit": "x", "perTenantLimit": "0", "do": "save"},
        {"code": "", "productId": "prod_0000", "discountPercentage": "100", "description": "",
         "termsConditionsLink": "",
         "fromDate": "2026-12-01", "toDate": "2026-11-30", "redemptionLimit": "0", "perTenantLimit": "x", "do": "save"},
        {"code": "IN_THE_PAST", "productId": BUSINESS, "discountPercentage": "5", "description": "A",
         "termsConditionsLink": "https://a.example", "fromDate": "2020-01-01", "toDate": "2020-01-02", "do": "save"},
    ]),
    "campaign": (THANDI, "/campaigns/SUMMER_SPECIAL/edit", "/campaigns/SUMMER_SPECIAL/edit", [
        {"discountPercentage": "x", "description": LONG, "termsConditionsLink": "x", "toDate": "2020-01-01",
         "do": "save"},
    ]),
    "new customer": (THANDI, "/tenants/new", "/tenants/new", [
        {"email": "nobody", "organizationName": LONG, "destinationEmail": "nowhere"},
        {"email": CUSTOMER, "organizationName": "", "destinationEmail": ""},
        {"email": "nobody", "organizationName": "", "destinationEmail": "nowhere"},
    ]),
    "customer": (THANDI, "/tenants/{id}/edit", "/tenants/{id}/edit", [
        {"organizationName": LONG, "destinationEmail": "nowhere"}, {"organizationName": "", "destinationEmail": "x"},
    ]),
    "address": (THANDI, "/tenants/{id}/email", "/tenants/{id}/email", [{"email": "nobody"}, {"email": ""}]),
    "erasure": (THANDI, "/tenants/{id}/erase", "/tenants/{id}/erase", [{"reason": "x"}, {"reason": LONG}]),
    "suspension": (THANDI, "/tenants/{id}", "/tenants/{id}/status", [{"reason": ""}]),
    "payment by hand": (THANDI, "/orders/{order}/mark-paid", "/orders/{order}/mark-paid", [
        {"reference": "x", "reason": "x"}, {"reference": LONG, "reason": LONG},
    ]),
    "profile": ("customer", "/account", "/account", [{"organizationName": LONG}]),
    "destination": ("customer", "/account", "/account/destination", [{"destinationEmail": "nowhere"}]),
    "checkout": ("customer", f"/checkout?plan={BUSINESS}", "/checkout", [
        {"email": "nobody", "code": "a b", "do": "place"}, {"email": "", "code": "NO_SUCH", "do": "place"},
    ]),
    "sign-in": ("customer", "/sign-in", "/sign-in", [{"email": "nobody"}]),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_every_mistake_in_every_form_is_named_at_once_by_the_label_of_its_field(
    enter: Enter, portal: Portal, lerato: Tenant, name: str
) -> None:
    who, place, action, tries = FORMS[name]
    order = _own(portal, lerato)
    browser = enter(lerato.id if who == "customer" else who)
    names = {"id": lerato.id, "order": order.order_id}
    page = browser.get(HOME + place.format(**names))
    for typed in tries:
        answer = send(browser, page, HOME + action.format(**names), **typed)
        assert answer.status_code in (404, 409, 410, 422), typed
        mistakes = mistakes_of(answer)
        assert mistakes, typed
        for label, sentence in mistakes.items():
            assert sentence.startswith(label), sentence
            assert not any(field in sentence for field in typed if not field.islower()), sentence


def test_a_number_that_is_not_one_does_not_hide_the_other_mistakes(enter: Enter) -> None:
    browser = enter(THANDI)
    new = f"{HOME}/campaigns/new-campaign"
    typed = {"code": "a b", "productId": BUSINESS, "discountPercentage": "ten", "description": LONG,
             "termsConditionsLink": "x", "fromDate": "2026-12-02", "toDate": "2026-12-01", "do": "save"}  # fmt: skip
    assert set(mistakes_of(send(browser, browser.get(new), new, **typed))) == {
        "Code", "Discount", "Headline", "Terms and conditions", "Last day",
    }  # fmt: skip


def test_a_scheduled_price_that_is_no_number_does_not_hide_a_start_in_the_past(enter: Enter) -> None:
    browser = enter(THANDI)
    new = f"{HOME}/products/new"
    typed = {
        "name": "",
        "description": "x",
        "price": "ten",
        "nextPrice": "abc",
        "nextPriceFrom": "2020-01-01T00:00",
    }
    assert set(mistakes_of(send(browser, browser.get(new), new, **typed))) >= {
        "Name",
        "Price",
        "Next price",
        "Start",
    }


def test_a_product_can_be_edited_in_the_minute_after_its_scheduled_price_began(
    enter: Enter, portal: Portal, clock: testing.Clock
) -> None:
    start = clock.now() + timedelta(minutes=30)
    portal.catalogue.change_product(
        STARTER, {"next_price": Decimal("120.00"), "next_price_from": start}, ADMIN
    )
    edit = f"{HOME}/products/{STARTER}/edit"
    browser = enter(THANDI)
    before = browser.get(edit)
    clock.move(timedelta(minutes=30, seconds=10))
    saved = send(browser, before, edit, description="Opened before the price began.")
    assert saved.url.path == f"{HOME}/products/{STARTER}", mistakes_of(saved)
    stored = portal.catalogue.product(STARTER)
    assert (stored.price, stored.next_price) == (Decimal("120.00"), None)
    portal.catalogue.change_product(
        STARTER,
        {"next_price": Decimal("130.00"), "next_price_from": clock.now() + timedelta(minutes=1)},
        ADMIN,
    )
    clock.move(timedelta(minutes=1, seconds=10))
    after = browser.get(edit)
    assert 'name="price" type="text" value="130.00"' in after.text
    saved = send(browser, after, edit, description="Opened after it began.")
    assert portal.catalogue.product(STARTER).price == Decimal("130.00"), mistakes_of(saved)
