"""The plan of a SELECT: from its WHERE to the key ranges to read, and their order.

Must hold: no two ranges of one statement overlap, so no item is found twice.
Elsewhere: the alternatives of a WHERE (tablewright/partiql/keys.py), reading (select.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tablewright.engine.catalog import Index, KeySchema, Table
from tablewright.engine.errors import invalid, invalid_parameter
from tablewright.engine.indexes import projected_names
from tablewright.engine.keys import plan_range, segment_range
from tablewright.expressions import Condition, KeyTest, plan_keys, top_level_names
from tablewright.expressions.nodes import And, Or
from tablewright.partiql import Branch, Select, branches_of
from tablewright.values import Value, key_part

OVERLAPPING = "Overlapping conditions with range keys are not supported in where clause"
ORDER_WITHOUT_WHERE = "Must have WHERE clause in the statement when using ORDER BY clause."
ORDER_WITHOUT_HASH = (
    "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
)
ORDER_OF_PARTITIONS = (
    "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause."
)


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A range of keys, and the filter for its items; `branch` is the alternative it comes from."""

    low: bytes
    high: bytes
    keep: Condition | None
    branch: Branch | None = None


def plan(table: Table, index: Index | None, select: Select) -> tuple[list[KeyRange], bool]:
    """The ranges to read, in order, and whether each is read backward."""
    schema = table.schema if index is None else index.schema
    hash_name, range_name = schema.hash[0], (schema.range[0] if schema.range else None)
    branches = branches_of(select.where, hash_name, range_name)
    if select.order:
        _refuse_order(schema, select, branches)
    if branches is None:
        return [KeyRange(*segment_range(0, 1), select.where)], False
    if index is not None:
        _refuse_unseen(table, index, branches)
    walks = _apart([_walk(table, schema, branch) for branch in branches])
    if not select.order:
        return walks, False
    return _in_order(walks, schema, select.order)


def _walk(table: Table, schema: KeySchema, branch: Branch) -> KeyRange:
    """The range in which all key tests of a branch hold."""
    first = KeyTest(schema.hash[0], "=", (branch.partition,))
    for test in (first, *branch.tests):
        if any(table.types[test.name] not in value for value in test.values):
            raise invalid(
                f"Key attribute's data type should match its data type in table's schema: Key {test.name}"
            )
    tests = [[first, test] for test in branch.tests] or [[first]]
    ranges = [plan_range(plan_keys(some, schema.hash, schema.range, table.types)) for some in tests]
    keep = And(branch.filters) if branch.filters else None
    return KeyRange(max(low for low, _ in ranges), min(high for _, high in ranges), keep, branch)


def _apart(walks: Sequence[KeyRange]) -> list[KeyRange]:
    """The ranges that are not empty; overlapping ranges are refused.

    As on the service, overlaps are allowed where the sort key is in a negative test (such as <>): the ranges are then
    merged into one, with all alternatives as its filter.
    """
    ranges: list[KeyRange] = []
    for walk in walks:
        if walk.low >= walk.high:
            continue
        met = [other for other in ranges if walk.low < other.high and other.low < walk.high]
        if met:
            ranges = [other for other in ranges if other not in met]
            walk = _merged([*met, walk])
        ranges.append(walk)
    return ranges


def _merged(walks: Sequence[KeyRange]) -> KeyRange:
    branches = [walk.branch for walk in walks if walk.branch is not None]
    if not any(branch.is_loose for branch in branches):
        raise invalid(OVERLAPPING)
    either = Or(tuple([branch.whole for branch in branches]))
    merged = replace(branches[0], whole=either, is_loose=True)
    return KeyRange(min(walk.low for walk in walks), max(walk.high for walk in walks), either, merged)


def _refuse_unseen(table: Table, index: Index, branches: Sequence[Branch]) -> None:
    """Refuse filters on attributes that the index does not project, if every alternative has one, as on the service."""
    names = projected_names(table, index)
    if names is None or not branches:
        return
    unseen = [
        [name for name in top_level_names(And(branch.filters)) if name not in names]
        for branch in sorted(branches, key=lambda branch: _order_of(branch.partition))
    ]
    if all(unseen):
        raise invalid_parameter(
            f"Secondary index {index.name} does not project one or more filter attributes: "
            f"[{', '.join(unseen[-1])}]"
        )


# --- order ---


def _order_of(value: Value) -> bytes:
    """Bytes that sort like values of one key type; values of other types are refused elsewhere."""
    return key_part(value) if any(kind in value for kind in "SNB") else b""


def _refuse_order(schema: KeySchema, select: Select, branches: Sequence[Branch] | None) -> None:
    if select.where is None:
        raise invalid(ORDER_WITHOUT_WHERE)
    for name, _ in select.order:
        if name not in schema.names:
            raise invalid(f"Attribute {name} in ORDER BY clause must be part of the primary key")
    if branches is None:
        raise invalid(ORDER_WITHOUT_HASH)
    partitions = {_order_of(branch.partition) for branch in branches}
    if len(partitions) > 1 and schema.hash[0] not in dict(select.order):
        raise invalid(ORDER_OF_PARTITIONS)


def _in_order(
    walks: Sequence[KeyRange], schema: KeySchema, order: Sequence[tuple[str, bool]]
) -> tuple[list[KeyRange], bool]:
    wanted = dict(reversed(order))  # of two terms for one attribute the first one counts
    # Without its own term the sort key is descending on the service, even when the hash key is ascending.
    backward = wanted.get(schema.range[0], True) if schema.range else False
    ordered = sorted(walks, key=lambda walk: walk.low, reverse=backward)
    ordered.sort(
        key=lambda walk: b"" if walk.branch is None else _order_of(walk.branch.partition),
        reverse=wanted.get(schema.hash[0], False),
    )
    return ordered, backward
