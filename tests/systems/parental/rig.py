"""Enforcement without people: a database, simulated firewalls, a child with a session, a clock, and the jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.places import reached
from tests.systems.parental.written import app, window

from tablewright import Engine
from tablewright.client import Call
from tablewright.design import Environment
from tablewright.kit.erased import ErasedList
from tablewright.mapping import Db
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import due, on_change
from tablewright.systems.parental.enforcement.plan import AppStatus
from tablewright.systems.parental.enforcement.queue import DeviceQueues
from tablewright.systems.parental.enforcement.reconciler import Reconciler
from tablewright.systems.parental.enforcement.sessions import Sessions
from tablewright.systems.parental.family.notices import Notices
from tablewright.systems.parental.family.rounds import purge_of
from tablewright.systems.parental.family.subjects import FamilySubjects
from tablewright.systems.parental.family.tasks import FamilyTasks
from tablewright.systems.parental.firewall.devices import Devices
from tablewright.systems.parental.firewall.driver import DeviceRule, Flow
from tablewright.systems.parental.firewall.simulated import Faults, SimulatedFirewall
from tablewright.systems.parental.model import (
    Action,
    BlockedApp,
    Child,
    Device,
    Family,
    OpenStatus,
    Outage,
    Override,
    OverrideKind,
    Policy,
    RuleMapping,
    Session,
    Window,
)
from tablewright.systems.parental.policy.registry import Registry
from tablewright.systems.parental.repository import Repository
from tablewright.testing import Clock
from tablewright.world import World

SECRET = b"a secret for names of rules"
ANNA, BEN = "+15551234567", "+15557654321"
IP, OTHER_IP = "10.20.30.40", "10.20.31.7"
DEVICE = "ftd-device-001"
# A Friday, 21:00 in New York.
START = datetime(2030, 10, 5, 1, 0, tzinfo=UTC)
NIGHT = window("22:00-06:00", "FRI")


@dataclass
class Rig:
    """What enforces, and what it is enforced on."""

    repository: Repository
    registry: Registry
    sessions: Sessions
    devices: Devices
    reconciler: Reconciler
    queues: DeviceQueues
    tasks: FamilyTasks
    notices: Notices
    clock: Clock
    engine: Engine | None = None
    firewalls: dict[str, SimulatedFirewall] = field(default_factory=dict)
    policies_made: int = 0

    @property
    def db(self) -> Db:
        return self.repository.db

    @property
    def firewall(self) -> SimulatedFirewall:
        return self.firewalls[DEVICE]

    # --- what parents and the network do ---

    def family(self, family_id: str = "family-1", on_outage: Outage = "keep") -> Family:
        made = Family(
            family_id=family_id, name="Smith", on_outage=on_outage, created_at=self.repository.now()
        )
        return self.db.get_or_create(d.families.create(made))[0]

    def child(self, phone: str = ANNA, family_id: str = "family-1", on_outage: Outage = "keep") -> Child:
        self.family(family_id, on_outage)
        now = self.repository.now()
        made = Child(
            child=phone,
            phone=phone,
            held_phone=phone,
            family_id=family_id,
            child_name="Anna",
            timezone="America/New_York",
            parent_email="parent@example.com",
            created_at=now,
            updated_at=now,
        )
        return self.db.get_or_create(d.children.create(made))[0]

    def policy(self, *apps: str | BlockedApp, windows: Sequence[Window] = (), child: str = ANNA) -> Policy:
        self.policies_made += 1
        now = self.repository.now()
        made = Policy(
            child=child,
            policy_id=f"policy_20301004_{self.policies_made:03}",
            child_name="Anna",
            parent_email="parent@example.com",
            blocked_apps=[BlockedApp(app_name=one) if isinstance(one, str) else one for one in apps],
            time_windows=list(windows),
            created_at=now,
            updated_at=now,
        )
        self.db.write(d.policies.create(made))
        return made

    def delete(self, policy: Policy) -> Policy:
        now = self.repository.now()
        gone = policy.model_copy(update={"status": "deleted", "deleted_at": now, "updated_at": now})
        write = d.policies.move(policy, gone, by="parent")
        assert write.item is not None
        self.db.write(write, d.purges.put(purge_of(write.item)))
        return write.item

    def override(self, kind: OverrideKind, name: str, minutes: int, child: str = ANNA) -> Override:
        now = self.repository.now()
        made = Override(
            child=child,
            override_id=self.repository.new_timed_id(now),
            kind=kind,
            app_name=name,
            begins_at=now,
            until=now + timedelta(minutes=minutes),
            by="parent@example.com",
        )
        self.db.write(d.overrides.create(made))
        return made

    def start(self, ip: str = IP, phone: str = ANNA, session: str = "s1", device: str = DEVICE) -> Session:
        found = self.sessions.event("start", phone, session, ip=ip, device=device)
        assert found is not None
        return found

    def device(self, device_id: str) -> Device:
        made = Device(
            device_id=device_id, kind="simulated", name=device_id, access_policy_id="policy-of-the-device"
        )
        return self.db.get_or_create(d.devices.create(made))[0]

    # --- time and jobs ---

    def move(self, **by: float) -> None:
        """Let time pass and nothing happen."""
        self.clock.move(timedelta(**by))

    def follow(self) -> None:
        """Let every change that was made be followed, and those that follow from it."""
        for _ in range(3):
            for consumer in on_change.consumers(self):
                consumer.run_once()
            due.check_due(self)

    def tick(self) -> None:
        """What happens each second."""
        due.check_due(self)
        due.retry(self)

    def pass_time(self, seconds: int, step: int = 1) -> None:
        for _ in range(0, seconds, step):
            self.move(seconds=step)
            self.tick()

    # --- looking ---

    def rules(self, child: str = ANNA) -> list[RuleMapping]:
        return list(self.db.all(d.rules_of_child(child=child)))

    def on_device(self, device: str = DEVICE) -> list[DeviceRule]:
        return list(self.firewalls[device].list()) if device in self.firewalls else []

    def history(self, child: str = ANNA) -> list[Action]:
        """Oldest first."""
        return list(self.db.all(d.actions_of_child(child=child)))[::-1]

    def told(self, child: str = ANNA) -> list[str]:
        return [f"{one.action} {one.app_name} {one.private_ip} {one.status}" for one in self.history(child)]

    def open_actions(self, status: OpenStatus = "failed") -> list[Action]:
        return list(self.db.all(d.actions_by_status(status=status)))

    def state(self, name: str, child: str = ANNA) -> AppStatus | None:
        return next((one for one in self.reconciler.status(child) if one.app == name), None)

    def is_blocked(self, name: str = "www.tiktok.com", ip: str = IP) -> bool:
        return self.firewall.is_blocked(Flow(source=ip, name=name))

    def stop_device(self) -> None:
        self.firewall.faults = Faults(is_down=True)

    def start_device(self) -> None:
        self.firewall.faults = Faults()


def make_rig(
    call: Call,
    clock: Clock,
    engine: Engine | None = None,
    path: Callable[[str], Path] | None = None,
    world: World | None = None,
    *,
    needs_deploy: bool = False,
    environment: Environment | None = None,
) -> Rig:
    """A rig over a way to a database; with `path` the firewalls keep their rules in files."""
    world = world or clock.world()
    db = Db(call, d.PARENTAL, world=world, secret=SECRET, environment=environment)
    db.create_tables()
    repository = Repository(db, world)
    registry = Registry(repository)
    firewalls: dict[str, SimulatedFirewall] = {}

    def driver(device: Device) -> SimulatedFirewall:
        where = path(device.device_id) if path is not None else None
        if device.device_id not in firewalls:
            firewalls[device.device_id] = SimulatedFirewall(
                world, where, needs_deploy=needs_deploy, sleep=lambda _: None
            )
        return firewalls[device.device_id]

    devices = Devices(repository, driver)
    reconciler = Reconciler(repository, registry, devices, SECRET)
    rig = Rig(
        repository,
        registry,
        Sessions(repository),
        devices,
        reconciler,
        DeviceQueues(repository),
        FamilyTasks(repository, reconciler.reconcile, FamilySubjects(repository, ErasedList())),
        Notices(repository),
        clock,
        engine,
        firewalls,
    )
    for consumer in on_change.consumers(rig):
        consumer.create_tables()
    made = driver(rig.device(DEVICE))
    assert made is rig.firewall
    for each in (
        app("TikTok", ["tiktok.com", "musical.ly"]),
        app("Instagram", ["instagram.com"]),
        app("YouTube", ["youtube.com"]),
    ):
        db.get_or_create(d.apps.create(each))
    registry.forget()
    return rig


@contextmanager
def rig_on(way: str, endpoint: str | None, *, needs_deploy: bool = False) -> Iterator[Rig]:
    """A rig on a way to a database, or at an endpoint."""
    clock = Clock(START)
    with (
        reached(way, endpoint, clock.world(), d.PARENTAL) as there,
        closing(
            make_rig(
                there.call, clock, there.engine, needs_deploy=needs_deploy, environment=there.environment
            )
        ) as made,
    ):
        yield made


@contextmanager
def closing(rig: Rig) -> Iterator[Rig]:
    try:
        yield rig
    finally:
        rig.devices.close()
