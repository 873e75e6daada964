"""From the points of a metric to the state of an alarm, by CloudWatch's rules. Pure.

A period's value is a statistic of its points. CloudWatch looks back over more periods than an alarm counts: if enough
of them have a value, the newest of those count, and a gap changes nothing. Only otherwise is missing data treated as
the alarm says, and then no more of it than is needed.
Must hold: what is evaluated ends at a whole minute, so two evaluations within a minute agree.
Elsewhere: where points come from, and what a change of state leads to (states.py).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, TypeAlias

from tablewright.design.alarms import Alarm, Statistic

State: TypeAlias = Literal["OK", "ALARM", "INSUFFICIENT_DATA"]
MINUTE = timedelta(minutes=1)
# How many periods CloudWatch looks at beyond those that count.
EXTRA_PERIODS = 2


class MinutePoint(NamedTuple):
    """A metric in one minute."""

    at: datetime
    samples: float
    sum: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """A state, and the newest value that led to it; None if there was none."""

    state: State
    value: float | None


def range_of(alarm: Alarm, now: datetime) -> tuple[datetime, datetime]:
    """The time from which an alarm needs points; it ends with the last whole minute."""
    end = now.replace(second=0, microsecond=0)
    return end - alarm.period * (alarm.periods + EXTRA_PERIODS), end


def evaluate(alarm: Alarm, points: Iterable[MinutePoint], now: datetime, current: State) -> Verdict:
    """The state of an alarm whose state was `current`, by the points of `range_of`."""
    start, end = range_of(alarm, now)
    values = values_in(points, alarm.statistic, start, end, alarm.period)
    newest = next((value for value in reversed(values) if value is not None), None)
    return Verdict(state_of(alarm, values, current), newest)


def values_in(
    points: Iterable[MinutePoint], statistic: Statistic, start: datetime, end: datetime, period: timedelta
) -> list[float | None]:
    """A value for each period from `start` to `end`, None where there are no points."""
    periods: list[list[MinutePoint]] = [[] for _ in range((end - start) // period)]
    for point in points:
        place = (point.at - start) // period
        if 0 <= place < len(periods) and point.samples:
            periods[place].append(point)
    return [_statistic(each, statistic) if each else None for each in periods]


def _statistic(points: Sequence[MinutePoint], statistic: Statistic) -> float:
    samples, total = sum(point.samples for point in points), sum(point.sum for point in points)
    match statistic:
        case "Sum":
            return total
        case "Average":
            return total / samples
        case "Maximum":
            return max(point.most for point in points)
        case "Minimum":
            return min(point.least for point in points)
        case "SampleCount":
            return samples


def is_breaching(alarm: Alarm, value: float) -> bool:
    limit = float(alarm.threshold)
    match alarm.comparison:
        case "GreaterThanThreshold":
            return value > limit
        case "GreaterThanOrEqualToThreshold":
            return value >= limit
        case "LessThanThreshold":
            return value < limit
        case "LessThanOrEqualToThreshold":
            return value <= limit


def state_of(alarm: Alarm, values: Sequence[float | None], current: State) -> State:
    """The state by the values of the periods, the oldest first: those that count and those before them."""
    breaching = [None if value is None else is_breaching(alarm, value) for value in values]
    known = [each for each in breaching if each is not None][-alarm.periods :]
    missing = alarm.periods - len(known)
    if sum(known) >= alarm.breaches:
        return "ALARM"
    if not missing or alarm.missing == "notBreaching":
        return "OK"
    if alarm.missing == "breaching":
        return "ALARM" if sum(known) + missing >= alarm.breaches else "OK"
    if not known:
        return current if alarm.missing == "ignore" else "INSUFFICIENT_DATA"
    if not all(known):
        return "OK"
    # All that is known breaches, and it is too little. As soon as the first of it is old enough, the data that is
    # missing since then does not keep an alarm from ringing.
    counted = breaching[-alarm.periods :]
    oldest = next((len(counted) - place for place, each in enumerate(counted) if each), 0)
    return "ALARM" if alarm.missing == "missing" and oldest >= alarm.breaches else current
