"""What happens by itself: each job may run at any time and any number of times."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial

from tests.systems.portal.talk import ADMIN, Place, meddled

from tablewright.kit.delivery import DeliveryCounts, DeliveryRefused, OutgoingMessage
from tablewright.systems.portal import jobs
from tablewright.systems.portal.repository import SYSTEM


def test_cp_d57_every_tenant_who_never_verified_is_reminded_once(at: Place) -> None:
    """More tenants than one page of the query holds; two runs at the same time of day, and again."""
    for number in range(230):
        at.portal.tenants.at_checkout(f"t{number}@example.com", None)
    verified = at.portal.tenants.at_checkout("verified@example.com", None)
    at.portal.tenants.move(verified.id, "VALIDATED", SYSTEM)
    gone = at.portal.tenants.at_checkout("gone@example.com", None)
    at.portal.tenants.change(gone.id, {"active": False}, ADMIN)
    assert jobs.remind_unvalidated(at.portal) == 0
    at.clock.move(timedelta(hours=24))
    assert jobs.remind_unvalidated(at.portal) == 230
    assert jobs.remind_unvalidated(at.portal) == 0
    at.clock.move(timedelta(days=1))
    assert jobs.remind_unvalidated(at.portal) == 0
    assert len(at.mails("t7@example.com")) == 1
    assert at.mails("verified@example.com") == at.mails("gone@example.com") == []


def test_cp_d57_a_tenant_who_verifies_in_that_moment_gets_no_reminder(at: Place) -> None:
    tenant = at.tenant()
    at.clock.move(timedelta(hours=25))
    raced = meddled(at, "TENANT#", partial(at.portal.tenants.move, tenant.id, "VALIDATED", SYSTEM))
    assert jobs.remind_unvalidated(raced) == 0
    assert at.mails(tenant.email) == []


def test_who_did_not_verify_in_ninety_days_is_proposed_and_left_alone(at: Place) -> None:
    old = at.tenant("old@example.com")
    at.clock.move(timedelta(days=90))
    at.tenant("new@example.com")
    portal = replace(at.portal, staff=lambda: ["boss@bbws.example", "chief@bbws.example"])
    assert [jobs.propose_purge(portal) for _ in range(2)] == [[old.id], [old.id]]
    for staff in portal.staff():
        (mail,) = at.mails(staff)
        assert mail.endswith(f"Nothing is deleted automatically.\n\n{old.id}")
    assert at.portal.tenants.get(old.id) == old


def test_staff_hears_once_of_a_campaign_that_ends_soon(at: Place) -> None:
    at.campaign(at.product(), to_date=at.today() + timedelta(days=4))
    staff = "staff@bbws.example"
    portal = replace(at.portal, staff=lambda: [staff])
    told = []
    for _ in range(3):
        told.append(jobs.notify_ending_campaigns(portal))
        told.append(jobs.notify_ending_campaigns(portal))
        at.clock.move(timedelta(days=1))
    assert told == [0, 0, 1, 0, 0, 0]
    assert at.mails(staff) == ["The last day of campaign SUMMER2030 is 19 June 2030, South African time."]


def test_mail_leaves_the_outbox_and_what_is_refused_says_why(at: Place) -> None:
    product = at.product()
    at.order(product, "a@example.com")
    at.order(product, "broken@example.com")
    sent: list[str] = []

    def send(letter: OutgoingMessage) -> None:
        if letter.recipient.startswith("broken"):
            raise DeliveryRefused("550")
        sent.append(letter.recipient)

    assert at.portal.dispatch.run(send) == DeliveryCounts(sent=1, failed=1)
    assert at.portal.dispatch.run(send) == DeliveryCounts()
    assert sent == ["a@example.com"]
    (kept,), (failed,) = at.portal.dispatch.by_state("SENT"), at.portal.dispatch.by_state("FAILED")
    assert (kept.recipient, kept.error) == ("a@example.com", None)
    assert (failed.recipient, failed.error, failed.attempts) == ("broken@example.com", "550", 1)


def test_a_price_that_is_due_is_applied_once_by_two_runs_at_once(at: Place) -> None:
    product = at.product("100.00")
    start = at.clock.now() + timedelta(days=1)
    at.portal.catalogue.change_product(
        product.id, {"next_price": product.price * 2, "next_price_from": start}, ADMIN
    )
    at.clock.move(timedelta(days=1))
    raced = meddled(at, "PRODUCT#", partial(jobs.apply_due_prices, at.portal))
    assert jobs.apply_due_prices(raced) == 0
    assert at.portal.catalogue.product(product.id).price == product.price * 2
    assert len(at.portal.catalogue.prices(product.id)) == 2
