"""Options of the commands that run an engine: `engine serve` and `serve`."""

import argparse
import gc
from datetime import timedelta

from tablewright.cli.argument_types import lag, port, positive_seconds
from tablewright.cli.files import buckets_location


def add_server_options(parser: argparse.ArgumentParser, default_port: int) -> None:
    """The address to listen on, and the store."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port",
        type=port,
        default=default_port,
        help="port to listen on, 0 for a free port (default: %(default)s)",
    )
    store = parser.add_mutually_exclusive_group()
    store.add_argument("--data", metavar="DIR", default="./data", help="the store (default: %(default)s)")
    store.add_argument("--memory", action="store_true", help="keep everything in memory; it is lost at exit")
    parser.add_argument(
        "--durability",
        choices=("durable", "relaxed"),
        default="durable",
        help="durable: acknowledged writes survive a power loss; relaxed: they survive a crash of this process "
        "(default: %(default)s)",
    )


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """How soon expired items are deleted, throttling, the buckets, and further regions."""
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
    parser.add_argument(
        "--throttle",
        action="store_true",
        help="throttle requests above provisioned or on-demand capacity, as AWS does",
    )
    parser.add_argument(
        "--buckets",
        type=buckets_location,
        metavar="DIR",
        help="the directory of the buckets for exports and imports (default: buckets in the store); s3: for "
        "Amazon S3, s3:URL for an S3-compatible endpoint",
    )
    parser.add_argument(
        "--also-region",
        action="append",
        default=[],
        metavar="REGION",
        help="a further region with its own store below the first, in which tables can have replicas; a request's "
        "signature selects it; can be repeated",
    )


def collect_rarely() -> None:
    """Before serving: objects loaded so far are permanent, and requests create no reference cycles."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
