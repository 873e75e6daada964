"""What a step costs, from what the service last counted of the table. Pure.

Must hold: a figure has its arithmetic beside it; where there are no prices of the region, it says so.
Elsewhere: prices (design/prices.py), what a design costs each month (design/cost/).
"""

from decimal import Decimal

from tablewright.design.cost.fixed import HOURS
from tablewright.design.cost.format import GB, count, gigabytes, money
from tablewright.design.prices import Prices
from tablewright.design.units import write_units
from tablewright.mapping.deploy.states import TableState, Units
from tablewright.mapping.deploy.steps import Cost

LEAST_VECTOR_BYTES = 1024


def index_cost(table: TableState, units: Units | None, prices: Prices | None) -> Cost:
    """A backfill writes each item once; each entry is taken to be as large as its item, which is the most it can be."""
    if not table.items:
        return Cost(how="nothing: the table had no items when it was last counted")
    size = Decimal(table.size) / table.items
    each = write_units(size)
    written = f"{count(table.items)} items x {count(each)} write units"
    if prices is None:
        return Cost(how=f"{written}; there are no prices of its region here")
    monthly = prices["storage"].of(table.size / GB)
    kept = f"up to {gigabytes(Decimal(table.size))} more storage = {money(monthly)} a month"
    if units is not None:
        seconds = table.items * each / units.write
        return Cost(
            monthly=monthly,
            how=f"{written} of the {units.write} a second that it has, {count(seconds)} s at least; {kept}",
        )
    once = prices["write"].of(table.items * each)
    return Cost(once, monthly, f"{written} x {prices['write']} = {money(once)} once; {kept}")


def vector_cost(table: TableState, dimensions: int, prices: Prices | None) -> Cost:
    if not table.items:
        return Cost(how="nothing: the table had no items when it was last counted")
    each = max(Decimal(4 * dimensions) + Decimal(table.size) / table.items, Decimal(LEAST_VECTOR_BYTES))
    size = table.items * each
    written = f"up to {count(table.items)} entries of {count(each)} bytes = {gigabytes(size)}"
    if prices is None:
        return Cost(how=f"{written}; there are no prices of its region here")
    once, monthly = prices["vector_write"].of(size / GB), prices["storage"].of(size / GB)
    return Cost(
        once,
        monthly,
        f"{written} x {prices['vector_write']} = {money(once)} once; storage = {money(monthly)} a month",
    )


def capacity_cost(table: TableState, prices: Prices | None) -> Cost:
    """What the units of a table and its indexes cost in a month; nothing in advance where each request is paid for."""
    if table.units is None:
        return Cost(how="nothing in advance: each request is paid for")
    each = [table.units, *(index.units for index in table.indexes.values() if index.units)]
    read, write = sum(units.read for units in each), sum(units.write for units in each)
    reserved = f"{count(read)} read and {count(write)} write units x {HOURS} h"
    if prices is None:
        return Cost(how=f"{reserved}; there are no prices of its region here")
    hours = Decimal(HOURS)
    monthly = prices["read_hour"].of(read * hours) + prices["write_hour"].of(write * hours)
    return Cost(monthly=monthly, how=f"{reserved} = {money(monthly)} a month")


def recovery_cost(table: TableState, prices: Prices | None) -> Cost:
    size = Decimal(table.size)
    if prices is None:
        return Cost(how=f"{gigabytes(size)}; there are no prices of its region here")
    monthly = prices["recovery"].of(size / GB)
    return Cost(monthly=monthly, how=f"{gigabytes(size)} x {prices['recovery']} = {money(monthly)} a month")
