"""Proof that a guardian holds a number: six digits, sent to the number and told back (PC-X2).

Must hold: a code works once, for a quarter of an hour and five tries; only its keyed hash is stored; whoever asks for
one learns nothing about whether the number is somebody's. Limits are counted in the store, so they hold over processes.
"""

import hashlib
import hmac
from datetime import timedelta

from tablewright.design import Write
from tablewright.mapping import ConditionNotMet, Missing
from tablewright.systems.parental import design as d
from tablewright.systems.parental import rules
from tablewright.systems.parental.errors import Refused, TooOften
from tablewright.systems.parental.model import Allowance, Challenge
from tablewright.systems.parental.repository import Repository

LIFETIME = timedelta(minutes=15)
TRIES = 5
# To one number, from whomever: a stranger's phone must not ring all day. And by one family, to whichever numbers.
TO_NUMBER_PER_HOUR = 5
BY_FAMILY_PER_HOUR = 15


class Numbers:
    """One-time codes to numbers."""

    def __init__(self, repository: Repository, secret: bytes) -> None:
        self._repository = repository
        self._secret = hashlib.sha256(b"parental numbers" + secret).digest()

    def start(self, family_id: str, phone: str) -> None:
        """Send a code to a number."""
        number = rules.phone_number(phone)
        self._allow(f"number-{self._hash(number)[:32]}", TO_NUMBER_PER_HOUR)
        self._allow(f"family-{family_id}", BY_FAMILY_PER_HOUR)
        now = self._repository.now()
        code = self._code()
        challenge = Challenge(
            family_id=family_id,
            phone=number,
            code_hash=self._hash(family_id, number, code),
            expires_at=now + LIFETIME,
        )
        body = (
            f"Your code is {code}. It works for 15 minutes. A family wants to manage this phone; "
            "tell the code only if it is yours."
        )
        # The code is of no use later, so neither is the message.
        message = self._repository.message(number, family_id, "Your code", body, LIFETIME)
        self._repository.write("NUMBER", d.challenges.put(challenge), message)

    def check(self, family_id: str, phone: str, code: str) -> Write[Challenge]:
        """The code's end, to be written with what it proves; CODE_INVALID for a wrong one, OTP_TRIES after too many."""
        challenge = self._tried(family_id, phone)
        if not hmac.compare_digest(self._hash(family_id, phone, code.strip()), challenge.code_hash):
            raise Refused("CODE_INVALID", _WRONG, "code", {"triesLeft": TRIES - challenge.tries})
        known = challenge.code_hash
        return d.challenges.discard(family_id, phone).when(lambda c: c.code_hash == known)

    def _tried(self, family_id: str, phone: str) -> Challenge:
        """Count the try before looking at it, so that guesses in parallel count too."""
        attempt = d.challenges.update(family_id, phone).at(lambda challenge: challenge.tries).add(1)
        try:
            return self._repository.db.apply(attempt.when(lambda challenge: challenge.tries < TRIES))
        except Missing:
            raise Refused("CODE_INVALID", _WRONG, "code") from None
        except ConditionNotMet:
            raise TooOften("OTP_TRIES", "Too many wrong codes. Ask for a new one.", 60) from None

    def _allow(self, name: str, most: int) -> None:
        now = self._repository.now()
        start = Allowance(name=name, window=now.strftime("%Y-%m-%dT%H"), expires_at=now + timedelta(hours=2))
        counted = self._repository.db.apply(
            d.allowances.upsert(start).at(lambda allowance: allowance.used).add(1)
        )
        if counted.used > most:
            wait = 3600 - now.minute * 60 - now.second
            raise TooOften("OTP_LIMIT", "Too many codes were asked for. Try again later.", wait)

    def _code(self) -> str:
        # Ids are 122 bits of the system's own chance; a digest spreads them over the digits.
        drawn = hashlib.sha256(self._repository.world.new_id().encode()).digest()
        return f"{int.from_bytes(drawn[:8], 'big') % 1_000_000:06d}"

    def _hash(self, *parts: str) -> str:
        return hmac.new(self._secret, "\0".join(parts).encode(), hashlib.sha256).hexdigest()


_WRONG = "This code is not valid, or no longer. Ask for a new one."
