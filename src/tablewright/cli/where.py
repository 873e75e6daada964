"""Where the tables are that a command is about: a store on disk, an endpoint, or Amazon. To the command, one Call.

    def run(given): return at(given, lambda place: show(place.call(...)))

Must hold: a store is opened, never made; looking at one sweeps nothing; what the caller can mend is one sentence on
stderr and code 2, whichever way the tables were reached.
Elsewhere: the Call itself (tablewright.client), how answers are printed (words.py).
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # both are heavy, and nothing heavy is imported before a command runs
    from tablewright.client import Call
    from tablewright.engine import Engine

DATA = "./data"
REGION = "us-east-1"
ALL_YEAR = (
    3e7  # seconds; a command lives for less, so the sweep of expired items is left to who serves the store
)
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Place:
    """Tables that can be called. `engine` is there if they are in a store that this process has opened."""

    call: "Call"
    name: str
    engine: "Engine | None" = None


class Misused(Exception):
    """Something the caller can mend; what it says is told, and the code is 2."""


class NoStoreThere(Misused):
    """A directory in which there is no store; none is made for somebody who wants to look."""

    def __init__(self, directory: Path) -> None:
        super().__init__(
            f"there is no store in {directory}; name its directory with --data, or a server with --endpoint"
        )


class RegionElsewhere(Misused):
    """A store of another region than the one that was named."""

    def __init__(self, directory: Path, region: str, named: str) -> None:
        super().__init__(
            f"the store in {directory} is {region}'s, and there is none of {named} below it; leave --region out, or "
            "name another directory"
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where the tables are")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--data", metavar="DIR", type=Path, help=f"a store on disk that no server has open (default: {DATA})"
    )
    either.add_argument(
        "--endpoint", metavar="URL", help="a server: `tablewright engine serve`, or any DynamoDB endpoint"
    )
    group.add_argument(
        "--region",
        help="its region: of a store with several, which; with neither --data nor --endpoint, that of Amazon DynamoDB",
    )
    group.add_argument("--profile", help="the AWS profile whose keys are used")


def at(given: argparse.Namespace, work: Callable[[Place], int], **engine_options: Any) -> int:
    """Open the place, do the work there, close it; the command's exit code."""
    from tablewright.client import CallFailed, CredentialsUnusable, EndpointUnusable, RegionUnusable
    from tablewright.engine import NotAStore, StoreInUse
    from tablewright.mapping import MappingMistake

    try:
        with opened(given, **engine_options) as place:
            code = work(place)
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        nobody_reads()
        return 0
    except StoreInUse as mistake:
        return misused(f"{mistake}; if it is a server, ask it: --endpoint URL")
    except (
        Misused, NotAStore, CallFailed, MappingMistake, EndpointUnusable, CredentialsUnusable, RegionUnusable,
        OSError,
    ) as mistake:  # fmt: skip
        return misused(str(mistake))
    except KeyboardInterrupt:
        return INTERRUPTED


def nobody_reads() -> None:
    """Whoever read our answers has enough of them (`| head`). What is still buffered has nowhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def answer(text: str) -> None:
    """Print an answer, of which nobody has to read more than they want."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        nobody_reads()


def misused(why: str) -> int:
    """Say what is wrong; the code for it."""
    print(f"tablewright: {why}", file=sys.stderr)
    return 2


@contextmanager
def opened(given: argparse.Namespace, **engine_options: Any) -> Iterator[Place]:
    from tablewright.client import embedded
    from tablewright.engine import Engine
    from tablewright.engine.regions import home_of, store_of
    from tablewright.engine.storage import exists

    if given.endpoint is not None or (given.data is None and (given.region or given.profile)):
        with _served(given) as place:
            yield place
        return
    directory = given.data or Path(DATA)
    if not exists(directory):
        raise NoStoreThere(directory)
    if given.region and exists(further := store_of(directory, "", given.region)):
        directory = Path(further)
    options: dict[str, Any] = {"region": given.region or REGION, "ttl_seconds": ALL_YEAR} | engine_options
    with Engine.open(directory, **options) as engine:
        region = home_of(engine)
        if region is not None and given.region not in (None, region):
            raise RegionElsewhere(directory, region, given.region)
        if region is not None:
            engine.place = replace(engine.place, region=region)
        yield Place(embedded(engine), str(directory), engine)


@contextmanager
def _served(given: argparse.Namespace) -> Iterator[Place]:
    from tablewright.client import Credentials, HttpCall

    is_ours = given.endpoint is not None and not is_amazon(given.endpoint)
    region = given.region or _region() or (REGION if is_ours and not given.profile else None)
    if given.profile or _has_keys() or not is_ours:
        call = HttpCall.resolve(region, given.endpoint, given.profile)
    else:
        # A server without --credentials takes any keys; one with them will say that these are wrong.
        call = HttpCall(given.endpoint, region or REGION, Credentials("any", "any"))
    with call:
        yield Place(call, call.endpoint)


def _has_keys() -> bool:
    return any(os.environ.get(name) for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE"))


def _region() -> str | None:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")


def is_amazon(endpoint: str) -> bool:
    from tablewright.client.endpoint import endpoint_of

    return endpoint_of(endpoint).host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".api.aws"))
