"""One-time secrets, registration, self-service: who proves what, and what a stranger learns (CP-X3, CP-X10)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.systems.portal.talk import ADMIN, SECRET, Api, Place, refuses
from tests.systems.talk import given, refused

from tablewright.kit.code_requesters import RequestOrigin
from tablewright.kit.tables import Actor
from tablewright.mapping import Db
from tablewright.systems.portal import design as d
from tablewright.systems.portal.model import Message, Tenant
from tablewright.systems.portal.portal import open_portal

KNOWN, UNKNOWN = "customer@example.com", "stranger@example.com"


def _started(at: Place, email: str = KNOWN) -> tuple[str, str]:
    at.clock.move(timedelta(seconds=1))  # the newest mail is the one that counts
    at.portal.verification.start(email)
    return at.secret_in_mail(email)


def _wrong(code: str) -> str:
    return f"{(int(code) + 1) % 10 ** len(code):0{len(code)}}"


@pytest.mark.parametrize("which", [0, 1])
def test_cp_d16_the_six_digits_and_the_link_both_prove_the_address_once(at: Place, which: int) -> None:
    tenant = at.tenant()
    at.clock.move(timedelta(seconds=1))
    secrets = _started(at)
    assert at.portal.verification.confirm(KNOWN.upper(), secrets[which]).status == "VALIDATED"
    assert at.history(tenant.id)[0] == ("address verified", "system:portal", "system")
    for secret in secrets:
        with refuses("CODE_INVALID"):
            at.portal.verification.confirm(KNOWN, secret)


def test_cp_d16_a_secret_lives_a_quarter_of_an_hour(at: Place) -> None:
    at.tenant()
    code, _ = _started(at)
    at.clock.move(timedelta(minutes=15))
    with refuses("CODE_INVALID"):
        at.portal.verification.confirm(KNOWN, code)
    code, _ = _started(at)
    at.clock.move(timedelta(minutes=14, seconds=59))
    assert at.portal.verification.confirm(KNOWN, code).status == "VALIDATED"


def test_cp_d16_five_wrong_tries_end_a_secret_even_for_the_right_one(at: Place) -> None:
    at.tenant()
    code, _ = _started(at)
    for _ in range(5):
        with refuses("CODE_INVALID"):
            at.portal.verification.confirm(KNOWN, _wrong(code))
    with refuses("OTP_TRIES"):
        at.portal.verification.confirm(KNOWN, code)
    code, _ = _started(at)
    assert at.portal.verification.confirm(KNOWN, code).status == "VALIDATED"


def test_a_new_secret_ends_the_one_before(at: Place) -> None:
    at.tenant()
    first, _ = _started(at)
    second, _ = _started(at)
    if first != second:
        with refuses("CODE_INVALID"):
            at.portal.verification.confirm(KNOWN, first)
    assert at.portal.verification.confirm(KNOWN, second).status == "VALIDATED"


def test_cp_x3_five_codes_an_hour_for_one_address_known_or_not(at: Place) -> None:
    at.tenant()
    for email in (KNOWN, UNKNOWN):
        for _ in range(5):
            at.portal.verification.start(email)
        with refuses("OTP_LIMIT"):
            at.portal.verification.start(email.upper())
    at.clock.move(timedelta(hours=1))
    at.portal.verification.start(KNOWN)
    assert len(at.mails(KNOWN)) == 6
    assert at.mails(UNKNOWN) == []


def test_cp_x3_fifty_wrong_codes_a_day_make_the_next_ones_too_long_to_guess(at: Place) -> None:
    at.tenant()
    for number in range(10):
        code, _ = _started(at)
        assert len(code) == 6, number
        for _ in range(5):
            with refuses("CODE_INVALID"):
                at.portal.verification.confirm(KNOWN, _wrong(code))
        with refuses("OTP_TRIES"):  # not looked at, so not one of them
            at.portal.verification.confirm(KNOWN, code)
        at.clock.move(timedelta(hours=1))
    code, link = _started(at)
    assert len(code) == 12
    letter = at.mails(KNOWN)[-1]
    assert "50 wrong codes were typed for this address" in letter
    mail = Message.model_construct(subject=f"Your code: {code}", body=letter)  # as it was written once
    covered = at.portal.repository.outbox.masked(mail)
    assert not {part for part in (code, link) if part in f"{covered.subject} {covered.body}"}
    assert at.portal.verification.confirm(KNOWN, code).status == "VALIDATED"
    at.clock.move(timedelta(days=1))
    assert len(_started(at)[0]) == 6, "another day"


def test_cp_x3_a_known_device_gets_a_code_when_its_network_used_up_its_own(at: Place, api: Api) -> None:
    at.tenant()
    asked = given(api.post("/verification", {"email": KNOWN}), 202)
    code, _ = at.secret_in_mail(KNOWN)
    typed = {"email": KNOWN, "code": code, "ticket": asked["ticket"]}
    device = given(api.post("/verification/confirm", typed))["knownDevice"]
    for _ in range(4):
        given(api.post("/verification", {"email": KNOWN}), 202)
    assert refused(api.post("/verification", {"email": KNOWN})) == (429, "OTP_LIMIT")
    other = {"email": "other@example.com", "knownDevice": device}
    given(api.post("/verification", other), 202)
    at.clock.move(timedelta(seconds=1))
    given(api.post("/verification", {"email": KNOWN, "knownDevice": device}), 202)
    code, _ = at.secret_in_mail(KNOWN)
    for _ in range(6):  # what the network types is not what the device was sent
        api.post("/verification/confirm", {"email": KNOWN, "code": "00000x"})
    assert refused(api.post("/verification/confirm", {"email": KNOWN, "code": code}))[0] == 429
    typed = {"email": KNOWN, "code": code, "knownDevice": device}
    assert given(api.post("/verification/confirm", typed))["tenantId"]


def test_cp_x3_a_link_is_opened_on_any_network(at: Place) -> None:
    at.tenant()
    at.portal.verification.start(KNOWN, RequestOrigin("192.0.2.1"))
    _, link = at.secret_in_mail(KNOWN)
    elsewhere = RequestOrigin("198.51.100.7")
    with refuses("CODE_INVALID"):
        at.portal.verification.confirm(KNOWN, "0" * 32, caller=elsewhere)
    assert at.portal.verification.confirm(KNOWN, link, caller=elsewhere).status == "VALIDATED"
    with refuses("CODE_INVALID"):
        at.portal.verification.confirm(KNOWN, link, caller=elsewhere)


def test_cp_x3_codes_that_were_right_do_not_count_as_wrong_ones(at: Place) -> None:
    at.tenant()
    for _ in range(3):
        at.portal.verification.confirm(KNOWN, _started(at)[0])
    counts = [item for item in at.scan("portal_desk") if "#wrong-" in item["PK"]["S"]]
    assert [item["used"]["N"] for item in counts] == ["0"]


def test_cp_x3_secrets_are_stored_as_keyed_hashes_only(at: Place) -> None:
    at.tenant()
    code, link = _started(at)
    (challenge,) = [item for item in at.scan("portal_desk") if item["PK"]["S"].startswith("CHALLENGE#")]
    assert code not in repr(challenge.get("codeHash"))
    assert link not in repr(challenge)
    allowances = [item for item in at.scan("portal_desk") if item["PK"]["S"].startswith("ALLOWANCE#")]
    assert allowances
    assert KNOWN not in repr(allowances)


def test_cp_x3_asking_for_a_code_writes_as_much_for_an_unknown_address_and_nobody_gets_it(at: Place) -> None:
    at.tenant()
    written: list[int] = []

    def call(verb: str, request: Any) -> Any:
        if verb == "TransactWriteItems":
            puts = [each["Put"]["Item"] for each in request["TransactItems"] if "Put" in each]
            written.append(sum(len(repr(item)) for item in puts))
        return at.call(verb, request)

    db = Db(call, d.PORTAL, world=at.clock.world(), secret=SECRET, environment=at.db.environment)
    portal = open_portal(db, at.clock.world(), SECRET, at.portal.issue)
    portal.verification.start(KNOWN)
    portal.verification.start("x" * len(KNOWN.partition("@")[0]) + "@example.com")
    known, unknown = written
    assert abs(known - unknown) < known * 0.15
    assert portal.dispatch.run(lambda letter: None).sent == 1
    assert [
        mail.recipient for mail in portal.repository.db.all(portal.repository.outbox.in_state("SENT"))
    ] == [KNOWN]


def test_cp_x3_whoever_asks_cannot_tell_a_known_address_from_an_unknown_one(at: Place, api: Api) -> None:
    """Known, unknown, suspended, deleted: the same answers, step by step, down to the tries that are left."""
    at.tenant(KNOWN)
    at.tenant("suspended@example.com", "SUSPENDED")
    gone = at.tenant("gone@example.com")
    at.portal.tenants.change(gone.id, {"active": False}, ADMIN)
    stories = []
    for email in (KNOWN, UNKNOWN, "suspended@example.com", "gone@example.com"):
        answers = [api.post("/verification/confirm", {"email": email, "code": "000000"})]
        answers += [api.post("/verification", {"email": email})]
        answers += [api.post("/verification/confirm", {"email": email, "code": "00000x"}) for _ in range(6)]
        story = []
        for answer in answers:
            body = answer.json()
            body.pop("requestId", None)
            body.pop("ticket", None)  # of the address and the network alone
            story.append((answer.status_code, body, answer.headers.get("Retry-After")))
        stories.append(story)
        at.clock.move(timedelta(hours=1))
    assert stories[0] == stories[1] == stories[2] == stories[3]
    assert [status for status, *_ in stories[0]] == [422, 202, 422, 422, 422, 422, 422, 429]
    assert stories[0][2][1]["triesLeft"] == 4


def test_cp_x3_a_checkout_answers_alike_for_a_new_and_a_known_address(at: Place, api: Api) -> None:
    product = at.product()
    at.tenant(KNOWN, "REGISTERED")
    shapes = []
    for email in (KNOWN, UNKNOWN):
        body = given(api.post("/checkout", {"email": email, "items": [{"productId": product.id}]}), 201)
        shapes.append(
            {
                name: value
                for name, value in body.items()
                if name not in ("tenantId", "orderId", "orderNumber")
            }
        )
    assert shapes[0] == shapes[1]


def test_a_secret_sent_to_an_address_that_was_given_up_opens_nothing(at: Place) -> None:
    """Who had the address may have lost it: the account is another's now."""
    tenant = at.tenant(status="REGISTERED")
    code, _ = _started(at)
    at.portal.tenants.change_email(tenant.id, "new@example.com", ADMIN)
    with refuses("CODE_INVALID"):
        at.portal.verification.confirm(KNOWN, code)


