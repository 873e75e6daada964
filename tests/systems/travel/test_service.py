"""What the app does for Skratch by itself: what is cleaned before anybody is served, what is on the schedule."""

from datetime import timedelta
from pathlib import Path

import pytest

from tablewright import testing
from tablewright.app.systems import TRAVEL
from tablewright.client import embedded
from tablewright.edge.errors import NotFound
from tablewright.kit.jobs import Job
from tablewright.kit.system import Start
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.accounts import Proved
from tablewright.systems.travel.account.privacy import SETTLES, UNDO
from tablewright.systems.travel.travel import Travel


def test_a_table_that_was_restored_is_cleaned_before_anybody_is_served(
    clock: testing.Clock, tmp_path: Path
) -> None:
    with testing.engine(world=clock.world()) as engine:
        db = Db(embedded(engine), *TRAVEL.designs, world=clock.world(), secret=b"x" * 32)
        db.create_tables()
        given = Start(db, clock.world(), b"x" * 32, lambda *who: "a token", "http://here.example", tmp_path)
        travel: Travel = TRAVEL.start(given)
        profile = travel.accounts.sign_up(Proved("apple", "001.ada"))
        enrolment = next(iter(db.all(d.travellers_after())))
        travel.privacy.ask(profile.user_id, profile.user_id)
        for wait in (UNDO, SETTLES):
            clock.move(wait)
            travel.privacy.erase_due()
        (proof,) = travel.privacy.erased()

        # As it was before, but for the list, which is no item.
        db.write(d.profiles.put(profile), d.enrolments.put(enrolment), d.erasures.discard(proof.erasure_id))
        again: Travel = TRAVEL.start(given)
        with pytest.raises(NotFound):
            again.repository.profile(profile.user_id)
        assert list(again.privacy.erased()) == [proof]


def test_every_job_of_skratch_runs(clock: testing.Clock, tmp_path: Path) -> None:
    with testing.engine(world=clock.world()) as engine:
        db = Db(embedded(engine), *TRAVEL.designs, world=clock.world(), secret=b"x" * 32)
        db.create_tables()
        given = Start(db, clock.world(), b"x" * 32, lambda *who: "a token", "http://here.example", tmp_path)
        travel = TRAVEL.start(given)
        found = [
            job for job in TRAVEL.jobs(travel) if isinstance(job, Job) and job.every <= timedelta(hours=1)
        ]
        for job in found:
            job.run(travel)
        assert {job.name for job in found} == {
            "addresses", "analytics", "conflicts", "erasures", "figures", "geography", "inactive", "recount",
            "restored", "tombstones", "visitors", "weekly",
        }  # fmt: skip
        assert db.one(d.geo_releases.get("current")) is not None
