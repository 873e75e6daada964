"""Notices about campaigns that end soon, by mail to the staff.

Must hold: one for each campaign and last day, whatever runs how often.
Elsewhere: campaigns (catalogue.py), when this runs (jobs.py).
"""

from collections.abc import Sequence
from datetime import timedelta

from tablewright.english import full_date
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules
from tablewright.systems.portal.repository import Repository

ENDS_SOON = timedelta(days=3)


def notify_ending(repository: Repository, staff: Sequence[str]) -> int:
    """Mail the staff about campaigns that end soon, once for each; how many."""
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
