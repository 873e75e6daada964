"""Backfills on the Store page: how far the last run of each is."""

from __future__ import annotations

from tests.app.browsing import browsers
from tests.app.test_console_frame import text_of
from tests.mapping.backfill.tasks import BACKFILL, NEW, OLD, OLD_TASKS, Task

from tablewright.app.runtime import open_app
from tablewright.app.serve import app_of
from tablewright.edge import serving_app
from tablewright.kit.system import System
from tablewright.mapping import Db
from tablewright.mapping.backfill import advance, backfill_context

TASKS = System("tasks", "Tasks", "Some tasks.", (NEW,), lambda given: given.db)


def test_the_store_page_tells_how_far_a_backfill_is() -> None:
    with open_app(memory=True, systems=(TASKS,), jobs=False) as runtime:
        for number in range(3):
            Db(runtime.call, OLD).write(OLD_TASKS.create(Task(id=str(number), state="OPEN")))
        with serving_app(app_of(runtime)) as url, browsers(url) as enter:
            rosa = enter("engineer_rosa")
            assert "Backfills" not in text_of(rosa.get("/console/designs/store"))
            context = backfill_context(runtime.call, BACKFILL)
            context.begin(rate=1000, segments=1)
            assert "tasks.tasks tasks not finished 0 0 0" in text_of(rosa.get("/console/designs/store"))
            assert advance(context, "me").is_over
            assert "tasks.tasks tasks ended 3 3 0" in text_of(rosa.get("/console/designs/store"))
