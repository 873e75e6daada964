"""Sharing a file or a folder, and what is shared with me.

Must hold: a page offers only what its reader may do; everything that is typed comes back with its mistakes.
Elsewhere: links and their public pages (links.py), the owner's own files (files.py).
"""

from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request, Response
from pydantic import Field

from tablewright.edge.errors import CallerError, NotFound
from tablewright.pages.forms import Form, FormWrong, Posted, read
from tablewright.pages.layout import Crumb
from tablewright.systems.campus import rules
from tablewright.systems.campus.access import Me
from tablewright.systems.campus.files.readers import of_user
from tablewright.systems.campus.model import File, Folder, Permission, Share, ShareTarget, User, Value
from tablewright.systems.campus.pages.page import HOME, CampusPages
from tablewright.systems.campus.pages.preview_cards import card_of
from tablewright.systems.campus.sharing.addressees import RecipientName
from tablewright.systems.campus.sharing.links import is_locked
from tablewright.systems.campus.sharing.recipients import EMAIL, enrolments_of
from tablewright.systems.campus.sharing.shares import Terms
from tablewright.systems.campus.sharing.targets import Target

SHARED = f"{HOME}/shared"
STATE_WORDS = {"active": ("active", "good"), "revoked": ("ended", ""), "expired": ("expired", "")}


class TypedShare(Value):
    """The form of a new share. `people` are addresses, separated by lines, commas or spaces."""

    people: str = Field("", max_length=40_000)
    group: str = ""
    permissions: Permission = "read"
    expires_on: date | None = None
    message: str | None = None


class TypedChange(Value):
    permissions: Permission
    expires_on: date | None = None


@dataclass(frozen=True, slots=True)
class ShareRow:
    """A share as its owner sees it."""

    share: Share
    status: str
    tone: str
    is_pending: bool


def add_shares(router: APIRouter, pages: CampusPages) -> None:
    _add_sharing(router, pages, "file")
    _add_sharing(router, pages, "folder")
    _add_changes(router, pages)
    _add_received(router, pages)


# --- sharing what one owns ---


def _add_sharing(router: APIRouter, pages: CampusPages, kind: ShareTarget) -> None:
    campus = pages.campus

    @router.get(f"/{kind}s/{{item_id}}/share")
    def share_page(request: Request, user: Me, item_id: str) -> Response:
        return sharing_page(pages, request, user, campus.targets.of(user, kind, item_id))

    @router.post(f"/{kind}s/{{item_id}}/share")
    def share(request: Request, user: Me, item_id: str, form: Posted) -> Response:
        target = campus.targets.of(user, kind, item_id)
        try:
            typed = read(form, TypedShare)
            end = rules.end_of_day(typed.expires_on, user.time_zone) if typed.expires_on else None
            found = campus.addressees.find(user, named(typed))
            made = campus.shares.share(user, target, found, Terms(typed.permissions, end, typed.message))
        except FormWrong as wrong:
            return sharing_page(pages, request, user, target, wrong.form, status=422)
        except CallerError as mistake:
            return sharing_page(pages, request, user, target, _refused(form, mistake), status=mistake.status)
        names = [one.share.shared_with_name or "" for one in made if one.is_new]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return pages.console.go(path_of(target), f"Shared with {', '.join(names[:3])}{more}.")


def named(typed: TypedShare) -> list[RecipientName]:
    """The recipients of the form: addresses, and a course or team as `course/set/team`."""
    people = typed.people.replace(",", " ").replace(";", " ").split()
    found = [RecipientName(email=text) for text in people]
    if typed.group:
        course, _, team = typed.group.partition("/")
        group_set, _, team_id = team.partition("/")
        found.append(RecipientName(None, course, group_set or None, team_id or None))
    return found


def path_of(target: Target) -> str:
    return f"{HOME}/{target.kind}s/{target.id}/share"


def sharing_page(
    pages: CampusPages,
    request: Request,
    user: User,
    target: Target,
    form: Form | None = None,
    link_form: Form | None = None,
    status: int = 200,
) -> Response:
    campus, now = pages.campus, pages.campus.repository.now()
    found = campus.shares.of(target, 100, request.query_params.get("after"))
    rows = [_row(share, rules.share_status(share, now)) for share in found.items]
    default, latest = campus.links.ends()
    here = f"{HOME}/files/{target.id}" if target.kind == "file" else f"{HOME}/files?folder={target.id}"
    return pages.page(
        request,
        "share",
        title=f"Share {target.name}",
        crumbs=(Crumb("My files", f"{HOME}/files"), Crumb(target.name, here)),
        user=user,
        target=target,
        at=path_of(target),
        rows=rows,
        next=found.next,
        groups=_groups(pages, user),
        links=[(link, campus.links.address(link)) for link in campus.links.to(target)],
        links_allowed=campus.links.are_on(),
        default_end=default,
        latest_end=latest,
        local_day=_local_day,
        form=form or Form({"permissions": "read"}),
        link_form=link_form or Form(),
        status=status,
    )


def _local_day(at: datetime | None, user: User) -> str:
    """A day for a field of a form, where the user is."""
    return at.astimezone(ZoneInfo(user.time_zone)).date().isoformat() if at is not None else ""


