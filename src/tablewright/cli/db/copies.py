"""Opening the location of daily copies; shared by the `db copies` commands."""

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tablewright.app.copies.store import CopiesUnusable, Copy, CopyPlace, place_of
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.target import run_with
from tablewright.client import CallFailed
from tablewright.engine import NotAStore, StoreInUse
from tablewright.engine.transfer.buckets import BucketUnusable


def add_location_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "place", metavar="PLACE", help="a directory or s3://bucket/prefix: the value of `serve --copies`"
    )


def complete_copies(place: CopyPlace) -> list[Copy]:
    """The complete copies at the location; anything else found there is reported to stderr and skipped."""
    return place.copies(odd=lambda message: print_message(f"tablewright: {message}"))


@contextmanager
def _open_location(given: argparse.Namespace) -> Iterator[CopyPlace]:
    try:
        with closing(place_of(given.place)) as place:
            yield place
    except (CopiesUnusable, CallFailed, NotAStore, StoreInUse) as error:
        raise UsageError(str(error)) from None
    except BucketUnusable as trouble:
        if trouble.code == "S3NoSuchBucket":
            raise UsageError(
                f"no copies found at {given.place}; give the same location as `serve --copies`"
            ) from None
        raise UsageError(f"{given.place} cannot be read as a location of copies: {trouble}") from None


with_location = run_with(_open_location)
