"""Writes of the workbench to a table by the name it has in the store.

Must hold: only an engineer writes, though in the demo every signed-in user may read; a table of a design is written
through that design's own Call, so a migration routes the write or makes it wait; a side of a migration that is not open
is never written. The log says what was done to which table, not to which item.
"""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import Depends, Request

from tablewright.app.designs.lookup import table_of
from tablewright.app.people import ENGINEER
from tablewright.app.runtime import Runtime
from tablewright.edge import require
from tablewright.edge.identity.guards import FindPrincipal, Needs
from tablewright.edge.problems import Problem
from tablewright.pages.layout import Console

log = logging.getLogger("tablewright.app")


def writers(console: Console, allowed: FindPrincipal) -> list[Any]:
    """Dependencies of a page that writes: the caller may see it, and is an engineer."""
    return [Depends(allowed), Depends(require(console.identity, ENGINEER))]


def refuse_reader(console: Console, request: Request) -> None:
    """Refuse a caller who may read only."""
    Needs((ENGINEER,)).refuse_without(request, console.caller(request))


def may_write(console: Console, request: Request) -> bool:
    return ENGINEER in console.caller(request).roles


def write(runtime: Runtime, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Send a write of one item; CallRefused has the store's own sentence."""
    physical = request["TableName"]
    design, table = table_of(runtime, physical)
    if design is None or table is None:
        answer = runtime.call(verb, request)
    else:
        _, db = runtime.designs[design.name]
        refuse_closed(runtime, physical)
        answer = runtime.call_of(db)(verb, {**request, "TableName": db.physical(table.name)})
    log.info("workbench write", extra={"verb": verb, "table": physical})
    return answer


def refuse_closed(runtime: Runtime, physical: str) -> None:
    """Refuse a table of a design that is the other side of a migration."""
    design, table = table_of(runtime, physical)
    if design is None or table is None:
        return
    _, db = runtime.designs[design.name]
    opened = runtime.open_table(db, table.name)
    if opened != physical:
        words = f"{physical} is not in use: {table.name} is {opened}. Change the item there."
        raise Problem(409, "TABLE_NOT_OPEN", words)
