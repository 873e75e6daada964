"""One-time codes: five tries, one use, counted before they are checked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from tests.kit.shop import Challenge, Thing, phone_codes, things

from tablewright.edge.errors import CallerError, Refused, TooManyRequests
from tablewright.kit.codes import LIFETIME, TRIES, CodeChecks
from tablewright.kit.tables import Tables
from tablewright.testing import Clock

PHONE = "+49 30 1"


@pytest.fixture
def checks(tables: Tables) -> CodeChecks[Challenge]:
    return CodeChecks(phone_codes, tables, "That code is wrong.")


def send(tables: Tables, code_hash: str = "a hash") -> None:
    challenge = Challenge(phone=PHONE, code_hash=code_hash, expires_at=tables.now() + LIFETIME)
    tables.db.write(phone_codes.challenges.put(challenge))


def test_each_try_is_counted_and_after_the_last_a_new_code_is_needed(
    tables: Tables, checks: CodeChecks[Challenge]
) -> None:
    send(tables)
    left = [checks.refusal(checks.tried(PHONE)).facts["triesLeft"] for _ in range(TRIES)]
    assert left == [4, 3, 2, 1, 0]
    with pytest.raises(TooManyRequests) as refused:
        checks.tried(PHONE)
    assert refused.value.code == "OTP_TRIES"
    send(tables)
    assert checks.tried(PHONE).tries == 1


def test_guesses_in_parallel_are_counted_too(tables: Tables, checks: CodeChecks[Challenge]) -> None:
    def guess(_: int) -> bool:
        try:
            checks.tried(PHONE)
            return True
        except CallerError:
            return False

    send(tables)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(guess, range(20))) == TRIES


def test_a_number_without_a_code_is_refused_like_a_wrong_code(checks: CodeChecks[Challenge]) -> None:
    with pytest.raises(Refused) as refused:
        checks.tried(PHONE)
    assert (refused.value.code, refused.value.message) == ("CODE_INVALID", "That code is wrong.")


def test_a_code_expires(tables: Tables, clock: Clock, checks: CodeChecks[Challenge]) -> None:
    send(tables)
    clock.move(LIFETIME + timedelta(seconds=1))
    with pytest.raises(Refused):
        checks.tried(PHONE)


def test_a_right_code_proves_something_once(tables: Tables, checks: CodeChecks[Challenge]) -> None:
    send(tables)
    challenge = checks.tried(PHONE)
    checks.end(challenge, things.create(Thing(id="1", name="Lamp")))
    with pytest.raises(Refused):
        checks.end(challenge, things.create(Thing(id="2", name="Lamp")))
    assert tables.db.one(things.get("2")) is None


def test_a_code_that_was_replaced_proves_nothing(tables: Tables, checks: CodeChecks[Challenge]) -> None:
    send(tables)
    challenge = checks.tried(PHONE)
    send(tables, "another hash")
    with pytest.raises(Refused):
        checks.end(challenge)


def test_counts_are_of_a_window(tables: Tables, checks: CodeChecks[Challenge]) -> None:
    until = tables.now() + timedelta(hours=1)
    assert [checks.count("ann", hour, until, 1) for hour in ("09", "09", "10")] == [1, 2, 1]
    assert checks.count("ann", "09", until, -1) == 1
    assert checks.count("ben", "09", until, 0) == 0
