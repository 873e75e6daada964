"""BatchGetItem: up to 100 items by their keys, from several tables.

Keys beyond 16 MB, or throttled ones, are returned in UnprocessedKeys, with the settings of their request.
"""

from typing import Any

from tablewright.engine.api.arguments import admit_key, find_table, key_bytes
from tablewright.engine.api.common_members import (
    ATTRIBUTE_NAMES,
    ATTRIBUTES,
    EXPRESSION,
    FLAG,
    NAMES,
    RETURN_CAPACITY,
    TABLE_NAME,
)
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import ListOf, MapOf, Request, Struct
from tablewright.engine.catalog import Table
from tablewright.engine.consumed_capacity import Consumed, capacity_members, read_units
from tablewright.engine.errors import invalid
from tablewright.engine.item_read import projected, wanted_paths
from tablewright.engine.limits import BATCH_GET_BYTES, BATCH_GET_KEYS
from tablewright.engine.throughput.token_buckets import Throttled
from tablewright.engine.transaction import ReadTransaction
from tablewright.expressions import Path
from tablewright.values import Item

KEYS_AND_ATTRIBUTES = Struct(
    "KeysAndAttributes",
    {
        "Keys": ListOf(ATTRIBUTES, least=1, most=BATCH_GET_KEYS, terse=True),
        "AttributesToGet": ATTRIBUTE_NAMES,
        "ConsistentRead": FLAG,
        "ProjectionExpression": EXPRESSION,
        "ExpressionAttributeNames": NAMES,
    },
    required=("Keys",),
)

SHAPE = Struct(
    "BatchGetItemInput",
    {"RequestItems": MapOf(KEYS_AND_ATTRIBUTES, key=TABLE_NAME), "ReturnConsumedCapacity": RETURN_CAPACITY},
)


def batch_get_item(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    asked: dict[str, Request] = request.get("RequestItems") or {}
    if not asked:
        raise invalid("The requestItems parameter is required for BatchGetItem")
    if sum(len(one["Keys"]) for one in asked.values()) > BATCH_GET_KEYS:
        raise invalid("Too many items requested for the BatchGetItem call")
    wanted = {
        name: ([admit_key(key) for key in one["Keys"]], wanted_paths(one)) for name, one in asked.items()
    }
    plans = [_plan(find_table(txn.tables, name), name, keys, paths) for name, (keys, paths) in wanted.items()]
    # Over all names: one table may be named twice, by its name and by its ARN.
    places = [(table.number, key) for _, table, keys, _ in plans for _, key in keys]
    if len(set(places)) != len(places):
        raise invalid("Provided list of item keys contains duplicates")
    responses: dict[str, list[Any]] = {}
    unprocessed: dict[str, Request] = {}
    spent: list[Consumed] = []
    late: list[Throttled] = []
    room = BATCH_GET_BYTES
    with txn.rows.snapshot():
        for name, table, keys, paths in plans:
            consistent = bool(asked[name].get("ConsistentRead"))
            consumed = Consumed(table)
            found = responses.setdefault(name, [])
            for place, (given, key) in enumerate(keys):
                try:
                    txn.check_throughput(table, None, key)
                except Throttled as refusal:
                    late.append(refusal)
                    unprocessed.setdefault(name, {**asked[name], "Keys": []})["Keys"].append(given)
                    continue
                row = txn.rows.get(table.number, key)
                size = 0 if row is None else row.size
                if size > room:
                    rest = [given for given, _ in keys[place:]]
                    unprocessed.setdefault(name, {**asked[name], "Keys": []})["Keys"].extend(rest)
                    break
                room -= size
                txn.work(size)
                units = read_units(size, consistent)
                consumed.base += units
                txn.spend(table, None, units, key)
                if row is not None:
                    found.append(projected(row.item, paths))
            spent.append(consumed)
    if len(late) == len(places):
        raise late[0]
    answer: dict[str, Any] = {"Responses": responses, "UnprocessedKeys": unprocessed}
    capacity = capacity_members(spent, request.get("ReturnConsumedCapacity"))
    if capacity is not None:
        answer["ConsumedCapacity"] = capacity
    return answer


def _plan(
    table: Table, name: str, keys: list[Item], paths: tuple[Path, ...] | None
) -> tuple[str, Table, list[tuple[Item, bytes]], tuple[Path, ...] | None]:
    return name, table, [(key, key_bytes(table, key)) for key in keys], paths


OPERATION = ReadOperation("BatchGetItem", SHAPE, batch_get_item)
