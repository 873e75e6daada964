"""Notices to travellers, by mail and to their devices: conflicts, weekly statistics, a long absence (SK-E5).

A `Notifier` delivers one to a device, for example through Apple's push service with the app's tokens. The built-in one
only logs that there was a notification. Must hold: a notice is sent once; it contains no place and no notes, since it
appears on a locked screen; nothing depends on a notification, so a lost one is not repeated.
Elsewhere: when they are sent (jobs.py), mail (outbox.py).
"""

import hashlib
import logging
from collections.abc import Mapping
from datetime import timedelta
from itertools import islice
from typing import Any, Protocol, TypeAlias

from tablewright.design import Write
from tablewright.kit.messages import render
from tablewright.kit.rounds import Stretch
from tablewright.mapping import BadCursor
from tablewright.systems.travel import design as d
from tablewright.systems.travel.model import Device, Operation, Profile
from tablewright.systems.travel.outbox import TEMPLATES, Outbox
from tablewright.systems.travel.places.statistics import Statistics
from tablewright.systems.travel.repository import Repository

log = logging.getLogger("tablewright.travel")

CONFLICTS_AT_ONCE, CONFLICTS_EVERY = 200, timedelta(minutes=10)
# A conflict that is resolved by then needs no mail.
TELL_AFTER = timedelta(hours=1)
INACTIVE_AFTER = timedelta(days=365)
RECEIPTS_KEPT = timedelta(days=30)

# `kind` for the app, such as conflict; `title` and `body` for people.
Notice: TypeAlias = Mapping[str, str]


class Notifier(Protocol):
    """Delivers notifications. An exception concerns this device and this notification only, and is not retried."""

    def push(self, device: Device, payload: Notice) -> None: ...


class Logged:
    """Delivers nothing: it logs the kind of the notification and of the device, without names."""

    def push(self, device: Device, payload: Notice) -> None:
        log.info("a notice for a device", extra={"kind": payload["kind"], "platform": device.platform})


class Notices:
    """Sends notices to travellers who want them."""

    def __init__(
        self, repository: Repository, outbox: Outbox, statistics: Statistics, notifier: Notifier
    ) -> None:
        self._repository, self._outbox, self._statistics = repository, outbox, statistics
        self.notifier = notifier

    def week(self, user_id: str) -> None:
        """Send the weekly statistics to a traveller who wants them."""
        profile = self._repository.profile(user_id)
        if not profile.notification_settings.weekly_stats or profile.erases_at is not None:
            return
        now, figures = self._repository.now(), self._statistics.of(user_id)
        values = {
            "countries": str(figures.countries_visited),
            "percentage": str(figures.countries_percentage),
            "states": str(figures.us_states_visited),
            "provinces": str(figures.canadian_provinces_visited),
            "continents": str(len(figures.continents_visited)),
        }
        self._tell(profile, "week", values, f"weekly/{now:%G-W%V}")

    def inactive(self, user_id: str, after: timedelta = INACTIVE_AFTER) -> None:
        """Write to a traveller who was not seen for so long, once in that time. It erases no account (SK-D14)."""
        profile, now = self._repository.profile(user_id), self._repository.now()
        seen = [device.last_seen_at for device in self._repository.devices_of(user_id, revoked=True)]
        last = max(seen, default=profile.updated_at)
        if now - last < after or profile.erases_at is not None:
            return
        self._tell(profile, "inactive", {}, f"inactive/{last:%Y-%m-%d}", kept=after)

    def conflicts(self) -> int:
        """Report conflicts to travellers who want that; returns how many. Logs the number of refused operations.

        In rounds, some at a time: conflicts that were reported and are still open are passed over, however many there
        are.
        """
        db = self._repository.db
        failed = sum(1 for _ in islice(db.all(d.operations_by_status(status="failed")), CONFLICTS_AT_ONCE))
        if failed:
            extra = {"count": failed, "at_least": failed == CONFLICTS_AT_ONCE}
            log.info("operations refused", extra=extra)

        def among(after: str | None) -> Stretch[Operation]:
            query = d.operations_by_status(status="conflict")
            try:
                page = db.page(query, size=CONFLICTS_AT_ONCE, after=after, reader="jobs")
            except BadCursor:  # the cursor is older than a day, or the secret of page tokens has changed
                page = db.page(query, size=CONFLICTS_AT_ONCE, reader="jobs")
            return Stretch(page.items, page.next)

        told = list[bool]()
        d.rounds.run(
            db,
            "conflicts",
            among,
            lambda operation: told.append(self._tell_conflict(operation)),
            every=CONFLICTS_EVERY,
        )
        return sum(told)

    # --- parts ---

    def _tell_conflict(self, operation: Operation) -> bool:
        if self._repository.now() - operation.server_timestamp < TELL_AFTER:
            return False
        profile = self._repository.profile(operation.user_id)
        if not profile.notification_settings.sync_conflicts or profile.erases_at is not None:
            return False
        return self._tell(profile, "conflict", {}, f"conflict/{operation.operation_id}")

    def _tell(
        self,
        profile: Profile,
        template: str,
        values: Mapping[str, str],
        about: str,
        kept: timedelta = RECEIPTS_KEPT,
    ) -> bool:
        """Send a mail, and a notification to each device; once for as long as the receipt is `kept`.

        The receipt names the traveller as a hash, because it outlives an erasure.
        """
        user_id, db = profile.user_id, self._repository.db
        once = f"tell/{hashlib.sha256(f'{user_id}/{about}'.encode()).hexdigest()}"
        # Read before writing: for most travellers it was sent long ago, and a refused transaction costs more than a
        # read.
        if db.done(once) is not None:
            return False
        # A traveller who only signs in with Apple may have no address. The check refuses if the account was erased
        # since.
        said: list[Write[Any]] = [d.profiles.check(user_id).when(lambda it: it.user_id == user_id)]
        if profile.email is not None:
            said.append(self._outbox.mail(user_id, profile.email, template, values))
        if db.write(*said, once=once, kept=kept).repeated:
            return False
        text = render(TEMPLATES[template], values)
        notice = {"kind": about.partition("/")[0], "title": text.subject, "body": text.body}
        for device in self._repository.devices_of(user_id):
            self._notify(device, notice)
        return True

    def _notify(self, device: Device, notice: Notice) -> None:
        """An error with one device does not stop the notifications to the others."""
        try:
            self.notifier.push(device, notice)
        except Exception as mistake:
            log.warning("notification not delivered", extra={"mistake": type(mistake).__name__})
