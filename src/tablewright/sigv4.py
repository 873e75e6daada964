"""AWS Signature Version 4: canonical request, string to sign, signing key. Pure; the same for both sides.

    key = signing_key(secret, "20260131", "us-east-1", "dynamodb")
    request = canonical_request(b"POST", b"/", b"", b"host:localhost:8000\\n...", b"host;...", body)
    signature = key.sign(string_to_sign(stamp, credential_scope(...), request))

Must hold: headers come with lower-case names, in the order in which they are signed; a key is never in a repr.
Elsewhere: requests that are signed (client/signing.py), signatures that are verified (wire/signature.py).
"""

import hashlib
import hmac
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import quote

ALGORITHM = "AWS4-HMAC-SHA256"
TERMINATOR = "aws4_request"
_UNRESERVED = "-_.~"
_BLOCK_BYTES = 64


class SigningKey:
    """HMAC-SHA256 with a derived key, as its two hashes with the key already in them.

    hmac.digest looks its hash up by name each time, which costs more than all the rest of a signature.
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        block = key.ljust(_BLOCK_BYTES, b"\0")
        self._inner, self._outer = (
            hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C)
        )

    def sign(self, text: bytes) -> str:
        """The signature in hexadecimal digits."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(text)
        outer.update(inner.digest())
        return outer.hexdigest()


@lru_cache(maxsize=64)
def signing_key(secret: str, day: str, region: str, service: str) -> SigningKey:
    """The key of one secret for a day (20260131), region and service; derived once."""
    key = f"AWS4{secret}".encode()
    for part in (day, region, service, TERMINATOR):
        key = hmac.digest(key, part.encode(), "sha256")
    return SigningKey(key)


def credential_scope(day: str, region: str, service: str) -> str:
    return f"{day}/{region}/{service}/{TERMINATOR}"


def amz_date(moment: datetime) -> str:
    """The time in UTC as X-Amz-Date has it: 20260131T235959Z."""
    # Not strftime: it costs more than the hashing.
    text = moment.astimezone(UTC).isoformat(timespec="seconds")
    return text[:19].replace("-", "").replace(":", "") + "Z"


def canonical_request(
    method: bytes, path: bytes, query: bytes, lines: bytes, names: bytes, body: bytes | bytearray
) -> bytes:
    """The request as it is signed. Path, query and header `lines` are canonical already; `names` is SignedHeaders."""
    digest = hashlib.sha256(body).hexdigest().encode()
    return b"%b\n%b\n%b\n%b\n%b\n%b" % (method, path, query, lines, names, digest)


def canonical_headers(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The header lines: each value without spaces around it, and with single ones inside."""
    return b"".join([b"%b:%b\n" % (name, b" ".join(value.split())) for name, value in headers])


def canonical_path(path: bytes) -> bytes:
    """A path as it was sent, encoded once more: DynamoDB signs it twice encoded, unlike S3."""
    return quote(path, safe=f"/{_UNRESERVED}").encode()


def canonical_query(pairs: Iterable[tuple[str, str]]) -> bytes:
    """Decoded names and values, encoded again and sorted."""
    encoded = sorted((quote(name, safe=_UNRESERVED), quote(value, safe=_UNRESERVED)) for name, value in pairs)
    return "&".join(f"{name}={value}" for name, value in encoded).encode()


def string_to_sign(stamp: str, scope: str, request: bytes) -> bytes:
    return f"{ALGORITHM}\n{stamp}\n{scope}\n{hashlib.sha256(request).hexdigest()}".encode()
