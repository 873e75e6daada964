"""Conditions and filters: what holds and what does not.

Every truth is asked twice, as a ConditionExpression of PutItem and as a FilterExpression of Query: the
two are one language. Elsewhere: what is refused before any item is read (test_expressions_refused.py), key
conditions (test_query.py).
"""

from __future__ import annotations

import re

import pytest
from tests.conformance.talk import Answered, Json, Refused

N: dict[str, Json] = {f":{n}": {"N": str(n)} for n in range(10)}
GIVEN: Json = {
    **N,
    ":5.0": {"N": "5.0"},
    ":hello": {"S": "hello"},
    ":he": {"S": "he"},
    ":lo": {"S": "lo"},
    ":a": {"S": "a"},
    ":z": {"S": "z"},
    ":é": {"S": "é"},
    ":s5": {"S": "5"},
    ":empty": {"S": ""},
    ":b": {"B": "aGVsbG8="},
    ":bhe": {"B": "aGU="},
    ":bell": {"B": "ZWxs"},
    ":true": {"BOOL": True},
    ":false": {"BOOL": False},
    ":null": {"NULL": True},
    ":list": {"L": [{"N": "1"}, {"S": "two"}, {"M": {"k": {"S": "v"}}}]},
    ":listr": {"L": [{"S": "two"}, {"N": "1"}, {"M": {"k": {"S": "v"}}}]},
    ":map": {"M": {"deep": {"L": [{"N": "1.0"}]}, "k": {"S": "v"}}},
    ":mapk": {"M": {"k": {"S": "v"}}},
    ":two": {"S": "two"},
    ":v": {"S": "v"},
    ":ss": {"SS": ["b", "a"]},
    ":ssa": {"SS": ["a"]},
    ":ns": {"NS": ["2.0", "1"]},
    **{f":t{kind}": {"S": kind} for kind in ("S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS")},
}
ITEM: Json = {
    "n": {"N": "5"},
    "n2": {"N": "5.00"},
    "neg": {"N": "-1"},
    "s": {"S": "hello"},
    "e": {"S": ""},
    "emoji": {"S": "é😀"},
    "b": {"B": "aGVsbG8="},
    "t": {"BOOL": True},
    "nul": {"NULL": True},
    "l": {"L": [{"N": "1"}, {"S": "two"}, {"M": {"k": {"S": "v"}}}]},
    "m": {"M": {"k": {"S": "v"}, "deep": {"L": [{"N": "1"}]}}},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2"]},
    "bs": {"BS": ["aGU="]},
}

