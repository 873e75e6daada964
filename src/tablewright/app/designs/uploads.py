"""Uploaded designs on the pages: add one, create its tables, remove it.

Must hold: only an engineer adds and removes; a table is deleted only where the form says so, which names each table.
Elsewhere: how they are kept (app/uploaded_designs.py), the page that adds one (document_check.py).
"""

import logging
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.lookup import find_design
from tablewright.app.designs.table_writes import may_write, writers
from tablewright.app.own_designs import DesignNameUnusable
from tablewright.app.runtime import Runtime
from tablewright.app.uploaded_designs import TooManyUploads
from tablewright.client import CallRefused
from tablewright.design import Design, DesignMistake
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import Problem, not_found
from tablewright.english import plural
from tablewright.kit.system import SystemsClash
from tablewright.mapping import Db, TableDiffers
from tablewright.pages.forms import Form, posted
from tablewright.pages.layout import Console, Crumb

log = logging.getLogger("tablewright.app")


def add_uploads(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard, uploads = writers(console, allowed), runtime.uploads

    @router.post("/{design}/create-tables", dependencies=guard)
    def create(design: str) -> Response:
        found = _uploaded(runtime, design)
        try:
            uploads.create_tables(found.name)
        except TableDiffers as differs:
            words = (
                f"Not created: the table {differs.table} is in this store and is another than the design's."
            )
            raise Problem(409, "TABLE_DIFFERS", words) from None
        return console.go(f"/console/designs/{found.name}", "The tables are in this store. They are empty.")

    @router.get("/{design}/remove", dependencies=guard)
    def asked_to_remove(request: Request, design: str) -> Response:
        found = _uploaded(runtime, design)
        _, db = runtime.designs[found.name]
        return console.page(
            request,
            "designs/upload_remove.html",
            title=f"Remove {found.name}",
            crumbs=[Crumb(found.name, f"/console/designs/{found.name}")],
            design=found,
            file=uploads.all()[found.name].file,
            tables=[
                f"{live['TableName']} ({plural(live['ItemCount'], 'item')})"
                for name in found.tables
                if (live := _live(runtime, db, name))
            ],
            form=Form(),
        )

    @router.post("/{design}/remove", dependencies=guard)
    def remove(design: str, form: Annotated[Form, Depends(posted)]) -> Response:
        found = _uploaded(runtime, design)

        def delete(db: Db) -> None:
            for name in found.tables:
                if _live(runtime, db, name):
                    runtime.call("DeleteTable", {"TableName": db.physical(name)})

        with_tables = form.is_ticked("tables")
        uploads.remove(found.name, delete if with_tables else None)
        log.info("uploaded design removed", extra={"with_tables": with_tables})
        return console.go("/console/designs", f"{found.name} was removed" + _rest(with_tables))


def _rest(with_tables: bool) -> str:
    return ", and its tables were deleted." if with_tables else "."


class NotAdded(ValueError):
    """An upload that is refused; the sentence is for the person who uploaded it."""


def add_upload(runtime: Runtime, file: str, text: str) -> Design:
    """Keep a design that was uploaded; NotAdded says why not, and what to do."""
    if not runtime.uploads.is_open:
        raise NotAdded("Not added: the tables are on an endpoint. Start the server with --design instead.")
    try:
        upload = runtime.uploads.add(file, text)
    except SystemsClash as clash:
        rest = ", or remove the uploaded design of that name first." if clash.what == "design" else "."
        words = f"Not added: this server has a {clash.what} named {clash.name}. Change the name in the file"
        raise NotAdded(words + rest) from None
    except (DesignNameUnusable, TooManyUploads) as mistake:
        raise NotAdded(f"Not added: {mistake}.") from None
    except DesignMistake:
        raise NotAdded("Not added: the design has errors. Press “Check” to see them.") from None
    log.info("design uploaded", extra={"tables": len(upload.design.tables)})
    return upload.design


def upload_state(
    runtime: Runtime, console: Console, request: Request, design: Design, db: Db
) -> dict[str, Any]:
    """For the page of a design: its upload, if it is one, and whether its tables are missing here."""
    upload = runtime.uploads.all().get(design.name)
    return {
        "upload": upload,
        "lacks_tables": lacks_tables(runtime, design, db),
        "may_write": may_write(console, request),
    }


def lacks_tables(runtime: Runtime, design: Design, db: Db) -> bool:
    """True for an uploaded design of which a table is not in the store."""
    if design.name not in runtime.uploads.all():
        return False
    return not all(_live(runtime, db, name) for name in design.tables)


def _live(runtime: Runtime, db: Db, table: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = runtime.call("DescribeTable", {"TableName": db.physical(table)})["Table"]
    except CallRefused:
        return None
    return found


def _uploaded(runtime: Runtime, name: str) -> Design:
    found, _ = find_design(runtime, name)
    if name not in runtime.uploads.all():
        raise not_found("NOT_UPLOADED", f"{name} was not uploaded: the server was started with it.")
    return found
