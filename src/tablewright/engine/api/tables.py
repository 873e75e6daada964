"""CreateTable, DescribeTable, ListTables and DeleteTable; UpdateTable is in update_table.py.

A new table is CREATING in the answer and can be used at once. A deleted table is gone at once; its rows are deleted
in small steps between other writes. Its stream can be read for another day, and with point-in-time recovery a backup
of its last state is made.
"""

from dataclasses import replace

from tablewright.engine.api import table_definitions as definitions
from tablewright.engine.api.arguments import known_table, table_name
from tablewright.engine.api.common_members import FLAG, INDEX_NAME, TABLE_NAME
from tablewright.engine.api.encryption import requested_key
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.policy_documents import new_policy
from tablewright.engine.api.replica_updates import refuse_source, refuse_writer
from tablewright.engine.api.shapes import Answer, ListOf, Request, Text, Whole
from tablewright.engine.api.tags import TAG_LIST, merged_tags
from tablewright.engine.api.vector_indexes import (
    VECTOR_INDEX,
    refuse_same_names,
    schema_names,
    vector_indexes,
)
from tablewright.engine.catalog import Catalog, Table, describe, to_json
from tablewright.engine.errors import ServiceError, invalid, resource_in_use, table_not_found
from tablewright.engine.history.backups import SYSTEM, back_up
from tablewright.engine.limits import LIST_PAGE
from tablewright.engine.replication.stamps import forget_replicas
from tablewright.engine.streams.shards import close_stream, open_stream
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.engine.vectors import entries as vector_entries


@write_verb(
    "CreateTable",
    {
        "AttributeDefinitions": definitions.ATTRIBUTE_DEFINITIONS,
        "TableName": TABLE_NAME,
        "KeySchema": definitions.KEY_SCHEMA,
        "GlobalSecondaryIndexes": ListOf(definitions.GLOBAL_INDEX),
        "LocalSecondaryIndexes": ListOf(definitions.LOCAL_INDEX),
        "BillingMode": definitions.BILLING_MODE,
        "ProvisionedThroughput": definitions.PROVISIONED,
        "StreamSpecification": definitions.STREAM,
        "SSESpecification": definitions.ENCRYPTION,
        "Tags": TAG_LIST,
        "TableClass": Text(),
        "DeletionProtectionEnabled": FLAG,
        "WarmThroughput": definitions.WARM,
        "OnDemandThroughput": definitions.ON_DEMAND,
        "ResourcePolicy": Text(),
        "VectorIndexes": ListOf(VECTOR_INDEX),
    },
    required=("KeySchema",),
    refused=("GlobalTableSourceArn", "GlobalTableSettingsReplicationMode"),
)
def create_table(txn: WriteTransaction, request: Request) -> Answer:
    table = _defined(txn, request)
    there = txn.tables.get(table.name)
    if there is not None:
        words = "Table already exists" if there.status == "ACTIVE" else "Table is being used"
        raise resource_in_use(f"{words}: {table.name}")
    number = txn.rows.create_table(table.name, to_json(table))
    table = replace(table, number=number)
    for index in table.indexes:
        txn.rows.create_index(number, index.number)
    for vector in table.vectors:
        vector_entries.create(txn.rows, table, vector)
    if table.has_local_indexes:
        txn.rows.create_collections(number)
    view = definitions.stream_view(request.get("StreamSpecification"), definitions.NEW_STREAM)
    if view is not None:
        table = open_stream(txn, table, view)
        txn.save_table(table)
    else:
        txn.add_table(table)
    return {"TableDescription": describe(table, txn.rows, "CREATING")}


