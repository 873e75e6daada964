"""The process that is killed: it copies and follows Zoo chat's first version, over HTTP, until it dies.

`python chat_migration_child.py URL HOME`
"""

import os
import sys
from datetime import timedelta
from pathlib import Path

from tablewright.client import Call, Credentials, HttpCall
from tablewright.mapping import Db
from tablewright.mapping.migrate import advance, backfill
from tablewright.mapping.migrate import change_follower as follower
from tablewright.systems.chat.chat import Chat, open_chat
from tablewright.systems.chat.design import CHAT

SECRET = b"one secret for both processes"
# Who dies leaves what it leased to the others soon.
LEASE = timedelta(seconds=1)


def opened(call: Call, home: Path) -> Chat:
    db = Db(call, CHAT, secret=SECRET)
    return open_chat(db, db.world, SECRET, home=home)


def main(url: str, home: str) -> None:
    with HttpCall(url, "us-east-1", Credentials("id", "secret")) as call:
        backfill.LEASE = follower.LEASE = LEASE
        at = opened(call, Path(home)).legacy.context
        worker = f"child {os.getpid()}"
        while True:
            done = advance(at, worker, pages=1, page=3)
            os.write(1, f"{done.copied.items} {done.followed.read}\n".encode())


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    main(*sys.argv[1:])
