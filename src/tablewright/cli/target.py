"""Which tables a command works on: those of a store on disk, of an endpoint or of AWS. The command sees a `Call`.

    @with_target
    def run(given, target): ...

Must hold: a store is opened, never created; reading one does not delete expired items; an error that the caller can
correct is a UsageError, whichever way the tables are reached.
Elsewhere: the Call itself (tablewright.client), how results are printed (format.py).
"""

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from tablewright.cli.output import UsageError
from tablewright.client import (
    Call,
    CallFailed,
    CallRefused,
    Credentials,
    CredentialsUnusable,
    EndpointUnusable,
    HttpCall,
    RegionUnusable,
    Retries,
    Timeouts,
    embedded,
)
from tablewright.client.endpoint import endpoint_of
from tablewright.engine import Engine, NotAStore, StoreInUse
from tablewright.engine.storage.region_stores import home_of, store_of
from tablewright.engine.storage.sqlite import exists

DATA = "./data"
REGION = "us-east-1"
# A sweep period longer than any command runs: expired items are left to the server of the store.
NO_TTL_SWEEP = 3e7

Opened = TypeVar("Opened")


@dataclass(frozen=True, slots=True)
class Target:
    """Tables that can be called. `engine` is set if they are in a store that this process has opened."""

    call: Call
    name: str
    engine: Engine | None = None

    def find_table(self, name: str) -> dict[str, Any] | None:
        """The table's description; None if it does not exist."""
        try:
            return self.describe_table(name)
        except CallRefused as refusal:
            if refusal.name != "ResourceNotFoundException":
                raise
            return None

    def describe_table(self, name: str) -> dict[str, Any]:
        return dict(self.call("DescribeTable", {"TableName": name})["Table"])


def run_with(
    opener: Callable[[argparse.Namespace], AbstractContextManager[Opened]],
) -> Callable[[Callable[[argparse.Namespace, Opened], int]], Callable[[argparse.Namespace], int]]:
    """A decorator that makes a command's `run(given)` of a `run(given, opened)`; what was opened is closed after it."""

    def decorate(work: Callable[[argparse.Namespace, Opened], int]) -> Callable[[argparse.Namespace], int]:
        @wraps(work)
        def run(given: argparse.Namespace) -> int:
            with opener(given) as opened:
                return work(given, opened)

        return run

    return decorate


def add_target_options(parser: argparse.ArgumentParser, *, json: str | None = None) -> None:
    """The options that name the tables, and --json with this help."""
    if json is not None:
        parser.add_argument("--json", action="store_true", help=json)
    group = parser.add_argument_group("which tables")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--data", metavar="DIR", type=Path, help=f"a store on disk that no server has open (default: {DATA})"
    )
    either.add_argument(
        "--endpoint", metavar="URL", help="a server: `tablewright engine serve` or any DynamoDB endpoint"
    )
    group.add_argument(
        "--region", help="the region; without --data and --endpoint, the tables of that AWS region are used"
    )
    group.add_argument("--profile", help="the AWS profile whose credentials are used")


@contextmanager
def open_target(given: argparse.Namespace, *, instead: str = "use --endpoint URL") -> Iterator[Target]:
    """The tables that the options name; `instead` says what to do about a store that a server has open."""
    is_remote = given.endpoint is not None or (given.data is None and (given.region or given.profile))
    try:
        with _open_endpoint(given) if is_remote else _open_store(given) as target:
            yield target
    except StoreInUse as error:
        raise UsageError(f"{error}; if a server has it open, {instead}") from None
    except (NotAStore, CallFailed, EndpointUnusable, CredentialsUnusable, RegionUnusable) as error:
        raise UsageError(str(error)) from None


with_target = run_with(open_target)


@contextmanager
def _open_store(given: argparse.Namespace) -> Iterator[Target]:
    directory = given.data or Path(DATA)
    if not exists(directory):
        raise UsageError(
            f"no store found in {directory}; name its directory with --data, or a server with --endpoint"
        )
    if given.region and exists(further := store_of(directory, "", given.region)):
        directory = Path(further)
    with Engine.open(directory, region=given.region or REGION, ttl_seconds=NO_TTL_SWEEP) as engine:
        region = home_of(engine.tables)
        if region is not None and given.region not in (None, region):
            raise UsageError(
                f"the store in {directory} belongs to region {region} and has no store of {given.region} below it; "
                "leave out --region or name another directory"
            )
        if region is not None:
            engine.place = replace(engine.place, region=region)
        yield Target(embedded(engine), str(directory), engine)


@contextmanager
def _open_endpoint(given: argparse.Namespace) -> Iterator[Target]:
    with http_call(given.endpoint, given.region, given.profile) as call:
        yield Target(call, call.endpoint)


def http_call(
    endpoint: str | None,
    region: str | None,
    profile: str | None,
    *,
    timeouts: Timeouts | None = None,
    retries: Retries | None = None,
    pool_size: int = 10,
) -> HttpCall:
    """Calls to a server, or to AWS in a region, with the credentials that boto3 would use."""
    is_own_server = endpoint is not None and not is_aws(endpoint)
    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region is None and is_own_server and not profile:
        region = REGION
    has_keys = os.environ.get("AWS_ACCESS_KEY_ID") or os.environ.get("AWS_PROFILE")
    if profile or has_keys or endpoint is None or not is_own_server:
        return HttpCall.resolve(
            region, endpoint, profile, timeouts=timeouts, retries=retries, pool_size=pool_size
        )
    # A server without --credentials accepts any keys; one with credentials answers that these are wrong.
    keys = Credentials("any", "any")
    return HttpCall(endpoint, region or REGION, keys, timeouts=timeouts, retries=retries, pool_size=pool_size)


def is_aws(endpoint: str) -> bool:
    return endpoint_of(endpoint).host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".api.aws"))
