"""Uploads in parts into a directory of objects: `.uploads/{id}/` until they are complete.

    upload    the name of the object
    data      the bytes, each part at its place: (number - 1) * PART_SIZE
    parts     a record for each part at (number - 1) * 40: its size + 1 (0: not here) and its SHA-256
    stored    size and checksum of the whole, written just before `data` is renamed to the object

Must hold: a part is recorded after its bytes are on the disk; every byte is compared with the records when an upload is
completed, so a torn part is asked for again; after `stored`, `data` is not written any more. A lock on the folder keeps
a late part apart from the completion. `complete` reads the whole object once and writes nothing twice.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256

import orjson

from tablewright.kit.objects.store import (
    MAX_PARTS,
    PART_SIZE,
    ContentUnexpected,
    Part,
    PartsMissing,
    Stored,
    Upload,
    UploadUnknown,
    checked,
    part_content,
    refuse_incomplete,
    refuse_unexpected,
)
from tablewright.kit.objects.tree import Tree, file_chunks, is_absent, new_file, write_all
from tablewright.world import World

UPLOADS = ".uploads"
_NAME, _DATA, _PARTS, _STORED = "upload", "data", "parts", "stored"
_RECORD = 40
_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
Seal = Callable[[int, str, datetime], None]


class DirectoryUploads:
    """The uploads of a directory; `seal` gives a complete file its checksum and time."""

    def __init__(self, tree: Tree, world: World, seal: Seal) -> None:
        self._tree, self._world, self._seal = tree, world, seal

    def begin(self, name: str) -> Upload:
        upload = Upload(name, self._world.new_id())
        with self._tree.folder([UPLOADS, upload.id], make=True) as folder:
            for file in (_DATA, _PARTS):
                os.close(new_file(file, folder))
            self._record(folder, _NAME, name.encode())
        return upload

    def put_part(
        self, upload: Upload, number: int, chunks: Iterable[bytes], expect_sha256: str | None
    ) -> Part:
        content, part = part_content(number, chunks, expect_sha256)
        with self._locked(upload) as folder:
            if _stored(folder) is None and _parts(folder).get(number) != part:
                _write_part(folder, part, content)
        return part

    def parts(self, upload: Upload) -> list[Part]:
        with self._locked(upload) as folder:
            return sorted(_parts(folder).values(), key=lambda part: part.number)

    def complete(self, upload: Upload, size: int, expect_sha256: str | None) -> Stored:
        target = upload.name.split("/")
        with self._locked(upload) as folder:
            stored = _stored(folder)
            if stored is None:
                stored = self._verified(folder, upload, size, expect_sha256)
            refuse_unexpected("size", size, stored.size)
            refuse_unexpected("sha256", expect_sha256, stored.sha256)
            if _exists(_DATA, folder):
                self._tree.move([UPLOADS, upload.id, _DATA], target)
        if not self._tree.exists(target):
            raise UploadUnknown(upload)
        return stored

    def abort(self, upload: Upload) -> None:
        with suppress(UploadUnknown), self._locked(upload):
            self._delete(upload.id)

    def remove_abandoned(self, before: datetime) -> Iterator[str]:
        """Delete old uploads; those that were completed without a word."""
        for found, _ in self.older([UPLOADS], before):
            name = self._name(found)
            try:
                with self._tree.folder([UPLOADS, found]) as folder:
                    is_complete = _stored(folder) is not None and not _exists(_DATA, folder)
            except OSError as error:
                if not is_absent(error):
                    raise
                continue
            self._delete(found)
            if not is_complete:
                yield name or f"{UPLOADS}/{found}"

    def older(self, steps: Sequence[str], before: datetime) -> Iterator[tuple[str, datetime]]:
        """The members of a folder that are older than a moment; an upload is as old as its name."""
        try:
            with self._tree.folder(steps) as folder:
                found = sorted(os.listdir(folder))
                times = [(name, _began(name, folder)) for name in found]
        except OSError as error:
            if not is_absent(error):
                raise
            return
        yield from ((name, began) for name, began in times if began is not None and began < before)

    def _verified(self, folder: int, upload: Upload, size: int, expect_sha256: str | None) -> Stored:
        """The whole object, compared with its parts and with what is expected; recorded in `stored`."""
        parts = _parts(folder)
        refuse_incomplete(size, {number: part.size for number, part in parts.items()})
        data = os.open(_DATA, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            stored = Stored(size, _checksum(data, folder, size, parts))
            try:
                refuse_unexpected("sha256", expect_sha256, stored.sha256)
            except ContentUnexpected:
                self._delete(upload.id)
                raise
            os.ftruncate(data, size)
            self._seal(data, stored.sha256, self._world.now())
        finally:
            os.close(data)
        self._record(folder, _STORED, orjson.dumps({"size": stored.size, "sha256": stored.sha256}))
        return stored

    def _record(self, folder: int, name: str, content: bytes) -> None:
        """A small file that is complete or absent."""
        draft = f".{name}.{self._world.new_id()}"
        file = new_file(draft, folder)
        try:
            write_all(file, content)
            now = self._world.now().timestamp()
            os.utime(file, (now, now))
            os.fsync(file)
        finally:
            os.close(file)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)

    def _name(self, upload_id: str) -> str | None:
        try:
            with self._tree.folder([UPLOADS, upload_id]) as folder:
                return _content(_NAME, folder).decode()
        except (OSError, UnicodeDecodeError):
            return None

    @contextmanager
    def _locked(self, upload: Upload) -> Iterator[int]:
        """The folder of an upload, for one caller at a time."""
        checked(upload.name)
        if not _ID.fullmatch(upload.id):
            raise UploadUnknown(upload)
        try:
            with self._tree.folder([UPLOADS, upload.id]) as folder:
                fcntl.flock(folder, fcntl.LOCK_EX)
                if _content(_NAME, folder) != upload.name.encode():
                    raise UploadUnknown(upload)
                yield folder
        except OSError as error:
            if not is_absent(error):
                raise
            raise UploadUnknown(upload) from None

    def _delete(self, upload_id: str) -> None:
        with self._tree.folder([UPLOADS]) as folder:
            shutil.rmtree(upload_id, ignore_errors=True, dir_fd=folder)


def _write_part(folder: int, part: Part, content: bytes) -> None:
    data = os.open(_DATA, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    records = os.open(_PARTS, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    place = (part.number - 1) * _RECORD
    try:
        write_all(records, bytes(_RECORD), place)  # an older part of this number is not here any more
        write_all(data, content, (part.number - 1) * PART_SIZE)
        os.fsync(data)
        write_all(records, (part.size + 1).to_bytes(8) + bytes.fromhex(part.sha256 or ""), place)
        os.fsync(records)
    finally:
        os.close(data)
        os.close(records)


def _parts(folder: int) -> dict[int, Part]:
    found = {}
    records = _content(_PARTS, folder)
    for number, place in enumerate(range(0, min(len(records), MAX_PARTS * _RECORD), _RECORD), 1):
        record = records[place : place + _RECORD]
        length = int.from_bytes(record[:8])
        if length and len(record) == _RECORD:
            found[number] = Part(number, length - 1, record[8:].hex())
    return found


def _checksum(data: int, folder: int, size: int, parts: dict[int, Part]) -> str:
    """The checksum of the whole. A part that is not as it was recorded is forgotten, and PartsMissing names it."""
    whole = sha256()
    for number, start in enumerate(range(0, max(size, 1), PART_SIZE), 1):
        digest, end = sha256(), min(start + PART_SIZE, size)
        with suppress(OSError):  # shorter than recorded: the checksum below differs
            for chunk in file_chunks(data, start, end):
                digest.update(chunk)
                whole.update(chunk)
        if digest.hexdigest() != parts[number].sha256:
            _forget(folder, number)
            raise PartsMissing([number])
    return whole.hexdigest()


def _forget(folder: int, number: int) -> None:
    records = os.open(_PARTS, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        write_all(records, bytes(_RECORD), (number - 1) * _RECORD)
        os.fsync(records)
    finally:
        os.close(records)


def _stored(folder: int) -> Stored | None:
    try:
        told = orjson.loads(_content(_STORED, folder))
    except FileNotFoundError:
        return None
    return Stored(told["size"], told["sha256"])


def _content(name: str, folder: int) -> bytes:
    with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder), "rb") as file:
        return file.read()


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _began(name: str, folder: int) -> datetime | None:
    for path in (f"{name}/{_NAME}", name):
        with suppress(OSError):
            return datetime.fromtimestamp(os.stat(path, dir_fd=folder, follow_symlinks=False).st_mtime, UTC)
    return None
