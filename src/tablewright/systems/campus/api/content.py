"""Bytes as responses: whole or a range, with the name their owner gave them (CC-X3).

Must hold: nothing is run as a page of ours: no sniffing, a sandbox without scripts, and a download unless a caller asks
for a type that is harmless inline. Memory is that of one chunk, and what is not read is closed.
Elsewhere: who may read (files/library.py), names in headers (edge/downloads.py).
"""

import re
from collections.abc import Callable
from itertools import chain

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from tablewright.edge.downloads import disposition
from tablewright.edge.etags import etag
from tablewright.edge.head_requests import is_head
from tablewright.edge.problems import Problem
from tablewright.kit.objects.store import ObjectStream

Read = Callable[[int, int | None], ObjectStream]
_RANGE = re.compile(r"bytes=(\d{0,19})-(\d{0,19})")
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:",
    # A browser keeps nothing of what may be revoked; and compressing bytes of unknown length would hide their size.
    "Cache-Control": "private, no-store",
    "Content-Encoding": "identity",
    "Accept-Ranges": "bytes",
}


def content_response(
    request: Request,
    read: Read,
    *,
    size: int,
    filename: str,
    content_type: str,
    tag: str,
    inline: bool = False,
) -> Response:
    """The bytes that a request asks for: 200, 206 for one range, 304, or 416."""
    own = etag(tag)
    headers = {**_SAFE, "ETag": own, "Content-Disposition": disposition(filename, inline=inline)}
    if own in request.headers.get("If-None-Match", ""):
        return Response(status_code=304, headers={"ETag": own})
    start, end, is_part = _range_of(request, size, own)
    headers["Content-Length"] = str(end - start)
    if is_part:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    if is_head(request.scope):
        return Response(status_code=206 if is_part else 200, headers=headers, media_type=content_type)
    chunks = iter(read(start, end))
    # Begun here: what is never read, because its client is gone, is closed all the same.
    first = next(chunks, b"")
    return StreamingResponse(
        chain((first,), chunks), 206 if is_part else 200, headers=headers, media_type=content_type
    )


def _range_of(request: Request, size: int, own: str) -> tuple[int, int, bool]:
    """The first byte, the one behind the last, and whether this is a part. Several ranges are answered with all."""
    header, condition = request.headers.get("Range", ""), request.headers.get("If-Range")
    found = _RANGE.fullmatch(header.strip())
    if found is None or found[0] == "bytes=-" or (condition is not None and condition != own):
        return 0, size, False
    first, last = found[1], found[2]
    if first and last and int(last) < int(first):
        return 0, size, False  # not a range: HTTP has it ignored
    if first:
        start, end = int(first), min(int(last) + 1, size) if last else size
    else:
        start, end = max(0, size - int(last)), size
    if start >= size:
        words = f"There is nothing in this range: the file has {size} bytes."
        raise Problem(416, "RANGE_NOT_SATISFIABLE", words, headers={"Content-Range": f"bytes */{size}"})
    return start, end, True
