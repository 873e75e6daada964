"""The scenarios of messages and conversations: order, counts, pages, families, expiry, time zones; on every backend."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from tests.client.ways import WAYS
from tests.places import scan
from tests.systems.chat.place import Place
from tests.systems.talk import at_once

from tablewright.systems.chat import design as d
from tablewright.systems.chat.model import Conversation, Draft


@pytest.fixture(params=sorted(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def items(at: Place, entity: str) -> list[dict[str, dict[str, str]]]:
    found = scan(at.db, at.call, "conversation-v2")
    return [item for item in found if item["entityType"]["S"] == entity]


def texts(at: Place, conversation: Conversation, limit: int = 20) -> list[str]:
    page = at.chat.messages.history(at.again(conversation), limit=limit)
    return [message.text for message in page.items]


def test_zc_s1_three_turns_of_a_child_with_an_underscore_are_six_messages_in_its_own_partition(
    at: Place,
) -> None:
    """ZC-12."""
    chat = at.talk(at.child("u_9"), "panda_01")
    at.say(chat, "one", "two", "three")
    newest_first = [
        "You said: three",
        "three",
        "You said: two",
        "two",
        "You said: one",
        "one",
    ]
    assert texts(at, chat) == newest_first
    roles = [message.role for message in at.chat.messages.all(chat)]
    assert roles == ["user", "assistant"] * 3
    assert at.again(chat).message_count == 6
    assert {item["PK"]["S"] for item in scan(at.db, at.call, "conversation-v2")} == {"USER#u_9"}
    assert len(items(at, "message")) == 6


def test_zc_s2_the_history_of_an_old_chat_has_all_of_its_messages_and_pages_join_without_gaps(
    at: Place,
) -> None:
    """ZC-13, ZC-D5."""
    child = at.child()
    old, new = at.talk(child), at.talk(child)
    at.say(old, *(f"old {number}" for number in range(10)))
    at.later(hours=1)
    at.say(new, *(f"new {number}" for number in range(20)))
    whole = texts(at, old, 20)
    assert len(whole) == 20
    assert all("old" in text for text in whole)
    assert whole[0] == "You said: old 9"
    first = at.chat.messages.history(old, limit=10, reader="u_9")
    second = at.chat.messages.history(old, limit=10, after=first.next, reader="u_9")
    assert [m.text for m in (*first.items, *second.items)] == whole
    assert second.next is None


def test_zc_s3_fifty_turns_at_once_are_a_hundred_messages_in_strict_order(at: Place) -> None:
    """ZC-12, ZC-65, ZC-X11, ZC-D4, ZC-D44."""
    chat = at.talk(at.child())

    def turn(number: int) -> None:
        drafts = [Draft(role="user", text=f"{number}"), Draft(role="assistant", text=f"re {number}")]
        at.chat.messages.append(chat, drafts)

    outcomes = at_once([partial(turn, number) for number in range(50)], 16)
    assert [each for each in outcomes if each is not None] == []
    found = list(at.chat.messages.all(chat))
    assert at.again(chat).message_count == len(found) == len(items(at, "message")) == 100
    assert [message.sequence for message in found] == list(range(1, 101))
    assert sorted({message.timestamp for message in found}) == [message.timestamp for message in found]
    pairs = zip(found[::2], found[1::2], strict=True)
    assert all(reply.text == f"re {asked.text}" for asked, reply in pairs)


def test_zc_s8_a_chat_without_a_family_is_absent_from_the_family_index_until_one_is_assigned(
    at: Place,
) -> None:
    child = at.child()
    chat = at.talk(child)
    assert "familyId" not in items(at, "conversation")[0]
    assert list(at.db.all(d.conversations_of_family(family_id="family_123"))) == []
    assert at.chat.conversations.rekey(child.user_id, "family_123") == 0
    at.db.write(d.users.update(child.user_id).at(lambda u: u.family_id).set("family_123"))
    assert at.chat.conversations.rekey(child.user_id, "family_123") == 1
    (found,) = at.db.all(d.conversations_of_family(family_id="family_123"))
    assert found.conversation_id == chat.conversation_id
    assert list(at.db.all(d.conversations_of_family(family_id="family_12"))) == []
    at.db.write(d.users.update(child.user_id).at(lambda u: u.family_id).remove())
    assert at.chat.conversations.rekey(child.user_id, None) == 1
    assert list(at.db.all(d.conversations_of_family(family_id="family_123"))) == []


def test_zc_s9_a_chat_of_45_days_keeps_its_header_and_loses_what_is_older_than_30_days(at: Place) -> None:
    """ZC-22, ZC-D13, ZC-D31."""
    chat = at.talk(at.child())
    for day in range(45):
        at.say(chat, f"day {day}")
        at.later(days=1)
    header = at.again(chat)
    assert header.message_count == 90
    shown = list(at.chat.messages.all(header))
    # The clock is a day after the last message.
    assert [m.text for m in shown if m.role == "user"] == [f"day {day}" for day in range(16, 45)]
    assert header.expires_at >= max(message.expires_at for message in shown)
    if at.engine is not None:
        at.later(seconds=2)
        at.engine.settle()
        assert len(items(at, "message")) == 58
        assert len(items(at, "conversation")) == 1


def test_zc_s15_in_los_angeles_the_ttl_is_thirty_days_after_now_in_utc(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ZC-23, ZC-D36."""
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    try:
        chat = at.talk(at.child())
        (message, _) = at.say(chat, "hello")
        expected = (at.clock.now() + timedelta(days=30)).timestamp()
        (header,) = items(at, "conversation")
        stored = [item for item in items(at, "message") if item["messageId"]["S"] == message.message_id]
        assert abs(int(stored[0]["ttl"]["N"]) - expected) <= 1
        assert expected <= int(header["ttl"]["N"]) <= expected + 86_401
        assert stored[0]["timestamp"]["S"] == "2030-02-04T10:00:00.000000Z"
        assert datetime.fromisoformat(stored[0]["timestamp"]["S"]).tzinfo == UTC
    finally:
        monkeypatch.delenv("TZ")
        os.environ.pop("TZ", None)
        time.tzset()
