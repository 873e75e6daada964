"""What lies in the tables: keys, types, indexes, sizes, and what each write costs."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.systems.portal.talk import ADMIN, Item, Place, refuses

from tablewright.client import pages
from tablewright.design import Design
from tablewright.mapping.items import size_of
from tablewright.systems.portal import design as d
from tablewright.systems.portal import field_rules, rules
from tablewright.systems.portal.model import Tenant
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.repository import SYSTEM


def _indexed(at: Place, table: str, index: str) -> set[str]:
    """The kinds of item an index holds, by the beginning of their sort key."""
    request = {"TableName": at.db.physical(table), "IndexName": index}
    found = [item for page in pages(at.call, "Scan", request) for item in page["Items"]]
    return {item["SK"]["S"].partition("#")[0] for item in found}


def _root(at: Place) -> Item:
    (root,) = at.roots()
    return root


def _busy(at: Place) -> None:
    """A bit of everything in all tables."""
    product, other = at.product(), at.product(name="Another")
    at.campaign(product, also_product_ids=[other.id], redemption_limit=5)
    order = at.portal.checkout.place(
        "a@example.com", [Line(product.id)], codes=["SUMMER2030"], payment_token="tok_1"
    )
    at.portal.orders.refund(order.order_id, ADMIN)
    at.portal.verification.start("a@example.com")
    at.portal.tenants.move(order.tenant_id, "VALIDATED", SYSTEM)


# --- shapes ---


def test_cp_d1_active_is_a_boolean_in_the_item_and_text_in_its_index_key(at: Place) -> None:
    tenant = at.tenant()
    assert (_root(at)["active"], _root(at)["activeKey"]) == ({"BOOL": True}, {"S": "true"})
    at.portal.tenants.change(tenant.id, {"active": False}, ADMIN)
    assert (_root(at)["active"], _root(at)["activeKey"]) == ({"BOOL": False}, {"S": "false"})
    assert [one.id for one in at.db.all(d.tenants_by_active(active=False), deleted=True)] == [tenant.id]


def test_cp_d13_the_prefixed_id_is_the_id_and_the_key_is_made_of_it(at: Place) -> None:
    tenant = at.tenant()
    assert tenant.id.startswith("tenant_")
    assert _root(at)["PK"] == {"S": f"TENANT#{tenant.id}"}
    assert _root(at)["SK"] == {"S": "METADATA"}


@pytest.mark.parametrize(
    "id", ["", "tenant_", "prod_12345678", "tenant_a#b", "tenant_" + "x" * 3000, "tenant_é1234"]
)
def test_cp_d13_what_cannot_be_an_id_is_not_found(at: Place, id: str) -> None:
    with refuses("TENANT_NOT_FOUND"):
        at.portal.tenants.get(id)


def test_cp_d14_what_is_not_set_is_absent_and_mail_falls_back_to_the_address(at: Place) -> None:
    tenant = at.tenant()
    assert not {"organizationName", "destinationEmail", "suspensionReason"} & _root(at).keys()
    assert tenant.submissions_go_to == tenant.email
    other = at.portal.tenants.change(tenant.id, {"destination_email": "Forms@Example.com"}, ADMIN)
    assert other.submissions_go_to == "forms@example.com"
    back = at.portal.tenants.change(tenant.id, {"destination_email": None}, ADMIN)
    assert "destinationEmail" not in _root(at)
    assert back.submissions_go_to == tenant.email


def test_cp_d52_stored_times_have_one_width_so_that_text_sorts_as_time(at: Place) -> None:
    at.clock.move(timedelta(microseconds=123_456))
    _busy(at)
    names = ("dateCreated", "dateLastUpdated", "placedAt", "auditAt", "createdAt", "expiresAt")
    for name in names:
        found = [item[name]["S"] for table in d.PORTAL.tables for item in at.scan(table) if name in item]
        assert len({len(time) for time in found}) == 1, name
        assert {time[-1] for time in found} == {"Z"}


def test_cp_d12_created_and_updated_are_one_moment_and_every_change_is_later(at: Place) -> None:
    tenant = at.tenant()
    assert tenant.date_created == tenant.date_last_updated
    first = at.portal.tenants.change(tenant.id, {"organization_name": "A"}, ADMIN)
    second = at.portal.tenants.change(tenant.id, {"organization_name": "B"}, ADMIN)
    assert tenant.date_last_updated < first.date_last_updated < second.date_last_updated
    assert (first.version, second.version) == (2, 3)
    assert second.date_created == tenant.date_created


# --- indexes ---


def test_cp_a0_what_lies_beside_a_root_stays_out_of_the_roots_indexes(at: Place) -> None:
    _busy(at)
    for index in ("EmailIndex", "TenantStatusIndex", "ActiveIndex"):
        assert _indexed(at, "tenants", index) == {"METADATA"}
    assert _indexed(at, "tenants", "OrderStatusIndex") == {"ORDER"}
    assert _indexed(at, "tenants", "AuditIndex") == {"AUDIT"}
    assert _indexed(at, "products", "ProductActiveIndex") == {"METADATA"}
    assert _indexed(at, "campaigns", "CampaignActiveIndex") == {"METADATA"}
    assert _indexed(at, "campaigns", "CampaignProductIndex") == {"METADATA", "PRODUCT"}
    assert _indexed(at, "campaigns", "ActiveIndex") == {"METADATA"}
    guard = next(item for item in at.scan("tenants") if item["SK"]["S"] == "UNIQUE" and "emailKey" in item)
    assert guard.keys() == {"PK", "SK", "owner", "tenantId", "emailKey"}


def test_cp_d6_products_have_one_index_with_two_names(at: Place) -> None:
    described = at.call("DescribeTable", {"TableName": at.db.physical("products")})["Table"]
    names = {index["IndexName"] for index in described["GlobalSecondaryIndexes"]}
    assert names == {"ProductActiveIndex", "AuditIndex"}
    (index,) = [one for one in d.PORTAL.indexes if one.name == "ProductActiveIndex"]
    assert index.aliases == ("ActiveIndex",)


def test_cp_d10_reads_by_key_ask_for_consistency_and_index_reads_cost_half(at: Place) -> None:
    for get in (d.tenant_by_id("tenant_1234"), d.product_by_id("prod_1234"), d.campaign_by_code("CODE")):
        explained = at.db.explain(get)
        assert explained.calls[0][1]["ConsistentRead"] is True
        assert explained.read_units == 1.0
    assert at.db.explain(d.tenants_by_email(email="a@example.com")).read_units == 0.5
    tenant = at.tenant()
    at.db.one(d.tenant_by_id(tenant.id))
    list(at.db.all(d.tenants_by_email(email=tenant.email)))
    spent = at.db.meter.spent()
    assert (spent["tenant_by_id"].read, spent["tenants_by_email"].read) == (1.0, 0.5)


# --- units ---


def _measured(at: Place, *writes: Any) -> float:
    before = sum(spent.write for spent in at.db.meter.spent().values())
    at.db.write(*writes)
    return sum(spent.write for spent in at.db.meter.spent().values()) - before


def _tenant(at: Place, **more: Any) -> Tenant:
    now = at.portal.repository.now()
    return Tenant(
        id="tenant_bb0e8400-e29b-41d4-a716-446655440006",
        email="customer@example.com",
        date_created=now,
        date_last_updated=now,
        last_updated_by="system:checkout",
        **more,
    )


def test_cp_d9_a_tenant_costs_four_units_and_its_guard_two_and_the_transaction_one_more(at: Place) -> None:
    create = d.tenants.create(_tenant(at))
    explained = at.db.explain(create)
    assert explained.notes == (
        "tenant.create: table 1 x 2 (transaction), EmailIndex 1, TenantStatusIndex 1, ActiveIndex 1",
        "guard email: table 1 x 2 (transaction)",
    )
    assert explained.write_units == 4 + 1 + 2
    assert _measured(at, create) == explained.write_units


def test_cp_d9_a_status_change_and_a_soft_delete_cost_five_units(at: Place) -> None:
    tenant = _tenant(at)
    at.db.write(d.tenants.create(tenant))
    validated = tenant.model_copy(update={"status": "VALIDATED"})
    move = d.tenants.move(tenant, validated, by="system")
    assert at.db.explain(move).write_units == 5
    assert _measured(at, move) == 5
    assert move.item is not None
    delete = d.tenants.change(move.item, move.item.model_copy(update={"active": False}))
    assert at.db.explain(delete).write_units == 5
    assert _measured(at, delete) == 5


def test_cp_d9_an_order_costs_what_explain_says_and_touches_one_index(at: Place) -> None:
    order = at.order(at.product())
    twin = order.model_copy(update={"order_id": "ord_000000000000-twin", "order_number": "BB-1"})
    create = d.orders.create(twin)
    explained = at.db.explain(create)
    assert "OrderStatusIndex 1" in explained.notes[0]
    assert explained.notes[0].count("Index") == 1
    assert _measured(at, create) == explained.write_units


# --- sizes (CP-74) ---

_ADDRESS = "a" * 64 + "@" + "b" * 60 + "." + "c" * 60 + ".example"


def test_cp_74_a_record_of_usual_length_is_far_below_a_kilobyte(at: Place) -> None:
    product = at.product(description="d" * 250, features=["f" * 20] * 10)
    campaign = at.campaign(product, description="d" * 250)
    tenant = at.portal.tenants.create(
        "someone@organisation.example", "An Organisation (Pty) Ltd", None, ADMIN
    )
    for entity, record in ((d.products, product), (d.campaigns, campaign), (d.tenants, tenant)):
        assert size_of(entity.shape, record) < 900


def test_cp_74_a_record_that_would_outgrow_a_kilobyte_is_refused_with_its_size(at: Place) -> None:
    with refuses("RECORD_SIZE"):
        at.product(
            description="d" * field_rules.DESCRIPTION_LETTERS,
            features=["f" * field_rules.FEATURE_LETTERS] * field_rules.FEATURES,
        )
    product = at.product()
    with refuses("RECORD_SIZE"):
        at.portal.catalogue.change_product(
            product.id, {"description": "é" * field_rules.DESCRIPTION_LETTERS, "name": "n" * 120}, ADMIN
        )
    with refuses("RECORD_SIZE"):
        at.campaign(product, description="d" * 500, terms_conditions_link="https://" + "x" * 400)
    with refuses("RECORD_SIZE"):
        at.portal.tenants.create(_ADDRESS, "ö" * 200, "x" + _ADDRESS[1:], ADMIN)
    assert [one.id for one in at.portal.catalogue.for_sale()] == [product.id]


def test_cp_74_a_record_may_take_a_kilobyte_and_not_a_byte_more(at: Place) -> None:
    product = at.product(description="d", features=["f" * field_rules.FEATURE_LETTERS] * 5)
    room = rules.RECORD_BYTES - size_of(d.products.shape, product)
    full, _ = at.portal.catalogue.change_product(product.id, {"description": "d" * (room + 1)}, ADMIN)
    assert size_of(d.products.shape, full) == rules.RECORD_BYTES
    write = d.products.change(full, full.model_copy(update={"draft": True}))
    assert at.db.explain(write).write_units == 2
    with refuses("RECORD_SIZE"):
        at.portal.catalogue.change_product(product.id, {"description": "d" * (room + 2)}, ADMIN)


# --- the design's own facts ---


def test_cp_6_the_tables_have_streams_no_ttl_and_protection_in_production_only() -> None:
    design: Design = d.PORTAL
    for name in ("tenants", "products", "campaigns"):
        assert design.tables[name].stream == "NEW_AND_OLD_IMAGES"
        assert design.tables[name].ttl is None
    places = {place.name: place for place in design.environments.values()}
    assert {name: place.deletion_protection for name, place in places.items()} == {
        "dev": False,
        "sit": False,
        "prod": True,
    }
    assert {place.pitr_days for place in places.values()} == {35}
    assert {name: place.account for name, place in places.items()} == {
        "dev": "536580886816",
        "sit": "815856636111",
        "prod": "093646564004",
    }
    assert {name: place.budget.limit for name, place in places.items() if place.budget} == {
        "dev": Decimal(500),
        "sit": Decimal(1000),
        "prod": Decimal(5000),
    }


def test_a_refused_write_leaves_every_table_as_it_was(at: Place) -> None:
    _busy(at)
    product = at.portal.catalogue.for_sale()[0]
    before = at.everything()
    with refuses("EMAIL_EXISTS"):
        at.portal.tenants.create("A@example.com", None, None, ADMIN)
    with refuses("CODE_EXISTS"):
        at.campaign(product)
    with refuses("STALE"):
        at.portal.catalogue.change_product(product.id, {"price": Decimal("1.00")}, ADMIN, expected=99)
    with refuses("PRODUCT_UNKNOWN"):
        at.portal.checkout.place("new@example.com", [Line("prod_00000000")])
    with refuses("CAMPAIGN_NOT_FOUND"):
        at.portal.checkout.place("new@example.com", [Line(product.id)], codes=["NOTHING"])
    assert at.everything() == before
