"""Texts encrypted and authenticated with AES-GCM.

Must hold: a sealed text opens only with the `about` it was sealed with, so that it is useless in another row.
Elsewhere: where the key comes from (app/token_secret.py, keyring.py), what is sealed
(messages.py).
"""

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tablewright.world import World

_NONCE_BYTES = 12


class SealBroken(ValueError):
    """A sealed text was not made with this key and `about`, or was changed."""

    def __init__(self) -> None:
        super().__init__("a sealed text cannot be opened: its secret was deleted, or it was changed")


@dataclass(frozen=True, slots=True)
class Seal:
    """The functions with which one system seals a text and opens it again: (text, about) -> text."""

    close: Callable[[str, str], str] = field(repr=False)
    open: Callable[[str, str], str] = field(repr=False)


def seal_of(secret: bytes, purpose: str, world: World) -> Seal:
    """A seal with a key derived from a secret for one purpose."""
    key = hmac.new(secret, f"seal {purpose}".encode(), hashlib.sha256).digest()
    return Seal(
        lambda text, about: seal_text(key, text, about, world),
        lambda text, about: unseal_text(key, text, about),
    )


def seal_text(key: bytes, text: str, about: str, world: World) -> str:
    """The text, sealed."""
    return urlsafe_b64encode(seal_bytes(key, text.encode(), about, world)).decode()


def unseal_text(key: bytes, sealed: str, about: str) -> str:
    """The text that was sealed; raises SealBroken if the key or `about` differs."""
    try:
        return unseal_bytes(key, urlsafe_b64decode(sealed), about).decode()
    except ValueError:
        raise SealBroken from None


def seal_bytes(key: bytes, content: bytes, about: str, world: World) -> bytes:
    """The content, sealed: 28 bytes more."""
    nonce = hashlib.sha256(world.new_id().encode()).digest()[:_NONCE_BYTES]
    return nonce + AESGCM(key).encrypt(nonce, content, about.encode())


def unseal_bytes(key: bytes, sealed: bytes, about: str) -> bytes:
    """The content that was sealed; raises SealBroken if the key or `about` differs."""
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], about.encode())
    except (InvalidTag, ValueError):
        raise SealBroken from None
