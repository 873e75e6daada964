"""The process that is killed while a child chats: `python chat_child.py DIR COUNT`.

It opens the database in DIR and appends turns to one conversation from several threads; it kills itself after COUNT
writes, in the middle of others. Elsewhere: what must hold afterwards (test_chat_append.py).
"""

import os
import signal
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from tablewright import Engine
from tablewright.client import Call, embedded
from tablewright.mapping import Db
from tablewright.systems.chat import design as d
from tablewright.systems.chat.chat import Chat, open_chat
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Draft

SECRET = b"one secret for the keys of people"
THREADS, TURNS = 8, 50


def opened(home: Path, call: Call) -> Chat:
    db = Db(call, d.CHAT, secret=SECRET)
    db.create_tables()
    return open_chat(db, db.world, SECRET, home=home)


def counted(call: Call, at_most: int) -> Call:
    """The way to the database, which kills the process after so many transactions."""
    numbers, lock = count(1), Lock()

    def asked(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        answer = call(verb, request)
        if verb == "TransactWriteItems":
            with lock:
                if next(numbers) == at_most:
                    os.kill(os.getpid(), signal.SIGKILL)
        return answer

    return asked


def main(home: Path, at_most: int) -> None:
    with Engine.open(home / "chat.db") as engine:
        chat = opened(home, counted(embedded(engine), at_most))
        user = User(user_id="u_9", role="student", name="u_9", created_at=datetime.now(UTC))
        chat.repository.db.write(d.users.create(user))
        conversation = chat.conversations.create(user, "panda_01")

        def turn(number: int) -> None:
            drafts = [Draft(role="user", text=f"{number}"), Draft(role="assistant", text=f"re {number}")]
            chat.messages.append(conversation, drafts)

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(turn, range(TURNS)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