def _defined(txn: WriteTransaction, request: Request) -> Table:
    """The table that the request defines, still without a number."""
    name: str | None = request.get("TableName")
    if name is None:
        raise invalid("The parameter 'TableName' is required but was not present in the request")
    if name.startswith("arn:"):
        raise invalid("CreateTable takes a table name, not an ARN: the engine makes the ARN")
    mode = str(request.get("BillingMode") or "PROVISIONED")
    definitions.check_billing(mode, request.get("ProvisionedThroughput"))
    units = definitions.throughput(request.get("ProvisionedThroughput"))
    types = definitions.attribute_types(request.get("AttributeDefinitions"))
    schema = definitions.table_schema(request["KeySchema"], types)
    asked = request.get("LocalSecondaryIndexes"), request.get("GlobalSecondaryIndexes")
    definitions.refuse_local_on_hash(asked[0], schema)
    definitions.refuse_repeated([*(asked[0] or ()), *(asked[1] or ())])
    vectors = vector_indexes(request.get("VectorIndexes"), 1, types, mode)
    searched = schema_names(request.get("VectorIndexes"))
    definitions.refuse_unused(types, schema, [*(asked[0] or ()), *(asked[1] or ())], searched)
    local = definitions.local_indexes(asked[0], schema, types)
    indexes = [*local, *definitions.global_indexes(asked[1], len(local) + 1, types, mode)]
    definitions.refuse_clashes(indexes)
    vectors = [replace(one, number=one.number + len(indexes)) for one in vectors]
    refuse_same_names(indexes, vectors)
    definitions.stream_view(request.get("StreamSpecification"), definitions.NEW_STREAM)
    place = txn.place
    key = requested_key(request.get("SSESpecification"), place)
    arn = f"arn:aws:dynamodb:{place.region}:{place.account}:table/{name}"
    policy = request.get("ResourcePolicy")
    table = Table(
        number=0,
        name=name,
        uuid=txn.world.new_id(),
        arn=arn,
        created=txn.now_seconds(),
        schema=schema,
        types=types,
        indexes=tuple(indexes),
        vectors=tuple(vectors),
        next_index=len(indexes) + len(vectors) + 1,
        billing=mode,
        on_demand_since=txn.now_seconds() if mode == "PAY_PER_REQUEST" else None,
        throughput=units,
        on_demand=definitions.merged_ceilings(
            None, definitions.ceilings(request.get("OnDemandThroughput"), mode, "table")
        ),
        table_class=definitions.table_class(request.get("TableClass")) or "STANDARD",
        protected=bool(request.get("DeletionProtectionEnabled")),
        tags=merged_tags({}, request.get("Tags") or []),
        encryption=key,
        policies={} if policy is None else {arn: new_policy(txn, policy)},
    )
    table = definitions.with_warm(table, table, request.get("WarmThroughput"))
    for one in asked[1] or ():
        index = table.index(one["IndexName"])
        assert index is not None, "it was just defined"
        table = table.with_index(definitions.with_warm(table, index, one.get("WarmThroughput")))
    return table


@read_verb("DescribeTable", {"TableName": TABLE_NAME}, required=("TableName",))
def describe_table(txn: ReadTransaction, request: Request) -> Answer:
    return {"Table": describe(named_table(txn.tables, request), txn.rows)}


def named_table(tables: Catalog, request: Request) -> Table:
    """The table of a control-plane request; the error names the missing table."""
    try:
        return known_table(tables, request["TableName"])
    except ServiceError:
        raise table_not_found(table_name(request["TableName"])) from None


def settled_table(tables: Catalog, request: Request) -> Table:
    """The same for a request about settings; a table that is still being loaded is not found."""
    table = named_table(tables, request)
    if table.status != "ACTIVE":
        raise table_not_found(table.name)
    return table


@read_verb("ListTables", {"ExclusiveStartTableName": INDEX_NAME, "Limit": Whole(least=1, most=LIST_PAGE)})
def list_tables(txn: ReadTransaction, request: Request) -> Answer:
    start = request.get("ExclusiveStartTableName") or ""
    limit = int(request.get("Limit") or LIST_PAGE)
    names = [name for name in sorted(txn.tables) if name > start]
    answer: Answer = {"TableNames": names[:limit]}
    if len(names) > limit:
        answer["LastEvaluatedTableName"] = names[limit - 1]
    return answer


@write_verb("DeleteTable", {"TableName": TABLE_NAME}, required=("TableName",))
def delete_table(txn: WriteTransaction, request: Request) -> Answer:
    table = named_table(txn.tables, request)
    if table.protected:
        raise invalid(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
        )
    if any(index.status != "ACTIVE" for index in table.vectors):
        raise resource_in_use(
            "Attempt to change a resource which is still in use: Cannot delete table while indexes are being "
            "created, updated, or deleted."
        )
    if table.status != "ACTIVE" or any(index.status != "ACTIVE" for index in table.indexes):
        change = "updated" if table.status == "ACTIVE" else "created"
        raise resource_in_use(
            f"Attempt to change a resource which is still in use: Table is being {change}: {table.name}"
        )
    if table.replicas is not None:
        refuse_source(table.replicas, table.replicas.region, txn.position.at)
        refuse_writer(table.name, table.replicas, table.replicas.region)
    description = describe(table, txn.rows, "DELETING")
    drop_table(txn, table)
    return {"TableDescription": {m: shown for m, shown in description.items() if m not in _GONE}}


# What the service no longer describes of a table that is being deleted.
_GONE = frozenset(
    (
        "AttributeDefinitions",
        "CreationDateTime",
        "GlobalSecondaryIndexes",
        "KeySchema",
        "LocalSecondaryIndexes",
        "VectorIndexes",
    )
)


def drop_table(txn: WriteTransaction, table: Table) -> None:
    """Drop the table; the regions of its other replicas take note of it when they follow next."""
    if table.replicas is not None:
        forget_replicas(txn, table)
    if table.stream_view is not None:
        close_stream(txn, table)
    if table.recovery_since is not None:
        back_up(txn, table, f"{table.name}$DeletedTableBackup", SYSTEM)
    names = table.sql_tables()
    for name in names:
        txn.forget_counts(name)
    txn.rows.schedule_drop(names)
    txn.forget_table(table)
