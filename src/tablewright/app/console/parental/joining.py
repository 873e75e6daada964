"""A child comes into a family: its number is proved with a code that was sent to it, then it gets a name and a clock.

Must hold: whoever asks for a code learns nothing about whether the number is somebody's. Where messages are really
sent the code is on the phone only; in the demo, where none leaves this machine, the page shows the way to it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated
from urllib.parse import urlencode
from zoneinfo import available_timezones

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.console.console import Crumb
from tablewright.app.console.forms import Form, posted
from tablewright.app.console.parental.desk import HOME, Desk, Look, refused, status_of
from tablewright.edge.routes import gather
from tablewright.systems.parental import rules
from tablewright.systems.parental.errors import ParentalMistake
from tablewright.systems.parental.model import Family

_NEW = f"{HOME}/children/new"
# Where the demo shows what was sent. The number itself is not in the address: that ends up in logs and histories.
MAILBOX = "/console/designs/mail"


_PARTS = ("Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


@cache
def zones() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Time zones people live in, by part of the world: each with the place it is called after."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    names = sorted(available_timezones())
    for part in _PARTS:
        cities = [(name, name.removeprefix(f"{part}/")) for name in names if name.startswith(f"{part}/")]
        found[part] = tuple((name, city.replace("_", " ").replace("/", ", ")) for name, city in cities)
    return found


def joining_router(desk: Desk) -> APIRouter:
    router = desk.router()
    gather(router, (part(desk) for part in (_adding, _renumbering)))
    return router


def _adding(desk: Desk) -> APIRouter:
    router = desk.router()
    children = desk.parental.children

    def family_of(request: Request, id: str) -> Family:
        return desk.parental.families.own(desk.actor(request), id or None)

    def show(request: Request, family: Family, form: Form, status: int = 200) -> Response:
        """The first step asks for the number; with `sent` in the form, the second for the code and the child."""
        known = desk.parental.families.children(desk.actor(request))
        zone = known[0].timezone if known else ""
        return desk.page(
            request, "child_new", title="Add a child", crumbs=(Crumb(family.name, HOME),), family=family,
            form=Form({"timezone": zone, **form.values}, form.errors, form.error), status=status, zones=zones(),
            action=_NEW, sent=form.get("sent"), mailbox=MAILBOX,
        )  # fmt: skip

    @router.get("/children/new", dependencies=[Depends(desk.signed_in)])
    def new(request: Request, family: str = "", phone: str = "") -> Response:
        found = family_of(request, family)
        return show(request, found, _sent(desk, phone))

    @router.post("/children/new", dependencies=[Depends(desk.signed_in)])
    def add(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        family, actor = family_of(request, form.get("family")), desk.actor(request)
        try:
            if form.get("do") == "send" or not form.get("sent"):
                number = rules.phone_number(form.get("phoneNumber"))
                children.prove(number, actor, family.family_id)
                to = f"{_NEW}?{urlencode({'family': family.family_id, 'phone': desk.parental.references.of(number)})}"
                return desk.console.go(to, f"A code is on its way to {number}. It works for 15 minutes.")
            child = children.add(
                form.get("sent"), form.get("code"), form.get("childName"), form.get("timezone"), actor,
                family_id=family.family_id,
            )  # fmt: skip
        except ParentalMistake as mistake:
            names = {
                "phoneNumber": "phoneNumber",
                "code": "code",
                "childName": "childName",
                "timezone": "timezone",
            }
            if not mistake.field and mistake.code.startswith("OTP"):
                names[""] = "code" if form.get("sent") else "phoneNumber"
            return show(request, family, refused(form, mistake, names), status_of(mistake))
        said = f"{child.child_name} is part of the family. Write the first policy now."
        return desk.console.go(f"{desk.child_path(child)}/policies/new", said)

    return router


def _sent(desk: Desk, reference: str) -> Form:
    """The second step for the number that a reference is of, the first without one."""
    number = desk.parental.references.open(reference)
    return Form({"phoneNumber": number, "sent": number} if number else {})


def _renumbering(desk: Desk) -> APIRouter:
    router = desk.router()
    children = desk.parental.children

    def show(request: Request, look: Look, form: Form, status: int = 200) -> Response:
        return desk.child_page(
            request, look, "child_number", tab="/settings", title="Another number", form=form, status=status,
            sent=form.get("sent"), action=look.at("/number"), mailbox=MAILBOX,
        )  # fmt: skip

    @router.get("/children/{key}/number", dependencies=[Depends(desk.signed_in)])
    def number(request: Request, key: str, phone: str = "") -> Response:
        look = desk.open(request, key)
        desk.parental.families.owner(look.actor, look.child.family_id)
        return show(request, look, _sent(desk, phone))

    @router.post("/children/{key}/number", dependencies=[Depends(desk.signed_in)])
    def change(request: Request, key: str, form: Annotated[Form, Depends(posted)]) -> Response:
        look = desk.open(request, key)
        desk.parental.families.owner(look.actor, look.child.family_id)
        try:
            if form.get("do") == "send" or not form.get("sent"):
                wanted = rules.phone_number(form.get("phoneNumber"))
                children.prove(wanted, look.actor, look.child.family_id)
                return desk.console.go(
                    look.at("/number", phone=desk.parental.references.of(wanted)),
                    f"A code is on its way to {wanted}. It works for 15 minutes.",
                )
            moved = children.change_number(look.child, form.get("sent"), form.get("code"), look.actor)
        except ParentalMistake as mistake:
            names = {"phoneNumber": "phoneNumber", "code": "code"}
            if not mistake.field and mistake.code.startswith("OTP"):
                names[""] = "code" if form.get("sent") else "phoneNumber"
            return show(request, look, refused(form, mistake, names), status_of(mistake))
        said = f"{moved.child_name} has the number {moved.phone} now. What was there moves along in a minute or two."
        return desk.console.go(desk.child_path(moved), said)

    return router
