"""Letters to a mail server (RFC 5321), with what it says of them told apart: now, later, never, nobody's.

Must hold: a password is neither in an address nor sent without TLS; certificates are verified; what a server says is
kept as a number, because its words may name people.
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
from tablewright.kit.outbox import DeliveryDelayed, DeliveryRefused, OutgoingMessage, Send
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
_HOW = "where mail goes is written smtp://user@host:587, smtps://user@host:465 or smtp+plain://host:25"


@dataclass(frozen=True, slots=True)
class Smtp:
    """A mail server that takes letters for others. It takes no texts to numbers: those are refused."""

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
        """A connection, made with the first letter."""
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
            f"a password in an address can be read by everybody on this machine; put it into {PASSWORD}, "
            "or into a file for --smtp-password-file"
        )
    security, usual = SCHEMES[parts.scheme]
    user = unquote(parts.username or "")
    if user and not password:
        raise MailMistake(
            f"{parts.hostname} is to know us as {user}; put the password into {PASSWORD}, or into a file for "
            "--smtp-password-file"
        )
    if user and security == "none" and not is_loopback(parts.hostname):
        raise MailMistake(
            "a password is not sent without TLS; write smtp:// (STARTTLS) or smtps:// in front of the host"
        )
    return Smtp(parts.hostname, port or usual, security, sender_from(sender), user, password)


def password_in(file: Path) -> str:
    """The one line of a file that only its owner can read."""
    with open(file, encoding="utf-8") as opened:
        if os.name == "posix" and stat.S_IMODE(os.fstat(opened.fileno()).st_mode) & 0o077:
            raise MailMistake(f"{file} can be read by others than its owner; chmod 600 {file}")
        try:
            return opened.read().strip()
        except UnicodeDecodeError:
            raise MailMistake(f"{file} is no text in UTF-8; write the password into it anew") from None


class _Line:
    """One connection to a mail server; made anew when it breaks. Close it."""

    def __init__(self, way: Smtp, sender: Address) -> None:
        self._way, self._sender = way, sender
        self._smtp: smtplib.SMTP | None = None

    def send(self, letter: OutgoingMessage) -> None:
        if letter.is_text:
            raise DeliveryRefused("no way for text messages")
        message = message_of(letter, self._sender)
        if self._smtp is None:
            self._smtp = self._connected()  # an OSError from here is about all letters
        try:
            self._smtp.send_message(message)
        except smtplib.SMTPSenderRefused as error:
            self.close()
            if error.smtp_code == _TOO_LARGE:
                raise DeliveryRefused(str(_TOO_LARGE)) from None
            raise  # it is we who are not wanted, whatever the letter
        except smtplib.SMTPRecipientsRefused as error:
            ((code, _),) = error.recipients.values()
            raise self._judged(code) from None
        except smtplib.SMTPNotSupportedError:
            raise DeliveryRefused("an address the server cannot spell") from None
        except smtplib.SMTPResponseException as error:
            raise self._judged(error.smtp_code) from None
        except OSError as error:
            # The line broke with this letter on it. Whether it went is not known: it may go twice. It counts as an
            # attempt, so that a letter which breaks every line does not hold up the others for ever.
            self.close()
            raise DeliveryDelayed(type(error).__name__) from None
        except ValueError:
            raise DeliveryRefused("no address of mail") from None

    def close(self) -> None:
        smtp, self._smtp = self._smtp, None
        if smtp is not None:
            with suppress(OSError):
                smtp.quit()
            smtp.close()

    def _judged(self, code: int) -> DeliveryRefused | DeliveryDelayed:
        if code >= 500:
            return DeliveryRefused(str(code))
        self.close()  # a server that is busy may think otherwise of a new connection
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
