"""Virus scanners: a stream in, a verdict out (CC-E3).

Must hold: what was not read whole is never clean.
Elsewhere: when files are scanned and what follows (scan.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

_EICAR = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR" + b"-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"


@dataclass(frozen=True, slots=True)
class Clean:
    """Nothing was found."""


@dataclass(frozen=True, slots=True)
class Infected:
    """A virus, by the name that the scanner has for it."""

    signature: str


@dataclass(frozen=True, slots=True)
class Unscanned:
    """The scanner did not read all of it, and says why."""

    reason: str


class Scanner(Protocol):
    """Something that finds viruses."""

    def scan(self, chunks: Iterable[bytes]) -> Clean | Infected | Unscanned:
        """Raises if the scanner does not answer."""
        ...


class NoScanner:
    """Nothing is scanned."""

    def scan(self, chunks: Iterable[bytes]) -> Unscanned:
        return Unscanned("no scanner is set up")


class Signatures:
    """Finds the standard test file anywhere in a stream."""

    def scan(self, chunks: Iterable[bytes]) -> Clean | Infected:
        rest = b""
        for chunk in chunks:
            if _EICAR in rest + chunk:
                return Infected("Eicar-Test-Signature")
            rest = (rest + chunk)[-len(_EICAR) :]
        return Clean()


def scanner_of(setting: str) -> Scanner:
    """The scanner that the settings name."""
    return NoScanner() if setting == "none" else Signatures()
