"""Mail: written into the table with what it is about (SK-E6); dispatched from there.

Must hold: a stored message has no address and no code in clear text (SK-S6); a sent message is deleted.
Elsewhere: the dispatch (kit/outbox.py), the transport (the app), notifications to devices (notices.py).
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
    """Mail to be sent."""

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
        """The dispatch of pending mail."""
        db = self._repository.db
        return OutboxDispatch(
            self._repository.now,
            lambda state: db.all(d.messages_by_state(state=state)),
            self._letter,
            self._note,
            lambda message: message.expires_at,
        )

    def covered(self, message: Message) -> Message:
        """A mail for readers other than its recipient: its text with the secrets masked."""
        return message.model_copy(update=self.texts.masked_fields(message))

    def _letter(self, message: Message) -> OutgoingMessage | None:
        try:
            recipient = self._keyring.open(PURPOSE, message.recipient)
        except SealBroken:
            # Its secret is gone, so it can never be sent.
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
