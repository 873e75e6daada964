"""Adding a child to a family: its number is verified with a code, then it gets a name and a time zone.

Must hold: asking for a code does not reveal whether the number is in use. Where messages are really sent, only the
phone has the code; in the demo, which sends none, the page links to it.
"""

from collections.abc import Mapping
from functools import cache
from urllib.parse import urlencode
from zoneinfo import available_timezones

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.kit.tables import Actor
from tablewright.pages.forms import Form
from tablewright.pages.layout import Crumb
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.model import Family
from tablewright.systems.parental.pages.page import HOME, Look, ParentalPages, Posted, refused

_NEW = f"{HOME}/children/new"
_ON_ITS_WAY = "A code is on its way to {}. It works for 15 minutes."
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


def add_new_child(router: APIRouter, pages: ParentalPages) -> None:
    for part in (_add_child_form, _add_number_form):
        part(router, pages)


def _add_child_form(router: APIRouter, pages: ParentalPages) -> None:
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

    @router.get("/children/new")
    def new(request: Request, family: str = "", phone: str = "") -> Response:
        found = family_of(request, family)
        return show(request, found, _sent(pages, phone))

    @router.post("/children/new")
    def add(request: Request, form: Posted) -> Response:
        family, actor = family_of(request, form.get("family")), pages.actor(request)
        try:
            if number := _prove(pages, form, actor, family.family_id):
                phone = pages.parental.references.of(number)
                to = f"{_NEW}?{urlencode({'family': family.family_id, 'phone': phone})}"
                return pages.console.go(to, _ON_ITS_WAY.format(number))
            child = children.add(
                form.get("sent"), form.get("code"), form.get("childName"), form.get("timezone"), actor,
                family_id=family.family_id,
            )  # fmt: skip
        except CallerError as mistake:
            return show(request, family, _refused(form, mistake), mistake.status)
        said = f"{child.child_name} was added. Now add the first rule."
        return pages.console.go(f"{pages.child_path(child)}/policies/new", said)


def _prove(pages: ParentalPages, form: Form, actor: Actor, family_id: str) -> str | None:
    """Send a code to the number of the form, if that is what was asked for; None if a code was typed."""
    if form.get("do") != "send" and form.get("sent"):
        return None
    number = field_rules.phone_number(form.get("phoneNumber"))
    pages.parental.children.prove(number, actor, family_id)
    return number


def _refused(form: Form, mistake: CallerError) -> Form:
    """The refusal beside its field; limits of codes beside the field of the step."""
    names = {name: name for name in ("phoneNumber", "code", "childName", "timezone")}
    if not mistake.field and mistake.code.startswith("OTP"):
        names[""] = "code" if form.get("sent") else "phoneNumber"
    return refused(form, mistake, names)


def _sent(pages: ParentalPages, reference: str) -> Form:
    """The second step if `reference` is of a number, else the first."""
    number = pages.parental.references.open(reference)
    return Form({"phoneNumber": number, "sent": number} if number else {})


def _add_number_form(router: APIRouter, pages: ParentalPages) -> None:
    children = pages.parental.children

    def show(request: Request, look: Look, form: Form, status: int = 200) -> Response:
        return pages.child_page(
            request, look, "child_number", tab="/settings", title="Change number", form=form, status=status,
            sent=form.get("sent"), action=look.at("/number"),
        )  # fmt: skip

    @router.get("/children/{key}/number")
    def number(request: Request, key: str, phone: str = "") -> Response:
        look = pages.open(request, key)
        pages.parental.families.owner(look.actor, look.child.family_id)
        return show(request, look, _sent(pages, phone))

    @router.post("/children/{key}/number")
    def change(request: Request, key: str, form: Posted) -> Response:
        look = pages.open(request, key)
        pages.parental.families.owner(look.actor, look.child.family_id)
        try:
            if wanted := _prove(pages, form, look.actor, look.child.family_id):
                to = look.at("/number", phone=pages.parental.references.of(wanted))
                return pages.console.go(to, _ON_ITS_WAY.format(wanted))
            moved = children.change_number(look.child, form.get("sent"), form.get("code"), look.actor)
        except CallerError as mistake:
            return show(request, look, _refused(form, mistake), mistake.status)
        said = f"{moved.child_name}'s number is now {moved.phone}. Rules and records move over within a minute or two."
        return pages.console.go(pages.child_path(moved), said)
