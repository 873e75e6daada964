"""Delivery of the messages in an outbox: attempts, pauses, and what became of each.

    portal.dispatch.run(send)   # from a thread of the app, as often as needed

A system writes a message in the transaction that causes it, with state PENDING; a `Send` delivers it.
Must hold: a message is PENDING, SENT or FAILED; if the process dies between sending and writing the state, the message
is sent twice, with the same id. A message that is refused does not delay the others, and while the mail server is
unreachable no message uses up an attempt.
Elsewhere: what sends (app/mail/), the messages themselves (messages.py, each system's model.py).
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
# The pause after each failed attempt; after the last one, two days later, the message has failed.
PAUSES = (
    timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=1), timedelta(hours=4),
    timedelta(hours=16), timedelta(hours=24),
)  # fmt: skip
BATCH_SIZE = 100
MAX_COUNTED = 1000


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A mail, or a text message to a phone number. Nothing of it may be logged: subjects contain codes."""

    id: str
    recipient: str = field(repr=False)
    subject: str = field(repr=False)
    body: str = field(repr=False)
    written: datetime

    @property
    def is_text(self) -> bool:
        """Whether it is a text message to a phone number."""
        return "@" not in self.recipient


class DeliveryRefused(Exception):
    """This message can never be delivered; `why` contains no personal data."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class DeliveryDelayed(Exception):
    """This message was not accepted, and may be later; `why` contains no personal data."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


# Raises DeliveryRefused or DeliveryDelayed about this message; OSError if no message can be sent at all.
Send: TypeAlias = Callable[[OutgoingMessage], None]


class OutboxRow(Protocol):
    """The fields that the messages of all systems have."""

    @property
    def attempts(self) -> int: ...
    @property
    def tried_at(self) -> datetime | None: ...
    @property
    def error(self) -> str | None: ...


M = TypeVar("M", bound=OutboxRow)


@dataclass(frozen=True, slots=True)
class DeliveryCounts:
    """The outcome of one run. `unavailable` is the reason why nothing can be sent now, if so."""

    sent: int = 0
    delayed: int = 0
    failed: int = 0
    unavailable: str | None = None


@dataclass(frozen=True, slots=True)
class OutboxStatus:
    """How many messages wait, and how many failed for which reason; at most a thousand of each are counted."""

    waiting: int
    failed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class OutboxDispatch(Generic[M]):
    """A system's messages, as functions: read them by state, render one, record the outcome.

    `render` returns None for a message that is not to be sent, and may raise DeliveryRefused. `record` gets the fields
    that change; it may delete a message that is SENT. `expires_at` is when the code in a message expires.
    """

    now: Callable[[], datetime]
    by_state: Callable[[State], Iterable[M]]
    render: Callable[[M], OutgoingMessage | None]
    record: Callable[[M, Mapping[str, object]], object]
    expires_at: Callable[[M], datetime | None] = lambda _: None

    def run(self, send: Send) -> DeliveryCounts:
        """Send the messages that are due, at most a hundred."""
        count: Counter[State] = Counter()
        unavailable: str | None = None
        due = (message for message in self.by_state("PENDING") if self._is_due(message))
        for message in list(islice(due, BATCH_SIZE)):
            try:
                changed = self._attempt(message, send)
            except OSError as error:
                unavailable = unavailable_reason(error)
                break
            if changed is None:
                continue
            with suppress(WriteRefused):  # another process sent it, or its recipient was erased
                self.record(message, changed)
            count[changed["state"]] += 1  # type: ignore[index]  # it is a State
        return DeliveryCounts(count["SENT"], count["PENDING"], count["FAILED"], unavailable)

    def status(self) -> OutboxStatus:
        waiting = sum(1 for _ in islice(self.by_state("PENDING"), MAX_COUNTED))
        failed = Counter(each.error or "not known" for each in islice(self.by_state("FAILED"), MAX_COUNTED))
        return OutboxStatus(waiting, failed)

    # --- parts ---

    def _is_due(self, message: M) -> bool:
        if message.tried_at is None or not message.attempts:
            return True
        pause = PAUSES[min(message.attempts, len(PAUSES)) - 1]
        return message.tried_at + pause <= self.now()

    def _attempt(self, message: M, send: Send) -> dict[str, object] | None:
        """Send the message; the fields to record, None if there is nothing to send."""
        tried = {"attempts": message.attempts + 1, "tried_at": self.now()}
        try:
            outgoing = self._render(message)
            if outgoing is None:
                return None
            send(outgoing)
        except DeliveryRefused as refused:
            log.warning("message refused", extra={"why": refused.why})
            return {**tried, "state": "FAILED", "error": refused.why}
        except DeliveryDelayed as delayed:
            is_last = message.attempts >= len(PAUSES)
            log.warning(
                "message failed" if is_last else "message delayed",
                extra={"why": delayed.why},
            )
            return {**tried, "state": "FAILED" if is_last else "PENDING", "error": delayed.why}
        return {**tried, "state": "SENT", "error": None}

    def _render(self, message: M) -> OutgoingMessage | None:
        expires_at = self.expires_at(message)
        if expires_at is not None and expires_at <= self.now():
            raise DeliveryRefused("its code or link expired before it could be sent")
        return self.render(message)


def unavailable_reason(error: OSError) -> str:
    """The type of the error and the SMTP code, without the server's text: that may name people."""
    code = getattr(error, "smtp_code", None)
    return f"{type(error).__name__} {code}" if isinstance(code, int) else type(error).__name__
