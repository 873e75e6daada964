"""A system's secrets by number: keyed hashes and sealed texts. The newest is used, older ones are still understood.

An address stands in a key as `2-9f86d0...`: the number of the secret, then a keyed hash that no dictionary can undo.
Must hold: nothing made for one system or purpose is of use for another; a secret's file is readable by its owner alone,
or it is not used; two processes that start or rotate together end with the same secrets.
Elsewhere: whether they are the secrets of before (keyring_check.py); what is stored by a hash is moved to the newest
secret by its system.
"""

import hashlib
import hmac
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from tablewright.kit.sealed_text import SealBroken, seal_text, unseal_text
from tablewright.world import World

LEAST_BYTES = 32
Secrets: TypeAlias = Callable[[], Mapping[int, bytes]]


class SecretUnusable(ValueError):
    """A secret's file is exposed or damaged."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"{path} {why}; restore it from a backup: without it nothing is found that was stored by its hash"
        )


class KeyRing:
    """Keyed hashes and sealed texts of the system with this name. Threads may share one."""

    def __init__(self, name: str, secrets: Secrets, world: World) -> None:
        self._name, self._secrets, self._world = name, secrets, world

    @property
    def newest(self) -> int:
        return max(self._secrets())

    def hmac(self, purpose: str, data: str) -> str:
        """The keyed hash under the newest secret."""
        return self._hmac(self.newest, purpose, data)

    def hmacs(self, purpose: str, data: str) -> tuple[str, ...]:
        """The keyed hash under every secret that is still understood, the newest first."""
        return tuple(self._hmac(number, purpose, data) for number in sorted(self._secrets(), reverse=True))

    def is_hmac(self, purpose: str, data: str, known: str) -> bool:
        """Whether a hash is of this text, whichever secret it was made with."""
        return any([hmac.compare_digest(each.encode(), known.encode()) for each in self.hmacs(purpose, data)])

    def is_newest(self, known: str) -> bool:
        """Whether a hash was made with the newest secret."""
        return known.startswith(f"{self.newest}-")

    def oldest(self, purpose: str) -> bytes:
        """A key of the oldest secret that is still understood."""
        return self._key(min(self._secrets()), purpose)

    def seal(self, purpose: str, text: str, about: str = "") -> str:
        """Encrypt and authenticate a text with the secret; it opens only with the same `about`."""
        number = self.newest
        return f"{number}-{seal_text(self._key(number, f'seal {purpose}'), text, about, self._world)}"

    def open(self, purpose: str, sealed: str, about: str = "") -> str:
        number, _, rest = sealed.partition("-")
        try:
            return unseal_text(self._key(int(number), f"seal {purpose}"), rest, about)
        except (ValueError, KeyError):
            raise SealBroken from None

    def _hmac(self, number: int, purpose: str, data: str) -> str:
        made = hmac.new(self._key(number, purpose), data.encode(), hashlib.sha256)
        return f"{number}-{made.hexdigest()}"

    def _key(self, number: int, purpose: str) -> bytes:
        """Each purpose has a key of its own, made from the secret."""
        return hmac.new(self._secrets()[number], f"{self._name}/{purpose}".encode(), hashlib.sha256).digest()


def keyring_of(name: str, *secrets: bytes, world: World) -> KeyRing:
    """A ring of these secrets, the oldest first."""
    kept = dict(enumerate(secrets, 1))
    return KeyRing(name, lambda: kept, world)


def passing_keyring(name: str, world: World) -> KeyRing:
    """A ring that dies with the process: what was hashed with it is not found again."""
    return keyring_of(name, _new_secret(world), world=world)


# --- kept in files ---


class KeyDirectory:
    """Secrets as files of a directory, `000001.secret`, never changed once they are there. Is a `Secrets`."""

    def __init__(self, directory: Path, world: World) -> None:
        self._directory, self._world = directory, world
        self._read: dict[str, bytes] = {}
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._names():
            self._add(1)
        self()  # an unusable secret raises now, not at the first login

    def __call__(self) -> Mapping[int, bytes]:
        names = self._names()
        if list(self._read) != names:
            # Another process may have rotated.
            self._read = {
                name: self._read.get(name) or _read_secret(self._directory / name) for name in names
            }
        return {int(name.partition(".")[0]): secret for name, secret in self._read.items()}

    def rotate(self) -> int:
        """Use a new secret from now on; its number. The old ones go on being understood."""
        newest = max(self()) + 1
        self._add(newest)
        return newest

    def drop(self, number: int) -> None:
        """Delete an old secret, once nothing made with it is left, not even in a backup or on a list of erasures:
        without their secret no erased account is recognised by its hash in a restored copy."""
        if number == max(self()):
            raise ValueError("the secret in use cannot be dropped: rotate first")
        self._path(number).unlink(missing_ok=True)

    def _names(self) -> list[str]:
        return _names_in(self._directory)

    def _path(self, number: int) -> Path:
        return self._directory / f"{number:06d}.secret"

    def _add(self, number: int) -> None:
        draft = self._directory / f"{self._world.new_id()}.draft"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_new_secret(self._world))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, self._path(number))  # unlike a rename, this fails where another process was first
        except FileExistsError:
            pass
        finally:
            draft.unlink()


def _names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("[0-9]*.secret"))


def has_secrets(directory: Path) -> bool:
    """Whether a directory has any secret yet."""
    return bool(_names_in(directory))


def kept_keyring(name: str, directory: Path, world: World) -> KeyRing:
    """The ring of a directory; a first secret is made if there is none."""
    return KeyRing(name, KeyDirectory(directory, world), world)


def _new_secret(world: World) -> bytes:
    """Enough chance for a key: two random ids."""
    return hashlib.sha256(f"{world.new_id()}{world.new_id()}".encode()).digest()


def _read_secret(path: Path) -> bytes:
    with open(path, "rb") as file:
        if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise SecretUnusable(path, "can be read by others than its owner")
        secret = file.read()
    if len(secret) < LEAST_BYTES:
        raise SecretUnusable(path, "is cut short")
    return secret
