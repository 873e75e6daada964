"""The cost report has the figures that the defects name, computed from sizes (ZC-45)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tablewright.systems.chat.legacy.cost_report import (
    cost_report,
    document_prices,
    first_version_month,
    first_version_writes,
    longer_than,
    second_version_month,
    second_version_writes,
    stated_year,
    storage_month,
)


def test_zc_d25_an_append_in_the_first_version_takes_13_units_on_average() -> None:
    assert first_version_writes(50) == 646
    rows = {row.what: row.computed for row in cost_report()}
    assert round(rows["an append in the first version, on average"]) == 13
    assert rows["a read of a full conversation in the first version"] == 7


def test_zc_d25_the_first_version_is_about_six_times_dearer_than_stated() -> None:
    assert 5 < first_version_month(document_prices()) / Decimal("0.44") < 7.5


@pytest.mark.parametrize(("drawn", "units"), [("as drawn", 5), ("in transactions", 7), ("status by day", 5)])
def test_zc_d26_a_message_in_the_second_version_takes_its_index_writes_too(drawn: str, units: int) -> None:
    assert second_version_writes(drawn) == units  # type: ignore[arg-type]  # a literal in the table above


def test_zc_d26_the_second_version_writes_less_only_for_long_conversations() -> None:
    assert 18 <= longer_than("as drawn") <= 21
    assert 26 <= longer_than("in transactions") <= 29
    assert second_version_month(document_prices(), "status by day") < first_version_month(document_prices())


def test_zc_d27_fifty_million_messages_cost_what_the_documents_own_units_say() -> None:
    """ZC-44, ZC-45."""
    assert (stated_year(2, 1), stated_year(2, 0)) == (Decimal("137.5"), Decimal(125))


def test_zc_d28_storage_of_404_kilobytes_is_a_hundredth_of_a_cent() -> None:
    assert round(storage_month(404_000, document_prices()), 4) == Decimal("0.0001")
    rows = {row.what: row.computed for row in cost_report()}
    assert rows["messages in a year at a million a month"] == 12_000_000
