"""What a design costs in a month: by part and by table, beside what was stated, with the arithmetic of every figure.

Must hold: an address with an unknown choice is refused.
Elsewhere: the figures (design/cost/), the same in a terminal (cli/design/cost.py).
"""

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.choices import chosen, refuse_unknown
from tablewright.app.designs.cost_modes import measured_calls, mode_parts
from tablewright.app.designs.lookup import find_design
from tablewright.app.runtime import Runtime
from tablewright.design import Design
from tablewright.design.cost import (
    PARTS,
    STATE_LOAD,
    CostReport,
    Options,
    cost_of,
    environments_of,
    usual_environment,
)
from tablewright.design.errors import DesignMistake
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import bad_request
from tablewright.english import money
from tablewright.pages.charts import Bar
from tablewright.pages.forms import Form, asked
from tablewright.pages.layout import Console, Crumb

# What the page's address may say.
ASKED = ("environment", "table", "times", "months", "free")
MOST_TIMES, MOST_MONTHS = Decimal(1_000_000), 120
_DEAREST = 10


def add_costs(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    @router.get("/{design}/cost", dependencies=[Depends(allowed)])
    def cost(request: Request, design: str, form: Annotated[Form, Depends(asked)]) -> Response:
        found, db = find_design(runtime, design)
        environments = environments_of(found)
        refuse_unknown(form, ASKED)
        environment = chosen(form, "environment", list(environments), usual_environment(found).name)
        form, options = _options(Form({**form.values, "environment": environment}))
        try:
            report = cost_of(found, environments[environment], options=options)
        except DesignMistake as mistake:
            raise bad_request("NOT_PRICED", f"No price can be calculated: {mistake}.") from None
        # Of some lines the table is one that designs share.
        tables = list(dict.fromkeys([*found.tables, *filter(None, report.by_table)]))
        table = chosen(form, "table", tables)
        return console.page(
            request,
            "designs/cost.html",
            title="Cost",
            crumbs=[Crumb(found.name, f"/console/designs/{found.name}")],
            design=found,
            form=form,
            report=report,
            environments=list(environments),
            is_stated=bool(found.environments),
            state_load=STATE_LOAD,
            table=table,
            tables=tables,
            **_shown(found, report, table, form),
            **mode_parts(found, environments[environment], options),
            measured=measured_calls(found, environments[environment], db.meter.spent(), options.times),
        )


def _options(form: Form) -> tuple[Form, Options]:
    """What was typed, with mistakes beside their fields; what does not fit counts as not typed."""
    usual = Options()
    times, months = (
        typed_number(form, "times", usual.times),
        typed_number(form, "months", Decimal(usual.months)),
    )
    if times is None or not 0 < times <= MOST_TIMES:
        form, times = form.wrong("times", "Enter a number above 0, up to a million."), usual.times
    if months is None or not 1 <= months <= MOST_MONTHS or months != int(months):
        form, months = (
            form.wrong("months", f"Enter a whole number from 1 to {MOST_MONTHS}."),
            Decimal(usual.months),
        )
    typed = {"times": f"{times:f}", "months": f"{months:f}", **form.values}
    return Form(typed, form.errors), Options(times, int(months), form.is_ticked("free"))


def typed_number(form: Form, name: str, usual: Decimal) -> Decimal | None:
    """A number as people type it; None if it is not one."""
    try:
        given = Decimal(form.get(name).replace(",", ".").strip() or usual)
    except InvalidOperation:
        return None
    return given if given.is_finite() else None


def _shown(design: Design, report: CostReport, table: str, form: Form) -> dict[str, Any]:
    lines = report.most_expensive(table=table) if table else report.most_expensive()[:_DEAREST]
    parts = [(PARTS[part], [line for line in lines if line.part == part]) for part in PARTS]
    tables = {name: amount for name, amount in report.by_table.items() if name}
    return {
        "groups": [(words, members) for words, members in parts if members] if table else [("", lines)],
        "part_bars": part_bars(report),
        "table_bars": [_bar(name, amount, _of_table(design, form, name)) for name, amount in tables.items()],
        "dollars": lambda value: money(Decimal(str(value))),
        "off": sum(stated.is_wrong for stated in report.stated),
    }


def part_bars(report: CostReport) -> list[Bar]:
    """What each part costs, the dearest first; they add up to the month, so what is free is among them."""
    bars = (_bar(PARTS[part], amount) for part, amount in report.by_part.items() if amount)
    return sorted(bars, key=lambda bar: -bar.value)


def _bar(label: str, amount: Decimal, href: str = "") -> Bar:
    return Bar(label, float(amount), href=href)


def _of_table(design: Design, form: Form, table: str) -> str:
    """The address of a table's own figures, asked as these are."""
    asked = {name: value for name, value in form.values.items() if name in ASKED and name != "table"}
    return f"/console/designs/{design.name}/cost?{urlencode({**asked, 'table': table})}"
