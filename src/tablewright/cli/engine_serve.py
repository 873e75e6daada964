"""`tablewright engine serve`: serve the DynamoDB HTTP API until it is stopped.

Prints one line when it is ready. SIGTERM or Ctrl-C finishes accepted requests and exits 0; a second one exits at once,
with 130 or 143.
"""

import argparse
from typing import Any

from tablewright.cli.engine_options import add_engine_options, add_server_options, collect_rarely
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

tablewright engine serve
tablewright engine serve --host 0.0.0.0 --data /var/lib/tablewright --credentials keys.ini"""
ERRORS = (BucketsUnknown, CredentialsUnusable, OpenToTheNetwork, RegionsMistake, StoreInUse, NotAStore)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_server_options(parser, 8000)
    parser.add_argument("--credentials", metavar="FILE", help="verify signatures against the keys in FILE")
    add_engine_options(parser)
    parser.add_argument(
        "--metrics-token",
        metavar="FILE",
        help="accept the text of FILE as a bearer token for /metrics, instead of a signature",
    )
    parser.add_argument("--region", default="us-east-1", help="the region (default: %(default)s)")


def run(given: argparse.Namespace) -> int:
    """Open, serve, close."""
    log_to_stderr()
    path = ":memory:" if given.memory else given.data
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
        collect_rarely()
        serve(
            engine,
            host=given.host,
            port=given.port,
            credentials=credentials,
            metrics_token=token,
            ready=lambda url: print(ready_line(given, url), flush=True),
        )
    return 0


def ready_line(given: argparse.Namespace, url: str) -> str:
    """One line: the store, the URL, and how to connect with boto3."""
    store = "memory" if given.memory else f"{given.data} ({given.durability})"
    keys = "" if given.credentials else ', aws_access_key_id="any", aws_secret_access_key="any"'
    client = f'boto3.client("dynamodb", endpoint_url="{url}", region_name="{given.region}"{keys})'
    return f"tablewright: serving {store} on {url} - {client}"
