"""A data key for each person, outside of the tables: once it is destroyed, nothing that it sealed can be read again.

    keys = SubjectKeys(objects, keyring_of("chat", secret, world=world), world)
    sealed = keys.seal("child-1", "message/17", "I like pandas")
    keys.open("child-1", "message/17", sealed)
    keys.destroy("child-1")                     # backups of the tables hold no key

A key is an object `keys/{digest of the subject}/{number}`, sealed by the system's ring; a sealed text begins with the
number of its key. Of two processes that make the first key of a person at once one stores it, and both use that one;
a number that a process does not know makes it read the keys again. A destroyed key leaves a mark, so that no key is
made for an erased person.
Must hold: a sealed text opens only for the subject and the attribute it was sealed for; a key that is made while keys
are destroyed is removed too; another process uses a destroyed key for a minute at most.
Elsewhere: the ring (keyring.py), the list of the erased (erased.py), what is sealed (each system).
"""

import hashlib
import hmac
import threading
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from tablewright.kit.keyring import KeyRing
from tablewright.kit.objects.store import Objects, StoreUnusable
from tablewright.kit.sealed_text import SealBroken, seal_bytes, seal_text, unseal_bytes, unseal_text
from tablewright.world import World

FOLDER = "keys"
# The number of a first key: the least there is.
_FIRST = "00000000"
_ATTEMPTS = 5
_PURPOSE, _GONE = "subject key", "destroyed"
_CACHED, _CACHED_FOR = 1000, timedelta(minutes=1)


class KeyDestroyed(Exception):
    """The key of this person was destroyed: nothing of theirs can be read or written any more."""

    def __init__(self) -> None:
        super().__init__("the key of this person was destroyed; what it sealed cannot be read again")


@dataclass(frozen=True, slots=True)
class _Known:
    """The keys of a subject by number, and until when they are used without reading them again."""

    keys: Mapping[str, bytes]
    until: datetime


class SubjectKeys:
    """Keys by subject. Threads may share one."""

    def __init__(self, objects: Objects, ring: KeyRing, world: World) -> None:
        self._objects, self._ring, self._world = objects, ring, world
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._lock = threading.RLock()

    def seal(self, subject: str, attribute: str, text: str) -> str:
        """The text, sealed with the key of the subject; a first key is made. KeyDestroyed if there was one."""
        number, key = self._first(subject)
        return f"{number}.{seal_text(key, text, _about(subject, attribute), self._world)}"

    def open(self, subject: str, attribute: str, sealed: str) -> str:
        """The text that was sealed; KeyDestroyed, or SealBroken if it is of another subject or attribute."""
        number, _, rest = sealed.partition(".")
        return unseal_text(self._numbered(subject, number), rest, _about(subject, attribute))

    def seal_bytes(self, subject: str, attribute: str, content: bytes) -> bytes:
        """As `seal`, for bytes."""
        number, key = self._first(subject)
        return number.encode() + b"." + seal_bytes(key, content, _about(subject, attribute), self._world)

    def open_bytes(self, subject: str, attribute: str, sealed: bytes) -> bytes:
        """As `open`, for bytes."""
        number, _, rest = sealed.partition(b".")
        key = self._numbered(subject, number.decode(errors="replace"))
        return unseal_bytes(key, rest, _about(subject, attribute))

    def beacon(self, subject: str, attribute: str, word: str) -> str:
        """A keyed hash of a word, to find it by equality without revealing it; of no use for another subject."""
        _, key = self._first(subject)
        made = hmac.new(key, f"beacon {attribute}\n{word}".encode(), hashlib.sha256)
        return made.hexdigest()[:24]

    def destroy(self, subject: str) -> None:
        """Remove the key for ever; the second time it does nothing."""
        with self._lock:
            self._known.pop(subject, None)
            # The mark first: a key that is made after it is removed here, or by its maker, who sees the mark.
            self._objects.put(_gone(subject), b"")
            for name in list(self._objects.names(_folder(subject))):
                self._objects.remove(name)

    def is_destroyed(self, subject: str) -> bool:
        """True once the key of a subject was destroyed."""
        return self._objects.get(_gone(subject)) is not None

    # --- parts ---

    def _first(self, subject: str) -> tuple[str, bytes]:
        with self._lock:
            keys = self._keys(subject) or self._make(subject)
        number = min(keys)
        return number, keys[number]

    def _numbered(self, subject: str, number: str) -> bytes:
        """The key of a number; another process may have made it since the keys were read."""
        with self._lock:
            key = self._keys(subject).get(number) or self._read(subject).get(number)
        if key is None:
            raise SealBroken
        return key

    def _keys(self, subject: str) -> Mapping[str, bytes]:
        with self._lock:
            known = self._known.get(subject)
            if known is not None and self._world.now() < known.until:
                self._known.move_to_end(subject)
                return known.keys
            return self._read(subject)

    def _make(self, subject: str) -> Mapping[str, bytes]:
        key = hashlib.sha256(f"{self._world.new_id()}{self._world.new_id()}".encode()).digest()
        sealed = self._ring.seal(_PURPOSE, b64encode(key).decode(), subject)
        name = f"{_folder(subject)}{_FIRST}"
        for _ in range(_ATTEMPTS):
            self._objects.put_new(name, sealed.encode())
            if self.is_destroyed(subject):
                self._objects.remove(name)
            # What is stored, by this process or another; nothing, if the store refused both.
            if keys := self._read(subject):
                return keys
        raise StoreUnusable("NoFirstKey", "the first key of a person could not be stored; try again")

    def _read(self, subject: str) -> Mapping[str, bytes]:
        if self.is_destroyed(subject):
            self._known.pop(subject, None)
            raise KeyDestroyed
        keys = {}
        for name in self._objects.names(_folder(subject)):
            sealed = self._objects.get(name)
            if sealed is not None:
                text = self._ring.open(_PURPOSE, sealed.decode(), subject)
                keys[name.rpartition("/")[2]] = b64decode(text)
        if keys:
            self._known[subject] = _Known(keys, self._world.now() + _CACHED_FOR)
        while len(self._known) > _CACHED:
            self._known.popitem(last=False)
        return keys


def _digest(subject: str) -> str:
    return hashlib.sha256(subject.encode()).hexdigest()


def _folder(subject: str) -> str:
    return f"{FOLDER}/{_digest(subject)}/"


def _gone(subject: str) -> str:
    return f"{FOLDER}/{_GONE}/{_digest(subject)}"


def _about(subject: str, attribute: str) -> str:
    return f"{subject}\n{attribute}"
