"""SearchVectors: the items of a vector index whose vectors are nearest to a given one.

The answer has the attributes that the index projects, the vector only if it is asked for, as the index stores it.
Must hold: what it examines and what it returns are of one committed state.
Elsewhere: the search itself (vectors/search.py), definitions (api/vector_indexes.py).
"""

import re
from math import isfinite
from typing import Any, NamedTuple

import orjson

from tablewright.engine.api import common_members as common
from tablewright.engine.api.arguments import empty_kind, find_table, placeholders, read_paths
from tablewright.engine.api.operation import read_verb
from tablewright.engine.api.shapes import Answer, AttributeValue, ListOf, Request, Whole
from tablewright.engine.catalog import Table
from tablewright.engine.errors import invalid
from tablewright.engine.keys import after, partition_bytes
from tablewright.engine.limits import SEARCH_BYTES, SEARCH_RESULTS, VECTOR_DIMENSIONS, VECTOR_REQUEST_BYTES
from tablewright.engine.metrics.names import VECTOR_SEARCH_BYTES
from tablewright.engine.transaction import ReadTransaction
from tablewright.engine.vectors import store
from tablewright.engine.vectors.definition import VectorIndex
from tablewright.engine.vectors.entries import projected
from tablewright.engine.vectors.scores import NotAVector, as_list, pack
from tablewright.engine.vectors.search import Found, nearest
from tablewright.expressions import Condition, Path, condition, project
from tablewright.expressions.nodes import And, Compare
from tablewright.values import Item, Value, item_size, key_part

_INVALID = "Invalid SearchConditionExpression: Invalid {} used in SearchConditionExpression"


# As the service spells numbers; those that do not fit 32 bits are found later.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Equality(NamedTuple):
    """One `attribute = :value` of a SearchConditionExpression."""

    name: str
    value: Value


@read_verb(
    "SearchVectors",
    {
        "TableName": common.TABLE_NAME,
        "IndexName": common.INDEX_NAME,
        "SearchVector": ListOf(AttributeValue(), least=1, most=VECTOR_DIMENSIONS, terse=True),
        "TopK": Whole(least=1),
        "SearchConditionExpression": common.EXPRESSION,
        "ProjectionExpression": common.EXPRESSION,
        "ExpressionAttributeNames": common.NAMES,
        "ExpressionAttributeValues": common.ATTRIBUTES,
        "ReturnConsumedCapacity": common.RETURN_CAPACITY,
    },
    required=("TableName", "IndexName", "SearchVector", "TopK"),
)
def search_vectors(txn: ReadTransaction, request: Request) -> Answer:
    top = int(request["TopK"])
    if top > SEARCH_RESULTS:
        raise invalid(
            f"Provided TopK value '{top}' is out of valid range. "
            f"The value must be between 1 and {SEARCH_RESULTS} inclusive"
        )
    given = placeholders(request, ("SearchConditionExpression",), ("ProjectionExpression",))
    text = request.get("SearchConditionExpression")
    equal = [] if text is None else _equalities(condition(text, "SearchConditionExpression", given))
    paths = read_paths(request, given)
    given.check_all_used()
    table = find_table(txn.tables, request["TableName"])
    index = _index(table, request["IndexName"])
    wanted = _search_vector(index, request["SearchVector"])
    _check_condition(table, index, equal)
    with txn.rows.snapshot():
        found, examined = _nearest(txn, table, index, wanted, top, equal)
        items = [_item(txn, table, index, one, paths) for one in found]
    _refuse_large(items)
    results = [{"Item": item, "Score": one.score} for item, one in zip(items, found, strict=True)]
    return {"SearchResults": results, **_capacity(txn, table, index, examined, request)}


# --- the request ---


def _equalities(node: Condition) -> list[Equality]:
    if isinstance(node, And):
        return [one for part in node.parts for one in _equalities(part)]
    if not isinstance(node, Compare):
        raise invalid(_INVALID.format("operator"))
    path, value = (node.left, node.right) if isinstance(node.left, tuple) else (node.right, node.left)
    if node.op != "=" or not isinstance(path, tuple) or not isinstance(value, dict):
        raise invalid(_INVALID.format("comparator"))
    if len(path) > 1:
        raise invalid(
            "Invalid SearchConditionExpression: SearchConditionExpression cannot have conditions on nested attributes"
        )
    return [Equality(str(path[0]), value)]


