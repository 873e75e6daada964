"""Signing in with an address: a few digits by mail (SK-X3).

Must hold: only a code's keyed hash is stored; a try is counted in the store before it is checked, so that the limit is
shared by all processes; the answer does not reveal whether an address is known.
Elsewhere: how many codes and tries there are (kit/codes.py), whose account it is (accounts.py), the pace of one
network (api/router.py).
"""

from dataclasses import replace
from datetime import datetime

from tablewright.edge.errors import TooManyRequests, Unauthenticated
from tablewright.kit import codes
from tablewright.kit.code_requesters import UNKNOWN_ORIGIN, CodeRequester, CodeRequesters, RequestOrigin
from tablewright.kit.codes import LIFETIME, TRIES, CodeLimits
from tablewright.mapping import ConditionNotMet, Missing
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.addresses import email_address
from tablewright.systems.travel.account.keyring import KeyRing
from tablewright.systems.travel.model import Allowance, Challenge
from tablewright.systems.travel.outbox import Outbox
from tablewright.systems.travel.repository import Repository

PURPOSE, _CODE = "email", "code"
_WRONG = "That code is wrong or has expired. Use the newest mail, or ask for a new code."


class EmailLogin:
    """Codes by mail, and what they prove."""

    def __init__(self, repository: Repository, keyring: KeyRing, outbox: Outbox) -> None:
        self._repository, self._keyring, self._outbox = repository, keyring, outbox
        # With the oldest valid secret: a new one must not reset all counts, nor forget all devices.
        # The label is part of every key, as in CodeRequesters.
        self.requesters = CodeRequesters(keyring.oldest("askers"), repository.world)
        self._limits = CodeLimits(lambda text: keyring.hmacs("limit", text)[-1][-32:], self._add)

    def start(self, email: str, caller: RequestOrigin = UNKNOWN_ORIGIN) -> str:
        """Send a code; the asker's one before works no longer. The ticket with which the code may be typed from another
        network."""
        address, now = email_address(email), self._repository.now()
        asker = self.requesters.requester(address, replace(caller, ticket=""))
        allowed = self._limits.allow(address, asker, now, TooManyRequests)
        code = codes.new_code(self._repository.world, allowed.is_long)
        challenge = Challenge(
            email_hmac=self._keyring.hmac(PURPOSE, address),
            asker=asker.key,
            code_hash=self._keyring.hmac(_CODE, f"{address}\0{code}"),
            expires_at=now + LIFETIME,
        )
        # The code is of no use later, so neither is the mail.
        told = {"warning": codes.warning(allowed.wrong)}
        mail = self._outbox.mail(None, address, "code", told, secrets={"code": code}, kept=LIFETIME)
        self._repository.db.write(d.challenges.put(challenge), mail)
        return self.requesters.ticket(address, asker)

    def prove(self, email: str, code: str, caller: RequestOrigin = UNKNOWN_ORIGIN) -> str:
        """The address that is proved; CODE_INVALID for a wrong code, CODE_TRIES after too many."""
        address = email_address(email)
        asker = self.requesters.requester(address, caller)
        challenge = self._tried(address, asker)
        is_live = challenge.expires_at > self._repository.now()
        given = f"{address}\0{code.strip()}"
        if not self._keyring.is_hmac(_CODE, given, challenge.code_hash) or not is_live:
            facts = {"tries_left": TRIES - challenge.tries}
            raise Unauthenticated("CODE_INVALID", _WRONG, "code", facts)
        self._use(challenge)
        self._limits.count_success(address, asker, self._repository.now())
        return address

    # --- parts ---

    def _tried(self, address: str, asker: CodeRequester) -> Challenge:
        """Count the try before looking at it, so that guesses in parallel count too."""
        # The secret may have been succeeded since the code was sent.
        for hmac in self._keyring.hmacs(PURPOSE, address):
            attempt = d.challenges.update(hmac, asker.key).at(lambda challenge: challenge.tries).add(1)
            try:
                tried = self._repository.db.apply(attempt.when(lambda challenge: challenge.tries < TRIES))
            except Missing:
                continue
            except ConditionNotMet:
                words = "Too many wrong codes. Please ask for a new one."
                raise TooManyRequests("CODE_TRIES", words, 60) from None
            self._limits.count_try(address, asker, self._repository.now())
            return tried
        raise Unauthenticated("CODE_INVALID", _WRONG, "code")

    def _use(self, challenge: Challenge) -> None:
        """A code is used up by being right."""
        known = challenge.code_hash
        used = d.challenges.discard(challenge.email_hmac, challenge.asker)
        try:
            self._repository.db.write(used.when(lambda it: it.code_hash == known))
        except (Missing, ConditionNotMet):
            raise Unauthenticated("CODE_INVALID", _WRONG, "code") from None

    def _add(self, name: str, window: str, until: datetime, more: int) -> int:
        start = Allowance(name=name, window=window, expires_at=until)
        return self._repository.db.apply(d.allowances.upsert(start).at(lambda it: it.used).add(more)).used
