"""What is published: retention, the notice, the crisis protocol; and the yearly assessment (ZC-24, ZC-26, ZC-X24)."""

from __future__ import annotations

import pytest
from tests.systems.chat.family.home import enters, household, mails
from tests.systems.chat.place import Place

from tablewright.design import Data
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family.notices import Notices
from tablewright.systems.chat.family.retention import WORDS
from tablewright.systems.chat.rules import RETENTION_DAYS, RetentionPeriods
from tablewright.systems.chat.settings import Settings, Vendor
from tablewright.systems.chat.talk.safety_counts import SafetyCounts


def notices(at: Place, **settings: object) -> Notices:
    given = Settings(**settings)  # type: ignore[arg-type]  # of its fields
    return Notices(at.chat.repository, RetentionPeriods(given.retention_days), given, "https://zoo.example")


def test_the_policy_names_every_class_with_the_days_that_hold(at: Place) -> None:
    """ZC-22, ZC-67, ZC-D12."""
    policy = notices(at, retention_days={"active_conversation": 7}).retention()
    days = {one.name: one.days for one in policy.classes}
    assert days == {**RETENTION_DAYS, "active_conversation": 7}
    assert set(WORDS) == set(RETENTION_DAYS)
    assert all(one.purpose and one.business_need and one.counted_from for one in policy.classes)
    assert policy.legal_reviewed_on is None


def test_the_policy_lists_every_record_about_a_person_and_none_is_kept_for_ever_without_a_reason(
    at: Place,
) -> None:
    policy = at.chat.notices.retention()
    personal = {
        shape.tag.replace("_", " ")
        for shape in d.CHAT.shapes
        if {Data.PERSONAL, Data.CHILD} & set(shape.data.values())
    }
    assert {one.record for one in policy.records} == personal
    assert [one.record for one in policy.records if one.days is None and not one.purpose] == []
    assert "Profile and consent are kept while the account exists" in policy.accounts


def test_the_policy_promises_of_backups_and_completed_chats_what_is_true(at: Place) -> None:
    policy = at.chat.notices.retention()
    assert "no message, summary or memory text can be read" in policy.backups
    assert "birth date" in policy.backups
    since = {one.name: one.counted_from for one in policy.classes}
    assert since["completed_session"] == since["completed_program"] == "each message"


def test_the_notice_names_third_parties_purposes_retention_and_identifiers(at: Place) -> None:
    vendor = Vendor(
        name="Mail Co", purpose="To send mail", data="Addresses of parents", assurance="contract of 2030"
    )
    found = notices(at, vendors=[vendor], model_url="https://llm.example/v1").notice()
    assert [one.name for one in found.third_parties] == ["Mail Co", "llm.example"]
    assert {"userId", "conversationId", "familyId"} <= set(found.identifiers)
    assert any("e-mail" in one for one in found.identifiers)
    assert any("phone" in one for one in found.identifiers)
    assert {"message", "summary", "user"} <= {one.record for one in found.collected}
    assert found.retention


def test_a_change_of_what_the_notice_says_is_another_version(at: Place) -> None:
    assert notices(at).version == at.chat.notices.version
    assert notices(at, model_url="https://llm.example/v1").version != at.chat.notices.version
    assert notices(at, retention_days={"audit_log": 100}).version != at.chat.notices.version


def test_third_parties_without_a_written_assurance_are_found(at: Place) -> None:
    found = notices(at, model_url="https://llm.example/v1", model_vendor="LLM Co").without_assurance()
    assert [one.name for one in found] == ["LLM Co"]


def test_the_crisis_protocol_is_published_with_a_referral(at: Place) -> None:
    """ZC-X25."""
    found = at.chat.notices.crisis()
    assert any("988" in line for line in found.referral)
    assert len(found.steps) >= 4
    assert found.counts == {}
    at.db.write(*SafetyCounts(at.chat.repository).write({"referrals": 2}))
    at.db.write(*SafetyCounts(at.chat.repository).write({"parent_reads": 3}))
    assert at.chat.notices.crisis().counts == {"referrals": 2}


def test_the_operator_is_reminded_of_the_assessment_each_year_and_again_each_month(at: Place) -> None:
    remind = at.chat.notices.remind_of_assessment
    assert (remind(), remind()) == (1, 0)
    at.later(days=31)
    assert remind() == 1
    at.chat.notices.record_assessment(
        enters(at, "root", "administrator"), "https://zoo.example/assessment.pdf"
    )
    at.later(days=364)
    assert remind() == 0
    at.later(days=2)
    assert remind() == 1
    assert {subject for _, subject, _ in mails(at)} == {"The yearly risk assessment of Zoo chat is due"}


# --- the access log ---


@pytest.mark.parametrize(("kind", "days"), [("access", 90), ("compliance", 365)])
def test_an_entry_of_the_access_log_is_kept_for_its_time(at: Place, kind: str, days: int) -> None:
    """ZC-29."""
    home = household(at)
    entry = at.chat.access_log.entry("kim", home.parent, "to help", "export", kind)  # type: ignore[arg-type]  # both
    at.db.write(entry)
    at.later(days=days - 1)
    (found,) = at.db.all(at.chat.access_log.of("kim"))
    assert (found.accessed_by, found.purpose, found.what, found.role) == (
        "ann",
        "to help",
        "export",
        "parent",
    )
    assert list(at.db.all(at.chat.access_log.by("ann"))) == [found]
    at.later(days=2)
    assert list(at.db.all(at.chat.access_log.of("kim"))) == []


def test_people_who_look_at_their_own_data_are_not_logged(at: Place) -> None:
    home = household(at)
    at.chat.access_log.note("ann", home.parent, "own", "profile")
    assert list(at.db.all(at.chat.access_log.of("ann"))) == []
