"""Zip files: written as a stream, and read with suspicion.

Must hold: writing needs memory for one chunk, whatever the size; reading refuses names that lead out of the archive,
encrypted entries, too many entries, and more bytes than are allowed, counted while they are unpacked because sizes in
an archive can lie.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from tablewright.edge.errors import BadRequest
from tablewright.systems.campus.errors import TooLarge
from tablewright.systems.campus.files.signature_scanner import DAMAGED_ZIP

MOST_ENTRIES = 5_000
MOST_BYTES = 64 * 1024 * 1024
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


def entries_of(content: bytes, wanted: Callable[[str], bool], most: int = MOST_BYTES) -> dict[str, bytes]:
    """The wanted files of an archive by name; the archive is refused as a whole if anything in it is wrong."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = [each for each in archive.infolist() if not each.is_dir()]
            if len(infos) > MOST_ENTRIES:
                raise TooLarge("ZIP_TOO_LARGE", f"This zip file has more than {MOST_ENTRIES} files.", "file")
            _refuse_unusable(infos)
            return _read(archive, [each for each in infos if wanted(each.filename)], most)
    except DAMAGED_ZIP:
        raise BadRequest("INVALID_ZIP", "This is not a zip file that can be read.", "file") from None


def _read(archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo], most: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    left = most
    for info in infos:
        parts: list[bytes] = []
        with archive.open(info) as entry:
            while part := entry.read(_CHUNK):
                left -= len(part)
                if left < 0:
                    words = f"This zip file has more than {most // 1024**2} MiB when it is unpacked."
                    raise TooLarge("ZIP_TOO_LARGE", words, "file")
                parts.append(part)
        found[info.filename] = b"".join(parts)
    return found


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
