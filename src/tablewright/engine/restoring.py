"""Restoring: a new table with the definition of another and the items it had at some moment.

The table is there at once, CREATING, and a labour fills it from the past, its indexes with it, in the order of keys.
Must hold: the last key that is in and the items up to it commit together, so a restart goes on behind it. What a
restore does not bring back is as on the service: tags, TTL, stream, recovery, protection, table class.
Elsewhere: which state it is (recovery.py, backups.py), how it is read (history.py), how items get in (filling.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tablewright.engine import storage_history as past
from tablewright.engine.catalog import Catalog, Index, Table, Throughput, describe, to_json
from tablewright.engine.definitions import (
    BILLING_MODE,
    ENCRYPTION,
    GLOBAL_INDEX,
    LOCAL_INDEX,
    ON_DEMAND,
    PROVISIONED,
    ceilings,
    global_index,
    local_indexes,
    merged_ceilings,
    refuse_clashes,
    refuse_encryption,
    throughput,
)
from tablewright.engine.doors import Doors, EngineClosed
from tablewright.engine.errors import ServiceError, invalid, limit_exceeded
from tablewright.engine.filling import fill, step_of
from tablewright.engine.history import items_at, release
from tablewright.engine.limits import RESTORES_AT_ONCE
from tablewright.engine.shapes import ListOf, Request, Shape
from tablewright.engine.storage_history import Kept
from tablewright.engine.writing import Writing

# What both verbs that restore may say besides.
OVERRIDES: dict[str, Shape] = {
    "BillingModeOverride": BILLING_MODE,
    "GlobalSecondaryIndexOverride": ListOf(GLOBAL_INDEX),
    "LocalSecondaryIndexOverride": ListOf(LOCAL_INDEX),
    "ProvisionedThroughputOverride": PROVISIONED,
    "OnDemandThroughputOverride": ON_DEMAND,
    "SSESpecificationOverride": ENCRYPTION,
}


def hold_name(table: int) -> str:
    return f"restore {table}"


# --- the new table ---


def refuse_target(tables: Catalog, name: str) -> None:
    table = tables.get(name)
    if table is None:
        return
    if table.status == "CREATING" and table.restored is not None:
        backup = table.restored.get("SourceBackupArn")
        source = f"table: {table.restored['SourceTableArn']}" if backup is None else f"backup: {backup}"
        raise ServiceError("TableInUseException", f"Table: {name} is already being restored from {source}")
    raise ServiceError("TableAlreadyExistsException", f"Table already exists: {name}")


def refuse_many(writing: Writing) -> None:
    if len(past.restores(writing.rows)) >= RESTORES_AT_ONCE:
        raise limit_exceeded(
            f"Subscriber limit exceeded: Only {RESTORES_AT_ONCE} restore operations can be done simultaneously"
        )


def like(source: Table, request: Request) -> Table:
    """The definition of `source` with what the request overrides; who and where it is comes later."""
    refuse_encryption(request.get("SSESpecificationOverride"))
    mode = request.get("BillingModeOverride") or source.billing
    _check_billing(request, mode)
    indexes = [
        *_overridden(source, request.get("LocalSecondaryIndexOverride"), True, mode),
        *_overridden(source, request.get("GlobalSecondaryIndexOverride"), False, mode),
    ]
    indexes = [replace(index, number=number) for number, index in enumerate(indexes, 1)]
    refuse_clashes(indexes)
    used = set(source.schema.names).union(*(index.schema.names for index in indexes))
    units = request.get("ProvisionedThroughputOverride")
    kept = Throughput(source.throughput.read, source.throughput.write)
    asked = ceilings(request.get("OnDemandThroughputOverride"), mode, "table")
    return Table(
        number=0,
        name="",
        uuid="",
        arn="",
        created=0.0,
        schema=source.schema,
        types={name: kind for name, kind in source.types.items() if name in used},
        indexes=tuple(indexes),
        next_index=len(indexes) + 1,
        billing=mode,
        throughput=Throughput() if mode == "PAY_PER_REQUEST" else throughput(units) if units else kept,
        on_demand=merged_ceilings(source.on_demand, asked) if mode == "PAY_PER_REQUEST" else None,
    )


def _check_billing(request: Request, mode: str) -> None:
    units = request.get("ProvisionedThroughputOverride")
    if units is not None and mode != "PROVISIONED":
        raise invalid("Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED")
    if units is None and request.get("BillingModeOverride") == "PROVISIONED":
        raise invalid("Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED")
    if mode != "PAY_PER_REQUEST":
        for member, value in (request.get("OnDemandThroughputOverride") or {}).items():
            if value is not None and member in ON_DEMAND.members:
                raise invalid(
                    f"Cannot override {member} for OnDemandThroughput unless BillingModeOverride is PAY_PER_REQUEST"
                )


def _overridden(source: Table, asked: Sequence[Request] | None, local: bool, mode: str) -> Iterator[Index]:
    """The indexes of one kind: all there were, or those asked for, which may have new names and throughput."""
    there = [index for index in source.indexes if index.local is local]
    if asked is None:
        for index in there:
            by_request = mode == "PAY_PER_REQUEST"
            units = Throughput() if by_request else Throughput(index.throughput.read, index.throughput.write)
            yield replace(
                index,
                status="ACTIVE",
                backfill=None,
                throughput=units,
                on_demand=index.on_demand if by_request else None,
                warm=None,
            )
        return
    for one in asked:
        name, has_units = one["IndexName"], one.get("ProvisionedThroughput") is not None
        if not local and mode == "PROVISIONED" and not has_units:
            raise invalid(f"Must specify provisioned throughput for index {name}")
        if not local and mode == "PAY_PER_REQUEST" and has_units:
            raise invalid(
                "Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST "
                f"for index {name}"
            )
        try:
            made = (
                local_indexes([one], source.schema, source.types)[0]
                if local
                else global_index(one, 0, source.types, mode)
            )
        except ServiceError:
            made = None
        if made is None or not any(_is_same(made, index) for index in there):
            raise invalid(
                f"Index {name} does not match a secondary index that existed in the source table "
                "and cannot be created during the restore operation"
            )
        yield made


def _is_same(one: Index, other: Index) -> bool:
    mine = (one.schema, one.projection, sorted(one.included))
    return mine == (other.schema, other.projection, sorted(other.included))


def create(writing: Writing, table: Table, name: str, summary: dict[str, Any]) -> Table:
    """The new table, still empty; who reads the past for it holds on to it under `hold_name`."""
    place = writing.place
    table = replace(
        table,
        name=name,
        uuid=writing.world.new_id(),
        arn=f"arn:aws:dynamodb:{place.region}:{place.account}:table/{name}",
        created=writing.now(),
        on_demand_since=writing.now() if table.billing == "PAY_PER_REQUEST" else None,
        status="CREATING",
        is_filled=True,
        restored=summary,
    )
    table = replace(table, number=writing.rows.create_table(name, to_json(table)))
    for index in table.indexes:
        writing.rows.create_index(table.number, index.number)
    if table.has_local_indexes:
        writing.rows.create_collections(table.number)
    past.save_restore(writing.rows, table.number, b"")
    writing.add_table(table)
    writing.is_owing = True
    return table


def shown(writing: Writing, table: Table) -> dict[str, Any]:
    return {"TableDescription": describe(table, writing.rows)}


# --- filling it ---


@dataclass(slots=True)
class _Filling:
    """A restore under way: what it has read and not yet written is in `rest`."""

    table: int
    pages: Iterator[list[Kept]]
    rest: list[Kept] = field(default_factory=list)


def fill_some(doors: Doors) -> bool:
    """A labour: put some more items into a table that is being restored; False when none is."""
    under_way = doors.read(lambda reading: past.restores(reading.rows))
    if not under_way:
        return False
    table, done = under_way[0]
    filling = doors.memory.pop("restore", None)
    if not isinstance(filling, _Filling) or filling.table != table:
        filling = _Filling(table, items_at(doors, hold_name(table), done))
    try:
        is_done = _fill(doors, filling)
    except (ServiceError, EngineClosed):
        raise
    except Exception:
        # What is to be restored cannot be read: that will not get better, and half a table is none.
        doors.write(lambda writing: _fail(writing, table))
        raise
    if not is_done:
        doors.memory["restore"] = filling
    return True


def _fill(doors: Doors, filling: _Filling) -> bool:
    if not filling.rest:
        filling.rest = next(filling.pages, [])
    if not filling.rest:
        doors.write(lambda writing: _finish(writing, filling.table))
        return True

    def put(writing: Writing) -> int:
        table = _restored(writing, filling.table)
        items = filling.rest[: step_of(table)]
        fill(writing, table, items)
        past.save_restore(writing.rows, table.number, items[-1].key)
        return len(items)

    filling.rest = filling.rest[doors.write(put) :]
    return False


def _restored(writing: Writing, number: int) -> Table:
    return next(table for table in writing.tables.values() if table.number == number)


def _finish(writing: Writing, number: int) -> None:
    writing.save_table(replace(_restored(writing, number), status="ACTIVE"))
    past.forget_restore(writing.rows, number)
    release(writing, hold_name(number))


def _fail(writing: Writing, number: int) -> None:
    """Take back a table that cannot be restored; the log says why."""
    table = _restored(writing, number)
    for name in table.sql_tables():
        writing.forget_counts(name)
    writing.rows.doom(table.sql_tables())
    writing.forget_table(table)
    past.forget_restore(writing.rows, number)
    release(writing, hold_name(number))


def is_being_restored(tables: Catalog, backup: str) -> bool:
    """Whether a table is being filled from that backup."""
    return any(
        table.status == "CREATING"
        and table.restored is not None
        and table.restored.get("SourceBackupArn") == backup
        for table in tables.values()
    )
