"""The page "Check a design": a design file or a document of facts, uploaded or pasted, and what the rules find in it.

Must hold: nothing of it is stored or logged unless an engineer adds it to the console, and no code in it is run. A
design in Python is code, so it is not taken here; the page says which command reads it.
Elsewhere: what is shown of a design file (design_file_check.py); a design that was added (uploads.py).
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import ValidationError

from tablewright.app.designs.cost import part_bars
from tablewright.app.designs.design_file_check import (
    FileMistaken,
    FileReport,
    Fix,
    Mistakes,
    file_report,
    fix_of,
)
from tablewright.app.designs.findings import Findings, document_of, explained
from tablewright.app.designs.table_writes import may_write, writers
from tablewright.app.designs.uploads import NotAdded, add_upload
from tablewright.app.runtime import Runtime
from tablewright.design.review import Facts, FactsUnusable, examples, from_json, review
from tablewright.design.review.stated_costs import stated_costs
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.english import money
from tablewright.pages.forms import Form, asked, posted
from tablewright.pages.layout import Console

_MOST_MISTAKES = 20
_CODE = (".py", ".pyc", ".ipynb")


def add_document_check(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard = [Depends(allowed)]

    def shown(request: Request, form: Form, **values: Any) -> Response:
        given = {
            "name": "",
            "findings": None,
            "mistakes": (),
            "file": None,
            "costs": (),
            "fix": Fix(),
            "may_add": runtime.uploads.is_open and may_write(console, request),
            "is_open": runtime.uploads.is_open,
            **values,
        }
        status = 422 if form.is_wrong else 200
        return console.page(
            request, "designs/document_check.html", title="Check a design", form=form, status=status, **given
        )

    @router.get("/check", dependencies=guard)
    def empty(request: Request, form: Annotated[Form, Depends(asked)]) -> Response:
        """With `rule`, filled in with the bad example of that rule."""
        try:
            bad, _ = examples(form.get("rule"))
        except KeyError:
            return shown(request, Form())
        return shown(request, Form({"document": document_of(bad)}))

    # A POST, though nothing is changed: a document is too long for an address, and an address is kept by browsers.
    @router.post("/check", dependencies=guard)
    def checked(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        form, text = _given(form)
        if form.is_wrong:
            return shown(request, form)
        try:
            report = file_report(text)
            if report is not None:
                return shown(request, form, **_of_file(report))
            facts = from_json(text)
            found = sorted(review(facts), key=lambda each: each.line)
            findings = explained(found)
        except FileMistaken as error:
            words = "This is not a design file yet: see what is wrong."
            mistakes = error.mistakes[:_MOST_MISTAKES]
            return shown(request, form.wrong("document", words), mistakes=mistakes, fix=error.fix)
        except ValidationError as error:
            words = "This is neither a design file nor a document of facts."
            return shown(request, form.wrong("document", words), mistakes=_mistakes(error))
        except FactsUnusable as error:
            return shown(request, form.wrong("document", f"{error}."))
        return shown(
            request,
            form,
            name=facts.name,
            findings=by_line(findings),
            counted=_counted(facts),
            costs=stated_costs(facts),
            fix=fix_of(text, found, is_yaml=False, is_design=False, name=facts.name),
        )

    @router.post("/check/add", dependencies=writers(console, allowed))
    def added(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        try:
            design = add_upload(runtime, form.get("name"), form.get("document"))
        except NotAdded as refusal:
            return shown(request, replace(form, error=str(refusal)))
        return console.go(
            f"/console/designs/{design.name}", f"{design.name} was added. It stays until you remove it."
        )


def _given(form: Form) -> tuple[Form, str]:
    """The form with the document in its text field, so that it can be corrected there; and the document."""
    file, typed = form.files.get("file"), form.get("document")
    if file is None:
        return (
            (form, typed)
            if typed.strip()
            else (form.wrong("document", "Choose a file or paste a document."), "")
        )
    if (file.filename or "").lower().endswith(_CODE):
        words = "This is Python, and uploaded code is never run. Start the server with --design instead."
        return form.wrong("file", words), ""
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return form.wrong("file", "The file is not text in UTF-8."), ""
    return Form({**form.values, "document": text, "name": file.filename or ""}), text


def _of_file(report: FileReport) -> dict[str, Any]:
    return {
        "name": report.name,
        "findings": by_line(report.findings),
        "counted": report.counted,
        "file": report,
        "fix": report.fix,
        "part_bars": part_bars(report.cost) if report.cost else [],
        "dollars": lambda value: money(Decimal(str(value))),
    }


def _mistakes(error: ValidationError) -> Mistakes:
    """Where a document is not one, and why: as many as a page takes."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return [
        (".".join(map(str, each["loc"])) or "the document", _why(each["type"], each["msg"]))
        for each in found[:_MOST_MISTAKES]
    ]


def _why(kind: str, words: str) -> str:
    """What is wrong with a value, as a sentence of ours where the checker's own is only a label."""
    if kind == "missing":
        return "is missing"
    return "is not known here" if kind in ("extra_forbidden", "unexpected_keyword_argument") else words


def by_line(findings: Findings) -> Findings:
    """In the order of the document, the worst of a line first (they are sorted by weight, and sorting keeps that)."""
    return Findings(
        tuple(sorted(findings.open, key=lambda each: each.finding.line)),
        tuple(sorted(findings.accepted, key=lambda each: each.finding.line)),
    )


def _counted(facts: Facts) -> Mapping[str, int]:
    """What a document states, in numbers."""
    return {
        "tables": len(facts.tables),
        "entities": len(facts.entities),
        "indexes": len(facts.indexes),
        "patterns": len(facts.patterns),
    }
