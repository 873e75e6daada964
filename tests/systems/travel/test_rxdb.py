"""A sync client nobody here wrote: RxDB, in a process for each device, replicates through our endpoints.

rxdb/device.mjs drives it. Needs node and, once, `npm ci` in rxdb/; skipped without.
"""

from __future__ import annotations

import json
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.systems.talk import given
from tests.systems.travel.people import Api, Home, bearer

from tablewright.systems.travel.model import Visit

RXDB = Path(__file__).parent / "rxdb"
PATIENCE = 120  # seconds: for a machine that does other things as well
Said = dict[str, Any]

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (RXDB / "node_modules" / "rxdb").is_dir(),
    reason="node, and npm ci in tests/systems/travel/rxdb: a client nobody here wrote",
)


@dataclass
class Device:
    """A process with RxDB in it; offline unless it is told to connect."""

    process: subprocess.Popen[str]

    def do(self, what: str, **more: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps({"do": what, **more}), file=self.process.stdin, flush=True)
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        assert ready, f"no answer to {what} in {PATIENCE} seconds"
        line = self.process.stdout.readline()
        assert line, "the device has died"
        said = json.loads(line)
        assert "ok" in said, said["error"]
        return said["ok"]

    def places(self) -> dict[str, Said]:
        """What the device shows, without when it was changed there: that is each device's own."""
        found: dict[str, Said] = self.do("places")
        return {
            id: {name: value for name, value in place.items() if name != "edited_at"}
            for id, place in found.items()
        }


