"""UpdateTable: change settings of a table, add or drop one global index.

A new index is CREATING until the items that existed before it are backfilled (background/maintenance.py); new writes
update it from the start. A dropped index is gone at once. A stream begins with the next change. Settings that replicas
share (billing, throughput, indexes) are copied by the other regions (replication/apply.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tablewright.engine.api import table_definitions as definitions
from tablewright.engine.api import vector_indexes
from tablewright.engine.api.common_members import FLAG, INDEX_NAME, TABLE_NAME
from tablewright.engine.api.encryption import requested_key, with_changed_key
from tablewright.engine.api.operation import write_verb
from tablewright.engine.api.replica_updates import (
    REPLICA_UPDATES,
    asked_action,
    shown_at_once,
    with_replica_change,
)
from tablewright.engine.api.shapes import Answer, ListOf, Request, Shape, Struct, Text
from tablewright.engine.api.tables import settled_table
from tablewright.engine.catalog import Index, Table, Throughput, describe
from tablewright.engine.errors import invalid, invalid_parameter, limit_exceeded, resource_not_found
from tablewright.engine.storage.rows import index_name
from tablewright.engine.streams.shards import close_stream, open_stream
from tablewright.engine.transaction import WriteTransaction
from tablewright.engine.vectors import entries as vector_entries

INDEX_UPDATE = Struct(
    "GlobalSecondaryIndexUpdate",
    {
        "Update": Struct(
            "UpdateGlobalSecondaryIndexAction",
            {
                "IndexName": INDEX_NAME,
                "ProvisionedThroughput": definitions.PROVISIONED,
                "OnDemandThroughput": definitions.ON_DEMAND,
                "WarmThroughput": definitions.WARM,
            },
            required=("IndexName",),
        ),
        "Create": replace(definitions.GLOBAL_INDEX, name="CreateGlobalSecondaryIndexAction"),
        "Delete": Struct(
            "DeleteGlobalSecondaryIndexAction", {"IndexName": INDEX_NAME}, required=("IndexName",)
        ),
    },
)

CHANGES: Mapping[str, Shape] = {
    "BillingMode": definitions.BILLING_MODE,
    "ProvisionedThroughput": definitions.PROVISIONED,
    "GlobalSecondaryIndexUpdates": ListOf(INDEX_UPDATE),
    "StreamSpecification": definitions.STREAM,
    "SSESpecification": definitions.ENCRYPTION,
    "TableClass": Text(),
    "DeletionProtectionEnabled": FLAG,
    "OnDemandThroughput": definitions.ON_DEMAND,
    "WarmThroughput": definitions.WARM,
    "ReplicaUpdates": REPLICA_UPDATES,
    "VectorIndexUpdates": ListOf(vector_indexes.VECTOR_INDEX_UPDATE),
}
# Changes that all replicas get; table class, protection and the like are each region's own.
_SHARED = {
    "BillingMode",
    "ProvisionedThroughput",
    "GlobalSecondaryIndexUpdates",
    "OnDemandThroughput",
    "VectorIndexUpdates",
}
# Lists of changes: an empty one changes nothing.
_LISTS = {"GlobalSecondaryIndexUpdates", "VectorIndexUpdates"}
# Changes that must be the only one in their request.
_ALONE = {
    "ReplicaUpdates": "Replica modification",
    "TableClass": "TableClass modification",
    "DeletionProtectionEnabled": "DeletionProtection modification",
    "WarmThroughput": "WarmThroughput",
    "SSESpecification": "Server-Side Encryption modification",
}


@write_verb(
    "UpdateTable",
    {"AttributeDefinitions": definitions.ATTRIBUTE_DEFINITIONS, "TableName": TABLE_NAME, **CHANGES},
    required=("TableName",),
    refused=(
        "MultiRegionConsistency",
        "GlobalTableWitnessUpdates",
        "GlobalTableSettingsReplicationMode",
        "DisassociationProtectionEnabled",
    ),
)
def update_table(txn: WriteTransaction, request: Request) -> Answer:
    given = {member for member in CHANGES if request.get(member) is not None}
    if given <= _LISTS and not any(request[member] for member in given):
        raise invalid(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates "
            "or SSESpecification or ReplicaUpdates is required"
        )
    for member, words in _ALONE.items():
        if member in given and len(given) > 1:
            raise invalid_parameter(f"{words} must be the only operation in the request")
    if "ReplicaUpdates" in given:
        return _update_replicas(txn, request)
    if "SSESpecification" in given:
        return _update_encryption(txn, request)
    stream = request.get("StreamSpecification")
    definitions.stream_view(stream, definitions.STREAM_CHANGE)
    actions = [_only_action(one) for one in request.get("GlobalSecondaryIndexUpdates") or ()]
    _refuse_twice(actions)
    searched = vector_indexes.actions_of(request.get("VectorIndexUpdates"))
    _refuse_stream_company(request, actions)
    before = settled_table(txn.tables, request)
    _refuse_same_stream(before, stream)
    now = txn.now_seconds()
    table = _with_billing(before, request, actions, now)
    table = _with_settings(table, request, now)
    _refuse_second_index(before, actions)
    vector_indexes.refuse_named_while_created(before, searched)
    changing = sum(kind != "Update" for kind, _ in actions)
    vector_indexes.refuse_second_vector(before, searched, changing)
    described = table
    for kind, asked in actions:
        if kind == "Create":
            table = described = _with_new_index(txn, table, asked, request)
        elif kind == "Update":
            table = described = _with_changed_index(table, asked, now)
        else:
            described = table.with_index(replace(_named_index(table, asked), status="DELETING"))
            table = table.without_index(asked["IndexName"])
    table, described = _with_vectors(txn, table, described, searched, request)
    if stream is not None:
        view = stream.get("StreamViewType")
        table = close_stream(txn, table) if view is None else open_stream(txn, table, view)
        described = replace(described, stream_label=table.stream_label, stream_view=table.stream_view)
    if table.replicas is not None and given & _SHARED:
        table = replace(table, replicas=table.replicas.with_settings_changed(txn.position.at))
    description = describe(described, txn.rows, "UPDATING")
    txn.save_table(table)
    follow_catalog(txn, before, table)
    return {"TableDescription": description}


def _with_vectors(
    txn: WriteTransaction,
    table: Table,
    described: Table,
    actions: Sequence[tuple[str, Request]],
    request: Request,
) -> tuple[Table, Table]:
    """The table after changes of its vector indexes, and as the answer describes it. Deletes come first."""
    for kind, asked in sorted(actions, key=lambda action: action[0] == "Create"):
        if kind == "Delete":
            gone = vector_indexes.named_vector(table, asked)
            described = described.with_vector(replace(gone, status="DELETING", backfill=None))
            table = table.without_vector(gone.name)
        else:
            table = vector_indexes.with_new_vector(txn, table, asked, request)
            described = replace(described, types=table.types).with_vector(table.vectors[-1])
    return table, described


def _update_replicas(txn: WriteTransaction, request: Request) -> Answer:
    kind, asked = asked_action(request["ReplicaUpdates"])
    table = with_replica_change(txn, settled_table(txn.tables, request), kind, asked)
    txn.save_table(table)
    described = describe(table, txn.rows, "UPDATING")
    return {"TableDescription": shown_at_once(described, kind, asked["RegionName"])}


def _update_encryption(txn: WriteTransaction, request: Request) -> Answer:
    """The table stays ACTIVE; the answer shows the key it had, as being changed."""
    asked, place = request["SSESpecification"], txn.place
    requested_key(asked, place)
    before = settled_table(txn.tables, request)
    txn.save_table(with_changed_key(before, asked, place))
    description = describe(before, txn.rows)
    description["SSEDescription"] = {**description.get("SSEDescription", {}), "Status": "UPDATING"}
    return {"TableDescription": description}


def _refuse_stream_company(request: Request, actions: Sequence[tuple[str, Request]]) -> None:
    if request.get("StreamSpecification") is None:
        return
    if request.get("ProvisionedThroughput") is not None or request.get("BillingMode") is not None:
        raise invalid_parameter("You cannot modify stream status while updating table IOPS")
    if any(kind != "Update" for kind, _ in actions):
        raise invalid_parameter("You cannot create or delete index while changing stream status")


def _refuse_same_stream(table: Table, asked: Request | None) -> None:
    if asked is None:
        return
    if not asked["StreamEnabled"] and table.replicas is not None and table.replicas.others:
        raise invalid_parameter("Disabling Stream is not allowed for a Global Table replica.")
    if asked["StreamEnabled"] and table.stream_view is not None:
        raise invalid(f"Table already has an enabled stream: TableName: {table.name}")
    if not asked["StreamEnabled"] and table.stream_view is None:
        raise invalid(f"Table has no stream to disable: TableName: {table.name}")


def follow_catalog(txn: WriteTransaction, before: Table, table: Table) -> None:
    """Create and drop SQL tables of indexes as the catalog has changed, when nothing can be refused any more."""
    old, new = ({index.number for index in one.every_index} for one in (before, table))
    searched = {index.number: index for index in table.vectors}
    for number in new - old:
        if number in searched:
            vector_entries.create(txn.rows, table, searched[number])
        else:
            txn.rows.create_index(table.number, number)
    for number in old - new:
        name = index_name(table.number, number)
        txn.forget_counts(name)
        txn.rows.schedule_drop([name])


# --- settings ---


def _with_billing(
    table: Table, request: Request, actions: Sequence[tuple[str, Request]], now: float
) -> Table:
    mode, units = request.get("BillingMode"), request.get("ProvisionedThroughput")
    if mode is not None and mode != table.billing:
        if table.vectors:
            vector_indexes.refuse_provisioned(mode)
        if mode == "PROVISIONED" and units is None:
            raise invalid_parameter("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
        definitions.check_billing(mode, units)
        if mode == "PAY_PER_REQUEST":
            indexes = tuple(replace(index, throughput=Throughput()) for index in table.indexes)
            return replace(table, billing=mode, on_demand_since=now, throughput=Throughput(), indexes=indexes)
        named = {
            asked["IndexName"]
            for kind, asked in actions
            if kind == "Update" and asked.get("ProvisionedThroughput")
        }
        for index in table.indexes:
            if not index.local and index.name not in named:
                raise invalid_parameter(f"ProvisionedThroughput must be specified for index: {index.name}")
        indexes = tuple(replace(index, on_demand=None) for index in table.indexes)
        return replace(
            table, billing=mode, on_demand=None, throughput=definitions.throughput(units), indexes=indexes
        )
    if units is None:
        return table
    definitions.check_billing(table.billing, units)
    asked = definitions.throughput(units)
    if (asked.read, asked.write) == (table.throughput.read, table.throughput.write):
        raise invalid(
            "The provisioned throughput for the table will not change. The requested value equals the current value. "
            f"Current ReadCapacityUnits provisioned for the table: {table.throughput.read}. "
            f"Requested ReadCapacityUnits: {asked.read}. "
            f"Current WriteCapacityUnits provisioned for the table: {table.throughput.write}. "
            f"Requested WriteCapacityUnits: {asked.write}. "
            "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
        )
    return replace(table, throughput=_moved(table.throughput, asked, now))


def _moved(old: Throughput, new: Throughput, now: float) -> Throughput:
    """The new units with the times of the last increase and decrease; days are UTC."""
    rose = new.read > old.read or new.write > old.write
    fell = new.read < old.read or new.write < old.write
    same_day = old.decreased is not None and old.decreased // 86_400 == now // 86_400
    return Throughput(
        new.read,
        new.write,
        now if rose else old.increased,
        now if fell else old.decreased,
        (old.decreases_today if same_day else 0) + fell,
    )


def _with_settings(table: Table, request: Request, now: float) -> Table:
    new_class = definitions.table_class(request.get("TableClass"))
    if new_class is not None and new_class != table.table_class:
        table = replace(table, table_class=new_class, class_updated=now)
    if request.get("DeletionProtectionEnabled") is not None:
        table = replace(table, protected=request["DeletionProtectionEnabled"])
    asked = definitions.ceilings(request.get("OnDemandThroughput"), table.billing, "table")
    if asked is not None:
        table = replace(table, on_demand=definitions.merged_ceilings(table.on_demand, asked))
    return definitions.with_warm(table, table, request.get("WarmThroughput"))


# --- indexes ---


def _only_action(one: Request) -> tuple[str, Request]:
    given = [(kind, one[kind]) for kind in ("Create", "Update", "Delete") if one.get(kind) is not None]
    if len(given) != 1:
        raise invalid_parameter(
            "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
            "GlobalSecondaryIndexUpdate.Delete must not be null"
        )
    return given[0]


def _refuse_twice(actions: Sequence[tuple[str, Request]]) -> None:
    names = [asked["IndexName"] for _, asked in actions]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise invalid_parameter(
                f"Only one global secondary index update per index is allowed simultaneously. Index: {name}"
            )


def _refuse_second_index(table: Table, actions: Sequence[tuple[str, Request]]) -> None:
    changing = sum(kind != "Update" for kind, _ in actions)
    busy = any(index.status != "ACTIVE" for index in table.every_index)
    if changing > 1 or (changing and busy):
        raise limit_exceeded(vector_indexes.ONLY_ONE)


def _with_new_index(txn: WriteTransaction, table: Table, asked: Request, request: Request) -> Table:
    if table.index(asked["IndexName"]) is not None or table.vector(asked["IndexName"]) is not None:
        raise invalid("Attempting to create an index which already exists")
    # AttributeDefinitions are a delta: existing types need not be repeated, but must not be changed.
    given = definitions.attribute_types(request.get("AttributeDefinitions"))
    vector_indexes.refuse_defined([index.attribute for index in table.vectors], given)
    _refuse_redefined(table, asked["KeySchema"], given)
    types = {**table.types, **given}
    # The keys of the table and of its global indexes are known; those of a local index have to be defined again.
    known = {*table.schema.names, *given}.union(*(i.schema.names for i in table.indexes if not i.local))
    if any(element["AttributeName"] not in known for element in asked["KeySchema"]):
        raise invalid_parameter("Some index key attributes are not defined in AttributeDefinitions")
    index = definitions.global_index(asked, table.next_index, types, table.billing)
    definitions.refuse_many([*table.indexes, index])
    definitions.refuse_clashes([*table.indexes, index])
    index = definitions.with_warm(table, index, asked.get("WarmThroughput"))
    index = replace(index, status="CREATING", backfill=(0, txn.rows.last_row(table.number)))
    used = {name: types[name] for name in types if name in table.types or name in index.schema.names}
    return replace(table, types=used, indexes=(*table.indexes, index), next_index=index.number + 1)


def _refuse_redefined(table: Table, elements: Sequence[Request], given: Mapping[str, str]) -> None:
    """Refuse definitions that give another type to an attribute that is a key already."""
    for name, kind in given.items():
        known = table.types.get(name, kind)
        if known != kind:
            schemas = (table.schema, *(index.schema for index in table.indexes))
            old = next((schema for schema in schemas if name in schema.names), None)
            if old is None:  # only a vector index has it
                raise vector_indexes.changed_type(name)
            new = {one["AttributeName"]: one["KeyType"] for one in elements}
            raise invalid_parameter(
                "Attributes cannot be redefined. Please check that your attribute has the same type as previously "
                f"defined. Existing schema: {_schema_text(old.elements(), table.types)} "
                f"New schema: {_schema_text(elements if name in new else old.elements(), {**table.types, **given})}"
            )


def _schema_text(elements: Sequence[Request], types: Mapping[str, str]) -> str:
    """How the service prints a key schema."""
    keys = [f"{one['AttributeName']}:{types.get(one['AttributeName'])}:{one['KeyType']}" for one in elements]
    return f"Schema:[{', '.join(f'SchemaElement: key{{{key}}}' for key in keys)}]"


def _with_changed_index(table: Table, asked: Request, now: float) -> Table:
    index = _named_index(table, asked)
    units = asked.get("ProvisionedThroughput")
    if units is not None:
        definitions.check_billing(table.billing, units)
        index = replace(
            index, throughput=_moved(index.throughput, definitions.throughput(units, index.name), now)
        )
    given = definitions.ceilings(asked.get("OnDemandThroughput"), table.billing, f"index {index.name}")
    if given is not None:
        index = replace(index, on_demand=definitions.merged_ceilings(index.on_demand, given))
    return table.with_index(definitions.with_warm(table, index, asked.get("WarmThroughput")))


def _named_index(table: Table, asked: Request) -> Index:
    index = table.index(asked["IndexName"])
    if index is None:
        raise resource_not_found()
    if index.local:
        raise invalid(f"Cannot delete an index that is not a GlobalSecondaryIndex: {index.name}")
    return index
