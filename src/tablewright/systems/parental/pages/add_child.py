"""Adding a child to a family: its number is verified with a code, then it gets a name and a time zone.

Must hold: asking for a code does not reveal whether the number is in use. Where messages are really sent, only the
phone has the code; in the demo, which sends none, the page links to it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated
from urllib.parse import urlencode
from zoneinfo import available_timezones

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.edge.routes import gather
from tablewright.pages.forms import Form, posted
from tablewright.pages.layout import Crumb
from tablewright.systems.parental import rules
from tablewright.systems.parental.model import Family
from tablewright.systems.parental.pages.page import HOME, Look, ParentalPages, refused, status_of

_NEW = f"{HOME}/children/new"
# Where the demo shows messages. The number itself is not in the URL: URLs end up in logs and histories.


_PARTS = ("Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


@cache
def zones() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Time zones by part of the world, each with the place in its name."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    names = sorted(available_timezones())
    for part in _PARTS:
        cities = [(name, name.removeprefix(f"{part}/")) for name in names if name.startswith(f"{part}/")]
        found[part] = tuple((name, city.replace("_", " ").replace("/", ", ")) for name, city in cities)
    return found


def joining_router(pages: ParentalPages) -> APIRouter:
    router = pages.router()
    gather(router, (part(pages) for part in (_adding, _renumbering)))
    return router


def _adding(pages: ParentalPages) -> APIRouter:
    router = pages.router()
    children = pages.parental.children

    def family_of(request: Request, id: str) -> Family:
        return pages.parental.families.own(pages.actor(request), id or None)

    def show(request: Request, family: Family, form: Form, status: int = 200) -> Response:
        """The first step asks for the number; with `sent` in the form, the second for the code and the child."""
        known = pages.parental.families.children(pages.actor(request))
        zone = known[0].timezone if known else ""
        return pages.page(
            request, "child_new", title="Add a child", crumbs=(Crumb(family.name, HOME),), family=family,
            form=Form({"timezone": zone, **form.values}, form.errors, form.error), status=status, zones=zones(),
            action=_NEW, sent=form.get("sent"),
        )  # fmt: skip

    @router.get("/children/new", dependencies=[Depends(pages.signed_in)])
    def new(request: Request, family: str = "", phone: str = "") -> Response:
        found = family_of(request, family)
        return show(request, found, _sent(pages, phone))

    @router.post("/children/new", dependencies=[Depends(pages.signed_in)])
    def add(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        family, actor = family_of(request, form.get("family")), pages.actor(request)
        try:
            if form.get("do") == "send" or not form.get("sent"):
                number = rules.phone_number(form.get("phoneNumber"))
                children.prove(number, actor, family.family_id)
                to = f"{_NEW}?{urlencode({'family': family.family_id, 'phone': pages.parental.references.of(number)})}"
                return pages.console.go(to, f"A code is on its way to {number}. It works for 15 minutes.")
            child = children.add(
                form.get("sent"), form.get("code"), form.get("childName"), form.get("timezone"), actor,
                family_id=family.family_id,
            )  # fmt: skip
        except CallerError as mistake:
            names = {
                "phoneNumber": "phoneNumber",
                "code": "code",
                "childName": "childName",
                "timezone": "timezone",
            }
            if not mistake.field and mistake.code.startswith("OTP"):
                names[""] = "code" if form.get("sent") else "phoneNumber"
            return show(request, family, refused(form, mistake, names), status_of(mistake))
        said = f"{child.child_name} was added. Now add the first rule."
        return pages.console.go(f"{pages.child_path(child)}/policies/new", said)

    return router


def _sent(pages: ParentalPages, reference: str) -> Form:
    """The second step if `reference` is of a number, else the first."""
    number = pages.parental.references.open(reference)
    return Form({"phoneNumber": number, "sent": number} if number else {})


def _renumbering(pages: ParentalPages) -> APIRouter:
    router = pages.router()
    children = pages.parental.children

    def show(request: Request, look: Look, form: Form, status: int = 200) -> Response:
        return pages.child_page(
            request, look, "child_number", tab="/settings", title="Change number", form=form, status=status,
            sent=form.get("sent"), action=look.at("/number"),
        )  # fmt: skip

    @router.get("/children/{key}/number", dependencies=[Depends(pages.signed_in)])
    def number(request: Request, key: str, phone: str = "") -> Response:
        look = pages.open(request, key)
        pages.parental.families.owner(look.actor, look.child.family_id)
        return show(request, look, _sent(pages, phone))

    @router.post("/children/{key}/number", dependencies=[Depends(pages.signed_in)])
    def change(request: Request, key: str, form: Annotated[Form, Depends(posted)]) -> Response:
        look = pages.open(request, key)
        pages.parental.families.owner(look.actor, look.child.family_id)
        try:
            if form.get("do") == "send" or not form.get("sent"):
                wanted = rules.phone_number(form.get("phoneNumber"))
                children.prove(wanted, look.actor, look.child.family_id)
                return pages.console.go(
                    look.at("/number", phone=pages.parental.references.of(wanted)),
                    f"A code is on its way to {wanted}. It works for 15 minutes.",
                )
            moved = children.change_number(look.child, form.get("sent"), form.get("code"), look.actor)
        except CallerError as mistake:
            names = {"phoneNumber": "phoneNumber", "code": "code"}
            if not mistake.field and mistake.code.startswith("OTP"):
                names[""] = "code" if form.get("sent") else "phoneNumber"
            return show(request, look, refused(form, mistake, names), status_of(mistake))
        said = f"{moved.child_name}'s number is now {moved.phone}. Rules and records move over within a minute or two."
        return pages.console.go(pages.child_path(moved), said)

    return router
