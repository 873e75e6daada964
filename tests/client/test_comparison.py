"""Which items differ between two tables: what is the same however it is written, and what is not."""

from __future__ import annotations

from typing import Any

import pytest
from tests.client.ways import put, table

from tablewright import Engine
from tablewright.client import embedded
from tablewright.client.comparison import Difference, differences

SAME = [
    ({"n": {"N": "1"}}, {"n": {"N": "1.0"}}),
    ({"s": {"SS": ["a", "b"]}}, {"s": {"SS": ["b", "a"]}}),
    ({}, {}),
]
OTHER = [
    ({"n": {"N": "1"}}, {"n": {"S": "1"}}),
    ({"n": {"N": "1"}}, {}),
    ({}, {"n": {"NULL": True}}),
    ({"n": {"L": [{"N": "1"}]}}, {"n": {"L": []}}),
]


def compared(engine: Engine, one: dict[str, Any], other: dict[str, Any]) -> list[Difference]:
    for name, attributes in (("pets", one), ("later", other)):
        if name != "pets":
            engine.call("CreateTable", table(name))
        engine.call("PutItem", {**put("rex", **attributes), "TableName": name})
    return list(differences(embedded(engine), "pets", "later"))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_is_equal_is_no_difference(engine: Engine, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert compared(engine, one, other) == []


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_differs_is_named(engine: Engine, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert compared(engine, one, other) == [Difference({"pk": {"S": "rex"}}, "changed", ("n",))]
