"""Letters that wait in a system's table, and leave it: one shape of a letter, one loop, one way to fail.

    portal.dispatch.run(send)   # from a thread of the app, as often as one likes

A system writes a message with what it is about, PENDING; a `Send` takes it to people.
Must hold: a letter waits, was taken, or FAILED; if we die between the sending and the writing it goes twice, with the
same id. One that is not taken holds up no other, and while nothing can leave none of them uses up an attempt.
Elsewhere: what sends (app/mail.py), what the messages are (each system's model.py).
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from tablewright.mapping import WriteRefused

log = logging.getLogger("tablewright.mail")

State: TypeAlias = Literal["PENDING", "SENT", "FAILED"]
# After each attempt that failed, how long until the next; after the last of them it is given up, two days later.
PAUSES = (
    timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=1), timedelta(hours=4),
    timedelta(hours=16), timedelta(hours=24),
)  # fmt: skip
AT_ONCE = 100
MOST_COUNTED = 1000


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail, or a text message to a number. Nothing of it may stand in a log: subjects hold codes."""

    id: str
    recipient: str = field(repr=False)
    subject: str = field(repr=False)
    body: str = field(repr=False)
    written: datetime

    @property
    def is_text(self) -> bool:
        """Whether it is for a telephone."""
        return "@" not in self.recipient


class LetterRefused(Exception):
    """This letter will never be taken; `why` names nobody."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class LetterDelayed(Exception):
    """This letter was not taken, and may be later; `why` names nobody."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


# Raises LetterRefused or LetterDelayed about this letter; OSError if no letter can leave at all.
Send: TypeAlias = Callable[[Letter], None]


class Posted(Protocol):
    """What the messages of all systems have."""

    @property
    def attempts(self) -> int: ...
    @property
    def tried_at(self) -> datetime | None: ...
    @property
    def error(self) -> str | None: ...


M = TypeVar("M", bound=Posted)


@dataclass(frozen=True, slots=True)
class Delivered:
    """What came of a round. `closed` is why nothing can leave now, if so."""

    sent: int = 0
    later: int = 0
    failed: int = 0
    closed: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """How many letters wait, and how many failed for which reason; of very many, the first thousand."""

    waiting: int
    failed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Dispatch(Generic[M]):
    """What a system has to say, as functions: read by state, made a letter, and noted what became of it.

    `letter` is None for what nobody can ever send. `note` gets the fields that change; SENT may as well delete.
    """

    now: Callable[[], datetime]
    by_state: Callable[[State], Iterable[M]]
    letter: Callable[[M], Letter | None]
    note: Callable[[M, Mapping[str, object]], object]

    def run(self, send: Send) -> Delivered:
        """Send those whose turn it is, a hundred at most."""
        count: Counter[State] = Counter()
        closed: str | None = None
        due = (message for message in self.by_state("PENDING") if self._is_due(message))
        for message in list(islice(due, AT_ONCE)):
            letter = self.letter(message)
            if letter is None:
                continue
            try:
                changed = self._sent(message, letter, send)
            except OSError as error:
                closed = why_closed(error)
                break
            with suppress(WriteRefused):  # another process had it in hand, or its reader was erased
                self.note(message, changed)
            count[changed["state"]] += 1  # type: ignore[index]  # it is a State
        return Delivered(count["SENT"], count["PENDING"], count["FAILED"], closed)

    def standing(self) -> Standing:
        waiting = sum(1 for _ in islice(self.by_state("PENDING"), MOST_COUNTED))
        failed = Counter(each.error or "not known" for each in islice(self.by_state("FAILED"), MOST_COUNTED))
        return Standing(waiting, failed)

    # --- parts ---

    def _is_due(self, message: M) -> bool:
        if message.tried_at is None or not message.attempts:
            return True
        pause = PAUSES[min(message.attempts, len(PAUSES)) - 1]
        return message.tried_at + pause <= self.now()

    def _sent(self, message: M, letter: Letter, send: Send) -> dict[str, object]:
        """What to note of the message."""
        tried = {"attempts": message.attempts + 1, "tried_at": self.now()}
        try:
            send(letter)
        except LetterRefused as refused:
            log.warning("a letter was refused", extra={"letter": letter.id, "why": refused.why})
            return {**tried, "state": "FAILED", "error": refused.why}
        except LetterDelayed as delayed:
            is_last = message.attempts >= len(PAUSES)
            log.warning(
                "a letter was given up" if is_last else "a letter was not taken yet",
                extra={"letter": letter.id, "why": delayed.why},
            )
            return {**tried, "state": "FAILED" if is_last else "PENDING", "error": delayed.why}
        return {**tried, "state": "SENT", "error": None}


def why_closed(error: OSError) -> str:
    """Why nothing can leave, without what servers say: that may name people."""
    code = getattr(error, "smtp_code", None)
    return f"{type(error).__name__} {code}" if isinstance(code, int) else type(error).__name__
