"""Objects in a bucket of S3, under a prefix of their own (CC-E1).

Every request carries checksums that S3 verifies. An upload in parts is assembled as `.uploads/{id}/{name}`, read back
once for the checksum of the whole, which S3 does not compute, and then copied by S3 to its name with that checksum: the
price is one read of the object and one copy inside S3 (no transfer is charged within a region). Until the copy the
object is not visible; the copy is atomic. A write of more than one part has its checksum while it is sent and needs
neither; `head` knows it only if it was announced.
Must hold: `remove` deletes every version, so a purge is one in a bucket with versions too; it needs the permissions
s3:ListBucketVersions and s3:DeleteObjectVersion. Times and the expiry of links are by S3's clock, not by the World's.
Elsewhere: the connection and its errors (engine/transfer/buckets.py), which bucket it is (settings.py).
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import sha256 as new_sha256
from typing import Any
from urllib.parse import urlsplit

from tablewright.edge.downloads import disposition
from tablewright.engine.transfer.buckets import BucketUnusable, S3Connection
from tablewright.kit.objects.store import (
    CHUNK,
    PART_SIZE,
    ContentUnexpected,
    Entry,
    Head,
    ObjectCold,
    ObjectMissing,
    ObjectStore,
    ObjectStream,
    Part,
    RangeUnusable,
    SignedRequest,
    Stored,
    Upload,
    UploadUnknown,
    checked,
    checked_folder,
    part_content,
    refuse_incomplete,
    refuse_unexpected,
)
from tablewright.world import World

UPLOADS = ".uploads"
PAGE = 1000
COLD = "GLACIER"
# S3 copies up to 5 GB in one request; larger objects in pieces.
_COPY_BYTES = 4 * 1024**3
_A_SECOND = timedelta(seconds=1)
_ABSENT = frozenset(("S3NoSuchKey", "S3404", "S3NotFound"))
# An object has the name, or another request is giving it one at this moment.
_TAKEN = frozenset(("S3PreconditionFailed", "S3ConditionalRequestConflict"))
_NO_UPLOAD = "S3NoSuchUpload"
_UPLOAD_KEY = re.compile(r"\.uploads/([^/]+)/(.+)")


class S3Objects(ObjectStore):
    """Objects of a bucket."""

    def __init__(self, connection: S3Connection, bucket: str, prefix: str, world: World) -> None:
        self._s3, self._errors = connection.client, connection.as_bucket_error
        self._bucket, self._prefix, self._world = bucket, prefix, world

    # --- whole objects ---

    def put(self, name: str, content: bytes) -> None:
        self.write(name, [content])

    def put_new(self, name: str, content: bytes) -> bool:
        options = {**self._at(checked(name)), "IfNoneMatch": "*"}
        try:
            self._put(content, options, {"sha256": new_sha256(content).hexdigest()})
        except BucketUnusable as refused:
            if refused.code not in _TAKEN:
                raise
            return False
        return True

    def write(
        self,
        name: str,
        chunks: Iterable[bytes],
        *,
        expect_size: int | None = None,
        expect_sha256: str | None = None,
        cold: bool = False,
    ) -> Stored:
        options: dict[str, Any] = self._at(checked(name)) | ({"StorageClass": COLD} if cold else {})
        whole, size, parts, upload = new_sha256(), 0, list[dict[str, Any]](), ""
        try:
            for content, is_last in _parts_of(chunks):
                whole.update(content)
                size += len(content)
                if is_last:
                    refuse_unexpected("size", expect_size, size)
                    refuse_unexpected("sha256", expect_sha256, whole.hexdigest())
                if is_last and not parts:
                    self._put(content, options, {"sha256": whole.hexdigest()})
                    return Stored(size, whole.hexdigest())
                upload = upload or self._create(options, _sums(expect_sha256))
                parts.append(self._put_part(options["Key"], upload, len(parts) + 1, content))
            self._complete(options["Key"], upload, parts)
        except BaseException:
            if upload:
                with suppress(BucketUnusable):  # the first error counts; the sweep deletes the parts
                    self._abort(options["Key"], upload)
            raise
        return Stored(size, whole.hexdigest())

    def read(self, name: str, start: int = 0, end: int | None = None) -> ObjectStream:
        if start == 0 and end is None:
            return self._stream(name, {}, 0)
        if start >= 0 and (end is None or end > start):
            last = "" if end is None else str(end - 1)
            try:
                return self._stream(name, {"Range": f"bytes={start}-{last}"}, start)
            except BucketUnusable as trouble:
                if trouble.code != "S3InvalidRange":
                    raise
        head = self.head(name)
        if head is None:
            raise ObjectMissing(name)
        if not 0 <= start <= head.size or (end is not None and end < start):
            raise RangeUnusable(name, start, end, head.size)
        return ObjectStream(head.size, start, start, iter(()), lambda: None)

    def head(self, name: str) -> Head | None:
        found = self._head(self._key(name))
        return None if found is None else _head_of(found)

    def remove(self, name: str) -> None:
        self._remove(self._key(name))

    def entries(self, prefix: str) -> Iterator[Entry]:
        folder = checked_folder(prefix)
        for found in self._pages("list_objects_v2", "Contents", f"{self._prefix}{folder}"):
            name = found["Key"].removeprefix(self._prefix)
            if not name.startswith("."):
                yield Entry(name, found["Size"], found["LastModified"])

    def copy(self, name: str, to: str) -> None:
        found = self._head(self._key(name))
        if found is None:
            raise ObjectMissing(name)
        self._copy(self._key(name), self._key(to), _sums(_head_of(found).sha256))

    def restore(self, name: str, days: int = 7) -> bool:
        found = self._head(self._key(name))
        if found is None:
            raise ObjectMissing(name)
        state = found.get("Restore", "")
        if found.get("StorageClass") != COLD or 'ongoing-request="false"' in state:
            return True
        if not state:
            with self._errors():
                self._s3.restore_object(
                    **self._at(name),
                    RestoreRequest={"Days": days, "GlacierJobParameters": {"Tier": "Standard"}},
                )
        return False

    # --- uploads: the id is our own one and that of S3, `own:s3` ---

    def begin(self, name: str) -> Upload:
        own = self._world.new_id()
        key = f"{self._prefix}{UPLOADS}/{own}/{checked(name)}"
        return Upload(name, f"{own}:{self._create({'Bucket': self._bucket, 'Key': key}, {})}")

    def put_part(
        self, upload: Upload, number: int, chunks: Iterable[bytes], *, expect_sha256: str | None = None
    ) -> Part:
        content, part = part_content(number, chunks, expect_sha256)
        key, of_s3 = self._upload_at(upload)
        try:
            self._put_part(key, of_s3, number, content)
        except BucketUnusable as trouble:
            if trouble.code != _NO_UPLOAD:
                raise
            if self._completed(upload) is None and self._head(key) is None:
                raise UploadUnknown(upload) from None
        return part

    def parts(self, upload: Upload) -> Iterator[Part]:
        for part in self._listed(upload):
            checksum = part.get("ChecksumSHA256")
            yield Part(part["PartNumber"], part["Size"], b64decode(checksum).hex() if checksum else None)

    def complete(self, upload: Upload, size: int, *, expect_sha256: str | None = None) -> Stored:
        stored = self._completed(upload)
        if stored is None:
            try:
                stored = self._assemble(upload, size, expect_sha256)
            except UploadUnknown:  # unless another call has just completed it
                stored = self._completed(upload)
                if stored is None:
                    raise
        refuse_unexpected("size", size, stored.size)
        refuse_unexpected("sha256", expect_sha256, stored.sha256)
        return stored

    def abort(self, upload: Upload) -> None:
        key, of_s3 = self._upload_at(upload)
        self._abort(key, of_s3)
        self._remove(key)

    def remove_abandoned(self, before: datetime) -> Iterator[str]:
        for found in self._pages("list_multipart_uploads", "Uploads", self._prefix):
            if found["Initiated"] < before:
                self._abort(found["Key"], found["UploadId"])
                yield self._name_in(found["Key"])
        # Assembled, but not copied: the process ended in between.
        for found in self._pages("list_objects_v2", "Contents", f"{self._prefix}{UPLOADS}/"):
            if found["LastModified"] < before:
                self._remove(found["Key"])
                yield self._name_in(found["Key"])

    # --- links ---

    def sign_get(
        self,
        name: str,
        ttl: timedelta,
        *,
        filename: str,
        content_type: str = "application/octet-stream",
        inline: bool = False,
        subject: str = "",
    ) -> SignedRequest:
        response = {
            "ResponseContentDisposition": disposition(filename, inline=inline),
            "ResponseContentType": content_type,
        }
        return SignedRequest("GET", self._signed("get_object", self._at(name) | response, ttl), {})

    @property
    def bucket(self) -> str:
        return self._bucket

    @cached_property
    def origin(self) -> str | None:
        link = urlsplit(self._signed("get_object", {"Bucket": self._bucket, "Key": "-"}, _A_SECOND))
        return f"{link.scheme}://{link.netloc}"

    def sign_put(
        self, upload: Upload, number: int, ttl: timedelta, *, size: int, sha256: str
    ) -> SignedRequest:
        # The length is signed too: a link to a part of 8 MiB must not store 5 GB, which the client was not granted.
        key, of_s3 = self._upload_at(upload)
        checksum = b64encode(bytes.fromhex(sha256)).decode()
        part = {
            "UploadId": of_s3,
            "PartNumber": number,
            "ChecksumSHA256": checksum,
            "ContentLength": size,
        }
        url = self._signed("upload_part", {"Bucket": self._bucket, "Key": key} | part, ttl)
        return SignedRequest("PUT", url, {"x-amz-checksum-sha256": checksum})

    # --- requests ---

    def _key(self, name: str) -> str:
        return f"{self._prefix}{checked(name)}"

    def _at(self, name: str) -> dict[str, Any]:
        return {"Bucket": self._bucket, "Key": self._key(name)}

    def _name_in(self, key: str) -> str:
        name = key.removeprefix(self._prefix)
        found = _UPLOAD_KEY.fullmatch(name)
        return found[2] if found else name

    def _upload_at(self, upload: Upload) -> tuple[str, str]:
        """The key under which an upload is assembled, and its id in S3."""
        own, _, of_s3 = upload.id.partition(":")
        if not of_s3 or not re.fullmatch(r"[A-Za-z0-9-]{1,64}", own):
            raise UploadUnknown(upload)
        return f"{self._prefix}{UPLOADS}/{own}/{checked(upload.name)}", of_s3

    def _head(self, key: str) -> dict[str, Any] | None:
        try:
            with self._errors():
                found: dict[str, Any] = self._s3.head_object(Bucket=self._bucket, Key=key)
                return found
        except BucketUnusable as trouble:
            if trouble.code not in _ABSENT:
                raise
            return None

    def _stream(self, name: str, options: dict[str, str], start: int) -> ObjectStream:
        try:
            with self._errors():
                found = self._s3.get_object(**self._at(name), **options)
        except BucketUnusable as trouble:
            if trouble.code == "S3InvalidObjectState":
                raise ObjectCold(name) from None
            if trouble.code in _ABSENT:
                raise ObjectMissing(name) from None
            raise
        length, body = found["ContentLength"], found["Body"]
        size = int(found["ContentRange"].rpartition("/")[2]) if options else length
        return ObjectStream(size, start, start + length, self._chunks(body), body.close)

    def _chunks(self, body: Any) -> Iterator[bytes]:
        while True:
            with self._errors():
                chunk: bytes = body.read(CHUNK)
            if not chunk:
                return
            yield chunk

    def _put(self, content: bytes, options: dict[str, Any], metadata: dict[str, str]) -> None:
        with self._errors():
            self._s3.put_object(**options, Body=content, Metadata=metadata, ChecksumSHA256=_base64(content))

    def _create(self, options: dict[str, Any], metadata: dict[str, str]) -> str:
        with self._errors():
            created = self._s3.create_multipart_upload(
                **options, Metadata=metadata, ChecksumAlgorithm="SHA256"
            )
        return str(created["UploadId"])

    def _put_part(self, key: str, upload: str, number: int, content: bytes) -> dict[str, Any]:
        checksum = _base64(content)
        with self._errors():
            answer = self._s3.upload_part(
                Bucket=self._bucket,
                Key=key,
                UploadId=upload,
                PartNumber=number,
                Body=content,
                ChecksumSHA256=checksum,
            )
        return {"PartNumber": number, "ETag": answer["ETag"], "ChecksumSHA256": checksum}

    def _listed(self, upload: Upload) -> Iterator[dict[str, Any]]:
        key, of_s3 = self._upload_at(upload)
        with _absent_as(UploadUnknown(upload)), self._errors():
            pages = self._s3.get_paginator("list_parts").paginate(
                Bucket=self._bucket, Key=key, UploadId=of_s3, PaginationConfig={"PageSize": PAGE}
            )
            yield from (part for page in pages for part in page.get("Parts", []))

    def _complete(self, key: str, upload: str, parts: list[dict[str, Any]]) -> None:
        members = ("PartNumber", "ETag", "ChecksumSHA256")
        told = [{member: part[member] for member in members if member in part} for part in parts]
        with self._errors():
            self._s3.complete_multipart_upload(
                Bucket=self._bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": told}
            )

    def _abort(self, key: str, upload: str) -> None:
        try:
            with self._errors():
                self._s3.abort_multipart_upload(Bucket=self._bucket, Key=key, UploadId=upload)
        except BucketUnusable as trouble:
            if trouble.code != _NO_UPLOAD:
                raise

    def _assemble(self, upload: Upload, size: int, expect_sha256: str | None) -> Stored:
        """Join the parts, verify the whole, copy it to its name; each step may have been done before."""
        key, of_s3 = self._upload_at(upload)
        if self._head(key) is None:
            parts = list(self._listed(upload))
            refuse_incomplete(size, {part["PartNumber"]: part["Size"] for part in parts})
            with _absent_as(UploadUnknown(upload)):
                self._complete(key, of_s3, parts)
        with _absent_as(UploadUnknown(upload)):
            stored = self._read_back(key)
            try:
                refuse_unexpected("sha256", expect_sha256, stored.sha256)
            except ContentUnexpected:
                self.abort(upload)
                raise
            self._copy(key, self._key(upload.name), _sums(stored.sha256) | {"upload": _own(upload)})
        self._remove(key)
        return stored

    def _completed(self, upload: Upload) -> Stored | None:
        """The object, if this upload has become it."""
        found = self._head(self._key(upload.name))
        if found is None or found.get("Metadata", {}).get("upload") != _own(upload):
            return None
        return Stored(found["ContentLength"], found["Metadata"]["sha256"])

    def _read_back(self, key: str) -> Stored:
        whole, size = new_sha256(), 0
        with self._errors():
            body = self._s3.get_object(Bucket=self._bucket, Key=key)["Body"]
        for chunk in self._chunks(body):
            whole.update(chunk)
            size += len(chunk)
        return Stored(size, whole.hexdigest())

    def _copy(self, key: str, to: str, metadata: dict[str, str]) -> None:
        from boto3.s3.transfer import TransferConfig

        config = TransferConfig(
            multipart_threshold=_COPY_BYTES, multipart_chunksize=_COPY_BYTES // 8, use_threads=False
        )
        with self._errors():
            self._s3.copy(
                {"Bucket": self._bucket, "Key": key},
                self._bucket,
                to,
                ExtraArgs={
                    "Metadata": metadata,
                    "MetadataDirective": "REPLACE",
                    "ChecksumAlgorithm": "SHA256",
                },
                Config=config,
            )

    def _remove(self, key: str) -> None:
        """Delete every version. Without versions S3 lists the object as its only one, `null`."""
        with self._errors():
            while True:  # always the first page: a marker would be a version that is deleted by then
                page = self._s3.list_object_versions(Bucket=self._bucket, Prefix=key, MaxKeys=PAGE)
                found = (*page.get("Versions", []), *page.get("DeleteMarkers", []))
                ours = [version["VersionId"] for version in found if version["Key"] == key]
                for version in ours:
                    self._s3.delete_object(Bucket=self._bucket, Key=key, VersionId=version)
                if not ours or not page["IsTruncated"]:
                    return

    def _pages(self, operation: str, members: str, prefix: str) -> Iterator[dict[str, Any]]:
        pages = self._s3.get_paginator(operation).paginate(
            Bucket=self._bucket, Prefix=prefix, PaginationConfig={"PageSize": PAGE}
        )
        with self._errors():
            yield from (found for page in pages for found in page.get(members, []))

    def _signed(self, operation: str, parameters: dict[str, Any], ttl: timedelta) -> str:
        with self._errors():
            return str(
                self._s3.generate_presigned_url(operation, parameters, ExpiresIn=int(ttl.total_seconds()))
            )


@contextmanager
def _absent_as(error: UploadUnknown) -> Iterator[None]:
    """Raise another error if an object or an upload in S3 does not exist."""
    try:
        yield
    except BucketUnusable as trouble:
        if trouble.code not in _ABSENT and trouble.code != _NO_UPLOAD:
            raise
        raise error from None


def _parts_of(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The bytes in pieces of PART_SIZE, and whether each is the last; at least one."""
    waiting = bytearray()
    for chunk in chunks:
        waiting += chunk
        while len(waiting) > PART_SIZE:
            yield bytes(waiting[:PART_SIZE]), False
            del waiting[:PART_SIZE]
    yield bytes(waiting), True


def _base64(content: bytes) -> str:
    return b64encode(new_sha256(content).digest()).decode()


def _own(upload: Upload) -> str:
    return upload.id.partition(":")[0]


def _sums(sha256: str | None) -> dict[str, str]:
    return {} if sha256 is None else {"sha256": sha256}


def _head_of(found: dict[str, Any]) -> Head:
    return Head(found["ContentLength"], found.get("Metadata", {}).get("sha256"), found["LastModified"])
