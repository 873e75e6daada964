"""Public links: my links, and the pages that anyone with a link opens: a file, a folder, a file request.

Must hold: the public pages need no login and show nothing of the owner but the name; a password that was entered is
remembered by a signed cookie for this link alone; a download is counted where it begins (api/links.py).
"""

import json
from datetime import date, datetime, timedelta

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.errors import CallerError, Forbidden, NotFound
from tablewright.edge.rate_limit import rate_limit_key
from tablewright.pages.forms import Form, FormWrong, Posted, read
from tablewright.systems.campus import rules
from tablewright.systems.campus.access import Admin, Caller, Me
from tablewright.systems.campus.api.links import download_path
from tablewright.systems.campus.files.readers import of_link
from tablewright.systems.campus.model import File, Link, LinkKind, ShareTarget, Value
from tablewright.systems.campus.pages.page import HOME, CampusPages
from tablewright.systems.campus.pages.preview_cards import card_of
from tablewright.systems.campus.pages.shares import path_of, sharing_page
from tablewright.systems.campus.sharing.file_requests import Sender
from tablewright.systems.campus.sharing.links import LinkTerms, Opened

LIST = f"{HOME}/links"
_MB = 1024**2
COOKIE, SENDER = "campus-link", "campus-sender"
REMEMBERED, SENDER_REMEMBERED = timedelta(hours=1), timedelta(days=30)


class TypedLink(Value):
    """The form of a new link."""

    kind: LinkKind = "view"
    title: str | None = None
    password: str | None = None
    view_only: bool = False
    link_expires_on: date | None = None
    download_limit: int | None = Field(None, ge=1)
    # In megabytes, of a file request.
    largest_file: float | None = Field(None, gt=0, le=1e9)


def add_links(router: APIRouter, pages: CampusPages) -> None:
    buckets = RateLimiter()
    _add_own(router, pages)
    _add_new(router, pages, "file")
    _add_new(router, pages, "folder")
    _add_public(router, pages, buckets)
    _add_send(router, pages, buckets)


# --- owners ---


