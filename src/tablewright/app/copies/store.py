"""Where the copies of a store are, outside of its machine: a directory (another disk, a mount) or a bucket of S3.

    whole/{store}/{moment}.json     a copy, with what is in it: written last, so a listed copy is complete
    begun/{store}.json              the copy that was begun last
    data/{store}/{moment}/...       the exports of a copy, in the service's own layout
    beside/{store}/{system}/...     files that a restore needs besides the tables, as new as they can be

Must hold: only an entry under `whole/` makes a copy, whatever is under `data/`; no secrets are written here.
Elsewhere: making copies (job.py), restoring one (restore.py), buckets (engine/transfer/buckets.py).
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import AwareDatetime, BaseModel, ValidationError

from tablewright.engine.transfer.buckets import (
    NO_SUCH_KEY,
    Bucket,
    Buckets,
    BucketsUnknown,
    BucketUnusable,
    buckets_at,
)

S3 = "s3://"
# The bucket of a directory: what lies in it besides is not ours.
DIRECTORY_BUCKET = "tablewright-copies"
_REGION, _ACCOUNT = "us-east-1", "000000000000"


class CopiesUnusable(ValueError):
    """A location that cannot be used for copies."""


class CopiedTable(BaseModel):
    """A table in a copy: where its export is, how many items it has, and what makes such a table again.

    `bytes` is how large the table was, which older copies do not say.
    """

    name: str
    items: int
    bytes: int | None = None
    home: str
    definition: dict[str, Any]


class Copy(BaseModel):
    """Some tables as they all were at one moment."""

    store: str
    at: AwareDatetime
    tables: list[CopiedTable]

    @property
    def items(self) -> int:
        return sum(table.items for table in self.tables)

    @property
    def bytes(self) -> int | None:
        known = [table.bytes for table in self.tables if table.bytes is not None]
        return sum(known) if len(known) == len(self.tables) else None


@dataclass(frozen=True, slots=True)
class CopyPlace:
    """A place by its `name`, as it was given. `where` is what an engine has to be told to reach its bucket."""

    name: str
    where: str
    buckets: Buckets
    bucket: Bucket
    prefix: str

    def key(self, *parts: str) -> str:
        return self.prefix + "/".join(parts)

    def put(self, key: str, body: bytes) -> None:
        self.buckets.put(self.bucket, key, body)

    def open(self, key: str) -> AbstractContextManager[BinaryIO]:
        return closing(self.buckets.open(self.bucket, key))

    def read(self, key: str) -> bytes | None:
        """An object; None if there is none."""
        try:
            with self.open(key) as stream:
                return stream.read()
        except BucketUnusable as trouble:
            if trouble.code != NO_SUCH_KEY:
                raise
            return None

    def keys(self, prefix: str) -> Iterator[str]:
        after = ""
        while found := self.buckets.keys(self.bucket, prefix, after):
            yield from found
            after = found[-1]

    def remove(self, prefix: str, but: Sequence[str] = ()) -> int:
        """Everything that begins with it, but for what begins with those; how many objects that was."""
        gone = [key for key in self.keys(prefix) if not key.startswith(tuple(but))]
        for key in gone:
            self.buckets.remove(self.bucket, key)
        return len(gone)

    # --- copies ---

    def copies(self, store: str = "", odd: Callable[[str], None] = lambda sentence: None) -> list[Copy]:
        """Those that are whole, the oldest first; of one store, or of all.

        One entry that cannot be read hides no other: `odd` is told of it.
        """
        found = []
        for key in self._entries(store):
            body = self.read(key)
            copy = None if body is None else _copy_in(body)
            # The key must match the content, or the entry was changed.
            if copy is not None and self.key("whole", copy.store, f"{moment_name(copy.at)}.json") == key:
                found.append(copy)
            elif body is not None:
                odd(
                    f"{key} at {self.name} does not describe a copy: it was changed, or is not ours; remove it"
                )
        return sorted(found, key=lambda copy: copy.at)

    def moments(self, store: str) -> set[str]:
        """How the copies of a store are called that have an entry, be it one that cannot be read."""
        return {key.rpartition("/")[2].removesuffix(".json") for key in self._entries(store)}

    def newest(self, store: str) -> Copy | None:
        """The last whole copy of a store, without a look at the others; None too if its entry cannot be read."""
        last = max(self.moments(store), default=None)
        body = None if last is None else self.read(self.key("whole", store, f"{last}.json"))
        return None if body is None else _copy_in(body)

    def begun(self, store: str = "") -> dict[str, datetime]:
        """The moment of the copy that was begun last, by store; whether it is whole by now, `moments` says."""
        folder = self.key("begun", "")
        found = {}
        for key in self.keys(f"{folder}{store}.json" if store else folder):
            at = _moment_in(self.read(key))
            if at is not None:
                found[key.removeprefix(folder).removesuffix(".json")] = at
        return found

    def address(self, *parts: str) -> str:
        """Where something is, for a person: a path, or an address of S3."""
        key = self.key(*parts)
        return (
            f"{S3}{self.bucket.name}/{key}"
            if self.where == "s3:"
            else f"{self.where}/{self.bucket.name}/{key}"
        )

    def _entries(self, store: str) -> Iterator[str]:
        return self.keys(self.key("whole", store, "") if store else self.key("whole", ""))

    def close(self) -> None:
        self.buckets.close()


def _copy_in(body: bytes) -> Copy | None:
    try:
        return Copy.model_validate_json(body)
    except ValidationError:
        return None


def _moment_in(body: bytes | None) -> datetime | None:
    try:
        return None if body is None else datetime.fromisoformat(json.loads(body)["at"]).astimezone(UTC)
    except (ValueError, KeyError, TypeError):
        return None  # damaged


def moment_name(at: datetime) -> str:
    """How a copy is called by its moment: in the order of time, and a name that files can have."""
    return f"{at:%Y-%m-%dT%H%M%SZ}"


def place_of(text: str) -> CopyPlace:
    """The place that a person means: `s3://bucket/prefix`, or a directory that is there."""
    if text.startswith(S3):
        name, _, prefix = text.removeprefix(S3).partition("/")
        if not name:
            raise CopiesUnusable(f"{text!r} does not name a bucket; write s3://bucket or s3://bucket/prefix")
        prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        return CopyPlace(text, "s3:", _reached("s3:"), Bucket(name), prefix)
    if text.startswith("s3:"):
        raise CopiesUnusable(f"{text!r} does not name a bucket; write an S3 bucket as s3://bucket/prefix")
    if not text:
        # Nothing is this directory, and a variable that is not set is nothing.
        raise CopiesUnusable("no location for copies is given; name a directory or s3://bucket/prefix")
    directory = Path(text).absolute()
    if not directory.is_dir():
        # If we created it, copies would go to this machine's disk whenever the mount is missing.
        raise CopiesUnusable(
            f"the directory {text} for copies does not exist; create or mount it, and start again"
        )
    return CopyPlace(text, str(directory), _reached(str(directory)), Bucket(DIRECTORY_BUCKET), "")


def is_new(place: CopyPlace) -> bool:
    """Whether it is a directory that was never made ready."""
    return place.where != "s3:" and not (Path(place.where) / place.bucket.name).exists()


def made_ready(place: CopyPlace) -> CopyPlace:
    """The place, with its bucket if that is a directory: from now on one that is missing is a mount that is."""
    if place.where != "s3:":
        home = Path(place.where) / place.bucket.name
        try:
            home.mkdir(mode=0o700, exist_ok=True)
        except OSError as refusal:
            raise CopiesUnusable(
                f"{place.name} cannot be used for copies: the directory {home} cannot be created ({refusal.strerror}); "
                "make it writable or name another location"
            ) from None
    return place


def _reached(where: str) -> Buckets:
    try:
        return buckets_at(where, _REGION, _ACCOUNT, makes=False)
    except BucketsUnknown as unknown:
        raise CopiesUnusable(str(unknown)) from None