HOLD = [
    "n = :5",
    "n = :5.0",
    "n = n2",
    ":5 = n",
    "n <> :4",
    "n < :6",
    "n <= :5",
    "n > :4",
    "n >= :5",
    "neg < :0",
    "s = :hello",
    "s > :he",
    "s < :z",
    "e = :empty",
    "b = :b",
    "b > :bhe",
    "t = :true",
    "t <> :false",
    "nul = :null",
    "l = :list",
    "l <> :listr",
    "m = :map",
    "m <> :mapk",
    "ss = :ss",
    "ns = :ns",
    "ss <> :ssa",
    ":5 = :5.0",
    ":4 < :5",
    # a missing operand: <> is true, everything else is false
    "nope <> :5",
    "nope <> n",
    "m.nope <> :v",
    "l[9] <> :1",
    "NOT nope = :5",
    "NOT nope < :5",
    # operands of different types are neither equal nor ordered
    "n <> :s5",
    "NOT n = :s5",
    "NOT n < :s5",
    "NOT n > :s5",
    "l <> :ss",
    "n BETWEEN :4 AND :6",
    "n BETWEEN :5 AND :5",
    "s BETWEEN :a AND :z",
    ":5 BETWEEN n AND n2",
    "NOT nope BETWEEN :4 AND :6",
    "NOT s BETWEEN :4 AND :6",
    "n IN (:4, :5)",
    "n IN (:5.0)",
    "t IN (:false, :true)",
    "m.k IN (:two, :v)",
    "l IN (:listr, :list)",
    "n IN (n2, :1)",
    "NOT nope IN (:4, :5)",
    "attribute_exists(n)",
    "attribute_exists(nul)",
    "attribute_exists(m.deep[0])",
    "attribute_exists(l[2].k)",
    "attribute_not_exists(nope)",
    "attribute_not_exists(m.nope)",
    "attribute_not_exists(l[3])",
    "attribute_not_exists(s.x)",
    "attribute_not_exists(m[0])",
    "attribute_type(n, :tN)",
    "attribute_type(s, :tS)",
    "attribute_type(b, :tB)",
    "attribute_type(t, :tBOOL)",
    "attribute_type(nul, :tNULL)",
    "attribute_type(l, :tL)",
    "attribute_type(m, :tM)",
    "attribute_type(ss, :tSS)",
    "attribute_type(ns, :tNS)",
    "attribute_type(bs, :tBS)",
    "attribute_type(l[1], :tS)",
    "NOT attribute_type(n, :tS)",
    "NOT attribute_type(nope, :tS)",
    "begins_with(s, :he)",
    "begins_with(s, :hello)",
    "begins_with(s, :empty)",
    "begins_with(b, :bhe)",
    "begins_with(m.k, :v)",
    "NOT begins_with(s, :lo)",
    "NOT begins_with(n, :s5)",
    "NOT begins_with(nope, :he)",
    "NOT begins_with(s, :bhe)",
    "contains(s, :lo)",
    "contains(s, :empty)",
    "contains(b, :bell)",
    "contains(ss, :a)",
    "contains(ns, :1)",
    "contains(bs, :bhe)",
    "contains(l, :two)",
    "contains(l, :1)",
    "contains(l, :mapk)",
    "NOT contains(ss, :z)",
    "NOT contains(ss, :1)",
    "NOT contains(n, :s5)",
    "NOT contains(m, :v)",
    "NOT contains(nope, :a)",
    "NOT contains(s, :bell)",
    "size(s) = :5",
    "size(e) = :0",
    "size(emoji) = :3",
    "size(b) = :5",
    "size(l) = :3",
    "size(m) = :2",
    "size(ss) = :2",
    "size(bs) = :1",
    "size(s) BETWEEN :4 AND :6",
    "size(s) IN (:5)",
    "size(s) > size(ss)",
    "size(m.k) < n",
    "size(:hello) = n",
    # what has no size is missing
    "NOT size(n) = :1",
    "size(n) <> :1",
    "size(nul) <> :1",
    "NOT size(nope) > :0",
    "m.k = :v",
    "l[0] = :1",
    "l[2].k = :v",
    "m.deep[0] = :1",
    # NOT binds before AND, AND before OR, and BETWEEN keeps its own AND
    "n = :5 OR n = :4 AND n = :3",
    "NOT n = :4 AND n = :5",
    "NOT (n = :4 OR n = :3)",
    "NOT n = :5 OR n = :5",
    "(n = :4 OR n = :5) AND s = :hello",
    "n BETWEEN :4 AND :6 AND s = :hello",
    "NOT n BETWEEN :6 AND :7",
    "NOT NOT n = :5",
    "not n = :4 and s = :hello Or n = :3",
    "n between :4 and :6",
    "n in (:5)",
    "(n = :5)",
    "n=:5\nAND\ts=:hello",
]


def values_of(expression: str) -> Json:
    """The given values the expression names: an unused one would be refused."""
    named = set(re.findall(r":[\w.é]+", expression))
    return {plain(name): GIVEN[name] for name in named}


def plain(name: str) -> str:
    """Placeholders hold letters, digits and _ only; the tables above are easier to read with more."""
    return name.replace(".", "_").replace("é", "eacute")


def opposite(text: str) -> str:
    """A second pair around a single pair would be refused as redundant."""
    return f"NOT {text}" if re.fullmatch(r"\([^()]*\)", text) else f"NOT ({text})"


@pytest.fixture(scope="module")
def item(answered: Answered, comp_table: str) -> Json:
    """An item that is there; putting it again under a condition that holds changes nothing."""
    there = {"pk": {"S": "k-expressions-in-conditions"}, "sk": {"S": "1"}, **ITEM}
    answered("PutItem", {"TableName": comp_table, "Item": there})
    return there


@pytest.mark.parametrize("expression", HOLD)
def test_a_condition_holds(
    answered: Answered, refused: Refused, comp_table: str, item: Json, expression: str
) -> None:
    given = {"ExpressionAttributeValues": values_of(expression)} if ":" in expression else {}
    text = re.sub(r":[\w.é]+", lambda found: plain(found.group()), expression)
    request = {"TableName": comp_table, "Item": item, **given}
    assert answered("PutItem", {**request, "ConditionExpression": text}) == {}
    assert refused("PutItem", {**request, "ConditionExpression": opposite(text)}) == (
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )


@pytest.mark.parametrize("expression", HOLD)
def test_a_filter_keeps_what_a_condition_allows(
    answered: Answered, comp_table: str, item: Json, expression: str
) -> None:
    text = re.sub(r":[\w.é]+", lambda found: plain(found.group()), expression)
    request = {
        "TableName": comp_table,
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": item["pk"], **values_of(expression)},
        "Select": "COUNT",
    }
    kept = answered("Query", {**request, "FilterExpression": text})
    dropped = answered("Query", {**request, "FilterExpression": opposite(text)})
    assert (kept["Count"], kept["ScannedCount"]) == (1, 1)
    assert (dropped["Count"], dropped["ScannedCount"]) == (0, 1)
