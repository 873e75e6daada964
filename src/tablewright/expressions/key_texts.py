"""From the text of a KeyConditionExpression to its tests, the short way where there is one.

Nearly every query has a text such as `#pk = :pk AND begins_with(sk, :sk)` and sends it again and again: what
does not depend on the request is worked out once, and no nodes are made for its values only to be taken apart.
Must hold: what goes the short way would pass the long one (resolve.condition, keys.key_tests) and give the same
tests. None on the way is only a suspicion: the long way then names the mistake, if there is one.
"""

from functools import lru_cache
from typing import NamedTuple

from tablewright.expressions.errors import BadExpression
from tablewright.expressions.keys import KeyTest, key_tests
from tablewright.expressions.nodes import And, Call, Compare, Condition, ValueRef
from tablewright.expressions.operand_checks import ORDERED, TEXTS
from tablewright.expressions.parse import parse_condition
from tablewright.expressions.resolve import REMEMBERED, Placeholders, condition
from tablewright.values.codec import KINDS

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
