"""What was done and counted, to be read: the history of enforcement, rules, metrics (PC-21 to PC-23, PC-28 to PC-30).

Every child that comes in here was looked up by family/families.py. Elsewhere: sums and pictures of metrics
(blocked/dashboard.py), who writes all this (reconciler.py, blocked/ingest.py).
"""

import re
from datetime import UTC, date, datetime

from tablewright.edge.errors import BadRequest, NotFound
from tablewright.kit.tables import Actor
from tablewright.mapping import Page
from tablewright.systems.parental import design as d
from tablewright.systems.parental.family.families import Families
from tablewright.systems.parental.model import (
    Action,
    Child,
    Metric,
    OpenStatus,
    RuleMapping,
    Value,
)
from tablewright.systems.parental.repository import Repository

# Attempts of one page of failing rules, and of one rule that are listed.
ATTEMPTS, LISTED = 200, 10
_FAILURE = re.compile(r"([0-9a-f]{9,12})\.([\x21-\x7e]{1,100})")


class FailingRule(Value):
    """A rule that is not as it should be: its newest open attempt, and the latest of them (the newest first)."""

    newest: Action
    latest: list[Action]
    tried: int
    since: datetime
    next_try_at: datetime | None = None


class Records:
    """Reads of what happened."""

    def __init__(self, repository: Repository, families: Families) -> None:
        self._repository, self._families = repository, families

    # --- enforcement ---

    def history(
        self,
        child: Child,
        reader: Actor,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        size: int | None = None,
        after: str | None = None,
    ) -> Page[Action]:
        """PC-21, PC-22: what was done for a child, newest first."""
        _in_order(since, until)
        query = d.actions_of_child(child=child.child, since=since, until=until)
        return self._repository.page(query, size, after, reader.subject)

    def failures(
        self,
        reader: Actor,
        status: OpenStatus = "failed",
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        size: int | None = None,
        after: str | None = None,
    ) -> Page[Action]:
        """PC-23: what failed or waits, newest first; for operators."""
        _in_order(since, until)
        query = d.actions_by_status(status=status, since=since, until=until)
        return self._repository.page(query, size, after, reader.subject)

    def failing_rules(
        self, reader: Actor, status: OpenStatus = "failed", after: str | None = None
    ) -> Page[FailingRule]:
        """A page of failures by rule. A rule that was tried very often may be on the next page as well."""
        page = self.failures(reader, status, size=ATTEMPTS, after=after)
        attempts: dict[tuple[str, str], list[Action]] = {}
        for action in page.items:
            attempts.setdefault(rule_of(action), []).append(action)
        found = self._repository.db.many([d.rules.get(*key) for key in attempts])
        rules = [_failing(each, rule) for each, rule in zip(attempts.values(), found, strict=True)]
        return Page(tuple(rules), page.next, page.read_units)

    def failure(self, failure_id: str) -> Action:
        """One of the list, by its place in it."""
        found = _FAILURE.fullmatch(failure_id)
        if found is not None:
            moment = datetime.fromtimestamp(int(found[1], 16) / 1000, UTC)
            for status in ("failed", "pending"):
                for action in self._repository.db.all(
                    d.actions_by_status(status=status, since=moment, until=moment)
                ):
                    if action.action_id == found[2]:
                        return action
        raise NotFound("FAILURE", "There is no such failure, or it has been resolved.")

    def rules(self, child: Child) -> list[RuleMapping]:
        """PC-35: the rules of a child."""
        return list(self._repository.db.all(d.rules_of_child(child=child.child)))

    def rule(self, child: str, rule_id: str) -> RuleMapping | None:
        """A rule as it is now; None if it was removed."""
        return self._repository.db.one(d.rules.get(child, rule_id), consistent=True)

    def all_rules_of_device(self, device_id: str) -> list[RuleMapping]:
        """Our records of all rules on a device."""
        return list(self._repository.db.all(d.rules_of_device(device_id=device_id)))

    def rules_of_device(
        self, device_id: str, reader: Actor, size: int | None = None, after: str | None = None
    ) -> Page[RuleMapping]:
        """The rules of a device, those verified longest ago first; for operators."""
        return self._repository.page(d.rules_of_device(device_id=device_id), size, after, reader.subject)

    # --- metrics ---

    def metrics(
        self, child: Child, since: date | None = None, until: date | None = None, app: str | None = None
    ) -> list[Metric]:
        """PC-28, PC-30: a child's metrics from a day to a day, of one app if wanted."""
        _in_order(since, until)
        if app is not None and since is not None and since == until:
            one = self._repository.db.one(d.metric_of_day(child=child.child, date=since, app_name=app))
            return [one] if one is not None else []
        found = self._repository.db.all(d.metrics_of_child(child=child.child, since=since, until=until))
        return [metric for metric in found if app is None or metric.app_name == app]

    def metrics_of_parent(
        self,
        reader: Actor,
        email: str | None = None,
        *,
        since: date | None = None,
        until: date | None = None,
        size: int | None = None,
        after: str | None = None,
    ) -> Page[Metric]:
        """PC-29: a parent's metrics, the newest day first. NOT_GUARDIAN for an address that is not the reader's."""
        _in_order(since, until)
        address = self._families.address_of(reader, email)
        children = {child.child for child in self._families.children(reader)}
        query = d.metrics_of_parent(parent_email=address, since=since, until=until)
        page = self._repository.page(query, size, after, reader.subject)
        own = tuple(metric for metric in page.items if metric.child in children)
        return Page(own, page.next, page.read_units)


def rule_of(action: Action) -> tuple[str, str]:
    """What an attempt is about; without a rule, the app."""
    return action.child, action.rule_id or f"app {action.app_name}"


def _failing(attempts: list[Action], rule: RuleMapping | None) -> FailingRule:
    """With what the rule itself knows. An alert about an address has no rule, and neither has one that just went."""
    failing = FailingRule(
        newest=attempts[0],
        latest=attempts[:LISTED],
        tried=attempts[0].attempt,
        since=attempts[-1].occurred_at,
    )
    if rule is None or rule.failing_since is None:
        return failing
    known = {"tried": rule.attempt, "since": rule.failing_since, "next_try_at": rule.next_try_at}
    return failing.model_copy(update=known)


def _in_order(since: date | None, until: date | None) -> None:
    if since is not None and until is not None and until < since:
        raise BadRequest("DATE_ORDER", "The end is before the start.", "to")
