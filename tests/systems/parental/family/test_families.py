"""Families: invitations, guardians, numbers that are proved, given up, changed and recycled (PC-X1, PC-X2, PC-D24)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from tests.systems.parental.talk import (
    ANNA,
    BEN,
    OPERATOR,
    OTHER_PHONE,
    PHONE,
    SUPPORT,
    ZOE,
    ZONE,
    Place,
    refuses,
)
from tests.systems.talk import at_once

from tablewright.edge.errors import CallerError
from tablewright.kit.codes import TRIES
from tablewright.kit.tables import Actor
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.family import erased_list
from tablewright.systems.parental.family.erasure import begin
from tablewright.systems.parental.family.families import FAMILIES_PER_PERSON
from tablewright.systems.parental.family.phone_proof import (
    BY_FAMILY_PER_HOUR,
    TO_NUMBER_PER_DAY,
    TO_NUMBER_PER_HOUR,
)

# --- families and guardians ---


def test_who_makes_a_family_is_its_owner(at: Place) -> None:
    family = at.family()
    (guardian,) = at.parental.guardians.of(family.family_id, ANNA)
    assert (guardian.subject, guardian.role, guardian.email) == ("anna", "owner", "anna@example.com")
    assert [one.family_id for one in at.parental.families.of(ANNA)] == [family.family_id]
    assert at.parental.families.of(ZOE) == []


def test_a_family_asked_for_twice_with_one_key_is_one_family(at: Place) -> None:
    made = [at.parental.families.create("The Millers", ANNA, key="key-00001") for _ in range(3)]
    assert len({family.family_id for family in made}) == 1
    assert len(at.parental.families.of(ANNA)) == 1


def test_an_invitation_is_accepted_by_who_has_the_address_and_by_nobody_else(at: Place) -> None:
    family = at.family()
    invitation = at.parental.guardians.invite(family.family_id, "Ben@Example.com", ANNA)
    assert at.parental.guardians.invited(BEN) == [invitation]
    assert invitation.invitation_id in at.messages("ben@example.com")[0]
    with refuses("INVITATION_NOT_FOUND"):
        at.parental.guardians.accept(invitation.invitation_id, ZOE)
    at.parental.guardians.accept(invitation.invitation_id, BEN, person="Ben Miller")
    names = {(g.name, g.role) for g in at.parental.guardians.of(family.family_id, BEN)}
    assert names == {("anna@example.com", "owner"), ("Ben Miller", "guardian")}
    with refuses("INVITATION_NOT_FOUND"):
        at.parental.guardians.accept(invitation.invitation_id, BEN)


def test_an_invitation_is_over_after_a_week_or_when_it_is_withdrawn_or_declined(at: Place) -> None:
    family = at.family()
    late = at.parental.guardians.invite(family.family_id, "ben@example.com", ANNA)
    at.clock.move(timedelta(days=7, seconds=1))
    with refuses("INVITATION_NOT_FOUND"):
        at.parental.guardians.accept(late.invitation_id, BEN)
    again = at.parental.guardians.invite(family.family_id, "ben@example.com", ANNA)
    at.parental.guardians.withdraw(family.family_id, again.invitation_id, ANNA)
    with refuses("INVITATION_NOT_FOUND"):
        at.parental.guardians.accept(again.invitation_id, BEN)
    third = at.parental.guardians.invite(family.family_id, "ben@example.com", ANNA)
    at.parental.guardians.decline(third.invitation_id, BEN)
    assert at.parental.guardians.invited(BEN) == []
    assert at.parental.guardians.invitations(family.family_id, ANNA) == []


def test_asked_again_the_same_invitation_holds_for_another_week(at: Place) -> None:
    family = at.family()
    first = at.parental.guardians.invite(family.family_id, "ben@example.com", ANNA)
    at.clock.move(timedelta(days=3))
    second = at.parental.guardians.invite(family.family_id, "BEN@example.com", ANNA)
    assert second.invitation_id == first.invitation_id
    assert second.expires_at == first.expires_at + timedelta(days=3)


def test_only_the_owner_invites_and_removes_and_nobody_removes_the_owner(at: Place) -> None:
    family = at.family()
    at.guardian(family, BEN)
    with refuses("OWNER_ONLY"):
        at.parental.guardians.invite(family.family_id, "zoe@example.org", BEN)
    with refuses("OWNER_ONLY"):
        at.parental.guardians.remove(family.family_id, "anna", BEN)
    with refuses("OWNER_STAYS"):
        at.parental.guardians.remove(family.family_id, "anna", ANNA)
    at.parental.guardians.remove(family.family_id, "ben", ANNA)
    with refuses("FAMILY_NOT_FOUND"):
        at.parental.guardians.of(family.family_id, BEN)


def test_a_guardian_may_leave_and_an_owner_after_handing_over(at: Place) -> None:
    child = at.child()
    family = at.parental.families.own(ANNA)
    at.guardian(family, BEN)
    families = at.parental.families
    at.parental.guardians.hand_over(family.family_id, "ben", ANNA)
    at.parental.guardians.remove(family.family_id, "anna", ANNA)
    assert [(g.subject, g.role) for g in at.parental.guardians.of(family.family_id, BEN)] == [
        ("ben", "owner")
    ]
    with refuses("CHILD_NOT_FOUND"):
        families.child(ANNA, PHONE)
    at.parental.tasks.run_due()
    assert families.child(BEN, PHONE).parent_email == "ben@example.com"
    assert child.parent_email == "anna@example.com"


def test_an_invitation_that_is_not_there_and_one_of_another_address_read_the_same(at: Place) -> None:
    family = at.family()
    invitation = at.parental.guardians.invite(family.family_id, "ben@example.com", ANNA)
    told = []
    for asked in (invitation.invitation_id, "inv_unknown"):
        with pytest.raises(CallerError) as refused:
            at.parental.guardians.accept(asked, ZOE)
        told.append((refused.value.code, str(refused.value)))
    assert told[0] == told[1]


def test_pc_x13_of_invitations_sent_at_once_only_as_many_are_as_there_is_room_for(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_rules, "INVITATIONS_PER_FAMILY", 2)
    family = at.family()

    def invite(number: int) -> str:
        try:
            return at.parental.guardians.invite(family.family_id, f"p{number}@example.com", ANNA).email
        except CallerError as mistake:
            return mistake.code

    told = at_once([partial(invite, number) for number in range(6)])
    assert told.count("LIMIT_EXCEEDED") == 4
    assert len(at.parental.guardians.invitations(family.family_id, ANNA)) == 2


def test_one_invitation_accepted_by_two_logins_of_its_address_at_once_is_used_once(at: Place) -> None:
    family = at.family()
    invitation = at.parental.guardians.invite(family.family_id, "ben@example.com", ANNA)
    logins = [replace(BEN, subject=subject) for subject in ("ben", "ben's other login")]
    outcomes = at_once([partial(at.parental.guardians.accept, invitation.invitation_id, by) for by in logins])
    assert [getattr(one, "code", "ok") for one in outcomes].count("INVITATION_NOT_FOUND") == 1
    assert len(at.parental.guardians.of(family.family_id, ANNA)) == 2


def meanwhile(at: Place, monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], object]) -> None:
    """Something else happens just before the repository's method `name` is called next."""
    repository, method = at.parental.repository, getattr(at.parental.repository, name)

    def acted_first(*args: Any, **named: Any) -> Any:
        monkeypatch.setattr(repository, name, method)
        act()
        return method(*args, **named)

    monkeypatch.setattr(repository, name, acted_first)


