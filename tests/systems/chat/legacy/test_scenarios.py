"""ZC-S11: eighty conversations of the first version are migrated while programs write to them, and back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.places import reached
from tests.systems.chat.legacy.traffic import chatting
from tests.systems.chat.legacy.zoo import ADMIN, Zoo, v1_item
from tests.systems.chat.place import SECRET, Place

from tablewright.edge import Issuer
from tablewright.edge.errors import Conflict
from tablewright.mapping import Db
from tablewright.mapping.migrate import is_up_to_date
from tablewright.systems.chat.chat import open_chat
from tablewright.systems.chat.design import CHAT
from tablewright.systems.chat.legacy.legacy import open_legacy
from tablewright.testing import Clock
from tablewright.values import item_size
from tablewright.world import real_world

CONVERSATIONS, BYTES = 80, 404_000


@pytest.fixture
def zoo(request: pytest.FixtureRequest, way: str, tmp_path: Path, issuer: Issuer) -> Iterator[Zoo]:
    """A zoo in real time, with a short pause at the cut-over."""
    world = real_world()
    with reached(way, request.config.getoption("--endpoint"), world, CHAT) as there:
        db = Db(there.call, CHAT, world=world, secret=SECRET, environment=there.environment)
        chat = open_chat(db, world, SECRET, home=tmp_path)
        parts = chat.repository, chat.periods, chat.conversations, chat.messages, chat.objects, 4000
        legacy = open_legacy(*parts, chat.guardrails, chat.review, term=timedelta(seconds=0.2))
        place = Place(
            replace(chat, legacy=legacy), db, there.call, Clock(), issuer, there.engine, world, tmp_path
        )
        yield Zoo(place, legacy)


def filled(zoo: Zoo) -> list[str]:
    """Eighty conversations of ten children, 404 KB."""
    now, ids = zoo.at.world.now(), []
    for number in range(10):
        zoo.at.child(f"u_{number}", family_id=f"family_{number}", created_at=now)
    for number in range(CONVERSATIONS):
        user, start = f"u_{number % 10}", now - timedelta(days=1, minutes=number)
        ids.append(f"conv_panda_01_{user}_{number:08x}")
        zoo.put(v1_item(ids[-1], user, 10, start=start, size=352))
    total = sum(map(item_size, zoo.items()))
    assert 0.9 * BYTES < total < 1.1 * BYTES, total
    return ids


def follow(zoo: Zoo) -> None:
    operator, context = zoo.legacy.operator, zoo.legacy.context
    while not operator.advance("me").is_idle or not is_up_to_date(context, context.state()):
        time.sleep(0.01)


def verified(zoo: Zoo) -> None:
    """Compare until the copy is right; programs write all the while."""
    give_up = time.monotonic() + 300
    while not zoo.legacy.operator.verify(ADMIN, repair=True).is_right:
        assert time.monotonic() < give_up


def cut_over(zoo: Zoo) -> None:
    """Follow as the server does until the copy is close enough to be switched to; it is refused before that."""
    give_up = time.monotonic() + 60
    while True:
        try:
            zoo.legacy.operator.cut_over(ADMIN)
            return
        except Conflict as refused:
            if "late" not in str(refused) or time.monotonic() > give_up:
                raise
        zoo.legacy.operator.advance("me")


def test_zc_s11_nothing_is_lost_while_programs_write_over_the_cut_over_and_a_rollback(zoo: Zoo) -> None:
    """ZC-47, ZC-52, ZC-D21, ZC-D23."""
    ids, operator = filled(zoo), zoo.legacy.operator
    with chatting(zoo.legacy.compat, ids) as traffic:
        traffic.more()
        operator.prepare(ADMIN)
        operator.start(ADMIN)
        begun = traffic.total
        while not zoo.legacy.context.state().copied:
            operator.advance("me")
        verified(zoo)
        assert traffic.total > begun, "nothing was written while it was copied"
        traffic.more()
        cut_over(zoo)
        traffic.more()
    follow(zoo)
    traffic.refuse_lost()
    # Message by message both versions are the same, and the first has followed.
    assert zoo.hashes_in_v1() == zoo.hashes_in_v2()
    assert len(zoo.hashes_in_v2()) == CONVERSATIONS
    for header in [one for number in range(10) for one in zoo.at.chat.conversations.all_of(f"u_{number}")]:
        assert header.family_id == f"family_{header.user_id[2:]}"
        messages = list(zoo.at.chat.messages.all(header))
        assert header.message_count == len(messages)
        assert header.created == header.start_time <= messages[0].timestamp
        for message in messages:
            # A ttl is in whole seconds.
            kept = message.expires_at - message.timestamp
            assert timedelta(days=30, seconds=-1) < kept <= timedelta(days=30)
    # Once more changes nothing.
    before = sorted(map(str, zoo.items("conversation-v2")))
    assert operator.verify(ADMIN, repair=True).repaired == 0
    assert sorted(map(str, zoo.items("conversation-v2"))) == before
    with chatting(zoo.legacy.compat, ids, "later") as later:
        later.more()
        operator.roll_back(ADMIN)
        later.more()
    traffic.refuse_lost()
    later.refuse_lost()
    assert zoo.legacy.router.place(ids[0]).version == "v1"
    assert zoo.hashes_in_v2() == {}
    written = CONVERSATIONS * 10 + 2 * (traffic.total + later.total)
    unknown = 2 * (len(traffic.refused) + len(later.refused))
    assert written <= sum(len(one.messages) for one in zoo.v1().values()) <= written + unknown
