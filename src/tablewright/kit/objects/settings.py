"""Where a system's objects are: in a directory, or in a bucket of S3 (SK-E2, CC-E1).

`objects.json` in the system's directory says where: `{"bucket": "s3://name/prefix"}`; credentials are those that boto3
finds. Processes that share tables are told at their start instead (`objects_at`).
Must hold: objects from the directory are in the bucket before the first request is served, the list included.
Elsewhere: what a store does (store.py), the two kinds (directory.py, s3.py).
"""

from collections.abc import Iterable
from pathlib import Path

import orjson

from tablewright.engine.transfer.buckets import BucketsUnknown, BucketUnusable, S3Connection
from tablewright.kit.objects.directory import Directory
from tablewright.kit.objects.s3 import S3Objects
from tablewright.kit.objects.signed_paths import SignedPaths
from tablewright.kit.objects.store import ObjectStore
from tablewright.world import World

SETTINGS = "objects.json"
_S3, _REGION = "s3://", "us-east-1"


class ObjectsUnusable(ValueError):
    """The bucket for objects is not configured correctly, or cannot be reached."""


def objects_of(
    home: Path,
    directory: str,
    folders: Iterable[str],
    world: World,
    signed_paths: SignedPaths | None = None,
    at: str | None = None,
) -> ObjectStore:
    """The objects of a system: in a directory of its home, or in the bucket that `objects.json` there names.

    Files in the folders of the directory are then moved into the bucket: files from before the bucket was configured,
    or restored from a copy. Objects of the bucket are never replaced. With `at` they are there and nowhere else.
    """
    if at is not None:
        return objects_at(at, world, signed_paths)
    here, settings = Directory(home / directory, world, signed_paths), home / SETTINGS
    if not settings.exists():
        return here
    there = _bucket_in(settings, world)
    try:
        for name in [name for folder in folders for name in here.names(f"{folder}/")]:
            if there.head(name) is None:
                with here.read(name) as stream:
                    there.write(name, stream)
            here.remove(name)
        there.get(SETTINGS)  # an unusable bucket is reported at the start
    except BucketUnusable as trouble:
        raise ObjectsUnusable(f"the bucket in {settings} cannot be used: {trouble.message}") from None
    return there


def objects_at(at: str, world: World, signed_paths: SignedPaths | None = None) -> ObjectStore:
    """Objects at `s3://bucket/prefix`, or in a directory that all processes share."""
    if not at.startswith(_S3):
        return Directory(Path(at), world, signed_paths)
    try:
        return _bucket_of(at, world)
    except ObjectsUnusable:
        raise
    except ValueError:
        raise ObjectsUnusable(f"'{at}' is not a bucket for objects; write s3://bucket/prefix") from None


def check_objects(at: str, world: World) -> None:
    """ObjectsUnusable if a place for objects does not answer, or is a directory that does not exist."""
    if not at.startswith(_S3) and not Path(at).is_dir():
        raise ObjectsUnusable(
            f"there is no directory {at} for objects; create it, or name s3://bucket/prefix"
        )
    try:
        objects_at(at, world).get(SETTINGS)
    except BucketUnusable as trouble:
        raise ObjectsUnusable(f"the bucket {at} cannot be used: {trouble.message}") from None


def _bucket_in(settings: Path, world: World) -> S3Objects:
    try:
        told = orjson.loads(settings.read_bytes())["bucket"]
        if not isinstance(told, str) or not told.startswith(_S3):
            raise ValueError
        return _bucket_of(told, world)
    except (ValueError, KeyError, TypeError) as mistake:
        if isinstance(mistake, ObjectsUnusable):
            raise
        raise ObjectsUnusable(
            f'{settings} must contain {{"bucket": "s3://name/prefix"}}, the S3 bucket for objects'
        ) from None


def _bucket_of(url: str, world: World) -> S3Objects:
    name, _, prefix = url.removeprefix(_S3).partition("/")
    if not name:
        raise ValueError(url)
    prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    try:
        return S3Objects(S3Connection(None, _REGION), name, prefix, world)
    except BucketsUnknown as mistake:
        raise ObjectsUnusable(str(mistake)) from None
