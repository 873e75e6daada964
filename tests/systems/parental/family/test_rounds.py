"""What is looked at some at a time, and what is found without looking at everybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from tests.systems.parental.talk import ANNA, OTHER_PHONE, PHONE, ZOE, Place

from tablewright.kit.tables import Actor
from tablewright.mapping import Db
from tablewright.systems.parental import design as d
from tablewright.systems.parental import jobs
from tablewright.systems.parental.blocked import weekly_report
from tablewright.systems.parental.enforcement import regular_checks
from tablewright.systems.parental.model import BlockedApp, Policy
from tablewright.systems.parental.policy import policies_by_app
from tablewright.systems.parental.policy.policies import Draft


def _families(at: Place, count: int) -> list[str]:
    """So many families with a child each, without the ceremony of proving their numbers."""
    made = []
    for number in range(count):
        actor = Actor(f"p{number}@example.com", "parent", f"p{number}", f"p{number}@example.com")
        made.append(at.child(actor, f"+1555300{number:04}", "Kid").child)
    return made


def _asked(db: Db, work: Callable[[], object]) -> Counter[str]:
    """How often each request was made meanwhile."""
    before = {name: spent.requests for name, spent in db.meter.spent().items()}
    work()
    return Counter(
        {name: spent.requests - before.get(name, 0) for name, spent in db.meter.spent().items()}
    )  # fmt: skip


def test_a_sweep_looks_at_some_families_and_goes_on_where_it_stopped(at: Place) -> None:
    everybody = set(_families(at, 5))
    seen: list[str] = []
    reconcile = at.parental.reconciler.reconcile_all

    def noting(children, skip_backoff=frozenset()):  # type: ignore[no-untyped-def]  # stands in for the real one
        keys = list(children)
        seen.extend(keys)
        return reconcile(keys, skip_backoff)

    at.parental.reconciler.reconcile_all = noting  # type: ignore[method-assign]
    assert [regular_checks.sweep(at.parental, at_most=2) for _ in range(3)] == [2, 2, 1]
    assert (set(seen), len(seen)) == (everybody, 5)
    assert regular_checks.sweep(at.parental, at_most=2) == 0, "one round a day"
    at.clock.move(timedelta(days=1))
    assert regular_checks.sweep(at.parental, at_most=2) == 2


def test_a_sweep_asks_as_little_for_a_thousand_families_as_for_ten(at: Place) -> None:
    _families(at, 12)
    asked = _asked(at.db, lambda: regular_checks.sweep(at.parental, at_most=3))
    assert asked["children_of_family"] == 3


def test_a_walk_that_ends_exactly_with_the_last_family_ends(at: Place) -> None:
    _families(at, 4)
    assert [regular_checks.sweep(at.parental, at_most=2) for _ in range(4)] == [2, 2, 0, 0]


def test_a_purge_looks_at_nothing_but_what_is_due(at: Place) -> None:
    children = _families(at, 6)
    owner = Actor("p0@example.com", "parent", "p0", "p0@example.com")
    child = at.parental.repository.child(children[0])
    gone = at.policy(child, "TikTok", by=owner)
    at.policy(child, "YouTube", by=owner)
    at.parental.policies.delete(child, gone.policy_id, owner)
    at.clock.move(timedelta(days=30, milliseconds=-1))
    assert jobs.purge_policies(at.parental) == 0
    at.clock.move(timedelta(milliseconds=1))
    asked = _asked(at.db, lambda: jobs.purge_policies(at.parental))
    assert (asked["policies_of_child"], asked["policy_by_id"], asked["children_of_family"]) == (0, 1, 0)
    kept = at.parental.repository.policies_of(child.child, deleted=True)
    assert [policy.blocked_apps[0].app_name for policy in kept] == ["YouTube"]
    assert list(at.db.all(d.purges_due())) == []


def test_a_deleted_policy_moves_to_a_new_number_and_is_purged_there(at: Place) -> None:
    child = at.child()
    gone = at.policy(child, "TikTok")
    at.parental.policies.delete(child, gone.policy_id, ANNA)
    at.parental.children.prove(OTHER_PHONE, ANNA)
    moved = at.parental.children.change_number(child, OTHER_PHONE, at.code(OTHER_PHONE), ANNA)
    at.parental.tasks.run_due()
    at.clock.move(timedelta(days=30))
    assert jobs.purge_policies(at.parental) == 1
    assert at.parental.repository.policies_of(moved.child, deleted=True) == []


def test_pc_x15_whom_an_app_is_about_is_found_without_looking_at_other_families(at: Place) -> None:
    _families(at, 8)
    child = at.child()
    policy = at.policy(child, "TikTok")
    found: list[Policy] = []
    asked = _asked(at.db, lambda: found.extend(at.parental.registry.affected("tiktok").policies))
    assert found == [policy]
    assert (asked["policies_of_child"], asked["children_of_family"], asked["families_after"]) == (1, 0, 0)


def test_what_a_policy_names_no_more_is_forgotten_when_somebody_looks(at: Place) -> None:
    child = at.child()
    policy = at.policy(child, "TikTok")
    draft = Draft([BlockedApp(app_name="YouTube")])
    at.parental.policies.replace(child, policy.policy_id, draft, ANNA, policy.version)
    assert {use.app for use in at.db.all(d.uses_of_child(child=PHONE))} == {"tiktok", "youtube"}
    assert at.parental.registry.affected("TikTok").policies == ()
    assert {use.app for use in at.db.all(d.uses_of_child(child=PHONE))} == {"youtube"}


def test_what_is_named_again_while_somebody_looks_stays_noted(at: Place) -> None:
    """Between the look at the policies and the tidying up a parent names the app again."""
    child = at.child()
    policies_by_app.note(at.parental.repository, child.child, [BlockedApp(app_name="TikTok")])
    real = at.parental.repository.policies_of

    def late(key: str, *, deleted: bool = False):  # type: ignore[no-untyped-def]  # stands in for the real one
        found = real(key, deleted=deleted)
        at.parental.repository.policies_of = real  # type: ignore[method-assign]
        at.policy(child, "TikTok")
        return found

    at.parental.repository.policies_of = late  # type: ignore[assignment,method-assign]
    assert at.parental.registry.affected("TikTok").policies == ()
    assert len(at.parental.registry.affected("TikTok").policies) == 1


def test_a_sweep_mends_what_came_by_another_way(at: Place) -> None:
    child = at.child(ZOE)
    at.policy(child, "TikTok", by=ZOE)
    at.db.write(d.uses.discard(child.child, "tiktok"))
    assert at.parental.registry.affected("TikTok").policies == ()
    regular_checks.sweep(at.parental)
    assert at.parental.registry.affected("TikTok").children == (child.child,)


# --- the week ---


def test_pc_x10_reports_cost_nothing_while_none_is_due_and_a_run_takes_so_many(at: Place) -> None:
    _families(at, 5)
    repository = at.parental.repository
    assert weekly_report.run(repository) == 0
    idle = _asked(at.db, lambda: weekly_report.run(repository))
    assert {name: count for name, count in idle.items() if count} == {"reports_due": 1}
    at.clock.move(timedelta(days=7))
    assert [weekly_report.run(repository, at_most=2) for _ in range(4)] == [2, 2, 1, 0]
    at.clock.move(timedelta(days=7))
    assert weekly_report.run(repository) == 5


def test_a_family_that_is_trouble_keeps_no_other_from_its_report(at: Place) -> None:
    first, *others = _families(at, 3)
    repository = at.parental.repository
    weekly_report.run(repository)
    child = repository.child(first)
    at.db.write(d.children.change(child, child.model_copy(update={"timezone": "Nowhere/Such"})))
    at.clock.move(timedelta(days=7))
    assert weekly_report.run(repository) == len(others)
    assert weekly_report.run(repository) == 0, "it is not tried every time"
    broken = repository.child(first)
    at.db.write(d.children.change(broken, broken.model_copy(update={"timezone": "Europe/Berlin"})))
    at.clock.move(timedelta(hours=1))
    assert weekly_report.run(repository) == 1


def test_a_family_whose_report_nobody_noted_is_found_by_the_sweep(at: Place) -> None:
    at.child()
    family = at.parental.families.own(ANNA)
    at.db.write(d.reports.discard(family.family_id))
    at.clock.move(timedelta(days=7))
    assert weekly_report.run(at.parental.repository) == 0
    regular_checks.sweep(at.parental)
    assert weekly_report.run(at.parental.repository) == 1


def test_what_is_left_of_a_family_that_is_gone_goes(at: Place) -> None:
    at.child()
    family = at.parental.families.own(ANNA)
    at.db.write(d.families.discard(family.family_id))
    assert weekly_report.run(at.parental.repository) == 0
    assert list(at.db.all(d.reports_due())) == []
