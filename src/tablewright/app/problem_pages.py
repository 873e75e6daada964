"""/problems/CODE, where the `type` of every error leads: what it means and what to do, as a page and as JSON.

The pages are the workbench's; without it there is only the JSON.
Elsewhere: where the codes come from (app/problem_codes.py).
"""

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from tablewright.app.problem_codes import problem_code, problem_codes
from tablewright.edge.problems import not_found
from tablewright.pages.layout import Console


def problems_router(console: Console) -> APIRouter:
    router = console.router()

    if console.workbench:

        @router.get("/problems")
        def every(request: Request) -> Response:
            found = list(problem_codes().values())
            return console.page(request, "app/problem_codes.html", title="Errors", codes=found)

    @router.get("/problems/{code}")
    def one(request: Request, code: str) -> Response:
        found = problem_code(code)
        if found is None:
            raise not_found("NO_SUCH_PROBLEM", "No error has this code.")
        if console.workbench and "text/html" in request.headers.get("accept", ""):
            return console.page(request, "app/problem_code.html", title=found.title, each=found)
        return JSONResponse(
            {
                "code": found.code,
                "title": found.title,
                "statuses": found.statuses,
                "messages": found.sentences,
                "advice": found.advice,
            }
        )

    return router
