"""Buckets of exports and imports: objects under keys, as in S3.

Two kinds: directories (a bucket is a directory, a key a path in it) and S3 itself, through boto3.
Must hold: an object is complete or absent, also after a power cut, and a put can be repeated; no key reaches a file
outside its bucket. Keys are listed in the order of their UTF-8 bytes, as S3 lists them.
Elsewhere: keys and content of the objects (export_format.py, import_formats.py), routing by bucket name
(bucket_routes.py).
"""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b, md5
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, Protocol
from urllib.parse import urlsplit

from tablewright.private_files import private_directory, private_file, sync

PAGE = 1000
S3 = "s3:"
# Each call is tried several times: with boto3's default of a minute a job would be delayed by five minutes.
CONNECT_SECONDS, READ_SECONDS = 5, 20
_AMAZON = (".amazonaws.com", ".amazonaws.com.cn")
# The code of an object that does not exist.
NO_SUCH_KEY = "S3NoSuchKey"


class BucketUnusable(Exception):
    """A bucket that does not exist or refuses access; `code` is the service's code for it."""

    def __init__(self, code: str, message: str) -> None:
        self.code, self.message = code, message
        super().__init__(message)

    def as_failure(self) -> dict[str, str]:
        """Why an export or an import failed, as members of its description."""
        return {"FailureCode": self.code, "FailureMessage": self.message}


class BucketsUnknown(ValueError):
    """Buckets that cannot be opened at all: a package is missing, or the endpoint is invalid."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket as a request names it: its expected owner, and how new objects are encrypted."""

    name: str
    owner: str | None = None
    encryption: str | None = None
    encryption_key: str | None = None


class Buckets(Protocol):
    # Why encryption with a key of the caller is refused; None if it is not.
    refuses_keys: str | None

    def put(self, bucket: Bucket, key: str, body: bytes) -> str:
        """Create or replace the object; returns its ETag."""
        ...

    def keys(self, bucket: Bucket, prefix: str, after: str) -> list[str]:
        """The first keys that begin with `prefix` and come after `after`; empty when there are no more."""
        ...

    def open(self, bucket: Bucket, key: str) -> BinaryIO:
        """The object, from its beginning."""
        ...

    def remove(self, bucket: Bucket, key: str) -> None:
        """Delete the object, if it exists."""
        ...

    def close(self) -> None: ...


def buckets_at(where: str | Path, region: str, account: str, *, makes: bool = True) -> Buckets:
    """The buckets in a directory, or those of S3: `s3:`, or `s3:http://host:port` for another endpoint.

    `makes`: the first object put into a directory creates its bucket, which S3 never does.
    """
    if isinstance(where, str) and where.startswith(S3):
        return S3Buckets(where.removeprefix(S3) or None, region)
    return DirectoryBuckets(Path(where).absolute(), account, makes=makes)


def no_such_bucket() -> BucketUnusable:
    return BucketUnusable(
        "S3NoSuchBucket",
        "The specified bucket does not exist (Service: Amazon S3; Status Code: 404; Error Code: NoSuchBucket)",
    )


# --- directories ---

# Parts of a key that are impossible or special in a path.
_ODD_PARTS = {"": "%", ".": "%2E", "..": "%2E%2E"}
_ODD_NAMES = {name: part for part, name in _ODD_PARTS.items()}


