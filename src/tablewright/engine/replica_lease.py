"""A lease for a writer that may be cut off: it writes only while enough of the others have just said that it may.

Whoever is asked by the writer for changes, and still holds it to be the writer, promises not to be promoted, nor to
agree to somebody else's promotion, for a while. The writer counts that while from before it asked; the other counts it,
and a quarter more, from after it was asked: so the writer has stopped before anybody else begins, whatever the
clocks say, as long as they go at about the same pace. A promotion without the writer first withholds the promise, and
then waits until those that were given have run out.
With two replicas the writer needs the other one. With more it needs so many that with itself they are a majority; and
a promotion needs so many who agree that no majority is left without them. Whoever was silent at that promotion has no
say in the lease of the new writer until that has heard from it, and cannot be promoted itself until it has heard back.
Must hold: nobody promises and is promoted; what was promised before a restart counts as just promised. A lease is
looked at before a write is decided and again when it has been committed (Writing.disown_lapsed): an answer that is on
its way to the client when the lease runs out is all that may still arrive late.
All of it is in memory. Elsewhere: who asks (replica_pulls.py), who answers (replica_telling.py), how a promotion goes
about it (replica_control.py).
"""

import threading
from collections.abc import Callable, Collection
from datetime import datetime
from typing import NamedTuple

from tablewright.engine.catalog import Table
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.replica_group import Group

# How much longer a promise is kept than it is relied on: for answers under way, and clocks of different pace.
MARGIN = 1.25
# How long an announced promotion may take before promises are given again, should nobody come back.
WITHHELD_SECONDS = 60.0


class Moment(NamedTuple):
    """By both clocks: one may be set back, the other stands still while the machine sleeps."""

    told: float
    steady: float


class Promise(NamedTuple):
    """What another region has promised to the writer: since when, and whom it knew as members when it did."""

    since: Moment
    members: frozenset[str]


class Lease:
    """What a region was promised as a writer, and what it has promised to writers, by group of replicas."""

    def __init__(self, seconds: float, now: Callable[[], datetime], steady: Callable[[], float]) -> None:
        self.seconds = seconds
        self._now, self._steady = now, steady
        self._lock = threading.Lock()
        self._promises: dict[tuple[str, str], Promise] = {}
        self._promised: dict[str, float] = {}  # until when, by the steady clock
        self._withheld: dict[
            str, tuple[int, float]
        ] = {}  # from the writers up to which epoch, and until when
        self._begun = steady()

    def moment(self) -> Moment:
        return Moment(self._now().timestamp(), self._steady())

    # --- the writer ---

    def heard(self, group: str, by: str, since: Moment, members: Collection[str]) -> None:
        """Another region has promised; `since` is from before it was asked."""
        with self._lock:
            self._promises[group, by] = Promise(since, frozenset(members))

    def expects(self, group: str, by: str, here: str) -> None:
        """A replica is about to be made there: from now on it counts."""
        with self._lock:
            self._promises.setdefault((group, by), Promise(Moment(0.0, float("-inf")), frozenset((by, here))))

    def silent(self, group: Group) -> list[str]:
        """Those who keep this region from writing because they have not promised lately; none while it may write."""
        now = self.moment()
        counted = [one for one in group.readers if group.voters is None or one.region in group.voters]
        with self._lock:
            known = {
                one.region: promise
                for one in counted
                if (promise := self._promises.get((group.id, one.region))) is not None
            }
        fresh = {region for region, promise in known.items() if self._is_fresh(promise.since, now)}
        return [
            one.region
            for one in counted
            # One that is yet to be made cannot be promoted.
            if one.region not in fresh
            and not (one.status == "CREATING" and one.region not in known)
            and not _is_outvoted(known.get(one.region), fresh)
        ]

    def _is_fresh(self, since: Moment, now: Moment) -> bool:
        return now.told - since.told < self.seconds and now.steady - since.steady < self.seconds

    # --- the others ---

    def promise(self, group: Group, seconds: float) -> bool:
        """Promise the writer so much time; whether we do."""
        now = self._steady()
        with self._lock:
            epoch, until = self._withheld.get(group.id, (0, now))
            # More than we would wait for after a restart, when we have forgotten what we promised, is refused.
            if seconds > self.seconds or (group.epoch <= epoch and now < until):
                return False
            self._promised[group.id] = now + seconds * MARGIN
            return True

    def withhold(self, group: Group) -> float:
        """Promise the writer no more for a while, since another is to be; for how long what was promised holds."""
        now = self._steady()
        with self._lock:
            self._withheld[group.id] = group.epoch, now + WITHHELD_SECONDS
            return self._left(group.id, now)

    def left(self, group: str) -> float:
        """For how many seconds what was promised still holds."""
        with self._lock:
            return self._left(group, self._steady())

    def _left(self, group: str, now: float) -> float:
        return max(0.0, self._promised.get(group, self._begun + self.seconds * MARGIN) - now)


