"""A limit on write units: what is consumed over a time stays below it, whatever the items weigh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tablewright.client.rate_limit import WriteBudget, limited


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def steady(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def budget(rate: float, time: Time) -> WriteBudget:
    return WriteBudget(rate, time.steady, time.sleep)


def puts(count: int, length: int = 10) -> dict[str, Any]:
    item = {"name": {"S": "x" * length}}
    return {"RequestItems": {"pets": [{"PutRequest": {"Item": item}}] * count}}


@pytest.mark.parametrize("units", [1.0, 25.0, 400.0])
def test_over_a_time_no_more_is_consumed_than_the_rate_allows(units: float) -> None:
    time, sent = Time(), list[float]()

    def call(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        assert request["ReturnConsumedCapacity"] == "TOTAL"
        sent.append(units)
        return {"ConsumedCapacity": [{"TableName": "pets", "CapacityUnits": units}]}

    slow = limited(call, budget(50, time))
    for _ in range(40):
        slow("BatchWriteItem", puts(1))
    assert sum(sent) <= 50 * time.now + 50 + units
    assert sum(sent) >= 50 * time.now - 1  # and it is used up


def test_an_endpoint_that_reports_nothing_is_charged_by_the_size_of_its_items() -> None:
    time = Time()
    slow = limited(lambda verb, request: {}, budget(10, time))
    for _ in range(5):
        slow("BatchWriteItem", puts(10, 1500))  # two units each
    assert time.now >= (4 * 20 - 10) / 10


def test_reads_do_not_wait_and_are_sent_as_they_are() -> None:
    time, seen = Time(), list[Mapping[str, Any]]()

    def call(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        seen.append(request)
        return {}

    spent = budget(1, time)
    spent.charge(1000)
    limited(call, spent)("Scan", {"TableName": "pets"})
    assert (time.now, seen) == (0.0, [{"TableName": "pets"}])


def test_a_rate_that_lets_nothing_through_is_refused() -> None:
    with pytest.raises(ValueError, match="positive number of write units"):
        WriteBudget(0)
