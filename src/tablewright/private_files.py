"""Files and directories that only their owner may read, with any umask.

Must hold: a file is private from the moment it is created, so that no other user can open it before its mode is set. An
existing directory keeps its mode, unless `tighten` is called for it.
"""

import os
from pathlib import Path

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
_OTHERS = 0o077


def private_directory(path: Path) -> None:
    """Create a directory and its missing parents, each for the owner only."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
    if not path.is_dir():
        path.mkdir()  # raises FileExistsError: it is a file


def private_file(path: str | Path, flags: int = os.O_RDWR) -> int:
    """Open a file, created for the owner only if it is missing; returns the descriptor."""
    return os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a directory, are on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def tighten(path: Path) -> None:
    """Remove the permissions of group and others, if this user owns the path; links are not followed."""
    try:
        found = path.lstat()
    except OSError:
        return
    if path.is_symlink() or found.st_uid != os.geteuid() or not found.st_mode & _OTHERS:
        return
    path.chmod(found.st_mode & 0o7777 & ~_OTHERS)
