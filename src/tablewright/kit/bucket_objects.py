"""A system's objects in a bucket of S3 instead of a directory: pictures, exports, the list of erased people (SK-E2).

`objects.json` in the system's directory says where: `{"bucket": "s3://name/prefix"}`; credentials are those that boto3
finds. Must hold: objects from the directory are in the bucket before the first request is served, the list included.
Elsewhere: what an object is (kit/objects.py), buckets themselves (engine/transfer/buckets.py).
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import orjson

from tablewright.engine.transfer.buckets import (
    NO_SUCH_KEY,
    Bucket,
    Buckets,
    BucketsUnknown,
    BucketUnusable,
    buckets_at,
)
from tablewright.kit.objects import Directory, Objects, checked
from tablewright.world import World

SETTINGS = "objects.json"
_S3, _REGION, _ACCOUNT = "s3://", "us-east-1", "000000000000"


class ObjectsUnusable(ValueError):
    """The bucket for objects is not configured correctly, or cannot be reached."""


class BucketObjects:
    """Objects as those of a bucket, under a prefix of its own."""

    def __init__(self, buckets: Buckets, bucket: Bucket, prefix: str = "") -> None:
        self._buckets, self._bucket, self._prefix = buckets, bucket, prefix

    def put(self, name: str, content: bytes) -> None:
        self._buckets.put(self._bucket, self._key(name), content)

    def get(self, name: str) -> bytes | None:
        try:
            with closing(self._buckets.open(self._bucket, self._key(name))) as stream:
                return stream.read()
        except BucketUnusable as trouble:
            if trouble.code != NO_SUCH_KEY:
                raise
            return None

    def remove(self, name: str) -> None:
        self._buckets.remove(self._bucket, self._key(name))

    def names(self, prefix: str) -> Iterator[str]:
        folder, after = f"{self._key(prefix.rstrip('/'))}/", ""
        while found := self._buckets.keys(self._bucket, folder, after):
            yield from (key.removeprefix(self._prefix) for key in found)
            after = found[-1]

    def _key(self, name: str) -> str:
        return f"{self._prefix}{checked(name)}"


def objects_of(home: Path, directory: str, folders: Iterable[str], world: World) -> Objects:
    """The objects of a system: in a directory of its home, or in the bucket that `objects.json` there names.

    Files in the folders of the directory are then moved into the bucket: files from before the bucket was configured,
    or restored from a copy. Objects of the bucket are never replaced.
    """
    here, settings = Directory(home / directory, world), home / SETTINGS
    if not settings.exists():
        return here
    there = _bucket_in(settings)
    try:
        for name in [name for folder in folders for name in here.names(f"{folder}/")]:
            content = here.get(name)
            if content is not None and there.get(name) is None:
                there.put(name, content)
            here.remove(name)
        there.get(SETTINGS)  # an unusable bucket is reported at the start
    except BucketUnusable as trouble:
        raise ObjectsUnusable(f"the bucket in {settings} cannot be used: {trouble.message}") from None
    return there


def _bucket_in(settings: Path) -> BucketObjects:
    try:
        told = orjson.loads(settings.read_bytes())["bucket"]
        if not isinstance(told, str) or not told.startswith(_S3):
            raise ValueError
        name, _, prefix = told.removeprefix(_S3).partition("/")
        if not name:
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise ObjectsUnusable(
            f'{settings} must contain {{"bucket": "s3://name/prefix"}}, the S3 bucket for objects'
        ) from None
    prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    try:
        return BucketObjects(buckets_at("s3:", _REGION, _ACCOUNT), Bucket(name), prefix)
    except BucketsUnknown as mistake:
        raise ObjectsUnusable(str(mistake)) from None
