"""What fails, rule by rule, however often it was tried."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from tests.systems.parental.rig import ANNA, BEN, DEVICE, IP, START, Rig, closing, make_rig

from tablewright import testing
from tablewright.client import embedded
from tablewright.mapping import Page
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import history
from tablewright.systems.parental.enforcement.history import FailingRule, Records
from tablewright.systems.parental.family.families import Families
from tablewright.systems.parental.firewall.driver import Unavailable
from tablewright.systems.parental.model import Action, OpenStatus
from tablewright.systems.parental.seed import OPERATOR
from tablewright.testing import Clock


@pytest.fixture
def rig() -> Iterator[Rig]:
    clock = Clock(START)
    with (
        testing.engine(world=clock.world()) as engine,
        closing(make_rig(embedded(engine), clock, engine)) as made,
    ):
        yield made


@pytest.fixture
def records(rig: Rig) -> Records:
    return Records(rig.repository, Families(rig.repository))


def tried(rig: Rig, rule: str, at: datetime, attempt: int = 1, status: OpenStatus = "failed") -> None:
    """An attempt upon a rule that did not succeed."""
    child = ANNA if rule < "m" else BEN
    one = Action(
        child=child, occurred_at=at, action_id=rig.repository.new_timed_id(at), action="block", app_name=rule,
        privateIP=IP, rule_id=rule, status=status, status_key=status, attempt=attempt,
        ftd_response={"deviceId": DEVICE},
    )  # fmt: skip
    rig.db.write(d.actions.create(one))


def names(found: Page[FailingRule]) -> list[str]:
    return [one.newest.app_name for one in found.items]


def test_a_rule_that_failed_twice_stands_once_with_its_attempts_and_when_it_is_tried_next(
    rig: Rig, records: Records
) -> None:
    rig.child()
    rig.policy("TikTok")
    rig.start()
    for error in ("first", "second"):
        rig.firewall.fail_next(Unavailable(error))
        rig.reconciler.reconcile(ANNA)
        rig.move(minutes=1)
    (rule,) = rig.rules()
    (one,) = records.failing_rules(OPERATOR).items
    assert [action.error_message for action in one.latest] == ["second", "first"]
    assert one.newest == one.latest[0]
    assert (one.tried, one.since, one.next_try_at) == (2, START, rule.next_try_at)
    rig.reconciler.retry(ANNA, rule.rule_id)
    assert records.failing_rules(OPERATOR).items == ()


def test_a_page_has_each_rule_once_where_it_was_tried_last(rig: Rig, records: Records) -> None:
    for minute, rule in enumerate(("x", "a", "b", "x", "a", "z", "a", "x")):
        tried(rig, rule, START + timedelta(minutes=minute), attempt=minute)
    tried(rig, "waits", START, status="pending")
    assert names(records.failing_rules(OPERATOR)) == ["x", "a", "z", "b"]
    assert names(records.failing_rules(OPERATOR, "pending")) == ["waits"]


def test_attempts_that_are_not_on_a_page_are_on_the_next(
    rig: Rig, records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "ATTEMPTS", 2)
    for minute, rule in enumerate(("b", "a", "a", "a")):
        tried(rig, rule, START + timedelta(minutes=minute))
    first = records.failing_rules(OPERATOR)
    second = records.failing_rules(OPERATOR, after=first.next)
    assert (names(first), names(second)) == (["a"], ["a", "b"])
