"""Is the process alive, and is it ready to serve: `/health` and `/ready` for load balancers and people.

Must hold: the answers name checks, never what they found: anyone may ask. A check that raises has failed, and why is
in the log by kind and place. A check brings its own patience: it is waited for.
"""

import logging
from collections.abc import Callable, Mapping

from fastapi import APIRouter, Response

from tablewright.engine.errors import fault

log = logging.getLogger("tablewright.edge")

Check = Callable[[], object]  # raises, or returns False, when what it looks at is not there


def health_router(checks: Mapping[str, Check]) -> APIRouter:
    """The two paths. Neither asks for a login, and neither is part of the API's own description."""
    router = APIRouter(include_in_schema=False)

    # On the loop, unlike every other handler: it must answer while all threads are busy.
    @router.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @router.get("/ready")
    def ready(response: Response) -> dict[str, object]:
        found = {name: "ok" if passes(name, check) else "failed" for name, check in checks.items()}
        is_ready = "failed" not in found.values()
        response.status_code = 200 if is_ready else 503
        return {"status": "ready" if is_ready else "not ready", "checks": found}

    return router


def passes(name: str, check: Check) -> bool:
    """Run one check."""
    try:
        good = check() is not False
    except Exception as error:
        log.warning("check failed", extra={"check": name} | fault(error))
        return False
    if not good:
        log.warning("check failed", extra={"check": name})
    return good
