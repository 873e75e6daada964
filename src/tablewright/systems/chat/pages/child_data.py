"""A child's profile, transfer, export and erasure."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from markupsafe import Markup

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, FormWrong, Posted, read
from tablewright.pages.layout import Crumb
from tablewright.systems.chat.access import ChildOf, OpenChild, OwnChild
from tablewright.systems.chat.family.readable import readable_body
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.pages.child import LISTED, Birth, child_page, child_path
from tablewright.systems.chat.pages.page import ChatPages, typed_fields


def add_data(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    def shown(request: Request, child: User, form: Form, status: int = 200) -> Response:
        return child_page(pages, request, "child_data", child, "Data", form=form, status=status)

    @router.get("/children/{child_id}/data")
    def data(request: Request, opened: OpenChild) -> Response:
        child = opened.child
        born = child.birth_date.isoformat() if child.birth_date else ""
        return shown(
            request, child, Form({"name": child.name, "birthDate": born, "version": str(child.version)})
        )

    @router.post("/children/{child_id}/data")
    def change(request: Request, opened: OpenChild, form: Posted) -> Response:
        child = opened.child
        try:
            given = read(typed_fields(form, Birth), Birth)
            expected = int(form.get("version") or child.version)
            chat.people.change(child, given.model_dump(), opened.me, expected)
        except (FormWrong, CallerError) as mistake:
            return shown(request, child, form.refused(mistake), mistake.status)
        return pages.console.go(f"{child_path(child)}/data", "Saved.")

    @router.post("/children/{child_id}/transfer")
    def transfer(request: Request, opened: OwnChild, form: Posted) -> Response:
        chat.children.offer_transfer(opened.child, form.get("email"), opened.me)
        return pages.console.go(f"{child_path(opened.child)}/data", "We sent the offer by mail.")

    @router.get("/children/{child_id}/export.json")
    def export_json(request: Request, opened: OpenChild) -> Response:
        found = _exported(pages, opened)
        return JSONResponse(found, headers={"Content-Disposition": 'attachment; filename="zoo-chat.json"'})

    @router.get("/children/{child_id}/export.html")
    def export_html(request: Request, opened: OpenChild) -> Response:
        body = Markup(readable_body(_exported(pages, opened)))  # every text in it is escaped
        return child_page(pages, request, "child_export", opened.child, "Data", body=body)


def _exported(pages: ChatPages, opened: ChildOf) -> dict[str, Any]:
    pages.chat.access_log.note(opened.child.user_id, opened.me, "export", "everything")
    return pages.chat.privacy.export(opened.child)


# --- erasure ---


def add_erasure(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    @router.get("/children/{child_id}/erase")
    def ask(request: Request, opened: OpenChild) -> Response:
        return _ask(request, opened.child, Form())

    def _ask(request: Request, child: User, form: Form) -> HTMLResponse:
        return pages.console.confirm(
            request,
            title=f"Erase everything about {child.name}?",
            happens="All chats, summaries and memories are deleted, and the key that opens them in backups is "
            "destroyed. Your consent ends. This cannot be undone; export first what you want to keep.",
            button=f"Erase {child.name}",
            back=f"{child_path(child)}/data",
            crumbs=(LISTED, Crumb(child.name, child_path(child))),
            form=form,
        )

    @router.post("/children/{child_id}/erase")
    def erase(request: Request, opened: OpenChild) -> Response:
        certificate = chat.erasure.erase(opened.child, opened.me)
        return pages.page(request, "certificate", title="Erased", crumbs=(LISTED,), certificate=certificate)
