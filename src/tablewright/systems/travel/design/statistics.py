"""What is counted: a traveller's figures (SK-26, SK-D15), the visitors of a region."""

from datetime import date

from tablewright.design import Data, Expires, Keys, Load, Retention, begins
from tablewright.systems.travel.design.base import STATISTICS_KEPT, TRAVEL, gsi1, table
from tablewright.systems.travel.model import RegionTally, RegionType, Statistic

__all__ = [
    "region_tallies",
    "statistics",
    "statistics_of",
    "statistics_of_day",
]


def tally_key(region_type: RegionType, region_code: str, shard: str) -> None: ...


region_tallies = table.entity(
    RegionTally,
    tally_key,
    tag="region_tally",
    pk="TALLY#{region_type}#{region_code}#{shard}",
    sk="VISITORS",
    retention=Retention(None, "the figures of a region"),
    load={"upsert": Load(per_month=10_000, item_bytes=150, once=True, new=0.05)},
)


def statistic_key(user_id: str, calculation_date: date) -> None: ...


statistics = table.entity(
    Statistic,
    statistic_key,
    tag="statistic",
    pk="USER#{user_id}",
    sk="STATS#{calculation_date}",
    on={gsi1: Keys("STATS_DATE#{calculation_date}#{user_id:shard.16}", "USER#{user_id}")},
    expires=Expires("calculated_at", STATISTICS_KEPT),
    data={"recent_visits": Data.PERSONAL, "marks": Data.PERSONAL},
    retention=Retention(STATISTICS_KEPT, "so that figures are not counted for every request"),
    load={"put": Load(per_month=100_000, item_bytes=4_000, new=0.3)},
)


# --- access patterns ---


@TRAVEL.query(
    statistics,
    pk="USER#{user_id}",
    sk=begins("STATS#"),
    descending=True,
    consistent=True,
    page=7,
    load=Load(per_month=300_000, items=1, item_bytes=4_000),
)
def statistics_of(*, user_id: str) -> None:
    """A traveller's figures, of the last day first."""


@TRAVEL.query(
    statistics,
    on=gsi1,
    pk="STATS_DATE#{calculation_date}#{user_id:shard.16}",
    page=100,
    at_most=100,
    roles=("admin",),
    load=Load(per_month=30, items=1_000, item_bytes=4_000),
)
def statistics_of_day(*, calculation_date: date) -> None:
    """SK-D15: all travellers' figures of a day."""
