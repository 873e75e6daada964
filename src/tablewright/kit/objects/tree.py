"""Files below a root directory, opened step by step so that no symbolic link inside leads out of it.

Must hold: each step of a path is opened relative to the one before and never followed if it is a link; files and
folders are for their owner only; a new name is on the disk before the call returns.
Elsewhere: which names there are (store.py), what the files are (directory.py, directory_uploads.py).
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tablewright.kit.objects.store import CHUNK, NameUnusable
from tablewright.private_files import DIRECTORY_MODE, FILE_MODE, private_directory

_ABSENT = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR))
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# NONBLOCK: opening a named pipe would wait for a writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# A folder that was just created can be deleted by a `remove` in another process, if it is empty.
_TRIES = 100


def is_absent(error: OSError) -> bool:
    """True if a path does not lead to what was asked for: it is missing, a link, or of another kind."""
    return error.errno in _ABSENT


class Tree:
    """The files below a directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @contextmanager
    def folder(self, steps: Sequence[str], *, make: bool = False) -> Iterator[int]:
        """A folder as a descriptor; with `make` it is created if it is missing."""
        if make:
            private_directory(self.root)
        number = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for step in steps:
                deeper = _made(step, number) if make else os.open(step, _FOLDER, dir_fd=number)
                os.close(number)
                number = deeper
            yield number
        finally:
            os.close(number)

    def open(self, steps: Sequence[str]) -> int:
        """A regular file, to read."""
        with self.folder(steps[:-1]) as folder:
            number = os.open(steps[-1], _FILE, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(number).st_mode):
            os.close(number)
            raise IsADirectoryError(errno.EISDIR, "not a regular file")
        return number

    def move(self, source: Sequence[str], target: Sequence[str], *, replace: bool = True) -> bool:
        """Give a file its final name, replacing a file of that name; without `replace`, False if there is one.

        The file has its first name no more, in either case.
        """
        for _ in range(_TRIES):
            try:
                with self.folder(source[:-1]) as old:
                    os.stat(source[-1], dir_fd=old, follow_symlinks=False)
                    with self.folder(target[:-1], make=True) as new:
                        is_placed = _rename(source[-1], target[-1], old, new, replace)
                        os.fsync(new)
                        return is_placed
            except FileNotFoundError:
                if not self.exists(source):
                    raise
            except (NotADirectoryError, IsADirectoryError):
                raise NameUnusable("/".join(target)) from None
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise
                raise NameUnusable("/".join(target)) from None
        raise FileNotFoundError(errno.ENOENT, "the folder was deleted again and again", "/".join(target))

    def exists(self, steps: Sequence[str]) -> bool:
        try:
            os.close(self.open(steps))
        except OSError as error:
            if not is_absent(error):
                raise
            return False
        return True

    def remove(self, steps: Sequence[str]) -> None:
        """Delete a file, and the folders that are empty without it."""
        try:
            with self.folder(steps[:-1]) as folder:
                os.unlink(steps[-1], dir_fd=folder)
                os.fsync(folder)
        except OSError as error:
            if not is_absent(error):
                raise
            return
        with suppress(OSError):
            for depth in range(len(steps) - 1, 0, -1):
                with self.folder(steps[: depth - 1]) as parent:
                    os.rmdir(steps[depth - 1], dir_fd=parent)

    def files(self, steps: Sequence[str]) -> Iterator[tuple[str, os.stat_result]]:
        """The regular files of a folder and its subfolders, in the order of their paths; none with a leading dot."""
        try:
            with self.folder(steps) as folder, os.scandir(folder) as entries:
                found = sorted(
                    (f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name, entry)
                    for entry in entries
                    if not entry.name.startswith(".") and not entry.is_symlink()
                )
                states = [
                    (name, None if name.endswith("/") else _state(entry.name, folder))
                    for name, entry in found
                ]
        except OSError as error:
            if not is_absent(error):
                raise
            return
        prefix = "".join(f"{step}/" for step in steps)
        for name, state in states:
            if name.endswith("/"):
                yield from self.files((*steps, name[:-1]))
            elif state is not None and stat.S_ISREG(state.st_mode):
                yield f"{prefix}{name}", state


def new_file(name: str, folder: int) -> int:
    """A file that did not exist, to write."""
    return os.open(
        name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE, dir_fd=folder
    )


def write_all(number: int, content: bytes, offset: int | None = None) -> None:
    """Write all bytes, at an offset or at the end of what was written."""
    view = memoryview(content)
    while view:
        done = os.write(number, view) if offset is None else os.pwrite(number, view, offset)
        view = view[done:]
        offset = None if offset is None else offset + done


def file_chunks(number: int, start: int, end: int) -> Iterator[bytes]:
    """The bytes of a file between two offsets."""
    while start < end:
        chunk = os.pread(number, min(CHUNK, end - start), start)
        if not chunk:
            raise OSError(errno.EIO, "a file became shorter while it was read")
        yield chunk
        start += len(chunk)


def _rename(source: str, target: str, old: int, new: int, replace: bool) -> bool:
    """Rename a file from one folder to another; without `replace` a file that has the name keeps it, and False."""
    if replace:
        os.replace(source, target, src_dir_fd=old, dst_dir_fd=new)
        return True
    try:
        os.link(source, target, src_dir_fd=old, dst_dir_fd=new)
        is_placed = True
    except FileExistsError:
        is_placed = False
    os.unlink(source, dir_fd=old)
    return is_placed


def _made(step: str, folder: int) -> int:
    for _ in range(_TRIES):
        try:
            return os.open(step, _FOLDER, dir_fd=folder)
        except FileNotFoundError:
            with suppress(FileExistsError):
                os.mkdir(step, DIRECTORY_MODE, dir_fd=folder)
                os.fsync(folder)
    raise FileNotFoundError(errno.ENOENT, "the folder was deleted again and again", step)


def _state(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:  # deleted since the folder was read
        return None
