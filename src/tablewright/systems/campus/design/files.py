"""Files, their versions, folders and uploads (A.1, CC-X27)."""

from datetime import datetime, timedelta
from typing import Literal

from tablewright.design import Data, Expires, Keys, Load, Retention, States, begins, between
from tablewright.systems.campus.design.base import CAMPUS
from tablewright.systems.campus.model import File, FileKey, FileStatus, FileVersion, Folder, Upload

__all__ = [
    "FILE_STATES",
    "file_by_id",
    "file_id_index",
    "file_status_index",
    "file_versions",
    "files",
    "files_by_status",
    "files_in_place",
    "files_of_owner",
    "files_of_user",
    "files_table",
    "folder_id_index",
    "folders",
    "folders_by_id",
    "folders_of_user",
    "library_table",
    "place_index",
    "purge_index",
    "purgeable_files",
    "review_index",
    "upload_id_index",
    "uploaded_index",
    "uploads",
    "uploads_of_user",
    "versions_in_review",
    "versions_of_file",
]

FILE_STATES = States(
    "status",
    start="active",
    moves={
        "active": {"deleted": ("user", "admin", "system"), "quarantined": ("system", "admin")},
        "deleted": {"active": ("user", "admin"), "quarantined": ("system", "admin")},
        "quarantined": {"active": ("admin", "system"), "deleted": ("admin", "system")},
    },
)
files_table = CAMPUS.table(
    "campus-cloud-files",
    pk="userId",
    sk="fileId",
    stream="NEW_AND_OLD_IMAGES",
    about="Files by owner.",
)
file_id_index = files_table.gsi("FileIdIndex", pk="fileId")
file_status_index = files_table.gsi("StatusIndex", pk="statusShard", sk="uploadedAt")
uploaded_index = files_table.gsi("UserUploadedIndex", pk="userId", sk="uploadedAt")
place_index = files_table.gsi("PlaceIndex", pk="place", sk="uploadedAt")
purge_index = files_table.gsi("PurgeIndex", pk="purgeDay", sk="deletedAt", project="KEYS_ONLY")
library_table = CAMPUS.table(
    "campus-cloud-library",
    pk="PK",
    sk="SK",
    ttl="ttl",
    about="Versions of files, folders, uploads that have begun, and public links.",
)
folder_id_index = library_table.gsi("FolderIdIndex", pk="folderKey")
# Sparse: only versions that wait for an admin.
review_index = library_table.gsi("ReviewIndex", pk="reviewKey", sk="reviewAt")
upload_id_index = library_table.gsi("UploadsIndex", pk="uploadsOf", sk="uploadsAt")


def file_key(user_id: str, file_id: str) -> None: ...
def version_key(file_id: str, version_number: int) -> None: ...
def folder_key(user_id: str, folder_id: str) -> None: ...
def upload_key(upload_id: str) -> None: ...


files = files_table.entity(
    File,
    file_key,
    tag="file",
    pk="{user_id}",
    sk="{file_id}",
    on={
        file_id_index: Keys("{file_id}"),
        file_status_index: Keys("{status}#{file_id:shard.8}", "{uploaded_at}"),
        uploaded_index: Keys("{user_id}", "{uploaded_at}"),
        place_index: Keys("{place}", "{uploaded_at}"),
        purge_index: Keys("{deleted_at:day}", "{deleted_at}"),
    },
    version="version",
    states=FILE_STATES,
    data={
        "filename": Data.PERSONAL,
        "description": Data.PERSONAL,
        "tags": Data.PERSONAL,
        "metadata": Data.PERSONAL,
        "uploaded_by": Data.PERSONAL,
    },
    retention=Retention(None, "while its owner keeps it; 30 days after it was deleted"),
    load={
        "create": Load(per_month=200_000, item_bytes=900, transaction=True, indexes=("FileIdIndex",)),
        "change": Load(per_month=800_000, item_bytes=900),
        "update": Load(per_month=1_000_000, item_bytes=900, changes=("download_count",)),
    },
)
file_versions = library_table.entity(
    FileVersion,
    version_key,
    tag="file_version",
    pk="FILE#{file_id}",
    sk="VERSION#{version_number:6}",
    on={review_index: Keys("{in_review}", "{created_at:ms}#{version_id}")},
    data={"created_by": Data.PERSONAL},
    retention=Retention(None, "with its file"),
    load={"create": Load(per_month=220_000, item_bytes=400, transaction=True)},
)
folders = library_table.entity(
    Folder,
    folder_key,
    tag="folder",
    pk="FOLDERS#{user_id}",
    sk="FOLDER#{folder_id}",
    on={folder_id_index: Keys("{folder_id}")},
    version="version",
    data={"name": Data.PERSONAL},
    retention=Retention(None, "while its owner keeps it"),
    load={"create": Load(per_month=5_000, item_bytes=250), "change": Load(per_month=2_000, item_bytes=250)},
)
uploads = library_table.entity(
    Upload,
    upload_key,
    tag="upload",
    pk="UPLOAD#{upload_id}",
    sk="UPLOAD",
    on={upload_id_index: Keys("{owner_id}", "{created_at:ms}#{upload_id}")},
    version="version",
    # A day longer than the upload itself: what it reserved has to be given back first.
    expires=Expires("expires_at", timedelta(days=30)),
    data={"filename": Data.PERSONAL},
    retention=Retention(timedelta(days=31), "until the upload is complete or has been given up"),
    load={
        "create": Load(per_month=220_000, item_bytes=600, transaction=True),
        "delete": Load(per_month=220_000),
    },
)


