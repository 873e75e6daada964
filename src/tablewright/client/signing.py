"""Signature Version 4, the signing side: a request's head, signed.

Only what DynamoDB needs: POST, no query string, four or five headers, all of them signed.
Must hold: what is signed is what is sent, byte for byte; a secret never appears in a repr or a sentence.
Elsewhere: the side that verifies (wire/signature.py); where credentials come from (resolution.py).
"""

import hashlib
import hmac
import re
from dataclasses import dataclass, field

from tablewright.client.endpoint import Endpoint

SERVICE = "dynamodb"
_ALGORITHM = "AWS4-HMAC-SHA256"
_KIND = "application/x-amz-json-1.0"


class CredentialsUnusable(ValueError):
    """An access key that cannot be written into a header."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What requests are signed with."""

    key_id: str
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not (
            _is_one_word(self.key_id) and self.secret and (self.token is None or _is_one_word(self.token))
        ):
            raise CredentialsUnusable(
                "an access key needs an id, a secret, and ids and tokens without spaces or line ends; "
                "look for a stray character where they were copied from"
            )


class RegionUnusable(ValueError):
    """A region that is no name of one."""

    def __init__(self, region: str) -> None:
        self.region = region
        super().__init__(f"{region!r} is no region; write it as us-east-1, also for a server of your own")


def checked_region(region: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", region):
        raise RegionUnusable(region)
    return region


def _is_one_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and bool(text) and " " not in text


@dataclass(frozen=True, slots=True)
class Scope:
    """What all signatures with one key, on one day, for one region share: worked out once."""

    credentials: Credentials
    day: str
    path: str
    # HMAC's two hashes with the key already in them. hmac.digest looks its hash up by name each time, which
    # costs more than all the rest of a signature.
    inner: "hashlib._Hash" = field(repr=False)
    outer: "hashlib._Hash" = field(repr=False)

    def signature(self, text: str) -> str:
        inner, outer = self.inner.copy(), self.outer.copy()
        inner.update(text.encode())
        outer.update(inner.digest())
        return outer.hexdigest()


def scope_of(credentials: Credentials, region: str, day: str) -> Scope:
    key = f"AWS4{credentials.secret}".encode()
    for part in (day, region, SERVICE, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    block = key.ljust(64, b"\0")
    inner, outer = (hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))
    return Scope(credentials, day, f"{day}/{region}/{SERVICE}/aws4_request", inner, outer)


def signed(scope: Scope, endpoint: Endpoint, target: str, stamp: str, body: bytes) -> bytes:
    """The whole request, head and body; `stamp` is the time as 20260131T235959Z."""
    token = scope.credentials.token
    if token is None:
        names, token_line, token_header = "content-type;host;x-amz-date;x-amz-target", "", ""
    else:
        names = "content-type;host;x-amz-date;x-amz-security-token;x-amz-target"
        token_line, token_header = f"x-amz-security-token:{token}\n", f"X-Amz-Security-Token: {token}\r\n"
    canonical = (
        f"POST\n{endpoint.path}\n\ncontent-type:{_KIND}\nhost:{endpoint.authority}\nx-amz-date:{stamp}\n"
        f"{token_line}x-amz-target:{target}\n\n{names}\n{hashlib.sha256(body).hexdigest()}"
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    signature = scope.signature(f"{_ALGORITHM}\n{stamp}\n{scope.path}\n{digest}")
    head = (
        f"POST {endpoint.path} HTTP/1.1\r\nHost: {endpoint.authority}\r\nContent-Type: {_KIND}\r\n"
        f"X-Amz-Target: {target}\r\nX-Amz-Date: {stamp}\r\n{token_header}"
        f"Authorization: {_ALGORITHM} Credential={scope.credentials.key_id}/{scope.path}, "
        f"SignedHeaders={names}, Signature={signature}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
