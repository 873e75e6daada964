"""A user who writes very much: messages over ten partitions, read as if they were in one (ZC-66, ZC-D35)."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.places import scan
from tests.systems.chat.family.filled import SECRET_WORD
from tests.systems.chat.place import Api, Place, open_flags, refuses

from tablewright.kit.tables import Actor
from tablewright.systems.chat import jobs
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Conversation, Draft

SAMPLE = "00000000-0000-4000-8000-00000000002a"


@pytest.fixture
def writer(at: Place) -> User:
    return at.child("u_much", message_partitions=10)


def partitions(at: Place) -> dict[str, int]:
    """How many messages each partition has."""
    found: dict[str, int] = {}
    for item in scan(at.db, at.call, "conversation-v2"):
        if item["SK"]["S"].startswith("MSG#"):
            found[item["PK"]["S"]] = found.get(item["PK"]["S"], 0) + 1
    return found


def fill(at: Place, chat: Conversation, turns: int) -> list[str]:
    texts = [f"word {number}" for number in range(turns)]
    return [message.text for message in at.say(chat, *texts)]


def test_zc_66_the_messages_of_such_a_user_are_in_ten_partitions_and_are_read_in_order(
    at: Place, writer: User
) -> None:
    chat, beside = at.talk(writer), at.talk(writer)
    said = fill(at, chat, 30)
    at.say(beside, "another chat")
    counts = partitions(at)
    assert set(counts) == {f"USER#u_much#{number}" for number in range(10)}
    assert max(counts.values()) < 30
    assert [m.text for m in at.chat.messages.all(at.again(chat))] == said
    first = at.chat.messages.history(at.again(chat), limit=25)
    rest = at.chat.messages.history(at.again(chat), limit=50, after=first.next)
    assert [m.text for m in (*first.items, *rest.items)] == said[::-1]
    assert rest.next is None


def test_zc_d35_another_process_finds_the_same_partition(at: Place) -> None:
    program = (
        "from tablewright.systems.chat import design as d; "
        f"print(d.spread_messages.shape.pk.render({{'user_id': 'u', 'message_id': '{SAMPLE}'}}))"
    )
    found = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert found == {"USER#u#9\n"}


def test_chats_that_exist_stay_where_they_are_when_a_user_is_spread(at: Place, api: Api) -> None:
    child, admin = at.child("u_9"), at.person("root", "administrator")
    before = at.talk(child)
    at.say(before, "one")
    path = "/admin/users/u_9/message-partitions"
    assert api.put(path, {"partitions": 1}, by=child).status_code == 403
    assert api.put(path, {"partitions": 7}, by=admin).status_code == 422
    assert api.put(path, {"partitions": 10}, by=admin).json() == {"partitions": 10}
    at.say(before, "two")
    at.later(seconds=1)
    after = at.talk(at.chat.people.by_id("u_9"))
    at.say(after, "three")
    counts = partitions(at)
    assert counts.pop("USER#u_9") == 4
    assert sum(counts.values()) == 2
    assert [m.text for m in at.chat.messages.newest(at.again(before), 4)][::2] == ["one", "two"]
    ids = [one.conversation_id for one in at.chat.conversations.of_user("u_9").items]
    assert ids == [after.conversation_id, before.conversation_id]


def test_appends_at_once_are_counted_and_in_strict_order(at: Place, writer: User) -> None:
    chat = at.talk(writer)
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(
            lambda n: at.chat.messages.append(chat, [Draft(role="user", text=str(n))]), range(40)
        ):
            pass
    found = list(at.chat.messages.all(at.again(chat)))
    assert at.again(chat).message_count == 40
    assert [m.sequence for m in found] == list(range(1, 41))
    assert sorted(int(m.text) for m in found) == list(range(40))


def test_a_spread_chat_is_summarised_rated_taken_back_forked_and_mended(at: Place, writer: User) -> None:
    chat = at.talk(writer)
    fill(at, chat, 12)
    jobs.run_tasks(at.chat)
    header = at.again(chat)
    assert (header.summary_count, header.summarized_count) == (1, 20)
    assert [bool(m.summary_id) for m in at.chat.messages.all(header)] == [True] * 20 + [False] * 4
    last = at.chat.messages.newest(header, 1)[0]
    at.chat.messages.rate(header, last, "up")
    assert at.chat.messages.get(header, last.message_id).thumb == "up"
    fork = at.chat.conversations.fork(header, last.message_id)
    assert at.again(fork).message_count == 24
    assert len(at.chat.messages.take_back(header)) == 2
    assert at.again(chat).message_count == 22
    assert not at.chat.quality.check().of("counterDrift")
    at.chat.conversations.delete(at.again(fork), Actor("u_much", "student", "u_much"))
    assert sum(partitions(at).values()) == 22
    with refuses("CONVERSATION_NOT_FOUND"):
        at.again(fork)


def test_a_turn_of_such_a_user_is_answered_and_retried(at: Place, writer: User) -> None:
    at.chat.animals.install()
    chat = at.talk(writer, "red_panda")
    first = list(at.chat.turns.stream(writer, chat, "hello", "c1"))
    again = list(at.chat.turns.stream(writer, at.again(chat), "hello", "c1"))
    assert first
    assert again
    assert at.again(chat).message_count == 2
    assert sum(partitions(at).values()) == 2


def test_a_zookeeper_reads_what_was_said_before_a_flagged_message(at: Place, writer: User) -> None:
    chat = at.talk(writer)
    message = at.say(chat, "one", "two", "three")[4]
    flag = at.chat.review.flag(at.again(chat), message, "guardrail", ("bullying",))
    at.db.write(flag)
    found = at.chat.review.read(at.person("zoe", "zookeeper"), open_flags(at.chat)[0].flag_id)
    assert found.message is not None
    assert found.message.text == "three"
    assert [one.text for one in found.before][-2:] == ["two", "You said: two"]


def test_an_export_has_and_an_erasure_removes_what_is_spread(at: Place, writer: User) -> None:
    chat = at.talk(writer)
    at.say(chat, f"a {SECRET_WORD}")
    found = at.chat.privacy.export(writer)
    assert [one["text"] for one in found["spreadMessages"]].count(f"a {SECRET_WORD}") == 1
    certificate = at.chat.erasure.erase(writer, writer)
    assert certificate.erased["spread_message"] == 2
    assert not partitions(at)


def test_what_expires_there_is_proven(at: Place, writer: User) -> None:
    at.say(at.talk(writer), "one")
    at.later(days=34)
    assert at.chat.deletions.sweep() == 3
    assert not partitions(at)
