"""The first page, and the search."""

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from tablewright.app.people import ENGINEER
from tablewright.app.runtime import Runtime
from tablewright.edge import Principal
from tablewright.pages.area import Area
from tablewright.pages.layout import Console
from tablewright.pages.search import hits

_MOST_LETTERS = 100


def home_router(console: Console, runtime: Runtime) -> APIRouter:
    router = console.router()

    @router.get("/")
    def home(request: Request) -> Response:
        areas = {area.name: area for area in request.app.state.areas}
        return console.page(
            request,
            "app/home.html",
            title="Home",
            systems=[(each.system, areas.get(each.system.name)) for each in runtime.running],
            tries=_tries(runtime),
            dynamodb=runtime.dynamodb_url,
            region=runtime.engine.place.region,
            base=str(request.base_url).rstrip("/"),
        )

    @router.get("/console")
    def console_itself() -> Response:
        """The common prefix of all pages leads home: a shortened address works too."""
        return console.go("/")

    @router.get("/search")
    def search(request: Request, q: str = "") -> Response:
        text = q.strip()[:_MOST_LETTERS]
        found = hits(request.app.state.areas, console.caller(request), text) if text else []
        hint = _hint(request.app.state.areas, console.caller(request))
        return console.page(request, "app/search.html", title="Search", text=text, found=found, hint=hint)

    return router


def _tries(runtime: Runtime) -> list[tuple[str, str, str]]:
    """Title, address and a sentence for each thing worth a look."""
    name, (design, _) = next(iter(runtime.designs.items()))
    base = f"/console/designs/{name}"
    steps = [("View a design", base, "Its tables, keys and access patterns, with the cost of each so far.")]
    for plan in design.plans[:1]:
        about = "See the exact DynamoDB request and response, the units it used and the monthly cost."
        steps.append(("Run an access pattern", f"{base}/patterns/{plan.name}", about))
    return [
        *steps,
        ("Browse the items", "/console/designs/items", "Every item as stored, identified by the design."),
        ("Read the API docs", "/docs", "Every path with its parameters, schemas and a curl command to try."),
    ]


def _hint(areas: Sequence[Area], caller: Principal) -> str:
    """What a caller may search for. The designs' tables and patterns are words for engineers and visitors alone."""
    knows_designs = not caller.is_known or ENGINEER in caller.roles
    examples = [
        area.finds
        for area in areas
        if area.finds and area.pages_for(area.local(caller)) and (not area.is_workbench or knows_designs)
    ]
    return f"Try {', '.join(examples)} or a page name." if examples else "Try a page name."
