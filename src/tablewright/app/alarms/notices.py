"""Who hears of an alarm: people by mail, a webhook, the log.

Must hold: what is sent is written with the change it tells of, so a change is told of once, also after a crash and with
several processes; one process at a time makes calls of the webhook (runtime.py); nothing of the mail is logged.
Elsewhere: the changes (states.py), the texts of mail and how it leaves (app/mail/), the webhook's call (webhook.py).
"""

import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from tablewright.app.alarms.declared import DeclaredAlarm
from tablewright.app.alarms.design import CALLS_KEPT, AlarmChange
from tablewright.app.alarms.webhook import Webhook
from tablewright.design import Write
from tablewright.english import number
from tablewright.kit.delivery import OutgoingMessage
from tablewright.kit.messages import Template
from tablewright.kit.outbox import Mailbox

log = logging.getLogger("tablewright.alarms")

# The body of a webhook's call is stored as one value.
CALL = {"call": Template("alarm", "{json}")}
MAIL_KEPT = timedelta(days=2)
# How often calls that are due are looked for.
LOOK_SECONDS = 5.0
# Each mail is a part of the transaction that changes the state, which has a limit.
MOST_RECIPIENTS = 50


@dataclass(frozen=True, slots=True)
class AlarmNotices:
    """How a server tells of its alarms. `url` is that of its console, if it has one."""

    mail: Mailbox[Any]
    recipients: Callable[[], Sequence[str]]
    calls: Mailbox[Any]
    webhook: Webhook | None = None
    url: str = ""

    def writes(self, declared: DeclaredAlarm, change: AlarmChange) -> Iterator[Write[Any]]:
        """What is to be written with a change: only ALARM, and the end of it, are told of."""
        if "ALARM" not in (change.state, change.before) or change.state == "INSUFFICIENT_DATA":
            return
        actions = declared.alarm.actions
        if "mail" in actions:
            template = "alarm" if change.state == "ALARM" else "alarm over"
            for address in sorted(set(self.recipients()))[:MOST_RECIPIENTS]:
                yield self.mail.mail(address, template, self._values(declared, change), kept=MAIL_KEPT)
        if "webhook" in actions and self.webhook is not None:
            body = json.dumps(self._facts(declared, change))
            yield self.calls.mail("webhook", "call", {"json": body}, kept=CALLS_KEPT)

    def deliver(self, stop: threading.Event | None = None) -> None:
        """Make the calls of the webhook that are due; none is begun once `stop` is set."""
        if self.webhook is None:
            return
        send = self.webhook.send

        def unless_stopped(message: OutgoingMessage) -> None:
            if stop is not None and stop.is_set():
                raise InterruptedError  # the rest is for the process that has the lease next
            send(message)

        self.calls.dispatch().run(unless_stopped)

    def watch(self, stop: threading.Event) -> None:
        """Make the calls that are due, until stopped."""
        while not stop.is_set():
            self.deliver(stop)
            stop.wait(LOOK_SECONDS)

    def log(self, declared: DeclaredAlarm, change: AlarmChange) -> None:
        """Log a change: the start of an alarm as an error, what else is told of as a warning."""
        if "log" not in declared.alarm.actions:
            return
        level = {"ALARM": logging.ERROR}.get(
            change.state, logging.WARNING if change.before == "ALARM" else logging.INFO
        )
        facts = {"system": declared.system, "alarm": declared.name, "state": change.state}
        value = None if change.value is None else float(change.value)
        log.log(level, "an alarm changed", extra={**facts, "before": change.before, "value": value})

    def _values(self, declared: DeclaredAlarm, change: AlarmChange) -> dict[str, str]:
        return {
            "alarm": declared.name,
            "system": declared.title,
            "at": f"{change.at:%Y-%m-%d %H:%M} UTC",
            "condition": declared.alarm.condition,
            "value": "not known" if change.value is None else number(round(float(change.value), 3)),
            "advice": f"What to do: {declared.alarm.advice}.\n" if declared.alarm.advice else "",
            "link": f"{self.url}{page_of(declared)}\n" if self.url else "",
        }

    def _facts(self, declared: DeclaredAlarm, change: AlarmChange) -> dict[str, object]:
        alarm = declared.alarm
        return {
            "alarm": f"{declared.system}/{declared.name}",
            "state": change.state,
            "before": change.before,
            "at": change.at.isoformat(),
            "value": None if change.value is None else float(change.value),
            "metric": alarm.metric,
            "namespace": alarm.namespace,
            "table": declared.series.table or None,
            "index": alarm.index or None,
            "statistic": alarm.statistic,
            "threshold": float(alarm.threshold),
            "comparison": alarm.comparison,
            "condition": alarm.condition,
            "advice": alarm.advice,
        }


def page_of(declared: DeclaredAlarm) -> str:
    """The path of an alarm's page."""
    one = f"?series={quote(declared.name)}" if declared.series.table else ""
    return f"/console/designs/alarms/{declared.system}/{quote(declared.alarm.name)}{one}"
