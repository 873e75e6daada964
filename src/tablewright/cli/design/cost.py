"""`tablewright design cost [SYSTEM]`: what a design costs per month for its stated load; without SYSTEM, all systems.

Of a document of facts (FILE.json): the costs it states, line by line, beside its own arithmetic and corrected.
The exit code is 1 if the cost exceeds the limit of the stated budget, or a cost of a document breaks a rule.
Elsewhere: the calculation (design/cost/, design/review/stated_costs.py), further tables (cost_tables.py).
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from tablewright.cli.argument_types import whole_number
from tablewright.cli.design.check import facts_in, is_facts
from tablewright.cli.design.cost_tables import (
    curve_json,
    curve_text,
    modes_json,
    modes_text,
    stated_json,
    stated_text,
)
from tablewright.cli.designs import FORMS, NoSuchEnvironment, load_designs, shipped_systems
from tablewright.cli.format import as_json, as_pairs, as_table, decimal, plural
from tablewright.cli.output import UsageError
from tablewright.design import Design, Environment
from tablewright.design.cost import (
    NO_LOAD,
    PARTS,
    STATE_LOAD,
    CostLine,
    CostReport,
    CurvePoint,
    Modes,
    Options,
    cost_of,
    curve_of,
    modes_of,
    usual_environment,
)
from tablewright.design.cost.format import money
from tablewright.design.errors import DesignMistake
from tablewright.design.prices import HOME, PRICES, RegionHasNoPrices
from tablewright.design.review.stated_costs import stated_costs

EXAMPLES = """Prices come from a dated list that is shipped with Tablewright; derived prices are marked with *.
--explain shows the calculation and the assumptions. A document of facts (as in examples/as-written) has its stated
costs shown line by line, corrected. The exit code is 1 if the cost exceeds the limit of the stated budget, or if a cost
of a document breaks a rule.

tablewright design cost travel --environment prod --times 10 --explain
tablewright design cost portal --curve"""
ERRORS = (DesignMistake,)

# The same limits as on the console's cost page.
MAX_TIMES, MAX_MONTHS = 1_000_000, 120
_SHOWN, _PART = 8, len("replication")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "system",
        metavar="SYSTEM",
        nargs="?",
        help=f"a shipped system, {FORMS}, or a JSON document with facts (default: all shipped systems, one line each)",
    )
    parser.add_argument(
        "--environment", metavar="NAME", help="an environment of the design (default: prod, or its last)"
    )
    parser.add_argument("--region", metavar="REGION", help="use the prices of this region")
    parser.add_argument(
        "--times", type=_times, default=Decimal(1), metavar="N", help="load multiplier (default: 1)"
    )
    parser.add_argument(
        "--months",
        type=whole_number(f"a whole number of months from 1 to {MAX_MONTHS}", 1, MAX_MONTHS),
        default=12,
        metavar="N",
        help="months of growth of data that is never deleted (default: %(default)s)",
    )
    parser.add_argument("--free-tier", action="store_true", help="apply the free tier")
    parser.add_argument("--explain", action="store_true", help="show the calculation of every amount")
    parser.add_argument(
        "--curve",
        action="store_true",
        help="also show the cost over the load, from 0.01 to 10000 times the stated one",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list with every amount")


def _times(text: str) -> Decimal:
    try:
        times = Decimal(text)
    except InvalidOperation:
        times = Decimal("NaN")
    if not times.is_finite() or not 0 < times <= MAX_TIMES:
        raise argparse.ArgumentTypeError(f"must be a number greater than 0 and at most 1000000, got {text!r}")
    return times


def run(given: argparse.Namespace) -> int:
    if given.system is not None and is_facts(given.system):
        return _document(given)
    priced = list(_priced(given))
    if given.json:
        text = as_json([_priced_json(each) for each in priced])
    elif given.system is None and not given.explain and not given.curve:
        text = _overview([each.report for each in priced])
    else:
        text = "\n\n".join(_priced_text(each, given.explain) for each in priced)
    print(text)
    return 1 if any(each.report.is_over for each in priced) else 0


def _document(given: argparse.Namespace) -> int:
    facts = facts_in(given.system)
    rows = stated_costs(facts)
    print(as_json(stated_json(rows)) if given.json else stated_text(facts.name, rows))
    return 1 if any(row.rules for row in rows) else 0


@dataclass(frozen=True, slots=True)
class _Priced:
    """A design's bill, both capacity modes, and its curve if it was asked for."""

    report: CostReport
    modes: Modes | None
    curve: tuple[CurvePoint, ...]


