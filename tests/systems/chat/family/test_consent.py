"""Consent: by scope and method, after the notice of this moment, checked with each message (ZC-X1, ZC-X23, ZC-X26)."""

from __future__ import annotations

from datetime import date

import pytest
from tests.systems.chat.family.home import (
    Household,
    again,
    code_in,
    consented,
    enters,
    household,
    mail_to,
    mails,
    runs_tasks,
    second_parent,
)
from tests.systems.chat.place import Place, refuses

from tablewright.systems.chat import design as d
from tablewright.systems.chat.family.consent import (
    may_chat,
    may_disclose,
    may_profile,
    refuse_without_consent,
)
from tablewright.systems.chat.memory.contexts import Entry
from tablewright.systems.chat.model import Draft


@pytest.fixture
def home(at: Place) -> Household:
    return household(at)


def asked(at: Place, home: Household, *scopes: str) -> str:
    """The code that was mailed for scopes."""
    version = at.chat.notices.version
    at.chat.consents.request(home.parent, home.child, scopes, "email_plus", version)  # type: ignore[arg-type]  # words
    return code_in(mail_to(at, "ann@example.org"))


def test_a_new_child_is_allowed_nothing_and_the_parent_has_the_direct_notice(
    at: Place, home: Household
) -> None:
    child, today = again(at, home.child), at.chat.people.today()
    assert not may_chat(child, today)
    assert not may_disclose(child)
    assert not may_profile(child)
    with refuses("NO_CONSENT"):
        refuse_without_consent(child, today)
    notice = mail_to(at, "ann@example.org")
    assert at.chat.notices.version in notice
    assert "computer programs" in notice


def test_a_code_by_mail_grants_what_it_was_sent_for_and_a_confirmation_follows(
    at: Place, home: Household
) -> None:
    """ZC-E8."""
    code = asked(at, home, "collect_and_use")
    child = at.chat.consents.confirm(home.parent, home.child, f" {code} ")
    assert may_chat(child, at.chat.people.today())
    assert (may_disclose(child), may_profile(child)) == (False, False)
    (record,) = at.chat.consents.history(child)
    assert (record.method, record.given_by, record.scopes) == ("email_plus", "ann", ["collect_and_use"])
    assert record.notice_version == at.chat.notices.version
    assert runs_tasks(at) == 0
    at.later(days=1, minutes=1)
    runs_tasks(at)
    assert "You consented for Kim" in [subject for _, subject, _ in mails(at)]


def test_a_code_works_once_for_its_parent_and_child(at: Place, home: Household) -> None:
    bob = second_parent(at, home)
    code = asked(at, home, "collect_and_use")
    with refuses("CODE_INVALID"):
        at.chat.consents.confirm(bob, home.child, code)
    with refuses("CODE_INVALID"):
        at.chat.consents.confirm(home.parent, home.child, "000000" if code != "000000" else "111111")
    at.chat.consents.confirm(home.parent, home.child, code)
    with refuses("CODE_INVALID"):
        at.chat.consents.confirm(home.parent, home.child, code)


def test_a_text_message_carries_the_code_too(at: Place, home: Household) -> None:
    version = at.chat.notices.version
    with refuses("ADDRESS_NEEDED"):
        at.chat.consents.request(home.parent, home.child, ["collect_and_use"], "text_plus", version)
    at.chat.consents.request(
        home.parent, home.child, ["collect_and_use"], "text_plus", version, "+14155550100"
    )
    at.chat.consents.confirm(home.parent, home.child, code_in(mail_to(at, "+14155550100")))
    assert at.chat.consents.history(home.child)[0].method == "text_plus"


def test_disclosure_needs_a_verified_identity(at: Place, home: Household) -> None:
    version = at.chat.notices.version
    with refuses("METHOD_TOO_WEAK"):
        asked(at, home, "collect_and_use", "disclosure")
    with refuses("NOT_VERIFIED"):
        at.chat.consents.consent_verified(
            home.parent, home.child, ["collect_and_use", "disclosure"], "id_and_face", version
        )
    child = consented(at, home, "collect_and_use", "disclosure")
    assert may_disclose(child)
    assert at.chat.consents.history(child)[0].reference == "case 17"


