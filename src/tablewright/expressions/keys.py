"""Key conditions: from a text to tests on key attributes, and from tests to a walk of an index.

`key_tests` knows only the condition; `plan_keys` knows the key schema. The service keeps these apart too:
the first set of mistakes is found before it looks for the table.
Nearly every query has a text such as `#pk = :pk AND begins_with(sk, :sk)` and sends it again and again: what does not
depend on the request is worked out once, and no nodes are made for its values only to be taken apart.
Must hold: a plan names every partition attribute, then sort attributes from the left without a gap, all
of them with equality but the last. What goes the short way would pass the long one (resolve.condition, key_tests) and
give the same tests. None on the way is only a suspicion: the long way then names the mistake, if there is one.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from tablewright.expressions.errors import BadExpression
from tablewright.expressions.nodes import And, Between, Call, Compare, Condition, Operand, ValueRef
from tablewright.expressions.operand_checks import ORDERED, TEXTS
from tablewright.expressions.parse import parse_condition
from tablewright.expressions.resolve import REMEMBERED, Placeholders, condition
from tablewright.values import Value
from tablewright.values.codec import KINDS

SWAPPED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SORT_OPERATORS = frozenset((*SWAPPED, "BETWEEN", "begins_with"))

NOT_SUPPORTED = "Query key condition not supported"
NOT_INDEXABLE = "Attempted conditional constraint is not an indexable operation"
WRONG_TYPE = "One or more parameter values were invalid: Condition parameter type does not match schema type"
_MISSED = "Query condition missed key schema element: "
_INVALID_OPERATOR = "Invalid operator used in KeyConditionExpression: "
_INVALID_CONDITION = "Invalid condition in KeyConditionExpression: "
_TWICE = "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"
_NESTED = (
    "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes"
)
_MUST_BE_EQUAL = "must have equality conditions specified in the query"
_EMPTY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute "
    "cannot contain an empty {} value. Key: {}"
)


class KeyTest(NamedTuple):
    """One test of one key attribute: `=`, `<`, `<=`, `>`, `>=`, `BETWEEN` (two values) or `begins_with`."""

    name: str
    op: str
    values: tuple[Value, ...]


class KeyPlan(NamedTuple):
    """The partition, the leading sort attributes that are pinned, and the test on the one after them."""

    partition: tuple[Value, ...]
    sort_equal: tuple[Value, ...]
    last: KeyTest | None


# --- from a text, the short way where there is one ---

# The types of value that fit beside an operator. BETWEEN, whose bounds must fit each other too, goes the long way.
_FITTING = {"=": KINDS, "<": ORDERED, "<=": ORDERED, ">": ORDERED, ">=": ORDERED, "begins_with": TEXTS}


class _PlainTest(NamedTuple):
    """An attribute beside a value, neither of them looked up yet."""

    name: str
    op: str
    value: str
    fitting: frozenset[str]


def key_condition(text: str, given: Placeholders) -> tuple[KeyTest, ...]:
    """The tests of a KeyConditionExpression, in the order of its text."""
    return _quick_tests(text, given) or key_tests(condition(text, "KeyConditionExpression", given))


def _quick_tests(text: str, given: Placeholders) -> tuple[KeyTest, ...] | None:
    plain, placeholders = _plain_tests(text)
    names, values = given.names or {}, given.values or {}
    tests = []
    for name, op, ref, fitting in plain:
        attribute = names.get(name) if name[0] == "#" else name
        value = values.get(ref)
        if attribute is None or value is None or fitting.isdisjoint(value):
            return None
        tests.append(KeyTest(attribute, op, (value,)))
    if names and len({test.name for test in tests}) < len(tests):
        return None
    given.used.update(placeholders)
    return tuple(tests)


@lru_cache(maxsize=REMEMBERED)
def _plain_tests(text: str) -> tuple[tuple[_PlainTest, ...], tuple[str, ...]]:
    """The tests of a text that has no others, and all of its placeholders; no tests for any other text."""
    try:
        node = parse_condition(text)
    except BadExpression:
        return (), ()
    parts = [_plain_test(part) for part in (node.parts if isinstance(node, And) else (node,))]
    tests = tuple([part for part in parts if part is not None])
    if len({test.name for test in tests}) < len(parts):
        return (), ()
    names = [test.name for test in tests if test.name[0] == "#"]
    return tests, (*names, *[test.value for test in tests])


def _plain_test(node: Condition) -> _PlainTest | None:
    match node:
        case Compare(op, (str(name),), ValueRef(ref)) | Call(op, ((str(name),), ValueRef(ref))):
            return _PlainTest(name, op, ref, _FITTING[op]) if op in _FITTING else None
        case _:
            return None


# --- from a condition ---


def key_tests(node: Condition) -> tuple[KeyTest, ...]:
    """The tests of a resolved KeyConditionExpression, in the order of its text."""
    tests: dict[str, KeyTest] = {}
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, And):
            waiting.extend(reversed(node.parts))
            continue
        test = _key_test(node)
        if test.name in tests:
            raise BadExpression(_TWICE)
        tests[test.name] = test
    return tuple(tests.values())


def _key_test(node: Condition) -> KeyTest:
    if isinstance(node, Compare) and node.op != "<>":
        name, values = _name_and_values((node.left, node.right))
        op = node.op if isinstance(node.left, tuple) else SWAPPED[node.op]
        return KeyTest(name, op, values)
    if isinstance(node, Call) and node.name == "begins_with":
        return _test_of_first("begins_with", node.operands)
    if isinstance(node, Between):
        return _test_of_first("BETWEEN", (node.operand, node.low, node.high))
    raise BadExpression(_INVALID_OPERATOR + _operator(node))


def _operator(node: Condition) -> str:
    if isinstance(node, Call):
        return node.name
    return node.op if isinstance(node, Compare) else type(node).__name__.upper()


def _test_of_first(op: str, operands: tuple[Operand, ...]) -> KeyTest:
    if not isinstance(operands[0], tuple):
        raise BadExpression(
            f"{_INVALID_CONDITION}{op} operator must have the key attribute as its first operand"
        )
    name, values = _name_and_values(operands)
    return KeyTest(name, op, values)


def _name_and_values(operands: tuple[Operand, ...]) -> tuple[str, tuple[Value, ...]]:
    """The one attribute among the operands, and the values."""
    name = ""
    values = []
    for operand in operands:
        if isinstance(operand, dict):
            values.append(operand)
        elif not isinstance(operand, tuple):
            raise BadExpression("KeyConditionExpressions cannot contain nested operations")
        elif name:
            raise BadExpression(_INVALID_CONDITION + "Multiple attribute names used in one condition")
        elif len(operand) > 1:
            raise BadExpression(_NESTED)
        else:
            name = str(operand[0])
    if not name:
        raise BadExpression(_INVALID_CONDITION + "No key attribute specified")
    return name, tuple(values)


# --- to a walk of a table or index ---


def plan_keys(
    tests: Sequence[KeyTest],
    hash_names: tuple[str, ...],
    range_names: tuple[str, ...],
    types: Mapping[str, str],
) -> KeyPlan:
    """The walk of the table or index with this key schema that answers the tests."""
    if len(tests) == 2 and len(hash_names) == 1 and len(range_names) == 1:
        # Most queries: the partition, and a test of the sort key.
        equal, last = tests
        if (
            equal.name == hash_names[0]
            and equal.op == "="
            and equal.values[0].get(types[equal.name])
            and last.name == range_names[0]
            and last.op in _FITTING
            and last.values[0].get(types[last.name])
        ):
            pinned = last.op == "="
            return KeyPlan(equal.values, last.values if pinned else (), None if pinned else last)
    by_name = {test.name: test for test in tests}
    if len(by_name) > len(hash_names) + len(range_names):
        raise BadExpression(
            f"The number of query conditions ({len(by_name)}) exceeds the number of key attributes "
            f"defined in the schema ({len(hash_names) + len(range_names)})"
        )
    partition = []
    for name in hash_names:
        found = by_name.get(name)
        if found is None or found.op != "=":
            raise _no_partition(by_name, hash_names)
        _refuse_bad_values(found, types[name])
        partition.append(found.values[0])
    sort, end = [], None
    for name in range_names:
        found = by_name.get(name)
        if found is None:
            break
        _refuse_bad_values(found, types[name])
        if found.op != "=":
            end = found
            break
        sort.append(found.values[0])
    if len(partition) + len(sort) + (end is not None) != len(by_name):
        raise _no_sort(by_name, hash_names, range_names)
    if end is not None and end.op not in _SORT_OPERATORS:
        raise BadExpression(NOT_INDEXABLE)
    return KeyPlan(tuple(partition), tuple(sort), end)


def _no_partition(by_name: Mapping[str, KeyTest], hash_names: tuple[str, ...]) -> BadExpression:
    if len(hash_names) > 1:
        loose = [name for name in hash_names if name not in by_name or by_name[name].op != "="]
        return BadExpression(f"HASH key attributes {', '.join(loose)} {_MUST_BE_EQUAL}")
    return BadExpression(NOT_SUPPORTED if hash_names[0] in by_name else _MISSED + hash_names[0])


def _no_sort(
    by_name: Mapping[str, KeyTest], hash_names: tuple[str, ...], range_names: tuple[str, ...]
) -> BadExpression:
    """The sentence for tests that are left over once the sort attributes have been gone through."""
    used = [name for name in range_names if name in by_name]
    if len(hash_names) + len(used) < len(by_name):
        # A test of something that is not a key here: the service names the key it might have meant.
        return BadExpression(_MISSED + next(name for name in range_names if name not in by_name))
    left_of_last = range_names[: range_names.index(used[-1])]
    loose = [name for name in left_of_last if name not in by_name or by_name[name].op != "="]
    return BadExpression(
        f"RANGE key attributes {', '.join(loose)} {_MUST_BE_EQUAL} "
        f"because a condition is present on key attribute {used[-1]}"
    )


def _refuse_bad_values(test: KeyTest, kind: str) -> None:
    for value in test.values:
        if kind not in value:
            raise BadExpression(WRONG_TYPE)
        if not value[kind]:
            raise BadExpression(_EMPTY.format("binary" if kind == "B" else "string", test.name))
