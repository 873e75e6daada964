"""What families are told by themselves, and how messages leave the outbox (PC-X10).

Something has not been enforced for five minutes; a child was stopped more often in a day than its family wants to know
of; the report of a week. Must hold: each is told once, however often and wherever these run: the message is written
with a receipt. Elsewhere: when they run (jobs.py), what sends messages (the app).
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TypeAlias

from tablewright.mapping import ConditionNotMet, Missing, Stale
from tablewright.systems.parental import design as d
from tablewright.systems.parental import rules
from tablewright.systems.parental.addresses import is_alert
from tablewright.systems.parental.model import EVERYTHING, Action, Child, Family, Message, Metric
from tablewright.systems.parental.repository import Repository
from tablewright.systems.parental.windows import zone

log = logging.getLogger("tablewright.parental")

TELL_AFTER = timedelta(minutes=5)
FAILURES_SINCE = timedelta(days=1)
REPORT_HOUR = time(7)
ATTEMPTS = 5
# Mail goes to addresses, text messages to numbers; OSError means it may work later.
Sender: TypeAlias = Callable[[Message], None]


@dataclass(frozen=True, slots=True)
class WeekOfChild:
    """A child's week in figures."""

    name: str
    attempts: int
    before: int
    apps: tuple[tuple[str, int], ...]


