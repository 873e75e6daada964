"""DescribeLimits and DescribeEndpoints: what an account may ask for, and where."""

from __future__ import annotations

from tests.conformance.talk import Answered


def test_an_account_may_provision_80000_units_and_a_table_40000(answered: Answered) -> None:
    assert answered("DescribeLimits", {}) == {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }


def test_an_endpoint_has_an_address_and_a_time_to_remember_it(answered: Answered) -> None:
    (endpoint,) = answered("DescribeEndpoints", {})["Endpoints"]
    assert set(endpoint) == {"Address", "CachePeriodInMinutes"}
    assert isinstance(endpoint["Address"], str)
    assert endpoint["Address"]
    assert endpoint["CachePeriodInMinutes"] > 0
