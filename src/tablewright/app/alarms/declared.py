"""The alarms of a server: what the designs declare, and what their environments imply. Values and a pure function.

Elsewhere: what an alarm is (design/alarms.py), its state (states.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tablewright.design import Backups, Design
from tablewright.design.alarms import (
    BACKUP,
    CHARGES,
    CHARGES_OF_MEAN,
    DYNAMODB,
    FAILED_COPIES,
    Alarm,
    WatchedSeries,
    backup_alarm,
    budget_alarms,
    watched,
)
from tablewright.design.cost import usual_environment


@dataclass(frozen=True, slots=True)
class DeclaredAlarm:
    """An alarm of a system. `open_table` turns the logical name of a table into that of the one in use."""

    system: str
    title: str
    series: WatchedSeries
    open_table: Callable[[str], str]

    @property
    def alarm(self) -> Alarm:
        return self.series.alarm

    @property
    def name(self) -> str:
        return self.series.name

    @property
    def table(self) -> str:
        """The name of its table in the store; empty for an alarm of the system."""
        return self.open_table(self.series.table) if self.series.table else ""

    @property
    def is_of_store(self) -> bool:
        """Whether its metric is one that the engine keeps."""
        return self.alarm.namespace == DYNAMODB

    @property
    def is_of_service(self) -> bool:
        """Whether Amazon has its metric, if the tables are there: what tables did and what they cost."""
        return self.is_of_store or self.alarm.metric in (CHARGES, CHARGES_OF_MEAN)


def alarms_of(
    system: str,
    title: str,
    designs: Sequence[Design],
    backups: Backups | None,
    replicas: Sequence[str],
    open_table: Callable[[str], str],
) -> list[DeclaredAlarm]:
    """The alarms of a system in this process; `replicas` are the other regions it has."""
    found = [series for design in designs for series in watched(design.alarms, list(design.tables), replicas)]
    if backups is not None:
        found.append(WatchedSeries(until_done_again(backup_alarm())))
    if designs:
        found += [WatchedSeries(alarm) for alarm in budget_alarms(usual_environment(designs[0]))]
    return [DeclaredAlarm(system, title, series, open_table) for series in found]


def copies_alarm(system: str, title: str) -> DeclaredAlarm:
    """The alarm of the off-site copies, which are of all systems."""
    return DeclaredAlarm(
        system, title, WatchedSeries(until_done_again(backup_alarm(FAILED_COPIES))), lambda name: name
    )


def until_done_again(alarm: Alarm) -> Alarm:
    """Here each run says whether it failed: the alarm lasts until one did not, however long that takes."""
    assert alarm.namespace == BACKUP
    return replace(alarm, missing="ignore")
