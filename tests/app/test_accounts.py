"""Accounts and codes by mail: who may sign in, what a guess costs, and what nobody learns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tablewright import testing
from tablewright.app import passwords
from tablewright.app.accounts import AccountExists, Accounts, NameUnfit, NoSuchAccount, NoSuchRole
from tablewright.app.code_login import CodeLogin
from tablewright.app.design import ACCOUNTS
from tablewright.app.design import house as own_design
from tablewright.client import Call, embedded
from tablewright.edge.addresses import NotAnAddress
from tablewright.edge.codes import CODES_A_WINDOW, DAY, LIVES, TRIES, WINDOW, WRONG_A_DAY
from tablewright.edge.dispatch import Letter
from tablewright.edge.mistakes import Mistake
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
        self.letters: list[Letter] = []

    def code(self, email: str = ADA, **options: bool) -> str:
        """Ask for a code, and read it in the mail."""
        self.login.start(email, **options)
        self.login.dispatch.run(self.letters.append)
        found = re.search(r"\d+$", self.letters[-1].subject)
        assert found is not None
        return found[0]

    def refusal(self, code: str, email: str = ADA, password: str = "", **options: bool) -> Mistake:
        with pytest.raises(Mistake) as caught:
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
    desk.clock.move(LIVES)
    assert desk.refusal(code).code == "CODE_INVALID"
    code = desk.code()
    desk.clock.move(LIVES - timedelta(seconds=1))
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
        except Mistake:
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
        except Mistake as mistake:
            return mistake.code
        return "sent"

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(attempt, range(8)))
    assert told.count("sent") == CODES_A_WINDOW
    with pytest.raises(Mistake, match="in 60 minutes") as caught:
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
        with pytest.raises(Mistake) as caught:
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
