"""Restoring: a new table with the definition of another and the items it had at some moment.

The table is created at once, CREATING, and a job loads the items and index entries, in key order.
Must hold: the last loaded key commits with the items up to it, so a restart continues after it. As on the service, a
restore brings back the encryption key, but not tags, TTL, stream, recovery, protection, table class, resource policy,
Kinesis destinations and contributor insights.
Elsewhere: which state it is (pitr_window.py, backups.py), reading it (time_travel.py), loading (bulk_load.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tablewright.engine.api.encryption import requested_key
from tablewright.engine.api.shapes import ListOf, Request, Shape
from tablewright.engine.api.table_definitions import (
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
    refuse_many,
    throughput,
)
from tablewright.engine.api.vector_indexes import (
    VECTOR_INDEX,
    refuse_provisioned,
    refuse_same_names,
    vector_index,
)
from tablewright.engine.api.vector_indexes import refuse_many as refuse_many_vectors
from tablewright.engine.background.session import Session
from tablewright.engine.catalog import Catalog, Index, Table, Throughput, describe
from tablewright.engine.errors import ServiceError, invalid, limit_exceeded
from tablewright.engine.history import store
from tablewright.engine.history.bulk_load import create_rows, drop_unloaded, insert_items, numbered, step_of
from tablewright.engine.history.store import StoredItem
from tablewright.engine.history.time_travel import StateReader, items_as_of, read_step, release
from tablewright.engine.limits import RESTORES_AT_ONCE
from tablewright.engine.transaction import EngineContext, WriteTransaction
from tablewright.engine.vectors.definition import VectorIndex

NOT_OF_THE_SOURCE = (
    "Index {} does not match a secondary index that existed in the source table "
    "and cannot be created during the restore operation"
)
# Members that both restoring verbs have.
OVERRIDES: dict[str, Shape] = {
    "BillingModeOverride": BILLING_MODE,
    "GlobalSecondaryIndexOverride": ListOf(GLOBAL_INDEX),
    "LocalSecondaryIndexOverride": ListOf(LOCAL_INDEX),
    "ProvisionedThroughputOverride": PROVISIONED,
    "OnDemandThroughputOverride": ON_DEMAND,
    "SSESpecificationOverride": ENCRYPTION,
    "VectorIndexOverride": ListOf(VECTOR_INDEX),
}


def pin_name(table: int) -> str:
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


def refuse_too_many(txn: WriteTransaction) -> None:
    if len(store.restores(txn.rows)) >= RESTORES_AT_ONCE:
        raise limit_exceeded(
            f"Subscriber limit exceeded: Only {RESTORES_AT_ONCE} restore operations can be done simultaneously"
        )


def definition_from(place: EngineContext, source: Table, request: Request) -> Table:
    """The definition of `source` with the request's overrides; name, number and ARN are set by `create`."""
    mode = request.get("BillingModeOverride") or source.billing
    _check_billing(request, mode)
    indexes = [
        *_overridden(source, request.get("LocalSecondaryIndexOverride"), True, mode),
        *_overridden(source, request.get("GlobalSecondaryIndexOverride"), False, mode),
    ]
    indexes = [replace(index, number=number) for number, index in enumerate(indexes, 1)]
    refuse_many(indexes)
    refuse_clashes(indexes)
    vectors = _vectors(source, request.get("VectorIndexOverride"), mode)
    vectors = [replace(index, number=number) for number, index in enumerate(vectors, len(indexes) + 1)]
    refuse_many_vectors(vectors)
    refuse_same_names(indexes, vectors)
    units = request.get("ProvisionedThroughputOverride")
    same_units = Throughput(source.throughput.read, source.throughput.write)
    asked = ceilings(request.get("OnDemandThroughputOverride"), mode, "table")
    encryption = request.get("SSESpecificationOverride")
    return Table(
        number=0,
        name="",
        uuid="",
        arn="",
        created=0.0,
        schema=source.schema,
        types=source.types,
        indexes=tuple(indexes),
        vectors=tuple(vectors),
        next_index=len(indexes) + len(vectors) + 1,
        billing=mode,
        throughput=Throughput() if mode == "PAY_PER_REQUEST" else throughput(units) if units else same_units,
        on_demand=merged_ceilings(source.on_demand, asked) if mode == "PAY_PER_REQUEST" else None,
        encryption=source.encryption if encryption is None else requested_key(encryption, place),
    ).with_used_types()


