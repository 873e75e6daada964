"""What the commands about copies elsewhere share: the place they are at."""

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from tablewright.cli import where

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.app.copy_places import Copy, CopyPlace


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "place", metavar="PLACE", help="a directory, or s3://bucket/prefix, as `serve --copies` was told"
    )


def copies_at(place: "CopyPlace") -> "list[Copy]":
    """The whole copies at the place; what is no copy there is said, and is in nobody's way."""
    return place.copies(odd=lambda sentence: print(f"tablewright: {sentence}", file=sys.stderr))


def at(given: argparse.Namespace, work: Callable[["CopyPlace"], int]) -> int:
    """Reach the place, do the work with it; the command's exit code."""
    from tablewright.app.copy_places import BucketUnusable, CopiesUnusable, place_of
    from tablewright.client import CallFailed
    from tablewright.engine import NotAStore, StoreInUse

    try:
        place = place_of(given.place)
        try:
            code = work(place)
            sys.stdout.flush()
            return code
        finally:
            place.close()
    except BrokenPipeError:
        where.nobody_reads()
        return 0
    except KeyboardInterrupt:
        return where.INTERRUPTED
    except (CopiesUnusable, CallFailed, NotAStore, StoreInUse, OSError) as mistake:
        return where.misused(str(mistake))
    except BucketUnusable as trouble:
        if trouble.code == "S3NoSuchBucket":
            return where.misused(
                f"nothing was ever copied to {given.place}; name the place as the server was told it"
            )
        return where.misused(f"{given.place} cannot be read as a place for copies: {trouble}")
