"""Taking data away and bringing it: downloads, and a sheet that is pasted or chosen.

Must hold: a sheet that cannot be taken is shown again as it was pasted; what was refused is told line by line.
Elsewhere: the files themselves (the API's /export), reading a sheet (systems/travel/places/visits_import.py).
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tablewright.pages.forms import Form, posted
from tablewright.systems.travel.errors import TravelMistake
from tablewright.systems.travel.pages.page import TravelPages, refused, status_of
from tablewright.systems.travel.places.visits_import import Report

EXPORT = "/travel/v1/export"
FORMATS = (
    ("json", "Everything, as JSON", "Places, notes, trips, devices, settings: all that is kept about you."),
    ("csv", "Places, as a sheet", "For a spreadsheet. It can be brought back here."),
    ("geojson", "Places, as GeoJSON", "With borders, for a map program."),
)  # fmt: skip
EXAMPLE = "name,date,notes\nPortugal,2023-09,Lisbon and the coast\nUS-CA,2019,\n"


def baggage_router(pages: TravelPages) -> APIRouter:
    router = pages.router()

    @router.get("/export", dependencies=[Depends(pages.signed_in)])
    def export(request: Request) -> Response:
        pages.traveller(request)
        return page(request, Form())

    @router.post("/export", dependencies=[Depends(pages.signed_in)])
    def bring(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        profile = pages.traveller(request)
        text = form.get("sheet")
        if not text.strip():
            return page(request, form.wrong("sheet", "Paste the sheet, or choose its file."), status=400)
        try:
            report = pages.travel.importing.take(profile.user_id, text.encode())
        except TravelMistake as mistake:
            return page(request, refused(form, mistake), status=status_of(mistake))
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

    return router
