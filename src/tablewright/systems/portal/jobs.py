"""Background work: reminders, scheduled prices, notices about campaigns that end; and what follows a change.

Each job may be run at any time and any number of times; it records what it has done.
Must hold: every public function here is in JOBS, or makes them (`work`, `consumers`).
Elsewhere: the scheduler (app/schedule.py), the tallies (tallies.py).
"""

import logging
from collections.abc import Sequence
from datetime import timedelta

from tablewright.english import full_date
from tablewright.kit.jobs import Follower, Job
from tablewright.kit.tables import Actor
from tablewright.mapping import Consumer, Stale
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules, tallies
from tablewright.systems.portal.catalogue import price_history
from tablewright.systems.portal.model import Kind
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.repository import SYSTEM, Repository

log = logging.getLogger("tablewright.portal")

REMIND_AFTER = timedelta(hours=24)
REMIND_UNTIL = timedelta(days=7)
PROPOSE_PURGE_AFTER = timedelta(days=90)
PROPOSED_IN_A_MAIL = 100
PROPOSAL_KEPT = timedelta(days=32)  # longer than a month
ENDS_SOON = timedelta(days=3)
RECONCILE_AFTER = timedelta(days=1)
JOB_ACTOR = Actor("system:jobs", "system")


def remind_unvalidated(portal: Portal) -> int:
    """Send one reminder to each tenant who has not verified the address; how many (CP-10, CP-D57)."""
    repository = portal.repository
    now = repository.now()
    sent = 0
    query = d.tenants_by_status(status="UNVALIDATED", since=now - REMIND_UNTIL, until=now - REMIND_AFTER)
    for tenant in repository.db.all(query):
        if tenant.reminder_sent_at is not None:
            continue
        after = repository.stamped(tenant, JOB_ACTOR, reminder_sent_at=now)
        mail = repository.outbox.mail(tenant.email, "reminder", owner=tenant.id)
        try:
            repository.db.write(d.tenants.change(tenant, after), mail)
            sent += 1
        except Stale:
            continue  # verified, changed or reminded by another run at the same moment
    return sent


def propose_purge(portal: Portal) -> list[str]:
    """The ids of tenants who have not verified their address in 90 days (CP-X11).

    Staff gets a list once a month and decides; this deletes nothing.
    """
    repository = portal.repository
    now = repository.now()
    query = d.tenants_by_status(status="UNVALIDATED", until=now - PROPOSE_PURGE_AFTER)
    found = [tenant.id for tenant in repository.db.all(query)]
    if found:
        values = {"count": str(len(found)), "ids": "\n".join(found[:PROPOSED_IN_A_MAIL])}
        mails = [repository.outbox.mail(to, "purge proposal", values) for to in portal.staff()]
        repository.db.write(*mails, once=f"purge-proposal:{now:%Y-%m}", kept=PROPOSAL_KEPT)
    return found


def apply_due_prices(portal: Portal) -> int:
    """Apply the scheduled prices whose time has come; how many."""
    return portal.catalogue.apply_due_prices(SYSTEM)


def notify_ending_campaigns(portal: Portal) -> int:
    """Mail the staff about campaigns that end soon, once for each; how many."""
    repository, staff = portal.repository, portal.staff()
    if not staff:
        return 0
    today = rules.local_day(repository.now())
    sent = 0
    for campaign in repository.db.all(d.campaigns_by_active(active=True, until=today)):
        if not today <= campaign.to_date <= today + ENDS_SOON:
            continue
        values = {"code": campaign.code, "day": full_date(campaign.to_date)}
        mails = [repository.outbox.mail(to, "campaign ends", values) for to in staff]
        done = repository.db.write(
            *mails, once=f"campaign-ends:{campaign.code}:{campaign.to_date.isoformat()}"
        )
        sent += not done.repeated
    return sent


def reconcile_tallies(portal: Portal) -> dict[Kind, dict[str, int]]:
    """Compare each tally with a real count once a day (CP-D56); the corrections made.

    A tally that could not be compared, because changes kept coming, is due again at once.
    """
    repository = portal.repository
    off = {kind: tallies.reconcile(repository, kind) for kind in tallies.KINDS if _is_due(repository, kind)}
    for kind, found in off.items():
        if found:
            log.warning("tally corrected", extra={"tally": kind, "off": found})
    return off


def _is_due(repository: Repository, kind: Kind) -> bool:
    last = tallies.tally_of(repository, kind).reconciled_at
    return last is None or repository.now() - last >= RECONCILE_AFTER


def expire_unpaid_orders(portal: Portal) -> int:
    """Expire orders that were not paid within a day; how many."""
    return portal.orders.expire_unpaid()


def erase_again(portal: Portal) -> int:
    """Erase again the tenants on the list of erasures that a restored table brought back; how many."""
    return portal.privacy.erase_again()


JOBS: tuple[Job[Portal], ...] = (
    Job("prices", timedelta(minutes=1), apply_due_prices, "Applies scheduled prices."),
    Job(
        "unpaid orders",
        timedelta(minutes=5),
        expire_unpaid_orders,
        "Expires orders that were not paid within a day and frees up the offer they used.",
    ),
    Job("restored", timedelta(hours=1), erase_again, "Re-applies erasures after a restore."),
    Job(
        "reminders",
        timedelta(hours=1),
        remind_unvalidated,
        "Reminds people who haven't confirmed their address after a day.",
    ),
    Job(
        "purge proposal",
        timedelta(days=1),
        propose_purge,
        "Mails staff once a month which customers haven't confirmed their address in 90 days.",
    ),
    Job(
        "ending campaigns",
        timedelta(hours=1),
        notify_ending_campaigns,
        "Mails staff about campaigns that end within three days.",
    ),
    Job(
        "tallies",
        timedelta(minutes=10),
        reconcile_tallies,
        "Checks the customer, plan and campaign counts against a full count once a day.",
    ),
)


def consumers(portal: Portal) -> tuple[Consumer, ...]:
    """The consumers of the tables' streams: tallies of all three, and the price history of products."""
    repository = portal.repository
    return (
        tallies.consumer_of(repository, "tenants"),
        tallies.consumer_of(
            repository, "products", lambda change: price_history.on_product_change(repository, change)
        ),
        tallies.consumer_of(repository, "campaigns"),
    )


def work(portal: Portal) -> Sequence[Job[Portal] | Follower[Portal]]:
    """Everything that runs without a request."""
    return (*(_follower(consumer) for consumer in consumers(portal)), *JOBS)


def _follower(consumer: Consumer) -> Follower[Portal]:
    about = "Keeps the counts and the price history up to date."
    return Follower(f"changes of {consumer.table}", lambda _, stop: consumer.run(stop), about)
