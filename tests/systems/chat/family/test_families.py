"""Families: who is a parent of whom now, invitations, removal, transfer, ages (ZC-X9, ZC-D42)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import pytest
from tests.systems.chat.family.home import (
    Household,
    again,
    consented,
    enters,
    household,
    mail_to,
    mails,
    runs_tasks,
    second_parent,
    token_in,
)
from tests.systems.chat.place import Place, refuses
from tests.systems.talk import at_once

from tablewright.edge import Principal
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family.families import FAMILIES_PER_PERSON
from tablewright.systems.chat.family.membership import MOST_INVITATIONS
from tablewright.systems.chat.memory.contexts import Entry


@pytest.fixture
def home(at: Place) -> Household:
    return household(at)


def families_of_conversations(at: Place, user_id: str) -> set[str | None]:
    return {one.family_id for one in at.chat.conversations.all_of(user_id)}


# --- people ---


def test_a_login_is_one_user_with_the_role_of_the_login(at: Place) -> None:
    assert enters(at, "zoe", "zookeeper").role == "zookeeper"
    assert enters(at, "zoe").role == "parent"
    assert enters(at, "zoe", "administrator", "zookeeper").role == "administrator"
    assert enters(at, "zoe").user_id == "zoe"


def test_a_child_stays_a_student_whatever_its_login_says(at: Place, home: Household) -> None:
    assert enters(at, "kim", "administrator").role == "student"
    assert enters(at, "kim").role == "student"


def test_a_student_states_the_birth_date_once(at: Place) -> None:
    student = enters(at, "sam", "student")
    assert student.needs_consent_on(at.chat.people.today())
    older = at.chat.people.state_birth_date(student, date(2015, 1, 1))
    assert not older.needs_consent_on(at.chat.people.today())
    with refuses("BIRTH_DATE_KNOWN"):
        at.chat.people.state_birth_date(older, date(2010, 1, 1))


def test_a_child_in_a_family_does_not_state_its_own_age(at: Place, home: Household) -> None:
    """ZC-X1: it could make itself old enough to chat without consent, or an adult whose parents see nothing."""
    sam = enters(at, "sam", "student")
    at.chat.families.invite(home.family, "sam@example.org", home.parent, "child")
    at.chat.families.accept(token_in(mail_to(at, "sam@example.org")), sam)
    with refuses("NO_CONSENT"):
        at.chat.people.state_birth_date(again(at, sam), date(2000, 1, 1))
    at.chat.people.change(again(at, sam), {"birth_date": date(2020, 1, 1)}, home.parent)
    assert again(at, sam).needs_consent_on(at.chat.people.today())


def test_a_birth_date_in_the_future_is_refused(at: Place, home: Household) -> None:
    with refuses("INVALID_DATE"):
        at.chat.children.add(home.family, "Lee", date(2031, 1, 1), home.parent)


def test_a_login_whose_subject_cannot_be_a_key_is_refused(at: Place) -> None:
    with refuses("UNKNOWN_LOGIN"):
        at.chat.people.entered(Principal("a#b", frozenset(), "a@example.org"))


# --- membership ---


def test_a_parent_sees_the_own_children_alone(at: Place, home: Household) -> None:
    """ZC-15, ZC-28."""
    other = household(at, "eve", "lou")
    assert [one.user_id for one in at.chat.families.children_of(home.parent)] == ["kim"]
    assert at.chat.families.child_of(home.parent, "kim").user_id == "kim"
    for caller, child in (
        (home.parent, "lou"),
        (other.parent, "kim"),
        (home.child, "kim"),
        (home.parent, "nobody"),
    ):
        with refuses("CHILD_NOT_FOUND"):
            at.chat.families.child_of(caller, child)


def test_a_family_is_there_for_its_parents_alone(at: Place, home: Household) -> None:
    for caller in (enters(at, "eve"), home.child):
        with refuses("FAMILY_NOT_FOUND"):
            at.chat.families.own(caller, home.family.family_id)
    with refuses("FAMILY_NOT_FOUND"):
        at.chat.families.own(home.parent, "family#1")


def test_a_removed_parent_loses_access_at_once(at: Place, home: Household) -> None:
    bob = second_parent(at, home)
    assert at.chat.families.is_parent_of(bob, home.child)
    at.chat.families.remove(home.family, "bob", home.parent)
    assert not at.chat.families.is_parent_of(bob, home.child)
    assert "You are no longer a parent" in mails(at)[-1][1]


def test_the_last_parent_of_a_child_cannot_leave(at: Place, home: Household) -> None:
    with refuses("LAST_PARENT"):
        at.chat.families.remove(home.family, "ann", home.parent)


def test_a_child_is_not_removed_as_a_parent_is(at: Place, home: Household) -> None:
    with refuses("CHILD_STAYS"):
        at.chat.families.remove(home.family, "kim", home.parent)


# --- invitations ---


def test_an_invitation_works_for_its_address_and_once(at: Place, home: Household) -> None:
    at.chat.families.invite(home.family, "Bob@Example.org", home.parent)
    token = token_in(mail_to(at, "bob@example.org"))
    with refuses("INVITATION_NOT_FOUND"):
        at.chat.families.accept(token, enters(at, "eve"))
    bob = enters(at, "bob")
    assert at.chat.families.accept(token, bob).family_id == home.family.family_id
    with refuses("INVITATION_NOT_FOUND"):
        at.chat.families.accept(token, bob)
    assert [one.family_id for one in at.chat.families.of(bob)] == [home.family.family_id]


def test_an_invitation_expires_and_can_be_withdrawn(at: Place, home: Household) -> None:
    bob = enters(at, "bob")
    at.chat.families.invite(home.family, "bob@example.org", home.parent)
    token = token_in(mail_to(at, "bob@example.org"))
    at.later(days=8)
    with refuses("INVITATION_NOT_FOUND"):
        at.chat.families.accept(token, bob)
    again_invited = at.chat.families.invite(home.family, "bob@example.org", home.parent)
    at.chat.families.withdraw(home.family, again_invited.invitation_id, home.parent)
    with refuses("INVITATION_NOT_FOUND"):
        at.chat.families.accept(token_in(mail_to(at, "bob@example.org")), bob)


def test_an_invitation_is_withdrawn_by_its_own_family_alone(at: Place, home: Household) -> None:
    other = household(at, "eve", "lou")
    sent = at.chat.families.invite(home.family, "bob@example.org", home.parent)
    for wrong in (sent.invitation_id, "", "no#id"):
        with refuses("INVITATION_NOT_FOUND"):
            at.chat.families.withdraw(other.family, wrong, other.parent)
    assert at.chat.families.invited(home.family) == [sent]


def test_invitations_and_transfers_sent_at_once_stay_within_the_limit(at: Place, home: Household) -> None:
    invite = partial(at.chat.families.invite, home.family, by=home.parent)
    for number in range(MOST_INVITATIONS - 2):
        invite(f"first{number}@example.org")
    work: list[Callable[[], object]] = [partial(invite, f"p{number}@example.org") for number in range(3)]
    work += [
        partial(at.chat.children.offer_transfer, home.child, f"t{n}@example.org", home.parent)
        for n in range(3)
    ]
    ended = [getattr(one, "code", "done") for one in at_once(work)]
    assert ended.count("TOO_MANY_INVITATIONS") == 4
    assert len(at.chat.families.invited(home.family)) == MOST_INVITATIONS


def test_a_new_invitation_replaces_that_of_the_address_and_no_offer_of_a_child(
    at: Place, home: Household
) -> None:
    at.chat.children.offer_transfer(home.child, "bob@example.org", home.parent)
    at.chat.families.invite(home.family, "bob@example.org", home.parent)
    newest = at.chat.families.invite(home.family, "Bob@example.org", home.parent, "child")
    found = at.chat.families.invited(home.family)
    assert sorted(one.child_id or "" for one in found) == ["", "kim"]
    assert newest in found


def test_a_parent_who_is_removed_while_inviting_does_not_invite(
    at: Place, home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob, families = second_parent(at, home), at.chat.families
    offer = families.membership.offer

    def removed_first(*args: Any) -> Any:
        monkeypatch.setattr(families.membership, "offer", offer)
        families.remove(home.family, "bob", home.parent)
        return offer(*args)

    monkeypatch.setattr(families.membership, "offer", removed_first)
    with refuses("FAMILY_NOT_FOUND"):
        families.invite(home.family, "eve@example.org", bob)
    assert families.invited(home.family) == []


def test_a_parent_who_is_removed_at_that_moment_withdraws_nothing(
    at: Place, home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    families, repository, audit = at.chat.families, at.chat.repository, at.chat.repository.audit
    bob, sent = second_parent(at, home), families.invite(home.family, "eve@example.org", home.parent)

    def removed_first(*args: Any) -> Any:
        monkeypatch.setattr(repository, "audit", audit)
        families.remove(home.family, "bob", home.parent)
        return audit(*args)

    monkeypatch.setattr(repository, "audit", removed_first)
    with refuses("FAMILY_NOT_FOUND"):
        families.withdraw(home.family, sent.invitation_id, bob)
    assert families.invited(home.family) == [sent]


def test_what_a_parent_offered_who_is_removed_is_worth_nothing(at: Place, home: Household) -> None:
    """Nobody comes in, and no child goes, on the word of someone who may do neither."""
    families, children = at.chat.families, at.chat.children
    bob, other = second_parent(at, home), household(at, "eve", "lou")
    families.invite(home.family, "mallory@example.org", bob)
    children.offer_transfer(home.child, "eve@example.org", bob)
    families.remove(home.family, "bob", home.parent)
    with refuses("INVITATION_NOT_FOUND"):
        families.accept(token_in(mail_to(at, "mallory@example.org")), enters(at, "mallory"))
    with refuses("INVITATION_NOT_FOUND"):
        children.take_over(token_in(mail_to(at, "eve@example.org")), other.family, other.parent)
    assert families.is_parent_of(home.parent, home.child)


@pytest.mark.parametrize("offered", ["a place", "the child"])
def test_what_a_parent_offered_who_is_removed_at_that_moment_is_refused(
    at: Place, home: Household, monkeypatch: pytest.MonkeyPatch, offered: str
) -> None:
    families, children, repository = at.chat.families, at.chat.children, at.chat.repository
    bob, other = second_parent(at, home), household(at, "eve", "lou")
    if offered == "a place":
        families.invite(home.family, "eve@example.org", bob)
    else:
        children.offer_transfer(home.child, "eve@example.org", bob)
    token, audit = token_in(mail_to(at, "eve@example.org")), repository.audit

    def removed_first(*args: Any) -> Any:
        monkeypatch.setattr(repository, "audit", audit)
        families.remove(home.family, "bob", home.parent)
        return audit(*args)

    monkeypatch.setattr(repository, "audit", removed_first)
    with refuses("INVITATION_NOT_FOUND"):
        if offered == "a place":
            families.accept(token, other.parent)
        else:
            children.take_over(token, other.family, other.parent)
    assert [one.member.user_id for one in families.relatives(home.family)] == ["ann", "kim"]


def test_an_invitation_is_accepted_or_withdrawn_and_never_both(
    at: Place, home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    families, repository = at.chat.families, at.chat.repository
    sent, bob = families.invite(home.family, "bob@example.org", home.parent), enters(at, "bob")
    token, audit = token_in(mail_to(at, "bob@example.org")), repository.audit

    def accepted_first(*args: Any) -> Any:
        monkeypatch.setattr(repository, "audit", audit)
        families.accept(token, bob)
        return audit(*args)

    monkeypatch.setattr(repository, "audit", accepted_first)
    with refuses("INVITATION_NOT_FOUND"):
        families.withdraw(home.family, sent.invitation_id, home.parent)
    assert families.is_parent_of(bob, home.child)


def test_someone_has_only_so_many_families_though_all_are_made_at_once(at: Place) -> None:
    ann = enters(at, "ann")
    made = at_once([partial(at.chat.families.create, ann, f"Family {number}") for number in range(8)])
    assert [getattr(one, "code", "") for one in made].count("TOO_MANY_FAMILIES") == 8 - FAMILIES_PER_PERSON
    assert len(at.chat.families.of(ann)) == FAMILIES_PER_PERSON


def test_the_limit_of_families_holds_for_those_that_someone_is_invited_to(at: Place) -> None:
    bob, families = enters(at, "bob"), at.chat.families
    for number in range(FAMILIES_PER_PERSON - 1):
        families.create(bob, f"Family {number}")
    tokens = []
    for name in ("ann", "eve"):
        home = household(at, name, f"{name}s-child")
        families.invite(home.family, "bob@example.org", home.parent)
        tokens.append(token_in(mail_to(at, "bob@example.org")))
    joined = at_once([partial(families.accept, token, bob) for token in tokens])
    assert [getattr(one, "code", "") for one in joined].count("TOO_MANY_FAMILIES") == 1
    assert len(families.of(bob)) == FAMILIES_PER_PERSON


def test_a_student_joins_as_a_child_and_never_as_a_parent(at: Place, home: Household) -> None:
    sam = enters(at, "sam", "student")
    at.chat.families.invite(home.family, "sam@example.org", home.parent)
    with refuses("ADULTS_ONLY"):
        at.chat.families.accept(token_in(mail_to(at, "sam@example.org")), sam)
    at.chat.families.invite(home.family, "sam@example.org", home.parent, "child")
    at.chat.families.accept(token_in(mail_to(at, "sam@example.org")), sam)
    assert at.chat.families.is_parent_of(home.parent, again(at, sam))


def test_a_change_of_zone_is_that_of_the_children_too(at: Place, home: Household) -> None:
    at.chat.families.change(home.family, home.parent, time_zone="Europe/Berlin")
    assert again(at, home.child).time_zone == "Europe/Berlin"


# --- conversations follow ---


def test_zc_s8_a_chat_without_a_family_is_accepted_and_appears_when_the_child_joins_one(
    at: Place, home: Household
) -> None:
    sam = at.chat.people.state_birth_date(enters(at, "sam", "student"), date(2014, 1, 1))
    chat = at.talk(sam)
    at.say(chat, "hello")
    family_id = home.family.family_id
    query = d.conversations_of_family(family_id=family_id)
    assert list(at.db.all(query)) == []
    at.chat.families.invite(home.family, "sam@example.org", home.parent, "child")
    at.chat.families.accept(token_in(mail_to(at, "sam@example.org")), sam)
    runs_tasks(at)
    assert [one.conversation_id for one in at.db.all(query)] == [chat.conversation_id]


def test_a_transferred_child_is_of_the_other_parents_with_its_chats_and_without_its_consent(
    at: Place, home: Household
) -> None:
    other = household(at, "eve", "lou")
    child = consented(at, home, "collect_and_use", "profiling")
    at.chat.contexts.merge("kim", "interests", [Entry("animal", "lion")])
    at.talk(child)
    at.chat.children.offer_transfer(child, "eve@example.org", home.parent)
    token = token_in(mail_to(at, "eve@example.org"))
    with refuses("CHILD_TRANSFER"):
        at.chat.families.accept(token, other.parent)
    with refuses("INVITATION_NOT_FOUND"):
        at.chat.children.take_over(token, home.family, home.parent)
    moved = at.chat.children.take_over(token, other.family, other.parent)
    runs_tasks(at)
    assert (moved.family_id, moved.scopes) == (other.family.family_id, [])
    assert moved.consent_generation > child.consent_generation
    assert not at.chat.families.is_parent_of(home.parent, moved)
    assert at.chat.families.is_parent_of(other.parent, moved)
    assert families_of_conversations(at, "kim") == {other.family.family_id}
    assert at.chat.contexts.of("kim") == []


# --- ages ---


def test_at_13_consent_is_not_needed_any_more_and_parents_are_told_once(at: Place) -> None:
    home = household(at, born=date(2017, 2, 6))
    assert again(at, home.child).needs_consent_on(at.chat.people.today())
    assert at.chat.children.age_out() == 0
    at.later(days=2)
    assert not again(at, home.child).needs_consent_on(at.chat.people.today())
    assert (at.chat.children.age_out(), at.chat.children.age_out()) == (1, 0)
    assert [subject for _, subject, _ in mails(at) if "13" in subject] == ["Kim is 13"]
    assert at.chat.families.is_parent_of(home.parent, again(at, home.child))


def test_at_18_parents_see_nothing_from_the_birthday_on_and_the_membership_ends(at: Place) -> None:
    home = household(at, born=date(2012, 2, 6))
    child = consented(at, home, "collect_and_use", "profiling")
    at.chat.contexts.merge("kim", "interests", [Entry("animal", "lion")])
    at.talk(child)
    at.later(days=2)
    assert not at.chat.families.is_parent_of(home.parent, child)
    assert at.chat.children.age_out() == 1
    runs_tasks(at)
    assert at.chat.families.membership.home("kim") is None
    assert families_of_conversations(at, "kim") == {None}
    assert again(at, child).family_id is None
    assert at.chat.contexts.of("kim") == []


def test_a_child_born_on_29_february_is_of_age_on_1_march(at: Place) -> None:
    home = household(at, born=date(2012, 2, 29))
    at.later(days=24)
    assert (at.chat.people.today(), at.chat.children.age_out()) == (date(2030, 2, 28), 0)
    assert at.chat.families.is_parent_of(home.parent, home.child)
    at.later(days=1)
    assert not at.chat.families.is_parent_of(home.parent, home.child)
    assert at.chat.children.age_out() == 1
