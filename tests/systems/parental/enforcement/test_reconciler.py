"""What the reconciler promises beyond the scenarios: claims, pauses, breakers, outages, deployments, checks, truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.systems.parental.rig import ANNA, BEN, DEVICE, IP, NIGHT, OTHER_IP, START, Rig, make_rig, rig_on

from tablewright.client import embedded
from tablewright.edge.errors import Conflict, NotFound
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import plan as plans
from tablewright.systems.parental.enforcement import regular_checks
from tablewright.systems.parental.enforcement.device_audit import Verifying
from tablewright.systems.parental.enforcement.plan import NEVER, back_off
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.firewall.cisco_fmc import CiscoFmc
from tablewright.systems.parental.firewall.device_secrets import Secret
from tablewright.systems.parental.firewall.devices import NotAsked, open_driver
from tablewright.systems.parental.firewall.driver import (
    PREFIX,
    DeviceRule,
    FirewallDriver,
    RateLimited,
    Rejected,
    Rule,
    Unavailable,
)
from tablewright.systems.parental.firewall.endpoints import Endpoint
from tablewright.systems.parental.firewall.nftables import NftablesFirewall
from tablewright.systems.parental.firewall.simulated import Faults, SimulatedFirewall
from tablewright.systems.parental.model import BlockedApp, Device, Policy, RuleMapping
from tablewright.testing import Clock
from tablewright.world import World


@pytest.fixture
def rig(request: pytest.FixtureRequest, way: str) -> Iterator[Rig]:
    with rig_on(way, request.config.getoption("--endpoint")) as made:
        yield made


@pytest.fixture
def deployed(request: pytest.FixtureRequest, way: str) -> Iterator[Rig]:
    """A rig whose devices need deployments."""
    with rig_on(way, request.config.getoption("--endpoint"), needs_deploy=True) as made:
        yield made


def blocking(rig: Rig, *apps: str) -> Policy:
    """A child with a session, for whom these are blocked."""
    rig.child()
    policy = rig.policy(*(apps or ("TikTok",)))
    rig.start()
    rig.reconciler.reconcile(ANNA)
    return policy


# --- what is done, and once ---


def test_nothing_is_done_a_second_time(rig: Rig) -> None:
    blocking(rig, "TikTok", "Instagram")
    asked: list[str] = []
    rig.firewall.at = asked.append
    before = rig.rules()
    assert (rig.reconciler.reconcile(ANNA), asked) == ((), [])
    assert rig.rules() == before


def test_two_policies_that_want_the_same_app_make_one_rule_that_goes_with_the_last(rig: Rig) -> None:
    rig.child()
    first, second = rig.policy("TikTok"), rig.policy("TikTok")
    rig.start()
    rig.reconciler.reconcile(ANNA)
    (rule,) = rig.rules()
    assert rule.policy_ids == [first.policy_id, second.policy_id]
    rig.delete(first)
    rig.reconciler.reconcile(ANNA)
    (rule,) = rig.rules()
    assert (rule.status, rule.policy_ids) == ("active", [second.policy_id])
    assert len(rig.history()) == 1
    rig.delete(second)
    rig.reconciler.reconcile(ANNA)
    assert (rig.rules(), rig.on_device()) == ([], [])


def test_pc_x8_many_workers_at_once_make_one_rule_and_ask_for_it_once(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    rig.start()
    asked: list[str] = []
    rig.firewall.at = asked.append
    with ThreadPoolExecutor(8) as workers:
        list(workers.map(rig.reconciler.reconcile, [ANNA] * 16))
    assert asked.count("ensure:after") == 1
    assert [one.status for one in rig.rules()] == ["active"]
    assert rig.told() == ["block TikTok 10.20.30.40 success"]


def test_a_rule_that_is_wanted_no_more_while_it_is_made_is_removed_by_who_made_it(rig: Rig) -> None:
    rig.child()
    policy = rig.policy("TikTok")
    rig.start()

    def meanwhile(place: str) -> None:
        if place == "ensure:before":
            rig.firewall.at = lambda place: None
            rig.delete(policy)
            # Another worker sees the change, and that somebody is at the rule.
            with ThreadPoolExecutor(1) as other:
                assert other.submit(rig.reconciler.reconcile, ANNA).result(10) == ()

    rig.firewall.at = meanwhile
    rig.reconciler.reconcile(ANNA)
    assert (rig.rules(), rig.on_device()) == ([], [])


def test_a_child_whose_number_was_given_up_has_no_rules(rig: Rig) -> None:
    blocking(rig)
    child = rig.repository.child(ANNA)
    gone = child.model_copy(update={"held_phone": None, "released_at": rig.repository.now()})
    rig.db.write(d.children.change(child, gone))
    rig.follow()
    assert (rig.rules(), rig.on_device(), rig.sessions.open_of(ANNA)) == ([], [], [])
    assert list(rig.db.all(d.wakes_due())) == []


def test_a_child_that_is_no_more_has_no_rules(rig: Rig) -> None:
    blocking(rig)
    rig.db.write(d.children.delete(rig.repository.child(ANNA)))
    rig.follow()
    assert (rig.rules(), rig.on_device()) == ([], [])


def test_an_app_the_registry_does_not_know_is_blocked_by_what_the_policy_says(rig: Rig) -> None:
    rig.child()
    rig.policy(BlockedApp(app_name="Our forum", domains=["forum.example"]))
    rig.start()
    rig.reconciler.reconcile(ANNA)
    assert rig.is_blocked("www.forum.example")


def test_pc_s14_what_is_enforced_but_for_a_part_says_which_part(rig: Rig) -> None:
    rig.child()
    rig.policy(BlockedApp(app_name="Puzzles", domains=["cloudfront.net", "puzzle.example"]))
    rig.policy("TikTok")
    rig.start()
    rig.reconciler.reconcile(ANNA)
    puzzles, tiktok = rig.state("Puzzles"), rig.state("TikTok")
    assert puzzles is not None
    assert tiktok is not None
    assert not rig.is_blocked("x.cloudfront.net")
    assert puzzles.state == "enforced"
    assert puzzles.unmet == (
        "cloudfront.net is not blocked (shared: anyone can rent servers there from Amazon).",
    )
    assert tiktok.unmet == ()


def test_the_history_tells_what_was_applied_where_and_by_whose_wish(rig: Rig) -> None:
    rig.child()
    policy = rig.policy("TikTok")
    rig.start()
    rig.reconciler.reconcile(ANNA)
    (action,), (mapping,) = rig.history(), rig.rules()
    assert action.rule_id == mapping.rule_id
    assert action.policy_ids == [policy.policy_id]
    assert action.ftd_response == {"deviceId": DEVICE, "ruleId": mapping.device_rule_id}
    assert action.applied["domains"] == ["musical.ly", "tiktok.com"]
    assert action.applied["ports"] == ["443/TCP", "443/UDP"]
    assert (action.status_key, action.error_message, action.attempt) == (None, None, 1)


def test_names_of_rules_and_labels_name_nobody(rig: Rig) -> None:
    blocking(rig)
    (mapping,), (rule,) = rig.rules(), rig.on_device()
    assert mapping.rule_name.startswith(PREFIX)
    assert ANNA[1:] not in mapping.rule_name + str(rule)


# --- devices that fail ---


def test_pauses_double_from_two_seconds_to_five_minutes() -> None:
    assert [back_off(n, 0).total_seconds() for n in (1, 2, 3, 8, 9, 50)] == [2, 4, 8, 256, 300, 300]
    assert all(
        timedelta(seconds=1.5) <= back_off(1, jitter / 10) <= timedelta(seconds=2) for jitter in range(10)
    )


def test_what_a_device_refuses_is_failed_and_not_asked_again_until_it_is_another_rule(rig: Rig) -> None:
    rig.firewall.faults = Faults(rejected_labels=frozenset({"TikTok"}))
    blocking(rig, "TikTok", "Instagram")
    status = rig.state("TikTok")
    assert status is not None
    assert status.state == "failed"
    assert "refuses it" in status.reason
    assert rig.is_blocked("instagram.com")
    rig.pass_time(600, 60)
    assert len(rig.open_actions()) == 1
    rig.start_device()
    app = rig.repository.db.one(d.app_by_name(app_name="TikTok"))
    assert app is not None
    rig.db.write(d.apps.change(app, app.model_copy(update={"domains": ["tiktok.com"]})))
    rig.follow()
    assert rig.is_blocked()
    assert rig.open_actions() == []


def test_an_operator_may_have_a_refused_rule_tried_again(rig: Rig) -> None:
    rig.firewall.faults = Faults(rejected_labels=frozenset({"TikTok"}))
    blocking(rig)
    rig.start_device()
    (mapping,) = rig.rules()
    done = rig.reconciler.retry(ANNA, mapping.rule_id)
    assert [one.error for one in done] == [None]
    assert rig.is_blocked()
    assert rig.open_actions() == []
    with pytest.raises(NotFound):
        rig.reconciler.retry(ANNA, "ftd_rule_unknown")


def test_an_answer_that_was_lost_makes_no_second_rule(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    rig.start()
    rig.firewall.faults = Faults(lost_answers=1.0)
    rig.reconciler.reconcile(ANNA)
    rig.start_device()
    (there,) = rig.on_device()
    assert [one.status for one in rig.rules()] == ["pending"]
    rig.pass_time(4)
    assert [rule.id for rule in rig.on_device()] == [there.id]
    assert [one.device_rule_id for one in rig.rules()] == [there.id]


def test_a_rule_whose_answer_was_lost_is_removed_by_its_name_if_it_is_wanted_no_more(rig: Rig) -> None:
    rig.child()
    policy = rig.policy("TikTok")
    rig.start()
    rig.firewall.faults = Faults(lost_answers=1.0)
    rig.reconciler.reconcile(ANNA)
    rig.start_device()
    rig.delete(policy)
    rig.reconciler.reconcile(ANNA)
    assert (rig.rules(), rig.on_device(), rig.open_actions()) == ([], [], [])


def test_a_rule_that_waits_for_a_resting_device_goes_without_asking_it(rig: Rig) -> None:
    rig.child()
    rig.stop_device()
    for _ in range(3):
        with pytest.raises(Unavailable):
            rig.devices.call(DEVICE, lambda driver: driver.list())
    policy = rig.policy("TikTok")
    rig.start()
    rig.reconciler.reconcile(ANNA)
    (waiting,) = rig.open_actions("pending")
    assert waiting.status == "pending"
    assert rig.open_actions("failed") == []
    rig.delete(policy)
    rig.reconciler.reconcile(ANNA)
    assert rig.rules() == []
    assert rig.open_actions("pending") == []


def test_a_device_that_failed_three_times_is_left_alone_and_then_tried_by_one(rig: Rig) -> None:
    asked: list[FirewallDriver] = []

    def work(driver: FirewallDriver) -> None:
        asked.append(driver)
        driver.list()

    rig.stop_device()
    for _ in range(3):
        with pytest.raises(Unavailable):
            rig.devices.call(DEVICE, work)
    with pytest.raises(NotAsked) as resting:
        rig.devices.call(DEVICE, work)
    assert len(asked) == 3
    assert resting.value.until == rig.repository.now() + timedelta(seconds=30)
    rig.move(seconds=30)
    with pytest.raises(Unavailable):
        rig.devices.call(DEVICE, work)
    device = rig.devices.get(DEVICE)
    assert device.breaker_until == rig.repository.now() + timedelta(seconds=60)
    rig.start_device()
    rig.move(seconds=60)
    rig.devices.call(DEVICE, work)
    device = rig.devices.get(DEVICE)
    assert (device.failures, device.breaker_until, device.last_error) == (0, None, None)


def test_while_one_tries_a_device_that_was_ill_others_wait(rig: Rig) -> None:
    rig.stop_device()
    for _ in range(3):
        with pytest.raises(Unavailable):
            rig.devices.call(DEVICE, lambda driver: driver.list())
    rig.start_device()
    rig.move(seconds=30)
    others = make_rig(embedded(rig.engine), rig.clock, rig.engine) if rig.engine is not None else rig

    def look_aside(place: str) -> None:
        rig.firewall.at = lambda place: None
        with pytest.raises(NotAsked):
            others.devices.call(DEVICE, lambda driver: driver.list())

    rig.firewall.at = look_aside
    rig.devices.call(DEVICE, lambda driver: driver.list())
    others.devices.call(DEVICE, lambda driver: driver.list())


def test_a_device_that_asks_for_a_pause_gets_it_and_is_not_taken_for_ill(rig: Rig) -> None:
    rig.firewall.fail_next(RateLimited(20))
    with pytest.raises(RateLimited):
        rig.devices.call(DEVICE, lambda driver: driver.list())
    rig.move(seconds=19)
    with pytest.raises(NotAsked):
        rig.devices.call(DEVICE, lambda driver: driver.list())
    rig.move(seconds=1)
    rig.devices.call(DEVICE, lambda driver: driver.list())
    assert rig.devices.get(DEVICE).failures == 0


def test_a_device_is_asked_no_more_often_in_a_minute_than_its_kind_can_bear(rig: Rig) -> None:
    rig.devices.change(DEVICE, kind="cisco_fmc")
    for _ in range(120):
        rig.devices.call(DEVICE, lambda driver: driver.list())
    with pytest.raises(NotAsked):
        rig.devices.call(DEVICE, lambda driver: driver.list())
    rig.move(minutes=1)
    rig.devices.call(DEVICE, lambda driver: driver.list())


def test_a_device_has_one_caller_at_a_time(rig: Rig) -> None:
    inside = [0, 0]

    def work(driver: FirewallDriver) -> int:
        inside[0] += 1
        inside[1] = max(inside)
        waiting = rig.devices.waiting(DEVICE)
        driver.list()
        inside[0] -= 1
        return waiting

    with ThreadPoolExecutor(8) as workers:
        seen = list(workers.map(lambda _: rig.devices.call(DEVICE, work), range(50)))
    assert inside == [0, 1]
    assert max(seen) >= 1
    assert rig.devices.waiting(DEVICE) == 0


def test_what_waits_for_a_device_that_is_switched_off_is_pending(rig: Rig) -> None:
    rig.devices.change(DEVICE, enabled=False)
    blocking(rig)
    status = rig.state("TikTok")
    assert status is not None
    assert (status.state, status.reason) == ("pending", plans.NOT_NOW)
    assert rig.rules()[0].error == "the firewall is switched off"
    rig.pass_time(600, 60)
    assert rig.told() == ["block TikTok 10.20.30.40 pending"]
    rig.devices.change(DEVICE, enabled=True)
    rig.tick()
    assert rig.is_blocked()


def test_a_device_that_was_off_for_a_moment_only_keeps_nobody_waiting(rig: Rig) -> None:
    rig.devices.change(DEVICE, enabled=False)
    blocking(rig)
    rig.devices.change(DEVICE, enabled=True)
    rig.pass_time(4)
    assert rig.is_blocked()


def test_a_device_that_is_switched_on_is_asked_at_once_however_it_was_before(rig: Rig) -> None:
    rig.stop_device()
    blocking(rig)
    rig.pass_time(30)
    assert rig.devices.get(DEVICE).breaker_until is not None
    rig.devices.change(DEVICE, enabled=False)
    rig.tick()
    rig.start_device()
    rig.devices.change(DEVICE, enabled=True)
    rig.tick()
    assert rig.is_blocked()


def test_when_a_device_is_back_nobody_waits_for_the_end_of_their_pause(rig: Rig) -> None:
    for phone, family, ip in ((ANNA, "family-1", IP), (BEN, "family-2", OTHER_IP)):
        rig.child(phone, family)
        rig.policy("TikTok", child=phone)
        rig.start(ip, phone)
    rig.stop_device()
    rig.reconciler.reconcile_all([ANNA, BEN])
    (waits,) = rig.rules()
    rig.db.write(d.rules.change(waits, waits.moved(next_try_at=START + timedelta(minutes=5))))
    rig.start_device()
    rig.pass_time(3)
    assert rig.is_blocked(ip=OTHER_IP)
    assert rig.is_blocked()


# --- outages, as the family wants (PC-X9) ---


@pytest.mark.parametrize(
    ("outage", "new_is_blocked", "old_is_blocked"),
    [("keep", False, False), ("closed", False, True), ("open", False, False)],
)
def test_a_block_that_cannot_be_made(
    rig: Rig, outage: str, new_is_blocked: bool, old_is_blocked: bool
) -> None:
    """Instagram shall be blocked instead of TikTok, and the device takes no new rules."""
    rig.child(on_outage=outage)  # type: ignore[arg-type]
    old = rig.policy("TikTok")
    rig.start()
    rig.reconciler.reconcile(ANNA)
    rig.delete(old)
    rig.policy("Instagram")
    refusing(rig, "ensure")
    rig.reconciler.reconcile(ANNA)
    assert (rig.is_blocked("instagram.com"), rig.is_blocked()) == (new_is_blocked, old_is_blocked)
    rig.firewall.at = lambda place: None
    rig.pass_time(10)
    assert (rig.is_blocked("instagram.com"), rig.is_blocked()) == (True, False)


@pytest.mark.parametrize(("outage", "new_is_blocked"), [("keep", True), ("closed", True), ("open", False)])
def test_a_rule_that_cannot_be_removed(rig: Rig, outage: str, new_is_blocked: bool) -> None:
    """Instagram shall be blocked instead of TikTok, and the device lets no rule go."""
    rig.child(on_outage=outage)  # type: ignore[arg-type]
    old = rig.policy("TikTok")
    rig.start()
    rig.reconciler.reconcile(ANNA)
    rig.delete(old)
    rig.policy("Instagram")
    refusing(rig, "remove")
    rig.reconciler.reconcile(ANNA)
    assert (rig.is_blocked("instagram.com"), rig.is_blocked()) == (new_is_blocked, True)
    told = rig.state("TikTok")
    assert told is not None
    assert (told.state, told.wanted) == ("pending", False)
    rig.firewall.at = lambda place: None
    rig.pass_time(10)
    assert (rig.is_blocked("instagram.com"), rig.is_blocked()) == (True, False)


def refusing(rig: Rig, what: str) -> None:
    """The device does not take calls of one sort."""

    def refuse(place: str) -> None:
        if place == f"{what}:before":
            raise Unavailable("the device does not take it")

    rig.firewall.at = refuse


def test_pc_x9_an_address_that_was_left_is_cleaned_even_where_nothing_is_freed_in_an_outage(rig: Rig) -> None:
    rig.child(on_outage="closed")
    rig.policy("TikTok")
    rig.start()
    rig.reconciler.reconcile(ANNA)
    rig.move(minutes=1)
    rig.sessions.event("update-ip", ANNA, "s1", ip=OTHER_IP)
    refusing(rig, "ensure")
    rig.reconciler.reconcile(ANNA)
    assert (rig.is_blocked(), rig.is_blocked(ip=OTHER_IP)) == (False, False)
    rig.firewall.at = lambda place: None
    rig.pass_time(10)
    assert (rig.is_blocked(), rig.is_blocked(ip=OTHER_IP)) == (False, True)


# --- deployments ---


def test_what_needs_a_deployment_is_enforced_after_it_and_not_before(deployed: Rig) -> None:
    deployed.child()
    deployed.policy("TikTok")
    deployed.start()
    deployed.firewall.at = lambda place: _fail(place, "deploy:before")
    deployed.reconciler.reconcile(ANNA)
    status = deployed.state("TikTok")
    assert status is not None
    assert status.state == "pending"
    assert not deployed.is_blocked()
    assert len(deployed.open_actions()) == 1
    deployed.firewall.at = lambda place: None
    deployed.pass_time(4)
    assert deployed.is_blocked()
    assert [one.status for one in deployed.rules()] == ["active"]
    assert deployed.open_actions() == []


def test_one_deployment_serves_many_children(deployed: Rig) -> None:
    phones = [f"+1555000000{number}" for number in range(5)]
    for number, phone in enumerate(phones):
        deployed.child(phone)
        deployed.policy("TikTok", "Instagram", child=phone)
        deployed.start(f"10.0.0.{number + 1}", phone)
    asked: list[str] = []
    deployed.firewall.at = asked.append
    done = deployed.reconciler.reconcile_all(phones)
    assert asked.count("deploy:after") == 1
    assert all([one.error for one in each] == [None, None] for each in done.values())
    assert all(deployed.is_blocked(ip=f"10.0.0.{number + 1}") for number in range(5))


def test_a_rule_leaves_the_table_after_its_removal_was_deployed(deployed: Rig) -> None:
    blocking(deployed)
    assert deployed.is_blocked()
    deployed.sessions.event("stop", ANNA, "s1")
    deployed.firewall.at = lambda place: _fail(place, "deploy:before")
    deployed.reconciler.reconcile(ANNA)
    assert [one.status for one in deployed.rules()] == ["removing"]
    deployed.firewall.at = lambda place: None
    deployed.pass_time(4)
    assert (deployed.rules(), deployed.is_blocked()) == ([], False)


def _fail(place: str, where: str) -> None:
    if place == where:
        raise Unavailable("the deployment failed")


# --- checks (PC-43) ---


def test_pc_43_every_rule_is_verified_and_its_time_noted(rig: Rig) -> None:
    blocking(rig)
    rig.move(minutes=29)
    regular_checks.verify(rig)
    (mapping,) = rig.rules()
    assert mapping.last_verified == rig.repository.now()
    assert len(rig.history()) == 1, "a check that finds nothing is no news"


def test_pc_43_a_device_that_lost_its_rules_gets_them_back(rig: Rig) -> None:
    blocking(rig, "TikTok", "Instagram")
    rig.firewall.wipe()
    rig.move(minutes=10)
    found = regular_checks.verify(rig)[DEVICE]
    assert (found.missing, found.removed) == (2, 0)
    assert rig.is_blocked()
    assert rig.is_blocked("instagram.com")
    told = rig.told()
    assert (
        told.count("verify TikTok 10.20.30.40 failed")
        == told.count("verify Instagram 10.20.30.40 failed")
        == 1
    )
    assert rig.open_actions() == []


def test_pc_43_a_rule_that_somebody_changed_is_made_right(rig: Rig) -> None:
    blocking(rig)
    (mapping,) = rig.rules()
    rig.firewall.ensure(Rule(mapping.rule_name, IP, domains=("example.com",), digest="another"))
    rig.move(minutes=10)
    regular_checks.verify(rig)
    assert (rig.is_blocked(), rig.is_blocked("example.com")) == (True, False)


def test_pc_43_an_unknown_rule_of_ours_is_removed_and_others_are_left(rig: Rig) -> None:
    blocking(rig)
    rig.firewall.ensure(Rule(f"{PREFIX}0123456789ab_TikTok", "10.9.9.9", domains=("tiktok.com",)))
    rig.firewall.ensure(Rule("OPERATORS_OWN", "10.9.9.9", domains=("example.com",)))
    found = regular_checks.verify(rig)[DEVICE]
    assert found.removed == 1
    assert not rig.is_blocked(ip="10.9.9.9")
    assert rig.is_blocked()
    assert rig.is_blocked("example.com", "10.9.9.9")


def test_a_check_leaves_a_rule_alone_that_somebody_is_just_making(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    rig.start()

    def meanwhile(place: str) -> None:
        if place == "ensure:after":
            rig.firewall.at = lambda place: None
            (mapping,) = rig.rules()
            assert mapping.status == "pending"
            known = rig.reconciler._verifying.compare(mapping, rig.on_device()[0], adopts=True)
            assert known == "waits"

    rig.firewall.at = meanwhile
    rig.reconciler.reconcile(ANNA)
    assert rig.told() == ["block TikTok 10.20.30.40 success"]


@pytest.mark.parametrize("moment", ["before", "while"])
def test_a_check_does_not_take_away_what_is_wanted_again_since_the_device_was_read(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    policy = blocking(rig)
    call, known_as = rig.devices.call, Verifying._known_as

    def wanted_again() -> None:
        rig.policy("TikTok")
        rig.reconciler.reconcile(ANNA)
        assert rig.is_blocked()

    def read_and_unwanted(device_id: str, work: Callable[[FirewallDriver], object]) -> object:
        there = call(device_id, work)
        monkeypatch.setattr(rig.devices, "call", call)
        rig.delete(policy)
        rig.reconciler.reconcile(ANNA)
        return there

    def wanted_and_removed(device_id: str, work: Callable[[FirewallDriver], object]) -> object:
        monkeypatch.setattr(rig.devices, "call", call)
        wanted_again()
        return call(device_id, work)

    def looked(self: Verifying, device_id: str, rule: DeviceRule) -> RuleMapping | None:
        monkeypatch.setattr(Verifying, "_known_as", known_as)
        if moment == "before":
            wanted_again()
        else:
            monkeypatch.setattr(rig.devices, "call", wanted_and_removed)
        return known_as(self, device_id, rule)

    monkeypatch.setattr(rig.devices, "call", read_and_unwanted)
    monkeypatch.setattr(Verifying, "_known_as", looked)
    rig.reconciler.verify(DEVICE)
    assert rig.is_blocked()
    assert [one.status for one in rig.rules()] == ["active"]


def test_a_device_that_does_not_answer_is_not_verified_and_keeps_no_other_waiting(rig: Rig) -> None:
    rig.device("another")
    rig.stop_device()
    assert list(regular_checks.verify(rig)) == ["another"]


# --- the truth (PC-X6) ---


def test_without_a_session_a_parent_is_told_so(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    assert [(one.app, one.state) for one in rig.reconciler.status(ANNA)] == [("TikTok", "no session")]


def test_before_anything_was_done_it_is_on_its_way(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    rig.start()
    assert [(one.state, one.reason) for one in rig.reconciler.status(ANNA)] == [("pending", "on its way")]
    rig.reconciler.reconcile(ANNA)
    assert [one.state for one in rig.reconciler.status(ANNA)] == ["enforced"]


def test_an_app_of_which_nothing_may_be_blocked_is_not_said_to_be(rig: Rig) -> None:
    rig.child()
    family = rig.repository.family("family-1")
    allowed = family.model_copy(update={"allowed_domains": ["instagram.com"]})
    rig.db.write(d.families.change(family, allowed))
    rig.policy("Instagram", "Nobody knows this")
    rig.start()
    rig.reconciler.reconcile(ANNA)
    told = {one.app: one for one in rig.reconciler.status(ANNA)}
    assert told["Instagram"].state == told["Nobody knows this"].state == "failed"
    assert "always allows" in told["Instagram"].reason
    assert rig.on_device() == [], "no rule at all, instead of one that blocks everything"


def test_where_a_firewall_cannot_cut_what_is_open_a_parent_is_told_so(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    rig.start()
    rig.follow()
    status = rig.state("TikTok")
    assert status is not None
    assert (status.state, status.reason) == ("enforced", "")
    rig.devices.change(DEVICE, kind="cisco_fmc")
    status = rig.state("TikTok")
    assert status is not None
    assert status.state == "enforced"
    assert "connections that were already open continue" in status.reason


def test_one_of_two_devices_of_a_child_that_is_not_blocked_yet_means_pending(rig: Rig) -> None:
    rig.device("another")
    blocking(rig)
    rig.start(OTHER_IP, session="s2", device="another")
    status = rig.state("TikTok")
    assert status is not None
    assert status.state == "pending"
    rig.reconciler.reconcile(ANNA)
    status = rig.state("TikTok")
    assert status is not None
    assert status.state == "enforced"
    assert [rule.source for rule in rig.on_device("another")] == [OTHER_IP]


def test_pc_x6_an_app_is_blocked_since_the_last_of_its_rules_was_confirmed(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    rig.device("another")
    rig.start()
    rig.start(OTHER_IP, session="s2", device="another")
    rig.stop_device()
    rig.reconciler.reconcile(ANNA)
    rig.pass_time(75)
    rig.start_device()
    rig.pass_time(60)
    first, last = (one.occurred_at for one in rig.history() if one.status == "success")
    assert last - first >= timedelta(seconds=75)
    status = rig.state("TikTok")
    assert status is not None
    assert (status.state, status.since) == ("enforced", last)


def test_pc_x6_a_rule_that_was_lost_and_made_again_blocks_since_then(rig: Rig) -> None:
    blocking(rig)
    rig.move(hours=1)
    rig.firewall.wipe()
    regular_checks.verify(rig)
    status = rig.state("TikTok")
    assert status is not None
    assert (status.state, status.since) == ("enforced", rig.history()[-1].occurred_at)
    assert rig.history()[-1].occurred_at - rig.history()[0].occurred_at >= timedelta(hours=1)


# --- devices as operators see them ---


def test_devices_are_added_once_and_changed_by_version(rig: Rig) -> None:
    made = rig.devices.add(Device(device_id="x", kind="nftables", name="Gate", access_policy_id="p"))
    with pytest.raises(Conflict):
        rig.devices.add(made)
    changed = rig.devices.change("x", made.version, name="Gateway")
    assert (changed.name, changed.version) == ("Gateway", 2)
    with pytest.raises(VersionConflict):
        rig.devices.change("x", made.version, name="Wall")
    with pytest.raises(NotFound):
        rig.devices.get("nowhere")
    assert {one.device_id for one in rig.devices.all()} == {DEVICE, "x"}


def test_a_health_check_tells_how_a_device_is_and_ends_its_rest(rig: Rig) -> None:
    rig.stop_device()
    for _ in range(3):
        with pytest.raises(Unavailable):
            rig.devices.call(DEVICE, lambda driver: driver.list())
    assert not rig.devices.health(DEVICE).is_ok
    rig.start_device()
    assert rig.devices.health(DEVICE).is_ok
    assert rig.devices.get(DEVICE).breaker_until is None


def test_a_session_behind_a_device_that_was_taken_away_counts_for_nothing_and_its_old_rules_go(
    rig: Rig,
) -> None:
    blocking(rig)
    rig.db.write(d.devices.discard(DEVICE))
    rig.policy("Instagram")
    rig.reconciler.reconcile(ANNA)
    status = rig.state("Instagram")
    assert status is not None
    assert status.state == "no session"
    assert (rig.rules(), rig.sessions.open_of(ANNA)) == ([], [])
    rig.move(minutes=1)
    rig.sessions.event("heartbeat", ANNA, "s1")
    assert rig.sessions.open_of(ANNA) == []


def test_drivers_are_made_by_the_kind_of_device(tmp_path: Path) -> None:
    world: World = Clock(START).world()
    opened: Callable[[Device], FirewallDriver] = open_driver(
        tmp_path, world, lambda device: Secret("user", "secret", Endpoint("fmc.example"))
    )
    base = Device(device_id="../a b", kind="simulated", name="x", address="fmc.example", access_policy_id="p")
    kinds = {"simulated": SimulatedFirewall, "nftables": NftablesFirewall, "cisco_fmc": CiscoFmc}
    for kind, driver in kinds.items():
        made = opened(base.model_copy(update={"kind": kind, "secret_name": "fmc"}))
        assert isinstance(made, driver)
        made.close()
    assert all(path.parent == tmp_path for path in tmp_path.iterdir())


# --- planning, by itself ---


def test_a_plan_leaves_what_somebody_is_at_and_takes_it_up_when_their_claim_has_run_out(rig: Rig) -> None:
    blocking(rig)
    (active,) = rig.rules()
    state = rig.reconciler._read(ANNA)
    held = active.moved(status="pending", next_try_at=START + timedelta(minutes=2), last_verified=NEVER)
    plan = plans.plan(state.wanted, [held], state.places, START)
    assert (plan.ensures, plan.removes, plan.blocks_wait) == ((), (), True)
    later = plans.plan(state.wanted, [held], state.places, START + timedelta(minutes=2))
    assert [one.wanted.rule_id for one in later.ensures] == [held.rule_id]
    unwanted = plans.plan([], [held], state.places, START)
    assert (unwanted.removes, unwanted.unblocks_wait) == ((), True)


def test_a_plan_with_everything_settled_is_empty(rig: Rig) -> None:
    blocking(rig, "TikTok", "Instagram")
    state = rig.reconciler._read(ANNA)
    assert plans.plan(state.wanted, state.rules, state.places, START) == plans.Plan()
    session = state.sessions[0].model_copy(update={"expires_at": START + timedelta(days=3)})
    longer = [replace(one, session=session) for one in state.wanted]
    noted = plans.plan(longer, state.rules, state.places, START)
    assert len(noted.touched) == 2
    assert not noted.ensures


def test_windows_that_open_wake_whom_they_concern_and_nobody_else(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok", windows=[NIGHT])
    rig.start()
    rig.reconciler.reconcile(ANNA)
    (wake,) = rig.db.all(d.wakes_due())
    assert (wake.child, wake.at) == (ANNA, START + timedelta(hours=1))
    rig.sessions.event("stop", ANNA, "s1")
    rig.reconciler.reconcile(ANNA)
    assert list(rig.db.all(d.wakes_due())) == []


def test_a_rejection_of_a_removal_is_tried_again(rig: Rig) -> None:
    blocking(rig)
    rig.sessions.event("stop", ANNA, "s1")
    rig.firewall.fail_next(Rejected("not now"))
    rig.reconciler.reconcile(ANNA)
    assert [one.status for one in rig.rules()] == ["removing"]
    rig.pass_time(4)
    assert (rig.rules(), rig.on_device()) == ([], [])
