"""Every refusal of the API has its status, its stable code and the whole envelope (CP-79, CP-X5)."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
from tests.systems.portal.talk import ADMIN, Api, Json, Place, cart, meddled, new_campaign, new_product
from tests.systems.talk import given, refused

from tablewright.edge.errors import CallerError, problem_for
from tablewright.systems.portal.repository import SYSTEM

NOBODY = "tenant_00000000-0000-4000-8000-000000000000"
NO_PRODUCT = "prod_00000000-0000-4000-8000-000000000000"


def test_cp_79_every_listed_refusal_is_given_with_its_status_and_code(at: Place, api: Api) -> None:
    product = at.product()
    at.campaign(product, "SUMMER2030")
    at.campaign(product, "SWITCHED_OFF")
    at.portal.catalogue.change_campaign("SWITCHED_OFF", {"active": False}, ADMIN)
    tenant = at.tenant("t@example.com")
    bad = at.tenant("bad@example.com", "SUSPENDED")
    paid = at.order(product, payment_token="tok_1")

    def campaign(**more: Any) -> httpx.Response:
        return api.post("/campaigns", new_campaign(product, **more), by="admin")

    here, stale = f"/tenants/{tenant.id}", {"If-Match": '"99"'}
    cases: list[tuple[int, str, httpx.Response]] = [
        (400, "INVALID_PAGE_SIZE", api.get("/tenants?pageSize=101", by="support")),
        (400, "BAD_TOKEN", api.get("/tenants?startAt=forged", by="support")),
        (400, "INVALID_DATE", api.get("/tenants?status=VALIDATED&from=yesterday", by="support")),
        (400, "INVALID_DATE", api.get("/orders?to=2030-01-01T00:00:00", by="support")),
        (400, "INVALID_DATE", campaign(fromDate="2030-02-30")),
        (400, "INVALID_DATE", api.put("/campaigns/SUMMER2030", {"toDate": 20300601}, by="admin")),
        (
            400,
            "BAD_JSON",
            api.ask("POST", "/checkout", content=b"{", headers={"Content-Type": "application/json"}),
        ),
        (401, "LOGIN_REQUIRED", api.get("/tenants")),
        (401, "TOKEN_INVALID", api.get("/tenants", headers={"Authorization": "Bearer nonsense"})),
        (403, "ADMIN_ONLY", api.post("/products", new_product(), by="support")),
        (403, "MFA_REQUIRED", api.post("/products", new_product(), by="admin-without-mfa")),
        (403, "TENANT_SUSPENDED", api.post("/checkout", cart(product, "bad@example.com"), by=bad.id)),
        (404, "TENANT_NOT_FOUND", api.get(f"/tenants/{NOBODY}", by="support")),
        (404, "PRODUCT_NOT_FOUND", api.get(f"/products/{NO_PRODUCT}")),
        (404, "CAMPAIGN_NOT_FOUND", api.get("/campaigns/NOTHING")),
        (404, "ORDER_NOT_FOUND", api.get("/orders/ord_0000", by="support")),
        (404, "NO_SUCH_PATH", api.get("/nothing")),
        (405, "METHOD_NOT_ALLOWED", api.ask("DELETE", here, by="admin")),
        (409, "EMAIL_EXISTS", api.post("/tenants", {"email": "T@example.com"}, by="admin")),
        (409, "CODE_EXISTS", campaign(code="summer2030")),
        (409, "STATUS_CONFLICT", api.post(f"/orders/{paid.order_id}:cancel", by="admin")),
        (410, "CAMPAIGN_UNAVAILABLE", api.get("/campaigns/SWITCHED_OFF")),
        (410, "CAMPAIGN_UNAVAILABLE", api.post("/checkout", cart(product, campaignCodes=["SWITCHED_OFF"]))),
        (412, "STALE", api.put(here, {"organizationName": "A"}, by="admin", headers=stale)),
        (422, "INVALID_TRANSITION", api.put(f"{here}/status", {"status": "REGISTERED"}, by="admin")),
        (422, "IMMUTABLE_FIELD", api.put(here, {"email": "x@example.com"}, by="admin")),
        (422, "IMMUTABLE_FIELD", api.put("/campaigns/SUMMER2030", {"productId": product.id}, by="admin")),
        (422, "IMMUTABLE_FIELD", api.put(f"/products/{product.id}", {"dateCreated": "2020"}, by="admin")),
        (422, "PRICE_NOT_POSITIVE", api.post("/products", new_product(price=0), by="admin")),
        (422, "DISCOUNT_RANGE", campaign(discountPercentage=100)),
        (422, "DATE_ORDER", campaign(fromDate="2030-06-02", toDate="2030-06-01")),
        (422, "CODE_FORMAT", campaign(code="no spaces")),
        (422, "PRODUCT_UNKNOWN", campaign(productId=NO_PRODUCT)),
        (
            422,
            "PRODUCT_UNKNOWN",
            api.post("/checkout", {"email": "x@example.com", "items": [{"productId": "x"}]}),
        ),
        (422, "INVALID_FIELD", api.post("/checkout", {"email": "x@example.com"})),
        (422, "INVALID_EMAIL", api.post("/checkout", cart(product, "nobody"))),
    ]
    for status, code, answer in cases:
        assert refused(answer) == (status, code), (answer.request.url, answer.text)
    transition = next(answer.json() for _, code, answer in cases if code == "INVALID_TRANSITION")
    assert (transition["from"], transition["to"], transition["field"]) == (
        "UNVALIDATED",
        "REGISTERED",
        "status",
    )


def test_cp_79_codes_asked_for_too_often_are_429_with_a_time_to_wait(at: Place, api: Api) -> None:
    at.clock.move(timedelta(minutes=10))
    answers = [api.post("/verification", {"email": "a@example.com"}) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [202] * 5 + [429]
    assert refused(answers[-1]) == (429, "OTP_LIMIT")
    assert answers[-1].headers["Retry-After"] == str(50 * 60)
    guesses = [
        api.post("/verification/confirm", {"email": "a@example.com", "code": "000000"}) for _ in range(6)
    ]
    assert refused(guesses[-1]) == (429, "OTP_TRIES")
    flood = [api.post("/verification", {"email": f"b{n}@example.com"}) for n in range(20)]
    assert refused(flood[-1]) == (429, "RATE_LIMIT")
    assert int(flood[-1].headers["Retry-After"]) > 0


def test_cp_d4_a_race_over_a_status_is_409_without_and_412_with_if_match(at: Place) -> None:
    found = []
    for expected in (None, 1):
        tenant = at.tenant(f"t{expected}@example.com")
        verify = partial(at.portal.tenants.move, tenant.id, "VALIDATED", SYSTEM)
        try:
            meddled(at, "TENANT#", verify).tenants.move(
                tenant.id, "SUSPENDED", ADMIN, reason="w", expected=expected
            )
        except CallerError as mistake:
            found.append((problem_for(mistake).status, mistake.code))
    assert found == [(409, "STATUS_CONFLICT"), (412, "STALE")]


def test_what_was_refused_says_what_to_do_in_words_for_people(at: Place, api: Api) -> None:
    product, cheap = at.product(), at.product("0.10")
    words = {
        answer.json()["code"]: answer.json()["message"]
        for answer in (
            api.get("/tenants?pageSize=101", by="support"),
            api.get("/tenants?startAt=x", by="support"),
            api.get("/orders?from=x", by="support"),
            api.post("/campaigns", new_campaign(cheap, discountPercentage="99.999"), by="admin"),
            api.post("/campaigns", new_campaign(product, code="a b"), by="admin"),
            api.get("/tenants/x", by="support"),
        )
    }
    assert words == {
        "INVALID_PAGE_SIZE": "pageSize must be 1 to 100.",
        "BAD_TOKEN": "This page token does not belong here: it was changed, or made for another list or reader; "
        "begin at the first page.",
        "INVALID_DATE": "from must be a time with its zone, such as 2025-06-01T00:00:00Z.",
        "DISCOUNT_RANGE": "discountPercentage is too high: 99.999 % off R 0.10 leaves less than R 0.01.",
        "CODE_FORMAT": "code must have 3 to 32 letters A-Z, digits or underscores, and no spaces.",
        "TENANT_NOT_FOUND": "There is no such customer.",
    }


def _paths(api: Api) -> list[tuple[str, str]]:
    document = given(api.client.get("/openapi.json"))
    return [
        (method.upper(), path.removeprefix("/portal/v1.0"))
        for path, methods in document["paths"].items()
        if path.startswith("/portal/")
        for method in methods
    ]


STRANGE_IDS = (
    "x",
    "%00",
    "%23",
    "%2e%2e",
    "a" * 3000,
    "tenant_%C3%A9%C3%A9",
    "ord_%20%20%20%20",
    "prod_1234",
)
STRANGE_BODIES: tuple[Any, ...] = (
    None,
    [],
    {},
    "text",
    {
        "email": None,
        "price": None,
        "fromDate": None,
        "toDate": None,
        "discountPercentage": None,
        "status": None,
    },
    {
        "email": "\u0000@example.com",
        "code": "\u0000" * 6,
        "reason": "\u0000\u0000\u0000",
        "items": [{"productId": ""}],
    },
    {"price": "NaN"},
    {"price": "1e400"},
    {"price": 1e-9},
    {"discountPercentage": "1e-50"},
    {"fromDate": 0},
    {"nextPriceFrom": 0, "nextPrice": 1},
    {"nextPriceFrom": "0001-01-01T00:00:00Z", "nextPrice": 1},
    {"nextPriceFrom": "2040-01-01T00:00:00", "nextPrice": 1},
    {"redemptionLimit": 10**50},
    {"alsoProductIds": ["x"] * 50},
    {"features": ["\ud83d" * 5]},
    {
        "email": "\ud83d@example.com",
        "reason": "\ud83d" * 5,
        "organizationName": "\ud83d",
        "code": "\ud83d" * 6,
    },
)


def test_no_request_however_strange_is_a_fault_of_ours(at: Place, api: Api) -> None:
    product = at.product()
    at.campaign(product)
    tenant = at.tenant(status="REGISTERED")
    order = at.order(product)
    real = {"products": product.id, "tenants": tenant.id, "orders": order.order_id, "campaigns": "SUMMER2030"}
    sent, faults = 0, []
    for method, path in _paths(api):
        fitting = path.replace("{id}", real.get(path.split("/")[1], "")).replace("{code}", "SUMMER2030")
        strange = (
            [path.replace("{id}", id).replace("{code}", id) for id in STRANGE_IDS] if "{" in path else []
        )
        asked = [(target, None) for target in strange]
        asked += [(fitting, body) for body in (STRANGE_BODIES if method != "GET" else (None,))]
        for target, body in asked:
            at.clock.move(timedelta(minutes=1))  # so that no limit is in the way
            # Escaped, as a client may write what UTF-8 cannot carry: half a surrogate pair.
            content = json.dumps(body).encode() if body is not None else None
            answer = api.ask(
                method,
                target,
                by=tenant.id if path.startswith("/me") else "admin",
                content=content,
                headers={"Content-Type": "application/json"},
            )
            sent += 1
            if answer.status_code >= 500:
                faults.append((method, target[:60], body, answer.text))
    assert faults == []
    assert sent > 300


def test_strange_queries_are_refused_or_answered(at: Place, api: Api) -> None:
    checks = (
        ("/tenants?from=0001-01-01T00:00:00Z&status=VALIDATED", 400),
        ("/tenants?from=9999-12-31T23:59:59Z&status=VALIDATED", 400),
        ("/tenants?from=2030-01-01T00:00:00%2B02:00&status=VALIDATED", 200),
        ("/tenants?pageSize=999999999999999999999", 4),
        ("/tenants?startAt=%00%ff", 400),
        ("/tenants?status=NOTHING", 422),
        ("/admin/audit?month=2030-13", 400),
        ("/admin/audit?month=0000-01", 400),
        ("/campaigns/SUMMER2030?preview=" + "9" * 5000, 4),
    )
    for path, status in checks:
        answer = api.get(path, by="support")
        assert status in (answer.status_code, answer.status_code // 100), (path, answer.text)


def test_a_webhook_that_is_not_the_gateways_is_refused(at: Place, api: Api) -> None:
    order = at.order(at.product())
    gateway: Any = at.portal.payments
    event = gateway.authorise(order.order_id, order.total, "ZAR", "tok_1")
    body, signature = gateway.sign(event)
    for wrong in ("", "0" * 64, "\u00e9".encode("latin-1")):
        answer = api.ask("POST", "/payments/events", content=body, headers={"X-Signature": wrong})
        assert refused(answer) == (403, "BAD_SIGNATURE")
    assert at.portal.orders.order(order.order_id).order_status == "PENDING"
    for _ in range(2):
        answer = api.ask("POST", "/payments/events", content=body, headers={"X-Signature": signature})
        assert given(answer) == {"orderId": order.order_id, "orderStatus": "PAID"}
    for odd in (b"[]", b"{}", b'{"kind":"paid"}', b"nonsense", body.replace(b"paid", b"lost")):
        signed: Json = {"X-Signature": gateway._signature(odd)}
        answer = api.ask("POST", "/payments/events", content=odd, headers=signed)
        assert refused(answer) == (400, "BAD_EVENT")
