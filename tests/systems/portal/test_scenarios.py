"""The acceptance scenarios CP-S1 to CP-S10, through the API, on every way to a database."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from functools import partial

import httpx
import pytest
from tests.client.ways import WAYS
from tests.systems.portal.talk import ADMIN, Api, Place, cart, new_campaign, new_product
from tests.systems.talk import at_once, given, refused

from tablewright.edge.errors import Refused
from tablewright.systems.portal.repository import SYSTEM


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _spelled(number: int) -> str:
    """One address in a hundred spellings."""
    word = "customer@example.com"
    letters = [c.upper() if number >> (i % 7) & 1 else c for i, c in enumerate(word)]
    return " " * (number % 2) + "".join(letters)


def test_cp_s1_a_hundred_checkouts_of_one_address_at_once_make_one_tenant(at: Place, api: Api) -> None:
    product = at.product()
    answers = at_once([partial(api.post, "/checkout", cart(product, _spelled(n))) for n in range(100)])
    assert Counter(a.status_code for a in answers if isinstance(a, httpx.Response)) == {201: 100}
    ids = {a.json()["tenantId"] for a in answers if isinstance(a, httpx.Response)}
    assert len(ids) == 1
    assert [item["id"]["S"] for item in at.roots()] == list(ids)
    assert at.guards() == {"customer@example.com": ids.pop()}
    assert sum(item["SK"]["S"].startswith("ORDER#") for item in at.scan("tenants")) == 100


def test_cp_s2_a_new_price_counts_for_the_campaign_at_once_and_never_for_an_order_that_was_placed(
    at: Place, api: Api
) -> None:
    product = at.product("299.99")
    at.campaign(product, "SUMMER2025", "20")
    assert given(api.get("/campaigns/SUMMER2025"))["discountedPrice"] == 239.99
    placed = given(api.post("/checkout", cart(product, campaignCodes=["summer2025"])), 201)
    given(api.put(f"/products/{product.id}", {"price": 349.99}, by="admin"))
    page = given(api.get("/campaigns/SUMMER2025"))
    assert (page["originalPrice"], page["discountedPrice"]) == (349.99, 279.99)
    order = given(api.get(f"/orders/{placed['orderId']}", by="admin"))
    line = order["items"][0]
    assert (line["unitPrice"], line["discountedUnitPrice"], order["total"]) == (299.99, 239.99, 239.99)


def test_cp_s3_of_two_admins_who_create_one_campaign_at_once_one_wins(at: Place, api: Api) -> None:
    product = at.product()
    bodies = [new_campaign(product, "BLACK_FRIDAY_2025", description=f"admin {n}") for n in range(8)]
    answers = at_once([partial(api.post, "/campaigns", body, by="admin") for body in bodies], 8)
    assert Counter(a.status_code for a in answers if isinstance(a, httpx.Response)) == {201: 1, 409: 7}
    (winner,) = [a.json() for a in answers if isinstance(a, httpx.Response) and a.status_code == 201]
    lost = next(a for a in answers if isinstance(a, httpx.Response) and a.status_code == 409)
    assert refused(lost) == (409, "CODE_EXISTS")
    stored = given(api.get("/campaigns/BLACK_FRIDAY_2025", by="admin"))
    assert (stored["id"], stored["description"]) == (winner["id"], winner["description"])


def test_cp_s4_a_discount_leaves_something_to_pay(at: Place, api: Api) -> None:
    dear, cheap = at.product("299.99"), at.product("0.10")
    for percent, product in (("100", dear), ("99.999", cheap), ("-1", dear)):
        answer = api.post("/campaigns", new_campaign(product, discountPercentage=percent), by="admin")
        assert refused(answer) == (422, "DISCOUNT_RANGE")
    allowed = given(api.post("/campaigns", new_campaign(dear, discountPercentage=0), by="admin"), 201)
    assert allowed["discountedPrice"] == 299.99


def test_cp_s5_a_campaign_begins_and_ends_at_midnight_in_johannesburg(at: Place, api: Api) -> None:
    at.clock.move(datetime(2025, 5, 1, tzinfo=UTC) - at.clock.now())
    product = at.product()
    at.campaign(product, "WINTER2025", from_date=date(2025, 6, 1), to_date=date(2025, 8, 31))
    seen = {}
    for moment in (
        "2025-05-31T21:59:59",
        "2025-05-31T22:00:00",
        "2025-08-31T21:59:59",
        "2025-08-31T22:00:00",
    ):
        at.clock.move(datetime.fromisoformat(moment).replace(tzinfo=UTC) - at.clock.now())
        seen[moment] = given(api.get("/campaigns/WINTER2025", by="support"))["isValid"]
    assert list(seen.values()) == [False, True, True, False]


def test_cp_s6_a_status_moves_by_who_may_and_an_override_is_recorded(at: Place, api: Api) -> None:
    tenant = at.tenant()
    with pytest.raises(Refused) as mistake:
        at.portal.tenants.move(tenant.id, "REGISTERED", SYSTEM)
    assert mistake.value.code == "INVALID_TRANSITION"
    assert mistake.value.facts == {"from": "UNVALIDATED", "to": "REGISTERED"}
    path = f"/tenants/{tenant.id}/status"
    at.clock.move(timedelta(seconds=1))
    forced = given(
        api.put(path, {"status": "REGISTERED", "override": True, "reason": "by phone"}, by="admin")
    )
    assert forced["status"] == "REGISTERED"
    entry = given(api.get(f"/tenants/{tenant.id}/history", by="support"))["items"][0]
    assert (entry["action"], entry["actor"], entry["reason"]) == ("forced", ADMIN.name, "by phone")
    assert (entry["before"], entry["after"]) == ({"status": "UNVALIDATED"}, {"status": "REGISTERED"})
    given(api.put(path, {"status": "SUSPENDED", "reason": "charged back"}, by="admin"))
    assert refused(api.put(path, {"status": "REGISTERED"}, by="support")) == (403, "ADMIN_ONLY")
    assert given(api.put(path, {"status": "REGISTERED"}, by="admin"))["status"] == "REGISTERED"


def test_cp_s7_a_deleted_tenant_is_hidden_keeps_its_address_and_comes_back_at_checkout(
    at: Place, api: Api
) -> None:
    product = at.product()
    placed = given(api.post("/checkout", cart(product)), 201)
    id = placed["tenantId"]
    given(api.put(f"/tenants/{id}", {"active": False}, by="admin"))
    assert given(api.get("/tenants", by="support"))["items"] == []
    everyone = given(api.get("/tenants", by="support", params={"includeInactive": "true"}))["items"]
    assert [one["id"] for one in everyone] == [id]
    assert at.guards() == {"customer@example.com": id}
    at.clock.move(timedelta(seconds=1))
    assert given(api.post("/checkout", cart(product, "CUSTOMER@example.com")), 201)["tenantId"] == id
    back = given(api.get(f"/tenants/{id}", by="support"))
    assert (back["active"], back["status"]) == (True, "UNVALIDATED")
    assert at.history(id)[0] == ("reactivated", "system:checkout", "system")
    answer = api.ask("DELETE", f"/tenants/{id}", by="admin")
    assert refused(answer) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["Allow"] == "GET, HEAD, PUT"


def test_cp_s8_a_change_of_an_unknown_tenant_leaves_no_ghost(at: Place, api: Api) -> None:
    at.tenant()
    before = at.everything()
    unknown = "tenant_00000000-0000-4000-8000-000000000000"
    for path, body in (
        (f"/tenants/{unknown}", {"active": False}),
        (f"/tenants/{unknown}", {"organizationName": "Nobody"}),
        (f"/tenants/{unknown}/status", {"status": "SUSPENDED", "reason": "none"}),
    ):
        assert refused(api.put(path, body, by="admin")) == (404, "TENANT_NOT_FOUND")
    for verb, more in (
        ("restore", None),
        ("erase", {"reason": "asked"}),
        ("email", {"email": "a@b.example"}),
    ):
        assert refused(api.post(f"/tenants/{unknown}:{verb}", more, by="admin")) == (404, "TENANT_NOT_FOUND")
    assert at.everything() == before


def test_cp_s9_a_hundred_and_thirty_tenants_are_three_full_pages(at: Place, api: Api) -> None:
    for number in range(130):
        at.portal.tenants.at_checkout(f"t{number}@example.com", None)
        at.clock.move(timedelta(seconds=1))
    sizes, more, seen = [], [], []
    last: str | None = None
    token: str | None = None
    for _ in range(3):
        page = given(
            api.get("/tenants", by="support", params={"pageSize": 50} | ({"startAt": token} if token else {}))
        )
        sizes.append(len(page["items"]))
        more.append(page["moreAvailable"])
        seen += [one["email"] for one in page["items"]]
        last, token = token, page.get("startAt")
    assert (sizes, more, token) == ([50, 50, 30], [True, True, False], None)
    assert seen == [f"t{number}@example.com" for number in reversed(range(130))]
    assert last is not None
    forged = last[:-4] + ("AAAA" if last[-4:] != "AAAA" else "BBBB")
    assert refused(api.get("/tenants", by="support", params={"startAt": forged})) == (400, "BAD_TOKEN")
    for size in ("101", "0", "-1"):
        answer = api.get("/tenants", by="support", params={"pageSize": size})
        assert refused(answer) == (400, "INVALID_PAGE_SIZE")


def test_cp_s10_a_product_off_sale_leaves_its_campaign_without_prices_and_without_checkout(
    at: Place, api: Api
) -> None:
    product, other = at.product(), at.product(name="Another")
    at.campaign(product, "SUMMER2030")
    placed = given(api.post("/checkout", cart(product, campaignCodes=["SUMMER2030"])), 201)
    given(api.put(f"/products/{product.id}", {"active": False}, by="admin"))
    assert [one["id"] for one in given(api.get("/products"))["items"]] == [other.id]
    page = given(api.get("/campaigns/SUMMER2030"))
    assert page["productName"] == "[Product Unavailable]"
    assert (page["originalPrice"], page["discountedPrice"]) == (None, None)
    refusal = api.post("/checkout", cart(product, campaignCodes=["SUMMER2030"]))
    assert refused(refusal) == (410, "CAMPAIGN_UNAVAILABLE")
    assert refused(api.post("/checkout", cart(product))) == (422, "PRODUCT_UNKNOWN")
    assert given(api.get(f"/orders/{placed['orderId']}", by="admin"))["total"] == 239.99


def test_products_and_campaigns_made_through_the_api_are_stored_as_they_were_sent(
    at: Place, api: Api
) -> None:
    """The other half of S3: every field, on every way."""
    made = given(api.post("/products", new_product(features=["1 site"]), by="admin"), 201)
    stored = given(api.get(f"/products/{made['id']}", by="admin"))
    assert {name: stored[name] for name in new_product()} == new_product()
    assert stored["features"] == ["1 site"]
    product = at.portal.catalogue.product(made["id"])
    body = new_campaign(product, redemptionLimit=5)
    campaign = given(api.post("/campaigns", body, by="admin"), 201)
    assert {name: campaign[name] for name in body} == body
