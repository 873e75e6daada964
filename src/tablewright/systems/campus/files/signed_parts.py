"""Parts that are sent straight to the bucket: a signed request for each, so that their bytes do not pass through here.

A request is for one part of one upload, of exactly one size and one SHA-256: the bucket refuses anything else, so an
upload never stores more than its slot has reserved. What has arrived is read from the store when the upload is
completed (uploads.py); nothing that a client says about it is believed.
Must hold: a request ends with its slot, and with the link through which a visitor sends.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from tablewright.edge.errors import BadRequest, Conflict
from tablewright.kit.objects.store import ObjectStore, SignedRequest, sizes_of_parts
from tablewright.kit.objects.store import Upload as ObjectUpload
from tablewright.systems.campus.files.names import checked_checksum
from tablewright.systems.campus.model import Upload

# The time to begin one part; how long the part then takes does not matter to S3.
LASTS = timedelta(minutes=15)
AT_ONCE = 100
_A_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class SignedPart:
    """A request that stores one part; it must begin before it expires."""

    number: int
    request: SignedRequest
    expires_at: datetime


def signed_parts(
    objects: ObjectStore, upload: Upload, checksums: Mapping[int, str], now: datetime, until: datetime | None
) -> Iterator[SignedPart]:
    """A request for each part, by the SHA-256 it has; INVALID_PART, INVALID_CHECKSUM, PARTS_NOT_SIGNED."""
    ends = min(now + LASTS, upload.expires_at, until or upload.expires_at)
    ttl = max(ends - now, _A_SECOND)
    sizes = sizes_of_parts(upload.file_size)
    for number, checksum in checksums.items():
        refuse_number(number, len(sizes))
        digits, place = checked_checksum(checksum), ObjectUpload(upload.object_name, upload.object_upload)
        request = objects.sign_put(place, number, ttl, size=sizes[number - 1], sha256=digits)
        if request is None:
            words = "This server stores files itself. Send each part to /uploads/{uploadId}/parts/{number}."
            raise Conflict("PARTS_NOT_SIGNED", words)
        yield SignedPart(number, request, now + ttl)


def refuse_number(number: int, count: int) -> None:
    """INVALID_PART unless an upload of so many parts has one of this number."""
    if not 1 <= number <= count:
        raise BadRequest("INVALID_PART", f"This upload has the parts 1 to {count}.", "number")
