"""What is written of a chunk: exact whatever is remembered, whoever else writes, in as few calls as can be."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.systems.parental.talk import PHONE, Place

from tablewright.systems.parental import design as d
from tablewright.systems.parental.blocked import counters
from tablewright.systems.parental.blocked.events import GROUPS_PER_CHUNK, Batch, Event
from tablewright.systems.parental.blocked.ingest import Ingest
from tablewright.systems.parental.model import Child, Metric

DAY = date(2030, 6, 14)


@pytest.fixture(params=["embedded"])
def way(request: pytest.FixtureRequest) -> str:
    return "http" if request.config.getoption("--endpoint") else str(request.param)


@pytest.fixture
def ingest(at: Place) -> Ingest:
    return Ingest(at.parental.repository)


def event(at: datetime, app: str = "TikTok", **more: Any) -> Event:
    return Event(at=at, app_name=app, phone_number=PHONE, **more)


def row(at: Place, child: Child, app: str = "TikTok") -> Metric:
    found = at.db.one(d.metric_of_day(child=child.child, date=DAY, app_name=app), consistent=True)
    assert found is not None
    return found


# --- what is remembered ---


def test_what_is_known_of_items_is_counted_with_one_call_for_94_of_them(at: Place, ingest: Ingest) -> None:
    child = at.child()
    now = at.clock.now()
    many = [event(now, f"app {n:03}") for n in range(2 * GROUPS_PER_CHUNK)]
    ingest.take(Batch("first", many))
    before = {name: spent.requests for name, spent in at.db.meter.spent().items()}
    ingest.take(Batch("second", many))
    after = {name: spent.requests for name, spent in at.db.meter.spent().items()}
    assert Counter(after) - Counter(before) == Counter({"metric.count": 2})
    assert row(at, child, "app 000").blocked_count == row(at, child, "app 187").blocked_count == 2


def test_what_others_counted_meanwhile_is_not_lost_to_what_was_remembered(at: Place, ingest: Ingest) -> None:
    child = at.child()
    now = at.clock.now()
    at.clock.move(timedelta(minutes=5))
    other = Ingest(at.parental.repository)
    for n, worker in enumerate((ingest, other, ingest, ingest, other, other, ingest)):
        worker.take(Batch(f"batch {n}", [event(now + timedelta(seconds=n), count=n + 1)]))
    found = row(at, child)
    assert found.blocked_count == sum(found.hourly.values()) == sum(range(1, 8))
    assert (found.timestamp_first, found.timestamp_last) == (now, now + timedelta(seconds=6))


def test_an_address_that_was_changed_meanwhile_stays_changed(at: Place, ingest: Ingest) -> None:
    child = at.child()
    now = at.clock.now()
    ingest.take(Batch("a", [event(now)]))
    move = d.metrics.update(child.child, DAY, "TikTok")
    at.db.write(move.at(lambda metric: metric.parent_email).set("new@example.com"))
    ingest.take(Batch("b", [event(now)]))
    found = row(at, child)
    assert (found.parent_email, found.blocked_count) == ("new@example.com", 2)
    assert list(at.db.all(d.metrics_of_parent(parent_email="new@example.com"))) == [found]


def test_what_others_counted_at_the_very_same_time_is_not_lost_either(at: Place, ingest: Ingest) -> None:
    child = at.child()
    now = at.clock.now()
    other = Ingest(at.parental.repository)
    for n, worker in enumerate((ingest, other, ingest, other)):
        worker.take(Batch(f"batch {n}", [event(now)]))
    assert row(at, child).hourly == {"10": 4}


def test_times_that_others_moved_without_counting_are_not_moved_back(at: Place, ingest: Ingest) -> None:
    child = at.child()
    now = at.clock.now()
    at.clock.move(timedelta(hours=1))
    earlier, later = now - timedelta(minutes=9), now + timedelta(minutes=9)
    ingest.take(Batch("a", [event(now)]))
    same = d.metrics.update(child.child, DAY, "TikTok")
    at.db.write(same.at(lambda metric: metric.timestamp_first).lowest(earlier))
    ingest.take(Batch("b", [event(now)]))
    at.db.write(same.at(lambda metric: metric.timestamp_last).highest(later))
    ingest.take(Batch("c", [event(now)]))
    found = row(at, child)
    assert (found.timestamp_first, found.timestamp_last, found.blocked_count) == (earlier, later, 3)


def test_counts_that_were_erased_do_not_come_back_from_memory(at: Place, ingest: Ingest) -> None:
    child = at.child()
    now = at.clock.now()
    ingest.take(Batch("a", [event(now, count=40)]))
    at.db.write(d.metrics.discard(child.child, DAY, "TikTok"))
    ingest.take(Batch("b", [event(now)]))
    assert row(at, child).blocked_count == 1


def test_a_batch_that_comes_again_is_not_counted_by_who_remembers_nothing_of_it(
    at: Place, ingest: Ingest
) -> None:
    child = at.child()
    one = Batch("a", [event(at.clock.now())])
    ingest.take(one)
    assert ingest.take(one).repeated == Ingest(at.parental.repository).take(one).repeated == 1
    assert row(at, child).blocked_count == 1


def test_only_so_much_is_remembered(at: Place, ingest: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    child = at.child()
    monkeypatch.setattr(counters, "_REMEMBERED", 10)
    now = at.clock.now()
    for name in "ab":
        ingest.take(Batch(name, [event(now, f"app {n:03}") for n in range(30)]))
    assert len(ingest._counting._memory._items) == 10
    assert {row(at, child, f"app {n:03}").blocked_count for n in range(30)} == {2}


# --- items that are not as we write them ---


@pytest.mark.parametrize("field", ["timestamp_first", "timestamp_last"])
def test_an_item_without_its_times_is_counted_on_and_gets_them(at: Place, ingest: Ingest, field: str) -> None:
    child = at.child()
    now = at.clock.now()
    ingest.take(Batch("a", [event(now)]))
    bare = row(at, child).model_copy(update={field: None})
    at.db.write(d.metrics.put(bare))
    Ingest(at.parental.repository).take(Batch("b", [event(now + timedelta(minutes=1))]))
    found = row(at, child)
    assert found.blocked_count == sum(found.hourly.values()) == 2
    assert found.timestamp_last == now + timedelta(minutes=1)
    assert found.timestamp_first == (now if field == "timestamp_last" else now + timedelta(minutes=1))


# --- whatever happens in whatever order ---

_APPS = ("TikTok", "YouTube", "Roblox")
_FRESH = count()
_deliveries = st.tuples(
    st.just("take"),
    st.integers(0, 1),  # by whom
    st.integers(0, 7),  # which batch
)
_others = st.tuples(st.just("erase"), st.integers(0, 2), st.just(0))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batches=st.lists(
        st.lists(
            st.tuples(st.integers(0, 2), st.integers(0, 3600), st.integers(1, 9)), min_size=1, max_size=6
        ),
        min_size=8,
        max_size=8,
    ),
    steps=st.lists(st.one_of(_deliveries, _deliveries, _deliveries, _others), min_size=1, max_size=30),
)
def test_counts_and_times_are_those_of_the_batches_that_came_since_an_item_was_erased(
    at: Place, batches: list[list[tuple[int, int, int]]], steps: list[tuple[str, int, int]]
) -> None:
    if not list(at.scan("ChildProfiles")):
        at.child()
        at.clock.move(timedelta(hours=2))
    key, run = PHONE, next(_FRESH)
    start = datetime(2030, 6, 14, 14, 30, tzinfo=UTC)
    names = [f"{app} {run}" for app in _APPS]
    made = [
        Batch(f"{run}/{n}", [event(start + timedelta(seconds=s), names[a], count=c) for a, s, c in one])
        for n, one in enumerate(batches)
    ]
    workers = [Ingest(at.parental.repository) for _ in range(2)]
    expected: dict[str, list[Event]] = {}
    taken: set[int] = set()
    for what, who, which in steps:
        if what == "erase":
            at.db.write(d.metrics.discard(key, DAY, names[who]))
            expected.pop(names[who], None)
            continue
        workers[who].take(made[which])
        for one in made[which].events if which not in taken else ():
            assert one.app_name is not None
            expected.setdefault(one.app_name, []).append(one)
        taken.add(which)
    for name in names:
        found = at.db.one(d.metric_of_day(child=key, date=DAY, app_name=name), consistent=True)
        events = expected.get(name)
        if events is None:
            assert found is None
            continue
        assert found is not None
        assert found.blocked_count == sum(found.hourly.values()) == sum(one.count for one in events)
        moments = [one.at for one in events]
        assert found.timestamp_first is not None
        assert found.timestamp_last is not None
        assert found.timestamp_first <= min(moments) <= max(moments) <= found.timestamp_last
        if not any(what == "erase" for what, *_ in steps):
            # Otherwise a batch that is repeated moves the times of what was begun anew, too.
            assert (found.timestamp_first, found.timestamp_last) == (min(moments), max(moments))


# --- what the size of a chunk rests on ---


def test_clocks_everywhere_differ_by_whole_quarters_of_an_hour() -> None:
    months = [datetime(year, month, 1, tzinfo=UTC) for year in range(2024, 2036) for month in (1, 7)]
    odd = {
        (zone, offset)
        for zone in available_timezones()
        for here in [ZoneInfo(zone)]
        for month in months
        if (offset := month.astimezone(here).utcoffset()) is not None and offset % timedelta(minutes=15)
    }
    assert odd == set()