# --- access patterns ---


@CAMPUS.query(
    files, on=uploaded_index, pk="{user_id}", sk=between("{since}", "{until}"), descending=True, page=20, at_most=100,
    load=Load(per_month=3_000_000, items=20, item_bytes=900),
)  # fmt: skip
def files_of_user(*, user_id: str, since: datetime | None = None, until: datetime | None = None) -> None:
    """A user's files, newest first; uploads that are not complete have no `uploadedAt` and are not in it (CC-D1)."""


@CAMPUS.query(
    files, pk="{user_id}", page=100, consistent=True, load=Load(per_month=3_000, items=100, item_bytes=900)
)
def files_of_owner(*, user_id: str) -> None:
    """All files of a user by their ids, also those in the trash and those that are not complete (CC-5): to recount."""


@CAMPUS.query(
    files, on=place_index, pk="{place}", descending=True, page=20, at_most=100,
    load=Load(per_month=2_000_000, items=20, item_bytes=900),
)  # fmt: skip
def files_in_place(*, place: str) -> None:
    """The files of a folder, of a user's top or of a user's trash, newest first (CC-X27, CC-X5)."""


@CAMPUS.query(files, on=file_id_index, pk="{file_id}", page=1, load=Load(per_month=2_000_000, item_bytes=900))
def file_by_id(*, file_id: str) -> None:
    """The owner of a file; decisions rest on a consistent read of the file itself (CC-D2)."""


@CAMPUS.query(
    files, on=file_status_index, pk="{status}#{file_id:shard.8}", descending=True, page=50, at_most=200,
    roles=("admin",), load=Load(per_month=2_000, items=50, item_bytes=900),
)  # fmt: skip
def files_by_status(*, status: FileStatus) -> None:
    """All files of a status, newest first, merged from eight shards (CC-D3)."""


@CAMPUS.query(
    files.view(FileKey), on=purge_index, pk="{day:day}", sk=between("{since}", "{until}"), page=100,
    load=Load(per_month=3_000, items=20, item_bytes=120),
)  # fmt: skip
def purgeable_files(*, day: datetime, since: datetime | None = None, until: datetime | None = None) -> None:
    """Files that were deleted on a day, oldest first (CC-D4)."""


@CAMPUS.query(
    file_versions, pk="FILE#{file_id}", sk=begins("VERSION#"), descending=True, page=50, consistent=True,
    load=Load(per_month=20_000, items=3, item_bytes=400),
)  # fmt: skip
def versions_of_file(*, file_id: str) -> None:
    """The versions of a file, newest first."""


@CAMPUS.query(
    file_versions, on=review_index, pk="{in_review}", descending=True, page=50, roles=("admin",),
    load=Load(per_month=2_000, items=5, item_bytes=400),
)  # fmt: skip
def versions_in_review(*, in_review: Literal["QUARANTINE"]) -> None:
    """Infected versions of files that have other bytes, newest first: for admins to decide."""


@CAMPUS.query(
    folders, pk="FOLDERS#{user_id}", sk=begins("FOLDER#"), page=500, consistent=True,
    load=Load(per_month=1_000_000, items=15, item_bytes=250),
)  # fmt: skip
def folders_of_user(*, user_id: str) -> None:
    """All folders of a user, with the top: few enough to be read whole."""


@CAMPUS.query(
    folders, on=folder_id_index, pk="{folder_id}", page=1, load=Load(per_month=200_000, item_bytes=250)
)
def folders_by_id(*, folder_id: str) -> None:
    """The owner of a folder."""


@CAMPUS.query(
    uploads, on=upload_id_index, pk="{owner_id}", descending=True, page=50,
    load=Load(per_month=50_000, items=2, item_bytes=600),
)  # fmt: skip
def uploads_of_user(*, owner_id: str) -> None:
    """Uploads that have begun, newest first: to resume them, and to recount what they reserve."""
