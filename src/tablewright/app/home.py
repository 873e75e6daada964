"""The first page: of the workbench, or of the one system that a server serves."""

from fastapi import APIRouter, Request, Response

from tablewright.app.runtime import Runtime
from tablewright.pages.area import Area
from tablewright.pages.layout import Console


def root_router(console: Console, area: Area) -> APIRouter:
    """The first page of a server of one system: its pages keep their addresses, so that links and mail stay right."""
    router = console.router()

    @router.get("/")
    @router.get("/console")
    def home(request: Request) -> Response:
        return console.go(area.home_of(area.pages_for(area.local(console.caller(request)))))

    return router


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
            region=runtime.engine.place.region if runtime.place.regions is not None else "",
            endpoint=runtime.place.shared.name if runtime.place.shared is not None else "",
            base=str(request.base_url).rstrip("/"),
        )

    @router.get("/console")
    def console_itself() -> Response:
        """The common prefix of all pages leads home: a shortened address works too."""
        return console.go("/")

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
        (
            "Check a design",
            "/console/designs/check",
            "Paste a design of your own and see what the rules find.",
        ),
        ("Browse the items", "/console/designs/items", "Every item as stored, identified by the design."),
        ("Read the API docs", "/docs", "Every path with its parameters, schemas and a curl command to try."),
    ]
