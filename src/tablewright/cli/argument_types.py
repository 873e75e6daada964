"""Types of command-line arguments: whole numbers between limits, seconds, times; each refuses with what it must be."""

import argparse
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

LATEST = "latest"


def whole_number(words: str, least: int, most: int | None = None) -> Callable[[str], int]:
    """The type of a number from `least` to `most`; `words` say so in the error."""

    def number(text: str) -> int:
        if text.isascii() and text.isdigit() and least <= int(text) and (most is None or int(text) <= most):
            return int(text)
        raise argparse.ArgumentTypeError(f"must be {words}, got {text!r}")

    return number


port = whole_number("a port number from 0 to 65535", 0, 65535)


def positive_seconds(text: str) -> float:
    if (seconds := _seconds(text)) <= 0:
        raise argparse.ArgumentTypeError(f"must be a positive number of seconds, got {text!r}")
    return seconds


def lag(text: str) -> timedelta:
    if (seconds := _seconds(text)) < 0:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, 0 or more, got {text!r}")
    return timedelta(seconds=seconds)


def _seconds(text: str) -> float:
    """The number of seconds, at most ten years; -1 for any other text."""
    try:
        number = float(text)
    except ValueError:
        return -1
    return number if number <= 315_360_000 else -1


def time(text: str) -> float:
    """`2026-11-16T08:30:00Z`, UTC unless a time zone is given, as seconds since 1970: DynamoDB's API expects those."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a time like 2026-11-16T08:30:00Z or 2026-11-16 08:30, got {text!r}"
        ) from None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def time_or_latest(text: str) -> float | str:
    return LATEST if text == LATEST else time(text)
