"""Counting what was blocked: each event once, on the child's clock, however often and in whatever order it comes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.client.ways import WAYS
from tests.systems.parental.talk import ANNA, OTHER_PHONE, PHONE, ZOE, Place, refuses
from tests.systems.talk import at_once

from tablewright.client import CallRefused
from tablewright.systems.parental import design as d
from tablewright.systems.parental.blocked import events as of
from tablewright.systems.parental.blocked.events import Batch, Event, event_of
from tablewright.systems.parental.blocked.ingest import Counted, Ingest
from tablewright.systems.parental.firewall.driver import BlockedFlow
from tablewright.systems.parental.model import (
    EVERYTHING,
    Child,
    Device,
    FormerRule,
    Metric,
    RuleMapping,
    Session,
)
from tablewright.systems.parental.policy.registry import Registry

ADDRESS = "10.20.30.40"
RULE = "PARENTAL_BLOCK_0123456789ab_TikTok"


@pytest.fixture(params=["embedded"])
def way(request: pytest.FixtureRequest) -> str:
    return "http" if request.config.getoption("--endpoint") else str(request.param)


every_way = pytest.mark.parametrize("way", sorted(WAYS), indirect=True)


@pytest.fixture
def ingest(at: Place) -> Ingest:
    return Ingest(at.parental.repository)


def event(at: datetime, app: str = "TikTok", phone: str = PHONE, **more: Any) -> Event:
    return Event(at=at, app_name=app, phone_number=phone, **more)


def batch(name: str, *events: Event) -> Batch:
    return Batch(name, events)


def row(at: Place, child: Child, day: date, app: str = "TikTok") -> Metric:
    found = at.db.one(d.metric_of_day(child=child.child, date=day, app_name=app), consistent=True)
    assert found is not None
    return found


def rows(at: Place) -> list[Metric]:
    return [Metric.model_validate(_plain(item)) for item in at.scan("BlockedRequestMetrics")]


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    """What an item says, as the model reads it: keys of indexes and the like left out."""
    names = {field.alias or name for name, field in Metric.model_fields.items()}

    def value(given: dict[str, Any]) -> Any:
        ((kind, inner),) = given.items()
        return {key: value(one) for key, one in inner.items()} if kind == "M" else inner

    return {name: value(one) for name, one in item.items() if name in names}


# --- PC-S3 ---


@every_way
def test_pc_s3_counters_are_exact_when_20_workers_deliver_every_batch_twice(at: Place) -> None:
    child = at.child()
    at.clock.move(timedelta(days=1))
    day = at.clock.now().date()
    begins = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)  # 08:00 in New York in summer
    at.clock.move(begins + timedelta(hours=8) - at.clock.now())
    moments = [begins + timedelta(seconds=25 * n) for n in range(1000)]  # until 14:56:15
    batches = [
        batch(f"sensor-1/{n}", *(event(one) for one in moments[n * 20 : n * 20 + 20])) for n in range(50)
    ]
    workers = [Ingest(at.parental.repository) for _ in range(20)]
    # Each batch by two workers, in the same moment or long after each other.
    deliveries = [one for pair in zip(batches, batches[::-1], strict=True) for one in pair]
    done = at_once(
        (lambda n=n, one=one: workers[n % 20].take(one) for n, one in enumerate(deliveries)),  # type: ignore[misc]  # bound
        threads=20,
    )
    assert [one for one in done if not isinstance(one, Counted)] == []
    counted = [one for one in done if isinstance(one, Counted)]
    assert sum(one.counted for one in counted) == sum(one.repeated for one in counted) == 1000
    (only,) = at.scan("BlockedRequestMetrics")
    assert only["dateApp"]["S"] == f"{day}#TikTok"
    found = row(at, child, day)
    assert found.blocked_count == sum(found.hourly.values()) == 1000
    assert sorted(found.hourly) == ["08", "09", "10", "11", "12", "13", "14"]
    assert (found.timestamp_first, found.timestamp_last) == (moments[0], moments[-1])
    (indexed,) = at.db.all(d.metrics_of_parent(parent_email=child.parent_email, since=day, until=day))
    assert indexed == found


# --- days and hours of the child's clock ---


@pytest.mark.parametrize(
    ("zone", "moment", "day", "hour"),
    [
        ("America/New_York", "2030-06-15T03:59:59Z", "2030-06-14", "23"),
        ("America/New_York", "2030-06-15T04:00:00Z", "2030-06-15", "00"),
        ("Asia/Kathmandu", "2030-06-15T18:14:59Z", "2030-06-15", "23"),
        ("Asia/Kathmandu", "2030-06-15T18:15:00Z", "2030-06-16", "00"),
        ("Pacific/Kiritimati", "2030-06-15T10:00:00Z", "2030-06-16", "00"),
        ("Africa/Johannesburg", "2030-06-15T22:30:00Z", "2030-06-16", "00"),
    ],
)
def test_pc_d8_an_event_counts_on_the_day_and_in_the_hour_of_the_childs_clock(
    at: Place, ingest: Ingest, zone: str, moment: str, day: str, hour: str
) -> None:
    child = at.child(zone=zone)
    at.clock.move(timedelta(days=3))
    ingest.take(batch("one", event(datetime.fromisoformat(moment))))
    found = row(at, child, date.fromisoformat(day))
    assert (found.hourly, found.tz) == ({hour: 1}, zone)


def test_the_hour_that_comes_twice_in_autumn_counts_both_times(at: Place, ingest: Ingest) -> None:
    child = at.child()
    twice = [datetime(2030, 11, 3, 5, 30, tzinfo=UTC), datetime(2030, 11, 3, 6, 30, tzinfo=UTC)]
    at.clock.move(datetime(2030, 11, 4, tzinfo=UTC) - at.clock.now())
    ingest.take(batch("one", *(event(one) for one in twice)))
    assert row(at, child, date(2030, 11, 3)).hourly == {"01": 2}


# --- what an item holds (PC-26, PC-D2, PC-D11, PC-D13) ---


def test_pc_d2_the_first_event_of_a_day_makes_the_whole_item(at: Place, ingest: Ingest) -> None:
    child = at.child()
    now = at.clock.now()
    ingest.take(batch("one", event(now)))
    (item,) = at.scan("BlockedRequestMetrics")
    assert item["childPhoneNumber"]["S"] == PHONE
    assert item["dateApp"]["S"] == "2030-06-14#TikTok"
    assert item["date"]["S"] == "2030-06-14"
    assert item["appName"]["S"] == "TikTok"
    assert item["parentEmail"]["S"] == child.parent_email
    assert item["blockedCount"]["N"] == "1"
    assert item["hourly"]["M"] == {"10": {"N": "1"}}
    assert item["timestampFirst"] == item["timestampLast"]
    kept = datetime.fromtimestamp(int(item["ttl"]["N"]), UTC) - now
    assert timedelta(days=400) <= kept < timedelta(days=402)


def test_pc_d13_events_that_come_late_move_no_time_the_wrong_way(at: Place, ingest: Ingest) -> None:
    child = at.child()
    begin = at.clock.now()
    at.clock.move(timedelta(hours=6))
    for name, minutes in (("b", 60), ("a", 0), ("d", 180), ("c", 120)):
        ingest.take(batch(name, event(begin + timedelta(minutes=minutes))))
    found = row(at, child, date(2030, 6, 14))
    assert (found.timestamp_first, found.timestamp_last) == (begin, begin + timedelta(minutes=180))
    assert found.blocked_count == 4


def test_a_crash_between_counting_and_the_times_is_mended_by_the_next_delivery(
    at: Place, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = at.child()
    begin = at.clock.now()
    at.clock.move(timedelta(hours=2))
    ingest.take(batch("first", event(begin + timedelta(minutes=30))))
    around = batch("around", event(begin), event(begin + timedelta(hours=1)))
    counting, others = ingest._counting, Ingest(at.parental.repository)
    real, seen = counting._found, []

    def found_too_early(rows: Any) -> Any:
        """What is found, and then another worker counts something later than we have."""
        found = real(rows)
        seen.append(found)
        others.take(batch(f"meanwhile/{len(seen)}", event(begin + timedelta(hours=2))))
        return found

    with monkeypatch.context() as dying:
        dying.setattr(counting, "_known", found_too_early)
        dying.setattr(counting, "_found", found_too_early)
        dying.setattr(counting, "follow_times", _die)
        with pytest.raises(SystemExit):
            ingest.take(around)
    counted = row(at, child, date(2030, 6, 14))
    assert (counted.blocked_count, counted.timestamp_first) == (5, begin + timedelta(minutes=30))
    assert ingest.take(around).repeated == 2
    mended = row(at, child, date(2030, 6, 14))
    assert (mended.timestamp_first, mended.timestamp_last) == (begin, begin + timedelta(hours=2))
    assert mended.blocked_count == sum(mended.hourly.values()) == 5


def _die(*given: object) -> None:
    raise SystemExit


def test_an_event_may_stand_for_many(at: Place, ingest: Ingest) -> None:
    child = at.child()
    assert ingest.take(batch("one", event(at.clock.now(), count=40), event(at.clock.now()))).counted == 41
    assert row(at, child, date(2030, 6, 14)).blocked_count == 41


# --- batches ---


def test_pc_d12_a_batch_with_more_apps_than_a_transaction_takes_is_counted_whole(
    at: Place, ingest: Ingest
) -> None:
    at.child()
    now = at.clock.now()
    many = batch("many", *(event(now, f"app {n:03}") for n in range(250)))
    first, second = ingest.take(many), ingest.take(many)
    assert (first.counted, first.repeated, second.counted, second.repeated) == (250, 0, 0, 250)
    assert [one.blocked_count for one in rows(at)] == [1] * 250
    assert len(at.scan("IngestReceipts")) == len(of.chunks(many)) == 3


def test_a_batch_that_failed_halfway_is_finished_by_its_next_delivery(
    at: Place, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    at.child()
    now = at.clock.now()
    many = batch("many", *(event(now, f"app {n:03}") for n in range(100)))
    real, chunks = Ingest._chunk, []

    def failing(self: Ingest, chunk: of.Chunk, *rest: Any) -> Counted:
        chunks.append(chunk)
        if len(chunks) == 2:
            raise CallRefused("InternalServerError", "the line went dead")
        return real(self, chunk, *rest)

    with monkeypatch.context() as broken:
        broken.setattr(Ingest, "_chunk", failing)
        with pytest.raises(CallRefused):
            ingest.take(many)
    done = ingest.take(many)
    assert (done.counted, done.repeated) == (6, 94)
    assert sum(one.blocked_count for one in rows(at)) == 100


def test_a_childs_move_to_another_zone_does_not_make_a_repeated_batch_count_again(
    at: Place, ingest: Ingest
) -> None:
    child = at.child(zone="America/New_York")
    at.clock.move(timedelta(days=1))
    moments = (at.clock.now(), at.clock.now() - timedelta(hours=6))
    many = batch("many", *(event(moments[n % 2], f"app {n:03}") for n in range(100)))
    ingest.take(many)
    moved = child.model_copy(update={"timezone": "Pacific/Kiritimati"})
    at.db.write(d.children.change(child, moved))
    at.clock.move(timedelta(minutes=1))
    assert ingest.take(many).counted == 0
    assert sum(one.blocked_count for one in rows(at)) == 100


def test_another_batch_under_an_id_that_was_used_is_refused_and_not_lost_in_silence(
    at: Place, ingest: Ingest
) -> None:
    child = at.child()
    ingest.take(batch("one", event(at.clock.now())))
    with refuses("BATCH_REUSED", "batchId"):
        ingest.take(batch("one", event(at.clock.now(), count=2)))
    assert row(at, child, date(2030, 6, 14)).blocked_count == 1


def test_a_batch_has_an_id_and_a_limit(ingest: Ingest, at: Place) -> None:
    with refuses("INVALID_BATCH", "batchId"):
        ingest.take(batch("", event(at.clock.now())))
    with refuses("LIMIT_EXCEEDED", "events"):
        ingest.take(batch("big", *[event(at.clock.now())] * 1001))


def test_the_outcome_tells_which_days_of_which_children_were_touched(at: Place, ingest: Ingest) -> None:
    sarah, zoes = at.child(), at.child(ZOE, OTHER_PHONE)
    at.clock.move(timedelta(days=1))
    now = at.clock.now()
    both = batch("both", event(now), event(now, phone=OTHER_PHONE), event(now - timedelta(hours=12)))
    touched = {(sarah.child, now.date()), (zoes.child, now.date()), (sarah.child, date(2030, 6, 14))}
    assert ingest.take(both).touched == touched
    assert ingest.take(both).touched == touched  # who dies before an alert sends it after the next delivery


# --- whose they are ---


def test_pc_d33_events_of_a_number_nobody_has_are_kept_and_counted_when_somebody_is_known(
    at: Place, ingest: Ingest
) -> None:
    now = at.clock.now()
    done = ingest.take(batch("early", event(now + timedelta(minutes=2)), event(now, phone="nonsense")))
    assert (done.counted, done.quarantined) == (0, 2)
    (kept,) = ingest.waiting().items
    assert kept.reason == "UNKNOWN_NUMBER"
    assert ingest.again(kept.quarantine_id).quarantined == 2
    child = at.child()
    at.clock.move(timedelta(minutes=1))
    done = ingest.again(kept.quarantine_id)
    assert (done.counted, done.quarantined) == (1, 1)
    assert row(at, child, date(2030, 6, 14)).blocked_count == 1
    (left,) = ingest.waiting().items
    assert (left.events[0]["phoneNumber"], left.expires_at) == ("nonsense", kept.expires_at)
    with refuses("QUARANTINE_NOT_FOUND"):
        ingest.again(kept.quarantine_id)
    # The batch itself comes once more: it was taken, all of it.
    assert (
        ingest.take(batch("early", event(now + timedelta(minutes=2)), event(now, phone="nonsense"))).counted
        == 0
    )
    assert row(at, child, date(2030, 6, 14)).blocked_count == 1


def test_what_is_no_number_and_no_address_is_nobodys_and_keeps_no_other_event_from_being_counted(
    at: Place, ingest: Ingest
) -> None:
    at.child()
    now = at.clock.now()
    odd = [event(now, phone=text) for text in ("", "  ", "\x00")]
    odd += [Event(at=now, app_name="TikTok", privateIP=text) for text in ("", "x y")]
    done = ingest.take(batch("odd", *odd, event(now)))
    assert (done.counted, done.quarantined) == (1, 5)


def test_a_batch_of_nothing_but_strangers_is_kept_whole(at: Place, ingest: Ingest) -> None:
    now = at.clock.now()
    strangers = Batch("strangers", [event(now, "é" * 80, "+15550000001") for _ in range(1000)])
    assert ingest.take(strangers).quarantined == 1000
    assert sum(len(kept.events) for kept in at.db.all(d.quarantined())) == 1000
    assert rows(at) == []


def test_pc_s15_events_from_before_a_number_was_this_familys_are_not_theirs(
    at: Place, ingest: Ingest
) -> None:
    before = at.clock.now()
    at.clock.move(timedelta(hours=1))
    at.child()
    done = ingest.take(batch("late", event(before), event(at.clock.now())))
    assert (done.counted, done.quarantined) == (1, 1)
    (kept,) = ingest.waiting().items
    assert kept.reason == "BEFORE_THIS_OWNER"


def test_a_sensor_whose_clock_is_wrong_is_not_believed(at: Place, ingest: Ingest) -> None:
    at.child()
    now = at.clock.now()
    done = ingest.take(batch("odd", event(now + timedelta(hours=1)), event(now - timedelta(days=401))))
    assert (done.counted, done.quarantined) == (0, 2)
    (kept,) = ingest.waiting().items
    assert kept.reason == "WRONG_TIME"


def on_air(at: Place, child: Child, address: str = ADDRESS, rule: str | None = RULE) -> None:
    """A session of a child, with a rule for its address."""
    now, later = at.clock.now(), at.clock.now() + timedelta(days=1)
    name = f"session-{child.child}-{address}"
    at.db.write(
        d.sessions.create(
            Session(
                child=child.child, session_id=name, privateIP=address, livePrivateIP=address,
                device_id="ftd-1", started_at=now, last_seen_at=now, expires_at=later,
            )
        )
    )  # fmt: skip
    if rule is not None:
        at.db.write(
            d.rules.create(
                RuleMapping(
                    child=child.child, rule_id="rule-1", rule_name=rule, privateIP=address,
                    livePrivateIP=address, app_name="TikTok", policy_ids=["p"], ftd_device_id="ftd-1",
                    access_policy_id="a", session_id=name, digest="d", status="active", created_at=now,
                    last_verified=now, expires_at=later,
                )
            )
        )  # fmt: skip


def test_what_a_device_tells_by_rule_and_address_is_counted_for_the_child(at: Place, ingest: Ingest) -> None:
    child = at.child()
    on_air(at, child)
    flows = [BlockedFlow(at.clock.now(), RULE, "tik-tok", ADDRESS, "203.0.113.9", "TCP", 443)] * 3
    assert ingest.take(Batch("nflog-1", [event_of(flow) for flow in flows])).counted == 3
    assert row(at, child, date(2030, 6, 14)).blocked_count == 3


def test_an_address_counts_for_who_has_it_and_not_from_before_they_had_it(at: Place, ingest: Ingest) -> None:
    child = at.child()
    before = at.clock.now()
    at.clock.move(timedelta(minutes=10))
    on_air(at, child, rule=None)
    there = Event(at=at.clock.now(), app_name="TikTok", privateIP=ADDRESS)
    assert ingest.take(batch("a", there)).counted == 1
    assert ingest.take(batch("b", there.model_copy(update={"at": before}))).quarantined == 1
    assert ingest.take(batch("c", Event(at=before, app_name="TikTok", privateIP="10.9.9.9"))).quarantined == 1
    (kept, *_) = ingest.waiting().items
    assert kept.reason == "UNKNOWN_ADDRESS"


def gateway(at: Place, device: str) -> None:
    at.parental.devices.add(Device(device_id=device, kind="simulated", name=device, access_policy_id="p"))


def at_address(at: Place, device: str | None = None, app: str = "TikTok") -> Event:
    return Event(at=at.clock.now(), app_name=app, privateIP=ADDRESS, device_id=device)


def apps_of(at: Place, child: Child) -> list[str]:
    return [one.app_name for one in at.db.all(d.metrics_of_child(child=child.child))]


def test_pc_s15_an_address_counts_for_who_had_it_then_though_they_have_left_it(
    at: Place, ingest: Ingest
) -> None:
    gateway(at, "ftd-1")
    anna, ben = at.child(), at.child(ZOE, OTHER_PHONE)
    event = at.parental.sessions.event
    at.clock.move(timedelta(minutes=1))
    event("start", PHONE, "a1", ip=ADDRESS, device="ftd-1")
    event("start", OTHER_PHONE, "b1", ip="10.0.0.9", device="ftd-1")
    at.clock.move(timedelta(minutes=10))
    then = at_address(at)
    at.clock.move(timedelta(minutes=10))
    event("stop", PHONE, "a1")
    at.clock.move(timedelta(minutes=1))
    free = at_address(at, app="Instagram")
    at.clock.move(timedelta(minutes=1))
    event("update-ip", OTHER_PHONE, "b1", ip=ADDRESS)
    at.clock.move(timedelta(minutes=1))
    now = at_address(at, app="YouTube")
    done = ingest.take(Batch("late", [then, free, now]))
    assert (done.counted, done.quarantined) == (2, 1)
    assert (apps_of(at, anna), apps_of(at, ben)) == (["TikTok"], ["YouTube"])


def test_pc_d33_an_address_behind_two_firewalls_is_whose_the_firewall_says_and_else_nobodys(
    at: Place, ingest: Ingest
) -> None:
    for device in ("ftd-1", "ftd-2"):
        gateway(at, device)
    anna, ben = at.child(), at.child(ZOE, OTHER_PHONE)
    at.clock.move(timedelta(minutes=1))
    at.parental.sessions.event("start", PHONE, "a1", ip=ADDRESS, device="ftd-1")
    at.clock.move(timedelta(minutes=1))
    at.parental.sessions.event("start", OTHER_PHONE, "b1", ip=ADDRESS, device="ftd-2")
    at.clock.move(timedelta(minutes=1))
    told = [
        at_address(at, "ftd-1"),
        at_address(at, "ftd-2", app="YouTube"),
        at_address(at, "ftd-3"),
        at_address(at),
    ]
    done = ingest.take(Batch("two", told))
    assert (done.counted, done.quarantined) == (2, 2)
    assert (apps_of(at, anna), apps_of(at, ben)) == (["TikTok"], ["YouTube"])
    (kept,) = ingest.waiting().items
    assert kept.reason == "AMBIGUOUS_ADDRESS, UNKNOWN_ADDRESS"


def test_an_ipv4_address_in_the_spelling_of_ipv6_is_whose_the_ipv4_address_is(
    at: Place, ingest: Ingest
) -> None:
    on_air(at, at.child())
    told = Event(at=at.clock.now(), app_name="TikTok", privateIP=f"::ffff:{ADDRESS}")
    assert ingest.take(batch("a", told)).counted == 1


def test_a_rule_nobody_knows_and_no_name_of_an_app_is_kept_aside(at: Place, ingest: Ingest) -> None:
    on_air(at, at.child(), rule=None)
    gone = Event(at=at.clock.now(), rule_name="PARENTAL_BLOCK_gone", privateIP=ADDRESS)
    assert ingest.take(batch("a", gone)).quarantined == 1
    assert ingest.waiting().items[0].reason == "UNKNOWN_APP"


@pytest.mark.parametrize("ends", ["a grant", "the session"])
def test_pc_d33_what_a_rule_stopped_is_counted_though_it_is_told_of_after_the_rule_has_gone(
    at: Place, ends: str
) -> None:
    child = at.child()
    at.parental.devices.add(Device(device_id="ftd-1", kind="simulated", name="East", access_policy_id="a"))
    at.policy(child, "TikTok")
    at.policy(child, EVERYTHING)
    sessions, reconciler = at.parental.sessions, at.parental.reconciler
    sessions.event("start", PHONE, "s1", ip=ADDRESS, device="ftd-1")
    reconciler.reconcile(child.child)
    names = {rule.app_name: rule.rule_name for rule in at.db.all(d.rules_of_child(child=child.child))}
    told = [
        BlockedFlow(at.clock.now(), name, label, ADDRESS, "203.0.113.9", "TCP", 443)
        for name, label in ((names["TikTok"], ""), (names[EVERYTHING], "everything"))
    ]
    at.clock.move(timedelta(seconds=1))
    if ends == "the session":
        sessions.event("stop", PHONE, "s1")
    else:
        for app_name in names:
            at.parental.overrides.add(child, "allow", app_name, timedelta(minutes=30), ANNA)
    reconciler.reconcile(child.child)
    assert list(at.db.all(d.rules_of_child(child=child.child))) == []
    at.clock.move(timedelta(seconds=1))
    assert at.parental.ingest.take(Batch("nflog-1", [event_of(flow) for flow in told])) == Counted(
        2, 0, 0, frozenset({(child.child, date(2030, 6, 14))})
    )
    assert {one.app_name for one in rows(at)} == {"TikTok", EVERYTHING}


def test_a_former_rule_says_nothing_of_another_address_and_is_forgotten_with_its_child(at: Place) -> None:
    child = at.child()
    former = FormerRule(
        child=child.child, rule_name=RULE, privateIP=ADDRESS, app_name="TikTok", ended_at=at.clock.now()
    )
    at.db.write(d.former_rules.put(former))
    elsewhere = Event(at=at.clock.now(), rule_name=RULE, privateIP="10.9.9.9")
    assert at.parental.ingest.take(batch("a", elsewhere)).quarantined == 1
    at.parental.privacy.erase(child, ANNA)
    at.parental.tasks.run_due()
    assert at.db.one(d.former_rules.get(RULE)) is None


def test_an_app_is_counted_under_the_name_the_registry_has_for_it(at: Place) -> None:
    child = at.child()
    registry = Registry(at.parental.repository)
    registry.load()
    ingest = Ingest(at.parental.repository, registry)
    ingest.take(batch("a", event(at.clock.now(), "tiktok"), event(at.clock.now(), "TikTok")))
    assert row(at, child, date(2030, 6, 14)).blocked_count == 2


@pytest.mark.parametrize("said", [{"appName": "TikTok"}, {"phoneNumber": PHONE}])
def test_an_event_must_say_whose_it_is_and_what_was_blocked(said: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match=r"needs (phoneNumber|appName)"):
        Event.model_validate({"at": "2030-06-14T14:00:00Z", **said})


# --- splitting, as a rule (pure) ---


@settings(max_examples=60, deadline=None)
@given(
    said=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 60), st.integers(0, 7 * 24 * 3600), st.integers(1, 9)),
        min_size=1,
        max_size=300,
    ),
    zone=st.sampled_from(["America/New_York", "Asia/Kathmandu", "Pacific/Apia", "Australia/Lord_Howe"]),
    shuffled=st.randoms(use_true_random=False),
)
def test_each_event_is_in_one_chunk_which_fits_a_transaction_in_whatever_order_they_come(
    said: list[tuple[int, int, int, int]], zone: str, shuffled: Any
) -> None:
    start = datetime(2030, 3, 8, tzinfo=UTC)  # around the day on which New York puts its clock forward
    events = [
        event(start + timedelta(seconds=s), f"app {a}", f"+1555000000{w}", count=c) for w, a, s, c in said
    ]
    mixed = list(events)
    shuffled.shuffle(mixed)
    chunks, again = of.chunks(Batch("b", events)), of.chunks(Batch("b", mixed))
    assert [(one.receipt, one.digest) for one in chunks] == [(one.receipt, one.digest) for one in again]
    key = lambda one: (one.at, one.app_name, one.phone_number, one.count)  # noqa: E731
    assert sorted((e for one in chunks for e in one.events), key=key) == sorted(events, key=key)
    for one in chunks:
        items = {(e.phone_number, e.app_name, of.local(e.at, zone)[0]) for e in one.events}
        assert 1 + len(items) + 5 <= 100


@given(
    seconds=st.lists(st.integers(0, 3 * 24 * 3600), min_size=1, max_size=50),
    zone=st.sampled_from(["America/New_York", "Asia/Kathmandu", "UTC"]),
)
def test_pc_26_the_hours_of_a_day_sum_up_to_its_count(seconds: list[int], zone: str) -> None:
    start = datetime(2030, 11, 2, tzinfo=UTC)
    events = [event(start + timedelta(seconds=one)) for one in seconds]
    days = of.summed(events, zone)
    assert sum(one.count for one in days.values()) == len(events)
    for day, one in days.items():
        assert sum(one.hourly.values()) == one.count
        assert of.local(one.first, zone)[0] == of.local(one.last, zone)[0] == day
