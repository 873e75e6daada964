"""Signing in to an account: a few digits by mail, and the account's password if it has one.

Must hold: only a code's keyed hash is stored; a try is counted before it is checked; a caller cannot find out whether
an address has an account or a password: answers, counts and writes are the same, but the message has no recipient.
Elsewhere: limits of codes and tries (kit/codes.py), accounts (accounts.py), the rate limit per network and the pages
(sign_in.py).
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from tablewright.app import passwords
from tablewright.app.accounts import Accounts
from tablewright.app.design import (
    Account,
    Allowance,
    Challenge,
    Note,
    allowances,
    challenges,
    notes,
    notes_by_state,
)
from tablewright.edge.errors import Refused, TooManyRequests
from tablewright.edge.mail_addresses import normalise_address
from tablewright.kit import codes
from tablewright.kit.code_requesters import UNKNOWN_ORIGIN, CodeRequester, CodeRequesters, RequestOrigin
from tablewright.kit.codes import LIFETIME, TRIES, CodeAllowance, CodeLimits
from tablewright.kit.delivery import OutboxDispatch, OutgoingMessage
from tablewright.kit.messages import MessageTemplates, Template, after_attempt
from tablewright.kit.sealed_text import seal_of
from tablewright.mapping import ConditionNotMet, Missing, NotUnique
from tablewright.world import World

TEMPLATES = {"code": Template("Your sign-in code: {code}", codes.BODY)}
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
        self._limits = CodeLimits(lambda text: self._hash("limit", text)[:32], self._add)
        self.requesters = CodeRequesters(self._secret, world)
        self.texts = MessageTemplates(TEMPLATES, seal_of(self._secret, "letters", world))

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
        self._db.write(
            challenges.put(challenge), notes.create(self._note(address if may else "", code, allowed, now))
        )
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
        challenge = self._tried(address, asker)
        account = self._accounts.with_address(address)
        is_right = hmac.compare_digest(self._code_hash(address, code.strip()), challenge.code_hash)
        is_live = challenge.until > self._accounts.now()
        may = is_open if account is None else account.closed is None
        if not (is_right and is_live and may):
            raise _wrong()
        # Only a caller with the right code gets here, so the time a password check takes reveals nothing to others.
        known = account.password if account is not None else None
        if known is not None and not passwords.is_password(password, known):
            raise _wrong()
        signed = SignedIn(
            self._used(challenge, address, account), ("pwd", "otp", "mfa") if known else ("otp",)
        )
        self._limits.count_success(address, asker, self._accounts.now())
        return signed

    @property
    def dispatch(self) -> OutboxDispatch[Note]:
        """How codes are sent."""
        return OutboxDispatch(
            self._accounts.now,
            lambda state: self._db.all(notes_by_state(state=state)),
            self._letter,
            self._noted,
            lambda note: note.until,
        )

    # --- parts ---

    def _note(self, recipient: str, code: str, allowed: CodeAllowance, now: datetime) -> Note:
        """The message with the code; without a recipient, a message of the same size that is never sent."""
        id, secrets = f"note_{self._world.new_id()}", {"code": code if recipient else "-" * len(code)}
        return Note(
            id=id,
            recipient=recipient,
            **self.texts.row("code", id, recipient, {"warning": codes.warning(allowed.wrong)}, secrets),
            state="PENDING" if recipient else "SENT",
            written=now,
            until=now + LIFETIME,
        )

    @cached_property
    def _no_password(self) -> str:
        return passwords.kept(self._world.new_id(), self._world)

    def _knows_password(self, account: Account | None, password: str) -> bool:
        """Whether the account has this password; it takes the same time without an account or a password."""
        known = account.password if account is not None else None
        return passwords.is_password(password, known or self._no_password) and known is not None

    def _tried(self, address: str, asker: CodeRequester) -> Challenge:
        """Count the try before looking at it, so that guesses in parallel count too."""
        attempt = challenges.update(self._hash("address", address), asker.key)
        attempt = attempt.at(lambda challenge: challenge.tries).add(1)
        try:
            tried = self._db.apply(attempt.when(lambda challenge: challenge.tries < TRIES))
        except Missing:
            raise _wrong() from None
        except ConditionNotMet:
            raise TooManyRequests("CODE_TRIES", "Too many wrong codes. Ask for a new one.", 60) from None
        self._limits.count_try(address, asker, self._accounts.now())
        return tried

    def _used(self, challenge: Challenge, address: str, account: Account | None) -> Account:
        """Consume a right code; an address without an account gets one in the same write."""
        known = challenge.code_hash
        used = challenges.discard(challenge.address_hash, challenge.asker).when(
            lambda it: it.code_hash == known
        )
        try:
            if account is not None:
                self._db.write(used)
                return account
            new = self._accounts.new(address)
            self._db.write(used, new)
        except (Missing, ConditionNotMet, NotUnique):
            raise _wrong() from None
        assert new.item is not None
        return new.item

    def _add(self, name: str, window: str, until: datetime, more: int) -> int:
        start = Allowance(name=name, window=window, until=until)
        return self._db.apply(allowances.upsert(start).at(lambda it: it.used).add(more)).used

    def _letter(self, note: Note) -> OutgoingMessage:
        text = self.texts.text(note, note.id, note.recipient)
        return OutgoingMessage(note.id, note.recipient, text.subject, text.body, note.written)

    def _noted(self, note: Note, changed: Mapping[str, object]) -> None:
        if changed["state"] == "SENT":
            self._db.write(notes.discard(note.id))  # it holds a code
        else:
            self._db.write(notes.change(note, note.model_copy(update=after_attempt(note, changed))))

    def _code_hash(self, address: str, code: str) -> str:
        return self._hash("code", f"{address}\0{code}")

    def _hash(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()


def _wrong() -> Refused:
    return Refused("CODE_INVALID", _WRONG, "code")
