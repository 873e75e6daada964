"""Delivers the systems' messages, round by round, and records why delivery fails.

Must hold: no part of a message is logged; after a stop no further message is started.
"""

import logging
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from tablewright.app.mail.directory import Directory
from tablewright.app.mail.smtp import Smtp
from tablewright.kit.delivery import DeliveryCounts, OutboxDispatch, OutgoingMessage

log = logging.getLogger("tablewright.mail")

LOOK_SECONDS, LONGEST_PAUSE = 2.0, 60.0
TIDY_EVERY = timedelta(hours=1)
Way: TypeAlias = Directory | Smtp


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why no mail of a system is sent, and since when."""

    why: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Mail:
    """How mail is sent, and current failures by system."""

    way: Way
    troubles: dict[str, Trouble] = field(default_factory=dict)

    def deliver(
        self, system: str, title: str, dispatch: OutboxDispatch[Any], stop: threading.Event
    ) -> DeliveryCounts:
        """One round of a system; a failure is logged once, and its end."""

        def send(letter: OutgoingMessage) -> None:
            if stop.is_set():
                raise InterruptedError  # the rest is for the next start
            way(letter)

        with self.way.opened(title) as way:
            done = dispatch.run(send)
        before = self.troubles.get(system)
        if done.unavailable is None or stop.is_set():
            if before is not None and (done.sent or done.failed):
                del self.troubles[system]
                log.info("mail leaves again", extra={"system": system})
        elif before is None or before.why != done.unavailable:
            self.troubles[system] = Trouble(done.unavailable, before.since if before else dispatch.now())
            log.warning("mail does not leave", extra={"system": system, "why": done.unavailable})
        return done

    def watch(self, system: str, title: str, dispatch: OutboxDispatch[Any], stop: threading.Event) -> None:
        """Send waiting messages until stopped; less often while nothing can be sent."""
        pause, tidied = LOOK_SECONDS, datetime.min.replace(tzinfo=UTC)
        while True:
            if isinstance(self.way, Directory) and dispatch.now() - tidied >= TIDY_EVERY:
                self.way.prune(tidied := dispatch.now())
            done = self.deliver(system, title, dispatch, stop)
            pause = LOOK_SECONDS if done.unavailable is None else min(pause * 2, LONGEST_PAUSE)
            if stop.wait(pause):
                return
