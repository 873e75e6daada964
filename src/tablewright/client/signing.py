"""Signed requests: head and body of a DynamoDB call, with credentials.

Only what DynamoDB needs: POST, no query string, four or five headers, all of them signed.
Must hold: what is signed is what is sent, byte for byte; a secret never appears in a repr or in an error message.
Elsewhere: the signature itself (sigv4.py); where credentials come from (aws_config.py).
"""

import re
from dataclasses import dataclass, field

from tablewright.client.endpoint import Endpoint
from tablewright.sigv4 import ALGORITHM, canonical_request, credential_scope, signing_key, string_to_sign

SERVICE = "dynamodb"
_CONTENT_TYPE = "application/x-amz-json-1.0"
_NAMES = "content-type;host;x-amz-date;x-amz-target"
_NAMES_WITH_TOKEN = "content-type;host;x-amz-date;x-amz-security-token;x-amz-target"


class CredentialsUnusable(ValueError):
    """An access key that cannot be sent in a header."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """An access key, with which requests are signed."""

    key_id: str
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not (
            _is_one_word(self.key_id) and self.secret and (self.token is None or _is_one_word(self.token))
        ):
            raise CredentialsUnusable(
                "an access key needs an id and a secret, and its id and token must not contain spaces or line ends; "
                "check for a stray character from copying"
            )


class RegionUnusable(ValueError):
    """A text that is not the name of a region."""

    def __init__(self, region: str) -> None:
        self.region = region
        super().__init__(f"{region!r} is not a region; write it as us-east-1, also for a server of your own")


def checked_region(region: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", region):
        raise RegionUnusable(region)
    return region


def _is_one_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and bool(text) and " " not in text


def signed_request(
    credentials: Credentials, region: str, endpoint: Endpoint, target: str, stamp: str, body: bytes
) -> bytes:
    """The whole request, head and body; `stamp` is the time as 20260131T235959Z."""
    day, token = stamp[:8], credentials.token
    names, token_line, token_header = _NAMES, "", ""
    if token is not None:
        names = _NAMES_WITH_TOKEN
        token_line, token_header = f"x-amz-security-token:{token}\n", f"X-Amz-Security-Token: {token}\r\n"
    lines = (
        f"content-type:{_CONTENT_TYPE}\nhost:{endpoint.authority}\nx-amz-date:{stamp}\n"
        f"{token_line}x-amz-target:{target}\n"
    )
    request = canonical_request(b"POST", endpoint.path.encode(), b"", lines.encode(), names.encode(), body)
    scope = credential_scope(day, region, SERVICE)
    key = signing_key(credentials.secret, day, region, SERVICE)
    signature = key.sign(string_to_sign(stamp, scope, request))
    head = (
        f"POST {endpoint.path} HTTP/1.1\r\nHost: {endpoint.authority}\r\nContent-Type: {_CONTENT_TYPE}\r\n"
        f"X-Amz-Target: {target}\r\nX-Amz-Date: {stamp}\r\n{token_header}"
        f"Authorization: {ALGORITHM} Credential={credentials.key_id}/{scope}, "
        f"SignedHeaders={names}, Signature={signature}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
