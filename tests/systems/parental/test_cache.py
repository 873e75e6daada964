"""A cache that nodes share: against a real Redis, where there is one."""

from __future__ import annotations

import importlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from tests.systems.parental.policy.test_registry import new_app, propagates
from tests.systems.parental.talk import OPERATOR, Place

from tablewright.app.runtime import open_app
from tablewright.app.systems import PARENTAL
from tablewright.systems.parental import cache as caching
from tablewright.systems.parental.cache import CacheUnavailable, MemoryCache, RedisCache, cache_at, through
from tablewright.systems.parental.policy.registry import Registry
from tablewright.testing import Clock
from tablewright.world import real_world

MINUTE = timedelta(minutes=1)


@contextmanager
def redis_server(home: Path, port: int) -> Iterator[str]:
    """A Redis of the test's own, that keeps nothing."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("there is no redis-server here (Debian: apt-get install redis-server)")
    words = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(home)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        try:
            _answers(port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.wait(20)


def _answers(port: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    pytest.fail("the redis-server did not start")


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free: int = probe.getsockname()[1]
        return free


@pytest.fixture
def url(tmp_path: Path, port: int) -> Iterator[str]:
    pytest.importorskip("redis", reason="the package redis is not installed")
    with redis_server(tmp_path, port) as at:
        yield at


@pytest.fixture
def shared(url: str) -> Iterator[RedisCache]:
    with closing_cache(url) as made:
        yield made


@contextmanager
def closing_cache(url: str) -> Iterator[RedisCache]:
    made = RedisCache(url, real_world())
    yield made
    made.close()


@pytest.fixture(params=["memory", "redis"])
def any_cache(request: pytest.FixtureRequest) -> Iterator[caching.Cache]:
    if request.param == "memory":
        yield MemoryCache[bytes](real_world())
        return
    with closing_cache(request.getfixturevalue("url")) as made:
        yield made


# --- what holds for both ---


def test_a_value_is_loaded_once_and_again_after_it_was_deleted(any_cache: caching.Cache) -> None:
    loads = iter((b"one", b"two"))
    for expected in (b"one", b"one"):
        assert through(any_cache, "key", MINUTE, lambda: next(loads)) == expected
    any_cache.delete("key")
    assert through(any_cache, "key", MINUTE, lambda: next(loads)) == b"two"


def test_what_was_read_before_a_delete_is_not_found_after_it(any_cache: caching.Cache) -> None:
    mark = any_cache.mark("key")
    any_cache.delete("key")
    any_cache.set("key", mark, b"out of date", MINUTE)
    assert any_cache.get("key", any_cache.mark("key")) is None


def test_one_key_is_not_another(any_cache: caching.Cache) -> None:
    any_cache.set("a", any_cache.mark("a"), b"1", MINUTE)
    any_cache.delete("b")
    assert any_cache.get("a", any_cache.mark("a")) == b"1"


def test_a_value_goes_when_its_time_is_over_in_redis(shared: RedisCache) -> None:
    shared.set("key", "0", b"value", timedelta(milliseconds=30))
    until = time.monotonic() + 5
    while shared.get("key", "0") is not None:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_value_goes_when_its_time_is_over_in_memory() -> None:
    clock = Clock()
    kept = MemoryCache[bytes](clock.world())
    kept.set("key", "0", b"value", MINUTE)
    clock.move(MINUTE - timedelta(milliseconds=1))
    assert kept.get("key", "0") == b"value"
    clock.move(timedelta(milliseconds=1))
    assert kept.get("key", "0") is None


# --- Redis ---


def test_pc_s12_a_change_is_seen_on_every_node_of_a_shared_cache_and_one_follower_is_enough(url: str) -> None:
    with closing_cache(url) as here, closing_cache(url) as there:
        propagates((here, there), ("",))


def test_a_mark_that_redis_dropped_does_not_bring_back_what_was_kept_before(
    shared: RedisCache, url: str
) -> None:
    redis = pytest.importorskip("redis").Redis.from_url(url)
    shared.set("key", shared.mark("key"), b"old", MINUTE)
    shared.delete("key")
    shared.set("key", shared.mark("key"), b"newer", MINUTE)
    redis.delete("tablewright:parental:key:mark")
    assert shared.get("key", shared.mark("key")) is None
    assert shared.mark("key") == shared.mark("key")
    redis.close()


def test_the_app_keeps_the_registry_in_the_redis_it_is_given(url: str, tmp_path: Path) -> None:
    redis = pytest.importorskip("redis").Redis.from_url(url)

    def kept() -> list[bytes]:
        return [redis.get(key) for key in redis.keys("tablewright:parental:apps@*")]

    with open_app(tmp_path, systems=(PARENTAL,), seed=False, durability="relaxed", cache=url) as runtime:
        registry = runtime.running[0].service.registry
        registry.load()
        assert registry.app("My Game") is None
        assert any(b"TikTok" in one for one in kept())
        elsewhere = Registry(runtime.running[0].service.repository, RedisCache(url, real_world()))
        elsewhere.save("My Game", new_app(), OPERATOR)
        assert registry.app("My Game") is not None
        elsewhere.close()
    redis.close()


def test_what_is_no_redis_is_said_in_a_sentence() -> None:
    pytest.importorskip("redis", reason="the package redis is not installed")
    with pytest.raises(caching.CacheElsewhere, match="redis://host:6379/0"):
        cache_at("http://127.0.0.1:1", real_world())


def test_a_cache_is_chosen_by_its_address(url: str) -> None:
    made = cache_at(url, real_world())
    assert isinstance(made, RedisCache)
    made.close()
    assert isinstance(cache_at(None, real_world()), MemoryCache)


def test_a_redis_that_is_away_slows_nobody_and_nothing_is_out_of_date(at: Place, port: int) -> None:
    pytest.importorskip("redis", reason="the package redis is not installed")
    away = RedisCache(f"redis://127.0.0.1:{port}/0", at.clock.world())
    registry, elsewhere = Registry(at.parental.repository, away), Registry(at.parental.repository)
    registry.load()
    assert registry.app("TikTok") is not None
    elsewhere.save("My Game", new_app(), OPERATOR)
    at.clock.move(timedelta(seconds=2))
    assert registry.app("My Game") is not None
    with pytest.raises(CacheUnavailable, match="a moment ago"):
        away.mark("apps")
    away.close()


def test_a_delete_that_redis_did_not_hear_is_made_up_for(at: Place, port: int, tmp_path: Path) -> None:
    pytest.importorskip("redis", reason="the package redis is not installed")
    place = at.parental.repository
    here, there = (RedisCache(f"redis://127.0.0.1:{port}/0", at.clock.world()) for _ in range(2))
    ours, theirs = Registry(place, here), Registry(place, there)
    with redis_server(tmp_path, port):
        ours.load()
        assert theirs.app("My Game") is None
        # For our node alone the Redis is away, while the change is made.
        here._rests_until = at.clock.now() + timedelta(seconds=1)
        ours.save("My Game", new_app(), OPERATOR)
        assert theirs.app("My Game") is None
        at.clock.move(timedelta(seconds=1))
        assert ours.app("My Game") is not None
        assert theirs.app("My Game") is not None
    here.close()
    there.close()


def test_who_asks_for_redis_without_its_package_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(caching.RedisMissing, match=r"pip install 'tablewright\[redis\]'"):
        cache_at("redis://127.0.0.1:1/0", real_world())
