"""Signing in with an address: a few digits by mail (SK-X3).

Must hold: only a code's keyed hash is stored; a try is counted before it is looked at, in the store, so that it holds
over processes; whoever asks learns nothing about whether an address is known.
Elsewhere: how many codes and tries there are (edge/codes.py), whose account it is (accounts.py), the pace of one
network (api.py).
"""

from contextlib import suppress
from datetime import datetime

from tablewright.edge import codes
from tablewright.edge.codes import LIVES, TRIES, Count
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, Stale
from tablewright.mapping.repository import ATTEMPTS
from tablewright.systems.travel import design as d
from tablewright.systems.travel.addresses import email_address
from tablewright.systems.travel.errors import Conflict, TooOften, Unauthenticated
from tablewright.systems.travel.keyring import KeyRing
from tablewright.systems.travel.model import Challenge
from tablewright.systems.travel.outbox import Outbox
from tablewright.systems.travel.repository import Repository

PURPOSE, _CODE = "email", "code"
_WRONG = "This code is not right, or no longer. Look at the newest mail, or ask for a new code."


class EmailLogin:
    """Codes by mail, and what they prove."""

    def __init__(self, repository: Repository, keyring: KeyRing, outbox: Outbox) -> None:
        self._repository, self._keyring, self._outbox = repository, keyring, outbox

    def start(self, email: str) -> None:
        """Send a code; the one before works no longer."""
        address = email_address(email)
        hmac = self._keyring.hmac(PURPOSE, address)
        for tried in range(ATTEMPTS):
            now = self._repository.now()
            before = self._repository.db.one(d.challenges.get(hmac), consistent=True)
            count = codes.allowed(_count(before) if before else None, now, TooOften)
            code = codes.new_code(self._repository.world, count.wrong)
            after = self._challenge(hmac, address, code, count, now)
            # The code is of no use later, so neither is the mail.
            words = codes.words(code, count.wrong)
            mail = self._outbox.mail(None, address, f"Your Skratch code: {code}", words, LIVES)
            # Whoever asked in the same moment is counted too: of two, one starts over.
            write = d.challenges.create(after) if before is None else d.challenges.change(before, after)
            with suppress(AlreadyExists, Stale, Missing, ConditionNotMet):
                self._repository.db.write(write, mail)
                return
            self._repository.pause(tried)
        raise Conflict("STATE_CONFLICT", "Several codes are being asked for. Try again in a moment.")

    def prove(self, email: str, code: str) -> str:
        """The address that is proved; CODE_INVALID for a wrong code, CODE_TRIES after too many."""
        address = email_address(email)
        challenge = self._tried(address)
        is_live = challenge.code_ends_at > self._repository.now()
        given = f"{address}\0{code.strip()}"
        if not self._keyring.is_hmac(_CODE, given, challenge.code_hash) or not is_live:
            facts = {"tries_left": TRIES - challenge.tries}
            raise Unauthenticated("CODE_INVALID", _WRONG, "code", facts)
        self._use(challenge)
        return address

    # --- parts ---

    def _challenge(self, hmac: str, address: str, code: str, count: Count, now: datetime) -> Challenge:
        return Challenge(
            email_hmac=hmac,
            code_hash=self._keyring.hmac(_CODE, f"{address}\0{code}"),
            sent=count.sent,
            wrong=count.wrong,
            code_ends_at=now + LIVES,
            window_ends_at=count.window_ends,
            day_ends_at=count.day_ends,
            expires_at=max(now + LIVES, count.until),
        )

    def _tried(self, address: str) -> Challenge:
        """Count the try before looking at it, so that guesses in parallel count too."""
        # The secret may have been succeeded since the code was sent.
        for hmac in self._keyring.hmacs(PURPOSE, address):
            attempt = d.challenges.update(hmac).at(lambda challenge: challenge.tries).add(1)
            attempt = attempt.at(lambda challenge: challenge.wrong).add(1)
            try:
                return self._repository.db.apply(attempt.when(lambda challenge: challenge.tries < TRIES))
            except Missing:
                continue
            except ConditionNotMet:
                words = "Too many wrong codes. Ask for a new one."
                raise TooOften("CODE_TRIES", words, 60) from None
        raise Unauthenticated("CODE_INVALID", _WRONG, "code")

    def _use(self, challenge: Challenge) -> None:
        """A code is used up by being right. What was sent stays counted."""
        known = challenge.code_hash
        used = d.challenges.update(challenge.email_hmac).at(lambda it: it.code_hash).set("used")
        used = used.at(lambda it: it.wrong).add(-1)  # it was none of them
        try:
            self._repository.db.write(used.when(lambda it: it.code_hash == known))
        except (Missing, ConditionNotMet):
            raise Unauthenticated("CODE_INVALID", _WRONG, "code") from None


def _count(before: Challenge) -> Count:
    return codes.remembered(before.sent, before.window_ends_at, before.wrong, before.day_ends_at)
