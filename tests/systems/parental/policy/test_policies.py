"""Policies and exceptions: ids, versions, limits, mistakes that name their field (PC-1 to PC-11, PC-X13, PC-X14)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from tests.client.ways import WAYS
from tests.systems.parental.talk import ANNA, BEN, OTHER_PHONE, PHONE, ZOE, Json, Place, refuses, window
from tests.systems.talk import at_once

from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.model import EVERYTHING, BlockedApp, Override, Policy, Port
from tablewright.systems.parental.policy import policies
from tablewright.systems.parental.policy.policies import Draft, Saved

TIKTOK = [BlockedApp(app_name="TikTok")]


@pytest.fixture(params=list(WAYS))
def every_way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestOnEveryWay:
    """What must hold however the tables are reached."""

    @pytest.fixture
    def way(self, every_way: str) -> str:
        return every_way

    def test_pc_s9_fifty_policies_made_at_once_have_fifty_ids(self, at: Place) -> None:
        child = at.child()
        create = at.parental.policies.create
        outcomes = at_once(
            [partial(create, child, Draft(TIKTOK, notes=f"number {n}"), ANNA) for n in range(50)], threads=50
        )
        assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
        kept = at.parental.policies.of_child(child)
        assert [policy.policy_id for policy in kept] == [f"policy_20300614_{n:03}" for n in range(1, 51)]
        assert {policy.notes for policy in kept} == {f"number {n}" for n in range(50)}

    def test_pc_s8_of_two_parents_who_edit_one_version_one_is_told_what_the_other_made(
        self, at: Place
    ) -> None:
        child = at.child()
        at.guardian(at.parental.families.own(ANNA), BEN)
        policies = at.parental.policies
        made = at.policy(child)
        for version in (1, 2, 3):
            saved = policies.replace(
                child, made.policy_id, Draft(TIKTOK, notes=f"v{version}"), ANNA, expected=version
            )
        assert saved.policy.version == 4
        outcomes = at_once(
            [
                partial(policies.replace, child, made.policy_id, Draft(TIKTOK, notes=who.name), who, 4)
                for who in (ANNA, BEN)
            ]
        )
        (won,) = [outcome for outcome in outcomes if isinstance(outcome, Saved)]
        (lost,) = [outcome for outcome in outcomes if isinstance(outcome, VersionConflict)]
        assert won.policy.version == 5
        assert lost.facts["currentVersion"] == 5
        assert lost.current == won.policy == policies.get(child, made.policy_id)

    def test_the_limit_of_policies_is_exact_however_many_come_at_once(self, at: Place) -> None:
        child = at.child()
        for _ in range(field_rules.POLICIES_PER_CHILD - 3):
            at.policy(child)
        outcomes = at_once([partial(at.policy, child) for _ in range(8)], threads=8)
        codes = [getattr(outcome, "code", "ok") for outcome in outcomes]
        assert sorted(codes) == ["LIMIT_EXCEEDED"] * 5 + ["ok"] * 3
        assert len(at.parental.policies.of_child(child)) == field_rules.POLICIES_PER_CHILD


def test_pc_x13_the_limit_of_policies_holds_though_the_day_changes_while_two_are_made(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_rules, "POLICIES_PER_CHILD", 1)
    child, numbered = at.child(), policies.next_policy_id

    def overtaken(there: list[Policy], policy: Policy) -> str:
        monkeypatch.setattr(policies, "next_policy_id", numbered)
        named = numbered(there, policy)
        at.clock.move(timedelta(days=1))
        at.policy(child)
        return named

    monkeypatch.setattr(policies, "next_policy_id", overtaken)
    with refuses("LIMIT_EXCEEDED"):
        at.policy(child)
    assert len(at.parental.policies.of_child(child)) == 1


# --- ids ---


def test_pc_d15_ids_count_for_each_child_and_each_day_of_utc(at: Place) -> None:
    child, other = at.child(), at.child(phone=OTHER_PHONE, name="Tom")
    first, second, third = at.policy(child), at.policy(child), at.policy(other)
    at.clock.move(timedelta(hours=10))
    fourth = at.policy(child)
    assert [p.policy_id for p in (first, second, third, fourth)] == [
        "policy_20300614_001",
        "policy_20300614_002",
        "policy_20300614_001",
        "policy_20300615_001",
    ]


def test_the_id_of_a_deleted_policy_is_not_given_again(at: Place) -> None:
    child = at.child()
    first = at.policy(child)
    at.parental.policies.delete(child, first.policy_id, ANNA)
    assert at.policy(child).policy_id == "policy_20300614_002"
    with refuses("POLICY_NOT_FOUND"):
        at.parental.policies.get(child, first.policy_id)
    kept = at.db.one(d.policies.get(PHONE, first.policy_id))
    assert kept is not None
    assert (kept.status, kept.deleted_at) == ("deleted", at.clock.now())


def test_pc_x7_a_policy_asked_for_twice_with_one_key_is_one_policy(at: Place) -> None:
    child = at.child()
    create = partial(at.parental.policies.create, child, key="key-00001")
    first = create(Draft(TIKTOK), ANNA)
    outcomes = at_once([partial(create, Draft(TIKTOK), ANNA) for _ in range(10)])
    assert all(outcome == first for outcome in outcomes)
    assert len(at.parental.policies.of_child(child)) == 1
    with refuses("IDEMPOTENCY_KEY_REUSED"):
        create(Draft(TIKTOK, notes="another"), ANNA)


def test_one_key_asked_with_at_once_makes_one_policy(at: Place) -> None:
    child = at.child()
    create = partial(at.parental.policies.create, child, Draft(TIKTOK), ANNA, key="key-00001")
    outcomes = at_once([create for _ in range(16)], threads=16)
    assert all(isinstance(outcome, Saved) for outcome in outcomes), outcomes
    assert len(at.parental.policies.of_child(child)) == 1


# --- what is written ---


def test_pc_4_a_policy_has_what_the_document_says(at: Place) -> None:
    child = at.child()
    made = at.policy(
        child,
        "TikTok",
        "Instagram",
        windows=[window("22:00", "06:00"), window("08:00", "15:00", "MON", "TUE", "WED", "THU", "FRI")],
        notes="School and sleep time restrictions",
    )
    (item,) = at.scan("ParentalPolicies")
    assert item["childPhoneNumber"] == {"S": PHONE}
    assert item["policyId"] == {"S": made.policy_id}
    assert item["parentEmail"] == {"S": "anna@example.com"}
    assert item["status"] == {"S": "active"}
    assert item["version"] == {"N": "1"}
    assert item["createdAt"]["S"].startswith("2030-06-14T14:00:00")
    assert [entry["M"]["appName"]["S"] for entry in item["blockedApps"]["L"]] == ["TikTok", "Instagram"]


def test_an_app_is_kept_as_the_registry_spells_it(at: Place) -> None:
    child = at.child()
    assert at.policy(child, "tiktok").blocked_apps[0].app_name == "TikTok"


def test_domains_of_ones_own_make_an_app_that_no_registry_knows(at: Place) -> None:
    child = at.child()
    own = BlockedApp(app_name="Grandma's game", domains=["*.Game.example"])
    saved = at.parental.policies.create(child, Draft([own], [window("22:00", "06:00")]), ANNA)
    assert saved.policy.blocked_apps[0].domains == ["game.example"]
    with refuses("UNKNOWN_APP", "blockedApps[0].appName"):
        at.policy(child, "Grandma's other game")


def test_everything_may_be_blocked(at: Place) -> None:
    assert at.policy(at.child(), EVERYTHING).blocked_apps[0].app_name == EVERYTHING


def test_pc_x14_overlapping_windows_are_merged_with_a_notice(at: Place) -> None:
    child = at.child()
    draft = Draft(TIKTOK, [window("20:00", "23:00", "MON"), window("22:00", "06:00", "MON")])
    saved = at.parental.policies.create(child, draft, ANNA)
    assert [(w.start_time, w.end_time) for w in saved.policy.time_windows] == [("20:00", "06:00")]
    assert [notice.code for notice in saved.notices] == ["WINDOWS_MERGED"]


def test_pc_d10_whoever_asks_for_what_is_not_enforced_is_told_at_once_and_why(at: Place) -> None:
    child = at.child()
    puzzles = BlockedApp(
        app_name="Puzzles",
        domains=["cloudfront.net", "puzzle.example"],
        ip_ranges=["0.0.0.0/0", "142.250.0.0/15", "203.0.113.0/24"],
    )
    given = Draft([*TIKTOK, puzzles])
    saved = at.parental.policies.create(child, given, ANNA, key="one")
    assert {(notice.code, notice.field) for notice in saved.notices} == {
        ("NOT_ENFORCED", "blockedApps[1].domains"),
        ("NOT_ENFORCED", "blockedApps[1].ipRanges"),
    }
    told = [notice.message for notice in saved.notices]
    assert [words.split(" is not blocked (")[0] for words in told] == [
        "cloudfront.net",
        "0.0.0.0/0",
        "142.250.0.0/15",
    ]
    assert "anyone can rent servers there" in told[0]
    assert "the network of all of Google" in told[2]
    assert at.parental.policies.create(child, given, ANNA, key="one").notices == saved.notices
    again = at.parental.policies.replace(child, saved.policy.policy_id, given, ANNA, expected=1)
    assert again.notices == saved.notices


def test_a_site_that_the_family_always_allows_is_told_to_whoever_blocks_it(at: Place) -> None:
    child = at.child()
    at.parental.families.change(child.family_id, {"allowed_domains": ["forum.example"]}, ANNA)
    own = BlockedApp(app_name="Forums", domains=["a.forum.example", "b.example"])
    (notice,) = at.parental.policies.create(child, Draft([own]), ANNA).notices
    assert notice.message == "a.forum.example is not blocked (the family always allows forum.example)."


@pytest.mark.parametrize(
    ("entry", "code", "field"),
    [
        ({"ipRanges": ["10.0.0.0/8", "300.0.0.0/8"]}, "INVALID_CIDR", "blockedApps[0].ipRanges[1]"),
        ({"ports": [{"port": 443}, {"port": 0}]}, "INVALID_PORT", "blockedApps[0].ports[1].port"),
        ({"ports": [{"port": 65536}]}, "INVALID_PORT", "blockedApps[0].ports[0].port"),
        ({"domains": ["http://x.example/y"]}, "INVALID_DOMAIN", "blockedApps[0].domains[0]"),
        ({"appName": ""}, "INVALID_APP", "blockedApps[0].appName"),
        ({"appName": "a#b"}, "INVALID_APP", "blockedApps[0].appName"),
    ],
)
def test_pc_x14_a_mistake_in_an_app_names_its_field(at: Place, entry: Json, code: str, field: str) -> None:
    child = at.child()
    before = at.everything()
    with refuses(code, field):
        at.parental.policies.create(
            child, Draft([BlockedApp.model_validate({"appName": "TikTok", **entry})]), ANNA
        )
    assert at.everything() == before


@pytest.mark.parametrize(
    ("one", "code", "field"),
    [
        (window("22:00", "06:00", "MON", "FUN"), "INVALID_WINDOW", "timeWindows[0].days[1]"),
        (window("24:00", "06:00"), "INVALID_WINDOW", "timeWindows[0].startTime"),
        (window("22:00", "6am"), "INVALID_WINDOW", "timeWindows[0].endTime"),
        ({"startTime": "22:00", "endTime": "06:00"}, "INVALID_WINDOW", "timeWindows[0]"),
    ],
)
def test_pc_x14_a_mistake_in_a_window_names_its_field(at: Place, one: Json, code: str, field: str) -> None:
    with refuses(code, field):
        at.policy(at.child(), windows=[one])


def test_pc_x14_an_app_stands_in_a_policy_once(at: Place) -> None:
    with refuses("DUPLICATE_APP", "blockedApps[1].appName"):
        at.policy(at.child(), "TikTok", "tiktok")


def test_pc_x13_there_are_limits(at: Place) -> None:
    child = at.child()
    many = [BlockedApp(app_name=f"app {n}", domains=[f"a{n}.example"]) for n in range(101)]
    create = at.parental.policies.create
    create(child, Draft(many[:100]), ANNA)
    with refuses("LIMIT_EXCEEDED", "blockedApps"):
        create(child, Draft(many), ANNA)
    windows = [window(f"{n // 2:02}:{n % 2 * 30:02}", f"{n // 2:02}:{n % 2 * 30 + 10:02}") for n in range(21)]
    create(child, Draft(TIKTOK, windows[:20]), ANNA)
    with refuses("LIMIT_EXCEEDED", "timeWindows"):
        create(child, Draft(TIKTOK, windows), ANNA)
    domains = [f"d{n}.example" for n in range(201)]
    create(child, Draft([BlockedApp(app_name="x", domains=domains[:200])]), ANNA)
    with refuses("LIMIT_EXCEEDED", "blockedApps[0].domains"):
        create(child, Draft([BlockedApp(app_name="x", domains=domains)]), ANNA)


def test_a_policy_in_force_says_what_it_blocks_and_a_draft_need_not(at: Place) -> None:
    child = at.child()
    with refuses("EMPTY_POLICY", "blockedApps"):
        at.parental.policies.create(child, Draft([]), ANNA)
    draft = at.parental.policies.create(child, Draft([], status="draft"), ANNA).policy
    with refuses("EMPTY_POLICY"):
        at.parental.policies.resume(child, draft.policy_id, ANNA)
    filled = at.parental.policies.replace(
        child, draft.policy_id, Draft([BlockedApp(app_name="TikTok", ports=[Port(port=443)])]), ANNA, 1
    )
    assert filled.policy.status == "active"


def test_a_policy_may_live_by_another_clock_than_its_child(at: Place) -> None:
    child = at.child()
    assert at.policy(child, timezone="Europe/Berlin").timezone == "Europe/Berlin"
    with refuses("INVALID_TIMEZONE", "timezone"):
        at.policy(child, timezone="Berlin")


# --- pause, resume, delete ---


def test_what_is_paused_stays_paused_through_an_edit_until_it_is_resumed(at: Place) -> None:
    child = at.child()
    policies = at.parental.policies
    made = at.policy(child)
    until = at.clock.now() + timedelta(hours=2)
    paused = policies.pause(child, made.policy_id, ANNA, until)
    assert (paused.status, paused.paused_until, paused.version) == ("paused", until, 2)
    edited = policies.replace(child, made.policy_id, Draft(TIKTOK, notes="x"), ANNA, 2).policy
    assert (edited.status, edited.paused_until) == ("paused", until)
    resumed = policies.resume(child, made.policy_id, ANNA)
    assert (resumed.status, resumed.paused_until) == ("active", None)
    with refuses("INVALID_TIME", "until"):
        policies.pause(child, made.policy_id, ANNA, at.clock.now())
    with refuses("VERSION_CONFLICT"):
        policies.delete(child, made.policy_id, ANNA, expected=1)


def test_what_changes_nothing_is_not_written(at: Place) -> None:
    child = at.child()
    made = at.policy(child)
    before = at.everything()
    again = at.parental.policies.replace(child, made.policy_id, Draft(TIKTOK), ANNA, 1)
    assert again.policy == made
    assert at.everything() == before


def test_every_change_of_a_policy_has_its_entry(at: Place) -> None:
    child = at.child()
    at.clock.move(timedelta(seconds=1))
    made = at.policy(child)
    for change in (
        partial(at.parental.policies.pause, child, made.policy_id, ANNA),
        partial(at.parental.policies.resume, child, made.policy_id, ANNA),
        partial(at.parental.policies.delete, child, made.policy_id, ANNA),
    ):
        at.clock.move(timedelta(seconds=1))
        change()
    assert [action for action, _ in at.audit(child.family_id)][:4] == [
        "policy deleted",
        "policy resumed",
        "policy paused",
        "policy created",
    ]


# --- whose ---


def test_pc_10_a_parent_has_all_policies_of_the_family_newest_first(at: Place) -> None:
    child = at.child()
    tom = at.child(phone=OTHER_PHONE, name="Tom")
    made = []
    for number in range(4):
        at.clock.move(timedelta(minutes=1))
        made.append(at.policy((child, tom)[number % 2], notes=str(number)))
    at.guardian(at.parental.families.own(ANNA), BEN)
    policies = at.parental.policies
    for reader in (ANNA, BEN):
        assert [p.notes for p in policies.of_parent(reader).items] == ["3", "2", "1", "0"]
    first = policies.of_parent(ANNA, size=3)
    assert first.next is not None
    rest = policies.of_parent(ANNA, size=3, after=first.next)
    assert [p.notes for p in (*first.items, *rest.items)] == ["3", "2", "1", "0"]
    with refuses("BAD_TOKEN"):
        policies.of_parent(BEN, size=3, after=first.next)


def test_pc_s13_the_policies_of_another_address_are_refused(at: Place) -> None:
    at.policy(at.child())
    at.child(ZOE, OTHER_PHONE, "Emil")
    policies = at.parental.policies
    assert policies.of_parent(ANNA, "Anna@example.com").items
    for reader, email in ((ZOE, "anna@example.com"), (ANNA, "zoe@example.org"), (ZOE, "x@example.com")):
        with refuses("NOT_GUARDIAN"):
            policies.of_parent(reader, email)
    assert policies.of_parent(ZOE).items == ()


def test_nothing_can_be_written_for_a_number_that_was_given_up_meanwhile(at: Place) -> None:
    child = at.child()
    at.parental.children.release(child, ANNA)
    with refuses("STATE_CONFLICT"):
        at.policy(child)
    with refuses("STATE_CONFLICT"):
        at.parental.overrides.add(child, "block", EVERYTHING, at.clock.now() + timedelta(hours=1), ANNA)


# --- exceptions ---


def test_an_exception_ends_by_itself(at: Place) -> None:
    child = at.child()
    at.policy(child, "YouTube")
    until = at.clock.now() + timedelta(minutes=30)
    made = at.parental.overrides.add(child, "allow", "youtube", until, ANNA, reason="homework is done")
    assert made.app_name == "YouTube"
    assert at.parental.blocked_now(child).now.blocked == {}
    found = at.parental.blocked_now(child)
    assert found.then is not None
    assert found.then.at == until
    at.clock.move(timedelta(minutes=30))
    assert set(at.parental.blocked_now(child).now.blocked) == {"YouTube"}
    assert at.parental.overrides.of_child(child) == []


def test_an_exception_can_be_ended_before_its_time_and_begun_later(at: Place) -> None:
    child = at.child()
    overrides = at.parental.overrides
    now = at.clock.now()
    made = overrides.add(
        child, "block", EVERYTHING, now + timedelta(hours=2), ANNA, begins_at=now + timedelta(hours=1)
    )
    assert not at.parental.blocked_now(child).now.everything
    at.clock.move(timedelta(hours=1))
    assert at.parental.blocked_now(child).now.everything
    overrides.end(child, made.override_id, ANNA)
    assert not at.parental.blocked_now(child).now.everything
    with refuses("OVERRIDE_NOT_FOUND"):
        overrides.end(child, made.override_id, ANNA)


def test_an_exception_has_an_end_within_a_week_and_an_app_that_is_known(at: Place) -> None:
    child = at.child()
    add = at.parental.overrides.add
    now = at.clock.now()
    with refuses("INVALID_TIME", "until"):
        add(child, "allow", "TikTok", now + timedelta(days=8), ANNA)
    with refuses("INVALID_TIME", "until"):
        add(child, "allow", "TikTok", now, ANNA)
    with refuses("UNKNOWN_APP", "appName"):
        add(child, "allow", "Grandma's game", now + timedelta(hours=1), ANNA)
    at.parental.policies.create(
        child, Draft([BlockedApp(app_name="Grandma's game", domains=["game.example"])]), ANNA
    )
    assert add(child, "allow", "grandma's game", now + timedelta(hours=1), ANNA).app_name == "Grandma's game"


def test_the_limit_of_exceptions_is_exact_however_many_come_at_once(at: Place) -> None:
    child = at.child()
    add = partial(at.parental.overrides.add, child, "block", "TikTok", timedelta(hours=1), ANNA)
    for _ in range(field_rules.OVERRIDES_PER_CHILD - 3):
        add()
    codes = [getattr(outcome, "code", "ok") for outcome in at_once([add] * 12, threads=12)]
    assert sorted(codes) == ["LIMIT_EXCEEDED"] * 9 + ["ok"] * 3
    assert len(at.parental.overrides.of_child(child)) == field_rules.OVERRIDES_PER_CHILD
    at.parental.overrides.end(child, at.parental.overrides.of_child(child)[0].override_id, ANNA)
    assert isinstance(add(), Override)


def test_the_id_of_an_exception_that_was_ended_is_not_given_again(at: Place) -> None:
    child, overrides = at.child(), at.parental.overrides
    first = overrides.add(child, "block", "TikTok", timedelta(hours=1), ANNA, key="key-00001")
    overrides.end(child, first.override_id, ANNA)
    second = overrides.add(child, "allow", "TikTok", timedelta(hours=1), ANNA)
    assert second.override_id != first.override_id
    assert overrides.of_child(child) == [second]


def test_an_exception_that_is_ended_before_it_begins_never_begins(at: Place) -> None:
    child, overrides = at.child(), at.parental.overrides
    later = at.clock.now() + timedelta(hours=1)
    made = overrides.add(child, "block", EVERYTHING, timedelta(hours=1), ANNA, begins_at=later)
    assert made.until == later + timedelta(hours=1)
    overrides.end(child, made.override_id, ANNA)
    at.clock.move(timedelta(minutes=90))
    assert not at.parental.blocked_now(child).now.everything


@pytest.mark.parametrize(
    "other",
    [
        {"until": timedelta(minutes=240)},
        {"begins_at": datetime(2031, 1, 1, tzinfo=UTC)},
        {"kind": "allow"},
        {"app": "YouTube"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_the_key_of_an_exception_is_not_for_another_one(at: Place, other: dict[str, Any]) -> None:
    child = at.child()
    asked: dict[str, Any] = {
        "kind": "block", "app": "TikTok", "until": timedelta(minutes=30), "actor": ANNA, "key": "key-00001"
    }  # fmt: skip
    made = at.parental.overrides.add(child, **asked)
    at.clock.move(timedelta(minutes=1))
    assert at.parental.overrides.add(child, **asked) == made, "so many minutes are the same minutes later"
    with refuses("IDEMPOTENCY_KEY_REUSED", "Idempotency-Key"):
        at.parental.overrides.add(child, **{**asked, **other})
    assert at.parental.overrides.of_child(child) == [made]


def test_pc_x7_an_exception_asked_for_twice_with_one_key_is_one(at: Place) -> None:
    child = at.child()
    until = at.clock.now() + timedelta(hours=1)
    add = partial(at.parental.overrides.add, child, "block", "TikTok", until, ANNA, key="key-00001")
    assert add() == add()
    assert len(at.parental.overrides.of_child(child)) == 1
