"""Session events: in any order, any number of times, from anybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from tests.systems.parental.rig import ANNA, BEN, DEVICE, IP, OTHER_IP, START, Rig, closing, make_rig

from tablewright import testing
from tablewright.client import embedded
from tablewright.edge.errors import BadRequest
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import address_stays, plan
from tablewright.systems.parental.enforcement.plan import is_open
from tablewright.systems.parental.enforcement.sessions import EventKind
from tablewright.systems.parental.model import Session
from tablewright.systems.parental.repository import Repository
from tablewright.testing import Clock


@pytest.fixture
def rig() -> Iterator[Rig]:
    clock = Clock(START)
    with (
        testing.engine(world=clock.world()) as engine,
        closing(make_rig(embedded(engine), clock, engine)) as made,
    ):
        made.child()
        made.child(BEN, "family-2")
        yield made


def the(session: Session | None) -> Session:
    assert session is not None
    return session


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def test_a_session_that_starts_is_open_and_not_known_to_be_clean(rig: Rig) -> None:
    session = rig.start()
    assert (session.private_ip, session.live_private_ip, session.device_id) == (IP, IP, DEVICE)
    assert not session.is_clean
    assert rig.sessions.open_of(ANNA) == [session]
    assert [one.child for one in rig.db.all(d.sessions_of_address(private_ip=IP))] == [ANNA]


def test_a_session_that_stopped_is_not_found_by_its_address(rig: Rig) -> None:
    rig.start()
    rig.move(minutes=1)
    stopped = the(rig.sessions.event("stop", ANNA, "s1"))
    assert (stopped.live_private_ip, stopped.ended_at) == (None, at(1))
    assert rig.sessions.open_of(ANNA) == []
    assert list(rig.db.all(d.sessions_of_address(private_ip=IP))) == []
    assert rig.sessions.of(ANNA) == [stopped]


@pytest.mark.parametrize("repeated", ["start", "stop", "update-ip"])
def test_an_event_that_comes_twice_changes_nothing_the_second_time(rig: Rig, repeated: str) -> None:
    events: dict[str, Callable[[], Session | None]] = {
        "start": lambda: rig.sessions.event("start", ANNA, "s1", ip=IP, device=DEVICE, at=at(0), once="e1"),
        "update-ip": lambda: rig.sessions.event("update-ip", ANNA, "s1", ip=OTHER_IP, at=at(1), once="e2"),
        "stop": lambda: rig.sessions.event("stop", ANNA, "s1", at=at(2), once="e3"),
    }
    rig.move(minutes=3)
    for event in events.values():
        event()
    before = rig.sessions.of(ANNA)
    events[repeated]()
    assert rig.sessions.of(ANNA) == before
    assert rig.sessions.open_of(ANNA) == []


def test_an_event_that_is_late_does_not_undo_what_came_after_it(rig: Rig) -> None:
    rig.start()
    rig.move(minutes=10)
    rig.sessions.event("update-ip", ANNA, "s1", ip=OTHER_IP, at=at(8))
    late = the(rig.sessions.event("update-ip", ANNA, "s1", ip="10.20.30.99", at=at(5)))
    assert late.private_ip == OTHER_IP
    rig.sessions.event("stop", ANNA, "s1", at=at(9))
    closed = the(rig.sessions.event("heartbeat", ANNA, "s1", at=at(8.5)))
    assert closed.live_private_ip is None


def test_a_clock_that_runs_ahead_does_not_make_later_events_old(rig: Rig) -> None:
    rig.sessions.event("start", ANNA, "s1", ip=IP, device=DEVICE, at=at(600))
    rig.move(minutes=1)
    assert the(rig.sessions.event("stop", ANNA, "s1")).live_private_ip is None


def test_who_starts_at_an_address_ends_what_others_had_there(rig: Rig) -> None:
    rig.start()
    rig.move(minutes=1)
    rig.start(phone=BEN, session="b1")
    assert rig.sessions.open_of(ANNA) == []
    assert [one.private_ip for one in rig.sessions.open_of(BEN)] == [IP]


def test_the_same_address_behind_another_firewall_is_another_place(rig: Rig) -> None:
    rig.device("ftd-device-002")
    rig.start()
    rig.move(minutes=1)
    rig.start(phone=BEN, session="b1", device="ftd-device-002")
    assert len(rig.sessions.open_of(ANNA)) == len(rig.sessions.open_of(BEN)) == 1


def test_who_was_ended_by_mistake_is_open_again_with_the_next_news_of_its_address(rig: Rig) -> None:
    rig.start()
    rig.move(minutes=1)
    rig.start(phone=BEN, session="b1")
    rig.move(minutes=1)
    assert the(rig.sessions.event("heartbeat", ANNA, "s1")).live_private_ip is None, (
        "the address is another's"
    )
    moved = the(rig.sessions.event("update-ip", ANNA, "s1", ip=OTHER_IP))
    assert (moved.live_private_ip, moved.is_clean) == (OTHER_IP, False)
    assert len(rig.sessions.open_of(BEN)) == 1


@pytest.mark.parametrize("kind", ["start", "update-ip"])
def test_pc_d22_who_is_told_of_after_a_later_holder_is_over_already(rig: Rig, kind: EventKind) -> None:
    rig.policy("TikTok")
    rig.move(hours=1)
    if kind == "update-ip":
        rig.sessions.event("start", ANNA, "s1", ip=OTHER_IP, device=DEVICE, at=at(10))
    rig.sessions.event("start", BEN, "b1", ip=IP, device=DEVICE, at=at(50))
    late = the(rig.sessions.event(kind, ANNA, "s1", ip=IP, device=DEVICE, at=at(30)))
    assert (late.private_ip, late.live_private_ip, late.ended_at) == (IP, None, at(50))
    rig.follow()
    rig.tick()
    assert [one.child for one in rig.db.all(d.sessions_of_address(private_ip=IP))] == [BEN]
    assert not rig.is_blocked()
    assert rig.sessions.open_of(ANNA) == []


def test_pc_d22_nor_does_a_late_start_get_an_address_that_a_later_holder_has_left(rig: Rig) -> None:
    rig.move(hours=1)
    rig.sessions.event("start", BEN, "b1", ip=IP, device=DEVICE, at=at(40))
    rig.sessions.event("stop", BEN, "b1", at=at(50))
    late = the(rig.sessions.event("start", ANNA, "s1", ip=IP, device=DEVICE, at=at(30)))
    assert (late.live_private_ip, late.ended_at) == (None, at(40))
    back = the(rig.sessions.event("start", ANNA, "s1", ip=IP, device=DEVICE, at=at(55)))
    assert back.live_private_ip == IP


def test_pc_d22_of_those_who_start_at_an_address_at_once_one_has_it(rig: Rig) -> None:
    rig.move(hours=1)
    for number in range(1, 9):
        address, line = f"10.1.0.{number}", Barrier(2)

        def start(phone: str, address: str = address, line: Barrier = line) -> None:
            line.wait()
            rig.sessions.event("start", phone, address, ip=address, device=DEVICE)

        with ThreadPoolExecutor(2) as both:
            list(both.map(start, (ANNA, BEN)))
        assert len(list(rig.db.all(d.sessions_of_address(private_ip=address)))) == 1


def test_pc_d22_who_meets_another_at_the_same_moment_looks_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.move(hours=1)
    asked = address_stays.holder

    def too_early(repository: Repository, device: str, address: str) -> Session | None:
        found = asked(repository, device, address)
        monkeypatch.setattr(address_stays, "holder", asked)
        rig.start(phone=BEN, session="b1")
        return found

    monkeypatch.setattr(address_stays, "holder", too_early)
    rig.start()
    assert [one.child for one in rig.db.all(d.sessions_of_address(private_ip=IP))] == [ANNA]
    assert rig.sessions.open_of(BEN) == []


def test_pc_d22_a_rule_is_not_claimed_for_an_address_the_child_has_no_more(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.start()
    rig.policy("TikTok")
    planned = plan.plan

    def overtaken(*given: Any) -> plan.Plan:
        made = planned(*given)
        monkeypatch.setattr(plan, "plan", planned)
        rig.start(phone=BEN, session="b1")
        return made

    monkeypatch.setattr(plan, "plan", overtaken)
    rig.move(minutes=1)
    rig.reconciler.reconcile(ANNA)
    assert (rig.rules(), rig.on_device()) == ([], [])


def test_pc_d9_a_start_that_comes_after_its_stop_opens_nothing(rig: Rig) -> None:
    rig.move(hours=1)
    assert rig.sessions.event("stop", ANNA, "s1", at=at(20), once="e2") is None
    late = the(rig.sessions.event("start", ANNA, "s1", ip=IP, device=DEVICE, at=at(10), once="e1"))
    assert (late.live_private_ip, late.ended_at) == (None, at(20))
    assert rig.sessions.event("heartbeat", ANNA, "s1", at=at(15)) == late
    assert rig.sessions.open_of(ANNA) == []
    (stay,) = rig.db.all(d.stays_at_address(private_ip=IP))
    assert (stay.child, stay.since, stay.until) == (ANNA, at(10), at(20))


def test_what_is_told_without_an_address_of_a_session_whose_end_came_first_is_nothing_or_a_mistake(
    rig: Rig,
) -> None:
    rig.sessions.event("stop", ANNA, "s1", at=at(0))
    rig.move(minutes=5)
    assert rig.sessions.event("heartbeat", ANNA, "s1") is None
    with pytest.raises(BadRequest, match="needs an address and a firewall"):
        rig.sessions.event("update-ip", ANNA, "s1", ip=IP)
    assert rig.sessions.open_of(ANNA) == []


def test_heartbeats_of_an_hour_leave_the_guard_of_the_address_alone(rig: Rig) -> None:
    rig.start()
    rig.move(minutes=1)
    first = the(rig.sessions.event("heartbeat", ANNA, "s1"))
    rig.move(minutes=50)
    assert the(rig.sessions.event("heartbeat", ANNA, "s1")).expires_at == first.expires_at
    rig.move(minutes=20)
    assert the(rig.sessions.event("heartbeat", ANNA, "s1")).expires_at > first.expires_at


def test_a_session_that_begins_again_after_its_end_is_open(rig: Rig) -> None:
    rig.move(hours=1)
    rig.sessions.event("stop", ANNA, "s1", at=at(20))
    assert the(rig.sessions.event("start", ANNA, "s1", ip=IP, device=DEVICE, at=at(30))).live_private_ip == IP


def test_who_leaves_an_address_leaves_word_of_when_it_had_it(rig: Rig) -> None:
    rig.start()
    rig.move(minutes=5)
    rig.sessions.event("update-ip", ANNA, "s1", ip=OTHER_IP)
    rig.move(minutes=5)
    rig.sessions.event("stop", ANNA, "s1")
    stays = [
        *rig.db.all(d.stays_at_address(private_ip=IP)),
        *rig.db.all(d.stays_at_address(private_ip=OTHER_IP)),
    ]
    assert [(one.private_ip, one.since, one.until) for one in stays] == [
        (IP, at(0), at(5)),
        (OTHER_IP, at(5), at(10)),
    ]


def test_a_session_that_missed_three_heartbeats_is_over(rig: Rig) -> None:
    rig.sessions.event("start", ANNA, "s1", ip=IP, device=DEVICE, heartbeat_seconds=60)
    rig.move(minutes=3)
    assert len(rig.sessions.open_of(ANNA)) == 1
    rig.move(seconds=1)
    assert rig.sessions.open_of(ANNA) == []
    rig.sessions.event("heartbeat", ANNA, "s1")
    assert len(rig.sessions.open_of(ANNA)) == 1


def test_a_session_that_promised_nothing_lasts_a_day_without_a_word(rig: Rig) -> None:
    session = rig.start()
    assert is_open(session, at(24 * 60 - 1))
    assert not is_open(session, at(24 * 60))


def test_several_devices_of_a_child_have_sessions_at_once_with_addresses_of_both_kinds(rig: Rig) -> None:
    rig.start()
    rig.start("2001:DB8::0001", session="s2")
    assert [one.private_ip for one in rig.sessions.open_of(ANNA)] == [IP, "2001:db8::1"]
    rig.policy("TikTok")
    rig.follow()
    assert rig.is_blocked(ip="2001:db8::1")
    assert rig.is_blocked()


def test_an_ipv4_address_in_the_spelling_of_ipv6_is_that_ipv4_address(rig: Rig) -> None:
    rig.start(f"::ffff:{IP}")
    assert [one.private_ip for one in rig.sessions.open_of(ANNA)] == [IP]
    rig.policy("TikTok")
    rig.follow()
    assert rig.is_blocked(ip=IP)
    rig.start(IP, session="s2")
    assert [one.session_id for one in rig.sessions.open_of(ANNA)] == ["s2"], "it is one address"


def test_nobodys_number_is_taken_note_of_by_nobody(rig: Rig) -> None:
    assert rig.sessions.event("start", "+15550000000", "x", ip=IP, device=DEVICE) is None
    assert rig.sessions.event("heartbeat", ANNA, "never-started") is None
    assert rig.sessions.event("stop", ANNA, "never-started") is None


@pytest.mark.parametrize(
    ("kind", "given", "code", "field"),
    [
        ("start", {"ip": "10.20.30.400", "device": DEVICE}, "INVALID_ADDRESS", "privateIP"),
        ("start", {"ip": "127.0.0.1", "device": DEVICE}, "INVALID_ADDRESS", "privateIP"),
        ("start", {"ip": "::ffff:127.0.0.1", "device": DEVICE}, "INVALID_ADDRESS", "privateIP"),
        ("start", {"ip": "255.255.255.255", "device": DEVICE}, "INVALID_ADDRESS", "privateIP"),
        ("start", {"ip": "::ffff:0.0.0.0", "device": DEVICE}, "INVALID_ADDRESS", "privateIP"),
        ("start", {"ip": "::", "device": DEVICE}, "INVALID_ADDRESS", "privateIP"),
        ("start", {"ip": "224.0.0.251", "device": DEVICE}, "INVALID_ADDRESS", "privateIP"),
        ("start", {"ip": "ff02::fb", "device": DEVICE}, "INVALID_ADDRESS", "privateIP"),
        ("start", {"ip": "fe80::1%eth0", "device": DEVICE}, "INVALID_ADDRESS", "privateIP"),
        ("start", {"ip": IP, "device": "nowhere"}, "UNKNOWN_DEVICE", "deviceId"),
        ("start", {"ip": IP}, "INVALID_EVENT", "deviceId"),
        ("start", {"device": DEVICE}, "INVALID_EVENT", "privateIP"),
        ("update-ip", {}, "INVALID_EVENT", "privateIP"),
        ("begin", {"ip": IP}, "INVALID_EVENT", "kind"),
        ("start", {"ip": IP, "device": DEVICE, "at": datetime(2030, 1, 1)}, "INVALID_EVENT", "at"),
        ("heartbeat", {"heartbeat_seconds": 1}, "INVALID_EVENT", "heartbeatSeconds"),
    ],
)
def test_a_mistake_names_its_field(
    rig: Rig, kind: str, given: dict[str, object], code: str, field: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        rig.sessions.event(kind, ANNA, "s1", **given)  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.field) == (code, field)
    assert rig.sessions.of(ANNA) == []
