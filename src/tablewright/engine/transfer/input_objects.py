"""The objects that an import or a bulk load reads: the one it is reading, and the keys of the next ones.

Must hold: an object that is open only saves work. What has been read is in the store, as the object's key and the
number of its records, and reading can begin there at any time.
Elsewhere: buckets (buckets.py), records (import_formats.py), the jobs (import_.py, bulk_put.py).
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from tablewright.engine.background.session import Session
from tablewright.engine.transfer.buckets import Bucket, Buckets
from tablewright.engine.transfer.import_formats import ImportFormat, ObjectReader

# The value of `records` for an object that was read to its end.
ALL = -1
# The prefix of the reports of imports in their bucket.
REPORTS = "aws-dynamodb/imports/"
# Reports of imports and of bulk loads: a job whose prefix includes them does not read them.
_REPORT = re.compile(rf"{REPORTS}.*|(.*/)?AWSDynamoDB/[^/]+/errors\.json", re.DOTALL)


class Input(NamedTuple):
    """Where the objects of a job are, and their format. `name` is the kind of job, `number` which one of it."""

    name: str
    number: int
    buckets: Buckets
    bucket: Bucket
    prefix: str
    format: ImportFormat


@dataclass(slots=True)
class OpenObject:
    """The object that a job is reading, and the keys of the next ones."""

    number: int
    key: str
    source: ObjectReader
    records: int
    ahead: list[str] = field(default_factory=list)

    def close(self) -> None:
        self.source.close()


def opened(session: Session, given: Input, key: str, records: int) -> OpenObject | None:
    """The object to continue with after `records` records of the object `key`; None when all have been read."""
    held: OpenObject | None = session.memory.get(given.name)
    is_current = held is not None and (held.number, held.key) == (given.number, key)
    ahead = held.ahead if held is not None and is_current else []
    if key and records != ALL:
        if held is not None and is_current and held.records == records:
            return held
        close_object(session, given.name)
        return _open(session, given, key, records, ahead)
    close_object(session, given.name)
    ahead = ahead or _keys(given, key)
    return _open(session, given, ahead[0], 0, ahead[1:]) if ahead else None


def close_object(session: Session, name: str) -> None:
    held: OpenObject | None = session.memory.pop(name, None)
    if held is not None:
        held.close()


def _keys(given: Input, after: str) -> list[str]:
    while found := given.buckets.keys(given.bucket, given.prefix, after):
        ours = [key for key in found if not _REPORT.fullmatch(key)]
        if ours:
            return ours
        after = found[-1]
    return []


def _open(session: Session, given: Input, key: str, records: int, ahead: list[str]) -> OpenObject:
    stream = given.buckets.open(given.bucket, key)
    made = OpenObject(given.number, key, ObjectReader(stream, given.format, records), records, ahead)
    session.memory[given.name] = made
    return made
