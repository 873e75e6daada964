"""The price book: every figure with its source, what is derived marked, a region nobody knows refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tablewright.design import Load
from tablewright.design.prices import HOME, PRICES, RegionHasNoPrices


def test_every_region_has_every_figure_with_a_source_and_a_date() -> None:
    assert {"us-east-1", "us-east-2", "us-west-1", "us-west-2", "eu-west-1", "af-south-1"} == set(
        PRICES.regions
    )
    for prices in PRICES.regions.values():
        assert set(prices.figures) == set(PRICES.of(HOME).figures)
        for price in prices.figures.values():
            assert price.amount > 0
            assert price.source
            assert price.as_of >= "2024-11"


def test_the_region_that_is_told_of_has_no_derived_figure() -> None:
    assert PRICES.of(HOME).region == HOME
    assert not any(price.derived for price in PRICES.of(HOME).figures.values())
    assert str(PRICES.of(HOME)["read"]) == "$0.125 per million read units"


def test_what_was_read_is_not_derived_and_what_was_not_says_so() -> None:
    ireland = PRICES.of("eu-west-1")
    assert (ireland["write"].amount, ireland["write"].derived) == (Decimal("0.705"), False)
    assert (ireland["backup"].amount, ireland["backup"].derived) == (Decimal("0.1131"), True)
    assert "(derived)" in str(ireland["backup"])


def test_a_derived_figure_is_scaled_as_provisioned_writes_are() -> None:
    cape = PRICES.of("af-south-1")  # 0.00087465 / 0.00065 = 1.3456
    derived = {what: cape[what].amount for what in ("write", "read", "storage", "recovery")}
    assert derived == {
        "write": Decimal("0.841"),
        "read": Decimal("0.1682"),
        "storage": Decimal("0.3364"),
        "recovery": Decimal("0.2691"),
    }


def test_the_way_to_derive_is_within_half_a_per_cent_where_both_are_known() -> None:
    ireland, ratio = PRICES.of("eu-west-1"), Decimal("0.000735") / Decimal("0.00065")
    for what in ("read", "write", "storage"):
        assert abs(PRICES.of(HOME)[what].amount * ratio / ireland[what].amount - 1) < Decimal("0.005")


def test_a_region_without_figures_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(RegionHasNoPrices, match=r"'mars-1'.*af-south-1, eu-west-1, us-east-1"):
        PRICES.of("mars-1")


def test_a_load_is_of_a_month_of_thirty_days() -> None:
    assert Load(per_second=1).calls_a_month == 2_592_000
    assert Load(per_month=7).calls_a_month == 7


def test_requests_are_priced_by_the_million_and_the_rest_singly() -> None:
    assert PRICES.of(HOME)["read"].of(Decimal(450_000)) == Decimal("0.05625")
    assert PRICES.of(HOME)["storage"].of(Decimal(4)) == Decimal(1)
    assert PRICES.of(HOME).cost(1_000_000, 2_000_000) == Decimal("1.375")
