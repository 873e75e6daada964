"""Links to objects of a directory: paths with an HMAC that one route of the HTTP server verifies (CC-X3).

`{base}{payload}.{signature}`; the payload says what can be read, until when and for whom. The route is given the last
step of the path, verifies it, and then reads the object; it needs no other credentials.
Must hold: a path that was changed, or has expired by the clock of the World, is refused; signatures are compared in
constant time; a signature with this secret is valid for nothing but such paths.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import orjson

from tablewright.world import World

_PURPOSE = b"tablewright signed object path 2\n"
_MIN_SECRET = 32


@dataclass(frozen=True, slots=True)
class SignedPath:
    """What a path allows to read."""

    name: str
    filename: str = ""
    content_type: str = ""
    inline: bool = False
    subject: str = ""


class SignatureUnusable(ValueError):
    """A link that does not allow the request: it has expired or was changed."""


class SignedPaths:
    """Signs and verifies paths below `base`, such as `/campus/objects/`."""

    def __init__(self, base: str, secret: bytes, world: World) -> None:
        if len(secret) < _MIN_SECRET:
            raise ValueError(f"the secret of signed paths needs at least {_MIN_SECRET} bytes")
        self._base, self._secret, self._world = base, secret, world

    def sign(self, path: SignedPath, ttl: timedelta) -> str:
        """A path that is valid until `ttl` from now, rounded down to a second."""
        until = int((self._world.now() + ttl).timestamp())
        payload = urlsafe_b64encode(orjson.dumps({"until": until, **asdict(path)})).rstrip(b"=")
        return f"{self._base}{payload.decode()}.{self._signature(payload)}"

    def verify(self, text: str) -> SignedPath:
        """What the last step of a path allows to read; SignatureUnusable if it does not now."""
        payload, _, signature = text.rpartition(".")
        expected = self._signature(payload.encode(errors="replace"))
        if not hmac.compare_digest(signature.encode(errors="replace"), expected.encode()):
            raise SignatureUnusable("this link is not valid: open it again from its page")
        members = orjson.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        until = datetime.fromtimestamp(members.pop("until"), UTC)
        path = SignedPath(**members)
        if self._world.now() >= until:
            raise SignatureUnusable("this link has expired: open it again from its page")
        return path

    def _signature(self, payload: bytes) -> str:
        digest = hmac.new(self._secret, _PURPOSE + payload, sha256).digest()
        return urlsafe_b64encode(digest).rstrip(b"=").decode()
