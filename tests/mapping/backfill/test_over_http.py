"""A backfill against our own server: workers and writers in threads, one worker killed; the index is complete."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from tests.mapping.backfill.tasks import BACKFILL, NEW, OLD, OLD_TASKS, TASKS, Task, opened
from tests.places import KEY

from tablewright.client import HttpCall
from tablewright.mapping import Db
from tablewright.mapping.backfill import advance, backfill_context
from tablewright.wire import serving

HOW_MANY = 250


def test_workers_and_writers_at_once_leave_every_item_in_the_index_and_lose_no_write() -> None:
    with opened() as place, serving(place.engine) as url, HttpCall(url, "us-east-1", KEY) as call:
        old, new = Db(call, OLD), Db(call, NEW)
        rows = [OLD_TASKS.create(Task(id=f"{number:03}", state="OPEN")) for number in range(HOW_MANY)]
        for row in rows:
            old.write(row)
        first = backfill_context(call, BACKFILL)
        first.begin(segments=4)
        # A worker that is gone after its first page: of its lease the others are told by nobody.
        advance(first, "gone")

        def work(name: str) -> None:
            context = backfill_context(call, BACKFILL)
            while not (done := advance(context, name)).is_over:
                if not done.worked:
                    place.nap(0)

        started = threading.Event()

        def write(writer: int) -> None:
            started.wait()
            for number in range(writer, HOW_MANY, 8):
                new.write(TASKS.update(f"{number:03}").at(lambda task: task.count).add(1))
                task = new.one(TASKS.get(f"{number:03}"), consistent=True)
                assert task is not None
                new.write(TASKS.change(task, task.model_copy(update={"state": "DONE"})))

        with ThreadPoolExecutor(4) as pool:
            running = [pool.submit(work, "gone"), pool.submit(work, "two")]
            running += [pool.submit(write, writer) for writer in (0, 3)]
            started.set()
            for each in running:
                each.result()
        changed = {f"{number:03}" for number in range(HOW_MANY) if number % 8 in (0, 3)}
        found = {item["id"]["S"]: item for item in place.items().values()}
        assert {id for id, item in found.items() if item["count"] == {"N": "1"}} == changed
        wanted = {(f"STATE#{'DONE' if id in changed else 'OPEN'}", id) for id in found}
        assert (len(found), place.indexed()) == (HOW_MANY, wanted)
