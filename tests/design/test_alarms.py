"""Alarms as values: what cannot be evaluated is refused, and what an alarm looks at follows from the design."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tablewright.design import Alarm, Backups, Budget, Environment
from tablewright.design.alarms import (
    OWN,
    AlarmUnusable,
    backup_alarm,
    budget_alarms,
    watched,
)
from tablewright.systems.campus.design import CAMPUS
from tablewright.systems.chat.design import CHAT
from tablewright.systems.parental.design import PARENTAL
from tablewright.systems.portal.design import PORTAL
from tablewright.systems.travel.design import TRAVEL


@pytest.mark.parametrize(
    "given",
    [
        {"minutes": 0},
        {"minutes": 1441},
        {"minutes": 1, "periods": 0},
        {"minutes": 1, "periods": 2, "to_alarm": 3},
        {"minutes": 1, "index": "by-age"},
    ],
)
def test_an_alarm_that_could_never_be_evaluated_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(AlarmUnusable, match="the alarm 'slow'"):
        Alarm("slow", "SystemErrors", Decimal(1), **given)


def test_an_alarm_says_when_it_rings_in_words() -> None:
    plain = Alarm("a", "ThrottledRequests", Decimal("10.0"), 5, unit="requests")
    assert plain.condition == "Sum of ThrottledRequests over 10 requests in 5 minutes"
    some = Alarm(
        "a", "m", Decimal(5), 60, "Minimum", periods=3, to_alarm=2, comparison="LessThanThreshold", namespace=OWN
    )  # fmt: skip
    assert some.condition == "Minimum of m under 5 in 2 of 3 periods of an hour"


def test_an_alarm_is_of_each_table_of_those_it_names_or_of_the_system() -> None:
    each = Alarm("each", "SystemErrors", Decimal(1), 5)
    one = Alarm("one", "SystemErrors", Decimal(1), 5, tables=("b",))
    far = Alarm("far", "ReplicationLatency", Decimal(1), 5)
    own = Alarm("own", "Quota", Decimal(1), 5, namespace=OWN)
    assert [series.name for series in watched([each, one, far, own], ["a", "b"], ["eu"])] == [
        "a-each",
        "b-each",
        "b-one",
        "a-far-eu",
        "b-far-eu",
        "own",
    ]
    assert list(watched([far], ["a"], [])) == []
    with pytest.raises(AlarmUnusable, match="there is no table 'c'"):
        list(watched([Alarm("x", "SystemErrors", Decimal(1), 5, tables=("c",))], ["a"], []))


@pytest.mark.parametrize("design", [CAMPUS, CHAT, PARENTAL, PORTAL, TRAVEL], ids=lambda design: design.name)
def test_the_alarms_of_a_system_have_names_of_their_own_and_tables_and_indexes_that_exist(
    design: Any,
) -> None:
    names = [series.name for series in watched(design.alarms, list(design.tables), ["eu-west-1"])]
    assert names
    assert len(set(names)) == len(names)
    indexes = {(index.table.name, index.name) for index in design.indexes}
    for alarm in design.alarms:
        assert all((table, alarm.index) in indexes for table in alarm.tables if alarm.index)


def test_zc_58_the_alarms_of_the_chat_have_the_thresholds_of_the_document_as_corrected() -> None:
    said = {alarm.name: alarm for alarm in CHAT.alarms}
    writes, throttled, overdue = (
        said[name] for name in ("HighConversationTableWrites", "GSIThrottling", "TTLDeletionFailures")
    )
    assert (int(writes.threshold), writes.minutes, writes.periods) == (1000, 1, 2)
    assert (int(throttled.threshold), throttled.index) == (10, "family-conversations-index")
    assert (overdue.metric, int(overdue.threshold)) == ("OverdueItems", 0)


def test_cp_66_and_cp_71_the_alarms_of_the_portal_have_the_thresholds_of_the_document() -> None:
    said = {alarm.metric: (int(alarm.threshold), alarm.minutes, alarm.requirement) for alarm in PORTAL.alarms}
    assert said == {
        "ConsumedReadCapacityUnits": (10_000, 1, "CP-66"),
        "ConsumedWriteCapacityUnits": (5_000, 1, "CP-66"),
        "ThrottledRequests": (10, 5, "CP-66"),
        "SystemErrors": (5, 5, "CP-66"),
        "ReplicationLatency": (5_000, 5, "CP-71"),
        "DailyChargesOfMean": (150, 60, "CP-66"),
    }


def test_cp_61_a_budget_rings_at_80_per_cent_and_at_its_limit() -> None:
    amounts = {
        name: [int(alarm.threshold) for alarm in budget_alarms(environment)]
        for name, environment in PORTAL.environments.items()
    }
    assert amounts == {"dev": [400, 500], "sit": [800, 1000], "prod": [4000, 5000]}
    assert budget_alarms(Environment("x", "r", budget=None)) == ()
    spent = Environment("x", "r", budget=Budget(Decimal(10), Decimal(8)), backups=Backups("c", 1, "v"))
    assert [alarm.name for alarm in budget_alarms(spent)] == ["budget-alert", "budget-exceeded"]
    assert (backup_alarm().metric, int(backup_alarm().threshold)) == ("NumberOfBackupJobsFailed", 0)
