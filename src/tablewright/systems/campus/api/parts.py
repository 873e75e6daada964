"""One part of an upload as the body of a request, streamed to the disk and from there to the store.

Must hold: a slow client costs a file descriptor and no thread; at most STORED_AT_ONCE parts are in memory, whatever the
number of clients. Who may send it is asked before the first byte is read.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from tempfile import TemporaryFile
from typing import IO, Annotated

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Depends, Header, Request
from starlette.requests import ClientDisconnect

from tablewright.edge.problems import bad_request
from tablewright.kit.objects.store import CHUNK, PART_SIZE
from tablewright.systems.campus.files.uploads import Uploads
from tablewright.systems.campus.model import Upload

# Of System.streamed_bodies: a PUT on these paths may have so many bytes.
STREAMED = {"/v1/*/parts/*": PART_SIZE}
STORED_AT_ONCE = 4
_DIGEST = re.compile(r"sha-256=:([A-Za-z0-9+/]{43}=):")


async def _digest(header: Annotated[str | None, Header(alias="Content-Digest")] = None) -> str | None:
    """The SHA-256 of a body in `Content-Digest` (RFC 9530), as hexadecimal digits."""
    if header is None:
        return None
    found = _DIGEST.fullmatch(header.strip())
    if found is None:
        raise bad_request("INVALID_CHECKSUM", "Content-Digest must be sha-256=:base64:.", "Content-Digest")
    return b64decode(found[1]).hex()


PartDigest = Annotated[str | None, Depends(_digest)]


async def receive_part(
    request: Request, find: Callable[[], Upload], uploads: Uploads, number: int, digest: str | None
) -> None:
    """Read the body, then store it as a part of the upload that `find` returns or refuses."""
    upload = await run_sync(find)
    limiter = _limiter_of(request)
    with TemporaryFile() as spool:
        try:
            async for chunk in request.stream():
                spool.write(chunk)
        except ClientDisconnect:
            raise bad_request("BODY_INCOMPLETE", "The part did not arrive whole. Send it again.") from None
        spool.seek(0)
        await run_sync(lambda: uploads.put_part(upload, number, _chunks(spool), digest), limiter=limiter)


def _limiter_of(request: Request) -> CapacityLimiter:
    state = request.app.state
    if not hasattr(state, "stored_parts"):
        state.stored_parts = CapacityLimiter(STORED_AT_ONCE)
    found: CapacityLimiter = state.stored_parts
    return found


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk
