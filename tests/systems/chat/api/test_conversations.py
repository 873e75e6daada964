"""The routes of conversations, messages, contexts and memories."""

from __future__ import annotations

from datetime import timedelta

from tests.systems.chat.place import Api, Place
from tests.systems.talk import given, refused

from tablewright.systems.chat import design as d
from tablewright.systems.chat import jobs


def test_a_child_begins_a_chat_once_and_finds_it_in_its_list(at: Place, api: Api) -> None:
    at.chat.animals.install()
    child, headers = at.child(), {"Idempotency-Key": "one-chat-1"}
    made = given(api.post("/conversations", {"animalId": "red_panda"}, by=child, headers=headers), 201)
    again = given(api.post("/conversations", {"animalId": "red_panda"}, by=child, headers=headers), 201)
    assert again["conversationId"] == made["conversationId"]
    assert (made["status"], made["messageCount"]) == ("active", 0)
    (listed,) = given(api.get("/conversations", by=child))["items"]
    assert listed["conversationId"] == made["conversationId"]


def test_a_child_without_consent_begins_no_chat(at: Place, api: Api) -> None:
    child = at.child(scopes=[])
    assert refused(api.post("/conversations", {"animalId": "red_panda"}, by=child)) == (403, "NO_CONSENT")


def test_an_animal_that_does_not_exist_cannot_be_talked_to(at: Place, api: Api) -> None:
    answer = api.post("/conversations", {"animalId": "unicorn"}, by=at.child())
    assert refused(answer) == (404, "ANIMAL_NOT_FOUND")


def test_without_a_login_nothing_is_found(api: Api) -> None:
    assert refused(api.get("/conversations"))[0] == 401


def test_messages_come_by_page_for_their_reader(at: Place, api: Api) -> None:
    child, stranger = at.child(), at.child("u_8")
    chat = at.talk(child)
    at.say(chat, "one", "two")
    path = f"/conversations/{chat.conversation_id}/messages"
    first = given(api.get(f"{path}?pageSize=3", by=child))
    assert [m["text"] for m in first["items"]] == ["You said: two", "two", "You said: one"]
    second = given(api.get(f"{path}?pageSize=3&startAt={first['startAt']}", by=child))
    assert [m["text"] for m in second["items"]] == ["one"]
    assert refused(api.get(path, by=stranger)) == (404, "CONVERSATION_NOT_FOUND")
    assert refused(api.get(f"{path}?startAt=forged", by=child)) == (400, "BAD_TOKEN")
    assert refused(api.get(f"{path}?pageSize=0", by=child)) == (400, "INVALID_PAGE_SIZE")


def test_a_zookeeper_reads_a_chat_and_is_in_the_access_log(at: Place, api: Api) -> None:
    """ZC-28, ZC-29."""
    child, keeper = at.child(), at.person("kim", "zookeeper")
    chat = at.talk(child)
    headers = {"X-Access-Purpose": "flagged message"}
    given(api.get(f"/conversations/{chat.conversation_id}", by=keeper, headers=headers))
    (entry,) = at.db.all(d.access_of_user(user_id=child.user_id))
    assert (entry.accessed_by, entry.purpose) == ("kim", "flagged message")
    assert refused(api.delete(f"/conversations/{chat.conversation_id}", by=keeper)) == (403, "NOT_IN_FAMILY")


def test_states_are_changed_by_their_own_routes(at: Place, api: Api) -> None:
    child = at.child()
    chat = at.talk(child)
    at.say(chat, "one")
    path = f"/conversations/{chat.conversation_id}"
    assert given(api.post(f"{path}:archive", by=child))["status"] == "archived"
    assert given(api.post(f"{path}:reopen", by=child))["status"] == "active"
    completed = given(api.post(f"{path}:complete", {"what": "program"}, by=child))
    assert (completed["status"], completed["retentionClass"]) == ("archived", "completed_program")


