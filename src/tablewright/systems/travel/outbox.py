"""Mail: written into the table with what it is about (SK-E6); dispatched from there.

Must hold: a stored message has no address and no code in clear text (SK-S6); a sent message is deleted.
Elsewhere: the block (kit/outbox.py), the transport (the app), notifications to devices (notices.py).
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path

from tablewright.design import Write
from tablewright.kit.keyring import KeyRing
from tablewright.kit.messages import MessageTemplates, read_templates
from tablewright.kit.outbox import KEPT, Mailbox
from tablewright.kit.sealed_text import Seal
from tablewright.systems.travel import design as d
from tablewright.systems.travel.model import Message
from tablewright.systems.travel.repository import Repository

# The texts of notifications to devices too, so they contain no place.
TEMPLATES = read_templates(Path(__file__).parent / "pages" / "mail")
PURPOSE, _SECRETS = "mail", "mail secrets"


class Outbox:
    """Mail to be sent."""

    def __init__(self, repository: Repository, keyring: KeyRing) -> None:
        self._repository = repository
        seal = Seal(partial(keyring.seal, _SECRETS), partial(keyring.open, _SECRETS))
        self._mailbox = Mailbox(
            d.outbox,
            repository,
            MessageTemplates(TEMPLATES, seal),
            keeps_sent=False,
            hide=partial(keyring.seal, PURPOSE),
            reveal=partial(keyring.open, PURPOSE),
        )
        self.exported, self.dispatch = self._mailbox.exported, self._mailbox.dispatch

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
        """A mail, to be written with what it is about; `user_id` is None without an account. Codes are `secrets`."""
        id = self._repository.new_timed_id(self._repository.now())
        return self._mailbox.mail(address, template, values, user_id or id, id=id, secrets=secrets, kept=kept)
