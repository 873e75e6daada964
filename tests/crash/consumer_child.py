"""The process that is killed: a worker of a consumer, or who writes what it consumes, over HTTP.

`python consumer_child.py URL write NAME` writes changes for ever and tells of each that was answered.
`python consumer_child.py URL consume NAME` handles them, each with an effect that must happen once.
"""

import os
import sys
import threading
import time
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from tablewright.client import Credentials, HttpCall
from tablewright.design import Design
from tablewright.mapping import Change, Consumer, Db

KEYS = 4


class Counter(BaseModel):
    id: str
    number: int = 0


class Seen(BaseModel):
    """What was handled of a counter, in order."""

    id: str
    numbers: list[int] = []


def by_id(id: str) -> None: ...


counting = Design("counting")
counters = counting.table("counters", pk="PK", stream="NEW_IMAGE").entity(
    Counter, by_id, tag="counter", pk="COUNTER#{id}"
)
seen = counting.table("seen", pk="PK").entity(Seen, by_id, tag="seen", pk="SEEN#{id}")
counting.build()


def tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def handler(db: Db) -> Any:
    def handle(change: Change[Any]) -> None:
        after = change.after
        assert isinstance(after, Counter)
        write = seen.upsert(Seen(id=after.id)).at(lambda s: s.numbers).append(after.number)
        db.write(write, once=f"seen/{change.event_id}")
        tell("handled", after.id, after.number)

    return handle


def consumer(db: Db) -> Consumer:
    """Short leases and small pages: there is much to be cut off from."""
    return Consumer(
        db, counting, "counters", "seen", handler(db), lease=timedelta(seconds=1), batch=5, poll=0.01
    )


def write(db: Db, name: str) -> None:
    number = 0
    while True:
        number += 1
        for key in range(KEYS):
            counter = Counter(id=f"{name}-{key}", number=number)
            db.write(counters.put(counter))
            tell("written", counter.id, number)
        time.sleep(0.05)  # no faster than they are handled: the test is about dying, not about haste


def main(url: str, what: str, name: str) -> None:
    with HttpCall(url, "us-east-1", Credentials("id", "secret")) as call:
        db = Db(call, counting)
        if what == "write":
            write(db, name)
        else:
            consumer(db).run(threading.Event())


if __name__ == "__main__":
    main(*sys.argv[1:])
