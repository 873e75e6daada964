"""The family: its children with the state of each, guardians and invitations, and settings for all of them.

Must hold: buttons for owners are shown to owners only, and the service checks again. Support sees a form instead: the
number, and a reason.
Elsewhere: adding a child (add_child.py), one child (overview.py).
"""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError, NotFound
from tablewright.edge.problems import forbidden
from tablewright.kit.tables import Actor
from tablewright.pages.forms import Form, FormWrong, form_of
from tablewright.pages.layout import Crumb
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.model import Child, Family, Guardian, Invitation
from tablewright.systems.parental.pages.confirmation import confirmation
from tablewright.systems.parental.pages.page import (
    HOME,
    REASON,
    ParentalPages,
    Posted,
    keep_reason,
    overtaken,
    refused,
    version_of,
    zone_of_family,
)
from tablewright.systems.parental.pages.words import change_words, zone_of

DEVICES = f"{HOME}/devices"
OUTAGES = (
    ("keep", "Keep everything as it is until it responds"),
    ("open", "If in doubt, allow"),
    ("closed", "If in doubt, block"),
)


@dataclass(frozen=True, slots=True)
class Card:
    """A child on the family's page: what is confirmed, what comes next, and a badge for the state."""

    child: Child
    headline: str
    change: str
    state: str
    tone: str
    clock: str


@dataclass(frozen=True, slots=True)
class Home:
    """A family with its children and guardians."""

    family: Family
    cards: list[Card]
    released: list[Child]
    guardians: list[Guardian]
    invitations: list[Invitation]
    is_owner: bool
    zone: str

    @property
    def path(self) -> str:
        return f"{HOME}/families/{self.family.family_id}"


def add_family(router: APIRouter, pages: ParentalPages) -> None:
    @router.get("")
    def home(request: Request) -> Response:
        actor = pages.actor(request)
        if actor.role == "operator" and not pages.parental.families.of(actor):
            return pages.console.go(DEVICES)
        if "network" in pages.who(request).roles:
            words = "This login belongs to a gateway. It reports to the API and has no pages."
            raise forbidden("NO_PAGES", words)
        return home_page(pages, request)

    for part in (_add_creation, _settings, _guardians, _invitations):
        part(router, pages)


def card_of(pages: ParentalPages, child: Child) -> Card:
    now = pages.now()
    holding = pages.parental.blocked_now(child)
    found = confirmation(holding.now, pages.parental.reconciler.status(child.child))
    change = change_words(holding.now, holding.then, child.timezone, now)
    return Card(
        child,
        found.headline,
        f"{found.more} {change}".strip(),
        found.badge,
        found.tone,
        f"{now.astimezone(zone_of(child)):%H:%M}",
    )


def home_of(pages: ParentalPages, family: Family, actor: Actor) -> Home:
    repository = pages.parental.repository
    children = repository.children_of(family.family_id, released=True)
    guardians = pages.parental.guardians.of(family.family_id, actor)
    return Home(
        family,
        [card_of(pages, child) for child in children if child.released_at is None],
        [child for child in children if child.released_at is not None and child.erased_at is None],
        sorted(guardians, key=lambda one: (one.role != "owner", one.name.casefold())),
        pages.parental.guardians.invitations(family.family_id, actor),
        any(one.subject == actor.subject and one.role == "owner" for one in guardians),
        zone_of_family(pages, family.family_id),
    )


def home_page(
    pages: ParentalPages, request: Request, form: Form | None = None, invite: tuple[str, Form] | None = None,
    status: int = 200,
) -> Response:  # fmt: skip
    """The first page. `invite` is a family's id with its invitation form."""
    actor = pages.actor(request)
    families = pages.parental.families.of(actor)
    invited = [
        (one, pages.parental.repository.family(one.family_id).name)
        for one in pages.parental.guardians.invited(actor)
    ]
    return pages.page(
        request,
        "family",
        title=families[0].name if len(families) == 1 else "Your families" if families else "Family",
        status=status,
        homes=[home_of(pages, family, actor) for family in families],
        invited=invited,
        actor=actor,
        form=form or Form(),
        invite=invite or ("", Form()),
    )


