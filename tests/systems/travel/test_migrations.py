"""Skratch's table is given a new form while travellers use it, and goes back, with everything that was answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from tests.systems.travel.talk import ANNA, BEN, PHONE, SECRET, START, Gadget, Place, Spot, sign_up

from tablewright import testing
from tablewright.client import embedded
from tablewright.mapping import Db
from tablewright.mapping.migrate import (
    MigrationContext,
    advance,
    begin,
    is_up_to_date,
    migration_context,
    record_report,
    rollback,
    routed,
    switch,
    verify,
)
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.privacy import SETTLES
from tablewright.systems.travel.design import TRAVEL
from tablewright.systems.travel.migrations import VISITS_2, visits_to_1, visits_to_2
from tablewright.systems.travel.travel import open_travel
from tablewright.testing import Clock

SHARING: dict[str, Any] = {"privacy_settings": {"share_visits": True}}


@contextmanager
def skratch() -> Iterator[tuple[Place, MigrationContext]]:
    """Skratch over its table, whichever side is open, with two travellers; and its migration."""
    clock = Clock(START)
    with testing.engine(world=clock.world()) as engine:
        call = embedded(engine)
        ways: dict[str, Any] = {
            "world": clock.world(),
            "steady": lambda: clock.now().timestamp(),
            "sleep": lambda seconds: clock.move(timedelta(seconds=seconds)),
        }
        led = routed(call, VISITS_2, **ways)
        db = Db(led, TRAVEL, world=clock.world(), secret=SECRET)
        db.create_tables()
        for who in (ANNA, BEN):
            sign_up(db, clock, who, **SHARING)
        place = Place(open_travel(db, clock.world()), db, led, clock, engine)
        place.travel.follower().create_tables()
        yield place, migration_context(call, VISITS_2, **ways)


def visited(at: Place, gadget: Gadget, number: int) -> None:
    """Something happens: marks, notes, one place given up."""
    places: list[Spot] = [("country", "FR"), ("country", "DE"), ("us_state", "US-CA"), ("country", "JP")]
    gadget.mark(places[number % 4])
    gadget.push()
    gadget.change(places[number % 4], notes=f"note {number}", visited_date="2024-05-01")
    gadget.push()
    if number % 3 == 2:
        gadget.unmark(places[number % 4])
        gadget.push()


def figures(at: Place) -> dict[str, Any]:
    """Everything that travellers are shown, but for when it was."""
    at.travel.follower().run_once()
    found: dict[str, Any] = {}
    for who in (ANNA, BEN):
        said = at.travel.statistics.of(who)
        found[who] = (
            said.countries_visited,
            said.us_states_visited,
            said.total_regions_visited,
            said.server_version,
        )
        found[f"visits of {who}"] = [
            (visit.region_code, visit.notes, visit.visited_date, visit.sync_version, visit.is_deleted)
            for visit in at.db.all(d.visits_of(user_id=who))
        ]
    found["visitors"] = {code: at.travel.regions.count("country", code) for code in ("FR", "DE", "JP")}
    return found


def as_form_1(at: Place) -> None:
    """Germany as the first form had it."""
    here = {"PK": {"S": f"USER#{ANNA}"}, "SK": {"S": "VISIT#country#DE"}}
    item = at.call("GetItem", {"TableName": d.table.table.name, "Key": here})["Item"]
    old = {name: value for name, value in item.items() if name not in ("stamps", "schema_version")}
    old["entity_data"] = {"M": {name: old[name] for name in ("notes", "visited_date")}}
    at.call("PutItem", {"TableName": d.table.table.name, "Item": old})


def worked(at: MigrationContext) -> None:
    while not advance(at, "worker").is_idle or not is_up_to_date(at, at.state()):
        pass


def story(at: Place, migration: MigrationContext | None) -> dict[str, Any]:
    """The same life, with a migration around it or without one."""
    gadgets = [at.gadget(PHONE), at.gadget(PHONE, BEN)]
    steps = iter(range(100))

    def live() -> None:
        for gadget in gadgets:
            for _ in range(3):
                visited(at, gadget, next(steps))
        at.travel.follower().run_once()

    live()
    as_form_1(at)
    if migration is not None:
        migration.plan()
        begin(migration)
        advance(migration, "worker", pages=1, page=3)
    live()
    if migration is not None:
        worked(migration)
        assert record_report(migration, verify(migration, migration.state())).phase == "verified"
    live()
    if migration is not None:
        assert switch(migration).phase == "switched"
    live()
    between = figures(at)
    if migration is not None:
        worked(migration)
        assert verify(migration, migration.state()).is_right
        assert rollback(migration).phase == "rolled_back"
        assert figures(at) == between
    live()
    return figures(at)


def test_sk_33_travellers_notice_nothing_of_a_migration_its_switch_and_its_rollback() -> None:
    with skratch() as (plain, _):
        wanted = story(plain, None)
    with skratch() as (at, migration):
        assert story(at, migration) == wanted
        assert sum(wanted["visitors"].values()) > 0


def test_sk_d30_the_old_form_is_kept_for_thirty_days_and_each_side_says_the_same() -> None:
    with skratch() as (at, migration):
        gadget = at.gadget(PHONE)
        for number in range(4):
            visited(at, gadget, number)
        as_form_1(at)
        migration.plan()
        begin(migration)
        worked(migration)
        there = {
            item["SK"]["S"]: item for item in migration.call("Scan", {"TableName": "skratch-data-2"})["Items"]
        }
        germany = there["VISIT#country#DE"]
        assert germany["schema_version"] == {"N": "2"}
        assert "entity_data" not in germany
        assert germany["notes"] == {"S": "note 1"}
        record_report(migration, verify(migration, migration.state()))
        state = switch(migration)
        assert state.switched_at is not None
        assert state.kept_until == state.switched_at + timedelta(days=30)
        gadget.change(("country", "FR"), notes="after the switch")
        gadget.push()
        worked(migration)
        kept = {
            item["SK"]["S"]: item for item in migration.call("Scan", {"TableName": "skratch-data"})["Items"]
        }
        france = kept["VISIT#country#FR"]
        assert france["schema_version"] == {"N": "1"}
        assert france["entity_data"]["M"]["notes"] == {"S": "after the switch"}
        assert "stamps" not in france


@pytest.mark.parametrize("is_switched", [False, True])
def test_sk_d25_who_is_erased_is_in_neither_table_once_that_was_followed(is_switched: bool) -> None:
    with skratch() as (at, migration):
        for number in range(3):
            visited(at, at.gadget(PHONE), number)
        migration.plan()
        begin(migration)
        worked(migration)
        if is_switched:
            record_report(migration, verify(migration, migration.state()))
            switch(migration)
        assert all(_told_of(migration, table, ANNA) for table in ("skratch-data", "skratch-data-2"))
        at.travel.privacy.ask(ANNA, ANNA, after=timedelta(0))
        at.travel.privacy.erase_due()
        at.clock.move(SETTLES)
        assert at.travel.privacy.erase_due() == 1
        worked(migration)
        assert not any(_told_of(migration, table, ANNA) for table in ("skratch-data", "skratch-data-2"))


def _told_of(migration: MigrationContext, table: str, who: str) -> list[Any]:
    """Items that name a traveller; who signed up for these tests has a login that their profile does not list."""
    found = migration.call("Scan", {"TableName": table, "ConsistentRead": True})["Items"]
    return [item for item in found if who in str(item) and item["SK"] != {"S": "IDENTITY"}]


def test_a_visit_goes_to_form_1_and_back_with_everything_but_its_stamps() -> None:
    with skratch() as (at, _):
        gadget = at.gadget(PHONE)
        visited(at, gadget, 0)
        (item,) = [item for item in at.items() if item["SK"]["S"] == "VISIT#country#FR"]
        (old,) = visits_to_1(item)
        (again,) = visits_to_2(old)
        later = ("stamps",)
        assert {k: v for k, v in again.items() if k not in later} == {
            k: v for k, v in item.items() if k not in later
        }
        assert visits_to_2(item) == (item,)
        assert visits_to_1(old) == (old,)
