"""The page of a long-running job, with its progress; as JSON for programs at the same address."""

from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse

from tablewright.app.design import Work
from tablewright.app.manual_jobs import STATES, progress_of
from tablewright.app.runtime import Runtime
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import not_found
from tablewright.english import plural, size
from tablewright.pages.charts import Bar
from tablewright.pages.layout import Console, Crumb
from tablewright.world import World


def work_router(console: Console, runtime: Runtime, allowed: FindPrincipal) -> APIRouter:
    router = console.router()

    @router.get("/console/running/{id}", dependencies=[Depends(allowed)])
    def work(request: Request, id: str) -> Response:
        found = runtime.works.find(id)
        if found is None:
            raise not_found("NO_SUCH_WORK", "There is no such job, or it is older than 30 days.")
        if "text/html" not in request.headers.get("accept", "") and "hx-request" not in request.headers:
            return JSONResponse(as_json(found, runtime.world))
        word, tone = STATES[found.state]
        return console.page(
            request,
            "app/work.html",
            title=found.title,
            crumbs=[Crumb("Store and jobs", "/console/designs/store")],
            work=found,
            progress=progress_of(found, runtime.world),
            state_word=word,
            state_tone=tone,
            entity_bars=entity_bars(found),
            shown_size=size,
        )

    return router


def as_json(work: Work, world: World) -> dict[str, Any]:
    """The work with its percent, rate and time left."""
    progress = progress_of(work, world)
    return work.model_dump(mode="json") | {
        "percent": progress.percent,
        "rate": progress.rate,
        "secondsLeft": progress.seconds_left if work.is_running else 0,
    }


def entity_bars(work: Work) -> list[Bar]:
    """How a measured table's bytes are shared out."""
    if work.kind != "measure" or not isinstance(work.result, dict):
        return []
    entities: Any = work.result["entities"]
    return [Bar(each["name"], each["bytes"], f"in {plural(each['items'], 'item')}") for each in entities]
