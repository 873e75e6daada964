"""A secret of this store, made once and kept in a file only its owner can read.

Page tokens are sealed with it, so they survive a restart; so are codes and links in waiting messages, so that no table
holds them (kit/messages.py). The secrets of the systems are derived from it, so Zoo chat's keys are: without it, what
they sealed is unreadable. Must hold: two processes that start together use the same secret; a file that other users can
read is not used; no message tells anyone to delete it.
"""

import os
import stat
from pathlib import Path

from tablewright.world import World

NAME = "page-tokens.secret"
_LEAST_BYTES = 32


class SecretUnusable(ValueError):
    """The secret's file is exposed or damaged."""

    def __init__(self, path: Path, why: str, advice: str) -> None:
        super().__init__(
            f"{path} {why}; {advice}. Do not delete it: what is stored sealed, such as chats, can be "
            "read with this secret only"
        )


def new_secret(world: World) -> bytes:
    """Enough chance for a key: two random ids."""
    return f"{world.new_id()}{world.new_id()}".encode()


def kept_secret(directory: Path, world: World) -> bytes:
    """The secret of a data directory; made now if there is none."""
    path = directory / NAME
    if not path.exists():
        _make(path, new_secret(world), world)
    with open(path, "rb") as file:
        if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise SecretUnusable(path, "can be read by users other than its owner", f"run `chmod 600 {path}`")
        secret = file.read()
    if len(secret) < _LEAST_BYTES:
        raise SecretUnusable(path, "is truncated", "put back a copy of the file")
    return secret


def _make(path: Path, secret: bytes, world: World) -> None:
    draft = path.with_suffix(f".{world.new_id()}.draft")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)  # unlike a rename, this fails where another process was first
    except FileExistsError:
        pass
    finally:
        draft.unlink()
