"""Whatever happens in whatever order: in the end the firewall blocks what shall be blocked, and nothing else.

Parents edit, devices come, move and go, time passes, the firewall fails in every way it can, workers die. All along:
no name is twice on the device, and every rule on it is known to the table. When it is well again and the jobs have had
their turns, device, table and what is wanted are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.effort import effort
from tests.systems.parental.rig import ANNA, BEN, DEVICE, START, Rig, closing, make_rig

from tablewright import testing
from tablewright.client import embedded
from tablewright.systems.parental.enforcement import regular_checks
from tablewright.systems.parental.enforcement.sessions import EventKind
from tablewright.systems.parental.firewall.driver import PREFIX, Rule
from tablewright.systems.parental.firewall.simulated import Faults
from tablewright.systems.parental.model import EVERYTHING, OverrideKind
from tablewright.testing import Clock

CHILDREN = (ANNA, BEN)
ADDRESSES = ("10.0.0.1", "10.0.0.2", "2001:db8::1")
APPS = ("TikTok", "Instagram", "YouTube")
FAULTS = (
    Faults(),
    Faults(is_down=True),
    Faults(failures=0.5),
    Faults(lost_answers=0.5),
    Faults(lost_answers=1.0),
    Faults(rejected_labels=frozenset({"TikTok"})),
    Faults(calls_per_minute=3),
)


class Died(BaseException):
    """A worker is gone."""


@dataclass(frozen=True)
class Edit:
    """A child's parents block these apps from now on, and nothing else."""

    child: int
    apps: tuple[str, ...]


@dataclass(frozen=True)
class Except:
    child: int
    kind: OverrideKind
    app: str
    minutes: int


@dataclass(frozen=True)
class Hear:
    """The network tells something of a child's device."""

    child: int
    kind: EventKind
    session: int
    address: int


@dataclass(frozen=True)
class Fail:
    fault: int


@dataclass(frozen=True)
class Wait:
    seconds: int


@dataclass(frozen=True)
class Work:
    """Somebody has a turn, and may die at a place of the device."""

    who: Literal["reconcile", "tick", "verify", "reap"]
    child: int = 0
    dies_at: str | None = None


@dataclass(frozen=True)
class Meddle:
    """Somebody changes the device behind our back."""

    how: Literal["wipe", "add"]


Verb = Edit | Except | Hear | Fail | Wait | Work | Meddle

_CHILD = st.integers(0, len(CHILDREN) - 1)
_PLACES = st.sampled_from(
    [None, None, None, "ensure:before", "ensure:after", "remove:before", "remove:after"]
)
_VERBS: st.SearchStrategy[Verb] = st.one_of(
    st.builds(Edit, _CHILD, st.lists(st.sampled_from(APPS), unique=True, max_size=3).map(tuple)),
    st.builds(
        Except, _CHILD, st.sampled_from(["allow", "block"]), st.sampled_from([*APPS, EVERYTHING]), st.integers(1, 30)
    ),
    st.builds(
        Hear,
        _CHILD,
        st.sampled_from(["start", "start", "update-ip", "heartbeat", "stop"]),
        st.integers(0, 1),
        st.integers(0, len(ADDRESSES) - 1),
    ),
    st.builds(Fail, st.integers(0, len(FAULTS) - 1)),
    st.builds(Wait, st.integers(1, 400)),
    st.builds(Work, st.sampled_from(["reconcile", "tick"]), _CHILD, _PLACES),
    st.builds(Work, st.sampled_from(["reconcile", "verify", "reap"]), _CHILD, _PLACES),
    st.builds(Meddle, st.sampled_from(["wipe", "add"])),
)  # fmt: skip


@effort(40)
@given(st.lists(_VERBS, max_size=25))
def test_devices_come_to_block_what_shall_be_blocked(deeds: Sequence[Verb]) -> None:
    clock = Clock(START)
    with (
        testing.engine(world=clock.world()) as engine,
        closing(make_rig(embedded(engine), clock, engine)) as rig,
    ):
        for number, child in enumerate(CHILDREN):
            rig.child(child, f"family-{number}")
        strays = 0
        for number, deed in enumerate(deeds):
            _do(rig, deed, number)
            strays += isinstance(deed, Meddle) and deed.how == "add"
            _all_along(rig, strays)
        _settled(rig)


def _do(rig: Rig, deed: Verb, number: int) -> None:
    match deed:
        case Edit(child, apps):
            for policy in rig.repository.policies_of(CHILDREN[child]):
                rig.delete(policy)
            if apps:
                rig.policy(*apps, child=CHILDREN[child])
        case Except(child, kind, app, minutes):
            rig.override(kind, app, minutes, CHILDREN[child])
        case Hear(child, kind, session, address):
            ip = None if kind in ("heartbeat", "stop") else ADDRESSES[address]
            rig.sessions.event(kind, CHILDREN[child], f"s{session}", ip=ip, device=DEVICE, once=f"e{number}")
        case Fail(fault):
            rig.firewall.faults = FAULTS[fault]
        case Wait(seconds):
            rig.move(seconds=seconds)
        case Meddle("wipe"):
            rig.firewall.wipe()
        case Meddle():
            kept, rig.firewall.faults = rig.firewall.faults, Faults()
            rig.firewall.ensure(Rule(f"{PREFIX}{number:012x}_x", "10.0.0.1", domains=("example.com",)))
            rig.firewall.faults = kept
        case Work():
            _work(rig, deed)


def _work(rig: Rig, work: Work) -> None:
    def die(place: str) -> None:
        if place == work.dies_at:
            raise Died

    rig.firewall.at = die
    try:
        match work.who:
            case "reconcile":
                rig.reconciler.reconcile(CHILDREN[work.child])
            case "tick":
                rig.tick()
            case "verify":
                regular_checks.verify(rig)
            case "reap":
                regular_checks.reap_sessions(rig)
    except Died:
        pass
    finally:
        rig.firewall.at = lambda place: None


def _all_along(rig: Rig, strays: int) -> None:
    kept, rig.firewall.faults = rig.firewall.faults, Faults()
    names = [rule.name for rule in rig.on_device()]
    rig.firewall.faults = kept
    assert len(names) == len({*names})
    known = {one.rule_name for child in CHILDREN for one in rig.rules(child)}
    assert len({*names} - known) <= strays


def _settled(rig: Rig) -> None:
    """The device is well, everybody has had their turn: what is wanted is what is there."""
    rig.firewall.faults = Faults()
    # Longer than any claim, any rest and any pause.
    for _ in range(3):
        rig.clock.move(timedelta(minutes=6))
        regular_checks.sweep(rig)
        rig.tick()
    for child in CHILDREN:
        for rule in rig.rules(child):
            if rule.status == "failed":
                rig.reconciler.retry(child, rule.rule_id)
    regular_checks.verify(rig)
    regular_checks.sweep(rig)
    wanted = {
        one.rule.name: one.rule.digest
        for child in CHILDREN
        for one in rig.reconciler._read(child).wanted
        if one.rule is not None
    }
    assert {rule.name: rule.digest for rule in rig.on_device()} == wanted
    table = {one.rule_name: one.status for child in CHILDREN for one in rig.rules(child)}
    assert table == dict.fromkeys(wanted, "active")
    assert rig.open_actions("failed") == []
    assert rig.open_actions("pending") == []
    assert all(session.is_clean for child in CHILDREN for session in rig.sessions.open_of(child))
    for child in CHILDREN:
        assert {one.state for one in rig.reconciler.status(child)} <= {"enforced", "no session"}
