"""Versions over HTTP: ETag, If-Match, If-None-Match, and how long a page may be cached.

Must hold: only strong tags are made, so equal tags mean equal bytes to a cache and an equal version to a writer. The
compressed form of a version has a tag of its own, which names the same version.
The check here is the early one; of two concurrent writers, the condition of the write refuses the second.
"""

import re

from fastapi import Request, Response

from tablewright.edge.problems import bad_request, stale

Version = int | str
PUBLIC_SECONDS = 60
GZIP_ENDING = "-gzip"  # of the tag of a compressed response (compression.py)
_OPAQUE = re.compile(r"[\x21\x23-\x7e]+")
_TAG = re.compile(r'\s*(?:(W/)?"([\x21\x23-\x7e]*)")?\s*(?:,|$)')


def etag(version: Version) -> str:
    """The strong tag of a version: `"7"`."""
    text = str(version)
    if not _OPAQUE.fullmatch(text):
        raise ValueError(f"a version in an ETag is printable ASCII without quotes or spaces, not {text!r}")
    return f'"{text}"'


def tags_in(header: str, *, weak: bool) -> list[str] | None:
    """The tags of an If-Match or If-None-Match header, without quotes; None for `*`. Weak ones only if asked for."""
    if header.strip() == "*":
        return None
    tags: list[str] = []
    at = 0
    while at < len(header):
        found = _TAG.match(header, at)
        if found is None or found.end() == at:
            raise bad_request(
                "BAD_ETAG", 'A list of tags looks like "7", "8": each in double quotes, or a single *.'
            )
        if found[2] is not None and (weak or found[1] is None):
            tags.append(found[2].removesuffix(GZIP_ENDING))
        at = found.end()
    return tags


def if_match(header: str | None, current: Version | None) -> None:
    """Raise 412 STALE unless the caller has read the current version; `current` is None if nothing exists yet."""
    if header is None:
        return
    tags = tags_in(header, weak=False)
    if current is None or (tags is not None and str(current) not in tags):
        refusal = stale()
        if current is not None:
            refusal.headers["ETag"] = etag(current)
        raise refusal


def unchanged(
    request: Request, version: Version, *, cache_control: str = "private, no-cache"
) -> Response | None:
    """The 304 for a caller whose copy is current, else None. Use the same `cache_control` on the full response."""
    header = request.headers.get("If-None-Match")
    if header is None or request.method not in ("GET", "HEAD"):
        return None
    tags = tags_in(
        header, weak=True
    )  # reads compare weakly: a proxy that compresses may have weakened the tag
    if tags is not None and str(version) not in tags:
        return None
    return Response(status_code=304, headers={"ETag": etag(version), "Cache-Control": cache_control})


def public_cache(seconds: int = PUBLIC_SECONDS) -> str:
    """Cache-Control of a page that is the same for everyone."""
    return f"public, max-age={seconds}"


def mark(response: Response, version: Version, *, cache_control: str = "private, no-cache") -> None:
    """Set the ETag and Cache-Control of a response."""
    response.headers["ETag"] = etag(version)
    response.headers["Cache-Control"] = cache_control
