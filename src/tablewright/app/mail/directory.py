"""Messages as files of this machine: the default until a mail server is configured.

Must hold: a file is complete or absent, readable by its owner only, and deleted after a week: messages contain
addresses and codes.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.headerregistry import Address
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from tablewright.app.mail.message import Sender, message_of
from tablewright.kit.delivery import OutgoingMessage, Send

KEPT, MOST_KEPT = timedelta(days=7), 500
OURSELVES = Sender("tablewright@localhost")
_STAMP = "%Y%m%dT%H%M%S.%fZ"


@dataclass(frozen=True, slots=True)
class Kept:
    """A message of the directory, as people read it."""

    recipient: str
    sender: str
    subject: str
    body: str
    written: datetime


@dataclass(frozen=True, slots=True)
class Directory:
    """Messages as files, `<when written>-<id>.eml`: the same message is the same file. Text messages too."""

    path: Path
    sender: Sender = OURSELVES

    @property
    def where(self) -> str:
        return str(self.path)

    @contextmanager
    def opened(self, title: str) -> Iterator[Send]:
        sender = self.sender.of(title)
        yield lambda letter: self._keep(letter, sender)

    def letters(self, to: str = "", most: int = 50) -> list[Kept]:
        """The newest messages first; of one recipient if given."""
        found: list[Kept] = []
        for file in reversed(self._files()):
            with suppress(FileNotFoundError):  # pruned in this moment
                kept = _read(file.read_bytes())
                if kept.recipient.casefold() == to.strip().casefold() or not to.strip():
                    found.append(kept)
            if len(found) == most:
                break
        return found

    def prune(self, now: datetime) -> int:
        """Delete messages older than a week, and the oldest beyond 500; returns how many."""
        files, first = self._files(), f"{now - KEPT:{_STAMP}}"
        old = [file for file in files if file.name < first]
        old += files[len(old) : max(len(old), len(files) - MOST_KEPT)]
        for file in old:
            file.unlink(missing_ok=True)
        return len(old)

    def _files(self) -> list[Path]:
        return sorted(self.path.glob("*.eml")) if self.path.is_dir() else []

    def _keep(self, letter: OutgoingMessage, sender: Address) -> None:
        message = message_of(letter, sender)
        content = message.as_bytes(policy=policy.SMTPUTF8)
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"{letter.written.astimezone(UTC):{_STAMP}}-{''.join(filter(_is_plain, letter.id))}.eml"
        draft = self.path / f".{name}.{os.getpid()}.{threading.get_ident()}.draft"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        os.replace(draft, self.path / name)
        _settle(self.path)
        self.prune(letter.written)


def _is_plain(letter: str) -> bool:
    return letter.isascii() and (letter.isalnum() or letter in "-_")


def _settle(directory: Path) -> None:
    """Names outlive a power cut only once their directory is written."""
    if os.name == "posix":
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _read(content: bytes) -> Kept:
    message: Any = message_from_bytes(content, policy=policy.default)
    return Kept(
        str(message["To"]),
        str(message["From"]),
        str(message["Subject"]),
        message.get_content().replace("\r\n", "\n").rstrip(),
        parsedate_to_datetime(str(message["Date"])),
    )
