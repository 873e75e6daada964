"""Parental controls as one value: everything they can do, over one database.

api/router.py, the pages and the jobs call this; nothing above it knows of tables.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from tablewright.kit.cache import Cache
from tablewright.kit.delivery import OutboxDispatch
from tablewright.kit.erased import erased_list
from tablewright.mapping import Db
from tablewright.systems.parental.blocked.dashboard import Figures
from tablewright.systems.parental.blocked.ingest import Ingest
from tablewright.systems.parental.blocked.log_readers import Listen
from tablewright.systems.parental.enforcement import enforced_spans
from tablewright.systems.parental.enforcement.history import Records
from tablewright.systems.parental.enforcement.queue import DeviceQueues
from tablewright.systems.parental.enforcement.reconciler import Reconciler
from tablewright.systems.parental.enforcement.sessions import Sessions
from tablewright.systems.parental.family.children import Children
from tablewright.systems.parental.family.deletion import FamilyDeletion
from tablewright.systems.parental.family.families import Families
from tablewright.systems.parental.family.guardians import Guardians
from tablewright.systems.parental.family.notices import Notices
from tablewright.systems.parental.family.phone_proof import Numbers
from tablewright.systems.parental.family.privacy import Privacy
from tablewright.systems.parental.family.subjects import FamilySubjects
from tablewright.systems.parental.family.tasks import FamilyTasks
from tablewright.systems.parental.firewall.device_secrets import DeviceSecrets
from tablewright.systems.parental.firewall.devices import Devices, Drivers
from tablewright.systems.parental.model import Child, Message, Override, Policy
from tablewright.systems.parental.policy import effective
from tablewright.systems.parental.policy.effective import Effective, Span
from tablewright.systems.parental.policy.overrides import Overrides
from tablewright.systems.parental.policy.policies import Policies
from tablewright.systems.parental.policy.registry import Registry
from tablewright.systems.parental.references import References
from tablewright.systems.parental.repository import Repository
from tablewright.world import World

# (subject, roles, e-mail) -> token
Issue: TypeAlias = Callable[[str, tuple[str, ...], str], str]
INVITATION_LINK = "/console/parental/invitations/{invitation}"


@dataclass(frozen=True, slots=True)
class BlockedNow:
    """What is blocked at a moment, and after the next change."""

    now: Effective
    then: Effective | None


@dataclass(frozen=True, slots=True)
class Parental:
    """The parts of parental controls. `listen` reads a gateway's log; without it, their blocks are not counted."""

    repository: Repository
    numbers: Numbers
    families: Families
    guardians: Guardians
    children: Children
    policies: Policies
    overrides: Overrides
    registry: Registry
    sessions: Sessions
    devices: Devices
    reconciler: Reconciler
    queues: DeviceQueues
    records: Records
    ingest: Ingest
    figures: Figures
    tasks: FamilyTasks
    privacy: Privacy
    deletion: FamilyDeletion
    notices: Notices
    dispatch: OutboxDispatch[Message]
    listen: Listen | None
    inbox: Path | None
    issue: Issue
    references: References

    def blocked_now(self, child: Child, at: datetime | None = None) -> BlockedNow:
        """What is blocked for a child, now or at another moment; nothing after its number was released."""
        moment = at or self.repository.now()
        written = self._written(child)
        return BlockedNow(
            effective.effective(child, *written, moment), effective.next_visible(child, *written, moment)
        )

    def blocked_until_now(self, child: Child, start: datetime) -> list[Span]:
        """What firewalls confirmed as blocked from a moment up to now."""
        return enforced_spans.of_child(self.repository, child.child, start, self.repository.now())

    def timeline(self, child: Child, start: datetime, end: datetime) -> list[Span]:
        """What is blocked when between two moments."""
        return effective.timeline(child, *self._written(child), start, end)

    def _written(self, child: Child) -> tuple[Sequence[Policy], Sequence[Override]]:
        if child.released_at is not None:
            return (), ()
        return self.repository.policies_of(child.child), self.repository.overrides_of(child.child)

    def close(self) -> None:
        """Close the drivers and the cache."""
        self.devices.close()
        self.registry.close()


def open_parental(
    db: Db,
    world: World,
    secret: bytes,
    issue: Issue,
    *,
    drivers: Drivers,
    secrets: DeviceSecrets | None = None,
    drives: Callable[[], bool] | None = lambda: True,
    cache: Cache | None = None,
    listen: Listen | None = None,
    inbox: Path | None = None,
    invitation_link: str = INVITATION_LINK,
    home: Path | None = None,
    objects: str | None = None,
) -> Parental:
    """Parental controls over a database.

    `secret` keys one-time codes, the seal of messages and the names of rules; `drivers` opens the way to a firewall,
    `secrets` says which secret is for which, `drives` whether this process is the one that calls them; `cache` is where
    nodes share the registry, in this process if not given; `inbox` is a directory of files that sensors append what was
    blocked to; `issue` makes a login for a subject with roles and an address; `home` is a directory for the list of the
    erased, unless it is among `objects`.
    """
    repository = Repository(db, world, secret)
    numbers = Numbers(repository, secret)
    families = Families(repository)
    registry = Registry(repository, cache)
    devices = Devices(repository, drivers, secrets, drives)
    reconciler = Reconciler(repository, registry, devices, secret)
    people = FamilySubjects(repository, erased_list(home, world, objects))
    tasks = FamilyTasks(repository, reconciler.reconcile, people)
    return Parental(
        repository=repository,
        numbers=numbers,
        families=families,
        guardians=Guardians(repository, families, invitation_link),
        children=Children(repository, families, numbers),
        policies=Policies(repository, families, registry.all),
        overrides=Overrides(repository, registry.all),
        registry=registry,
        sessions=Sessions(repository),
        devices=devices,
        reconciler=reconciler,
        queues=DeviceQueues(repository),
        records=Records(repository, families),
        ingest=Ingest(repository, registry),
        figures=Figures(repository),
        tasks=tasks,
        privacy=Privacy(repository, tasks, people),
        deletion=FamilyDeletion(repository, families, tasks),
        notices=Notices(repository),
        dispatch=repository.outbox.dispatch(),
        listen=listen,
        inbox=inbox,
        issue=issue,
        references=References(secret),
    )
