"""What a WHERE says about a key: one item, or the partitions and the ranges to walk. Pure.

A SELECT whose WHERE fixes the partition, in each of its alternatives, is a row of reads, one for each; any other walks
the whole table or index. Alternatives come from OR and IN, and only those that speak of the key are taken
apart: `pk = 1 AND (a = 1 OR b = 2)` is one read with a filter.
Elsewhere: keys as bytes, and whether two ranges overlap (the engine).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tablewright.expressions import Condition, KeyTest, top_level_names
from tablewright.expressions.build import all_of
from tablewright.expressions.keys import SWAPPED
from tablewright.expressions.nodes import And, Between, Call, Compare, In, Not, Or
from tablewright.partiql.errors import BadStatement
from tablewright.values import Item, Value

MAX_READS = 50

NO_KEY = "Where clause does not contain a mandatory equality on all key attributes"
TOO_MANY_READS = "Too many decomposed read operations for a given query."


# --- one item ---


def parts_of(where: Condition | None) -> Iterator[Condition]:
    """The conditions that must all hold."""
    if isinstance(where, And):
        for part in where.parts:
            yield from parts_of(part)
    elif where is not None:
        yield where


@dataclass(frozen=True, slots=True)
class KeyFound:
    """The key attributes a WHERE fixes, each with all the values it asks for, and what else it says."""

    values: dict[str, list[Value]]
    rest: Condition | None

    def key(self) -> Item:
        return {name: values[0] for name, values in self.values.items()}


def find_key(where: Condition | None, names: Sequence[str], one_of: bool = False) -> KeyFound:
    """`one_of`: an IN with one value is as good as an equality, which is so for reads."""
    values: dict[str, list[Value]] = {}
    rest = []
    for part in parts_of(where):
        test = key_test(part, names)
        if test is None and one_of:
            test = _only_option(part, names)
        if test is None or test.op != "=":
            rest.append(part)
        elif test.values[0] not in values.setdefault(test.name, []):
            values[test.name].append(test.values[0])
    return KeyFound(values, all_of(*rest))


def read_key(where: Condition | None, names: Sequence[str]) -> Item | None:
    """The key of the one item a SELECT is about, if its WHERE says no more and no less than that."""
    found = find_key(where, names, one_of=True)
    is_one = all(len(found.values.get(name, ())) == 1 for name in names)
    return found.key() if is_one and found.rest is None else None


def _only_option(part: Condition, names: Sequence[str]) -> KeyTest | None:
    if isinstance(part, In) and len(part.options) == 1:
        return key_test(Compare("=", part.operand, part.options[0]), names)
    return None


def written_key(where: Condition | None, names: Sequence[str]) -> tuple[Item, Condition | None]:
    """The key of the one item a write is about, and its condition."""
    found = find_key(where, names)
    if any(name not in found.values for name in names):
        raise BadStatement(NO_KEY)
    for name, values in found.values.items():
        if len(values) > 1:
            raise BadStatement(
                f"Multiple conditions on same key {name}. Only single item Update/Insert/Delete are supported"
            )
    return found.key(), found.rest


def key_test(node: Condition, names: Sequence[str]) -> KeyTest | None:
    """The test of a key attribute a simple condition is, if it is one a key can answer."""
    if isinstance(node, Compare) and node.op in SWAPPED:
        if isinstance(node.left, tuple) and isinstance(node.right, dict):
            return _test(node.left, node.op, (node.right,), names)
        if isinstance(node.right, tuple) and isinstance(node.left, dict):
            return _test(node.right, SWAPPED[node.op], (node.left,), names)
    elif isinstance(node, Between):
        if isinstance(node.operand, tuple) and isinstance(node.low, dict) and isinstance(node.high, dict):
            return _test(node.operand, "BETWEEN", (node.low, node.high), names)
    elif isinstance(node, Call) and node.name == "begins_with":
        path, prefix = node.operands
        if isinstance(path, tuple) and isinstance(prefix, dict):
            return _test(path, "begins_with", (prefix,), names)
    return None


def _test(
    path: tuple[str | int, ...], op: str, values: tuple[Value, ...], names: Sequence[str]
) -> KeyTest | None:
    return KeyTest(str(path[0]), op, values) if len(path) == 1 and path[0] in names else None


# --- a row of reads ---


@dataclass(frozen=True, slots=True)
class Branch:
    """One alternative of a WHERE: a partition, tests of the sort key, and what else must hold.

    `is_loose`: something negative is said of the sort key, which no range can answer.
    `whole` is everything the alternative says.
    """

    partition: Value
    tests: tuple[KeyTest, ...]
    filters: tuple[Condition, ...]
    is_loose: bool
    whole: Condition


def branches_of(where: Condition | None, hash_name: str, range_name: str | None) -> list[Branch] | None:
    """The reads a WHERE comes down to; None when it does not fix the partition.

    An alternative that asks for two partitions at once can find nothing, and is none.
    """
    if where is None or not _fixes(where, hash_name):
        return None
    names = (hash_name,) if range_name is None else (hash_name, range_name)
    made = [_branch(parts, hash_name, range_name) for parts in _alternatives(where, names)]
    return [branch for branch in made if branch is not None]


def _fixes(node: Condition, name: str) -> bool:
    if isinstance(node, And):
        return any(_fixes(part, name) for part in node.parts)
    if isinstance(node, Or):
        return all(_fixes(part, name) for part in node.parts)
    if isinstance(node, In):
        return node.operand == (name,) and all(isinstance(option, dict) for option in node.options)
    test = key_test(node, (name,))
    return test is not None and test.op == "="


def _alternatives(node: Condition, names: Sequence[str]) -> list[tuple[Condition, ...]]:
    """Rows of conditions, of which one row must hold as a whole."""
    if isinstance(node, And):
        rows: list[tuple[Condition, ...]] = [()]
        for part in node.parts:
            rows = _few([row + more for row in rows for more in _alternatives(part, names)])
        return rows
    if isinstance(node, Or) and any(name in names for name in top_level_names(node)):
        return _few([row for part in node.parts for row in _alternatives(part, names)])
    if isinstance(node, In) and node.operand in [(name,) for name in names]:
        return _few([(Compare("=", node.operand, option),) for option in node.options])
    return [(node,)]


def _few(rows: list[tuple[Condition, ...]]) -> list[tuple[Condition, ...]]:
    if len(rows) > MAX_READS:
        raise BadStatement(TOO_MANY_READS)
    return rows


def _branch(parts: Sequence[Condition], hash_name: str, range_name: str | None) -> Branch | None:
    partitions: list[Value] = []
    tests: list[KeyTest] = []
    filters: list[Condition] = []
    for part in parts:
        test = key_test(part, (hash_name, range_name or ""))
        if test is None or (test.name == hash_name and test.op != "="):
            filters.append(part)
        elif test.name == hash_name:
            partitions += [value for value in test.values if value not in partitions]
        else:
            tests.append(test)
    if len(partitions) != 1:
        return None
    loose = any(_is_negative(part, range_name) for part in filters)
    return Branch(partitions[0], tuple(tests), tuple(filters), loose, And(tuple(parts)))


def _is_negative(node: Condition, name: str | None) -> bool:
    negative = isinstance(node, Not) or (isinstance(node, Compare) and node.op == "<>")
    return negative and name in top_level_names(node)
