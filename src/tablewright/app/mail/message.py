"""A message in mail format, and its sender."""

import re
from dataclasses import dataclass
from datetime import UTC
from email import policy
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr

from tablewright.edge.mail_addresses import domain_of_mail
from tablewright.kit.delivery import DeliveryRefused, OutgoingMessage

# What the standard library raises for an invalid address; IndexError if it ends too early.
_UNUSABLE = (ValueError, IndexError, MessageError)

# Seven bits: every server takes them.
_POLICY = policy.SMTP.clone(cte_type="7bit")


class MailMistake(ValueError):
    """The mail server or sender is not configured correctly."""


@dataclass(frozen=True, slots=True)
class Sender:
    """The sender of mail."""

    address: str
    name: str = ""

    def of(self, title: str) -> Address:
        """The same for one system: `Skratch at Example Ltd <post@example.com>`."""
        shown = f"{title} at {self.name}" if title and self.name else title or self.name
        return Address(shown, addr_spec=self.address)


def sender_from(given: str) -> Sender:
    """`post@example.com` or `Example Ltd <post@example.com>`."""
    name, address = parseaddr(given)
    try:
        Address(name, addr_spec=address)
    except _UNUSABLE:
        address = ""
    if "@" not in address or not address.isascii():
        raise MailMistake(
            f"'{given}' is not a valid sender; write --mail-from 'Example Ltd <post@example.com>'"
        )
    return Sender(address, name)


def message_of(letter: OutgoingMessage, sender: Address) -> EmailMessage:
    """The message in mail format. The same message twice has the same Message-ID."""
    message = EmailMessage(policy=_POLICY)
    try:
        message["From"] = sender
        message["To"] = letter.recipient if letter.is_text else _address(letter.recipient)
        message["Subject"] = " ".join(letter.subject.split())
        message["Date"] = format_datetime(letter.written.astimezone(UTC))
        message["Message-ID"] = f"<{letter.id}@{sender.domain}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(letter.body)
    except _UNUSABLE:
        raise DeliveryRefused("not a valid e-mail address") from None
    return message


def _address(given: str) -> Address:
    """An address; one of another script is checked as if its letters were ours, and its domain spelled in ours."""
    local, _, domain = given.rpartition("@")
    ascii_domain = domain_of_mail(domain.lower())
    Address(addr_spec=f"{re.sub(r'[^ -~]', 'x', local) if local.isprintable() else local}@{ascii_domain}")
    return Address(username=local, domain=ascii_domain)