class DirectoryBuckets:
    """Each bucket is a directory in `root`. With `makes`, the first object put into a bucket creates it."""

    refuses_keys: str | None = "the buckets of this engine are directories, which it does not encrypt"

    def __init__(self, root: Path, account: str, *, makes: bool = True) -> None:
        self.root, self.account, self.makes = root, account, makes

    def put(self, bucket: Bucket, key: str, body: bytes) -> str:
        self._check_owner(bucket)
        if not self.makes and not (self.root / bucket.name).is_dir():
            raise no_such_bucket()
        # Beside the buckets, where `keys` does not list it; the same object always has the same draft.
        draft = self.root / ".drafts" / blake2b(f"{bucket.name}/{key}".encode(), digest_size=16).hexdigest()
        with _as_bucket_error(bucket):
            path, home = self._path(bucket, key), self.root / bucket.name
            if self.makes:
                private_directory(draft.parent)
            else:
                draft.parent.mkdir(mode=0o700, exist_ok=True)
            try:
                with open(private_file(draft, os.O_WRONLY | os.O_TRUNC), "wb") as file:
                    file.write(body)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError:
                draft.unlink(missing_ok=True)  # an incomplete object would stay on a full disk
                raise
            if self.makes:
                private_directory(home)
            for folder in reversed(_folders(path, home)):  # never the bucket itself: its mount may be gone
                folder.mkdir(mode=0o700, exist_ok=True)
            draft.replace(path)
            sync(path.parent)
        return md5(body, usedforsecurity=False).hexdigest()

    def keys(self, bucket: Bucket, prefix: str, after: str) -> list[str]:
        self._check_owner(bucket)
        home = self.root / bucket.name
        if not home.is_dir():
            raise no_such_bucket()
        with _as_bucket_error(bucket):
            found = [
                key
                for key in _keys_in(home, prefix)
                if key.startswith(prefix) and key.encode() > after.encode()
            ]
        return sorted(found, key=str.encode)[:PAGE]

    def open(self, bucket: Bucket, key: str) -> BinaryIO:
        self._check_owner(bucket)
        with _as_bucket_error(bucket):
            try:
                return self._path(bucket, key).open("rb")
            except FileNotFoundError:
                if not (self.root / bucket.name).is_dir():
                    raise no_such_bucket() from None
                raise BucketUnusable(NO_SUCH_KEY, f"The specified key does not exist: {key}") from None

    def remove(self, bucket: Bucket, key: str) -> None:
        self._check_owner(bucket)
        path, home = self._path(bucket, key), self.root / bucket.name
        with _as_bucket_error(bucket):
            path.unlink(missing_ok=True)
        with suppress(OSError):  # S3 has no folders: delete those that are empty now
            for folder in _folders(path, home):
                folder.rmdir()

    def close(self) -> None:
        """There is nothing to close."""

    def _check_owner(self, bucket: Bucket) -> None:
        if bucket.owner not in (None, self.account):
            raise BucketUnusable(
                "S3AccessDenied",
                f"Access Denied: the bucket {bucket.name} belongs to the account {self.account}, not {bucket.owner}",
            )

    def _path(self, bucket: Bucket, key: str) -> Path:
        return self.root.joinpath(bucket.name, *_names_of(key))


def _names_of(key: str) -> Iterator[str]:
    """The parts of a key as names of directories and a file."""
    return (_ODD_PARTS.get(part, part) for part in key.split("/"))


def _folders(path: Path, home: Path) -> list[Path]:
    """The folders of an object in its bucket, the innermost first."""
    return list(takewhile(lambda folder: folder != home, path.parents))


def _keys_in(home: Path, prefix: str) -> Iterator[str]:
    """The keys in the folder that the prefix names; a superset of those with the prefix."""
    folder, slash, _ = prefix.rpartition("/")
    for directory, _, files in os.walk(home.joinpath(*_names_of(folder)) if slash else home):
        parts = Path(directory).relative_to(home).parts
        for name in files:
            yield "/".join(_ODD_NAMES.get(part, part) for part in (*parts, name))


@contextmanager
def _as_bucket_error(bucket: Bucket) -> Iterator[None]:
    """Raise errors of the file system as BucketUnusable, with the service's code."""
    try:
        yield
    except PermissionError as refusal:
        raise BucketUnusable("S3AccessDenied", f"Access Denied: {refusal}") from None
    except (OSError, ValueError) as trouble:
        raise BucketUnusable(
            "S3InternalError", f"the bucket {bucket.name} cannot be used: {trouble}"
        ) from None


# --- S3 ---


