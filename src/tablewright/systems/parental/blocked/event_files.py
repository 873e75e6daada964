"""Blocked requests from a file that a sensor appends to: one event a line, as JSON (PC-E2).

    blocked = EventFile(Path("/var/log/blocked.jsonl"), Path("data/blocked.place"))
    blocked.deliver(ingest.take)           # from a job, as often as one likes

Which lines are the next batch is written down before they are delivered, and that they were afterwards: after a crash
the same lines come again as the same batch, and are counted once. Must hold: a line is delivered at least once, a line
that is not finished is left for later, one that is not an event goes to the file beside the place and is not dropped.
A file that was rotated to `<name>.1`, `<name>.2` and so on is read to its end, and then those that came after it, as
long as they are there and not compressed. One process at a time reads the files of a directory, by a lock on it.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from tablewright.systems.parental.blocked.events import EVENTS_PER_BATCH, Batch, Event

_AT_A_TIME = 4 << 20


@dataclass(frozen=True, slots=True)
class FilePosition:
    """How far a file was read: up to `start`; what is between `start` and `end` is being delivered.

    `file` tells one file from the next of the same name.
    """

    file: str = ""
    start: int = 0
    end: int = 0


class EventFile:
    """A file of events, and the place we are at."""

    def __init__(self, path: Path, place: Path) -> None:
        self._path, self._place = path, place

    def deliver(self, take: Callable[[Batch], object]) -> int:
        """Deliver the file's new lines in batches; returns how many events."""
        delivered = 0
        while True:
            place = self._read_place()
            # Opened once: if the file is rotated, we continue with the old one.
            with ExitStack() as opened:
                file = self._source(place, opened)
                if file is None:
                    return delivered
                place = place if _name_of(file) == place.file else FilePosition(_name_of(file))
                if place.end == place.start:
                    place = replace(place, end=place.start + len(_lines(file, place.start)))
                    if place.end == place.start:
                        return delivered
                    self._write_place(place)
                delivered += self._deliver_one(file, place, take)
            self._write_place(replace(place, start=place.end))

    def _deliver_one(self, file: BinaryIO, place: FilePosition, take: Callable[[Batch], object]) -> int:
        file.seek(place.start)
        events: list[Event] = []
        for line in file.read(place.end - place.start).splitlines():
            if not line.strip():
                continue
            try:
                events.append(Event.model_validate_json(line))
            except ValidationError:
                self._set_aside(line)
        if events:
            take(Batch(f"file/{place.file}/{place.start}-{place.end}", events))
        return len(events)

    def _source(self, place: FilePosition, opened: ExitStack) -> BinaryIO | None:
        """The file to read: the one we were at, though it has another name by now, until nothing of it is left; then
        the one that came after it. Where ours is gone, all that are left came after it."""
        files = [file for path in self._paths(place) if (file := _opened(path, opened)) is not None]
        names = [_name_of(file) for file in files]
        if place.file in names:
            ours = names.index(place.file)
            if place.end > place.start or _lines(files[ours], place.start):
                return files[ours]
            files = files[ours + 1 :] or files[ours:]
        return files[0] if files else None

    def _paths(self, place: FilePosition) -> list[Path]:
        """The file and what it was before, the oldest first. Who begins here begins with the file itself."""
        before = self._path.parent.glob(f"{self._path.name}.*") if place.file else ()
        rotated = [path for path in before if path.suffix[1:].isdecimal()]
        return [*sorted(rotated, key=lambda path: -int(path.suffix[1:])), self._path]

    def _set_aside(self, line: bytes) -> None:
        with self._place.with_name(f"{self._place.name}.refused").open("ab") as file:
            file.write(line + b"\n")

    def _read_place(self) -> FilePosition:
        return FilePosition(**json.loads(self._place.read_text())) if self._place.exists() else FilePosition()

    def _write_place(self, place: FilePosition) -> None:
        """Whole or not at all, and on the disk."""
        draft = self._place.with_name(f"{self._place.name}.new")
        with draft.open("w") as file:
            file.write(json.dumps(asdict(place)))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._place)


def deliver_all(directory: Path, take: Callable[[Batch], object]) -> int:
    """Deliver what is in the files of a directory, `*.jsonl`; how many events that were. Our places are beside them.

    0 while another process does: two that read a growing file would end their batches at different lines.
    """
    paths = sorted(directory.glob("*.jsonl"))
    if not paths:
        return 0
    folder = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return sum(EventFile(path, path.with_name(f"{path.stem}.place")).deliver(take) for path in paths)
    except BlockingIOError:
        return 0
    finally:
        os.close(folder)


def _opened(path: Path, opened: ExitStack) -> BinaryIO | None:
    """A file that has a name by now."""
    try:
        file = opened.enter_context(path.open("rb"))
    except FileNotFoundError:
        return None
    return file if _name_of(file) else None


def _name_of(file: BinaryIO) -> str:
    """A file by its first line: sensors write the time into it. Nothing while that line is not finished."""
    file.seek(0)
    first = file.readline(_AT_A_TIME)
    return hashlib.sha256(first).hexdigest()[:16] if first.endswith(b"\n") else ""


def _lines(file: BinaryIO, start: int) -> bytes:
    """Finished lines from there on, as many as fit into a batch."""
    file.seek(start)
    found = file.read(_AT_A_TIME).splitlines(keepends=True)[:EVENTS_PER_BATCH]
    return b"".join(line for line in found if line.endswith(b"\n"))
