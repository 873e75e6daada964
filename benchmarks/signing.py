"""Signature version 4 for servers that check it: of single calls, and what the load generator needs to sign its own.

A signature is the HMAC of a text that ends in a hash of the request; all but that hash is the same for every request
of a run, so it is built here once. Must hold: `signature` here and `sign` in load.c agree.
"""

import hashlib
import hmac
import struct
import time
from dataclasses import dataclass

REGION = "us-east-1"
SIGNED_HEADERS = "host;x-amz-date;x-amz-target"
HOST = "localhost"
# In place of a signature: for servers that check none, and for load.c to write its own over.
BLANK = "0" * 64


@dataclass(frozen=True, slots=True)
class Keys:
    """An access key that a server accepts."""

    access: str
    secret: str


# Well formed and worth nothing: most of the servers accept any signature on loopback.
ANY = Keys("benchmark", "")


@dataclass(frozen=True, slots=True)
class Signing:
    """How the requests of one verb are signed in the minutes from `stamp` on."""

    keys: Keys
    verb: str
    stamp: str  # 20261118T070000Z

    @property
    def scope(self) -> str:
        return f"{self.stamp[:8]}/{REGION}/dynamodb/aws4_request"

    @property
    def target(self) -> str:
        return f"DynamoDB_20120810.{self.verb}"

    def authorization(self, signature: str = BLANK) -> str:
        credential = f"Credential={self.keys.access}/{self.scope}"
        return f"AWS4-HMAC-SHA256 {credential}, SignedHeaders={SIGNED_HEADERS}, Signature={signature}"

    def canonical(self) -> bytes:
        """The canonical request up to the hash of the body."""
        headers = f"host:{HOST}\nx-amz-date:{self.stamp}\nx-amz-target:{self.target}\n"
        return f"POST\n/\n\n{headers}\n{SIGNED_HEADERS}\n".encode()

    def to_sign(self) -> bytes:
        """The text to sign up to the hash of the canonical request."""
        return f"AWS4-HMAC-SHA256\n{self.stamp}\n{self.scope}\n".encode()

    def key(self) -> bytes:
        key = b"AWS4" + self.keys.secret.encode()
        for part in self.scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        return key

    def signature(self, body: bytes) -> str:
        request = self.canonical() + hashlib.sha256(body).hexdigest().encode()
        text = self.to_sign() + hashlib.sha256(request).hexdigest().encode()
        return hmac.new(self.key(), text, "sha256").hexdigest()

    def packed(self, signature_at: int, body_at: int) -> bytes:
        """The end of the file that load.c reads; the places are those in the whole HTTP request."""
        canonical, to_sign = self.canonical(), self.to_sign()
        head = struct.pack("<IIII", signature_at, body_at, len(canonical), len(to_sign))
        return head + self.key() + canonical + to_sign


def signing(keys: Keys | None, verb: str) -> Signing:
    """For requests that are sent now: a signature is accepted for some minutes."""
    return Signing(keys or ANY, verb, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()))
