"""Run an access pattern: the form, the exact request, the answer, its units, and what that means in a month."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from tablewright.app.designs.code_targets import TypedCode, target_of, typed_of
from tablewright.app.designs.designs import calls_of, pattern_row, prices_of
from tablewright.app.designs.item_details import open_calls
from tablewright.app.designs.item_grid import item_href, shown
from tablewright.app.designs.lookup import find_design
from tablewright.app.designs.run import RunMeter, fields, is_asked, request_of, typed
from tablewright.app.designs.secrets import covered_model
from tablewright.app.designs.uploads import upload_state
from tablewright.app.json_words import pretty
from tablewright.app.runtime import Runtime
from tablewright.design import Design, EntitySpec, Get, Plan
from tablewright.design.attributes import encode_item
from tablewright.design.cost import usual_environment
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import not_found
from tablewright.mapping import Db
from tablewright.mapping.code_samples import samples
from tablewright.mapping.items import is_deleted, is_expired, model_of, shape_of
from tablewright.mapping.meter import Spent
from tablewright.pages.forms import Form, FormWrong, asked, form_of
from tablewright.pages.layout import Console, Crumb
from tablewright.pages.lists import Listing, listing

_COLUMNS = 5
_PAGE = 20
_LOOKED_AT = 50


def add_patterns(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:

    @router.get("/{design}/patterns/{name}", dependencies=[Depends(allowed)])
    def pattern(request: Request, design: str, name: str, form: Annotated[Form, Depends(asked)]) -> Response:
        found, db = find_design(runtime, design)
        plan = next((plan for plan in found.plans if plan.name == name), None)
        if plan is None:
            raise not_found("NO_SUCH_PATTERN", f"The design {found.name} has no pattern of this name.")
        ran: dict[str, Any] | None = None
        is_sent = is_asked(form) or not plan.signature.parameters
        state = upload_state(runtime, console, request, found, db)
        if state["lacks_tables"]:
            form = _checked(plan, form) if is_sent else form
        elif is_sent:
            try:
                ran = _run(runtime, console, request, found, plan, form)
            except FormWrong as wrong:
                form = wrong.form
        else:
            form = _example(runtime, db, plan)
        return console.page(
            request,
            "designs/pattern.html",
            title=plan.name,
            crumbs=[
                Crumb(found.name, f"/console/designs/{found.name}"),
                Crumb(plan.table.name, f"/console/designs/{found.name}/tables/{plan.table.name}"),
            ],
            design=found,
            plan=plan,
            form=form,
            fields=fields(plan),
            ran=ran,
            row=pattern_row(found, plan, db.meter.spent()),
            prices=prices_of(found),
            region=usual_environment(found).region,
            is_example=not is_sent and not state["lacks_tables"] and bool(form.values),
            **_code(runtime, found, plan, form),
            **state,
        )


def _checked(plan: Plan, form: Form) -> Form:
    """What was typed for a pattern that cannot be run, with mistakes beside their fields."""
    try:
        request_of(plan, typed(plan, form), form)
    except FormWrong as wrong:
        return wrong.form
    return form


def _run(
    runtime: Runtime, console: Console, request: Request, design: Design, plan: Plan, form: Form
) -> dict[str, Any]:
    _, db = runtime.designs[design.name]
    wanted = request_of(plan, typed(plan, form), form)
    meter = RunMeter(db.meter)
    own = Db(
        runtime.call_of(db),
        *db.designs,
        world=runtime.world,
        secret=runtime.secret,
        environment=db.environment,
        meter=meter,
    )
    deleted = form.is_ticked("deleted")
    explanation = db.explain(wanted)
    page: Listing[Any]
    if isinstance(wanted, Get):
        one = own.one(wanted, deleted=deleted)
        page = Listing((one,) if one is not None else ())
    else:
        size = min(plan.page, plan.at_most, _PAGE)
        reader = console.caller(request).subject
        page = listing(request, own, wanted, size=size, reader=reader, deleted=deleted)
    return {
        "explanation": explanation,
        "calls": [(verb, pretty(body)) for verb, body in open_calls(runtime, db, explanation)],
        "page": page,
        "columns": _columns(plan),
        "rows": [_row(runtime.open_table(db, plan.table.name), plan, item) for item in page.items],
        "spent": meter.total,
        "meaning": _meaning(design, plan, meter.total),
    }


def _code(runtime: Runtime, design: Design, plan: Plan, form: Form) -> dict[str, Any]:
    """Code that makes this call, with the arguments of the form; nothing as long as they do not fit."""
    _, db = runtime.designs[design.name]
    try:
        arguments = typed(plan, form)
        explanation = db.explain(request_of(plan, arguments, form))
    except FormWrong:
        return {"samples": [], "code": TypedCode()}
    calls = open_calls(runtime, db, explanation)
    code = typed_of(runtime, design, plan, arguments)
    return {"samples": samples(calls, target_of(runtime), code.text), "code": code}


def _meaning(design: Design, plan: Plan, spent: Spent) -> dict[str, Any]:
    """What a call like this costs at the pattern's load; a million of them where no load is stated."""
    calls, prices = calls_of(plan), prices_of(design)
    units = spent.read * (calls if calls is not None else 1_000_000)
    return {"calls": calls, "cost": prices.cost(units) if prices else None}


def _columns(plan: Plan) -> list[str]:
    """Key fields first, then as many others as fit."""
    shape = plan.shapes[0]
    keys = [name for key in shape.primary for name in key.template.fields]
    rest = [each.field for each in shape.attributes if each.kind.letter in ("S", "N", "BOOL")]
    return list(dict.fromkeys([*keys, *rest]))[:_COLUMNS]


def _row(physical: str, plan: Plan, item: BaseModel) -> dict[str, Any]:
    shape = next(shape for shape in plan.shapes if shape.model is type(item))
    item = covered_model(shape, item)
    stored = encode_item(item)
    cells = [_cell(shape, stored, name) for name in _columns(plan)]
    try:
        key = shape.key_of(item.__dict__)
        href = item_href(physical, key, shape.table.key_names)
    except KeyError:
        href = ""  # a view without its key's fields
    raw = pretty(item.model_dump(mode="json", by_alias=True))
    return {"entity": shape.tag, "cells": cells, "href": href, "json": raw}


def _cell(shape: EntitySpec, stored: dict[str, Any], name: str) -> str:
    known = shape.fields.get(name)
    value = stored.get(known.stored) if known else None
    if value is None:
        return ""
    return shown(value, 60)


def _example(runtime: Runtime, db: Db, plan: Plan) -> Form:
    """The form filled in from an item that is there, so that the first run finds something."""
    now = int(runtime.world.now().timestamp())
    answer = runtime.call_of(db)("Scan", {"TableName": db.physical(plan.table.name), "Limit": _LOOKED_AT})
    for item in answer["Items"]:
        shape = shape_of(plan.shapes, item)
        if shape is None or is_deleted(shape, item) or is_expired(shape, item, now):
            continue  # no read of the design shows it
        if shape.model is plan.shapes[0].model:
            values = model_of(shape, item).model_dump(mode="json")
            return form_of({name: values[name] for name in plan.signature.parameters if name in values})
    return Form()