def test_a_secret_sent_before_a_suspension_opens_nothing(at: Place) -> None:
    tenant = at.tenant()
    code, _ = _started(at)
    at.portal.tenants.move(tenant.id, "SUSPENDED", ADMIN, reason="why")
    with refuses("TENANT_SUSPENDED"):
        at.portal.verification.confirm(KNOWN, code)
    assert at.portal.tenants.get(tenant.id).status == "SUSPENDED"


# --- the way in ---


def test_cp_21_from_checkout_to_a_registered_account_with_its_orders(at: Place, api: Api) -> None:
    placed = given(api.post("/checkout", {"email": KNOWN, "items": [{"productId": at.product().id}]}), 201)
    given(api.post("/verification", {"email": KNOWN}), 202)
    code, _ = at.secret_in_mail(KNOWN)
    proved = given(api.post("/verification/confirm", {"email": KNOWN, "code": code}))
    assert (proved["tenantId"], proved["status"]) == (placed["tenantId"], "VALIDATED")
    bearer = {"Authorization": f"Bearer {proved['token']}"}
    assert refused(api.get("/me", headers=bearer)) == (403, "TENANT_ONLY")
    registered = given(api.post("/registration", headers=bearer))
    assert registered["status"] == "REGISTERED"
    bearer = {"Authorization": f"Bearer {registered['token']}"}
    assert given(api.get("/me", headers=bearer))["email"] == KNOWN
    orders = given(api.get("/me/orders", headers=bearer))["items"]
    assert [order["orderId"] for order in orders] == [placed["orderId"]]
    # Proving the address once more is how a registered tenant signs in again.
    at.clock.move(timedelta(seconds=1))
    given(api.post("/verification", {"email": KNOWN}), 202)
    again = {"email": KNOWN, "code": at.secret_in_mail(KNOWN)[0]}
    assert given(api.post("/verification/confirm", again))["status"] == "REGISTERED"


