"""Messages and conversations: what is refused, taken back, forked, completed, deleted; long texts; sealed texts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.places import scan
from tests.systems.chat.place import Place, refuses

from tablewright.kit.tables import Actor, OnceRequest
from tablewright.mapping import Stale
from tablewright.systems.chat import design as d
from tablewright.systems.chat import jobs
from tablewright.systems.chat.family.people import actor_of
from tablewright.systems.chat.model import Draft, MessageMetadata, ToolCall

BEN = Actor("u_9", "student", "u_9")


def items(at: Place) -> list[dict[str, dict[str, str]]]:
    return scan(at.db, at.call, "conversation-v2")


def test_the_words_of_a_child_are_not_in_the_table(at: Place) -> None:
    """ZC-30, ZC-E7."""
    chat = at.talk(at.child())
    call = ToolCall(call_id="c1", name="facts", arguments='{"about": "bamboo"}')
    drafts = [Draft(role="user", text="bamboo is green"), Draft(role="assistant", text="", tool_calls=[call])]
    at.chat.messages.append(chat, drafts)
    assert "bamboo" not in str(items(at))
    (_, reply) = at.chat.messages.all(chat)
    assert reply.tool_calls == [call]


def test_a_sealed_text_does_not_open_in_another_message(at: Place) -> None:
    chat = at.talk(at.child())
    at.say(chat, "one")
    one, two = list(at.db.all(d.messages_from(user_id="u_9", conversation_id=chat.conversation_id)))
    with pytest.raises(ValueError, match="cannot be opened"):
        at.chat.messages.texts.opened(one.model_copy(update={"text": two.text}))


def test_a_text_that_is_too_long_for_an_item_is_an_object_and_goes_with_its_message(at: Place) -> None:
    """ZC-X19."""
    chat = at.talk(at.child())
    long = "panda " * 100_000
    (stored,) = at.chat.messages.append(chat, [Draft(role="tool", text=long)])
    assert stored.text == long
    (again,) = at.chat.messages.all(chat)
    assert again.text == long
    (name,) = at.chat.objects.names("texts/")
    content = at.chat.objects.get(name)
    assert content is not None
    assert len(content) < 10_000
    assert b"panda" not in content
    at.chat.conversations.delete(at.again(chat), BEN)
    assert list(at.chat.objects.names("texts/")) == []


def test_nothing_is_appended_to_an_archived_chat_until_it_is_reopened(at: Place) -> None:
    """ZC-12, ZC-D8."""
    chat = at.talk(at.child())
    at.say(chat, "one")
    archived = at.chat.conversations.archive(at.again(chat))
    with refuses("ARCHIVED"):
        at.say(chat, "two")
    assert at.again(chat).message_count == 2
    at.chat.conversations.reopen(archived)
    at.say(chat, "two")
    assert at.again(chat).message_count == 4


def test_an_archived_chat_is_summarized_once_its_last_message_is(at: Place) -> None:
    """ZC-16, ZC-D8."""
    chat = at.talk(at.child())
    at.say(chat, "one panda")
    at.chat.conversations.archive(at.again(chat))
    jobs.run_tasks(at.chat)
    header = at.again(chat)
    assert (header.status, header.summary_count, header.summarized_count) == ("summarized", 1, 2)


def test_turns_that_come_while_a_silent_chat_is_summarised_are_summarised_too(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = at.talk(at.child())
    at.say(chat, "one panda", "two pandas")
    at.later(minutes=6)
    write = type(at.chat.summaries)._summary

    def slow(*args: Any) -> Any:
        """The child goes on while the summary is written."""
        monkeypatch.undo()
        at.say(chat, "three pandas", "four pandas")
        return write(*args)

    monkeypatch.setattr(type(at.chat.summaries), "_summary", slow)
    for _ in range(3):
        jobs.run_tasks(at.chat)
        at.later(minutes=6)
    assert at.again(chat).summarized_count == 8


def test_a_turn_whose_header_was_read_before_a_summary_leaves_a_task(at: Place) -> None:
    """ZC-D9."""
    chat = at.talk(at.child())
    for _ in range(2):
        at.say(chat, "one panda", "two pandas")
        before = at.again(chat)
        at.later(minutes=6)
        jobs.run_tasks(at.chat)
    at.chat.messages.append(before, [at.draft(f"{number} lions") for number in range(4)])
    assert [task.kind for task in at.db.all(d.tasks.by_state(state="OPEN"))].count("idle") == 1


def test_a_state_is_changed_only_from_the_state_that_was_read(at: Place) -> None:
    """ZC-65."""
    chat = at.talk(at.child())
    at.chat.conversations.archive(chat)
    with refuses("VERSION_CONFLICT"):
        at.chat.conversations.archive(chat)


def test_nothing_is_appended_for_a_child_that_is_being_erased_or_has_another_consent(at: Place) -> None:
    child = at.child()
    chat = at.talk(child)
    with refuses("NO_CONSENT"):
        at.chat.messages.append(chat, [at.draft("hello")], consent=0)
    at.chat.messages.append(chat, [at.draft("hello")], consent=1)
    at.db.write(d.users.update("u_9").move("erasing", by="parent"))
    with refuses("ERASED"):
        at.chat.messages.append(at.again(chat), [at.draft("hello")], consent=1)
    with refuses("ERASED"):
        at.chat.conversations.create(child, "panda_01")
    assert at.again(chat).message_count == 1


def test_a_conversation_is_created_once_for_each_key(at: Place) -> None:
    """ZC-11."""
    child, once = at.child(), OnceRequest("create/1", "panda_01", "Used before.")
    first = at.chat.conversations.create(child, "panda_01", once=once)
    assert at.chat.conversations.create(child, "panda_01", once=once) == first
    assert len(list(at.chat.conversations.all_of("u_9"))) == 1


def test_conversations_of_a_user_are_in_the_order_of_their_creation(at: Place) -> None:
    """ZC-14, ZC-D6."""
    child, made = at.child(), list[str]()
    for animal in ("zebra", "ant", "mole"):
        made.insert(0, at.talk(child, animal).conversation_id)
        at.later(seconds=1)
    assert [one.conversation_id for one in at.chat.conversations.of_user("u_9").items] == made
    assert all(one.startswith("conv_") and len(one) == 31 for one in made)


def test_a_page_token_of_another_reader_or_chat_is_refused(at: Place) -> None:
    """ZC-D46."""
    child = at.child()
    chat, other = at.talk(child), at.talk(child)
    at.say(chat, "one", "two")
    token = at.chat.messages.history(chat, limit=1, reader="u_9").next
    with refuses("BAD_TOKEN"):
        at.chat.messages.history(chat, limit=1, after=token, reader="u_8")
    with refuses("BAD_TOKEN"):
        at.chat.messages.history(other, limit=1, after=token, reader="u_9")


class TestRemoval:
    """Taking back, deleting by run, deleting whole conversations."""

    def test_the_last_turn_can_be_taken_back_and_its_number_is_not_used_again(self, at: Place) -> None:
        """ZC-X18."""
        chat = at.talk(at.child())
        at.say(chat, "one", "two")
        taken = at.chat.messages.take_back(chat)
        assert [message.text for message in taken] == ["two", "You said: two"]
        assert at.again(chat).message_count == 2
        (again, _) = at.say(chat, "three")
        assert again.sequence == 5

    def test_what_a_summary_covers_cannot_be_taken_back(self, at: Place) -> None:
        chat = at.talk(at.child())
        at.say(chat, "one panda", "two pandas")
        at.later(minutes=6)
        jobs.run_tasks(at.chat)
        with refuses("ALREADY_SUMMARIZED"):
            at.chat.messages.take_back(chat)
        assert at.again(chat).message_count == 4

    def test_an_empty_chat_has_nothing_to_take_back(self, at: Place) -> None:
        with refuses("NOTHING_TO_TAKE_BACK"):
            at.chat.messages.take_back(at.talk(at.child()))

    def test_the_messages_of_a_run_are_deleted_and_the_others_stay(self, at: Place) -> None:
        chat = at.talk(at.child())
        for number in range(3):
            drafts = [Draft(role="user", text=f"{number}", run_id=f"run-{number % 2}")]
            at.chat.messages.append(at.again(chat), drafts)
        assert at.chat.messages.delete_run(chat, "run-0") == 2
        assert at.chat.messages.delete_run(chat, "run-0") == 0
        assert [message.text for message in at.chat.messages.all(chat)] == ["1"]
        assert at.again(chat).message_count == 1

    def test_a_deleted_conversation_leaves_nothing_but_its_entry_in_the_compliance_log(
        self, at: Place
    ) -> None:
        child = at.child()
        chat, kept = at.talk(child), at.talk(child)
        at.say(chat, *(f"I saw {number} pandas" for number in range(10)))
        at.say(kept, "stays")
        jobs.run_tasks(at.chat)
        at.chat.conversations.delete(at.again(chat), BEN)
        jobs.run_tasks(at.chat)
        with refuses("CONVERSATION_NOT_FOUND"):
            at.again(chat)
        assert all(chat.conversation_id not in str(item) for item in items(at))
        assert at.again(kept).message_count == 2
        (entry, *_) = at.db.all(at.chat.repository.compliance_log("child:u_9"))
        assert (entry.action, entry.before["messages"]) == ("conversation deleted", 20)

    def test_a_child_does_not_delete_a_message_that_it_has_not_seen(self, at: Place) -> None:
        """It may be about a crisis, which a zookeeper has to read (ZC-X25); a parent deletes what there is."""
        child = at.child()
        chat = at.talk(child)
        before = at.again(chat)
        at.say(chat, "from another window")
        with refuses("VERSION_CONFLICT"):
            at.chat.conversations.delete(before, actor_of(child))
        assert at.again(chat).message_count == 2
        at.chat.conversations.delete(before, actor_of(at.person("p_1", "parent")))
        with refuses("CONVERSATION_NOT_FOUND"):
            at.again(chat)

    def test_what_a_crash_leaves_of_a_deleted_conversation_is_removed_by_its_task(
        self, at: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        chat = at.talk(at.child())
        at.say(chat, "one")
        with monkeypatch.context() as patch:
            patch.setattr(type(at.chat.conversations), "_remove_rest", lambda *_: 0)
            at.chat.conversations.delete(at.again(chat), BEN)
        assert any(item["entityType"]["S"] == "message" for item in items(at))
        jobs.run_tasks(at.chat)
        assert items(at) == []


class TestReplies:
    """A reply takes the place of a pending message."""

    def test_a_pending_reply_is_settled_once(self, at: Place) -> None:
        chat = at.talk(at.child())
        pending = [Draft(role="user", text="hello"), Draft(role="assistant", text="", state="pending")]
        (_, reply) = at.chat.messages.append(chat, pending)
        known = MessageMetadata(tokens=7, latency=300)
        at.chat.messages.settle(chat, reply, "Hello you!", metadata=known)
        with pytest.raises(Stale):
            at.chat.messages.settle(chat, reply, "Hello again!", metadata=known)
        (_, settled) = at.chat.messages.all(chat)
        assert (settled.text, settled.state) == ("Hello you!", "complete")
        figures = at.again(chat).metadata
        assert (figures.total_tokens, figures.average_response_time) == (7, 300)

    def test_a_failed_reply_can_be_settled_later(self, at: Place) -> None:
        chat = at.talk(at.child())
        (reply,) = at.chat.messages.append(chat, [Draft(role="assistant", text="", state="pending")])
        failed = at.chat.messages.settle(chat, reply, "", state="failed")
        at.chat.messages.settle(chat, failed, "Here I am.")
        assert [m.text for m in at.chat.messages.all(chat)] == ["Here I am."]

    def test_a_summary_waits_for_a_reply_that_is_being_written(self, at: Place) -> None:
        chat = at.talk(at.child())
        at.say(chat, *(f"I saw {number} pandas" for number in range(9)))
        pending = [Draft(role="user", text="and?"), Draft(role="assistant", text="", state="pending")]
        (_, reply) = at.chat.messages.append(at.again(chat), pending)
        jobs.run_tasks(at.chat)
        assert at.chat.summaries.of(chat) == []
        at.chat.messages.settle(at.again(chat), reply, "Lions too.")
        at.later(seconds=11)
        jobs.run_tasks(at.chat)
        assert len(at.chat.summaries.of(chat)) == 1


class TestFork:
    """A copy of a conversation up to a message."""

    def test_a_fork_has_copies_up_to_a_message_and_lives_on_its_own(self, at: Place) -> None:
        """ZC-X18."""
        chat = at.talk(at.child())
        made = at.say(chat, "one", "two", "three")
        at.later(days=1)
        fork = at.chat.conversations.fork(at.again(chat), made[3].message_id)
        copies = list(at.chat.messages.all(fork))
        assert [m.text for m in copies] == [m.text for m in made[:4]]
        assert [m.expires_at for m in copies] == [m.expires_at for m in made[:4]]
        assert (fork.message_count, fork.forked_from) == (4, chat.conversation_id)
        at.say(fork, "another way")
        assert at.again(chat).message_count == 6
        assert at.again(fork).message_count == 6

    def test_a_reply_that_is_being_written_has_failed_in_the_fork(self, at: Place) -> None:
        """Nothing fills its place there: pending, it would be waited for in every summary and never asked for again."""
        chat = at.talk(at.child())
        drafts = [at.draft("one"), Draft(role="assistant", text="", state="pending")]
        made = at.chat.messages.append(chat, drafts)
        fork = at.chat.conversations.fork(at.again(chat), made[-1].message_id)
        assert [m.state for m in at.chat.messages.all(fork)] == ["complete", "failed"]
        assert [m.state for m in at.chat.messages.all(chat)] == ["complete", "pending"]

    def test_a_fork_of_an_old_chat_is_active_and_not_stale(self, at: Place) -> None:
        chat = at.talk(at.child())
        made = at.say(chat, "one", "two")
        at.later(days=15)
        fork = at.chat.conversations.fork(at.again(chat), made[-1].message_id)
        assert fork.last_activity == at.clock.now()
        jobs.archive_stale(at.chat)
        assert (at.again(chat).status, at.again(fork).status) == ("archived", "active")

    def test_a_fork_of_a_long_chat_is_whole(self, at: Place) -> None:
        chat = at.talk(at.child())
        made = at.say(chat, *(f"{number}" for number in range(60)))
        fork = at.chat.conversations.fork(at.again(chat), made[-1].message_id)
        assert fork.message_count == len(list(at.chat.messages.all(fork))) == 120


class TestRetention:
    """Classes of retention, proof of deletion."""

    def test_completing_a_session_gives_header_and_messages_the_ttl_of_its_class(self, at: Place) -> None:
        """ZC-23."""
        chat = at.talk(at.child())
        made = at.say(chat, "one")
        at.later(days=10)
        done = at.chat.conversations.complete(at.again(chat))
        jobs.run_tasks(at.chat)
        found = list(at.chat.messages.all(done))
        assert [m.expires_at for m in found] == [m.expires_at + timedelta(days=60) for m in made]
        assert at.again(chat).expires_at >= max(m.expires_at for m in found)
        assert at.again(chat).retention_class == "completed_session"
        at.later(days=30)
        assert len(list(at.chat.messages.all(at.again(chat)))) == 2

    def test_completing_a_program_keeps_for_180_days(self, at: Place) -> None:
        chat = at.talk(at.child())
        (message, _) = at.say(chat, "one")
        at.chat.conversations.complete(at.again(chat), "program")
        jobs.run_tasks(at.chat)
        (found, _) = at.chat.messages.all(at.again(chat))
        assert found.expires_at == message.timestamp + timedelta(days=180)

    def test_a_header_does_not_expire_before_its_summaries(self, at: Place) -> None:
        """ZC-D13."""
        chat = at.talk(at.child())
        at.say(chat, *(f"I saw {number} pandas" for number in range(10)))
        jobs.run_tasks(at.chat)
        at.say(chat, "one more")
        at.later(days=179)
        assert at.again(chat).summary_count == 1
        assert len(at.chat.summaries.of(at.again(chat))) == 1
        assert list(at.chat.messages.all(chat)) == []

    def test_what_has_expired_is_deleted_with_an_entry_in_the_compliance_log(self, at: Place) -> None:
        """ZC-25."""
        assert at.engine is not None
        consumer = at.chat.deletions.consumer()
        consumer.create_tables()
        chat = at.talk(at.child())
        at.say(chat, "one")
        at.later(days=30, seconds=5)
        at.engine.settle()
        consumer.run_once()
        consumer.run_once()
        found = list(at.db.all(at.chat.repository.compliance_log("child:u_9")))
        records = sorted(str(entry.before["record"]) for entry in found)
        assert records == ["conversation", "message", "message"]
        assert {entry.action for entry in found} == {"expired and deleted"}

    def test_what_the_ttl_has_left_for_72_hours_is_swept_with_an_entry(self, at: Place) -> None:
        chat = at.talk(at.child())
        at.say(chat, "one")
        at.later(days=32)
        assert at.chat.deletions.sweep() == 0
        at.later(days=3)
        assert at.chat.deletions.sweep() == 3
        assert at.chat.deletions.sweep() == 0
        found = at.db.all(at.chat.repository.compliance_log("child:u_9"))
        assert sorted(str(entry.before["record"]) for entry in found) == [
            "conversation",
            "message",
            "message",
        ]

    def test_a_chat_without_a_message_for_two_weeks_is_archived(self, at: Place) -> None:
        """ZC-20."""
        chat, busy = at.talk(at.child()), at.talk(at.child("u_8"))
        at.later(days=10)
        at.say(busy, "one")
        at.later(days=6)
        jobs.archive_stale(at.chat)
        assert at.again(chat).status == "archived"
        assert at.again(busy).status == "active"


def test_threads_are_stored_with_their_conversation(at: Place) -> None:
    """ZC-21."""
    chat = at.chat.conversations.set_thread(at.talk(at.child()), "thread_1")
    assert at.again(chat).thread_id == "thread_1"


def test_a_thumb_can_be_given_and_taken_back(at: Place) -> None:
    """ZC-X22."""
    chat = at.talk(at.child())
    (_, reply) = at.say(chat, "one")
    at.chat.messages.rate(chat, reply, "up")
    assert at.chat.messages.get(chat, reply.message_id).thumb == "up"
    at.chat.messages.rate(chat, reply, None)
    assert at.chat.messages.get(chat, reply.message_id).thumb is None
