"""E-mail addresses: one spelling for each, and never more than that of them in a key.

Must hold: two spellings that reach the same box in practice (case, spaces around, the two ways to write a domain with
an accent) are one address. Elsewhere: what stands in keys instead (keyring.py).
"""

import re
import unicodedata

from tablewright.systems.travel.errors import BadRequest

LONGEST = 254
_LOCAL = re.compile(r"[^\s@<>()\[\],;:\\\"\x00-\x1f\x7f]{1,64}")
_DOMAIN = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])"
)


def email_address(text: str, field: str = "email") -> str:
    """An address in its one spelling; INVALID_EMAIL if nobody could get mail there."""
    local, at, domain = unicodedata.normalize("NFC", text.strip()).lower().rpartition("@")
    try:
        ascii_domain = domain.encode("idna").decode("ascii")
    except UnicodeError:
        ascii_domain = ""
    found = f"{local}@{ascii_domain}"
    is_right = at and _LOCAL.fullmatch(local) and _DOMAIN.fullmatch(ascii_domain) and len(found) <= LONGEST
    if not is_right or local.startswith(".") or local.endswith(".") or ".." in local:
        raise BadRequest(
            "INVALID_EMAIL", "This is no e-mail address. Write one such as ada@example.com.", field
        )
    return found
