"""Alarms: when an operator must act. A metric over (or under) a threshold for some periods, in CloudWatch's words.

    design.alarm(Alarm("throttling", "ThrottledRequests", Decimal(10), 5, advice="look for a hot key"))

A metric is one of DynamoDB's, by the name CloudWatch has for it; or in the namespace OWN one that a system publishes
itself, such as the share of a quota that is used.
Must hold: an alarm means the same in our server and in Amazon's: both are made from the value below.
Elsewhere: their evaluation here (app/alarms/), as Terraform (terraform/alarms.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Literal, TypeAlias

from tablewright.design.environments import Environment
from tablewright.design.errors import DesignMistake

Statistic: TypeAlias = Literal["Sum", "Average", "Maximum", "Minimum", "SampleCount"]
Comparison: TypeAlias = Literal[
    "GreaterThanThreshold", "GreaterThanOrEqualToThreshold", "LessThanThreshold", "LessThanOrEqualToThreshold"
]  # fmt: skip
MissingData: TypeAlias = Literal["missing", "ignore", "breaching", "notBreaching"]
Action: TypeAlias = Literal["log", "mail", "webhook"]

DYNAMODB, BACKUP, OWN = "AWS/DynamoDB", "AWS/Backup", "Tablewright"
# Metrics that a server publishes of each system: answers with a 5xx status (0 or 1 for each request), as API Gateway
# names them; US dollars since the month began, as AWS Billing names them; and a day's in per cent of the days before.
SERVER_ERRORS, CHARGES, CHARGES_OF_MEAN = "5XXError", "EstimatedCharges", "DailyChargesOfMean"
FAILED_BACKUPS, FAILED_COPIES = "NumberOfBackupJobsFailed", "NumberOfCopyJobsFailed"
# DynamoDB's metrics by the dimensions that CloudWatch has them with.
OF_A_TABLE = (
    "ConditionalCheckFailedRequests", "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ReadThrottleEvents",
    "TimeToLiveDeletedItemCount", "TransactionConflict", "WriteThrottleEvents",
)  # fmt: skip
OF_AN_OPERATION = ("SuccessfulRequestLatency", "SystemErrors", "ThrottledRequests")
OF_A_REPLICA = ("ReplicationLatency",)
OF_AN_INDEX = (
    "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ReadThrottleEvents", "WriteThrottleEvents",
)  # fmt: skip
_SIGNS: dict[Comparison, str] = {
    "GreaterThanThreshold": "over",
    "GreaterThanOrEqualToThreshold": "at least",
    "LessThanThreshold": "under",
    "LessThanOrEqualToThreshold": "at most",
}
_A_DAY = 1440


class AlarmUnusable(DesignMistake):
    """An alarm that could never be evaluated."""

    def __init__(self, alarm: str, why: str, fix: str) -> None:
        self.alarm, self.why, self.fix = alarm, why, fix
        super().__init__(f"the alarm '{alarm}': {why}. Fix: {fix}")


@dataclass(frozen=True, slots=True)
class Alarm:
    """A metric against a threshold: in `to_alarm` of the last `periods` periods of so many minutes (default: in all).

    Of DynamoDB's metrics it is of each of `tables`, or of all of the design; `index` and `operation` narrow it. In
    the namespace OWN it is of the system. `advice` is what to do about it, `requirement` where the threshold is from.
    """

    name: str
    metric: str
    threshold: Decimal
    minutes: int
    statistic: Statistic = "Sum"
    unit: str = ""
    advice: str = ""
    _: KW_ONLY
    periods: int = 1
    to_alarm: int | None = None
    comparison: Comparison = "GreaterThanThreshold"
    missing: MissingData = "notBreaching"
    namespace: str = DYNAMODB
    tables: tuple[str, ...] = ()
    index: str = ""
    operation: str = ""
    actions: tuple[Action, ...] = ("log", "mail", "webhook")
    requirement: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.minutes <= _A_DAY:
            raise AlarmUnusable(
                self.name, f"a period of {self.minutes} minutes", f"give from 1 to {_A_DAY} minutes"
            )
        if not 1 <= self.breaches <= self.periods:
            why = f"{self.breaches} of {self.periods} periods are to breach"
            raise AlarmUnusable(self.name, why, "give at least one period, and to_alarm from 1 to as many")
        if self.index and self.metric not in OF_AN_INDEX:
            why = f"CloudWatch has no {self.metric} of an index"
            raise AlarmUnusable(
                self.name, why, f"leave the index out, or use one of {', '.join(OF_AN_INDEX)}"
            )

    @property
    def breaches(self) -> int:
        """How many of the periods must breach."""
        return self.periods if self.to_alarm is None else self.to_alarm

    @property
    def period(self) -> timedelta:
        return timedelta(minutes=self.minutes)

    @property
    def condition(self) -> str:
        """`Sum of ThrottledRequests over 10 requests in 5 minutes`."""
        unit = f" {self.unit}" if self.unit else ""
        where = f" of {self.index}" if self.index else ""
        length = _in_words(self.minutes)
        if self.periods > 1:
            of = "each" if self.breaches == self.periods else f"{self.breaches}"
            length = f"{of} of {self.periods} periods of {length}"
        what = f"{self.statistic} of {self.metric}{where}"
        return f"{what} {_SIGNS[self.comparison]} {self.threshold.normalize():f}{unit} in {length}"


def _in_words(minutes: int) -> str:
    if minutes % _A_DAY == 0:
        return "a day"
    if minutes % 60 == 0:
        return "an hour" if minutes == 60 else f"{minutes // 60} hours"
    return "a minute" if minutes == 1 else f"{minutes} minutes"


@dataclass(frozen=True, slots=True)
class WatchedSeries:
    """What an alarm looks at: a table by its logical name, in `region` a replica of it; without a table, the system."""

    alarm: Alarm
    table: str = ""
    region: str = ""

    @property
    def name(self) -> str:
        """Unique among the alarms of a deployment."""
        return "-".join(part for part in (self.table, self.alarm.name, self.region) if part)


def watched(
    alarms: Iterable[Alarm], tables: Sequence[str], replicas: Sequence[str]
) -> Iterator[WatchedSeries]:
    """What some alarms of a design look at, with these tables and these other regions."""
    for alarm in alarms:
        if alarm.namespace != DYNAMODB:
            yield WatchedSeries(alarm)
            continue
        for name in alarm.tables:
            if name not in tables:
                raise AlarmUnusable(
                    alarm.name, f"there is no table '{name}'", f"use one of {', '.join(tables)}"
                )
        for table in alarm.tables or tables:
            regions = replicas if alarm.metric in OF_A_REPLICA else ("",)
            yield from (WatchedSeries(alarm, table, region) for region in regions)


# --- alarms that an environment implies ---


def backup_alarm(metric: str = FAILED_BACKUPS) -> Alarm:
    """A backup that fails, whatever a design says: without it no one looks until it is needed (CC-57, CP-S13)."""
    what = "copies" if metric == FAILED_COPIES else "backups"
    return Alarm(
        f"failed-{what}",
        metric,
        Decimal(0),
        60,
        unit="jobs",
        advice="start it again, and find out why",
        namespace=BACKUP,
        requirement="CC-57, CP-S13",
    )


def budget_alarms(environment: Environment) -> tuple[Alarm, ...]:
    """What a month costs so far, against the amount from which the environment wants to hear, and its limit (CP-61)."""
    budget = environment.budget
    if budget is None:
        return ()
    amounts = (("budget-alert", budget.alert_at), ("budget-exceeded", budget.limit))
    return tuple(
        Alarm(
            name,
            CHARGES,
            amount,
            60,
            "Maximum",
            "US dollars",
            f"the budget is {budget.limit} US dollars a month: find out what costs more than planned",
            # Published hourly: a period without a figure says nothing.
            missing="ignore",
            namespace=OWN,
            requirement="CP-61",
        )
        for name, amount in amounts
    )
