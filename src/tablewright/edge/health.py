"""`/health` (the process is alive) and `/ready` (it can serve), for load balancers and people.

Must hold: responses name checks, never the errors they found, because anyone may read them. A check that raises has
failed; the log has the type and place of its error. A check has its own timeout: its result is waited for. A check that
returns a text has passed with that warning.
"""

import logging
from collections.abc import Callable, Mapping

from fastapi import APIRouter, Response

from tablewright.edge.routes import Router
from tablewright.engine.errors import fault

log = logging.getLogger("tablewright.edge")

Check = Callable[[], object]  # raises or returns False if it failed; a text is a warning


def health_router(checks: Mapping[str, Check]) -> APIRouter:
    """The two paths. Neither needs a login, and neither is in the API's description."""
    router = Router(include_in_schema=False)

    # On the event loop, unlike every other handler: it must respond while all threads are busy.
    @router.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @router.get("/ready")
    def ready(response: Response) -> dict[str, object]:
        found = {name: outcome(name, check) for name, check in checks.items()}
        is_ready = "failed" not in found.values()
        response.status_code = 200 if is_ready else 503
        return {"status": "ready" if is_ready else "not ready", "checks": found}

    return router


def outcome(name: str, check: Check) -> str:
    """Run one check: `ok`, `failed`, or its warning."""
    try:
        result = check()
    except Exception as error:
        log.warning("check failed", extra={"check": name} | fault(error))
        return "failed"
    if result is False:
        log.warning("check failed", extra={"check": name})
        return "failed"
    return result if isinstance(result, str) else "ok"
