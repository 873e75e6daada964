"""The newest messages through a cache: as the table has them, and nothing of an erased child (ZC-E5, ZC-34, ZC-D40)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from tests.redis_server import port, redis_server, url
from tests.systems.chat.place import SECRET, Place

from tablewright.kit.cache import MemoryCache, RedisCache
from tablewright.systems.chat.chat import Chat, open_chat
from tablewright.systems.chat.errors import Erased
from tablewright.systems.chat.model import Conversation, Draft, Message, MessageState
from tablewright.systems.chat.talk.recent_messages import LIFETIME

__all__ = ["port", "url"]  # fixtures
SAID = "bamboozle"


def with_cache(at: Place, cache: MemoryCache[bytes] | RedisCache) -> Chat:
    """The same chat in another process, with a cache of its own."""
    return open_chat(at.db, at.world, SECRET, home=at.home, objects=at.chat.objects, cache=cache)


@pytest.fixture
def cache(at: Place) -> MemoryCache[bytes]:
    return MemoryCache[bytes](at.world)


@pytest.fixture
def here(at: Place, cache: MemoryCache[bytes]) -> Chat:
    return with_cache(at, cache)


@pytest.fixture
def redis(at: Place, url: str) -> Iterator[RedisCache]:
    made = RedisCache(url, at.world, "chat")
    yield made
    made.close()


def told(messages: list[Message]) -> list[tuple[str, str, str]]:
    return [(one.message_id, one.text, one.state) for one in messages]


def agrees(here: Chat, talk: Conversation, count: int = 100) -> None:
    header = here.conversations.get(talk.conversation_id, talk.user_id)
    assert told(here.messages.newest_of_window(header, count)) == told(here.messages.newest(header, count))


def test_zc_e5_a_turn_reads_only_what_is_new(at: Place, here: Chat) -> None:
    talk = at.talk(at.child())
    at.say(talk, *(f"turn {number} {'x' * 400}" for number in range(40)))
    agrees(here, talk)
    at.say(talk, "one more")
    header, before = at.again(talk), read_units(at)
    here.messages.newest(header, 100)
    whole = read_units(at) - before
    here.messages.newest_of_window(header, 100)
    assert read_units(at) - before - whole < whole / 5


def read_units(at: Place) -> float:
    return float(sum(spent.read for spent in at.db.meter.spent().values()))


def test_zc_d40_what_the_cache_gives_is_what_the_table_has_whatever_was_changed_elsewhere(
    at: Place, here: Chat
) -> None:
    chance, elsewhere = Random(7), at.chat
    talk = at.talk(at.child())
    at.say(talk, "first", "second")

    def append() -> None:
        states: list[MessageState] = ["complete", "complete", "pending"]
        state = chance.choice(states)
        drafts = [
            Draft(role="user", text=str(chance.random())),
            Draft(role="assistant", text="so", state=state),
        ]
        elsewhere.messages.append(at.again(talk), drafts)

    def settle() -> None:
        for one in elsewhere.messages.all(at.again(talk)):
            if one.state == "pending" and chance.random() < 0.5:
                elsewhere.messages.settle(at.again(talk), one, "the reply")

    def take_back() -> None:
        if at.again(talk).message_count > 4:
            elsewhere.messages.take_back(at.again(talk))

    def delete() -> None:
        chosen = elsewhere.messages.append(at.again(talk), [Draft(role="user", text="run", run_id="r")])
        agrees(here, talk)
        assert elsewhere.messages.delete_run(at.again(talk), "r") == len(chosen)

    for _ in range(120):
        chance.choice((append, append, append, settle, take_back, delete, lambda: at.later(hours=9)))()
        agrees(here, talk)
        agrees(here, talk, 5)


def test_a_reply_that_is_replaced_is_never_read_from_the_cache(at: Place, here: Chat) -> None:
    here.animals.install()
    child = at.child()
    talk = at.talk(child, "red_panda")
    for number in range(3):
        list(here.turns.stream(child, at.again(talk), f"Hello {number}", f"c{number}"))
        agrees(here, talk)
    list(here.turns.regenerate(child, at.again(talk), "c9"))
    agrees(here, talk)


def test_the_cache_has_no_open_text_and_nothing_after_an_erasure(
    at: Place, here: Chat, cache: MemoryCache[bytes]
) -> None:
    child = at.child()
    talk = at.talk(child)
    at.say(talk, SAID, SAID, SAID)
    agrees(here, talk)
    (kept,) = cache._kept.values()
    assert talk.user_id.encode() in kept[1]
    assert SAID.encode() not in kept[1]
    here.erasure.erase(child, child)
    assert not cache._kept


def test_zc_s10_what_another_process_still_has_cannot_be_opened_and_ends(
    at: Place, here: Chat, cache: MemoryCache[bytes]
) -> None:
    child, other = at.child(), at.child("u_2")
    talk = at.talk(child)
    at.say(talk, SAID, SAID, SAID)
    header = at.again(talk)
    here.messages.newest_of_window(header, 100)
    at.chat.erasure.erase(child, child)
    at.later(minutes=1)
    with pytest.raises(Erased):
        here.messages.newest_of_window(header, 100)
    at.clock.move(LIFETIME)
    beside = at.talk(other)
    at.say(beside, "a", "b")
    agrees(here, beside)
    assert list(cache._kept) == [beside.conversation_id]


def test_zc_s10_an_erasure_removes_what_nodes_share_in_redis(at: Place, redis: RedisCache, url: str) -> None:
    there = pytest.importorskip("redis").Redis.from_url(url)
    child = at.child()
    talk = at.talk(child)
    at.say(talk, SAID, SAID, SAID)
    one, two = with_cache(at, redis), with_cache(at, redis)
    agrees(one, talk)
    (name,) = there.keys("tablewright:chat:*@*")
    assert SAID.encode() not in there.get(name)
    assert 0 < there.pttl(name) <= LIFETIME / timedelta(milliseconds=1)
    agrees(two, talk)
    two.erasure.erase(child, child)
    assert not there.keys("tablewright:chat:*@*")
    there.close()


def test_without_its_redis_the_table_is_read(at: Place, port: int, tmp_path: Path) -> None:
    pytest.importorskip("redis", reason="the package redis is not installed")
    cache = RedisCache(f"redis://127.0.0.1:{port}/0", at.world, "chat")
    here, talk = with_cache(at, cache), at.talk(at.child())
    at.say(talk, "one", "two")
    agrees(here, talk)
    at.later(seconds=3)
    with redis_server(tmp_path, port):
        agrees(here, talk)
        at.say(talk, "three")
        agrees(here, talk)
    at.say(talk, "four")
    agrees(here, talk)
    cache.close()
