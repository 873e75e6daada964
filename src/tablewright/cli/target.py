"""Which tables a command works on: those of a store on disk, of an endpoint or of AWS. The command sees a `Call`.

    def run(given): return with_target(given, lambda target: show(target.call(...)))

Must hold: a store is opened, never created; reading one does not delete expired items; an error that the caller can
correct is one sentence on stderr and exit code 2, whichever way the tables are reached.
Elsewhere: the Call itself (tablewright.client), how results are printed (format.py).
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tablewright.cli.files import error_text
from tablewright.cli.hints import add_target_to_hints
from tablewright.cli.output import INTERRUPTED, discard_stdout, report_error
from tablewright.cli.usage_error import UsageError
from tablewright.client import (
    Call,
    CallFailed,
    Credentials,
    CredentialsUnusable,
    EndpointUnusable,
    HttpCall,
    RegionUnusable,
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
# Errors of every command that the caller can correct.
ERRORS: tuple[type[Exception], ...] = (
    UsageError, NotAStore, CallFailed, EndpointUnusable, CredentialsUnusable, RegionUnusable, OSError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """Tables that can be called. `engine` is set if they are in a store that this process has opened."""

    call: Call
    name: str
    engine: Engine | None = None


class NoStoreFound(UsageError):
    """The directory does not contain a store; commands that read do not create one."""

    def __init__(self, directory: Path) -> None:
        super().__init__(
            f"no store found in {directory}; name its directory with --data, or a server with --endpoint"
        )


class StoreOfAnotherRegion(UsageError):
    """The store belongs to another region than --region."""

    def __init__(self, directory: Path, region: str, named: str) -> None:
        super().__init__(
            f"the store in {directory} belongs to region {region} and has no store of {named} below it; leave out "
            "--region or name another directory"
        )


def add_target_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which tables")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--data", metavar="DIR", type=Path, help=f"a store on disk that no server has open (default: {DATA})"
    )
    either.add_argument(
        "--endpoint", metavar="URL", help="a server: `tablewright engine serve` or any DynamoDB endpoint"
    )
    group.add_argument(
        "--region",
        help="the region; without --data and --endpoint, the tables of that AWS region are used",
    )
    group.add_argument("--profile", help="the AWS profile whose credentials are used")


def with_target(
    given: argparse.Namespace, work: Callable[[Target], int], errors: tuple[type[Exception], ...] = ()
) -> int:
    """Open the target, run `work` on it, close it; returns the exit code of the command.

    `errors`: further errors of `work` that the caller can correct.
    """
    try:
        with open_target(given) as target:
            code = work(target)
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        discard_stdout()
        return 0
    except StoreInUse as error:
        return report_error(
            add_target_to_hints(given, f"{error}; if a server has it open, use --endpoint URL")
        )
    except (*ERRORS, *errors) as error:
        return report_error(add_target_to_hints(given, error_text(error)))
    except KeyboardInterrupt:
        return INTERRUPTED


@contextmanager
def open_target(given: argparse.Namespace) -> Iterator[Target]:
    if given.endpoint is not None or (given.data is None and (given.region or given.profile)):
        with _open_endpoint(given) as target:
            yield target
        return
    directory = given.data or Path(DATA)
    if not exists(directory):
        raise NoStoreFound(directory)
    if given.region and exists(further := store_of(directory, "", given.region)):
        directory = Path(further)
    with Engine.open(directory, region=given.region or REGION, ttl_seconds=NO_TTL_SWEEP) as engine:
        region = home_of(engine.tables)
        if region is not None and given.region not in (None, region):
            raise StoreOfAnotherRegion(directory, region, given.region)
        if region is not None:
            engine.place = replace(engine.place, region=region)
        yield Target(embedded(engine), str(directory), engine)


@contextmanager
def _open_endpoint(given: argparse.Namespace) -> Iterator[Target]:
    is_own_server = given.endpoint is not None and not is_aws(given.endpoint)
    region = (
        given.region or _environment_region() or (REGION if is_own_server and not given.profile else None)
    )
    if given.profile or _environment_has_keys() or not is_own_server:
        call = HttpCall.resolve(region, given.endpoint, given.profile)
    else:
        # A server without --credentials accepts any keys; one with credentials answers that these are wrong.
        call = HttpCall(given.endpoint, region or REGION, Credentials("any", "any"))
    with call:
        yield Target(call, call.endpoint)


def _environment_has_keys() -> bool:
    return any(os.environ.get(name) for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE"))


def _environment_region() -> str | None:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")


def is_aws(endpoint: str) -> bool:
    return endpoint_of(endpoint).host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".api.aws"))
