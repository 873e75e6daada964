"""Files over HTTP: `/files`, `/uploads`, `/folders`, `/trash`, `/objects` and the quarantine.

    POST /files            a slot with its quota             -> uploadId, partSize, partCount
    PUT  /uploads/{id}/parts/{n}   one part, in any order
    POST /uploads/{id}/parts:sign  or requests that send parts straight to the bucket
    POST /files/{id}:complete      the file is visible

Must hold: the body of a part is written to the disk as it arrives, so memory does not depend on the number of clients
or their speed.
Elsewhere: bytes out (content.py), views and bodies (file_bodies.py), shares (shares.py).
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from tablewright.edge import RateLimiter
from tablewright.edge.errors import NotFound
from tablewright.edge.rate_limit import limit_rate
from tablewright.edge.routes import Router
from tablewright.kit.http import Cursor, Page, VersionRead, listed, marked, view_of
from tablewright.kit.objects.store import ObjectStream
from tablewright.systems.campus.access import CAMPUS, Admin, Me
from tablewright.systems.campus.api.content import Read, content_response
from tablewright.systems.campus.api.file_bodies import (
    Complete,
    DownloadLink,
    FileChange,
    FileView,
    FolderBody,
    FolderChange,
    FolderView,
    InfectedVersion,
    NewFile,
    NewVersion,
    PartsToSign,
    Review,
    SignedPartView,
    UploadComplete,
    UploadView,
    VersionView,
    file_view,
    signed_views,
    upload_view,
)
from tablewright.systems.campus.api.me import PageSize
from tablewright.systems.campus.api.parts import PartDigest, receive_part
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.files.file_lists import ANYWHERE, TRASH, Sort, Wanted
from tablewright.systems.campus.files.slots import current
from tablewright.systems.campus.model import File, Folder, User

# A folder with many small files goes up at once; a program that only opens slots does not.
SLOTS_A_MINUTE, SLOTS_AT_ONCE = 240, 600


def files(campus: Campus, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["files"])
    slots = limit_rate(
        buckets, "uploads", per_minute=SLOTS_A_MINUTE, burst=SLOTS_AT_ONCE, identity=CAMPUS.caller
    )
    _add_uploads(api, campus, [Depends(slots)])
    _add_files(api, campus)
    _add_content(api, campus)
    _add_versions(api, campus)
    folders = limit_rate(buckets, "folders", per_minute=120, burst=600, identity=CAMPUS.caller)
    _add_folders(api, campus, [Depends(folders)])
    _add_quarantine(api, campus)
    return api


# --- uploads ---


def owner_of_folder(campus: Campus, user: User, folder_id: str | None) -> str:
    """Whose quota an upload into a folder is charged to: the folder's owner's (CC-X27); 403 if it is not shared."""
    if folder_id is None:
        return user.user_id
    folder = campus.repository.folder(folder_id)
    if folder.folder_id == folder.user_id:
        raise NotFound("folder")
    campus.file_access.check_folder(user, folder, write=True)
    return folder.user_id


def _add_uploads(api: APIRouter, campus: Campus, pace: list[Any]) -> None:
    @api.post("/files", status_code=201, dependencies=pace)
    def begin_upload(user: Me, body: NewFile) -> UploadView:
        """A slot for a file: its size is reserved for a day."""
        owner_id = owner_of_folder(campus, user, body.folder_id)
        upload = campus.uploads.begin(
            user,
            filename=body.filename,
            size=body.file_size,
            content_type=body.content_type,
            checksum=body.checksum,
            folder_id=body.folder_id,
            owner_id=owner_id,
            purpose="submission" if body.assignment_id else "file",
            assignment_id=body.assignment_id,
        )
        return upload_view(campus.uploads.status(upload))

    @api.get("/uploads")
    def list_uploads(user: Me) -> Page[UploadView]:
        """What you began to upload and can go on with, newest first."""
        return listed(upload_view(campus.uploads.status(one)) for one in campus.uploads.begun(user))

    @api.get("/uploads/{upload_id}")
    def get_upload(user: Me, upload_id: str) -> UploadView:
        """Which parts have arrived."""
        return upload_view(campus.uploads.status(campus.uploads.of(user, upload_id)))

    @api.put("/uploads/{upload_id}/parts/{number}", status_code=204)
    async def put_part(
        request: Request, user: Me, upload_id: str, number: int, digest: PartDigest = None
    ) -> None:
        """Store a part. Each has `partSize` bytes, the last one the rest; sending it again is harmless."""
        await receive_part(
            request, lambda: campus.uploads.writable(user, upload_id), campus.uploads, number, digest
        )

    @api.post("/uploads/{upload_id}/parts:sign")
    def sign_parts(user: Me, upload_id: str, body: PartsToSign) -> Page[SignedPartView]:
        """Requests that send parts straight to the store, for an upload that is `direct`; each for 15 minutes."""
        upload = campus.uploads.writable(user, upload_id)
        return signed_views(campus.uploads.sign(upload, body.checksums()))

    @api.post("/files/{file_id}:complete", response_model_exclude_none=True)
    def complete_upload(user: Me, file_id: str, body: Complete, response: Response) -> FileView:
        """Make the file visible, after its size, checksum and content were checked; again, it returns the same."""
        return marked(response, file_view(_completed(campus, user, body.upload_id, body.checksum, file_id)))

    @api.post("/uploads/{upload_id}:complete", response_model_exclude_none=True)
    def complete(user: Me, upload_id: str, body: UploadComplete, response: Response) -> FileView:
        """The same by the id of the upload alone."""
        return marked(response, file_view(_completed(campus, user, upload_id, body.checksum)))

    @api.delete("/uploads/{upload_id}", status_code=204)
    def abandon_upload(user: Me, upload_id: str) -> None:
        """Cancel an upload; its quota is free at once."""
        campus.uploads.abandon(campus.uploads.of(user, upload_id).upload_id)


def _completed(
    campus: Campus, user: User, upload_id: str, checksum: str | None, file_id: str | None = None
) -> File:
    """The file of an upload; again, for its owner, its uploader, and those who may write it."""
    if not campus.uploads.was_completed(upload_id):
        campus.uploads.of(user, upload_id)
    file = campus.uploads.complete(upload_id, checksum)
    if file_id not in (None, file.file_id):
        raise NotFound("upload")
    if user.user_id not in (file.user_id, file.uploaded_by):
        campus.file_access.share_of(user, file, write=True)
    return file


# --- files ---


def _add_files(api: APIRouter, campus: Campus) -> None:
    @api.get("/files", response_model_exclude_none=True)
    def list_files(
        user: Me,
        folder: Annotated[
            str, Query(description="a folder's id, `top`, `trash`; default: all files")
        ] = ANYWHERE,
        q: Annotated[str, Query(max_length=200)] = "",
        tag: Annotated[str, Query(max_length=50)] = "",
        sort: Sort = "date",
        order: Annotated[str, Query(pattern="^(asc|desc)$")] = "desc",
        size: PageSize = None,
        after: Cursor = None,
    ) -> Page[FileView]:
        """Your files, newest first unless you sort by `name` or `size`."""
        place = None if folder == "top" else folder
        if place not in (None, ANYWHERE, TRASH):
            campus.folders.of(user, place)
        wanted = Wanted(place, q, tag, sort, order == "desc")
        found = campus.listing.page(user, wanted, size, after)
        public = campus.links.public_files(user.user_id)
        return listed((file_view(file, public) for file in found.items), found.next)

    @api.get("/files/{file_id}", response_model_exclude_none=True)
    def get_file(user: Me, file_id: str, response: Response) -> FileView:
        file = campus.library.shown(user, file_id)
        return marked(response, file_view(file, campus.links.public_files(file.user_id)))

    @api.patch("/files/{file_id}", response_model_exclude_none=True)
    def change_file(
        user: Me, file_id: str, body: FileChange, response: Response, version: VersionRead = None
    ) -> FileView:
        """Rename, move (`folderId`, null for the top), describe or tag a file."""
        return marked(response, file_view(campus.library.edit(user, file_id, body.changes(), version)))

    @api.delete("/files/{file_id}", response_model_exclude_none=True)
    def delete_file(user: Me, file_id: str, version: VersionRead = None) -> FileView:
        """Move a file to the trash, where it stays for 30 days."""
        return file_view(campus.library.trash(user, file_id, version))

    @api.post("/files/{file_id}:restore", response_model_exclude_none=True)
    def restore_file(user: Me, file_id: str, response: Response) -> FileView:
        """Take a file out of the trash."""
        return marked(response, file_view(campus.library.restore(user, file_id)))

    @api.post("/trash:empty")
    def empty_trash(user: Me) -> dict[str, int]:
        """Remove everything in the trash for good; what a submission holds stays."""
        return {"removed": campus.purge.empty_trash(user)}


# --- bytes ---


def _add_content(api: APIRouter, campus: Campus) -> None:
    @api.get("/files/{file_id}/content")
    def get_content(request: Request, user: Me, file_id: str) -> Response:
        """The bytes; ranges are supported. Counted once for each download."""
        file, share = campus.library.reached(user, file_id)

        def read(start: int, end: int | None) -> ObjectStream:
            campus.library.fetched(file, user, share)
            return campus.library.open(file, start, end)

        return _content(request, campus, file, read)

    @api.post("/files/{file_id}/content:link")
    def link_to_content(user: Me, file_id: str) -> DownloadLink:
        """A link to the bytes for a program that has no login, valid for five minutes."""
        signed = campus.library.download_link(user, file_id)
        return DownloadLink(method=signed.method, url=signed.url, headers=dict(signed.headers))


def _content(request: Request, campus: Campus, file: File, read: Read | None = None) -> Response:
    return content_response(
        request,
        read or (lambda start, end: campus.library.open(file, start, end)),
        size=file.file_size,
        filename=file.filename,
        content_type=file.content_type,
        tag=file.version_id,
    )


# --- versions ---


def _add_versions(api: APIRouter, campus: Campus) -> None:
    @api.get("/files/{file_id}/versions")
    def list_versions(user: Me, file_id: str) -> Page[VersionView]:
        """All versions, newest first."""
        file = campus.library.shown(user, file_id)
        return listed(view_of(VersionView, one) for one in campus.versions.of(file))

    @api.post("/files/{file_id}/versions", status_code=201)
    def begin_version(user: Me, file_id: str, body: NewVersion) -> UploadView:
        """A slot for a new version; it counts for the owner of the file."""
        file = campus.library.readable(user, file_id, write=True)
        upload = campus.uploads.begin(
            user,
            filename=file.filename,
            size=body.file_size,
            content_type=body.content_type,
            checksum=body.checksum,
            owner_id=file.user_id,
            file_id=file_id,
        )
        return upload_view(campus.uploads.status(upload))

    @api.get("/files/{file_id}/versions/{number}/content")
    def get_version(request: Request, user: Me, file_id: str, number: int) -> Response:
        _, share = campus.library.reached(user, file_id, write=True)
        file, version = campus.versions.readable(user, file_id, number)
        file = file.model_copy(update=current(version))

        def read(start: int, end: int | None) -> ObjectStream:
            campus.library.fetched(file, user, share)
            return campus.library.open(file, start, end)

        return _content(request, campus, file, read)

    @api.post("/files/{file_id}/versions/{number}:restore", response_model_exclude_none=True)
    def restore_version(
        user: Me, file_id: str, number: int, response: Response, version: VersionRead = None
    ) -> FileView:
        """Make a previous version the current one."""
        return marked(response, file_view(campus.versions.restore(user, file_id, number, version)))


# --- folders ---


def _add_folders(api: APIRouter, campus: Campus, pace: list[Any]) -> None:
    def view(folder: Folder) -> FolderView:
        return view_of(FolderView, folder)

    @api.get("/folders", response_model_exclude_none=True)
    def list_folders(user: Me) -> Page[FolderView]:
        """All your folders; `parentId` makes the tree."""
        return listed(map(view, campus.folders.tree(user.user_id).by_id.values()))

    @api.post("/folders", status_code=201, response_model_exclude_none=True, dependencies=pace)
    def create_folder(user: Me, body: FolderBody, response: Response) -> FolderView:
        return marked(response, view(campus.folders.create(user, body.name, body.parent_id)))

    @api.patch("/folders/{folder_id}", response_model_exclude_none=True, dependencies=pace)
    def change_folder(
        user: Me, folder_id: str, body: FolderChange, response: Response, version: VersionRead = None
    ) -> FolderView:
        """Rename a folder, or move it (`parentId`, null for the top)."""
        campus.folders.of(user, folder_id)
        return marked(response, view(campus.folders.change(user, folder_id, version, **body.changes())))

    @api.delete("/folders/{folder_id}")
    def delete_folder(user: Me, folder_id: str) -> dict[str, int]:
        """Delete a folder with those in it; their files go to the trash."""
        campus.folders.of(user, folder_id)
        return {"trashed": campus.library.trash_folder(user, folder_id)}


# --- quarantine ---


def _add_quarantine(api: APIRouter, campus: Campus) -> None:
    @api.get("/admin/quarantine", response_model_exclude_none=True, tags=["admin"])
    def list_quarantine(by: Admin) -> Page[FileView]:
        return listed(map(file_view, campus.scans.quarantine()))

    @api.get("/admin/quarantine/{file_id}/content", tags=["admin"])
    def review_content(request: Request, by: Admin, file_id: str) -> Response:
        """The bytes of a quarantined file, to review it; recorded."""
        return _content(request, campus, campus.scans.reviewed(by, file_id))

    @api.post("/admin/quarantine/{file_id}:release", response_model_exclude_none=True, tags=["admin"])
    def release(by: Admin, file_id: str, body: Review) -> FileView:
        """A false alarm: the file can be used again."""
        return file_view(campus.scans.release(by, file_id, body.reason))

    @api.post("/admin/quarantine/{file_id}:delete", response_model_exclude_none=True, tags=["admin"])
    def discard(by: Admin, file_id: str, body: Review) -> FileView:
        """Move a quarantined file to its owner's trash, for good."""
        return file_view(campus.scans.discard(by, file_id, body.reason))

    @api.get("/admin/quarantine/versions", response_model_exclude_none=True, tags=["admin"])
    def list_versions_in_review(by: Admin) -> Page[InfectedVersion]:
        """Infected versions of files that have other bytes, newest first."""
        return listed(view_of(InfectedVersion, one) for one in campus.scans.versions_in_review())

    @api.get("/admin/quarantine/{file_id}/versions/{number}/content", tags=["admin"])
    def review_version(request: Request, by: Admin, file_id: str, number: int) -> Response:
        """The bytes of an infected version, to review it; recorded."""
        file, version = campus.scans.reviewed_version(by, file_id, number)
        return _content(request, campus, file.model_copy(update=current(version)))

    @api.post("/admin/quarantine/{file_id}/versions/{number}:release", tags=["admin"])
    def release_version(by: Admin, file_id: str, number: int, body: Review) -> VersionView:
        """A false alarm: the version can be restored again."""
        decided = campus.scans.decide_version(by, file_id, number, body.reason, is_clean=True)
        return view_of(VersionView, decided)

    @api.post("/admin/quarantine/{file_id}/versions/{number}:delete", tags=["admin"])
    def discard_version(by: Admin, file_id: str, number: int, body: Review) -> VersionView:
        """The version stays locked for good, and leaves the list."""
        decided = campus.scans.decide_version(by, file_id, number, body.reason, is_clean=False)
        return view_of(VersionView, decided)