def _add_creation(router: APIRouter, pages: ParentalPages) -> None:
    @router.post("/families")
    def create(request: Request, form: Posted) -> Response:
        actor = pages.actor(request)
        try:
            made = pages.parental.families.create(
                form.get("name"), actor, person=form.get("guardianName") or _name(pages, request)
            )
        except CallerError as mistake:
            return home_page(pages, request, refused(form, mistake), status=mistake.status)
        return pages.console.go(
            f"{HOME}/children/new?family={made.family_id}", f"{made.name} was created. Now add a child."
        )

    @router.post("/look")
    def look(request: Request, form: Posted) -> Response:
        """Support looks up a child by its number, with a reason."""
        try:
            number = field_rules.child_key(form.get("phoneNumber"))
            child = pages.parental.families.child(
                pages.actor(request), number, reason=form.get(REASON) or None
            )
        except CallerError as mistake:
            again = refused(form, mistake, {"": "phoneNumber"} if mistake.field is None else None)
            return home_page(pages, request, again, status=mistake.status)
        home = pages.child_path(child)
        answer = pages.console.go(home)
        keep_reason(answer, home, form.get(REASON))
        return answer


def _name(pages: ParentalPages, request: Request) -> str:
    caller = pages.who(request)
    return str(caller.claims.get("name") or caller.email or caller.subject)


# --- settings ---


def _settings(router: APIRouter, pages: ParentalPages) -> None:
    families = pages.parental.families

    def show(request: Request, family: Family, form: Form, status: int = 200) -> Response:
        actor = pages.actor(request)
        own = home_of(pages, family, actor)
        return pages.page(
            request, "family_settings", title="Settings", crumbs=(Crumb(family.name, HOME),), family=family,
            form=form, status=status, outages=OUTAGES, own=own,
        )  # fmt: skip

    @router.get("/families/{id}/settings")
    def settings(request: Request, id: str) -> Response:
        family = families.own(pages.actor(request), id)
        return show(request, family, form_of(family))

    @router.post("/families/{id}/settings")
    def save(request: Request, id: str, form: Posted) -> Response:
        actor = pages.actor(request)
        family = families.own(actor, id)
        try:
            families.change(id, _typed_settings(form), actor, version_of(form))
        except FormWrong as wrong:
            return show(request, family, wrong.form, 422)
        except VersionConflict:
            current = families.own(actor, id)
            return show(
                request, current, overtaken(form, "these settings", version=str(current.version)), 409
            )
        except CallerError as mistake:
            again = _beside_domains(form, mistake)
            return show(request, family, again, mistake.status)
        return pages.console.go(HOME, "Settings saved.")


def _typed_settings(form: Form) -> dict[str, Any]:
    most = form.get("alertAfterBlocks").strip()
    if most and not (most.isascii() and most.isdigit()):
        raise FormWrong(form.wrong("alertAfterBlocks", "Enter a number, or leave this empty."))
    outage = form.get("onOutage")
    if outage not in dict(OUTAGES):
        raise FormWrong(form.wrong("onOutage", "Choose one of these."))
    return {
        "name": form.get("name"),
        "allowed_domains": form.get("allowedDomains").split(),
        "on_outage": outage,
        "alert_after_blocks": int(most) if most else None,
    }


def _beside_domains(form: Form, mistake: CallerError) -> Form:
    if (mistake.field or "").startswith("allowedDomains"):
        return form.wrong("allowedDomains", mistake.message)
    return refused(form, mistake)


# --- guardians ---


