"""What a table costs whether it is asked or not: reserved capacity, what lies in it, copies of it, followers. Pure.

Each function gives the lines of one part, each with its arithmetic. A month has thirty days, 720 hours.
Elsewhere: what requests cost (priced.py), how much there is (kept.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

from tablewright.design.cost.calls import Call, Kind
from tablewright.design.cost.kept import Kept, weighed
from tablewright.design.cost.report import Line, Part
from tablewright.design.cost.schedules import times_a_day
from tablewright.design.cost.words import GB, count, gigabytes, money, things
from tablewright.design.design import Design
from tablewright.design.environments import Environment, Provisioned
from tablewright.design.facets import SECONDS_PER_MONTH
from tablewright.design.prices import Price, PriceBook, Prices, What
from tablewright.design.units import write_units

HOURS = SECONDS_PER_MONTH // 3600
# A new table that is paid for by the request carries 4 000 writes a second: four partitions, each with a shard.
SHARDS_ON_DEMAND = 4
POLLS_A_SECOND = 1


@dataclass(frozen=True, slots=True)
class Place:
    """A design in an environment, with what it does in a month and what it keeps."""

    design: Design
    environment: Environment
    book: PriceBook
    calls: tuple[Call, ...]
    kept: tuple[Kept, ...]

    @property
    def prices(self) -> Prices:
        return self.book.of(self.environment.region)

    def reserved(self, table: str) -> Provisioned | None:
        """What is provisioned for a table; for one that is not the design's, as receipts are, nothing."""
        given = self.environment.capacity_of(table)
        return given if isinstance(given, Provisioned) and table in self.design.tables else None

    def units(self, kind: Kind, table: str, index: str | None = None) -> Decimal:
        """A month's units of a table: of one arm of it, or of all."""
        return sum(
            (
                call.a_month * arm.units
                for call in self.calls
                if call.kind == kind
                for arm in call.arms
                if arm.table == table and index in (None, arm.index)
            ),
            Decimal(),
        )

    def replicated(self, table: str) -> Decimal:
        """A month's units of a table that replicas pay again: a check is paid for as a write, and nothing is copied."""
        return replace(self, calls=tuple(call for call in self.calls if call.changes)).units("write", table)

    @property
    def tables(self) -> tuple[str, ...]:
        """The design's, and those beside them that its calls touch, as receipts are."""
        beside = (arm.table for call in self.calls for arm in call.arms)
        return tuple(dict.fromkeys((*self.design.tables, *beside)))

    def stored(self, table: str) -> Decimal:
        """Bytes of a table without its global indexes: what recovery and backups are billed for."""
        local = {index.name for index in self.design.indexes if index.local and index.table.name == table}
        return sum(
            (
                kept.in_table * (1 + len(local.intersection(kept.indexes)))
                for kept in self.kept
                if kept.table == table
            ),
            Decimal(),
        )


def priced(
    part: Part, table: str, name: str, quantity: Decimal, price: Price, how: str, assumed: Sequence[str] = ()
) -> Line:
    """A line whose sentence ends with what the quantity costs."""
    amount = price.of(quantity)
    return Line(
        part,
        table,
        name,
        quantity,
        amount,
        f"{how} x {price} = {money(amount)}",
        tuple(assumed),
        price.derived,
    )


# --- capacity ---


def capacity(place: Place) -> Iterator[Line]:
    """Of tables with provisioned capacity: so many units, every hour."""
    for table in place.design.tables:
        given = place.reserved(table)
        if given is not None:
            yield from _reserved(place, table, given, place.prices, "capacity", _writing(place, "write_hour"))


def _reserved(
    place: Place, table: str, given: Provisioned, prices: Prices, part: Part, write: What, where: str = ""
) -> Iterator[Line]:
    arms = ["", *(i.name for i in place.design.indexes if i.table.name == table and not i.local)]
    sides: tuple[tuple[Kind, int, int | None, What], ...] = (
        ("read", given.read, given.max_read, "read_hour"),
        ("write", given.write, given.max_write, write),
    )
    for index in arms:
        for kind, low, high, what in sides:
            used = place.units(kind, table, index) / SECONDS_PER_MONTH
            units, why, assumed = _scaled(used, low, high, given.target)
            hours = Decimal(units * HOURS)
            name = f"{kind} capacity{' of ' + index if index else ''}{where}"
            how = f"{things(units, 'unit')} ({why}) x {HOURS} hours = {count(hours)} unit-hours"
            yield priced(part, table, name, hours, prices[what], how, assumed)


def _scaled(used: Decimal, low: int, high: int | None, target: int) -> tuple[int, str, list[str]]:
    """How many units autoscaling holds at an even load, why, and what is to be said of it."""
    wanted = int((used * 100 / target).to_integral_value(ROUND_CEILING))
    use = f"{count(used.quantize(Decimal('0.01')))} used a second"
    if wanted <= low:
        return low, f"{use}: the least that is reserved", []
    top = max(high or low, low)
    if wanted <= top:
        return wanted, f"{use}, at most {target} % of what is there", ["the load is even over the month"]
    return top, f"{use}: all that may be", [f"{wanted} units would be needed: with {top} it is throttled"]


