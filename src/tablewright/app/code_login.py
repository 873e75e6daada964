"""Signing in to an account: a few digits by mail, and the account's password if it has one.

Must hold: only a code's keyed hash is stored; a try is counted before it is checked; a caller cannot find out whether
an address has an account or a password: answers, counts and writes are the same, but the message has no recipient.
Elsewhere: limits of codes and tries (kit/codes.py), accounts (accounts.py), the text of the mail (mail/templates/), the
rate limit per network and the pages (sign_in.py).
"""

import hashlib
import hmac
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from tablewright.app import passwords
from tablewright.app.accounts import Accounts
from tablewright.app.design import Account, Challenge, Note, login_codes, notes
from tablewright.edge.errors import TooManyRequests
from tablewright.edge.mail_addresses import normalise_address
from tablewright.kit import codes
from tablewright.kit.code_requesters import UNKNOWN_ORIGIN, CodeRequesters, RequestOrigin
from tablewright.kit.codes import LIFETIME, CodeChecks, CodeLimits
from tablewright.kit.delivery import OutboxDispatch
from tablewright.kit.messages import MessageTemplates, read_templates
from tablewright.kit.outbox import Mailbox
from tablewright.kit.sealed_text import seal_of
from tablewright.mapping import NotUnique
from tablewright.world import World

MAIL = Path(__file__).parent / "mail" / "templates"
_WRONG = (
    "That code is wrong or has expired. Use the newest mail; if you have a password, it is needed as well. "
    "You can ask for a new code."
)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The account that signed in, and by which methods (RFC 8176)."""

    account: Account
    methods: tuple[str, ...]


class CodeLogin:
    """Sign-in by mailed codes. `is_open`: any verified address gets an account, without roles."""

    def __init__(self, accounts: Accounts, world: World, secret: bytes) -> None:
        self._accounts, self._db, self._world = accounts, accounts.db, world
        self._secret = hmac.new(secret, b"accounts", hashlib.sha256).digest()
        self._checks = CodeChecks(login_codes, accounts, _WRONG, too_many="CODE_TRIES", left=None)
        self._limits = CodeLimits(lambda text: self._hash("limit", text)[:32], self._checks.count)
        self.requesters = CodeRequesters(self._secret, world)
        texts = MessageTemplates(read_templates(MAIL), seal_of(self._secret, "letters", world))
        self.outbox = Mailbox(notes, accounts, texts, keeps_sent=False)  # a sent note holds a code

    def start(
        self, email: str, caller: RequestOrigin = UNKNOWN_ORIGIN, *, password: str = "", is_open: bool = False
    ) -> str:
        """Send a code if the address may sign in; the requester's earlier code becomes invalid. Returns the ticket with
        which the code may be entered from another network."""
        address = normalise_address(email)
        account = self._accounts.with_address(address)
        may = is_open if account is None else account.closed is None
        now, asker = self._accounts.now(), self.requesters.requester(address, replace(caller, ticket=""))
        allowed = self._limits.allow(address, asker, now, TooManyRequests, vouched=bool(password))
        if allowed.is_spent:
            # Sent only if the password is right; the answer is the same either way, so it reveals nothing.
            may = self._knows_password(account, password) and may
        code = codes.new_code(self._world, allowed.is_long)
        challenge = Challenge(
            address_hash=self._hash("address", address),
            asker=asker.key,
            code_hash=self._code_hash(address, code),
            until=now + LIFETIME,
        )
        # Without a recipient it has the same size, and is never sent.
        note = self.outbox.mail(
            address if may else "", "code", {"warning": codes.warning(allowed.wrong)},
            secrets={"code": code if may else "-" * len(code)}, until=challenge.expires_at, kept=LIFETIME,
        )  # fmt: skip
        self._db.write(login_codes.challenges.put(challenge), note)
        return self.requesters.ticket(address, asker)

    def finish(
        self,
        email: str,
        code: str,
        password: str = "",
        caller: RequestOrigin = UNKNOWN_ORIGIN,
        *,
        is_open: bool = False,
    ) -> SignedIn:
        """The account of the address; CODE_INVALID for a wrong code or password, CODE_TRIES after too many."""
        address = normalise_address(email)
        asker = self.requesters.requester(address, caller)
        challenge = self._checks.tried(self._hash("address", address), asker.key)
        self._limits.count_try(address, asker, self._accounts.now())
        account = self._accounts.with_address(address)
        is_right = hmac.compare_digest(self._code_hash(address, code.strip()), challenge.code_hash)
        is_live = challenge.expires_at > self._accounts.now()
        may = is_open if account is None else account.closed is None
        if not (is_right and is_live and may):
            raise self._checks.refusal()
        # Only a caller with the right code gets here, so the time a password check takes reveals nothing to others.
        known = account.password if account is not None else None
        if known is not None and not passwords.is_password(password, known):
            raise self._checks.refusal()
        signed = SignedIn(
            self._used(challenge, address, account), ("pwd", "otp", "mfa") if known else ("otp",)
        )
        self._limits.count_success(address, asker, self._accounts.now())
        return signed

    @property
    def dispatch(self) -> OutboxDispatch[Note]:
        """How codes are sent."""
        return self.outbox.dispatch()

    # --- parts ---

    @cached_property
    def _no_password(self) -> str:
        return passwords.kept(self._world.new_id(), self._world)

    def _knows_password(self, account: Account | None, password: str) -> bool:
        """Whether the account has this password; it takes the same time without an account or a password."""
        known = account.password if account is not None else None
        return passwords.is_password(password, known or self._no_password) and known is not None

    def _used(self, challenge: Challenge, address: str, account: Account | None) -> Account:
        """Consume a right code; an address without an account gets one in the same write."""
        if account is not None:
            self._checks.end(challenge)
            return account
        new = self._accounts.new(address)
        try:
            self._checks.end(challenge, new)
        except NotUnique:
            raise self._checks.refusal() from None
        assert new.item is not None
        return new.item

    def _code_hash(self, address: str, code: str) -> str:
        return self._hash("code", f"{address}\0{code}")

    def _hash(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()
