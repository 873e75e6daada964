"""What a slot makes of a file, and what it refuses: values of an upload without storage. Pure.

Elsewhere: slots with their quota, parts and completion (uploads.py).
"""

from collections.abc import Iterable, Iterator
from mimetypes import guess_type
from typing import Any

from tablewright.edge.errors import BadRequest
from tablewright.english import size as in_words
from tablewright.kit.objects.store import PART_SIZE, PartUnusable
from tablewright.systems.campus.course_model import Assignment
from tablewright.systems.campus.errors import Gone, Locked, TooLarge
from tablewright.systems.campus.files.sniff import UNKNOWN, is_allowed
from tablewright.systems.campus.files.type_words import kind_of, kinds_of
from tablewright.systems.campus.model import File, FileVersion, Upload


def pending_file(upload: Upload, bucket: str) -> File:
    return File(
        user_id=upload.owner_id,
        file_id=upload.file_id,
        filename=upload.filename,
        file_size=upload.file_size,
        content_type=upload.content_type,
        s3Key=upload.object_name,
        s3Bucket=bucket,
        last_modified=upload.created_at,
        version_id=upload.object_name.rpartition("/")[2],
        folder_id=upload.folder_id,
        uploaded_by=upload.uploader_id,
    )


def with_version(file: File, upload: Upload, version: FileVersion, folder_id: str | None) -> File:
    """The file with these bytes as its current ones; a new file is in this folder."""
    change = current(version) | {"stored_bytes": file.stored_bytes + version.file_size}
    if upload.purpose != "version":
        at = version.created_at
        place = folder_id or upload.owner_id
        change |= {"upload_state": "complete", "uploaded_at": at, "place": place, "folder_id": folder_id}
    return file.model_copy(update=change | {"last_modified": version.created_at})


def current(version: FileVersion) -> dict[str, Any]:
    """What a file has of its current version."""
    return {
        "object_name": version.object_name,
        "version_id": version.version_id,
        "version_number": version.version_number,
        "file_size": version.file_size,
        "content_type": version.content_type,
        "checksum": version.checksum,
        "virus_scan_status": version.virus_scan_status,
    }


def refuse_new_version(file: File) -> None:
    if file.status == "deleted":
        raise Gone("DELETED", "This file was deleted. Restore it before you upload a new version.")
    if file.status == "quarantined":
        raise Locked("QUARANTINED", "This file is quarantined and cannot get a new version.")


def refuse_for(assignment: Assignment, size: int, content_type: str) -> None:
    """The limits of an assignment (CC-D39)."""
    if size > assignment.max_file_size:
        facts = {"size": size, "most": assignment.max_file_size}
        words = f"A file for this assignment has at most {in_words(assignment.max_file_size)}."
        raise TooLarge("FILE_TOO_LARGE", words, "fileSize", facts)
    allowed = assignment.allowed_file_types
    if allowed and not is_allowed(content_type, allowed):
        words = f"This assignment takes {kinds_of(allowed)}; this file is not: {kind_of(content_type)}."
        raise BadRequest(
            "TYPE_NOT_ALLOWED", words, "contentType", {"allowed": allowed, "found": content_type}
        )


def refuse_announced(assignment: Assignment, size: int, content_type: str, filename: str) -> None:
    """As far as the name and the announced type tell; browsers announce some texts as something else."""
    by_name = guess_type(filename)[0]
    types = {content_type, by_name or UNKNOWN}
    likely = next(
        (one for one in types if one == UNKNOWN or is_allowed(one, assignment.allowed_file_types)), None
    )
    if likely != UNKNOWN or size > assignment.max_file_size:
        refuse_for(assignment, size, likely or content_type)


def exactly(chunks: Iterable[bytes], size: int, number: int) -> Iterator[bytes]:
    """The chunks, if they are as many bytes as the part must have."""
    left = size
    for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            break
        yield chunk
    if left:
        raise PartUnusable(f"part {number} of this upload has {size} bytes")


def parts_of(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Chunks joined to parts; an empty file is one empty part."""
    part, is_first = bytearray(), True
    for chunk in chunks:
        part += chunk
        while len(part) >= PART_SIZE:
            yield bytes(part[:PART_SIZE])
            del part[:PART_SIZE]
            is_first = False
    if part or is_first:
        yield bytes(part)
