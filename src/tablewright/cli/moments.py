"""Moments as they are written on a command line: `2026-11-16T08:30:00Z`; without a zone they are UTC."""

import argparse
from datetime import UTC, datetime

LATEST = "latest"


def moment_of(text: str) -> float:
    """Seconds since 1970, as the service wants them."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"a moment is written as 2026-11-16T08:30:00Z or 2026-11-16 08:30, not {text!r}"
        ) from None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def moment_or_latest(text: str) -> float | str:
    """The same, or LATEST."""
    return LATEST if text == LATEST else moment_of(text)
