"""Autoscaling: provisioned units that follow consumption, as with Amazon's Application Auto Scaling.

There it is a separate service with its own API; here it is a setting of a table or of a global index, made with
UpdateTableReplicaAutoScaling.
Once a minute, after the metrics are written: two minutes in a row above the target raise the units until consumption is
at the target again; fifteen minutes in a row, each with traffic, 20 points or more below the target lower them.
Must hold: units stay between least and most; they are lowered only as often as the service allows (four times a day,
and after that when there was no decrease for an hour), not at all where that is disabled, and changed in neither
direction before the cooldown since the last change in that direction is over; a minute without traffic has no data
point, so the units of an idle table stay, as on the service.
Elsewhere: the settings (autoscaling_settings.py), the metrics (metrics/collector.py), UpdateTable
(api/update_table.py).
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

from tablewright.engine.api.update_table import update_table
from tablewright.engine.background.session import Session
from tablewright.engine.catalog import Throughput
from tablewright.engine.errors import ServiceError
from tablewright.engine.limits import DECREASES_A_DAY
from tablewright.engine.metrics.names import CONSUMED_READ, CONSUMED_WRITE
from tablewright.engine.metrics.store import (
    ScalingTarget,
    Series,
    all_scaling,
    all_series,
    forget_scaling,
    points_of,
)
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.throughput.autoscaling_settings import scaled, setting_key
from tablewright.engine.transaction import WriteTransaction

HIGH_MINUTES = 2
LOW_MINUTES = 15
# Traffic is low at this many percentage points below the target.
LOW_POINTS = 20.0
_CONSUMED = {"Read": CONSUMED_READ, "Write": CONSUMED_WRITE}


class Autoscaling:
    """The autoscaling of an open engine."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def settings(self) -> list[ScalingTarget]:
        return self._session.read(lambda txn: all_scaling(txn.rows))

    def adjust(self, minute: int) -> None:
        """Follow the consumption of the minutes before this one."""
        if self.settings():
            self._session.write(lambda txn: adjust_all(txn, minute))


def adjust_all(txn: WriteTransaction, minute: int) -> None:
    """Raise and lower units as the settings require; a setting whose table was deleted is removed."""
    for setting in all_scaling(txn.rows):
        if setting.table not in txn.tables:
            forget_scaling(txn.rows, setting.table, setting.index_name, setting.kind)
            continue
        owner = scaled(txn.tables, setting.table, setting.index_name)
        if owner is None:
            continue  # on demand now, or the index is gone or still being made
        units = _wanted(txn.rows, setting, owner.throughput, minute, txn.now_seconds())
        details = txn.tables[setting.table].scaling.get(setting_key(setting.kind, setting.index_name), {})
        if units is not None and _is_time(details, setting, owner.throughput, units, txn.now_seconds()):
            _set_units(txn, setting, owner.throughput, units)


def _is_time(
    details: Mapping[str, Any], setting: ScalingTarget, now_set: Throughput, units: int, now: float
) -> bool:
    """Whether the units may be changed now, by DisableScaleIn and the cooldowns."""
    have = now_set.read if setting.kind == "Read" else now_set.write
    if units < have:
        pause, last = details.get("ScaleInCooldown", 0), now_set.decreased
        return not details.get("DisableScaleIn") and (last is None or now - last >= pause)
    pause, last = details.get("ScaleOutCooldown", 0), now_set.increased
    return have < setting.least or last is None or now - last >= pause


def _wanted(
    rows: RowReader, setting: ScalingTarget, now_set: Throughput, minute: int, now: float
) -> int | None:
    """The units to set; None if they should not change."""
    have = now_set.read if setting.kind == "Read" else now_set.write
    if have < setting.least:
        return setting.least
    used = used_by_minute(rows, setting, minute)
    wanted = wanted_units(used, have, setting, minute)
    if wanted is None or wanted == have or (wanted < have and not may_decrease(now_set, now)):
        return None
    return wanted


def used_by_minute(rows: RowReader, setting: ScalingTarget, minute: int) -> dict[int, float]:
    """Units per second in each of the minutes before this one that had traffic."""
    series = Series(_CONSUMED[setting.kind], setting.table, setting.index_name)
    numbers = [number for number, each in all_series(rows).items() if each == series]
    return {
        at: histogram.sum / 60
        for number in numbers
        for at, histogram in points_of(rows, number, minute - LOW_MINUTES, minute)
        if histogram.sum
    }


def wanted_units(used: dict[int, float], have: int, setting: ScalingTarget, minute: int) -> int | None:
    """The units that fit the consumption of the minutes before this one; None for no change. Pure."""
    share = setting.target / 100
    last = [used.get(minute - 1 - ago) for ago in range(LOW_MINUTES)]
    newest = [rate for rate in last[:HIGH_MINUTES] if rate is not None and rate > have * share]
    if len(newest) == HIGH_MINUTES:
        return min(max(ceil(max(newest) / share), setting.least), setting.most)
    low = [rate for rate in last if rate is not None and rate < have * (setting.target - LOW_POINTS) / 100]
    if have > setting.most or len(low) == LOW_MINUTES:
        most = max((rate for rate in last if rate is not None), default=0.0)
        return min(max(min(ceil(most / share), have), setting.least), setting.most)
    return None


def may_decrease(throughput: Throughput, now: float) -> bool:
    """Four decreases on a day (UTC) at any time; after that, when the last one was an hour ago."""
    if throughput.decreased is None or throughput.decreased // 86_400 != now // 86_400:
        return True
    return throughput.decreases_today < DECREASES_A_DAY or now - throughput.decreased >= 3_600


def _set_units(txn: WriteTransaction, setting: ScalingTarget, now_set: Throughput, units: int) -> None:
    asked = {"ReadCapacityUnits": now_set.read, "WriteCapacityUnits": now_set.write}
    asked[f"{setting.kind}CapacityUnits"] = units
    request: dict[str, Any] = {"TableName": setting.table}
    if setting.index_name:
        change = {"IndexName": setting.index_name, "ProvisionedThroughput": asked}
        request["GlobalSecondaryIndexUpdates"] = [{"Update": change}]
    else:
        request["ProvisionedThroughput"] = asked
    try:
        update_table(txn, request)
    except ServiceError:
        # The table is being changed otherwise: the next minute tries again.
        return
