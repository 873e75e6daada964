"""What is read often, kept for a while: in this process, or in a Redis that all nodes share (PC-E7, ZC-E5).

A value is kept under the mark its key had before the value was read; `delete` gives the key another mark. Must hold:
what was read before a `delete` is never found after it, even if it is stored later than that. No process subscribes:
each look compares marks, so there is no message that could be lost and leave a copy behind. What was deleted is gone
from where it was kept, and so is everything about its key a while later: nothing of an erased person is left.
Elsewhere: what is kept and who deletes it (each system).
"""

import importlib
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

from tablewright.world import World

log = logging.getLogger("tablewright.cache")

V = TypeVar("V")
TIMEOUT = 0.5
# How long a mark stays in a Redis. Without it a key gets a mark that no value was ever kept under.
MARKED = timedelta(minutes=10)
REST = timedelta(seconds=2)
# Values that a process keeps of one cache, unless it says otherwise.
MOST = 10_000


class CacheUnavailable(Exception):
    """The cache does not answer. The caller reads from the table instead."""


class CacheMistake(Exception):
    """A cache that cannot be had as it was asked for."""


class CacheElsewhere(CacheMistake):
    """An address that is none of a Redis."""

    def __init__(self, url: str) -> None:
        super().__init__(f"a cache URL is redis://host:6379/0 or rediss://host:6379/0, not {url}")


class RedisMissing(CacheMistake):
    """A Redis was asked for and the package that speaks to it is not installed."""

    def __init__(self) -> None:
        super().__init__("a redis:// cache needs the package redis: pip install 'tablewright[redis]'")


class Cache(Protocol):
    """Values by key, each under a mark. Every call may raise CacheUnavailable."""

    def mark(self, key: str) -> str:
        """Which state of a key is the newest; another one after each `delete`."""

    def get(self, key: str, mark: str) -> bytes | None:
        """What was kept under that mark, unless its time is over."""

    def set(self, key: str, mark: str, value: bytes, lifetime: timedelta) -> None:
        """Keep what was read after `mark` was asked for; to no effect if the key has another mark by now."""

    def delete(self, key: str) -> None:
        """What is kept is out of date."""

    def close(self) -> None:
        """Let go of connections."""


def through(cache: Cache, key: str, lifetime: timedelta, load: Callable[[], bytes]) -> bytes:
    """What is kept, or what `load` reads, which is then kept."""
    mark = cache.mark(key)
    found = cache.get(key, mark)
    if found is None:
        found = load()
        cache.set(key, mark, found, lifetime)
    return found


def cache_at(url: str | None, world: World, system: str, most: int = MOST) -> "Cache":
    """A system's cache by its address: none for this process alone, redis://host:port/0 for one that nodes share.

    `most` is the number of values that a process keeps.
    """
    return RedisCache(url, world, system) if url else MemoryCache[bytes](world, most)


class MemoryCache(Generic[V]):
    """In this process, for any number of threads; not more than `most` values."""

    def __init__(self, world: World, most: int = MOST) -> None:
        self._world, self._most, self._lock = world, most, Lock()
        self._marks: dict[str, int] = {}
        self._kept: dict[str, tuple[str, V, datetime]] = {}

    def mark(self, key: str) -> str:
        return str(self._marks.get(key, 0))

    def get(self, key: str, mark: str = "0") -> V | None:
        found = self._kept.get(key)
        if found is None or found[0] != mark or found[2] <= self._world.now():
            return None
        return found[1]

    def set(self, key: str, mark: str, value: V, lifetime: timedelta) -> None:
        with self._lock:
            if mark != self.mark(key):
                return
            self._kept.pop(key, None)
            self._make_room()
            self._kept[key] = (mark, value, self._world.now() + lifetime)

    def delete(self, key: str) -> None:
        with self._lock:
            self._marks[key] = self._marks.get(key, 0) + 1
            self._kept.pop(key, None)

    def close(self) -> None:
        with self._lock:
            self._kept.clear()

    def _make_room(self) -> None:
        """Drop those at the front whose time is over, and the oldest if there are too many."""
        now = self._world.now()
        while self._kept:
            oldest = next(iter(self._kept))
            if len(self._kept) < self._most and self._kept[oldest][2] > now:
                return
            del self._kept[oldest]


class RedisCache:
    """In a Redis. After a failure it is left alone for a moment, so that one that is away does not slow everything."""

    def __init__(self, url: str, world: World, system: str, *, timeout: float = TIMEOUT) -> None:
        try:
            redis = importlib.import_module("redis")  # an extra: only who has a Redis needs it
        except ImportError:
            raise RedisMissing from None
        self._world, self._prefix = world, f"tablewright:{system}:"
        self._mistake: type[Exception] = redis.RedisError
        try:
            self._redis: Any = redis.Redis.from_url(
                url, socket_timeout=timeout, socket_connect_timeout=timeout
            )
        except ValueError:
            raise CacheElsewhere(url) from None
        self._rests_until: datetime | None = None

    def mark(self, key: str) -> str:
        """A Redis that is full may drop a mark alone: the next is one that no value was ever kept under."""
        place, fresh = f"{self._prefix}{key}:mark", self._world.new_id()
        found: bytes | None = self._ask("get", place)
        if found is None and not self._ask("set", place, fresh, nx=True, px=_milliseconds(MARKED)):
            found = self._ask("get", place)
        return found.decode() if found is not None else fresh

    def get(self, key: str, mark: str) -> bytes | None:
        found: bytes | None = self._ask("get", self._place(key, mark))
        return found

    def set(self, key: str, mark: str, value: bytes, lifetime: timedelta) -> None:
        # Under an old mark it is never read, and it expires.
        self._ask("set", self._place(key, mark), value, px=_milliseconds(lifetime))

    def delete(self, key: str) -> None:
        fresh = self._world.new_id()
        before = self._ask("set", f"{self._prefix}{key}:mark", fresh, get=True, px=_milliseconds(MARKED))
        if before is not None:
            self._ask("delete", self._place(key, before.decode()))

    def close(self) -> None:
        self._redis.close()

    def _place(self, key: str, mark: str) -> str:
        return f"{self._prefix}{key}@{mark}"

    def _ask(self, verb: str, *arguments: object, **options: object) -> Any:
        now = self._world.now()
        if self._rests_until is not None and now < self._rests_until:
            raise CacheUnavailable("it did not respond a moment ago")
        try:
            answer = getattr(self._redis, verb)(*arguments, **options)
        except self._mistake as error:
            self._rests_until = now + REST
            log.warning("cache unavailable", extra={"mistake": type(error).__name__})
            raise CacheUnavailable(type(error).__name__) from None
        self._rests_until = None
        return answer


def _milliseconds(lifetime: timedelta) -> int:
    return max(int(lifetime.total_seconds() * 1000), 1)
