"""The list of tenants who were erased, outside of the tables: a file for each, called by the tenant's id.

A copy that is restored does not know of erasures since; this list does, and it goes with the newest copy (`beside`).
Must hold: who is on the list stays there; an id says nothing of the person, and the record keeps it anyway.
Elsewhere: what an erasure takes away (tenants.py).
"""

import os
from collections.abc import Sequence
from pathlib import Path

FOLDER = "erased"


class Erased:
    """The list in a directory; in memory alone if there is none."""

    def __init__(self, home: Path | None = None) -> None:
        self._folder = None if home is None else home / FOLDER
        self._passing: set[str] = set()

    def note(self, id: str) -> None:
        if self._folder is None:
            self._passing.add(id)
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
            return sorted(self._passing)
        found = self._folder.iterdir() if self._folder.is_dir() else ()
        return sorted(path.name for path in found if not path.name.startswith("."))