class S3Connection:
    """boto3's client of S3, with the credentials boto3 finds; `endpoint` for one that is not Amazon's."""

    def __init__(self, endpoint: str | None, region: str) -> None:
        try:
            import boto3
            from botocore.config import Config
            from botocore.exceptions import BotoCoreError, ClientError
        except ModuleNotFoundError:
            raise BucketsUnknown(
                "buckets in S3 need boto3: pip install 'tablewright[s3]', or name a directory"
            ) from None
        session = boto3.Session()
        # s3v4 also for links: without it boto3 signs them by an older method in some regions.
        config = Config(connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, signature_version="s3v4")

        def client(settings: Any) -> Any:
            return session.client(
                "s3", endpoint_url=endpoint, region_name=session.region_name or region, config=settings
            )

        try:
            self.client: Any = client(config)
            if urlsplit(self.client.meta.endpoint_url).netloc.endswith(_AMAZON):
                # Otherwise links lead to the one host of all regions, which redirects: a browser does not follow that.
                self.client = client(config.merge(Config(s3={"addressing_style": "virtual"})))
        except (ValueError, BotoCoreError) as error:
            raise BucketsUnknown(f"buckets in S3 at {endpoint}: {error}") from None
        self._refusal, self._trouble = ClientError, BotoCoreError

    @contextmanager
    def as_bucket_error(self) -> Iterator[None]:
        """Raise errors of boto3 as BucketUnusable, with the service's code."""
        try:
            yield
        except self._refusal as refusal:
            answer = refusal.response
            code, status = answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]
            details = f"(Service: Amazon S3; Status Code: {status}; Error Code: {code})"
            raise BucketUnusable(
                f"S3{code}", f"{answer['Error'].get('Message', '')} {details}".strip()
            ) from None
        except self._trouble as trouble:
            raise BucketUnusable("S3Unavailable", f"S3 cannot be reached: {trouble}") from None


class S3Buckets:
    """The buckets of S3."""

    refuses_keys: str | None = None

    def __init__(self, endpoint: str | None, region: str) -> None:
        connection = S3Connection(endpoint, region)
        self._client, self._as_bucket_error = connection.client, connection.as_bucket_error

    def put(self, bucket: Bucket, key: str, body: bytes) -> str:
        options: dict[str, str] = {}
        if bucket.encryption is not None:
            options["ServerSideEncryption"] = "aws:kms" if bucket.encryption == "KMS" else bucket.encryption
        if bucket.encryption_key is not None:
            options["SSEKMSKeyId"] = bucket.encryption_key
        with self._as_bucket_error():
            put = self._client.put_object(**_at(bucket), Key=key, Body=body, **options)
        return str(put["ETag"]).strip('"')

    def keys(self, bucket: Bucket, prefix: str, after: str) -> list[str]:
        with self._as_bucket_error():
            page = self._client.list_objects_v2(
                **_at(bucket), Prefix=prefix, MaxKeys=PAGE, **({"StartAfter": after} if after else {})
            )
        return [found["Key"] for found in page.get("Contents", [])]

    def open(self, bucket: Bucket, key: str) -> BinaryIO:
        with self._as_bucket_error():
            body = self._client.get_object(**_at(bucket), Key=key)["Body"]
        return io.BufferedReader(_Body(body, self._as_bucket_error), 256 * 1024)

    def remove(self, bucket: Bucket, key: str) -> None:
        with self._as_bucket_error():
            self._client.delete_object(**_at(bucket), Key=key)

    def close(self) -> None:
        self._client.close()


class _Body(io.RawIOBase):
    """The body of an object; a broken connection is raised as BucketUnusable."""

    def __init__(self, body: Any, details: Callable[[], AbstractContextManager[None]]) -> None:
        self._body, self._as_bucket_error = body, details

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # the type of the caller's buffer
        with self._as_bucket_error():
            got: bytes = self._body.read(len(buffer))
        buffer[: len(got)] = got
        return len(got)

    def close(self) -> None:
        self._body.close()
        super().close()


def _at(bucket: Bucket) -> dict[str, str]:
    owner = {} if bucket.owner is None else {"ExpectedBucketOwner": bucket.owner}
    return {"Bucket": bucket.name, **owner}
