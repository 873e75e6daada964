"""What a table costs without any request: reserved capacity, storage, backups, stream readers, replicas. Pure.

Each function gives the lines of one part, each with its arithmetic. A month has thirty days, 720 hours.
Elsewhere: what requests cost (bill.py), how much there is (storage.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

from tablewright.design.cost.calls import CallKind, PlannedCall
from tablewright.design.cost.format import GB, count, gigabytes, money, total, with_unit
from tablewright.design.cost.report import CostLine, Part
from tablewright.design.cost.schedules import times_a_day
from tablewright.design.cost.storage import StoredItems, storage_formula
from tablewright.design.design import Design
from tablewright.design.environments import Environment, Provisioned
from tablewright.design.prices import Price, PriceBook, PriceKind, Prices
from tablewright.design.traits import SECONDS_PER_MONTH
from tablewright.design.units import write_units

HOURS = SECONDS_PER_MONTH // 3600
# A new table that is paid for by the request carries 4 000 writes a second: four partitions, each with a shard.
SHARDS_ON_DEMAND = 4
POLLS_A_SECOND = 1


@dataclass(frozen=True, slots=True)
class CostContext:
    """A design in an environment, with what it does in a month and what it keeps."""

    design: Design
    environment: Environment
    book: PriceBook
    calls: tuple[PlannedCall, ...]
    items: tuple[StoredItems, ...]
    # How often the stated workload is taken.
    times: Decimal = Decimal(1)

    @property
    def prices(self) -> Prices:
        return self.book.of(self.environment.region)

    def reserved(self, table: str) -> Provisioned | None:
        """What is provisioned for a table; for one that is not the design's, as receipts are, nothing."""
        given = self.environment.capacity_of(table)
        return given if isinstance(given, Provisioned) and table in self.design.tables else None

    def units(self, kind: CallKind, table: str, index: str | None = None) -> Decimal:
        """A month's units of a table: of one arm of it, or of all. A local index takes its units from the table."""
        calls = [call for call in self.calls if call.kind == kind]
        local = {each.name for each in self.design.indexes if each.local and each.table.name == table}
        names = {index} | (local if index == "" else set())
        return total(
            call.a_month * use.units
            for call in calls
            for use in call.uses
            if use.table == table and (index is None or use.index in names)
        )

    @property
    def only_changes(self) -> "CostContext":
        """Without calls that change nothing: a check is paid for as a write, and nothing is copied to replicas."""
        return replace(self, calls=tuple(call for call in self.calls if call.changes))

    def replicated(self, table: str) -> Decimal:
        """A month's units of a table that replicas pay again."""
        return self.only_changes.units("write", table)

    @property
    def tables(self) -> tuple[str, ...]:
        """The design's, and those beside them that its calls touch, as receipts are."""
        beside = (use.table for call in self.calls for use in call.uses)
        return tuple(dict.fromkeys((*self.design.tables, *beside)))

    def billed_bytes(self, table: str) -> Decimal:
        """Bytes of a table without its global indexes: what recovery and backups are billed for."""
        local = {index.name for index in self.design.indexes if index.local and index.table.name == table}
        stored = (kept for kept in self.items if kept.table == table)
        return total(kept.bytes_in_table * (1 + len(local.intersection(kept.indexes))) for kept in stored)


def priced(
    part: Part, table: str, name: str, quantity: Decimal, price: Price, how: str, assumed: Sequence[str] = ()
) -> CostLine:
    """A line whose sentence ends with what the quantity costs."""
    amount = price.of(quantity)
    sentence = f"{how} x {price} = {money(amount)}"
    return CostLine(part, table, name, quantity, amount, sentence, tuple(assumed), price.derived)


# --- capacity ---


def capacity(context: CostContext) -> Iterator[CostLine]:
    """Of tables with provisioned capacity: so many units, every hour."""
    for table in context.design.tables:
        write: PriceKind = "replicated_write_hour" if context.environment.replicas else "write_hour"
        yield from _reserved(context, table, context.prices, "capacity", write)


def _reserved(
    context: CostContext, table: str, prices: Prices, part: Part, write: PriceKind, where: str = ""
) -> Iterator[CostLine]:
    given = context.reserved(table)
    if given is None:
        return
    uses = ["", *(i.name for i in context.design.indexes if i.table.name == table and not i.local)]
    sides: tuple[tuple[CallKind, int, int | None, PriceKind], ...] = (
        ("read", given.read, given.max_read, "read_hour"),
        ("write", given.write, given.max_write, write),
    )
    for index in uses:
        for kind, low, high, what in sides:
            used = context.units(kind, table, index) / SECONDS_PER_MONTH
            units, why, assumed = _scaled(used, low, high, given.target)
            hours = Decimal(units * HOURS)
            name = f"{kind} capacity{' of ' + index if index else ''}{where}"
            how = f"{with_unit(units, 'unit')} ({why}) x {HOURS} hours = {count(hours)} unit-hours"
            yield priced(part, table, name, hours, prices[what], how, assumed)


