"""What is too large or too long-lived for the table: pictures, exports, the list of who was erased (SK-E2).

A store of bytes under names such as `pictures/{user_id}/{digest}`: a directory, or what dies with the process. Must
hold: an object is there whole or not at all; a name leads to no file outside of the store. Elsewhere: a bucket of S3
(kit/bucket_objects.py).
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
        """Keep it, in the place of one of that name; NameUnusable if it could lie anywhere."""
        ...

    def get(self, name: str) -> bytes | None:
        """What is kept; None if there is nothing."""
        ...

    def remove(self, name: str) -> None:
        """It is gone; nothing happens where there is none."""
        ...

    def names(self, prefix: str) -> Iterator[str]:
        """Whatever lies in a folder, `pictures/`, or in one inside of it; in the order of their letters."""
        ...


class NameUnusable(ValueError):
    """A name that could lie anywhere."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} is no name of an object: letters, digits, . _ - in parts with / between them"
        )


def checked(name: str) -> str:
    """The name, if it can be one."""
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
    """Objects that die with the process: for tests, and for who keeps none."""

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
