"""Autoscaling: provisioned units that follow what is used, as Application Auto Scaling does on Amazon.

There it is a service of its own with an API of its own; here a setting of a table or of a global index, made with
UpdateTableReplicaAutoScaling, with `tablewright db autoscaling`, or in Python:
    engine.autoscaling.set("pets", kind="Read", target=70, least=5, most=100)
Once a minute, after the figures are written: two minutes in a row above the target raise the units so that what was
used is at the target again; fifteen minutes in a row, each with traffic, below the target by 20 points lower them.
Must hold: units stay between least and most; they are lowered only as often as the service lets anyone lower them
(four times a day, and then when there was no decrease for an hour), not at all where that is disabled, and changed in
neither direction before the cooldown since the last change in it is over; a minute without traffic is no figure at all,
so an idle table is left as it is, as on the service. Elsewhere: the settings (scaling_settings.py), the figures
(metrics.py), what UpdateTable does (operations).
"""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any, Literal, TypeAlias

from tablewright.engine.catalog import Throughput
from tablewright.engine.doors import Doors
from tablewright.engine.errors import ServiceError
from tablewright.engine.limits import DECREASES_A_DAY
from tablewright.engine.metric_names import CONSUMED_READ, CONSUMED_WRITE
from tablewright.engine.operations.update_table import update_table
from tablewright.engine.scaling_settings import (
    KINDS,
    change,
    place_of,
    scaled,
    settings_here,
    wrong_setting,
)
from tablewright.engine.storage_metrics import (
    Scaling,
    Series,
    all_scaling,
    all_series,
    forget_scaling,
    points_of,
)
from tablewright.engine.storage_rows import Rows
from tablewright.engine.writing import Writing

Kind: TypeAlias = Literal["Read", "Write"]
HIGH_MINUTES = 2
LOW_MINUTES = 15
# How far below the target, in points of a hundred, traffic is low.
LOW_POINTS = 20.0
_CONSUMED = {"Read": CONSUMED_READ, "Write": CONSUMED_WRITE}


class CannotScale(ValueError):
    """A setting of autoscaling that makes no sense, or is for what is not there."""


class Autoscaling:
    """The settings of an open engine; each lasts until it is removed, also over a restart."""

    def __init__(self, doors: Doors) -> None:
        self._doors = doors

    def set(
        self,
        table: str,
        *,
        kind: Kind,
        index: str = "",
        target: float = 70.0,
        least: int = 1,
        most: int = 40_000,
    ) -> None:
        """Keep what is used of the provisioned units at `target` percent, with `least` to `most` units."""
        if kind not in KINDS:
            raise CannotScale(f"kind is Read or Write, not {kind!r}")
        wrong = wrong_setting(target, least, most)
        if wrong is not None:
            raise CannotScale(wrong)

        def save(writing: Writing) -> None:
            if scaled(writing.tables, table, index) is None:
                name = f"index {index} of table {table}" if index else f"table {table}"
                raise CannotScale(f"there is no {name} with provisioned units")
            known = settings_here(writing.rows, writing.tables[table]).get(place_of(kind, index), [])
            _say(writing, table, kind, index, [target, least, most, *known[3:]])

        self._write(save)

    def remove(self, table: str, *, kind: Kind, index: str = "") -> bool:
        """Leave the units as they are from now on; False if nothing was set."""

        def forget(writing: Writing) -> bool:
            found = writing.tables.get(table)
            is_set = found is not None and place_of(kind, index) in settings_here(writing.rows, found)
            if is_set:
                _say(writing, table, kind, index, None)
            return is_set

        return bool(self._write(forget))

    def settings(self) -> list[Scaling]:
        return self._doors.read(lambda reading: all_scaling(reading.rows))

    def adjust(self, minute: int) -> None:
        """Follow what was used in the minutes before this one."""
        if self.settings():
            self._doors.write(lambda writing: adjust_all(writing, minute))

    def _write(self, deed: Callable[[Writing], Any]) -> Any:
        # Ours to say, not the service's: what is refused here must not be taken for a fault of the engine.
        refused: list[CannotScale] = []

        def guarded(writing: Writing) -> Any:
            refused.clear()
            try:
                return deed(writing)
            except CannotScale as mistake:
                refused.append(mistake)
                return None

        answer = self._doors.write(guarded)
        if refused:
            raise refused[0]
        return answer


