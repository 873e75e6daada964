"""Passwords: hashing and comparison.

Must hold: a password cannot be recovered from its hash (scrypt, RFC 7914, with its own salt); comparison takes constant
time; hashes with other cost parameters are still accepted.
"""

import hashlib
import hmac
import unicodedata
from base64 import b64decode, b64encode

from tablewright.world import World

SHORTEST, LONGEST = 12, 256
# 32 MB and three rounds: about a fifth of a second.
_LOG_N, _R, _P = 15, 8, 3
_SALT_BYTES, _KEY_BYTES = 16, 32


class PasswordUnfit(ValueError):
    """Too short to withstand guessing, or too long to be one."""

    def __init__(self) -> None:
        super().__init__(f"a password must have {SHORTEST} to {LONGEST} characters")


def kept(password: str, world: World) -> str:
    """What may be stored of a password: `scrypt$15$8$3$salt$hash`."""
    if not SHORTEST <= len(_normal(password)) <= LONGEST:
        raise PasswordUnfit
    salt = hashlib.sha256(f"{world.new_id()}{world.new_id()}".encode()).digest()[:_SALT_BYTES]
    made = _scrypt(password, salt, _LOG_N, _R, _P)
    return "$".join(
        ("scrypt", str(_LOG_N), str(_R), str(_P), b64encode(salt).decode(), b64encode(made).decode())
    )


def is_password(password: str, known: str) -> bool:
    """Whether this is the password of which that was kept."""
    _, log_n, r, p, salt, made = known.split("$")
    if len(password) > 4 * LONGEST or len(_normal(password)) > LONGEST:  # accents may be letters of their own
        return False
    found = _scrypt(password, b64decode(salt), int(log_n), int(r), int(p))
    return hmac.compare_digest(found, b64decode(made))


def _scrypt(password: str, salt: bytes, log_n: int, r: int, p: int) -> bytes:
    n = 1 << log_n
    return hashlib.scrypt(
        _normal(password).encode(), salt=salt, n=n, r=r, p=p, maxmem=128 * r * (n + p + 2), dklen=_KEY_BYTES
    )


def _normal(password: str) -> str:
    """Keyboards spell an accent in two ways; people do not."""
    return unicodedata.normalize("NFC", password)
