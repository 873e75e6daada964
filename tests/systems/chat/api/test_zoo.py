"""The routes of animals, guardrails, review and figures: for whom they are, and what they return."""

from __future__ import annotations

from typing import Any

import pytest
from tests.systems.chat.place import Api, Place
from tests.systems.talk import given, refused

from tablewright.systems.chat import design as d
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.zoo_model import FlagKind


@pytest.fixture
def keeper(at: Place) -> User:
    at.chat.animals.install()
    return at.person("kim", "zookeeper")


@pytest.fixture
def administrator(at: Place) -> User:
    return at.person("ada", "administrator")


STAFF_ROUTES = [
    (
        "POST",
        "/animals",
        {"animalId": "otter", "name": "O", "species": "o", "personality": "p", "greeting": "g"},
    ),
    ("PATCH", "/animals/lion", {"isEnabled": False}),
    ("GET", "/animals/lion/versions", None),
    ("POST", "/animals/lion/versions", {"personality": "x"}),
    ("POST", "/animals/lion/versions/1:use", None),
    ("POST", "/animals/lion:preview", {"question": "Hi"}),
    ("GET", "/animals/lion/facts", None),
    ("POST", "/animals/lion/facts", {"topic": "t", "text": "x"}),
    ("GET", "/review", None),
    ("GET", "/review/flag_1", None),
    ("GET", "/guardrails", None),
    ("POST", "/guardrails:check", {"text": "hi"}),
    ("GET", "/popularity", None),
    ("GET", "/admin/usage", None),
    ("GET", "/admin/safety", None),
]


@pytest.mark.parametrize(("method", "path", "body"), STAFF_ROUTES)
def test_a_child_uses_no_route_of_staff(at: Place, api: Api, method: str, path: str, body: Any) -> None:
    status, code = refused(api.ask(method, path, body, by=at.child()))
    assert (status, code) in ((403, "ZOOKEEPER_ONLY"), (403, "ADMIN_ONLY"))


def test_a_child_sees_the_enabled_animals(at: Place, api: Api, keeper: User) -> None:
    given(api.patch("/animals/lion", {"isEnabled": False}, by=keeper))
    child = at.child()
    names = [each["animalId"] for each in given(api.get("/animals", by=child))["items"]]
    assert sorted(names) == ["elephant", "penguin", "red_panda"]
    found = given(api.get("/animals/red_panda", by=child))
    assert found["details"]["scientificName"] == "Ailurus fulgens"
    assert found["factCount"] >= 15
    assert refused(api.get("/animals/unicorn", by=child)) == (404, "ANIMAL_NOT_FOUND")


def test_a_zookeeper_publishes_a_version_and_goes_back(api: Api, keeper: User) -> None:
    """ZC-X5."""
    made = given(
        api.post("/animals/lion/versions", {"personality": "Sleepy.", "note": "try"}, by=keeper), 201
    )
    assert (made["configVersion"], made["isInUse"], made["strategy"]) == (2, True, "hybrid")
    given(api.post("/animals/lion/versions/1:use", by=keeper))
    versions = given(api.get("/animals/lion/versions", by=keeper))["items"]
    assert [(each["configVersion"], each["isInUse"]) for each in versions] == [(2, False), (1, True)]
    bad = api.post("/animals/lion/versions", {"strategy": "telepathy"}, by=keeper)
    assert bad.status_code in (400, 422)


def test_a_preview_answers_and_stores_nothing(api: Api, keeper: User) -> None:
    body = {"question": "What do you eat?", "draft": {"greeting": "Moo."}}
    found = given(api.post("/animals/lion:preview", body, by=keeper))
    assert found["greeting"] == "Moo."
    assert "meat" in found["reply"]
    assert given(api.get("/animals/lion", by=keeper))["configVersion"] == 1


def test_facts_are_added_changed_and_removed(api: Api, keeper: User) -> None:
    fact = {"topic": "naps", "text": "I nap on rocks.", "words": ["nap"]}
    made = given(api.post("/animals/lion/facts", fact, by=keeper), 201)
    path = f"/animals/lion/facts/{made['knowledgeId']}"
    changed = given(api.patch(path, {"isEnabled": False}, by=keeper, headers={"If-Match": '"1"'}))
    assert (changed["isEnabled"], changed["version"]) == (False, 2)
    stale = api.patch(path, {"text": "x"}, by=keeper, headers={"If-Match": '"1"'})
    assert refused(stale) == (409, "VERSION_CONFLICT")
    assert api.delete(path, by=keeper).status_code == 204
    assert refused(api.delete(path, by=keeper)) == (404, "FACT_NOT_FOUND")


def test_an_administrator_writes_guardrails_and_a_zookeeper_tries_them(
    api: Api, keeper: User, administrator: User
) -> None:
    rule = {
        "guardrailId": "snakes",
        "title": "Snakes",
        "action": "block",
        "phrases": ["snake*"],
        "reply": "No snakes.",
    }
    assert refused(api.post("/guardrails", rule, by=keeper)) == (403, "ADMIN_ONLY")
    given(api.post("/guardrails", rule, by=administrator), 201)
    found = given(api.post("/guardrails:check", {"text": "Look, 5nakes"}, by=keeper))
    assert (found["outcome"], found["guardrails"]) == ("block", ["snakes"])
    bad = api.patch("/guardrails/snakes", {"phrases": ["*"]}, by=administrator)
    assert refused(bad) == (400, "BAD_PHRASE")
    ids = [each["guardrailId"] for each in given(api.get("/guardrails", by=keeper))["items"]]
    assert ids[:2] == ["self-harm", "abuse"]
    assert api.delete("/guardrails/snakes", by=administrator).status_code == 204
    assert refused(api.delete("/guardrails/self-harm", by=administrator)) == (404, "GUARDRAIL_NOT_FOUND")


