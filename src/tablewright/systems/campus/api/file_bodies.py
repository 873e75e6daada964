"""Bodies and views of files, uploads, versions and folders."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints

from tablewright.kit.http import Body, Page, listed, view_of
from tablewright.systems.campus.files.signed_parts import AT_ONCE, SignedPart
from tablewright.systems.campus.files.uploads import UploadStatus
from tablewright.systems.campus.model import File, FileStatus, ScanStatus, Value

MediaType = Annotated[str, StringConstraints(pattern=r"^[\w.+-]+/[\w.+*-]+$", max_length=127)]
Size = Annotated[int, Field(ge=0, strict=True)]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class NewVersion(Body):
    file_size: Size
    content_type: MediaType = "application/octet-stream"
    checksum: str | None = None


class NewFile(NewVersion):
    filename: str
    folder_id: str | None = None
    # The limits of this assignment apply.
    assignment_id: str | None = None


class UploadComplete(Body):
    checksum: str | None = None


class Complete(UploadComplete):
    upload_id: str


class PartToSign(Body):
    """A part with its SHA-256, as hexadecimal digits."""

    number: Annotated[int, Field(strict=True)]
    checksum: str


class PartsToSign(Body):
    parts: Annotated[list[PartToSign], Field(min_length=1, max_length=AT_ONCE)]

    def checksums(self) -> dict[int, str]:
        return {part.number: part.checksum for part in self.parts}


class FileChange(Body):
    filename: str = ""
    folder_id: str | None = None
    description: str | None = None
    tags: list[str] = Field(default_factory=list)
    # What programs note about a file: texts by name.
    metadata: dict[Annotated[str, StringConstraints(min_length=1, max_length=100)], str] = Field(
        default_factory=dict
    )


class FolderBody(Body):
    name: str
    parent_id: str | None = None


class FolderChange(Body):
    name: str = ""
    parent_id: str | None = None


class Review(Body):
    reason: Reason


class UploadView(Value):
    """A slot: `parts` are the numbers of those that have arrived, `digests` their SHA-256 where it is known.

    `direct`: parts can be sent straight to the store, by the requests that `parts:sign` returns.
    """

    upload_id: str
    file_id: str
    filename: str
    file_size: int
    part_size: int
    part_count: int
    parts: list[int]
    digests: dict[int, str]
    direct: bool
    expires_at: datetime


class SignedPartView(Value):
    """A request that stores one part without a login; the headers must be sent as they are."""

    number: int
    method: str
    url: str
    headers: dict[str, str]
    expires_at: datetime


class FileView(Value):
    """A file as its users see it; where its bytes are is not theirs to know."""

    file_id: str
    user_id: str
    filename: str
    file_size: int
    content_type: str
    status: FileStatus
    uploaded_at: datetime | None
    last_modified: datetime
    checksum: str | None
    version_number: int
    description: str | None
    tags: list[str]
    metadata: dict[str, JsonValue]
    download_count: int
    is_public: bool
    deleted_at: datetime | None
    virus_scan_status: ScanStatus
    virus_scan_date: datetime | None
    folder_id: str | None
    uploaded_by: str | None
    is_held: bool
    version: int


class VersionView(Value):
    version_number: int
    file_size: int
    checksum: str
    content_type: str
    created_at: datetime
    created_by: str
    virus_scan_status: ScanStatus


class InfectedVersion(VersionView):
    """A version that an admin reviews."""

    file_id: str
    user_id: str
    virus_signature: str | None


class FolderView(Value):
    folder_id: str
    parent_id: str | None
    name: str
    created_at: datetime
    version: int


class DownloadLink(Value):
    """A request for the bytes that needs no login."""

    method: str
    url: str
    headers: dict[str, str]


def file_view(file: File, public: Collection[str] = ()) -> FileView:
    """A file; `public` are the files that a link opens, which is not stored: links end at their time."""
    return view_of(FileView, file, is_held=bool(file.held_by), is_public=file.file_id in public)


def upload_view(status: UploadStatus) -> UploadView:
    return view_of(
        UploadView,
        status.upload,
        part_size=status.part_size,
        part_count=status.part_count,
        parts=sorted(status.parts),
        digests=status.digests,
        direct=status.is_direct,
    )


def signed_views(signed: Iterable[SignedPart]) -> Page[SignedPartView]:
    return listed(
        SignedPartView(
            number=part.number,
            method=part.request.method,
            url=part.request.url,
            headers=dict(part.request.headers),
            expires_at=part.expires_at,
        )
        for part in signed
    )
