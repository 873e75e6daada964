"""Unknown query parameters are refused, as unknown fields of a body are.

Otherwise a misspelt filter would be ignored. Only for APIs: pages are opened with parameters that mail programs and
search engines add.
"""

from typing import Any

from fastapi import Request
from starlette.types import Scope

from tablewright.edge.problems import ERRORS_LISTED, Problem
from tablewright.edge.routes import query_names


async def only_known_parameters(request: Request) -> None:
    """A dependency: 422 for a query parameter that the route does not read."""
    known = _names(request.app.state, _dependant(request.scope))
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise _refusal(unknown, sorted(known))


def _dependant(scope: Scope) -> Any:
    # FastAPI keeps the route with the dependencies of the routers around it in here.
    context = scope.get("fastapi", {}).get("effective_route_context")
    return (context if context is not None else scope["route"]).dependant


def _names(state: Any, dependant: Any) -> frozenset[str]:
    """The parameters of a route, looked up once; cached with the dependant itself, so that its id stays unique."""
    known: dict[int, tuple[Any, frozenset[str]]] = state.known_parameters
    found = known.get(id(dependant))
    if found is None:
        found = known[id(dependant)] = (dependant, frozenset(query_names(dependant)))
    return found[1]


def _refusal(unknown: list[str], known: list[str]) -> Problem:
    available = f"it has {', '.join(known)}" if known else "it has none"
    words = "{} is not a query parameter of this path; " + available + "."
    errors = [
        {"field": name, "in": "query", "kind": "extra_forbidden", "message": words.format(name)}
        for name in unknown[:ERRORS_LISTED]
    ]
    extra = {"errors": errors, "errorCount": len(unknown)}
    return Problem(422, "INVALID_FIELD", words.format(unknown[0]), unknown[0], extra)
