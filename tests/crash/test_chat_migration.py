"""ZC-S11 with a copier that is killed with -9, again and again: the next one goes on, and both versions agree."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests import fork_server
from tests.crash import chat_migration_child
from tests.systems.chat.legacy.zoo import ADMIN, v1_item

from tablewright import Engine
from tablewright.client import embedded, retrying
from tablewright.mapping import Db
from tablewright.mapping.migrate import backfill, is_up_to_date
from tablewright.mapping.migrate import change_follower as follower
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.design import CHAT
from tablewright.systems.chat.legacy.model import V1Message
from tablewright.systems.chat.rules import stamp
from tablewright.wire import serving

KILLS, CHATS = 3, 80
ROOT = Path(__file__).parents[2]


def child(url: str, home: Path, told: Path) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(ROOT), *sys.path])
    with told.open("ab") as out:
        return fork_server.start(
            [sys.executable, chat_migration_child.__file__, url, str(home)],
            stdout=out,
            env={**os.environ, "PYTHONPATH": path},
        )


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (backfill, follower):
        monkeypatch.setattr(module, "LEASE", chat_migration_child.LEASE)


def append(chat: Chat, number: int, text: str) -> None:
    now = datetime.now(UTC)
    message = V1Message(message_id=f"m-{text}", role="user", text=text, timestamp=stamp(now))
    chat.legacy.v1.append(f"conv_a_u_{number % 7}_{number}", f"u_{number % 7}", [message])


def texts(chat: Chat, number: int) -> list[str]:
    return [one.text for one in chat.legacy.v1.history(f"conv_a_u_{number % 7}_{number}", f"u_{number % 7}")]


def copied(chat: Chat, number: int) -> list[str]:
    alias = chat.legacy.router._alias(f"conv_a_u_{number % 7}_{number}")
    assert alias is not None
    header = chat.conversations.get(alias.conversation_id, alias.user_id)
    return [message.text for message in chat.messages.all(header)]


@pytest.mark.usefixtures("brief")
def test_zc_s11_a_killed_copier_goes_on_where_it_was_and_loses_no_message(tmp_path: Path) -> None:
    told, home = tmp_path / "told", tmp_path / "home"
    told.touch()
    with Engine.open(tmp_path / "store", durability="relaxed") as engine, serving(engine) as url:
        call = retrying(embedded(engine))
        db = Db(call, CHAT)
        db.create_tables()
        chat = chat_migration_child.opened(call, home)
        start, table = datetime.now(UTC) - timedelta(days=1), db.physical("conversation")
        for number in range(CHATS):
            item = v1_item(f"conv_a_u_{number % 7}_{number}", f"u_{number % 7}", 10, start=start, size=352)
            call("PutItem", {"TableName": table, "Item": item})
        operator = chat.legacy.operator
        operator.prepare(ADMIN)
        operator.start(ADMIN)
        for kill in range(KILLS):
            victim = child(url, home, told)
            try:
                lines, give_up, count = told.read_bytes().count(b"\n"), time.monotonic() + 60, 0
                while told.read_bytes().count(b"\n") < lines + random.randrange(1, 5):
                    assert victim.poll() is None, "a child ended by itself"
                    assert time.monotonic() < give_up, "the child does nothing"
                    append(chat, random.randrange(CHATS), f"{kill}-{count}")
                    count += 1
                    time.sleep(0.05)
            finally:
                victim.kill()
                victim.wait(60)
        assert not chat.legacy.context.state().copied, "everything was copied before the first kill"
        while not operator.advance("me").is_idle or not is_up_to_date(
            operator.context, operator.context.state()
        ):
            time.sleep(0.01)
        assert operator.verify(ADMIN).is_right
        assert [copied(chat, number) for number in range(CHATS)] == [
            texts(chat, number) for number in range(CHATS)
        ]
        assert engine.verify() == []