def _index(table: Table, name: str) -> VectorIndex:
    index = table.vector(name)
    if index is None:
        raise invalid(f"The table does not have the specified index: {name}")
    if index.backfill is not None:
        raise invalid(f"Cannot search backfilling vector index: {name}")
    return index


def _search_vector(index: VectorIndex, elements: list[Value]) -> bytes:
    try:
        wanted = pack(elements) if all(map(_is_number, elements)) else None
    except NotAVector:
        wanted = None
    if wanted is None:
        raise invalid(
            "Search vector contains invalid values. All values in the search vector must be a 32-bit floating-point "
            "number attribute"
        )
    if len(elements) != index.dimensions:
        raise invalid(
            f"Input search vector dimension {len(elements)} does not match vector index dimension {index.dimensions}"
        )
    return wanted


def _is_number(element: Value) -> bool:
    text = element.get("N")
    # Too large for 64 bits is infinity in Python, and packing that raises nothing.
    return (
        len(element) == 1
        and type(text) is str
        and _NUMBER.fullmatch(text) is not None
        and isfinite(float(text))
    )


def _check_condition(table: Table, index: VectorIndex, equal: list[Equality]) -> None:
    for name, _ in equal:
        if name not in index.schema_names:
            raise invalid(
                "SearchConditionExpression must not contain any attributes that is not in SearchSchema. "
                f"Invalid attribute: {name}"
            )
    if index.hash is not None and all(name != index.hash for name, _ in equal):
        raise invalid("SearchConditionExpression must be provided when SearchSchema has a HASH key")
    for name, value in equal:
        if table.types[name] not in value:
            raise invalid(
                f"Type of '{name}' attribute in SearchConditionExpression ({next(iter(value))}) "
                f"does not match type in search schema ({table.types[name]})"
            )
        if name == index.hash and empty_kind(value) is not None:
            raise invalid(
                "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
                f"empty {empty_kind(value)} value. Key: {name}"
            )


# --- the search ---


def _nearest(
    txn: ReadTransaction, table: Table, index: VectorIndex, wanted: bytes, top: int, equal: list[Equality]
) -> tuple[list[Found], int]:
    partition: tuple[bytes, bytes] | None = None
    filters: list[tuple[int, bytes]] = []
    for name, value in equal:
        if name != index.hash:
            filters.append((index.filters.index(name), key_part(value)))
            continue
        base = partition_bytes([value])
        if partition is not None and partition[0] != base:
            return [], 0  # no item is in two partitions
        partition = base, after(base)

    def spend(cost: int) -> None:
        if txn.effort is not None:
            txn.effort.spend(cost)

    with store.walk(txn.rows, table.number, index.number, partition, filters) as rows:
        return nearest(index.distance, wanted, top, rows, spend)


def _item(
    txn: ReadTransaction, table: Table, index: VectorIndex, found: Found, paths: tuple[Path, ...] | None
) -> Item:
    # Only rows that are returned are compared with their checksums: the scrub compares them all with their items.
    txn.rows.refuse_damaged(table.number, [found.vector], [found.sum])
    whole: Item = orjson.loads(store.item(txn.rows, table.number, found.row))
    item = projected(table, index, whole)
    if paths is None:
        return item
    return project(paths, {**item, index.attribute: as_list(found.vector)})


def _capacity(
    txn: ReadTransaction, table: Table, index: VectorIndex, examined: int, request: Request
) -> dict[str, Any]:
    used = float(max(examined, VECTOR_REQUEST_BYTES))
    if txn.samples is not None:
        txn.samples.append(((VECTOR_SEARCH_BYTES, table.name, index.name, ""), used))
    if request.get("ReturnConsumedCapacity") in (None, "NONE"):
        return {}
    return {"ConsumedCapacity": {"VectorSearchRequestBytes": used}}


def _refuse_large(items: list[Item]) -> None:
    """A response has 16 MB at most, and there is no second page."""
    if sum(map(item_size, items)) > SEARCH_BYTES:
        raise invalid("The response exceeds 16 MB: use a smaller TopK, or a ProjectionExpression")