class Notices:
    """Tells families what they want to know."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        # When each family's next report is due, as far as this process knows: it need not look before.
        self._due: dict[str, datetime] = {}

    def run(self) -> int:
        """What is due; how many messages were written."""
        return self.failures() + self.weekly()

    # --- what failed ---

    def failures(self) -> int:
        """Tell of what could not be enforced for five minutes: each app of a child once a day."""
        now = self._repository.now()
        query = d.actions_by_status(status="failed", since=now - FAILURES_SINCE, until=now - TELL_AFTER)
        told = 0
        # The newest of each, so that one message says how it is now.
        seen: set[tuple[str, str]] = set()
        for action in self._repository.db.all(query):
            if (action.child, action.app_name) not in seen:
                seen.add((action.child, action.app_name))
                told += self._tell_of_failure(action)
        return told

    def _tell_of_failure(self, action: Action) -> bool:
        child = self._repository.db.one(d.child_by_key(child=action.child))
        if child is None or child.released_at is not None:
            return False
        local = action.occurred_at.astimezone(zone(child.timezone))
        once = f"failed:{rules.digest(action.child, action.app_name)}:{local:%Y-%m-%d}"
        if is_alert(action):
            subject = f"{child.child_name} may be blocked by mistake"
            body = (
                f"Since {local:%H:%M} something may not work for {child.child_name} that should: "
                f"{action.error_message}. We keep trying to put it right."
            )
            return self._tell([child.parent_email], child.family_id, subject, body, once)
        app = app_words(action.app_name)
        doing = "unblock" if action.action == "unblock" else "block"
        body = (
            f"Since {local:%H:%M} we could not {doing} {app} for {child.child_name}: "
            f"{action.error_message or 'the firewall does not answer'}. We keep trying."
        )
        return self._tell([child.parent_email], child.family_id, f"{app} is not {doing}ed", body, once)

    # --- many attempts ---

    def blocked_often(self, touched: Iterable[tuple[str, date]]) -> int:
        """Tell of children that were stopped more often in a day than their family set; once a day each."""
        return sum([self._blocked_often(child, day) for child, day in sorted(touched)])

    def _blocked_often(self, key: str, day: date) -> bool:
        child = self._repository.db.one(d.child_by_key(child=key))
        if child is None:
            return False
        family = self._repository.db.one(d.families.get(child.family_id))
        if family is None or family.alert_after_blocks is None:
            return False
        metrics = list(self._repository.db.all(d.metrics_of_child(child=key, since=day, until=day)))
        total = sum(metric.blocked_count for metric in metrics)
        if total < family.alert_after_blocks:
            return False
        most = _most(metrics)
        body = (
            f"{child.child_name} was stopped {total} times on {day:%A}. "
            f"Most often: {', '.join(f'{app_words(app)} ({count})' for app, count in most)}."
        )
        once = f"often:{rules.digest(key)}:{day.isoformat()}"
        subject = f"{child.child_name}: {total} blocked attempts"
        return self._tell([child.parent_email], child.family_id, subject, body, once)

    # --- the week ---

    def weekly(self) -> int:
        """The report of the week that ended, from Monday seven o'clock on the clock of the first child."""
        now = self._repository.now()
        families = self._repository.db.all(d.all_families())
        return sum(
            [self._weekly(family) for family in families if self._due.get(family.family_id, now) <= now]
        )

    def _weekly(self, family: Family) -> bool:
        children = self._repository.children_of(family.family_id)
        if not children:
            return False
        clock = zone(children[0].timezone)
        local = self._repository.now().astimezone(clock)
        monday = local.date() - timedelta(days=local.weekday())
        if local.date() == monday and local.time() < REPORT_HOUR:
            return False
        self._due[family.family_id] = datetime.combine(monday + timedelta(days=7), REPORT_HOUR, clock)
        once = f"weekly:{family.family_id}:{monday.isoformat()}"
        # What was there before the week began is not reported on for the time before.
        if family.created_at.date() >= monday or self._repository.db.done(once, d.PARENTAL) is not None:
            return False
        first = monday - timedelta(days=7)
        weeks = [self._week(child, first) for child in children]
        to = [guardian.email for guardian in self._repository.guardians_of(family.family_id)]
        subject = f"The week of {family.name}"
        return self._tell(to, family.family_id, subject, report(weeks, first), once)

    def _week(self, child: Child, first: date) -> WeekOfChild:
        since, until = first - timedelta(days=7), first + timedelta(days=6)
        metrics = list(
            self._repository.db.all(d.metrics_of_child(child=child.child, since=since, until=until))
        )
        now = [metric for metric in metrics if metric.date >= first]
        before = sum(metric.blocked_count for metric in metrics if metric.date < first)
        total = sum(metric.blocked_count for metric in now)
        return WeekOfChild(child.child_name, total, before, _most(now))

    def _tell(self, to: Sequence[str], family_id: str, subject: str, body: str, once: str) -> bool:
        messages = [self._repository.message(address, family_id, subject, body) for address in to]
        return not self._repository.db.write(*messages, once=once).repeated

    # --- the outbox ---

    def deliver(self, send: Sender) -> tuple[int, int]:
        """Send what waits; sent and failed. A message may go twice if we die in between, never be lost."""
        sent = failed = 0
        for message in list(self._repository.db.all(d.messages_by_state(state="PENDING"))):
            attempts = message.attempts + 1
            try:
                send(message)
                after = message.model_copy(update={"state": "SENT", "attempts": attempts})
                sent += 1
            except OSError as error:
                log.warning(
                    "message not delivered",
                    extra={"mistake": type(error).__name__, "message_id": message.message_id},
                )
                state = "FAILED" if attempts >= ATTEMPTS else "PENDING"
                after = message.model_copy(update={"state": state, "attempts": attempts})
                failed += 1
            try:
                self._repository.db.write(d.messages.change(message, after))
            except (Stale, Missing, ConditionNotMet):
                continue  # another run took it, or it was erased
        return sent, failed


# --- words ---


def report(weeks: Sequence[WeekOfChild], first: date) -> str:
    """A week in sentences."""
    until = first + timedelta(days=6)
    lines = [f"Blocked attempts from {first:%d %B} to {until:%d %B}."]
    for week in weeks:
        change = week.attempts - week.before
        compared = "as many as" if not change else f"{abs(change)} {'more' if change > 0 else 'fewer'} than"
        lines.append(f"\n{week.name}: {week.attempts}, {compared} the week before.")
        lines += [f"  {app_words(app)}: {count}" for app, count in week.apps]
    return "\n".join(lines)


def app_words(app: str) -> str:
    """An app as people call it."""
    return "Everything" if app == EVERYTHING else app


def _most(metrics: Iterable[Metric], count: int = 5) -> tuple[tuple[str, int], ...]:
    sums: Counter[str] = Counter()
    for metric in metrics:
        sums[metric.app_name] += metric.blocked_count
    return tuple(sums.most_common(count))
