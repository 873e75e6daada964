"""Mail: written into the table with what it is about (SK-E6); dispatched from there.

Must hold: no address and no code stands in a message in the clear (SK-S6); once sent a message is gone.
Elsewhere: how it leaves (kit/outbox.py), what really sends (the app), short words to devices (notices.py).
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial

from tablewright.design import Write
from tablewright.kit.messages import MessageTemplates, after_attempt
from tablewright.kit.outbox import OutboxDispatch, OutgoingMessage
from tablewright.kit.sealed_text import Seal, SealBroken
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.keyring import KeyRing
from tablewright.systems.travel.mail import TEMPLATES
from tablewright.systems.travel.model import Message
from tablewright.systems.travel.repository import Repository

KEPT = timedelta(days=30)
PURPOSE, _SECRETS = "mail", "mail secrets"


class Outbox:
    """What is to be said by mail."""

    def __init__(self, repository: Repository, keyring: KeyRing) -> None:
        self._repository, self._keyring = repository, keyring
        seal = Seal(partial(keyring.seal, _SECRETS), partial(keyring.open, _SECRETS))
        self.texts = MessageTemplates(TEMPLATES, seal)

    def mail(
        self,
        user_id: str | None,
        address: str,
        template: str,
        values: Mapping[str, str] | None = None,
        *,
        secrets: Mapping[str, str] | None = None,
        kept: timedelta = KEPT,
    ) -> Write[Message]:
        """A mail of a template (mail.py), to be written with what it is about; `user_id` is None without an account.

        Codes are `secrets`.
        """
        now = self._repository.now()
        id = self._repository.new_timed_id(now)
        return d.messages.create(
            Message(
                owner=user_id or id,
                message_id=id,
                recipient=self._keyring.seal(PURPOSE, address),
                **self.texts.row(template, id, address, values, secrets),
                created_at=now,
                expires_at=now + kept,
            )
        )

    def dispatch(self) -> OutboxDispatch[Message]:
        """How it leaves."""
        db = self._repository.db
        return OutboxDispatch(
            self._repository.now,
            lambda state: db.all(d.messages_by_state(state=state)),
            self._letter,
            self._note,
            lambda message: message.expires_at,
        )

    def covered(self, message: Message) -> Message:
        """A mail for others than its reader: its text, with what is secret covered."""
        return message.model_copy(update=self.texts.masked_fields(message))

    def _letter(self, message: Message) -> OutgoingMessage | None:
        try:
            recipient = self._keyring.open(PURPOSE, message.recipient)
        except SealBroken:
            # Its secret is gone: nobody can ever send it.
            self._repository.db.write(d.messages.discard(message.owner, message.message_id))
            return None
        text = self.texts.text(message, message.message_id, recipient)
        return OutgoingMessage(message.message_id, recipient, text.subject, text.body, message.created_at)

    def _note(self, message: Message, changed: Mapping[str, object]) -> None:
        if changed["state"] == "SENT":
            self._repository.db.write(d.messages.discard(message.owner, message.message_id))
        else:
            after = message.model_copy(update=after_attempt(message, changed))
            self._repository.db.write(d.messages.change(message, after))
