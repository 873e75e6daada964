"""TransactGetItems: up to 100 items from one snapshot."""

from typing import Any

from tablewright.engine.api.arguments import admit_key, find_table, key_bytes
from tablewright.engine.api.common_members import ATTRIBUTES, EXPRESSION, NAMES, RETURN_CAPACITY, TABLE_NAME
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import ListOf, Request, Struct
from tablewright.engine.consumed_capacity import Consumed, capacity_members, read_units
from tablewright.engine.errors import ServiceError, invalid, transaction_canceled
from tablewright.engine.item_read import ItemRead, wanted_paths
from tablewright.engine.limits import TRANSACTION_ACTIONS, TRANSACTION_BYTES
from tablewright.engine.metrics.names import THROTTLED_REQUESTS
from tablewright.engine.throughput.token_buckets import Throttled
from tablewright.engine.transaction import ReadTransaction

GET = Struct(
    "Get",
    {
        "TableName": TABLE_NAME,
        "Key": ATTRIBUTES,
        "ProjectionExpression": EXPRESSION,
        "ExpressionAttributeNames": NAMES,
    },
    required=("TableName", "Key"),
)

SHAPE = Struct(
    "TransactGetItemsInput",
    {
        "TransactItems": ListOf(
            Struct("TransactGetItem", {"Get": GET}, required=("Get",)), least=1, most=TRANSACTION_ACTIONS
        ),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
    },
    required=("TransactItems",),
)


def transact_get_items(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    gets = [one["Get"] for one in request["TransactItems"]]
    wanted = [(admit_key(get["Key"]), wanted_paths(get)) for get in gets]
    tables = [find_table(txn.tables, get["TableName"]) for get in gets]
    reads: list[ItemRead] = []
    reasons: list[dict[str, Any]] = []
    for table, (key, paths) in zip(tables, wanted, strict=True):
        try:
            read = ItemRead(table, key_bytes(table, key), paths)
            txn.check_throughput(table, None, read.key)
            reads.append(read)
            reasons.append({"Code": "None"})
        except Throttled as error:
            if txn.samples is not None:
                txn.samples.extend(
                    ((THROTTLED_REQUESTS, name, "", "TransactGetItems"), 1.0) for name in error.tables
                )
            reasons.append({"Code": error.code, "Message": error.message})
        except ServiceError as error:
            reasons.append({"Code": "ValidationError", "Message": error.message})
    if len(reads) != len(gets):
        raise transaction_canceled(reasons)
    if len({(read.table.number, read.key) for read in reads}) != len(reads):
        raise invalid("Transaction request cannot include multiple operations on one item")
    return _read_all(txn, request, reads)


def _read_all(txn: ReadTransaction, request: Request, reads: list[ItemRead]) -> dict[str, Any]:
    responses: list[dict[str, Any]] = []
    spent: dict[int, Consumed] = {}
    total = 0
    with txn.rows.snapshot():
        for read in reads:
            row = read.row(txn.rows)
            size = 0 if row is None else row.size
            total += size
            txn.work(size)
            if total > TRANSACTION_BYTES:
                raise invalid("Transaction response size cannot exceed 4MB")
            consumed = spent.setdefault(read.table.number, Consumed(read.table))
            units = 2 * read_units(size, consistent=True)
            consumed.base += units
            txn.spend(read.table, None, units, read.key)
            item = None if row is None else read.project(row)
            # A projection that matches nothing gives no Item here, unlike in GetItem.
            responses.append({"Item": item} if item not in (None, {}) else {})
    answer: dict[str, Any] = {"Responses": responses}
    capacity = capacity_members(spent.values(), request.get("ReturnConsumedCapacity"), "Read")
    if capacity is not None:
        answer["ConsumedCapacity"] = capacity
    return answer


OPERATION = ReadOperation("TransactGetItems", SHAPE, transact_get_items)
