"""The API over HTTP: who may, versions, keys, pages, mistakes; the whole way from a family to an enforced rule."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from tests.systems.parental.talk import (
    ANNA,
    BEN,
    OPERATOR,
    OTHER_PHONE,
    PHONE,
    START,
    SUPPORT,
    ZOE,
    ZONE,
    Api,
    Json,
    Place,
    new_policy,
    window,
)
from tests.systems.talk import at_once, given, refused

from tablewright.kit.tables import Actor
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import due, gateway_names
from tablewright.systems.parental.firewall.driver import Flow
from tablewright.systems.parental.firewall.simulated import Faults, SimulatedFirewall
from tablewright.systems.parental.model import Action

DEVICE = {"deviceId": "ftd-device-001", "kind": "simulated", "name": "Gateway", "accessPolicyId": "p1"}
ADDRESS = "10.20.30.40"


def _child(api: Api, at: Place, by: Any = ANNA, phone: str = PHONE, name: str = "Sarah") -> Json:
    """A family and a child of it, made the way a client makes them."""
    if not given(api.get("/families", by=by)):
        given(api.post("/families", {"name": "The Millers", "guardianName": "Anna"}, by=by), 201)
    at.clock.move(timedelta(seconds=1))
    given(api.post("/number-proofs", {"phoneNumber": phone}, by=by), 202)
    body = {"phoneNumber": phone, "code": at.code(phone), "childName": name, "timezone": ZONE}
    found: Json = given(api.post("/children", body, by=by), 201)
    return found


def _online(api: Api, phone: str = PHONE, address: str = ADDRESS) -> None:
    event = {
        "eventId": f"e-{phone}-{address}",
        "kind": "start",
        "phoneNumber": phone,
        "sessionId": f"s-{phone}",
        "privateIP": address,
        "deviceId": "ftd-device-001",
    }
    assert given(api.post("/sessions/events", event, by=OPERATOR))["isKnown"]


# --- the whole way ---


def test_from_a_new_family_to_a_rule_on_the_firewall(at: Place, api: Api) -> None:
    given(api.post("/devices", DEVICE, by=OPERATOR), 201)
    child = _child(api, at)
    assert (child["child"], child["phoneNumber"], child["version"]) == (PHONE, PHONE, 1)
    _online(api)
    policy = given(api.post(f"/children/{PHONE}/policies", new_policy("TikTok"), by=ANNA), 201)
    effective = given(api.get(f"/children/{PHONE}/effective", by=ANNA))
    assert [(one["appName"], one["enforcement"]) for one in effective["blocked"]] == [("TikTok", "pending")]
    at.parental.reconciler.reconcile(PHONE)
    effective = given(api.get(f"/children/{PHONE}/effective", by=ANNA))
    (blocked,) = effective["blocked"]
    assert (blocked["enforcement"], blocked["policyIds"]) == ("enforced", [policy["policyId"]])
    firewall = at.firewalls["ftd-device-001"]
    assert firewall.is_blocked(Flow(source=ADDRESS, name="www.tiktok.com"))
    assert not firewall.is_blocked(Flow(source="10.20.30.41", name="www.tiktok.com"))
    (rule,) = given(api.get(f"/children/{PHONE}/rules", by=ANNA))
    assert (rule["status"], rule["appName"], rule["privateIP"]) == ("active", "TikTok", ADDRESS)
    assert "555" not in rule["ruleName"]
    history = given(api.get(f"/children/{PHONE}/enforcement", by=ANNA))
    assert [(one["action"], one["status"]) for one in history["items"]] == [("block", "success")]
    (session,) = given(api.get(f"/children/{PHONE}/sessions", by=ANNA))
    assert session["privateIP"] == ADDRESS
    on_device = given(api.get("/devices/ftd-device-001/rules", by=OPERATOR))["items"]
    assert [one["ruleId"] for one in on_device] == [rule["ruleId"]]
    assert PHONE not in repr(on_device)
    assert given(api.post("/devices/ftd-device-001:verify", by=OPERATOR))["seen"] == 1


def test_pc_d10_the_answer_names_what_of_a_policy_is_not_enforced(at: Place, api: Api) -> None:
    given(api.post("/devices", DEVICE, by=OPERATOR), 201)
    _child(api, at)
    _online(api)
    asked = {"blockedApps": [{"appName": "TikTok", "ipRanges": ["0.0.0.0/0"]}]}
    policy = given(api.post(f"/children/{PHONE}/policies", asked, by=ANNA), 201)
    (notice,) = policy["notices"]
    assert (notice["code"], notice["field"]) == ("NOT_ENFORCED", "blockedApps[0].ipRanges")
    at.parental.reconciler.reconcile(PHONE)
    (blocked,) = given(api.get(f"/children/{PHONE}/effective", by=ANNA))["blocked"]
    assert (blocked["enforcement"], blocked["notEnforced"]) == ("enforced", [notice["message"]])


def test_what_is_blocked_is_counted_and_shown(at: Place, api: Api) -> None:
    given(api.post("/devices", DEVICE, by=OPERATOR), 201)
    _child(api, at)
    family = given(api.get("/families", by=ANNA))[0]
    given(api.patch(f"/families/{family['familyId']}", {"alertAfterBlocks": 5}, by=ANNA))
    at.clock.move(timedelta(hours=1))
    moment = at.clock.now().isoformat()
    batch = {
        "batchId": "b-1",
        "events": [{"at": moment, "appName": "TikTok", "phoneNumber": PHONE, "count": 3} for _ in range(2)],
    }
    for counted in (6, 0):
        assert given(api.post("/blocked-events/batches", batch, by=OPERATOR))["counted"] == counted
    (metric,) = given(api.get(f"/children/{PHONE}/metrics?from=2030-06-14&to=2030-06-14", by=ANNA))
    assert (metric["blockedCount"], metric["hourly"]["11"]) == (6, 6)
    one = given(api.get(f"/children/{PHONE}/metrics?from=2030-06-14&to=2030-06-14&app=TikTok", by=ANNA))
    assert one == [metric]
    assert given(api.get("/parents/me/metrics", by=ANNA))["items"] == [metric]
    dashboard = given(api.get(f"/children/{PHONE}/dashboard", by=ANNA))
    assert dashboard["day"]["blocked"] == dashboard["month"]["byApp"][0]["blocked"] == 6
    assert len([text for text in at.messages("anna@example.com") if "We blocked 6 attempts" in text]) == 1
    assert refused(api.get(f"/children/{PHONE}/metrics?from=2030-06-15&to=2030-06-14", by=ANNA)) == (
        400,
        "DATE_ORDER",
    )


def test_pc_23_operators_see_what_failed_without_whose_it_is_and_try_again(at: Place, api: Api) -> None:
    given(api.post("/devices", DEVICE, by=OPERATOR), 201)
    _child(api, at)
    _online(api)
    given(api.post(f"/children/{PHONE}/policies", new_policy("TikTok"), by=ANNA), 201)
    at.parental.devices.health("ftd-device-001")
    at.firewalls["ftd-device-001"].faults = Faults(is_down=True)
    at.parental.reconciler.reconcile(PHONE)
    (failure,) = given(api.get("/enforcement/failures", by=OPERATOR))["items"]
    assert (failure["status"], failure["appName"]) == ("failed", "TikTok")
    assert PHONE not in repr(failure)
    (status,) = given(api.get(f"/children/{PHONE}/status", by=ANNA))
    assert status["state"] == "pending"
    assert not given(api.get("/devices/ftd-device-001/health", by=OPERATOR))["isOk"]
    verify = api.post("/devices/ftd-device-001:verify", by=OPERATOR)
    assert refused(verify) == (503, "DEVICE_UNAVAILABLE")
    at.firewalls["ftd-device-001"].faults = Faults()
    at.clock.move(timedelta(minutes=10))
    (status,) = given(api.post(f"/enforcement/failures/{failure['failureId']}:retry", by=OPERATOR))
    assert status["state"] == "enforced"
    assert given(api.get("/enforcement/failures", by=OPERATOR))["items"] == []
    again = api.post(f"/enforcement/failures/{failure['failureId']}:retry", by=OPERATOR)
    assert refused(again) == (404, "FAILURE_NOT_FOUND")


# --- who may ---


def test_pc_s13_by_the_number_of_somebody_elses_child_nothing_is_there(at: Place, api: Api) -> None:
    _child(api, at)
    policy = given(api.post(f"/children/{PHONE}/policies", new_policy("TikTok"), by=ANNA), 201)
    _child(api, at, ZOE, OTHER_PHONE, "Emil")
    paths = [path for path, _ in _paths_of_a_child(api, policy["policyId"])]
    assert len(paths) >= 12
    for path, method in _paths_of_a_child(api, policy["policyId"]):
        body = _any_body(path, method)
        answer = api.ask(method, path, body, by=ZOE)
        assert refused(answer) == (404, "CHILD_NOT_FOUND"), (method, path)
        nobody = f"+1999{PHONE[-7:]}"
        same = api.ask(method, path.replace(PHONE, nobody), body, by=ZOE)
        theirs, nobodys = answer.json(), same.json()
        assert {**theirs, "requestId": 0} == {**nobodys, "requestId": 0}
    for who in ("policies", "metrics"):
        assert refused(api.get(f"/parents/anna@example.com/{who}", by=ZOE)) == (403, "NOT_GUARDIAN")
        assert given(api.get(f"/parents/zoe@example.org/{who}", by=ZOE))["items"] == []


def _paths_of_a_child(api: Api, policy_id: str) -> list[tuple[str, str]]:
    paths = given(api.client.get("/openapi.json"))["paths"]
    return [
        (
            path.removeprefix("/parental/v1").replace("{phone}", PHONE).replace("{id}", policy_id),
            method.upper(),
        )
        for path, methods in paths.items()
        if "{phone}" in path
        for method in methods
    ]


def _any_body(path: str, method: str) -> Json | None:
    if method in ("GET", "DELETE"):
        return None
    if path.endswith("/policies"):
        return new_policy("TikTok")
    if path.endswith("/overrides"):
        return {"kind": "allow", "appName": "TikTok", "minutes": 5}
    if path.endswith(":number"):
        return {"phoneNumber": "+15550000001", "code": "123456"}
    return {**new_policy("TikTok"), "version": 1} if method == "PUT" else {}


def test_without_a_login_there_is_nothing(at: Place, api: Api) -> None:
    paths = given(api.client.get("/openapi.json"))["paths"]
    asked = 0
    for path, methods in paths.items():
        if not path.startswith("/parental/"):
            continue
        for method in methods:
            answer = api.client.request(method, path.replace("{phone}", PHONE), json={})
            assert refused(answer)[0] == 401, (method, path)
            asked += 1
    assert asked > 40


def test_what_operators_do_is_for_operators(at: Place, api: Api) -> None:
    for method, path, body in (
        ("GET", "/devices", None),
        ("POST", "/devices", DEVICE),
        ("GET", "/enforcement/failures", None),
        ("PUT", "/apps/TikTok", {"appCategory": "x", "domains": ["x.example"]}),
        ("POST", "/sessions/events", {"kind": "stop", "phoneNumber": PHONE, "sessionId": "s"}),
        ("POST", "/blocked-events/batches", {"batchId": "b", "events": []}),
    ):
        for who in (ANNA, SUPPORT):
            assert refused(api.ask(method, path, body, by=who))[0] == 403, path
    _child(api, at)
    assert refused(api.get(f"/children/{PHONE}", by=OPERATOR)) == (404, "CHILD_NOT_FOUND")


def test_pc_x11_support_reads_with_a_reason_and_writes_nothing(at: Place, api: Api) -> None:
    child = _child(api, at)
    assert refused(api.get(f"/children/{PHONE}/policies", by=SUPPORT)) == (400, "REASON_NEEDED")
    why = {"X-Reason": "ticket 4711"}
    assert given(api.get(f"/children/{PHONE}/policies", by=SUPPORT, headers=why))["items"] == []
    denied = api.post(f"/children/{PHONE}/policies", new_policy("TikTok"), by=SUPPORT, headers=why)
    assert refused(denied) == (404, "CHILD_NOT_FOUND")
    assert refused(api.delete(f"/children/{PHONE}", by=SUPPORT, headers=why))[0] == 404
    audit = given(api.get(f"/families/{child['familyId']}/audit", by=ANNA))["items"]
    assert [(one["actor"], one["reason"]) for one in audit if one["role"] == "support"] == [
        (SUPPORT.name, "ticket 4711")
    ]


# --- versions and keys ---


def test_pc_s8_two_parents_put_one_version_at_once(at: Place, api: Api) -> None:
    child = _child(api, at)
    invitation = given(
        api.post(f"/families/{child['familyId']}/invitations", {"email": "ben@example.com"}, by=ANNA), 201
    )
    given(api.post(f"/invitations/{invitation['invitationId']}:accept", {"guardianName": "Ben"}, by=BEN))
    path = f"/children/{PHONE}/policies"
    made = given(api.post(path, new_policy("TikTok"), by=ANNA), 201)
    one = f"{path}/{made['policyId']}"
    for version in (1, 2, 3):
        given(api.put(one, new_policy("TikTok", notes=f"v{version}", version=version), by=ANNA))
    answers = at_once(
        [
            partial(api.put, one, new_policy("TikTok", notes=who.name, version=4), by=who)
            for who in (ANNA, BEN)
        ]
    )
    by_status = {answer.status_code: answer for answer in answers if isinstance(answer, httpx.Response)}
    assert set(by_status) == {200, 409}
    won, lost = by_status[200].json(), by_status[409].json()
    assert won["version"] == 5
    assert (lost["code"], lost["currentVersion"]) == ("VERSION_CONFLICT", 5)
    assert {**lost["current"], "notices": []} == won
    assert by_status[200].headers["ETag"] == '"5"'


def test_a_policy_is_not_overwritten_by_who_has_not_read_it(at: Place, api: Api) -> None:
    _child(api, at)
    path = f"/children/{PHONE}/policies"
    made = given(api.post(path, new_policy("TikTok"), by=ANNA), 201)
    one = f"{path}/{made['policyId']}"
    assert refused(api.put(one, new_policy("TikTok"), by=ANNA)) == (428, "PRECONDITION_REQUIRED")
    assert refused(api.put(one, new_policy("TikTok"), by=ANNA, headers={"If-Match": "7"})) == (
        400,
        "BAD_ETAG",
    )
    assert refused(api.put(one, new_policy("TikTok"), by=ANNA, headers={"If-Match": '"7"'}))[0] == 409
    given(api.put(one, new_policy("TikTok", notes="x"), by=ANNA, headers={"If-Match": '"1"'}))
    given(api.delete(one, by=ANNA, headers={"If-Match": '"2"'}), 204)
    assert refused(api.get(one, by=ANNA)) == (404, "POLICY_NOT_FOUND")


def test_pc_x7_a_key_makes_one_policy_of_two_requests(at: Place, api: Api) -> None:
    _child(api, at)
    path = f"/children/{PHONE}/policies"
    key = {"Idempotency-Key": "0b7d3a52-aaaa"}
    first = given(api.post(path, new_policy("TikTok"), by=ANNA, headers=key), 201)
    assert given(api.post(path, new_policy("TikTok"), by=ANNA, headers=key), 201) == first
    other = api.post(path, new_policy("YouTube"), by=ANNA, headers=key)
    assert refused(other) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert len(given(api.get(path, by=ANNA))["items"]) == 1
    one = f"{path}/{first['policyId']}"
    change = new_policy("TikTok", notes="changed", version=1)
    changed = given(api.put(one, change, by=ANNA, headers=key))
    assert given(api.put(one, change, by=ANNA, headers=key)) == changed
    assert refused(api.put(one, change, by=ANNA)) == (409, "VERSION_CONFLICT")


# --- pages and mistakes ---


def test_pc_x13_policies_come_in_pages_with_tokens_of_ones_own(at: Place, api: Api) -> None:
    _child(api, at)
    path = f"/children/{PHONE}/policies"
    for _ in range(5):
        given(api.post(path, new_policy("TikTok"), by=ANNA), 201)
    first = given(api.get(f"{path}?pageSize=3", by=ANNA))
    assert (len(first["items"]), first["moreAvailable"]) == (3, True)
    rest = given(api.get(f"{path}?pageSize=3&startAt={first['startAt']}", by=ANNA))
    assert (len(rest["items"]), rest["moreAvailable"]) == (2, False)
    assert refused(api.get(f"{path}?startAt=nonsense", by=ANNA)) == (400, "BAD_TOKEN")


def test_pc_22_a_range_that_ends_with_a_second_has_all_of_it(at: Place, api: Api) -> None:
    child = at.child()
    second = START.replace(microsecond=0) + timedelta(minutes=10)
    for milliseconds in (-1, 120, 999, 1000):
        moment = second + timedelta(milliseconds=milliseconds)
        at.db.write(
            d.actions.create(
                Action(
                    child=child.child, occurred_at=moment, action_id=f"a{milliseconds}", action="block",
                    app_name="TikTok", privateIP="10.0.0.1", status="failed", status_key="failed",
                )
            )
        )  # fmt: skip

    def found(path: str, by: Actor, to: str) -> int:
        since = second.isoformat().replace("+00:00", "Z")
        return len(given(api.get(f"{path}?from={since}&to={to}", by=by))["items"])

    for path, by in ((f"/children/{PHONE}/enforcement", ANNA), ("/enforcement/failures", OPERATOR)):
        assert found(path, by, f"{second:%Y-%m-%dT%H:%M:%SZ}") == 2
        assert found(path, by, f"{second:%Y-%m-%dT%H:%M:%S}.120Z") == 1


def test_pc_x13_pages_have_100_entries_at_most_and_pc_21_those_of_the_history_200(
    at: Place, api: Api
) -> None:
    _child(api, at)
    given(api.post("/devices", DEVICE, by=OPERATOR), 201)
    families = given(api.get("/parents/me", by=ANNA))["families"]
    lists = [
        (ANNA, f"/children/{PHONE}/policies", 100),
        (ANNA, f"/children/{PHONE}/enforcement", 200),
        (ANNA, "/parents/me/metrics", 100),
        (ANNA, "/parents/me/policies", 100),
        (ANNA, f"/families/{families[0]['familyId']}/audit", 100),
        (OPERATOR, "/enforcement/failures", 200),
        (OPERATOR, "/devices/ftd-device-001/rules", 100),
        (OPERATOR, "/quarantine", 100),
    ]
    for who, path, most in lists:
        given(api.get(f"{path}?pageSize={most}", by=who))
        for size in (0, most + 1):
            answer = api.get(f"{path}?pageSize={size}", by=who)
            assert refused(answer) == (400, "INVALID_PAGE_SIZE"), path
            assert answer.json()["message"] == f"A page can have 1 to {most} entries."


@pytest.mark.parametrize(
    ("change", "status", "code", "field"),
    [
        ({"blockedApps": [{"appName": "Nope"}]}, 400, "UNKNOWN_APP", "blockedApps[0].appName"),
        (
            {"blockedApps": [{"appName": "TikTok", "ipRanges": ["10.0.0.1/8"]}]},
            400,
            "INVALID_CIDR",
            "blockedApps[0].ipRanges[0]",
        ),
        (
            {"blockedApps": [{"appName": "TikTok", "ports": [{"port": 0, "protocol": "TCP"}]}]},
            400,
            "INVALID_PORT",
            "blockedApps[0].ports[0].port",
        ),
        ({"timeWindows": [window("22:00", "06:00", "FUN")]}, 400, "INVALID_WINDOW", "timeWindows[0].days[0]"),
        ({"blockedApps": [{"appName": "TikTok"}] * 2}, 400, "DUPLICATE_APP", "blockedApps[1].appName"),
        ({"blockedApps": [{"appName": "TikTok"}] * 101}, 422, "LIMIT_EXCEEDED", "blockedApps"),
        ({"timezone": "Nowhere"}, 400, "INVALID_TIMEZONE", "timezone"),
        ({"status": "deleted"}, 422, "INVALID_FIELD", "status"),
        ({"owner": "me"}, 422, "INVALID_FIELD", "owner"),
    ],
)
def test_pc_x14_a_mistake_names_its_field(
    at: Place, api: Api, change: Json, status: int, code: str, field: str
) -> None:
    _child(api, at)
    answer = api.post(f"/children/{PHONE}/policies", new_policy("TikTok") | change, by=ANNA)
    assert refused(answer) == (status, code)
    assert answer.json()["field"] == field


def test_a_number_that_is_none_is_a_bad_request(at: Place, api: Api) -> None:
    given(api.post("/families", {"name": "M"}, by=ANNA), 201)
    assert refused(api.get("/children/12345", by=ANNA)) == (400, "INVALID_PHONE")
    assert refused(api.post("/number-proofs", {"phoneNumber": "x"}, by=ANNA)) == (400, "INVALID_PHONE")


def test_who_has_no_family_is_told_so(at: Place, api: Api) -> None:
    assert refused(api.post("/number-proofs", {"phoneNumber": PHONE}, by=ZOE)) == (403, "NOT_GUARDIAN")
    assert given(api.get("/children", by=ZOE)) == []
    assert given(api.get("/parents/me", by=ZOE))["families"] == []


# --- the rest of the surface ---


def test_pauses_exceptions_and_what_changes_next(at: Place, api: Api) -> None:
    _child(api, at)
    path = f"/children/{PHONE}"
    made = given(api.post(f"{path}/policies", new_policy("YouTube"), by=ANNA), 201)
    one = f"{path}/policies/{made['policyId']}"
    until = (at.clock.now() + timedelta(hours=1)).isoformat()
    assert given(api.post(f"{one}:pause", {"until": until}, by=ANNA))["status"] == "paused"
    effective = given(api.get(f"{path}/effective", by=ANNA))
    assert effective["blocked"] == []
    assert effective["blockedThen"] == ["YouTube"]
    assert given(api.post(f"{one}:resume", by=ANNA))["status"] == "active"
    override = given(
        api.post(f"{path}/overrides", {"kind": "allow", "appName": "YouTube", "minutes": 30}, by=ANNA), 201
    )
    assert [o["overrideId"] for o in given(api.get(f"{path}/overrides", by=ANNA))] == [override["overrideId"]]
    assert given(api.get(f"{path}/effective", by=ANNA))["allowed"] == ["YouTube"]
    given(api.delete(f"{path}/overrides/{override['overrideId']}", by=ANNA), 204)
    spans = given(api.get(f"{path}/timeline", by=ANNA))
    assert [span["appName"] for span in spans] == ["YouTube"]
    both = api.post(
        f"{path}/overrides",
        {"kind": "allow", "appName": "YouTube", "minutes": 3, "until": until},
        by=ANNA,
    )
    assert refused(both) == (400, "INVALID_TIME")
    assert refused(api.get(f"{path}/effective?at=yesterday", by=ANNA)) == (400, "INVALID_DATE")


def test_a_child_is_paused_and_moved_to_another_clock_by_its_family(at: Place, api: Api) -> None:
    _child(api, at)
    given(api.post(f"/children/{PHONE}/policies", new_policy("TikTok"), by=ANNA), 201)
    until = (at.clock.now() + timedelta(hours=1)).isoformat()
    changed = given(api.patch(f"/children/{PHONE}", {"pausedUntil": until}, by=ANNA))
    assert changed["version"] == 2
    assert given(api.get(f"/children/{PHONE}/effective", by=ANNA))["blocked"] == []
    back = {"pausedUntil": None, "timezone": "Europe/Berlin", "version": 2}
    assert given(api.patch(f"/children/{PHONE}", back, by=ANNA))["timezone"] == "Europe/Berlin"
    assert given(api.get(f"/children/{PHONE}/effective", by=ANNA))["blocked"]
    stale = api.patch(f"/children/{PHONE}", {"childName": "S", "version": 2}, by=ANNA)
    assert refused(stale) == (409, "VERSION_CONFLICT")
    assert stale.json()["current"]["version"] == 3


def test_the_registry_is_read_by_everybody_and_written_by_operators(at: Place, api: Api) -> None:
    at.parental.registry.load()
    answer = api.get("/apps", by=ANNA)
    assert len(given(answer)) > 100
    same = api.get("/apps", by=ANNA, headers={"If-None-Match": answer.headers["ETag"]})
    assert same.status_code == 304
    tiktok = given(api.get("/apps/TikTok", by=ANNA))
    assert "tiktok.com" in tiktok["domains"]
    body = {
        "appCategory": tiktok["appCategory"],
        "defaultPorts": tiktok["defaultPorts"],
        "domains": [*tiktok["domains"], "tiktok-extra.example"],
        "ipRanges": tiktok["ipRanges"],
        "version": tiktok["version"],
    }
    saved = given(api.put("/apps/TikTok", body, by=OPERATOR))
    assert saved["version"] == tiktok["version"] + 1
    assert "tiktok-extra.example" in given(api.get("/apps/TikTok", by=ANNA))["domains"]
    assert refused(api.put("/apps/TikTok", body, by=OPERATOR)) == (409, "VERSION_CONFLICT")
    assert refused(api.get("/apps/Nope", by=ANNA)) == (404, "APP_NOT_FOUND")
    _child(api, at)
    given(api.post(f"/children/{PHONE}/policies", new_policy("TikTok"), by=ANNA), 201)
    assert given(api.get("/apps/TikTok/affected", by=OPERATOR)) == {"policies": 1, "children": 1}
    assert given(api.post("/apps/TikTok:retire", by=OPERATOR))["retired"]
    assert "TikTok" not in [app["appName"] for app in given(api.get("/apps", by=ANNA))]


def test_an_app_needs_no_ports_and_a_mistake_in_one_names_its_field(at: Place, api: Api) -> None:
    made = given(
        api.put("/apps/Game", {"appCategory": "Games", "domains": ["game.example.com"]}, by=OPERATOR)
    )
    assert made["defaultPorts"] == []
    nowhere = api.put("/apps/Nowhere", {"appCategory": "Games"}, by=OPERATOR)
    assert (nowhere.json()["code"], nowhere.json()["field"]) == ("INVALID_APP", "domains")
    nothing = api.put("/apps/Nowhere", {}, by=OPERATOR).json()
    assert (nothing["field"], nothing["message"]) == ("appCategory", "appCategory is required.")


def test_the_key_of_an_exception_is_for_one_length_of_time(at: Place, api: Api) -> None:
    _child(api, at)
    path, once = f"/children/{PHONE}/overrides", {"Idempotency-Key": "key-00001"}
    asked = {"kind": "block", "appName": "TikTok", "minutes": 30}
    made = given(api.post(path, asked, by=ANNA, headers=once), 201)
    at.clock.move(timedelta(minutes=2))
    assert given(api.post(path, asked, by=ANNA, headers=once), 201) == made
    other = api.post(path, {**asked, "minutes": 240}, by=ANNA, headers=once)
    assert refused(other) == (422, "IDEMPOTENCY_KEY_REUSED")


def test_devices_are_kept_by_operators(at: Place, api: Api) -> None:
    given(api.post("/devices", DEVICE, by=OPERATOR), 201)
    assert refused(api.post("/devices", DEVICE, by=OPERATOR)) == (409, "EXISTS")
    changed = given(api.patch("/devices/ftd-device-001", {"enabled": False, "version": 1}, by=OPERATOR))
    assert (changed["enabled"], changed["version"]) == (False, 2)
    assert [one["deviceId"] for one in given(api.get("/devices", by=OPERATOR))] == ["ftd-device-001"]
    assert refused(api.get("/devices/none", by=OPERATOR)) == (404, "DEVICE_NOT_FOUND")


@pytest.mark.parametrize("id", ["a/b", "../x", ".", "..", "a b", "a#b", "a%2Fb", "new", "-x"])
def test_a_device_has_an_id_that_can_stand_in_an_address(api: Api, id: str) -> None:
    answer = api.post("/devices", {**DEVICE, "deviceId": id}, by=OPERATOR)
    assert (*refused(answer), answer.json()["field"]) == (400, "INVALID_DEVICE", "deviceId")


@pytest.mark.parametrize(("field", "other"), [("address", "accessPolicyId"), ("accessPolicyId", "address")])
def test_an_fmc_is_known_by_where_it_is_and_the_policy_its_rules_go_to(
    api: Api, field: str, other: str
) -> None:
    fmc = {"deviceId": "fmc", "name": "FMC", "kind": "cisco_fmc", other: "fmc.example"}
    for body in (fmc, {**fmc, field: "  "}):
        answer = api.post("/devices", body, by=OPERATOR)
        assert (*refused(answer), answer.json()["field"]) == (400, "INVALID_DEVICE", field)
    given(api.post("/devices", {**fmc, field: "x"}, by=OPERATOR), 201)
    answer = api.patch("/devices/fmc", {field: ""}, by=OPERATOR)
    assert (*refused(answer), answer.json()["field"]) == (400, "INVALID_DEVICE", field)
    given(api.patch("/devices/fmc", {"enabled": False}, by=OPERATOR))


class Guarding(SimulatedFirewall):
    """A gateway that can be told to guard DNS."""

    told: int = 0

    def keep_guard(self) -> None:
        self.list()  # fails as every call does while it is down
        self.told += 1


def test_the_guard_of_a_gateway_is_set_and_told_over_http(at: Place, api: Api) -> None:
    gateway = at.firewalls["gw-1"] = Guarding(at.clock.world())
    given(api.post("/devices", {**DEVICE, "deviceId": "gw-1", "kind": "nftables"}, by=OPERATOR), 201)
    guard = {"safe": ["192.0.2.0/28"], "guarded": ["10.20.0.0/16"], "refusesEncryptedDns": True}
    set_to = given(api.patch("/devices/gw-1", {"guard": guard}, by=OPERATOR))
    assert (set_to["guard"], set_to["guardKept"], gateway.told) == (guard, guard, 1)
    given(api.patch("/devices/gw-1", {"guard": guard}, by=OPERATOR))
    assert gateway.told == 1, "it knows"
    gateway.faults = Faults(is_down=True)
    changed = given(api.patch("/devices/gw-1", {"guard": {"guarded": ["fd00::/64"]}}, by=OPERATOR))
    assert changed["guard"] == {"safe": [], "guarded": ["fd00::/64"], "refusesEncryptedDns": False}
    assert changed["guardKept"] == guard, "the truth: it has not been told"
    gateway.faults = Faults()
    gateway_names.refresh_names(at.parental)
    kept = given(api.get("/devices/gw-1", by=OPERATOR))
    assert kept["guardKept"] == kept["guard"] == changed["guard"]


def test_a_guard_that_was_set_while_a_gateway_was_off_is_told_when_it_is_on(at: Place, api: Api) -> None:
    gateway = at.firewalls["gw-1"] = Guarding(at.clock.world())
    given(api.post("/devices", {**DEVICE, "deviceId": "gw-1", "kind": "nftables"}, by=OPERATOR), 201)
    off = {"enabled": False, "guard": {"guarded": ["10.20.0.0/16"]}}
    assert "guardKept" not in given(api.patch("/devices/gw-1", off, by=OPERATOR))
    due.retry(at.parental)
    assert gateway.told == 0
    given(api.patch("/devices/gw-1", {"enabled": True}, by=OPERATOR))
    due.retry(at.parental)
    kept = at.parental.devices.get("gw-1")
    assert (gateway.told, kept.guard_kept) == (1, kept.guard)


@pytest.mark.parametrize(
    ("guard", "field"),
    [
        ({"guarded": ["10.20.0.1/16"]}, "guard.guarded[0]"),
        ({"safe": ["192.0.2.0/28", "school"]}, "guard.safe[1]"),
        ({"safe": ["0.0.0.0/0"]}, "guard.safe[0]"),
    ],
)
def test_what_is_no_network_is_no_guard(api: Api, guard: dict[str, object], field: str) -> None:
    given(api.post("/devices", {**DEVICE, "kind": "nftables"}, by=OPERATOR), 201)
    told = api.patch("/devices/ftd-device-001", {"guard": guard}, by=OPERATOR)
    assert refused(told) == (400, "INVALID_CIDR")
    assert told.json()["field"] == field


def test_a_firewall_that_answers_no_names_has_no_guard(api: Api) -> None:
    given(api.post("/devices", DEVICE, by=OPERATOR), 201)
    told = api.patch("/devices/ftd-device-001", {"guard": {"guarded": ["10.0.0.0/8"]}}, by=OPERATOR)
    assert refused(told) == (400, "INVALID_DEVICE")


def test_a_number_is_released_and_changed_over_http(at: Place, api: Api) -> None:
    _child(api, at)
    given(api.post(f"/children/{PHONE}/policies", new_policy("TikTok"), by=ANNA), 201)
    given(api.post("/number-proofs", {"phoneNumber": OTHER_PHONE}, by=ANNA), 202)
    body = {"phoneNumber": OTHER_PHONE, "code": at.code(OTHER_PHONE)}
    moved = given(api.post(f"/children/{PHONE}:number", body, by=ANNA))
    assert moved["phoneNumber"] == OTHER_PHONE
    at.parental.tasks.run_due()
    assert len(given(api.get(f"/children/{OTHER_PHONE}/policies", by=ANNA))["items"]) == 1
    released = given(api.post(f"/children/{OTHER_PHONE}:release", {}, by=ANNA))
    assert released["releasedAt"]
    assert given(api.get("/children", by=ANNA)) == []
    assert len(given(api.get("/children?includeReleased=true", by=ANNA))) == 2


def test_an_operator_frees_a_number_that_was_recycled(at: Place, api: Api) -> None:
    child = _child(api, at)
    assert refused(api.post(f"/children/{PHONE}:release", {}, by=OPERATOR)) == (400, "REASON_NEEDED")
    reason = {"reason": "the carrier gave it to somebody else"}
    assert refused(api.post(f"/children/{PHONE}:release", reason, by=ZOE)) == (404, "CHILD_NOT_FOUND")
    freed = given(api.post(f"/children/{PHONE}:release", reason, by=OPERATOR))
    assert freed.keys() == {"phoneNumber", "releasedAt"}
    assert PHONE not in str(freed)
    assert refused(api.post(f"/children/{PHONE}:release", reason, by=OPERATOR)) == (404, "CHILD_NOT_FOUND")
    newest = given(api.get(f"/families/{child['familyId']}/audit", by=ANNA))["items"]
    assert reason["reason"] in [entry.get("reason") for entry in newest]


def test_pc_x1_support_gives_no_number_up(at: Place, api: Api) -> None:
    child = _child(api, at)
    told = api.post(f"/children/{PHONE}:release", {"reason": "because I can"}, by=SUPPORT)
    assert refused(told) == (404, "CHILD_NOT_FOUND")
    assert at.parental.repository.child(child["child"]).released_at is None


@pytest.mark.parametrize("role", ["operator", "support"])
def test_an_owner_who_is_also_staff_gives_a_number_up_without_a_reason(
    at: Place, api: Api, role: str
) -> None:
    child = at.child(ANNA)
    staff = Actor(ANNA.name, role, ANNA.subject, ANNA.email)
    released = given(api.post(f"/children/{PHONE}:release", {}, by=staff))
    assert released["childName"] == child.child_name


def test_pc_x1_an_operator_does_not_see_the_number_of_what_is_quarantined(at: Place, api: Api) -> None:
    at.child()
    at.clock.move(timedelta(minutes=1))
    event = {"at": at.clock.now().isoformat(), "appName": "bad#name", "phoneNumber": PHONE}
    given(api.post("/blocked-events/batches", {"batchId": "b", "events": [event]}, by=OPERATOR))
    (kept,) = given(api.get("/quarantine", by=OPERATOR))["items"]
    assert (kept["events"][0]["phoneNumber"], PHONE in str(kept)) == (f"···{PHONE[-2:]}", False)


def test_events_of_nobody_wait_and_are_counted_when_somebody_is_known(at: Place, api: Api) -> None:
    _child(api, at)
    at.clock.move(timedelta(minutes=1))
    event = {"at": at.clock.now().isoformat(), "appName": "TikTok", "phoneNumber": OTHER_PHONE}
    answer = given(api.post("/blocked-events/batches", {"batchId": "b", "events": [event]}, by=OPERATOR))
    assert answer == {"counted": 0, "repeated": 0, "quarantined": 1}
    (kept,) = given(api.get("/quarantine", by=OPERATOR))["items"]
    assert refused(api.get("/quarantine", by=ANNA))[0] == 403
    again = given(api.post(f"/quarantine/{kept['quarantineId']}:again", by=OPERATOR))
    assert again["quarantined"] == 1
    assert refused(api.post("/quarantine/none:again", by=OPERATOR)) == (404, "QUARANTINE_NOT_FOUND")
