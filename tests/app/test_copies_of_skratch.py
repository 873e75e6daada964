"""SK-32: Skratch's copies elsewhere, from the schedule of a served house to a new house made from one of them."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.app.browsing import browsers
from tests.cli.command import here

from tablewright import testing
from tablewright.app.copies.job import EVERY
from tablewright.app.copies.store import place_of
from tablewright.app.people import THE_ENGINEER
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import TRAVEL
from tablewright.edge import serving_app
from tablewright.edge.errors import NotFound
from tablewright.kit.keyring_check import SecretIsMissing
from tablewright.systems.travel.account.privacy import SETTLES
from tablewright.systems.travel.seed import JONAS, MAYA
from tablewright.systems.travel.travel import Travel

A_DAY = timedelta(days=1)
# Later than any clock of the machine: what is restored in between by a real one is then in the past.
START = datetime(2040, 1, 1, tzinfo=UTC)


def _opened(path: Path, clock: testing.Clock, away: Path | None, **options: Any) -> Runtime:
    return open_app(
        path, systems=(TRAVEL,), world=clock.world(), durability="relaxed", ttl_seconds=3600, jobs=False,
        copies=None if away is None else str(away), **options,
    )  # fmt: skip


def _travel(runtime: Runtime) -> Travel:
    travel: Travel = runtime.running[0].service
    return travel


def _tick(runtime: Runtime, clock: testing.Clock) -> None:
    """A turn of the job, as the schedule lists it."""
    (job,) = [due.job for due in runtime.schedule.listed() if due.job.name == "copies"]
    job.run(None)
    runtime.engine.settle()
    clock.move(EVERY)


def _seen(runtime: Runtime, user_id: str) -> tuple[Any, Any]:
    travel = _travel(runtime)
    figures = travel.statistics.of(user_id).model_dump()
    return travel.visits.all(user_id), {name: figures[name] for name in figures if "visited" in name}


def _days(away: Path) -> list[str]:
    return [f"{copy.at:%m-%d}" for copy in place_of(str(away)).copies()]


def test_SK_32_a_store_that_is_lost_comes_back_from_elsewhere_and_who_was_erased_does_not(
    tmp_path: Path,
) -> None:
    clock, away, data, again = testing.Clock(START), tmp_path / "away", tmp_path / "data", tmp_path / "again"
    away.mkdir()
    with _opened(data, clock, away) as runtime:
        assert runtime.advice == ()
        assert runtime.schedule.listed()[-1].job.name == "copies", (
            "after what fills the tables at a first start"
        )
        for _ in range(3):
            _tick(runtime, clock)
            _tick(runtime, clock)
            clock.move(A_DAY)
        assert _days(away) == ["01-01", "01-02", "01-03"]
        clock.move(30 * A_DAY)
        _travel(runtime).visits.mark(MAYA, "country", "IS", {})
        _tick(runtime, clock)
        _tick(runtime, clock)
        assert _days(away) == ["02-03"], "those of a month ago are gone"
        wanted = _seen(runtime, MAYA)

        # After the day's copy: it still has Jonas, and the list beside it is newer.
        privacy = _travel(runtime).privacy
        privacy.ask(JONAS, JONAS, after=timedelta(0))
        privacy.erase_due()
        clock.move(SETTLES)
        privacy.erase_due()
        (proof,) = privacy.erased()
        _tick(runtime, clock)
        assert _days(away) == ["02-03"]

    kept_apart = tmp_path / "safe"
    shutil.copytree(data / "systems" / "travel" / "secrets", kept_apart)
    assert not [path for path in away.rglob("*") if "secret" in path.name and path.suffix == ".secret"]
    store = (data / "copies.id").read_text()
    shutil.rmtree(data)

    ran = here("db", "copies", "restore", away, "--data", again, "--yes")
    assert ran.code == 0, ran.out + ran.err
    assert "systems/travel/secrets" in ran.out
    for _ in range(2):  # and none is made meanwhile
        with pytest.raises(SecretIsMissing, match=r"000001\.secret is missing.*Put the files"):
            _opened(again, clock, away, seed=False)
    shutil.copytree(kept_apart, again / "systems" / "travel" / "secrets")

    with _opened(again, clock, away, seed=False) as runtime:
        assert _seen(runtime, MAYA) == wanted
        with pytest.raises(NotFound):
            _travel(runtime).repository.profile(JONAS)
        assert [each.erasure_id for each in _travel(runtime).privacy.erased()] == [proof.erasure_id]
        assert runtime.engine.verify() == []
        # Its copies go on where they were.
        clock.move(A_DAY)
        _tick(runtime, clock)
        _tick(runtime, clock)
        assert _days(away) == ["02-03", "02-04"]
        assert {copy.store for copy in place_of(str(away)).copies()} == {store.strip()}


def test_without_a_place_the_house_says_what_is_wanted_and_fails_nothing(tmp_path: Path) -> None:
    with _opened(tmp_path / "data", testing.Clock(START), None, seed=False) as runtime:
        (sentence,) = runtime.advice
        assert "Skratch wants a daily off-site copy" in sentence
        assert "--copies" in sentence
        assert "copies" not in [due.job.name for due in runtime.schedule.listed()]
        with serving_app(app_of(runtime)) as url, browsers(url) as enter:
            assert f"{sentence}." in enter(THE_ENGINEER.subject).get("/console/designs/store").text


def test_the_store_page_says_of_when_the_newest_copy_is_and_that_one_is_under_way(tmp_path: Path) -> None:
    clock, away = testing.Clock(START), tmp_path / "away"
    away.mkdir()
    with (
        _opened(tmp_path / "data", clock, away, seed=False) as runtime,
        serving_app(app_of(runtime)) as url,
        browsers(url) as enter,
    ):

        def page() -> str:
            """A login lasts half a day, and days pass here."""
            return " ".join(enter(THE_ENGINEER.subject).get("/console/designs/store").text.split())

        assert "There is no complete copy yet. </p>" in page()
        _tick(runtime, clock)
        assert "There is no complete copy yet. A copy that started" in page()
        _tick(runtime, clock)
        assert "The newest is from" in page()
        assert re.search(r": 1 table, \d+ items?, [\d.]+ K?B", page())
        assert "under way" not in page()
        clock.move(A_DAY)
        _tick(runtime, clock)
        assert re.search(r"The newest is from .* A copy that started .* is in progress", page())
        clock.move(A_DAY)
        assert "was never completed" in page()
        (away / "tablewright-copies").rename(tmp_path / "gone")
        assert "This location cannot be read: " in page()


def test_a_store_that_was_copied_and_finds_an_empty_place_says_that_a_mount_may_be_missing(
    tmp_path: Path,
) -> None:
    clock, away, data = testing.Clock(START), tmp_path / "away", tmp_path / "data"
    away.mkdir()
    for _ in range(2):
        with _opened(data, clock, away, seed=False) as runtime:
            assert runtime.advice == ()
    away.rename(tmp_path / "unmounted")
    away.mkdir()
    with _opened(data, clock, away, seed=False) as runtime:
        (sentence,) = runtime.advice
        assert "check that it is mounted" in sentence


def test_a_copy_that_fails_is_seen_on_the_store_page_and_tried_again(tmp_path: Path) -> None:
    clock, away = testing.Clock(START), tmp_path / "away"
    away.mkdir()
    with _opened(tmp_path / "data", clock, away, seed=False) as runtime:
        (away / "tablewright-copies").rmdir()
        assert "house.copies" in runtime.schedule.run_due()
        with serving_app(app_of(runtime)) as url, browsers(url) as enter:
            page = enter(THE_ENGINEER.subject).get("/console/designs/store").text
            assert "failed: BucketUnusable" in page
            assert f"Copies 1 table to {away} once a day; copies are kept for 30 days." in page
        (away / "tablewright-copies").mkdir()
        for _ in range(2):
            clock.move(EVERY)
            _tick(runtime, clock)
        assert _days(away) == ["01-01"]
