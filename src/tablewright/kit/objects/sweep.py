"""Deletes what no record refers to: objects without an owner, and uploads that were given up.

A crash between an object and the row that refers to it leaves one of them. Rows are written first and refer to a name
that has no object yet; so an object that is older than `age` and has no row belongs to nothing.
Must hold: an object that has an owner stays, and so does one younger than `age`: its row may be on its way.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from tablewright.kit.objects.store import ObjectStore
from tablewright.world import World


@dataclass(frozen=True, slots=True)
class Removed:
    """What the sweep has deleted."""

    kind: Literal["object", "upload"]
    name: str


def sweep(
    objects: ObjectStore, prefix: str, is_owned: Callable[[str], bool], age: timedelta, world: World
) -> Iterator[Removed]:
    """Delete old objects of a folder that have no owner, and all old uploads; returns each when it is deleted."""
    before = world.now() - age
    for entry in objects.entries(prefix):
        if entry.modified < before and not is_owned(entry.name):
            objects.remove(entry.name)
            yield Removed("object", entry.name)
    for name in objects.remove_abandoned(before):
        yield Removed("upload", name)
