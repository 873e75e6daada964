"""Contexts, extraction and recall: what is stored, for whom, and how it is forgotten."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.places import scan
from tests.systems.chat.place import Place, refuses

from tablewright.systems.chat import design as d
from tablewright.systems.chat import jobs
from tablewright.systems.chat.memory.contexts import MOST_ENTRIES, Entry, by_category
from tablewright.systems.chat.memory.embedding import Embedder, hashed_words
from tablewright.systems.chat.memory.extraction import said_of_oneself
from tablewright.systems.chat.memory.recall import Recall


def remembered(at: Place, *texts: str, user_id: str = "u_9", **fields: object) -> None:
    """A chat of a child that was silent for so long that everything of it is extracted."""
    chat = at.talk(at.child(user_id, **fields))
    at.say(chat, *texts)
    at.later(minutes=6)
    for _ in range(3):
        jobs.run_tasks(at.chat)


@pytest.mark.parametrize(
    ("text", "category", "name", "value"),
    [
        ("My favourite animal is the red panda!", "favorites", "animal", "the red panda"),
        ("my favorite colour is blue, and you?", "favorites", "colour", "blue"),
        ("I am interested in dinosaurs.", "interests", "dinosaurs", "dinosaurs"),
        ("I want to learn more about black holes", "interests", "black holes", "black holes"),
        ("I learn best by drawing.", "learning_style", "learns best", "drawing"),
        ("I really like bamboo because it is green", "preferences", "likes bamboo", "bamboo"),
        ("I don't like cold water.", "preferences", "dislikes cold water", "cold water"),
    ],
)
def test_what_children_say_of_themselves_is_found(text: str, category: str, name: str, value: str) -> None:
    ((found, entry),) = said_of_oneself(text, "m1")
    assert (found, entry.name, entry.value) == (category, name, value)
    assert entry.message_ids == ("m1",)
    assert 0 < entry.confidence < 1


@pytest.mark.parametrize("text", ["Do you like bamboo?", "My favourite person is [name].", "Hello!", ""])
def test_questions_and_scrubbed_words_say_nothing_of_a_child(text: str) -> None:
    assert list(said_of_oneself(text, "m1")) == []


def test_of_two_entries_with_one_name_the_later_one_stays() -> None:
    found = by_category([("favorites", Entry("animal", "lion")), ("favorites", Entry("animal", "panda"))])
    assert [entry.value for entry in found["favorites"]] == ["panda"]


def test_nothing_is_extracted_without_the_consent_of_a_parent(at: Place) -> None:
    remembered(at, "My favourite animal is the panda.", "I like bamboo a lot.", scopes=["collect_and_use"])
    assert at.chat.contexts.of("u_9") == []
    assert at.chat.recall.all_of("u_9") == []
    assert len(at.chat.summaries.of(next(at.chat.conversations.all_of("u_9")))) == 1


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (Entry("likes swimming", "swimming"), "likes swimming"),
        (Entry("mountains", "mountains"), "mountains"),
        (Entry("animal", "the red panda"), "animal: the red panda"),
        (Entry("best_friends", ["a cat", "a dog"]), "best friends: a cat, a dog"),
        (Entry("forest", "rest"), "forest: rest"),
    ],
)
def test_what_is_known_is_said_once(entry: Entry, words: str) -> None:
    assert entry.words == words


def test_memories_and_contexts_name_their_messages_and_have_no_personal_data(at: Place) -> None:
    """ZC-X6, ZC-X20."""
    remembered(
        at, "My name is Oliver and my favourite animal is the panda.", "Call me at 555-123-4567 today."
    )
    known = at.chat.contexts.get("u_9", "favorites")
    assert known.entries[0].message_ids
    texts = [memory.text for memory in at.chat.recall.all_of("u_9")]
    assert texts
    assert all("Oliver" not in text and "4567" not in text for text in texts)
    stored = str(scan(at.db, at.call, "conversation-v2"))
    assert "panda" not in stored.replace("panda_01", "")


def test_extraction_that_runs_again_changes_nothing(at: Place) -> None:
    """ZC-X21."""
    remembered(at, "My favourite animal is the panda.", "I like bamboo a lot.")
    before = [(memory.memory_id, memory.created) for memory in at.chat.recall.all_of("u_9")]
    (header,) = at.chat.conversations.all_of("u_9")
    at.db.write(*at.chat.extraction.task(header))
    jobs.run_tasks(at.chat)
    assert [(memory.memory_id, memory.created) for memory in at.chat.recall.all_of("u_9")] == before
    assert at.again(header).extracted_through == 4


def test_a_message_is_extracted_from_by_one_of_two_workers(at: Place) -> None:
    """ZC-X21."""
    chat = at.talk(at.child())
    at.say(chat, "My favourite animal is the panda.", "I like bamboo a lot.")
    at.later(minutes=6)
    jobs.run_tasks(at.chat)
    (task,) = [task for task in at.db.all(d.tasks.by_state(state="OPEN")) if task.kind == "extract"]
    one, two = at.chat.extraction.run(task), at.chat.extraction.run(task)
    assert at.chat.repository.try_write(*one.writes)
    assert not at.chat.repository.try_write(*two.writes)


def test_a_category_has_a_limit(at: Place) -> None:
    child = at.child()
    for number in range(0, MOST_ENTRIES, 20):
        entries = [Entry(f"entry {number + one}", one) for one in range(20)]
        at.chat.contexts.merge(child.user_id, "interests", entries)
    with refuses("CONTEXT_FULL"):
        at.chat.contexts.merge(child.user_id, "interests", [Entry("one more", 1)])


@pytest.mark.parametrize(("certain", "stays"), [("0.5", True), ("1", False)])
def test_what_is_extracted_into_a_full_category_displaces_only_what_is_less_certain(
    at: Place, certain: str, stays: bool
) -> None:
    child = at.child()
    for number in range(0, MOST_ENTRIES, 20):
        entries = [Entry(f"entry {number + one}", one, Decimal(certain)) for one in range(20)]
        at.chat.contexts.merge("u_9", "favorites", entries)
        at.later(minutes=1)
    chat = at.talk(child)
    at.say(chat, "My favourite animal is the panda.", "I like bamboo a lot.")
    at.later(minutes=6)
    for _ in range(3):
        jobs.run_tasks(at.chat)
    known = at.chat.contexts.get("u_9", "favorites").data
    assert len(known) == MOST_ENTRIES
    assert ("animal" in known) is stays
    assert at.again(chat).extracted_through == 4
    assert list(at.db.all(d.tasks.by_state(state="PARKED"))) == []


def test_contexts_expire_ninety_days_after_their_last_update(at: Place) -> None:
    """ZC-D12."""
    child = at.child()
    at.chat.contexts.merge(child.user_id, "favorites", [Entry("animal", "panda", Decimal("0.9"))])
    at.later(days=60)
    at.chat.contexts.merge(child.user_id, "favorites", [Entry("colour", "blue")])
    at.later(days=60)
    assert at.chat.contexts.get(child.user_id, "favorites").data == {"colour": "blue", "animal": "panda"}
    at.later(days=31)
    assert at.chat.contexts.of(child.user_id) == []


def test_a_context_of_a_child_that_is_being_erased_is_not_written(at: Place) -> None:
    child = at.child(standing="erasing")
    with refuses("ERASED"):
        at.chat.contexts.merge(child.user_id, "favorites", [Entry("animal", "panda")])


def test_a_context_is_not_written_after_profiling_was_switched_off(at: Place) -> None:
    """ZC-X26: the request had read before that it was allowed."""
    child = at.child()
    at.chat.consents.withdraw(at.person("p_1", "parent"), child, ["profiling"])
    with refuses("NO_CONSENT"):
        at.chat.contexts.merge(
            "u_9", "favorites", [Entry("animal", "panda")], consent=child.consent_generation
        )
    assert at.chat.contexts.of("u_9") == []


def test_vectors_of_another_kind_are_never_compared(at: Place) -> None:
    remembered(at, "The panda I met likes to eat bamboo.", "Trains are loud and fast today.")
    other = Recall(at.chat.repository, Embedder("another-kind", hashed_words))
    found = other.search("u_9", "panda bamboo")
    assert found[0].by_meaning == 0
    assert found[0].by_words > 0


def test_memories_are_found_by_kind_and_forgotten_with_their_run(at: Place) -> None:
    remembered(at, "My favourite animal is the panda.", "The lion slept under a tree today.")
    (only,) = at.chat.recall.search("u_9", "panda lion tree", kind="preference")
    assert only.memory.kind == "preference"
    at.chat.recall.forget("u_9", only.memory.memory_id)
    assert at.chat.recall.search("u_9", "panda", kind="preference") == []
    with refuses("MEMORY_NOT_FOUND"):
        at.chat.recall.forget("u_9", only.memory.memory_id)


def test_messages_that_expired_before_they_were_summarised_are_passed_over(at: Place) -> None:
    chat = at.talk(at.child())
    at.say(chat, "one")
    at.later(days=20)
    at.say(chat, "two")
    at.later(days=11)
    at.say(chat, "three pandas")
    at.later(minutes=6)
    jobs.run_tasks(at.chat)
    header = at.again(chat)
    assert (header.message_count, header.summarized_count, header.summary_count) == (6, 6, 1)
    (summary,) = at.chat.summaries.of(header)
    assert summary.message_range.message_count == 4
