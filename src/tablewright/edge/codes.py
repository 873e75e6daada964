"""Codes by mail, counted: how long one is, how long it works, how many an address gets. Pure.

Must hold: a code works once, for a quarter of an hour and five tries; an address gets five an hour. That leaves
hundreds of guesses a day for ever, so wrong ones are counted over all codes of a day: from fifty on codes have twelve
digits, which nobody guesses, and the letter says why. A refusal for the day would let anybody lock anybody out.
Elsewhere: where it is counted, with each try and before it is looked at (app/code_login.py, systems/travel/
email_login.py, systems/portal/verification.py, and for numbers of phones systems/parental/numbers.py).
"""

import hashlib
from collections.abc import Callable
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
    def until(self) -> datetime:
        """How long it is worth remembering."""
        return max(self.window_ends, self.day_ends)


def remembered(sent: int, window_ends: datetime, wrong: int, day_ends: datetime | None) -> Count:
    """The count as it was kept; before there were days, what was wrong counted for as long as what was sent."""
    return Count(sent, window_ends, wrong, day_ends or window_ends)


def allowed(before: Count | None, now: datetime, refusal: Callable[[str, str, int], Exception]) -> Count:
    """The count with one more code; refused, as the caller says it, while there were too many."""
    count = one_more(before, now)
    if seconds := wait(count, now):
        words = (
            f"{CODES_A_WINDOW} codes were asked for within an hour, which is the most. The next is sent in "
            f"{-(-seconds // 60)} minutes; the last one works for 15 minutes."
        )
        raise refusal("CODE_LIMIT", words, seconds)
    return count


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


def new_code(world: World, wrong: int) -> str:
    """A code for an address for which so many wrong ones were typed today."""
    digits = _LONG if wrong >= WRONG_A_DAY else _SHORT
    # Ids are 122 bits of the system's own chance; a digest spreads them over the digits.
    chance = hashlib.sha256(world.new_id().encode()).digest()
    return f"{int.from_bytes(chance[:16], 'big') % 10**digits:0{digits}d}"


def words(code: str, wrong: int) -> str:
    """What a letter says of a code."""
    told = (
        f"Your code is {code}. It works once, for 15 minutes.\nIf you did not ask for it, ignore this mail."
    )
    return told + warning(wrong)


def warning(wrong: int) -> str:
    """What a letter says besides, if somebody guesses."""
    if wrong < WRONG_A_DAY:
        return ""
    return (
        f"\n\n{wrong} wrong codes were typed for this address within a day. If that was not you, somebody "
        "tries to sign in as you. They cannot guess this code: it is longer until that day is over."
    )
