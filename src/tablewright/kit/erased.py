"""The list of erased people, outside of the tables: an empty file for each, named by an id.

A restored backup does not contain later erasures; this list does, and it is copied with the newest copy (`beside`).
Must hold: an id stays on the list for ever, and reveals nothing about the person.
Elsewhere: what an erasure removes, and how it is repeated after a restore (each system).
"""

import os
from collections.abc import Sequence
from pathlib import Path

FOLDER = "erased"


class ErasedList:
    """The list in a directory; in memory if there is none."""

    def __init__(self, home: Path | None = None) -> None:
        self._folder = None if home is None else home / FOLDER
        self._in_memory: set[str] = set()

    def note(self, id: str) -> None:
        if self._folder is None:
            self._in_memory.add(id)
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self._folder / id, os.O_WRONLY | os.O_CREAT, 0o600))
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def ids(self) -> Sequence[str]:
        if self._folder is None:
            return sorted(self._in_memory)
        found = self._folder.iterdir() if self._folder.is_dir() else ()
        return sorted(path.name for path in found if not path.name.startswith("."))
