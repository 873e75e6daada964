"""Items as a CSV file of the current filters, and CSV files as items: a preview with types and mistakes, then the puts.

Must hold: nothing is written while a line is wrong; an existing item is replaced only if that was ticked, and never if
it has a secret. An import that stops says which lines were written, which not, and which were not tried. The file is
sent again with the confirmation, so the server keeps nothing. Elsewhere: the files (item_csv.py).
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.browse import describe, key_letters, key_names, keys_read, read_part, reader_of
from tablewright.app.designs.item_csv import (
    MOST_BYTES,
    MOST_ROWS,
    CsvItems,
    CsvRow,
    FileUnusable,
    csv_of,
    items_in,
)
from tablewright.app.designs.item_filters import known_letters
from tablewright.app.designs.item_grid import cell_of
from tablewright.app.designs.item_pages import CONFLICT
from tablewright.app.designs.item_writes import put_request, replace_request
from tablewright.app.designs.lookup import table_of
from tablewright.app.designs.secrets import secret_names
from tablewright.app.designs.table_writes import refuse_closed, write, writers
from tablewright.app.runtime import Runtime
from tablewright.client import CallFailed, CallRefused, NoAnswer, units_of
from tablewright.edge.downloads import download
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import Problem, bad_request
from tablewright.pages.forms import Form, FormWrong, asked, posted
from tablewright.pages.layout import Console, Crumb

_MOST_OUT = 1000
_MOST_READ = 20_000
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the lines of a file. `stopped` was refused for `why`; `untried` come behind it."""

    written: tuple[int, ...]
    kept: tuple[int, ...]
    units: float
    stopped: int | None = None
    why: str = ""
    untried: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        return not self.kept and self.stopped is None


def add_csv(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard, writes = [Depends(allowed)], writers(console, allowed)

    @router.get("/items.csv", dependencies=guard)
    def items_csv(form: Annotated[Form, Depends(asked)]) -> Response:
        described = describe(runtime, form.get("table"))
        try:
            reader = reader_of(runtime, described, keys_read(described, form), form)
        except FormWrong as wrong:
            raise bad_request("INVALID_FILTER", next(iter(wrong.form.errors.values()))) from None
        part = read_part(reader, None, _MOST_OUT, _MOST_READ)
        text = csv_of([reader.covered(item) for item in part.items], key_names(described["KeySchema"]))
        subject = described["TableName"] + (f"-first-{len(part.items)}" if part.end else "")
        return download(text, "items", subject, runtime.world.now(), "csv")

    def csv_page(
        request: Request,
        described: Mapping[str, Any],
        form: Form,
        found: CsvItems | None = None,
        content: bytes = b"",
        status: int = 200,
        done: Imported | None = None,
    ) -> Response:
        table = described["TableName"]
        rows = found.right if found else []
        return console.page(
            request,
            "designs/csv_import.html",
            title="Import CSV",
            crumbs=[Crumb("Items", "/console/designs/items"), Crumb(table, _list_href(table))],
            status=status,
            form=form,
            table=table,
            found=found,
            done=done,
            ranges=ranges_of,
            rows=[
                (line.number, [cell_of(line.item[c.name]) if c.name in line.item else None for c in found.columns])
                for line in rows[:_SHOWN]
            ] if found else [],
            count=len(rows),
            content=b64encode(content).decode(),
            key=key_letters(described),
            most_rows=MOST_ROWS,
            most_bytes=MOST_BYTES,
            back=_list_href(table),
        )  # fmt: skip

    @router.get("/items/import", dependencies=writes)
    def choose(request: Request, table: str) -> Response:
        refuse_closed(runtime, table)
        return csv_page(request, describe(runtime, table), Form())

    @router.post("/items/import", dependencies=writes)
    def import_csv(request: Request, table: str, form: Annotated[Form, Depends(posted)]) -> Response:
        refuse_closed(runtime, table)
        described = describe(runtime, table)
        try:
            content = _content(form)
            design, designed = table_of(runtime, table)
            found = items_in(
                content,
                key_letters(described),
                known_letters(design, designed),
                secret_names(design, designed),
            )
        except FileUnusable as wrong:
            return csv_page(request, described, form.wrong("file", str(wrong)), status=422)
        if form.get("step") != "send" or found.wrong:
            return csv_page(request, described, form, found, content)
        secret = secret_names(design, designed)
        done = _put(runtime, described, found.right, secret, form.is_ticked("replace"))
        if not done.is_whole:
            status = 200 if done.stopped is None else 409
            return csv_page(request, described, form, found, content, status, done)
        return console.go(
            _list_href(table), f"{len(done.written)} items were written; {done.units:g} write units."
        )


def _content(form: Form) -> bytes:
    """The file that was chosen, or the one of the preview."""
    if "file" in form.files:
        return form.files["file"].content
    try:
        content = b64decode(form.get("content"), validate=True)
    except NotBase64:
        content = b""
    if not content:
        raise FileUnusable("Choose a CSV file with at least one line.")
    return content


def _put(
    runtime: Runtime,
    described: Mapping[str, Any],
    lines: Sequence[CsvRow],
    secret: frozenset[str],
    replaces: bool,
) -> Imported:
    """Put the items one after the other, up to the first that is refused for another reason than its condition."""
    table, names = described["TableName"], key_names(described["KeySchema"])
    written: list[int] = []
    kept: list[int] = []
    units = 0.0
    for place, line in enumerate(lines):
        request = (
            replace_request(table, line.item, secret) if replaces else put_request(table, names, line.item)
        )
        try:
            answer = write(runtime, "PutItem", request | {"ReturnConsumedCapacity": "TOTAL"})
        except (CallFailed, Problem) as failure:
            if isinstance(failure, CallRefused) and failure.name == CONFLICT:
                kept.append(line.number)
                continue
            untried = tuple(each.number for each in lines[place + 1 :])
            return Imported(tuple(written), tuple(kept), units, line.number, _why(failure), untried)
        written.append(line.number)
        units += sum(each.write for each in units_of("PutItem", answer))
    return Imported(tuple(written), tuple(kept), units)


def _why(failure: CallFailed | Problem) -> str:
    if isinstance(failure, NoAnswer) and failure.may_have_been_carried_out:
        return "No answer came: it may have been written."
    return failure.message if isinstance(failure, CallRefused | Problem) else str(failure)


def ranges_of(numbers: Sequence[int]) -> str:
    """Numbers in few words: 2, 4 to 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}" if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def _list_href(table: str) -> str:
    return f"/console/designs/items?{urlencode({'table': table})}"
