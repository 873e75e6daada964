"""Signing in to an account: a few digits by mail, and the account's password if it has one.

Must hold: only a code's keyed hash is stored; a try is counted before it is looked at; whoever asks learns nothing
about whether an address has an account, or a password: what is said, what is counted and what is written is the same,
only the letter is to nobody.
Elsewhere: how many codes and tries there are (edge/codes.py), who has an account (accounts.py), the pace of one network
and the pages (console/sign_in.py).
"""

import hashlib
import hmac
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from tablewright.app import passwords
from tablewright.app.accounts import Accounts
from tablewright.app.design import Account, Challenge, Note, challenges, notes, notes_by_state
from tablewright.edge import codes
from tablewright.edge.addresses import spelled
from tablewright.edge.codes import LIVES, TRIES, Count
from tablewright.edge.dispatch import Dispatch, Letter
from tablewright.edge.mistakes import Refused, TooOften
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, NotUnique, Stale
from tablewright.world import World

_ATTEMPTS = 20
_WRONG = (
    "This is not right, or no longer. Look at the newest mail; if you have a password, it is needed as well. "
    "You can ask for a new code."
)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Whose sign-in it was, and by which methods (RFC 8176)."""

    account: Account
    methods: tuple[str, ...]


class CodeLogin:
    """Codes by mail, and what they prove. `is_open`: whoever has a mailbox may have an account, without roles."""

    def __init__(self, accounts: Accounts, world: World, secret: bytes) -> None:
        self._accounts, self._db, self._world = accounts, accounts.db, world
        self._secret = hmac.new(secret, b"accounts", hashlib.sha256).digest()

    def start(self, email: str, *, is_open: bool = False) -> None:
        """Send a code, if the address is one that may sign in; the one before works no longer."""
        address = spelled(email)
        account = self._accounts.with_address(address)
        may = is_open if account is None else account.closed is None
        key = self._hash("address", address)
        for _ in range(_ATTEMPTS):
            now = self._accounts.now()
            before = self._db.one(challenges.get(key), consistent=True)
            count = codes.allowed(_count(before) if before else None, now, TooOften)
            code = codes.new_code(self._world, count.wrong)
            after = self._challenge(key, address, code, count, now)
            # Whoever asked in the same moment is counted too: of two, one starts over.
            write = challenges.create(after) if before is None else challenges.change(before, after)
            with suppress(AlreadyExists, Stale, Missing, ConditionNotMet):
                self._db.write(write, notes.create(self._note(address if may else "", code, count, now)))
                return
        raise TooOften("CODE_LIMIT", "Several codes are being asked for. Try again in a moment.", 5)

    def finish(self, email: str, code: str, password: str = "", *, is_open: bool = False) -> SignedIn:
        """Whose address it is; CODE_INVALID for a wrong code or password, CODE_TRIES after too many."""
        address = spelled(email)
        challenge = self._tried(self._hash("address", address))
        account = self._accounts.with_address(address)
        is_right = hmac.compare_digest(self._code_hash(address, code.strip()), challenge.code_hash)
        is_live = challenge.code_ends > self._accounts.now()
        may = is_open if account is None else account.closed is None
        if not (is_right and is_live and may):
            raise _wrong()
        # Only who holds the code comes here, so how long a password takes says nothing to anybody else.
        known = account.password if account is not None else None
        if known is not None and not passwords.is_password(password, known):
            raise _wrong()
        return SignedIn(self._used(challenge, address, account), ("pwd", "otp", "mfa") if known else ("otp",))

    @property
    def dispatch(self) -> Dispatch[Note]:
        """How codes leave."""
        return Dispatch(
            self._accounts.now,
            lambda state: self._db.all(notes_by_state(state=state)),
            lambda note: Letter(note.id, note.recipient, note.subject, note.body, note.written),
            self._noted,
        )

    # --- parts ---

    def _challenge(self, key: str, address: str, code: str, count: Count, now: datetime) -> Challenge:
        return Challenge(
            address_hash=key,
            code_hash=self._code_hash(address, code),
            sent=count.sent,
            wrong=count.wrong,
            code_ends=now + LIVES,
            window_ends=count.window_ends,
            day_ends=count.day_ends,
            until=max(now + LIVES, count.until),
        )

    def _note(self, recipient: str, code: str, count: Count, now: datetime) -> Note:
        """The letter; where nobody is to get one, something as large that is never sent."""
        told = code if recipient else "-" * len(code)
        return Note(
            id=f"note_{self._world.new_id()}",
            recipient=recipient,
            subject=f"Your code to sign in: {told}",
            body=codes.words(told, count.wrong),
            state="PENDING" if recipient else "SENT",
            written=now,
            until=now + LIVES,
        )

    def _tried(self, key: str) -> Challenge:
        """Count the try before looking at it, so that guesses in parallel count too."""
        attempt = challenges.update(key).at(lambda challenge: challenge.tries).add(1)
        attempt = attempt.at(lambda challenge: challenge.wrong).add(1)
        try:
            return self._db.apply(attempt.when(lambda challenge: challenge.tries < TRIES))
        except Missing:
            raise _wrong() from None
        except ConditionNotMet:
            raise TooOften("CODE_TRIES", "Too many wrong codes. Ask for a new one.", 60) from None

    def _used(self, challenge: Challenge, address: str, account: Account | None) -> Account:
        """A code is used up by being right; who is new gets an account with it. What was sent stays counted."""
        known = challenge.code_hash
        used = challenges.update(challenge.address_hash).at(lambda it: it.code_hash).set("used")
        used = used.at(lambda it: it.wrong).add(-1)  # it was none of them
        used = used.when(lambda it: it.code_hash == known)
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

    def _noted(self, note: Note, changed: Mapping[str, object]) -> None:
        if changed["state"] == "SENT":
            self._db.write(notes.discard(note.id))  # it holds a code
        else:
            self._db.write(notes.change(note, note.model_copy(update=changed)))

    def _code_hash(self, address: str, code: str) -> str:
        return self._hash("code", f"{address}\0{code}")

    def _hash(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()


def _count(before: Challenge) -> Count:
    return codes.remembered(before.sent, before.window_ends, before.wrong, before.day_ends)


def _wrong() -> Refused:
    return Refused("CODE_INVALID", _WRONG, "code")
