"""The archive: lines of JSON, compressed, each archive with a manifest that has its checksums (CC-E2).

`archive/{name}.jsonl.gz` and `archive/{name}.manifest.json`, in any store of objects; in S3 the lines are in the
archive tier, the manifest is not. Must hold: the manifest is written last, so an archive with a manifest is complete.
Elsewhere: what is archived, and when (the system's jobs).
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

import orjson

from tablewright.kit.objects.store import CHUNK, ObjectCold, ObjectMissing, ObjectStore, ObjectStream, checked
from tablewright.world import World

FOLDER = "archive"
_LINES, _MANIFEST = ".jsonl.gz", ".manifest.json"
_GZIP = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive has: `size` and `sha256` of the compressed file, `lines` of it; `about` is the caller's."""

    name: str
    stored: datetime
    size: int
    sha256: str
    lines: int
    content_sha256: str
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verified:
    """An archive that is as its manifest says. Not read means: in the archive tier, only its size was compared."""

    manifest: Manifest
    is_read: bool


class ArchiveDamaged(Exception):
    """An archive is not what its manifest says."""

    def __init__(self, name: str, field: str) -> None:
        super().__init__(
            f"the archive {name} is damaged: {field} is not as in its manifest; restore it from a copy"
        )


class Archive:
    """Archives in a store of objects."""

    def __init__(self, objects: ObjectStore, world: World) -> None:
        self._objects, self._world = objects, world

    def store(self, name: str, lines: Iterable[bytes], about: Mapping[str, Any]) -> Manifest:
        """Archive lines, each a JSON text without its end of line; an archive of that name is replaced."""
        content, count = sha256(), 0

        def compressed() -> Iterator[bytes]:
            nonlocal count
            packer = zlib.compressobj(wbits=_GZIP)
            for line in lines:
                text = line + b"\n"
                content.update(text)
                count += 1
                if packed := packer.compress(text):
                    yield packed
            yield packer.flush()

        self._objects.remove(_manifest(name))
        stored = self._objects.write(_lines(name), compressed(), cold=True)
        now = self._world.now()
        manifest = Manifest(name, now, stored.size, stored.sha256, count, content.hexdigest(), dict(about))
        self._objects.put(_manifest(name), orjson.dumps(manifest))
        return manifest

    def manifest(self, name: str) -> Manifest:
        """What an archive has; ObjectMissing if there is none of that name."""
        found = self._objects.get(_manifest(name))
        if found is None:
            raise ObjectMissing(_manifest(name))
        members = orjson.loads(found)
        return Manifest(**members | {"stored": datetime.fromisoformat(members["stored"])})

    def names(self) -> Iterator[str]:
        """The archives that are complete, in order."""
        for name in self._objects.names(f"{FOLDER}/"):
            if name.endswith(_MANIFEST):
                yield name.removeprefix(f"{FOLDER}/").removesuffix(_MANIFEST)

    def remove(self, name: str) -> None:
        """Remove an archive, if there is one: the manifest first, so that half of one is none."""
        self._objects.remove(_manifest(name))
        self._objects.remove(_lines(name))

    def remove_below(self, folder: str) -> None:
        """Remove all archives with names below a folder, also halves of them."""
        for name in list(self._objects.names(f"{FOLDER}/{checked(folder)}/")):
            self._objects.remove(name)

    def verify(self, name: str) -> Verified:
        """Compare an archive with its manifest, line by line if it can be read; ArchiveDamaged."""
        manifest, head = self.manifest(name), self._objects.head(_lines(name))
        if head is None or head.size != manifest.size:
            raise ArchiveDamaged(name, "size")
        packed, content, count = sha256(), sha256(), 0
        try:
            for chunk in _unpacked(self._objects.read(_lines(name)), packed.update):
                content.update(chunk)
                count += chunk.count(b"\n")
        except ObjectCold:
            return Verified(manifest, is_read=False)
        except zlib.error:
            raise ArchiveDamaged(name, "sha256") from None
        found = {"sha256": packed.hexdigest(), "content_sha256": content.hexdigest(), "lines": count}
        for field, value in found.items():
            if getattr(manifest, field) != value:
                raise ArchiveDamaged(name, field)
        return Verified(manifest, is_read=True)

    def restore_request(self, name: str, days: int = 7) -> bool:
        """True if an archive can be read; in the archive tier its restore is requested, which takes hours."""
        self.manifest(name)
        return self._objects.restore(_lines(name), days)

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of an archive; ObjectCold if it must be restored first."""
        rest = b""
        for chunk in _unpacked(self._objects.read(_lines(name)), lambda _: None):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole


def _lines(name: str) -> str:
    return f"{FOLDER}/{checked(name)}{_LINES}"


def _manifest(name: str) -> str:
    return f"{FOLDER}/{checked(name)}{_MANIFEST}"


def _unpacked(stream: ObjectStream, see: Callable[[bytes], object]) -> Iterator[bytes]:
    """The content of a compressed object in bounded pieces; `see` is called with what was read."""
    unpacker = zlib.decompressobj(wbits=_GZIP)
    with stream:
        for chunk in stream:
            see(chunk)
            while chunk:
                yield unpacker.decompress(chunk, CHUNK)
                chunk = unpacker.unconsumed_tail
    yield unpacker.flush()
