"""What a store of objects does: bytes by name, small ones as a whole, large ones as streams or in parts (CC-E1, SK-E2).

Must hold in every store: an object is complete or absent, also after a crash; a name never leads outside of the store;
streams and parts need constant memory, at most PART_SIZE for each call. Names carry what changes, such as the version
in `files/{file_id}/{version}`, so no store depends on versions of its own.
Elsewhere: stores (directory.py, s3.py, memory.py), links to objects (signed_paths.py), what is left over (sweep.py).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256 as new_sha256
from types import TracebackType
from typing import Protocol

from tablewright.engine.transfer.buckets import BucketUnusable

# Every part of an upload but the last has this size. S3 wants at least 5 MiB, and at most 10 000 parts.
PART_SIZE = 8 * 1024 * 1024
MAX_PARTS = 10_000
MAX_SIZE = PART_SIZE * MAX_PARTS
CHUNK = 1024 * 1024

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
_MAX_NAME, _MAX_STEP = 512, 200


# --- values ---


@dataclass(frozen=True, slots=True)
class Stored:
    """An object that was written."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Head:
    """An object without its bytes. `sha256` is None if the store has none for it."""

    size: int
    sha256: str | None
    modified: datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """An object in a list."""

    name: str
    size: int
    modified: datetime


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload in parts. Both members are needed to go on with it later."""

    name: str
    id: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part that has arrived; the first is number 1. `sha256` is None if the store has none for it."""

    number: int
    size: int
    sha256: str | None


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request that needs no other credentials until it expires; the headers must be sent as they are."""

    method: str
    url: str
    headers: Mapping[str, str]


class ObjectStream:
    """The bytes of an object from `start` to before `end`; `size` is that of the whole object."""

    def __init__(
        self, size: int, start: int, end: int, chunks: Iterator[bytes], close: Callable[[], None]
    ) -> None:
        self.size, self.start, self.end = size, start, end
        self._chunks, self._close = chunks, close

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._chunks
        finally:
            self.close()

    def close(self) -> None:
        """Give back what the stream holds; the second time it does nothing."""
        close, self._close = self._close, lambda: None
        close()

    def __enter__(self) -> "ObjectStream":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# --- mistakes ---

# The store refuses or cannot be reached, as S3 does; an error of a directory is an OSError.
StoreUnusable = BucketUnusable


class NameUnusable(ValueError):
    """A name that is not allowed: it could lead outside of the store."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name[:100]!r} is not a valid object name; use letters, digits, . _ - in parts separated by /,"
            f" at most {_MAX_STEP} characters a part and {_MAX_NAME} together"
        )


class ObjectMissing(LookupError):
    """There is no object of that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"there is no object {name}")


class ObjectCold(Exception):
    """The object is in an archive tier: ask for its restore, and read it when it is restored."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name} is in the archive tier; restore it before reading it")


class RangeUnusable(ValueError):
    """A range that begins after the end of the object."""

    def __init__(self, name: str, start: int, end: int | None, size: int) -> None:
        self.size = size
        super().__init__(f"{name} has {size} bytes: the range {start} to {end} is not in it")


class ContentUnexpected(ValueError):
    """The bytes are not those that were announced; nothing was stored."""

    def __init__(self, field: str, expected: object, found: object) -> None:
        self.field = field
        super().__init__(f"{field} is {found}, expected {expected}; nothing was stored, send it again")


class PartUnusable(ValueError):
    """A part with a number or a size that an upload cannot have."""


