"""Designs, their tables and entities, as they are. Reading only."""

from collections.abc import Mapping
from typing import Any, get_args

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.diagrams import key_diagram, key_words
from tablewright.app.designs.findings import findings_of, findings_on
from tablewright.app.designs.lookup import find_design
from tablewright.app.designs.pictures import gallery
from tablewright.app.designs.uploads import lacks_tables, upload_state
from tablewright.app.pictures.key_anatomy import key_anatomy
from tablewright.app.pictures.state_machines import state_machine
from tablewright.app.runtime import Runtime
from tablewright.design import Design, EntitySpec, Load, Plan
from tablewright.design.cost import usual_environment
from tablewright.design.description import described, projection
from tablewright.design.prices import PRICES, Prices, RegionHasNoPrices
from tablewright.design.requests import WriteKind
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import not_found
from tablewright.mapping import Db
from tablewright.mapping.meter import Spent
from tablewright.pages.charts import Bar
from tablewright.pages.layout import Console, Crumb


def add_designs(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard = [Depends(allowed)]

    @router.get("", dependencies=guard)
    def overview(request: Request) -> Response:
        return console.page(
            request,
            "designs/overview.html",
            title="Designs",
            designs=[design for design, _ in runtime.designs.values()],
            uploaded=runtime.uploads.all(),
        )

    @router.get("/{design}", dependencies=guard)
    def one(request: Request, design: str) -> Response:
        found, db = find_design(runtime, design)
        spent = db.meter.spent()
        return console.page(
            request,
            "designs/design.html",
            title=found.name,
            design=found,
            diagrams=[(table, key_diagram(found, table)) for table in found.tables.values()],
            gallery=gallery(found),
            findings=findings_of(found),
            patterns=[pattern_row(found, plan, spent) for plan in found.plans],
            region=usual_environment(found).region,
            writes=[(name, cost) for name, cost in spent.items() if cost.write],
            unit_bars=_bars(found, spent),
            **upload_state(runtime, console, request, found, db),
        )

    @router.get("/{design}/environments", dependencies=guard)
    def environments(request: Request, design: str) -> Response:
        found, _ = find_design(runtime, design)
        return console.page(
            request,
            "designs/environments.html",
            title="Environments",
            crumbs=[Crumb(found.name, f"/console/designs/{found.name}")],
            design=found,
            recoveries={
                each.name: [(f"Recovery, {case}", words) for case, words in each.recovery.items()]
                for each in found.environments.values()
            },
        )

    @router.get("/{design}/tables/{table}", dependencies=guard)
    def table(request: Request, design: str, table: str) -> Response:
        found, db = find_design(runtime, design)
        here = found.tables.get(table)
        if here is None:
            raise not_found("NO_SUCH_TABLE", f"The design {found.name} has no table of this name.")
        state = upload_state(runtime, console, request, found, db)
        live = (
            runtime.call_of(db)("DescribeTable", {"TableName": db.physical(table)})["Table"]
            if not state["lacks_tables"]
            else {}
        )
        return console.page(
            request,
            "designs/table.html",
            title=here.name,
            crumbs=[Crumb(found.name, f"/console/designs/{found.name}")],
            design=found,
            table=here,
            live=live,
            physical=live.get("TableName", ""),
            diagram=key_diagram(found, here),
            indexes=[index for index in found.indexes if index.table == here],
            live_indexes={index["IndexName"]: index for index in indexes_of(live)},
            vectors=[index for index in found.vectors if index.table == here],
            searches=found.searches,
            projection=projection,
            shapes=[shape for shape in found.shapes if shape.table == here],
            patterns=[
                pattern_row(found, plan, db.meter.spent()) for plan in found.plans if plan.table == here
            ],
            region=usual_environment(found).region,
            findings=findings_on(
                found, here.name, *(index.name for index in found.indexes if index.table == here)
            ),
            **state,
        )

    @router.get("/{design}/entities/{tag}", dependencies=guard)
    def entity(request: Request, design: str, tag: str) -> Response:
        found, db = find_design(runtime, design)
        shape = next((shape for shape in found.shapes if shape.tag == tag), None)
        if shape is None:
            raise not_found("NO_SUCH_ENTITY", f"The design {found.name} has no entity of this name.")
        return console.page(
            request,
            "designs/entity.html",
            title=shape.tag,
            crumbs=[
                Crumb(found.name, f"/console/designs/{found.name}"),
                Crumb(shape.table.name, f"/console/designs/{found.name}/tables/{shape.table.name}"),
            ],
            design=found,
            shape=shape,
            lacks_tables=lacks_tables(runtime, found, db),
            physical=runtime.open_table(db, shape.table.name),
            attributes=described(shape),
            states=state_machine(shape.states, entity=shape.tag, name="states").inline()
            if shape.states
            else None,
            anatomy=key_anatomy(shape, name="keys").inline(),
            findings=findings_on(found, shape.tag),
            keys=_keys(shape),
            guards=[
                (guard, key_words(guard.pk), key_words(guard.sk) if guard.sk else "")
                for guard in shape.guards
            ],
            operations=_operations(shape, db),
            patterns=[plan for plan in found.plans if any(each.tag == tag for each in plan.shapes)],
        )


def pattern_row(design: Design, plan: Plan, spent: dict[str, Spent]) -> dict[str, Any]:
    """A pattern with what it is expected to do and what it has done. A batch is as many calls as it has keys."""
    cost = spent.get(plan.name, Spent())
    calls, prices = calls_of(plan), prices_of(design)
    monthly = prices.cost(cost.read_per_call * calls) if prices and calls is not None and cost.calls else None
    return {"plan": plan, "measured": cost, "calls": calls, "monthly": monthly}


def calls_of(plan: Plan) -> float | None:
    """How many calls a month the design states, counted as the meter counts them: of a get, each key."""
    if plan.load is None:
        return None
    return plan.load.calls_a_month * (plan.load.items if plan.kind == "get" else 1)


def prices_of(design: Design) -> Prices | None:
    """The prices where the cost page prices a design first; None if none are known of that region."""
    try:
        return PRICES.of(usual_environment(design).region)
    except RegionHasNoPrices:
        return None


def _bars(design: Design, spent: dict[str, Spent]) -> list[Bar]:
    rows = [
        Bar(plan.name, cost.read, "units", f"/console/designs/{design.name}/patterns/{plan.name}")
        for plan in design.plans
        if (cost := spent.get(plan.name)) is not None and cost.read
    ]
    return sorted(rows, key=lambda row: -row.value)[:12]


def indexes_of(described: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*described.get("GlobalSecondaryIndexes", ()), *described.get("LocalSecondaryIndexes", ())]


def _keys(shape: EntitySpec) -> list[tuple[str, str, Any]]:
    rows = [("table", key.name, key_words(key.template)) for key in shape.primary]
    for name, keys in shape.index_keys.items():
        rows += [(name, key.name, key_words(key.template)) for key in keys]
    return rows


def _operations(shape: EntitySpec, db: Db) -> list[tuple[str, Spent, Load | None]]:
    """What was measured of single reads and writes, with the design's own figure beside it."""
    spent = db.meter.spent()
    kinds = ("get", *get_args(WriteKind))
    rows = []
    for kind in kinds:
        cost = spent.get(f"{shape.tag}.{kind}")
        load = shape.load.get(kind)
        if cost or load:
            rows.append((kind, cost or Spent(), load))
    return rows
