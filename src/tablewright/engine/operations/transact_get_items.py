"""TransactGetItems: up to 100 items as they were at one moment."""

from typing import Any

from tablewright.engine.arguments import admit_key, find_table, key_bytes
from tablewright.engine.capacity import Consumed, read_units, shown_all
from tablewright.engine.errors import ServiceError, invalid, transaction_canceled
from tablewright.engine.item_reads import Read, wanted_paths
from tablewright.engine.limits import TRANSACTION_ACTIONS, TRANSACTION_BYTES
from tablewright.engine.members import ATTRIBUTES, EXPRESSION, NAMES, RETURN_CAPACITY, TABLE_NAME
from tablewright.engine.metric_names import THROTTLED_REQUESTS
from tablewright.engine.shapes import ListOf, Request, Struct
from tablewright.engine.throttle import Throttled
from tablewright.engine.writing import Reading

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


def transact_get_items(reading: Reading, request: Request) -> dict[str, Any]:
    gets = [one["Get"] for one in request["TransactItems"]]
    wanted = [(admit_key(get["Key"]), wanted_paths(get)) for get in gets]
    tables = [find_table(reading.tables, get["TableName"]) for get in gets]
    reads: list[Read] = []
    reasons: list[dict[str, Any]] = []
    for table, (key, paths) in zip(tables, wanted, strict=True):
        try:
            read = Read(table, key_bytes(table, key), paths)
            reading.refuse_fast(table, None, read.key)
            reads.append(read)
            reasons.append({"Code": "None"})
        except Throttled as mistake:
            if reading.marks is not None:
                reading.marks.extend(
                    ((THROTTLED_REQUESTS, name, "", "TransactGetItems"), 1.0) for name in mistake.tables
                )
            reasons.append({"Code": mistake.code, "Message": mistake.message})
        except ServiceError as mistake:
            reasons.append({"Code": "ValidationError", "Message": mistake.message})
    if len(reads) != len(gets):
        raise transaction_canceled(reasons)
    if len({(read.table.number, read.key) for read in reads}) != len(reads):
        raise invalid("Transaction request cannot include multiple operations on one item")
    return _read_all(reading, request, reads)


def _read_all(reading: Reading, request: Request, reads: list[Read]) -> dict[str, Any]:
    responses: list[dict[str, Any]] = []
    spent: dict[int, Consumed] = {}
    total = 0
    with reading.rows.snapshot():
        for read in reads:
            row = read.row(reading.rows)
            size = 0 if row is None else row.size
            total += size
            if total > TRANSACTION_BYTES:
                raise invalid("Transaction response size cannot exceed 4MB")
            consumed = spent.setdefault(read.table.number, Consumed(read.table))
            units = 2 * read_units(size, consistent=True)
            consumed.base += units
            reading.spend(read.table, None, units, read.key)
            item = None if row is None else read.shown(row)
            # A projection that matches nothing leaves no Item here, unlike GetItem.
            responses.append({"Item": item} if item not in (None, {}) else {})
    answer: dict[str, Any] = {"Responses": responses}
    capacity = shown_all(spent.values(), request.get("ReturnConsumedCapacity"), "Read")
    if capacity is not None:
        answer["ConsumedCapacity"] = capacity
    return answer
