"""Zip files: written as a stream, and read with suspicion.

Must hold: writing and reading need memory for one chunk, whatever the size; reading refuses names that lead out of the
archive, encrypted entries, too many entries, and more bytes than are allowed. Sizes in an archive can lie: nothing is
unpacked beyond the size that was allowed.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import IO

from tablewright.edge.errors import BadRequest
from tablewright.systems.campus.errors import TooLarge
from tablewright.systems.campus.files.signature_scanner import DAMAGED_ZIP

MOST_ENTRIES = 20_000
# Of one file, and of all that are wanted, when they are unpacked.
MOST_FILE, MOST_BYTES = 64 * 1024**2, 2 * 1024**3
_MOST_READ = 32 * 1024**2
_CHUNK = 256 * 1024
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]+')


class _Unseekable(io.RawIOBase):
    """Keeps what zipfile writes until it is taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        part = bytes(data)  # type: ignore[call-overload]  # anything with a buffer
        self._parts.append(part)
        return len(part)

    def take(self) -> bytes:
        whole = b"".join(self._parts)
        self._parts.clear()
        return whole


def zip_of(entries: Iterable[tuple[str, Iterable[bytes]]], at: datetime) -> Iterator[bytes]:
    """A zip file in chunks; each entry is a name with its bytes in chunks."""
    out = _Unseekable()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, chunks in entries:
            info = zipfile.ZipInfo(name, at.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as entry:
                for chunk in chunks:
                    entry.write(chunk)
                    yield out.take()
            yield out.take()
    yield out.take()


def safe_name(name: str, most: int = 100) -> str:
    """A name for a file or folder in an archive: no separators, no dots in front, not too long."""
    clean = _UNSAFE.sub("_", name).strip(" .")
    stem, dot, ending = clean.rpartition(".")
    if dot and len(ending) <= 10:
        return f"{stem[: most - len(ending) - 1].rstrip()}.{ending}"
    return clean[:most].rstrip() or "_"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in an archive that is open."""

    archive: zipfile.ZipFile
    info: zipfile.ZipInfo

    @property
    def size(self) -> int:
        return self.info.file_size

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, never more than its size; INVALID_ZIP if they are not what the archive says."""
        try:
            with self.archive.open(self.info) as content:
                while part := content.read(_CHUNK):
                    yield part
        except DAMAGED_ZIP:
            raise _invalid() from None


@contextmanager
def opened_zip(source: IO[bytes], wanted: Callable[[str], bool]) -> Iterator[dict[str, Entry]]:
    """The wanted files of an archive by name; the archive is refused as a whole if anything in it is wrong."""
    try:
        archive = zipfile.ZipFile(_Bounded(source))
        infos = [each for each in archive.infolist() if not each.is_dir()]
    except DAMAGED_ZIP:
        raise _invalid() from None
    with archive:
        if len(infos) > MOST_ENTRIES:
            raise TooLarge("ZIP_TOO_LARGE", f"This zip file has more than {MOST_ENTRIES} files.", "file")
        _refuse_unusable(infos)
        found = [each for each in infos if wanted(each.filename)]
        if any(each.file_size > MOST_FILE for each in found):
            words = f"A file in this zip file has more than {MOST_FILE // 1024**2} MiB when it is unpacked."
            raise TooLarge("ZIP_TOO_LARGE", words, "file")
        if sum(each.file_size for each in found) > MOST_BYTES:
            words = (
                f"This zip file has more than {MOST_BYTES // 1024**3} GiB of feedback when it is unpacked."
            )
            raise TooLarge("ZIP_TOO_LARGE", words, "file")
        yield {each.filename: Entry(archive, each) for each in found}


class _Bounded:
    """A file of which no read is large: zipfile reads the directory of an archive at once, whatever its size."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self.seek, self.tell, self.close = source.seek, source.tell, source.close

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        found = self._source.read(_MOST_READ if size < 0 else min(size, _MOST_READ))
        if size > _MOST_READ or len(found) == _MOST_READ:
            raise zipfile.BadZipFile("the directory is too large")
        return found


def _invalid() -> BadRequest:
    return BadRequest("INVALID_ZIP", "This is not a zip file that can be read.", "file")


def _refuse_unusable(infos: list[zipfile.ZipInfo]) -> None:
    for info in infos:
        name = info.filename
        steps = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ".." in steps or re.match(r"[A-Za-z]:", name):
            words = "A file in this zip file has a name that leads out of it."
            raise BadRequest("INVALID_ZIP", words, "file")
        if info.flag_bits & 0x1:
            raise BadRequest("INVALID_ZIP", "This zip file is encrypted. Send it without a password.", "file")
    if len({info.filename for info in infos}) < len(infos):
        raise BadRequest("INVALID_ZIP", "Two files in this zip file have the same name.", "file")
