"""Links that open one page without a login: a campaign before it starts, an order that was just placed.

A link is signed, expires, and is valid for one subject. An order's id begins with `ord_`, which no campaign's code does
(they are upper case), so a link to one never opens the other.
"""

import hashlib
import hmac
from datetime import datetime, timedelta

LIFETIME = timedelta(days=7)


class Previews:
    """Makes and checks preview tokens with one secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = hashlib.sha256(b"portal previews" + secret).digest()

    def token(self, what: str, now: datetime, lifetime: timedelta = LIFETIME) -> str:
        until = int((now + lifetime).timestamp())
        return f"{until}.{self._signature(what, until)}"

    def opens(self, token: str, what: str, now: datetime) -> bool:
        until, _, signature = token.partition(".")
        if not (until.isascii() and until.isdigit() and len(until) < 16) or int(until) <= now.timestamp():
            return False
        return hmac.compare_digest(signature.encode(), self._signature(what, int(until)).encode())

    def _signature(self, what: str, until: int) -> str:
        return hmac.new(self._secret, f"{what}.{until}".encode(), hashlib.sha256).hexdigest()[:32]
