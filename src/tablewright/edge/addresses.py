"""E-mail addresses: one spelling for each.

Must hold: two spellings that reach the same box in practice (case, spaces around, the two ways to write a domain with
an accent) are one address. Elsewhere: how a system says that something is none (its own errors).
"""

import re
import unicodedata

LONGEST = 254
WORDS = "This is no e-mail address. Write one such as ada@example.com."
_LOCAL = re.compile(r"[^\s@<>()\[\],;:\\\"\x00-\x1f\x7f]{1,64}")
_DOMAIN = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])"
)


class NotAnAddress(ValueError):
    """Nobody could get mail there."""

    def __init__(self) -> None:
        super().__init__(WORDS)


def spelled(text: str) -> str:
    """An address in its one spelling; NotAnAddress if nobody could get mail there."""
    local, at, domain = unicodedata.normalize("NFC", text.strip()).lower().rpartition("@")
    try:
        ascii_domain = domain.encode("idna").decode("ascii")
    except UnicodeError:
        ascii_domain = ""
    found = f"{local}@{ascii_domain}"
    is_right = at and _LOCAL.fullmatch(local) and _DOMAIN.fullmatch(ascii_domain) and len(found) <= LONGEST
    if not is_right or local.startswith(".") or local.endswith(".") or ".." in local:
        raise NotAnAddress
    return found
