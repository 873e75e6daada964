"""What happens by itself: what follows a change, recounts, tombstones, figures of the day, erasures, mail, geography.

A push is done when it is answered, so there is no queue of operations to work off; what is left to do for operations is
to say that two devices disagree. Each job may be run at any time and any number of times, in any number of processes.
Must hold: a run is bounded by an index or a cursor; one traveller who cannot be dealt with keeps nobody else waiting.
Every public function here is in JOBS, or makes them (`work`, `consumers`).
Elsewhere: what keeps the schedule (app/schedule.py), walking along everybody (rounds.py).
"""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

from tablewright.design import Write
from tablewright.kit.jobs import Follower, Job
from tablewright.kit.messages import render
from tablewright.mapping import BadCursor, Consumer
from tablewright.systems.travel import design as d
from tablewright.systems.travel.mail import TEMPLATES
from tablewright.systems.travel.model import REGION_TYPES, Device, Operation, Profile
from tablewright.systems.travel.notices import Notice
from tablewright.systems.travel.rounds import A_DAY, Round, Stretch, named, walk, walk_along_everybody
from tablewright.systems.travel.travel import Travel

log = logging.getLogger("tablewright.travel")

AT_ONCE = 200
CONFLICTS_EVERY = timedelta(minutes=10)
REGIONS_AT_ONCE, REGIONS_EVERY = 20, timedelta(hours=6)
WEEK = timedelta(days=7)
# A conflict that is settled by then is nobody's mail.
TELL_AFTER = timedelta(hours=1)
INACTIVE_AFTER = timedelta(days=365)
RECEIPTS_KEPT = timedelta(days=30)


# --- for everybody, some at a time ---


def _for_everybody(
    travel: Travel, name: Round, visit: Callable[[str], object], every: timedelta = A_DAY
) -> int:
    return walk_along_everybody(travel.repository, name, visit, every=every)


def recount(travel: Travel) -> int:
    """Compare what is counted with what is there, and put right what differs (SK-D19); a round a day."""
    return _for_everybody(travel, "recount", lambda user_id: _recount(travel, user_id))


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

    def recounted(name: str) -> None:
        region = regions[name]
        mended = travel.regions.recount(region.region_type, region.region_code)
        if mended:
            log.warning("visitors recounted", extra={"region": name, "parts": mended})

    def among(last: str | None) -> Stretch[str]:
        return named((name for name in sorted(regions) if last is None or name > last), REGIONS_AT_ONCE)

    return walk(travel.repository, "regions", among, recounted, every=REGIONS_EVERY)


def purge_tombstones(travel: Travel) -> int:
    """Remove tombstones that every device has seen (SK-D29); a round a day."""
    return _for_everybody(travel, "tombstones", travel.feed.purge)


def rekey(travel: Travel) -> int:
    """Move addresses to the newest secret, so that an older one can be dropped after a round; a round a day."""

    def move(user_id: str) -> None:
        travel.accounts.rekey(travel.repository.profile(user_id))

    return _for_everybody(travel, "rekey", move)


def weekly_statistics(travel: Travel) -> int:
    """A mail with the figures to who wants one; a round a week."""
    return _for_everybody(travel, "weekly-statistics", lambda id: _tell_week(travel, id), WEEK)


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
    """A mail to who was not seen for a year, once in another year. Nobody is erased by it (SK-D14)."""
    return _for_everybody(travel, "inactive", lambda user_id: _tell_inactive(travel, user_id, after))


def _tell_inactive(travel: Travel, user_id: str, after: timedelta) -> None:
    profile, now = travel.repository.profile(user_id), travel.repository.now()
    seen = [device.last_seen_at for device in travel.repository.devices_of(user_id, revoked=True)]
    last = max(seen, default=profile.updated_at)
    if now - last < after or profile.erases_at is not None:
        return
    _tell(travel, profile, "inactive", {}, f"inactive/{last:%Y-%m-%d}", kept=after)


def warm_statistics(travel: Travel) -> int:
    """Today's figures for who had some in the last days, before they ask (SK-27); a round a day."""

    def warm(user_id: str) -> None:
        if travel.repository.db.first(d.statistics_of(user_id=user_id)) is not None:
            travel.statistics.of(user_id)

    return _for_everybody(travel, "figures", warm)


