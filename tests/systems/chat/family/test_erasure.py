"""Erasure: nothing of a child is left anywhere, the proof stays, and what races with it is refused (ZC-27, ZC-S10)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from tests.systems.chat.family.filled import SECRET_WORD, fill
from tests.systems.chat.family.home import (
    Household,
    again,
    consented,
    enters,
    household,
    mail_to,
    runs_tasks,
    second_parent,
    token_in,
)
from tests.systems.chat.place import Place, refuses

from tablewright.client import Retries
from tablewright.edge.errors import CallerError
from tablewright.kit.subject_keys import KeyDestroyed
from tablewright.kit.tables import Actor
from tablewright.mapping import Consumer
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.langgraph_store import UserStore
from tablewright.systems.chat.family.privacy import CONSUMERS
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.jobs import consumers
from tablewright.systems.chat.legacy.model import V1Conversation
from tablewright.systems.chat.memory.contexts import Entry
from tablewright.systems.chat.model import Draft, Task

# What stays: who looked and the proof, and the mark that the account is erased. The parent's own mails do not name it.
STAYS = {"access-log", "compliance-audit", "user"}


@pytest.fixture
def home(at: Place) -> Household:
    return household(at)


@pytest.fixture
def child(at: Place, home: Household) -> User:
    return consented(at, home, "collect_and_use", "profiling")


def everything(at: Place) -> dict[str, list[Any]]:
    """Every item of every table, as it is stored."""
    found: dict[str, list[Any]] = {}
    for name in d.CHAT.tables:
        request: dict[str, Any] = {"TableName": at.db.physical(name)}
        answer = at.call("Scan", request)
        found[name] = list(answer["Items"])
        assert "LastEvaluatedKey" not in answer
    return found


def tables_naming(at: Place, *words: str) -> set[str]:
    """The tables with an item in which one of the words is, as a word: Kim is not in skimming."""
    wanted = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(words)})(?![A-Za-z])")
    return {
        name
        for name, items in everything(at).items()
        if any(wanted.search(json.dumps(item, default=str)) for item in items)
    }


def test_zc_s10_after_an_opt_out_nothing_of_the_child_is_left_and_the_proof_is(
    at: Place, home: Household, child: User
) -> None:
    threads = fill(at, child)
    at.chat.children.offer_transfer(child, "eve@example.org", home.parent)
    at.chat.access_log.note("kim", home.parent, "reads a chat", "transcript")
    before = tables_naming(at, "kim", "Kim")
    assert before >= {
        "conversation-v2",
        "agent-state",
        "conversation",
        "session",
        "user-details",
        "family",
        "work",
    }
    assert tables_naming(at, SECRET_WORD) == {"conversation"}  # the first version is not sealed
    certificate = at.chat.erasure.erase(child, home.parent)
    assert certificate.done_at is not None
    assert certificate.done_at - certificate.begun_at < timedelta(minutes=15)
    assert tables_naming(at, "Kim", SECRET_WORD) == set()
    assert tables_naming(at, "kim") <= {*STAYS, "work"}  # the task waits for its second run
    at.later(minutes=3)
    runs_tasks(at)
    assert tables_naming(at, "kim") <= STAYS
    assert threads == ["thread-1"]
    assert list(at.chat.objects.names("texts/")) + list(at.chat.objects.names("agents/")) == []
    again_read = at.chat.erasure.certificate("kim")
    expected = {"key", "thread", "message", "summary", "context", "memory", "conversation", "alias", "text",
                "agent_checkpoint", "agent_write", "agent_entry", "agent_item", "agent_file", "agent_object",
                "v1_conversation", "v1_session", "consent", "review_flag", "member", "user"}  # fmt: skip
    assert expected <= set(again_read.erased)
    assert set(again_read.kept) == {"access", "audit_entry", "first_version_in_copies"}
    looked = [one.what for one in at.db.all(at.chat.access_log.of("kim"))]
    assert looked == ["erasure", "transcript"]
    assert "was erased" in mail_to(at, "ann@example.org")


def test_zc_s18_an_opt_out_leaves_no_checkpoint_write_entry_or_vector_and_the_certificate_lists_them(
    at: Place, home: Household, child: User
) -> None:
    fill(at, child)
    counts = at.chat.erasure.erase(child, home.parent).erased
    rows = everything(at)
    assert rows["agent-state"] == []
    assert rows["conversation-v2"] == []
    assert counts["agent_checkpoint"] >= 30
    assert counts["agent_write"] >= 1
    assert counts["agent_entry"] == 2
    assert counts["memory"] == 1
    search = d.memories_like((1.0, *(0.0,) * 255), user_id="kim", embedding_kind=at.chat.embedder.kind)
    assert at.db.search(search.best(5)) == []


def test_an_erased_child_gets_410_and_its_words_cannot_be_opened(
    at: Place, home: Household, child: User
) -> None:
    sealed = at.chat.repository.keys.seal("kim", "a place", "words of before")
    at.chat.erasure.erase(child, home.parent)
    with refuses("ERASED"):
        enters(at, "kim", "student")
    with pytest.raises(KeyDestroyed):
        at.chat.repository.keys.open("kim", "a place", sealed)
    with refuses("ERASED"):
        at.chat.children.add(
            home.family, "Kim", home.child.birth_date or at.chat.people.today(), home.parent, user_id="kim"
        )


def test_zc_s10_messages_that_race_with_the_erasure_are_refused_or_erased(
    at: Place, home: Household, child: User
) -> None:
    chat = at.talk(child)
    codes: list[str] = []

    def speak(number: int) -> None:
        try:
            at.chat.messages.append(
                chat, [Draft(role="user", text=f"{number}")], consent=child.consent_generation
            )
            codes.append("stored")
        except CallerError as refused:
            codes.append(refused.code)

    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(speak, number) for number in range(12)]
        erased = pool.submit(at.chat.erasure.erase, child, home.parent)
        waiting += [pool.submit(speak, number) for number in range(12, 30)]
        erased.result()
        for one in waiting:
            one.result()
    speak(99)
    assert set(codes) <= {"stored", "ERASED", "CONVERSATION_NOT_FOUND", "BUSY"}
    assert codes[-1] != "stored"
    assert list(at.db.all(d.everything_of_user(user_id="kim"))) == []
    assert everything(at)["conversation-v2"] == []


def test_everything_else_that_races_with_the_erasure_is_refused_or_erased_too(
    at: Place, home: Household, child: User
) -> None:
    chat = at.talk(child)
    at.say(chat, *(f"turn {number}" for number in range(10)))  # enough for a summary
    store = UserStore(at.chat, "kim")

    def work(number: int) -> None:
        with suppress(CallerError, KeyDestroyed):
            match number % 4:
                case 0:
                    at.chat.contexts.merge("kim", "interests", [Entry(f"thing {number}", "x")])
                case 1:
                    store.put(("likes",), f"{number}", {"text": "x"})
                case 2:
                    runs_tasks(at)
                case 3:
                    at.chat.conversations.create(child, "panda_01", consent=child.consent_generation)

    with ThreadPoolExecutor(4) as pool:
        first = [pool.submit(work, number) for number in range(8)]
        erased = pool.submit(at.chat.erasure.erase, child, home.parent)
        rest = [pool.submit(work, number) for number in range(8, 24)]
        erased.result()
        for one in (*first, *rest):
            one.result()
    at.later(minutes=3)
    for _ in range(2):
        runs_tasks(at)
    rows = everything(at)
    assert (rows["conversation-v2"], rows["agent-state"]) == ([], [])
    assert tables_naming(at, "kim") <= STAYS


def test_an_erasure_that_dies_half_way_is_finished_by_its_task_however_often_it_fails(
    at: Place, home: Household, child: User
) -> None:
    fill(at, child)

    def dies(user: User) -> int:
        raise RuntimeError

    steps = at.chat.privacy.child.parts
    broken = next(one for one in steps if getattr(one, "label", "") == "agent_object_bytes")
    was = broken.run  # type: ignore[union-attr]  # a step
    object.__setattr__(broken, "run", dies)
    at.chat.erasure.erase(child, home.parent)
    assert at.chat.erasure.certificate("kim").done_at is None
    with refuses("ERASED"):
        enters(at, "kim", "student")
    for _ in range(12):
        at.later(minutes=6)
        runs_tasks(at)
    assert list(at.db.all(d.tasks.by_state(state="PARKED"))) == []
    object.__setattr__(broken, "run", was)
    for _ in range(3):
        at.later(minutes=3)
        runs_tasks(at)
    assert at.chat.erasure.certificate("kim").done_at is not None
    assert tables_naming(at, "kim") <= STAYS


def test_a_restored_table_is_erased_again(at: Place, home: Household, child: User) -> None:
    chat = at.talk(child)
    at.say(chat, "hello")
    table = at.db.physical("conversation-v2")
    copies = at.call("Scan", {"TableName": table})["Items"]
    row = at.call("Scan", {"TableName": at.db.physical("user")})["Items"]
    at.chat.erasure.erase(child, home.parent)
    assert at.chat.erasure.erase_again() == 0
    for item in copies:
        at.call("PutItem", {"TableName": table, "Item": item})
    for item in row:
        at.call("PutItem", {"TableName": at.db.physical("user"), "Item": item})
    assert again(at, child).standing == "active"
    assert at.chat.erasure.erase_again() == 1
    assert everything(at)["conversation-v2"] == []
    assert again(at, child).standing == "erased"
    assert at.chat.erasure.erase_again() == 0


def test_the_parked_changes_of_every_consumer_are_forgotten(at: Place) -> None:
    assert {(one.table, one._worker.consumer) for one in consumers(at.chat)} <= set(CONSUMERS)


def test_changes_that_the_migration_could_not_deal_with_are_forgotten(
    at: Place, home: Household, child: User
) -> None:
    """A parked change has the words of the first version as they are (ZC-27)."""
    legacy, admin = at.chat.legacy, Actor("root", "administrator")
    legacy.operator.prepare(admin)
    legacy.operator.start(admin)
    legacy.operator.advance("me")

    def fail(record: Any) -> None:
        raise ConnectionError

    context, migration = legacy.context, legacy.migration
    name, once = context.consumer_name(context.state().epoch), Retries(attempts=1, sleep=lambda _: None)
    broken = Consumer(context.db, None, migration.source.called, name, fail, retries=once)
    fill(at, child)
    broken.run_once()
    assert any("conv_v1" in one.key for one in broken.parked())
    at.chat.erasure.erase(child, home.parent)
    assert list(broken.parked()) == []


def test_a_task_about_an_erased_child_that_was_given_up_is_removed(
    at: Place, home: Household, child: User
) -> None:
    now = at.chat.repository.now()
    task = Task(
        task_id="t1", kind="extract", state="PARKED", created_at=now, due_at=now, user_id="kim", conversation_id="c"
    )  # fmt: skip
    at.db.write(d.tasks.add(task))
    at.chat.erasure.erase(child, home.parent)
    assert [one for one in at.db.all(d.tasks.by_state(state="PARKED")) if one.user_id == "kim"] == []


def test_a_thread_that_cannot_be_removed_is_tried_again(at: Place, home: Household, child: User) -> None:
    """ZC-E9."""
    tried: list[str] = []

    def away(thread_id: str) -> None:
        tried.append(thread_id)
        if len(tried) == 1:
            raise ConnectionError

    at.chat.privacy._remove_thread = away
    at.chat.erasure._remove_thread = away
    at.chat.conversations.set_thread(at.talk(child), "thread-7")
    certificate = at.chat.erasure.erase(child, home.parent)
    assert certificate.done_at is not None
    runs_tasks(at)
    assert tried == ["thread-7", "thread-7"]


def test_a_thread_of_the_first_version_that_cannot_be_removed_is_tried_again(
    at: Place, home: Household, child: User
) -> None:
    tried: list[str] = []

    def away(thread_id: str) -> None:
        tried.append(thread_id)
        if len(tried) == 1:
            raise ConnectionError

    at.chat.privacy._remove_thread = away
    at.chat.erasure._remove_thread = away
    old = V1Conversation(conversation_id="conv_v1", user_id="kim", animal_id="panda", thread_id="thread-8")
    at.db.write(d.v1_conversations.create(old))
    at.chat.erasure.erase(child, home.parent)
    runs_tasks(at)
    assert tried == ["thread-8", "thread-8"]


def test_the_log_of_an_erasure_says_who_asked_for_it(at: Place, home: Household, child: User) -> None:
    at.chat.erasure.erase(child, enters(at, "root", "administrator"))
    purposes = [one.purpose for one in at.db.all(at.chat.access_log.of("kim")) if one.what == "erasure"]
    assert purposes == ["asked for by the administrator"]


def test_the_certificate_is_for_the_parent_who_asked_and_for_administrators(
    at: Place, home: Household, child: User
) -> None:
    """ZC-X10."""
    bob = second_parent(at, home)
    at.chat.erasure.erase(child, home.parent)
    assert at.chat.erasure.certificate_for(home.parent, "kim").done_at is not None
    assert at.chat.erasure.certificate_for(enters(at, "root", "administrator"), "kim").subject == "child"
    for stranger in (bob, enters(at, "eve"), enters(at, "zoe", "zookeeper")):
        with refuses("CERTIFICATE_NOT_FOUND"):
            at.chat.erasure.certificate_for(stranger, "kim")


def test_an_adult_who_is_the_only_parent_is_erased_after_the_children(
    at: Place, home: Household, child: User
) -> None:
    with refuses("LAST_PARENT"):
        at.chat.erasure.erase(home.parent, home.parent)
    at.chat.erasure.erase(child, home.parent)
    at.chat.erasure.erase(home.parent, home.parent)
    at.later(minutes=3)
    runs_tasks(at)
    assert at.chat.families.membership.family(home.family.family_id) is None
    assert tables_naming(at, "ann@example.org") == set()


def meanwhile(at: Place, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Something else happens after the next erasure has read the families, before it writes."""
    repository, audit = at.chat.repository, at.chat.repository.audit

    def acted_first(*args: Any, **named: Any) -> Any:
        monkeypatch.setattr(repository, "audit", audit)
        act()
        return audit(*args, **named)

    monkeypatch.setattr(repository, "audit", acted_first)


