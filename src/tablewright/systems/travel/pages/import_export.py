"""Export and import: downloads, and a CSV file that is pasted or chosen.

Must hold: a file that is refused is shown again as it was pasted; refused lines are listed one by one.
Elsewhere: the downloads themselves (the API's /export), the import (systems/travel/places/visits_import.py).
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, posted
from tablewright.systems.travel.pages.page import TravelPages
from tablewright.systems.travel.places.visits_import import Report

EXPORT = "/travel/v1/export"
FORMATS = (
    ("json", "Everything as JSON", "Places, notes, trips, devices and settings: everything we store about you."),
    ("csv", "Places as CSV", "For a spreadsheet. You can import the file here again."),
    ("geojson", "Places as GeoJSON", "With borders, for mapping software."),
)  # fmt: skip
EXAMPLE = "name,date,notes\nPortugal,2023-09,Lisbon and the coast\nUS-CA,2019,\n"


def add_import_export(router: APIRouter, pages: TravelPages) -> None:
    @router.get("/export")
    def export(request: Request) -> Response:
        pages.traveller(request)
        return page(request, Form())

    @router.post("/export")
    def bring(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        profile = pages.traveller(request)
        text = form.get("sheet")
        if not text.strip():
            return page(
                request,
                form.wrong("sheet", "Paste the contents of the file, or choose the file."),
                status=400,
            )
        try:
            report = pages.travel.importing.take(profile.user_id, text.encode())
        except CallerError as mistake:
            return page(request, form.refused(mistake), status=mistake.status)
        left = Form({"sheet": text} if report.refusals else {})
        return page(request, left, report)

    def page(request: Request, form: Form, report: Report | None = None, status: int = 200) -> Response:
        return pages.page(
            request,
            "export",
            title="Export and import",
            status=status,
            form=form,
            report=report,
            formats=FORMATS,
            export=EXPORT,
            example=EXAMPLE,
            script=pages.console.asset("travel/sheet.js"),
        )
