"""Messages as they are stored: a template's name, plain values, and sealed secrets; rendered when they are sent.

    texts = MessageTemplates({"code": Template("Your code: {code}", "It works once.")}, seal_of(secret, "mail", world))
    row = Message(..., **texts.row("code", id, recipient, secrets={"code": "123456"}))
    texts.text(row, id, recipient)  # the text for its recipient; only for sending
    row.model_copy(update=texts.masked_fields(row))  # what everybody else may read: "Your code: ••••••"

Must hold: a code or link that signs its reader in is a secret, never a value; only `text` unseals it; the write that
records a message as sent or failed also removes its secrets (`after_attempt`).
Elsewhere: how messages leave (outbox.py), the seal (sealed_text.py), the templates (pages/mail/ beside
each system, app/mail/templates/).
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tablewright.kit.delivery import DeliveryRefused
from tablewright.kit.sealed_text import Seal, SealBroken

MASK = "••••••"
# The fields that an export leaves out: it has the text instead.
STORED_FIELDS = frozenset(("template", "values", "secrets", "secrets_until"))
# Secrets in texts that were stored whole: six or twelve digits, the end of a link.
_SECRETS = re.compile(r"\b\d{6}(?:\d{6})?\b|(?<=secret=)[\w-]+|(?<=/invitations/)[\w-]+")


@dataclass(frozen=True, slots=True)
class Template:
    """A message with the names of its values in braces."""

    subject: str
    body: str


def read_templates(folder: Path) -> dict[str, Template]:
    """The templates in a folder's text files, by name: `order_to_pay.txt` is "order to pay".

    A file has `Subject: ...` in its first line, then an empty line and the body.
    """
    return {file.stem.replace("_", " "): _read_template(file) for file in sorted(folder.glob("*.txt"))}


def _read_template(file: Path) -> Template:
    head, _, body = file.read_text(encoding="utf-8").partition("\n\n")
    subject = head.removeprefix("Subject: ")
    if subject == head or "\n" in subject or not body.strip():
        raise ValueError(
            f"{file} must have 'Subject: ...' in its first line, then an empty line and the text"
        )
    return Template(subject, body.rstrip("\n"))


@dataclass(frozen=True, slots=True)
class MessageText:
    """The text of a message."""

    subject: str = field(repr=False)
    body: str = field(repr=False)


class StoredMessage(Protocol):
    """The fields of a stored message in all systems. Only rows from before templates have `subject` and `body`."""

    @property
    def template(self) -> str: ...
    @property
    def values(self) -> Mapping[str, str]: ...
    @property
    def secrets(self) -> str | None: ...
    @property
    def subject(self) -> str | None: ...
    @property
    def body(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class MessageTemplates:
    """A system's templates, and the seal for their secrets."""

    templates: Mapping[str, Template]
    seal: Seal

    def row(
        self,
        template: str,
        id: str,
        recipient: str,
        values: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The fields of a row. A missing value of the template raises KeyError now, not when the message is sent."""
        plain = dict(values or {})
        render(self.templates[template], {**plain, **(secrets or {})})
        sealed = self.seal.close(json.dumps(secrets), f"{id}\0{recipient}") if secrets else None
        return {"template": template, "values": plain, "secrets": sealed}

    def text(self, message: StoredMessage, id: str, recipient: str) -> MessageText:
        """The text for the recipient. Raises DeliveryRefused if its secrets cannot be unsealed, or are gone."""
        if message.subject is not None:
            return MessageText(message.subject, message.body or "")
        try:
            found = (
                json.loads(self.seal.open(message.secrets, f"{id}\0{recipient}")) if message.secrets else {}
            )
            return render(self.templates[message.template], {**message.values, **found})
        except (SealBroken, KeyError):
            raise DeliveryRefused("its code or link can no longer be read") from None

    def masked(self, message: StoredMessage) -> MessageText:
        """The text for others than the recipient, with every secret masked."""
        if message.subject is not None:
            return MessageText(_SECRETS.sub(MASK, message.subject), _SECRETS.sub(MASK, message.body or ""))
        known = self.templates.get(message.template, Template(message.template, ""))
        return render(known, defaultdict(lambda: MASK, message.values))

    def masked_fields(self, message: StoredMessage) -> dict[str, Any]:
        """The fields to update in a message before others than its recipient see it."""
        text = self.masked(message)
        return {"subject": text.subject, "body": text.body, "secrets": None}


def after_attempt(message: StoredMessage, changed: Mapping[str, object]) -> dict[str, object]:
    """The fields to write after an attempt; they remove the secrets, unless the message is tried again."""
    if changed["state"] == "PENDING":
        return dict(changed)
    gone: dict[str, object] = {"secrets": None}
    if message.subject is not None:
        gone |= {name: _SECRETS.sub(MASK, text or "") for name, text in _whole(message)}
    return {**changed, **gone}


def _whole(message: StoredMessage) -> tuple[tuple[str, str | None], ...]:
    return ("subject", message.subject), ("body", message.body)


def render(template: Template, values: Mapping[str, str]) -> MessageText:
    """The text of a template with these values."""
    return MessageText(template.subject.format_map(values), template.body.format_map(values))
