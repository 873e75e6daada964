"""PartiQL: one statement. A SELECT runs at once, up to a limit; a write is shown as its request, then confirmed.

Must hold: secrets are covered in what a SELECT returns. A POST, also for a SELECT: its text may name people, and an
address is kept by browsers. Elsewhere: what a statement becomes (statements.py).
"""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.browse import describe, key_letters, key_names, table_names
from tablewright.app.designs.diagrams import Owner, owner_of
from tablewright.app.designs.item_grid import cell_of, columns_of, item_href
from tablewright.app.designs.item_pages import CONFLICT
from tablewright.app.designs.item_writes import ItemUnusable, refuse_key
from tablewright.app.designs.lookup import table_of
from tablewright.app.designs.secrets import covered, secret_names
from tablewright.app.designs.statements import (
    StatementUnusable,
    Written,
    read_statement,
    refuse_secret,
    request_of,
)
from tablewright.app.designs.table_writes import refuse_closed, refuse_reader, write
from tablewright.app.json_words import pretty
from tablewright.app.runtime import Runtime
from tablewright.client import CallRefused, units_of
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import Problem
from tablewright.pages.forms import Form, posted
from tablewright.pages.layout import Console, Crumb
from tablewright.partiql import Select
from tablewright.values import Value

LIMITS = ("25", "50", "100")


def add_partiql(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard = [Depends(allowed)]

    def page(request: Request, form: Form, **results: Any) -> Response:
        return console.page(
            request,
            "designs/partiql.html",
            title="PartiQL",
            crumbs=[Crumb("Items", "/console/designs/items")],
            form=form,
            limits=LIMITS,
            **{"answer": None, "plan": None, "done": "", **results},
        )

    @router.get("/partiql", dependencies=guard)
    def ask(request: Request, table: str = "") -> Response:
        text = f'SELECT * FROM "{table}"' if table in table_names(runtime) else ""
        return page(request, Form({"statement": text, "limit": LIMITS[0]}))

    @router.post("/partiql", dependencies=guard)
    def run(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        try:
            found = read_statement(form.get("statement"))
            design, table = table_of(runtime, found.table)
            refuse_secret(found, secret_names(design, table))
            if isinstance(found, Select):
                return page(request, form, answer=_selected(runtime, form, found))
            refuse_reader(console, request)
            planned = _planned(runtime, found)
            if form.get("step") != "send":
                return page(request, form, plan=planned)
            answer = write(runtime, planned["verb"], planned["sent"] | {"ReturnConsumedCapacity": "TOTAL"})
        except StatementUnusable as wrong:
            return page(request, form.wrong("statement", str(wrong)))
        except CallRefused as refused:
            words = (
                "Nothing was written: the condition does not hold."
                if refused.name == CONFLICT
                else refused.message
            )
            return page(request, form.wrong("statement", words))
        except Problem as problem:
            if problem.status == 403:
                raise
            return page(request, replace(form, error=problem.message))
        units = sum(each.write for each in units_of(planned["verb"], answer))
        return page(
            request, form, done=f"{planned['verb']} was carried out; {units:g} write units.", plan=planned
        )


def _planned(runtime: Runtime, found: Written) -> dict[str, Any]:
    """The request of a write, and the item as it is now."""
    refuse_closed(runtime, found.table)
    described = describe(runtime, found.table)
    verb, sent = request_of(found, key_names(described["KeySchema"]))
    letters = key_letters(described)
    place = sent.get("Key") or sent["Item"]
    try:
        refuse_key(place, letters)
    except ItemUnusable as wrong:
        raise StatementUnusable(str(wrong)) from None
    key = {name: place[name] for name in letters}
    item = runtime.call("GetItem", {"TableName": found.table, "Key": key, "ConsistentRead": True}).get("Item")
    return {
        "verb": verb,
        "sent": sent,
        "request": pretty(sent),
        "current": pretty(_covered(runtime, found.table, item)[0]) if item else "",
        "href": item_href(found.table, key, list(letters)) if item else "",
    }


def _selected(runtime: Runtime, form: Form, found: Select) -> dict[str, Any]:
    limit = form.get("limit") if form.get("limit") in LIMITS else LIMITS[0]
    described = describe(runtime, found.table)
    answer = runtime.call(
        "ExecuteStatement",
        {"Statement": form.get("statement"), "Limit": int(limit), "ReturnConsumedCapacity": "TOTAL"},
    )
    names = key_names(described["KeySchema"])
    items = [_covered(runtime, found.table, item) for item in answer["Items"]]
    columns = columns_of([item for item, _ in items], names)
    rows = [
        (
            item_href(found.table, item, names) if all(name in item for name in names) else "",
            [cell_of(item[name]) if name in item else None for name in columns],
        )
        for item, _ in items
    ]
    units = answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0)
    has_more = bool(answer.get("NextToken") or answer.get("LastEvaluatedKey"))
    return {"columns": columns, "rows": rows, "units": units, "has_more": has_more, "limit": int(limit)}


def _covered(runtime: Runtime, physical: str, item: dict[str, Value]) -> tuple[dict[str, Value], Owner]:
    """An item, or the part of it that was selected: without its key, what is secret in any entity is covered."""
    design, table = table_of(runtime, physical)
    owner = owner_of(design, table.name if table else physical, item)
    return covered(item, owner.shape, design, table), owner
