"""Bytes behind signed paths: previews of pages, and links to downloads for programs without a login.

A path says who it was signed for: a user, a visitor of a public link, or a reader of a submission. Must hold: the right
of that reader is checked with every read, as it is at this moment; so a share, link, role or account that has ended
ends its paths too. In a bucket the store answers downloads itself: there a link is good for its five minutes.
"""

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.errors import NotFound
from tablewright.edge.routes import Router
from tablewright.kit.objects.signed_paths import SignatureUnusable, SignedPath
from tablewright.systems.campus.access import CAMPUS, member_submission_of
from tablewright.systems.campus.api.content import content_response
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.errors import Gone
from tablewright.systems.campus.files.previews import IMAGES, PDF
from tablewright.systems.campus.files.readers import Reader, reader_of


def signed_reads(campus: Campus, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["files"])
    pace = Depends(limit_rate(buckets, "previews", per_minute=240, burst=120, identity=CAMPUS.caller))

    @api.get("/objects/{signed}")
    def get_signed(request: Request, signed: str) -> Response:
        """What a link of `content:link` leads to; the link is the login."""
        try:
            path = campus.signed_paths.verify(signed)
        except SignatureUnusable as mistake:
            raise Gone("LINK_EXPIRED", f"{str(mistake).capitalize()}.") from None
        return _answer(request, campus, path)

    @api.get("/previews/{signed}", dependencies=[pace])
    def get_preview(request: Request, signed: str) -> Response:
        """An image or a PDF for a preview, behind a path that was signed for it. Nothing else is shown inline."""
        path = campus.previews.verify(signed)
        return _answer(request, campus, path, inline=path.content_type in IMAGES or path.content_type == PDF)

    return api


def _answer(request: Request, campus: Campus, path: SignedPath, *, inline: bool = False) -> Response:
    _refuse_ended(campus, path.name, reader_of(path.subject))
    head = campus.objects.head(path.name)
    if head is None:
        raise NotFound("file")
    return content_response(
        request,
        lambda start, end: campus.library.open_object(path.name, start, end),
        size=head.size,
        filename=path.filename,
        content_type=path.content_type,
        tag=path.name.rpartition("/")[2],
        inline=inline,
    )


def _refuse_ended(campus: Campus, object_name: str, reader: Reader) -> None:
    """Raise unless the reader may read these bytes now: 403, 404, 410 or 423."""
    if reader.kind == "link":
        opened = campus.links.open(campus.links.find(campus.links.secrets.token(reader.id)))
        version = campus.file_access.refuse_locked_bytes(object_name)
        campus.links.file(opened, version.file_id)
        return
    user = campus.library.active_user(reader.id)
    if reader.kind == "user":
        campus.library.refuse_reader(user, object_name)
        return
    found = member_submission_of(campus, user, reader.submission_id)
    part = campus.submissions.readable(found.member, found.submission, reader.part_id)
    if part.object_name != object_name:
        raise NotFound("part")
