"""What happens by itself: rounds that stop and go on, repairs, tombstones, mail that is sent once; and the demo."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import timedelta

import pytest
from tests.systems.travel.people import PHONE, TABLET, Home

from tablewright.kit import counters
from tablewright.systems.travel import design as d
from tablewright.systems.travel import jobs, notices, seed
from tablewright.systems.travel.account.devices import Gadget
from tablewright.systems.travel.model import Device
from tablewright.systems.travel.notices import Notice
from tablewright.systems.travel.places import visitor_counts
from tablewright.systems.travel.rounds import travellers
from tablewright.systems.travel.sync.operations import Edit


def _people(home: Home, count: int) -> set[str]:
    return {home.by_apple(f"{n:03}.walker").profile.user_id for n in range(count)}


def _walk(home: Home, visit: Callable[[str], object], at_most: int) -> int:
    return d.rounds.run(home.db, "test", travellers(home.travel.repository, at_most), visit)


def test_a_round_sees_everybody_once_however_many_at_a_time(home: Home) -> None:
    people, seen = _people(home, 7), list[str]()
    assert [_walk(home, seen.append, 3) for _ in range(4)] == [3, 3, 1, 0]
    assert sorted(seen) == sorted(people)
    home.clock.move(timedelta(days=1))
    assert _walk(home, seen.append, 100) == 7


class PowerOut(BaseException):
    """The process dies."""


def test_a_round_that_died_is_gone_on_with_where_it_was(home: Home) -> None:
    people, seen = _people(home, 5), list[str]()

    def dies(user_id: str) -> None:
        if len(seen) == 3:
            raise PowerOut
        seen.append(user_id)

    assert _walk(home, dies, 2) == 2
    with pytest.raises(PowerOut):
        _walk(home, dies, 2)
    seen.clear()
    while _walk(home, seen.append, 2):
        pass
    assert len(people - set(seen)) == 2  # those of the first stretch, who were noted


def test_an_account_that_breaks_a_job_is_told_to_the_log_and_passed_over(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    people, seen = sorted(_people(home, 5)), list[str]()

    def breaks(user_id: str) -> None:
        if user_id == people[1]:
            raise KeyError("an item nobody can read")
        seen.append(user_id)

    assert _walk(home, breaks, 5) == 5
    assert seen == [people[0], *people[2:]]
    (told,) = [record for record in caplog.records if record.getMessage() == "passed over"]
    assert (told.__dict__["job"], told.__dict__["mistake"]) == ("test", "KeyError")


def test_a_map_that_cannot_be_read_keeps_nobody_elses_out_of_the_weekly_file(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = sorted(_people(home, 3))
    for user_id in people:
        home.travel.visits.mark(user_id, "country", "FR")
    lines = home.travel.exporting.lines

    def breaks(user_id: str) -> list[bytes]:
        if user_id == people[0]:
            raise KeyError("an item nobody can read")
        return lines(user_id)

    monkeypatch.setattr(home.travel.exporting, "lines", breaks)
    assert jobs.export_week(home.travel) == 3
    (name,) = home.objects.names("analytics/")
    assert len(gzip.decompress(home.objects.get(name) or b"").splitlines()) == 2


def test_a_traveller_who_is_gone_keeps_nobody_waiting(home: Home) -> None:
    people = _people(home, 3)
    gone = sorted(people)[1]
    home.db.clear(d.account_of(user_id=gone))
    assert jobs.rekey(home.travel) == 3
    assert jobs.recount(home.travel) == 3
    assert jobs.purge_tombstones(home.travel) == 3


def test_counters_that_are_wrong_are_put_right(home: Home) -> None:
    ada = home.by_apple().profile.user_id
    home.travel.visits.mark(ada, "country", "FR")
    head = home.travel.repository.head(ada)
    assert head is not None
    home.db.write(d.heads.put(head.model_copy(update={"countries_visited": 9})))
    assert jobs.recount(home.travel) == 1
    mended = home.travel.repository.head(ada)
    assert mended is not None
    assert mended.countries_visited == 1
    assert home.travel.repository.profile(ada).countries_visited == 1


def test_a_profile_that_counts_otherwise_than_the_head_is_put_right(home: Home) -> None:
    ada = home.by_apple().profile.user_id
    home.travel.visits.mark(ada, "country", "FR")
    profile = home.travel.repository.profile(ada)
    home.db.write(d.profiles.put(profile.model_copy(update={"us_states_visited": 7, "sync_version": 0})))
    assert jobs.recount(home.travel) == 1
    assert home.travel.repository.profile(ada) == profile
    assert home.travel.statistics.repair(ada) is None


def test_a_count_of_visitors_that_is_wrong_is_corrected_once_no_change_is_waiting(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counters, "PAUSE_SECONDS", 0)
    home.travel.follower().create_tables()
    for n in range(6):
        user_id = home.by_apple(f"{n:03}.visitor").profile.user_id
        home.travel.sync.change_user(user_id, {"privacy_settings": {"share_visits": True}})
        home.travel.visits.mark(user_id, "country", "FR")
    for _ in range(3):
        _all_regions(home)
        home.clock.move(visitor_counts.REGIONS_EVERY)
    assert home.travel.regions.count("country", "FR") == 0  # the follower would count them again
    home.clock.move(timedelta(days=3))  # nobody followed, and what happened is lost
    _all_regions(home, follow=True)
    assert home.travel.regions.count("country", "FR") == 6
    home.travel.visits.unmark(user_id, "country", "FR")
    for _ in range(2):
        home.clock.move(visitor_counts.REGIONS_EVERY)
        _all_regions(home, follow=True)
        assert home.travel.regions.count("country", "FR") == 5


def _all_regions(home: Home, *, follow: bool = False) -> None:
    """A round; the follower handles what there is before each run, such as the position of the last."""
    while True:
        if follow:
            home.travel.follower().run_once()
        if jobs.recount_regions(home.travel) < visitor_counts.REGIONS_AT_ONCE:
            return


def test_tombstones_go_when_every_device_has_seen_them(home: Home) -> None:
    ada = home.by_apple().profile.user_id
    home.travel.visits.mark(ada, "country", "FR")
    home.travel.visits.unmark(ada, "country", "FR")
    home.travel.feed.pull(ada, "phone", 2)
    home.clock.move(timedelta(days=31))
    assert jobs.purge_tombstones(home.travel) == 1
    assert [item for item in home.items() if item["item_type"]["S"] == "visit"] == []


def test_figures_of_today_are_there_before_anybody_asks(home: Home) -> None:
    ada = home.by_apple().profile.user_id
    home.travel.visits.mark(ada, "country", "FR")
    home.travel.statistics.of(ada)
    home.clock.move(timedelta(days=1))
    assert jobs.warm_statistics(home.travel) == 1
    kept = home.db.first(d.statistics_of(user_id=ada))
    assert kept is not None
    assert kept.calculation_date == home.clock.now().date()


def _dispute(home: Home, user_id: str, code: str) -> None:
    """Two devices say different things about a place."""
    home.travel.visits.mark(user_id, "country", code)
    for device, date in (("phone", "2020"), ("tablet", "2021")):
        edit = Edit(
            operation_id=f"op-{device}-{code}", operation_type="update", region_type="country", region_code=code,
            client_version=1, entity_data={"visited_date": date}, client_timestamp=home.clock.now(),
        )  # fmt: skip
        home.travel.sync.push(user_id, device, [edit])


def _two_devices(home: Home) -> str:
    ada = home.by_mail("ada@example.com", PHONE).profile.user_id
    home.by_mail("ada@example.com", TABLET)
    home.travel.dispatch.run(lambda letter: None)
    return ada


def test_a_conflict_is_told_once_and_only_if_it_stays(home: Home) -> None:
    _dispute(home, _two_devices(home), "FR")
    assert jobs.tell_conflicts(home.travel) == 0
    home.clock.move(timedelta(hours=1))
    assert jobs.tell_conflicts(home.travel) == 1
    home.clock.move(notices.CONFLICTS_EVERY)
    assert jobs.tell_conflicts(home.travel) == 0
    assert [letter.recipient for letter in home.letters()] == ["ada@example.com"]


class Heard:
    """A way to devices that remembers; one of them cannot be reached."""

    def __init__(self, broken: str = "") -> None:
        self.broken, self.told = broken, list[tuple[str, Notice]]()

    def push(self, device: Device, payload: Notice) -> None:
        if device.device_id == self.broken:
            raise ConnectionError
        self.told.append((device.device_id, payload))


def test_every_device_that_is_signed_in_is_told_of_a_conflict_once_and_not_what_it_is_about(
    home: Home,
) -> None:
    heard = Heard()
    travel = home.travel
    travel.notices.notifier = heard
    ada = _two_devices(home)
    home.by_mail("ada@example.com", Gadget("lost", "Ada's old phone"))
    _dispute(home, ada, "FR")
    travel.devices.revoke(ada, "lost", ada)
    home.clock.move(timedelta(hours=1))
    for _ in range(2):
        jobs.tell_conflicts(travel)
        home.clock.move(notices.CONFLICTS_EVERY)
    assert [device for device, _ in heard.told] == ["phone", "tablet"]
    assert {notice["kind"] for _, notice in heard.told} == {"conflict"}
    assert not [notice for _, notice in heard.told if "France" in repr(notice) or "2020" in repr(notice)]


def test_who_has_no_address_is_told_on_their_devices_though_one_cannot_be_reached(home: Home) -> None:
    heard = Heard(broken="phone")
    travel = home.travel
    travel.notices.notifier = heard
    ada = home.by_apple("001.ada", PHONE).profile.user_id
    home.by_apple("001.ada", TABLET)
    _dispute(home, ada, "FR")
    home.clock.move(timedelta(hours=1))
    assert jobs.tell_conflicts(travel) == 1
    assert ([device for device, _ in heard.told], home.letters()) == (["tablet"], [])


def test_without_a_way_to_devices_the_log_says_what_would_have_been_told_and_to_nobody_by_name(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="tablewright.travel")
    ada = _two_devices(home)
    _dispute(home, ada, "FR")
    home.clock.move(timedelta(hours=1))
    jobs.tell_conflicts(home.travel)
    said = [record for record in caplog.records if record.getMessage() == "a notice for a device"]
    assert [(vars(record)["kind"], vars(record)["platform"]) for record in said] == [("conflict", "ios")] * 2
    assert not [record for record in said if ada in repr(vars(record)) or "Ada" in repr(vars(record))]


def test_conflicts_that_nobody_settles_keep_no_later_one_from_being_told(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "CONFLICTS_AT_ONCE", 2)
    ada = _two_devices(home)
    for code in ("FR", "DE", "IT", "ES", "PT"):
        _dispute(home, ada, code)
        home.clock.move(timedelta(seconds=1))
    home.clock.move(timedelta(hours=1))
    assert [jobs.tell_conflicts(home.travel) for _ in range(4)] == [2, 2, 1, 0]
    _dispute(home, ada, "GR")
    home.clock.move(timedelta(hours=1))
    assert jobs.tell_conflicts(home.travel) == 0
    home.clock.move(
        timedelta(days=2)
    )  # the place where it stopped is no longer understood: from the beginning
    assert [jobs.tell_conflicts(home.travel) for _ in range(3)] == [0, 0, 1]


def test_weekly_figures_go_to_who_wants_them_and_idle_travellers_are_asked_once(home: Home) -> None:
    ada = home.by_mail("ada@example.com").profile.user_id
    home.by_mail("ben@example.com")
    home.travel.dispatch.run(lambda letter: None)
    home.travel.sync.change_user(ada, {"notification_settings": {"weekly_stats": True}})
    assert jobs.weekly_statistics(home.travel) == 2
    assert jobs.weekly_statistics(home.travel) == 0
    assert [(it.recipient, it.subject) for it in home.letters()] == [
        ("ada@example.com", "Your map this week")
    ]
    home.travel.dispatch.run(lambda letter: None)
    home.clock.move(timedelta(days=364))
    jobs.tell_inactive(home.travel)
    assert home.letters() == []
    home.clock.move(timedelta(days=2))
    jobs.tell_inactive(home.travel)
    assert {it.recipient for it in home.letters()} == {"ada@example.com", "ben@example.com"}
    home.travel.dispatch.run(lambda letter: None)
    for days in (2, 40, 100):
        home.clock.move(timedelta(days=days))
        jobs.tell_inactive(home.travel)
        assert home.letters() == []


def test_the_geography_is_published_by_itself_unless_the_table_has_a_later_one(home: Home) -> None:
    assert jobs.publish_geography(home.travel) > 1000
    assert jobs.publish_geography(home.travel) == 0
    release = home.travel.places.release()
    assert release is not None
    later = release.model_copy(update={"data_version": "999-abc"})
    home.db.write(d.geo_releases.put(later))
    assert jobs.publish_geography(home.travel) == 0
    assert home.travel.places.release() == later


# --- the demo ---


def test_the_demo_has_maps_devices_and_something_to_settle(home: Home) -> None:
    told: list[str] = []
    seed.seed(home.travel, lambda done, total, what: told.append(what))
    assert told[0] == "Maya Okonkwo"
    assert len(home.travel.visits.all(seed.MAYA)) > 50
    assert len(home.travel.devices.of(seed.MAYA)) == 3
    assert {operation.operation_id for operation in home.travel.sync.conflicts(seed.MAYA).items} == {
        "seed-conflict-jp-tablet", "seed-conflict-mx-tablet",
    }  # fmt: skip
    assert home.travel.repository.profile(seed.LENA).is_minor
    people = {person.subject for person in seed.people(home.travel)}
    assert {seed.MAYA, seed.JONAS, seed.LENA, seed.ADMIN} == people
    listed = {
        visitor.user_id for visitor in home.db.all(d.visitors_of(region_type="country", region_code="FR"))
    }
    assert seed.JONAS in listed
    assert seed.LENA not in listed
    failed = home.travel.sync.by_status("failed", "").items
    assert failed == ()


def test_the_demo_made_again_changes_nothing(home: Home) -> None:
    seed.seed(home.travel)
    before = sorted(map(repr, home.items()))
    seed.seed(home.travel)
    assert sorted(map(repr, home.items())) == before


def test_a_demo_that_was_cut_off_is_made_whole(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    push, calls = home.travel.sync.push, 0

    def dies(*args: object, **more: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise RuntimeError("the power went out")
        return push(*args, **more)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(home.travel.sync, "push", dies)
    with pytest.raises(RuntimeError):
        seed.seed(home.travel)
    seed.seed(home.travel)
    assert len(home.travel.visits.all(seed.MAYA)) > 50
    assert len(home.travel.sync.conflicts(seed.MAYA).items) == 2
