"""Page tokens: where a reader stopped, sealed so that only we can read or make one.

A token is encrypted and authenticated (AES-GCM), since the keys in it may name people. It is bound to the pattern,
its parameters and the reader: used for anything else it does not open. It dies after a day.
"""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tablewright.design.requests import Query
from tablewright.expressions import PlaceholderAllocator, render
from tablewright.mapping.errors import BadCursor, CursorExpired

LIFETIME = timedelta(hours=24)
_NONCE_BYTES = 12
_WRONG = (
    "this page token does not belong here: it was changed, or made for another list or reader; "
    "begin at the first page"
)


class TokenCipher:
    """Makes and opens tokens with one secret."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < 16:
            raise ValueError("a secret for page tokens has at least 16 bytes")
        self._cipher = AESGCM(hashlib.sha256(b"tablewright page tokens" + secret).digest())

    def close(self, place: Any, query: Query[Any], reader: str, now: datetime, chance: str) -> str:
        """A token for `place`, any JSON. `chance` must differ from token to token."""
        nonce = hashlib.sha256(chance.encode()).digest()[:_NONCE_BYTES]
        content = orjson.dumps([int((now + LIFETIME).timestamp()), place])
        sealed = self._cipher.encrypt(nonce, content, binding(query, reader))
        return _text(nonce + sealed)

    def open(self, token: str, query: Query[Any], reader: str, now: datetime) -> Any:
        """The place in a token; BadCursor if it is not one for this query and reader."""
        try:
            raw = urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
            if _text(raw) != token:  # base64 reads past strange letters; one place has one token
                raise BadCursor(_WRONG)
            content = self._cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], binding(query, reader))
        except (InvalidTag, NotBase64, ValueError):
            raise BadCursor(_WRONG) from None
        until, place = orjson.loads(content)
        if now.timestamp() >= until:
            raise CursorExpired("this page token is older than a day; begin at the first page")
        return place


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


def binding(query: Query[Any], reader: str) -> bytes:
    """What a token is good for: this pattern, these parameters, these filters, this reader."""
    placeholders = PlaceholderAllocator()
    content = {
        "design": query.table.design,
        "table": query.table.name,
        "pattern": query.name,
        "partitions": query.partitions,
        "sort": [(name, test.op, test.values) for name, test in query.sort],
        "filters": [render(condition, placeholders) for condition in query.filters],
        "meaning": placeholders.members(),
        "reader": reader,
    }
    return hashlib.sha256(orjson.dumps(content, default=_plain)).digest()


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
