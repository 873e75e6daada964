"""The migration of the first version: what becomes what, and what must not be lost or kept (A.10)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from tests.systems.chat.legacy.zoo import ADMIN, Zoo, v1_item, zoo_of
from tests.systems.chat.place import Place, refuses

from tablewright.systems.chat import design as d
from tablewright.systems.chat import jobs
from tablewright.systems.chat.legacy.conversion import dated, new_id
from tablewright.systems.chat.legacy.model import V1Message
from tablewright.systems.chat.model import Draft, Message
from tablewright.systems.chat.rules import stamp


@pytest.fixture
def zoo(at: Place) -> Zoo:
    return zoo_of(at)


def test_a_conversation_becomes_a_header_messages_and_an_alias(zoo: Zoo) -> None:
    """ZC-47, ZC-D23."""
    start = zoo.at.clock.now() - timedelta(days=3)
    zoo.at.child("u_9", family_id="family_1")
    zoo.put(v1_item("conv_panda_01_u_9_0a1b2c3d", "u_9", 4, start=start, threadId={"S": "thread_7"}))
    zoo.copy()
    alias = zoo.at.db.one(d.aliases.get("conv_panda_01_u_9_0a1b2c3d"))
    assert alias is not None
    header = zoo.at.chat.conversations.get(alias.conversation_id, "u_9")
    assert (header.created, header.start_time, header.family_id) == (start, start, "family_1")
    assert (header.message_count, header.thread_id, header.animal_name) == (4, "thread_7", "Pan Pan")
    assert (header.metadata.total_tokens, header.metadata.average_response_time) == (28, 120)
    messages = list(zoo.at.chat.messages.all(header))
    assert [message.sequence for message in messages] == [1, 2, 3, 4]
    assert messages[0].expires_at == start + timedelta(days=30)
    assert header.expires_at >= messages[-1].expires_at


def test_ids_are_in_the_order_of_creation(zoo: Zoo) -> None:
    now = zoo.at.clock.now()
    for number, name in enumerate(("zebra", "ant", "lion")):
        zoo.put(v1_item(f"conv_{name}_u_9_1", "u_9", 2, start=now - timedelta(days=9 - number)))
    ids = sorted(zoo.v1().values(), key=new_id)
    assert [one.conversation_id for one in ids] == ["conv_zebra_u_9_1", "conv_ant_u_9_1", "conv_lion_u_9_1"]


def test_texts_are_sealed_with_the_key_of_the_child(zoo: Zoo) -> None:
    zoo.put(v1_item("conv_a_u_9_1", "u_9", 2, start=zoo.at.clock.now(), size=30))
    zoo.copy()
    assert "xxxxxx" not in str(zoo.items("conversation-v2"))
    zoo.at.chat.repository.keys.destroy("u_9")
    zoo.legacy.operator.verify(ADMIN, repair=True)
    assert [item for item in zoo.items("conversation-v2") if item["SK"]["S"].startswith("MSG#")] == []


def test_zc_s12_a_message_without_id_and_time_migrates_to_the_same_items_each_time(zoo: Zoo) -> None:
    start = zoo.at.clock.now() - timedelta(hours=1)
    item = v1_item("conv_a_u_9_1", "u_9", 3, start=start)
    for number in (0, 2):
        del item["messages"]["L"][number]["M"]["messageId"], item["messages"]["L"][number]["M"]["timestamp"]
    zoo.put(item)
    first = [(at, id) for _, at, id, _ in dated(zoo.v1()["conv_a_u_9_1"])]
    assert first[0][0] == start
    assert first[2][0] == first[1][0] + timedelta(microseconds=1)
    zoo.copy()
    before = sorted(map(str, zoo.items("conversation-v2")))
    assert zoo.hashes_in_v1() == zoo.hashes_in_v2()
    assert zoo.legacy.operator.verify(ADMIN, repair=True).repaired == 0
    assert sorted(map(str, zoo.items("conversation-v2"))) == before
    zoo.put({**item, "animalName": {"S": "Renamed"}})
    zoo.follow()
    assert [(m.timestamp, m.message_id) for m in _messages(zoo)] == first


def _messages(zoo: Zoo) -> list[Message]:
    header = zoo.at.chat.conversations.get(new_id(zoo.v1()["conv_a_u_9_1"]), "u_9")
    return list(zoo.at.chat.messages.all(header))


def test_what_has_expired_is_not_migrated_and_is_logged_as_deleted(zoo: Zoo) -> None:
    now = zoo.at.clock.now()
    zoo.put(v1_item("conv_old_u_9_1", "u_9", 4, start=now - timedelta(days=40)))
    half = v1_item("conv_half_u_9_1", "u_9", 2, start=now - timedelta(days=35))
    half["messages"]["L"] += v1_item("conv_x_u_9_2", "u_9", 2, start=now - timedelta(days=2))["messages"]["L"]
    zoo.put({**half, "messageCount": {"N": "4"}})
    done = zoo.legacy.operator.prepare(ADMIN)
    assert (done.expired_conversations, done.expired_messages) == (1, 6)
    assert list(zoo.v1()) == ["conv_half_u_9_1"]
    entries = list(zoo.at.db.all(zoo.at.chat.repository.compliance_log("child:u_9")))
    assert {entry.before["conversation"] for entry in entries} == {"conv_old_u_9_1", "conv_half_u_9_1"}
    zoo.copy()
    (header,) = zoo.at.chat.conversations.of_user("u_9").items
    assert [m.sequence for m in zoo.at.chat.messages.all(header)] == [3, 4]
    again = zoo.legacy.operator.prepare(ADMIN)
    assert (again.changed, again.expired_messages) == (0, 0)


def test_a_conversation_of_a_user_that_cannot_be_one_is_reported_and_lands_nowhere(zoo: Zoo) -> None:
    zoo.put(v1_item("conv_a_x_1", "#?", 2, start=zoo.at.clock.now()))
    assert zoo.legacy.operator.prepare(ADMIN).unusable == ("conv_a_x_1",)
    zoo.legacy.operator.start(ADMIN)
    zoo.follow()
    assert zoo.items("conversation-v2") == []


def test_a_copy_can_be_read_and_not_written_before_the_cut_over(zoo: Zoo) -> None:
    """ZC-50, ZC-D24."""
    user = zoo.at.child("u_9")
    zoo.put(v1_item("conv_a_u_9_1", "u_9", 2, start=zoo.at.clock.now()))
    zoo.copy()
    (header,) = zoo.at.chat.conversations.of_user(user.user_id).items
    assert header.status == "copying"
    with refuses("BEING_MOVED"):
        zoo.at.say(header, "Hello")
    with refuses("BEING_MOVED"):
        zoo.at.chat.conversations.archive(header)
    with refuses("BEING_MOVED"):
        zoo.at.chat.conversations.delete(header, ADMIN)
    assert zoo.legacy.router.place("conv_a_u_9_1").version == "copying"


def test_after_the_cut_over_it_is_written_in_the_second_version(zoo: Zoo) -> None:
    """ZC-50."""
    zoo.at.child("u_9")
    zoo.put(
        v1_item("conv_a_u_9_1", "u_9", 2, start=zoo.at.clock.now()),
        v1_item("conv_b_u_9_1", "u_9", 2, start=zoo.at.clock.now(), status={"S": "archived"}),
    )
    zoo.cut_over()
    place = zoo.legacy.router.place("conv_a_u_9_1", "u_9")
    assert place.version == "v2"
    assert place.header is not None
    zoo.at.say(place.header, "Hello")
    assert len(zoo.legacy.compat.history("conv_a_u_9_1")) == 4
    archived = zoo.legacy.router.place("conv_b_u_9_1").header
    assert archived is not None
    assert archived.status == "archived"


def test_a_long_conversation_is_migrated_whole_and_comes_back(zoo: Zoo) -> None:
    zoo.at.child("u_9")
    zoo.put(v1_item("conv_a_u_9_1", "u_9", 230, start=zoo.at.clock.now() - timedelta(days=1), size=800))
    zoo.cut_over()
    assert {len(each) for each in zoo.hashes_in_v2().values()} == {230}
    zoo.legacy.compat.store_conversation_turn("conv_a_u_9_1", "one more", "yes")
    zoo.legacy.operator.roll_back(ADMIN)
    assert len(zoo.v1()["conv_a_u_9_1"].messages) == 232


def test_metadata_without_a_name_in_the_second_version_comes_back(zoo: Zoo) -> None:
    zoo.at.child("u_9")
    zoo.put(v1_item("conv_a_u_9_1", "u_9", 2, start=zoo.at.clock.now()))
    zoo.cut_over()
    zoo.legacy.compat.store_conversation_turn("conv_a_u_9_1", "Hello", "Hi", {"mood": "curious", "tokens": 3})
    zoo.legacy.operator.roll_back(ADMIN)
    noted = [message.metadata for message in zoo.v1()["conv_a_u_9_1"].messages]
    assert noted[0] == {"tokens": 7, "latency": 120, "mood": "glad"}
    assert noted[3] == {"mood": "curious", "tokens": 3}


def test_a_conversation_that_is_removed_in_the_first_version_has_no_copies_left(zoo: Zoo) -> None:
    zoo.put(v1_item("conv_a_u_9_1", "u_9", 4, start=zoo.at.clock.now()))
    zoo.copy()
    zoo.at.db.write(d.v1_conversations.discard("conv_a_u_9_1"))
    zoo.follow()
    assert zoo.items("conversation-v2") == []


def test_a_backup_of_the_first_version_ends_with_the_migration(zoo: Zoo) -> None:
    """ZC-52."""
    zoo.put(v1_item("conv_a_u_9_1", "u_9", 2, start=zoo.at.clock.now()))
    zoo.cut_over()
    archive = zoo.legacy.operator.archive
    assert len(archive.backups()) == 1
    assert zoo.at.engine is not None
    zoo.at.engine.settle()  # a backup that is being made cannot be deleted
    zoo.legacy.operator.finish(ADMIN, early=True)
    assert archive.backups() == []
    actions = [entry.action for entry in zoo.legacy.operator.history()]
    assert "backup of the first version deleted" in actions


def test_a_backup_of_the_first_version_is_kept_for_35_days_at_most(zoo: Zoo) -> None:
    zoo.legacy.operator.prepare(ADMIN)
    zoo.at.later(days=34)
    assert jobs.end_archives(zoo.at.chat) == 0
    zoo.legacy.operator.prepare(ADMIN)
    zoo.at.later(days=1, seconds=1)
    assert zoo.at.engine is not None
    zoo.at.engine.settle()  # a backup that is being made cannot be deleted
    assert jobs.end_archives(zoo.at.chat) == 1
    assert len(zoo.legacy.operator.archive.backups()) == 1


def test_a_copy_is_counted_while_it_is_made_and_not_after_the_cut_over(zoo: Zoo) -> None:
    zoo.at.child("u_9")
    zoo.put(v1_item("conv_a_u_9_1", "u_9", 20, start=zoo.at.clock.now()))
    zoo.cut_over()
    status = zoo.legacy.operator.status()
    assert (status.phase, status.copied, status.total) == ("switched", 0, None)
    assert status.verified_at is not None
    assert status.verified_at <= zoo.at.clock.now()


def test_conversations_that_were_never_in_the_first_version_are_left_alone(zoo: Zoo) -> None:
    own = zoo.at.talk(zoo.at.child("u_9"))
    zoo.at.say(own, "mine")
    zoo.put(v1_item("conv_a_u_8_1", "u_8", 2, start=zoo.at.clock.now()))
    zoo.cut_over()
    zoo.at.say(own, "again")
    zoo.legacy.operator.roll_back(ADMIN)
    assert len(list(zoo.at.chat.messages.all(zoo.at.again(own)))) == 4
    assert list(zoo.v1()) == ["conv_a_u_8_1"]


def test_zc_46_the_preparation_adds_attributes_and_programs_of_the_first_version_read_on(zoo: Zoo) -> None:
    start = zoo.at.world.now() - timedelta(days=1)
    zoo.at.child("u_1", family_id="family_1")
    zoo.put(v1_item("conv_panda_u_1_00000001", "u_1", 4, start=start))
    before = zoo.legacy.v1.history("conv_panda_u_1_00000001", "u_1")
    zoo.legacy.operator.prepare(ADMIN)
    (item,) = zoo.items()
    assert item.keys() >= {"entityType", "ttl", "familyId", "summaryCount", "metadata"}
    assert item["familyId"] == {"S": "family_1"}
    assert int(item["ttl"]["N"]) == int((start + timedelta(days=30, seconds=3)).timestamp())
    assert zoo.legacy.v1.history("conv_panda_u_1_00000001", "u_1") == before
    zoo.legacy.operator.prepare(ADMIN)
    assert zoo.items() == [item]


def test_zc_60_an_append_and_a_page_take_fewer_units_than_in_the_first_version(zoo: Zoo) -> None:
    now, text = zoo.at.world.now(), "x" * 350
    zoo.put(v1_item("conv_panda_u_1_00000001", "u_1", 50, start=now - timedelta(hours=1), size=350))
    talk = zoo.at.talk(zoo.at.child("u_1"))
    drafts = [Draft(role="user", text=text)]
    zoo.at.chat.messages.append(zoo.at.again(talk), drafts * 50)
    old = V1Message(message_id="m", role="user", text=text, timestamp=stamp(now))

    def units(act: Callable[[], object]) -> float:
        before = _spent(zoo)
        act()
        return _spent(zoo) - before

    def append_v1() -> None:
        zoo.legacy.v1.get("conv_panda_u_1_00000001", "u_1")
        zoo.legacy.v1.append("conv_panda_u_1_00000001", "u_1", [old])

    header = zoo.at.again(talk)
    assert units(lambda: zoo.at.chat.messages.append(header, drafts)) * 2 < units(append_v1)
    whole = units(lambda: zoo.legacy.v1.history("conv_panda_u_1_00000001", "u_1"))
    assert units(lambda: zoo.at.chat.messages.history(header, limit=5)) < whole


def _spent(zoo: Zoo) -> float:
    return float(sum(each.read + each.write for each in zoo.at.db.meter.spent().values()))


def test_progress_counts_chats_of_the_first_version_and_no_rows_of_the_second(zoo: Zoo) -> None:
    child = zoo.at.child("u_9")
    for _ in range(3):
        zoo.at.say(zoo.at.talk(child), "one", "two")
    for number in range(4):
        zoo.put(v1_item(f"conv_a_u_9_{number}", "u_9", 2, start=zoo.at.clock.now()))
    zoo.legacy.operator.prepare(ADMIN)
    begun = zoo.legacy.operator.start(ADMIN)
    assert (begun.copied, begun.total) == (0, 4)
