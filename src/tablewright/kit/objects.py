"""Objects that are too large or too long-lived for the table: pictures, exports, the list of erased people (SK-E2).

Bytes under names such as `pictures/{user_id}/{digest}`, in a directory or in memory. Must hold: an object is complete
or absent; a name never leads to a file outside of the store. Elsewhere: a bucket of S3 (kit/bucket_objects.py).
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from tablewright.private_files import private_directory
from tablewright.world import World

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


class Objects(Protocol):
    """A store of bytes by name."""

    def put(self, name: str, content: bytes) -> None:
        """Store an object, replacing one of that name; NameUnusable if the name is not valid."""
        ...

    def get(self, name: str) -> bytes | None:
        """The object; None if there is none."""
        ...

    def remove(self, name: str) -> None:
        """Delete an object, if there is one."""
        ...

    def names(self, prefix: str) -> Iterator[str]:
        """The names in a folder such as `pictures/` and in its subfolders, sorted."""
        ...


class NameUnusable(ValueError):
    """A name that is not allowed: it could lead outside of the store."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} is not a valid object name; use letters, digits, . _ - in parts separated by /"
        )


def checked(name: str) -> str:
    """The name, if it is valid."""
    if not _NAME.fullmatch(name):
        raise NameUnusable(name)
    return name


class Directory:
    """Objects as files."""

    def __init__(self, directory: Path, world: World) -> None:
        self._directory, self._world = directory, world

    def put(self, name: str, content: bytes) -> None:
        path = self._path(name)
        private_directory(path.parent)
        draft = path.parent / f".{self._world.new_id()}.draft"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)

    def get(self, name: str) -> bytes | None:
        try:
            return self._path(name).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            return None

    def remove(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def names(self, prefix: str) -> Iterator[str]:
        folder = self._path(prefix.rstrip("/"))
        files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
        yield from sorted(path.relative_to(self._directory).as_posix() for path in files)

    def _path(self, name: str) -> Path:
        return self._directory / checked(name)


class InMemory:
    """Objects in memory, for tests and for stores in memory."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def put(self, name: str, content: bytes) -> None:
        self._kept[checked(name)] = content

    def get(self, name: str) -> bytes | None:
        return self._kept.get(checked(name))

    def remove(self, name: str) -> None:
        self._kept.pop(checked(name), None)

    def names(self, prefix: str) -> Iterator[str]:
        return iter(sorted(name for name in self._kept if name.startswith(prefix)))
