"""Public links and file requests over HTTP: `/links` for their owners; `/public/links` and `/drops` for anyone.

A password is sent as `X-Link-Password`, percent-encoded as in addresses; a sender's ticket as `X-Drop-Ticket`.
Must hold: wrong passwords are limited for each caller and link, so guessing does not hold up others; a download is
counted before its bytes can be read, and its bytes then come from a path that is valid for five minutes, so ranges of
one download count once.
"""

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field, StringConstraints

from tablewright.edge import Principal, RateLimiter, limit_rate
from tablewright.edge.errors import NotFound
from tablewright.edge.rate_limit import rate_limit_key
from tablewright.edge.routes import Router
from tablewright.kit.http import Body, Day, Moment, Page, listed, view_of
from tablewright.systems.campus.access import CAMPUS, Admin, Me
from tablewright.systems.campus.api.file_bodies import (
    MediaType,
    PartsToSign,
    SignedPartView,
    Size,
    UploadView,
    signed_views,
    upload_view,
)
from tablewright.systems.campus.api.parts import PartDigest, receive_part
from tablewright.systems.campus.api.shares import end_of
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.files.library import LINK_LASTS
from tablewright.systems.campus.files.readers import of_link
from tablewright.systems.campus.model import File, Folder, Link, LinkKind, ShareTarget, User, Value
from tablewright.systems.campus.sharing.file_requests import Sender
from tablewright.systems.campus.sharing.link_secrets import token_digest
from tablewright.systems.campus.sharing.links import LinkTerms, Opened
from tablewright.systems.campus.sharing.targets import Target

Password = Annotated[str | None, Header(alias="X-Link-Password", max_length=2000)]
Ticket = Annotated[str | None, Header(alias="X-Drop-Ticket", max_length=200)]
Title = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]


class NewLink(Body):
    """`kind` is `view`, or `drop` for a file request into a folder. Without an end it has the campus's default."""

    kind: LinkKind = "view"
    title: Title | None = None
    password: Annotated[str, StringConstraints(max_length=256)] | None = None
    view_only: bool = False
    expires_at: Moment = None
    expires_on: Day | None = None
    download_limit: Annotated[int, Field(ge=1)] | None = None
    # Of a file request, in bytes; 2 GiB if nothing is said.
    max_file_size: Annotated[int, Field(ge=1, strict=True)] | None = None


class LinkChange(Body):
    title: Title | None = None
    expires_at: Moment = None
    expires_on: Day | None = None
    download_limit: Annotated[int, Field(ge=1)] | None = None
    max_file_size: Annotated[int, Field(ge=1, strict=True)] = 2 * 1024**3


class LinkView(Value):
    """A link, for its owner: `url` is the page that anyone can open."""

    link_id: str
    kind: LinkKind
    target: ShareTarget
    target_id: str
    title: str | None
    url: str
    token: str
    has_password: bool
    view_only: bool
    expires_at: datetime | None
    download_limit: int | None
    max_file_size: int
    downloads: int
    uploads: int
    created_at: datetime
    version: int


class LinkEnds(Value):
    """When a new link ends if nothing is said, and the latest end it can have."""

    default_expires_at: datetime
    latest_expires_at: datetime


class PublicFile(Value):
    file_id: str
    filename: str
    file_size: int
    content_type: str


class PublicFolder(Value):
    folder_id: str
    name: str


class PublicLink(Value):
    """What anyone sees of a link: nothing about its owner but the name."""

    title: str | None
    name: str
    owner_name: str
    target: ShareTarget
    view_only: bool
    expires_at: datetime | None
    downloads_left: int | None
    folders: list[PublicFolder]
    files: list[PublicFile]


class PublicFileRequest(Value):
    title: str | None
    owner_name: str
    expires_at: datetime | None
    has_password: bool
    max_file_size: int


class NewSender(Body):
    name: str
    password: Annotated[str, StringConstraints(max_length=256)] | None = None


class SenderTicket(Value):
    """Send it as X-Drop-Ticket with everything that follows."""

    name: str
    ticket: str


class NewSentFile(Body):
    filename: str
    file_size: Size
    content_type: MediaType = "application/octet-stream"
    checksum: str | None = None


class SentComplete(Body):
    checksum: str | None = None


class SentFile(Value):
    """A file that a sender has sent, and no more of it."""

    filename: str
    file_size: int
    checksum: str | None
    uploaded_at: datetime | None


def link_view(campus: Campus, link: Link) -> LinkView:
    token = campus.links.secrets.token(link.link_id)
    url = campus.links.address(link)
    return view_of(LinkView, link, url=url, token=token, has_password=link.password_hash is not None)


def links(campus: Campus, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["links"])
    _add_own(api, campus)
    _add_switch(api, campus)
    _add_public(api, campus, buckets)
    _add_file_requests(api, campus, buckets)
    return api


