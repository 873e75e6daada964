"""Files named on the command line: reading them, and error messages that name the file."""

import argparse
import errno
from pathlib import Path

from tablewright.cli.output import UsageError

_MESSAGES = {
    errno.ENOENT: "no such file or directory: {}",
    errno.EISDIR: "{} is a directory; a file is needed",
    errno.ENOTDIR: "{} is not a directory, or a part of its path is a file",
    errno.EACCES: "{} cannot be read or written: permission denied",
    errno.EPERM: "{} cannot be read or written: permission denied",
    errno.EROFS: "{} is on a read-only file system",
    errno.EEXIST: "{} already exists and is not a directory",
    errno.ENAMETOOLONG: "file name too long: {}",
}


class FileUnusable(UsageError):
    """A file that does not exist, cannot be read or has the wrong format."""


def error_text(error: Exception) -> str:
    """The message of an error; of an OSError, a sentence with the path instead of an errno."""
    if not isinstance(error, OSError) or error.filename is None:
        return str(error)
    message = _MESSAGES.get(error.errno or 0)
    path = str(error.filename)
    return message.format(path) if message else f"{path}: {error.strerror or error}"


def read_text(path: Path) -> str:
    """The text of a UTF-8 file; raises FileUnusable."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise FileUnusable(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise FileUnusable(error_text(error)) from None


def refuse_non_directory(path: Path) -> None:
    """Refuse an output directory whose path contains a file, before any work is done."""
    existing = next(one for one in (path, *path.absolute().parents) if one.exists())
    if not existing.is_dir():
        raise FileUnusable(f"{path} cannot be a directory: {existing} is a file")


def buckets_location(text: str) -> str:
    """The value of --buckets: a directory, or `s3:...`."""
    if not text.startswith("s3:"):
        try:
            refuse_non_directory(Path(text))
        except FileUnusable as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return text