def test_registration_needs_a_proved_address(at: Place, api: Api) -> None:
    tenant = at.tenant()
    assert refused(api.post("/registration")) == (401, "LOGIN_REQUIRED")
    assert refused(api.post("/registration", by="support")) == (403, "NOT_VERIFIED")
    answer = api.post("/registration", by=f"verified:{tenant.id}")
    assert refused(answer) == (422, "INVALID_TRANSITION")


# --- self-service ---


def _me(at: Place) -> Tenant:
    return at.tenant(status="REGISTERED")


def test_cp_x10_a_tenant_changes_its_profile_and_nothing_else(at: Place, api: Api) -> None:
    me = _me(at)
    answer = api.put("/me", {"organizationName": "Acme"}, by=me.id)
    assert given(answer)["organizationName"] == "Acme"
    assert answer.headers["ETag"] == '"4"'
    for field, value in (("email", "x@example.com"), ("status", "REGISTERED"), ("id", "x"), ("version", 9)):
        refusal = api.put("/me", {field: value}, by=me.id)
        assert refused(refusal) == (422, "IMMUTABLE_FIELD")
        assert refusal.json()["field"] == field
    assert refused(api.put("/me", {"active": False}, by=me.id)) == (422, "INVALID_FIELD")
    stale = api.put("/me", {"organizationName": "B"}, by=me.id, headers={"If-Match": '"3"'})
    assert refused(stale) == (412, "STALE")


