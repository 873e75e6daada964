"""Short words to devices themselves: that two of them disagree, the figures of the week (SK-E5).

A `Notifier` takes one to a device: Apple's push service for who has an app, with the tokens that app was given. The one
in the box writes down that there was something to say. Must hold: nothing of a place or of what was written there is in
a notice, since it lies on a locked screen; nothing rests on it, so one that is lost is lost.
Elsewhere: what is said, when, and once (jobs.py); the same by mail (outbox.py).
"""

import logging
from collections.abc import Mapping
from typing import Protocol, TypeAlias

from tablewright.systems.travel.model import Device

log = logging.getLogger("tablewright.travel")

# `kind` for the app, such as conflict; `title` and `body` for people.
Notice: TypeAlias = Mapping[str, str]


class Notifier(Protocol):
    """A way to devices. Whatever it raises is about this device and this notice, and is not tried again."""

    def push(self, device: Device, payload: Notice) -> None: ...


class Logged:
    """No way to devices: the log says what would have gone to which kind of device, and to nobody by name."""

    def push(self, device: Device, payload: Notice) -> None:
        log.info("a notice for a device", extra={"kind": payload["kind"], "platform": device.platform})
