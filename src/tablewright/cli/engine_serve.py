"""`tablewright engine serve`: serve the DynamoDB HTTP API until it is stopped.

Prints one line when it is ready. SIGTERM or Ctrl-C finishes accepted requests and exits 0; a second one exits at once,
with 130 or 143.
"""

import argparse
import gc
import sys
from typing import Any

from tablewright.cli import engine_options
from tablewright.cli.files import buckets_location, error_text
from tablewright.cli.stderr_logs import log_to_stderr
from tablewright.engine import BucketsUnknown, Engine, NotAStore, Regions, RegionsMistake, StoreInUse
from tablewright.engine.storage.region_stores import refuse_elsewhere
from tablewright.wire import (
    CredentialsUnusable,
    OpenToTheNetwork,
    check_reach,
    read_credentials,
    read_token,
    serve,
)

EXAMPLES = """--credentials FILE is in the AWS credentials format ([name], aws_access_key_id = ...,
aws_secret_access_key = ...); the key of each profile is accepted. Without it any signature is accepted, and only on
loopback addresses.

examples:
  tablewright engine serve
  tablewright engine serve --host 0.0.0.0 --data /var/lib/tablewright --credentials keys.ini"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=port, default=8000, help="port to listen on, 0 for a free port (default: %(default)s)"
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
    parser.add_argument("--credentials", metavar="FILE", help="verify signatures against the keys in FILE")
    engine_options.add_ttl_options(parser)
    parser.add_argument(
        "--throttle",
        action="store_true",
        help="throttle requests above provisioned or on-demand capacity, as AWS does",
    )
    parser.add_argument(
        "--metrics-token",
        metavar="FILE",
        help="accept the text of FILE as a bearer token for /metrics, instead of a signature",
    )
    parser.add_argument(
        "--buckets",
        type=buckets_location,
        metavar="DIR",
        help="the directory of the buckets for exports and imports (default: buckets in the store); s3: for "
        "Amazon S3, s3:URL for an S3-compatible endpoint",
    )
    parser.add_argument("--region", default="us-east-1", help="the region (default: %(default)s)")
    parser.add_argument(
        "--also-region",
        action="append",
        default=[],
        metavar="REGION",
        help="a further region with its own store below the first, selected by the region in a request's signature; "
        "can be repeated",
    )


def port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"must be a port number from 0 to 65535, got {text!r}")
    return int(text)


def run(given: argparse.Namespace) -> int:
    """Open, serve, close."""
    log_to_stderr()
    path = ":memory:" if given.memory else given.data
    try:
        credentials = read_credentials(given.credentials) if given.credentials else None
        token = read_token(given.metrics_token) if given.metrics_token else None
        check_reach(given.host, credentials)  # before a store is created
        options: dict[str, Any] = {
            "durability": given.durability,
            "ttl_seconds": given.ttl_seconds,
            "ttl_lag": given.ttl_lag,
            "throttling": given.throttle,
            "buckets": given.buckets,
        }
        opened: Engine | Regions
        if given.also_region:
            opened = Regions.open(path, home=given.region, also=given.also_region, **options)
        else:
            opened = Engine.open(path, region=given.region, **options)
        with opened as engine:
            if isinstance(engine, Engine):
                refuse_elsewhere(engine.tables, given.region, path)
            gc.freeze()  # objects loaded so far are permanent: later collections skip them
            gc.set_threshold(50_000, 20, 100)  # requests create no reference cycles, so collect rarely
            serve(
                engine,
                host=given.host,
                port=given.port,
                credentials=credentials,
                metrics_token=token,
                ready=lambda url: print(ready_line(given, url), flush=True),
            )
    except (
        BucketsUnknown, CredentialsUnusable, OpenToTheNetwork, RegionsMistake, StoreInUse, NotAStore,
        OSError,
    ) as error:  # fmt: skip
        print(f"tablewright: {error_text(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def ready_line(given: argparse.Namespace, url: str) -> str:
    """One line: the store, the URL, and how to connect with boto3."""
    store = "memory" if given.memory else f"{given.data} ({given.durability})"
    keys = "" if given.credentials else ', aws_access_key_id="any", aws_secret_access_key="any"'
    client = f'boto3.client("dynamodb", endpoint_url="{url}", region_name="{given.region}"{keys})'
    return f"tablewright: serving {store} on {url} - {client}"
