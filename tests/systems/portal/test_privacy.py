"""What a tenant may ask for: everything kept about them, and to be forgotten (CP-X6, CP-D17)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path

from tests.systems.portal.talk import ADMIN, SECRET, Api, Place, refuses
from tests.systems.talk import at_once, given, refused

from tablewright.kit.tables import Actor
from tablewright.systems.portal import design as d
from tablewright.systems.portal.model import Tenant
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.portal import open_portal

ADDRESS, FORMS, OTHER = "customer@example.com", "forms@elsewhere.example", "old@example.com"
TRACES = (ADDRESS, FORMS, OTHER, "Acme Bakery")


def _lived(at: Place) -> Tenant:
    """A tenant who has done everything there is to do."""
    product = at.product()
    at.campaign(product)
    order = at.portal.checkout.place(
        OTHER, [Line(product.id)], codes=["SUMMER2030"], organization_name="Acme Bakery", payment_token="tok_1",
        key="key-of-customer",
    )  # fmt: skip
    id = order.tenant_id
    at.portal.tenants.change_email(id, ADDRESS, ADMIN)
    at.portal.verification.start(ADDRESS)
    at.portal.verification.confirm(ADDRESS, at.secret_in_mail(ADDRESS)[0])
    me = at.portal.verification.register(id)
    actor = Actor(ADDRESS, "tenant", id)
    at.portal.verification.start_destination(me, FORMS, actor)
    at.portal.verification.confirm(FORMS, at.secret_in_mail(FORMS)[0], "destination", id)
    at.portal.tenants.change(id, {"organization_name": "Acme Bakery & Sons"}, actor)
    at.portal.tenants.move(id, "SUSPENDED", ADMIN, reason=f"complaints about {ADDRESS}")
    at.portal.tenants.move(id, "REGISTERED", ADMIN, reason="Acme Bakery apologised")
    pending = at.portal.checkout.place(ADDRESS, [Line(product.id)])
    at.portal.orders.cancel(pending.order_id, Actor(ADDRESS, "user", id))
    at.portal.verification.start(ADDRESS)
    at.portal.verification.start_destination(at.portal.tenants.get(id), f"new-{FORMS}", actor)
    return at.portal.tenants.get(id)


def test_cp_x6_an_export_holds_everything_that_is_kept(at: Place, api: Api) -> None:
    tenant = _lived(at)
    at.portal.checkout.place("neighbour@example.com", [Line(at.portal.catalogue.for_sale()[0].id)])
    told = given(api.get("/me/export", by=tenant.id))
    assert told == given(api.get(f"/tenants/{tenant.id}/export", by="admin"))
    assert told["tenant"]["email"] == ADDRESS
    assert len(told["orders"]) == 2
    kept = [item for item in at.scan("portal_desk") if item.get("tenantId", {}).get("S") == tenant.id]
    assert len(told["messages"]) == sum("recipient" in item for item in kept)
    assert len(told["history"]) == len(at.history(tenant.id))
    assert "neighbour" not in repr(told)
    assert refused(api.get(f"/tenants/{tenant.id}/export", by="support")) == (403, "ADMIN_ONLY")


def test_cp_d17_after_an_erasure_no_table_knows_the_person(at: Place, api: Api) -> None:
    tenant = _lived(at)
    totals = [order.total for order in at.db.all(d.orders_of_tenant(tenant_id=tenant.id))]
    assert all(trace in repr(at.everything()) for trace in TRACES)
    body = {"reason": f"{ADDRESS.upper()} asked to be forgotten"}
    erased = given(api.post(f"/tenants/{tenant.id}:erase", body, by="admin"))
    left = repr(at.everything()).casefold()
    for trace in TRACES:
        assert trace.casefold() not in left, trace
    assert erased["email"] == f"{tenant.id}@erased.invalid"
    # The id, the orders and their amounts stay, and so does what happened when.
    assert [order.total for order in at.db.all(d.orders_of_tenant(tenant_id=tenant.id))] == totals
    actions = [action for action, *_ in at.history(tenant.id)]
    assert {"erased", "registered", "order is paid", "e-mail changed"} <= set(actions)
    entry = next(e for e in at.db.all(d.audits["tenants"].of(tenant.id)) if e.action == "erased")
    assert (entry.actor, entry.reason) == (ADMIN.name, "[erased] asked to be forgotten")


def test_a_copy_that_is_restored_does_not_bring_an_erased_tenant_back(at: Place, tmp_path: Path) -> None:
    tenant, world = _lived(at), at.clock.world()
    before = {table: at.scan(table) for table in ("tenants", "portal_desk")}
    portal = open_portal(at.db, world, b"x" * 32, at.portal.issue, home=tmp_path)
    portal.privacy.erase(tenant.id, ADMIN, "asked for")
    for table, items in before.items():
        keys = at.call("DescribeTable", {"TableName": table})["Table"]["KeySchema"]
        for item in at.scan(table):
            key = {part["AttributeName"]: item[part["AttributeName"]] for part in keys}
            at.call("DeleteItem", {"TableName": table, "Key": key})
        for item in items:
            at.call("PutItem", {"TableName": table, "Item": item})
    again = open_portal(at.db, world, b"x" * 32, at.portal.issue, home=tmp_path)
    assert again.tenants.get(tenant.id).email == ADDRESS
    assert again.privacy.erase_again() == 1
    assert again.tenants.get(tenant.id).email == f"{tenant.id}@erased.invalid"
    assert not [
        item for table in before for item in at.scan(table) if any(trace in repr(item) for trace in TRACES)
    ]
    assert again.privacy.erase_again() == 0


def test_a_restored_outbox_alone_does_not_bring_the_mail_of_an_erased_tenant_back(
    at: Place, tmp_path: Path
) -> None:
    tenant, world = _lived(at), at.clock.world()
    portal = open_portal(at.db, world, SECRET, at.portal.issue, home=tmp_path)
    before = at.scan("portal_desk")
    portal.privacy.erase(tenant.id, ADMIN, "asked for")
    for item in before:
        at.call("PutItem", {"TableName": "portal_desk", "Item": item})
    assert portal.privacy.erase_again() == 1
    # Codes are found by an address alone, which is gone; they end within a quarter of an hour.
    assert not [item for item in at.scan("portal_desk") if "recipient" in item]
    assert portal.privacy.erase_again() == 0


def test_an_erasure_leaves_the_codes_that_others_asked_for(at: Place) -> None:
    one, other = (at.tenant(f"{name}@example.com", "REGISTERED") for name in ("one", "other"))
    for tenant in (one, other):
        at.clock.move(timedelta(seconds=1))
        at.portal.verification.start_destination(tenant, "forms@example.com", ADMIN)
    code = at.secret_in_mail("forms@example.com")[0]
    at.portal.privacy.erase(one.id, ADMIN, "asked for")
    done = at.portal.verification.confirm("forms@example.com", code, "destination", other.id)
    assert done.destination_email == "forms@example.com"


def test_an_erased_tenant_is_nobody_any_more(at: Place) -> None:
    tenant = _lived(at)
    at.portal.privacy.erase(tenant.id, ADMIN, "asked for")
    for deed in (
        partial(at.portal.tenants.restore, tenant.id, ADMIN),
        partial(at.portal.tenants.change_email, tenant.id, "x@example.com", ADMIN),
        partial(at.portal.tenants.move, tenant.id, "SUSPENDED", ADMIN, reason="why"),
    ):
        with refuses("TENANT_ERASED"):
            deed()
    with refuses("INVALID_EMAIL"):
        at.portal.tenants.at_checkout(f"{tenant.id}@erased.invalid", None)
    with refuses("TENANT_CLOSED"):
        at.portal.verification.register(tenant.id)
    assert at.portal.tenants.at_checkout(ADDRESS, None).id != tenant.id


def test_an_erased_tenants_order_can_still_be_refunded_without_a_mail(at: Place) -> None:
    tenant = _lived(at)
    paid = next(o for o in at.db.all(d.orders_of_tenant(tenant_id=tenant.id)) if o.order_status == "PAID")
    at.portal.privacy.erase(tenant.id, ADMIN, "asked for")
    assert at.portal.orders.refund(paid.order_id, ADMIN).order_status == "REFUNDED"
    assert not [item for item in at.scan("portal_desk") if "recipient" in item]


def test_an_erasure_that_was_broken_off_is_finished_by_asking_again(at: Place) -> None:
    tenant = _lived(at)
    before = list(at.db.all(d.audits["tenants"].of(tenant.id)))
    at.portal.privacy.erase(tenant.id, ADMIN, "asked for")
    for entry in before:  # as if the process had died behind the first write
        at.db.write(d.audits["tenants"].entries.put(entry))
    assert ADDRESS in repr(at.everything())
    at.portal.privacy.erase(tenant.id, ADMIN, "asked for")
    assert ADDRESS not in repr(at.everything())
    assert [action for action, *_ in at.history(tenant.id)].count("erased") == 1


def test_erasures_at_once_are_one(at: Place) -> None:
    tenant = _lived(at)
    outcomes = at_once([partial(at.portal.privacy.erase, tenant.id, ADMIN, "asked for") for _ in range(8)], 8)
    assert {getattr(one, "email", one) for one in outcomes} == {f"{tenant.id}@erased.invalid"}
    assert [action for action, *_ in at.history(tenant.id)].count("erased") == 1


def test_a_mail_is_kept_for_a_month_and_then_not_shown(at: Place) -> None:
    order = at.order(at.product())
    assert len(at.portal.privacy.export(order.tenant_id)["messages"]) == 1
    at.clock.move(timedelta(days=30))
    assert at.portal.privacy.export(order.tenant_id)["messages"] == []
    assert order.total == Decimal("299.99")


def test_a_login_that_outlives_its_person_opens_nothing_and_leaves_no_trace(at: Place, api: Api) -> None:
    tenant = _lived(at)
    pending = at.portal.checkout.place(ADDRESS, [Line(at.portal.catalogue.for_sale()[0].id)])
    at.portal.privacy.erase(tenant.id, ADMIN, "Acme Bakery & Sons asked for it")
    for path in ("/me", "/me/orders", "/me/export", f"/orders/{pending.order_id}"):
        assert refused(api.get(path, by=tenant.id)) == (403, "TENANT_CLOSED"), path
    assert refused(api.post(f"/orders/{pending.order_id}:cancel", by=tenant.id)) == (403, "TENANT_CLOSED")
    with refuses("TENANT_CLOSED"):
        at.portal.orders.cancel(pending.order_id, Actor(ADDRESS, "user", tenant.id))
    for table in d.PORTAL.tables:
        for trace in TRACES:
            assert trace not in repr(at.scan(table)), (table, trace)
