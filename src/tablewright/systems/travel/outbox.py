"""Mail: written into the table with what it is about, sent from there (SK-E6).

Must hold: no address stands in a message in the clear (SK-S6); a message may be sent twice if we die in between, it is
never lost; once sent it is gone. Elsewhere: what really sends (the app), push notifications (none are sent).
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import TypeAlias

from tablewright.design import Write
from tablewright.mapping import WriteRefused
from tablewright.systems.travel import design as d
from tablewright.systems.travel.keyring import KeyRing, SealBroken
from tablewright.systems.travel.model import Message
from tablewright.systems.travel.repository import Repository

log = logging.getLogger("tablewright.travel")

KEPT = timedelta(days=30)
ATTEMPTS, AT_ONCE = 5, 100
PURPOSE = "mail"


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail as it is sent."""

    recipient: str = field(repr=False)
    subject: str
    body: str = field(repr=False)


# OSError means that it may work later.
Sender: TypeAlias = Callable[[Letter], None]


class Outbox:
    """What is to be said by mail."""

    def __init__(self, repository: Repository, keyring: KeyRing) -> None:
        self._repository, self._keyring = repository, keyring

    def mail(self, user_id: str | None, address: str, subject: str, body: str) -> Write[Message]:
        """A mail, to be written with what it is about; to nobody's account if there is none yet."""
        now = self._repository.now()
        id = self._repository.new_timed_id(now)
        return d.messages.create(
            Message(
                owner=user_id or id,
                message_id=id,
                recipient=self._keyring.seal(PURPOSE, address),
                subject=subject,
                body=body,
                created_at=now,
                expires_at=now + KEPT,
            )
        )

    def waiting(self) -> list[tuple[Message, Letter]]:
        """What waits to be sent, the oldest first; some of it if it is much."""
        found = list(islice(self._repository.db.all(d.messages_by_state(state="PENDING")), AT_ONCE))
        return [(message, letter) for message in found if (letter := self._opened(message)) is not None]

    def deliver(self, send: Sender) -> tuple[int, int]:
        """Send what waits; how many were sent and how many were not."""
        sent = failed = 0
        for message, letter in self.waiting():
            try:
                send(letter)
            except OSError as error:
                facts = {"mail": message.message_id, "mistake": type(error).__name__}
                log.warning("mail not delivered", extra=facts)
                self._note_failure(message)
                failed += 1
                continue
            self._repository.db.write(d.messages.discard(message.owner, message.message_id))
            sent += 1
        return sent, failed

    def _opened(self, message: Message) -> Letter | None:
        try:
            recipient = self._keyring.open(PURPOSE, message.recipient)
        except SealBroken:
            # Its secret is gone: nobody can ever send it.
            self._repository.db.write(d.messages.discard(message.owner, message.message_id))
            return None
        return Letter(recipient, message.subject, message.body)

    def _note_failure(self, message: Message) -> None:
        tried = message.tried + 1
        state = "FAILED" if tried >= ATTEMPTS else "PENDING"
        after = message.model_copy(update={"tried": tried, "state": state})
        try:
            self._repository.db.write(d.messages.change(message, after))
        except WriteRefused:
            return  # another process had it in hand, or its reader was erased
