"""The list of erased people, outside of the tables: a file for each, named by an entry, with the proof of the erasure.

A restored backup does not contain later erasures; this list does, and it is copied with the newest copy (`beside`).
Must hold: an entry is on the list before the first item of the person is removed, stays on it for ever, and reveals
nothing about the person; so does its proof. An entry from before there were proofs has none.
Elsewhere: what an erasure removes (subjects.py), who finds out that a table was restored (each system).
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from tablewright.kit.objects.directory import Directory
from tablewright.kit.objects.memory import InMemory
from tablewright.kit.objects.settings import objects_at
from tablewright.kit.objects.store import Objects
from tablewright.world import World

FOLDER = "erased"
P = TypeVar("P", bound=BaseModel)


class Certificate(BaseModel):
    """The proof of an erasure: how many items of each entity were deleted or redacted, and what stays for which reason.

    An erasure that is repeated, after a crash or a restore, adds to the counts.
    """

    subject: str
    begun_at: datetime
    done_at: datetime | None = None
    erased: Mapping[str, int] = {}
    kept: Mapping[str, str] = {}


class ErasedList:
    """The list in a store of objects; in memory if there is none."""

    def __init__(self, objects: Objects | None = None, suffix: str = "") -> None:
        self._objects, self._suffix = objects or InMemory(), suffix

    def note(self, entry: str, proof: BaseModel) -> None:
        """Put an entry on the list, or another proof beside it."""
        self._objects.put(self._name(entry), proof.model_dump_json().encode())

    def entries(self) -> list[str]:
        names = (name.removeprefix(f"{FOLDER}/") for name in self._objects.names(f"{FOLDER}/"))
        return sorted(name.removesuffix(self._suffix) for name in names)

    def proof(self, entry: str, model: type[P]) -> P | None:
        """The proof of an entry; None if it has none."""
        content = self._objects.get(self._name(entry))
        return model.model_validate_json(content) if content else None

    def _name(self, entry: str) -> str:
        return f"{FOLDER}/{entry}{self._suffix}"


def erased_list(home: Path | None, world: World, objects: str | None = None) -> ErasedList:
    """The list in the directory of a system, or among its `objects` if they are elsewhere; in memory without either."""
    if objects is not None:
        return ErasedList(objects_at(objects, world))
    return ErasedList(None if home is None else Directory(home, world))
