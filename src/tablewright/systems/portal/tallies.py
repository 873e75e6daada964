"""Numbers of tenants, products and campaigns, kept from the streams and compared with a real count every day (CP-D56).

A consumer reads each table's stream; a change is counted once however often it is delivered. The daily reconciliation
corrects what can still go wrong (a stream that was off, a consumer stopped for more than a day).
Must hold: a tally is corrected only if it did not change during the count, two counts in a row found the same
difference, and no change is waiting to be counted: that one would be counted twice.
"""

from collections.abc import Callable, Mapping
from typing import Any, get_args

from tablewright.design import Entity
from tablewright.mapping import Consumer, NoStream, Stale
from tablewright.mapping.consumer.records import Change
from tablewright.systems.portal import design as d
from tablewright.systems.portal.model import ACTIVE, INACTIVE, Activatable, Kind, Status, Tally, Tenant
from tablewright.systems.portal.repository import Repository

KINDS: tuple[Kind, ...] = ("tenants", "products", "campaigns")
COUNT_ATTEMPTS = 5


def sort_of(record: Activatable) -> str:
    """The sort a record is counted as: an active tenant by its status, anything else as ACTIVE or INACTIVE."""
    if not record.active:
        return INACTIVE
    return record.status if isinstance(record, Tenant) else ACTIVE


def on_change(repository: Repository, kind: Kind, change: Change[Any]) -> bool:
    """Count a change of a root record; False if it makes no difference or was counted already."""
    before, after = (
        sort_of(record) if record is not None else None for record in (change.before, change.after)
    )
    if before == after:
        return False
    write = d.tallies.upsert(Tally(of=kind, changed_at=repository.now()))
    write = write.at(lambda tally: tally.changed_at).set(repository.now())
    if before is not None:
        write = write.at(lambda tally: tally.counts[before]).add(-1)
    if after is not None:
        write = write.at(lambda tally: tally.counts[after]).add(1)
    return not repository.db.write(write, once=f"tally/{change.event_id}").repeated


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


def reconcile(repository: Repository, kind: Kind) -> dict[str, int]:
    """Compare a tally with a real count and correct it; the correction of each sort that was wrong.

    A change in progress makes the two differ for a moment; the count is then repeated, a few times. Waiting changes are
    checked after the count, and the write requires the tally as it was before it: so every change that the count saw
    and that will ever be tallied is already in that tally.
    """
    off: Mapping[str, int] | None = None
    for _ in range(COUNT_ATTEMPTS):
        before, _ = repository.db.get_or_create(d.tallies.create(Tally(of=kind, changed_at=repository.now())))
        seen = off
        off = _differences(counted(repository, kind), before.counts)
        if off and (off != seen or _is_behind(repository, kind)):
            continue
        counts = {
            sort: n for sort in {*before.counts, *off} if (n := before.counts.get(sort, 0) + off.get(sort, 0))
        }
        after = before.model_copy(update={"counts": counts, "reconciled_at": repository.now()})
        try:
            repository.db.write(d.tallies.change(before, after))
            return dict(off)
        except Stale:
            off = None
    return {}


def _is_behind(repository: Repository, kind: Kind) -> bool:
    """Whether a change is waiting to be counted. Changes older than a day are no longer in the stream."""
    try:
        return consumer_of(repository, kind).is_behind()
    except NoStream:
        return False  # it was switched off: then only this reconciliation counts


def _differences(real: Mapping[str, int], kept: Mapping[str, int]) -> dict[str, int]:
    return {
        sort: real.get(sort, 0) - kept.get(sort, 0)
        for sort in sorted({*real, *kept})
        if real.get(sort, 0) != kept.get(sort, 0)
    }


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
