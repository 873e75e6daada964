"""CreateTable: define a table with its indexes. The answer says CREATING; the table can be used at once."""

from dataclasses import replace
from typing import Any

from tablewright.engine.api.common_members import FLAG, TABLE_NAME
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.shapes import ListOf, Request, Struct, Text
from tablewright.engine.api.table_definitions import (
    ATTRIBUTE_DEFINITIONS,
    BILLING_MODE,
    ENCRYPTION,
    GLOBAL_INDEX,
    KEY_SCHEMA,
    LOCAL_INDEX,
    ON_DEMAND,
    PROVISIONED,
    STREAM,
    WARM,
    attribute_types,
    billing_mode,
    ceilings,
    global_indexes,
    local_indexes,
    merged_ceilings,
    new_stream_view,
    refuse_clashes,
    refuse_encryption,
    refuse_local_on_hash,
    refuse_unused,
    table_class,
    table_schema,
    throughput,
    warm_throughput,
)
from tablewright.engine.api.tag_resource import TAG_LIST, merged_tags
from tablewright.engine.catalog import Table, describe, to_json, warm_units
from tablewright.engine.errors import invalid, resource_in_use
from tablewright.engine.streams.shards import open_stream
from tablewright.engine.transaction import WriteTransaction

SHAPE = Struct(
    "CreateTableInput",
    {
        "AttributeDefinitions": ATTRIBUTE_DEFINITIONS,
        "TableName": TABLE_NAME,
        "KeySchema": KEY_SCHEMA,
        "GlobalSecondaryIndexes": ListOf(GLOBAL_INDEX),
        "LocalSecondaryIndexes": ListOf(LOCAL_INDEX),
        "BillingMode": BILLING_MODE,
        "ProvisionedThroughput": PROVISIONED,
        "StreamSpecification": STREAM,
        "SSESpecification": ENCRYPTION,
        "Tags": TAG_LIST,
        "TableClass": Text(),
        "DeletionProtectionEnabled": FLAG,
        "WarmThroughput": WARM,
        "OnDemandThroughput": ON_DEMAND,
    },
    required=("TableName", "KeySchema"),
    refused=("ResourcePolicy", "GlobalTableSourceArn", "GlobalTableSettingsReplicationMode", "VectorIndexes"),
)


def create_table(txn: WriteTransaction, request: Request) -> dict[str, Any]:
    table = _defined(txn, request)
    there = txn.tables.get(table.name)
    if there is not None:
        words = "Table already exists" if there.status == "ACTIVE" else "Table is being used"
        raise resource_in_use(f"{words}: {table.name}")
    number = txn.rows.create_table(table.name, to_json(table))
    table = replace(table, number=number)
    for index in table.indexes:
        txn.rows.create_index(number, index.number)
    if table.has_local_indexes:
        txn.rows.create_collections(number)
    view = new_stream_view(request.get("StreamSpecification"))
    if view is not None:
        table = open_stream(txn, table, view)
        txn.save_table(table)
    else:
        txn.add_table(table)
    return {"TableDescription": describe(table, txn.rows, "CREATING")}


def _defined(txn: WriteTransaction, request: Request) -> Table:
    """The table that the request defines, still without a number."""
    name = request["TableName"]
    if name.startswith("arn:"):
        raise invalid("CreateTable takes a table name, not an ARN: the engine makes the ARN")
    mode = billing_mode(request)
    units = throughput(request.get("ProvisionedThroughput"))
    types = attribute_types(request.get("AttributeDefinitions"))
    schema = table_schema(request["KeySchema"], types)
    asked = request.get("LocalSecondaryIndexes"), request.get("GlobalSecondaryIndexes")
    refuse_local_on_hash(asked[0], schema)
    refuse_unused(types, schema, [*(asked[0] or ()), *(asked[1] or ())])
    local = local_indexes(asked[0], schema, types)
    indexes = [*local, *global_indexes(asked[1], len(local) + 1, types, mode)]
    refuse_clashes(indexes)
    new_stream_view(request.get("StreamSpecification"))
    refuse_encryption(request.get("SSESpecification"))
    place = txn.place
    table = Table(
        number=0,
        name=name,
        uuid=txn.world.new_id(),
        arn=f"arn:aws:dynamodb:{place.region}:{place.account}:table/{name}",
        created=txn.now(),
        schema=schema,
        types=types,
        indexes=tuple(indexes),
        next_index=len(indexes) + 1,
        billing=mode,
        on_demand_since=txn.now() if mode == "PAY_PER_REQUEST" else None,
        throughput=units,
        on_demand=merged_ceilings(None, ceilings(request.get("OnDemandThroughput"), mode, "table")),
        table_class=table_class(request.get("TableClass")) or "STANDARD",
        protected=bool(request.get("DeletionProtectionEnabled")),
        tags=merged_tags({}, request.get("Tags") or []),
    )
    return _warmed(table, request)


def _warmed(table: Table, request: Request) -> Table:
    warm = warm_throughput(request.get("WarmThroughput"), warm_units(table, table), "table")
    table = replace(table, warm=warm)
    for asked in request.get("GlobalSecondaryIndexes") or ():
        index = table.index(asked["IndexName"])
        if index is not None and asked.get("WarmThroughput") is not None:
            owner = f"index {index.name}"
            warm = warm_throughput(asked["WarmThroughput"], warm_units(table, index), owner)
            table = table.with_index(replace(index, warm=warm))
    return table


OPERATION = WriteOperation("CreateTable", SHAPE, create_table)
