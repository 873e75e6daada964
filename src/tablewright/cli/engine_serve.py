"""`tablewright engine serve`: the engine behind its HTTP port, until it is told to stop.

Prints one line when requests are answered; SIGTERM or Ctrl-C finishes what was accepted and exits 0.
"""

import argparse
import gc
import sys
from typing import Any

from tablewright.cli import engine_options

SUMMARY = "Serve DynamoDB's HTTP API from a store on disk, or from memory."
EXAMPLES = """--credentials FILE is in the AWS credentials format ([name], aws_access_key_id = ...,
aws_secret_access_key = ...); each profile is a key that may call. Without it any signature is accepted,
and only loopback addresses are listened on.

examples:
  tablewright engine serve
  tablewright engine serve --host 0.0.0.0 --data /var/lib/tablewright --credentials keys.ini"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=port, default=8000, help="port to listen on, 0 for any free one (default: %(default)s)"
    )
    store = parser.add_mutually_exclusive_group()
    store.add_argument("--data", metavar="DIR", default="./data", help="the store (default: %(default)s)")
    store.add_argument("--memory", action="store_true", help="keep everything in memory, lose it at the end")
    parser.add_argument(
        "--durability",
        choices=("durable", "relaxed"),
        default="durable",
        help="durable: no acknowledged write is lost on power loss; relaxed: none on a crash of this process "
        "(default: %(default)s)",
    )
    parser.add_argument("--credentials", metavar="FILE", help="verify signatures against the keys in FILE")
    engine_options.expiry(parser)
    parser.add_argument(
        "--throttle",
        action="store_true",
        help="refuse what is faster than the provisioned or on-demand throughput, as the service does",
    )
    parser.add_argument(
        "--metrics-token",
        metavar="FILE",
        help="whoever brings the text of FILE as a bearer token may read /metrics without signing",
    )
    parser.add_argument(
        "--buckets",
        metavar="DIR",
        help="the directory exports go to and imports come from, each bucket a directory in it (default: buckets in "
        "the store); s3: for S3, s3:URL for another endpoint of that kind",
    )
    parser.add_argument("--region", default="us-east-1", help="region to be (default: %(default)s)")
    parser.add_argument(
        "--also-region",
        action="append",
        default=[],
        metavar="REGION",
        help="a further region, with a store of its own below the first; a request's signature says which is meant",
    )
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="REGION=URL",
        help="a region in another process, for replicas; asked with the first key of --credentials",
    )
    engine_options.lease_of_writers(parser)


def port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text!r}")
    return int(text)


def run(given: argparse.Namespace) -> int:
    """Open, serve, close."""
    from tablewright.cli.logs import log_to_stderr
    from tablewright.engine import BucketsUnknown, Engine, NotAStore, Regions, RegionsMistake, StoreInUse
    from tablewright.engine.regions import refuse_elsewhere
    from tablewright.wire import (
        CredentialsUnusable,
        OpenToTheNetwork,
        check_reach,
        read_credentials,
        read_token,
        serve,
    )
    from tablewright.wire.peers import HttpPeer, PeerUnusable, peer_named

    log_to_stderr()
    path = ":memory:" if given.memory else given.data
    try:
        credentials = read_credentials(given.credentials) if given.credentials else None
        token = read_token(given.metrics_token) if given.metrics_token else None
        check_reach(given.host, credentials)  # before a store is made for nothing
        options: dict[str, Any] = {
            "durability": given.durability,
            "ttl_seconds": given.ttl_seconds,
            "ttl_lag": given.ttl_lag,
            "throttling": given.throttle,
            "buckets": given.buckets,
        }
        key = next(iter((credentials or {}).values()), None)
        peers = {region: HttpPeer(url, region, key) for region, url in map(peer_named, given.peer)}
        opened: Engine | Regions
        if given.also_region or peers:
            opened = Regions.open(
                path, home=given.region, also=given.also_region, peers=peers, lease=given.lease, **options
            )
        else:
            opened = Engine.open(path, region=given.region, **options)
        with opened as engine:
            if isinstance(engine, Engine):
                refuse_elsewhere(engine, path)
            gc.freeze()  # what is loaded by now stays: no collection during a request looks at it again
            gc.set_threshold(50_000, 20, 100)  # requests leave no cycles behind: look for some rarely
            serve(
                engine,
                host=given.host,
                port=given.port,
                credentials=credentials,
                metrics_token=token,
                ready=lambda url: print(ready_line(given, url), flush=True),
            )
        for peer in peers.values():
            peer.close()
    except (
        BucketsUnknown, CredentialsUnusable, OpenToTheNetwork, PeerUnusable, RegionsMistake, StoreInUse, NotAStore,
        OSError,
    ) as mistake:  # fmt: skip
        print(f"tablewright: {mistake}", file=sys.stderr)
        return 2
    return 0


def ready_line(given: argparse.Namespace, url: str) -> str:
    """Where it listens, what it keeps, how safely, and how to reach it."""
    kept = "memory" if given.memory else f"{given.data} ({given.durability})"
    keys = "" if given.credentials else ', aws_access_key_id="any", aws_secret_access_key="any"'
    client = f'boto3.client("dynamodb", endpoint_url="{url}", region_name="{given.region}"{keys})'
    return f"tablewright: serving {kept} on {url} - {client}"