# --- owners ---


def _add_own(api: APIRouter, campus: Campus) -> None:
    def create(user: User, target: Target, body: NewLink) -> LinkView:
        given = body.model_dump(exclude={"expires_on"}) | {
            "expires_at": end_of(user, body.expires_at, body.expires_on)
        }
        return link_view(campus, campus.links.create(user, target, LinkTerms(**given)))

    @api.post("/files/{file_id}/links", status_code=201, response_model_exclude_none=True)
    def link_file(user: Me, file_id: str, body: NewLink) -> LinkView:
        return create(user, campus.targets.file(user, file_id), body)

    @api.post("/folders/{folder_id}/links", status_code=201, response_model_exclude_none=True)
    def link_folder(user: Me, folder_id: str, body: NewLink) -> LinkView:
        """A link to a folder, or with `kind` `drop` a request for files into it."""
        return create(user, campus.targets.folder(user, folder_id), body)

    @api.get("/links", response_model_exclude_none=True)
    def list_links(user: Me) -> Page[LinkView]:
        """Your links, newest first."""
        return listed(link_view(campus, one) for one in campus.links.of(user))

    @api.get("/links:ends")
    def link_ends(user: Me) -> LinkEnds:
        default, latest = campus.links.ends()
        return LinkEnds(default_expires_at=default, latest_expires_at=latest)

    @api.patch("/links/{link_id}", response_model_exclude_none=True)
    def change_link(user: Me, link_id: str, body: LinkChange) -> LinkView:
        changes = body.changes()
        if changes.pop("expires_on", None) is not None or changes.get("expires_at") is not None:
            changes["expires_at"] = end_of(user, body.expires_at, body.expires_on)
        elif "expires_at" in changes:
            changes["expires_at"] = campus.links.ends()[0]
        return link_view(campus, campus.links.change(user, link_id, changes))

    @api.delete("/links/{link_id}", status_code=204)
    def revoke_link(user: Me, link_id: str) -> None:
        """Switch a link off at once."""
        campus.links.revoke(user, link_id)


class LinkSwitch(Body):
    enabled: bool


def _add_switch(api: APIRouter, campus: Campus) -> None:
    @api.get("/admin/links", tags=["admin"])
    def get_switch(by: Admin) -> LinkSwitch:
        return LinkSwitch(enabled=campus.links.are_on())

    @api.put("/admin/links", tags=["admin"])
    def set_switch(by: Admin, body: LinkSwitch) -> LinkSwitch:
        """Switch all public links and file requests of the campus off, or on again."""
        campus.links.switch(by, on=body.enabled)
        return LinkSwitch(enabled=campus.links.are_on())


# --- visitors ---


def by_link(request: Request, caller: Principal) -> str:
    """Limits for a link, from anywhere."""
    return token_digest(str(request.path_params.get("token", "")))


def paces(buckets: RateLimiter) -> list[Any]:
    """The limits of what anyone can call: for each network, and for each link."""
    return [
        Depends(limit_rate(buckets, "public links", per_minute=240, burst=120, key=rate_limit_key)),
        Depends(limit_rate(buckets, "one public link", per_minute=600, burst=600, key=by_link)),
    ]


def _add_public(api: APIRouter, campus: Campus, buckets: RateLimiter) -> None:
    limits = paces(buckets)

    def opened(request: Request, token: str, password: Password = None) -> Opened:
        link = campus.links.find(token)
        if link.kind != "view":
            raise NotFound("link")
        campus.links.check_password(
            link, unquote(password) if password else None, rate_limit_key(request, CAMPUS.caller(request))
        )
        return campus.links.open(link)

    Visitor = Annotated[Opened, Depends(opened)]

    @api.get("/public/links/{token}", dependencies=limits, response_model_exclude_none=True)
    def get_public_link(
        visitor: Visitor, folder: Annotated[str | None, Query(description="a folder below the link's")] = None
    ) -> PublicLink:
        return public_view(campus, visitor, folder)

    @api.get("/public/links/{token}/files/{file_id}/content", dependencies=limits)
    def get_public_content(visitor: Visitor, file_id: str) -> Response:
        """Counts a download, and leads to the bytes for five minutes."""
        return RedirectResponse(download_path(campus, visitor, file_id), 303)


def download_path(campus: Campus, visitor: Opened, file_id: str) -> str:
    """Count a download of a link, and the address of its bytes."""
    file = campus.links.file(visitor, file_id)
    campus.links.take(visitor.link)
    campus.library.downloaded(file, None)
    signed = campus.objects.sign_get(
        file.object_name,
        LINK_LASTS,
        filename=file.filename,
        content_type=file.content_type,
        subject=of_link(visitor.link.link_id).subject,
    )
    return signed.url


