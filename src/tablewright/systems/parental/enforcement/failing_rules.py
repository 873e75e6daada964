"""What does not succeed, rule by rule: how often it was tried and why it failed, since when, and when it is tried next.

The list of open matters (PC-23) has an entry for each attempt; here a rule stands once, where its newest one stands.
Must hold: each rule is on one page only; a page reads a bounded number of attempts, so one may be
short, even empty, and not the last. Elsewhere: the attempts themselves (history.py), who makes them (apply.py).
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from tablewright.kit.tables import Actor
from tablewright.mapping import Page
from tablewright.systems.parental import design as d
from tablewright.systems.parental.model import Action, OpenStatus, RuleMapping, Value
from tablewright.systems.parental.repository import Repository

PAGE = 50
# Attempts of one page: a rule that fails for a week has two thousand.
WALKED = 2000
STEP = 200
LISTED = 10
_LOOKED_AT = 100


class Failing(Value):
    """A rule that is not as it should be: its newest open attempt, and the latest of them (the newest first)."""

    newest: Action
    latest: tuple[Action, ...]
    tried: int
    since: datetime
    next_try_at: datetime | None = None


class FailingRules:
    """Reads of what fails."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def page(
        self, reader: Actor, status: OpenStatus = "failed", size: int | None = None, after: str | None = None
    ) -> Page[Failing]:
        """Rules that failed or wait, the one that was tried last first; for operators."""
        query = d.actions_by_status(status=status)
        newest, seen, next_token, units = list[Action](), set[tuple[str, str]](), after, 0.0
        for _ in range(WALKED // STEP):
            step = self._repository.page(query, STEP, next_token, reader.subject)
            next_token, units = step.next, units + step.read_units
            for action in step.items:
                if rule_of(action) in seen:
                    continue
                seen.add(rule_of(action))
                if after is not None and self._is_known(action, status):
                    continue
                newest.append(action)
                if len(newest) == (size or PAGE):
                    is_last = next_token is None and action is step.items[-1]
                    token = None if is_last else self._repository.db.token_at(query, action, reader.subject)
                    return Page(tuple(self._failing(newest, status)), token, units)
            if next_token is None:
                break
        return Page(tuple(self._failing(newest, status)), next_token, units)

    def _is_known(self, action: Action, status: OpenStatus) -> bool:
        """Whether an attempt has a newer one of its rule, so that the rule stands on a page before."""
        newer = self._repository.db.all(d.actions_of_child(child=action.child, since=action.occurred_at))
        return any(one.occurred_at > action.occurred_at for one in _alike(newer, action, status))

    def _latest(self, action: Action, status: OpenStatus) -> tuple[Action, ...]:
        """The open attempts of an action's rule, of the last things that were done for its child; itself at least."""
        found = islice(self._repository.db.all(d.actions_of_child(child=action.child)), _LOOKED_AT)
        return tuple(islice(_alike(found, action, status), LISTED)) or (action,)

    def _failing(self, newest: list[Action], status: OpenStatus) -> Iterator[Failing]:
        keys = [d.rules.get(action.child, action.rule_id or "-") for action in newest]
        for action, rule in zip(newest, self._repository.db.many(keys), strict=True):
            yield _told(action, self._latest(action, status), rule)


def rule_of(action: Action) -> tuple[str, str]:
    """What an attempt is about; without a rule, the app."""
    return action.child, action.rule_id or f"app {action.app_name}"


def _alike(actions: Iterable[Action], action: Action, status: OpenStatus) -> Iterator[Action]:
    """Those about the same that are open still."""
    return (one for one in actions if rule_of(one) == rule_of(action) and one.status_key == status)


def _told(action: Action, latest: tuple[Action, ...], rule: RuleMapping | None) -> Failing:
    """With what the rule itself knows. An alert about an address has no rule, and neither has one that just went."""
    if rule is None or rule.failing_since is None:
        return Failing(newest=action, latest=latest, tried=action.attempt, since=latest[-1].occurred_at)
    return Failing(
        newest=action,
        latest=latest,
        tried=rule.attempt,
        since=rule.failing_since,
        next_try_at=rule.next_try_at,
    )
