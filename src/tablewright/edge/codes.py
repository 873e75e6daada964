"""Codes by mail, counted: how long one is, how long it works, how many an address gets. Pure.

Must hold: a code works once, for a quarter of an hour and five tries; an address gets five an hour. That leaves
hundreds of guesses a day for ever, so wrong ones are counted over all codes of a day: from fifty on codes have twelve
digits, which nobody guesses, and the letter says why. A refusal for the day would let anybody lock anybody out.
Elsewhere: where it is counted, in one condition with each try (app/code_login.py, systems/travel/email_login.py).
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from tablewright.world import World

LIVES, WINDOW, DAY = timedelta(minutes=15), timedelta(hours=1), timedelta(days=1)
TRIES, CODES_A_WINDOW, WRONG_A_DAY = 5, 5, 50
_SHORT, _LONG = 6, 12


@dataclass(frozen=True, slots=True)
class Count:
    """What is remembered of an address from one code to the next: how many were sent, how many were wrong."""

    sent: int
    window_ends: datetime
    wrong: int
    day_ends: datetime

    @property
    def is_guessed_at(self) -> bool:
        return self.wrong >= WRONG_A_DAY

    @property
    def until(self) -> datetime:
        """How long it is worth remembering."""
        return max(self.window_ends, self.day_ends)


def one_more(before: Count | None, now: datetime) -> Count:
    """The count with one more code; what is over counts no longer."""
    is_same_hour = before is not None and before.window_ends > now
    is_same_day = before is not None and before.day_ends > now
    return Count(
        sent=before.sent + 1 if before and is_same_hour else 1,
        window_ends=before.window_ends if before and is_same_hour else now + WINDOW,
        wrong=before.wrong if before and is_same_day else 0,
        day_ends=before.day_ends if before and is_same_day else now + DAY,
    )


def wait(count: Count, now: datetime) -> int:
    """The seconds until so many codes may be sent; 0 if they may."""
    if count.sent <= CODES_A_WINDOW:
        return 0
    return max(1, int((count.window_ends - now).total_seconds()))


def new_code(world: World, count: Count | None = None) -> str:
    digits = _LONG if count is not None and count.is_guessed_at else _SHORT
    # Ids are 122 bits of the system's own chance; a digest spreads them over the digits.
    chance = hashlib.sha256(world.new_id().encode()).digest()
    return f"{int.from_bytes(chance[:16], 'big') % 10**digits:0{digits}d}"


def words(code: str, count: Count) -> str:
    """What a letter says of a code."""
    told = (
        f"Your code is {code}. It works once, for 15 minutes.\nIf you did not ask for it, ignore this mail."
    )
    if not count.is_guessed_at:
        return told
    return (
        f"{told}\n\n{count.wrong} wrong codes were typed for this address within a day. If that was not you, somebody "
        "tries to sign in as you. They cannot guess this code: it is longer until that day is over."
    )
