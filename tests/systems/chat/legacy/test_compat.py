"""The functions of the first version, over both versions (ZC-54, ZC-55, ZC-D15, ZC-D54)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.systems.chat.legacy.zoo import ADMIN, Zoo, zoo_of
from tests.systems.chat.place import Place, refuses

from tablewright.systems.chat import design as d


@pytest.fixture
def zoo(at: Place) -> Zoo:
    return zoo_of(at)


def test_a_session_and_its_turn_in_the_first_version(zoo: Zoo) -> None:
    """ZC-3, ZC-4, ZC-50."""
    zoo.at.child("u_9", family_id="family_1")
    compat = zoo.legacy.compat
    session = compat.create_conversation_session("u_9", "panda_01", "Pan Pan")
    first = compat.store_conversation_turn(session, "Hello", "Hi", {"tokens": 5})
    asked, replied = compat.history(session)
    assert (asked.message_id, asked.metadata, replied.metadata) == (first, {}, {"tokens": 5})
    assert str(asked.timestamp) < str(replied.timestamp)
    item = zoo.v1()[session]
    assert (item.family_id, item.message_count) == ("family_1", 2)
    assert [one.session_id for one in compat.sessions("u_9")] == [session]


def test_a_session_made_after_the_cut_over_has_its_family_and_survives_a_rollback(zoo: Zoo) -> None:
    zoo.at.child("u_9", family_id="family_1")
    zoo.cut_over()
    compat = zoo.legacy.compat
    session = compat.create_conversation_session("u_9", "panda_01", "Pan Pan")
    compat.store_conversation_turn(session, "Hello", "Hi")
    header = zoo.legacy.router.place(session, "u_9").header
    assert header is not None
    assert (header.family_id, header.animal_name, header.message_count) == ("family_1", "Pan Pan", 2)
    zoo.legacy.operator.roll_back(ADMIN)
    assert zoo.legacy.router.place(session).version == "v1"
    assert [message.text for message in compat.history(session)] == ["Hello", "Hi"]
    compat.store_conversation_turn(session, "Again", "Yes")
    zoo.cut_over()
    assert [message.text for message in compat.history(session)] == ["Hello", "Hi", "Again", "Yes"]


def test_another_user_finds_nothing_in_either_version(zoo: Zoo) -> None:
    """ZC-D24."""
    zoo.at.child("u_9")
    session = zoo.legacy.compat.create_conversation_session("u_9", "panda_01")
    for moved in (False, True):
        if moved:
            zoo.cut_over()
        with refuses("CONVERSATION_NOT_FOUND"):
            zoo.legacy.compat.history(session, "u_8")
        with refuses("CONVERSATION_NOT_FOUND"):
            zoo.legacy.compat.store_conversation_turn(session, "x", "y", user_id="u_8")


def test_a_child_without_consent_and_one_that_is_being_erased_are_refused(zoo: Zoo) -> None:
    zoo.at.child("u_1", scopes=[])
    zoo.at.child("u_2", standing="erasing")
    with refuses("NO_CONSENT"):
        zoo.legacy.compat.create_conversation_session("u_1", "panda_01")
    with refuses("ERASED"):
        zoo.legacy.compat.create_conversation_session("u_2", "panda_01")
    assert zoo.items() == []


def test_what_a_parent_withdraws_while_a_turn_is_stored_refuses_it(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ZC-X1: consent is a condition of the transaction, also for programs of the first version."""
    child = zoo.at.child("u_9", family_id=None)
    zoo.cut_over()
    compat, parent = zoo.legacy.compat, zoo.at.person("p_1", "parent")
    session = compat.create_conversation_session("u_9", "panda_01")
    store = compat._messages.append

    def late(*args: Any, **options: Any) -> Any:
        monkeypatch.undo()
        zoo.at.chat.consents.withdraw(parent, child)
        return store(*args, **options)

    monkeypatch.setattr(compat._messages, "append", late)
    with refuses("NO_CONSENT"):
        compat.store_conversation_turn(session, "hello", "Hello, child!")
    assert compat.history(session) == []


