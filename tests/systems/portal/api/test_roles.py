"""Who may do what, and that every change by staff is written down with before and after (CP-X2)."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import httpx
from tests.systems.portal.talk import ADMIN, Api, Place, new_campaign, new_product
from tests.systems.talk import given, refused

# What anybody may ask for without a login.
PUBLIC = {
    ("GET", "/products"),
    ("GET", "/products/{id}"),
    ("GET", "/products/{id}/campaigns"),
    ("GET", "/campaigns"),
    ("GET", "/campaigns/{code}"),
    ("POST", "/checkout"),
    ("POST", "/checkout/preview"),
    ("POST", "/verification"),
    ("POST", "/verification/confirm"),
    ("POST", "/payments/events"),
}
# What support may ask for; everything else that is not somebody's own is for admins with a second factor.
STAFF = {
    ("GET", "/tenants"),
    ("GET", "/tenants/{id}"),
    ("GET", "/tenants/{id}/orders"),
    ("GET", "/tenants/{id}/history"),
    ("GET", "/orders"),
    ("GET", "/orders/{id}"),
    ("GET", "/admin/audit"),
    ("GET", "/admin/metrics"),
}
OWN = {
    ("GET", "/me"),
    ("PUT", "/me"),
    ("POST", "/me/destination"),
    ("POST", "/me/destination/confirm"),
    ("GET", "/me/orders"),
    ("GET", "/me/export"),
    ("POST", "/registration"),
    ("POST", "/orders/{id}:pay"),
}
# Admins do more here than others; what others may is in tests of its own.
MIXED = {("PUT", "/tenants/{id}/status"), ("POST", "/orders/{id}:cancel")}
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/products"): new_product(),
    ("PUT", "/products/{id}"): {"name": "New"},
    ("PUT", "/campaigns/{code}"): {"description": "New."},
    ("POST", "/tenants"): {"email": "new@example.com"},
    ("POST", "/orders/{id}:pay"): {"paymentToken": "tok_1"},
    ("POST", "/orders/{id}:mark-paid"): {"reference": "EFT 1", "reason": "bank transfer"},
    ("POST", "/tenants/{id}:erase"): {"reason": "asked for"},
    ("POST", "/tenants/{id}:email"): {"email": "newer@example.com"},
    ("PUT", "/tenants/{id}"): {"organizationName": "A"},
    ("PUT", "/tenants/{id}/status"): {"status": "SUSPENDED", "reason": "why"},
}


def _routes(api: Api) -> set[tuple[str, str]]:
    paths = given(api.client.get("/openapi.json"))["paths"]
    return {
        (method.upper(), path.removeprefix("/portal/v1.0"))
        for path, methods in paths.items()
        if path.startswith("/portal/")
        for method in methods
    }


def test_cp_x2_every_route_is_for_those_it_is_for(at: Place, api: Api) -> None:
    product = at.product()
    at.campaign(product)
    order = at.order(product)
    bodies = BODIES | {("POST", "/campaigns"): new_campaign(product)}
    routes = _routes(api)
    assert routes >= PUBLIC | STAFF | OWN | MIXED

    def ask(method: str, path: str, by: str | None) -> httpx.Response:
        noun = path.split("/")[1]
        id = {"tenants": order.tenant_id, "orders": order.order_id, "products": product.id}.get(noun, "")
        target = path.replace("{id}", id).replace("{code}", "SUMMER2030")
        return api.ask(method, target, bodies.get((method, path)), by=by)

    for method, path in sorted(routes - PUBLIC):
        assert refused(ask(method, path, None))[0] == 401, (method, path)
    for method, path in sorted(STAFF - {("GET", "/orders/{id}")}):
        assert refused(ask(method, path, order.tenant_id)) == (403, "ADMIN_ONLY"), (method, path)
        assert ask(method, path, "support").status_code == 200, (method, path)
    admins = sorted(routes - PUBLIC - STAFF - OWN - MIXED)
    assert len(admins) > 10
    for method, path in admins:
        assert refused(ask(method, path, order.tenant_id)) == (403, "ADMIN_ONLY"), (method, path)
        assert refused(ask(method, path, "support")) == (403, "ADMIN_ONLY"), (method, path)
        assert refused(ask(method, path, "admin-without-mfa")) == (403, "MFA_REQUIRED"), (method, path)
    for method, path in sorted(OWN):
        assert ask(method, path, "admin").status_code in (403, 422), (method, path)
    for method, path in sorted(MIXED):
        assert refused(ask(method, path, "support")) == (403, "ADMIN_ONLY"), (method, path)
        assert refused(ask(method, path, "admin-without-mfa")) == (403, "MFA_REQUIRED"), (method, path)


def test_cp_x2_every_write_by_an_admin_is_recorded_with_before_and_after(at: Place, api: Api) -> None:
    def entry(kind: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
        newest = given(api.get("/admin/audit", by="support", params={"of": kind}))["items"][0]
        assert (newest["actor"], newest["role"]) == (ADMIN.name, "admin")
        return newest["action"], newest["before"], newest["after"]

    def done(
        kind: str, answer: httpx.Response, status: int = 200
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        given(answer, status)
        at.clock.move(timedelta(seconds=1))
        return entry(kind)

    product = given(api.post("/products", new_product(), by="admin"), 201)["id"]
    at.clock.move(timedelta(seconds=1))
    action, before, after = entry("products")
    assert (action, before, after["price"], after["name"]) == ("created", {}, 99.99, "WordPress Starter")
    put = partial(api.put, f"/products/{product}", by="admin")
    assert done("products", put({"price": 120})) == ("changed", {"price": 99.99}, {"price": 120})
    assert done("products", put({"active": False})) == ("deleted", {"active": True}, {"active": False})
    assert done("products", put({"active": True})) == ("restored", {"active": False}, {"active": True})

    made = at.portal.catalogue.product(product)
    action, before, after = done("campaigns", api.post("/campaigns", new_campaign(made), by="admin"), 201)
    assert (action, before, after["discountPercentage"]) == ("created", {}, 30)
    change = partial(api.put, "/campaigns/BLACK_FRIDAY_2030", by="admin")
    assert done("campaigns", change({"toDate": "2030-07-01"})) == (
        "changed",
        {"toDate": "2030-06-30"},
        {"toDate": "2030-07-01"},
    )
    assert done("campaigns", change({"active": False}))[0] == "deleted"

    tenant = given(api.post("/tenants", {"email": "t@example.com"}, by="admin"), 201)["id"]
    at.clock.move(timedelta(seconds=1))
    assert entry("tenants")[0] == "created"
    here = f"/tenants/{tenant}"
    assert done("tenants", api.put(here, {"organizationName": "Acme"}, by="admin")) == (
        "changed",
        {},
        {"organizationName": "Acme"},
    )
    assert done("tenants", api.put(here, {"active": False}, by="admin"))[0] == "deleted"
    assert done("tenants", api.post(f"{here}:restore", by="admin"))[0] == "restored"
    assert done("tenants", api.post(f"{here}:email", {"email": "n@example.com"}, by="admin")) == (
        "e-mail changed",
        {"email": "t@example.com"},
        {"email": "n@example.com"},
    )
    body = {"status": "SUSPENDED", "reason": "charged back"}
    assert done("tenants", api.put(f"{here}/status", body, by="admin")) == (
        "moved",
        {"status": "UNVALIDATED"},
        {"status": "SUSPENDED", "previousStatus": "UNVALIDATED", "suspensionReason": "charged back"},
    )
    assert done("tenants", api.put(f"{here}/status", {}, by="admin"))[2] == {"status": "UNVALIDATED"}
    order = at.order(made, "n@example.com", payment_token="tok_1")
    at.clock.move(timedelta(seconds=1))
    assert done("tenants", api.post(f"/orders/{order.order_id}:refund", by="admin")) == (
        "order was refunded",
        {"orderStatus": "PAID"},
        {"orderStatus": "REFUNDED"},
    )
    pending = at.order(made, "n@example.com")
    assert (
        done("tenants", api.post(f"/orders/{pending.order_id}:cancel", by="admin"))[0]
        == "order was cancelled"
    )
    assert done("tenants", api.post(f"{here}:erase", {"reason": "asked for"}, by="admin"))[0] == "erased"


def test_the_audit_of_another_month_is_another_page(at: Place, api: Api) -> None:
    at.product()
    at.clock.move(timedelta(days=31))
    at.product(name="Later")
    for month, names in (("2030-06", ["WordPress Business"]), ("2030-07", ["Later"]), ("2030-08", [])):
        page = given(api.get("/admin/audit", by="support", params={"of": "products", "month": month}))
        assert [entry["after"]["name"] for entry in page["items"]] == names


def test_a_role_of_nobody_sees_what_the_public_sees(at: Place, api: Api) -> None:
    product = at.product()
    at.product(draft=True, name="Draft")
    for by in (None, "tenant_1234"):
        page = given(api.get("/products", by=by))
        assert [one["id"] for one in page["items"]] == [product.id]
        assert "lastUpdatedBy" not in page["items"][0]
        refusal = (403, "ADMIN_ONLY") if by else (401, "LOGIN_REQUIRED")
        assert refused(api.get("/products?includeInactive=true", by=by)) == refusal
        assert refused(api.get("/campaigns?includeInactive=true", by=by)) == refusal
