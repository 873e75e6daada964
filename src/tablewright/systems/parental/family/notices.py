"""Automatic notices to families (PC-X10).

One if a change was not enforced for five minutes; one if a child had more blocked attempts in a day than the family's
limit. Must hold: each is sent once, however often and wherever these run: the message is written with a receipt.
Elsewhere: the weekly report (blocked/weekly_report.py), when they run (jobs.py), what sends messages (the app).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from tablewright.english import WEEKDAYS
from tablewright.kit.cache import MemoryCache
from tablewright.kit.tables import Actor, digest
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.enforcement.address_reuse import is_alert
from tablewright.systems.parental.enforcement.plan import NOT_NOW
from tablewright.systems.parental.model import EVERYTHING, Action, Child, Family, Message, Metric, OpenStatus
from tablewright.systems.parental.policy.windows import zone
from tablewright.systems.parental.repository import Repository

TELL_AFTER = timedelta(minutes=5)
FAILURES_SINCE = timedelta(days=1)
# How long a changed limit of a family may take to apply.
KNOWN_FOR = timedelta(seconds=15)
NO_LIMIT = -1
_REMEMBERED = 10_000


class Notices:
    """Writes notices to families."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._limits = MemoryCache[int](repository.world)
        # Children and days that were notified already.
        self._told: set[tuple[str, date]] = set()

    def sent_to(self, family: Family, reader: Actor, most: int) -> list[Message]:
        """The latest messages of a family that its reader may see, newest first."""
        own = field_rules.email_address(reader.email) if reader.email else None
        every = self._repository.db.all(d.outbox.of(family.family_id))
        found = [message for message in every if message.recipient == own]
        latest = sorted(found, key=lambda one: one.created_at, reverse=True)[:most]
        return [self._repository.outbox.masked(message) for message in latest]

    # --- what failed ---

    def failures(self) -> int:
        """Notify of changes that were not enforced for five minutes: each app of a child once a day.

        This includes a firewall that was not called because it is switched off or paused after failures.
        """
        now = self._repository.now()
        statuses: tuple[OpenStatus, ...] = ("failed", "pending")
        actions = [
            action
            for status in statuses
            for action in self._repository.db.all(
                d.actions_by_status(status=status, since=now - FAILURES_SINCE, until=now - TELL_AFTER)
            )
        ]
        # The newest of each, so that one message says how it is now.
        newest: dict[tuple[str, str], Action] = {}
        for action in sorted(actions, key=lambda one: one.occurred_at):
            newest[action.child, action.app_name] = action
        return sum([self._tell_of_failure(action) for action in newest.values()])

    def _tell_of_failure(self, action: Action) -> bool:
        child = self._repository.db.one(d.child_by_key(child=action.child))
        if child is None or child.released_at is not None:
            return False
        local = action.occurred_at.astimezone(zone(child.timezone))
        once = f"failed:{digest(action.child, action.app_name)}:{local:%Y-%m-%d}"
        values = {"child": child.child_name, "time": f"{local:%H:%M}"}
        if is_alert(action):
            told = {**values, "problem": str(action.error_message)}
            return self._tell(child, "blocked by mistake", told, once)
        told = {
            **values,
            "app": app_words(action.app_name),
            "action": "unblock" if action.action == "unblock" else "block",
            "problem": NOT_NOW,
        }
        return self._tell(child, "not enforced", told, once)

    def _tell(self, child: Child, template: str, values: Mapping[str, str], once: str) -> bool:
        to, about = [child.parent_email], [child.child]
        return tell(self._repository, to, child.family_id, template, values, once, about)

    # --- many attempts ---

    def blocked_often(self, touched: Iterable[tuple[str, date]]) -> int:
        """Notify of children with more blocked attempts in a day than their family's limit; once a day each.

        This runs after every counted batch, so limits are cached for a few seconds and missing ones are read together.
        """
        days = sorted(set(touched) - self._told)
        limits = self._known_limits({key for key, _ in days})
        return sum(
            [self._blocked_often(key, day, limits[key]) for key, day in days if limits[key] != NO_LIMIT]
        )

    def _known_limits(self, keys: Iterable[str]) -> dict[str, int]:
        """The limit of attempts in a day, by child."""
        marks = {key: self._limits.mark(key) for key in keys}
        limits = {key: self._limits.get(key, mark) for key, mark in marks.items()}
        for key, limit in self._read_limits([key for key, limit in limits.items() if limit is None]).items():
            self._limits.set(key, marks[key], limit, KNOWN_FOR)
            limits[key] = limit
        return {key: NO_LIMIT if limit is None else limit for key, limit in limits.items()}

    def _read_limits(self, keys: Sequence[str]) -> dict[str, int]:
        db = self._repository.db
        children = [
            child for child in db.many([d.child_by_key(child=key) for key in keys]) if child is not None
        ]
        ids = list(dict.fromkeys(child.family_id for child in children))
        found = dict(zip(ids, db.many([d.families.get(id) for id in ids]), strict=True))
        limits = {}
        for child in children:
            family = found[child.family_id]
            limit = None if family is None else family.alert_after_blocks
            limits[child.child] = NO_LIMIT if limit is None else limit
        return limits

    def _blocked_often(self, key: str, day: date, limit: int) -> bool:
        metrics = list(self._repository.db.all(d.metrics_of_child(child=key, since=day, until=day)))
        total = sum(metric.blocked_count for metric in metrics)
        child = self._repository.db.one(d.child_by_key(child=key)) if total >= limit else None
        if child is None:
            return False
        apps = most(metrics)
        values = {
            "child": child.child_name,
            "count": str(total),
            "day": WEEKDAYS[day.weekday()],
            "apps": ", ".join(f"{app_words(app)} ({count})" for app, count in apps),
        }
        once = f"often:{digest(key)}:{day.isoformat()}"
        now = self._tell(child, "blocked often", values, once)
        if len(self._told) >= _REMEMBERED:
            self._told.clear()  # a repeated notice finds the receipt
        self._told.add((key, day))
        return now


def tell(
    repository: Repository,
    to: Sequence[str],
    family_id: str,
    template: str,
    values: Mapping[str, str],
    once: str,
    children: Sequence[str],
) -> bool:
    """Write a message to people of a family about its children, once; False if it was written before."""
    messages = [
        repository.outbox.mail(address, template, values, family_id, children=children) for address in to
    ]
    return not repository.db.write(*messages, once=once).repeated


# --- words ---


def app_words(app: str) -> str:
    """The name of an app for people."""
    return "Everything" if app == EVERYTHING else app


def most(metrics: Iterable[Metric], count: int = 5) -> tuple[tuple[str, int], ...]:
    """The apps that were blocked most often, and how often."""
    sums: Counter[str] = Counter()
    for metric in metrics:
        sums[metric.app_name] += metric.blocked_count
    return tuple(sums.most_common(count))
