"""The scanner in this process: known texts and checksums, also inside of zip files (CC-E3).

For an installation without clamd: it finds what its lists have, which is EICAR's test file and the checksums that an
administrator adds. Must hold: a zip bomb costs at most the limits below, and is Unscanned; so is an entry that is
encrypted, damaged or nested more deeply. A file is copied to a temporary file, because zip is read from its end.
"""

import lzma
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from tempfile import TemporaryFile
from typing import IO
from zipfile import BadZipFile, ZipFile, is_zipfile

from tablewright.systems.campus.files.scanner import (
    ENCRYPTED,
    MIB,
    TOO_LARGE,
    Clean,
    Infected,
    Unscanned,
    Verdict,
)

# In two halves: this file is not a virus.
EICAR = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$" + b"EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"
EICAR_NAME = "Eicar-Test-Signature"
# Each entry of a zip has one of these, so a file has at most as many entries.
_ENTRY = b"PK\x01\x02"
_CHUNK = 256 * 1024
_ENCRYPTED = 0x1
# What reading a damaged zip raises: bz2 OSError, ValueError and EOFError, zlib and lzma errors of their own, zipfile
# NotImplementedError for a compression that it does not know, RuntimeError for one that is encrypted.
DAMAGED_ZIP = (
    BadZipFile,
    NotImplementedError,
    EOFError,
    ValueError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
    OSError,
)
UNREADABLE = Unscanned("the archive cannot be read")
TOO_DEEP = Unscanned("archives are nested too deeply")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read: of a file, and of the entries of all its archives together.

    `ratio`: how many times larger than the file its entries may be together; small files may have a MiB.
    """

    file_bytes: int = 2048 * MIB
    unpacked_bytes: int = 1024 * MIB
    entries: int = 10_000
    ratio: int = 100
    depth: int = 2


class _Exceeded(Exception):
    """The bytes of a file, or those of its entries, are more than the limit."""


class _Budget:
    """How many bytes may still be read."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise _Exceeded


class SignatureScanner:
    """Finds EICAR's test file, and files by their SHA-256: `{checksum: name of the virus}`."""

    def __init__(self, checksums: Mapping[str, str] | None = None, limits: Limits | None = None) -> None:
        self._checksums, self._limits = dict(checksums or {}), limits or Limits()

    def scan(self, chunks: Iterable[bytes]) -> Verdict:
        try:
            return self._scan(chunks, _Budget(self._limits.file_bytes), None, 0)
        except _Exceeded:
            return TOO_LARGE

    def _scan(
        self, chunks: Iterable[bytes], budget: _Budget, unpacked: _Budget | None, depth: int
    ) -> Verdict:
        with TemporaryFile() as file:
            size, entries, found = self._search(chunks, file, budget)
            if found is not None:
                return found
            if not is_zipfile(file):
                return Clean()
            if entries > self._limits.entries:
                return TOO_LARGE
            if depth == self._limits.depth:
                return TOO_DEEP
            if unpacked is None:
                allowed = min(self._limits.unpacked_bytes, max(MIB, size * self._limits.ratio))
                unpacked = _Budget(allowed)
            return self._scan_entries(file, unpacked, depth)

    def _search(
        self, chunks: Iterable[bytes], file: IO[bytes], budget: _Budget
    ) -> tuple[int, int, Infected | None]:
        """Copy a file and search it: its size, how many entries a zip in it can have, and a virus."""
        digest, tail, size, entries = sha256(), b"", 0, 0
        for chunk in chunks:
            budget.spend(len(chunk))
            window = tail + chunk
            if EICAR in window:
                return size, entries, Infected(EICAR_NAME)
            entries += window.count(_ENTRY) - tail.count(_ENTRY)
            tail = window[-(len(EICAR) - 1) :]
            digest.update(chunk)
            file.write(chunk)
            size += len(chunk)
        file.flush()
        name = self._checksums.get(digest.hexdigest())
        return size, entries, None if name is None else Infected(name)

    def _scan_entries(self, file: IO[bytes], unpacked: _Budget, depth: int) -> Verdict:
        """Infected if one entry is; else Unscanned if one could not be scanned."""
        verdict: Verdict = Clean()
        try:
            with ZipFile(file) as archive:
                for entry in archive.infolist():
                    if entry.flag_bits & _ENCRYPTED:
                        verdict = ENCRYPTED
                        continue
                    with archive.open(entry) as content:
                        one = self._scan(_chunks(content), unpacked, unpacked, depth + 1)
                    if isinstance(one, Infected):
                        return one
                    verdict = verdict if isinstance(one, Clean) else one
        except DAMAGED_ZIP:
            return UNREADABLE
        return verdict


def _chunks(content: IO[bytes]) -> Iterator[bytes]:
    while chunk := content.read(_CHUNK):
        yield chunk
