"""Virus scanners: the bytes of a file in, a verdict out (CC-E3).

Three: clamd over a socket, signatures in this process, and none. Must hold: Clean means that every byte was looked at;
a file that is too large, encrypted or unreadable is Unscanned, never Clean, and so is every file if the scanner fails.
clamd says OK for what it skips: its StreamMaxLength, MaxFileSize and MaxScanSize must be at least `max_stream`, with
AlertExceedsMax and AlertEncrypted on, for the limits inside of archives.
Elsewhere: what a verdict means for a file (the scan job), where its bytes come from (kit/objects/store.py).
"""

import socket
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Protocol

MIB = 1024 * 1024
_CHUNK = 256 * 1024
_MAX_REPLY = 4096


@dataclass(frozen=True, slots=True)
class Clean:
    """Nothing was found."""


@dataclass(frozen=True, slots=True)
class Infected:
    """A virus was found; its name in the scanner's database."""

    signature: str


@dataclass(frozen=True, slots=True)
class Unscanned:
    """The file was not scanned, or not all of it. `retry`: the next try may succeed, as the scanner was not there."""

    reason: str
    retry: bool = False


Verdict = Clean | Infected | Unscanned
TOO_LARGE, ENCRYPTED = Unscanned("too large"), Unscanned("encrypted")


class Scanner(Protocol):
    def scan(self, chunks: Iterable[bytes]) -> Verdict:
        """The verdict on a file. Errors of the scanner are verdicts; errors of `chunks` are raised."""
        ...


class NoScanner:
    """For an installation without a scanner."""

    def scan(self, chunks: Iterable[bytes]) -> Verdict:
        return Unscanned("no scanner is configured")


class ClamdScanner:
    """clamd's INSTREAM: `/run/clamav/clamd.ctl`, or `host:port`; a timeout in seconds for each step."""

    def __init__(self, address: str, timeout: float = 60.0, max_stream: int = 100 * MIB) -> None:
        self._address, self._timeout, self._max_stream = address, timeout, max_stream

    def scan(self, chunks: Iterable[bytes]) -> Verdict:
        try:
            connection = self._connect()
        except (OSError, ValueError) as error:
            return Unscanned(f"clamd cannot be reached: {error}", retry=True)
        with closing(connection):
            size, trouble = 0, _sent(connection, b"zINSTREAM\0")
            for chunk in chunks:
                size += len(chunk)
                if size > self._max_stream:
                    return TOO_LARGE
                for start in range(0, len(chunk), _CHUNK):
                    piece = chunk[start : start + _CHUNK]
                    # A refusal: clamd has answered and closed the connection while we send.
                    trouble = trouble or _sent(connection, len(piece).to_bytes(4) + piece)
                if trouble:
                    break
            trouble = trouble or _sent(connection, bytes(4))
            return _verdict(_reply(connection), trouble)

    def _connect(self) -> socket.socket:
        if self._address.startswith("/"):
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.settimeout(self._timeout)
            try:
                connection.connect(self._address)
            except OSError:
                connection.close()
                raise
            return connection
        host, _, port = self._address.rpartition(":")
        return socket.create_connection((host.strip("[]"), int(port)), self._timeout)


def _sent(connection: socket.socket, content: bytes) -> str:
    """Send; returns what went wrong, or nothing."""
    try:
        connection.sendall(content)
    except OSError as error:
        return str(error) or type(error).__name__
    return ""


def _reply(connection: socket.socket) -> str:
    """clamd's answer up to its zero byte; empty if there is none."""
    reply = b""
    with suppress(OSError):
        while b"\0" not in reply and len(reply) < _MAX_REPLY:
            received = connection.recv(_MAX_REPLY)
            if not received:
                break
            reply += received
    text, end, _ = reply.partition(b"\0")
    return text.decode("utf-8", "replace").strip() if end else ""


def _verdict(reply: str, trouble: str) -> Verdict:
    if reply == "INSTREAM size limit exceeded. ERROR":
        return TOO_LARGE
    if reply.endswith(" FOUND"):
        signature = reply.removesuffix(" FOUND").partition(": ")[2]
        if signature.startswith("Heuristics.Limits.Exceeded"):
            return TOO_LARGE
        return ENCRYPTED if signature.startswith("Heuristics.Encrypted") else Infected(signature)
    if reply == "stream: OK" and not trouble:
        return Clean()
    return Unscanned(f"clamd failed: {reply or trouble or 'it closed the connection'}", retry=True)
