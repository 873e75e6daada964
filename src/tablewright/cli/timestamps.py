"""Times on the command line: `2026-11-16T08:30:00Z`; UTC unless a time zone is given."""

import argparse
from datetime import UTC, datetime

LATEST = "latest"


def parse_time(text: str) -> float:
    """Seconds since 1970, as DynamoDB's API expects."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a time like 2026-11-16T08:30:00Z or 2026-11-16 08:30, got {text!r}"
        ) from None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def parse_time_or_latest(text: str) -> float | str:
    """As parse_time, or LATEST for the text `latest`."""
    return LATEST if text == LATEST else parse_time(text)