def _vectors(source: Table, asked: Sequence[Request] | None, mode: str) -> list[VectorIndex]:
    """The vector indexes: all of the source, or those in the request, each like one of the source."""
    made = [replace(index, status="ACTIVE", backfill=None) for index in source.vectors]
    if asked is not None:
        made = [_like_one_of(source, one) for one in asked]
    if made:
        refuse_provisioned(mode)
    return made


def _like_one_of(source: Table, asked: Request) -> VectorIndex:
    try:
        made = vector_index(asked, 0, source.types)
    except ServiceError:
        made = None
    if made is None or not any(made.is_like(index) for index in source.vectors):
        raise invalid(NOT_OF_THE_SOURCE.format(asked["IndexName"]))
    return made


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
    """The local or the global indexes: all of the source, or those in the request, with new names and throughput."""
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
            raise invalid(NOT_OF_THE_SOURCE.format(name))
        yield made


def _is_same(one: Index, other: Index) -> bool:
    mine = (one.schema, one.projection, sorted(one.included))
    return mine == (other.schema, other.projection, sorted(other.included))


def create(txn: WriteTransaction, table: Table, name: str, summary: dict[str, Any]) -> Table:
    """The new table, still empty; the caller pins the state to restore under `pin_name`."""
    place = txn.place
    table = replace(
        table,
        name=name,
        uuid=txn.world.new_id(),
        arn=f"arn:aws:dynamodb:{place.region}:{place.account}:table/{name}",
        created=txn.now_seconds(),
        on_demand_since=txn.now_seconds() if table.billing == "PAY_PER_REQUEST" else None,
        status="CREATING",
        is_filled=True,
        restored=summary,
    )
    table = create_rows(txn, table)
    store.save_restore(txn.rows, table.number, b"")
    txn.add_table(table)
    txn.has_background_work = True
    return table


def described(txn: WriteTransaction, table: Table) -> dict[str, Any]:
    return {"TableDescription": describe(table, txn.rows)}


# --- loading it ---


def fill_batch(session: Session) -> bool:
    """A job: load a batch of items into a table that is being restored; False when there is none."""
    under_way = session.read(lambda txn: store.restores(txn.rows))
    if under_way:
        table, done = under_way[0]
        begin = partial(items_as_of, session, pin_name(table), done)
        read_step(session, "restore", table, begin, _fill, _fail)
    return bool(under_way)


def _fill(session: Session, filling: StateReader[list[StoredItem]]) -> bool:
    if not filling.rest:
        filling.rest = next(filling.pages, [])
    if not filling.rest:
        session.write(lambda txn: _finish(txn, filling.number))
        return True

    def put(txn: WriteTransaction) -> int:
        table = numbered(txn.tables, filling.number)
        items = filling.rest[: step_of(table)]
        insert_items(txn, table, items)
        store.save_restore(txn.rows, table.number, items[-1].key)
        return len(items)

    filling.rest = filling.rest[session.write(put) :]
    return False


def _finish(txn: WriteTransaction, number: int) -> None:
    txn.save_table(replace(numbered(txn.tables, number), status="ACTIVE"))
    store.forget_restore(txn.rows, number)
    release(txn, pin_name(number))


def _fail(txn: WriteTransaction, number: int) -> bool:
    """Drop a table that cannot be restored; the reason is in the log."""
    drop_unloaded(txn, numbered(txn.tables, number))
    store.forget_restore(txn.rows, number)
    release(txn, pin_name(number))
    return True


def is_being_restored(tables: Catalog, backup: str) -> bool:
    """Whether a table is being restored from that backup."""
    return any(
        table.status == "CREATING"
        and table.restored is not None
        and table.restored.get("SourceBackupArn") == backup
        for table in tables.values()
    )
