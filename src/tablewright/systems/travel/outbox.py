"""Mail: written into the table with what it is about (SK-E6); dispatched from there.

Must hold: no address stands in a message in the clear (SK-S6); once sent a message is gone.
Elsewhere: how it leaves (edge/dispatch.py), what really sends (the app), short words to devices (notices.py).
"""

from collections.abc import Mapping
from datetime import timedelta

from tablewright.design import Write
from tablewright.edge.dispatch import Dispatch, Letter
from tablewright.systems.travel import design as d
from tablewright.systems.travel.keyring import KeyRing, SealBroken
from tablewright.systems.travel.model import Message
from tablewright.systems.travel.repository import Repository

KEPT = timedelta(days=30)
PURPOSE = "mail"


class Outbox:
    """What is to be said by mail."""

    def __init__(self, repository: Repository, keyring: KeyRing) -> None:
        self._repository, self._keyring = repository, keyring

    def mail(
        self, user_id: str | None, address: str, subject: str, body: str, kept: timedelta = KEPT
    ) -> Write[Message]:
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
                expires_at=now + kept,
            )
        )

    def dispatch(self) -> Dispatch[Message]:
        """How it leaves."""
        db = self._repository.db
        return Dispatch(
            self._repository.now,
            lambda state: db.all(d.messages_by_state(state=state)),
            self._letter,
            self._note,
        )

    def _letter(self, message: Message) -> Letter | None:
        try:
            recipient = self._keyring.open(PURPOSE, message.recipient)
        except SealBroken:
            # Its secret is gone: nobody can ever send it.
            self._repository.db.write(d.messages.discard(message.owner, message.message_id))
            return None
        return Letter(message.message_id, recipient, message.subject, message.body, message.created_at)

    def _note(self, message: Message, changed: Mapping[str, object]) -> None:
        if changed["state"] == "SENT":
            self._repository.db.write(d.messages.discard(message.owner, message.message_id))
        else:
            self._repository.db.write(d.messages.change(message, message.model_copy(update=changed)))