def test_a_turn_can_be_taken_back_and_a_chat_forked_rated_and_deleted(at: Place, api: Api) -> None:
    """ZC-X18, ZC-X22."""
    child = at.child()
    chat = at.talk(child)
    (asked, reply, *_) = at.say(chat, "one", "two")
    path = f"/conversations/{chat.conversation_id}"
    taken = given(api.post(f"{path}/messages:take-back", by=child))["items"]
    assert [m["text"] for m in taken] == ["two", "You said: two"]
    fork = given(api.post(f"{path}:fork", {"messageId": asked.message_id}, by=child), 201)
    assert (fork["messageCount"], fork["forkedFrom"]) == (1, chat.conversation_id)
    rated = given(api.put(f"{path}/messages/{reply.message_id}/thumb", {"thumb": "down"}, by=child))
    assert rated["thumb"] == "down"
    own = api.put(f"{path}/messages/{asked.message_id}/thumb", {"thumb": "up"}, by=child)
    assert refused(own) == (409, "NOT_A_REPLY")
    given(api.delete(path, by=child), 204)
    assert refused(api.get(path, by=child)) == (404, "CONVERSATION_NOT_FOUND")


def test_a_thread_and_a_run_belong_to_their_chat(at: Place, api: Api) -> None:
    child = at.child()
    chat = at.talk(child)
    path = f"/conversations/{chat.conversation_id}"
    assert given(api.put(f"{path}/thread", {"threadId": "thread_1"}, by=child))["threadId"] == "thread_1"
    assert given(api.delete(f"{path}/runs/run-1", by=child)) == {"removed": 0}


def test_summaries_are_listed_with_their_topics(at: Place, api: Api) -> None:
    child = at.child()
    chat = at.talk(child)
    at.say(chat, *(f"The panda eats bamboo, {number} times." for number in range(10)))
    jobs.run_tasks(at.chat)
    (summary,) = given(api.get(f"/conversations/{chat.conversation_id}/summaries", by=child))["items"]
    assert (summary["batchId"], summary["messageRange"]["messageCount"]) == ("batch_001", 20)
    assert "panda" in summary["topics"]


class TestContext:
    """What is known of the caller."""

    def test_entries_are_merged_shown_and_removed(self, at: Place, api: Api) -> None:
        child = at.child()
        given(api.put("/me/context/interests", {"data": {"space": "rockets"}}, by=child))
        body = {"data": {"sea": ["whales", "crabs"]}, "confidence": "0.5"}
        found = given(api.put("/me/context/interests", body, by=child))
        assert {name: entry["value"] for name, entry in found["data"].items()} == {
            "space": "rockets",
            "sea": ["whales", "crabs"],
        }
        left = given(api.delete("/me/context/interests/space", by=child))
        assert list(left["data"]) == ["sea"]
        given(api.delete("/me/context/interests", by=child), 204)
        assert given(api.get("/me/context", by=child))["items"] == []
        assert refused(api.get("/me/context/interests", by=child)) == (404, "CONTEXT_NOT_FOUND")

    def test_nothing_is_remembered_before_a_parent_switches_it_on(self, at: Place, api: Api) -> None:
        child = at.child(scopes=["collect_and_use"])
        answer = api.put("/me/context/interests", {"data": {"space": "rockets"}}, by=child)
        assert refused(answer) == (403, "NO_CONSENT")

    def test_names_and_values_have_limits(self, at: Place, api: Api) -> None:
        child = at.child()
        for data in ({"Space!": 1}, {"space": "x" * 2000}):
            assert refused(api.put("/me/context/interests", {"data": data}, by=child)) == (400, "BAD_CONTEXT")
        assert refused(api.put("/me/context/secrets", {"data": {"a": 1}}, by=child))[0] == 422

    def test_memories_are_searched_by_meaning_and_forgotten_one_by_one(self, at: Place, api: Api) -> None:
        child = at.child()
        chat = at.talk(child)
        at.say(chat, "My favourite animal is the red panda.", "It rained at school today.")
        at.later(minutes=5)
        jobs.run_tasks(at.chat)
        jobs.run_tasks(at.chat)
        found = given(api.get("/me/memories?q=red panda", by=child))["items"]
        assert found[0]["text"] == "My favourite animal is the red panda."
        assert found[0]["messageIds"]
        favorites = given(api.get("/me/context/favorites", by=child))
        assert favorites["data"]["animal"]["value"] == "the red panda"
        given(api.delete(f"/me/memories/{found[0]['memoryId']}", by=child), 204)
        assert given(api.get("/me/memories?q=red panda", by=child))["items"] == []
        at.later(days=100)
        assert given(api.get("/me/memories?q=school", by=child))["items"] == []
        assert at.clock.now() - chat.created > timedelta(days=90)
