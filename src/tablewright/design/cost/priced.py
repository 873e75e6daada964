"""A design, an environment and a price book, as the bill of a month. Pure.

    cost_of(TRAVEL, TRAVEL.environments["prod"]).total

Must hold: nothing is rounded before it is shown; a region without prices is refused before anything is computed.
Elsewhere: units of a call (calls.py), what lies there (kept.py, standing.py), what was stated (stated.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Literal

from tablewright.design.cost.calls import Arm, Call, calls_of, unsaid
from tablewright.design.cost.kept import OVERHEAD, REPLICATED, kept_of
from tablewright.design.cost.report import Line, Options, Part, Report
from tablewright.design.cost.standing import (
    HOURS,
    Place,
    backups,
    capacity,
    priced,
    recovery,
    replication,
    storage,
    streams,
    write_price,
)
from tablewright.design.cost.stated import compared
from tablewright.design.cost.words import count, listed, money, things
from tablewright.design.design import Design
from tablewright.design.environments import Environment
from tablewright.design.prices import HOME, PRICES, Price, PriceBook

FREE_GB, FREE_UNITS, FREE_STREAM_READS = 25, 25, 2_500_000
_NOT_COUNTED = (
    "transfer between regions, calls to a key service, restores and exports, and the places that followers of streams "
    "keep: nothing here says how much of them there is"
)


def cost_of(
    design: Design, environment: Environment, book: PriceBook = PRICES, options: Options | None = None
) -> Report:
    """What a design costs in the last of `options.months` months, in an environment."""
    asked = options or Options()
    for region in regions_of(environment):
        book.of(region)
    calls = calls_of(design, asked.times)
    overhead = REPLICATED if environment.replicas else OVERHEAD
    kept = kept_of(design, asked.months, asked.times, overhead=overhead)
    place = Place(design, environment, book, calls, kept)
    lines = [*_requests(place), *capacity(place), *storage(place), *recovery(place), *backups(place)]
    lines += [*streams(place), *replication(place)]
    free = tuple(_free(place, lines))
    lines += free if asked.free_tier else ()
    report = Report(
        design.name,
        environment.name,
        environment.region,
        asked,
        tuple(lines),
        (),
        tuple(_notes(place, asked, free)),
        _sources(book, environment),
        {kind: sum((c.a_month for c in calls if c.kind == kind), Decimal()) for kind in ("read", "write")},
    )
    budget = environment.budget
    if budget is None:
        return report
    stated = tuple(compared(budget, report.by_part, asked == Options()))
    return replace(report, stated=stated, limit=budget.limit)


def environments_of(design: Design) -> dict[str, Environment]:
    """Those of the design; for one that names none, the plainest there is."""
    return design.environments or {"on demand": Environment("on demand", region=HOME)}


def regions_of(environment: Environment) -> tuple[str, ...]:
    """Every region in which something is paid for."""
    copied = environment.backups.copy_to if environment.backups is not None else None
    return tuple(dict.fromkeys([environment.region, *environment.replicas, *([copied] if copied else [])]))


# --- requests ---


def _requests(place: Place) -> Iterator[Line]:
    for call in place.calls:
        for table in dict.fromkeys(arm.table for arm in call.arms):
            yield _request(place, call, table)


def _request(place: Place, call: Call, table: str) -> Line:
    """What a call takes from one table, and what that costs."""
    arms = [arm for arm in call.arms if arm.table == table]
    each = sum((arm.units for arm in arms), Decimal())
    units = call.a_month * each
    how = f"{count(call.a_month)} {call.kind}s a month x {things(each, 'unit')} ({_why(arms)}) = {count(units)} units"
    if place.reserved(table) is not None:
        return Line(_part(call), table, call.name, units, Decimal(), f"{how}, paid by the hour", call.assumed)
    price: Price = place.prices["read"] if call.kind == "read" else write_price(place)
    return priced(_part(call), table, call.name, units, price, how, call.assumed)


def _part(call: Call) -> Literal["reads", "writes"]:
    return "reads" if call.kind == "read" else "writes"


def _why(arms: Sequence[Arm]) -> str:
    if len(arms) == 1:
        return arms[0].why
    return " + ".join(f"{count(arm.units)}: {arm.why}" for arm in arms)


# --- what is free ---


def _free(place: Place, lines: Sequence[Line]) -> Iterator[Line]:
    """What the account is not charged for, if nothing else of it uses that up; as negative amounts."""
    storage, reads = place.prices["storage"], place.prices["stream_read"]
    yield from _let_off(lines, "storage", "", Decimal(FREE_GB), storage, f"the first {FREE_GB} GB")
    first = f"the first {count(FREE_STREAM_READS)} stream reads"
    yield from _let_off(lines, "streams", "", Decimal(FREE_STREAM_READS), reads, first)
    hours = Decimal(FREE_UNITS * HOURS)
    for kind in ("read", "write"):
        price = place.prices["read_hour" if kind == "read" else "write_hour"]
        yield from _let_off(lines, "capacity", kind, hours, price, f"the first {FREE_UNITS} {kind} units")


def _let_off(
    lines: Sequence[Line], part: Part, name: str, most: Decimal, price: Price, words: str
) -> Iterator[Line]:
    used = sum(
        (line.quantity for line in lines if line.part == part and line.name.startswith(name)), Decimal()
    )
    free = min(used, most)
    if free:
        amount = -price.of(free)
        how = f"{words} are free: {count(free)} x {price} = {money(amount)}"
        yield Line("free", "", words, free, amount, how, (), price.derived)


# --- what is said beside the figures ---


def _notes(place: Place, options: Options, free: Sequence[Line]) -> Iterator[str]:
    yield f"A month of 30 days, the last of {options.months}; GB of 10^9 bytes."
    if free and not options.free_tier:
        words = listed([line.name for line in free])
        saved = sum((line.amount for line in free), Decimal())
        yield f"Not taken off: {words} of an account are free each month, here {money(-saved)}."
    silent = unsaid(place.design)
    if silent:
        yield f"Not priced, because no load is stated: {listed(silent)}."
    yield f"Not counted: {_NOT_COUNTED}."


def _sources(book: PriceBook, environment: Environment) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for region in regions_of(environment):
        for price in book.of(region).figures.values():
            found[f"{region}: {price.source}, {price.as_of}{' (derived)' if price.derived else ''}"] = None
    return tuple(found)
