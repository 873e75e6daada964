"""Deletion of a family: what would be deleted, in a week or now; and keeping it while that is possible.

Must hold: what can be undone takes a button; what cannot also takes the family's name. Owners only; the
service checks again. Elsewhere: what happens then (systems/parental/family/deletion.py).
"""

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form
from tablewright.pages.layout import Crumb
from tablewright.systems.parental.family.privacy import BACKUPS
from tablewright.systems.parental.pages.page import HOME, ParentalPages, Posted, zone_of_family
from tablewright.systems.parental.pages.words import date_at


def add_deletion(router: APIRouter, pages: ParentalPages) -> None:
    closing = pages.parental.deletion

    def show(request: Request, id: str, form: Form, status: int = 200) -> Response:
        plan = closing.plan(id, pages.actor(request))
        return pages.page(
            request, "family_close", title="Delete family", crumbs=(Crumb(plan.family.name, HOME),), plan=plan,
            form=form, status=status, backups=BACKUPS, path=f"{HOME}/families/{id}", zone=zone_of_family(pages, id),
        )  # fmt: skip

    @router.get("/families/{id}/close")
    def ask(request: Request, id: str) -> Response:
        return show(request, id, Form())

    @router.post("/families/{id}/close")
    def close(request: Request, id: str, form: Posted) -> Response:
        actor = pages.actor(request)
        at_once = form.get("do") == "now"
        name = closing.plan(id, actor).family.name
        if at_once and form.get("name").strip().casefold() != name.casefold():
            words = f"Type {name} to delete it now."
            return show(request, id, Form({"name": "", **form.values}).wrong("name", words), 422)
        family = closing.delete(id, actor, at_once=at_once)
        if at_once or family.closes_at is None:
            return pages.console.go(
                HOME, f"{name} is being deleted, along with everything about its children.", "note"
            )
        when = date_at(family.closes_at, zone_of_family(pages, id))
        return pages.console.go(
            HOME, f"{name} will be deleted on {when}. Until then nothing changes.", "note"
        )

    @router.post("/families/{id}/keep")
    def keep(request: Request, id: str) -> Response:
        try:
            family = closing.keep(id, pages.actor(request))
        except CallerError as mistake:
            return pages.console.go(HOME, mistake.message, "bad")
        return pages.console.go(HOME, f"{family.name} will not be deleted.")