def _row(share: Share, status: str) -> ShareRow:
    word, tone = STATE_WORDS[status]
    return ShareRow(share, word, tone, share.shared_with_user_id.startswith(EMAIL))


def _groups(pages: CampusPages, user: User) -> list[tuple[str, str]]:
    """The courses and teams that a user can share with."""
    found: list[tuple[str, str]] = []
    for enrolment in enrolments_of(pages.campus.repository, user):
        found.append((enrolment.course_id, f"Everyone in {enrolment.course_id}"))
        teams = pages.campus.addressees.teams(user, enrolment)
        found += [
            (f"{one.course_id}/{one.group_set_id}/{one.team_id}", f"{one.name} ({one.course_id})")
            for one in teams
        ]
    return found


def _refused(form: Form, mistake: CallerError) -> Form:
    """The mistake beside its field of the form."""
    fields = {"recipients": "people", "expiresAt": "expiresOn", "message": "message"}
    field = fields.get(mistake.field or "")
    return form.wrong(field, mistake.message) if field else Form(form.values, error=mistake.message)


def _add_changes(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    def back(user: User, share: Share) -> str:
        return path_of(Target(share.target, share.file_id, share.owner_id, ""))

    @router.post("/shares/{share_id}/change")
    def change(user: Me, share_id: str, form: Posted) -> Response:
        share = campus.shares.owned(user, share_id)
        try:
            typed = read(form, TypedChange)
            end = rules.end_of_day(typed.expires_on, user.time_zone) if typed.expires_on else None
            campus.shares.change(user, share_id, {"permissions": typed.permissions, "expires_at": end})
        except FormWrong:
            return pages.console.go(back(user, share), "Choose a day as the end of the share.", "bad")
        except CallerError as mistake:
            return pages.console.go(back(user, share), mistake.message, "bad")
        return pages.console.go(back(user, share), "The share is changed.")

    @router.post("/shares/{share_id}/revoke")
    def revoke(user: Me, share_id: str) -> Response:
        share = campus.shares.revoke(user, share_id)
        words = f"No longer shared with {share.shared_with_name}."
        return pages.console.go(back(user, share), words, "note")


# --- shared with me ---


def _add_received(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/shared")
    def received(request: Request, user: Me) -> Response:
        listing = pages.list(request, campus.shares.with_user(user))
        rows = campus.received.described(listing.items)
        return pages.page(request, "shared", title="Shared with me", user=user, listing=listing, rows=rows)

    @router.get("/shared/{share_id}")
    def received_one(request: Request, user: Me, share_id: str) -> Response:
        share = campus.shares.received(user, share_id)
        if share.target == "file":
            return _file_page(pages, request, user, share, share.file_id)
        folder_id = request.query_params.get("folder") or share.file_id
        folder = campus.repository.folder(folder_id)
        used = campus.file_access.check_folder(user, folder)
        return _folder_page(pages, request, user, share, folder, used is None or used.permissions == "write")

    @router.get("/shared/{share_id}/files/{file_id}")
    def received_file(request: Request, user: Me, share_id: str, file_id: str) -> Response:
        return _file_page(pages, request, user, campus.shares.received(user, share_id), file_id)


def _file_page(pages: CampusPages, request: Request, user: User, share: Share, file_id: str) -> Response:
    campus = pages.campus
    file, used = campus.library.reached(user, file_id)
    if used is not None:
        campus.file_access.used(used)
    return pages.page(
        request,
        "shared_file",
        title=file.filename,
        crumbs=_crumbs(pages, share, file),
        user=user,
        file=file,
        share=used or share,
        owner=campus.users.by_id(file.user_id),
        card=card_of(campus, file, of_user(user.user_id)),
    )


def _folder_page(
    pages: CampusPages, request: Request, user: User, share: Share, folder: Folder, may_write: bool
) -> Response:
    campus = pages.campus
    folders, files = campus.links.contents(folder, locked=True)
    crumbs = _crumbs(pages, share, folder)
    return pages.page(
        request,
        "shared_folder",
        title=folder.name,
        crumbs=crumbs,
        user=user,
        folder=folder,
        share=share,
        owner=campus.users.by_id(folder.user_id),
        folders=folders,
        files=files,
        locked={file.file_id for file in files if is_locked(campus.file_access, file)},
        may_write=may_write,
    )


def _crumbs(pages: CampusPages, share: Share, item: File | Folder) -> tuple[Crumb, ...]:
    """From the list through the shared folder to the folder that an item is in."""
    start = item.folder_id if isinstance(item, File) else item.parent_id
    found: list[Crumb] = []
    if share.target == "folder" and not (isinstance(item, Folder) and item.folder_id == share.file_id):
        for folder in pages.campus.file_access.above(item.user_id, start):
            found.append(Crumb(folder.name, f"{SHARED}/{share.share_id}?folder={folder.folder_id}"))
            if folder.folder_id == share.file_id:
                break
        else:
            raise NotFound("file")
    return (Crumb("Shared with me", SHARED), *reversed(found))
