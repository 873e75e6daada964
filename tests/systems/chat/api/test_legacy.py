"""The first version and its migration over HTTP: `/v1-compat/sessions`, `/v1/admin/...`."""

from __future__ import annotations

import pytest
from tests.systems.chat.place import Api, Place
from tests.systems.talk import given, refused

from tablewright.mapping.migrate import is_up_to_date
from tablewright.systems.chat.family_model import User


class CompatApi(Api):
    prefix = "/chat/v1-compat"


@pytest.fixture
def old(api: Api) -> CompatApi:
    return CompatApi(api.client, api._issuer)


@pytest.fixture
def admin(at: Place) -> User:
    return at.child("ada", role="administrator", birth_date=None)


@pytest.fixture
def child(at: Place) -> User:
    return at.child("u_9", family_id="family_1")


def stored(old: CompatApi, session: str, by: User, text: str = "Hello") -> str:
    body = {"userMessage": text, "assistantReply": f"re {text}", "metadata": {"tokens": 4}}
    return str(given(old.post(f"/sessions/{session}/turns", body, by=by), 201)["messageId"])


def test_a_session_is_made_and_read_by_its_own_user_alone(
    at: Place, old: CompatApi, child: User, admin: User
) -> None:
    made = given(old.post("/sessions", {"animalId": "red_panda", "animalName": "Rosie"}, by=child), 201)
    session = made["sessionId"]
    assert session.startswith("conv_red_panda_u_9_")
    message = stored(old, session, admin)
    history = given(old.get(f"/sessions/{session}/messages", by=child))["items"]
    assert [(one["role"], one["text"]) for one in history] == [("user", "Hello"), ("assistant", "re Hello")]
    assert history[0]["messageId"] == message
    assert history[1]["metadata"] == {"tokens": 4}
    at.later(seconds=1)
    given(old.put(f"/sessions/{session}/thread", {"threadId": "thread_1"}, by=admin), 204)
    looked = [(one.accessed_by, one.what) for one in at.db.all(at.chat.access_log.of("u_9"))]
    acts = ("a thread is noted", "a turn is stored")
    assert looked == [("ada", f"conversation:{session}, {act}") for act in acts]
    (listed,) = given(old.get("/sessions", by=child))["items"]
    assert (listed["messageCount"], listed["threadId"], listed["animalName"]) == (2, "thread_1", "Rosie")
    stranger = at.child("u_8")
    for path in (f"/sessions/{session}", f"/sessions/{session}/messages"):
        assert refused(old.get(path, by=stranger))[0] == 404


def test_zc_x16_a_child_cannot_store_the_reply_of_an_animal(old: CompatApi, child: User) -> None:
    session = given(old.post("/sessions", {"animalId": "red_panda"}, by=child), 201)["sessionId"]
    body = {"userMessage": "Hello", "assistantReply": "I am forged"}
    assert refused(old.post(f"/sessions/{session}/turns", body, by=child))[0] == 403


@pytest.mark.parametrize("session", ["conv_lion_panda_01_u_9_00000000", "unknown", "conv_unknown"])
def test_zc_d15_an_unknown_session_is_not_found_and_nothing_is_stored(
    at: Place, old: CompatApi, admin: User, session: str
) -> None:
    body = {"userMessage": "Hello", "assistantReply": "Hi"}
    assert refused(old.post(f"/sessions/{session}/turns", body, by=admin))[0] == 404
    for table in ("conversation", "conversation-v2"):
        assert at.call("Scan", {"TableName": at.db.physical(table)})["Items"] == []


def test_zc_x12_an_administrator_migrates_holds_verifies_cuts_over_and_rolls_back(
    at: Place, api: Api, old: CompatApi, child: User, admin: User
) -> None:
    session = given(old.post("/sessions", {"animalId": "red_panda"}, by=child), 201)["sessionId"]
    stored(old, session, admin)

    def step(name: str) -> dict[str, object]:
        taken = given(api.post(f"/admin/migration/{name}", {}, by=admin))
        assert isinstance(taken, dict)
        return taken

    assert refused(api.post("/admin/migration/start", {}, by=admin))[0] == 409
    assert step("prepare")["backups"]
    assert step("start")["phase"] == "copying"
    assert step("pause")["isOnHold"] is True
    assert step("resume")["isOnHold"] is False
    operator = at.chat.legacy.operator
    while not operator.advance("me").is_idle or not is_up_to_date(operator.context, operator.context.state()):
        pass
    assert refused(api.post("/admin/migration/cut-over", {}, by=admin))[0] == 409
    verified = step("verify")
    assert (verified["phase"], verified["mismatches"]) == ("verified", 0)
    assert verified["hasTtl"] is False
    after = step("cut-over")
    assert (after["phase"], after["side"], after["hasTtl"]) == ("switched", "second", True)
    stored(old, session, admin, "in the second")
    texts = [one["text"] for one in given(old.get(f"/sessions/{session}/messages", by=child))["items"]]
    assert texts == ["Hello", "re Hello", "in the second", "re in the second"]
    assert refused(api.post("/admin/migration/finish", {}, by=admin))[0] == 409
    back = step("roll-back")
    assert (back["side"], back["hasTtl"]) == ("first", False)  # ZC-D22
    again = [one["text"] for one in given(old.get(f"/sessions/{session}/messages", by=child))["items"]]
    assert again == texts
    actions = [one["action"] for one in given(api.get("/admin/migration/history", by=admin))["items"]]
    assert actions[0] == "rolled back to the first version"


def test_quality_retention_and_costs_are_for_administrators(
    api: Api, child: User, admin: User, at: Place
) -> None:
    at.talk(at.child("u_7"), "red_panda")
    report = given(api.get("/admin/quality", by=admin))
    assert [(one["type"], one["severity"]) for one in report["findings"]] == [("withoutFamily", "low")]
    assert given(api.post("/admin/quality/repair", {}, by=admin))["conversations"] == 1
    assert given(api.get("/admin/retention", by=admin))["isKept"] is True
    assert len(given(api.get("/admin/costs", by=admin))["items"]) >= 12
    for path in ("/admin/quality", "/admin/retention", "/admin/costs", "/admin/migration"):
        assert refused(api.get(path, by=child))[0] == 403