def export_week(travel: Travel) -> int:
    """The file of the week for analytics, in parts; a round a week."""
    lines = list[bytes]()
    return walk_along_everybody(
        travel.repository,
        "analytics",
        lambda user_id: lines.extend(travel.exporting.lines(user_id)),
        every=WEEK,
        then=lambda user_ids: travel.exporting.part(user_ids, lines),
    )


# --- by an index ---


def tell_conflicts(travel: Travel) -> int:
    """Tell about what two devices disagree on, who wants it; how many were told. Lists what failed to the log.

    In rounds, some at a time: those that were told and that nobody settles are passed over, however many there are.
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
        except BadCursor:  # nobody went on for a day, or the secret of page tokens is another
            page = travel.repository.db.page(query, size=AT_ONCE, reader="jobs")
        return Stretch(page.items, page.next)

    told = list[bool]()
    walk(
        travel.repository,
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
    """A mail and a notice to each device, once in as long as it is `kept`.

    Whose it is stands there as a hash: a receipt outlives an erasure.
    """
    user_id = profile.user_id
    once = f"tell/{hashlib.sha256(f'{user_id}/{about}'.encode()).hexdigest()}"
    # Looked at before it is written: for most it was said long ago, and a refused transaction costs more than a look.
    if travel.repository.db.done(once) is not None:
        return False
    # Who signs in with Apple alone may have no address; and nobody is told who has gone meanwhile.
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
    """One device that cannot be reached keeps no other from being told."""
    try:
        travel.notifier.push(device, notice)
    except Exception as mistake:
        log.warning("a device was not told", extra={"mistake": type(mistake).__name__})


def erase(travel: Travel) -> int:
    """Erase accounts whose week is over; how many are gone for good by this."""
    return travel.privacy.erase_due()


def clean_restored(travel: Travel) -> int:
    """If the table is an older copy: erase again whoever was erased since it was made; how many came back (SK-D25).

    Done before anybody is served, and looked at now and then: a table may be restored under a running process.
    """
    if not travel.privacy.is_restored():
        return 0
    back = travel.privacy.apply_deletions()
    log.warning("a restored table was cleaned", extra={"came_back": back})
    return back


def publish_geography(travel: Travel) -> int:
    """The geography in the box, if the table has another; how many items were written.

    A later release stays: while a program is being replaced by its successor both run. Only an admin goes back.
    """
    return 0 if travel.places.is_outdated() else travel.places.publish()


# --- when ---

_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)
JOBS: tuple[Job[Travel], ...] = (
    Job("erasures", _MINUTE, erase, "Accounts whose week is over."),
    Job("restored", _HOUR, clean_restored, "Re-applies erasures after a restore."),
    Job("conflicts", _MINUTE, tell_conflicts, "Who has something to settle is told."),
    Job("recount", _MINUTE, recount, "Counts everybody's places, some at a time."),
    Job("visitors", _MINUTE, recount_regions, "Counts who has been to each region."),
    Job("tombstones", _MINUTE, purge_tombstones, "What every device knows is gone."),
    Job("addresses", _MINUTE, rekey, "Hashes of addresses, with the newest secret."),
    Job("figures", _MINUTE, warm_statistics, "Today's, for who had some yesterday."),
    Job("weekly", _MINUTE, weekly_statistics, "Mail with figures, to who wants it."),
    Job("inactive", _MINUTE, tell_inactive, "Mail to who was not seen for a year."),
    Job("analytics", _MINUTE, export_week, "The file of the week, without names."),
    # Thousands of writes: until they are done searches read the files.
    Job("geography", _HOUR, publish_geography, "Regions, for searches."),
)


def consumers(travel: Travel) -> tuple[Consumer, ...]:
    """Who follows the table's changes: figures, visitors of regions, lists after a switch was turned."""
    return (travel.follower(),)


def work(travel: Travel) -> Sequence[Job[Travel] | Follower[Travel]]:
    """Everything that runs without a request."""
    return (*(_follower(consumer) for consumer in consumers(travel)), *JOBS)


def _follower(consumer: Consumer) -> Follower[Travel]:
    about = "Figures, and who has been to a region."
    return Follower(f"changes of {consumer.table}", lambda _, stop: consumer.run(stop), about)