def _writing(place: Place, what: What) -> What:
    """The price of a write: another one where there are replicas."""
    replicated: dict[What, What] = {"write": "replicated_write", "write_hour": "replicated_write_hour"}
    return replicated[what] if place.environment.replicas else what


def write_price(place: Place) -> Price:
    return place.prices[_writing(place, "write")]


# --- what lies there ---


def storage(place: Place) -> Iterator[Line]:
    for kept in place.kept:
        price = place.prices["storage"]
        if not kept.item_bytes:
            yield Line("storage", kept.table, kept.name, Decimal(), Decimal(), kept.how)
            continue
        size = kept.everywhere / GB
        yield priced("storage", kept.table, kept.name, size, price, weighed(kept), kept.assumed)


def recovery(place: Place) -> Iterator[Line]:
    """Billed by what the table holds, however many days back it goes."""
    if not place.environment.pitr_days:
        return
    days = things(place.environment.pitr_days, "day")
    for table in place.design.tables:
        stored = place.stored(table)
        how = f"{gigabytes(stored)} in the table, {days} back"
        yield priced("recovery", table, "recovery", stored / GB, place.prices["recovery"], how)


def backups(place: Place) -> Iterator[Line]:
    """Each point is a whole copy of the table, here and where it is copied to."""
    wanted = place.environment.backups
    if wanted is None:
        return
    a_day = times_a_day(wanted.schedule)
    points = a_day * wanted.keep_days
    assumed = ["every point is as large as the table is at the end"]
    regions = [place.environment.region, *([wanted.copy_to] if wanted.copy_to else [])]
    for table in place.design.tables:
        stored = place.stored(table)
        for region in regions:
            name = "backups" if region == regions[0] else f"copies in {region}"
            how = (
                f"{count(a_day)} a day x {things(wanted.keep_days, 'day')} = {count(points)} points "
                f"x {gigabytes(stored)} = {gigabytes(points * stored)}"
            )
            price = place.book.of(region)["backup"]
            yield priced("backups", table, name, points * stored / GB, price, how, assumed)


# --- who follows it ---


def streams(place: Place) -> Iterator[Line]:
    """One follower of each table that has a stream, which asks every shard once a second."""
    for table in place.design.tables.values():
        if table.stream is None:
            continue
        shards = _shards(place, table.name)
        reads = Decimal(shards * POLLS_A_SECOND * SECONDS_PER_MONTH)
        how = f"{things(shards, 'shard')} x {POLLS_A_SECOND} a second = {count(reads)} reads a month"
        assumed = [
            "one follower, which asks every second; an AWS Lambda function that follows asks for nothing"
        ]
        yield priced("streams", table.name, "stream", reads, place.prices["stream_read"], how, assumed)


def _shards(place: Place, table: str) -> int:
    given = place.reserved(table)
    if given is None:
        return SHARDS_ON_DEMAND
    share = Decimal(given.read) / 3000 + Decimal(given.write) / 1000
    return int(share.to_integral_value(ROUND_CEILING)) or 1


# --- replicas ---


def replication(place: Place) -> Iterator[Line]:
    """What each further region costs: every write once more, what lies there, its recovery."""
    for region in place.environment.replicas:
        prices = place.book.of(region)
        for table in place.tables:
            yield from _replicated(place, table, region, prices)


def _replicated(place: Place, table: str, region: str, prices: Prices) -> Iterator[Line]:
    given = place.reserved(table)
    where = f" in {region}"
    if given is not None:
        yield from _reserved(place, table, given, prices, "replication", "replicated_write_hour", where)
    else:
        units = place.replicated(table)
        how = f"{count(units)} units of what changes, as many as in {place.environment.region},"
        assumed = ["a transaction is doubled in each region"]
        price = prices["replicated_write"]
        yield priced("replication", table, f"writes{where}", units, price, how, assumed)
        yield from _expiries(place, table, where, price)
    everywhere = sum((kept.everywhere for kept in place.kept if kept.table == table), Decimal())
    how = f"{gigabytes(everywhere)} in the table and its indexes"
    yield priced("replication", table, f"storage{where}", everywhere / GB, prices["storage"], how)
    if place.environment.pitr_days and table in place.design.tables:
        stored = place.stored(table)
        how, assumed = f"{gigabytes(stored)} in the table", ["recovery is kept in every region"]
        yield priced("replication", table, f"recovery{where}", stored / GB, prices["recovery"], how, assumed)


def _expiries(place: Place, table: str, where: str, price: Price) -> Iterator[Line]:
    """What expires is deleted for nothing where it was written, and replicated as a write."""
    units = sum(
        (
            kept.expiring * write_units(kept.item_bytes) * (1 + len(kept.indexes))
            for kept in place.kept
            if kept.table == table
        ),
        Decimal(),
    )
    if units:
        how = f"{count(units)} units for what expires, which is free in {place.environment.region}"
        yield priced("replication", table, f"expiry{where}", units, price, how)
