"""Settings of a child, export of its records, release of its number, erasure.

Must hold: what cannot be undone first shows what is erased and what remains, and asks for the child's name. Owners
only; the service checks again. Elsewhere: the steps of an erasure (systems/parental/family/tasks.py).
"""

import json
from typing import Any, get_args

from fastapi import APIRouter, Request, Response

from tablewright.edge.downloads import attachment
from tablewright.edge.errors import CallerError
from tablewright.edge.problems import not_found
from tablewright.kit.tables import Actor
from tablewright.pages.forms import Form, form_of
from tablewright.pages.layout import Crumb
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.family.privacy import BACKUPS, Sheet
from tablewright.systems.parental.pages.add_child import zones
from tablewright.systems.parental.pages.page import (
    HOME,
    Look,
    ParentalPages,
    Posted,
    overtaken,
    refused,
    version_of,
)

_TAB = "/settings"
SHEETS: tuple[Sheet, ...] = get_args(Sheet)


def add_privacy(router: APIRouter, pages: ParentalPages) -> None:
    for part in (_settings, _exports, _release, _erase):
        part(router, pages)


def is_owner(pages: ParentalPages, look: Look) -> bool:
    try:
        pages.parental.families.owner(look.actor, look.child.family_id)
    except CallerError:
        return False
    return True


def _settings(router: APIRouter, pages: ParentalPages) -> None:
    def show(request: Request, look: Look, form: Form, status: int = 200) -> Response:
        return pages.child_page(
            request, look, "child_settings", tab=_TAB, form=form, status=status, zones=zones(), sheets=SHEETS,
            is_owner=is_owner(pages, look),
        )  # fmt: skip

    @router.get("/children/{key}/settings")
    def settings(request: Request, key: str) -> Response:
        look = pages.look(request, key)
        return show(request, look, form_of(look.child))

    @router.post("/children/{key}/settings")
    def save(request: Request, key: str, form: Posted) -> Response:
        look = pages.open(request, key)
        changes = {"child_name": form.get("childName"), "timezone": form.get("timezone").strip()}
        try:
            changed = pages.parental.children.change(look.child, changes, look.actor, version_of(form))
        except VersionConflict:
            current = pages.open(request, key)
            return show(request, current, overtaken(form, "this", version=str(current.child.version)), 409)
        except CallerError as mistake:
            return show(request, look, refused(form, mistake), mistake.status)
        said = "Saved."
        if changed.timezone != look.child.timezone:
            said = f"Saved. The times in rules are now in {changed.timezone}."
        return pages.console.go(look.at(_TAB), said)


# --- export ---


def _exports(router: APIRouter, pages: ParentalPages) -> None:
    @router.get("/children/{key}/export.json")
    def export(request: Request, key: str) -> Response:
        look = pages.look(request, key)
        text = json.dumps(pages.parental.privacy.export(look.child), indent=2, ensure_ascii=False)
        return _file(
            text, "application/json", attachment("parental", look.child.child_name, pages.now(), "json")
        )

    @router.get("/children/{key}/{of}.csv")
    def sheet(request: Request, key: str, of: str) -> Response:
        look = pages.look(request, key)
        wanted = next((each for each in SHEETS if each == of), None)
        if wanted is None:
            raise not_found("NO_SUCH_PAGE", f"You can download {', '.join(SHEETS)}.")
        headers = attachment("parental", f"{look.child.child_name} {wanted}", pages.now(), "csv")
        return _file(pages.parental.privacy.sheet(look.child, wanted), "text/csv", headers)


def _file(text: str, kind: str, headers: dict[str, str]) -> Response:
    return Response(text, media_type=f"{kind}; charset=utf-8", headers=headers)


# --- release of the number ---


def _release(router: APIRouter, pages: ParentalPages) -> None:
    @router.get("/children/{key}/release")
    def ask(request: Request, key: str) -> Response:
        look = pages.open(request, key)
        pages.parental.families.owner(look.actor, look.child.family_id)
        name, phone = look.child.child_name, look.child.phone
        return pages.console.confirm(
            request,
            title="Release this number?",
            happens=f"Nothing will be blocked for {phone} any more, and another family can add it after verifying it. "
            f"They see nothing about {name}. {name}'s records stay here; you can still read, export or erase them.",
            button="Release number",
            back=look.at(_TAB),
            crumbs=_crumbs(look),
            undo="To add the number again you need a new code, and you start without rules.",
        )

    @router.post("/children/{key}/release")
    def release(request: Request, key: str) -> Response:
        look = pages.open(request, key)
        pages.parental.children.release(look.child, look.actor)
        return pages.console.go(
            HOME, f"{look.child.phone} was released. Its rules are being removed from the firewalls."
        )


def _crumbs(look: Look) -> tuple[Crumb, ...]:
    return (Crumb(look.child.child_name, look.at()), Crumb("Settings", look.at(_TAB)))


# --- erased ---


def _erase(router: APIRouter, pages: ParentalPages) -> None:
    def owned(request: Request, key: str) -> Look:
        """The child, for the owner of its family; also after its number was released."""
        actor = pages.actor(request)
        parent = Actor(actor.name, "parent", actor.subject, actor.email)
        child = pages.parental.families.child(parent, pages.key_of(key))
        pages.parental.families.owner(actor, child.family_id)
        return Look(child, pages.child_path(child), actor, "", child.released_at is None)

    def show(request: Request, look: Look, form: Form, status: int = 200) -> Response:
        return pages.child_page(
            request, look, "child_erase", tab=_TAB, title="Erase", form=form, status=status,
            plan=plan_of(pages.parental.privacy.export(look.child)), backups=BACKUPS,
        )  # fmt: skip

    @router.get("/children/{key}/erase")
    def ask(request: Request, key: str) -> Response:
        return show(request, owned(request, key), Form())

    @router.post("/children/{key}/erase")
    def erase(request: Request, key: str, form: Posted) -> Response:
        look = owned(request, key)
        if form.get("name").strip().casefold() != look.child.child_name.casefold():
            words = f"Type {look.child.child_name} to confirm."
            return show(request, look, Form({"name": "", **form.values}).wrong("name", words), 422)
        task = pages.parental.privacy.erase(look.child, look.actor)
        said = f"Everything about {look.child.child_name} was erased. {BACKUPS}"
        if task.note:
            said = f"{look.child.child_name} is being erased. Still waiting for: {task.note}. {BACKUPS}"
        return pages.console.go(HOME, said, "note")


def plan_of(export: dict[str, Any]) -> list[tuple[str, str, int]]:
    """What will be erased: the singular, the plural and the count."""
    names = (
        ("policies", "rule", "rules"),
        ("overrides", "exception", "exceptions"),
        ("enforcement", "entry in the history", "entries in the history"),
        ("metrics", "daily count of blocked attempts", "daily counts of blocked attempts"),
        ("sessions", "session on the network", "sessions on the network"),
        ("rules", "firewall rule", "firewall rules"),
        ("messages", "message that names the child", "messages that name the child"),
    )
    return [(one, many, len(export[name])) for name, one, many in names]
