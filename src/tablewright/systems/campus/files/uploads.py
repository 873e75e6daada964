"""Uploads: a slot with its quota, parts, and the moment when a file becomes visible (CC-X2).

    upload = uploads.begin(user, filename="thesis.pdf", size=..., content_type="application/pdf")
    uploads.put_part(upload, 1, chunks)         # in any order, any number of times; or straight to the bucket, `sign`
    file = uploads.complete(upload.upload_id)   # checksum, size and content are checked here

Bytes come first, under a name that says nothing of its owner (`files/{fileId}/{versionId}`, CC-D43). Then one
transaction makes the file visible, moves the reserved bytes to the used ones and adds the scan.
Must hold: a crash at any point leaves either an upload that can go on and expires, or a complete file; bytes without an
owner are swept (purge.py). Limits of an assignment are checked when an upload begins, and against the real bytes when
it is completed (CC-D39). Who sends bytes into another's file or folder must be allowed to write with each part, and in
the transaction that makes them visible; else the upload is given up (CC-S3). A slot expires after a day, one of a
visitor after two hours without a part: a task gives its quota back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from tablewright.design import Write
from tablewright.edge.errors import BadRequest, Conflict, Forbidden, NotFound
from tablewright.english import size as in_words
from tablewright.kit.objects.store import (
    MAX_SIZE,
    PART_SIZE,
    ContentUnexpected,
    ObjectMissing,
    ObjectStore,
    PartsMissing,
    PartUnusable,
    UploadUnknown,
    sizes_of_parts,
)
from tablewright.kit.objects.store import Upload as ObjectUpload
from tablewright.kit.tasks import Finished, Postponed
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, Stale
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import Gone, TooLarge
from tablewright.systems.campus.files import quota
from tablewright.systems.campus.files.names import actor_of, checked_checksum, checked_name
from tablewright.systems.campus.files.signed_parts import SignedPart, refuse_number, signed_parts
from tablewright.systems.campus.files.slots import (
    exactly,
    parts_of,
    pending_file,
    refuse_announced,
    refuse_for,
    refuse_new_version,
    with_version,
)
from tablewright.systems.campus.files.sniff import HEAD_BYTES, sniff
from tablewright.systems.campus.model import File, FileVersion, Share, Task, Upload, User
from tablewright.systems.campus.people.notifications import Notifier
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.settings import Settings
from tablewright.systems.campus.sharing.access_check import FileAccess

LIFETIME = timedelta(hours=24)
# Of a slot that a visitor began through a link: without a part that arrives.
VISITOR_LIFETIME = timedelta(hours=2)
_PROLONGED_EVERY = timedelta(minutes=15)
SCAN, EXPIRY = "scan", "upload"
Purpose = Literal["file", "version", "drop", "submission", "feedback"]
_RACES = (ConditionNotMet, Stale, Missing, AlreadyExists)


@dataclass(frozen=True, slots=True)
class UploadStatus:
    """How far an upload is: the sizes of the parts that have arrived, by number, and their SHA-256 if it is known.

    `is_direct`: parts can be sent straight to the bucket.
    """

    upload: Upload
    part_size: int
    part_count: int
    parts: dict[int, int]
    digests: dict[int, str]
    is_direct: bool

    @property
    def missing(self) -> list[int]:
        return [number for number in range(1, self.part_count + 1) if number not in self.parts]


class Uploads:
    """The uploads of a campus."""

    def __init__(
        self,
        repository: Repository,
        objects: ObjectStore,
        access: FileAccess,
        notifier: Notifier,
        settings: Settings,
    ) -> None:
        self._repository, self._objects, self._access = repository, objects, access
        self._notifier, self._settings = notifier, settings

    # --- a slot ---

    def begin(
        self,
        uploader: User,
        *,
        filename: str,
        size: int,
        content_type: str,
        checksum: str | None = None,
        folder_id: str | None = None,
        owner_id: str | None = None,
        file_id: str | None = None,
        purpose: Purpose = "file",
        assignment_id: str | None = None,
        link_id: str | None = None,
    ) -> Upload:
        """A slot, with its bytes reserved; QUOTA_EXCEEDED, FILE_TOO_LARGE, TYPE_NOT_ALLOWED, INVALID_NAME.

        `owner_id` is whose quota it is; `file_id` makes it a new version. The caller has checked that both are allowed.
        """
        repository, now = self._repository, self._repository.now()
        self._refuse_size(size)
        if assignment_id is not None:
            refuse_announced(repository.assignment(assignment_id), size, content_type, filename)
        new_id = file_id or repository.new_uuid()
        digits = None if checksum is None else checked_checksum(checksum)
        name = f"files/{new_id}/{repository.new_uuid()}"
        upload = Upload(
            upload_id=repository.new_uuid(),
            file_id=new_id,
            owner_id=owner_id or uploader.user_id,
            uploader_id=uploader.user_id,
            filename=checked_name(filename),
            file_size=size,
            content_type=content_type,
            checksum=digits and f"sha256:{digits}",
            folder_id=folder_id,
            object_name=name,
            object_upload=self._objects.begin(name).id,
            purpose="version" if file_id else purpose,
            assignment_id=assignment_id,
            link_id=link_id,
            created_at=now,
            expires_at=now + (LIFETIME if link_id is None else VISITOR_LIFETIME),
        )
        try:
            self._grant(upload)
        except BaseException:
            self._objects.abort(_object_upload(upload))
            raise
        return upload

    def _grant(self, upload: Upload) -> None:
        writes: list[Write[Any]] = [d.uploads.create(upload), d.tasks.add(_expiry(upload))]
        if upload.purpose == "version":
            writes.append(d.files.check(upload.owner_id, upload.file_id))
        else:
            writes.append(d.files.create(pending_file(upload, self._objects.bucket)))
        if upload.folder_id is not None:
            writes.append(d.folders.check(upload.owner_id, upload.folder_id))

        def attempt() -> None:
            owner = self._repository.user(upload.owner_id)
            reserve = quota.reservation if upload.link_id is None else quota.visitor_reservation
            self._repository.db.write(reserve(owner, upload.file_size), *writes)

        try:
            self._repository.retried(None, attempt, on=ConditionNotMet)
        except Missing as missing:
            raise NotFound(missing.entity) from None

    def _refuse_size(self, size: int) -> None:
        most = min(self._settings.largest_file, MAX_SIZE)
        if not 0 <= size <= most:
            facts = {"size": size, "most": most}
            raise TooLarge("FILE_TOO_LARGE", f"A file has at most {in_words(most)}.", "fileSize", facts)

    # --- parts ---

    def put_part(
        self, upload: Upload, number: int, chunks: Iterable[bytes], expect_sha256: str | None = None
    ) -> None:
        """Store a part; sending it again is harmless. CHECKSUM_MISMATCH, INVALID_PART, UPLOAD_EXPIRED."""
        self._refuse_expired(upload)
        sizes = sizes_of_parts(upload.file_size)
        refuse_number(number, len(sizes))
        try:
            exact = exactly(chunks, sizes[number - 1], number)
            self._objects.put_part(_object_upload(upload), number, exact, expect_sha256=expect_sha256)
        except ContentUnexpected:
            words = f"Part {number} does not have the checksum that was sent with it. Send it again."
            raise BadRequest("CHECKSUM_MISMATCH", words, "checksum") from None
        except PartUnusable as mistake:
            raise BadRequest("INVALID_PART", f"{str(mistake).capitalize()}.", "number") from None
        except UploadUnknown:
            raise _expired() from None
        self._prolong(upload)

    def sign(
        self, upload: Upload, checksums: Mapping[int, str], until: datetime | None = None
    ) -> list[SignedPart]:
        """Requests that send parts straight to the bucket, by their SHA-256; PARTS_NOT_SIGNED for a directory."""
        self._refuse_expired(upload)
        try:
            signed = list(signed_parts(self._objects, upload, checksums, self._repository.now(), until))
        except UploadUnknown:
            raise _expired() from None
        self._prolong(upload)
        return signed

    def _prolong(self, upload: Upload) -> None:
        """A part of a visitor has arrived, or is on its way: the slot stays, not longer than that of a user."""
        until = min(self._repository.now() + VISITOR_LIFETIME, upload.created_at + LIFETIME)
        if upload.link_id is not None and until - upload.expires_at >= _PROLONGED_EVERY:
            # Given up at this moment, it is gone; prolonged by another part, that is enough.
            self._repository.try_write(
                d.uploads.change(upload, upload.model_copy(update={"expires_at": until}))
            )

    def status(self, upload: Upload) -> UploadStatus:
        """Which parts have arrived."""
        self._refuse_expired(upload)
        try:
            found = list(self._objects.parts(_object_upload(upload)))
        except UploadUnknown:
            raise _expired() from None
        return UploadStatus(
            upload,
            PART_SIZE,
            len(sizes_of_parts(upload.file_size)),
            {part.number: part.size for part in found},
            {part.number: part.sha256 for part in found if part.sha256 is not None},
            self._objects.origin is not None,
        )

    def of(self, user: User, upload_id: str) -> Upload:
        """An upload that a user began."""
        upload = self._repository.upload(upload_id)
        if upload.uploader_id != user.user_id:
            raise NotFound("upload")
        return upload

    def writable(self, user: User, upload_id: str) -> Upload:
        """The same, if its uploader may still write there; else it is given up, and 403 as for any other write."""
        upload = self.of(user, upload_id)
        self._allowed(upload)
        return upload

    def _allowed(self, upload: Upload) -> list[Write[Share]]:
        """What a transaction must find unchanged: the share for writing, of an upload into what another user owns."""
        if upload.uploader_id == upload.owner_id:  # through a link too: its owner is the uploader
            return []
        by = self._repository.user(upload.uploader_id)
        file = self._repository.file_of(upload.owner_id, upload.file_id)
        try:
            share = self._access.share_of(by, file, write=True)
        except Forbidden:
            self.abandon(upload.upload_id)
            raise
        assert share is not None  # None is for the owner
        same = d.shares.check(share.file_id, share.shared_with_user_id)
        return [same.when(lambda s: (s.status == "active") & (s.permissions == "write"))]

    def was_completed(self, upload_id: str) -> bool:
        """True if an upload is complete; its slot is gone then."""
        return self._repository.db.done(_receipt(upload_id), d.CAMPUS) is not None

    def begun(self, user: User) -> list[Upload]:
        """What a user began to upload and can go on with, newest first."""
        now = self._repository.now()
        found = self._repository.db.page(d.uploads_of_user(owner_id=user.user_id), reader=user.user_id).items
        own = (one for one in found if one.uploader_id == user.user_id and one.link_id is None)
        return [one for one in own if one.expires_at > now]

    def sent_to(self, owner: User) -> list[Upload]:
        """What visitors have begun to send through this user's links, newest first; the user can give it up."""
        now = self._repository.now()
        found = self._repository.db.all(d.uploads_of_user(owner_id=owner.user_id))
        return [one for one in found if one.link_id is not None and one.expires_at > now]

    def _refuse_expired(self, upload: Upload) -> None:
        if upload.expires_at <= self._repository.now():
            raise _expired()

    # --- the end of an upload ---

    def complete(self, upload_id: str, checksum: str | None = None) -> File:
        """Make the file visible; again, it returns the same file.

        PARTS_MISSING names what to send. CHECKSUM_MISMATCH, TYPE_NOT_ALLOWED and a share that has ended end the upload.
        """
        upload = self._repository.db.one(d.uploads.get(upload_id), consistent=True)
        if upload is None:  # given up, or complete: its receipt was written when the slot was deleted
            return self._completed(upload_id)
        self._refuse_expired(upload)
        self._allowed(upload)
        announced = checksum or upload.checksum
        digits = None if announced is None else checked_checksum(announced)
        stored = self._joined(upload, digits)
        content_type = self._type_of(upload)
        return self._repository.retried(None, lambda: self._finish(upload, stored, content_type), on=_RACES)

    def _completed(self, upload_id: str) -> File:
        """The file of an upload that is complete; UPLOAD_NOT_FOUND if it is not."""
        done = self._repository.db.done(_receipt(upload_id), d.CAMPUS)
        if done is None:
            raise NotFound("upload")
        return self._repository.file_of(done.result["userId"], done.result["fileId"])

    def _joined(self, upload: Upload, digits: str | None) -> str:
        """The checksum of the object, which is complete and as it was announced."""
        try:
            stored = self._objects.complete(_object_upload(upload), upload.file_size, expect_sha256=digits)
        except PartsMissing as missing:
            facts = {"parts": list(missing.numbers)}
            raise Conflict("PARTS_MISSING", f"{str(missing).capitalize()}.", "parts", facts) from None
        except ContentUnexpected:
            self.abandon(upload.upload_id)
            words = "The file that arrived does not have the checksum that was announced. Upload it again."
            raise BadRequest("CHECKSUM_MISMATCH", words, "checksum") from None
        except UploadUnknown:
            # Another call may be at it: in S3 an object has its final name a moment after its upload has ended.
            joined = lambda: self._joined_before(upload, digits)  # noqa: E731  # tried several times
            return self._repository.retried(None, joined, on=ObjectMissing, busy=_expired())
        return f"sha256:{stored.sha256}"

    def _joined_before(self, upload: Upload, digits: str | None) -> str:
        """The checksum of an object that another call has completed; ObjectMissing if it has not."""
        head = self._objects.head(upload.object_name)
        if head is None:
            raise ObjectMissing(upload.object_name)
        if head.sha256 is None or head.size != upload.file_size or digits not in (None, head.sha256):
            raise _expired()
        return f"sha256:{head.sha256}"

    def _type_of(self, upload: Upload) -> str:
        """What the bytes are; the limits of the assignment are checked against that."""
        try:
            with self._objects.read(upload.object_name, 0, min(HEAD_BYTES, upload.file_size)) as head:
                content_type = sniff(b"".join(head), upload.filename)
        except ObjectMissing:
            raise _expired() from None
        if upload.assignment_id is not None:
            try:
                refuse_for(self._repository.assignment(upload.assignment_id), upload.file_size, content_type)
            except (BadRequest, TooLarge):
                self.abandon(upload.upload_id)
                raise
        return content_type

    def _finish(self, upload: Upload, checksum: str, content_type: str) -> File:
        repository = self._repository
        current = repository.db.one(d.uploads.get(upload.upload_id), consistent=True)
        if current is None:
            return self._finished_before(upload)
        before = repository.file_of(upload.owner_id, upload.file_id)
        if upload.purpose == "version":
            refuse_new_version(before)
        owner, by = repository.user(upload.owner_id), repository.user(upload.uploader_id)
        version = self._version(upload, checksum, content_type)
        folder = self._folder_of(upload)
        change = d.files.change(before, with_version(before, upload, version, folder))
        action = "version uploaded" if upload.purpose == "version" else "uploaded"
        result = {"userId": upload.owner_id, "fileId": upload.file_id}
        done = repository.db.write(
            change,
            d.file_versions.create(version),
            *self._allowed(upload),
            *([d.folders.check(upload.owner_id, folder)] if folder is not None else []),
            d.uploads.delete(current),  # as it is now: a part may have prolonged it
            d.tasks.cancel(_expiry(upload).task_id),
            d.tasks.add(self._scan(version)),
            *quota.used(owner, upload, self._notifier),
            repository.audit(
                f"file:{upload.file_id}", action, actor_of(by), {}, {"version": version.version_number}
            ),
            once=_receipt(upload.upload_id),
            result=result,
        )
        if done.repeated or change.item is None:
            return repository.file_of(upload.owner_id, upload.file_id)
        return change.item

    def _folder_of(self, upload: Upload) -> str | None:
        """The folder of a new file, if it was not deleted while the file was on its way."""
        if upload.folder_id is None or upload.purpose == "version":
            return None
        folder = self._repository.db.one(d.folders.get(upload.owner_id, upload.folder_id), consistent=True)
        return folder.folder_id if folder is not None else None

    def _finished_before(self, upload: Upload) -> File:
        """The file, if another call completed the upload; UPLOAD_EXPIRED if it was given up."""
        if self._repository.db.done(_receipt(upload.upload_id), d.CAMPUS) is None:
            raise _expired()
        return self._repository.file_of(upload.owner_id, upload.file_id)

    def _version(self, upload: Upload, checksum: str, content_type: str) -> FileVersion:
        newest = self._repository.db.first(d.versions_of_file(file_id=upload.file_id))
        return FileVersion(
            file_id=upload.file_id,
            version_number=newest.version_number + 1 if newest is not None else 1,
            version_id=upload.object_name.rpartition("/")[2],
            user_id=upload.owner_id,
            object_name=upload.object_name,
            file_size=upload.file_size,
            checksum=checksum,
            content_type=content_type,
            created_at=self._repository.now(),
            created_by=upload.uploader_id,
        )

    def _scan(self, version: FileVersion) -> Task:
        now = self._repository.now()
        about = f"{version.user_id}/{version.file_id}/{version.version_number}"
        return Task(task_id=self._repository.new_uuid(), kind=SCAN, created_at=now, due_at=now, about=about)

    def abandon(self, upload_id: str) -> None:
        """Give an upload up: its quota is free at once, its bytes are removed. Nothing happens if it is complete."""
        upload = self._repository.db.one(d.uploads.get(upload_id), consistent=True)
        if upload is None:
            return
        if self._repository.try_write(*_given_up(upload), d.tasks.cancel(_expiry(upload).task_id)):
            self._remove_bytes(upload)

    def expire(self, task: Task) -> Finished | Postponed:
        """The task of an upload whose time is over."""
        upload = self._repository.db.one(d.uploads.get(task.about), consistent=True)
        if upload is None:
            return Finished()
        if upload.expires_at > self._repository.now():
            return Postponed(upload.expires_at)
        self._objects.abort(_object_upload(upload))  # nothing can be added from here on
        return Finished(tuple(_given_up(upload)))

    def _remove_bytes(self, upload: Upload) -> None:
        """After the slot is gone: no `complete` can succeed any more."""
        self._objects.abort(_object_upload(upload))
        self._objects.remove(upload.object_name)

    # --- whole bodies ---

    def store_whole(
        self,
        uploader: User,
        filename: str,
        chunks: Iterable[bytes],
        size: int,
        *,
        content_type: str = "application/octet-stream",
        **slot: Any,
    ) -> File:
        """Store a file whose bytes are at hand; `slot` is what `begin` takes besides."""
        upload = self.begin(uploader, filename=filename, size=size, content_type=content_type, **slot)
        try:
            for number, part in enumerate(parts_of(chunks), 1):
                self.put_part(upload, number, [part])
            return self.complete(upload.upload_id)
        except BaseException:
            self.abandon(upload.upload_id)
            raise


# --- parts ---


def _object_upload(upload: Upload) -> ObjectUpload:
    return ObjectUpload(upload.object_name, upload.object_upload)


def _receipt(upload_id: str) -> str:
    return f"upload:{upload_id}"


def _expiry(upload: Upload) -> Task:
    return Task(
        task_id=f"upload-{upload.upload_id}",
        kind=EXPIRY,
        created_at=upload.created_at,
        due_at=upload.expires_at,
        about=upload.upload_id,
    )


def _given_up(upload: Upload) -> list[Write[Any]]:
    writes: list[Write[Any]] = [d.uploads.delete(upload), quota.release(upload)]
    if upload.purpose != "version":
        pending = d.files.discard(upload.owner_id, upload.file_id).when(lambda f: f.upload_state == "pending")
        writes.append(pending)
    return writes


def _expired() -> Gone:
    return Gone("UPLOAD_EXPIRED", "This upload has expired or was cancelled. Begin it again.")
