"""Accounts and codes by mail: who may sign in, what a guess costs, and what nobody learns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tablewright import testing
from tablewright.app import passwords
from tablewright.app.accounts import (
    AccountChanged,
    AccountExists,
    Accounts,
    NameUnfit,
    NoSuchAccount,
    NoSuchRole,
)
from tablewright.app.code_login import CodeLogin
from tablewright.app.design import ACCOUNTS, Account, accounts
from tablewright.app.design import app_design as own_design
from tablewright.client import Call, embedded
from tablewright.edge.errors import CallerError, TooManyRequests
from tablewright.edge.mail_addresses import NotAnAddress
from tablewright.kit.code_requesters import CodeRequester, RequestOrigin
from tablewright.kit.codes import (
    ADDRESS_A_DAY,
    CODES_A_WINDOW,
    DAY,
    LIFETIME,
    SHORT_A_DAY,
    TRIES,
    WINDOW,
    WRONG_A_DAY,
)
from tablewright.kit.delivery import OutgoingMessage
from tablewright.mapping import Db
from tablewright.world import real_world

ADA = "ada@example.com"
PASSWORD = "correct horse battery"


class Desk:
    """Accounts, codes and a mailbox that takes every letter."""

    def __init__(self, call: Call, clock: testing.Clock) -> None:
        self.call, self.clock = call, clock
        db = Db(call, own_design, world=clock.world())
        db.create_tables()
        self.accounts = Accounts(db, clock.world())
        self.login = CodeLogin(self.accounts, clock.world(), b"a secret of this house, long enough")
        self.letters: list[OutgoingMessage] = []

    def code(self, email: str = ADA, **options: Any) -> str:
        """Ask for a code, and read it in the mail."""
        self.login.start(email, **options)
        self.login.dispatch.run(self.letters.append)
        found = re.search(r"\d+$", self.letters[-1].subject)
        assert found is not None
        return found[0]

    def refusal(self, code: str, email: str = ADA, password: str = "", **options: Any) -> CallerError:
        with pytest.raises(CallerError) as caught:
            self.login.finish(email, code, password, **options)
        return caught.value


@pytest.fixture
def desk() -> Iterator[Desk]:
    clock = testing.Clock()
    with testing.engine(world=clock.world()) as engine:
        yield Desk(embedded(engine), clock)


def other(code: str) -> str:
    return "000000" if code != "000000" else "111111"


# --- accounts ---


def test_an_address_has_one_account_however_it_is_spelled(desk: Desk) -> None:
    ada = desk.accounts.add(" Ada@Example.COM ", "Ada", ["parental.operator"])
    assert (ada.email, ada.name, ada.roles) == (ADA, "Ada", ["parental.operator"])
    assert "ada" not in ada.subject
    with pytest.raises(AccountExists):
        desk.accounts.add(ADA)
    assert [account.subject for account in desk.accounts.all()] == [ada.subject]


def test_what_is_no_account_is_refused(desk: Desk) -> None:
    with pytest.raises(NotAnAddress):
        desk.accounts.add("ada")
    with pytest.raises(NoSuchRole, match=r"parental\.operator"):
        desk.accounts.add(ADA, roles=["parental.operater"])
    with pytest.raises(NameUnfit):
        desk.accounts.add(ADA, "A\nda")
    with pytest.raises(NoSuchAccount):
        desk.accounts.close(ADA)
    assert desk.accounts.all() == []


@pytest.mark.parametrize("races", [4, 5])
def test_logins_end_though_others_change_the_account_at_the_same_moment(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, races: int
) -> None:
    made = desk.accounts.add(ADA)
    known, left = desk.accounts.with_address, [*range(races)]

    def changed_after(email: str) -> Account | None:
        found = known(email)
        if found is not None and left:
            other = found.model_copy(update={"name": f"Ada {left.pop()}"})
            desk.accounts.db.write(accounts.change(found, other))
        return found

    monkeypatch.setattr(desk.accounts, "with_address", changed_after)
    if races < 5:
        assert desk.accounts.end_logins(ADA).epoch == made.epoch + 1
    else:
        with pytest.raises(AccountChanged):
            desk.accounts.end_logins(ADA)


def test_a_password_is_known_by_what_is_kept_of_it_and_cannot_be_read_there() -> None:
    world = real_world()
    first, second = passwords.kept("Grüße an alle!", world), passwords.kept("Grüße an alle!", world)
    assert first != second, "each has a salt of its own"
    assert "alle" not in first
    assert passwords.is_password("Gru\u0308\u00dfe an alle!", first), "however a keyboard spells it"
    assert not passwords.is_password("Grüße an alle?", first)
    assert not passwords.is_password("x" * 100_000, first)
    assert passwords.is_password("e\u0301" * 200, passwords.kept("\u00e9" * 200, world)), "and however long"
    for unfit in ("short", "x" * 257):
        with pytest.raises(passwords.PasswordUnfit):
            passwords.kept(unfit, world)


def test_a_password_costs_32_megabytes_and_three_rounds(log_n: int) -> None:
    assert (log_n, passwords._R, passwords._P) == (15, 8, 3)


def test_an_account_that_is_erased_leaves_nothing_of_whose_it_was(desk: Desk) -> None:
    first = desk.accounts.add(ADA, "Ada Lovelace", ["travel.admin"])
    code = desk.code()
    desk.accounts.erase(ADA)
    assert desk.accounts.of(first.subject) is None
    assert "ovelace" not in str(desk.call("Scan", {"TableName": ACCOUNTS})["Items"])
    assert ADA not in str(desk.call("Scan", {"TableName": ACCOUNTS})["Items"])
    assert desk.refusal(code).code == "CODE_INVALID"
    assert desk.accounts.add(ADA).subject != first.subject
    with pytest.raises(NoSuchAccount):
        desk.accounts.erase("bob@example.com")


# --- codes ---


def test_a_code_signs_in_once(desk: Desk) -> None:
    ada = desk.accounts.add(ADA)
    code = desk.code()
    signed = desk.login.finish("ADA@example.com ", f" {code} ")
    assert (signed.account.subject, signed.methods) == (ada.subject, ("otp",))
    assert desk.refusal(code).code == "CODE_INVALID"


def test_only_the_last_code_works_and_only_for_its_address(desk: Desk) -> None:
    desk.accounts.add(ADA)
    desk.accounts.add("bob@example.com")
    first = desk.code()
    bobs = desk.code("bob@example.com")
    second = desk.code()
    if first != second:
        assert desk.refusal(first).code == "CODE_INVALID"
    if bobs != second:
        assert desk.refusal(bobs).code == "CODE_INVALID"
    assert desk.login.finish(ADA, second).account.email == ADA


def test_a_code_works_for_a_quarter_of_an_hour(desk: Desk) -> None:
    desk.accounts.add(ADA)
    code = desk.code()
    desk.clock.move(LIFETIME)
    assert desk.refusal(code).code == "CODE_INVALID"
    code = desk.code()
    desk.clock.move(LIFETIME - timedelta(seconds=1))
    desk.login.finish(ADA, code)


def test_of_many_guesses_at_once_no_more_than_five_are_looked_at(desk: Desk) -> None:
    desk.accounts.add(ADA)
    code = desk.code()
    with ThreadPoolExecutor(8) as pool:
        refusals = list(pool.map(lambda _: desk.refusal(other(code)).code, range(16)))
    assert refusals.count("CODE_INVALID") == TRIES
    assert refusals.count("CODE_TRIES") == 16 - TRIES
    assert desk.refusal(code).code == "CODE_TRIES", "the right one comes too late"
    desk.login.finish(ADA, desk.code())


def test_of_many_who_have_the_code_one_is_signed_in(desk: Desk) -> None:
    code = desk.code(is_open=True)

    def attempt(_: int) -> str | None:
        try:
            return desk.login.finish(ADA, code, is_open=True).account.subject
        except CallerError:
            return None

    with ThreadPoolExecutor(4) as pool:
        subjects = [found for found in pool.map(attempt, range(4)) if found is not None]
    assert len(subjects) == 1
    assert [account.subject for account in desk.accounts.all()] == subjects, "and one account was made"


def test_an_address_gets_five_codes_an_hour_and_is_told_when_the_next_comes(desk: Desk) -> None:
    desk.accounts.add(ADA)

    def attempt(_: int) -> str:
        try:
            desk.login.start(ADA)
        except CallerError as mistake:
            return mistake.code
        return "sent"

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(attempt, range(8)))
    assert told.count("sent") == CODES_A_WINDOW
    with pytest.raises(CallerError, match="in 60 minutes") as caught:
        desk.login.start(ADA)
    assert caught.value.code == "CODE_LIMIT"
    desk.clock.move(WINDOW)
    desk.login.finish(ADA, desk.code())


def test_who_guesses_for_a_day_meets_codes_that_nobody_guesses_and_the_owner_is_told(desk: Desk) -> None:
    desk.accounts.add(ADA)
    for tries in range(WRONG_A_DAY):
        if tries % TRIES == 0:
            desk.clock.move(WINDOW / CODES_A_WINDOW)
            code = desk.code()
            assert len(code) == 6
            assert "wrong" not in desk.letters[-1].body
        assert desk.refusal(other(code)).code == "CODE_INVALID"
    desk.clock.move(WINDOW / CODES_A_WINDOW)
    code = desk.code()
    assert len(code) == 12
    assert f"{WRONG_A_DAY} wrong codes were typed for this address" in desk.letters[-1].body
    desk.login.finish(ADA, code)  # its owner is not locked out by them
    desk.clock.move(DAY)
    assert len(desk.code()) == 6


def test_who_types_the_right_code_is_no_guesser(desk: Desk) -> None:
    desk.accounts.add(ADA)
    for _ in range(WRONG_A_DAY + 1):
        desk.clock.move(WINDOW / CODES_A_WINDOW)
        code = desk.code()
        assert len(code) == 6
        desk.login.finish(ADA, code)


def test_an_account_with_a_password_needs_both_and_says_neither_which_was_wrong(desk: Desk) -> None:
    desk.accounts.add(ADA, roles=["portal.admin"])
    desk.accounts.set_password(ADA, PASSWORD)
    code = desk.code()
    told = {
        str(desk.refusal(code)),
        str(desk.refusal(code, password="wrong")),
        str(desk.refusal(other(code))),
    }
    assert len(told) == 1
    signed = desk.login.finish(ADA, code, PASSWORD)
    assert signed.methods == ("pwd", "otp", "mfa")
    assert desk.refusal(code, password=PASSWORD).code == "CODE_INVALID", "used up"


def test_who_has_no_account_is_told_and_counted_as_everybody_and_gets_no_letter(desk: Desk) -> None:
    desk.accounts.add("bob@example.com")
    desk.accounts.close("bob@example.com")
    desk.accounts.add("eve@example.com")
    answers: dict[str, list[str]] = {}
    for email in (ADA, "bob@example.com", "eve@example.com"):
        said = answers.setdefault(email, [])
        for _ in range(CODES_A_WINDOW):
            desk.login.start(email)
        with pytest.raises(CallerError) as caught:
            desk.login.start(email)
        said.append(str(caught.value))
        said += [str(desk.refusal("12345x", email)) for _ in range(TRIES + 1)]
    assert answers[ADA] == answers["bob@example.com"] == answers["eve@example.com"]
    desk.login.dispatch.run(desk.letters.append)
    assert {letter.recipient for letter in desk.letters} == {"eve@example.com"}


def test_a_closed_account_is_not_signed_in_to_even_with_a_code_from_before(desk: Desk) -> None:
    ada = desk.accounts.add(ADA)
    code = desk.code()
    desk.accounts.close(ADA)
    assert desk.refusal(code).code == "CODE_INVALID"
    assert desk.refusal(code, is_open=True).code == "CODE_INVALID", "nor does it make a second account"
    desk.accounts.change(ADA, reopened=True)
    assert desk.login.finish(ADA, desk.code()).account.subject == ada.subject


def test_a_code_of_a_time_of_open_sign_up_makes_no_account_after_it(desk: Desk) -> None:
    code = desk.code(is_open=True)
    assert desk.refusal(code).code == "CODE_INVALID"
    assert desk.accounts.all() == []
    made = desk.login.finish(ADA, code, is_open=True).account
    assert (made.email, made.roles) == (ADA, [])


def test_no_code_and_no_unknown_address_stands_in_the_store(desk: Desk) -> None:
    desk.accounts.add("eve@example.com")
    code = desk.code("eve@example.com")
    desk.login.start("nobody@example.com")
    stored = desk.call("Scan", {"TableName": ACCOUNTS})["Items"]
    assert "nobody" not in str(stored)
    assert [item for item in stored if "code_hash" in item or "codeHash" in item], (
        "there are challenges to see"
    )
    texts = [value["S"] for item in stored for value in item.values() if "S" in value]
    assert not [text for text in texts if re.search(rf"\b{code}\b", text)]


# --- who asks ---


STRANGER, OWNER = RequestOrigin("198.51.100.7"), RequestOrigin("192.0.2.1")


def test_a_network_uses_up_its_own_codes_and_not_those_of_the_address(desk: Desk) -> None:
    ada = desk.accounts.add(ADA)
    for _ in range(CODES_A_WINDOW):
        desk.code(caller=STRANGER)
        for _ in range(TRIES):
            assert desk.refusal("12345x", caller=STRANGER).code == "CODE_INVALID"
    with pytest.raises(TooManyRequests):
        desk.login.start(ADA, STRANGER)
    signed = desk.login.finish(ADA, desk.code(caller=OWNER), caller=OWNER)
    assert signed.account.subject == ada.subject


def test_the_wrong_tries_and_new_codes_of_others_leave_my_code_as_it_is(desk: Desk) -> None:
    desk.accounts.add(ADA)
    code = desk.code(caller=OWNER)
    desk.code(caller=STRANGER)
    for _ in range(TRIES):
        desk.refusal("12345x", caller=STRANGER)
    assert desk.refusal("12345x", caller=STRANGER).code == "CODE_TRIES"
    assert desk.refusal(code, caller=STRANGER).code == "CODE_TRIES", "a code is its asker's alone"
    assert desk.login.finish(ADA, code, caller=OWNER)


def test_a_code_is_typed_from_another_network_with_the_ticket_of_its_form(desk: Desk) -> None:
    desk.accounts.add(ADA)
    ticket = desk.login.start(ADA, OWNER)
    desk.login.dispatch.run(desk.letters.append)
    code, moved = desk.letters[-1].subject.split()[-1], RequestOrigin("203.0.113.9")
    assert desk.refusal(code, caller=moved).code == "CODE_INVALID"
    other = desk.login.start("other@example.com", OWNER)
    assert desk.refusal(code, caller=replace(moved, ticket=other)).code == "CODE_INVALID"
    assert desk.login.finish(ADA, code, caller=replace(moved, ticket=ticket))


def spend(desk: Desk) -> None:
    """Many networks ask for codes to an address until it gets no more today."""
    for number in range(ADDRESS_A_DAY):
        desk.login.start(ADA, RequestOrigin(f"198.51.100.{number}"))
    desk.clock.move(timedelta(seconds=1))  # so that the newest letter is the newest


def test_many_networks_send_an_address_so_many_codes_a_day_and_no_more(desk: Desk) -> None:
    desk.accounts.add(ADA)
    spend(desk)
    for number in range(5):
        with pytest.raises(TooManyRequests, match="password"):
            desk.login.start(ADA, RequestOrigin(f"203.0.113.{number}"))
    while desk.login.dispatch.run(desk.letters.append).sent:
        pass
    assert len(desk.letters) == ADDRESS_A_DAY
    lengths = [len(letter.subject.split()[-1]) for letter in desk.letters]
    assert sorted(lengths) == [6] * SHORT_A_DAY + [12] * (ADDRESS_A_DAY - SHORT_A_DAY)
    desk.clock.move(timedelta(days=1))
    assert desk.login.finish(ADA, desk.code(caller=OWNER), caller=OWNER)


def test_a_known_device_signs_in_whatever_strangers_do(desk: Desk) -> None:
    desk.accounts.add(ADA)
    device = RequestOrigin("198.51.100.1", (desk.login.requesters.device(ADA),))
    spend(desk)
    code = desk.code(caller=device)
    assert len(code) == 6
    for number in range(TRIES):
        desk.refusal("12345x", caller=RequestOrigin(f"198.51.100.{number}"))
    assert desk.login.finish(ADA, code, caller=device)


@pytest.mark.parametrize("token", ["device-0.0", "", ".", "device-00000000000000000000000000000000"])
def test_a_device_that_was_made_up_is_not_known(desk: Desk, token: str) -> None:
    desk.accounts.add(ADA)
    spend(desk)
    tokens = (
        token,
        desk.login.requesters.device("other@example.com"),
        desk.login.requesters.ticket(ADA, CodeRequester("x")),
    )
    with pytest.raises(TooManyRequests):
        desk.login.start(ADA, RequestOrigin("203.0.113.1", tokens))


def test_a_password_gets_a_code_when_strangers_used_up_those_of_the_address(desk: Desk) -> None:
    ada = desk.accounts.add(ADA)
    desk.accounts.set_password(ADA, PASSWORD)
    spend(desk)
    while desk.login.dispatch.run(desk.letters.append).sent:
        pass
    sent = len(desk.letters)
    # What is answered does not say whether the password is right.
    desk.login.start(ADA, RequestOrigin("203.0.113.1"), password="not the one, but long")
    desk.login.dispatch.run(desk.letters.append)
    assert len(desk.letters) == sent
    code = desk.code(caller=OWNER, password=PASSWORD)
    assert desk.login.finish(ADA, code, PASSWORD, OWNER).account.subject == ada.subject
