"""Secrets of public links: their tokens and passwords.

A token is made from the link's id with the system's secret, so its owner can copy it again although the table has only
its digest. Must hold: a token cannot be guessed, or made from the table alone; a password cannot be recovered from its
hash (scrypt, RFC 7914, with a salt of its own); comparisons take constant time.
"""

import hashlib
import hmac
import unicodedata
from base64 import b64decode, b64encode, urlsafe_b64encode

from tablewright.world import World

SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 256
TOKEN_LENGTH = 43  # 32 bytes
# 16 MB and one round: about a thirtieth of a second. Attempts are limited too.
_LOG_N, _R, _P = 14, 8, 1


class LinkSecrets:
    """Makes the tokens of links with one secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = hashlib.sha256(b"campus links" + secret).digest()

    def token(self, link_id: str) -> str:
        made = hmac.new(self._secret, link_id.encode(), hashlib.sha256).digest()
        return urlsafe_b64encode(made).rstrip(b"=").decode()

    def ticket(self, *parts: str) -> str:
        """A signature over what a visitor was given, such as a folder of their own."""
        made = hmac.new(self._secret, "\0".join(("ticket", *parts)).encode(), hashlib.sha256).digest()
        return urlsafe_b64encode(made).rstrip(b"=").decode()

    def is_ticket(self, ticket: str, *parts: str) -> bool:
        return hmac.compare_digest(ticket.encode(errors="replace"), self.ticket(*parts).encode())


def token_digest(token: str) -> str:
    """What is stored of a token. It needs no salt: a token has 256 bits."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def password_hash(password: str, world: World) -> str:
    """What is stored of a password: `scrypt$14$8$1$salt$hash`."""
    salt = hashlib.sha256(f"{world.new_id()}{world.new_id()}".encode()).digest()[:16]
    made = _scrypt(password, salt, _LOG_N, _R, _P)
    return "$".join(
        ("scrypt", str(_LOG_N), str(_R), str(_P), b64encode(salt).decode(), b64encode(made).decode())
    )


def is_password(password: str, known: str) -> bool:
    if len(password) > LONGEST_PASSWORD:
        return False
    _, log_n, r, p, salt, made = known.split("$")
    return hmac.compare_digest(
        _scrypt(password, b64decode(salt), int(log_n), int(r), int(p)), b64decode(made)
    )


def _scrypt(password: str, salt: bytes, log_n: int, r: int, p: int) -> bytes:
    n = 1 << log_n
    text = unicodedata.normalize("NFC", password).encode()  # keyboards spell an accent in two ways
    return hashlib.scrypt(text, salt=salt, n=n, r=r, p=p, maxmem=128 * r * (n + p + 2), dklen=32)