def _add_own(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/links")
    def my_links(request: Request, user: Me) -> Response:
        now = campus.repository.now()
        found = campus.links.of(user)
        rows = [(link, campus.links.address(link), _name(pages, link), _is_over(link, now)) for link in found]
        return pages.page(
            request,
            "links",
            title="Links",
            user=user,
            rows=rows,
            open_uploads=campus.uploads.sent_to(user),
            are_on=campus.links.are_on(),
        )

    @router.post("/links/uploads/{upload_id}/cancel")
    def cancel_upload(user: Me, upload_id: str) -> Response:
        campus.uploads.abandon(campus.uploads.of(user, upload_id).upload_id)
        return pages.console.go(LIST, "The upload is cancelled. Its room is free again.", "note")

    @router.post("/links")
    def switch(by: Admin, form: Posted) -> Response:
        campus.links.switch(by, on=form.get("on") == "yes")
        words = "Public links work again." if form.get("on") == "yes" else "No public link works from now on."
        return pages.console.go(LIST, words, "note")

    @router.post("/links/{link_id}/revoke")
    def revoke(user: Me, link_id: str, form: Posted) -> Response:
        campus.links.revoke(user, link_id)
        back = form.get("back") if form.get("back").startswith(f"{HOME}/") else LIST
        return pages.console.go(back, "The link is switched off.", "note")


def _is_over(link: Link, now: datetime) -> bool:
    return link.expires_at is not None and link.expires_at <= now


def _name(pages: CampusPages, link: Link) -> str:
    """What a link leads to."""
    try:
        repository = pages.campus.repository
        if link.target == "file":
            return repository.file_of(link.owner_id, link.target_id).filename
        return repository.folder(link.target_id).name
    except NotFound:
        return "deleted"


def _add_new(router: APIRouter, pages: CampusPages, kind: ShareTarget) -> None:
    campus = pages.campus

    @router.post(f"/{kind}s/{{item_id}}/links")
    def make(request: Request, user: Me, item_id: str, form: Posted) -> Response:
        target = campus.targets.of(user, kind, item_id)
        try:
            typed = read(form, TypedLink)
            end = rules.end_of_day(typed.link_expires_on, user.time_zone) if typed.link_expires_on else None
            most = int(typed.largest_file * _MB) if typed.largest_file and typed.kind == "drop" else None
            terms = LinkTerms(
                typed.kind, typed.title, typed.password, typed.view_only, end, typed.download_limit, most
            )
            campus.links.create(user, target, terms)
        except FormWrong as wrong:
            return sharing_page(pages, request, user, target, link_form=wrong.form, status=422)
        except CallerError as mistake:
            shown = _refused(form, mistake)
            return sharing_page(pages, request, user, target, link_form=shown, status=mistake.status)
        return pages.console.go(f"{path_of(target)}#links", "The link is ready. Copy it from the list.")


def _refused(form: Form, mistake: CallerError) -> Form:
    shown_as = {"expiresAt": "linkExpiresOn", "maxFileSize": "largestFile"}
    field = shown_as.get(mistake.field or "", mistake.field or "")
    names = ("title", "password", "linkExpiresOn", "downloadLimit", "largestFile")
    return form.wrong(field, mistake.message) if field in names else Form(form.values, error=mistake.message)


# --- visitors ---


def _add_public(router: APIRouter, pages: CampusPages, buckets: RateLimiter) -> None:
    campus = pages.campus
    pace = [Depends(limit_rate(buckets, "link pages", per_minute=240, burst=120, key=rate_limit_key))]

    def visit(request: Request, token: str) -> tuple[Link, Opened | None]:
        """The link, and what it leads to if its password was entered or it has none."""
        link = campus.links.find(token)
        if link.kind != "view":
            raise NotFound("link")
        if link.password_hash is None or _is_remembered(pages, request, link):
            return link, campus.links.open(link)
        return link, None

    @router.get("/open/{token}", dependencies=pace)
    def open_link(request: Request, caller: Caller, token: str) -> Response:
        link, opened = visit(request, token)
        if opened is None:
            return _password_page(pages, request, token, link)
        query = request.query_params
        if isinstance(opened.item, File) or "file" in query:
            file = campus.links.file(opened, query.get("file") or opened.link.target_id)
            return _file_page(pages, request, token, opened, file)
        return _folder_page(pages, request, token, opened, query.get("folder"))

    @router.post("/open/{token}", dependencies=pace)
    def enter_password(request: Request, caller: Caller, token: str, form: Posted) -> Response:
        link, _ = visit(request, token)
        try:
            campus.links.check_password(link, form.get("password"), rate_limit_key(request, caller))
        except CallerError as mistake:
            shown = Form({}).wrong("password", mistake.message)
            return _password_page(pages, request, token, link, shown, mistake.status)
        response = pages.console.go(f"{HOME}/open/{token}")
        _remember(pages, response, link, token)
        return response

    # A POST: what reads links ahead, such as a mail program, must not use up a download.
    @router.post("/open/{token}/files/{file_id}/download", dependencies=pace)
    def download(request: Request, caller: Caller, token: str, file_id: str) -> Response:
        link, opened = visit(request, token)
        if opened is None:
            return _password_page(pages, request, token, link)
        return pages.console.go(download_path(campus, opened, file_id))


def _proof(pages: CampusPages, link: Link) -> str:
    """What the cookie of a link has: another password makes it worthless."""
    return pages.campus.links.secrets.ticket("password", link.link_id, link.password_hash or "")


def _is_remembered(pages: CampusPages, request: Request, link: Link) -> bool:
    secrets = pages.campus.links.secrets
    return secrets.is_ticket(
        request.cookies.get(COOKIE, ""), "password", link.link_id, link.password_hash or ""
    )


def _remember(pages: CampusPages, response: Response, link: Link, token: str) -> None:
    _keep(pages, response, COOKIE, _proof(pages, link), f"{HOME}/open/{token}", REMEMBERED)


def _password_page(
    pages: CampusPages, request: Request, token: str, link: Link, form: Form | None = None, status: int = 200
) -> Response:
    title = "This link has a password"
    return pages.page(request, "link_password", title=title, token=token, form=form or Form(), status=status)


def _file_page(pages: CampusPages, request: Request, token: str, opened: Opened, file: File) -> Response:
    link = opened.link
    # A preview shows all of a file: with a limit of downloads there is none.
    card = card_of(pages.campus, file, of_link(link.link_id)) if link.download_limit is None else None
    return pages.page(
        request,
        "link_file",
        title=file.filename,
        token=token,
        link=link,
        file=file,
        owner=opened.owner.name,
        zone=opened.owner.time_zone,
        card=card,
        is_in_folder=not isinstance(opened.item, File),
    )


def _folder_page(
    pages: CampusPages, request: Request, token: str, opened: Opened, folder_id: str | None
) -> Response:
    campus = pages.campus
    folder = campus.links.folder(opened, folder_id)
    folders, files = campus.links.contents(folder)
    return pages.page(
        request,
        "link_folder",
        title=folder.name,
        token=token,
        link=opened.link,
        folder=folder,
        root=opened.link.target_id,
        owner=opened.owner.name,
        zone=opened.owner.time_zone,
        folders=folders,
        files=files,
    )


# --- file requests ---


def _add_send(router: APIRouter, pages: CampusPages, buckets: RateLimiter) -> None:
    """The sender's ticket is a cookie for this link alone; the script of uploads sends it as a header."""
    campus = pages.campus
    pace = [Depends(limit_rate(buckets, "link pages", per_minute=240, burst=120, key=rate_limit_key))]
    enters = [Depends(limit_rate(buckets, "senders", per_minute=30, burst=60, key=rate_limit_key))]

    def page(
        request: Request, token: str, link: Link, form: Form | None = None, status: int = 200
    ) -> Response:
        sender = _sender(pages, request, link)
        return pages.page(
            request,
            "send",
            title=link.title or "Send files",
            token=token,
            link=link,
            owner=campus.file_requests.owner(link),
            most=min(campus.settings.largest_file, link.max_file_size),
            form=form or Form(),
            sender=sender,
            headers=json.dumps({"X-Drop-Ticket": sender.ticket}) if sender else "",
            sent=campus.file_requests.sent(sender) if sender else [],
            unfinished=campus.file_requests.begun(link, sender) if sender else [],
            status=status,
        )

    @router.get("/send/{token}", dependencies=pace)
    def send_page(request: Request, caller: Caller, token: str) -> Response:
        return page(request, token, campus.file_requests.find(token))

    @router.post("/send/{token}", dependencies=enters)
    def enter(request: Request, caller: Caller, token: str, form: Posted) -> Response:
        link = campus.file_requests.find(token)
        try:
            campus.links.check_password(link, form.get("password"), rate_limit_key(request, caller))
            sender = campus.file_requests.enter(link, form.get("name"))
        except CallerError as mistake:
            shown = Form({"name": form.get("name"), "password": ""}).refused(mistake)
            return page(request, token, link, shown, mistake.status)
        response = pages.console.go(f"{HOME}/send/{token}")
        _keep(pages, response, SENDER, sender.ticket, f"{HOME}/send/{token}", SENDER_REMEMBERED)
        return response

    @router.post("/send/{token}/leave", dependencies=pace)
    def leave(caller: Caller, token: str) -> Response:
        campus.file_requests.find(token)
        response = pages.console.go(f"{HOME}/send/{token}")
        response.delete_cookie(SENDER, path=f"{HOME}/send/{token}")
        return response


def _sender(pages: CampusPages, request: Request, link: Link) -> Sender | None:
    try:
        return pages.campus.file_requests.sender(link, request.cookies.get(SENDER))
    except Forbidden:
        return None


def _keep(pages: CampusPages, response: Response, name: str, value: str, path: str, lasts: timedelta) -> None:
    """A cookie for the pages of one link alone, which no script reads."""
    secure, seconds = pages.console.cookie.secure, int(lasts.total_seconds())
    response.set_cookie(name, value, max_age=seconds, path=path, secure=secure, httponly=True, samesite="lax")
