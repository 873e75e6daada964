"""Signing in with an address: six digits by mail (SK-X3).

Must hold: a code works once, for a quarter of an hour and five tries, and only its keyed hash is stored; an address
gets five codes an hour, counted in the store, so that it holds over processes; whoever asks learns nothing about
whether an address is known. Elsewhere: whose account it is (accounts.py), the pace of one network (api.py).
"""

import hashlib
from contextlib import suppress
from datetime import datetime, timedelta

from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, Stale
from tablewright.mapping.repository import ATTEMPTS
from tablewright.systems.travel import design as d
from tablewright.systems.travel.addresses import email_address
from tablewright.systems.travel.errors import Conflict, TooOften, Unauthenticated
from tablewright.systems.travel.keyring import KeyRing
from tablewright.systems.travel.model import Challenge
from tablewright.systems.travel.outbox import Outbox
from tablewright.systems.travel.repository import Repository

LIVES, WINDOW = timedelta(minutes=15), timedelta(hours=1)
TRIES, CODES_A_WINDOW = 5, 5
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
            code = self._new_code()
            after = self._next(before, hmac, address, code, now)
            words = f"Your code is {code}. It works once, for 15 minutes.\nIf you did not ask for it, ignore this mail."
            # The code is of no use later, so neither is the mail.
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

    def _next(self, before: Challenge | None, hmac: str, address: str, code: str, now: datetime) -> Challenge:
        sent, window_ends = 1, now + WINDOW
        if before is not None and before.window_ends_at > now:
            sent, window_ends = before.sent + 1, before.window_ends_at
        if sent > CODES_A_WINDOW:
            wait = max(1, int((window_ends - now).total_seconds()))
            raise TooOften("CODE_LIMIT", "Too many codes were asked for. Try again later.", wait)
        return Challenge(
            email_hmac=hmac,
            code_hash=self._keyring.hmac(_CODE, f"{address}\0{code}"),
            sent=sent,
            code_ends_at=now + LIVES,
            window_ends_at=window_ends,
            expires_at=max(now + LIVES, window_ends),
        )

    def _new_code(self) -> str:
        # Ids are 122 bits of the system's own chance; a digest spreads them over the digits.
        chance = hashlib.sha256(self._repository.world.new_id().encode()).digest()
        return f"{int.from_bytes(chance[:8], 'big') % 1_000_000:06d}"

    def _tried(self, address: str) -> Challenge:
        """Count the try before looking at it, so that guesses in parallel count too."""
        # The secret may have been succeeded since the code was sent.
        for hmac in self._keyring.hmacs(PURPOSE, address):
            attempt = d.challenges.update(hmac).at(lambda challenge: challenge.tries).add(1)
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
        try:
            self._repository.db.write(used.when(lambda it: it.code_hash == known))
        except (Missing, ConditionNotMet):
            raise Unauthenticated("CODE_INVALID", _WRONG, "code") from None