def test_the_thread_is_kept_in_both_versions(zoo: Zoo) -> None:
    """ZC-4, ZC-21."""
    zoo.at.child("u_9")
    compat = zoo.legacy.compat
    session = compat.create_conversation_session("u_9", "panda_01")
    compat.set_thread(session, "thread_1")
    zoo.cut_over()
    assert compat.session(session).thread_id == "thread_1"
    compat.set_thread(session, "thread_2")
    zoo.legacy.operator.roll_back(ADMIN)
    assert compat.session(session).thread_id == "thread_2"


def test_an_archived_session_takes_no_turns(zoo: Zoo) -> None:
    zoo.at.child("u_9")
    session = zoo.legacy.compat.create_conversation_session("u_9", "panda_01")
    archived = {":s": {"S": "archived"}}
    zoo.at.call(
        "UpdateItem",
        {
            "TableName": zoo.table, "Key": {"conversationId": {"S": session}}, "UpdateExpression": "SET #s = :s",
            "ExpressionAttributeNames": {"#s": "status"}, "ExpressionAttributeValues": archived,
        },
    )  # fmt: skip
    with refuses("ARCHIVED"):
        zoo.legacy.compat.store_conversation_turn(session, "x", "y")
    with refuses("TEXT_TOO_LONG"):
        zoo.legacy.compat.store_conversation_turn(session, "x" * 5000, "y")
    with refuses("BAD_TEXT"):
        zoo.legacy.compat.store_conversation_turn(session, "x", "a\x1b[2Jb")


@pytest.mark.parametrize("is_moved", [False, True])
def test_guardrails_hold_for_turns_of_programs_of_the_first_version(zoo: Zoo, is_moved: bool) -> None:
    zoo.at.child("u_9")
    rule = {"title": "x", "action": "block", "phrases": ["snake"], "reply": "No snakes."}
    zoo.at.chat.guardrails.create(ADMIN, "snakes", rule)
    if is_moved:
        zoo.cut_over()
    compat = zoo.legacy.compat
    session = compat.create_conversation_session("u_9", "panda_01")
    for turn in (("a snake", "y"), ("x", "a snake")):
        with refuses("BLOCKED_BY_GUARDRAIL"):
            compat.store_conversation_turn(session, *turn)
    assert compat.history(session) == []
    message_id = compat.store_conversation_turn(session, "I want to kill myself", "Here is who can help.")
    (flag,) = zoo.at.chat.review.queue("high", "open", 5, None, "").items
    assert (flag.kind, flag.user_id, flag.message_id) == ("crisis", "u_9", message_id)


def test_an_old_id_leads_to_its_conversation_as_long_as_that_lives(zoo: Zoo) -> None:
    zoo.at.child("u_9")
    session = zoo.legacy.compat.create_conversation_session("u_9", "panda_01")
    zoo.cut_over()
    for _ in range(16):
        zoo.at.later(days=14)
        zoo.legacy.compat.store_conversation_turn(session, "still here", "yes")
    assert len(zoo.legacy.compat.history(session)) == 6


@pytest.mark.parametrize("is_moved", [False, True])
def test_an_escalated_turn_of_the_first_version_is_mailed_and_read_by_a_zookeeper(
    zoo: Zoo, is_moved: bool
) -> None:
    zoo.at.child("u_9")
    keeper, compat, review = zoo.at.person("z_1", "zookeeper"), zoo.legacy.compat, zoo.at.chat.review
    if is_moved:
        zoo.cut_over()
    session = compat.create_conversation_session("u_9", "panda_01")
    compat.store_conversation_turn(session, "Hello", "Hi")
    message_id = compat.store_conversation_turn(session, "I want to kill myself", "Here is who can help.")
    compat.store_conversation_turn(session, "I want to kill myself", "Call them.")
    (mail,) = zoo.at.db.all(d.outbox.by_state(state="PENDING"))
    assert (mail.template, mail.recipient) == ("review flag", zoo.at.chat.settings.operator_email)
    (flag,) = review.queue("high", "open", 5, None, "").items
    for _ in range(2):
        found = review.read(keeper, flag.flag_id)
        assert found.message is not None
        assert (found.message.message_id, found.message.text) == (message_id, "I want to kill myself")
        assert [each.text for each in found.before] == ["Hello", "Hi"]
        if not zoo.legacy.router.is_second:
            zoo.cut_over()


