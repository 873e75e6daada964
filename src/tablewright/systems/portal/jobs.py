"""Background work: reminders, scheduled prices, notices about campaigns that end; and what follows a change.

Each job may be run at any time and any number of times; it records what it has done.
Must hold: every public function here is in JOBS, or makes them (`work`, `consumers`).
Elsewhere: the scheduler (app/schedule.py), what the jobs do (customers/, catalogue/, orders/, tallies.py).
"""

import logging
from collections.abc import Sequence
from datetime import timedelta

from tablewright.kit.jobs import Follower, Job
from tablewright.mapping import Consumer
from tablewright.systems.portal import tallies
from tablewright.systems.portal.catalogue import campaign_notices, price_history
from tablewright.systems.portal.model import Kind
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.repository import SYSTEM

log = logging.getLogger("tablewright.portal")


def remind_unvalidated(portal: Portal) -> int:
    """Send one reminder to each tenant who has not verified the address; how many (CP-10, CP-D57)."""
    return portal.tenants.remind_unvalidated()


def propose_purge(portal: Portal) -> list[str]:
    """Mail staff, once a month, the tenants who have not verified their address in 90 days; their ids (CP-X11)."""
    return portal.tenants.propose_purge(portal.staff())


def apply_due_prices(portal: Portal) -> int:
    """Apply the scheduled prices whose time has come; how many."""
    return portal.catalogue.apply_due_prices(SYSTEM)


def notify_ending_campaigns(portal: Portal) -> int:
    """Mail the staff about campaigns that end soon, once for each; how many."""
    return campaign_notices.notify_ending(portal.repository, portal.staff())


def reconcile_tallies(portal: Portal) -> dict[Kind, dict[str, int]]:
    """Compare each tally with a real count once a day (CP-D56); the corrections made."""
    off = tallies.reconcile_due(portal.repository)
    for kind, found in off.items():
        if found:
            log.warning("tally corrected", extra={"tally": kind, "off": found})
    return off


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