def _is_outvoted(promise: Promise | None, fresh: Collection[str]) -> bool:
    """Whether one that is silent cannot be promoted either, because too many of those it knows have promised."""
    return promise is not None and len(promise.members.intersection(fresh)) >= len(promise.members) // 2


def needed_for_promotion(members: int) -> int:
    """How many of so many replicas, the writer among them, have to agree to a promotion without it."""
    return members - members // 2


def may_write(lease: Lease | None, table: Table) -> bool:
    """Whether this region writes the table now."""
    group = table.replicas
    if group is None or group.writer is None or lease is None:
        return group is None or group.takes_writes
    return group.takes_writes and not lease.silent(group)


def needs_lease(table: Table) -> bool:
    """Whether this region writes the table as its one writer."""
    return table.replicas is not None and table.replicas.writer == table.replicas.region


def refuse_lapsed(lease: Lease, table: Table) -> None:
    """Refuse a write of a writer that others may already have given up."""
    assert table.replicas is not None, "a table without replicas needs no lease"
    silent = lease.silent(table.replicas)
    if silent:
        raise lapsed(table.name, table.replicas.region, silent, lease.seconds)


def doubt(lease: Lease, table: Table) -> ServiceError | None:
    """What to answer for a committed write whose lease has run out since it was taken; None if it has not."""
    assert table.replicas is not None, "a table without replicas needs no lease"
    silent = lease.silent(table.replicas)
    return unconfirmed(table.name, table.replicas.region, silent, lease.seconds) if silent else None


def refuse_promised(lease: Lease | None, table: Table) -> None:
    """Refuse a promotion without the writer while the writer may still rely on a promise; promise no more."""
    group = table.replicas
    if lease is None or group is None or group.writer in (None, group.region):
        return
    if group.region not in group.electorate:
        raise invalid(
            f"{table.name}: {group.region} has not heard from its writer {group.writer} since that was promoted, and "
            "cannot know whether it still writes. Wait until they are in touch, or start this region without --lease"
        )
    left = lease.withhold(group)
    if left > 0:
        raise invalid(
            f"{table.name}: {group.writer} may write for another {left:.1f} s, as {group.region} has promised it; "
            "wait for that long"
        )


def lapsed(table: str, region: str, silent: Collection[str], seconds: float) -> ServiceError:
    """A write to a writer that is cut off. Ours: the service has no writers."""
    return ServiceError(
        "ReplicaLeaseLapsedException",
        f"Table {table} takes no writes in {region} for now: {', '.join(silent)} did not confirm in the last "
        f"{seconds:g} s that it is the writer, and another region may have been promoted. It goes on by itself once it "
        "is in touch again",
    )


def unconfirmed(table: str, region: str, silent: Collection[str], seconds: float) -> ServiceError:
    """A write that stands here, and perhaps nowhere else.

    The service's error for what may or may not have happened: SDKs try again, and meet the refusal above, or a writer
    that is in touch again. A refusal would say that nothing was written.
    """
    return ServiceError(
        "InternalServerError",
        f"Table {table}: it is not known whether this write holds. Before it was on disk in {region} the lease of the "
        f"writer had run out: {', '.join(silent)} did not confirm in the last {seconds:g} s that it is the writer, and "
        "another region may have been promoted",
        status=500,
    )
