"""Push notifications to devices: conflicts, weekly statistics (SK-E5).

A `Notifier` delivers one to a device, for example through Apple's push service with the app's tokens. The built-in one
only logs that there was a notification. Must hold: a notification contains no place and no notes, since it appears on a
locked screen; nothing depends on it, so a lost one is not repeated.
Elsewhere: which are sent, when, and once (jobs.py); the same by mail (outbox.py).
"""

import logging
from collections.abc import Mapping
from typing import Protocol, TypeAlias

from tablewright.systems.travel.model import Device

log = logging.getLogger("tablewright.travel")

# `kind` for the app, such as conflict; `title` and `body` for people.
Notice: TypeAlias = Mapping[str, str]


class Notifier(Protocol):
    """Delivers notifications. An exception concerns this device and this notification only, and is not retried."""

    def push(self, device: Device, payload: Notice) -> None: ...


class Logged:
    """Delivers nothing: it logs the kind of the notification and of the device, without names."""

    def push(self, device: Device, payload: Notice) -> None:
        log.info("a notice for a device", extra={"kind": payload["kind"], "platform": device.platform})
