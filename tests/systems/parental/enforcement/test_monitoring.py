"""How enforcement is doing, as numbers: by device, by cause, and in words a monitor reads (PC-X18)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.systems.parental.rig import DEVICE, NIGHT, START, Rig, closing, make_rig

from tablewright import testing
from tablewright.client import embedded
from tablewright.systems.parental.design import PARENTAL
from tablewright.systems.parental.enforcement import (
    device_comparison,
    due,
    monitoring,
    on_change,
    regular_checks,
)
from tablewright.systems.parental.enforcement.alarm_metrics import metrics_of
from tablewright.systems.parental.enforcement.device_comparison import compared
from tablewright.systems.parental.enforcement.meters import BOUNDS, Measured, Meters, Times
from tablewright.systems.parental.enforcement.monitoring import Figures
from tablewright.systems.parental.enforcement.plan import NEVER
from tablewright.systems.parental.firewall.devices import NotAsked
from tablewright.systems.parental.firewall.driver import DeviceRule, Rejected, Unavailable
from tablewright.systems.parental.firewall.simulated import Faults
from tablewright.systems.parental.model import RuleMapping
from tablewright.testing import Clock


@pytest.fixture
def rig() -> Iterator[Rig]:
    clock = Clock(START)
    world = replace(clock.world(), jitter=lambda: 0.0)
    with (
        testing.engine(world=world) as engine,
        closing(make_rig(embedded(engine), clock, engine, world=world)) as made,
    ):
        yield made


# --- meters ---


def test_times_are_counted_by_bounds_and_shares_are_of_the_latest() -> None:
    meters = Meters()
    for seconds in (0.05, 0.1, 0.2, 3.0, 1000.0):
        meters.enforced("one", "policy", seconds)
    meters.enforced("one", "window", 7.0)
    meters.enforced("other", "policy", 9.0)
    measured = meters.measured()
    times = measured.enforced["one", "policy"]
    assert dict(zip((*BOUNDS, None), times.spread, strict=True)) == {
        **dict.fromkeys((*BOUNDS, None), 0), 0.1: 2, 0.25: 1, 5.0: 1, None: 1,
    }  # fmt: skip
    assert (times.count, times.most) == (5, 1000.0)
    assert (times.share(0.5), times.share(0.95), times.share(0.0)) == (0.2, 1000.0, 0.05)
    assert measured.enforced_on("one").count == 6
    assert Times().share(0.5) is None


def test_a_clock_that_went_back_is_no_time_below_zero() -> None:
    meters = Meters()
    meters.enforced("one", "policy", -3.0)
    assert meters.measured().enforced["one", "policy"].most == 0.0


def test_calls_are_counted_by_how_the_device_answered(rig: Rig) -> None:
    def failing(mistake: Exception) -> None:
        def work(driver: object) -> None:
            raise mistake

        with pytest.raises(type(mistake)):
            rig.devices.call(DEVICE, work)

    rig.devices.call(DEVICE, lambda driver: driver.list())
    failing(Rejected("no"))
    for _ in range(3):
        failing(Unavailable("away"))
    with pytest.raises(NotAsked):
        rig.devices.call(DEVICE, lambda driver: driver.list())
    with pytest.raises(Rejected):
        rig.devices.call("nobody's", lambda driver: driver.list())
    measured = rig.devices.meters.measured()
    assert measured.calls == {
        (DEVICE, "done"): 1, (DEVICE, "refused"): 1, (DEVICE, "unavailable"): 3, (DEVICE, "not asked"): 1,
    }  # fmt: skip
    assert measured.calls_of(DEVICE) == 5
    assert measured.call_times[DEVICE].count == 5


# --- from a cause to a rule ---


def test_from_a_window_edge_to_the_rule_is_measured(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok", windows=[NIGHT])
    rig.start()
    rig.follow()
    rig.move(hours=1, seconds=7)
    due.check_due(rig)
    assert rig.is_blocked()
    assert rig.devices.meters.measured().enforced[DEVICE, "window"].latest == (7.0,)


def test_from_a_policy_to_the_rule_is_measured_and_what_changed_nothing_is_not(rig: Rig) -> None:
    rig.child()
    rig.start()
    rig.follow()
    rig.policy("TikTok")
    rig.move(seconds=2)
    rig.follow()
    rig.policy("TikTok")
    rig.move(seconds=60)
    rig.follow()
    assert rig.devices.meters.measured().enforced[DEVICE, "policy"].latest == (2.0,)


def test_what_took_long_because_a_device_was_away_counts_from_when_it_began_to_fail(rig: Rig) -> None:
    rig.child()
    rig.start()
    rig.stop_device()
    rig.policy("TikTok")
    rig.follow()
    assert rig.devices.meters.measured().enforced == {}
    rig.move(minutes=10)
    rig.start_device()
    rig.tick()
    assert rig.is_blocked()
    assert rig.devices.meters.measured().enforced[DEVICE, "retry"].latest == (600.0,)


# --- figures ---


def test_the_figures_of_a_device_say_what_is_in_force_in_doubt_and_not_compared(rig: Rig) -> None:
    rig.child()
    rig.start()
    rig.policy("TikTok", "Instagram")
    rig.follow()
    (one,) = monitoring.read(rig, on_change.consumers(rig)).devices
    assert (one.rules, one.in_doubt, one.unverified, one.is_well) == ({"active": 2}, 0, 0, True)
    rig.move(minutes=31)
    (one,) = monitoring.read(rig, on_change.consumers(rig)).devices
    assert one.unverified == 2
    regular_checks.verify(rig)
    rig.stop_device()
    rig.policy("YouTube")
    rig.follow()
    figures = monitoring.read(rig, on_change.consumers(rig))
    (one,) = figures.devices
    assert (one.rules, one.in_doubt, one.unverified, one.failing) == ({"active": 2, "pending": 1}, 1, 0, 1)
    assert not one.is_well
    assert figures.failures == {"failed": 1, "pending": 0}


def test_followers_that_are_behind_are_told(rig: Rig) -> None:
    rig.child()
    rig.follow()
    assert monitoring.read(rig, on_change.consumers(rig)).longest_lag == timedelta()
    rig.policy("TikTok")
    rig.move(seconds=40)
    figures = monitoring.read(rig, on_change.consumers(rig))
    assert figures.lag["ParentalPolicies"] >= timedelta(seconds=40)
    assert figures.lag["SubscriberSessions"] == timedelta()


def test_prometheus_reads_histograms_that_add_up_and_no_child(rig: Rig) -> None:
    rig.child()
    rig.start()
    rig.policy("TikTok")
    rig.follow()
    text = monitoring.as_prometheus(monitoring.read(rig, on_change.consumers(rig))).decode()
    assert "+1555" not in text
    found = {family.name: family for family in text_string_to_metric_families(text)}
    assert len(found) == text.count("# TYPE ")
    rules = {sample.labels["status"]: sample.value for sample in found["tablewright_parental_rules"].samples}
    assert rules == {"active": 1}
    samples = found["tablewright_parental_enforcement_seconds"].samples
    ends = [each.value for each in samples if each.labels.get("le") == "+Inf"]
    assert ends == [each.value for each in samples if each.name.endswith("_count")] != []


def test_a_counter_over_a_million_keeps_every_digit() -> None:
    measured = Measured({("fw-1", "done"): 12_345_678}, {}, {})
    text = monitoring.as_prometheus(Figures((), {}, {}, 0, timedelta(), measured)).decode()
    (calls,) = (each for each in text_string_to_metric_families(text) if each.name.endswith("_device_calls"))
    assert [(each.labels, each.value) for each in calls.samples] == [
        ({"device": "fw-1", "answer": "done"}, 12_345_678)
    ]


# --- a device beside the table ---


def test_every_rule_of_either_side_has_one_state_and_what_differs_comes_first(rig: Rig) -> None:
    rig.child()
    rig.start()
    rig.policy("TikTok", "Instagram", "YouTube")
    rig.follow()
    known = rig.rules()
    there = list(rig.on_device())
    by_app = {mapping.app_name: mapping for mapping in known}
    on_device = {rule.name: rule for rule in there}

    def states(known: list[RuleMapping], there: list[DeviceRule] | None) -> list[tuple[str, str]]:
        return [(one.state, one.name) for one in compared(known, there)]

    names = {app: mapping.rule_name for app, mapping in by_app.items()}
    assert {state for state, _ in states(known, there)} == {"same"}
    less = [rule for rule in there if rule.name != names["TikTok"]]
    other = replace(on_device[names["YouTube"]], digest="another")
    stray = DeviceRule("x", "PARENTAL_BLOCK_stray", "10.0.0.1", "d")
    found = states(known, [rule for rule in less if rule.name != names["YouTube"]] + [other, stray])
    assert found == [
        ("missing", names["TikTok"]),
        ("different", names["YouTube"]),
        ("unexpected", "PARENTAL_BLOCK_stray"),
        ("same", names["Instagram"]),
    ]
    waiting = by_app["TikTok"].moved(status="removing", last_verified=NEVER)
    refused = by_app["YouTube"].moved(status="failed")
    assert [state for state, _ in states([waiting, refused], there)] == ["unexpected", "refused", "in doubt"]
    assert {state for state, _ in states(known, None)} == {"unseen"}
    assert set(device_comparison.ORDER) >= {state for state, _ in found}


def test_a_simulated_device_can_be_reached_while_it_is_left_alone(rig: Rig) -> None:
    rig.stop_device()
    for _ in range(3):
        with pytest.raises(Unavailable):
            rig.devices.call(DEVICE, lambda driver: driver.list())
    found = rig.devices.simulated(DEVICE)
    assert found is rig.firewall
    assert found.faults == Faults(is_down=True)


def test_pc_x18_every_metric_that_an_alarm_is_on_is_published() -> None:
    nothing = Figures((), {}, {}, 0, timedelta(), Meters().measured())
    published = metrics_of(nothing)
    assert {alarm.metric for alarm in PARENTAL.alarms} == set(published)
    assert set(published.values()) == {0.0}
    behind = replace(nothing, lag={"t": timedelta(seconds=90)}, due=7, overdue=timedelta(minutes=2))
    late = metrics_of(behind)
    assert (late["StreamLag"], late["EnforcementQueueDepth"], late["EnforcementDelay"]) == (90, 7, 120)
