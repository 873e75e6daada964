"""By what name the copies of a data directory go at their place: a file in it, made once and put back with a copy.

Must hold: a name is on the disk before anything goes by it, and is never empty: that would stand for every store.
Elsewhere: the copies themselves (job.py).
"""

import os
from pathlib import Path

from tablewright.private_files import private_directory, private_file
from tablewright.world import World

_ID = "copies.id"


def kept_id(directory: Path, world: World) -> str:
    """By what name the copies of a data directory go: made once, and put back with a copy."""
    path = directory / _ID
    # An empty name would stand for every store at the place.
    if not path.exists() or not path.read_text().strip():
        private_directory(directory)
        keep_id(directory, world.new_id())
    return path.read_text().strip()


def has_id(directory: Path) -> bool:
    """Whether copies of a data directory were ever made, or it came from one."""
    return (directory / _ID).exists()


def keep_id(directory: Path, store: str) -> None:
    draft = directory / f".{_ID}.draft"
    with open(private_file(draft, os.O_WRONLY | os.O_TRUNC), "w") as file:
        file.write(f"{store}\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(directory / _ID)
