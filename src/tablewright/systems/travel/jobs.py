"""Background jobs: the follower of changes, recounts, tombstones, statistics, erasures, mail, geography.

A push is complete when it is answered, so there is no queue of operations; the only job for operations reports
conflicts. Each job may run at any time, any number of times, in any number of processes.
Must hold: a run is bounded by an index or a cursor; an error with one traveller does not delay the others.
Every public function here is in JOBS, or makes them (`work`, `consumers`).
Elsewhere: the schedule (app/schedule.py), rounds over all travellers (rounds.py).
"""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

from tablewright.design import Write
from tablewright.kit.jobs import Follower, Job
from tablewright.kit.messages import render
from tablewright.kit.rounds import Stretch, named
from tablewright.mapping import BadCursor, Consumer
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rounds
from tablewright.systems.travel.model import REGION_TYPES, Device, Operation, Profile
from tablewright.systems.travel.notices import Notice
from tablewright.systems.travel.outbox import TEMPLATES
from tablewright.systems.travel.travel import Travel

log = logging.getLogger("tablewright.travel")

AT_ONCE = 200
CONFLICTS_EVERY = timedelta(minutes=10)
REGIONS_AT_ONCE, REGIONS_EVERY = 20, timedelta(hours=6)
WEEK = timedelta(days=7)
# A conflict that is resolved by then needs no mail.
TELL_AFTER = timedelta(hours=1)
INACTIVE_AFTER = timedelta(days=365)
RECEIPTS_KEPT = timedelta(days=30)


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


def recount_regions(travel: Travel) -> int:
    """Compare how many visitors each region has with its list (SK-D7); a round in six hours."""
    regions = {
        f"{kind}#{region.region_code}": region
        for kind in REGION_TYPES
        for region in travel.geography.of(kind)
    }
    follower = travel.follower()

    def recounted(name: str) -> None:
        region = regions[name]
        mended = travel.regions.recount(region.region_type, region.region_code, follower)
        if mended:
            log.warning("visitors recounted", extra={"region": name, "parts": mended})

    def among(last: str | None) -> Stretch[str]:
        return named((name for name in sorted(regions) if last is None or name > last), REGIONS_AT_ONCE)

    return d.rounds.run(travel.repository.db, "regions", among, recounted, every=REGIONS_EVERY)


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
    return rounds.run(travel.repository, "weekly-statistics", lambda id: _tell_week(travel, id), every=WEEK)


def _tell_week(travel: Travel, user_id: str) -> None:
    profile = travel.repository.profile(user_id)
    if not profile.notification_settings.weekly_stats or profile.erases_at is not None:
        return
    now, figures = travel.repository.now(), travel.statistics.of(user_id)
    values = {
        "countries": str(figures.countries_visited),
        "percentage": str(figures.countries_percentage),
        "states": str(figures.us_states_visited),
        "provinces": str(figures.canadian_provinces_visited),
        "continents": str(len(figures.continents_visited)),
    }
    _tell(travel, profile, "week", values, f"weekly/{now:%G-W%V}")


def tell_inactive(travel: Travel, *, after: timedelta = INACTIVE_AFTER) -> int:
    """Mail travellers who were not seen for a year, at most once a year. It erases no account (SK-D14)."""
    return rounds.run(travel.repository, "inactive", lambda user_id: _tell_inactive(travel, user_id, after))


def _tell_inactive(travel: Travel, user_id: str, after: timedelta) -> None:
    profile, now = travel.repository.profile(user_id), travel.repository.now()
    seen = [device.last_seen_at for device in travel.repository.devices_of(user_id, revoked=True)]
    last = max(seen, default=profile.updated_at)
    if now - last < after or profile.erases_at is not None:
        return
    _tell(travel, profile, "inactive", {}, f"inactive/{last:%Y-%m-%d}", kept=after)


def warm_statistics(travel: Travel) -> int:
    """Compute today's figures of travellers who had some in the last days, before they ask (SK-27); a round a day."""

    def warm(user_id: str) -> None:
        if travel.repository.db.first(d.statistics_of(user_id=user_id)) is not None:
            travel.statistics.of(user_id)

    return rounds.run(travel.repository, "figures", warm)


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


# --- by an index ---


def tell_conflicts(travel: Travel) -> int:
    """Report conflicts to travellers who want that; returns how many. Logs the number of refused operations.

    In rounds, some at a time: conflicts that were reported and are still open are passed over, however many there are.
    """
    failed = sum(
        1 for _ in islice(travel.repository.db.all(d.operations_by_status(status="failed")), AT_ONCE)
    )
    if failed:
        log.info("operations refused", extra={"count": failed, "at_least": failed == AT_ONCE})

    def among(after: str | None) -> Stretch[Operation]:
        query = d.operations_by_status(status="conflict")
        try:
            page = travel.repository.db.page(query, size=AT_ONCE, after=after, reader="jobs")
        except BadCursor:  # the cursor is older than a day, or the secret of page tokens has changed
            page = travel.repository.db.page(query, size=AT_ONCE, reader="jobs")
        return Stretch(page.items, page.next)

    told = list[bool]()
    d.rounds.run(
        travel.repository.db,
        "conflicts",
        among,
        lambda operation: told.append(_tell_conflict(travel, operation)),
        every=CONFLICTS_EVERY,
    )
    return sum(told)


def _tell_conflict(travel: Travel, operation: Operation) -> bool:
    if travel.repository.now() - operation.server_timestamp < TELL_AFTER:
        return False
    profile = travel.repository.profile(operation.user_id)
    if not profile.notification_settings.sync_conflicts or profile.erases_at is not None:
        return False
    return _tell(travel, profile, "conflict", {}, f"conflict/{operation.operation_id}")


def _tell(
    travel: Travel,
    profile: Profile,
    template: str,
    values: Mapping[str, str],
    about: str,
    kept: timedelta = RECEIPTS_KEPT,
) -> bool:
    """Send a mail, and a notification to each device; once for as long as the receipt is `kept`.

    The receipt names the traveller as a hash, because it outlives an erasure.
    """
    user_id = profile.user_id
    once = f"tell/{hashlib.sha256(f'{user_id}/{about}'.encode()).hexdigest()}"
    # Read before writing: for most travellers it was sent long ago, and a refused transaction costs more than a read.
    if travel.repository.db.done(once) is not None:
        return False
    # A traveller who only signs in with Apple may have no address. The check refuses if the account was erased since.
    said: list[Write[Any]] = [d.profiles.check(user_id).when(lambda it: it.user_id == user_id)]
    if profile.email is not None:
        said.append(travel.outbox.mail(user_id, profile.email, template, values))
    if travel.repository.db.write(*said, once=once, kept=kept).repeated:
        return False
    text = render(TEMPLATES[template], values)
    notice = {"kind": about.partition("/")[0], "title": text.subject, "body": text.body}
    for device in travel.repository.devices_of(user_id):
        _notify(travel, device, notice)
    return True


def _notify(travel: Travel, device: Device, notice: Notice) -> None:
    """An error with one device does not stop the notifications to the others."""
    try:
        travel.notifier.push(device, notice)
    except Exception as mistake:
        log.warning("notification not delivered", extra={"mistake": type(mistake).__name__})


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