def test_a_switch_keeps_a_child_on_this_machine_whatever_was_consented_to(at: Place, home: Household) -> None:
    child = consented(at, home, "collect_and_use", "disclosure")
    stays = at.chat.people.change(child, {"stays_local": True}, home.parent)
    assert not may_disclose(stays)
    assert may_chat(stays, at.chat.people.today())


def test_no_scope_is_granted_without_the_first(at: Place, home: Household) -> None:
    with refuses("SCOPE_NEEDED"):
        asked(at, home, "profiling")


def test_who_read_an_older_notice_reads_it_again(at: Place, home: Household) -> None:
    with refuses("NOTICE_CHANGED"):
        at.chat.consents.request(home.parent, home.child, ["collect_and_use"], "email_plus", "an older one")


def test_codes_are_limited(at: Place, home: Household) -> None:
    for _ in range(5):
        asked(at, home, "collect_and_use")
    with refuses("CODE_LIMIT"):
        asked(at, home, "collect_and_use")


def test_profiling_is_off_until_it_is_switched_on_and_what_was_extracted_goes_with_it(
    at: Place, home: Household
) -> None:
    child = consented(at, home, "collect_and_use", "profiling")
    assert may_profile(child)
    at.chat.animals.install()
    at.chat.contexts.merge("kim", "interests", [Entry("animal", "lion")])
    lion, chat = at.chat.animals.profile("lion"), at.talk(child, "lion")
    assert [one.text for one in at.chat.replies.window(child, chat, lion).contexts] == [
        "Known (interests): animal: lion"
    ]
    left = at.chat.consents.withdraw(home.parent, child, ["profiling"])
    assert (left.scopes, may_profile(left)) == (["collect_and_use"], False)
    assert at.chat.replies.window(left, chat, lion).contexts == ()  # before the task has run
    runs_tasks(at)
    assert list(at.db.all(d.contexts_of_user(user_id="kim"))) == []
    assert list(at.db.all(d.memories_of_user(user_id="kim"))) == []


def test_a_withdrawal_refuses_the_message_that_was_allowed_a_moment_before(
    at: Place, home: Household
) -> None:
    child = consented(at, home, "collect_and_use")
    chat = at.talk(child)
    at.chat.consents.withdraw(home.parent, child)
    with refuses("NO_CONSENT"):
        at.chat.messages.append(chat, [Draft(role="user", text="hi")], consent=child.consent_generation)
    assert at.again(chat).message_count == 0
    assert [one.action for one in at.chat.consents.history(child)] == ["withdrawn", "granted"]


def test_of_two_withdrawals_at_once_neither_grants_again_what_the_other_ended(
    at: Place, home: Household
) -> None:
    read_before = consented(at, home, "collect_and_use", "disclosure", "profiling")
    at.chat.consents.withdraw(home.parent, read_before, ["disclosure"])
    left = at.chat.consents.withdraw(home.parent, read_before, ["profiling"])
    assert left.scopes == again(at, read_before).scopes == ["collect_and_use"]


def test_withdrawing_the_first_scope_ends_all(at: Place, home: Household) -> None:
    child = consented(at, home, "collect_and_use", "disclosure", "profiling")
    assert at.chat.consents.withdraw(home.parent, child, ["collect_and_use"]).scopes == []


def test_someone_of_13_decides_alone_outside_of_a_family_only(at: Place) -> None:
    sam = at.chat.people.state_birth_date(enters(at, "sam", "student"), date(2014, 1, 1))
    assert may_disclose(at.chat.consents.decide_alone(sam, ["collect_and_use", "disclosure"]))
    older = household(at, born=date(2014, 1, 1))
    with refuses("NO_CONSENT"):
        at.chat.consents.decide_alone(older.child, ["collect_and_use"])