def public_view(campus: Campus, visitor: Opened, folder_id: str | None) -> PublicLink:
    link, folders, files = visitor.link, list[Folder](), list[File]()
    if isinstance(visitor.item, File):
        name, files = visitor.item.filename, [visitor.item]
    else:
        folder = campus.links.folder(visitor, folder_id)
        name, (folders, files) = folder.name, campus.links.contents(folder)
    left = link.download_limit - link.downloads if link.download_limit is not None else None
    return view_of(
        PublicLink,
        link,
        name=name,
        owner_name=visitor.owner.name,
        downloads_left=left,
        folders=[view_of(PublicFolder, one) for one in folders],
        files=[view_of(PublicFile, one) for one in files],
    )


# --- file requests ---


def _add_file_requests(api: APIRouter, campus: Campus, buckets: RateLimiter) -> None:
    limits = paces(buckets)
    enters = [*limits, Depends(limit_rate(buckets, "senders", per_minute=30, burst=60, key=rate_limit_key))]

    def file_request(token: str) -> Link:
        return campus.file_requests.find(token)

    FileRequest = Annotated[Link, Depends(file_request)]

    def sender(found: FileRequest, ticket: Ticket = None) -> Sender:
        return campus.file_requests.sender(found, ticket)

    OfSender = Annotated[Sender, Depends(sender)]

    @api.get("/drops/{token}", dependencies=limits, response_model_exclude_none=True)
    def get_file_request(found: FileRequest) -> PublicFileRequest:
        owner = campus.file_requests.owner(found)
        return view_of(
            PublicFileRequest, found, owner_name=owner.name, has_password=found.password_hash is not None
        )

    @api.post("/drops/{token}/senders", status_code=201, dependencies=enters)
    def enter_file_request(request: Request, found: FileRequest, body: NewSender) -> SenderTicket:
        """A folder of your own in the owner's, and a ticket for it."""
        campus.links.check_password(found, body.password, rate_limit_key(request, CAMPUS.caller(request)))
        entered = campus.file_requests.enter(found, body.name)
        return SenderTicket(name=entered.folder.name, ticket=entered.ticket)

    @api.get("/drops/{token}/files", dependencies=limits, response_model_exclude_none=True)
    def list_sent(by: OfSender) -> Page[SentFile]:
        """What you have sent."""
        return listed(view_of(SentFile, one) for one in campus.file_requests.sent(by))

    @api.post("/drops/{token}/uploads", status_code=201, dependencies=limits)
    def begin_sending(found: FileRequest, by: OfSender, body: NewSentFile) -> UploadView:
        """A slot for a file; its parts are sent as those of other uploads, and can be resumed."""
        upload = campus.file_requests.begin(
            found, by, filename=body.filename, size=body.file_size, content_type=body.content_type,
            checksum=body.checksum,
        )  # fmt: skip
        return upload_view(campus.uploads.status(upload))

    @api.get("/drops/{token}/uploads/{upload_id}", dependencies=limits)
    def get_sending(found: FileRequest, by: OfSender, upload_id: str) -> UploadView:
        return upload_view(campus.uploads.status(campus.file_requests.upload(found, by, upload_id)))

    @api.put("/drops/{token}/uploads/{upload_id}/parts/{number}", status_code=204, dependencies=limits)
    async def send_part(
        request: Request,
        found: FileRequest,
        by: OfSender,
        upload_id: str,
        number: int,
        digest: PartDigest = None,
    ) -> None:
        find = lambda: campus.file_requests.upload(found, by, upload_id)  # noqa: E731  # read in a thread, not here
        await receive_part(request, find, campus.uploads, number, digest)

    @api.post("/drops/{token}/uploads/{upload_id}/parts:sign", dependencies=limits)
    def sign_sent_parts(
        found: FileRequest, by: OfSender, upload_id: str, body: PartsToSign
    ) -> Page[SignedPartView]:
        """Requests that send parts straight to the store, at most until the deadline."""
        upload = campus.file_requests.upload(found, by, upload_id)
        return signed_views(campus.uploads.sign(upload, body.checksums(), found.expires_at))

    @api.post(
        "/drops/{token}/uploads/{upload_id}:complete", response_model_exclude_none=True, dependencies=limits
    )
    def complete_sending(found: FileRequest, by: OfSender, upload_id: str, body: SentComplete) -> SentFile:
        """The file is in the owner's folder; again, it returns the same."""
        return view_of(SentFile, campus.file_requests.complete(found, by, upload_id, body.checksum))

    @api.delete("/drops/{token}/uploads/{upload_id}", status_code=204, dependencies=limits)
    def abandon_sending(found: FileRequest, by: OfSender, upload_id: str) -> None:
        campus.uploads.abandon(campus.file_requests.upload(found, by, upload_id).upload_id)
