"""What happens by itself: what follows a change, recounts, tombstones, figures of the day, erasures, mail, geography.

A push is done when it is answered, so there is no queue of operations to work off; what is left to do for operations is
to say that two devices disagree. Each job may be run at any time and any number of times, in any number of processes.
Must hold: a run is bounded by an index or a cursor; one traveller who cannot be dealt with keeps nobody else waiting.
Elsewhere: when they run (the app's schedule), walking along everybody (walking.py).
"""

import hashlib
import logging
from datetime import timedelta
from itertools import islice

from tablewright.mapping import Consumer
from tablewright.systems.travel import design as d
from tablewright.systems.travel.errors import NotThere
from tablewright.systems.travel.model import REGION_TYPES, Operation, Profile
from tablewright.systems.travel.outbox import Sender
from tablewright.systems.travel.service import Travel
from tablewright.systems.travel.walking import walk

log = logging.getLogger("tablewright.travel")

AT_ONCE, LOOKED_AT = 200, 5_000
REGIONS_AT_ONCE, REGIONS_EVERY = 20, timedelta(hours=6)
WEEK = timedelta(days=7)
# A conflict that is settled by then is nobody's mail.
TELL_AFTER = timedelta(hours=1)
INACTIVE_AFTER = timedelta(days=365)


def follower(travel: Travel) -> Consumer:
    """Who follows the table's changes: figures, visitors of regions, lists after a switch was turned."""
    return travel.follower()


# --- for everybody, some at a time ---


def recount(travel: Travel) -> int:
    """Compare what is counted with what is there, and put right what differs (SK-D19); a round a day."""
    return walk(travel.repository, "recount", lambda user_id: _recount(travel, user_id))


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

    def after(last: str | None) -> list[str]:
        return [name for name in sorted(regions) if last is None or name > last]

    return walk(
        travel.repository, "regions", recounted, every=REGIONS_EVERY, at_most=REGIONS_AT_ONCE, among=after
    )


def purge_tombstones(travel: Travel) -> int:
    """Remove tombstones that every device has seen (SK-D29); a round a day."""
    return walk(travel.repository, "tombstones", travel.feed.purge)


def rekey(travel: Travel) -> int:
    """Move addresses to the newest secret, so that an older one can be dropped after a round; a round a day."""

    def move(user_id: str) -> None:
        travel.accounts.rekey(travel.repository.profile(user_id))

    return walk(travel.repository, "rekey", move)


def weekly_statistics(travel: Travel) -> int:
    """A mail with the figures to who wants one; a round a week."""
    return walk(travel.repository, "weekly-statistics", lambda id: _tell_week(travel, id), every=WEEK)


def _tell_week(travel: Travel, user_id: str) -> None:
    profile = travel.repository.profile(user_id)
    if not profile.notification_settings.weekly_stats or profile.erases_at is not None:
        return
    now, figures = travel.repository.now(), travel.statistics.of(user_id)
    words = (
        f"You have been to {figures.countries_visited} countries ({figures.countries_percentage} %), "
        f"{figures.us_states_visited} states and {figures.canadian_provinces_visited} provinces, "
        f"on {len(figures.continents_visited)} continents."
    )
    _tell(travel, profile, "Your map this week", words, f"weekly/{now:%G-W%V}")


def tell_inactive(travel: Travel, *, after: timedelta = INACTIVE_AFTER) -> int:
    """A mail to who was not seen for a year, once. Nobody is erased by it; runs only if the app is told to (SK-D14)."""
    return walk(travel.repository, "inactive", lambda user_id: _tell_inactive(travel, user_id, after))


def _tell_inactive(travel: Travel, user_id: str, after: timedelta) -> None:
    profile, now = travel.repository.profile(user_id), travel.repository.now()
    seen = [device.last_seen_at for device in travel.repository.devices_of(user_id, revoked=True)]
    last = max(seen, default=profile.updated_at)
    if now - last < after or profile.erases_at is not None:
        return
    words = "Your map is still here. If you no longer want it, sign in and delete your account."
    _tell(travel, profile, "Are you still travelling?", words, f"inactive/{last:%Y-%m-%d}")


def warm_statistics(travel: Travel) -> int:
    """Today's figures for who had some in the last days, before they ask (SK-27); a round a day."""

    def warm(user_id: str) -> None:
        if travel.repository.db.first(d.statistics_of(user_id=user_id)) is not None:
            travel.statistics.of(user_id)

    return walk(travel.repository, "figures", warm)


def export_week(travel: Travel) -> int:
    """The file of the week for analytics, in parts; a round a week."""
    return walk(travel.repository, "analytics", _nothing, every=WEEK, then=travel.exporting.part)


def _nothing(user_id: str) -> None: ...


# --- by an index ---


def tell_conflicts(travel: Travel) -> int:
    """A mail about what two devices disagree on, to who wants it; each once. Lists what failed to the log."""
    now, told = travel.repository.now(), 0
    for operation in islice(travel.repository.db.all(d.operations_by_status(status="conflict")), LOOKED_AT):
        if now - operation.server_timestamp >= TELL_AFTER:
            told += _tell_conflict(travel, operation)
        if told >= AT_ONCE:
            break
    failed = sum(
        1 for _ in islice(travel.repository.db.all(d.operations_by_status(status="failed")), AT_ONCE)
    )
    if failed:
        log.info("operations refused", extra={"count": failed, "at_least": failed == AT_ONCE})
    return told


def _tell_conflict(travel: Travel, operation: Operation) -> bool:
    try:
        profile = travel.repository.profile(operation.user_id)
    except NotThere:
        return False
    if not profile.notification_settings.sync_conflicts:
        return False
    words = "Two of your devices say different things about a place. Open your map and choose."
    return _tell(travel, profile, "Which of the two is right?", words, f"conflict/{operation.operation_id}")


def _tell(travel: Travel, profile: Profile, subject: str, words: str, about: str) -> bool:
    """A mail, once. Whose it is stands in the receipt as a hash: receipts outlive an erasure."""
    if profile.email is None:
        return False
    mail = travel.outbox.mail(profile.user_id, profile.email, subject, words)
    whose = hashlib.sha256(f"{profile.user_id}/{about}".encode()).hexdigest()
    return not travel.repository.db.write(mail, once=f"tell/{whose}").repeated


def deliver(travel: Travel, send: Sender) -> tuple[int, int]:
    """Send what waits in the outbox; sent and failed."""
    return travel.outbox.deliver(send)


def erase(travel: Travel) -> int:
    """Erase accounts whose week is over; how many are gone for good by this."""
    return travel.privacy.erase_due()


def publish_geography(travel: Travel) -> int:
    """The geography in the box, if the table has another; how many items were written."""
    return travel.places.publish()