def test_cp_x10_a_new_destination_counts_once_its_owner_has_confirmed_it(at: Place, api: Api) -> None:
    me = _me(at)
    new = "forms@elsewhere.example"
    pending = given(api.post("/me/destination", {"email": new}, by=me.id), 202)
    assert (pending["destinationEmail"], pending["pendingDestinationEmail"]) == (KNOWN, new)
    code, _ = at.secret_in_mail(new)
    other = at.tenant("other@example.com", "REGISTERED")
    body = {"email": new, "code": code}
    assert refused(api.post("/me/destination/confirm", body, by=other.id)) == (422, "CODE_INVALID")
    assert refused(api.post("/verification/confirm", body)) == (422, "CODE_INVALID")
    done = given(api.post("/me/destination/confirm", body, by=me.id))
    assert done["destinationEmail"] == new
    assert "pendingDestinationEmail" not in done


def test_cp_x10_the_code_of_a_destination_that_was_replaced_is_void(at: Place) -> None:
    me = _me(at)
    actor = Actor(KNOWN, "tenant", me.id)
    me = at.portal.verification.start_destination(me, "one@example.com", actor)
    code, _ = at.secret_in_mail("one@example.com")
    at.portal.verification.start_destination(me, "two@example.com", actor)
    with refuses("CODE_INVALID"):
        at.portal.verification.confirm("one@example.com", code, "destination", me.id)


def test_cp_x10_a_tenant_sees_its_own_orders_and_no_others(at: Place, api: Api) -> None:
    product = at.product()
    mine, theirs = at.own_order(product, at.tenant()), at.order(product, "other@example.com")
    assert given(api.get(f"/orders/{mine.order_id}", by=mine.tenant_id))["orderId"] == mine.order_id
    assert refused(api.get(f"/orders/{theirs.order_id}", by=mine.tenant_id)) == (404, "ORDER_NOT_FOUND")
    assert refused(api.post(f"/orders/{theirs.order_id}:cancel", by=mine.tenant_id)) == (
        404,
        "ORDER_NOT_FOUND",
    )
    assert refused(api.get("/orders/ord_nothing-at-all", by=mine.tenant_id)) == (404, "ORDER_NOT_FOUND")
    page = given(api.get("/me/orders", by=mine.tenant_id))
    assert [order["orderId"] for order in page["items"]] == [mine.order_id]
    assert given(api.post(f"/orders/{mine.order_id}:cancel", by=mine.tenant_id))["orderStatus"] == "CANCELLED"


def test_a_login_that_outlived_its_account_opens_nothing(at: Place, api: Api) -> None:
    me = _me(at)
    at.portal.tenants.move(me.id, "SUSPENDED", ADMIN, reason="why")
    assert refused(api.put("/me", {"organizationName": "A"}, by=me.id)) == (403, "TENANT_SUSPENDED")
    answer = api.post("/me/destination", {"email": "x@example.com"}, by=me.id)
    assert refused(answer) == (403, "TENANT_SUSPENDED")
    assert given(api.get("/me", by=me.id))["status"] == "SUSPENDED"
    at.portal.tenants.change(me.id, {"active": False}, ADMIN)
    for response in (
        api.get("/me", by=me.id),
        api.put("/me", {"organizationName": "A"}, by=me.id),
        api.post("/me/destination", {"email": "x@example.com"}, by=me.id),
    ):
        assert refused(response) == (403, "TENANT_CLOSED")