def _scaled(used: Decimal, low: int, high: int | None, target: int) -> tuple[int, str, list[str]]:
    """How many units autoscaling holds at an even load, why, and what is to be said of it."""
    wanted = int((used * 100 / target).to_integral_value(ROUND_CEILING))
    use = f"{count(used.quantize(Decimal('0.01')))} used a second"
    if wanted <= low:
        return low, f"{use}: the least that is reserved", []
    top = max(high or low, low)
    if wanted <= top:
        return wanted, f"{use}, at most {target} % of the capacity", ["the load is even over the month"]
    return top, f"{use}: all that may be", [f"{wanted} units would be needed: with {top} it is throttled"]


# --- storage ---


def storage(context: CostContext) -> Iterator[CostLine]:
    for kept in context.items:
        price = context.prices["storage"]
        if not kept.item_bytes:
            yield CostLine("storage", kept.table, kept.name, Decimal(), Decimal(), kept.how)
            continue
        size = kept.total_bytes / GB
        yield priced("storage", kept.table, kept.name, size, price, storage_formula(kept), kept.assumed)


def recovery(context: CostContext) -> Iterator[CostLine]:
    """Billed by what the table holds, however many days back it goes."""
    if not context.environment.pitr_days:
        return
    days = with_unit(context.environment.pitr_days, "day")
    for table in context.design.tables:
        stored = context.billed_bytes(table)
        how = f"{gigabytes(stored)} in the table, {days} back"
        yield priced("recovery", table, "recovery", stored / GB, context.prices["recovery"], how)


def backups(context: CostContext) -> Iterator[CostLine]:
    """Each point is a whole copy of the table, here and where it is copied to."""
    wanted = context.environment.backups
    if wanted is None:
        return
    a_day = times_a_day(wanted.schedule)
    points = a_day * wanted.keep_days
    assumed = ["every point is as large as the table is at the end"]
    regions = [context.environment.region, *([wanted.copy_to] if wanted.copy_to else [])]
    for table in context.design.tables:
        stored = context.billed_bytes(table)
        for region in regions:
            name = "backups" if region == regions[0] else f"copies in {region}"
            made = f"{count(a_day)} a day x {with_unit(wanted.keep_days, 'day')} = {count(points)} points"
            how = f"{made} x {gigabytes(stored)} = {gigabytes(points * stored)}"
            price = context.book.of(region)["backup"]
            yield priced("backups", table, name, points * stored / GB, price, how, assumed)


# --- streams ---


def streams(context: CostContext) -> Iterator[CostLine]:
    """One follower of each table that has a stream, which asks every shard once a second."""
    for table in context.design.tables.values():
        if table.stream is None:
            continue
        shards = _shards(context, table.name)
        reads = Decimal(shards * POLLS_A_SECOND * SECONDS_PER_MONTH)
        how = f"{with_unit(shards, 'shard')} x {POLLS_A_SECOND} a second = {count(reads)} reads a month"
        assumed = (
            "one follower, which asks every second; an AWS Lambda function that follows asks for nothing"
        )
        yield priced("streams", table.name, "stream", reads, context.prices["stream_read"], how, [assumed])


def _shards(context: CostContext, table: str) -> int:
    given = context.reserved(table)
    if given is None:
        return SHARDS_ON_DEMAND
    share = Decimal(given.read) / 3000 + Decimal(given.write) / 1000
    return int(share.to_integral_value(ROUND_CEILING)) or 1


# --- replicas ---


def replication(context: CostContext) -> Iterator[CostLine]:
    """What each further region costs: every write once more, what lies there, its recovery."""
    for region in context.environment.replicas:
        prices = context.book.of(region)
        for table in context.tables:
            yield from _replicated(context, table, region, prices)


def _replicated(context: CostContext, table: str, region: str, prices: Prices) -> Iterator[CostLine]:
    where = f" in {region}"
    if context.reserved(table) is not None:
        yield from _reserved(context, table, prices, "replication", "replicated_write_hour", where)
    else:
        units = context.replicated(table)
        how = f"{count(units)} units of what changes, as many as in {context.environment.region},"
        assumed = ["a transaction is doubled in each region"]
        price = prices["replicated_write"]
        yield priced("replication", table, f"writes{where}", units, price, how, assumed)
        yield from _expiries(context, table, where, price)
    everywhere = total(kept.total_bytes for kept in context.items if kept.table == table)
    how = f"{gigabytes(everywhere)} in the table and its indexes"
    yield priced("replication", table, f"storage{where}", everywhere / GB, prices["storage"], how)
    if context.environment.pitr_days and table in context.design.tables:
        stored = context.billed_bytes(table)
        how, assumed = f"{gigabytes(stored)} in the table", ["recovery is kept in every region"]
        yield priced("replication", table, f"recovery{where}", stored / GB, prices["recovery"], how, assumed)


def _expiries(context: CostContext, table: str, where: str, price: Price) -> Iterator[CostLine]:
    """What expires is deleted for nothing where it was written, and replicated as a write."""
    stored = (kept for kept in context.items if kept.table == table)
    units = total(each.expiring * write_units(each.item_bytes) * (1 + len(each.indexes)) for each in stored)
    if units:
        how = f"{count(units)} units for what expires, which is free in {context.environment.region}"
        yield priced("replication", table, f"expiry{where}", units, price, how)
