"""Tenants: one for one address, moved by who may, deleted softly, listed in full pages."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.systems.portal.talk import ADMIN, BUYER, SUPPORT, Place, refuses

from tablewright.kit.tables import Actor
from tablewright.systems.portal import design as d
from tablewright.systems.portal.model import Status
from tablewright.systems.portal.repository import SYSTEM

USER = Actor("customer@example.com", "user")


# --- one tenant for one address ---


def test_cp_d2_a_second_tenant_with_an_address_in_any_spelling_is_refused(at: Place) -> None:
    at.tenant("Customer@Example.com")
    for spelling in ("customer@example.com", " CUSTOMER@EXAMPLE.COM ", "Customer@example.Com"):
        with refuses("EMAIL_EXISTS"):
            at.portal.tenants.create(spelling, None, None, ADMIN)
    assert len(at.roots()) == 1


def test_cp_d2_a_checkout_finds_the_tenant_by_the_guard_not_by_the_index(at: Place) -> None:
    tenant = at.tenant()
    assert at.portal.tenants.at_checkout(BUYER, None).id == tenant.id
    names = set(at.db.meter.spent())
    assert "tenant.get_or_create" in names
    assert "tenants_by_email" not in names


def test_cp_d3_a_change_of_address_by_an_admin_moves_the_guard_and_is_recorded(at: Place) -> None:
    tenant = at.tenant()
    at.clock.move(timedelta(seconds=1))
    changed = at.portal.tenants.change_email(tenant.id, "New@Example.com", ADMIN)
    assert changed.email == "new@example.com"
    assert at.guards() == {"new@example.com": tenant.id}
    assert at.history(tenant.id)[0] == ("e-mail changed", ADMIN.name, "admin")
    assert at.portal.tenants.at_checkout(BUYER, None).id != tenant.id
    with refuses("EMAIL_EXISTS"):
        at.portal.tenants.change_email(tenant.id, BUYER, ADMIN)


@pytest.mark.parametrize(
    "email", ["", "no", "a@b", "a b@example.com", "a@exam ple.com", "x" * 300 + "@example.com"]
)
def test_what_is_no_address_is_refused(at: Place, email: str) -> None:
    with refuses("INVALID_EMAIL"):
        at.portal.tenants.at_checkout(email, None)


# --- states ---

MOVES: dict[tuple[Status, Status], tuple[str, ...]] = {
    ("UNVALIDATED", "VALIDATED"): ("system", "user"),
    ("VALIDATED", "REGISTERED"): ("system", "user"),
    ("UNVALIDATED", "SUSPENDED"): ("admin",),
    ("VALIDATED", "SUSPENDED"): ("admin",),
    ("REGISTERED", "SUSPENDED"): ("admin",),
    ("SUSPENDED", "REGISTERED"): ("admin",),
    ("SUSPENDED", "VALIDATED"): ("admin",),
    ("SUSPENDED", "UNVALIDATED"): ("admin",),
}


def test_cp_d5_every_move_is_for_its_actors_and_for_nobody_else(at: Place) -> None:
    states: tuple[Status, ...] = ("UNVALIDATED", "VALIDATED", "REGISTERED", "SUSPENDED")
    number = 0
    for start in states:
        for end in states:
            for role in ("system", "user", "support", "admin"):
                number += 1
                tenant = at.tenant(f"t{number}@example.com", start)
                allowed = role in MOVES.get((start, end), ())
                if allowed:
                    moved = at.portal.tenants.move(tenant.id, end, Actor(role, role), reason="why")
                    assert moved.status == end
                    continue
                is_for_admins = "admin" in MOVES.get((start, end), ())
                with refuses("ADMIN_ONLY" if role == "support" and is_for_admins else "INVALID_TRANSITION"):
                    at.portal.tenants.move(tenant.id, end, Actor(role, role), reason="why")


def test_cp_d5_a_suspension_keeps_its_reason_and_the_status_before_and_ends_there(at: Place) -> None:
    tenant = at.tenant(status="VALIDATED")
    with refuses("REASON_NEEDED"):
        at.portal.tenants.move(tenant.id, "SUSPENDED", ADMIN)
    suspended = at.portal.tenants.move(tenant.id, "SUSPENDED", ADMIN, reason="charged back")
    assert (suspended.previous_status, suspended.suspension_reason) == ("VALIDATED", "charged back")
    back = at.portal.tenants.move(tenant.id, None, ADMIN)
    assert (back.status, back.previous_status, back.suspension_reason) == ("VALIDATED", None, None)
    at.portal.tenants.move(tenant.id, "SUSPENDED", ADMIN, reason="again")
    assert at.portal.tenants.move(tenant.id, "REGISTERED", ADMIN).status == "REGISTERED"


def test_cp_d5_only_an_admin_may_override(at: Place) -> None:
    tenant = at.tenant()
    with refuses("ADMIN_ONLY"):
        at.portal.tenants.move(tenant.id, "REGISTERED", SUPPORT, override=True)
    assert at.portal.tenants.move(tenant.id, "REGISTERED", ADMIN, override=True).status == "REGISTERED"


def test_cp_d4_an_unknown_tenant_cannot_be_moved_into_being(at: Place) -> None:
    with refuses("TENANT_NOT_FOUND"):
        at.portal.tenants.move("tenant_00000000", "SUSPENDED", ADMIN, reason="why")
    assert at.scan("tenants") == []


# --- checkout ---


def test_cp_d15_a_suspended_tenant_cannot_buy(at: Place) -> None:
    product = at.product()
    tenant = at.tenant(status="SUSPENDED")
    with refuses("TENANT_SUSPENDED"):
        at.own_order(product, tenant)


def test_cp_d15_a_deleted_tenant_comes_back_unvalidated_with_an_entry(at: Place) -> None:
    tenant = at.tenant(status="REGISTERED")
    at.portal.tenants.change(tenant.id, {"active": False}, ADMIN)
    at.clock.move(timedelta(seconds=1))
    back = at.portal.tenants.at_checkout(BUYER, "ignored")
    assert (back.id, back.status, back.active) == (tenant.id, "UNVALIDATED", True)
    assert back.organization_name is None
    assert at.history(tenant.id)[0] == ("reactivated", "system:checkout", "system")


def test_a_deleted_tenant_that_was_suspended_does_not_come_back_at_checkout(at: Place) -> None:
    tenant = at.tenant(status="SUSPENDED")
    at.portal.tenants.change(tenant.id, {"active": False}, ADMIN)
    with refuses("TENANT_SUSPENDED"):
        at.portal.tenants.at_checkout(BUYER, None, is_guest=False)
    assert at.portal.tenants.at_checkout(BUYER, None) == at.portal.tenants.get(tenant.id)
    assert not at.portal.tenants.get(tenant.id).active


def test_cp_d60_the_record_says_who_changed_it(at: Place) -> None:
    made = at.portal.tenants.at_checkout(BUYER, None)
    assert made.last_updated_by == "system:checkout"
    assert at.portal.tenants.change(made.id, {"organization_name": "A"}, ADMIN).last_updated_by == ADMIN.name
    assert at.portal.tenants.move(made.id, "VALIDATED", USER).last_updated_by == USER.name


def test_cp_19_a_buyer_is_an_individual_until_they_name_an_organisation(at: Place) -> None:
    assert at.portal.tenants.at_checkout("a@example.com", None).organization_name is None
    assert at.portal.tenants.at_checkout("b@example.com", "").organization_name is None
    assert at.portal.tenants.at_checkout("c@example.com", "Acme").organization_name == "Acme"


# --- lists ---


def test_cp_d53_cp_d55_lists_hide_what_is_deleted_unless_asked_and_come_from_an_index(at: Place) -> None:
    for number in range(6):
        tenant = at.tenant(f"t{number}@example.com")
        at.clock.move(timedelta(seconds=1))
        if number % 2:
            at.portal.tenants.change(tenant.id, {"active": False}, ADMIN)
    shown = [tenant.email[:2] for tenant in at.portal.tenants.page(ADMIN).items]
    deleted = [tenant.email[:2] for tenant in at.portal.tenants.page(ADMIN, active=False).items]
    both = [tenant.email[:2] for tenant in at.portal.tenants.page(ADMIN, active=None).items]
    assert (shown, deleted) == (["t4", "t2", "t0"], ["t5", "t3", "t1"])
    assert both == ["t5", "t4", "t3", "t2", "t1", "t0"]
    assert at.db.explain(d.tenants_by_active(active=True)).index == "ActiveIndex"
    assert at.db.explain(d.tenants_by_active(active=True)).calls[0][0] == "Query"


def test_cp_15_tenants_are_listed_by_status_and_by_when_they_came(at: Place) -> None:
    start = at.clock.now()
    for number in range(5):
        at.tenant(f"t{number}@example.com", "VALIDATED" if number % 2 else "UNVALIDATED")
        at.clock.move(timedelta(days=1))
    found = at.portal.tenants.page(
        ADMIN, status="UNVALIDATED", since=start + timedelta(days=1), until=start + timedelta(days=4)
    )
    assert [tenant.email[:2] for tenant in found.items] == ["t4", "t2"]
    with refuses("DATE_ORDER"):
        at.portal.tenants.page(ADMIN, status="UNVALIDATED", since=start, until=start - timedelta(1))
    with refuses("STATUS_NEEDED"):
        at.portal.tenants.page(ADMIN, since=start)


def test_cp_d11_pages_stay_full_when_much_is_filtered_away(at: Place) -> None:
    for number in range(40):
        tenant = at.tenant(f"t{number:02}@example.com")
        at.clock.move(timedelta(seconds=1))
        if number % 4:
            at.portal.tenants.change(tenant.id, {"active": False}, ADMIN)
    first = at.portal.tenants.page(ADMIN, status="UNVALIDATED", size=5)
    assert [tenant.email[:3] for tenant in first.items] == ["t36", "t32", "t28", "t24", "t20"]
    second = at.portal.tenants.page(ADMIN, status="UNVALIDATED", size=5, after=first.next)
    assert [tenant.email[:3] for tenant in second.items] == ["t16", "t12", "t08", "t04", "t00"]
    assert second.next is None


def test_cp_d11_a_page_token_is_for_one_reader_one_list_and_one_day(at: Place) -> None:
    for number in range(3):
        at.tenant(f"t{number}@example.com")
    token = at.portal.tenants.page(ADMIN, size=2).next
    assert token is not None
    assert len(at.portal.tenants.page(ADMIN, size=2, after=token).items) == 1
    for reader, more in ((SUPPORT, {}), (ADMIN, {"active": False}), (ADMIN, {"status": "UNVALIDATED"})):
        with refuses("BAD_TOKEN"):
            at.portal.tenants.page(reader, size=2, after=token, **more)
    at.clock.move(timedelta(days=1, seconds=1))
    with refuses("BAD_TOKEN"):
        at.portal.tenants.page(ADMIN, size=2, after=token)


def test_a_move_by_the_system_has_its_entry_too(at: Place) -> None:
    tenant = at.tenant()
    at.clock.move(timedelta(seconds=1))
    at.portal.tenants.move(tenant.id, "VALIDATED", SYSTEM)
    assert at.history(tenant.id)[0] == ("moved", "system:portal", "system")
