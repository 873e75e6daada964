"""The Store page: tables with their size, integrity, migrations, backfills, copies, long-running and scheduled jobs."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.copies.status import CopiesStatus, copies_status
from tablewright.app.designs.backfills import backfill_statuses
from tablewright.app.designs.browse import describe, table_names
from tablewright.app.designs.designs import indexes_of
from tablewright.app.designs.jobs import measure, verify
from tablewright.app.designs.lookup import table_of
from tablewright.app.designs.migrations import migration_statuses
from tablewright.app.manual_jobs import STATES, progress_of
from tablewright.app.runtime import Runtime
from tablewright.design import Design, Table
from tablewright.edge import Principal
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.forms import Form, posted
from tablewright.pages.layout import Console


def add_store(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    Caller = Annotated[Principal, Depends(allowed)]

    @router.get("/store", dependencies=[Depends(allowed)])
    def store(request: Request) -> Response:
        works = runtime.works.recent()
        return console.page(
            request,
            "designs/store.html",
            title="Store and jobs",
            rows=[_row(runtime, name) for name in table_names(runtime)],
            works=[(work, progress_of(work, runtime.world), *STATES[work.state]) for work in works],
            jobs=runtime.schedule.listed(),
            followers=runtime.schedule.followers,
            is_running=any(work.is_running for work in works),
            where=str(runtime.data) if runtime.data else "",
            endpoint=runtime.place.shared.name if runtime.place.shared is not None else "",
            dynamodb=runtime.dynamodb_url,
            advice=runtime.advice,
            copies=_copies(runtime),
            scrub=_scrub(runtime),
            migrations=migration_statuses(runtime),
            backfills=backfill_statuses(runtime),
        )

    @router.post("/store/verify")
    def start_verify(caller: Caller) -> Response:
        engine = runtime.engine
        work = runtime.works.start(
            "verify",
            "Verify the store",
            lambda progress: verify(engine, progress),
            by=_name(console, caller),
        )
        return console.go(f"/console/running/{work.id}")

    @router.post("/store/measure")
    def start_measure(caller: Caller, form: Annotated[Form, Depends(posted)]) -> Response:
        physical = describe(runtime, form.get("table"))["TableName"]
        design, table = table_of(runtime, physical)
        name = table.name if table else physical
        work = runtime.works.start(
            "measure",
            f"Count and measure {physical}",
            lambda progress: measure(runtime.call, physical, design, name, progress),
            by=_name(console, caller),
        )
        return console.go(f"/console/running/{work.id}")


def _copies(runtime: Runtime) -> CopiesStatus | None:
    it = runtime.copying
    return None if it is None else copies_status(it.place, it.store, runtime.world.now())


def _scrub(runtime: Runtime) -> dict[str, Any] | None:
    """The last pass of the scrub, the one under way, and what is known to be damaged; None on an endpoint."""
    if runtime.place.regions is None:
        return None
    scrub = runtime.engine.scrub
    last, current = scrub.last(), scrub.current
    return {
        "last": last,
        "last_ended": _moment(last.ended) if last is not None and last.ended is not None else None,
        "current": current,
        "begun": _moment(current.begun) if current is not None else None,
        "percent": min(99, 100 * current.rows // max(1, current.total)) if current is not None else 0,
        "damage": scrub.damage(),
    }


def _moment(microseconds: int) -> datetime:
    return datetime.fromtimestamp(microseconds / 1_000_000, UTC)


def _row(runtime: Runtime, name: str) -> dict[str, Any]:
    described = describe(runtime, name)
    design, table = table_of(runtime, name)
    return {
        "name": name,
        "design": design,
        "table": table,
        "open": _open(runtime, design, table),
        "status": described["TableStatus"],
        "items": described["ItemCount"],
        "bytes": described["TableSizeBytes"],
        "indexes": len(indexes_of(described)),
    }


def _open(runtime: Runtime, design: Design | None, table: Table | None) -> str:
    """The table that is open under the design's name; reads and writes go there."""
    if design is None or table is None:
        return ""
    _, db = runtime.designs[design.name]
    return runtime.open_table(db, table.name)


def _name(console: Console, caller: Principal) -> str:
    return next(
        (person.name for person in console.people if person.subject == caller.subject), caller.subject
    )
