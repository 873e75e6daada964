"""The store as a whole: its tables, how much is in them, and long work on it."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.copy_standing import Standing, standing
from tablewright.app.designs.browse import describe, indexes_of
from tablewright.app.designs.designs import table_of
from tablewright.app.designs.jobs import measure, verify
from tablewright.app.designs.migrations import standings
from tablewright.app.house import House
from tablewright.app.work import progress_of
from tablewright.app.work_words import WORDS
from tablewright.design import Design, Table
from tablewright.edge import Principal
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.forms import Form, posted
from tablewright.pages.layout import Console


def add_store(router: APIRouter, house: House, console: Console, allowed: FindPrincipal) -> None:
    Caller = Annotated[Principal, Depends(allowed)]

    @router.get("/store", dependencies=[Depends(allowed)])
    def store(request: Request) -> Response:
        works = house.works.recent()
        return console.page(
            request,
            "designs/store.html",
            title="Store and work",
            rows=[_row(house, name) for name in house.call("ListTables", {})["TableNames"]],
            works=[(work, progress_of(work, house.world), *WORDS[work.state]) for work in works],
            jobs=house.schedule.listed(),
            followers=house.schedule.followers,
            is_running=any(work.is_running for work in works),
            where=str(house.data) if house.data else "",
            dynamodb=house.dynamodb_url,
            advice=house.advice,
            copies=_copies(house),
            scrub=_scrub(house),
            migrations=standings(house),
        )

    @router.post("/store/verify")
    def start_verify(caller: Caller) -> Response:
        work = house.works.start(
            "verify",
            "Verify the store",
            lambda progress: verify(house.engine, progress),
            by=_name(console, caller),
        )
        return console.go(f"/console/running/{work.id}")

    @router.post("/store/measure")
    def start_measure(caller: Caller, form: Annotated[Form, Depends(posted)]) -> Response:
        physical = describe(house, form.get("table"))["TableName"]
        design, table = table_of(house, physical)
        name = table.name if table else physical
        work = house.works.start(
            "measure",
            f"Count and measure {physical}",
            lambda progress: measure(house.call, physical, design, name, progress),
            by=_name(console, caller),
        )
        return console.go(f"/console/running/{work.id}")


def _copies(house: House) -> Standing | None:
    it = house.copying
    return None if it is None else standing(it.place, it.store, house.world.now())


def _scrub(house: House) -> dict[str, Any]:
    """The last pass of the scrub, the one under way, and what is known to be damaged."""
    scrub = house.engine.scrub
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


def _row(house: House, name: str) -> dict[str, Any]:
    described = describe(house, name)
    design, table = table_of(house, name)
    return {
        "name": name,
        "design": design,
        "table": table,
        "open": _open(house, design, table),
        "status": described["TableStatus"],
        "items": described["ItemCount"],
        "bytes": described["TableSizeBytes"],
        "indexes": len(indexes_of(described)),
    }


def _open(house: House, design: Design | None, table: Table | None) -> str:
    """The table that is open under the design's name; reads and writes go there."""
    if design is None or table is None:
        return ""
    _, db = house.designs[design.name]
    return house.open_table(db, table.name)


def _name(console: Console, caller: Principal) -> str:
    return next(
        (person.name for person in console.people if person.subject == caller.subject), caller.subject
    )
