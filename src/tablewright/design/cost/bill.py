"""A design, an environment and a price book, as the bill of a month. Pure.

    cost_of(TRAVEL, TRAVEL.environments["prod"]).total

Must hold: nothing is rounded before it is shown; a region without prices is refused before anything is computed.
Elsewhere: units of a call (calls.py), what lies there (storage.py, fixed.py), what was stated (claims.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from tablewright.design.cost import fixed, vectors
from tablewright.design.cost.calls import PlannedCall, calls_of, without_load
from tablewright.design.cost.claims import compare_claims
from tablewright.design.cost.fixed import HOURS, CostContext, priced
from tablewright.design.cost.format import count, money, total, with_unit
from tablewright.design.cost.report import NO_LOAD, STATE_LOAD, CostLine, CostReport, Options, Part
from tablewright.design.cost.storage import OVERHEAD, REPLICATED, stored_items
from tablewright.design.design import Design
from tablewright.design.environments import Environment
from tablewright.design.prices import HOME, PRICES, Price, PriceBook, PriceKind
from tablewright.english import join_words

FREE_GB, FREE_UNITS, FREE_STREAM_READS = 25, 25, 2_500_000
_NOT_COUNTED = (
    "transfer between regions, calls to a key service, restores and exports, and the places that followers of streams "
    "keep: nothing here says how much of them there is"
)


def cost_of(
    design: Design, environment: Environment, book: PriceBook = PRICES, options: Options | None = None
) -> CostReport:
    """What a design costs in the last of `options.months` months, in an environment."""
    asked = options or Options()
    for region in regions_of(environment):
        book.of(region)
    calls = calls_of(design, asked.times)
    overhead = REPLICATED if environment.replicas else OVERHEAD
    items = stored_items(design, asked.months, asked.times, overhead=overhead)
    context = CostContext(design, environment, book, calls, items, asked.times)
    parts = (
        _requests, fixed.capacity, fixed.storage, fixed.recovery, fixed.backups, fixed.streams, fixed.replication,
        vectors.vectors,
    )  # fmt: skip
    lines = [line for part in parts for line in part(context)]
    free = tuple(_free(context, lines))
    lines += free if asked.free_tier else ()
    report = CostReport(
        design.name, environment.name, environment.region, asked, tuple(lines), (),
        tuple(_notes(context, asked, free)), _sources(book, environment),
        {kind: total(call.a_month for call in calls if call.kind == kind) for kind in ("read", "write")},
        is_load_stated=bool(calls),
    )  # fmt: skip
    budget = environment.budget
    if budget is None:
        return report
    stated = tuple(compare_claims(budget, report.by_part, asked == Options()))
    return replace(report, stated=stated, limit=budget.limit)


def environments_of(design: Design) -> dict[str, Environment]:
    """Those of the design; for one that names none, the plainest there is."""
    return design.environments or {"on demand": Environment("on demand", region=HOME)}


def usual_environment(design: Design) -> Environment:
    """Where a design is priced when no environment is named: prod, or the last it names."""
    there = environments_of(design)
    return there.get("prod") or list(there.values())[-1]


def regions_of(environment: Environment) -> tuple[str, ...]:
    """Every region in which something is paid for."""
    copied = environment.backups.copy_to if environment.backups is not None else None
    return tuple(dict.fromkeys([environment.region, *environment.replicas, *([copied] if copied else [])]))


# --- requests ---


def _requests(context: CostContext) -> Iterator[CostLine]:
    for call in context.calls:
        for table in dict.fromkeys(use.table for use in call.uses):
            yield _request(context, call, table)


def _request(context: CostContext, call: PlannedCall, table: str) -> CostLine:
    """What a call takes from one table, and what that costs."""
    uses = [use for use in call.uses if use.table == table]
    each = total(use.units for use in uses)
    units = call.a_month * each
    why = uses[0].why if len(uses) == 1 else " + ".join(f"{count(use.units)}: {use.why}" for use in uses)
    taken = f"{with_unit(each, 'unit')} ({why})"
    how = f"{count(call.a_month)} {call.kind}s a month x {taken} = {count(units)} units"
    part: Part = "reads" if call.kind == "read" else "writes"
    if context.reserved(table) is not None:
        how += ", paid by the hour"
        return CostLine(part, table, call.name, units, Decimal(), how, call.assumed)
    write: PriceKind = "replicated_write" if context.environment.replicas else "write"
    price = context.prices["read" if call.kind == "read" else write]
    return priced(part, table, call.name, units, price, how, call.assumed)


# --- what is free ---


def _free(context: CostContext, lines: Sequence[CostLine]) -> Iterator[CostLine]:
    """What the account is not charged for, if nothing else of it uses that up; as negative amounts."""
    storage, reads = context.prices["storage"], context.prices["stream_read"]
    yield from _free_line(lines, "storage", "", Decimal(FREE_GB), storage, f"the first {FREE_GB} GB")
    first = f"the first {count(FREE_STREAM_READS)} stream reads"
    yield from _free_line(lines, "streams", "", Decimal(FREE_STREAM_READS), reads, first)
    hours = Decimal(FREE_UNITS * HOURS)
    for kind in ("read", "write"):
        price = context.prices["read_hour" if kind == "read" else "write_hour"]
        yield from _free_line(lines, "capacity", kind, hours, price, f"the first {FREE_UNITS} {kind} units")


def _free_line(
    lines: Sequence[CostLine], part: Part, name: str, most: Decimal, price: Price, words: str
) -> Iterator[CostLine]:
    used = total(line.quantity for line in lines if line.part == part and line.name.startswith(name))
    free = min(used, most)
    if free:
        amount = -price.of(free)
        how = f"{words} are free: {count(free)} x {price} = {money(amount)}"
        yield CostLine("free", "", words, free, amount, how, (), price.derived)


# --- what is said beside the figures ---


def _notes(context: CostContext, options: Options, free: Sequence[CostLine]) -> Iterator[str]:
    yield f"A month of 30 days, the last of {options.months}."
    yield "Items in KB of 1024 bytes, as units are counted; storage in GB of 10^9 bytes, as AWS's calculator bills it."
    if free and not options.free_tier:
        words = join_words([line.name for line in free])
        saved = -total(line.amount for line in free)
        yield f"Not taken off: {words} of an account are free each month, here {money(saved)}."
    if not context.calls:
        yield f"{NO_LOAD}, so requests and storage are not in it. {STATE_LOAD}."
    silent = without_load(context.design)
    if silent:
        yield f"Not priced, because no load is stated: {join_words(silent)}."
    yield f"Not counted: {_NOT_COUNTED}."


def _sources(book: PriceBook, environment: Environment) -> tuple[str, ...]:
    figures = [
        (region, price) for region in regions_of(environment) for price in book.of(region).figures.values()
    ]
    lines = (
        f"{at}: {each.source}, {each.as_of}{' (derived)' if each.derived else ''}" for at, each in figures
    )
    return tuple(dict.fromkeys(lines))
