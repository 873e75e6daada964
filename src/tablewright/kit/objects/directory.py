"""Objects as files of a directory: the store of one machine (CC-E1).

`pictures/ada/1` is a file of that path. A write goes to `.drafts/` and is renamed when it is complete and on the disk;
the time of the file is that of the World. Its checksum is an extended attribute, set before the rename: None where the
file system has none, or after a copy that left it out. An object and a folder cannot have the same name here.
Elsewhere: uploads in parts (directory_uploads.py), the files themselves (tree.py), links (signed_paths.py).
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path

from tablewright.kit.objects.directory_uploads import DirectoryUploads
from tablewright.kit.objects.signed_paths import SignedPath, SignedPaths
from tablewright.kit.objects.store import (
    Entry,
    Head,
    ObjectMissing,
    ObjectStore,
    ObjectStream,
    Part,
    RangeUnusable,
    SignedRequest,
    Stored,
    Upload,
    checked,
    checked_folder,
    refuse_unexpected,
)
from tablewright.kit.objects.tree import Tree, file_chunks, is_absent, new_file, write_all
from tablewright.world import World

DRAFTS = ".drafts"
_SHA256 = "user.sha256"


class Directory(ObjectStore):
    """Objects as files. Links need `signed_paths`, and a route that verifies them."""

    def __init__(self, directory: Path, world: World, signed_paths: SignedPaths | None = None) -> None:
        self._tree, self._world, self._signed_paths = Tree(directory), world, signed_paths
        self._uploads = DirectoryUploads(self._tree, world, _seal)

    # --- whole objects ---

    def put(self, name: str, content: bytes) -> None:
        self.write(name, [content])

    def put_new(self, name: str, content: bytes) -> bool:
        steps, draft = checked(name).split("/"), self._world.new_id()
        try:
            with self._tree.folder([DRAFTS], make=True) as folder, _closed(new_file(draft, folder)) as file:
                write_all(file, content)
                _seal(file, sha256(content).hexdigest(), self._world.now())
            return self._tree.move([DRAFTS, draft], steps, replace=False)
        except BaseException:
            self._tree.remove([DRAFTS, draft])
            raise

    def write(
        self,
        name: str,
        chunks: Iterable[bytes],
        *,
        expect_size: int | None = None,
        expect_sha256: str | None = None,
        cold: bool = False,
    ) -> Stored:
        steps, draft, digest, size = checked(name).split("/"), self._world.new_id(), sha256(), 0
        try:
            with self._tree.folder([DRAFTS], make=True) as folder, _closed(new_file(draft, folder)) as file:
                for chunk in chunks:
                    write_all(file, chunk)
                    digest.update(chunk)
                    size += len(chunk)
                refuse_unexpected("size", expect_size, size)
                refuse_unexpected("sha256", expect_sha256, digest.hexdigest())
                _seal(file, digest.hexdigest(), self._world.now())
            self._tree.move([DRAFTS, draft], steps)
        except BaseException:
            self._tree.remove([DRAFTS, draft])
            raise
        return Stored(size, digest.hexdigest())

    def read(self, name: str, start: int = 0, end: int | None = None) -> ObjectStream:
        file = self._open(name)
        size = os.fstat(file).st_size
        last = size if end is None else min(end, size)
        if not 0 <= start <= size or last < start:
            os.close(file)
            raise RangeUnusable(name, start, end, size)
        return ObjectStream(size, start, last, file_chunks(file, start, last), partial(os.close, file))

    def head(self, name: str) -> Head | None:
        try:
            with _closed(self._open(name)) as file:
                state = os.fstat(file)
                return Head(state.st_size, _checksum(file), _time(state))
        except ObjectMissing:
            return None

    def remove(self, name: str) -> None:
        self._tree.remove(checked(name).split("/"))

    def entries(self, prefix: str) -> Iterator[Entry]:
        steps = checked_folder(prefix).split("/")[:-1]
        return (Entry(name, state.st_size, _time(state)) for name, state in self._tree.files(steps))

    def copy(self, name: str, to: str) -> None:
        # Not a hard link: the copy has a time of its own, which the sweep reads.
        with self.read(name) as stream:
            self.write(to, stream, expect_size=stream.size)

    def restore(self, name: str, days: int = 7) -> bool:
        if self.head(name) is None:
            raise ObjectMissing(name)
        return True

    # --- uploads ---

    def begin(self, name: str) -> Upload:
        return self._uploads.begin(checked(name))

    def put_part(
        self, upload: Upload, number: int, chunks: Iterable[bytes], *, expect_sha256: str | None = None
    ) -> Part:
        return self._uploads.put_part(upload, number, chunks, expect_sha256)

    def parts(self, upload: Upload) -> Iterator[Part]:
        return iter(self._uploads.parts(upload))

    def complete(self, upload: Upload, size: int, *, expect_sha256: str | None = None) -> Stored:
        return self._uploads.complete(upload, size, expect_sha256)

    def abort(self, upload: Upload) -> None:
        self._uploads.abort(upload)

    def remove_abandoned(self, before: datetime) -> Iterator[str]:
        yield from self._uploads.remove_abandoned(before)
        for draft, modified in self._uploads.older([DRAFTS], before):
            self._tree.remove([DRAFTS, draft])
            yield f"{DRAFTS}/{draft} of {modified:%Y-%m-%d}"

    # --- links ---

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
        path = SignedPath(
            checked(name), filename=filename, content_type=content_type, inline=inline, subject=subject
        )
        return SignedRequest("GET", self._signed().sign(path, ttl), {})

    @property
    def bucket(self) -> str:
        return self._tree.root.name

    @property
    def origin(self) -> str | None:
        return None

    def sign_put(
        self, upload: Upload, number: int, ttl: timedelta, *, size: int, sha256: str
    ) -> SignedRequest | None:
        checked(upload.name)
        return None

    def _signed(self) -> SignedPaths:
        if self._signed_paths is None:
            raise ValueError("links to a directory of objects need signed_paths: give them to Directory")
        return self._signed_paths

    def _open(self, name: str) -> int:
        try:
            return self._tree.open(checked(name).split("/"))
        except OSError as error:
            if not is_absent(error):
                raise
            raise ObjectMissing(name) from None


@contextmanager
def _closed(file: int) -> Iterator[int]:
    try:
        yield file
    finally:
        os.close(file)


def _seal(file: int, checksum: str, now: datetime) -> None:
    """A complete file: its checksum, its time, and all of it on the disk."""
    with suppress(OSError, AttributeError):
        os.setxattr(file, _SHA256, checksum.encode())
    os.utime(file, (now.timestamp(), now.timestamp()))
    os.fsync(file)


def _checksum(file: int) -> str | None:
    try:
        return os.getxattr(file, _SHA256).decode()
    except (OSError, AttributeError):
        return None


def _time(state: os.stat_result) -> datetime:
    return datetime.fromtimestamp(state.st_mtime, UTC)
