"""Sends messages to a mail server (RFC 5321) and tells its answers apart: sent, later, never, not about this message.

Must hold: a password is neither in an address nor sent without TLS; certificates are verified; only the code of a
server's answer is stored, because its text may name people.
"""

import os
import smtplib
import ssl
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.headerregistry import Address
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from tablewright.app.mail.message import MailMistake, Sender, message_of, sender_from
from tablewright.kit.delivery import DeliveryDelayed, DeliveryRefused, OutgoingMessage, Send
from tablewright.wire.server import is_loopback

Security: TypeAlias = Literal["starttls", "tls", "none"]
SCHEMES: dict[str, tuple[Security, int]] = {
    "smtp": ("starttls", 587),
    "smtps": ("tls", 465),
    "smtp+plain": ("none", 25),
}
PASSWORD = "TABLEWRIGHT_SMTP_PASSWORD"
TIMEOUT = 20.0
_TOO_LARGE = 552
_HOW = "write the mail server as smtp://user@host:587, smtps://user@host:465 or smtp+plain://host:25"


@dataclass(frozen=True, slots=True)
class Smtp:
    """A mail server. Text messages to phones are refused."""

    host: str
    port: int
    security: Security
    sender: Sender
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def where(self) -> str:
        return f"{self.host} port {self.port}"

    @contextmanager
    def opened(self, title: str) -> Iterator[Send]:
        """A connection, opened with the first message."""
        line = _Line(self, self.sender.of(title))
        try:
            yield line.send
        finally:
            line.close()


def smtp_from(url: str, sender: str, password: str = "") -> Smtp:
    """`smtp://user@host:587` (STARTTLS), `smtps://` (TLS from the start) or `smtp+plain://` (no TLS, no password)."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise MailMistake(_HOW) from None
    if parts.scheme not in SCHEMES or not parts.hostname or parts.path.strip("/") or parts.query:
        raise MailMistake(_HOW)
    if parts.password is not None:
        raise MailMistake(
            f"a password in the address can be read by every user of this machine; put it into {PASSWORD} "
            "or into a file for --smtp-password-file"
        )
    security, usual = SCHEMES[parts.scheme]
    user = unquote(parts.username or "")
    if user and not password:
        raise MailMistake(
            f"signing in to {parts.hostname} as {user} needs a password; put it into {PASSWORD} or into a file for "
            "--smtp-password-file"
        )
    if user and security == "none" and not is_loopback(parts.hostname):
        raise MailMistake("a password is not sent without TLS; use smtp:// (STARTTLS) or smtps://")
    return Smtp(parts.hostname, port or usual, security, sender_from(sender), user, password)


def password_in(file: Path) -> str:
    """The one line of a file that only its owner can read."""
    with open(file, encoding="utf-8") as opened:
        if os.name == "posix" and stat.S_IMODE(os.fstat(opened.fileno()).st_mode) & 0o077:
            raise MailMistake(f"{file} can be read by users other than its owner; run chmod 600 {file}")
        try:
            return opened.read().strip()
        except UnicodeDecodeError:
            raise MailMistake(f"{file} is not UTF-8 text; write the password into it again") from None


class _Line:
    """One connection to a mail server; reopened when it breaks. Close it."""

    def __init__(self, way: Smtp, sender: Address) -> None:
        self._way, self._sender = way, sender
        self._smtp: smtplib.SMTP | None = None

    def send(self, letter: OutgoingMessage) -> None:
        if letter.is_text:
            raise DeliveryRefused("text messages are not supported")
        message = message_of(letter, self._sender)
        if self._smtp is None:
            self._smtp = self._connected()  # an OSError here is about all messages
        try:
            self._smtp.send_message(message)
        except smtplib.SMTPSenderRefused as error:
            self.close()
            if error.smtp_code == _TOO_LARGE:
                raise DeliveryRefused(str(_TOO_LARGE)) from None
            raise  # the server refuses us, whatever the message
        except smtplib.SMTPRecipientsRefused as error:
            ((code, _),) = error.recipients.values()
            raise self._judged(code) from None
        except smtplib.SMTPNotSupportedError:
            raise DeliveryRefused("the server does not support this address") from None
        except smtplib.SMTPResponseException as error:
            raise self._judged(error.smtp_code) from None
        except OSError as error:
            # The connection broke during this message; it may have been sent, so it may arrive twice. This counts as an
            # attempt, so that a message that breaks every connection does not block the others for ever.
            self.close()
            raise DeliveryDelayed(type(error).__name__) from None
        except ValueError:
            raise DeliveryRefused("not a valid e-mail address") from None

    def close(self) -> None:
        smtp, self._smtp = self._smtp, None
        if smtp is not None:
            with suppress(OSError):
                smtp.quit()
            smtp.close()

    def _judged(self, code: int) -> DeliveryRefused | DeliveryDelayed:
        if code >= 500:
            return DeliveryRefused(str(code))
        self.close()  # a busy server may accept a new connection
        return DeliveryDelayed(str(code))

    def _connected(self) -> smtplib.SMTP:
        way, context = self._way, ssl.create_default_context()
        smtp = (
            smtplib.SMTP_SSL(way.host, way.port, timeout=TIMEOUT, context=context)
            if way.security == "tls"
            else smtplib.SMTP(way.host, way.port, timeout=TIMEOUT)
        )
        try:
            smtp.ehlo_or_helo_if_needed()
            if way.security == "starttls":
                smtp.starttls(context=context)
            if way.user:
                smtp.login(way.user, way.password)
        except OSError:
            smtp.close()
            raise
        return smtp
