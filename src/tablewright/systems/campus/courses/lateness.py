"""What being late or missing costs (CC-X20). Pure arithmetic: whole seconds, percent of the score, Decimal.

    due Friday 18:00, 10 % for each started day, never below 50 % of the score (CC-S17)
    Friday 18:00:00 -> 0    Saturday 17:59:59 -> 10    Saturday 18:00:01 -> 20    Thursday after -> 50

Nothing is late within the grace period; after it, lateness counts from the due date. Late days from a student's bank
move the due date by a day each, before anything costs.
Must hold: a penalty is never negative, never above 100, and never falls as time goes on.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from tablewright.systems.campus.course_model import Assignment, LatePenalty
from tablewright.systems.campus.courses.dates import whole_second

A_DAY = timedelta(days=1)
_UNITS = {"hour": timedelta(hours=1), "day": A_DAY}
_NONE, _ALL = Decimal(0), Decimal(100)


@dataclass(frozen=True, slots=True)
class Lateness:
    """How a moment relates to a due date. `penalty` is in percent of the score, after `days_used` of the bank."""

    is_late: bool
    penalty: Decimal = _NONE
    days_used: int = 0


def is_late(due: datetime, at: datetime, grace_minutes: int = 0) -> bool:
    """Whether this is after the due date and its grace period, by whole seconds (CC-S8)."""
    return whole_second(at) > whole_second(due) + timedelta(minutes=grace_minutes)


def started(due: datetime, at: datetime, unit: timedelta) -> int:
    """How many units have begun since the due date: the first one begins a second after it."""
    behind = whole_second(at) - whole_second(due)
    return max(0, -(-behind // unit))


def penalty(
    policy: LatePenalty, due: datetime, at: datetime, *, grace_minutes: int = 0, days: int = 0
) -> Decimal:
    """The percent of the score that submitting at this moment costs, with so many days from the bank."""
    moved = due + days * A_DAY
    if not is_late(moved, at, grace_minutes):
        return _NONE
    cost = policy.percent * started(moved, at, _UNITS[policy.unit])
    return max(_NONE, min(cost, policy.most, _ALL - policy.floor, _ALL))


def lateness(assignment: Assignment, due: datetime, at: datetime, *, bank: int = 0) -> Lateness:
    """What applies to work that comes in at this moment; `bank` are the late days that can be used for it.

    Days are used only where being late costs something, and no more than are needed.
    """
    if not is_late(due, at, assignment.grace_minutes):
        return Lateness(is_late=False)
    if assignment.late_policy != "penalise":
        return Lateness(is_late=True)
    days = min(bank, started(due, at, A_DAY))
    cost = penalty(assignment.late_penalty, due, at, grace_minutes=assignment.grace_minutes, days=days)
    without = penalty(assignment.late_penalty, due, at, grace_minutes=assignment.grace_minutes)
    return Lateness(True, cost, days) if cost < without else Lateness(True, without)


def after_penalty(score: Decimal, percent: Decimal | None) -> Decimal:
    """A score after its penalty, to two decimals."""
    left = score * (_ALL - (percent or _NONE)) / _ALL
    return max(_NONE, left).quantize(Decimal("0.01"), ROUND_HALF_UP).normalize() + _NONE


def missing(
    assignment: Assignment, accept_until: datetime | None, at: datetime, *, excused: bool
) -> Decimal | None:
    """The grade of a student who handed in nothing: None while work is accepted, without a rule, or if excused."""
    if excused or assignment.missing_grade is None:
        return None
    over = assignment.status == "closed" or (
        accept_until is not None and whole_second(at) > whole_second(accept_until)
    )
    return assignment.missing_grade if over else None
