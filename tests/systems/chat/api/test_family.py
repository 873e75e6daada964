"""The routes of families, children, consent and the published policies."""

from __future__ import annotations

from typing import Any

import pytest
from tests.systems.chat.family.filled import SECRET_WORD, fill
from tests.systems.chat.family.home import (
    Household,
    again,
    code_in,
    consented,
    enters,
    household,
    mail_to,
    second_parent,
    token_in,
)
from tests.systems.chat.place import AUDIENCE, SECRET, Api, Place
from tests.systems.talk import Stage, given, refused

from tablewright.systems.chat import design as d
from tablewright.systems.chat.chat import open_chat
from tablewright.systems.chat.family_model import User


@pytest.fixture
def home(at: Place) -> Household:
    return household(at)


def accesses(at: Place, user_id: str = "kim") -> list[tuple[str, str]]:
    found = at.db.all(d.access_of_user(user_id=user_id))
    return [(one.accessed_by, one.what) for one in found][::-1]


# --- families ---


def test_a_parent_makes_a_family_adds_a_child_and_invites_a_second_parent(at: Place, api: Api) -> None:
    ann, bob = enters(at, "ann"), enters(at, "bob")
    family = given(api.post("/families", {"name": "Us", "timeZone": "Europe/Berlin"}, by=ann), 201)
    path = f"/families/{family['familyId']}"
    child = given(api.post(f"{path}/children", {"name": "Kim", "birthDate": "2019-06-01"}, by=ann), 201)
    assert (child["mayChat"], child["scopes"], child["timeZone"]) == (False, [], "Europe/Berlin")
    assert refused(api.get(path, by=bob)) == (404, "FAMILY_NOT_FOUND")
    given(api.post(f"{path}/invitations", {"email": "bob@example.org"}, by=ann), 201)
    token = token_in(mail_to(at, "bob@example.org"))
    assert token not in str(given(api.get(f"{path}/invitations", by=ann)))
    given(api.post(f"/invitations/{token}:accept", {}, by=bob))
    members = given(api.get(f"{path}/members", by=bob))["items"]
    assert sorted((one["name"], one["place"]) for one in members) == [
        ("Ann", "parent"), ("Bob", "parent"), ("Kim", "child"),
    ]  # fmt: skip
    assert [one["name"] for one in given(api.get("/children", by=bob))["items"]] == ["Kim"]
    given(api.delete(f"{path}/members/bob", by=ann), 204)
    assert refused(api.get(f"/children/{child['userId']}", by=bob)) == (404, "CHILD_NOT_FOUND")


def test_a_family_is_changed_at_the_version_that_was_read(at: Place, api: Api, home: Household) -> None:
    path = f"/families/{home.family.family_id}"
    given(api.patch(path, {"name": "We"}, by=home.parent, headers={"If-Match": '"2"'}))
    assert refused(api.patch(path, {"name": "They"}, by=home.parent, headers={"If-Match": '"2"'})) == (
        409,
        "VERSION_CONFLICT",
    )
    assert refused(api.patch(path, {"timeZone": "Mars/Base"}, by=home.parent)) == (422, "INVALID_TIME_ZONE")


def test_a_child_is_transferred_with_a_token_into_a_chosen_family(
    at: Place, api: Api, home: Household
) -> None:
    other = household(at, "eve", "lou")
    given(api.post("/children/kim:transfer", {"email": "eve@example.org"}, by=home.parent), 202)
    token = token_in(mail_to(at, "eve@example.org"))
    assert refused(api.post(f"/invitations/{token}:accept", {}, by=other.parent)) == (422, "FAMILY_NEEDED")
    body = {"familyId": home.family.family_id}
    assert refused(api.post(f"/invitations/{token}:accept", body, by=other.parent)) == (
        404,
        "FAMILY_NOT_FOUND",
    )
    given(api.post(f"/invitations/{token}:accept", {"familyId": other.family.family_id}, by=other.parent))
    assert refused(api.get("/children/kim", by=home.parent)) == (404, "CHILD_NOT_FOUND")
    given(api.get("/children/kim", by=other.parent))


