"""Background jobs: the follower of changes, recounts, tombstones, statistics, erasures, mail, geography.

A push is complete when it is answered, so there is no queue of operations; the only job for operations reports
conflicts. Each job may run at any time, any number of times, in any number of processes.
Must hold: a run is bounded by an index or a cursor; an error with one traveller does not delay the others.
Every public function here is in JOBS, or makes them (`work`, `consumers`).
Elsewhere: the schedule (app/schedule.py), rounds over all travellers (rounds.py), what is sent to them (notices.py).
"""

import logging
from collections.abc import Sequence
from datetime import timedelta

from tablewright.kit.jobs import Follower, Job
from tablewright.mapping import Consumer
from tablewright.systems.travel import rounds
from tablewright.systems.travel.travel import Travel

log = logging.getLogger("tablewright.travel")

WEEK = timedelta(days=7)


# --- for all travellers, some at a time ---


def recount(travel: Travel) -> int:
    """Compare the counters with the visits, and correct differences (SK-D19); a round a day."""
    return rounds.run(travel.repository, "recount", lambda user_id: _recount(travel, user_id))


def _recount(travel: Travel, user_id: str) -> None:
    travel.visits.follow_codes(user_id)
    travel.regions.relist(user_id)
    drift = travel.statistics.repair(user_id)
    if drift is not None:
        log.warning("counters repaired", extra={"said": dict(drift.said), "found": dict(drift.found)})


def purge_tombstones(travel: Travel) -> int:
    """Remove tombstones that every device has seen (SK-D29); a round a day."""
    return rounds.run(travel.repository, "tombstones", travel.feed.purge)


def rekey(travel: Travel) -> int:
    """Move addresses to the newest secret, so that an older one can be dropped after a round; a round a day."""

    def move(user_id: str) -> None:
        travel.accounts.rekey(travel.repository.profile(user_id))

    return rounds.run(travel.repository, "rekey", move)


def weekly_statistics(travel: Travel) -> int:
    """Mail the weekly statistics to travellers who want them; a round a week."""
    return rounds.run(travel.repository, "weekly-statistics", travel.notices.week, every=WEEK)


def tell_inactive(travel: Travel) -> int:
    """Mail travellers who were not seen for a year, at most once a year. It erases no account (SK-D14)."""
    return rounds.run(travel.repository, "inactive", travel.notices.inactive)


def warm_statistics(travel: Travel) -> int:
    """Compute today's figures of travellers who had some in the last days, before they ask (SK-27); a round a day."""
    return rounds.run(travel.repository, "figures", travel.statistics.warm)


def export_week(travel: Travel) -> int:
    """Write the weekly file for analytics, in parts; a round a week."""
    lines = list[bytes]()
    return rounds.run(
        travel.repository,
        "analytics",
        lambda user_id: lines.extend(travel.exporting.lines(user_id)),
        every=WEEK,
        then=lambda user_ids: travel.exporting.part(user_ids, lines),
    )


# --- by themselves ---


def recount_regions(travel: Travel) -> int:
    """Compare how many visitors each region has with its list (SK-D7); a round in six hours."""
    return travel.regions.recount_next(travel.follower())


def tell_conflicts(travel: Travel) -> int:
    """Report conflicts to travellers who want that; returns how many."""
    return travel.notices.conflicts()


def erase(travel: Travel) -> int:
    """Erase accounts whose week is over; returns how many erasures this completed."""
    return travel.privacy.erase_due()


def clean_restored(travel: Travel) -> int:
    """If the table is an older copy: erase again the accounts erased since it was made; returns how many (SK-D25).

    Runs before the first request, and regularly: a table may be restored under a running process.
    """
    if not travel.privacy.is_restored():
        return 0
    back = travel.privacy.apply_deletions()
    log.warning("a restored table was cleaned", extra={"came_back": back})
    return back


def publish_geography(travel: Travel) -> int:
    """Publish the shipped geography if the table has another; returns how many items were written.

    A later release stays: during an upgrade both versions run. Only an admin can go back.
    """
    return 0 if travel.places.is_outdated() else travel.places.publish()


# --- when ---

_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)
JOBS: tuple[Job[Travel], ...] = (
    Job("erasures", _MINUTE, erase, "Erases accounts whose week is over."),
    Job("restored", _HOUR, clean_restored, "Re-applies erasures after a restore."),
    Job("conflicts", _MINUTE, tell_conflicts, "Reports open conflicts to their travellers."),
    Job("recount", _MINUTE, recount, "Recounts each traveller's places, some travellers at a time."),
    Job("visitors", _MINUTE, recount_regions, "Recounts the visitors of each region."),
    Job("tombstones", _MINUTE, purge_tombstones, "Deletes tombstones that every device has seen."),
    Job("addresses", _MINUTE, rekey, "Rehashes e-mail addresses with the newest secret."),
    Job("figures", _MINUTE, warm_statistics, "Computes today's statistics of recently active travellers."),
    Job("weekly", _MINUTE, weekly_statistics, "Sends the weekly statistics mail."),
    Job("inactive", _MINUTE, tell_inactive, "Mails travellers who were not seen for a year."),
    Job("analytics", _MINUTE, export_week, "Writes the weekly analytics file, without names."),
    # Thousands of writes; until they are complete, searches read the shipped files.
    Job("geography", _HOUR, publish_geography, "Publishes the regions for search."),
)


def consumers(travel: Travel) -> tuple[Consumer, ...]:
    """The followers of the table's changes: statistics, visitor counts, lists after a privacy setting changed."""
    return (travel.follower(),)


def work(travel: Travel) -> Sequence[Job[Travel] | Follower[Travel]]:
    """Everything that runs without a request."""
    return (*(_follower(consumer) for consumer in consumers(travel)), *JOBS)


def _follower(consumer: Consumer) -> Follower[Travel]:
    about = "Updates statistics and visitor counts."
    return Follower(f"changes of {consumer.table}", lambda _, stop: consumer.run(stop), about)
