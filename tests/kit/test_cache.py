"""A cache, in this process and in a real Redis: never older than a change, and nothing left of what was deleted."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.redis_server import closing_cache, port, url

from tablewright.kit import cache as caching
from tablewright.kit.cache import MARKED, MemoryCache, RedisCache, cache_at, through
from tablewright.testing import Clock
from tablewright.world import real_world

__all__ = ["port", "url"]  # fixtures
MINUTE = timedelta(minutes=1)


@pytest.fixture
def shared(url: str) -> Iterator[RedisCache]:
    with closing_cache(url, "shop") as made:
        yield made


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


def test_what_was_deleted_or_is_over_is_gone_from_memory() -> None:
    clock = Clock()
    kept = MemoryCache[bytes](clock.world())
    for key in ("a", "b"):
        kept.set(key, "0", key.encode(), MINUTE)
    kept.delete("a")
    assert list(kept._kept) == ["b"]
    clock.move(MINUTE)
    kept.set("c", "0", b"c", MINUTE)
    assert list(kept._kept) == ["c"]


def test_a_cache_in_memory_keeps_the_newest_values() -> None:
    kept = MemoryCache[bytes](real_world(), most=2)
    for key in ("a", "b", "a", "c"):
        kept.set(key, "0", key.encode(), MINUTE)
    assert list(kept._kept) == ["a", "c"]


# --- Redis ---


def test_what_was_deleted_is_gone_from_redis_and_its_mark_goes_too(shared: RedisCache, url: str) -> None:
    redis = pytest.importorskip("redis").Redis.from_url(url)
    through(shared, "key", MINUTE, lambda: b"personal")
    assert len(redis.keys("tablewright:shop:key@*")) == 1
    shared.delete("key")
    assert redis.keys("*") == [b"tablewright:shop:key:mark"]
    assert 0 < redis.pttl("tablewright:shop:key:mark") <= MARKED.total_seconds() * 1000
    redis.close()


def test_a_mark_that_redis_dropped_does_not_bring_back_what_was_kept_before(
    shared: RedisCache, url: str
) -> None:
    redis = pytest.importorskip("redis").Redis.from_url(url)
    shared.set("key", shared.mark("key"), b"old", MINUTE)
    shared.delete("key")
    shared.set("key", shared.mark("key"), b"newer", MINUTE)
    redis.delete("tablewright:shop:key:mark")
    assert shared.get("key", shared.mark("key")) is None
    assert shared.mark("key") == shared.mark("key")
    redis.close()


def test_what_is_no_redis_is_said_in_a_sentence() -> None:
    pytest.importorskip("redis", reason="the package redis is not installed")
    with pytest.raises(caching.CacheElsewhere, match="redis://host:6379/0"):
        cache_at("http://127.0.0.1:1", real_world(), "shop")


def test_a_cache_is_chosen_by_its_address(url: str) -> None:
    made = cache_at(url, real_world(), "shop")
    assert isinstance(made, RedisCache)
    made.close()
    assert isinstance(cache_at(None, real_world(), "shop"), MemoryCache)


def test_who_asks_for_redis_without_its_package_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(caching.RedisMissing, match=r"pip install 'tablewright\[redis\]'"):
        cache_at("redis://127.0.0.1:1/0", real_world(), "shop")
