"""Verification of a number: a code is sent to it, and the guardian enters the code (PC-X2).

Must hold: a code works once, for a quarter of an hour and five tries; wrong ones are counted over a day as well, for
the number and for the family, and from fifty on codes are longer; only its keyed hash is stored; asking for one
does not reveal whether the number is in use. Limits are counted in the store, so they hold over processes.
Elsewhere: how long a code is and how long it works, here as for signing in (kit/codes.py).
"""

import hashlib
import hmac
from datetime import timedelta
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import TooManyRequests
from tablewright.kit.codes import DAY, LIFETIME, WINDOW, WRONG_A_DAY, CodeChecks, new_code, seconds_left, span
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.model import Challenge
from tablewright.systems.parental.repository import Repository

# To one number by one family; by one family to all numbers; and to one number by all families, in a day: a phone must
# not ring all day. No family can use up what others may send to a number.
TO_NUMBER_PER_HOUR = 5
BY_FAMILY_PER_HOUR = 15
TO_NUMBER_PER_DAY = 30


class Numbers:
    """One-time codes to numbers."""

    def __init__(self, repository: Repository, secret: bytes) -> None:
        self._repository = repository
        self._secret = hashlib.sha256(b"parental numbers" + secret).digest()
        self._checks = CodeChecks(d.codes, repository, _WRONG)

    def start(self, family_id: str, phone: str) -> None:
        """Send a code to a number."""
        number = field_rules.phone_number(phone)
        self._allow(f"number-{self._hash(number, family_id)[:32]}", TO_NUMBER_PER_HOUR)
        self._allow(f"family-{family_id}", BY_FAMILY_PER_HOUR)
        self._allow(f"number-{self._hash(number)[:32]}", TO_NUMBER_PER_DAY, DAY)
        now = self._repository.now()
        to_number, by_family = (self._count(name, DAY, 0) for name in self._guessed(family_id, number))
        code = new_code(self._repository.world, max(to_number, by_family) >= WRONG_A_DAY)
        challenge = Challenge(
            family_id=family_id,
            phone=number,
            code_hash=self._hash(family_id, number, code),
            expires_at=now + LIFETIME,
        )
        # The code is of no use later, so neither is the message.
        message = self._repository.outbox.mail(
            number, "number code", {"warning": _warning(to_number)}, family_id,
            secrets={"code": code}, until=challenge.expires_at, kept=LIFETIME,
        )  # fmt: skip
        self._repository.write("NUMBER", d.codes.challenges.put(challenge), message)

    def check(self, family_id: str, phone: str, code: str) -> tuple[Write[Any], ...]:
        """The code's end, to be written with what it proves; CODE_INVALID for a wrong one, OTP_TRIES after too many."""
        challenge = self._checks.tried(family_id, phone)
        for name in self._guessed(family_id, phone):
            self._count(name, DAY)
        if not hmac.compare_digest(self._hash(family_id, phone, code.strip()), challenge.code_hash):
            raise self._checks.refusal(challenge)
        now = self._repository.now()
        # It was counted, and was none of them.
        counts = (
            d.codes.add(name, span(now, DAY), now + DAY, -1) for name in self._guessed(family_id, phone)
        )
        return d.codes.end(challenge), *counts

    def _guessed(self, family_id: str, phone: str) -> tuple[str, str]:
        """What wrong codes are counted for: who guesses may try many numbers, or as many families.

        As hashes: a count outlives the erasure of a family by a day.
        """
        return f"wrong-number-{self._hash(phone)[:32]}", f"wrong-family-{self._hash(family_id)[:32]}"

    def _count(self, name: str, window: timedelta, more: int = 1) -> int:
        now = self._repository.now()
        return self._checks.count(name, span(now, window), now + window, more)

    def _allow(self, name: str, most: int, window: timedelta = WINDOW) -> None:
        if self._count(name, window) > most:
            words = "Too many codes were requested. Try again later."
            raise TooManyRequests("OTP_LIMIT", words, seconds_left(self._repository.now(), window))

    def _hash(self, *parts: str) -> str:
        return hmac.new(self._secret, "\0".join(parts).encode(), hashlib.sha256).hexdigest()


def _warning(wrong: int) -> str:
    """A warning in the message after wrong codes."""
    if wrong < WRONG_A_DAY:
        return ""
    return (
        f" {wrong} wrong codes were entered for this number today. If that wasn't you, someone is trying to manage "
        "your phone. They cannot guess this code: codes are longer for the rest of the day."
    )


_WRONG = "That code is wrong or has expired. Ask for a new one."
