"""Routing of buckets by name: some buckets can be in another directory, or in S3, than all others.

So an engine whose exports stay on its machine can write those that have to leave it to another disk, or to S3.
Elsewhere: directories and S3 (buckets.py).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from tablewright.engine.transfer.buckets import Bucket, Buckets, buckets_at, no_such_bucket


def routed(
    usual: str | Path | None, elsewhere: Mapping[str, str | Path], region: str, account: str
) -> Buckets | None:
    """The buckets at `usual`, except those named in `elsewhere`; None if there are none at all.

    Buckets elsewhere are not created: where a mount is missing, that would fill this machine's disk.
    """
    here = None if usual is None else buckets_at(usual, region, account)
    if not elsewhere:
        return here
    there = {name: buckets_at(where, region, account, makes=False) for name, where in elsewhere.items()}
    return RoutedBuckets(here, there)


class RoutedBuckets:
    """Each call goes to the place of its bucket."""

    def __init__(self, usual: Buckets | None, elsewhere: Mapping[str, Buckets]) -> None:
        self._usual, self._elsewhere = usual, elsewhere
        # Checked before the bucket of a request is known, so it is that of the usual place.
        self.refuses_keys: str | None = None if usual is None else usual.refuses_keys

    def put(self, bucket: Bucket, key: str, body: bytes) -> str:
        return self._of(bucket).put(bucket, key, body)

    def keys(self, bucket: Bucket, prefix: str, after: str) -> list[str]:
        return self._of(bucket).keys(bucket, prefix, after)

    def open(self, bucket: Bucket, key: str) -> BinaryIO:
        return self._of(bucket).open(bucket, key)

    def remove(self, bucket: Bucket, key: str) -> None:
        self._of(bucket).remove(bucket, key)

    def close(self) -> None:
        for one in self._all():
            one.close()

    def _all(self) -> list[Buckets]:
        return [*([] if self._usual is None else [self._usual]), *self._elsewhere.values()]

    def _of(self, bucket: Bucket) -> Buckets:
        found = self._elsewhere.get(bucket.name, self._usual)
        if found is None:
            raise no_such_bucket()
        return found