def test_zc_s7_a_parent_lists_the_chats_of_the_own_children_and_each_view_is_logged(
    at: Place, api: Api, home: Household
) -> None:
    """ZC-15, ZC-29, ZC-X4."""
    other, bob = household(at, "eve", "lou"), second_parent(at, home)
    chat = at.talk(consented(at, home))
    at.say(chat, "hello")
    lou = at.talk(consented(at, other))
    at.talk(home.parent)  # an adult's own chat is in no list of the family
    path = f"/families/{home.family.family_id}/conversations"
    (found,) = given(api.get(path, by=home.parent))["items"]
    assert (found["conversationId"], found["messageCount"]) == (chat.conversation_id, 2)
    (theirs,) = given(api.get(f"/families/{other.family.family_id}/conversations", by=other.parent))["items"]
    assert theirs["conversationId"] == lou.conversation_id
    assert refused(api.get(path, by=other.parent)) == (404, "FAMILY_NOT_FOUND")
    at.later(seconds=1)
    given(api.get(f"/conversations/{chat.conversation_id}/messages", by=bob))
    assert accesses(at) == [("ann", "list of chats"), ("bob", f"conversation:{chat.conversation_id}")]
    given(api.delete(f"/families/{home.family.family_id}/members/bob", by=home.parent), 204)
    assert at.again(chat).family_id == home.family.family_id  # the copy on the item is not asked
    assert refused(api.get(path, by=bob)) == (404, "FAMILY_NOT_FOUND")
    assert refused(api.get(f"/conversations/{chat.conversation_id}/messages", by=bob))[0] == 404
    assert accesses(at)[2:] == []
    shown = given(api.get("/children/kim/access-log", by=home.parent))["items"]
    assert [(one["accessedBy"], one["purpose"]) for one in shown] == [
        ("bob", "parent view"),
        ("ann", "parent view"),
    ]


def test_zc_s7_parents_of_family_12_get_nothing_of_family_123(at: Place, api: Api, home: Household) -> None:
    chat = at.talk(consented(at, home))
    stored = at.again(chat)
    for_123 = stored.model_copy(update={"family_id": "family_123"})
    at.db.write(d.conversations.change(stored, for_123))
    other = household(at, "eve", "lou")
    for path in (f"/families/{home.family.family_id}/conversations", "/families/family_123/conversations"):
        assert refused(api.get(path, by=other.parent)) == (404, "FAMILY_NOT_FOUND")
    assert given(api.get(f"/families/{other.family.family_id}/conversations", by=other.parent))["items"] == []


# --- children ---


def test_zc_x7_a_parent_reads_what_is_remembered_and_has_it_forgotten(
    at: Place, api: Api, home: Household
) -> None:
    fill(at, consented(at, home, "collect_and_use", "profiling"))
    (known,) = given(api.get("/children/kim/context", by=home.parent))["items"]
    assert known["data"]["animal"]["value"] == SECRET_WORD
    (memory,) = given(api.get("/children/kim/memories", by=home.parent))["items"]
    assert memory["text"] == f"likes a {SECRET_WORD}"
    path = f"/children/kim/memories/{memory['memoryId']}"
    assert refused(api.delete(path, by=enters(at, "eve"))) == (404, "CHILD_NOT_FOUND")
    given(api.delete(path, by=home.parent), 204)
    assert refused(api.delete(path, by=home.parent)) == (404, "MEMORY_NOT_FOUND")
    given(api.delete("/children/kim/context/interests/animal", by=home.parent))
    assert at.chat.recall.all_of("kim") == []
    assert [entry for one in at.chat.contexts.of("kim") for entry in one.entries] == []
    assert accesses(at) == [("ann", "what is remembered")] * 2


