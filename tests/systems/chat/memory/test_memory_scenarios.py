"""The scenarios of memory: summaries that happen once, contexts that merge, recall by meaning; on every backend."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import pytest
from tests.client.ways import WAYS
from tests.systems.chat.place import Place
from tests.systems.talk import at_once

from tablewright.systems.chat import jobs
from tablewright.systems.chat.memory.contexts import Entry
from tablewright.systems.chat.model import Conversation, Summary


@pytest.fixture(params=sorted(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def summaries(at: Place, conversation: Conversation) -> list[Summary]:
    return at.chat.summaries.of(at.again(conversation))


def covered(at: Place, conversation: Conversation, summary: Summary) -> list[int]:
    """The numbers of the messages that a summary marks."""
    every = at.chat.messages.all(conversation)
    return [message.sequence for message in every if message.summary_id == summary.summary_id]


def test_zc_s4_of_two_workers_at_once_one_makes_the_summary_of_each_twenty_messages(at: Place) -> None:
    """ZC-16, ZC-35, ZC-36, ZC-D9, ZC-D10, ZC-D11, ZC-D55."""
    chat = at.talk(at.child())
    at.say(chat, *(f"I saw {number} pandas eat bamboo." for number in range(9)))
    jobs.run_tasks(at.chat)
    assert summaries(at, chat) == []
    at.say(chat, "The red panda sleeps on a branch.")
    at_once([lambda: jobs.run_tasks(at.chat)] * 2, 2)
    (first,) = summaries(at, chat)
    assert (first.batch_id, first.message_range.message_count) == ("batch_001", 20)
    assert covered(at, chat, first) == list(range(1, 21))
    at.say(chat, *(f"Penguins swim {number} times." for number in range(10)))
    at_once([lambda: jobs.run_tasks(at.chat)] * 2, 2)
    (again, second) = summaries(at, chat)
    assert again == first
    assert second.batch_id == "batch_002"
    assert covered(at, chat, second) == list(range(21, 41))
    header = at.again(chat)
    assert (header.status, header.summary_count, header.summarized_count) == ("active", 2, 40)


def test_zc_s5_a_silent_chat_gets_a_partial_summary_that_is_not_made_again(at: Place) -> None:
    """ZC-34, ZC-35."""
    chat = at.talk(at.child())
    at.say(chat, "one panda", "two pandas", "three pandas")
    at.chat.messages.append(at.again(chat), [at.draft("and a lion")])
    jobs.run_tasks(at.chat)
    assert summaries(at, chat) == []
    at.later(minutes=5)
    jobs.run_tasks(at.chat)
    (partial,) = summaries(at, chat)
    assert covered(at, chat, partial) == list(range(1, 8))
    at.say(chat, *(f"turn {number}" for number in range(6)))
    at.chat.messages.append(at.again(chat), [at.draft("the thirteenth")])
    jobs.run_tasks(at.chat)
    assert summaries(at, chat) == [partial]
    at.say(chat, *(f"more {number}" for number in range(4)))
    jobs.run_tasks(at.chat)
    (_, whole) = summaries(at, chat)
    assert covered(at, chat, whole) == list(range(8, 28))


def test_zc_s13_two_devices_that_write_different_interests_at_once_both_succeed(at: Place) -> None:
    """ZC-17, ZC-D33."""
    child = at.child()
    names = [f"interest {number}" for number in range(16)]

    def write(name: str) -> None:
        entry = Entry(name, f"value of {name}", Decimal("0.5"))
        at.chat.contexts.merge(child.user_id, "interests", [entry])

    outcomes = at_once([partial(write, name) for name in names], 8)
    assert [each for each in outcomes if each is not None] == []
    known = at.chat.contexts.get(child.user_id, "interests")
    assert known.data == {name: f"value of {name}" for name in names}


def test_zc_s19_recall_finds_a_panda_by_meaning_and_by_word_and_never_another_childs(at: Place) -> None:
    """ZC-61, ZC-X20, ZC-E6."""
    ours, theirs = at.child("u_9"), at.child("u_8")
    told = (
        "The panda I met likes to eat bamboo all day.",
        "My grandmother drives an old yellow train.",
        "The sea lion balanced a ball on its nose.",
    )
    for child, texts in ((ours, told), (theirs, ("The panda likes bamboo and hid in a secret cave.",))):
        chat = at.talk(child)
        at.say(chat, *texts, "Hello there again my friend.")
        at.later(minutes=5)
        jobs.run_tasks(at.chat)
        jobs.run_tasks(at.chat)
    found = at.chat.recall.search("u_9", "the panda that likes bamboo")
    assert found[0].memory.text == told[0]
    assert found[0].by_meaning > 0.3
    assert found[0].by_words > 0.5
    assert found[0].memory.message_ids
    assert {each.memory.user_id for each in found} == {"u_9"}
    assert all("secret" not in each.memory.text for each in at.chat.recall.search("u_9", "secret cave"))
    (only,) = at.chat.recall.search("u_8", "secret cave", top=1)
    assert "secret" in only.memory.text
    assert at.chat.recall.search("u_9", "bamboo", animal_id="lion") == []
    at.later(days=91)
    assert at.chat.recall.search("u_9", "the panda that likes bamboo") == []
