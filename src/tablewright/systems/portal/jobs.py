"""What happens by itself: reminders, scheduled prices, notices of campaigns that end; and what follows a change.

Each job may be run at any time and any number of times; what was done is written with it. Elsewhere: when they run
(the app's schedule), what the tallies are (tallies.py).
"""

import logging
from datetime import timedelta

from tablewright.mapping import Consumer, Stale
from tablewright.mapping.consumer.records import Change
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules, tallies
from tablewright.systems.portal.catalogue import Catalogue
from tablewright.systems.portal.model import Kind, Product
from tablewright.systems.portal.repository import SYSTEM, Actor, Repository

log = logging.getLogger("tablewright.portal")

REMIND_AFTER = timedelta(hours=24)
REMIND_UNTIL = timedelta(days=7)
PROPOSE_PURGE_AFTER = timedelta(days=90)
ENDS_SOON = timedelta(days=3)
RECONCILE_AFTER = timedelta(days=1)
JOBS = Actor("system:jobs", "system")


def remind_unvalidated(repository: Repository) -> int:
    """Mail each tenant once whose address was never verified (CP-10, CP-D57)."""
    now = repository.now()
    sent = 0
    query = d.tenants_by_status(status="UNVALIDATED", since=now - REMIND_UNTIL, until=now - REMIND_AFTER)
    for tenant in repository.db.all(query):
        if tenant.reminder_sent_at is not None:
            continue
        after = repository.stamped(tenant, JOBS, reminder_sent_at=now)
        mail = repository.mail(tenant.email, "reminder", tenant_id=tenant.id)
        try:
            repository.db.write(d.tenants.change(tenant, after), mail)
            sent += 1
        except Stale:
            continue  # verified, changed or reminded by another run in this moment
    return sent


def propose_purge(repository: Repository) -> list[str]:
    """Tenants that never verified their address in 90 days: ids for a person to decide about (CP-X11)."""
    until = repository.now() - PROPOSE_PURGE_AFTER
    return [tenant.id for tenant in repository.db.all(d.tenants_by_status(status="UNVALIDATED", until=until))]


def apply_due_prices(repository: Repository) -> int:
    return Catalogue(repository).apply_due_prices(SYSTEM)


def notify_ending_campaigns(repository: Repository, to: str) -> int:
    """Tell the staff of campaigns that end soon; each once."""
    today = rules.local_day(repository.now())
    told = 0
    for campaign in repository.db.all(d.campaigns_by_active(active=True, until=today)):
        if not today <= campaign.to_date <= today + ENDS_SOON:
            continue
        values = {"code": campaign.code, "day": campaign.to_date.isoformat()}
        mail = repository.mail(to, "campaign ends", values)
        done = repository.db.write(mail, once=f"campaign-ends:{campaign.code}:{campaign.to_date.isoformat()}")
        told += not done.repeated
    return told


def reconcile_tallies(repository: Repository) -> dict[Kind, dict[str, int]]:
    """Compare tallies with a real count, each once a day (CP-D56); by how much each was off.

    One that could not be compared, because changes were being counted all the while, is due again at once.
    """
    off = {kind: tallies.reconcile(repository, kind) for kind in tallies.KINDS if _is_due(repository, kind)}
    for kind, found in off.items():
        if found:
            log.warning("tally corrected", extra={"tally": kind, "off": found})
    return off


def _is_due(repository: Repository, kind: Kind) -> bool:
    last = tallies.tally_of(repository, kind).reconciled_at
    return last is None or repository.now() - last >= RECONCILE_AFTER


def followers(repository: Repository) -> tuple[Consumer, ...]:
    """Who follows the tables' changes: tallies of all three, and the price history of products."""
    return (
        tallies.consumer_of(repository, "tenants"),
        tallies.consumer_of(repository, "products", lambda change: on_product_change(repository, change)),
        tallies.consumer_of(repository, "campaigns"),
    )


def on_product_change(repository: Repository, change: Change[Product]) -> bool:
    """A product's change record in the price history; the same record twice is one entry (CP-D33).

    The service writes the entry with the change already; this is for changes made around it, on the table itself.
    """
    if change.after is None:
        return False
    steps = rules.price_steps(change.before, change.after)
    return any([repository.db.get_or_create(d.prices.create(step))[1] for step in steps])
