"""What happens by itself: rounds that stop and go on, repairs, tombstones, mail that is sent once; and the demo."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.systems.travel.people import PHONE, TABLET, Home

from tablewright.systems.travel import design as d
from tablewright.systems.travel import jobs, seed
from tablewright.systems.travel.operations import Edit
from tablewright.systems.travel.walking import walk


def _people(home: Home, count: int) -> set[str]:
    return {home.by_apple(f"{n:03}.walker").profile.user_id for n in range(count)}


def test_a_round_sees_everybody_once_however_many_at_a_time(home: Home) -> None:
    people, seen = _people(home, 7), list[str]()
    counts = [walk(home.travel.repository, "test", seen.append, at_most=3) for _ in range(4)]
    assert counts == [3, 3, 1, 0]
    assert sorted(seen) == sorted(people)
    home.clock.move(timedelta(days=1))
    assert walk(home.travel.repository, "test", seen.append, at_most=100) == 7


def test_a_round_that_died_is_gone_on_with_where_it_was(home: Home) -> None:
    people, seen = _people(home, 5), list[str]()

    def dies(user_id: str) -> None:
        if len(seen) == 3:
            raise RuntimeError("the power went out")
        seen.append(user_id)

    assert walk(home.travel.repository, "test", dies, at_most=2) == 2
    with pytest.raises(RuntimeError):
        walk(home.travel.repository, "test", dies, at_most=2)
    seen.clear()
    while walk(home.travel.repository, "test", seen.append, at_most=2):
        pass
    assert len(people - set(seen)) == 2  # those of the first stretch, who were noted


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


def test_a_count_of_visitors_that_is_wrong_is_put_right_by_the_second_look(home: Home) -> None:
    jobs.follower(home.travel).create_tables()
    for n in range(6):
        user_id = home.by_apple(f"{n:03}.visitor").profile.user_id
        home.travel.sync.change_user(user_id, {"privacy_settings": {"share_visits": True}})
        home.travel.visits.mark(user_id, "country", "FR")
    home.clock.move(timedelta(days=3))  # nobody followed, and what happened is lost
    _all_regions(home)
    assert home.travel.regions.count("country", "FR") == 0  # changes may be on their way
    home.clock.move(jobs.REGIONS_EVERY)
    _all_regions(home)
    assert home.travel.regions.count("country", "FR") == 6
    home.travel.visits.unmark(user_id, "country", "FR")
    jobs.follower(home.travel).run_once()  # goes on, though it was away too long
    assert home.travel.regions.count("country", "FR") == 5
    for _ in range(2):
        home.clock.move(jobs.REGIONS_EVERY)
        _all_regions(home)
    assert home.travel.regions.count("country", "FR") == 5


def _all_regions(home: Home) -> None:
    while jobs.recount_regions(home.travel) == jobs.REGIONS_AT_ONCE:
        pass


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


def test_a_conflict_is_told_once_and_only_if_it_stays(home: Home) -> None:
    ada = home.by_mail("ada@example.com", PHONE).profile.user_id
    home.by_mail("ada@example.com", TABLET)
    jobs.deliver(home.travel, lambda letter: None)
    home.travel.visits.mark(ada, "country", "FR")
    for device, date in (("phone", "2020"), ("tablet", "2021")):
        edit = Edit(
            operation_id=f"op-{device}", operation_type="update", region_type="country", region_code="FR",
            client_version=1, entity_data={"visited_date": date}, client_timestamp=home.clock.now(),
        )  # fmt: skip
        home.travel.sync.push(ada, device, [edit])
    assert jobs.tell_conflicts(home.travel) == 0
    home.clock.move(timedelta(hours=1))
    assert jobs.tell_conflicts(home.travel) == 1
    assert jobs.tell_conflicts(home.travel) == 0
    assert [letter.recipient for letter in home.letters()] == ["ada@example.com"]


def test_weekly_figures_go_to_who_wants_them_and_idle_travellers_are_asked_once(home: Home) -> None:
    ada = home.by_mail("ada@example.com").profile.user_id
    home.by_mail("ben@example.com")
    jobs.deliver(home.travel, lambda letter: None)
    home.travel.sync.change_user(ada, {"notification_settings": {"weekly_stats": True}})
    assert jobs.weekly_statistics(home.travel) == 2
    assert jobs.weekly_statistics(home.travel) == 0
    assert [(it.recipient, it.subject) for it in home.letters()] == [
        ("ada@example.com", "Your map this week")
    ]
    jobs.deliver(home.travel, lambda letter: None)
    home.clock.move(timedelta(days=364))
    jobs.tell_inactive(home.travel)
    assert home.letters() == []
    home.clock.move(timedelta(days=2))
    jobs.tell_inactive(home.travel)
    assert {it.recipient for it in home.letters()} == {"ada@example.com", "ben@example.com"}
    home.clock.move(timedelta(days=2))
    jobs.tell_inactive(home.travel)
    assert len(home.letters()) == 2


# --- the demo ---


def test_the_demo_has_maps_devices_and_something_to_settle(home: Home) -> None:
    told: list[str] = []
    seed.seed(home.travel, lambda done, total, what: told.append(what))
    assert told[0] == "Maya Okonkwo"
    assert seed.is_there(home.travel)
    assert len(home.travel.visits.all(seed.MAYA)) > 50
    assert len(home.travel.accounts.devices(seed.MAYA)) == 3
    assert {operation.operation_id for operation in home.travel.sync.conflicts(seed.MAYA).items} == {
        "seed-conflict-jp-tablet", "seed-conflict-mx-tablet",
    }  # fmt: skip
    assert home.travel.repository.profile(seed.LENA).is_minor
    people = {person.subject for person in seed.people(home.travel)}
    assert {seed.MAYA, seed.JONAS, seed.LENA, seed.ADMIN} == people
    names = [visitor.display_name for visitor in home.travel.sharing.visitors("", "country", "FR").items]
    assert "Jonas Weber" in names
    assert "Lena Weber" not in names
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
