"""Signing up and in, the logins of one account, devices and sessions; an address is nowhere in the clear (S5, S6)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import JsonValue
from tests.client.ways import WAYS
from tests.systems.talk import at_once
from tests.systems.travel.people import MAIL, PHONE, TABLET, Home

from tablewright.edge import Issuer, Problem, make_app, serving_app
from tablewright.edge.errors import CallerError, Conflict
from tablewright.kit.codes import CODES_A_WINDOW, LIFETIME, TRIES, WINDOW, WRONG_A_DAY
from tablewright.kit.delivery import DeliveryDelayed, OutgoingMessage, State
from tablewright.kit.keyring import KeyDirectory, KeyRing, SecretUnusable, keyring_of
from tablewright.kit.sealed_text import SealBroken
from tablewright.systems.travel import design as d
from tablewright.systems.travel import jobs
from tablewright.systems.travel.account import devices
from tablewright.systems.travel.account.accounts import OpenedWithoutLogins, Proved, SignedIn
from tablewright.systems.travel.account.addresses import email_address
from tablewright.systems.travel.account.apple import (
    AppleSettingsUnusable,
    AppleVerifier,
    DevelopmentApple,
    apple_in,
    apple_of,
)
from tablewright.systems.travel.account.devices import Gadget
from tablewright.systems.travel.account.sessions import FORMER_WORKS
from tablewright.systems.travel.sync.operations import Edit
from tablewright.systems.travel.travel import open_travel
from tablewright.testing import Clock

STATES: tuple[State, ...] = get_args(State)


@contextmanager
def refuses(code: str) -> Iterator[None]:
    with pytest.raises(CallerError) as mistake:
        yield
    assert mistake.value.code == code, mistake.value.message


@contextmanager
def unbelieved(code: str) -> Iterator[None]:
    with pytest.raises(Problem) as problem:
        yield
    assert problem.value.code == code


# --- first logins ---


@pytest.mark.parametrize("way", WAYS)
def test_sk_s5_a_thousand_first_logins_with_one_apple_id_make_one_traveller(home: Home, way: str) -> None:
    count = 1000 if way == "embedded" else 100  # the wire is slower, and the rule the same
    gadgets = [Gadget(f"device-{n % (count // 25)}") for n in range(count)]
    outcomes = at_once([lambda each=each: home.by_apple("001.same", each) for each in gadgets])  # type: ignore[misc]  # binds the loop's value
    assert {type(outcome) for outcome in outcomes} == {SignedIn}, [
        o for o in outcomes if not isinstance(o, SignedIn)
    ]
    signed = [outcome for outcome in outcomes if isinstance(outcome, SignedIn)]
    assert len({each.profile.user_id for each in signed}) == 1
    assert sum(each.is_new for each in signed) == 1
    kinds = [item["item_type"]["S"] for item in home.items()]
    assert (kinds.count("profile"), kinds.count("identity"), kinds.count("sync_head")) == (1, 1, 1)


def test_sk_s6_an_address_stands_in_the_clear_in_its_profile_alone(home: Home) -> None:
    signed = home.by_mail("A@Example.com")
    assert signed.profile.email == "a@example.com"
    assert home.travel.accounts.owner_of_email("a@example.com") == signed.profile.user_id
    assert home.travel.accounts.owner_of_email(" A@EXAMPLE.com ") == signed.profile.user_id
    told = [item for item in home.items() if "example.com" in repr(item).lower()]
    assert [item["SK"]["S"] for item in told] == ["PROFILE"]
    keys = [
        item[name]["S"]
        for item in home.items()
        for name in ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK")
        if name in item
    ]
    assert not [key for key in keys if "@" in key]
    hashed = home.db.first(d.profiles_by_email(email_hmac=signed.profile.email_hmac or ""))
    assert hashed is not None
    assert hashed.user_id == signed.profile.user_id


def test_apple_and_the_same_address_are_one_traveller_whichever_comes_first(home: Home) -> None:
    apple = home.by_apple("001.ada", email=MAIL)
    mail = home.by_mail(MAIL, TABLET)
    assert mail.profile.user_id == apple.profile.user_id
    other = home.by_mail("ben@example.com")
    linked = home.by_apple("002.ben", email="ben@example.com")
    assert linked.profile.user_id == other.profile.user_id
    assert {login.provider for login in linked.profile.logins} == {"apple", "email"}
    assert home.by_apple("002.ben").profile.user_id == other.profile.user_id


def test_a_second_way_in_leads_to_the_same_account_and_the_last_one_stays(home: Home) -> None:
    ada = home.by_mail().profile
    accounts = home.travel.accounts
    accounts.link(ada.user_id, Proved("apple", "001.ada"), ada.user_id)
    assert home.by_apple("001.ada").profile.user_id == ada.user_id
    kept = accounts.unlink(ada.user_id, "email", ada.user_id)
    assert (kept.email, kept.email_hmac, kept.auth_provider) == (None, None, "apple")
    assert accounts.owner_of_email(MAIL) is None
    with refuses("LAST_LOGIN"):
        accounts.unlink(ada.user_id, "apple", ada.user_id)
    with refuses("LOGIN_NOT_FOUND"):
        accounts.unlink(ada.user_id, "email", ada.user_id)
    assert home.by_mail(MAIL, TABLET).is_new


def test_a_login_of_somebody_else_cannot_be_linked(home: Home) -> None:
    ada, ben = home.by_mail().profile, home.by_apple("002.ben").profile
    with refuses("LOGIN_TAKEN"):
        home.travel.accounts.link(ada.user_id, Proved("apple", "002.ben"), ada.user_id)
    with refuses("LOGIN_TAKEN"):
        home.travel.accounts.link(ben.user_id, Proved("email", email=MAIL), ben.user_id)


def test_another_address_takes_the_place_of_the_one_before(home: Home) -> None:
    ada = home.by_mail().profile
    changed = home.travel.accounts.link(ada.user_id, Proved("email", email="new@example.com"), ada.user_id)
    assert changed.email == "new@example.com"
    assert home.travel.accounts.owner_of_email(MAIL) is None
    assert home.by_mail("new@example.com", TABLET).profile.user_id == ada.user_id


def test_skratch_without_tokens_says_what_is_missing(home: Home) -> None:
    bare = open_travel(home.db, home.clock.world())
    with pytest.raises(OpenedWithoutLogins):
        bare.accounts.sign_in(Proved("apple", "001"), PHONE)


# --- codes ---


def test_a_device_that_an_earlier_version_knew_is_known(home: Home, clock: Clock) -> None:
    keyring = KeyRing("skratch", lambda: {1: b"k" * 32}, clock.world())
    travel = open_travel(home.db, clock.world(), keyring=keyring)
    token = "device-e93cd17978d6f7a150f8fd2d5f884afb.c522e7283809cab1579e21793888c9ac"
    assert travel.email_login.requesters.is_device(MAIL, token)


def test_a_code_works_once(home: Home) -> None:
    home.travel.email_login.start(MAIL)
    code = home.code()
    assert home.travel.email_login.prove(MAIL.upper(), f" {code} ") == MAIL
    with refuses("CODE_INVALID"):
        home.travel.email_login.prove(MAIL, code)


def test_of_many_who_use_one_code_at_once_one_is_let_in(home: Home) -> None:
    home.travel.email_login.start(MAIL)
    code = home.code()
    outcomes = at_once([lambda: home.travel.email_login.prove(MAIL, code)] * 5)
    assert outcomes.count(MAIL) == 1


def test_a_code_ends_after_a_quarter_of_an_hour(home: Home) -> None:
    home.travel.email_login.start(MAIL)
    code = home.code()
    home.clock.move(LIFETIME)
    with refuses("CODE_INVALID"):
        home.travel.email_login.prove(MAIL, code)


def test_after_five_wrong_codes_the_right_one_does_not_help(home: Home) -> None:
    home.travel.email_login.start(MAIL)
    code = home.code()
    wrong = f"{(int(code) + 1) % 1_000_000:06d}"
    for _ in range(TRIES):
        with refuses("CODE_INVALID"):
            home.travel.email_login.prove(MAIL, wrong)
    with refuses("CODE_TRIES"):
        home.travel.email_login.prove(MAIL, code)


def test_an_address_gets_five_codes_an_hour_and_only_the_newest_works(home: Home) -> None:
    for _ in range(CODES_A_WINDOW):
        home.clock.move(timedelta(milliseconds=1))
        home.travel.email_login.start(MAIL)
    codes = [letter.body for letter in home.letters()]
    assert len(codes) == CODES_A_WINDOW
    with refuses("CODE_LIMIT"):
        home.travel.email_login.start(MAIL)
    newest, first = home.code(), codes[0].split()[3].rstrip(".")
    if first != newest:
        with refuses("CODE_INVALID"):
            home.travel.email_login.prove(MAIL, first)
    home.travel.email_login.prove(MAIL, newest)
    with refuses("CODE_LIMIT"):  # used up or not, it was sent
        home.travel.email_login.start(MAIL)
    home.clock.move(WINDOW)
    home.travel.email_login.start(MAIL)


def test_who_guesses_for_a_day_meets_codes_that_nobody_guesses_and_the_owner_is_told(home: Home) -> None:
    for tries in range(WRONG_A_DAY):
        if tries % TRIES == 0:
            home.clock.move(WINDOW / CODES_A_WINDOW)
            home.travel.email_login.start(MAIL)
        with refuses("CODE_INVALID"):
            home.travel.email_login.prove(MAIL, "12345x")
    home.clock.move(WINDOW / CODES_A_WINDOW)
    home.travel.email_login.start(MAIL)
    letter = home.letters()[-1]
    assert f"{WRONG_A_DAY} wrong codes were typed" in letter.body
    code = letter.subject.split()[-1]
    assert len(code) == 12
    home.travel.email_login.prove(MAIL, code)


@pytest.mark.parametrize(
    "wrong", ["", "ada", "@example.com", "ada@", "ada@example", "a b@example.com", "a@b@example.com", ".a@example.com",
              "a..b@example.com", "ada@-example.com", f"{'a' * 65}@example.com", f"ada@{'a.' * 130}com"],
)  # fmt: skip
def test_what_is_no_address_is_refused(wrong: str) -> None:
    with refuses("INVALID_EMAIL"):
        email_address(wrong)


@pytest.mark.parametrize(
    ("one", "other"),
    [("A@Example.com", " a@example.COM "), ("ada@bücher.example", "ADA@xn--bcher-kva.example")],
)
def test_spellings_of_one_address_are_one(one: str, other: str) -> None:
    assert email_address(one) == email_address(other)


# --- Apple ---


@pytest.fixture
def nonce(home: Home) -> str:
    return home.travel.nonces.give()


def test_an_id_token_proves_who_it_is(home: Home, nonce: str) -> None:
    found = home.apple.verify(home.apple.id_token("001.ada", nonce, MAIL), nonce)
    assert (found.subject, found.email) == ("001.ada", MAIL)


def test_a_token_for_another_sign_in_is_not_believed(home: Home, nonce: str) -> None:
    token = home.apple.id_token("001.ada", home.travel.nonces.give())
    with refuses("NONCE_MISMATCH"):
        home.apple.verify(token, nonce)


def test_a_token_ends(home: Home, nonce: str) -> None:
    token = home.apple.id_token("001.ada", nonce)
    home.clock.move(timedelta(minutes=11))
    with unbelieved("TOKEN_EXPIRED"):
        home.apple.verify(token, nonce)


def test_a_token_for_another_app_or_of_another_issuer_is_not_believed(
    home: Home, nonce: str, tmp_path: Path
) -> None:
    world = home.clock.world()
    other = Issuer(tmp_path / "other", "https://apple.example", world, algorithm="RS256")
    with unbelieved("TOKEN_INVALID"):  # the same name, another key
        home.apple.verify(DevelopmentApple(other).id_token("001.ada", nonce), nonce)
    same = Issuer(tmp_path / "apple", "https://apple.example", world, algorithm="RS256")
    with unbelieved("TOKEN_FOREIGN"):
        home.apple.verify(DevelopmentApple(same, "app.other").id_token("001.ada", nonce), nonce)
    renamed = Issuer(tmp_path / "apple", "https://elsewhere.example", world, algorithm="RS256")
    with unbelieved("TOKEN_FOREIGN"):
        home.apple.verify(DevelopmentApple(renamed).id_token("001.ada", nonce), nonce)


def test_only_rs256_is_apples(home: Home, nonce: str, tmp_path: Path) -> None:
    other = Issuer(tmp_path / "eddsa", "https://apple.example", home.clock.world())
    with unbelieved("TOKEN_INVALID"):
        DevelopmentApple(other).verify(DevelopmentApple(other).id_token("001.ada", nonce), nonce)


def test_apples_keys_are_fetched_and_a_new_one_is_found_when_it_is_needed(home: Home, tmp_path: Path) -> None:
    world = home.clock.world()
    issuer = Issuer(tmp_path / "served", "https://apple.example", world, algorithm="RS256")
    app = make_app("apple", world, verifier=issuer.verifier(["x"]), routers=[issuer.router()])
    with serving_app(app) as url:
        far = apple_of(
            ["app.one"], world, issuer="https://apple.example", keys_url=f"{url}/.well-known/jwks.json"
        )
        near = DevelopmentApple(issuer, "app.one")
        assert _subject(far, near, home) == "001.ada"
        issuer.rotate()
        home.clock.move(timedelta(seconds=11))  # not asked for more often
        assert _subject(far, near, home) == "001.ada"


def test_apple_is_set_up_by_a_file_and_a_wrong_one_says_what_is_missing(tmp_path: Path, clock: Clock) -> None:
    assert apple_in(tmp_path, clock.world()) is None
    (tmp_path / "apple.json").write_text('{"apps": ["com.example.skratch"]}')
    assert isinstance(apple_in(tmp_path, clock.world()), AppleVerifier)
    for wrong in (
        "",
        "[]",
        "{}",
        '{"apps": []}',
        '{"apps": "x"}',
        '{"apps": ["x"], "keys_url": "http://far.example"}',
    ):
        (tmp_path / "apple.json").write_text(wrong)
        with pytest.raises(AppleSettingsUnusable):
            apple_in(tmp_path, clock.world())


def _subject(far: AppleVerifier, near: DevelopmentApple, home: Home) -> str:
    nonce = home.travel.nonces.give()
    return far.verify(near.id_token("001.ada", nonce), nonce).subject


def test_a_nonce_is_spent_on_one_device(home: Home, nonce: str) -> None:
    home.travel.nonces.spend(nonce, "phone")
    home.travel.nonces.spend(nonce, "phone")  # the answer was lost
    with refuses("NONCE_USED"):
        home.travel.nonces.spend(nonce, "stolen")
    with refuses("NONCE_INVALID"):
        home.travel.nonces.spend(nonce + "0", "phone")
    with refuses("NONCE_INVALID"):
        home.travel.nonces.spend("", "phone")
    home.clock.move(timedelta(minutes=10))
    with refuses("NONCE_INVALID"):
        home.travel.nonces.spend(nonce, "phone")


# --- sessions and devices ---


def test_a_session_gets_its_next_token_with_a_secret_that_is_used_up(home: Home) -> None:
    first = home.by_apple()
    second = home.travel.accounts.refresh(first.refresh_token)
    assert second.refresh_token != first.refresh_token
    assert second.profile.user_id == first.profile.user_id
    again = home.travel.accounts.refresh(first.refresh_token)  # the answer was lost
    home.travel.accounts.refresh(again.refresh_token)


def test_a_secret_that_was_used_up_long_ago_ends_the_session(home: Home) -> None:
    first = home.by_apple()
    second = home.travel.accounts.refresh(first.refresh_token)
    home.clock.move(FORMER_WORKS + timedelta(seconds=1))
    with refuses("SESSION_ENDED"):
        home.travel.accounts.refresh(first.refresh_token)
    with refuses("SESSION_ENDED"):
        home.travel.accounts.refresh(second.refresh_token)


def test_a_secret_of_several_steps_ago_ends_the_session_too(home: Home) -> None:
    first = home.by_apple()
    second = home.travel.accounts.refresh(first.refresh_token)
    third = home.travel.accounts.refresh(second.refresh_token)
    with refuses("SESSION_ENDED"):  # one of the two who have had it is not the owner
        home.travel.accounts.refresh(first.refresh_token)
    with refuses("SESSION_ENDED"):
        home.travel.accounts.refresh(third.refresh_token)
    with refuses("SESSION_ENDED"):
        home.travel.sessions.session(first.profile.user_id, first.session.session_id)


def test_what_was_never_a_secret_of_the_session_does_not_end_it(home: Home) -> None:
    first = home.by_apple()
    made_up = f"{first.refresh_token.rpartition('.')[0]}.{'0' * 96}"
    with refuses("SESSION_ENDED"):
        home.travel.accounts.refresh(made_up)
    home.travel.accounts.refresh(first.refresh_token)


def test_a_session_from_before_secrets_had_something_in_common_goes_on(home: Home) -> None:
    first = home.by_apple()
    home.db.write(d.sessions.change(first.session, first.session.model_copy(update={"family_hash": None})))
    second = home.travel.accounts.refresh(first.refresh_token)
    third = home.travel.accounts.refresh(second.refresh_token)
    home.travel.accounts.refresh(third.refresh_token)
    with refuses("SESSION_ENDED"):
        home.travel.accounts.refresh(second.refresh_token[:-1])
    with refuses("SESSION_ENDED"):
        home.travel.sessions.session(first.profile.user_id, first.session.session_id)


@pytest.mark.parametrize("wrong", ["", "a.b", "a.b.c", "a.b.c.d", "..", "x" * 400])
def test_what_is_no_secret_of_a_session_is_refused(home: Home, wrong: str) -> None:
    with refuses("SESSION_ENDED"):
        home.travel.accounts.refresh(wrong)


def test_a_session_lasts_90_days_after_it_was_last_seen(home: Home) -> None:
    signed = home.by_apple()
    user_id, id = signed.profile.user_id, signed.session.session_id
    home.clock.move(timedelta(days=89))
    assert home.travel.sessions.session(user_id, id).session_id == id
    home.clock.move(timedelta(days=89))
    home.travel.sessions.session(user_id, id)
    home.clock.move(timedelta(days=90, seconds=1))
    with refuses("SESSION_ENDED"):
        home.travel.sessions.session(user_id, id)


def test_a_device_that_was_signed_out_cannot_go_on(home: Home) -> None:
    phone, tablet = home.by_apple(), home.by_apple(gadget=TABLET)
    user_id, devices, sessions = phone.profile.user_id, home.travel.devices, home.travel.sessions
    devices.revoke(user_id, "tablet", user_id)
    with refuses("SESSION_ENDED"):
        sessions.session(user_id, tablet.session.session_id)
    with refuses("SESSION_ENDED"):
        home.travel.accounts.refresh(tablet.refresh_token)
    with refuses("DEVICE_REVOKED"):
        home.travel.sync.push(user_id, "tablet", [_mark(home)])
    with refuses("DEVICE_REVOKED"):  # a login from elsewhere does not bring it back
        devices.register(user_id, TABLET)
    assert [device.device_id for device in devices.of(user_id)] == ["phone"]
    back = home.by_apple(gadget=TABLET)
    assert home.travel.sync.push(user_id, "tablet", [_mark(home)]).server_version == 1
    assert sessions.session(user_id, back.session.session_id)


def test_a_device_is_out_even_if_we_die_before_its_sessions_were_ended(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = home.by_apple()
    user_id, devices, sessions = signed.profile.user_id, home.travel.devices, home.travel.sessions

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sessions, "end", dies)
        with pytest.raises(KeyboardInterrupt):
            devices.revoke(user_id, "phone", user_id)
    with refuses("SESSION_ENDED"):
        sessions.session(user_id, signed.session.session_id)
    with refuses("DEVICE_REVOKED"):
        sessions.begin(user_id, "phone")
    home.by_apple()
    with refuses("SESSION_ENDED"):  # who comes back does not bring the old login along
        sessions.session(user_id, signed.session.session_id)


def test_devices_that_come_at_once_stay_within_the_limit_and_have_names_of_their_own(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "DEVICES_AT_MOST", 6)
    user_id, known = home.by_apple().profile.user_id, home.travel.devices
    gadgets = [Gadget(f"d{n}", "Chrome on Linux") for n in range(8)]
    found = at_once([partial(known.register, user_id, gadget) for gadget in gadgets])
    assert [one.code for one in found if isinstance(one, Conflict)] == ["TOO_MANY_DEVICES"] * 3
    assert len({device.name for device in known.of(user_id)}) == len(known.of(user_id)) == 6


def test_a_device_that_comes_back_needs_room_as_well(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "DEVICES_AT_MOST", 2)
    user_id = home.by_apple().profile.user_id
    home.by_apple(gadget=TABLET)
    home.travel.devices.revoke(user_id, "tablet", user_id)
    home.by_apple(gadget=Gadget("other"))
    with refuses("TOO_MANY_DEVICES"):
        home.by_apple(gadget=TABLET)


def test_a_device_that_gives_itself_a_name_gets_one_that_no_other_has(home: Home) -> None:
    user_id = home.by_apple().profile.user_id
    home.by_apple(gadget=TABLET)
    home.by_apple(gadget=Gadget("tablet", PHONE.name))
    assert {device.name for device in home.travel.devices.of(user_id)} == {PHONE.name, f"{PHONE.name} 2"}


def test_signing_out_the_other_devices_leaves_this_one(home: Home) -> None:
    phone = home.by_apple()
    others = [home.by_apple(gadget=Gadget(f"other-{n}")) for n in range(3)]
    gone = home.travel.devices.revoke_others(phone.profile.user_id, "phone", phone.profile.user_id)
    assert {device.device_id for device in gone} == {"other-0", "other-1", "other-2"}
    assert home.travel.sessions.session(phone.profile.user_id, phone.session.session_id)
    for other in others:
        with refuses("SESSION_ENDED"):
            home.travel.sessions.session(other.profile.user_id, other.session.session_id)


@pytest.mark.parametrize("wrong", ["", "a#b", "server", "x" * 65, "é"])
def test_a_device_names_itself_so_that_it_can_stand_in_a_key(home: Home, wrong: str) -> None:
    with refuses("INVALID_ID"):
        home.by_apple(gadget=Gadget(wrong))


def _mark(home: Home) -> Edit:
    return Edit(
        operation_id=home.clock.world().new_id(),
        operation_type="create",
        region_type="country",
        region_code="FR",
        client_timestamp=home.clock.now(),
    )


# --- secrets ---


def test_a_traveller_is_found_after_the_secret_was_succeeded_and_moves_to_the_new_one(home: Home) -> None:
    ada = home.by_mail().profile
    old = ada.email_hmac
    home.secrets.rotate()
    assert home.travel.accounts.owner_of_email(MAIL) == ada.user_id
    moved = home.by_mail(MAIL, TABLET).profile
    assert moved.user_id == ada.user_id
    assert moved.email_hmac != old
    assert moved.auth_provider_id == moved.email_hmac
    assert old is not None
    left = [item["item_type"]["S"] for item in home.items() if old in repr(item)]
    assert left == []
    home.secrets.drop(1)
    assert home.by_mail().profile.user_id == ada.user_id


def test_a_round_of_the_job_moves_everybody_to_the_new_secret(home: Home) -> None:
    people = [home.by_mail(f"p{n}@example.com").profile.user_id for n in range(3)]
    home.by_apple("001.no-address")
    home.secrets.rotate()
    assert jobs.rekey(home.travel) == 4
    home.secrets.drop(1)
    assert [home.travel.accounts.owner_of_email(f"p{n}@example.com") for n in range(3)] == people


def test_a_code_that_was_sent_before_the_secret_was_succeeded_still_works(home: Home) -> None:
    home.travel.email_login.start(MAIL)
    code = home.code()
    home.secrets.rotate()
    assert home.travel.email_login.prove(MAIL, code) == MAIL


def test_a_keyring_keeps_purposes_apart_and_opens_what_it_sealed(clock: Clock) -> None:
    ring = keyring_of("skratch", b"a" * 32, b"b" * 32, world=clock.world())
    assert ring.hmac("one", "x") != ring.hmac("other", "x")
    assert ring.hmacs("one", "x")[0] == ring.hmac("one", "x")
    assert ring.is_hmac("one", "x", ring.hmacs("one", "x")[1])
    sealed = ring.seal("mail", "ada@example.com")
    assert "ada" not in sealed
    assert ring.open("mail", sealed) == "ada@example.com"
    for purpose, broken in (
        ("other", sealed),
        ("mail", sealed[:-4] + "AAAA"),
        ("mail", "9-xx"),
        ("mail", ""),
    ):
        with pytest.raises(SealBroken):
            ring.open(purpose, broken)


def test_a_secret_that_others_can_read_is_not_used(tmp_path: Path, clock: Clock) -> None:
    KeyDirectory(tmp_path, clock.world())
    kept = next(tmp_path.glob("*.secret"))
    kept.chmod(0o644)
    with pytest.raises(SecretUnusable):
        KeyDirectory(tmp_path, clock.world())
    kept.chmod(0o600)
    kept.write_bytes(b"short")
    with pytest.raises(SecretUnusable):
        KeyDirectory(tmp_path, clock.world())


def test_two_processes_on_one_directory_have_one_secret(tmp_path: Path, clock: Clock) -> None:
    one, other = (KeyRing("skratch", KeyDirectory(tmp_path, clock.world()), clock.world()) for _ in range(2))
    assert one.hmac("x", "y") == other.hmac("x", "y")
    KeyDirectory(tmp_path, clock.world()).rotate()
    assert one.newest == other.newest == 2


# --- mail ---


def test_mail_that_was_sent_is_gone_and_its_address_stands_sealed_until_then(home: Home) -> None:
    home.travel.email_login.start(MAIL)
    (message,) = home.travel.dispatch.by_state("PENDING")
    assert MAIL not in message.recipient
    sent: list[OutgoingMessage] = []
    assert home.travel.dispatch.run(sent.append).sent == 1
    assert sent[0].recipient == MAIL
    assert home.travel.dispatch.run(sent.append).sent == 0
    assert [each for state in STATES for each in home.travel.dispatch.by_state(state)] == []


def test_mail_that_cannot_be_sent_yet_is_kept_with_how_often_it_was_tried(home: Home) -> None:
    home.travel.email_login.start(MAIL)

    def delayed(letter: OutgoingMessage) -> None:
        raise DeliveryDelayed("451")

    assert home.travel.dispatch.run(delayed).delayed == 1
    (message,) = home.travel.dispatch.by_state("PENDING")
    assert (message.attempts, message.tried_at, message.error) == (1, home.clock.now(), "451")


# --- children ---


def test_a_childs_map_is_private_and_stays_it(home: Home) -> None:
    ada = home.by_apple().profile.user_id
    home.travel.sync.change_user(ada, {"privacy_settings": {"share_visits": True, "profile_public": True}})
    after = home.travel.accounts.set_minor(ada, True, ada, "user")
    assert after.is_minor
    assert not after.privacy_settings.share_visits
    refused = home.travel.sync.change_user(ada, {"privacy_settings": {"share_visits": True}})
    assert refused.error == "MINOR_STAYS_PRIVATE"
    with refuses("MINOR_STAYS_PRIVATE"):
        home.travel.accounts.set_minor(ada, False, ada, "user")
    assert not home.travel.accounts.set_minor(ada, False, "admin_ines", "admin").is_minor


PUBLIC: dict[str, JsonValue] = {"privacy_settings": {"share_visits": True, "profile_public": True}}


def test_a_push_that_read_before_somebody_was_a_child_does_not_make_the_map_public(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, sync = home.by_apple().profile.user_id, home.travel.sync
    draft = sync._draft

    def slow(*read: Any) -> Any:
        monkeypatch.setattr(sync, "_draft", draft)
        home.travel.accounts.set_minor(ada, True, "admin_ines", "admin")
        return draft(*read)

    monkeypatch.setattr(sync, "_draft", slow)
    assert sync.change_user(ada, PUBLIC).error == "MINOR_STAYS_PRIVATE"
    after = home.travel.repository.profile(ada)
    assert after.is_minor
    assert not after.privacy_settings.profile_public


def test_who_is_said_to_be_a_child_while_the_map_becomes_public_is_private_in_the_end(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, audit = home.by_apple().profile.user_id, home.travel.repository.audit

    def slow(*said: Any) -> Any:
        monkeypatch.setattr(home.travel.repository, "audit", audit)
        home.travel.sync.change_user(ada, PUBLIC)
        return audit(*said)

    monkeypatch.setattr(home.travel.repository, "audit", slow)
    home.travel.accounts.set_minor(ada, True, "admin_ines", "admin")
    after = home.travel.repository.profile(ada)
    assert after.is_minor
    assert not after.privacy_settings.share_visits


def test_a_childs_map_is_shown_to_nobody_whatever_its_settings_say(home: Home) -> None:
    ada = home.by_apple().profile.user_id
    home.travel.sync.change_user(ada, PUBLIC)
    before = home.travel.repository.profile(ada)
    home.db.write(d.profiles.change(before, before.model_copy(update={"is_minor": True})))
    with refuses("USER_NOT_FOUND"):
        home.travel.sharing.public_map("somebody", ada)
    home.travel.visits.mark(ada, "country", "FR")
    home.travel.regions.relist(ada)
    assert not home.travel.visits.one(ada, "country", "FR").is_listed
    home.travel.accounts.set_minor(ada, True, ada, "user")
    assert not home.travel.repository.profile(ada).privacy_settings.profile_public