def test_what_a_parent_reads_of_a_child_is_logged(at: Place, api: Api, home: Household) -> None:
    for path in ("/children", "/children/kim", "/children/kim/time", "/children/kim/consent"):
        given(api.get(path, by=home.parent))
        at.later(seconds=1)
    assert accesses(at) == [
        ("ann", "profile"),
        ("ann", "profile"),
        ("ann", "minutes by day"),
        ("ann", "consent"),
    ]


def test_limits_are_set_and_read_by_a_parent(at: Place, api: Api, home: Household) -> None:
    body = {"dailyMinutes": 30, "messagesPerMinute": 5, "quietFrom": "20:00", "quietUntil": "07:00"}
    shown = given(api.put("/children/kim/limits", body, by=home.parent))
    assert shown["limits"] == body
    short = api.put("/children/kim/limits", {"dailyMinutes": 1}, by=home.parent)
    assert refused(short) == (422, "INVALID_LIMIT")
    assert "or null for no limit" in short.text
    unlimited = given(api.put("/children/kim/limits", {"dailyMinutes": None}, by=home.parent))
    assert "dailyMinutes" not in unlimited["limits"]
    given(api.put("/children/kim/limits", body, by=home.parent))
    at.later(hours=5)
    at.chat.limits.spend(again(at, home.child))
    (day,) = given(api.get("/children/kim/time", by=home.parent))["items"]
    assert (day["seconds"], day["messages"]) == (60, 1)


def test_a_child_sees_that_a_parent_can_read_along(at: Place, api: Api, home: Household) -> None:
    assert given(api.get("/me", by=home.child))["parentsCanRead"] is True
    assert given(api.get("/me", by=home.parent))["parentsCanRead"] is False


def test_an_export_is_json_or_a_page_that_shows_texts_as_texts(at: Place, api: Api, home: Household) -> None:
    """ZC-X4, ZC-X10."""
    chat = at.talk(consented(at, home))
    at.say(chat, "<script>alert(1)</script>")
    found: dict[str, Any] = given(api.get("/children/kim/export", by=home.parent))
    assert found["messages"][0]["text"] == "<script>alert(1)</script>"
    page = api.get("/children/kim/export?format=html", by=home.parent)
    assert page.headers["content-type"].startswith("text/html")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    assert "<script>" not in page.text
    assert "Kim</b> <small>2030-02-04 10:00 UTC" in page.text
    assert [word for word in ("conv_", "family_", "Generation") if word in page.text] == []
    assert accesses(at) == [("ann", "everything")] * 2


def test_an_opt_out_returns_the_certificate_and_the_child_is_gone(
    at: Place, api: Api, home: Household
) -> None:
    at.say(at.talk(consented(at, home)), "hello")
    certificate = given(api.post("/children/kim/erase", {}, by=home.parent))
    assert certificate["erased"]["message"] == 2
    assert refused(api.get("/me", by=home.child)) == (410, "ERASED")
    assert refused(api.get("/children/kim", by=home.parent)) == (404, "CHILD_NOT_FOUND")
    assert given(api.get("/children/kim/certificate", by=home.parent))["erased"] == certificate["erased"]
    assert refused(api.get("/children/kim/certificate", by=enters(at, "eve"))) == (
        404,
        "CERTIFICATE_NOT_FOUND",
    )


def test_an_administrator_who_opens_a_child_is_logged_and_cannot_consent_or_give_it_away(
    at: Place, api: Api, home: Household
) -> None:
    root = enters(at, "root", "administrator")
    given(api.get("/children/kim", by=root, headers={"X-Access-Purpose": "support case 4"}))
    body = {"scopes": ["collect_and_use"], "method": "email_plus", "noticeVersion": at.chat.notices.version}
    assert refused(api.post("/children/kim/consent:request", body, by=root)) == (403, "NOT_IN_FAMILY")
    offer = {"email": "eve@example.org"}
    assert refused(api.post("/children/kim:transfer", offer, by=root)) == (403, "NOT_IN_FAMILY")
    chat = at.talk(consented(at, home))
    path = f"/conversations/{chat.conversation_id}"
    assert refused(api.delete(path, by=root)) == (403, "NOT_IN_FAMILY"), "as on the page"
    given(api.delete(path, by=home.parent), 204)
    (first, *_) = at.db.all(d.accesses_by_actor(accessed_by="root"))
    assert first.role == "administrator"
    assert ("root", "profile") in accesses(at)


