"""Signing in with an address: a few digits by mail (SK-X3).

Must hold: only a code's keyed hash is stored; a try is counted in the store before it is checked, so that the limit is
shared by all processes; the answer does not reveal whether an address is known.
Elsewhere: how many codes and tries there are (kit/codes.py), whose account it is (accounts.py), the pace of one
network (api/router.py).
"""

from dataclasses import replace

from tablewright.edge.errors import TooManyRequests, Unauthenticated
from tablewright.kit import codes
from tablewright.kit.code_requesters import UNKNOWN_ORIGIN, CodeRequester, CodeRequesters, RequestOrigin
from tablewright.kit.codes import LIFETIME, CodeChecks, CodeLimits
from tablewright.kit.keyring import KeyRing
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.addresses import email_address
from tablewright.systems.travel.model import Challenge
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
        self._checks = CodeChecks(
            d.codes, repository, _WRONG, Unauthenticated, too_many="CODE_TRIES", left="tries_left"
        )
        self._limits = CodeLimits(lambda text: keyring.hmacs("limit", text)[-1][-32:], self._checks.count)

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
        self._repository.db.write(d.codes.challenges.put(challenge), mail)
        return self.requesters.ticket(address, asker)

    def prove(self, email: str, code: str, caller: RequestOrigin = UNKNOWN_ORIGIN) -> str:
        """The address that is proved; CODE_INVALID for a wrong code, CODE_TRIES after too many."""
        address = email_address(email)
        asker = self.requesters.requester(address, caller)
        challenge = self._tried(address, asker)
        is_live = challenge.expires_at > self._repository.now()
        given = f"{address}\0{code.strip()}"
        if not self._keyring.is_hmac(_CODE, given, challenge.code_hash) or not is_live:
            raise self._checks.refusal(challenge)
        self._checks.end(challenge)
        self._limits.count_success(address, asker, self._repository.now())
        return address

    # --- parts ---

    def _tried(self, address: str, asker: CodeRequester) -> Challenge:
        """Count the try before looking at it, so that guesses in parallel count too."""
        # The secret may have been succeeded since the code was sent.
        keys = [d.codes.challenges.get(hmac, asker.key) for hmac in self._keyring.hmacs(PURPOSE, address)]
        known = next((it for it in self._repository.db.many(keys, consistent=True) if it is not None), None)
        hmac = known.email_hmac if known is not None else self._keyring.hmac(PURPOSE, address)
        tried = self._checks.tried(hmac, asker.key)
        self._limits.count_try(address, asker, self._repository.now())
        return tried
