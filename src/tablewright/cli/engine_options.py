"""Options of the commands that run an engine: `engine serve` and `serve`."""

import argparse
from datetime import timedelta


def add_ttl_options(parser: argparse.ArgumentParser) -> None:
    """How soon expired items are deleted."""
    parser.add_argument(
        "--ttl-seconds",
        type=positive_seconds,
        default=10.0,
        metavar="SECONDS",
        help="how often expired items are deleted (default: %(default)s)",
    )
    parser.add_argument(
        "--ttl-lag",
        type=lag,
        default=timedelta(0),
        metavar="SECONDS",
        help="how long expired items stay before deletion; on AWS it takes hours (default: 0)",
    )


def positive_seconds(text: str) -> float:
    number = _number(text)
    if number <= 0:
        raise argparse.ArgumentTypeError(f"must be a positive number of seconds, got {text!r}")
    return number


def lag(text: str) -> timedelta:
    number = _number(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, 0 or more, got {text!r}")
    return timedelta(seconds=number)


def _number(text: str) -> float:
    """The number of seconds, at most ten years; -1 for any other text."""
    try:
        number = float(text)
    except ValueError:
        return -1
    return number if number <= 315_360_000 else -1
