"""`tablewright cost [SYSTEM]`: what a design costs in a month, by its own figures; without a system, all in the box.

Exit code 1 if it is more than the stated budget's limit. Elsewhere: the figures (design/cost/), the console's page.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from tablewright.cli.shipped import NoSuchEnvironment, designs_of, systems_in_the_box
from tablewright.cli.where import Misused, answer, misused
from tablewright.cli.words import as_json, as_pairs, as_table

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.design import Design, Environment
    from tablewright.design.cost import Line, Options, Report

SUMMARY = "Show what a system costs a month on DynamoDB, by its design's own figures, beside what was stated."
EXAMPLES = """Prices are of a dated list that comes along; some are derived, and marked with *. --explain shows how each
figure came to be, and what was assumed. The exit code is 1 if it is over the stated budget's limit.

examples:
  tablewright cost
  tablewright cost travel --environment prod --times 10 --explain"""

# As on the console's page.
MOST_TIMES, MOST_MONTHS = 1_000_000, 120
_SHOWN, _PART = 8, len("replication")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "system",
        metavar="SYSTEM",
        nargs="?",
        help="one in the box, or package.module:DESIGN (default: all in the box, a line each)",
    )
    parser.add_argument("--environment", metavar="NAME", help="of the design (default: prod, or its last)")
    parser.add_argument("--region", metavar="REGION", help="as if it were in this region")
    parser.add_argument(
        "--times",
        type=_times,
        default=Decimal(1),
        metavar="N",
        help="so many times the stated workload (default: 1)",
    )
    parser.add_argument(
        "--months",
        type=_months,
        default=12,
        metavar="N",
        help="how long what is never deleted has grown (default: %(default)s)",
    )
    parser.add_argument("--free-tier", action="store_true", help="take off what is free for an account")
    parser.add_argument("--explain", action="store_true", help="show the arithmetic of every figure")
    parser.add_argument("--json", action="store_true", help="print a JSON list, with every figure")


def _times(text: str) -> Decimal:
    try:
        times = Decimal(text)
    except InvalidOperation:
        times = Decimal("NaN")
    if not times.is_finite() or not 0 < times <= MOST_TIMES:
        raise argparse.ArgumentTypeError(f"times is a number above 0, up to a million, not {text!r}")
    return times


def _months(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_MONTHS:
        raise argparse.ArgumentTypeError(f"months are 1 to {MOST_MONTHS}, not {text!r}")
    return int(text)


def run(given: argparse.Namespace) -> int:
    from tablewright.design.mistakes import DesignMistake

    try:
        reports = list(_reports(given))
    except (Misused, DesignMistake) as mistake:
        return misused(str(mistake))
    answer(_answer(given, reports))
    return 1 if any(report.is_over for report in reports) else 0


def _answer(given: argparse.Namespace, reports: "list[Report]") -> str:
    if given.json:
        return as_json([_told(report) for report in reports])
    if given.system is None and not given.explain:
        return _overview(reports)
    return "\n\n".join(_shown(report, given.explain) for report in reports)


def _reports(given: argparse.Namespace) -> "Iterator[Report]":
    from tablewright.design.cost import Options, cost_of

    options = Options(given.times, given.months, given.free_tier)
    wanted = systems_in_the_box() if given.system is None else [given.system]
    for design in (design for system in wanted for design in designs_of(system)):
        environment = _environment(design, given.environment)
        if given.region is not None:
            environment = replace(environment, region=given.region)
        yield cost_of(design, environment, options=options)


def _environment(design: "Design", name: str | None) -> "Environment":
    from tablewright.design.cost import environments_of

    if name is not None and name not in design.environments:
        raise NoSuchEnvironment(design.name, name, list(design.environments))
    there = environments_of(design)
    return there[name] if name is not None else there.get("prod") or list(there.values())[-1]


# --- as text ---


def _overview(reports: "list[Report]") -> str:
    from tablewright.design.cost.words import money

    rows = [
        [r.design, r.environment, r.region, _figure(r.total, r.is_derived), _limit(r), _dearest(r)]
        for r in reports
    ]
    total = sum((report.total for report in reports), Decimal())
    rows.append(["all", "", "", _figure(total, any(report.is_derived for report in reports)), "", ""])
    text = as_table(("system", "environment", "region", "$ a month", "of the limit", "most of it"), rows)
    return f"{text}\n\n{money(total)} a month for {len(reports)} systems. {_asked(reports[0].options)}"


def _limit(report: "Report") -> str:
    if report.limit is None:
        return "-"
    return (
        f"{100 * report.total / report.limit:.0f} % of ${report.limit}{', over it' if report.is_over else ''}"
    )


def _dearest(report: "Report") -> str:
    from tablewright.design.cost import PARTS

    part, amount = max(report.by_part.items(), key=lambda each: each[1])
    return f"{PARTS[part].lower()}, {100 * amount / report.total:.0f} %" if report.total else "-"


def _shown(report: "Report", explain: bool) -> str:
    from tablewright.design.cost import PARTS
    from tablewright.design.cost.words import money

    title = f"{report.design}, {report.environment} in {report.region}: {money(report.total)} a month"
    pieces = [f"{title}\n{_asked(report.options)}"]
    parts = [
        [PARTS[part], _figure(amount), _share(amount, report.total)]
        for part, amount in report.by_part.items()
    ]
    pieces.append(as_table(("part", "$ a month", "share"), [*parts, ["total", _figure(report.total), ""]]))
    for table, amount in report.by_table.items():
        pieces.append(f"{table or 'of no table'}: {money(amount)}\n{_lines(report, table, explain)}")
    if report.stated:
        head = ("stated", "figure", "computed", "difference")
        pieces.append(as_table(head, [
            [each.what, each.stated, money(each.computed), f"{'! ' if each.is_wrong else ''}{each.how}"]
            for each in report.stated
        ]))  # fmt: skip
    pieces.append("\n".join([*report.notes, *([_DERIVED] if report.is_derived else [])]))
    pieces.append("prices: " + "\n        ".join(report.sources))
    return "\n\n".join(pieces)


_DERIVED = "* Its price was derived, not read: do not quote it."


def _lines(report: "Report", table: str, explain: bool) -> str:
    lines = report.dearest(table=table)
    if explain:
        return as_pairs([pair for line in lines for pair in _explained(line)])
    shown = [line for line in lines if abs(line.amount) >= Decimal("0.005")][:_SHOWN] or lines[:1]
    rows = [[line.part, line.name, _figure(line.amount, line.derived)] for line in shown]
    rest = lines[len(shown) :]
    if rest:
        left = sum((line.amount for line in rest), Decimal())
        rows.append(["", f"{len(rest)} more", _figure(left, any(line.derived for line in rest))])
    return as_table(("part", "what", "$ a month"), rows)


def _explained(line: "Line") -> list[tuple[str, str]]:
    mark = "*" if line.derived and line.amount else ""
    said = [("", f"  assumed: {note}") for note in line.assumed]
    return [(f"{line.part:<{_PART}}  {line.name}", f"{line.how}{mark}"), *said]


def _figure(amount: Decimal, derived: bool = False) -> str:
    """`12.30`; what is nearly nothing is shown as that, and a derived price has its star."""
    # As `money` rounds: one figure must not read 1.12 here and $1.13 in its arithmetic.
    text = f"{amount.quantize(Decimal('0.01'), ROUND_HALF_UP):,}".replace(",", " ")
    return f"{'0.00' if text == '-0.00' else text}{'*' if derived and amount else ''}"


def _share(amount: Decimal, total: Decimal) -> str:
    return f"{100 * amount / total:.0f} %" if total else "-"


def _asked(options: "Options") -> str:
    times = f"{options.times:f} times the stated workload" if options.times != 1 else "The stated workload"
    free = ", what is free taken off" if options.free_tier else ""
    return f"{times}, after {options.months} month{'s' if options.months != 1 else ''}{free}."


# --- as JSON ---


def _told(report: "Report") -> dict[str, Any]:
    """Everything, with amounts as numbers in text so that none is rounded."""
    return {
        "design": report.design,
        "environment": report.environment,
        "region": report.region,
        "times": f"{report.options.times:f}",
        "months": report.options.months,
        "freeTier": report.options.free_tier,
        "total": _exact(report.total),
        "parts": {part: _exact(amount) for part, amount in report.by_part.items()},
        "tables": {table: _exact(amount) for table, amount in report.by_table.items()},
        "callsAMonth": {f"{kind}s": _exact(count) for kind, count in report.calls.items()},
        "lines": [
            {
                "part": line.part,
                "table": line.table,
                "name": line.name,
                "quantity": _exact(line.quantity),
                "amount": _exact(line.amount),
                "how": line.how,
                "assumed": list(line.assumed),
                "derived": line.derived,
            }
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