def finishes(at: Place) -> None:
    for _ in range(3):
        at.later(minutes=3)
        runs_tasks(at)


def test_of_the_last_two_parents_who_are_erased_at_once_one_is_refused(
    at: Place, home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = second_parent(at, home)
    meanwhile(at, monkeypatch, lambda: at.chat.erasure.erase(bob, bob))
    with refuses("LAST_PARENT"):
        at.chat.erasure.erase(home.parent, home.parent)
    finishes(at)
    assert again(at, home.parent).standing == "active"
    assert again(at, bob).standing == "erased"
    assert at.chat.families.is_parent_of(home.parent, home.child)


def test_a_parent_who_leaves_while_the_other_is_erased_leaves_no_child_alone(
    at: Place, home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = second_parent(at, home)
    meanwhile(at, monkeypatch, lambda: at.chat.families.remove(home.family, "bob", bob))
    with refuses("LAST_PARENT"):
        at.chat.erasure.erase(home.parent, home.parent)
    assert again(at, home.parent).standing == "active"


def test_once_an_erasure_of_a_parent_has_begun_the_other_cannot_leave_the_children(
    at: Place, home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = second_parent(at, home)
    monkeypatch.setattr(at.chat.erasure, "_worker", SimpleNamespace(run=lambda task_id: False))
    with suppress(CallerError):  # there is no certificate before the task has run
        at.chat.erasure.erase(home.parent, home.parent)
    with refuses("LAST_PARENT"):
        at.chat.families.remove(home.family, "bob", bob)
    finishes(at)
    assert again(at, home.parent).standing == "erased"
    assert tables_naming(at, "ann@example.org", "Ann") == set()


def test_a_parent_who_is_removed_while_the_erasure_begins_is_erased(
    at: Place, home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob, membership = second_parent(at, home), at.chat.families.membership
    family = membership.family

    def removed_first(family_id: str) -> Any:
        monkeypatch.setattr(membership, "family", family)
        at.chat.families.remove(home.family, "bob", home.parent)
        return family(family_id)

    monkeypatch.setattr(membership, "family", removed_first)
    assert at.chat.erasure.erase(bob, bob).done_at is not None
    assert again(at, bob).standing == "erased"
    assert [one.member.user_id for one in at.chat.families.relatives(home.family)] == ["ann", "kim"]


def test_mails_about_children_that_went_to_an_erased_parent_go_too(at: Place, home: Household) -> None:
    second_parent(at, home)
    about = at.chat.repository.outbox.mail("ann@example.org", "age 13", {"child": "Kim"}, "kim")
    at.db.write(about)
    assert "ann@example.org" in {one.recipient for one in at.db.all(d.outbox.of("kim"))}
    at.chat.erasure.erase(home.parent, home.parent)
    assert "ann@example.org" not in {one.recipient for one in at.db.all(d.outbox.of("kim"))}


def test_a_restored_person_who_cannot_be_erased_again_is_in_the_way_of_no_one_else(
    at: Place, home: Household, caplog: pytest.LogCaptureFixture
) -> None:
    other, zed = household(at, "eve", "lou"), enters(at, "zed")
    copies = {
        name: at.call("Scan", {"TableName": at.db.physical(name)})["Items"] for name in ("user", "family")
    }
    at.chat.children.offer_transfer(home.child, "eve@example.org", home.parent)
    at.chat.children.take_over(token_in(mail_to(at, "eve@example.org")), other.family, other.parent)
    for one in (home.parent, zed):
        at.chat.erasure.erase(one, one)
    finishes(at)
    for name, items in copies.items():
        for item in items:
            at.call("PutItem", {"TableName": at.db.physical(name), "Item": item})
    assert at.chat.erasure.erase_again() == 1
    assert again(at, zed).standing == "erased"
    (record,) = [one for one in caplog.records if one.message == "a restored person was not erased again"]
    assert record.__dict__["mistake"] == "LAST_PARENT"
    assert "ann" not in json.dumps([str(value) for value in record.__dict__.values()]).lower().split('"')


# --- export ---


def test_an_export_has_everything_that_is_kept_with_the_texts_open(at: Place, child: User) -> None:
    """ZC-X10."""
    fill(at, child)
    found = at.chat.privacy.export(child)
    assert {name for name, value in found.items() if value} == {
        "exportedAt", "user", "messages", "summaries", "contexts", "memories", "conversations", "flags",
        "agentEntries", "agentItems", "agentFiles", "agentSessions", "agentCheckpoints",
        "agentWrites", "consents", "mails", "history", "firstVersion",
    }  # fmt: skip
    for name in (
        "messages",
        "summaries",
        "contexts",
        "memories",
        "agentEntries",
        "agentItems",
        "agentFiles",
        "firstVersion",
    ):
        assert SECRET_WORD in json.dumps(found[name]), name
    assert found["user"]["birthDate"] == "2019-06-01"
