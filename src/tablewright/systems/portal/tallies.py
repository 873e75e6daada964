"""Numbers of tenants, products and campaigns, kept from the streams and compared with a real count every day (CP-D56).

A consumer reads each stream. The daily reconciliation corrects what can still go wrong (a stream that was off, a
consumer stopped for more than a day).
Elsewhere: counting a change once, and when a tally may be corrected (kit/counters.py).
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, get_args

from tablewright.design import Entity
from tablewright.kit.counters import Counters, additions
from tablewright.mapping import Change, Consumer
from tablewright.systems.portal import design as d
from tablewright.systems.portal.model import ACTIVE, INACTIVE, Activatable, Kind, Status, Tally, Tenant
from tablewright.systems.portal.repository import Repository

KINDS: tuple[Kind, ...] = ("tenants", "products", "campaigns")
COUNTS = Counters(d.tallies, "tally", within="counts")
RECONCILE_AFTER = timedelta(days=1)


def sort_of(record: Activatable) -> str:
    """The sort a record is counted as: an active tenant by its status, anything else as ACTIVE or INACTIVE."""
    if not record.active:
        return INACTIVE
    return record.status if isinstance(record, Tenant) else ACTIVE


def on_change(repository: Repository, kind: Kind, change: Change[Any]) -> bool:
    """Count a change of a root record; False if it makes no difference or was counted already."""
    now = repository.now()
    write = d.tallies.upsert(Tally(of=kind, changed_at=now)).at(lambda tally: tally.changed_at).set(now)
    return COUNTS.count(repository.db, change, write, additions(change, lambda record: {sort_of(record): 1}))


def tally_of(repository: Repository, kind: Kind) -> Tally:
    """The stored tally; an empty one if nothing was counted yet."""
    found = repository.db.one(d.tallies.get(kind))
    return found if found is not None else Tally(of=kind, changed_at=repository.now())


def counted(repository: Repository, kind: Kind) -> dict[str, int]:
    """A real count: reads every record of the kind."""
    is_active = True
    db = repository.db
    if kind == "tenants":
        by_status = {
            status: db.count(
                d.tenants_by_status(status=status).where(lambda tenant: tenant.active == is_active)
            )
            for status in get_args(Status)
        }
        return {**by_status, INACTIVE: db.count(d.tenants_by_active(active=False), deleted=True)}
    by_active: Callable[..., Any] = d.products_by_active if kind == "products" else d.campaigns_by_active
    return {
        ACTIVE: db.count(by_active(active=True)),
        INACTIVE: db.count(by_active(active=False), deleted=True),
    }


def reconcile_due(repository: Repository) -> dict[Kind, dict[str, int]]:
    """Compare each tally that was not compared for a day; the corrections made.

    A tally that could not be compared, because changes kept coming, is due again at once.
    """
    return {kind: reconcile(repository, kind) for kind in KINDS if _is_due(repository, kind)}


def _is_due(repository: Repository, kind: Kind) -> bool:
    last = tally_of(repository, kind).reconciled_at
    return last is None or repository.now() - last >= RECONCILE_AFTER


def reconcile(repository: Repository, kind: Kind) -> dict[str, int]:
    """Compare a tally with a real count and correct it; the correction of each sort that was wrong."""
    now = repository.now()
    corrections = COUNTS.reconcile(
        repository.db,
        [Tally(of=kind, changed_at=now)],
        lambda tally: counted(repository, tally.of),
        consumer_of(repository, kind),
        reconciled_at=now,
    )
    return dict(next(iter(corrections), {}))


def consumer_of(repository: Repository, kind: Kind, *further: Callable[[Change[Any]], object]) -> Consumer:
    """The consumer that keeps a kind's tally and calls `further` with each change."""
    entities: Mapping[Kind, Entity[Any, Any]] = {
        "tenants": d.tenants, "products": d.products, "campaigns": d.campaigns,
    }  # fmt: skip

    def handle(change: Change[Any]) -> None:
        on_change(repository, kind, change)
        for each in further:
            each(change)

    return Consumer(repository.db, [entities[kind]], kind, "portal", handle)
