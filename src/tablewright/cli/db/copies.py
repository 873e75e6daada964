"""Opening the location of daily copies; shared by the `db copies` commands."""

import argparse
import sys
from collections.abc import Callable

from tablewright.app.copies.store import BucketUnusable, CopiesUnusable, Copy, CopyPlace, place_of
from tablewright.cli.files import error_text
from tablewright.cli.output import INTERRUPTED, discard_stdout, report_error
from tablewright.client import CallFailed
from tablewright.engine import NotAStore, StoreInUse


def add_location_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "place", metavar="PLACE", help="a directory or s3://bucket/prefix: the value of `serve --copies`"
    )


def complete_copies(place: CopyPlace) -> list[Copy]:
    """The complete copies at the location; anything else found there is reported to stderr and skipped."""
    return place.copies(odd=lambda message: print(f"tablewright: {message}", file=sys.stderr))


def with_location(given: argparse.Namespace, work: Callable[[CopyPlace], int]) -> int:
    """Open the location, run `work` on it, close it; returns the exit code of the command."""

    try:
        place = place_of(given.place)
        try:
            code = work(place)
            sys.stdout.flush()
            return code
        finally:
            place.close()
    except BrokenPipeError:
        discard_stdout()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except (CopiesUnusable, CallFailed, NotAStore, StoreInUse, OSError) as error:
        return report_error(error_text(error))
    except BucketUnusable as trouble:
        if trouble.code == "S3NoSuchBucket":
            return report_error(
                f"no copies found at {given.place}; give the same location as `serve --copies`"
            )
        return report_error(f"{given.place} cannot be read as a location of copies: {trouble}")
