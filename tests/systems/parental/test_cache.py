"""The registry in a cache that nodes share: against a real Redis, where there is one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.redis_server import closing_cache, port, redis_server, url
from tests.systems.parental.policy.test_registry import new_app, propagates
from tests.systems.parental.talk import OPERATOR, Place

from tablewright.app.runtime import open_app
from tablewright.app.systems import PARENTAL
from tablewright.kit.cache import CacheUnavailable, RedisCache
from tablewright.systems.parental.policy.registry import Registry
from tablewright.world import real_world

__all__ = ["port", "url"]  # fixtures


def test_pc_s12_a_change_is_seen_on_every_node_of_a_shared_cache_and_one_follower_is_enough(url: str) -> None:
    with closing_cache(url) as here, closing_cache(url) as there:
        propagates((here, there), ("",))


def test_the_app_keeps_the_registry_in_the_redis_it_is_given(url: str, tmp_path: Path) -> None:
    redis = pytest.importorskip("redis").Redis.from_url(url)

    def kept() -> list[bytes]:
        return [redis.get(key) for key in redis.keys("tablewright:parental:apps@*")]

    with open_app(tmp_path, systems=(PARENTAL,), seed=False, durability="relaxed", cache=url) as runtime:
        registry = runtime.running[0].service.registry
        registry.load()
        assert registry.app("My Game") is None
        assert any(b"TikTok" in one for one in kept())
        elsewhere = Registry(runtime.running[0].service.repository, RedisCache(url, real_world(), "parental"))
        elsewhere.save("My Game", new_app(), OPERATOR)
        assert registry.app("My Game") is not None
        elsewhere.close()
    redis.close()


def test_a_redis_that_is_away_slows_nobody_and_nothing_is_out_of_date(at: Place, port: int) -> None:
    pytest.importorskip("redis", reason="the package redis is not installed")
    away = RedisCache(f"redis://127.0.0.1:{port}/0", at.clock.world(), "parental")
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
    here, there = (RedisCache(f"redis://127.0.0.1:{port}/0", at.clock.world(), "parental") for _ in range(2))
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
