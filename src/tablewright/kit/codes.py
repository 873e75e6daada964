"""One-time codes and their limits: length, lifetime, and how many an address and a requester get.

    codes = codes_in(table, Challenge, Allowance, key={"phone": str}, pk="PHONE#{phone}", sk="CODE", ...)
    checks = CodeChecks(codes, store, wrong="That code is wrong. Ask for a new one.")
    db.write(codes.challenges.put(Challenge(...)), mail)
    challenge = checks.tried(phone)
    db.write(codes.end(challenge), what_it_proves)

A code belongs to an address and to its requester (code_requesters.py): the codes and wrong tries of other requesters do
not affect it.
Must hold: a code works once, for 15 minutes and five tries. One requester gets five an hour and twenty a day; all
requesters together cause at most sixty mails a day to an address, so that many networks cannot flood a mailbox. A
browser that signed in with the address before is outside that limit, and so is a request with the account's password:
neither can be locked out.
Guessing: of the codes that unknown requesters get in a day the first ten have six digits, which allows fifty guesses;
the others, and all after the fiftieth wrong one, have twelve, and the mail says why. Every try is counted in the store
before it is checked, so the limits hold over processes; refusals are the same whether an address is known or not.
Only a code's keyed hash is stored.
Elsewhere: app/code_login.py, systems/travel/account/email_login.py, systems/portal/customers/verification.py; for
numbers of phones, where a signed-in family asks, systems/parental/family/phone_proof.py.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

from tablewright.design import Data, DesignTable, Entity, Expires, Load, Retention, Write
from tablewright.edge.errors import Refused, TooManyRequests
from tablewright.kit.code_requesters import CodeRequester
from tablewright.kit.declarations import declared
from tablewright.kit.tables import Store
from tablewright.mapping import ConditionNotMet, Missing
from tablewright.world import World

LIFETIME, WINDOW, DAY = timedelta(minutes=15), timedelta(hours=1), timedelta(days=1)
TRIES, CODES_A_WINDOW, CODES_A_DAY, ADDRESS_A_DAY = 5, 5, 20, 60
SHORT_A_DAY, WRONG_A_DAY = 10, 50
_SHORT, _LONG = 6, 12
# (name, window, expiry, more) -> the count of the name in this window, after adding `more`.
Add: TypeAlias = Callable[[str, str, datetime, int], int]
Refusal: TypeAlias = Callable[[str, str, int], Exception]


class Challenge(BaseModel):
    """A code that was sent. A system adds whom to, and which requester it belongs to."""

    model_config = ConfigDict(populate_by_name=True, extra="forbid", frozen=True)

    code_hash: str
    tries: int = 0
    expires_at: datetime


class Allowance(BaseModel):
    """How often something was done in an hour or a day."""

    model_config = ConfigDict(populate_by_name=True, extra="forbid", frozen=True)

    name: str
    window: str
    used: int = 0
    expires_at: datetime


C = TypeVar("C", bound=Challenge)


@dataclass(frozen=True, slots=True)
class Codes(Generic[C]):
    """The codes and counts of one table."""

    key: tuple[str, ...]
    challenges: Entity[C, ...]
    allowances: Entity[Allowance, ...]

    def end(self, challenge: C) -> Write[C]:
        """Remove a code that was right, to be written with what it proves; refused if it was used or replaced."""
        known = challenge.code_hash
        return self.discard(challenge).when(lambda it: it.code_hash == known)

    def discard(self, challenge: C) -> Write[C]:
        """Remove a code, whatever became of it."""
        return self.challenges.discard(*(getattr(challenge, name) for name in self.key))

    def add(self, name: str, window: str, until: datetime, more: int) -> Write[Allowance]:
        """Count in a window; `until` is when the count can go."""
        start = self.allowances.model(name=name, window=window, expires_at=until)
        return self.allowances.upsert(start).at(lambda it: it.used).add(more)


def codes_in(
    table: DesignTable,
    challenge: type[C],
    allowance: type[Allowance],
    *,
    key: Mapping[str, Any],
    pk: str,
    sk: str,
    sends: Load,
    counts: Load,
    purpose: str,
    tag: str = "challenge",
    window: str = "WINDOW#{window}",
    data: Mapping[str, Data] | None = None,
) -> Codes[C]:
    """Codes and their counts in a table. `key` are the fields in `pk` and `sk`, with their types."""
    challenges = table.entity(
        challenge,
        declared("challenge_key", "", **key),
        tag=tag,
        pk=pk,
        sk=sk,
        expires=Expires("expires_at"),
        data={**(data or {}), "code_hash": Data.SECRET},
        retention=Retention(LIFETIME, purpose),
        load={"put": sends},
    )
    allowances = table.entity(
        allowance,
        declared("allowance_key", "", name=str, window=str),
        tag="allowance",
        pk="ALLOWANCE#{name}",
        sk=window,
        expires=Expires("expires_at"),
        retention=Retention(DAY, "to limit how many codes are sent, and guesses"),
        load={"upsert": counts},
    )
    return Codes(tuple(key), challenges, allowances)


@dataclass(frozen=True, slots=True)
class CodeChecks(Generic[C]):
    """Codes that are entered. `wrong` is the sentence for a wrong one, `error` its kind, `left` the fact that says how
    many tries are left."""

    codes: Codes[C]
    store: Store
    wrong: str
    error: type[Refused] = Refused
    too_many: str = "OTP_TRIES"
    left: str | None = "triesLeft"

    def tried(self, *key: str) -> C:
        """The code at a key, with this try counted: before it is checked, so that parallel guesses are counted too."""
        attempt = self.codes.challenges.update(*key).at(lambda it: it.tries).add(1)
        try:
            return self.store.db.apply(attempt.when(lambda it: it.tries < TRIES))
        except Missing:
            raise self.refusal() from None
        except ConditionNotMet:
            words = "Too many wrong codes. Ask for a new one."
            raise TooManyRequests(self.too_many, words, 60) from None

    def refusal(self, challenge: C | None = None) -> Refused:
        """The error for a wrong code."""
        facts = {self.left: TRIES - challenge.tries} if self.left and challenge is not None else None
        return self.error("CODE_INVALID", self.wrong, "code", facts)

    def end(self, challenge: C, *along: Write[Any]) -> None:
        """Use up a right code, with what it proves."""
        try:
            self.store.db.write(self.codes.end(challenge), *along)
        except (Missing, ConditionNotMet):
            raise self.refusal() from None

    def count(self, name: str, window: str, until: datetime, more: int) -> int:
        """The count of a name in a window, after adding `more`."""
        return self.store.db.apply(self.codes.add(name, window, until, more)).used


@dataclass(frozen=True, slots=True)
class CodeAllowance:
    """What kind of code may be sent. `is_spent`: the address had today's codes, and only a password gets another."""

    wrong: int
    is_long: bool
    is_spent: bool