@pytest.mark.parametrize("is_moved", [False, True])
def test_an_escalated_turn_of_the_first_version_is_in_no_window_after_the_cut_over_and_back(
    zoo: Zoo, is_moved: bool
) -> None:
    user, compat = zoo.at.child("u_9"), zoo.legacy.compat
    if is_moved:
        zoo.cut_over()
    session = compat.create_conversation_session("u_9", "panda_01")
    compat.store_conversation_turn(session, "I want to die", "Here is who can help.")
    compat.store_conversation_turn(session, "Hello", "Hi")
    if is_moved:
        zoo.legacy.operator.roll_back(ADMIN)
    zoo.cut_over()
    header = zoo.legacy.router.place(session).header
    assert header is not None
    zoo.at.chat.animals.install()
    window = zoo.at.chat.replies.window(user, header, zoo.at.chat.animals.profile("red_panda"))
    assert [line.text for line in window.messages] == ["Hello", "Hi"]


def test_someone_without_an_account_is_counted_before_the_cut_over_and_takes_no_messages_after_it(
    zoo: Zoo,
) -> None:
    compat = zoo.legacy.compat
    session = compat.create_conversation_session("u_9", "panda_01")
    compat.store_conversation_turn(session, "Hello", "Hi")
    assert zoo.legacy.operator.prepare(ADMIN).without_account == 1
    zoo.cut_over()
    with refuses("NO_ACCOUNT"):
        compat.store_conversation_turn(session, "Again", "Yes")
    with refuses("NO_ACCOUNT"):
        compat.create_conversation_session("u_9", "panda_01")
    assert len(compat.history(session)) == 2
    zoo.at.child("u_9")
    compat.store_conversation_turn(session, "Again", "Yes")
    assert len(compat.history(session)) == 4


# --- after the cut-over ---


def test_zc_d22_the_ttl_of_the_first_version_is_enabled_only_after_the_cut_over(zoo: Zoo) -> None:
    """ZC-49."""
    zoo.at.child("u_9")
    session = zoo.legacy.compat.create_conversation_session("u_9", "panda_01")
    zoo.legacy.compat.store_conversation_turn(session, "Hello", "Hi")
    zoo.copy()
    assert zoo.legacy.operator.status().has_ttl is False
    zoo.legacy.operator.verify(ADMIN)
    zoo.legacy.operator.cut_over(ADMIN)
    assert zoo.legacy.operator.status().has_ttl is True


def test_zc_d47_the_archive_is_sealed_and_ends_when_the_last_conversation_would_have(zoo: Zoo) -> None:
    """ZC-51."""
    for user in ("u_8", "u_9"):
        zoo.at.child(user)
        session = zoo.legacy.compat.create_conversation_session(user, "panda_01")
        zoo.legacy.compat.store_conversation_turn(session, "a secret", "I keep it")
    zoo.cut_over()
    operator, now = zoo.legacy.operator, zoo.at.clock.now()
    with refuses("WRONG_PHASE"):
        operator.finish(ADMIN)
    status = operator.finish(ADMIN, early=True)
    assert status.phase == "finished"
    ((name, until),) = status.archives
    assert now < until <= now + timedelta(days=32)
    stored = zoo.at.chat.objects.get(name)
    assert stored is not None
    assert b"a secret" not in stored
    (archive,) = operator.archive.archives()
    assert len(operator.archive.read(archive)) == 2
    zoo.at.chat.repository.keys.destroy("u_8")
    assert len(operator.archive.read(archive)) == 1
    # The second version goes on, also for programs of the first.
    assert [m.text for m in zoo.legacy.compat.history(session)] == ["a secret", "I keep it"]
    assert operator.archive.end_due() == 0
    zoo.at.later(days=33)
    assert operator.archive.end_due() == 1
    assert operator.archive.archives() == []
    with refuses("ARCHIVE_ENDED"):
        operator.archive.read(archive)
