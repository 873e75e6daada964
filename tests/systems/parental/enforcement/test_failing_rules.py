"""What fails, rule by rule: each once, however often it was tried and however the list is paged."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from tests.systems.parental.rig import ANNA, BEN, DEVICE, IP, START, Rig, closing, make_rig

from tablewright import testing
from tablewright.client import embedded
from tablewright.mapping import Page
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import failing_rules
from tablewright.systems.parental.enforcement.failing_rules import Failing, FailingRules
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
def rules(rig: Rig) -> FailingRules:
    return FailingRules(rig.repository)


def tried(rig: Rig, rule: str, at: datetime, attempt: int = 1, status: OpenStatus = "failed") -> None:
    """An attempt upon a rule that did not succeed."""
    child = ANNA if rule < "m" else BEN
    one = Action(
        child=child, occurred_at=at, action_id=rig.repository.new_timed_id(at), action="block", app_name=rule,
        privateIP=IP, rule_id=rule, status=status, status_key=status, attempt=attempt,
        ftd_response={"deviceId": DEVICE},
    )  # fmt: skip
    rig.db.write(d.actions.create(one))


def pages(rules: FailingRules, size: int) -> Iterator[Page[Failing]]:
    page = rules.page(OPERATOR, size=size)
    yield page
    while page.next is not None:
        page = rules.page(OPERATOR, size=size, after=page.next)
        yield page


def names(found: Page[Failing]) -> list[str]:
    return [one.newest.app_name for one in found.items]


def test_a_rule_that_failed_twice_stands_once_with_its_attempts_and_when_it_is_tried_next(
    rig: Rig, rules: FailingRules
) -> None:
    rig.child()
    rig.policy("TikTok")
    rig.start()
    for error in ("first", "second"):
        rig.firewall.fail_next(Unavailable(error))
        rig.reconciler.reconcile(ANNA)
        rig.move(minutes=1)
    (rule,) = rig.rules()
    (one,) = rules.page(OPERATOR).items
    assert [action.error_message for action in one.latest] == ["second", "first"]
    assert one.newest == one.latest[0]
    assert (one.tried, one.since, one.next_try_at) == (2, START, rule.next_try_at)
    rig.reconciler.retry(ANNA, rule.rule_id)
    assert rules.page(OPERATOR).items == ()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 50])
def test_whoever_goes_through_the_pages_meets_each_rule_once_where_it_was_tried_last(
    rig: Rig, rules: FailingRules, size: int
) -> None:
    at = START
    for minute, rule in enumerate(("x", "a", "b", "x", "a", "z", "a", "x")):
        tried(rig, rule, at + timedelta(minutes=minute), attempt=minute)
    tried(rig, "waits", at, status="pending")
    found = [names(page) for page in pages(rules, size)]
    assert [name for page in found for name in page] == ["x", "a", "z", "b"]
    assert all(len(page) <= size for page in found)
    assert names(rules.page(OPERATOR, "pending")) == ["waits"]


def test_a_page_reads_a_bounded_number_of_attempts_and_says_that_it_is_not_the_last(
    rig: Rig, rules: FailingRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failing_rules, "STEP", 2)
    monkeypatch.setattr(failing_rules, "WALKED", 4)
    for minute in range(9):
        tried(rig, "often", START + timedelta(minutes=minute + 1))
    tried(rig, "refused", START)
    assert [names(page) for page in pages(rules, 50)] == [["often"], [], ["refused"]]