class PartsMissing(ValueError):
    """An upload cannot be completed: parts are missing, or do not have the size they should have."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = tuple(numbers)
        shown = ", ".join(map(str, numbers[:20])) + (" ..." if len(numbers) > 20 else "")
        super().__init__(
            f"the upload is not complete: send {'part' if len(numbers) == 1 else 'parts'} {shown}"
        )


class UploadUnknown(LookupError):
    """There is no such upload: it was aborted, or removed as abandoned."""

    def __init__(self, upload: Upload) -> None:
        super().__init__(f"there is no upload {upload.id[:60]} of {upload.name}; begin another one")


# --- stores ---


class Objects(Protocol):
    """A store of bytes by name, each small enough for memory."""

    def put(self, name: str, content: bytes) -> None:
        """Store an object, replacing one of that name; NameUnusable if the name is not valid."""
        ...

    def put_new(self, name: str, content: bytes) -> bool:
        """Store an object unless there is one of that name; False if there is. Of several at once one stores."""
        ...

    def get(self, name: str) -> bytes | None:
        """The object; None if there is none."""
        ...

    def remove(self, name: str) -> None:
        """Delete an object and all versions that the store has of it, if there is one."""
        ...

    def names(self, prefix: str) -> Iterator[str]:
        """The names in a folder such as `pictures/` and in its subfolders, in order; all names for an empty prefix."""
        ...


class ObjectStore(Objects, Protocol):
    """A store that also has objects of any size up to MAX_SIZE."""

    def get(self, name: str) -> bytes | None:
        try:
            with self.read(name) as stream:
                return b"".join(stream)
        except ObjectMissing:
            return None

    def names(self, prefix: str) -> Iterator[str]:
        return (entry.name for entry in self.entries(prefix))

    def write(
        self,
        name: str,
        chunks: Iterable[bytes],
        *,
        expect_size: int | None = None,
        expect_sha256: str | None = None,
        cold: bool = False,
    ) -> Stored:
        """Store an object from a stream; ContentUnexpected, and no change, if it is not what was announced.

        `cold`: in the archive tier, if the store has one.
        """
        ...

    def read(self, name: str, start: int = 0, end: int | None = None) -> ObjectStream:
        """The object from `start` to before `end`, or to its end; ObjectMissing, RangeUnusable, ObjectCold."""
        ...

    def head(self, name: str) -> Head | None:
        """Size, checksum and time of an object; None if there is none."""
        ...

    def entries(self, prefix: str) -> Iterator[Entry]:
        """As `names`, with sizes and times."""
        ...

    def copy(self, name: str, to: str) -> None:
        """Store the object under another name too; ObjectMissing."""
        ...

    def restore(self, name: str, days: int = 7) -> bool:
        """True if the object can be read; if it is in the archive tier, its restore is requested."""
        ...

    def begin(self, name: str) -> Upload:
        """Begin an upload in parts. The object is not visible before `complete`."""
        ...

    def put_part(
        self, upload: Upload, number: int, chunks: Iterable[bytes], *, expect_sha256: str | None = None
    ) -> Part:
        """Store a part of at most PART_SIZE; sending it again is harmless, the last one sent counts."""
        ...

    def parts(self, upload: Upload) -> Iterator[Part]:
        """The parts that have arrived, in order."""
        ...

    def complete(self, upload: Upload, size: int, *, expect_sha256: str | None = None) -> Stored:
        """Join the parts into the object; again, it returns the same.

        PartsMissing names the parts to send. ContentUnexpected, if the whole has another checksum, aborts the upload.
        """
        ...

    def abort(self, upload: Upload) -> None:
        """Delete an upload and its parts, if there is one; an object that was completed stays."""
        ...

    def remove_abandoned(self, before: datetime) -> Iterator[str]:
        """Delete uploads and interrupted writes that began before a moment; returns the name of each."""
        ...

    def sign_get(
        self,
        name: str,
        ttl: timedelta,
        *,
        filename: str,
        content_type: str = "application/octet-stream",
        inline: bool = False,
        subject: str = "",
    ) -> SignedRequest:
        """A link to the object. The file name and the media type are those of the response."""
        ...

    @property
    def bucket(self) -> str:
        """The name of the bucket; of a directory, the name of that."""
        ...

    @property
    def origin(self) -> str | None:
        """The origin that links lead to, such as `https://name.s3.eu-central-1.amazonaws.com`; None for our own."""
        ...

    def sign_put(
        self, upload: Upload, number: int, ttl: timedelta, *, size: int, sha256: str
    ) -> SignedRequest | None:
        """A request that stores a part of exactly this size and checksum; None if links lead to our own server."""
        ...


# --- what stores have in common ---


def checked(name: str) -> str:
    """The name, if it is valid."""
    if len(name) > _MAX_NAME or not _NAME.fullmatch(name) or max(map(len, name.split("/"))) > _MAX_STEP:
        raise NameUnusable(name)
    return name


def checked_folder(prefix: str) -> str:
    """A prefix as `a/b/`, or empty for the whole store."""
    return f"{checked(prefix.rstrip('/'))}/" if prefix else ""


def refuse_unexpected(field: str, expected: object, found: object) -> None:
    """ContentUnexpected unless both are equal, or nothing is expected."""
    if expected is not None and expected != found:
        raise ContentUnexpected(field, expected, found)


def part_content(number: int, chunks: Iterable[bytes], expect_sha256: str | None) -> tuple[bytes, Part]:
    """A part in memory, checked: number, size and checksum."""
    if not 1 <= number <= MAX_PARTS:
        raise PartUnusable(f"part {number}: parts have the numbers 1 to {MAX_PARTS}")
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > PART_SIZE:
            raise PartUnusable(f"part {number} is larger than {PART_SIZE} bytes")
    digest = new_sha256(content).hexdigest()
    refuse_unexpected(f"sha256 of part {number}", expect_sha256, digest)
    return bytes(content), Part(number, len(content), digest)


def sizes_of_parts(size: int) -> list[int]:
    """The sizes that the parts of an object must have; an empty object has one empty part."""
    if not 0 <= size <= MAX_SIZE:
        raise PartUnusable(f"an object has at most {MAX_SIZE} bytes, not {size}")
    whole, rest = divmod(size, PART_SIZE)
    return [PART_SIZE] * whole + ([rest] if rest or not whole else [])


def refuse_incomplete(size: int, sizes: Mapping[int, int]) -> int:
    """How many parts an object has; PartsMissing for those of another size or none."""
    wanted = sizes_of_parts(size)
    wrong = [number for number, length in enumerate(wanted, 1) if sizes.get(number) != length]
    if wrong:
        raise PartsMissing(wrong)
    refuse_unexpected("the number of parts", len(wanted), len(sizes))
    return len(wanted)