def test_a_zookeeper_reads_a_flag_and_resolves_it(at: Place, api: Api, keeper: User) -> None:
    """ZC-X15."""
    child = at.child()
    talk = at.talk(child)
    message = at.say(talk, "Something odd")[1]
    path = f"/conversations/{talk.conversation_id}/messages/{message.message_id}:flag"
    flag = given(api.post(path, by=child), 201)["flagId"]
    (queued,) = given(api.get("/review?severity=low", by=keeper))["items"]
    assert queued["flagId"] == flag
    assert "userId" not in queued
    found = given(api.get(f"/review/{flag}", by=keeper))
    assert found["message"]["text"] == "You said: Something odd"
    assert [each["text"] for each in found["before"]] == ["Something odd"]
    given(api.post(f"/review/{flag}:resolve", {"resolution": "Fine."}, by=keeper))
    assert given(api.get("/review?severity=low", by=keeper))["items"] == []
    again = api.post(f"/review/{flag}:resolve", {"resolution": "Fine."}, by=keeper)
    assert refused(again) == (409, "ALREADY_RESOLVED")
    assert refused(api.get("/review/flag_nothing", by=keeper)) == (404, "FLAG_NOT_FOUND")


def test_the_queue_has_flags_of_every_severity_unless_one_is_named(at: Place, api: Api, keeper: User) -> None:
    talk = at.talk(at.child())
    kinds: tuple[FlagKind, ...] = ("reported", "output", "guardrail", "crisis", "reported", "output")
    for number, kind in enumerate(kinds):
        message = at.say(talk, f"Something odd {number}")[1]
        at.db.write(at.chat.review.flag(talk, message, kind))
        at.later(seconds=1)
    every = given(api.get("/review", by=keeper))["items"]
    assert len(every) == len(kinds)
    assert [each["severity"] for each in every] == sorted(
        (each["severity"] for each in every), key=("high", "medium", "low").index
    )
    assert len({each["severity"] for each in every}) == 3
    for size in (1, 2, 4, 6):
        paged, token = [], ""
        while True:
            page = given(api.get(f"/review?pageSize={size}{token}", by=keeper))
            paged += page["items"]
            assert len(page["items"]) <= size
            if not page["moreAvailable"]:
                break
            token = f"&startAt={page['startAt']}"
        assert paged == every
    assert api.get("/review?pageSize=0", by=keeper).status_code == 400
    for bad in ("high.x", "x", "other."):
        assert api.get(f"/review?startAt={bad}", by=keeper).status_code == 400


def test_a_shipped_guardrail_can_be_saved_as_it_is(at: Place, api: Api, administrator: User) -> None:
    at.chat.guardrails.install()
    for each in at.chat.guardrails.all():
        given(api.patch(f"/guardrails/{each.guardrail_id}", {"phrases": each.phrases}, by=administrator))


def test_figures_are_for_staff(at: Place, api: Api, keeper: User, administrator: User) -> None:
    """ZC-19, ZC-62."""
    db = at.chat.repository.db
    db.write(at.chat.usage.reply("lion", "m", paid=True, tokens_in=1000, tokens_out=0, milliseconds=5))
    db.write(*at.chat.safety_counts.write({"referrals": 2}))
    found = given(api.get("/admin/usage", by=administrator))
    assert [(each["animalId"], each["tokensIn"]) for each in found["days"]] == [("lion", 1000)]
    assert float(found["spentToday"]) == 0.03
    assert given(api.get("/admin/safety", by=administrator))["total"] == {"referrals": 2}
    assert len(given(api.get("/popularity", by=keeper))["items"]) == 4
    assert refused(api.get("/popularity?from=yesterday", by=keeper)) == (400, "INVALID_DATE")


def test_zc_d41_a_zookeeper_pages_through_the_chats_of_an_animal_without_names_and_is_logged(
    at: Place, api: Api, keeper: User
) -> None:
    """ZC-19, ZC-28."""
    children = [at.child(f"child_{number}") for number in range(3)]
    chats = []
    for child in children:
        chats.append(at.talk(child, "lion").conversation_id)
        at.talk(child, "penguin")
        at.later(seconds=1)
    first = given(api.get("/animals/lion/conversations?pageSize=2", by=keeper))
    rest = given(api.get(f"/animals/lion/conversations?pageSize=2&startAt={first['startAt']}", by=keeper))
    assert [one["conversationId"] for one in (*first["items"], *rest["items"])] == chats[::-1]
    assert "child_" not in str(first)
    for child in children:
        (entry,) = at.db.all(d.access_of_user(user_id=child.user_id))
        assert (entry.accessed_by, entry.what) == (keeper.user_id, "list of chats with lion")
    assert api.get("/animals/lion/conversations", by=children[0]).status_code == 403
    assert api.get("/animals/dodo/conversations", by=keeper).status_code == 404
