"""Numbers and children in the addresses of pages: sealed, so that no phone number is in a URL, a history or a Referer.

Must hold: the same number has the same reference for as long as the secret is the same, so links last; without the
secret a reference says nothing, and none can be made. It gives no access: who may see a child is decided by its family.
"""

import base64
import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

_PURPOSE = b"references of children"
_LONGEST = 200


class References:
    """Seals texts into references and opens them."""

    def __init__(self, secret: bytes) -> None:
        self._cipher = AESSIV(hmac.new(secret, _PURPOSE, hashlib.sha512).digest())

    def of(self, text: str) -> str:
        """The reference of a number or a child's key."""
        return base64.urlsafe_b64encode(self._cipher.encrypt(text.encode(), None)).decode().rstrip("=")

    def open(self, reference: str) -> str | None:
        """What a reference is of; None if it is none of ours."""
        if not reference.isascii() or not 0 < len(reference) <= _LONGEST:
            return None
        try:
            sealed = base64.urlsafe_b64decode(reference + "=" * (-len(reference) % 4))
            return self._cipher.decrypt(sealed, None).decode()
        except (ValueError, InvalidTag):
            return None