def _guardians(router: APIRouter, pages: ParentalPages) -> None:
    guardians = pages.parental.guardians

    @router.post("/families/{id}/invitations")
    def invite(request: Request, id: str, form: Posted) -> Response:
        try:
            made = guardians.invite(id, form.get("email"), pages.actor(request))
        except CallerError as mistake:
            again = refused(form, mistake)
            return home_page(pages, request, invite=(id, again), status=mistake.status)
        return pages.console.go(
            f"{HOME}#guardians", f"{made.email} was invited. The invitation is valid for a week."
        )

    @router.post("/families/{id}/invitations/{invitation}/withdraw")
    def withdraw(request: Request, id: str, invitation: str) -> Response:
        guardians.withdraw(id, invitation, pages.actor(request))
        return pages.console.go(f"{HOME}#guardians", "Invitation withdrawn.")

    def one_of(request: Request, id: str, subject: str) -> tuple[Guardian, bool]:
        actor = pages.actor(request)
        found = {one.subject: one for one in guardians.of(id, actor)}
        if subject not in found:
            raise NotFound("GUARDIAN")
        return found[subject], subject == actor.subject

    @router.get("/families/{id}/guardians/{subject}/remove")
    def ask_remove(request: Request, id: str, subject: str) -> Response:
        guardian, is_me = one_of(request, id, subject)
        return pages.console.confirm(
            request,
            title="Leave the family?" if is_me else f"Remove {guardian.name}?",
            happens=("You no longer see" if is_me else f"{guardian.name} no longer sees")
            + " the children of this family and can't change anything for them.",
            button="Leave the family" if is_me else f"Remove {guardian.name}",
            back=HOME,
            undo="To come back, you need a new invitation."
            if is_me
            else "To come back, they need a new invitation.",
        )

    @router.post("/families/{id}/guardians/{subject}/remove")
    def remove(request: Request, id: str, subject: str) -> Response:
        guardian, is_me = one_of(request, id, subject)
        try:
            guardians.remove(id, subject, pages.actor(request))
        except CallerError as mistake:
            return pages.console.go(HOME, mistake.message, "bad")
        return pages.console.go(HOME, "You left the family." if is_me else f"{guardian.name} was removed.")

    @router.get("/families/{id}/guardians/{subject}/make-owner")
    def ask_hand_over(request: Request, id: str, subject: str) -> Response:
        guardian, _ = one_of(request, id, subject)
        return pages.console.confirm(
            request,
            title=f"Make {guardian.name} the owner?",
            happens=f"{guardian.name} will decide who belongs to the family, and whether a number is released or a "
            f"child is erased. Reports and alerts will go to {guardian.email}. You stay a guardian.",
            button=f"Make {guardian.name} the owner",
            back=HOME,
            undo=f"Only {guardian.name} can undo this.",
        )

    @router.post("/families/{id}/guardians/{subject}/make-owner")
    def hand_over(request: Request, id: str, subject: str) -> Response:
        owner = guardians.hand_over(id, subject, pages.actor(request))
        return pages.console.go(HOME, f"{owner.name} is now the owner.")


# --- invitations to the caller ---


def _invitations(router: APIRouter, pages: ParentalPages) -> None:
    guardians = pages.parental.guardians

    def offered(request: Request, id: str) -> Invitation | None:
        return next((one for one in guardians.invited(pages.actor(request)) if one.invitation_id == id), None)

    @router.get("/invitations/{id}")
    def invitation(request: Request, id: str) -> Response:
        """The page an invitation links to."""
        found = offered(request, id)
        family = pages.parental.repository.family(found.family_id) if found else None
        return pages.page(
            request, "invitation", title="Invitation", status=200 if found else 404, invitation=found,
            family=family, form=Form({"guardianName": _name(pages, request)}), actor=pages.actor(request),
        )  # fmt: skip

    @router.post("/invitations/{id}/accept")
    def accept(request: Request, id: str, form: Posted) -> Response:
        person = form.get("guardianName").strip() or _name(pages, request)
        try:
            family = guardians.accept(id, pages.actor(request), person=person)
        except CallerError as mistake:
            return pages.console.go(HOME, mistake.message, "bad")
        return pages.console.go(HOME, f"Welcome to {family.name}.")

    @router.post("/invitations/{id}/decline")
    def decline(request: Request, id: str) -> Response:
        try:
            guardians.decline(id, pages.actor(request))
        except CallerError as mistake:
            return pages.console.go(HOME, mistake.message, "bad")
        return pages.console.go(HOME, "Invitation declined.", "note")
