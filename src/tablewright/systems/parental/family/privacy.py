"""What is kept about a child, to be taken away and to be erased (PC-X12).

Must hold: an export has everything that is kept; after an erasure no table says anything of the child. What backups
hold goes when they do: point-in-time recovery keeps 35 days. Elsewhere: what is kept where (subjects.py), the
runs of an erasure (erasure.py), the end of a whole family (deletion.py).
"""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

from tablewright.kit.tables import Actor
from tablewright.systems.parental import design as d
from tablewright.systems.parental.family import erasure
from tablewright.systems.parental.family.subjects import FamilySubjects, exported
from tablewright.systems.parental.family.tasks import FamilyTasks
from tablewright.systems.parental.model import Action, Child, FamilyTask, Metric, Policy
from tablewright.systems.parental.policy.windows import text as window_text
from tablewright.systems.parental.repository import Repository

BACKUPS = "Older backups still contain it until they expire, within 35 days."
Sheet = Literal["policies", "history", "metrics"]
_HOURS = tuple(f"{hour:02}" for hour in range(24))


class Privacy:
    """Export and erasure of a child. Who may is decided before (families.py)."""

    def __init__(self, repository: Repository, tasks: FamilyTasks, people: FamilySubjects) -> None:
        self._repository, self._tasks, self.people = repository, tasks, people

    def export(self, child: Child) -> dict[str, Any]:
        """Everything kept about a child."""
        moment = self._repository.now().isoformat()
        return {"exportedAt": moment, **self.people.child.export(exported(child))}

    def sheet(self, child: Child, of: Sheet) -> str:
        """One list of a child as CSV."""
        db, key = self._repository.db, child.child
        match of:
            case "policies":
                return _csv(_POLICY, (_policy_row(one) for one in db.all(d.policies_of_child(child=key))))
            case "history":
                return _csv(_ACTION, (_action_row(one) for one in db.all(d.actions_of_child(child=key))))
            case "metrics":
                return _csv(_METRIC, (_metric_row(one) for one in db.all(d.metrics_of_child(child=key))))

    def erase(self, child: Child, actor: Actor) -> FamilyTask:
        """Erase a child: what can be erased at once, the rest later; the returned task says what it waits for."""
        task = self._repository.retried(None, lambda: erasure.begin(self._repository, child.child, actor))
        return self._tasks.run(task)


# --- sheets ---

_POLICY = ("policyId", "status", "apps", "windows", "timezone", "createdAt", "updatedAt", "notes")
_ACTION = ("occurredAt", "action", "appName", "status", "attempt", "durationMs", "privateIP", "error")
_METRIC = ("date", "appName", "blockedCount", "first", "last", "timezone", *_HOURS)


def _policy_row(policy: Policy) -> Sequence[object]:
    return (
        policy.policy_id,
        policy.status,
        "; ".join(entry.app_name for entry in policy.blocked_apps),
        "; ".join(window_text(window) for window in policy.time_windows) or "always",
        policy.timezone or "",
        policy.created_at,
        policy.updated_at,
        policy.notes or "",
    )


def _action_row(action: Action) -> Sequence[object]:
    return (
        action.occurred_at,
        action.action,
        action.app_name,
        action.status,
        action.attempt,
        action.duration_ms,
        action.private_ip,
        action.error_message or "",
    )


def _metric_row(metric: Metric) -> Sequence[object]:
    hours = (metric.hourly.get(hour, 0) for hour in _HOURS)
    first, last = metric.timestamp_first or "", metric.timestamp_last or ""
    return (metric.date, metric.app_name, metric.blocked_count, first, last, metric.tz, *hours)


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(head)
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    # A spreadsheet would run what begins like a formula.
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value
