"""E-mail addresses in a normal form: one spelling for each.

Must hold: two spellings that reach the same box in practice (case, spaces around, the two ways to write a domain with
an accent) are one address, and two mailboxes never are: straße.de is not strasse.de (IDNA 2008). Normalising twice
changes nothing; addresses with invisible characters are refused.
Elsewhere: how a system reports an invalid address (its own errors).
"""

import re
import unicodedata

import idna

from tablewright.design import normalised

LONGEST = 254
INVALID_ADDRESS = "That isn't a valid e-mail address. Write one such as ada@example.com."
_LOCAL = re.compile(r"[^\s@<>()\[\],;:\\\"\x00-\x1f\x7f]{1,64}")
_DOMAIN = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])"
)


class NotAnAddress(ValueError):
    """A text that is not an e-mail address."""

    def __init__(self) -> None:
        super().__init__(INVALID_ADDRESS)


def normalise_address(text: str) -> str:
    """The address in its normal form; raises NotAnAddress."""
    local, at, domain = normalised(text).rpartition("@")
    # Invisible characters would make two addresses that look like one.
    is_hidden = any(unicodedata.category(letter)[0] in "CZ" for letter in local + domain)
    if not at or is_hidden or len(local) + len(domain) >= LONGEST or _LOCAL.fullmatch(local) is None:
        raise NotAnAddress
    found = f"{local}@{domain_of_mail(domain)}"
    if len(found) > LONGEST or local.startswith(".") or local.endswith(".") or ".." in local:
        raise NotAnAddress
    return found


def domain_of_mail(domain: str) -> str:
    """A domain as resolvers and mail servers write it, in ASCII; raises NotAnAddress."""
    found = domain
    # ASCII names stay unchanged: IDNA has rules for them that registries did not always follow.
    if not domain.isascii() or "xn--" in domain:
        try:
            found = idna.encode(domain, uts46=True).decode("ascii")
        except UnicodeError:  # the base of idna's errors
            raise NotAnAddress from None
    if _DOMAIN.fullmatch(found) is None:
        raise NotAnAddress
    return found