def _priced(given: argparse.Namespace) -> Iterator[_Priced]:
    options = Options(given.times, given.months, given.free_tier)
    wanted = shipped_systems() if given.system is None else [given.system]
    for design in (design for system in wanted for design in load_designs(system)):
        environment = environment_of(design, given.environment)
        if given.region is not None:
            environment = _priced_as(environment, given.region)
        report = _report(design, environment, options)
        curve = curve_of(design, environment, options=options) if given.curve else ()
        yield _Priced(report, modes_of(design, environment), curve)


def _priced_as(environment: Environment, region: str) -> Environment:
    """The environment in this region; replicas and copies in regions without prices are priced as if there too."""
    PRICES.of(region)
    backups = environment.backups
    if backups is not None and backups.copy_to is not None and backups.copy_to not in PRICES.regions:
        backups = replace(backups, copy_to=region)
    replicas = tuple(each if each in PRICES.regions else region for each in environment.replicas)
    return replace(environment, region=region, replicas=replicas, backups=backups)


def _report(design: Design, environment: Environment, options: Options) -> CostReport:
    try:
        return cost_of(design, environment, options=options)
    except RegionHasNoPrices as error:
        raise UsageError(f"{error}; price it as in one of them, such as with --region {HOME}") from None


def environment_of(design: Design, name: str | None) -> Environment:
    if name is not None and name not in design.environments:
        raise NoSuchEnvironment(design.name, name, list(design.environments))
    return design.environments[name] if name is not None else usual_environment(design)


# --- as text ---


def _priced_text(priced: _Priced, explain: bool) -> str:
    pieces = [report_text(priced.report, explain)]
    if priced.modes is not None:
        pieces.append(modes_text(priced.modes, priced.report.options.times))
    if priced.curve:
        pieces.append(curve_text(priced.curve))
    return "\n\n".join(pieces)


def _overview(reports: list[CostReport]) -> str:
    rows = [[r.design, r.environment, r.region, _total(r), _limit(r), _largest_part(r)] for r in reports]
    total = sum((report.total for report in reports), Decimal())
    rows.append(["all", "", "", _figure(total, any(report.is_derived for report in reports)), "", ""])
    text = as_table(("system", "environment", "region", "$ a month", "of limit", "largest part"), rows)
    sentence = f"{money(total)} per month for {len(reports)} systems."
    return f"{text}\n\n{sentence} {_options_text(reports[0].options)}"


def _total(report: CostReport) -> str:
    return _figure(report.total, report.is_derived) if report.is_priced else "no load stated"


def _limit(report: CostReport) -> str:
    if report.limit is None or not report.is_priced:
        return "-"
    return f"{100 * report.total / report.limit:.0f} % of ${report.limit}{', over limit' if report.is_over else ''}"


def _largest_part(report: CostReport) -> str:
    if not report.total:
        return "-"
    part, amount = max(report.by_part.items(), key=lambda each: each[1])
    return f"{PARTS[part].lower()}, {_share(amount, report.total)}"


