"""Damage to the store's file is told: on the Store page, at /ready, and items that are not damaged are served."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import httpx
import pytest
from tests.app.browsing import browsers
from tests.app.library import LIBRARY

from tablewright.app.people import THE_ENGINEER
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.edge import serving_app
from tablewright.engine.storage.sqlite import FILE

STORE = "/console/designs/store"


def opened(home: Path) -> Runtime:
    return open_app(home, systems=(LIBRARY,), seed=True, jobs=False, durability="relaxed")


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[Runtime]:
    """A house whose table of books has a damaged row."""
    with opened(tmp_path) as runtime:
        number = runtime.engine.tables["shelves"].number
        # Or a job that is left to do reads the row before a test does.
        runtime.engine.settle()
    connection = apsw.Connection(str(tmp_path / FILE))
    connection.execute(f"UPDATE t{number} SET sum = sum + 1 WHERE id = 1")
    connection.close()
    with opened(tmp_path) as runtime:
        yield runtime


def page_of(url: str) -> str:
    with browsers(url) as enter:
        return " ".join(enter(THE_ENGINEER.subject).get(STORE).text.split())


def test_the_store_page_says_when_the_last_scrub_ran_and_that_it_found_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as runtime, serving_app(app_of(runtime)) as url:
        assert "not checked yet" in page_of(url)
        runtime.engine.scrub.step()
        runtime.engine.scrub.step()
        assert "A scrub is running: 0 %" in page_of(url)
        runtime.engine.scrub.run()
        page = page_of(url)
        assert "no damage found" in page
        assert "The last scrub ended" in page
        assert httpx.get(f"{url}/ready").json()["checks"] == {"store": "ok", "integrity": "ok"}


def test_the_store_page_and_ready_say_that_damage_was_found(damaged: Runtime) -> None:
    damaged.engine.scrub.run()
    with serving_app(app_of(damaged)) as url:
        page = page_of(url)
        assert "damage found" in page
        assert "damaged in: table shelves." in page
        assert "no damage found" not in page
        ready = httpx.get(f"{url}/ready")
        assert (ready.status_code, ready.json()["checks"]["integrity"]) == (200, "damage found")


def test_a_read_that_meets_damage_is_enough_to_say_so(damaged: Runtime) -> None:
    with serving_app(app_of(damaged)) as url:
        assert httpx.get(f"{url}/ready").json()["checks"]["integrity"] == "ok"
        with pytest.raises(Exception, match="InternalServerError"):
            damaged.call("Scan", {"TableName": "shelves"})
        assert httpx.get(f"{url}/ready").json()["checks"]["integrity"] == "damage found"


def test_a_store_in_memory_has_no_file_to_check() -> None:
    with (
        open_app(memory=True, systems=(LIBRARY,), jobs=False) as runtime,
        serving_app(app_of(runtime)) as url,
    ):
        assert "there is no file to check" in page_of(url)