@contextmanager
def running() -> Iterator[Device]:
    command = ["node", str(RXDB / "device.mjs")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Device(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@dataclass
class World:
    """One traveller, two devices, the server."""

    phone: Device
    tablet: Device
    login: Said
    home: Home
    api: Api

    @property
    def user_id(self) -> str:
        found: str = self.login["user"]["user_id"]
        return found

    def visits(self) -> dict[str, Visit]:
        return {f"{it.region_type}#{it.region_code}": it for it in self.home.travel.visits.all(self.user_id)}

    def conflicts(self) -> list[Said]:
        found: list[Said] = given(self.api.get("/sync/conflicts", headers=bearer(self.login)))["items"]
        return found

    def converge(self, **more: Any) -> dict[str, Said]:
        """Both sync, the first once more for what the second brought; what all three have now."""
        self.phone.do("sync", **more)
        self.tablet.do("sync", **more)
        self.phone.do("sync", **more)
        shown = self.phone.places()
        assert shown == self.tablet.places()
        there = self.visits()
        assert shown.keys() == there.keys()
        for id, visit in there.items():
            told = shown[id]
            assert told["version"] == visit.sync_version
            assert told["notes"] == visit.notes
            assert told["visited_date"] == visit.visited_date
            assert told["trips"] == {id: trip.model_dump() for id, trip in visit.trips.items()}
        return shown


@pytest.fixture(scope="module")
def devices() -> Iterator[dict[str, Device]]:
    """Two processes: starting one takes longer than most tests."""
    with running() as phone, running() as tablet:
        yield {"phone": phone, "tablet": tablet}


@pytest.fixture
def world(home: Home, api: Api, devices: dict[str, Device]) -> Iterator[World]:
    logins = {name: api.sign_in(home, device=name) for name in devices}
    for name, device in devices.items():
        device.do("open", name=name, url=f"{api.client.base_url}/travel", token=logins[name]["token"])
    yield World(devices["phone"], devices["tablet"], logins["phone"], home, api)
    for device in devices.values():
        device.do("close")


def test_what_two_devices_did_offline_comes_together(world: World) -> None:
    world.phone.do("mark", code="FR", notes="Paris")
    world.phone.do("mark", code="JP")
    world.tablet.do("mark", type="us_state", code="US-NY", visited_date="2024-05")
    world.tablet.do("mark", code="IS", trips={"first": {"start": "2023", "end": None, "notes": None}})
    assert world.visits() == {}
    shown = world.converge()
    assert shown.keys() == {"country#FR", "country#JP", "us_state#US-NY", "country#IS"}
    assert shown["country#FR"]["region_name"] == "France"
    assert shown["country#FR"]["marked_from_device"] == "phone"
    assert world.conflicts() == []


def test_both_mark_the_same_place_and_it_is_there_once(world: World) -> None:
    world.phone.do("mark", code="FR", notes="Paris")
    world.tablet.do("mark", code="FR", visited_date="2019")
    shown = world.converge()
    assert (shown["country#FR"]["notes"], shown["country#FR"]["visited_date"]) == ("Paris", "2019")
    stats = given(world.api.get("/stats", headers=bearer(world.login)))
    assert stats["countries_visited"] == 1
    assert world.conflicts() == []


def test_different_fields_of_one_place_are_merged(world: World) -> None:
    world.phone.do("mark", code="FR")
    world.converge()
    world.phone.do("change", code="FR", notes="Paris")
    world.tablet.do("change", code="FR", visited_date="2024-05-01")
    shown = world.converge()
    assert (shown["country#FR"]["notes"], shown["country#FR"]["visited_date"]) == ("Paris", "2024-05-01")
    assert shown["country#FR"]["version"] == 3
    assert world.conflicts() == []


def test_the_same_field_on_both_is_a_conflict_with_both_sides(world: World) -> None:
    world.phone.do("mark", code="FR", visited_date="2001", notes="first")
    world.converge()
    world.phone.do("change", code="FR", visited_date="2002", notes="Paris")
    world.tablet.do("change", code="FR", visited_date="2003", notes="Lyon")
    shown = world.converge()
    assert shown["country#FR"]["visited_date"] == "2002"
    assert "Paris" in shown["country#FR"]["notes"]
    assert "Lyon" in shown["country#FR"]["notes"]
    (conflict,) = world.conflicts()
    assert conflict["device_id"] == "tablet"
    sides = {one["field"]: (one["server"], one["client"]) for one in conflict["conflict_details"]["fields"]}
    assert sides == {"visited_date": ("2002", "2003"), "notes": ("Paris", "Lyon")}


def test_a_conflict_that_is_settled_reaches_both(world: World) -> None:
    world.phone.do("mark", code="FR", visited_date="2001")
    world.converge()
    world.phone.do("change", code="FR", visited_date="2002")
    world.tablet.do("change", code="FR", visited_date="2003")
    world.converge()
    (conflict,) = world.conflicts()
    path = f"/sync/conflicts/{conflict['operation_id']}:resolve"
    given(world.api.post(path, {"choice": "client_wins"}, headers=bearer(world.login)))
    assert world.converge()["country#FR"]["visited_date"] == "2003"
    assert world.conflicts() == []


def test_unmarking_what_the_other_edited_leaves_it_and_tells(world: World) -> None:
    world.phone.do("mark", code="FR")
    world.converge()
    world.phone.do("change", code="FR", notes="Paris")
    world.tablet.do("unmark", code="FR")
    assert world.converge()["country#FR"]["notes"] == "Paris"
    (conflict,) = world.conflicts()
    assert (conflict["operation_type"], conflict["resolution_strategy"]) == ("delete", "server_wins")


def test_editing_what_the_other_unmarked_stays_unmarked_and_tells(world: World) -> None:
    world.phone.do("mark", code="FR")
    world.converge()
    world.phone.do("unmark", code="FR")
    world.tablet.do("change", code="FR", notes="Paris")
    assert world.converge() == {}
    (conflict,) = world.conflicts()
    assert conflict["operation_type"] == "update"
    assert conflict["conflict_details"]["fields"][0]["client"] == {"notes": "Paris"}


def test_unmarked_and_marked_again_it_begins_empty(world: World) -> None:
    world.phone.do("mark", code="FR", notes="Paris")
    world.converge()
    world.tablet.do("unmark", code="FR")
    assert world.converge() == {}
    world.phone.do("mark", code="FR", visited_date="2020")
    shown = world.converge()
    assert (shown["country#FR"]["notes"], shown["country#FR"]["visited_date"]) == (None, "2020")
    assert world.conflicts() == []


def test_marked_and_unmarked_offline_nothing_is_left(world: World) -> None:
    world.phone.do("mark", code="FR")
    world.phone.do("unmark", code="FR")
    assert world.converge() == {}
    assert world.conflicts() == []


def test_an_answer_that_is_lost_is_asked_for_again_and_the_edit_is_done_once(world: World) -> None:
    world.phone.do("mark", code="FR", notes="Paris")
    world.phone.do("mark", code="JP")
    world.phone.do("sync", answers_lost=3)
    told = world.phone.do("told")
    assert told["errors"].count("the answer was lost") == 3
    assert {(one["status"], one["replayed"]) for one in told["results"]} == {("applied", True)}
    done = given(world.api.get("/sync/operations", headers=bearer(world.login)))["items"]
    assert len(done) == 2
    versions = sorted(it["version"] for it in world.converge().values())
    assert versions == [1, 2], "a place begins above the feed, and has not changed since"
    assert world.conflicts() == []


def test_edits_while_an_answer_is_on_its_way_are_no_conflict_with_oneself(world: World) -> None:
    world.phone.do("mark", code="FR")
    world.phone.do("connect")
    typed = [{"notes": "P"}, {"notes": "Par"}, {"notes": "Paris", "visited_date": "2020"}]
    world.phone.do("change_in_flight", code="FR", changes=typed)
    world.phone.do("disconnect")
    shown = world.converge()
    assert (shown["country#FR"]["notes"], shown["country#FR"]["visited_date"]) == ("Paris", "2020")
    assert world.conflicts() == []


def test_unmarking_while_the_answer_to_an_edit_is_on_its_way_unmarks(world: World) -> None:
    world.phone.do("mark", code="FR")
    world.phone.do("connect")
    world.phone.do("change_in_flight", code="FR", changes=[{"notes": "P"}], remove=True)
    world.phone.do("disconnect")
    assert world.converge() == {}
    assert world.conflicts() == []


def test_what_is_refused_is_taken_back_on_the_device_with_the_reason(world: World) -> None:
    world.phone.do("mark", code="FR", notes="Paris")
    world.converge()
    world.phone.do("change", code="FR", notes="x" * 501)
    world.phone.do("mark", code="XX")
    world.phone.do("mark", code="JP", visited_date="2190")
    shown = world.converge()
    assert shown.keys() == {"country#FR"}
    assert shown["country#FR"]["notes"] == "Paris"
    results = world.phone.do("told")["results"]
    assert {"NOTES_TOO_LONG", "UNKNOWN_REGION", "FUTURE_DATE"} == {one["error"] for one in results} - {None}


def test_a_place_that_was_renamed_comes_back_under_its_present_code(world: World) -> None:
    world.phone.do("mark", code="BU", notes="Bagan")
    shown = world.converge()
    assert shown.keys() == {"country#MM"}
    assert shown["country#MM"]["notes"] == "Bagan"


def test_many_places_go_through_pages_of_any_size(world: World) -> None:
    codes = [region.region_code for region in world.home.travel.geography.of("country")][:60]
    for code in codes:
        world.phone.do("mark", code=code)
    world.phone.do("sync", batch=25)
    for code in codes[:30]:
        world.phone.do("change", code=code, notes=f"{code} again")
    world.phone.do("sync", batch=25)
    # In the feed half of the places are twice: a page of so many changes has fewer places than that.
    world.tablet.do("sync", batch=7)
    assert world.converge(batch=7).keys() == {f"country#{code}" for code in codes}
    assert world.conflicts() == []


def test_a_device_that_was_away_for_longer_than_the_feed_reaches_hears_of_deletions(world: World) -> None:
    for code in ("FR", "JP", "IS"):
        world.phone.do("mark", code=code)
    world.converge()
    given(world.api.delete("/visits/country/FR", headers=bearer(world.login)), 200)
    world.home.clock.move(timedelta(days=40))
    assert world.home.travel.feed.purge(world.user_id) == 0
    for device, name in ((world.phone, "phone"), (world.tablet, "tablet")):
        device.do("login", token=world.api.sign_in(world.home, device=name)["token"])
    world.login = world.api.sign_in(world.home, device="phone")
    assert world.converge().keys() == {"country#JP", "country#IS"}
