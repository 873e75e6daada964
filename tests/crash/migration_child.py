"""The process that is killed: it copies and follows a table, over HTTP, until it dies.

`python migration_child.py URL`
"""

import os
import sys
from datetime import timedelta

from tests.mapping.migrate.cards import CARDS

from tablewright.client import Credentials, HttpCall
from tablewright.mapping.migrate import advance, backfill, migration_context
from tablewright.mapping.migrate import change_follower as follower

# Who dies leaves what it leased to the others soon.
LEASE = timedelta(seconds=1)


def main(url: str) -> None:
    with HttpCall(url, "us-east-1", Credentials("id", "secret")) as call:
        backfill.LEASE = follower.LEASE = LEASE
        at = migration_context(call, CARDS)
        worker = f"child {os.getpid()}"
        while True:
            done = advance(at, worker, pages=1, page=5)
            os.write(1, f"{done.copied.items} {done.followed.read}\n".encode())


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    main(*sys.argv[1:])
