"""Options that every command has which runs an engine: `engine serve`, and `serve` with everything around it."""

import argparse
from datetime import timedelta


def expiry(parser: argparse.ArgumentParser) -> None:
    """When items that have expired go."""
    parser.add_argument(
        "--ttl-seconds",
        type=seconds,
        default=10.0,
        metavar="SECONDS",
        help="how often expired items are swept (default: %(default)s)",
    )
    parser.add_argument(
        "--ttl-lag",
        type=lag,
        default=timedelta(0),
        metavar="SECONDS",
        help="how long expired items stay before they are swept; the service takes hours (default: 0)",
    )


def lease_of_writers(parser: argparse.ArgumentParser) -> None:
    """How long a writer among replicas goes on when it is cut off."""
    parser.add_argument(
        "--lease",
        type=lease,
        metavar="SECONDS",
        help="a promoted writer that is out of touch with its replicas for so long takes no writes until it is again, "
        "and who is promoted without it waits for that; give all regions the same (default: it goes on)",
    )


def seconds(text: str) -> float:
    number = _number(text)
    if number <= 0:
        raise argparse.ArgumentTypeError(f"a period is a number of seconds above 0, not {text!r}")
    return number


def lag(text: str) -> timedelta:
    number = _number(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"a lag is a number of seconds from 0 up, not {text!r}")
    return timedelta(seconds=number)


def lease(text: str) -> float:
    number = _number(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"a lease is a number of seconds from 1 up, not {text!r}")
    return number


def _number(text: str) -> float:
    """A number of seconds that is no more than ten years; -1 for anything else."""
    try:
        number = float(text)
    except ValueError:
        return -1
    return number if number <= 315_360_000 else -1
