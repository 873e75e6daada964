"""Versions, caching and idempotency over HTTP; lists and previews (CP-X4, CP-X7, CP-X9)."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import httpx
from tests.systems.portal.talk import ADMIN, Api, Place, cart
from tests.systems.talk import at_once, given, refused

from tablewright.systems.portal import design as d


def test_cp_x4_a_change_with_the_version_that_was_read_is_made_and_with_an_older_one_refused(
    at: Place, api: Api
) -> None:
    product = at.product()
    at.campaign(product)
    tenant = at.tenant()
    for path, body in (
        (f"/products/{product.id}", {"name": "New name"}),
        ("/campaigns/SUMMER2030", {"description": "New words."}),
        (f"/tenants/{tenant.id}", {"organizationName": "Acme"}),
        (f"/tenants/{tenant.id}/status", {"status": "SUSPENDED", "reason": "why"}),
    ):
        read = api.get(path.removesuffix("/status"), by="admin").headers["ETag"]
        made = api.put(path, body, by="admin", headers={"If-Match": read})
        assert given(made)["version"] == int(read.strip('"')) + 1
        assert made.headers["ETag"] != read
        again = api.put(path, body, by="admin", headers={"If-Match": read})
        assert refused(again) == (412, "STALE")
        assert again.headers["ETag"] == made.headers["ETag"]
        broken = api.put(path, body, by="admin", headers={"If-Match": "7"})
        assert refused(broken) == (400, "BAD_ETAG")


def test_cp_x4_of_two_admins_with_one_version_one_is_told_to_read_again(at: Place, api: Api) -> None:
    product = at.product()
    work = [
        partial(
            api.put, f"/products/{product.id}", {"name": f"Name {n}"}, by="admin", headers={"If-Match": '"1"'}
        )
        for n in range(8)
    ]
    answers = [one for one in at_once(work, 8) if isinstance(one, httpx.Response)]
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 7
    winner = next(answer.json()["name"] for answer in answers if answer.status_code == 200)
    assert at.portal.catalogue.product(product.id).name == winner


def test_cp_x4_changes_without_a_version_all_count_one_after_the_other(at: Place, api: Api) -> None:
    product = at.product()
    work = [partial(api.put, f"/products/{product.id}", {"price": n + 1}, by="admin") for n in range(8)]
    answers = [one for one in at_once(work, 4) if isinstance(one, httpx.Response)]
    assert [answer.status_code for answer in answers] == [200] * 8, [answer.text for answer in answers]
    assert at.portal.catalogue.product(product.id).version == 9
    assert len(at.portal.catalogue.prices(product.id)) == 9


def test_a_change_that_changes_nothing_leaves_version_and_history_alone(at: Place, api: Api) -> None:
    product = at.product()
    at.campaign(product)
    tenant = at.tenant()
    before = at.everything()
    for path, body in (
        (f"/products/{product.id}", {}),
        (f"/products/{product.id}", {"price": 299.99, "active": True}),
        ("/campaigns/SUMMER2030", {"discountPercentage": 20}),
        (f"/tenants/{tenant.id}", {"active": True}),
    ):
        assert given(api.put(path, body, by="admin"))["version"] == 1
    given(api.post(f"/tenants/{tenant.id}:restore", by="admin"))
    assert at.everything() == before


def test_cp_x7_public_pages_may_be_kept_for_a_minute_and_say_when_they_changed(at: Place, api: Api) -> None:
    product = at.product()
    at.campaign(product)
    for path in ("/products", f"/products/{product.id}", "/campaigns", "/campaigns/SUMMER2030"):
        answer = api.get(path)
        assert answer.headers["Cache-Control"] == "public, max-age=60", path
        assert "Authorization" in answer.headers["Vary"]
        assert (
            "public" not in api.get(path, by="admin").headers.get("Cache-Control", "") or path == "/products"
        )
    for path in ("/products", f"/products/{product.id}"):
        tag = api.get(path).headers["ETag"]
        same = api.get(path, headers={"If-None-Match": tag})
        assert (same.status_code, same.content) == (304, b"")
        at.clock.move(timedelta(seconds=1))
        assert api.get(path, headers={"If-None-Match": tag}).status_code == 304
    tag = api.get("/products").headers["ETag"]
    given(api.put(f"/products/{product.id}", {"price": 1}, by="admin"))
    assert given(api.get("/products", headers={"If-None-Match": tag}))["items"][0]["price"] == 1.0
    for path in ("/tenants", "/orders", "/admin/audit"):
        assert "public" not in api.get(path, by="admin").headers.get("Cache-Control", "")


def test_cp_x7_a_scheduled_price_changes_the_page_at_its_moment(at: Place, api: Api) -> None:
    product = at.product("100.00")
    start = (at.clock.now() + timedelta(hours=1)).isoformat()
    body = {"nextPrice": 120, "nextPriceFrom": start}
    seen = given(api.put(f"/products/{product.id}", body, by="admin"))
    assert (seen["currentPrice"], seen["nextPrice"]) == (100.0, 120.0)
    tag = api.get("/products").headers["ETag"]
    at.clock.move(timedelta(hours=1))
    page = api.get("/products", headers={"If-None-Match": tag})
    assert given(page)["items"][0]["price"] == 120.0
    assert "nextPrice" not in page.text


def test_an_idempotency_key_gives_the_first_order_again(at: Place, api: Api) -> None:
    product = at.product()
    key = {"Idempotency-Key": "8f14e45f-ceea-467f-a8c3-000000000001"}
    first = given(api.post("/checkout", cart(product, paymentToken="tok_1"), headers=key), 201)
    assert first["orderStatus"] == "PAID"
    at.clock.move(timedelta(days=29))
    assert given(api.post("/checkout", cart(product, paymentToken="tok_1"), headers=key), 201) == first
    other = api.post(
        "/checkout", cart(product, items=[{"productId": product.id, "quantity": 2}]), headers=key
    )
    assert refused(other) == (422, "IDEMPOTENCY_KEY_REUSED")
    short = api.post("/checkout", cart(product), headers={"Idempotency-Key": "short"})
    assert refused(short) == (400, "BAD_IDEMPOTENCY_KEY")
    assert at.db.count(d.orders_of_tenant(tenant_id=first["tenantId"])) == 1


def test_cp_x9_a_campaign_before_its_time_is_shown_to_staff_and_to_who_has_the_link(
    at: Place, api: Api
) -> None:
    today = at.today()
    at.campaign(at.product(), from_date=today + timedelta(3), to_date=today + timedelta(5))
    path = "/campaigns/SUMMER2030"
    assert refused(api.get(path)) == (404, "CAMPAIGN_NOT_FOUND")
    assert given(api.get("/campaigns"))["items"] == []
    assert given(api.get(path, by="support"))["state"] == "SCHEDULED"
    link = given(api.post(f"{path}/preview", by="admin"))
    assert link["path"].endswith(link["token"])
    shown = api.get(path, params={"preview": link["token"]})
    assert given(shown)["discountedPrice"] == 239.99
    assert shown.headers["Cache-Control"] == "private, no-store"
    at.clock.move(timedelta(days=3))
    assert given(api.get(path))["isValid"] is True


def test_cp_43_the_campaigns_of_a_product_newest_first(at: Place, api: Api) -> None:
    product, today = at.product(), at.today()
    for days in (3, 1, 2):
        at.campaign(product, f"CODE_{days}", from_date=today - timedelta(days))
    at.portal.catalogue.change_campaign("CODE_2", {"active": False}, ADMIN)
    listed = given(api.get(f"/products/{product.id}/campaigns"))
    assert [one["code"] for one in listed] == ["CODE_1", "CODE_3"]
    everything = given(api.get(f"/products/{product.id}/campaigns", by="support"))
    assert [one["code"] for one in everything] == ["CODE_1", "CODE_2", "CODE_3"]


def test_cp_14_pages_of_every_list_go_on_where_they_ended(at: Place, api: Api) -> None:
    product = at.product()
    for number in range(7):
        at.campaign(product, f"CODE_{number}")
        at.order(product, f"t{number}@example.com", payment_token="tok_1")
        at.order(product, payment_token="tok_1")
        at.clock.move(timedelta(seconds=1))
    me = at.portal.tenants.at_checkout("customer@example.com", None).id
    at.portal.tenants.move(me, "REGISTERED", ADMIN, override=True)
    for path, by, count in (
        ("/tenants", "support", 8),
        ("/tenants?includeInactive=true", "support", 8),
        ("/tenants?status=UNVALIDATED", "support", 7),
        ("/orders", "support", 14),
        ("/orders?status=PAID&from=2030-06-15T00:00:00Z", "support", 14),
        (f"/tenants/{me}/orders", "support", 7),
        (f"/tenants/{me}/history", "support", 8),
        ("/me/orders", me, 7),
        ("/campaigns", None, 7),
        ("/campaigns?includeInactive=true", "support", 7),
        ("/products?includeInactive=true", "support", 1),
        ("/admin/audit?of=campaigns", "support", 7),
    ):
        seen: list[str] = []
        token = None
        for _ in range(20):
            params = {"pageSize": "3"} | ({"startAt": token} if token else {})
            page = given(
                api.ask("GET", path, by=by, params=httpx.QueryParams(path.partition("?")[2]).merge(params))
            )
            seen += [repr(item) for item in page["items"]]
            token = page.get("startAt")
            assert page["moreAvailable"] is (token is not None)
            if token is None:
                break
            assert len(page["items"]) == 3
        assert (len(seen), len(set(seen))) == (count, count), path