def report_text(report: CostReport, explain: bool) -> str:
    title = f"{report.design}, {report.environment} in {report.region}: "
    if not report.is_priced:
        return f"{title}{NO_LOAD}\n{STATE_LOAD}."
    title += f"{money(report.total)} per month{'' if report.is_load_stated else '; ' + NO_LOAD.lower()}"
    pieces = [f"{title}\n{_options_text(report.options)}"]
    parts = [
        [PARTS[part], _figure(amount), _share(amount, report.total)]
        for part, amount in report.by_part.items()
    ]
    pieces.append(as_table(("part", "$ a month", "share"), [*parts, ["total", _figure(report.total), ""]]))
    for table, amount in report.by_table.items():
        pieces.append(f"{table or 'without a table'}: {money(amount)}\n{_lines(report, table, explain)}")
    if report.stated:
        head = ("stated by the author", "amount", "computed", "difference")
        pieces.append(as_table(head, [
            [each.what, each.stated, money(each.computed), f"{'! ' if each.is_wrong else ''}{each.how}"]
            for each in report.stated
        ]))  # fmt: skip
    pieces.append("\n".join([*report.notes, *([_DERIVED] if report.is_derived else [])]))
    pieces.append("prices: " + "\n        ".join(report.sources))
    return "\n\n".join(pieces)


_DERIVED = "* Derived price, not from the price list: do not quote it."


def _lines(report: CostReport, table: str, explain: bool) -> str:
    lines = report.most_expensive(table=table)
    if explain:
        return as_pairs([pair for line in lines for pair in _explained(line)])
    shown = [line for line in lines if abs(line.amount) >= Decimal("0.005")][:_SHOWN] or lines[:1]
    rows = [[line.part, line.name, _figure(line.amount, line.derived)] for line in shown]
    rest = lines[len(shown) :]
    if rest:
        left = sum((line.amount for line in rest), Decimal())
        rows.append(["", f"{len(rest)} more", _figure(left, any(line.derived for line in rest))])
    return as_table(("part", "item", "$ a month"), rows)


def _explained(line: CostLine) -> list[tuple[str, str]]:
    mark = "*" if line.derived and line.amount else ""
    assumptions = [("", f"  assumed: {note}") for note in line.assumed]
    return [(f"{line.part:<{_PART}}  {line.name}", f"{line.how}{mark}"), *assumptions]


def _figure(amount: Decimal, derived: bool = False) -> str:
    """`12.30`; derived prices are marked with a star."""
    # The same rounding as `money`: an amount must not be 1.12 here and $1.13 in its calculation.
    text = decimal(amount.quantize(Decimal("0.01"), ROUND_HALF_UP), 2)
    return f"{'0.00' if text == '-0.00' else text}{'*' if derived and amount else ''}"


def _share(amount: Decimal, total: Decimal) -> str:
    return f"{100 * amount / total:.0f} %" if total else "-"


def _options_text(options: Options) -> str:
    times = f"{options.times:f} times the stated load" if options.times != 1 else "Stated load"
    free = ", free tier applied" if options.free_tier else ""
    return f"{times}, after {plural(options.months, 'month')}{free}."


# --- as JSON ---


def _priced_json(priced: _Priced) -> dict[str, Any]:
    value = {**report_json(priced.report), "modes": modes_json(priced.modes, priced.report.options.times)}
    return {**value, "curve": curve_json(priced.curve)} if priced.curve else value


def report_json(report: CostReport) -> dict[str, Any]:
    """The whole report; amounts are strings, so that none is rounded; no total if no load is stated."""
    return {
        "design": report.design,
        "environment": report.environment,
        "region": report.region,
        "times": f"{report.options.times:f}",
        "months": report.options.months,
        "freeTier": report.options.free_tier,
        "loadStated": report.is_load_stated,
        "total": _exact(report.total) if report.is_priced else None,
        "parts": {part: _exact(amount) for part, amount in report.by_part.items()},
        "tables": {table: _exact(amount) for table, amount in report.by_table.items()},
        "callsAMonth": {f"{kind}s": _exact(count) for kind, count in report.calls.items()},
        "lines": [
            asdict(line) | {"quantity": _exact(line.quantity), "amount": _exact(line.amount)}
            for line in report.lines
        ],
        "stated": [
            {
                "what": each.what,
                "stated": each.stated,
                "computed": _exact(each.computed),
                "isWrong": each.is_wrong,
                "how": each.how,
            }
            for each in report.stated
        ],
        "limit": None if report.limit is None else _exact(report.limit),
        "isOver": report.is_over,
        "notes": list(report.notes),
        "sources": list(report.sources),
    }


def _exact(number: Decimal) -> str:
    return f"{number.normalize():f}"
