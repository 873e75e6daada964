"""What was blocked in the past, from what firewalls confirmed and not from what policies say today. Pure.

An app is blocked at an address from a confirmed block up to a confirmed unblock; what a firewall never confirmed was
not blocked. Must hold: a change of a policy, a pause or an exception changes nothing of the past.
Elsewhere: what is planned (policy/effective.py), the attempts that are recorded (apply.py).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice

from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement.plan import was_asked
from tablewright.systems.parental.firewall.removal import GIVEN_UP
from tablewright.systems.parental.model import Action
from tablewright.systems.parental.policy.effective import Span, Why
from tablewright.systems.parental.repository import Repository

# Attempts before the beginning that are looked through for what was blocked at the beginning.
LOOKED_THROUGH = 200
# A block without a policy is one of an exception; which one is not recorded.
BY_EXCEPTION = "past"
AppAtAddress = tuple[str, str]


def of_child(repository: Repository, child: str, start: datetime, now: datetime) -> list[Span]:
    """What was blocked for a child from a moment up to now, in order of beginning."""
    db = repository.db
    before = islice(db.all(d.actions_of_child(child=child, until=start)), LOOKED_THROUGH)
    since = list(db.all(d.actions_of_child(child=child, since=start, until=now)))
    rules = db.all(d.rules_of_child(child=child))
    live = {(one.app_name, one.private_ip) for one in rules if one.status != "removed" and was_asked(one)}
    return spans([*list(before)[::-1], *since[::-1]], live, start, now)


def spans(
    actions: Sequence[Action], live: Iterable[AppAtAddress], start: datetime, now: datetime
) -> list[Span]:
    """The spans of attempts, the oldest first; `live` are the apps and addresses that are blocked now."""
    begun: dict[AppAtAddress, tuple[datetime, Why]] = {}
    found: list[Span] = []
    for action in actions:
        place = (action.app_name, action.private_ip)
        if _ends(action, place in begun) and place in begun:
            since, why = begun.pop(place)
            found.append(Span(since, action.occurred_at, action.app_name, why))
        elif _begins(action):
            begun.setdefault(place, (action.occurred_at, _why(action)))
    found += [Span(begun[place][0], now, place[0], begun[place][1]) for place in live if place in begun]
    return _merged([one._replace(start=max(one.start, start)) for one in found if one.end > start])


def _begins(action: Action) -> bool:
    return action.status == "success" and action.action in ("block", "reassign")


def _ends(action: Action, is_blocked: bool) -> bool:
    """A move to another address is the end of a block at this one, and the beginning of one at the other."""
    if action.status != "success":
        return action.error_message == GIVEN_UP
    return action.action == "unblock" or (action.action == "reassign" and is_blocked)


def _why(action: Action) -> Why:
    return Why(tuple(action.policy_ids), None if action.policy_ids else BY_EXCEPTION)


def _merged(found: Sequence[Span]) -> list[Span]:
    """Several addresses of a child as one: overlapping spans of an app for the same reason are one."""
    merged: list[Span] = []
    last: dict[str, int] = {}
    for span in sorted(found, key=lambda one: (one.start, one.app)):
        place = last.get(span.app)
        if place is not None and merged[place].why == span.why and span.start <= merged[place].end:
            merged[place] = merged[place]._replace(end=max(merged[place].end, span.end))
        else:
            last[span.app] = len(merged)
            merged.append(span)
    return merged