@dataclass(frozen=True, slots=True)
class CodeLimits:
    """The counts of one system. `hash` is keyed, because a count may outlive the person it is about."""

    hash: Callable[[str], str]
    add: Add

    def allow(
        self,
        address: str,
        requester: CodeRequester,
        now: datetime,
        refusal: Refusal,
        *,
        vouched: bool = False,
    ) -> CodeAllowance:
        """Count one more code; raises `refusal` if there were too many. With `vouched` a password was given, which the
        caller must check if the address is spent."""
        name = self._codes(address, requester)
        self._refuse_over(
            self._add(name, now, WINDOW), CODES_A_WINDOW, "hour", seconds_left(now, WINDOW), refusal
        )
        self._refuse_over(self._add(name, now, DAY), CODES_A_DAY, "day", seconds_left(now, DAY), refusal)
        wrong = self._add(self._wrong(address, requester), now, DAY, 0)
        if requester.is_known:
            return CodeAllowance(wrong, wrong >= WRONG_A_DAY, is_spent=False)
        sent = self._add(f"address-{self.hash(address)}", now, DAY)
        if sent > ADDRESS_A_DAY and not vouched:
            raise refusal("CODE_LIMIT", _SPENT, seconds_left(now, DAY))
        return CodeAllowance(wrong, wrong >= WRONG_A_DAY or sent > SHORT_A_DAY, sent > ADDRESS_A_DAY)

    def count_try(self, address: str, requester: CodeRequester, now: datetime) -> None:
        """Count a try as a wrong one, before it is checked."""
        self._add(self._wrong(address, requester), now, DAY)

    def count_success(self, address: str, requester: CodeRequester, now: datetime) -> None:
        """The try was right: neither it nor its code counts any more, for the requester or for the address."""
        self._add(self._wrong(address, requester), now, DAY, -1)
        self._add(self._codes(address, requester), now, DAY, -1)
        if not requester.is_known:
            self._add(f"address-{self.hash(address)}", now, DAY, -1)

    def _codes(self, address: str, requester: CodeRequester) -> str:
        return f"codes-{self.hash(f'{address}|{requester.key}')}"

    def _wrong(self, address: str, requester: CodeRequester) -> str:
        return f"wrong-{self.hash(f'{address}|{requester.key}' if requester.is_known else address)}"

    def _add(self, name: str, now: datetime, window: timedelta, more: int = 1) -> int:
        return self.add(name, span(now, window), now + window, more)

    def _refuse_over(self, used: int, most: int, window: str, wait: int, refusal: Refusal) -> None:
        if used > most:
            words = (
                f"You asked for {most} codes within this {window}, which is the most. The next is sent in "
                f"{_duration(wait)}; the last one works for 15 minutes."
            )
            raise refusal("CODE_LIMIT", words, wait)


_SPENT = (
    "Too many codes were sent to this address today. If your account has a password, enter it and ask again; or use "
    "a browser that you have signed in with before. Otherwise try again tomorrow."
)


def span(now: datetime, window: timedelta) -> str:
    """The name of the clock hour, or day, that a moment is in."""
    return f"{now:%Y-%m-%dT%H}" if window == WINDOW else f"{now:%Y-%m-%d}"


def seconds_left(now: datetime, window: timedelta) -> int:
    """The seconds until a window ends: a clock hour or a day."""
    seconds = int(window.total_seconds())
    return seconds - int(now.timestamp()) % seconds


def _duration(seconds: int) -> str:
    minutes = -(-seconds // 60)
    return f"{minutes} minutes" if minutes < 120 else f"{-(-minutes // 60)} hours"


def new_code(world: World, is_long: bool) -> str:
    """A code of six digits, or of twelve, which cannot be guessed."""
    digits = _LONG if is_long else _SHORT
    # Ids are 122 random bits; a digest spreads them over the digits.
    digest = hashlib.sha256(world.new_id().encode()).digest()
    return f"{int.from_bytes(digest[:16], 'big') % 10**digits:0{digits}d}"


def warning(wrong: int) -> str:
    """What the mail adds after many wrong codes."""
    if wrong < WRONG_A_DAY:
        return ""
    return (
        f"\n\n{wrong} wrong codes were typed for this address within a day. If that was not you, someone is "
        "trying to sign in as you. They cannot guess this code: codes are longer for the rest of the day."
    )