def test_a_zookeeper_sees_the_end_of_an_id_and_no_child(at: Place, api: Api, home: Household) -> None:
    chat, zoe = at.talk(consented(at, home)), enters(at, "zoe", "zookeeper")
    assert given(api.get(f"/conversations/{chat.conversation_id}", by=zoe))["userId"] == "•••kim"
    assert refused(api.get("/children/kim", by=zoe)) == (404, "CHILD_NOT_FOUND")


def test_a_zookeeper_is_shown_whom_to_contact_in_a_crisis_alone_and_is_logged(
    at: Place, api: Api, home: Household
) -> None:
    talk, zoe = at.talk(consented(at, home)), enters(at, "zoe", "zookeeper")
    asked, reply = at.say(talk, "words in need")
    flags = [at.chat.review.flag(talk, asked, "crisis"), at.chat.review.flag(talk, reply, "output")]
    at.db.write(*flags)
    crisis, other = (f"/review/{flag.item.flag_id}:contact" for flag in flags if flag.item)
    shown = given(api.post(crisis, by=zoe))
    assert shown == {"child": {"name": "Kim"}, "parents": [{"name": "Ann", "email": "ann@example.org"}]}
    assert accesses(at) == [("zoe", "names and addresses of the child and its parents")]
    assert refused(api.post(other, by=zoe)) == (403, "CRISIS_ONLY")
    assert refused(api.post(crisis, by=home.parent)) == (403, "ZOOKEEPER_ONLY")
    assert len(accesses(at)) == 1


def test_a_child_signs_in_with_a_code_of_its_parent_once(at: Place, home: Household, stage: Stage) -> None:
    issued: list[str] = []

    def issue(child: User) -> str:
        issued.append(child.user_id)
        return "a login"

    chat = open_chat(at.db, at.world, SECRET, home=at.home, objects=at.chat.objects, issue_login=issue)
    with stage.showing(chat, at.clock, at.issuer, AUDIENCE) as client:
        api = Api(client, at.issuer)
        code = given(api.post("/children/kim/login-code", by=home.parent), 201)["code"]
        assert len(code) == 12
        assert code not in str(list(at.call("Scan", {"TableName": at.db.physical("user-details")})["Items"]))
        assert refused(api.post("/child-logins", {"code": "123456789012"})) == (422, "CODE_INVALID")
        spaced = f"{code[:4]} {code[4:8]} {code[8:]}"
        assert given(api.post("/child-logins", {"code": spaced}), 201)["token"] == "a login"
        assert refused(api.post("/child-logins", {"code": code})) == (422, "CODE_INVALID")
        late = given(api.post("/children/kim/login-code", by=home.parent), 201)["code"]
        at.later(minutes=16)
        assert refused(api.post("/child-logins", {"code": late})) == (422, "CODE_INVALID")
        root = enters(at, "root", "administrator")
        assert refused(api.post("/children/kim/login-code", by=root)) == (403, "NOT_IN_FAMILY")
    assert issued == ["kim"]


# --- consent ---


def test_a_parent_consents_with_a_code_and_withdraws(at: Place, api: Api, home: Household) -> None:
    shown = given(api.get("/children/kim/consent", by=home.parent))
    body = {"scopes": ["collect_and_use"], "method": "email_plus", "noticeVersion": shown["noticeVersion"]}
    given(api.post("/children/kim/consent:request", body, by=home.parent), 202)
    code = code_in(mail_to(at, "ann@example.org"))
    given(api.post("/children/kim/consent", {"code": code}, by=home.parent), 201)
    assert given(api.get("/children/kim", by=home.parent))["mayChat"] is True
    left = given(api.delete("/children/kim/consent", by=home.parent))
    assert (left["scopes"], [one["action"] for one in left["history"]]) == ([], ["withdrawn", "granted"])
    assert refused(api.post("/conversations", {"animalId": "panda_01"}, by=home.child)) == (403, "NO_CONSENT")