def adjust_all(writing: Writing, minute: int) -> None:
    """Raise and lower what the settings ask for; a setting whose table is gone is forgotten."""
    for setting in all_scaling(writing.rows):
        if setting.table not in writing.tables:
            forget_scaling(writing.rows, setting.table, setting.index_name, setting.kind)
            continue
        owner = scaled(writing.tables, setting.table, setting.index_name)
        if owner is None:
            continue  # on demand now, or the index is gone or still being made
        units = _wanted(writing.rows, setting, owner.throughput, minute, writing.now())
        details = writing.tables[setting.table].scaling.get(place_of(setting.kind, setting.index_name), {})
        if units is not None and _is_time(details, setting, owner.throughput, units, writing.now()):
            _set_units(writing, setting, owner.throughput, units)


def _is_time(
    details: Mapping[str, Any], setting: Scaling, now_set: Throughput, units: int, now: float
) -> bool:
    """Whether the units may be changed now, by what was said of lowering them and of times between two changes."""
    have = now_set.read if setting.kind == "Read" else now_set.write
    if units < have:
        pause, last = details.get("ScaleInCooldown", 0), now_set.decreased
        return not details.get("DisableScaleIn") and (last is None or now - last >= pause)
    pause, last = details.get("ScaleOutCooldown", 0), now_set.increased
    return have < setting.least or last is None or now - last >= pause


def _say(writing: Writing, table: str, kind: str, index: str, one: list[Any] | None) -> None:
    """Make a setting: of read units in this region, of write units in all that share them."""
    found, here = writing.tables[table], writing.place.region
    others = [] if found.replicas is None or kind == "Read" else found.replicas.readers
    regions = [here, *(other.region for other in others)]
    change(writing, found, {region: {place_of(kind, index): one} for region in regions})


def _wanted(rows: Rows, setting: Scaling, now_set: Throughput, minute: int, now: float) -> int | None:
    """The units to set; None if they stay."""
    have = now_set.read if setting.kind == "Read" else now_set.write
    if have < setting.least:
        return setting.least
    used = used_by_minute(rows, setting, minute)
    wanted = wanted_units(used, have, setting, minute)
    if wanted is None or wanted == have or (wanted < have and not may_decrease(now_set, now)):
        return None
    return wanted


def used_by_minute(rows: Rows, setting: Scaling, minute: int) -> dict[int, float]:
    """Units a second in each of the minutes before this one that had traffic."""
    series = Series(_CONSUMED[setting.kind], setting.table, setting.index_name)
    numbers = [number for number, each in all_series(rows).items() if each == series]
    return {
        at: tally.sum / 60
        for number in numbers
        for at, tally in points_of(rows, number, minute - LOW_MINUTES, minute)
        if tally.sum
    }


def wanted_units(used: dict[int, float], have: int, setting: Scaling, minute: int) -> int | None:
    """What the units should be by what was used in the minutes before this one. Pure."""
    share = setting.target / 100
    last = [used.get(minute - 1 - ago) for ago in range(LOW_MINUTES)]
    newest = [rate for rate in last[:HIGH_MINUTES] if rate is not None and rate > have * share]
    if len(newest) == HIGH_MINUTES:
        return _between(ceil(max(newest) / share), setting)
    low = [rate for rate in last if rate is not None and rate < have * (setting.target - LOW_POINTS) / 100]
    if have > setting.most or len(low) == LOW_MINUTES:
        most = max((rate for rate in last if rate is not None), default=0.0)
        return _between(min(ceil(most / share), have), setting)
    return None


def _between(units: int, setting: Scaling) -> int:
    return min(max(units, setting.least), setting.most)


def may_decrease(throughput: Throughput, now: float) -> bool:
    """Four times on a day of UTC whenever one likes; after that, when the last was an hour ago."""
    if throughput.decreased is None or throughput.decreased // 86_400 != now // 86_400:
        return True
    return throughput.decreases_today < DECREASES_A_DAY or now - throughput.decreased >= 3_600


def _set_units(writing: Writing, setting: Scaling, now_set: Throughput, units: int) -> None:
    asked = {"ReadCapacityUnits": now_set.read, "WriteCapacityUnits": now_set.write}
    asked[f"{setting.kind}CapacityUnits"] = units
    request: dict[str, Any] = {"TableName": setting.table}
    if setting.index_name:
        change = {"IndexName": setting.index_name, "ProvisionedThroughput": asked}
        request["GlobalSecondaryIndexUpdates"] = [{"Update": change}]
    else:
        request["ProvisionedThroughput"] = asked
    try:
        update_table(writing, request)
    except ServiceError:
        # The table is in the middle of another change: the next minute comes by itself.
        return
