"""The API over real HTTP: signing in all the way, syncing, versions, limits, what is cached, what an admin sees."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.systems.talk import given, refused
from tests.systems.travel.images import png
from tests.systems.travel.people import ADMIN, MAIL, Api, Home, bearer

from tablewright.systems.travel.account.pictures import NAMED_WITHIN
from tablewright.systems.travel.account.privacy import SETTLES, UNDO
from tablewright.systems.travel.api import router as travel_api

HOME = Path(__file__).parents[4]
Json = dict[str, Any]
PNG = png(8, 8)


@pytest.fixture
def ada(api: Api, home: Home) -> Json:
    """Signed in with Apple on a phone."""
    return dict(api.sign_in(home, display_name="Ada", device="phone"))


def _edit(home: Home, code: str = "FR", kind: str = "create", **more: Any) -> Json:
    return {
        "operation_id": home.clock.world().new_id(),
        "operation_type": kind,
        "region_type": "country",
        "region_code": code,
        "client_timestamp": home.clock.now().isoformat(),
        **more,
    }


# --- signing in ---


def test_apple_all_the_way_and_the_token_opens_the_rest(api: Api, home: Home, ada: Json) -> None:
    assert ada["is_new"]
    me = given(api.get("/me", headers=bearer(ada)))
    assert (me["user_id"], me["display_name"]) == (ada["user"]["user_id"], "Ada")
    assert me["logins"] == [{"provider": "apple", "email": None}]
    again = api.sign_in(home, device="phone")
    assert (again["is_new"], again["user"]["user_id"]) == (False, me["user_id"])


def test_a_code_all_the_way(api: Api, home: Home) -> None:
    told = given(api.post("/auth/email:start", {"email": "A@Example.com"}), 202)
    assert "15 minutes" in told["message"]
    body = {"email": "a@example.com", "code": "abc", "device": {"device_id": "phone"}}
    assert refused(api.post("/auth/email:verify", body)) == (401, "CODE_INVALID")
    signed = given(api.post("/auth/email:verify", {**body, "code": home.code()}))
    assert given(api.get("/me", headers=bearer(signed)))["email"] == "a@example.com"


def test_a_known_device_gets_a_code_when_its_network_used_up_its_own(api: Api, home: Home) -> None:
    asked = given(api.post("/auth/email:start", {"email": MAIL}), 202)
    body = {"email": MAIL, "code": home.code(), "device": {"device_id": "phone"}, "ticket": asked["ticket"]}
    device = given(api.post("/auth/email:verify", body))["known_device"]
    for _ in range(4):
        given(api.post("/auth/email:start", {"email": MAIL}), 202)
    assert refused(api.post("/auth/email:start", {"email": MAIL})) == (429, "CODE_LIMIT")
    home.clock.move(timedelta(milliseconds=1))
    given(api.post("/auth/email:start", {"email": MAIL, "known_device": device}), 202)
    body = {"email": MAIL, "code": home.code(), "device": {"device_id": "phone"}}
    assert refused(api.post("/auth/email:verify", body)) == (401, "CODE_INVALID")
    given(api.post("/auth/email:verify", {**body, "known_device": device}))


def test_nobody_comes_in_without_a_login(api: Api, home: Home) -> None:
    for method, path in (("GET", "/me"), ("GET", "/visits"), ("GET", "/sync/pull"), ("GET", "/export")):
        assert refused(api.ask(method, path)) == (401, "LOGIN_REQUIRED")
    assert refused(api.get("/admin/operations", by="somebody")) == (403, "ADMIN_ONLY")
    assert refused(api.get("/me", by="nobody-we-know")) == (404, "USER_NOT_FOUND")
    body = {"id_token": "x.y.z", "nonce": home.travel.nonces.give(), "device": {"device_id": "d"}}
    assert refused(api.post("/auth/apple", body)) == (401, "TOKEN_INVALID")


def test_a_token_ends_with_its_session_and_a_refresh_gives_the_next(api: Api, home: Home, ada: Json) -> None:
    later = given(api.post("/auth/refresh", {"refresh_token": ada["refresh_token"]}))
    given(api.get("/me", headers=bearer(later)))
    given(api.post("/auth/sign-out", headers=bearer(later)), 204)
    assert refused(api.get("/me", headers=bearer(later))) == (401, "SESSION_ENDED")
    assert refused(api.post("/auth/refresh", {"refresh_token": later["refresh_token"]})) == (
        401,
        "SESSION_ENDED",
    )


def test_logins_are_added_and_given_up(api: Api, home: Home, ada: Json) -> None:
    given(api.post("/auth/email:start", {"email": MAIL}), 202)
    me = given(api.post("/me/logins/email", {"email": MAIL, "code": home.code()}, headers=bearer(ada)))
    assert me["email"] == MAIL
    given(api.delete("/me/logins/apple", headers=bearer(ada)))
    assert refused(api.delete("/me/logins/email", headers=bearer(ada))) == (409, "LAST_LOGIN")
    nonce = given(api.post("/auth/apple:start"))["nonce"]
    body = {"id_token": home.apple.id_token("009.new", nonce), "nonce": nonce}
    me = given(api.post("/me/logins/apple", body, headers=bearer(ada)))
    assert {login["provider"] for login in me["logins"]} == {"apple", "email"}


def test_signing_in_has_a_pace(api: Api) -> None:
    answers = [api.post("/auth/email:start", {"email": f"p{n}@example.com"}) for n in range(11)]
    assert [answer.status_code for answer in answers].count(202) == 10
    assert refused(answers[-1]) == (429, "RATE_LIMIT")
    assert int(answers[-1].headers["Retry-After"]) > 0


# --- devices ---


def test_a_device_that_is_signed_out_is_out_at_once(api: Api, home: Home, ada: Json) -> None:
    tablet = api.sign_in(home, device="tablet")
    devices = given(api.get("/me/devices", headers=bearer(ada)))
    assert {(it["device_id"], it["is_this"]) for it in devices} == {("phone", True), ("tablet", False)}
    gone = given(api.post("/me/devices:sign-out-others", headers=bearer(ada)))
    assert [it["device_id"] for it in gone] == ["tablet"]
    assert refused(api.get("/me", headers=bearer(tablet))) == (401, "SESSION_ENDED")
    given(api.delete("/me/devices/phone", headers=bearer(ada)), 204)
    assert refused(api.get("/me", headers=bearer(ada))) == (401, "SESSION_ENDED")


def test_a_login_of_one_device_does_not_speak_for_another(api: Api, home: Home, ada: Json) -> None:
    api.sign_in(home, device="tablet")
    headers = {**bearer(ada), "X-Device-Id": "tablet"}
    assert refused(api.get("/sync/pull", headers=headers)) == (403, "DEVICE_MISMATCH")


def test_a_login_without_a_device_names_one_it_registered(api: Api, ada: Json) -> None:
    me = ada["user"]["user_id"]
    assert refused(api.get("/sync/pull", by=me)) == (400, "DEVICE_REQUIRED")
    named = {"X-Device-Id": "browser-1"}
    assert refused(api.get("/sync/pull", by=me, headers=named)) == (403, "DEVICE_UNKNOWN")
    body = {"device_id": "browser-1", "name": "Firefox", "platform": "web"}
    assert given(api.post("/me/devices", body, by=me))["name"] == "Firefox"
    given(api.post("/me/devices", body, by=me))
    assert given(api.get("/sync/pull", by=me, headers=named))["server_version"] == 0


# --- sync ---


def test_two_devices_push_pull_and_settle(api: Api, home: Home, ada: Json) -> None:
    tablet = bearer(api.sign_in(home, device="tablet"))
    phone = bearer(ada)
    first = given(api.post("/sync/push", {"operations": [_edit(home)]}, headers=phone))
    assert (first["results"][0]["status"], first["server_version"]) == ("applied", 1)
    pulled = given(api.get("/sync/pull?since=0", headers=tablet))
    assert [change["data"]["region_code"] for change in pulled["changes"]] == ["FR"]
    for headers, date in ((phone, "2020"), (tablet, "2021")):
        edit = _edit(home, kind="update", client_version=1, entity_data={"visited_date": date})
        given(api.post("/sync/push", {"schema": 1, "operations": [edit]}, headers=headers))
    conflicts = given(api.get("/sync/conflicts", headers=phone))["items"]
    assert [conflict["status"] for conflict in conflicts] == ["conflict"]
    path = f"/sync/conflicts/{conflicts[0]['operation_id']}:resolve"
    settled = given(api.post(path, {"choice": "client_wins"}, headers=phone))
    assert settled["entities"][0]["data"]["visited_date"] == "2021"
    assert refused(api.post(path, {"choice": "client_wins"}, headers=phone)) == (409, "ALREADY_RESOLVED")
    done = given(api.get("/sync/operations?device_id=tablet", headers=phone))["items"]
    assert [operation["device_id"] for operation in done] == ["tablet"]


def test_the_conversation_in_the_docs_is_one(api: Api, home: Home) -> None:
    start, rest = re.findall(r"```bash\n(.*?)```", (HOME / "docs" / "sync.md").read_text(), re.DOTALL)
    address = f"SKRATCH={api.client.base_url.copy_with(path=api.prefix)}\n"
    start = re.sub("SKRATCH=.*\n", address, start)
    run = partial(subprocess.run, check=True, capture_output=True, text=True, timeout=30)
    run(["bash", "-ec", start])
    told = run(["bash", "-ec", address + rest.replace("CODE=123456", f"CODE={home.code()}")]).stdout
    answers, at = [], 0
    while at < len(told):
        answer, at = json.JSONDecoder().raw_decode(told, at)
        answers.append(answer)
    pushed, pulled, snapshot, conflicts = answers
    assert [result["status"] for result in pushed["results"]] == ["applied", "applied"]
    assert [change["data"]["notes"] for change in pulled["changes"]] == ["Paris"]
    assert "Paris" in [state["data"].get("notes") for state in snapshot["entities"]]
    assert conflicts["items"] == []


def test_the_same_push_again_is_answered_again(api: Api, home: Home, ada: Json) -> None:
    body = {"operations": [_edit(home)]}
    first = given(api.post("/sync/push", body, headers=bearer(ada)))
    again = given(api.post("/sync/push", body, headers=bearer(ada)))
    assert again["results"][0]["replayed"]
    assert again["server_version"] == first["server_version"]


def test_who_is_too_far_behind_takes_everything(api: Api, home: Home, ada: Json) -> None:
    for code in ("FR", "DE", "IT"):
        given(api.put(f"/visits/country/{code}", {}, headers=bearer(ada)))
    home.clock.move(timedelta(days=31))
    fresh = bearer(given(api.post("/auth/refresh", {"refresh_token": ada["refresh_token"]})))
    answer = api.get("/sync/pull?since=1", headers=fresh)
    assert refused(answer) == (410, "FULL_RESYNC_REQUIRED")
    assert answer.json()["full_resync_required"]
    page = given(api.get("/sync/snapshot?limit=2", headers=fresh))
    entities = page["entities"]
    while page["after"]:
        page = given(api.get(f"/sync/snapshot?limit=2&after={page['after']}", headers=fresh))
        entities += page["entities"]
    assert sorted(it["data"].get("region_code", "") for it in entities) == ["", "DE", "FR", "IT"]


def test_an_app_that_is_too_old_or_too_new_is_told(api: Api, home: Home, ada: Json) -> None:
    answer = api.post("/sync/push", {"schema": 0, "operations": []}, headers=bearer(ada))
    assert refused(answer) == (426, "CLIENT_TOO_OLD")
    assert refused(api.get("/sync/pull?schema=0", headers=bearer(ada))) == (426, "CLIENT_TOO_OLD")
    assert refused(api.get("/sync/pull?schema=9", headers=bearer(ada))) == (400, "UNKNOWN_SCHEMA")


def test_a_push_has_limits(api: Api, home: Home, ada: Json) -> None:
    many = [_edit(home) for _ in range(1001)]
    assert refused(api.post("/sync/push", {"operations": many}, headers=bearer(ada))) == (
        400,
        "BATCH_TOO_LARGE",
    )
    for _ in range(60):
        given(api.post("/sync/push", {"operations": []}, headers=bearer(ada)))
    answer = api.post("/sync/push", {"operations": []}, headers=bearer(ada))
    assert refused(answer) == (429, "PUSH_LIMIT")
    assert 0 < int(answer.headers["Retry-After"]) <= 60


# --- visits and figures ---


UNREADABLE: list[tuple[Json, str]] = [
    ({"operation_type": "frobnicate"}, "INVALID_OPERATION"),
    ({"client_timestamp": "yesterday"}, "INVALID_TIMESTAMP"),
    ({"client_version": "many"}, "INVALID_VERSION"),
    ({"entity_data": []}, "INVALID_FIELD"),
    ({"colour": "red"}, "INVALID_FIELD"),
    ({"region_type": "moon"}, "INVALID_FIELD"),
]


def test_an_operation_that_cannot_be_read_is_refused_alone_and_for_good(
    api: Api, home: Home, ada: Json
) -> None:
    bad = [_edit(home, "DE", **wrong) for wrong, _ in UNREADABLE]
    after = _edit(home, "DE", previous=bad[1]["operation_id"])
    body = {"operations": [*bad, _edit(home), after]}
    pushed = given(api.post("/sync/push", body, headers=bearer(ada)))["results"]
    assert [result["operation_id"] for result in pushed] == [
        edit["operation_id"] for edit in body["operations"]
    ]
    assert [result["error"] for result in pushed] == [*(code for _, code in UNREADABLE), None, None]
    assert [result["status"] for result in pushed] == ["failed"] * len(bad) + ["applied"] * 2
    again = given(api.post("/sync/push", body, headers=bearer(ada)))["results"]
    assert [(it["error"], it["replayed"]) for it in again] == [(it["error"], True) for it in pushed]


@pytest.mark.parametrize("id", ["", "a#b", "x" * 65, "B.0-45", 7, None])
def test_an_operation_without_an_id_is_answered_at_its_place(
    api: Api, home: Home, ada: Json, id: str | int | None
) -> None:
    body = {"operations": [_edit(home), _edit(home, "DE", operation_id=id), "nothing", _edit(home, "IT")]}
    pushed = given(api.post("/sync/push", body, headers=bearer(ada)))["results"]
    assert [(it["operation_id"] != "", it["error"]) for it in pushed] == [
        (True, None),
        (False, "INVALID_ID"),
        (False, "INVALID_OPERATION"),
        (True, None),
    ]


def test_a_place_is_marked_changed_and_taken_away_by_version(api: Api, ada: Json) -> None:
    headers = bearer(ada)
    made = api.put("/visits/us_state/US-NY", {"visited_date": "2024"}, headers=headers)
    assert given(made)["offers"] == [{"region_type": "country", "region_code": "US"}]
    assert made.headers["ETag"] == '"1"'
    changed = api.put("/visits/us_state/US-NY", {"notes": "MoMA"}, headers={**headers, "If-Match": '"1"'})
    assert given(changed)["visit"]["visited_date"] == "2024"
    late = api.put("/visits/us_state/US-NY", {"notes": "x"}, headers={**headers, "If-Match": '"1"'})
    assert refused(late) == (409, "VERSION_CONFLICT")
    assert late.json()["current"]["data"]["notes"] == "MoMA"
    assert refused(api.delete("/visits/us_state/US-NY", headers={**headers, "If-Match": "seven"})) == (
        400,
        "BAD_ETAG",
    )
    given(api.delete("/visits/us_state/US-NY", headers={**headers, "If-Match": '"2"'}))
    assert refused(api.get("/visits/us_state/US-NY", headers=headers)) == (404, "VISIT_NOT_FOUND")


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("country/XX", {}, "UNKNOWN_REGION"),
        ("country/FR", {"notes": "x" * 501}, "NOTES_TOO_LONG"),
        ("country/FR", {"visited_date": "2999"}, "FUTURE_DATE"),
        ("country/FR", {"visited_date": "soon"}, "INVALID_DATE"),
        ("country/YU", {}, "REGION_DIVIDED"),
    ],
)
def test_what_cannot_be_is_refused_with_a_code(api: Api, ada: Json, path: str, body: Json, code: str) -> None:
    assert refused(api.put(f"/visits/{path}", body, headers=bearer(ada))) == (400, code)


def test_lists_go_by_type_in_pages_and_by_what_was_last(api: Api, home: Home, ada: Json) -> None:
    headers = bearer(ada)
    for code in ("FR", "DE", "IT"):
        home.clock.move(timedelta(seconds=1))
        given(api.put(f"/visits/country/{code}", {}, headers=headers))
    given(api.put("/visits/canadian_province/CA-ON", {}, headers=headers))
    assert len(given(api.get("/visits", headers=headers))["items"]) == 4
    page = given(api.get("/visits?type=country&limit=2", headers=headers))
    rest = given(api.get(f"/visits?type=country&limit=2&after={page['after']}", headers=headers))
    assert [it["region_code"] for it in page["items"] + rest["items"]] == ["IT", "DE", "FR"]
    assert rest["after"] is None
    recent = given(api.get("/visits?recent=2", headers=headers))["items"]
    assert {it["region_code"] for it in recent} == {"CA-ON", "IT"}
    assert refused(api.get("/visits?type=country&limit=9999", headers=headers)) == (400, "INVALID_PAGE_SIZE")
    assert refused(api.get("/visits?type=country&after=x", headers=headers)) == (400, "BAD_TOKEN")


def test_figures_are_of_the_last_change_and_kept_until_the_next(api: Api, ada: Json) -> None:
    headers = bearer(ada)
    given(api.put("/visits/country/FR", {}, headers=headers))
    found = api.get("/stats", headers=headers)
    stats = given(found)
    assert (stats["countries_visited"], stats["of"]["country"], stats["continents_visited"]) == (
        1,
        195,
        ["EU"],
    )
    assert b'"countries_percentage":0.5,' in found.content
    assert b'"us_states_percentage":0.0,' in found.content
    assert api.get("/stats", headers=headers).content == found.content  # kept, it is the same
    same = api.get("/stats", headers={**headers, "If-None-Match": found.headers["ETag"]})
    assert same.status_code == 304
    given(api.put("/visits/country/DE", {}, headers=headers))
    newer = api.get("/stats", headers={**headers, "If-None-Match": found.headers["ETag"]})
    assert given(newer)["countries_visited"] == 2


# --- me ---


def test_what_is_open_are_operations_that_were_refused_or_are_in_conflict(api: Api, ada: Json) -> None:
    headers = bearer(ada)
    base = {"operation_type": "create", "region_type": "country", "client_timestamp": "2024-05-01T12:00:00Z"}
    sent = [
        {**base, "operation_id": "op-1", "region_code": "FR"},
        {**base, "operation_id": "op-2", "region_code": "XX"},
    ]
    given(api.post("/sync/push", {"operations": sent}, headers=headers))
    every = given(api.get("/sync/operations", headers=headers))["items"]
    assert {one["operation_id"] for one in every} == {"op-1", "op-2"}
    (left,) = given(api.get("/sync/operations?open=true", headers=headers))["items"]
    assert (left["operation_id"], left["status"]) == ("op-2", "failed")


def test_a_device_says_when_it_signed_in_last(api: Api, home: Home, ada: Json) -> None:
    home.clock.move(timedelta(hours=3))
    again = api.sign_in(home)
    (device,) = given(api.get("/me/devices", headers=bearer(again)))
    assert datetime.fromisoformat(device["last_login_at"]) == home.clock.now()
    assert device["registered_at"] < device["last_login_at"]


def test_settings_change_by_what_is_sent(api: Api, ada: Json) -> None:
    headers = bearer(ada)
    me = given(api.patch("/me", {"time_zone": "Asia/Tokyo"}, headers=headers))
    assert (me["time_zone"], me["display_name"]) == ("Asia/Tokyo", "Ada")
    assert refused(api.patch("/me", {"time_zone": "Mars"}, headers=headers)) == (400, "INVALID_TIME_ZONE")
    assert refused(api.patch("/me", {"colour": "red"}, headers=headers))[0] == 422
    assert given(api.patch("/me", {"is_minor": True}, headers=headers))["is_minor"]
    answer = api.patch("/me", {"privacy_settings": {"profile_public": True}}, headers=headers)
    assert refused(answer) == (400, "MINOR_STAYS_PRIVATE")
    actions = [entry["action"] for entry in given(api.get("/me/audit", headers=headers))["items"]]
    assert "is_minor" in actions
    assert "signed up" in actions


def test_settings_that_were_changed_since_they_were_read_are_not_overwritten(api: Api, ada: Json) -> None:
    headers = bearer(ada)
    seen = {**headers, "If-Match": api.get("/me", headers=headers).headers["ETag"]}
    newer = api.patch("/me", {"display_name": "Ada L."}, headers=seen)
    assert given(newer)["display_name"] == "Ada L."
    for late in ({"display_name": "Late"}, {"time_zone": "Asia/Tokyo"}, {"is_minor": True}):
        answer = api.patch("/me", late, headers=seen)
        assert refused(answer) == (409, "VERSION_CONFLICT")
        assert answer.json()["current"]["display_name"] == "Ada L."
    public = {"privacy_settings": {"profile_public": True}}
    tag = api.patch("/me", public, headers=headers).headers["ETag"]
    both = api.patch(
        "/me", {"is_minor": True, "time_zone": "Asia/Tokyo"}, headers={**headers, "If-Match": tag}
    )
    assert given(both)["time_zone"] == "Asia/Tokyo"
    assert given(api.get("/sync/conflicts", headers=headers))["items"] == []


@pytest.mark.parametrize(("match", "status"), [({"If-Match": '"1"'}, 409), ({}, 200)])
def test_who_is_overtaken_between_reading_and_writing_is_told_or_tries_again(
    api: Api, home: Home, ada: Json, monkeypatch: pytest.MonkeyPatch, match: Json, status: int
) -> None:
    headers, me, visits = bearer(ada), ada["user"]["user_id"], home.travel.visits
    given(api.put("/visits/country/FR", {"visited_date": "2020"}, headers=headers))
    do = visits._do

    def slow(*asked: Any) -> Any:
        monkeypatch.setattr(visits, "_do", do)
        visits.mark(me, "country", "FR", {"visited_date": "2021"})
        return do(*asked)

    monkeypatch.setattr(visits, "_do", slow)
    answer = api.put("/visits/country/FR", {"visited_date": "2022"}, headers={**headers, **match})
    assert answer.status_code == status
    there = given(api.get("/visits/country/FR", headers=headers))
    assert there["visited_date"] == ("2021" if status == 409 else "2022")
    assert given(api.get("/sync/conflicts", headers=headers))["items"] == []


def test_an_account_is_erased_a_week_later_unless_it_is_kept(api: Api, home: Home, ada: Json) -> None:
    headers = bearer(ada)
    asked = given(api.delete("/me", headers=headers), 202)
    assert "35 days" in asked["backups"]
    assert given(api.get("/me", headers=headers))["erases_at"] == asked["erases_at"]
    assert given(api.post("/me:keep", headers=headers))["erases_at"] is None
    given(api.delete("/me", headers=headers), 202)
    home.clock.move(UNDO)
    home.travel.privacy.erase_due()
    me = ada["user"]["user_id"]
    assert refused(api.get("/me", by=me)) == (404, "USER_NOT_FOUND")
    assert refused(api.post("/auth/refresh", {"refresh_token": ada["refresh_token"]})) == (
        401,
        "SESSION_ENDED",
    )
    home.clock.move(SETTLES)
    home.travel.privacy.erase_due()
    assert home.mentions(me) == []


@pytest.mark.parametrize("second", [PNG + b"another", PNG])
def test_of_two_pictures_at_once_the_one_that_is_named_is_there(
    home: Home, ada: Json, monkeypatch: pytest.MonkeyPatch, second: bytes
) -> None:
    me, pictures, repository = ada["user"]["user_id"], home.travel.pictures, home.travel.repository
    pictures.put(me, PNG)
    retried = repository.retried

    def slow(*asked: Any) -> Any:
        monkeypatch.setattr(repository, "retried", retried)
        named = retried(*asked)
        pictures.put(me, second)  # the other comes between naming and removing
        return named

    monkeypatch.setattr(repository, "retried", slow)
    pictures.put(me, PNG + b"one")
    kept = repository.profile(me).profile_picture_url
    assert kept is not None
    assert home.objects.get(kept) == second
    home.clock.move(NAMED_WITHIN * 2)
    pictures.remove(me)
    assert not list(home.objects.names("pictures/"))


def test_a_picture_is_an_image_of_ours(api: Api, home: Home, ada: Json) -> None:
    headers = bearer(ada)
    kind = {**headers, "Content-Type": "image/png"}
    given(api.ask("PUT", "/me/picture", content=PNG, headers=kind))
    url = given(api.get("/me", headers=headers))["profile_picture_url"]
    shown = api.client.get(url, headers=headers)
    assert (shown.content, shown.headers["Content-Type"]) == (PNG, "image/png")
    ben = bearer(api.sign_in(home, "002.ben"))
    assert refused(api.client.get(url, headers=ben)) == (404, "USER_NOT_FOUND")
    assert refused(api.ask("PUT", "/me/picture", content=b"<svg>", headers=kind)) == (400, "NOT_A_PICTURE")
    given(api.delete("/me/picture", headers=headers), 204)
    assert given(api.get("/me", headers=headers))["profile_picture_url"] is None
    assert not list(home.objects.names("pictures/"))


def test_of_the_visitors_of_a_region_only_a_number_is_told_and_only_of_enough(
    api: Api, home: Home, ada: Json
) -> None:
    follower = home.travel.follower()
    follower.create_tables()
    for number in range(5):
        user_id = home.by_apple(f"{number:03}.visitor").profile.user_id
        home.travel.sync.change_user(user_id, {"privacy_settings": {"share_visits": True}})
        home.travel.visits.mark(user_id, "country", "FR")
        follower.run_once()
        answer = api.get("/regions/country/FR/visitors", headers=bearer(ada))
        assert given(answer) == {"count": 5 if number == 4 else None, "at_least": 5}


def test_travellers_see_each_other_as_their_switches_say(api: Api, home: Home, ada: Json) -> None:
    mine, ben = bearer(ada), api.sign_in(home, "002.ben")
    me = ada["user"]["user_id"]
    given(api.put("/visits/country/FR", {"notes": "secret"}, headers=mine))
    switches = {"profile_public": True, "share_visits": True}
    given(api.patch("/me", {"privacy_settings": switches}, headers=mine))
    public = given(api.get(f"/travellers/{me}", headers=bearer(ben)))
    assert [visit.get("notes") for visit in public["visits"]] == [None]
    given(api.put(f"/me/blocks/{ben['user']['user_id']}", {}, headers=mine))
    assert refused(api.get(f"/travellers/{me}", headers=bearer(ben))) == (404, "USER_NOT_FOUND")
    assert len(given(api.get("/me/blocks", headers=mine))["items"]) == 1
    given(api.delete(f"/me/blocks/{ben['user']['user_id']}", headers=mine), 204)
    given(api.get(f"/travellers/{me}", headers=bearer(ben)))


def test_baggage_goes_out_and_comes_in(api: Api, ada: Json) -> None:
    headers = bearer(ada)
    sheet = {**headers, "Content-Type": "text/csv"}
    report = given(api.ask("POST", "/import", content="code,date\nFR,2020\nXX,", headers=sheet))
    assert (report["marked"], [line["line"] for line in report["refused"]]) == (1, [3])
    text = api.get("/export?format=csv", headers=headers)
    assert text.headers["Content-Disposition"] == 'attachment; filename="skratch-ada-2030-06-14.csv"'
    assert "country,FR,France,2020" in text.text
    assert given(api.get("/export", headers=headers))["visits"][0]["region_code"] == "FR"
    found = api.get("/export?format=geojson", headers=headers)
    assert found.headers["Content-Type"] == "application/geo+json"
    assert found.json()["features"][0]["id"] == "FR"
    assert refused(api.get("/export?format=xml", headers=headers))[0] == 422


# --- regions ---


def test_geography_is_for_everybody_and_kept_until_it_changes(api: Api, home: Home) -> None:
    for path in (
        "/regions/country", "/regions/country/FR", "/regions/search?q=can", "/regions/bbox?n=-15&s=-20&e=-178&w=177",
        "/regions/country/FR/boundary?level=low", "/regions/us_state/topology?level=high", "/regions/lakes/topology",
    ):  # fmt: skip
        answer = api.get(path)
        assert answer.status_code == 200, (path, answer.text)
        assert answer.headers["Cache-Control"].startswith("public, max-age=")
        version = home.travel.places.data_version
        assert answer.headers["ETag"] in (f'"{version}"', f'"{version}-gzip"')
        assert api.get(path, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "/regions/country/FR/boundary?level=low",
        "/regions/us_state/topology?level=high",
        "/regions/lakes/topology?",
    ],
)
def test_borders_are_kept_for_a_year_only_under_an_address_that_names_their_version(
    api: Api, home: Home, path: str
) -> None:
    def kept(version: str) -> str:
        return api.get(f"{path}&v={version}").headers["Cache-Control"]

    assert kept(home.travel.places.data_version) == "public, max-age=31536000"
    assert kept("0-before") == api.get(path).headers["Cache-Control"] == "public, max-age=3600"


def test_a_border_is_found_by_the_address_its_region_gives(api: Api) -> None:
    region = given(api.get("/regions/country/FJ"))
    for name, level in (("boundary_url", "high"), ("boundary_simplified_url", "low")):
        answer = api.client.get(region[name])
        assert answer.json()["properties"]["level"] == level
        assert answer.headers["Cache-Control"] == "public, max-age=31536000"
    high, low = (
        len(api.client.get(region[name]).content) for name in ("boundary_url", "boundary_simplified_url")
    )
    assert low < high


def test_regions_are_found_and_refused_by_the_same_rules(api: Api) -> None:
    assert given(api.get("/regions/search?q=can"))["items"][0]["region_code"] == "CA"
    only = given(api.get("/regions/search?q=new&type=us_state"))["items"]
    assert {it["region_type"] for it in only} == {"us_state"}
    assert given(api.get("/regions/country/ZR"))["region_code"] == "CD"
    assert refused(api.get("/regions/country/XX")) == (404, "REGION_NOT_FOUND")
    assert refused(api.get("/regions/planet/FR"))[0] == 422
    assert refused(api.get("/regions/bbox?n=0&s=1&e=0&w=0")) == (400, "INVALID_BOX")
    assert refused(api.get("/regions/search?q=-")) == (400, "EMPTY_QUERY")
    here = given(api.get("/regions/here?lat=48.85&lon=2.35"))
    assert [it["region"]["region_code"] for it in here] == ["FR"]


# --- admin ---


def test_an_admin_sees_what_is_wrong_and_not_what_was_written(api: Api, home: Home, ada: Json) -> None:
    headers = bearer(ada)
    bad = _edit(home, "XX", entity_data={"notes": "very secret"})
    given(api.post("/sync/push", {"operations": [_edit(home), bad]}, headers=headers))
    for date in ("2020", "2021"):
        edit = _edit(
            home,
            kind="update",
            client_version=1,
            entity_data={"visited_date": date, "notes": f"secret {date}"},
        )
        device = "phone" if date == "2020" else "tablet"
        given(
            api.post("/sync/push", {"operations": [edit]}, headers=bearer(api.sign_in(home, device=device)))
        )
    failed = given(api.get("/admin/operations?status=failed", by=ADMIN))["items"]
    assert [it["processing_error"] for it in failed] == ["UNKNOWN_REGION"]
    conflicts = api.get("/admin/operations?status=conflict", by=ADMIN)
    assert len(given(conflicts)["items"]) == 1
    assert "secret" not in conflicts.text


def test_an_admin_finds_an_account_by_its_address_and_that_is_written_down(api: Api, home: Home) -> None:
    ada = home.by_mail()
    found = given(api.post("/admin/users:find", {"email": "ADA@example.com"}, by=ADMIN))
    assert found["user_id"] == ada.profile.user_id
    hashed = {"email_hmac": ada.profile.email_hmac}
    assert given(api.post("/admin/users:find", hashed, by=ADMIN))["user_id"] == ada.profile.user_id
    assert refused(api.post("/admin/users:find", {"email": "x@example.com"}, by=ADMIN)) == (
        404,
        "USER_NOT_FOUND",
    )
    assert refused(api.post("/admin/users:find", {}, by=ADMIN)) == (400, "INVALID_FIELD")
    audit = given(api.get("/me/audit", by=ada.profile.user_id))["items"]
    assert [(it["action"], it["actor"]) for it in audit].count(("viewed by support", ADMIN)) == 2


def test_an_admin_publishes_the_geography(api: Api) -> None:
    assert given(api.get("/admin/geography", by=ADMIN))["published"] is None
    assert given(api.post("/admin/geography:publish", by=ADMIN))["written"] > 1000
    told = given(api.get("/admin/geography", by=ADMIN))
    assert told["published"]["data_version"] == told["data_version"]
    assert told["countable"] == {"country": 195, "us_state": 50, "canadian_province": 13}
    assert given(api.get("/regions/search?q=cote"))["items"][0]["region_code"] == "CI"


def test_an_admin_erases_and_recounts(api: Api, home: Home, ada: Json) -> None:
    me = ada["user"]["user_id"]
    assert given(api.post(f"/admin/users/{me}:recount", by=ADMIN)) == {"was_wrong": False}
    assert given(api.post(f"/admin/users/{me}:minor", {"is_minor": True}, by=ADMIN))["is_minor"]
    given(api.delete(f"/admin/users/{me}", by=ADMIN), 202)
    assert [it["done_at"] for it in given(api.get("/admin/erasures", by=ADMIN))] == [None]
    assert given(api.post("/admin/erasures:apply", by=ADMIN)) == {"came_back": 0}


# --- the whole ---


def test_every_route_is_described(api: Api) -> None:
    paths = api.client.get("/openapi.json").json()["paths"]
    wanted = (
        "auth/apple", "auth/email:start", "auth/email:verify", "me", "me/devices", "sync/push", "sync/pull",
        "sync/conflicts", "sync/conflicts/{operation_id}:resolve", "visits", "visits/{region_type}/{code}", "stats",
        "regions/{region_type}", "regions/{region_type}/{code}", "regions/search", "regions/bbox",
        "regions/{region_type}/{code}/visitors", "export",
    )  # fmt: skip
    for path in wanted:
        assert f"/travel/v1/{path}" in paths, path
    assert travel_api.TRANSLATIONS