def test_only_the_scopes_of_the_body_are_withdrawn_and_nothing_by_mistake(
    at: Place, api: Api, home: Household
) -> None:
    consented(at, home, "collect_and_use", "profiling", "disclosure")
    path = "/children/kim/consent"
    bodies: list[Any] = [
        {},
        {"scope": ["profiling"]},
        {"scopes": []},
        {"scopes": ["all"]},
        [],
        "profiling",
        0,
    ]
    for body in bodies:
        assert api.ask("DELETE", path, body, by=home.parent).status_code == 422
    assert api.delete(path, by=home.parent, content=b"scopes=profiling").status_code == 422
    both = api.ask("DELETE", f"{path}?scopes=disclosure", {"scopes": ["profiling"]}, by=home.parent)
    assert refused(both) == (400, "SCOPES_TWICE")
    assert api.delete(f"{path}?scope=profiling", by=home.parent).status_code == 422
    assert len(given(api.get(path, by=home.parent))["scopes"]) == 3
    left = given(api.ask("DELETE", path, {"scopes": ["profiling"]}, by=home.parent))
    assert left["scopes"] == ["collect_and_use", "disclosure"]
    left = given(api.delete(f"{path}?scopes=disclosure", by=home.parent))
    assert left["scopes"] == ["collect_and_use"]


def test_consent_without_the_version_of_the_notice_says_that_it_is_missing(api: Api, home: Household) -> None:
    body = {"scopes": ["collect_and_use"], "method": "id_and_face"}
    answer = api.post("/children/kim/consent", body, by=home.parent)
    assert refused(answer) == (400, "NOTICE_VERSION_MISSING")
    assert "noticeVersion is missing" in answer.text
    old = api.post("/children/kim/consent", {**body, "noticeVersion": "1"}, by=home.parent)
    assert refused(old) == (409, "NOTICE_CHANGED")


def test_disclosure_is_granted_after_an_identity_check(at: Place, api: Api, home: Household) -> None:
    root = enters(at, "root", "administrator")
    body = {"scopes": ["collect_and_use", "disclosure"], "method": "id_and_face",
            "noticeVersion": at.chat.notices.version}  # fmt: skip
    assert refused(api.post("/children/kim/consent", body, by=home.parent)) == (409, "NOT_VERIFIED")
    record = {"method": "id_and_face", "reference": "case 9"}
    assert refused(api.post("/admin/users/ann/verifications", record, by=home.parent))[0] == 403
    given(api.post("/admin/users/ann/verifications", record, by=root), 201)
    given(api.post("/children/kim/consent", body, by=home.parent), 201)
    assert given(api.get("/children/kim/consent", by=home.parent))["scopes"] == [
        "collect_and_use",
        "disclosure",
    ]


# --- policies ---


def test_the_policies_are_public(api: Api) -> None:
    retention = given(api.get("/policy/retention"))
    assert {one["name"]: one["days"] for one in retention["classes"]}["active_conversation"] == 30
    notice = given(api.get("/policy/notice"))
    assert notice["version"] == retention["version"]
    assert "userId" in notice["identifiers"]
    assert given(api.get("/policy/safety"))["referral"]


def test_an_adult_erases_the_own_account_and_a_child_asks_a_parent(
    at: Place, api: Api, home: Household
) -> None:
    assert refused(api.post("/me/erase", {}, by=home.child)) == (403, "NO_CONSENT")
    bob = second_parent(at, home)
    assert given(api.post("/me/erase", {}, by=bob))["subject"] == "adult"
    assert refused(api.get("/me", by=bob)) == (410, "ERASED")
