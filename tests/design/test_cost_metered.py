"""What some hours have cost, by figures computed by hand."""

from __future__ import annotations

from decimal import Decimal

from tablewright.design import Environment, Provisioned
from tablewright.design.cost.metered import TableUse, charges
from tablewright.design.prices import PRICES

MILLION = Decimal(1_000_000)
GB = Decimal(10**9)
HERE = PRICES.of("us-east-1")


def test_requests_are_paid_by_the_unit_and_storage_by_the_hour() -> None:
    use = TableUse("t", 2 * MILLION, MILLION, 3 * GB, GB)
    plain = Environment("x", "us-east-1")
    requests = 2 * HERE["read"].amount + HERE["write"].amount
    assert charges(plain, [use], Decimal(0)) == requests
    assert charges(plain, [use], Decimal(720)) == requests + 4 * HERE["storage"].amount
    recoverable = Environment("x", "us-east-1", pitr_days=35)
    stored = 4 * HERE["storage"].amount + 3 * HERE["recovery"].amount
    assert charges(recoverable, [use], Decimal(720)) == requests + stored


def test_provisioned_units_are_paid_whether_they_are_used_or_not_for_the_table_and_each_index() -> None:
    given = Environment("x", "us-east-1", of_tables={"t": Provisioned(10, 5)})
    use = TableUse("t", 2 * MILLION, MILLION, Decimal(), indexes=1)
    hour = 2 * (10 * HERE["read_hour"].amount + 5 * HERE["write_hour"].amount)
    assert charges(given, [use], Decimal(24)) == 24 * hour
    idle = TableUse("t", Decimal(), Decimal(), Decimal(), indexes=1)
    assert charges(given, [idle], Decimal(24)) == 24 * hour


def test_a_replica_is_written_to_and_stored_again_and_not_read() -> None:
    far = Environment("x", "us-east-1", replicas=("eu-west-1",))
    use = TableUse("t", MILLION, MILLION, GB)
    there = PRICES.of("eu-west-1")
    expected = HERE["read"].amount + HERE["replicated_write"].amount + there["replicated_write"].amount
    expected += HERE["storage"].amount + there["storage"].amount
    assert charges(far, [use], Decimal(720)) == expected
