"""E-mail addresses: one spelling for each.

Must hold: two spellings that reach the same box in practice (case, spaces around, the two ways to write a domain with
an accent) are one address, and no two boxes are: straße.de is not strasse.de (IDNA 2008). What comes out goes in again
and comes out the same; nobody is fooled by letters that cannot be seen.
Elsewhere: how a system says that something is none (its own errors).
"""

import re
import unicodedata

import idna

from tablewright.design import normalised

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
    local, at, domain = normalised(text).rpartition("@")
    # Letters one cannot see make two addresses that look like one.
    is_hidden = any(unicodedata.category(letter)[0] in "CZ" for letter in local + domain)
    if not at or is_hidden or len(local) + len(domain) >= LONGEST or _LOCAL.fullmatch(local) is None:
        raise NotAnAddress
    found = f"{local}@{domain_of_mail(domain)}"
    if len(found) > LONGEST or local.startswith(".") or local.endswith(".") or ".." in local:
        raise NotAnAddress
    return found


def domain_of_mail(domain: str) -> str:
    """A domain as resolvers and mail servers know it, in ASCII; NotAnAddress if there can be none."""
    found = domain
    # Plain names pass as they are: IDNA has rules for them that registries did not always keep.
    if not domain.isascii() or "xn--" in domain:
        try:
            found = idna.encode(domain, uts46=True).decode("ascii")
        except UnicodeError:  # the base of all it says
            raise NotAnAddress from None
    if _DOMAIN.fullmatch(found) is None:
        raise NotAnAddress
    return found
