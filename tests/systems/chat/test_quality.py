"""What the quality check finds, and what it leaves alone (ZC-59, ZC-D29, ZC-D30)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.systems.chat.place import Place

from tablewright.mapping import Db
from tablewright.systems.chat import design as d
from tablewright.systems.chat import jobs
from tablewright.systems.chat.quality import Quality


@pytest.fixture
def quality(at: Place) -> Quality:
    return Quality(at.chat.repository, at.chat.periods, at.chat.messages.texts.remove_all)


def remove_header(at: Place, user_id: str, conversation_id: str) -> None:
    at.db.write(d.conversations.discard(user_id, conversation_id))


def test_nothing_is_wrong_after_ordinary_chats(at: Place, quality: Quality) -> None:
    chat = at.talk(at.child("u_9", family_id="family_1"))
    at.say(chat, "one", "two")
    report = quality.check()
    assert (report.findings, report.conversations) == ((), 1)


def test_messages_without_their_conversation_are_medium_and_deleted_with_an_entry(
    at: Place, quality: Quality
) -> None:
    chat = at.talk(at.child("u_9"))
    at.say(chat, "one", "two")
    remove_header(at, "u_9", chat.conversation_id)
    assert quality.check().of("orphans") is None  # a removal may be half-way
    at.later(hours=2)
    found = quality.check(repair=True).of("orphans")
    assert found is not None
    assert (found.count, found.severity, found.repaired) == (4, "medium", 4)
    assert found.sample == (chat.conversation_id,)
    assert quality.check().of("orphans") is None
    actions = [entry.action for entry in at.db.all(at.chat.repository.compliance_log("child:u_9"))]
    assert "orphans deleted" in actions


def test_the_object_of_a_long_text_goes_with_its_orphan(at: Place, quality: Quality) -> None:
    """ZC-X19, ZC-25."""
    chat = at.talk(at.child("u_9"))
    at.chat.messages.append(chat, [at.draft("x" * 300_000)])
    remove_header(at, "u_9", chat.conversation_id)
    at.later(hours=2)
    assert len(list(at.chat.objects.names("texts/"))) == 1
    quality.check(repair=True)
    assert list(at.chat.objects.names("texts/")) == []


def test_orphans_that_two_processes_find_are_one_entry_also_if_one_of_them_is_cut_off(
    at: Place, quality: Quality, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = at.talk(at.child("u_9"))
    at.say(chat, "one", "two")
    remove_header(at, "u_9", chat.conversation_id)
    at.later(hours=2)
    with monkeypatch.context() as patch:
        patch.setattr(Db, "clear", lambda self, query: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            quality.check(repair=True)
    found = quality.check(repair=True).of("orphans")
    assert found is not None
    assert found.repaired == 4
    entries = [
        entry
        for entry in at.db.all(at.chat.repository.compliance_log("child:u_9"))
        if entry.action == "orphans deleted"
    ]
    assert [entry.before for entry in entries] == [{"conversation": chat.conversation_id, "items": 4}]


def test_only_students_need_a_family(at: Place, quality: Quality) -> None:
    at.talk(at.child("u_9"))
    at.talk(at.child("u_8", role="parent"))
    at.talk(at.child("u_7", family_id="family_1"))
    found = quality.check().of("withoutFamily")
    assert found is not None
    assert (found.count, found.severity) == (1, "low")


def test_what_has_expired_is_high_only_after_72_hours(at: Place, quality: Quality) -> None:
    chat = at.talk(at.child("u_9", family_id="family_1"))
    at.say(chat, "one")
    item = at.db.items([d.conversations.get("u_9", chat.conversation_id)])[0]
    assert item is not None
    table = at.db.physical("conversation-v2")
    for hours, expected in ((71, None), (73, 1)):
        past = int((at.clock.now() - timedelta(hours=hours)).timestamp())
        stale = {**item, "SK": {"S": "CONTEXT#interests"}, "entityType": {"S": "context"}}
        at.call("PutItem", {"TableName": table, "Item": {**stale, "ttl": {"N": str(past)}}})
        found = quality.check().of("overdue")
        assert (found.count if found else None) == expected
    assert found is not None
    assert (found.severity, found.sample) == ("high", ("context",))
    check = quality.retention()
    assert (check.is_kept, check.without_ttl, check.overdue) == (False, (), {"context": 1})


def test_a_wrong_count_is_found_and_repaired(at: Place, quality: Quality) -> None:
    chat = at.talk(at.child("u_9", family_id="family_1"))
    at.say(chat, "one", "two")
    at.db.write(d.conversations.update("u_9", chat.conversation_id).at(lambda c: c.message_count).set(9))
    found = quality.check(repair=True).of("counterDrift")
    assert found is not None
    assert (found.count, found.severity, found.repaired) == (1, "medium", 1)
    assert at.again(chat).message_count == 4


def test_a_count_with_messages_that_have_expired_is_not_wrong(at: Place, quality: Quality) -> None:
    chat = at.talk(at.child("u_9", family_id="family_1"))
    at.say(chat, "one")
    at.later(days=20)
    at.say(chat, "two")
    at.later(days=11)
    assert at.again(chat).message_count == 4
    assert quality.check().of("counterDrift") is None


def test_the_count_of_a_fork_whose_copies_have_expired_is_not_wrong(at: Place, quality: Quality) -> None:
    chat = at.talk(at.child("u_9", family_id="family_1"))
    made = at.say(chat, "one", "two")
    at.later(days=20)
    fork = at.chat.conversations.fork(at.again(chat), made[-1].message_id)
    at.later(days=11)
    assert list(at.chat.messages.all(fork)) == []
    assert quality.check(repair=True).of("counterDrift") is None
    assert at.again(fork).message_count == 4


def test_a_repaired_count_is_never_below_that_of_summarised_messages(at: Place, quality: Quality) -> None:
    chat = at.talk(at.child("u_9", family_id="family_1"))
    at.say(chat, *(f"I saw {number} pandas" for number in range(10)))
    jobs.run_tasks(at.chat)
    (first, *_) = at.chat.messages.all(chat)
    key = first.user_id, first.conversation_id, first.timestamp, first.message_id
    at.db.write(d.messages.discard(*key))
    quality.check(repair=True)
    header = at.again(chat)
    assert (header.message_count, header.summarized_count) == (19, 19)