def test_pc_x13_of_two_who_accept_at_once_one_joins_where_there_is_room_for_one(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_rules, "GUARDIANS_PER_FAMILY", 2)
    family, guardians = at.family(), at.parental.guardians
    sent = [guardians.invite(family.family_id, by.email or "", ANNA) for by in (BEN, ZOE)]
    # The turn of the first is taken already, and those who belong are counted afterwards.
    meanwhile(at, monkeypatch, "audit", lambda: guardians.accept(sent[1].invitation_id, ZOE))
    with refuses("LIMIT_EXCEEDED"):
        guardians.accept(sent[0].invitation_id, BEN)
    assert [one.subject for one in guardians.of(family.family_id, ANNA)] == ["anna", "zoe"]


def test_an_invitation_is_accepted_or_declined_or_withdrawn(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    family, guardians = at.family(), at.parental.guardians
    id = family.family_id
    first = guardians.invite(id, "ben@example.com", ANNA).invitation_id
    meanwhile(at, monkeypatch, "audit", lambda: guardians.withdraw(id, first, ANNA))
    with refuses("INVITATION_NOT_FOUND"):
        guardians.accept(first, BEN)
    for end in (guardians.decline, partial(guardians.withdraw, id)):
        by, other = (BEN, BEN) if end == guardians.decline else (ANNA, ZOE)
        sent = guardians.invite(id, other.email or "", ANNA).invitation_id
        meanwhile(at, monkeypatch, "audit", partial(guardians.accept, sent, other))
        with refuses("INVITATION_NOT_FOUND"):
            end(sent, by)
    assert [one.subject for one in guardians.of(id, ANNA)] == ["anna", "ben", "zoe"]
    assert sum(action in ("invitation declined", "invitation withdrawn") for action, _ in at.audit(id)) == 1


def test_who_is_no_longer_the_owner_meanwhile_neither_invites_nor_withdraws_nor_removes(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    family, guardians = at.family(), at.parental.guardians
    id = family.family_id
    at.guardian(family, BEN)
    at.guardian(family, ZOE)
    meanwhile(at, monkeypatch, "guardians_of", partial(guardians.hand_over, id, "ben", ANNA))
    with refuses("OWNER_ONLY"):
        guardians.invite(id, "max@example.org", ANNA)
    guardians.hand_over(id, "anna", BEN)
    sent = guardians.invite(id, "lou@example.org", ANNA)
    meanwhile(at, monkeypatch, "audit", partial(guardians.hand_over, id, "ben", ANNA))
    with refuses("OWNER_ONLY"):
        guardians.withdraw(id, sent.invitation_id, ANNA)
    guardians.hand_over(id, "anna", BEN)
    guardians.withdraw(id, sent.invitation_id, ANNA)
    meanwhile(at, monkeypatch, "task", partial(guardians.hand_over, id, "ben", ANNA))
    with refuses("OWNER_ONLY"):
        guardians.remove(id, "zoe", ANNA)
    guardians.hand_over(id, "anna", BEN)
    # A restored copy brought back an owner who had left.
    (anna,) = [one for one in guardians.of(id, ANNA) if one.subject == "anna"]
    entries = [erased_list.guardian_entry(anna)]
    meanwhile(
        at, monkeypatch, "guardians_of", partial(erased_list.again, at.parental.repository, entries, begin)
    )
    with refuses("FAMILY_NOT_FOUND"):
        guardians.invite(id, "max@example.org", ANNA)
    assert guardians.invitations(id, BEN) == []
    assert [one.subject for one in guardians.of(id, BEN)] == ["ben", "zoe"]


def test_what_an_owner_offered_who_handed_over_is_worth_nothing(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    family, guardians = at.family(), at.parental.guardians
    id = family.family_id
    at.guardian(family, BEN)
    sent = guardians.invite(id, ZOE.email or "", ANNA).invitation_id
    meanwhile(at, monkeypatch, "audit", partial(guardians.hand_over, id, "ben", ANNA))
    with refuses("INVITATION_NOT_FOUND"):
        guardians.accept(sent, ZOE)
    assert guardians.invited(ZOE) == []
    guardians.remove(id, "anna", BEN)
    with refuses("INVITATION_NOT_FOUND"):
        guardians.accept(sent, ZOE)
    # The new owner may well want the same person.
    guardians.accept(guardians.invite(id, ZOE.email or "", BEN).invitation_id, ZOE)
    assert [one.subject for one in guardians.of(id, BEN)] == ["ben", "zoe"]


def test_an_index_that_still_has_a_removed_guardian_shows_no_family(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = at.family()
    at.guardian(family, BEN)
    late = [one for one in at.parental.guardians.of(family.family_id, ANNA) if one.subject == "ben"]
    at.parental.guardians.remove(family.family_id, "ben", ANNA)
    monkeypatch.setattr(at.db, "all", lambda query: iter(late))
    assert at.parental.families.of(BEN) == []
    with refuses("NOT_GUARDIAN"):
        at.parental.families.own(BEN)


def test_a_stranger_sees_nothing_of_a_family(at: Place) -> None:
    family = at.family()
    families = at.parental.families
    for ask in (
        partial(at.parental.guardians.of, family.family_id),
        partial(at.parental.guardians.invitations, family.family_id),
        partial(families.audit, family.family_id),
        lambda actor: families.change(family.family_id, {"name": "Mine"}, actor),
        lambda actor: at.parental.guardians.invite(family.family_id, "x@example.com", actor),
        lambda actor: families.own(actor, family.family_id),
    ):
        for stranger in (ZOE, OPERATOR, SUPPORT, Actor("nobody", "parent", "")):
            with refuses("FAMILY_NOT_FOUND"):
                ask(stranger)


def test_what_a_family_always_allows_is_kept_in_one_spelling(at: Place) -> None:
    family = at.family()
    changed = at.parental.families.change(
        family.family_id,
        {"allowed_domains": ["*.School.example.org", "school.example.org"], "alert_after_blocks": 50},
        ANNA,
    )
    assert changed.allowed_domains == ["school.example.org"]
    assert changed.version == 2
    with refuses("INVALID_DOMAIN", "allowedDomains[1]"):
        at.parental.families.change(
            family.family_id, {"allowed_domains": ["a.example", "http://b.example"]}, ANNA
        )
    with refuses("VERSION_CONFLICT"):
        at.parental.families.change(family.family_id, {"name": "Other"}, ANNA, expected=1)


# --- numbers ---


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("+15551234567", "+15551234567"),
        (" +1 (555) 123-4567 ", "+15551234567"),
        ("0049 30 1234567", "+49301234567"),
        ("+27.82.555.0199", "+27825550199"),
    ],
)
def test_pc_2_a_number_has_one_spelling(written: str, kept: str) -> None:
    assert field_rules.phone_number(written) == kept == field_rules.phone_number(kept)


@pytest.mark.parametrize(
    "written", ["", "5551234567", "+0555123456", "+1555", "+1555123456789012", "+1555abc4567", "+１５５５１２３４"]
)  # fmt: skip
def test_pc_2_what_is_no_number_is_refused(written: str) -> None:
    with refuses("INVALID_PHONE", "phoneNumber"):
        field_rules.phone_number(written)


def test_a_child_is_added_with_the_code_that_went_to_its_number(at: Place) -> None:
    child = at.child()
    assert (child.child, child.phone, child.held_phone, child.tenure) == (PHONE, PHONE, PHONE, 1)
    assert child.parent_email == "anna@example.com"
    assert at.parental.families.child(ANNA, "+1 555 123 4567") == child
    assert at.parental.families.children(ANNA) == [child]


def test_a_wrong_code_a_used_one_and_one_of_another_family_prove_nothing(at: Place) -> None:
    at.family()
    at.family(ZOE)
    at.parental.children.prove(PHONE, ANNA)
    code = at.code(PHONE)
    wrong = f"{(int(code) + 1) % 1_000_000:06}"
    with refuses("CODE_INVALID", "code"):
        at.parental.children.add(PHONE, wrong, "Sarah", ZONE, ANNA)
    with refuses("CODE_INVALID"):
        at.parental.children.add(PHONE, code, "Sarah", ZONE, ZOE)
    at.parental.children.add(PHONE, code, "Sarah", ZONE, ANNA)
    with refuses("CODE_INVALID"):
        at.parental.children.add(PHONE, code, "Sarah", ZONE, ANNA)


def test_a_code_is_over_after_a_quarter_of_an_hour(at: Place) -> None:
    at.family()
    at.parental.children.prove(PHONE, ANNA)
    code = at.code(PHONE)
    at.clock.move(timedelta(minutes=15, seconds=1))
    with refuses("CODE_INVALID"):
        at.parental.children.add(PHONE, code, "Sarah", ZONE, ANNA)


def test_guesses_are_counted_also_when_they_come_at_once(at: Place) -> None:
    at.family()
    at.parental.children.prove(PHONE, ANNA)
    code = at.code(PHONE)
    wrong = [f"{(int(code) + n) % 1_000_000:06}" for n in range(1, 41)]
    add = at.parental.children.add
    outcomes = at_once([partial(add, PHONE, guess, "Sarah", ZONE, ANNA) for guess in wrong], threads=16)
    codes = [getattr(outcome, "code", "") for outcome in outcomes]
    assert codes.count("CODE_INVALID") == TRIES
    assert codes.count("OTP_TRIES") == len(wrong) - TRIES
    with refuses("OTP_TRIES"):
        add(PHONE, code, "Sarah", ZONE, ANNA)


@pytest.mark.parametrize("guessed", ["one number", "one family"])
def test_fifty_wrong_codes_a_day_make_the_next_ones_too_long_to_guess(at: Place, guessed: str) -> None:
    """Whether somebody guesses for one number from several families, or for many numbers from one."""
    at.family()
    at.family(ZOE)
    for number in range(10):
        who = (ANNA, ZOE)[number % 2] if guessed == "one number" else ANNA
        phone = PHONE if guessed == "one number" else f"+1555000{number:04}"
        at.parental.children.prove(phone, who)
        code = at.code(phone)
        assert len(code) == 6, number
        for _ in range(TRIES):
            with refuses("CODE_INVALID"):
                at.parental.children.add(phone, f"{(int(code) + 1) % 1_000_000:06}", "Sarah", ZONE, who)
        with refuses("OTP_TRIES"):  # not looked at, so not one of them
            at.parental.children.add(phone, code, "Sarah", ZONE, who)
        at.clock.move(timedelta(minutes=20))
    at.parental.children.prove(PHONE, ANNA)
    code = at.code(PHONE)
    assert len(code) == 12
    assert ("50 wrong codes were entered" in at.messages(PHONE)[-1]) == (guessed == "one number")
    at.parental.children.add(PHONE, code, "Sarah", ZONE, ANNA)
    at.clock.move(timedelta(days=1))
    at.parental.children.prove(OTHER_PHONE, ANNA)
    assert len(at.code(OTHER_PHONE)) == 6, "another day"


def test_codes_that_were_right_do_not_count_as_wrong_ones(at: Place) -> None:
    at.family()
    at.parental.children.prove(PHONE, ANNA)
    at.parental.children.add(PHONE, at.code(PHONE), "Sarah", ZONE, ANNA)
    kept = at.mentions("ALLOWANCE#wrong-")
    assert ["'used': {'N': '0'}" in item for item in kept] == [True, True]


def test_a_number_is_not_rung_all_day(at: Place) -> None:
    at.family()
    at.family(ZOE)
    for _ in range(TO_NUMBER_PER_HOUR):
        at.parental.children.prove(PHONE, ANNA)
    with refuses("OTP_LIMIT"):
        at.parental.children.prove(PHONE, ANNA)
    at.parental.children.prove(PHONE, ZOE)  # one family cannot use up what others may send
    for number in range(BY_FAMILY_PER_HOUR - TO_NUMBER_PER_HOUR):
        at.parental.children.prove(f"+1555000{number:04}", ANNA)
    with refuses("OTP_LIMIT"):
        at.parental.children.prove(OTHER_PHONE, ANNA)
    for _ in range(TO_NUMBER_PER_DAY - TO_NUMBER_PER_HOUR - 1):
        at.clock.move(timedelta(minutes=12))
        at.parental.children.prove(PHONE, ZOE)
    at.clock.move(timedelta(hours=1))
    with refuses("OTP_LIMIT"):
        at.parental.children.prove(PHONE, ZOE)
    at.clock.move(timedelta(days=1))
    at.parental.children.prove(PHONE, ZOE)


def test_the_code_is_in_no_table(at: Place) -> None:
    at.family()
    at.parental.children.prove(PHONE, ANNA)
    assert at.mentions(at.code(PHONE)) == []


def test_of_many_who_prove_one_number_at_once_one_gets_it(at: Place) -> None:
    actors = [Actor(f"p{n}@example.com", "parent", f"p{n}", f"p{n}@example.com") for n in range(5)]
    for actor in actors:
        at.family(actor)
        at.parental.children.prove(PHONE, actor)
        at.clock.move(timedelta(seconds=1))
    all_codes = at.codes(PHONE)
    add = at.parental.children.add
    outcomes = at_once(
        [
            partial(add, PHONE, code, "Sarah", ZONE, actor)
            for actor, code in zip(actors, all_codes, strict=True)
        ]
    )
    codes_of = sorted(getattr(outcome, "code", "ok") for outcome in outcomes)
    assert codes_of == ["NUMBER_OWNED"] * 4 + ["ok"]


def test_whoever_has_a_number_is_asked_when_somebody_else_proves_it(at: Place) -> None:
    at.child()
    at.family(ZOE)
    at.clock.move(timedelta(hours=2))
    for _ in range(2):
        at.clock.move(timedelta(seconds=1))
        at.parental.children.prove(PHONE, ZOE)
        with refuses("NUMBER_OWNED", "phoneNumber"):
            at.parental.children.add(PHONE, at.code(PHONE), "Emil", ZONE, ZOE)
    asked = [text for text in at.messages("anna@example.com") if PHONE in text]
    assert len(asked) == 1
    assert "Sarah" in asked[0]


# --- whose child ---


def test_pc_s13_somebody_elses_child_is_not_there(at: Place) -> None:
    at.child()
    at.family(ZOE)
    families = at.parental.families
    for stranger in (ZOE, OPERATOR, Actor("nobody", "parent", "")):
        for asked in (PHONE, f"{PHONE}~1", OTHER_PHONE):
            with refuses("CHILD_NOT_FOUND"):
                families.child(stranger, asked)
            with refuses("CHILD_NOT_FOUND"):
                families.open_child(stranger, asked)


def test_pc_x11_support_looks_with_a_reason_which_the_family_can_read(at: Place) -> None:
    child = at.child()
    families = at.parental.families
    with refuses("REASON_NEEDED", "reason"):
        families.child(SUPPORT, PHONE)
    at.clock.move(timedelta(seconds=1))
    assert families.child(SUPPORT, PHONE, reason="ticket 4711: YouTube is not blocked") == child
    newest = families.audit(child.family_id, ANNA).items[0]
    assert (newest.action, newest.actor, newest.role) == ("looked at", SUPPORT.name, "support")
    assert newest.reason == "ticket 4711: YouTube is not blocked"
    with refuses("CHILD_NOT_FOUND"):
        families.open_child(SUPPORT, PHONE)


def test_every_change_has_its_entry(at: Place) -> None:
    child = at.child()
    families = at.parental.families
    at.clock.move(timedelta(seconds=1))
    at.parental.children.change(child, {"timezone": "Europe/Berlin"}, ANNA)
    entry = families.audit(child.family_id, ANNA).items[0]
    assert entry.before == {"timezone": ZONE}
    assert entry.after == {"timezone": "Europe/Berlin"}
    assert {action for action, _ in at.audit(child.family_id)} == {
        "family created",
        "child added",
        "child changed",
    }


def test_a_child_is_changed_on_the_version_that_was_seen(at: Place) -> None:
    child = at.child()
    policy = at.policy(child, "TikTok")
    changed = at.parental.children.change(child, {"child_name": "Sara"}, ANNA, expected=1)
    assert (changed.child_name, changed.version) == ("Sara", 2)
    assert at.parental.policies.get(child, policy.policy_id).child_name == "Sara"
    with refuses("VERSION_CONFLICT"):
        at.parental.children.change(child, {"child_name": "Zara"}, ANNA, expected=1)
    with refuses("INVALID_TIMEZONE", "timezone"):
        at.parental.children.change(child, {"timezone": "Mars/Olympus"}, ANNA)
    with refuses("INVALID_TIME", "pausedUntil"):
        at.parental.children.change(child, {"paused_until": at.clock.now()}, ANNA)


# --- numbers that move ---


def test_pc_s15_the_next_family_of_a_number_sees_nothing_of_the_one_before(at: Place) -> None:
    first = at.child()
    at.policy(first, "TikTok", notes="before")
    families, policies = at.parental.families, at.parental.policies
    at.parental.children.release(first, ANNA)
    second = at.child(ZOE, PHONE, "Emil")
    assert second.child == f"{PHONE}~2"
    assert families.child(ZOE, PHONE) == second
    assert policies.of_child(second) == []
    assert policies.of_parent(ZOE).items == ()
    export = at.parental.privacy.export(second)
    assert all(not export[part] for part in ("policies", "metrics", "enforcement", "rules", "sessions"))
    assert "Sarah" not in repr(export)
    assert "anna" not in repr(export)
    # And the family before has its own still, to read and to erase.
    former = families.child(ANNA, PHONE)
    assert (former.child, former.held_phone) == (PHONE, None)
    assert [policy.notes for policy in policies.of_child(former)] == ["before"]
    with refuses("CHILD_RELEASED"):
        families.open_child(ANNA, PHONE)
    with refuses("CHILD_NOT_FOUND"):
        families.child(ANNA, f"{PHONE}~2")


def test_a_number_is_given_up_by_the_owner_or_by_an_operator_with_a_reason(at: Place) -> None:
    child = at.child()
    family = at.parental.families.own(ANNA)
    at.guardian(family, BEN)
    families = at.parental.families
    with refuses("OWNER_ONLY"):
        at.parental.children.release(child, BEN)
    with refuses("FAMILY_NOT_FOUND"):
        at.parental.children.release(child, ZOE)
    with refuses("REASON_NEEDED"):
        at.parental.children.release(child, OPERATOR)
    released = at.parental.children.release(child, OPERATOR, "the carrier gave it to somebody else")
    assert released.held_phone is None
    assert at.parental.children.release(child, ANNA) == released
    assert families.children(ANNA) == []
    assert families.children(ANNA, released=True) == [released]


def test_pc_d24_a_new_number_takes_everything_along(at: Place) -> None:
    child = at.child()
    policy = at.policy(child, "TikTok", notes="bedtime")
    at.parental.children.prove(OTHER_PHONE, ANNA)
    moved = at.parental.children.change_number(child, OTHER_PHONE, at.code(OTHER_PHONE), ANNA)
    assert (moved.child, moved.child_name, moved.timezone) == (OTHER_PHONE, "Sarah", ZONE)
    at.parental.tasks.run_due()
    kept = at.parental.policies.get(moved, policy.policy_id)
    assert (kept.notes, kept.created_at) == ("bedtime", policy.created_at)
    assert at.db.one(d.policies.get(PHONE, policy.policy_id)) is None
    with refuses("SAME_NUMBER"):
        at.parental.children.change_number(moved, OTHER_PHONE, "000000", ANNA)
    at.clock.move(timedelta(minutes=11))
    assert at.parental.tasks.run_due() == 1
    assert at.db.one(d.child_by_key(child=PHONE)) is None
    # The old number is free for anybody.
    assert at.child(ZOE, PHONE, "Emil").child == PHONE


def test_a_child_that_was_added_twice_with_one_key_is_one_child(at: Place) -> None:
    at.family()
    at.parental.children.prove(PHONE, ANNA)
    code = at.code(PHONE)
    first = at.parental.children.add(PHONE, code, "Sarah", ZONE, ANNA, key="key-00001")
    assert at.parental.children.add(PHONE, code, "Sarah", ZONE, ANNA, key="key-00001") == first


def test_pc_d23_a_new_address_is_followed_by_children_and_policies(at: Place) -> None:
    child = at.child()
    at.policy(child, "TikTok")
    moved = replace(ANNA, email="Anna@New.example")
    at.parental.guardians.change_email(moved)
    at.parental.tasks.run_due()
    policies = at.parental.policies
    assert [p.parent_email for p in policies.of_parent(moved).items] == ["anna@new.example"]
    assert at.parental.families.child(moved, PHONE).parent_email == "anna@new.example"
    assert list(at.db.all(d.policies_of_parent(parent_email="anna@example.com"))) == []
    # It is looked at again: somebody may have written by the old address meanwhile.
    assert at.parental.tasks.open(child.family_id)
    at.clock.move(timedelta(minutes=11))
    assert at.parental.tasks.run_due() == 1
    assert at.parental.tasks.open(child.family_id) == []


# --- limits, however many come at once ---


def test_pc_x13_of_those_who_are_added_at_once_only_as_many_are_as_there_is_room_for(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_rules, "CHILDREN_PER_FAMILY", 2)
    at.family()
    numbers = [f"+1555000{n:04}" for n in range(6)]
    for number in numbers:
        at.parental.children.prove(number, ANNA)
    codes = {number: at.code(number) for number in numbers}

    def add(number: str) -> str:
        try:
            return at.parental.children.add(number, codes[number], "Kim", ZONE, ANNA).child
        except CallerError as mistake:
            return mistake.code

    told = at_once([partial(add, number) for number in numbers])
    assert told.count("LIMIT_EXCEEDED") == 4
    assert len(at.parental.families.children(ANNA)) == 2


def test_pc_x13_somebody_has_only_so_many_families_though_all_are_made_at_once(at: Place) -> None:
    def make(number: int) -> str:
        try:
            return at.parental.families.create(f"Family {number}", ANNA).name
        except CallerError as mistake:
            return mistake.code

    told = at_once([partial(make, number) for number in range(8)])
    assert told.count("LIMIT_EXCEEDED") == 8 - FAMILIES_PER_PERSON
    assert len(at.parental.families.of(ANNA)) == FAMILIES_PER_PERSON


def test_pc_x13_the_limit_of_families_holds_for_those_that_somebody_is_invited_to(at: Place) -> None:
    families, guardians = at.parental.families, at.parental.guardians
    for number in range(FAMILIES_PER_PERSON - 1):
        families.create(f"Family {number}", BEN)
    homes = [families.create(f"Home {number}", by) for number, by in enumerate((ANNA, ZOE))]
    sent = [
        guardians.invite(home.family_id, BEN.email or "", by)
        for home, by in zip(homes, (ANNA, ZOE), strict=True)
    ]
    joined = at_once([partial(guardians.accept, one.invitation_id, BEN) for one in sent])
    assert [getattr(one, "code", "") for one in joined].count("LIMIT_EXCEEDED") == 1
    assert len(families.of(BEN)) == FAMILIES_PER_PERSON


def test_pc_x13_a_turn_that_was_taken_long_ago_is_in_nobodys_way(at: Place) -> None:
    for number in range(2):
        at.parental.families.create(f"Family {number}", ANNA)
        at.clock.move(timedelta(hours=2))
    assert len(at.parental.families.of(ANNA)) == 2
